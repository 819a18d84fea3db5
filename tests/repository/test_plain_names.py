"""Names in the package are nouns and verbs of the field: no bare participle, pronoun, adverb or metaphor.

A name counts as bare if every word of it is in one of the lists below: `told`, `_said`, `Look`, `of_it`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import overthere
from support import ROOT

PACKAGE = ROOT / "src" / "overthere"


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


PARTICIPLES = _words(
    """
    accepted adopted aligned answered applied arrived asked audited begun blamed bounded browsed called
    carried centred certified chained changed checked chosen chunked cited cleaned clipped closed collected
    coloured compared compiled composed compressed configured contained continued copied counted covered
    crawled cut dechunked declared decoded defined deflated delimited derived described displayed divided done
    dotted drawn embedded enclosed encoded ended entered escaped established evaluated expanded expected
    failed filled finished fitted folded forked formed found framed gathered given guarded guessed guided
    gzipped hashed held hidden hosted identified ignored inflated joined judged kept killed known laid left
    linked listed located lowered made mapped marked masked matched meant mended merged met mixed moved named
    narrowed needed noted numbered opened packed padded painted parsed parted passed pinned piped pivoted
    placed planned planted proxied published quoted ranked reached rebased recalled received recomposed
    redacted redirected reduced refused registered repaired replaced reported required resolved restructured
    resumed retrieved rewritten reworded rotated said sampled scripted seen selected sent served settled
    shaped shared shifted shortened shown sorted spared spent spiked spoiled spoken stopped stored stripped
    summed tagged taken tarred timed told torn trailed translated trimmed typed unasked uncommented undone
    unescaped unjudged unknown unmarked unnamed unpacked unquoted unread unseen unwritten updated used waited
    walked wanted worked wrapped written zipped asking carrying choosing connecting differing fitting growing
    helping judging lacking looking lying making mending missing opening parting pointing saving showing
    telling waiting
    """
)
FILLERS = _words(
    """
    about above after again against ahead all and anew any anything apart around as at back bare behind below
    beside best beyond by each either elsewhere every everything exactly far few finely first for from good
    here high how if in inner inside it its last late later least less like lots many more most much natively
    near nearest never next no none not nothing of often older on once one only or other others ours out outer
    outside over own patiently plain plainly quiet rest same several since single six so some such that theirs
    them then there these they this those through to together under up way ways what when where which who
    whole whom why wide with within without worst
    """
)
METAPHORS = _words(
    """
    dial dirt drive echo flow forget friendliness front grow hear hides hold hush know learn living
    look makeup mend paint paper patience pen pens plant say says scratch shelf sound speak speaks
    spread stages teller tell tells touch trail turn twin unveil veil walk walker wants
    """
)
BARE = PARTICIPLES | FILLERS | METAPHORS

EXCEPTIONS = {
    "Dial": "to connect, as in Go's net.Dial",
    "Opening": "the state of one opening of a resource",
    "Where": "the conditions on an index, as WHERE of SQL",
    "Unknown": "public, shown in a GopherLocator",
    "about": "the scheme about (RFC 6694)",
    "compressed": "a kind of container, as `kinds` calls it",
    "configured": "a name that the package of a protocol offers (CONTRIBUTING.md)",
    "delimited": "the subject of Appendix E of url-1997; the command line calls it",
    "filled": "public, GopherLocator.filled",
    "how": "public, Resource.how",
    "inner": "public, the URI within one of blob:, jdbc: and others",
    "of": "public, InvalidURI.of",
    "opening": "opening a resource, the subject of the module",
    "tell": "a method of Python's files",
}
"""Names that stay, each with its reason."""


def is_bare(name: str) -> bool:
    if name.startswith("_") and name.endswith("_"):  # a special method of Python
        return False
    words = [word for word in name.lower().split("_") if word]
    return bool(words) and all(word in BARE for word in words)


def _documented() -> frozenset[str]:
    """The names on the reference pages, which are public: functions, and classes with their members."""
    pages = "".join(page.read_text("utf-8") for page in sorted((ROOT / "docs" / "reference").glob("*.md")))
    return frozenset(re.findall(r":: overthere\.(?:\w+\.)*(\w+)$", pages, re.MULTILINE)) | frozenset(overthere.__all__)


DOCUMENTED = _documented()


def _is_contract(holder: ast.AST, name: str) -> bool:
    is_member = isinstance(holder, ast.ClassDef) and holder.name in DOCUMENTED and not name.startswith("_")
    return is_member or name in DOCUMENTED


def _defined(holder: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(holder):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from () if _is_contract(holder, node.name) else (node.name,)
        yield from _defined(node)


def _names(path: Path) -> Iterator[str]:
    if path.stem != "__init__":
        yield path.stem
    yield from _defined(ast.parse(path.read_text("utf-8")))


@cache
def _bare_names() -> dict[str, set[str]]:
    """File -> its bare names."""
    bare_names: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if bare := set(filter(is_bare, _names(path))):
            bare_names[name] = bare
    return bare_names


def test_names_are_nouns_and_verbs_of_the_field() -> None:
    bare = [f"{file} {name}" for file, names in _bare_names().items() for name in sorted(names - EXCEPTIONS.keys())]
    assert bare == []


def test_each_exception_is_needed() -> None:
    assert set(EXCEPTIONS) <= set().union(*_bare_names().values())


@pytest.mark.parametrize("name", ["told", "_said", "Look", "as_told", "of_it", "_way", "with_"])
def test_a_bare_name(name: str) -> None:
    assert is_bare(name)


@pytest.mark.parametrize(
    "name", ["_normalize", "find_cycles", "Checkpoint", "known_secrets", "__init__", "_", "read_rest"]
)
def test_a_name_of_the_field(name: str) -> None:
    assert not is_bare(name)
