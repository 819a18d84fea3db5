"""The main job, compared with its peers on one crawl (`crawl.py`) in one run: pages per second, memory, correctness.

Every measurement is the command line of overthere, or `extractors.py` with a peer, as processes of their own; a time
goes from the start of the process to its end.  Peers in two processes have half of the file each.  Work of more than 20
seconds runs once.

python bench/links.py [--quick] [--rounds N]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import known_links
from crawl import CACHE, PLAIN, SIZE, Crawl, crawl, plain, write
from extractors import DOES, PEERS, responses
from rounds import rotate, summary

Row = dict[str, Any]
OWN = "overthere"
_SAMPLE = 5_000_000
"""Octets of the crawl on which the answers are compared."""
_SLOW = 20.0
_QUICK = 5_000_000
_PACKAGES = {"resiliparse": "Resiliparse", "selectolax": "selectolax", "Scrapy": "Scrapy", "lxml": "lxml", OWN: OWN}


class _Run(NamedTuple):
    """seconds, and those that processors worked; MiB at the peak of all processes, as in `_MemoryMonitor`; links."""

    seconds: float
    worked: float
    peak: float | None
    shared: float | None
    links: int = 0


# -- processes


class _MemoryMonitor(threading.Thread):
    """Adds up the memory of all processes of these sessions, as the kernel counts it (Linux).

    `most`: the most that each process has held (VmHWM); pages that processes share count for each of them.
    `shared`: the most that they held at once when it was asked, with each page that they share counted once (Pss).
    """

    def __init__(self, sessions: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self.sessions = {str(session) for session in sessions}
        self.most: dict[str, int] = {}
        self.shared = 0
        self.over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.over.wait(0.1):
            bytes_now = 0
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError, IndexError, ValueError):
                    # 4: the session, after the name, which may hold anything but ends at the last parenthesis
                    if (process / "stat").read_text().rpartition(")")[2].split()[3] in self.sessions:
                        self.most[process.name] = _kib(process / "status", "VmHWM:") or self.most.get(process.name, 0)
                        bytes_now += _kib(process / "smaps_rollup", "Pss:")
            self.shared = max(self.shared, bytes_now)

    def end(self) -> tuple[float | None, float | None]:
        """MiB: `most`, `shared`; None where none can tell."""
        self.over.set()
        self.join()
        most, shared = (round(kib / 1024, 1) or None for kib in (sum(self.most.values()), self.shared))
        return most, shared


def _kib(file: Path, name: str) -> int:
    return sum(int(line.split()[1]) for line in file.read_text().splitlines() if line.startswith(name))


def _run_commands(commands: Sequence[list[str]]) -> tuple[list[str], _Run]:
    """The output of the processes, and the total resources of them and their children.

    Raises: RuntimeError if one ends with another status than 0, or 1, which says that not all could be read.
    """
    start, before = time.perf_counter(), _processor_seconds()
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        for command in commands
    ]
    watch = _MemoryMonitor([process.pid for process in running])
    outputs = [process.communicate() for process in running]
    seconds = time.perf_counter() - start
    peaks = watch.end()
    for process, command, (_, error) in zip(running, commands, outputs, strict=True):
        if process.returncode not in (0, 1) or "Traceback" in error:
            raise RuntimeError(f"{' '.join(command)}: {error}")
    return [out for out, _ in outputs], _Run(seconds, _processor_seconds() - before, *peaks)


def _processor_seconds() -> float:
    """Seconds that processors have worked for processes that this one started and that are over."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _own_command(file: Path, table: Path, workers: int) -> list[str]:
    command = Path(sys.executable).with_name("overthere")  # as people run it
    return [str(command), "links", str(file), "-o", str(table), "--workers", str(workers)]


def _run_overthere(file: Path, workers: int) -> _Run:
    import pyarrow.parquet as pq

    with TemporaryDirectory(dir=CACHE) as folder:
        table = Path(folder, "links.parquet")
        _, run = _run_commands([_own_command(file, table, workers)])
        if not table.exists() or not (rows := pq.read_metadata(table).num_rows):
            raise RuntimeError(f"overthere finds no links in {file}")
        return run._replace(links=rows)


def _peer(name: str, about: Crawl, processes: int) -> _Run:
    command = [sys.executable, str(Path(__file__).with_name("extractors.py")), name, about.path]
    ends = [["--end", str(about.middle)], ["--start", str(about.middle)]] if processes == 2 else [[]]
    out, run = _run_commands([command + end for end in ends])
    return run._replace(links=sum(json.loads(text)["links"] for text in out))


# -- answers


def _answers(name: str, file: Path, place: tuple[str, ...] = ()) -> dict[int, list[str]]:
    """The targets of each record, by its offset; for overthere those in these places, or all."""
    with TemporaryDirectory(dir=CACHE) as folder:
        if name != OWN:
            out = Path(folder, "answers.jsonl")
            _run_commands([[sys.executable, str(Path(__file__).with_name("extractors.py")), name, str(file),
                        "--answers", str(out)]])  # fmt: skip
            rows = map(json.loads, out.read_text().splitlines())
            return {row["at"]: row["targets"] for row in rows}
        import pyarrow.parquet as pq

        out = Path(folder, "links.parquet")
        _run_commands([_own_command(file, out, 1)])
        answers: dict[int, list[str]] = {}
        for row in pq.read_table(out, columns=["source", "where", "target"]).to_pylist():
            if row["target"] is not None and (not place or row["where"] in place):
                answers.setdefault(int(row["source"].rpartition("!")[2]), []).append(row["target"])
        return answers


