"""The kind that the first octets of a document show (MIME Sniffing 6 and 7)."""

from __future__ import annotations

import re
import zlib

__all__ = ["SIGNATURES", "begins_with_element", "content_kind"]

# First octets (MIME Sniffing 6; the formats' own documents).
_MAGIC = (
    (b"WARC/1.", "warc"), (b"WARC/0.", "warc"), (b"warc/1.", "warc"), (b"filedesc://", "arc"),
    (b"PK\x03\x04", "zip"), (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b\x08", "compressed"), (b"\xfd7zXZ\x00", "compressed"),
    (b"\x28\xb5\x2f\xfd", "compressed"), (b"\x04\x22\x4d\x18", "compressed"),
    (b"%PDF-", "binary"), (b"\x89PNG\r\n\x1a\n", "binary"), (b"GIF87a", "binary"), (b"GIF89a", "binary"),
    (b"\xff\xd8\xff", "binary"), (b"wOFF", "binary"), (b"wOF2", "binary"),
    (b"7z\xbc\xaf\x27\x1c", "binary"), (b"Rar!\x1a\x07", "binary"), (b"\x7fELF", "binary"),
    (b"\x00\x05\x16\x07", "binary"),  # AppleDouble (RFC 1740 A): `._page.html` beside `page.html`
)  # fmt: skip
_MAGICS = tuple(magic for magic, _ in _MAGIC)
SIGNATURES = (*((0, magic) for magic in _MAGICS), (257, b"ustar"), (0, b"BZh"))
"""Places and octets there, by one of which a content that is no text is known, or may be."""
_LZ4 = b"\x04\x22\x4d\x18"
_SPACE = b"\t\n\f\r "
_HTML = re.compile(
    rb"<(?:!doctype\s++html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p)(?=[\s>/])",
    re.IGNORECASE,
)
_TAG = re.compile(rb"<([A-Za-z][A-Za-z0-9]*+)(?=[\s>/])")
_ELEMENTS = frozenset(
    b"""a abbr address area article aside audio b base bdi bdo blockquote body br button canvas caption center cite code
    col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form
    frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark
    menu meta meter nav noscript object ol optgroup option output p picture pre progress q s samp script search section
    select slot small source span strong style sub summary sup table tbody td template textarea tfoot th thead time
    title tr track u ul var video wbr""".split()
)
_ROOTS = re.compile(
    rb"<(?:\?xml\s|rss[\s>]|(?:\w++:)?(?:feed|urlset|sitemapindex|svg|rdf|opml|kml)[\s>])", re.IGNORECASE
)
# The beginning of an object or array (RFC 8259): of one with plain values up to the second, for text begins with
# `[name]` and `[1]` too.
_JSON = re.compile(
    rb"(?=[{\[])(?:\[\s*+)*+(?:\{\s*+(?:\"|\}\s*+(?:[,\]{\[]|\Z)|\Z)"
    rb"|(?:\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|(?:-?[0-9][0-9.eE+-]*+|true|false|null)(?![^\s,\]]))?+\s*+"
    rb"(?:,|\]\s*+(?:[,\]{\[]|\Z)|\Z))",
    re.DOTALL,
)
_MAIL = re.compile(rb"^(?:From|Date|To|Subject|MIME-Version|Received):[ \t]", re.IGNORECASE | re.MULTILINE)
_CONTROLS = bytes(frozenset(range(0x20)) - frozenset(b"\t\n\f\r\x1b"))


def content_kind(head: bytes) -> str:
    """The kind that the first octets show: "binary" is a format without a reader, "octets" none that is known."""
    if head.startswith(_MAGICS):
        name = next(name for magic, name in _MAGIC if head.startswith(magic))
        return _compression_kind(head) if name == "compressed" else name
    if head[257:262] == b"ustar":
        return "tar"
    if head.startswith(b"BZh") and head[4:10] == b"1AY&SY":
        return "compressed"
    if head.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        # With a byte order mark it is text (MIME Sniffing 7.2).
        wide = head[:1] != b"\xef"
        return _text(head[2:].replace(b"\0", b"") if wide else head[3:])
    looked_at = head[:1445]  # by MIME Sniffing 7.1
    if len(looked_at.translate(None, _CONTROLS)) < len(looked_at):
        return "octets"
    return _text(head)


def _compression_kind(head: bytes) -> str:
    if head.startswith(_LZ4):
        return "warc"  # compressed so, only WARCs are read
    if not head.startswith(b"\x1f\x8b"):
        return "compressed"
    try:
        inside = zlib.decompressobj(31).decompress(head, 16)
    except zlib.error:
        return "compressed"
    if inside.startswith(b"filedesc://"):
        return "arc"
    return "warc" if inside.startswith((b"WARC/1.", b"WARC/0.")) else "compressed"


def begins_with_element(head: bytes) -> bool:
    """Whether a text begins with any element of HTML, which MIME Sniffing does not take for a page."""
    tag = _TAG.match(_behind_comments(head.removeprefix(b"\xef\xbb\xbf")) or b"")
    return tag is not None and tag[1].lower() in _ELEMENTS


def _behind_comments(head: bytes) -> bytes | None:
    """What follows blanks and comments; None if one is not closed."""
    start = head.lstrip(_SPACE)
    while start.startswith(b"<!--"):
        _, closed, start = start[4:].partition(b"-->")
        start = start.lstrip(_SPACE)
        if not closed:
            return None
    return start


def _text(head: bytes) -> str:
    start = _behind_comments(head)
    if start is None:
        return "html"  # MIME Sniffing 7.1
    if _ROOTS.match(start):
        return "xml"
    if _HTML.match(start):
        return "html"
    if _JSON.match(start):
        return "json"
    if head.startswith(b"From ") and _MAIL.search(head):
        return "mbox"
    if _is_header(head):
        return "message"
    return "text"


def _is_header(head: bytes) -> bool:
    """Whether lines of fields stand there, the first without a blank before it, and two at least are those of mail."""
    names: set[bytes] = set()
    for line in head.split(b"\n", 64)[:64]:
        if line[:1] in (b" ", b"\t") and names:
            continue
        name, colon, _ = line.partition(b":")
        if not colon or not _NAME.fullmatch(name):
            return len(names & _MAIL_FIELDS) > 1 and not line.strip(b"\r")
        names.add(name.rstrip().lower())
    return len(names & _MAIL_FIELDS) > 1


# RFC 5322 2.2: printable US-ASCII without ":".
_NAME = re.compile(rb"[!-9;-~]{1,76}[ \t]?")
_MAIL_FIELDS = frozenset(
    (
        b"from", b"to", b"cc", b"date", b"subject", b"sender", b"reply-to", b"message-id", b"in-reply-to",
        b"received", b"return-path", b"delivered-to", b"mime-version", b"content-type", b"content-transfer-encoding",
        b"content-location", b"content-base", b"list-id", b"references",
    )
)  # fmt: skip
