"""Features of the native kernel only: several parsers of a text, fast paths, and panics."""

from __future__ import annotations

import gc
import inspect
import operator
import pickle
import random
import re
import sys
import types
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, get_args
from urllib import parse

import pyarrow as pa
import pytest

import overthere
from overthere import IRI, URI, IRIReference, URIReference, decode, encode, kernel
from overthere.forms import Parameters
from overthere.kernel import components, percent
from overthere.kernel import reference as plain
from overthere.kernel.components import Component
from overthere.kernel.runner import Runner
from overthere.links.model import Link
from overthere.values import encoding, normalize, relate
from overthere.values.conveniences import Conveniences
from overthere.values.value import Value
from support import cases
from test_equality import automaton, mutations
from test_iri import PIECES

pytestmark = pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")

if kernel.name == "native":
    from overthere import _native

RULES = ("URI", "URI-reference")


def agree(text: str, rule: str, zone: bool = False) -> bool:
    """Whether all native parsers and the reference kernel read the text alike."""
    first, *readings = _native._ways(text, rule == "URI-reference", zone)
    expected = plain.parse(text, rule, zone)
    if any(reading != first for reading in readings) or (first[0] is None) is not (expected is None):
        return False
    parts = plain.split(text)
    host = None if parts.authority is None else plain.split_authority(parts.authority)[1]
    return (None if first[2] is None else text.encode()[slice(*first[2])].decode()) == host


QUOTED = [
    "%",
    "%4",
    "%4a",
    "%2B",
    "%c3",
    "%C3%A9",
    "%ff",
    "%E2%82",
    "%00",
    "+",
    "&",
    "=",
    "é",
    "€",
    "\U0001f600",
    "\x80",
    "\ud800",
    "a",
]


def test_unquote_agrees_with_the_reference_kernel_and_urllib() -> None:
    draw = random.Random(3986)
    texts = ["".join(draw.choices(QUOTED, k=draw.randrange(12))) for _ in range(20_000)]
    assert sum(percent.unquote(text, True) is None for text in texts) > 1000
    for text in texts:
        for plus in (False, True):
            result = _native.unquote(text, plus)
            assert result == percent.unquote(text, plus), text
            if result is not None:
                assert result == (parse.unquote_plus if plus else parse.unquote)(text), text
            pairs = _native.unquote_pairs(text, plus)
            assert pairs == percent.unquote_pairs(text, plus), text
            if pairs is not None:
                assert pairs == parse.parse_qsl(text, plus), text


@pytest.mark.parametrize("rule", RULES)
def test_all_parsers_agree_on_the_cover(rule: str) -> None:
    texts = [data.decode() for data in automaton(rule).cover() if data.isascii()]
    results = [(text, _native._ways(text, rule == "URI-reference", False)) for text in texts]
    assert [text for text, (first, *readings) in results if any(reading != first for reading in readings)] == []


@pytest.mark.parametrize("rule", RULES)
def test_all_parsers_agree_on_mutations_of_every_length(rule: str) -> None:
    """Padding moves errors across the borders of blocks: 16, 32, 64 bytes and multiples."""
    chance = random.Random(64)
    texts = [t for t in mutations(rule, 1500, seed=64) if t.isprintable()]
    texts += ["http://h/%41%4", "http://u%4@h:80/", "http://[::1]:8/?%41", "a%20b:c", "x:%", "%41:b", "s://h?#%zz"]
    for text in texts:
        at = chance.randint(0, len(text))
        for length in chance.sample(range(140), 12):
            padded = text[:at] + "a" * length + text[at:]
            assert agree(padded, rule), padded
            assert agree("http://h/" + "b" * length + text, rule), (length, text)


@pytest.mark.parametrize("length", range(200))
def test_all_parsers_agree_at_every_block_border(length: int) -> None:
    for tail in ("", "%41", "%4", "%", "%4x", "?", "#", "?%41", "#%4", ":", "@", "]", "[", "/", "é", "\x00", "%41%42%"):
        for head in ("", "s:", "s://", "s://h/", "s://u@", "s:?", "//h:8/"):
            for zone in (False, True):
                assert agree(head + "c" * length + tail, "URI-reference", zone), (head, tail)


