"""URI Templates (RFC 6570), all four levels: full and partial expansion, and matching."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from overthere import kernel
from overthere.ground.display import name_of, printable
from overthere.ground.errors import KINDS, Finding, InvalidTemplate
from overthere.ground.exact import exact
from overthere.ground.figure import shorten
from overthere.ground.redact import mask
from overthere.values.template.expand import Expression, NoPrefix, Variable, expand, form_value, literal

if TYPE_CHECKING:
    from overthere.kernel import Components

__all__ = ["Template"]

# The grammar, `editions/rfc6570.abnf`, as one expression; `tests/values/test_template.py` checks that they are equal.
_NAME = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*+"
_VARIABLE = rf"{_NAME}(?::[1-9][0-9]{{0,3}}|\*)?"
_EXPRESSION = rf"\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*+\}}"
_PLANES = "".join(f"{chr(p << 16)}-{chr((p << 16) + 0xFFFD)}" for p in range(1, 14))
_LITERAL = (
    r"(?:[!#$&-;=?-\[\]_a-z~\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\uffef"
    rf"{_PLANES}\U000e1000-\U000efffd\U000f0000-\U000ffffd\U00100000-\U0010fffd]|%[0-9A-Fa-f]{{2}})"
)
_PART = re.compile(f"({_LITERAL}++)|{_EXPRESSION}")
_VARIABLES = re.compile(rf"({_NAME})(?::([0-9]+)|(\*))?")
_RESERVED_OPERATORS = "=,!@|"


def _parts(text: str) -> list[str | Expression] | None:
    """Return literals and expressions in order; None for a text that the grammar rejects."""
    parts = list[str | Expression]()
    offset = 0
    while offset < len(text):
        part = _PART.match(text, offset)
        if part is None:
            return None
        parts.append(part[0] if part[1] is not None else _expression(part))
        offset = part.end()
    return parts


def _expression(part: re.Match[str]) -> Expression:
    operator = part[0][1] if part[0][1] in "+#./;?&=,!@|" else ""
    variables_span = part.string, part.start() + 1 + len(operator), part.end() - 1
    variables = tuple(
        Variable(v[1], operator, int(v[2]) if v[2] else None, v[3] is not None, *v.span())
        for v in _VARIABLES.finditer(*variables_span)
    )
    return Expression(operator, variables, *part.span())


class Template:
    """A URI Template (RFC 6570): immutable, equal and hashed by its text and by the values that `partial` holds.

    Raises: InvalidTemplate with the place and the rule; TypeError if it is not text.

    >>> t = Template("http://h/{+path}{?q*}")
    >>> t.expand(path="a/b", q={"x": 1, "y": "é"})
    'http://h/a/b?x=1&y=%C3%A9'
    >>> t.match("http://h/a/b?x=1&y=%C3%A9")
    {'path': 'a/b', 'q': [('x', '1'), ('y', 'é')]}
    """

    __slots__ = ("_bound", "_parts", "_text")
    _text: str
    _parts: tuple[str | Expression, ...]
    _bound: dict[str, Any]

    def __new__(cls, text: str) -> Template:
        return cls._make(exact(text, "Template()"), {})

    @classmethod
    def _make(cls, text: str, bound: dict[str, Any]) -> Template:
        parts = _parts(text)
        if parts is None:
            raise InvalidTemplate(text, _finding(text))
        self = object.__new__(cls)
        for part in parts:
            if isinstance(part, Expression) and part.operator and part.operator in _RESERVED_OPERATORS:
                at = part.start + 1
                raise InvalidTemplate(text, _make_finding("template-operator", at, at + 1, name_of(part.operator)))
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "_parts", tuple(parts))
        object.__setattr__(self, "_bound", bound)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Template is immutable: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Template is immutable: {name!r} cannot be deleted")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        held_names = f", holding {', '.join(self._bound)}" if self._bound else ""
        return f"Template({mask(self._text)!r}{held_names})"

    def _key(self) -> tuple[object, ...]:
        return self._text, sorted((name, repr(value)) for name, value in self._bound.items())

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Template) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> object:
        from overthere.values.pydantic_schema import schema

        return schema(cls)

    def __reduce__(self) -> tuple[object, ...]:
        return Template._make, (self._text, self._bound)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Each variable specifier in order: name, operator, modifiers and place (2.2 to 2.4).

        >>> [(v.name, v.operator, v.prefix, v.explode) for v in Template("{/x:3}{?q*}").variables]
        [('x', '/', 3, False), ('q', '?', None, True)]
        """
        return tuple(v for part in self._parts if isinstance(part, Expression) for v in part.variables)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables without a value, each once, in order."""
        return tuple(dict.fromkeys(v.name for v in self.variables if v.name not in self._bound))

    @property
    def held(self) -> tuple[str, ...]:
        """The names of the variables that `partial` received and could not write yet."""
        return tuple(self._bound)

    def expand(self, values: Mapping[str, object] | None = None, /, *, strict: object = False, **more: object) -> str:
        """Return the result string (3): a URI-reference if the template is made for one.

        Values are str; bytes (its octets); int and float as Python writes them; bool as true and false; values of this
        package as their text; or lists, pairs and mappings of these.  None, a missing name and an empty list are
        undefined (2.3).  Names that are not in the template are ignored (2.3).

        strict: whether missing variables, and names that are not in the template, are errors; None is not missing.  A
        variable that is called "strict" is given in `values`.

        Raises: InvalidTemplate for a prefix of a list or of octets, and for errors under `strict`; TypeError and
        CodingError for other values.

        >>> Template("/find{?q,lang}").expand(q="a b"), Template("{/list*}").expand(list=["a", "b/c"])
        ('/find?q=a%20b', '/a/b%2Fc')
        >>> Template("/find{?q,lang}").expand(q="a b", strict=True)
        Traceback (most recent call last):
        overthere.InvalidTemplate: "lang" has no value (at 9, in the expression; RFC 6570 2.3)
        """
        if not isinstance(strict, bool):  # of type object, so that type checkers accept `**values` of any type
            raise TypeError('strict is True or False; the variable "strict" is given in a mapping')
        if strict:
            self._check_names({**({} if values is None else values), **more})
        bound = self._check_values(values, more)
        return "".join(literal(p) if isinstance(p, str) else self._expand_part(p, bound) for p in self._parts)

    def _check_names(self, values: Mapping[str, object]) -> None:
        missing = [v for v in self.variables if v.name not in values and v.name not in self._bound]
        if missing:
            names = _join_names(dict.fromkeys(v.name for v in missing))
            place = missing[0].start, missing[0].end
            raise InvalidTemplate(self._text, _make_finding("template-undefined", *place, names))
        if unused := values.keys() - {v.name for v in self.variables}:
            end = len(self._text)
            raise InvalidTemplate(self._text, _make_finding("template-unused", end, end, _join_names(sorted(unused))))

    def _check_values(self, values: Mapping[str, object] | None, more: Mapping[str, object]) -> dict[str, Any]:
        names = {v.name for v in self.variables}
        bound = {**({} if values is None else values), **more}
        return {**{n: form_value(n, v) for n, v in bound.items() if n in names}, **self._bound}

    def _expand_part(self, part: Expression, values: Mapping[str, Any], has_begun: bool = False) -> str:
        try:
            return expand(part, values, has_begun)
        except NoPrefix as error:
            v = error.variable
            raise InvalidTemplate(
                self._text, _make_finding("template-prefix", v.start, v.end, name_of(v.name))
            ) from None

    def partial(self, values: Mapping[str, object] | None = None, /, **more: object) -> Template:
        """Return the template with these values filled in: `t.partial(a).expand(b)` is `t.expand({**b, **a})`.

        A value that cannot be written yet (the "y" of `{?x,y}`, before it is known whether "?" or "&" precedes it) is
        kept by the new template next to its text, and its repr shows it.  None is a value too: the variable stays
        undefined.

        Raises: as `expand`.

        >>> str(Template("/{a}{?x,y,z}").partial(a=1, x=2, z=3))
        '/1?x=2{&y}&z=3'
        >>> Template("{?x,y}").partial(y=2)
        Template('{?x,y}', holding y)
        """
        bound = self._check_values(values, more)
        text = "".join(p if isinstance(p, str) else self._fill_part(p, bound) for p in self._parts)
        template = Template._make(text, {})
        names = {v.name for v in template.variables}
        object.__setattr__(template, "_bound", {name: value for name, value in bound.items() if name in names})
        return template

    def _fill_part(self, part: Expression, values: Mapping[str, Any]) -> str:
        if all(v.name in values for v in part.variables):
            return self._expand_part(part, values)
        if part.operator in ("", "+", "#"):
            return str(part)
        text, operator = "", part.operator
        remaining = list(part.variables)
        while remaining:
            # Without a first value in a query, the mark before the next value is not known yet.
            if operator == "?" and remaining[0].name not in values:
                return text + str(Expression(operator, tuple(remaining), 0, 0))
            variable = remaining.pop(0)
            single = Expression(operator, (variable,), 0, 0)
            expanded = self._expand_part(single, values) if variable.name in values else str(single)
            text += expanded
            operator = "&" if operator == "?" and expanded else operator
        return text

    def match(self, uri: str | Components) -> dict[str, Any] | None:
        """Return the variables with which the template expands to this URI; None if it cannot.

        A variable is read as text; with `*` as a list; with `*` after `;`, `?` and `&` as pairs, or as a list if each
        name is the variable's own.  A list that was expanded without `*` matches nothing.  Escapes are decoded (to
        bytes if they are not UTF-8), except after `+` and `#`.  Undefined variables are left out; if empty and
        undefined have the same text (`{x}`), the variable is undefined.  `{+x}` has no "?" if the template opens a
        query later, and no "#" if it opens a fragment: the first one is the template's.  Parts of a query must have the
        template's order; a prefix gives the characters that are there.

        Each expression is read on its own: a text has one reading, or is rejected.  It has one reading if there is
        exactly one way to split it into literals and values of allowed characters.  `/{x}/{y}`, `{x}.json`
        for a name without dots, `{+path}/here` have one; `{x}{y}`, `{?x,rest*}` and `{.x,y}` mostly do not.  Time grows
        with the length of the text times the length of the template.  The law: expanding the template with the answer
        gives the URI, except for escapes of unreserved characters and the case of escapes (RFC 3986 6.2.2).

        Raises: InvalidTemplate, kind "template-ambiguous", at the expression from which the readings differ.

        >>> Template("/{user}/{file}.{ext}").match("/joe/a.b.txt")
        Traceback (most recent call last):
        overthere.InvalidTemplate: "ext" matches this text in two ways (at 16, in the expression; RFC 6570 1.4)
        """
        from overthere.values.template.match import Ambiguous, match, unescape_tokens

        text = exact(str(uri) if isinstance(uri, kernel.Components) else uri, "match()")
        try:
            values = match(self._parts, text)
        except Ambiguous as error:
            v = error.variable
            raise InvalidTemplate(
                self._text, _make_finding("template-ambiguous", v.start, v.end, name_of(v.name))
            ) from None
        if values is None:
            return None
        # A variable that occurs twice has one value (3.2.1), a prefix its length: expansion checks both.
        try:
            expanded = self.expand(values)
        except InvalidTemplate:  # a prefix of octets or of a list
            return None
        return values if unescape_tokens(expanded) == unescape_tokens(text) else None


def _join_names(names: Iterable[str]) -> str:
    """Return names for a message."""
    first, *other_names = [f'"{shorten(printable(name), 60)}"' for name in names]
    return ", ".join([first, *other_names[:4]]) + (f" and {len(other_names) - 4} more" if len(other_names) > 4 else "")


def _make_finding(kind: str, start: int, end: int, name: str, expected: str = "") -> Finding:
    row = KINDS[kind]
    return Finding(kind, start, end, row.component, row.rule, expected, row.source, row.message.replace("{it}", name))


def _finding(text: str) -> Finding:
    """Return the finding where the grammar does not continue, with what was expected."""
    from overthere.grammar.library import grammar

    rules = grammar("rfc6570")
    expected = rules.automaton("URI-Template").expected(text)
    words, offset = rules.describe(expected), expected.offset
    brace = text.rfind("{", 0, offset)
    if brace <= text.rfind("}", 0, offset):
        return _make_finding("template-literal", offset, offset + 1, name_of(text[offset : offset + 1]), words)
    if offset == len(text):
        return _make_finding("template-open", brace, offset, "", words)
    return _make_finding("template-expression", offset, offset + 1, name_of(text[offset : offset + 1]), words)
