"""An open resource: a stream of bytes with its metadata, or a listing of entries."""

from __future__ import annotations

import io
import json
import os
import re
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from overthere.access.coding import MAX_BYTES_AT_ONCE, LineSplitter
from overthere.access.errors import AccessError, LimitExceeded
from overthere.access.saved_file import SavedFile
from overthere.access.wire import Data, Effect, Entry, Head, Item
from overthere.ground import charsets
from overthere.ground.display import printable
from overthere.ground.redact import mask

if TYPE_CHECKING:
    from overthere.access.aio import AsyncTransport
    from overthere.access.blocking import Transport
    from overthere.access.planning import Plan
    from overthere.access.transport import Carrier
    from overthere.protocols.session.client import Session
    from overthere.values.uri import URI

# RFC 9110 5.6.6: a value is a token or a quoted string.
_PARAMETER = re.compile(r""";[ \t]*([^\s"(),/:;<=>?@\[\\\]{}]+)=("(?:[^"\\]|\\.)*"|[^\s"(),/:;<=>?@\[\\\]{}]+)""")


class ResourceInfo(NamedTuple):
    """The facts that are known when a resource has been opened."""

    head: Head
    plan: Plan
    """The plan that was executed, the last one if there were redirects."""
    uri: URI
    """The URI that was retrieved last (RFC 3986 5.1.3)."""
    history: tuple[URI, ...]
    """The URIs before it, the first one first."""
    gateway: URI | None
    """The URI at the gateway that replaced the scheme; None if there was none."""


class _ResourceBase:
    """The common part of both kinds of resource; they differ in how they wait for data."""

    def __init__(self, carrier: Carrier, info: ResourceInfo) -> None:
        self._carrier = carrier
        self._buffer = bytearray()
        self._lines: LineSplitter | None = None
        """The splitter whose lines are being taken, which has read ahead."""
        self.head: Head
        self.plan: Plan
        self.uri: URI
        self.history: tuple[URI, ...]
        self.gateway: URI | None
        self.head, self.plan, self.uri, self.history, self.gateway = info

    def __del__(self) -> None:
        carrier: Carrier | None = getattr(self, "_carrier", None)
        if carrier is not None and carrier.channels:
            carrier.release()
            warnings.warn(f"{self!r} was never closed", ResourceWarning, stacklevel=2, source=self)

    @property
    def media_type(self) -> str | None:
        """The media type with its parameters; None if unknown.  `how` is its source."""
        return self.head.media_type

    @property
    def how(self) -> str:
        """The source of the media type: "server", "message", "name" (suffix), "scheme" (URI or protocol), ""."""
        return self.head.how

    @property
    def length(self) -> int | None:
        """The number of bytes, if announced."""
        return self.head.length

    @property
    def details(self) -> dict[str, Any]:
        """Other protocol data: status, header fields, attributes, replies."""
        return self.head.details

    @property
    def session(self) -> Session | None:
        """The session, for a URI that names one (RFC 1738 3.8); None if there is content."""
        return self.head.session

    @property
    def base(self) -> URI:
        """The base URI that this retrieval establishes (5.1.2, 5.1.3): the URI in the answer, otherwise its own URI."""
        return self.uri if self.head.base is None else self.uri.join(self.head.base)

    @property
    def is_listing(self) -> bool:
        """Whether it has `entries`."""
        return self.head.listing

    def charset(self) -> str:
        """Return the charset of the media type; "utf-8" if it has none."""
        for name, value in _PARAMETER.findall(self.media_type or ""):
            if name.lower() == "charset" and value.strip('"'):
                return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else str(value)
        return "utf-8"

    @property
    def unknown_charset(self) -> str | None:
        """The charset of the media type if it is unknown, otherwise None; text is then read as ISO Latin 1."""
        named = self.charset()
        return named if charsets.codec(named) is None else None

    def __repr__(self) -> str:
        kind = "listing" if self.is_listing else self.media_type or "content of an unknown type"
        return f"<{type(self).__name__} {mask(str(self.uri))}: {printable(kind)}>"

    # -- content and entries

    def _require_content(self) -> None:
        """Take back what `iter_lines` has read ahead.

        Raises: AccessError for a listing with entries that were not taken yet: reading would lose them.
        """
        if self.is_listing and not self._carrier.is_over:
            raise AccessError("this is a listing: its content is what `entries` yields", uri=self.uri)
        if self._lines is not None:
            self._buffer[:0] = self._lines.take_rest()
            self._lines = None

    def _take_buffer(self) -> Iterator[bytes]:
        """Yield and remove the buffered content, which `read` did not return.  Raises: as `_require_content`."""
        self._require_content()
        while self._buffer:
            piece = bytes(self._buffer)
            self._buffer.clear()
            yield piece

    def _accept(self, effect: Effect) -> Entry | None:
        """Buffer the content of an effect if it has any; return its entry, None if it has none."""
        if isinstance(effect, Data):
            self._buffer += effect.octets
        return effect.entry if isinstance(effect, Item) else None

    def _needs_more(self, size: int, whole: bool) -> bool:
        """Whether the buffer is below what a read needs: `size` if `whole`, else 1; for -1, one above the limit."""
        return len(self._buffer) < (MAX_BYTES_AT_ONCE + 1 if size < 0 else size if whole else min(size, 1))

    def _take_bytes(self, size: int) -> bytes:
        """Remove up to `size` bytes from the buffer and return them; all for -1.  Raises: LimitExceeded."""
        if size < 0 and len(self._buffer) > MAX_BYTES_AT_ONCE:
            raise LimitExceeded(f"more than {MAX_BYTES_AT_ONCE:,} octets at once: read it in pieces", uri=self.uri)
        end = len(self._buffer) if size < 0 else size
        with memoryview(self._buffer) as view, view[:end] as part:  # PyPy releases views only at their end
            piece = bytes(part)
        del self._buffer[:end]
        return piece

    def _text(self, octets: bytes, charset: str | None, errors: str) -> str:
        return charsets.text(octets, charset or self.charset(), errors)

    def _line_splitter(self, charset: str | None, errors: str) -> LineSplitter:
        return LineSplitter(charset or self.charset(), errors, self.uri)

    def _split_lines(self, lines: LineSplitter, octets: bytes, final: bool = False) -> Iterator[str]:
        """Yield the lines that the bytes complete, until another method takes the rest of them back."""
        for number, line in enumerate(lines.feed(octets, final), 1):
            self._lines, lines.taken_count = lines, number
            yield line
            if self._lines is not lines:
                return
        self._lines = None


