"""Archives, mailboxes and WARC files as sources of `overthere broken`: findings with member and offset."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from overthere.broken import Summary, find
from overthere.cli.app import app

PAGES = {"a.html": "<a href=b.html#x>\n<a href=b.html#y>\n<a href=c.html>", "b.html": "<p id=x>"}


def _zip(path: Path, pages: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in pages.items():
            archive.writestr(name, text)
    return path


def _tar(path: Path, pages: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz") if path.suffix == ".gz" else tarfile.open(path, "w:") as archive:
        for name, text in pages.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def _record(uri: str, text: str) -> bytes:
    body = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{text}"
    return (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {uri}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(body)}\r\n\r\n{body}\r\n\r\n"
    ).encode()


def _found(path: Path, base: str | None = None) -> list[tuple[str, int | None, int | None, str | None, str]]:
    rows = find(path, base)
    return [(row.source.removeprefix(str(path)), row.line, row.column, row.reference, row.kind) for row in rows]


@pytest.mark.parametrize("base", [None, "https://h/docs/"])
@pytest.mark.parametrize(("name", "inner"), [("a.zip", "!"), ("a.tar", "!"), ("a.tar.gz", "!a.tar!")])
def test_an_archive_is_a_folder_with_a_base_and_without(
    tmp_path: Path, name: str, inner: str, base: str | None
) -> None:
    path = (_zip if name.endswith("zip") else _tar)(tmp_path / name, PAGES)
    assert _found(path, base) == [
        (f"{inner}a.html", 2, 9, "b.html#y", "no-fragment"),
        (f"{inner}a.html", 3, 9, "c.html", "no-document"),
    ]


def test_a_single_compressed_page(tmp_path: Path) -> None:
    (tmp_path / "p.html.gz").write_bytes(gzip.compress(b"\n<a href=#z><p id=y>"))
    assert _found(tmp_path / "p.html.gz") == [("!p.html", 2, 9, "#z", "no-fragment")]


@pytest.mark.parametrize("packed", [False, True])
def test_records_of_a_warc_file(tmp_path: Path, packed: bool) -> None:
    first = _record("http://h/a.html", PAGES["a.html"])
    content = first + _record("http://h/b.html", "<p id=x>\n<a href='#q'>")
    path = tmp_path / ("w.warc.gz" if packed else "w.warc")
    path.write_bytes(gzip.compress(content) if packed else content)
    within = "!0!" if packed else "!"
    # Missing pages of a crawl are external; existing ones are checked.
    assert _found(path) == [
        (f"{within}0", 2, 9, "b.html#y", "no-fragment"),
        (f"{within}{len(first)}", 2, 10, "#q", "no-fragment"),
    ]
    summary = Summary()
    assert len(list(find(path, summary=summary))) == 2
    assert summary.outside == 3  # only known at the end, when all records were read


def test_messages_of_a_mailbox(tmp_path: Path) -> None:
    message = (
        "From a@b Thu Jan  1 00:00:00 2026\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n"
        "--b\nContent-Type: text/html\n\n<img src=cid:one@h>\n<img src=cid:two@h>\n"
        "--b\nContent-Type: image/png\nContent-ID: <one@h>\n\nx\n--b--\n\n"
    )
    (tmp_path / "m.mbox").write_text(message + message.replace("two@h", "three@h"))
    assert _found(tmp_path / "m.mbox") == [
        ("!1!1", 2, 10, "cid:two@h", "no-document"),
        ("!2!1", 2, 10, "cid:three@h", "no-document"),
    ]


def test_files_in_a_container_are_not_fixed(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", {"a.html": "<a href='b c.html'>", "b c.html": "x"})
    before = path.read_bytes()
    result = CliRunner().invoke(app, ["broken", str(path), "--fix", "--yes"])
    assert f"a.html: not changed: it is part of {path}; change it there and repack" in result.stderr
    assert path.read_bytes() == before


def test_a_missing_source(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["broken", str(tmp_path / "nope.html")])
    assert result.exit_code == 2
    assert "nope.html: there is no such file or folder" in result.stderr


def test_a_check_without_documents_does_not_report_success(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["broken", str(tmp_path)])
    assert "no documents were read" in result.stderr
    assert "no broken links" not in result.stderr


def test_a_diff_is_not_mixed_with_json_findings(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["broken", str(tmp_path), "--fix", "--format", "jsonl"])
    assert result.exit_code == 2
    assert "--fix prints a diff" in result.stderr


def test_files_outside_a_container_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "NEWS.gz").write_bytes(gzip.compress(b"see https://example.org/a#b and https://example.org/c#d\n"))
    summary = Summary()
    assert not list(find(tmp_path, summary=summary))
    assert (summary.documents, summary.outside, summary.read_again) == (1, 2, 0)


def test_relationships_are_relative_to_their_part(tmp_path: Path) -> None:
    """ECMA-376-2 6.5.3: not to the relationships file."""
    rels = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
    related = '<Relationship Id="r{}" Type="t" Target="{}"/>'
    targets = ("styles.xml", "media/a.png", "/docProps/app.xml", "../docProps/app.xml", "gone.xml")
    path = _zip(
        tmp_path / "a.docx",
        {
            "_rels/.rels": rels.format(related.format(1, "word/document.xml")),
            "word/document.xml": "<a/>",
            "word/_rels/document.xml.rels": rels.format("".join(map(related.format, range(9), targets))),
            **dict.fromkeys(("word/styles.xml", "word/media/a.png", "docProps/app.xml"), "<a/>"),
        },
    )
    results = [(finding.source.rpartition("!")[2], finding.reference, finding.kind) for finding in find([path])]
    assert results == [("word/_rels/document.xml.rels", "gone.xml", "no-document")]
