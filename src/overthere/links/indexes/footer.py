"""Statistics in the footer of a Parquet file: the minimum and maximum of each column in each row group.

pyarrow 26 aborts the process if the metadata of a column is damaged, in `RowGroupMetaData.column` and in
`pyarrow.dataset`, so the statistics are read here.  `ParquetFile.iter_batches` raises an exception.

pyarrow needs 300 times the memory of a footer with many structs, so such a footer is rejected before pyarrow reads it.
"""

from __future__ import annotations

from typing import Any, BinaryIO

Range = tuple[Any, Any]
"""The minimum and the maximum, both included; bytes or numbers."""
_MAX_FOOTER_BYTES = 1 << 23
_MAX_STRUCTS = 1 << 18
"""Maximum bytes of a footer, and structs in it: there are about four for each column of each row group."""
_MAX_DEPTH = 16


class LargeFooter(ValueError):
    """The footer is larger than the limit."""


def read_ranges(file: BinaryIO) -> list[dict[bytes, Range]]:
    """Return, for each row group, the ranges of its columns with statistics; [] if they are damaged.

    The numbers of the fields are those of `FileMetaData` in parquet.thrift.

    Raises: LargeFooter; ValueError or IndexError if the footer is damaged.
    """
    end = file.seek(0, 2) - 8
    file.seek(max(0, end))
    size = int.from_bytes(file.read(4), "little")
    if not 0 < size <= end or file.read(4) != b"PAR1":
        raise ValueError
    if size > _MAX_FOOTER_BYTES:
        raise LargeFooter
    file.seek(end - size)
    footer = _Thrift(file.read(size)).read_value(12)
    try:
        return [dict(filter(None, map(_read_range, group[1]))) for group in footer[4]]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return []


def _read_range(chunk: Any) -> tuple[bytes, Range] | None:
    column = chunk[3]
    statistics = column.get(12, {})
    minimum, maximum = statistics.get(6), statistics.get(5)
    if not (isinstance(minimum, bytes) and isinstance(maximum, bytes)) or column[1] not in (1, 2, 6):
        return None  # INT32, INT64, BYTE_ARRAY
    if column[1] != 6:
        minimum, maximum = (int.from_bytes(value, "little", signed=True) for value in (minimum, maximum))
    return b".".join(column[3]), (minimum, maximum)


class _Thrift:
    """Reads values of the compact protocol of Thrift; each has at least one byte, which limits their number."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.structs = data, 0, 0

    def read_value(self, kind: int, depth: int = 0) -> Any:
        """Read a value; a struct becomes a dictionary by field number.  Raises: IndexError, ValueError, LargeFooter."""
        match kind:
            case 1 | 2 | 3:
                return self._read_bytes(1)[0]
            case 4 | 5 | 6:
                return self._read_signed()
            case 7:
                return self._read_bytes(8)
            case 8:
                return self._read_bytes(self._read_number())
            case 9 | 10 if depth < _MAX_DEPTH:
                head = self._read_bytes(1)[0]
                count = head >> 4 if head >> 4 < 15 else self._read_number()
                return [self.read_value(head & 15, depth + 1) for _ in range(count)]
            case 12 if depth < _MAX_DEPTH:
                self.structs += 1
                if self.structs > _MAX_STRUCTS:
                    raise LargeFooter
                fields: dict[int, Any] = {}
                number = 0
                while head := self._read_bytes(1)[0]:
                    number = number + (head >> 4) if head >> 4 else self._read_signed()
                    fields[number] = None if head & 15 in (1, 2) else self.read_value(head & 15, depth + 1)
                return fields
            case _:
                raise ValueError  # Parquet has no maps

    def _read_bytes(self, count: int) -> bytes:
        self.at += count
        if self.at > len(self.data):
            raise IndexError
        return self.data[self.at - count : self.at]

    def _read_number(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._read_bytes(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError

    def _read_signed(self) -> int:
        value = self._read_number()
        return value >> 1 ^ -(value & 1)