def test_a_native_automaton_runs_as_in_python() -> None:
    for rule in ("URI", "IPv6address", "path-rootless"):
        dfa = automaton(rule)
        slow = Runner(dfa.classes, dfa.width, dfa.table, dfa.start, sorted(dfa.accepting))
        for text in [*dfa.sample(100, seed=9), *mutations("URI", 300, seed=9)]:
            data = text.encode("utf-8", "surrogatepass")
            assert dfa.runner.run(data, dfa.start) == slow.run(data, dfa.start)
        assert pickle.loads(pickle.dumps(dfa)) == dfa
    every = bytes(256)
    for classes, width, table in ((b"", 1, [0]), (every, 0, []), (every, 1, [7]), (every, 2, [0])):
        with pytest.raises(ValueError, match="fit together"):
            _native.Automaton(classes, width, table, 0, [])
    with pytest.raises(ValueError, match="state"):
        automaton("URI").runner.run(b"a", 60000)


def test_a_native_search_shows_its_settings() -> None:
    if kernel.Trigger is None:  # a build for the stable ABI
        return
    for name in ("", "aB", "é", "éa", "\ud800"):
        with pytest.raises((ValueError, UnicodeError)):
            _native.Trigger(re.compile("a"), [name], True, True, None)
    search = _native.Trigger(re.compile("(?!)"), ["a"], True, True, None).search
    assert search("a: a:", 0) is search("", 0) is search("a:", 5) is None
    with pytest.raises(OverflowError):
        search("a:", -1)
    with pytest.raises(TypeError):
        search(b"a:", 0)  # type: ignore[arg-type]
    fails = types.SimpleNamespace(match=lambda text, at: 1 / 0, search=lambda text, at: 1 / 0)
    for text in ("a:", "é.a"):
        with pytest.raises(ZeroDivisionError):
            _native.Trigger(fails, ["a"], True, True, []).search(text, 0)
    with pytest.raises(AttributeError):
        _native.Trigger(1, ["a"], True, True, None)


def test_docstrings_agree_with_the_reference_kernel() -> None:
    for name, member in vars(components.Components).items():
        if name.startswith("_") or name == "rule":
            continue
        descriptor = getattr(_native.Components, name)
        assert inspect.getdoc(descriptor) == inspect.getdoc(member), name


def test_values_release_their_references() -> None:
    """Text and class are counted correctly for every kind of subclass: with slots, with a finalizer."""
    ended: list[str] = []

    class Bare(URI):
        __slots__ = ()

    class Slot(URI):
        __slots__ = ("more",)

    class Open(URI):
        pass

    class Ending(Bare):
        __slots__ = ()

        def __del__(self) -> None:
            ended.append(self.host or "")

    class OpenEnding(Ending):
        pass

    text = "http://host/" + "a" * 50
    gc.collect()  # values in cycles that other tests left
    for kind in (URI, URIReference, IRI, IRIReference, Bare, Slot, Open, Ending, OpenEnding):
        before = sys.getrefcount(kind), sys.getrefcount(text)
        for _ in range(100):
            values = [kind(text), kind(text, zone=True), kind.parse(text), kind("http://b/").replace(host="c")]
            if kind in (Open, OpenEnding):
                values[0].__dict__["self"] = values[0]
            if kind is Slot:
                object.__setattr__(values[0], "more", values[0])
        del values
        gc.collect()
        assert (sys.getrefcount(kind), sys.getrefcount(text)) == before, kind
        assert len(ended) == (500 if issubclass(kind, Ending) else 0)
        ended.clear()


def test_a_finalizer_may_revive_its_value() -> None:
    survivors: list[URI] = []

    class Revived(URI):
        __slots__ = ()

        def __del__(self) -> None:
            survivors.append(self)

    Revived("x:a")
    gc.collect()
    assert [str(value) for value in survivors] == ["x:a"]
    survivors.clear()
    assert survivors == []


@pytest.mark.parametrize(
    "function",
    [
        encode, decode, URI.join, URI.relate, URIReference.normalize, URIReference.to_iri, IRIReference.to_uri,
        normalize.lowest_rung, URIReference.equivalent, Value.decoded, Conveniences.append,
        Conveniences.without_parameters, Conveniences.redacted, Parameters.get,
    ],
)  # fmt: skip
def test_fast_paths_have_the_signature_and_docstring_of_python(function: Any) -> None:
    holder = getattr(function, "__objclass__", None) or sys.modules[function.__module__]
    behind = getattr(holder, f"_{function.__name__}_by_steps")
    assert inspect.getdoc(function) == inspect.getdoc(behind)
    expected = [(p.name, p.kind, p.default) for p in inspect.signature(behind).parameters.values()]
    actual = [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]
    assert [row[::2] for row in actual] == [row[::2] for row in expected]
    assert [row[1] for row in actual if row[0] != "self"] == [row[1] for row in expected if row[0] != "self"]


