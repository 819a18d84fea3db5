"""Quoting as in urllib, by the native kernel (RFC 3986 2.1): faster, with the same answers; rare calls go to urllib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib import parse

from overthere import kernel
from overthere.integrations.urllib.results import by_name, same_type
from overthere.kernel import percent_decode, percent_encode
from overthere.kernel.classes import CHARSETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Quote = Callable[..., str]

__all__ = [
    "parse_qs", "parse_qsl", "quote", "quote_from_bytes", "quote_plus", "unquote", "unquote_plus", "unquote_to_bytes",
    "urlencode",
]  # fmt: skip

_UNRESERVED = "".join(CHARSETS["unreserved"])
_SAFE = {"": _UNRESERVED, "/": _UNRESERVED + "/", " ": _UNRESERVED + " "}
_FORM = _SAFE[" "]


def quote(
    string: str | bytes | bytearray,
    safe: str | Iterable[int] = "/",
    encoding: str | None = None,
    errors: str | None = None,
) -> str:
    """Return text or octets with every octet as `%HH` that is neither unreserved (RFC 3986 2.3) nor in `safe`.

    Raises: UnicodeEncodeError for text that `encoding` (UTF-8) cannot encode; TypeError for octets with an encoding.

    >>> quote("a b/é~"), quote("a&b", safe="&")
    ('a%20b/%C3%A9~', 'a&b')
    """
    if type(string) is str and encoding is None and errors is None and isinstance(safe, str):
        return percent_encode(string.encode(), _SAFE.get(safe) or _safe(safe))
    return parse.quote(string, safe, encoding, errors)  # type: ignore[arg-type]


def _safe(safe: str) -> str:
    return _UNRESERVED + (safe if safe.isascii() else safe.encode("ascii", "ignore").decode())


def quote_plus(
    string: str | bytes | bytearray,
    safe: str | Iterable[int] = "",
    encoding: str | None = None,
    errors: str | None = None,
) -> str:
    """Return the same for a form (application/x-www-form-urlencoded): a space is "+".

    >>> quote_plus("a b+c")
    'a+b%2Bc'
    """
    if type(string) is str and encoding is None and errors is None and isinstance(safe, str):
        if " " not in string:
            return percent_encode(string.encode(), _SAFE.get(safe) or _safe(safe))
        return percent_encode(string.encode(), _SAFE.get(safe + " ") or _safe(safe + " ")).replace(" ", "+")
    return parse.quote_plus(string, safe, encoding, errors)  # type: ignore[arg-type]


def quote_from_bytes(bs: bytes | bytearray, safe: str | Iterable[int] = "/") -> str:
    """Return `quote` of octets.

    >>> quote_from_bytes(b"a b\\xff")
    'a%20b%FF'
    """
    if type(bs) is bytes and isinstance(safe, str):
        return percent_encode(bs, _SAFE.get(safe) or _safe(safe))
    return parse.quote_from_bytes(bs, safe)


def urlencode(
    query: Mapping[Any, Any] | Sequence[tuple[Any, Any]],
    doseq: bool = False,
    safe: str | bytes = "",
    encoding: str | None = None,
    errors: str | None = None,
    quote_via: Quote = quote_plus,
) -> str:
    """Return the query of a mapping or of pairs, as urllib does; `doseq`: a sequence as value gives a pair per item.

    Raises: TypeError for other things; UnicodeEncodeError for text that `encoding` (UTF-8) cannot encode.

    >>> urlencode({"q": "a b", "n": 1}), urlencode({"a": [1, 2]}, doseq=True)
    ('q=a+b&n=1', 'a=1&a=2')
    """
    pairs = query.items() if type(query) is dict else query if type(query) is list else None
    if pairs is None or doseq or safe != "" or encoding or errors or quote_via is not quote_plus:
        return parse.urlencode(query, doseq, safe, encoding, errors, quote_via)
    if pairs is query and query and not isinstance(query[0], tuple):
        raise TypeError("not a valid non-string sequence or mapping object")
    return "&".join([f"{_form_text(name)}={_form_text(value)}" for name, value in pairs])


def _form_text(value: Any) -> str:
    octets = value if isinstance(value, bytes) else str(value).encode()
    text = percent_encode(octets, _FORM)
    return text.replace(" ", "+") if " " in text else text


def unquote(string: str | bytes, encoding: str | None = "utf-8", errors: str | None = "replace") -> str:
    """Return the text with its escapes decoded (RFC 3986 2.1); a "%" that does not begin an escape is kept.

    >>> unquote("a%20b%C3%A9%"), unquote("%E9", "latin-1")
    ('a bé%', 'é')
    """
    if type(string) is str and encoding == "utf-8" and errors == "replace":
        text = kernel.unquote(string, False)
        if text is not None:
            return text
    return parse.unquote(string, encoding, errors)  # type: ignore[arg-type]


def unquote_plus(string: str, encoding: str | None = "utf-8", errors: str | None = "replace") -> str:
    """Return the same for a form (application/x-www-form-urlencoded): "+" is a space.

    >>> unquote_plus("a+b%2B")
    'a b+'
    """
    if type(string) is str and encoding == "utf-8" and errors == "replace":
        text = kernel.unquote(string, True)
        if text is not None:
            return text
    return parse.unquote_plus(string, encoding, errors)  # type: ignore[arg-type]


def unquote_to_bytes(string: str | bytes | bytearray) -> bytes:
    """Return the octets of a text with escapes.

    >>> unquote_to_bytes("a%20b%ff")
    b'a b\xff'
    """
    if type(string) is str and string:
        try:
            return percent_decode(string.encode())
        except ValueError:  # a broken escape, which is kept, or a lone surrogate
            pass
    return parse.unquote_to_bytes(string)


@same_type(parse.parse_qsl)
def parse_qsl(
    qs: Any,
    keep_blank_values: bool = False,
    strict_parsing: bool = False,
    encoding: str = "utf-8",
    errors: str = "replace",
    max_num_fields: int | None = None,
    separator: str = "&",
) -> Any:
    """Return the pairs of a query, as urllib reads them.

    >>> parse_qsl("a=b+c&d=%26&e=&f")
    [('a', 'b c'), ('d', '&')]
    """
    has_defaults = encoding == "utf-8" and errors == "replace" and max_num_fields is None and separator == "&"
    if has_defaults and type(qs) is str and not strict_parsing:
        pairs = kernel.unquote_pairs(qs, bool(keep_blank_values))
        if pairs is not None:
            return pairs
    return parse.parse_qsl(qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator)


@same_type(parse.parse_qs)
def parse_qs(
    qs: Any,
    keep_blank_values: bool = False,
    strict_parsing: bool = False,
    encoding: str = "utf-8",
    errors: str = "replace",
    max_num_fields: int | None = None,
    separator: str = "&",
) -> Any:
    """Return the values of each name in a query.

    >>> parse_qs("a=1&b=2&a=3")
    {'a': ['1', '3'], 'b': ['2']}
    """
    return by_name(parse_qsl(qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator))


if kernel.name == "reference":  # not faster than urllib, whose answers are the same
    globals().update({name: getattr(parse, name) for name in __all__})
