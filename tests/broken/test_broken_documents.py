"""reStructuredText and notebooks: links, anchors, and missing packages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from overthere import URI
from overthere.base import Base
from overthere.broken import Checker, Summary, check, find
from overthere.links.documents import kinds, notebook, rst
from overthere.links.model import Document, Note, Options

GUIDE = """.. _top label:

Title Here
==========

`a <gone.rst#c>`_ `b <guide.rst#title-here>`_ `c <other.html>`_ `d <#top-label>`__ `e <#no>`__ :doc:`x` :ref:`y`

.. _named: gone.html

.. image:: gone.png

.. versionadded:: 3 `f <gone-f.rst>`_

   `g <gone-g.rst>`_

.. code-block:: python

   "`h <h.rst>`_"

.. toctree::

   one

.. include:: /etc/passwd
"""


def test_links_and_anchors_of_restructuredtext(tmp_path: Path) -> None:
    (tmp_path / "guide.rst").write_text(GUIDE.rpartition(".. include")[0])
    (tmp_path / "other.rst").write_text("Other\n-----\n")
    summary = Summary()
    results = [(finding.line, finding.reference) for finding in check([tmp_path], Checker(), summary)]
    assert results == [
        (6, "gone.rst#c"), (6, "#no"), (8, "gone.html"), (10, "gone.png"), (12, "gone-f.rst"), (14, "gone-g.rst"),
    ]  # fmt: skip
    assert summary.passed["sphinx-role"] == 3


def test_no_file_is_included_and_roles_are_local() -> None:
    from docutils.parsers.rst import roles

    before = dict(vars(roles)["_roles"])
    text = (
        ".. include:: /etc/passwd\n\n.. raw:: html\n   :file: /etc/passwd\n\n.. csv-table:: x\n   :file: /etc/passwd\n"
    )
    parsed = rst.parse(text + "\n.. role:: mine(raw)\n   :format: html\n\n:mine:`<a href=x>`\n")
    assert ([item.reference for item in parsed.references], parsed.has_anchors) == (["x"], False)
    assert vars(roles)["_roles"] == before


def test_a_figure_of_myst_has_a_place(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("gone.png\n\n```{figure} gone.png\n```\n")
    findings = [(finding.kind, finding.line, finding.column) for finding in check([tmp_path], Checker(), Summary())]
    assert findings == [("no-document", 3, 13)]


def test_raw_html_has_links_and_anchors() -> None:
    parsed = rst.parse(".. raw:: html latex\n\n   <a name=n href=a>\n\n.. raw:: latex\n\n   <a name=no href=no>\n")
    assert ([item[:2] for item in parsed.references], parsed.anchors) == ([("html a href", "a")], {"n"})


def test_uris_in_options_of_unknown_directives_are_found() -> None:
    """A card of sphinx-design is a link by its option."""
    card = ".. grid-item-card:: T\n   :link: https://h/a\n   :link-type: url\n   :img-top: https://h/b\n\n   `c <d>`_\n"
    assert [item.reference for item in rst.parse(card).references] == ["https://h/a", "https://h/b", "d"]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("".join(" " * depth + "- a\n\n" for depth in range(0, 800, 2)), "too-deep"),
        ("`a <b>`_ " * 20_000, "too-large"),
        ("a\n\n" * 400_000, "too-large"),
        (".. _a: b\n" * 16_000, "too-large"),
        ("`<" * 25_000, "too-large"),
        (("`<" * 4_900 + "\n\n") * 10, "too-large"),
        ("", ""),
        ("\0`" * 1000, ""),
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it may stop what hypothesis counts
def test_hostile_restructuredtext(text: str, note: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rst, "_SECONDS_PER_CHARACTER", 0.0)
    assert rst.parse(text).notes[:1] == ([note] if note else [])


@pytest.mark.parametrize("tool", ["setprofile", "settrace"])
@pytest.mark.parametrize("seconds", [1.0, 0.0])
def test_restructuredtext_is_read_under_a_profiler(tool: str, seconds: float) -> None:
    """In a process, because CPython 3.11 looped there uninterruptibly."""
    code = (
        f"import sys; sys.{tool}(lambda *_: None); from overthere.links.documents import rst;"
        f"rst._CHECK_INTERVAL = 0.001; rst._BASE_SECONDS = {seconds};"
        "parsed = rst.parse('`a <b>`_\\n\\n' * 300); print(len(parsed.references), parsed.notes)"
    )
    result = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert result.stdout.strip() == ("300 []" if seconds else "0 ['too-large']")


def test_links_and_anchors_of_notebooks(tmp_path: Path) -> None:
    output = {"output_type": "display_data", "metadata": {}, "data": {"text/html": '<a href="gone.html">x</a>'}}
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Big Title\n", "[a](gone.md) [b](#Big-Title) [c](#no)"]},
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": "[d](d.md)", "outputs": [output]},
    ]  # fmt: skip
    book = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}
    (tmp_path / "a.ipynb").write_text(json.dumps(book, indent=1))
    results = [(finding.line, finding.reference) for finding in check([tmp_path], Checker(), Summary())]
    assert [reference for _, reference in results] == ["gone.md", "#no", "gone.html"]
    assert [line for line, _ in results[:2]] == [11, 11]


def test_no_block_of_a_cell_goes_on_in_the_next(tmp_path: Path) -> None:
    """An open construct in one cell hid the references and headings of later cells; HTML was read as Markdown."""
    opened = ["```", "~~~ x\n# a", "<!-- a", "<script>", "!!! note\n\n    a", "[a", "<pre>\n"]
    htmls = ["<p>\n\n    <a href=x>", "```\n<a href=x>", "\r\r\t`<a href=x>`", "[a](b)\n\n[c](d)<a href=x>"]
    cells: list[dict[str, Any]] = []
    for text in opened:
        cells += [{"cell_type": kind, "metadata": {}, "source": text} for kind in ("markdown", "raw")]
        cells[-1]["metadata"] = {"raw_mimetype": "text/markdown"}
        cells += [{"cell_type": "markdown", "metadata": {}, "source": f"# B{len(cells)}\n[a](#B{len(cells)}) [b](x)"}]
    for text in htmls:
        output = {"output_type": "display_data", "metadata": {}, "data": {"text/html": text.splitlines(True)}}
        cells += [{"cell_type": "code", "execution_count": 1, "metadata": {}, "source": "", "outputs": [output]}]
    (tmp_path / "a.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}))
    found = [(item.where, item.reference) for item in check([tmp_path], Checker(), Summary())]
    assert found == [*[("link", "x")] * len(opened), *[("html a href", "x")] * len(htmls)]


def test_a_notebook_of_format_3() -> None:
    heading = {"cell_type": "heading", "level": 2, "source": "Old"}
    sheet = {"cells": [heading, {"cell_type": "markdown", "source": "[a](b)"}]}
    text = json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [sheet]})
    assert notebook.cells(text) == ["## Old", "[a](b)"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "nothing", '{"nbformat": 9, "cells": 1}', '{"nbformat": 4, "cells": [1]}', "[" * 100_000]
)
def test_an_invalid_notebook_is_corrupt(text: str, tmp_path: Path) -> None:
    assert notebook.cells(text) is None
    (tmp_path / "a.ipynb").write_text(text)
    list(check([tmp_path], Checker(), Summary()))


def test_a_notebook_of_too_many_objects_is_not_read() -> None:
    text = '{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[' + "{}," * 1_000_000 + "{}]}"
    assert notebook.cells(text) is None
    document = Document("a.ipynb", text.encode(), Base(URI("http://h/a.ipynb"), "default"))
    assert list(notebook.read(document, Options())) == [Note("too-large")]


def test_brackets_in_the_texts_of_a_notebook_are_not_objects() -> None:
    cell = {"cell_type": "markdown", "metadata": {}, "id": "a", "source": '[a](b)\\"' + "\x1b[1m{" * 400_000}
    text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})
    assert notebook.cells(text) == [cell["source"]]


def test_without_the_packages_a_note_says_how_to_install_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "_installed_kinds", frozenset)
    (tmp_path / "a.rst").write_text(GUIDE)
    (tmp_path / "b.ipynb").write_text('{"cells": []}')
    results = {finding.source[-5:]: finding.why for finding in check([tmp_path], Checker(), Summary())}
    assert "overthere[rst]" in results["a.rst"]
    assert "overthere[notebooks]" in results["ipynb"]


@pytest.mark.parametrize("error", [IndexError, AssertionError, AttributeError, KeyError, ZeroDivisionError])
def test_any_error_of_docutils_becomes_a_note(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> object:
        raise error("not expected")

    monkeypatch.setattr(rst, "_parse_tree", fail)
    assert rst.parse("`a <b>`_").notes == ["corrupt"]


def test_roles_of_a_document_do_not_affect_others() -> None:
    """In many threads: docutils has one global table of roles."""
    from concurrent.futures import ThreadPoolExecutor

    with_role = ".. role:: own\n\n:own:`x` `a <b>`_\n" * 3
    without = ":own:`x` `a <b>`_\n\n" * 3
    alone = [rst.parse(with_role), rst.parse(without)]
    assert [item.roles for item in alone] == [0, 3]
    with ThreadPoolExecutor(8) as threads:
        values = list(threads.map(rst.parse, [with_role, without] * 60))
    assert values == alone * 60


def test_a_uri_in_text_that_may_be_cut_short_is_not_judged(tmp_path: Path) -> None:
    """`https://h.example/{id}/b` names no resource `https://h.example/`, and `mailto:${who}` is not `mailto:$`."""
    (tmp_path / "a.txt").write_text("https://h.example/{id}/b, mailto:${who}, https://h.example/a, mailto:$")
    summary = Summary()
    assert [item.reference for item in check([tmp_path], Checker(), summary)] == ["mailto:$"]
    assert (summary.passed["template"], summary.outside) == (2, 1)


def test_a_mail_address_with_several_faults_is_one_finding(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="mailto:joe at h.example">')
    assert [item.kind for item in find(tmp_path)] == ["repaired", "bad-mailto"]
