"""about: a blank page, or a place inside the application (RFC 6694)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.access.steps import Content, Credentials, Place, Step
from overthere.schemes.known.about import AboutLocator


def steps(locator: AboutLocator, credentials: Credentials) -> Iterator[Step]:
    """Return one step, which sends nothing: a blank page for the only defined token (RFC 6694 3)."""
    if locator.token == "blank":
        # Section 3 defines the content, but not its media type.
        yield Content(source="RFC 6694 3", media_type="text/html", note="a blank page; its media type is not specified")
        return
    query = "" if locator.query is None else f"?{locator.query}"
    yield Place(source="RFC 6694 2.2", what="resource of the application", where=locator.token + query)
