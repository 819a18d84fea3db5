"""HTML: markup as in the tree that the Standard builds; the same natively and in Python; encodings."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overthere import URI, kernel
from overthere.base import Base
from overthere.links.documents import tree
from overthere.links.documents.charset import encoding
from overthere.links.documents.html import ATTRIBUTES, decode, read
from overthere.links.documents.tokens import Start, tokens
from overthere.links.job.extraction import extract
from overthere.links.job.reading import fill
from overthere.links.model import Document, Link, Options
from overthere.links.report.batch import links
from overthere.links.report.rows import Rows, _NativeRows, _PythonRows
from support import NO_SUITE, ROOT, cases, ids, linear, suite

HTML5LIB = suite("html5lib")
BASE = Base(URI("http://h/a/b"), "retrieval", "retrieval")
native = pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")
absent = pytest.mark.skipif(not HTML5LIB.exists(), reason=NO_SUITE)


@pytest.fixture(params=["native", "plain"])
def maker(request: pytest.FixtureRequest) -> type[Rows]:
    if request.param == "native" and kernel.name != "native":
        pytest.skip("the native kernel is absent or not asked for")
    return _NativeRows if request.param == "native" else _PythonRows


def inputs() -> Iterator[str]:
    """The documents and fragments of html5lib-tests."""
    for file in sorted((HTML5LIB / "tree-construction").glob("*.dat")):
        for part in re.split(r"(?:^|\n\n)#data\n", file.read_bytes().decode("utf-8", "replace"))[1:]:
            yield part.partition("\n#errors")[0].partition("#errors")[0]


def marked(text: str) -> str:
    """With an attribute in all that looks like a start tag, and a reference after what may swallow it."""
    count = iter(range(1_000_000))
    text = re.sub(r"<[a-zA-Z][^\s/>]*(?=[\s/>])", lambda match: f"{match[0]} href=u{next(count)} ", text)
    return f"{text}<title></title><svg><title/></svg><a href=after>"


def rows(maker: type[Rows], text: str) -> list[Link]:
    builder = maker(Options())  # type: ignore[call-arg]
    link_rows: list[Link] = []
    for _ in fill(builder, Document("s", text.encode(), BASE, "text/html"), "html", (), Options()):
        link_rows += links(builder.take())
    return link_rows + list(links(builder.take()))


def of_tokens(text: str) -> list[str]:
    return [item.attributes["href"] for item in tokens(text) if isinstance(item, Start) and "href" in item.attributes]


def of_tree(text: str) -> set[str]:
    """The same attributes in a complete tree, built by an HTML parser."""
    from justhtml import JustHTML

    nodes: list[Any] = [JustHTML(text, sanitize=False, scripting_enabled=False).root]
    texts: set[str] = set()
    while nodes:
        node = nodes.pop()
        attributes = getattr(node, "attrs", None) or {}
        texts |= {attributes["href"]} if "href" in attributes else set()
        nodes += getattr(node, "children", None) or ()
        nodes += filter(None, [getattr(node, "template_content", None)])
    return texts


@absent
def test_tokens_include_all_elements_of_the_tree() -> None:
    """Further tokens are start tags that tree construction ignores: in a frameset, of tables elsewhere."""
    count = 0
    for text in map(marked, inputs()):
        count += 1
        assert of_tree(text) <= set(of_tokens(text)), text
    assert count > 1500


@absent
@native
def test_both_kernels_agree_on_html5lib_documents() -> None:
    for text in inputs():
        assert rows(_NativeRows, text) == rows(_PythonRows, text), text
        text = marked(text)
        assert rows(_NativeRows, text) == rows(_PythonRows, text), text


PAGES = sorted((ROOT / "examples").rglob("*.html"))


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_both_kernels_and_the_tree_agree_on_pages(page: Path, maker: type[Rows]) -> None:
    text = page.read_text()
    assert rows(maker, text) == rows(_PythonRows, text)
    assert set(of_tokens(text)) == of_tree(text)


TAGS = [
    "template", "svg", "math", "foreignObject", "desc", "title", "style", "script", "mi", "mtext", "annotation-xml",
    "mglyph", "g", "path", "div", "p", "span", "a", "b", "i", "font", "h1", "textarea", "plaintext", "iframe",
]  # fmt: skip
PIECES = st.one_of(
    st.builds("<{} href=x>".format, st.sampled_from(TAGS)),
    st.builds("</{}>".format, st.sampled_from(TAGS)),
    st.builds("<{} href=y />".format, st.sampled_from(TAGS)),
    st.sampled_from(
        ["a{b:url(c)}", "<![CDATA[<a href=n>]]>", "<!-- <a href=n> -->", "<font color>", "<path fill='url(d)'>",
         "<annotation-xml encoding=TEXT/html>", "<base href=e>", "&amp;", "<td>", "</tr>", "<table>", "</table>",
         "\r\n", "\0", "<noscript>"]
    ),
)  # fmt: skip


@native
@settings(deadline=None, max_examples=300)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_both_kernels_agree_on_foreign_content(text: str) -> None:
    text += "<a href=after>"
    assert rows(_NativeRows, text) == rows(_PythonRows, text)


SIMPLE = [tag for tag in TAGS if tag not in ("plaintext", "iframe")]


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from("<<</ "), st.sampled_from(SIMPLE)), max_size=12))
def test_foreign_content_agrees_with_a_tree(tags: list[tuple[str, str]]) -> None:
    text = "".join(
        f"</{tag}>" if count == "/" else f"<{tag} href={number}{' /' if count == ' ' else ''}>"
        for number, (count, tag) in enumerate(tags)
    )
    text += "<title href=t></title><a href=after>"
    assert of_tree(text) == set(of_tokens(text))


HTML = cases("html")


@pytest.mark.parametrize("row", HTML, ids=ids(HTML))
def test_targets_are_resolved_against_the_right_base(row: dict[str, Any], maker: type[Rows]) -> None:
    """That of the document, or the codebase of an element (HTML 4.01 13.3.1), which is then in the row."""
    link_rows = rows(maker, row["html"])
    base = BASE.uri.join(row.get("base", ""))
    if "targets" in row:
        assert [link.target for link in link_rows] == [str(BASE.uri.join(text)) for text in row["targets"]]
    else:
        bases = {"base href": BASE.uri}
        for link in link_rows:
            assert link.base == str(bases.get(link.where or "", base))


def test_the_codebase_is_in_the_row(maker: type[Rows]) -> None:
    link_rows = rows(maker, "<object data=x codebase=q/><object data=y><applet codebase=no: code=z>")
    assert [(link.where, link.base, link.base_from) for link in link_rows] == [
        ("object data", "http://h/a/q/", "content"),
        ("object codebase", "http://h/a/b", "retrieval"),
        ("object data", "http://h/a/b", "retrieval"),
        ("applet codebase", "http://h/a/b", "retrieval"),
        ("applet code", "no:", "content"),
    ]


def test_codebases_in_other_documents(tmp_path: Path) -> None:
    """XHTML, HTML in a feed, HTML in Markdown."""
    page = "<object codebase='q/' data='x'></object>"
    files = {
        "a.xhtml": f"<html xmlns='http://www.w3.org/1999/xhtml'>{page}</html>",
        "b.xml": f"<feed xmlns='http://www.w3.org/2005/Atom'><content type='html'><![CDATA[{page}]]></content></feed>",
        "c.md": page,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    table = extract([str(tmp_path / name) for name in files], base="http://h/")
    assert [link.target for link in table if "data" in (link.where or "")] == ["http://h/q/x"] * 3


def test_a_too_deep_template_has_a_note(maker: type[Rows]) -> None:
    assert [row.error for row in rows(maker, "<template>" + "<p>" * 5000 + "<a href=x>")] == ["too-deep", None]
    assert [row.error for row in rows(maker, "<template></template>" + "<p>" * 5000 + "<a href=x>")] == [None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<a href=x>", []),
        ("<a href=x><!-- <a href=y>", ["unclosed"]),
        ("<!-- <a href=y> -->", []),
        ("<!-- a -- b > --!>", []),
        *((f"<!--{end}", []) for end in (">", "->", "-->", "--->", "--!>")),
        *((f"<!--{end}", ["unclosed"]) for end in ("", "-", "--", "--!", "-!>", "- ->")),
        ("<!-- --><a href='x>", ["unclosed"]),
        ("<a href=x", ["unclosed"]),
        ("</a", ["unclosed"]),
        ("<", []),
        ("</", []),
        ("<!", []),
        ("<!doctype html", []),  # it ends at the next ">", and contains no tag
        ("<?php <!-- <a href", []),
        ("<![CDATA[<a href=x", []),
        ("<svg><![CDATA[<a href=x>", ["unclosed"]),
        ("<svg><![CDATA[<a href=x>]]>", []),
        ("<svg></svg><![CDATA[ <a href=x>", []),
        *((f"<{name}> <a href=x>", ["unclosed"]) for name in ("script", "textarea", "title", "style", "xmp", "iframe")),
        *((f"<{name}> <a href=x></{name}>", []) for name in ("script", "textarea", "title", "style", "xmp")),
        ("<script></script", ["unclosed"]),
        ("<script></script ", ["unclosed"]),
        ("<script><!-- <script> </script>", ["unclosed"]),
        ("<plaintext><a href=x>", []),
        ("<svg><title><a href=x>", []),
    ],
)
def test_unclosed_content_at_the_end_has_a_note(maker: type[Rows], text: str, expected: list[str]) -> None:
    assert [row.error for row in rows(maker, text) if row.error] == expected


@native
def test_both_kernels_note_a_truncated_page_alike() -> None:
    chance = random.Random(1)
    pieces = [
        "<a href='x",
        "y'>",
        "<!--",
        "-->",
        "--!>",
        "->",
        "<script>",
        "</script>",
        "<svg>",
        "<![CDATA[",
        "]]>",
        " a",
    ]
    pages = [*list(inputs())[::7], *("".join(chance.choices(pieces, k=12)) for _ in range(150))]
    texts = [text[:most] for text in pages for most in range(1, min(len(text), 80))]
    counts = Counter("unclosed" in {row.error for row in rows(_NativeRows, text)} for text in texts)
    for text in texts:
        assert rows(_NativeRows, text) == rows(_PythonRows, text), text
    assert min(counts[True], counts[False]) > 1000


# Every name in a rule, and some in none.
NAMES = sorted(
    tree.NO_END | tree.BREAKOUT | tree.SPECIAL | tree.SCOPES
    | {name for names in tree.POINTS.values() for name in names}
    | {"annotation-xml", "mglyph", "malignmark", "svg", "math", "font", "x-y", "a", "label"}
)  # fmt: skip


@native
@pytest.mark.parametrize("name", NAMES)
def test_both_kernels_have_the_same_rules(name: str) -> None:
    for text in (
        f"<svg><{name} href=a><title href=b><a href=c></title></{name}><title/><a href=d>",
        f"<math><{name} href=a><title href=b><a href=c></title></{name}><title/><a href=d>",
        f"<{name}><svg><g></{name}><title/><a href=d></title><a href=e>",
        f"<{name}><b><div><svg><g></{name}><title/><a href=d></title><a href=e>",
        f"<b><{name}><svg><g></b><title/><a href=d></title><a href=e>",
        f"<div><{name}><svg><g></div><title/><a href=d></title><a href=e>",
    ):
        assert rows(_NativeRows, text) == rows(_PythonRows, text), text


def test_too_deep_nesting_has_a_note(maker: type[Rows]) -> None:
    """Unclosed HTML elements are dropped without loss; those of SVG have a note."""
    assert [row.error for row in rows(maker, "<p>" * 5000 + "<svg><title/><a href=x>")] == [None]
    assert [row.error for row in rows(maker, "<svg>" + "<g>" * 5000 + "<a href=x>")] == ["too-deep", None]


@pytest.mark.parametrize(
    "piece",
    [
        "<noscript>",
        "<svg>",
        "<b>",
        "</b>",
        "<div><svg></x>",
        "<svg><desc>",
        "</p>",
        "<table><td>",
        "<template><b>",
        "<template></template>",
    ],
)
def test_nesting_takes_little_memory(piece: str) -> None:
    most = 0
    watched = tree.Tree()
    for _ in range(3000):
        for end, name in re.findall(r"<(/?)(\w+)>", piece):
            if end:
                watched.end(name)
            else:
                watched.start(name, {}, False)
        most = max(most, len(watched.open))
    assert most <= tree.DEPTH
    assert sum(watched.counts.values()) == len(watched.open)
    assert watched.templates == watched.counts.get("template", 0)


HOSTILE = [
    "<!-- -", "<a ", "<a b='", "<a b=c ", "<svg><", "</x>", "<script><!--<script>", "<meta charset=x ", "<![CDATA[",
    "<svg><style>x&", "<title></title ", "<noscript>", "<b></i>", "<p><b></p>", "<svg><foreignObject><div>",
    "<span><svg><desc></span>", "<template>", "<template><b></template>", "<template><base href=x>",
    "<annotation-xml encoding=a ", "<a href=&#",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_reading_html_is_linear(piece: str) -> None:
    def both(size: int) -> None:
        text = piece * (size // len(piece))
        read(text)
        decode(text.encode())

    linear(both, 800_000)


def test_noscript_in_noscript(maker: type[Rows]) -> None:
    text = "<noscript>" * 50_000 + "<a href=x>" + "</noscript>" * 50_000 + "<a href=y>"
    assert [row.reference for row in rows(maker, text)] == ["x", "y"]


def test_paint_attributes_apply_to_svg_only() -> None:
    assert {reading for name, _, reading in ATTRIBUTES if name in ("fill", "clip-path")} == {"paint"}


# -- encodings


@absent
def test_encodings_of_html5lib() -> None:
    count = 0
    for file in sorted((HTML5LIB / "encoding").glob("*.dat")):
        for part in re.split(rb"(?:^|\n)#data\n", file.read_bytes())[1:]:
            data, _, name = part.partition(b"\n#encoding\n")
            codec = encoding(name.split(b"\n")[0].decode())
            # Non-ASCII, so that the result shows the encoding.
            probe = b"<p>\xe4\xf6\xc3\x28"
            assert codec is not None
            expected = probe.decode(codec, "replace")
            assert decode(data + probe)[0].endswith(expected), (file.name, data)
            count += 1
    assert count > 80


LATE = b"<!-- " + b"x" * 2000 + b" -->"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"<!-- <meta charset=koi8-r> -->", None),
        (b"<!-- > <meta charset=koi8-r> -->", None),
        (b"<meta content='charset=koi8-r'>", None),
        (b"<meta name=description content='text; charset=koi8-r'>", None),
        (b"<meta http-equiv=Content-Type content='x charset = \"koi8-r\"'>", "koi8-r"),
        (b"<meta content='text/html; charset=koi8-r' http-equiv=content-type>", "koi8-r"),
        (b"<meta http-equiv=content-type content='text/html; charset'>", None),
        (b"<meta charset=no-such><meta charset=koi8-r>", "koi8-r"),
        (b"<META/CHARSET = 'KOI8-R' charset=latin1>", "koi8-r"),
        (b"<metas charset=koi8-r>", None),
        (b"<a title='<meta charset=koi8-r>'>", None),
        (b"<meta charset=gbk>", "gb18030"),
        (b"<meta charset=utf-16le>", "utf-8"),
        (b"<meta charset=x-user-defined>", "cp1252"),
        (b"<?xml version='1.0' encoding='koi8-r'?>", "koi8-r"),
        (b"<?xml version='1.0' encoding='utf-16'?>", "utf-8"),
        (LATE + b"<meta charset=koi8-r>", "koi8-r"),
        (LATE + b"<meta name='>' charset=koi8-r><meta charset=latin1>", "koi8-r"),
        (LATE + b"<meta http-equiv=content-type content=';charset=koi8-r'>", "koi8-r"),
        (LATE + b"<script>'<meta charset=koi8-r>'</script><title><meta charset=koi8-r></title>", None),
        (LATE + b"<meta charset=no-such><meta name=x content='charset=koi8-r'><meta charset=koi8-r>", "koi8-r"),
        (b"x" * 1018 + b"<meta charset=koi8-r>", "koi8-r"),
    ],
)
def test_declared_encodings(data: bytes, name: str | None) -> None:
    probe = b"<p>\xc1\xe4\xa3\xa4"
    assert decode(data + probe)[0] == (data + probe).decode(name or "cp1252", "replace")


@pytest.mark.parametrize(
    ("data", "message", "text", "wrong"),
    [
        (b"<meta charset=koi8-r>\xc1", "utf-8", "\ufffd", True),
        (b"<meta charset=koi8-r>\xc1", "no-such", "а", True),
        (b"<meta charset=no-such>\xc3\xbc", None, "ü", True),
        (b"<meta charset=koi8-r>\xc1", None, "а", False),
        (b"\x81\x30\x81\x30", "gbk", "\x80", False),
        (b"\x87\x40", "shift_jis", "①", False),
    ],
)
def test_notes_about_the_encoding(data: bytes, message: str | None, text: str, wrong: bool) -> None:
    read, note = decode(data, message)
    assert (read.rpartition(">")[2], note) == (text, wrong)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["<!DOCTYPE html><a href=\u0416>", "\n\t <a href=\u0416>", "<p>x<a href='\u0416'>"])
@pytest.mark.parametrize("message", [None, "utf-8", "no-such"])
def test_utf_16_without_byte_order_mark_or_label(codec: str, text: str, message: str | None) -> None:
    """Browsers show nothing of it; its links are read, with a note."""
    assert decode(text.encode(codec), message) == (text, True)
    assert decode(text.encode(codec), codec.replace("16-", "16")) == (text, False)


def test_utf_16_declared_by_an_xml_declaration() -> None:
    text = "<?xml version='1.0'?><html><a href='\u0416'/></html>"
    assert decode(text.encode("utf-16-be")) == (text, False)


@given(st.binary(), st.sampled_from([b"", b"<meta charset=", b"<meta content='charset=", LATE + b"<meta charset='"]))
def test_any_bytes_are_decoded(data: bytes, before: bytes) -> None:
    assert isinstance(decode(before + data)[0], str)


# -- limits on the size of the rows


@pytest.mark.parametrize("base", [1_000, 100_000, 900_000])
def test_a_long_base_does_not_exceed_the_limit(maker: type[Rows], base: int) -> None:
    """It is in every row and target: the size of all rows of a document is limited, in bytes."""
    content = b"<base href='http://h/" + b"x" * base + b"/'>" + b"<a href=y>" * ((1_000_000 - base) // 10)
    builder = maker(Options())  # type: ignore[call-arg]
    total, largest, notes = 0, 0, set()
    batches = fill(builder, Document("s", content, BASE, "text/html"), "html", (), Options())
    for batch in (builder.take() for _ in iter(lambda: next(batches, batches), batches)):
        total += batch.nbytes
        largest = max(largest, batch.nbytes)
        notes |= set(batch.column("error"))
    last = builder.take()
    assert "too-large" in notes | set(last.column("error"))
    # The text is counted as in rows; Arrow adds offsets.
    assert total + last.nbytes < 1.5 * (64 * len(content) + (1 << 25))
    assert largest < (1 << 24) + 8 * base + (1 << 22)


def test_an_ordinary_base_is_not_too_long(maker: type[Rows]) -> None:
    content = "<base href='http://h/" + "x" * 80 + "/'>" + "<a href=y>" * 20_000
    assert {row.error for row in rows(maker, content)} == {None}
