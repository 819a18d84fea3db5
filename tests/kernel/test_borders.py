"""Values from callers: text of subclasses, wrong types, invalid Arrow data."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import overthere
from overthere import (
    IRI,
    URI,
    InvalidURI,
    IRIReference,
    OverthereError,
    Rung,
    URIReference,
    columns,
    edition,
    forms,
    links,
)
from overthere.base import establish
from overthere.canonical import SURT
from overthere.schemes import Registry
from overthere.schemes.locators import FileLocator
from overthere.security import harmless, mask
from overthere.text import ConnectionString

ALLOWED = (
    "__new__", "__init__", "__class__", "__getattribute__", "__init_subclass__", "__subclasshook__", "__doc__",
    "__setattr__", "__delattr__", "__dir__", "__reduce__", "__reduce_ex__",
)  # fmt: skip


def _lie(*arguments: object, **named: object) -> Any:
    raise AssertionError("a method of a subclass was asked")


class Holder:
    """A value that a subclass refers to, as lxml's texts refer to their tree."""


Hostile = type("Hostile", (str,), {name: _lie for name in dir(str) if name not in ALLOWED})

Call = Callable[[Any], Any]


def rejection(text: str) -> Any:
    with pytest.raises(InvalidURI) as caught:
        URI(text)
    return str(caught.value), caught.value.finding


def of_edition(name: str, method: str) -> Call:
    return lambda value: getattr(edition(name), method)(value)


def replaced(part: str) -> Call:
    return lambda value: URI("http://u@h:1/p?q#f").replace(**{part: value})


def built(part: str) -> Call:
    return lambda value: URI.build(**{"scheme": "http", "host": "h", part: value})


def raised(kind: type[Exception], function: Callable[..., Any], *value: object) -> str:
    with pytest.raises(kind) as caught:
        function(*value)
    return str(caught.value)


U = URI("http://h/a/b.txt?a=1&b=%20")

