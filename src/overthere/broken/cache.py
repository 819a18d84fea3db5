"""A cache of replies in a file (SQLite), so that each URI is requested only once in a while."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from overthere.broken.model import KINDS, Outcome
from overthere.ground.atomic import database

__all__ = ["AGES", "Cache"]

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
"""Seconds for which an outcome holds; what is not named is requested each time.  0: the answer may be another
next time, or the fragments that were looked up."""
_LOOKED_UP = (None, "moved-permanently", "bad-location", "no-fragment")
"""Outcomes of URIs whose document was there, so that fragments could be looked up in it."""
_APPLICATION, _VERSION = 0x6F767468, 2
"""`application_id`, "ovth", by which a cache is known as ours; `user_version`."""
_BATCH = 500
_PATIENCE = 1.0
"""Outcomes, and seconds, after which what was kept is in the file: so much is asked again after a crash at most."""
_TABLES = """
create table if not exists outcome (
    uri text primary key, kind text, status integer, why text not null, final text, permanent integer not null,
    fragments text not null, missing text not null, checked real not null
) without rowid;
create table if not exists run (begun real not null, ended real);
"""


class Cache:
    """Outcomes by URI.

    path: the file, which is made if it is not there; None keeps nothing.
    ages: seconds by kind ("ok" or of `KINDS`) for which an outcome holds, where they are not those of `AGES`.
    resume: whether everything counts that the last run has asked before it was stopped, however it came out.
    credentials: a digest of what was sent with a request (a token, a login): only the same gives the same answer.

    Raises: ValueError for a kind that there is none of, and for a file that is no such cache; OSError if it cannot be
    written.
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
        """When the run began that goes on; no time if none does."""
        self._rows: list[tuple[object, ...]] = []
        self._committed = time.monotonic()
        self._base: sqlite3.Connection | None = None
        if path is not None:
            try:
                self._base = _open_database(path)
                self._begin(resume)
            except sqlite3.DatabaseError as error:
                raise ValueError(f"{path}: not a cache of this version ({error}); name another file") from None

    def _begin(self, resume: bool) -> None:
        assert self._base is not None
        last = self._base.execute("select begun, ended from run order by begun desc limit 1").fetchone()
        if resume and last is not None and last[1] is None:
            self.since = last[0]
            return
        self._base.execute("delete from run")
        self._base.execute("insert into run values (?, null)", (time.time(),))
        self._base.commit()

    @property
    def is_resumed(self) -> bool:
        """Whether the last run goes on."""
        return self.since != float("inf")

    def valid_outcomes(self, asked: Mapping[str, Iterable[str]]) -> Iterator[Outcome]:
        """The outcomes that still hold, of URIs and the fragments that are looked up in each."""
        if self._base is None:
            return
        now = time.time()
        for uri, fragments in asked.items():
            row = self._base.execute(
                "select kind, status, why, final, permanent, fragments, missing, checked from outcome where uri = ?",
                (self._key(uri),),
            ).fetchone()
            if row is None:
                continue
            kind, status, why, final, permanent, looked, missing, checked = row
            fresh = checked >= self.since or now - checked < self.ages.get(kind or "ok", 0.0)
            if fresh and (kind not in _LOOKED_UP or set(fragments) <= set(json.loads(looked))):
                gone = tuple(one for one in json.loads(missing) if one in set(fragments))
                yield Outcome(uri, kind, status, why, final, bool(permanent), gone, checked, True)

    def _key(self, uri: str) -> str:
        """The URI, and behind a blank the credentials."""
        return f"{uri} {digest}" if (digest := self.credentials(uri)) else uri

    def keep(self, outcome: Outcome, fragments: Iterable[str]) -> None:
        """Keep an outcome; fragments: those that were looked up."""
        if self._base is None:
            return
        looked, missing = (json.dumps(sorted(some)) if some else "[]" for some in (set(fragments), outcome.missing))
        self._rows.append(
            (
                self._key(outcome.uri), outcome.kind, outcome.status, outcome.why, outcome.final, outcome.permanent,
                looked, missing, outcome.checked,
            )
        )  # fmt: skip
        if len(self._rows) >= _BATCH or time.monotonic() - self._committed > _PATIENCE:
            self.commit()

    def commit(self) -> None:
        """What was kept so far is in the file."""
        if self._base is not None:
            rows, self._rows = self._rows, []
            self._base.executemany("insert or replace into outcome values (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            self._base.commit()
            self._committed = time.monotonic()

    def close(self, *, whole: bool = False) -> None:
        """whole: whether the run has come to its end; one that has not can be resumed."""
        if self._base is None:
            return
        with suppress(sqlite3.Error):
            self.commit()
        base, self._base = self._base, None
        with suppress(sqlite3.Error):
            if whole:
                base.execute("update run set ended = ?", (time.time(),))
            base.commit()
        base.close()


def _open_database(path: str) -> sqlite3.Connection:
    base = database(path, _APPLICATION, _VERSION)
    try:
        base.execute("pragma journal_mode = wal").fetchall()  # else PyPy's is not over
        base.execute("pragma synchronous = normal")
        base.executescript(_TABLES)
    except BaseException:
        base.close()
        raise
    return base
