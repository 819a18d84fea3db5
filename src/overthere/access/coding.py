"""Content codings undone as the content comes (RFC 9110 8.4; RFC 1950 to 1952, RFC 7932, RFC 8878 with RFC 9659).

A request without Accept-Encoding takes any coding (RFC 9110 12.5.3), so what comes in one is told or undone, never
given out as if it were the content.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Protocol

from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError
from overthere.access.wire import Data, Dialogue
from overthere.ground.extras import missing_message as missing

__all__ = ["codings", "undone", "zstd_library", "zstd_unpacker"]

_PIECE = 1 << 18
"""Octets that come out at once, whatever a few octets unpack to."""
_MOST = 4
"""Codings one over the other; there is seldom more than one."""
_SOURCE = "RFC 9110 8.4"


class _Unpacker(Protocol):
    """One stream of a coding."""

    def step(self, octets: bytes) -> bytes:
        """What comes out next of these octets and of those that are held, at most `_PIECE`."""
        ...

    @property
    def more(self) -> bool:
        """Whether something may come out without more octets."""
        ...

    @property
    def ended(self) -> bool: ...

    @property
    def behind(self) -> bytes:
        """What has come behind the end."""
        ...


class _Zlib:
    def __init__(self, form: int) -> None:
        self.inner = zlib.decompressobj(form)
        self.more = False

    def step(self, octets: bytes) -> bytes:
        given = self.inner.decompress(self.inner.unconsumed_tail + octets, _PIECE)
        self.more = not self.inner.eof and len(given) == _PIECE
        return given

    @property
    def ended(self) -> bool:
        return self.inner.eof

    @property
    def behind(self) -> bytes:
        return self.inner.unused_data


class _Deflate:
    """With the frame of zlib as it should be, or without, as some servers send it."""

    def __init__(self) -> None:
        self.head = b""
        self.inner: _Zlib | None = None

    def step(self, octets: bytes) -> bytes:
        if self.inner is None:
            self.head += octets
            if len(self.head) < 2:
                return b""
            framed = self.head[0] & 0x0F == 8 and int.from_bytes(self.head[:2], "big") % 31 == 0  # RFC 1950 2.2
            self.inner = _Zlib(15 if framed else -15)
            octets = self.head
        return self.inner.step(octets)

    @property
    def more(self) -> bool:
        return self.inner is not None and self.inner.more

    @property
    def ended(self) -> bool:
        return self.inner is not None and self.inner.ended

    @property
    def behind(self) -> bytes:
        return b"" if self.inner is None else self.inner.behind


class _Brotli:
    behind = b""  # what comes there is an error of the library

    def __init__(self, module: Any) -> None:
        self.inner = module.Decompressor()
        self.more = False

    def step(self, octets: bytes) -> bytes:
        given: bytes = self.inner.process(octets, output_buffer_limit=_PIECE)
        self.more = bool(given) and not self.ended
        return given

    @property
    def ended(self) -> bool:
        return bool(self.inner.is_finished())


class _Zstd:
    def __init__(self, module: Any) -> None:
        self.inner = zstd_unpacker(module)

    def step(self, octets: bytes) -> bytes:
        given: bytes = self.inner.decompress(octets, _PIECE)
        return given

    @property
    def more(self) -> bool:
        return not self.inner.eof and not self.inner.needs_input

    @property
    def ended(self) -> bool:
        return bool(self.inner.eof)

    @property
    def behind(self) -> bytes:
        return bytes(self.inner.unused_data)


def _library(coding: str, names: tuple[str, ...]) -> Any:
    for name in names:
        try:
            return import_module(name)
        except ImportError:
            continue
    raise AccessFailed(
        f"the content comes in the coding {coding!r}, and {missing(names[-1], 'access')}",
        _SOURCE,
    )


def zstd_library() -> Any:
    """The module that reads zstd, of the standard library or as it is there.  Raises: AccessFailed if there is none."""
    return _library("zstd", ("compression.zstd", "backports.zstd"))


def zstd_unpacker(module: Any) -> Any:
    """A decompressor for one frame of a content coding, whose window has at most 8 MiB (RFC 9659 3)."""
    return module.ZstdDecompressor(options={module.DecompressionParameter.window_log_max: 23})


# Each with whether another stream may follow at once (RFC 1952 2.2, RFC 8878 3.1).
_MAKERS: dict[str, tuple[Callable[[], _Unpacker], bool]] = {
    "gzip": (lambda: _Zlib(31), True),
    "deflate": (_Deflate, False),
    "br": (lambda: _Brotli(_library("br", ("brotli",))), False),
    "zstd": (lambda: _Zstd(zstd_library()), True),
}


def codings(field: str) -> tuple[str, ...]:
    """The codings that a Content-Encoding names, in the order in which they were applied; "identity" is none.

    >>> codings("X-gzip, identity"), codings("")
    (('gzip',), ())
    """
    named = (name.strip().lower().removeprefix("x-") for name in field.split(","))
    return tuple(name for name in named if name not in ("", "identity"))


def undone(content: Dialogue, applied: tuple[str, ...], most: int | None) -> Dialogue:
    """The same dialogue with its content as it was before the codings.

    most: octets of content, if there is a bound.

    Raises: ProtocolError for a coding that was not asked for and is unknown, and for content that is not in it;
    AccessFailed if it ends before its end, or if the library of a coding is missing; LimitExceeded.
    """
    foreign = [name for name in applied if name not in _MAKERS]
    if foreign or len(applied) > _MOST:
        told = f"in {len(applied)} codings" if len(applied) > _MOST else f"in the coding {foreign[0][:40]!r}"
        raise ProtocolError(f"the content comes {told}, which was not asked for and is not undone", _SOURCE)
    layers = [_Layer(name) for name in reversed(applied)]
    count, answer = 0, None
    while True:
        try:
            effect = content.send(answer)
        except StopIteration:
            break
        if not isinstance(effect, Data):
            answer = yield effect
            continue
        answer = None
        for piece in _through(layers, effect.octets):
            count += len(piece)
            if most is not None and count > most:
                raise LimitExceeded(f"more than {most:,} octets when its coding is undone")
            yield Data(piece)
    for layer in layers:
        layer.end()


class _Layer:
    """One coding: its streams, one behind the other."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.make, self.follows = _MAKERS[name]
        self.at: _Unpacker | None = None

    def feed(self, octets: bytes) -> Iterator[bytes]:
        while octets or (self.at is not None and self.at.more):
            if self.at is None:
                self.at = self.make()
            elif self.at.ended:
                if not self.follows:
                    raise ProtocolError(f"there are octets behind the end of the {self.name} content", _SOURCE)
                self.at = self.make()
            try:
                given = self.at.step(octets)
            except Exception as error:
                if isinstance(error, MemoryError):
                    raise
                raise ProtocolError(f"the content is no {self.name}, as was said: {error}", _SOURCE) from error
            octets = self.at.behind if self.at.ended else b""
            if given:
                yield given

    def end(self) -> None:
        """Raises: AccessFailed if the stream is not over; none at all is no content (RFC 9110 6.4)."""
        if self.at is not None and not self.at.ended:
            raise AccessFailed(f"the {self.name} content ends before its end", _SOURCE)


def _through(layers: list[_Layer], octets: bytes) -> Iterator[bytes]:
    if not layers:
        yield octets
        return
    first, *others = layers
    for piece in first.feed(octets):
        yield from _through(others, piece)
