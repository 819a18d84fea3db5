"""Opens a path of the AFS tree where the system mounts it (RFC 1738 4)."""

from __future__ import annotations

from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Place
from overthere.access.wire import Dialogue
from overthere.protocols.file.dialogue import looked_at


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Open the file or list the directory.  Raises: ResourceMissing if AFS is not mounted, or the path is missing."""
    for step in plan.steps:
        assert isinstance(step, Place)
        yield from looked_at(step.where, "/afs")
