"""Finds everything wrong with a text, component by component (RFC 3986 Appendix A, ground/kinds.py).

Appendix B splits any text into components; each is read by its own rule, and characters that it cannot hold are
reported as runs of one kind.  `URI(text)` raises the first finding, `check(text)` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from overthere.ground.display import name_of
from overthere.ground.errors import KINDS, Finding, InvalidIRI, InvalidURI, Refusal
from overthere.ground.exact import exact_limit
from overthere.ground.redact import mask, overlaps, secret_spans
from overthere.kernel import parse, percent_encode
from overthere.kernel.classes import CHARSETS, IPRIVATE, PATTERNS, UCSCHAR
from overthere.kernel.reference import APPENDIX_B, BIDI_CONTROLS, class_ranges, ip_literal

if TYPE_CHECKING:
    from overthere.grammar import Grammar

_ATS = re.compile("@+")
_SCHEME_FIRST = re.compile(f"[{CHARSETS['ALPHA']}]")


_SCP = re.compile(
    r"(?:(ssh|sftp|git\+ssh|ssh\+git)://)?((?:[A-Za-z0-9._~+-]++@)?(?:[A-Za-z0-9._-]++|\[[0-9A-Fa-f:.]++\])):(?![0-9]++/)(.++)",
    re.DOTALL,
)
_MAX_SCP_LENGTH = 200
_ESCAPABLE = ("pct-encoded", "non-ascii", "control", "space")


def scp_as_uri(text: str) -> str | None:
    """Return the URI of a location as scp and git write it, "user@host:path"; None for other texts.

    scp counts the path from the user's home, Git servers from the root, as the URI does.  A text that may have a
    port is left alone.

    >>> scp_as_uri("git@git.example:joe/a.git"), scp_as_uri("ssh://git@git.example:joe/a.git"), scp_as_uri("a:b")
    ('ssh://git@git.example/joe/a.git', 'ssh://git@git.example/joe/a.git', None)
    """
    match = _SCP.fullmatch(text) if len(text) <= _MAX_SCP_LENGTH else None
    if match is None or not (match[1] or "@" in match[2]):
        return None
    uri = f"{match[1] or 'ssh'}://{match[2]}/{match[3].lstrip('/')}"
    return None if parse(uri, "URI") is None else uri


def grammar_of(rule: str) -> Grammar:
    """Return the grammar that has a top rule."""
    from overthere.grammar.library import grammar

    return grammar("rfc3987" if "IRI" in rule else "rfc3986")


def check_uri(text: str, rule: str = "URI", zone: bool = False, limit: int | None = None) -> list[Finding]:
    """Return all findings on `text` as a URI, URI-reference, IRI or IRI-reference; it never raises.

    limit: the most findings to list; a last one of the kind "more" counts the rest.
    """
    limit = exact_limit(limit)
    if parse(text, rule, zone) is not None:
        return []
    scanner = _Scanner(text, rule, zone)
    listed = [scanner.finding(place) for place in islice(scanner.places(), limit)]
    if limit is not None and len(listed) == limit and (unlisted := _Count(text, rule, zone).total() - limit):
        kind = KINDS["more"]
        message = kind.message.format(it=f"{unlisted:,}")
        end = len(text)
        listed.append(Finding("more", end, end, kind.component, kind.rule, "", kind.source, message))
    return listed


def refusal(text: str, rule: str, zone: bool = False) -> InvalidURI:
    """Return the exception for a text that `rule` does not derive."""
    return (InvalidIRI if "IRI" in rule else InvalidURI).of(text, _FirstFinding, rule, zone)


class _FirstFinding(Refusal):
    """The first finding on a text, computed on first use."""

    __slots__ = ("_found", "asked")

    def __init__(self, text: str, rule: str, zone: bool) -> None:
        self.asked = text, rule, zone
        self._found: tuple[_Scanner, _Place] | None = None

    def _scan_to_first(self) -> tuple[_Scanner, _Place]:
        if self._found is None:
            scanner = _Scanner(*self.asked)
            self._found = scanner, next(scanner.places())
        return self._found

    def place(self) -> tuple[str, int, int]:
        return self._scan_to_first()[1][:3]

    def finding(self) -> Finding:
        scanner, place = self._scan_to_first()
        # A scanner words its first finding differently: each thread needs a copy.
        return copy(scanner).finding(place)


_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
"""The characters of US-ASCII without blanks and controls."""


@cache
def _foreign(component: str, iri: bool) -> re.Pattern[str]:
    """Return the pattern of characters that a component cannot hold, in runs of one kind."""
    escapes = component not in ("scheme", "port")
    extra = class_ranges(UCSCHAR) if iri and escapes else ""
    private = class_ranges(IPRIVATE) if iri and escapes and component != "query" else ""
    if iri and component == "query":
        extra += class_ranges(IPRIVATE)
    invalid = "".join(char for char in _VISIBLE if char not in CHARSETS[component] and not (escapes and char == "%"))
    groups = [
        r"(?P<pct>%(?![0-9A-Fa-f][0-9A-Fa-f]))" if escapes else "",
        r"(?P<space>\ +)",
        r"(?P<control>[\x00-\x1f\x7f]+)",
        f"(?P<bidi>[{BIDI_CONTROLS}]+)" if iri else "",
        f"(?P<private>[{private}]+)" if private else "",
        f"(?P<other>[^\\x00-\\x7f{extra}{private}]+)",
        f"(?P<char>[{re.escape(invalid)}]+)",
    ]
    return re.compile("|".join(filter(None, groups)))


_KIND_OF_GROUP = {
    "pct": "pct-encoded",
    "space": "space",
    "control": "control",
    "bidi": "iri-bidi",
    "private": "iri-private",
}


def scan(text: str, rule: str, zone: bool = False) -> Iterator[Finding]:
    """Yield the findings of a text in its order."""
    scanner = _Scanner(text, rule, zone)
    return map(scanner.finding, scanner.places())


class _Place(NamedTuple):
    """A finding before its message is written."""

    kind: str
    start: int
    end: int
    component: str = ""
    rule: str = ""


class _Scanner:
    def __init__(self, text: str, rule: str, zone: bool) -> None:
        self.text, self.rule, self.zone = text, rule, zone
        self.iri = "IRI" in rule
        self.passwords = secret_spans(text)
        self.first = True

    def finding(self, place: _Place) -> Finding:
        kind, start, end, component, rule = place
        row = KINDS[kind]
        secret = overlaps(self.passwords, start, end)
        subject = "a character of the password" if secret else name_of(self.text[start:end])
        component, rule = component or row.component, rule or row.rule
        if kind == "scheme-missing":
            self.first, expected = False, "a scheme and a colon"
        else:
            expected = self.describe_expected(start, component, rule)
        message = row.message.format(it=subject) + self.advice(kind, component, start, end, secret)
        if kind in ("scheme-char", "port-char") and not self.passwords and (scp_uri := scp_as_uri(self.text)):
            message += f": did you mean {scp_uri}?"
        return Finding(kind, start, end, component, rule, expected, row.source, message)

    def advice(self, kind: str, component: str, start: int, end: int, secret: bool) -> str:
        """Return the advice for characters that a component cannot contain; "" if an escape does not help."""
        start_of_run, ellipsis = self.text[start : min(end, start + 8)], "…" if end - start > 8 else ""
        if component not in ("userinfo", "path", "query", "fragment") or kind not in (*_ESCAPABLE, f"{component}-char"):
            return ": use repair, which writes A-labels" if kind == "non-ascii" and component == "host" else ""
        # A repair has one reading: browsers read a backslash as "/", and a control can mean anything.
        repair = "" if self.iri or kind == "control" or "\\" in start_of_run else " or use repair"
        if secret:
            return f": percent-encode it{repair}"
        if not start_of_run.strip(" \t\n\r") and (kind == "control" or start == 0 or end == len(self.text)):
            return ": remove it or use repair"
        try:
            escapes = percent_encode(("%" if kind == "pct-encoded" else start_of_run).encode(), "")
        except UnicodeEncodeError:  # an octet that was not in the charset
            return ""
        return f': write "{escapes}{ellipsis}"{repair}'

    def describe_expected(self, start: int, component: str, rule: str) -> str:
        """Describe expected text by the whole rule while the text before is valid, later by that of the component."""
        grammar = grammar_of(self.rule)
        # A text that is read as a scheme is not a relative reference, whose first segment has no colon (4.2).
        top_rule = self.rule.removesuffix("-reference") if component == "scheme" else self.rule
        # Before an "@" or "/", the text after "//" could still be userinfo: all of pchar could follow.
        ignored_rules = ("pchar", "ipchar") if component in ("userinfo", "host", "port") else ()
        if self.first and rule != "pct-encoded":
            self.first = False
            expectation = grammar.automaton(top_rule).expected(self.text[: start + 1])
            if expectation.offset == start:
                return grammar.describe(expectation, ignored_rules)
        if rule == "pct-encoded":
            self.first = False
            return grammar.describe(grammar.automaton(rule).expected("%"))
        component_rule = {"host": "reg-name"}.get(component, component)
        if self.iri and component_rule not in ("scheme", "port"):
            component_rule = "i" + component_rule
        return grammar.describe(grammar.automaton(component_rule).expected("")._replace(end=False))

    def places(self) -> Iterator[_Place]:
        text = self.text
        yield from self.scheme()
        match = APPENDIX_B.fullmatch(text, 1 if text.startswith(":") else 0)
        assert match is not None
        if match[2] is not None:
            yield from self.authority(*match.span(2))
        yield from self.characters("path", *match.span(3))
        if match[4] is not None:
            yield from self.characters("query", *match.span(4))
        if match[5] is not None:
            yield from self.characters("fragment", *match.span(5))

    def scheme(self) -> Iterator[_Place]:
        text = self.text
        if text.startswith(":"):
            yield _Place("scheme-empty", 0, 1)
            return
        match = APPENDIX_B.match(text)
        end = match.end(1) if match is not None and match[1] is not None else 0
        if not end:
            if not self.rule.endswith("-reference"):
                yield _Place("scheme-missing", 0, 0, rule=self.rule)
            return
        start = 0
        if text[0] in CHARSETS["scheme"] and not _SCHEME_FIRST.match(text):
            yield _Place("scheme-first", 0, 1)
            start = 1
        for place in self.characters("scheme", start, end):
            yield place._replace(kind="scheme-first") if place.start == 0 and place.kind == "scheme-char" else place

    def authority(self, start: int, end: int) -> Iterator[_Place]:
        text = self.text
        at = text.rfind("@", start, end)
        if at >= 0:
            first = text.find("@", start, end)
            yield from self.characters("userinfo", start, first)
            for ats in _ATS.finditer(text, first + 1, end):
                yield from self.characters("userinfo", first + 1, ats.start())
                yield _Place("userinfo-at", *ats.span())
                first = ats.end() - 1
            start = at + 1
        if text.startswith("[", start):
            closing = text.find("]", start, end)
            if closing < 0:
                yield self.literal("ip-literal-open", start, end)
                return
            if not ip_literal(self.zone).fullmatch(text, start, closing + 1):
                yield self.literal("ip-literal-address", start, closing + 1)
            if closing + 1 < end and text[closing + 1] != ":":
                colon = text.find(":", closing, end)
                stop = end if colon < 0 else colon
                kind = self.kind_of(text[closing + 1]) or "ip-literal-close"
                yield _Place(kind, closing + 1, stop, "host")
                start = stop
            else:
                start = closing + 1
        else:
            colon = text.find(":", start, end)
            stop = end if colon < 0 else colon
            yield from self.characters("host", start, stop)
            start = stop
        if start < end:
            yield from self.characters("port", start + 1, end)

    def kind_of(self, char: str) -> str | None:
        """Return the kind of a character that is invalid everywhere; None for others."""
        if char == " ":
            return "space"
        if char < " " or char == "\x7f":
            return "control"
        if char > "\x7f":
            return "iri-char" if self.iri else "non-ascii"
        return None

    def literal(self, kind: str, start: int, end: int) -> _Place:
        """Return the finding on a text in brackets: its place is where the automaton stops."""
        text = self.text
        offset = start + grammar_of(self.rule).automaton("IP-literal").expected(text[start:end]).offset
        if offset < len(text) and (char_kind := self.kind_of(text[offset])):
            return _Place(char_kind, offset, offset + 1, "host")
        percent = text.find("%", start, end)
        if percent == offset and not self.zone and re.fullmatch(PATTERNS["IPv6address"], text[start + 1 : percent]):
            kind = "ip-zone"
        stop = end - 1 if kind == "ip-zone" and text[end - 1] == "]" else end
        return _Place(kind, min(offset, end), max(offset, stop))

    def runs(self, component: str, start: int, end: int) -> Iterator[re.Match[str]]:
        """Yield runs of characters that a component cannot hold, each one finding."""
        charset = "reg-name" if component == "host" else component
        return _foreign(charset, self.iri).finditer(self.text, start, end)

    def characters(self, component: str, start: int, end: int) -> Iterator[_Place]:
        charset = "reg-name" if component == "host" else component
        for match in self.runs(component, start, end):
            group = match.lastgroup or ""
            low, high = match.span()
            if group == "char":
                kind = f"{component}-char"
            elif group == "other":
                kind = "iri-char" if self.iri else "non-ascii"
            else:
                kind = _KIND_OF_GROUP[group]
            if group == "pct" and self.text[low + 1 : min(low + 2, end)] in CHARSETS["HEXDIG"]:
                high = min(low + 2, end)
            yield _Place(kind, low, high, component, "pct-encoded" if group == "pct" else charset)


class _Count(_Scanner):
    """Counts findings: for runs, of which a hostile text may have millions, only the number is computed."""

    count = 0

    def total(self) -> int:
        other_count = sum(1 for _ in self.places())
        return other_count + self.count

    def characters(self, component: str, start: int, end: int) -> Iterator[_Place]:
        self.count += sum(1 for _ in self.runs(component, start, end))
        return iter(())


_SECOND_URI = re.compile(r"(?<=\S)\s++(?=[A-Za-z][A-Za-z0-9+.-]*+://|mailto:)")
_SHOWN_CHARACTERS = 60
"""Characters of a URI in an error reason."""


def refuse_two_uris(text: str, start: int, end: int) -> None:
    """Reject two URIs that white space separates (Appendix C), the second one with a scheme.

    start, end: the range to check, without white space around it.
    Raises: InvalidURI, which names both.
    """
    space = _SECOND_URI.search(text, start, end)
    if space is None:
        return
    first, second = text[start : space.start()].split()[-1], text[space.end() : end].split()[0]
    uris = [mask(uri)[:_SHOWN_CHARACTERS] for uri in (first, second)]
    reason = f"white space separates two URIs, {uris[0]!r} and {uris[1]!r}: give only one, or remove the white space"
    kind = "space" if space[0].startswith(" ") else "control"
    raise InvalidURI(text, Finding(kind, space.start(), space.end(), "path", "path", "", "RFC 3986 Appendix C", reason))
