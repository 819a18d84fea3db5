"""What a newcomer meets at the command line: words, suggestions, lines in step, data on pipes, Ctrl-C."""

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
    told = run("check", "example.com").stderr
    assert "expected a scheme and a colon" in told
    assert "did you mean http://example.com?" in told
    assert "meant?" not in run("check", "http://a b/").stderr


def test_an_octet_is_named_as_an_octet() -> None:
    assert "octet 0xFF is not" in run("check", stdin=b"a:\xff\n").stderr


def test_a_difference_is_not_cut_away() -> None:
    """The editions differ in the last character of a long path; what is said of a rung shows changes."""
    long = "a" * 100
    shown = [line.split(": ", 1)[1].split("; ") for line in notes(read(f"http://h/{long}?{long}"))]
    assert all(len({value.rsplit(" (", 1)[0] for value in line}) == len(line) for line in shown)
    changed = next(line for line in str(explain(f"http://h/{long}%7e{long}")).split("\n") if "->" in line)
    assert "%7e" in changed
    assert "%7E" in changed


@pytest.mark.parametrize("verb", ["normalize", "resolve", "repair"])
def test_lines_stay_in_step(verb: str) -> None:
    base = ("--base", "http://h/") if verb == "resolve" else ()
    text = b"http://a/\nhttp://[\nhttp://c/\n"
    assert run(verb, *base, stdin=text).stdout == "http://a/\n\nhttp://c/\n"
    assert run(verb, *base, "--on-error", "skip", stdin=text).stdout == "http://a/\nhttp://c/\n"
    stopped = run(verb, *base, "--on-error", "stop", stdin=text)
    assert (stopped.returncode, stopped.stdout) == (1, "http://a/\n")
    rows = run(verb, *base, "--format", "jsonl", stdin=text).stdout.splitlines()
    assert ["error" in json.loads(row) for row in rows] == [False, True, False]


def test_a_dash_is_standard_input_and_its_mark_is_no_text() -> None:
    assert run("check", "-", "b:", stdin=b"\xef\xbb\xbfa:\n").stdout == "valid    a:\nvalid    b:\n"


def test_a_component_alone_is_data() -> None:
    assert run("split", "--component", "host", "http://a/", "b", "http://c/").stdout == "a\n\nc\n"


def test_data_on_a_pipe_is_data() -> None:
    """U+E000 is for private use: data on a pipe, without a shape on a terminal."""
    assert run("decode", "%EE%80%80").stdout == "\ue000\n"
    octets = subprocess.run(
        [sys.executable, "-m", "overthere", "split", "--component", "path"],
        input=b"a:\xff\n", capture_output=True, check=True, timeout=5 * NET,
    ).stdout  # fmt: skip
    assert octets == b"\xff\n"


def test_no_python_in_text() -> None:
    told = run("explain", "mailto:joe@example.com,ann@example.com?subject=x").stdout
    assert "joe@example.com, ann@example.com\n" in told
    assert "subject=x\n" in told
    assert "[" not in told


def test_did_you_mean() -> None:
    assert "did you mean check" in run("chek", "x").stderr
    assert "--format" in run("check", "--fromat", "text").stderr
    assert "known: explain, check" in run("frobnicate").stderr
    assert "unknown verb 'join'; use resolve --base\n" in run("join", "http://h/", "a").stderr
    assert not ELSEWHERE.keys() & VERBS.keys()
    assert all(re.split("[ ,]", own)[0] in VERBS for own in ELSEWHERE.values())
    assert "--json" in (said := run("check", "--json", "a:b").stderr)
    assert "Did you mean '--format jsonl'?" in said
    assert "--format" not in run("completion", "--json").stderr


def test_no_charset() -> None:
    done = run("decode", "--charset", "nope", "a")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--charset: 'nope' is not a known charset" in done.stderr


def test_a_picture_is_svg(tmp_path: Path) -> None:
    done = run("links", str(ROOT / "examples" / "site"), "--plot", str(tmp_path / "x.png"))
    assert done.returncode == 2
    assert "its name must end in .svg" in done.stderr


def test_links_of_no_file() -> None:
    """As of `broken`: nothing is begun; beside another source it is a row and a warning."""
    for verb in ("links", "broken"):
        done = run(verb, "no-such.html")
        assert (done.returncode, done.stdout) == (2, "")
        assert "no-such.html: there is no such file or folder\n" in done.stderr
    done = run("links", "no-such.html", str(ROOT / "examples" / "site"))
    assert done.returncode == 1
    assert "no-such.html: No such file or directory\n" in done.stderr


def test_a_table_that_is_replaced_is_told(tmp_path: Path) -> None:
    command = ("links", str(ROOT / "examples" / "site"), "-o", str(tmp_path / "t.csv"), "--workers", "1")
    assert "replaced" not in run(*command).stderr
    assert "t.csv: the existing table will be replaced\n" in run(*command).stderr


