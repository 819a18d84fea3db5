"""An edition: one document, its grammar, and what the grammar cannot express."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from overthere.grammar import Grammar
from overthere.ground.errors import Finding, NotSpecified
from overthere.ground.exact import exact
from overthere.ground.late_imports import default_registry
from overthere.ground.rung import Rung, rung_of
from overthere.kernel.reference import Parts
from overthere.values.resolve import Target

if TYPE_CHECKING:
    from overthere.schemes.locator import Locator
    from overthere.schemes.registry import Registry


@dataclass(frozen=True)
class Edition:
    """One document as a value.  Its functions take and return text; `URI` is the value type of the default edition."""

    name: str
    title: str
    date: str
    document: str
    top: str
    """The default rule of `check` and `is_valid`."""
    class_rules: tuple[str, ...]
    """The document's own names of its character classes."""
    sections: Mapping[str, str]
    """Its implemented sections, each with its place in the code."""
    read_grammar: Callable[[], Grammar] = field(repr=False)
    check_text: Callable[[str, str, int | None], list[Finding]] = field(repr=False)
    split_text: Callable[[str], Parts] = field(repr=False)
    resolve_text: Callable[[str, str, bool], Target] = field(repr=False)
    normalize_text: Callable[[str, Rung, Registry | None], str] = field(repr=False)
    encode_data: Callable[[str | bytes, str], str] = field(repr=False)
    decode_text: Callable[[str], str] = field(repr=False)
    parts_of: Callable[[str], dict[str, str | None]] = field(repr=False)
    host_of: Callable[[str], str | None] = field(repr=False)
    """The host that a client of that time would contact, by the document's prose, or None."""
    charset: str
    """The charset of escapes: "iso-8859-1", "octets" (not specified), "undefined" beyond US-ASCII, "utf-8"."""
    ports: Mapping[str, int]
    """The default ports that the document states."""
    empty_reference: str
    """The meaning of an empty reference, as part of a sentence."""
    elsewhere: Mapping[str, str] = field(default_factory=dict[str, str])
    """Methods left to other documents: method name -> document."""

    @property
    def grammar(self) -> Grammar:
        """The document's collected syntax."""
        return self.read_grammar()

    @property
    def classes(self) -> dict[str, frozenset[str]]:
        """The characters of each class, by the document's names."""
        return {rule: self.grammar.charset(rule) for rule in self.class_rules}

    def check(self, text: str, rule: str | None = None, limit: int | None = 1000) -> list[Finding]:
        """Return every finding on `text` by the grammar; any text is accepted.

        Raises: GrammarError if the document has no such rule.
        """
        return self.check_text(exact(text, "check()"), self._rule(rule), limit)

    def is_valid(self, text: str, rule: str | None = None) -> bool:
        """Whether the document's rule (`top` by default) matches the whole text.

        Raises: GrammarError if the document has no such rule.
        """
        return self.grammar.automaton(self._rule(rule)).accepts(exact(text, "is_valid()"))

    def split(self, text: str) -> Parts:
        """Split any text into components by the document's prose, unchecked."""
        return self.split_text(exact(text, "split()"))

    def parts(self, text: str) -> dict[str, str | None]:
        """Return the parts of a text by the document's rule names, by its scheme and the prose; None is undefined.

        Raises: InvalidURI if the scheme is missing.

        >>> from overthere.editions import edition
        >>> edition("rfc1738").parts("gopher://h/7s%09words")["search"]
        'words'
        """
        return self.parts_of(exact(text, "parts()"))

    def locator(self, text: str, *, registry: Registry | None = None) -> Locator:
        """Convert a text to the typed data of its scheme, as this document defines it; `Locator.uri` is the inverse.

        A scheme that the document does not define is read by the generic syntax.
        registry: the known schemes (default: the default registry).

        Raises: InvalidURI if the scheme is missing, or if the text is not valid for it.

        >>> from overthere.editions import edition
        >>> edition("url-1994").locator("ftp://h/pub/a!I"), edition("rfc1738").locator("ftp://h/pub/a!I").name
        (FTPLocator(host='h', directories=('pub',), name='a', type='I'), 'a!I')
        """
        schemes = default_registry() if registry is None else registry
        return schemes.locator(exact(text, "locator()"), self.name)

    def resolve(self, base: str, reference: str, strict: bool = True) -> Target:
        """Resolve a reference by the document's own algorithm.

        The draft of 1994 and RFC 1738 leave it to RFC 1630 and RFC 1808, whose algorithms are functions of
        `overthere.editions.resolution`.

        Raises: InvalidURI, NoBase; NotSpecified if the document leaves resolution to another one, which it names.

        >>> from overthere.editions import edition
        >>> from overthere.editions.resolution import rfc1808
        >>> edition("url-1997").resolve("http://a/b", "").uri, rfc1808("http://a/b/c", "../g").uri
        (None, 'http://a/g')
        """
        self._require_own_method("resolve")
        return self.resolve_text(exact(base, "resolve()"), exact(reference, "resolve()"), strict)

    def normalize(self, text: str, rung: Rung = Rung.SYNTAX, *, registry: Registry | None = None) -> str:
        """Return the normal form that the document allows at a rung of the ladder.  Raises: InvalidURI, NotSpecified.

        registry: the schemes for the scheme rung, if the document leaves it to them (default: the default registry).
        """
        self._require_own_method("normalize")
        return self.normalize_text(exact(text, "normalize()"), rung_of(rung), registry)

    def equivalent(self, a: str, b: str, rung: Rung = Rung.SYNTAX, *, registry: Registry | None = None) -> bool:
        """Whether both have the same normal form at a rung, by this document.  Raises: the same as `normalize`.

        >>> from overthere.editions import edition
        >>> [edition(name).equivalent("http://h/%2E", "http://h/.", Rung.PERCENT) for name in ("uri-2003", "rfc3986")]
        [False, True]
        """
        return self.normalize(a, rung, registry=registry) == self.normalize(b, rung, registry=registry)

    def encode(self, data: str | bytes, component: str = "segment") -> str:
        """Escape data for a component, by the document's character classes and charset.  Raises: CodingError."""
        if isinstance(data, str):
            data = exact(data, "encode()")
        elif not isinstance(data, bytes):
            raise TypeError(f"encode() takes text or bytes, not {type(data).__name__}")
        return self.encode_data(data, exact(component, "encode()"))

    def decode(self, text: str) -> str:
        """Decode the text of a component by the document's charset.  Raises: CodingError."""
        return self.decode_text(exact(text, "decode()"))

    def _rule(self, rule: str | None) -> str:
        return self.top if rule is None else exact(rule, "rule")

    def _require_own_method(self, method: str) -> None:
        if method in self.elsewhere:
            title = self.elsewhere[method]
            name = "".join(title.lower().split()[:2])
            raise NotSpecified(
                f"{self.document} leaves this to {title}: overthere.editions.resolution.{name}(base, reference) is its "
                f"algorithm, `overthere resolve --edition {name}` on the command line"
            )
