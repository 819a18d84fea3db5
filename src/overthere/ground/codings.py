"""Decoders of content codings and of compressed files: gzip, deflate, br, zstd, bz2, xz, lz4.

A zstd frame states the window that its decoder must hold in memory. The limit is 8 MiB in the content of an HTTP
response, from a server or from an archive (RFC 9659 3), and 128 MiB in a compressed file, the limit of `zstd -d`,
because RFC 9659 applies only to content codings.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from overthere.ground.extras import missing_message

CONTENT_WINDOW, FILE_WINDOW = 8 << 20, 128 << 20
"""The largest window of a zstd frame, in bytes: in the content of a response, and in a file."""
CONTENT = frozenset(("gzip", "deflate", "br", "zstd"))
"""The content codings of HTTP that are decoded (RFC 9110 8.4.1, RFC 7932, RFC 8878)."""
MOST_CODINGS = 4
"""The limit of codings applied to one content; there is seldom more than one."""
STEP = 1 << 10
"""The bytes of a file that are decoded at once: on an error a library loses the output of all of them."""
_COARSE_STEP = 1 << 14
_PIECE_BYTES = 1 << 16
_DICTIONARY_RATIO = 64
"""The limit of the bytes of a dictionary for each of its compressed bytes; usual ones have less than 5."""
_MAX_CHANCE_BYTES = 64
"""In a coding without a magic number, other data may be decoded by chance, but seldom more bytes than these."""


class Undecodable(ValueError):
    """The data is not valid in the coding."""


class TrailingOctets(Undecodable):
    """Data after a complete content is not valid in its coding."""


class Stream(Protocol):
    """A file that can be read."""

    def read(self, size: int, /) -> bytes: ...


class Decompressor(Protocol):
    """A decompressor of one member, frame or stream, like those of the standard library (bz2, lzma)."""

    def decompress(self, data: bytes, max_length: int) -> bytes: ...

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes | None: ...


class Zlib:
    """A decompressor of gzip or deflate.

    form: `wbits` of zlib.
    library: zlib, or one with its functions.
    """

    def __init__(self, form: int, library: Any = zlib) -> None:
        self.inner: Any = library.decompressobj(form)
        self.eof: bool = False
        self.needs_input: bool = True
        self.unused_data: bytes = b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        output: bytes = self.inner.decompress(self.inner.unconsumed_tail + data, max_length)
        self.needs_input = len(output) < max_length
        self.eof, self.unused_data = self.inner.eof, self.inner.unused_data
        return output


class _Deflate(Zlib):
    """Deflate with the frame of zlib, or without, as some servers send it (RFC 9110 8.4.1.2)."""

    def __init__(self) -> None:
        super().__init__(15)
        self.head: bytes | None = b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        if self.head is not None:
            data = self.head + data
            if len(data) < 2:
                self.head = data
                return b""
            self.head = None
            if data[0] & 0x0F != 8 or int.from_bytes(data[:2], "big") % 31:  # RFC 1950 2.2
                self.inner = zlib.decompressobj(-15)
        return super().decompress(data, max_length)


class _Brotli:
    """Brotli.  A piece may have twice `max_length` bytes.  Data after the end is an error of the library."""

    unused_data = b""

    def __init__(self) -> None:
        self.inner = _library("brotli").Decompressor()
        self.needs_input = True

    def decompress(self, data: bytes, max_length: int) -> bytes:
        output: bytes = self.inner.process(data, output_buffer_limit=max_length)
        self.needs_input = not output  # it may return less than the limit
        return output

    @property
    def eof(self) -> bool:
        return bool(self.inner.is_finished())


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        extra = "lz4" if name == "lz4.frame" else "links"
        raise ModuleNotFoundError(missing_message(name, extra), name=name) from error


def zstd_library() -> Any:
    """Return the module for zstd.  Raises: ModuleNotFoundError."""
    return _library("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def _zstd(window: int, dictionary: object) -> Decompressor:
    library = zstd_library()
    options = {library.DecompressionParameter.window_log_max: window.bit_length() - 1}
    decompressor: Decompressor = library.ZstdDecompressor(dictionary, options)
    return decompressor


def _xz(*_: object) -> Decompressor:
    lzma = import_module("lzma")
    decompressor: Decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=1 << 28)
    return decompressor


class Coding(NamedTuple):
    make: Callable[[int, object], Decompressor]
    """The function that makes a decompressor; the window and the dictionary are for zstd."""
    magics: tuple[bytes, ...] = ()
    """The possible beginnings of a part, first that of a part with content; empty without a magic number."""


SKIPPABLE = tuple(b"%c\x2a\x4d\x18" % number for number in range(0x50, 0x60))
"""The beginnings of a skippable frame, before the size of its content (RFC 8878 3.1.2; LZ4 Frame Format)."""
CODINGS = {
    "gzip": Coding(lambda *_: Zlib(31), (b"\x1f\x8b",)),
    "deflate": Coding(lambda *_: _Deflate()),
    "br": Coding(lambda *_: _Brotli()),
    "zstd": Coding(_zstd, (b"\x28\xb5\x2f\xfd", *SKIPPABLE)),
    "bz2": Coding(lambda *_: import_module("bz2").BZ2Decompressor(), (b"BZh",)),
    "xz": Coding(_xz, (b"\xfd7zXZ\x00",)),
    "lz4": Coding(lambda *_: _library("lz4.frame").LZ4FrameDecompressor(), (b"\x04\x22\x4d\x18", *SKIPPABLE)),
}


_ZEROS = re.compile(rb"\0++")
_MAX_MAGIC_BYTES = max(len(magic) for coding in CODINGS.values() for magic in coding.magics)
_MAX_EMPTY_PARTS = 100_000
_PART_STEP = 1 << 14
"""The bytes that a part receives at once: unused bytes are copied, once for each part."""


class Decoder:
    """Decodes a coding piece by piece.

    A coding with magic numbers may have several parts in a row: members of gzip, frames of zstd and lz4, streams of bz2
    and xz (RFC 1952 2.2, RFC 8878 3.1). Zeros may follow each, as on tapes.

    window: the limit for frames of zstd, in bytes.
    dictionary: from `zstd_dictionary`.
    """

    def __init__(self, name: str, window: int = CONTENT_WINDOW, dictionary: object = None) -> None:
        self.name: str = name
        self.window: int = window
        self.dictionary: object = dictionary
        self.part: Decompressor | None = None
        self.empty_parts: int = 0
        """The number of consecutive parts without output."""

    def feed(self, octets: bytes, most: int = _PIECE_BYTES) -> Iterator[bytes]:
        """Decode a piece; yield the output in pieces of about `most` bytes.

        Raises: Undecodable; ModuleNotFoundError if the package of the coding is missing.
        """
        position = 0
        while position < len(octets) or (self.part is not None and not self.part.eof and not self.part.needs_input):
            if self.part is None or self.part.eof:
                make, magics = CODINGS[self.name]
                if self.part is not None:
                    if magics and (zeros := _ZEROS.match(octets, position)) is not None:
                        position = zeros.end()
                    head = octets[position : position + _MAX_MAGIC_BYTES]
                    if not head:
                        return
                    if not any(head.startswith(magic[: len(head)]) for magic in magics):
                        raise TrailingOctets("there is data after its end")
                self.part = make(self.window, self.dictionary)
                self.empty_parts += 1
                if self.empty_parts > _MAX_EMPTY_PARTS:
                    raise Undecodable(f"more than {_MAX_EMPTY_PARTS:,} parts in a row are empty")
            step = octets[position : position + _PART_STEP] if self.part.needs_input else b""
            try:
                output = self.part.decompress(step, most)
            except MemoryError:
                raise
            except Exception as error:  # each library has its own
                raise Undecodable(str(error)) from error
            position += len(step) - (len(self.part.unused_data or b"") if self.part.eof else 0)
            if output:
                self.empty_parts = 0
                yield output

    def end(self) -> None:
        """Raises: EOFError if the last part is incomplete."""
        if self.part is not None and not self.part.eof:
            raise EOFError("the data ends too early")


def decode(file: Stream, decoder: Decoder) -> Iterator[bytes]:
    """Decode a file; yield its content in pieces.

    Raises: Undecodable; EOFError if the file ends too early; ModuleNotFoundError.

    >>> import bz2, io
    >>> b"".join(decode(io.BytesIO(bz2.compress(b"over") + bz2.compress(b"there")), Decoder("bz2")))
    b'overthere'
    """
    while data := file.read(STEP):
        yield from decoder.feed(data)
    decoder.end()


def decode_until_fault(
    data: bytes, name: str, most: int, window: int = CONTENT_WINDOW
) -> tuple[bytes, Exception | None]:
    """Return the first `most` bytes of the content, or those before a fault, and the fault or None.

    The fault is EOFError, TrailingOctets (the content before it is complete), or Undecodable.

    >>> import gzip
    >>> decode_until_fault(gzip.compress(b"overthere") + b"?", "gzip", 4)
    (b'over', None)
    >>> decode_until_fault(gzip.compress(b"overthere") + b"?", "gzip", 100)
    (b'overthere', TrailingOctets('there is data after its end'))
    """
    # A library loses the output of the step with the fault, so this step is decoded again in smaller steps.
    step, good_end, magics = _COARSE_STEP, len(data), CODINGS[name].magics
    while True:
        decoder, parts, size, position = Decoder(name, window), list[bytes](), 0, 0
        try:
            while position < len(data):
                end = min(position + _COARSE_STEP, good_end) if position < good_end else position + step
                for part in decoder.feed(data[position:end]):
                    parts.append(part)
                    size += len(part)
                    if size >= most:
                        return b"".join(parts)[:most], None
                position = end
            decoder.end()
            return b"".join(parts), None
        except EOFError as error:
            return b"".join(parts), error
        except Undecodable as error:
            if step > 1 and not (magics and isinstance(error, TrailingOctets)):
                step, good_end = step >> 7, position
            elif position < _MAX_CHANCE_BYTES and not magics:
                return b"", Undecodable(*error.args)
            else:
                return b"".join(parts), error


def zstd_dictionary(file: Stream, spend: Callable[[int], None]) -> object:
    """Return the dictionary that all frames of a .warc.zst file need, or None.

    It is in the skippable frame at the start of the file, compressed or not (IIPC, "Zstandard Compression for WARC
    Files", 1.0), and is limited to the memory of a window, and by its compressed size.

    spend: called with its bytes, also if it is invalid: an archive may have many.

    Raises: Undecodable, or ValueError of the library; EOFError; ModuleNotFoundError.
    """
    if file.read(4) != b"\x5d\x2a\x4d\x18":
        return None
    size = int.from_bytes(file.read(4), "little")
    content = file.read(min(size, FILE_WINDOW))
    if len(content) < min(size, FILE_WINDOW):
        raise EOFError("the dictionary ends too early")
    most, fault = FILE_WINDOW, None
    if content.startswith(CODINGS["zstd"].magics[0]):
        most = min(most, _DICTIONARY_RATIO * size)
        content, fault = decode_until_fault(content, "zstd", most + 1, FILE_WINDOW)
    spend(len(content))
    if fault is not None:
        raise fault
    if size > FILE_WINDOW or len(content) > most:
        raise Undecodable("the dictionary needs too much memory")
    return zstd_library().ZstdDict(content)
