"""Every public function, every attribute and method of values, every verb, and two sizes that grow together (law 7).

What there is to ask is found by looking; only arguments are written down.  What a public function takes that has no
argument here is told, so that a new one is in.
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
from overthere.canonical import FORMS, SURT
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
"""Seconds of processor time of this thread: less than a quadratic loop over the greatest length takes."""

# Combining marks among them: of two classes, in the order that has to be turned (UAX 15).
UNITS = ("a", "/", "../", "%41", ".", "\u0301", "\u0323\u0301", "e\u0301", "&a=b", ":", "%CC%81", "プ.")
BEGINNINGS = ("http://h/", "http://h/?", "http://", "urn:a:", "http://h/#", "//a@")


def texts() -> Iterator[tuple[str, str]]:
    yield from ((before, unit) for before in BEGINNINGS for unit in UNITS)


def quietly(action: Callable[[], object]) -> None:
    """Refusals are answers too; what is lazy is read."""
    with suppress(OverthereError, ValueError, TypeError, KeyError, NotImplementedError):
        answer = action()
        if isinstance(answer, Iterator):
            for _ in answer:
                pass


# -- values


def asked(kind: type, name: str) -> Callable[[Any], object] | None:
    """How a member of a value is asked, the first of each of its arguments; None for what makes others."""
    found = inspect.getattr_static(kind, name, None)
    if found is None or isinstance(found, staticmethod | classmethod):
        return None
    if not hasattr(kind, name):
        return None  # what a path has: it tells that a URI is none
    if not inspect.isroutine(found):
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
        given = [value if (first := values._ARGUMENTS[one.name][0]) is values.VALUE else first for one in needed]
        return getattr(value, name)(*given)

    return ask


LONG_ANSWERS = {"parents": "the texts of all parents are the square of their number"}
"""Members whose answer grows more than its value."""


@pytest.mark.parametrize("kind", values.classes().values(), ids=lambda kind: kind.__name__)
def test_members_of_values(kind: type) -> None:
    bad = []
    for name in values.members(kind):
        ask = asked(kind, name)
        if ask is None or name in LONG_ANSWERS:
            continue
        for before, unit in texts():

            def make(length: int, before: str = before, unit: str = unit) -> Any:
                return before + unit * (length // len(unit))

            def act(text: str, ask: Callable[[Any], object] = ask) -> None:
                quietly(lambda: ask(kind(text)))

            if why := outgrows(act, make, LENGTHS, FLOOR):
                bad.append(f"{kind.__name__}.{name} of {before!r} and {unit!r}: {why}")
    assert bad == []


# -- functions

_OTHERS: dict[str, Any] = {
    "base": "http://h/b/c", "b": "http://h/x", "name": "http", "pairs": [("a", "b")], "rung": overthere.Rung.PERCENT,
    "retrieval": "http://h/", "fallback": Base(URI("http://h/b"), "retrieval"), "safe": "a", "form": SURT, "part": "x",
    "source": "x", "url": "../c", "plus": True, "blank": True,
}  # fmt: skip
NO_TEXT = {
    **dict.fromkeys(("open", "aopen", "access.connect"), "asks a network; `plan` is asked"),
    **dict.fromkeys(("base.enclosed", "iri.to_iri_text", "kernel.resolve"), "takes a value"),
    **dict.fromkeys(("base.establish", "columns.engine", "edition", "links.schema"), "needs no argument"),
    **dict.fromkeys(("base.file_uri", "base.retrieval_uri", "links.open_writer"), "takes a path"),
    **dict.fromkeys(("broken.check", "broken.find", "links.batches", "links.extract"), "takes sources: `test_a_site`"),
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
"""Public functions whose first argument is no text, each with what it is."""


def functions() -> dict[str, Callable[..., object]]:
    """Those that the reference pages name, by their names in the package; and the forms of `canonical`, with keys."""
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    found: dict[str, Callable[..., object]] = {}
    for name in sorted(set(re.findall(r"autofunction:: overthere\.([\w.]+)", pages))):
        module, _, last = name.rpartition(".")
        found[name] = getattr(import_module("overthere" + (f".{module}" if module else "")), last)
    for name, form in FORMS.items():
        found[f"canonical.FORMS[{name!r}]"] = form.key
    return found


def others(function: Callable[..., object]) -> list[Any]:
    """What is given for the parameters that are needed, but for the first.  KeyError: one has nothing written down."""
    return [_OTHERS[name] for name in _needed(function)[1:]]


def _needed(function: Callable[..., object]) -> list[str]:
    return [
        one.name
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]


def test_what_takes_no_text_is_there() -> None:
    assert NO_TEXT.keys() <= functions().keys()


@pytest.mark.parametrize("name", sorted(functions().keys() - NO_TEXT.keys()))
def test_functions(name: str) -> None:
    bad = []
    function = functions()[name]
    given = others(function)
    of_octets = name.startswith("kernel.percent")
    of_column = name.startswith("columns.")
    if of_column:
        pa = pytest.importorskip("pyarrow")
        given = [pa.array([one]) if key == "b" else one for key, one in zip(_needed(function)[1:], given, strict=True)]

    def argument(text: str) -> Any:
        return pa.array([text]) if of_column else text.encode() if of_octets else text

    with suppress(OverthereError):  # a TypeError would say that nothing is asked below
        function(argument("http://h/a?b=c"), *given)
    for before, unit in texts():

        def make(length: int, before: str = before, unit: str = unit) -> Any:
            return argument(before + unit * (length // len(unit)))

        def act(text: Any) -> None:
            quietly(partial(function, text, *given))

        if why := outgrows(act, make, LENGTHS, FLOOR):
            bad.append(f"{name} of {before!r} and {unit!r}: {why}")
    assert bad == []


# -- two sizes at once


def query(count: int) -> str:
    return "&".join(f"x{number}={'a' * 8}" for number in range(count))


def names(count: int) -> str:
    return ",".join(f"x{number}" for number in range(count))


def site(write: Callable[[int], dict[str, str]], count: int) -> str:
    """A folder of made files."""
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
        lambda n: (Template("{" + names(n) + "}"), ",".join("a" * n)), lambda it: it[0].match(it[1])),
    "names and values of a template": (
        lambda n: (Template("{?" + names(n) + "}"), "?" + query(n)), lambda it: it[0].match(it[1])),
    "expressions and characters": (lambda n: (Template("{x}" * n), "a" * n), lambda it: it[0].match(it[1])),
    "parameters that are set": (
        lambda n: (Parameters(query(n)), [(f"x{number}", "b") for number in range(n)]), lambda it: it[0].set(it[1])),
    "parameters that are left out": (
        lambda n: (Parameters(query(n)), [f"x{number}" for number in range(n)]), lambda it: it[0].without(*it[1])),
    "segments of base and target": (
        lambda n: ("http://h/" + "a/" * n, "http://h/" + "b/" * n), lambda it: URI(it[0]).relate(URI(it[1]))),
    "segments and steps up, of the drop-in for urllib.parse": (
        lambda n: ("http://h/" + "a//" * n, "../" * n), lambda it: (lenient.urljoin(*it), strict.urljoin(*it))),
    "components of the drop-in for urllib.parse": (
        lambda n: ("http", "h", "/a" * n, "b" * n, "c" * n), lambda it: (
            lenient.urlunsplit(it), strict.urlunsplit(it), lenient.urlunparse((*it[:3], ";" * len(it[3]), *it[3:])))),
    "pairs of the drop-in for urllib.parse": (query, lambda it: lenient.urlencode(lenient.parse_qsl(it))),
    "segments and steps up": (
        lambda n: ("http://h/" + "a/" * n, "../" * n), lambda it: URI(it[0]).join(it[1])),
}  # fmt: skip


@pytest.mark.parametrize("case", TWO)
def test_two_sizes(case: str) -> None:
    make, action = TWO[case]

    def act(given: Any) -> None:
        quietly(partial(action, given))

    assert outgrows(act, make, (125, 500, 2000), FLOOR, ratio=12) is None


@pytest.mark.parametrize("write", [links, candidates, anchors], ids=lambda write: write.__name__)
def test_a_site(write: Callable[[int], dict[str, str]], tmp_path: Path) -> None:
    site.root = tmp_path  # type: ignore[attr-defined]
    assert outgrows(broken, partial(site, write), (750, 3000), FLOOR, ratio=12) is None


# -- verbs

_SERVING = {"serve"}  # until it is stopped
_ARGUMENTS = {
    "template expand": ["/{x}", "x=a"],
    "template match": ["/{x}"],
    "resolve": ["http://h/b/c"],
    "relate": ["http://h/b/c"],
    "get": ["--plan"],  # it asks a network
}


def run(verb: Verb, given: str) -> None:
    CliRunner().invoke(app, [*verb.words, *_ARGUMENTS.get(verb.name, [])], input=given)


@pytest.mark.parametrize("verb", [one for one in verbs() if one.name not in _SERVING], ids=lambda verb: verb.name)
def test_verbs(verb: Verb) -> None:
    """Many lines, and one that is long."""
    for unit in ("http://h/a?b=c\n", "a.", "e\u0301", "../", "&a=%41"):

        def make(count: int, unit: str = unit) -> str:
            return "http://h/?" + unit * count + "\n"

        why = outgrows(partial(run, verb), make, (250, 1000), 0.5, ratio=12)
        assert why is None, (unit, why)
