"""The locator of schemes whose URIs contain another URI after the colon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from overthere.schemes.locator import Given, Locator, Writer

if TYPE_CHECKING:
    from overthere.values.uri import URI

__all__ = ["InnerLocator"]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class InnerLocator(Locator):
    """What stands behind the colon, as written, with its query.  A scheme's own locator names its document.

    >>> from overthere import URI
    >>> there = URI("view-source:http://h/a?b").locator
    >>> there, there.inner
    (ViewSourceLocator(text='http://h/a?b'), URI('http://h/a?b'))
    """

    text: str = ""
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"text"}
    document: ClassVar[str] = ""
    expected: ClassVar[str] = "a URI"

    @classmethod
    def split(cls, given: Given) -> InnerLocator:
        text = (given.path or "") + ("" if given.query is None else f"?{given.query}")
        if given.host is not None or not cls.takes(text):
            raise given.refuse(text or None, cls.expected, f"{given.scheme}-uri", cls.document)
        return cls(text, **given.rest(query=False))

    @classmethod
    def takes(cls, text: str) -> bool:
        """Whether what stands behind the colon is of the scheme."""
        from overthere.values.uri import URI

        return URI.can_parse(text)

    def join(self, to: Writer) -> str:
        return to.raw(self.text)

    @property
    def inner(self) -> URI | None:
        """The URI within, without a fragment, which is the whole one's; None where the text is none."""
        from overthere.values.uri import URI

        return URI.parse(self.text)
