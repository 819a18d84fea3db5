"""A check loads what it needs: no library for tables of another kind."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

_SITE = '<p id="a"><a href="#b">b</a> <a href="gone.html">gone</a>'


@pytest.mark.parametrize("name", ["findings.jsonl", "findings.csv", "findings.parquet"])
@pytest.mark.parametrize("verb", ["broken", "links"])
def test_pandas_is_not_loaded(tmp_path: Path, verb: str, name: str) -> None:
    pytest.importorskip("pandas")
    if verb == "links" and find_spec("overthere._native") is None:
        pytest.skip("the native kernel is absent or not asked for")  # pyarrow loads it to read lists of Python
    (tmp_path / "page.html").write_text(_SITE)
    arguments = ["overthere", verb, str(tmp_path / "page.html"), "-o", str(tmp_path / name)]
    code = (
        f"import sys; sys.argv = {arguments!r}\nfrom overthere.cli import main\n"
        "try: main()\nexcept SystemExit: pass\nprint('pandas' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split()[-1] == "False"
    assert (tmp_path / name).stat().st_size
