"""No error shows the password of a malformed or misbehaving proxy."""

from __future__ import annotations

import socket
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest
from guarded import CLIENTS

import overthere
from overthere import Policy
from servers import NET

SECRET = "Geheim7"
MALFORMED = (
    "u:{}@h", "u:{}@h:3128", "//u:{}@h:1", "http:u:{}@h:1", "http:/u:{}@h:1", "http//u:{}@h:1", ":u:{}@h", "u:{}@",
    "http://u:{}@:1", "http://u:{}@h:99999", "http://u:{}@h:x", "http://u:{} @h:1", "http://u:{}@[::1", "http://u:{}\n@h",
    "http://u:{}@h\\x", "http://ü:{}@h", "HTTP:u:{}@h", "u@{}:h", "http://u:{}%@h", "http:///u:{}@h", "{}",
)  # fmt: skip
ANSWERS = (
    b"", b"garbage\r\n\r\n", b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1 502 Bad\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 302 F\r\nLocation: http://h/\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", b"HTTP/9.9 999 \xff\r\n\r\n",
)  # fmt: skip


def printed_texts(error: BaseException) -> str:
    """All printed texts of an error, of its causes, and of their attributes."""
    texts = ["".join(traceback.format_exception(error))]
    while error is not None:
        texts += [str(error), repr(error)]
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return "".join(texts)


@contextmanager
def answering(answer: bytes, heads: list[bytes]) -> Iterator[int]:
    """The port of a server that gives each client one answer. heads: the received requests."""

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            self.request.settimeout(NET)
            heads.append(self.request.recv(65_536))
            self.request.sendall(answer)

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_proxy_is_an_error_of_the_policy(text: str) -> None:
    with pytest.raises(ValueError, match="the proxy for 'http'") as caught:
        Policy(proxy={"https": "http://h:1", "http": text.format(SECRET)})
    assert SECRET not in printed_texts(caught.value)
    with pytest.raises(ValueError, match="the proxy for 'http'"):
        Policy().with_(proxy={"http": text.format(SECRET)})


def open_uri(uri: str, policy: Policy, look_up: object) -> int:
    with overthere.open(uri, policy) as resource:
        return len(resource.read())


FETCHES: dict[str, Callable[..., int]] = {**{name: fetch for name, (fetch, _) in CLIENTS.items()}, "open": open_uri}


@pytest.mark.parametrize("name", FETCHES)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_misbehaving_proxy_is_an_error_without_secrets(name: str, scheme: str) -> None:
    failed, heads = 0, list[bytes]()
    for answer in ANSWERS:
        with answering(answer, heads) as port:
            policy = Policy(proxy={scheme: f"http://u:{SECRET}@127.0.0.1:{port}"})
            failed += _fails_without_secret(name, f"{scheme}://h.example/", policy)
    with socket.socket() as closed:  # bound, but not listening
        closed.bind(("127.0.0.1", 0))
        policy = Policy(proxy={scheme: f"http://u:{SECRET}@127.0.0.1:{closed.getsockname()[1]}"})
        failed += _fails_without_secret(name, f"{scheme}://h.example/", policy)
    login = b"proxy-authorization: basic " + b64encode(f"u:{SECRET}".encode()).lower()
    assert len(heads) >= len(ANSWERS)
    assert all(login in head.lower() for head in heads), "the proxy has to know who asks"
    assert failed >= (4 if scheme == "http" else len(ANSWERS) - 1)


def _fails_without_secret(name: str, uri: str, policy: Policy) -> bool:
    def look_up(host: str, port: int) -> list[str]:
        assert host == "127.0.0.1"
        return [host]

    caught: Exception | None = None
    try:
        FETCHES[name](uri, policy, look_up)
    except Exception as error:
        caught = error
    if caught is not None:
        for secret in (SECRET, b64encode(f"u:{SECRET}".encode()).decode()):
            assert secret not in printed_texts(caught)
    return caught is not None
