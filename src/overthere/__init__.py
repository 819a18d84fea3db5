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

    from overthere import columns, editions, forms, grammar, iri, kernel, links
    from overthere.anatomy import Explanation, explain
    from overthere.editions import check, edition
    from overthere.encoding import decode, decode_bytes, encode
    from overthere.errors import (
        CodingError,
        Finding,
        GrammarError,
        InvalidIRI,
        InvalidURI,
        KernelBug,
        NoBase,
        NotRegular,
        NotSpecified,
        OverthereError,
        Unreachable,
    )
    from overthere.iri import IRI, IRIReference
    from overthere.normalize import Change, Rung, lowest_rung
    from overthere.resolve import Target
    from overthere.uri import URI, URIReference

__version__ = "0.1.0"

# Public name -> the module that has it; a module that is public by itself -> "".
_HOMES = {
    "Change": "normalize",
    "CodingError": "errors",
    "Explanation": "anatomy",
    "Finding": "errors",
    "GrammarError": "errors",
    "IRI": "iri",
    "IRIReference": "iri",
    "InvalidIRI": "errors",
    "InvalidURI": "errors",
    "KernelBug": "errors",
    "NoBase": "errors",
    "NotRegular": "errors",
    "NotSpecified": "errors",
    "OverthereError": "errors",
    "Rung": "rung",
    "Target": "resolve",
    "URI": "uri",
    "URIReference": "uri",
    "Unreachable": "errors",
    "check": "editions",
    "columns": "",
    "decode": "encoding",
    "decode_bytes": "encoding",
    "edition": "editions",
    "editions": "",
    "encode": "encoding",
    "explain": "anatomy",
    "forms": "",
    "grammar": "",
    "iri": "",
    "kernel": "",
    "links": "",
    "lowest_rung": "normalize",
}

__all__ = [
    "IRI",
    "URI",
    "Change",
    "CodingError",
    "Explanation",
    "Finding",
    "GrammarError",
    "IRIReference",
    "InvalidIRI",
    "InvalidURI",
    "KernelBug",
    "NoBase",
    "NotRegular",
    "NotSpecified",
    "OverthereError",
    "Rung",
    "Target",
    "URIReference",
    "Unreachable",
    "check",
    "columns",
    "decode",
    "decode_bytes",
    "edition",
    "editions",
    "encode",
    "explain",
    "forms",
    "grammar",
    "iri",
    "kernel",
    "links",
    "lowest_rung",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = import_module(f"overthere.{home or name}")
    value = getattr(found, name) if home else found
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
