"""Expands the expressions of a URI Template (RFC 6570 3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from overthere.ground.errors import CodingError
from overthere.ground.exact import exact
from overthere.kernel import Components, percent_encode
from overthere.kernel.classes import CHARSETS
from overthere.values.form_pairs import SINGLE, number_text, plain_value

Simple: TypeAlias = str | bytes


class Behaviour(NamedTuple):
    """The behaviour of an operator: a column of the table in Appendix A."""

    first: str
    sep: str
    named: bool
    ifemp: str
    reserved: bool
    """Whether reserved characters and escapes of a value stay."""


OPERATORS = {
    "": Behaviour("", ",", False, "", False),
    "+": Behaviour("", ",", False, "", True),
    "#": Behaviour("#", ",", False, "", True),
    ".": Behaviour(".", ".", False, "", False),
    "/": Behaviour("/", "/", False, "", False),
    ";": Behaviour(";", ";", True, "", False),
    "?": Behaviour("?", "&", True, "=", False),
    "&": Behaviour("&", "&", True, "=", False),
}


class Variable(NamedTuple):
    """A variable specifier (2.3) with its place in the template."""

    name: str
    operator: str
    """One of `+ # . / ; ? &`, or "" for simple expansion."""
    prefix: int | None
    """The modifier `:n`: the number of characters of the value that are used (2.4.1)."""
    explode: bool
    """The modifier `*` (2.4.2)."""
    start: int
    end: int

    def __str__(self) -> str:
        return self.name + (f":{self.prefix}" if self.prefix else "*" if self.explode else "")


class Expression(NamedTuple):
    """The expression in a pair of braces (2.2), with its place."""

    operator: str
    variables: tuple[Variable, ...]
    start: int
    end: int

    def __str__(self) -> str:
        return f"{{{self.operator}{','.join(map(str, self.variables))}}}"


class NoPrefix(Exception):
    """A prefix is required of a value that has no characters to count (2.4.1)."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable


_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_UNRESERVED = "".join(sorted(CHARSETS["unreserved"]))
_RESERVED = _UNRESERVED + ":/?#[]@!$&'()*+,;="
# A character of a value whose escapes stay: the triplets of its octets are one unit (2.4.1 forbids splitting it).
_CHARACTER = re.compile("(?s)%[C-Fc-f][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){1,3}|%[0-9A-Fa-f]{2}|.")


def form_value(name: str, value: object) -> list[Simple] | tuple[tuple[Simple, Simple], ...] | Simple | None:
    """Return a value for expansion: text or octets, a list of these, pairs as a tuple; None is undefined (2.3).

    Raises: TypeError, CodingError.
    """
    value = plain_value(value)
    if value is None or isinstance(value, str | bytes | int | float | Components):
        return _simple(name, value)
    if isinstance(value, Mapping):
        pairs: list[tuple[object, object]] = list(value.items())
    elif isinstance(value, Iterable) and not isinstance(value, SINGLE | set | frozenset):
        members = list(value)
        if not members or not all(isinstance(member, tuple) and len(member) == 2 for member in members):
            texts = [_simple(name, member) for member in members]
            return [member for member in texts if member is not None] or None
        pairs = members
    else:
        raise TypeError(f"{name!r} has no value that a template can expand: {type(value).__name__}")
    simple_pairs = [(_simple(name, key), _simple(name, member)) for key, member in pairs]
    return tuple((key, member) for key, member in simple_pairs if key is not None and member is not None) or None


def _simple(name: str, raw_value: object) -> Simple | None:
    value = plain_value(raw_value)
    if value is None or type(value) in (str, bytes):
        return value  # type: ignore[return-value]
    if isinstance(value, str):
        return exact(value, name)
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value, f"the variable {name!r}")
    raise TypeError(
        f"a value of {name!r} must be text, bytes, a number, bool, a URI, UUID, date, path or Enum, "
        f"not {type(value).__name__}"
    )


def literal(text: str) -> str:
    """Return literals for the result (3.1): characters that a URI does not allow become escapes."""
    return text if text.isascii() else "".join(c if c.isascii() else _escape(c, _UNRESERVED) for c in text)


def _escape(value: Simple, safe: str) -> str:
    if isinstance(value, str):
        try:
            value = value.encode()
        except UnicodeEncodeError as error:
            code_point = f"U+{ord(error.object[error.start]):04X}"
            raise CodingError(
                f"{code_point} at {error.start} of a value cannot be encoded in UTF-8 (RFC 6570 3.2.1)"
            ) from None
    return percent_encode(value, safe)


def _encode_value(value: Simple, reserved: bool) -> str:
    if not reserved:
        return _escape(value, _UNRESERVED)
    if isinstance(value, bytes):
        # Octets are data, whatever they look like; a "%" stays only in an escape.
        parts = re.split(b"(%[0-9A-Fa-f]{2})", value)
        return "".join(p.decode() if i % 2 else _escape(p, _RESERVED) for i, p in enumerate(parts))
    offset, pieces = 0, list[str]()
    for escape in _ESCAPE.finditer(value):
        pieces += (_escape(value[offset : escape.start()], _RESERVED), escape[0])
        offset = escape.end()
    return "".join(pieces) + _escape(value[offset:], _RESERVED)


def _truncate_value(variable: Variable, value: Simple, reserved: bool) -> Simple:
    if variable.prefix is None:
        return value
    if isinstance(value, bytes):
        raise NoPrefix(variable)
    if not reserved:
        return value[: variable.prefix]
    # Each character has four triplets at most.
    head = value[: 12 * variable.prefix]
    return "".join(_CHARACTER.findall(head)[: variable.prefix])


def expand(expression: Expression, values: Mapping[str, object], begun: bool = False) -> str:
    """Return the text of an expression (3.2.1, Appendix A); values as `form_value` returns them.

    begun: whether a value of a form-style query precedes it.  Raises: NoPrefix, CodingError.
    """
    behaviour = OPERATORS[expression.operator]
    texts = list[str]()
    for variable in expression.variables:
        value = values.get(variable.name)
        if value is not None:
            texts.append(_expand_variable(variable, value, behaviour))
    if not texts:
        return ""
    return (behaviour.sep if begun else behaviour.first) + behaviour.sep.join(texts)


def _expand_variable(variable: Variable, value: object, behaviour: Behaviour) -> str:
    def name_value(text: str) -> str:
        return f"{variable.name}={text}" if text else variable.name + behaviour.ifemp

    def pair(key: Simple, member: Simple) -> str:
        # 3.2.1: "name" alone for an empty value, unless the type is form-style.
        name, text = _encode_value(key, behaviour.reserved), _encode_value(member, behaviour.reserved)
        return f"{name}={text}" if text or behaviour.ifemp else name

    if isinstance(value, str | bytes):
        text = _encode_value(_truncate_value(variable, value, behaviour.reserved), behaviour.reserved)
        return name_value(text) if behaviour.named else text
    if variable.prefix is not None:
        raise NoPrefix(variable)
    assert isinstance(value, list | tuple)
    if variable.explode:
        if isinstance(value, tuple):
            return behaviour.sep.join(pair(key, member) for key, member in value)
        texts = [_encode_value(member, behaviour.reserved) for member in value]
        return behaviour.sep.join(map(name_value, texts) if behaviour.named else texts)
    flat = [part for pair_ in value for part in pair_] if isinstance(value, tuple) else value
    text = ",".join(_encode_value(part, behaviour.reserved) for part in flat)
    return name_value(text) if behaviour.named else text
