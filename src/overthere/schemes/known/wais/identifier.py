"""The document-id of WAIS: fields, each a number, a length and octets (1994 WAIS; Kahle, Document Identifiers, 1991).

A number or a length is a compressed integer: seven bits an octet, the highest first, the high bit set in all but the
last (the WAIS protocol writes its own elements the same way).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from overthere.editions.url1994 import wpath_fields
from overthere.kernel.percent import percent_decode  # a broken escape of an older edition stays

_NAMES = {
    1: "original server",
    2: "original database",
    3: "original local id",
    4: "distributor server",
    5: "distributor database",
    6: "distributor local id",
    7: "copyright disposition",
}
# 1994: "the digits before the equals sign, and the field contents follow, ... terminated by ';'".
_FIELDS = re.compile("(?:[0-9]{1,8}=[^;=]*;)+")


class WAISField(NamedTuple):
    """A field of a document-id."""

    number: int
    data: bytes

    @property
    def name(self) -> str:
        """The name of the field, in the words of Document Identifiers; "" for a number without a name.

        >>> WAISField(1, b"vm:210").name
        'original server'
        """
        return _NAMES.get(self.number, "")


def compress_integer(number: int) -> bytes:
    """A compressed integer.

    >>> compress_integer(127), compress_integer(175)
    (b'\\x7f', b'\\x81/')
    """
    octets = [number & 0x7F]
    while number := number >> 7:
        octets.append(number & 0x7F | 0x80)
    return bytes(reversed(octets))


def read_compressed(octets: bytes, at: int) -> tuple[int, int]:
    """The compressed integer that begins at `at`, and where it ends.  Raises: ValueError if it is cut or too large."""
    number = 0
    for end in range(at, at + 5):  # no more than 32 bits
        if end >= len(octets):
            break
        number = number << 7 | octets[end] & 0x7F
        if octets[end] < 0x80:
            return number, end + 1
    raise ValueError(f"no compressed integer at octet {at}")


def tag_field(number: int, data: bytes) -> bytes:
    """A field or element: its number, its length, its octets.

    >>> tag_field(18, b"docs")
    b'\\x12\\x04docs'
    """
    return compress_integer(number) + compress_integer(len(data)) + data


def to_fields(octets: bytes) -> tuple[WAISField, ...]:
    """The fields of a document-id; () if it is not made up of fields.

    >>> to_fields(b"\\x01\\x06vm:210\\x07\\x01\\0")
    (WAISField(number=1, data=b'vm:210'), WAISField(number=7, data=b'\\x00'))
    """
    fields: list[WAISField] = []
    at = 0
    try:
        while at < len(octets):
            number, at = read_compressed(octets, at)
            length, at = read_compressed(octets, at)
            if at + length > len(octets):
                return ()
            fields.append(WAISField(number, octets[at : at + length]))
            at += length
    except ValueError:
        return ()
    return tuple(fields)


def _octets_of(raw: str) -> bytes:
    return percent_decode(raw.encode("utf-8", "surrogatepass"))


def from_fields(wpath: str, octets: Callable[[str], bytes] = _octets_of) -> bytes | None:
    """The document-id of a wpath that consists of encoded fields; None if it does not (1994 WAIS).

    octets: what a raw part stands for; escapes are octets in every edition.

    >>> from_fields("1=vm%3A210;7=%00;"), from_fields("%01%06vm%3A210")
    (b'\\x01\\x06vm:210\\x07\\x01\\x00', None)
    """
    if not _FIELDS.fullmatch(wpath):
        return None
    return b"".join(tag_field(int(n), octets(text)) for n, text in wpath_fields(wpath))
