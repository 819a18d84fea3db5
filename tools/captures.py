"""Pictures of what the command prints for people, at 60, 80 and 120 columns, in build/terminal.

Those that docs/start.md shows are copied to docs/pictures/terminal.

python tools/captures.py [--help-texts FOLDER]

Each verb's examples are typed in tmux, whose screen is captured.  A picture follows its reader's choice of dark or
light; it brings no font, and fetches nothing.  Without tmux only a message is printed.  With --help-texts the help of
every verb is written to a folder too, to be looked at.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

PICTURES = ROOT / "build" / "terminal"
KEPT = ROOT / "docs" / "pictures" / "terminal"
"""The pictures that docs/start.md shows."""
WIDTHS = (60, 80, 120)
ROWS = 48
"""The maximum of lines in a picture; a longer one ends with the number of lines left out."""
_TALL = 400
"""Rows of the terminal: nothing scrolls out of it."""
_SECONDS = 60
_MARGIN = 10
_DARK = ("#14181d", "#d7dde3", ["#14181d", "#f0716b", "#67b388", "#d3a04d", "#5ea3d6", "#c792ea", "#56b6c2", "#d7dde3"])
_LIGHT = (
    "#ffffff",
    "#1f2933",
    ["#1f2933", "#b42318", "#2f7a4d", "#8a6116", "#1f5f99", "#8e3bb0", "#0f7285", "#616e7c"],
)
_FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {terminal_width} {terminal_height}" role="img" \
aria-labelledby="title"><title id="title">TITLE</title><style>
text {{ font: {char_height}px "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre }}
{styles}
</style><rect class="back" width="100%" height="100%" rx="8"/>
<g transform="translate({terminal_x}, 4)">{backgrounds}{matrix}</g></svg>
"""


class Tmux:
    """A server of our own, on a socket of its own, which knows nobody's settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "socket"
        self.settings = folder / "tmux.conf"
        self.settings.write_text('set -g status off\nset -g default-terminal "screen-256color"\n')

    def ask(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self.socket), "-f", str(self.settings), *arguments]
        removed = {"TMUX", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"}
        environment = {name: value for name, value in os.environ.items() if name not in removed}
        search = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        environment |= {"PATH": search, "LC_ALL": "C.UTF-8", "PYTHONWARNINGS": "ignore"}
        return subprocess.run(
            command, env=environment, cwd=self.folder, capture_output=True, text=True, check=True, timeout=_SECONDS
        ).stdout

    def screen(self, lines: list[str], width: int) -> str:
        """The content of a terminal with this many columns after typing these lines, with its colours."""
        script = self.folder / "typed.sh"
        quoted = ("'" + line.replace("'", "'\\''") + "'" for line in lines)
        typed = [f"printf '$ %s\\n' {prompt}\n{line}\necho" for prompt, line in zip(quoted, lines, strict=True)]
        ended = f"tmux -S {self.socket} wait-for -S ended"
        script.write_text("\n".join([*typed, ended, "exec sleep 600"]))
        size = ("-x", str(width), "-y", str(_TALL))
        self.ask("new-session", "-d", "-s", "typed", *size, "-c", str(self.folder / "work"), "bash", str(script))
        try:
            self.ask("wait-for", "ended")
            return self.ask("capture-pane", "-e", "-p", "-t", "typed").rstrip()
        finally:
            self.ask("kill-session", "-t", "typed")


@contextmanager
def terminal() -> Iterator[Tmux]:
    """tmux in a folder that has `examples/`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "work" / "examples")
        tmux = Tmux(folder)
        # A server ends with its last session, and whoever asks it meanwhile is turned away: this one keeps it.
        tmux.ask("new-session", "-d", "-s", "kept", "sleep", "infinity")
        try:
            yield tmux
        finally:
            tmux.ask("kill-server")


def draw_screen(screen: str, width: int, title: str) -> str:
    """The picture of a screen, in the colours of both themes."""
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    def rgb(colour: str) -> tuple[int, int, int]:
        return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)

    styles, body = [], ""
    for back, text, normal in (_LIGHT, _DARK):
        console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor")
        console.print(Text.from_ansi(screen), soft_wrap=True)
        theme = TerminalTheme(rgb(back), rgb(text), [rgb(rule) for rule in normal], None)
        body = console.export_svg(theme=theme, code_format=_FRAME, unique_id="t")
        style = re.search(r"<style>\n(text.*\n)((?:.*\n)*?)</style>", body)
        assert style is not None
        rules = " ".join(line.strip() for line in style[2].splitlines() if line.strip())
        styles.append(f".back {{ fill: {back} }} {rules}")
    # The frame of rich has more room around its text than this one.
    body = re.sub(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', _with_margin, body, count=1)
    # Each line has a clip path, which does nothing where lines fit their terminal, and its end as a text of its own.
    body = re.sub(r' clip-path="[^"]*"|<text [^>]*>\n</text>', "", body).replace("TITLE", escape(title))
    both = f"{styles[0]}\n@media (prefers-color-scheme: dark) {{ {styles[1]} }}"
    return re.sub(r"(<style>\ntext.*\n)(?:.*\n)*?</style>", lambda match: f"{match[1]}{both}\n</style>", body)


def _with_margin(size: re.Match[str]) -> str:
    return f'viewBox="0 0 {float(size[1]) + 2 * _MARGIN:g} {float(size[2]) + 2 * _MARGIN:g}"'


def crop(screen: str) -> str:
    lines = screen.split("\n")
    excess = len(lines) - ROWS
    return screen if excess <= 1 else "\n".join([*lines[:ROWS], f"\x1b[0;2m... {excess} more lines\x1b[0m"])


def take(into: Path, helps: Path | None) -> None:
    """A picture of each verb at each width."""
    from overthere.cli.app import VERBS
    from overthere.cli.examples import EXAMPLES

    into.mkdir(parents=True, exist_ok=True)
    with terminal() as tmux:
        for verb in VERBS:
            lines = [example.line for example in EXAMPLES[verb] if not example.not_run]
            for width in WIDTHS:
                if lines:
                    screen = crop(tmux.screen(lines, width))
                    (into / f"{verb}-{width}.svg").write_text(draw_screen(screen, width, f"overthere {verb}"))
                if helps is not None:
                    helps.mkdir(parents=True, exist_ok=True)
                    output = tmux.screen([f"overthere {verb} --help"], width)
                    (helps / f"{verb}-{width}.txt").write_text(re.sub("\x1b\\[[0-9;]*m", "", output) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--help-texts", type=Path, metavar="FOLDER")
    if shutil.which("tmux") is None:
        print(f"{KEPT.relative_to(ROOT)} stays as it is: tmux is not installed")
    else:
        take(PICTURES, parser.parse_args().help_texts)
        for picture in KEPT.iterdir():
            shutil.copy(PICTURES / picture.name, picture)
