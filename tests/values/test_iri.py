"""IRIs as values: the ladder of RFC 3987 5.3, and the operations of URIs on IRIs (RFC 3987 6.5)."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere import (
    IRI,
    URI,
    InvalidIRI,
    InvalidURI,
    IRIReference,
    Rung,
    URIReference,
    check,
    columns,
    explain,
    kernel,
    lowest_rung,
)
from overthere.columns import rowwise
from overthere.ground.errors import Unreachable
from support import cases

PAIRS: list[tuple[str, str, Rung | None]] = [
    # RFC 3987 5.3.2, printed
    ("example://a/b/c/%7Bfoo%7D/rosé", "eXAMPLE://a/./b/../b/%63/%7bfoo%7d/ros%C3%A9", Rung.SYNTAX),
    ("http://h/é", "http://h/é", Rung.STRING),
    ("HTTP://www.EXAMPLE.com/é", "http://www.example.com/é", Rung.CASE),
    ("http://h/é%3a", "http://h/é%3A", Rung.CASE),
    # 5.3.2.1: non-ASCII hosts are not lowercased; IDN makes them equal (5.3.3)
    ("x://É.example/", "x://é.example/", None),
    ("http://É.example/", "http://é.example/", Rung.SCHEME),
    ("http://É.example/é", "HTTP://É.example/é", Rung.CASE),
    # 5.3.2.2: NFC is assumed, not applied
    ("http://www.example.org/r\u00e9sum\u00e9.html", "http://www.example.org/re\u0301sume\u0301.html", None),
    # 5.3.2.3
    ("http://example.org/~user", "http://example.org/%7euser", Rung.PERCENT),
    ("http://h/é", "http://h/%c3%a9", Rung.PERCENT),
    ("x://%C3%89/", "x://É/", Rung.PERCENT),
    ("http://h/é%2F", "http://h/é/", None),
    ("http://h/\u00a0", "http://h/%C2%A0", Rung.PERCENT),
    ("http://h/?\ue000", "http://h/?%EE%80%80", Rung.PERCENT),
    # 5.3.2.4
    ("http://h/a/../é", "http://h/é", Rung.PATH),
    # 5.3.3, printed
    ("http://example.com/é", "http://example.com:80/é", Rung.SCHEME),
    ("http://é.example", "http://é.example:/", Rung.SCHEME),
    ("http://résumé.example.org", "http://xn--rsum-bpad.example.org", Rung.SCHEME),
    ("x://résumé.example.org", "x://xn--rsum-bpad.example.org", None),
    ("http://example.com/?é", "http://example.com/é", None),
    ("http://é/#", "http://é/", None),
    ("../é", "../%C3%A9", Rung.PERCENT),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "rung"), PAIRS, ids=[ascii(f"{a} {b}") for a, b, _ in PAIRS])
def test_the_lowest_rung_of_equivalent_iris(a: str, b: str, rung: Rung | None) -> None:
    first, two = IRIReference(a), IRIReference(b)
    assert lowest_rung(first, two) == lowest_rung(two, first) == rung
    if not (a.isascii() and b.isascii()):
        assert lowest_rung(a, b) == rung
        for text, other in ((a, two), (b, first)):
            if text.isascii():
                assert lowest_rung(URIReference(text), other) == rung
    for step in Rung:
        assert first.equivalent(two, step) == (rung is not None and rung <= step)
        assert (str(first.normalize(step)) == str(two.normalize(step))) == (rung is not None and rung <= step)


def test_columns_compare_iris_like_values() -> None:
    urns = [("urn:x:\u00e9?+a#f", "URN:X:%C3%A9?+b", Rung.SCHEME), ("urn:x:\u00e9?=a", "urn:x:e?=a", None)]
    pairs = [*PAIRS, *urns]
    column = pa.chunked_array([[a for a, _, _ in pairs], [None, "x:", "http://h/\u202e"]])
    two = pa.chunked_array([[b for _, b, _ in pairs] + ["x:"], [None, "http://h/\u202e"]])
    expected = [rung and int(rung) for _, _, rung in pairs]
    assert [lowest_rung(IRIReference(a), b) for a, b, _ in urns] == [rung for _, _, rung in urns]
    assert rowwise.to_pyarrow(columns.lowest_rung(column, two, iri=True)).to_pylist() == [*expected, None, None, None]
    for step in (Rung.STRING, Rung.CASE, Rung.PERCENT, Rung.PATH, Rung.SCHEME):
        equal = rowwise.to_pyarrow(columns.equivalent(column, two, step, iri=True)).to_pylist()
        assert equal == [*(rung is not None and rung <= step for _, _, rung in pairs), None, None, None]
    assert rowwise.to_pyarrow(columns.lowest_rung(column, two)).to_pylist() != [*expected, None, None, None]


def test_text_that_is_neither_uri_nor_iri() -> None:
    with pytest.raises(InvalidIRI):
        lowest_rung("http://h/\u202e", "http://h/")
    with pytest.raises(InvalidURI):
        lowest_rung("http://h/a b", "http://h/")


def test_a_normal_form_is_an_iri() -> None:
    iri = IRI("HTTP://Example.com:80/%7e%C3%A9/../rose%CC%81\u00a0%E2%80%AE")
    assert str(iri.normalize(Rung.STRING)) == str(iri)
    assert str(iri.normalize(Rung.CASE)) == "http://example.com:80/%7E%C3%A9/../rose%CC%81\u00a0%E2%80%AE"
    assert str(iri.normalize(Rung.PERCENT)) == "http://example.com:80/~é/../rose\u0301%C2%A0%E2%80%AE"
    assert str(iri.normalize()) == "http://example.com:80/rose\u0301%C2%A0%E2%80%AE"
    assert str(iri.normalize(Rung.SCHEME)) == "http://example.com/rose\u0301%C2%A0%E2%80%AE"
    # Readable, and equal to the normal form of its A-labels (5.3.3).
    assert str(IRI("http://xn--rsum-bpad.example.org").normalize(Rung.SCHEME)) == "http://résumé.example.org/"
    assert isinstance(iri.normalize(), IRI)
    assert not iri.normalize().nfc
    assert IRI("http://h/ros\u00e9").nfc
    assert not IRI("http://h/rose\u0301").nfc


def test_changes_have_place_and_reason() -> None:
    changes = IRI("HTTP://É/%7E%c3%a9/./é").changes(Rung.SCHEME)
    assert [(c.rung, c.component, c.before, c.after, c.source) for c in changes] == [
        (Rung.CASE, "scheme", "HTTP", "http", "RFC 3987 5.3.2.1"),
        (Rung.CASE, "path", "/%7E%c3%a9/./é", "/%7E%C3%A9/./é", "RFC 3987 5.3.2.1"),
        (Rung.PERCENT, "path", "/%7E%C3%A9/./é", "/~%C3%A9/./é", "RFC 3987 5.3.2.3"),
        (Rung.PERCENT, "path", "/~%C3%A9/./é", "/~é/./é", "RFC 3987 5.3.2.3, 3.1"),
        (Rung.PATH, "path", "/~é/./é", "/~é/é", "RFC 3987 5.3.2.4"),
        (Rung.SCHEME, "host", "É", "é", "RFC 3987 5.3.3"),
    ]


def test_evidence_compares_uris() -> None:
    mappings = {"http://h/%C3%A9": "http://h/%C3%A9/"}
    assert str(IRI("http://h/é").normalize(Rung.PROTOCOL, evidence=mappings)) == "http://h/é/"
    assert lowest_rung("http://h/é", "http://h/é/", mappings) is Rung.PROTOCOL


@pytest.mark.parametrize("bad", ["http://h/a b", "%", "a", "//h/", "\ud800", "é:"])
def test_evidence_must_be_uris(bad: str) -> None:
    for evidence in ({"http://h/": bad}, {bad: "http://h/"}):
        for kind in (URI, IRI):
            for ask in ("normalize", "changes"):
                with pytest.raises(InvalidURI):
                    getattr(kind("http://h/"), ask)(Rung.PROTOCOL, evidence=evidence)
        with pytest.raises(InvalidURI):
            lowest_rung("http://h/", "http://h/b", evidence)


def test_operations_of_uris_on_iris() -> None:
    base = IRI("http://h/é/ü;p?q#f")
    assert base.join("../ö").__class__ is IRI
    assert str(base.join(URIReference("g#s"))) == "http://h/é/g#s"
    assert str(base.relate("http://h/é/ö?x")) == "ö?x"
    assert base.join(base.relate(IRI("http://h/ö"))) == IRI("http://h/ö")
    with pytest.raises(Unreachable):
        base.relate("http://h/é/../ö")
    assert base.replace(query="ß", fragment=None) == IRI("http://h/é/ü;p?ß")
    with pytest.raises(InvalidIRI):
        base.replace(query="\u202e")
    with pytest.raises(InvalidIRI):
        base.replace(fragment="\ue000")
    assert IRI.build(scheme="http", host="bücher.example", path="/ü", query="q=ß") == IRI("http://bücher.example/ü?q=ß")
    assert IRI.build(scheme="http", host="h", segments=["ü/"]) == IRI("http://h/%C3%BC%2F")
    assert IRIReference("#é").same_document(base)
    assert not IRIReference("é").same_document("http://h/é/ü")
    assert pickle.loads(pickle.dumps(base)) == base


_TEXTS = st.builds(
    "".join,
    st.lists(st.sampled_from(["http://", "x:", "é", "É", "%C3%A9", "%c3%89", "%7e", "~", "/", ".", "..", "h",
                              "H", ":80", "?", "#", "\u00a0", "%C2%A0", "%FF", "\u0301", "日", "xn--9ca", "@"]),
             max_size=9),
)  # fmt: skip


@pytest.mark.parametrize("host", [".xn--9ca", "a..xn--9ca", "xn--9ca" + ".a" * 127, "xn--9ca_.xn--9ca"])
def test_an_invalid_idn_keeps_its_a_labels(host: str) -> None:
    """Converting its U-labels back would give other A-labels."""
    iri = IRIReference(f"http://{host}/")
    assert iri.equivalent(iri.normalize(Rung.SCHEME), Rung.SCHEME)
    assert URI(str(iri)).to_iri(idna=True) == iri
    assert str(URI("http://a.xn--9ca./").to_iri(idna=True)) == "http://a.é./"


@given(_TEXTS, _TEXTS)
def test_equivalent_means_equal_normal_forms(a: str, b: str) -> None:
    try:
        first, two = IRIReference(a), IRIReference(b)
    except InvalidIRI:
        return
    equal = [first.equivalent(two, rung) for rung in Rung]
    assert equal == sorted(equal)  # each rung includes those below
    for rung, same in zip(Rung, equal, strict=True):
        form = first.normalize(rung)
        assert (form == two.normalize(rung)) == same
        assert form.normalize(rung) == form
        assert first.equivalent(form, rung)
        if rung >= Rung.PERCENT and rung < Rung.SCHEME:
            # IRIs that map to the same URI are equivalent.
            assert same or str(first.to_uri().normalize(rung)) != str(two.to_uri().normalize(rung))


@given(_TEXTS, _TEXTS)
def test_relating_is_the_inverse_of_joining(a: str, b: str) -> None:
    try:
        base, target = IRI(a), IRI(b)
        assert base.join(base.relate(target)) == target
    except (InvalidIRI, Unreachable):
        return


# -- 3.2 with 6.1 (b)

ESCAPED = [
    0xA0,
    0x1680,
    0x2003,
    0x200B,
    0x2028,
    0x202F,
    0x2060,
    0x3000,
    0xFEFF,
    0x2044,
    0x2215,
    0xFF0F,
    0xFF1A,
    0xFF1F,
    0xFF03,
]


@pytest.mark.parametrize("code", ESCAPED, ids=[f"U+{code:04X}" for code in ESCAPED])
def test_lookalikes_stay_escaped(code: int) -> None:
    uri = URI(f"http://h/{URIReference.build(segments=[f'é{chr(code)}é'])}")
    assert str(uri.to_iri()) == str(uri).replace("%C3%A9", "é")
    assert uri.to_iri().to_uri() == uri


def test_a_joiner_needs_a_letter() -> None:
    assert str(URI("http://h/%E0%A4%95%E2%80%8D%E2%80%8C").to_iri()) == "http://h/\u0915\u200d\u200c"
    assert str(URI("http://h/%E2%80%8D").to_iri()) == "http://h/%E2%80%8D"
    assert str(URI("http://h/a%E2%80%8D").to_iri()) == "http://h/a%E2%80%8D"


@pytest.mark.parametrize("rule", ["IRI", "IRI-reference"])
def test_check_accepts_the_rules_of_iris(rule: str) -> None:
    assert check("http://é/ü", rule=rule) == []
    assert [finding.kind for finding in check("http://é/\u202e", rule=rule)] == ["iri-bidi"]
    assert [not check(text, rule=rule) for text in ("é", "é:x", "http://h/é")] == [rule != "IRI", False, True]
    assert len(check("http://h/ \u202e x", rule=rule, limit=1)) == 2


# -- columns

_ROWS = [
    *[row["iri"] for row in cases("iri")], *[row["uri"] for row in cases("iri")], *[a for a, _, _ in PAIRS],
    None, "", "a b", "http://h/\u202e", "\ue000", "é:x", "http://h/%zz", "é?\ue000", "http://[fe80::1%25e]/",
]  # fmt: skip


def attempt(work: Callable[[str], object], row: str | None) -> tuple[str | None, tuple[str, int] | None]:
    """The expected row: a value, or the kind and place of its error."""
    if row is None:
        return None, None
    try:
        return str(work(row)), None
    except InvalidURI as error:
        return None, (error.kind, error.start)


@pytest.mark.parametrize("engine", [columns.engine().__name__, rowwise.__name__])
def test_columns_agree_with_values(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    works = import_module(engine)
    monkeypatch.setattr(columns, "engine", lambda: works)
    calls: list[tuple[Callable[..., Any], Callable[[str], object]]] = [
        (columns.to_uri, lambda row: IRIReference(row).to_uri()),
        (columns.to_iri, lambda row: URIReference(row).to_iri()),
        (partial(columns.resolve, base="http://é/a/b", iri=True), lambda row: IRI("http://é/a/b").join(row)),
    ]

    def normal(row: str, rung: Rung) -> IRIReference:
        return IRIReference(row).normalize(rung)

    calls += [
        (partial(columns.normalize, rung=rung, iri=True), partial(normal, rung=rung))
        for rung in (Rung.STRING, Rung.CASE, Rung.PERCENT, Rung.PATH, Rung.SCHEME)
    ]
    for of_columns, of_values in calls:
        expected = [attempt(of_values, row) for row in _ROWS]
        assert pa.array(of_columns(pa.array(_ROWS))).cast(pa.string()).to_pylist() == [value for value, _ in expected]
        results = pa.array(of_columns(pa.array(_ROWS), errors="detail")).to_pylist()
        assert [result and (result["error"], result["error_at"]) for result in results if result is not None] == [
            error or (None, None) for row, (_, error) in zip(_ROWS, expected, strict=True) if row is not None
        ]
    for rule in ("IRI", "IRI-reference"):
        valid = [None if row is None else not check(row, rule=rule) for row in _ROWS]
        assert pa.array(columns.check(pa.array(_ROWS), rule)).to_pylist() == valid


PIECES = (
    "http:", "é:", "//", "/", "?", "#", "@", ":", "8", "[", "]", "[::1]", "[v1.é]", "[::1%25é]", "[::1%25e]", "é", "É",
    "日本", "A", "%41", "%2f", "%", "%4", "%é9", "%C3%A9", "%c3", "%a9", "%E2%82", "%E2%82%AC", "%E2%80%AE",
    "%E2%80%8D", "%EE%80%80", "%F4%90%80%80", "%ED%A0%80", "%EF%BC%8F", "%C2%A0", "\u00a0", "\u200d", "\u202e",
    "\ue000", "\ufffe", "\U00010000", "\U000f0000", "\U0010ffff", "\u0080", " ", "\x00", "|", ".", "..", "a/../",
    "xn--9ca", "~",
)  # fmt: skip


def _agree(value: Any, other: Any, rows: list[str]) -> None:
    value, other = (pa.array(item).to_pylist() for item in (value, other))
    assert [(row, a, b) for row, a, b in zip(rows, value, other, strict=True) if a != b] == []


@pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")
@pytest.mark.parametrize("seed", range(4))
def test_both_kernels_give_the_same_columns(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """For IRIs, URIs and invalid texts from pieces whose meaning depends on their place; the native kernel does not
    call Python, except at the rung SCHEME."""
    chance = random.Random(seed)
    rows = ["".join(chance.choices(PIECES, k=chance.randint(1, 7))) for _ in range(3000)]
    rows += ["http://h/" + row for row in rows]
    good = [row for row in rows if not check(row, rule="IRI", limit=1)]
    assert len(good) > 300
    texts, bases = pa.array(rows), pa.array(chance.choices([*good, "é", ""], k=len(rows)))
    calls: list[tuple[str, dict[str, Any], dict[str, Any]]] = [("to_uri", {}, {}), ("to_iri", {}, {})]
    kwargs = {"iri": True}
    for strict in (True, False):
        calls += [("resolve", {"base": base, "strict": strict}, kwargs) for base in (good[0], bases)]
    calls += [("normalize", {"rung": rung}, kwargs) for rung in range(4)]
    for operation, message, arguments in calls:
        common = {"details": True, "threads": 2, "views": True, **message}
        expected = rowwise.text(texts, operation, **common, **arguments)
        with monkeypatch.context() as patch:
            patch.setattr(rowwise, "text", None)
            _agree(columns.engine().text(texts, operation, **common, **arguments), expected, rows)
    for name, zone in product(("IRI", "IRI-reference"), (False, True)):
        results = rowwise.check(texts, name, zone=zone, threads=1)
        with monkeypatch.context() as patch:
            patch.setattr(rowwise, "check", None)
            _agree(columns.check(texts, name, zone=zone, threads=2), results, rows)


def test_resolving_against_a_column_of_iris() -> None:
    bases, rows = ["http://é/a", "http://ü/", None, "x y"], ["ß", "ß", "ß", "ß"]
    results = pa.array(columns.resolve(pa.array(rows), pa.array(bases), iri=True, errors="detail")).to_pylist()
    assert [result["value"] for result in results] == ["http://é/ß", "http://ü/ß", None, None]
    assert [result["error"] for result in results] == [None, None, None, "base"]
    with pytest.raises(columns.ColumnError):
        columns.to_uri(pa.array(["a b"]), errors="raise")


def test_every_pair_of_hosts_has_the_right_rung() -> None:
    hosts = ["É", "é", "%C3%89", "%c3%89", "xn--9ca"]
    rungs = {(a, b): lowest_rung(IRI(f"http://{a}/"), IRI(f"http://{b}/")) for a, b in product(hosts, hosts)}
    assert all(rung is not None for rung in rungs.values())
    assert rungs["%C3%89", "É"] is Rung.PERCENT
    assert rungs["é", "xn--9ca"] is Rung.SCHEME


def test_an_iri_is_explained_as_an_iri() -> None:
    """By the rungs of RFC 3987 5.3; text is explained as a URI."""
    iri = IRI("http://u:secret@\u00e9:80/b/../%C3%A9")
    found = explain(iri, "http://h/\u00fc")
    assert (found.kind, found.findings, found.problem) == ("IRI", [], None)
    assert {form.rung: form.text for form in found.forms} == {rung: str(iri.normalize(rung)) for rung in range(5)}  # type: ignore[arg-type]
    assert [change for form in found.forms for change in form.changes] == iri.changes(Rung.SCHEME)
    assert found.target == "http://u:secret@\u00e9:80/%C3%A9"
    assert "secret" not in str(found)
    assert explain("http://h/\u00e9").kind == "neither"
    assert explain("http://h/\u00e9", iri=True) == explain(IRI("http://h/\u00e9"))
    assert [finding.kind for finding in explain("http://h/\u00e9%zz", iri=True).findings] == ["pct-encoded"]
    assert explain(IRIReference("\u00e9"), "http://h/a/b").target == "http://h/a/\u00e9"


def test_values_are_explained_with_their_zone() -> None:
    zoned = URI("http://[fe80::1%25lo]/a/b", zone=True)
    assert explain(zoned).rows == explain(str(zoned), zone=True).rows
    assert explain(URIReference("g"), IRI("http://h/\u00e9/")).target == "http://h/\u00e9/g"
    assert explain(IRIReference("\u00e9"), zoned).target == "http://[fe80::1%25lo]/a/\u00e9"
    assert "the base is not valid" in (explain("g", "http://h/\u00e9/").problem or "")
