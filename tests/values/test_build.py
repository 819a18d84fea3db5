"""Creating URIs: from components, by replacing components, and with pydantic; ambiguous results are rejected."""

from __future__ import annotations

import argparse
import ipaddress
import json
import sqlite3
from contextlib import closing, suppress
from functools import partial
from typing import Any, Literal

import pydantic
import pytest

from overthere import IRI, URI, CodingError, InvalidURI, IRIReference, URIReference, forms
from overthere.ground.errors import KINDS


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"scheme": "x"}, "x:"),
        ({"scheme": "x", "host": ""}, "x://"),
        ({"scheme": "x", "authority": "u@h:8", "path": "/p"}, "x://u@h:8/p"),
        ({"scheme": "x", "host": "h", "port": ""}, "x://h:"),
        ({"scheme": "x", "host": "h", "port": "080"}, "x://h:080"),
        ({"scheme": "x", "host": "h", "port": 0}, "x://h:0"),
        ({"scheme": "x", "host": "h", "userinfo": ""}, "x://@h"),
        ({"scheme": "x", "host": "h", "userinfo": "a:b:c"}, "x://a:b:c@h"),
        ({"scheme": "x", "host": "h", "userinfo": ("a:b", "c@d:e")}, "x://a%3Ab:c%40d%3Ae@h"),
        ({"scheme": "x", "host": "h", "userinfo": (b"\xff", "")}, "x://%FF:@h"),
        ({"scheme": "x", "host": "h", "userinfo": b"a:b/c"}, "x://a%3Ab%2Fc@h"),
        ({"scheme": "x", "host": b"a/b\xff"}, "x://a%2Fb%FF"),
        ({"scheme": "x", "host": ipaddress.IPv4Address("1.2.3.4")}, "x://1.2.3.4"),
        ({"scheme": "x", "host": ipaddress.IPv6Address("::1"), "port": 8}, "x://[::1]:8"),
        ({"scheme": "x", "host": ipaddress.IPv6Address("fe80::1%a b"), "zone": True}, "x://[fe80::1%25a%20b]"),
        ({"scheme": "x", "host": "h", "segments": []}, "x://h"),
        ({"scheme": "x", "host": "h", "segments": [""]}, "x://h/"),
        ({"scheme": "x", "host": "h", "segments": ["", "", "a"]}, "x://h///a"),
        ({"scheme": "x", "host": "h", "segments": ["a/b?#%", b"\xff", "ü"]}, "x://h/a%2Fb%3F%23%25/%FF/%C3%BC"),
        ({"scheme": "x", "segments": ["a:b", "c;d"]}, "x:a%3Ab/c%3Bd"),
        ({"scheme": "x", "segments": ["a:b", "c;d"], "keep": ":"}, "x:a:b/c%3Bd"),
        ({"path": b"/a;b/c", "query": b"a&admin=1"}, "/a%3Bb/c?a%26admin%3D1"),
        ({"scheme": "x", "segments": ["a"], "rooted": True}, "x:/a"),
        ({"segments": ["a:b", "c:d"]}, "a%3Ab/c%3Ad"),
        ({"path": b"a:b"}, "a%3Ab"),
        ({"segments": ["a:b", "c:d"], "keep": ":;"}, "a%3Ab/c:d"),
        ({"host": "h", "segments": ["a:b"]}, "//h/a%3Ab"),
        ({"scheme": "x", "segments": ("...", ".a")}, "x:.../.a"),
        ({"path": b"a b/c"}, "a%20b/c"),
        ({"query": {"a": "b c", "d": ["1", "2"], "e": None}}, "?a=b+c&d=1&d=2&e"),
        ({"query": [("a", "1"), (b"\xff", 2), ("a", "")]}, "?a=1&%FF=2&a="),
        ({"query": {}}, "?"),
        ({"query": ""}, "?"),
        ({"query": b"a=b&c d"}, "?a%3Db%26c%20d"),
        ({"query": "a=%20"}, "?a=%20"),
        ({"fragment": b"#\xc3"}, "#%23%C3"),
        ({"fragment": ""}, "#"),
        ({}, ""),
    ],
)
def test_build(parts: dict[str, Any], expected: str) -> None:
    """Text is validated, data is encoded."""
    assert str(URIReference.build(**parts)) == expected


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ({"scheme": "x", "port": 8}, "host-missing"),
        ({"scheme": "x", "userinfo": "u"}, "host-missing"),
        ({"scheme": "x", "path": "//h"}, "path-slashes"),
        ({"path": "//h"}, "path-slashes"),
        ({"scheme": "x", "segments": ["", "a"], "rooted": True}, "path-slashes"),
        ({"scheme": "x", "path": b"//h"}, "path-slashes"),
        ({"host": "h", "path": "p"}, "path-rootless"),
        ({"path": "a:b"}, "path-colon"),
        ({"path": "a?b"}, "delimiter"),
        ({"path": "a#b"}, "delimiter"),
        ({"query": "a#b"}, "delimiter"),
        ({"scheme": "x:y"}, "delimiter"),
        ({"authority": "h/p"}, "delimiter"),
        ({"authority": "h?q"}, "delimiter"),
        ({"host": "h:8"}, "delimiter"),
        ({"host": "u@h"}, "delimiter"),
        ({"host": "::1"}, "delimiter"),
        ({"host": "h/p"}, "delimiter"),
        ({"host": "h", "port": "8@evil"}, "delimiter"),
        ({"host": "h", "port": "8/p"}, "delimiter"),
        ({"host": "[::1]:8"}, "delimiter"),
        ({"host": "[::1]@h"}, "delimiter"),
        ({"host": "h", "userinfo": "a@b"}, "userinfo-at"),
        ({"segments": [".."]}, "segment-dots"),
        ({"segments": ["a", b"."]}, "segment-dots"),
        ({"segments": ["", "a"]}, "segment-empty"),
        ({"scheme": ""}, "scheme-empty"),
        ({"scheme": "1"}, "scheme-first"),
        ({"scheme": "é"}, "non-ascii"),
        ({"path": "a b"}, "space"),
        ({"path": "%"}, "pct-encoded"),
        ({"query": "|"}, "query-char"),
        ({"fragment": "#"}, "fragment-char"),
        ({"host": "h", "port": "x"}, "port-char"),
        ({"host": "h", "port": -1}, "port-char"),
        ({"host": "h", "port": "\u0663"}, "non-ascii"),
        ({"host": "[::1%25a]"}, "ip-zone"),
        ({"host": ipaddress.IPv6Address("fe80::1%a")}, "ip-zone"),
    ],
)
def test_build_rejects(parts: dict[str, Any], kind: str) -> None:
    """DESIGN 3: components that would not be parsed back are rejected; the kind is the reason."""
    assert kind in KINDS
    with pytest.raises(InvalidURI) as caught:
        URIReference.build(**parts)
    assert caught.value.kind == kind
    assert 0 <= caught.value.start <= caught.value.end <= len(caught.value.text)


