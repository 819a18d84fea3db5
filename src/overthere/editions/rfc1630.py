"""RFC 1630, June 1994 (not an edition): how it resolves a reference ("Partial (relative) form").

The draft of March 1994 leaves this to it.
"""

from __future__ import annotations

import re

from overthere.editions.resolution_steps import is_same
from overthere.ground.errors import NoBase
from overthere.values.resolve import Target

__all__ = ["resolve"]


def resolve(base: str, reference: str, strict: bool = True, *, repair: bool = False, clause: bool = False) -> Target:
    """The three rules of "Partial (relative) form".

    By the letter the path is everything after the colon ("BNF of Generic URI Syntax"), so that ".." can remove
    the host, and a base that ends with its host loses it; `repair` keeps "//host" out of the path.

    clause: obey "which has no greater number of consecutive slashes anywhere to the right of it" too.  The printed
    example `/g` (magic://a/g) contradicts it, and the examples win.

    Raises: NoBase if the base has no scheme.

    >>> resolve("magic://a/b/c//d/e/f", "/g").uri, resolve("magic://a/b/c//d/e/f", "/g", clause=True).uri
    ('magic://a/g', 'magic://a/b/c//d/g')
    """
    context, _, _ = _set_aside(base)
    if not _is_absolute(context):
        raise NoBase("the context has no scheme (RFC 1630, Partial form)")
    name, search, fragment = _set_aside(reference)
    if _is_absolute(name):
        return Target(reference, fragment, is_same(reference, base))
    slashes = len(name) - len(name.lstrip("/"))
    if slashes:
        result = context[: _first_slashes(context, slashes, clause)] + name
    else:
        start = context.index(":") + 1
        if repair and context.startswith("//", start):
            start = context.find("/", start + 2)
            if start < 0:
                start = len(context)
                context += "/"
        result = context[:start] + _recursively_removed(context[start : context.rfind("/") + 1] + name)
    uri = result + search + ("" if fragment is None else "#" + fragment)
    return Target(uri, fragment, is_same(uri, base))


def _set_aside(text: str) -> tuple[str, str, str | None]:
    """What is no path: fragmentaddress = uri [ # fragmentid ], uri = scheme : path [ ? search ]."""
    rest, crosshatch, fragment = text.partition("#")
    name, mark, search = rest.partition("?")
    return name, mark + search, fragment if crosshatch else None


def _is_absolute(name: str) -> bool:
    """An absolute form "must have a colon and that colon must occur before any slash characters"."""
    scheme, colon, _ = name.partition(":")
    return bool(scheme and colon) and "/" not in scheme


def _first_slashes(context: str, count: int, clause: bool) -> int:
    """Where the first run of exactly `count` slashes begins.

    RFC 1630 does not say what happens without one: then a shorter run, which is of lower rank, or else the end.
    """
    runs = [(match.start(), len(match[0])) for match in re.finditer("/++", context)]
    exact, greatest = -1, 0
    for start, length in reversed(runs):
        if length == count and (not clause or greatest <= count):
            exact = start
        greatest = max(greatest, length)
    if exact >= 0:
        return exact
    return next((start for start, length in runs if length < count), len(context))


def _recursively_removed(path: str) -> str:
    """All "xxx/../" and "/." where xxx, ".." and "." are complete elements.

    A ".." at the very end stays, for no slash follows it; a "/." at the end takes its slash with it.
    """
    elements = path.split("/")
    kept: list[str] = []
    for i, element in enumerate(elements):
        if element == "." and i > 0:
            continue
        # The empty text before an initial slash is no element.
        there = len(kept) > 1 or (kept and kept[0] != "")
        if element == ".." and i < len(elements) - 1 and there and kept[-1] not in (".", ".."):
            kept.pop()
        else:
            kept.append(element)
    return "/".join(kept)
