"""RFC 3986, January 2005: the current standard and the default everywhere in overthere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overthere.editions.model import Edition
from overthere.editions.resolution_steps import base_parts, is_same
from overthere.grammar.library import grammar
from overthere.kernel.reference import recompose, split, split_authority, transform_references
from overthere.values import encoding
from overthere.values.findings import check_uri, refusal
from overthere.values.normalize import Rung
from overthere.values.resolve import Target
from overthere.values.uri import URI, URIReference

if TYPE_CHECKING:
    from overthere.ground.errors import Finding
    from overthere.schemes.registry import Registry


def _check(text: str, rule: str, limit: int | None) -> list[Finding]:
    if rule in ("URI", "URI-reference"):
        return check_uri(text, rule, limit=limit)
    from overthere.values.derivation import check_rule

    return check_rule(grammar("rfc3986"), text, rule, "RFC 3986", limit, _named_parts)


def _resolve(base: str, reference: str, strict: bool) -> Target:
    """Resolve by 5.2; the empty reference is the base without its fragment, and the same document (4.4)."""
    base_uri, ref = URI(base), URIReference(reference)
    target = base_uri.join(ref, strict)
    return Target(str(target), target.fragment, ref.same_document(base_uri))


def resolve(base: str, reference: str, strict: bool = True, *, repair: bool = False) -> Target:
    """Resolve a reference exactly by 5.2.2 to 5.3.

    repair: do the same as the edition "rfc3986" and `URI.join`, which check both texts and write "/." before a path
    that would be read back as an authority (decision 3986-1).

    Raises: NoBase if the base has no scheme; with `repair`, InvalidURI.

    >>> resolve("foo:/a", ".//g").uri, resolve("foo:/a", ".//g", repair=True).uri
    ('foo://g', 'foo:/.//g')
    """
    if repair:
        return EDITION.resolve(base, reference, strict)
    base_uri = base_parts(base, "RFC 3986")
    target = transform_references(base_uri, split(reference), strict)
    uri = recompose(target)
    return Target(uri, target.fragment, is_same(uri, base))


def _normalize(text: str, rung: Rung, registry: Registry | None) -> str:
    return str(URIReference(text).normalize(rung, registry=registry))


def _parts(text: str) -> dict[str, str | None]:
    """Return the generic parts (3); their meaning in a scheme is defined by the scheme's document."""
    parts = _named_parts(text)
    if parts["scheme"] is None:
        raise refusal(text, "URI", False)
    return parts


def _named_parts(text: str) -> dict[str, str | None]:
    """Split any text by Appendix B, and its authority into parts."""
    parts = split(text)._asdict()
    authority = parts.pop("authority")
    authority_parts = (None,) * 3 if authority is None else split_authority(authority)
    scheme = {"scheme": parts.pop("scheme"), "authority": authority}
    return {**scheme, **dict(zip(("userinfo", "host", "port"), authority_parts, strict=True)), **parts}


def _host(text: str) -> str | None:
    authority = split(text).authority
    return None if authority is None else split_authority(authority)[1]


EDITION = Edition(
    name="rfc3986",
    title="Uniform Resource Identifier (URI): Generic Syntax",
    date="January 2005",
    document="RFC 3986",
    top="URI",
    class_rules=("unreserved", "reserved", "gen-delims", "sub-delims", "pchar"),
    sections={
        "2.1 to 2.5 (characters, percent-encoding)": "overthere.values.encoding",
        "3 (components)": "overthere.values.uri, overthere.kernel.components",
        "4.1, 4.2, 4.4 (references, same-document)": "overthere.values.uri",
        "5.2, 5.3 (resolution, recomposition)": "overthere.kernel.reference, overthere.values.resolve",
        "5.1 (establishing a base)": "overthere.base",
        "6 (the comparison ladder)": "overthere.values.normalize",
        "7.5 (sensitive information)": "overthere.ground.redact",
        "Appendix A (collected ABNF)": "overthere/editions/rfc3986.abnf",
        "Appendix B (the expression)": "overthere.kernel.reference.split",
    },
    read_grammar=lambda: grammar("rfc3986"),
    check_text=_check,
    split_text=split,
    resolve_text=_resolve,
    normalize_text=_normalize,
    encode_data=encoding.encode,
    decode_text=encoding.decode,
    parts_of=_parts,
    host_of=_host,
    charset="utf-8",
    ports={},
    empty_reference="the base without its fragment",
)
