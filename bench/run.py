"""`make bench`: overthere and its peers in one run over one corpus, with times and shares of correct answers.

A whole run writes bench/results/latest.jsonl, docs/benchmarks.md, docs/benchmarks.svg and the figures of README.md;
every other writes the first three into build/bench, unless --keep puts its section into the last whole run: each row
says of which run it is.

python bench/run.py [--quick] [--only values|daily|dirt|iris|columns|kernel|imports|integrations|access|links]
                    [--rows N] [--values N] [--rounds N] [--keep] [--report]
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import front_page
import plot
import report
from corpus import CACHE, Corpus, corpus

ROOT = Path(__file__).resolve().parent.parent
Row = dict[str, Any]
SECTIONS = ("values", "daily", "dirt", "iris", "columns", "kernel", "imports", "integrations", "access", "links")


def machine() -> str:
    """The machine in a line: processor, cores, memory, system."""
    name = platform.processor() or platform.machine()
    if (cpus := Path("/proc/cpuinfo")).exists():
        models = [line.partition(": ")[2] for line in cpus.read_text().splitlines() if line.startswith("model name")]
        name = models[0] if models else name
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    system = f"{platform.system()} {platform.release().partition('-')[0]}"
    return f"{name}, {platform.machine()}, {cores} cores, {memory:.0f} GiB, {system}"


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def _run_facts() -> Row:
    """The facts about the run in every row."""
    from overthere import kernel
    from peers import versions

    changed = "+" if _git("status", "--porcelain", "src", "rust") else ""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": _git("rev-parse", "--short", "HEAD") + changed,
        "kernel": kernel.name,
        "machine": machine(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "versions": versions(),
    }


class _Size(NamedTuple):
    """rows: in a column; values: single texts; budget: seconds of a peer in an operation."""

    rows: int
    values: int
    rounds: int
    budget: float
    quick: bool


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20,000 rows, 2,000 values, a crawl of 5 MB, three rounds")
    parser.add_argument("--only", choices=SECTIONS, help="one part of the run")
    parser.add_argument("--rows", type=int, help="rows of a column (1,000,000)")
    parser.add_argument("--values", type=int, help="texts for single values and for the kernel (100,000)")
    parser.add_argument("--rounds", type=int, help="rounds (5)")
    parser.add_argument("--keep", action="store_true", help="with --only: replace the section of the last whole run")
    parser.add_argument("--report", action="store_true", help="only write the page and the plot of the last whole run")
    return parser.parse_args()


def _write(rows: list[Row], results: Path, pages: Path) -> None:
    results.mkdir(parents=True, exist_ok=True)
    (results / "latest.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    _pages(rows, pages)
    print(f"\n{results / 'latest.jsonl'}, {pages / 'benchmarks.md'}, {pages / 'benchmarks.svg'}")


def _pages(rows: list[Row], pages: Path) -> None:
    (pages / "benchmarks.md").write_text(report.page(rows))
    (pages / "benchmarks.svg").write_text(plot.plot(rows))


def _groups(section: str, texts: Corpus, size: _Size) -> Iterable[list[Row]]:
    """The rows of a section, one operation after the other."""
    rounds, budget = size.rounds, size.budget
    match section:
        case "values":
            import values

            return values.measure(texts.take_first(size.values), rounds, 2 * budget)
        case "daily":
            import daily

            return daily.measure(texts, rounds, min(size.values, 12_000))
        case "dirt":
            import mixed_input

            return mixed_input.measure(texts, min(rounds, 5), budget / 2, min(size.values, 20_000))
        case "iris":
            import iris

            return iris.measure(texts, min(rounds, 5), budget / 2, min(size.values, 20_000))
        case "columns":
            import tables

            return tables.measure(texts.take_first(size.rows), rounds, budget)
        case "kernel":
            import kernel

            native = kernel.measure(texts.take_first(size.values))
            named = dict.fromkeys(row["operation"] for row in native)
            return [[row for row in native if row["operation"] == operation] for operation in named]
        case "imports":
            import imports

            return imports.measure(3 * rounds)
        case "integrations":
            import guards
            import integrations

            print(guards.table(guards.measure()), flush=True)
            return integrations.measure(texts, rounds, min(size.values, integrations.URLS))
        case "access":
            import access

            return access.measure(min(rounds, 3))
        case _:
            import links

            return links.measure(min(rounds, 2), size.quick)


def _measure(only: str | None, size: _Size) -> list[Row]:
    texts = corpus(max(size.rows, size.values))
    makeup = texts.composition()
    about = _run_facts() | {"corpus": makeup["digest"]}
    print(f"{about['machine']}; Python {about['python']}; commit {about['commit']}, {about['kernel']} kernel")
    print(", ".join(f"{name} {value}" for name, value in makeup.items()))
    rows: list[Row] = [about | {"section": "corpus"} | makeup]
    for section in SECTIONS if only is None else [only]:
        start = time.monotonic()
        for group in _groups(section, texts, size):
            if group:
                print(report.table(group), flush=True)
                rows.extend(about | row for row in group)
        print(f"\n{section}: {time.monotonic() - start:.0f} s", flush=True)
    return rows


def main() -> None:
    arguments = _arguments()
    if arguments.report:
        last = (ROOT / "bench" / "results" / "latest.jsonl").read_text().splitlines()
        return _pages([json.loads(line) for line in last], ROOT / "docs")
    start = time.monotonic()
    quick = arguments.quick
    size = _Size(
        rows=arguments.rows or (20_000 if quick else 1_000_000),
        values=arguments.values or (2_000 if quick else 100_000),
        rounds=arguments.rounds or (3 if quick else 5),
        budget=0.05 if quick else 1.0,
        quick=quick,
    )
    rows = _measure(arguments.only, size)
    if arguments.keep and arguments.only:
        lines = (ROOT / "bench" / "results" / "latest.jsonl").read_text().splitlines()
        stored: list[Row] = [row for row in map(json.loads, lines) if row["section"] != arguments.only]
        new = [row for row in rows if row["section"] == arguments.only]
        return _write(stored + new, ROOT / "bench" / "results", ROOT / "docs")
    is_complete = not (quick or arguments.only or arguments.rows or arguments.values)
    _write(rows, *((ROOT / "bench" / "results", ROOT / "docs") if is_complete else (CACHE, CACHE)))
    if is_complete:
        front_page.main()
    print(f"{time.monotonic() - start:.0f} s")
    return None


if __name__ == "__main__":
    main()
