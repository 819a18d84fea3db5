"""Templates in documents, whose output is not known."""

from __future__ import annotations

import re
from collections import deque

MARK = "\ufdd0"
"""Replaces each character of a template: a noncharacter, which no text contains (Unicode 23.7)."""
_PAIRS = (("{{", "}}"), ("{%", "%}"), ("<%", "%>"), ("<?", "?>"))
"""Jinja, Liquid, Nunjucks, Go, Handlebars, Vue; ERB and EJS; PHP."""
_MAX_TEMPLATE_LENGTH = 2000
_EXPRESSION = re.compile(r"=\{(?!\{)")
"""An attribute of JSX whose value is code."""
_BRACES = re.compile(r"[{}]")
_TEMPLATE_MARKUP = re.compile(r"\{\{|\{%|<%|<\?|\$\{|\A\{|%[({][\w.]++[)}]s?|\A\$[\w.-]++\$")
_SUFFIXES = (
    *(".j2", ".jinja", ".jinja2", ".njk", ".liquid", ".erb", ".ejs", ".php", ".hbs", ".mustache", ".twig", ".tmpl"),
    *(".tpl", ".gohtml", ".vue", ".svelte", ".astro", ".jsx", ".tsx", ".mdx"),
)


def is_template_file(name: str) -> bool:
    """Whether a file contains templates, judging by its name."""
    return name.lower().endswith(_SUFFIXES)


def has_template(reference: str) -> bool:
    """Whether a program generates a part of a reference.

    >>> [has_template(one) for one in ("{{ url }}", "${x}/a", "{post.url}", "a{b}", "%(base)s/x")]
    [True, True, True, False, True]
    """
    return MARK in reference or _TEMPLATE_MARKUP.search(reference) is not None


def hide(text: str) -> str:
    """The text with a mark for each character of templates except line ends: `<a href="{% url "x" %}">` is one tag.

    >>> hide("<a href={{ x }}>").replace(MARK, "_")
    '<a href=_______>'
    """
    for begin, end in _PAIRS:
        if begin in text:
            text = _hide_pairs(text, begin, end)
    return _hide_expressions(text) if "={" in text else text


_MATHEMATICS = re.compile(
    r"(?<![\\$\w])\$\$[^$]{1,2000}+\$\$"
    r"|(?<![\\$\w])\$(?=[^\s$])(?:[^$\n\\]|\\.|\n(?!\n)){1,500}+(?<![\s\\])\$(?!\w)"
    r"|\\\((?:(?!\\\().){1,500}?\\\)",
    re.DOTALL,
)


def hide_mathematics(text: str) -> str:
    """Markdown without formulas that look like links; as in pandoc, `$` after a blank does not end a formula.

    >>> hide_mathematics("$[f](x)$ costs $5 [here](x.md) and $6")
    'xxxxxxxx costs $5 [here](x.md) and $6'
    """
    if "](" not in text or ("$" not in text and "\\(" not in text):
        return text
    return _MATHEMATICS.sub(lambda match: re.sub(r"[^\n]", "x", match[0]) if "](" in match[0] else match[0], text)


def _hide_pairs(text: str, begin: str, end: str) -> str:
    pieces: list[str] = []
    copied = 0
    last = -1
    at = text.find(begin)
    while at >= 0:
        if last < at + 2:
            last = text.find(end, at + 2)
            if last < 0:
                break
        if last - at > _MAX_TEMPLATE_LENGTH:
            at = text.find(begin, at + 1)
            continue
        pieces += (text[copied:at], _marks(text[at : last + 2]))
        copied = last + 2
        at = text.find(begin, copied)
    return "".join((*pieces, text[copied:]))


def _hide_expressions(text: str) -> str:
    open_braces: deque[int] = deque(maxlen=_MAX_TEMPLATE_LENGTH)  # an expression that began earlier is too long
    expressions: list[tuple[int, int]] = []
    for brace in _BRACES.finditer(text):
        if brace[0] == "{":
            open_braces.append(brace.start())
        elif open_braces:
            begin, end = open_braces.pop(), brace.end()
            if end - begin <= _MAX_TEMPLATE_LENGTH and _EXPRESSION.match(text, begin - 1):
                while expressions and expressions[-1][0] > begin:
                    expressions.pop()  # it is inside this one
                expressions.append((begin, end))
    pieces: list[str] = []
    copied = 0
    for begin, end in expressions:
        pieces += (text[copied:begin], _marks(text[begin:end]))
        copied = end
    return "".join((*pieces, text[copied:]))


def _marks(template: str) -> str:
    return "\n".join(MARK * len(line) for line in template.split("\n"))
