"""Common tasks with values: parameters, segments, names; unchanged parts keep every byte."""

from __future__ import annotations

import inspect
import os
import pickle
import re
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere import IRI, URI, CodingError, InvalidURI, IRIReference, Rung, Template, URIReference, find, forms, kernel
from overthere.forms import Parameters
from overthere.schemes.locators import MailtoLocator
from overthere.values.conveniences import ELSEWHERE
from overthere.values.encoding import decode_bytes
from support import linear

SIGNED = "X-Amz-Signature=ab%2Fc%2fd&response-content-disposition=attachment%3B%20a&e=%e9&+=%2B"
"""A query whose bytes are signed: none may change."""

NAMES = st.text(st.sampled_from("ab*=&;+ %é/?#\ue000"), max_size=4)
VALUES = st.one_of(st.none(), st.text(max_size=5), st.binary(max_size=5), st.booleans(), st.integers())
QUERIES = st.text(st.sampled_from("ab=&;+-/?%"), max_size=12).map(lambda text: text.replace("%", "%e9"))


# -- parameters


def test_parameters_as_pairs() -> None:
    read = Parameters("a=1&a&&=x&b=%E9&%C3%A9=%C3%BC&c=d=e")
    assert list(read) == [("a", "1"), ("a", None), ("", None), ("", "x"), ("b", "\ufffd"), ("é", "ü"), ("c", "d=e")]
    assert (len(read), read.names, read.raw[4]) == (7, ("a", "", "b", "é", "c"), "b=%E9")
    assert (read["a"], read.all("a"), read.get("z"), read.get("z", "-"), read["é"]) == (
        "1",
        ["1", None],
        None,
        "-",
        "ü",
    )
    assert (read.octets("b"), read.octets("a"), read.octets("z")) == ([b"\xe9"], [b"1", None], [])
    assert ("é" in read, b"\xc3\xa9" in read, "z" in read, 5 in read, "\ud800" in read) == (
        True,
        True,
        False,
        False,
        False,
    )
    with pytest.raises(KeyError):
        read["z"]
    assert [len(Parameters(query)) for query in (None, "", "&", "a")] == [0, 0, 2, 1]


def test_parameters_as_a_mapping() -> None:
    read = Parameters("a=1&b&%61=2&%E9=3&%E9%E8=4&%E9=5")
    assert list(read) == list(read.items()) == list(zip([name for name, _ in read], read.values(), strict=True))
    assert read.keys() == read.names == ("a", "b", "\ufffd", "\ufffd\ufffd")
    assert dict(read) == {"a": "1", "b": None, "\ufffd": "3", "\ufffd\ufffd": "4"}
    assert {**URI("http://h/?x=1&x=2").parameters} == {"x": "1"}
    assert (Parameters(None).keys(), Parameters(None).items()) == ((), ())


@given(QUERIES, st.sampled_from(["utf-8", "latin-1", "ascii", "utf-16"]))
def test_keys_find_their_values_before_and_after_listing(query: str, charset: str) -> None:
    listed = Parameters(query, charset=charset)
    for name in listed.keys():  # noqa: SIM118
        fresh = Parameters(query, charset=charset)
        assert listed[name] == fresh[name] == fresh.get(name) == fresh.all(name)[0]
        assert name in fresh


def test_dict_of_many_parameters_is_linear() -> None:
    linear(lambda count: dict(Parameters("&".join(f"n{i}=%41" for i in range(count)))), 40_000)


def test_other_separators() -> None:
    assert list(Parameters("a=1;b=2&c", separator=";")) == [("a", "1"), ("b", "2&c")]
    assert list(Parameters("a+b=c+d", plus=False)) == [("a+b", "c+d")]
    assert Parameters(None, plus=False).set({"a b": "c+d"}).query == "a%20b=c%2Bd"
    assert list(Parameters("a=%E9", charset="latin-1")) == [("a", "é")]
    assert Parameters(None, charset="latin-1").set({"a": "é"}).query == "a=%E9"
    assert str(URI("http://h/?a=1;b=2").with_parameters({"b": 3}, separator=";")) == "http://h/?a=1;b=3"
    for wrong in ({"separator": ","}, *({"charset": name} for name in ("nope", "zlib", "idna", "punycode"))):
        with pytest.raises(ValueError, match=r"is not a charset|separator must be"):
            Parameters("a", **wrong)  # type: ignore[arg-type]
    with pytest.raises(CodingError):
        Parameters("a=%zz")