def test_fast_class_methods_and_properties_have_the_docstring_of_python() -> None:
    signature = inspect.signature(URI.build)
    assert list(signature.parameters) == list(inspect.signature(URI._build_by_steps).parameters)  # type: ignore[attr-defined]
    assert inspect.getdoc(URI.build) == inspect.getdoc(URI._build_by_steps)  # type: ignore[attr-defined]
    assert inspect.getdoc(URI.parent) == inspect.getdoc(URI._parent_by_steps)  # type: ignore[attr-defined]


def fast_paths() -> list[tuple[str, Any]]:
    """The functions and methods with a fast path, by name, and the functions in Python behind them."""
    holders = [encoding, normalize, relate, *IRIReference.__mro__, *URI.__mro__, Parameters]
    names = {name: holder for holder in holders for name in vars(holder) if name.endswith("_by_steps")}
    return [(name[1 : -len("_by_steps")], vars(holder)[name]) for name, holder in names.items()]


def test_no_fast_path_takes_more_arguments_than_its_function() -> None:
    """`encode` and `/` ignored or used them."""
    values = [URI("http://h/a?b"), Parameters("a=b"), encoding, normalize, relate]
    tried = set()
    for name, behind in fast_paths():
        for holder in values:
            front = getattr(holder, name, None)
            if isinstance(behind, classmethod) or not callable(front):
                continue
            kinds = [parameter.kind for parameter in inspect.signature(behind).parameters.values()]
            if inspect.Parameter.VAR_POSITIONAL not in kinds:
                is_method = not isinstance(holder, types.ModuleType)
                count = kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) - is_method
                with pytest.raises(TypeError, match="argument"):
                    front(*["segment"] * (count + 1))
                tried.add(name)
    assert {"encode", "decode", "lowest_rung", "__truediv__", "join", "get", "__getitem__"} <= tried


def test_fast_paths_give_the_results_of_python() -> None:
    calls: list[tuple[Any, ...]] = [("a b/c",), ("a b/c", "path"), (b"a b",), ("\ud800",), (5,), ("x", "nothing"), ()]
    named: list[dict[str, Any]] = [{}, {"keep": ""}, {"keep": "/"}, {"keep": None}, {"charset": "latin-1"}, {"no": 1}]
    behind = vars(sys.modules["overthere.values.encoding"])
    for name in ("encode", "decode"):
        for args in [*calls, ("%41%C3%A9",), ("%4",), ("%FF",), ("é%20",), ("%41", "strict")]:
            for options in named:
                assert answer(behind[name], *args, **options) == answer(behind[f"_{name}_by_steps"], *args, **options)
    base = URI("http://a/b/c/d;p?q")
    for row in cases("resolve"):
        for ref in (row["reference"], URIReference(row["reference"]), row["reference"] + " "):
            first, second = answer(base.join, ref), answer(base._join_by_steps, ref)  # type: ignore[attr-defined]
            assert first == second
            assert type(first) is type(second)
            if isinstance(first, URI):
                spans = [[value.span(name) for name in get_args(Component)] for value in (first, second)]
                assert spans[0] == spans[1]
    for row in cases("normalize"):
        value = URIReference(row["text"])
        for rung in (0, 1, 2, 3, 4, 9, -1, "x"):
            assert answer(value.normalize, rung) == answer(value._normalize_by_steps, rung)  # type: ignore[attr-defined]


def test_native_relate_gives_the_results_of_python() -> None:
    behind = vars(import_module("overthere.values.relate"))
    texts = [*dict.fromkeys(row["base"] for row in cases("resolve"))]
    texts += [
        "x:",
        "x:a",
        "x:a/b",
        "x:/",
        "x:/.//a",
        "x:b:c/d",
        "http://a",
        "http://a/",
        "http://a/b/../c",
        "http://a//b/",
    ]
    texts += automaton("URI").sample(150, seed=86, length=12)
    for base in texts:
        for target in texts:
            first, second = answer(behind["relate"], base, target), answer(behind["_relate_by_steps"], base, target)
            assert first == second, (base, target)
            if isinstance(first, str):
                value, read = URI(base).relate(target), URIReference(first)
                assert value == read
                assert all(value.span(name) == read.span(name) for name in get_args(Component)), (base, target)


