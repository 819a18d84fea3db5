"""The comparison of link rows with Chromium's documents, without Chromium: equal and different rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from support import ROOT

sys.path.append(str(ROOT / "bench"))

from browser import Difference, Row, ServedPage, compare_page, pages_to_serve, resolution_differences

BASE = "http://pages.example/p/"
Link = tuple[str, str, str, str | None, bool, bool, str, bool]


def row(place: str, reference: str, target: str | None = None, error: str | None = None) -> Row:
    return Row(place, reference, target or (None if error else BASE + reference), error, BASE)


def link(place: str, text: str, resolved: str | None = "", **more: Any) -> Link:
    tag, name = place.split(" ")
    target = BASE + text if resolved == "" else resolved
    return tag, name, text, target, more.get("is_plain", True), more.get("is_known", True), more.get("place", ""), True


def kinds(
    rows: list[Row], links: list[Link], styles: tuple[str, ...] = (), spelled: dict[str, str] | None = None
) -> Any:
    """The number of differences of each kind."""
    spellings = spelled or {}
    report = {
        "base": BASE, "frameset": False, "links": links, "styles": styles,
        "spelled": [None if row.target is None else spellings.get(row.target, row.target) for row in rows],
    }  # fmt: skip
    counts, differences = compare_page("p", rows, report)
    assert all(counts[difference.kind] for difference in differences)
    return sorted(difference.kind for difference in differences), counts


def test_equal_rows_have_no_differences() -> None:
    rows = [
        row("a href", "x"),
        row("img src", "i"),
        row("a href", "x"),
        row("style url", "s"),
        row("meta refresh", "r"),
    ]
    differences, counts = kinds(rows, [link("a href", "x"), link("a href", "x"), link("img src", "i")], ("s",))
    assert differences == []
    assert counts == {
        "attributes in the tree": 3, "the same": 3, "rows of style sheets and refreshes": 2, "url() in style sheets": 1
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "links", "kind"),
    [
        ([], [link("a href", "x")], "in the tree only: a href"),
        ([], [link("p new", "x")], "in the tree only: p new"),
        ([], [link("p src", "x", is_known=False)], "in the tree only: p src"),
        ([row("a href", "x")], [], "in the rows only"),
        ([row("td background", "x")], [], "in the rows only: part of a table outside of one"),
        ([row("html manifest", "x")], [], "in the rows only: a second one"),
        ([row("frame src", "x")], [], "in the rows only: frames in a page that is no frameset"),
        ([row("a href", "x")], [link("a href", "x"), link("a href", "x")], "in the tree twice"),
        ([row("a href", "x")], [link("a href", "x", None)], "only the browser refuses"),
        ([row("a href", "a b", error="space")], [link("a href", "a b")], "only the grammar refuses: space"),
        ([row("a href", "x")], [link("a href", "x", BASE + "y")], "another target"),
        ([row("a href", "http:x", "http:x")], [link("a href", "http:x")], "another target: scheme without //"),
        (
            [row("a href", "?ü", BASE + "?%C3%BC")],
            [link("a href", "?ü", BASE + "?%FC", is_plain=False)],
            "another target: query in the encoding of the page",
        ),
        (
            [row("object data", "x", "http://pages.example/q/x")._replace(base="http://pages.example/q/")],
            [link("object data", "x")],
            "another target, another base",
        ),
    ],
)
def test_each_kind_of_difference_is_found(rows: list[Row], links: list[Link], kind: str) -> None:
    assert kinds(rows, links)[0] == [kind]


def test_other_spellings_and_texts_that_both_reject() -> None:
    rows = [row("a href", "X", "HTTP://h"), row("a href", "http://[", error="host"), row("image src", "i")]
    links = [link("a href", "X", "http://h/"), link("a href", "http://[", None), link("img src", "i")]
    differences, counts = kinds(rows, links, spelled={"HTTP://h": "http://h/"})
    assert differences == []
    assert counts["the same, but for the browser's spelling"] == counts["both refuse"] == counts["the same"] == 1


def test_links_in_style_sheets_are_compared() -> None:
    assert kinds([row("style url", "s")], [], ("s", "t"))[0] == ["url() in the tree only"]


def test_links_in_a_frameset() -> None:
    rows = [row("a href", "x")]
    report = {"base": BASE, "frameset": True, "links": [], "styles": [], "spelled": [rows[0].target]}
    assert set(compare_page("p", rows, report)[0]) == {"in the rows only: the page is a frameset"}


def test_differences_in_resolved_attributes() -> None:
    differences = resolution_differences(
        {"a": ["href", "ping"], "video": ["poster", "src", "new"], "p": ["cite", "background"]}
    )
    assert [(difference.where, difference.reference) for difference in differences] == [("video", "new"), ("p", "cite")]


def test_other_attributes_are_counted() -> None:
    assert kinds([], [link("p action", "x", is_known=False)])[1]["of an element that has no such attribute"] == 1


def test_a_difference_has_its_place() -> None:
    report = {"base": BASE, "frameset": False, "links": [link("a href", "x")], "styles": [], "spelled": []}
    _, differences = compare_page("p", [], report)
    assert differences == [Difference("p", "in the tree only: a href", "a href", "x", None, BASE + "x")]


def test_pages_are_found_in_folders(tmp_path: Path) -> None:
    (tmp_path / "b c.html").write_text("<a href=x>")
    (tmp_path / "t.dat").write_text("#data\n<p><a x>\n#errors\n1\n#document\n| x\n\n#data\ny\n#errors\n")
    (tmp_path / "n.txt").write_text("no")
    folder = tmp_path.name
    assert list(pages_to_serve([tmp_path], 9)) == [
        ServedPage("b c.html", f"/{folder}/b%20c.html", "text/html", b"<a href=x>"),
        ServedPage(
            "t.dat:0", f"/{folder}/t.dat/0", "text/html; charset=utf-8", b"<p href=u0 ><a href=u1  x><a href=after>"
        ),
        ServedPage("t.dat:1", f"/{folder}/t.dat/1", "text/html; charset=utf-8", b"y<a href=after>"),
    ]
    assert len(list(pages_to_serve([tmp_path], 2))) == 2
