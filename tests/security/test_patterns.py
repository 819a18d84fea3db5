"""Every regular expression of the package is linear (law 7)."""

from __future__ import annotations

import ast
import re
import sys
from itertools import product

import pytest

from attacks import Shape, judged, withstood
from overthere.links.documents import html, markdown
from overthere.protocols.gopher import entries as gopherentries
from overthere.protocols.mailto import dialogue as draft
from overthere.schemes.known import nntp
from patterns import PACKAGE, SCANS, used


def faults(pattern: str | bytes, flags: int, uses: set[str]) -> list[str]:
    """The first attack that each use of an expression fails."""
    shape = Shape(pattern, flags)
    attacks = shape.attacks(bool(uses & SCANS))

    def fault(use: str) -> str | None:
        return next((f"{use} {one}: {told}" for one in attacks if (told := withstood(shape.compiled, use, one))), None)

    return [reason for use in judged(uses) if (reason := fault(use))]


BAD = [
    # Expressions that this package once had.
    ("match", r"[ ]*(?:[0-9]+|(?=\.))[0-9.]*[ ]*[;, ][ ]*(?:url[ ]*=[ ]*)?(?:'([^']*)|\"([^\"]*)|([^ ].*))"),
    ("fullmatch", r"[ \t]*([0-9]{0,12}(?:\.[0-9]{1,9})?)[ \t]*([kKmMbB]?)[ \t]*"),
    ("fullmatch", "(/[^/]*/)0+([0-9]+)"),
    ("search", r"<[A-Za-z][^\s>]*+\s"),
    ("findall", r"[ \t]*[^ \t]+(?:[ \t]+$)?"),
    ("fullmatch", "(?s)(.+?) (?:[0-9A-Fa-f.:]{2,45}|-) [0-9]{14} (.+) [0-9]+"),
    # Textbook examples.
    ("match", "(a+)+b"),
    ("match", "(a|a)*b"),
    ("match", "(a|aa)+$"),
    ("fullmatch", r"(\w+\s?)*"),
    ("match", ".*,.*,.*;"),
    ("match", r"x*(?:y?x)*z"),
    ("match", "(?:(?=[ab]*b)a)*c"),
    ("search", r"\s+$"),
    ("search", r"(?m)^\s*:"),
    ("search", "(?s)<!--.*?-->"),
    ("search", r'"(?:[^"\\]|\\.)*"'),
    ("search", r"a+(?=b)"),
    ("fullmatch", r"(?:ab|a)*(?:ba|b)*c"),
]
GOOD = [
    ("fullmatch", "a*b*c"),
    ("match", "(?:a++|b)*+c"),
    ("search", r"(?<!\s)\s++$"),
    ("search", "<!--[^<]*+"),
    ("match", r'"(?:[^"\\]++|\\.)*+"'),
    ("fullmatch", "[a-z]+@[0-9]+"),
]


@pytest.mark.skipif(sys.implementation.name == "pypy", reason="PyPy's expressions are compiled, and slow elsewhere")
@pytest.mark.parametrize(("use", "pattern"), BAD)
def test_attacks_find_known_bad_expressions(use: str, pattern: str) -> None:
    # Other load on the machine may hide a bad expression in one run.
    assert any(faults(pattern, 0, {use}) for _ in range(3))
    if pattern.isascii():
        assert any(faults(pattern.encode(), 0, {use}) for _ in range(3))


@pytest.mark.parametrize(("use", "pattern"), GOOD)
def test_attacks_pass_linear_expressions(use: str, pattern: str) -> None:
    assert faults(pattern, 0, {use}) == []


def test_possessive_quantifiers_work() -> None:
    """Not before Python 3.11.5 (CPython issue 106052): pyproject.toml and the Makefile reject it."""
    assert re.match(r"(?:(?<!x)a)++c", "aac")
    assert (match := re.match(r"(?:(?:[ab]++|x)*+@)?+[a-z]", "abc")) is not None
    assert match[0] == "a"
    project = (PACKAGE.parents[1] / "pyproject.toml").read_text()
    assert 'requires-python = ">=3.11.5"' in project
    assert "(3, 11, 5)" in (PACKAGE.parents[1] / "Makefile").read_text()


