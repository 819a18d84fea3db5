"""Host names that the DNS would reject; such a URI is still valid (RFC 1123 2.1).

RFC 3986 3.2.2 allows almost anything in a registered name.  The name of a host follows RFC 1034 3.5, RFC 1123 2.1 and,
beyond US-ASCII, RFC 5890 to 5892 (after the mapping of UTS 46, as it is looked up).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from overthere.ground.display import printable
from overthere.ground.kinds import Finding, Kind
from overthere.kernel.percent import percent_decode
from overthere.values.hosts.address import literal
from overthere.values.hosts.idn import check_bidi, is_right_to_left, map_label, to_ascii, to_unicode

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

_MAX_LABEL, _MAX_NAME = 63, 253
_MAX_READ = 1000
"""Characters of a label that IDNA reads; UTS 46 drops characters, so a few more than 63 may make a label."""
_PIECE = re.compile("(?:%[0-9A-Fa-f]{2})+|.", re.DOTALL)
_LDH = re.compile("[A-Za-z0-9-]*")
_NUMBER = re.compile("[0-9]+|0[xX][0-9A-Fa-f]*")


def check_host_name(host: str | None, *, limit: int = 1000) -> list[Finding]:
    """Return the DNS findings on a host as written in a URI; none for None, "" and addresses.

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
    findings = list[Finding]()
    for finding in _findings(host):
        if len(findings) == limit:
            break
        findings.append(finding)
    return findings


def _finding(kind: str, start: int, end: int, subject: str = "") -> Finding:
    row = KINDS[kind]
    return Finding(kind, start, end, row.component, row.rule, "", row.source, row.message.format(it=subject))


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
            offset = piece.start() + 3 * error.start
            yield _finding("name-octets", offset, offset + 3, host[offset : offset + 3])
            return
        offset = piece.start()
        for character in decoded:
            text.append(character)
            places.append(offset)
            offset += 3 * len(character.encode())
    places.append(len(host))
    name = "".join(text)
    if name.endswith("."):
        name = name[:-1]
    offset, length = 0, -1
    for label in name.split("."):
        octet_count = len(label)
        for kind, start, end, subject in _label_problems(label):
            yield _finding(kind, places[offset + start], places[offset + end], subject)
        if not label.isascii() and len(label) <= _MAX_READ:
            octet_count = len(_a_label(label) or label)
        length += octet_count + 1
        offset += len(label) + 1
    for label, start, problem in _bidi_problems(name):
        yield _finding("label-bidi", places[start], places[start + len(label)], problem)
    last_label = name.rpartition(".")[2]
    if _NUMBER.fullmatch(last_label):
        yield _finding("name-number", places[len(name) - len(last_label)], places[len(name)])
    if length > _MAX_NAME:
        yield _finding("name-long", 0, len(host))


def _bidi_problems(name: str) -> Iterator[tuple[str, int, str]]:
    """Yield labels of a Bidi domain name that are left-to-right and break its rule, each with its place and problem."""
    if name.isascii() and "xn--" not in name.lower():
        return
    labels = name.split(".")
    unicode_labels = [_u_label(label) for label in labels]
    if not any(map(is_right_to_left, unicode_labels)):
        return
    offset = 0
    for label, letters in zip(labels, unicode_labels, strict=True):
        if letters and not is_right_to_left(letters):  # IDNA has checked the others by this rule
            try:
                check_bidi(letters)
            except UnicodeError as error:
                yield label, offset, printable(str(error))
        offset += len(label) + 1


def _u_label(label: str) -> str:
    """Return a label in its own script; "" if it is invalid in IDNA, or too long to be read."""
    try:
        if not label.isascii():
            return map_label(label)
        return to_unicode(label.lower()) if label[:4].lower() == "xn--" else label.lower()
    except UnicodeError:
        return ""


def _label_problems(label: str) -> Iterator[tuple[str, int, int, str]]:
    """Yield the kind of each problem, its place in the label, and the subject of its message."""
    if not label:
        yield "label-empty", 0, 0, ""
        return
    full_span = (0, len(label))
    if not label.isascii():
        if len(label) > _MAX_READ:
            yield "label-long", *full_span, ""
        elif (problem := _idna_problem(label)) is not None:
            yield problem[0], *full_span, problem[1]
        return
    if len(label) > _MAX_LABEL:
        yield "label-long", *full_span, ""
    match = _LDH.match(label)
    valid_length = match.end() if match else 0
    if valid_length < len(label):
        yield "label-char", valid_length, valid_length + 1, printable(repr(label[valid_length]))
        return
    if label[0] == "-" or label[-1] == "-":
        hyphen = 0 if label[0] == "-" else len(label) - 1
        yield "label-hyphen", hyphen, hyphen + 1, ""
    elif label[2:4] == "--":
        if label[:2].lower() != "xn":
            yield "label-hyphens", 2, 4, ""
        elif len(label) <= _MAX_LABEL and (problem := _idna_problem(label)) is not None:
            yield problem[0], *full_span, problem[1]


def _idna_problem(label: str) -> tuple[str, str] | None:
    """Return the kind and message of a label's problem in IDNA; None if it is valid."""
    try:
        if label.isascii():
            to_unicode(label.lower())
        elif len(to_ascii(label)) > _MAX_LABEL and "." not in map_label(label):
            return "label-long", ""
    except UnicodeError as error:
        return ("label-long", "") if "too long" in str(error).lower() else ("label-idna", printable(str(error)))
    return None


def _a_label(label: str) -> str | None:
    try:
        return to_ascii(label)
    except UnicodeError:
        return None
