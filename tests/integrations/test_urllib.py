"""The replacement for urllib.parse: CPython's own tests, RFC 3986's examples, and the differences."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import random
import sys
import unittest
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib import parse

import pytest

from overthere import CodingError, InvalidURI, NoBase
from overthere.integrations import urllib as lenient
from overthere.integrations.urllib import strict
from support import cases, ids

pytestmark = pytest.mark.kernel

NO_TESTS = "this Python has no test.test_urlparse"

DIFFERENT = {
    "test_RFC1808": "5.2.2: a target has the fragment of the reference; RFC 1808 took the base's for an empty one",
    "test_urljoins": "5.3: the authority of http:// is empty, not undefined, and so it is the target's (from 3.13)",
    "test_all": "none: it wants the module of each function to be called urllib.parse",
}
"""The methods of CPython's test that fail, each with the reason and the paragraph of RFC 3986."""


def _suite() -> ModuleType | None:
    """A copy of CPython's tests that uses the replacement instead of urllib.parse."""
    spec = importlib.util.find_spec("test.test_urlparse") if importlib.util.find_spec("test") else None
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.urllib = SimpleNamespace(parse=lenient)  # type: ignore[attr-defined]
    return module


SUITE = _suite()
CLASSES = [kind for kind in vars(SUITE or ModuleType("")).values() if isinstance(kind, type)]
METHODS = {
    name: kind(name)
    for kind in CLASSES
    if issubclass(kind, unittest.TestCase)
    for name in unittest.defaultTestLoader.getTestCaseNames(kind)
}


@pytest.mark.skipif(SUITE is None, reason=NO_TESTS)
def test_the_tests_of_cpython_pass_with_listed_exceptions() -> None:
    failed = set()
    for name, method in METHODS.items():
        result = unittest.TestResult()
        method.run(result)
        assert result.testsRun == 1
        if not result.wasSuccessful():
            failed.add(name)
    assert len(METHODS) >= 70
    expected = set(DIFFERENT) - ({"test_urljoins"} if sys.version_info < (3, 13) else set())
    assert failed == expected
    assert len(DIFFERENT) <= 4


def test_all_public_names_exist() -> None:
    for module in (lenient, strict):
        assert sorted(module.__all__) == sorted(parse.__all__)
        assert all(getattr(module, name) is getattr(parse, name) for name in parse.__all__ if name.endswith("Result"))
        assert module.uses_netloc is parse.uses_netloc
        with pytest.raises(AttributeError):
            module.no_such_name  # noqa: B018


RESOLVED = [row for row in cases("resolve") if "rfc3986" in row["is"]]
PARSED = cases("parse")
INVALID = [row for row in cases("invalid") if row["rule"] == "URI-reference"]


@pytest.mark.parametrize("row", RESOLVED, ids=ids(RESOLVED))
def test_references_are_resolved_as_rfc_3986_says(row: dict[str, Any]) -> None:
    base, reference, target = row["base"], row["reference"], row["is"]["rfc3986"]
    assert strict.urljoin(base, reference) == target
    assert strict.urljoin(base.encode(), reference.encode()) == target.encode()
    if base:  # the scheme in lower case, as urllib writes it (6.2.2.1)
        scheme, colon, tail = row["is"].get("nonstrict", target).partition(":")
        assert lenient.urljoin(base, reference) == (expected := scheme.lower() + colon + tail)
        assert lenient.urljoin(base.encode(), reference.encode()) == expected.encode()


