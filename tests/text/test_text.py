"""overthere.text: URIs in running text, by RFC 3986 and by GitHub Flavored Markdown; what is written of them."""

from __future__ import annotations

import contextlib
import json
import random
import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from overthere import IRI, URI, InvalidURI
from overthere.base import Base
from overthere.cli.find import command
from overthere.editions import rfc1738
from overthere.editions.context1997 import delimited
from overthere.kernel.classes import UCSCHAR
from overthere.links import extract
from overthere.links.documents import plaintext
from overthere.links.model import Document, Note, Options
from overthere.links.model import Found as LinkFound
from overthere.text import Found, find, typed
from overthere.text.names import names
from overthere.text.output import as_html, as_markdown, as_terminal
from overthere.text.pieces import pieces
from overthere.text.rules import (
    COUNTRY_CODES,
    COUNTRY_CODES_ALIKE,
    COUNTRY_CODES_WORDS,
    ENDS,
    NAME,
    WORD,
)
from support import LONG, NO_PACKAGE, NO_SUITE, ROOT, cases, ids, linear, outside

ROWS = cases("text")
GFM = cases("gfm")
AUTOLINKS = outside("commonmark_gfm_autolink")
SEEDS = [row for row in outside("seed_examples") if row["kind"] == "extract"]
ALL: dict[str, Any] = {"hosts": True, "mail": True}
FIELDS = {"kinds": "kind", "cuts": "cut", "uris": "uri", "delimiters": "delimiter", "alternatives": "alternative"}


def lawful(text: str, found: list[Found], uris: bool = True) -> None:
    """What holds of everything that is found."""
    at = 0
    for one in found:
        assert at <= one.outer[0] <= one.start < one.end <= one.outer[1] <= len(text)
        assert one.text == text[one.start : one.end]
        at = one.outer[1]
        if not uris:
            continue
        assert str(URI(one.uri)) == one.uri
        if one.kind == "IRI":
            assert str(IRI(one.reference).to_uri()) == one.uri
        if not one.delimiter:
            assert one.reference == one.text


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_cases(row: dict[str, Any]) -> None:
    found = list(find(row["text"], **row.get("options", {})))
    assert [one.reference for one in found] == row["found"]
    lawful(row["text"], found)
    for name, field in FIELDS.items():
        if name in row:
            assert [getattr(one, field) or "" for one in found] == row[name]


@pytest.mark.skipif(not SEEDS, reason=NO_PACKAGE)
@pytest.mark.parametrize("row", SEEDS or [{"id": ""}], ids=ids(SEEDS) or None)
def test_seeds(row: dict[str, Any]) -> None:
    assert [one.reference for one in find(row["input"])] == row["expected"]


@pytest.mark.skipif(not AUTOLINKS, reason=NO_SUITE)
@pytest.mark.parametrize("row", AUTOLINKS or [{"id": ""}], ids=ids(AUTOLINKS) or None)
def test_autolinks(row: dict[str, Any]) -> None:
    """The extension is on in the rows that name it, and in those of the extension's own file."""
    extended = "(" in row["target"] or row["spec"] == "gfm-ext"
    found = list(find(row["input"], rules="gfm" if extended else "commonmark"))
    assert [one.reference for one in found] == row["expected"]["hrefs"]
    lawful(row["input"], found, uris=False)


@pytest.mark.parametrize("row", GFM, ids=ids(GFM))
def test_gfm(row: dict[str, Any]) -> None:
    found = list(find(row["text"], rules=row.get("rules", "gfm")))
    assert [one.reference for one in found] == row["found"]
    lawful(row["text"], found, uris=False)


def test_the_editions_agree() -> None:
    """RFC 1738 and the draft of 1997 have rules of their own; in their examples nothing else is found."""
    rows = {row["id"]: row["text"] for row in ROWS}
    old = [one.url + (f"#{one.fragment}" if one.fragment else "") for one in rfc1738.extract(rows["rfc1738"])]
    assert old == [one.reference for one in find(rows["rfc1738"])]
    for name in ("draft-1997", "draft-1997-delimiters", "draft-1994"):
        texts = [one.url.rstrip(".,") for one in delimited(rows[name])]
        assert texts == [one.reference for one in find(rows[name])]


