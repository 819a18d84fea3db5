"""Arrow columns whose memory is not what their type says: no operation ends the process.

pyarrow knows the sizes of its buffers, so that every change of them is found.  Arrays of Arrow's C data interface have
no sizes: for them the numbers and pointers of the struct are changed, and octets within the buffers.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from overthere import Rung, columns

WORDS = (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\0" * 8, b"\x0d\0\0\0", b"\x01\0\0\0\0\0\0\0")
LONGEST = 64
AFTER = "a row to tests/columns/test_arrow_memory.py"

TEXTS = ["http://a.example/b?c#d", None, "", "HTTP://H:80/../\u00e9", "git://h:9418/a-long-way/to/go", "x"] * 3
DISTINCT = ["http://a/", None, "http://a-long-name.example/"]
BASES: tuple[Callable[[], Any], ...] = (
    lambda: pa.array(TEXTS),
    lambda: pa.array(TEXTS, pa.large_string()),
    lambda: pa.array(TEXTS, pa.string_view()),
    lambda: pa.array(TEXTS)[3:11],
    lambda: pa.array(TEXTS, pa.large_string())[5:],
    lambda: pa.array(TEXTS, pa.string_view())[2:9],
    lambda: pa.array([TEXTS[0]] * 5),
    lambda: pa.DictionaryArray.from_arrays(pa.array([0, 2, 1, None, 0], pa.int8()), pa.array(DISTINCT)),
    lambda: pa.DictionaryArray.from_arrays(pa.array([0, 2, 1, 2], pa.uint64()), pa.array(DISTINCT, pa.large_string())),
    lambda: pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.int32()), pa.array(DISTINCT, pa.string_view())),
    lambda: pa.array([], pa.string()),
)
OPERATIONS: tuple[Callable[[Any], Any], ...] = (
    columns.split, columns.parse, columns.check, columns.host, columns.normalize, columns.encode, columns.decode,
    lambda column: columns.normalize(column, Rung.SCHEME),
    lambda column: columns.resolve(column, "http://h/"),
    lambda column: columns.split(column, views=False),
    columns.registrable_domain, columns.to_iri,
)  # fmt: skip
PYARROW_OPERATIONS: tuple[Callable[[Any], Any], ...] = (
    columns.repair, lambda column: columns.equivalent(column, column),
    lambda column: columns.normalize(pa.chunked_array([column])),
)  # fmt: skip
"""Operations that pass a column to pyarrow first, which checks no imported struct."""

# For the first fields of `struct ArrowArray`: length, null_count, offset, n_buffers.
_VALUES = (-1, -(2**63), 2**63 - 1, 2**62, 0, 1, 2, 99, 2**31, 2**40)


def _changed_buffers(array: Any, data: bytes) -> Any:
    """An array with one buffer missing, cut or changed."""
    if pa.types.is_dictionary(array.type):
        keys, values = array.indices, array.dictionary
        if data[0] % 2:
            return pa.DictionaryArray.from_arrays(_changed_buffers(keys, data[1:]), values, safe=False)
        return pa.DictionaryArray.from_arrays(keys, _changed_buffers(values, data[1:]), safe=False)
    buffers = array.buffers()
    at, change, place, *octets = data[0] % len(buffers), data[1] % 4, data[2], *data[3:]
    buffer = buffers[at]
    if buffer is None:
        buffers[at] = pa.py_buffer(bytes(octets[:4])) if change else None
    elif change == 0:
        buffers[at] = None
    elif change == 1:
        buffers[at] = pa.py_buffer(buffer.to_pybytes()[: buffer.size * place // 256])
    else:
        copy = bytearray(buffer.to_pybytes())
        # Numbers are most of a buffer of offsets or views.
        start = len(copy) * place // 256 // 4 * 4
        copy[start : start + len(octets)] = octets[: len(copy) - start]
        buffers[at] = pa.py_buffer(bytes(copy))
    return _read_unchecked(array, at, buffers[at])


def _read_unchecked(array: Any, at: int, buffer: Any) -> Any:
    """The array of an Arrow stream in which one buffer has other octets: no reader compares them."""
    before = array.buffers()[at]
    copy = pa.array(array.to_pylist(), array.type)
    kept = copy.buffers()[at]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([("a", array.type)])) as writer:
        writer.write_batch(pa.record_batch([copy], ["a"]))
    octets = sink.getvalue().to_pybytes()
    if before is None or buffer is None or kept is None or not kept.size:
        return copy
    old = kept.to_pybytes()
    new = buffer.to_pybytes()[: len(old)].ljust(len(old), b"\0")
    place = octets.rfind(old)  # the description of the batch precedes its buffers
    return pa.ipc.open_stream(octets[:place] + new + octets[place + len(old) :]).read_next_batch().column(0)


class _Exported:
    """An array of the C data interface with one changed number or pointer."""

    def __init__(self, array: Any, data: bytes) -> None:
        self.array, self.data = array, data

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        schema, capsule = self.array.__arrow_c_array__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        struct = ctypes.cast(pointer(capsule, b"arrow_array"), ctypes.POINTER(ctypes.c_int64))
        self._change(struct)
        return schema, capsule

    def _change(self, struct: Any) -> None:
        field, value = self.data[0] % 9, _VALUES[self.data[1] % len(_VALUES)]
        if field == 0 and 0 <= value <= 2**40:
            value = min(value, struct[0])  # that there are more rows than octets, nothing tells
        if field == 2 and 0 <= value <= 2**40:
            value = 0
        if field == 3 and 0 < value <= 2**40:
            value = struct[3] - 1  # the struct's number of pointers is read
        if field < 4:  # the producer's own `release` reads the number of children
            struct[field] = value
        elif field == 5:
            buffers = ctypes.cast(struct[5], ctypes.POINTER(ctypes.c_int64))
            buffers[self.data[1] % max(struct[3], 1)] = 0
        elif field == 7:
            struct[7] = 0
        elif field == 6:
            struct[6] = 0


def _case(data: bytes) -> Any:
    array = BASES[data[1] % len(BASES)]()
    return _Exported(array, data[2:]) if data[0] % 3 == 0 else _changed_buffers(array, data[2:])


def run_all(data: bytes) -> None:
    """Run every operation; any result is accepted, unless it is a bug of the kernel.  Raises: AssertionError."""
    from overthere.ground.errors import KernelBug

    is_exported = data[0] % 3 == 0
    for operation in OPERATIONS if is_exported else OPERATIONS + PYARROW_OPERATIONS:
        try:
            operation(_case(data))
        except KernelBug:
            raise AssertionError("a panic") from None
        except (ValueError, TypeError, OSError, pa.ArrowException, OverflowError, MemoryError):
            pass


def check(data: bytes) -> None:
    """data: the changed part, the array, and the change.  The operations are run in a process of their own."""
    data = data.ljust(12, b"\0")
    child = os.fork()
    if not child:
        status = 1
        try:
            run_all(data)
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    end = os.waitstatus_to_exitcode(status)
    assert end == 0, f"the process ended with {signal.Signals(-end).name if end < 0 else end}"


def seeds() -> Iterator[bytes]:
    for array in range(len(BASES)):
        for at in range(4):
            yield bytes((1, array, at, 0, 0))
            yield bytes((1, array, at, 1, 128))
            yield bytes((1, array, at, 2, 0)) + b"\xff\xff\xff\x7f"
            yield bytes((1, array, at, 2, 250)) + b"\xff\xff\xff\x7f\xff\xff\xff\x7f"
        for field in range(9):
            for value in range(len(_VALUES)):
                yield bytes((0, array, field, value))
