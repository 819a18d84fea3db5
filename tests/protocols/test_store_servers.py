"""The servers and faults of the store tests, each used once by obstore, and which of them it detects.

If a new version of obstore behaves differently, this fails first.
"""

from __future__ import annotations

import http.client
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from servers.faults import assert_no_leaks
from servers.nginx import nginx
from servers.s3 import Store, fill, moto_server, radosgw_server
from servers.store_faults import (
    Answer,
    Fault,
    FaultProxy,
    RequestSeen,
    before_request,
    broken_body,
    denied,
    expired_token,
    false_content_range,
    listing,
    long_body,
    server_error,
    short_body,
    slow_body,
    slow_down,
    stalled,
    whole_object,
    without_header,
)

obstore = pytest.importorskip("obstore", reason="obstore is not installed")

DATA = bytes(range(256)) * 400
RANGE = (1_000, 51_000)
RETRY = {
    "max_retries": 2,
    "retry_timeout": timedelta(seconds=60),
    "backoff": {"init_backoff": timedelta(milliseconds=1), "max_backoff": timedelta(milliseconds=5), "base": 2},
}
Faults = Callable[[RequestSeen], Fault | None]


@pytest.fixture(scope="module")
def moto() -> Iterator[Store]:
    with moto_server() as store:
        store.make_bucket("bucket")
        yield store


