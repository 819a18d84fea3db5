"""Repair: the URI that a text which is none can only mean, each change with its place and its licence.

A text that could name another host or another path than it shows is refused: never two readings.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from typing import Any, NamedTuple

from overthere.editions.whatwg import SPECIAL, read
from overthere.ground.errors import KINDS, CodingError, Finding, InvalidURI
from overthere.ground.exact import exact
from overthere.ground.redact import MASK, masked_repr, overlaps, secret_spans
from overthere.iri import IRIReference
from overthere.kernel import percent_encode
from overthere.kernel.classes import IPRIVATE, UCSCHAR
from overthere.kernel.reference import BIDI_CONTROLS, Parts, class_ranges, parse, recompose, split, split_authority
from overthere.values.findings import refusal
from overthere.values.hosts.idn import a_labels
from overthere.values.iri_ladder import has_dns_hosts
from overthere.values.uri import URI, URIReference

__all__ = ["RepairChange", "Repaired", "SecretChange", "repair", "to_reference"]

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
_BARE = "%(?![0-9A-Fa-f]{2})"
_BEYOND = f"(?![{BIDI_CONTROLS}])[{class_ranges(UCSCHAR)}]"
_WRONG = rf"{_BARE}|[{re.escape(_PRINTABLE)}\[\]]|{_BEYOND}"
_ESCAPED = {
    "userinfo": _WRONG,
    "host": _BEYOND,
    "path": _WRONG,
    "query": f"{_WRONG}|[{class_ranges(IPRIVATE)}]",
    "fragment": f"{_WRONG}|\\#",
}
"""What a repair escapes in each component."""


@cache
def _runs(component: str) -> re.Pattern[str]:
    """Compiled at the first repair: these classes take more of a start than all other patterns."""
    return re.compile(f"(?:{_ESCAPED[component]})++")


class RepairChange(NamedTuple):
    """One change of a repair."""

    start: int
    """Code-point offsets in the text that was given."""
    end: int
    before: str
    after: str
    what: str
    """In words."""
    source: str
    """The paragraph that allows it."""

    def __repr__(self) -> str:
        return masked_repr(self)


class SecretChange(RepairChange):
    """A change within a password or a token, which its repr does not show."""

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
    """With the letters of the host in escapes, where `uri` has A-labels that were not requested (RFC 3987 3.1)."""

    def __str__(self) -> str:
        return str(self.uri)

    def to_dict(self) -> dict[str, Any]:
        """The repair as text, lists and numbers."""
        changes = [one._asdict() for one in self.changes]
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
    """The URI that an invalid text means, by the repairs that the documents allow.

    Removed: white space around it, and line breaks and tabs inside (RFC 3986 Appendix C).  Escaped: spaces,
    `<>"{}|\\^` and the backtick, and what is beyond US-ASCII (RFC 3987 3.1), a "%" that begins no escape (RFC 3986
    2.4), brackets outside of the host and "#" in a fragment (2.2).  A bar after the drive letter of a file becomes a
    colon (RFC 8089 E.2.2).  Nothing else is changed; in a host, only non-ASCII letters are: they become A-labels where
    the scheme looks hosts up in the DNS (RFC 3986 3.2.2), otherwise escapes.  A valid text has no changes unless
    `scheme` or `idna` requires one.

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
    CodingError for a host that is not a name under IDNA, where `idna` asks for one.

    >>> done = repair(" http://h/my file.html?q=100%&a[]=1")
    >>> str(done)
    'http://h/my%20file.html?q=100%25&a%5B%5D=1'
    >>> [(one.start, one.before, one.after, one.source) for one in done.changes][:2]
    [(0, ' ', '', 'RFC 3986 Appendix C'), (12, ' ', '%20', 'RFC 3987 3.1')]
    """
    given = exact(text, "repair()")
    kind: type[URIReference] = URIReference if relative else URI
    guessed = None if scheme is None else exact(scheme, "scheme")
    try:
        if _SPACE.search(given):
            from overthere.text.typed_input import refuse_two_uris

            refuse_two_uris(given, len(given) - len(given.lstrip(AROUND)), len(given.rstrip(AROUND)))
        return _repair(given, kind, guessed, limit, idna)
    except InvalidURI:
        if not browsers:
            raise
    return _repair_as_browser(given, kind, idna)


def to_reference(text: URIReference | str) -> tuple[URIReference | None, InvalidURI | None]:
    """A reference from a document: unchanged, or mapped from an IRI-reference, or repaired; a value stays as it is.

    The repair is that of `overthere.repair` (RFC 3987 3.1), which rejects a text with two readings.

    Returns: the reference (None if there is none), and why the text is not a URI-reference (None if it is one) or,
    if not ASCII, not an IRI-reference.
    """
    if isinstance(text, URIReference):
        return text, None
    try:
        return URIReference(text), None
    except InvalidURI as error:
        problem = error
    if not text.isascii():
        try:
            return IRIReference(text).to_uri(), problem
        except InvalidURI as error:
            problem = error
    try:
        return repair(text, relative=True, idna=False, limit=0).uri, problem
    except InvalidURI:
        return None, problem


def _repair(
    given: str, kind: type[URIReference], scheme: str | None = None, limit: int | None = 0, idna: bool | None = None
) -> Repaired:
    if parse(given, kind.rule) is not None and not (idna and "%" in given) and not _may_lack_scheme(given, scheme):
        return Repaired(kind(given), (), 0)
    work = _Work(given, kind.rule, limit)
    if scheme is not None:
        work.add_scheme(scheme)
    parts = split(work.text)
    if idna or parse(work.text, kind.rule) is None:
        parts = work.repair_parts(parts, idna)
    whole = recompose(parts)
    match = parse(whole, kind.rule)
    if match is None or split(whole) != parts:
        raise refusal(given, kind.rule)
    changes = tuple(sorted(work.changes))
    escaped = _repair(given, kind, scheme, idna=False).uri if work.has_a_labels and idna is None else None
    return Repaired(kind(whole), changes, work.count, escaped)


def _may_lack_scheme(given: str, scheme: str | None) -> bool:
    """Whether a valid text may still be a host and a port: "www.example.com:80"."""
    return scheme is not None and _NAME_AND_PORT.match(given) is not None


_NAME_AND_PORT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:[0-9]")


class _Work:
    """A text under repair: what of it is left, where that stood, and what was changed."""

    def __init__(self, given: str, rule: str, limit: int | None) -> None:
        self.given, self.rule, self.limit, self.count = given, rule, limit, 0
        self.changes: list[RepairChange] = []
        self.secrets = secret_spans(given) if limit != 0 else ()
        self.has_a_labels = False
        start, end = len(given) - len(given.lstrip(AROUND)), len(given.rstrip(AROUND))
        if start < end:
            self.drop(0, start, "leading white space")
            self.drop(end, len(given), "trailing white space")
        pieces: list[str] = []
        self.ours: list[int] = []  # where each piece begins in `text`
        self.theirs: list[int] = []  # and in `given`
        at = 0
        while start < end:
            control = _BREAKS.search(given, start, end)
            stop = end if control is None else control.start()
            self.ours.append(at)
            self.theirs.append(start)
            pieces.append(given[start:stop])
            at += stop - start
            if control is None:
                break
            start = control.end()
            if given[control.start() - 1] == " " or given[start] == " ":
                why = "a line break or tab next to blanks: it is unclear which of them belong to the URI"
                raise self.ambiguity_error("control", "path", control.start(), start, why)
            self.drop(control.start(), start, "a line break or tab inside")
        self.text = "".join(pieces)

    def place(self, at: int) -> int:
        """The offset in what was given."""
        piece = max(bisect_right(self.ours, at) - 1, 0)
        return self.theirs[piece] + at - self.ours[piece] if self.ours else at

    def drop(self, start: int, end: int, what: str) -> None:
        if start < end:
            self.add(RepairChange(start, end, self.given[start:end], "", what, DELIMITED))

    def add(self, change: RepairChange) -> None:
        self.count += 1
        if self.limit is None or len(self.changes) < self.limit:
            secret = overlaps(self.secrets, change.start, change.end)
            self.changes.append(SecretChange(*change) if secret else change)

    def add_scheme(self, scheme: str) -> None:
        """4.5: a suffix reference, or 4.2: one without a scheme but with an authority."""
        from overthere.text.typed_input import lacks_scheme

        is_host = lacks_scheme(self.text.partition(" ")[0])
        if self.text.startswith("//") and (is_host or scheme.lower() == "file"):
            added, source = f"{scheme}:", "RFC 3986 4.2"
        elif is_host:
            added, source = f"{scheme}://", "RFC 3986 4.5"
        elif split(self.text).scheme is None:
            raise refusal(self.given, self.rule)
        else:
            return
        at = self.place(0)
        self.add(RepairChange(at, at, "", added, "the scheme, which is a guess", source))
        self.text = added + self.text
        self.ours = [0, *(ours + len(added) for ours in self.ours)]
        self.theirs = [at, *self.theirs]

    def repair_parts(self, parts: Parts, idna: bool | None) -> Parts:
        """The components, each escaped by itself; the name of the host in A-labels, as in `repair`."""
        scheme, authority, path, query, fragment = parts
        at = 0 if scheme is None else len(scheme) + 1
        if authority is not None:
            at += 2
            end = at + len(authority)
            self.repair_character(authority + path, at, scheme)
            userinfo, host, port = split_authority(authority)
            named = "" if userinfo is None else self.escape_component("userinfo", userinfo, at) + "@"
            first = at + (0 if userinfo is None else len(userinfo) + 1)
            if idna is None and not host.isascii():
                idna = scheme is not None and has_dns_hosts(scheme.lower()) and _is_name(host)
            host = self.repair_host(host, first) if idna else self.escape_component("host", host, first)
            authority, at = named + host + ("" if port is None else f":{port}"), end
        else:
            self.repair_character(path, at, scheme)
        mended = [self.escape_component("path", self.repair_drive(scheme, path, at), at)]
        at += len(path)
        for component, text in (("query", query), ("fragment", fragment)):
            mended.append(None if text is None else self.escape_component(component, text, at + 1))  # type: ignore[arg-type]
            at += 0 if text is None else len(text) + 1
        return Parts(scheme, authority, *mended)

    def repair_character(self, text: str, at: int, scheme: str | None) -> None:
        """A backslash before the query is a "/" to browsers, and here a character to escape."""
        at_backslash = text.find("\\")
        # In a special scheme (URL Standard 4.2); a reference may come to have one.
        if at_backslash >= 0 and (scheme is None or scheme.lower() in SPECIAL):
            place = self.place(at + at_backslash)
            why = 'a "\\" is a "/" to browsers but not by RFC 3986: it is unclear which is meant'
            raise self.ambiguity_error("path-char", "path", place, place + 1, why)

    def repair_host(self, host: str, at: int) -> str:
        """A host whose letters, and whose escapes, are A-labels."""
        try:
            name = a_labels(host)
        except UnicodeError as error:
            raise CodingError(f"the host {host!r} is not a valid domain name under IDNA: {error} ({NAME})") from None
        if name != host:
            self.has_a_labels = True
            start, end = self.place(at), self.place(at + len(host) - 1) + 1
            self.add(RepairChange(start, end, self.given[start:end], name, "the host name as A-labels", NAME))
        return name

    def repair_drive(self, scheme: str | None, path: str, at: int) -> str:
        """A path of a file, in which a bar after a drive letter is a colon."""
        if scheme is None or scheme.lower() != "file" or (match := _DRIVE.match(path)) is None:
            return path
        place = self.place(at + match.end() - 1)
        self.add(RepairChange(place, place + 1, "|", ":", "a bar after a drive letter", DRIVE))
        return path[: match.end() - 1] + ":" + path[match.end() :]

    def escape_component(self, component: str, text: str, at: int) -> str:
        def run(match: re.Match[str]) -> str:
            whole, first = match[0], at + match.start()
            for same in _SAME.finditer(whole):
                start, stop = first + same.start(), first + same.end()
                while start < stop:  # what is taken away parts a run
                    piece = bisect_right(self.ours, start)
                    end = min(stop, self.ours[piece]) if piece < len(self.ours) else stop
                    if self.limit is not None and len(self.changes) >= self.limit:
                        self.count += 1
                    else:
                        place, before = self.place(start), whole[start - first : end - first]
                        reason = _reason(before[0])
                        self.add(RepairChange(place, place + len(before), before, _escapes(before), *reason))
                    start = end
            return _escapes(whole)

        return _runs(component).sub(run, text)

    def ambiguity_error(self, kind: str, component: str, start: int, end: int, message: str) -> InvalidURI:
        """Two readings remain."""
        return InvalidURI(self.given, Finding(kind, start, end, component, component, "", KINDS[kind].source, message))


def _is_name(host: str) -> bool:
    """Whether a host has a form in A-labels."""
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
_OTHER = ("a character that URIs cannot contain", MAPPED)
_LETTER = ("a non-ASCII character", MAPPED)


_SAME = re.compile(r"%++|[\[\]]++|#++|[^\x00-\x7f]++|[\x00-\"$&-Z\\^-\x7f]++")
"""Characters that one change tells of: those of one reason."""


def _reason(character: str) -> tuple[str, str]:
    return _REASONS.get(character, _OTHER if character.isascii() else _LETTER)


def _escapes(text: str) -> str:
    return percent_encode(text.encode(), "")


def _repair_as_browser(given: str, kind: type[URIReference], idna: bool | None) -> Repaired:
    href = read(given)
    if href is None:
        raise refusal(given, kind.rule)
    uri = _repair(href.href, kind, idna=idna).uri
    change = RepairChange(0, len(given), given, str(uri), "the text as browsers read it", "URL Standard 4.4")
    return Repaired(uri, (change,), 1)
