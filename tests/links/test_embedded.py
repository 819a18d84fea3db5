"""Optional embedded syntaxes of HTML: metas, JSON-LD, import maps, speculation rules, `srcdoc`."""

from __future__ import annotations

import html as standard
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from overthere import URI, kernel
from overthere.base import Base
from overthere.broken.model import PASSED
from overthere.cli.app import app
from overthere.editions import whatwg
from overthere.links import batches, extract
from overthere.links.documents import embedded_data
from overthere.links.documents.html import ATTRIBUTES, EMBEDDED
from overthere.links.documents.scope import LONGEST
from overthere.links.job.reading import fill
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import Document, EmbeddedContent, Found, Link, Note, Options
from overthere.links.report.batch import links
from overthere.links.report.rows import Rows, _NativeRows, _PythonRows
from support import cases, ids, linear

CASES = cases("embedded")
BASE = Base(URI("http://h/a/b"), "retrieval", "retrieval")
WITH = Options(metadata=True)
native = pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")


@pytest.fixture(params=["native", "plain"])
def maker(request: pytest.FixtureRequest) -> type[Rows]:
    if request.param == "native" and kernel.name != "native":
        pytest.skip("the native kernel is absent or not asked for")
    return _NativeRows if request.param == "native" else _PythonRows


def rows(maker: type[Rows], text: str, options: Options = WITH, **kwargs: Any) -> tuple[list[Link], dict[str, int]]:
    """The rows of a document, and the skipped content."""
    builder = maker(options)  # type: ignore[call-arg]
    link_rows: list[Link] = []
    document = Document("s", text.encode("utf-8", "replace"), BASE, "text/html", **kwargs)
    for _ in fill(builder, document, "html", (), options):
        link_rows += links(builder.take())
    return [*link_rows, *links(builder.take())], dict(builder.passed_counts)


def is_embedded(row: Link) -> bool:
    place = row.where or ""
    named = EMBEDDED["property"] | EMBEDDED["attribute"]
    return " > " in place or place.partition(" ")[2] in named


@pytest.mark.parametrize("row", CASES, ids=ids(CASES))
def test_embedded_references_of_the_cases(row: dict[str, Any], maker: type[Rows]) -> None:
    link_rows, passed = rows(maker, row["html"])
    assert passed == {}
    page = next((link.target for link in link_rows if link.where == "base href"), str(BASE.uri))
    shown_rows = [
        [link.where, link.reference, link.target, *([] if link.base == page else [link.base])]
        for link in link_rows
        if link.where is not None and is_embedded(link)
    ]
    assert shown_rows == row["is"]
    assert [link.error for link in link_rows if link.reference is None] == row.get("notes", [])


@pytest.mark.parametrize("row", CASES, ids=ids(CASES))
def test_without_the_option_embedded_content_is_counted(row: dict[str, Any], maker: type[Rows]) -> None:
    """All other rows are the same, in the same order."""
    link_rows, passed = rows(maker, row["html"], Options())
    assert passed == row["passed"]
    assert not any(map(is_embedded, link_rows))
    expected = [link for link in rows(maker, row["html"])[0] if link.where is not None and not is_embedded(link)]
    assert link_rows == expected


@native
@pytest.mark.parametrize("row", CASES, ids=ids(CASES))
def test_both_kernels_give_the_same_rows(row: dict[str, Any]) -> None:
    assert rows(_NativeRows, row["html"]) == rows(_PythonRows, row["html"])


PIECES = [
    "<meta ", "property=", "name=", "content=", "og:image ", "twitter:url", "x ", '"', "'", ">", "<script type=",
    "</script>",
    "application/ld+json>", "importmap>", "speculationrules>", "<iframe srcdoc=", "<a href=y>", "<base href=d/>",
    "<svg>",
    "</svg>", '{"@id":', '"z"', "}", "[", "]", ",", ":", '"@context":{"@base":"e/"}', '"imports":{"/k":"./v"}',
    "&quot;",
    "&lt;", "&amp;", "<!--", "-->", "<template>", "\0", "\r\n", "http-equiv=refresh ", "0;url=q ", "é",
]  # fmt: skip


@native
@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=24).map("".join))
def test_both_kernels_agree_on_any_text(text: str) -> None:
    assert rows(_NativeRows, text) == rows(_PythonRows, text)
    assert rows(_NativeRows, text, Options()) == rows(_PythonRows, text, Options())


def test_a_term_with_an_invalid_prefix(maker: type[Rows]) -> None:
    """The expanded text is an invalid IRI: the row has the reason without an offset, which the source does not have."""
    found, _ = rows(maker, '<script type="application/ld+json">{"@context": {"p": "http:\x00"}, "@id": "p:"}</script>')
    assert [(link.reference, link.target, link.error, link.error_at) for link in found[1:]] == [
        ("p:", None, "iri-char", None)
    ]