@pytest.fixture(scope="module")
def radosgw(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with radosgw_server(tmp_path_factory.mktemp("radosgw") / "ceph") as store:
        store.make_bucket("bucket")
        yield store


@pytest.fixture(params=["moto", "radosgw"])
def store(request: pytest.FixtureRequest) -> Store:
    server_store: Store = request.getfixturevalue(request.param)
    return server_store


@pytest.fixture
def etag(moto: Store) -> str:
    """The ETag of the object "a", which contains DATA."""
    return moto.put("bucket", "a", DATA)


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the machine's environment, and disable metadata services."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9")
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def opened(store: Store, **kwargs: Any) -> Any:
    """obstore's store for the bucket, which reads the environment when it is created."""
    before = dict(os.environ)
    os.environ.update(store.environment)
    try:
        return obstore.store.from_url("s3://bucket", **{"retry_config": RETRY, **kwargs})
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def faulty(store: Store, fault: Faults, **kwargs: Any) -> Iterator[tuple[Any, FaultProxy]]:
    with FaultProxy(store.endpoint, fault) as proxy:
        yield opened(store.through(proxy.endpoint), **kwargs), proxy


def read(bucket: Any, if_match: str | None = None) -> tuple[Any, bytes]:
    """obstore's error for a range of "a", and the bytes."""
    options = {"range": RANGE} if if_match is None else {"range": RANGE, "if_match": if_match}
    result = obstore.get(bucket, "a", options=options)
    return result, bytes(result.bytes())


def first(fault: Fault, requests: int = 1) -> Faults:
    return lambda seen: fault if seen.number <= requests else None


# The servers.


def test_a_store_supports_conditions_and_ranges(store: Store) -> None:
    etag = store.put("bucket", "a", DATA)
    bucket = opened(store)
    result, octets = read(bucket, etag)
    assert octets == DATA[slice(*RANGE)]
    assert (result.range, result.meta["size"], result.meta["e_tag"]) == (RANGE, len(DATA), etag)
    tail = obstore.get(bucket, "a", options={"range": (len(DATA) - 5, len(DATA) + 5)})
    assert (tail.range, bytes(tail.bytes())) == ((len(DATA) - 5, len(DATA)), DATA[-5:])
    assert bytes(obstore.get(bucket, "a", options={"range": {"suffix": 7}}).bytes()) == DATA[-7:]
    with pytest.raises(obstore.exceptions.PreconditionError):
        read(bucket, '"other"')
    with pytest.raises(obstore.exceptions.NotModifiedError):
        obstore.get(bucket, "a", options={"if_none_match": etag})
    with pytest.raises(obstore.exceptions.GenericError, match="416 Range Not Satisfiable"):
        obstore.get(bucket, "a", options={"range": (len(DATA), len(DATA) + 1)})
    with pytest.raises(FileNotFoundError):
        obstore.get(bucket, "absent")


def test_a_store_can_write_only_absent_objects(store: Store) -> None:
    bucket = opened(store)
    obstore.put(bucket, "written/once", b"first", mode="create")
    with pytest.raises(obstore.exceptions.AlreadyExistsError):
        obstore.put(bucket, "written/once", b"second", mode="create")
    with pytest.raises(obstore.exceptions.PreconditionError):
        obstore.put(bucket, "written/once", b"second", mode={"e_tag": '"other"'})
    assert store.get("bucket", "written/once") == b"first"


def test_a_store_accepts_multipart_uploads(store: Store) -> None:
    bucket = opened(store)
    obstore.put(bucket, "parts", b"q" * (11 << 20), use_multipart=True, chunk_size=5 << 20)
    assert obstore.head(bucket, "parts")["size"] == 11 << 20
    assert obstore.head(bucket, "parts")["e_tag"].endswith('-3"')


def test_a_store_lists_names_of_any_characters(store: Store) -> None:
    names = ["named/a b", "named/%41", "named/ü", "named/a+b&c?d#e"]
    for name in names:
        store.put("bucket", name, b"x")
    assert sorted(entry["path"] for entry in obstore.list(opened(store), prefix="named").collect()) == sorted(names)
    assert set(names) <= set(store.keys("bucket"))


def test_moto_lists_in_pages(moto: Store) -> None:
    fill("bucket", [f"many/{number:04}" for number in range(1_500)])
    with faulty(moto, lambda seen: None) as (bucket, proxy):
        assert [len(page) for page in obstore.list(bucket, prefix="many", chunk_size=1_000)] == [1_000, 500]
        assert [seen.method for seen in proxy.seen] == ["GET", "GET"]


def test_moto_requires_any_signature(moto: Store, etag: str) -> None:
    with pytest.raises(obstore.exceptions.PermissionDeniedError):
        read(opened(moto, skip_signature=True))
    read(opened(moto, secret_access_key="another"))


def test_radosgw_checks_signatures(radosgw: Store) -> None:
    radosgw.put("bucket", "a", DATA)
    with pytest.raises(obstore.exceptions.PermissionDeniedError, match="SignatureDoesNotMatch"):
        read(opened(radosgw, secret_access_key="another"))
    with faulty(radosgw, first(slow_down())) as (bucket, proxy):
        assert read(bucket)[1] == DATA[slice(*RANGE)]  # the proxy keeps Host, which is signed
        assert [seen.status for seen in proxy.seen] == [503, 206]


def test_nginx_supports_ranges_over_https(tmp_path: Path) -> None:
    with nginx(tmp_path) as server:
        (server.root / "a").write_bytes(DATA)
        certificate = server.certificate.read_text()
        bucket = obstore.store.from_url(server.uri("/", "https"), client_options={"root_certificate": certificate})
        result, octets = read(bucket)
        assert octets == DATA[slice(*RANGE)]
        assert read(bucket, result.meta["e_tag"])[1] == octets
        with pytest.raises(obstore.exceptions.PreconditionError):
            read(bucket, '"other"')


# Faults that obstore detects.


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (false_content_range(2_000, 51_999, len(DATA)), r"Requested 1000\.\.51000, got 2000\.\.52000"),
        (false_content_range(1_000, 40_999, len(DATA)), r"Requested 1000\.\.51000, got 1000\.\.41000"),
        (false_content_range(1_000, 50_999, "*"), "Failed to parse value for CONTENT_RANGE"),
        (without_header("Content-Range"), "Content-Range header not present"),
        (whole_object(), "Received non-partial response when range requested"),
    ],
)
def test_obstore_detects_a_wrong_range(moto: Store, etag: str, fault: Fault, message: str) -> None:
    with faulty(moto, lambda seen: fault) as (bucket, proxy):
        with pytest.raises(obstore.exceptions.GenericError, match=message):
            read(bucket)
        assert proxy.ranges() == ["bytes=1000-50999"]


