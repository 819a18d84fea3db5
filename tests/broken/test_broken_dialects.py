"""Anchors of random Markdown documents compared with the real programs; detecting a project's program."""

from __future__ import annotations

import html
import importlib
import json
import random
import re
import shutil
import subprocess
import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from overthere.broken import Checker, Summary, check, find
from overthere.broken.heading_slugs import slug
from overthere.broken.markdown_anchors import MarkdownAnchors
from support import linear
from test_broken_settings import run

WORDS = (
    "alpha", "Beta", "GAMMA", "2.0", "10", "a_b", "é", "Straße", "你好", "x²", "½", "it's", '"q"', "(p)", "a/b", "C++",
    "C#", "foo-bar", "—", "&amp;", "&", "-", "--", "...", "ΟΔΟΣ", "İ", "हिन्दी", "!", "?", "a:b", "50%", "`code x`",
    "*em*", "**st**", "[link](u.md)", "![alt](i.png)", "<b>h</b>", "\\*esc", "T_", "~",
)  # fmt: skip
FAMILIES = {"pymdownx": "mkdocs", "pandoc-gfm": "pandoc", "jekyll": "kramdown"}
MARKED = {
    "mkdocs": (
        "# {words} {{#{own}}}",
        "text *e*{{: #{own} }} and [l](u){{#{own}b}}",
        "para {words}\n{{: #{own} .c }}",
        "x[^{own}] y\n\n[^{own}]: foot",
    ),
    "pandoc": (
        "# {words} {{#{own}}}",
        "[s]{{#{own}}} `c`{{#{own}b}} [l](u){{.x #{own}c}}",
        "::: {{#{own}}}\n{words}\n:::",
        "x[^{own}] y\n\n[^{own}]: foot",
    ),
    "kramdown": (
        "# {words} {{#{own}}}",
        "*e*{{:#{own}}} [l](u){{: .c #{own}b}} x{{:#no}}",
        "para\n{{:#{own}}}",
        "{{:#{own}}}\npara",
        "# head {words}\n{{:#{own}}}",
        "x[^{own}] y\n\n[^{own}]: foot",
    ),
    "hugo": ("# {words} {{#{own}}}", "x[^{own}] y\n\n[^{own}]: foot"),
    "myst": ("({own})=\n# {words}", "({own})=\npara {words}"),
}
KRAMDOWN = """require 'kramdown'; require 'kramdown-parser-gfm'; require 'json'
STDIN.each_line { |line| text, input = JSON.parse(line)
  puts JSON.generate(Kramdown::Document.new(text, input: input).to_html) }"""


def document(draw: random.Random, marked: tuple[str, ...]) -> str:
    def words(most: int = 4) -> str:
        return " ".join(draw.choice(WORDS) for _ in range(draw.randint(1, most)))

    blocks = []
    for _ in range(draw.randint(2, 8)):
        match draw.randint(0, 9):
            case 0 | 1 | 2 | 3:
                blocks.append(f"{'#' * draw.randint(1, 4)} {words()}")
            case 4:
                blocks.append(f"Set {words(2)}\n{draw.choice('=-') * 4}")
            case 5:
                blocks.append(f"para {words()}\n# {words(2)}")
            case _:
                blocks.append(draw.choice(marked).format(words=words(2), own=f"o{draw.randint(0, 9)}"))
    return "\n\n".join(blocks) + "\n"


def by_kramdown(documents: list[str], rule: str) -> list[str]:
    if shutil.which("ruby") is None:
        pytest.skip("ruby is not installed")
    mode = "GFM" if rule == "jekyll" else "kramdown"
    stdin = "".join(json.dumps([text, mode]) + "\n" for text in documents)
    result = subprocess.run(["ruby", "-e", KRAMDOWN], input=stdin, capture_output=True, text=True, encoding="utf-8")
    if "cannot load such file" in result.stderr:
        pytest.skip("kramdown is not installed")
    return [json.loads(line) for line in result.stdout.splitlines()]


