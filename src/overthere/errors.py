"""The exceptions, and the one table of what can be wrong with a URI.

OverthereError
+-- InvalidURI (ValueError)         a text is not what it should be; carries the place and the rule
|   +-- InvalidIRI                  the same for RFC 3987
|   +-- InvalidTemplate             the same for RFC 6570, and expressions that have no expansion or two readings
+-- Unreachable (ValueError)        relate: no reference resolves to that target
+-- NoBase (ValueError)             resolve: the base has no scheme (RFC 3986 5.1)
+-- CodingError (ValueError)        encode, decode: octets or characters that have no meaning there
+-- NotSpecified (LookupError)      an edition leaves this to another document
+-- Unwritable (ValueError)         a locator that an edition has no words for
+-- PlanRefused (ValueError)        what a URI would do is not done: a delimiter of the protocol in its data, a loop
+-- RegistryError (ValueError)      a scheme or gateway that cannot be registered, two claims to one name
+-- KernelBug (RuntimeError)        the fast kernel contradicts itself: a mistake of ours
+-- GrammarError (ValueError)       an ABNF text, or a rule that is not there
    +-- NotRegular                  a rule that no finite automaton recognises
"""

from __future__ import annotations

from typing import NamedTuple

from overthere.redact import Span, mask, password_spans
from overthere.showing import bounded, underline

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

__all__ = [
    "KINDS",
    "CodingError",
    "Finding",
    "GrammarError",
    "InvalidIRI",
    "InvalidTemplate",
    "InvalidURI",
    "KernelBug",
    "Kind",
    "NoBase",
    "NotRegular",
    "NotSpecified",
    "OverthereError",
    "PlanRefused",
    "RegistryError",
    "Unreachable",
    "Unwritable",
]


class Kind(NamedTuple):
    """A row of the table: one thing that can be wrong."""

    message: str
    """`{it}` stands for the offending text."""
    component: str
    """The component it concerns; "any" if it can be found in all of them."""
    rule: str
    source: str
    bad: str
    """A text that has it; or, where it begins with `URI`, `IRI` or another name, an expression that raises it."""
    good: str


