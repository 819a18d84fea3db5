"""Streams of members: reading in small pieces is linear."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from overthere.ground.codings import Stream
from overthere.links.containers.streams import ChainedStream, PieceStream
from support import linear


@pytest.mark.parametrize(
    "make",
    [
        lambda data: ChainedStream(data, io.BytesIO()),
        lambda data: ChainedStream(b"", io.BytesIO(data)),
        lambda data: PieceStream(iter([data])),
    ],
)
def test_streams_are_linear(make: Callable[[bytes], Stream]) -> None:
    """A large header, or a large piece, read in small pieces."""

    def drain(size: int) -> None:
        stream, remaining = make(bytes(size)), size
        while piece := stream.read(1 << 12):
            remaining -= len(piece)
        assert not remaining

    linear(drain, 1 << 23)
