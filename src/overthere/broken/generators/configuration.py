"""Reads single values from configurations, which may be programs, without running or including anything."""

from __future__ import annotations

import os
import re

from overthere.broken.generators.project import folders_above
from overthere.links.job.files import is_inside, open_file

_MAX_BYTES = 1 << 20
MAX_NAMED_BYTES = 1 << 18
"""Maximum size of all files together that a configuration names: many may name the same."""
_ITEM = re.compile(
    r"""(?:^|[\[{,])[ \t]*+(?:-[ \t]++)?["']?([\w./@-]++)["']?[ \t]*+(?:(?=[,\]}#])|:|$)""", re.MULTILINE
)
_PATH = re.compile(r"(?:https?://[^/?#]*+)?(/[^?#]*+)?")


def yaml_value(text: str, key: str) -> str:
    """The plain value of a key at the left margin, or "".

    >>> yaml_value("a: 1\\ndocs_dir: 'pages' # where\\n", "docs_dir")
    'pages'
    """
    match = re.search(rf"^[\"']?{re.escape(key)}[\"']?[ \t]*+:[ \t]*+[\"']?([^\"'#\n]*+)", text, re.MULTILINE)
    return match[1].strip() if match else ""


def yaml_block(text: str, key: str) -> str:
    """The text of the value of a key at the left margin.

    >>> yaml_block("hooks:\\n  - a.py\\n- b\\nx: 1\\n", "hooks"), yaml_block("hooks: [a.py]", "hooks")
    ('\\n  - a.py\\n- b\\n', ' [a.py]\\n')
    """
    match = re.search(
        rf"^[\"']?{re.escape(key)}[\"']?[ \t]*+:([^\n]*+\n(?:(?:[ \t#-][^\n]*+)?\n)*+)", f"{text}\n", re.MULTILINE
    )
    return match[1] if match else ""


def yaml_names(block: str) -> set[str]:
    """The names of the items of a list, and of the keys below them.

    >>> sorted(yaml_names("  - search\\n  - blog:\\n      draft: true\\n")), sorted(yaml_names(" [tags, 'rss']"))
    (['blog', 'draft', 'search'], ['rss', 'tags'])
    """
    return {match[1] for match in _ITEM.finditer(block)}


def js_values(text: str, key: str) -> list[str]:
    """The texts that a JavaScript program assigns to a key, even in comments.

    >>> js_values("export default { base: '/docs/' }", "base")
    ['/docs/']
    """
    return re.findall(rf"\b{re.escape(key)}[\"']?\s*+[:=]\s*+[\"'`]([^\"'`\n]*+)[\"'`]", text)


def site_path(uri: str) -> str:
    """The path of the URI at which a site is published, between slashes; a computed one as it is written.

    >>> site_path("https://h.example/docs"), site_path("")
    ('/docs/', '/')
    """
    match = _PATH.match(uri)
    path = uri if "${" in uri else (match[1] or "/") if match else "/"
    return f"/{path.strip('/')}/" if path.strip("/") else "/"


def read_configuration(path: str, folder: str, max_bytes: int) -> str:
    """Read the first `max_bytes` of a configuration, at most a mebibyte; "" if it is outside of the repository."""
    if not is_inside(path, folders_above(os.path.realpath(folder))[-1]):
        return ""
    try:
        with open_file(path) as file:
            text = file.read(max(min(max_bytes, _MAX_BYTES), 0)).decode("utf-8", "replace")
    except OSError:
        return ""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\0", "\ufffd")
