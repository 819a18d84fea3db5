"""Which program makes the anchors of Markdown headings: known from the file that configures it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator

from overthere.broken.filters import file_settings
from overthere.broken.model import Checker
from overthere.links.job.task_builder import Task

__all__ = ["find_dialects", "rule_of"]

_READ = 1 << 20
_MYST_DEPTH = re.compile(r"^myst_heading_anchors\s*+=\s*+([0-7])\b", re.MULTILINE)
_DOCS = re.compile(r"^docs_dir:[ \t]*+[\"']?([^\"'#\n]++)", re.MULTILINE)
_SOURCE = re.compile(r"^src[ \t]*+=[ \t]*+[\"']([^\"'\n]++)", re.MULTILINE)
_SPHINX = re.compile(r"^(?:extensions|project|html_theme|source_suffix)\b[^\n=]*+=", re.MULTILINE)


def find_dialects(tasks: Iterable[Task]) -> tuple[tuple[str, str, str], ...]:
    """Folders whose Markdown a program renders, with the rule of its anchors and its configuration file.

    Configurations are looked for among the sources, and from them upwards to the root of the repository.  The innermost
    folder comes first.
    """
    found: dict[str, tuple[str, str]] = {}
    for path in _configurations(tasks):
        folder, name = os.path.split(os.path.abspath(path))
        told = _READERS[name](folder, _text(path)) if os.path.isfile(path) else None
        if told is not None:
            below, rule = told
            found.setdefault(os.path.normpath(os.path.join(folder, below)), (rule, path))
    return tuple((folder, *found[folder]) for folder in sorted(found, key=len, reverse=True))


def rule_of(checker: Checker, source: str) -> str:
    """The rule for a document by its path."""
    if checker.files and (own := file_settings(checker, source)) is not None and own.anchors is not None:
        return own.anchors
    if checker.anchors != "auto":
        return checker.anchors
    if checker.dialects:
        path = os.path.abspath(source)
        for folder, rule, _ in checker.dialects:
            if path.startswith(os.path.join(folder, "")):
                return rule
    return "github"


def _configurations(tasks: Iterable[Task]) -> Iterator[str]:
    starts: dict[str, None] = {}
    for task in tasks:
        if task.name is not None:
            continue
        for path in task.paths:
            if os.path.basename(path) in _READERS:
                yield path
        starts |= dict.fromkeys([os.path.dirname(path) for path in task.paths] if task.root is None else [task.root])
    for start in starts:
        for folder in _folders_above(os.path.abspath(start)):
            names = [name for name in _READERS if os.path.isfile(os.path.join(folder, name))]
            yield from (os.path.relpath(os.path.join(folder, name)) for name in names)
            if names:
                break


def _folders_above(folder: str) -> list[str]:
    """The folder and those around it in its repository; without a repository the next one only."""
    folders = [folder]
    while not os.path.exists(os.path.join(folders[-1], ".git")):
        above = os.path.dirname(folders[-1])
        if above == folders[-1]:
            return folders[:2]
        folders.append(above)
    return folders


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(_READ).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError:
        return ""


def _mkdocs(folder: str, text: str) -> tuple[str, str]:
    docs = _DOCS.search(text)
    return docs[1].strip() if docs else "docs", "pymdownx" if "pymdownx.slugs" in text else "mkdocs"


def _sphinx(folder: str, text: str) -> tuple[str, str] | None:
    if not _SPHINX.search(text):
        return None
    depth = _MYST_DEPTH.search(text)
    return "", f"myst:{depth[1]}" if depth else "sphinx"


def _jekyll(folder: str, text: str) -> tuple[str, str]:
    # Jupyter Book uses the same file name; its folder also has a table of contents.
    is_book = os.path.exists(os.path.join(folder, "_toc.yml"))
    return "", "myst" if is_book else "kramdown" if re.search(
        r"^\s+input:\s*kramdown", text, re.MULTILINE
    ) else "jekyll"


def _mdbook(folder: str, text: str) -> tuple[str, str]:
    source = _SOURCE.search(text)
    return source[1] if source else "src", "mdbook"


_READERS: dict[str, Callable[[str, str], tuple[str, str] | None]] = {
    "mkdocs.yml": _mkdocs,
    "mkdocs.yaml": _mkdocs,
    "conf.py": _sphinx,
    **{f"docusaurus.config.{suffix}": lambda folder, text: ("", "docusaurus") for suffix in ("js", "ts", "mjs", "cjs")},
    "_config.yml": _jekyll,
    "book.toml": _mdbook,
}
"""By the name of the configuration: from its folder and its text the folder of the documents, and the rule; None if it
is of another program."""
