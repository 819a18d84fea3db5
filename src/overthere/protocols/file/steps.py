"""file: a file or directory of this machine, by its path (RFC 1738 3.10; RFC 8089 3)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.access.steps import Credentials, Place, Step
from overthere.schemes.known.file import FileLocator


def steps(locator: FileLocator, credentials: Credentials) -> Iterator[Step]:
    """Return one step: the path on the machine that makes the plan.  Nothing is opened, and no host is contacted.

    Raises: PlanRefused if that machine has no path for it (RFC 8089 3, 5).
    """
    yield Place(source="RFC 8089 3", what="file", where=locator.to_path())
