"""Broken links: the rows of cases/broken.toml, both kernels, containers, hostile sites, fixes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from overthere import kernel
from overthere.broken import Broken, Checker, Summary, check, find, reporting
from overthere.broken.filters import Baseline, Rules
from overthere.broken.fixing import fix_files
from overthere.broken.internal import InternalCheck
from overthere.broken.model import Outcome
from overthere.broken.site import Site
from overthere.cli.app import app
from overthere.links.job.sources import tasks
from overthere.links.model import Options
from overthere.values.uri import URI
from support import cases, ids, linear

ROWS = cases("broken")


@pytest.fixture(params=["native", "reference"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both implementations of pass 1, or the only one without the native kernel."""
    if request.param == "reference":
        monkeypatch.setattr(kernel, "name", "reference")
    return str(request.param)


def write_site(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def row_of(broken: Broken) -> str:
    place = "-" if broken.line is None else f"{broken.line}:{broken.column}"
    return f"{place} {broken.kind}" + (f" {broken.suggestion}" if broken.suggestion else "")


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_findings_of_the_cases(row: dict[str, Any], tmp_path: Path, kernels: str) -> None:
    write_site(tmp_path, row["files"])
    page = row.get("page", "index.html")
    checker = Checker(
        base=tuple(filter(None, [row.get("base", "https://h/docs/")])),
        extensions=tuple(row.get("extensions", ())),
        indexes=tuple(row.get("index", Checker().indexes)),
    )
    summary = Summary()
    findings = list(check([str(tmp_path)], checker, summary))
    here_findings = [item for item in findings if item.source == str(tmp_path / page)]
    assert [row_of(item) for item in findings] == row["found"]
    assert [item for item in findings if item.kind != "base-missing"] == here_findings
    assert summary.outside == row.get("outside", summary.outside)
    content = (tmp_path / page).read_bytes()
    for finding in here_findings:
        # Each offset is that of the exact bytes.
        assert finding.offset is not None
        text = content[finding.offset : finding.offset + (finding.length or 0)].decode()
        assert text.replace("&amp;", "&") == finding.reference


def test_both_kernels_count_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, row in enumerate(ROWS):
        write_site(tmp_path / str(number), row["files"])
    sums = []
    for name in (kernel.name, "reference"):
        monkeypatch.setattr(kernel, "name", name)
        summary = Summary()
        findings = list(check([str(tmp_path)], Checker(base=("https://h/docs/",)), summary))
        sums.append((findings, summary))
    assert sums[0][0] == sums[1][0]
    for name in ("documents", "octets", "references", "within", "outside", "distinct", "passed", "files"):
        assert getattr(sums[0][1], name) == getattr(sums[1][1], name), name


@pytest.mark.parametrize("archived", [False, True])
def test_a_refresh_cycle_is_reported_for_each_page(tmp_path: Path, kernels: str, archived: bool) -> None:
    """A page that only leads into the cycle is not part of it."""
    following = {"a": "b.html", "b": "c.html", "c": "a.html", "d": "a.html", "e": "e.html#x", "f": "g.html"}
    following |= {"g": "gone.html", "h": "i.html#x", "i": "h.html#gone"}
    pages: dict[str, str | bytes] = {
        f"{name}.html": f"<title id=x>{name}</title><meta http-equiv=refresh content='0; url={target}'>"
        for name, target in following.items()
    }
    if archived:
        write_site(
            tmp_path, {"all.warc": b"".join(record(f"https://h/docs/{name}", page) for name, page in pages.items())}
        )
    else:
        write_site(tmp_path, pages)
    findings = list(find([tmp_path], base="https://h/docs/"))
    loop = [finding.reference for finding in findings if finding.kind == "loop"]
    assert loop == ["b.html", "c.html", "a.html", "i.html#x", "h.html#gone"]
    assert [finding.reference for finding in findings if finding.kind == "no-fragment"] == ["h.html#gone"]


@pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")
def test_faults_are_located_without_reading_the_page_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The native reader gives the byte offsets of tags; a wrong offset would cause reading in Python."""
    page = "<p>é\r\n\U0001f600<!-- <a href=no> -->\r\n<A\r\nHREF='gone.html' id=é>\r<svg><a xlink:href=#no>é<a href=#é>"
    write_site(tmp_path, {"a.html": page})
    monkeypatch.setattr(reporting, "scan", None)
    findings = list(find([tmp_path]))
    assert [(one.reference, one.line, one.column) for one in findings] == [("gone.html", 4, 7), ("#no", 5, 20)]
    assert all(page.encode()[one.offset or 0 :].decode().startswith(one.reference or "-") for one in findings)


def record(uri: str, page: str | bytes) -> bytes:
    answer = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page!s}".encode()
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {uri}\r\nContent-Length: {len(answer)}\r\n\r\n"
    return head.encode() + answer + b"\r\n\r\n"


@pytest.mark.parametrize("charset", ["utf-8", "windows-1252", "utf-16", "utf-8-sig"])
def test_offsets_in_other_charsets(charset: str, tmp_path: Path, kernels: str) -> None:
    label = "" if charset.startswith("utf") else f"<meta charset={charset}>"
    content = f"<!doctype html>{label}<p>\u00e9\u00e9<a href='x.html'>".encode(charset)
    write_site(tmp_path, {"index.html": content})
    (finding,) = find(tmp_path)
    assert finding.offset is not None
    assert finding.length is not None
    codec = "utf-16-le" if charset == "utf-16" else charset.removesuffix("-sig")
    assert content[finding.offset : finding.offset + finding.length].decode(codec) == "x.html"


@pytest.mark.parametrize(
    "label",
    [
        "<meta http-equiv=content-type content='text/html; charset&#61;koi8-r'>",
        "<?xml version='1.0' encoding='koi8-r'?>",
    ],
    ids=["a character reference", "an XML declaration"],
)
def test_charsets_that_are_declared_in_other_ways(label: str, tmp_path: Path, kernels: str) -> None:
    """The native kernel read such a page in UTF-8, and so took other names from it (HTML 13.2.3.2, 13.2.6.4.4)."""
    write_site(tmp_path, {"index.html": f"{label}<a href=\u00e9.html>", "\u00e9.html": ""})
    assert [finding.reference for finding in find(tmp_path)] == ["\u0446\u2558.html"]


def test_sources_whose_common_folder_is_the_root_of_the_disk(tmp_path: Path, kernels: str) -> None:
    """Its URI lost two slashes, so that targets were "file:/tmp/...", and names began with "//"."""
    write_site(tmp_path, {"index.html": "<a href=a.html><a href=b.html#no>", "b.html": ""})
    found = list(check([str(tmp_path)], Checker(root=tmp_path.anchor), Summary()))
    names = [(tmp_path / name).as_uri() for name in ("a.html", "b.html")]
    assert [finding.target for finding in found] == [names[0], f"{names[1]}#no"]
    assert not any(" //" in f" {finding.why}" for finding in found)


def test_a_truncated_document_has_no_missing_anchors(tmp_path: Path, kernels: str) -> None:
    write_site(tmp_path, {"index.html": "<a href=b.html#x>", "b.html": "<p>" * 1000 + "<p id=x>"})
    found = list(check([str(tmp_path)], Checker(limit=1000), Summary()))
    assert [(Path(one.source).name, one.kind) for one in found] == [("b.html", "not-read"), ("index.html", "not-sure")]


def test_findings_in_an_archive(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("index.html", "<a href=b.html#x><a href=b.html#y><a href=c.html><img src=i.png>")
        archive.writestr("b.html", "<p id=x>")
        archive.writestr("i.png", b"\x89PNG\r\n\x1a\n")
    findings = list(find(tmp_path / "a.zip", "https://h/docs/"))
    assert [row_of(finding) for finding in findings] == ["1:26 no-fragment", "1:43 no-document"]


def test_findings_in_a_message(tmp_path: Path) -> None:
    write_site(tmp_path, {"a.eml": (
        "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n"
        "<img src=cid:one@h><img src=cid:two@h>\n--b\nContent-Type: image/png\nContent-ID: <one@h>\n\nx\n--b--\n"
    )})  # fmt: skip
    findings = list(find(tmp_path / "a.eml"))
    assert [(finding.reference, finding.kind) for finding in findings] == [("cid:two@h", "no-document")]


def test_targets_next_to_a_named_file_are_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_site(
        tmp_path, {"a.md": "[b](b.md#here) [c](b.md#there) [d](c.md) [e](sub)", "b.md": "# Here\n", "sub/x": "x"}
    )
    monkeypatch.chdir(tmp_path)
    assert [row_of(finding) for finding in find("a.md")] == ["1:20 no-fragment", "1:36 no-document"]


def test_cyclic_symlinks_of_folders(tmp_path: Path, kernels: str) -> None:
    write_site(tmp_path, {"index.html": "<a href=loop/loop/index.html><a href=dead.html>"})
    os.symlink(tmp_path, tmp_path / "loop")
    os.symlink("nowhere", tmp_path / "dead.html")
    kinds = [(Path(finding.source).name, finding.kind) for finding in find(tmp_path) if finding.level == "error"]
    assert kinds == [("dead.html", "unreadable"), ("index.html", "no-document")]


def test_unusual_file_names(tmp_path: Path, kernels: str) -> None:
    write_site(tmp_path, {"a\nb.html": "<a href='a%0Ab.html'><a href='a%0Ac.html'>"})
    assert [row_of(finding) for finding in find(tmp_path)] == ["1:31 no-document"]
    result = CliRunner().invoke(app, ["broken", str(tmp_path)])
    assert result.exit_code == 1
    assert "a\nb.html" not in result.stdout


def test_many_ids_and_links_are_linear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "name", "reference")

    def run(count: int) -> None:
        page = tmp_path / "index.html"
        page.write_text("".join(f"<p id=i{n}><a href=#i{n}><a href=#x{n}>" for n in range(count)), "utf-8")
        assert sum(1 for _ in check([str(tmp_path)], Checker(suggest=False), Summary())) == count

    linear(run, 1000)


def test_reports_and_rules(tmp_path: Path) -> None:
    site = write_site(tmp_path / "site", {"index.html": "<a href=a.html>\n<a href=b.html>"})
    runner = CliRunner()
    rules = tmp_path / "ignore.toml"
    rules.write_text(
        '[[ignore]]\ntarget = "*/a.html"\nreason = "comes later"\n[[ignore]]\nkind = "tls"\nreason = "r"\n'
    )
    result = runner.invoke(app, ["broken", str(site), "--ignore", str(rules), "--format", "jsonl"])
    assert result.exit_code == 1
    assert result.stdout.count("\n") == 1
    assert '"b.html"' in result.stdout
    assert "1 ignored by rule" in result.stderr
    assert "unused ignore rule: kind tls" in result.stderr
    for name in ("o.sarif", "o.xml", "o.csv", "o.parquet", "o.jsonl"):
        assert runner.invoke(app, ["broken", str(site), "-o", str(tmp_path / name)]).exit_code == 1
        assert (tmp_path / name).stat().st_size > 100
    baseline = tmp_path / "known.jsonl"
    assert runner.invoke(app, ["broken", str(site), "--write-baseline", str(baseline)]).exit_code == 1
    result = runner.invoke(app, ["broken", str(site), "--baseline", str(baseline)])
    assert (result.exit_code, result.stdout) == (0, "")
    assert "2 known from the baseline" in result.stderr
    write_site(site, {"c.html": "<a href=a.html>"})
    result = runner.invoke(app, ["broken", str(site), "--baseline", str(baseline)])
    assert result.exit_code == 1
    assert "c.html" in result.stdout
    assert "index.html" not in result.stdout


@pytest.mark.parametrize(
    "text", ["[[ignore]]\nkind='tls'", "[[ignore]]\nreason='r'", "[[ignore]]\nkind='x'\nreason='r'", "[[x]]", "="]
)
def test_invalid_rules(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Rules.read(text)


def test_an_invalid_baseline(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("{}\n")
    with pytest.raises(ValueError, match="line 1"):
        Baseline.read(str(tmp_path / "b"))


def test_a_fix_changes_only_the_value(tmp_path: Path) -> None:
    before = "<!-- gude.html --><a href='gude.html'>gude.html</a>\r\n<a href=\"GUIDE.html?a=1&amp;b#x\" title=é>"
    site = write_site(tmp_path / "site", {"index.html": before, "guide.html": "<p id=x>"})
    result = CliRunner().invoke(app, ["broken", "--fix=likely", str(site), "--yes"])
    assert result.exit_code == 1
    assert "-<!-- gude.html --><a href='gude.html'>" in result.stdout
    after = before.replace("'gude.html'", "'guide.html'").replace('"GUIDE', '"guide')
    assert (site / "index.html").read_bytes().decode() == after
    assert not list(find(site))


def test_a_fix_needs_confirmation(tmp_path: Path) -> None:
    site = write_site(tmp_path / "site", {"index.html": "<a href=gude.html>", "guide.html": "x"})
    CliRunner().invoke(app, ["broken", "--fix=likely", str(site)], input="n\n")
    assert (site / "index.html").read_text() == "<a href=gude.html>"


def test_a_fix_that_would_change_more_is_skipped(tmp_path: Path) -> None:
    site = write_site(tmp_path / "site", {"index.html": "<a href=gude.html>"})
    (finding,) = find(site)
    wrong = finding._replace(suggestion="guide.html", certainty="certain", offset=(finding.offset or 0) + 1)
    assert [fix_file.refused != "" for fix_file in fix_files([wrong])] == [True]


_FIXED = {
    "style": ('<link rel=stylesheet href="app.css">', {"app.js": ""}, None),
    "image": ('<img src="guide.png">', {"guide.html": ""}, None),
    "document": ('<a href="guide.pdf">', {"guide.html": ""}, None),
    "page for an image": ('<img src="guide">', {"guide.html": ""}, None),
    "release": ('<a href="release-1.2.html">', {"release-1.3.html": ""}, ("release-1.3.html", "similar")),
    "language": ('<a href="guide-de.html">', {"guide-en.html": ""}, ("guide-en.html", "similar")),
    "folder of a language": ('<a href="de/install.html">', {"en/install.html": ""}, ("en/install.html", "similar")),
    "number of an anchor": ('<a href="a.html#part-2">', {"a.html": "<p id=part-3>"}, ("a.html#part-3", "similar")),
    "letter": ('<a href="instal.html">', {"install.html": ""}, ("install.html", "likely")),
    "extension": ('<a href="guide.htm">', {"guide.html": ""}, ("guide.html", "likely")),
    "no extension": ('<a href="guide">', {"guide.html": ""}, ("guide.html", "likely")),
    "address": ('<a href="joe@example.org">', {}, ("mailto:joe@example.org", "likely")),
    "case": ('<a href="GUIDE.html">', {"guide.html": ""}, ("guide.html", "certain")),
    "two cases": ('<a href="GUIDE.html">', {"guide.html": "", "Guide.html": ""}, None),
    "case of an anchor": ('<a href="a.html#start">', {"a.html": "<p id=Start>"}, ("a.html#Start", "certain")),
    "two cases among many": (
        '<a href="a.html#start">',
        {"a.html": "".join(f"<p id={name}>" for name in ("Start", *(f"T{n}" for n in range(2500)), "sTART"))},
        None,
    ),
    "slash": ('<a href="b">', {"b/index.html": ""}, ("b/", "certain")),
    "blank": ('<a href="a b.html">', {"a b.html": ""}, ("a%20b.html", "certain")),
    "cloak": ('<a href="mailto:joe%40example.org">', {}, ("mailto:joe@example.org", "certain")),
    "blank of an address": ('<a href="mailto: joe@example.org">', {}, ("mailto:joe@example.org", "certain")),
}
"""A reference, the existing files, and the suggestion with its certainty."""


@pytest.mark.parametrize("name", _FIXED)
def test_suggestions_are_written_by_fix(name: str, tmp_path: Path, kernels: str) -> None:
    page, files, expected = _FIXED[name]
    for options, levels in ({"--fix": ("certain",), "--fix=likely": ("certain", "likely")}).items():
        site = write_site(tmp_path / options, {**files, "index.html": page})
        base = "https://h/docs/"
        results = [finding for finding in find(site, base) if finding.reference]
        assert results
        assert {(finding.suggestion, finding.certainty) for finding in results} == {expected or (None, None)}
        CliRunner().invoke(app, ["broken", options, str(site), "--base", base, "--yes"])
        after = (site / "index.html").read_text()
        assert (after != page) == (expected is not None and expected[1] in levels)
        assert after == page or f'"{expected[0] if expected else ""}"' in after


def test_an_escaped_at_sign_in_an_address_is_a_warning(tmp_path: Path, kernels: str) -> None:
    """RFC 6068 2; docutils writes it against programs that collect addresses."""
    write_site(tmp_path, {"index.html": '<a href="mailto:joe%40example.org">'})
    (finding,) = find(tmp_path)
    assert (finding.kind, finding.level) == ("encoded-at", "warning")
    assert "%40" in finding.why


@pytest.mark.parametrize("kind", [None, "moved-permanently"])
def test_a_redirect_keeps_the_fragment(kind: str | None, tmp_path: Path) -> None:
    """RFC 9110 10.2.2."""
    write_site(tmp_path, {"index.html": '<a href="http://h.example/a#b">'})
    checker, options = Checker(online=True), Options(rooted=True)
    inside = InternalCheck(list(tasks([str(tmp_path)], None, options)), checker, options, Summary(), keeps_outside=True)
    assert sum(inside.read_sources())
    moved = Outcome("http://h.example/a", "moved-permanently", 301, "", "http://h.example/c", True, (), 0.0, False)
    (found,) = inside.findings({moved.uri: moved._replace(kind=kind)})
    assert (found.kind, found.suggestion, found.certainty) == ("moved-permanently", "http://h.example/c#b", "certain")


def test_pages_of_a_folder_have_bases_of_their_own(tmp_path: Path, kernels: str) -> None:
    """A reference without a path leads to the base of its own page, not to that of another page."""
    pages = {
        "a.html": '<base href="missing.html"><a href="#x"><a href="?q"><a href="#top"><a href="gone.html">',
        "b.html": '<p id="y"><a href="#x"><a href="?q"><a href="#top"><a href="#y"><a href="gone.html">',
    }
    write_site(tmp_path, pages)
    results = [
        (Path(item.source).name, item.reference, item.kind, item.target) for item in find(tmp_path, "https://h/")
    ]
    assert results == [
        ("a.html", "#x", "no-document", "https://h/missing.html#x"),
        ("a.html", "?q", "no-document", "https://h/missing.html?q"),
        ("a.html", "#top", "no-document", "https://h/missing.html#top"),
        ("a.html", "gone.html", "no-document", "https://h/gone.html"),
        ("b.html", "#x", "no-fragment", "https://h/b.html#x"),
        ("b.html", "gone.html", "no-document", "https://h/gone.html"),
    ]


@pytest.mark.parametrize("name", ["empty.html", "empty.xhtml", "empty.md", "empty.rst", "empty.xml", "empty.ipynb"])
def test_an_empty_document_has_no_anchors(name: str, tmp_path: Path, kernels: str) -> None:
    write_site(tmp_path, {"index.html": f'<!doctype html><a href="{name}"><a href="{name}#x">', name: ""})
    assert [(item.reference, item.kind) for item in find(tmp_path, "https://h/")] == [(f"{name}#x", "no-fragment")]


def test_files_of_several_repositories_are_looked_up_in_each(tmp_path: Path, kernels: str) -> None:
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
        write_site(tmp_path / name, {"docs/page.html": '<a href="../other.html#no">', "other.html": '<p id="yes">'})
    findings = find([tmp_path / name / "docs" / "page.html" for name in ("one", "two")])
    assert [(item.reference, item.kind) for item in findings] == [("../other.html#no", "no-fragment")] * 2


def test_symlinks_count_as_their_targets(tmp_path: Path, kernels: str) -> None:
    """As on a server with the usual settings; a dangling one does not exist."""
    outside = write_site(tmp_path / "outside", {"page.html": "<p id=a>", "folder/page.html": "<p id=a>"})
    names = ("dead", "lost", "inner", "file", "folder/page")
    page = "".join(f'<a href="{name}.html#{anchor}">' for name in names for anchor in ("a", "b"))
    site = write_site(tmp_path / "site", {"index.html": page, "real.html": "<!doctype html><p id=a>"})
    (site / "dead.html").symlink_to("nowhere")
    (site / "lost.html").symlink_to(outside / "nowhere")
    (site / "inner.html").symlink_to("real.html")
    (site / "file.html").symlink_to(outside / "page.html")
    (site / "folder").symlink_to(outside / "folder")
    for base in ("https://h/docs/", None):
        results = [(one.reference, one.kind) for one in find(site, base) if one.source == str(site / "index.html")]
        dead = [(f"{name}.html#{anchor}", "no-document") for name in names[:2] for anchor in ("a", "b")]
        assert results == [*dead, *((f"{name}.html#b", "no-fragment") for name in names[2:])]


def test_files_next_to_the_sources_are_checked_natively(tmp_path: Path, kernels: str) -> None:
    """A file outside the table is looked up on the disk once, with its anchors."""
    outside = write_site(
        tmp_path / "outside", {"style.css": "", "page.html": "<p id=a>", "folder/index.html": "<p id=a>"}
    )
    expected = ("style.css", "page.html", "folder/", "folder", "missing", "https://e.example/#a", "mailto:a")
    pages = {f"a{n}.html": f'<!doctype html><a href="{item}">' for n, item in enumerate(expected)}
    site = write_site(
        tmp_path / "site", {**pages, "z.html": '<!doctype html><a href="page.html#b"><a href="page.html#a">'}
    )
    for name in ("style.css", "page.html", "folder"):
        (site / name).symlink_to(outside / name)
    work, summary = list(tasks([str(site)], None, Options())), Summary()
    check = InternalCheck(work, Checker(), Options(), summary)
    assert sum(check.read_sources())
    if kernels == "native" and kernel.name == "native":
        unread = [name for name in check.site.names if name.endswith(b".html") and name[:1] in b"az"]
        assert set(unread) == {check.site.names[number] for number in check.open_references}
    assert (summary.references, summary.within, summary.outside) == (9, 8, 1)
    assert [(finding.reference, finding.kind) for finding in check.findings({})] == [
        ("folder", "redirected"), ("missing", "no-document"), ("mailto:a", "bad-mailto"),
        ("page.html#b", "no-fragment"),
    ]  # fmt: skip


def test_another_spelling_of_a_target(tmp_path: Path, kernels: str) -> None:
    """RFC 3986 6.2.3: capitals in the host and a default port; the native kernel handles such pages."""
    targets = (
        "HTTPS://Example.ORG:443/docs/b.html#b",
        "https://example.org:/docs/b.html#b",
        "//EXAMPLE.org/docs/%62.html#b",
    )
    pages = {f"a{n}.html": f'<!doctype html><a href="{target}">' for n, target in enumerate(targets)}
    site = write_site(tmp_path, {**pages, "b.html": "<!doctype html><p id=b>"})
    checker, summary = Checker(base=("https://example.org/docs/",)), Summary()
    assert list(check([str(site)], checker, summary)) == []
    assert summary.within == len(targets)
    if kernel.name == "native":
        from overthere.broken import pages as natively

        results = Site(tasks([str(site)], URI(checker.base[0]), Options()), checker)
        reader = natively.reader(results, checker)
        with closing(natively.PageBatches(reader, results, checker, natively.numbers(results))) as page_batches:
            assert [(len(lot.pages), lot.targets) for lot in page_batches] == [(len(targets) + 1, {})]
            assert not page_batches.is_ready


OUTSIDE = {
    # A reference: its URI, and what is wrong with it.
    "https://a.example": ("https://a.example", ""),
    "https://a.example/x?y#z": ("https://a.example/x?y", ""),
    "https://a.example/x?y#w": ("https://a.example/x?y", ""),
    "http://a.example/%41/.well-known": ("http://a.example/%41/.well-known", ""),
    "HTTP://a.example:80/": ("HTTP://a.example:80/", ""),
    "http://a.example/b/../c": ("http://a.example/c", ""),
    "http://u@a.example/": ("http://u@a.example/", ""),
    "http://[::1]/": ("http://[::1]/", ""),
    "http://ä.example/": ("http://%C3%A4.example/", ""),
    "http://a.example/<x>": ("http://a.example/%3Cx%3E", "repaired"),
    "http://a.example/%": ("http://a.example/%25", "repaired"),
    "http://a.example:99999/": (None, "not-of-scheme"),
    "http:///x": (None, "no-host"),
    "htp://a.example/": (None, "not-of-scheme"),
    "http://a.example/{{x}}": (None, "unsure"),
    "http://within.example/x": (None, "no-document"),
}


def test_external_uris_are_counted_the_same(tmp_path: Path, kernels: str) -> None:
    """By both readers: the native kernel checks plain ones itself."""
    site = write_site(tmp_path, {"a.html": "<!doctype html>" + "".join(f'<a href="{item}">' for item in OUTSIDE)})
    checker, summary = Checker(base=("http://within.example/",)), Summary()
    results = [(finding.reference, finding.kind) for finding in check([str(site)], checker, summary)]
    assert results == [(item, kind) for item, (_, kind) in OUTSIDE.items() if kind]
    outside = [uri for uri, _ in OUTSIDE.values() if uri]
    assert (summary.outside, summary.distinct) == (len(outside), len(set(outside)))


def test_batches_of_pages_are_prefetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More batches than are prefetched; a stopped reader leaves nothing running."""
    from overthere.broken import pages as natively

    monkeypatch.setattr(natively, "TOGETHER", 2)
    monkeypatch.setattr(natively, "AHEAD", 3)
    names = [f"p{number:02}.html" for number in range(17)]
    site = write_site(tmp_path, {name: f'<!doctype html><p id="{name}"><a href="none-{name}">' for name in names})
    (site / "other.css").write_text("p { background: url(none.png) }")
    findings = list(check([str(site)], Checker(), Summary()))
    assert [finding.reference for finding in findings if finding.kind == "no-document"] == [
        "none.png", *(f"none-{name}" for name in names)
    ]  # fmt: skip
    if kernel.name == "native":
        outside = Site(tasks([str(site)], None, Options()), Checker())
        numbers = natively.numbers(outside)
        with closing(natively.PageBatches(natively.reader(outside, Checker()), outside, Checker(), numbers)) as batches:
            assert [item[0] for item in next(batches)[0]] == numbers[:2]


@pytest.mark.parametrize("charset", ["iso-8859-1", "koi8-r", "utf-8"])
def test_the_charset_of_a_style_sheet_is_its_own(tmp_path: Path, charset: str) -> None:
    """As in `links` (CSS Syntax 3 3.2): its names were read as UTF-8."""
    site = write_site(tmp_path, {"index.html": "", "é.png": "", "и.png": ""})
    name, missing = ("é", "éé") if charset == "iso-8859-1" else ("и", "ии")
    sheet = f'@charset "{charset}";\r\na {{ background: url({name}.png), url({missing}.png) }}'.encode(charset)
    (site / "a.css").write_bytes(sheet)
    (finding,) = check([str(site)], Checker(), Summary())
    assert (finding.kind, finding.reference, finding.line, finding.column) == ("no-document", f"{missing}.png", 2, 33)
    assert finding.offset == sheet.index(f"{missing}.png".encode(charset))


def test_a_file_takes_precedence_over_a_folder_of_that_name(tmp_path: Path, kernels: str) -> None:
    """With --extension html, like `try_files $uri $uri.html $uri/`."""
    page = '<!doctype html><a href="guide"><a href="guide/"><a href="guide#a"><a href="guide#b">'
    write_site(tmp_path, {"index.html": page, "guide.html": "<!doctype html><p id=a>", "guide/index.html": "<p id=b>"})
    for base in ("https://h/", None):
        findings = check([str(tmp_path)], Checker(base=(base,) if base else (), extensions=("html",)), Summary())
        assert [(finding.reference, finding.kind) for finding in findings] == [("guide#b", "no-fragment")]


def test_programs_are_not_documents(tmp_path: Path) -> None:
    write_site(tmp_path, {"a.cpp": 'auto s = "mailto:joe" + at;', "b.yml": "to: mailto:joe", "c.txt": "mailto:joe"})
    summary = Summary()
    assert [finding.source for finding in check([str(tmp_path)], Checker(), summary)] == [str(tmp_path / "c.txt")]
    assert (summary.documents, summary.files["code"]) == (1, 2)


@pytest.mark.parametrize("name", ["a.adoc", "a.org"])
def test_a_markup_without_a_reader_is_reported(name: str, tmp_path: Path) -> None:
    write_site(tmp_path, {name: "See `here <gone.html>`_."})
    (finding,) = find(tmp_path / name)
    assert (finding.kind, finding.level) == ("not-read", "note")
    assert "without a reader" in finding.why


def test_markdown_with_jsx_is_markdown(tmp_path: Path) -> None:
    write_site(tmp_path, {"a.mdx": "# Start\n\n[b](#start) [c](#end)\n"})
    assert [finding.reference for finding in find(tmp_path)] == ["#end"]


def test_a_check_without_documents_fails(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["broken", str(tmp_path)]).exit_code == 2
    write_site(tmp_path, {"a.png": b"\x89PNG\r\n\x1a\n"})
    assert CliRunner().invoke(app, ["broken", str(tmp_path)]).exit_code == 2


def test_an_attribute_is_a_link_on_its_elements_only(tmp_path: Path, kernels: str) -> None:
    """`href` of div and `src` of a mean nothing in HTML; SVG has more elements with them."""
    page = "<!doctype html><div href=1><a src=2><my-link href=3></my-link><img src=4><a href=5><base src=6>"
    page += "<svg><image href=7 /><use href=8 /><linearGradient xlink:href=9 /><g href=10 /></svg>"
    write_site(tmp_path, {"index.html": page})
    assert [finding.reference for finding in find(tmp_path)] == ["4", "5", "7", "8", "9"]


@pytest.mark.parametrize("shadow", [False, True])
def test_the_contents_of_a_template_are_ignored(shadow: bool, tmp_path: Path, kernels: str) -> None:
    """HTML 4.12.3: its links and anchors; unless it may be a shadow root."""
    mode = " shadowrootmode=open" if shadow else ""
    page = f"<!doctype html><template id=t{mode}><a href=1 id=i><template><img src=2>"
    page += "<script type=application/ld+json>{}</script></template><b style='a:url(3)'>"
    page += "<meta http-equiv=refresh content='0;url=4'></template><a href=#t><a href=#i><a href=5>"
    write_site(tmp_path, {"index.html": page})
    assert [finding.reference for finding in find(tmp_path)] == (["1", "2", "3", "4", "5"] if shadow else ["#i", "5"])


def test_a_check_sees_changes_since_the_last_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    site, outside = Path("site"), Path("beside")
    site.mkdir()
    outside.mkdir()
    (site / "a.html").write_text('<a href="../beside/x.txt">')
    (outside / "y.txt").touch()
    assert [finding.kind for finding in find(site)] == ["no-document"]
    (outside / "x.txt").touch()
    assert list(find(site)) == []


@pytest.mark.parametrize("text", ["*.example", b"*.example"], ids=["text", "bytes"])
@pytest.mark.parametrize(
    "name", [name for name, default in Checker._field_defaults.items() if isinstance(default, tuple)]
)
def test_a_text_as_collection_of_settings_is_rejected(name: str, text: str | bytes, tmp_path: Path) -> None:
    """Each character would be a pattern: `exclude="*.example"` excluded everything, and no link was broken."""
    settings: dict[str, Any] = {name: text}
    with pytest.raises(TypeError, match=rf"{name} takes a tuple, not one text\Z"):  # it may hold a password
        check([tmp_path], Checker(**settings), Summary())


def test_a_single_extension_or_index_may_be_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b">x</a><a href="c/">y</a>')
    (tmp_path / "b.htm").touch()
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "start").touch()
    assert not list(find(tmp_path, "https://h.example/", extensions=".htm", index="start"))