def test_ends_are_what_unicode_says() -> None:
    """White space, quotation marks and brackets of the scripts end a URI; no letter, digit or mark does."""
    ends = {chr(code) for low, high in ENDS for code in range(low, high + 1)}
    assert [low for low, _ in ENDS] == sorted(low for low, _ in ENDS)
    assert not [char for char in ends if unicodedata.category(char)[0] in "LNM"]
    for low, high in UCSCHAR[:3]:
        for char in map(chr, range(low, high + 1)):
            if unicodedata.category(char) in ("Zs", "Zl", "Zp", "Pi", "Pf") and not 0x2E00 <= ord(char) < 0x2E80:
                assert char in ends, hex(ord(char))


def test_shapes_are_of_registered_schemes() -> None:
    assert set(names().shapes) <= names().registered


def test_no_text() -> None:
    with pytest.raises(TypeError):
        find(b"http://h/")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        find("http://h/", schemes="http")
    with pytest.raises(ValueError, match="unknown rules"):
        find("http://h/", rules="html")  # type: ignore[arg-type]
    assert list(find("")) == list(find("\ud800<\ud800>http://\ud800/", **ALL)) == []


_BITS = [
    *"<>\"'()[]{}.,;:!?*_~-/#@%&|\\ \t\n\r ab1é。”",
    "http://", "h", "URL:", "www.", "a.org", "mailto:", "urn:", "\n> ", "\r\n", "-\n", "&gt;", "[::1]", "%41", "\n\n",
    "`", "```\n", "ü", "日", "'", "b\u00fc.de", "a.co.uk",
    "[a](", "tel:+1", "ftp://", "x@y.org", "\ud800", "\x00", "\u202e",
]  # fmt: skip


def test_laws_on_random_texts() -> None:
    chosen = random.Random(7)
    for _ in range(6000):
        text = "".join(chosen.choices(_BITS, k=chosen.randrange(1, 24)))
        lawful(text, list(find(text, **ALL)))
        lawful(text, list(find(text, schemes=["http", "b"], **ALL)))
        for rules in ("gfm", "commonmark"):
            lawful(text, list(find(text, rules=rules)), uris=False)


def _any_trigger(schemes: Any, abbreviated: bool, hosts: bool, mail: bool, *_: bool) -> Any:
    """Every place where something may begin: any bracket before a letter, any colon, each of "www" itself."""
    host = rf"(?<!{WORD})(?<![@/.:%=\\-]){NAME}(?:{NAME}|-)*+(?:\.{NAME}(?:{NAME}|-)*+)++(?!{WORD})"
    wanted = [r'<(?=\s*[A-Za-z])|"(?=[A-Za-z][A-Za-z0-9+.-]{1,64}+:)|:(?=//[^\s/?#]|///[^\s/]|(?!//))']
    wanted += [rf"(?<!{WORD})(?<![@/.\\-])(?i:www|ftp)\.(?=[^\s.])"] * abbreviated + ["@"] * mail + [host] * hosts
    return re.compile("|".join(wanted), re.ASCII).search


_SPLIT = [
    *_BITS,
    "W",
    "w",
    "F",
    "tp",
    "\n| ",
    "\x1c",
    "\u3000",
    "<w",
    "<fT",
    "<http:",
    "ſ",
    "std::",
    "\\n",
    "example.com",
]


