"""Caches: all are listed here; none stores long texts or an unlimited number of entries."""

from __future__ import annotations

import ast
import contextlib
import encodings
import functools
import gc
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import overthere as ot
from overthere import columns
from overthere.canonical import SURT
from overthere.ground import caches
from overthere.ground.caches import LONGEST, bounded_cache
from overthere.ground.charsets import codec, text
from overthere.ground.late_imports import default_registry
from overthere.links import extract
from overthere.values.hosts.domains import of_host

ROOT = Path(ot.__file__).parent
DATA = "keys are names in the package's own code or data"
CHAR = "a key is one character"
OUR_VALUES = "a key is a value of ours, and few are kept"
TYPES = "a key is a class"

CLOSED = {
    "columns/operations.py face_signature": DATA,
    "editions/compare_resolution.py _resolutions": DATA,
    "editions/compare_resolution.py _abnormal": DATA,
    "editions/url1997.py _safe_characters": DATA,
    "editions/coding1738.py _safe_characters": DATA,
    "repairs.py _escape_pattern": DATA,
    "text/output.py _linkable": OUR_VALUES,
    "text/rules.py _pieces": "a key is true or false",
    "text/rules.py authority_pattern": "a key is true or false",
    "text/names.py _names": OUR_VALUES,
    "text/names.py registered_schemes": OUR_VALUES,
    "text/names.py _compile_shape": "a key is the shape of a scheme's opaque part, of a closed table",
    "text/delimiters.py _multiline": "a key is one of two delimiters and a number up to _MAX_MARKS",
    "text/delimiters.py _line_marks": "a key is a number up to _MAX_MARKS",
    "grammar/library.py grammar": DATA,
    "ground/indexes.py _lead_bytes": "a key is the name of a codec with an index here",
    "ground/indexes.py _handler": "a key is the name of a codec with an index here, and of a handler that Python has",
    "kernel/reference.py expression": DATA,
    "kernel/reference.py ip_literal": DATA,
    "access/steps.py _delimiter_pattern": DATA,
    "iri.py decodable": DATA,
    "values/derivation.py describe_expected": "it lives as long as one call",
    "values/findings.py _foreign": DATA,
    "schemes/page.py _top_rules": "a key is the name of a built-in scheme",
    "schemes/field_types.py _hints": TYPES,
    "schemes/registry.py _load": "a key is an entry point of an installed package",
    "columns/native.py _suffixes": OUR_VALUES,
    "columns/native.py _rules": OUR_VALUES,
    "links/documents/markdown.py _get_parser": DATA,
    "links/documents/css.py _token_pattern": DATA,
    "links/documents/charset.py _table": "a key is the name of an encoding of the Encoding Standard",
}
"""Functions with arguments and `functools.cache` or `lru_cache`, each with the reason why keys are few and short."""
LISTS = {
    "access/resolver.py _pool_of_process": "threads that look names up: a bounded number",
    "links/containers/temporary.py _PATHS": "temporary files of this process; each is dropped, or removed at its end",
}
"""Module variables that functions change."""


def _decorators(node: ast.FunctionDef) -> Iterator[str]:
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        yield ast.unparse(called).rpartition(".")[2]


def _arguments(node: ast.FunctionDef) -> bool:
    arguments = node.args
    return bool(arguments.posonlyargs or arguments.args or arguments.kwonlyargs or arguments.vararg or arguments.kwarg)


def _caches(source: str) -> Iterator[tuple[str, str]]:
    """The cached functions of a module and their decorators; functions without arguments store one value."""
    tree = ast.parse(source)
    decorating: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            decorating.update(map(id, node.decorator_list))
            decorating.update(id(item.func) for item in node.decorator_list if isinstance(item, ast.Call))
            for name in _decorators(node):
                if (name in ("cache", "lru_cache") and _arguments(node)) or name == "bounded_cache":
                    yield node.name, name
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and id(node) not in decorating:
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in ("cache", "lru_cache", "bounded_cache") and not ast.unparse(node.func).startswith("self"):
                yield f"line {node.lineno}", name


def _changed_globals(source: str) -> Iterator[str]:
    """Names of module variables that a function changes."""
    tree = ast.parse(source)
    containers = (ast.Dict, ast.List, ast.Set, ast.Call, ast.DictComp, ast.ListComp, ast.SetComp)
    names = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, containers)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    changing = {"add", "append", "appendleft", "extend", "update", "setdefault", "insert", "__setitem__"}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        for node in ast.walk(function):
            match node:
                case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()) if name in names:
                    yield name
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if (
                    name in names and attr in changing
                ):
                    yield name
                case ast.Global(names=global_names):
                    yield from global_names
                case _:
                    pass


def _modules() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def test_every_cache_is_bounded_or_listed() -> None:
    caches = {
        f"{name} {function}"
        for name, source in _modules()
        for function, kind in _caches(source)
        if kind != "bounded_cache"
    }
    assert caches - {"ground/caches.py line 42"} == set(CLOSED)


