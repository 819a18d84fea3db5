"""The same functions for URI references only (RFC 3986 4.1): any other text is an error, and nothing is corrected.

Texts are read as `URIReference` reads them. References are resolved by the strict algorithm of 5.2.2, against a base
with a scheme. Components are written only if they are read back unchanged. Escapes are decoded only if they are
complete and are text in the encoding.

>>> from overthere.integrations.urllib.strict import urljoin, urlsplit
>>> urlsplit("http://h:8o/")
Traceback (most recent call last):
overthere.InvalidURI: a port cannot contain "o" (at 10, in the port; expected a digit; RFC 3986 3.2.3)
>>> urljoin("http://a/b", "http:c")
'http:c'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import DefragResult, DefragResultBytes, ParseResult, ParseResultBytes, SplitResult, SplitResultBytes

from overthere import kernel
from overthere.integrations import urllib as lenient
from overthere.integrations.urllib.coding import quote, quote_from_bytes, quote_plus, urlencode
from overthere.integrations.urllib.results import (
    DEFRAG,
    PARSE,
    SPLIT,
    by_name,
    decode_arguments,
    keeps_empty,
    result,
    same_type,
    split_params,
)
from overthere.values import encoding as component_text
from overthere.values.resolve import resolve_text
from overthere.values.uri import URIReference

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "DefragResult", "DefragResultBytes", "ParseResult", "ParseResultBytes", "SplitResult", "SplitResultBytes",
    "parse_qs", "parse_qsl", "quote", "quote_from_bytes", "quote_plus", "unquote", "unquote_plus", "unquote_to_bytes",
    "urldefrag", "urlencode", "urljoin", "urlparse", "urlsplit", "urlunparse", "urlunsplit",
]  # fmt: skip

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*")


def _reference(text: str, allow_fragments: bool = True) -> URIReference:
    """Return the value of a text.  Raises: InvalidURI; ValueError for a fragment that is not allowed."""
    value = URIReference(text)
    if not allow_fragments and value.fragment is not None:
        raise ValueError("a fragment is not allowed here, and no other component holds a '#' (RFC 3986 4.3)")
    return value


def _read(url: Any, scheme: Any, allow_fragments: bool) -> tuple[URIReference, str | None, bool]:
    """Return the value, its scheme in lower case, and whether it was octets."""
    (url, scheme), is_octets = decode_arguments(url, scheme)
    if scheme and not _SCHEME.fullmatch(scheme):
        raise ValueError(f"a scheme cannot be {scheme!r} (RFC 3986 3.1)")
    value = _reference(url, allow_fragments)
    return value, (value.scheme or scheme or "").lower() or None, is_octets


@same_type(lenient.urlsplit)
def urlsplit(url: Any, scheme: Any = "", allow_fragments: bool = True, *, missing_as_none: bool = False) -> Any:
    """Return scheme, authority, path, query and fragment of a URI reference (RFC 3986 4.1), in urllib's own classes.

    Raises: InvalidURI for any other text; ValueError for a fragment where `allow_fragments` is false, and for an
    invalid default scheme; TypeError for str mixed with bytes.

    >>> urlsplit("//h:80/?q", "https")
    SplitResult(scheme='https', netloc='h:80', path='/', query='q', fragment='')
    """
    value, url_scheme, is_octets = _read(url, scheme, allow_fragments)
    values = (url_scheme, value.authority, value.path, value.query, value.fragment)
    return result(SPLIT, values, is_octets, missing_as_none)


@same_type(lenient.urlparse)
def urlparse(url: Any, scheme: Any = "", allow_fragments: bool = True, *, missing_as_none: bool = False) -> Any:
    """Return the same with the parameters of the last segment (RFC 3986 3.3), of every scheme.

    >>> urlparse("coap://h/a;b").params
    'b'
    """
    value, url_scheme, is_octets = _read(url, scheme, allow_fragments)
    path, semicolon, params = split_params(value.path)
    values = (url_scheme, value.authority, path, params if semicolon else None, value.query, value.fragment)
    return result(PARSE, values, is_octets, missing_as_none)


@same_type(lenient.urlunsplit)
def urlunsplit(components: Iterable[Any], *, keep_empty: bool | None = None) -> Any:
    """Return the text of five components (RFC 3986 5.3), if it is read back unchanged.

    Raises: InvalidURI if the text is invalid; ValueError if it would be read as other components (3.3, 4.2).

    >>> urlunsplit(("http", "h", "/a", "b?c", ""))
    'http://h/a?b?c'
    >>> urlunsplit(("http", "h/x", "/a", "", ""))
    Traceback (most recent call last):
    ValueError: netloc and path would be read back as others (RFC 3986 3)
    """
    scheme, netloc, path, query, fragment = components
    is_text = type(scheme) is type(netloc) is type(path) is type(query) is type(fragment) is str
    if is_text and keep_empty is None and netloc and "#" not in query:
        text = f"{scheme}://{netloc}{path}?{query}" if query else f"{scheme}://{netloc}{path}"
        text = f"{text}#{fragment}" if fragment else text
        value = None if getattr(components, "_keep_empty", False) else kernel.parse(text)
        if value is not None and (value.scheme, value.authority, value.path) == (scheme, netloc, path):
            return text
    keep_empty = keeps_empty(components, keep_empty)
    texts, is_octets = decode_arguments(*components)
    text = lenient.urlunsplit(texts, keep_empty=keep_empty or None)
    reread = urlsplit(text, missing_as_none=keep_empty)
    expected = [part if keep_empty else part or "" for part in texts]
    expected[0], expected[2] = expected[0] and expected[0].lower(), expected[2] or ""
    if reread[2] == f"./{expected[2]}" and not reread[0]:
        reread = reread._replace(path=expected[2])  # 4.2: without "./" it would be a scheme
    if list(reread) != expected:
        parts = [name for name, new, old in zip(SplitResult._fields, reread, expected, strict=True) if new != old]
        raise ValueError(f"{' and '.join(parts)} would be read back as others (RFC 3986 3)")
    return text.encode("ascii") if is_octets else text


@same_type(lenient.urlunparse)
def urlunparse(components: Iterable[Any], *, keep_empty: bool | None = None) -> Any:
    """Return the text of six components, if it is read back unchanged; as `urlunsplit`.

    Raises: ValueError for parameters with a "/" or a second ";".
    """
    scheme, netloc, path, params, query, fragment = components
    if not params and not keep_empty and not getattr(components, "_keep_empty", False):
        return urlunsplit((scheme, netloc, path, query, fragment), keep_empty=keep_empty)
    keep_empty = keeps_empty(components, keep_empty)
    (scheme, netloc, path, params, query, fragment), is_octets = decode_arguments(*components)
    if params or (keep_empty and params is not None):
        path = f"{path or ''};{params}"
        if split_params(path)[2] != params:
            raise ValueError("params would be read back as others (RFC 3986 3.3)")
    text = urlunsplit((scheme, netloc, path, query, fragment), keep_empty=keep_empty)
    return text.encode("ascii") if is_octets else text


@same_type(lenient.urljoin)
def urljoin(base: Any, url: Any, allow_fragments: bool = True) -> Any:
    """Return the target of a reference (RFC 3986 5.2.2, strict).

    Raises: NoBase if the base has no scheme (5.1); InvalidURI if one of them is invalid.
    """
    (base_text, url_text), is_octets = decode_arguments(base, url)
    text = resolve_text(_reference(base_text, allow_fragments), _reference(url_text, allow_fragments))
    return text.encode("ascii") if is_octets else text


@same_type(lenient.urldefrag)
def urldefrag(url: Any, *, missing_as_none: bool = False) -> Any:
    """Return a URI reference without its fragment, and the fragment (RFC 3986 3.5).

    Raises: InvalidURI for any other text.
    """
    (text,), is_octets = decode_arguments(url)
    value = _reference(text)
    return result(DEFRAG, (text.partition("#")[0], value.fragment), is_octets, missing_as_none)


def unquote_to_bytes(string: str | bytes) -> bytes:
    """Return the octets of component text (RFC 3986 2.1).  Raises: CodingError for a broken escape.

    >>> unquote_to_bytes("a%20b")
    b'a b'
    """
    return component_text.decode_bytes(string)


def unquote(string: str | bytes, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Return the characters of component text (RFC 3986 2.1, 2.5).

    Raises: CodingError for a broken escape, and octets that are not in the encoding.
    """
    return component_text.decode(string, charset=encoding, errors=errors)


