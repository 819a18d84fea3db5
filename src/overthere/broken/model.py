"""Findings about broken links: the table of kinds, the settings of a check, the outcome of a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from overthere.broken.generators.project import Projects
from overthere.ground.redact import hides_secrets, masked_repr
from overthere.links.model import UNREAD


@hides_secrets
class Broken(NamedTuple):
    """A finding on a reference that is broken or suspicious; None is undefined."""

    source: str
    """The document, as in the link table."""
    line: int | None
    """From 1; None where the place was not found."""
    column: int | None
    """From 1, in code points."""
    offset: int | None
    """Octets before the attribute's value; None if they could not be derived from the characters."""
    length: int | None
    """The length of the value in octets, as written."""
    where: str | None
    """Element and attribute, as in the link table."""
    reference: str | None
    """The text as written; None in a finding about the document."""
    target: str | None
    fragment: str | None
    kind: str
    """One of `KINDS`."""
    why: str
    """One sentence: the problem and its fix."""
    status: int | None
    """The HTTP status."""
    paragraph: str
    since: str | None
    """The date of the first run that found it, if a baseline has it."""
    suggestion: str | None
    """The replacement; `certainty` says how certain it is."""
    level: str
    """"error" (the check fails), "warning" or "note"."""
    certainty: str | None = None
    """One of `CERTAINTIES`; None without a suggestion."""


CERTAINTIES: Mapping[str, str] = {
    "certain": "It can mean nothing else: another case, an encoding, a permanent redirect, the slash of a folder",
    "likely": "Only the extension or some letters of a word differ, the kind of resource is the same, no other name "
    "is as close",
    "similar": "It exists, and its name is similar, or the same in another folder",
    "archived": "A web archive has a copy of the page (`--wayback`)",
}
"""How certain a suggestion is.  `--fix` writes the first kind, `--fix=likely` the second too."""


class Kind(NamedTuple):
    """A kind of finding."""

    level: str
    words: str
    """The problem and its fix as a sentence; `{it}` stands for its subject."""
    source: str
    """The specification and paragraph."""

    @property
    def remedy(self) -> str:
        """The fix at the end of `words`; "" if it depends on the finding."""
        fix = self.words.partition("; ")[2]
        return "" if "{it}" in fix else fix


def _kind(level: str, source: str, words: str) -> Kind:
    return Kind(level, words, source)


