"""A hostile cache with our application id: each change is rejected, or its row is requested again."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from overthere.broken.cache import Cache
from overthere.broken.model import Outcome
from overthere.broken.records import Records
from overthere.cli.app import app
from support import linear

URI = "http://127.0.0.1:9/x"
OUTCOME = Outcome(URI, "not-found", 404, "", None, False, (), time.time(), False)

VALUES = [
    "fragments = '5'", "fragments = '[[]]'", "fragments = '{'", "missing = '[7]'", "missing = 'null'",
    "checked = 'abc'", "checked = x'00'", "checked = 9e12", "kind = 'nonsense'", "kind = 5", "kind = x'ff'",
    "kind = cast(x'ff' as text)", "status = 'abc'", "why = x'ff'", "permanent = 'x'",
    "kind = null, status = 301, permanent = 1, final = 'javascript:alert(1)'", "final = 5", "final = x'00'",
]  # fmt: skip
ENDLESS = "with recursive r(n) as (select 1 union all select n + 1 from r) select"
SCHEMAS = [
    f"drop table outcome; create view outcome as {ENDLESS} n uri, '' kind, 1 status, '' why, '' final, 1 permanent, "
    "'[]' fragments, '[]' missing, 1.0 checked from r",
    f"drop table run; create view run as {ENDLESS} n begun, null ended from r order by n",
    f"create trigger t after insert on outcome begin insert into run {ENDLESS} n, null from r; end",
    "create trigger t after insert on run begin insert into outcome "
    f"{ENDLESS} n, '', 1, '', '', 1, '', '', 1 from r; end",
    "alter table outcome add column more", "drop table run; create table run (begun, ended)", "create table other (x)",
    "create index i on outcome (kind)",
]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    cache = Cache(str(tmp_path / "cache"))
    cache.keep(OUTCOME, ())
    cache.close()
    return tmp_path / "cache"


def change(path: Path, statements: str) -> None:
    with closing(sqlite3.connect(path)) as base:
        base.executescript(statements)


def outcomes(path: Path) -> Iterator[Outcome]:
    cache = Cache(str(path))
    yield from cache.valid_outcomes({URI: ()})
    cache.keep(OUTCOME, ())
    cache.close(is_complete=True)


def test_a_valid_row_is_read(path: Path) -> None:
    assert [outcome.kind for outcome in outcomes(path)] == ["not-found"]


@pytest.mark.parametrize("value", [*VALUES, f"fragments = '{'[' * 100_000}'"], ids=lambda value: value[:40])
def test_an_impossible_row_is_requested_again(path: Path, value: str) -> None:
    change(path, f"update outcome set {value}")
    assert list(outcomes(path)) == []


@pytest.mark.parametrize("statements", SCHEMAS)
def test_other_tables_are_rejected(path: Path, statements: str) -> None:
    change(path, statements)
    with pytest.raises(ValueError, match=f"^{path}: not a cache of this version"):
        list(outcomes(path))


@pytest.mark.parametrize("problem", ["database is locked", "database or disk is full"])
def test_a_cache_that_cannot_be_written_is_not_called_foreign(path: Path, problem: str) -> None:
    cache = Cache(str(path))
    assert cache._base is not None
    cache._base.execute("pragma busy_timeout = 1")
    cache._base.execute("pragma max_page_count = 1")  # SQLite's own limit gives the error of a full disk
    cache.keep(OUTCOME._replace(uri=URI * 10_000), ())
    with closing(sqlite3.connect(path)) as second:
        second.execute("begin immediate" if "locked" in problem else "begin")
        with pytest.raises(ValueError, match=f"^{path}: the cache cannot be read or written: {problem}"):
            cache.commit()
    cache.close()


@pytest.mark.parametrize("started", ["'abc'", "x'00'"])
def test_a_run_with_an_invalid_start_is_not_resumed(path: Path, started: str) -> None:
    change(path, f"insert into run values ({started}, null)")
    cache = Cache(str(path), resume=True)
    assert not cache.is_resumed
    cache.close()


@pytest.mark.parametrize("checked", ["9e999", "-9e999", "-1.0", "9e12"])
def test_a_time_in_the_future_is_ignored(path: Path, checked: str) -> None:
    change(path, f"update outcome set checked = {checked}; delete from run; insert into run values ({checked}, null)")
    cache = Cache(str(path), resume=True)
    assert not cache.is_resumed
    assert list(cache.valid_outcomes({URI: ()})) == []
    cache.close()


def test_many_fragments_are_linear(path: Path) -> None:
    def ask(count: int) -> None:
        fragments = [str(number) for number in range(count)]
        cache = Cache(str(path))
        cache.keep(OUTCOME._replace(kind="no-fragment", missing=tuple(fragments)), fragments)
        cache.commit()
        cache.ages["no-fragment"] = 1e9
        (results,) = cache.valid_outcomes({URI: fragments})
        assert len(results.missing) == count
        cache.close()

    linear(ask, 32_000)


def test_changed_bytes_are_reported_with_the_name(path: Path) -> None:
    """For any changed byte there is an outcome, none, or an error with the name of the file."""
    content = path.read_bytes()
    chance = random.Random(43)
    for number in range(400):
        changed = bytearray(content)
        for _ in range(chance.choice((1, 1, 3))):
            changed[chance.randrange(100, len(content))] = chance.randrange(256)
        path.write_bytes(changed[: chance.randrange(100, len(content))] if number % 4 == 0 else changed)
        for copy in path.parent.glob("cache-*"):
            copy.unlink()
        try:
            list(outcomes(path))
        except ValueError as error:
            assert str(error).startswith(str(path)), error  # noqa: PT017
    path.write_bytes(content)


def test_the_error_of_the_command_names_the_file(path: Path, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f"<a href='{URI}'>x</a>")
    change(path, SCHEMAS[0])
    result = CliRunner().invoke(
        app, ["broken", "--no-config", "--online", "--private", "--cache", str(path), str(tmp_path / "a.html")]
    )
    assert (result.exit_code, type(result.exception)) == (2, SystemExit)
    assert "not a cache of this version" in result.output


def test_a_changed_record_of_a_crawl_is_skipped(tmp_path: Path) -> None:
    records = Records(str(tmp_path / "r.warc"))
    records.add("http://h/", "text/html", b"one")
    records.close()
    (tmp_path / "r.warc").write_bytes((tmp_path / "r.warc").read_bytes().replace(b"http://h/", b"http://\xff/"))
    resumed = Records(str(tmp_path / "r.warc"), resumed=True)
    assert "http://h/" not in resumed.contents
    resumed.drop(is_complete=True)


def test_a_too_large_record_of_a_crawl_is_skipped(tmp_path: Path) -> None:
    records = Records(str(tmp_path / "r.warc"))
    records.add("http://h/", "text/html", b"one")
    records.close()
    content = (tmp_path / "r.warc").read_bytes().replace(b"Length: 3\r", b"Length: 9000000000\r")
    with (tmp_path / "r.warc").open("wb") as file:
        file.write(content)
        file.truncate(9_000_001_000)
    resumed = Records(str(tmp_path / "r.warc"), resumed=True)
    assert not resumed.contents
    resumed.drop(is_complete=True)
