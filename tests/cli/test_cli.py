"""The command line: arguments, standard input, standard output, standard error and exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from overthere.cli.app import app
from support import ROOT


def process(*arguments: str, stdin: bytes = b"", columns: int = 100) -> subprocess.CompletedProcess[str]:
    """Run the command in a process."""
    environment = {**os.environ, "COLUMNS": str(columns), "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", "overthere", *arguments], input=stdin, capture_output=True, env=environment, check=False
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    )


def run(*arguments: str, stdin: bytes = b"", columns: int = 100) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, which saves a second; exceptions are raised here.

    `test_a_process_gives_the_same_output` and test_cli_output compare both.
    """
    runner = CliRunner(env={"COLUMNS": str(columns)}, catch_exceptions=False)
    result = runner.invoke(app, arguments, stdin, prog_name="overthere")
    return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout, result.stderr)


# arguments, standard input, exit status, standard output, a part of standard error
ROWS: list[tuple[list[str], bytes, int, str, str]] = [
    (["check", "http://h/"], b"", 0, "valid    http://h/\n", ""),
    (["check", "http://h:8o/"], b"", 1, "invalid  http://h:8o/  (1 finding)\n", "          ^\n"),
    (["check", "//h"], b"", 1, "invalid  //h  (1 finding)\n", "there is no scheme"),
    (["check", "--reference", "//h"], b"", 0, "valid    //h\n", ""),
    (["check", "--rule", "IPv4address", "1.2.3.4"], b"", 0, "valid    1.2.3.4\n", ""),
    (["check", "--rule", "IRI", "http://ü/"], b"", 0, "valid    http://ü/\n", ""),
    (["check", "--rule", "no-rule", "x"], b"", 2, "", "no rule"),
    (["check", "--edition", "rfc1738", "1a:b"], b"", 0, "valid    1a:b\n", ""),
    (["check", "--edition", "rfc1738", "http://h?q"], b"", 1, "invalid  http://h?q  (1 finding)\n", "RFC 1738 5"),
    (["check", "--edition", "url-1997", "--reference", "../g"], b"", 0, "valid    ../g\n", ""),
    (["check", "--edition", "url-1994", "--reference", "../g"], b"", 2, "", "no rule"),
    (["check", "--zone", "http://[fe80::1%25en0]/"], b"", 0, "valid    http://[fe80::1%25en0]/\n", ""),
    (["check"], b"a:b\r\na b\n", 1, "valid    a:b\ninvalid  a b  (2 findings)\n", "space"),
    (["check"], b"", 0, "", ""),
    (["check", "http://joe:secret@h:x/"], b"", 1, "invalid  http://joe:***@h:x/  (1 finding)\n", "joe:***@"),
    (["check"], b"a:\xff\x1b[31m\n", 1, "invalid  a:\ufffd\ufffd[31m  (3 findings)\n", ""),
    (["resolve", "--base", "http://a/b/c", "../g", "?y"], b"", 0, "http://a/g\nhttp://a/b/c?y\n", ""),
    (["resolve", "--base", "http://a/b/c", "x y"], b"", 1, "\n", "space"),
    (["resolve", "--base", "no base", "x"], b"", 2, "", "--base is not a valid URI"),
    (["resolve", "x"], b"", 2, "", "--base"),
    (["resolve", "--base", "http://a/b/c", "--loose", "http:g"], b"", 0, "http://a/b/g\n", ""),
    (["relate", "--base", "http://a/b/c", "http://a/b/", "http://a/x"], b"", 0, ".\n/x\n", ""),
    (["relate", "--base", "http://a/b/c", "http://a/../b"], b"", 1, "\n", "dot-segments"),
    (["normalize", "HTTP://h:80/%7e"], b"", 0, "http://h:80/~\n", ""),
    (["normalize", "--rung", "scheme", "HTTP://h:80/%7e"], b"", 0, "http://h/~\n", ""),
    (["normalize", "[::1]"], b"", 1, "\n", "^"),
    (["compare", "http://h", "HTTP://h:80/"], b"", 0, "SCHEME  (RFC 3986 6.2.3)\n", ""),
    (["compare"], b"a:b a:c\n", 0, "none\n", ""),
    (["compare", "x"], b"", 2, "", "pairs"),
    (["encode", "a/b c%"], b"", 0, "a%2Fb%20c%25\n", ""),
    (["encode", "--component", "path", "a/b"], b"", 0, "a%2Fb\n", ""),
    (["encode", "--component", "path", "--keep", "/", "a/b;c"], b"", 0, "a/b%3Bc\n", ""),
    (["encode", "--component", "query", "a&admin=1"], b"", 0, "a%26admin%3D1\n", ""),
    (["build", "--scheme", "x", "--segment", "a;b=c"], b"", 0, "x:a%3Bb%3Dc\n", ""),
    (["build", "--scheme", "x", "--segment", "a;b=c", "--keep", "="], b"", 0, "x:a%3Bb=c\n", ""),
    (["build", "--scheme", "x", "--path", "a", "--keep", "="], b"", 2, "", "keep need segments"),
    (["split", "--edition", "rfc1738", "ftp://u?x@h/a;type=i"], b"", 0,
     "ftp://u?x@h/a;type=i\n  scheme   ftp\n  user     u?x\n  host     h\n  fpath    a\n  ftptype  i\n", ""),
    (["split", "--edition", "rfc1738", "a"], b"", 1, "", "RFC 1738 5"),
    (["split", "--edition", "rfc1738", "--strict", "x:"], b"", 2, "", "name their own parts"),
    (["resolve", "--edition", "url-1997", "--base", "http://a/b/c", "", "#s", "g?y/../x"], b"", 0,
     "(current document)\n(current document)#s\nhttp://a/b/x\n", ""),
    (["resolve", "--edition", "rfc1808", "--base", "http://a/b/c?q", "", "../../g"], b"", 0,
     "http://a/b/c?q\nhttp://a/../g\n", ""),
    (["resolve", "--edition", "rfc1738", "--base", "http://a/b", "g"], b"", 2, "", "--edition rfc1808"),
    (["resolve", "--edition", "url-1994", "--base", "http://a/b", "g"], b"", 2, "", "--edition rfc1630"),
    (["normalize", "--edition", "rfc1738", "--rung", "scheme", "FTP://h"], b"", 0, "ftp://h/\n", ""),
    (["compare", "--edition", "uri-2003", "http://h/%2E", "http://h/."], b"", 0, "none\n", ""),
    (["compare", "--edition", "rfc1738", "ftp://h", "ftp://h/"], b"", 0, "SCHEME  (RFC 1738)\n", ""),
    (["encode", "--edition", "url-1994", "\xe9 ~"], b"", 0, "%E9%20%7E\n", ""),
    (["encode", "--edition", "url-1994", "\u65e5"], b"", 1, "\n", "ISO Latin 1"),
    (["decode", "--edition", "url-1994", "%E9"], b"", 0, "\xe9\n", ""),
    (["find", "--edition", "url-1994"], b"<ftp://h/a b>,\n<URL:http://h/c\n d>", 0, "ftp://h/a b\nhttp://h/cd\n", ""),
    (["find", "--edition", "rfc1738"], b"at <ftp://h/a b> and\n<URL:http://h/c\n d>", 0, "http://h/cd\n", ""),
    (["find", "--edition", "rfc1738", "--mail"], b"x", 2, "", "does not go with --rules"),
    (["decode", "--edition", "rfc1738", "%E9"], b"", 1, "\n", "RFC 1738 2.2"),
    (["encode", "--component", "nothing", "a"], b"", 2, "", "cannot hold data"),
    (["encode"], b"\xff\n", 0, "%FF\n", ""),
    (["decode", "%C3%BC+"], b"", 0, "ü+\n", ""),
    (["decode", "%FF"], b"", 1, "\n", "%FF"),
    (["decode", "--charset", "latin-1", "%FC"], b"", 0, "ü\n", ""),
    (["build", "--scheme", "a", "--host", "h", "--segment", "b/c", "--pair", "k=v"], b"", 0, "a://h/b%2Fc?k=v\n", ""),
    (["build", "--scheme", "a", "--path", "//b"], b"", 1, "", "would be read as one"),
    (["build", "--path", "x", "--segment", "y"], b"", 2, "", "give either path or segments"),
    (["explain", "--base", "http://a/b", "c"], b"", 0, "", ""),
    (["resolve", "--zone", "--base", "http://[fe80::1%25e]/a", "g"], b"", 0, "http://[fe80::1%25e]/g\n", ""),
    (["resolve", "--base", "http://[fe80::1%25e]/a", "g"], b"", 2, "", "RFC 6874"),
    (["relate", "--zone", "--base", "http://[fe80::1%25e]/a", "http://[fe80::1%25e]/g"], b"", 0, "g\n", ""),
    (["normalize", "--zone", "http://[FE80::1%25E]/"], b"", 0, "http://[fe80::1%25E]/\n", ""),
    (["split", "--strict", "--zone", "--component", "host", "//[fe80::1%25e]"], b"", 1, "", "scheme"),
    (["split", "--zone", "x"], b"", 2, "", "--strict"),
    (["compare", "--zone", "http://[fe80::1%25e]", "http://[FE80::1%25e]"], b"", 0, "CASE  (RFC 3986 6.2.2.1)\n", ""),
    (["build", "--zone", "--scheme", "a", "--host", "[fe80::1%25e]"], b"", 0, "a://[fe80::1%25e]\n", ""),
    (["plan", "http://[fe80::1%25e]/"], b"", 1, "", "RFC 6874"),
    (["plan", "--zone", "gopher://[::1%25e]/"], b"", 1, "", "fe80::/10"),
    (["plan", "--zone", "--edition", "rfc1738", "http://h/"], b"", 2, "", "--zone applies to RFC 3986"),
    (["get", "--zone", "--plan", "gopher://[::1%25e]/"], b"", 1, "", "fe80::/10"),
    (["resolve", "--iri", "--base", "http://é/a", "ü", "é:b"], b"", 1, "http://é/ü\n\n", "RFC 3987 2.2"),
    (["resolve", "--base", "http://é/a", "ü"], b"", 2, "", "--base is not a valid URI"),
    (["relate", "--iri", "--base", "http://é/a", "http://é/ü"], b"", 0, "ü\n", ""),
    (["normalize", "--iri", "HTTP://h/%7e%C3%A9/../ü"], b"", 0, "http://h/ü\n", ""),
    (["normalize", "HTTP://h/ü"], b"", 1, "\n", "US-ASCII"),
    (["compare", "--iri", "http://h/é", "http://h/%c3%a9"], b"", 0, "PERCENT  (RFC 3987 5.3.2.3)\n", ""),
    (["split", "--strict", "--iri", "--component", "host", "http://é/"], b"", 0, "é\n", ""),
    (["split", "--component", "segments", "http://h/a//b/", "x:", "/"], b"", 0, "a\t\tb\t\n\n\n", ""),
    (["split", "--component", "segment:2", "http://h/a/b", "x:a"], b"", 0, "b\n\n", ""),
    (["split", "--component", "segment:-1", "--component", "segments", "x:"], b"", 0, "x:\n", ""),
    (["split", "--component", "segment:0", "x:"], b"", 2, "", "'segment:0' is not one of"),
    (["split", "--component", "segment:1000", "x:"], b"", 2, "", "is not one of"),
    (["split", "--iri", "x"], b"", 2, "", "--iri needs --strict"),
    (["check", "--iri", "http://é/"], b"", 0, "valid    http://é/\n", ""),
    (["check", "--iri", "--reference", "é"], b"", 0, "valid    é\n", ""),
    (["check", "--iri", "--edition", "rfc1738", "x:y"], b"", 2, "", "--iri does not go with"),
    (["build", "--iri", "--scheme", "a", "--host", "é"], b"", 0, "a://é\n", ""),
    (["encode", "--iri", "é/日%41"], b"", 0, "é%2F日%2541\n", ""),
    (["encode", "--iri", "--component", "path", "a\ue000"], b"", 0, "a%EE%80%80\n", ""),
    (["encode", "--iri", "--edition", "rfc1738", "é"], b"", 2, "", "--iri applies to RFC 3986"),
    (["decode", "é%C3%A9"], b"", 0, "éé\n", ""),
    (["nothing"], b"", 2, "", "unknown verb"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "stdin", "status", "out", "err"), ROWS, ids=[" ".join(r[0]) for r in ROWS])
