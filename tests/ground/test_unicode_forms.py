"""Unicode normal forms agree with `unicodedata` in linear time, and the package computes them in one function."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args
from urllib.parse import quote

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import overthere as ot
import overthere.canonical
from growth import outgrows
from overthere import columns
from overthere.ground.unicode_forms import NormalForm, is_normalized, normalize_unicode
from overthere.security import audit
from overthere.values.hosts.dns import check_host_name
from overthere.values.hosts.domains import suffix_list

ROOT = Path(ot.__file__).parent
FORMS: tuple[NormalForm, ...] = get_args(NormalForm)

# Marks of many classes, marks that decompose (two have class 0), Hangul as parts and syllables, composing characters.
MARKS = "\u0301\u0327\u0308\u0323\u0344\u0345\u0f71\u0f72\u0f73\u0f75\u0f81\u05b0\u3099\u1dfa\u20d0\U0001d165\U00011639"
BASES = "aeu\u00e9\u1e69\u0f40\uac00\uac01\u1100\u1161\u11a8\u30ab\ufb03\u2126\uff21\u09c7\u09be\u0b47\u0b3e\ud800/%"
TEXTS = st.text(st.sampled_from(MARKS * 3 + BASES), min_size=65, max_size=300)


@given(TEXTS | st.text(min_size=65))
@example("\u0f73\u0327" * 40)
@example("a" + "\u0301\u0327" * 40)
@example("\u1100\u1161\u11a8\u0301\u0327" * 20)
def test_each_form_agrees_with_unicodedata(text: str) -> None:
    for form in FORMS:
        assert normalize_unicode(form, text) == unicodedata.normalize(form, text)
        assert is_normalized(form, text) == unicodedata.is_normalized(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_every_character_between_marks_agrees_with_unicodedata(form: NormalForm) -> None:
    for start in range(0, 0x110000, 4096):
        text = "".join(f"{chr(code)}\u0301\u0327" for code in range(start, start + 4096))
        assert normalize_unicode(form, text) == unicodedata.normalize(form, text)


def _marks(n: int) -> str:
    return "a" + "\u0301\u0327" * (n // 2)


FORMS_OF_KEYS = ot.canonical.FORMS
ACTIONS: dict[str, Callable[[str], object]] = {
    **{form: lambda text, form=form: normalize_unicode(form, text) for form in FORMS},  # type: ignore[misc]
    "is_normalized": lambda text: is_normalized("NFC", text),
    "audit": lambda text: audit(f"http://{text}.example/"),
    "audit, user": lambda text: audit(f"http://{text}@h.example/"),
    "registrable_domain": lambda text: suffix_list().split(f"{text}.example"),
    "host name": lambda text: list(check_host_name(ot.IRI(f"http://{text}.example/").host or "")),
    "nfc": lambda text: ot.IRI(f"http://h/{text}").nfc,
    "to_uri": lambda text: _attempt(lambda: ot.IRI(f"http://{text}.example/").to_uri(idna=True)),
    **{f"canonical, {name}": lambda text, form=form: _canonical(form, text) for name, form in FORMS_OF_KEYS.items()},  # type: ignore[misc]
    "lookup_expressions": lambda text: _attempt(lambda: ot.canonical.lookup_expressions(f"http://{text}.example/")),
    "open": lambda text: _attempt(lambda: ot.open(ot.IRI(f"http://{text}.example/").to_uri())),
    "columns": lambda text: columns.registrable_domain(pa.array([f"http://{text}.example/"])),
    "find": lambda text: list(ot.find(f"see http://{text}.example/{text} there")),
    "repair": lambda text: _attempt(lambda: ot.repair(f"http://{text}.example/{text}")),
    "mailto": lambda text: _attempt(lambda: ot.open(ot.IRI(f"mailto:a@{text}.example").to_uri())),
}


def _attempt(action: Callable[[], object]) -> object:
    try:
        return action()
    except (ot.OverthereError, UnicodeError) as error:
        return error


def _canonical(form: ot.canonical.Canonical, text: str) -> object:
    return _attempt(lambda: form(f"http://{text}.example/{quote(text)}?{text}#{text}"))


@pytest.mark.parametrize("name", ACTIONS)
def test_normalizing_many_marks_is_linear(name: str) -> None:
    assert outgrows(ACTIONS[name], _marks, (1_000, 4_000, 16_000, 64_000, 256_000), 0.05) is None


def _calls(source: str) -> Iterator[str]:
    """Uses of `unicodedata`, `idna`, their codec and functions that call them, in source order."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module="unicodedata", names=names):
                yield from (f"unicodedata.{call.name}" for call in names if call.name not in HARMLESS)
            case ast.Attribute(value=ast.Name(id="unicodedata"), attr=name) if name not in HARMLESS:
                yield f"unicodedata.{name}"
            case ast.Import(names=names):
                yield from (call.name for call in names if call.name.split(".")[0] in ("idna", "stringprep"))
                yield from (call.name for call in names if call.name == "encodings.idna")
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in ("idna", "stringprep"):
                yield module
            case ast.ImportFrom(module="encodings", names=names) if "idna" in [call.name for call in names]:
                yield "encodings.idna"
            case ast.ImportFrom(module="urllib.parse", names=names):
                yield from (call.name for call in names if call.name in SPLITTING)
            case ast.Attribute(attr=name) if name in SPLITTING:
                yield name
            case ast.Constant(value=str(word)) if word.lower() == "idna":
                yield "codec idna"
            case ast.Attribute(attr="utf8_normalize"):  # pyarrow's, which sorts as slowly
                yield "utf8_normalize"
            case _:
                pass


HARMLESS = frozenset(
    ("category", "name", "combining", "bidirectional", "east_asian_width", "mirrored", "lookup", "unidata_version")
)
"""Functions of one character."""
SPLITTING = frozenset(("urlsplit", "urlparse", "urldefrag", "urljoin"))
"""Functions of `urllib.parse` that normalize the host by NFKC."""
ALONE = {
    "ground/unicode_forms.py": {"unicodedata.normalize", "unicodedata.is_normalized"},
    "values/hosts/idn.py": {"idna"},
    "values/hosts/address.py": {"codec idna"},  # for texts below 1,000 characters
    # Only their types are used; tests/security/test_growth_public.py measures their replacements.
    "integrations/urllib/__init__.py": {"urljoin"},
    "integrations/urllib/strict.py": {"urldefrag", "urljoin", "urlparse", "urlsplit"},
}


def test_only_one_function_normalizes() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): calls
        for path in sorted(ROOT.rglob("*.py"))
        if (calls := set(_calls(path.read_text("utf-8"))))
    }
    assert found == ALONE


@pytest.mark.parametrize(
    "line",
    [
        "unicodedata.normalize('NFC', x)",
        "from unicodedata import normalize as n",
        "from unicodedata import *",
        "x = unicodedata.is_normalized",
        "unicodedata.ucd_3_2_0.normalize('NFC', x)",
        "import idna",
        "import idna.core as c",
        "from idna import encode",
        "import stringprep",
        "import encodings.idna",
        "from encodings import idna",
        "host.encode('idna')",
        "bytes.decode(x, encoding='IDNA')",
        "from urllib.parse import quote, urlsplit",
        "urllib.parse.urlparse(x)",
        "pc.utf8_normalize(x, 'NFC')",
    ],
)
def test_the_scan_finds_each_use(line: str) -> None:
    assert set(_calls(line))
