"""Only the module `atomic` opens files for writing, renames, removes, changes modes or opens databases."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import overthere
from overthere.ground import atomic

_HOME = Path(overthere.__file__).parent
_METHODS = {
    "write_text", "write_bytes", "unlink", "rmdir", "chmod", "lchmod", "touch", "symlink_to", "hardlink_to", "rmtree",
    "NamedTemporaryFile", "SpooledTemporaryFile", "TemporaryFile", "TemporaryDirectory", "mkstemp", "mkdtemp", "mktemp",
    "renames", "removedirs", "fchmod", "fchown", "chown", "lchown", "utime", "symlink", "mkfifo", "mknod", "copyfile",
    "copytree", "copy2", "copymode", "copystat", "make_archive", "unpack_archive", "extractall", "write_table",
    "ParquetWriter", "write_feather", "write_csv", "write_dataset", "create_memory_map",
    "to_parquet", "to_csv", "sink_parquet", "FileHandler",
}  # fmt: skip
"""Names that write to a path, on whatever object they are called."""
_OF_MODULES = {
    "os": {"rename", "replace", "remove", "link", "truncate", "ftruncate"},
    "shutil": {"move", "copy", "rmtree"},
    "sqlite3": {"connect"},
    "dbm": {"open"},
    "shelve": {"open"},
}
_MODES = {
    "open": (1, 0),
    "GzipFile": (1,),
    "BZ2File": (1,),
    "LZMAFile": (1,),
    "ZipFile": (1,),
    "OSFile": (1,),
    "memory_map": (1,),
    "FileIO": (1,),
    "fdopen": (1,),
}
"""The position of the mode among the arguments of a function, or of a path's method."""
_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_EXCL"}

EXCEPTIONS = {
    "files/tables/writers.py: ParquetWriter": "it is given a file that `grow` or `stream` has opened",
    "files/tables/writers.py: write_table": "a method of the same writer",
    "files/tables/writers.py: write_csv": "into a buffer in memory",
    "links/report/graph.py: sqlite3.connect": "a database in a folder that `temporary_folder` has made",
    "links/job/files.py: os.open": "flags that begin with O_RDONLY, to which no way to write is added",
    "cli/__init__.py: os.open": "/dev/null in the place of a standard output that is closed",
}


def _writes(source: str) -> Iterator[tuple[int, str]]:
    """The lines that write to a path, and the name of each call."""
    tree = ast.parse(source)
    modules = {
        alias.asname or alias.name: alias.name for node in ast.walk(tree) if isinstance(node, ast.Import)
        for alias in node.names
    }  # fmt: skip
    imported = {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }  # fmt: skip
    annotations = {
        id(inner) for node in ast.walk(tree) if isinstance(node, (ast.AnnAssign, ast.arg)) and node.annotation
        for inner in ast.walk(node.annotation)
    }  # fmt: skip
    ours = {name for name, (module, _) in imported.items() if module == "overthere.ground.atomic"}
    for node in ast.walk(tree):
        # A function that is passed on is called elsewhere: `map(os.unlink, names)`.
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id, "")
            if node.attr in _OF_MODULES.get(module, ()):
                yield node.lineno, f"{module}.{node.attr}"
        if isinstance(node, ast.Name) and node.id in imported and node.id not in ours:
            module, name = imported[node.id]
            if name in _OF_MODULES.get(module, ()):
                yield node.lineno, f"{module}.{name}"
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        name = imported.get(name, ("", name))[1] if isinstance(node, ast.Name) and name not in ours else name
        if (
            isinstance(node, (ast.Name, ast.Attribute))
            and name in _METHODS
            and id(node) not in annotations
            and not (isinstance(node, ast.Name) and node.id in ours)
        ):
            yield node.lineno, name
        if isinstance(node, ast.Call):
            yield from _call(node, modules, imported)


def _call(node: ast.Call, modules: dict[str, str], imported: dict[str, tuple[str, str]]) -> Iterator[tuple[int, str]]:
    function = node.func
    on = (
        modules.get(function.value.id, "")
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
        else ""
    )
    name = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    if isinstance(function, ast.Name) and name in imported:
        on, name = imported[name]
    if on == "os" and name == "open":
        flags = {item.attr for item in ast.walk(node) if isinstance(item, ast.Attribute)} & _FLAGS
        plain = all(
            isinstance(item, (ast.Attribute, ast.BinOp, ast.Call, ast.Constant, ast.Name)) for item in node.args[1:]
        )
        unknown = [item.id for argument in node.args[1:] for item in ast.walk(argument) if isinstance(item, ast.Name)]
        if flags or not plain or set(unknown) - {"os", "getattr"}:
            yield node.lineno, "os.open"
        return
    # `str.replace` has two arguments, `Path.replace` has one.
    is_path = name == "replace" and isinstance(function, ast.Attribute) and len(node.args) == 1
    if (name == "rename" or is_path) and not (on.startswith("overthere.") or node.keywords):
        yield node.lineno, name
    if name in _MODES and on != "overthere" and not on.startswith("overthere."):
        mode = next((keyword.value for keyword in node.keywords if keyword.arg == "mode"), None)
        places = _MODES[name] if isinstance(function, ast.Attribute) and not on else _MODES[name][:1]
        modes = [mode] if mode is not None else [node.args[at] for at in places if at < len(node.args)]
        for value in modes:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                if set(value.value) <= set("rwaxbtU+") and set(value.value) & set("wax+"):
                    yield node.lineno, name
            elif mode is not None or (isinstance(function, ast.Name) and not isinstance(value, ast.Constant)):
                yield node.lineno, name  # a computed mode may write


