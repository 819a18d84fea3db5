"""Pictures of the terminal: the complete tmux screen, in both themes, without external resources."""

from __future__ import annotations

import re
import shutil
import sys
from xml.etree import ElementTree

import pytest

from support import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import captures
from overthere.cli.app import VERBS

TMUX = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
SVG = "{http://www.w3.org/2000/svg}"


@TMUX
def test_a_screen_is_as_wide_as_its_terminal() -> None:
    with captures.terminal() as tmux:
        screen = tmux.screen(["printf '\\n\\033[31m%s\\033[0m' " + "ab" * 20, "ls; tput cols"], 32)
        assert tmux.screen(["echo again"], 60).split("\n") == ["$ echo again", "again"]
        assert tmux.ask("list-sessions", "-F", "#{session_name}") == "kept\n"
    plain = re.sub("\x1b\\[[0-9;]*m", "", screen).split("\n")
    start = plain.index("ab" * 16)
    assert plain[start + 1] == "abababab"
    assert plain[-2:] == ["examples", "32"]
    assert "\x1b[31m" in screen


def test_a_picture_has_both_themes_and_no_external_resources() -> None:
    picture = captures.draw_screen("a<b> \x1b[31mred\x1b[0m\nhttp://h/", 40, "a & b")
    root = ElementTree.fromstring(picture)
    assert "".join(root.itertext()).count("red") == 1
    assert root.findtext(f"{SVG}title") == "a & b"
    assert root.get("role") == "img"
    texts = ["".join(element.itertext()).replace("\xa0", " ").strip() for element in root.iter(f"{SVG}text")]
    assert texts == ["a<b>", "red", "http://h/"]
    style = root.findtext(f"{SVG}style") or ""
    assert len(re.findall(r"\.t-r2 \{ fill: #[0-9a-f]{6} \}", style)) == 2
    assert "prefers-color-scheme: dark" in style
    assert not re.search(r"href|url\(|@import|<image|<script", picture)


def test_omitted_lines_of_a_picture_are_counted() -> None:
    rows = [str(row) for row in range(captures.ROWS + 5)]
    assert captures.crop("\n".join(rows)).endswith("... 5 more lines\x1b[0m")
    assert captures.crop("\n".join(rows[:-4])) == "\n".join(rows[:-4])


def test_pages_show_the_stored_pictures() -> None:
    page = ROOT / "docs" / "start.md"
    pictures = re.findall(r"\((pictures/terminal/[^)]+)\)", page.read_text())
    assert sorted(pictures) == sorted(file.relative_to(page.parent).as_posix() for file in captures.KEPT.iterdir())
    assert all(file.stem.rpartition("-")[0] in VERBS for file in captures.KEPT.iterdir())
