"""Encoded words: text beyond US-ASCII in the fields of a header (RFC 2047)."""

from __future__ import annotations

import binascii
import re

from overthere.ground import charsets

# RFC 2047 2, but blanks occur in the text in practice; RFC 2231 5 for the language.  No part is ambiguous.
_WORD = re.compile(r"=\?([!-)+->@-~]{1,40}+)(?:\*[!->@-~]{0,40}+)?\?([BbQq])\?([ ->@-~]*+)\?=")


def words(text: str) -> str:
    """Decode the encoded words in a text; a broken one, or one in an unknown charset, stays (6.2, 6.3).

    White space between two of them is dropped, and a character may be split between them.  Linear in the text.

    >>> words("=?utf-8?q?caf=C3?= =?utf-8?b?qQ==?= =?x-none?q?a?= ok")
    'café =?x-none?q?a?= ok'
    """
    if "=?" not in text:
        return text
    pieces: list[str] = []
    run: list[bytes] = []  # adjacent words that are decoded together, from `begin` to `end`
    charset, begin, end = "", 0, 0
    for match in _WORD.finditer(text):
        data = _decoded_bytes(match[2], match[3]) if charsets.codec(match[1]) else None
        if data is None:
            continue
        codec = match[1].lower()
        is_adjacent = bool(run) and not text[end : match.start()].strip(" \t\r\n")
        if not is_adjacent or codec != charset:
            pieces.append(_decoded_run(run, charset, text[begin:end]))
            pieces.append("" if is_adjacent else text[end : match.start()])
            run, charset, begin = [], codec, match.start()
        run.append(data)
        end = match.end()
    return "".join((*pieces, _decoded_run(run, charset, text[begin:end]), text[end:]))


def _decoded_bytes(encoding: str, text: str) -> bytes | None:
    """Return the bytes of an encoded word (4.1, 4.2); None if it is broken."""
    try:
        return binascii.a2b_base64(text + "==") if encoding in "Bb" else binascii.a2b_qp(text, header=True)
    except binascii.Error:
        return None


def _decoded_run(run: list[bytes], charset: str, encoded: str) -> str:
    try:
        return charsets.text(b"".join(run), charset) if run else encoded
    except ValueError:
        return encoded
