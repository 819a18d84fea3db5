"""Writes a locator by an edition's rules, then reads the text back to verify it."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from overthere.ground.errors import InvalidURI, RegistryError, Unwritable
from overthere.schemes.locator import Locator, Writer, reading

if TYPE_CHECKING:
    from overthere.editions.model import Edition
    from overthere.schemes.registry import Registry
    from overthere.values.uri import URI


def write(locator: Locator, edition: str | Edition, registry: Registry | None) -> URI | str:
    """Write a locator; see `Locator.uri`."""
    from overthere.editions import edition as edition_named
    from overthere.editions.model import Edition
    from overthere.schemes.field_types import check_types
    from overthere.schemes.registry import Registry

    by = edition_named(edition) if isinstance(edition, str) else edition
    if not isinstance(by, Edition):
        raise TypeError(f"an edition must be a name or an Edition, not {type(edition).__name__}")
    check_types(locator)
    schemes = Registry.default() if registry is None else registry
    text = _as_read(locator, by, schemes)
    if text is None:
        text = _write_new(locator.for_writing(), by, schemes)
    return _check_uri(text, by)


def _as_read(locator: Locator, by: Edition, registry: Registry) -> str | None:
    """Return the text that was read, if this edition read it and the locator's data are unchanged."""
    if locator.written is None or locator.written.edition != by.name:
        return None
    text = locator.written.text
    return text if locator.says(registry.locator(_check_uri(text, by), by.name)) else None


def _check_uri(text: str, by: Edition) -> URI | str:
    """Return a URI for RFC 3986; a text that was read with a zone identifier (RFC 6874) is written with it."""
    from overthere.values.uri import URI

    return URI(text, zone="%25" in text) if by.name == "rfc3986" else text


def _write_new(locator: Locator, by: Edition, registry: Registry) -> str:
    name = locator.scheme
    try:
        scheme = registry.scheme(name)
    except RegistryError as error:
        raise Unwritable(f"{by.document} cannot express this: {error}") from None
    if scheme.known and reading(by.name) not in scheme.documents:
        raise Unwritable(f"{by.document} has no scheme {name!r}")
    if locator.query is not None and by.name in ("url-1994", "rfc1738") and not locator.searched:
        raise Unwritable(f"{by.document} has no query in {name!r}")
    try:
        writer = Writer(by.name, locator.charset)
        text = f"{name}:{locator.join(writer)}"
    except Unwritable:
        raise
    except ValueError as error:  # a character without octets; a number that Python does not write
        raise Unwritable(f"{by.document} cannot express this: {error}") from None
    text += "" if locator.query is None else f"?{writer.raw(locator.query)}"
    full_text = text + ("" if locator.fragment is None else f"#{locator.fragment}")
    if by.name == reading(by.name) != "rfc3986":
        _check_grammar(text, by, scheme.rules.get(by.name, ()))
    elif by.name != "rfc3986":
        _check_grammar(text, by, ())
    if by.name == "url-1994":
        full_text = f"URL:{full_text}"  # the whole string must start with it (PrePrefix)
    try:
        reread = registry.locator(_check_uri(full_text, by), by.name)
    except InvalidURI as error:
        raise Unwritable(f"{by.document} cannot express this: {error}") from None
    if not locator.says(reread):
        raise Unwritable(f"{by.document} cannot express this: {_difference(locator, reread)}")
    return full_text


def _check_grammar(text: str, by: Edition, rules: tuple[str, ...]) -> None:
    """Check the text by the scheme's rules in that edition; if there are none, by the edition's rule for any URI."""
    tops = [rule for rule in rules if by.is_valid(text, rule)]
    if tops or (not rules and by.is_valid(text if by.name != "url-1994" else f"URL:{text}")):
        return
    findings = by.check(text, rules[0] if rules else None, 1)
    problem = InvalidURI(text, findings[0]) if findings else "not derivable"
    raise Unwritable(f"{by.document} cannot express this: {problem}")


def _difference(locator: Locator, reread: Locator) -> str:
    """Describe the first part that would be read back differently."""
    if type(locator) is type(reread):
        for part in fields(locator):
            before, after = getattr(locator, part.name), getattr(reread, part.name)
            if part.compare and before != after:
                if part.name in ("password", "authority"):
                    before, after = "***", "something else"
                return f"{part.name} {before!r} would be read as {after!r}"
    return f"it would be read as {reread!r}"
