"""Broken links: hostile pages are linear, with both kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from overthere import kernel
from overthere.broken import Checker, Summary, check, collecting, reporting
from overthere.broken.model import FileSettings
from overthere.broken.places import Places
from overthere.broken.scan import Scan
from support import linear

PAGES: dict[str, tuple[Callable[[int], str], Callable[[int], int]]] = {
    "open elements": (lambda n: "<div><b><svg><g>" * n + "<a href=#x>", lambda n: 1),
    "end tags of none": (lambda n: "<i>" * n + "</u>" * n + "<a href=#x>", lambda n: 1),
    "attributes": (lambda n: f"<p {' '.join(f'a{i}=b' for i in range(n))} id=a><a href=#x>", lambda n: 1),
    "attributes of one name": (lambda n: f"<area {'href=a ' * n}><a {'href=#x ' * n}>", lambda n: 2),
    "ids": (lambda n: "".join(f"<p id=i{i}>" for i in range(n)) + "<a href=#x>", lambda n: 1),
    "links to one target": (lambda n: "<a href=nowhere.html>\n" * n, lambda n: n),
    "links to one anchor": (lambda n: "<p id=b><a href=#a>\n" * n, lambda n: n),
    "links to many targets": (lambda n: "".join(f"<a href=x{i}.html#y{i}>" for i in range(n)), lambda n: n),
    "an attribute": (lambda n: f"<p title='{'x' * 16 * n}'><a href=#{'x' * 16 * n}>", lambda n: 1),
    "candidates": (lambda n: f"<img srcset='{', '.join(f'x{i}.png {i}w' for i in range(1, n + 1))}'>", lambda n: n),
    "segments": (lambda n: f"<a href='{'a/' * n}{'../' * n}x.html'>", lambda n: 1),
    "bases": (lambda n: "<base href=/a/>" * n + "<a href=#x>", lambda n: 0),
    "declarations of many": (
        lambda n: f"<p style='{''.join(f'background:url(x{i}.png);' for i in range(n))}'>",
        lambda n: n,
    ),
    "declarations": (lambda n: f"<p style='{'background:url(x.png);' * n}'>", lambda n: n),
}
"""The pages, each with its number of findings."""

BASE = "https://example.org/docs/"
SETTINGS = {
    "plain": Checker(),
    "base": Checker(base=(BASE,)),
    "root": Checker(),
    "remap": Checker(base=(BASE,), remap=((f"{BASE}old", f"{BASE}new"),)),
    "nofollow": Checker(skip_nofollow=True),
    "files": Checker(files=(FileSettings("*", extensions=("html",)),)),
}


def test_offsets_of_many_faults_are_not_inserted_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An insertion moves all later offsets: for 240,000 faults this took half of the time."""
    result: list[Places] = []

    class Kept(Places):
        def __init__(self, scan: Scan) -> None:
            super().__init__(scan)
            result.append(self)

    monkeypatch.setattr(reporting, "Places", Kept)
    text = "".join(f'<a href="é{number}.html">\n' for number in range(3000))
    (tmp_path / "a.html").write_text(text, "utf-8")
    findings = list(check([tmp_path], Checker(), Summary()))
    expected = [f"é{number}.html".encode() for number in range(3000)]
    assert [text.encode()[finding.offset or 0 :][: finding.length] for finding in findings] == expected
    assert len(result[0].known_places) <= 2 * 3000 + 2


def test_names_of_alternating_pages_are_prepared_once(tmp_path: Path) -> None:
    def run(count: int) -> None:
        for name in "ab":
            (tmp_path / f"{name}.html").write_text(
                "<!doctype html>" + "".join(f"<p id={name}{number}>" for number in range(30 * count)), "utf-8"
            )
        links = "".join(f"<a href={'ab'[number % 2]}.html#x{number}>" for number in range(count))
        (tmp_path / "c.html").write_text(f"<!doctype html>{links}", "utf-8")
        assert sum(1 for _ in check([str(tmp_path)], Checker(), Summary())) == count

    linear(run, 1000)


@pytest.mark.parametrize("name", ["native", "reference"])
@pytest.mark.parametrize("suggest", [True, False], ids=("suggest", "plain"))
@pytest.mark.parametrize("page", PAGES)
def test_a_hostile_page_is_linear(
    page: str, suggest: bool, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "reference":
        monkeypatch.setattr(kernel, "name", "reference")
    make, expected = PAGES[page]
    checker = Checker(base=("https://example.org/docs/",), suggest=suggest)

    def run(count: int) -> None:
        (tmp_path / "a.html").write_text(f"<!doctype html>{make(count)}", "utf-8")
        assert sum(1 for _ in check([str(tmp_path)], checker, Summary())) == expected(count)

    linear(run, 4000)


@pytest.mark.parametrize("link", ["gone.html", "/gone.html", "page0.html#gone", "a b", "../../x", "https://"])
@pytest.mark.parametrize("settings", SETTINGS, ids=SETTINGS)
def test_a_site_with_a_fault_on_every_page_is_read_once(
    link: str, settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault in the template of a site: Python reads no page, and the native reader each once."""
    if kernel.name != "native":
        pytest.skip("the native kernel is absent or not asked for")
    from overthere.broken import pages

    read: list[int] = []

    class PageBatches(pages.PageBatches):
        def _read_batch(self, files: list[tuple[int, str, str]]) -> pages.Batch:
            read.extend(number for number, *_ in files)
            return super()._read_batch(files)

    monkeypatch.setattr(pages, "PageBatches", PageBatches)
    for module in (collecting, reporting):
        monkeypatch.setattr(module, "scan", None)
    for number in range(8):
        text = f'<!doctype html><p id="p{number}">é\n<a href="page{(number + 1) % 8}.html#p{(number + 1) % 8}">next</a>'
        (tmp_path / f"page{number}.html").write_text(f'{text}\n<a href="{link}">x</a>', "utf-8")
    checker = SETTINGS[settings]._replace(root=str(tmp_path) if settings == "root" else None)
    summary = Summary()
    findings = list(check([str(tmp_path)], checker, summary))
    if summary.passed["root"]:
        assert [(finding.source, finding.kind, finding.why[:12]) for finding in findings] == [
            (str(tmp_path), "base-missing", "8 references")
        ]
    else:
        assert list(dict.fromkeys((item.source, item.line, item.column, item.reference) for item in findings)) == [
            (str(tmp_path / f"page{number}.html"), 3, 10, link) for number in range(8)
        ]
    assert (sorted(read), summary.read_again, summary.documents, summary.references) == ([*range(8)], 0, 8, 16)