@pytest.mark.parametrize("seed", range(3))
def test_native_iri_conversion_gives_the_results_of_python(seed: int) -> None:
    chance = random.Random(seed)
    rows = ["".join(chance.choices(PIECES, k=chance.randint(1, 7))) for _ in range(3000)]
    values = [
        IRIReference.parse(row, zone=zone)
        for row in [*rows, *("http://h/" + row for row in rows)]
        for zone in (False, True)
    ]
    values += [IRI.parse("http://h/é"), IRI.parse("http://[fe80::1%25e]/é?%C3%A9", zone=True), IRIReference.parse("")]
    reached = 0
    for value in filter(None, values):
        native, steps = value.to_uri(), value._to_uri_by_steps()  # type: ignore[attr-defined]
        assert (native, type(native), native.zone) == (steps, type(steps), steps.zone)
        back, steps = native.to_iri(), native._to_iri_by_steps()  # type: ignore[attr-defined]
        assert (back, type(back), back.zone) == (steps, type(steps), steps.zone)
        reached += str(back) != str(native)
    assert reached > 100
    assert str(URI("http://xn--9ca/%C3%A9").to_iri(idna=True)) == "http://é/é"
    assert str(IRI("http://é/é").to_uri(idna=True)) == "http://xn--9ca/%C3%A9"
    assert type(Quiet("a:b").to_iri()) is IRI


def answer(function: Any, *args: Any, **named: Any) -> Any:
    try:
        return function(*args, **named)
    except Exception as error:  # the same error is expected, whatever it is
        return type(error), str(error).replace("_by_steps", "").replace(f"_{function.__name__}", function.__name__)


def test_functions_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(encode)) is encode
    assert pickle.loads(pickle.dumps(decode)) is decode


class Quiet(URI):
    """A subclass without additions."""


class Loud(URI):
    def __new__(cls, text: Any, *, zone: bool = False) -> Loud:
        return super().__new__(cls, text.lower(), zone=zone)


class Counted(URI):
    count = 0

    def __init__(self, text: Any, *, zone: bool = False) -> None:
        type(self).count += 1


def test_constructors_of_subclasses_are_called() -> None:
    assert type(Quiet("a:b").join("c:d")) is Quiet
    assert str(Loud("HTTP://A/")) == "http://a/"
    assert str(Loud("http://a/").join("/B")) == "http://a/b"
    assert str(Loud("http://a/").join("http://B/")) == "http://b/"
    assert type(Quiet("a:b").join(URI("c:d"))) is Quiet
    Counted("a:b").normalize().join("x:Y")
    Counted("A:b").normalize()
    assert Counted.count == 4


def test_a_changed_constructor_is_called() -> None:
    class Late(URI):
        pass

    assert str(Late("A:b")) == "A:b"
    Late.__new__ = lambda cls, text, **options: URI.__new__(cls, text.lower(), **options)  # type: ignore[method-assign]
    assert str(Late("A:B")) == "a:b"
    assert str(Late("a://h/").join("/B")) == "a://h/b"


def test_a_metaclass_is_called() -> None:
    class Meta(type):
        def __call__(cls, *args: Any, **options: Any) -> Any:
            return "made"

    class WithMeta(URI, metaclass=Meta):
        pass

    assert WithMeta("a:b") == "made"


def test_all_call_forms_of_a_constructor() -> None:
    assert URI("a:b") == URI(text="a:b") == URI("a:b", zone=True) == URI(*["a:b"], zone=False)
    for call in ((), ("a:b", True), (5,), (b"a:b",)):
        with pytest.raises(TypeError):
            URI(*call)
    with pytest.raises(TypeError):
        URI("a:b", zoned=True)  # type: ignore[call-arg]


