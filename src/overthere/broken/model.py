"""Findings about broken links: the table of kinds, the settings of a check, the outcome of a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from overthere.links.model import UNREAD

__all__ = ["ANCHORS", "CERTAINTIES", "KINDS", "PASSED", "TOLD", "Broken", "Checker", "Kind", "Outcome", "Summary"]


class Broken(NamedTuple):
    """A finding: a reference that leads nowhere, or that deserves to be known; None is undefined."""

    source: str
    """The document, as in the link table."""
    line: int | None
    """From 1; None where the place was not found."""
    column: int | None
    """From 1, in code points."""
    offset: int | None
    """Octets before the attribute's value; None where its octets could not be told from the characters."""
    length: int | None
    """Octets of the value as it stands there."""
    where: str | None
    """Element and attribute, as in the link table."""
    reference: str | None
    """As written; None in a finding about the document."""
    target: str | None
    fragment: str | None
    kind: str
    """Of `KINDS`."""
    why: str
    """One sentence: what is wrong, and what to do."""
    status: int | None
    """Of HTTP."""
    paragraph: str
    since: str | None
    """The date of the first run that found it, if a baseline says so."""
    suggestion: str | None
    """Another reference, which was meant as surely as `certainty` says."""
    level: str
    """"error" (the check fails), "warning" or "note"."""
    certainty: str | None = None
    """Of `CERTAINTIES`; None without a suggestion."""


CERTAINTIES: Mapping[str, str] = {
    "certain": "It can mean nothing else: another case, an encoding, a permanent redirect, the slash of a folder",
    "likely": "Only the extension or some letters of a word differ, the kind of resource is the same, no other name "
    "is as close",
    "similar": "It exists, and its name is similar, or the same in another folder",
}
"""How surely a suggestion is what was meant.  `--fix` writes the first, `--fix=likely` the second too."""


class Kind(NamedTuple):
    """What can be the matter with a reference."""

    level: str
    words: str
    """What is wrong and what to do, as a sentence; `{it}` is what it is about."""
    source: str
    """Document and paragraph."""


def _kind(level: str, source: str, words: str) -> Kind:
    return Kind(level, words, source)


