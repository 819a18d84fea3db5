"""The main job: documents in, rows out."""

from __future__ import annotations

import csv
import json
import os
import re
import urllib.parse
from pathlib import Path
from typing import Any

import pytest

from overthere import URI, InvalidURI, Rung
from overthere.base import Base, file_uri, from_content, retrieval_uri
from overthere.links import Link, extract, extract_html
from overthere.links.html import decode, read
from overthere.links.table import open_writer
from support import ROOT, cases, ids

HTML = cases("html")
SITE = ROOT / "examples" / "site"


@pytest.mark.parametrize("row", HTML, ids=ids(HTML))
def test_references_in_html(row: dict[str, Any]) -> None:
    base, found = read(row["html"])
    assert [list(f) for f in found] == row["is"]
    assert base == row.get("base")


@pytest.mark.parametrize("row", HTML, ids=ids(HTML))
def test_the_same_without_a_tree(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is nested too deep for a tree is read tag by tag, with the same answer."""
    monkeypatch.setattr("overthere.links.html._DEPTH", -1)
    monkeypatch.setattr("overthere.links.html._CLOSES", re.compile("(?!)"))
    if row["id"] == "not-in-comments-or-scripts":
        row = {**row, "html": row["html"].replace("<textarea><a href=no></textarea>", "")}
    base, found = read(row["html"])
    assert (base, [list(f) for f in found]) == (row.get("base"), row["is"])


def test_deep_nesting_is_read_in_time() -> None:
    assert read("<div>" * 300_000 + "<a href=deep>")[1] == [("a href", "deep")]


def link(html: str, at: str = "http://h/a/b") -> Link:
    return list(extract_html(html, URI(at)))[-1]


def test_a_row() -> None:
    row = link('<a href="../x/./%7e?#s">')
    assert row == Link(
        "", "http://h/a/b", "retrieval", "../x/./%7e?#s", "a href",
        "http://h/x/%7e?#s", "s", False, "http://h/x/~?#s", None, None,
    )  # fmt: skip


def test_undefined_is_not_empty() -> None:
    assert link("<a href=x>").fragment is None
    assert link("<a href=x#>").fragment == ""


@pytest.mark.parametrize(("reference", "same"), [("", True), ("#s", True), ("b", True), ("?", False), ("c", False)])
def test_same_document(reference: str, same: bool) -> None:
    assert link(f'<a href="{reference}">').same_document is same


def test_invalid_reference_is_a_row() -> None:
    row = link('<a href="a b">')
    assert (row.target, row.error, row.error_at, row.reference) == (None, "space", 1, "a b")


def test_iri_is_mapped_and_said() -> None:
    row = link('<a href="ü">')
    assert (row.target, row.error, row.error_at) == ("http://h/a/%C3%BC", "non-ascii", 0)
    assert link('<a href="ü b">').error == "space"


@pytest.mark.parametrize(
    ("html", "base", "layer"),
    [
        ("<a href=x>", "http://h/a/b", "retrieval"),
        ('<base href="c/d#f"><a href=x>', "http://h/a/c/d", "content"),
        ('<base href="//o/"><base href="//p/"><a href=x>', "http://o/", "content"),
        ('<base href="http://[x/"><a href=x>', "http://h/a/b", "retrieval"),
        ('<base href="data:,x"><a href=x>', "http://h/a/b", "retrieval"),
        ('<base href="JavaScript:x"><a href=x>', "http://h/a/b", "retrieval"),
        ('<base href="ü/"><a href=x>', "http://h/a/%C3%BC/", "content"),
        ('<base href=""><a href=x>', "http://h/a/b", "content"),
    ],
)
def test_base(html: str, base: str, layer: str) -> None:
    row = link(html)
    assert (row.base, row.base_from) == (base, layer)


def test_base_without_base_is_the_fallback() -> None:
    fallback = Base(URI("http://h/"), "retrieval")
    assert from_content(None, fallback) is fallback


def test_retrieval_uris(tmp_path: Path) -> None:
    assert str(file_uri("/a b/ü%.html")) == "file:///a%20b/%C3%BC%25.html"
    assert str(file_uri("/")) == "file:///"
    base = URI("http://h/docs/x")
    assert str(retrieval_uri(tmp_path / "a" / "b:c.html", tmp_path, base)) == "http://h/docs/a/b:c.html"
    assert str(retrieval_uri(tmp_path / "b:c.html", tmp_path, base)) == "http://h/docs/b%3Ac.html"
    assert retrieval_uri(tmp_path, tmp_path, base) == base


@pytest.mark.skipif(os.name == "nt", reason="names of octets exist on POSIX only")
def test_file_names_of_any_octets(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9 #?.html")
    (tmp_path / name).write_text("<a href=x>")
    (row,) = extract([tmp_path], "http://h/")
    assert row.base == "http://h/caf%E9%20%23%3F.html"


def test_folders_and_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.HTM").write_text("<a href=1>")
    (tmp_path / "a.html").write_text("<a href=2>")
    (tmp_path / "no.txt").write_text("<a href=3>")
    assert [r.target for r in extract([tmp_path], "http://h/d/")] == ["http://h/d/2", "http://h/d/b/1"]
    assert [r.target for r in extract([tmp_path / "no.txt"], "http://h/d/")] == ["http://h/d/3"]
    assert [r.base for r in extract(tmp_path / "a.html")] == [str(file_uri(tmp_path / "a.html"))]


def test_a_broken_document_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "a.html").mkdir()
    (tmp_path / "b.html").symlink_to("nowhere")
    (tmp_path / "c.html").write_bytes(bytes(range(256)) + b"<a href='x\xff'>")
    (tmp_path / "d.html").write_bytes(b"")
    rows = list(extract([tmp_path], "http://h/"))
    assert [(Path(r.source).name, r.error) for r in rows if r.error == "unreadable"] == [("b.html", "unreadable")]
    assert [r.target for r in rows if r.error != "unreadable"] == ["http://h/x%C3%BF"]


@pytest.mark.skipif(os.name == "nt", reason="named pipes lie in folders on POSIX only")
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.html")
    assert [row.error for row in extract([tmp_path])] == ["unreadable"]


def test_base_must_be_a_uri() -> None:
    with pytest.raises(InvalidURI):
        list(extract([SITE], "no base"))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("\ufeffü".encode(), "ü"),
        ("ü".encode("utf-16"), "ü"),
        ("ü".encode(), "ü"),
        (b"\xfc", "ü"),
        (b"<meta charset=koi8-r>\xc1", "<meta charset=koi8-r>а"),
        (b'<meta content="text/html; charset=iso-8859-1">\x80', '<meta content="text/html; charset=iso-8859-1">€'),
        (b"<meta charset=utf-16>\xc3\xbc", "<meta charset=utf-16>ü"),
        (b"<meta charset=no-such>\xc3\xbc\xff", "<meta charset=no-such>ü\ufffd"),
        (b"<meta charset=rot13>x", "<meta charset=rot13>x"),
    ],
)
def test_charset(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_example_site_against_lxml_and_urljoin() -> None:
    """Where both have an answer, a plain reader of hrefs and the standard library's resolver give the same target."""
    from lxml import html

    compared = 0
    for row in extract([SITE], "http://museum.example/harbour/"):
        if row.where == "a href" and row.target is not None and row.error is None:
            joined = urllib.parse.urljoin(row.base or "", row.reference or "")
            if row.reference and "?" not in row.reference[-1:] and not row.reference.endswith("#"):
                assert joined == row.target, row
                compared += 1
    file = SITE / "index.html"
    hrefs = [a.get("href").strip() for a in html.fromstring(file.read_bytes()).iter("a")]
    assert hrefs == [r.reference for r in extract([file]) if r.where == "a href"]
    assert compared > 25


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_tables_hold_every_row(tmp_path: Path, suffix: str) -> None:
    rows = [*extract([SITE], "http://h/"), Link("s", None, None, '\ud800,"\n', *[None] * 7)]
    file = tmp_path / f"links{suffix}"
    with open_writer(file) as writer:
        for row in rows:
            writer.write(row._replace(reference=row.reference.replace("\ud800", "?")) if row.reference else row)
    if suffix == ".parquet":
        import pyarrow.parquet as pq

        stored = pq.read_table(file).to_pylist()
    elif suffix == ".jsonl":
        stored = [json.loads(line) for line in file.read_text().splitlines()]
    else:
        stored = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines(keepends=True)))
    assert len(stored) == len(rows)
    for one, row in zip(stored, rows, strict=True):
        for name, value in row._asdict().items():
            value = value.replace("\ud800", "?") if isinstance(value, str) else value
            if suffix == ".csv":
                value = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
            assert one[name] == value


def test_lone_surrogates_do_not_end_a_job(tmp_path: Path) -> None:
    for suffix in (".parquet", ".csv", ".jsonl"):
        with open_writer(tmp_path / f"x{suffix}") as writer:
            writer.write(Link("s", None, None, "\ud800", *[None] * 7))


def test_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.parquet"):
        open_writer(tmp_path / "x.xls")


def test_rung() -> None:
    rows = extract_html('<a href="http://h:80">', URI("http://x/"), rung=Rung.SCHEME)
    assert [r.normal for r in rows] == ["http://h/"]