@pytest.mark.parametrize("row", PARSED, ids=ids(PARSED))
def test_components_are_split_as_rfc_3986_says(row: dict[str, Any]) -> None:
    text, is_ = row["text"], row["is"]
    expected = (is_.get("scheme", "").lower(), is_.get("authority"), is_["path"], is_.get("query"), is_.get("fragment"))
    expected = (expected[0] or None, *expected[1:])
    for module in (lenient, strict):
        parts = module.urlsplit(text)
        assert type(parts) is parse.SplitResult
        assert parts == tuple(part or "" for part in expected)
        exact = module.urlsplit(text, missing_as_none=True)
        assert exact == expected
        assert isinstance(exact, parse.SplitResult)
        same = text if is_.get("scheme") is None else expected[0] + text[len(expected[0] or "") :]
        assert exact.geturl() == module.urlunsplit(exact) == module.urlunsplit(expected, keep_empty=True) == same
        octets = module.urlsplit(text.encode(), missing_as_none=True)
        assert octets == exact.encode()
        assert octets.decode() == exact
        assert module.urlunsplit(octets) == same.encode()
        parsed = module.urlparse(text, missing_as_none=True)
        assert module.urlunparse(parsed) == parsed.geturl() == same
        without = module.urldefrag(text, missing_as_none=True)
        assert without == (text.partition("#")[0], is_.get("fragment"))
        assert without.geturl() == text
        for result in (exact, octets, parsed, without):
            assert pickle.loads(pickle.dumps(result)) == copy.copy(result) == result
            assert type(pickle.loads(pickle.dumps(result))) is type(result)


@pytest.mark.parametrize("row", INVALID, ids=ids(INVALID))
def test_strict_accepts_references_only(row: dict[str, Any]) -> None:
    for function in (strict.urlsplit, strict.urlparse, strict.urldefrag):
        with pytest.raises(InvalidURI):
            function(row["text"])
    with pytest.raises(InvalidURI):
        strict.urljoin("http://h/", row["text"])


@pytest.mark.parametrize(
    "text",
    [
        "http://good\\@evil/", "http://a\x00b/", "http://a\x7f@b/", "http://[::1]x/", "http://[::1", "http://::1]/",
        "http://x[::1]/", "http://[a@b]/", "http://[::1]@[::2]/", "http://[1]/", "http://[]/", "http://[::1%]/",
        "http://a\uff0fb/", "http://a\u2100/", "http://a\uff20b/", "http://a\uff3cb/", "http://[::1]]/",
    ],
)  # fmt: skip
def test_an_authority_has_one_reading(text: str) -> None:
    for module in (lenient, strict):
        for function in (module.urlsplit, module.urlparse):
            with pytest.raises(ValueError, match=r"RFC 398[67]"):
                function(text)
        with pytest.raises(ValueError, match=r"RFC 398[67]"):
            module.urljoin("http://h/", text)
    with pytest.raises(ValueError, match="authority") as caught:
        lenient.urlsplit("http://joe:secret\\@h")
    assert "secret" not in str(caught.value)


def test_lenient_accepts_what_strict_rejects() -> None:
    for text in (
        "http://h/a b",
        "http://a_b:x/",
        "http://joe@a@h/",
        "  http://h/\n?q",
        "http://\u00e9/",
        "//[fe80::1%eth0]",
    ):
        assert lenient.urlsplit(text) == parse.urlsplit(text)
        with pytest.raises(InvalidURI):
            strict.urlsplit(text)
    assert lenient.urljoin("", "b") == "b"
    with pytest.raises(NoBase):
        strict.urljoin("", "b")
    assert lenient.urlsplit("//h/#f", "HTTP ", False) == ("HTTP", "h", "/#f", "", "")
    with pytest.raises(ValueError, match=r"4\.3"):
        strict.urlsplit("//h/#f", "http", False)
    with pytest.raises(ValueError, match=r"3\.1"):
        strict.urlsplit("//h/", "1")


@pytest.mark.parametrize(
    "components",
    [
        ("http", "h/x", "/a", "", ""), ("http", "h", "a", "", ""), ("http", "h", "/a?b", "", ""),
        ("http", "h", "/a", "b#c", ""), ("x", "", "", "a#b", "c"),
        ("a:b", "h", "/", "", ""), ("http", "h", "/", "q#f", ""), ("a/b", "h", "/", "", ""), ("1", "h", "/", "", ""),
        ("//h/?", "h", "/", "", ""), ("//h/#", "h", "/", "b", ""),
    ],
)  # fmt: skip
def test_strict_writes_only_what_it_would_read_back(components: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"read back|RFC 3986 3\.[15]"):
        strict.urlunsplit(components)


