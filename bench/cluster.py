"""The measurements for docs/scale.md: each format and stage of the main job on one core, workers, and Spark.

Seconds are those of processors, not of the clock, and added up over all processes: other work on the machine lengthens
them less.  Spark is started for each measurement, which is taken twice in it: the first pays for warming up.

python bench/cluster.py [--size MB] [--only formats|stages|workers|requests|spark] [--save]

--save writes the rows into bench/results/cluster.jsonl, in place of those of the same sections, and draws
docs/pictures/workers.svg from them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crawl import CACHE, Crawl, crawl
from formats import formats
from overthere.links.job.sources import tasks
from overthere.links.job.task_rows import TaskEnd, carry_out
from overthere.links.model import Options
from overthere.links.report.summary import Summary
from overthere.links.report.table import open_writer
from throughput import format_rows, request_rows, worker_rows
from workers_plot import plot

Row = dict[str, Any]
SECTIONS = ("formats", "stages", "workers", "requests", "spark")
RESULTS = Path(__file__).with_name("results") / "cluster.jsonl"
PICTURE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "workers.svg"
OPTIONS = Options()
ROUNDS = 3


def _least_time(call: Callable[[], Any]) -> tuple[float, Any]:
    """The least processor time of some rounds, and what the last gave."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        result = call()
        times.append(time.process_time() - start)
    return min(times), result


# -- one process, stage by stage


def stages(about: Crawl) -> Iterator[Row]:
    """Seconds of a core for each stage, and what it has to do with: octets or rows.

    Records, heads and HTML are read in one pass: a crawl of as many octets without links shows the cost without rows.
    """
    with TemporaryDirectory(dir=CACHE) as folder:
        bare = Path(folder, "bare.warc.gz")
        octets = _without_links(Path(about.path), bare)
        plain, seconds_few = _least_time(lambda: _rows(str(bare)))
    seconds_one, seconds_many = _least_time(lambda: _rows(about.path))
    a_row = (seconds_one - plain) / (seconds_many - seconds_few)
    batches = [
        batch
        for task in tasks([about.path], None, OPTIONS)
        for batch in carry_out(task, OPTIONS)
        if not isinstance(batch, TaskEnd)
    ]
    counted, _ = _least_time(lambda: _count_batches(batches))
    seconds, size = _least_time(lambda: _write_batches(batches))
    yield {"stage": "records, HTTP, HTML", "seconds": plain - seconds_few * a_row, "octets": octets}
    yield {"stage": "rows", "seconds": seconds_many * a_row, "rows": seconds_many}
    yield {"stage": "summary", "seconds": counted, "rows": seconds_many}
    yield {"stage": "Parquet", "seconds": seconds, "rows": seconds_many, "size": size}


_LINKS = re.compile(rb"href|src(?=[ =])|https?:", re.IGNORECASE)


def _without_links(path: Path, out: Path) -> int:
    """Write the records again with other names of attributes, as long as they were.  Returns: octets of all."""
    size, data = 0, path.read_bytes()
    with out.open("wb") as file:
        while data:
            member = zlib.decompressobj(31)
            text = member.decompress(data)
            data = member.unused_data
            size += len(text)
            head, end, body = text.partition(b"\r\n\r\nHTTP/")
            packer = zlib.compressobj(6, zlib.DEFLATED, 31)
            changed = head + end + _LINKS.sub(lambda pair: pair[0][::-1], body)
            file.write(packer.compress(changed) + packer.flush())
    return size


def _rows(path: str) -> int:
    batches = (batch for task in tasks([path], None, OPTIONS) for batch in carry_out(task, OPTIONS))
    return sum(batch.num_rows for batch in batches if not isinstance(batch, TaskEnd))


def _count_batches(batches: list[Any]) -> None:
    summary = Summary()
    for batch in batches:
        summary.add(batch)


def _write_batches(batches: list[Any]) -> int:
    with TemporaryDirectory(dir=CACHE) as folder:
        path = Path(folder, "x.parquet")
        with open_writer(path) as writer:
            for batch in batches:
                writer.write(batch)
        return os.path.getsize(path)


# -- whole runs, each in processes of its own