TEXTS: dict[str, tuple[str, Call]] = {
    "URI": ("http://h/a?b#c", URI),
    "URI of more": ("http://ü/", rejection),
    "URI with a zone": ("http://[fe80::1%25a]/", lambda t: URI(t, zone=True)),
    "URIReference": ("../a", URIReference),
    "IRI": ("http://ü/é", IRI),
    "IRIReference": ("é", IRIReference),
    "to_uri": ("http://ü/é", lambda t: IRI(t).to_uri()),
    "join": ("../g", lambda t: URI("http://a/b/c").join(t)),
    "join to it": ("http://a/b/", lambda t: URI(t).join("../g")),
    "resolve": ("http://a/b/c", lambda t: URIReference("../g").resolve(t)),
    "iri join": ("é", lambda t: IRI("http://a/b/c").join(t)),
    "same_document": ("http://a/b", lambda t: URIReference("#s").same_document(t)),
    "replace path": ("/p", lambda t: URI("http://h/").replace(path=t)),
    "replace query": ("q", lambda t: URI("http://h/").replace(query=t)),
    "replace host": ("x", lambda t: URI("http://h/").replace(host=t)),
    "replace port": ("80", lambda t: URI("http://h/").replace(port=t)),
    "build host": ("x", lambda t: URI.build(scheme="http", host=t)),
    "build scheme": ("http", lambda t: URI.build(scheme=t, host="h")),
    "build authority": ("u@x", lambda t: URI.build(scheme="http", authority=t)),
    "build segments": ("x y", lambda t: URI.build(scheme="http", host="h", segments=[t])),
    "build query": ("x y", lambda t: URI.build(scheme="http", host="h", query={"k": t})),
    "build user": ("x y", lambda t: URI.build(scheme="http", host="h", userinfo=(t, t))),
    "build fragment": ("f", lambda t: URI.build(scheme="http", host="h", fragment=t)),
    "normalize": ("HTTP://H/%7e/../x", lambda t: URI(t).normalize()),
    "normalize by scheme": ("HTTP://H:80", lambda t: URI(t).normalize(Rung.SCHEME)),
    "encode": ("a b/ü", overthere.encode),
    "encode nothing": ("ab", overthere.encode),
    "encode for": ("query", lambda t: overthere.encode("a b", t)),
    "decode": ("a%20b", overthere.decode),
    "decode nothing": ("ab", overthere.decode),
    "decode_bytes": ("a%20b", overthere.decode_bytes),
    "forms.decode": ("a=b+c&d", forms.decode),
    "forms.encode": ("a b", lambda t: forms.encode([(t, t)])),
    "check": ("http://h/a b", overthere.check),
    "Scheme.check": ("tel:+1o", lambda t: overthere.scheme("tel").check(t)),
    "Scheme.faults": ("gopher:x", lambda t: overthere.scheme("gopher").faults(t, "rfc1738")),
    "Scheme.is_valid": ("news:*", lambda t: overthere.scheme("news").is_valid(t, "url-1994")),
    "Registry": ("FTP", lambda t: (t in Registry.default(), Registry.default().get(t))),
    "from_path": ("/a b", lambda t: FileLocator.from_path(t, "posix").segments),
    "ConnectionString": ("x://h,i/", lambda t: (ConnectionString(t).text, str(ConnectionString(t)))),
    "check a rule": ("URI", lambda t: overthere.check("http://h/a b", rule=t)),
    "build scheme and query": ("http", lambda t: URI.build(scheme=t, host="h", segments=["a"], query={"a": "b c"})),
    "build path": ("/x", lambda t: URI.build(scheme="http", host="h", path=t)),
    "harmless": ("http://h/a", harmless),
    "canonical": ("http://h/a/../b?sid=1", lambda t: (SURT(t), SURT.changes(t), SURT.key(t))),
    "check a reference": ("../a", lambda t: overthere.check(t, rule="URI-reference")),
    "explain": ("http://h/a b", lambda t: overthere.explain(t).figure()),
    "with_name": ("x y", lambda t: U.with_name(t)),
    "with_stem": ("x y", lambda t: U.with_stem(t)),
    "with_suffix": (".x", lambda t: U.with_suffix(t)),
    "append": ("x y", lambda t: U.append(t)),
    "slash": ("x y", lambda t: U / t),
    "span": ("host", lambda t: U.span(t)),
    "span of none": ("no", lambda t: raised(KeyError, U.span, t)),
    "decoded": ("query", lambda t: U.decoded(t)),
    "decoded_bytes": ("query", lambda t: U.decoded_bytes(t)),
    "rung": ("scheme", lambda t: U.normalize(t)),
    "rung of changes": ("scheme", lambda t: U.changes(t)),
    "rung of equivalent": ("scheme", lambda t: U.equivalent(URI("HTTP://h:80/"), t)),
    "iri rung": ("scheme", lambda t: IRI("http://h:80/").normalize(t)),
    "no rung": ("x", lambda t: raised(ValueError, U.normalize, t)),
    "relate": ("http://h/x", lambda t: U.relate(t)),
    "same_origin": ("http://h/x", lambda t: U.same_origin(t)),
    "is_relative_to": ("http://h/a/", lambda t: U.is_relative_to(t)),
    "redirect_target": ("/x", lambda t: U.redirect_target(t)),
    "matches_redirect": ("http://h/x", lambda t: U.matches_redirect(t)),
    "replace user": ("x y", lambda t: U.replace(user=t, password=t)),
    "with_parameters": ("x y", lambda t: U.with_parameters([(t, t)])),
    "add_parameters": ("x y", lambda t: U.add_parameters([(t, t)])),
    "without_parameters": ("a", lambda t: U.without_parameters(t)),
    "only_parameters": ("a*", lambda t: U.only_parameters(t)),
    "a parameter": ("a", lambda t: U.parameters[t]),
    "web_address": ("http://h.example/a b", lambda t: overthere.web_address(t).problems),
    "typed": ("h.example/a b", lambda t: overthere.typed(t).uri),
    "repair": ("http://h/a b", lambda t: overthere.repair(t).uri),
    "mask": ("http://joe:pw@h/?token=x", mask),
    "Policy.proxy": ("http://p.example:8080", lambda t: list(overthere.Policy(proxy={"http": t}).proxy.values())),
    "no proxy": ("p.example", lambda t: raised(ValueError, lambda: overthere.Policy(proxy={"http": t}))),
    "Template": ("/{x}", lambda t: overthere.Template(t).expand(x=1)),
    "Template value": ("x y", lambda t: overthere.Template("/{x}{?x}").expand(x=t)),
    "Template match": ("/x", lambda t: overthere.Template("/{x}").match(t)),
    "scheme": ("HTTP", lambda t: overthere.scheme(t).name),
    "explain one": ("http://h/a", lambda t: overthere.explain(t)),
    "explain to a base": ("http://h/a/b", lambda t: overthere.explain("../x", t)),
    "find": ("see http://h/a and <x:y>", lambda t: list(overthere.find(t))),
    "audit": ("http://joe:secret@127.0.0.1/", overthere.audit),
    "lowest_rung": ("HTTP://h/", lambda t: overthere.lowest_rung(t, "http://h/")),
    "establish": ("http://h/a", lambda t: establish(t)),
    "establish by retrieval": ("http://h/a", lambda t: establish(retrieval=t)),
    "plan": ("http://h/a", lambda t: overthere.plan(t).to_dict()),
    "edition": ("rfc1738", edition),
    "columns.resolve": ("http://h/a", lambda t: pa.array(columns.resolve(pa.array(["../x"]), t)).to_pylist()),
    **{
        f"{name} {method}": ("http://h/a/../b", of_edition(name, method))
        for name in ("url-1994", "rfc1738", "url-1997", "uri-2003", "rfc3986")
        for method in ("check", "is_valid", "split", "parts", "locator", "encode", "decode")
    },
    "edition resolve": ("http://h/a/b", lambda t: edition("rfc3986").resolve(t, t)),
    "edition normalize": ("http://h/a/../b", lambda t: edition("rfc3986").normalize(t)),
}  # fmt: skip
"""A text, and a function that takes it."""


