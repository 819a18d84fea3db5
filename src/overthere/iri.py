"""Internationalized Resource Identifiers (RFC 3987), and conversion to URIs and back.

Two rules beyond the grammar of section 2.2 are checked: the bidirectional formatting characters of 4.1 are not part of
an IRI, and private-use characters occur only in the query. `IRIReference.mixed_direction` checks the recommendations of
4.2 on mixed direction.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from overthere import kernel
from overthere.ground.errors import CodingError
from overthere.ground.rung import Rung, rung_of
from overthere.kernel.classes import IPRIVATE, UCSCHAR
from overthere.kernel.reference import BIDI_CONTROLS
from overthere.values.value import Value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from overthere.kernel.components import Component, Form
    from overthere.schemes.registry import Registry
    from overthere.values.normalize import Change
    from overthere.values.uri import URI, URIReference

__all__ = ["INVISIBLE", "IRI", "IRIReference", "JOINED", "decodable", "to_iri_text"]

# Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties) without direction controls (4.1) and characters that
# belong to the previous one, and separators other than " " (Zs, Zl, Zp of the Unicode Character Database).
INVISIBLE = (
    "\u00a0\u00ad\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u2028\u2029\u202f\u205f-\u2065\u206a-"
    "\u206f\u3000\u3164\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
JOINED = "\u200c\u200d\ufe00-\ufe0f"
"""Characters that belong to the previous one: joiners (RFC 5892 A.1, A.2) and variation selectors."""
# 6.1 (b): look-alikes of white space, delimiters and characters that a URI cannot hold: small and full-width forms, and
# strokes that look like slashes and colons.
_LOOK_ALIKES = (
    "\u02d0\u0589\u05c3\u2044\u2215\u2216\u2236\u2571\u2572\u27cb\u27cd\u29f5\u29f6\u29f8\u29f9\u3033\ua789\ufe13\ufe16\ufe30"
    "\ufe47\ufe48\ufe52\ufe55\ufe56\ufe5b\ufe5c\ufe5f\ufe64\ufe65\ufe68\ufe6a\ufe6b"
    "\uff02\uff03\uff05\uff0e\uff0f\uff1a\uff1c\uff1e\uff1f\uff20\uff3b-\uff3e\uff40\uff5b-\uff5d"
)

# 4.2: the components that are checked for direction; a path by its segments, a host by its labels.
_DIRECTION_PARTS: tuple[tuple[Component, str], ...] = (
    ("userinfo", ":"), ("host", "."), ("path", "/"), ("query", "&=;"), ("fragment", ""),
)  # fmt: skip


class IRIReference(Value):
    """Any IRI-reference (RFC 3987 2.2); its components are as written, like those of a URIReference.

    Raises: InvalidIRI; TypeError if it is not text.

    >>> str(IRIReference("../résumé?q#ü").to_uri())
    '../r%C3%A9sum%C3%A9?q#%C3%BC'
    """

    __slots__ = ()
    rule = "IRI-reference"

    @kernel.front
    def to_uri(self, *, idna: bool = False) -> URIReference:
        """Return the URI-reference that it maps to (3.1): characters above U+007F become escapes of their UTF-8 octets.

        idna: whether a host beyond US-ASCII becomes labels that begin with "xn--" (IDNA 2008 with the
        mappings of UTS 46) instead; for schemes whose hosts are domain names.

        Raises: CodingError for a host that is not a valid domain name under IDNA.

        >>> IRI("http://bücher.example/ü").to_uri(idna=True)
        URI('http://xn--bcher-kva.example/%C3%BC')
        """
        from overthere.values.uri import URI, URIReference

        text = str(self)
        host = self.host
        if idna and host and not host.isascii():
            start, end = self.span("host") or (0, 0)
            text = text[:start] + _to_ascii(host) + text[end:]
        kind = URIReference if self.scheme is None else URI
        return kind(text if text.isascii() else _escape(text), zone=self.zone is not None)

    def resolve(self, base: IRI | str, strict: bool = True) -> IRI:
        """Return the target IRI: the algorithm of RFC 3986 5.2 on IRIs (RFC 3987 6.5).

        >>> str(IRIReference("../ü").resolve("http://h/a/b/c"))
        'http://h/a/ü'
        """
        from overthere.values.resolve import resolve_text

        base = base if isinstance(base, Value) else IRI(base)
        return IRI(resolve_text(base, self, strict), zone=self.zone is not None or base.zone is not None)

    def same_document(self, base: IRI | str) -> bool:
        """Whether the target is the document of `base` (RFC 3986 4.4 on IRIs, RFC 3987 6.5).

        >>> IRIReference("#\u00fc").same_document("http://h/\u00e9")
        True
        """
        from overthere.values.resolve import same_document

        return same_document(base if isinstance(base, Value) else IRI(base), self)

    def normalize(
        self, rung: Rung = Rung.SYNTAX, *, evidence: Mapping[str, str] | None = None, registry: Registry | None = None
    ) -> Self:
        """Return the normal form at a rung (5.3); a key for comparison only, because "its original form MUST be
        preserved" (5.3.2.3).  See `overthere.iri_ladder`.

        >>> str(IRI("eXAMPLE://a/./b/../b/%63/%7bfoo%7d/ros%C3%A9").normalize())
        'example://a/b/c/%7Bfoo%7D/rosé'
        """
        from overthere.values.iri_ladder import iri_normal_form

        form = iri_normal_form(self, rung, evidence, registry)
        return self if form == str(self) else type(self)(form, zone=self.zone is not None)

    def changes(
        self, rung: Rung = Rung.SYNTAX, *, evidence: Mapping[str, str] | None = None, registry: Registry | None = None
    ) -> list[Change]:
        """Return the changes of normalising up to `rung`, with their places and RFC sections (5.3)."""
        from overthere.values.iri_ladder import iri_changes

        return iri_changes(self, rung, evidence, registry)

    def equivalent(
        self,
        other: Value,
        rung: Rung = Rung.SYNTAX,
        *,
        evidence: Mapping[str, str] | None = None,
        registry: Registry | None = None,
    ) -> bool:
        """Whether both have the same normal form at a rung (5.3); the other may be a URI.

        >>> IRI("http://h/é").equivalent(IRI("http://h/%c3%a9")), IRI("http://É/").equivalent(IRI("http://é/"))
        (True, False)
        """
        from overthere.values.normalize import lowest_rung

        rung = rung_of(rung)
        lowest = lowest_rung(self, other, evidence if rung >= Rung.PROTOCOL else None, registry=registry)
        return lowest is not None and lowest <= rung

    @property
    def nfc(self) -> bool:
        """Whether it is in Normalization Form C, as new IRIs should be (5.3.2.2); others must not be converted."""
        from overthere.ground.unicode_forms import is_normalized

        return is_normalized("NFC", str(self))

    def mixed_direction(self) -> list[tuple[int, int]]:
        """Return the spans that violate 4.2: right-to-left and left-to-right mixed, or not right-to-left at both ends.

        These are recommendations; they do not matter for an IRI that is never displayed.

        >>> IRI("http://h/\\u05d0b").mixed_direction()
        [(9, 11)]
        """
        mixed: list[tuple[int, int]] = []
        text = str(self)
        for component, delimiters in _DIRECTION_PARTS:
            span = self.span(component)
            if span is None or text[span[0] : span[1]].isascii():
                continue
            pieces = re.compile(f"[^{re.escape(delimiters)}]+") if delimiters else re.compile("(?s).+")
            mixed += [m.span() for m in pieces.finditer(text, *span) if _is_mixed(m[0])]
        return mixed

    def join(self, reference: IRIReference | URIReference | str, strict: bool = True) -> IRIReference:
        """Return the single reference that equals this one followed by another, as `URIReference.join`."""
        from overthere.values.resolve import join_text

        reference = reference if isinstance(reference, Value) else IRIReference(reference)
        zone = self.zone is not None or reference.zone is not None
        return IRIReference(join_text(self, reference, strict), zone=zone)


class IRI(IRIReference):
    """An IRI (RFC 3987 2.2): with a scheme.

    >>> IRI("http://例え.jp/引").host
    '例え.jp'
    """

    __slots__ = ()
    rule = "IRI"

    def join(self, reference: IRIReference | URIReference | str, strict: bool = True) -> IRI:
        """Return the target of a reference against this IRI as the base (RFC 3987 6.5)."""
        from overthere.values.resolve import resolve_text

        reference = reference if isinstance(reference, Value) else IRIReference(reference)
        zone = self.zone is not None or reference.zone is not None
        return IRI(resolve_text(self, reference, strict), zone=zone)

    def relate(self, target: IRI | URI | str, *, form: Form | None = None) -> IRIReference:
        """Return the shortest reference such that `self.join(it) == target` (RFC 3986 5 on IRIs, RFC 3987 6.5).

        form: return the shortest reference of that form instead, as for `URI.relate`.

        Raises: Unreachable if `target` has dot-segments, and if no reference of that form leads to it; ValueError for
        another `form`.

        >>> str(IRI("http://h/é/a").relate("http://h/é/ü?x"))
        'ü?x'
        """
        from overthere.values.relate import relate

        target = target if isinstance(target, Value) else IRI(target)
        zone = self.zone is not None or target.zone is not None
        return IRIReference(relate(str(self), str(target), form=form), zone=zone)

    if TYPE_CHECKING:

        def to_uri(self, *, idna: bool = False) -> URI: ...  # it has a scheme


def _is_mixed(text: str) -> bool:
    from unicodedata import bidirectional

    directions = [bidirectional(c) for c in text]
    is_right = [k in ("R", "AL") for k in directions]
    return any(is_right) and ("L" in directions or not (is_right[0] and is_right[-1]))


def _escape(text: str) -> str:
    return re.sub(r"[^\x00-\x7f]+", lambda m: kernel.percent_encode(m[0].encode(), ""), text)


def _to_ascii(host: str) -> str:
    from overthere.values.encoding import decode
    from overthere.values.hosts.idn import to_ascii

    name = decode(host)
    try:
        return to_ascii(name)
    except UnicodeError as error:
        raise CodingError(f"the host {name!r} is not a valid domain name under IDNA: {error} (RFC 5891 4)") from None


@cache
def decodable(private: bool) -> re.Pattern[str]:
    """Return the pattern of characters that may replace their escapes (3.2, step 4)."""
    ranges = "".join(f"{chr(a)}-{chr(b)}" for a, b in (UCSCHAR + IPRIVATE if private else UCSCHAR))
    return re.compile(f"(?![{BIDI_CONTROLS}{INVISIBLE}{_LOOK_ALIKES}])[{ranges}]")


_JOINER = re.compile(f"[{JOINED}]")


_ESCAPED_RUN = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
_UNRESERVED_ESCAPE = re.compile(r"%[2-7][0-9A-Fa-f]")


def to_characters(text: str, private: bool = False) -> str:
    """Return a component's text with escapes replaced by the characters that an IRI shows (RFC 3987 3.2, steps 2 to 5).

    private: whether private-use characters are among them, as in a query (2.2).

    >>> to_characters("r%C3%A9sum%C3%A9%2F%E9")
    'r\u00e9sum\u00e9%2F%E9'
    """
    decodable_pattern = decodable(private)

    def decode_run(match: re.Match[str]) -> str:
        # Octets that are not UTF-8 become lone surrogates, and then escapes again one by one.
        characters = kernel.percent_decode(match[0].encode()).decode("utf-8", "surrogateescape")
        pieces: list[str] = []
        can_join = False  # whether the previous character is a letter, to which a joiner belongs
        for c in characters:
            is_shown = decodable_pattern.match(c) is not None and (can_join or not _JOINER.match(c))
            pieces.append(c if is_shown else kernel.percent_encode(c.encode("utf-8", "surrogateescape"), ""))
            can_join = is_shown
        return "".join(pieces)

    def decode_unreserved(match: re.Match[str]) -> str:
        char = chr(int(match[0][1:], 16))
        return char if char.isalnum() or char in "-._~" else match[0]

    return _ESCAPED_RUN.sub(decode_run, _UNRESERVED_ESCAPE.sub(decode_unreserved, text))


def to_iri_text(uri: URIReference, idna: bool) -> str:
    """Return the IRI of a URI-reference as text (RFC 3987 3.2)."""
    text = str(uri)
    pieces: list[str] = []
    previous_end = 0
    for component in ("userinfo", "host", "path", "query", "fragment"):
        span = uri.span(component)
        if span is None:
            continue
        component_text = text[span[0] : span[1]]
        if component == "host" and component_text.startswith("["):
            continue
        if "%" in component_text:
            component_text = to_characters(component_text, private=component == "query")
        if component == "host" and idna and "xn--" in component_text.lower():
            component_text = _to_unicode(component_text)
        pieces += [text[previous_end : span[0]], component_text]
        previous_end = span[1]
    return "".join(pieces) + text[previous_end:]


def _to_unicode(host: str) -> str:
    """Return the host with U-labels; unchanged if it could not be converted back to the same host."""
    from overthere.values.hosts.idn import to_ascii, to_unicode

    def label(text: str) -> str:
        try:
            return to_unicode(text) if text.lower().startswith("xn--") else text
        except UnicodeError:
            return text  # not a valid A-label: it stays unchanged (RFC 5891 5.4)

    unicode_host = ".".join(map(label, host.split(".")))
    try:
        to_ascii(unicode_host)
    except UnicodeError:  # such as an empty label
        return host
    return unicode_host