def test_edits_keep_other_parameters() -> None:
    uri = URI(f"http://u:p@H/%7e?{SIGNED}#f%7e")
    assert uri.with_parameters({}) is uri
    assert uri.without_parameters("nothing") is uri
    assert str(uri.with_parameters({"page": 2})) == str(uri).replace("#", "&page=2#")
    assert str(uri.with_parameters({"page": 2}).without_parameters("page")) == str(uri)
    assert uri.query == SIGNED


def test_setting_parameters() -> None:
    def after(query: str | None, pairs: Any) -> str | None:
        return URI("http://h/").replace(query=query).with_parameters(pairs).query

    assert after("a=1&b=%7e&a=2&%61=3", {"a": "x"}) == "a=x&b=%7e"
    assert after("a=1&b&a=2", [("a", "x"), ("c", 1), ("a", "y")]) == "a=x&a=y&b&c=1"
    assert after("a=1&b=2", {"a": [], "c": []}) == "b=2"
    assert after("a=1", {"a": []}) is None
    assert after("a=1", {"a": None}) == "a"
    assert after(None, {"a": 1}) == "a=1"
    assert after("", {"a": 1}) == "a=1"
    assert after("a&b", {b"\xe9": b"\xff"}) == "a&b&%E9=%FF"


class Colour(Enum):
    RED = "r d"
    DAY = date(2026, 1, 2)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (URI("http://x/?a"), "http%3A%2F%2Fx%2F%3Fa"), (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (date(2026, 1, 2), "2026-01-02"), (datetime(2026, 1, 2, 3, 4), "2026-01-02T03%3A04%3A00"),
        (Decimal("1.50"), "1.50"), (PurePosixPath("/a"), "%2Fa"), (PureWindowsPath("C:/a"), "C%3A%5Ca"),
        (Colour.RED, "r%20d"), (Colour.DAY, "2026-01-02"), (True, "true"), (2, "2"),
    ],
)  # fmt: skip
def test_forms_and_templates_write_values_alike(value: Any, text: str) -> None:
    assert URI("http://h/").with_parameters({"a": value}, plus=False).query == f"a={text}"
    assert URI("http://h/").with_parameters([("a", value)], plus=False).query == f"a={text}"
    assert URI("http://h/").add_parameters({"a": [value]}, plus=False).query == f"a={text}"
    assert Template("{?a}").expand(a=value) == f"?a={text}"


@pytest.mark.parametrize(
    "value",
    [{"x": 1}, {1}, frozenset(), object(), [{"x": 1}], [{1}], [[1]], bytearray(b"ab"), memoryview(b"a")],
)
def test_unordered_values_are_rejected(value: Any) -> None:
    with pytest.raises(TypeError):
        URI("http://h/").with_parameters({"a": value})
    with pytest.raises(TypeError):
        forms.encode([("a", value)])


def test_invalid_numbers_are_rejected() -> None:
    for value in (Decimal("NaN"), Decimal("Infinity"), float("nan")):
        with pytest.raises(CodingError):
            forms.encode({"a": value})


def test_pairs_as_a_query() -> None:
    """As data in both replace and build; parsed parameters keep every byte."""
    build: Any
    for build in (
        URI("http://h/p?old#f").replace,
        lambda query: URI.build(scheme="http", host="h", path="/p", query=query, fragment="f"),
    ):
        assert build(query={"a": 1, "b": ["x y", True], "c": None}).query == "a=1&b=x+y&b=true&c"
        assert build(query=[("a", b"\xff"), ("a", 1.5)]).query == "a=%FF&a=1.5"
        assert build(query=URI(f"x:?{SIGNED}").parameters).query == SIGNED
        assert build(query=b"\xff&").query == "%FF%26"
        assert build(query={}).query == build(query=Parameters("")).query == ""  # None: no query
        assert build(query=Parameters(None)).query is None
        wrong: Any
        for wrong in (1, [1], {"a": object()}):
            with pytest.raises(TypeError, match="a form"):
                build(query=wrong)
    assert IRI("http://h/").replace(query={"ü": "ß"}).query == "%C3%BC=%C3%9F"