def test_obstore_resumes_a_broken_body(moto: Store, etag: str) -> None:
    for fault in (broken_body(20_000), broken_body(20_000, reset=True)):
        with faulty(moto, first(fault)) as (bucket, proxy):
            assert read(bucket)[1] == DATA[slice(*RANGE)]
            assert len(proxy.ranges()) == 2
            assert [seen.if_match for seen in proxy.seen] == [None, None]
    with faulty(moto, lambda seen: broken_body(1_000)) as (bucket, proxy):
        with pytest.raises(obstore.exceptions.GenericError, match="request or response body error"):
            read(bucket)
        assert len(proxy.ranges()) == 3
    with faulty(moto, lambda seen: broken_body(1_000), retry_config={"max_retries": 0}) as (bucket, proxy):
        with pytest.raises(obstore.exceptions.GenericError):
            read(bucket)
        assert len(proxy.ranges()) == 1


def test_obstore_does_not_resume_another_object(moto: Store, etag: str) -> None:
    """With If-Match too: but the exception is GenericError, not PreconditionError."""

    def faults(seen: RequestSeen) -> Fault:
        if seen.number == 1:
            return broken_body(20_000)
        return before_request(lambda: moto.put("bucket", "a", DATA[::-1]))

    with faulty(moto, faults) as (bucket, _), pytest.raises(obstore.exceptions.GenericError):
        read(bucket)
    etag = moto.put("bucket", "a", DATA)
    with faulty(moto, faults) as (bucket, proxy):
        with pytest.raises(obstore.exceptions.GenericError, match="Request precondition failure"):
            read(bucket, etag)
        assert [(seen.if_match, seen.status) for seen in proxy.seen] == [(etag, 206), (etag, 412)]


def test_obstore_detects_a_replaced_object_by_if_match(moto: Store, etag: str) -> None:
    def faults(seen: RequestSeen) -> Fault | None:
        replaced = before_request(lambda: moto.put("bucket", "a", DATA[::-1]))
        return replaced if seen.number_of_range == 3 else None

    with faulty(moto, faults) as (bucket, proxy):
        assert read(bucket, etag)[1] == read(bucket, etag)[1]
        with pytest.raises(obstore.exceptions.PreconditionError):
            read(bucket, etag)
        assert [seen.status for seen in proxy.seen] == [206, 206, 412]


# Faults that obstore does not detect.


@pytest.mark.parametrize(("fault", "difference"), [(short_body(10), -10), (long_body(b"more"), 4)])
def test_obstore_accepts_a_body_of_another_length(moto: Store, etag: str, fault: Fault, difference: int) -> None:
    with faulty(moto, lambda seen: fault) as (bucket, _):
        result, octets = read(bucket)
        assert result.range == RANGE
        assert len(octets) == RANGE[1] - RANGE[0] + difference


def test_obstore_accepts_a_false_size_and_a_missing_etag(moto: Store, etag: str) -> None:
    with faulty(moto, lambda seen: false_content_range(1_000, 50_999, 5_000_000)) as (bucket, _):
        assert read(bucket)[0].meta["size"] == 5_000_000
    with faulty(moto, lambda seen: without_header("ETag")) as (bucket, _):
        assert read(bucket)[0].meta["e_tag"] is None


