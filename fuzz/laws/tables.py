"""A table of links is read as it was, by pyarrow, csv and json; plain Python writes the same."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from overthere import URI, kernel
from overthere.links.model import Link
from overthere.links.report.batch import COLUMNS, Batch, to_batch
from overthere.links.report.table import layout

WORDS = tuple(text.encode() for text in ("\n", "\0", '"', "\\", "=1", "é", "http://h/", "//", "%41", "a" * 300))
LONGEST = 2048
_FLAGS = {"true": "True", "false": "False"}
_READERS: dict[str, Callable[[bytes], Any]] = {
    ".parquet": lambda file: pq.read_table(pa.py_buffer(file)),
    ".arrow": lambda file: pa.ipc.open_file(file).read_all(),
    ".arrows": lambda file: pa.ipc.open_stream(file).read_all(),
}
AFTER = "tests/links/test_link_batch.py"


def seeds() -> list[bytes]:
    return [b"", b"a\nb\nhttp://h/x\nmailto:a@b", "\u00e9\nHTTP://H/\n//\n=1\n'@".encode()]


def check(data: bytes) -> None:
    """data: a number, and the texts of the cells, each on its line."""
    texts: list[str | None] = [*data.decode("utf-8", "replace").split("\n"), None, ""]
    draw = random.Random(data)
    rows = [_row(texts, draw) for _ in range(draw.choice((0, 1, 3, 40)))]
    batch, plain = to_batch(rows), Batch(rows)
    assert batch.json_lines() == plain.json_lines()
    assert batch.csv_lines(True) == plain.csv_lines(True)
    assert batch.pairs() == plain.pairs()
    assert [json.loads(line) for line in batch.json_lines().split(b"\n")[:-1]] == [row._asdict() for row in rows]
    cells = [["" if value is None else str(value) for value in row] for row in rows]
    read = csv.reader(io.StringIO(batch.csv_lines(False).decode(), newline=""))
    assert [[_FLAGS.get(cell, cell) for cell in row] for row in read] == [
        [_FLAGS.get(cell, cell) for cell in row] for row in cells
    ]
    if kernel.name == "native":
        form, read_table = draw.choice([*_READERS.items()])
        encoder = COLUMNS.encoder(layout()._replace(form=form))
        assert encoder is not None
        pending = iter(rows)
        groups = []
        while part := list(islice(pending, draw.choice((1, 7, 64)))):
            groups.append(encoder.write([to_batch(part[:3]), to_batch(part[3:])]))
        table = read_table(b"".join([*groups, encoder.end([])]))
        table.validate(full=True)
        assert [tuple(row.values()) for row in table.to_pylist()] == [tuple(row) for row in rows]


def _row(texts: list[str | None], draw: random.Random) -> Link:
    source, *cells = (draw.choice(texts) for _ in Link._fields)
    flag, number = draw.choice((None, True, False)), draw.choice((None, 0, -1, 2**63 - 1, -(2**63)))
    row = Link._make([source or "", *cells])
    uris = [text for text in texts if text is None or URI.can_parse(text)]
    return row._replace(same_document=flag, error_at=number, base=draw.choice(uris), target=draw.choice(uris))