@pytest.mark.parametrize(
    "call", [SURT, SURT.changes, SURT.key, overthere.web_address, overthere.Template("{+a}").match]
)
def test_what_is_no_text_is_rejected(call: Callable[[Any], object]) -> None:
    """`str` would make a text of each, of None the text "None"."""
    for value in (None, 0, b"http://h/", ["http://h/"], object()):
        with pytest.raises(TypeError, match=r"takes text, not \w+"):
            call(value)
    for kind in (URI, IRI):
        call(kind("http://h/"))


def test_falsy_components_are_no_empty_ones() -> None:
    falsy_values: list[Any] = [0, False, [], {}]
    for hostile in falsy_values:
        with pytest.raises(TypeError, match="path takes text"):
            URI.build(scheme="http", host="h", path=hostile)
        with pytest.raises(TypeError, match="scheme takes text"):
            URI.build(scheme=hostile, host="h", segments=["a"], query={"a": "b"})


def flatten(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in flatten(item)]
    return [str(value)] if isinstance(value, URIReference | IRIReference) else []


@pytest.mark.parametrize("name", TEXTS)
def test_methods_of_a_str_subclass_are_not_called(name: str) -> None:
    text, call = TEXTS[name]
    hostile = Hostile(text)
    result, expected = call(hostile), call(text)
    assert result == expected
    assert [type(leaf) for leaf in flatten(result)] == [str for _ in flatten(expected)]


@pytest.mark.parametrize("kind", [URI, URIReference, IRI, IRIReference])
@pytest.mark.parametrize("name", ["span", "decoded", "decoded_bytes"])
def test_an_invalid_component_name_is_rejected(kind: type[URIReference], name: str) -> None:
    """Both kernels raise the same error, for values of any type."""
    for text in ("no", "\ud800", "h" * 1000):
        with pytest.raises(KeyError, match="is not a component; the components are scheme, authority"):
            getattr(kind("http://h/"), name)(text)
    names: list[object] = [0, None, b"host", [], 10**30]
    for other in names:
        with pytest.raises(TypeError, match=r"takes text, not \w+"):
            getattr(kind("http://h/"), name)(other)


@pytest.mark.parametrize("kind", [URI, URIReference, IRI, IRIReference])
def test_a_value_keeps_no_reference_to_its_text(kind: type[URIReference]) -> None:
    holder = Holder()
    text = Hostile("http://h/a")
    text.__dict__["tree"] = holder
    seen = weakref.ref(holder)
    value = kind(text)
    text.__dict__["value"] = value  # a cycle, if the value kept its text
    del holder, text
    gc.collect()
    assert seen() is None
    assert str(value) == "http://h/a"


def test_a_value_in_a_cycle_is_collected() -> None:
    class WithAttribute(URI):
        def __init__(self, text: str) -> None:
            object.__setattr__(self, "held", Holder())

    uri = WithAttribute("http://h/")
    holder: Any = vars(uri)["held"]
    holder.back = uri
    seen = weakref.ref(holder)
    del uri, holder
    gc.collect()
    assert seen() is None