_DEFAULTS: dict[str, Any] = {"scheme": "http", "authority": "h", "path": "/p", "query": "q", "fragment": "f"}


@pytest.mark.parametrize("component", ["scheme", "authority", "path", "query"])
@pytest.mark.parametrize("value", [":", "/", "?", "#", "//", "h/", "http:", "/?", "/p?q#", "q#q", "::", "j:p@h/"])
def test_the_offset_of_a_delimiter_is_in_its_component(component: str, value: str) -> None:
    with suppress(InvalidURI):
        assert getattr(URIReference.build(**{**_DEFAULTS, component: value}), component) == value
        return
    marked = value.translate(str.maketrans("abcdefghijklmnopqrstuvwxyz", "z" * 26))
    with pytest.raises(InvalidURI) as caught:
        URIReference.build(**{**_DEFAULTS, component: value})
    if caught.value.kind != "delimiter":
        return
    before = {"scheme": "", "authority": "http://", "path": "http://h", "query": "http://h/p?"}[component]
    offset = caught.value.start - len(before)
    assert caught.value.text.startswith(before + value)
    assert marked[offset] in ":/?#"
    assert caught.value.component == component


@pytest.mark.parametrize(
    "parts",
    [
        {"path": "a", "segments": ["a"]},
        {"authority": "h", "host": "h"},
        {"authority": "h", "port": 8},
        {"authority": "h", "userinfo": ""},
        {"path": "a", "rooted": True},
        {"segments": "abc"},
        {"segments": b"abc"},
        {"segments": [5]},
        {"segments": [None]},
        {"path": 5},
        {"scheme": 5},
        {"scheme": b"x"},
        {"host": 5},
        {"host": "h", "userinfo": 5},
        {"host": "h", "userinfo": ["u", "p"]},
        {"host": "h", "userinfo": ("u", None)},
        {"host": "h", "port": 8.0},
        {"host": "h", "port": True},
        {"host": "h", "port": b"8"},
        {"query": 5},
        {"query": {"a": 1.5j}},
        {"fragment": 5},
        {"nothing": "x"},
    ],
)
def test_build_rejects_wrong_types(parts: dict[str, Any]) -> None:
    """TypeError, or InvalidURI for its text; never a result or another exception."""
    with pytest.raises((TypeError, InvalidURI)):
        URIReference.build(**parts)


