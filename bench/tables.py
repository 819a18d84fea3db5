"""Whole columns: each engine runs in its own process, with one thread or two, in rounds of rotated order."""

from __future__ import annotations

import gc
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

import standard
from corpus import CACHE, Corpus
from engines import ENGINES, TELLS, Calls, Inputs, rows
from floors import floors
from memory import peak_of_call
from mixed_input import SHARES, mix
from rounds import rotate, summary
from standard import REFUSED, Share, call_or_refused, share

OPERATIONS = ("split", "host", "check", "parse", "normalize", "normalize by scheme", "resolve", "encode", "decode")
_FLOORS = ("memcpy", "compare", "look up", "validate", "read")
_LEAST_ROUNDS = 2
_WHATWG = frozenset({"loop, can_ada"})
_MAKE: dict[str, Callable[[Inputs, int], Calls]] = {**ENGINES, "floors": floors}

Key = tuple[str, int]

DIRTY = ("check", "parse", "normalize")
"""Operations that are measured on columns with bad rows too."""
DIRTY_ROWS = 200_000


def _dirty(operation: str, bad: int) -> str:
    """The operation on a column with this percentage of rows that are no URIs."""
    return f"{operation}, {bad} % bad"


def _keys() -> list[Key]:
    return [(name, threads) for name in _MAKE for threads in ((1,) if name.startswith("loop") else (1, 2))]


def _ask(engine: str, threads: int, operation: str, data: Inputs) -> list[Any]:
    """An engine's answers row by row; if it rejects the column for one of its rows, that row is run separately."""
    results = call_or_refused(lambda: rows(_MAKE[engine](data, threads)[operation]()))
    if results is not REFUSED:
        return results  # type: ignore[no-any-return]
    if len(data.texts) == 1:
        return [REFUSED]
    alone = [
        replace(data, texts=t, references=t, encoded=t) for t in (data.texts[i : i + 1] for i in range(len(data.texts)))
    ]
    return [answer for text in alone for answer in _ask(engine, threads, operation, text)]


def agrees(engine: str, threads: int, operation: str) -> Share:
    """The number of fixed rows with the standard's answer."""
    # The engine that discards its results computes the same ones.
    name = engine.partition(", result")[0]

    def ask(texts: list[str], base: str = "http://a/b/c/d;p?q") -> list[Any]:
        column = pa.array(texts, pa.string())
        return _ask(name, threads, operation, Inputs(column, column, column, base))

    if operation in ("split", "host", "check", "parse"):
        cases = standard.valid(uris_only=operation in ("check", "parse"))
        bad = standard.invalid() if operation in ("check", "parse") else []
        found = ask([text for text, _ in cases] + bad)
        right = [_is_same(operation, name, expected, got) for (_, expected), got in zip(cases, found, strict=False)]
        return share(right + [_says_invalid(operation, got) for got in found[len(cases) :]])
    if operation == "resolve":
        return share([got == target for base, text, target in standard.targets() for got in ask([text], base)])
    if operation == "encode":
        found = ask(standard.ENCODE)
        right = [
            call_or_refused(standard.encodes, d, got) is True for d, got in zip(standard.ENCODE, found, strict=True)
        ]
        return share(right)
    forms = {"normalize": "PATH", "normalize by scheme": "SCHEME"}
    normal = standard.normal_forms(forms[operation]) if operation in forms else standard.DECODE
    found = ask([text for text, _ in normal])
    return share([(REFUSED if got is None else got) == answer for (_, answer), got in zip(normal, found, strict=True)])


def _is_same(operation: str, engine: str, expected: standard.Six, got: Any) -> bool:
    if operation == "check":
        return got in (True, 1)
    if operation == "host":
        got = (None, got, None, "", None, None)
        expected = (None, expected[1], None, "", None, None)
    if got is REFUSED or got[3] is None:
        return False
    if engine == "chdb":
        got = (*got[:2], got[2] or None, *got[3:])  # without one its port is 0
    return standard.is_same(expected, standard.six(got, whatwg=engine in _WHATWG), exact=engine in TELLS)


def _says_invalid(operation: str, got: Any) -> bool:
    """Whether an answer says that the row is no URI."""
    return got in (False, 0, None, REFUSED) if operation == "check" else got is REFUSED or not got[0]