def test_commands(arguments: list[str], stdin: bytes, status: int, out: str, err: str) -> None:
    result = run(*arguments, stdin=stdin)
    assert (result.returncode, result.stdout if out or status else "") == (status, out), result.stderr
    assert err in result.stderr


# A result, invalid UTF-8 in and out, an invalid text, wrong usage.
@pytest.mark.parametrize(
    "row", [r for r in ROWS if r[0] in (["resolve", "x"], ["decode", "%C3%BC+"], ["nothing"]) or b"\xff" in r[1]],
    ids=lambda r: " ".join(r[0]),
)  # fmt: skip
def test_a_process_gives_the_same_output(row: tuple[list[str], bytes, int, str, str]) -> None:
    arguments, stdin, status, out, _ = row
    result, direct = process(*arguments, stdin=stdin), run(*arguments, stdin=stdin)
    assert (result.returncode, result.stdout, result.stderr) == (direct.returncode, direct.stdout, direct.stderr)
    assert (result.returncode, result.stdout) == (status, out)


def test_version_names_the_kernel() -> None:
    assert "kernel: " in process("--version").stdout


def test_json_lines() -> None:
    result = run("check", "--format", "jsonl", "a:b", "a b")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["valid"] for row in rows] == [True, False]
    assert rows[1]["findings"][0]["kind"] == "scheme-missing"
    for verb in (["explain"], ["resolve", "--base", "a:b"], ["relate", "--base", "a:b"], ["normalize"]):
        assert json.loads(run(*verb, "--format", "jsonl", "a:c").stdout)


