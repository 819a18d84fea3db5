"""Laws of percent-encoding and forms: encoded data is valid in its component and decodes to the original."""

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

ENCODABLE = {  # rule -> a URI with that component
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
def test_encoding_is_valid_and_reversible(data: bytes, component: str, keep: str | None) -> None:
    """2.1, 2.4: encoded data parses in its component, has the same bytes, and is encoded once."""
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
def test_text_decodes_to_the_original(data: str, charset: str) -> None:
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
def test_forms_decode_to_the_original(given_pairs: list[tuple[str, str | None]]) -> None:
    """Except that a single pair with an empty name and no value is the empty query."""
    try:
        query = forms.encode(given_pairs)
    except CodingError:
        assert any("\ud800" <= c <= "\udfff" for n, v in given_pairs for c in n + (v or ""))
        return
    assert forms.decode(query) == ([] if given_pairs == [("", None)] else given_pairs)
    assert URIReference("?" + query).query == query


@pytest.mark.parametrize("component", ["scheme", "port", "IPv4address", "IP-literal", "nonsense", "", "URI"])
def test_components_without_escapes_are_rejected(component: str) -> None:
    """Also a name that is not a rule."""
    with pytest.raises(CodingError):
        encode("a", component)


@pytest.mark.parametrize("component", ["userinfo", "reg-name", "path", "segment", "query", "fragment"])
def test_reserved_characters_are_encoded_unless_kept(component: str) -> None:
    """2.2: data bytes that are reserved characters are encoded "unless these characters are specifically allowed"."""
    dfa, plain = (grammar("rfc3986").automaton(rule) for rule in (component, "unreserved"))
    may = "".join(chr(octet) for octet in range(0x80) if dfa.accepts(chr(octet)) and not plain.accepts(chr(octet)))
    for octet in range(256):
        char = chr(octet)
        is_kept = octet < 0x80 and plain.accepts(char)
        same: list[str | bytes] = [bytes([octet]), *([char] if octet < 0x80 else [])]
        for data in same:
            assert encode(data, component) == encode(data, component, keep="") == (char if is_kept else f"%{octet:02X}")
            assert encode(data, component, keep=may) == (char if is_kept or char in may else f"%{octet:02X}")
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
def test_invalid_escapes_are_rejected(text: str, place: int) -> None:
    for function in (decode, decode_bytes, forms.decode):
        with pytest.raises(CodingError, match=rf"\b{place}\b"):
            function(text)


def test_characters_outside_the_charset_are_rejected() -> None:
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
    ("text", "charset", "expected"),
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
def test_undecodable_escapes_are_unchanged(text: str | bytes, charset: str, expected: str) -> None:
    assert decode(text, charset=charset, errors="keep") == expected


@given(st.text())
def test_valid_escapes_next_to_invalid_ones_are_decoded(text: str) -> None:
    try:
        strict = decode(text)
    except CodingError:
        strict = None
    try:
        decoded = decode(text, errors="keep")
    except CodingError:
        assert any("\ud800" <= c <= "\udfff" for c in text)  # a lone surrogate has no UTF-8
    else:
        assert strict in (None, decoded)


def test_numbers_and_booleans_of_forms() -> None:
    assert forms.encode({"a": 1.5, "b": True, "c": False, "d": -0.0, "e": 1e300, "f": 2**70}) == (
        "a=1.5&b=true&c=false&d=-0.0&e=1e%2B300&f=1180591620717411303424"
    )
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(CodingError, match="is not a number that a form can hold"):
            forms.encode({"a": wrong})


def test_forms_with_hand_written_results() -> None:
    several: list[str | bytes | int | None] = ["1", 2, b"\xff"]
    query = forms.encode({"a": several, "b": "", "c": None, "d": [], "e": "%20 +&="})
    assert query == "a=1&a=2&a=%FF&b=&c&e=%2520+%2B%26%3D"
    assert forms.decode("a=b=c&&=&%26=%3d") == [("a", "b=c"), ("", None), ("", ""), ("&", "=")]
    for wrong in ({"a": 1.5j}, {"a": [[1]]}, [("a", object())], 5):
        with pytest.raises(TypeError):
            forms.encode(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [5, None, 1.5, ["a"], object()])
def test_wrong_types_are_rejected(wrong: Any) -> None:
    for function in (encode, decode, decode_bytes):
        with pytest.raises(TypeError):
            function(wrong)


def test_the_command_keeps_undecodable_escapes() -> None:
    result = CliRunner().invoke(app, ["decode", "--errors", "keep", "100%, caf%e9 %C3%A9"])
    assert (result.exit_code, result.stdout) == (0, "100%, caf%E9 é\n")
    result = CliRunner().invoke(app, ["decode", "--errors", "keep", "--edition", "url-1994", "a"])
    assert (result.exit_code, "--errors" in result.stderr) == (2, True)
