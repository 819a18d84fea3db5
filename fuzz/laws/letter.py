"""RFC 3986 by its letter, written from the document alone: Appendix B, 5.2, 5.3, 6.2.1 and 6.2.2.

Two decisions supplement the letter (docs/decisions.md): a path that begins with "//" behind no authority is written
with "/." in front (3986-1), and a relative-path reference keeps its dot-segments, for they wait for a base.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from laws.kernels import LONGEST, WORDS
from overthere import URI, InvalidURI, Rung, URIReference, edition, lowest_rung
from seeds import cases, with_base

__all__ = ["AFTER", "LONGEST", "WORDS", "guard", "check", "parse", "recompose", "resolve", "seeds", "without_dots"]

AFTER = "a row to tests/cases/parse.toml, resolve.toml, normalize.toml or compare.toml"
_EXPRESSION = re.compile(r"^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?", re.DOTALL)
_TRIPLET = re.compile("%[0-9A-Fa-f]{2}")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_BASE = "http://a/b/c/d;p?q"
_RUNGS = (Rung.STRING, Rung.CASE, Rung.PERCENT, Rung.PATH, Rung.SCHEME)


class FiveComponents(NamedTuple):
    """The components; None where one is undefined."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


# -- Appendix B and 5.3


def parse(text: str) -> FiveComponents:
    """Appendix B: $2, $4, $5, $7 and $9."""
    match = _EXPRESSION.match(text)
    assert match is not None
    return FiveComponents(match[2], match[4], match[5], match[7], match[9])


def recompose(parts: FiveComponents) -> str:
    """5.3."""
    result = ""
    if parts.scheme is not None:
        result += parts.scheme + ":"
    if parts.authority is not None:
        result += "//" + parts.authority
    result += parts.path
    if parts.query is not None:
        result += "?" + parts.query
    if parts.fragment is not None:
        result += "#" + parts.fragment
    return result


# -- 5.2


def resolve(base: str, reference: str, strict: bool = True) -> FiveComponents:
    """5.2.2, line by line; schemes are compared without case (3.1)."""
    b, r = parse(base), parse(reference)
    assert b.scheme is not None
    scheme = r.scheme
    if not strict and scheme is not None and scheme.lower() == b.scheme.lower():
        scheme = None
    if scheme is not None:
        return FiveComponents(scheme, r.authority, without_dots(r.path), r.query, r.fragment)
    if r.authority is not None:
        return FiveComponents(b.scheme, r.authority, without_dots(r.path), r.query, r.fragment)
    if r.path == "":
        return FiveComponents(b.scheme, b.authority, b.path, b.query if r.query is None else r.query, r.fragment)
    path = without_dots(r.path) if r.path.startswith("/") else without_dots(_merge(b, r.path))
    return FiveComponents(b.scheme, b.authority, path, r.query, r.fragment)


def _merge(base: FiveComponents, path: str) -> str:
    """5.2.3."""
    if base.authority is not None and base.path == "":
        return "/" + path
    return base.path[: base.path.rfind("/") + 1] + path


def without_dots(path: str) -> str:
    """5.2.4: two buffers, steps 2A to 2E."""
    rest_path, output = path, ""
    while rest_path:
        if rest_path.startswith("../"):
            rest_path = rest_path[3:]
        elif rest_path.startswith("./"):
            rest_path = rest_path[2:]
        elif rest_path.startswith("/./"):
            rest_path = "/" + rest_path[3:]
        elif rest_path == "/.":
            rest_path = "/"
        elif rest_path.startswith("/../") or rest_path == "/..":
            rest_path = "/" + rest_path[4:]
            output = output[: max(output.rfind("/"), 0)]
        elif rest_path in (".", ".."):
            rest_path = ""
        else:
            end = rest_path.find("/", 1)
            end = len(rest_path) if end < 0 else end
            output, rest_path = output + rest_path[:end], rest_path[end:]
    return output


def guard(parts: FiveComponents) -> FiveComponents:
    """3986-1: without it, the path would read back as an authority."""
    if parts.authority is None and parts.path.startswith("//"):
        return parts._replace(path="/." + parts.path)
    return parts


# -- 6.2.2