def by_pandoc(documents: list[str], rule: str) -> list[str]:
    if shutil.which("pandoc") is None:
        pytest.skip("pandoc is not installed")
    form = "markdown+gfm_auto_identifiers" if rule == "pandoc-gfm" else "markdown"
    command = ["pandoc", "-f", form, "-t", "html"]
    return [
        subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8").stdout
        for text in documents
    ]


def by_python_markdown(documents: list[str], rule: str) -> list[str]:
    markdown = importlib.import_module("markdown")
    settings = {}
    if rule == "pymdownx":
        from pymdownx.slugs import slugify

        settings = {"toc": {"slugify": slugify(case="lower")}}
    extensions = ["toc", "attr_list", "footnotes"]
    return [markdown.markdown(text, extensions=extensions, extension_configs=settings) for text in documents]


def by_hugo(documents: list[str], rule: str) -> list[str]:
    if shutil.which("hugo") is None:
        pytest.skip("hugo is not installed")
    with tempfile.TemporaryDirectory() as name:
        site = Path(name)
        for folder in ("content", "layouts/_default"):
            (site / folder).mkdir(parents=True)
        (site / "hugo.toml").write_text(
            "baseURL = 'https://h.example/'\ndisableKinds = ['home', 'taxonomy', 'term', 'section']\n"
        )
        (site / "layouts/_default/single.html").write_text("{{ .Content }}")
        for number, text in enumerate(documents):
            (site / f"content/{number}.md").write_text(text, "utf-8")
        subprocess.run(["hugo", "--source", name, "--quiet"], check=True)
        return [(site / f"public/{number}/index.html").read_text("utf-8") for number in range(len(documents))]


def by_myst(documents: list[str], rule: str) -> list[str]:
    from docutils.core import publish_string
    from myst_parser.parsers.docutils_ import Parser

    # As Sphinx configures it.
    settings = {"myst_heading_anchors": 7, "report_level": 5, "auto_id_prefix": "id", "embed_stylesheet": False}
    pages = (publish_string(text, parser=Parser(), writer="html5", settings_overrides=settings) for text in documents)
    return [finding.decode().partition("<body>")[2] for finding in pages]


