r"""Parses the answers of an LDAP server from BER (RFC 4511 4.1, 4.2.2, 4.5.2).

Messages are parsed only as deep as they are defined, and only as much is stored as the policy allows, so
that wrong lengths and nested garbage cost no more than their bytes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError
from overthere.ground.display import printable
from overthere.ground.errors import CodingError
from overthere.protocols.ldap.message import ENUMERATED, INTEGER, OCTETS, SEQUENCE, Element, elements

if TYPE_CHECKING:
    from overthere.access.wire import Effect, Wire

BIND_RESPONSE, SEARCH_ENTRY, SEARCH_DONE, SEARCH_REFERENCE, EXTENDED = 0x61, 0x64, 0x65, 0x73, 0x78
SET, REFERRAL = 0x31, 0xA3
_MAX_URIS = 1_000
"""The limit of URIs in one referral."""
_MAX_ATTRIBUTES = 10_000
_MAX_VALUES = 1_000_000
_MAX_UNSOLICITED = 100
"""The limit of consecutive unsolicited notifications, which are skipped."""

# RFC 4511 4.1.9, in its words.
_CODES = {
    0: "success", 1: "operationsError", 2: "protocolError", 3: "timeLimitExceeded", 4: "sizeLimitExceeded",
    7: "authMethodNotSupported", 8: "strongerAuthRequired", 10: "referral", 11: "adminLimitExceeded",
    12: "unavailableCriticalExtension", 13: "confidentialityRequired", 14: "saslBindInProgress",
    16: "noSuchAttribute", 17: "undefinedAttributeType", 18: "inappropriateMatching", 21: "invalidAttributeSyntax",
    32: "noSuchObject", 33: "aliasProblem", 34: "invalidDNSyntax", 36: "aliasDereferencingProblem",
    48: "inappropriateAuthentication", 49: "invalidCredentials", 50: "insufficientAccessRights", 51: "busy",
    52: "unavailable", 53: "unwillingToPerform", 54: "loopDetect", 80: "other",
}  # fmt: skip


class Result(NamedTuple):
    """An LDAPResult (4.1.9)."""

    code: int
    matched: str
    """matchedDN: the part of the name that exists."""
    message: str
    """diagnosticMessage, for people."""
    referral: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{_CODES.get(self.code, 'a result')} ({self.code})"
        text += f": {printable(self.message)}" if self.message else ""
        return text + (f"; there is {printable(self.matched)!r}" if self.matched else "")

    def to_dict(self) -> dict[str, Any]:
        result = {"code": self.code, "name": _CODES.get(self.code, ""), "matchedDN": self.matched}
        return {**result, "diagnosticMessage": self.message, "referral": list(self.referral)}


def answer(wire: Wire, message_id: int, most: int, where: str) -> Generator[Effect, Any, Element]:
    """Return the operation of the next message that answers the message `message_id`.

    most: the maximal length of a message.

    Raises: ProtocolError for another or an invalid message; LimitExceeded for a longer one; AccessFailed if the
    connection ends first, or the server announces its end (4.4.1).
    """
    for _ in range(_MAX_UNSOLICITED):
        content = yield from _message(wire, most, where)
        parts = list(islice(_elements(content, where), 4))
        if not 2 <= len(parts) <= 3 or parts[0].tag != INTEGER or not 1 <= len(parts[0].content) <= 4:
            raise ProtocolError("the answer is not an LDAPMessage", "RFC 4511 4.1.1", where=where)
        if len(parts) == 3 and parts[2].tag != 0xA0:
            raise ProtocolError("the answer ends with something other than controls", "RFC 4511 4.1.1", where=where)
        answered_id = int.from_bytes(parts[0].content, "big", signed=True)
        operation = parts[1]
        if answered_id == message_id and operation.tag != EXTENDED:
            return operation
        if answered_id or operation.tag != EXTENDED:
            problem = f"the answer is to message {answered_id} and not to {message_id}"
            raise ProtocolError(problem, "RFC 4511 4.1.1.1", where=where)
        if any(part == (0x8A, _DISCONNECTION) for part in islice(_elements(operation.content, where), 6)):
            reason = str(result(operation, where))
            raise AccessFailed(f"the server ended the session: {reason}", "RFC 4511 4.4.1", where=where)
    raise ProtocolError(f"more than {_MAX_UNSOLICITED} notifications without an answer", "RFC 4511 4.4", where=where)


_DISCONNECTION = b"1.3.6.1.4.1.1466.20036"


def _message(wire: Wire, most: int, where: str) -> Generator[Effect, Any, bytes]:
    """Return the content of the next SEQUENCE; its length is checked before it is read (5.1)."""
    tag, length = yield from wire.read_exactly(2, where)
    if tag != SEQUENCE:
        raise ProtocolError(
            f"the answer begins with the octet {tag:02X}, which is not LDAP", "RFC 4511 4.1.1", where=where
        )
    if length >= 0x80:
        if not 0 < length & 0x7F < 9:
            raise ProtocolError("the answer has no definite length", "RFC 4511 5.1", where=where)
        length = int.from_bytes((yield from wire.read_exactly(length & 0x7F, where)), "big")
    if length > most:
        raise LimitExceeded(f"a message of {length:,} octets, more than {most:,}", where=where)
    return (yield from wire.read_exactly(length, where))


def _elements(octets: bytes, where: str) -> Iterator[Element]:
    try:
        yield from elements(octets)
    except CodingError as error:
        raise ProtocolError(f"the answer is not BER: {error}", "RFC 4511 5.1", where=where) from None


def _fields(octets: bytes, tags: tuple[int, ...], context: str, where: str) -> list[bytes]:
    """Return the contents of the first elements, which must have these tags."""
    elements = list(islice(_elements(octets, where), len(tags)))
    if tuple(element.tag for element in elements) != tags:
        raise ProtocolError(f"there is no {context} in the answer", "RFC 4511 4", where=where)
    return [element.content for element in elements]


def result(operation: Element, where: str) -> Result:
    """Parse the LDAPResult of a response.  Raises: ProtocolError, LimitExceeded."""
    code, matched, message = _fields(operation.content, (ENUMERATED, OCTETS, OCTETS), "LDAPResult", where)
    if not 0 < len(code) < 5:
        raise ProtocolError("the resultCode is not a number", "RFC 4511 4.1.9", where=where)
    optional_parts = islice(_elements(operation.content, where), 3, 8)
    referral = next((uris(part.content, where) for part in optional_parts if part.tag == REFERRAL), ())
    return Result(int.from_bytes(code, "big", signed=True), _decode_text(matched), _decode_text(message), referral)


def _decode_text(octets: bytes) -> str:
    return octets.decode("utf-8", "replace")


def uris(octets: bytes, where: str) -> tuple[str, ...]:
    """Return the URIs of a referral or of a SearchResultReference (4.1.10, 4.5.3)."""
    elements = list(islice(_elements(octets, where), _MAX_URIS + 1))
    if not elements or any(element.tag != OCTETS for element in elements):
        raise ProtocolError("a referral without URIs", "RFC 4511 4.1.10", where=where)
    if len(elements) > _MAX_URIS:
        raise LimitExceeded(f"a referral of more than {_MAX_URIS:,} URIs", where=where)
    return tuple(_decode_text(element.content) for element in elements)


def entry(operation: Element, where: str) -> tuple[bytes, dict[str, list[str] | list[bytes]]]:
    """Return the DN of a SearchResultEntry and its attributes (4.5.2): values as text if all values of an attribute
    are readable text, otherwise as bytes.  Raises: ProtocolError, LimitExceeded."""
    name, attributes = _fields(operation.content, (OCTETS, SEQUENCE), "SearchResultEntry", where)
    raw: dict[str, list[bytes]] = {}
    count = 0
    for attribute in _elements(attributes, where):
        kind, values = _fields(attribute.content, (OCTETS, SET), "PartialAttribute", where)
        attribute_values = raw.setdefault(_decode_text(kind), [])
        if len(raw) > _MAX_ATTRIBUTES:
            raise LimitExceeded(f"an entry of more than {_MAX_ATTRIBUTES:,} attributes", where=where)
        for value in _elements(values, where):
            if value.tag != OCTETS:
                raise ProtocolError("an attribute value is not an octet string", "RFC 4511 4.1.5", where=where)
            attribute_values.append(value.content)
            count += 1
            if count > _MAX_VALUES:
                raise LimitExceeded(f"an entry of more than {_MAX_VALUES:,} values", where=where)
    return name, {kind: _texts(kind, values) for kind, values in raw.items()}


def _texts(kind: str, values: list[bytes]) -> list[str] | list[bytes]:
    if "binary" in kind.lower().split(";")[1:]:  # the option (RFC 4522 3)
        return values
    try:
        texts = [value.decode() for value in values]
    except UnicodeDecodeError:
        return values
    return values if any(value.translate(None, _CONTROLS) != value for value in values) else texts


_CONTROLS = bytes(octet for octet in (*range(0x20), 0x7F) if octet not in b"\t\n\r")
