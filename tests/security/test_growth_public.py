"""Every public function, every member of values, every command, and pairs of sizes are linear (law 7).

Functions are found by introspection; only arguments are written here. A public function without arguments here fails
the test, so that new ones are included.
"""

from __future__ import annotations

import inspect
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import overthere
from growth import outgrows
from overthere import URI, OverthereError, Template
from overthere.base import Base
from overthere.canonical import FORMS, SURT, Canonical, Step
from overthere.cli.app import app
from overthere.forms import Parameters
from overthere.integrations import urllib as lenient
from overthere.integrations.urllib import strict
from support import ROOT
from verbs import Verb, verbs

sys.path.append(str(ROOT / "fuzz"))

from laws import values

LENGTHS = (500, 2000, 8000)
FLOOR = 0.05
"""Seconds of processor time of this thread: a quadratic loop over the greatest length takes longer."""

# With combining marks of two classes, in an order that normalization has to change (UAX 15).
UNITS = ("a", "/", "../", "%41", ".", "\u0301", "\u0323\u0301", "e\u0301", "&a=b", ":", "%CC%81", "プ.")
BEGINNINGS = ("http://h/", "http://h/?", "http://", "urn:a:", "http://h/#", "//a@")


def texts() -> Iterator[tuple[str, str]]:
    yield from ((before, unit) for before in BEGINNINGS for unit in UNITS)


def ignoring_errors(action: Callable[[], object]) -> None:
    """Errors are valid answers too; lazy results are read."""
    with suppress(OverthereError, ValueError, TypeError, KeyError, NotImplementedError):
        answer = action()
        if isinstance(answer, Iterator):
            for _ in answer:
                pass


# -- values


def call_member(kind: type, name: str) -> Callable[[Any], object] | None:
    """How to call a member of a value with the first of each of its arguments; None for constructors."""
    member = inspect.getattr_static(kind, name, None)
    if member is None or isinstance(member, staticmethod | classmethod):
        return None
    if not hasattr(kind, name):
        return None  # for a path: it shows that a URI is invalid
    if not inspect.isroutine(member):
        return lambda value: getattr(value, name)
    try:
        parameters = list(inspect.signature(getattr(kind, name)).parameters.values())[1:]
    except ValueError:
        return lambda value: getattr(value, name)()
    needed = [
        one
        for one in parameters
        if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]

    def ask(value: Any) -> object:
        arguments = [value if (first := values._ARGUMENTS[one.name][0]) is values.VALUE else first for one in needed]
        return getattr(value, name)(*arguments)

    return ask


LONG_ANSWERS = {"parents": "the texts of all parents are the square of their number"}
"""Members whose result grows faster than the value."""


