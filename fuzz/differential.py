"""Where the two kernels, the grammar and the columns do not agree."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pyarrow as pa

from overthere import URI, Rung, URIReference, columns, edition, kernel, scheme
from overthere.columns import rowwise
from overthere.ground.errors import OverthereError
from overthere.kernel import components, percent, reference
from overthere.values import encoding
from overthere.values.findings import check_uri

BASE = "http://a/b/c/d;p?q"
RULES = ("URI", "URI-reference", "IRI", "IRI-reference")
SPANS: tuple[components.Component, ...] = (
    "scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment",
)  # fmt: skip


# -- text by text: the kernel that serves against the reference kernel and the grammar


def _facts(value: Any) -> Any:
    """Everything that a kernel says of a text."""
    if value is None:
        return None
    names = ("authority", "userinfo", "host", "port_text", "port", "host_kind", "zone", "form", "scheme", "path")
    return [getattr(value, name) for name in (*names, "query", "fragment")] + [value.span(name) for name in SPANS]


@lru_cache(1 << 10)
def _reference_answer(text: str, rule: str, zone: bool) -> Any:
    """The results of the reference kernel for a text: forms of one text are often the same."""
    return _facts(components.parse(text, rule, zone))


def of_kernels(texts: list[str], base: str) -> list[str]:
    """The differences between the kernels and the grammar."""
    results: list[str] = []
    base = base if reference.parse(base, "URI") is not None else BASE
    for text in texts:
        # For US-ASCII the grammars of IRIs and URIs are the same.
        for rule in RULES[:2] if text.isascii() else RULES:
            for zone in (False, True):
                first, two = _reference_answer(text, rule, zone), _facts(kernel.parse(text, rule, zone))
                if first != two:
                    results.append(f"parse {rule} zone={zone} {text!r} {first} {two}")
                if (check_uri(text, rule, zone, 1) == []) is not (first is not None):
                    results.append(f"check {rule} zone={zone} {text!r}")
        derives = {rule: edition("rfc3986").grammar.automaton(rule).accepts(text) for rule in RULES[:2]}
        results += [f"grammar {r} {text!r}" for r, yes in derives.items() if yes is (kernel.parse(text, r) is None)]
        if (ref := kernel.parse(text, zone=True)) is not None:
            rungs = (r for r in range(4) if kernel.normalize(text, r) != reference.normalize(text, r))
            results += [f"normalize {rung} {text!r}" for rung in rungs]
            tree = kernel.parse(base, "URI")
            assert tree is not None
            modes = (s for s in (True, False) if kernel.resolve(tree, ref, s) != reference.resolve(base, text, s))
            results += [f"resolve strict={strict} {base!r} {text!r}" for strict in modes]
        if kernel.remove_dot_segments(text) != reference.remove_dot_segments(text):
            results.append(f"dots {text!r}")
        results += _of_coding(text) + _of_values(text, base)
    return results


def _answer_or_error(work: Callable[..., Any], *arguments: Any, **kwargs: Any) -> Any:
    """The result of a call, or the name of the exception."""
    try:
        return work(*arguments, **kwargs)
    except OverthereError as error:
        return type(error).__name__


def _normal(text: str, rung: int) -> str:
    """The normal form by the reference kernel, up to the scheme rung."""
    parts = reference.split(reference.normalize(text, min(rung, 3)))
    if rung > 3 and parts.scheme is not None:
        parts = reference.scheme_based_normalization(parts, scheme(parts.scheme).steps)
    return reference.recompose(parts)


def _of_values(text: str, base: str) -> list[str]:
    """The public values and functions, whichever quick ways they have, against the reference kernel."""
    results: list[str] = []

    def same(what_differs: str, value: Any, expected: str, zone: bool, kind: type) -> None:
        if type(value) is not kind or _facts(value) != _reference_answer(expected, kind.rule, zone):
            results.append(f"{what_differs} zone={zone} {text!r}: {value!r} and not {expected!r}")

    for kind, zone in ((URI, False), (URI, True), (URIReference, False), (URIReference, True)):
        value = _answer_or_error(kind, text, zone=zone)
        if _reference_answer(text, kind.rule, zone) is None:
            results += [f"{kind.__name__} zone={zone} {text!r}: {value!r}"] if value != "InvalidURI" else []
            continue
        same(kind.__name__, value, text, zone, kind)
        for rung in range(5):
            same(f"normalize {rung}", value.normalize(Rung(rung)), _normal(text, rung), zone, kind)
        for strict in (True, False):
            target = reference.resolve(base, text, strict)
            same(f"join {base!r}", URI(base).join(value, strict), target, zone, URI)
            if not zone:
                same(f"join text {base!r}", URI(base).join(text, strict), target, zone, URI)
                same(f"resolve {base!r}", value.resolve(base, strict), target, zone, URI)
    return results


def _of_coding(text: str) -> list[str]:
    results: list[str] = []
    data = text.encode("utf-8", "surrogatepass")
    lone = any("\ud800" <= c <= "\udfff" for c in text)
    for component in encoding.DATA_RULES:
        safe = encoding.safe_characters(component)
        encoded, expected = kernel.percent_encode(data, safe), percent.percent_encode(data, safe)
        if encoded != expected or kernel.percent_decode(encoded.encode()) != data:
            results.append(f"encode {component} {text!r} {encoded!r} {expected!r}")
        told = [_answer_or_error(encoding.encode, text, component), _answer_or_error(encoding.encode, data, component)]
        if told != ["CodingError" if lone else expected, expected]:
            results.append(f"encode {component} {text!r} {told} and not {expected!r}")
    broken = reference.BROKEN_ESCAPE.search(text) is not None
    octets = percent.percent_decode(data)
    if not broken and kernel.percent_decode(data) != octets:
        results.append(f"percent_decode {text!r}")
    try:
        expected = "CodingError" if broken or lone else octets.decode()
    except UnicodeDecodeError:
        expected = "CodingError"
    if (decoded := _answer_or_error(encoding.decode, text)) != expected:
        results.append(f"decode {text!r} {decoded!r} and not {expected!r}")
    return results


# -- whole columns: the engine that serves against the one that goes row by row


def _value(column: Any) -> list[Any]:
    listed: list[Any] = rowwise.to_pyarrow(column).to_pylist()
    return listed


SHAPES: tuple[Callable[[list[str | None]], Any], ...] = (
    lambda rows: pa.array(rows, pa.string()),
    lambda rows: pa.array(rows, pa.large_string()),
    lambda rows: pa.array(rows, pa.string_view()),
    lambda rows: pa.array(rows, pa.string()).dictionary_encode(),
    lambda rows: pa.array(["", None, *rows], pa.string())[2:],
    lambda rows: pa.chunked_array([rows[:1], [], rows[1:]], pa.string()),
)


def of_columns(texts: list[str], base: str) -> list[str]:
    """The differences between the two engines; the shape of the column depends on the texts."""
    results: list[str] = []
    rows: list[str | None] = [*texts, None]
    weight = sum(map(len, texts))
    column = SHAPES[weight % len(SHAPES)](rows)
    base = base if reference.parse(base, "URI") is not None else BASE
    bases = pa.array([base, *rows[:-1]], pa.string())
    rung, strict, threads, views = weight % 5, weight % 2 == 0, 1 + weight % 2, weight % 3 > 0

    def ask(function: str, *query: Any, **kwargs: Any) -> None:
        if function != "check":
            kwargs["views"] = views
        answers = [
            _value(getattr(e, function)(column, *query, threads=threads, **kwargs)) for e in (rowwise, columns.engine())
        ]
        differ = [f"{t!r} {a} {b}" for t, a, b in zip(rows, *answers, strict=True) if a != b]
        results.extend(f"{function} {query} {kwargs} shape {weight % len(SHAPES)}: {row}" for row in differ)

    ask("text", "normalize", rung=rung, details=True)
    ask("text", "resolve", base=base, strict=strict, details=True)
    ask("text", "resolve", base=bases, strict=strict, details=True)
    ask("text", "encode", safe=encoding.safe_characters("segment"), details=True)
    ask("text", "decode", details=True)
    ask("text", "host", details=False)
    zone = weight % 3 == 0
    for rule in (None, "URI", "URI-reference"):
        ask("parts", list(SPANS), rule, zone=zone)
    for rule in ("URI", "URI-reference"):
        ask("check", rule, zone=zone)
    return results
