"""The column `browser`: how browsers resolve the references of documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from overthere import kernel
from overthere.editions import whatwg
from overthere.links import Link, Options, batches, extract, schema
from overthere.links.documents.html import decode
from overthere.links.job.task_rows import TaskEnd
from overthere.links.report.browser_column import output_encoding
from overthere.links.report.table import open_writer

pytestmark = pytest.mark.skipif(not whatwg.available(), reason="ada is absent")


def browser_rows(folder: Path, page: bytes, name: str = "p.html") -> list[tuple[str | None, ...]]:
    (folder / name).write_bytes(page)
    table = extract([folder / name], "http://h/d/", whatwg=True)
    return [(row.reference, row.target, row.browser) for row in table if row.reference is not None]


@pytest.fixture(params=["native", "reference"], autouse=True)
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "native" and kernel.name != "native":
        pytest.skip("the native kernel is absent or not asked for")
    if request.param == "reference":
        monkeypatch.setattr(kernel, "name", "reference")


@pytest.mark.parametrize(
    ("reference", "target", "browser"),
    [
        ("x", "http://h/d/x", None),
        ("http://o.example", "http://o.example", "http://o.example/"),
        ("a b", "http://h/d/a%20b", None),
        ("a\\b", None, "http://h/d/a/b"),
        ("\\x", None, "http://h/x"),
        ("HTTP://O.example/%7e", "HTTP://O.example/%7e", "http://o.example/%7e"),
        ("http:x", "http:x", "http://h/d/x"),
        ("http://o.example:99999/", "http://o.example:99999/", ""),
        ("http://[", None, None),
        ("http://bücher.example/", "http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"),
        ("?ü", "http://h/d/p.html?%C3%BC", None),
        ("mailto:a@b", "mailto:a@b", None),
    ],
)
def test_references_in_browsers(tmp_path: Path, reference: str, target: str | None, browser: str | None) -> None:
    assert browser_rows(tmp_path, f'<a href="{reference}">'.encode()) == [(reference, target, browser)]


@pytest.mark.parametrize(
    ("charset", "query", "browser"),
    [
        ("iso-8859-1", "é#é", "%E9#%C3%A9"),
        ("iso-8859-1", "&#x20AC;&#x4E00;", "%80%26%2319968%3B"),
        ("shift_jis", "表'", "%95\\%27"),
        ("gbk", "中", "%D6%D0"),
        ("koi8-r", "Я", "%F1"),
        ("utf-8", "é", None),
        ("utf-16", "é", None),
    ],
)
def test_queries_are_in_the_charset_of_the_page(tmp_path: Path, charset: str, query: str, browser: str | None) -> None:
    page = f'<meta charset={charset}><a href="?q={query}">'.encode("utf-8" if charset == "utf-16" else charset)
    ((_, _, told),) = browser_rows(tmp_path, page)
    assert told == (None if browser is None else f"http://h/d/p.html?q={browser}")


def test_unencodable_characters_in_queries(tmp_path: Path) -> None:
    page = '<meta charset=koi8-r><p style="a: url(?Я)"><a href="x:?Я"><a href=Я><a href="ws://h/?Я">'
    assert [row[2] for row in browser_rows(tmp_path, page.encode("koi8-r"))] == [None, None, None, None]
    feed = '<?xml version="1.0" encoding="koi8-r"?><rss><channel><link>http://h/?Я</link></channel></rss>'
    assert [row[1:] for row in browser_rows(tmp_path, feed.encode("koi8-r"), "p.xml")] == [("http://h/?%D0%AF", None)]


def test_the_base_in_browsers(tmp_path: Path) -> None:
    page = b'<link href=a><base href="http://o.example\\b/"><base href=z><a href=a><a href="">'
    assert browser_rows(tmp_path, page) == [
        ("a", "http://h/d/a", "http://o.example/b/a"),
        ("http://o.example\\b/", None, "http://o.example/b/"),
        ("z", "http://h/d/z", None),
        ("a", "http://h/d/a", "http://o.example/b/a"),
        ("", "http://h/d/p.html", "http://o.example/b/"),
    ]


@pytest.mark.parametrize("base", ["x", None])
@pytest.mark.parametrize(
    "ignored",
    [
        "<template><base href=no/></template>",
        "<svg><base href=no/ /></svg>",
        "<math><base href=no/ /></math>",
        "<frameset><base href=no/>",
        "<p><base href=no/></p><frameset>",
    ],
)
def test_a_base_that_browsers_ignore_is_ignored(tmp_path: Path, ignored: str, base: str | None) -> None:
    """For the target and for the column: compared with Chromium by bench/browser.py."""
    front = "" if base is None else '<base href="http://o.example/">'
    link_rows = browser_rows(tmp_path, f'{front}{ignored}<frame src="x"><a href="x">'.encode())
    ignored_base = "http://h/d/" if base is None else "http://o.example/"
    assert [row for row in link_rows if row[0] == "x"] == [("x", f"{ignored_base}x", None)] * 2


def test_references_in_plain_text_have_no_browser_target(tmp_path: Path) -> None:
    assert [row[2] for row in browser_rows(tmp_path, b"see http://o.example or www.o.example", "p.txt")][:1] == [None]


def test_many_documents_and_batches(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"<a href=http://o.example>" * 20_000)
    (tmp_path / "b.html").write_bytes(b"<p>")
    (tmp_path / "c.html").write_bytes(b"<a href=http://o.example>")
    (tmp_path / "d.txt").write_bytes(b"http://o.example")
    opened = [row.browser for row in extract(tmp_path, whatwg=True) if row.reference is not None]
    assert opened == ["http://o.example/"] * 20_001 + [None]


def test_without_the_option_the_column_is_null(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"<a href=http://o.example>")
    (row,) = extract(tmp_path / "a.html")
    assert row.browser is None
    assert schema().names == list(Link._fields)
    assert schema().names[-1] == "browser"
    for name in ("t.parquet", "t.csv", "t.jsonl", "t.arrow"):
        with open_writer(tmp_path / name) as writer:
            for batch in batches(tmp_path / "a.html", options=Options(whatwg=True)):
                if not isinstance(batch, TaskEnd):
                    writer.write(batch)
        assert b"http://o.example/" in (tmp_path / name).read_bytes()


def test_without_ada(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overthere.ground.extras.find_spec", lambda name: None if name == "ada_url" else object())
    with pytest.raises(ModuleNotFoundError, match=r"ada_url is not installed: pip install 'overthere\[whatwg\]'"):
        list(extract(tmp_path, whatwg=True))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<p>", None),
        (b"\xe9", None),
        (b"<meta charset=koi8-r>\xe9", None),
        (b"<meta charset=koi8-r>\xe9", "iso-8859-2"),
        (b"\xef\xbb\xbf<meta charset=koi8-r>", "iso-8859-2"),
        (b"<meta charset=nobody>\xe9", "nobody"),
        (b"<meta charset=utf-16>x", None),
    ],
)
def test_the_encoding_for_queries_is_that_of_the_document(content: bytes, message: str | None) -> None:
    text, _ = decode(content, message)
    decoded = content.removeprefix(b"\xef\xbb\xbf").decode(output_encoding(content, message).replace("windows-", "cp"))
    assert decoded == text
