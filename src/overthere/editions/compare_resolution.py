"""Differences of resolution between two documents, with one example for each kind."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from overthere.editions.readings import compare_key, shown_target
from overthere.ground.errors import NotSpecified, OverthereError
from overthere.ground.redact import hides_secrets
from overthere.kernel.reference import Parts, split

if TYPE_CHECKING:
    from overthere.editions.model import Edition


@hides_secrets
class ResolutionDifference(NamedTuple):
    """A kind of difference, with the simplest base and reference that show it."""

    base: str
    reference: str
    a: str
    b: str
    kind: str
    """The form of the reference (and of the base's path, if the two are merged), and the differing parts."""
    pairs: int
    """The number of pairs of the universe that differ in this way."""


# The universe: every combination of the five components that an algorithm can distinguish.  Names are letters,
# because no algorithm reads them, except for RFC 1808's parameters.
_BASE_ROOTS = ("x:", "http://h")
_BASE_PATHS = ("", "a", "a/b", "/a", "/a/b", "/a/b;p")
_BASE_QUERIES = ("", "?q")
_BEGINNINGS = ("", "/", "//h/", "http:", "http://h/")
_SEGMENTS = (".", "..", "x")
_DEPTH = 4
_PARAMETERS = (";p", "g;p", "g;p=1/../y")
_ENDINGS = ("", "?y", "?y/./z", "?y/../z", "#s", "#s/../z")
_LAST_NAMES = {"": "g", "/": "g", "//h/": "y", "http:": "g", "http://h/": "y"}
"""Beginning -> last name, which differs from the names before it."""


@cache
def universe() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return all bases and all references."""
    bases = {root + path + query for root, path, query in product(_BASE_ROOTS, _BASE_PATHS, _BASE_QUERIES)
             if root == "x:" or path[:1] in ("", "/")}  # fmt: skip
    references = {beginning + path + end
                  for beginning in _BEGINNINGS for path in (*_paths(_LAST_NAMES[beginning]), *_PARAMETERS)
                  for end in _ENDINGS}  # fmt: skip
    return tuple(sorted(bases)), tuple(sorted(references))


def _paths(name: str) -> Iterator[str]:
    for depth in range(_DEPTH + 1):
        for segments in product(_SEGMENTS, repeat=depth):
            yield "/".join([*segments[:-1], name] if segments[-1:] == ("x",) else segments)


def resolutions(a: str, b: str) -> list[ResolutionDifference]:
    """Return the simplest witness of each kind of difference; a and b are names of editions or of `RESOLUTIONS`.

    Texts that the grammar of a document rejects are skipped; a document without an edition accepts any text.

    Raises: NotSpecified if an edition leaves resolution to another document.

    >>> from overthere.editions.compare_resolution import resolutions
    >>> [(r.base, r.reference, r.a, r.b) for r in resolutions("url-1997", "uri-2003") if r.reference == "?y"][0]
    ('x:a', '?y', 'x:?y', 'x:a?y')
    """
    return list(_resolutions(a, b))


@cache
def _resolutions(a: str, b: str) -> tuple[ResolutionDifference, ...]:
    first, second = _Document(a), _Document(b)
    bases, references = ([t for t in texts if first.derives(t) and second.derives(t)] for texts in universe())
    witnesses: dict[str, ResolutionDifference] = {}
    for base, reference in sorted(product(bases, references), key=_witness_order):
        target_a, target_b = first.answer(base, reference), second.answer(base, reference)
        if target_a == target_b:
            continue
        difference_kind = kind(base, reference, (a, target_a), (b, target_b))
        witness = witnesses.get(difference_kind)
        witnesses[difference_kind] = (
            witness._replace(pairs=witness.pairs + 1)
            if witness
            else ResolutionDifference(base, reference, target_a, target_b, difference_kind, 1)
        )
    return tuple(witnesses.values())


def _witness_order(pair: tuple[str, str]) -> tuple[bool, bool, int, int, str, str]:
    """Return a sort key of witnesses: references that end with a name and stay below the root, then the shortest."""
    base, reference = pair
    return *_abnormal(reference), len(base) + len(reference), len(reference), reference, base


@cache
def _abnormal(reference: str) -> tuple[bool, bool]:
    segments = split(reference).path.removeprefix("/").split("/")
    depth = lowest = 0
    for segment in segments:
        depth += {".": 0, "..": -1}.get(segment, 1)
        lowest = min(lowest, depth)
    return segments[-1] in (".", ".."), lowest < 0


class _Document:
    """A document with an algorithm for resolution: an edition, or not."""

    def __init__(self, name: str) -> None:
        from overthere.editions import NAMES, edition
        from overthere.editions.resolution import RESOLUTIONS

        self.edition: Edition | None = edition(name) if name in NAMES or name not in RESOLUTIONS else None
        if self.edition is not None and "resolve" in self.edition.elsewhere:
            raise NotSpecified(f"{self.edition.document} leaves resolution to {self.edition.elsewhere['resolve']}")
        self.resolve = self.edition.resolve if self.edition is not None else RESOLUTIONS[name].resolve

    def derives(self, text: str) -> bool:
        if self.edition is None:
            return True
        rules = self.edition.grammar.rules
        return self.edition.is_valid(
            text, next((rule for rule in rules if compare_key(rule) in ("url-reference", "uri-reference")), None)
        )

    def answer(self, base: str, reference: str) -> str:
        try:
            return shown_target(self.resolve(base, reference))
        except NotSpecified:
            return "not specified"
        except OverthereError:
            return "refused"


def kind(base: str, reference: str, a: tuple[str, str], b: tuple[str, str]) -> str:
    """Describe the kind of a difference; a and b are names with their answers."""
    return f"{_reference_form(split(base), split(reference))}: {', '.join(_differing_parts(a, b))}"


def _reference_form(base: Parts, reference: Parts) -> str:
    """Describe a reference by RFC 3986 4.2; if it is merged with the base, also the base by the cases of 5.2.3."""
    if reference.scheme is not None:
        if reference.authority is not None:
            return "reference with a scheme and an authority"
        owner = "the base's" if reference.scheme == base.scheme else "another"
        return f"reference with {owner} scheme and no authority"
    if reference.authority is not None:
        return "network-path reference"
    if reference.path.startswith("/"):
        return "absolute-path reference"
    if not reference.path:
        return "reference without a path" if reference.query is not None else "empty reference"
    if base.path:
        path = "an absolute path" if base.path.startswith("/") else "a rootless path"
    else:
        path = "an authority alone" if base.authority is not None else "an empty path"
    return f"relative-path reference on {path}"


def _differing_parts(a: tuple[str, str], b: tuple[str, str]) -> Iterator[str]:
    for name, answer in (a, b):
        if answer.startswith(("(current", "not specified", "refused")):
            yield f"{name} says {answer.partition('#')[0]}"
            return
    target_a, target_b = split(a[1]), split(b[1])
    for component in ("scheme", "authority", "query", "fragment"):
        if getattr(target_a, component) != getattr(target_b, component):
            yield component
    if target_a.path == target_b.path:
        return
    is_explained = False
    for dots in (".", ".."):
        keeping = [name for (name, _), parts in ((a, target_a), (b, target_b)) if dots in parts.path.split("/")]
        if len(keeping) == 1:
            is_explained = True
            yield f'"{dots}" stays in {keeping[0]}'
    rooted = [name for (name, _), parts in ((a, target_a), (b, target_b)) if parts.path.startswith("/")]
    if len(rooted) == 1:
        is_explained = True
        yield f"the path is absolute in {rooted[0]} only"
    if not is_explained:
        yield "path"
