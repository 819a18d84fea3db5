"""docs/migrate.md with the libraries that it describes: each section runs alone."""

from __future__ import annotations

import doctest
import re
import warnings
from importlib.util import find_spec

import pytest

import overthere
from support import ROOT
from test_page_sections import PARSER, Section, sections

PAGE = ROOT / "docs" / "migrate.md"
LIBRARIES = sorted(set(re.findall(r"^>>> (?:import|from) (\w+)", PAGE.read_text("utf-8"), re.MULTILINE)))
MISSING = [name for name in LIBRARIES if not find_spec(name)]


def test_the_headings_name_the_libraries() -> None:
    expected = "ada_url furl httpx hyperlink overthere rfc3986 tldextract url_normalize urllib w3lib yarl"
    assert expected.split() == LIBRARIES


@pytest.mark.parametrize("section", sections(PAGE), ids=lambda section: section.title)
def test_a_section_runs(section: Section) -> None:
    if any(re.search(rf"^>>> (?:import|from) {name}\b", section.text, re.MULTILINE) for name in MISSING):
        pytest.skip("a library of docs/migrate.md is absent")
    test = PARSER.get_doctest(section.text, {}, section.name, str(section.page), 0)
    printed: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # imports of the libraries themselves
        failed, _ = doctest.DocTestRunner(verbose=False).run(test, out=printed.append)
    assert not failed, "".join(printed)


def test_results_are_compared() -> None:
    """Sections also contain common tasks with the result of the other library."""
    examples = [example for section in sections(PAGE) for example in PARSER.get_examples(section.text)]
    compared = [example for example in examples if " == " in example.source]
    assert all(set(re.findall(r"\w+", example.want)) == {"True"} or ", " in example.source for example in compared)
    assert sum(example.source.count(" == ") for example in compared) >= 55


def test_the_names_of_this_library_exist() -> None:
    """All editions, functions and classes that a table names exist."""
    text = PAGE.read_text("utf-8")
    for name in re.findall(r'edition\("([\w-]+)"\)', text):
        overthere.edition(name)
    called = {name for cell in re.findall(r"\| (`[^|]*) \|$", text, re.MULTILINE) for name in CALLED.findall(cell)}
    assert called
    assert [name for name in called if name not in overthere.__all__] == []


CALLED = re.compile(r"`([A-Za-z]\w*)\(")
