"""The exceptions; the table of problems that a URI can have is in `kinds`.

OverthereError
+-- InvalidURI (ValueError)         a text does not follow the grammar; with the place and the rule
|   +-- InvalidIRI                  the same for RFC 3987
|   +-- InvalidTemplate             the same for RFC 6570, and expressions that have no expansion or two readings
+-- Unreachable (ValueError)        relate: no reference resolves to that target; join: none does for every base
+-- NoBase (ValueError)             resolve: the base has no scheme (RFC 3986 5.1)
+-- CodingError (ValueError)        encode, decode: bytes or characters that are invalid there
+-- NotSpecified (LookupError)      an edition leaves this to another document
+-- Unwritable (ValueError)         a locator that an edition cannot express
+-- PlanRefused (ValueError)        a URI is not opened: a delimiter of the protocol in its data, a loop
+-- RegistryError (ValueError)      a scheme or gateway that cannot be registered, two claims to one name
+-- KernelBug (RuntimeError)        the fast kernel failed: a bug of overthere
+-- GrammarError (ValueError)       an invalid ABNF text, or a missing rule
    +-- NotRegular                  a rule that no finite automaton recognises
"""

from __future__ import annotations

from overthere.ground.display import shorten, underline
from overthere.ground.kinds import KINDS, Finding, Kind, describe
from overthere.ground.redact import Span, join_spans, mask, secret_spans

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Self

__all__ = [
    "KINDS", "CodingError", "Finding", "GrammarError", "InvalidIRI", "InvalidTemplate", "InvalidURI", "KernelBug",
    "Kind", "NoBase", "NotRegular", "NotSpecified", "OverthereError", "PlanRefused", "RegistryError", "Unreachable",
    "Unwritable",
]  # fmt: skip


class OverthereError(Exception):
    """The base class of all exceptions that overthere raises on purpose."""

    __module__ = "overthere"

    def __init_subclass__(cls) -> None:
        """Set the module that a traceback shows to the one for importing."""
        if cls.__module__ == __name__:
            cls.__module__ = "overthere"


class Refusal:
    """The finding of an invalid text, computed on first use."""

    def place(self) -> tuple[str, int, int]:
        """Return only the kind and the place, which cost less than the whole finding."""
        raise NotImplementedError

    def finding(self) -> Finding:
        raise NotImplementedError


