"""The link table on disk: Parquet in streamed row groups, CSV or JSON lines; one schema everywhere."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

from overthere.links.job import Link

__all__ = ["FORMATS", "Csv", "Jsonl", "Writer", "open_writer"]

FORMATS = (".parquet", ".csv", ".jsonl")
_ROW_GROUP = 50_000


class Writer(Protocol):
    """Takes rows one by one; what was written when it closes is whole."""

    def write(self, link: Link) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None
    ) -> None: ...


def open_writer(path: Path) -> Writer:
    """The writer for a file name's suffix.  Raises: ValueError for another suffix, OSError."""
    match path.suffix.lower():
        case ".parquet":
            return _Parquet(path)
        case ".csv":
            return Csv(_text(path))
        case ".jsonl":
            return Jsonl(_text(path))
        case other:
            raise ValueError(f"{other or 'no suffix'}: the table is written as {', '.join(FORMATS)}")


class _Closing(ABC):
    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _text(path: Path) -> IO[str]:
    # A lone surrogate that a document smuggled in is written as "?", never an error at the end of a long job.
    return path.open("w", encoding="utf-8", errors="replace", newline="")


class _Text(_Closing):
    def __init__(self, file: IO[str]) -> None:
        self.file = file

    def close(self) -> None:
        self.file.close()


class Csv(_Text):
    """Undefined is an empty field, empty is `""`: CSV readers that tell the two apart see them so."""

    def __init__(self, file: IO[str]) -> None:
        super().__init__(file)
        self.file.write(",".join(Link._fields) + "\r\n")

    def write(self, link: Link) -> None:
        self.file.write(",".join(map(_field, link)) + "\r\n")


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if text and not any(c in text for c in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


class Jsonl(_Text):
    """One object a line; undefined is null."""

    def write(self, link: Link) -> None:
        self.file.write(json.dumps(link._asdict(), ensure_ascii=False) + "\n")


class _Parquet(_Closing):
    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = {"same_document": pa.bool_(), "error_at": pa.int64()}
        words = ("base_from", "where", "error")
        dictionary = pa.dictionary(pa.int32(), pa.string())
        self.schema = pa.schema([(f, names.get(f, dictionary if f in words else pa.string())) for f in Link._fields])
        self.table = pa.Table
        self.writer = pq.ParquetWriter(path, self.schema, compression="zstd")
        self.rows: list[dict[str, Any]] = []

    def write(self, link: Link) -> None:
        self.rows.append(link._asdict())
        if len(self.rows) >= _ROW_GROUP:
            self.flush()

    def flush(self) -> None:
        if self.rows:
            for row in self.rows:
                for name, value in row.items():
                    if isinstance(value, str) and not value.isascii():
                        # As in the text formats: a lone surrogate is not text.
                        row[name] = value.encode("utf-8", "replace").decode()
            self.writer.write_table(self.table.from_pylist(self.rows, self.schema))
            self.rows.clear()

    def close(self) -> None:
        self.flush()
        self.writer.close()