KINDS: Mapping[str, Kind] = {
    "no-document": _kind("error", "RFC 3986 5.2", "{it} does not exist; correct the path or restore the file"),
    "no-fragment": _kind("error", "RFC 3986 3.5", "{it} does not exist; use an existing anchor"),
    "wrong-case": _kind("error", "RFC 3986 6.2.2.1", "Paths are case-sensitive; the name is {it}"),
    "is-folder": _kind("error", "RFC 9110 4.2.1", "It is a folder without an index file; link to a document ({it})"),
    "invalid": _kind("error", "RFC 3986 4.1", "Not a valid URI-reference: {it}"),
    "bad-mailto": _kind("error", "RFC 6068 2", "Not a valid mailto URI: {it}"),
    "encoded-at": _kind("warning", "RFC 6068 2", 'The "@" of the address is written %40; write {it}'),
    "no-host": _kind("error", "RFC 3986 3.2.2", 'It has no host, and {it} URIs need one; write it after "//"'),
    "not-of-scheme": _kind("error", "RFC 3986 3.1", "A valid URI, but not valid in its scheme: {it}"),
    "loop": _kind("error", "HTML 4.2.5.3", "The page redirects its reader in a cycle (refresh after 0 seconds): {it}"),
    "unreadable": _kind("error", "", "The document {it}"),
    "not-found": _kind("error", "RFC 9110 15.5.5", "The server has no such page (404); correct or remove the link"),
    "gone": _kind("error", "RFC 9110 15.5.11", "The page is gone for good (410); remove the link"),
    "client-error": _kind("error", "RFC 9110 15.5", "The server rejected the request: {it}"),
    "server-error": _kind("error", "RFC 9110 15.6", "The server failed: {it}"),
    "redirect-loop": _kind("error", "RFC 9110 15.4", "The redirects form a cycle or are too many: {it}"),
    "bad-redirect": _kind("error", "RFC 9110 15.4", "The server redirects to a URI that browsers do not follow: {it}"),
    "dns": _kind("error", "RFC 9110 4.3.2", "The host has no address: {it}"),
    "connect": _kind("error", "RFC 9110 4.3.2", "Cannot connect to the host: {it}"),
    "timeout": _kind("error", "RFC 9110 15.5.9", "The response took too long: {it}"),
    "tls": _kind("error", "RFC 9110 4.3.4", "The TLS connection cannot be trusted: {it}"),
    "protocol": _kind("error", "RFC 9112 2.2", "The response breaks its protocol: {it}"),
    "repaired": _kind("warning", "RFC 3986 Appendix C", "Not a valid URI-reference, though browsers open it: {it}"),
    "moved-permanently": _kind("warning", "RFC 9110 15.4.2", "It has moved permanently; link to {it}"),
    "sent-on": _kind("warning", "HTML 4.2.5.3", "The page sends its reader on at once; the anchor is in {it}"),
    "bad-location": _kind("warning", "RFC 9110 10.2.2", "The server redirects to an invalid URI, repaired here: {it}"),
    "programs-refused": _kind("warning", "RFC 9110 15.5.4", "The server rejects programs; check it in a browser: {it}"),
    "unusual-status": _kind("warning", "RFC 9110 15.4", "The server sent a status without a document: {it}"),
    "too-large": _kind("warning", "", "It is larger than the limit, so it was read only in part: {it}"),
    "rate-limited": _kind("warning", "RFC 6585 4", "The server limits the request rate: {it}"),
    "unsure": _kind("warning", "", "The sources do not show whether it exists: {it}"),
    "outside-base": _kind("warning", "RFC 3986 5.2.4", "It points outside the published files: {it}"),
    "base-missing": _kind(
        "note", "RFC 3986 5.1", "{it} with / at the beginning; the root is unknown: name it by --base or --root-dir"
    ),
    "redirected": _kind("note", "RFC 9110 15.4", "The server redirects it to {it}"),
    "unused-definition": _kind(
        "note", "CommonMark 4.7", "No link uses this definition, and its target is broken: {it}"
    ),
    "not-sure": _kind("note", "RFC 3986 3.5", "The anchor was not found, but the document was read only in part: {it}"),
    "not-read": _kind("note", "", "The document {it}"),
    "robots": _kind("note", "RFC 9309 2.2", "robots.txt disallows it: {it}"),
    "refused-by-policy": _kind("note", "RFC 3986 7.1", "The access policy forbids it: {it}"),
    "not-asked": _kind("note", "", "It was not requested: {it}"),
}
"""The table of all kinds of findings.  Errors make a check fail; notes report references that could not be checked."""


def kind_of_status(status: int) -> str | None:
    """The kind of finding for a status without a redirect (RFC 9110 15); None if the link is fine."""
    match status:
        case 404:
            return "not-found"
        case 410:
            return "gone"
        case 429:
            return "rate-limited"
        case 403 | 999:
            return "programs-refused"
        case 300 | 304 | 305 | 306:
            return "unusual-status"
        case _ if 200 <= status < 300:
            return None
        case _ if 400 <= status < 500:
            return "client-error"
        case _ if 500 <= status < 600:
            return "server-error"
    return "protocol"


TOLD = UNREAD | {"read-as-text", "needs-rst", "needs-notebooks"}
"""Notes on a document that are findings: it was not read completely, or not as its markup."""

