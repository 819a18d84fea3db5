"""Correct answers: test cases with the answer of the standard, and the share that a peer gets.

The rows are tests/cases/*.toml, each with its paragraph of RFC 3986, and the two short lists below.
"""

from __future__ import annotations

import re
import tomllib
import urllib.parse
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from overthere.kernel import reference
from overthere.kernel.classes import CHARSETS

REFUSED = "(refused)"
"""The answer of a row that has none."""

# 2.1: an escape is "%" HEXDIG HEXDIG, decoded once (2.4), "+" is no space.  Invalid escapes are rejected.
DECODE: list[tuple[str, str]] = [
    ("", ""), ("plain", "plain"), ("a%20b", "a b"), ("%41", "A"), ("%7E", "~"), ("%7e", "~"), ("%2f", "/"),
    ("%252F", "%2F"), ("%25", "%"), ("a+b", "a+b"), ("%2B", "+"), ("%00", "\0"), ("%0A", "\n"), ("%C3%A9", "é"),
    ("%c3%a9", "é"), ("%E2%82%AC", "€"), ("%F0%9F%98%80", "😀"), ("k%3Dv%26w", "k=v&w"),
    ("%", REFUSED), ("100%", REFUSED), ("%4", REFUSED), ("%zz", REFUSED), ("a%g0", REFUSED), ("%%41", REFUSED),
]  # fmt: skip

# 2.1, 3.3: every character of US-ASCII, and some beyond, as the data of one segment.
ENCODE: list[str] = [
    *map(chr, range(128)),
    "é",
    "€",
    "漢字",
    "😀",
    "a/b?c#d",
    "100% + ü",
    "%41",
    "key=a&b",
    "[::1]",
    "",
]

_SEGMENT = re.compile(rf"(?:[{re.escape(CHARSETS['pchar'])}]|%[0-9A-Fa-f]{{2}})*")

Six = tuple[Any, Any, Any, Any, Any, Any]


class Share(NamedTuple):
    """The number of rows with the standard's answer, and of all rows."""

    right: int
    rows: int

    def row(self) -> dict[str, Any]:
        return {"agrees": round(self.right / self.rows, 4), "right": self.right, "of": self.rows}


@cache
def cases(name: str) -> list[dict[str, Any]]:
    """The rows of a case file."""
    file = Path(__file__).resolve().parent.parent / "tests" / "cases" / f"{name}.toml"
    rows: list[dict[str, Any]] = tomllib.loads(file.read_text())["case"]
    return rows


def _six_of_row(row: dict[str, Any]) -> Six:
    fields = row["is"]
    return (
        fields.get("scheme"), fields.get("host"), fields.get("port_text"), fields["path"], fields.get("query"),
        fields.get("fragment"),
    )  # fmt: skip


def valid(uris_only: bool = True) -> list[tuple[str, Six]]:
    """Valid texts and their six components unchanged; undefined is None."""
    return [(row["text"], _six_of_row(row)) for row in cases("parse") if row["is"]["form"] == "uri" or not uris_only]


def invalid() -> list[str]:
    """Texts that are no URI."""
    return [row["text"] for row in cases("invalid")]


def is_uri(text: str) -> bool:
    """Whether a text is a URI: as the expression says that is made of Appendix A, in plain Python."""
    return reference.parse(text, "URI") is not None


def iris() -> list[tuple[str, str, str]]:
    """RFC 3987 3.1 and 3.2: IRIs, the URIs that they map to, and the IRIs that those map to."""
    rows = [(row["iri"], row["uri"], row.get("back", row["iri"])) for row in cases("iri")]
    return [row for row in rows if is_uri(row[1])]


def normal_forms(rung: str = "PATH") -> list[tuple[str, str]]:
    """6.2.2: URIs and their syntax-based normal forms; with "SCHEME" those of 6.2.3."""
    rows = [(row["text"], row["is"][rung]) for row in cases("normalize")]
    return [(text, normal) for text, normal in rows if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text)]


def targets() -> list[tuple[str, str, str]]:
    """5.2: base, reference, target."""
    return [(row["base"], row["reference"], row["is"]["rfc3986"]) for row in cases("resolve")]


def related() -> list[tuple[str, str]]:
    """5.2: bases and targets to which some reference leads."""
    return [(base, target) for base, _, target in targets() if reference.remove_dot_segments(target) == target]


def is_reference_to(base: str, answer: Any, target: str) -> bool:
    """Whether an answer is a reference that leads from the base to the target (5.2)."""
    if answer in (None, REFUSED) or reference.parse(str(answer), "URI-reference") is None:
        return False
    return reference.resolve(base, str(answer)) == target


def six(values: Sequence[Any], *, whatwg: bool = False) -> Six:
    """A peer's six answers as components: WHATWG's getters hold the delimiters too ("http:", "?q", "#f")."""
    scheme, host, port, path, query, fragment = values
    if whatwg:
        query, fragment = (query or "").removeprefix("?"), (fragment or "").removeprefix("#")
        scheme = (scheme or "").removesuffix(":")
    return scheme, host, port, path, query, fragment


def is_same(expected: Six, actual: Six, *, exact: bool) -> bool:
    """Whether an answer is the standard's.

    exact: whether the peer distinguishes "undefined"; otherwise its "" counts as undefined.
    The host may stand without its brackets; the port may be a number, and then none where its text is empty.
    """
    for number, (right, answer) in enumerate(zip(expected, actual, strict=True)):
        if number == 1 and right and answer == right.strip("[]"):
            continue
        if number == 2 and not (isinstance(answer, str) and exact):
            right, answer = int(right) if right else None, None if answer in (None, "") else int(answer)
        elif number != 3 and not exact:
            answer = answer or None
        if answer != right:
            return False
    return True


def encodes(data: str, answer: Any) -> bool:
    """Whether an answer is a segment (3.3) that represents the data."""
    text = answer.decode() if isinstance(answer, bytes) else str(answer)
    return bool(_SEGMENT.fullmatch(text)) and urllib.parse.unquote(text, errors="strict") == data


def call_or_refused(call: Callable[..., Any], *args: Any) -> Any:
    """The result of a call, or REFUSED."""
    try:
        return call(*args)
    except Exception:  # a peer's own refusal, whatever its type
        return REFUSED


def share(right: Sequence[bool]) -> Share:
    return Share(sum(right), len(right))
