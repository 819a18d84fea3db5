r"""LDAP messages in BER (RFC 4511), and their search filters (RFC 4515).

BER is restricted by RFC 4511 5.1: definite lengths only, octet strings in one piece, TRUE as FF; lengths and integers
are written in the shortest form.  There is no recursion: a filter may nest as deep as its text is long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from overthere.ground.errors import CodingError, PlanRefused

BOOLEAN, INTEGER, OCTETS, ENUMERATED, SEQUENCE = 0x01, 0x02, 0x04, 0x0A, 0x30
_SCOPES = {"base": 0, "one": 1, "sub": 2}
_SET_OPERATORS = {"&": 0xA0, "|": 0xA1, "!": 0xA2}
_COMPARISONS = {"=": 0xA3, ">=": 0xA5, "<=": 0xA6, "~=": 0xA8}
_SUBSTRINGS, _PRESENT, _EXTENSIBLE = 0xA4, 0x87, 0xA9


class Element(NamedTuple):
    """A tag of one byte (LDAP has no others), and its content."""

    tag: int
    content: bytes


def _head(tag: int, length: int) -> bytes:
    if length < 0x80:
        return bytes((tag, length))
    octets = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(octets))) + octets


def element(tag: int, *contents: bytes) -> bytes:
    r"""Write a tag, the length in its shortest form, and the contents in sequence.

    >>> element(SEQUENCE, integer(3), element(0x42)), element(OCTETS, bytes(200))[:4]
    (b'0\x05\x02\x01\x03B\x00', b'\x04\x81\xc8\x00')
    """
    content = b"".join(contents)
    return _head(tag, len(content)) + content


def elements(octets: bytes) -> Iterator[Element]:
    r"""Parse a sequence of elements.

    Raises: CodingError for elements that RFC 4511 5.1 does not allow, and if the data ends too early.

    >>> list(elements(b"\x02\x01\x03B\x00"))
    [Element(tag=2, content=b'\x03'), Element(tag=66, content=b'')]
    """
    position = 0
    while position < len(octets):
        if octets[position] & 0x1F == 0x1F or position + 1 == len(octets):
            raise CodingError(f"no tag and length at octet {position} (RFC 4511 5.1)")
        tag, length, start = octets[position], octets[position + 1], position + 2
        if length >= 0x80:
            count = length & 0x7F
            if not 0 < count < 9 or start + count > len(octets):
                raise CodingError(f"no definite length at octet {position + 1} (RFC 4511 5.1)")
            length, start = int.from_bytes(octets[start : start + count], "big"), start + count
        if start + length > len(octets):
            raise CodingError(f"the element at octet {position} is longer than the rest (RFC 4511 5.1)")
        yield Element(tag, octets[start : start + length])
        position = start + length


def integer(value: int, tag: int = INTEGER) -> bytes:
    r"""Write an INTEGER, or with its tag an ENUMERATED.

    >>> integer(0), integer(128), integer(2, ENUMERATED)
    (b'\x02\x01\x00', b'\x02\x02\x00\x80', b'\n\x01\x02')
    """
    bits = (value if value >= 0 else ~value).bit_length()
    return element(tag, value.to_bytes(bits // 8 + 1, "big", signed=True))


def bind_request(number: int, name: bytes = b"", password: bytes = b"") -> bytes:
    r"""Return the bind request with a name and password; without both it is anonymous (RFC 4511 4.2).

    >>> bind_request(1)
    b'0\x0c\x02\x01\x01`\x07\x02\x01\x03\x04\x00\x80\x00'
    """
    return element(SEQUENCE, integer(number), element(0x60, integer(3), element(OCTETS, name), element(0x80, password)))


def search_request(number: int, base: bytes, scope: str, filter: str, attributes: Iterable[bytes]) -> bytes:
    """Return the search request (RFC 4511 4.5.1): it does not dereference aliases, has no limits, and requests
    values.

    Raises: PlanRefused for an invalid filter.
    """
    return element(
        SEQUENCE,
        integer(number),
        element(
            0x63,
            element(OCTETS, base),
            integer(_SCOPES[scope], ENUMERATED),
            integer(0, ENUMERATED),  # neverDerefAliases
            integer(0),  # sizeLimit
            integer(0),  # timeLimit
            element(BOOLEAN, b"\x00"),  # typesOnly
            encoded_filter(filter),
            element(SEQUENCE, *(element(OCTETS, name) for name in attributes)),
        ),
    )


def unbind_request(number: int) -> bytes:
    r"""Return the message that ends the session (RFC 4511 4.3).

    >>> unbind_request(3)
    b'0\x05\x02\x01\x03B\x00'
    """
    return element(SEQUENCE, integer(number), element(0x42))


# RFC 4512 1.4 and 2.5, RFC 4515 3.
_NUMBER = "(?:0|[1-9][0-9]*)"
_OID = rf"(?:[A-Za-z][A-Za-z0-9-]*|{_NUMBER}(?:\.{_NUMBER})+)"
_DESCRIPTION = rf"{_OID}(?:;[A-Za-z0-9-]+)*"
_ITEM = re.compile(
    rf"(?s:(?P<type>{_DESCRIPTION})(?P<comparison>=|~=|>=|<=)(?P<value>.*)"
    rf"|(?:(?P<of>{_DESCRIPTION})(?P<dn>:[dD][nN])?(?::(?P<rule>{_OID}))?|(?P<all_dn>:[dD][nN])?:(?P<all_rule>{_OID}))"
    rf":=(?P<asserted>.*))"
)
_PARENTHESIZED = re.compile(r"\(([^()]*)\)")
_HEX = re.compile(b"[0-9A-Fa-f]{2}")
# Characters that must be escaped in a value; a surrogate represents a byte that is not UTF-8.
_UNESCAPED = re.compile("[\0\t\n\r*\ud800-\udfff]")


def encoded_filter(text: str) -> bytes:
    r"""Encode a filter (RFC 4515 3, with the empty lists of RFC 4526) for a search request (RFC 4511 4.5.1.7).

    The text is parsed forwards, and the bytes are assembled backwards, so that each length is known when it is
    written: linear in the length of the text.

    Raises: PlanRefused, with the place in the text, if the filter is invalid.

    >>> encoded_filter("(cn=Babs Jensen)"), encoded_filter(r"(!(objectClass=*))")
    (b'\xa3\x11\x04\x02cn\x04\x0bBabs Jensen', b'\xa2\r\x87\x0bobjectClass')
    """
    pieces: list[bytes] = []
    end_sizes: list[int] = []
    size = 0
    for token in reversed(list(_tokens(text))):
        if token is None:
            end_sizes.append(size)
            continue
        piece = _head(token, size - end_sizes.pop()) if isinstance(token, int) else token
        pieces.append(piece)
        size += len(piece)
    return b"".join(reversed(pieces))


def _tokens(text: str) -> Iterator[int | bytes | None]:
    """Yield the tag of a set or negation at its beginning, None at its end, and the bytes of each item between them."""
    open_operators: list[str] = []
    counts = [0]
    at = 0
    while at == 0 or open_operators:
        if text[at : at + 1] == "(" and text[at + 1 : at + 2] in _SET_OPERATORS:
            open_operators.append(text[at + 1])
            counts.append(0)
            yield _SET_OPERATORS[text[at + 1]]
            at += 2
            continue
        if text[at : at + 1] == ")" and open_operators:
            if counts.pop() != 1 and open_operators[-1] == "!":
                raise _refusal("a negation must contain one filter", at)
            open_operators.pop()
            yield None
            at += 1
        elif leaf := _PARENTHESIZED.match(text, at):
            yield _item(leaf[1], at + 1)
            at = leaf.end()
        else:
            raise _refusal('expected a filter in parentheses, "(type=value)", or its ")"', at)
        counts[-1] += 1
    if at != len(text):
        raise _refusal("the filter is at its end", at)


def _item(text: str, at: int) -> bytes:
    match = _ITEM.fullmatch(text)
    if match is None:
        raise _refusal("expected an attribute type, a comparison and a value", at)
    if match["type"] is None:
        of, rule = match["of"], match["rule"] or match["all_rule"]
        asserted = _value(match["asserted"], at + match.start("asserted"))
        return element(
            _EXTENSIBLE,
            element(0x81, rule.encode()) if rule else b"",
            element(0x82, of.encode()) if of else b"",
            element(0x83, asserted),
            element(0x84, b"\xff") if match["dn"] or match["all_dn"] else b"",
        )
    kind, value, start = match["type"].encode(), match["value"], at + match.start("value")
    if match["comparison"] != "=" or "*" not in value:
        asserted = _value(value, start)
        return element(_COMPARISONS[match["comparison"]], element(OCTETS, kind), element(OCTETS, asserted))
    if value == "*":
        return element(_PRESENT, kind)
    return element(_SUBSTRINGS, element(OCTETS, kind), element(SEQUENCE, *_substrings(value, start)))


def _substrings(value: str, at: int) -> Iterator[bytes]:
    """Yield the non-empty strings before, between and after the asterisks: an empty string is not a substring
    (RFC 4517 3.3.30), and RFC 4511 4.5.1.7.2 requires at least one."""
    if not value.strip("*"):
        raise _refusal("expected a string next to the asterisks", at)
    parts = value.split("*")
    for number, part in enumerate(parts):
        if part:
            tag = 0x80 if number == 0 else 0x82 if number == len(parts) - 1 else 0x81
            yield element(tag, _value(part, at))
        at += len(part) + 1


def _value(text: str, at: int) -> bytes:
    """Decode the escapes of an assertion value.  Control characters of line-based protocols are accepted only as
    escapes, so that an encoded line end of a URI is not sent unless its filter has it."""
    if match := _UNESCAPED.search(text):
        raise _refusal(f"U+{ord(match[0]):04X} in a value is written \\{ord(match[0]) & 0xFF:02x}", at + match.start())
    first, *escaped = text.encode().split(b"\\")
    for octets in escaped:
        if not _HEX.match(octets):
            raise _refusal("two hexadecimal digits must follow a backslash", at)
    return first + b"".join(bytes((int(octets[:2], 16),)) + octets[2:] for octets in escaped)


def _refusal(reason: str, at: int) -> PlanRefused:
    return PlanRefused(f"the filter cannot be sent: {reason}", f"at {at}; RFC 4515 3")
