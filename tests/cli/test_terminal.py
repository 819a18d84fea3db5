"""What reaches a person's terminal: every verb with every kind of input in a pseudo-terminal, and no control of others.

Each run is a child of this process on a pseudo-terminal of its own; what it prints may hold colours and hyperlinks of
ours, line ends, and what moves the lines of progress, and nothing else that a terminal obeys.
"""

from __future__ import annotations

import ast
import contextlib
import csv
import gzip
import os
import pty
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import overthere
from overthere.cli import main
from overthere.cli.app import app
from verbs import Verb, verbs

SOURCE = Path(overthere.__file__).parent
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b\x07]*\x1b\\|\x1b\[\?25[lh]\r?|\r?\x1b\[2K|\r?\x1b\[1A|\r+\n")
HOSTILE = {
    "colour": "\x1b[5;45;7mx",
    "title": "\x1b]0;owned\x07x",
    "link": "\x1b]8;;http://evil.example/\x1b\\x",
    "eight bits": "\x9b5;45;7mx\x85\x90",
    "erase": "a\b\b\x7fx\x1b[1K",
    "return": "a\rx",
    "direction": "a\u202eb\u2066c\u200fd\u2069\u061c",
    "invisible": "a\ufeffb\u200bc\u2028d\u00ad\U000e0041",
    "octets": "a\udcffb\udc9b31m",
}
"""Texts of others, each with the sequence that must not come out."""
EVERYTHING = "".join(HOSTILE.values())
CELL = "".join(text for name, text in HOSTILE.items() if name not in ("return", "octets"))
"""What a row of CSV may hold."""

# The child becomes the command at once: threads of libraries that other tests loaded do not reach it.
pytestmark = pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")


def printed(arguments: list[str], folder: Path, given: bytes = b"") -> str:
    """What a run prints on a terminal of 100 columns, on both streams."""
    held = folder / "stdin"
    held.write_bytes(given)
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover
        code = 70
        try:
            os.environ.update(COLUMNS="100", TERM="xterm-256color")
            os.chdir(folder)
            os.dup2(os.open(held, os.O_RDONLY), 0)
            sys.stdin, sys.stdout, sys.stderr = (open(one, "rw"[one > 0], closefd=False) for one in range(3))  # noqa: SIM115
            sys.argv = ["overthere", *arguments]
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException:
            import traceback

            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)
    pieces = []
    with open(terminal, "rb", buffering=0) as shown:
        while piece := _piece(shown.fileno()):
            pieces.append(piece)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = b"".join(pieces).decode("utf-8", "surrogateescape")
    assert status in (0, 1, 2), f"{arguments}: {status}\n{text}"
    assert "Traceback" not in text, text
    return text


def _piece(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # its other side is closed
        return b""


def bad(shown: str) -> set[str]:
    """What of others a terminal would obey."""
    found = {name for name, text in HOSTILE.items() if name in ("colour", "title", "link") and text in shown}
    return found | {char for char in OURS.sub("", shown) if not char.isprintable() and char not in "\n\t"}


def octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def option_cases() -> Iterator[tuple[Verb, str]]:
    for verb in verbs():
        for option in verb.valued:
            yield verb, option


BESIDE = {
    "serve": {"--port": ["--host", "no.such.host.invalid"]},
}
"""What a verb is given so that it ends."""


@pytest.mark.parametrize(("verb", "option"), list(option_cases()), ids=lambda one: getattr(one, "name", one))
def test_the_value_of_an_option(verb: Verb, option: str, tmp_path: Path) -> None:
    places = ["http://h/a"] if verb.arguments else []
    if verb.name in ("links", "broken"):
        places = [str(tmp_path)]
    if verb.name == "get":
        places = ["--plan", *places]
    beside = BESIDE.get(verb.name, {}).get(option, [])
    for value in (EVERYTHING, f"{EVERYTHING}.toml", f"http://h/{EVERYTHING}", f"{EVERYTHING}=1", f"a:{EVERYTHING}:b"):
        shown = printed([*verb.words, option, value, *beside, *places], tmp_path, b"http://h/\n")
        assert not bad(shown), f"{option} {value!a}: {bad(shown)}"


@pytest.mark.parametrize("verb", verbs(), ids=lambda verb: verb.name)
def test_arguments_and_names(verb: Verb, tmp_path: Path) -> None:
    texts = (EVERYTHING, f"http://h/{EVERYTHING}", f"http://{EVERYTHING}@h/", f"{EVERYTHING}:x", f"{{{EVERYTHING}}}")
    beside = ["--base", "http://h/"] if verb.name in ("resolve", "relate") else []
    beside += ["--plan"] if verb.name == "get" else []
    if verb.name == "encode":
        beside = ["query"]
    for text in texts:
        for arguments in ([*beside, "--", text], [*beside, "--", text, text], [f"--{text}"], [f"-{text}"]):
            if verb.name == "serve" and "--" not in arguments[0]:
                arguments = ["--host", text]
            shown = printed([*verb.words, *arguments], tmp_path, b"")
            assert not bad(shown), f"{arguments!a}: {bad(shown)}"


@pytest.mark.parametrize("verb", [verb for verb in verbs() if verb.arguments], ids=lambda verb: verb.name)
def test_lines_of_standard_input(verb: Verb, tmp_path: Path) -> None:
    lines = [*HOSTILE.values(), *(f"http://h/{text}?{text}#{text}" for text in HOSTILE.values()), f"{{{EVERYTHING}}}"]
    beside = ["--base", f"http://h/{EVERYTHING}"] if verb.name in ("resolve", "relate") else []
    beside += ["--plan"] if verb.name == "get" else []
    beside += {"encode": ["query"], "template match": ["http://h/{+a}"], "template expand": ["{a}", "--json"]}.get(
        verb.name, []
    )
    for given in ("\n".join(lines), f'{{"a": "{EVERYTHING}"}}', f'{{"{EVERYTHING}": ["a"'):
        shown = printed([*verb.words, *beside], tmp_path, octets(given))
        assert not bad(shown), bad(shown)


def content() -> dict[str, bytes]:
    """Documents of every kind whose references, names and values are of others."""
    url = f"http://h/{EVERYTHING}"
    block = f"HTTP/1.1 200 {EVERYTHING}\r\nContent-Type: text/html\r\nLocation: {url}\r\n\r\n<a href='{url}'>"
    warc = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <{EVERYTHING}>\r\nWARC-Target-URI: {url}\r\n"
    made = {
        "a.html": f"<title>{EVERYTHING}</title><base href='{url}'><a href='{EVERYTHING}'><a href='{url}#{EVERYTHING}'>",
        "b.html": f"<a href='a.html#{EVERYTHING}'><a href='{EVERYTHING}.html'><img srcset='{EVERYTHING} 1x'>",
        "a.md": f"[{EVERYTHING}]({EVERYTHING})\n\n<{url}>\n",
        "a.css": f"@import '{EVERYTHING}'; a {{ b: url({EVERYTHING}) }}",
        "a.xml": f"<?xml version='1.0'?><rss><channel><link>{url}</link></channel></rss>",
        "a.json": f'{{"a": "{url}", "b": "{EVERYTHING}"}}',
        "a.eml": f"Subject: {EVERYTHING}\r\nContent-Type: text/html; charset={EVERYTHING}\r\n\r\n<a href='{url}'>",
        "a.warc": f"{warc}Content-Length: {len(octets(block))}\r\n\r\n{block}\r\n\r\n",
        "b.csv": f"url,{CELL}\nhttp://h/{CELL},{CELL}\n{CELL},=1\n",
        "a.csv": f"url,{EVERYTHING}\n{url},{EVERYTHING}\n{EVERYTHING},x\n",
        "a.tsv": f"{EVERYTHING}\turl\n{EVERYTHING}\t{url}\n",
        "a.jsonl": f'{{"url": "{url}"}}\n{{"{EVERYTHING}": 1}}\n',
        "a.toml": f"key = '{EVERYTHING}'\n'{EVERYTHING}' = 1\n",
        "b.toml": f'[[ignore]]\nreason = "a"\n"{EVERYTHING.replace(chr(27), "")}" = \'b\'\n',
        "c.toml": '[[step]]\nname = "a\\u001b[5;45;7mx\\u202e\\u0007\\n"\n',
        "d.toml": '"a\\u001b[5;45;7mx\\u202e\\u0007\\n" = 1\n',
        "e.toml": '[gateways]\n"a\\u001b[5;45;7mx\\u202e\\u0007" = "\\u001b[5;45;7mx\\u202e"\n',
        "f.toml": '[[ignore]]\nreason = "\\u001b[5;45;7mx\\u202e"\nkind = "\\u001b[5;45;7mx\\u202e"\n',
        "a.txt": f"see <{url}> and {url} and {EVERYTHING}\n",
    }
    return {name: octets(text) for name, text in made.items()}


WITH_FILES: dict[str, list[str]] = {
    "links": ["links", "FILE"],
    "links counts": ["links", "FILE", "--audit", "--top", "3"],
    "links csv": ["links", "FILE", "--format", "csv"],
    "broken": ["broken", "FILE", "--notes"],
    "broken csv": ["broken", "FILE", "--format", "csv", "--csv-safe"],
    "broken missing": ["broken", f"{EVERYTHING}.html"],
    "links missing": ["links", f"{EVERYTHING}.html"],
    "find": ["find", "FILE"],
    "find for terminals": ["find", "FILE", "--format", "terminal"],
    "find missing": ["find", f"{EVERYTHING}.txt"],
    "find html": ["find", "--format", "html", "FILE"],
    "find markdown": ["find", "--format", "markdown", "FILE"],
    "audit": ["audit", "--file", "FILE"],
    "canonical": ["canonical", "--form", "FILE", "http://h/"],
    "ignore": ["broken", ".", "--ignore", "FILE"],
    "baseline": ["broken", ".", "--baseline", "FILE"],
    "gateways": ["plan", "--gateways", "FILE", "wais://h/d"],
    **{
        f"{verb} --column": [verb, "--column", "url", "FILE", *beside]
        for verb, *beside in (
            ("check",), ("split",), ("normalize",), ("repair",), ("canonical",), ("audit",), ("encode", "query"),
            ("decode",), ("resolve", "--base", "http://h/"), ("relate", "--base", "http://h/"), ("parameters",),
        )
    },
    "a column of another name": ["check", "--column", EVERYTHING, "FILE"],
    "a base column": ["resolve", "--column", "url", "--base-column", EVERYTHING, "FILE"],
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_FILES)
def test_content_of_files(name: str, tmp_path: Path) -> None:
    files = content()
    for file, held in files.items():
        (tmp_path / file).write_bytes(held)
    (tmp_path / f"{EVERYTHING.replace('/', '')}.html").write_bytes(files["b.html"])
    arguments = WITH_FILES[name]
    named = ["", *files] if "FILE" in arguments else [""]
    for file in named:
        shown = printed([str(tmp_path / file) if one == "FILE" else one for one in arguments], tmp_path)
        assert not bad(shown), f"{file}: {bad(shown)}"


def test_the_law_would_see_it() -> None:
    assert not bad("a\r\n\x1b[31mred\x1b[0m\x1b[2K")
    for name, text in HOSTILE.items():
        assert bad(text), name
    assert bad("\x1b[5;45;7mx")


def test_messages_come_from_one_place() -> None:
    """`paper.say` makes what others have written visible; a figure is so already, and has colours of ours."""
    found = set()
    for path in sorted((SOURCE / "cli").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            function = ast.unparse(node.func)
            if function in ("click.echo", "click.secho") and any(one.arg == "err" for one in node.keywords):
                found.add((path.name, ast.unparse(node.args[0])))
            elif function == "print":
                found.add((path.name, "print"))
    assert found == {
        ("printing.py", "without_commands(visible(mask(text)))"),
        ("styles.py", "print"),
        ("common.py", "figure(error)"),
        ("check.py", "figure"),
        ("get.py", "message"),
        ("get.py", "printable(description)"),
        ("app.py", "self.message"),
        ("__init__.py", "print"),
    }


@pytest.mark.parametrize("first", "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
@pytest.mark.parametrize("rest", ["1+1", "x'!A1", ""])
def test_cells_that_a_spreadsheet_would_compute(first: str, rest: str) -> None:
    from overthere.columns.cells import escape, unescape

    cell = first + rest
    assert escape(cell) == f"'{cell}"
    assert unescape(escape(cell)) == cell
    assert unescape(escape(f"'{cell}")) == f"'{cell}"


def test_the_tables_of_broken(tmp_path: Path) -> None:
    (tmp_path / "=1.html").write_text("<a href='=2.html'><a href='x.html'>")
    runner = CliRunner()
    for written in (["--format", "csv"], ["-o", str(tmp_path / "t.csv")], ["-o", str(tmp_path / "t.csv.gz")]):
        with contextlib.chdir(tmp_path):
            done = runner.invoke(app, ["broken", "=1.html", "--csv-safe", *written])
        assert done.exit_code == 1
        where = written[1]
        held = done.stdout_bytes if where == "csv" else Path(where).read_bytes()
        table = (gzip.decompress(held) if where.endswith(".gz") else held).decode()
        rows = list(csv.DictReader(table.splitlines()))
        assert [row["source"] for row in rows] == ["'=1.html"] * 2
        assert [row["reference"] for row in rows] == ["'=2.html", "x.html"]
    for other in (["--format", "jsonl"], ["-o", str(tmp_path / "t.sarif")], ["-o", str(tmp_path / "t.parquet")], []):
        done = runner.invoke(app, ["broken", str(tmp_path), "--csv-safe", *other])
        assert done.exit_code == 2
        assert "--csv-safe" in done.stderr
