"""The peers, operation by operation, and how often each gives the standard's answer."""

from __future__ import annotations

import tomllib
import urllib.parse
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import ada_url
import can_ada
import rfc3986
import rfc3986.validators
import uritools
import url as url_py
import yarl

import overthere
from overthere import Rung
from overthere.kernel.reference import parse

__all__ = ["OPERATIONS", "agrees"]

_BASE = "http://a/b/c/d;p?q"
_OWN, _URL = overthere.URI(_BASE), url_py.URL.parse(_BASE)
_VALIDATOR = rfc3986.validators.Validator().check_validity_of(
    "scheme", "userinfo", "host", "port", "path", "query", "fragment"
)


def _rfc3986_strict(text: str) -> object:
    reference = rfc3986.uri_reference(text)
    _VALIDATOR.validate(reference)
    return reference


def _ada_check(text: str) -> object:
    if not ada_url.check_url(text):
        raise ValueError(text)
    return True


def _any_normal(text: str) -> object:
    """The case rows hold relative references too, which `URI` refuses."""
    return overthere.URIReference(text).normalize(Rung.SYNTAX)


def _reference(text: str) -> str:
    """A reference out of the corpus: its path, query and fragment."""
    return text[text.index("/", 8) :] if "/" in text[8:] else text


Peer = Callable[[str], Any]

OPERATIONS: dict[str, dict[str, Peer]] = {
    "parse": {
        "overthere": overthere.URI,
        "overthere reference": lambda t: parse(t, "URI"),
        "urllib.parse": urllib.parse.urlsplit,
        "rfc3986 + validator": _rfc3986_strict,
        "rfc3986": rfc3986.uri_reference,
        "uritools": uritools.urisplit,
        "yarl": yarl.URL,
        "can_ada": can_ada.parse,
        "ada_url check": _ada_check,
        "url-py": url_py.URL.parse,
    },
    "resolve": {
        "overthere": lambda t: _OWN.join(_reference(t)),
        "urllib.parse": lambda t: urllib.parse.urljoin(_BASE, _reference(t)),
        "rfc3986": lambda t: rfc3986.uri_reference(_reference(t)).resolve_with(_BASE),
        "uritools": lambda t: uritools.urijoin(_BASE, _reference(t)),
        "yarl": lambda t: yarl.URL(_BASE).join(yarl.URL(_reference(t))),
        "ada_url": lambda t: ada_url.join_url(_BASE, _reference(t)),
        "url-py": lambda t: _URL.join(_reference(t)),
    },
    "normalize": {
        "overthere": lambda t: overthere.URI(t).normalize(Rung.SYNTAX),
        "rfc3986": lambda t: rfc3986.normalize_uri(t),
        "can_ada": lambda t: str(can_ada.parse(t)),
        "ada_url": ada_url.normalize_url,
        "yarl": yarl.URL,
    },
    "encode": {
        "overthere": lambda t: overthere.encode(t, "segment"),
        "urllib.parse": lambda t: urllib.parse.quote(t, safe=""),
        "uritools": uritools.uriencode,
    },
}


@cache
def _cases(name: str) -> list[dict[str, Any]]:
    file = Path(__file__).parent.parent / "tests" / "cases" / f"{name}.toml"
    rows: list[dict[str, Any]] = tomllib.loads(file.read_text())["case"]
    return rows


def _share(good: int, total: int) -> str:
    return f"{good}/{total}"


def _refuses(peer: Peer, text: str) -> bool:
    try:
        peer(text)
    except Exception:  # a peer's own refusal, whatever its type
        return True
    return False


def agrees(operation: str, name: str) -> str:
    """How many rows of the case files get the standard's answer."""
    peer = OPERATIONS[operation][name]
    if operation == "parse":
        if name == "overthere reference":
            return "as overthere"
        bad = [row["text"] for row in _cases("invalid")]
        good = [row["text"] for row in _cases("parse") if row["is"]["form"] == "uri"]
        refused = _share(sum(_refuses(peer, t) for t in bad), len(bad))
        taken = _share(sum(not _refuses(peer, t) for t in good), len(good))
        return f"{refused} invalid refused, {taken} valid taken"
    if operation == "resolve":
        rows = [r for r in _cases("resolve") if r["base"] == _BASE]
        plain = {
            "overthere": lambda r: str(_OWN.join(r)),
            "urllib.parse": lambda r: urllib.parse.urljoin(_BASE, r),
            "rfc3986": lambda r: rfc3986.uri_reference(r).resolve_with(_BASE).unsplit(),
            "uritools": lambda r: uritools.urijoin(_BASE, r),
            "yarl": lambda r: str(yarl.URL(_BASE).join(yarl.URL(r))),
            "ada_url": lambda r: ada_url.join_url(_BASE, r),
            "url-py": lambda r: str(_URL.join(r)),
        }[name]
        return f"{_share(sum(_answer(plain, r['reference']) == r['is']['rfc3986'] for r in rows), len(rows))} targets"
    if operation == "normalize":
        rows = [r for r in _cases("normalize") if "PATH" in r["is"]]
        if name == "overthere":
            peer = _any_normal
        return f"{_share(sum(_answer(peer, r['text']) == r['is']['PATH'] for r in rows), len(rows))} normal forms"
    octets = [bytes([b]).decode("latin-1") for b in range(128)]
    return f"{_share(sum(urllib.parse.unquote(_answer(peer, c) or '') == c for c in octets), 128)} read back"


def _answer(peer: Peer, text: str) -> str | None:
    try:
        found = peer(text)
    except Exception:  # a peer's own refusal, whatever its type
        return None
    return found.decode() if isinstance(found, bytes) else str(found)
