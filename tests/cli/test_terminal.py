"""Terminal output: every command with every kind of input on a pseudo-terminal prints no foreign control characters.

Each run is a child process on its own pseudo-terminal; its output may contain our colours and hyperlinks, line ends,
and moves of progress lines, and nothing else that a terminal interprets.
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
"""Hostile texts, each with the sequence that must not be printed."""
EVERYTHING = "".join(HOSTILE.values())
CELL = "".join(text for name, text in HOSTILE.items() if name not in ("return", "octets"))
"""The possible contents of a CSV row."""

# The child runs the command at once: threads of libraries from other tests do not affect it.
pytestmark = pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")


def printed(arguments: list[str], folder: Path, stdin: bytes = b"") -> str:
    """The output on both streams on a terminal of 100 columns."""
    stdin_file = folder / "stdin"
    stdin_file.write_bytes(stdin)
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover
        code = 70
        try:
            os.environ.update(COLUMNS="100", TERM="xterm-256color")
            os.chdir(folder)
            os.dup2(os.open(stdin_file, os.O_RDONLY), 0)
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
    with open(terminal, "rb", buffering=0) as controller:
        while piece := _piece(controller.fileno()):
            pieces.append(piece)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = b"".join(pieces).decode("utf-8", "surrogateescape")
    assert status in (0, 1, 2), f"{arguments}: {status}\n{text}"
    assert "Traceback" not in text, text
    return text


def _piece(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other side is closed
        return b""


def bad(output: str) -> set[str]:
    """Foreign sequences that a terminal would interpret."""
    names = {name for name, text in HOSTILE.items() if name in ("colour", "title", "link") and text in output}
    return names | {char for char in OURS.sub("", output) if not char.isprintable() and char not in "\n\t"}


def octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def option_cases() -> Iterator[tuple[Verb, str]]:
    for verb in verbs():
        for option in verb.valued:
            yield verb, option


OTHER_ARGUMENTS = {
    "serve": {"--port": ["--host", "no.such.host.invalid"]},
}
"""Options that make a command end."""


@pytest.mark.parametrize(("verb", "option"), list(option_cases()), ids=lambda item: getattr(item, "name", item))
def test_values_of_options(verb: Verb, option: str, tmp_path: Path) -> None:
    places = ["http://h/a"] if verb.arguments else []
    if verb.name in ("links", "broken"):
        places = [str(tmp_path)]
    if verb.name == "get":
        places = ["--plan", *places]
    extra = OTHER_ARGUMENTS.get(verb.name, {}).get(option, [])
    for value in (EVERYTHING, f"{EVERYTHING}.toml", f"http://h/{EVERYTHING}", f"{EVERYTHING}=1", f"a:{EVERYTHING}:b"):
        output = printed([*verb.words, option, value, *extra, *places], tmp_path, b"http://h/\n")
        assert not bad(output), f"{option} {value!a}: {bad(output)}"


@pytest.mark.parametrize("verb", verbs(), ids=lambda verb: verb.name)
def test_arguments_and_names(verb: Verb, tmp_path: Path) -> None:
    texts = (EVERYTHING, f"http://h/{EVERYTHING}", f"http://{EVERYTHING}@h/", f"{EVERYTHING}:x", f"{{{EVERYTHING}}}")
    extra = ["--base", "http://h/"] if verb.name in ("resolve", "relate") else []
    extra += ["--plan"] if verb.name == "get" else []
    if verb.name == "encode":
        extra = ["query"]
    for text in texts:
        for arguments in ([*extra, "--", text], [*extra, "--", text, text], [f"--{text}"], [f"-{text}"]):
            if verb.name == "serve" and "--" not in arguments[0]:
                arguments = ["--host", text]
            output = printed([*verb.words, *arguments], tmp_path, b"")
            assert not bad(output), f"{arguments!a}: {bad(output)}"


@pytest.mark.parametrize("verb", [verb for verb in verbs() if verb.arguments], ids=lambda verb: verb.name)
def test_lines_of_standard_input(verb: Verb, tmp_path: Path) -> None:
    lines = [*HOSTILE.values(), *(f"http://h/{text}?{text}#{text}" for text in HOSTILE.values()), f"{{{EVERYTHING}}}"]
    extra = ["--base", f"http://h/{EVERYTHING}"] if verb.name in ("resolve", "relate") else []
    extra += ["--plan"] if verb.name == "get" else []
    extra += {"encode": ["query"], "template match": ["http://h/{+a}"], "template expand": ["{a}", "--json"]}.get(
        verb.name, []
    )
    for content in ("\n".join(lines), f'{{"a": "{EVERYTHING}"}}', f'{{"{EVERYTHING}": ["a"'):
        output = printed([*verb.words, *extra], tmp_path, octets(content))
        assert not bad(output), bad(output)


def content() -> dict[str, bytes]:
    """Documents of every kind with hostile references, names and values."""
    url = f"http://h/{EVERYTHING}"
    block = f"HTTP/1.1 200 {EVERYTHING}\r\nContent-Type: text/html\r\nLocation: {url}\r\n\r\n<a href='{url}'>"
    warc = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <{EVERYTHING}>\r\nWARC-Target-URI: {url}\r\n"
    contents = {
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
    return {name: octets(text) for name, text in contents.items()}


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
        f"{verb} --column": [verb, "--column", "url", "FILE", *extra]
        for verb, *extra in (
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
    for file, data in files.items():
        (tmp_path / file).write_bytes(data)
    (tmp_path / f"{EVERYTHING.replace('/', '')}.html").write_bytes(files["b.html"])
    arguments = WITH_FILES[name]
    named = ["", *files] if "FILE" in arguments else [""]
    for file in named:
        output = printed([str(tmp_path / file) if argument == "FILE" else argument for argument in arguments], tmp_path)
        assert not bad(output), f"{file}: {bad(output)}"


def test_the_check_finds_control_characters() -> None:
    assert not bad("a\r\n\x1b[31mred\x1b[0m\x1b[2K")
    for name, text in HOSTILE.items():
        assert bad(text), name
    assert bad("\x1b[5;45;7mx")


def test_messages_are_printed_by_one_function() -> None:
    """`paper.say` makes foreign text visible; figures already are, and have our colours."""
    calls = set()
    for path in sorted((SOURCE / "cli").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            function = ast.unparse(node.func)
            if function in ("click.echo", "click.secho") and any(keyword.arg == "err" for keyword in node.keywords):
                calls.add((path.name, ast.unparse(node.args[0])))
            elif function == "print":
                calls.add((path.name, "print"))
    assert calls == {
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
@pytest.mark.parametrize("suffix", ["1+1", "x'!A1", ""])
def test_formulas_in_cells_are_escaped(first: str, suffix: str) -> None:
    from overthere.columns.cells import escape, unescape

    cell = first + suffix
    assert escape(cell) == f"'{cell}"
    assert unescape(escape(cell)) == cell
    assert unescape(escape(f"'{cell}")) == f"'{cell}"


def test_formulas_in_columns_are_escaped() -> None:
    """Whatever type a column has that CSV writes as text: octets too."""
    import pyarrow as pa

    from overthere.columns.cells import escape, escape_cells

    cells = ["=1", "'=1", "\uff1d1", "\ue03d1", "-1", "a", None]
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()):
        plain = pa.array(cells).cast(kind)
        for column in (plain,) if kind == pa.string_view() else (plain, plain.dictionary_encode()):
            escaped = escape_cells(pa.record_batch([column], names=["=x"]))
            assert escaped.schema.names == ["'=x"]
            assert escaped.column(0).cast(pa.large_string()).to_pylist() == [cell and escape(cell) for cell in cells]
    fixed = escape_cells(pa.table({"a": pa.array([b"=1"], pa.binary(2)), "b": [-1], "c": [True]}))
    assert fixed.to_pylist() == [{"a": b"'=1", "b": -1, "c": True}]


def test_the_tables_of_broken(tmp_path: Path) -> None:
    (tmp_path / "=1.html").write_text("<a href='=2.html'><a href='x.html'>")
    runner = CliRunner()
    for options in (["--format", "csv"], ["-o", str(tmp_path / "t.csv")], ["-o", str(tmp_path / "t.csv.gz")]):
        with contextlib.chdir(tmp_path):
            result = runner.invoke(app, ["broken", "=1.html", "--csv-safe", *options])
        assert result.exit_code == 1
        target = options[1]
        data = result.stdout_bytes if target == "csv" else Path(target).read_bytes()
        table = (gzip.decompress(data) if target.endswith(".gz") else data).decode()
        rows = list(csv.DictReader(table.splitlines()))
        assert [row["source"] for row in rows] == ["'=1.html"] * 2
        assert [row["reference"] for row in rows] == ["'=2.html", "x.html"]
    for other in (["--format", "jsonl"], ["-o", str(tmp_path / "t.sarif")], ["-o", str(tmp_path / "t.parquet")], []):
        result = runner.invoke(app, ["broken", str(tmp_path), "--csv-safe", *other])
        assert result.exit_code == 2
        assert "--csv-safe" in result.stderr