def entries() -> dict[str, Callable[[], Any]]:
    """Every entry from CPython into Rust, with a call of it that succeeds."""
    arrow = pa.array(["http://a/b"])
    noop: Any = lambda *_: None  # noqa: E731
    rows = partial(_native.LinkRows, [], [], False, [], 3, *[noop] * 6)
    linked, keys, value, uri = rows(), _native.Keys(), _native.Components("http://h:8/p"), URI("http://h:8/p")
    pairs = Parameters("a=1")
    batch = _native.LinkBatch.of([tuple(Link("s", *[None] * 12))])
    linked.html("s", b"<a href=x>", "http://a/", "base")
    pages = partial(_native.Pages, [], [], {}, [], [], True, None, [], None, False, list)
    site, suffixes, every = pages(), _native.Suffixes([("uk", 1)]), bytes(256)
    states = partial(_native.Automaton, every, 1, [0, 0], 1, [1])
    dfa = states()
    text = partial(_native.column_text, arrow)
    chunked = pa.chunked_array([arrow])
    source = types.SimpleNamespace(__arrow_c_stream__=chunked.__arrow_c_stream__)  # of unknown length
    check = partial(_native.column_check, rule="URI", zone=False, threads=1)
    array: Any = check(arrow)
    chunks: Any = check(chunked)
    form: Any = _native.CanonicalForm.compile([], "", [], ([], ("", "")))
    stream: Any = check(source)
    streams: Any = iter([check(source) for _ in range(3)])
    table: dict[str, Callable[[], Any]] = {
        "ArrowArray": lambda: check(arrow),
        "ArrowArray.__arrow_c_array__": lambda: array.__arrow_c_array__(),
        "ArrowChunks": lambda: check(chunked),
        "ArrowChunks.__arrow_c_stream__": lambda: chunks.__arrow_c_stream__(),
        "ArrowChunks.num_chunks": lambda: chunks.num_chunks,
        "ArrowRows": lambda: check(arrow),
        "ArrowRows.__array__": lambda: array.__array__(),
        "ArrowRows.__arrow_c_schema__": lambda: array.__arrow_c_schema__(),
        "ArrowRows.__getitem__": lambda: array[0],
        "ArrowRows.__len__": lambda: len(array),
        "ArrowRows.__repr__": lambda: repr(array),
        "ArrowRows.nbytes": lambda: array.nbytes,
        "ArrowRows.null_count": lambda: array.null_count,
        "ArrowRows.to_numpy": lambda: array.to_numpy(),
        "ArrowRows.to_pylist": lambda: array.to_pylist(),
        "ArrowStream": lambda: check(source),
        "ArrowStream.__arrow_c_schema__": lambda: stream.__arrow_c_schema__(),
        "ArrowStream.__arrow_c_stream__": lambda: next(streams).__arrow_c_stream__(),
        "ArrowStream.__repr__": lambda: repr(stream),
        "ArrowStream.closed": lambda: stream.closed,
        "Automaton": states,
        "Automaton.run": lambda: dfa.run(b"a", 1),
        "CanonicalForm": lambda: _native.CanonicalForm.compile([], "", [], ([], ("", ""))),
        "CanonicalForm.compile": lambda: _native.CanonicalForm.compile([], "", [], ([], ("", ""))),
        "CanonicalForm.apply": lambda: form.apply("x:a", False),
        "Components": lambda: _native.Components("a"),
        "Components.__init_subclass__": lambda: type("Own", (_native.Components,), {}),
        "Components.parse": lambda: _native.Components.parse("a"),
        "Components.can_parse": lambda: _native.Components.can_parse("a"),
        "Components.span": lambda: value.span("host"),
        "Components._parts": lambda: value._parts(),  # type: ignore[attr-defined]
        "Components.__str__": lambda: str(value),
        "Components.__hash__": lambda: hash(value),
        "Keys": _native.Keys,
        "Keys.update": lambda: keys.update(bytes(8)),
        "Keys.__contains__": lambda: 0 in keys,
        "Keys.__len__": lambda: len(keys),
        "Keys.lacks": lambda: keys.lacks(bytes(16)),
        "Keys.narrow": lambda: keys.narrow(b""),
        "Keys.faults": lambda: keys.faults(b"", _native.Keys(), False),
        "is_gzip_members": lambda: _native.is_gzip_members(b"", 0),
        "LinkArrow": lambda: _native.LinkArrow(False),
        "LinkArrow.write": lambda: _native.LinkArrow(True).write([batch]),
        "LinkArrow.end": lambda: _native.LinkArrow(True).end([]),
        "LinkBatch": lambda: _native.LinkBatch.of([]),
        "LinkBatch.of": lambda: _native.LinkBatch.of([]),
        "LinkBatch.unpack": lambda: _native.LinkBatch.unpack(0, [(None, b"", bytes(4))] * 14),
        "LinkBatch.num_rows": lambda: batch.num_rows,
        "LinkBatch.nbytes": lambda: batch.nbytes,
        "LinkBatch.links": batch.links,
        "LinkBatch.column": lambda: batch.column("source"),
        "LinkBatch.with_texts": lambda: batch.with_texts("audit", ["a"]),
        "LinkBatch.slice": lambda: batch.slice(1),
        "LinkBatch.select": lambda: batch.select(["valid"]),
        "LinkBatch.pairs": batch.pairs,
        "LinkBatch.counts": batch.counts,
        "LinkBatch.json_lines": batch.json_lines,
        "LinkBatch.csv_lines": lambda: batch.csv_lines(True),
        "LinkBatch.__arrow_c_array__": batch.__arrow_c_array__,
        "LinkBatch.__reduce__": batch.__reduce__,
        "LinkBatch.__repr__": lambda: repr(batch),
        "LinkParquet": lambda: _native.LinkParquet([], 1),
        "LinkParquet.write": lambda: _native.LinkParquet([], 1).write([batch]),
        "LinkParquet.end": lambda: _native.LinkParquet([], 1).end([]),
        "LinkRows": rows,
        "LinkRows.__len__": lambda: len(linked),
        "LinkRows.octets": lambda: linked.octets,
        "LinkRows.html": lambda: linked.html("s", b"<a href=x>", "http://a/", "base"),
        "LinkRows.step": lambda: linked.step(1),
        "LinkRows.records": lambda: linked.records(b"", 0, 0, 0, True, True, False, "s", 1, 1, 1),
        "LinkRows.members": lambda: linked.members(b"", [], 0, 1),
        "LinkRows.place": linked.place,
        "LinkRows.counts": linked.counts,
        "LinkRows.embedded": linked.embedded,
        "LinkRows.base": linked.base,
        "LinkRows.href": linked.href,
        "LinkRows.passed": linked.passed,
        "LinkRows.add": lambda: linked.add("s", "http://a/", "base", [("a", "x", None)]),
        "LinkRows.note": lambda: linked.note("s", "http://a/", "kind"),
        "LinkRows.take": linked.take,
        "Pages": pages,
        "Pages.read": lambda: site.read([], 1, 1),
        "Pages.anchors": lambda: site.anchors("", 1),
        "Suffixes": lambda: _native.Suffixes([]),
        "_ways": lambda: _native._ways("a", True, False),
        "anchor_key": lambda: _native.anchor_key(1, b"a"),
        "column_check": lambda: _native.column_check(arrow, "URI", False, 1),
        "column_domain": lambda: _native.column_domain(arrow, "public_suffix", suffixes, True, lambda _: [], 1, True),
        "column_parts": lambda: _native.column_parts(arrow, ["host"], None, False, 1, True),
        "column_text": lambda: text("host"),
        "normalize": lambda: _native.normalize("a", 3),
        "parse": lambda: _native.parse("a"),
        "percent_decode": lambda: _native.percent_decode(b"a"),
        "percent_encode": lambda: _native.percent_encode(b"a", ""),
        "remove_dot_segments": lambda: _native.remove_dot_segments("a"),
        "resolve": lambda: _native.resolve(value, value, True),
        "unquote": lambda: _native.unquote("a%20b", True),
        "unquote_pairs": lambda: _native.unquote_pairs("a=b", True),
    }
    for name in ("lt", "le", "eq", "ne", "gt", "ge"):
        table[f"ArrowRows.__{name}__"] = partial(getattr(array, f"__{name}__"), chunks)
        table[f"Components.__{name}__"] = partial(getattr(operator, name), value, value)
    # The attributes of each class itself, without inherited ones.
    for kind in (_native.Components, URI, URIReference, IRI, IRIReference):
        subject = kind("http://h:8/p")
        if kind is not _native.Components:
            table[kind.__name__] = partial(kind, "http://h:8/p")
        for name, member in vars(kind).items():
            if isinstance(member, types.GetSetDescriptorType):
                table[f"{kind.__name__}.{name}"] = partial(getattr, subject, name)
    if hasattr(_native, "Trigger"):
        trigger = _native.Trigger(re.compile("a"), ["a"], True, True, None)
        table["Trigger"] = lambda: _native.Trigger(re.compile("a"), ["a"], True, True, None)
        table["Trigger.search"] = lambda: trigger.search("a:", 0)
    if hasattr(_native, "with_fast_path"):
        table["with_fast_path"] = lambda: _native.with_fast_path(encoding, "encode", "Function", "encode(data)")
        table |= {
            "encoding.encode": lambda: overthere.encode("a b"),
            "encoding.decode": lambda: overthere.decode("a%20b"),
            "relate.relate": lambda: relate.relate("http://a/b", "http://a/c"),
            "URI.join": lambda: uri.join("x"),
            "URIReference.join": lambda: URIReference("//a/b").join("x"),
            "URIReference.normalize": lambda: uri.normalize(),
            "URIReference.to_iri": lambda: uri.to_iri(),
            "IRIReference.to_uri": lambda: IRI("http://é/").to_uri(),
            "URI.relate": lambda: uri.relate("http://h:8/q"),
            "URIReference.equivalent": lambda: uri.equivalent(uri),
            "URIReference.same_document": lambda: uri.same_document(uri),
            "normalize.lowest_rung": lambda: overthere.lowest_rung("a:b", "a:b"),
            "Value.replace": lambda: uri.replace(host="x"),
            "Value.build": lambda: URI.build(scheme="x"),
            "Value.decoded": lambda: uri.decoded(),
            "Value.decoded_bytes": lambda: uri.decoded_bytes(),
            "Value.__repr__": lambda: repr(uri),
            "Conveniences.append": lambda: uri.append("x"),
            "Conveniences.__truediv__": lambda: uri / "x",
            "Conveniences.with_name": lambda: uri.with_name("x"),
            "Conveniences.with_suffix": lambda: uri.with_suffix(".x"),
            "Conveniences.with_segments": lambda: uri.with_segments(["x"]),
            "Conveniences.with_parameters": lambda: uri.with_parameters({"a": 1}),
            "Conveniences.add_parameters": lambda: uri.add_parameters({"a": 1}),
            "Conveniences.without_parameters": lambda: uri.without_parameters("a"),
            "Conveniences.sort_parameters": lambda: uri.sort_parameters(),
            "Conveniences.redacted": lambda: uri.redacted(),
            "Parameters.get": lambda: pairs.get("a"),
            "Parameters.all": lambda: pairs.all("a"),
            "Parameters.__getitem__": lambda: pairs["a"],
            "Parameters.__contains__": lambda: "a" in pairs,
            "Parameters.__iter__": lambda: iter(pairs),
        }
        for holder, subject in ((Conveniences, uri), (Value, uri), (URI, uri)):
            for name, member in vars(holder).items():
                if isinstance(member, types.GetSetDescriptorType):
                    table[f"{holder.__name__}.{name}"] = partial(getattr, subject, name)
    return table


