"""Hostile input is normal input (DESIGN law 7): every byte, surrogates, ten megabytes; only documented exceptions."""

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


def result_or_none(action: Callable[..., Any], *value: object, **named: object) -> Any:
    """The result, or None for a documented error, which must be displayable."""
    try:
        return action(*value, **named)
    except OverthereError as error:
        output = [str(error), repr(error), error.figure() if isinstance(error, InvalidURI) else "-"]
        if not all(output):
            raise
        return None


def use(text: str) -> None:
    """Call every function of a text: each returns or raises a documented exception."""
    findings = check(text, rule="URI-reference")
    assert all(0 <= f.start <= f.end <= len(text) for f in findings)
    explanation = explain(text, base="http://h/a/b")
    assert str(explanation) == explanation.render()
    assert str(explanation).isprintable() or "\n" in str(explanation)
    assert explanation.to_dict()["text"] == text
    for kind in (URIReference, URI, IRIReference, IRI):
        value = result_or_none(kind, text)
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
            result_or_none(value.to_uri, idna=True)
    for function in (decode, decode_bytes, forms.decode, encode):
        with suppress(CodingError):
            function(text)
    assert isinstance(edition().is_valid(text), bool)


@pytest.mark.parametrize("place", PLACES)
def test_every_byte_and_hostile_text(place: str) -> None:
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


def test_a_lone_surrogate_is_rejected_at_its_offset() -> None:
    """It is not a character, and never encoded."""
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


def test_findings_at_the_end_of_the_text() -> None:
    for text in ("", "%", "a%", "a%4", "?%", "#%4", "//%", "//%4", "//u%@h", "//h%:8"):
        findings = check(text, rule="URI-reference")
        assert [f.kind for f in findings] == (["pct-encoded"] if text else [])
        assert not findings or text[findings[0].start] == "%"
    assert [f.kind for f in check("")] == ["scheme-missing"]
    assert encode("") == decode("") == ""
    assert str(explain(""))


def test_huge_ports_are_handled() -> None:
    for digits in ("9" * 5000, "0" * 100_000 + "80", "1" + "0" * 1_000_000):
        value = URI(f"http://h:{digits}/")
        assert value.port_text == digits
        assert value.port == (80 if digits.startswith("0") else None)
        assert value.normalize(Rung.SCHEME).port == (None if digits.startswith("0") else value.port)
        assert value.replace(port=None).port_text is None
        assert value.to_iri().port == value.port
        assert str(explain(str(value)))
        assert lowest_rung(value, "http://h/") == (Rung.SCHEME if digits.startswith("0") else None)


def test_long_numbers_in_addresses_are_linear() -> None:
    for before, unit, behind in (("", "1", ".1.1.1"), ("", "1.", ""), ("[", "1:", "]"), ("[v", "f", ".x]"),
                                 ("[::", "1", "]"), ("[", ":", ""), ("[", "[", "]")):  # fmt: skip

        def address(count: int, before: str = before, unit: str = unit, behind: str = behind) -> None:
            use(f"http://{before}{unit * count}{behind}/")

        linear(address, 100_000)
    linear(lambda count: use(f"http://{'[' * count}{']' * count}/"), 100_000)


