"""overthere.text: URIs in running text, according to RFC 3986 and GitHub Flavored Markdown, and its output formats."""

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


def assert_valid_matches(text: str, matches: list[Found], uris: bool = True) -> None:
    """Check the properties of every match."""
    at = 0
    for match in matches:
        assert at <= match.outer[0] <= match.start < match.end <= match.outer[1] <= len(text)
        assert match.text == text[match.start : match.end]
        at = match.outer[1]
        if not uris:
            continue
        assert str(URI(match.uri)) == match.uri
        if match.kind == "IRI":
            assert str(IRI(match.reference).to_uri()) == match.uri
        if not match.delimiter:
            assert match.reference == match.text


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_uris_of_the_cases_are_found(row: dict[str, Any]) -> None:
    matches = list(find(row["text"], **row.get("options", {})))
    assert [match.reference for match in matches] == row["found"]
    assert_valid_matches(row["text"], matches)
    for name, field in FIELDS.items():
        if name in row:
            assert [getattr(match, field) or "" for match in matches] == row[name]


@pytest.mark.skipif(not SEEDS, reason=NO_PACKAGE)
@pytest.mark.parametrize("row", SEEDS or [{"id": ""}], ids=ids(SEEDS) or None)
def test_printed_examples_are_found(row: dict[str, Any]) -> None:
    assert [match.reference for match in find(row["input"])] == row["expected"]


@pytest.mark.skipif(not AUTOLINKS, reason=NO_SUITE)
@pytest.mark.parametrize("row", AUTOLINKS or [{"id": ""}], ids=ids(AUTOLINKS) or None)
def test_autolinks(row: dict[str, Any]) -> None:
    """The extension is on in the rows that name it and in those of its own file."""
    extended = "(" in row["target"] or row["spec"] == "gfm-ext"
    matches = list(find(row["input"], rules="gfm" if extended else "commonmark"))
    assert [match.reference for match in matches] == row["expected"]["hrefs"]
    assert_valid_matches(row["input"], matches, uris=False)


@pytest.mark.parametrize("row", GFM, ids=ids(GFM))
def test_gfm_cases(row: dict[str, Any]) -> None:
    matches = list(find(row["text"], rules=row.get("rules", "gfm")))
    assert [match.reference for match in matches] == row["found"]
    assert_valid_matches(row["text"], matches, uris=False)


def test_the_editions_find_the_same_in_their_examples() -> None:
    """RFC 1738 and the draft of 1997 have rules of their own."""
    rows = {row["id"]: row["text"] for row in ROWS}
    old = [link.url + (f"#{link.fragment}" if link.fragment else "") for link in rfc1738.extract(rows["rfc1738"])]
    assert old == [match.reference for match in find(rows["rfc1738"])]
    for name in ("draft-1997", "draft-1997-delimiters", "draft-1994"):
        texts = [match.url.rstrip(".,") for match in delimited(rows[name])]
        assert texts == [match.reference for match in find(rows[name])]


def test_ends_agree_with_unicode() -> None:
    """White space, quotation marks and brackets end a URI; letters, digits and marks do not."""
    ends = {chr(code) for low, high in ENDS for code in range(low, high + 1)}
    assert [low for low, _ in ENDS] == sorted(low for low, _ in ENDS)
    assert not [char for char in ends if unicodedata.category(char)[0] in "LNM"]
    for low, high in UCSCHAR[:3]:
        for char in map(chr, range(low, high + 1)):
            if unicodedata.category(char) in ("Zs", "Zl", "Zp", "Pi", "Pf") and not 0x2E00 <= ord(char) < 0x2E80:
                assert char in ends, hex(ord(char))


def test_schemes_with_shapes_are_registered() -> None:
    assert set(names().shapes) <= names().registered


def test_invalid_arguments_of_find_are_rejected() -> None:
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


def test_matches_in_random_texts_are_valid() -> None:
    chosen = random.Random(7)
    for _ in range(6000):
        text = "".join(chosen.choices(_BITS, k=chosen.randrange(1, 24)))
        assert_valid_matches(text, list(find(text, **ALL)))
        assert_valid_matches(text, list(find(text, schemes=["http", "b"], **ALL)))
        for rules in ("gfm", "commonmark"):
            assert_valid_matches(text, list(find(text, rules=rules)), uris=False)


