"""References in metadata of crawlers: WAT envelopes, Heritrix fields, page lists of browsertrix."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from overthere.base import Base, from_content, to_reference
from overthere.links.documents.header import fields, references
from overthere.links.documents.html import values
from overthere.links.documents.json import has_more_objects
from overthere.links.model import Document, Found, Note, Options
from overthere.values.uri import URI

__all__ = ["METADATA", "base_of", "page_of", "read"]

METADATA = "application/vnd.overthere.metadata"
"""The media type, ours alone, of a document that `read()` reads: JSON if it begins with a brace, else fields."""
_MOST = 1_500_000
"""Objects and lists of a record that is read: more than there are links in the largest."""
_PAGE = "urn:pageinfo:"


def page_of(target: str) -> str | None:
    """The page of which a record of browsertrix says what was loaded for it; None if it is no such record.

    >>> page_of("urn:pageinfo:http://h/"), page_of("http://h/")
    ('http://h/', None)
    """
    return target.removeprefix(_PAGE) if target.startswith(_PAGE) else None


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """The references; `where` is the path of WAT (`A@/href`), the name of a field of HTTP, `via` or `outlink` with what
    Heritrix says of it, or `pageinfo`.

    The base of a page that WAT describes is its Head.Base, resolved as a base element is.
    """
    if not document.content.lstrip().startswith(b"{"):
        yield from _fields(document.content)
        return
    if has_more_objects(document.content.decode("latin-1"), _MOST):
        yield Note("too-large")
        return
    try:
        told = json.loads(document.content)
    except ValueError:
        yield Note("corrupt")
        return
    except RecursionError:
        yield Note("too-deep")
        return
    if "Envelope" in told:
        yield from _envelope(told, document.base)
    else:
        yield from (Found("pageinfo", url) for url in _value_at(told, "urls") or () if isinstance(url, str))


def _fields(content: bytes) -> Iterator[Found]:
    """What Heritrix writes: via: URL, and outlink: URL, the letter of a hop, the place."""
    for name, octets in fields(content):
        value = octets.decode("utf-8", "replace")
        if name == b"via" and value:
            yield Found("via", value)
        elif name == b"outlink":
            url, _, told = value.partition(" ")
            place = told.partition(" ")[2].strip()
            yield Found(f"outlink {place}".strip(), url)


def _envelope(told: Any, outside: Base) -> Iterator[Found]:
    response = _value_at(told, "Envelope", "Payload-Metadata", "HTTP-Response-Metadata")
    headers = _value_at(response, "Headers")
    for name, value in headers.items() if isinstance(headers, dict) else ():
        # A field that stands more than once has a list of values.
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                yield from references(name.strip().lower().encode("utf-8", "replace"), text.strip())
    html = _value_at(response, "HTML-Metadata")
    head = _value_at(html, "Head")
    href = _value_at(head, "Base")
    base = None
    if isinstance(href, str):
        yield Found("BASE@/href", href)
        base = from_content(href, outside)
    for one in (*_list(head, "Link"), *_list(head, "Scripts"), *_list(html, "Links")):
        if isinstance(one, dict) and isinstance(url := one.get("url"), str):
            where = one.get("path")
            yield Found(where if isinstance(where, str) and where else "url", url.strip(), base)
    for one in _list(head, "Metas"):
        name, content = _value_at(one, "http-equiv"), _value_at(one, "content")
        if isinstance(name, str) and name.strip().lower() == "refresh" and isinstance(content, str):
            yield from (Found("META refresh", url, base) for url in values("refresh", content))


def _value_at(told: Any, *names: str) -> Any:
    for name in names:
        told = told.get(name) if isinstance(told, dict) else None
    return told


def _list(told: Any, name: str) -> list[Any]:
    value = _value_at(told, name)
    return value if isinstance(value, list) else []


def base_of(page: str, outside: Base) -> Base:
    """The page itself, if it is a URI."""
    reference, _ = to_reference(page)
    if reference is None or reference.scheme is None:
        return outside
    return Base(URI(str(reference)).replace(fragment=None), "retrieval", "retrieval")
