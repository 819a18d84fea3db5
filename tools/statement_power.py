"""Whether the tests that a statement names notice that the code behind it is broken.

python tools/statement_power.py [--breaks N] [--write] [ID ...]: the functions that the tests of a statement run, on the
reference kernel, are broken, one at a time, each in its own process, and only the tests of that statement are run.  A
break counts if it changes what the package gives these tests, or if they fail: another one is not behind what they look
at.  Unnoticed breaks are printed; exceptions are listed in tests/statements/unnoticed.toml.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import random
import re
import signal
import sys
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, NamedTuple

from breaks import Break, breaks, carried_out, loaded_functions
from statements import LEDGER, ROOT, Statement, documents

POWER = LEDGER / "power.toml"
UNNOTICED = LEDGER / "unnoticed.toml"
SOURCE = f"{ROOT / 'src' / 'overthere'}{os.sep}"
TESTS = f"{ROOT / 'tests'}{os.sep}"
LONGEST = 60
"""Seconds for the tests of a break: one that has no end is noticed."""
TRACED = 900
"""Seconds for the same tests while their lines are traced, which takes many times as long."""
SLOW = 4.0
"""Seconds of a statement's tests beyond which it is broken once only."""
TRIED = 12
"""Breaks of a statement that are tried before no more of those that count are looked for."""


class Run(NamedTuple):
    """The result of a run of tests."""

    passed: bool
    seconds: float
    given: str
    """A digest of the values that the package returned to code of the tests."""
    lines: list[tuple[str, int]]


class Power:
    """A plug-in of pytest that runs no test here, but those of each statement in processes of their own."""

    def __init__(self, rows: list[Statement], most: int, jobs: int) -> None:
        self.rows, self.most, self.jobs = rows, most, jobs
        self.found: dict[str, dict[str, Any]] = {}
        """By statement: its "state", and of the breaks that count, how many were "noticed", and which "survived"."""

    def pytest_runtestloop(self, session: Any) -> bool:
        by_test: dict[str, list[Any]] = {}
        for item in session.items:
            for name in {item.nodeid, item.nodeid.partition("[")[0]}:
                by_test.setdefault(name, []).append(item)
        works = [
            (
                row.id,
                partial(break_statement, row.id, [item for test in row.tests for item in by_test[test]], self.most),
            )
            for row in self.rows
        ]
        for file in sorted(Path(SOURCE).rglob("*.py")):
            if file.name != "__main__.py":
                with suppress(ImportError):  # its extra is not installed
                    name = ".".join(file.relative_to(ROOT / "src").with_suffix("").parts)
                    import_module(name.removesuffix(".__init__"))
        gc.unfreeze()
        loaded_functions()
        gc.freeze()
        for number, (id, answer) in enumerate(all_of(works, self.jobs)):
            self.found[id] = answer
            if number % 100 == 99:
                print(f"{number + 1:,} of {len(works):,} statements", file=sys.stderr, flush=True)
        return True


def break_statement(id: str, items: list[Any], most: int) -> dict[str, Any]:
    """A statement and the breaks of the code behind it."""
    first, second = run_in_process(partial(run, items, True), TRACED), run_in_process(partial(run, items, False))
    if first is None or second is None or not (first[0] and second[0]):
        return {"state": "failing", "noticed": 0, "survived": []}
    steady, noticed, survived = first[2] == second[2], 0, []
    most = most if second[1] < SLOW else 1
    candidates = choose_breaks(id, [(file, line) for file, line in first[3]])
    for candidate in candidates[:TRIED]:
        answer = run_in_process(partial(broken, candidate, items))
        if answer is None or not answer[0]:
            noticed += 1
        elif steady and answer[2] != first[2]:
            survived.append(candidate)
        if noticed + len(survived) == most:
            break
    state = "" if noticed or survived else "elsewhere"
    return {"state": state, "noticed": noticed, "survived": survived}


def choose_breaks(id: str, lines: Iterable[tuple[str, int]]) -> list[Break]:
    """Breaks of lines, by chance, always the same; each function comes once before one comes twice."""
    ran = set(lines)
    aside = reasons().keys()
    every = [
        change
        for file in sorted({file for file, _ in ran})
        for change in breaks(file)
        if (file, change.line) in ran and aside.isdisjoint({(file, ""), (file, change.function)})
    ]
    random.Random(id).shuffle(every)
    times = Counter[tuple[str, str]]()
    order = []
    for each in every:
        times[each.file, each.function] += 1
        order.append(times[each.file, each.function])
    return [each for _, each in sorted(zip(order, every, strict=True), key=lambda pair: pair[0])]


def broken(change: Break, items: list[Any]) -> Run:
    """Run tests with a break.  Raises: RuntimeError if it could not be made."""
    if not carried_out(change):
        raise RuntimeError(f"{change}: no function has this code")
    try:
        return run(items, False)
    except Exception:  # pytest runs the broken code too
        return Run(False, 0.0, "", [])


def run(items: list[Any], traced: bool) -> Run:
    """Run tests until one fails; `traced` says whether the lines are recorded."""
    from _pytest.runner import runtestprotocol

    lines: set[tuple[str, int]] = set()
    start, digest, passed = time.monotonic(), hashlib.sha256(), True
    tracer, profiler = _tracer(lines), _profiler(digest)
    for number, item in enumerate(items):
        following = items[number + 1] if number + 1 < len(items) else None
        if traced:
            threading.settrace(tracer)
            sys.settrace(tracer)
        sys.setprofile(profiler)
        reports = runtestprotocol(item, nextitem=following, log=False)
        sys.setprofile(None)
        sys.settrace(None)
        passed = not any(report.failed for report in reports)
        if not passed:
            break
    return Run(passed, time.monotonic() - start, digest.hexdigest(), sorted(lines))


