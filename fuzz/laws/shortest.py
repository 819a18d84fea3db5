"""`relate` returns a shortest reference: every shorter text of a small alphabet is tried.

A shorter reference could only hold characters of the target, dots and slashes; each text of these is resolved by the
letter of RFC 3986 5.2.2, with the guard of decision 3986-1 (`letter.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product

from laws.letter import guard, parse, recompose, resolve
from overthere import URI, InvalidURI, Unreachable, URIReference

_ALPHABET = "ab:/.?#"
_TRIED = 5
"""The maximum length of texts that are tried, 19,608 in all."""
WORDS = tuple(
    word.encode() for word in ("a:", "b:", "//", "//a", "/a", "/.", "/..", "../", "./", "?", "#", "a:a", "/.//", ".")
)
LONGEST = 40
AFTER = "a row to tests/cases/resolve.toml, and a base to tests/kernel/test_laws.py::test_relate_is_shortest"


@cache
def _references(length: int) -> dict[tuple[str | None, str | None], list[str]]:
    """The references of this length, by their query and fragment."""
    references: dict[tuple[str | None, str | None], list[str]] = {}
    for text in filter(_is_derived, map("".join, product(_ALPHABET, repeat=length))):
        parts = parse(text)
        references.setdefault((parts.query, parts.fragment), []).append(text)
    return references


def _is_derived(text: str) -> bool:
    """Whether 4.1 derives a text of the alphabet."""
    scheme, authority, path, _, fragment = parse(text)
    return (
        (scheme is None or re.fullmatch(r"[ab][ab.]*", scheme) is not None)
        and (authority is None or re.fullmatch(r"[ab.]*:?", authority) is not None)
        and (scheme is not None or authority is not None or ":" not in path.split("/")[0])
        and "#" not in (fragment or "")
    )


def _uri(text: str, kind: type[URIReference]) -> URIReference | None:
    try:
        return kind(text)
    except InvalidURI:
        return None


def check(data: bytes) -> None:
    """data: a base and a target, on two lines; octets outside the alphabet are mapped to it."""
    lines = ["".join(_ALPHABET[octet % 7] if chr(octet) not in _ALPHABET else chr(octet) for octet in line)
             for line in data[:LONGEST].split(b"\n")[:2]]  # fmt: skip
    base = _uri(lines[0], URI)
    # A reference of any kind leads to a target that there is.
    reference = _uri(lines[-1], URIReference)
    if not isinstance(base, URI) or reference is None:
        return
    _shortest(base, base.join(reference))
    if isinstance(reference, URI):
        _shortest(base, reference)


def _shortest(base: URI, target: URI) -> None:
    try:
        actual = str(base.relate(target))
    except Unreachable:
        actual = None
    longest = _TRIED if actual is None else min(_TRIED, len(actual) - 1)
    expected = str(target)
    parts = parse(expected)
    # The fragment of a reference is that of the target, and so is the query, unless the path is empty (5.2.2).
    ends = {(parts.query, parts.fragment), (None, parts.fragment)}
    for length, end in product(range(longest + 1), ends):
        for text in _references(length).get(end, ()):
            if recompose(guard(resolve(str(base), text))) == expected:
                raise AssertionError(f"{str(base)!r} to {expected!r}: {actual!r}, and {text!r} is shorter")
    if actual is not None:
        assert str(base.join(actual)) == expected, f"{str(base)!r} and {actual!r} do not give {expected!r}"


def seeds() -> Iterator[bytes]:
    bases = ("a://a/a/a?a", "a://b", "a://b?a#a", "a:a/a", "a:/a/a", "a:", "a:a:a", "a:/.//a/a", "a:///a//a", "b://a//")
    for base, target in product(
        bases, ("", "a", "../b", "//b/a", "?b", "#b", "a:b/a", "./a:b", "/a//b", "..", "/.//b")
    ):
        yield f"{base}\n{target}".encode()
