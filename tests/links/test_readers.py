"""Readers of documents: XML, style sheets, JSON, Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overthere import URI
from overthere.base import Base
from overthere.links.documents import css, json, markdown, plaintext, xml
from overthere.links.model import NOTES, Document, Found, Note, Options, PassedContent
from support import LONG, cases, linear

Reader = Callable[[Document, Options], Iterator[Found | Note | PassedContent]]
READERS: dict[str, Reader] = {"xml": xml.read, "css": css.read, "json": json.read, "markdown": markdown.read}
OUTER = Base(URI("http://h/a/b"), "retrieval", "retrieval")
ROWS = [(name, row) for name in READERS for row in cases(name)]


def read(name: str, content: str | bytes, charset: str | None = None) -> tuple[list[Found], list[str]]:
    """A reader's references, and its notes except that on vocabularies: the rows use invented ones."""
    octets = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    items = list(READERS[name](Document("d", octets, OUTER, charset=charset), Options(json=True)))
    return [x for x in items if isinstance(x, Found)], [
        x.kind for x in items if isinstance(x, Note) and x.kind != "no-vocabulary"
    ]


def summarize(item: Found) -> list[str]:
    """Place and reference, and the base or target if it is not the usual one."""
    details = [str(item.base.uri)] if item.base is not None else [item.target] if item.target is not None else []
    return [item.where, item.reference, *details]


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{name}-{row['id']}" for name, row in ROWS])
def test_references_of_the_cases(name: str, row: dict[str, Any]) -> None:
    content = bytes.fromhex(row["hex"]) if "hex" in row else row["input"]
    references, notes = read(name, content, row.get("charset"))
    assert [summarize(f) for f in references] == row["is"]
    assert notes == row.get("notes", [])


def test_bases_have_their_origin() -> None:
    references, _ = read("xml", '<r xml:base="x/"><h xmlns="http://www.w3.org/1999/xhtml"/><a href="b"/></r>')
    assert references[-1].base == Base(URI("http://h/a/x/"), "content", "xml:base")
    references, _ = read("xml", '<html><base href="x/"/><a href="b"/></html>')
    assert references[-1].base == Base(URI("http://h/a/x/"), "content", "HTML base")
    references, _ = read("json", '{"$id": "x/", "$ref": "b"}')
    assert references[-1].base == Base(URI("http://h/a/x/"), "content", "$id")


def test_json_is_read_on_request_only() -> None:
    assert list(json.read(Document("d", b'"http://x"', OUTER), Options())) == [PassedContent("json")]


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("content", [b"", b" \n", b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xff" * 9])
def test_almost_empty_documents(name: str, content: bytes) -> None:
    references, notes = read(name, content)
    assert references == []
    assert set(notes) <= {"wrong-charset", "corrupt", "truncated"}


@pytest.mark.parametrize("name", READERS)
def test_a_wrong_charset(name: str) -> None:
    assert "wrong-charset" in read(name, b'"\xff"', "utf-8")[1]
    assert "wrong-charset" in read(name, b'"x"', "no-such-charset")[1]


def test_nested_entities_are_limited() -> None:
    """A document that would expand without limit is abandoned before it does."""

    def laughs(numbers: Iterable[int]) -> str:
        return "".join(f'<!ENTITY e{i + 1} "' + f"&e{i};" * 10 + '">' for i in numbers)

    last = '<r href="&e20;"/>'
    assert read("xml", f'<!DOCTYPE r [<!ENTITY e0 "ha">{laughs(range(20))}]>{last}') == ([], ["too-large"])
    # Declared in reverse order, none is known when it is used.
    backwards = laughs(reversed(range(20)))
    assert read("xml", f'<!DOCTYPE r [{backwards}<!ENTITY e0 "ha">]>{last}') == ([], ["too-large"])
    text = '<!DOCTYPE r [<!ENTITY e "' + "x" * 50_000 + '">]><r>' + "&e;" * 1000 + "</r>"
    assert read("xml", text) == ([], ["too-large"])
    parameter = '<!DOCTYPE r [<!ENTITY % p "' + "<!ENTITY z 'y'>" * 5000 + '">' + "%p;" * 1000 + "]><r>&nbsp;</r>"
    assert read("xml", parameter) == ([], ["too-large"])


def test_entities_of_growing_length_are_linear() -> None:
    """Each is the longest so far: the maximum expansion is computed again."""

    def declare(count: int) -> None:
        texts = ("x" * n for n in range(1, int(count**0.5)))
        read("xml", f"<!DOCTYPE r [{''.join(f'<!ENTITY e{len(text)} {text!r}>' for text in texts)}]><r>&nbsp;</r>")

    linear(declare, 4_000_000)


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("http://h/?a&b", "http://h/?a&b"),
        ("http://h/?a&amp;b&c", "http://h/?a&b&c"),
        ("http://h/?a]]>b", "http://h/?a]]>b"),
        ("http://h/?a&amp;b\n]]>", "http://h/?a&b\n]]>"),
        ("<![CDATA[http://h/<b>&]]>c&d", "http://h/<b>&c&d"),
        ("http://h/<!-- <b> -->?a&b", "http://h/?a&b"),
    ],
)
def test_text_before_an_error_is_read_once(text: str, reference: str) -> None:
    """expat has reported a part of the text, and the token with the error has not begun at the error."""
    references, notes = read("xml", f"<feed><icon>{text}</icon></feed>")
    assert ([item.reference for item in references], notes) == ([reference], ["corrupt"])


