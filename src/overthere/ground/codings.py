"""Decoders of content codings and of compressed files: gzip, deflate, br, zstd, bz2, xz, lz4.

A zstd frame names the window that its decoder must hold in memory. The limit depends on where the frame is: 8 MiB in
the content of an HTTP response, from a server or from an archive (RFC 9659 3); 128 MiB in a file that is compressed as
a whole, as `zstd -d` itself has it, because RFC 9659 is about content codings alone.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from overthere.ground.extras import missing_message

__all__ = [
    "CODINGS", "CONTENT", "CONTENT_WINDOW", "FILE_WINDOW", "MOST_CODINGS", "SKIPPABLE", "STEP", "Decoder", "Stream",
    "TrailingOctets", "Undecodable", "Zlib", "decode", "decode_until_fault", "zstd_dictionary", "zstd_library",
]  # fmt: skip

CONTENT_WINDOW, FILE_WINDOW = 8 << 20, 128 << 20
"""The largest window of a zstd frame, in octets: in the content of a response, and in a file."""
CONTENT = frozenset(("gzip", "deflate", "br", "zstd"))
MOST_CODINGS = 4
"""Codings one over the other; there is seldom more than one."""
"""The content codings of HTTP that are decoded (RFC 9110 8.4.1, RFC 7932, RFC 8878)."""
STEP = 1 << 10
"""Octets of a file that are decoded at once: on an error a library drops all that it has made of them."""
_COARSE = 1 << 14
_PIECE = 1 << 16
_CHANCE = 64
"""In a coding without a magic number, any text may be decoded by chance, but seldom more octets than these."""


class Undecodable(ValueError):
    """Octets that are not in the coding."""


class TrailingOctets(Undecodable):
    """Octets behind a whole content that are not in its coding."""


class Stream(Protocol):
    """What can be read."""

    def read(self, size: int, /) -> bytes: ...


class Decompressor(Protocol):
    """One member, frame or stream of a coding, as the standard library's decompressors are (bz2, lzma)."""

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
        made: bytes = self.inner.decompress(self.inner.unconsumed_tail + data, max_length)
        self.needs_input = len(made) < max_length
        self.eof, self.unused_data = self.inner.eof, self.inner.unused_data
        return made


class _Deflate(Zlib):
    """With the frame of zlib as it should be, or without, as some servers send it (RFC 9110 8.4.1.2)."""

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
    """A piece may have twice `max_length` octets.  Octets behind the end are an error of the library."""

    unused_data = b""

    def __init__(self) -> None:
        self.inner = _library("brotli").Decompressor()
        self.needs_input = True

    def decompress(self, data: bytes, max_length: int) -> bytes:
        made: bytes = self.inner.process(data, output_buffer_limit=max_length)
        self.needs_input = not made  # it may hold back what fits
        return made

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
    """The module that reads zstd.  Raises: ModuleNotFoundError."""
    return _library("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def _zstd(window: int, dictionary: object) -> Decompressor:
    library = zstd_library()
    options = {library.DecompressionParameter.window_log_max: window.bit_length() - 1}
    made: Decompressor = library.ZstdDecompressor(dictionary, options)
    return made


def _xz(*_: object) -> Decompressor:
    lzma = import_module("lzma")
    made: Decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=1 << 28)
    return made


class Coding(NamedTuple):
    make: Callable[[int, object], Decompressor]
    """Makes a decompressor; the window and the dictionary are for zstd."""
    magics: tuple[bytes, ...] = ()
    """How a part begins, first one with content; none if the coding has no magic number."""


SKIPPABLE = tuple(b"%c\x2a\x4d\x18" % number for number in range(0x50, 0x60))
"""How a skippable frame begins, before the size of its content (RFC 8878 3.1.2; LZ4 Frame Format)."""
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
_MAGIC = max(len(magic) for coding in CODINGS.values() for magic in coding.magics)
_EMPTY_PARTS = 100_000
_PART_STEP = 1 << 14
"""Octets that a part is given at once: what it does not need is copied, once for each part."""


