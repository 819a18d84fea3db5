"""Results of the native column functions: the Arrow PyCapsule Interface, and rows in Python."""

from __future__ import annotations

import gc
import operator
import weakref
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from overthere import columns, kernel

pytestmark = pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")

URLS = ["http://a.example/x?q#f", "a b", None, "http://b.example/a-path-that-is-longer-than-a-short-view"]
COLUMN = pa.array(URLS)
CHUNKS = pa.chunked_array([COLUMN, COLUMN.slice(1)])
HOSTS = ["a.example", None, None, "b.example"]


class Stream:
    """An Arrow stream of unknown length."""

    def __init__(self, reader: Any) -> None:
        self.reader = reader

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.reader.__arrow_c_stream__(requested_schema)


def results(column: Any) -> dict[str, Any]:
    """One result of each type."""
    return {
        "bool": columns.check(column),
        "views": columns.host(column),
        "text": columns.host(column, views=False),
        "struct": columns.split(column),
        "struct with errors": columns.parse(column),
    }


@pytest.mark.parametrize("name", results(COLUMN))
def test_python_rows_equal_those_of_pyarrow(name: str) -> None:
    single, chunks = results(COLUMN)[name], results(CHUNKS)[name]
    array, chunked = pa.array(single), pa.chunked_array(chunks)
    assert single.to_pylist() == array.to_pylist() == [single[i] for i in range(-4, 0)] == list(single)
    assert chunks.to_pylist() == chunked.to_pylist() == [chunks[i] for i in range(7)]
    assert (len(single), single.null_count) == (4, array.null_count)
    assert (len(chunks), chunks.null_count, chunks.num_chunks) == (7, chunked.null_count, 2)
    assert pa.field(single).type == array.type == pa.field(chunks).type == chunked.type
    assert single == results(COLUMN)[name] != chunks
    assert (single == array) is False
    with pytest.raises(TypeError):
        operator.lt(single, chunks)
    assert str(len(single)) in repr(single)
    assert single.nbytes > 0
    for wrong in (4, -5, 1 << 40):
        with pytest.raises(IndexError):
            single[wrong]


def test_numpy() -> None:
    valid = pa.array(["http://h/", "http://h/?q"])
    assert np.asarray(columns.check(valid)).tolist() == [True, True]
    assert columns.check(valid).to_numpy().dtype == bool  # type: ignore[attr-defined]
    assert np.asarray(columns.host(valid)).tolist() == ["h", "h"]
    with pytest.raises(ValueError, match="nulls"):
        np.asarray(columns.host(COLUMN))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_text_has_the_requested_type(kind: pa.DataType) -> None:
    assert pa.array(columns.host(COLUMN), kind).equals(pa.array(HOSTS, kind))
    hosts = columns.host(CHUNKS)
    assert pa.chunked_array(hosts, kind).equals(pa.chunked_array([HOSTS, HOSTS[1:]], kind))
    assert pa.chunked_array(columns.host(Stream(CHUNKS)), kind).to_pylist() == HOSTS + HOSTS[1:]
    struct = pa.struct([("scheme", kind), ("host", kind)])
    assert pa.array(columns.split(COLUMN, ["scheme", "host"]), struct).type == struct
    struct = pa.struct([("value", kind), ("error", kind), ("error_at", pa.uint32())])
    hosts = pa.array(columns.normalize(COLUMN, errors="detail"), struct)
    assert hosts.type == struct
    assert hosts.to_pylist()[1] == {"value": None, "error": "space", "error_at": 1}


def test_an_unsupported_requested_type_is_ignored() -> None:
    """A producer may return its own type (Arrow PyCapsule Interface, "Schema Requests")."""
    schema, array = columns.check(COLUMN).__arrow_c_array__(pa.int8().__arrow_c_schema__())  # type: ignore[attr-defined]
    assert pa.Array._import_from_c_capsule(schema, array).type == pa.bool_()


def test_a_stream_is_read_once() -> None:
    stream: Any = columns.host(Stream(CHUNKS))
    assert not hasattr(stream, "__len__")
    assert pa.field(stream).type == pa.string_view()
    assert not stream.closed
    assert pa.chunked_array(stream).to_pylist() == HOSTS + HOSTS[1:]
    assert stream.closed
    with pytest.raises(OSError, match="has been read"):
        pa.chunked_array(stream)
    assert "utf8view" in repr(stream).lower()


def test_errors_of_a_stream_reach_its_consumer() -> None:
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\x00\0\0\0\x01\0\0\0"), pa.py_buffer(b"\xff")])
    stream = columns.check(Stream(pa.chunked_array([COLUMN, broken])))
    with pytest.raises(ValueError, match="row 0: not UTF-8"):
        pa.chunked_array(stream)
    with pytest.raises(ValueError, match="row 0: not UTF-8"):
        columns.check(pa.chunked_array([COLUMN, broken]))


def test_a_panic_in_a_stream_is_an_error() -> None:
    from overthere import _native

    capsule = columns.check(Stream(CHUNKS)).__arrow_c_stream__()  # type: ignore[attr-defined]
    _native._panic(True)
    try:
        with pytest.raises(pa.ArrowInvalid, match=r"a bug in overthere's native kernel.*on purpose"):
            pa.ChunkedArray._import_from_c_capsule(capsule)
    finally:
        _native._panic(False)