def test_all_embedded_attributes_are_known() -> None:
    readings = {reading for _, _, reading in ATTRIBUTES}
    assert set(EMBEDDED) <= readings
    for names in EMBEDDED.values():
        for name, kind in names.items():
            assert embedded_data.kind(name) == kind


# -- depth and size


def nested(depth: int, inner: str = "<a href=x>") -> str:
    for _ in range(depth):
        inner = f'<iframe srcdoc="{standard.escape(inner)}"></iframe><a href=y>'
    return inner


def test_the_depth_of_srcdoc_is_limited(maker: type[Rows]) -> None:
    link_rows, _ = rows(maker, nested(WITH.depth))
    assert [link.reference for link in link_rows] == ["x", *"y" * WITH.depth]
    assert {link.target for link in link_rows} == {"http://h/a/x", "http://h/a/y"}
    link_rows, _ = rows(maker, nested(WITH.depth + 1))
    assert [link.error for link in link_rows if link.reference is None] == ["too-deep"]
    assert [link.reference for link in link_rows if link.reference] == ["y"] * (WITH.depth + 1)
    link_rows, _ = rows(maker, nested(3), depth=WITH.depth - 2)
    assert [link.error for link in link_rows if link.reference is None] == ["too-deep"]


def test_too_deep_json_has_one_note(maker: type[Rows]) -> None:
    script = '<script type="application/ld+json">' + '{"@context":[' * 5000 + "</script>"
    link_rows, _ = rows(maker, script * 2 + '<script type=importmap>{"imports"</script>' * 2 + "<a href=x>")
    assert [link.error for link in link_rows] == ["too-deep", "corrupt", None]


def test_a_too_long_base_has_a_note(maker: type[Rows]) -> None:
    long = "x" * LONGEST + "/"
    link_rows, _ = rows(maker, f"<iframe srcdoc='<base href={long}><a href=x>'></iframe>")
    assert {link.reference: link.target or link.error for link in link_rows} == {
        None: "too-large",
        long: f"http://h/a/{long}",
        "x": "http://h/a/x",
    }


