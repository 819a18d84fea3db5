"""A check imports only what it needs: no library for other kinds of tables."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from overthere import kernel

_SITE = '<p id="a"><a href="#b">b</a> <a href="gone.html">gone</a>'


@pytest.mark.parametrize("name", ["findings.jsonl", "findings.csv", "findings.parquet"])
@pytest.mark.parametrize("verb", ["broken", "links"])
def test_pandas_is_not_imported(tmp_path: Path, verb: str, name: str) -> None:
    pytest.importorskip("pandas")
    if verb == "links" and kernel.name != "native":
        pytest.skip("the native kernel is absent or not asked for")  # pyarrow imports it to read Python lists
    (tmp_path / "page.html").write_text(_SITE)
    arguments = ["overthere", verb, str(tmp_path / "page.html"), "-o", str(tmp_path / name)]
    code = (
        f"import sys; sys.argv = {arguments!r}\nfrom overthere.cli import main\n"
        "try: main()\nexcept SystemExit: pass\nprint('pandas' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split()[-1] == "False"
    assert (tmp_path / name).stat().st_size


_UNUSED = (
    "email", "http.client", "multiprocessing", "overthere.broken.git", "overthere.broken.html_report",
    "overthere.broken.services", "overthere.ground.processes", "overthere.files.tables",
    "overthere.columns.rowwise", "overthere.links.documents.xml", "overthere.links.job.extraction",
    "overthere.links.job.pool", "overthere.links.job.task_documents", "overthere.links.report.rows",
    "overthere.files.sarif", "overthere.text", "pyarrow", "rich.progress", "ssl", "tomllib", "zipfile",
)  # fmt: skip
"""Modules for requests, processes, settings, other kinds of documents, reports and terminals."""


def test_a_check_of_html_imports_no_unused_modules(tmp_path: Path) -> None:
    if kernel.name != "native":
        pytest.skip("the native kernel is absent or not asked for")  # the reference kernel reads columns and XML
    (tmp_path / "page.html").write_text(_SITE)
    code = (
        f"import sys; sys.argv = ['overthere', 'broken', {str(tmp_path)!r}, '--no-config']\n"
        "from overthere.cli import main\n"
        f"try: main()\nexcept SystemExit: pass\nprint([name for name in {_UNUSED!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "call",
    [
        "links.extract([{name!r}], base='http://h/')",
        "links.extract_html(open({name!r}).read(), 'http://h/')",
    ],
)
def test_links_one_by_one_need_no_pyarrow(tmp_path: Path, call: str) -> None:
    (page := tmp_path / "page.html").write_text(_SITE)
    code = (
        f"import sys\nsys.modules['pyarrow'] = sys.modules['numpy'] = None\nfrom overthere import links\n"
        f"print([one.target for one in {call.format(name=str(page))}])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split()[-1] == "'http://h/gone.html']"