class Decoder:
    """A coding, decoded as its octets come.

    A coding with magic numbers may have several parts in a row: members of gzip, frames of zstd and lz4, streams of bz2
    and xz (RFC 1952 2.2, RFC 8878 3.1). Zeros may follow each, as they do on tapes.

    window: the limit for frames of zstd, in octets.
    dictionary: from `zstd_dictionary`.
    """

    def __init__(self, name: str, window: int = CONTENT_WINDOW, dictionary: object = None) -> None:
        self.name: str = name
        self.window: int = window
        self.dictionary: object = dictionary
        self.part: Decompressor | None = None
        self.empty_parts: int = 0
        """Parts in a row out of which nothing came."""

    def feed(self, octets: bytes, most: int = _PIECE) -> Iterator[bytes]:
        """What comes out, in pieces of about `most` octets.

        Raises: Undecodable; ModuleNotFoundError if the package of the coding is missing.
        """
        at = 0
        while at < len(octets) or (self.part is not None and not self.part.eof and not self.part.needs_input):
            if self.part is None or self.part.eof:
                make, magics = CODINGS[self.name]
                if self.part is not None:
                    if magics and (zeros := _ZEROS.match(octets, at)) is not None:
                        at = zeros.end()
                    head = octets[at : at + _MAGIC]
                    if not head:
                        return
                    if not any(head.startswith(magic[: len(head)]) for magic in magics):
                        raise TrailingOctets("there is data after its end")
                self.part = make(self.window, self.dictionary)
                self.empty_parts += 1
                if self.empty_parts > _EMPTY_PARTS:
                    raise Undecodable(f"more than {_EMPTY_PARTS:,} parts in a row are empty")
            step = octets[at : at + _PART_STEP] if self.part.needs_input else b""
            try:
                made = self.part.decompress(step, most)
            except MemoryError:
                raise
            except Exception as error:  # each library has its own
                raise Undecodable(str(error)) from error
            at += len(step) - (len(self.part.unused_data or b"") if self.part.eof else 0)
            if made:
                self.empty_parts = 0
                yield made

    def end(self) -> None:
        """Raises: EOFError if a part has begun and is not whole."""
        if self.part is not None and not self.part.eof:
            raise EOFError("the data ends too early")


def decode(file: Stream, decoder: Decoder) -> Iterator[bytes]:
    """The content of a file, decoded.

    Raises: Undecodable; EOFError if the file ends too early; ModuleNotFoundError.

    >>> import bz2, io
    >>> b"".join(decode(io.BytesIO(bz2.compress(b"over") + bz2.compress(b"there")), Decoder("bz2")))
    b'overthere'
    """
    while octets := file.read(STEP):
        yield from decoder.feed(octets)
    decoder.end()


def decode_until_fault(
    data: bytes, name: str, most: int, window: int = CONTENT_WINDOW
) -> tuple[bytes, Exception | None]:
    """The first `most` octets of the content, or those before a fault, and the fault.

    The fault is EOFError, TrailingOctets (the content before it is whole), or Undecodable.

    >>> import gzip
    >>> decode_until_fault(gzip.compress(b"overthere") + b"?", "gzip", 4)
    (b'over', None)
    >>> decode_until_fault(gzip.compress(b"overthere") + b"?", "gzip", 100)
    (b'overthere', TrailingOctets('there is data after its end'))
    """
    # A library drops what it has made of the step with the fault: the step is decoded again in smaller ones.
    step, fine, magics = _COARSE, len(data), CODINGS[name].magics
    while True:
        decoder, parts, size, at = Decoder(name, window), list[bytes](), 0, 0
        try:
            while at < len(data):
                end = min(at + _COARSE, fine) if at < fine else at + step
                for part in decoder.feed(data[at:end]):
                    parts.append(part)
                    size += len(part)
                    if size >= most:
                        return b"".join(parts)[:most], None
                at = end
            decoder.end()
            return b"".join(parts), None
        except EOFError as error:
            return b"".join(parts), error
        except Undecodable as error:
            if step > 1 and not (magics and isinstance(error, TrailingOctets)):
                step, fine = step >> 7, at
            elif at < _CHANCE and not magics:
                return b"", Undecodable(*error.args)
            else:
                return b"".join(parts), error


def zstd_dictionary(file: Stream) -> object:
    """The dictionary that all frames of a .warc.zst file need; None if it has none.

    It is in the skippable frame at the start of the file, compressed or as it is (IIPC, "Zstandard Compression for WARC
    Files", 1.0), and takes no more memory than a window.

    Raises: Undecodable, or ValueError of the library; EOFError; ModuleNotFoundError.
    """
    if file.read(4) != b"\x5d\x2a\x4d\x18":
        return None
    size = int.from_bytes(file.read(4), "little")
    content = file.read(min(size, FILE_WINDOW))
    if len(content) < min(size, FILE_WINDOW):
        raise EOFError("the dictionary ends too early")
    if content.startswith(CODINGS["zstd"].magics[0]):
        content, fault = decode_until_fault(content, "zstd", FILE_WINDOW + 1, FILE_WINDOW)
        if fault is not None:
            raise fault
    if max(size, len(content)) > FILE_WINDOW:
        raise Undecodable("the dictionary needs too much memory")
    return zstd_library().ZstdDict(content)