def test_data_that_cannot_be_encoded_is_rejected() -> None:
    for parts in ({"segments": ["\ud800"]}, {"query": {"\ud800": ""}}, {"userinfo": ("\udc00", ""), "host": "h"}):
        with pytest.raises(CodingError):
            URIReference.build(**parts)


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("http://h:80/p?q#f", {"port": None, "query": None}, "http://h/p#f"),
        ("http://h:80/p?q#f", {"query": "", "fragment": ""}, "http://h:80/p?#"),
        ("http://u@h:080/p", {"host": "i"}, "http://u@i:080/p"),
        ("http://u@h:80/p", {"authority": None}, "http:/p"),
        ("http://u@h:80/p", {"host": None, "userinfo": None, "port": None}, "http:/p"),
        ("http://u@h:80/p", {"authority": ""}, "http:///p"),
        ("a:/b", {"host": "h", "port": 8}, "a://h:8/b"),
        ("a:b", {"path": ""}, "a:"),
        ("a:b", {"scheme": "c"}, "c:b"),
        ("a:b", {}, "a:b"),
    ],
)
def test_replace(text: str, new: dict[str, Any], expected: str) -> None:
    assert str(URI(text).replace(**new)) == expected


def test_replace_rejects() -> None:
    with pytest.raises(TypeError, match="authority"):
        URI("a://h").replace(authority="h", port=8)
    with pytest.raises(InvalidURI) as caught:
        URI("a:b").replace(scheme=None)
    assert caught.value.kind == "scheme-missing"
    with pytest.raises(InvalidURI) as caught:
        URI("http://u:p@h/").replace(host=None)
    assert caught.value.kind == "host-missing"
    assert type(URIReference("a:b").replace(scheme=None)) is URIReference


# -- pydantic


