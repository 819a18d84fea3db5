"""Canonical forms in the native kernel compared with Python: every form, step and parameter value."""

from __future__ import annotations

import copy
import pickle
import random
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from typing import Any

import pytest

from growth import outgrows
from overthere import URI, kernel
from overthere.canonical import FORMS, STEPS, Canonical, Step
from support import ROOT

pytestmark = pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")

VALUES: dict[str, list[Any]] = {
    "rung": ["STRING", "CASE", "PERCENT", "PATH", "SCHEME"],
    "only": ["default", "empty", "any", "web"],
    "by": ["name", "pair"],
    "empty": [False, True],
    "dotted": [False, True],
    "valueless": [False, True],
    "keep": ["/?", "", "a%é", "\u0129"],
    "names": [("index.html", ""), ("utm_*", "a"), ("*",), ("a*b*c", "é", "a b", ""), ()],
}
"""Values of each parameter of a step."""


def steps() -> Iterator[Step]:
    for name, kind in STEPS.items():
        optional = [key for key in kind.parameters if key not in kind.required]
        for chosen in product(*(VALUES[key] for key in kind.parameters)):
            yield Step(name, **dict(zip(kind.parameters, chosen, strict=True)))
        if optional:
            yield Step(name, **{key: VALUES[key][0] for key in kind.required})


def by_steps(form: Canonical) -> Canonical:
    """The same form, without the native kernel."""
    object.__setattr__(other := Canonical(*form.steps, key=form.written_as), "_compiled", None)
    return other


SINGLE = [Canonical(step) for step in steps()]
KEYS = [Canonical(key=key) for key in ("surt", "safe-browsing")]
ALL = [(form, by_steps(form)) for form in (*FORMS.values(), *SINGLE, *KEYS)]


def texts_of_cases() -> list[str]:
    """Every text of the rows of tests/cases that is a URI."""
    texts: dict[str, None] = {}

    def walk(value: object) -> None:
        if isinstance(value, str):
            texts[value] = None
        elif isinstance(value, dict | list):
            for item in value.values() if isinstance(value, dict) else value:
                walk(item)

    for file in sorted((ROOT / "tests" / "cases").rglob("*.toml")):
        walk(tomllib.loads(file.read_text(encoding="utf-8")))
    return [text for text in texts if URI.can_parse(text)]


SCHEMES = ["http", "HTTP", "https", "ftp", "ws", "x", "file", "urn", "mailto"]
USERS = ["", "", "", "@", ":@", "u@", "u:%40p%7e@", "a%c3%A9@"]
HOSTS = """
h www.Ex.com WWW2.www.a.b www.www. www.1 www12. www1.com. ..a..b. . %2e%2e a%2Eb 127.1 0x7F.1 0x 017700000001 08.1
1.2.3.4. 1.2.3.256 256.1 1.16777216 4294967296 4294967295 0x100000000 00000000000000000000000000000000000000001
%31.%32 1%2e2 1.2.3.4.5 0.0.0.0x [2001:DB8:0:0:1:0:0:1] [::FFFF:1.2.3.4] [64:ff9b::a00:1] [::] [::1.2.3.4] [v1.A:b]
[1:2:3:4:5:6:7::] [0:0:1::] %5b::1%5d b%C3%BCcher.de %ff.de xn--bcher-kva.DE %25%32%35 a_b.c %41%2f%3a%40 A%20%23b
%e2%80%a4 %EF%BC%91.1 -a.-b a,b;c=d! 99999999999 %00
"""
PORTS = ["", "", "", ":", ":80", ":0080", ":443", ":21", ":00", ":8080", ":080"]
HEX = "0123456789abcdefABCDEF"
PIECES = """
/ // . .. ... a B bc %25 %32%35 %2525 %2f %2F %3F %3d %26 %2B %20 %00 %7f %0a %41 %7e e%CC%81 %e9 %C3%A9 %ED%A0%80
%F0%9F%98%80 %E1%84%80 %EA%B0%80 %e4%bd%a0 %D0%B9 %D0%B8%CC%86 %23 %5B %22 ; = & + ! $ ' ( ) * , : @ ~ _ - ? .aspx
index.html utm_source utm_ a=1 a b= && == a+b a%20b cfid=1&cftoken=2 CFID=&cftoken=2 xcfid=cfid=3&CFTOKEN=4 %5cfid=1
(S( )) page.ASPX %2e %2E%2e /. /.. /./ /../ /.//
/(a(0123456789abcdef01234567))/x.aspx /(0123456789ABCdef01234567)/x/y.aspx
jsessionid=0123456789abcdefABCDEF0123456789 PHPSESSID=0123456789abcdef0123456789abcdef
sid=0123456789abcdef0123456789abcdef aspsessionidABCDEFGH=abcdefghijklmnopqrstuvwx
ASPSESSIONIDABCDEFG1=abcdefghijklmnopqrstuvwx %4aspsessionidABCDEFGH=abcdefghijklmnopqrstuvwx
"""


def random_uris(count: int, seed: int) -> list[str]:
    """This many random URIs, built from pieces that the steps treat specially; some are damaged afterwards."""
    draw = random.Random(seed)
    hosts, parts, wrong = [*HOSTS.split(), ""], PIECES.split(), ["%", "%2", *"/?#&=.:@A", ""]

    def random_path(most: int) -> str:
        pieces = draw.choices(parts, k=draw.randrange(most))
        return "".join(f"%{draw.choice(HEX)}{draw.choice(HEX)}" if draw.random() < 0.05 else part for part in pieces)

    uris: list[str] = []
    while len(uris) < count:
        text = draw.choice(SCHEMES) + ":"
        if draw.random() < 0.85:
            text += "//" + draw.choice(USERS) + draw.choice(hosts) + draw.choice(PORTS)
            text += draw.choice(["", "/", "/", "/"]) + (random_path(7) if draw.random() < 0.8 else "")
        else:
            text += random_path(7)
        text += "?" + draw.choice(["", "&", "a=", "="]) + random_path(10) if draw.random() < 0.7 else ""
        text += "#" + random_path(4) if draw.random() < 0.3 else ""
        if draw.random() < 0.3:
            at = draw.randrange(len(text))
            text = text[:at] + draw.choice(wrong) + text[at + 1 :]
        if URI.can_parse(text):
            uris.append(text)
    return uris