def test_explain_fits_a_narrow_terminal() -> None:
    text = "http://example.com/" + "long/" * 50 + "?" + "q" * 100 + "#f"
    lines = run("explain", text, columns=60).stdout.splitlines()
    assert max(map(len, lines)) <= 72
    assert lines[1].count("\\") == 4


@pytest.mark.parametrize("columns", [60, 80])
def test_explain_wraps_its_findings(columns: int) -> None:
    lines = run("explain", "http://joe:secret@h:8o/a b%zz?x=[1]#a#b", columns=columns).stdout.splitlines()
    assert max(map(len, lines)) <= columns
    at = lines.index(next(line for line in lines if line.startswith('  two hexadecimal digits must follow "%"')))
    assert lines[at + 1].startswith("    ")
    assert " ".join(" ".join(lines[at : at + 3]).split()).endswith("expected a hexadecimal digit; RFC 3986 2.1)")


@pytest.mark.parametrize(("verb", "option"), [("resolve", "--base"), ("relate", "--base"), ("canonical", "--form")])
def test_required_options_are_marked(verb: str, option: str) -> None:
    assert f"{option} is missing" in run(verb, "a:b").stderr
    messages = run(verb, "--help").stdout.partition(f"  {option} ")[2].partition("\n  -")[0]
    assert "[required" in messages


