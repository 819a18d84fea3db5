"""Runs the steps of a plan, for schemes without their own dialogue: connect, send, receive."""

from __future__ import annotations

from overthere.access.errors import ResourceMissing
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Content, Place, Receive, Send
from overthere.access.wire import Data, Dial, Dialogue, Hangup, Head, Wire, Write
from overthere.ground.errors import NotSpecified


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Execute each step in order; the content is read up to the end of the connection, or to a line with a period, or
    taken from the URI itself.

    Raises: NotSpecified for a step that needs a special dialogue; ResourceMissing for a place not on this machine.

    >>> import overthere
    >>> overthere.open("data:text/plain,hello").text()
    'hello'
    """
    wire, has_head = Wire(policy.max_line), False
    for step in plan.steps:
        match step:
            case Connect(host=host, port=port, tls=tls, transport=transport):
                wire = Wire(policy.max_line)
                yield Dial(host, port, tls, transport)
            case Send(data=data):
                yield Write(data)
            case Receive(until="close" | "dot", what=what):
                if not has_head:
                    yield Head()
                has_head = True
                yield from wire.read_to_period(what) if step.until == "dot" else wire.read_rest()
            case Content(media_type=media_type, data=data):
                if not has_head:
                    yield Head(media_type, "scheme", len(data))
                has_head = True
                if data:
                    yield Data(data)
            case Place(what=what, where=where):
                raise ResourceMissing(
                    f"there is no {what} of that name on this machine", "", step.source, plan.uri, where
                )
            case _:
                message = f"{plan.scheme!r} has no dialogue, and nothing else can carry out {step.line()!r}"
                raise NotSpecified(f"{message} ({step.source})")
    yield Hangup()
    if not has_head:
        yield Head()
