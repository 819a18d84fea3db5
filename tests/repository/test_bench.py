"""The sections of `make bench` with small inputs: each writes rows that the page and the plot show."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterable
from typing import Any
from urllib import parse

import pytest

from support import ROOT

pytest.importorskip("can_ada", reason="the peers of the benchmark are absent")
pytest.importorskip("chdb", reason="the peers of the benchmark are absent")

sys.path.append(str(ROOT / "bench"))

import pyarrow as pa

import imports
import integrations
import iricolumns
import iris
import lists
import mixed_input
import peers
import plot
import report
import run
import standard
import tables
import values
from corpus import Corpus
from generated import generate, reference

Row = dict[str, Any]
TEXTS = generate(300, {})


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    references = [reference(text, number) for number, text in enumerate(TEXTS)]
    source = pa.array(["made"] * len(TEXTS)).dictionary_encode()
    names = {"text": TEXTS, "source": source, "reference": references, "reference source": source}
    return Corpus(pa.table(names))


def _page(corpus: Corpus, groups: Iterable[list[Row]]) -> tuple[list[Row], str]:
    """The rows of all sections, and the page for them."""
    rows = [{**_ABOUT, "section": "corpus"} | corpus.composition()]
    for group in groups:
        assert group
        assert report.table(group)
        rows += [_ABOUT | row for row in group]
    return rows, report.page(rows)


_ABOUT = {
    "date": "2026-01-01", "commit": "0", "kernel": "native", "machine": "a machine", "load": 0.0, "python": "3",
    "versions": {}, "corpus": "0",
}  # fmt: skip


def test_spoiled_texts_are_invalid() -> None:
    good = [text for text in TEXTS if standard.is_uri(text)]
    for share in mixed_input.SHARES:
        mixed = mixed_input.mix(TEXTS, share)
        assert len(mixed) == len(good)
        assert sum(not standard.is_uri(text) for text in mixed) == len(good) * share // 100
    assert mixed_input.mix(TEXTS, 10) == mixed_input.mix(TEXTS, 10)
    texts = {mixed_input.spoil("http://h/path", random.Random(seed)) for seed in range(200)}
    assert len(texts) > 50


def test_the_section_of_mixed_input(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    real = {"a list": ["http://h/", "http://h/{x}", "no", "http://h/%zz"]}
    monkeypatch.setattr(mixed_input, "lists", lambda most: real)
    rows, page = _page(corpus, mixed_input.measure(corpus, 1, 0.0, 40))
    ours = [row for row in rows if row.get("peer") == peers.OWN]
    assert [row["list"] for row in ours] == ["0 %", "1 %", "10 %", "100 %", "a list"]
    assert all(row["right"] == row["of"] for row in ours)
    assert {row["invalid"] for row in ours if row["list"] in ("100 %", "a list")} == {1.0, 0.75}
    assert "| a list | 4 | 9 | 12 | 75.00% |" in page
    assert "| can_ada |" in page


def test_a_missing_method_has_no_row() -> None:
    import overthere

    for name, method in (("overthere, or None", "parse"), ("overthere, yes or no", "can_parse")):
        assert (name in mixed_input.peers()) == hasattr(overthere.URI, method)


def test_the_section_of_iris(corpus: Corpus) -> None:
    rows, page = _page(corpus, iris.measure(corpus, 1, 0.0, 40))
    ours = {row["operation"]: row for row in rows if row.get("peer") == peers.OWN}
    assert list(ours) == [*iris.OPERATIONS, *iricolumns.OPERATIONS]
    judged = [row for row in ours.values() if "of" in row]
    assert len(judged) == 6
    assert all(row["right"] == row["of"] > 50 for row in judged)
    assert page.count("**overthere**") == len(ours)
    assert not any(text.isascii() for text in iris.to_iris(TEXTS))


def test_the_section_of_values(corpus: Corpus) -> None:
    rows, page = _page(corpus, values.measure(corpus.take_first(20), 1, 0.0))
    assert {row["operation"] for row in rows if row["section"] == "values"} == set(peers.OPERATIONS)
    assert "## One value at a time" in page
    assert plot.plot(rows).startswith("<svg")


def test_our_results_are_right(corpus: Corpus) -> None:
    for operation in ("normalize by scheme", "changes", "relate"):
        agrees = values.agrees(operation, peers.OWN)
        assert agrees.right == agrees.rows > 50, operation


def test_the_section_of_imports(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "IMPORTS", {name: imports.IMPORTS[name] for name in (peers.OWN, "urllib.parse")})
    rows, page = _page(corpus, imports.measure(1))
    assert [row["peer"] for row in rows[1:]] == [peers.OWN, "urllib.parse"]
    assert "## Imports" in page


def test_the_section_of_engines(corpus: Corpus) -> None:
    """The texts of this corpus represent real ones: the section ignores their source."""
    named = pa.array(["a package"] * len(TEXTS)).dictionary_encode()
    real = Corpus(corpus.table.set_column(1, "source", named))
    assert integrations.measure(corpus, 1) == [[]]
    rows, page = _page(real, integrations.measure(real, 1))
    by_peer = {row["peer"]: row for row in rows[1:]}
    assert list(by_peer) == list(integrations.FUNCTIONS)
    assert sorted(by_peer) == sorted(name for name in parse.__all__ if name[0].islower())
    assert all(row["of"] >= row["right"] > row["of"] * 0.9 and row["ns"] > 0 for row in by_peer.values())
    assert by_peer["quote"]["right"] == by_peer["quote"]["of"] == len(TEXTS)
    assert "## The names of urllib.parse" in page
    assert "| urlsplit |" in page


def test_the_section_of_columns(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two engines, each in its process; the others are called in the same way."""
    monkeypatch.setattr(tables, "_keys", lambda: [("overthere", 1), ("loop, can_ada", 1)])
    rows, page = _page(corpus, tables.measure(corpus, 1, 0.0))
    dirty = [row for row in rows if row["section"] == "dirty columns" and row["peer"] == "overthere"]
    assert [(row["operation"], row["list"]) for row in dirty] == [
        (operation, f"{share} %") for operation in tables.DIRTY for share in mixed_input.SHARES
    ]
    assert all(row["right"] == row["of"] for row in dirty)
    assert "## Whole columns with invalid rows" in page


def test_lists_come_from_this_machine() -> None:
    names = lists.lists(20)
    for texts in names.values():
        assert 0 < len(texts) == len(set(texts)) <= 20
        assert lists.composition(texts)["texts"] == len(texts)


def test_the_help_lists_the_sections() -> None:
    result = subprocess.run(
        [sys.executable, "bench/run.py", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "{" + ",".join(run.SECTIONS) + "}" in result.stdout