KINDS: dict[str, Kind] = {
    "scheme-missing": Kind("there is no scheme", "scheme", "URI", "RFC 3986 3", "//h/p", "http://h/p"),
    "scheme-empty": Kind("the scheme is empty", "scheme", "scheme", "RFC 3986 3.1", "://h/p", "http://h/p"),
    "scheme-first": Kind("a scheme cannot begin with {it}", "scheme", "scheme", "RFC 3986 3.1", "1a:b", "a1:b"),
    "scheme-char": Kind("a scheme cannot contain {it}", "scheme", "scheme", "RFC 3986 3.1", "a_b:c", "a-b:c"),
    "userinfo-char": Kind(
        "userinfo cannot contain {it}", "userinfo", "userinfo", "RFC 3986 3.2.1", "ftp://a|b@h/", "ftp://a%7Cb@h/"
    ),
    "userinfo-at": Kind(
        'userinfo cannot contain "@": readers differ on which host is meant',
        "userinfo",
        "authority",
        "RFC 3986 3.2.1",
        "http://a@b@h/",
        "http://a%40b@h/",
    ),
    "host-char": Kind("a host cannot contain {it}", "host", "reg-name", "RFC 3986 3.2.2", "http://a|b/", "http://a-b/"),
    "ip-literal-open": Kind(
        '"[" is never closed by "]"', "host", "IP-literal", "RFC 3986 3.2.2", "http://[::1/", "http://[::1]/"
    ),
    "ip-literal-address": Kind(
        "between the brackets stands neither an IPv6address nor an IPvFuture",
        "host",
        "IP-literal",
        "RFC 3986 3.2.2",
        "http://[1.2.3.4]/",
        "http://[::1.2.3.4]/",
    ),
    "ip-literal-close": Kind(
        'only a port can follow "]"', "host", "authority", "RFC 3986 3.2.2", "http://[::1]x/", "http://[::1]:8/"
    ),
    "ip-zone": Kind(
        "a zone identifier is not part of a URI (RFC 6874 adds it; zone=True reads it)",
        "host",
        "IP-literal",
        "RFC 3986 3.2.2",
        "http://[fe80::1%25en0]/",
        "http://[fe80::1]/",
    ),
    "port-char": Kind("a port cannot contain {it}", "port", "port", "RFC 3986 3.2.3", "http://h:8o/", "http://h:80/"),
    "path-char": Kind("a path cannot contain {it}", "path", "path", "RFC 3986 3.3", "http://h/a|b", "http://h/a%7Cb"),
    "query-char": Kind(
        "a query cannot contain {it}", "query", "query", "RFC 3986 3.4", "http://h/?[]", "http://h/?%5B"
    ),
    "fragment-char": Kind(
        "a fragment cannot contain {it}", "fragment", "fragment", "RFC 3986 3.5", "http://h/#a#b", "http://h/#a%23b"
    ),
    "pct-encoded": Kind(
        'two hexadecimal digits must follow "%"', "any", "pct-encoded", "RFC 3986 2.1", "http://h/%zz", "http://h/%25zz"
    ),
    "non-ascii": Kind(
        "{it} is not a US-ASCII character (an IRI can hold letters of every script)",
        "any",
        "URI-reference",
        "RFC 3986 2",
        "http://h/ü",
        "http://h/%C3%BC",
    ),
    "control": Kind(
        "a URI cannot contain the control character {it}",
        "any",
        "URI-reference",
        "RFC 3986 2",
        "http://h/\t",
        "http://h/%09",
    ),
    "space": Kind(
        "a URI cannot contain a space", "any", "URI-reference", "RFC 3986 2", "http://h/a b", "http://h/a%20b"
    ),
    "host-missing": Kind(
        "userinfo or port without a host",
        "host",
        "authority",
        "RFC 3986 3.2",
        'URI("a:b").replace(port=8)',
        'URI("a:/b").replace(host="h", port=8)',
    ),
    "path-slashes": Kind(
        'without an authority, a path that begins with "//" would be read as one',
        "path",
        "path-absolute",
        "RFC 3986 3.3",
        'URI("a://h//p").replace(authority=None)',
        'URI("a://h/p").replace(authority=None)',
    ),
    "path-rootless": Kind(
        'after an authority, a path begins with "/" or is empty',
        "path",
        "path-abempty",
        "RFC 3986 3.3",
        'URI("a:b").replace(host="h")',
        'URI("a:/b").replace(host="h")',
    ),
    "path-colon": Kind(
        "a colon in the first segment of a relative-path reference would be read as the end of a scheme",
        "path",
        "path-noscheme",
        "RFC 3986 4.2",
        'URIReference("a:b:c").replace(scheme=None)',
        'URIReference("a:./b:c").replace(scheme=None)',
    ),
    "delimiter": Kind(
        "{it} would be read as the start of another component",
        "any",
        "URI-reference",
        "RFC 3986 2.2",
        'URI("a:b").replace(path="p?q")',
        'URI("a:b").replace(path="p", query="q")',
    ),
    "segment-dots": Kind(
        'a segment "." or ".." given as data would be removed as a dot-segment',
        "path",
        "segment",
        "RFC 3986 6.2.2.3",
        'URI.build(scheme="a", segments=["..", "b"])',
        'URI.build(scheme="a", path="../b")',
    ),
    "segment-empty": Kind(
        'a path that does not begin with "/" cannot begin with an empty segment',
        "path",
        "segment-nz",
        "RFC 3986 3.3",
        'URI.build(scheme="a", segments=["", "b"])',
        'URI.build(scheme="a", segments=["b"], rooted=True)',
    ),
    "iri-char": Kind(
        "{it} cannot stand in an IRI", "any", "ucschar", "RFC 3987 2.2", 'IRI("http://h/\\ufdd0")', 'IRI("http://h/ü")'
    ),
    "iri-private": Kind(
        "a private-use character can stand in the query only",
        "any",
        "iprivate",
        "RFC 3987 2.2",
        'IRI("http://h/\\ue000")',
        'IRI("http://h/?\\ue000")',
    ),
    "iri-bidi": Kind(
        "the bidirectional formatting character {it} is not part of an IRI",
        "any",
        "ucschar",
        "RFC 3987 4.1",
        'IRI("http://h/\\u202e")',
        'IRI("http://h/\\u05d0")',
    ),
    "not-derivable": Kind(
        "{it} cannot stand here", "any", "any", "RFC 3986 Appendix A", 'check("1.2.3", rule="IPv4address")', "http://h/"
    ),
    "scheme-syntax": Kind(
        "the scheme's own syntax wants something else",
        "any",
        "any",
        "RFC 3986 3.1",
        'URI("tel:abc").locator',
        "tel:112",
    ),
    "template-literal": Kind(
        "{it} cannot stand outside an expression",
        "literals",
        "literals",
        "RFC 6570 2.1",
        'Template("a b{x}")',
        'Template("a%20b{x}")',
    ),
    "template-open": Kind(
        '"{" is never closed by "}"', "expression", "expression", "RFC 6570 2.2", 'Template("/{x")', 'Template("/{x}")'
    ),
    "template-expression": Kind(
        "{it} cannot stand here in an expression",
        "expression",
        "expression",
        "RFC 6570 2.2",
        'Template("/{x y}")',
        'Template("/{x,y}")',
    ),
    "template-operator": Kind(
        "the operator {it} is reserved for extensions",
        "expression",
        "op-reserve",
        "RFC 6570 2.2",
        'Template("/{|x}")',
        'Template("/{+x}")',
    ),
    "template-prefix": Kind(
        "a prefix of {it} is asked, whose value has no characters to count",
        "expression",
        "prefix",
        "RFC 6570 2.4.1",
        'Template("/{x:3}").expand(x=["a", "b"])',
        'Template("/{x:3}").expand(x="abcd")',
    ),
    "template-ambiguous": Kind(
        "{it} has two readings in this text",
        "expression",
        "expression",
        "RFC 6570 1.4",
        'Template("/{x}{y}").match("/ab")',
        'Template("/{x}-{y}").match("/a,b")',
    ),
    "more": Kind("{it} further findings are not listed", "any", "URI-reference", "RFC 3986 4.1", "", "http://h/"),
}