def _work(engine: str, threads: int, file: str, pipe: Connection) -> None:
    """A worker: it answers ("has" | "time" | "peak" | "agrees", operation) until it receives the command to stop."""
    with pa.OSFile(file) as source:
        table = pa.ipc.open_file(source).read_all()
    columns = [table[name].combine_chunks() for name in ("text", "reference", "encoded")]
    calls = _MAKE[engine](Inputs(*columns), threads)
    for bad in SHARES if threads == 1 and engine != "floors" else ():
        column = table[_column(bad)].combine_chunks().drop_null()
        operations = _MAKE[engine](Inputs(column, column, column), threads)
        calls |= {_dirty(name, bad): operations[name] for name in DIRTY if name in operations}
    short = _MAKE[engine](Inputs(*(column.slice(0, 1000) for column in columns)), threads)
    for task, operation in iter(pipe.recv, None):
        if task == "has":
            pipe.send(operation in calls)
        elif task == "agrees":
            pipe.send(tuple(agrees(engine, threads, operation)))
        elif task == "peak":
            short[operation]()  # one-time costs of the engine do not count
            pipe.send(peak_of_call(calls[operation]))
        else:
            gc.collect()
            gc.disable()
            if not engine.startswith("loop"):
                # While others worked, a virtual machine may have lost the memory that was used last.
                calls[operation]()
            start = time.perf_counter()
            result = calls[operation]()
            seconds = time.perf_counter() - start
            gc.enable()
            del result
            pipe.send(seconds)


class _Worker:
    def __init__(self, key: Key, file: str) -> None:
        os.environ["POLARS_MAX_THREADS"] = str(key[1])  # read when it is imported
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(*key, file, other), daemon=True)
        self.process.start()
        other.close()

    def ask(self, task: str, operation: str) -> Any:
        self.pipe.send((task, operation))
        return self.pipe.recv()

    def stop(self) -> None:
        with suppress(OSError):
            self.pipe.send(None)
        self.process.join(10)


def _column(bad: int) -> str:
    return f"{bad} % bad"


def _columns(corpus: Corpus) -> pa.Table:
    encoded = pa.array([quote(text, safe="") for text in corpus.texts])
    table = corpus.table.select(["text", "reference"]).combine_chunks().append_column("encoded", encoded)
    for bad in SHARES:
        texts = mix(corpus.texts[:DIRTY_ROWS], bad)
        column = pa.array([*texts, *[None] * (len(table) - len(texts))], pa.string())
        table = table.append_column(_column(bad), column)
    return table


@contextmanager
def _workers(table: pa.Table) -> Iterator[dict[Key, _Worker]]:
    CACHE.mkdir(parents=True, exist_ok=True)
    file = CACHE / "columns.arrow"
    with pa.OSFile(str(file), "wb") as target, pa.ipc.new_file(target, table.schema) as writer:
        writer.write_table(table)
    workers = {}
    try:
        for key in _keys():
            workers[key] = _Worker(key, str(file))
            workers[key].ask("has", "")  # one after the other
        yield workers
    finally:
        for worker in workers.values():
            worker.stop()
        file.unlink()


def measure(corpus: Corpus, rounds: int = 7, budget: float = 12.0) -> Iterable[list[dict[str, Any]]]:
    """Every operation with every engine that has it."""
    table = _columns(corpus)
    octets = {name: pc.sum(pc.binary_length(table[name])).as_py() for name in table.column_names}
    inputs = {"resolve": "reference", "decode": "encoded"}
    with _workers(table) as workers:
        for operation in (*OPERATIONS, *_FLOORS):
            able = {key: worker for key, worker in workers.items() if worker.ask("has", operation)}
            if able:
                sizes = (len(table), octets[inputs.get(operation, "text")])
                yield _operation(operation, able, sizes, rounds, budget)
        for operation in DIRTY:
            rows = []
            for bad in SHARES:
                name = _dirty(operation, bad)
                able = {key: worker for key, worker in workers.items() if worker.ask("has", name)}
                sizes = (len(table) - table[_column(bad)].null_count, octets[_column(bad)])
                extra = {"section": "dirty columns", "operation": operation, "list": f"{bad} %"}
                rows += [row | extra for row in _operation(name, able, sizes, rounds, budget)]
            yield rows


def _operation(
    operation: str, workers: dict[Key, _Worker], sizes: tuple[int, int], rounds: int, budget: float
) -> list[dict[str, Any]]:
    memory = {key: worker.ask("peak", operation) for key, worker in workers.items()} if operation == "split" else {}
    times: dict[Key, list[float]] = {key: [] for key in workers}
    for round_number in range(rounds):
        for key in rotate(list(workers), round_number):
            if len(times[key]) < _LEAST_ROUNDS or sum(times[key]) <= budget:
                times[key].append(workers[key].ask("time", operation))
    rows = []
    for (engine, threads), worker in workers.items():
        row = {
            "section": "floors" if engine == "floors" else "columns",
            "operation": operation,
            "peer": "floor" if engine == "floors" else engine,
            "threads": threads,
            **summary(times[engine, threads], sizes[0]),
        }
        row["mb_s"] = round(sizes[1] / row["seconds"] / 1e6)
        if other := times.get((engine, 1)):
            row["speedup"] = round(summary(other, 1)["seconds"] / row["seconds"], 2)
        if operation == "split":
            row["peak_mib"] = memory[engine, threads]
        if engine != "floors":
            row |= Share(*worker.ask("agrees", operation.partition(",")[0])).row()
        rows.append(row)
    return rows