HOSTILE: dict[str, str] = {
    "growing references": "&amp;amp;lt;",
    "metas": "<meta property=og:image content=x>",
    "properties": "<meta property='x og:image' content=x>",
    "documents": "<iframe srcdoc='<base href=x><a href=y>'></iframe>",
    "notes": "<script type=importmap>{</script>",
    "contexts": '{"@context":{"@base":"x/","t":{"@type":"@id"}},"t":"y"},',
    "terms": '"a":"b:c",',
    "names": '"url":"x",',
    "open": '[{"@context":',
    "keys": '"./x":"/y",',
    "prefixes": '{"@context":{"p":"http://h/"},"@id":"p:x"},',
}
AROUND = {
    "growing references": ("<iframe srcdoc='", "'>"),
    "contexts": ("<script type=application/ld+json>[", "]</script>"),
    "terms": ('<script type=application/ld+json>{"@context":{', "}}</script>"),
    "names": ("<script type=application/ld+json>{", "}</script>"),
    "open": ("<script type=application/ld+json>", "</script>"),
    "keys": ('<script type=importmap>{"imports":{', "}}</script>"),
    "prefixes": ("<script type=application/ld+json>[", "]</script>"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_embedded_content_is_linear(name: str, maker: type[Rows]) -> None:
    piece, (before, after) = HOSTILE[name], AROUND.get(name, ("", ""))
    linear(lambda size: rows(maker, before + piece * (size // len(piece)) + after), 120_000)


def test_nested_documents_are_linear(maker: type[Rows]) -> None:
    """Each level is read again, and there are at most `depth`: one megabyte nested in all of them."""
    linear(lambda size: rows(maker, nested(WITH.depth, "x" * size)), 1 << 19)
    linear(lambda size: rows(maker, nested(8, "<a href=x>" * (size // 10))), 120_000)


def test_a_long_base_is_resolved_once(maker: type[Rows]) -> None:
    """Not for each document and script in the page."""

    def read(size: int) -> object:
        page = "<base href='http://h/" + "x" * size + "/'>"
        content = "<iframe srcdoc='<base href=x>'></iframe><script type=application/ld+json>{</script>"
        return rows(maker, page + content * (size // len(content)))

    linear(read, 200_000)


# -- other documents, and options

HELD = (
    '<meta property="og:image" content="i"/><script type="application/ld+json">{"@id": "j"}</script>'
    '<iframe srcdoc="&lt;a href=k>"></iframe><img data-src="l"/>'
)
IN = ["meta og:image", "script ld+json > /@id", "iframe srcdoc > a href", "img data-src"]
DOCUMENTS = {
    "a.xhtml": (f'<html xmlns="http://www.w3.org/1999/xhtml" xml:base="/d/">{HELD}</html>', ""),
    "b.xml": (
        '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/d/"><content type="html">'
        f"<![CDATA[{HELD}]]></content></feed>",
        "content > ",
    ),
    "c.md": (HELD.replace("<script", "\n\n<script").replace("<iframe", "\n\n<div>x <iframe"), "html "),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_html_in_other_documents(tmp_path: Path, name: str) -> None:
    text, place = DOCUMENTS[name]
    (tmp_path / name).write_text(text)
    folder = "http://h/" if name == "c.md" else "http://h/d/"
    link_rows = [row for row in extract(tmp_path / name, "http://h/", metadata=True) if row.where is not None]
    assert [(row.where, row.target) for row in link_rows if "xml:base" not in (row.where or "")] == [
        (place + position, folder + reference) for position, reference in zip(IN, "ijkl", strict=True)
    ]
    assert passed(tmp_path / name) == {"meta": 1, "json-ld": 1, "srcdoc": 1, "data-src": 1}


def passed(path: Path, **kwargs: Any) -> dict[str, int]:
    (end,) = (batch for batch in batches(path, "http://h/", **kwargs) if isinstance(batch, TaskEnd))
    return end.passed


def test_json_ld_uses_the_base_of_other_documents(tmp_path: Path) -> None:
    content = '<script type="application/ld+json">{"@context": {"@base": "e/"}, "@id": "j"}</script>'
    (tmp_path / "a.xhtml").write_text(f'<html xmlns="http://www.w3.org/1999/xhtml" xml:base="/d/">{content}</html>')
    assert [row.target for row in extract(tmp_path / "a.xhtml", "http://h/", metadata=True)][-1] == "http://h/d/e/j"


def test_broken_describes_all_skipped_content() -> None:
    kinds = {kind for names in EMBEDDED.values() for kind in names.values()}
    assert kinds | {"json"} <= PASSED.keys()


def test_without_the_option_json_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"href": "x"}')
    assert (passed(tmp_path / "a.json"), list(extract(tmp_path / "a.json"))) == ({"json": 1}, [])
    assert [row.reference for row in extract(tmp_path / "a.json", json=True)] == ["x"]
    (end,) = (batch for batch in batches(tmp_path / "a.json", options=Options(json=True)) if isinstance(batch, TaskEnd))
    assert end.passed == {}


@pytest.mark.parametrize("workers", [1, 2])
def test_the_counts_reach_the_summary(tmp_path: Path, workers: int) -> None:
    for number in range(3):
        (tmp_path / f"{number}.html").write_text(HELD)
    counted: dict[str, int] = {}
    for batch in batches(tmp_path, "http://h/", workers=workers):
        for kind, count in batch.passed.items() if isinstance(batch, TaskEnd) else ():
            counted[kind] = counted.get(kind, 0) + count
    assert counted == {"meta": 3, "json-ld": 3, "srcdoc": 3, "data-src": 3}


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(HELD)
    page, table = str(tmp_path / "a.html"), tmp_path / "t.jsonl"
    result = CliRunner().invoke(app, ["links", page, "--base", "http://h/", "-o", str(table)])
    assert result.exit_code == 0, result.stderr
    assert table.read_text() == ""
    assert "  skipped   4   data-src 1, json-ld 1, meta 1, srcdoc 1" in result.stderr
    command = ["links", page, "--base", "http://h/", "-o", str(table), "--metadata"]
    result = CliRunner().invoke(app, command)
    assert (result.exit_code, "skipped" in result.stderr) == (0, False)
    assert [json.loads(line)["where"] for line in table.read_text().splitlines()] == IN
    result = CliRunner().invoke(app, [*command[:-1], "--resume"])
    assert result.exit_code == 2  # it would be another table


@pytest.mark.skipif(not whatwg.available(), reason="ada is absent")
def test_browsers_have_the_same_bases(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<base href='http://H/d/'><iframe srcdoc='<a href=\"x y\"><base href=e/>'></iframe>"
        "<iframe srcdoc='<a href=\"z w\">'>"
    )
    browsers = {row.reference: row.browser for row in extract(tmp_path / "a.html", metadata=True, whatwg=True)}
    assert (browsers["x y"], browsers["z w"]) == ("http://h/d/e/x%20y", "http://h/d/z%20w")


def test_without_options_nothing_embedded_is_read() -> None:
    content = EmbeddedContent("application/ld+json", '{"@id": "x"}')
    assert [type(item).__name__ for item in embedded_data.read(content, BASE, Options())] == ["PassedContent"]
    assert list(embedded_data.read(content, BASE, WITH)) == [Found("script ld+json > /@id", "x")]
    assert list(embedded_data.read(content._replace(text="{"), BASE, WITH)) == [Note("corrupt")]
