"""The main job without pyarrow, which takes 170 MB: features that need it show the pip command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from overthere import kernel, links
from overthere.files.tables.reading import open_source

HIDDEN = "import sys; sys.modules['pyarrow'] = None; from overthere.cli import main; main()"
INSTALL = "pip install 'overthere[columns]'"
ROWS = [("a", "http://h/a"), ("b?c", "http://h/b?c")]


def run(folder: Path, *words: str, exit_code: int = 0) -> subprocess.CompletedProcess[str]:
    (folder / "page.html").write_text("".join(f'<a href="{reference}">x</a>' for reference, _ in ROWS))
    result = subprocess.run(
        [sys.executable, "-c", HIDDEN, *words], cwd=folder, capture_output=True, text=True, env=os.environ
    )
    assert result.returncode == exit_code, result.stderr
    return result


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("options", [[], ["--audit", "--whatwg"], ["--only", "internal"], ["--resume"]])
@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.jsonl", "t.csv.gz", "t.arrow", "t.feather", "t.arrows"])
def test_tables(name: str, options: list[str], workers: str, tmp_path: Path) -> None:
    words = ["links", "page.html", "--base", "http://h/", "-o", name, "--workers", workers, *options]
    is_encoded_natively = name.endswith((".parquet", ".arrow", ".feather", ".arrows"))
    if is_encoded_natively and kernel.name != "native":
        assert INSTALL in run(tmp_path, *words, exit_code=1).stderr
        return
    run(tmp_path, *words)
    assert (tmp_path / name).stat().st_size
    if name == "t.jsonl":
        rows = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        assert [(row["reference"], row["target"]) for row in rows] == ROWS
    if is_encoded_natively:
        with open_source(os.fspath(tmp_path / name)) as source:
            rows = [row for batch, _ in source.batches for row in batch.to_pylist()]
        assert [(row["reference"], row["target"]) for row in rows] == ROWS


def test_rows_and_broken_links(tmp_path: Path) -> None:
    assert "2" in run(tmp_path, "links", "page.html").stderr
    assert '"no-document"' in run(tmp_path, "broken", ".", "--format", "jsonl", exit_code=1).stdout
    results = [(link.reference, link.target) for link in links.extract([tmp_path / "page.html"], "http://h/")]
    assert results == ROWS
    assert run(tmp_path, "links", "page.html", "--distinct", "--base", "http://h/").stdout == "          2  h  h\n"


def test_features_that_need_pyarrow_report_it(tmp_path: Path) -> None:
    message = run(tmp_path, "links", "page.html", "--distinct", "-o", "t.csv", exit_code=1).stderr
    assert INSTALL in message
    assert "Traceback" not in message
