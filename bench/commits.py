"""`make bench-check`: two commits compared in alternating rounds; reports what got slower by more than noise.

The older one is a worktree of git below build/bench, with a native kernel of its own where that differs; the newer one
is what lies here, changed files and all, or a worktree too.  Each operation is timed in both, in processes that wait
for one another, in processor time; a round gives a pair.  Slower is what the pairs say twice: the interval that has the
median of their ratios is above `_MIN_SLOWDOWN` in the run, and in a second one of what was slower in the first.

python bench/commits.py [BASE [HEAD]] [--rounds N] [--only WORD] [--quick]     BASE: by default where main was left
Ends with 1 if something got slower.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from generated import generate

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "bench"
_MIN_SLOWDOWN = 1.03
"""A ratio that is worth a word: below it lies what the place of code in memory makes."""
_SECONDS = 0.03
"""The approximate seconds of one measurement."""
_WAIT = 600.0


# -- one side: a process that receives what to time

# Each is an expression over the text `t` in a loop over texts; for columns, over a column `c`.
_VALUES = {
    "URI": "URI(t)",
    "URI, six read": "u = URI(t); u.scheme, u.host, u.port, u.path, u.query, u.fragment",
    "URI, refused": "attempt(URI, t + ' ')",
    "URI.parse, refused": "URI.parse(t + ' ')",
    "URI.can_parse": "URI.can_parse(t)",
    "URIReference": "URIReference(t)",
    "join": "base.join(t)",
    "relate": "base.relate(t)",
    "normalize, syntax": "URI(t).normalize(Rung.SYNTAX)",
    "normalize, scheme": "URI(t).normalize(Rung.SCHEME)",
    "encode": "encode(t, keep='')",
    "decode": "decode(t)",
    "IRI": "IRI(t + '\u00e9')",
    "IRI to URI": "IRI(t + '\u00e9').to_uri()",
    "audit": "audit(t)",
    "check, refused": "check(t + ' ')",
}
_COLUMNS = {
    "column check": "columns.check(c, threads=1)",
    "column parse": "columns.parse(c, threads=1)",
    "column split": "columns.split(c, threads=1)",
    "column normalize": "columns.normalize(c, threads=1)",
    "column normalize, scheme": "columns.normalize(c, Rung.SCHEME, threads=1)",
    "column resolve": "columns.resolve(c, 'http://a/b/c/d;p?q', threads=1)",
    "column encode": "columns.encode(c, threads=1)",
    "column decode": "columns.decode(c, threads=1)",
}
_JOB = {
    "links of HTML": "list(batches([page]))",
    "find in Markdown": "list(find(prose))",
}


def _attempt(make: Callable[[str], Any], text: str) -> None:
    with suppress(ValueError):
        make(text)


def _names(folder: Path) -> dict[str, Any]:
    import overthere

    texts = [text for text in generate(500, {}) if not _fails(overthere.URI, text)]
    page = folder / "page.html"
    prose = "".join(f"See <{text}>, or [this]({text}) and {text}.\n\n" for text in texts)
    page.write_text("".join(f'<p class="x" id="y">Text <a href="{text}">more</a></p>\n' for text in texts))
    names: dict[str, Any] = {name: getattr(overthere, name) for name in overthere.__all__}
    names |= {"texts": texts, "page": str(page), "prose": prose, "attempt": _attempt}
    names["at"] = overthere.__file__
    names["base"] = overthere.URI("http://a/b/c/d;p?q")
    return names


def _optional(names: dict[str, Any]) -> None:
    """Requirements of some operations, which are left out if one is missing."""
    with suppress(ImportError, AttributeError):
        names["batches"] = import_module("overthere.links").batches
    with suppress(ImportError):
        names["c"] = import_module("pyarrow").array(names["texts"] * 40)


def _make_timer(names: dict[str, Any], expression: str, loop: bool) -> Callable[[int], float]:
    body = f"for t in texts: {expression}" if loop else expression
    exec(f"def run(times):\n for _ in range(times):\n  {body}\n", names)
    run: Callable[[int], None] = names["run"]

    def timed(times: int) -> float:
        start = time.process_time()
        run(times)
        return time.process_time() - start

    return timed


def _side(folder: Path, only: str) -> None:
    """A side: the operations with this word that it has, then (operation, times) to seconds, until its input ends."""
    import gc

    names = _names(folder)
    _optional(names)
    operations = {name: (text, True) for name, text in _VALUES.items()}
    operations |= {name: (text, False) for name, text in {**_COLUMNS, **_JOB}.items()}
    timers: dict[str, Callable[[int], float]] = {}
    times: dict[str, int] = {}
    for name, (expression, loop) in operations.items():
        if only not in name:
            continue
        try:
            timed = _make_timer(names, expression, loop)
            timed(1)
            times[name] = max(1, round(_SECONDS / max(timed(1), 1e-6)))
        except Exception:  # this commit has no such thing, or not for all of these texts
            continue
        timers[name] = timed
    print(json.dumps([names["at"], times]), flush=True)
    gc.freeze()
    for line in sys.stdin:
        name, count = json.loads(line)
        gc.collect()
        gc.disable()
        seconds = timers[name](count)
        gc.enable()
        print(json.dumps(seconds), flush=True)


def _fails(make: Callable[[str], Any], text: str) -> bool:
    try:
        make(text)
    except ValueError:
        return True
    return False


class _Side:
    """A process of a commit that waits to be asked."""

    def __init__(self, source: Path, folder: Path, only: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "PYTHONPATH": str(source / "src"), "PYTHONHASHSEED": "0"}
        self.source, self.environment = source, environment
        command = [sys.executable, __file__, "--side", str(folder), "--only", only]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
        at, self.times = self._read_answer()
        if not Path(at).is_relative_to(source):
            self.stop()
            raise RuntimeError(f"overthere of {at} was loaded, not that of {source}")

    def _read_answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.stop()
            raise RuntimeError(f"{self.source}: the process ended ({self.process.returncode})")
        return json.loads(line)

    def ask(self, name: str, times: int) -> float:
        """Seconds that its processor worked."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, times]) + "\n")
        self.process.stdin.flush()
        return float(self._read_answer())

    def process_seconds(self, words: Sequence[str]) -> float:
        """Seconds that processors work for a process of its own and its children."""
        before = _processor_seconds()
        subprocess.run([sys.executable, *words], env=self.environment, capture_output=True, check=False)
        return _processor_seconds() - before

    def stop(self) -> None:
        self.process.communicate(timeout=_WAIT)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# -- the verdict