def inherited(kind: type, name: str) -> bool:
    """Whether every object has it, or CPython derives it from something else; None hides a method."""
    if getattr(kind, name) is None:
        return True
    return name in ("__doc__", "__module__", "__new__", "rule", "_layout") or getattr(object, name, None) is getattr(
        kind, name
    )


def test_every_native_entry_is_listed() -> None:
    """All that Rust exports is in `entries`, so that the next test covers it."""
    names = entries()
    expected = {name for name in dir(_native) if not name.startswith("__")} - {"_panic"}
    for name in list(expected):
        if isinstance(kind := getattr(_native, name), type):
            expected |= {f"{name}.{attribute}" for attribute in vars(kind) if not inherited(kind, attribute)}
    for holder in (encoding, relate, normalize, Conveniences, Value, URI, URIReference, IRI, IRIReference, Parameters):
        prefix = holder.__name__.rpartition(".")[2]
        steps = [name[1:].removesuffix("_by_steps") for name in vars(holder) if name.endswith("_by_steps")]
        expected |= {f"{prefix}.{name}" for name in steps}
    assert sorted(expected - names.keys()) == []


@pytest.mark.parametrize("name", sorted(entries()) if kernel.name == "native" else [])
def test_a_panic_in_any_entry_raises_kernel_bug(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The process goes on, and the next call works."""
    call = entries()[name]
    call()
    _native._panic(True)
    try:
        with pytest.raises(overthere.KernelBug, match=r"a bug in overthere's native kernel.*on purpose") as caught:
            call()
    finally:
        _native._panic(False)
    assert isinstance(caught.value, overthere.OverthereError)
    assert "on purpose" in capfd.readouterr().err
    call()
