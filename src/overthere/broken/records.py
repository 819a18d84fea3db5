"""Documents of a crawl in a WARC file (WARC 1.1), which a resumed crawl reads."""

from __future__ import annotations

import os
import re
import uuid
from contextlib import suppress
from datetime import UTC, datetime
from typing import BinaryIO, cast

from overthere.ground.atomic import open_own, remove
from overthere.links.containers.temporary import create_file, remove_files

_HEAD = re.compile(
    rb"WARC/1\.1\r\nWARC-Type: resource\r\nWARC-Record-ID: [^\r]*+\r\nWARC-Date: [^\r]*+\r\n"
    rb"WARC-Target-URI: ([^\r]++)\r\nContent-Type: ([^\r]++)\r\nContent-Length: ([0-9]{1,12})\r\n\r\n"
)
_INFO = re.compile(
    rb"WARC/1\.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: [^\r]*+\r\nWARC-Date: [^\r]*+\r\n"
    rb"Content-Type: application/warc-fields\r\nContent-Length: [0-9]{1,4}\r\n\r\n"
    rb"software: overthere[^\r]*+\r\n\r\n\r\n"
)
"""The first record of a file of this program, which identifies it (WARC 1.1, 6.2)."""
_MAX_HEAD_BYTES, _MAX_DOCUMENT_BYTES = 1 << 16, 1 << 30
"""Maximum size of a head, and of a document."""
_MAX_TYPE_LENGTH = 1000
"""Maximum length of a stored Content-Type, in characters."""


class Records:
    """A file of documents, one record each.

    path: the path of the file; None for a temporary file.
    resumed: whether to continue the crawl whose documents are in the file; a truncated record is dropped.  Otherwise
        the file of an earlier crawl is emptied.
    names: the URI of each document, by the name that `links` gives its record.

    Raises: PermissionError for a file that no crawl has written, which is kept; OSError if it cannot be written.
    """

    def __init__(self, path: str | None = None, *, resumed: bool = False) -> None:
        self.is_own: bool = path is not None
        self.names: dict[str, str] = {}
        self.contents: dict[str, tuple[int, int, str]] = {}
        """The offset and length of each document's content, in bytes, and its media type."""
        self.is_resumed: bool = False
        """Whether the file has the documents of a stopped crawl."""
        self.path: str
        self._file: BinaryIO
        if path is None:
            self.path, self._file = create_file()
            return
        self.path = path
        file, new = open_own(path, lambda head: _INFO.match(head) is not None)
        self._file = cast("BinaryIO", file)
        self._status = os.fstat(file.fileno())
        if resumed and not new:
            self.is_resumed = True
            self._read_heads()
        else:
            self._file.truncate(0)
            self._put(_info())

    def _read_heads(self) -> None:
        """Read the heads of the records; cut off an incomplete record."""
        size = os.fstat(self._file.fileno()).st_size
        info = _INFO.match(self._file.read(_MAX_HEAD_BYTES))
        at = 0 if info is None else info.end()
        while at < size:
            self._file.seek(at)
            head = _HEAD.match(self._file.read(_MAX_HEAD_BYTES))
            content = 0 if head is None else at + head.end()
            length = 0 if head is None else int(head[3])
            if head is None or content + length + 4 > size or length > _MAX_DOCUMENT_BYTES:
                self._file.truncate(at)
                break
            uri = head[1].decode("utf-8", "replace")
            self.contents[uri] = content, length, head[2].decode("latin-1")
            self.names[f"{self.path}!{at}"] = uri
            at = content + length + 4
        self._file.seek(at)

    def add(self, uri: str, media_type: str, content: bytes) -> None:
        """Write a document unless the file has it; each record is written completely before this returns."""
        if uri in self.contents:
            return  # requested again: robots.txt by a resumed crawl, or a redirect's target by another policy
        at = self._file.tell()
        self.names[f"{self.path}!{at}"] = uri
        head = (
            f"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\n"
            f"WARC-Date: {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\r\nWARC-Target-URI: {uri}\r\n"
            f"Content-Type: {_header_value(media_type)}\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        fields = head.encode("utf-8")
        self._put(fields + content + b"\r\n\r\n")
        self.contents[uri] = at + len(fields), len(content), _header_value(media_type)

    def _put(self, record: bytes) -> None:
        remaining = memoryview(record)
        while remaining:
            remaining = remaining[self._file.write(remaining) :]
        self._file.flush()

    def read(self, uri: str) -> tuple[str, bytes]:
        """The media type and the content of a document."""
        at, length, media_type = self.contents[uri]
        with open(self.path, "rb") as file:
            file.seek(at)
            return media_type, file.read(length)

    def close(self) -> None:
        """Close the file, which stays."""
        self._file.close()

    def drop(self, *, is_complete: bool) -> None:
        """Remove the file, unless it has a path and a crawl that is not complete can be resumed with it."""
        self.close()
        remove_files((self.path,))
        if self.is_own and is_complete:
            with suppress(OSError):
                remove(self.path, self._status)


def _info() -> bytes:
    from overthere import __version__

    content = f"software: overthere {__version__}\r\n"
    return (
        f"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\n"
        f"WARC-Date: {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\r\nContent-Type: application/warc-fields\r\n"
        f"Content-Length: {len(content)}\r\n\r\n{content}\r\n\r\n"
    ).encode()


def _header_value(media_type: str) -> str:
    """A Content-Type as the value of a record's field."""
    return "".join(c for c in media_type[:_MAX_TYPE_LENGTH] if " " <= c < "\x7f") or "application/octet-stream"
