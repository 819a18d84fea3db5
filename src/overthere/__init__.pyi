# Written by `make docs` out of `_HOMES` in the module beside it.
from collections.abc import Callable, Mapping
from typing import Any

from overthere import access as access
from overthere import base as base
from overthere import broken as broken
from overthere import columns as columns
from overthere import editions as editions
from overthere import forms as forms
from overthere import grammar as grammar
from overthere import iri as iri
from overthere import kernel as kernel
from overthere import links as links
from overthere import schemes as schemes
from overthere import security as security
from overthere import text as text
from overthere.access.errors import AccessError as AccessError
from overthere.access.errors import AccessRefused as AccessRefused
from overthere.access.gateways import Gateways as Gateways
from overthere.access.opening import aopen as aopen
from overthere.access.opening import open as open
from overthere.access.planning import Plan as Plan
from overthere.access.planning import plan as plan
from overthere.access.policy import Policy as Policy
from overthere.access.resource import AsyncResource as AsyncResource
from overthere.access.resource import Resource as Resource
from overthere.access.steps import Credentials as Credentials
from overthere.access.wire import Entry as Entry
from overthere.anatomy import Explanation as Explanation
from overthere.anatomy import explain as explain
from overthere.editions import check as check
from overthere.editions import edition as edition
from overthere.ground.errors import CodingError as CodingError
from overthere.ground.errors import Finding as Finding
from overthere.ground.errors import GrammarError as GrammarError
from overthere.ground.errors import InvalidIRI as InvalidIRI
from overthere.ground.errors import InvalidTemplate as InvalidTemplate
from overthere.ground.errors import InvalidURI as InvalidURI
from overthere.ground.errors import KernelBug as KernelBug
from overthere.ground.errors import NoBase as NoBase
from overthere.ground.errors import NotRegular as NotRegular
from overthere.ground.errors import NotSpecified as NotSpecified
from overthere.ground.errors import OverthereError as OverthereError
from overthere.ground.errors import PlanRefused as PlanRefused
from overthere.ground.errors import RegistryError as RegistryError
from overthere.ground.errors import Unreachable as Unreachable
from overthere.ground.errors import Unwritable as Unwritable
from overthere.ground.rung import Rung as Rung
from overthere.iri import IRI as IRI
from overthere.iri import IRIReference as IRIReference
from overthere.repairs import Repaired as Repaired
from overthere.repairs import repair as repair
from overthere.schemes import scheme as scheme
from overthere.schemes.locator import Locator as Locator
from overthere.schemes.model import Scheme as Scheme
from overthere.schemes.registry import Registry as Registry
from overthere.security import audit as audit
from overthere.security.web_addresses import WebAddress as WebAddress
from overthere.security.web_addresses import web_address as web_address
from overthere.text import find as find
from overthere.text import typed as typed
from overthere.values.encoding import decode as decode
from overthere.values.encoding import decode_bytes as decode_bytes
from overthere.values.encoding import encode as encode
from overthere.values.normalize import Change as Change
from overthere.values.normalize import lowest_rung as lowest_rung
from overthere.values.resolve import Target as Target
from overthere.values.template import Template as Template
from overthere.values.uri import URI as URI
from overthere.values.uri import URIReference as URIReference

__all__ = [
    "AccessError",
    "AccessRefused",
    "AsyncResource",
    "Change",
    "CodingError",
    "Credentials",
    "Entry",
    "Explanation",
    "Finding",
    "Gateways",
    "GrammarError",
    "IRI",
    "IRIReference",
    "InvalidIRI",
    "InvalidTemplate",
    "InvalidURI",
    "KernelBug",
    "Locator",
    "NoBase",
    "NotRegular",
    "NotSpecified",
    "OverthereError",
    "Plan",
    "PlanRefused",
    "Policy",
    "Registry",
    "RegistryError",
    "Repaired",
    "Resource",
    "Rung",
    "Scheme",
    "Target",
    "Template",
    "URI",
    "URIReference",
    "Unreachable",
    "Unwritable",
    "WebAddress",
    "access",
    "aopen",
    "audit",
    "base",
    "broken",
    "check",
    "columns",
    "decode",
    "decode_bytes",
    "edition",
    "editions",
    "encode",
    "explain",
    "find",
    "forms",
    "grammar",
    "iri",
    "kernel",
    "links",
    "lowest_rung",
    "plan",
    "repair",
    "scheme",
    "schemes",
    "security",
    "text",
    "typed",
    "web_address",
]

__version__: str
_HOMES: dict[str, str]
_ELSEWHERE: dict[str, str]

def lazy_names(
    module: str, homes: Mapping[str, str], package: str = ..., elsewhere: Mapping[str, str] | None = ...
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]: ...

def __dir__() -> list[str]: ...
