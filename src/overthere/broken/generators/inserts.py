"""Text that a generator inserts into a page out of another file."""

from __future__ import annotations

import os
from collections.abc import Iterator

from overthere.broken.generators.project import Project, folders_above
from overthere.links.job.files import is_inside, open_file

__all__ = ["inserted_texts"]

_MOST = 100
"""Insertions that are followed, of a page and of what is inserted into it together."""
_LONGEST = 1 << 20
"""Octets that all of them may have."""


def inserted_texts(text: str, source: str, project: Project) -> Iterator[tuple[str, str]]:
    """The texts that are inserted into a page, and why there may be more than these ("" if not).

    A file that is inserted several times comes once.
    """
    if project.inserts is None:
        return
    texts, seen, followed, left = [text], {os.path.realpath(source)}, 0, _LONGEST
    for one in texts:  # which grows
        for found in project.inserts.finditer(one):
            if followed == _MOST:
                yield "", f"more than {_MOST} texts are inserted there"
                return
            followed += 1
            path = _find(found.groupdict().get("path"), source, project)
            if path in seen:
                continue
            inner = None if path is None else _read(path, left)
            if path is None or inner is None:
                yield "", f"what is inserted there is not known: {' '.join(found[0].split())[:60]}"
                continue
            seen.add(path)
            left -= len(inner)
            texts.append(inner.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n"))
            yield texts[-1], ""


def _find(name: str | None, source: str, project: Project) -> str | None:
    """The file of that name within the repository; None if there is none."""
    if name is None or "\0" in name:
        return None
    name = name.removeprefix("@site/").removeprefix("@/")
    folders = (os.path.dirname(os.path.abspath(source)), *project.bases)
    top = folders_above(os.path.dirname(os.path.abspath(project.config or source)))[-1]
    paths = (path for folder in folders if os.path.isfile(path := os.path.join(folder, name)))
    return next((os.path.realpath(path) for path in paths if is_inside(path, top)), None)


def _read(path: str, most: int) -> bytes | None:
    """The file; None if it has more than so many octets, or cannot be read."""
    try:
        with open_file(path) as file:
            content = file.read(most + 1)
    except OSError:
        return None
    return content if len(content) <= most else None
