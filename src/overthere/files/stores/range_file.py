"""A file whose ranges are retrieved on demand, each only while the object is unchanged."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any

from overthere.files.stores.model import Piece, StoreError

Fetch = Callable[[int, int, str], Piece]
"""Retrieves the octets [start, end) of one object if it still has that version.  Raises: StoreError."""
FIRST, MOST = 1 << 17, 1 << 23
"""Sizes in octets: of the first range, and the most that a range grows to in sequential reading."""
_MAX_CACHED_BYTES = 2 * MOST
"""The most bytes kept in memory: a reader goes back to where a record began."""


class RangeFile(io.RawIOBase):
    """A file for sequential reading: its ranges grow, and each is requested while the one before is read.

    size: octets of the object; -1 to take it from the first answer.
    version: of the object; "" to take it from the first answer.
    ends: sorted offsets at which a range ends, because what follows may never be read.
    bound: the reader reads nearly all up to this offset and nothing behind it: ranges are long from the start.
    close: called when the file is closed.
    """

    def __init__(
        self,
        fetch: Fetch,
        size: int = -1,
        version: str = "",
        ends: Sequence[int] = (),
        bound: int = -1,
        close: Callable[[], None] | None = None,
    ) -> None:
        self._fetch_piece = fetch
        self._close = close
        self._size = size
        self._version = version
        self._ends = ends if bound < 0 else (*ends, bound)
        self._bound = bound
        self._first_range_size = FIRST if bound < 0 else MOST
        self._position = 0
        self._cached: deque[tuple[int, memoryview]] = deque()
        self._range_size = self._first_range_size
        self._prefetch: _Prefetch | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence == io.SEEK_CUR:
            offset += self._position
        elif whence == io.SEEK_END:
            offset += self.size
        self._position = max(offset, 0)
        return self._position

    @property
    def size(self) -> int:
        """The size of the object in octets.  Raises: StoreError, also where its store does not know it."""
        if self._size < 0 and not self._cached:
            self._fetch(0)
        if self._size < 0:
            raise StoreError("unreadable", "its end cannot be read, because its store does not know its size")
        return self._size

    def readinto(self, buffer: Any, /) -> int:
        position = self._position
        if position >= self._size >= 0 or position >= self._bound >= 0:
            return 0
        start, content = self._find(position) or self._fetch(position)
        count = min(len(buffer), len(content) - (position - start))
        if count <= 0:
            return 0
        buffer[:count] = content[position - start : position - start + count]
        self._position += count
        return count

    def _find(self, position: int) -> tuple[int, memoryview] | None:
        return next(((at, data) for at, data in reversed(self._cached) if at <= position < at + len(data)), None)

    def _fetch(self, start: int) -> tuple[int, memoryview]:
        last = self._cached[-1] if self._cached else (0, memoryview(b""))
        follows = bool(self._cached) and start == last[0] + len(last[1])
        if not follows:
            self._range_size = self._first_range_size
        prefetch, self._prefetch = self._prefetch, None
        if prefetch is not None and prefetch.start == start:
            piece = prefetch.result()
        else:
            if follows:
                self._range_size = min(2 * self._range_size, MOST)
            piece = self._fetch_piece(start, self._end(start), self._version)
        if self._version not in ("", piece.version) or (min(self._size, piece.size) >= 0 and piece.size != self._size):
            raise StoreError("changed", "the object was replaced while it was read")
        self._size, self._version = max(piece.size, self._size), piece.version
        content = memoryview(piece.octets).cast("B")
        self._cached.append((start, content))
        while len(self._cached) > 1 and sum(len(piece) for _, piece in self._cached) > _MAX_CACHED_BYTES:
            self._cached.popleft()
        next_start = start + len(content)
        if follows and next_start < self._size and next_start not in self._ends:
            self._range_size = min(2 * self._range_size, MOST)
            self._prefetch = _Prefetch(self._fetch_piece, next_start, self._end(next_start), self._version)
        return start, content

    def _end(self, start: int) -> int:
        """Return the end of a range that begins at `start`."""
        end = start + self._range_size
        next_end = bisect_right(self._ends, start)
        if next_end < len(self._ends):
            end = min(end, self._ends[next_end])
        return min(end, self._size) if self._size >= 0 else end

    def close(self) -> None:
        self._cached.clear()
        self._prefetch = None
        if self._close is not None and not self.closed:
            self._close()
        super().close()


class _Prefetch:
    """A range that another thread retrieves."""

    def __init__(self, fetch: Fetch, start: int, end: int, version: str) -> None:
        self.start = start
        self._piece: Piece | BaseException | None = None
        # A request that hangs must not keep the process alive.
        self._thread = Thread(target=self._run, args=(fetch, end, version), daemon=True)
        self._thread.start()

    def _run(self, fetch: Fetch, end: int, version: str) -> None:
        try:
            self._piece = fetch(self.start, end, version)
        except BaseException as error:  # raised again by `result`
            self._piece = error

    def result(self) -> Piece:
        self._thread.join()
        if isinstance(self._piece, BaseException):
            raise self._piece
        assert self._piece is not None
        return self._piece
