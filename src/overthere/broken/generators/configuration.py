"""Reads single values out of configurations, which may be programs: nothing is run, nothing is included."""

from __future__ import annotations

import re

__all__ = ["js_values", "site_path", "yaml_block", "yaml_names", "yaml_value"]

_ITEM = re.compile(r"""^[ \t]*+(?:-[ \t]++)?["']?([\w./@-]++)["']?[ \t]*+(?::|$)""", re.MULTILINE)
_PATH = re.compile(r"(?:https?://[^/?#]*+)?(/[^?#]*+)?")


def yaml_value(text: str, key: str) -> str:
    """The plain value of a key at the left margin; "" without one.

    >>> yaml_value("a: 1\\ndocs_dir: 'pages' # where\\n", "docs_dir")
    'pages'
    """
    found = re.search(rf"^{re.escape(key)}[ \t]*+:[ \t]*+[\"']?([^\"'#\n]*+)", text, re.MULTILINE)
    return found[1].strip() if found else ""


def yaml_block(text: str, key: str) -> str:
    """The lines that belong to a key at the left margin.

    >>> yaml_block("hooks:\\n  - a.py\\n- b\\nx: 1\\n", "hooks")
    '  - a.py\\n- b\\n'
    """
    found = re.search(rf"^{re.escape(key)}[ \t]*+:[^\n]*+\n((?:(?:[ \t#-][^\n]*+)?\n)*+)", f"{text}\n", re.MULTILINE)
    return found[1] if found else ""


def yaml_names(block: str) -> set[str]:
    """What the items of a list, and the keys below them, are called.

    >>> sorted(yaml_names("  - search\\n  - blog:\\n      draft: true\\n"))
    ['blog', 'draft', 'search']
    """
    return {found[1] for found in _ITEM.finditer(block)}


def js_values(text: str, key: str) -> list[str]:
    """The texts that a program in JavaScript gives to a key; in its comments too.

    >>> js_values("export default { base: '/docs/' }", "base")
    ['/docs/']
    """
    return re.findall(rf"\b{re.escape(key)}[\"']?\s*+[:=]\s*+[\"'`]([^\"'`\n]*+)[\"'`]", text)


def site_path(uri: str) -> str:
    """The path of the URI at which a site is published, between slashes.

    >>> site_path("https://h.example/docs"), site_path("")
    ('/docs/', '/')
    """
    found = _PATH.match(uri)
    path = (found[1] or "/") if found else "/"
    return f"/{path.strip('/')}/" if path.strip("/") else "/"
