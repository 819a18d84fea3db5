"""Host names that no resolver accepts: empty and long labels, delimiters, control characters, invalid IDNA names."""

from __future__ import annotations

HOSTILE_NAMES = (
    "", ".", "..", "...", "a..b", ".example", "example..", "a." + "b" * 64, "a" * 64, "a" * 300, "ab." * 100 + "c",
    "x." * 5_000, "a" * 70_000, "\u00fc" * 64, "\u00fc..b", "a.\u3002b", ".\u00fc", "\u00fc\u3002\u3002b", "\u00ad",
    "\u00ad.example", "\u00fc" * 2_000, "a\0b", "a b", "a\tb", "a\r\nb", "a/b", "a?b", "a#b", "a@b", "a:80", "a\\b",
    "a%b", "[a]", "[", "a|b", "a<b>", "a^b", "a\x7fb", "evil.example/.good.example", "evil.example:80.good.example",
    "evil.example\uff0f.good.example", "\u2100.good.example", "\ud800", "a\ud800b", "\udcff", "\U0010ffff",
    "xn--\u00fc", "\u200d", "a\u0378", "_\u00fc", "-\u00fc", "\u05d0a\u0661", "\u0301a",
)  # fmt: skip