@pytest.mark.parametrize(
    "snippet",
    [
        "open(p, 'w')", "open(p, mode='ab')", "open(p, 'r+b')", "open(p, 'xb')", "open(p, m)", "open(p, mode=m)",
        "import io\nio.open(p, 'w')", "p.open('w')", "p.open(mode='w')", "Path(p).open('r+')",
        "import gzip\ngzip.open(p, 'wb')", "import gzip\ngzip.GzipFile(p, 'w')", "import lzma\nlzma.open(p, 'w')",
        "import zipfile\nzipfile.ZipFile(p, 'w')", "from zipfile import ZipFile\nZipFile(p, mode='a')",
        "import tarfile\ntarfile.open(p, 'w')", "import io\nio.FileIO(p, 'w')", "import os\nos.fdopen(p, 'w')",
        "import os\nos.open(p, os.O_WRONLY | os.O_CREAT)", "from os import open as o\no(p, flags)",
        "import os\nos.open(p, flags)", "p.write_text('')", "p.write_bytes(b'')", "p.touch()",
        "import sqlite3\nsqlite3.connect(p)", "from sqlite3 import connect\nconnect(p)",
        "import sqlite3 as s\ns.connect(p)", "import os\nos.rename(a, b)", "import os\nos.replace(a, b)",
        "from os import replace as r\nr(a, b)", "p.rename(b)", "p.replace(b)", "import os\nos.renames(a, b)",
        "import os\nos.unlink(p)", "import os\nos.remove(p)", "p.unlink()", "p.unlink(missing_ok=True)", "p.rmdir()",
        "import os\nlist(map(os.remove, p))", "import shutil\nshutil.rmtree(p)", "from shutil import rmtree\nrmtree(p)",
        "import os\nos.chmod(p, 1)", "p.chmod(1)", "import os\nos.fchmod(p, 1)", "import os\nos.utime(p)",
        "p.symlink_to(b)", "p.hardlink_to(b)", "import os\nos.link(a, b)", "import os\nos.symlink(a, b)",
        "import os\nos.truncate(p, 0)", "import shutil\nshutil.move(a, b)", "import shutil\nshutil.copy(a, b)",
        "import shutil\nshutil.copyfile(a, b)", "import tempfile\ntempfile.NamedTemporaryFile()",
        "from tempfile import mkstemp as m\nm()", "import tempfile\ntempfile.TemporaryDirectory()",
        "import pyarrow.parquet as pq\npq.write_table(t, p)", "import pyarrow.parquet as pq\npq.ParquetWriter(p, s)",
        "import pyarrow as pa\npa.OSFile(p, 'w')", "import logging\nlogging.FileHandler(p)",
    ],
)  # fmt: skip
def test_each_kind_of_write_is_found(snippet: str) -> None:
    assert list(_writes(snippet))


@pytest.mark.parametrize(
    "snippet",
    [
        "open(p)", "open(p, 'rb')", "p.open('rb')", "text.replace('w', 'a')", "some.remove(1)", "overthere.open(u, p)",
        "import os\nos.open(p, os.O_RDONLY | getattr(os, 'O_BINARY', 0))", "line.truncate(3)",
        "import gzip\ngzip.compress(d)",
        "from overthere.ground.atomic import rename, remove\nrename(a, b)\nremove(p)",
    ],
)  # fmt: skip
def test_code_that_does_not_write_is_not_reported(snippet: str) -> None:
    assert not list(_writes(snippet))


def test_only_atomic_writes_files() -> None:
    used, wrong = set(), []
    for path in sorted(_HOME.rglob("*.py")):
        name = path.relative_to(_HOME).as_posix()
        if name == "ground/atomic.py":
            continue
        for line, call in _writes(path.read_text("utf-8")):
            if f"{name}: {call}" in EXCEPTIONS:
                used.add(f"{name}: {call}")
            else:
                wrong.append(f"{name}:{line}: {call}")
    assert not wrong
    assert used == set(EXCEPTIONS), "an exception without use"


def test_the_success_marker_does_not_follow_a_symlink(tmp_path: Path) -> None:
    other = tmp_path / "other"
    (tmp_path / "_SUCCESS").symlink_to(other)
    atomic.create_empty(tmp_path / "_SUCCESS")
    assert not other.exists()
    assert (tmp_path / "_SUCCESS").read_bytes() == b""
    assert not (tmp_path / "_SUCCESS").is_symlink()


def test_an_existing_file_is_not_truncated_as_a_stream(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"kept")
    with pytest.raises(PermissionError):
        atomic.stream(file)
    assert file.read_bytes() == b"kept"


def test_a_file_is_removed_only_if_it_is_unchanged(tmp_path: Path) -> None:
    file, other = tmp_path / "one", tmp_path / "other"
    file.write_bytes(b"")
    other.write_bytes(b"kept")
    atomic.remove(other, file.stat())
    assert other.exists()
    atomic.remove(file, file.stat())
    atomic.remove(file)
    assert not file.exists()
