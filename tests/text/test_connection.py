"""Connection strings with several hosts: examples from the PostgreSQL and MongoDB manuals, and invalid ones."""

from __future__ import annotations

import pickle

import pytest

from overthere import URI, InvalidURI
from overthere.text import ConnectionString

ROWS = [
    # PostgreSQL 17, 32.1.1.2 Connection URIs
    ("postgresql://", [("", None)], True),
    ("postgresql://localhost:5433", [("localhost", 5433)], True),
    ("postgresql://user:secret@localhost", [("localhost", None)], True),
    ("postgresql://host1:123,host2:456/somedb?target_session_attrs=any&application_name=myapp",
        [("host1", 123), ("host2", 456)], False),
    ("postgresql://[2001:db8::1234]/database", [("[2001:db8::1234]", None)], True),
    ("postgresql://%2Fvar%2Flib%2Fpostgresql/dbname", [("%2Fvar%2Flib%2Fpostgresql", None)], True),
    # MongoDB, Connection Strings
    ("mongodb://myDatabaseUser:D1fficultP%40ssw0rd@mongodb0.example.com:27017,mongodb1.example.com:27017/?authSource=admin",
        [("mongodb0.example.com", 27017), ("mongodb1.example.com", 27017)], False),
    ("mongodb://h1,h2,h3:27017/", [("h1", None), ("h2", None), ("h3", 27017)], True),
    ("x://[::1]:1,[::2],:3,/p#f", [("[::1]", 1), ("[::2]", None), ("", 3), ("", None)], False),
    ("x://a,b:c,d@h:,i", [("h", None), ("i", None)], False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "hosts", "is_uri"), ROWS)
def test_the_hosts_of_a_connection_string(text: str, hosts: list[tuple[str, int | None]], is_uri: bool) -> None:
    string = ConnectionString(text)
    assert (str(string), list(string.hosts)) == (text, hosts)
    assert string.uri == (URI(text) if is_uri else None)
    assert (string.problem is None) is is_uri
    uris = list(string.uris)
    assert [(uri.host, uri.port) for uri in uris] == hosts
    for uri in uris:
        assert (uri.scheme, uri.userinfo, uri.path, uri.query, uri.fragment) == (
            string.first.scheme, string.first.userinfo, string.first.path, string.first.query, string.first.fragment,
        )  # fmt: skip
    assert pickle.loads(pickle.dumps(string)) == string
    assert len({string, ConnectionString(text)}) == 1


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ("a", "scheme-missing", ""), ("//h1,h2", "scheme-missing", ""), ("", "scheme-missing", ""),
        ("postgresql:h1,h2", "host-missing", ""), ("host=h1,h2", "scheme-missing", ""),
        ("x://h1:1,h2:a/", "port-char", "a"), ("x://h1:1,h|2/", "host-char", "|"), ("x://h1:a,h2/", "port-char", "a"),
        ("x://h1:1,h2/a b", "space", " "), ("x://h1:1,h2:2/?%zz", "pct-encoded", "%"),
        ("x://h,i/#a#", "fragment-char", "#"),
        ("x://a@b@h,i", "userinfo-at", "@"), ("x://h:1, i", "space", " "), ("x://h:1,\u00fc", "non-ascii", "\u00fc"),
    ],
)  # fmt: skip
def test_a_finding_has_its_offset_in_the_whole_text(text: str, kind: str, place: str) -> None:
    with pytest.raises(InvalidURI) as caught:
        ConnectionString(text)
    assert (caught.value.kind, caught.value.text) == (kind, text)
    assert text[caught.value.start : caught.value.end] == place


def test_an_error_shows_no_password() -> None:
    string = ConnectionString("postgresql://joe:Geheim7@h1:1,h2:2/db")
    assert "Geheim7" not in f"{string!r}{string.problem}{[*string.uris]!r}"
    with pytest.raises(InvalidURI) as caught:
        ConnectionString("postgresql://joe:Geheim7@h1:1,h2:a/db")
    assert "Geheim7" not in f"{caught.value}{caught.value!r}{caught.value.figure()}"


def test_no_uri_loses_a_port_of_too_many_digits() -> None:
    string = ConnectionString("x://joe@h1:9999999999999999999,h2:,[::1]:000000000000000000001/db")
    assert string.hosts == (("h1", None), ("h2", None), ("[::1]", 1))
    assert [uri.authority for uri in string.uris] == [
        "joe@h1:9999999999999999999", "joe@h2:", "joe@[::1]:000000000000000000001",
    ]  # fmt: skip


def test_many_hosts_are_read_in_one_pass() -> None:
    string = ConnectionString("kafka://" + "h:1," * 100_000 + "h/" + "a" * 100_000)
    assert len(string.hosts) == 100_001
    assert next(string.uris).port == 1
