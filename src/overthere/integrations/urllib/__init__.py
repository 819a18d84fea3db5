"""Drop-in for urllib.parse: the names of `urllib.parse`, by RFC 3986; only the import changes.

It reads as urllib does wherever RFC 3986 leaves room, and follows the RFC where urllib does not: 5.2 resolves
references of every scheme, brackets hold an IP-literal (3.2.2), and a control character or a backslash in an authority,
where two readers would see two hosts, is an error.
`overthere.integrations.urllib.strict` accepts only valid URI references.

>>> from overthere.integrations.urllib import urljoin, urlsplit
>>> urljoin("coap://h/a/b?q", "c//d"), urlsplit("http://h/?", missing_as_none=True).query
('coap://h/a/c//d', '')
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, overload
from urllib import parse
from urllib.parse import DefragResult, DefragResultBytes, ParseResult, ParseResultBytes, SplitResult, SplitResultBytes

from overthere import kernel
from overthere.ground.unicode_forms import normalize_unicode
from overthere.integrations.urllib.coding import (
    parse_qs,
    parse_qsl,
    quote,
    quote_from_bytes,
    quote_plus,
    unquote,
    unquote_plus,
    unquote_to_bytes,
    urlencode,
)
from overthere.integrations.urllib.results import (
    DEFRAG,
    PARSE,
    SPLIT,
    compose,
    decode_arguments,
    keeps_empty,
    result,
    same_type,
    split_params,
)
from overthere.kernel.reference import Parts, guard_path, ip_literal, recompose, transform_references

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "DefragResult", "DefragResultBytes", "ParseResult", "ParseResultBytes", "SplitResult", "SplitResultBytes",
    "parse_qs", "parse_qsl", "quote", "quote_from_bytes", "quote_plus", "unquote", "unquote_plus", "unquote_to_bytes",
    "urldefrag", "urlencode", "urljoin", "urlparse", "urlsplit", "urlunparse", "urlunsplit",
]  # fmt: skip

# Appendix B with the scheme of 3.1, and without a fragment.
_PARTS = re.compile(r"(?s)(?:([A-Za-z][A-Za-z0-9+.\-]*+):)?+(?://([^/?#]*+))?+([^?#]*+)(?:\?([^#]*+))?+(?:#(.*+))?+")
_NO_FRAGMENT = re.compile(r"(?s)(?:([A-Za-z][A-Za-z0-9+.\-]*+):)?+(?://([^/?#]*+))?+([^?]*+)(?:\?(.*+))?+()??")
# The same for a text that has nothing to strip, to remove or to check.
_PLAIN = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.\-]*+):)?+(?://([A-Za-z0-9\-._~!$&'()*+,;=:@%]*+)(?![^/?#])|(?!//))"
    r"([^?#\x00-\x20]*+)(?:\?([^#\x00-\x20]*+))?+(?:#([^\x00-\x20]*+))?+"
).fullmatch
_STRIP_CHARACTERS = "".join(map(chr, range(0x21)))
_REMOVE_BREAKS = str.maketrans("", "", "\t\r\n")
# Controls and white space: urllib.request strips them from a URL with `str.strip`, and so from the end of an authority.
_AMBIGUOUS = re.compile(
    r"[\x00-\x1f\x7f-\xa0\\\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]|(?:^|@)[^:@]* \Z|[^0-9] \Z"
)
_BRACKETED = re.compile(r"(?s)(?:[^\[\]]*@)?\[([^\[\]@%]*)(?:%[^\[\]@%]+)?\](?::[^\[\]@]*)?")
_make = tuple.__new__


def _check_netloc(netloc: str) -> None:
    """Raise ValueError for an authority in which two readers see two hosts."""
    if bad_match := _AMBIGUOUS.search(netloc):
        raise ValueError(f"an authority cannot contain {bad_match[0]!r} (RFC 3986 3.2)")
    if "[" in netloc or "]" in netloc:
        host = _BRACKETED.fullmatch(netloc)
        if host is None or not ip_literal().fullmatch(f"[{host[1]}]"):
            raise ValueError("brackets in an authority hold an IP-literal, which is the host (RFC 3986 3.2.2)")
    if not netloc.isascii():
        # IDNA normalises a name to NFKC, which turns letters such as U+2100 into a delimiter.
        without_delimiters = re.sub("[@:#?]", "", netloc)
        normalized = normalize_unicode("NFKC", without_delimiters)
        if normalized != without_delimiters and (bad_match := re.search(r"[/?#@:\\]", normalized)):
            raise ValueError(f"under NFKC an authority contains {bad_match[0]!r} (RFC 3987 3.1)")


def _components(url: str, allow_fragments: bool) -> Parts:
    """Return the components of any text, the scheme in lower case; None is undefined.

    Raises: ValueError for an authority with two readings.
    """
    match = _PLAIN(url) if allow_fragments else None
    if match is None:
        url = url.lstrip(_STRIP_CHARACTERS).translate(_REMOVE_BREAKS)
        match = (_PARTS if allow_fragments else _NO_FRAGMENT).fullmatch(url)
        assert match is not None  # the expressions match everything
        if match[2]:
            _check_netloc(match[2])
    scheme, netloc, path, query, fragment = match.groups()
    return Parts(scheme and scheme.lower(), netloc, path, query, fragment)


def _default_scheme(scheme: str) -> str:
    return scheme.strip(_STRIP_CHARACTERS).translate(_REMOVE_BREAKS) if scheme else ""


@overload
def urlsplit(
    url: str, scheme: str = "", allow_fragments: bool = True, *, missing_as_none: Literal[False] = False
) -> SplitResult: ...
@overload
def urlsplit(
    url: bytes | bytearray,
    scheme: bytes | bytearray | Literal[""] = "",
    allow_fragments: bool = True,
    *,
    missing_as_none: Literal[False] = False,
) -> SplitResultBytes: ...
@overload
def urlsplit(url: Any, scheme: Any = "", allow_fragments: bool = True, *, missing_as_none: bool) -> Any: ...
def urlsplit(url: Any, scheme: Any = "", allow_fragments: bool = True, *, missing_as_none: bool = False) -> Any:
    """Return scheme, authority, path, query and fragment (RFC 3986 3), in urllib's own classes.

    scheme: the default for a text without one.
    missing_as_none: undefined components are None instead of "", as in CPython 3.15.
    Raises: ValueError for an authority in which two readers see two hosts (3.2); TypeError for str mixed with bytes.

    >>> urlsplit("HTTP://[::1]:80/a?b")
    SplitResult(scheme='http', netloc='[::1]:80', path='/a', query='b', fragment='')
    >>> urlsplit("http://good.example\\\\@evil.example/")
    Traceback (most recent call last):
    ValueError: an authority cannot contain '\\\\' (RFC 3986 3.2)
    """
    if type(url) is str and scheme == "" and allow_fragments and not missing_as_none and (match := _PLAIN(url)):
        url_scheme, netloc, path, query, fragment = match.groups("")
        return _make(SplitResult, (url_scheme.lower(), netloc, path, query, fragment))
    (url, scheme), is_octets = decode_arguments(url, scheme)
    parts = _components(url or "", allow_fragments)
    if parts.scheme is None and (scheme := _default_scheme(scheme)):
        parts = parts._replace(scheme=scheme)
    return result(SPLIT, parts, is_octets, missing_as_none)


@overload
def urlparse(
    url: str, scheme: str = "", allow_fragments: bool = True, *, missing_as_none: Literal[False] = False
) -> ParseResult: ...
@overload
def urlparse(
    url: bytes | bytearray,
    scheme: bytes | bytearray | Literal[""] = "",
    allow_fragments: bool = True,
    *,
    missing_as_none: Literal[False] = False,
) -> ParseResultBytes: ...
@overload
def urlparse(url: Any, scheme: Any = "", allow_fragments: bool = True, *, missing_as_none: bool) -> Any: ...
def urlparse(url: Any, scheme: Any = "", allow_fragments: bool = True, *, missing_as_none: bool = False) -> Any:
    """Return the same with the parameters of the last segment (RFC 3986 3.3), for the schemes of `uses_params`.

    >>> urlparse("http://h/a;b/c;d?e").params
    'd'
    """
    if type(url) is str and scheme == "" and allow_fragments and not missing_as_none and (match := _PLAIN(url)):
        name, netloc, path, query, fragment = match.groups("")
        name, params = name.lower(), ""
        if ";" in path and name in parse.uses_params:
            path, _, params = split_params(path)
        return _make(ParseResult, (name, netloc, path, params, query, fragment))
    (url, scheme), is_octets = decode_arguments(url, scheme)
    parts = _components(url or "", allow_fragments)
    name = _default_scheme(scheme) if parts.scheme is None else parts.scheme
    path, semicolon, params = split_params(parts.path) if (name or "") in parse.uses_params else (parts.path, "", "")
    values = (name, parts.authority, path, params if semicolon else None, parts.query, parts.fragment)
    return result(PARSE, values, is_octets, missing_as_none)


@overload
def urlunsplit(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    components: Iterable[str | None], *, keep_empty: bool | None = None
) -> str: ...
@overload
def urlunsplit(components: Iterable[bytes | None], *, keep_empty: bool | None = None) -> bytes: ...
def urlunsplit(components: Iterable[Any], *, keep_empty: bool | None = None) -> Any:
    """Return the text of five components (RFC 3986 5.3).

    components: those of `urlsplit`, or five others.
    keep_empty: whether a component that is "" is written with its delimiter, and only None without, as in CPython 3.15.
    Default: yes for a result with `missing_as_none`.

    Raises: ValueError to keep empty components of a result without `missing_as_none`; TypeError for str mixed with
    bytes.

    >>> urlunsplit(("http", "h", "/", "", None), keep_empty=True), urlunsplit(("", "", "a:b", "", ""))
    ('http://h/?', './a:b')
    """
    scheme, netloc, path, query, fragment = components
    is_text = type(scheme) is type(netloc) is type(path) is type(query) is type(fragment) is str
    if is_text and keep_empty is None and not getattr(components, "_keep_empty", False):
        if scheme and netloc and path[:1] in "/":  # the common case
            text = f"{scheme}://{netloc}{path}?{query}" if query else f"{scheme}://{netloc}{path}"
            return f"{text}#{fragment}" if fragment else text
        return _unsplit(scheme, netloc, path, query, fragment, False)
    keep_empty = keeps_empty(components, keep_empty)
    (scheme, netloc, path, query, fragment), is_octets = decode_arguments(scheme, netloc, path, query, fragment)
    text = _unsplit(scheme, netloc, path, query, fragment, keep_empty)
    return text.encode("ascii") if is_octets else text


def _unsplit(
    scheme: str | None, netloc: str | None, path: str | None, query: str | None, fragment: str | None, keep_empty: bool
) -> str:
    """Compose components as urllib's users write them: "" is undefined without `keep_empty`."""
    path = path or ""
    if not keep_empty:
        if not netloc:
            # The authority of file:///a is empty.
            netloc = "" if scheme and path[:2] != "//" and path[:1] in "/" and scheme in parse.uses_netloc else None
        query, fragment = query or None, fragment or None
    return compose(scheme, netloc, path, query, fragment)


