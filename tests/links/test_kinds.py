"""The kind and the charset of a document."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from overthere import URI
from overthere.base import Base
from overthere.broken import Checker, Summary, check
from overthere.cli.app import app
from overthere.links import extract
from overthere.links.documents.charset import decode_text
from overthere.links.documents.kinds import kind, kind_of, media_type_of
from overthere.links.model import Document
from support import cases, ids, linear
from test_archives import zipped
from test_warc import record

KINDS = cases("kinds")


@pytest.mark.parametrize("row", KINDS, ids=ids(KINDS))
def test_kinds(row: dict[str, Any]) -> None:
    answer = kind(row.get("name", ""), row.get("type", ""), row["head"].encode("latin-1"))
    assert answer == (row["is"], tuple(row.get("notes", ())))


def test_kinds_by_content() -> None:
    assert kind("", "", gzip.compress(b"WARC/1.0\r\n")) == ("warc", ())
    assert kind("a.gz", "", gzip.compress(b"WARC/1.0\r\n")) == ("warc", ())
    assert kind("", "", gzip.compress(b"words")) == ("compressed", ())
    with io.BytesIO() as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("a"))
        assert kind("", "", file.getvalue()[:4096]) == ("tar", ())


def test_the_kind_of_a_document() -> None:
    inside = Document("a.zip!b.css", b"a{}", Base(URI("http://h/a.zip"), "entity"))
    assert kind_of(inside) == ("css", ())
    record = Document("a.warc!0", b"words", Base(URI("http://h/a.css"), "retrieval"))
    assert kind_of(record) == ("css", ())
    numbered = Document("a.zip!0", b"words", Base(URI("http://h/a.zip"), "entity"))
    assert kind_of(numbered) == ("text", ())


@given(st.text(), st.text(), st.binary(max_size=600))
def test_every_document_has_a_kind(name: str, media_type: str, head: bytes) -> None:
    assert isinstance(kind(name, media_type, head)[0], str)
    media_type_of(media_type)


def test_detecting_the_kind_is_linear() -> None:
    for piece in (b"<", b"<!--", b" ", b"{", b"a:", b"From \n"):

        def detect(size: int, piece: bytes = piece) -> None:
            head = (piece * size)[:size]
            for _ in range(50):
                kind("", "", head)

        linear(detect, 4096)


@pytest.mark.parametrize(
    ("field", "is_"),
    [
        ("text/html;charset=UTF-8", ("text/html", "UTF-8")),
        ("text/html; a=b; charset='x'", ("text/html", "x")),
        ("text/html; charset=", ("text/html", None)),
        ("", ("", None)),
        ("; charset=x", ("", "x")),
    ],
)
def test_content_type(field: str, is_: tuple[str, str | None]) -> None:
    assert media_type_of(field) == is_


@pytest.mark.parametrize(
    ("content", "message", "text", "wrong"),
    [
        (b"caf\xe9", "latin1", "café", False),
        (b"\x80\x81", "us-ascii", "€\x81", False),
        (b"\xc3\xa9", None, "é", False),
        (b"\xe9", None, "\ufffd", True),
        (b"\xef\xbb\xbf\xc3\xa9", None, "é", False),
        (b"\xef\xbb\xbf\xc3\xa9", "latin1", "é", True),
        (b"\xff\xfea\0", "utf-16", "a", False),
        (b"\xfe\xff\0a", "utf-16", "a", False),
        (b"a\0", "utf-16", "a", False),
        (b"a\0b", "utf-16", "a\ufffd", True),
        (b"\xc1", "koi8-r", "а", False),
        (b"\xff", "windows-1253", "\ufffd", True),
        (b"\xc3\xa9", "no such", "é", True),
        (b"a", "rot13", "a", True),
        (b"+ADw-", "utf-7", "+ADw-", True),
        (b"a", "replacement", "a", True),
        (b"a", "\ud800", "a", True),
        (b"a", "", "a", True),
        (b"\x80", "x-user-defined", "\uf780", False),
    ],
)
def test_charsets(content: bytes, message: str | None, text: str, wrong: bool) -> None:
    assert decode_text(content, message) == (text, wrong)


def test_default_charset() -> None:
    assert decode_text(b"\x80", None, "windows-1252") == ("€", False)


@given(st.binary(), st.one_of(st.none(), st.text(), st.sampled_from(["big5", "iso-2022-jp", "utf-16be", "gb18030"])))
def test_any_bytes_decode_to_text(content: bytes, charset: str | None) -> None:
    assert isinstance(decode_text(content, charset)[0], str)


@pytest.mark.parametrize(
    ("type_", "content", "place"),
    [
        ("markdown", "[a](/b)", "link"),
        ("html", "a <b id=c><a href=/b>", "a href"),
        ("xml", "<a href='/b'/>", "a href"),
        ("css", "url(/b)", "url()"),
        ("text", "<a href='/b'>http://h/b", "text"),
        ("uri-list", "http://h/b", "uri-list"),
    ],
)
def test_a_type_on_the_command_line_takes_precedence(tmp_path: Path, type_: str, content: str, place: str) -> None:
    file = tmp_path / "a.css"
    file.write_text(content)
    for source, typed in ((str(file), None), ("-", content)):
        command = ["links", source, "--type", type_, "--base", "http://h/", "--format", "jsonl"]
        result = CliRunner().invoke(app, command, input=typed)
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        assert [(row["target"], row["where"]) for row in rows if row["target"]] == [("http://h/b", place)], rows


def test_an_unknown_kind_is_an_immediate_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"unknown kind 'htm'; known: html, xml"):
        next(extract(tmp_path, kind="htm"))


@pytest.mark.parametrize("number", [-1, 1 << 64, 1.5, "x", None])
def test_numbers_out_of_range_are_an_immediate_error(tmp_path: Path, number: Any) -> None:
    """The native reader takes no such limit: the first record of a WARC file was read again without end."""
    for name in ("limit", "depth"):
        with pytest.raises(ValueError, match=f"{name} must be a whole number"):
            next(extract(tmp_path, **{name: number}))
    with pytest.raises(ValueError, match="unknown rung"):
        next(extract(tmp_path, rung=number))
    with pytest.raises(ValueError, match="limit must be a whole number"):
        next(check([str(tmp_path)], Checker(limit=number), Summary()))


def test_the_largest_limit_reads_everything(tmp_path: Path) -> None:
    page = b"<a href=b>"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"
    (tmp_path / "a.warc").write_bytes(record(head + gzip.compress(page)))
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(record(head + gzip.compress(page))))
    (tmp_path / "a.html.gz").write_bytes(gzip.compress(page))
    (tmp_path / "a.zip").write_bytes(zipped({"a.html": page, "b.zip": zipped({"a.css": b"x { background: url(b) }"})}))
    rows = list(extract(tmp_path, limit=1 << 62, depth=1 << 62))
    assert [(row.reference, row.error) for row in rows] == [("b", None)] * 5


def test_a_type_does_not_apply_to_members_of_folders_and_archives(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("x { background: url(b) }")
    (tmp_path / "a.zip").write_bytes(zipped({"a.css": b"x { background: url(b) }"}))
    for source in (tmp_path, tmp_path / "a.zip"):
        result = CliRunner().invoke(app, ["links", str(source), "--type", "zip", "--format", "jsonl"])
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        assert {row["where"] for row in rows} == {"url()"}
