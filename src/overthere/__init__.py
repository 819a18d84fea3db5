"""overthere: the URI system of the specifications, whole.

    >>> from overthere import URI
    >>> URI("http://a/b/c/d;p?q").join("../g")
    URI('http://a/b/g')

Each name is imported when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overthere import (
        access,
        base,
        broken,
        columns,
        editions,
        forms,
        grammar,
        iri,
        kernel,
        links,
        schemes,
        security,
        text,
    )  # fmt: skip
    from overthere.access.errors import AccessError, AccessRefused
    from overthere.access.gateways import Gateways
    from overthere.access.opening import aopen
    from overthere.access.opening import open as open
    from overthere.access.planning import Plan, plan
    from overthere.access.policy import Policy
    from overthere.access.resource import AsyncResource, Resource
    from overthere.access.steps import Credentials
    from overthere.access.wire import Entry
    from overthere.anatomy import Explanation, explain
    from overthere.editions import check, edition
    from overthere.encoding import decode, decode_bytes, encode
    from overthere.errors import (
        CodingError,
        Finding,
        GrammarError,
        InvalidIRI,
        InvalidTemplate,
        InvalidURI,
        KernelBug,
        NoBase,
        NotRegular,
        NotSpecified,
        OverthereError,
        PlanRefused,
        RegistryError,
        Unreachable,
        Unwritable,
    )
    from overthere.iri import IRI, IRIReference
    from overthere.normalize import Change, Rung, lowest_rung
    from overthere.repairs import Repaired, repair
    from overthere.resolve import Target
    from overthere.schemes import Locator, Registry, Scheme, scheme
    from overthere.security import audit
    from overthere.template import Template
    from overthere.text import find, typed
    from overthere.uri import URI, URIReference

__version__ = "0.1.0"

# Public name -> the module that has it; a module that is public by itself -> "".
_HOMES = {
    "AccessError": "access.errors",
    "AccessRefused": "access.errors",
    "AsyncResource": "access.resource",
    "Change": "normalize",
    "CodingError": "errors",
    "Credentials": "access.steps",
    "Entry": "access.wire",
    "Explanation": "anatomy",
    "Finding": "errors",
    "Gateways": "access.gateways",
    "GrammarError": "errors",
    "IRI": "iri",
    "IRIReference": "iri",
    "InvalidIRI": "errors",
    "InvalidTemplate": "errors",
    "InvalidURI": "errors",
    "KernelBug": "errors",
    "Locator": "schemes.locator",
    "NoBase": "errors",
    "NotRegular": "errors",
    "NotSpecified": "errors",
    "OverthereError": "errors",
    "Plan": "access.planning",
    "PlanRefused": "errors",
    "Policy": "access.policy",
    "Registry": "schemes.registry",
    "RegistryError": "errors",
    "Repaired": "repairs",
    "Resource": "access.resource",
    "Rung": "rung",
    "Scheme": "schemes.model",
    "Target": "resolve",
    "Template": "template",
    "URI": "uri",
    "URIReference": "uri",
    "Unreachable": "errors",
    "Unwritable": "errors",
    "access": "",
    "aopen": "access.opening",
    "audit": "security",
    "base": "",
    "broken": "",
    "check": "editions",
    "columns": "",
    "decode": "encoding",
    "decode_bytes": "encoding",
    "edition": "editions",
    "editions": "",
    "encode": "encoding",
    "explain": "anatomy",
    "find": "text",
    "forms": "",
    "grammar": "",
    "iri": "",
    "kernel": "",
    "links": "",
    "lowest_rung": "normalize",
    "open": "access.opening",
    "plan": "access.planning",
    "repair": "repairs",
    "scheme": "schemes",
    "schemes": "",
    "security": "",
    "text": "",
    "typed": "text",
}

# Without `open`, which `from overthere import *` must not take from the builtins.
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
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"overthere.{home or name}")
    value = getattr(module, name) if home else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
