"""Functions that read untrusted text are linear (law 7): entry points, with units that are repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from attacks import Attack
from growth import outgrows
from overthere import URI, OverthereError, Rung, kernel, plan
from overthere.access.resource import Resource
from overthere.base import Base
from overthere.ground.redact import mask, mask_equal_length
from overthere.kernel.reference import resolve, split
from overthere.links.documents import css, html, json, markdown, plaintext, xml
from overthere.links.documents.kinds import kind_of
from overthere.links.job.reading import fill
from overthere.links.model import Document, Options
from overthere.links.report.rows import MAX_TEXT_BYTES, _NativeRows, _PythonRows
from overthere.mail import fields
from overthere.protocols.ftp import dialogue as ftpdialogue
from overthere.protocols.gopher import entries as gopherentries
from overthere.protocols.news import dialogue as newsdialogue
from overthere.schemes import scheme
from overthere.schemes.known.gopher.menu import read_menu
from overthere.schemes.registry import BUILT_IN
from overthere.security import audit
from overthere.text import find, gfm
from overthere.values.relate import _candidates, relate

LENGTHS = (1000, 4000, 16_000)
FLOOR = 0.03
"""Seconds of processor time: a quadratic loop over the greatest length takes longer."""

MARKS = [*"a \n0./:@<\"'([\\=;,-\té", "%41", "a."]
TAGS = ["<a ", "<a href=", "<!--", "<![CDATA[", "<?", "</", "<meta charset=", "&a;", "<style>", "<base href=x>"]
MARKDOWN = [*"*_`", "[a]", "](", "[](<\\(", "![", "[a]: ", "> ", "- ", "1. ", "~~~\n", "<b", "<a\n", "www.a.", "a@a."]
URIS = [
    "http:",
    "http://",
    "http://a",
    "<http:",
    '"http://a',
    "<url:",
    "mailto:a@",
    "www.a",
    "://a",
    "<a:\n> ",
    "tel:+",
]
SHEETS = ["url(", "@import ", "image-set(", "/*", "\\a", "{", "src("]
OBJECTS = ['{"a":', "[", '"\\u', "1e", '["http://a",', '\\"']
FIELDS = ["a: b\r\n", "\r\n ", "Content-Type: ", '; a="\\', ";a=b", "=?utf-8?q?a?=", "From ", "<a>,", "boundary="]
SEGMENTS = [*"/a0@;?,+*!(-", "a/", "../", "./", "%2e/", "%41", "a:", "&a=b", "%0D", "%09", "=;"]

DOCUMENT = Document("x", b"", Base(URI("http://h/"), "retrieval"))
GROUP: Any = URI("news://h/a").locator
DIRECTORY: Any = URI("ftp://h/a/").locator
MENU: Any = URI("gopher://h/1").locator


def reader(module: Any) -> Callable[[str], object]:
    options = Options(json=True)
    return lambda text: list(module.read(DOCUMENT._replace(content=text.encode()), options))


def charset_of(media_type: str) -> str:
    return Resource.charset(cast("Resource", SimpleNamespace(media_type=media_type)))


ENTRY_POINTS: dict[str, tuple[Callable[[str], object], Iterable[str]]] = {
    "find": (lambda text: list(find(text, mail=True, hosts=True)), [*MARKS, *URIS]),
    "find without hosts": (lambda text: list(find(text, mail=True)), [*MARKS, *URIS]),
    "autolinks": (lambda text: list(gfm.find(text, extended=True)), [*MARKS, *URIS, *MARKDOWN, *TAGS]),
    "audit": (audit, [*MARKS, *URIS, *SEGMENTS, "%C0%80", "\u202e", "javascript:"]),
    "audit of a URI": (lambda text: audit("http://a.b/?" + text), [*MARKS, *SEGMENTS]),
    "html": (html.read, [*MARKS, *TAGS]),
    "octets of html": (lambda text: html.octets(text.encode()), TAGS),
    "srcset": (lambda text: html.values("srcset", text), [*MARKS, ", ", "a,", "a (", ",,"]),
    "refresh": (lambda text: html.values("refresh", text), [*MARKS, "0 ", "0;", "url=", "0.", " ;"]),
    "refresh after its time": (lambda text: html.values("refresh", "0" + text), [*MARKS, "0 ", "0;", "url="]),
    "xml": (reader(xml), [*MARKS, *TAGS]),
    "css": (reader(css), [*MARKS, *SHEETS]),
    "style": (lambda text: list(css.inline(text)), [*MARKS, *SHEETS]),
    "json": (reader(json), [*MARKS, *OBJECTS]),
    "markdown": (reader(markdown), [*MARKDOWN, *TAGS, "\\", " ", "a", "\n"]),
    "text": (reader(plaintext), [*MARKS, *URIS]),
    "fields": (lambda text: list(fields.Header(text.encode()).uris), [*MARKS, *FIELDS]),
    "a location": (fields.uri, [*MARKS, *FIELDS, " ("]),
    "comments": (fields.remove_comments, [*MARKS, *FIELDS]),
    "an identifier": (lambda text: fields.Header(b"Message-ID: " + text.encode()), [*MARKS, *FIELDS, " ("]),
    "parameters": (fields.parameters, [*MARKS, *FIELDS]),
    "kind": (lambda text: kind_of(DOCUMENT._replace(content=text.encode())), [*MARKS, *TAGS, *OBJECTS, *FIELDS]),
    "charset": (lambda text: charset_of(text), [*MARKS, *FIELDS, ';a="\\"', "; charset", ';a="']),
    "mask": (mask, [*MARKS, *SEGMENTS, "a:b@", "//"]),
    "veil": (lambda text: mask_equal_length("http://" + text), [*MARKS, *SEGMENTS, "a:b@", "//"]),
    "gopher menu": (lambda text: list(read_menu(text.encode())), [*MARKS, "1a\ta\th\t70\r\n", "\r\n", "1\t"]),
    "gopher item": (lambda text: gopherentries.entry(text.encode()), MARKS),
    "gopher view": (lambda text: gopherentries._view(text, MENU), [*MARKS, "a b"]),
    "gopher size": (lambda text: gopherentries._view(f"a/b: <{text}>", MENU), [*MARKS, " k", "0 "]),
    "gopher attributes": (
        lambda text: gopherentries.ItemAttributes(None, MENU).take(b"+A: " + text.encode(), "x"), MARKS
    ),
    "overview": (lambda text: newsdialogue._overview("1\t" + text, GROUP), [*MARKS, "a\t", "=?a?q?a?= "]),
    "message-id": (lambda text: newsdialogue._overview("1\ta\ta\ta\t" + text, GROUP), [*MARKS, "<a"]),
    "newsgroup": (lambda text: newsdialogue._newsgroup(text, GROUP), [*MARKS, "a 1 ", "1 "]),
    "ftp name": (lambda text: ftpdialogue.entry(text.encode(), DIRECTORY), MARKS),
    "ftp passive": (lambda text: ftpdialogue._PASV.search(text), [*MARKS, "1,", "(1", "111,1,"]),
}  # fmt: skip


def ignoring_errors(action: Callable[[str], object]) -> Callable[[str], object]:
    """Errors are valid answers too."""

    def carried_out(text: str) -> None:
        with suppress(OverthereError, ValueError):
            action(text)

    return carried_out


def violations(
    action: Callable[[str], object], before: str, units: Iterable[str], ends: Iterable[str] = ("", "\n\x01")
) -> str:
    """The attacks that take more than linear time, one line each."""
    attacks = [Attack(before, unit, end) for unit in dict.fromkeys(units) for end in ends]
    attack_reasons = {attack: outgrows(ignoring_errors(action), attack.text, LENGTHS, FLOOR) for attack in attacks}
    return "\n".join(f"{attack}: {reason}" for attack, reason in attack_reasons.items() if reason)


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_entry_points_are_linear(entry_point: str) -> None:
    action, units = ENTRY_POINTS[entry_point]
    assert not (bad := violations(action, "", units)), bad


def use_scheme(text: str) -> None:
    """Call every function of a scheme's module on a URI."""
    value = URI(text)
    with suppress(OverthereError):
        str(value.locator)
    with suppress(OverthereError):
        plan(value)
    value.normalize(Rung.SCHEME)


