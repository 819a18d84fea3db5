"""Encoded words (RFC 2047), including those that no mailer writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere.mail.words import words
from support import linear


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("=?ISO-8859-1?Q?a?=", "a"),
        ("(=?ISO-8859-1?Q?a?= b)", "(a b)"),
        ("(=?ISO-8859-1?Q?a?=  =?ISO-8859-1?Q?b?=)", "(ab)"),
        ("(=?ISO-8859-1?Q?a_b?=)", "(a b)"),
        ("(=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=)", "(a b)"),
        ("=?utf-8*en?B?Y2Fmw6k=?=", "café"),
        ("=?utf-8?b?Y2Fmw6k?=", "café"),
        ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"),
        # 6.3: text that cannot be decoded is unchanged.
        *((same, same) for same in (
            "=?é?q?a?=", "=?\udcc3\udca9?q?a?=", "=?utf-8?b?Y?=", "=?utf-8?q?=ff?=", "=?utf-8?q?a?=\udcff?q?"[:12],
            "=?x-none?q?a?=", "=?punycode?q?abc?=", "=?idna?q?abc?=", "=?zlib?b?eJwDAAAAAAE=?=", "=?rot13?q?uryyb?=",
            "=?unicode_escape?q?=5Cx?=", "=?undefined?q?a?=", "=?cp999?q?a?=", "=?utf-8?x?a?=", "=?utf-8?q?a",
        )),
    ],
)  # fmt: skip
def test_words(text: str, read: str) -> None:
    assert words(text) == read


@given(st.text(st.sampled_from("=?qB utf-8*_\té\udcff\0")) | st.text())
def test_any_text_is_decoded_without_an_error(text: str) -> None:
    assert isinstance(words(text), str)


@pytest.mark.parametrize(
    "piece", ["=?a?q?", "=?", "=?utf-8?q?a", "=?utf-8?b?A", "=?utf-8?q?=ff?= ", "=?punycode?b?YS0=?="]
)
def test_decoding_is_linear(piece: str) -> None:
    """`email.header` takes minutes for the first of these."""
    linear(lambda size: words(piece * (size // len(piece))), 1 << 19)
