"""Rows of the link table: the same natively and in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overthere import URI, Rung, kernel
from overthere.base import Base
from overthere.links.job.reading import fill
from overthere.links.model import Document, Found, Link, Options
from overthere.links.report.batch import links
from overthere.links.report.record_pages import BATCH
from overthere.links.report.rows import Rows, _NativeRows, _PythonRows
from support import cases, ids, linear

HTML = cases("html")
BASE = Base(URI("http://h/a/b"), "retrieval", "retrieval")
native = pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")


def document(content: bytes, **kwargs: Any) -> Document:
    return Document("s", content, BASE, "text/html", **kwargs)


def rows_of(
    rows: Rows, item: Document, take: Callable[[Rows], Iterable[Link]] = lambda rows: links(rows.take())
) -> list[Link]:
    link_rows: list[Link] = []
    for _ in fill(rows, item, "html", (), Options()):
        link_rows += take(rows)
    return link_rows + list(take(rows))


@native
@pytest.mark.parametrize("row", HTML, ids=ids(HTML))
def test_references_in_html(row: dict[str, Any]) -> None:
    link_rows = rows_of(_NativeRows(Options()), document(row["html"].encode()))
    assert [[link.where, link.reference] for link in link_rows if link.where] == row["is"]


@native
@pytest.mark.parametrize("rung", [Rung.CASE, Rung.SYNTAX, Rung.SCHEME])
@pytest.mark.parametrize("row", HTML, ids=ids(HTML))
def test_both_kernels_give_the_same_rows(row: dict[str, Any], rung: Rung) -> None:
    page = document(row["html"].encode(), parts={"http://h/a/x": "s!1", "cid:a@b": "s!2"})
    options = Options(rung)
    assert rows_of(_NativeRows(options), page) == rows_of(_PythonRows(options), page)


MAKERS = [_NativeRows, _PythonRows] if kernel.name == "native" else [_PythonRows]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("row", HTML, ids=ids(HTML))
def test_rows_without_pyarrow_equal_those_of_a_batch(
    row: dict[str, Any], make: type[_NativeRows | _PythonRows]
) -> None:
    page = document(row["html"].encode(), parts={"http://h/a/x": "s!1", "cid:a@b": "s!2"})
    assert rows_of(make(Options()), page, lambda rows: rows.take_links()) == rows_of(make(Options()), page)


@pytest.mark.parametrize("make", MAKERS)
def test_every_field_without_pyarrow_equals_that_of_a_batch(make: type[_NativeRows | _PythonRows]) -> None:
    both = make(Options()), make(Options())
    for rows in both:
        for name in ("s", "s", "\U0001f517", ""):
            page = document(b"")._replace(source=name, parts={"http://h/a/x": "p"})
            rows.add(
                page, BASE, [Found("link", text) for text in ("x", "x#", "#é", "\udc80", "%", "", "//H:80/\U0001f517")]
            )
            rows.add_note(page, "unreadable")
    assert both[0].take_links() == list(links(both[1].take()))
    assert [both[0].take_links(), len(both[0]), both[0].text_bytes] == [[], 0, 0]


@pytest.mark.parametrize("make", MAKERS)
def test_an_invalid_autolink_affects_only_its_row(make: type[_NativeRows | _PythonRows]) -> None:
    """CommonMark 6.5 accepts autolinks that RFC 3986 does not derive: the rows after it exist."""
    made_rows = make(Options())
    references = [
        Found("autolink", "foo4%foo1@bar.net", target="mailto:foo4%foo1@bar.net"),
        Found("autolink", "a|b", target="x:%"),
        Found("autolink", "www.h.example", target="http://www.h.example"),
    ]
    made_rows.add(document(b""), BASE, references)
    results = [(link.reference, link.target, link.error, link.error_at) for link in links(made_rows.take())]
    assert results == [
        ("foo4%foo1@bar.net", "mailto:foo4%25foo1@bar.net", "pct-encoded", 4),
        ("a|b", "x:%25", "pct-encoded", None),
        ("www.h.example", "http://www.h.example", None, None),
    ]


def texts() -> st.SearchStrategy[str]:
    piece = st.sampled_from(
        [
            "x",
            "../",
            "//h",
            "?q",
            "#",
            "%7e",
            "%zz",
            " ",
            "é",
            "[",
            ":",
            "http:",
            "javascript:",
            "&amp;",
            "\u202e",
            "\0",
            "@",
        ]
    )
    return st.lists(piece, max_size=6).map("".join)


def iris() -> st.SearchStrategy[str]:
    """Texts similar to IRI-references: every kind of non-ASCII character, in every component."""
    special = "\x80\x9f\xa0é\u200d\u200e\u202a\ud7ff\ue000\uf8ff\uf900\ufdd0\ufffd\ufffe\U00010000\U0001fffe\U000e0fff"
    special += "\U000e1000\U000f0000\U000fffff\U00100000\U0010fffd\U0010ffff"
    ascii_pieces = [
        "http:",
        "x:",
        "//",
        "/",
        "?",
        "#",
        "@",
        ":",
        "[",
        "]",
        "[::1]",
        "%41",
        "%4",
        "a",
        "..",
        " ",
        "|",
        "+",
    ]
    wild = st.characters(min_codepoint=0x80, exclude_categories=["Cs"])
    return st.lists(st.sampled_from([*special, *ascii_pieces]) | wild, max_size=8).map("".join)


def pieces() -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds('<a href="{}">'.format, texts()),
        st.builds("<base href='{}'>".format, texts()),
        st.builds("<img src={} srcset='{} 1x, {} 2x'>".format, texts(), texts(), texts()),
        st.builds('<meta http-equiv=refresh content="0;url={}">'.format, texts()),
        st.builds('<p style="background:url({})">'.format, texts()),
        st.builds("<style>@import '{}'</style>".format, texts()),
        st.sampled_from(["<!-- <a href=n> -->", "<script>'<a href=n>'</script>", "text", "<a ping='a b'>", "<a href>"]),
    )


@native
@settings(deadline=None)
@given(st.lists(pieces(), max_size=6).map("".join))
def test_both_kernels_agree_on_any_document(html: str) -> None:
    page = document(html.encode())
    assert rows_of(_NativeRows(Options()), page) == rows_of(_PythonRows(Options()), page)


def styles() -> st.SearchStrategy[str]:
    """Texts similar to style sheets: every delimiter and function of CSS tokens."""
    pieces = [
        *"()\"'\\@#-_ \t\n\f;:,aé\0\x7f/", "url(", "URL(", "url(a)", "url('a b')", "url( b )", "/*", "*/", "\\75rl(",
        "@import ", "@namespace x ", "src(", "image(", "image-set(", "-webkit-image-set(", "rgb(1)", "url()",
        "url('')", "url(' c ')",
    ]  # fmt: skip
    return st.lists(st.sampled_from(pieces), max_size=10).map("".join)


@native
@settings(deadline=None, max_examples=2000)
@given(styles())
@example("fill:url(#a);mask: url( 'b' )url(\"c\")")
@example("a:'url(b)';c:url(d)")
@example("@media x{a:'url(no)' url(b) @url(no)} @font-face{src:url('c') format('d')}")
@example("xurl(a) éurl(b) #url(c) 'url(d)")
@example("a:url(b\nc) url('d\ne') url(f")
def test_both_kernels_agree_on_styles(style: str) -> None:
    """In a style sheet, in a style attribute, and in a presentation attribute."""
    attribute = style.replace("&", "&amp;").replace('"', "&quot;")
    html = f'<p style="{attribute}"><style>{style}</style><svg><path fill="{attribute}"/></svg>'
    page = document(html.encode())
    assert rows_of(_NativeRows(Options()), page) == rows_of(_PythonRows(Options()), page)


@native
@settings(deadline=None, max_examples=1000)
@given(st.lists(iris(), max_size=8))
@example(["é", "é?\ue000", "\ue000", "?é#\ue000", "http://é/", "é:x", "é\u202e", "[é]", "//h:é"])
def test_both_kernels_map_iris_alike(references: list[str]) -> None:
    """RFC 3987 3.1, and the reason of an invalid one: as `to_reference` does."""
    found = [Found("a href", reference) for reference in references]
    both = []
    for kind in (_NativeRows, _PythonRows):
        rows = kind(Options())
        rows.add(document(b""), BASE, found)
        both.append(list(links(rows.take())))
    assert both[0] == both[1]


@native
@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read(octets: bytes) -> None:
    rows_of(_NativeRows(Options()), document(b"<a href='" + octets))
    rows_of(_PythonRows(Options()), document(b"<a href='" + octets))


@native
@settings(deadline=None)
@given(st.lists(st.tuples(st.text(max_size=3), texts(), st.sampled_from([None, "http://www.x/"])), max_size=5))
def test_references_from_python_become_the_same_rows(found: list[tuple[str, str, str | None]]) -> None:
    references = [Found(place, reference, None, target) for place, reference, target in found]
    both = []
    for rows in (_NativeRows(Options()), _PythonRows(Options())):
        rows.add(document(b""), BASE, references)
        rows.add_note(document(b""), "truncated")
        both.append(list(links(rows.take())))
        assert len(rows) == 0
    assert both[0] == both[1]


@pytest.fixture(params=["native", "plain"])
def rows(request: pytest.FixtureRequest) -> Rows:
    if request.param == "native" and kernel.name != "native":
        pytest.skip("the native kernel is absent or not asked for")
    return _NativeRows(Options()) if request.param == "native" else _PythonRows(Options())


def test_the_size_of_a_batch_is_limited(rows: Rows) -> None:
    """A document of any size becomes batches with a limited number of rows and amount of text."""
    large = document(b"<a href=x>" * (3 * BATCH))
    sizes = [rows.take().num_rows for _ in fill(rows, large, "html", (), Options())]
    assert len(sizes) >= 2
    assert max(sizes) <= BATCH + 256


def test_rows_with_a_long_base_are_limited(rows: Rows) -> None:
    """The base is in every row: the size of all rows of a document is limited."""
    swelling = document(b"<base href='http://h/" + b"x" * 100_000 + b"/'>" + b"<a href=y>" * 2000)
    options = Options(limit=100_000)
    total = 0
    kinds = set()
    for _ in fill(rows, swelling, "html", (), options):
        batch = rows.take()
        total += batch.nbytes
        kinds |= set(batch.column("error"))
    kinds |= set(rows.take().column("error"))
    assert "too-large" in kinds
    assert total < 200 * options.limit


EDITIONS = {
    "rfc3986": ("http://h/a/b?y", None),
    "uri-2003": ("http://h/a/b?y", None),
    "url-1997": ("http://h/a/?y", None),
    "rfc1738": (None, "not-specified"),
    "url-1994": (None, "not-specified"),
}


@pytest.mark.parametrize("make", [_PythonRows, pytest.param(_NativeRows, marks=native)])
def test_documents_of_a_message_with_many_labels_are_linear(make: type[_NativeRows | _PythonRows]) -> None:
    """For each document the labels of all were copied: a message of 3 MB took 17 s."""

    def use(size: int) -> None:
        parts = {f"cid:{number}": "s" for number in range(size)}
        rows = make(Options())
        for _ in range(size // 5):
            assert not rows_of(rows, document(b"<p>", parts=parts))
            rows.add(document(b"", parts=parts), BASE, ())

    linear(use, 20_000)


@pytest.mark.parametrize("edition", EDITIONS)
def test_each_edition_resolves_by_its_own_rules(edition: str) -> None:
    """1997 drops the last segment before "?y"; earlier documents have no relative references (5.2)."""
    options = Options(edition=edition)
    rows = _PythonRows(options)
    (link,) = made_by(rows, document(b"<a href='?y'>"), options)
    assert (link.target, link.error) == EDITIONS[edition]
    (link,) = made_by(rows, document(b"<a href='http://h/x'>"), options)
    assert (link.target, link.error) == ("http://h/x", None)


def made_by(rows: Rows, item: Document, options: Options) -> list[Link]:
    for _ in fill(rows, item, "html", (), options):
        pass
    return list(links(rows.take()))
