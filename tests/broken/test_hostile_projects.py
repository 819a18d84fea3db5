"""Small hostile files that must not stop a check: no hang, no abort, no reads outside the repository."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from overthere.broken import Checker, Summary, check, projects
from overthere.broken.generators import addresses, configuration, hugo, jekyll, mdbook, mkdocs, templates, vitepress
from overthere.broken.generators import project as project_module
from overthere.broken.generators.addresses import LookupBudget, Pages
from overthere.broken.heading_slugs import SLUGS
from overthere.broken.markdown_anchors import MarkdownAnchors
from overthere.broken.site import Site
from overthere.cli.app import app
from overthere.links.documents.rst import parse
from overthere.links.job.gitignore import IgnoredFiles, _matches_parts
from overthere.links.job.sources import tasks
from overthere.links.model import Options
from support import linear, processor

BIG = 30_000
TREES: dict[str, dict[str, str]] = {
    "a deep reference": {"a.md": f"[a]({'x/' * 500})"},
    "blank lines": {"_config.yml": f"title: x\n{chr(10) * 60_000}", "a.md": "x"},
    "routes": {
        "docusaurus.config.js": "presets: []\n" + "".join(f"routeBasePath:'r{n}'\n" for n in range(1000)),
        "docs/a.md": "[x](b.md)\n" * 10,
    },
    "mounts": {
        "hugo.toml": "baseURL = '/'\n" + "source = 'x'\ntarget = 'content'\n" * 2000,
        **{f"x/{n}.md": f"[x](b{n}.md)" for n in range(50)},
    },
    "roots": {
        "conf.py": "extensions = []\n" + "".join(f"html_extra_path = ['r{n}']\n" for n in range(BIG)),
        "a.md": "".join(f"[x](b{n}.md)\n" for n in range(300)),
    },
    "bases": {
        "mkdocs.yml": "site_name: x\nmarkdown_extensions:\n  - pymdownx.snippets:\n"
        + "".join(f"      base_path: b{n}\n" for n in range(BIG)),
        "docs/a.md": "".join(f"--8<-- 'n{n}.md'\n" for n in range(100)),
    },
    "addresses of a page": {
        "hugo.toml": "".join(f"source = '{'d/' * n}'\ntarget = 'content/r{n}'\n" for n in range(20)),
        "d/" * 19 + "a.md": f"---\naliases: [{', '.join(map(str, range(1000)))}]\n---\n"
        + "".join(f"[x](b{n}.md)\n" for n in range(1000)),
    },
    "addresses below many mounts": {
        "hugo.toml": "".join(f"source = '{'d/' * n}'\ntarget = 'content/r{n}'\n" for n in range(1, 191)),
        **{
            f"{'d/' * 190}a{n}.md": f"---\naliases: [{', '.join(map(hex, range(1500)))}]\n---\n[x](b{n}.md)\n"
            for n in range(4)
        },
    },
    "folders around pages": {"d/" * n + "a.md": "---\ntitle: x\n---\n[x](b.md)\n" for n in range(1, 100)},
    "projects beside a page": {
        **{
            f"p{n}/hugo.toml": "baseURL = '/'\n"
            + "".join(f"source = 'd{k}'\ntarget = 'content'\n" for k in range(200))
            for n in range(10)
        },
        "n/x.md": "".join(f"[x](b{n}.md)\n" for n in range(50)),
    },
    "a pattern of categories": {
        "_config.yml": f"permalink: /{':categories' * 4000}\n",
        "_posts/2020-01-01-a.md": f"---\ncategories: {'x' * 8000}\n---\n[x](b.md)\n",
    },
    "routes of versions": {
        "docusaurus.config.js": "".join(f"routeBasePath: 'r{n}',\n" for n in range(BIG)),
        **{f"versioned_docs/version-{n}/a.md": "[x](b.md)\n" for n in range(500)},
    },
    "patterns": {
        "_config.yml": "collections:\n" + "".join(f"  permalink: /{n}/:title\n" for n in range(20_000)),
        **{f"_posts/2020-01-01-{n}.md": "[x](b.md)\n" for n in range(20)},
    },
    "ignored": {
        ".gitignore": "".join(f"a{n}*\n" for n in range(BIG)),
        "a.md": "".join(f"[x](b{n}.md)\n" for n in range(100)),
    },
    "ignored in folders": {
        **{f"d{n}/.gitignore": "".join(f"a{n}*\n" for n in range(BIG)) for n in range(5)},
        **{f"d{n}/a.md": "[x](b.md)\n" for n in range(5)},
    },
    "redirects": {
        "book.toml": "[output.html.redirect]\n" + "".join(f"'/{'x' * 50}{n}' = 'y'\n" for n in range(8000)),
        "src/a.md": "".join(f"[x](b{n}.md)\n" for n in range(2000)),
    },
    "folders without pages": {
        **{f"d{n}/docusaurus.config.js": "path: '..'" for n in range(300)},
        **{f"d{n}/a.md": "[x](none.md)" for n in range(300)},
        **{f"m/{n}/x.txt": "" for n in range(3000)},
    },
    "braces": {"mkdocs.yml": "site_name: x\n", "docs/b.md": f"x{'={' * 200_000}", "docs/c.html": f"x{'={' * 200_000}"},
    "a broken notebook": {"a.ipynb": '{"nbformat":1,"cells":[{"cell_type":"x"}]}', "b.md": "[x](none.md)"},
    "a NUL in an include": {"book.toml": "", "src/a.md": "{{#include a\0b}}\n[x](none.md)"},
    "a NUL in an import": {"docusaurus.config.js": "x", "docs/a.mdx": 'import X from "./a\0.md"\n\n[x](none.md)'},
}  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "r" / ".git").mkdir(parents=True)
    return tmp_path / "r"


def run(folder: Path) -> tuple[int, str]:
    """Run the command in a process, with a timeout."""
    command = [sys.executable, "-m", "overthere", "broken", ".", "--workers", "1", "--format", "jsonl"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize("name", TREES)
def test_a_small_hostile_file_delays_no_others(name: str, tree: Path) -> None:
    for path, text in TREES[name].items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    status, message = run(tree)
    assert status in (0, 1), message[-500:]
    assert "Traceback" not in message
    if any("none.md" in text for text in TREES[name].values()):
        assert '"reference":"none.md"' in re.sub(r'": "', '":"', message)


@pytest.mark.parametrize("rule", SLUGS)
@pytest.mark.parametrize("form", ["#_{}\n", "#a\n", "#a-{}\n", "#id{}\n", "#{}\n", "[^{}]\n\n"])
def test_footnotes_and_numbered_headings_are_linear(rule: str, form: str) -> None:
    def read(count: int) -> None:
        MarkdownAnchors(rule).read("".join(map(form.format, range(count))) * 2)

    linear(read, 8_000)


RST = {
    "attributions": "  a\n\n  -- b\n\n" * 15_000,
    "columns": f"{'= ' * 1000}\n{('a ' * 1000 + chr(10)) * 90}{'= ' * 1000}\n",
    "a grid": f"+{'-+' * 1000}\n" + f"|{'a|' * 1000}\n+{'-+' * 1000}\n" * 45,
    "a target": ".. _a\n" + "   b\n" * 48_000,
    "a substitution": ".. |a\n" + "   b\n" * 48_000,
    "columns with other blanks": "\v".join("=" * 9000) + "\n" + "a " * 9000 + "\n" + "\v".join("=" * 9000) + "\n",
    "a grid behind a page break": f"\f+{'-+' * 9000}\n\f|{'a|' * 9000}\n\f+{'-+' * 9000}\n",
    "a row of cells": ".. csv-table:: x\n\n   " + "," * 30_000 + "\n" + "   a\n" * 20_000,
    "a list table": ".. list-table::\n\n" + "   * - a\n" * 18_000,
    "tables of contents": "".join(f"{' ' * depth}.. toctree::\n" for depth in range(330)) + "\n" * 140_000,
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it may stop what hypothesis counts
@pytest.mark.parametrize("name", RST)
def test_slow_restructuredtext_is_skipped_and_its_memory_freed(name: str) -> None:
    with processor(20):
        parsed = parse(RST[name][:200_000])
    assert parsed.notes == ([] if name == "tables of contents" else ["too-large"])


def test_comparisons_of_recursive_patterns_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".gitignore").write_text("/**/a/**/b\n*.log\nbuild/\n")
    assert f"{tmp_path}/x/a/y/b" in IgnoredFiles(str(tmp_path))
    monkeypatch.setattr("overthere.links.job.gitignore._MAX_STEPS", 30)
    monkeypatch.setattr("overthere.links.job.gitignore._STEPS_PER_NAME", 0)
    ignored = IgnoredFiles(str(tmp_path))
    named = [f"{tmp_path}/x{number}/a/b" in ignored for number in range(5)]
    assert (named[0], named[-1]) == (True, False)
    assert f"{tmp_path}/x/a.log" in ignored
    assert f"{tmp_path}/build/x" in ignored


def test_a_too_long_name_matches_no_pattern(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*\n")
    ignored = IgnoredFiles(str(tmp_path))
    assert [f"{tmp_path}/{'a' * size}" in ignored for size in (255, 256)] == [True, False]

    def compare(size: int) -> None:
        (tmp_path / ".gitignore").write_text(f"*{'a' * size}b\n")
        assert f"{tmp_path}/{'a' * 2 * size}" not in IgnoredFiles(str(tmp_path))

    linear(compare, 20_000)


@pytest.mark.parametrize(
    ("line", "most"), [("x{}*", 10_000), ("/**/x{}/*", 10_000), ("x{}", 0), ("*.x{}", 0), ("/a/x{}/", 0)]
)
def test_comparisons_of_patterns_and_references_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, most: int
) -> None:
    """Names, paths and endings are looked up; for other patterns the limit grows with each path."""
    count = 0

    def fits(*args: Any) -> bool:
        nonlocal count
        count += 1
        return _matches_parts(*args)

    monkeypatch.setattr("overthere.links.job.gitignore._MAX_STEPS", 10_000, raising=False)
    monkeypatch.setattr("overthere.links.job.gitignore._matches_parts", fits)
    (tmp_path / ".gitignore").write_text("".join(f"{line.format(number)}\n" for number in range(1000)))
    ignored = IgnoredFiles(str(tmp_path))
    for number in range(400):
        assert f"{tmp_path}/b{number}.md" not in ignored
    assert count <= most + 400 * 201 * (most > 0)


LOOKUPS: dict[str, dict[str, str]] = {
    "beside": {
        **{
            f"p{n}/hugo.toml": "baseURL='/'\n" + "".join(f"source = 'd{k}'\ntarget = 'content'\n" for k in range(20))
            for n in range(10)
        },
        "n/x.md": "".join(f"[x](b{n}.md)\n" for n in range(50)),
    },
    "front matter": {"d/" * 35 + "a.md": "---\ntitle: x\n---\n" + "".join(f"[x](b{n}.md)\n" for n in range(50))},
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_references_after_the_limit_of_lookups_are_cheap(
    name: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in LOOKUPS[name].items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    calls: Counter[str] = Counter()

    def counted(owner: type, method: str) -> None:
        original = getattr(owner, method)

        def count(*args: Any, **named: Any) -> Any:
            calls[method] += 1
            return original(*args, **named)

        monkeypatch.setattr(owner, method, count)

    counted(Pages, "find_source")
    counted(Site, "pages_of")
    monkeypatch.setattr("overthere.broken.generators.addresses._MAX_LOOKUPS", 100)
    findings = list(check([str(tree)], Checker(), Summary()))
    assert [finding.kind for finding in findings if finding.reference] == ["unsure"] * 50
    assert calls["find_source"] <= 300
    calls.clear()
    monkeypatch.setattr("overthere.broken.generators.addresses._MAX_LOOKUPS", 1_000_000)
    list(check([str(tree)], Checker(), Summary()))
    assert calls["find_source"] > 1000, "nothing is spared before"
    assert name == "beside" or calls["pages_of"] <= 60, "the projects around a page are made once"


def test_unfollowed_symlinks_are_counted(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "out.html").write_text("<a href=gone>")
    (site / "a.html").write_text("<a href=#>")
    (site / "b.html").symlink_to(tmp_path / "out.html")
    (site / "c").symlink_to(tmp_path)
    assert list(check([str(site)], Checker(), summary := Summary())) == []
    assert (summary.documents, summary.passed["not-followed"]) == (1, 2)


@pytest.mark.parametrize("name", ["a|b.html", "a%zz.html", "b.html?é", "a b.html", "[.html", "http:x|.html"])
@pytest.mark.parametrize("form", ["`t <{}>`_\n", "`t`_\n\n.. _t: {}\n"])
def test_an_invalid_repairable_reference_does_not_end_the_check(tmp_path: Path, name: str, form: str) -> None:
    (tmp_path / "a.rst").write_text(form.format(name))
    (tmp_path / "z.html").write_text("<a href=gone.html>")
    findings = list(check([str(tmp_path)], Checker(), Summary()))
    assert [finding.kind for finding in findings if finding.source.endswith("z.html")] == ["no-document"]


def test_a_bug_in_the_check_of_a_reference_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.delenv("OVERTHERE_FAULTS", raising=False)
    monkeypatch.setattr("overthere.broken.reference_check.resolve", fail)
    (tmp_path / "a.md").write_text("[x](b.md)\n")
    (finding,) = check([str(tmp_path)], Checker(), Summary())
    assert (finding.kind, finding.line) == ("unsure", 1)
    assert "a bug of this library" in finding.why


@pytest.mark.parametrize("name", ["overthere.toml", "pyproject.toml", "lychee.toml", ".lycheeignore"])
@pytest.mark.parametrize("is_beside", [False, True])
def test_settings_outside_the_repository_are_not_read(tmp_path: Path, name: str, is_beside: bool) -> None:
    """A log of an untrusted change would show a line of another file."""
    (tmp_path / "r" / ".git").mkdir(parents=True)
    (tmp_path / "r" / "a.html").write_text("<a href=gone.html>")
    content = "[broken]\nexclude = ['*']\n" if name == "overthere.toml" else "token = 'abc[def]SECRET'\n"
    (tmp_path / "secret").write_text(content)
    (tmp_path / "r" / name).symlink_to("../secret")
    if is_beside and name == ".lycheeignore":
        (tmp_path / "r" / "lychee.toml").write_text("max_retries = 7\n")
    done = CliRunner().invoke(app, ["broken", str(tmp_path / "r")])
    assert "SECRET" not in done.output
    assert f"{name}: not a file or folder of the repository" in done.output
    assert done.exit_code == 1
    (tmp_path / "secret").write_text("['SECRET']\na = 1\n['SECRET']\n")  # invalid TOML: the message shows a line
    done = CliRunner().invoke(app, ["broken", str(tmp_path / "r")])
    assert ("SECRET" in done.output, done.exit_code) == (False, 1)
    named = CliRunner().invoke(app, ["broken", str(tmp_path / "r"), "--config", str(tmp_path / "r" / name)])
    assert "not a file or folder" not in named.output
    if is_beside and name == ".lycheeignore":  # which is not given explicitly
        done = CliRunner().invoke(app, ["broken", str(tmp_path / "r"), "--config", str(tmp_path / "r" / "lychee.toml")])
        assert "SECRET" not in done.output


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("_config.yml", "baseurl: /SECRET/x\n"), ("mkdocs.yml", "site_url: https://h.example/SECRET/x\n"),
        ("hugo.toml", "baseurl = 'https://h.example/SECRET/x'\n"), ("docusaurus.config.js", "baseUrl: '/SECRET/x',\n"),
        (".vitepress/config.js", "base: '/SECRET/x',\n"),
    ],
)  # fmt: skip
def test_a_configuration_outside_its_repository_is_not_shown(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / "r" / ".git").mkdir(parents=True)
    (tmp_path / "r" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "secret").write_text(content)
    for folder in (".", "docs", "content"):
        (tmp_path / "r" / folder).mkdir(exist_ok=True)
        (tmp_path / "r" / folder / "a.md").write_text("[a](/nosuch.md)\n")
    for is_own in (True, False):
        (tmp_path / "r" / name).unlink(missing_ok=True)
        if is_own:
            (tmp_path / "r" / name).write_text(content)
        else:
            (tmp_path / "r" / name).symlink_to(tmp_path / "secret")
        result = CliRunner().invoke(app, ["broken", str(tmp_path / "r"), "--notes"])
        assert ("SECRET" in result.output) == is_own


@pytest.mark.parametrize("reference", ["/../sec.md", "/%2e%2e/sec.md", "../sec.md", "../../sec.md"])
@pytest.mark.parametrize("generator", ["", "mkdocs.yml", "conf.py"])
def test_references_do_not_read_outside_the_repository(tmp_path: Path, reference: str, generator: str) -> None:
    """Findings do not reveal whether files exist, nor their anchors."""
    (tmp_path / "r" / ".git").mkdir(parents=True)
    (tmp_path / "r" / "docs").mkdir()
    (tmp_path / "sec.md").write_text("# Private\n")
    if generator:
        (tmp_path / "r" / generator).write_text("site_name: x\n" if generator == "mkdocs.yml" else "extensions = []\n")
    (tmp_path / "r" / "docs" / "a.md").write_text(f"[a]({reference}#private)\n\n[b]({reference}#privat)\n")
    findings = list(check([str(tmp_path / "r")], Checker(), Summary()))
    assert {finding.kind for finding in findings} <= {"outside-base", "base-missing", "unsure", "no-document"}
    assert len({(finding.kind, finding.why.replace("#private", "#privat")) for finding in findings}) <= 1


@pytest.mark.skipif(not os.access("/proc/kmsg", os.R_OK), reason="no file here is waited for")
@pytest.mark.parametrize("name", ["conf.py", "a.md", ".gitignore", "docusaurus.config.js"])
def test_a_blocking_file_does_not_end_the_check(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("/proc/kmsg")
    (tmp_path / "z.md").write_text("[a](b.md)\n")
    findings = list(check([str(tmp_path)], Checker(), Summary()))
    assert [finding.kind for finding in findings if finding.source.endswith("z.md")] == ["no-document"]


@pytest.mark.parametrize("key", ["ignore", "baseline"])
def test_a_pipe_named_in_a_setting_is_not_waited_for(tmp_path: Path, key: str) -> None:
    (tmp_path / "a.html").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "overthere.toml").write_text(f"[broken]\n{key} = 'pipe'\n")
    result = CliRunner().invoke(app, ["broken", str(tmp_path)])
    assert (result.exit_code, "not a file or folder of the repository" in result.output) == (2, True)


@pytest.mark.parametrize(
    ("config", "pipe"), [("mkdocs.yml", ".gitignore"), ("hugo.toml", "content/x.md"), ("mkdocs.yml", "book.toml")]
)
def test_a_pipe_is_not_waited_for(config: str, pipe: str, tree: Path) -> None:
    for name in ("docs", "content"):
        (tree / name).mkdir()
        (tree / name / "a.md").write_text("[x](none.md) [y](/x/)\n")
    (tree / config).write_text("baseURL = '/'\n" if config == "hugo.toml" else "site_name: x\n")
    os.mkfifo(tree / pipe)
    status, message = run(tree)
    assert (status, "none.md" in message) == (1, True), message


def test_a_reference_reads_patterns_of_existing_folders_only(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.out\n")
    ignored = IgnoredFiles(str(tmp_path))
    assert f"{tmp_path}/{'x/' * 90}a.out" in ignored
    assert f"{tmp_path}/{'x/' * 500}a.out" not in ignored  # too deep for any file
    assert len(ignored._patterns) == 1


@pytest.mark.parametrize("set_", ["[a&&b]", "[a--b]", "[a||b]", "[a~~b]", "[[a]", "[&-z]"])
def test_a_gitignore_set_is_not_a_python_set(set_: str, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text(f"{set_}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ignored = IgnoredFiles(str(tmp_path))
        assert f"{tmp_path}/a" in ignored or set_ == "[a--b]"  # a range that ends before it starts
        assert (f"{tmp_path}/A" in ignored) is (set_ == "[&-z]")


def test_braces_are_linear() -> None:
    linear(lambda count: templates.hide("={" * count), 100_000)
    linear(lambda count: templates.hide("={" * count + "}" * count), 100_000)
    for text in ("={" + "{" * 4_000_000, "={a}" * 500_000, "{" * 3000 + "={a}" + "}" * 3000):
        tracemalloc.start()
        templates.hide(text)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 200 * len(text) if "a" in text else most < 4 * len(text)
    assert templates.hide("x={a b={c} d} e={f").replace(templates.MARK, "_") == "x=___________ e={f"
    assert templates.hide("a={b{c}d} e").replace(templates.MARK, "_") == "a=_______ e"
    assert templates.hide("{ a={b} } c={d").replace(templates.MARK, "_") == "{ a=___ } c={d"


def test_generated_addresses_are_limited(tmp_path: Path) -> None:
    text = "permalink: pretty\ncollections:\n" + "".join(f"  permalink: /{n}/:title\n" for n in range(1000))
    project = jekyll.read(str(tmp_path), str(tmp_path / "_config.yml"), text)
    assert project is not None
    assert project.addresses is not None
    assert len(project.addresses(project, "_posts/2020-01-01-a", {"categories": ["x" * 5000]})) < 100
    book = mdbook.read(str(tmp_path), str(tmp_path / "book.toml"), "[output.html.redirect]\n'/a.b.html' = 'c'\n")
    assert book is not None
    assert book.makes is not None
    assert [bool(book.makes(name)) for name in ("a.b", "axb", "print", "other")] == [True, False, True, False]


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ("hugo.toml", "baseURL = '/'\ncontentDir = 'link'\n"),
        (".vitepress/config.ts", "srcDir: 'link'"),
        ("book.toml", "[book]\nsrc = 'link'\n"),
    ],
)
def test_a_symlink_in_a_configuration_cannot_leave_the_repository(config: str, text: str, tree: Path) -> None:
    outside = tree.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("---\nslug: topsecret\n---\n# Secret\n")
    (tree / "link").symlink_to(outside)
    (tree / config).parent.mkdir(exist_ok=True)
    (tree / config).write_text(text)
    (tree / "content").mkdir()
    (tree / "content" / "a.md").write_text("[x](/topsecret/) [y](/nothere/)\n")
    summary = Summary()
    results = {finding.reference: finding.kind for finding in check([tree], Checker(), summary)}
    assert results.get("/topsecret/") == results.get("/nothere/")
    assert not any(mount.folder.endswith("link") for project in summary.projects for mount in project.mounts)


@pytest.mark.parametrize("config", ["docusaurus.config.js", "hugo.toml", "astro.config.mjs", "_quarto.yml"])
@pytest.mark.parametrize("is_outside", [True, False])
def test_front_matter_of_a_symlink_is_read_only_in_its_repository(config: str, is_outside: bool, tree: Path) -> None:
    """Otherwise a reference without a finding would reveal the addresses of another page."""
    (tree / ".git").mkdir(exist_ok=True)
    (tree / config).write_text("presets: []\nbaseURL = '/'\n")
    page = (tree.parent if is_outside else tree) / "page.txt"
    page.write_text("---\nslug: other\naliases: [other]\n---\n# A\n")
    for folder in ("docs", "content", "src/pages", "src/content/docs"):
        (tree / folder).mkdir(parents=True, exist_ok=True)
        (tree / folder / "b.md").symlink_to(page)
    summary = Summary()
    [*check([tree], Checker(), summary)]
    [project] = summary.projects
    assert any("other" in address for address in Pages(project, LookupBudget()).by_address) is not is_outside


@pytest.mark.parametrize("config", ["", "docusaurus.config.js", "hugo.toml", "conf.py", "_config.yml", "mkdocs.yml"])
def test_anchors_behind_an_external_symlink_are_not_revealed(config: str, tree: Path) -> None:
    """For a file or a folder, which may be a repository; a symlink within the repository is followed."""
    outside = tree.parent / "outside"
    (outside / ".git").mkdir(parents=True)
    for folder in (outside, tree / "other"):
        folder.mkdir(exist_ok=True)
        (folder / "secret.html").write_text("<!doctype html><p id=secret>")
        (folder / "secret.md").write_text("# Secret\n")
    if config:
        (tree / config).write_text("presets: []\nbaseURL = '/'\nextensions = []\n")
    (tree / "docs").mkdir()
    (tree / "docs" / "link").symlink_to(outside)
    (tree / "docs" / "own").symlink_to(tree / "other")
    for name in ("secret.html", "secret.md"):
        (tree / "docs" / name).symlink_to(outside / name)
    names = [f"{folder}{name}" for folder in ("", "link/", "own/") for name in ("secret.html", "secret.md")]
    for page, link in (("a.md", "[a]({})\n\n"), ("a.html", '<a href="{}">')):
        text = "".join(link.format(f"{name}#{anchor}") for name in names for anchor in ("secret", "nosuch"))
        (tree / "docs" / page).write_text(text)
    results = {(one.source, one.reference): one.kind for one in check([tree / "docs"], Checker(), Summary())}
    for source in (str(tree / "docs" / "a.md"), str(tree / "docs" / "a.html")):
        for name in names:
            existing, missing = (results.get((source, f"{name}#{anchor}")) for anchor in ("secret", "nosuch"))
            assert existing == missing or name.startswith("own/"), (source, name)
    assert config == "mkdocs.yml" or results[source, "own/secret.md#nosuch"] == "no-fragment"


def test_addresses_are_limited_by_total_length(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """3,000 posts and 50 long patterns took 140 MB, 600 pages in a deep folder half a minute."""
    monkeypatch.setattr(addresses, "_MAX_LOOKUPS", 10_000)
    (tree / "_config.yml").write_text("".join(f" permalink: /:title/{n}/{'y' * 960}\n" for n in range(50)))
    (tree / "_posts").mkdir()
    for number in range(60):
        (tree / "_posts" / f"2020-01-01-a{number}.md").write_text("---\n---\n")
    project = jekyll.read(str(tree), str(tree / "_config.yml"), (tree / "_config.yml").read_text())
    pages = Pages(project, LookupBudget())
    assert 100_000 < sum(map(len, pages.by_address)) < 1_100_000
    assert pages.find_source(str(tree / "a.md"), "/nosuch", False).leaves


def test_folders_of_many_pages_and_mounts_are_read_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """200 mounts and 4,000 folders took twelve times as long as one mount: each page checked all parent folders."""
    for number in range(100):
        (tree / f"content/d{number}").mkdir(parents=True)
        (tree / f"content/d{number}/a.md").write_text("x")
    text = "baseURL='/'\n" + "".join(f'source = "content/d{n}"\ntarget = "content"\n' for n in range(50))
    project = hugo.read(str(tree), str(tree / "hugo.toml"), text)
    assert project is not None
    calls: Counter[str] = Counter()

    def counted(name: str, function: Any) -> Any:
        def call(*args: Any) -> Any:
            calls[name] += 1
            return function(*args)

        return call

    monkeypatch.setattr(os.path, "relpath", counted("relpath", os.path.relpath))
    monkeypatch.setattr(addresses, "folders_above", counted("above", project_module.folders_above))
    assert len(Pages(project, LookupBudget()).by_address) >= 100
    assert (calls["relpath"] < 1000, calls["above"]) == (True, 1)


def test_an_endless_site_is_not_searched_for_configurations(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / ".vitepress").mkdir()
    (tree / ".vitepress" / "config.ts").write_text("export default { srcDir: '/' }")
    (tree / "a.md").write_text("[x](none.md)\n")
    walked: list[str] = []
    walk = os.walk

    def counted(top: str) -> Iterator[tuple[str, list[str], list[str]]]:
        walked.append(top)
        return walk(top)

    monkeypatch.setattr(os, "walk", counted)
    assert [finding.reference for finding in check([tree], Checker(), Summary())] == ["none.md"]
    assert all(Path(item).is_relative_to(tree) for item in walked)


def test_sarif_messages_contain_no_link(tree: Path) -> None:
    (tree / "a.md").write_text("[x](<[click](http:evil).md>)\n")
    command = [sys.executable, "-m", "overthere", "broken", str(tree), "--format", "sarif"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    assert not re.search(r"(?<!\\)\[", result["message"]["text"])


@pytest.mark.parametrize(
    ("module", "name", "first", "further"),
    [
        (mkdocs, "mkdocs.yml", "INHERIT: c0.yml\n", [(f"c{n}.yml", f"INHERIT: c{n + 1}.yml\n") for n in range(10)]),
        (mkdocs, "mkdocs.yml", "INHERIT: mkdocs.yml\n", []),
        (
            vitepress, ".vitepress/config.ts", "".join(f"import x from './f{n}'\n" for n in range(10)),
            [(f".vitepress/f{n}{suffix}", "") for n in range(10) for suffix in (".ts", ".mts", ".js", ".mjs")],
        ),
    ],
)  # fmt: skip
def test_a_configuration_and_its_files_share_one_limit(
    module: ModuleType,
    name: str,
    first: str,
    further: list[tuple[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for path, text in [(name, first), *further]:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text + "x = 1\n" * 150_000)
    lengths: list[int] = []

    def read(path: str, folder: str, most: int) -> str:
        text = configuration.read_configuration(path, folder, most)
        lengths.append(len(text))
        return text

    monkeypatch.setattr(module, "read_configuration", read)
    text = configuration.read_configuration(str(tmp_path / name), str(tmp_path), 1 << 20)
    assert module.read(str(tmp_path), str(tmp_path / name), text) is not None
    assert 0 < sum(lengths) <= configuration.MAX_NAMED_BYTES


def test_symlinks_to_one_configuration_share_one_limit(tree: Path) -> None:
    (tree / "big").write_text("".join(f"a{n} = 1\n" for n in range(100_000)))
    for number in range(150):  # half a second each
        (tree / f"d{number}").mkdir()
        (tree / f"d{number}" / "book.toml").symlink_to("../big")
        (tree / f"d{number}" / "a.md").write_text("[x](none.md)")
    status, message = run(tree)
    assert status == 1
    assert message.count("none.md") >= 150
    assert "135 configurations beyond 16 MiB together" in message


def test_folders_around_files_are_searched_once_for_configurations(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand files, each in its own folder 60 levels deep, took half a minute."""
    above = tree / "/".join("a" * 30)
    names: list[str] = []
    for number in range(20):
        (above / f"d{number}").mkdir(parents=True)
        (above / f"d{number}" / "a.md").write_text("[x](/y/)")
        names.append(str(above / f"d{number}" / "a.md"))
    (tree / "hugo.toml").write_text("baseURL = '/'\ncontentDir = 'a'\n")
    requests: Counter[str] = Counter()
    is_file = os.path.isfile

    def counted(path: str) -> bool:
        requests[path] += 1
        return is_file(path)

    with monkeypatch.context() as patched:
        patched.setattr(os.path, "isfile", counted)
        [project] = projects.find_projects(tasks(names, None, Options()), Counter())
    assert project.generator == "hugo"
    assert requests[str(above / "mkdocs.yml")] == 1


