"""Valid and invalid text: one loop over both, as in a program that reads untrusted text.

The loop tries, and passes over what is refused; its time is that of all texts.  **right** is how often a peer takes a
text if and only if it is a URI.  The lists: URLs of the corpus with 0, 1, 10 or 100 % damaged (`spoil`), and the real
ones of `lists.py`.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import overthere
from corpus import Corpus
from lists import composition, lists
from peers import NAMES, OPERATIONS, OWN, Peer
from rounds import rotate, summary
from standard import REFUSED, Share, call_or_refused, is_uri
from values import LEAST_ROUNDS, answer_once

Row = dict[str, Any]
SHARES = (0, 1, 10, 100)
"""Bad texts in a hundred."""
_SEED = 3986
_NOWHERE = (*' "<>\\^`{|}\t\x7f\u00e9\u6f22', "%", "%4", "%zz", "%u2019")
"""Characters that no URI contains (RFC 3986 2), and invalid escapes (2.1)."""
# Ours appear when they are there.
_FURTHER = {
    "overthere, or None": ("parse", Peer("parse_uri(t)")),
    "overthere, yes or no": ("can_parse", Peer("can_parse_uri(t)")),
}


def peers() -> dict[str, Peer]:
    """Those that say of a text whether they take it."""
    ours = {name: peer for name, (method, peer) in _FURTHER.items() if hasattr(overthere.URI, method)}
    return {OWN: OPERATIONS["parse"][OWN], **ours, **OPERATIONS["parse"]}


def spoil(text: str, chance: random.Random) -> str:
    """Make a URI invalid with one of the common mistakes."""
    scheme, _, tail = text.partition(":")
    match chance.randrange(10):
        case 0:
            return tail  # a reference, perhaps, and no URI
        case 1:
            return f"{text}#a#b"
        case 2:
            return f"{text}]"
        case 3:
            return f"{chance.choice('0-+.')}{text}"
        case 4:
            return f"{scheme}://[{tail.lstrip('/')}"
        case _:
            at = chance.randint(len(scheme) + 1, len(text))
            end = text[at:].lstrip("0123456789abcdefABCDEF")  # which would make an escape of a "%"
            return f"{text[:at]}{chance.choice(_NOWHERE)}{end}"


def mix(texts: list[str], share: int) -> list[str]:
    """The URIs among the texts, with this percentage damaged, evenly."""
    chance = random.Random(_SEED)
    found = []
    for number, text in enumerate(filter(is_uri, texts)):
        if number * share // 100 < (number + 1) * share // 100:
            while is_uri(bad := spoil(text, chance)):  # such a one is a URI of another kind
                pass
            text = bad
        found.append(text)
    return found


def _loop(peer: Peer) -> Callable[[list[str]], int]:
    names = {**NAMES, "clock": time.thread_time_ns}
    for method in ("parse", "can_parse"):
        names[f"{method}_uri"] = getattr(overthere.URI, method, None)
    body = f"  try: {peer.do}\n  except Exception: pass\n"
    exec(f"def timed(inputs):\n start = clock()\n for t in inputs:\n{body} return clock() - start\n", names)
    timed: Callable[[list[str]], int] = names["timed"]
    return timed


def accepts(name: str, peer: Peer, texts: list[str]) -> list[bool]:
    """Whether a peer accepts a text: it raises nothing, and returns neither False nor None."""
    if name in _FURTHER:
        ask: Callable[[str], Any] = getattr(overthere.URI, _FURTHER[name][0])
    else:
        ask = answer_once(peer)
    answers = (call_or_refused(ask, text) for text in texts)
    return [not any(answer is no for no in (None, False, REFUSED)) for answer in answers]


def _list(name: str, group: str, texts: list[str], rounds: int, budget: float) -> list[Row]:
    truth = [is_uri(text) for text in texts]
    all_peers = peers()
    loops = {peer: _loop(method) for peer, method in all_peers.items()}
    times: dict[str, list[float]] = {peer: [] for peer in all_peers}
    for round_number in range(rounds):
        gc.collect()
        for peer in rotate(list(all_peers), round_number):
            if len(times[peer]) >= LEAST_ROUNDS and sum(times[peer]) > budget:
                continue
            gc.disable()
            times[peer].append(loops[peer](texts) / 1e9)
            gc.enable()
    rows = []
    for peer, method in all_peers.items():
        right = [took == good for took, good in zip(accepts(peer, method, texts), truth, strict=True)]
        row: Row = {"section": "dirt", "operation": group, "list": name, "peer": peer}
        row |= summary(times[peer], len(texts)) | Share(sum(right), len(right)).row()
        rows.append(row | composition(texts))
    return rows


MADE, REAL = "so many bad ones in a hundred", "real lists"


def measure(corpus: Corpus, rounds: int = 5, budget: float = 1.0, most: int = 20_000) -> Iterator[list[Row]]:
    """The rows of the lists made of the corpus, then of the real ones, each with at most this many texts."""
    texts = corpus.texts[:most]
    mixes = {f"{share} %": mix(texts, share) for share in SHARES}
    for group, found in ((MADE, mixes), (REAL, lists(most))):
        rows = [row for name, t in found.items() for row in _list(name, group, t, rounds, budget)]
        if rows:
            yield rows
