"""Arrow columns whose buffers contradict their type; each run is a process, whose exit status is checked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from overthere import columns, kernel

# On the reference kernel pyarrow reads the C structs itself (docs/security.md).
native = pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")
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


@native
@pytest.mark.parametrize("number", range(4))
def test_no_operation_crashes_on_changed_buffers(number: int) -> None:
    command = [sys.executable, "-c", PROGRAM, str(FUZZ), str(number)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    last = result.stdout.rsplit("\n", 2)[-2:]
    assert result.returncode == 0, f"{result.returncode}, at {last}: {result.stderr[-2000:]}"


def broken_column(kind: pa.DataType) -> pa.Array:
    """A column from an Arrow stream whose last offset is after the data; pyarrow does not check it."""
    width = pa.int32() if kind == pa.string() else pa.int64()
    array = pa.array(["http:", "ab"], kind)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([("a", kind)])) as writer:
        writer.write_batch(pa.record_batch([array], ["a"]))
    good, bad = (pa.array([0, 5, last], width).buffers()[1].to_pybytes() for last in (7, 2**30))
    size = 3 * width.bit_width // 8
    octets = sink.getvalue().to_pybytes().replace(good[:size], bad[:size])
    return pa.ipc.open_stream(octets).read_next_batch().column(0)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_last_offset_after_the_data_is_rejected(kind: pa.DataType) -> None:
    broken = broken_column(kind)
    for column in (broken, broken[1:], pa.chunked_array([broken])):
        for work in (columns.split, columns.normalize, columns.check, columns.encode):
            with pytest.raises(ValueError, match=r"(?i)offset|outside|length"):
                work(column)


@native
def test_a_pandas_series_is_checked_like_its_array() -> None:
    pandas = pytest.importorskip("pandas")
    broken = pa.chunked_array([broken_column(pa.large_string())])
    with pytest.raises(ValueError, match=r"(?i)offset|outside|length"):
        columns.split(pandas.Series(pandas.arrays.ArrowExtensionArray(broken)))
