"""The peers for single values, by operation: an expression over the text `t`, timed as written.

An expression is compiled into the timing loop, so that no peer has a wrapper around it, and none is without.
Where a peer works on an object of its own, `made` makes it from the text before the time is taken.
"""

from __future__ import annotations

import urllib.parse
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import ada_url
import can_ada
import pydantic_core
import rfc3986
import rfc3986.validators
import uritools
import url as url_py
import yarl
import yarl._quoting

import overthere
from overthere import Rung
from overthere.kernel import reference

OWN = "overthere"
BASE = "http://a/b/c/d;p?q"


@dataclass(frozen=True)
class Peer:
    """An expression over `t` (and `base`); how `t` and `base` are made of text; its answer, where it is not text."""

    do: str
    made: str = "t"
    base: str = "b"
    answer: str = ""


_VALIDATOR = rfc3986.validators.Validator().check_validity_of(
    "scheme", "userinfo", "host", "port", "path", "query", "fragment"
)

# The names that the expressions may use.
NAMES: dict[str, Any] = {
    "URI": overthere.URI,
    "Reference": overthere.URIReference,
    "SCHEME": Rung.SCHEME,
    "SYNTAX": Rung.SYNTAX,
    "encode": overthere.encode,
    "decode": overthere.decode,
    "reference_parse": reference.parse,
    "urlsplit": urllib.parse.urlsplit,
    "urlunsplit": urllib.parse.urlunsplit,
    "urljoin": urllib.parse.urljoin,
    "quote": urllib.parse.quote,
    "unquote": urllib.parse.unquote,
    "uri_reference": rfc3986.uri_reference,
    "normalize_uri": rfc3986.normalize_uri,
    "validate": _VALIDATOR.validate,
    "urisplit": uritools.urisplit,
    "urijoin": uritools.urijoin,
    "uriencode": uritools.uriencode,
    "uridecode": uritools.uridecode,
    "YarlURL": yarl.URL,
    "yarl_quote": yarl._quoting._Quoter(requote=False),
    "yarl_unquote": yarl._quoting._Unquoter(),
    "can_ada_parse": can_ada.parse,
    "can_parse": can_ada.can_parse,
    "AdaURL": ada_url.URL,
    "check_url": ada_url.check_url,
    "join_url": ada_url.join_url,
    "normalize_url": ada_url.normalize_url,
    "url_py_parse": url_py.URL.parse,
    "PydanticUrl": pydantic_core.Url,
}

_OBJECTS = {
    OWN: "URI(t)",
    "urllib.parse": "urlsplit(t)",
    "rfc3986": "uri_reference(t)",
    "uritools": "urisplit(t)",
    "yarl": "YarlURL(t)",
    "can_ada": "can_ada_parse(t)",
    "ada_url": "AdaURL(t)",
    "url-py": "url_py_parse(t)",
    "pydantic_core": "PydanticUrl(t)",
}

_SIX = {
    OWN: "scheme host port path query fragment",
    "urllib.parse": "scheme hostname port path query fragment",
    "rfc3986": "scheme host port path query fragment",
    "uritools": "scheme host port path query fragment",
    "yarl": "scheme raw_host explicit_port raw_path raw_query_string raw_fragment",
    "can_ada": "protocol hostname port pathname search hash",
    "ada_url": "protocol hostname port pathname search hash",
    "url-py": "scheme host_str port path query fragment",
    "pydantic_core": "scheme host port path query fragment",
}
WHATWG = frozenset({"can_ada", "ada_url"})
"""Peers whose getters include the delimiters."""
TELLS = frozenset({OWN, "rfc3986", "uritools", "url-py", "pydantic_core"})
"""Who has an answer of its own for an undefined component."""


def _read(name: str) -> Peer:
    six = [f"u.{attribute}" for attribute in _SIX[name].split()]
    return Peer(f"u = {_OBJECTS[name]}; {'; '.join(six)}", answer=f"(u := {_OBJECTS[name]}, {', '.join(six)})[1:]")


