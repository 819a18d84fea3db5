"""Repair: the URI that an invalid text can only mean, with the place and the rule of each change.

A text is rejected if it has two readings, which could name another host or path than it shows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from typing import Any, NamedTuple

from overthere.editions.whatwg import SPECIAL, read
from overthere.ground.errors import KINDS, CodingError, Finding, InvalidURI
from overthere.ground.exact import exact
from overthere.ground.redact import MASK, hides_secrets, masked_repr, overlaps, secret_spans
from overthere.iri import IRIReference
from overthere.kernel import percent_encode
from overthere.kernel.classes import IPRIVATE, UCSCHAR
from overthere.kernel.reference import BIDI_CONTROLS, Parts, class_ranges, parse, recompose, split, split_authority
from overthere.values.findings import refusal, refuse_two_uris
from overthere.values.hosts.idn import a_labels
from overthere.values.iri_ladder import has_dns_hosts
from overthere.values.uri import URI, URIReference

AROUND = " \t\n\r\f"
MAPPED = "RFC 3987 3.1"
DATA = "RFC 3986 2.2"
PERCENT = "RFC 3986 2.4"
DELIMITED = "RFC 3986 Appendix C"
DRIVE = "RFC 8089 E.2.2"
NAME = "RFC 5891 4"

_BREAKS = re.compile(r"[\t\n\r]+")
_SPACE = re.compile(r"\S[ \t\n\r]++\S")
_PRINTABLE = ' <>"{}|\\^`'
"""RFC 3987 3.1: the printable characters of US-ASCII that a mapping of IRIs may escape."""
_BARE_PERCENT = "%(?![0-9A-Fa-f]{2})"
_NON_ASCII = f"(?![{BIDI_CONTROLS}])[{class_ranges(UCSCHAR)}]"
_INVALID = rf"{_BARE_PERCENT}|[{re.escape(_PRINTABLE)}\[\]]|{_NON_ASCII}"
_TO_ESCAPE = {
    "userinfo": _INVALID,
    "host": _NON_ASCII,
    "path": _INVALID,
    "query": f"{_INVALID}|[{class_ranges(IPRIVATE)}]",
    "fragment": f"{_INVALID}|\\#",
}
"""Characters that a repair escapes in each component."""


@cache
def _escape_pattern(component: str) -> re.Pattern[str]:
    """Compiled at the first repair: these classes would slow the start more than all other patterns."""
    return re.compile(f"(?:{_TO_ESCAPE[component]})++")


@hides_secrets
class RepairChange(NamedTuple):
    """One change of a repair."""

    start: int
    """Code-point offsets in the original text."""
    end: int
    before: str
    after: str
    what: str
    """Description for people."""
    source: str
    """The section that allows it."""


class SecretChange(RepairChange):
    """A change within a password or a token, which its repr hides."""

    __slots__ = ()

    def __repr__(self) -> str:
        return masked_repr(RepairChange(*self)._replace(before=MASK, after=MASK))


class Repaired(NamedTuple):
    """The intended URI and the necessary changes."""

    uri: URIReference
    changes: tuple[RepairChange, ...]
    total: int
    """The number of changes; `changes` has at most `limit` of them."""
    escaped: URIReference | None = None
    """With escapes for the letters of the host, if `uri` has A-labels that were not requested (RFC 3987 3.1)."""

    def __str__(self) -> str:
        return str(self.uri)

    def to_dict(self) -> dict[str, Any]:
        """Return the repair as text, lists and numbers."""
        changes = [change._asdict() for change in self.changes]
        escaped = None if self.escaped is None else str(self.escaped)
        return {"repaired": str(self), "escaped": escaped, "changes": changes, "total": self.total}


def repair(
    text: str,
    *,
    relative: bool = False,
    scheme: str | None = None,
    browsers: bool = False,
    idna: bool | None = None,
    limit: int | None = 1000,
) -> Repaired:
    """Return the URI that an invalid text means, by the repairs that the documents allow.

    It removes white space around the text, and line breaks and tabs inside (RFC 3986 Appendix C).  It escapes spaces,
    `<>"{}|\\^` and the backtick, non-ASCII characters (RFC 3987 3.1), a "%" that does not begin an escape (RFC 3986
    2.4), brackets outside of the host and "#" in a fragment (2.2).  A bar after the drive letter of a file becomes a
    colon (RFC 8089 E.2.2).  In a host it changes only non-ASCII letters: they become A-labels if the scheme looks hosts
    up in the DNS (RFC 3986 3.2.2), otherwise escapes.  A valid text has no changes unless `scheme` or `idna` requires
    one.

    relative: whether relative references are accepted as well.
    scheme: the scheme to guess for a text without one (4.5: "www.example.com/a"), by the rules of
    `overthere.text.typed`: "www.example.com:80" has none.  None: do not guess.
    browsers: whether to read a rejected text as browsers do (needs the extra `whatwg`); characters
    that URIs cannot contain are escaped.
    idna: whether a host name in letters or in escapes becomes A-labels (RFC 5891 4), in every scheme; False: letters
    become escapes.
    limit: how many changes are listed (None: all); `total` counts all.

    Raises: InvalidURI if the text has no or two possible readings: a backslash that browsers read as "/", a line
    break next to blanks, white space between two URIs, a second "@", other characters that a host or a port cannot
    contain, controls;
    CodingError if `idna` is true and the host is not a valid name under IDNA.

    >>> done = repair(" http://h/my file.html?q=100%&a[]=1")
    >>> str(done)
    'http://h/my%20file.html?q=100%25&a%5B%5D=1'
    >>> [(one.start, one.before, one.after, one.source) for one in done.changes][:2]
    [(0, ' ', '', 'RFC 3986 Appendix C'), (12, ' ', '%20', 'RFC 3987 3.1')]
    """
    original = exact(text, "repair()")
    kind: type[URIReference] = URIReference if relative else URI
    guessed_scheme = None if scheme is None else exact(scheme, "scheme")
    try:
        if _SPACE.search(original):
            refuse_two_uris(original, len(original) - len(original.lstrip(AROUND)), len(original.rstrip(AROUND)))
        return _repair(original, kind, guessed_scheme, limit, idna)
    except InvalidURI:
        if not browsers:
            raise
    return _repair_as_browser(original, kind, idna)


def to_reference(text: URIReference | str) -> tuple[URIReference | None, InvalidURI | None]:
    """Return a reference from a document: a value or valid text unchanged, an IRI-reference mapped, others repaired.

    The repair is that of `overthere.repair` (RFC 3987 3.1), which rejects a text with two readings; but a document
    delimits its references, so a URI behind white space in a query or a fragment is part of that, as in browsers.

    Returns: the reference (None if it cannot be read), and why the text is not a URI-reference (None if it is one) or,
    if not ASCII, not an IRI-reference.
    """
    if isinstance(text, URIReference):
        return text, None
    try:
        return URIReference(text), None
    except InvalidURI as error:
        problem = error.with_traceback(None)  # else a cycle with the callers' frames, which hold a task's rows
    if not text.isascii():
        try:
            return IRIReference(text).to_uri(), problem
        except InvalidURI as error:
            problem = error.with_traceback(None)
    try:
        if _SPACE.search(text):
            refuse_two_uris(text, 0, len(re.split("[?#]", text, maxsplit=1)[0]))
        return _repair(text, URIReference, idna=False).uri, problem
    except InvalidURI:
        return None, problem


def _repair(
    text: str, kind: type[URIReference], scheme: str | None = None, limit: int | None = 0, idna: bool | None = None
) -> Repaired:
    if parse(text, kind.rule) is not None and not (idna and "%" in text) and not _may_lack_scheme(text, scheme):
        return Repaired(kind(text), (), 0)
    work = _Repair(text, kind.rule, limit)
    if scheme is not None:
        work.add_scheme(scheme)
    parts = split(work.text)
    if idna or parse(work.text, kind.rule) is None:
        parts = work.repair_parts(parts, idna)
    repaired_text = recompose(parts)
    match = parse(repaired_text, kind.rule)
    if match is None or split(repaired_text) != parts:
        raise refusal(text, kind.rule)
    changes = tuple(sorted(work.changes))
    escaped = _repair(text, kind, scheme, idna=False).uri if work.has_a_labels and idna is None else None
    return Repaired(kind(repaired_text), changes, work.count, escaped)


def _may_lack_scheme(text: str, scheme: str | None) -> bool:
    """Whether a valid text may also be a host and a port: "www.example.com:80"."""
    return scheme is not None and _NAME_AND_PORT.match(text) is not None


_NAME_AND_PORT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:[0-9]")


class _Repair:
    """A text under repair: the remaining text, its places in the original, and the changes."""

    def __init__(self, original: str, rule: str, limit: int | None) -> None:
        self.input, self.rule, self.limit, self.count = original, rule, limit, 0
        self.changes: list[RepairChange] = []
        self.secrets = secret_spans(original) if limit != 0 else ()
        self.has_a_labels = False
        start, end = len(original) - len(original.lstrip(AROUND)), len(original.rstrip(AROUND))
        if start < end:
            self.drop(0, start, "leading white space")
            self.drop(end, len(original), "trailing white space")
        pieces: list[str] = []
        self.piece_starts: list[int] = []  # where each piece begins in `text`
        self.original_starts: list[int] = []  # and in `input`
        offset = 0
        while start < end:
            control = _BREAKS.search(original, start, end)
            piece_end = end if control is None else control.start()
            self.piece_starts.append(offset)
            self.original_starts.append(start)
            pieces.append(original[start:piece_end])
            offset += piece_end - start
            if control is None:
                break
            start = control.end()
            if original[control.start() - 1] == " " or original[start] == " ":
                message = "a line break or tab next to blanks: it is unclear which of them belong to the URI"
                raise self.ambiguity_error("control", "path", control.start(), start, message)
            self.drop(control.start(), start, "a line break or tab inside")
        self.text = "".join(pieces)

    def place(self, offset: int) -> int:
        """Return the offset in the original text."""
        piece = max(bisect_right(self.piece_starts, offset) - 1, 0)
        return self.original_starts[piece] + offset - self.piece_starts[piece] if self.piece_starts else offset

    def drop(self, start: int, end: int, description: str) -> None:
        if start < end:
            self.add(RepairChange(start, end, self.input[start:end], "", description, DELIMITED))

    def add(self, change: RepairChange) -> None:
        self.count += 1
        if self.limit is None or len(self.changes) < self.limit:
            secret = overlaps(self.secrets, change.start, change.end)
            self.changes.append(SecretChange(*change) if secret else change)

    def add_scheme(self, scheme: str) -> None:
        """Add a scheme: to a suffix reference (4.5), or to a reference with an authority (4.2)."""
        from overthere.text.typed_input import lacks_scheme

        is_host = lacks_scheme(self.text.partition(" ")[0])
        if self.text.startswith("//") and (is_host or scheme.lower() == "file"):
            added, source = f"{scheme}:", "RFC 3986 4.2"
        elif is_host:
            added, source = f"{scheme}://", "RFC 3986 4.5"
        elif split(self.text).scheme is None:
            raise refusal(self.input, self.rule)
        else:
            return
        start = self.place(0)
        self.add(RepairChange(start, start, "", added, "the scheme, which is a guess", source))
        self.text = added + self.text
        self.piece_starts = [0, *(piece_start + len(added) for piece_start in self.piece_starts)]
        self.original_starts = [start, *self.original_starts]

    def repair_parts(self, parts: Parts, idna: bool | None) -> Parts:
        """Return the components, each escaped by itself; the host's name in A-labels, as in `repair`."""
        scheme, authority, path, query, fragment = parts
        offset = 0 if scheme is None else len(scheme) + 1
        if authority is not None:
            offset += 2
            end = offset + len(authority)
            self.repair_character(authority + path, offset, scheme)
            userinfo, host, port = split_authority(authority)
            userinfo_text = "" if userinfo is None else self.escape_component("userinfo", userinfo, offset) + "@"
            host_start = offset + (0 if userinfo is None else len(userinfo) + 1)
            if idna is None and not host.isascii():
                idna = scheme is not None and has_dns_hosts(scheme.lower()) and _is_name(host)
            host = self.repair_host(host, host_start) if idna else self.escape_component("host", host, host_start)
            authority, offset = userinfo_text + host + ("" if port is None else f":{port}"), end
        else:
            self.repair_character(path, offset, scheme)
        fixed = [self.escape_component("path", self.repair_drive(scheme, path, offset), offset)]
        offset += len(path)
        for component, text in (("query", query), ("fragment", fragment)):
            fixed.append(None if text is None else self.escape_component(component, text, offset + 1))  # type: ignore[arg-type]
            offset += 0 if text is None else len(text) + 1
        return Parts(scheme, authority, *fixed)

    def repair_character(self, text: str, offset: int, scheme: str | None) -> None:
        """Reject a backslash before the query, which browsers read as "/" and this repair would escape."""
        at_backslash = text.find("\\")
        # In a special scheme (URL Standard 4.2); a reference may get one from its base.
        if at_backslash >= 0 and (scheme is None or scheme.lower() in SPECIAL):
            place = self.place(offset + at_backslash)
            message = 'a "\\" is a "/" to browsers but not by RFC 3986: it is unclear which is meant'
            raise self.ambiguity_error("path-char", "path", place, place + 1, message)

    def repair_host(self, host: str, offset: int) -> str:
        """Return a host whose letters and escapes are A-labels."""
        try:
            name = a_labels(host)
        except UnicodeError as error:
            raise CodingError(f"the host {host!r} is not a valid domain name under IDNA: {error} ({NAME})") from None
        if name != host:
            self.has_a_labels = True
            start, end = self.place(offset), self.place(offset + len(host) - 1) + 1
            self.add(RepairChange(start, end, self.input[start:end], name, "the host name as A-labels", NAME))
        return name

    def repair_drive(self, scheme: str | None, path: str, offset: int) -> str:
        """Return a path of a file, in which a bar after a drive letter becomes a colon."""
        if scheme is None or scheme.lower() != "file" or (match := _DRIVE.match(path)) is None:
            return path
        bar = self.place(offset + match.end() - 1)
        self.add(RepairChange(bar, bar + 1, "|", ":", "a bar after a drive letter", DRIVE))
        return path[: match.end() - 1] + ":" + path[match.end() :]

    def escape_component(self, component: str, text: str, offset: int) -> str:
        def run(match: re.Match[str]) -> str:
            invalid_run, run_start = match[0], offset + match.start()
            for same_reason in _SAME_REASON.finditer(invalid_run):
                start, same_end = run_start + same_reason.start(), run_start + same_reason.end()
                while start < same_end:  # removed characters split a run
                    piece = bisect_right(self.piece_starts, start)
                    end = min(same_end, self.piece_starts[piece]) if piece < len(self.piece_starts) else same_end
                    if self.limit is not None and len(self.changes) >= self.limit:
                        self.count += 1
                    else:
                        place, before = self.place(start), invalid_run[start - run_start : end - run_start]
                        reason = _reason(before[0])
                        self.add(RepairChange(place, place + len(before), before, _escapes(before), *reason))
                    start = end
            return _escapes(invalid_run)

        return _escape_pattern(component).sub(run, text)

    def ambiguity_error(self, kind: str, component: str, start: int, end: int, message: str) -> InvalidURI:
        """Return the error for a text with two readings."""
        return InvalidURI(self.input, Finding(kind, start, end, component, component, "", KINDS[kind].source, message))


