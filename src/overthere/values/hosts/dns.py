"""Host names that the DNS would reject; such a URI is still valid (RFC 1123 2.1).

RFC 3986 3.2.2 lets a registered name be almost anything.  A name that a machine has follows RFC 1034 3.5, RFC 1123 2.1
and, beyond US-ASCII, RFC 5890 to 5892 (after the mapping of UTS 46, as it is asked for).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from overthere.ground.display import printable
from overthere.ground.kinds import Finding, Kind
from overthere.kernel.percent import percent_decode
from overthere.values.hosts.address import literal
from overthere.values.hosts.idn import check_bidi, is_right_to_left, map_label, to_ascii, to_unicode

__all__ = ["KINDS", "check_host_name"]

KINDS: dict[str, Kind] = {
    "name-octets": Kind("{it} is not valid UTF-8",
        "host", "reg-name", "RFC 3986 3.2.2", "a%FF.example", "a%C3%BF.example"),
    "name-long": Kind("a name can have at most 253 characters (255 octets in the DNS)",
        "host", "domain", "RFC 1035 2.3.4", "abcdefgh." * 28 + "example", "abcdefgh." * 20 + "example"),
    "name-number": Kind("the last label is a number, so that software may read the name as an address",
        "host", "domain", "RFC 1123 2.1", "a.1", "1.a"),
    "label-empty": Kind("a label is empty", "host", "label", "RFC 1034 3.1", "a..example", "a.example."),
    "label-long": Kind("a label can have at most 63 octets",
        "host", "label", "RFC 1035 2.3.4", "a" * 64 + ".example", "a" * 63 + ".example"),
    "label-char": Kind('a label of a host can contain letters, digits and "-", but not {it}',
        "host", "label", "RFC 1123 2.1", "a_b.example", "a-b.example"),
    "label-hyphen": Kind('a label cannot begin or end with "-"',
        "host", "label", "RFC 1034 3.5", "-a.example", "a-a.example"),
    "label-hyphens": Kind('"--" as the third and fourth character is reserved for labels that begin with "xn"',
        "host", "label", "RFC 5891 4.2.3.1", "ab--c.example", "a--bc.example"),
    "label-idna": Kind("not a valid internationalized label: {it}",
        "host", "label", "RFC 5892 2", "xn--a.example", "xn--bcher-kva.example"),
    "label-bidi": Kind("not allowed next to labels that are written from right to left: {it}",
        "host", "label", "RFC 5893 2", "0a.xn--4db.example", "a0.xn--4db.example"),
}  # fmt: skip

_LONGEST_LABEL, _LONGEST_NAME = 63, 253
_READ = 1000
"""How long a label is looked at by IDNA; UTS 46 drops characters, so a few more than 63 may make a label."""
_PIECE = re.compile("(?:%[0-9A-Fa-f]{2})+|.", re.DOTALL)
_LDH = re.compile("[A-Za-z0-9-]*")
_NUMBER = re.compile("[0-9]+|0[xX][0-9A-Fa-f]*")


def check_host_name(host: str | None, *, limit: int = 1000) -> list[Finding]:
    """All findings of the DNS on a host as written in a URI; none for None, "" and addresses.

    Places are code points in `host`.  A final dot is valid.  An underscore is reported: hosts have none, though
    other DNS names do (RFC 8552).

    limit: the most findings.

    >>> [(found.kind, found.start, found.source) for found in check_host_name("a_b.-c.example")]
    [('label-char', 1, 'RFC 1123 2.1'), ('label-hyphen', 4, 'RFC 1034 3.5')]
    >>> check_host_name("b\u00fccher.example"), check_host_name("xn--bcher-kva.example."), check_host_name("[::1]")
    ([], [], [])
    """
    if not host or host[0] == "[" or literal(host) is not None:
        return []
    found = list[Finding]()
    for finding in _findings(host):
        if len(found) == limit:
            break
        found.append(finding)
    return found


def _finding(kind: str, start: int, end: int, it: str = "") -> Finding:
    row = KINDS[kind]
    return Finding(kind, start, end, row.component, row.rule, "", row.source, row.message.format(it=it))


def _findings(host: str) -> Iterator[Finding]:
    text, places = list[str](), list[int]()
    for piece in _PIECE.finditer(host):
        if len(piece[0]) == 1:
            text.append(piece[0])
            places.append(piece.start())
            continue
        octets = percent_decode(piece[0].encode())
        try:
            decoded = octets.decode()
        except UnicodeDecodeError as error:
            at = piece.start() + 3 * error.start
            yield _finding("name-octets", at, at + 3, host[at : at + 3])
            return
        at = piece.start()
        for character in decoded:
            text.append(character)
            places.append(at)
            at += 3 * len(character.encode())
    places.append(len(host))
    name = "".join(text)
    if name.endswith("."):
        name = name[:-1]
    at, length = 0, -1
    for label in name.split("."):
        octets_of = len(label)
        for kind, start, end, it in _of_label(label):
            yield _finding(kind, places[at + start], places[at + end], it)
        if not label.isascii() and len(label) <= _READ:
            octets_of = len(_a_label(label) or label)
        length += octets_of + 1
        at += len(label) + 1
    for label, start, why in _against_bidi(name):
        yield _finding("label-bidi", places[start], places[start + len(label)], why)
    last = name.rpartition(".")[2]
    if _NUMBER.fullmatch(last):
        yield _finding("name-number", places[len(name) - len(last)], places[len(name)])
    if length > _LONGEST_NAME:
        yield _finding("name-long", 0, len(host))


def _against_bidi(name: str) -> Iterator[tuple[str, int, str]]:
    """Labels of a Bidi domain name that are written from left to right and break its rule, each with its place."""
    if name.isascii() and "xn--" not in name.lower():
        return
    labels = name.split(".")
    shown = [_u_label(label) for label in labels]
    if not any(map(is_right_to_left, shown)):
        return
    at = 0
    for label, letters in zip(labels, shown, strict=True):
        if letters and not is_right_to_left(letters):  # the others were read by IDNA, with this rule
            try:
                check_bidi(letters)
            except UnicodeError as error:
                yield label, at, printable(str(error))
        at += len(label) + 1


def _u_label(label: str) -> str:
    """A label in its own script, if it is one of IDNA; it may have been too long to be read."""
    try:
        if not label.isascii():
            return map_label(label)
        return to_unicode(label.lower()) if label[:4].lower() == "xn--" else label.lower()
    except UnicodeError:
        return ""


def _of_label(label: str) -> Iterator[tuple[str, int, int, str]]:
    """Kind, place in the label, and what is told of it."""
    if not label:
        yield "label-empty", 0, 0, ""
        return
    whole = (0, len(label))
    if not label.isascii():
        if len(label) > _READ:
            yield "label-long", *whole, ""
        elif (why := _idna(label)) is not None:
            yield why[0], *whole, why[1]
        return
    if len(label) > _LONGEST_LABEL:
        yield "label-long", *whole, ""
    match = _LDH.match(label)
    good = match.end() if match else 0
    if good < len(label):
        yield "label-char", good, good + 1, printable(repr(label[good]))
        return
    if label[0] == "-" or label[-1] == "-":
        at = 0 if label[0] == "-" else len(label) - 1
        yield "label-hyphen", at, at + 1, ""
    elif label[2:4] == "--":
        if label[:2].lower() != "xn":
            yield "label-hyphens", 2, 4, ""
        elif len(label) <= _LONGEST_LABEL and (why := _idna(label)) is not None:
            yield why[0], *whole, why[1]


def _idna(label: str) -> tuple[str, str] | None:
    """Why a label is none of IDNA."""
    try:
        if label.isascii():
            to_unicode(label.lower())
        elif len(to_ascii(label)) > _LONGEST_LABEL and "." not in map_label(label):
            return "label-long", ""
    except UnicodeError as error:
        return ("label-long", "") if "too long" in str(error).lower() else ("label-idna", printable(str(error)))
    return None


def _a_label(label: str) -> str | None:
    try:
        return to_ascii(label)
    except UnicodeError:
        return None
