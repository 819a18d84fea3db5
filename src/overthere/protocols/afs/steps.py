"""afs: the path of a file in the global tree `/afs` (RFC 1738 4: "global file names")."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.access.steps import Credentials, Place, Step
from overthere.ground.errors import PlanRefused
from overthere.schemes.known.afs import AFSLocator
from overthere.schemes.known.file.paths import check_segment
from overthere.values.hosts.name import host_name

_SOURCE = "RFC 1738 4"


def steps(locator: AFSLocator, credentials: Credentials) -> Iterator[Step]:
    """Return one step, the place; nothing is opened.

    Raises: PlanRefused for a name that would lead out of the cell, or is not valid (RFC 8089 5).

    >>> from overthere import plan
    >>> plan("afs://cern.ch/user/t/timbl").steps
    (Place(source='RFC 1738 4', what='AFS file', where='/afs/cern.ch/user/t/timbl'),)
    """
    if locator.query is not None:
        raise PlanRefused('an afs URI cannot have a query: write "?" in a name as "%3F"', "RFC 3986 3.3")
    cell = host_name(locator.cellname)
    if not cell:
        raise PlanRefused("the cell is missing", _SOURCE)
    segments = [locator.native(segment) for segment in locator.segments]
    for name in (cell, *segments):
        check_segment(name, "posix")
    yield Place(source=_SOURCE, what="AFS file", where="/".join(("/afs", cell, *segments)))