class Finding(NamedTuple):
    """One thing that is wrong, or worth knowing, about a text."""

    kind: str
    """A key of `KINDS`, or of `security.KINDS`."""
    start: int
    """Code-point offsets in the text that was passed."""
    end: int
    component: str
    rule: str
    """The grammar rule that does not match."""
    expected: str
    """What could have stood at `start`, in words."""
    source: str
    """The paragraph, such as `RFC 3986 3.2.2`."""
    message: str

    def __str__(self) -> str:
        wanted = f"; expected {self.expected}" if self.expected else ""
        return f"{self.message} (at {self.start}, in the {self.component}{wanted}; {self.source})"


class OverthereError(Exception):
    """The root of every exception that overthere raises on purpose."""


class Refused:
    """What is the matter with a text, looked for when it is asked for."""

    def place(self) -> tuple[str, int, int]:
        """Kind and place alone, which cost less than the words."""
        raise NotImplementedError

    def finding(self) -> Finding:
        raise NotImplementedError


class InvalidURI(OverthereError, ValueError):
    """A text does not follow the grammar; `text, kind, start, end, component, rule, expected, source` say where.

    >>> from overthere import URI
    >>> try:
    ...     URI("http://joe:secret@h:8o/")
    ... except InvalidURI as error:
    ...     print(error.figure())
    http://joe:***@h:8o/
                      ^
    a port cannot contain "o" (at 21, in the port; expected a digit, "#", "/", "?" or the end; RFC 3986 3.2.3)
    """

    text: str
    finding: Finding
    kind: str
    start: int
    end: int
    component: str
    rule: str
    expected: str
    source: str
    message: str
    _asked: tuple[Callable[..., Refused], str, tuple[object, ...]] | None
    _refused: Finding | Refused
    _secret: Span | None
    _secrets: tuple[Span, ...]

    def __init__(self, text: str, finding: Finding | Refused, secret: Span | None = None) -> None:
        """`secret` is where a password stands, if its maker knows better than `redact.password_spans`."""
        super().__init__(text)
        self.text = text
        self._refused = finding
        self._secret = secret
        self._asked = None

    @classmethod
    def of(cls, text: str, refused: Callable[..., Refused], *how: object) -> Self:
        """The exception for a text of which nothing is known yet: `refused(text, *how)` is called when somebody looks.

        Most refusals are only counted, so that the attributes wait too.
        """
        error = cls.__new__(cls, text)
        error._asked = refused, text, how
        return error

    def __getattr__(self, name: str) -> object:
        """What is the matter is put in words when somebody looks."""
        if name in ("text", "_refused", "_secret"):
            if self._asked is not None:  # else another thread has looked meanwhile
                refused, text, how = self._asked
                InvalidURI.__init__(self, text, refused(text, *how))
        elif name == "_secrets":
            self._secrets = (self._secret,) if self._secret else password_spans(self.text)
        elif name in ("kind", "start", "end") and isinstance(self._refused, Refused):
            self.kind, self.start, self.end = self._refused.place()
        elif name == "finding" or name in Finding._fields:
            found = self._refused
            self.finding = self._refused = found = found.finding() if isinstance(found, Refused) else found
            self.kind, self.start, self.end, self.component, self.rule, self.expected, self.source, self.message = found
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return self.__dict__[name]

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.text, self.finding, self._secret)

    def __str__(self) -> str:
        return str(self.finding)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({bounded(mask(self.text, self._secrets))!r}, {self.finding!r})"

    def figure(self, width: int = 80) -> str:
        """The text with the place underlined, and the message below; the password is not shown."""
        return f"{underline(self.text, self.start, self.end, width, self._secrets)}\n{self.finding}"


