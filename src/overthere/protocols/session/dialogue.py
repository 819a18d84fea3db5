"""Describes a session for a person to start; it is not opened (RFC 1738 3.8; RFC 4248 2)."""

from __future__ import annotations

from overthere.access.planning import Plan, planned_uri
from overthere.access.policy import Policy
from overthere.access.steps import Interact
from overthere.access.wire import Dialogue, Head


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Describe the session for a person to start; no server is contacted."""
    for step in plan.steps:
        assert isinstance(step, Interact)
        yield session_head(step, plan, policy)


def session_head(step: Interact, plan: Plan, policy: Policy) -> Head:
    """Return the head for a step that is a session.  Raises: AccessRefused if the policy forbids it."""
    from overthere.protocols.session.client import Session

    session = Session(
        program=step.program,
        host=step.host,
        port=step.port,
        user=step.user,
        password=step.password,
        uri=planned_uri(plan.uri),
        policy=policy,
    )
    session.judge()
    session_details = {**step.to_dict(), "suggestion": session.suggestion}
    return Head(None, "scheme", details={"session": session_details}, session=session)
