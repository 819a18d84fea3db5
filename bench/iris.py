"""IRIs, one value at a time, compared with peers that accept non-ASCII text and with the URI that each maps to.

The texts: URLs of the corpus with letters of other scripts in their paths, and in every tenth host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import w3lib.url

import iricolumns
import overthere
import standard
from corpus import Corpus
from peers import NAMES, OWN, Peer
from standard import REFUSED, Share, call_or_refused, is_uri, share
from values import answer_once, time_peers

Row = dict[str, Any]
NAMES |= {
    "IRI": overthere.IRI,
    "IRIReference": overthere.IRIReference,
    "safe_url_string": w3lib.url.safe_url_string,
}
_SAFE = "!#$%&'()*+,/:;=?@[]~"
# Additional measurements: by another rule, and of the text without letters beyond US-ASCII.
_FURTHER = {
    "overthere, a reference": Peer("IRIReference(t)"),
    "overthere, the URI that is meant": Peer("URI(t)", made="str(IRI(t).to_uri())"),
}
_READ = {
    OWN: Peer("IRI(t)"),
    **_FURTHER,
    "urllib.parse": Peer("urlsplit(t)"),
    "uritools": Peer("urisplit(t)"),
    "yarl": Peer("YarlURL(t)"),
    "can_ada": Peer("can_ada_parse(t)"),
    "ada_url": Peer("AdaURL(t)"),
    "url-py": Peer("url_py_parse(t)"),
    "pydantic_core": Peer("PydanticUrl(t)"),
}
_TO_URI = {
    OWN: Peer("str(IRI(t).to_uri())"),
    "urllib.parse": Peer(f"quote(t, safe={_SAFE!r})"),
    "w3lib": Peer("safe_url_string(t)"),
    "yarl": Peer("str(YarlURL(t))"),
    "can_ada": Peer("str(can_ada_parse(t))"),
    "ada_url": Peer("normalize_url(t)"),
    "url-py": Peer("str(url_py_parse(t))"),
    "pydantic_core": Peer("str(PydanticUrl(t))"),
}
_TO_IRI = {
    OWN: Peer("str(URI(t).to_iri())"),
    "yarl": Peer("t.human_repr()", made="YarlURL(t, encoded=True)"),
}
OPERATIONS: dict[str, dict[str, Peer]] = {"read an IRI": _READ, "IRI to URI": _TO_URI, "URI to IRI": _TO_IRI}

_LETTERS = str.maketrans("aeiouns", "\u00e4\u00e9\u00ee\u00f6\u0443\u043d\u6f22")


def to_iris(texts: list[str]) -> list[str]:
    """IRIs made of URLs, all with letters beyond US-ASCII."""
    results = []
    for number, text in enumerate(filter(is_uri, texts)):
        start, slashes, tail = text.partition("://")
        host, slash, path = tail.partition("/")
        if number % 10 == 0 and "[" not in host:
            host = host.translate(_LETTERS)
        result = f"{start}{slashes}{host}{slash}{'%'.join(_pieces_between_escapes(path))}"
        if not result.isascii():
            results.append(result)
    return results


def _pieces_between_escapes(path: str) -> Iterator[str]:
    """The pieces between "%", each without a change to the digits of its escape."""
    for number, piece in enumerate(path.split("%")):
        yield piece.translate(_LETTERS) if number == 0 else piece[:2] + piece[2:].translate(_LETTERS)


def agrees(operation: str, peer: Peer) -> Share:
    """The number of rows of tests/cases/iri.toml, for reading also of invalid.toml, with the standard's answer."""
    ask: Callable[[str], Any] = answer_once(peer)
    rows = standard.iris()
    if operation == "read an IRI":
        bad = [text for text in standard.invalid() if text.isascii()]
        accepted = [call_or_refused(ask, iri) is not REFUSED for iri, _, _ in rows]
        return share(accepted + [call_or_refused(ask, text) is REFUSED for text in bad])
    if operation == "IRI to URI":
        return share([call_or_refused(ask, iri) == uri for iri, uri, _ in rows])
    return share([call_or_refused(ask, uri) == back for _, uri, back in rows])


def measure(corpus: Corpus, rounds: int = 5, budget: float = 1.0, most: int = 20_000) -> Iterator[list[Row]]:
    """The rows of each operation."""
    iris = to_iris(corpus.texts[:most])
    uris = [str(overthere.IRI(text).to_uri()) for text in iris]
    for operation, peers in OPERATIONS.items():
        times = time_peers(peers, uris if operation == "URI to IRI" else iris, rounds, budget)
        yield [
            {"section": "iris", "operation": operation, "peer": name, **row}
            | ({} if name in _FURTHER else agrees(operation, peers[name]).row())
            for name, row in times.items()
        ]
    yield from iricolumns.measure(iris, uris, rounds, budget, iricolumns.ROWS if most > 2000 else 10 * most)