class InvalidURI(OverthereError, ValueError):
    """A text does not follow the grammar; `text, kind, start, end, component, rule, expected, source` describe it.

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
    _pending: tuple[Callable[..., Refusal], str, tuple[object, ...]] | None
    _refused: Finding | Refusal
    _secret: Span | None
    _secrets: tuple[Span, ...]

    def __init__(self, text: str, finding: Finding | Refusal, secret: Span | None = None) -> None:
        """secret: the place of a password, if the caller knows it better than `redact.secret_spans`."""
        super().__init__(text)
        self.text = text
        self._refused = finding
        self._secret = secret
        self._pending = None

    @classmethod
    def of(cls, text: str, refused: Callable[..., Refusal], *how: object) -> Self:
        """Make the exception for a text whose error is computed later: `refused(text, *how)` runs on first access.

        Most errors are only counted, so the attributes are lazy too.
        """
        error = cls.__new__(cls, text)
        error._pending = refused, text, how
        return error

    def __getattr__(self, name: str) -> object:
        """Compute attributes on first access."""
        if name in ("text", "_refused", "_secret"):
            if (pending := self._pending) is not None:  # otherwise another thread has computed it meanwhile
                refused, text, how = pending
                InvalidURI.__init__(self, text, refused(text, *how))
        elif name == "_secrets":
            spans = secret_spans(self.text)
            self._secrets = join_spans((self._secret,), spans) if self._secret else spans
        elif name in ("kind", "start", "end") and isinstance(self._refused, Refusal):
            self.kind, self.start, self.end = self._refused.place()
        elif name == "finding" or name in Finding._fields:
            issue = self._refused
            self.finding = self._refused = issue = issue.finding() if isinstance(issue, Refusal) else issue
            self.kind, self.start, self.end, self.component, self.rule, self.expected, self.source, self.message = issue
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return self.__dict__[name]

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.text, self.finding, self._secret)

    def __str__(self) -> str:
        return str(self.finding)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shorten(mask(self.text, self._secrets))!r}, {self.finding!r})"

    def figure(self, width: int = 80) -> str:
        """Return the text with the place underlined, and the message below; passwords are masked."""
        return f"{underline(self.text, self.start, self.end, width, self._secrets)}\n{self.finding}"


def figures(text: str, findings: Iterable[Finding], width: int = 80, rules: bool = False) -> Iterator[str]:
    """Return the figure of each finding on a text; secrets are searched once.  rules: the same as for `describe`."""
    secrets = secret_spans(text)
    return (f"{underline(text, f.start, f.end, width, secrets)}\n{describe(f, rules)}" for f in findings)


class InvalidIRI(InvalidURI):
    """A text does not follow RFC 3987."""


class InvalidTemplate(InvalidURI):
    """A text does not follow RFC 6570, or a template expression cannot be expanded or matched as requested."""


class Unreachable(OverthereError, ValueError):
    """No reference, or none of the requested form, resolves to this target against this base (RFC 3986 5.2.4: a
    resolved path has no dot-segments); or no single reference equals two others in sequence for every base."""


class NoBase(OverthereError, ValueError):
    """The base of a resolution has no scheme (RFC 3986 5.1: a base URI is an absolute URI)."""


class CodingError(OverthereError, ValueError):
    """Data that cannot be encoded, or escapes that cannot be decoded as asked (RFC 3986 2.1, 2.5)."""


class NotSpecified(OverthereError, LookupError):
    """An edition leaves this to another document, which the message names."""


class Unwritable(OverthereError, ValueError):
    """A locator that an edition cannot express; the message names the document and the part."""


class Cited(str):
    """A sentence and the paragraph that supports it, as one text; an edition may have another paragraph for it.

    >>> told = Cited("there is no path", "RFC 8089 2")
    >>> told, told.sentence, told.source
    ('there is no path (RFC 8089 2)', 'there is no path', 'RFC 8089 2')
    """

    sentence: str
    source: str
    """Document and paragraph."""

    def __new__(cls, sentence: str, source: str) -> Cited:
        text = super().__new__(cls, f"{sentence} ({source})")
        text.sentence, text.source = sentence, source
        return text

    def __reduce__(self) -> tuple[type[Cited], tuple[str, str]]:
        return Cited, (self.sentence, self.source)


class PlanRefused(OverthereError, ValueError):
    """A refused plan: its data would be read as delimiters of the protocol (RFC 1738 6, RFC 3986 7.2).

    source: document and section, appended to the sentence.
    """

    def __init__(self, sentence: str, source: str = "") -> None:
        super().__init__(Cited(sentence, source) if source else sentence)


class RegistryError(OverthereError, ValueError):
    """A scheme or a gateway that cannot be registered, or a name with two claims to it, both named."""


class KernelBug(OverthereError, RuntimeError):
    """The fast kernel panicked: a bug of this library; as a workaround, set `OVERTHERE_KERNEL=reference`."""

    def __str__(self) -> str:
        return f"a bug in overthere's native kernel, please report it: {super().__str__()}"


class GrammarError(OverthereError, ValueError):
    """An ABNF text cannot be read (RFC 5234), or a requested rule does not exist."""

    def __init__(self, message: str, line: int | None = None, column: int = 1, shown: str = "") -> None:
        super().__init__(message, line, column, shown)
        self.message: str = message
        self.line: int | None = line
        self.column: int = column
        self.shown: str = shown

    def __str__(self) -> str:
        if self.line is None:
            return self.message
        place = f"line {self.line}, column {self.column}: {self.message}"
        return f"{place}\n{self.shown}\n{' ' * (self.column - 1)}^" if self.shown else place


class NotRegular(GrammarError):
    """A rule that refers to itself: repetition is written with `*` (RFC 5234 3.6)."""


# doctest does not find the class itself, because its `__module__` is another one.
__test__: dict[str, str] = {"InvalidURI": InvalidURI.__doc__ or ""}