class Verdict(NamedTuple):
    """The median of the ratios new to old, and an interval that has the true one in 99 of 100 runs."""

    ratio: float
    low: float
    high: float

    @property
    def is_slower(self) -> bool:
        return self.low > _MIN_SLOWDOWN

    @property
    def is_quicker(self) -> bool:
        return self.high < 1 / _MIN_SLOWDOWN


def interval(count: int, chance: float = 0.01) -> int:
    """The number of sorted values on each side of an interval that contains the median.

    By the signs alone: whatever the values are like, the median is outside with less than this chance.

    >>> interval(15), interval(21), interval(5)
    (2, 4, 0)
    """
    outside, sum_ = 0, 0.0
    probability = 1
    for below in range(count // 2):
        sum_ += probability / 2**count
        if 2 * sum_ > chance:
            break
        outside = below + 1
        probability = probability * (count - below) // (below + 1)
    return max(outside - 1, 0)


def verdict(old: Sequence[float], new: Sequence[float]) -> Verdict:
    """The result of the pairs."""
    ratios = sorted(b / a for a, b in zip(old, new, strict=True))
    outside = interval(len(ratios))
    return Verdict(statistics.median(ratios), ratios[outside], ratios[-1 - outside])


# -- the run


@contextmanager
def _worktree(commit: str) -> Iterator[Path]:
    """A worktree of a commit, with a native kernel where there is one here."""
    folder = CACHE / f"commit-{_git('rev-parse', '--short=12', commit)}"
    if not folder.exists():
        _git("worktree", "add", "--detach", str(folder), commit)
    try:
        _kernel(folder, commit)
        yield folder
    finally:
        _git("worktree", "remove", "--force", str(folder))


def _kernel(folder: Path, commit: str) -> None:
    """The native kernel of these sources: that which lies here, if it is made of the same, else a new one."""
    kernels = sorted((ROOT / "src" / "overthere").glob("_native*.so"))
    if not kernels or list((folder / "src" / "overthere").glob("_native*.so")):
        return
    if not _git("status", "--porcelain", "rust") and not _git("diff", "--name-only", commit, "HEAD", "--", "rust"):
        shutil.copy(kernels[0], folder / "src" / "overthere")
        return
    print(f"building the native kernel of {commit} ...", flush=True)
    environment = {**os.environ, "CARGO_TARGET_DIR": str(CACHE / "target")}
    words = ["setup.py", "--quiet", "build_rust", "--inplace", "--release"]
    result = subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"{commit}: the native kernel cannot be built\n{result.stderr[-2000:]}")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _base_commit() -> str:
    """Where main was left; on main the commit before."""
    commit = _git("merge-base", "HEAD", "main")
    return commit if commit != _git("rev-parse", "HEAD") else "HEAD~1"


