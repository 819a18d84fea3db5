"""The drop-in compared with urllib.parse: equal answers where RFC 3986 allows them, the RFC's answers elsewhere.

An input is a text, or two with U+001E between them: a base and a reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib import parse

from laws.kernels import WORDS as GENERIC
from overthere import URIReference
from overthere.integrations import urllib as lenient
from overthere.integrations.urllib import strict
from overthere.kernel import reference as plain
from seeds import cases

AFTER = "a row to tests/integrations/test_urllib.py"
LONGEST = 200
WORDS = (
    *GENERIC, b"\x1e", b"http://h/", b"file:///", b"//", b"[::1]", b"[v1.a]", b"%zone", b"@", b"\\", b"\x00", b"\t",
    b"\n", b" ", b";a", b"+", b"&", b"=", b"%2B", b"%c3%a9", b"%E2%82", b"%ff", b"%", b"\xef\xbc\x8f",
    b"\xe2\x84\x80", b"..",
)  # fmt: skip
_OWN_WAY = re.compile(r"[?#](?:[?#]|$)|;|//")
_CODING = ("quote", "quote_plus", "unquote", "unquote_plus", "unquote_to_bytes", "parse_qsl", "parse_qs")


def _outcome(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    try:
        return function(*arguments, **named)
    except ValueError as error:
        return error


def _is_refused(answer: Any) -> bool:
    return isinstance(answer, ValueError)


def check(data: bytes) -> None:
    """Judge one input.  Raises: AssertionError where two answers differ that must not."""
    first, _, second = data.decode("utf-8", "surrogateescape").partition("\x1e")
    for text in (first, second):
        _check_splitting(text)
        for name in _CODING:
            ours, other = _outcome(getattr(lenient, name), text), _outcome(getattr(parse, name), text)
            assert ours == other or (_is_refused(ours) and type(ours) is type(other)), (name, text, ours, other)
    _check_joining(first, second)
    pairs = _outcome(parse.parse_qsl, first, True)
    if not _is_refused(pairs):
        ours, other = _outcome(lenient.urlencode, pairs), _outcome(parse.urlencode, pairs)
        assert ours == other or type(ours) is type(other), (pairs, ours, other)


def _check_splitting(text: str) -> None:
    parts, other = _outcome(lenient.urlsplit, text), _outcome(parse.urlsplit, text)
    value = URIReference.parse(text)
    exact = _outcome(strict.urlsplit, text, missing_as_none=True)
    assert _is_refused(exact) is (value is None), text
    if _is_refused(parts):
        assert value is None, text
        assert _is_refused(_outcome(lenient.urlparse, text)), text
        return
    assert parts == other or (_is_refused(other) and "[" in text), (text, parts, other)
    with_none = lenient.urlsplit(text, missing_as_none=True)
    assert parts == tuple(part or "" for part in with_none), text
    assert lenient.urlsplit(lenient.urlunsplit(with_none), missing_as_none=True) == with_none, text
    assert lenient.urlunparse(lenient.urlparse(text, missing_as_none=True)) == with_none.geturl(), text
    if parts.netloc or (not parts.scheme and parts.path[:2] != "//"):  # otherwise 3.11 makes an authority
        assert lenient.urlunsplit(parts) == parse.urlunsplit(parts), text
        assert lenient.urlunparse(lenient.urlparse(text)) == parse.urlunparse(lenient.urlparse(text)), text
    if value is not None:
        assert exact == with_none, text
        assert strict.urlunsplit(exact) == with_none.geturl(), text
        assert lenient.urlsplit(text.encode(), missing_as_none=True) == with_none.encode(), text
        assert strict.urldefrag(text) == lenient.urldefrag(text), text


def _check_joining(base: str, reference: str) -> None:
    target = _outcome(lenient.urljoin, base, reference)
    one, two = URIReference.parse(base), URIReference.parse(reference)
    if one is None or two is None or not base:
        return
    resolved = plain.resolve(base, reference, False)
    scheme, colon, tail = resolved.partition(":")
    expected = scheme.lower() + colon + tail if one.scheme or two.scheme else resolved
    assert target == expected, (base, reference, target, expected)
    if one.scheme:
        assert strict.urljoin(base, reference) == plain.resolve(base, reference), (base, reference)
    is_common = one.scheme in ("http", "https", "ftp") and one.authority and two.scheme is None and not two.authority
    # urllib drops empty parts, removes parameters from a path, and changes "//" there to "/".
    if is_common and reference and not any(_OWN_WAY.search(part) for part in (base.partition("://")[2], reference)):
        other = parse.urljoin(base, reference)
        assert target == other, (base, reference, target, other)


def seeds() -> Iterator[bytes]:
    """Every text of the case files, and every base with its reference."""
    for _, row in cases():
        if isinstance(row.get("reference"), str) and isinstance(row.get("base"), str):
            yield f"{row['base']}\x1e{row['reference']}".encode("utf-8", "surrogateescape")
        elif isinstance(row.get("text"), str):
            yield row["text"].encode("utf-8", "surrogatepass")[:LONGEST]
