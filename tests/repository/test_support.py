"""The tests' own measurement of growth: it separates quadratic from linear, and ends what would never end."""

from __future__ import annotations

import re
import signal
import time

import pytest

from support import linear, processor


def test_linear_growth_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    # A clock that other threads of the process do not advance.
    monkeypatch.setattr(time, "process_time", lambda: sum(seen) / 1_000_000)

    def each(count: int) -> None:
        seen.append(count)

    linear(each, 400_000)
    assert seen == [400_000, 100_000]
    # Without any time there is nothing to compare.
    linear(each, 1000)
    assert seen[2:] == [1000]


def test_quadratic_growth_fails() -> None:
    with pytest.raises(AssertionError, match=r"250 took .* 1000 .* times as much"):
        linear(lambda count: [sum(range(count)) for _ in range(count * 20)], 1000)


def test_an_endless_action_is_stopped() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with pytest.raises(TimeoutError, match="processor"), processor(0.2):
        re.match("(a*)*b", "a" * 60)
    with pytest.raises(TimeoutError):
        linear(lambda count: re.match("(a*)*b", "a" * count), 1000, most=0.2)
    assert signal.getsignal(signal.SIGPROF) == before
