"""Operations on values that programs use every day: nanoseconds per call, each value new in each round."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any

from corpus import Corpus
from rounds import rotate, summary

Row = dict[str, Any]
Work = tuple[Callable[[str], Any], Callable[[Any], Any]]
"""The expression that makes a value of a text, and the one that is timed with the value."""


def operations() -> dict[str, dict[str, Work]]:
    """Each operation, by the libraries that have it."""
    import can_ada
    import httpx
    import yarl
    from pydantic import AnyUrl, TypeAdapter

    from overthere import URI, Rung

    field, any_url, reference = TypeAdapter(URI), TypeAdapter(AnyUrl), yarl.URL("../x")

    def both(function: Callable[[Any], Any], of_yarl: Callable[[Any], Any]) -> dict[str, Work]:
        return {"overthere": (URI, function), "yarl": (yarl.URL, of_yarl)}

    def of_httpx(work: Callable[[Any], Any]) -> dict[str, Work]:
        return {"httpx": (httpx.URL, work)}

    return {
        "normalize by scheme, from text": {
            "overthere": (str, lambda t: str(URI(t).normalize(Rung.SCHEME))),
            "can_ada": (str, lambda t: can_ada.parse(t).href),
        },
        "origin": both(lambda v: v.origin, lambda v: v.origin()),
        "read a parameter": both(lambda v: v.parameters.get("q"), lambda v: v.query.get("q"))
        | of_httpx(lambda v: v.params.get("q")),
        "set a parameter": both(lambda v: v.with_parameters({"a": "1"}), lambda v: v.update_query({"a": "1"}))
        | of_httpx(lambda v: v.copy_set_param("a", "1")),
        "remove a parameter": both(lambda v: v.without_parameters("q"), lambda v: v.without_query_params("q"))
        | of_httpx(lambda v: v.copy_remove_param("q")),
        "append a segment": both(lambda v: v / "x y", lambda v: v / "x y"),
        "replace the host": both(lambda v: v.replace(host="h.example"), lambda v: v.with_host("h.example"))
        | of_httpx(lambda v: v.copy_with(host="h.example")),
        "replace the scheme": both(lambda v: v.replace(scheme="https"), lambda v: v.with_scheme("https"))
        | of_httpx(lambda v: v.copy_with(scheme="https")),
        "replace the port": both(lambda v: v.replace(port=8080), lambda v: v.with_port(8080))
        | of_httpx(lambda v: v.copy_with(port=8080)),
        "replace the path": both(lambda v: v.replace(path="/a/b"), lambda v: v.with_path("/a/b"))
        | of_httpx(lambda v: v.copy_with(path="/a/b")),
        "replace the query": both(lambda v: v.replace(query="a=1"), lambda v: v.with_query("a=1"))
        | of_httpx(lambda v: v.copy_with(query=b"a=1")),
        "replace the fragment": both(lambda v: v.replace(fragment="f"), lambda v: v.with_fragment("f"))
        | of_httpx(lambda v: v.copy_with(fragment="f")),
        "replace the last segment": both(lambda v: v.with_name("n.html"), lambda v: v.with_name("n.html")),
        "parent": both(lambda v: v.parent, lambda v: v.parent),
        "name": both(lambda v: v.name, lambda v: v.name),
        "segments": both(lambda v: v.segments, lambda v: v.raw_parts),
        "decoded path": both(lambda v: v.decoded("path"), lambda v: v.path) | of_httpx(lambda v: v.path),
        "port or default": both(lambda v: v.effective_port, lambda v: v.port),
        "user": both(lambda v: v.user, lambda v: v.user) | of_httpx(lambda v: v.username),
        "build": {
            "overthere": (
                str,
                lambda _: URI.build(scheme="https", host="h.example", segments=["a", "b c"], query={"k": "v w"}),
            ),
            "yarl": (
                str,
                lambda _: yarl.URL.build(scheme="https", host="h.example", path="/a/b c", query={"k": "v w"}),
            ),
        },
        "repr": both(repr, repr) | of_httpx(repr),
        "pydantic field, from text": {
            "overthere": (str, field.validate_python),
            "pydantic's AnyUrl": (str, any_url.validate_python),
        },
        "join": both(lambda v: v.join("../x"), lambda v: v.join(reference)) | of_httpx(lambda v: v.join("../x")),
    }


def _texts(corpus: Corpus, makers: set[Callable[[str], Any]], count: int) -> list[str]:
    """Texts of the corpus that all libraries take: http(s) URLs of US-ASCII."""
    texts: list[str] = []
    for text in corpus.texts:
        if len(texts) == count:
            break
        if not (text.isascii() and text.startswith("http")):
            continue
        try:
            for make in makers:
                make(text)
        except Exception:  # each has errors of its own
            continue
        texts.append(text)
    return texts


def _seconds(work: Work, texts: list[str]) -> float:
    """The processor time of one round over new values; yarl's cache of answers is empty."""
    import yarl

    make, ask = work
    yarl.cache_clear()
    values = [make(text) for text in texts]
    start = time.thread_time()
    for value in values:
        ask(value)
    return time.thread_time() - start


def measure(corpus: Corpus, rounds: int, count: int) -> Iterator[list[Row]]:
    """The rows of each operation: a row for each library."""
    listed = operations()
    texts = _texts(corpus, {work[0] for peers in listed.values() for work in peers.values()}, count)
    for operation, peers in listed.items():
        times: dict[str, list[float]] = {peer: [] for peer in peers}
        gc.disable()
        try:
            for round_number in range(rounds):
                for peer in rotate(list(peers), round_number):
                    times[peer].append(_seconds(peers[peer], texts))
        finally:
            gc.enable()
        yield [
            {"section": "daily", "operation": operation, "peer": peer} | summary(seconds, len(texts))
            for peer, seconds in times.items()
        ]