@pytest.mark.parametrize("kind", values.classes().values(), ids=lambda kind: kind.__name__)
def test_members_of_values_are_linear(kind: type) -> None:
    bad = []
    for name in values.members(kind):
        ask = call_member(kind, name)
        if ask is None or name in LONG_ANSWERS:
            continue
        for before, unit in texts():

            def make(length: int, before: str = before, unit: str = unit) -> Any:
                return before + unit * (length // len(unit))

            def act(text: str, ask: Callable[[Any], object] = ask) -> None:
                ignoring_errors(lambda: ask(kind(text)))

            if reason := outgrows(act, make, LENGTHS, FLOOR):
                bad.append(f"{kind.__name__}.{name} of {before!r} and {unit!r}: {reason}")
    assert bad == []


# -- functions

_REQUIRED: dict[str, Any] = {
    "base": "http://h/b/c", "b": "http://h/x", "name": "http", "pairs": [("a", "b")], "rung": overthere.Rung.PERCENT,
    "retrieval": "http://h/", "fallback": Base(URI("http://h/b"), "retrieval"), "safe": "a", "form": SURT, "part": "x",
    "source": "x", "url": "../c", "plus": True, "blank": True,
}  # fmt: skip
NO_TEXT = {
    **dict.fromkeys(("open", "aopen", "access.connect"), "asks a network; `plan` is asked"),
    **dict.fromkeys(("base.enclosed", "iri.to_iri_text", "kernel.resolve"), "takes a value"),
    **dict.fromkeys(("base.establish", "columns.engine", "edition", "links.schema"), "needs no argument"),
    **dict.fromkeys(("base.file_uri", "base.retrieval_uri", "links.open_writer"), "takes a path"),
    **dict.fromkeys(("broken.check", "broken.find", "links.batches", "links.extract"), "see test_sites_are_linear"),
    **dict.fromkeys(("forms.encode", "iri.decodable", "security.level_of"), "takes no text"),
    **dict.fromkeys(("kernel.front", "kernel.front_classmethod", "kernel.front_property"), "takes a function"),
    **dict.fromkeys(
        ("integrations.aiohttp.guarded_session", "integrations.aiohttp.redirect_trace", "integrations.requests.adapter",
         "integrations.requests.guarded_session"), "takes a policy; its tests ask `Policy.judge`",
    ),
    "integrations.fsspec.register": "takes names of schemes",
    **dict.fromkeys(
        [f"integrations.urllib.{kind}{name}" for kind in ("", "strict.") for name in ("urlunsplit", "urlunparse")]
        + ["integrations.urllib.quote_from_bytes", "integrations.urllib.urlencode"],
        "takes components, octets or pairs",
    ),
    "integrations.jsonschema.checker": "takes a checker",
}  # fmt: skip
"""Public functions whose first argument is not text, each with its type."""


def functions() -> dict[str, Callable[..., object]]:
    """The functions on the reference pages, by their names in the package, and the canonical forms, with keys."""
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    public: dict[str, Callable[..., object]] = {}
    for name in sorted(set(re.findall(r"autofunction:: overthere\.([\w.]+)", pages))):
        module, _, last = name.rpartition(".")
        public[name] = getattr(import_module("overthere" + (f".{module}" if module else "")), last)
    for name, form in FORMS.items():
        public[f"canonical.FORMS[{name!r}]"] = form.key
    return public


def required_arguments(function: Callable[..., object]) -> list[Any]:
    """Arguments for required parameters except the first. KeyError: an argument is not listed."""
    return [_REQUIRED[name] for name in _needed(function)[1:]]


def _needed(function: Callable[..., object]) -> list[str]:
    return [
        one.name
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]


def test_functions_without_text_exist() -> None:
    assert NO_TEXT.keys() <= functions().keys()


@pytest.mark.parametrize("name", sorted(functions().keys() - NO_TEXT.keys()))
def test_public_functions_are_linear(name: str) -> None:
    bad = []
    function = functions()[name]
    given = required_arguments(function)
    of_octets = name.startswith("kernel.percent")
    of_column = name.startswith("columns.")
    if of_column:
        pa = pytest.importorskip("pyarrow")
        given = [pa.array([one]) if key == "b" else one for key, one in zip(_needed(function)[1:], given, strict=True)]

    def argument(text: str) -> Any:
        return pa.array([text]) if of_column else text.encode() if of_octets else text

    with suppress(OverthereError):  # a TypeError would mean that nothing was called
        function(argument("http://h/a?b=c"), *given)
    for before, unit in texts():

        def make(length: int, before: str = before, unit: str = unit) -> Any:
            return argument(before + unit * (length // len(unit)))

        def act(text: Any) -> None:
            ignoring_errors(partial(function, text, *given))

        if reason := outgrows(act, make, LENGTHS, FLOOR):
            bad.append(f"{name} of {before!r} and {unit!r}: {reason}")
    assert bad == []


# -- two sizes at once


def query(count: int) -> str:
    return "&".join(f"x{number}={'a' * 8}" for number in range(count))


def names(count: int) -> str:
    return ",".join(f"x{number}" for number in range(count))


def site(write: Callable[[int], dict[str, str]], count: int) -> str:
    """A folder of generated files."""
    folder = Path(tempfile.mkdtemp(dir=site.root))  # type: ignore[attr-defined]
    for name, text in write(count).items():
        (folder / name).write_text(text, "utf-8")
    return str(folder)


def links(count: int) -> dict[str, str]:
    return {f"page{number}.html": f'<a href="gone{number}.html">x</a>' for number in range(count)}


def candidates(count: int) -> dict[str, str]:
    return {"a.html": '<img srcset="' + ", ".join(f"a{number}|.png {number + 1}w" for number in range(count)) + '">'}


def anchors(count: int) -> dict[str, str]:
    return {"a.html": "".join(f'<p id="x{number}y"><a href="#z{number}y">x</a>' for number in range(count))}


def broken(folder: str) -> object:
    from overthere.broken import find

    return list(find([folder], workers=1))


TWO: dict[str, tuple[Callable[[int], Any], Callable[[Any], object]]] = {
    "variables and values of a template": (
        lambda n: (Template("{" + names(n) + "}"), ",".join("a" * n)), lambda pair: pair[0].match(pair[1])),
    "names and values of a template": (
        lambda n: (Template("{?" + names(n) + "}"), "?" + query(n)), lambda pair: pair[0].match(pair[1])),
    "expressions and characters": (lambda n: (Template("{x}" * n), "a" * n), lambda pair: pair[0].match(pair[1])),
    "parameters that are set": (
        lambda n: (Parameters(query(n)), [(f"x{number}", "b") for number in range(n)]), lambda it: it[0].set(it[1])),
    "parameters that are left out": (
        lambda n: (Parameters(query(n)), [f"x{number}" for number in range(n)]), lambda it: it[0].without(*it[1])),
    "segments of base and target": (
        lambda n: ("http://h/" + "a/" * n, "http://h/" + "b/" * n), lambda pair: URI(pair[0]).relate(URI(pair[1]))),
    "segments and steps up, of the drop-in for urllib.parse": (
        lambda n: ("http://h/" + "a//" * n, "../" * n), lambda it: (lenient.urljoin(*it), strict.urljoin(*it))),
    "components of the drop-in for urllib.parse": (
        lambda n: ("http", "h", "/a" * n, "b" * n, "c" * n), lambda it: (
            lenient.urlunsplit(it), strict.urlunsplit(it), lenient.urlunparse((*it[:3], ";" * len(it[3]), *it[3:])))),
    "pairs of the drop-in for urllib.parse": (query, lambda text: lenient.urlencode(lenient.parse_qsl(text))),
    "folders of sessions and their page": (
        lambda n: "http://h" + "/(aaaaaaaaaaaaaaaaaaaaaaaa)" * 5 * n, Canonical(Step("drop-sessions")).changes),
    "segments and steps up": (
        lambda n: ("http://h/" + "a/" * n, "../" * n), lambda pair: URI(pair[0]).join(pair[1])),
}  # fmt: skip


@pytest.mark.parametrize("case", TWO)
def test_pairs_of_sizes_are_linear(case: str) -> None:
    make, action = TWO[case]

    def act(value: Any) -> None:
        ignoring_errors(partial(action, value))

    assert outgrows(act, make, (125, 500, 2000), FLOOR, ratio=12) is None


@pytest.mark.parametrize("write", [links, candidates, anchors], ids=lambda write: write.__name__)
def test_sites_are_linear(write: Callable[[int], dict[str, str]], tmp_path: Path) -> None:
    site.root = tmp_path  # type: ignore[attr-defined]
    assert outgrows(broken, partial(site, write), (750, 3000), FLOOR, ratio=12) is None


# -- verbs

_SERVING = {"serve"}  # runs until it is stopped
_ARGUMENTS = {
    "template expand": ["/{x}", "x=a"],
    "template match": ["/{x}"],
    "resolve": ["http://h/b/c"],
    "relate": ["http://h/b/c"],
    "get": ["--plan"],  # queries a network
}


def run(verb: Verb, text: str) -> None:
    CliRunner().invoke(app, [*verb.words, *_ARGUMENTS.get(verb.name, [])], input=text)


@pytest.mark.parametrize("verb", [verb for verb in verbs() if verb.name not in _SERVING], ids=lambda verb: verb.name)
def test_commands_are_linear(verb: Verb) -> None:
    """Many lines, and a long line."""
    for unit in ("http://h/a?b=c\n", "a.", "e\u0301", "../", "&a=%41"):

        def make(count: int, unit: str = unit) -> str:
            return "http://h/?" + unit * count + "\n"

        reason = outgrows(partial(run, verb), make, (250, 1000), 0.5, ratio=12)
        assert reason is None, (unit, reason)