def big(unit: str, size: int) -> str:
    return unit * (size // len(unit))


UNITS = ["a", "%41", "../", "[", "a.", ":", "@", "/", "//", "#", "%C3%BC", "é", "\ud800"]
# "http://@@@" has as many findings as characters: test_many_findings_are_limited_and_linear.
LARGE = [(before, unit) for before in ("", "a?", "http://h/") for unit in UNITS]
LARGE += [(before, unit) for before in ("http://", "x://[") for unit in UNITS if unit != "@"]


def read(text: str) -> None:
    check(text)
    value = result_or_none(URIReference, text)
    result_or_none(IRIReference, text)
    if value is not None:
        assert value.normalize(Rung.SCHEME)
        assert repr(value)
    result_or_none(BASE.join, text)


@pytest.mark.parametrize(("before", "unit"), LARGE)
def test_megabytes_are_parsed_in_linear_time(before: str, unit: str) -> None:
    linear(lambda size: read(before + big(unit, size)), 1_000_000)


def test_ten_megabytes_are_accepted_or_rejected() -> None:
    """Size alone is no error."""
    with processor(120):
        read("http://h/" + big("a/%41../", 10_000_000))


@pytest.mark.parametrize("unit", UNITS)
def test_encoding_long_data_is_linear(unit: str) -> None:
    def use(size: int) -> None:
        text = big(unit, size)
        encoded = result_or_none(encode, text)
        decoded = result_or_none(decode, text)
        assert (encoded is None) is (unit == "\ud800") is (decoded is None)

    linear(use, LONG)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("before", ["", "http://h/", "http://u:"])
def test_explaining_long_texts_is_linear(before: str, unit: str) -> None:
    def use(size: int) -> None:
        text = before + big(unit, size)
        explanation = explain(text)
        assert len(str(explanation)) < 20_000
        value = result_or_none(URIReference, text)
        if value is not None:
            value.to_iri()
            BASE.relate(BASE.join(value))
        result_or_none(lambda: IRIReference(text).to_uri(idna=True))

    # With a finding at each character there are fewer of them: test_many_findings_are_limited_and_linear.
    linear(use, 20_000 if before == "http://u:" else LONG)


def test_an_explanation_fits_its_width() -> None:
    """`Explanation.render`: lines of about `width` columns at most, for any text."""
    text = explain("a" * 1000, base="http://h/" + "b" * 1000 + "/").render(60)
    assert max(map(len, text.split("\n"))) <= 80


@pytest.mark.parametrize("text", ["a b%zz", "", "HTTP://h:80/../a%7e", "http://[::1]/%zz", "http://\u202eh/?a=b&c#d"])
def test_an_explanation_is_written_in_any_width(text: str) -> None:
    for width in (-(10**6), -1, *range(30), 10**6):
        for base in (None, "http://b/c"):
            explanation = explain(text, base=base)
            assert explanation.render(width).count("\n") >= 2
            assert isinstance(explanation.figure(width), str)


def test_both_kernels_agree_on_any_text() -> None:
    """Both accept any text, and keep or reject code points that are not characters."""
    for text in ("\ud800", "a/\udfff/../b", "/./\udc80", "\ud83d\ude00/.."):
        assert remove_dot_segments(text) == reference.remove_dot_segments(text)
        for rule in ("URI", "URI-reference", "IRI", "IRI-reference"):
            assert kernel.parse(text, rule) is None


@pytest.mark.parametrize("unit", ["[a", "%", "é|"])
def test_many_findings_are_limited_and_linear(unit: str) -> None:
    """A finding at every second character."""

    def use(size: int) -> None:
        text = "http://h/" + big(unit, size)
        findings = check(text)
        assert len(findings) == 1001
        assert findings[-1].kind == "more"
        assert explain(text).findings[-1].kind == "more"

    linear(use, LONG)


def test_many_at_signs_are_linear() -> None:
    def use(size: int) -> None:
        assert check("http://" + big("a@", size))[-1].kind == "more"

    linear(use, LONG)


def test_deep_texts_cause_no_recursion() -> None:
    """A thousand levels or a million are handled alike."""
    for unit, behind in (("a/", ""), ("../", ""), ("./", "x"), ("a:", ""), ("/.", ""), ("?", "")):

        def deep(count: int, unit: str = unit, behind: str = behind) -> None:
            use(unit * count + behind)

        linear(deep, 100_000)
    evidence = {f"http://h/{i}": f"http://h/{i + 1}" for i in range(5000)}
    assert str(URI("http://h/0").normalize(Rung.PROTOCOL, evidence=evidence)) == "http://h/5000"
    evidence["http://h/5000"] = "http://h/100"
    ends = {URI(f"http://h/{i}").normalize(Rung.PROTOCOL, evidence=evidence) for i in (0, 99, 100, 4000)}
    assert len(ends) == 1
