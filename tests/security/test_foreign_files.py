"""Foreign files are rejected unchanged: every option that writes a file with every kind of foreign file."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from overthere.broken.cache import Cache
from overthere.broken.records import Records
from overthere.cli.app import app
from overthere.files.tables.checkpoint import Checkpoint
from overthere.ground import atomic

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")

_SECRET = b"of another program\n"


def _text(path: Path) -> None:
    path.write_bytes(_SECRET * 10)


def _database(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("create table outcome (uri text primary key, kind text)")
        base.execute("insert into outcome values ('kept', null)")
    base.close()


def _log(path: Path) -> None:
    """A database with a write-ahead log left by its program."""
    base = sqlite3.connect(path)
    base.execute("pragma journal_mode = wal").fetchall()
    base.execute("create table run (begun real not null, ended real)")
    base.execute("insert into run values (1, 2)")
    base.commit()
    contents = {name: name.read_bytes() for name in (path, Path(f"{path}-wal"))}
    base.close()
    for name, content in contents.items():
        name.write_bytes(content)


def _older(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("pragma user_version = 1")
        base.execute("create table run (begun real not null, ended real)")
    base.close()


def _newer(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute(f"pragma application_id = {0x6F767468}")
        base.execute("pragma user_version = 99")
        base.execute("create table run (begun real)")
    base.close()


def _alike(path: Path) -> None:
    """A database of another program that numbers its versions as we do."""
    with sqlite3.connect(path) as base:
        base.execute("pragma user_version = 2")
        base.execute("create table run (begun real not null, ended real)")
    base.close()


def _warc(path: Path) -> None:
    path.write_bytes(
        b"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        b"Content-Type: application/warc-fields\r\nContent-Length: 15\r\n\r\nsoftware: wget\r\n\r\n\r\n"
    )


def _symlink(path: Path) -> None:
    other = path.with_name("other")
    _text(other)
    path.symlink_to(other)


def _dangling(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def _hard(path: Path) -> None:
    Cache(str(path)).close()
    os.link(path, path.with_name("other"))


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "kept").write_bytes(_SECRET)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))


_DATABASES = [
    _text,
    _database,
    _log,
    _older,
    _alike,
    _newer,
    _warc,
    _symlink,
    _dangling,
    _hard,
    _folder,
    _fifo,
    _socket,
]
_Kind = Callable[[Path], None]


def _state(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """The state of everything in a folder: kinds, sizes, times, contents."""
    state = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        state[str(path)] = status.st_mode, status.st_size, status.st_mtime_ns, content
    return state


def _run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def _rejected(result: Result) -> None:
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert "Error: " in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("kind", _DATABASES)
@pytest.mark.parametrize("resume", [(), ("--resume",)])
def test_a_foreign_cache_is_rejected(kind: _Kind, resume: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<a href='http://127.0.0.1:1/'>")
    home = tmp_path / "home"
    home.mkdir()
    kind(home / "cache")
    before = _state(home)
    _rejected(_run("broken", str(tmp_path / "page.html"), "--online", "--cache", str(home / "cache"), *resume))
    assert _state(home) == before


@pytest.mark.parametrize("kind", [_text, _database, _symlink, _dangling, _folder, _fifo])
@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_foreign_journal_is_rejected(kind: _Kind, suffix: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    kind(home / f"cache{suffix}")
    before = _state(home)
    with pytest.raises(OSError, match="cache"):
        Cache(str(home / "cache"))
    after = _state(home)
    assert after.pop(str(home / "cache"), (0, 0))[1] == 0
    assert after == before


def test_a_cache_that_another_process_creates_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that created one cache at the same time once failed."""
    cache, journal = tmp_path / "cache", tmp_path / "cache-journal"
    journal.touch()

    def created_meanwhile(seconds: float) -> None:
        journal.unlink()
        Cache(str(cache)).close(is_complete=True)

    monkeypatch.setattr("time.sleep", created_meanwhile)
    Cache(str(cache)).close(is_complete=True)
    reopen = atomic.reopen
    monkeypatch.setattr(atomic, "reopen", lambda path: [monkeypatch.setattr(atomic, "reopen", reopen), reopen("/gone")])
    Cache(str(cache)).close(is_complete=True)


@pytest.mark.parametrize("kind", [_text, _database, _warc, _symlink, _dangling, _hard, _folder, _fifo, _socket])
@pytest.mark.parametrize("resumed", [False, True])
def test_foreign_documents_of_a_crawl_are_rejected(kind: _Kind, resumed: bool, tmp_path: Path) -> None:
    kind(tmp_path / "cache.warc")
    before = _state(tmp_path)
    with pytest.raises(OSError, match="cache"):
        Records(str(tmp_path / "cache.warc"), resumed=resumed)
    assert _state(tmp_path) == before