def _right(names: Sequence[str]) -> dict[str, Row]:
    """For each peer the number of correct known pages, and the share in common with overthere on a sample."""
    rows = known_links.known_pages()
    sample = Path(crawl(_SAMPLE).path)
    ours = _answers(OWN, sample, ("a href", "area href"))
    shares = {}
    with TemporaryDirectory(dir=CACHE) as folder:
        pages = Path(folder, "known.warc.gz")
        write(pages, map(known_links.page, rows), sys.maxsize)
        starts = [response.at for response in responses(pages)]
        for name in names:
            answers = _answers(name, pages)
            groups = known_links.right(rows, [answers.get(at, []) for at in starts])
            right, of = (sum(pair[n] for pair in groups.values()) for n in (0, 1))
            shares[name] = {"agrees": round(right / of, 4), "right": right, "of": of, "groups": groups}
            if name != OWN:
                shares[name] |= known_links.count_shared(ours, _answers(name, sample))
    return shares


# -- the run


def _version(name: str) -> str:
    package = _PACKAGES[next(start for start in _PACKAGES if name.startswith(start))]
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_TWO = ("resiliparse, references only", "resiliparse, every attribute", "resiliparse + urljoin", "Scrapy")


def _times(about: Crawl, rounds: int, variants: Sequence[tuple[str, int]]) -> dict[tuple[str, int], list[_Run]]:
    results: dict[tuple[str, int], list[_Run]] = {run: [] for run in dict.fromkeys(variants)}
    Path(about.path).read_bytes()  # the file is in memory from then on
    for round_number in range(rounds):
        for name, processes in rotate(list(results), round_number):
            runs = results[name, processes]
            if runs and runs[0].seconds > _SLOW:
                continue
            run = _run_overthere(Path(about.path), processes) if name == OWN else _peer(name, about, processes)
            times = f"{run.seconds:.1f} s, {run.worked:.1f} worked"
            print(f"  {name}, {processes}: {times}, {run.peak} ({run.shared}) MiB, {run.links:,} links", flush=True)
            runs.append(run)
    return results


def _memory(runs: Sequence[_Run]) -> Row:
    return {
        "peak_mib": max((run.peak for run in runs if run.peak is not None), default=None),
        "pss_mib": max((run.shared for run in runs if run.shared is not None), default=None),
    }


def measure(rounds: int, quick: bool = False) -> Iterator[list[Row]]:
    """The rows; or a line with the reason if a peer is not installed."""
    size = _QUICK if quick else SIZE
    ways = [(OWN, 1), (OWN, _cores()), *((name, 1) for name in PEERS), *((name, 2) for name in _TWO)]
    try:
        about, larger = crawl(size), crawl(size, 4)
        right = _right([OWN, *PEERS])
        tasks = [("links of a crawl", about, ways), ("links of plain pages", plain(size if quick else PLAIN), ways[:1])]
        tasks[1][2].extend((name, 1) for name in PEERS if name.startswith(("resiliparse, every", "selectolax")))
        results = [(operation, file, _times(file, rounds, runs)) for operation, file, runs in tasks]
    except (LookupError, RuntimeError) as missing:
        print(f"\nlinks: {missing}\nso the main job is not measured")
        return
    rows = [
        _row(operation, file, run, runs) | right[run[0]]
        for operation, file, times in results
        for run, runs in times.items()
    ]
    for row in rows:
        if row["peer"] == OWN and row["operation"] == tasks[0][0]:
            four = _memory([_run_overthere(Path(larger.path), row["processes"])])
            row |= {f"{name}_4": mib for name, mib in four.items()}
    yield [row for row in rows if row["operation"] == tasks[0][0]]
    yield [row for row in rows if row["operation"] == tasks[1][0]]


def _row(operation: str, about: Crawl, variant: tuple[str, int], runs: Sequence[_Run]) -> Row:
    name, processes = variant
    row: Row = {"section": "links", "operation": operation, "peer": name, "processes": processes}
    row |= summary([run.seconds for run in runs], about.responses)
    row["pages_s"] = round(about.responses / row["seconds"], 1)
    row["cpu_s"] = round(statistics.median(run.worked for run in runs), 2)
    row["mb_s"] = round(about.payload_octets / row["seconds"] / 1e6, 1)
    row |= {"links": runs[0].links, **_memory(runs)}
    return row | {"does": DOES[name], "version": _version(name), "crawl": about.describe()}


def main() -> None:
    import report

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a crawl of 5 MB")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for rows in measure(options.rounds, options.quick):
        print(report.table(rows))
        (CACHE / "links.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
