"""Whole columns of IRIs on one thread, compared with library loops and with the column of the URIs that they map to."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any

import ada_url
import can_ada
import pyarrow as pa
import yarl

import standard
from overthere import columns
from peers import NAMES, OWN
from rounds import rotate, summary
from standard import REFUSED, Share, call_or_refused, share

ROWS = 200_000
URIS = "overthere, the URIs that are meant"
Work = Callable[[Any], Any]


def _loop(work: Callable[[str], Any]) -> Work:
    """A loop over the rows, with null for what is refused."""

    def loop(column: Any) -> Any:
        answers = (call_or_refused(work, text) for text in column.to_pylist())
        return pa.array([None if answer is REFUSED else answer for answer in answers])

    return loop


_SAFE = "!#$%&'()*+,/:;=?@[]~"
# Operation -> what is done with IRIs, and what own does with the URIs that they map to.
OPERATIONS: dict[str, tuple[dict[str, Work], Work | None]] = {
    "column: is it an IRI": (
        {
            OWN: lambda c: columns.check(c, "IRI", threads=1),
            "loop, can_ada": _loop(can_ada.can_parse),
            "loop, ada_url": _loop(ada_url.check_url),
        },
        lambda c: columns.check(c, threads=1),
    ),
    "column: IRI to URI": (
        {
            OWN: lambda c: columns.to_uri(c, threads=1),
            "loop, urllib.parse": _loop(lambda t: NAMES["quote"](t, safe=_SAFE)),
            "loop, can_ada": _loop(lambda t: str(can_ada.parse(t))),
        },
        lambda c: columns.to_uri(c, threads=1),
    ),
    "column: URI to IRI": (
        {
            OWN: lambda c: columns.to_iri(c, threads=1),
            "loop, yarl": _loop(lambda t: yarl.URL(t, encoded=True).human_repr()),
        },
        None,
    ),
    "column: normal form of an IRI": (
        {OWN: lambda c: columns.normalize(c, iri=True, threads=1)},
        lambda c: columns.normalize(c, threads=1),
    ),
    "column: resolve an IRI": (
        {OWN: lambda c: columns.resolve(c, "http://a/b/c/d;p?q", iri=True, threads=1)},
        lambda c: columns.resolve(c, "http://a/b/c/d;p?q", threads=1),
    ),
}


def _agrees(operation: str, work: Work) -> Share | None:
    """The number of rows of tests/cases/iri.toml, for reading also of invalid.toml, with the standard's answer."""
    rows = standard.iris()
    if operation == "column: is it an IRI":
        bad = [text for text in standard.invalid() if text.isascii()]
        results = pa.array(work(pa.array([*[iri for iri, _, _ in rows], *bad]))).to_pylist()
        return share([bool(result) == (number < len(rows)) for number, result in enumerate(results)])
    source, expected = {"column: IRI to URI": (0, 1), "column: URI to IRI": (1, 2)}.get(operation, (0, None))
    if expected is None:
        return None
    results = pa.array(work(pa.array([row[source] for row in rows]))).to_pylist()
    return share([result == row[expected] for result, row in zip(results, rows, strict=True)])


def _column(texts: list[str], rows: int) -> Any:
    return pa.array((texts * (rows // len(texts) + 1))[:rows])


def measure(
    iris: list[str], uris: list[str], rounds: int, budget: float, rows: int = ROWS
) -> Iterator[list[dict[str, Any]]]:
    """The rows of each operation: nanoseconds a row."""
    of_iris, of_uris = _column(iris, rows), _column(uris, rows)
    for operation, (peers, of_own) in OPERATIONS.items():
        table = of_uris if operation == "column: URI to IRI" else of_iris
        calls = {name: (work, table) for name, work in peers.items()}
        if of_own is not None:
            calls[URIS] = (of_own, of_uris)
        times: dict[str, list[float]] = {name: [] for name in calls}
        for round_number in range(rounds):
            for name in rotate(list(calls), round_number):
                if times[name] and sum(times[name]) > budget:
                    continue
                gc.collect()
                work, column = calls[name]
                start = time.process_time()
                work(column)
                times[name].append(time.process_time() - start)
        found = []
        for name in calls:
            row = {"section": "iris", "operation": operation, "peer": name, **summary(times[name], rows)}
            right = None if name == URIS else _agrees(operation, calls[name][0])
            found.append(row | (right.row() if right else {}))
        yield found
