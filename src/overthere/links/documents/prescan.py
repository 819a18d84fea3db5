"""The encoding that an HTML document declares: in its first bytes (HTML 13.2.3.2), or by a `meta` (13.2.3.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from overthere.links.documents.charset import encoding
from overthere.links.documents.tokens import Start, tokens
from overthere.links.documents.tree import Namespace

_PRESCAN_LENGTH = 1024
"""The number of bytes that the prescan reads."""


class Declaration(NamedTuple):
    """The encoding that a document declares."""

    encoding: str | None
    """Its name in the Encoding Standard; None if no known encoding is declared."""
    unknown: bool
    """Whether the document has a label that is not a label of any encoding."""


def find_encoding(content: bytes) -> Declaration:
    """Return the encoding that a document without a byte order mark declares.

    >>> find_encoding(b'<!-- <meta charset=koi8-r> --><meta charset=x><meta charset=latin1>')
    Declaration(encoding='windows-1252', unknown=True)
    """
    declaration = _prescan(content[:_PRESCAN_LENGTH])
    if declaration.encoding is None and any(map(_may_declare, _METAS.finditer(content))):
        meta_declaration = _find_meta(content)
        declaration = Declaration(meta_declaration.encoding, meta_declaration.unknown or declaration.unknown)
    return declaration


# "Get an attribute": as in `tokens`, but CR is white space.
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*+([^\t\n\f\r />][^\t\n\f\r />=]*+)"
    rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f\r >\"'][^\t\n\f\r >]*+)|(?=>)))?+"
)
_UNCLOSED_VALUE = re.compile(rb"[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:[\"']|\Z)")
_MARKUP = re.compile(
    rb"<(?:(?P<comment>!--)|(?P<meta>meta)(?=[\t\n\f\r /])|(?P<tag>/?[a-z][^\t\n\f\r >]*+)|[!/?])", re.IGNORECASE
)
_COMMENT_END = re.compile(rb"-->")
_XML = re.compile(rb"<\?xml[^>]*?encoding[\0-\x20]*+=[\0-\x20]*+(?:\"([^\"\0-\x20>]*+)\"|'([^'\0-\x20>]*+)')[^>]*+>")
# HTML 4.2.5.4, "extracting a character encoding from a meta element".
_CHARSET = re.compile(
    r"charset[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\"'\t\n\f\r ;][^\t\n\f\r ;]*+)|)", re.I
)
_METAS = re.compile(rb"<meta(?=[\t\n\f\r /])[^>]*+", re.IGNORECASE)


def _prescan(head: bytes) -> Declaration:
    if head.startswith((b"<\0?\0x\0", b"\0<\0?\0x")):
        return Declaration("utf-16be" if head[:1] == b"\0" else "utf-16le", False)
    unknown = False
    # Without this word no declaration is found, and a page of many attributes takes longer than all of its links.
    at = 0 if b"charset" in head.lower() else len(head)
    while markup := _MARKUP.search(head, at):
        at = markup.end()
        if markup["comment"]:
            close = _COMMENT_END.search(head, at - 2)
            if close is None:
                break
            at = close.end()
        elif not markup["tag"] and not markup["meta"]:
            at = head.find(b">", at) + 1
            if not at:
                break
        else:
            attributes, at = _read_attributes(head, at)
            if at >= len(head):
                break
            if markup["meta"]:
                meta = _meta_declaration(attributes)
                if meta.encoding is not None:
                    return Declaration(meta.encoding, unknown)
                unknown |= meta.unknown
    return Declaration(_effective_encoding(_xml_label(head)), unknown)


def _read_attributes(head: bytes, at: int) -> tuple[dict[str, str], int]:
    """Return the attributes of a tag, and the offset of its ">", or the length of `head` if the tag is cut."""
    attributes: dict[str, str] = {}
    while match := _ATTRIBUTE.match(head, at):
        at = match.end()
        if at == len(head) or (match.lastindex == 1 and _UNCLOSED_VALUE.match(head, at)):
            return attributes, len(head)
        name, value = match[1], match[2] or match[3] or match[4] or b""
        attributes.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    return attributes, at


def _meta_declaration(attributes: Mapping[str, str]) -> Declaration:
    label = attributes.get("charset")
    if label is None:
        if attributes.get("http-equiv", "").lower() != "content-type":
            return Declaration(None, False)
        match = _CHARSET.search(attributes.get("content", ""))
        if match is None:
            return Declaration(None, False)
        label = match[1] or match[2] or match[3] or ""
    name = _effective_encoding(label)
    return Declaration(name, name is None)


def _effective_encoding(label: str | None) -> str | None:
    """Return the encoding of a label; a label that is readable as US-ASCII cannot be in UTF-16 (HTML 13.2.3.2)."""
    name = None if label is None else encoding(label)
    return {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}.get(name or "", name)


def _xml_label(head: bytes) -> str | None:
    """ "Get an XML encoding": return the label in an XML declaration."""
    match = _XML.match(head)
    return None if match is None else (match[1] or match[2] or b"").decode("latin-1")


def _may_declare(meta: re.Match[bytes]) -> bool:
    """Whether a `meta` may declare an encoding: it has "charset", or a ">" in quotes may have cut it."""
    tag = meta[0].lower()
    return b"charset" in tag or tag.count(b'"') % 2 == 1 or tag.count(b"'") % 2 == 1


def _find_meta(content: bytes) -> Declaration:
    """Return the declaration of the first `meta` element that changes the encoding (HTML 13.2.6.4.4)."""
    unknown = False
    for token in tokens(content.decode("latin-1")):
        if isinstance(token, Start) and token.name == "meta" and token.namespace is Namespace.HTML:
            meta = _meta_declaration(token.attributes)
            if meta.encoding is not None:
                return Declaration(meta.encoding, unknown)
            unknown |= meta.unknown
    return Declaration(None, unknown)
