"""The resolution of each document, compared with its printed table and with its words run literally."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from overthere import URI, InvalidURI, NoBase, Unreachable
from overthere.editions import edition
from overthere.editions.resolution import (
    RESOLUTIONS,
    Resolve,
    rfc1630,
    rfc2396,
    rfc3986,
    uri2003,
    url1997,
)
from overthere.editions.resolution_steps import for_request, remove_segments
from overthere.kernel.reference import remove_dot_segments
from overthere.values.resolve import Target
from support import LONG, NO_PACKAGE, SHARED, cases, ids, linear, outside

Row = dict[str, Any]

ROWS = cases("resolution_editions")
STRIPPED: dict[str, Callable[..., Target]] = {"rfc2396": rfc2396, "uri-2003": uri2003}
# File next to the project -> its names of the documents, and the options of its variants.
SPECS = {"draft-1997": "url-1997", "draft-2003": "uri-2003"}
VARIANTS = {
    "draft-2003-nonvalidating": ("uri-2003", "loose"),
    "draft-2003-strip": ("uri-2003", "strip"),
    "rfc3986-nonstrict": ("rfc3986", "loose"),
}


def as_printed(target: Target) -> str:
    """A target in the format of the printed tables."""
    if target.uri is not None:
        return target.uri
    assert target.same_document
    return "(current document)" + ("" if target.fragment is None else "#" + target.fragment)


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_resolution_of_the_cases(row: Row) -> None:
    base, reference = row["base"], row["reference"]
    assert {name: as_printed(RESOLUTIONS[name].resolve(base, reference)) for name in row["is"]} == row["is"]
    # Fields that a variant does not change are inherited.
    loose = {n: a for n, a in row["is"].items() if n not in ("rfc2396", "uri-2003", "rfc3986")} | row.get("loose", {})
    assert {name: as_printed(RESOLUTIONS[name].resolve(base, reference, False)) for name in loose} == loose
    strip = {n: a for n, a in row["is"].items() if n in STRIPPED} | row.get("strip", {})
    for name, expected in strip.items():
        assert as_printed(STRIPPED[name](base, reference, excess="strip")) == expected
    for name, expected in row.get("repaired", {}).items():
        repaired = RESOLUTIONS[name].repaired
        assert repaired is not None
        assert as_printed(repaired(base, reference)) == expected
    for name, mistake in row.get("wrong", {}).items():
        assert as_printed(RESOLUTIONS[name].resolve(base, reference)) != mistake


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_parts_of_the_target(row: Row) -> None:
    for name in row["is"]:
        uri, fragment, same = RESOLUTIONS[name].resolve(row["base"], row["reference"])
        if uri is None:
            assert same
        else:
            # RFC 1808 2.4.1: a final crosshatch equals none.
            before, _, right = uri.partition("#")
            assert fragment == (right if "#" in uri and (right or name != "rfc1808") else None)
            if name in ("rfc1630", "rfc1808", "rfc3986"):
                assert same is (before == row["base"].partition("#")[0])
            else:  # they decide "(current document)" by the syntax of the reference
                assert same is False


def test_repaired_algorithms_differ_only_as_documented() -> None:
    refused = set()
    for row in ROWS:
        for name in row["is"].keys() - row.get("repaired", {}).keys():
            if (repaired := RESOLUTIONS[name].repaired) is None:
                continue
            try:
                answer = repaired(row["base"], row["reference"])
            except InvalidURI:
                refused.add((name, row["id"]))
            else:
                assert answer == RESOLUTIONS[name].resolve(row["base"], row["reference"]), (name, row["id"])
    # The edition of RFC 3986 validates its texts.
    assert refused == {("rfc3986", "scheme-underscore"), ("rfc3986", "scheme-digit")}


# -- The tables next to the project


@pytest.mark.skipif(not SHARED.exists(), reason=NO_PACKAGE)
def test_shared_tables() -> None:
    rows = {(row["base"], row["reference"]): row for row in ROWS}
    counts: dict[str, int] = {}
    for row in outside("resolution_tables"):
        spec: str = row["spec"]
        document, variant = VARIANTS.get(spec, (SPECS.get(spec, spec), "is"))
        counts[document] = counts.get(document, 0) + 1
        if row["kind"] == "normalize":
            assert remove_dot_segments(row["input"]) == row["expected"]
            continue
        if row["target"] == "reference-buggy-parser":
            variant = "wrong"
        actual = rows[row["base"], row["input"]][variant][document]
        fragment = "#" + row["input"].partition("#")[2] if "#" in row["input"] else ""
        expected = "(current document)" + fragment if row["expected"] is None else row["expected"]
        assert actual == expected, row["id"]
        # The result of this row, once more by the function itself.
        if variant == "is":
            assert as_printed(RESOLUTIONS[document].resolve(row["base"], row["input"])) == expected, row["id"]
    assert counts == {"url-1997": 45, "uri-2003": 45, "rfc3986": 45, "rfc1808": 39, "rfc2396": 42, "rfc1630": 10}


@pytest.mark.skipif(not SHARED.exists(), reason=NO_PACKAGE)
def test_fieldings_pages() -> None:
    """His first page shows browsers under RFC 2396: the URL of the current document, ".." removed."""
    missing = []
    for row in outside("roy_rel_examples"):
        base, reference = row["base"], row["input"]
        answer = for_request(RESOLUTIONS[row["spec"]].resolve(base, reference), base).uri
        if answer != row["expected"]:
            missing.append(reference)
            answer = rfc2396(base, reference, excess="strip").uri
        assert answer == row["expected"], row["id"]
    assert missing == ["../../../g", "../../../../g"]


PRINTED = {
    "rfc1808": ("rfc1808.txt", "5.1.  Normal Examples", "5.3.  Recommended", 39),
    "url-1997": ("drafts/draft-fielding-url-syntax-05.txt", "C.1.  Normal", "D. Embedding", 44),
    "rfc2396": ("rfc2396.txt", "C.1.  Normal", "D. Embedding", 42),
    "uri-2003": (
        "drafts/draft-fielding-uri-rfc2396bis-01.xml",
        '<section title="Normal Examples">',
        '<section title="Embedding',
        42,
    ),
    "rfc3986": ("rfc3986.txt", "5.4.1.  Normal Examples\n\n", "6.  Normalization and Comparison\n\n", 42),
}


@pytest.mark.parametrize("name", PRINTED)
def test_tables_are_as_printed(name: str) -> None:
    file, first, last, count = PRINTED[name]
    path = SHARED.parent / "rfc" / file
    if not path.exists():
        pytest.skip("../shared/rfc is absent")
    text = html.unescape(path.read_text("utf-8", errors="replace"))
    text = text[text.rindex(first) :]
    printed = {}
    for match in re.finditer(r"(?m)^[ \t]+(\S+)[ \t]+=[ \t]+(\S+( document\)\S*)?)", text[: text.index(last)]):
        answer = match[2].strip('"')
        printed[match[1].strip('"').replace("<>", "")] = re.sub(r"^<URL:(.*)>$", r"\1", answer)
    rows = {
        row["reference"]: row.get("wrong", row["is"])[name]
        for row in ROWS
        if name in row["is"] and row["id"].startswith(("table-", "rfc1808-"))
    }
    assert rows == printed
    assert len(printed) == count


# -- The steps, run literally


def literally(buffer: str) -> str:
    """RFC 2396 6c to 6f, as a series of string replacements."""
    buffer = re.sub(r"(?<![^/])\./", "", buffer)
    buffer = re.sub(r"(?<![^/])\.\Z", "", buffer)
    while match := next(_patterns(buffer, r"/\.\./"), None):
        buffer = buffer[: match.start()] + buffer[match.end() :]
    if match := next(_patterns(buffer, r"/\.\.\Z"), None):
        buffer = buffer[: match.start()]
    return buffer


def _patterns(buffer: str, end: str) -> Iterator[re.Match[str]]:
    for match in re.finditer(rf"(?=(?<![^/])([^/]*){end})", buffer):
        # Decision 97-10: the empty text before an initial slash is no segment.
        if match[1] != ".." and not (match.start() == 0 and match[1] == ""):
            segment = re.compile(rf"[^/]*{end}").match(buffer, match.start())
            assert segment is not None
            yield segment


def test_the_stack_gives_the_results_of_the_replacements() -> None:
    for size in range(9):
        for letters in product("/.a", repeat=size):
            buffer = "".join(letters)
            assert remove_segments(buffer) == literally(buffer), buffer
    for size in range(7):
        for pieces in product(("..", ".", "", "a"), repeat=size):
            for buffer in ("/".join(pieces), "/" + "/".join(pieces)):
                assert remove_segments(buffer) == literally(buffer), buffer


# -- Options, errors, unusual input


def test_excess_dots_can_be_rejected() -> None:
    for resolve in (rfc2396, uri2003):
        assert resolve("http://a/b", "c", excess="refuse").uri == "http://a/c"
        with pytest.raises(Unreachable):
            resolve("http://a/b", "../../c", excess="refuse")


def test_the_last_clause_of_rfc_1630() -> None:
    """It contradicts the example "/g"; without it all five examples hold."""
    assert rfc1630("magic://a/b/c//d/e/f", "/g", clause=True).uri == "magic://a/b/c//d/g"
    assert rfc1630("magic://a/b/c//d/e/f", "//g", clause=True).uri == "magic://g"
    assert rfc1630("magic://a/b", "/g", clause=True).uri == "magic://a/g"


def test_references_that_need_a_new_request() -> None:
    target = url1997("http://a/b", "#s")
    assert target == Target(None, "s", True)
    assert for_request(target, "http://x/y?z#old").uri == "http://x/y?z#s"
    assert for_request(url1997("http://a/b", ""), "http://x/y#old").uri == "http://x/y"
    resolved = url1997("http://a/b", "c")
    assert for_request(resolved, "http://x/y") == resolved


@pytest.mark.parametrize("name", RESOLUTIONS)
def test_a_base_without_a_scheme(name: str) -> None:
    for base in ("", "//h/p", "h/p", "?q", "#f", ":"):
        if base == "" and name in ("rfc1808", "url-1997"):
            continue
        with pytest.raises(NoBase):
            RESOLUTIONS[name].resolve(base, "g")


@pytest.mark.parametrize(
    "base", ["http:", "http://", "http://a", "x:y", "x:?", "x:#", "http://a?", "\ud800:\0", "x:\n"]
)
@pytest.mark.parametrize("name", RESOLUTIONS)
def test_unusual_texts_are_resolved(name: str, base: str) -> None:
    for reference in ("", "#", "?", "/", "//", "///", ".", "..", "../..", ";", ":", "\n", "\ud800", "[", "%", "a:b:c"):
        try:
            answers = [resolve(base, reference) for resolve in both(name)]
        except (NoBase, InvalidURI):
            continue
        assert all(answer.same_document or answer.uri is not None for answer in answers)


def both(name: str) -> list[Resolve]:
    row = RESOLUTIONS[name]
    return [row.resolve] if row.repaired is None else [row.resolve, row.repaired]


HUGE: dict[str, Callable[[int], str]] = {
    "up": lambda size: "../" * (size // 3),
    "down-up": lambda size: "a/" * (size // 5) + "../" * (size // 5),
    "alternating": lambda size: "a/../" * (size // 5),
    "here": lambda size: "./" * (size // 2),
    "slashes": lambda size: "/" * size,
    "empty segments": lambda size: "x" + "/" * (size // 2) + "../" * (size // 6),
    "colons": lambda size: "a" * (size // 2) + "_" + ":" * (size // 2),
    "dots": lambda size: "." * size,
    "letters": lambda size: "a" * size,
    "marks": lambda size: "?#;" * (size // 3),
}


@pytest.mark.parametrize("huge", HUGE.values(), ids=HUGE)
@pytest.mark.parametrize("name", RESOLUTIONS)
def test_long_paths_are_linear_without_recursion(name: str, huge: Callable[[int], str]) -> None:
    def use(size: int) -> None:
        text = huge(size)
        for resolve in both(name):
            # As a reference, and as a base; the edition of RFC 3986 also rejects in linear time.
            for base, reference in (("http://a/b/c/d", text), ("http://h/" + text, "../../g")):
                with suppress(InvalidURI):
                    resolve(base, reference)
        if name in STRIPPED:
            STRIPPED[name]("http://a/b", text, excess="strip")

    linear(use, LONG)


def test_the_edition_rfc3986_uses_the_repaired_algorithm() -> None:
    base, reference = "foo:/a", ".//g"
    assert rfc3986(base, reference, repair=True) == edition("rfc3986").resolve(base, reference)
    assert rfc3986(base, reference, repair=True).uri == str(URI(base).join(reference))