def _tracer(lines: set[tuple[str, int]]) -> Callable[[FrameType, str, Any], Any]:
    def within(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return within

    def entered(frame: FrameType, _: str, __: Any) -> Any:
        return within if frame.f_code.co_filename.startswith(SOURCE) else None

    return entered


# Addresses of objects, and folders that are made for a test.
_PASSING = re.compile(r"0x[0-9a-f]+|/tmp/[^\s'\"]*")


def _profiler(digest: Any) -> Callable[[FrameType, str, Any], None]:
    def profile(frame: FrameType, event: str, value: Any) -> None:
        around = frame.f_back
        if event != "return" or around is None or not frame.f_code.co_filename.startswith(SOURCE):
            return
        if around.f_code.co_filename.startswith(TESTS):
            sys.setprofile(None)
            try:
                text = repr(value)[:10_000]
            except Exception as error:
                text = type(error).__name__
            digest.update(f"{frame.f_code.co_qualname} {_PASSING.sub('', text)}\n".encode("utf-8", "replace"))
            sys.setprofile(profile)

    return profile


def run_in_process(work: Callable[[], object], longest: int = LONGEST) -> Any:
    """The result of a function in a separate process; None after this many seconds."""
    ((_, answer),) = all_of([("", work)], 1, longest)
    return answer


def all_of(works: Iterable[tuple[str, Callable[[], object]]], jobs: int, longest: int = 0) -> Iterator[tuple[str, Any]]:
    """The results of functions, several at a time, each in its own process; None for an unfinished one.

    longest: seconds for each; 0 for any number.

    Raises: RuntimeError for one that fails.
    """
    running: dict[int, tuple[str, Path]] = {}
    waiting = iter(works)
    with TemporaryDirectory() as folder:
        while True:
            while len(running) < jobs and (next_one := next(waiting, None)) is not None:
                file = Path(folder) / str(time.monotonic_ns())
                running[_fork_work(next_one[1], file, longest)] = next_one[0], file
            if not running:
                return
            pid, _ = os.wait()
            if pid not in running:
                continue
            key, file = running.pop(pid)
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # processes that its tests started and did not stop
            answer = json.loads(file.read_text()) if file.exists() else None
            if isinstance(answer, str):
                raise RuntimeError(f"{key}: {answer}")
            yield key, answer


def _fork_work(work: Callable[[], object], file: Path, longest: int) -> int:
    """A process that does some work, whose answer is JSON in a file."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setpgid(0, 0)
        signal.alarm(longest)
        with open(os.devnull, "w") as away, redirect_stdout(away), redirect_stderr(away):
            os.dup2(away.fileno(), 1)
            os.dup2(away.fileno(), 2)
            try:
                answer = work()
            except Exception as error:
                answer = repr(error)
            file.write_text(json.dumps(answer))
    finally:
        os._exit(0)


@cache
def reasons() -> dict[tuple[str, str], str]:
    """Why a function is not broken, by its file and name; "" is every one of the file."""
    rows = tomllib.loads(UNNOTICED.read_text())["aside"]
    return {(SOURCE + row["file"], name): row["reason"] for row in rows for name in row.get("functions", [""])}


def figures(results: dict[str, dict[str, Any]]) -> dict[str, int]:
    """The figures of `power.toml`; unnoticed breaks are printed."""
    for id, answer in sorted(results.items()):
        if answer["state"] == "failing":
            print(f"{id}: its tests fail without any change")
        for path, line, _, change, function in answer["survived"]:
            print(f"{id}: {path.removeprefix(SOURCE)}:{line} {function}: {change}")
            print(f"    {Path(path).read_text().splitlines()[line - 1].strip()}")
    states = Counter(answer["state"] for answer in results.values())
    noticed = sum(answer["noticed"] for answer in results.values())
    survived = sum(len(answer["survived"]) for answer in results.values())
    return {
        "statements": len(results),
        "elsewhere": states["elsewhere"],
        "failing": states["failing"],
        "breaks": noticed + survived,
        "noticed": noticed,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Whether the tests of statements notice breaks of the code behind them."
    )
    parser.add_argument("--breaks", type=int, default=3, help="of each statement at most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", action="store_true", help=f"write the figures to {POWER.relative_to(ROOT)}")
    parser.add_argument("ids", nargs="*", metavar="ID", help="of statements; without any, all")
    options = parser.parse_args()
    os.environ["OVERTHERE_KERNEL"] = "reference"
    sys.path.insert(0, str(ROOT))
    import pytest

    every = [row for each in documents() for row in each.statements if row.tests]
    rows = [row for row in every if row.id in options.ids or not options.ids]
    power = Power(rows, options.breaks, options.jobs)
    files = sorted({test.partition("::")[0] for row in rows for test in row.tests})
    arguments = ["-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--hypothesis-seed=0", *files]
    if pytest.main(arguments, [power]) not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return 1
    results = figures(power.found)
    print(results, f"{results['noticed'] / (results['breaks'] or 1):.1%}")
    if options.write:
        POWER.write_text("".join(f"{name} = {value}\n" for name, value in results.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
