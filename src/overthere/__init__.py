"""A complete URI library for Python, faithful to RFC 3986 and the four documents before it.

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
    from overthere.ground.errors import (
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
    from overthere.repairs import Repaired, repair
    from overthere.schemes import Locator, Registry, Scheme, scheme
    from overthere.security import audit
    from overthere.security.web_addresses import WebAddress, web_address
    from overthere.text import find, typed
    from overthere.values.encoding import decode, decode_bytes, encode
    from overthere.values.normalize import Change, Rung, lowest_rung
    from overthere.values.resolve import Target
    from overthere.values.template import Template
    from overthere.values.uri import URI, URIReference

__version__ = "0.1.0"

# Public name -> the module that has it, or that it is.
_HOMES = {
    "AccessError": "access.errors",
    "AccessRefused": "access.errors",
    "AsyncResource": "access.resource",
    "Change": "values.normalize",
    "CodingError": "ground.errors",
    "Credentials": "access.steps",
    "Entry": "access.wire",
    "Explanation": "anatomy",
    "Finding": "ground.errors",
    "Gateways": "access.gateways",
    "GrammarError": "ground.errors",
    "IRI": "iri",
    "IRIReference": "iri",
    "InvalidIRI": "ground.errors",
    "InvalidTemplate": "ground.errors",
    "InvalidURI": "ground.errors",
    "KernelBug": "ground.errors",
    "Locator": "schemes.locator",
    "NoBase": "ground.errors",
    "NotRegular": "ground.errors",
    "NotSpecified": "ground.errors",
    "OverthereError": "ground.errors",
    "Plan": "access.planning",
    "PlanRefused": "ground.errors",
    "Policy": "access.policy",
    "Registry": "schemes.registry",
    "RegistryError": "ground.errors",
    "Repaired": "repairs",
    "Resource": "access.resource",
    "Rung": "ground.rung",
    "Scheme": "schemes.model",
    "Target": "values.resolve",
    "Template": "values.template",
    "URI": "values.uri",
    "URIReference": "values.uri",
    "Unreachable": "ground.errors",
    "Unwritable": "ground.errors",
    "WebAddress": "security.web_addresses",
    "access": "access",
    "aopen": "access.opening",
    "audit": "security",
    "base": "base",
    "broken": "broken",
    "check": "editions",
    "columns": "columns",
    "decode": "values.encoding",
    "decode_bytes": "values.encoding",
    "edition": "editions",
    "editions": "editions",
    "encode": "values.encoding",
    "explain": "anatomy",
    "find": "text",
    "forms": "forms",
    "grammar": "grammar",
    "iri": "iri",
    "kernel": "kernel",
    "links": "links",
    "lowest_rung": "values.normalize",
    "open": "access.opening",
    "plan": "access.planning",
    "repair": "repairs",
    "scheme": "schemes",
    "schemes": "schemes",
    "security": "security",
    "text": "text",
    "typed": "text",
    "web_address": "security.web_addresses",
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


_ELSEWHERE = {
    "URL": "URI", "Url": "URI", "get": "open(uri)", "is_valid": "URI.can_parse(text)",
    "join": "URI(base).join(reference)",
    "normalize": "URI(text).normalize()", "parse": "URI(text)", "parse_qs": "URI(text).parameters",
    "parse_qsl": "URI(text).parameters", "quote": "encode(data)", "quote_plus": "forms.encode(pairs)",
    "resolve": "URI(base).join(reference)", "split": "URI(text)", "unquote": "decode(text)",
    "uri_reference": "URIReference(text)", "urldefrag": "URI(text).replace(fragment=None)",
    "urlencode": "forms.encode(pairs)", "urljoin": "URI(base).join(reference)", "urlopen": "open(uri)",
    "urlparse": "URI(text)", "urlsplit": "URI(text)", "urlunparse": "URI.build(...)", "urlunsplit": "URI.build(...)",
    "validate": "check(text)",
}  # fmt: skip
"""What other libraries call it -> what to write here."""


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        hint = f"; use overthere.{_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}", name=name)
    from importlib import import_module

    module = import_module(f"overthere.{home}")
    value = module if home.rpartition(".")[2] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