OPERATIONS: dict[str, dict[str, Peer]] = {
    "parse": {
        **{name: Peer(text) for name, text in _OBJECTS.items()},
        "overthere, in Python": Peer("reference_parse(t, 'URI')", answer="reference_parse(t, 'URI') or False"),
        "rfc3986 + validator": Peer("validate(uri_reference(t))", answer="validate(uri_reference(t)) is None"),
        "can_ada, yes or no": Peer("can_parse(t)"),
        "ada_url, yes or no": Peer("check_url(t)"),
    },
    "read": {name: _read(name) for name in _SIX},
    "resolve": {
        OWN: Peer("base.join(t)", base="URI(b)"),
        "urllib.parse": Peer("urljoin(base, t)"),
        "rfc3986": Peer(
            "uri_reference(t).resolve_with(base)",
            base="uri_reference(b)",
            answer="uri_reference(t).resolve_with(base).unsplit()",
        ),
        "uritools": Peer("urijoin(base, t)"),
        "yarl": Peer("base.join(YarlURL(t))", base="YarlURL(b)"),
        "can_ada": Peer("base + t", base="can_ada_parse(b)"),
        "ada_url": Peer("join_url(base, t)"),
        "url-py": Peer("base.join(t)", base="url_py_parse(b)"),
    },
    "normalize": {
        OWN: Peer("str(URI(t).normalize(SYNTAX))"),
        "rfc3986": Peer("normalize_uri(t)"),
        "yarl": Peer("str(YarlURL(t))"),
        "can_ada": Peer("str(can_ada_parse(t))"),
        "ada_url": Peer("normalize_url(t)"),
        "url-py": Peer("str(url_py_parse(t))"),
        "pydantic_core": Peer("str(PydanticUrl(t))"),
    },
    "normalize by scheme": {
        OWN: Peer("str(URI(t).normalize(SCHEME))"),
        "rfc3986": Peer("normalize_uri(t)"),
        "yarl": Peer("str(YarlURL(t))"),
        "can_ada": Peer("str(can_ada_parse(t))"),
        "ada_url": Peer("normalize_url(t)"),
        "url-py": Peer("str(url_py_parse(t))"),
        "pydantic_core": Peer("str(PydanticUrl(t))"),
    },
    "changes": {OWN: Peer("URI(t).changes()")},
    "relate": {
        OWN: Peer("base.relate(t)", base="URI(b)"),
        "url-py": Peer("base.make_relative(url_py_parse(t))", base="url_py_parse(b)"),
    },
    "str": {
        OWN: Peer("str(t)", "URI(t)"),
        "urllib.parse": Peer("urlunsplit(t)", "urlsplit(t)"),
        "rfc3986": Peer("t.unsplit()", "uri_reference(t)"),
        "uritools": Peer("t.geturi()", "urisplit(t)"),
        "yarl": Peer("str(t)", "YarlURL(t)"),
        "can_ada": Peer("str(t)", "can_ada_parse(t)"),
        "ada_url": Peer("str(t)", "AdaURL(t)"),
        "url-py": Peer("str(t)", "url_py_parse(t)"),
        "pydantic_core": Peer("str(t)", "PydanticUrl(t)"),
    },
    "encode": {
        OWN: Peer("encode(t, keep='')"),
        "urllib.parse": Peer("quote(t, safe='')"),
        "uritools": Peer("uriencode(t)"),
        "yarl": Peer("yarl_quote(t)"),
    },
    "decode": {
        OWN: Peer("decode(t)"),
        "urllib.parse": Peer("unquote(t)"),
        "uritools": Peer("uridecode(t)"),
        "yarl": Peer("yarl_unquote(t)"),
    },
}
OPERATIONS["decode, nothing to do"] = OPERATIONS["decode"]


def versions() -> dict[str, str]:
    """The libraries that are measured."""
    names = ("overthere", "ada-url", "can_ada", "pydantic-core", "rfc3986", "uritools", "url-py", "yarl")
    return {name: version(name) for name in (*names, "chdb", "chdb-core", "duckdb", "polars", "pyarrow", "numpy")}