PASSED: Mapping[str, str] = {
    "javascript": "javascript: URIs (programs)",
    "data": "data: URIs (they contain their content)",
    "about": "about: URIs (parts of the browser)",
    "base": "base URIs (not links)",
    "root": "references that begin with /, whose root is unknown (--base, --root-dir)",
    "identifier": "identifiers (they need not be reachable)",
    "ping": "addresses that only receive reports",
    "hint": "connection hints for browsers (preconnect, dns-prefetch)",
    "scheme": "URIs of other schemes in mail and archives",
    "text-fragment": "text fragments (#:~:text=), which search and name no anchor",
    "media-fragment": "fragments of images, video and audio",
    "pdf-fragment": "fragments of PDF",
    "script-fragment": "fragments that scripts read (#!, #/)",
    "pointer-fragment": "XPointers",
    "view-fragment": "views of SVG",
    "fragment": "fragments of documents without known anchors",
    "local": "url(#…) in style sheets (it belongs to the page that uses the sheet)",
    "excluded": "links that --exclude or --exclude-path names",
    "within": "findings within the sources (--external-only)",
    "nofollow": "links with rel=nofollow (--skip-nofollow)",
    "page-limit": "URIs of the site beyond the limit of --pages",
    "crawl-time": "URIs of the site left when --crawl-time was over; with --cache, --resume continues",
    "long": "URIs that are too long to follow",
    "deep": "URIs too many links away",
    "trap": "URIs whose paths repeat themselves (crawler traps)",
    "template": "references with a template in them (check the built site for these: overthere broken SITE)",
    "sphinx-role": "references by name that Sphinx resolves (:doc:, :ref:, toctree)",
    "not-followed": "symbolic links to folders or out of the sources",
    "not-in-container": "targets that were not looked up in their container",
    "json-ld": "JSON-LD", "meta": "meta elements of Open Graph and Twitter", "import map": "import maps",
    "speculation rules": "speculation rules", "srcdoc": "documents in srcdoc attributes",
    "data-src": "data-src and data-srcset, from which scripts load images", "rdfa": "RDFa attributes",
    "attributionsrc": "attributionsrc, which receives reports", "json": "JSON documents",
}  # fmt: skip
"""References that are not checked, by reason, each with its description."""

ANCHORS = (
    "auto", "github", "gitlab", "sphinx", "myst", "mkdocs", "pymdownx", "docusaurus", "mdbook", "pandoc", "pandoc-gfm",
    "kramdown", "jekyll", "vitepress", "hugo",
)  # fmt: skip
"""Programs that generate the anchors of Markdown headings; "auto": the one that is configured, otherwise GitHub."""


@hides_secrets
class Outcome(NamedTuple):
    """The result of requesting an external URI."""

    uri: str
    kind: str | None
    """One of `KINDS`; None if all is well."""
    status: int | None
    why: str
    final: str | None
    """The URI after redirects, with the fragment of the last redirect that has one (RFC 9110 10.2.2)."""
    permanent: bool
    """Whether every redirect was 301 or 308."""
    missing: tuple[str, ...]
    """Fragments that were looked up and do not exist."""
    checked: float
    """Seconds since the epoch, UTC."""
    cached: bool
    archived: str | None = None
    """The URI of a copy in a web archive, if one was looked up."""

    @property
    def page(self) -> str:
        """The URI after redirects, without a fragment."""
        return (self.final or self.uri).partition("#")[0]


class FileSettings(NamedTuple):
    """Settings for some of the sources."""

    path: str
    """A pattern of the sources; "*" matches any text."""
    anchors: str | None = None
    """One of `ANCHORS`; None: as for the others."""
    extensions: tuple[str, ...] = ()
    """Extensions that a server adds to missing names, if that gives a source with this path."""


class HostSettings(NamedTuple):
    """Settings for requests to some hosts; None: as for the others."""

    host: str
    """A pattern of their names in lower case; "*" matches any text."""
    accept: tuple[tuple[int, int], ...] = ()
    rate: float | None = None
    per_host: int | None = None
    agent: str | None = None


