"""Every attribute and every method of every value answers alike on both kernels, or raises alike.

Attributes are found by introspection: a new public value type, attribute or method is checked too. Only arguments are
written down here, by the names of parameters; a method with an unknown parameter is reported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, product
from types import ModuleType
from typing import Any

import overthere
from seeds import with_base
from twin import SecondCopy

LONGEST = 128
AFTER = "tests/values/test_values_alike.py"
WORDS = tuple(
    piece.encode()
    for piece in (
        "http://", "//", "/", ":", ":80", ":0443", "@", "?", "#", "%41", "%C3%A9", "%E6%97%A5", "%F0%9F%98%80",
        "%ff", "..", "/./", "[::1]", "[fe80::1%25eth0]", "[v1.a]", "é", "ÿ", "プ", "日本", "\U0001f600", "\U00010400",
        "\ue000", "\u202e", "e\u0301", "xn--bcher-kva",
        "bücher.example", "example.com", "WWW.b.Co.Uk", "a.www.ck", "github.io.", "a..b", "h.0x7f", "192.0.2.1",
        "a=1&b=2", "+", ";", ",", "mailto:", "urn:",
    )
)  # fmt: skip

# The alphabets: positions in octets and in characters differ by 0, 1, 2 and 3 octets a character.
alphabets = {"US-ASCII": "a", "Latin 1": "é", "two octets": "ж", "three octets": "プ", "four octets": "\U0001f600"}

_SHAPES = (
    "http://{0}:80", "http://{0}.example:443/", "//{0}@{0}:8/{0}/../{0}?{0}={0}&b#{0}", "http://h:/%41{0}%C3%A9",
    "{0}", "#{0}", "?{0}", "/{0}/{0}.{0}", "urn:{0}:{0}", "mailto:{0}@{0}", "http://[fe80::1%25{0}]/",
    "http://[::1]:0080/{0}", "%{0}", "file:///C:/{0}",
)  # fmt: skip


def seeds() -> Iterable[bytes]:
    """The shapes in each alphabet, and the rows of the case files."""
    yield from (shape.format(letter).encode() for shape in _SHAPES for letter in alphabets.values())
    yield from islice((line for text in sorted(with_base()) for line in text.split(b"\n")), 0, None, 7)


def classes(package: ModuleType = overthere) -> dict[str, type]:
    """The public value types: made of one text, and equal to another value of the same text."""
    components = package.kernel.Components
    members = (getattr(package, name) for name in package.__all__)
    return {one.__name__: one for one in members if isinstance(one, type) and issubclass(one, components)}


def members(kind: type) -> Iterator[str]:
    """The public names of a class, and its answers to Python itself."""
    yield from (name for name in dir(kind) if not name.startswith("_"))
    yield from ("__str__", "__repr__", "__hash__", "__format__", "__reduce__", "__fspath__")


# Arguments by the names of parameters.  `VALUE` is a value of the same class and text as the one under test.
VALUE = object()
_ARGUMENTS: Mapping[str, tuple[Any, ...]] = {
    "authority": ("é:80", None),
    "base": (VALUE, "http://é/b/c"),
    "charset": ("utf-8", "latin-1", "nothing"),
    "component": ("host", "path", "query", "userinfo", "scheme", "fragment", "port", "authority", "nothing"),
    "errors": ("strict", "replace", "ignore", "surrogateescape", "repair"),
    "form": ("absolute-path", "network-path", "nothing"),
    "fragment": ("é", "", None),
    "host": ("プ.example", "h", "", None),
    "keep": ("/", "é"),
    "kind": (object, int),
    "name": ("b", "é", "日本", "a/b", ""),
    "names": ("b", "é*", "utm_*", ("a", "1"), ("b", None)),
    "other": (VALUE, "http://a/%7Eb", "é", 5),
    "pairs": ({"a": "1", "é": "プ"}, [("b", "2")], "x"),
    "password": ("p:/w", "é", b"x", None),
    "path": ("/é/../b", "a:b", ""),
    "plus": (False, True, None),
    "port": (8080, "0443", "", None, "é"),
    "query": ("é=1", {"a": "é"}, "", None),
    "requested": (VALUE, "http://127.0.0.1:1/", "é", 5),
    "reference": ("../x", "#é", "//ü:8/p", VALUE),
    "rooted": (True, False),
    "rung": (0, 1, 2, 3, 4, 9),
    "scheme": ("https", "é", None),
    "segments": (["a", "é"], [], ["", "b/c"], "x"),
    "separator": (";", "é"),
    "spec": ("", ">40"),
    "stem": ("b", "é", "a/b", ""),
    "suffix": (".txt", ".é", "", "x"),
    "target": (VALUE, "http://プ/b", "//é"),
    "text": (VALUE, "http://プ:80", "é", "%", 5),
    "user": ("a@b", "é", "", None),
    "userinfo": ("é", ("joe", "p@ss"), None),
    "width": (40, 0, 12),
}
# Only their defaults are used: their content is no part of a value.
_FROM_ELSEWHERE = frozenset({"registry", "evidence"})


def _comparable(answer: Any, depth: int = 0) -> Any:
    """An answer without what differs from copy to copy: identities and classes."""
    if answer is None or type(answer) in (bool, int, float, bytes):
        return answer
    if isinstance(answer, int):
        return (type(answer).__name__, int(answer))  # a member of an enumeration
    if isinstance(answer, str):
        return (type(answer).__name__, str(answer))
    if depth < 4 and isinstance(answer, (tuple, list, Mapping)):
        items = answer.items() if isinstance(answer, Mapping) else answer
        return (type(answer).__name__, [_comparable(item, depth + 1) for item in islice(items, 200)])
    if isinstance(answer, type):
        return answer.__qualname__
    if callable(answer) and hasattr(answer, "__name__"):
        return answer.__name__  # a method of each kernel's own class
    if depth < 4 and hasattr(answer, "__next__"):
        return (type(answer).__name__, [_comparable(item, depth + 1) for item in islice(answer, 200)])
    parts = [type(answer).__name__, repr(answer)]
    return [*parts, str(answer)]


def _answer_or_error(work: Callable[..., Any], *plain: Any, **named: Any) -> Any:
    try:
        return _comparable(work(*plain, **named))
    except RecursionError:
        raise
    except Exception as error:
        return ("raises", type(error).__name__, str(error))


def _calls(method: Any, value: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments to call a method with: none where it can be, each of its own by itself, those it needs together."""
    needed: list[tuple[Any, ...]] = []
    choices: list[tuple[Any, ...]] = []
    named: list[tuple[str, tuple[Any, ...]]] = []
    for one in inspect.signature(method).parameters.values():
        if one.name in _FROM_ELSEWHERE:
            continue
        values = (False, True) if isinstance(one.default, bool) else _ARGUMENTS.get(one.name)
        if values is None:
            raise LookupError(f"{method.__qualname__}({one.name}): write down in `_ARGUMENTS` what to ask it with")
        options = tuple(value if option is VALUE else option for option in values)
        if one.kind is one.KEYWORD_ONLY:
            named.append((one.name, options))
        elif one.default is one.empty:
            needed.append(options)
        else:
            choices.append(options)
    yield from ((plain, {}) for plain in product(*needed))
    first = tuple(options[0] for options in needed)
    yield from ((first + plain, {}) for plain in product(*choices) if choices)
    yield from ((first, {name: option}) for name, options in named for option in options)