# Faults that obstore retries.


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_obstore_retries(moto: Store, etag: str, status: int) -> None:
    fault = server_error(status, "Code", "message", retry_after="100")
    with faulty(moto, first(fault, 2)) as (bucket, proxy):
        assert read(bucket)[1] == DATA[slice(*RANGE)]  # Retry-After is ignored
        assert [seen.status for seen in proxy.seen] == [status, status, 206]
    with faulty(moto, lambda seen: fault) as (bucket, proxy):
        with pytest.raises(obstore.exceptions.GenericError, match=f"after 2 retries.*{status} "):
            read(bucket)
        assert len(proxy.seen) == 3


@pytest.mark.parametrize("fault", [expired_token(), denied()])
def test_obstore_does_not_retry_a_denial(moto: Store, etag: str, fault: Fault) -> None:
    with faulty(moto, lambda seen: fault) as (bucket, proxy):
        with pytest.raises(obstore.exceptions.PermissionDeniedError, match="<Code>"):
            read(bucket)
        with pytest.raises(obstore.exceptions.GenericError, match="403 Forbidden"):
            obstore.list(bucket).collect()
        assert len(proxy.seen) == 2


def test_obstore_mistakes_its_own_object_for_another(moto: Store) -> None:
    """The server writes the object and answers 500; the second request finds it."""
    failed = Fault(change=lambda answer: server_error(500, "InternalError", "").answer or answer)
    with faulty(moto, first(failed)) as (bucket, proxy):
        with pytest.raises(obstore.exceptions.AlreadyExistsError):
            obstore.put(bucket, "mine", b"x", mode="create")
        assert [(seen.status, seen.if_none_match) for seen in proxy.seen] == [(500, "*"), (412, "*")]
    assert moto.get("bucket", "mine") == b"x"


def test_obstore_gives_up_on_silence(moto: Store, etag: str) -> None:
    options = {"allow_http": True, "timeout": timedelta(milliseconds=300)}
    with faulty(moto, lambda seen: stalled(), client_options=options) as (bucket, proxy):
        with pytest.raises(obstore.exceptions.GenericError, match="error sending request"):
            read(bucket)
        assert [seen.status for seen in proxy.seen] == [None] * 3
    with faulty(moto, lambda seen: stalled(500), client_options=options) as (bucket, proxy):
        with pytest.raises(obstore.exceptions.GenericError, match="request or response body error"):
            read(bucket)
        assert proxy.ranges()[-1] == "bytes=2000-50999"


def test_obstore_needs_allow_http_with_other_options(moto: Store, etag: str) -> None:
    """AWS_ALLOW_HTTP only applies without client_options."""
    with pytest.raises(obstore.exceptions.GenericError, match="builder error"):
        read(opened(moto, client_options={}))


# Secrets that obstore reveals, and to whom.


def test_errors_of_obstore_contain_no_secret(moto: Store, etag: str) -> None:
    secrets = {"secret_access_key": "a-secret-key", "session_token": "a-session-token"}
    for fault in (denied(), slow_down()):
        with faulty(moto, lambda seen, fault=fault: fault, **secrets) as (bucket, _):  # type: ignore[misc]
            for ask in (read, lambda target: obstore.list(target).collect(), lambda held: obstore.put(held, "k", b"")):
                with pytest.raises(obstore.exceptions.BaseError) as raised:
                    ask(bucket)
                text = f"{raised.value}{raised.value!r}{bucket!r}"
                assert "http://127.0.0.1:" in text
                assert not any(secret in text for secret in (*secrets.values(), "Signature="))


def test_errors_of_obstore_contain_the_query_of_a_presigned_uri(moto: Store, etag: str) -> None:
    signed = obstore.sign(opened(moto), "GET", "a", timedelta(minutes=5))
    bucket = obstore.store.from_url(signed, client_options={"allow_http": True})
    assert bytes(obstore.get(bucket, "", options={"range": RANGE}).bytes()) == DATA[slice(*RANGE)]
    with FaultProxy(moto.endpoint, lambda seen: denied()) as proxy:
        signed = obstore.sign(opened(moto.through(proxy.endpoint)), "GET", "a", timedelta(minutes=5))
        bucket = obstore.store.from_url(signed, client_options={"allow_http": True})
        with pytest.raises(obstore.exceptions.PermissionDeniedError, match="X-Amz-Signature="):
            obstore.get(bucket, "")
        assert "X-Amz-Signature=" in repr(bucket)


