# Written by `make docs` out of `_HOMES` in the module beside it.
from overthere.access.gateways import Gateways as Gateways
from overthere.access.planning import Cited as Cited
from overthere.access.planning import Plan as Plan
from overthere.access.planning import plan as plan
from overthere.access.steps import CRLF as CRLF
from overthere.access.steps import Compose as Compose
from overthere.access.steps import Connect as Connect
from overthere.access.steps import Content as Content
from overthere.access.steps import Credentials as Credentials
from overthere.access.steps import Interact as Interact
from overthere.access.steps import OpenData as OpenData
from overthere.access.steps import Place as Place
from overthere.access.steps import Receive as Receive
from overthere.access.steps import Role as Role
from overthere.access.steps import Send as Send
from overthere.access.steps import Step as Step
from overthere.access.steps import connect as connect
from overthere.access.steps import guarded as guarded

__all__ = [
    "CRLF",
    "Cited",
    "Compose",
    "Connect",
    "Content",
    "Credentials",
    "Gateways",
    "Interact",
    "OpenData",
    "Place",
    "Plan",
    "Receive",
    "Role",
    "Send",
    "Step",
    "connect",
    "guarded",
    "plan",
]