def _facts(kind: type, text: str) -> Iterator[tuple[str, Any]]:
    """All that a class says of a text."""
    for kwargs in ({}, {"zone": True}):
        result = _answer_or_error(kind, text, **kwargs)
        yield f"{kind.__name__}({text!r}, {kwargs})", result
        try:
            value = kind(text, **kwargs)
        except Exception:
            continue
        for name in members(kind):
            label = f"{kind.__name__}({text!r}, {kwargs}).{name}"
            actual = _answer_or_error(getattr, value, name)
            yield label, actual
            if isinstance(actual, tuple) and actual[:1] == ("raises",):
                continue
            method = getattr(value, name)
            if not callable(method):
                continue
            for plain, named in _calls(method, value):
                yield f"{label}(*{plain!r}, **{named!r})", _answer_or_error(method, *plain, **named)


_twin: list[SecondCopy] = []


def differences(texts: Iterable[str]) -> list[str]:
    """Where the two kernels differ on texts."""
    if not _twin:
        _twin.append(SecondCopy())
    twin = _twin[0]
    results: list[str] = []
    for text in texts:
        for name, kind in classes().items():
            facts = list(_facts(kind, text))
            with twin.imports_from_copy():
                other_facts = list(_facts(classes(twin.package)[name], text))
            assert [label for label, _ in facts] == [label for label, _ in other_facts] or results, (text, name)
            pairs = zip(facts, other_facts, strict=False)
            results += [f"{label}: {ours} is not {other}" for (label, ours), (_, other) in pairs if ours != other]
    return results


def check(data: bytes) -> None:
    """data: a text."""
    results = differences([data.decode("utf-8", "surrogateescape")])
    assert not results, "\n  ".join(["no agreement:", *results[:20]])