class Checker(NamedTuple):
    """The settings of a check, an immutable value."""

    base: tuple[str, ...] = ()
    """The URIs under which the sources are published; the first is the base of the documents, others are aliases."""
    fragments: bool = True
    """Whether fragments are looked up."""
    anchors: str = "auto"
    """One of `ANCHORS`."""
    projects: Projects = Projects()
    """The generators that were found for the sources."""
    indexes: tuple[str, ...] = ("index.html", "index.htm")
    """The index files of a folder; the first existing one counts."""
    extensions: tuple[str, ...] = ()
    """Extensions that a server adds to missing names, such as "html"."""
    exclude: tuple[str, ...] = ()
    """Targets that are neither requested nor reported; "*" matches any text."""
    include: tuple[str, ...] = ()
    """Exceptions from `exclude`."""
    exclude_path: tuple[str, ...] = ()
    """Sources that are not read; links to them are valid."""
    with_ignored: bool = False
    """Whether files that Git ignores, `node_modules` and virtual environments are read in folders."""
    accept: tuple[tuple[int, int], ...] = ()
    """Ranges of HTTP statuses that are fine: the first and the last."""
    files: tuple[FileSettings, ...] = ()
    """Settings for some of the sources; the first that matches counts."""
    hosts: tuple[HostSettings, ...] = ()
    """Settings for some hosts; for each setting, the first match that has it counts."""
    remap: tuple[tuple[str, str], ...] = ()
    """Beginnings of targets with their replacements; the first that matches counts."""
    root: str | None = None
    """The folder to which "/" leads in a reference, if there is no `base`."""
    external_only: bool = False
    """Whether only findings about external URIs are reported."""
    skip_nofollow: bool = False
    """Whether links with rel=nofollow are skipped."""
    allowed_redirects: tuple[tuple[str, str], ...] = ()
    """URIs, and targets to which they may redirect permanently; "*" matches any text."""
    github: tuple[str, str] | None = None
    """A token, and the URI of the API at which repositories of github.com are looked up if a request for them fails."""
    wayback: str | None = None
    """The URI of the API of a web archive in which copies of missing pages are looked up."""
    since: str | None = None
    """A Git revision: only findings in files changed since, and links to them, are reported."""
    workers: int | None = None
    """The number of threads or processes that read; None: the number of cores."""
    limit: int = 1 << 25
    """The maximum number of octets to read of a document."""
    suggest: bool = True
    """Whether similar existing names are suggested."""
    online: bool = False
    pages: int = 100_000
    """The maximum number of URIs of a site that a crawl requests."""
    crawl_time: float = 21_600.0
    """The time limit of a crawl in seconds, because a server may request endless pauses."""
    jobs: int = 8
    """The number of parallel requests."""
    per_host: int = 2
    """The number of parallel requests to one host."""
    rate: float | None = None
    """The maximum number of requests per second to one host."""
    headers: tuple[tuple[str, str, str], ...] = ()
    """Fields to send: an origin as in `https://api.example:8443`, or a host for https on its own port; name, value."""
    agent: str | None = None
    cookies: str | None = None
    """A cookie file of a login in Netscape format: each cookie is sent to the hosts of its domain."""
    cache: str | None = None
    """The cache file of outcomes between runs; None: no cache."""
    max_age: tuple[tuple[str, float], ...] = ()
    """Seconds for which an outcome of a kind ("ok" or one of `KINDS`) is valid, if it is not the default."""
    resume: bool = False

    def __repr__(self) -> str:
        headers = tuple((*field[:2], "***") for field in self.headers)
        return masked_repr(self._replace(github=self.github and ("***", self.github[1]), headers=headers))


@dataclass
class Summary:
    """The counts of a check, filled as it runs."""

    documents: int = 0
    octets: int = 0
    references: int = 0
    within: int = 0
    """References whose target was checked within the sources."""
    outside: int = 0
    """References to external URIs, and their distinct URIs."""
    distinct: int = 0
    asked: int = 0
    recalled: int = 0
    """URIs whose outcome was in the cache, or in the records of a stopped crawl."""
    passed: Counter[str] = field(default_factory=Counter)
    """References that were not checked, by reason (`PASSED`)."""
    files: Counter[str] = field(default_factory=Counter)
    """Sources that are not readable documents, by kind."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Findings by kind."""
    ignored: int = 0
    known: int = 0
    """Findings that are in the baseline."""
    read_again: int = 0
    """Documents that were read a second time, for the places of findings."""
    projects: Projects = field(default_factory=Projects)
    """The generators that were found for the sources."""
    held: int = 0
    """Octets of anchors and pairs that were kept in memory."""

    @property
    def errors(self) -> int:
        return sum(count for kind, count in self.kinds.items() if KINDS[kind].level == "error")

    def add(self, other: Summary) -> None:
        """Add the counts of another part of the check."""
        for name in ("documents", "octets", "references", "within", "outside"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for counts, other_counts in ((self.passed, other.passed), (self.files, other.files)):
            counts.update(other_counts)
