"""The drop-in compared with urllib.parse: processor time of each function on the same URLs, and equal answers.

python bench/integrations.py [URLS]
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any
from urllib import parse

from corpus import Corpus, corpus
from overthere.integrations import urllib as lenient
from overthere.integrations.urllib import strict
from rounds import rotate, summary

URLS = 20_000
_MODULES = {"urllib.parse": parse, "overthere": lenient, "strict": strict}

FUNCTIONS: dict[str, Callable[[str, str], Any]] = {
    "urlsplit": lambda text, reference: (text,),
    "urlparse": lambda text, reference: (text,),
    "urldefrag": lambda text, reference: (text,),
    "urljoin": lambda text, reference: (text, reference),
    "urlunsplit": lambda text, reference: (parse.urlsplit(text),),
    "urlunparse": lambda text, reference: (parse.urlparse(text),),
    "quote": lambda text, reference: (text,),
    "quote_plus": lambda text, reference: (parse.unquote(text),),
    "quote_from_bytes": lambda text, reference: (text.encode(),),
    "unquote": lambda text, reference: (parse.quote(text),),
    "unquote_plus": lambda text, reference: (parse.quote_plus(text),),
    "unquote_to_bytes": lambda text, reference: (parse.quote(text),),
    "parse_qs": lambda text, reference: (parse.urlsplit(text).query,),
    "parse_qsl": lambda text, reference: (parse.urlsplit(text).query,),
    "urlencode": lambda text, reference: (parse.parse_qsl(parse.urlsplit(text).query, True),),
}
"""Each function of urllib.parse, and its arguments made of a URL and a reference."""


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(*arguments)
    except ValueError:
        return ValueError


def _seconds(function: Callable[..., Any], inputs: list[tuple[Any, ...]]) -> float:
    """Time calls one after another, without urllib's cache of earlier calls."""
    getattr(parse, "clear_cache", lambda: None)()
    gc.collect()
    gc.disable()
    start = time.process_time_ns()
    for arguments in inputs:
        function(*arguments)
    seconds = time.process_time_ns() - start
    gc.enable()
    return seconds / 1e9


def _inputs(name: str, pairs: list[tuple[str, str]]) -> list[tuple[Any, ...]]:
    """The arguments for each pair of a URL and a reference for which urllib can make them.

    Functions of queries get each query of the URLs; one that is empty takes no time.
    """
    outcomes = [_outcome(FUNCTIONS[name], pair) for pair in pairs]
    return [one for one in outcomes if one is not ValueError and (one[0] or not name.startswith("parse_qs"))]


def _row(name: str, pairs: list[tuple[str, str]], rounds: int) -> dict[str, Any]:
    inputs = _inputs(name, pairs)
    outcomes = {peer: [_outcome(getattr(module, name), pair) for pair in inputs] for peer, module in _MODULES.items()}
    # Arguments that one of them rejects are not timed.
    timed = [
        pair
        for pair, *answers in zip(inputs, *outcomes.values(), strict=True)
        if all(a is not ValueError for a in answers)
    ]
    if not timed:
        return {}
    times: dict[str, list[float]] = {peer: [] for peer in _MODULES}
    for round_number in range(rounds):
        for peer in rotate(list(_MODULES), round_number):
            times[peer].append(_seconds(getattr(_MODULES[peer], name), timed))
    theirs, ours = outcomes["urllib.parse"], outcomes["overthere"]
    row: dict[str, Any] = {"section": "integrations", "operation": "urllib", "peer": name}
    row |= summary(times["overthere"], len(timed))
    row |= {f"{peer}_ns": summary(times[peer], len(timed))["ns"] for peer in ("urllib.parse", "strict")}
    equal = sum(our == other for our, other in zip(ours, theirs, strict=True))
    return row | {"right": equal, "of": len(inputs), "strict_refused": outcomes["strict"].count(ValueError)}


def measure(texts: Corpus, rounds: int = 5, urls: int = URLS) -> list[list[dict[str, Any]]]:
    """A row for each function that some real text of the corpus gives an argument."""
    sources = texts.table["source"].to_pylist()
    real = [
        pair
        for pair, source in zip(zip(texts.texts, texts.references, strict=True), sources, strict=True)
        if source != "made"
    ]
    return [[row for name in FUNCTIONS if (row := _row(name, real[:urls], rounds))]]


if __name__ == "__main__":
    import report

    count = int(sys.argv[1]) if len(sys.argv) > 1 else URLS
    for group in measure(corpus(10 * count), urls=count):
        print(report.table(group))
