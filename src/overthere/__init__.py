"""A complete URI library for Python, faithful to RFC 3986 and the four documents before it.

    >>> from overthere import URI
    >>> URI("http://a/b/c/d;p?q").join("../g")
    URI('http://a/b/g')

Each name is imported when it is first used.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__version__ = "0.1.0"

# Public name -> the module that defines it, or that it is.
_HOMES = {
    "AccessError": "access.errors", "AccessRefused": "access.errors", "AsyncResource": "access.resource",
    "Change": "values.normalize", "CodingError": "ground.errors", "Credentials": "access.steps",
    "Entry": "access.wire", "Explanation": "anatomy", "Finding": "ground.errors", "Gateways": "access.gateways",
    "GrammarError": "ground.errors", "IRI": "iri", "IRIReference": "iri", "InvalidIRI": "ground.errors",
    "InvalidTemplate": "ground.errors", "InvalidURI": "ground.errors", "KernelBug": "ground.errors",
    "Locator": "schemes.locator", "NoBase": "ground.errors", "NotRegular": "ground.errors",
    "NotSpecified": "ground.errors", "OverthereError": "ground.errors", "Plan": "access.planning",
    "PlanRefused": "ground.errors", "Policy": "access.policy", "Registry": "schemes.registry",
    "RegistryError": "ground.errors", "Repaired": "repairs", "Resource": "access.resource", "Rung": "ground.rung",
    "Scheme": "schemes.model", "Target": "values.resolve", "Template": "values.template", "URI": "values.uri",
    "URIReference": "values.uri", "Unreachable": "ground.errors", "Unwritable": "ground.errors",
    "WebAddress": "security.web_addresses", "access": "access", "aopen": "access.opening", "audit": "security",
    "base": "base", "broken": "broken", "check": "editions", "columns": "columns", "decode": "values.encoding",
    "decode_bytes": "values.encoding", "edition": "editions", "editions": "editions", "encode": "values.encoding",
    "explain": "anatomy", "find": "text", "forms": "forms", "grammar": "grammar", "iri": "iri", "kernel": "kernel",
    "links": "links", "lowest_rung": "values.normalize", "open": "access.opening", "plan": "access.planning",
    "repair": "repairs", "scheme": "schemes", "schemes": "schemes", "security": "security", "text": "text",
    "typed": "text", "web_address": "security.web_addresses",
}  # fmt: skip

# Without `open`, which `from overthere import *` must not take from the builtins.  Type checkers read `__init__.pyi`,
# which tools/generate.py writes.
__all__ = sorted(_HOMES.keys() - {"open"})  # pyright: ignore[reportUnsupportedDunderAll]

_ELSEWHERE = {
    "URL": "URI", "Url": "URI", "get": "open(uri)", "is_valid": "URI.can_parse(text)",
    "join": "URI(base).join(reference)",
    "normalize": "URI(text).normalize()", "parse": "URI(text)", "parse_qs": "URI(text).parameters",
    "parse_qsl": "URI(text).parameters", "quote": "encode(data)", "quote_plus": "encode(data)",
    "resolve": "URI(base).join(reference)", "split": "URI(text)", "unquote": "decode(text)",
    "uri_reference": "URIReference(text)", "urldefrag": "URI(text).replace(fragment=None)",
    "urlencode": "forms.encode(pairs)", "urljoin": "URI(base).join(reference)", "urlopen": "open(uri)",
    "urlparse": "URI(text)", "urlsplit": "URI(text)", "urlunparse": "URI.build(...)", "urlunsplit": "URI.build(...)",
    "validate": "check(text)",
}  # fmt: skip
"""Names of other libraries -> the equivalent here."""


def lazy_names(
    module: str, homes: Mapping[str, str], package: str = "", elsewhere: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a module whose names are imported on first use (PEP 562).

    homes: each name, with the module below the package that defines it, or that it is.
    package: by default the module itself.
    elsewhere: names of other libraries, with the equivalent here.

    It is defined here, and this module imports none of its submodules: another thread that imports one first would hold
    its lock and wait for this module, which up to CPython 3.14 is a deadlock.
    """

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            hint = f"; use overthere.{elsewhere[name]}" if elsewhere and name in elsewhere else ""
            raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}", name=name)
        from importlib import import_module

        loaded_module = import_module(f"{package or module}.{home}")
        value = loaded_module if home.rpartition(".")[2] == name else getattr(loaded_module, name)
        setattr(sys.modules[module], name, value)
        return value

    return find, lambda: sorted({*homes, *vars(sys.modules[module])})


__getattr__, _ = lazy_names(__name__, _HOMES, elsewhere=_ELSEWHERE)


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
