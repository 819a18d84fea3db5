"""Untrusted numbers and nesting, and memory limits: results keep their type, and take no excessive time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from overthere import URI, RegistryError, scheme
from overthere.access.coding import LineSplitter
from overthere.access.wire import Data
from overthere.broken import Checker, Summary, check
from overthere.broken.connections import Connection
from overthere.broken.markdown_anchors import MarkdownAnchors
from overthere.files.stores.by_http import HTTPRanges
from overthere.links import extract
from overthere.links.containers.response import _decode_chunks
from overthere.links.documents import notebook
from overthere.links.job import folders

NOTEBOOK = '{{"nbformat": 3, "nbformat_minor": {minor}, "metadata": {{}}, "worksheets": [{{"cells": [{cell}]}}]}}'


@pytest.mark.parametrize("level", ["1000000000", "-3", "null", "1e30", "[7]", '"x"', str(10**30)])
def test_a_heading_has_at_most_six_levels(level: str) -> None:
    cell = f'{{"cell_type": "heading", "level": {level}, "metadata": {{}}, "source": "x"}}'
    assert notebook.cells(NOTEBOOK.format(minor=0, cell=cell)) == ["###### x"]


@pytest.mark.parametrize("minor", ["null", "[]", "{}", '"0"', "NaN", "Infinity", str(10**30)])
def test_an_invalid_version_is_a_fault_of_the_notebook(minor: str, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(NOTEBOOK.format(minor=minor, cell=""))
    notes = {link.error for link in extract([tmp_path / "a.ipynb"])}
    assert notes <= {"corrupt", "empty"}


@pytest.mark.parametrize("value", ["[" * 250 + "]" * 250, '{"a":' * 250 + "1" + "}" * 250])
def test_the_depth_of_a_notebook_does_not_depend_on_the_stack(value: str) -> None:
    """The room that Python's stack has left differs with the number of workers, and so did the rows."""
    text = '{"nbformat": 4, "nbformat_minor": 5, "metadata": {"x": %s}, "cells": []}'
    assert notebook.cells(text % value) is None
    assert notebook.cells(text % "[]") == []


def _symlinks(folder: Path, is_last: bool) -> None:
    for number in range(100 if is_last else 0):
        (folder / f"s{number}.md").symlink_to("a.md")


def _configurations(folder: Path, is_last: bool) -> None:
    (folder / "mkdocs.yml").write_text("site_name: x\n")


def _insertions(folder: Path, is_last: bool) -> None:
    if is_last:
        (folder / "docs").mkdir()
        (folder / "mkdocs.yml").write_text("site_name: x\n")
        (folder / "docs" / "a.md").write_text("".join(f'--8<-- "docs/{number}.txt"\n' for number in range(200)))


def _references(folder: Path, is_last: bool) -> None:
    if is_last:
        (folder / "docs").mkdir()
        (folder / "docusaurus.config.js").write_text("module.exports={}")
        (folder / "docs" / "a.md").write_text("".join(f"[x]({number}.md)\n" for number in range(300)))


@pytest.mark.parametrize("fill", [_symlinks, _configurations, _insertions, _references])
def test_too_deep_nesting_is_reported_quickly(fill: Callable[[Path, bool], None], tmp_path: Path) -> None:
    def make(depth: int) -> str:
        top = parent = tmp_path / str(depth)
        (top / ".git").mkdir(parents=True)
        for _ in range(depth):
            fill(parent, False)
            parent /= "d"
            parent.mkdir()
        (parent / "a.md").write_text("x")
        fill(parent, True)
        return str(top)

    def run(depth: int) -> set[str | None]:
        top = make(depth)
        before = time.process_time()
        list(check([top], Checker(workers=1), Summary()))
        spent[depth] = time.process_time() - before
        return {link.error for link in extract([top]) if link.reference is None}

    spent: dict[int, float] = {}
    assert "too-deep" not in run(folders.MAX_DEPTH - 2)
    assert "too-deep" in run(5 * folders.MAX_DEPTH)
    assert spent[5 * folders.MAX_DEPTH] < 4 * spent[folders.MAX_DEPTH - 2] + 0.5