def test_an_entity_without_a_declaration_stays_as_it_is_written() -> None:
    """Its declaration may be in the external subset, which is not read; a reference without it would be another."""
    references, _ = read("xml", '<!DOCTYPE r SYSTEM "d"><r href="http://&a.b-c;/&eacute;"><a href="&CDATA;"/></r>')
    assert [item.reference for item in references] == ["d", "http://&a.b-c;/é", "&CDATA;"]
    entities = "".join(f"&a{n};" for n in range(100_000))
    assert read("xml", f'<r><a href="&x;"/>{entities}<a href="b"/></r>')[1] == []


def test_the_own_declarations_of_a_document_take_precedence() -> None:
    """An external parameter entity counts as empty: the declarations after it come before those of HTML."""
    subset = '<!ENTITY % p SYSTEM "p"> %p; <!ENTITY copy "c"><!ENTITY own "o">'
    for doctype in ("r", "r SYSTEM 's'"):
        references, _ = read("xml", f'<!DOCTYPE {doctype} [{subset}]><r href="&copy;&own;&eacute;"/>')
        assert references[-1].reference == "coé"


def test_directives_of_myst_have_references_in_their_lines() -> None:
    text = (
        "```{figure} a b.png\n:target: http://h/a\n```\n\n```{admonition} [c](d)\n```\n\n```{image}\n```\n\n"
        "```{button-link} http://h/b\n```\n\n```{raw} html\n<a href=e>\n```\n\n```{figure-md}\n![f](g)\n```\n"
    )
    places = ["image", "autolink", "link", "autolink", "html a href", "image"]
    found = ["a b.png", "http://h/a", "d", "http://h/b", "e", "g"]
    references, _ = read("markdown", text)
    assert [(item.where, item.reference) for item in references] == list(zip(places, found, strict=True))
    assert [item.reference for item in read("markdown", "```{image} a\n```")[0]] == ["a"]
    text = "[a](b)\n:::{figure} c d.png \n:alt: [e](f)\n:::\n\n::::{grid}\n:::{image} g\n:::\n::::\n"
    assert [item.reference for item in read("markdown", text)[0]] == ["b", "c d.png", "f", "g"]


@pytest.mark.parametrize(
    "before",
    [
        "```no``` fence",
        "```\na\n```python\n```",
        "- ```py\n  a\n  ```",
        "1. - ~~~\n     a\n     ~~~",
        "~~~ a`b\n~~~\n",
        "```\n- ```\n```",
    ],
)
def test_indents_are_removed_after_code(before: str) -> None:
    """A code block seems to go on if its fences are counted otherwise than CommonMark 4.5 does."""
    references, _ = read("markdown", f"{before}\n\n!!! note\n\n    [a](b)\n")
    assert [item.reference for item in references] == ["b"]


def test_nested_bases_are_limited() -> None:
    text = "<r>" + '<a xml:base="abcdefghijklmno/">' * 1000 + '<a href="x"/>' + "</a>" * 1000 + "</r>"
    references, notes = read("xml", text)
    assert notes == ["too-large"]
    base = references[-1].base
    assert base is not None
    assert 4000 < len(str(base.uri)) <= 4096


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<project xmlns='http://m.example/p'><url>http://h/a</url></project>", [("url", "http://h/a")]),
        (
            "<p:r xmlns:p='x'>http://h/a<p:b>http://h/b</p:b>/c www.h.example<i href='d'/></p:r>",
            [("b", "http://h/b"), ("i href", "d"), ("r", "http://h/a"), ("r, abbreviated", "www.h.example")],
        ),
        ("<r>http://h/?a[]=1</r>", [("r, cut", "http://h/?a")]),
        ("<r><feed xmlns='http://www.w3.org/2005/Atom'><icon>i</icon><id>urn:x:y</id></feed></r>", None),
    ],
)
def test_unknown_xml_has_a_note_and_its_text_is_searched(text: str, found: list[tuple[str, str]] | None) -> None:
    items = list(READERS["xml"](Document("d", text.encode(), OUTER), Options()))
    notes = ["cut"] * any(item.where.endswith(", cut") for item in items if isinstance(item, Found))
    assert [item.kind for item in items if isinstance(item, Note)] == ["no-vocabulary", *notes]
    if found is not None:
        assert sorted((item.where, item.reference) for item in items if isinstance(item, Found)) == sorted(found)


