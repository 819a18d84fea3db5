"""A file of which only ranges are retrieved, each while it is unchanged."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any

from overthere.stores.model import Piece, StoreError

__all__ = ["Fetch", "RangeFile"]

Fetch = Callable[[int, int, str], Piece]
"""Retrieves the octets [start, end) of one object, while it has that version.  Raises: StoreError."""
FIRST, MOST = 1 << 17, 1 << 23
"""Octets of a range: of the first, and of each that follows on others."""
_HELD = 2 * MOST
"""Octets that are held: a reader goes back to where a record began."""


class RangeFile(io.RawIOBase):
    """What is read one after another comes in ranges that grow, each requested while the one before is read.

    size: octets of the object; -1 if the first answer is to tell.
    version: of the object; "" if the first answer is to tell.
    ends: places, in their order, at which a range ends: what is behind them may never be asked for.
    bound: the file ends there for its reader, and nearly all before it is read: ranges are long from the first on.
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
        self._first = FIRST if bound < 0 else MOST
        self._place = 0
        self._held: deque[tuple[int, memoryview]] = deque()
        self._step = self._first
        self._ahead: _Prefetch | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence == io.SEEK_CUR:
            offset += self._place
        elif whence == io.SEEK_END:
            offset += self.size
        self._place = max(offset, 0)
        return self._place

    @property
    def size(self) -> int:
        """Octets of the object.  Raises: StoreError."""
        if self._size < 0:
            self._fetch(self._place)
        return self._size

    def readinto(self, buffer: Any, /) -> int:
        at = self._place
        if at >= self._size >= 0 or at >= self._bound >= 0:
            return 0
        start, octets = self._find(at) or self._fetch(at)
        count = min(len(buffer), len(octets) - (at - start))
        if count <= 0:
            return 0
        buffer[:count] = octets[at - start : at - start + count]
        self._place += count
        return count

    def _find(self, at: int) -> tuple[int, memoryview] | None:
        return next(((start, one) for start, one in reversed(self._held) if start <= at < start + len(one)), None)

    def _fetch(self, at: int) -> tuple[int, memoryview]:
        last = self._held[-1] if self._held else (0, memoryview(b""))
        follows = bool(self._held) and at == last[0] + len(last[1])
        if not follows:
            self._step = self._first
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead.start == at:
            piece = ahead.result()
        else:
            if follows:
                self._step = min(2 * self._step, MOST)
            piece = self._fetch_piece(at, self._end(at), self._version)
        if (self._version and piece.version != self._version) or (self._size >= 0 and piece.size != self._size):
            raise StoreError("changed", "the object was replaced while it was read")
        if not piece.octets and at < piece.size:
            raise StoreError("truncated", f"an answer without content for the range from octet {at:,} on")
        self._size, self._version = piece.size, piece.version
        octets = memoryview(piece.octets).cast("B")
        self._held.append((at, octets))
        while len(self._held) > 1 and sum(len(one) for _, one in self._held) > _HELD:
            self._held.popleft()
        after = at + len(octets)
        if follows and after < self._size and after not in self._ends:
            self._step = min(2 * self._step, MOST)
            self._ahead = _Prefetch(self._fetch_piece, after, self._end(after), self._version)
        return at, octets

    def _end(self, at: int) -> int:
        """Where a range that begins there ends."""
        end = at + self._step
        place = bisect_right(self._ends, at)
        if place < len(self._ends):
            end = min(end, self._ends[place])
        return min(end, self._size) if self._size >= 0 else end

    def close(self) -> None:
        self._held.clear()
        self._ahead = None
        if self._close is not None and not self.closed:
            self._close()
        super().close()


class _Prefetch:
    """A range that is retrieved by another thread."""

    def __init__(self, fetch: Fetch, start: int, end: int, version: str) -> None:
        self.start = start
        self._piece: Piece | BaseException | None = None
        # What hangs must not keep the process alive.
        self._thread = Thread(target=self._run, args=(fetch, end, version), daemon=True)
        self._thread.start()

    def _run(self, fetch: Fetch, end: int, version: str) -> None:
        try:
            self._piece = fetch(self.start, end, version)
        except BaseException as error:  # raised where it is asked for
            self._piece = error

    def result(self) -> Piece:
        self._thread.join()
        if isinstance(self._piece, BaseException):
            raise self._piece
        assert self._piece is not None
        return self._piece