def _check_everywhere(schemes: Any, abbreviated: bool, hosts: bool, mail: bool, *_: bool) -> Any:
    """Every possible beginning: a bracket before a letter, a colon, each "www"."""
    host = rf"(?<!{WORD})(?<![@/.:%=\\-]){NAME}(?:{NAME}|-)*+(?:\.{NAME}(?:{NAME}|-)*+)++(?!{WORD})"
    patterns = [r'<(?=\s*[A-Za-z])|"(?=[A-Za-z][A-Za-z0-9+.-]{1,64}+:)|:(?=//[^\s/?#]|///[^\s/]|(?!//))']
    patterns += [rf"(?<!{WORD})(?<![@/.\\-])(?i:www|ftp)\.(?=[^\s.])"] * abbreviated + ["@"] * mail + [host] * hosts
    return re.compile("|".join(patterns), re.ASCII).search


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


def test_the_fast_search_misses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It finds as much as a check at every position."""
    chosen = random.Random(9)
    options: list[dict[str, Any]] = [
        {}, ALL, {"mail": True}, {"abbreviated": False}, {"abbreviated": False, **ALL},
        {"schemes": ["http", "b"]}, {"schemes": ["mailto", "ftp"], **ALL},
    ]  # fmt: skip
    texts = ["".join(chosen.choices(_SPLIT, k=chosen.randrange(1, 16))) for _ in range(6000)]
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "tests").glob("**/*.py")]
    texts += [path.read_text() for path in pages]
    calls = [(text, options[number % len(options)]) for number, text in enumerate(texts)]
    quick = [list(find(text, **kwargs)) for text, kwargs in calls]
    monkeypatch.setattr("overthere.text.compile_trigger", _check_everywhere)
    for (text, kwargs), matches in zip(calls, quick, strict=True):
        assert matches == list(find(text, **kwargs)), (text, kwargs)


def test_country_codes_that_are_words_are_country_codes() -> None:
    assert COUNTRY_CODES_WORDS < COUNTRY_CODES
    assert not COUNTRY_CODES_WORDS & COUNTRY_CODES_ALIKE


@pytest.mark.parametrize("text", ["www.h.example", "h.com", "joe@h.com", "h.co.uk", "mailto:joe@h.com"])
@pytest.mark.parametrize("script", ["ü", "б", "ω", "א", "ب", "क", "ա", "ა", "\u0301"])
def test_a_host_name_ends_at_word_boundaries(text: str, script: str) -> None:
    options: dict[str, Any] = {"hosts": True, "mail": True}
    assert [match.reference for match in find(f" {text} ", **options)] == [text]
    for match in find(f" {script}{script}{text} {text}{script} ", **options):
        # With the letter it may be another name, an IDN; the part without it is not reported.
        assert script in match.reference, match


@pytest.mark.parametrize("text", ["www.h.example", "h.com", "joe@h.com", "h.co.uk", "http://h.com"])
def test_korean_particles_may_follow_a_name(text: str) -> None:
    """Korean separates words by spaces: a syllable before a name belongs to the name, one after it is a particle."""
    options: dict[str, Any] = {"hosts": True, "mail": True}
    assert [match.reference for match in find(f" {text}한 {text}에서,", **options)] == [text, text]
    for match in find(f"한{text} ", **options):
        assert match.reference.startswith("한") or text.startswith("http"), match


@pytest.mark.parametrize("script", ["日", "の", "ア", "ไ", "ລ", "ម", "မ"])
def test_scripts_without_spaces_delimit_names(script: str) -> None:
    for text in ("www.h.example", "h.com", "joe@h.com", "h.co.uk"):
        references = [match.reference for match in find(f"{script}{text}{script} {text}", hosts=True, mail=True)]
        assert references == [text, text]


def test_matches_do_not_depend_on_the_pieces() -> None:
    """Pieces that end at empty lines."""
    chosen = random.Random(8)
    for _ in range(1000):
        text = "".join(chosen.choices(_BITS, k=60))
        expected = [(match.reference, match.start) for match in find(text, **ALL)]
        size = chosen.randrange(1, 30)
        blocks = [text[at : at + size] for at in range(0, len(text), size)]
        parts = list(pieces(blocks, enough=chosen.randrange(1, 40)))
        assert "".join(parts) == text
        matches, offset = [], 0
        for part in parts:
            matches += [(match.reference, match.start + offset) for match in find(part, **ALL)]
            offset += len(part)
        assert matches == expected, text


def test_the_size_of_pieces_is_limited() -> None:
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


# "`" runs of all these lengths make a text of 125,000 characters.
_LONG: dict[str, Callable[[int], str]] = {
    **{unit: repeated("", unit) for unit in _REPEATED},
    **{f"http://h/{tail}": repeated("http://h/", tail) for tail in (")", "(", ".", "*", "a")},
    "> then <a": lambda size: ">" * size + "<a" * size,
    "blanks then <a": lambda size: " " * size + "<a" * size,
    "runs of `": lambda size: "`".join("`" * n for n in range(round((2 * size) ** 0.5))),
}


@pytest.mark.parametrize("rules", ["rfc3986", "gfm"])
@pytest.mark.parametrize("make", _LONG.values(), ids=_LONG)
def test_searching_hostile_texts_is_linear(make: Callable[[int], str], rules: Any) -> None:
    def use(size: int) -> None:
        text = make(size)
        assert_valid_matches(text, list(find(text, rules=rules, **ALL)), uris=False)
        assert_valid_matches(text, list(find(text, rules=rules, mail=True)), uris=False)

    linear(use, LONG // 2)


# -- output

_HOSTILE_TEXT = 'x <http://h/?a&amp;b> & "http://h/-\n  b" javascript://h/ <javascript:alert(1)> www.w3.org/_a_\x1b[31m'


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


def test_html_escapes_text_and_marks_links() -> None:
    parser = _Links()
    parser.feed(as_html(_HOSTILE_TEXT, find(_HOSTILE_TEXT)))
    parser.close()
    assert parser.links == ["http://h/?a&amp;b", "http://h/-b", "http://www.w3.org/_a_"]
    assert parser.text == _HOSTILE_TEXT.replace("\x1b", "\ufffd")


def test_html_of_random_texts() -> None:
    """It contains the whole text, and no elements but links."""
    chosen = random.Random(9)
    for _ in range(1000):
        text = "".join(chosen.choices([*_BITS, "<script>", "javascript:"], k=20))
        parser = _Links()
        parser.feed(as_html(text, find(text, **ALL)))
        parser.close()
        assert set(parser.tags) <= {"a"}
        assert parser.text == text.replace("\ud800", "\ufffd").replace("\x00", "\ufffd")
        assert not [link for link in parser.links if link is None or link.lower().startswith(("javascript", "data"))]


def test_markdown_links_are_found_again() -> None:
    output = as_markdown(_HOSTILE_TEXT, find(_HOSTILE_TEXT))
    assert output == (
        "x <http://h/?a&amp;b> & <http://h/-b> javascript://h/ &lt;javascript:alert(1)>"
        " [www.w3.org/\\_a\\_](<http://www.w3.org/_a_>)\ufffd[31m"
    )
    # The output is parsed by Markdown's rules.
    assert [match.uri for match in find(output, rules="commonmark")][1] == "http://h/-b"


@pytest.mark.parametrize("backslashes", range(4))
@pytest.mark.parametrize("link", ["<javascript:alert(1)>", "<data:text/html,a>"])
def test_what_is_no_link_becomes_none_behind_a_backslash(backslashes: int, link: str) -> None:
    text = "a " + "\\" * backslashes + link
    assert [match.text for match in find(text)] == [link[1:-1]]
    assert not list(find(as_markdown(text, find(text)), rules="commonmark"))


@pytest.mark.parametrize("scheme", ["", "1a", "h p", "http:", "http://h/x", "\u212a", "\ud800", "x\n"])
@pytest.mark.parametrize("text", ["h.example:80", "localhost:80/a", "h.example", "//h", "http://h/"])
def test_what_is_no_scheme_is_rejected(text: str, scheme: str) -> None:
    with pytest.raises(ValueError, match=r"is not a scheme \(RFC 3986 3\.1\)"):
        typed(text, scheme=scheme)
    with pytest.raises(TypeError, match="scheme takes text, not int"):
        typed(text, scheme=0)  # type: ignore[arg-type]


def test_terminal_hyperlinks() -> None:
    import io

    from rich.console import Console

    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system="truecolor", legacy_windows=False, width=40)
    console.print(as_terminal(_HOSTILE_TEXT, find(_HOSTILE_TEXT)), soft_wrap=True)
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
def test_the_command(tmp_path: Path, arguments: list[str], output: str) -> None:
    file = tmp_path / "t.txt"
    file.write_text(_TEXT, encoding="utf-8")
    result = CliRunner().invoke(command, [*arguments, str(file)])
    assert (result.exit_code, result.stdout.replace(str(file), "F")) == (0, output)


def test_the_command_writes_json_lines() -> None:
    result = CliRunner().invoke(command, ["--format", "jsonl", "-"], input=_TEXT)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert (rows[0]["line"], rows[0]["column"], rows[0]["uri"]) == (1, 6, "http://h/a-b")
    assert all(_TEXT[row["start"] : row["end"]] == row["text"] for row in rows)
    assert rows[0]["outer"] == [4, 20]


def test_the_command_reports_truncated_matches() -> None:
    text = "http://h/?array[]=1 www.w3.org/?a|b http://h/"
    result = CliRunner().invoke(command, [], input=text)
    assert [line.partition("  ")[2] for line in result.stdout.splitlines()] == [
        "http://h/?array  (cut before [, which a URI cannot contain there)",
        "http://www.w3.org/?a  (abbreviated: www.w3.org/?a; cut before |, which a URI cannot contain there)",
        "http://h/",
    ]
    result = CliRunner().invoke(command, ["--format", "jsonl"], input=text)
    assert [json.loads(line)["cut"] for line in result.stdout.splitlines()] == ["[", "|", ""]


def test_the_command_counts_offsets_across_pieces(tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    text = ("word " * 20 + "\n\n") * 30_000 + "x http://h/ y"
    file.write_text(text)
    result = CliRunner().invoke(command, ["--format", "jsonl", str(file)])
    row = json.loads(result.stdout)
    assert (row["line"], row["column"]) == (60_001, 3)
    assert text[row["start"] : row["end"]] == "http://h/"


@pytest.mark.parametrize("form", ["html", "markdown", "terminal"])
def test_the_command_writes_the_whole_text(form: str) -> None:
    result = CliRunner().invoke(command, ["--format", form], input="a \x1b[31m http://h/\n")
    assert result.exit_code == 0
    assert "\x1b[31m" not in result.stdout
    assert "http://h/" in result.stdout


def test_the_command_decodes_by_charset(tmp_path: Path) -> None:
    file = tmp_path / "t.txt"
    for charset in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        file.write_bytes("\ufeffhttp://h/é".encode(charset))
        assert CliRunner().invoke(command, [str(file)]).stdout.endswith(":1:1  http://h/%C3%A9  (IRI: http://h/é)\n")
    file.write_bytes("http://h/é".encode("latin-1"))
    result = CliRunner().invoke(command, [str(file)])
    assert (result.exit_code, "some of it is not valid utf-8" in result.stderr) == (1, True)
    assert CliRunner().invoke(command, ["--charset", "latin-1", str(file)]).exit_code == 0
    file.write_bytes(("a \ufffd " * 100_000 + "http://h/é").encode())  # this character is valid; then a torn one
    assert CliRunner().invoke(command, [str(file)]).exit_code == 0
    file.write_bytes(file.read_bytes()[:-1])
    assert CliRunner().invoke(command, [str(file)]).exit_code == 1
    assert CliRunner().invoke(command, ["--charset", "no-such", str(file)]).exit_code == 2
    assert CliRunner().invoke(command, ["--charset", "base64", str(file)]).exit_code == 2


def test_the_command_continues_after_an_unreadable_file(tmp_path: Path) -> None:
    file = tmp_path / "t.txt"
    file.write_text("http://h/")
    result = CliRunner().invoke(command, [str(tmp_path / "absent"), str(tmp_path), str(file)])
    assert result.exit_code == 1
    assert result.stdout == f"{file}:1:1  http://h/\n"
    assert len(result.stderr.splitlines()) == 2


# -- the reader


def test_the_link_reader_of_plain_text() -> None:
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


def test_a_truncated_match_is_noted_in_the_table(tmp_path: Path) -> None:
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
def test_typed_text_is_completed(text: str, uri: str, kind: str, delimiter: str) -> None:
    """RFC 3986 Appendix C: "recognize and strip both delimiters and embedded whitespace"; 4.5."""
    result = typed(text)
    assert (result.uri, result.kind, result.delimiter) == (uri, kind, delimiter)
    assert_valid_matches(text, [result._replace(delimiter=delimiter or "typed")])


def test_a_hyphen_at_a_line_end_has_two_readings() -> None:
    result = typed("<http://h.example/a-\n b>")
    assert (result.reference, result.alternative) == ("http://h.example/a-b", "http://h.example/ab")


@pytest.mark.parametrize("text", ["", " ", "<>", "word", "two words", "../g", "http://h:x/", "a..", "%zz.example"])
def test_typed_text_without_an_address_is_rejected(text: str) -> None:
    with pytest.raises(InvalidURI):
        typed(text)


@pytest.mark.parametrize("unit", ["a.", "- \n", "[", "@a", "URL:", "<", "\u00fc-"])
def test_typing_is_linear(unit: str) -> None:
    linear(lambda n: _try_typed(unit * n), 50_000)


def _try_typed(text: str) -> None:
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
def test_a_typed_space_is_kept_in_a_path_but_not_at_a_line_end(text: str) -> None:
    result = typed(text)
    assert (result.uri, result.alternative) == BLANKS[text]


def test_the_scheme_of_a_typed_host_can_be_set() -> None:
    assert typed("example.com", scheme="https").uri == "https://example.com"
    assert typed("ftp.example.com/a", scheme="https").uri == "https://ftp.example.com/a"
    assert typed("http://example.com", scheme="https").uri == "http://example.com"
    assert typed("joe@h.example", scheme="https").uri == "mailto:joe@h.example"