def _json(octets: bytes) -> Any:
    try:
        return json.loads(octets)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply (RFC 8259 9)") from None


class _Raw(io.RawIOBase):
    """A resource as a raw file of the standard library, without seeking."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        with memoryview(buffer) as target, target.cast("B") as view:
            piece = self._resource.read(len(view), whole=False)
            view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            self._resource.close()
        super().close()

    def __del__(self) -> None:
        """Do not close the resource, as the standard library would: it may be read on without this object."""


class Resource(_ResourceBase):
    """An open resource; a context manager, and an iterable of bytes.

    The content can be read once: each method goes on where the last one stopped.  A listing has `entries` instead;
    methods that read or save content raise AccessError until all of them are taken.
    """

    def __init__(self, transport: Transport, info: ResourceInfo) -> None:
        super().__init__(transport, info)
        self._transport = transport

    def __iter__(self) -> Iterator[bytes]:
        """Yield the content piece by piece.  Raises: AccessError."""
        yield from self._take_buffer()
        while (effect := self._transport.advance()) is not None:
            if isinstance(effect, Data):
                yield effect.octets
                yield from self._take_buffer()  # the rest of a `read` in between

    def entries(self) -> Iterator[Entry]:
        """Yield the entries of a listing; nothing for other content, which `read` returns.  Raises: AccessError."""
        while self.is_listing and (effect := self._transport.advance()) is not None:
            if (entry := self._accept(effect)) is not None:
                yield entry

    def read(self, size: int = -1, *, whole: bool = True) -> bytes:
        """Return `size` bytes, or fewer at the end; all for -1.

        whole: wait for all `size` bytes; otherwise return up to `size` of the next that arrive.  For -1 without effect.

        Raises: AccessError; LimitExceeded if all of the content is more than 1 GiB.
        """
        self._require_content()
        while self._needs_more(size, whole) and (effect := self._transport.advance()) is not None:
            self._accept(effect)
        return self._take_bytes(size)

    def text(self, charset: str | None = None, errors: str = "strict") -> str:
        """Return the content as text, decoded by `charset` or that of the media type.

        Text in an unknown charset is read as ISO Latin 1, see `unknown_charset`.

        Raises: AccessError; UnicodeDecodeError.
        """
        return self._text(self.read(), charset, errors)

    def json(self) -> Any:
        """Parse the content as JSON.  Raises: AccessError; ValueError."""
        return _json(self.read())

    def iter_lines(self, charset: str | None = None, errors: str = "strict") -> Iterator[str]:
        """Yield the content as text, line by line, without line ends (CR LF, LF, CR).

        Another method goes on after the last line that you took; in UTF-16 it raises AccessError until all are taken.

        Raises: AccessError; UnicodeDecodeError.

        >>> import overthere
        >>> list(overthere.open("data:,one%0D%0Atwo%0A%0Afour").iter_lines())
        ['one', 'two', '', 'four']
        """
        lines = self._line_splitter(charset, errors)
        for piece in self:
            yield from self._split_lines(lines, piece)
        yield from self._split_lines(lines, b"", final=True)

    @property
    def raw(self) -> io.RawIOBase:
        """The content as a file object that cannot seek; closing it closes the resource.

        A wrapper closes it when it is dropped: call the wrapper's `detach` to read on.

        >>> import csv, io, overthere
        >>> there = overthere.open("data:text/csv,name,port%0Agopher,70%0A")
        >>> list(csv.DictReader(io.TextIOWrapper(there.raw)))
        [{'name': 'gopher', 'port': '70'}]
        """
        return _Raw(self)

    def save(self, path: str | os.PathLike[str], *, force: bool = False, keep: bool = False) -> Path:
        """Write the content to a file atomically; return its path.

        force: replace an existing file.  keep: keep the partial file of a failed transfer, as `*.part`.

        Raises: AccessError; FileExistsError; OSError.

        >>> import overthere, tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     overthere.open("data:,hello").save(pathlib.Path(folder, "a.txt")).read_text()
        'hello'
        """
        with (saving := SavedFile(path, force=force, keep=keep)) as file:
            for piece in self:
                file.write(piece)
        return saving.path

    def close(self) -> None:
        """Close the connections; unread content is lost."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AsyncResource(_ResourceBase):
    """An open resource in an event loop."""

    def __init__(self, transport: AsyncTransport, info: ResourceInfo) -> None:
        super().__init__(transport, info)
        self._transport = transport

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._take_buffer():
            yield piece
        while (effect := await self._transport.advance()) is not None:
            if isinstance(effect, Data):
                yield effect.octets
                for piece in self._take_buffer():
                    yield piece

    async def entries(self) -> AsyncIterator[Entry]:
        """Yield the entries of a listing; nothing if it is not a listing."""
        while self.is_listing and (effect := await self._transport.advance()) is not None:
            if (entry := self._accept(effect)) is not None:
                yield entry

    async def read(self, size: int = -1, *, whole: bool = True) -> bytes:
        """Return `size` bytes, or fewer at the end; all for -1.  whole, Raises: as for `Resource.read`."""
        self._require_content()
        while self._needs_more(size, whole) and (effect := await self._transport.advance()) is not None:
            self._accept(effect)
        return self._take_bytes(size)

    async def text(self, charset: str | None = None, errors: str = "strict") -> str:
        """Return the content as text.  Raises: AccessError; UnicodeDecodeError."""
        return self._text(await self.read(), charset, errors)

    async def json(self) -> Any:
        """Parse the content as JSON.  Raises: AccessError; ValueError."""
        return _json(await self.read())

    async def iter_lines(self, charset: str | None = None, errors: str = "strict") -> AsyncIterator[str]:
        """Yield the content as text, line by line.  Raises: the same as `Resource.iter_lines`.

        >>> import asyncio, overthere
        >>> async def lines(uri):
        ...     async with await overthere.aopen(uri) as there:
        ...         return [line async for line in there.iter_lines()]
        >>> asyncio.run(lines("data:,one%0Atwo"))
        ['one', 'two']
        """
        lines = self._line_splitter(charset, errors)
        async for piece in self:
            for line in self._split_lines(lines, piece):
                yield line
        for line in self._split_lines(lines, b"", final=True):
            yield line

    async def save(self, path: str | os.PathLike[str], *, force: bool = False, keep: bool = False) -> Path:
        """Write the content to a file atomically, each piece in a thread; all else is as for `Resource.save`."""
        from anyio.to_thread import run_sync

        saving = SavedFile(path, force=force, keep=keep)
        with saving as file:
            async for piece in self:
                await run_sync(file.write, piece)
        return saving.path

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()