_WHOLE = {"import overthere": ["-c", "import overthere; overthere.URI"]}


def _crawl_commands(folder: Path) -> dict[str, list[str]]:
    """The main job as a command, on documents that are made here."""
    site = folder / "site"
    site.mkdir(parents=True, exist_ok=True)
    texts = generate(3000, {})
    for number in range(60):
        chunk = texts[number * 50 : number * 50 + 50]
        page = "".join(f'<p class="a" title="b">Text <a href="{text}">x</a>' for text in chunk)
        (site / f"{number}.html").write_text(f"<!DOCTYPE html><title>x</title>{page * 20}")
    words = ["-m", "overthere", "links", str(site), "-o", str(folder / "links.parquet"), "--workers"]
    return {f"the main job, {count}": [*words, str(count)] for count in (1, 2)}


def _rounds(
    old: _Side, new: _Side, names: Sequence[str], wholes: dict[str, list[str]], rounds: int
) -> dict[str, Verdict]:
    """Each operation in both, in turns; every other round the newer one is first."""
    pairs: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in names}
    for round_number in range(rounds):
        for name in names:
            for side, times in ((old, 0), (new, 1))[:: -1 if round_number % 2 else 1]:
                seconds = side.process_seconds(wholes[name]) if name in wholes else side.ask(name, old.times[name])
                pairs[name][times].append(seconds)
    return {name: verdict(*ratios) for name, ratios in pairs.items()}


def _result_lines(verdicts: dict[str, Verdict]) -> Iterator[str]:
    for name, verdict in verdicts.items():
        label = "SLOWER" if verdict.is_slower else "quicker" if verdict.is_quicker else ""
        yield f"{name:28} {verdict.ratio:6.3f}  ({verdict.low:.3f}-{verdict.high:.3f})  {label}".rstrip()


@contextmanager
def _side_of(source: Path, name: str, only: str) -> Iterator[_Side]:
    side = _Side(source, CACHE / "commits" / name, only)
    try:
        yield side
    finally:
        side.stop()


def compare(old: Path, new: Path, rounds: int, only: str = "") -> dict[str, Verdict]:
    """Print the results of all operations; return the slower ones."""
    wholes = {**_WHOLE, **_crawl_commands(CACHE / "commits")}
    with _side_of(old, "old", only) as first, _side_of(new, "new", only) as second:
        names = [*(name for name in first.times if name in second.times), *(name for name in wholes if only in name)]
        if one_sided := first.times.keys() ^ second.times.keys():
            print("only one of them has: " + ", ".join(sorted(one_sided)))
        pairs = _rounds(first, second, names, wholes, rounds)
        print("\n".join(_result_lines(pairs)), flush=True)
        slower = [name for name, verdict in pairs.items() if verdict.is_slower]
        if not slower:
            return {}
        print(f"once more: {', '.join(slower)}", flush=True)
        repeated = _rounds(first, second, slower, wholes, rounds)
        print("\n".join(_result_lines(repeated)), flush=True)
        return {name: verdict for name, verdict in repeated.items() if verdict.is_slower}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", nargs="?", help="the older commit; by default where main was left")
    parser.add_argument("head", nargs="?", help="the newer one; by default the files here")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--only", default="", help="operations whose names have this word")
    parser.add_argument("--quick", action="store_true", help="nine rounds")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        return _side(Path(options.side), options.only)
    base = options.base or _base_commit()
    with ExitStack() as stack:
        old = stack.enter_context(_worktree(base))
        new = stack.enter_context(_worktree(options.head)) if options.head else ROOT
        print(f"{base} beside {options.head or 'the files here'}: new to old, and where the median lies; 1 is the same")
        slower = compare(old, new, 9 if options.quick else options.rounds, options.only)
    print(f"slower: {', '.join(slower)}" if slower else "nothing got slower by more than noise")
    raise SystemExit(1 if slower else 0)


if __name__ == "__main__":
    main()
