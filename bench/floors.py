"""Lower limits for column engines, measured like an engine: the same worker, the same rounds.

memcpy: the bytes of the column, copied by numpy.  compare: one pass that asks of every byte whether it is greater
than 32, in numpy's vector instructions.  look up: one pass that looks every byte up in a table of 256, by numpy's take.
read: the column read from Parquet by pyarrow.  validate: the checks of an Arrow array before any work, of its offsets
and UTF-8, with every row null, so that a row only costs writing another null.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpus import FILE
from engines import Calls, Inputs
from overthere import columns


def floors(data: Inputs, threads: int) -> Calls:
    """The floors as the operations of an engine."""
    pool = ThreadPoolExecutor(threads)
    octets = np.frombuffer(data.texts.buffers()[2], dtype=np.uint8)
    copy, flags = np.empty_like(octets), np.empty(len(octets), dtype=np.bool_)
    table = np.zeros(256, dtype=np.uint8)
    step = -(-len(octets) // threads)
    slices = [slice(at, at + step) for at in range(0, len(octets), step)]

    def ask(work: Callable[[slice], Any]) -> Callable[[], Any]:
        return lambda: list(pool.map(work, slices))

    pa.set_cpu_count(threads)
    every_row_null = pa.py_buffer(bytes(len(data.texts) // 8 + 1))
    nulls = pa.Array.from_buffers(data.texts.type, len(data.texts), [every_row_null, *data.texts.buffers()[1:]])

    def read() -> Any:
        return pq.read_table(FILE, columns=["text"], use_threads=threads > 1)

    return {
        "memcpy": ask(lambda part: np.copyto(copy[part], octets[part])),
        "compare": ask(lambda part: np.greater(octets[part], 32, out=flags[part])),
        "look up": ask(lambda part: np.take(table, octets[part], out=copy[part], mode="clip")),
        "validate": lambda: columns.host(nulls, threads=threads),
        **({"read": read} if pq.read_metadata(FILE).num_rows == len(data.texts) else {}),
    }