def _is_name(host: str) -> bool:
    """Whether a host can be written in A-labels."""
    try:
        return bool(a_labels(host))
    except UnicodeError:
        return False


_DRIVE = re.compile(r"/?[A-Za-z]\|(?=/|\Z)")

_REASONS = {
    "%": ('a "%" that does not begin an escape', PERCENT),
    "[": ("a bracket outside the host", DATA),
    "]": ("a bracket outside the host", DATA),
    "#": ('a "#" inside the fragment', DATA),
}
_INVALID_REASON = ("a character that URIs cannot contain", MAPPED)
_NON_ASCII_REASON = ("a non-ASCII character", MAPPED)


_SAME_REASON = re.compile(r"%++|[\[\]]++|#++|[^\x00-\x7f]++|[\x00-\"$&-Z\\^-\x7f]++")
"""Characters that one change covers: those with one reason."""


def _reason(character: str) -> tuple[str, str]:
    return _REASONS.get(character, _INVALID_REASON if character.isascii() else _NON_ASCII_REASON)


def _escapes(text: str) -> str:
    return percent_encode(text.encode(), "")


def _repair_as_browser(text: str, kind: type[URIReference], idna: bool | None) -> Repaired:
    href = read(text)
    if href is None:
        raise refusal(text, kind.rule)
    uri = _repair(href.href, kind, idna=idna).uri
    change = RepairChange(0, len(text), text, str(uri), "the text as browsers read it", "URL Standard 4.4")
    return Repaired(uri, (change,), 1)
