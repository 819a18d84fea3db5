"""Tables that go out as they come, and cannot be gone on with: to standard output, a pipe, a device."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, Self

from overthere.tables.formats import Layout
from overthere.tables.pens import Pen, pen

__all__ = ["Stream"]


class Stream:
    """The sink of a `Writer` that is no regular file.  Nothing goes out before the first batch, or the end."""

    notice: str | None = None
    done = False

    def __init__(self, name: str | None, layout: Layout) -> None:
        """name: None for standard output."""
        self.own, self.layout = name is not None, layout
        self.file = sys.stdout.buffer if name is None else open(name, "wb")  # noqa: SIM115 - closed by close()
        self.pen: Pen | None = None
        self.rows = 0
        self.closed = False
        self.state: dict[str, Any] | None = None

    @property
    def columns(self) -> Any:
        return self.layout.columns

    def _begun(self) -> Pen:
        if self.pen is None:
            self.pen = pen(self.file, self.layout)
        return self.pen

    def write(self, batch: Any) -> None:
        if not batch.schema.equals(self.columns):
            raise ValueError("a batch has other columns than the table")
        try:
            self._begun().write(batch)
            self.file.flush()
        except Exception:
            self.drop()
            raise
        self.rows += batch.num_rows

    def commit(self, state: dict[str, Any]) -> None:
        self.state = state

    def close(self) -> None:
        if self.closed:
            return
        try:
            self._begun().end()
            if self.own:
                self.file.close()
        except Exception:
            self.drop()
            raise
        self.closed = True

    def drop(self) -> None:
        self.closed = True
        if self.own:  # or the end of the process says once more that it cannot be written
            if self.pen is not None:
                self.pen.drop()
            with suppress(OSError):
                self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
