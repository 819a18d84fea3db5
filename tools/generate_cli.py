"""A page and a man page for each verb, from its own help and its examples; the pages show what these print.

The folder `share` is installed with the package: the man pages, and the completion of each shell.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from overthere import __version__
from overthere.cli.app import VERBS, app
from overthere.cli.examples import EXAMPLES, Example

ROOT = Path(__file__).resolve().parent.parent
_COLUMNS = 80
# The number of output lines that are shown; "..." replaces the others, and text that differs from run to run.
_LINES = 20
_MEASURED = re.compile(r"(?<= in )[\d.]+ s(?:, [\d.,]+/s)?")


def outputs() -> dict[str, Callable[[], str]]:
    """Each file, and what makes it."""
    return {
        "docs/cli/index.md": _index,
        **{f"docs/cli/{verb}.md": partial(_page, verb) for verb in VERBS},
        "share/man/man1/overthere.1": _manual_of_all,
        **{f"share/man/man1/overthere-{verb}.1": partial(_manual, verb) for verb in VERBS},
        **{file: partial(_completion, shell) for shell, file in COMPLETIONS.items()},
    }


COMPLETIONS = {
    "bash": "share/bash-completion/completions/overthere",
    "zsh": "share/zsh/site-functions/_overthere",
    "fish": "share/fish/vendor_completions.d/overthere.fish",
}
"""Where each shell looks for the completion of a command, below the prefix of an installation."""


def _completion(shell: str) -> str:
    kind = get_completion_class(shell)
    assert kind is not None
    return kind(app, {}, "overthere", "_OVERTHERE_COMPLETE").source().rstrip("\n") + "\n"


@cache
def _root_context() -> click.Context:
    return click.Context(app, info_name="overthere", terminal_width=_COLUMNS, **app.context_settings)


def _verbs(verb: str, above: click.Context | None = None) -> Iterator[tuple[str, click.Context]]:
    """A verb and those below it: the words, and click's context of it."""
    above = above or _root_context()
    assert isinstance(above.command, click.Group)
    command = above.command.get_command(above, verb)
    assert command is not None
    context = command.context_class(command, info_name=verb, parent=above, terminal_width=_COLUMNS)
    yield context.command_path.removeprefix("overthere "), context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from _verbs(name, context)


def _index() -> str:
    rows = [f"| [`{verb}`]({verb}.md) | {about} |" for verb, about in VERBS.items()]
    return "\n".join(
        [
            "# The command line",
            "",
            "`pip install 'overthere[cli]'` brings the command `overthere`. `overthere VERB --help` prints the same.",
            "",
            "| verb | what it does |",
            "|---|---|",
            *rows,
            "",
            "```text",
            app.get_help(_root_context()),
            "```",
            "",
            "The package installs these pages for `man` (`man overthere-check`) and the completion of verbs, options",
            "and their values for bash, zsh and fish, in the folder `share` of the environment. `man` finds them there",
            "if its `bin` is in the PATH; a shell, if the environment is that of the system. Otherwise",
            "[`completion`](completion.md) prints what a shell needs: `eval \"$(overthere completion bash)\"`.",
            "",
            'On these pages "..." stands for lines that are left out.',
            "",
            "```{toctree}",
            ":hidden:",
            "",
            *VERBS,
            "```",
            "",
        ]
    )  # fmt: skip


