"""Percent-encoding and forms as laws: what is encoded parses in its place, and comes back as it was."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overthere import CodingError, URIReference, decode, decode_bytes, encode, forms
from overthere.cli.app import app
from overthere.grammar.library import grammar

law = settings(max_examples=300, deadline=None, database=None)

ENCODABLE = {  # rule -> where it stands
    "userinfo": "x://{}@h", "reg-name": "x://{}/", "host": "x://{}/", "path": "x://h/{}", "segment": "x://h/{}/b",
    "segment-nz": "x:{}", "segment-nz-nc": "{}/b", "path-abempty": "x://h{}", "path-rootless": "x:{}",
    "query": "x:?{}", "fragment": "x:#{}", "pchar": "x:{}", "unreserved": "{}", "authority": "x://{}/",
    "hier-part": "x:{}", "relative-part": "{}", "relative-ref": "{}", "path-noscheme": "{}",
}  # fmt: skip


@law
@given(st.binary(min_size=1, max_size=8), st.sampled_from(sorted(ENCODABLE)), st.sampled_from([None, ""]))
@example(bytes(range(256)), "segment", None)
@example(b"a@b:c@d", "authority", None)
@example(b"#?#", "relative-ref", None)
@example(b"//@@", "hier-part", None)
def test_encode_and_decode(data: bytes, component: str, keep: str | None) -> None:
    """2.1, 2.4: encoded data parses in its place, stands for the same octets, and is encoded once."""
    try:
        text = encode(data, component, keep=keep)
    except CodingError:
        assert component not in ("userinfo", "reg-name", "host", "path", "segment", "query", "fragment")
        return
    assert decode_bytes(text) == data
    assert str(URIReference(ENCODABLE[component].format(text)))
    assert encode(decode_bytes(text), component, keep=keep) == text


@law
@given(st.text(), st.sampled_from(["utf-8", "utf-16", "latin-1", "shift_jis"]))
def test_encode_and_decode_of_text(data: str, charset: str) -> None:
    try:
        text = encode(data, charset=charset)
    except CodingError:
        with pytest.raises(UnicodeEncodeError):
            data.encode(charset)
        return
    assert decode(text, charset=charset) == data.encode(charset).decode(charset)


pairs = st.lists(st.tuples(st.text(max_size=4), st.one_of(st.none(), st.text(max_size=4))), max_size=4)


@law
@given(pairs)
def test_forms(given_pairs: list[tuple[str, str | None]]) -> None:
    """Pairs come back as they were; alone, the pair of an empty name without a value is the empty query."""
    try:
        query = forms.encode(given_pairs)
    except CodingError:
        assert any("\ud800" <= c <= "\udfff" for n, v in given_pairs for c in n + (v or ""))
        return
    assert forms.decode(query) == ([] if given_pairs == [("", None)] else given_pairs)
    assert URIReference("?" + query).query == query


@pytest.mark.parametrize("component", ["scheme", "port", "IPv4address", "IP-literal", "nonsense", "", "URI"])
def test_no_place_for_data(component: str) -> None:
    """A component that no escape can stand in, and a name that is no rule."""
    with pytest.raises(CodingError):
        encode("a", component)


@pytest.mark.parametrize("component", ["userinfo", "reg-name", "path", "segment", "query", "fragment"])
def test_what_is_reserved_is_encoded_unless_it_is_kept(component: str) -> None:
    """2.2: data octets that are reserved characters are encoded "unless these characters are specifically allowed"."""
    dfa, plain = (grammar("rfc3986").automaton(rule) for rule in (component, "unreserved"))
    may = "".join(chr(octet) for octet in range(0x80) if dfa.accepts(chr(octet)) and not plain.accepts(chr(octet)))
    for octet in range(256):
        char = chr(octet)
        stays = octet < 0x80 and plain.accepts(char)
        same: list[str | bytes] = [bytes([octet]), *([char] if octet < 0x80 else [])]
        for data in same:
            assert encode(data, component) == encode(data, component, keep="") == (char if stays else f"%{octet:02X}")
            assert encode(data, component, keep=may) == (char if stays or char in may else f"%{octet:02X}")
    assert encode("!$&'()*+,;=~-._a", component, keep="") == "%21%24%26%27%28%29%2A%2B%2C%3B%3D~-._a"
    assert encode("!$&", component, keep="$") == "%21$%26"
    with pytest.raises(CodingError, match="cannot contain"):
        encode("a", component, keep="#")
    with pytest.raises(CodingError, match="cannot contain"):
        encode("a", component, keep="%")


@pytest.mark.parametrize(
    ("text", "place"),
    [("%", 0), ("a%", 1), ("%4", 0), ("%41%4", 3), ("%%41", 0), ("%zz", 0), ("%4g", 0), ("%\u0664\u0661", 0)],
)
def test_broken_escapes(text: str, place: int) -> None:
    for function in (decode, decode_bytes, forms.decode):
        with pytest.raises(CodingError, match=rf"\b{place}\b"):
            function(text)


def test_not_in_the_charset() -> None:
    for text, charset in (
        ("%FF", "utf-8"),
        ("%C3", "utf-8"),
        ("%ED%A0%80", "utf-8"),
        ("%41", "utf-16"),
        ("a", "nowhere"),
    ):
        with pytest.raises(CodingError):
            decode(text, charset=charset)
    for data, charset in (
        ("\u20ac", "latin-1"),
        ("\ud800", "utf-8"),
        ("a", "nowhere"),
        ("a", "hex"),
        ("a", "undefined"),
    ):
        with pytest.raises(CodingError):
            encode(data, charset=charset)
    assert decode("%FF", errors="replace") == "\ufffd"
    assert decode("%FF", errors="surrogateescape") == "\udcff"
    assert decode("+%2B") == "++"


@pytest.mark.parametrize(
    ("text", "charset", "wanted"),
    [
        ("100%", "utf-8", "100%"),
        ("%zz%41%ff%C3%A9%e", "utf-8", "%zzA%FFé%e"),
        ("%%41%4", "utf-8", "%A%4"),
        ("%25zz", "utf-8", "%zz"),
        ("%E9%zz", "latin-1", "é%zz"),
        ("%C3é%80", "utf-8", "%C3é%80"),
        (b"%ff\xff%41%", "utf-8", "%FF%FFA%"),
        ("", "utf-8", ""),
    ],
)
def test_what_cannot_be_decoded_is_kept(text: str | bytes, charset: str, wanted: str) -> None:
    assert decode(text, charset=charset, errors="keep") == wanted


@given(st.text())
def test_keeping_decodes_what_can_be(text: str) -> None:
    try:
        strict = decode(text)
    except CodingError:
        strict = None
    try:
        kept = decode(text, errors="keep")
    except CodingError:
        assert any("\ud800" <= c <= "\udfff" for c in text)  # a lone surrogate has no octets
    else:
        assert strict in (None, kept)


def test_numbers_and_booleans_of_forms() -> None:
    assert forms.encode({"a": 1.5, "b": True, "c": False, "d": -0.0, "e": 1e300, "f": 2**70}) == (
        "a=1.5&b=true&c=false&d=-0.0&e=1e%2B300&f=1180591620717411303424"
    )
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(CodingError, match="is not a number that a form can hold"):
            forms.encode({"a": wrong})


def test_forms_by_hand() -> None:
    several: list[str | bytes | int | None] = ["1", 2, b"\xff"]
    query = forms.encode({"a": several, "b": "", "c": None, "d": [], "e": "%20 +&="})
    assert query == "a=1&a=2&a=%FF&b=&c&e=%2520+%2B%26%3D"
    assert forms.decode("a=b=c&&=&%26=%3d") == [("a", "b=c"), ("", None), ("", ""), ("&", "=")]
    for wrong in ({"a": 1.5j}, {"a": [[1]]}, [("a", object())], 5):
        with pytest.raises(TypeError):
            forms.encode(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [5, None, 1.5, ["a"], object()])
def test_wrong_types(wrong: Any) -> None:
    for function in (encode, decode, decode_bytes):
        with pytest.raises(TypeError):
            function(wrong)


def test_the_verb_keeps_what_cannot_be_decoded() -> None:
    done = CliRunner().invoke(app, ["decode", "--errors", "keep", "100%, caf%e9 %C3%A9"])
    assert (done.exit_code, done.stdout) == (0, "100%, caf%E9 é\n")
    done = CliRunner().invoke(app, ["decode", "--errors", "keep", "--edition", "url-1994", "a"])
    assert (done.exit_code, "--errors" in done.stderr) == (2, True)