def test_every_expression_is_linear() -> None:
    found, unknown = used()
    assert not unknown, f"these lines make an expression that is not seen: let WORK call them: {unknown}"
    assert len(found) > 250
    bad = [
        f"{place[0]}: {fault}"
        for (pattern, flags), (place, uses) in found.items()
        for fault in faults(pattern, flags, uses)
    ]
    assert not bad, "\n".join(bad)


def test_only_re_compiles_expressions() -> None:
    """`patterns.sites` would not find `re` under another name, or another engine."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.module not in ("re", "regex", "fnmatch", "glob"), path
            if isinstance(node, ast.Import):
                # On Windows the command line expands typed patterns, as shells do elsewhere.
                engines = {"regex", "fnmatch", "glob"} - ({"glob"} if path.match("cli/__init__.py") else set())
                assert not any(name.name in engines for name in node.names), path
                assert not any(name.name == "re" and name.asname for name in node.names), path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re":
                assert node.attr not in ("template", "Scanner"), path


# -- what was rewritten takes what it took


def assert_same_matches(old: str, new: re.Pattern[str], use: str, pieces: str | list[str], most: int) -> None:
    before = re.compile(old)
    for count in range(most + 1):
        for text in map("".join, product(pieces, repeat=count)):
            if use == "findall":
                assert before.findall(text) == new.findall(text), text
            else:
                first, other = getattr(before, use)(text), getattr(new, use)(text)
                assert (first is None) is (other is None), text
                if use == "fullmatch" and first is not None:
                    assert first.groups() == other.groups(), text


def test_the_expression_for_sizes_of_views() -> None:
    old = r"[ \t]*([0-9]{0,12}(?:\.[0-9]{1,9})?)[ \t]*([kKmMbB]?)[ \t]*"
    assert_same_matches(old, gopherentries._SIZE, "fullmatch", [" ", "\t", "7", "777777777", ".", "k", "x"], 6)


def test_the_expression_for_views() -> None:
    old = r"([^\s:]+)(?:[ \t]+([^\s:]+))?[ \t]*:?[ \t]*(?:<([^<>]*)>)?.*"
    assert_same_matches(old, gopherentries._VIEW, "fullmatch", " \t:<>a", 7)


def test_the_expression_for_article_numbers() -> None:
    assert_same_matches("(/[^/]*/)0+([0-9]+)", nntp._NUMBERED, "fullmatch", "/01a", 8)


def test_the_expression_for_words_of_a_field() -> None:
    assert_same_matches(r"[ \t]*[^ \t]+(?:[ \t]+$)?", draft._WORDS, "findall", " \tab", 8)


def test_the_expression_for_tags_of_markdown() -> None:
    assert_same_matches(r"<[A-Za-z][^\s>/]*+[\s/](?!>)", markdown._ATTRIBUTES, "search", "<a> /", 8)


def refresh(text: str) -> str | None:
    """HTML, shared declarative refresh steps, literally: the text parsed as a URL, or None."""
    spaces, digits, at, end = "\t\n\f\r ", "0123456789", 0, len(text)

    def skip(characters: str, at: int) -> int:
        while at < end and text[at] in characters:
            at += 1
        return at

    at = skip(spaces, at)
    time = at
    at = skip(digits, at)
    if at == time and text[at : at + 1] != ".":
        return None
    at = skip(digits + ".", at)
    if at < end:
        if text[at] not in ";," + spaces:
            return None
        at = skip(spaces, at)
        if text[at : at + 1] in (";", ","):
            at += 1
        at = skip(spaces, at)
    if at == end:
        return None  # the document itself
    url = text[at:]
    if text[at] in "uU":
        if text[at : at + 3].lower() != "url":
            return url
        at = skip(spaces, at + 3)
        if text[at : at + 1] != "=":
            return url
        at = skip(spaces, at + 1)
    quote = text[at : at + 1] if text[at : at + 1] in ("'", '"') else ""
    url = text[at + len(quote) :]
    return url.partition(quote)[0] if quote else url


def test_refreshes_are_parsed_as_the_standard_says() -> None:
    pieces = [" ", "\n", ";", ",", "0", ".", "url", "U", "=", "'", '"', "x"]
    for count in range(5):
        for before, text in product(("", "0", "0;url="), map("".join, product(pieces, repeat=count))):
            expected = refresh(before + text)
            assert html.values("refresh", before + text) == ([] if expected is None else [expected.strip("\t\n\f\r ")])