def test_errors_of_obstore_contain_the_servers_text(moto: Store, etag: str) -> None:
    verbose = Fault(answer=Answer(403).with_body(b"A" * 100_000))
    with faulty(moto, lambda seen: verbose) as (bucket, _):
        with pytest.raises(obstore.exceptions.PermissionDeniedError) as raised:
            read(bucket)
        assert len(str(raised.value)) > 200_000


def test_obstore_follows_redirects_to_another_server(moto: Store, etag: str) -> None:
    """With the session token, without Authorization."""
    with FaultProxy(moto.endpoint) as other:
        moved = Fault(answer=Answer(307, (("Location", f"{other.endpoint}/bucket/a"),)))
        with (
            faulty(moto, lambda seen: moved, session_token="a-session-token") as (bucket, _),
            pytest.raises(obstore.exceptions.PermissionDeniedError),
        ):
            read(bucket)
        assert other.seen[0].headers["x-amz-security-token"] == "a-session-token"
        assert "authorization" not in other.seen[0].headers


# The proxy.


def test_the_proxy_records_requests(moto: Store, etag: str) -> None:
    with faulty(moto, lambda seen: None) as (bucket, proxy):
        read(bucket, etag)
        obstore.put(bucket, "new", b"12345", mode="create")
        got, put = proxy.seen
    assert (got.method, got.path, got.range, got.if_match) == ("GET", "/bucket/a", "bytes=1000-50999", etag)
    assert (got.status, got.octets, got.number_of_range) == (206, 50_000, 1)
    assert (put.method, put.if_none_match, put.status, put.body) == ("PUT", "*", 200, b"12345")
    assert put.number_of_range == 0


def test_the_proxy_lists_a_large_bucket(moto: Store) -> None:
    with faulty(moto, listing(100_000)) as (bucket, proxy):
        pages = obstore.list(bucket, chunk_size=1_000)
        assert len(next(pages)) == 1_000
        assert len(proxy.seen) < 10  # it reads on only on demand
        assert sum(map(len, pages)) == 99_000
        assert len(proxy.seen) == 100


@pytest.mark.parametrize("fault", [slow_body(60), stalled(), stalled(10), broken_body(10), Fault(stop=0)])
def test_the_proxy_stops_during_a_fault(moto: Store, etag: str, fault: Fault) -> None:
    with assert_no_leaks():
        with FaultProxy(moto.endpoint, lambda seen: fault) as proxy:
            client = socket.create_connection(("127.0.0.1", urlsplit(proxy.endpoint).port or 0), 60)
            client.sendall(b"GET /bucket/a HTTP/1.1\r\nHost: x\r\nAuthorization: AWS none:none\r\n\r\n")
            if not fault.silent:
                assert client.recv(12).startswith(b"HTTP/1.1 ")
        with client, suppress(ConnectionError):
            while client.recv(65_536):
                pass


def test_the_proxy_keeps_connections_and_reports_an_unreachable_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with assert_no_leaks(), FaultProxy(f"http://127.0.0.1:{port}") as proxy:
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(proxy.endpoint).port, timeout=60)
        for _ in range(2):
            connection.request(
                "PUT", "/x", iter([b"ab", b"c"]), encode_chunked=True, headers={"Transfer-Encoding": "chunked"}
            )
            with connection.getresponse() as response:
                assert (response.status, b"ConnectionRefused" in response.read()) == (502, True)
        assert [seen.body for seen in proxy.seen] == [b"abc", b"abc"]
        assert len(proxy.connections) == 1
        connection.close()
