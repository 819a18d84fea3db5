"""Output for a terminal has no control sequences of the text, and lines of the requested width."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

from click.testing import CliRunner

import overthere
from overthere import Entry, InvalidURI
from overthere.cli import printing
from overthere.cli.app import app
from overthere.cli.link_rows import show
from overthere.cli.terminal import Binary, Display, format_listing, one_line
from overthere.ground.display import columns, printable
from overthere.ground.errors import OverthereError
from overthere.links.job.reading import fill
from overthere.links.model import Document, Options
from overthere.links.report.rows import make_rows_builder
from readings import OUTER
from seeds import cases

WORDS = (
    b"\x1b[31m", b"\x1b]0;x\x07", b"\x1b]8;;http://h/\x1b\\", b"\x07", b"\b", b"\r", b"\r\n", b"\n", b"\t", b"\0",
    b"\x7f", b"\xc2\x9b31m", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xae", b"\xe2\x80\x8f", b"\xe2\x81\xa6",
    b"\xd8\x9c", b"\xf3\xa0\x81\x81", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xff", b"\xcc\x81", b"\xe4\xb8\xad",
    b"\xc2\xad", b"   ", b"http://h/", b"<http://h/>", b"ftp://joe:pw@h/", b"%1B", b"%0A", b"text/plain;charset=",
    b"utf-16", b"<a href=", b"[x]",
)  # fmt: skip
LONGEST = 1024
AFTER = "a test to tests/cli/test_cli.py, or for `get` to tests/cli/test_cli_get.py"

_VERBS: tuple[tuple[str, ...], ...] = (
    ("explain",), ("explain", "--base", "http://h/"), ("check",), ("check", "--rule", "IRI-reference"), ("audit",),
    ("plan",), ("normalize", "--changes"), ("normalize", "--rung", "SCHEME"), ("split",), ("compare", "http://h/"),
    ("resolve", "--base", "http://h/a"), ("relate", "--base", "http://h/a"), ("encode", "query"), ("decode",),
    ("check", "--edition", "rfc1738"), ("editions", "show"), ("schemes",), ("get", "--plan"),
    ("explain", "--format", "jsonl"), ("check", "--format", "jsonl"), ("audit", "--format", "jsonl"),
)  # fmt: skip
_OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b\x07]*\x1b\\")
"""Colours, and hyperlinks."""


def check(data: bytes) -> None:
    """data: an octet for what prints, and what it prints."""
    if not data:
        return
    number, octets = data[0], data[1:]
    text = octets.decode("utf-8", "surrogateescape")
    if number < len(_VERBS):
        if "\0" not in text:
            _verb(_VERBS[number], text)
        return
    _FURTHER[number % len(_FURTHER)](octets, text)


def _check_harmless(output: str, context: str = "") -> None:
    """No character that a terminal obeys but line ends, ours, and `beside`."""
    rest_text = _OURS.sub("", output)
    bad = {char for char in rest_text if not char.isprintable() and char not in f"\n{context}"}
    assert not bad, f"{bad} in {output!r}"


def _verb(verb: tuple[str, ...], text: str) -> None:
    """The output of a verb for an argument, on both streams."""
    with patch.object(printing, "is_terminal", return_value=True):  # on a pipe data is data
        ran = CliRunner().invoke(app, [*verb, "--", text])
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    if "jsonl" in verb:
        assert all(json.loads(line) for line in ran.stdout.splitlines()), ran.stdout
    _check_harmless(ran.output)


def _check_found(octets: bytes, text: str) -> None:
    for form in ("text", "terminal"):
        ran = CliRunner().invoke(app, ["find", "--format", form, "--hosts", "--mail"], input=octets)
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        _check_harmless(ran.output, "\t" if form == "terminal" else "")


def _content(octets: bytes, text: str) -> None:
    """A document on the terminal, whole and in pieces: its first line is the media type."""
    kind, _, content = octets.partition(b"\n")
    try:
        with overthere.open(f"data:{quote(kind, safe='/;=+.-')},{quote(content)}") as resource:
            data = resource.read()
            complete = _display(resource, [data])
            pieces = _display(resource, [data[:4096], *(data[at : at + 5] for at in range(4096, len(data), 5))])
    except OverthereError:
        return
    assert complete == pieces, f"{complete!r}, in pieces {pieces!r}"
    _check_harmless(complete or "", "\t")


def _display(resource: Any, pieces: list[bytes]) -> str | None:
    display = Display(resource)
    try:
        return "".join(map(display.show, pieces)) + display.show(b"", final=True)
    except Binary:
        return None


def _listing(octets: bytes, text: str) -> None:
    fields = (*text.split("\n"), "", "", "", "")
    details = {"attributes": {fields[3]: [fields[4] if len(fields) > 4 else "", octets]}}
    entries = [Entry(fields[0], fields[1] or None, fields[2], details), Entry("name", "http://h/", "file")]
    for width in (40, 100):
        lines = list(format_listing(entries, width))
        assert "\n" not in "".join(lines), lines
        _check_harmless("".join(lines))


def _lines(octets: bytes, text: str) -> None:
    assert "\n" not in one_line(text)
    _check_harmless(one_line(text))
    _check_harmless(printable(text.replace("\n", "")))
    for width in (40, 80, 120):
        try:
            overthere.URI(text)
        except InvalidURI as error:
            figure = error.figure(width)
            _check_harmless(figure)
            first, carets = figure.split("\n")[:2]
            assert len(first) <= width + 2, f"{len(first)} characters for {width} columns"
            assert columns(carets) <= max(columns(first), 1) + 1, figure
            assert set(carets) == {" ", "^"} or set(carets) == {"^"}, figure


def _links(octets: bytes, text: str) -> None:
    """The table for people, of a page."""
    builder = make_rows_builder(Options(audit=True))
    document = Document(octets[:40].decode("utf-8", "replace"), octets, OUTER, "text/html", "utf-8")
    batches = [builder.take() for _ in fill(builder, document, "html", (), Options())]
    batches.append(builder.take())
    with redirect_stdout(io.StringIO()) as out:
        show(iter(batches))
    _check_harmless(out.getvalue())


_FURTHER: tuple[Callable[[bytes, str], None], ...] = (_check_found, _content, _listing, _lines, _links)


def seeds() -> Iterator[bytes]:
    texts = [row["text"] for file, row in cases() if file in ("invalid", "audit", "parse") and "text" in row]
    for number in (*range(len(_VERBS)), 250, 251, 252, 253, 254):
        for text in texts[number % 7 :: 23]:
            yield bytes((number,)) + text.encode("utf-8", "surrogatepass")
    for number in range(250, 255):
        yield bytes((number,)) + b"text/plain;charset=iso-8859-1\nhttp://h/\x1b[31m \xff\n<a href='x\x1b[1m'>"
        yield bytes((number,)) + "text/plain;charset=utf-8\nhttp://h/\u202e \n中\n<a href='\u202ex'>".encode()
