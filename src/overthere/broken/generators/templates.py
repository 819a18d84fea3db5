"""Templates in documents: what a program writes in their place is not known."""

from __future__ import annotations

import re
from collections import deque

__all__ = ["MARK", "has_template", "hide", "hide_mathematics", "is_template_file"]

MARK = "\ufdd0"
"""Stands for each character of a template: no character of any text (Unicode 23.7)."""
_PAIRS = (("{{", "}}"), ("{%", "%}"), ("<%", "%>"), ("<?", "?>"))
"""Jinja, Liquid, Nunjucks, Go, Handlebars, Vue; ERB and EJS; PHP."""
_LONGEST = 2000
_EXPRESSION = re.compile(r"=\{(?!\{)")
"""An attribute of JSX that is a program."""
_BRACES = re.compile(r"[{}]")
_WRITTEN = re.compile(r"\{\{|\{%|<%|<\?|\$\{|\A\{|%[({][\w.]++[)}]s?")
_SUFFIXES = (
    *(".j2", ".jinja", ".jinja2", ".njk", ".liquid", ".erb", ".ejs", ".php", ".hbs", ".mustache", ".twig", ".tmpl"),
    *(".tpl", ".gohtml", ".vue", ".svelte", ".astro", ".jsx", ".tsx", ".mdx"),
)


def is_template_file(name: str) -> bool:
    """Whether a file holds templates by its name."""
    return name.lower().endswith(_SUFFIXES)


def has_template(reference: str) -> bool:
    """Whether a program makes a part of a reference.

    >>> [has_template(one) for one in ("{{ url }}", "${x}/a", "{post.url}", "a{b}", "%(base)s/x")]
    [True, True, True, False, True]
    """
    return MARK in reference or _WRITTEN.search(reference) is not None


def hide(text: str) -> str:
    """The text with a mark for each character of its templates but line ends: `<a href="{% url "x" %}">` is one tag.

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
    """Markdown without what looks like a link in a formula; as pandoc has it, a blank before `$` ends none.

    >>> hide_mathematics("$[f](x)$ costs $5 [here](x.md) and $6")
    'xxxxxxxx costs $5 [here](x.md) and $6'
    """
    if "](" not in text or ("$" not in text and "\\(" not in text):
        return text
    return _MATHEMATICS.sub(lambda found: re.sub(r"[^\n]", "x", found[0]) if "](" in found[0] else found[0], text)


def _hide_pairs(text: str, begin: str, end: str) -> str:
    pieces: list[str] = []
    done = 0
    last = -1
    at = text.find(begin)
    while at >= 0:
        if last < at + 2:
            last = text.find(end, at + 2)
            if last < 0:
                break
        if last - at > _LONGEST:
            at = text.find(begin, at + 1)
            continue
        pieces += (text[done:at], _marks(text[at : last + 2]))
        done = last + 2
        at = text.find(begin, done)
    return "".join((*pieces, text[done:]))


def _hide_expressions(text: str) -> str:
    begun: deque[int] = deque(maxlen=_LONGEST)  # what began before these is too long
    found: list[tuple[int, int]] = []
    for brace in _BRACES.finditer(text):
        if brace[0] == "{":
            begun.append(brace.start())
        elif begun:
            begin, end = begun.pop(), brace.end()
            if end - begin <= _LONGEST and _EXPRESSION.match(text, begin - 1):
                while found and found[-1][0] > begin:
                    found.pop()  # it is within this one
                found.append((begin, end))
    pieces: list[str] = []
    done = 0
    for begin, end in found:
        pieces += (text[done:begin], _marks(text[begin:end]))
        done = end
    return "".join((*pieces, text[done:]))


def _marks(template: str) -> str:
    return "\n".join(MARK * len(line) for line in template.split("\n"))