def _session_times(session: int) -> tuple[float, dict[str, float]]:
    """Seconds of the processes of a session, with those that have ended; and the most MiB of a kind of them (Linux)."""
    ticks = 0
    most: dict[str, float] = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            name, _, tail = (process / "stat").read_text().rpartition(")")
            fields = tail.split()
            if int(fields[3]) != session:
                continue
            ticks += sum(map(int, fields[11:15]))
            kind = "java" if "java" in name else "python"
            for line in (process / "status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    most[kind] = max(most.get(kind, 0), round(int(line.split()[1]) / 1024))
    return ticks / os.sysconf("SC_CLK_TCK"), most


def _run_in_session(mode: str, master: str, path: str, output: str) -> Iterator[Row]:
    """In a process of its own: the job on Spark, twice; the time before it is that of starting."""
    start = time.perf_counter()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    from overthere.links import spark

    config = {"spark.log.level": "OFF", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    config |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.driver.memory": "1g"}
    session = SparkSession.builder.master(master).config(map=dict(config)).getOrCreate()
    began, _ = _session_times(os.getsid(0))
    yield {"way": "start", "seconds": began, "clock": time.perf_counter() - start}
    for run in ("first", "second", "again")[: 3 if mode == "files" else 2]:
        if run != "again":  # then each part is there, and what is left is Spark's own work
            shutil.rmtree(output, ignore_errors=True)
        before, start = _session_times(os.getsid(0))[0], time.perf_counter()
        if mode == "files":
            spark.run(session, path, output, octets=8 << 20)
        else:
            frame = spark.extract(spark.partitions(session, path, octets=8 << 20), part="part")
            frame.write.option("compression", "zstd").parquet(f"file://{output}")
        clock = time.perf_counter() - start
        spent, most = _session_times(os.getsid(0))
        yield {"way": mode, "turn": run, "master": master, "seconds": spent - before, "clock": clock, "mib": most,
               "size": sum(file.stat().st_size for file in Path(output).rglob("*.parquet"))}  # fmt: skip


def _runs(about: Crawl, larger: Crawl) -> Iterator[Row]:
    with TemporaryDirectory(dir=CACHE) as folder:
        for crawl, workers in ((about, "1"), (about, str(len(os.sched_getaffinity(0)))), (larger, "1")):
            order = [sys.executable, "-m", "overthere", "links", crawl.path, "-o", f"{folder}/x.parquet"]
            before, start = os.times(), time.perf_counter()
            subprocess.run([*order, "--workers", workers], capture_output=True, check=False)
            after = os.times()
            spent = after.children_user + after.children_system - before.children_user - before.children_system
            clock = time.perf_counter() - start
            yield {"way": "local", "workers": int(workers), "seconds": spent, "clock": clock, "pages": crawl.responses}
        for mode, master, crawl in (
            ("files", "local[1]", about), ("rows", "local[1]", about), ("files", "local[2]", about),
            ("files", "local[1]", larger), ("rows", "local[1]", larger),
        ):  # fmt: skip
            order = [sys.executable, __file__, "--within", mode, master, crawl.path, f"{folder}/{mode}"]
            result = subprocess.run(order, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True,
                                  start_new_session=True)  # fmt: skip
            yield from ({**json.loads(line), "pages": crawl.responses} for line in result.stdout.splitlines())


def _section(name: str, size: int) -> Iterator[Row]:
    match name:
        case "formats":
            yield from format_rows(formats(size, 4))
        case "workers":
            yield from worker_rows([item for item in formats(size, 4) if item.name != "WET"])
        case "requests":
            yield from request_rows()
        case "stages":
            about = crawl(size)
            yield {"crawl": about.describe()}
            for row in stages(about):
                unit = next(name for name in ("octets", "rows") if name in row)
                yield {**row, "of": unit, "each_ns": round(row["seconds"] / row[unit] * 1e9, 2)}
        case _:
            yield from _runs(crawl(size), crawl(size, 4))


def save(rows: list[Row]) -> None:
    """Rows in place of those of the same sections, and the plot of all."""
    new = {row["section"] for row in rows}
    results = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    rows = [row for row in results if row["section"] not in new] + rows
    rows.sort(key=lambda row: SECTIONS.index(row["section"]))
    RESULTS.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if picture := plot(rows):
        PICTURE.write_text(picture)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=20, help="MB of the crawl (20)")
    parser.add_argument("--only", choices=SECTIONS, help="one section")
    parser.add_argument("--save", action="store_true", help="keep the rows and draw the plot")
    parser.add_argument("--within", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.within:
        for row in _run_in_session(*options.within):
            print(json.dumps(row), flush=True)
        return
    rows = []
    for section in (options.only,) if options.only else SECTIONS:
        for row in _section(section, options.size * 1_000_000):
            rows.append({"section": section} | row)
            print(json.dumps(rows[-1]), flush=True)
    if options.save:
        save(rows)


if __name__ == "__main__":
    main()