def test_explain_prints_brackets_unchanged() -> None:
    result = run("explain", "http://[::1]/[bold]")
    assert "http://[::1]/[bold]" in result.stdout
    assert result.returncode == 1


def test_links(tmp_path: Path) -> None:
    result = run("links", "examples/site", "--base", "http://h/", "-o", str(tmp_path / "x.parquet"))
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    assert result.stderr.split()[:3] == ["documents", "4", "html"]
    output = run("links", str(ROOT / "examples" / "site"), "--base", "http://h/")
    assert "curator:***@intranet" in output.stdout
    assert "tide" not in output.stdout
    assert "http://[2001:db8::7]/?a=b" in output.stdout
    lines = run("links", "--format", "jsonl", str(ROOT / "examples" / "site")).stdout.splitlines()
    assert all(json.loads(line)["source"] for line in lines)
    assert run("links", "examples/site", "-o", "x.xls").returncode == 2
    assert run("links", "nowhere").returncode == 2
    (tmp_path / "empty.html").touch()
    assert "empty 1" in run("links", str(tmp_path / "empty.html")).stderr
    (tmp_path / "broken.html").symlink_to("nowhere")
    assert run("links", str(tmp_path)).returncode == 1


def test_links_shows_no_control_characters(tmp_path: Path) -> None:
    (tmp_path / "x.html").write_text("<x\x1b]0;owned\x07 href='\x1b[2J'><a href='http://joe:secret@h/'>")
    result = run("links", str(tmp_path / "x.html"))
    assert "\x1b" not in result.stdout + result.stderr
    assert "owned" in result.stdout
    assert "secret" not in result.stdout


