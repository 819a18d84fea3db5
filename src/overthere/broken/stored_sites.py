"""A site that lies in an object store, as a folder of this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from overthere.ground.atomic import create
from overthere.stores.model import Name, StoreError, is_folder
from overthere.stores.opening import head_object, list_objects, open_object

__all__ = ["CopiedFolder", "copy_folder"]


class FailedCopy(NamedTuple):
    uri: str
    why: str


class CopiedFolder(NamedTuple):
    """Where objects came from, and which of them are missing."""

    root: str
    """The URI of the folder."""
    folder: str
    failed: list[FailedCopy]

    def source(self, path: str) -> str:
        """What a document of the folder is called: by the URI of its object."""
        before, mark, inside = path.removeprefix(self.folder + os.sep).partition("!")
        key = Name.parse(self.root).key + before.replace(os.sep, "/")
        return Name(Name.parse(self.root).root, key).uri + mark + inside


def copy_folder(uri: str, folder: Path) -> CopiedFolder:
    """Copy an object, or those of a folder, and say which of them could not be.

    Raises: StoreError if there is nothing; InvalidURI.
    """
    found = head_object(uri)
    root = f"{uri.rpartition('/')[0]}/" if found is not None else uri if is_folder(uri) else f"{uri}/"
    copied = CopiedFolder(root if root.endswith("/") else f"{root}/", str(folder), [])
    count, prefix = 0, Name.parse(copied.root).key
    for one in [found] if found is not None else list_objects(copied.root):
        count += 1
        if one.size == 0 and one.uri.endswith("/"):
            continue
        try:
            place = folder.joinpath(*_parts(Name.parse(one.uri).key.removeprefix(prefix)))
            place.parent.mkdir(parents=True, exist_ok=True)
            with create(place, place) as file:
                if one.size:
                    with open_object(*one) as far:
                        shutil.copyfileobj(far, file, 1 << 20)
        except (StoreError, OSError) as error:
            copied.failed.append(FailedCopy(one.uri, str(error)))
    if not count:
        raise StoreError("missing", "there is no such object, and no folder of that name")
    return copied


def _parts(key: str) -> list[str]:
    """The names of folders and file.  Raises: StoreError for what a file system reads as something else."""
    parts = key.split("/")
    if any(part in ("", ".", "..") or "\x00" in part or os.sep in part for part in parts):
        raise StoreError("unsupported", "its key cannot be the path of a file")
    return parts