@pytest.mark.parametrize("text", ["{\r\r\r\r## Two\r", "x\r\r## Two\r\r## Three\r"])
def test_inserted_lines_may_end_with_cr(text: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n")
    (tmp_path / "docs" / "a.md").write_text('# One\n\n--8<-- "docs/i.txt"\n\n[a](#one) [b](#two) [c](#none)\n')
    (tmp_path / "docs" / "i.txt").write_bytes(text.encode())
    findings = list(check([str(tmp_path)], Checker(workers=1), Summary()))
    assert [(finding.reference, finding.kind) for finding in findings] == [("#none", "no-fragment")]


@pytest.mark.parametrize("rule", ["kramdown", "mkdocs", "pandoc", "github"])
def test_every_line_end_is_counted(rule: str) -> None:
    for text in ("{" + "\r" * 500, "a\r# b\r\r# c\r", "\r# b", "# b\r\n\r# c"):
        MarkdownAnchors(rule).read(text)


def test_a_scheme_near_the_recursion_limit() -> None:
    program = """
import sys, overthere

def deep(count):
    return deep(count - 1) if count else overthere.scheme("wais")

sys.setrecursionlimit(400)
for free in range(5, 60):
    try:
        deep(400 - free)
    except RecursionError:
        pass
print(overthere.scheme("wais").name)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("wais\n", "")
    with pytest.raises(RegistryError):
        scheme("no scheme")


@pytest.mark.parametrize("kind", ["IRI", "IRIReference"])
def test_a_memory_error_is_not_reported_as_invalid_text(kind: str) -> None:
    program = f"""
import json, resource, overthere

text = "http://\\u00e9/" + "\\u00e9" * 8_000_000
overthere.{kind}.parse("http://\\u00e9/")
held = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (held + (4 << 20),) * 2)
try:
    said = overthere.{kind}.parse(text) is not None
except MemoryError:
    said = "MemoryError"
print(json.dumps(said))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert json.loads(result.stdout) in (True, "MemoryError"), result.stderr


_PIECES = 300_000


def _pieces() -> Iterator[Any]:
    for _ in range(_PIECES):
        yield Data(bytes(bytearray(b"ab")))
    yield None


def _lines() -> Any:
    splitter = LineSplitter("utf-8", "strict", URI("x:"))
    lines = [line for item in _pieces() if item for line in splitter.feed(item.octets)]
    return lines + splitter.feed(b"", final=True)


def _page() -> Any:
    items = _pieces()

    def run_to_result() -> Generator[Any, Any, Any]:
        yield from ()
        return next(items)

    connection: Any = SimpleNamespace(carrier=SimpleNamespace(run_to_result=run_to_result))
    try:
        next(Connection.content(connection, 1 << 20))
    except StopIteration as end:
        return end.value


def _range() -> Any:
    items = _pieces()
    transport = SimpleNamespace(advance=lambda: next(items), received_bytes=0)
    state = SimpleNamespace(is_cut=False, is_open=True)
    ranges: Any = SimpleNamespace(_transport=transport, _state=state, _opening=None)
    return HTTPRanges._content(ranges, 2 * _PIECES)


def _record() -> Any:
    return _decode_chunks(b"2\r\nab\r\n" * _PIECES + b"0\r\n\r\n", 1 << 20)[0]


@pytest.mark.parametrize("read", [_lines, _page, _range, _record])
def test_small_pieces_take_no_more_memory_than_large_ones(read: Callable[[], Any]) -> None:
    """A server or archive that sends chunks of two bytes: stored one by one, each took 60 bytes."""
    read()
    tracemalloc.start()
    content = read()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "".join(content) if isinstance(content, list) else content.decode() == "ab" * _PIECES
    assert most < 30 * _PIECES
