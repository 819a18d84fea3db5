"""A cache of outcomes in a file (SQLite), so that each URI is requested only occasionally."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import NoneType
from typing import Any

from overthere.broken.model import KINDS, Outcome
from overthere.files.stores.model import is_web
from overthere.ground.atomic import database
from overthere.ground.option_files import read_json

_HOUR, _DAY = 3600.0, 86_400.0
AGES: Mapping[str, float] = {
    "ok": 7 * _DAY,
    "moved-permanently": 7 * _DAY,
    "not-found": _DAY,
    "gone": 7 * _DAY,
    "client-error": _DAY,
    "programs-refused": _DAY,
    "unusual-status": _DAY,
    "bad-redirect": _DAY,
    "redirect-loop": _DAY,
    "tls": _DAY,
    "protocol": _DAY,
    "too-large": 7 * _DAY,
    "dns": _HOUR,
    "connect": _HOUR,
    "timeout": _HOUR,
    "server-error": _HOUR,
    "rate-limited": 0.0,
    "bad-location": 0.0,
    "no-fragment": 0.0,
}
"""Seconds for which an outcome is valid; other outcomes are requested each time.  0: the answer may change soon, or
other fragments may be looked up."""
_LOOKED_UP = (None, "moved-permanently", "bad-location", "no-fragment")
"""Kinds of outcomes with a document, in which fragments could be looked up."""
_APPLICATION, _VERSION = 0x6F767468, 2
"""`application_id`, "ovth", which identifies a cache of this program; `user_version`."""
_BATCH = 500
_COMMIT_INTERVAL = 1.0
"""Number of outcomes, and seconds, after which they are committed: a crash loses no more."""
_TABLES = """
create table if not exists outcome (
    uri text primary key, kind text, status integer, why text not null, final text, permanent integer not null,
    fragments text not null, missing text not null, checked real not null
) without rowid;
create table if not exists run (begun real not null, ended real);
"""
_COLUMNS = "kind, status, why, final, permanent, fragments, missing, checked"
"""The columns of `outcome` without the key."""


class Cache:
    """A cache of outcomes by URI.

    path: the file, which is created if it does not exist; None for no cache.
    ages: seconds by kind ("ok" or one of `KINDS`) for which an outcome is valid, if they differ from `AGES`.
    resume: whether all outcomes of the last run count if it was stopped, of any kind.
    credentials: a digest of the credentials sent to a URI (a token, a login), for which alone an outcome is valid.

    Anyone who can write the file can forge outcomes, and nothing else: the file has only these tables, and a row with
    impossible values is ignored.

    Raises: ValueError for an unknown kind, and for a file that is not such a cache, even later, when it is read or
    written; OSError if it cannot be opened for writing.
    """

    def __init__(
        self,
        path: str | None,
        ages: Mapping[str, float] | None = None,
        *,
        resume: bool = False,
        credentials: Callable[[str], str] = lambda uri: "",
    ) -> None:
        for kind in ages or {}:
            if kind != "ok" and kind not in KINDS:
                raise ValueError(f"unknown outcome {kind!r}; known: ok, {', '.join(KINDS)}")
        self.ages: dict[str, float] = {**AGES, **(ages or {})}
        self.credentials: Callable[[str], str] = credentials
        self.since: float = float("inf")
        """The start of the run that is resumed; infinity if none is."""
        self._rows: list[tuple[object, ...]] = []
        self._committed = time.monotonic()
        self._base: sqlite3.Connection | None = None
        self._path: str = path or ""
        if path is not None:
            with self._errors_named():
                self._base = database(path, _APPLICATION, _VERSION, _TABLES)
                self._base.execute("pragma journal_mode = wal").fetchall()  # otherwise the statement stays open in PyPy
                self._base.execute("pragma synchronous = normal")
                self._begin(resume)

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        """Convert errors of SQLite to ValueError with the name of the file."""
        try:
            yield
        except sqlite3.OperationalError as error:  # locked, read-only, a full disk: its content may be good
            raise ValueError(f"{self._path}: the cache cannot be read or written: {error}") from None
        except (sqlite3.Error, UnicodeError) as error:
            raise ValueError(f"{self._path}: not a cache of this version ({error}); name another file") from None

    def _begin(self, resume: bool) -> None:
        assert self._base is not None
        last = self._base.execute("select begun, ended from run order by begun desc limit 1").fetchone()
        if resume and last is not None and last[1] is None and _is_past(last[0]):
            self.since = last[0]
            return
        self._base.execute("delete from run")
        self._base.execute("insert into run values (?, null)", (time.time(),))
        self._base.commit()

    @property
    def is_resumed(self) -> bool:
        """Whether the last run is resumed."""
        return self.since != float("inf")

    def valid_outcomes(self, fragments_by_uri: Mapping[str, Iterable[str]]) -> Iterator[Outcome]:
        """Yield the outcomes that are still valid, for URIs with the fragments to look up in each."""
        if self._base is None:
            return
        time_now = time.time()
        for uri, fragments in fragments_by_uri.items():
            with self._errors_named():
                row = self._base.execute(f"select {_COLUMNS} from outcome where uri = ?", (self._key(uri),)).fetchone()
            if row is None or (read := _read_row(row)) is None:
                continue
            kind, checked, (looked_up, missing), needed = row[0], row[7], read, set(fragments)
            fresh = checked >= self.since or time_now - checked < self.ages.get(kind or "ok", 0.0)
            if fresh and (kind not in _LOOKED_UP or needed <= looked_up):
                needed_missing = tuple(fragment for fragment in missing if fragment in needed)
                yield Outcome(uri, kind, row[1], row[2], row[3], bool(row[4]), needed_missing, checked, True)

    def _key(self, uri: str) -> str:
        """The URI, followed by a blank and the digest of the credentials if there are any."""
        return f"{uri} {digest}" if (digest := self.credentials(uri)) else uri

    def keep(self, outcome: Outcome, fragments: Iterable[str]) -> None:
        """Store an outcome; fragments: those that were looked up."""
        if self._base is None:
            return
        sought, missing = (json.dumps(sorted(names)) if names else "[]" for names in (set(fragments), outcome.missing))
        self._rows.append(
            (
                self._key(outcome.uri), outcome.kind, outcome.status, outcome.why, outcome.final, outcome.permanent,
                sought, missing, outcome.checked,
            )
        )  # fmt: skip
        if len(self._rows) >= _BATCH or time.monotonic() - self._committed > _COMMIT_INTERVAL:
            self.commit()

    def commit(self) -> None:
        """Write the stored outcomes to the file."""
        if self._base is not None:
            rows, self._rows = self._rows, []
            with self._errors_named():
                self._base.executemany("insert or replace into outcome values (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
                self._base.commit()
            self._committed = time.monotonic()

    def close(self, *, is_complete: bool = False) -> None:
        """Close the file; is_complete: whether the run is complete, so that it cannot be resumed."""
        if self._base is None:
            return
        with suppress(ValueError):
            self.commit()
        base, self._base = self._base, None
        with suppress(sqlite3.Error):
            if is_complete:
                base.execute("update run set ended = ?", (time.time(),))
            base.commit()
        base.close()


def _is_past(seconds: object) -> bool:
    """Whether a value is a past time; an hour is tolerated, because a clock may have been set back."""
    return isinstance(seconds, float) and 0 <= seconds <= time.time() + _HOUR


def _read_row(row: tuple[Any, ...]) -> tuple[set[str], list[str]] | None:
    """The fragments that were looked up, and those that are missing; None for a row with impossible values."""
    kind, status, reason, final, permanent, looked_up, missing, checked = row
    types = type(status) in (int, NoneType), type(reason) is str, type(permanent) is int, _is_past(checked)
    if not all(types) or not (kind is None or kind in KINDS) or not (final is None or is_web(final)):
        return None
    try:
        lists = read_json(looked_up), read_json(missing)
    except (TypeError, ValueError):
        return None
    if not all(isinstance(names, list) and all(type(name) is str for name in names) for names in lists):
        return None
    return set(lists[0]), lists[1]
