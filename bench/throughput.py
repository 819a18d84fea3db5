"""Octets a core second for each format of a crawl, beside the peer of WAT files; and throughput against workers.

A command is measured as processor time of its process and its children, the least of some rounds, in which the commands
take turns; so is what each takes to start, on a file with one record.  Throughput against workers needs the clock: the
least of the rounds again.

`cluster.py` runs both; the plot is docs/pictures/workers.svg.  Requests to a store are counted, not timed.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from crawl import CACHE
from formats import Format
from rounds import rotate

Row = dict[str, Any]
ROUNDS = 3
WORKERS = (1, 2, 3, 4)
PEER = "the loop of cc-pyspark's ExtractLinksJob, rewritten with its libraries"
_PEERS = (("warcio", "links"), ("fastwarc", "links"), ("warcio", "hosts"), ("fastwarc", "hosts"))


class _Command(NamedTuple):
    reader: str
    words: tuple[str, ...]
    """The command, with FILE for the file."""


class Cost(NamedTuple):
    seconds: float
    """The time of all processors."""
    clock: float
    said: str


def run(words: Sequence[str]) -> Cost:
    """The resources of a process and its children.

    Raises: RuntimeError if it ends with another status than 0, or 1, which says that not all could be read.
    """
    before, start = os.times(), time.perf_counter()
    result = subprocess.run(words, capture_output=True, check=False, text=True)
    clock, after = time.perf_counter() - start, os.times()
    if result.returncode not in (0, 1) or "Traceback" in result.stderr:
        raise RuntimeError(f"{' '.join(words)}: {result.stderr}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(spent, clock, result.stdout)


def _own(workers: int, table: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "overthere", "links", "FILE", "-o", table, "--workers", str(workers))


def _commands(file_format: Format, table: str) -> list[_Command]:
    commands = [_Command("overthere", _own(1, table))]
    if file_format.name == "WAT":
        script = str(Path(__file__).with_name("wat_links.py"))
        for reader, job in _PEERS:
            if find_spec(reader) and find_spec("ujson"):
                commands.append(_Command(f"{reader}, {job}", (sys.executable, script, reader, job, "FILE")))
    return commands


def _first_record(file_format: Format, folder: str) -> str:
    """A file with the first record alone, which is a warcinfo."""
    from formats import members

    path = Path(folder, f"first-{Path(file_format.path).name}")
    path.write_bytes(gzip.compress(next(members(Path(file_format.path))).data))
    return str(path)


def _with_file(command: _Command, path: str) -> list[str]:
    return [path if word == "FILE" else word for word in command.words]


def format_rows(formats: Sequence[Format]) -> Iterator[Row]:
    """For each format and each reader: seconds of a core, and octets a core second without the start."""
    with TemporaryDirectory(dir=CACHE) as folder:
        table = f"{folder}/x.parquet"
        for item in formats:
            commands = _commands(item, table)
            small = _first_record(item, folder)
            costs: dict[str, list[Cost]] = {command.reader: [] for command in commands}
            starts: dict[str, list[Cost]] = {command.reader: [] for command in commands}
            links: dict[str, Any] = {}
            for round_number in range(ROUNDS):
                for command in rotate(commands, round_number):
                    starts[command.reader].append(run(_with_file(command, small)))
                    costs[command.reader].append(run(_with_file(command, item.path)))
                    if command.reader == "overthere":
                        links[command.reader] = _rows_of(table)
            for command in commands:
                name = command.reader
                seconds, start = (min(cost.seconds for cost in of[name]) for of in (costs, starts))
                counts = links.get(name) or json.loads(costs[name][0].said)
                yield _rates(item, seconds - start) | {"reader": name, "whole": seconds, "start": start, **counts}
            yield _in_process(item)


def _rates(file_format: Format, seconds: float) -> Row:
    return {
        "section": "formats", "format": file_format.name, "seconds": seconds, "file_octets": file_format.file_octets,
        "octets": file_format.octets, "packed_mb_s": round(file_format.file_octets / seconds / 1e6, 2),
        "mb_s": round(file_format.octets / seconds / 1e6, 2),
    }  # fmt: skip


def _rows_of(table: str) -> Row:
    import pyarrow.parquet as pq

    column = pq.read_table(table, columns=["reference", "where"])
    places: dict[str, int] = {}
    for reference, place in zip(*(column.column(name).to_pylist() for name in ("reference", "where")), strict=True):
        if reference is not None:
            places[place] = places.get(place, 0) + 1
    return {"links": sum(places.values()), "fields": places, "table": os.path.getsize(table)}


def _in_process(file_format: Format) -> Row:
    """Without the table, the summary and the start."""
    from overthere.links.job.sources import tasks
    from overthere.links.job.task_rows import TaskEnd, carry_out
    from overthere.links.model import Options

    options, bytes_read, rows = Options(), [], 0
    for _ in range(ROUNDS):
        start = time.process_time()
        batches = (batch for task in tasks([file_format.path], None, options) for batch in carry_out(task, options))
        rows = sum(batch.num_rows for batch in batches if not isinstance(batch, TaskEnd))
        bytes_read.append(time.process_time() - start)
    return _rates(file_format, min(bytes_read)) | {"reader": "overthere, rows only", "rows": rows}


def worker_rows(formats: Sequence[Format]) -> Iterator[Row]:
    """Seconds of the clock, and of processors, by the number of workers."""
    with TemporaryDirectory(dir=CACHE) as folder:
        for fmt in formats:
            costs: dict[int, list[Cost]] = {workers: [] for workers in WORKERS}
            for round_number in range(ROUNDS):
                for workers in rotate(WORKERS, round_number):
                    command = _Command("overthere", _own(workers, f"{folder}/x.parquet"))
                    costs[workers].append(run(_with_file(command, fmt.path)))
            for workers in WORKERS:
                clock = min(cost.clock for cost in costs[workers])
                yield {
                    "section": "workers", "format": fmt.name, "workers": workers, "clock": round(clock, 3),
                    "seconds": round(min(cost.seconds for cost in costs[workers]), 3),
                    "octets": fmt.octets, "file_octets": fmt.file_octets,
                    "mb_s": round(fmt.octets / clock / 1e6, 2), "packed_mb_s": round(fmt.file_octets / clock / 1e6, 2),
                    "cores": len(os.sched_getaffinity(0)), "load": round(os.getloadavg()[0], 1),
                }  # fmt: skip


def request_rows() -> Iterator[Row]:
    """Requests for ranges while an object of this many MiB is read from start to end."""
    from overthere.files.stores.model import Piece
    from overthere.files.stores.range_file import RangeFile

    for mib in (64, 200, 1024):
        size, count = mib << 20, 0

        def fetch(start: int, end: int, _: str, size: int = size) -> Piece:
            nonlocal count
            count += 1
            return Piece(bytes(end - start), size, "v")

        with RangeFile(fetch, size, "v") as file:
            while file.read(1 << 18):
                pass
        yield {"section": "requests", "mib": mib, "requests": count, "mib_each": round(mib / count, 2)}