def test_removing_parameters() -> None:
    uri = URI("http://h/?utm_source=a&q=%7e&utm_medium=b&UTM_x=1&u*=2")
    assert uri.without_parameters("utm_*").query == "q=%7e&UTM_x=1&u*=2"
    assert uri.without_parameters(b"u*").query == "utm_source=a&q=%7e&utm_medium=b&UTM_x=1"
    assert uri.without_parameters("*m*m").query == "utm_source=a&q=%7e&UTM_x=1&u*=2"
    assert uri.without_parameters("*").query is None
    assert URI("http://h/?").without_parameters("*").query == ""


@given(QUERIES, st.lists(st.tuples(NAMES, VALUES), max_size=4), st.sampled_from("&;"), st.booleans())
def test_laws_of_parameters(query: str, pairs: list[tuple[str, Any]], separator: str, plus: bool) -> None:
    read = Parameters(query, separator=separator, plus=plus)
    assert separator.join(read.raw) == query
    done = read.set(pairs)
    names = [name for name, _ in pairs]
    texts = [text.partition("=")[0] for text in read.raw]
    of = [decode_bytes(text.replace("+", "%20" if plus else "+")) for text in texts]
    for octets in {*of, *(name.encode() for name in names), b"a=b", b"&", b""}:
        assert len(read.written(octets)) == len(read.octets(octets)) == of.count(octets)
    for name in names:
        assert done.query == "" or len(done.all(name)) == names.count(name)  # one empty pair alone is the empty query
    touched = {name.encode() for name in names}

    def other_pairs(of: Parameters) -> list[str]:
        octets = [decode_bytes(text.partition("=")[0].replace("+", "%20" if plus else "+")) for text in of.raw]
        return [text for text, name in zip(of.raw, octets, strict=True) if name not in touched]

    assert other_pairs(done) == other_pairs(read)
    assert read.add(pairs).raw[: len(read)] == read.raw
    assert [text for text in read.sorted().raw if text in read.raw] == list(read.sorted().raw)
    assert sorted(read.sorted().raw) == sorted(read.raw)
    assert read.sorted().sorted() == read.sorted()
    URI("x:y").replace(query=done.query)  # it is a query


def test_parameters_of_a_long_query_use_little_memory() -> None:
    """Pairs are split on demand."""
    import tracemalloc

    query = "&" * 4_000_000
    tracemalloc.start()
    read = Parameters(query)
    assert (len(read), "" in read, "x" in read, read.get("", "-"), sum(1 for _ in read)) == (
        4_000_001, True, False, None, 4_000_001,
    )  # fmt: skip
    assert tracemalloc.get_traced_memory()[1] < 3 * len(query)
    tracemalloc.stop()
    for n in (1 << 16, (1 << 16) + 1, 3 << 16):
        assert Parameters("ab&" * n + "c").raw == ("ab",) * n + ("c",)


def test_parameters_as_a_python_value() -> None:
    read = Parameters("a=http://joe:secret@h/")
    assert pickle.loads(pickle.dumps(read)) == read == Parameters(read.query)
    assert hash(read) == hash(Parameters(read.query))
    assert read != Parameters(read.query, plus=False)
    assert read != "a"
    assert "secret" not in repr(read)
    with pytest.raises(AttributeError, match="immutable"):
        read.query = ""
    with pytest.raises(AttributeError, match="immutable"):
        del read.plus
    with pytest.raises(TypeError):
        Parameters(5)  # type: ignore[arg-type]


# -- segments


@pytest.mark.parametrize(
    ("text", "segments", "after"),
    [
        ("http://h", ["a"], "http://h/a"),
        ("http://h/", ["a"], "http://h/a"),
        ("http://h/a", ["b"], "http://h/a/b"),
        ("http://h/a/", ["b"], "http://h/a/b"),
        ("http://h/a/", [""], "http://h/a/"),
        ("http://h/a", [""], "http://h/a/"),
        ("http://h/a//", ["b", "", "c"], "http://h/a//b//c"),
        ("http://h/%7e%2f?q#f", ["ü/?#"], "http://h/%7e%2f/%C3%BC%2F%3F%23"),
        ("http://h/a?q#f", [], "http://h/a?q#f"),
        ("http://h/a", [b"\xff:@"], "http://h/a/%FF%3A%40"),
        ("x:", ["a:b"], "x:a%3Ab"),
        ("x:a", ["b"], "x:a/b"),
        ("file:///", ["a"], "file:///a"),
        ("", ["a:b"], "a%3Ab"),
        ("g?y", ["h"], "g/h"),
        ("..", ["h"], "../h"),
        ("//h", ["a"], "//h/a"),
    ],
)
def test_append_segments(text: str, segments: list[Any], after: str) -> None:
    reference = URIReference(text)
    assert str(reference.append(*segments)) == after
    if "" not in segments[:-1]:  # a final "/" does not add a segment
        result = reference
        for segment in segments:
            result = result / segment
        assert str(result) == after


