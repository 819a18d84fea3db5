"""The small sites of test_generators.py, built by the generators.

A reference with an error in the sources is broken on the built site, and one without works there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest

from overthere.broken import KINDS, Checker, Summary, check
from test_generators import SITES

OUTPUT = "built"
PROGRAMS = Path(__file__).resolve().parents[2] / "build" / "programs" / "bin"


class Build(NamedTuple):
    """How a site is built."""

    command: tuple[str, ...]
    prefix: str
    """The path of the published site."""
    more: dict[str, str]
    """Files that the build needs, without references."""
    package: str = ""
    """Packages of the index, if this test installs the generator."""


BUILDS: dict[str, Build] = {
    "sphinx": Build((sys.executable, "-m", "sphinx", "-Q", ".", OUTPUT), "/", {}),
    "mdbook": Build(
        ("mdbook", "build", "-d", OUTPUT),
        "/",
        {"text/SUMMARY.md": "# Summary\n\n- [Start](README.md)\n- [One](a.md)\n- [Two](b/c.md)\n"},
    ),
    "mkdocs": Build(
        ("mkdocs", "build", "-q", "-d", OUTPUT),
        "/site/",
        {
            "mkdocs.yml": "site_name: x\nsite_url: https://h.example/site/\ntheme: material\nplugins:\n  - search\n"
            "  - tags\nmarkdown_extensions:\n  - pymdownx.snippets\n"
        },
        "mkdocs-material==9.6.14",
    ),
    "hugo": Build(
        ("hugo", "--quiet", "-d", OUTPUT),
        "/",
        {
            "config.toml": "baseURL = 'https://h.example/'\n",
            "layouts/_default/single.html": "<html>{{ .Content }}</html>",
            "layouts/_default/list.html": "<html>{{ .Content }}</html>",
            "layouts/shortcodes/include.html": "",
        },
    ),
    **dict.fromkeys(
        ("hugo with names that it changes", "hugo with the language in addresses"),
        Build(
            ("hugo", "--quiet", "-d", OUTPUT),
            "/",
            {f"layouts/_default/{name}.html": "<html>{{ .Content }}</html>" for name in ("single", "list")},
        ),
    ),
    "jekyll": Build(("jekyll", "build", "-q", "-d", OUTPUT), "/site/", {}),
    "jekyll with titles that it changes": Build(("jekyll", "build", "-q", "-d", OUTPUT), "/", {}),
}
# Rows that the plain generator does not support, and why.
NOT_BUILT = {
    "<inv:python#index>": "the inventory is on a server",
    "/site/was/": "a plug-in that Debian does not have",
}


def program(build: Build, folder: Path) -> str:
    """The generator."""
    if not build.package:
        results = shutil.which(build.command[0], path=f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
        return results or pytest.skip(f"{build.command[0]} is not installed")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", build.package]
    result = subprocess.run(install, capture_output=True, text=True, check=False)
    if result.returncode and "NewConnectionError" in result.stderr:
        pytest.skip("the package index cannot be reached")
    assert result.returncode == 0, result.stderr
    return str(folder / "bin" / build.command[0])


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", BUILDS)
def test_sources_and_built_site_have_the_same_findings(name: str, tmp_path: Path) -> None:
    build = BUILDS[name]
    command = [program(build, tmp_path / "environment"), *build.command[1:]]
    files, rows = SITES[name]
    sources = tmp_path / "sources"
    for path, text in {**files, **build.more}.items():
        (sources / path).parent.mkdir(parents=True, exist_ok=True)
        (sources / path).write_text(text)
    for number, (path, source, _) in enumerate(rows):
        called = re.sub(r"(?<=[\[>`])x(?=[\]< ])", f"row{number}", source)
        with (sources / path).open("a") as file:
            file.write(f"\n{called}\n")
    result = subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    checker = Checker(base=(f"https://h.example{build.prefix}",))
    broken = {
        (results.source, results.reference)
        for results in check([sources / OUTPUT], checker, Summary())
        if KINDS[results.kind].level == "error"
    }
    wrong = []
    judged = 0
    for number, (_, source, reported) in enumerate(rows):
        links = list(links_labelled(f"row{number}", sources / OUTPUT))
        if reported not in ("error", "fine") or any(name in source for name in NOT_BUILT):
            continue
        judged += bool(links)
        is_broken = all(link in broken for link in links)  # a reference that did not become a link is broken
        if (links or reported == "error") and is_broken != (reported == "error"):
            wrong.append((source, reported, links))
    assert wrong == []
    assert judged > len(rows) // 3


def links_labelled(label: str, site: Path) -> Iterator[tuple[str, str]]:
    """The pages with a link or an image of this label, and its target."""
    link = re.compile(rf'<a\s[^>]*?href="([^"]*)"[^>]*>(?:\s*<span[^>]*>)?\s*{label}<')
    for path in sorted(site.rglob("*.html")):
        text = path.read_text("utf-8")
        yield from ((str(path), unescape(match[1])) for match in link.finditer(text))
        for image in re.findall(rf'<img\s[^>]*alt="{label}"[^>]*>', text):
            yield from ((str(path), unescape(match)) for match in re.findall(r'src="([^"]*)"', image))
