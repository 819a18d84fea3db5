"""Whether an installed package may register schemes, found without importlib.metadata.

That module imports all of `email` and takes longer to load than everything else that a URI's scheme needs; most
environments have no such package.  If a look at files is not enough, the answer is yes, and that module decides.
"""

from __future__ import annotations

import os
import sys

_METADATA_SUFFIXES = (".dist-info", ".egg-info")


def is_named(group: str) -> bool:
    """Whether any package on `sys.path` may have entry points of the group.

    >>> is_named("no.such.group")
    False
    """
    if any(hasattr(finder, "find_distributions") for finder in sys.meta_path if not _is_usual(finder)):
        return True
    heading = f"[{group}]".encode()
    return any(_may_name(place or os.curdir, heading) for place in dict.fromkeys(sys.path))


def _is_usual(finder: object) -> bool:
    """Whether this is the finder of `sys.path`."""
    return getattr(finder, "__name__", "") == "PathFinder" and getattr(finder, "__module__", "") in (
        "_frozen_importlib_external",
        "importlib._bootstrap_external",
    )


def _may_name(place: str, heading: bytes) -> bool:
    try:
        names = os.listdir(place)
    except FileNotFoundError:
        return False
    except OSError:  # an archive, or another place that a finder may read
        return True
    return any(
        _contains_heading(os.path.join(place, name, "entry_points.txt"), heading)
        for name in names
        if name.lower().endswith(_METADATA_SUFFIXES) or name.lower() == "egg-info"
    )


def _contains_heading(path: str, heading: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return heading in file.read()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