def test_removed_parts_of_a_configuration_count(tree: Path) -> None:
    (tree / "conf.py").write_bytes(b"\0" * 1000)
    assert len(configuration.read_configuration(str(tree / "conf.py"), str(tree), 1 << 20)) == 1000


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("mkdocs.yml", "INHERIT: ../../big.yml", "big.yml"),
        (".vitepress/config.ts", "import x from './big'", ".vitepress/big.ts"),
    ],
)
def test_files_named_by_many_configurations_share_the_limit(
    name: str, text: str, named: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 small configurations that inherit from one of 256 KiB took 5 s."""
    monkeypatch.setattr(projects, "_MAX_TOTAL_BYTES", 10_000)
    for number in range(20):
        folder = tree / "a" / f"d{number}"
        for file, content in ((folder / named, "# \n" * 1000), (tree / named, "# \n" * 1000), (folder / name, text)):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
    results = projects.find_projects(tasks([str(tree)], None, Options()), unread := Counter[str]())
    assert 0 < sum(project.named_length for project in results) < 13_000
    assert unread["configurations beyond 16 MiB together"] >= 15


def test_a_page_with_parameters_is_searched_in_few_folders(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        (tree / f"d{number}").mkdir()
    assert not vitepress.read(str(tree), str(tree / ".vitepress/config.ts"), "").more_pages
    monkeypatch.setattr(vitepress, "_MAX_FOLDERS", 10)
    assert vitepress.read(str(tree), str(tree / ".vitepress/config.ts"), "").more_pages
