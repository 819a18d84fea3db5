"""The kind of a document: by its media type, then its name, then its content."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec

from overthere.links.documents.first_octets import begins_with_element, content_kind
from overthere.links.model import Document

__all__ = [
    "CONTAINERS", "HEAD", "LISTING", "MARKUPS", "TYPES", "Kind", "kind", "kind_of", "media_type_of", "passed_kind",
]  # fmt: skip

HEAD = 4096
"""Octets from the beginning of a document by which its kind is known."""

Kind = tuple[str, tuple[str, ...]]
"""The name of a reader or container, "" for none; and the notes on that."""

CONTAINERS = frozenset(("message", "mbox", "warc", "arc", "zip", "tar", "compressed"))
"""Kinds that hold documents; the others are read for references."""

LISTING = "application/vnd.overthere.listing"
"""The media type of a document that is the listing of a directory or menu (`retrieval.read`)."""

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
    # Known, and without a reader.
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
"""A media type for each kind that people name."""
_WELL_FORMED = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]++/[!#$%&'*+.^_`|~0-9A-Za-z-]++")  # RFC 9110 8.3.1, 5.6.2
# Told by servers that do not know: the name and the content decide (MIME Sniffing 5.1, "unknown type").
_UNKNOWN = frozenset(
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
    """The kind of a document, as `declared_kind` has it, that is read with the packages which are installed."""
    found, notes = declared_kind(name, media_type, head)
    if found not in OPTIONAL or found in _installed():
        return found, notes
    return OPTIONAL[found][1], (*notes, f"needs-{OPTIONAL[found][2]}")


OPTIONAL = {"rst": ("docutils", "text", "rst"), "notebook": ("nbformat", "json", "notebooks")}
"""Kinds whose reader is a package: its name, the kind that is read without it, and the extra that brings it."""


@cache
def _installed() -> frozenset[str]:
    return frozenset(name for name, (module, *_) in OPTIONAL.items() if find_spec(module) is not None)


def declared_kind(name: str, media_type: str, head: bytes) -> Kind:
    """The kind of a document by its name, the media type that was told (or ""), and its first octets.

    Returns: the name of the reader or container, "" if there is none; and ("wrong-type",) if what was told, or else
    the suffix of the name, and the content cannot both be true: the content then decides.

    A media type that was told is believed before the name, the name before the content (RFC 9110 8.3). text/plain
    stays text whatever stands in it (MIME Sniffing 5.1 and 7): only text that is told as a binary kind, and binary
    octets that are told as text, are a contradiction.  A page of HTML that is told as text, CSS or JSON stays that with
    ("looks-html",); a markup without a reader (AsciiDoc, Org, RTF, TeX, Turtle) is text
    with ("read-as-text",).  Standard input ("-") that begins with any element of HTML is HTML.

    A media type that is none ("text/html, text/html", "text") was not told: the content decides, and where that shows
    nothing but text, the name; with ("wrong-type",).

    XHTML is XML (RFC 3236): told as application/xhtml+xml, named .xhtml or .xht, or with nothing told and an XML
    declaration. What is told as text/html, or named so, is HTML whatever it declares: browsers read it so.

    >>> declared_kind("x", "text/html; charset=utf-8", b"%PDF-1.4")
    ('', ('wrong-type',))
    >>> declared_kind("feed", "", b"<rss version='2.0'>")
    ('xml', ())
    """
    there = content_kind(head)
    if media_type and not _WELL_FORMED.fullmatch(media_type.partition(";")[0].strip()):
        told = _suffix(name) if there in ("text", "octets") else None
        return _reader(told if told is not None and _fits(told, there) else there), ("wrong-type",)
    told = _kind_of_type(media_type)
    by_name = told in (None, "text")
    if told is None:
        told = _suffix(name)
        if told == "dtd" and head and not name.lower().endswith("dtd") and not _DTD.match(head):
            told = None  # modules of Go and of music, entries of protein databases
        if told == "rst" and there in ("html", "xml"):
            told = None
    if told is None and name == "-" and there == "text" and begins_with_element(head):
        there = "html"
    if told is None:
        return (_reader(there), _as_text(there, name, media_type, head)) if head else ("", ())
    if not head or _fits(told, there):
        if there == "html" and told in ("text", "css", "json") and _PAGE.match(head):
            return told, ("looks-html",)
        return _reader(told), _as_text(told, name if by_name else "", media_type, head)
    if there in ("warc", "arc") and told == "compressed":
        return there, ()  # records that are compressed one by one (WARC 1.1 annex D)
    return _reader(there), ("wrong-type",)


def kind_of(document: Document) -> Kind:
    """`kind()` of a document that has its content: its name is the last one of `source`, or of the URI it came by."""
    name = document.name or document.source.rpartition("!")[2]
    # A host is no name of a document: nothing of http://example.org is in Org.
    named = name.isdecimal() or name.partition("#")[0] == str(document.base.uri)
    if named and document.base.layer == "retrieval":
        name = document.base.uri.path
    return kind(name, document.media_type, document.content[:HEAD])


def _as_text(kind: str, name: str, media_type: str, head: bytes) -> tuple[str, ...]:
    """The note on a text in a markup that has no reader."""
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
# What only a whole page begins with: a text about HTML begins with a tag of it at most.
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[\t\n\f\r ]++|<!--(?:[^-]++|-(?!->))*+-->)*+<(?:!doctype\s++html|html)(?=[\s>/])",
    re.IGNORECASE,
)

_PASSED = {
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "webp", "ico", "avif", "bmp", "tif", "tiff"), "image"),
    **dict.fromkeys(("mp4", "webm", "mov", "avi", "mkv"), "video"),
    **dict.fromkeys(("mp3", "ogg", "wav", "flac", "m4a"), "audio"),
    **dict.fromkeys(("woff", "woff2", "ttf", "otf", "eot"), "font"),
    **dict.fromkeys(("js", "mjs"), "code"),
    "pdf": "pdf",
}
_PASSED_MAGIC = (
    (b"\x89PNG", "image"), (b"GIF8", "image"), (b"\xff\xd8\xff", "image"), (b"%PDF-", "pdf"), (b"wOF", "font"),
)  # fmt: skip


def passed_kind(document: Document) -> str:
    """What a document without a reader is, in a word of a few: by its content, what was told, its name.

    >>> from overthere import URI
    >>> from overthere.base import Base
    >>> passed_kind(Document("a.zip!b.PNG", b"...", Base(URI("http://h/"), "entity")))
    'image'
    """
    if not document.content:
        return "empty"
    for magic, name in _PASSED_MAGIC:
        if document.content.startswith(magic):
            return name
    major = document.media_type.partition("/")[0]
    if major in ("image", "audio", "video", "font"):
        return major
    if document.media_type == "application/pdf":
        return "pdf"
    if _MEDIA_TYPES.get(document.media_type) == "code":
        return "code"
    at = document.source.rpartition("!")[2]
    name = document.base.uri.path if at.isdecimal() and document.base.layer == "retrieval" else at
    return _PASSED.get(name.lower().rpartition(".")[2], "other")


def media_type_of(field: str) -> tuple[str, str | None]:
    """The media type, lower case and without parameters, and the charset of a Content-Type field (RFC 9110 8.3.1).

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
    """The kind of a media type; None if it says nothing."""
    essence = media_type.partition(";")[0].strip().lower()
    if essence in _UNKNOWN:
        return None
    known = _MEDIA_TYPES.get(essence)
    if known is not None:
        return known
    major = essence.partition("/")[0]
    if major in ("message", "multipart"):
        return "message"
    if essence.endswith("+xml"):
        return "xml"  # RFC 7303 4.2
    if essence.endswith("+json"):
        return "json"  # RFC 8259, RFC 6839 3.1
    if essence.endswith("+zip"):
        return "zip"
    if major == "text":
        return "text"  # RFC 2046 4.1.4: of an unknown subtype, text is still text
    return "binary" if major in ("image", "audio", "video", "font") else None