def test_a_long_reference_is_whole_on_a_pipe(tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    page.write_text(f'<a href="http://h/{"long/" * 20}">x</a><a href="http://h/{"long/" * 20}%zz">x</a>')
    done = run("links", str(page), columns=60)
    assert "long/%zz  " in done.stdout, done.stderr
    assert "…" not in done.stdout


def test_csv_with_semicolons(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes(b'\xef\xbb\xbfurl;n\n"HTTP://a/?b;c";1\n')
    assert "use --separator ';'" in run("normalize", "--column", "url", str(table)).stderr
    done = run("normalize", "--column", "url", "--separator", ";", str(table))
    assert done.stdout.splitlines()[1] == '"HTTP://a/?b;c","1","http://a/?b;c",,'
    piped = process("normalize", "--column", "url", "--separator", ";", stdin=table.read_bytes())
    assert piped.stdout == done.stdout


def test_without_look_alikes_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "host-confusable" not in run("audit", "http://h/").stderr
    # None: as a package that is not installed.
    monkeypatch.setitem(sys.modules, "confusable_homoglyphs", None)
    assert "look-alike check skipped: confusable_homoglyphs is not installed" in run("audit", "http://h/").stderr


def on_a_terminal(columns: int, *arguments: str) -> str:
    """What a terminal of so many columns is given, without the codes of its colours."""
    return click.unstyle(given(columns, *arguments))


def given(columns: int, *arguments: str, **more: str) -> str:
    """What a terminal of so many columns is given, in an environment that has more variables."""
    own, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **more}
    child = subprocess.Popen(
        [sys.executable, "-m", "overthere", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    told = b""
    try:
        while piece := os.read(own, 65536):
            told += piece
    except OSError:  # Linux: nobody holds the other end
        pass
    os.close(own)
    child.wait(timeout=5 * NET)
    return told.decode().replace("\r\n", "\n")


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
@pytest.mark.parametrize("arguments", [("audit", "http://joe:pw@127.0.0.1/a"), ("check", "http://h:8o/ a")])
def test_findings_fit_the_terminal(arguments: tuple[str, ...]) -> None:
    lines = on_a_terminal(60, *arguments).split("\n")
    assert len(lines) > 4
    assert all(len(line) <= 60 for line in lines)


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
def test_the_place_of_a_finding_has_the_colour_of_its_level() -> None:
    assert "\x1b[31m          ^\x1b[0m\n" in given(80, "check", "http://h:8o/")
    assert "\x1b[36m      ^" in given(80, "check", "http:/x")
    assert "\x1b[" not in given(80, "check", "http://h:8o/", NO_COLOR="1")


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
def test_links_break_between_fields(tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    page.write_text('<a href="http://host.example/one/two/three/four">x</a>')
    told = on_a_terminal(60, "links", str(page))
    assert "\n  http://host.example/one/two/three/four\n" in told
    lines = told.split("\n")[2:-1]
    row = lines.index("      http://host.example/one/two/three/four  [a href]")
    assert lines[row - 1].startswith("  http://host.exampl")


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
def test_figure_and_table_share_colours() -> None:
    """Each component has one colour: in the text, its mark, its name, and its row."""
    uri = "http://joe@example.com:80/\u6e2f/a?q=1#top"
    plain = given(80, "explain", "--iri", uri, NO_COLOR="1")
    told = given(80, "explain", "--iri", uri)
    assert "\x1b" not in plain
    assert click.unstyle(told) == plain
    painted: dict[str, set[str]] = {}
    for code, text in re.findall("\x1b\\[([0-9;]+)m([^\x1b]*)\x1b\\[0m", told):
        painted.setdefault(code, set()).update(text.split())
    for parts in ({"scheme", "http"}, {"authority", "joe@example.com:80", "host", "port"}, {"path", "/\u6e2f/a"},
                  {"query", "q=1"}, {"fragment", "top"}):  # fmt: skip
        assert sum(parts <= words for words in painted.values()) == 1, parts
    assert len(painted) == 5


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
def test_colours_are_for_those_who_want_them() -> None:
    command = ("explain", "http://h/a")
    assert "\x1b" not in given(80, *command, TERM="dumb")
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
    """While it waits for the next line: one line is said, with the exit status that shells know."""
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
        _, told = child.communicate(timeout=5 * NET)
    finally:
        child.kill()
        child.wait()
    assert (child.returncode, told) == (130, b"Stopped\n")


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
def test_nothing_is_resumed_into_a_pipe(tmp_path: Path) -> None:
    """A reader that takes nothing holds the table up; what was stopped then is told without --resume."""
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
            told = child.communicate(timeout=5 * NET)[1].decode()
    finally:
        child.kill()
        child.wait()
    assert (child.returncode, "topped" in told, "--resume" in told) == (130, True, False)


def commands(group: click.Group, *before: str) -> list[tuple[str, ...]]:
    """Every verb, and those below it."""
    found: list[tuple[str, ...]] = []
    for name in group.list_commands(click.Context(group)):
        below = group.get_command(click.Context(group), name)
        found += [(*before, name)] if not isinstance(below, click.Group) else commands(below, *before, name)
    return found


def test_options_mean_the_same_everywhere() -> None:
    """An option that two verbs have has one kind of value in both."""
    kinds: dict[str, dict[str, set[str]]] = {}
    for path in commands(app):
        command: click.Command = app
        for name in path:
            assert isinstance(command, click.Group)
            found = command.get_command(click.Context(command), name)
            assert found is not None
            command = found
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                kind = "flag" if parameter.is_flag else "value"
                for option in parameter.opts:
                    kinds.setdefault(option, {}).setdefault(kind, set()).add(" ".join(path))
    # `repair` and `build` are told a scheme; `check` judges by that of each text, and is told none.
    assert kinds.pop("--scheme") == {"flag": {"check"}, "value": {"repair", "build"}}
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}


def test_what_is_not_needed_is_not_loaded() -> None:
    """The start of a verb is what it imports: of texts no verb needs a drawing of progress."""
    heavy = "[name for name in sys.modules if name.split('.')[0] in ('rich', 'pyarrow')]"
    code = f"import sys, overthere.cli.check; print({heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=5 * NET)
    assert done.stdout == "[]\n"