@pytest.mark.parametrize(
    "root",
    [
        "feed", "rss", "urlset", "svg", "html", "concept", "map", "book", "package", "channel",
        "x xmlns='http://docbook.org/ns/docbook'", "w:document xmlns:w='http://schemas.openxmlformats.org/w/2006/main'",
        "o:c xmlns:o='urn:oasis:names:tc:opendocument:xmlns:office:1.0'", "TEI xmlns='http://www.tei-c.org/ns/1.0'",
    ],
)  # fmt: skip
def test_vocabularies_with_rules(root: str) -> None:
    text = f"<{root}>http://h/a</{root.partition(' ')[0]}>"
    assert list(READERS["xml"](Document("d", text.encode(), OUTER), Options())) == []


def test_long_names_are_shortened() -> None:
    """A long name in a document is not repeated with each reference."""
    locations = "n l " * 100
    name = "n" * 100_000
    references, _ = read("xml", f'<{name} xsi:schemaLocation="{locations}"/>')
    assert len(references) == 100
    assert all(len(f.where) < 200 for f in references)
    references, _ = read("json", '{"' + name + '": [' + '"http://x",' * 100 + "1]}")
    assert len(references) == 100
    assert all(len(f.where) < 1100 for f in references)


def test_long_tokens() -> None:
    """A token longer than what is read at once."""
    long = "x" * 300_000
    assert read("xml", f'<r><a href="{long}"/><b href="c"/></r>')[0][1] == Found("b href", "c")
    assert read("markdown", f"[a]({long})\n\n{'b ' * 100_000}\n\n[c](d)")[0][-1] == Found("link", "d")


def test_markdown_in_html() -> None:
    """md_in_html and kramdown read it without a blank line after the tag, if it has the attribute."""
    inner = '<div>\n[no](a)\n</div>\n\n<div markdown="0">\n[no](b)\n</div>\n'
    text = f'{inner}\n<div class="grid" markdown>\n[c](d)\n<b markdown="1">\n![e](f) <a href="g">h</a>\n</b></div>\n'
    references = [Found("link", "d"), Found("image", "f"), Found("html a href", "g")]
    assert [item for item in read("markdown", text)[0] if isinstance(item, Found)] == references
    assert len(read("markdown", '<div markdown="1">\n[a](b)\n' * 10_000)[0]) == 10_000
    text = '<p markdown>\n    <img src="a">\n    b <a href="c">\n</p>\n\n    <a href="no">\n'
    assert read("markdown", text)[0] == [Found("html img src", "a"), Found("html a href", "c")]


