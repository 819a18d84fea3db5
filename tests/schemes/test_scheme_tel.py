"""tel (RFC 3966)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from overthere import URI, InvalidURI, Rung, Unwritable, plan, scheme
from overthere.editions import edition
from overthere.schemes.known.tel import TelLocator
from support import LONG, for_each_octet, linear

TEL = scheme("tel")


def locator(text: str) -> TelLocator:
    value = URI(text).locator
    assert isinstance(value, TelLocator)
    return value


def samples() -> list[str]:
    return [text for text in TEL.grammar.automaton("telephone-uri").sample(1000, seed=5) if edition().is_valid(text)]


@pytest.mark.parametrize(
    ("rule", "text", "valid"),
    [
        ("domainname", "example.com", True),
        ("domainname", "a-b.1c.d2.", True),
        ("domainname", "a.1", False),
        ("domainname", "a-.b", False),
        ("domainname", "", False),
        ("descriptor", "+(1)", True),
        ("descriptor", "+", False),
        ("global-number-digits", "+-1.", True),
        ("global-number-digits", "+a", False),
        ("local-number-digits", "(*0).F-", True),
        ("local-number-digits", "%23a", True),
        ("local-number-digits", "-.()", False),
        ("local-number-digits", "0G", False),
        ("isdn-subaddress", ";isub=a/b:c@d&e=f+g$h,i", True),
        ("isdn-subaddress", ";isub=a;b", False),
        ("isdn-subaddress", ";isub=", False),
        ("extension", ";ext=1-2", True),
        ("extension", ";ext=", True),
        ("extension", ";ext=a", False),
        ("context", ";PHONE-context=+1", True),
        ("parameter", ";a=1", True),
        ("parameter", ";a", True),
        ("parameter", ";a=", False),
        ("parameter", ";a_b", False),
        ("paramchar", "$", True),
        ("paramchar", ",", False),
        *(("pname", name, False) for name in ("ext", "EXT", "isub", "Isub", "phone-context", "PHONE-CONTEXT", "")),
        *(("pname", name, True) for name in ("e", "ex", "ext1", "ext-", "i", "isu", "isubs", "a", "9", "-", "m-x")),
        *(("pname", "phone-context"[:end], True) for end in range(1, 13)),
        *(("pname", "phone-context"[:end] + "0", True) for end in range(14)),
    ],
)
def test_rules_of_tel_uris(rule: str, text: str, valid: bool) -> None:
    """RFC 3966 3."""
    assert TEL.grammar.automaton(rule).accepts(text) == valid


def test_a_parameter_without_a_value() -> None:
    tel = locator("tel:7042;phone-context=example.com;a=1;b")
    assert tel.parameters == (("a", "1"), ("b", None))
    assert locator("tel:+1;b=").parameters == (("b", ""),)
    assert locator("tel:+1;b=") != locator("tel:+1;b")


def test_digits_and_kinds() -> None:
    """5.1.1: visual separators are "not used for URI comparison or placing a call"."""
    assert locator("tel:+1-(201).555").digits == "+1201555"
    assert locator("tel:+1").is_global
    assert not locator("tel:1;phone-context=+1").is_global


def test_mandatory_parameters() -> None:
    """5.4: "MUST NOT use the URI if it contains unknown mandatory parameters"."""
    assert locator("tel:+1;M-b;a;m-a=1").mandatory == ("m-a", "M-b")


def test_parameters_are_in_lexicographical_order() -> None:
    """3 and 4: their order has no meaning."""
    assert TelLocator("+1", parameters=(("b", "1"), ("a", None))) == locator("tel:+1;a;b=1")
    assert str(TelLocator("+1", isub="x", parameters=(("b", "1"), ("A", None))).uri()) == "tel:+1;isub=x;A;b=1"


def test_parameters_are_written_in_the_documents_order() -> None:
    for text in samples():
        names = [
            par.partition("=")[0].lower() for par in str(replace(locator(text), written=None).uri()).split(";")[1:]
        ]
        first = [name for name in names if name in ("isub", "ext")]
        context = [name for name in names if name == "phone-context"]
        assert names[: len(first) + len(context)] == first + context, text
        last = names[len(first) + len(context) :]
        assert last == sorted(last)


def test_unwritable_locators_are_rejected() -> None:
    for wrong in (
        TelLocator(),
        TelLocator("7042"),
        TelLocator("7042", phone_context=""),
        TelLocator("+"),
        TelLocator("+1 2"),
        TelLocator("1+2", phone_context="a"),
        TelLocator("+1\n2"),
        TelLocator("+1\n"),
        TelLocator("+1", phone_context=""),
        TelLocator("+١"),
        TelLocator("+1", isub="1", extension="2"),
        TelLocator("+1", parameters=(("ext", "1"),)),
        TelLocator("+1", parameters=(("", "1"),)),
    ):
        with pytest.raises(Unwritable):
            wrong.uri()


@for_each_octet
def test_every_byte_in_every_value(octet: int) -> None:
    """Written values are parsed back, and do not delimit."""
    data = "a" + bytes([octet]).decode("utf-8", "surrogateescape") + "b"
    for tel in (
        TelLocator("+1", isub=data),
        TelLocator("+1", extension=data),
        TelLocator("1", phone_context=data),
        TelLocator("1", phone_context="+" + data),
        TelLocator("+1", parameters=((data, data),)),
    ):
        text = str(tel.uri())
        assert replace(locator(text), written=None) == tel
        if octet in b";=?" or (octet == ord("+") and tel.is_global):
            assert f"%{octet:02X}" in text


def test_isub_may_contain_any_byte() -> None:
    """5.2: it "may contain any octet value"."""
    tel = replace(locator("tel:+1;isub=%00%FF%3B"), written=None)
    assert tel.isub is not None
    assert tel.isub.encode("utf-8", "surrogateescape") == b"\0\xff;"
    assert str(tel.uri()) == "tel:+1;isub=%00%FF%3B"


def test_normalization_preserves_the_meaning() -> None:
    """4: digits and context without separators, all without case, parameters in any order."""

    def meaning(text: str) -> object:
        tel = locator(text)
        context = tel.phone_context
        if context is not None and context.startswith("+"):
            context = TelLocator(context).digits
        return (
            tel.digits.lower(),
            tel.isub and tel.isub.lower(),
            None if tel.extension is None else TelLocator(tel.extension).digits,
            context and context.lower(),
            [(name.lower(), value and value.lower()) for name, value in tel.parameters],
        )

    for text in samples():
        if "/" in text:  # a generic rung removes dot-segments
            continue
        form = str(URI(text).normalize(Rung.SCHEME))
        assert TEL.is_valid(form), (text, form)
        if all(ord(c) < 0x80 for c in str(meaning(text))):
            assert meaning(form) == meaning(text)


def test_a_telephone_number_locates_nothing() -> None:
    result = plan("tel:+1-201-555-0123")
    assert result.steps == ()
    assert "RFC 3966 1" in result.locates_nothing


@pytest.mark.parametrize("piece", ["1", "-", ";a", ";a=1", ";z;a", "%2D", ";", "%23", "(", ";m-x=%FF"])
def test_long_texts_are_linear(piece: str) -> None:
    def use(size: int) -> None:
        for before in ("tel:+1", "tel:1;phone-context=+1", "tel:"):
            text = before + piece * (size // len(piece))
            with suppress(InvalidURI):
                replace(locator(text), written=None).uri()
            URI(text).normalize(Rung.SCHEME)

    linear(use, LONG // 4)