def unquote_plus(string: str, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Return the same for a form (application/x-www-form-urlencoded): "+" is a space."""
    return unquote(string.replace("+", " "), encoding, errors)


def parse_qsl(
    qs: Any,
    keep_blank_values: bool = False,
    strict_parsing: bool = False,
    encoding: str = "utf-8",
    errors: str = "strict",
    max_num_fields: int | None = None,
    separator: str = "&",
) -> Any:
    """Return the pairs of a query, as urllib does.

    Raises: CodingError for a broken escape; ValueError for octets that are not in the encoding.

    >>> parse_qsl("a=%zz")
    Traceback (most recent call last):
    overthere.CodingError: two hexadecimal digits must follow the "%" at 2 (RFC 3986 2.1)
    """
    if errors == "strict" and encoding == "utf-8" and isinstance(qs, str):
        component_text.decode(qs)
        errors = "replace"  # never applies: if the whole is UTF-8, each part is
    else:
        octets = component_text.decode_bytes(qs)
        if not isinstance(qs, str):  # of octets urllib makes octets from Python 3.12 on
            octets.decode(encoding, errors)
    return lenient.parse_qsl(qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator)


@same_type(lenient.parse_qs)
def parse_qs(
    qs: Any,
    keep_blank_values: bool = False,
    strict_parsing: bool = False,
    encoding: str = "utf-8",
    errors: str = "strict",
    max_num_fields: int | None = None,
    separator: str = "&",
) -> Any:
    """Return the values of each name in a query.  Raises: as `parse_qsl`."""
    return by_name(parse_qsl(qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator))


def __getattr__(name: str) -> Any:
    """Return a name that urllib.parse has beyond its `__all__`: `uses_netloc`, `unwrap` and others."""
    return getattr(lenient, name)
