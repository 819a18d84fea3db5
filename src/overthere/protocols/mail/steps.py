"""mid, cid: the message or part that a URI names (RFC 2392 2)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.access.steps import Credentials, Place, Role, Step, guarded
from overthere.ground.errors import PlanRefused
from overthere.schemes.known.mid import CidLocator, MidLocator


class MailRole(Role):
    """The objects to search for."""

    MESSAGE = "message"
    BODY_PART = "body part"


def steps(locator: MidLocator | CidLocator, credentials: Credentials) -> Iterator[Step]:
    """Return the steps for the message and the body part, as far as the URI names them."""
    if locator.query is not None:
        raise PlanRefused(
            f'a {locator.scheme} URL cannot have a query: write "?" in an identifier as "%3F"',
            "RFC 2392 2, RFC 3986 3.3",
        )
    if isinstance(locator, MidLocator):
        yield _place(locator, "message", "message_id", locator.message_id, MailRole.MESSAGE)
    if locator.content_id is not None:
        yield _place(locator, "body part", "content_id", locator.content_id, MailRole.BODY_PART)


def _place(locator: MidLocator | CidLocator, description: str, part: str, identifier: str, role: MailRole) -> Place:
    octets = guarded(identifier, part, "RFC 2392 2", charset=locator.charset)
    return Place(source="RFC 2392 2", what=description, where=octets.decode("utf-8", "surrogateescape"), role=role)