def test_empty_and_undefined_components_differ() -> None:
    assert lenient.urlunsplit(lenient.urlsplit("http://h/?#")) == "http://h/"
    assert lenient.urlunsplit(lenient.urlsplit("http://h/?#", missing_as_none=True)) == "http://h/?#"
    assert lenient.urlunsplit(lenient.urlsplit("http://h/?#", missing_as_none=True), keep_empty=False) == "http://h/"
    for module in (lenient, strict):
        for keep in (module.urlsplit("http://h/?"), module.urlsplit(b"http://h/?")):
            with pytest.raises(ValueError, match="missing_as_none"):
                module.urlunsplit(keep, keep_empty=True)
        undefined = module.urlsplit("a", missing_as_none=True)
        assert (undefined.username, undefined.password, undefined.hostname, undefined.port) == (None,) * 4
        parts = module.urlsplit("//u:p@H:8", missing_as_none=True)
        assert (parts.username, parts.password, parts.hostname, parts.port) == ("u", "p", "h", 8)
        assert module.urlunparse(("http", "h", "/a", "", "", None), keep_empty=True) == "http://h/a;?"


def test_text_and_bytes_cannot_be_mixed() -> None:
    calls: list[tuple[str, tuple[Any, ...]]] = [
        ("urlsplit", ("//h", b"http")), ("urlparse", (b"//h", "http")), ("urljoin", ("http://h", b"a")),
        ("urlunsplit", (("http", b"h", "", "", ""),)), ("urlunparse", ((b"http", "h", "", "", "", ""),)),
        ("urlsplit", (1,)), ("urlunsplit", ((1, "", "", "", ""),)), ("urldefrag", (1,)), ("urljoin", ("a", 1)),
        ("quote", (1,)), ("unquote", (1,)), ("parse_qsl", (1,)), ("urlencode", ("text",)), ("urlencode", ([1],)),
    ]  # fmt: skip
    for module in (lenient, strict):
        for name, arguments in calls:
            with pytest.raises((TypeError, AttributeError)):
                getattr(module, name)(*arguments)
        with pytest.raises(UnicodeDecodeError):
            module.urlsplit(b"http://\xff/")


PIECES = (
    "a",
    "b",
    "+",
    " ",
    "%",
    "%2",
    "%20",
    "%C3%A9",
    "%c3",
    "%E2%82",
    "%ff",
    "é",
    "€",
    "&",
    "=",
    ";",
    "~",
    "\x00",
    "\ud800",
    "/",
)


def _texts(count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices(PIECES, k=draw.randrange(9))) for _ in range(count)]


