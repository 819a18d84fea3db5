"""Arrow columns whose memory is not what their type says; each run is a process of its own, whose end is judged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from overthere import columns

FUZZ = Path(__file__).parents[2] / "fuzz"
PROGRAM = """
import random, sys
sys.path.append(sys.argv[1])
from laws import arrow
chance = random.Random(int(sys.argv[2]))
seeds = list(arrow.seeds())[int(sys.argv[2]) :: 4]
for seed in seeds + [bytes(chance.randrange(256) for _ in range(14)) for _ in range(150)]:
    print(seed.hex(), flush=True)
    arrow.run_all(seed.ljust(12, bytes(1)))
"""


@pytest.mark.parametrize("number", range(4))
def test_no_operation_on_changed_memory_ends_the_process(number: int) -> None:
    command = [sys.executable, "-c", PROGRAM, str(FUZZ), str(number)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    last = done.stdout.rsplit("\n", 2)[-2:]
    assert done.returncode == 0, f"{done.returncode}, at {last}: {done.stderr[-2000:]}"


def broken_column(kind: pa.DataType) -> pa.Array:
    """Out of an Arrow stream whose last offset is behind the data: pyarrow opens it unchecked."""
    width = pa.int32() if kind == pa.string() else pa.int64()
    whole = pa.array(["http:", "ab"], kind)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([("a", kind)])) as writer:
        writer.write_batch(pa.record_batch([whole], ["a"]))
    good, bad = (pa.array([0, 5, last], width).buffers()[1].to_pybytes() for last in (7, 2**30))
    size = 3 * width.bit_width // 8
    octets = sink.getvalue().to_pybytes().replace(good[:size], bad[:size])
    return pa.ipc.open_stream(octets).read_next_batch().column(0)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_last_offset_behind_the_data_is_rejected(kind: pa.DataType) -> None:
    broken = broken_column(kind)
    for some in (broken, broken[1:], pa.chunked_array([broken])):
        for work in (columns.split, columns.normalize, columns.check, columns.encode):
            with pytest.raises(ValueError, match=r"(?i)offset|outside|length"):
                work(some)


def test_series_of_pandas_is_checked_as_its_array_is() -> None:
    pandas = pytest.importorskip("pandas")
    broken = pa.chunked_array([broken_column(pa.large_string())])
    with pytest.raises(ValueError, match=r"(?i)offset|outside|length"):
        columns.split(pandas.Series(pandas.arrays.ArrowExtensionArray(broken)))