KINDS: Mapping[str, Kind] = {
    "no-document": _kind("error", "RFC 3986 5.2", "There is no {it}; correct the path, or restore the file"),
    "no-fragment": _kind("error", "RFC 3986 3.5", "The document has no {it}; name an anchor that it has"),
    "wrong-case": _kind("error", "RFC 3986 6.2.2.1", "A path is case-sensitive; the name is written {it}"),
    "is-folder": _kind("error", "RFC 9110 4.2.1", "It is a folder without an index file; name a document ({it})"),
    "invalid": _kind("error", "RFC 3986 4.1", "It is no URI-reference: {it}"),
    "bad-mailto": _kind("error", "RFC 6068 2", "It is no mailto URI: {it}"),
    "encoded-at": _kind("warning", "RFC 6068 2", 'The "@" of the address is written %40; write {it}'),
    "no-host": _kind("error", "RFC 3986 3.2.2", 'It names no host, and {it} URIs need one; write it behind "//"'),
    "not-of-scheme": _kind("error", "RFC 3986 3.1", "It is a URI, and none of its scheme: {it}"),
    "loop": _kind("error", "HTML 4.2.5.3", "The page sends its reader on at once, in a circle: {it}"),
    "unreadable": _kind("error", "", "The document {it}"),
    "not-found": _kind("error", "RFC 9110 15.5.5", "The server has nothing there (404); correct or remove it"),
    "gone": _kind("error", "RFC 9110 15.5.11", "The server says that it is gone for good (410); remove it"),
    "client-error": _kind("error", "RFC 9110 15.5", "The server refuses the request: {it}"),
    "server-error": _kind("error", "RFC 9110 15.6", "The server could not answer: {it}"),
    "redirect-loop": _kind("error", "RFC 9110 15.4", "The redirects do not end: {it}"),
    "bad-redirect": _kind("error", "RFC 9110 15.4", "The server redirects to what no browser follows: {it}"),
    "dns": _kind("error", "RFC 9110 4.3.2", "The host has no address: {it}"),
    "connect": _kind("error", "RFC 9110 4.3.2", "The host does not let itself be connected: {it}"),
    "timeout": _kind("error", "RFC 9110 15.5.9", "The answer took too long: {it}"),
    "tls": _kind("error", "RFC 9110 4.3.4", "TLS cannot be relied on: {it}"),
    "protocol": _kind("error", "RFC 9112 2.2", "The answer is not of its protocol: {it}"),
    "repaired": _kind("warning", "RFC 3986 Appendix C", "It is no URI-reference, though browsers open it: {it}"),
    "moved-permanently": _kind("warning", "RFC 9110 15.4.2", "It has moved for good; write {it}"),
    "bad-location": _kind("warning", "RFC 9110 10.2.2", "The server redirects to an invalid URI, repaired here: {it}"),
    "programs-refused": _kind("warning", "RFC 9110 15.5.4", "The server refuses programs; open it in a browser: {it}"),
    "unusual-status": _kind("warning", "RFC 9110 15.4", "The server gives no document, but a status of its own: {it}"),
    "too-large": _kind("warning", "", "It is larger than the limit; not all of it was read: {it}"),
    "rate-limited": _kind("warning", "RFC 6585 4", "The server asks to be asked less often: {it}"),
    "outside-base": _kind("warning", "RFC 3986 5.2.4", "It leads out of what is published: {it}"),
    "base-missing": _kind("note", "RFC 3986 5.1", "It begins with /, and no --base says where the root is"),
    "redirected": _kind("note", "RFC 9110 15.4", "A server redirects it to {it}"),
    "not-sure": _kind("note", "RFC 3986 3.5", "The anchor was not found, but not all of the document was read: {it}"),
    "not-read": _kind("note", "", "The document {it}"),
    "robots": _kind("note", "RFC 9309 2.2", "robots.txt asks not to ask for it: {it}"),
    "refused-by-policy": _kind("note", "RFC 3986 7.1", "The policy does not let it be opened: {it}"),
    "not-asked": _kind("note", "", "It was not asked for: {it}"),
}
"""The one table of what a finding can be.  Errors make a check fail; notes are told, and mean that nobody knows."""

TOLD = UNREAD | {"read-as-text"}
"""Notes on a document that are findings: not all of it was read, or not in its markup."""

PASSED: Mapping[str, str] = {
    "javascript": "javascript: URIs are programs",
    "data": "data: URIs hold what they name",
    "about": "about: URIs name parts of the browser",
    "base": "bases, which no one opens",
    "identifier": "identifiers, which need not lead anywhere",
    "ping": "addresses that take reports and give nothing",
    "hint": "hosts that a browser is told to connect",
    "scheme": "URIs of other schemes within mail and archives",
    "text-fragment": "text fragments (#:~:text=), which are searched and not named",
    "media-fragment": "fragments of images, video and audio",
    "pdf-fragment": "fragments of PDF",
    "script-fragment": "fragments that scripts read (#!, #/)",
    "pointer-fragment": "XPointers",
    "view-fragment": "views of SVG",
    "fragment": "fragments of documents in which no anchors are known",
    "local": "url(#…) in style sheets: it is of the document that uses the sheet",
    "page-limit": "URIs of the site beyond --pages",
    "crawl-time": "URIs of the site for which --crawl-time left none; with --cache, --resume goes on",
    "long": "URIs that are too long to be followed",
    "deep": "URIs too many links away",
    "trap": "URIs whose paths repeat themselves: traps for crawlers",
    "not-in-container": "targets that were not looked up in their container",
    "json-ld": "JSON-LD", "meta": "metas of Open Graph and Twitter", "import map": "import maps",
    "speculation rules": "speculation rules", "srcdoc": "documents in srcdoc",
    "data-src": "data-src and data-srcset, from which scripts take images", "rdfa": "attributes of RDFa",
    "attributionsrc": "attributionsrc, which takes reports", "json": "documents of JSON",
}  # fmt: skip
"""What is not judged, with the words for why."""

