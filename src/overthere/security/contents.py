"""Risky schemes and parameters: programs, content, files of other hosts, secrets (RFC 3986 7, 7.5)."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from overthere.ground.secret_parameters import secret_parameters
from overthere.security.parts import Place, TextParts


def _strip_as_browser(scheme: str) -> str:
    """Return a pattern for a scheme as browsers read it (URL Standard 4.4): they drop tabs and line ends."""
    return r"[\t\n\r]*+".join(scheme)


# Browsers drop controls and spaces before the text.
_SCRIPT = re.compile(
    rf"(?i)[\x00-\x20]*+({_strip_as_browser('javascript')}|{_strip_as_browser('vbscript')})[\t\n\r]*+:"
)
_DATA = re.compile(r"(?i)data:([^,;]*+)")
# Types of programs, and types whose content can hold a program that browsers run.
_SCRIPT_TYPES = re.compile(r"(?:text|application)/(?:x-)?(?:java|ecma|vb|live|j)script[0-9.]{0,4}")
_MARKUP_TYPES = re.compile(r"(?:text|application)/(?:x-)?(?:html|xml)|[a-z]{1,64}/[a-z0-9.+-]{0,127}\+xml|text/xsl")
# Markup that runs or loads a program, or hides one: event attributes, elements, other documents, animated references
# (SVG), style sheets that transform (XSLT), entities and character references, encodings that are not of US-ASCII.
_ACTIVE_MARKUP = re.compile(
    rb"<(?:[\w.-]*:)?(?:script|handler|listener|iframe|frame|embed|object|applet|foreignobject|base|meta|link|set|animate)"
    rb"|<!(?:entity|doctype[^>\[]{0,512}+\[)|xml-stylesheet|xsl:|&(?:#|colon|tab|newline)|[\s\"'/]on[a-z]++\s*+=|script\s*+:"
    rb"|srcdoc|formaction|encoding\s*+=\s*+[\"'](?!utf-8|us-ascii|iso-8859-)|[\x00-\x08]|^\xfe\xff|^\xff\xfe|\+ADw-",
    re.IGNORECASE,
)
_CHARSET = re.compile(r"(?i);\s*charset=\"?(?!utf-8|us-ascii|iso-8859-|windows-125)")
_MAX_SAFE_LENGTH = 8000
"""RFC 9110 4.1: the number of octets that everybody should support."""


def contents(parts: TextParts) -> Iterator[Place]:
    """Yield programs, content in the URI, and files of other hosts that are named in the path."""
    text = parts.text
    script = _SCRIPT.match(text, parts.start)
    if script is not None:
        yield Place("script", *script.span(1))
    data = _DATA.match(text, parts.start)
    if data is not None:
        kind = data[1].strip().lower()
        if _SCRIPT_TYPES.fullmatch(kind) or (_MARKUP_TYPES.fullmatch(kind) and _may_contain_script(text, data.end())):
            yield Place("data-script", *data.span(1))
        else:
            yield Place("data", parts.start, parts.start + 4)
    # RFC 8089 E.3.2: the name of a host of Windows after four or five slashes.
    if (
        parts.facts is not None
        and parts.facts.host_of_files
        and not parts.text_of(parts.host)
        and parts.text_of(parts.path)[:2] == "//"
    ):
        yield Place("file-host", *parts.path)


def _may_contain_script(text: str, offset: int) -> bool:
    """Whether the markup in a data: URI contains a script, or might.

    at: the end of the media type.
    """
    head, comma, encoded_content = text[offset:].partition(",")
    if not comma:
        return False
    content = unquote_to_bytes(encoded_content.encode("utf-8", "surrogatepass"))
    if re.search(r"(?i);\s*base64\s*\Z", head):
        try:
            content = b64decode(content + b"=" * (-len(content.rstrip(b"=")) % 4))
        except ValueError:
            return True
    return _CHARSET.search(head) is not None or _ACTIVE_MARKUP.search(content) is not None


def parameters(parts: TextParts) -> Iterator[Place]:
    """Yield parameters of the query and fragment (RFC 6749 4.2.2) whose names mark them as secret."""
    if parts.is_content or parts.scheme == "javascript":
        return
    spans = [(*span, name) for span, name in ((parts.query, "query"), (parts.fragment, "fragment")) if span is not None]
    for secret in secret_parameters(parts.text) if spans else ():
        for start, end, component in spans:
            if start <= secret.start < end:
                quoted = f'"{parts.text[secret.start : secret.end]}"'
                yield Place("secret-parameter", secret.start, secret.end, quoted, component=component, rule=component)


def length(parts: TextParts) -> Iterator[Place]:
    """Yield the end of a text that some software cuts off; `data:` has its own limits (RFC 2397 4)."""
    if len(parts.text) > _MAX_SAFE_LENGTH and not parts.is_content:
        yield Place("long", _MAX_SAFE_LENGTH, len(parts.text), f"{len(parts.text):,}")
