"""data: the content is in the URI; no server is contacted (RFC 2397)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.access.steps import Content, Credentials, Step, guarded
from overthere.ground.errors import PlanRefused
from overthere.ground.redact import mask
from overthere.schemes.known.data import TOKEN, DataLocator


def steps(locator: DataLocator, credentials: Credentials) -> Iterator[Step]:
    """Return one step: the content, with a media type that is valid in a header field (RFC 2045 5.1)."""
    kind, _, subtype = (locator.media_type or "text/plain").partition("/")
    for part, name in (
        ("media_type", kind),
        ("media_type", subtype),
        *(("parameters", name) for name, _ in locator.parameters),
    ):
        if not TOKEN.fullmatch(name):
            raise PlanRefused(f"{part} contains {mask(name)[:80]!r}, which is not a token", "RFC 2397 3; RFC 2045 5.1")
    for name, value in locator.parameters:
        guarded(value, name, "RFC 2045 5.1")
        if not value.isascii():
            raise PlanRefused(f"{name} is not in US-ASCII", "RFC 2045 5.1")
    yield Content(source="RFC 2397 2", media_type=locator.content_type, data=locator.data)