class Capsules:
    """An object with the methods of the Arrow interface."""

    def __init__(self, **methods: Any) -> None:
        for name, value in methods.items():
            setattr(self, f"__arrow_c_{name}__", lambda value=value: value)


def test_consumed_capsules_are_rejected() -> None:
    schema, array = COLUMN.__arrow_c_array__()
    assert columns.check(Capsules(array=(schema, array))).to_pylist()[:2] == [True, False]  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="array has been consumed"):
        columns.check(Capsules(array=(schema, array)))
    schema, array = COLUMN.__arrow_c_array__()
    pa.Array._import_from_c_capsule(schema, array)
    with pytest.raises(ValueError, match="has been consumed"):
        columns.check(Capsules(array=(schema, array)))
    stream = CHUNKS.__arrow_c_stream__()
    pa.ChunkedArray._import_from_c_capsule(stream)
    with pytest.raises(ValueError, match="stream has been consumed"):
        columns.check(Capsules(stream=stream))


def test_objects_that_are_not_arrow_are_rejected() -> None:
    wrong: Any
    schema, array = COLUMN.__arrow_c_array__()
    for wrong in (["http://h/"], "http://h/", None, 5, b"x"):
        with pytest.raises(TypeError, match="expected an Arrow column"):
            columns.check(wrong)
    for wrong in (None, (), (schema,), (1, 2), [schema, array], schema):
        with pytest.raises((TypeError, IndexError)):
            columns.check(Capsules(array=wrong))
    with pytest.raises((TypeError, ValueError)):
        columns.check(Capsules(array=(array, schema)))
    for wrong in (None, schema, (schema, array)):
        with pytest.raises((TypeError, ValueError)):
            columns.check(Capsules(stream=wrong))


NOT_TEXT = {
    "numbers": pa.array([1]),
    "nothing": pa.nulls(3),
    "binary": pa.array([b"http://h/"]),
    "lists": pa.array([["a"]]),
    "structs": pa.array([{"a": "http://h/"}]),
    "a dictionary of numbers": pa.array([1]).dictionary_encode(),
    "runs": pc.run_end_encode(pa.array(["http://h/"])),
}


@pytest.mark.parametrize("name", NOT_TEXT)
def test_columns_that_are_not_text_are_rejected(name: str) -> None:
    for column in (NOT_TEXT[name], pa.chunked_array([NOT_TEXT[name]]), Stream(pa.chunked_array([NOT_TEXT[name]]))):
        with pytest.raises(TypeError, match="expected a text column, not"):
            columns.check(column)
    with pytest.raises(TypeError, match="expected a text column, not"):
        columns.resolve(pa.array(["x"] * len(NOT_TEXT[name])), NOT_TEXT[name])
    with pytest.raises(TypeError, match="expected a text column, not"):
        columns.check(pa.table({name: NOT_TEXT[name]}).to_reader())


def test_an_error_of_the_producer_is_passed_on() -> None:
    class Broken:
        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        columns.check(Broken())


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64()], ids=str)
def test_dictionary_columns_give_each_row_its_result(kind: pa.DataType) -> None:
    keys = pa.array([3, None, 0, 2, 1, 3], kind).slice(1)
    column = pa.DictionaryArray.from_arrays(keys, COLUMN)
    rows = pa.array([None, URLS[0], URLS[2], URLS[1], URLS[3]])
    for name, result in results(column).items():
        assert result.to_pylist() == results(rows)[name].to_pylist(), name
        assert pa.array(result).type == pa.array(results(rows)[name]).type, name
    bases = pa.DictionaryArray.from_arrays(keys, pa.array(["http://a/", None, "http://c/", "http://d/"]))
    targets = columns.resolve(pa.array(["x"] * 5), bases)
    assert pa.array(targets).to_pylist() == [None, "http://a/x", "http://c/x", None, "http://d/x"]


def test_bases_in_chunks() -> None:
    bases: list[Any] = [
        ["http://h/a-base-that-is-no-short-view/", None],
        [],
        ["http://i/", "http://j/another-that-is-long/"],
    ]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        targets = columns.resolve(pa.array(["x"] * 4), pa.chunked_array(bases, kind))
        assert pa.array(targets).to_pylist() == [base and base + "x" for chunk in bases for base in chunk]


def test_the_input_lives_as_long_as_a_result() -> None:
    """Views refer to its buffers."""
    parts = columns.split(pa.array([f"http://h/{'x' * 50}{i}" for i in range(1000)]))
    gc.collect()
    assert parts.to_pylist()[999]["path"] == f"/{'x' * 50}999"  # type: ignore[attr-defined]


def test_dropped_results_release_their_memory() -> None:
    buffer = pa.py_buffer(bytearray(b"http://h/"))
    before = weakref.ref(buffer)
    column = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\x09\0\0\0"), buffer])
    stream: Any = columns.host(Stream(pa.chunked_array([column])))
    capsule = stream.__arrow_c_stream__()
    del buffer, column, stream, capsule
    gc.collect()
    assert before() is None
