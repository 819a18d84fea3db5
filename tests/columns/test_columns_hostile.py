"""Invalid Arrow dictionaries: every column function rejects them and names the row."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from growth import outgrows
from overthere import canonical, columns, kernel

# Arguments of a function after its column.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "add_parameters": ({"a": "1"},),
    "canonicalize": (canonical.SURT,),
    "parameter": ("a",),
    "relate": ("http://a/",),
    "resolve": ("http://a/",),
    "with_parameters": ({"a": "1"},),
    "without_parameters": ("a",),
}
PAIRS = ("equivalent", "lowest_rung")
NAMES = [name for name in columns.__all__ if inspect.isfunction(getattr(columns, name)) and name != "engine"]


def bind_arguments(name: str) -> Callable[[Any], Any]:
    """A column function with all arguments but the column."""
    return lambda c: getattr(columns, name)(c, *((c,) if name in PAIRS else ARGUMENTS.get(name, ())))


CALLS: dict[str, Callable[[Any], Any]] = {name: bind_arguments(name) for name in NAMES}
CALLS["base of resolve"] = lambda c: columns.resolve(pa.array(["x"] * len(c)), c)
CALLS["base of relate"] = lambda c: columns.relate(pa.array(["http://a/x"] * len(c)), c)

KEYS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


def dictionary(keys: list[int], kind: pa.DataType, values: list[str]) -> Any:
    """A dictionary column whose keys have not been checked."""
    indices = pa.array(keys, kind)
    return pa.DictionaryArray.from_arrays(indices, pa.array(values, pa.string()), safe=False)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("keys", "values"), [([0, 5], ["http://a/b"]), ([0, -3], ["http://a/b"]), ([0], [])])
def test_a_key_without_a_value_is_rejected(name: str, keys: list[int], values: list[str]) -> None:
    with pytest.raises(ValueError, match=r"(?i)dictionary|out of bounds|index"):
        pa.chunked_array([pa.array(CALLS[name](dictionary(keys, pa.int8(), values)))]).to_pylist()


@pytest.mark.parametrize("kind", KEYS, ids=str)
def test_keys_of_every_width(kind: pa.DataType) -> None:
    for wrong in (1, 2, 127):
        with pytest.raises(ValueError, match=r"(?i)dictionary|out of bounds|index"):
            columns.check(dictionary([0, wrong], kind, ["http://a/b"]))
    assert pa.array(columns.check(dictionary([0, 0], kind, ["http://a/b"]))).to_pylist() == [True, True]


def test_the_key_of_a_null_row_is_ignored() -> None:
    nulls = pa.Array.from_buffers(pa.int8(), 3, [pa.py_buffer(b"\x05"), pa.py_buffer(bytes([0, 99, 0]))])
    column = pa.DictionaryArray.from_arrays(nulls, pa.array(["http://a/b"]), safe=False)
    assert pa.array(columns.host(column)).to_pylist() == ["a", None, "a"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_a_slice_without_rows(kind: pa.DataType) -> None:
    column = pa.array(["http://h/a", "http://h/bb"], kind)
    for rows in (column.slice(1, 0), column.slice(2), pa.chunked_array([column.slice(2), column.slice(1)])):
        count = len(rows)
        assert len(columns.host(rows)) == len(columns.check(rows)) == len(columns.normalize(rows)) == count
        assert len(columns.repair(rows)) == count


def test_pandas_categories_are_accepted() -> None:
    polars = pytest.importorskip("polars")
    column = polars.Series(["http://a/ b", "http://a/x"], dtype=polars.Categorical)
    assert polars.Series(columns.repair(column)).to_list() == ["http://a/%20b", "http://a/x"]


def shared_dictionary(count: int) -> Any:
    """Chunks of one row that share a dictionary."""
    values = pa.array([f"http://h/{number}/a b" for number in range(count)])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array([number]), values) for number in range(count)])


def repeated_value(count: int) -> Any:
    """A dictionary of one long value, which every row has."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * count), pa.array(["http://h/ " + "a/" * 20 * count]))


@pytest.mark.parametrize("make", [shared_dictionary, repeated_value])
@pytest.mark.parametrize("name", CALLS)
def test_dictionaries_are_linear(name: str, make: Callable[[int], Any]) -> None:
    if name not in NAMES and kernel.name == "reference":
        pytest.skip("the reference kernel resolves row by row, and copies each base")
    assert outgrows(CALLS[name], make, (250, 1000, 4000), floor=0.05, ratio=12) is None


@pytest.mark.parametrize("kind", [pa.string(), pa.string_view()])
@pytest.mark.parametrize("name", CALLS)
def test_chunks_and_dictionaries_keep_their_layout(name: str, kind: pa.DataType) -> None:
    texts = ["http://h/a b?a=1", "http://h/a", None, "http://h/" + "a" * 20, "http://h/a"]
    values = pa.array(texts[:4], kind)
    rows = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 3, 1], pa.int8()), values)
    for column in (pa.array(texts, kind), rows):
        result = CALLS[name](column)
        in_chunks = CALLS[name](pa.chunked_array([column[:2], column[:0], column[2:]]))
        assert hasattr(result, "__arrow_c_array__")
        chunks = pa.chunked_array(in_chunks)
        if name in NAMES and name not in PAIRS:
            assert [len(chunk) for chunk in chunks.chunks] == [2, 0, 3]
        assert chunks.type == pa.array(result).type
        assert chunks.to_pylist() == pa.array(result).to_pylist() == to_rows(CALLS[name](pa.array(texts)))


def to_rows(column: Any) -> list[Any]:
    return list(pa.array(column).to_pylist())


def test_fewer_threads_work_where_the_system_gives_no_more() -> None:
    """As in a container with a limit of processes: it was reported as a bug of the kernel."""
    program = """
import os, resource
from overthere import columns
import pyarrow as pa

column = pa.array(["http://h/a"] * 100_000)
columns.host(column[:1], threads=1), columns.check(column[:1], threads=1).to_pylist()
if os.getuid() == 0:
    os.setuid(65534)  # the limit does not hold for root
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
print(len(columns.host(column, threads=4)), sum(columns.check(column, threads=4).to_pylist()))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("100000 100000\n", "")


def test_any_number_of_threads_is_taken() -> None:
    assert len(columns.check(pa.array(["x:"]), threads=1 << 64)) == 1