def _suffix(name: str) -> str | None:
    lower = name.lower()
    stem, dot, suffix = lower.rpartition(".")
    if lower.rpartition("/")[2] in ("llms.txt", "llms-full.txt"):
        return "markdown"  # llmstxt.org
    if not dot or "/" in suffix:
        return None
    if suffix in ("gz", "zst", "lz4") and stem.endswith((".warc", ".arc")):
        return "arc" if stem.endswith(".arc") and suffix == "gz" else "warc"
    return _SUFFIXES.get(suffix)


# A kind of text may hold what looks like another: HTML in Markdown, in a mail, a `{` at the start of a style sheet.
_TEXTS = frozenset(
    (
        *("html", "xml", "css", "json", "markdown", "text", "message", "mbox"),
        *("http", "header", "listing", "metadata", "dtd"),
    )
)


def _fits(told: str, there: str) -> bool:
    match told:
        case "text":
            return there in _TEXTS  # text or binary: MIME Sniffing 7.2
        case "binary":
            return there in ("binary", "octets")
        case "rst":
            return there in ("text", "json", "octets")
        case "uri-list":
            return there in ("text", "octets")
        case "notebook":
            return there in ("json", "text")
        case "code":
            return there not in CONTAINERS and there != "html"
        case "tar":
            return there in ("tar", "octets")  # before POSIX a tar had no mark
        case "arc":
            return there in ("arc", "compressed", "octets", "text")
        case "warc":
            return there in ("warc", "compressed", "octets", "text")  # it may be broken at its beginning
        case _ if told in _TEXTS:
            # NUL and other controls may be UTF-16 without a mark; nothing can be proved by them.
            return there in _TEXTS or there == "octets"
        case _:
            return told == there


def _reader(kind: str) -> str:
    return "" if kind in ("binary", "code", "octets") else kind
