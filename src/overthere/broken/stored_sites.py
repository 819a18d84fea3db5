"""Copying a site from an object store to a local folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from overthere.files.stores.model import Name, StoreError, is_folder
from overthere.files.stores.opening import head_object, list_objects, open_object
from overthere.ground.atomic import create


class FailedCopy(NamedTuple):
    uri: str
    why: str


class CopiedFolder(NamedTuple):
    """A folder of copied objects: their origin, and the objects that could not be copied."""

    root: str
    """The URI of the folder."""
    folder: str
    failed: list[FailedCopy]

    def source(self, path: str) -> str:
        """The name of a document of the folder: the URI of its object."""
        before, mark, inside = path.removeprefix(self.folder + os.sep).partition("!")
        key = Name.parse(self.root).key + before.replace(os.sep, "/")
        return Name(Name.parse(self.root).root, key).uri + mark + inside


def copy_folder(uri: str, folder: Path) -> CopiedFolder:
    """Copy an object, or the objects of a folder; list those that could not be copied.

    Raises: StoreError if there is nothing; InvalidURI.
    """
    single_object = head_object(uri)
    root = f"{uri.rpartition('/')[0]}/" if single_object is not None else uri if is_folder(uri) else f"{uri}/"
    copied = CopiedFolder(root if root.endswith("/") else f"{root}/", str(folder), [])
    count, prefix = 0, Name.parse(copied.root).key
    for stored in [single_object] if single_object is not None else list_objects(copied.root):
        count += 1
        if stored.size == 0 and stored.uri.endswith("/"):
            continue
        try:
            place = folder.joinpath(*_parts(Name.parse(stored.uri).key.removeprefix(prefix)))
            place.parent.mkdir(parents=True, exist_ok=True)
            with create(place, place) as file:
                if stored.size:
                    with open_object(*stored) as remote:
                        shutil.copyfileobj(remote, file, 1 << 20)
        except (StoreError, OSError) as error:
            copied.failed.append(FailedCopy(stored.uri, str(error)))
    if not count:
        raise StoreError("missing", "there is no such object, and no folder of that name")
    return copied


def _parts(key: str) -> list[str]:
    """The names of folders and file.  Raises: StoreError for names with a special meaning in a file system."""
    parts = key.split("/")
    if any(part in ("", ".", "..") or "\x00" in part or os.sep in part for part in parts):
        raise StoreError("unsupported", "its key cannot be the path of a file")
    return parts