def test_links_rejects_contradicting_options(tmp_path: Path) -> None:
    for wrong in (
        ["--master", "local"], ["--base", "mailto:a@b"], ["--only", "nothing"], ["--plot", "/no/such/x.svg"],
        ["--resume"], ["-o", str(tmp_path / "x.csv"), "--format", "jsonl"], ["--distinct", "--resume", "-o", "x.csv"],
    ):  # fmt: skip
        assert run("links", "examples/site", *wrong).returncode == 2, wrong
    for wrong in (["--base", "mailto:a@b"], ["--only", "nothing"], ["--plot", "/no/such/x.svg"]):
        messages = run("links", "examples/site", "--engine", "spark", "-o", f"{tmp_path}/out/", *wrong).stderr
        assert wrong[0] in messages.splitlines()[-1], messages
    assert "below http://h/" in run("links", "examples/site", "--base", "http://h/d").stderr


def test_links_graph_and_picture(tmp_path: Path) -> None:
    picture = tmp_path / "x.svg"
    ran = run(
        "links", "examples/site", "--base", "https://museum.example/harbour/", "--distinct", "--plot", str(picture)
    )
    assert ran.stdout.splitlines()[0].split() == ["5", "museum.example", "data:"] or "museum.example" in ran.stdout
    assert picture.read_text().startswith("<svg ")
    graph = tmp_path / "graph.csv"
    run("links", "examples/site", "--base", "https://museum.example/harbour/", "--distinct", "-o", str(graph))
    assert '"museum.example","museum.example",,36' in graph.read_text().splitlines()


def test_find_and_audit(tmp_path: Path) -> None:
    result = run("find", str(ROOT / "examples" / "post" / "letter.txt"))
    assert result.returncode == 0
    assert (
        ":7:18  http://harbour.example/the-old-crane.html#jib  (or http://harbour.example/the-oldcrane.html#jib)"
        in result.stdout
    )
    assert run("find", "--schemes", "ht tp", "x").returncode == 2
    assert run("audit", "http://h.example/").returncode == 0
    messages = run("audit", "http://joe:secret@127.1/")
    assert messages.returncode == 1
    assert "address-rare" in messages.stdout
    assert "secret" not in messages.stdout
    sarif = json.loads(run("audit", "--format", "sarif", "http://127.1/").stdout)
    assert sarif["version"] == "2.1.0"


def test_without_click() -> None:
    code = "import sys; sys.modules['click'] = None; from overthere.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "overthere[cli]" in result.stderr


def test_parameters_are_read_by_the_rules_of_the_scheme() -> None:
    """RFC 6068 5: "+" is a plus in mailto, but a space in a form."""
    assert run("parameters", "mailto:a@b?subject=1+1").stdout.splitlines()[1:] == ["  subject=1+1"]
    assert run("parameters", "--set", "x=a b", "mailto:a@b").stdout == "mailto:a@b?x=a%20b\n"
    assert run("parameters", "http://h/?a=1+1").stdout.splitlines()[1:] == ["  a=1 1"]
    assert run("parameters", "--no-plus", "http://h/?a=1+1").stdout.splitlines()[1:] == ["  a=1+1"]


def test_windows_expands_patterns_but_not_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the shell does not expand them; file names keep brackets and dollars."""
    from overthere.cli import _expand_patterns

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SECRET", "Sesame")
    for name in ("a.md", "b.md", "[a]b.md", "$SECRET.md"):
        Path(name).touch()
    words = ["links", "?.md", "[a]b.md", "$SECRET.md", "%SECRET%.md", "~", "--exclude=*", "*.none"]
    assert _expand_patterns(words) == ["links", "a.md", "b.md", *words[2:]]


@pytest.mark.parametrize(
    ("before", "is_at_once"),
    [
        ("", True),
        ("sys.setprofile(lambda *_: None)", False),
        ("sys.settrace(lambda *_: None)", False),
        ("threading.Thread(target=threading.main_thread().join).start()", False),
        ("threading.Thread(target=time.sleep, args=(60,), daemon=True).start()", False),
    ],
)
def test_the_process_ends_at_once(before: str, is_at_once: bool) -> None:
    """After what was registered for its end; if it is observed or has other threads, Python ends it."""
    code = (
        "import atexit, os, sys, threading, time\n"
        "from overthere.cli import command\n"
        "atexit.register(sys.stderr.write, 'registered ')\n"
        "exit_at_once = os._exit\n"
        "os._exit = lambda code: (sys.stderr.write('at once'), sys.stderr.flush(), exit_at_once(code))\n"
        f"{before}\ncommand()"
    )
    result = subprocess.run([sys.executable, "-c", code, "check", "a b"], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stdout.startswith("invalid  a b")
    assert result.stderr.endswith("registered at once" if is_at_once else "registered ")