def differences(texts: list[str], forms: list[tuple[Canonical, Canonical]] = ALL) -> list[tuple[object, ...]]:
    """The texts for which the two kernels differ."""
    return [
        (form, text, native, python)
        for text in texts
        for form, steps in forms
        if (native := (str(form(text)), form.key(text))) != (python := (str(steps(text)), steps.key(text)))
    ]


def test_every_step_is_compiled() -> None:
    assert [form for form, _ in ALL if form.compiled is None] == []
    assert [steps for _, steps in ALL if steps.compiled is not None] == []


def test_kernels_agree_on_the_cases() -> None:
    texts = texts_of_cases()
    assert len(texts) > 1000
    assert differences(texts) == []


def test_kernels_agree_on_random_uris() -> None:
    assert differences(random_uris(1500, 1)) == []


def test_the_comparison_notices_a_difference() -> None:
    """Two different forms differ on these texts."""
    wrong = [(FORMS["surt"], by_steps(FORMS["w3lib"])), (Canonical(Step("nfc")), by_steps(Canonical(Step("ipv4"))))]
    assert len(differences(random_uris(200, 2), wrong)) > 100


@pytest.mark.parametrize("pair", ["%CFid=1&cftoken=2", "%5cfid=1&cftoken=2", f"%4aspsessionid{'a' * 8}={'b' * 24}"])
def test_hex_digits_of_an_escape_do_not_begin_a_session_name(pair: str) -> None:
    form = Canonical(Step("drop-sessions"))
    assert [str(f(f"http://h/?{pair}")) for f in (form, by_steps(form))] == [f"http://h/?{pair}"] * 2


def test_the_native_kernel_does_not_fall_back_to_python() -> None:
    """For web addresses that need nothing that only Python has."""
    texts = [f"http://www{n}.example.com:80/a/%7e/../{n}?b={n}&a=%C3%A9&utm_source=x#f" for n in range(20)]
    for name, form in FORMS.items():
        assert form.compiled is not None
        assert all(form.compiled.apply(text, True) is not None for text in texts), name
    assert FORMS["w3lib"].compiled.apply("http://b%C3%BCcher.de/", False) is None  # type: ignore[union-attr]


def test_characters_kept_by_the_native_nfc_are_normalized() -> None:
    """Unicode says the same of each: alone, and between other characters."""
    from unicodedata import combining, is_normalized

    form = Canonical(Step("nfc"))
    assert form.compiled is not None
    ranges = [(0x80, 0x3000), (0x3000, 0x3200), (0xABF0, 0xAC10), (0xD790, 0xD800), (0xF900, 0xFB50), (0x4DF0, 0x4E10)]
    for character in (chr(n) for a, b in ranges for n in range(a, b)):
        text = "x:e" + "".join(f"%{octet:02x}" for octet in character.encode())
        if form.compiled.apply(text, False) is not None:
            assert is_normalized("NFC", "e" + character)
            assert combining(character) == 0
            assert all(is_normalized("NFC", before + character) for before in "eаがカ가한"), hex(ord(character))


def test_parameter_names_with_surrogates_are_left_to_python() -> None:
    assert Canonical(Step("drop-parameters", names=["\ud800"])).compiled is None


def test_columns_give_the_same_with_both_kernels() -> None:
    pa = pytest.importorskip("pyarrow")
    from overthere import columns

    texts = [*random_uris(500, 3), "no uri", "http://h/%", "//h", "http://b%C3%BCcher.de/"]
    for form, steps in ALL[: len(FORMS)]:
        for key, errors in product((False, True), ("null", "detail")):
            options: dict[str, Any] = {"key": key, "errors": errors}
            native, plain = (pa.array(columns.canonicalize(pa.array(texts), f, **options)) for f in (form, steps))
            assert native.to_pylist() == plain.to_pylist()


@pytest.mark.parametrize(
    ("start", "unit"),
    [
        ("http://h/?", "a=%41&"),
        ("http://h/?", "&"),
        ("http://h/?", "sid=&cfid=1&cftoken=&"),
        ("http://h/%", "25"),
        ("http://h/?%", "25"),
        ("http://", "www."),
        ("http://h/", "/../a"),
        ("http://h/?a=", "=%3D"),
    ],
)
def test_native_forms_are_linear(start: str, unit: str) -> None:
    def make(size: int) -> str:
        return start + unit * (size // len(unit)) + ("" if start.count("/") > 2 else "x/")

    def run(text: str) -> None:
        for form, _ in ALL:
            assert form.compiled is not None
            form.compiled.apply(text, True)

    assert not outgrows(run, make, (16_000, 64_000, 256_000), 0.2)


def test_compiling_does_not_change_equality_or_pickling() -> None:
    first, other = Canonical(Step("drop-fragment")), Canonical(Step("drop-fragment"))
    assert first.compiled is not None
    assert (first, hash(first), asdict(first)) == (other, hash(other), asdict(other))
    assert pickle.loads(pickle.dumps(first)) == copy.deepcopy(first) == copy.copy(first) == other
