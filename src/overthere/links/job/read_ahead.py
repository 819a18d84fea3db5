"""Takes the documents of a container out in a thread of its own, while their rows are made."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator
from contextlib import closing

from overthere.links.containers.model import MakePageReader
from overthere.links.containers.nested import KnownDocument
from overthere.links.containers.records import PageReader
from overthere.links.model import Document

__all__ = ["ReadAhead"]

_BUFFER_BYTES = 4 << 20
"""Bytes of documents that are read ahead."""
_DOCUMENT_BYTES = 1 << 10
"""Bytes of a document besides its content."""
_JOIN_TIMEOUT = 5.0
"""Seconds to wait for the thread, which stops after its current document."""


class ReadAhead:
    """Reads the documents of one task ahead of its rows.

    The pages of a crawl go from their reader straight to the rows, so from the first crawl on the thread reads only
    while the caller waits for a document.
    """

    def __init__(self) -> None:
        self.state_changed: threading.Condition = threading.Condition()
        """Guards all attributes below."""
        self.buffer: deque[KnownDocument] = deque()
        self.buffered: int = 0
        self.is_in_step: bool = False
        self.is_awaited: bool = False
        self.is_stopping: bool = False
        self.is_finished: bool = False
        self.error: BaseException | None = None

    def in_step(self, make_page_reader: MakePageReader) -> MakePageReader:
        """Return a function that makes the same page readers, once the caller waits for a document."""

        def make(document: Document) -> PageReader:
            self.is_in_step = True
            self._wait_for_room()
            return make_page_reader(document)

        return make

    def iterate(self, documents: Generator[KnownDocument, None, None]) -> Generator[KnownDocument, None, None]:
        """Yield the documents, which are read in a thread."""
        thread = threading.Thread(target=self._read, args=(documents,), name="links reading ahead", daemon=True)
        thread.start()
        try:
            while (document := self._take_document()) is not None:
                yield document
        finally:
            with self.state_changed:
                self.is_stopping = True
                self.state_changed.notify_all()
            thread.join(_JOIN_TIMEOUT)

    def _read(self, documents: Generator[KnownDocument, None, None]) -> None:
        try:
            with closing(documents):
                for document in documents:
                    with self.state_changed:
                        self.buffer.append(document)
                        self.buffered += _DOCUMENT_BYTES + len(document[0].content)
                        self.state_changed.notify_all()
                    if not self._wait_for_room():
                        return
        except BaseException as error:  # raised again by `_take_document`, in the caller's thread
            self.error = error
        finally:
            with self.state_changed:
                self.is_finished = True
                self.state_changed.notify_all()

    def _wait_for_room(self) -> bool:
        """Wait until another document may be read; return whether to continue."""

        def may_read() -> bool:
            if self.is_in_step:
                return self.is_stopping or (self.is_awaited and not self.buffer)
            return self.is_stopping or not self.buffer or self.buffered < _BUFFER_BYTES

        with self.state_changed:
            self.state_changed.wait_for(may_read)
            return not self.is_stopping

    def _take_document(self) -> KnownDocument | None:
        with self.state_changed:
            self.is_awaited = True
            self.state_changed.notify_all()
            self.state_changed.wait_for(lambda: self.buffer or self.is_finished)
            self.is_awaited = False
            if self.buffer:
                document = self.buffer.popleft()
                self.buffered -= _DOCUMENT_BYTES + len(document[0].content)
                self.state_changed.notify_all()
                return document
        if self.error is not None:
            raise self.error
        return None