def test_append_keeps_allowed_characters() -> None:
    assert str(URI("http://h/").append("a;b=1", keep=";=")) == "http://h/a;b=1"
    assert str(URIReference("").append("a:b", "c:d", keep=":")) == "a%3Ab/c:d"
    for wrong in (".", "..", b".."):
        with pytest.raises(InvalidURI, match=r"6\.2\.2\.3|dot"):
            URI("http://h/").append(wrong)
    with pytest.raises(TypeError):
        URI("http://h/") / 5  # type: ignore[operator]
    with pytest.raises(InvalidURI):
        URI("x:").append("", "a")


@pytest.mark.parametrize(
    ("text", "name", "suffix", "parent"),
    [
        ("http://h", "", "", "http://h"),
        ("http://h/", "", "", "http://h/"),
        ("http://h/a", "a", "", "http://h/"),
        ("http://h/a/", "", "", "http://h/a"),
        ("http://h/a/b.tar.gz?q#f", "b.tar.gz", ".gz", "http://h/a"),
        ("http://h/.b", ".b", "", "http://h/"),
        ("http://h/b.", "b.", "", "http://h/"),
        ("http://h/a%2Etxt", "a.txt", ".txt", "http://h/"),
        ("http://h/a.b%2etxt", "a.b.txt", ".txt", "http://h/"),
        ("http://h/%2Eb", ".b", "", "http://h/"),
        ("http://h/b%2E", "b.", "", "http://h/"),
        ("http://h/...a", "...a", ".a", "http://h/"),
        ("http://h//", "", "", "http://h/"),
        ("urn:a:b", "a:b", "", "urn:"),
        ("x:a/b", "b", "", "x:a"),
        ("g", "g", "", ""),
        ("/g", "g", "", "/"),
    ],
)
def test_names_of_paths(text: str, name: str, suffix: str, parent: str) -> None:
    reference = URIReference(text)
    assert (reference.name, reference.suffix, str(reference.parent)) == (name, suffix, parent)


def test_replacing_the_name() -> None:
    assert str(URI("http://h/a/b.txt?q").with_name("c/d")) == "http://h/a/c%2Fd"
    assert str(URI("http://h").with_name("c")) == "http://h/c"
    assert str(URIReference("b").with_name("c:d")) == "c%3Ad"
    assert str(URI("http://h/%e9.txt").with_suffix("")) == "http://h/%e9"
    assert str(URI("http://h/%e9").with_suffix(".a b")) == "http://h/%e9.a%20b"
    assert str(URI("http://h/a?q").with_segments(["b/c", "", "d"])) == "http://h/b%2Fc//d"
    assert str(URI("http://h/a").with_segments([])) == "http://h"
    assert str(URI("x:a").with_segments(["b", "c"])) == "x:b/c"
    for wrong in ("b", ".", "a.b"):
        with pytest.raises(ValueError, match="suffix"):
            URI("http://h/a").with_suffix(wrong)
    assert str(URI("http://h/a%2Etxt").with_suffix(".b")) == "http://h/a.b"
    for dots in ("http://h/...a", "http://h/%2E.%2Ea", "http://h/..a", "http://h/..", "."):
        with pytest.raises(InvalidURI, match="dot-segment"):
            URIReference(dots).with_suffix("")
    with pytest.raises(ValueError, match="no name"):
        URI("http://h/").with_suffix(".a")
    with pytest.raises(CodingError):
        _ = URI("http://h/%e9").name
    for bad in ("..", b"."):
        with pytest.raises(InvalidURI):
            URI("http://h/a").with_name(bad)


@given(st.text(max_size=6).filter(lambda text: text not in ("", ".", "..") and text.isprintable()))
def test_an_appended_segment_is_the_name(segment: str) -> None:
    for text in ("http://h", "http://h/a?q", "x:a", "a", "//h/a/"):
        reference = URIReference(text)
        below = reference / segment
        assert below.name == segment
        assert below.parent.path.rstrip("/") == reference.path.rstrip("/")
        assert below.with_name("other").with_name(segment) == below


