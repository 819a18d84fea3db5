"""URI and URIReference: the value types (RFC 3986 3, 4.1).

The text is the value.  A component is a place in it; decoding, lower case or a default port appear
only on request.
"""

from __future__ import annotations

from overthere.kernel import front, front_property
from overthere.values.value import Value

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal, Self, TypeAlias, TypeVar

    from overthere.ground.rung import Rung
    from overthere.iri import IRIReference
    from overthere.kernel.components import Form
    from overthere.schemes.locator import Locator
    from overthere.schemes.registry import Registry
    from overthere.values.normalize import Change

    L = TypeVar("L", bound=Locator)
    Errors: TypeAlias = Literal["strict", "repair"]

# Rung.SYNTAX, without loading the enumeration, which is done on first use (decisions, "The native kernel").
_SYNTAX: Rung = 3  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]


def _read_reference(text: str, errors: Errors) -> URIReference:
    if errors == "repair":
        from overthere.ground.late_imports import repair_reference

        return repair_reference(text)
    if errors != "strict":
        raise ValueError(f'errors is "strict" or "repair", not {errors!r:.100}')
    return URIReference(text)


class URIReference(Value):
    """Any URI-reference: a URI or a relative reference (RFC 3986 4.1).

    text: the reference; it is kept as it is, and `str()` returns it.
    zone: whether an IPv6 address may carry a zone identifier (RFC 6874).

    Raises: InvalidURI if the text is not derivable from URI-reference; TypeError if it is not text.

    >>> r = URIReference("../g?#s")
    >>> r.path, r.query, r.fragment, r.form
    ('../g', '', 's', 'relative-path')
    """

    __slots__ = ()
    rule = "URI-reference"

    def resolve(self, base: URI | str, strict: bool = True) -> URI:
        """Return the target URI (5.2), of the type of `base`, whose fragment is ignored (5.1).

        strict: False ignores a scheme equal to the base's, as parsers before RFC 3986 did (5.2.2).

        Raises: InvalidURI if `base` is text but not a valid URI.

        >>> str(URIReference("../g").resolve("http://a/b/c/d;p?q"))
        'http://a/b/g'
        """
        from overthere.values.resolve import resolve_text

        base = base if isinstance(base, Value) else URI(base)
        if isinstance(base, URI):
            return base.join(self, strict)
        return URI(resolve_text(base, self, strict), zone=self.zone is not None or base.zone is not None)

    def join(self, reference: URIReference | str, strict: bool = True, *, errors: Errors = "strict") -> URIReference:
        """Return the single reference that equals this one followed by another: `a.join(b).resolve(base)` is
        `b.resolve(a.resolve(base))`, so that a base may itself be relative.

        A choice of this library: RFC 3986 5.1 resolves only against absolute bases, and so does this if there is a
        scheme.  Dot-segments within are removed, leading ".." stay.  The equation holds for every base with a hierarchy
        for this reference to be in (1.2.3): an authority, or a directory in its path, as in `x:/a` and `x:a/b`, but not
        in `urn:a`, where 5.2.4 makes "/c" of "a/../c" and "c" of "c"; and for a reference with a scheme only if its
        path does not end in "." or "..", which 5.2.3 drops unread.

        Raises: Unreachable if `strict` is False and only `reference` has a scheme: the later base decides whether that
        is ignored (5.2.2); InvalidURI if `reference` is text but not a valid URI-reference.
        errors: "repair" repairs such a text before it is resolved, as `URI.join` does.

        >>> str(URIReference("../img/a.png").join("../c.css?x")), str(URIReference("/a/").join("b/./c#s"))
        ('../c.css?x', '/a/b/c#s')
        """
        from overthere.values.resolve import join_text

        reference = reference if isinstance(reference, Value) else _read_reference(reference, errors)
        zone = self.zone is not None or reference.zone is not None
        return URIReference(join_text(self, reference, strict), zone=zone)

    @front
    def same_document(self, base: URI | str) -> bool:
        """Whether the target is the document of `base` (4.4): the target without its fragment is the base without its.

        >>> URIReference("#s").same_document("http://a/b"), URIReference("c").same_document("http://a/b")
        (True, False)
        """
        from overthere.values.resolve import same_document

        return same_document(base if isinstance(base, Value) else URI(base), self)

    @front
    def normalize(
        self, rung: Rung = _SYNTAX, *, evidence: Mapping[str, str] | None = None, registry: Registry | None = None
    ) -> Self:
        """Return the normal form at a rung of the ladder (6.2); see `Rung`.

        registry: the schemes for the scheme rung (default: the default registry).

        Raises: ValueError for an invalid rung.

        A normal form is a key for comparison.  A relative-path reference keeps its dot-segments (6.2.2.3).

        >>> from overthere import Rung
        >>> str(URI("HTTP://Example.com:80/%7Eu/../a").normalize(Rung.SCHEME))
        'http://example.com/a'
        """
        from overthere.values.normalize import normal_form

        text = str(self)
        form = normal_form(text, rung, evidence, registry)
        return self if form == text else type(self)(form, zone=self.zone is not None)

    def changes(
        self, rung: Rung = _SYNTAX, *, evidence: Mapping[str, str] | None = None, registry: Registry | None = None
    ) -> list[Change]:
        """Return the changes of normalising up to `rung`, with their places and RFC sections (6.2).

        >>> [(change.rung.name, change.before, change.after) for change in URI("http://H/%7ea").changes()]
        [('CASE', 'H', 'h'), ('CASE', '/%7ea', '/%7Ea'), ('PERCENT', '/%7Ea', '/~a')]
        """
        from overthere.values.normalize import changes

        return changes(str(self), rung, evidence, registry)

    @front
    def equivalent(
        self,
        other: Value,
        rung: Rung = _SYNTAX,
        *,
        evidence: Mapping[str, str] | None = None,
        registry: Registry | None = None,
    ) -> bool:
        """Whether both have the same normal form at a rung (6.2).

        >>> URI("http://a/%7Eb").equivalent(URI("http://A/~b")), URI("http://a").equivalent(URI("http://a/"))
        (True, False)
        """
        from overthere.ground.rung import Rung, rung_of
        from overthere.values.normalize import lowest_rung

        rung = rung_of(rung)
        lowest = lowest_rung(self, other, evidence if rung >= Rung.PROTOCOL else None, registry=registry)
        return lowest is not None and lowest <= rung

    @front
    def to_iri(self, *, idna: bool = False) -> IRIReference:
        """Return the IRI that maps to this (RFC 3987 3.2): escapes of characters that an IRI allows are decoded.

        idna: whether labels of the host that begin with "xn--" are shown in their own script.

        >>> str(URI("http://h/r%C3%A9sum%C3%A9%2F").to_iri())
        'http://h/résumé%2F'
        """
        from overthere.iri import IRI, IRIReference, to_iri_text

        kind = IRIReference if self.scheme is None else IRI
        return kind(to_iri_text(self, idna), zone=self.zone is not None)


