"""Hostile input is normal input (DESIGN law 7): every octet, surrogates, ten megabytes; only documented exceptions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from overthere import (
    IRI,
    URI,
    CodingError,
    InvalidURI,
    IRIReference,
    OverthereError,
    Rung,
    URIReference,
    check,
    decode,
    decode_bytes,
    encode,
    explain,
    forms,
    kernel,
    lowest_rung,
)
from overthere.editions import edition
from overthere.kernel import reference, remove_dot_segments
from support import LONG, linear, processor

BASE = URI("http://h/a/b")
ODD = [
    *map(chr, range(256)),
    *"\ud800\udfff\udc80\ufeff\ufffe\u202e\u2028\U0001f600\U0010ffff\u0660\uff0f\u3002\u0130\u017f\u212a",
]
ODD += ["e\u0301", "\ud83d\ude00", "%", "%%", "%4", "%00", "%0", "%u0041", "%ED%A0%80", "%C0%80"]
PLACES = ["{}", "{}:", "a{}:b", "//{}", "//{}@h", "//[{}]", "//[::1{}]", "//h:{}", "//h:8{}/", "a:{}b", "/{}", "?{}"]
PLACES += ["#{}", "http://h/a/{}/../b", "http://u:p{}w@h/"]


def refused_or_done(action: Callable[..., Any], *given: object, **named: object) -> Any:
    """The answer, or None for a documented refusal that can be shown."""
    try:
        return action(*given, **named)
    except OverthereError as error:
        shown = [str(error), repr(error), error.figure() if isinstance(error, InvalidURI) else "-"]
        if not all(shown):
            raise
        return None


def use(text: str) -> None:
    """All that can be asked of a text; nothing may come of it but an answer or a documented exception."""
    findings = check(text, rule="URI-reference")
    assert all(0 <= f.start <= f.end <= len(text) for f in findings)
    shown = explain(text, base="http://h/a/b")
    assert str(shown) == shown.render()
    assert str(shown).isprintable() or "\n" in str(shown)
    assert shown.to_dict()["text"] == text
    for kind in (URIReference, URI, IRIReference, IRI):
        value = refused_or_done(kind, text)
        if value is None:
            continue
        assert str(value) == text
        assert repr(value)
        assert value.form
        for component in ("host", "path", "query", "fragment", "userinfo"):
            try:
                value.decoded(component)
            except CodingError:
                value.decoded(component, errors="replace")
        assert value.ip is None or value.ip.version in (4, 6)
        if isinstance(value, URIReference):
            assert BASE.join(value).scheme
            assert value.to_iri().to_uri()
            assert value.normalize(Rung.SCHEME).equivalent(value, Rung.SCHEME)
            assert value.changes(Rung.SCHEME) is not None
        else:
            assert IRI("http://h/ü").join(value).scheme
            assert value.to_uri()
            assert value.mixed_direction() is not None
            refused_or_done(value.to_uri, idna=True)
    for function in (decode, decode_bytes, forms.decode, encode):
        with suppress(CodingError):
            function(text)
    assert isinstance(edition().is_valid(text), bool)


@pytest.mark.parametrize("place", PLACES)
def test_every_octet_and_worse(place: str) -> None:
    for odd in ODD:
        use(place.format(odd))


def test_offsets_are_code_points() -> None:
    """DESIGN 3: offsets count the code points of the string that the caller passed."""
    for before in ("", "\U0001f600", "é" * 3, "\ud83d\ude00", "\udc80", "\U0010ffffa"):
        text = f"x:/{before}|"
        assert check(text)[-1].start == len(text) - 1
        text = f"http://h/{before}%zz"
        last = check(text)[-1]
        assert (last.kind, last.start, last.end) == ("pct-encoded", len(text) - 3, len(text) - 2)
    value = IRI("http://h/\U0001f600é?\U0001f600#é")
    assert (value.span("path"), value.span("query"), value.span("fragment")) == ((8, 11), (12, 13), (14, 15))
    assert explain("x:/\U0001f600|").findings[-1].start == 4


def test_surrogates() -> None:
    """A lone surrogate is no character: refused at its place, never encoded."""
    for text in ("\ud800", "http://h/\udfff", "a:b#\udc80"):
        for kind in (URIReference, IRIReference):
            with pytest.raises(InvalidURI) as caught:
                kind(text)
            assert caught.value.start == len(text) - 1
            caught.value.figure().encode()
            str(caught.value).encode()
        for function in (encode, decode, decode_bytes):
            with pytest.raises(CodingError):
                function(text)
        str(explain(text)).encode()


def test_ends() -> None:
    for text in ("", "%", "a%", "a%4", "?%", "#%4", "//%", "//%4", "//u%@h", "//h%:8"):
        found = check(text, rule="URI-reference")
        assert [f.kind for f in found] == (["pct-encoded"] if text else [])
        assert not found or text[found[0].start] == "%"
    assert [f.kind for f in check("")] == ["scheme-missing"]
    assert encode("") == decode("") == ""
    assert str(explain(""))


def test_huge_ports() -> None:
    for digits in ("9" * 5000, "0" * 100_000 + "80", "1" + "0" * 1_000_000):
        value = URI(f"http://h:{digits}/")
        assert value.port_text == digits
        assert value.port == (80 if digits.startswith("0") else None)
        assert value.normalize(Rung.SCHEME).port == (None if digits.startswith("0") else value.port)
        assert value.replace(port=None).port_text is None
        assert value.to_iri().port == value.port
        assert str(explain(str(value)))
        assert lowest_rung(value, "http://h/") == (Rung.SCHEME if digits.startswith("0") else None)


def test_numbers_in_addresses() -> None:
    for before, unit, behind in (("", "1", ".1.1.1"), ("", "1.", ""), ("[", "1:", "]"), ("[v", "f", ".x]"),
                                 ("[::", "1", "]"), ("[", ":", ""), ("[", "[", "]")):  # fmt: skip

        def address(count: int, before: str = before, unit: str = unit, behind: str = behind) -> None:
            use(f"http://{before}{unit * count}{behind}/")

        linear(address, 100_000)
    linear(lambda count: use(f"http://{'[' * count}{']' * count}/"), 100_000)


def big(unit: str, size: int) -> str:
    return unit * (size // len(unit))


UNITS = ["a", "%41", "../", "[", "a.", ":", "@", "/", "//", "#", "%C3%BC", "é", "\ud800"]
# "http://@@@" has as many findings as characters: test_many_findings.
LARGE = [(before, unit) for before in ("", "a?", "http://h/") for unit in UNITS]
LARGE += [(before, unit) for before in ("http://", "x://[") for unit in UNITS if unit != "@"]


def read(text: str) -> None:
    check(text)
    value = refused_or_done(URIReference, text)
    refused_or_done(IRIReference, text)
    if value is not None:
        assert value.normalize(Rung.SCHEME)
        assert repr(value)
    refused_or_done(BASE.join, text)


@pytest.mark.parametrize(("before", "unit"), LARGE)
def test_megabytes(before: str, unit: str) -> None:
    linear(lambda size: read(before + big(unit, size)), 1_000_000)


def test_ten_megabytes() -> None:
    """Size alone is no matter, whatever stands in it."""
    with processor(120):
        read("http://h/" + big("a/%41../", 10_000_000))


@pytest.mark.parametrize("unit", UNITS)
def test_long_data(unit: str) -> None:
    def use(size: int) -> None:
        text = big(unit, size)
        encoded = refused_or_done(encode, text)
        decoded = refused_or_done(decode, text)
        assert (encoded is None) is (unit == "\ud800") is (decoded is None)

    linear(use, LONG)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("before", ["", "http://h/", "http://u:"])
def test_long_texts_are_explained(before: str, unit: str) -> None:
    def use(size: int) -> None:
        text = before + big(unit, size)
        explanation = explain(text)
        assert len(str(explanation)) < 20_000
        value = refused_or_done(URIReference, text)
        if value is not None:
            value.to_iri()
            BASE.relate(BASE.join(value))
        refused_or_done(lambda: IRIReference(text).to_uri(idna=True))

    # Where each character is a finding, fewer of them: test_many_findings.
    linear(use, 20_000 if before == "http://u:" else LONG)


def test_explanation_keeps_to_its_width() -> None:
    """`Explanation.render`: lines of at most about `width` columns, whatever it shows."""
    shown = explain("a" * 1000, base="http://h/" + "b" * 1000 + "/").render(60)
    assert max(map(len, shown.split("\n"))) <= 80


def test_the_kernel_on_any_text() -> None:
    """The two kernels are one: what takes text takes any text, and what is no character is kept or refused."""
    for text in ("\ud800", "a/\udfff/../b", "/./\udc80", "\ud83d\ude00/.."):
        assert remove_dot_segments(text) == reference.remove_dot_segments(text)
        for rule in ("URI", "URI-reference", "IRI", "IRI-reference"):
            assert kernel.parse(text, rule) is None


@pytest.mark.parametrize("unit", ["[a", "%", "é|"])
def test_many_findings(unit: str) -> None:
    """A long text with a finding at every second character."""

    def use(size: int) -> None:
        text = "http://h/" + big(unit, size)
        found = check(text)
        assert len(found) == 1001
        assert found[-1].kind == "more"
        assert explain(text).findings[-1].kind == "more"

    linear(use, LONG)


def test_many_ats() -> None:
    def use(size: int) -> None:
        assert check("http://" + big("a@", size))[-1].kind == "more"

    linear(use, LONG)


def test_deep_is_not_recursive() -> None:
    """No recursion on the text: a thousand levels or a million are alike."""
    for unit, behind in (("a/", ""), ("../", ""), ("./", "x"), ("a:", ""), ("/.", ""), ("?", "")):

        def deep(count: int, unit: str = unit, behind: str = behind) -> None:
            use(unit * count + behind)

        linear(deep, 100_000)
    evidence = {f"http://h/{i}": f"http://h/{i + 1}" for i in range(5000)}
    assert str(URI("http://h/0").normalize(Rung.PROTOCOL, evidence=evidence)) == "http://h/5000"
    evidence["http://h/5000"] = "http://h/100"
    ends = {URI(f"http://h/{i}").normalize(Rung.PROTOCOL, evidence=evidence) for i in (0, 99, 100, 4000)}
    assert len(ends) == 1
