"""Displaying text that may contain any characters."""

from __future__ import annotations

import sys
import tracemalloc

from overthere.ground.display import printable


def test_each_character_without_a_visible_form_is_replaced() -> None:
    text = "".join(map(chr, range(sys.maxunicode + 1)))
    assert printable(text) == "".join(char if char.isprintable() else "\ufffd" for char in text)


def test_a_long_text_takes_little_memory() -> None:
    """Without an object for each character: a message of 16 MB once took 700 MB."""
    text = "\x1b[a\ufffd" * 250_000
    tracemalloc.start()
    try:
        assert printable(text) == "\ufffd[a\ufffd" * 250_000
        assert tracemalloc.get_traced_memory()[1] < 8 * len(text)
    finally:
        tracemalloc.stop()
