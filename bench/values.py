"""One value at a time: nanoseconds per call over distinct inputs, in rounds of rotated order."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import standard
from corpus import Corpus
from peers import BASE, NAMES, OPERATIONS, TELLS, WHATWG, Peer
from rounds import rotate, summary
from standard import REFUSED, Share, call_or_refused, share

# The lower limits of any library, in the same loops: nothing; a call of a C function that leaves its text alone;
# an object of a C type that keeps it.
_FLOORS = {
    "the loop": Peer("pass"),
    "an empty call": Peer("callable(t)"),
    "an empty object": Peer("repeat(t)"),
}
LEAST_ROUNDS = 3


def _names(peer: Peer, base: str = BASE) -> dict[str, Any]:
    names = {**NAMES, "repeat": itertools.repeat, "clock": time.thread_time_ns, "b": base}
    names["base"] = eval(peer.base, names)
    return names


def _loop(peer: Peer) -> tuple[Callable[[Iterable[str]], list[Any]], Callable[[Iterable[Any]], int]]:
    """Code to make the inputs, and a plain loop over them with the peer's expression, timed in nanoseconds."""
    names = _names(peer)
    source = f"def timed(inputs):\n start = clock()\n for t in inputs:\n  {peer.do}\n return clock() - start\n"
    exec(f"{source}def made(inputs): return [{peer.made} for t in inputs]", names)
    return names["made"], names["timed"]


def answer_once(peer: Peer, base: str = BASE) -> Callable[[str], Any]:
    """The peer's answer to one text."""
    names = _names(peer, base)
    answer: Callable[[str], Any] = eval(f"lambda t: {peer.answer or peer.do}", names)
    function: Callable[[str], Any] = eval(f"lambda t: {peer.made}", names)
    return lambda text: answer(function(text))


def _accepted_texts(peer: Peer, texts: list[str]) -> list[str]:
    """The texts that the peer accepts: checked once, before any timing, so that no loop needs a `try`."""
    names = _names(peer)
    exec(f"def ask(text):\n t = text\n t = {peer.made}\n {peer.do}", names)
    return [text for text in texts if call_or_refused(names["ask"], text) is not REFUSED]


def agrees(operation: str, name: str) -> Share:
    """The number of the operation's fixed rows with the standard's answer."""
    peer = OPERATIONS[operation][name]
    ask = answer_once(peer)

    def six(text: str) -> Any:
        return standard.six(ask(text), whatwg=name in WHATWG)

    if operation == "parse":
        accepted = [_accepts(ask, text) for text, _ in standard.valid()]
        return share(accepted + [not _accepts(ask, text) for text in standard.invalid()])
    if operation == "read":
        results = [(expected, call_or_refused(six, text)) for text, expected in standard.valid()]
        return share([f is not REFUSED and standard.is_same(wanted, f, exact=name in TELLS) for wanted, f in results])
    if operation == "resolve":
        return share(
            [call_or_refused(_target, peer, base, text) == target for base, text, target in standard.targets()]
        )
    if operation in ("normalize", "normalize by scheme"):
        forms = standard.normal_forms("PATH" if operation == "normalize" else "SCHEME")
        return share([call_or_refused(ask, text) == normal for text, normal in forms])
    if operation == "changes":
        return share([bool(ask(text)) == (text != normal) for text, normal in standard.normal_forms()])
    if operation == "relate":
        ways = [(base, call_or_refused(answer_once(peer, base), target), target) for base, target in standard.related()]
        return share([standard.is_reference_to(*answer) for answer in ways])
    if operation == "str":
        return share([call_or_refused(ask, text) == text for text, _ in standard.valid()])
    if operation == "encode":
        return share([call_or_refused(lambda d: standard.encodes(d, ask(d)), data) is True for data in standard.ENCODE])
    return share([call_or_refused(ask, text) == data for text, data in standard.DECODE])


def _accepts(ask: Callable[[str], Any], text: str) -> bool:
    answer = call_or_refused(ask, text)
    return answer is not REFUSED and answer is not False


def _target(peer: Peer, base: str, text: str) -> str:
    return str(answer_once(peer, base)(text))


def _inputs(operation: str, corpus: Corpus) -> list[str]:
    if operation == "resolve":
        return corpus.references
    if operation == "relate":  # most lead to the base's own host
        base = NAMES["URI"](BASE)
        targets = (call_or_refused(base.join, text) for text in corpus.references)
        return [str(target) for target in targets if target is not REFUSED and "/." not in target.path]
    if operation == "decode":
        return [NAMES["quote"](text, safe="") for text in corpus.texts]
    if operation == "decode, nothing to do":
        return [text for text in corpus.texts if "%" not in text]
    return corpus.texts


def time_peers(peers: Mapping[str, Peer], texts: list[str], rounds: int, budget: float) -> dict[str, dict[str, Any]]:
    """For each peer `summary` of the texts that it accepts, and how many it rejects."""
    inputs = {name: _accepted_texts(peer, texts) for name, peer in peers.items()}
    loops = {name: _loop(peer) for name, peer in peers.items()}
    times: dict[str, list[float]] = {name: [] for name in peers}
    for round_number in range(rounds):
        gc.collect()
        for name in rotate(list(peers), round_number):
            if len(times[name]) >= LEAST_ROUNDS and sum(times[name]) > budget:
                continue
            make, loop = loops[name]
            ready = make(inputs[name])
            gc.disable()
            times[name].append(loop(ready) / 1e9)
            gc.enable()
            del ready
    return {
        name: summary(times[name], len(inputs[name])) | {"refused": len(texts) - len(inputs[name])}
        for name in peers
        if inputs[name]
    }


def _operation(operation: str, corpus: Corpus, rounds: int, budget: float) -> list[dict[str, Any]]:
    peers = {**OPERATIONS[operation], **(_FLOORS if operation == "parse" else {})}
    rows = []
    for name, seconds in time_peers(peers, _inputs(operation, corpus), rounds, budget).items():
        if name in _FLOORS:
            rows.append({"section": "floors", "operation": name, "peer": "floor", **seconds})
            continue
        row = {"section": "values", "operation": operation, "peer": name, **seconds}
        rows.append(row | agrees(operation, name).row())
    return rows


def measure(corpus: Corpus, rounds: int = 7, budget: float = 10.0) -> Iterable[list[dict[str, Any]]]:
    """Every operation, each with every peer; no peer takes much more than `budget` seconds of an operation."""
    for operation in OPERATIONS:
        yield _operation(operation, corpus, rounds, budget)