class URI(URIReference):
    """A URI (RFC 3986 3): with a scheme, and with or without a fragment.

    Raises: InvalidURI if the text is not derivable from URI; TypeError if it is not text.

    >>> u = URI("foo://example.com:8042/over/there?name=ferret#nose")
    >>> u.scheme, u.authority, u.host, u.port, u.path, u.query, u.fragment
    ('foo', 'example.com:8042', 'example.com', 8042, '/over/there', 'name=ferret', 'nose')
    """

    __slots__ = ()
    rule = "URI"

    if TYPE_CHECKING:

        @property
        def scheme(self) -> str: ...  # always defined (3.1)

    @property
    def locator(self) -> Locator:
        """The content of the URI as typed data of its scheme; `Locator.uri` is the inverse.

        An unknown scheme gives a `GenericLocator`.

        Raises: InvalidURI if the scheme cannot be read in this URI.

        >>> URI("ftp://h/pub/a.txt;type=a").locator.directories, URI("tel:+1-201-555-0123").locator.number
        (('pub',), '+1-201-555-0123')
        """
        from overthere.ground.late_imports import default_registry

        return default_registry().locator(self)

    def locator_as(self, kind: type[L]) -> L:
        """Return `locator`, with its type given: a class of `overthere.schemes.locators`.

        Raises: InvalidURI if the scheme has another class, or cannot be read in this URI.

        >>> from overthere.schemes.locators import MailtoLocator
        >>> URI("mailto:joe@example.com?subject=tea").locator_as(MailtoLocator).subject
        'tea'
        """
        locator = self.locator
        if isinstance(locator, kind):
            return locator
        from overthere.ground.errors import Finding, InvalidURI

        message = f"the scheme {self.scheme!r} has a {type(locator).__name__}, and no {kind.__name__}"
        end = len(self.scheme)
        raise InvalidURI(str(self), Finding("scheme-syntax", 0, end, "scheme", "scheme", "", "RFC 3986 3.1", message))

    @front_property
    def origin(self) -> str:
        """The origin as text (RFC 6454 4, 6.2): scheme, host, and the port if it is not the scheme's own.

        "null" if no server is named: without a host, without a default port, and if the port is too long.

        >>> URI("HTTPS://joe@H.example:443/a").origin, URI("http://h:8080/").origin, URI("data:,a").origin
        ('https://h.example', 'http://h:8080', 'null')
        """
        from overthere.ground.late_imports import default_registry
        from overthere.ground.rung import Rung

        scheme_info = default_registry().get(self.scheme)
        if not self.host or scheme_info is None or scheme_info.port is None or (self.port_text and self.port is None):
            return "null"
        host = self.normalize(Rung.PERCENT).host
        port = "" if self.port in (None, scheme_info.port) else f":{self.port}"
        return f"{scheme_info.name}://{host}{port}"

    @property
    def request_target(self) -> str | None:
        """The target of an HTTP request: path and query (RFC 9112 3.2.1, origin-form); None without a host.

        >>> URI("http://h?q#f").request_target, URI("http://h/a%20b").request_target, URI("urn:a:b").request_target
        ('/?q', '/a%20b', None)
        """
        if not self.host:
            return None
        return (self.path or "/") + ("" if self.query is None else f"?{self.query}")

    def same_origin(self, other: URI | str) -> bool:
        """Whether both have the same origin (RFC 6454 5): scheme, host and effective port.

        False for schemes without one, such as file and data, also of the same text.

        >>> URI("https://h/a").same_origin("HTTPS://H:443/b"), URI("http://h/").same_origin("https://h/")
        (True, False)
        """
        from overthere.values.origins import same_origin

        return same_origin(self, URI(other))

    def is_relative_to(self, base: URI | str) -> bool:
        """Whether this has the scheme, host and port of `base`, and a path within it by segments of the normal forms.

        A "/" at the end of the base's path, userinfo, query and fragment do not count.

        >>> [URI(text).is_relative_to("https://h/a/") for text in ("https://h/a/b?q", "https://h/ab", "https://h/a/../b")]
        [True, False, False]
        """
        from overthere.values.origins import is_relative_to

        return is_relative_to(self, URI(base))

    def redirect_target(self, text: str) -> URI | None:
        r"""Return the target of a redirect that a user supplied, if it stays at this origin; None otherwise.

        It stays if browsers (https://url.spec.whatwg.org/) and RFC 3986 both read it so.

        >>> base = URI("https://h/login")
        >>> base.redirect_target("/account?tab=1"), base.redirect_target("https://h:443/a")
        (URI('https://h/account?tab=1'), URI('https://h:443/a'))
        >>> [base.redirect_target(text) for text in ("//evil", r"/\evil", "////evil", "https:evil", "javascript:a()")]
        [None, None, None, None, None]
        """
        from overthere.values.origins import redirect_target

        return redirect_target(self, text)

    def matches_redirect(self, requested: URI | str) -> bool:
        """Whether a requested redirect URI equals this registered one in OAuth (RFC 6749 3.1.2.3, RFC 9700 2.1).

        They are compared as text, except for the port of `http://127.0.0.1` and `http://[::1]` (RFC 8252 7.3).

        >>> URI("http://127.0.0.1/cb").matches_redirect("http://127.0.0.1:49152/cb")
        True
        >>> URI("https://app.example/cb").matches_redirect("https://app.example/cb?x"), URI("http://h/").matches_redirect("%")
        (False, False)
        """
        from overthere.values.origins import matches_redirect

        return matches_redirect(self, requested)

    @front
    def join(self, reference: URIReference | str, strict: bool = True, *, errors: Errors = "strict") -> Self:
        """Return the target of a reference against this URI as the base (5.2), of the type of this value.

        errors: "repair" repairs an invalid text before it is resolved, as `overthere.repair` does.

        Raises: InvalidURI if `reference` is text but not a valid URI-reference, or cannot be repaired; ValueError for
        another `errors`.

        >>> str(URI("http://a/b/c/d;p?q").join("../g"))
        'http://a/b/g'
        >>> str(URI("http://a/b/c/d;p?q").join(" ../my file.html ", errors="repair"))
        'http://a/b/my%20file.html'
        """
        from overthere.values.resolve import resolve_text

        reference = reference if isinstance(reference, Value) else _read_reference(reference, errors)
        return type(self)(
            resolve_text(self, reference, strict), zone=self.zone is not None or reference.zone is not None
        )

    @front
    def relate(self, target: URI | str, *, form: Form | None = None) -> URIReference:
        """Return the shortest reference such that `self.join(it) == target`.

        form: the shortest reference of that form instead: "uri", "network-path", "absolute-path", "relative-path" (4.2)
        or "same-document" (4.4).

        Raises: Unreachable if `target` has dot-segments, because resolution removes them (5.2.4), and if no reference
        of that form leads to it; ValueError for another `form`.

        >>> str(URI("http://a/b/c/d").relate("http://a/b/g?x"))
        '../g?x'
        >>> str(URI("http://a/b/c/d").relate("http://a/b/g?x", form="absolute-path"))
        '/b/g?x'
        """
        from overthere.values.relate import relate

        target = target if isinstance(target, Value) else URI(target)
        return URIReference(
            relate(str(self), str(target), form=form), zone=self.zone is not None or target.zone is not None
        )
