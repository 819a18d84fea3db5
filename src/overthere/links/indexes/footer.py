"""Statistics in the footer of a Parquet file: the least and the greatest value of each column in each row group.

pyarrow 26 aborts the process if the metadata of a column is damaged, in `RowGroupMetaData.column` and in
`pyarrow.dataset`: the statistics are read here.  `ParquetFile.iter_batches` raises an exception.
"""

from __future__ import annotations

from typing import Any, BinaryIO

__all__ = ["Range", "read_ranges"]

Range = tuple[Any, Any]
"""Both are included; octets or numbers."""
_LARGEST = 1 << 23
"""Octets of a footer; of a larger one no statistics are read."""
_DEEPEST = 16


def read_ranges(file: BinaryIO) -> list[dict[bytes, Range]]:
    """For each row group its columns that have statistics; none at all if the footer is damaged.

    The numbers of the fields are those of `FileMetaData` in parquet.thrift.
    """
    end = file.seek(0, 2) - 8
    file.seek(max(0, end))
    size = int.from_bytes(file.read(4), "little")
    if not 0 < size <= min(end, _LARGEST):
        return []
    file.seek(end - size)
    try:
        footer = _Thrift(file.read(size)).value(12)
        return [dict(filter(None, map(_column_range, group[1]))) for group in footer[4]]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return []


def _column_range(chunk: Any) -> tuple[bytes, Range] | None:
    column = chunk[3]
    statistics = column.get(12, {})
    least, most = statistics.get(6), statistics.get(5)
    if not (isinstance(least, bytes) and isinstance(most, bytes)) or column[1] not in (1, 2, 6):
        return None  # INT32, INT64, BYTE_ARRAY
    if column[1] != 6:
        least, most = (int.from_bytes(value, "little", signed=True) for value in (least, most))
    return b".".join(column[3]), (least, most)


class _Thrift:
    """Values in the compact protocol of Thrift; each takes an octet at least, so that their number is limited."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def value(self, kind: int, depth: int = 0) -> Any:
        """A value; a struct is a dictionary by the numbers of its fields.  Raises: IndexError, ValueError."""
        match kind:
            case 1 | 2 | 3:
                return self._octets(1)[0]
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                return self._octets(8)
            case 8:
                return self._octets(self._number())
            case 9 | 10 if depth < _DEEPEST:
                head = self._octets(1)[0]
                count = head >> 4 if head >> 4 < 15 else self._number()
                return [self.value(head & 15, depth + 1) for _ in range(count)]
            case 12 if depth < _DEEPEST:
                fields: dict[int, Any] = {}
                number = 0
                while head := self._octets(1)[0]:
                    number = number + (head >> 4) if head >> 4 else self._signed()
                    fields[number] = None if head & 15 in (1, 2) else self.value(head & 15, depth + 1)
                return fields
            case _:
                raise ValueError  # Parquet has no maps

    def _octets(self, count: int) -> bytes:
        self.at += count
        if self.at > len(self.data):
            raise IndexError
        return self.data[self.at - count : self.at]

    def _number(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            octet = self._octets(1)[0]
            value |= (octet & 127) << shift
            if octet < 128:
                return value
        raise ValueError

    def _signed(self) -> int:
        value = self._number()
        return value >> 1 ^ -(value & 1)
