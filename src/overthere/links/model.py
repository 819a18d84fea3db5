"""Data that passes between the stages of the main job: documents, references, rows of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypedDict

from overthere.base import Base
from overthere.ground.redact import hides_secrets
from overthere.ground.rung import Rung
from overthere.schemes.registry import Registry

if TYPE_CHECKING:
    from overthere.canonical import Canonical


@hides_secrets
class Link(NamedTuple):
    """A row of the link table; None is undefined."""

    source: str
    """The document: a path; in a container also `!` and a name, a number or an offset in it."""
    base: str | None
    """The base URI against which the reference was resolved."""
    base_from: str | None
    """The layer that gave it: content, entity, retrieval or default (RFC 3986 5.1)."""
    reference: str | None
    """The reference as written, without surrounding white space; None in a row about the document itself."""
    where: str | None
    """Element and attribute, or the equivalent in other kinds of documents."""
    target: str | None
    """The target URI (5.2); None if the reference is not valid."""
    fragment: str | None
    same_document: bool | None
    """Whether the target is the base, fragments aside (4.4)."""
    normal: str | None
    """The target's normal form (6.2)."""
    error: str | None
    """The kind of the first finding, or of a `Note`; with "non-ascii" and a target, the target is the IRI's
    (RFC 3987 3.1)."""
    error_at: int | None
    """Code-point offset in the reference."""
    part: str | None
    """The part of the same message that the target names (RFC 2557 8; RFC 2392), as the `source` of its rows."""
    audit: str | None
    """Kinds of `overthere.audit` on the target, with blanks between; None if there are none or --audit is off;
    "audit-failed" is a bug of this library."""
    browser: str | None = None
    """The URI that browsers open (URL Standard), if it differs from the target; "" if they open nothing; None if it is
    the target, in running text, or if --whatwg is off."""


@hides_secrets
class Document(NamedTuple):
    """The octets of a document and the metadata of its container."""

    source: str
    content: bytes
    base: Base
    """The base given outside the content (RFC 3986 5.1.2 to 5.1.4)."""
    media_type: str = ""
    """As declared: lower case, without parameters; "" if not declared."""
    charset: str | None = None
    """As declared."""
    notes: tuple[str, ...] = ()
    """Notes on it so far, of `NOTES`."""
    depth: int = 0
    """The number of containers around it."""
    parts: dict[str, str] | None = None
    """In a message: the absolute URIs of its parts (cid:, mid:, Content-Location) and the sources of those parts; it is
    shared by its documents."""
    name: str = ""
    """A file name whose suffix may show its kind; by default the last name in `source`."""

    def failed(self, kind: str) -> Document:
        """Return the document with another note, and without content: it could not be read, or not completely."""
        return self._replace(content=b"", notes=tuple(dict.fromkeys((*self.notes, kind))))


@hides_secrets
class Found(NamedTuple):
    """A reference in a document: its place, and its text without surrounding white space."""

    where: str
    reference: str
    base: Base | None = None
    """The base at this place, if it is not that of the document."""
    target: str | None = None
    """The intended URI, if the text is an abbreviated one (RFC 3986 4.5)."""
    codebase: str | None = None
    """The codebase of its element: a reference to the base of this one (HTML 4.01 13.3.1, 13.4)."""


class EmbeddedContent(NamedTuple):
    """Optional content of HTML; most of it contains references in its own syntax."""

    name: str
    """The property of a meta, the type of a script, otherwise the element and the attribute; from `html.EMBEDDED`."""
    text: str


class Note(NamedTuple):
    """A problem with a whole document."""

    kind: str


class BegunPage(NamedTuple):
    """An HTML page that the native kernel has begun to read: its rows continue here, without its content."""

    document: Document


BEGUN = "begun"
"""The kind of the document of a `BegunPage`."""


class PassedContent(NamedTuple):
    """Content without a readable document, or content that is read only on request."""

    kind: str
    """The type of a record, otherwise the kind of content: "image", "link", "json-ld" and so on."""