def normal(text: str, rung: Rung) -> str:
    """6.2.2.1, then 6.2.2.2, then 6.2.2.3."""
    if rung == Rung.STRING:
        return text
    text = _TRIPLET.sub(lambda match: match[0].upper(), text)
    if rung >= Rung.PERCENT:
        text = _TRIPLET.sub(_decode, text)
    parts = parse(text)
    if parts.scheme is not None:
        parts = parts._replace(scheme=parts.scheme.lower())
    if parts.authority is not None:
        parts = parts._replace(authority=_lower_host(parts.authority))
    if rung >= Rung.PATH and (parts.scheme is not None or parts.authority is not None or parts.path.startswith("/")):
        parts = guard(parts._replace(path=without_dots(parts.path)))
    return recompose(parts)


def _decode(triplet: re.Match[str]) -> str:
    char = chr(int(triplet[0][1:], 16))
    return char if char in _UNRESERVED else triplet[0]


def _lower_host(authority: str) -> str:
    """Behind the "@", before the port: in small letters, but for the digits of escapes."""
    user, at, hostport = authority.rpartition("@")
    match = re.fullmatch(r"(\[.*\]|[^:]*)(:.*)?", hostport, re.DOTALL)
    assert match is not None, authority
    host = "".join(
        piece if piece.startswith("%") else piece.lower() for piece in re.split("(%[0-9A-Fa-f]{2})", match[1])
    )
    return user + at + host + (match[2] or "")


# -- the law


def seeds() -> Iterator[bytes]:
    """The input of the kernels, and the compared pairs, one per line."""
    yield from with_base()
    for file, row in cases():
        if file == "compare":
            yield f"{_BASE}\n{row['a']}\n{row['b']}".encode()


def check(data: bytes) -> None:
    """data: a base, and references after it, each on its line."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")[:6]
    base = lines[0] if _valid(lines[0], URI) else _BASE
    names = []
    for text in lines:
        parts = edition().split(text)
        assert tuple(parts) == parse(text), f"Appendix B cuts {text!r} into {parse(text)}, split into {parts}"
        if _valid(text, URIReference):
            names.append(text)
            _resolves(base, text)
            _normalises(text)
    for text, other in pairwise(names):
        _ladder(text, other)


def _valid(text: str, kind: type) -> bool:
    try:
        kind(text)
    except InvalidURI:
        return False
    return True


def _resolves(base: str, text: str) -> None:
    for strict in (True, False):
        expected = recompose(guard(resolve(base, text, strict)))
        actual = str(URI(base).join(text, strict))
        assert actual == expected, f"{base!r} and {text!r}, strict={strict}: {actual!r}, by the letter {expected!r}"


def _normalises(text: str) -> None:
    value = URIReference(text)
    forms = [str(value.normalize(rung)) for rung in _RUNGS]
    for rung, form in zip(_RUNGS[:4], forms, strict=False):
        expected = normal(text, rung)
        assert form == expected, f"{text!r} at {rung}: {form!r}, by the letter {expected!r}"
    for low, form in zip(_RUNGS, forms, strict=True):
        normal_reference = URIReference(form)
        for high in _RUNGS[low:]:
            actual = str(normal_reference.normalize(high))
            assert actual == forms[high], f"{text!r} at {low}, then {high}: {actual!r}, at once {forms[high]!r}"


def _ladder(text: str, other: str) -> None:
    """Texts that are equal at one rung are equal at those above, and `lowest_rung` is the first.

    At SCHEME more may be equal than has one text: a scheme may compare without the fragment (RFC 8141 3.2).
    """
    a, b = URIReference(text), URIReference(other)
    texts = [str(a.normalize(rung)) == str(b.normalize(rung)) for rung in _RUNGS]
    equal = [a.equivalent(b, rung) for rung in _RUNGS]
    assert equal[:4] == texts[:4], f"{text!r} and {other!r}: {equal}, and by their normal forms {texts}"
    assert equal[4] >= texts[4], f"{text!r} and {other!r} have one normal form and are not equal"
    assert equal == sorted(equal), f"{text!r} and {other!r} are equal at some rungs, and not at all above: {equal}"
    actual, first = lowest_rung(text, other), next((rung for rung, yes in zip(_RUNGS, equal, strict=True) if yes), None)
    assert actual == first, f"{text!r} and {other!r}: {actual}, and they are equal from {first} on"
