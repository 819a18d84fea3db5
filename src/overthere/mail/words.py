"""Encoded words: text beyond US-ASCII in the fields of a header (RFC 2047)."""

from __future__ import annotations

import binascii
import re

from overthere.ground import charsets

__all__ = ["words"]

# RFC 2047 2, though blanks are met in the text; RFC 2231 5 for the language.  No part can be read in two ways.
_WORD = re.compile(r"=\?([!-)+->@-~]{1,40}+)(?:\*[!->@-~]{0,40}+)?\?([BbQq])\?([ ->@-~]*+)\?=")


def words(text: str) -> str:
    """A text with its encoded words read; one that is broken, or in an unknown charset, stays (6.2, 6.3).

    White space between two of them is no part of the text, and they may cut a character.  Linear in the text.

    >>> words("=?utf-8?q?caf=C3?= =?utf-8?b?qQ==?= =?x-none?q?a?= ok")
    'café =?x-none?q?a?= ok'
    """
    if "=?" not in text:
        return text
    told: list[str] = []
    run: list[bytes] = []  # words that are read together, from `begin` to `end`
    charset, begin, end = "", 0, 0
    for match in _WORD.finditer(text):
        octets = _octets(match[2], match[3]) if charsets.codec(match[1]) else None
        if octets is None:
            continue
        codec = match[1].lower()
        beside = bool(run) and not text[end : match.start()].strip(" \t\r\n")
        if not beside or codec != charset:
            told.append(_characters(run, charset, text[begin:end]))
            told.append("" if beside else text[end : match.start()])
            run, charset, begin = [], codec, match.start()
        run.append(octets)
        end = match.end()
    return "".join((*told, _characters(run, charset, text[begin:end]), text[end:]))


def _octets(encoding: str, text: str) -> bytes | None:
    """What a word holds (4.1, 4.2); None if it is broken."""
    try:
        return binascii.a2b_base64(text + "==") if encoding in "Bb" else binascii.a2b_qp(text, header=True)
    except binascii.Error:
        return None


def _characters(run: list[bytes], charset: str, written: str) -> str:
    try:
        return charsets.text(b"".join(run), charset) if run else written
    except ValueError:
        return written
