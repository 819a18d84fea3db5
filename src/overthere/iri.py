"""Internationalized Resource Identifiers (RFC 3987), and conversion to URIs and back.

Two rules go past the grammar of section 2.2, and both are checked: the bidirectional formatting
characters of 4.1 are not part of an IRI, and private-use characters stand in the query only.
The recommendations of 4.2 on mixed direction are told by `IRIReference.mixed_direction`.
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

# Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties) but the controls of direction (4.1) and what belongs to
# the character before it, and separators that are no " " (Zs, Zl, Zp of the Unicode Character Database).
INVISIBLE = (
    "\u00a0\u00ad\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u2028\u2029\u202f\u205f-\u2065\u206a-"
    "\u206f\u3000\u3164\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
JOINED = "\u200c\u200d\ufe00-\ufe0f"
"""Those that belong to the character before them: joiners (RFC 5892 A.1, A.2) and variation selectors."""
# 6.1 (b): what looks like white space, a delimiter or a character that no URI holds: small and full-width forms, and
# the strokes that are taken for slashes and colons.
_ALIKE = (
    "\u02d0\u0589\u05c3\u2044\u2215\u2216\u2236\u2571\u2572\u27cb\u27cd\u29f5\u29f6\u29f8\u29f9\u3033\ua789\ufe13\ufe16\ufe30"
    "\ufe47\ufe48\ufe52\ufe55\ufe56\ufe5b\ufe5c\ufe5f\ufe64\ufe65\ufe68\ufe6a\ufe6b"
    "\uff02\uff03\uff05\uff0e\uff0f\uff1a\uff1c\uff1e\uff1f\uff20\uff3b-\uff3e\uff40\uff5b-\uff5d"
)

# 4.2: the components for the purpose of direction; a path is judged by its segments, a host by its labels.
_DIRECTED: tuple[tuple[Component, str], ...] = (
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
        """The URI-reference that it maps to (3.1): characters above U+007F become escapes of their UTF-8 octets.

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
        """The target IRI: the algorithm of RFC 3986 5.2 on IRIs (RFC 3987 6.5).

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
        self,
        rung: Rung = Rung.SYNTAX,
        *,
        evidence: Mapping[str, str] | None = None,
        registry: Registry | None = None,
    ) -> Self:
        """The normal form at a rung of the ladder (5.3); a key to compare with, because "its original form MUST be
        preserved" (5.3.2.3).  See `overthere.iri_ladder`.

        >>> str(IRI("eXAMPLE://a/./b/../b/%63/%7bfoo%7d/ros%C3%A9").normalize())
        'example://a/b/c/%7Bfoo%7D/rosé'
        """
        from overthere.values.iri_ladder import iri_normal_form

        form = iri_normal_form(self, rung, evidence, registry)
        return self if form == str(self) else type(self)(form, zone=self.zone is not None)

    def changes(
        self,
        rung: Rung = Rung.SYNTAX,
        *,
        evidence: Mapping[str, str] | None = None,
        registry: Registry | None = None,
    ) -> list[Change]:
        """The changes of normalising up to `rung`, with their places and RFC sections (5.3)."""
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
        """Spans that violate 4.2: right-to-left and left-to-right together, or not right-to-left at both ends.

        These are recommendations; for an IRI that is never displayed they do not matter.

        >>> IRI("http://h/\\u05d0b").mixed_direction()
        [(9, 11)]
        """
        mixed: list[tuple[int, int]] = []
        text = str(self)
        for component, delimiters in _DIRECTED:
            span = self.span(component)
            if span is None or text[span[0] : span[1]].isascii():
                continue
            pieces = re.compile(f"[^{re.escape(delimiters)}]+") if delimiters else re.compile("(?s).+")
            mixed += [m.span() for m in pieces.finditer(text, *span) if _is_mixed(m[0])]
        return mixed

    def join(self, reference: IRIReference | URIReference | str, strict: bool = True) -> IRIReference:
        """The single reference that equals this one followed by another, as `URIReference.join`."""
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
        """The target of a reference against this IRI as the base (RFC 3987 6.5)."""
        from overthere.values.resolve import resolve_text

        reference = reference if isinstance(reference, Value) else IRIReference(reference)
        zone = self.zone is not None or reference.zone is not None
        return IRI(resolve_text(self, reference, strict), zone=zone)

    def relate(self, target: IRI | URI | str, *, form: Form | None = None) -> IRIReference:
        """The shortest reference such that `self.join(it) == target` (RFC 3986 5 on IRIs, RFC 3987 6.5).

        form: the shortest reference of that form instead, as for `URI.relate`.

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

        def to_uri(self, *, idna: bool = False) -> URI: ...  # for it has a scheme


