"""The encoding that an HTML document declares: in its first octets (HTML 13.2.3.2), or by a `meta` (13.2.3.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from overthere.links.documents.charset import encoding
from overthere.links.documents.tokens import Start, tokens
from overthere.links.documents.tree import Namespace

__all__ = ["Declaration", "find_encoding"]

_HEAD = 1024
"""Octets that are looked at before a tree is made."""


class Declaration(NamedTuple):
    """What a document says of itself."""

    encoding: str | None
    """By its name in the Encoding Standard; None if there is none."""
    unknown: bool
    """A label is there that is no encoding's."""


def find_encoding(content: bytes) -> Declaration:
    """The encoding that a document without a byte order mark declares.

    >>> find_encoding(b'<!-- <meta charset=koi8-r> --><meta charset=x><meta charset=latin1>')
    Declaration(encoding='windows-1252', unknown=True)
    """
    early = _prescan(content[:_HEAD])
    if early.encoding is None and any(map(_may_declare, _METAS.finditer(content))):
        late = _elements(content)
        early = Declaration(late.encoding, late.unknown or early.unknown)
    return early


# "Get an attribute"; the tokenizer's own (`tokens`), but for CR.
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*+([^\t\n\f\r />][^\t\n\f\r />=]*+)"
    rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f\r >\"'][^\t\n\f\r >]*+)|(?=>)))?+"
)
_UNCLOSED = re.compile(rb"[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:[\"']|\Z)")
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
    at = 0
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
            attributes, at = _attributes(head, at)
            if at >= len(head):
                break
            if markup["meta"]:
                meta = _meta(attributes)
                if meta.encoding is not None:
                    return Declaration(meta.encoding, unknown)
                unknown |= meta.unknown
    return Declaration(_encoding_of(_xml(head)), unknown)


def _attributes(head: bytes, at: int) -> tuple[dict[str, str], int]:
    """The attributes of a tag, and where its ">" is; the end, if it is not there."""
    attributes: dict[str, str] = {}
    while match := _ATTRIBUTE.match(head, at):
        at = match.end()
        if at == len(head) or (match.lastindex == 1 and _UNCLOSED.match(head, at)):
            return attributes, len(head)
        name, value = match[1], match[2] or match[3] or match[4] or b""
        attributes.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    return attributes, at


def _meta(attributes: Mapping[str, str]) -> Declaration:
    label = attributes.get("charset")
    if label is None:
        if attributes.get("http-equiv", "").lower() != "content-type":
            return Declaration(None, False)
        match = _CHARSET.search(attributes.get("content", ""))
        if match is None:
            return Declaration(None, False)
        label = match[1] or match[2] or match[3] or ""
    name = _encoding_of(label)
    return Declaration(name, name is None)


def _encoding_of(label: str | None) -> str | None:
    """UTF-16 cannot be read so far, and is not what is meant; nor is x-user-defined (HTML 13.2.3.2)."""
    known = None if label is None else encoding(label)
    return {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}.get(known or "", known)


def _xml(head: bytes) -> str | None:
    """ "Get an XML encoding": what an XML declaration says."""
    match = _XML.match(head)
    return None if match is None else (match[1] or match[2] or b"").decode("latin-1")


def _may_declare(meta: re.Match[bytes]) -> bool:
    """Whether it is worth reading the document as far as this: a ">" between quotes may cut it short."""
    tag = meta[0].lower()
    return b"charset" in tag or tag.count(b'"') % 2 == 1 or tag.count(b"'") % 2 == 1


def _elements(content: bytes) -> Declaration:
    """The first `meta` element that changes the encoding (HTML 13.2.6.4.4)."""
    unknown = False
    for token in tokens(content.decode("latin-1")):
        if isinstance(token, Start) and token.name == "meta" and token.namespace is Namespace.HTML:
            meta = _meta(token.attributes)
            if meta.encoding is not None:
                return Declaration(meta.encoding, unknown)
            unknown |= meta.unknown
    return Declaration(None, unknown)