class InvalidIRI(InvalidURI):
    """A text does not follow RFC 3987."""


class InvalidTemplate(InvalidURI):
    """A text does not follow RFC 6570, or an expression of a template cannot do what it is asked to."""


class Unreachable(OverthereError, ValueError):
    """No reference resolves to this target against this base: a resolved path has no dot-segments (RFC 3986 5.2.4)."""


class NoBase(OverthereError, ValueError):
    """The base of a resolution has no scheme (RFC 3986 5.1: a base URI is an absolute URI)."""


class CodingError(OverthereError, ValueError):
    """Data that cannot be encoded, or escapes that cannot be decoded as asked (RFC 3986 2.1, 2.5)."""


class NotSpecified(OverthereError, LookupError):
    """An edition leaves this to another document, which the message names."""


class Unwritable(OverthereError, ValueError):
    """A locator that an edition has no words for; the message names the document and the part."""


class Cited(str):
    """A sentence and the paragraph that says so, as one text; an edition may have the same in a document of its own.

    >>> told = Cited("there is no path", "RFC 8089 2")
    >>> told, told.sentence, told.source
    ('there is no path (RFC 8089 2)', 'there is no path', 'RFC 8089 2')
    """

    sentence: str
    source: str
    """Document and paragraph."""

    def __new__(cls, sentence: str, source: str) -> Cited:
        made = super().__new__(cls, f"{sentence} ({source})")
        made.sentence, made.source = sentence, source
        return made

    def __reduce__(self) -> tuple[type[Cited], tuple[str, str]]:
        return Cited, (self.sentence, self.source)


class PlanRefused(OverthereError, ValueError):
    """A plan that is not made: its data would be read as delimiters of the protocol (RFC 1738 6, RFC 3986 7.2).

    source: document and paragraph, which stand behind the sentence.
    """

    def __init__(self, sentence: str, source: str = "") -> None:
        super().__init__(Cited(sentence, source) if source else sentence)


class RegistryError(OverthereError, ValueError):
    """A scheme or a gateway that cannot be registered, or a name with two claims to it, both named."""


class KernelBug(OverthereError, RuntimeError):
    """The fast kernel panicked: a mistake of ours, not of the input; `OVERTHERE_KERNEL=reference` goes round it."""

    def __str__(self) -> str:
        return f"a bug in overthere's native kernel, please report it: {super().__str__()}"


class GrammarError(OverthereError, ValueError):
    """An ABNF text cannot be read (RFC 5234), or a rule that was asked for does not exist."""

    def __init__(self, message: str, line: int | None = None, column: int = 1, shown: str = "") -> None:
        super().__init__(message, line, column, shown)
        self.message, self.line, self.column, self.shown = message, line, column, shown

    def __str__(self) -> str:
        if self.line is None:
            return self.message
        place = f"line {self.line}, column {self.column}: {self.message}"
        return f"{place}\n{self.shown}\n{' ' * (self.column - 1)}^" if self.shown else place


class NotRegular(GrammarError):
    """A rule that refers to itself: repetition is written with `*` (RFC 5234 3.6)."""
