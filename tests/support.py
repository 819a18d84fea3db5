"""Shared by the tests: the case files, the external rows if present, and the measurement of growth."""

from __future__ import annotations

import gc
import inspect
import json
import signal
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, BinaryIO

from overthere.links.containers.model import Member, Place, find_container
from overthere.links.containers.streams import read_content
from overthere.links.faults import guard
from overthere.links.model import BegunPage, Document, Note, Options, PassedContent

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
SHARED = ROOT.parent / "shared" / "cases"
SUITES = ROOT / "build" / "suites"
NO_SUITE = "neither ../shared/cases nor a package's suite is there: python tools/suites.py"
NO_PACKAGE = "../shared/cases is absent, and no package has Fielding's tables and the printed examples"
"""Reasons to skip tests of external rows: the suite was not fetched, or cannot be."""


def cases(name: str) -> list[dict[str, Any]]:
    """The rows of tests/cases/NAME.toml."""
    rows: list[dict[str, Any]] = tomllib.loads((TESTS / "cases" / f"{name}.toml").read_text())["case"]
    return rows


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def in_editions(rows: list[dict[str, Any]], prefix: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Each row with its id, and once more as `ID@EDITION` for each edition that it names in `also`.

    A statement of an older document is shown by a row that is read as that document says (tools/statements.py).
    """
    results = {}
    for row in rows:
        results[prefix + row["id"]] = row
        results |= {f"{prefix}{row['id']}@{name}": {**row, "edition": name} for name in row.get("also", ())}
    return list(results.items())


def for_each_octet(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test with each `octet` in turn, as one test: 256 tests take longer to report than to run."""

    @wraps(test)
    def run(**arguments: Any) -> None:
        for octet in range(256):
            try:
                test(octet=octet, **arguments)
            except BaseException as error:
                error.add_note(f"octet {octet:#04x}")
                raise

    signature = inspect.signature(test)
    others = [parameter for name, parameter in signature.parameters.items() if name != "octet"]
    run.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
    return run


def suite(name: str) -> Path:
    """A file or folder of an external suite: in ../shared/cases, which has more, or from a package.

    tools/suites.py fetches the packages.  The path does not exist if neither has it.
    """
    shared = SHARED / name
    return shared if shared.exists() else SUITES / name


def outside(name: str) -> list[dict[str, Any]]:
    """The rows of an external suite; none if it is absent."""
    file = suite(f"{name}.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


# -- processor time, so that a busy machine gives the same results as an idle one

LONG = 250_000
"""The length at which growth shows: scanning the rest of a text from each character takes seconds or minutes."""
FLOOR = 0.05
"""Seconds of processor time below which nothing is judged: quadratic time for 100,000 characters is longer."""
MARGIN = 2.0
"""The allowed factor above linear growth for four times the input; quadratic time is 4 times longer."""


@contextmanager
def processor(seconds: float = 60) -> Iterator[None]:
    """Limit code that may never end to this much processor time, many times more than needed.

    It counts the time of this process, and so no time of other processes.

    Raises: TimeoutError, between two steps of Python.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s of the processor's time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def most_memory() -> int:
    """The most memory that this process has held, in KiB.

    `ru_maxrss` of a child begins with what its parent held as it was started, so that no growth below that is seen.
    """
    lines = Path("/proc/self/status").read_text().split("\n")
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def linear(action: Callable[[int], object], size: int, most: float = 60) -> None:
    """Four times as much takes about four times as long: `action(size)` beside `action(size // 4)`.

    It is measured in processor time, once.  A worse result is confirmed by the least of several runs.

    Raises: AssertionError if it grows by more; TimeoutError after `most` seconds of processor time for a run.
    """

    def cost(count: int) -> float:
        if markdown := sys.modules.get("overthere.links.documents.markdown"):
            markdown.blocks.cache_clear()  # the same text is read again
        collected = gc.isenabled()
        gc.disable()
        start = time.process_time()
        try:
            with processor(most):
                action(count)
            return time.process_time() - start
        finally:
            if collected:
                gc.enable()

    large = cost(size)
    if large <= FLOOR:
        return  # too short to judge
    small = cost(size // 4)
    for _ in range(4):
        if large <= 4 * MARGIN * small + FLOOR:
            return
        small, large = min(small, cost(size // 4), cost(size // 4)), min(large, cost(size))
    assert large <= 4 * MARGIN * small + FLOOR, (
        f"{size // 4} took {small:.3f} s, {size} {large:.3f} s of processor time: {large / small:.1f} times as much"
    )


def flat_members(
    kind: str, file: BinaryIO, document: Document, options: Options, start: int = 0, end: int | None = None
) -> Iterator[Document | Note | PassedContent]:
    """The members of a container of this kind, each read, but not what is in it."""
    for member in find_container(kind).members(file, document, Place(options, None, start, end)):
        assert not isinstance(member, BegunPage)  # no page is started here
        if not isinstance(member, Member):
            yield member
        elif member.documents is not None:
            yield from guard(member.documents, member.document.failed)
        elif member.stream is None:
            yield member.document
        else:
            content, notes = read_content(member.stream, options.limit, member.crc)
            yield member.document._replace(content=content, notes=member.document.notes + notes)
