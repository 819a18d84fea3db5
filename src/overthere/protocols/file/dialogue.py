"""Opens a path of this machine: a file, or the names in a directory (RFC 1738 3.10; RFC 8089 3)."""

from __future__ import annotations

from overthere.access.media import guess_type as guessed_media
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Place
from overthere.access.wire import Dialogue, Entry, Hangup, Head, Item, LocalFile, OpenLocal, Wire
from overthere.ground.errors import Unwritable
from overthere.schemes.known.file import FileLocator

__all__ = ["dialogue", "looked_at"]


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """What stands at the path.

    Raises: ResourceMissing if there is nothing, or what is neither a file nor a directory, or it cannot be read.
    """
    for step in plan.steps:
        assert isinstance(step, Place)
        yield from looked_at(step.where)


def looked_at(path: str, mounted: str = "") -> Dialogue:
    """A file with its length and the media type that its suffix tells; a directory as the names in it, with URIs."""
    seen: LocalFile = yield OpenLocal(path, mounted=mounted)
    if seen.names is not None:
        yield Head(listing=True, details={"path": path})
        for name in seen.names:
            yield Item(_entry(path, name))
        return
    media_type, coding = guessed_media(path.replace(chr(92), "/").rpartition("/")[2])
    details = {"path": path, **({"coding": coding} if coding else {})}
    wire, length = Wire(), seen.size
    if not length:  # the system makes some files only when they are read, and tells no length
        yield from wire.fill()
        length = None if wire.held else 0
    yield Head(media_type, "name" if media_type else "", length, details=details)
    if length != 0:
        yield from wire.read_rest()
    yield Hangup()


def _entry(folder: str, name: str) -> Entry:
    own = name.rstrip("/")
    kind = {0: "file", 1: "directory"}.get(len(name) - len(own), "other")
    try:
        slash = "/" if kind == "directory" else ""
        uri = str(FileLocator.from_path(f"{folder.rstrip('/')}/{own}{slash}").uri())
    except Unwritable:  # a name that no URI can hold
        return Entry(own, None, kind)
    return Entry(own, None if kind == "other" else uri, kind)