def test_values_of_lxml_texts_keep_no_tree() -> None:
    etree = pytest.importorskip("lxml.etree", reason="lxml is not needed: the class above is of its kind")
    tree = etree.fromstring("<a href='http://h/a'/>")
    (text,) = tree.xpath("//@href")
    assert type(text) is not str
    assert type(str(URI(text))) is str
    assert type(next(iter(overthere.find(text))).reference) is str


# -- wrong types

NO_TEXT: tuple[Any, ...] = (None, 5, b"x", ["x"], {}, object(), 1.5, ("a", "b"), True)
CALLS: dict[str, Call] = {
    "URI": URI,
    "URIReference": URIReference,
    "IRI": IRI,
    "IRIReference": IRIReference,
    "join": lambda x: URI("http://h/").join(x),
    "iri join": lambda x: IRI("http://h/").join(x),
    "resolve": lambda x: URIReference("a").resolve(x),
    "same_document": lambda x: URIReference("a").same_document(x),
    "relate": lambda x: overthere.URI("http://h/").relate(x),
    "normalize": lambda x: URI("http://h/").normalize(x),
    "span": lambda x: URI("http://h/").span(x),
    "decode": overthere.decode,
    "decode charset": lambda x: overthere.decode("%41", charset=x),
    "decode errors": lambda x: overthere.decode("%FF", errors=x),
    "encode": overthere.encode,
    "encode component": lambda x: overthere.encode("a", x),
    "encode charset": lambda x: overthere.encode("é", charset=x),
    "encode keep": lambda x: overthere.encode("a", keep=x),
    "decode_bytes": overthere.decode_bytes,
    "check": overthere.check,
    "check edition": lambda x: overthere.check("x:y", x),
    "check rule": lambda x: overthere.check("x:y", rule=x),
    "edition": edition,
    "explain": overthere.explain,
    "explain base": lambda x: overthere.explain("x:y", x),
    "find": lambda x: list(overthere.find(x)),
    "find rules": lambda x: overthere.find("x:y", rules=x),
    "find schemes": lambda x: overthere.find("http://h", schemes=x),
    "audit": overthere.audit,
    "audit level": lambda x: overthere.audit("http://joe:x@h/", level=x),
    "lowest_rung": lambda x: overthere.lowest_rung("x:y", x),
    "typed": overthere.typed,
    "scheme": overthere.scheme,
    "plan": overthere.plan,
    "open": overthere.open,
    "establish": lambda x: establish(x),
    "establish retrieval": lambda x: establish(retrieval=x),
    "establish default": lambda x: establish(default=x),
    "establish edition": lambda x: establish("http://h/", edition=x),
    "forms.encode": forms.encode,
    "forms.encode pairs": lambda x: forms.encode([x]),
    "forms.encode name": lambda x: forms.encode([(x, "a")]),
    "forms.encode value": lambda x: forms.encode({"a": x}),
    "forms.encode values": lambda x: forms.encode({"a": [x]}),
    "forms.decode": forms.decode,
    "links base": lambda x: list(links.extract([], x)),
    "links edition": lambda x: list(links.extract([], edition=x)),
    "column": columns.split,
    "columns.split names": lambda x: columns.split(pa.array(["x:y"]), x),
    "columns.check": lambda x: columns.check(pa.array(["x:y"]), x),
    "columns.check edition": lambda x: columns.check(pa.array(["x:y"]), edition=x),
    "columns.resolve": lambda x: columns.resolve(pa.array(["x:y"]), x),
    "columns.relate": lambda x: columns.relate(pa.array(["x:y"]), x),
    "columns.canonicalize": lambda x: columns.canonicalize(pa.array(["x:y"]), x),
    "columns.normalize": lambda x: columns.normalize(pa.array(["x:y"]), x),
    "columns threads": lambda x: columns.split(pa.array(["x:y"]), threads=x),
    **{
        f"replace {part}": replaced(part)
        for part in ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
    },
    **{
        f"build {part}": built(part)
        for part in ("scheme", "userinfo", "host", "port", "path", "segments", "query", "fragment")
    },
    **{
        f"{name} {method}": of_edition(name, method)
        for name in ("url-1994", "rfc1738", "url-1997", "uri-2003", "rfc3986")
        for method in ("check", "is_valid", "split", "parts", "locator", "encode", "decode", "normalize")
    },
    "edition resolve": lambda x: edition("rfc3986").resolve("x:y", x),
    "edition rule": lambda x: edition("rfc3986").check("x:y", x),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_type_is_reported(name: str) -> None:
    for wrong in NO_TEXT:
        try:
            CALLS[name](wrong)
        except (TypeError, ValueError, OverthereError) as error:
            message = str(error)
            assert message, wrong
            for riddle in (
                "internal",
                "bug",
                "no attribute",
                "unhashable",
                "not callable",
                "unknown column operation",
                "subscriptable",
                "unpack",
                "NoneType' object",
            ):
                assert riddle not in message, wrong


# -- Arrow that is no text

BAD = b"http://h/\xff\xfe"
LAYOUTS = ("string", "large_string", "string_view", "long view", "dictionary", "sliced", "chunked", "base")


def column_with(layout: str, row: bytes) -> Any:
    """A column of three rows; the second has these bytes, which have not been checked."""
    rows = [b"http://a/", row, b"http://c/"]
    if layout.endswith("view"):
        return pa.array(
            [item + b"/a-long-way" if layout == "long view" else item for item in rows], pa.binary_view()
        ).view(pa.string_view())
    kind, unchecked = (pa.binary(), pa.string()) if layout != "large_string" else (pa.large_binary(), pa.large_string())
    octets = pa.array([b"http://z/", *rows] if layout == "sliced" else rows, kind)
    text = type(pa.array([], unchecked)).from_buffers(len(octets), *octets.buffers()[1:])
    if layout == "dictionary":
        return pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), text)
    if layout == "chunked":
        return pa.chunked_array([pa.array(["http://x/"]), text])
    return text[1:] if layout == "sliced" else text


