"""URIs in running text (RFC 3986 Appendix C and 4.5; RFC 1738, Appendix; the drafts of 1994, 1997 and 2003).

Delimiters are angle brackets, double quotes, and white space.  Between brackets white space is ignored, between quotes
a line break; so are a prefix "URL:" and the marks by which mail programs quote lines; they end at an empty line.
`text.rules` defines where a URI ends that only white space delimits.  Every result is a valid URI or IRI.

>>> for found in find("pick it up from <ftp://foo.example.\\n   com/rfc/> (or www.w3.org/Addressing/)."):
...     print(found.kind, found.delimiter, found.reference, found.uri)
URI <> ftp://foo.example.com/rfc/ ftp://foo.example.com/rfc/
abbreviated  www.w3.org/Addressing/ http://www.w3.org/Addressing/
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Literal

from overthere.ground.exact import exact
from overthere.text.connection import ConnectionString, HostPort
from overthere.text.delimiters import DelimitedText, read_delimited
from overthere.text.match import Found, Kind, expand_abbreviation, guess_uri
from overthere.text.names import Names, names
from overthere.text.rules import (
    COUNTRY_CODES,
    COUNTRY_CODES_ALIKE,
    COUNTRY_CODES_WORDS,
    CUTTING,
    FILES,
    GENERIC_NAMES,
    SECOND_LEVEL,
    abbreviated_pattern,
    attached_letter_pattern,
    attached_pattern,
    authority_pattern,
    cut_pattern,
    mail_domain_pattern,
    run,
    trim_end,
    word_pattern,
)
from overthere.text.trigger import compile_trigger
from overthere.text.typed_input import typed

if TYPE_CHECKING:
    from overthere.schemes.registry import Registry

__all__ = ["ConnectionString", "Found", "HostPort", "Kind", "Rules", "find", "typed"]

Rules = Literal["rfc3986", "commonmark", "gfm"]


def find(
    text: str,
    *,
    schemes: Collection[str] | None = None,
    abbreviated: bool = True,
    hosts: bool | Literal["suffixes"] = False,
    mail: bool = False,
    rules: Rules = "rfc3986",
    registry: Registry | None = None,
) -> Iterator[Found]:
    """The URIs in a text, in their order.

    schemes: only these.  By default every scheme if "//" follows it, those with a shape (`Scheme.shape`) if the text
    after the colon matches it, and every scheme between angle brackets.
    abbreviated: references without a scheme that begin with "www." or "ftp." (RFC 3986 4.5).
    hosts: also those that begin with another registered name, such as `example.com/x`; "suffixes" also where only the
    list of publicsuffix.org knows the last label (`foo.museum`; needs the extra `domains`).  No addresses.
    mail: also mail addresses without a scheme.
    rules: "commonmark" for the autolinks of CommonMark, "gfm" with the extended ones of GitHub Flavored Markdown; they
    ignore the other options.  See `overthere.text.gfm`.
    registry: the known schemes (default: the default registry).

    A scheme of one letter is read as a drive, and one of more than 64 is ignored.  Time is linear in the text.

    Raises: ValueError for other rules or hosts; TypeError if it is not text; ModuleNotFoundError without the list.

    >>> [found.reference for found in find('C:/x "http://h/a", (see http://h/a_(b)). std::vector key:value')]
    ['http://h/a', 'http://h/a_(b)']
    """
    text = exact(text, "find()")
    if rules in ("gfm", "commonmark"):
        from overthere.text import gfm

        return gfm.find(text, extended=rules == "gfm")
    if rules != "rfc3986":
        raise ValueError(f"unknown rules {rules!r:.100}; known: rfc3986, commonmark, gfm")
    if hosts not in (True, False, "suffixes"):
        raise ValueError(f'hosts must be True, False or "suffixes", not {hosts!r:.100}')
    if isinstance(schemes, str):
        raise TypeError("schemes must be a collection of names, not text")
    wanted_schemes = (
        None if schemes is None else frozenset(exact(name, "schemes").lower().removesuffix(":") for name in schemes)
    )
    suffixes: Collection[str] = ()
    if hosts == "suffixes":
        from overthere.values.hosts.domains import suffix_list

        suffixes = suffix_list().rules
    return _Scanner(text, names(registry), wanted_schemes, bool(abbreviated), bool(hosts), bool(mail), suffixes).run()


_MAX_LENGTH = 64
_SCHEME = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-."
_ASCII_LETTERS = _SCHEME[:52]
_LOCAL = _SCHEME + "_%"
# An apostrophe within a name: o'malley@example.com; not one that quotes.
_APOSTROPHE = re.compile("(?<=[A-Za-z0-9])'(?=[A-Za-z0-9])")
_AFTER_PREFIX = re.compile(r"[ \t]*+(?:\r?\n[ \t]*+)?+")
_WITH_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):(.+)", re.DOTALL)
# Texts that cannot follow an unregistered scheme in brackets: `<std::string>`, `<localhost:80/>`, `<dc:title>`.
_NOT_AFTER_SCHEME = re.compile(r":|[0-9]++(?:/.*|\Z)|/?[A-Za-z_][\w.-]*+/?\Z", re.DOTALL)
# Escapes of C, Python, Java and JSON: for a control, or for a character by its number.
_ESCAPE = re.compile(r"[abefnrtv]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-7]{1,3}")
_PORT = re.compile(r"(?::[0-9]{1,5}+(?![0-9A-Za-z]))?+")
_HOST_END = re.compile(r"(?::[0-9]++)?+(?P<path>/)?")
_URI_CHARACTER = re.compile(r"[^\s<>\"]")
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|[ -/]++[0-~])")
"""Sequences that colour a text, move the cursor (ECMA-48 5.4) or change its characters, as in ISO-2022-JP (ECMA-35
13.2): they are not displayed."""
_REFERENCE = re.compile(
    r"&(?:nbsp|ensp|emsp|thinsp|zwnj|zwj|lt|gt|quot|#0*+(?:160|32|34|60|62)|#[xX]0*+(?:[aA]0|2[02]|3[cCeE]));"
)
"""Character references of HTML for a blank, or for a delimiter of URIs: between delimiters they belong to the URI."""


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


class _Scanner:
    """One pass over a text in linear time: `floor` is the end of the last match."""

    def __init__(
        self, text: str, names: Names, schemes: frozenset[str] | None, abbreviated: bool, hosts: bool, mail: bool,
        listed: Collection[str],
    ) -> None:  # fmt: skip
        self.original = text
        self.visible = _TERMINAL.sub(_blank, text) if "\x1b" in text else text
        """Without escape sequences; delimiters are read in it."""
        self.text = _REFERENCE.sub(_blank, self.visible) if "&" in text else self.visible
        self.names = names
        self.schemes = schemes
        self.abbreviated, self.hosts, self.mail, self.suffixes = abbreviated, hosts, mail, listed
        trigger_schemes = frozenset(names.shapes) if schemes is None else schemes
        self.search = compile_trigger(trigger_schemes, abbreviated, hosts, mail, bool(listed))
        self.prefix = (-1, -1)
        self.floor = self.line = self.line_searched = 0

    def run(self) -> Iterator[Found]:
        at = 0
        while match := self.search(self.text, at):
            mark = match[0][0]
            if mark in '<"':
                reference, at = self._read_delimited(match.start())
            elif mark == ":":
                reference, at = self._colon(match.start())
            elif mark == "@":
                reference, at = self._address(match.start())
            elif mark == ".":
                start = match.start() - 3
                reference, at = self._suffix(start, match.end()) if start >= at else (None, match.end())
            else:
                reference, at = self._suffix(match.start(), match.end())
            if reference is not None:
                self.floor = at
                yield reference

    # -- between brackets and quotes

    def _read_delimited(self, at: int) -> tuple[Found | None, int]:
        line = self.text.rfind("\n", self.line_searched, at)
        self.line, self.line_searched = line + 1 if line >= 0 else self.line, at
        inside = read_delimited(self.visible, at, self.line, self.names)
        if inside is None or (kind := self._kind(inside, at)) is None:
            return None, at + 1
        reference = self._make_match(
            inside.reference, inside.start, inside.end, inside.delimiter, kind, (at, inside.closed)
        )
        if reference is None:
            return None, at + 1
        if inside.alternative is not None and expand_abbreviation(inside.alternative, kind) is not None:
            reference = reference._replace(alternative=inside.alternative)
        return reference, inside.closed

    def _kind(self, inside: DelimitedText, at: int) -> Kind | None:
        """Return the kind of the text between delimiters; None if it is not meant as a URI."""
        text = inside.reference
        match = _WITH_SCHEME.fullmatch(text)
        if match is None:
            if (
                self.abbreviated
                and inside.delimiter == "<>"
                and self._is_guess(text)
                and abbreviated_pattern().match(text)
            ):
                return "abbreviated"
            return "mail" if self._is_mailbox(text) else None
        scheme, after = match[1].lower(), match[2]
        if after.startswith("//"):
            fits = len(scheme) > 1 and after.strip("/") and not (scheme in self.names.need_hosts and after[2] in "/?#")
            return "URI" if fits and (self.schemes is None or scheme in self.schemes) else None
        if self.schemes is not None:
            return "URI" if scheme in self.schemes else None
        shape = self.names.shape_of(scheme)
        if shape is not None and shape.match(after):
            return "URI"
        if inside.delimiter != "<>":
            return None
        if inside.prefixed or (scheme in self.names.registered and not inside.broken):
            return "URI"
        if inside.broken:
            return None
        # `vector<std::string>` and `<dc:title>` are not URIs.
        before = self.text[at - 1 : at]
        is_likely = len(scheme) > 1 and not re.match("[A-Za-z0-9_<]", before)
        return "URI" if is_likely and not (_NOT_AFTER_SCHEME.match(after) and "+" not in scheme) else None

    def _is_mailbox(self, text: str) -> bool:
        local, at, domain = text.partition("@")
        if not (self.mail and at) or len(local) > _MAX_LENGTH or not local.strip("."):
            return False
        if _APOSTROPHE.sub("", local).strip(_LOCAL):
            return False
        return mail_domain_pattern().fullmatch(domain) is not None

    # -- between white space

    def _colon(self, at: int) -> tuple[Found | None, int]:
        """Read the text around a colon that may follow a scheme; a rejected text is not read again."""
        text, slashes = self.text, self.text.startswith("//", at + 1)
        scheme = self._scheme_before(at, slashes)
        start, name = at - len(scheme), scheme.lower()
        if name == "url" and not slashes:
            after = _AFTER_PREFIX.match(text, at + 1)
            self.prefix = (start, after.end() if after else at + 1)
            return None, at + 1
        if not name or (self.schemes is not None and name not in self.schemes):
            return None, at + 1
        begin, apostrophe = at + 1, text[start - 1 : start] == "'"
        if slashes:
            if len(name) == 1 and self.schemes is None:
                return None, at + 1
            authority = authority_pattern(apostrophe).match(text, at + 3)
            assert authority is not None  # all of it is optional
            begin = authority.end()
            host = authority["host"]
            attached = None if host.isascii() else attached_pattern().search(host)
            if attached is not None:
                letters = len(attached[0]) - len(attached[0].lstrip(_ASCII_LETTERS))
                end = authority.start("host") + attached.start() + letters
                return self._read_bare(start, end, begin)
            if authority["bad"] and authority["port"] and attached_letter_pattern().match(authority["bad"]):
                return self._read_bare(start, authority.start("bad"), begin)
            if authority["bad"] or (name in self.names.need_hosts and not host.strip("._-~")):
                return None, begin
            if text[begin : begin + 1] not in ("/", "?", "#"):
                return self._read_bare(start, trim_end(text, start, begin), begin)
        elif not self._has_shape(name, start, begin):
            return None, begin
        end = run(text, begin, apostrophe)
        return self._read_bare(start, trim_end(text, start, end), end)

    def _scheme_before(self, at: int, slashes: bool) -> str:
        before = self.text[max(self.floor, at - _MAX_LENGTH - 1) : at]
        scheme = before[len(before.rstrip(_SCHEME)) :]
        if len(scheme) > _MAX_LENGTH:
            return ""
        scheme = scheme.lstrip("0123456789+-.")
        if "\\" in before:
            scheme = self._strip_escape(scheme, at)
        if "." in scheme and scheme.lower() not in self.names.registered:
            # A sentence that ends without a space: `See.http://h/`
            last_word = scheme.rpartition(".")[2]
            if last_word.lower() in self.names.registered or last_word.lower() == "url":
                return last_word
        before = self.text[max(0, at - len(scheme) - 1) : at - len(scheme)]
        if not slashes and (before in ("_", "@", "\\") or (before > "\x7f" and word_pattern().match(before))):
            return ""
        return scheme

    def _strip_escape(self, scheme: str, at: int) -> str:
        """Return a scheme without the rest of an escape sequence before it (rule 6)."""
        start = at - len(scheme)
        escape = _ESCAPE.match(scheme) if self.text[start - 1 : start] == "\\" else None
        if escape is None or scheme.lower() in self.names.registered:
            return scheme
        remainder = scheme[escape.end() :]
        return remainder if remainder.lower() in self.names.registered else scheme

    def _has_shape(self, name: str, start: int, begin: int) -> bool:
        """Whether the text after a scheme without "//" looks like its URI."""
        if self.schemes is not None:
            return _URI_CHARACTER.match(self.text, begin) is not None
        shape = self.names.shape_of(name)
        return shape is not None and shape.match(self.text, begin) is not None

    def _read_bare(self, start: int, end: int, scanned: int) -> tuple[Found | None, int]:
        text = self.text[start:end]
        match = _WITH_SCHEME.fullmatch(text)
        if match is None or not match[2].strip("/"):
            return None, scanned
        reference = self._read_plain(text, start, end, "URI", scanned)
        return reference, scanned if reference is None else end

    def _read_plain(self, text: str, start: int, end: int, kind: Kind, scanned: int) -> Found | None:
        """scanned: the end before trailing punctuation was removed."""
        delimiter, outer = ("URL:", self.prefix[0]) if self.prefix[1] == start else ("", start)
        reference = self._make_match(text, start, end, delimiter, kind, (outer, end))
        mark = self.text[scanned : scanned + 1]
        # A mark with the same mark before the URI is a pair: `code`, |cell|.
        if reference is None or mark not in CUTTING or mark == self.text[start - 1 : start]:
            return reference
        return reference._replace(cut=mark) if cut_pattern().match(self.text, scanned) else reference

    def _suffix(self, start: int, end: int) -> tuple[Found | None, int]:
        """Read a suffix reference (4.5) whose authority includes text[start:end], and its path if it has one."""
        text = self.text
        host = abbreviated_pattern().match(text, start) if self.abbreviated else None
        if host is None and (attached := attached_pattern().search(text, start, end)) is not None:
            end -= len(attached[0].lstrip(_ASCII_LETTERS))
        begin = host.end() if host else end
        if host is None and not (self.hosts and self._is_host(start, end)):
            return None, begin
        port = _PORT.match(text, begin)
        begin = port.end() if port else begin
        if text[begin : begin + 1] in ("@", "_"):
            return None, begin
        end = begin
        if text[begin : begin + 1] in ("/", "?", "#"):
            end = run(text, begin, text[start - 1 : start] == "'")
        scanned, end = end, trim_end(text, start, end)
        if not self._is_guess(text[start:end]):
            return None, scanned
        reference = self._read_plain(text[start:end], start, end, "abbreviated", scanned)
        return reference, scanned if reference is None else end

    def _is_host(self, start: int, end: int) -> bool:
        """Whether the name is registered by its last labels, and by a path after it if they are ambiguous (rule 9)."""
        *_, second, top = self.text[start:end].split(".")
        name = top.lower()
        is_top_domain = name in GENERIC_NAMES or name in COUNTRY_CODES
        if not is_top_domain and (name in FILES or name not in self.suffixes):
            return False
        if self.text[end : end + 1] in ("@", "_", "("):
            return False
        if top == name and (second in SECOND_LEVEL and name not in GENERIC_NAMES):
            return end - start > len(second) + 1 + len(name)
        if name in COUNTRY_CODES_ALIKE:
            return False
        after = _HOST_END.match(self.text, end)
        return (top == name and name not in COUNTRY_CODES_WORDS) or bool(after and after["path"])

    def _is_guess(self, text: str) -> bool:
        return self.schemes is None or guess_uri(text).partition(":")[0] in self.schemes

    def _address(self, at: int) -> tuple[Found | None, int]:
        before = self.text[max(self.floor, at - _MAX_LENGTH - 1) : at]
        without_apostrophes = _APOSTROPHE.sub("_", before)
        local = before[len(without_apostrophes.rstrip(_LOCAL)) :].lstrip(".-+%")
        domain = mail_domain_pattern().match(self.text, at + 1)
        start = at - len(local)
        if domain is None or not local or len(local) > _MAX_LENGTH or self.text[start - 1 : start] == ":":
            return None, at + 1
        if start and self.text[start - 1] > "\x7f" and word_pattern().match(self.text, start - 1):
            return None, at + 1
        end = domain.end()
        wrapper = "<>" if self.text[start - 1 : start] + self.text[end : end + 1] == "<>" else ""
        outer = (start - 1, end + 1) if wrapper else (start, end)
        return self._make_match(self.text[start:end], start, end, wrapper, "mail", outer), end

    def _make_match(
        self, reference: str, start: int, end: int, delimiter: str, kind: Kind, outer: tuple[int, int]
    ) -> Found | None:
        uri = expand_abbreviation(reference, kind)
        if uri is None:
            return None
        if kind == "URI" and not reference.isascii():
            kind = "IRI"
        return Found(reference, self.original[start:end], start, end, delimiter, kind, uri, None, outer)
