"""Every edit of a value, every build and every reading of parameters gives the same on both kernels.

`laws.values` asks one argument at a time; here several come together, and a value is compared with its places.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from types import ModuleType
from typing import Any, get_args

import overthere
from laws.values import alphabets
from overthere.kernel.components import Component
from twin import SecondCopy

LONGEST = 256
AFTER = "tests/values/test_edits_alike.py"
WORDS = tuple(
    piece.encode()
    for piece in (
        "http://", "//", "/", ":", "@", "?", "#", "&", "=", "+", ";", "*", "%41", "%C3%A9", "%ff", "%2E", "%",
        "..", ".", "[::1]", "é", "プ", "\U0001f600", "\ufffd", "mailto:", "urn:", "80", "a=1",
        "\n", " ", "'", "password=", "\0",
    )
)  # fmt: skip

OPTIONS: Mapping[str, Sequence[Any]] = {
    "scheme": (None, "s", "http", "mailto"),
    "userinfo": (None, "", "u:p", "a@b"),
    "host": (None, "", "h", "[::1]", "a:b", "é"),
    "port": (None, "", "080", 8080, "9" * 19, "x"),
    "path": ("", "/", "/a.b/c", "a", "//a", "a:b", "é", "/%2e"),
    "query": (None, "", "a=1&b", {"k": ["v w", 2], "é": None}, [("a", True)], {"x": 1.5}, "é"),
    "fragment": (None, "", "f", "#"),
}
"""Values of each component: undefined, empty, valid, and some that are refused or that only Python takes."""


def seeds() -> Iterable[bytes]:
    """A text, and lines that become arguments."""
    for letter in alphabets.values():
        yield f"http://u:{letter}@h:8/a/{letter}.b?a={letter}&b#{letter}\na\n{letter}\nb*\n.c".encode()
    yield b"http://h/?a=1&a=%32&+=&%6\na\n \n%61\nutm_*"
    yield b"//h\n\n..\nx=y\nhttp://H/"


def combinations(chance: random.Random, count: int) -> Iterator[dict[str, Any]]:
    """Components by chance, each undefined, empty or of some text."""
    for _ in range(count):
        yield {name: chance.choice(options) for name, options in OPTIONS.items()}


_COMPONENTS = get_args(Component)


def _comparable(answer: Any) -> Any:
    """An answer without what differs between two copies of the package; a value with its places."""
    if hasattr(answer, "span") and hasattr(answer, "scheme"):
        return type(answer).__name__, str(answer), [answer.span(name) for name in _COMPONENTS]
    if type(answer).__name__ == "Parameters":
        return "Parameters", answer.query, answer.separator, answer.plus, answer.charset
    if isinstance(answer, list | tuple):
        return type(answer).__name__, [_comparable(item) for item in answer]
    if isinstance(answer, int) and not isinstance(answer, bool):
        return type(answer).__name__, int(answer)
    return type(answer).__name__, answer


def _answer(work: Callable[[], Any]) -> Any:
    try:
        return _comparable(work())
    except RecursionError:
        raise
    except Exception as error:
        places = [getattr(error, name, None) for name in ("text", "kind", "start", "end", "component")]
        return "raises", type(error).__name__, str(error), places


def _edits(package: ModuleType, text: str, lines: Sequence[str], named: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The results of edits of a text: by lines, each an argument, and by components."""
    for kind in (package.URI, package.URIReference, package.IRIReference):
        yield f"{kind.__name__}.build({named!r})", _answer(partial(kind.build, **named))
        if (value := kind.parse(text)) is not None:
            for name, call in _calls(package, value, lines, named).items():
                yield f"{value!r}, {name}, {lines!r}, {named!r}", _answer(call)


def _calls(
    package: ModuleType, value: Any, lines: Sequence[str], named: Mapping[str, Any]
) -> dict[str, Callable[[], Any]]:
    """All checks of a value."""
    first, pairs, parameters = lines[0], list(pairwise(lines)), value.parameters
    calls: dict[str, Callable[[], Any]] = {
        "replace": lambda: value.replace(**named),
        "append": lambda: value.append(*lines),
        "/": lambda: value / first,
        "with_name": lambda: value.with_name(first),
        "with_suffix": lambda: value.with_suffix(first),
        "with_segments": lambda: value.with_segments(lines),
        "with_parameters": lambda: value.with_parameters(pairs),
        "with_parameters, a mapping": lambda: value.with_parameters({first: lines, "n": None, "i": -1}),
        "add_parameters": lambda: value.add_parameters(pairs),
        "without_parameters": lambda: value.without_parameters(*lines),
        "sort_parameters": lambda: value.sort_parameters(),
        "equivalent": lambda: [value.equivalent(type(value)(first), rung) for rung in range(6)],
        "same_document": lambda: value.same_document(first),
        "lowest_rung": lambda: package.lowest_rung(value, first),
        "normalize": lambda: [value.normalize(rung) for rung in range(6)],
        "redacted": lambda: [value.redacted(), repr(value)],
        "parameters": lambda: parameters,
        "pairs": lambda: [list(parameters), dict(parameters), len(parameters)],
        "get": lambda: [parameters.get(line, "-") for line in lines],
        "[]": lambda: parameters[first],
        "in": lambda: [line in parameters for line in lines],
        "all": lambda: [parameters.all(line) for line in lines],
    }
    for name in ("parent", "name", "suffix", "segments", "user", "password", "effective_port", "origin"):
        calls[name] = partial(getattr, value, name)
    for name in _COMPONENTS:
        calls[f"decoded {name}"] = partial(value.decoded, name)
        calls[f"decoded_bytes {name}"] = partial(value.decoded_bytes, name)
    return calls


_twin: list[SecondCopy] = []


def differences(text: str, lines: Sequence[str], named: Mapping[str, Any]) -> list[str]:
    """Where the kernels differ on the edits of a text."""
    if not _twin:
        _twin.append(SecondCopy())
    native = list(_edits(overthere, text, lines, named))
    with _twin[0].imports_from_copy():
        reference = list(_edits(_twin[0].package, text, lines, named))
    assert len(native) == len(reference), text
    pairs = zip(native, reference, strict=True)
    return [f"{name}: {ours} is not {other}" for (name, ours), (_, other) in pairs if ours != other]


def check(data: bytes) -> None:
    """data: a text, and lines after it that become arguments."""
    text, *lines = data.decode("utf-8", "surrogateescape").split("\n")[:6]
    lines = lines or [""]
    chance = random.Random(data)
    parameters = next(combinations(chance, 1))
    parameters |= {name: chance.choice(lines) for name in chance.sample(sorted(OPTIONS), 2)}
    results = differences(text, lines, {name: parameters[name] for name in chance.sample(sorted(parameters), 3)})
    assert not results, "\n  ".join(["no agreement:", *results[:20]])
