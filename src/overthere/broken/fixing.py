"""Fixes references in their files: only the bytes of the value change, after a diff was shown."""

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
from overthere.ground.display import file_path
from overthere.links.documents.kinds import kind_of
from overthere.links.job.files import open_file
from overthere.links.job.task_builder import Task
from overthere.links.job.task_documents import documents
from overthere.links.model import Options

_BREAKS = 50
"""Line breaks in a reference after which a diff stops searching for the next equal line."""


class FixedFile(NamedTuple):
    """A file with fixed references."""

    source: str
    before: bytes
    after: bytes
    changed: int
    refused: str
    """Why nothing is changed; "" if something is."""

    def diff(self) -> Iterator[str]:
        """Yield the change as lines without line ends: a unified diff without context lines.

        Suggestions have no line breaks, so a new line replaces one line, or several if the reference had line breaks;
        `difflib` would search, in cubic time.
        """
        texts = (text.decode("utf-8", "replace").replace("\r\n", "\n") for text in (self.before, self.after))
        old, new = (text.split("\n") for text in texts)  # a form feed or U+2028 ends no line of a diff
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
            yield from (f"-{old_line}" for old_line in old[at : at + count])
            yield f"+{line}"
            at += count
        if at < len(old):
            yield from (f"@@ -{at + 1},{len(old) - at} +{len(new)},0 @@", *(f"-{old_line}" for old_line in old[at:]))


def fix_files(findings: Iterable[Broken], certainties: Collection[str] = ("certain",)) -> Iterator[FixedFile]:
    """Yield the files in which references have one suggestion each, with their fixed content.

    certainties: the `model.CERTAINTIES` of the suggestions to apply.

    The fixed content of each file is read again: if any other reference would change too, the file stays unchanged.
    """
    by_source: dict[str, dict[tuple[int, int], set[tuple[str, str]]]] = {}
    for finding in findings:
        required = (finding.suggestion, finding.offset, finding.length, finding.reference)
        if finding.certainty in certainties and None not in required:
            place = (finding.offset or 0, finding.length or 0)
            change = (finding.reference or "", finding.suggestion or "")
            by_source.setdefault(file_path(finding.source), {}).setdefault(place, set()).add(change)
    archive = ""
    for source, places in by_source.items():
        if not os.path.lexists(source) and (container := container_file(source, archive)):
            archive = container
            yield FixedFile(source, b"", b"", 0, f"it is part of {archive}; change it there and repack")
        else:
            yield _fix_file(source, places)


def _fix_file(source: str, places: dict[tuple[int, int], set[tuple[str, str]]]) -> FixedFile:
    try:
        content, _ = _read(source)
    except OSError as error:
        return FixedFile(source, b"", b"", 0, error.strerror or str(error))
    pieces: list[bytes] = []
    changes: list[tuple[str, str]] = []
    at = 0
    for (offset, length), candidates in sorted(places.items()):
        value = content[offset : offset + length]
        if len(candidates) != 1 or offset < at:
            continue  # several candidates, so none is applied
        old, new = next(iter(candidates))
        replaced = _replace_value(value, old, new)
        if replaced is not None:
            pieces += (content[at:offset], replaced)
            at = offset + length
            changes.append((old, new))
    if not changes:
        return FixedFile(
            source, content, content, 0, "the value is not written there as it was read, or there are two candidates"
        )
    after = b"".join((*pieces, content[at:]))
    refused = "" if _has_only_changes(source, content, after, changes) else "another reference would change too"
    return FixedFile(source, content, content if refused else after, 0 if refused else len(changes), refused)


def container_file(source: str, last: str = "") -> str:
    """The container file of a document, such as an archive or a mailbox; "" if there is none.

    last: that of another document; what both names begin with is not looked up again.
    """
    at = source.find("!", len(os.path.commonprefix((source, last))))  # noqa: RUF071 - of characters
    while at >= 0 and not os.path.isfile(source[:at]):
        at = source.find("!", at + 1)
    return source[:at] if at >= 0 else ""


def _replace_value(value: bytes, old: str, new: str) -> bytes | None:
    """The bytes of the new value in the notation of the old one; None if that notation is not plain."""
    if not new.isascii() or any(sign in new for sign in "\"'<>()\\ "):
        return None
    if value == old.encode():
        return new.encode()  # `_has_only_changes` notices if an "&" begins a character reference
    if value == old.replace("&", "&amp;").encode():
        return new.replace("&", "&amp;").encode()
    return None


def _has_only_changes(source: str, before: bytes, after: bytes, changes: list[tuple[str, str]]) -> bool:
    """Whether the references of a document differ only by these changes, each from the old to the suggested one."""
    old, new = _references(source, before), _references(source, after)
    if len(old) != len(new):
        return False
    remaining = list(changes)
    for (old_place, old_reference), (new_place, new_reference) in zip(old, new, strict=True):
        if (old_place, old_reference) == (new_place, new_reference):
            continue
        if old_place != new_place or (old_reference, new_reference) not in remaining:
            return False
        remaining.remove((old_reference, new_reference))
    return not remaining


def _references(source: str, content: bytes) -> list[tuple[str, str]]:
    options = Options()
    for document, _ in documents(Task((source,), None, None), options):
        document = document._replace(content=content)
        kind, notes = kind_of(document)
        result = scan(document, kind, notes, options, NO_PROJECT)
        return [(reference.where, reference.reference) for reference in result.references]
    return []


def _read(source: str) -> tuple[bytes, int]:
    """The content of a file that may be replaced, and its mode.

    Raises: OSError for a symlink, a pipe, a read-only file, and a file with other hard links.
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
    """Replace the file by the fixed one, with the same permissions.  Raises: OSError if it has changed since."""
    content, mode = _read(file.source)
    if content != file.before:
        raise OSError(errno.EAGAIN, "it has changed since it was read")
    replace(Path(file.source), file.after, mode)