def test_edits_keep_the_type() -> None:
    for value in (URI("http://h/a"), URIReference("a"), IRI("http://é/ü"), IRIReference("ü")):
        for other in (value / "b", value.parent, value.with_parameters({"a": 1}), value.with_segments(["b"])):
            assert type(other) is type(value)
    zoned = URI("http://[fe80::1%25lo]/a", zone=True)
    assert (zoned / "b").zone == "lo"


# -- who and where


def test_users() -> None:
    def user_of(text: str) -> tuple[str | None, str | None]:
        return URIReference(text).user, URIReference(text).password

    assert user_of("//h") == (None, None)
    assert user_of("//@h") == ("", None)
    assert user_of("//a%3Ab:c%40:d@h") == ("a:b", "c@:d")
    assert user_of("//:@h") == ("", "")


def test_ports() -> None:
    def port_of(text: str) -> int | None:
        return URIReference(text).effective_port

    assert [port_of(t) for t in ("http://h", "http://h:", "http://h:81", "//h", "//h:8", "no-such://h", "urn:a")] == [
        80, 80, 81, None, 8, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("http://H%6F/a?b#c", "http://ho"),
        ("http://h:0080", "http://h"),
        ("https://u:p@h:80/", "https://h:80"),
        ("http://[2001:DB8::1]:81/", "http://[2001:db8::1]:81"),
        ("ftp://h/", "ftp://h"),
        ("http:///a", "null"),
        ("http:a", "null"),
        ("file://h/a", "null"),
        ("x-unknown://h/", "null"),
        ("urn:a:b", "null"),
    ],
)
def test_origins(text: str, origin: str) -> None:
    assert URI(text).origin == origin


def test_text_of_values() -> None:
    uri = URI("http://joe:secret@h/")
    assert uri.redacted() == "http://joe:***@h/"
    assert uri.redacted(userinfo=True) == "http://***@h/"
    assert (f"{URI('x:y'):>5}|{URI('x:y'):<5}|{URI('x:y')}", format(URI("x:y"), "^5s")) == ("  x:y|x:y  |x:y", " x:y ")


def test_names_of_other_libraries() -> None:
    uri: Any = URI("http://h/")
    for name, replacement in ELSEWHERE.items():
        with pytest.raises(AttributeError, match="; use ") as caught:
            getattr(uri, name)
        assert replacement in str(caught.value)
        words = re.findall(r"[a-z_]+", re.sub(r"\(.*?\)|, None of .*| and ", " ", replacement))
        assert words
        assert all(word == "str" or hasattr(uri, word) for word in words)
        if keyword := re.search(r"\((\w+)=", replacement):
            assert keyword[1] in inspect.signature(uri.replace).parameters
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        _ = uri.nothing
    assert not ELSEWHERE.keys() & dir(uri)
    for kind in (URI, URIReference, IRI, IRIReference):
        assert not any(hasattr(kind, name) for name in ELSEWHERE)
    with pytest.raises(AttributeError, match=r"'URIReference' object has no attribute 'with_host'; use replace\(host="):
        _ = URIReference("a").with_host  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [URI, URIReference, IRI, IRIReference])
def test_attributes_are_found_the_short_way(kind: type) -> None:
    """CPython calls these two for every attribute access, also of missing attributes."""
    for name in ("__getattr__", "__getattribute__"):
        assert not any(name in vars(base) for base in kind.__mro__ if base is not object)
    if kernel.name == "native":  # the class itself, so that CPython need not check for a subclass
        components = ("scheme", "authority", "userinfo", "host", "port", "port_text", "path", "query", "fragment")
        assert all(vars(kind)[name].__objclass__ is kind for name in components)


class Below(URI):
    """A class of somebody else's."""

    __slots__ = ()

    @property
    def host(self) -> str:
        return "own"


class Lowest(Below):
    __slots__ = ()


def test_classes_below_may_have_their_own() -> None:
    assert (Below("http://h/").host, Lowest("http://h/").host, Lowest("http://h/p").path) == ("own", "own", "/p")


def test_a_uri_is_no_path() -> None:
    """Code that accepts paths, or an attribute `path`, would open a local file of that name."""
    uri: Any = URI("http://h/etc/hostname")
    for opener in (open, os.stat, os.fspath):
        with pytest.raises(TypeError, match="not a path of this machine"):
            opener(uri)


