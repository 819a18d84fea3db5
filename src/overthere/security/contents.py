"""Risky schemes and parameters: programs, content, files of other hosts, secrets (RFC 3986 7, 7.5)."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from overthere.ground.secret_parameters import secret_parameters
from overthere.security.parts import Place, TextParts

__all__ = ["contents", "length", "parameters"]


def _strip_as_browser(scheme: str) -> str:
    """A scheme as browsers see it (URL Standard 4.4): they take tabs and line ends out."""
    return r"[\t\n\r]*+".join(scheme)


# Browsers take controls and spaces off before the text begins.
_SCRIPT = re.compile(
    rf"(?i)[\x00-\x20]*+({_strip_as_browser('javascript')}|{_strip_as_browser('vbscript')})[\t\n\r]*+:"
)
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


def contents(cut: TextParts) -> Iterator[Place]:
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
    if (
        cut.facts is not None
        and cut.facts.host_of_files
        and not cut.text_of(cut.host)
        and cut.text_of(cut.path)[:2] == "//"
    ):
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


def parameters(cut: TextParts) -> Iterator[Place]:
    """Parameters of the query and of the fragment (RFC 6749 4.2.2) whose names say that they are secret."""
    if cut.is_content or cut.scheme == "javascript":
        return
    spans = [(*span, name) for span, name in ((cut.query, "query"), (cut.fragment, "fragment")) if span is not None]
    for one in secret_parameters(cut.text) if spans else ():
        for start, end, component in spans:
            if start <= one.start < end:
                it = f'"{cut.text[one.start : one.end]}"'
                yield Place("secret-parameter", one.start, one.end, it, component=component, rule=component)


def length(cut: TextParts) -> Iterator[Place]:
    """Texts that some will cut off; `data:` has its own limits (RFC 2397 4)."""
    if len(cut.text) > _LONG and not cut.is_content:
        yield Place("long", _LONG, len(cut.text), f"{len(cut.text):,}")