def test_a_crawl_with_foreign_documents_is_rejected(tmp_path: Path) -> None:
    _warc(tmp_path / "cache.warc")
    before = (tmp_path / "cache.warc").read_bytes()
    _rejected(_run("broken", "http://127.0.0.1:1/", "--private", "--cache", str(tmp_path / "cache")))
    assert (tmp_path / "cache.warc").read_bytes() == before


@pytest.mark.parametrize("kind", [_symlink, _dangling, _folder])
@pytest.mark.parametrize(
    "option", ["-o x.csv", "-o x.jsonl", "-o x.parquet", "-o x.sarif", "-o x.xml", "--write-baseline x"]
)
def test_output_does_not_follow_a_symlink(kind: _Kind, option: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<a href='none.html'>")
    option, name = option.split()
    home = tmp_path / "home"
    home.mkdir()
    kind(home / name)
    before = _state(home)
    _rejected(_run("broken", str(tmp_path / "page.html"), option, str(home / name)))
    assert _state(home) == before


@pytest.mark.parametrize("kind", [_text, _database, _warc])
@pytest.mark.parametrize("words", [(), ("--resume",)])
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_a_foreign_resume_marker_is_rejected(kind: _Kind, words: tuple[str, ...], name: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<a href='none.html'>")
    home = tmp_path / "home"
    home.mkdir()
    kind(home / f"{name}.resume")
    before = _state(home)
    _rejected(_run("links", str(tmp_path / "page.html"), "-o", str(home / name), *words))
    assert _state(home) == before


@pytest.mark.parametrize("words", [(), ("--resume",)])
def test_a_folder_with_a_foreign_marker_is_rejected(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<a href='none.html'>")
    home = tmp_path / "home"
    home.mkdir()
    for name in ("_overthere.json", "part-00000.parquet", ".part-notes.parquet"):
        (home / name).write_text("mine")
    before = _state(home)
    _rejected(_run("links", str(tmp_path / "page.html"), "-o", f"{home}/", *words))
    assert _state(home) == before


def _variants(value: Any) -> Iterator[Any]:
    """The value with each of its parts replaced or removed."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {name: part for name, part in value.items() if name != key}
            yield from ({**value, key: changed} for changed in _variants(inner))
    replacements: list[Any] = [None, [], {}, "x", -1, 1.5, True, 1 << 70, float("inf"), [[]]]
    yield from (replacement for replacement in replacements if replacement != value)


def test_a_changed_resume_marker_is_rejected(tmp_path: Path) -> None:
    """Or the job continues, if only a count differs; never a traceback, never a duplicate row."""
    for number in range(3):
        (tmp_path / f"{number}.html").write_text("<a href='none.html'>" * 9)
    sources = [str(tmp_path / f"{number}.html") for number in range(3)]
    table = tmp_path / "x.csv"
    assert _run("links", *sources, "-o", str(table)).exit_code == 0
    content = table.read_bytes()
    _run("links", *sources, "-o", str(table), "--resume")
    mark = {"overthere.links": 1, "job": "", "rows": 9, "octets": 0, "state": {}}
    with pytest.MonkeyPatch.context() as patched:
        saved: list[Any] = []
        patched.setattr(Checkpoint, "save", lambda self, path: saved.append(self))
        _run("links", *sources, "-o", str(table))
    mark = json.loads(saved[0].to_text())
    part, marked = table.with_name("x.csv.part"), table.with_name("x.csv.resume")
    for changed in _variants(mark):
        part.write_bytes(content[: mark["octets"]])
        marked.write_text(json.dumps(changed))
        result = _run("links", *sources, "-o", str(table), "--resume")
        assert result.exception is None or isinstance(result.exception, SystemExit), (changed, result.exception)
        if result.exit_code == 0:
            assert table.read_bytes() == content, changed
        for path in (part, marked):
            path.unlink(missing_ok=True)


def test_own_files_are_reopened(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    path.touch()  # an empty file is new
    Cache(str(path)).close()
    Cache(str(path), resume=True).close()
    head = path.read_bytes()[:100]
    assert (head[68:72], head[60:64]) == (b"ovth", b"\0\0\0\2")
    records = Records(f"{path}.warc")
    records.add("http://h/", "text/html", b"one")
    records.close()
    reopened = Records(f"{path}.warc", resumed=True)
    assert reopened.read("http://h/") == ("text/html", b"one")
    reopened.drop(is_complete=False)
    anew = Records(f"{path}.warc")
    assert not anew.contents
    anew.drop(is_complete=True)
    assert not Path(f"{path}.warc").exists()


def test_a_file_that_replaced_ours_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "cache.warc"
    records = Records(str(path))
    path.unlink()
    _text(path)
    records.drop(is_complete=True)
    assert path.read_bytes() == _SECRET * 10
