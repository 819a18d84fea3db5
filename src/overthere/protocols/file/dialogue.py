"""Opens a path of this machine: a file, or the names in a directory (RFC 1738 3.10; RFC 8089 3)."""

from __future__ import annotations

from overthere.access.media import guess_type as guess_media_type
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Place
from overthere.access.wire import Dialogue, Entry, Hangup, Head, Item, LocalFile, OpenLocal, Wire
from overthere.ground.errors import Unwritable
from overthere.schemes.known.file import FileLocator


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Open the file or list the directory at the path.

    Raises: ResourceMissing if the path is missing, neither a file nor a directory, or unreadable.
    """
    for step in plan.steps:
        assert isinstance(step, Place)
        yield from looked_at(step.where)


def looked_at(path: str, mounted: str = "") -> Dialogue:
    """Read a file, with its length and the media type of its suffix; or list the names in a directory, with URIs."""
    local_file: LocalFile = yield OpenLocal(path, mounted=mounted)
    if local_file.names is not None:
        yield Head(listing=True, details={"path": path})
        for name in local_file.names:
            yield Item(_entry(path, name))
        return
    media_type, coding = guess_media_type(path.replace(chr(92), "/").rpartition("/")[2])
    details = {"path": path, **({"coding": coding} if coding else {})}
    wire, length = Wire(), local_file.size
    if not length:  # the system creates the content of some files when they are read, and reports a length of 0
        yield from wire.fill()
        length = None if wire.buffer else 0
    yield Head(media_type, "name" if media_type else "", length, details=details)
    if length != 0:
        yield from wire.read_rest()
    yield Hangup()


def _entry(folder: str, name: str) -> Entry:
    bare_name = name.rstrip("/")
    kind = {0: "file", 1: "directory"}.get(len(name) - len(bare_name), "other")
    try:
        slash = "/" if kind == "directory" else ""
        uri = str(FileLocator.from_path(f"{folder.rstrip('/')}/{bare_name}{slash}").uri())
    except Unwritable:  # a name that a URI cannot contain
        return Entry(bare_name, None, kind)
    return Entry(bare_name, None if kind == "other" else uri, kind)