WORK: dict[str, Call] = {
    "split": columns.split,
    "parse": columns.parse,
    "check": columns.check,
    "check an edition": lambda c: columns.check(c, edition="rfc1738"),
    "host": columns.host,
    "normalize": columns.normalize,
    "normalize by scheme": lambda c: columns.normalize(c, Rung.SCHEME),
    "resolve": lambda c: columns.resolve(c, "http://h/"),
    "encode": columns.encode,
    "decode": columns.decode,
    "copied": lambda c: columns.split(c, views=False),
    "equivalent": lambda c: columns.equivalent(c, c),
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_invalid_utf_8_in_arrow_is_rejected(layout: str, work: str) -> None:
    if layout == "base":
        with pytest.raises(ValueError, match=r"(?i)utf-?8|decode"):
            pa.array(columns.resolve(pa.array(["a"] * 3), column_with("string", BAD))).to_pylist()
        return
    with pytest.raises(ValueError, match=r"(?i)utf-?8|decode"):
        list(pa.chunked_array(WORK[work](column_with(layout, BAD))).to_pylist())
    sound = column_with(layout, "http://h/\u00e4\u00f6\U0001f600".encode())
    assert pa.chunked_array(WORK[work](sound)).length() == len(sound)


@pytest.mark.parametrize("octets", [b"\xc3\xa4", b"\xf0\x9f\x98\x80"])
def test_a_row_that_begins_inside_a_character_is_rejected(octets: bytes) -> None:
    data = b"a" + octets + b"b"
    offsets = pa.array([0, 2, len(data)], pa.int32()).buffers()[1]
    with pytest.raises(ValueError, match=r"(?i)utf-?8|decode"):
        columns.split(pa.StringArray.from_buffers(2, offsets, pa.py_buffer(data)))


@pytest.mark.parametrize("offsets", [[0, 900], [0, -1], [5, 0], [900, 901]])
def test_a_row_outside_the_data_is_rejected(offsets: list[int]) -> None:
    places = pa.array(offsets, pa.int32()).buffers()[1]
    with pytest.raises(ValueError, match=r"(?i)outside|offset|length"):
        columns.split(pa.StringArray.from_buffers(1, places, pa.py_buffer(b"http:")))


def test_a_null_row_may_hold_anything() -> None:
    places = pa.array([0, 2, 4], pa.int32()).buffers()[1]
    column = pa.StringArray.from_buffers(2, places, pa.py_buffer(b"\xff\xffx:"), pa.py_buffer(b"\x02"))
    assert pa.chunked_array(columns.split(column)).to_pylist()[1]["scheme"] == "x"