def _page(verb: str) -> str:
    """The help of a verb, and of those below it, and what their examples print."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        for path, context in _verbs(verb):
            text, _, _ = context.get_help().partition("\n\n  Examples:\n")
            mark = "#" * len(path.split())
            lines += [f"{mark} overthere {path}", "", "```text", *map(str.rstrip, text.split("\n")), "```", ""]
            for example in EXAMPLES[path]:
                lines += _show_example(example, Path(folder))
    return "\n".join(lines)


def _show_example(example: Example, folder: Path) -> list[str]:
    if example.not_run:
        return ["```sh", example.line, "```", ""]
    printed = _MEASURED.sub("...", _printed(example.line, folder)).splitlines()
    output = [*printed[:_LINES], "..."] if len(printed) > _LINES + 1 else printed
    return ["```console", f"$ {example.line}", *output, "```", ""]


def _printed(line: str, folder: Path) -> str:
    """As tests/cli/test_console.py has it: standard output, and standard error where the command fails."""
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", "-c", line], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": search, "COLUMNS": "100"},
    )  # fmt: skip
    return result.stdout + (result.stderr if result.returncode else "")


def _manual_of_all() -> str:
    lines = [*_head("overthere", "parse, check, resolve and compare URIs exactly as specified"), ".SH SYNOPSIS"]
    lines += [".B overthere", ".I VERB", "[OPTIONS] [TEXTS]...", *_description(_root_context()), ".SH VERBS"]
    for verb, about in VERBS.items():
        lines += [".TP", f".BR overthere\\-{verb} (1)", *_text(about)]
    return "\n".join([*lines, ".SH OPTIONS", *_options(_root_context()), ""])


def _manual(verb: str) -> str:
    """The man page of a verb; those below it are sections."""
    (_, context), *below = _verbs(verb)
    lines = [*_head(f"overthere-{verb}", VERBS[verb].removesuffix(".")), ".SH SYNOPSIS", *_synopsis(context)]
    lines += [*_description(context), ".SH OPTIONS", *_options(context)]
    for path, under in below:
        lines += [f".SH {_quote(f'OVERTHERE {path}'.upper())}", *_synopsis(under), ".PP", *_description(under)[1:]]
        lines += [*_options(under)]
    examples = dict.fromkeys(example.line for path, _ in [(verb, context), *below] for example in EXAMPLES[path])
    lines += [".SH EXAMPLES", ".EX", *(_roff(part) for line in examples for part in _continued(line)), ".EE"]
    return "\n".join([*lines, ".SH SEE ALSO", ".BR overthere (1)", ""])


def _head(name: str, about: str) -> list[str]:
    return [
        '.\\" Written by tools/generate.py from the help of the command.',
        f'.TH {_quote(name.upper())} 1 "" "overthere {__version__}" "overthere manual"',
        ".ad l",
        ".nh",
        ".SH NAME",
        f"{_roff(name)} \\- {_roff(about)}",
    ]


def _synopsis(context: click.Context) -> list[str]:
    return [f".B {_roff(context.command_path)}", _breakable(" ".join(context.command.collect_usage_pieces(context)))]


def _description(context: click.Context) -> list[str]:
    lines = [".SH DESCRIPTION"]
    for paragraph in _clean_output(context.command.help or "").split("\n\n"):
        lines += [".PP", *_text(paragraph)]
    return [lines[0], *lines[2:]]


def _clean_output(text: str) -> str:
    return "\n".join(line.strip() for line in text.replace("\b\n", "").split("\n"))


def _options(context: click.Context) -> list[str]:
    lines: list[str] = []
    for option in context.command.get_params(context):
        record = option.get_help_record(context)
        if record is not None and (record[1] or record[0].startswith("-")):
            names = re.match(r"(?:-[\w-]+(?:, |/)?)*", record[0])
            assert names is not None
            value = record[0][names.end() :].strip()
            head = rf"\fB{_roff(names[0].rstrip())}\fR {_breakable(value)}"
            lines += [".TP", head.rstrip(), *(_text(record[1]) or ["\\&"])]
    return lines


def _breakable(text: str) -> str:
    """Words of a command; many choices have spaces, at which a line can end."""
    return _roff(text.replace("|", " | ") if len(text) > 70 else text)


def _text(text: str) -> list[str]:
    """Text in lines of at most 80 characters, each sentence on its own, as is usual in roff."""
    sentences = re.split(r"(?<=[.?!;:]) (?=[A-Z])", " ".join(text.split()))
    return [_roff(line) for sentence in sentences for line in textwrap.wrap(sentence, 72, break_on_hyphens=False)]


def _continued(line: str) -> list[str]:
    """A line of a shell in lines that fit a terminal, each but the last continued."""
    words = [word.replace(" ", "\0") for word in re.findall(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""", line)]
    if " ".join(words).replace("\0", " ") != line:
        return [line]
    parts = textwrap.wrap(" ".join(words), 70, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [part.replace("\0", " ") + (" \\" if part is not parts[-1] else "") for part in parts]


def _quote(text: str) -> str:
    return '"' + _roff(text) + '"'


def _roff(text: str) -> str:
    """A line of text as roff has it: no escape, no request, each minus one that is typed."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return f"\\&{text}" if text.startswith(".") else text