def test_nothing_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick search for places finds as much as looking at every place."""
    chosen = random.Random(9)
    options: list[dict[str, Any]] = [
        {}, ALL, {"mail": True}, {"abbreviated": False}, {"abbreviated": False, **ALL},
        {"schemes": ["http", "b"]}, {"schemes": ["mailto", "ftp"], **ALL},
    ]  # fmt: skip
    texts = ["".join(chosen.choices(_SPLIT, k=chosen.randrange(1, 16))) for _ in range(6000)]
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "tests").glob("**/*.py")]
    texts += [path.read_text() for path in pages]
    asked = [(text, options[number % len(options)]) for number, text in enumerate(texts)]
    quick = [list(find(text, **more)) for text, more in asked]
    monkeypatch.setattr("overthere.text.compile_trigger", _any_trigger)
    for (text, more), found in zip(asked, quick, strict=True):
        assert found == list(find(text, **more)), (text, more)


def test_codes_that_are_words_are_codes() -> None:
    assert COUNTRY_CODES_WORDS < COUNTRY_CODES
    assert not COUNTRY_CODES_WORDS & COUNTRY_CODES_ALIKE


@pytest.mark.parametrize("text", ["www.h.example", "h.com", "joe@h.com", "h.co.uk", "mailto:joe@h.com"])
@pytest.mark.parametrize("script", ["ü", "б", "ω", "א", "ب", "क", "ա", "ა", "\u0301"])
def test_no_name_begins_or_ends_inside_a_word(text: str, script: str) -> None:
    options: dict[str, Any] = {"hosts": True, "mail": True}
    assert [one.reference for one in find(f" {text} ", **options)] == [text]
    for one in find(f" {script}{script}{text} {text}{script} ", **options):
        # With the letter it may be a name of its own, an IDN: never the rest of one.
        assert script in one.reference, one


@pytest.mark.parametrize("text", ["www.h.example", "h.com", "joe@h.com", "h.co.uk", "http://h.com"])
def test_korean_particles_stand_at_a_name_and_nothing_before_it(text: str) -> None:
    """Words are parted by blanks there, so what stands before a name makes it another; behind it is a particle."""
    options: dict[str, Any] = {"hosts": True, "mail": True}
    assert [one.reference for one in find(f" {text}한 {text}에서,", **options)] == [text, text]
    for one in find(f"한{text} ", **options):
        assert one.reference.startswith("한") or text.startswith("http"), one


@pytest.mark.parametrize("script", ["日", "の", "ア", "ไ", "ລ", "ម", "မ"])
def test_scripts_without_blanks_part_names(script: str) -> None:
    for text in ("www.h.example", "h.com", "joe@h.com", "h.co.uk"):
        found = [one.reference for one in find(f"{script}{text}{script} {text}", hosts=True, mail=True)]
        assert found == [text, text]


def test_a_text_in_pieces() -> None:
    """What is found does not depend on where the pieces end, if they end at empty lines."""
    chosen = random.Random(8)
    for _ in range(1000):
        text = "".join(chosen.choices(_BITS, k=60))
        whole = [(one.reference, one.start) for one in find(text, **ALL)]
        size = chosen.randrange(1, 30)
        blocks = [text[at : at + size] for at in range(0, len(text), size)]
        parts = list(pieces(blocks, enough=chosen.randrange(1, 40)))
        assert "".join(parts) == text
        found, offset = [], 0
        for part in parts:
            found += [(one.reference, one.start + offset) for one in find(part, **ALL)]
            offset += len(part)
        assert found == whole, text


def test_pieces_are_bounded() -> None:
    parts = list(pieces(["x" * 10] * 10 + ["y z"] * 20, enough=8, most=32))
    assert max(map(len, parts)) <= 42
    assert "".join(parts) == "x" * 100 + "y z" * 20


# -- hostile texts

_REPEATED = [
    "<", '"', "<http://", "http://h/(((((", "h:", "www.", "URL:", "-\n", "> ", "a@", "<a", '"a:', "<a\n", '"a:\n', "`",
    "http://h/)", "http://h/,", "http://h/%", "http://@@", "http://@@/", "urn:", "news:", "data:", "www.a,", "a.b",
    "http://h/##", "> <http://h/\n", "<a:\n> ", "'http://h/", "&lt;http://h/", "a@b.", "http://é/", "[", "](", "[a](<",
    "<!--", '<a b="', "<?", "\\", "[a](b \"", "[a]: ", "xmpp:a@b.c/", "*_", "``` ",
    "<a ", "<a> ", "<w w", "<\n", "<f\n> t", "www.a", "w.", "<a|",
]  # fmt: skip


def repeated(before: str, unit: str) -> Callable[[int], str]:
    return lambda size: before + unit * (size // len(unit))


# Runs of "`" of so many lengths make a text of 125,000 characters.
_LONG: dict[str, Callable[[int], str]] = {
    **{unit: repeated("", unit) for unit in _REPEATED},
    **{f"http://h/{tail}": repeated("http://h/", tail) for tail in (")", "(", ".", "*", "a")},
    "> then <a": lambda size: ">" * size + "<a" * size,
    "blanks then <a": lambda size: " " * size + "<a" * size,
    "runs of `": lambda size: "`".join("`" * n for n in range(round((2 * size) ** 0.5))),
}


@pytest.mark.parametrize("rules", ["rfc3986", "gfm"])
@pytest.mark.parametrize("make", _LONG.values(), ids=_LONG)
def test_hostile(make: Callable[[int], str], rules: Any) -> None:
    def use(size: int) -> None:
        text = make(size)
        lawful(text, list(find(text, rules=rules, **ALL)), uris=False)
        lawful(text, list(find(text, rules=rules, mail=True)), uris=False)

    linear(use, LONG // 2)


# -- output

_SHOWN = 'x <http://h/?a&amp;b> & "http://h/-\n  b" javascript://h/ <javascript:alert(1)> www.w3.org/_a_\x1b[31m'


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str | None] = []
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links.append(dict(attrs).get("href"))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html() -> None:
    parser = _Links()
    parser.feed(as_html(_SHOWN, find(_SHOWN)))
    parser.close()
    assert parser.links == ["http://h/?a&amp;b", "http://h/-b", "http://www.w3.org/_a_"]
    assert parser.text == _SHOWN.replace("\x1b", "\ufffd")


def test_html_of_random_texts() -> None:
    """The text comes back from it, and nothing but links is in it."""
    chosen = random.Random(9)
    for _ in range(1000):
        text = "".join(chosen.choices([*_BITS, "<script>", "javascript:"], k=20))
        parser = _Links()
        parser.feed(as_html(text, find(text, **ALL)))
        parser.close()
        assert set(parser.tags) <= {"a"}
        assert parser.text == text.replace("\ud800", "\ufffd").replace("\x00", "\ufffd")
        assert not [link for link in parser.links if link is None or link.lower().startswith(("javascript", "data"))]


def test_markdown() -> None:
    written = as_markdown(_SHOWN, find(_SHOWN))
    assert written == (
        "x <http://h/?a&amp;b> & <http://h/-b> javascript://h/ \\<javascript:alert(1)>"
        " [www.w3.org/\\_a\\_](<http://www.w3.org/_a_>)\ufffd[31m"
    )
    # What is written is found again, by the rules of Markdown.
    assert [one.uri for one in find(written, rules="commonmark")][1] == "http://h/-b"


def test_terminal() -> None:
    import io

    from rich.console import Console

    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system="truecolor", legacy_windows=False, width=40)
    console.print(as_terminal(_SHOWN, find(_SHOWN)), soft_wrap=True)
    assert ";http://h/-b\x1b\\" in out.getvalue()  # the URI of the hyperlink, without the line break
    assert "\x1b[31m" not in out.getvalue()
    assert ";javascript" not in out.getvalue()


# -- the verb

_TEXT = "see <http://h/a-\n b> and www.w3.org/x,\nhttp://ü/ a@b.org\n"
ARGUMENTS: list[tuple[list[str], str]] = [
    ([], "F:1:6  http://h/a-b  (or http://h/ab)\nF:2:9  http://www.w3.org/x  (abbreviated: www.w3.org/x)\n"
         "F:3:1  http://%C3%BC/  (IRI: http://ü/)\n"),
    (["--no-abbreviated", "--schemes", "http, x"], "F:1:6  http://h/a-b  (or http://h/ab)\n"
                                                   "F:3:1  http://%C3%BC/  (IRI: http://ü/)\n"),
    (["--schemes", "ftp", "--mail"], "F:3:11  mailto:a@b.org  (mail: a@b.org)\n"),
    (["--rules", "gfm"], "F:1:6  http://h/a-\nF:2:9  http://www.w3.org/x  (abbreviated: www.w3.org/x)\n"
                         "F:3:1  http://%C3%BC/  (IRI: http://ü/)\nF:3:11  mailto:a@b.org  (mail: a@b.org)\n"),
    (["--rules", "commonmark"], ""),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "output"), ARGUMENTS)
def test_verb(tmp_path: Path, arguments: list[str], output: str) -> None:
    file = tmp_path / "t.txt"
    file.write_text(_TEXT, encoding="utf-8")
    done = CliRunner().invoke(command, [*arguments, str(file)])
    assert (done.exit_code, done.stdout.replace(str(file), "F")) == (0, output)


def test_verb_jsonl() -> None:
    done = CliRunner().invoke(command, ["--format", "jsonl", "-"], input=_TEXT)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert (rows[0]["line"], rows[0]["column"], rows[0]["uri"]) == (1, 6, "http://h/a-b")
    assert all(_TEXT[row["start"] : row["end"]] == row["text"] for row in rows)
    assert rows[0]["outer"] == [4, 20]


def test_verb_tells_a_cut() -> None:
    text = "http://h/?array[]=1 www.w3.org/?a|b http://h/"
    done = CliRunner().invoke(command, [], input=text)
    assert [line.partition("  ")[2] for line in done.stdout.splitlines()] == [
        "http://h/?array  (cut before [, which a URI cannot contain there)",
        "http://www.w3.org/?a  (abbreviated: www.w3.org/?a; cut before |, which a URI cannot contain there)",
        "http://h/",
    ]
    done = CliRunner().invoke(command, ["--format", "jsonl"], input=text)
    assert [json.loads(line)["cut"] for line in done.stdout.splitlines()] == ["[", "|", ""]


def test_verb_offsets_over_pieces(tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    text = ("word " * 20 + "\n\n") * 30_000 + "x http://h/ y"
    file.write_text(text)
    done = CliRunner().invoke(command, ["--format", "jsonl", str(file)])
    row = json.loads(done.stdout)
    assert (row["line"], row["column"]) == (60_001, 3)
    assert text[row["start"] : row["end"]] == "http://h/"


@pytest.mark.parametrize("form", ["html", "markdown", "terminal"])
def test_verb_whole_text(form: str) -> None:
    done = CliRunner().invoke(command, ["--format", form], input="a \x1b[31m http://h/\n")
    assert done.exit_code == 0
    assert "\x1b[31m" not in done.stdout
    assert "http://h/" in done.stdout


def test_verb_charset(tmp_path: Path) -> None:
    file = tmp_path / "t.txt"
    file.write_bytes("\ufeffhttp://h/é".encode("utf-16-le"))
    assert CliRunner().invoke(command, [str(file)]).stdout.endswith("http://h/%C3%A9  (IRI: http://h/é)\n")
    file.write_bytes("http://h/é".encode("latin-1"))
    done = CliRunner().invoke(command, [str(file)])
    assert (done.exit_code, "some of it is not valid utf-8" in done.stderr) == (1, True)
    assert CliRunner().invoke(command, ["--charset", "latin-1", str(file)]).exit_code == 0
    assert CliRunner().invoke(command, ["--charset", "no-such", str(file)]).exit_code == 2
    assert CliRunner().invoke(command, ["--charset", "base64", str(file)]).exit_code == 2


def test_verb_files(tmp_path: Path) -> None:
    file = tmp_path / "t.txt"
    file.write_text("http://h/")
    done = CliRunner().invoke(command, [str(tmp_path / "absent"), str(tmp_path), str(file)])
    assert done.exit_code == 1
    assert done.stdout == f"{file}:1:1  http://h/\n"
    assert len(done.stderr.splitlines()) == 2


# -- the reader


def test_reader() -> None:
    base = Base(URI("http://h/"), "retrieval")
    read = list(plaintext.read(Document("s", "<http://h/a\n b> www.w3.org/x ü".encode(), base), Options()))
    assert read == [
        LinkFound("text", "http://h/ab"),
        LinkFound("text, abbreviated", "www.w3.org/x", target="http://www.w3.org/x"),
    ]
    read = list(plaintext.read(Document("s", b"\xff http://h/", base), Options()))
    assert read == [Note("wrong-charset"), LinkFound("text", "http://h/")]
    assert list(plaintext.read(Document("s", b"", base), Options())) == []
    read = list(plaintext.read(Document("s", b"http://h/?a[]=1 www.w3.org/?a|b http://h/?b[", base), Options()))
    assert read == [
        LinkFound("text, cut", "http://h/?a"),
        LinkFound("text, abbreviated, cut", "www.w3.org/?a", target="http://www.w3.org/?a"),
        LinkFound("text", "http://h/?b"),
        Note("cut"),
    ]


def test_a_cut_is_told_in_the_table(tmp_path: Path) -> None:
    file = tmp_path / "t.txt"
    file.write_text("see http://h/?array[]=1 and http://h/?a=P1|0\n")
    rows = [(row.reference, row.where, row.error) for row in extract(file)]
    assert rows == [
        (None, None, "cut"),
        ("http://h/?array", "text, cut", None),
        ("http://h/?a=P1", "text, cut", None),
    ]


TYPED = [
    # text, uri, kind, delimiter
    (" http://h.example/a ", "http://h.example/a", "URI", ""),
    ("<URL:http://h.ex\n  ample/a b>", "http://h.example/a%20b", "URI", "<>"),
    ('"ftp://foo.example.\n   com/rfc/"', "ftp://foo.example.com/rfc/", "URI", '""'),
    ("URL: mailto:joe@h.example", "mailto:joe@h.example", "URI", "URL:"),
    ("www.w3.org/Addressing/", "http://www.w3.org/Addressing/", "abbreviated", ""),
    ("ftp.h.example", "ftp://ftp.h.example", "abbreviated", ""),
    ("example.com:8080/x?y#z", "http://example.com:8080/x?y#z", "abbreviated", ""),
    ("localhost:80", "http://localhost:80", "abbreviated", ""),
    ("[::1]:80/a", "http://[::1]:80/a", "abbreviated", ""),
    ("127.0.0.1", "http://127.0.0.1", "abbreviated", ""),
    ("b\u00fccher.example/\u00fc", "http://b%C3%BCcher.example/%C3%BC", "abbreviated", ""),
    ("http://b\u00fc.example/", "http://b%C3%BC.example/", "IRI", ""),
    ("joe@h.example", "mailto:joe@h.example", "mail", ""),
    ("tel:112", "tel:112", "URI", ""),
    ("\u201churn:a:b\u201d", "hurn:a:b", "URI", "\u201c\u201d"),
    ("//ftp.h.example/x", "ftp://ftp.h.example/x", "abbreviated", ""),
    ("//h:8", "http://h:8", "abbreviated", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "uri", "kind", "delimiter"), TYPED, ids=[ascii(row[0]) for row in TYPED])
def test_what_a_person_types(text: str, uri: str, kind: str, delimiter: str) -> None:
    """RFC 3986 Appendix C: "recognize and strip both delimiters and embedded whitespace"; 4.5."""
    found = typed(text)
    assert (found.uri, found.kind, found.delimiter) == (uri, kind, delimiter)
    lawful(text, [found._replace(delimiter=delimiter or "typed")])


def test_a_hyphen_may_be_the_line_s() -> None:
    found = typed("<http://h.example/a-\n b>")
    assert (found.reference, found.alternative) == ("http://h.example/a-b", "http://h.example/ab")


@pytest.mark.parametrize("text", ["", " ", "<>", "word", "two words", "../g", "http://h:x/", "a..", "%zz.example"])
def test_what_nobody_means(text: str) -> None:
    with pytest.raises(InvalidURI):
        typed(text)


@pytest.mark.parametrize("unit", ["a.", "- \n", "[", "@a", "URL:", "<", "\u00fc-"])
def test_typing_is_linear(unit: str) -> None:
    linear(lambda n: _typed_or_refused(unit * n), 50_000)


def _typed_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidURI):
        typed(text)


BLANKS = {
    "example.com/a b": ("http://example.com/a%20b", "example.com/ab"),
    "http://h/a  b\tc?d e#f g": ("http://h/a%20%20b%20c?d%20e#f%20g", "http://h/abc?de#fg"),
    "http://h/a \n b": ("http://h/ab", None),
    "http://h/a\u00a0b": ("http://h/a%20b", "http://h/ab"),
    "http://h/a\r\n  b c": ("http://h/ab%20c", "http://h/abc"),
    "h . example/a": ("http://h.example/a", None),
    "https: //h/a": ("https://h/a", None),
    "http://h : 80/a": ("http://h:80/a", None),
    "mailto: joe@h.example?subject=a b": ("mailto:joe@h.example?subject=a%20b", "mailto:joe@h.example?subject=ab"),
    "joe @ h.example": ("mailto:joe@h.example", None),
    "http://h/a b-\n c": ("http://h/a%20b-c", "http://h/ab-c"),
}


@pytest.mark.parametrize("text", BLANKS)
def test_a_typed_blank_is_kept_in_a_path_unless_it_stands_at_a_line_end(text: str) -> None:
    found = typed(text)
    assert (found.uri, found.alternative) == BLANKS[text]


def test_the_scheme_of_a_typed_host_can_be_given() -> None:
    assert typed("example.com", scheme="https").uri == "https://example.com"
    assert typed("ftp.example.com/a", scheme="https").uri == "https://ftp.example.com/a"
    assert typed("http://example.com", scheme="https").uri == "http://example.com"
    assert typed("joe@h.example", scheme="https").uri == "mailto:joe@h.example"