ANCHORS = ("github", "gitlab", "sphinx", "mkdocs")
"""By whose rule headings of Markdown have anchors."""


class Outcome(NamedTuple):
    """What asking for a URI outside gave."""

    uri: str
    kind: str | None
    """Of `KINDS`; None: all is well."""
    status: int | None
    why: str
    final: str | None
    """The URI after redirects."""
    permanent: bool
    """Every redirect was 301 or 308."""
    missing: tuple[str, ...]
    """Fragments that were asked for and are not there."""
    checked: float
    """Seconds since the epoch, UTC."""
    cached: bool


class Checker(NamedTuple):
    """The settings of a check: a value, which is passed on."""

    base: tuple[str, ...] = ()
    """The URIs under which the sources are published; the first is the documents' own, others are aliases."""
    fragments: bool = True
    """Whether fragments are looked up."""
    anchors: str = "github"
    """Of `ANCHORS`."""
    indexes: tuple[str, ...] = ("index.html", "index.htm")
    """What a server gives for a folder, the first that is there."""
    extensions: tuple[str, ...] = ()
    """What a server tries to add to a name that is not there, such as "html"."""
    workers: int | None = None
    """Threads or processes that read; None: as many as there are cores."""
    limit: int = 1 << 25
    """Octets of a document that are read."""
    suggest: bool = True
    """Whether what exists and is near is looked for."""
    online: bool = False
    pages: int = 100_000
    """URIs of a site that a crawl asks for at most."""
    crawl_time: float = 21_600.0
    """Seconds that a crawl takes at most: a server may ask for pauses without end."""
    jobs: int = 8
    """URIs that are asked at once."""
    per_host: int = 2
    """Of them, so many of one host."""
    rate: float | None = None
    """Requests a second to one host, at most."""
    headers: tuple[tuple[str, str, str], ...] = ()
    """Fields to send: an origin as `https://api.example:8443`, or a host for https on its own port; name, value."""
    agent: str | None = None
    cache: str | None = None
    """The file that keeps outcomes between runs; None: none does."""
    max_age: tuple[tuple[str, float], ...] = ()
    """Seconds for which an outcome of a kind ("ok" or of `KINDS`) holds, where it is not the default."""
    resume: bool = False


@dataclass
class Summary:
    """What a check has looked at, and what it has not: filled as it goes."""

    documents: int = 0
    octets: int = 0
    references: int = 0
    within: int = 0
    """References whose target was looked up within the sources."""
    outside: int = 0
    """References that lead outside, and the distinct URIs of them."""
    distinct: int = 0
    asked: int = 0
    passed: Counter[str] = field(default_factory=Counter)
    """References that were not judged, by reason (`PASSED`)."""
    files: Counter[str] = field(default_factory=Counter)
    """What is no document that can be read, by kind."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Findings by kind."""
    unsuggested: int = 0
    """Findings for which no nearest name was looked for: there were too many (`suggestions.SEARCHES`)."""
    ignored: int = 0
    known: int = 0
    """Findings that the baseline has already."""
    read_again: int = 0
    """Documents that were read a second time, for the places of what was found."""
    held: int = 0
    """Octets of anchors and pairs that were held."""

    @property
    def errors(self) -> int:
        return sum(count for kind, count in self.kinds.items() if KINDS[kind].level == "error")

    def add(self, other: Summary) -> None:
        """What another part of the check has counted."""
        for name in ("documents", "octets", "references", "within", "outside"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for mine, theirs in ((self.passed, other.passed), (self.files, other.files)):
            mine.update(theirs)
