"""References in metadata of crawlers: WAT envelopes, Heritrix fields, page lists of browsertrix."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from overthere.base import Base, from_content, to_reference
from overthere.links.documents.header import fields, references
from overthere.links.documents.html import values
from overthere.links.documents.json import DEPTH, has_more_objects, is_deeper
from overthere.links.model import Document, Found, Note, Options
from overthere.values.uri import URI

METADATA = "application/vnd.overthere.metadata"
"""The internal media type of a document that `read()` reads: JSON if it begins with a brace, otherwise fields."""
_MAX_CONTAINERS = 1_500_000
"""The maximum number of objects and lists in a record; the largest records have fewer links."""
_PAGE_PREFIX = "urn:pageinfo:"


def page_of(target: str) -> str | None:
    """Return the page whose resources a record of browsertrix lists, by the record's target; None for other records.

    >>> page_of("urn:pageinfo:http://h/"), page_of("http://h/")
    ('http://h/', None)
    """
    return target.removeprefix(_PAGE_PREFIX) if target.startswith(_PAGE_PREFIX) else None


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """Yield the references; `where` is the path of WAT (`A@/href`), the name of an HTTP field, `via`, `pageinfo`, or
    `outlink` with the place that Heritrix reports.

    The base of a page that WAT describes is its Head.Base, resolved like a base element.
    """
    if not document.content.lstrip().startswith(b"{"):
        yield from _read_fields(document.content)
        return
    text = document.content.decode("latin-1")
    if has_more_objects(text, _MAX_CONTAINERS):
        yield Note("too-large")
        return
    if is_deeper(text, DEPTH):
        yield Note("too-deep")
        return
    try:
        record = json.loads(document.content)
    except ValueError:
        yield Note("corrupt")
        return
    except RecursionError:
        yield Note("too-deep")
        return
    if "Envelope" in record:
        yield from _read_envelope(record, document.base)
    else:
        urls = record.get("urls")  # an object, whose names are the URIs
        yield from (Found("pageinfo", url) for url in (urls if isinstance(urls, dict) else ()))


def _read_fields(content: bytes) -> Iterator[Found]:
    """Read the fields of Heritrix: "via: URL" and "outlink: URL HOP-LETTER PLACE"."""
    for name, raw_value in fields(content):
        value = raw_value.decode("utf-8", "replace")
        if name == b"via" and value:
            yield Found("via", value)
        elif name == b"outlink":
            url, _, details = value.partition(" ")
            place = details.partition(" ")[2].strip()
            yield Found(f"outlink {place}".strip(), url)


def _read_envelope(record: Any, outer: Base) -> Iterator[Found]:
    response = _value_at(record, "Envelope", "Payload-Metadata", "HTTP-Response-Metadata")
    headers = _value_at(response, "Headers")
    for name, value in headers.items() if isinstance(headers, dict) else ():
        # A repeated field has a list of values.
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                yield from references(name.strip().lower().encode("utf-8", "replace"), text.strip())
    html = _value_at(response, "HTML-Metadata")
    head = _value_at(html, "Head")
    href = _value_at(head, "Base")
    base = None
    if isinstance(href, str):
        yield Found("BASE@/href", href)
        base = from_content(href, outer)
    for item in (*_list(head, "Link"), *_list(head, "Scripts"), *_list(html, "Links")):
        if isinstance(item, dict) and isinstance(url := item.get("url"), str):
            place = item.get("path")
            yield Found(place if isinstance(place, str) and place else "url", url.strip(), base)
    for item in _list(head, "Metas"):
        name, content = _value_at(item, "http-equiv"), _value_at(item, "content")
        if isinstance(name, str) and name.strip().lower() == "refresh" and isinstance(content, str):
            yield from (Found("META refresh", url, base) for url in values("refresh", content))


def _value_at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _list(record: Any, name: str) -> list[Any]:
    value = _value_at(record, name)
    return value if isinstance(value, list) else []


def base_of(page: str, outer: Base) -> Base:
    """Return the page as the base; `outer` if it is not a URI."""
    reference, _ = to_reference(page)
    if reference is None or reference.scheme is None:
        return outer
    return Base(URI(str(reference)).replace(fragment=None), "retrieval", "retrieval")