def test_pydantic_validates() -> None:
    class Page(pydantic.BaseModel):
        at: URI
        link: URIReference | None = None
        name: IRIReference = IRIReference("ü")

    raw: Any = {"at": "http://h:80/", "link": "../g"}
    page = Page(**raw)
    assert type(page.at) is URI
    assert page.at.port == 80
    assert page.model_dump()["at"] is page.at
    assert json.loads(page.model_dump_json()) == {"at": "http://h:80/", "link": "../g", "name": "ü"}
    assert Page.model_validate_json(page.model_dump_json()) == page
    assert Page(at=page.at).at is page.at
    modes: tuple[Literal["validation", "serialization"], ...] = ("validation", "serialization")
    for mode in modes:
        properties = Page.model_json_schema(mode=mode)["properties"]
        assert {k: v for k, v in properties["at"].items() if k != "title"} == {"type": "string", "format": "uri"}
        assert properties["link"]["anyOf"][0] == {"type": "string", "format": "uri-reference"}
        assert properties["name"]["format"] == "iri-reference"

    with pytest.raises(pydantic.ValidationError) as caught:
        Page.model_validate({"at": "http://u:Geheim7@h:8o/", "link": 5})
    first, second = caught.value.errors()
    assert (first["type"], first["loc"]) == ("overthere_port_char", ("at",))
    assert {k: first["ctx"][k] for k in ("kind", "component", "source")} == {
        "kind": "port-char", "component": "port", "source": "RFC 3986 3.2.3",
    }  # fmt: skip
    assert first["ctx"]["start"] == 20
    assert "a port cannot contain" in first["msg"]
    assert "Geheim7" not in f"{first['msg']}{first['ctx']}"
    assert second["type"] == "overthere_type"
    json.dumps(first["ctx"])


@pytest.mark.parametrize("value", [URI("http://joe:secret@h/"), URIReference("../a"), IRI("http://\u00fc/")])
def test_pydantic_serializes_untyped_values(value: URIReference | IRI) -> None:
    from pydantic_core import to_jsonable_python

    class Page(pydantic.BaseModel):
        more: dict[str, Any]

    page = Page(more={"a": value, "b": [value]})
    assert page.model_dump(mode="json") == {"more": {"a": str(value), "b": [str(value)]}}
    assert json.loads(page.model_dump_json()) == page.model_dump(mode="json")
    assert page.model_dump() == {"more": {"a": value, "b": [value]}}
    assert to_jsonable_python(value) == str(value)


# -- other libraries; docs/howto/libraries.md describes cattrs and msgspec


def test_sqlite_binds_values() -> None:
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("create table t (a text, b text)")
        base.execute("insert into t values (?, ?)", (URI("http://h/?q=%C3%BC"), IRI("http://h/\u00fc")))
        assert base.execute("select a, b, typeof(a) from t where a = ?", [URI("http://h/?q=%C3%BC")]).fetchall() == [
            ("http://h/?q=%C3%BC", "http://h/\u00fc", "text")
        ]
    assert URI("a:b").__conform__(object()) is None


def test_argparse_shows_the_error(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("uri", type=URI.argument)
    parser.add_argument("--base", type=IRIReference.argument)
    assert parser.parse_args(["a:b", "--base", "\u00fc"]) == argparse.Namespace(
        uri=URI("a:b"), base=IRIReference("\u00fc")
    )
    with pytest.raises(SystemExit):
        parser.parse_args(["http://joe:secret@h:8o/"])
    error = capsys.readouterr().err
    assert 'argument uri: a port cannot contain "o" (at 21, in the port;' in error
    assert "secret" not in error


def test_huge_integers_are_rejected() -> None:
    data = json.loads('{"n": 1' + "0" * 310 + "}")
    assert forms.encode(data) == f"n={data['n']}"
    assert str(URI("http://h/").with_parameters(data)) == str(URI.build(scheme="http", host="h", path="/", query=data))
    for value in (10**5000, -(10**5000)):
        with pytest.raises(CodingError, match="4,300 digits cannot be written in a form"):
            forms.encode({"n": value})
        with pytest.raises(CodingError, match="4,300 digits cannot be written in a port"):
            URI.build(scheme="http", host="h", port=value)
        with pytest.raises(CodingError, match="a port"):
            URI("http://h/").replace(port=value)


@pytest.mark.parametrize("userinfo", [(), ("a",), ("a", "b", "c")])
def test_an_invalid_userinfo_pair_is_rejected(userinfo: Any) -> None:
    for edit in (partial(URI.build, scheme="x", host="h"), URI("x://h").replace):
        with pytest.raises(TypeError, match=r"userinfo must be .*not a tuple of [013]"):
            edit(userinfo=userinfo)
