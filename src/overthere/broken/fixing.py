"""Fixes references in their files: only the octets of the value change, after a diff was shown."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from overthere.broken.generators.project import NO_PROJECT
from overthere.broken.model import Broken
from overthere.broken.scan import scan
from overthere.ground.atomic import refuse_link
from overthere.ground.atomic import write as replace
from overthere.links.documents.kinds import kind_of
from overthere.links.job.files import open_file
from overthere.links.job.task_builder import Task
from overthere.links.job.task_documents import documents
from overthere.links.model import Options

__all__ = ["FixedFile", "fix_files", "write"]


_BREAKS = 50
"""Line breaks in a reference, within which a diff looks for the next line that is the same."""


class FixedFile(NamedTuple):
    """A file with its references mended."""

    source: str
    before: bytes
    after: bytes
    changed: int
    refused: str
    """Why nothing of it is changed; "" if something is."""

    def diff(self) -> Iterator[str]:
        """The change, as lines without ends: a unified diff without the lines around it.

        Suggestions have no line breaks, so a line takes the place of one, or of several where a reference had some;
        `difflib` would search, and take the cube of the lines.
        """
        old, new = (text.decode("utf-8", "replace").splitlines() for text in (self.before, self.after))
        yield from (f"--- {self.source}", f"+++ {self.source}")
        at = 0
        for number, line in enumerate(new):
            if old[at : at + 1] == [line]:
                at += 1
                continue
            spare = len(old) - at - (len(new) - number)
            after = new[number + 1 : number + 2]
            count = next((n for n in range(1, min(spare, _BREAKS) + 2) if old[at + n : at + n + 1] == after), spare + 1)
            yield f"@@ -{at + 1}{f',{count}' if count > 1 else ''} +{number + 1} @@"
            yield from (f"-{one}" for one in old[at : at + count])
            yield f"+{line}"
            at += count
        if at < len(old):
            yield from (f"@@ -{at + 1},{len(old) - at} +{len(new)},0 @@", *(f"-{one}" for one in old[at:]))


def fix_files(findings: Iterable[Broken], certainties: Collection[str] = ("certain",)) -> Iterator[FixedFile]:
    """The files in which references have one suggestion each, and what they would hold.

    certainties: of `model.CERTAINTIES`, which suggestions are taken.

    Every file is read again as it would be: if any reference but those that are mended is another then, it is left.
    """
    by_source: dict[str, dict[tuple[int, int], set[tuple[str, str]]]] = {}
    for found in findings:
        placed = (found.suggestion, found.offset, found.length, found.reference)
        if found.certainty in certainties and None not in placed:
            place = (found.offset or 0, found.length or 0)
            meant = (found.reference or "", found.suggestion or "")
            by_source.setdefault(found.source, {}).setdefault(place, set()).add(meant)
    for source, places in by_source.items():
        yield _fix_file(source, places)


def _fix_file(source: str, places: dict[tuple[int, int], set[tuple[str, str]]]) -> FixedFile:
    try:
        content, _ = _read(source)
    except OSError as error:
        archive = _archive(source)
        why = f"it is part of {archive}; change it there and repack" if archive else error.strerror or str(error)
        return FixedFile(source, b"", b"", 0, why)
    pieces: list[bytes] = []
    changes: list[tuple[str, str]] = []
    at = 0
    for (offset, length), meant in sorted(places.items()):
        written = content[offset : offset + length]
        if len(meant) != 1 or offset < at:
            continue  # of two candidates none is taken
        old, new = next(iter(meant))
        replaced = _replace_value(written, old, new)
        if replaced is not None:
            pieces += (content[at:offset], replaced)
            at = offset + length
            changes.append((old, new))
    if not changes:
        return FixedFile(
            source, content, content, 0, "the value is not written there as it was read, or there are two candidates"
        )
    after = b"".join((*pieces, content[at:]))
    refused = "" if _is_changed(source, content, after, changes) else "another reference would change too"
    return FixedFile(source, content, content if refused else after, 0 if refused else len(changes), refused)


def _archive(source: str) -> str:
    """The file that holds a document, such as an archive or a mailbox; "" if it is none of a container."""
    at = source.find("!")
    while at >= 0 and not os.path.isfile(source[:at]):
        at = source.find("!", at + 1)
    return source[:at] if at >= 0 else ""


def _replace_value(written: bytes, old: str, new: str) -> bytes | None:
    """The octets of the new value, in the form that the old one has; None if that form is not plain."""
    if not new.isascii() or any(sign in new for sign in "\"'<>()\\ "):
        return None
    if written == old.encode():
        return new.encode()  # `_is_changed` sees where an "&" begins a character reference
    if written == old.replace("&", "&amp;").encode():
        return new.replace("&", "&amp;").encode()
    return None


def _is_changed(source: str, before: bytes, after: bytes, changes: list[tuple[str, str]]) -> bool:
    """Whether the references of a document are the same but for these, each another by its suggestion."""
    old, new = _references(source, before), _references(source, after)
    if len(old) != len(new):
        return False
    left = list(changes)
    for (where, one), (place, other) in zip(old, new, strict=True):
        if (where, one) == (place, other):
            continue
        if where != place or (one, other) not in left:
            return False
        left.remove((one, other))
    return not left


def _references(source: str, content: bytes) -> list[tuple[str, str]]:
    options = Options()
    for document, _ in documents(Task((source,), None, None), options):
        document = document._replace(content=content)
        kind, notes = kind_of(document)
        found = scan(document, kind, notes, options, NO_PROJECT)
        return [(one.where, one.reference) for one in found.references]
    return []


def _read(source: str) -> tuple[bytes, int]:
    """The content of a file that may be replaced, and its mode.

    Raises: OSError for a link, a pipe, a file that is read-only, and one with other names, which would keep the old.
    """
    refuse_link(source)
    with open_file(source, os.path.dirname(source)) as file:
        status = os.fstat(file.fileno())
        if not status.st_mode & 0o222:
            raise PermissionError(errno.EACCES, "it is read-only")
        if status.st_nlink > 1:
            raise OSError(errno.EMLINK, "it has another name too (a hard link), which would keep the old content")
        return file.read(), status.st_mode


def write(file: FixedFile) -> None:
    """Put the mended file in its place, with the permissions it had.  Raises: OSError if it has changed since."""
    content, mode = _read(file.source)
    if content != file.before:
        raise OSError(errno.EAGAIN, "it has changed since it was read")
    replace(Path(file.source), file.after, mode)
