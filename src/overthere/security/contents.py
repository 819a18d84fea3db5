"""Schemes and parameters that are worth care: programs, content, files of other hosts, secrets (RFC 3986 7, 7.5)."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from overthere.security.parts import Cut, Place

__all__ = ["contents", "length", "parameters", "veiled"]


def _through(scheme: str) -> str:
    """A scheme as browsers see it (URL Standard 4.4): they take tabs and line ends out."""
    return r"[\t\n\r]*+".join(scheme)


# Browsers take controls and spaces off before the text begins.
_SCRIPT = re.compile(rf"(?i)[\x00-\x20]*+({_through('javascript')}|{_through('vbscript')})[\t\n\r]*+:")
_DATA = re.compile(r"(?i)data:([^,;]*+)")
# Types that are programs, and those whose content can hold one that browsers run.
_SCRIPTS = re.compile(r"(?:text|application)/(?:x-)?(?:java|ecma|vb|live|j)script[0-9.]{0,4}")
_MARKUP = re.compile(r"(?:text|application)/(?:x-)?(?:html|xml)|[a-z]{1,64}/[a-z0-9.+-]{0,127}\+xml|text/xsl")
# What runs a program, loads one, or hides what does: event attributes, elements, other documents, animated references
# (SVG), style sheets that transform (XSLT), entities and character references, other encodings than of US-ASCII.
_RUNS = re.compile(
    rb"<(?:[\w.-]*:)?(?:script|handler|listener|iframe|frame|embed|object|applet|foreignobject|base|meta|link|set|animate)"
    rb"|<!(?:entity|doctype[^>\[]{0,512}+\[)|xml-stylesheet|xsl:|&(?:#|colon|tab|newline)|[\s\"'/]on[a-z]++\s*+=|script\s*+:"
    rb"|srcdoc|formaction|encoding\s*+=\s*+[\"'](?!utf-8|us-ascii|iso-8859-)|[\x00-\x08]|^\xfe\xff|^\xff\xfe|\+ADw-",
    re.IGNORECASE,
)
_CHARSET = re.compile(r"(?i);\s*charset=\"?(?!utf-8|us-ascii|iso-8859-|windows-125)")
_LONG = 8000
"""RFC 9110 4.1: octets that everybody should support."""


def contents(cut: Cut) -> Iterator[Place]:
    """Programs, content in the URI, and files of other hosts whose name stands in the path."""
    text = cut.text
    script = _SCRIPT.match(text, cut.start)
    if script is not None:
        yield Place("script", *script.span(1))
    data = _DATA.match(text, cut.start)
    if data is not None:
        kind = data[1].strip().lower()
        if _SCRIPTS.fullmatch(kind) or (_MARKUP.fullmatch(kind) and _runs(text, data.end())):
            yield Place("data-script", *data.span(1))
        else:
            yield Place("data", cut.start, cut.start + 4)
    # RFC 8089 E.3.2: the name of a host of Windows after four or five slashes.
    if cut.facts is not None and cut.facts.host_of_files and not cut.of(cut.host) and cut.of(cut.path)[:2] == "//":
        yield Place("file-host", *cut.path)


def _runs(text: str, at: int) -> bool:
    """Whether the markup in a data: URI holds a program, or what cannot be ruled out to be one.

    at: the end of the media type.
    """
    head, comma, written = text[at:].partition(",")
    if not comma:
        return False
    octets = unquote_to_bytes(written.encode("utf-8", "surrogatepass"))
    if re.search(r"(?i);\s*base64\s*\Z", head):
        try:
            octets = b64decode(octets + b"=" * (-len(octets.rstrip(b"=")) % 4))
        except ValueError:
            return True
    return _CHARSET.search(head) is not None or _RUNS.search(octets) is not None


# Ours: RFC 3986 7.5 and RFC 9110 17.9 name no parameters, RFC 6750 2.3 has access_token, RFC 6749 2.3.1 client_secret.
_SECRET = re.compile(
    r"(?i)(?<![^?#&;])(pass(?:word|wd|phrase)?|pwd|secret|api[_-]?key|(?:access|auth|id|private|refresh)[_-]?token"
    r"|client[_-]secret|x-amz-signature|x-goog-signature)=([^&;#]++)"
)


def parameters(cut: Cut) -> Iterator[Place]:
    """Parameters of the query and of the fragment (RFC 6749 4.2.2) whose names say that they are secret."""
    for span in (cut.query, cut.fragment):
        if span is not None and not cut.is_content and cut.scheme != "javascript":
            for match in _SECRET.finditer(cut.text, *span):
                yield Place("secret-parameter", *match.span(1), f'"{match[1]}"')


def veiled(text: str) -> str:
    """The text with "*" for each character of such parameters' values, for showing it; offsets hold."""
    return _SECRET.sub(lambda match: f"{match[1]}={'*' * len(match[2])}", text)


def length(cut: Cut) -> Iterator[Place]:
    """Texts that some will cut off; `data:` has its own limits (RFC 2397 4)."""
    if len(cut.text) > _LONG and not cut.is_content:
        yield Place("long", _LONG, len(cut.text), f"{len(cut.text):,}")