def test_rungs_by_name() -> None:
    uri = URI("HTTP://h:80")
    rung: Any = "scheme"
    rung_of: Any = Rung
    assert uri.normalize(rung) == uri.normalize(Rung.SCHEME)
    assert (str(Rung.SCHEME), f"{Rung.CASE}", str(Rung.PATH)) == ("SCHEME", "CASE", "PATH")
    assert rung_of("syntax") is Rung.PATH
    for wrong in ("nothing", 9, None):
        with pytest.raises(
            ValueError, match="is not a rung; the rungs are STRING, CASE, PERCENT, PATH, SYNTAX, SCHEME"
        ):
            rung_of(wrong)


def test_a_scheme_says_whether_its_query_is_a_form() -> None:
    """RFC 6068 5: a space is "%20", "+" is itself, and lines are parted by "%0D%0A"."""
    data = {"subject": "a b", "body": "1+1\n2\r\n3\r4"}
    body = "subject=a%20b&body=1%2B1%0D%0A2%0D%0A3%0D%0A4"
    assert URI("mailto:a@b").with_parameters(data).query == body
    assert URI("mailto:a@b").add_parameters(list(data.items())).query == body
    assert URI.build(scheme="mailto", path="a@b", query=data).query == body
    assert URI("http://h/").replace(scheme="MAILTO", authority=None, path="a@b", query=data).query == body
    assert URI(f"mailto:a@b?{body}").locator_as(MailtoLocator).headers == (
        ("subject", "a b"),
        ("body", "1+1\r\n2\r\n3\r\n4"),
    )
    assert dict(URI("mailto:a@b?x=1+1&y=%2B").parameters) == {"x": "1+1", "y": "+"}
    assert URI("mailto:a@b?x=1+1").parameters.set({"y": "a b"}).query == "x=1+1&y=a%20b"
    assert URI("mailto:a@b").with_parameters({"a": "b c"}, plus=True).query == "a=b+c"
    assert URI("coap://h/?a=1+1").parameters["a"] == "1+1"
    assert URI("http://h/").with_parameters({"a": "b c\n"}).query == "a=b+c%0A"
    assert URI("unheard-of:x").with_parameters({"a": "b c\n"}).query == "a=b+c%0A"
    assert URIReference("?a=1+1").parameters["a"] == "1 1"


@pytest.mark.parametrize("data", ["/a:b@c?d", "é/%", "&=+;", "", "~-._", b"\xff/"])
def test_what_a_form_keeps_is_read_back(data: str | bytes) -> None:
    text = forms.encode([(data, data)], keep="/:@?!$'()*,;")
    octets = data if isinstance(data, bytes) else data.encode()
    ((name, value),) = forms.decode(text, errors="surrogateescape")
    assert value is not None
    assert {part.encode("utf-8", "surrogateescape") for part in (name, value)} == {octets}
    assert b"/" not in octets or "/" in text


@pytest.mark.parametrize("keep", ["&", "=", "a+", "#", "é", "%", " "])
def test_what_a_form_cannot_keep(keep: str) -> None:
    with pytest.raises(CodingError):
        forms.encode({"a": "b"}, keep=keep)


@pytest.mark.parametrize("flag", [1, 0, "", "x", None, [], [0]], ids=repr)
def test_a_flag_counts_by_its_truth(flag: Any) -> None:
    """The native kernel took `bool` alone, the reference kernel some others."""
    zone, http = "http://[fe80::1%25a]/", URI("http://h/a")
    for read in (URI.parse, URI.can_parse, kernel.parse):
        assert read(zone, zone=flag) == read(zone, zone=bool(flag)), read
    if flag:
        assert URI(zone, zone=flag) == URI.build(scheme="http", host="[fe80::1%25a]", path="/", zone=flag)
    else:
        with pytest.raises(InvalidURI, match="zone=True"):
            URI(zone, zone=flag)
    assert http.join("http:g", strict=flag) == URIReference("http:g").resolve(http, strict=bool(flag))
    assert list(find("www.a.example a@b.example", abbreviated=flag)) == list(
        find("www.a.example a@b.example", abbreviated=bool(flag))
    )
    assert list(find("a@b.example", mail=flag)) == list(find("a@b.example", mail=bool(flag)))