@same_type(urlunsplit)
def urlunparse(components: Iterable[Any], *, keep_empty: bool | None = None) -> Any:
    """Return the text of six components; as `urlunsplit`.

    >>> urlunparse(("http", "h", "/a", "b", "", ""))
    'http://h/a;b'
    """
    scheme, netloc, path, params, query, fragment = components
    if keep_empty is None and type(path) is type(params) is str and not getattr(components, "_keep_empty", False):
        return urlunsplit((scheme, netloc, f"{path};{params}" if params else path, query, fragment))
    keep_empty = keeps_empty(components, keep_empty)
    (scheme, netloc, path, params, query, fragment), is_octets = decode_arguments(*components)
    if params or (keep_empty and params is not None):
        path = f"{path or ''};{params}"
    text = _unsplit(scheme, netloc, path, query, fragment, keep_empty)
    return text.encode("ascii") if is_octets else text


@same_type(parse.urljoin)
def urljoin(base: Any, url: Any, allow_fragments: bool = True) -> Any:
    """Return the target of a reference (RFC 3986 5.2), for every scheme; the base's own scheme is ignored (5.2.2).

    base: an empty one leaves the reference unchanged.

    Raises: ValueError for an authority in which two readers see two hosts (3.2); TypeError for str mixed with bytes.

    >>> urljoin("http://a/b/c/d;p?q", "../../../g#s"), urljoin("foo://a/b", "c"), urljoin("http://a/b#f", "")
    ('http://a/g#s', 'foo://a/c', 'http://a/b')
    """
    if not base:
        return url
    if type(base) is type(url) is str and allow_fragments:
        first, second = kernel.parse(base), kernel.parse(url)
        # The fast path of values keeps the case of a scheme.
        if first is not None and second is not None and f"{first.scheme}{second.scheme or ''}".islower():
            return kernel.resolve(first, second, False)
    (parent, ref), is_octets = decode_arguments(base, url)
    target = transform_references(_components(parent, allow_fragments), _components(ref or "", allow_fragments), False)
    text = recompose(guard_path(target))
    return text.encode("ascii") if is_octets else text


@overload
def urldefrag(url: str, *, missing_as_none: Literal[False] = False) -> DefragResult: ...
@overload
def urldefrag(url: bytes | bytearray | None, *, missing_as_none: Literal[False] = False) -> DefragResultBytes: ...
@overload
def urldefrag(url: Any, *, missing_as_none: bool) -> Any: ...
def urldefrag(url: Any, *, missing_as_none: bool = False) -> Any:
    """Return the text up to its "#", octet for octet, and its fragment (RFC 3986 3.5).

    >>> urldefrag("http://h/a?#b")
    DefragResult(url='http://h/a?', fragment='b')
    """
    if type(url) is str and not missing_as_none:
        text, _, fragment = url.partition("#")
        return _make(DefragResult, (text, fragment))
    (url,), is_octets = decode_arguments(url)
    text, mark, fragment = (url or "").partition("#")
    return result(DEFRAG, (text, fragment if mark else None), is_octets, missing_as_none)


def __getattr__(name: str) -> Any:
    """Return a name that urllib.parse has beyond its `__all__`: `uses_netloc`, `unwrap` and others."""
    return getattr(parse, name)