def _outcome(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    try:
        return function(*arguments, **named)
    except (ValueError, TypeError) as error:
        return type(error)


def test_coding_gives_the_results_of_urllib() -> None:
    for text in _texts(3000, 31):
        for name in ("quote", "quote_plus", "unquote", "unquote_plus", "unquote_to_bytes", "parse_qs", "parse_qsl"):
            ours, other = getattr(lenient, name), getattr(parse, name)
            assert _outcome(ours, text) == _outcome(other, text), (name, text)
            if (octets := _outcome(text.encode)) is not UnicodeEncodeError:
                assert _outcome(ours, octets) == _outcome(other, octets), (name, octets)
                if name.startswith("quote"):
                    assert ours(bytearray(octets)) == other(bytearray(octets))
        for safe in ("", "/", " ", "é&", "%", b"/&"):
            assert _outcome(lenient.quote, text, safe) == _outcome(parse.quote, text, safe)
            assert _outcome(lenient.quote_plus, text, safe) == _outcome(parse.quote_plus, text, safe)
        named: dict[str, Any]
        for named in (
            {"keep_blank_values": True}, {"strict_parsing": True}, {"separator": ";"}, {"max_num_fields": 1},
            {"encoding": "latin-1"}, {"errors": "strict"}, {"separator": ""}, {"encoding": "no-such"},
        ):  # fmt: skip
            outcomes = [_outcome_with_lookup(module.parse_qsl, text, named) for module in (lenient, parse)]
            assert outcomes[0] == outcomes[1], (text, named)


def _outcome_with_lookup(function: Callable[..., Any], text: str, named: dict[str, Any]) -> Any:
    try:
        return _outcome(function, text, **named)
    except LookupError as error:
        return type(error)


class Octets(bytes):
    """Octets of another type, such as `numpy.bytes_`."""


def test_urlencode_gives_the_results_of_urllib() -> None:
    texts = _texts(2000, 7)
    queries: list[Any] = [dict(zip(texts[i::50], texts[i + 1 :: 50], strict=False)) for i in range(40)]
    queries += [list(zip(texts[i::50], texts[i + 1 :: 50], strict=False)) for i in range(40)]
    queries += [
        [],
        {},
        (),
        "",
        "text",
        [("a", 1), (b"b", None)],
        {"a": [1, "x y"], "b": b"\xff"},
        [["a", "b"]],
        [()],
        5,
    ]
    queries += [[("a", "b", "c")], {"a": ("x", b"y")}, (("a", "b"),), [("a", True), ("b", 1.5)]]
    queries += [{Octets(b"a b"): Octets(b"\xff/~")}, [("a", Octets(b""))]]
    for query in queries:
        for named in ({}, {"doseq": True}, {"safe": "/ "}, {"quote_via": parse.quote}, {"encoding": "latin-1"}):
            if named.get("quote_via") is parse.quote:
                assert _outcome(lenient.urlencode, query, quote_via=lenient.quote) == _outcome(
                    parse.urlencode, query, **named
                )
            assert _outcome(lenient.urlencode, query, **named) == _outcome(parse.urlencode, query, **named), query


def test_strict_decodes_complete_escapes_only() -> None:
    for text in ("%", "a%2", "%zz", "%%20"):
        for name in ("unquote", "unquote_plus", "unquote_to_bytes", "parse_qsl", "parse_qs"):
            with pytest.raises(CodingError):
                getattr(strict, name)(text)
    with pytest.raises(CodingError):
        strict.unquote("%ff")
    for query in ("a=%ff", b"a=%ff"):
        with pytest.raises(ValueError, match="utf-8"):
            strict.parse_qsl(query)
    assert strict.unquote("%ff", errors="replace") == "\ufffd"
    assert strict.parse_qsl("a=%ff&b", True, encoding="latin-1") == [("a", "ÿ"), ("b", "")]
    assert strict.parse_qs("a=1&a=2+%2B") == {"a": ["1", "2 +"]}


@pytest.mark.parametrize(
    "text", ["", "\x00", "\ud800", "http://" + "a" * 100_000, "%" * 50_000, "@" * 50_000, "//" + "[" * 50_000]
)
def test_hostile_texts_are_linear(text: str) -> None:
    for module in (lenient, strict):
        for name in ("urlsplit", "urlparse", "urldefrag", "quote", "unquote", "parse_qsl"):
            _outcome(getattr(module, name), text)
        _outcome(module.urljoin, text, text)


BLANK = sorted({chr(code) for code in range(0x110000) if not chr(code).strip()} | set(map(chr, range(0x7F, 0xA1))))


@pytest.mark.parametrize("char", BLANK, ids=ascii)
def test_no_authority_ends_with_a_character_that_urllib_request_strips(char: str) -> None:
    """It strips a URL, and so changes a host at its end after the check."""
    for text in ("http://good.example{}", "//u@good.example:80{}", "http://good.example{}/", "http://good{}.example/"):
        url = text.format(char)
        for split in (lenient.urlsplit, lenient.urlparse):
            try:
                netloc = split(url).netloc
            except ValueError as error:
                assert "authority" in str(error)  # noqa: PT017
            else:
                assert netloc.isascii(), url
                assert netloc == netloc.strip() or netloc == "u@good.example:80 ", url  # whose `port` is an error
    if char not in "\t\r\n":
        with pytest.raises(ValueError, match="authority"):
            lenient.urljoin("http://h/", f"//good.example{char}")
