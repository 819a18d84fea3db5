"""A match in a text, and the URI that it stands for."""

from __future__ import annotations

from typing import Literal, NamedTuple

from overthere.ground.errors import InvalidURI
from overthere.ground.redact import hides_secrets
from overthere.iri import IRI
from overthere.values.uri import URI

Kind = Literal["URI", "IRI", "abbreviated", "mail"]


@hides_secrets
class Found(NamedTuple):
    """A reference found in a text."""

    reference: str
    """The text of the URI or IRI, of an abbreviated reference or a mail address, without the white space in it; a blank
    that `typed` keeps is %20."""
    text: str
    """As written: text[start:end]."""
    start: int
    """Code-point offsets in the text; delimiters and the prefix "URL:" left out."""
    end: int
    delimiter: str
    """`<>`, `""`, `URL:` (the prefix and white space), or "" (white space, or punctuation that belongs to the text)."""
    kind: Kind
    """URI; IRI, which has characters beyond US-ASCII; abbreviated (RFC 3986 4.5); mail, an address without a scheme."""
    uri: str
    """The intended URI: the reference, the URI of an IRI (RFC 3987 3.1), or a guess for the other two kinds."""
    alternative: str | None
    """The other reading: without the hyphens at its line ends, which "may or may not actually be part of the URI", or
    without the blanks that `typed` reads as %20."""
    outer: tuple[int, int]
    """Offsets with the delimiters and the prefix."""
    cut: str = ""
    """The character at which it ends because a URI cannot contain it there, although the text continues: "[" of
    `http://h/?array[]=1`.  The writer may have meant more."""


def guess_uri(text: str, scheme: str | None = None) -> str:
    """Guess a URI: "most registered names beginning with "www" are likely to have a URI prefix of "http://"." (4.5)."""
    host = text.removeprefix("//")
    return f"{scheme or ('ftp' if host[:4].lower() == 'ftp.' else 'http')}://{host}"


def expand_abbreviation(reference: str, kind: Kind, scheme: str | None = None) -> str | None:
    """Return the URI of a reference of this kind; None if it is invalid.  scheme: of a host without one."""
    text = reference
    if kind in ("mail", "abbreviated"):
        text = f"mailto:{reference}" if kind == "mail" else guess_uri(reference, scheme)
    try:
        return str(URI(text)) if text.isascii() else str(IRI(text).to_uri())
    except InvalidURI:
        return None
