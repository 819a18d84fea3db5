"""Decides the kind of a document: by its media type, then its name, then its content."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec

from overthere.links.documents.first_octets import begins_with_element, content_kind
from overthere.links.model import Document

HEAD = 4096
"""The number of bytes at the start of a document that can decide its kind."""

Kind = tuple[str, tuple[str, ...]]
"""The name of a reader or container (or ""), and the kinds of notes."""

CONTAINERS = frozenset(("message", "mbox", "warc", "arc", "zip", "tar", "compressed"))
"""Kinds that contain documents; the others are read for references."""

LISTING = "application/vnd.overthere.listing"
"""The internal media type of the listing of a directory or menu (`retrieval.read`)."""

_MEDIA_TYPES = {
    "text/html": "html",
    "text/xml": "xml",
    "application/xml": "xml",
    "text/css": "css",
    "application/json": "json",
    "text/json": "json",
    "application/x-ndjson": "json",
    "application/jsonl": "json",
    "application/json-seq": "json",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/x-rst": "rst",
    "text/prs.fallenstein.rst": "rst",
    "application/x-ipynb+json": "notebook",
    "text/plain": "text",
    "text/uri-list": "uri-list",
    "text/rfc822-headers": "header",
    "application/http": "http",
    LISTING: "listing",
    "application/vnd.overthere.metadata": "metadata",
    "application/xml-dtd": "dtd",
    "application/mbox": "mbox",
    "application/warc": "warc",
    "application/x-ia-arc": "arc",
    "application/x-internet-archive": "arc",
    "application/zip": "zip",
    "application/x-zip-compressed": "zip",
    "application/x-tar": "tar",
    "application/gzip": "compressed",
    "application/x-gzip": "compressed",
    "application/x-bzip2": "compressed",
    "application/x-xz": "compressed",
    "application/zstd": "compressed",
    # Groups of fields, which are no message (RFC 3464 2.1, RFC 8098 3.1, RFC 5965 3, RFC 6533).
    "message/delivery-status": "text",
    "message/global-delivery-status": "text",
    "message/disposition-notification": "text",
    "message/global-disposition-notification": "text",
    "message/feedback-report": "text",
    # These have no reader.
    "application/pdf": "binary",
    "text/javascript": "code",
    "application/javascript": "code",
    "application/x-javascript": "code",
}
TYPES = {
    "html": "text/html", "xml": "application/xml", "css": "text/css", "json": "application/json",
    "markdown": "text/markdown", "rst": "text/x-rst", "notebook": "application/x-ipynb+json", "text": "text/plain",
    "uri-list": "text/uri-list", "message": "message/rfc822", "mbox": "application/mbox", "warc": "application/warc",
    "zip": "application/zip", "tar": "application/x-tar",
}  # fmt: skip
"""A media type for each kind that users can name."""
_WELL_FORMED = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]++/[!#$%&'*+.^_`|~0-9A-Za-z-]++")  # RFC 9110 8.3.1, 5.6.2
# Servers send these for unknown types: the name and the content decide (MIME Sniffing 5.1, "unknown type").
_UNKNOWN_TYPES = frozenset(
    ("", "application/octet-stream", "application/unknown", "binary/octet-stream", "unknown/unknown", "*/*")
)
_SUFFIXES = {
    "html": "html", "htm": "html", "shtml": "html", "xhtml": "xml", "xht": "xml",
    "xml": "xml", "atom": "xml", "rss": "xml", "rdf": "xml", "svg": "xml", "xsl": "xml", "xslt": "xml", "xsd": "xml",
    **dict.fromkeys(("opml", "kml", "gpx", "opf", "ncx", "rels", "dita", "ditamap", "tei", "dbk", "docbook"), "xml"),
    "dtd": "dtd", "mod": "dtd", "ent": "dtd",
    "css": "css", "json": "json", "jsonl": "json", "geojson": "json", "webmanifest": "json",
    "jsonld": "json", "ndjson": "json",
    "uris": "uri-list",
    **dict.fromkeys(("md", "markdown", "mdx", "mkd", "mkdn", "mdown", "markdn", "qmd", "rmd"), "markdown"),
    "txt": "text", "text": "text", "log": "text",
    "rst": "rst", "ipynb": "notebook",
    "eml": "message", "mht": "message", "mhtml": "message", "mbox": "mbox", "mbx": "mbox",
    "warc": "warc", "arc": "arc", "zip": "zip", "jar": "zip", "epub": "zip", "docx": "zip", "odt": "zip",
    "tar": "tar", "gz": "compressed", "bz2": "compressed", "xz": "compressed", "zst": "compressed",
    "tgz": "compressed", "tbz2": "compressed", "txz": "compressed",
    "js": "code", "mjs": "code",
}  # fmt: skip

_DTD = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:<[!?]|%[^\s;]++;)")


def kind(name: str, media_type: str, head: bytes) -> Kind:
    """Return the kind of a document as `declared_kind`, or the kind that replaces it if a package is not installed."""
    kind_name, notes = declared_kind(name, media_type, head)
    if kind_name not in OPTIONAL or kind_name in _installed_kinds():
        return kind_name, notes
    return OPTIONAL[kind_name][1], (*notes, f"needs-{OPTIONAL[kind_name][2]}")


OPTIONAL = {"rst": ("docutils", "text", "rst"), "notebook": ("nbformat", "json", "notebooks")}
"""Kinds whose reader needs a package: its name, the kind to read without it, and the extra that installs it."""


@cache
def _installed_kinds() -> frozenset[str]:
    return frozenset(name for name, (module, *_) in OPTIONAL.items() if find_spec(module) is not None)


def declared_kind(name: str, media_type: str, head: bytes) -> Kind:
    """Return the kind of a document by its name, its declared media type (or ""), and its first bytes.

    Returns: the name of the reader or container (or ""), and the kinds of notes: ("wrong-type",) if the content
    contradicts the media type, or without one the suffix of the name; the content then decides.

    A declared media type overrides the name, and the name overrides the content (RFC 9110 8.3).  text/plain stays text
    whatever it contains (MIME Sniffing 5.1 and 7): most kinds of text are compatible, but text that is declared as a
    binary kind, and binary content that is declared as text, are contradictions.  An HTML page that is declared as
    text, CSS or JSON keeps that kind with ("looks-html",); markup without a reader (AsciiDoc, Org, RTF, TeX, Turtle) is
    text with ("read-as-text",).  Standard input ("-") that begins with any element of HTML is HTML.

    An invalid media type ("text/html, text/html", "text") is ignored: the content decides, or the name if the content
    is only text or unknown; with ("wrong-type",).

    XHTML is XML (RFC 3236): declared as application/xhtml+xml, named .xhtml or .xht, or undeclared with an XML
    declaration.  A document that is declared as text/html, or named so, is HTML, as for browsers.

    >>> declared_kind("x", "text/html; charset=utf-8", b"%PDF-1.4")
    ('', ('wrong-type',))
    >>> declared_kind("feed", "", b"<rss version='2.0'>")
    ('xml', ())
    """
    actual = content_kind(head)
    if media_type and not _WELL_FORMED.fullmatch(media_type.partition(";")[0].strip()):
        declared = _kind_of_name(name) if actual in ("text", "octets") else None
        return _reader_name(declared if declared is not None and _can_be(declared, actual) else actual), ("wrong-type",)
    declared = _kind_of_type(media_type)
    uses_name = declared in (None, "text")
    if declared is None:
        declared = _kind_of_name(name)
        if declared == "dtd" and head and not name.lower().endswith("dtd") and not _DTD.match(head):
            declared = None  # modules of Go and of music, entries of protein databases
        if declared == "rst" and actual in ("html", "xml"):
            declared = None
    if declared is None and name == "-" and actual == "text" and begins_with_element(head):
        actual = "html"
    if declared is None:
        return (_reader_name(actual), _markup_note(actual, name, media_type, head)) if head else ("", ())
    if not head or _can_be(declared, actual):
        if actual == "html" and declared in ("text", "css", "json") and _HTML_PAGE.match(head):
            return declared, ("looks-html",)
        return _reader_name(declared), _markup_note(declared, name if uses_name else "", media_type, head)
    if actual in ("warc", "arc") and declared == "compressed":
        return actual, ()  # each record is compressed separately (WARC 1.1 annex D)
    return _reader_name(actual), ("wrong-type",)


def kind_of(document: Document) -> Kind:
    """Return the kind of a document with content; its name is the last one in `source`, or that of its URI."""
    name = document.name or document.source.rpartition("!")[2]
    # A host is not a file name: http://example.org is not in Org.
    is_unnamed = name.isdecimal() or name.partition("#")[0] == str(document.base.uri)
    if is_unnamed and document.base.layer == "retrieval":
        name = document.base.uri.path
    return kind(name, document.media_type, document.content[:HEAD])


def _markup_note(kind: str, name: str, media_type: str, head: bytes) -> tuple[str, ...]:
    """Return the note on a text if it is in a markup without a reader."""
    markup = (
        _MARKUP_TYPE.search(media_type)
        or head.startswith(b"{\\rtf")
        or (name.rpartition("/")[2].lower().rpartition(".")[2] in MARKUPS and "." in name)
    )
    return ("read-as-text",) if kind == "text" and markup else ()


MARKUPS = frozenset(
    ("adoc", "asciidoc", "org", "rtf", "tex", "latex", "ltx", "sty", "textile", "ttl", "n3", "trig", "mediawiki")
)
"""Suffixes of markups without a reader."""
_MARKUP_TYPE = re.compile(
    r"/(?:x-|prs\.|vnd\.)?(?:asciidoc|org|rtf|richtext|tex|latex|textile|turtle|n3|trig)(?=;|\s|\Z)"
)
# Only a complete page begins like this; a text about HTML may begin with another tag.
_HTML_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[\t\n\f\r ]++|<!--(?:[^-]++|-(?!->))*+-->)*+<(?:!doctype\s++html|html)(?=[\s>/])",
    re.IGNORECASE,
)

_SKIPPED_SUFFIXES = {
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "webp", "ico", "avif", "bmp", "tif", "tiff"), "image"),
    **dict.fromkeys(("mp4", "webm", "mov", "avi", "mkv"), "video"),
    **dict.fromkeys(("mp3", "ogg", "wav", "flac", "m4a"), "audio"),
    **dict.fromkeys(("woff", "woff2", "ttf", "otf", "eot"), "font"),
    **dict.fromkeys(("js", "mjs"), "code"),
    "pdf": "pdf",
}
_SKIPPED_SIGNATURES = (
    (b"\x89PNG", "image"), (b"GIF8", "image"), (b"\xff\xd8\xff", "image"), (b"%PDF-", "pdf"), (b"wOF", "font"),
)  # fmt: skip


def passed_kind(document: Document) -> str:
    """Return one of a few words for a document without a reader, by its content, media type or name.

    >>> from overthere import URI
    >>> from overthere.base import Base
    >>> passed_kind(Document("a.zip!b.PNG", b"...", Base(URI("http://h/"), "entity")))
    'image'
    """
    if not document.content:
        return "empty"
    for magic, name in _SKIPPED_SIGNATURES:
        if document.content.startswith(magic):
            return name
    main_type = document.media_type.partition("/")[0]
    if main_type in ("image", "audio", "video", "font"):
        return main_type
    if document.media_type == "application/pdf":
        return "pdf"
    if _MEDIA_TYPES.get(document.media_type) == "code":
        return "code"
    last_name = document.source.rpartition("!")[2]
    name = document.base.uri.path if last_name.isdecimal() and document.base.layer == "retrieval" else last_name
    return _SKIPPED_SUFFIXES.get(name.lower().rpartition(".")[2], "other")


def media_type_of(field: str) -> tuple[str, str | None]:
    """Return the media type in lower case without parameters, and the charset of a Content-Type (RFC 9110 8.3.1).

    >>> media_type_of('Text/HTML; Charset="utf-8"')
    ('text/html', 'utf-8')
    """
    essence, _, parameters = field[:1024].partition(";")
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return essence.strip().lower(), value.strip().strip("\"'") or None
    return essence.strip().lower(), None


def _kind_of_type(media_type: str) -> str | None:
    """Return the kind of a media type; None if the type is unknown."""
    essence = media_type.partition(";")[0].strip().lower()
    if essence in _UNKNOWN_TYPES:
        return None
    kind_name = _MEDIA_TYPES.get(essence)
    if kind_name is not None:
        return kind_name
    main_type = essence.partition("/")[0]
    if main_type in ("message", "multipart"):
        return "message"
    if essence.endswith("+xml"):
        return "xml"  # RFC 7303 4.2
    if essence.endswith("+json"):
        return "json"  # RFC 8259, RFC 6839 3.1
    if essence.endswith("+zip"):
        return "zip"
    if main_type == "text":
        return "text"  # RFC 2046 4.1.4: text of an unknown subtype is still text
    return "binary" if main_type in ("image", "audio", "video", "font") else None


def _kind_of_name(name: str) -> str | None:
    lower = name.lower()
    stem, dot, suffix = lower.rpartition(".")
    if lower.rpartition("/")[2] in ("llms.txt", "llms-full.txt"):
        return "markdown"  # llmstxt.org
    if not dot or "/" in suffix:
        return None
    if suffix in ("gz", "zst", "lz4") and stem.endswith((".warc", ".arc", ".warc.wat")):
        return "arc" if stem.endswith(".arc") and suffix == "gz" else "warc"
    return _SUFFIXES.get(suffix)


# One kind of text may look like another: HTML in Markdown or in a mail, a `{` at the start of a style sheet.
_TEXT_KINDS = frozenset(
    (
        *("html", "xml", "css", "json", "markdown", "text", "message", "mbox"),
        *("http", "header", "listing", "metadata", "dtd"),
    )
)


def _can_be(declared: str, actual: str) -> bool:
    match declared:
        case "text":
            return actual in _TEXT_KINDS  # text or binary: MIME Sniffing 7.2
        case "binary":
            return actual in ("binary", "octets")
        case "rst":
            return actual in ("text", "json", "octets")
        case "uri-list":
            return actual in ("text", "octets")
        case "notebook":
            return actual in ("json", "text")
        case "code":
            return actual not in CONTAINERS and actual != "html"
        case "tar":
            return actual in ("tar", "octets")  # before POSIX a tar had no signature
        case "arc":
            return actual in ("arc", "compressed", "octets", "text")
        case "warc":
            return actual in ("warc", "compressed", "octets", "text")  # its start may be damaged
        case _ if declared in _TEXT_KINDS:
            # NUL and other controls prove nothing: the text may be UTF-16 without a byte order mark.
            return actual in _TEXT_KINDS or actual == "octets"
        case _:
            return declared == actual


def _reader_name(kind: str) -> str:
    return "" if kind in ("binary", "code", "octets") else kind