def test_every_growing_module_variable_is_listed() -> None:
    # A local variable may have the name of a module variable: such cases were checked by hand.
    lists = {f"{name} {variable}" for name, source in _modules() for variable in _changed_globals(source)}
    assert lists == set(LISTS)


@pytest.mark.parametrize(
    "source",
    [
        "@cache\ndef f(a): ...",
        "@functools.lru_cache\ndef f(*a): ...",
        "@lru_cache(maxsize=None)\ndef f(*, a): ...",
        "class C:\n    @functools.cache\n    def f(self): ...",
        "def f():\n    @cache\n    def g(a): ...",
        "f = lru_cache(None)(g)",
        "f = functools.cache(g)",
    ],
)
def test_the_scan_finds_each_cache(source: str) -> None:
    assert list(_caches(source))


@pytest.mark.parametrize(
    "source",
    [
        "D = {}\ndef f(a):\n    D[a] = 1",
        "D: dict[str, str] = dict()\ndef f(a):\n    return D.setdefault(a, 1)",
        "D = set()\nclass C:\n    def f(self, a):\n        D.add(a)",
        "D = []\nf = lambda a: D.append(a)",
        "D = None\ndef f(a):\n    global D\n    D = a",
    ],
)
def test_the_scan_finds_each_growing_variable(source: str) -> None:
    assert list(_changed_globals(source))


def test_long_arguments_are_not_cached() -> None:
    @bounded_cache(100)
    def f(*texts: str | bytes | int | None) -> int:
        return sum(len(item) for item in texts if isinstance(item, str | bytes))

    for texts in (("a" * LONGEST,), ("a" * 999, "b"), (b"a" * LONGEST, 1, None)):
        assert [f(*texts), f(*texts)] == [LONGEST, LONGEST]
    assert (f.cache_info().hits, f.cache_info().currsize) == (3, 3)
    assert f("a" * (LONGEST + 1)) == f("a" * 999, b"bc") == LONGEST + 1
    assert f.cache_info().currsize == 3
    f.cache_clear()
    assert f.cache_info().currsize == 0


LONG = 1_000_000


def extract_links(html: bytes) -> Iterator[object]:
    """The links of a page, as a job writes them."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "a.html")
        page.write_bytes(html)
        yield from extract(page, audit=True)


def _quietly(action: Callable[[], object]) -> None:
    with contextlib.suppress(ot.OverthereError, ValueError):
        action()


ACTIONS: dict[str, Callable[[str], object]] = {
    "registrable domain": lambda long: of_host(f"{long}.example"),
    "a scheme that is not known": lambda long: default_registry().get(long),
    "a URI of it": lambda long: ot.typed(f"{long}:x"),
    "check": lambda long: ot.check(f"{long}:x"),
    "columns of domains": lambda long: columns.registrable_domain(pa.array([f"http://{long}.example/"])),
    "columns against a base": lambda long: columns.resolve(pa.array(["b"]), f"http://h/{long}"),
    "encode": lambda long: ot.encode("a", "path", keep=long),
    "a template": lambda long: ot.Template("{a}" + long).expand({"a": "b"}),
    "canonical": lambda long: SURT(f"http://{long}.example/{long}"),
    "audit": lambda long: ot.audit(f"http://{long}.example/{long}"),
    "find": lambda long: list(ot.find(f"see {long}:{long} there")),
    "a charset": lambda long: codec(long),
    "links": lambda long: list(extract_links(f"<base href=//{long}.h/><a href={long}>".encode())),
    "a link to a scheme": lambda long: list(extract_links(f"<a href='{long}:x'>".encode())),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_calls_with_long_texts_keep_no_memory(name: str) -> None:
    action = ACTIONS[name]
    _quietly(lambda: action("a" * 10))  # loads tables
    _quietly(lambda: action("a" * LONG))
    gc.collect()
    tracemalloc.start()
    for number in range(6):
        _quietly(lambda: action(f"{'b' * LONG}{number}"))  # noqa: B023
    gc.collect()
    remaining = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert remaining < LONG


def test_invalid_charset_names_leave_nothing_in_caches() -> None:
    text(b"a", "no-such-charset")
    list(extract_links(b"<meta charset=no-such-charset><a href=x>"))
    before = len(encodings._cache)
    for number in range(500):
        assert text(b"a", f"x-{number}") == "a"
        assert codec(f"utf8-{number}.{number}") is None
        list(extract_links(f"<meta charset=y-{number}><a href=x>".encode()))
    assert len(encodings._cache) == before


def test_no_property_uses_cached_property() -> None:
    """Before Python 3.12 it has a lock, which a forked child may find held by a thread of its parent."""
    users = [path for path in ROOT.rglob("*.py") if "@cached_property" in path.read_text()]
    assert len(users) > 3
    lacking = [path.name for path in users if "from overthere.ground.caches import" not in path.read_text()]
    assert lacking == []
    assert caches.cached_property.__get__ is not functools.cached_property.__get__