NOTES = {
    "unreadable": "cannot be read",
    "reader-failed": "crashed its reader, a bug of this library; the rows found before are kept",
    "not-opened": "is a URI that could not be opened",
    "missing": "is a URI that the server does not have or does not allow",
    "refused": "is a URI that the access policy forbids",
    "changed": "was replaced while it was read; the rows found before are of what was there first",
    "other-record": "is another record than the index says, and was not read",
    "not-followed": "is a symlink to a folder, or out of the named folder",
    "empty": "has no content",
    "repeated": "names a file more than once, which was read once",
    "truncated": "is truncated",
    "corrupt": "breaks its own format; the readable part was read",
    "wrong-length": "is longer or shorter than declared",
    "wrong-encoding": "misspells its transfer encoding; it was read as the obvious one (RFC 2045 6.1)",
    "wrong-charset": "is not in its declared charset",
    "cut": "has URIs that end before a character that URIs cannot contain; they may be cut short",
    "wrong-type": "is of another type than declared",
    "looks-html": "begins like an HTML page, but was read as the type that is declared",
    "read-as-text": "is in a markup without a reader; it was read as plain text",
    "needs-rst": "is reStructuredText; it was read as plain text, for its links: pip install 'overthere[rst]'",
    "needs-notebooks": "is a notebook, and was read as JSON; for its links: pip install 'overthere[notebooks]'",
    "unclosed": "ends inside a comment, a tag or a raw text element (script, textarea)",
    "too-large": "is larger than the limit; the rest was not read",
    "too-deep": "is nested deeper than the limit; the deeper part may be unread",
    "encrypted": "is encrypted",
    "unsupported": "is of a type without a reader",
    "no-vocabulary": "is XML without rules for its links; href, src, url and URIs in its text were read",
}
"""Kinds of `Note`."""
CUT_SUFFIX = ", cut"
"""The end of the place of a URI that may be cut short."""
UNREAD = frozenset(
    (
        *("unreadable", "not-opened", "missing", "refused", "changed", "other-record", "reader-failed", "truncated"),
        *("corrupt", "too-large", "too-deep", "encrypted", "unsupported"),
    )
)
"""Notes that mean that the document was not read completely."""


class Options(NamedTuple):
    """The options of a job; keyword-only, here and in `extract`."""

    rung: Rung = Rung.SYNTAX
    """The rung of the ladder for the column `normal`."""
    edition: str = "rfc3986"
    """The edition for checking, resolving and normalising references, and for bases."""
    json: bool = False
    """Whether URIs in JSON strings are references."""
    audit: bool = False
    """Whether the column `audit` is filled (`overthere.audit`)."""
    whatwg: bool = False
    """Whether the column `browser` is filled: the URI that browsers open, if it differs from the target."""
    metadata: bool = False
    """Whether references in other syntaxes inside HTML are read: metas of Open Graph and Twitter, JSON-LD, import maps,
    speculation rules, documents in `srcdoc`; otherwise `TaskEnd.passed` of `batches` counts these."""
    kind: str | None = None
    """The kind of each source that is not a folder, from `kinds.TYPES`; None: its type, name and content decide."""
    with_ignored: bool = False
    """Whether folders are read with what Git ignores, `node_modules` and virtual environments."""
    limit: int = 1 << 25
    """The most octets to read of a document."""
    depth: int = 16
    """The deepest nesting of containers."""
    registry: Registry | None = None
    """The registry of schemes, for the columns `normal` and `audit`; None: the default registry.  With several
    workers its schemes are pickled."""
    canonical: Canonical | None = None
    """A form of `overthere.canonical` for the column `normal`, instead of a rung; if a target is not a URI by RFC
    3986 (as in older editions), the column is None."""
    rooted: bool = False
    """Whether an archive that is a source without a base is the root of its members."""
    idna: bool = False
    """Whether host names in the column `normal` are written as A-labels (RFC 5891 4)."""

    @property
    def form(self) -> Canonical | None:
        """The form that writes the column `normal`, with the step of `idna` first; None: the rung alone."""
        if not self.idna:
            return self.canonical
        from overthere.canonical import Canonical, Step

        return Canonical(Step("host-idna")) + (self.canonical or Canonical(Step("ladder", rung=self.rung.name)))


class OptionFields(TypedDict, total=False):
    """`Options` as keywords, for type checkers."""

    rung: Rung
    edition: str
    json: bool
    audit: bool
    whatwg: bool
    metadata: bool
    kind: str | None
    with_ignored: bool
    limit: int
    depth: int
    registry: Registry | None
    canonical: Canonical | None
    rooted: bool
    idna: bool