PROGRAMS: dict[str, tuple[Callable[[list[str], str], list[str]], int]] = {
    "kramdown": (by_kramdown, 400), "jekyll": (by_kramdown, 400), "pandoc": (by_pandoc, 25),
    "pandoc-gfm": (by_pandoc, 25), "mkdocs": (by_python_markdown, 300), "pymdownx": (by_python_markdown, 100),
    "myst": (by_myst, 100), "hugo": (by_hugo, 300),
}  # fmt: skip
"""The function that makes HTML with each program, and the number of documents: pandoc starts for each."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rule", PROGRAMS)
def test_random_documents_have_the_programs_anchors(rule: str) -> None:
    """Two known differences are avoided: MyST numbers `id1` with footnotes, and pandoc gives lines of code anchors."""
    draw = random.Random(rule)
    program, count = PROGRAMS[rule]
    documents = [document(draw, MARKED[FAMILIES.get(rule, rule)]) for _ in range(count)]
    for text, result in zip(documents, program(documents, rule), strict=True):
        read = MarkdownAnchors(rule)
        read.read(text)
        expected = {html.unescape(name) for name in re.findall(r'<\w+[^>]*?\sid="([^"]*)"', result)}
        assert read.anchors == expected - {""}, text


HEADINGS = (
    "A {.cls}", "A {: .cls}", "A {#own .c}", "A {.c #own}", "A {id=own}", 'A {id="own" class=x}', "A {color=red}",
    "A {not attr}", "A {: #own}",
    "A {:#own}", "A {-}", "A {.unnumbered}", "A `{#x}`", "A \\{#x}", "A{#own}", "A {#o w}",
    "A {.a} b", "{.cls}", "[l](u){.b} x", "A [l](u){#own}", "`c`{.py} d", "**b**{.x}", "*A*{#own}", "A `c` {.c}",
    "![i](x.png){width=3} T", "A [s]{.smallcaps} z",
)  # fmt: skip


@pytest.mark.parametrize("rule", ["hugo", "jekyll", "kramdown", "mkdocs", "pandoc", "pymdownx"])
def test_attribute_lists_of_headings(rule: str) -> None:
    documents = [f"x\n\n# {heading}\n\ny\n" for heading in HEADINGS]
    for text, result in zip(documents, PROGRAMS[rule][0](documents, rule), strict=True):
        read = MarkdownAnchors(rule)
        read.read(text)
        assert read.anchors == {html.unescape(name) for name in re.findall(r'<\w+[^>]*?\sid="([^"]+)"', result)}, text


def letters(draw: random.Random) -> str:
    """Letters, marks and digits of any script known to every program (Unicode 3.2)."""
    while True:
        character = chr(
            draw.choice((draw.randrange(0xA1, 0x500), draw.randrange(0x500, 0x3000), draw.randrange(0x3400, 0xD7A4)))
        )
        if unicodedata.ucd_3_2_0.category(character)[0] in "LMNS" and character not in "`´¨^~":
            return character


@pytest.mark.parametrize("rule", ["kramdown", "jekyll", "pandoc", "pandoc-gfm"])
def test_random_letters_have_the_programs_anchors(rule: str) -> None:
    draw = random.Random(rule)
    titles = [f"a{number}z{''.join(letters(draw) for _ in range(6))}" for number in range(500)]
    text = "".join(f"# {title}\n\n" for title in titles)
    (result,) = PROGRAMS[rule][0]([text], rule)
    names = [html.unescape(name) for name in re.findall(r'<h1[^>]*? id="([^"]*)"', result)]
    assert [slug(title, rule) for title in titles] == names


@pytest.mark.parametrize(
    ("title", "rule", "expected"),
    [
        # tests of github-slugger and remark-slug.
        ("Lorem ipsum 😪", "docusaurus", "lorem-ipsum-"),
        ("dolor—sit—amet", "docusaurus", "dolorsitamet"),
        ("consectetur & adipisicing", "docusaurus", "consectetur--adipisicing"),
        ("Привет non-latin 你好", "docusaurus", "привет-non-latin-你好"),
        # mdBook, tests of normalize_id.
        ("`--passes`: add more rustdoc passes", "mdbook", "--passes-add-more-rustdoc-passes"),
        ("Method-call 🐙 expressions \U0001f47c", "mdbook", "method-call--expressions-"),
        ("_-_12345", "mdbook", "_-_12345"),
        ("中文標題 CJK title", "mdbook", "中文標題-cjk-title"),
        # The manual of pandoc, auto_identifiers; its row with "--" is of pandoc without the extension smart.
        ("Heading identifiers in HTML", "pandoc", "heading-identifiers-in-html"),
        ("Maître d'hôtel", "pandoc", "maître-dhôtel"),
        ("[HTML], [S5], or [RTF]?", "pandoc", "html-s5-or-rtf"),
        ("3. Applications", "pandoc", "applications"),
        ("33", "pandoc", "section"),
    ],
)  # fmt: skip
def test_examples_of_the_documentation(title: str, rule: str, expected: str) -> None:
    read = MarkdownAnchors(rule)
    read.read(f"# {title}\n")
    assert read.anchors == {expected}


def test_equal_headings_of_mdbook_have_unique_anchors() -> None:
    read = MarkdownAnchors("mdbook")
    read.read("# A\n\n# A\n\n# A-1\n")
    assert read.anchors == {"a", "a-1", "a-1-1"}


def test_footnotes_of_vitepress_are_numbered_like_markdown_it() -> None:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.footnote import footnote_plugin

    text = "a[^b] c[^b] d[^e] f[^b]\n\n[^b]: B\n\n[^e]: E\n"
    read = MarkdownAnchors("vitepress")
    read.read(text)
    assert read.anchors == set(re.findall(r' id="([^"]*)"', MarkdownIt().use(footnote_plugin).render(text)))


@pytest.mark.parametrize("text", ["{#own}", "{/* #own */}"])
def test_explicit_anchors_of_docusaurus(text: str) -> None:
    read = MarkdownAnchors("docusaurus")
    read.read(f"### Hello World {text}\n\n## Hello World\n")
    assert read.anchors == {"own", "hello-world"}


@pytest.mark.parametrize(
    ("file", "content", "page", "wanted"),
    [
        ("mkdocs.yml", "site_name: x\n", "docs/a.md", "mkdocs"),
        ("mkdocs.yml", 'docs_dir: "pages" # here\n', "pages/a.md", "mkdocs"),
        ("mkdocs.yml", "docs_dir: pages\n", "docs/a.md", "github"),
        ("mkdocs.yml", "toc:\n  slugify: !!python/object/apply:pymdownx.slugs.slugify\n", "docs/a.md", "pymdownx"),
        ("docs/conf.py", "project = 'x'\nmyst_heading_anchors = 3\n", "docs/in/a.md", "myst:3"),
        ("docs/conf.py", "project = 'x'\n", "docs/a.md", "sphinx"),
        ("docs/conf.py", "import os\n", "docs/a.md", "github"),
        ("docusaurus.config.ts", "", "docs/a.md", "docusaurus"),
        ("_config.yml", "title: x\n", "a.md", "jekyll"),
        ("_config.yml", "kramdown:\n  input: kramdown\n", "a.md", "kramdown"),
        ("book.toml", "[book]\n", "src/a.md", "mdbook"),
        ("book.toml", "[book]\nsrc = 'pages'\n", "pages/a.md", "mdbook"),
    ],
)
def test_the_configured_program_is_detected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, content: str, page: str, wanted: str
) -> None:
    from overthere.broken.projects import project_of

    for name, text in ((file, content), (page, "# A\n")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / ".git").mkdir()
    for source in (tmp_path, tmp_path / page):
        summary = Summary()
        assert list(check([source], Checker(), summary)) == []
        assert project_of(Checker(projects=summary.projects), str(tmp_path / page)).anchors == wanted
    monkeypatch.chdir(tmp_path)
    told = run(page).stderr
    is_known = content != "import os\n"
    assert (f"({file}), anchors as {wanted.partition(':')[0]} (--anchors overrides it)" in told) is (wanted != "github")
    assert ("anchors as gitlab" in run(page, "--anchors", "gitlab").stderr) is is_known


def test_targets_of_myst_are_global(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("(Here_it-is)=\n# A\n\n[b](#there) [b](#gone) [a](#a)\n")
    (tmp_path / "b.md").write_text("```{note}\n:name: there\n[a](#here_it-is) [x](a.md#here-it-is) [y](a.md#no)\n```\n")
    references = [finding.reference for finding in check([tmp_path], Checker(anchors="myst"), Summary())]
    assert references == ["#gone", "a.md#no"]
    assert len(list(check([tmp_path], Checker(anchors="github"), Summary()))) > 2


def test_colon_fences_of_myst_have_names(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        ":::{figure} a.md\n:alt: x\n:name: Fig 1\ncaption\n:::\n\n::::{grid}\n:::{card}\n:name: card\n:::\n::::\n\n"
        ":::{note}\n[b](#fig-1) [b](#card) [c](#gone)\n:name: gone\n:::\n"
    )
    references = [finding.reference for finding in check([tmp_path], Checker(anchors="myst"), Summary())]
    assert references == ["#gone"]


@pytest.mark.parametrize("rule", ["github", "gitlab", "mkdocs", "myst", "pandoc-gfm", "jekyll", "docusaurus", "mdbook"])
def test_a_label_is_not_a_part_of_a_heading(tmp_path: Path, rule: str) -> None:
    (tmp_path / "a.md").write_text(
        "# The [old][rfc 1] way\n\n[a](#the-old-way) [b](#the-oldrfc-1-way)\n\n[rfc 1]: a.md\n"
    )
    references = [finding.reference for finding in check([tmp_path], Checker(anchors=rule), Summary())]
    assert references == ["#the-oldrfc-1-way"]
    references = [finding.reference for finding in check([tmp_path], Checker(anchors="pandoc"), Summary())]
    assert references == ["#the-old-way"]


def test_slugs_of_myst_omit_formulas_and_footnotes(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# The $m_1$ way[^1]\n\n[a](#the--way) [b](#the-no-way)\n\n[^1]: A note\n")
    references = [finding.reference for finding in check([tmp_path], Checker(anchors="myst"), Summary())]
    assert references == ["#the-no-way"]


@pytest.mark.parametrize("suggest", [True, False])
@pytest.mark.parametrize(("rule", "kind"), [("auto", "unsure"), ("github", "unsure"), ("gitlab", "no-fragment")])
def test_only_github_ignores_the_case_of_anchors(tmp_path: Path, rule: str, kind: str, suggest: bool) -> None:
    (tmp_path / "a.md").write_text("# On Windows\n\n[a](#On-Windows) [b](#on-windows) [c](b.md#Änder) [d](#nope)\n")
    (tmp_path / "b.md").write_text("# Änder\n")
    (tmp_path / "c.html").write_text("<h1 id=top-of-it>x</h1><a href='#Top-of-it'>x</a>")
    findings = list(check([tmp_path], Checker(anchors=rule, suggest=suggest), Summary()))
    assert [(finding.kind, finding.reference) for finding in findings] == [
        (kind, "#On-Windows"), (kind, "b.md#Änder"), ("no-fragment", "#nope"), ("no-fragment", "#Top-of-it"),
    ]  # fmt: skip
    assert findings[0].suggestion == ("#on-windows" if suggest else None)


def test_links_in_admonitions_tabs_and_footnotes_are_found(tmp_path: Path) -> None:
    text = (
        '!!! note "T"\n\n    [a](a1)\n\n    ??? tip\n\n        [b](b1)\n\n=== "Tab"\n\n    # In a tab\n\n    - x\n\n'
        "        [c](c1)\n\n[^1]: foot\n\n    [d](d1)\n\n```\n!!! note\n\n    [no](no)\n```\n\n    [code](no)\n"
        "[e](#in-a-tab)\n"
    )
    (tmp_path / "a.md").write_text(text)
    results = [(finding.line, finding.reference) for finding in check([tmp_path], Checker(anchors="mkdocs"), Summary())]
    assert results == [(3, "a1"), (7, "b1"), (15, "c1"), (19, "d1")]


@pytest.mark.parametrize("rule", [*PROGRAMS, "github", "gitlab", "docusaurus", "mdbook", "sphinx"])
@pytest.mark.parametrize(
    "piece",
    [
        "# a\n",
        "# {#",
        "{:#a} ",
        "*a*{:#b} ",
        "[a]{#b} ",
        "(a)=\n",
        "```{note}\n",
        "!!! a\n    ",
        "[^a] ",
        "# --",
        "::: {#a}\n",
        "{#a}\n\n",
    ],
)
def test_hostile_texts_are_linear(rule: str, piece: str) -> None:
    linear(lambda size: MarkdownAnchors(rule).read(piece * (size // len(piece))), 30_000)


def test_a_heading_can_be_referenced_by_its_text(tmp_path: Path) -> None:
    """MyST finds headings that docutils finds unique; not from other documents, nor in other case."""
    (tmp_path / "conf.py").write_text("extensions = ['myst_parser']\nmyst_heading_anchors = 3\n")
    headings = "# A\n\n## coap+tcp\n\n## Two Words\n\n## Twice+over\n\n## Twice+over\n\n"
    fine = "[1](#coap+tcp) [2](<#two words>) [3](#two%20words) [4](#coaptcp)\n"
    (tmp_path / "a.md").write_text(headings + fine + "[5](<#Two Words>) [6](#COAP+TCP) [7](#twice+over)\n")
    (tmp_path / "b.md").write_text("# B\n\n[8](#coap+tcp) [9](a.md#coap+tcp) [10](a.md#coaptcp)\n")
    references = [finding.reference for finding in find(tmp_path) if finding.source.endswith(".md")]
    assert references == ["#Two Words", "#COAP+TCP", "#twice+over", "#coap+tcp", "a.md#coap+tcp"]
