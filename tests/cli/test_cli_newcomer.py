"""First contacts with the command line: wording, suggestions, aligned lines, pipes, Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from overthere.anatomy import explain
from overthere.cli.app import ELSEWHERE, VERBS, app
from overthere.editions.readings import notes, read
from servers import NET, is_idle, wait_until
from support import ROOT
from test_cli import process, run


def test_a_missing_scheme_is_suggested() -> None:
    message = run("check", "example.com").stderr
    assert "expected a scheme and a colon" in message
    assert "did you mean http://example.com?" in message
    assert "meant?" not in run("check", "http://a b/").stderr


def test_a_byte_is_shown_as_a_byte() -> None:
    assert "octet 0xFF is not" in run("check", stdin=b"a:\xff\n").stderr


def test_shortened_texts_show_the_difference() -> None:
    """The editions differ in the last character of a long path; the message of a rung shows changes."""
    long = "a" * 100
    parts = [line.split(": ", 1)[1].split("; ") for line in notes(read(f"http://h/{long}?{long}"))]
    assert all(len({value.rsplit(" (", 1)[0] for value in line}) == len(line) for line in parts)
    changed = next(line for line in str(explain(f"http://h/{long}%7e{long}")).split("\n") if "->" in line)
    assert "%7e" in changed
    assert "%7E" in changed


@pytest.mark.parametrize("verb", ["normalize", "resolve", "repair"])
def test_output_lines_match_input_lines(verb: str) -> None:
    base = ("--base", "http://h/") if verb == "resolve" else ()
    text = b"http://a/\nhttp://[\nhttp://c/\n"
    assert run(verb, *base, stdin=text).stdout == "http://a/\n\nhttp://c/\n"
    assert run(verb, *base, "--on-error", "skip", stdin=text).stdout == "http://a/\nhttp://c/\n"
    stopped = run(verb, *base, "--on-error", "stop", stdin=text)
    assert (stopped.returncode, stopped.stdout) == (1, "http://a/\n")
    rows = run(verb, *base, "--format", "jsonl", stdin=text).stdout.splitlines()
    assert ["error" in json.loads(row) for row in rows] == [False, True, False]


def test_a_dash_is_standard_input_without_its_bom() -> None:
    assert run("check", "-", "b:", stdin=b"\xef\xbb\xbfa:\n").stdout == "valid    a:\nvalid    b:\n"


def test_a_single_component_is_printed_unchanged() -> None:
    assert run("split", "--component", "host", "http://a/", "b", "http://c/").stdout == "a\n\nc\n"


def test_data_on_a_pipe_is_unchanged() -> None:
    """U+E000 is a private-use character: printed on a pipe, replaced on a terminal."""
    assert run("decode", "%EE%80%80").stdout == "\ue000\n"
    octets = subprocess.run(
        [sys.executable, "-m", "overthere", "split", "--component", "path"],
        input=b"a:\xff\n", capture_output=True, check=True, timeout=5 * NET,
    ).stdout  # fmt: skip
    assert octets == b"\xff\n"


def test_output_contains_no_python_repr() -> None:
    text = run("explain", "mailto:joe@example.com,ann@example.com?subject=x").stdout
    assert "joe@example.com, ann@example.com\n" in text
    assert "subject=x\n" in text
    assert "[" not in text


def test_did_you_mean() -> None:
    assert "did you mean check" in run("chek", "x").stderr
    assert "--format" in run("check", "--fromat", "text").stderr
    assert "known: explain, check" in run("frobnicate").stderr
    assert "unknown verb 'join'; use resolve --base\n" in run("join", "http://h/", "a").stderr
    assert not ELSEWHERE.keys() & VERBS.keys()
    assert all(re.split("[ ,]", replacement)[0] in VERBS for replacement in ELSEWHERE.values())
    assert "--json" in (message := run("check", "--json", "a:b").stderr)
    assert "Did you mean '--format jsonl'?" in message
    assert "--format" not in run("completion", "--json").stderr


def test_an_unknown_charset() -> None:
    result = run("decode", "--charset", "nope", "a")
    assert (result.returncode, result.stdout) == (2, "")
    assert "--charset: 'nope' is not a known charset" in result.stderr


@pytest.mark.parametrize("engine", [(), ("--engine", "spark", "-o", "out/")])
def test_a_picture_is_svg(tmp_path: Path, engine: tuple[str, ...]) -> None:
    result = run("links", str(ROOT / "examples" / "site"), "--plot", str(tmp_path / "x.png"), *engine)
    assert result.returncode == 2
    assert "its name must end in .svg" in result.stderr


def test_a_missing_file_is_an_error() -> None:
    """As in `broken`; with further sources it is a row and a warning."""
    for verb in ("links", "broken"):
        result = run(verb, "no-such.html")
        assert (result.returncode, result.stdout) == (2, "")
        assert "no-such.html: there is no such file or folder\n" in result.stderr
    result = run("links", "no-such.html", str(ROOT / "examples" / "site"))
    assert result.returncode == 1
    assert "no-such.html: No such file or directory\n" in result.stderr


def test_a_replaced_table_is_reported(tmp_path: Path) -> None:
    command = ("links", str(ROOT / "examples" / "site"), "-o", str(tmp_path / "t.csv"), "--workers", "1")
    assert "replaced" not in run(*command).stderr
    assert "t.csv: the existing table will be replaced\n" in run(*command).stderr


def test_a_long_reference_is_not_shortened_on_a_pipe(tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    page.write_text(f'<a href="http://h/{"long/" * 20}">x</a><a href="http://h/{"long/" * 20}%zz">x</a>')
    result = run("links", str(page), columns=60)
    assert "long/%zz  " in result.stdout, result.stderr
    assert "…" not in result.stdout


def test_csv_with_semicolons(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes(b'\xef\xbb\xbfurl;n\n"HTTP://a/?b;c";1\n')
    assert "use --separator ';'" in run("normalize", "--column", "url", str(table)).stderr
    result = run("normalize", "--column", "url", "--separator", ";", str(table))
    assert result.stdout.splitlines()[1] == '"HTTP://a/?b;c","1","http://a/?b;c",,'
    piped = process("normalize", "--column", "url", "--separator", ";", stdin=table.read_bytes())
    assert piped.stdout == result.stdout


def test_a_skipped_lookalike_check_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "host-confusable" not in run("audit", "http://h/").stderr
    # None: the package is not installed.
    monkeypatch.setitem(sys.modules, "confusable_homoglyphs", None)
    assert "look-alike check skipped: confusable_homoglyphs is not installed" in run("audit", "http://h/").stderr


def on_a_terminal(columns: int, *arguments: str) -> str:
    """The output on a terminal of this width, without colour codes."""
    return click.unstyle(run_on_terminal(columns, *arguments))


def run_on_terminal(columns: int, *arguments: str, **variables: str) -> str:
    """The output on a terminal of this width, with additional environment variables."""
    controller, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **variables}
    child = subprocess.Popen(
        [sys.executable, "-m", "overthere", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    data = b""
    try:
        while piece := os.read(controller, 65536):
            data += piece
    except OSError:  # Linux: the other end is closed
        pass
    os.close(controller)
    child.wait(timeout=5 * NET)
    return data.decode().replace("\r\n", "\n")


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
@pytest.mark.parametrize("arguments", [("audit", "http://joe:pw@127.0.0.1/a"), ("check", "http://h:8o/ a")])
def test_findings_fit_the_terminal(arguments: tuple[str, ...]) -> None:
    lines = on_a_terminal(60, *arguments).split("\n")
    assert len(lines) > 4
    assert all(len(line) <= 60 for line in lines)


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
def test_the_place_of_a_finding_has_the_colour_of_its_level() -> None:
    assert "\x1b[31m          ^\x1b[0m\n" in run_on_terminal(80, "check", "http://h:8o/")
    assert "\x1b[36m      ^" in run_on_terminal(80, "check", "http:/x")
    assert "\x1b[" not in run_on_terminal(80, "check", "http://h:8o/", NO_COLOR="1")


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
def test_links_break_between_fields(tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    page.write_text('<a href="http://host.example/one/two/three/four">x</a>')
    text = on_a_terminal(60, "links", str(page))
    assert "\n  http://host.example/one/two/three/four\n" in text
    lines = text.split("\n")[2:-1]
    row = lines.index("      http://host.example/one/two/three/four  [a href]")
    assert lines[row - 1].startswith("  http://host.exampl")


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
def test_figure_and_table_share_colours() -> None:
    """Each component has one colour in the text, its mark, its name and its row."""
    uri = "http://joe@example.com:80/\u6e2f/a?q=1#top"
    plain = run_on_terminal(80, "explain", "--iri", uri, NO_COLOR="1")
    output = run_on_terminal(80, "explain", "--iri", uri)
    assert "\x1b" not in plain
    assert click.unstyle(output) == plain
    painted: dict[str, set[str]] = {}
    for code, text in re.findall("\x1b\\[([0-9;]+)m([^\x1b]*)\x1b\\[0m", output):
        painted.setdefault(code, set()).update(text.split())
    for parts in ({"scheme", "http"}, {"authority", "joe@example.com:80", "host", "port"}, {"path", "/\u6e2f/a"},
                  {"query", "q=1"}, {"fragment", "top"}):  # fmt: skip
        assert sum(parts <= words for words in painted.values()) == 1, parts
    assert len(painted) == 5


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
def test_colours_depend_on_terminal_and_environment() -> None:
    command = ("explain", "http://h/a")
    assert "\x1b" not in run_on_terminal(80, *command, TERM="dumb")
    assert "\x1b" not in process(*command).stdout
    forced = subprocess.run(
        [sys.executable, "-m", "overthere", *command], capture_output=True, text=True, check=True, timeout=5 * NET,
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"},
    ).stdout  # fmt: skip
    assert "\x1b" in forced
    assert click.unstyle(forced) == process(*command).stdout


READING = ["explain", "check", "split", "resolve", "repair", "relate", "normalize", "encode", "decode", "plan", "audit"]


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
@pytest.mark.parametrize("verb", READING)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm(verb: str, number: signal.Signals) -> None:
    """While it waits for a line: one message, and the exit status of shells."""
    base = ["--base", "http://h/"] if verb in ("resolve", "relate") else []
    child = subprocess.Popen(
        [sys.executable, "-u", "-m", "overthere", verb, *base],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
    )  # fmt: skip
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"http://h/\n")
        assert select.select([child.stdout], [], [], 5 * NET)[0], "it says nothing"
        child.stdout.read(1)
        wait_until(lambda: is_idle(child.pid), "it does not come to wait for more")
        child.send_signal(number)
        _, errors = child.communicate(timeout=5 * NET)
    finally:
        child.kill()
        child.wait()
    assert (child.returncode, errors) == (130, b"Stopped\n")


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
def test_a_stopped_table_on_a_pipe_suggests_no_resume(tmp_path: Path) -> None:
    """A reader that reads nothing blocks the table; the message then does not mention --resume."""
    os.mkfifo(pipe := tmp_path / "rows.csv")
    (tmp_path / "a.html").write_text("<a href=b>" * 20_000)
    child = subprocess.Popen(
        [sys.executable, "-m", "overthere", "links", str(tmp_path / "a.html"), "-o", str(pipe)], stderr=subprocess.PIPE
    )
    try:
        with pipe.open("rb") as reader:
            assert reader.read(1)
            wait_until(lambda: is_idle(child.pid), "it does not wait for its reader")
            child.terminate()
            message = child.communicate(timeout=5 * NET)[1].decode()
    finally:
        child.kill()
        child.wait()
    assert (child.returncode, "topped" in message, "--resume" in message) == (130, True, False)


def commands(group: click.Group, *before: str) -> list[tuple[str, ...]]:
    """All commands, with subcommands."""
    found_commands: list[tuple[str, ...]] = []
    for name in group.list_commands(click.Context(group)):
        below = group.get_command(click.Context(group), name)
        found_commands += [(*before, name)] if not isinstance(below, click.Group) else commands(below, *before, name)
    return found_commands


def test_options_have_the_same_type_in_all_commands() -> None:
    kinds: dict[str, dict[str, set[str]]] = {}
    for path in commands(app):
        command: click.Command = app
        for name in path:
            assert isinstance(command, click.Group)
            group = command.get_command(click.Context(command), name)
            assert group is not None
            command = group
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                kind = "flag" if parameter.is_flag else "value"
                for option in parameter.opts:
                    kinds.setdefault(option, {}).setdefault(kind, set()).add(" ".join(path))
    # `repair` and `build` take a scheme; `check` uses that of each text.
    assert kinds.pop("--scheme") == {"flag": {"check"}, "value": {"repair", "build"}}
    assert {name: kind for name, kind in kinds.items() if len(kind) > 1} == {}


def test_commands_do_not_import_progress_bars() -> None:
    """A command starts as fast as its imports."""
    heavy = "[name for name in sys.modules if name.split('.')[0] in ('rich', 'pyarrow')]"
    code = f"import sys, overthere.cli.check; print({heavy})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=5 * NET)
    assert result.stdout == "[]\n"