def test_markdown_in_pieces() -> None:
    count = 3 * markdown.MAX_PIECE_CHARACTERS // 20
    text = "".join(f"# {i}\n\nsome [text]({i})\n\n" for i in range(count))
    assert len(text) > 3 * markdown.MAX_PIECE_CHARACTERS
    assert [f.reference for f in read("markdown", text)[0]] == [str(i) for i in range(count)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_no_piece_of_markdown_ends_within_a_paragraph_or_a_code_block(end: str) -> None:
    """Line ends of other systems and long blocks: a reference was lost at each place where a text was split, and all
    behind a long code block."""
    count = markdown.MAX_PIECE_CHARACTERS // 8
    lines = ["!!! note", "", "    [a", f"b]({'x' * 80})", "", *(["[d", "e]: f", ""] * count)]
    assert len(read("markdown", end.join(lines))[0]) == 1 + count
    for fence in ("```", "~~~~ a`b", " ````"):
        marks = fence.split()[0]
        lines = [fence, f"{marks[:3]}x", *([f"x{marks}", "[a](b)", ""] * count), marks, "", "[c](d)"]
        assert read("markdown", end.join(lines)) == ([Found("link", "d")], [])


@pytest.mark.parametrize("tag", ["<img src=x>", "<img/src=x>", "<img<\nsrc=x>", "<br/><img/ src=x>"])
def test_attributes_behind_a_slash_are_read_in_markdown(tag: str) -> None:
    """In a block of HTML, a slash separates as a blank does (HTML 13.2.5.8)."""
    assert [found.reference for found in read("markdown", f"<div>\n{tag}\n</div>\n")[0]] == ["x"]


@pytest.mark.parametrize(("mark", "deepest"), [("> ", 19), ("- ", 9), ("1. ", 9)])
def test_content_dropped_by_markdown_it_has_a_note(mark: str, deepest: int) -> None:
    for depth in range(1, 60):
        references, notes = read("markdown", f"{mark * depth}[a](b)")
        assert (len(references), notes) == ((1, []) if depth <= deepest else (0, ["too-deep"]))
    assert read("markdown", f"{mark * 50_000}[a](b)") == ([], ["too-deep"])


def test_all_references_of_an_image_set_are_found() -> None:
    """The ")" of a url() with a string ended the set."""
    options = ('url("a")', "'b'", "url( c )", 'src("d")', "'e' type('image/png')", "url('f') type('image/png')", '"g"')
    text = f"p {{ background: image-set({', '.join(options)}) }} q {{ content: 'h' }} r {{ src: url(i) }}"
    assert [found.reference for found in read("css", text)[0]] == list("abcdefgi")


HOSTILE = {
    "xml": [
        "<a>", "<a ", "<a/>", "<", "&", "<!--", "<![CDATA[", "<?a?", "<!", "</", '<a "', "<a '\"", "<a b='", "]]>",
        "<!DOCTYPE a [", "<a xmlns='x'>", "<a b=c ", "<r xml:base='x/'>", "&amp;", "<a></b>", " a",
    ],
    "css": [
        "url(", "url('", 'url("\\', "'", '"\n', "/*", "\\", "@import ", "@import/*", "@import u", "@namespace a ",
        "image-set(", "image-set((", "src(", "u", "\\000075", "-", "(", ")", "/**/", "\\\n", "@",
    ],
    "json": ["[", '{"', '"', "\\", '{"a":', "]", ":", ",", "1", "a", '"http://x",', "[1,", '"\\u0041', "\"\\"],
    "markdown": [
        ">", "[", "![", "[a](", "*a ", "`", "<", "<a ", "- ", "_", "](", "<!--", "a <!-- ", "a <? ", "[]: ", "|",
        "\n", "[a]: x\n", "http://", "www.", "a@", "~~~\n", "[a](<", "&", "\t", "<div>\n\n", "![a](b",
    ],
}  # fmt: skip
REPEATED = [(name, piece) for name, pieces in HOSTILE.items() for piece in pieces]


@pytest.mark.parametrize(("name", "piece"), REPEATED, ids=[f"{name}-{piece!r}" for name, piece in REPEATED])
def test_hostile_text_is_linear(name: str, piece: str) -> None:
    start = {"xml": "<r>", "json": "["}.get(name, "")

    def use(size: int) -> None:
        _, notes = read(name, start + piece * (size // len(piece)))
        assert set(notes) <= set(NOTES)

    linear(use, 60_000 if name == "markdown" else LONG)


_TEXT = {
    "xml": "<>/=\"'&;! \n[]ax?-:#CDATA xmlns href xml:base <rss <svg <link>",
    "css": "url(\"'\\)/* \n@import;{}-set src 75",
    "json": '{}[]:,"\\ \nu0http://$id-1eE.',
    "markdown": "[]()<>!\\`*_ \n#-+1.>|&;:/@whttp=\"' a",
}


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_no_document_raises(name: str, data: st.DataObject) -> None:
    content = data.draw(
        st.binary(max_size=200) | st.text(max_size=200) | st.text(alphabet=sorted(set(_TEXT[name])), max_size=200)
    )
    charset = data.draw(st.sampled_from([None, "utf-8", "utf-16", "iso-8859-1", "shift_jis", "x"]))
    references, notes = read(name, content, charset)
    assert set(notes) <= set(NOTES)
    for reference in references:
        assert reference.reference == reference.reference.strip(" \t\r\n")


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{name}-{row['id']}" for name, row in ROWS])
def test_truncated_documents(name: str, row: dict[str, Any]) -> None:
    content = bytes.fromhex(row["hex"]) if "hex" in row else row["input"].encode()
    for end in range(len(content)):
        assert set(read(name, content[:end], row.get("charset"))[1]) <= set(NOTES)


def test_folded_lines_of_calendars_and_cards_are_joined() -> None:
    """RFC 5545 3.1 and 3.3.11, RFC 6350 3.2 and 3.4."""
    calendar = (
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nURL:https://h.example/a\r\n bc\r\n\td?x=1\\,2\r\n"
        'DESCRIPTION;ALTREP="https://h.example/al\r\n t":See https://h.example/e\\nand https://h.ex\r\n ample/f\\; '
        "there\r\n"
        "END:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    for text in (calendar, calendar.replace("VCALENDAR", "VCARD"), calendar.lower()):
        base = Base(URI("file:///a.ics"), "retrieval", "retrieval")
        document = Document("a.ics", text.encode(), base)
        references = [item.reference for item in plaintext.read(document, Options()) if isinstance(item, Found)]
        assert references == [f"https://h.example/{path}" for path in ("abcd?x=1,2", "alt", "e", "f")]
    plain = Document("a.txt", b"https://h.example/a\n bc\n", base)
    assert [item.reference for item in plaintext.read(plain, Options()) if isinstance(item, Found)] == [
        "https://h.example/a"
    ]
