"""Finds the kind of a document by its first bytes (MIME Sniffing 6 and 7)."""

from __future__ import annotations

import re
import zlib

# The first bytes of formats (MIME Sniffing 6; the specifications of the formats).
_KINDS_BY_MAGIC = (
    (b"WARC/1.", "warc"), (b"WARC/0.", "warc"), (b"warc/1.", "warc"), (b"filedesc://", "arc"),
    (b"PK\x03\x04", "zip"), (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b\x08", "compressed"), (b"\xfd7zXZ\x00", "compressed"),
    (b"\x28\xb5\x2f\xfd", "compressed"), (b"\x04\x22\x4d\x18", "compressed"),
    (b"%PDF-", "binary"), (b"\x89PNG\r\n\x1a\n", "binary"), (b"GIF87a", "binary"), (b"GIF89a", "binary"),
    (b"\xff\xd8\xff", "binary"), (b"wOFF", "binary"), (b"wOF2", "binary"),
    (b"7z\xbc\xaf\x27\x1c", "binary"), (b"Rar!\x1a\x07", "binary"), (b"\x7fELF", "binary"),
    (b"\x00\x05\x16\x07", "binary"),  # AppleDouble (RFC 1740 A): `._page.html` beside `page.html`
)  # fmt: skip
_MAGICS = tuple(magic for magic, _ in _KINDS_BY_MAGIC)
SIGNATURES = (*((0, magic) for magic in _MAGICS), (257, b"ustar"), (0, b"BZh"))
"""Offsets and the bytes at each that show, or may show, that the content is not text."""
_LZ4 = b"\x04\x22\x4d\x18"
_BLANKS = b"\t\n\f\r "
_HTML_START = re.compile(
    rb"<(?:!doctype\s++html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p)(?=[\s>/])",
    re.IGNORECASE,
)
_START_TAG = re.compile(rb"<([A-Za-z][A-Za-z0-9]*+)(?=[\s>/])")
_HTML_ELEMENTS = frozenset(
    b"""a abbr address area article aside audio b base bdi bdo blockquote body br button canvas caption center cite code
    col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form
    frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark
    menu meta meter nav noscript object ol optgroup option output p picture pre progress q s samp script search section
    select slot small source span strong style sub summary sup table tbody td template textarea tfoot th thead time
    title tr track u ul var video wbr""".split()
)
_XML_START = re.compile(
    rb"<(?:\?xml\s|rss[\s>]|(?:\w++:)?(?:feed|urlset|sitemapindex|svg|rdf|opml|kml)[\s>])", re.IGNORECASE
)
# The start of an object or array (RFC 8259), up to the second value in an array of plain values, because text may
# also begin with `[name]` or `[1]`.
_JSON_START = re.compile(
    rb"(?=[{\[])(?:\[\s*+)*+(?:\{\s*+(?:\"|\}\s*+(?:[,\]{\[]|\Z)|\Z)"
    rb"|(?:\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|(?:-?[0-9][0-9.eE+-]*+|true|false|null)(?![^\s,\]]))?+\s*+"
    rb"(?:,|\]\s*+(?:[,\]{\[]|\Z)|\Z))",
    re.DOTALL,
)
_MAIL_FIELD = re.compile(rb"^(?:From|Date|To|Subject|MIME-Version|Received):[ \t]", re.IGNORECASE | re.MULTILINE)
_CONTROLS = bytes(frozenset(range(0x20)) - frozenset(b"\t\n\f\r\x1b"))


def content_kind(head: bytes) -> str:
    """Return the kind of content by its first bytes: "binary" is a format without a reader, "octets" is unknown."""
    if head.startswith(_MAGICS):
        name = next(name for magic, name in _KINDS_BY_MAGIC if head.startswith(magic))
        return _compression_kind(head) if name == "compressed" else name
    if head[257:262] == b"ustar":
        return "tar"
    if head.startswith(b"BZh") and head[4:10] == b"1AY&SY":
        return "compressed"
    if head.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        # A byte order mark means text (MIME Sniffing 7.2).
        is_utf_16 = head[:1] != b"\xef"
        return _text_kind(head[2:].replace(b"\0", b"") if is_utf_16 else head[3:])
    sniffed = head[:1445]  # MIME Sniffing 7.1
    if len(sniffed.translate(None, _CONTROLS)) < len(sniffed):
        return "octets"
    return _text_kind(head)


def _compression_kind(head: bytes) -> str:
    if head.startswith(_LZ4):
        return "warc"  # only WARC is supported in this compression
    if not head.startswith(b"\x1f\x8b"):
        return "compressed"
    try:
        content = zlib.decompressobj(31).decompress(head, 16)
    except zlib.error:
        return "compressed"
    if content.startswith(b"filedesc://"):
        return "arc"
    return "warc" if content.startswith((b"WARC/1.", b"WARC/0.")) else "compressed"


def begins_with_element(head: bytes) -> bool:
    """Whether a text begins with any element of HTML; for MIME Sniffing only some elements begin a page."""
    tag = _START_TAG.match(_skip_comments(head.removeprefix(b"\xef\xbb\xbf")) or b"")
    return tag is not None and tag[1].lower() in _HTML_ELEMENTS


def _skip_comments(head: bytes) -> bytes | None:
    """Return the text after blanks and comments; None if a comment is not closed."""
    start = head.lstrip(_BLANKS)
    while start.startswith(b"<!--"):
        _, end_mark, start = start[4:].partition(b"-->")
        start = start.lstrip(_BLANKS)
        if not end_mark:
            return None
    return start


def _text_kind(head: bytes) -> str:
    start = _skip_comments(head)
    if start is None:
        return "html"  # MIME Sniffing 7.1
    if _XML_START.match(start):
        return "xml"
    if _HTML_START.match(start):
        return "html"
    if _JSON_START.match(start):
        return "json"
    if head.startswith(b"From ") and _MAIL_FIELD.search(head):
        return "mbox"
    if _has_mail_header(head):
        return "message"
    return "text"


def _has_mail_header(head: bytes) -> bool:
    """Whether a text begins with field lines, the first one not indented, and at least two fields are those of mail."""
    names: set[bytes] = set()
    for line in head.split(b"\n", 64)[:64]:
        if line[:1] in (b" ", b"\t") and names:
            continue
        name, colon, _ = line.partition(b":")
        if not colon or not _FIELD_NAME.fullmatch(name):
            return len(names & _MAIL_FIELD_NAMES) > 1 and not line.strip(b"\r")
        names.add(name.rstrip().lower())
    return len(names & _MAIL_FIELD_NAMES) > 1


# RFC 5322 2.2: printable US-ASCII without ":".
_FIELD_NAME = re.compile(rb"[!-9;-~]{1,76}[ \t]?")
_MAIL_FIELD_NAMES = frozenset(
    (
        b"from", b"to", b"cc", b"date", b"subject", b"sender", b"reply-to", b"message-id", b"in-reply-to",
        b"received", b"return-path", b"delivered-to", b"mime-version", b"content-type", b"content-transfer-encoding",
        b"content-location", b"content-base", b"list-id", b"references",
    )
)  # fmt: skip
