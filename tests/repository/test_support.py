"""The tests' own judge of growth: it tells the square from the line, and ends what has no end."""

from __future__ import annotations

import re
import signal
import time

import pytest

from support import linear, processor


def test_what_is_linear_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    # A clock that no other thread of the process moves.
    monkeypatch.setattr(time, "process_time", lambda: sum(seen) / 1_000_000)

    def each(count: int) -> None:
        seen.append(count)

    linear(each, 400_000)
    assert seen == [400_000, 100_000]
    # What takes no time needs no comparison.
    linear(each, 1000)
    assert seen[2:] == [1000]


def test_what_grows_as_the_square_fails() -> None:
    with pytest.raises(AssertionError, match=r"250 took .* 1000 .* times as much"):
        linear(lambda count: [sum(range(count)) for _ in range(count * 20)], 1000)


def test_what_has_no_end_is_ended() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with pytest.raises(TimeoutError, match="processor"), processor(0.2):
        re.match("(a*)*b", "a" * 60)
    with pytest.raises(TimeoutError):
        linear(lambda count: re.match("(a*)*b", "a" * count), 1000, most=0.2)
    assert signal.getsignal(signal.SIGPROF) == before