@pytest.mark.parametrize("name", BUILT_IN)
def test_scheme_modules_are_linear(name: str) -> None:
    example = scheme(name).examples[0].text
    for before in (example, f"{name}:", f"{name}://h/"):
        assert not (bad := violations(use_scheme, before, SEGMENTS, ("",))), bad
    if name == "nntp":
        assert not (bad := violations(use_scheme, "nntp://h/a/", "0", ("a", "/"))), bad


# -- a long base


def by_reference(texts: tuple[str, str]) -> None:
    """Call `relate` of the reference kernel, which the native one replaces."""
    base, target = texts
    for candidate in _candidates(split(base), split(target)):
        resolve(base, candidate)


@pytest.mark.parametrize("work", [by_reference, lambda texts: relate(*texts)], ids=["reference", kernel.name])
@pytest.mark.parametrize("unit", ["/", "a/", "a/b", "../"])
def test_relating_to_a_long_base_is_linear(work: Callable[[tuple[str, str]], object], unit: str) -> None:
    for before, other in (("http://h/", "x"), ("x:/", "x"), ("x:", "/")):

        def pair(length: int, before: str = before, other: str = other) -> tuple[str, str]:
            text = unit * (length // len(unit))
            return before + text, before + text[: len(text) // 2] + other + text[len(text) // 2 :]

        def related(texts: tuple[str, str]) -> None:
            with suppress(OverthereError):
                work(texts)

        bad = outgrows(related, pair, (10_000, 40_000, 160_000), 0.01)
        assert not bad, f"{before}: {bad}"


@pytest.mark.parametrize("rows_type", [_PythonRows] + [_NativeRows] * (kernel.name == "native"))
@pytest.mark.parametrize("kind", ["html", "css"])
def test_a_batch_of_long_rows_is_linear(rows_type: type[_PythonRows | _NativeRows], kind: str) -> None:
    """Every row contains the base of a megabyte, and again in its target."""
    base = "http://h/" + "a/" * 500_000
    if kind == "html":
        document = DOCUMENT._replace(content=f"<base href='{base}'>{'<a href=x>' * 100}".encode())
    else:
        document = DOCUMENT._replace(content=b"a{src:url(x)}" * 100, base=Base(URI(base), "retrieval"))
    rows, most, results = rows_type(Options()), 0, []
    for _ in fill(rows, document, kind, (), Options()):
        most = max(most, rows.text_bytes)
        results.append(rows.take())
    most = max(most, rows.text_bytes)
    results.append(rows.take())
    errors = [error for batch in results for error in batch.column("error")]
    # The size of a document's rows is limited; a note says that there were more.
    assert len(errors) > (20 if kind == "html" else 4)
    assert errors[-1] == "too-large"
    assert most < 2 * MAX_TEXT_BYTES