def _is_mixed(text: str) -> bool:
    from unicodedata import bidirectional

    kinds = [bidirectional(c) for c in text]
    right = [k in ("R", "AL") for k in kinds]
    return any(right) and ("L" in kinds or not (right[0] and right[-1]))


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
    """Characters that may take the place of their escapes (3.2, step 4)."""
    ranges = "".join(f"{chr(a)}-{chr(b)}" for a, b in (UCSCHAR + IPRIVATE if private else UCSCHAR))
    return re.compile(f"(?![{BIDI_CONTROLS}{INVISIBLE}{_ALIKE}])[{ranges}]")


_JOINS = re.compile(f"[{JOINED}]")


_RUN = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
_UNRESERVED_ESCAPE = re.compile(r"%[2-7][0-9A-Fa-f]")


def to_characters(text: str, private: bool = False) -> str:
    """Escapes in a component's text as the characters that an IRI shows in their place (RFC 3987 3.2, steps 2 to 5).

    private: whether those of private use are among them, as in a query (2.2).

    >>> to_characters("r%C3%A9sum%C3%A9%2F%E9")
    'r\u00e9sum\u00e9%2F%E9'
    """
    shows = decodable(private)

    def run(match: re.Match[str]) -> str:
        # Octets that are no UTF-8 come out as lone surrogates, and go back to escapes one by one.
        characters = kernel.percent_decode(match[0].encode()).decode("utf-8", "surrogateescape")
        pieces: list[str] = []
        joins = False  # whether a letter stands before, to which a joiner belongs
        for c in characters:
            shown = shows.match(c) is not None and (joins or not _JOINS.match(c))
            pieces.append(c if shown else kernel.percent_encode(c.encode("utf-8", "surrogateescape"), ""))
            joins = shown
        return "".join(pieces)

    def unreserved(match: re.Match[str]) -> str:
        char = chr(int(match[0][1:], 16))
        return char if char.isalnum() or char in "-._~" else match[0]

    return _RUN.sub(run, _UNRESERVED_ESCAPE.sub(unreserved, text))


def to_iri_text(uri: URIReference, idna: bool) -> str:
    """RFC 3987 3.2: the IRI of a URI-reference, as text."""
    text = str(uri)
    pieces: list[str] = []
    done = 0
    for component in ("userinfo", "host", "path", "query", "fragment"):
        span = uri.span(component)
        if span is None:
            continue
        piece = text[span[0] : span[1]]
        if component == "host" and piece.startswith("["):
            continue
        if "%" in piece:
            piece = to_characters(piece, private=component == "query")
        if component == "host" and idna and "xn--" in piece.lower():
            piece = _to_unicode(piece)
        pieces += [text[done : span[0]], piece]
        done = span[1]
    return "".join(pieces) + text[done:]


def _to_unicode(host: str) -> str:
    """The host with U-labels; as it is where no name has these, so that the way back would be another."""
    from overthere.values.hosts.idn import to_ascii, to_unicode

    def label(text: str) -> str:
        try:
            return to_unicode(text) if text.lower().startswith("xn--") else text
        except UnicodeError:
            return text  # no valid A-label: it stays as it is (RFC 5891 5.4)

    shown = ".".join(map(label, host.split(".")))
    try:
        to_ascii(shown)
    except UnicodeError:  # such as an empty label
        return host
    return shown
