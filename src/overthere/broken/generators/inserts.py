"""Text that a generator inserts into a page from other files."""

from __future__ import annotations

import os
from collections.abc import Iterator

from overthere.broken.generators.project import Project, folders_above
from overthere.links.job.files import is_inside, open_file

_MAX_INSERTIONS = 100
"""Maximum number of insertions that are followed for a page, including nested ones."""
_MAX_TOTAL_BYTES = 1 << 20
"""Maximum total size of the inserted files."""


def inserted_texts(text: str, source: str, project: Project) -> Iterator[tuple[str, str]]:
    """Yield the texts that are inserted into a page, and why there may be more ("" if not).

    A file that is inserted several times is yielded once.
    """
    if project.inserts is None:
        return
    texts, seen, followed, remaining = [text], {os.path.realpath(source)}, 0, _MAX_TOTAL_BYTES
    for outer in texts:  # the list grows meanwhile
        for match in project.inserts.finditer(outer):
            if followed == _MAX_INSERTIONS:
                yield "", f"more than {_MAX_INSERTIONS} texts are inserted there"
                return
            followed += 1
            path = _find(match.groupdict().get("path"), source, project)
            if path in seen:
                continue
            inner = None if path is None else _read(path, remaining)
            if path is None or inner is None:
                yield "", f"what is inserted there is not known: {' '.join(match[0].split())[:60]}"
                continue
            seen.add(path)
            remaining -= len(inner)
            texts.append(inner.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n"))
            yield texts[-1], ""


def _find(name: str | None, source: str, project: Project) -> str | None:
    """The file with a name within the repository, or None."""
    if name is None or "\0" in name:
        return None
    name = name.removeprefix("@site/").removeprefix("@/")
    folders = (os.path.dirname(os.path.abspath(source)), *project.bases)
    top = folders_above(os.path.dirname(os.path.abspath(project.config or source)))[-1]
    paths = (path for folder in folders if os.path.isfile(path := os.path.join(folder, name)))
    return next((os.path.realpath(path) for path in paths if is_inside(path, top)), None)


def _read(path: str, most: int) -> bytes | None:
    """The content of a file; None if it has more than `most` bytes, or cannot be read."""
    try:
        with open_file(path) as file:
            content = file.read(most + 1)
    except OSError:
        return None
    return content if len(content) <= most else None
