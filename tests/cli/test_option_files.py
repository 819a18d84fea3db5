"""Files given as options: whatever they contain, an error is one line, never a traceback."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import overthere
from overthere.access.gateways import Gateways
from overthere.broken.filters import Baseline, Rules
from overthere.canonical import Canonical
from overthere.cli.app import app
from overthere.ground.errors import RegistryError
from overthere.ground.option_files import read_json, read_toml

SOURCE = Path(overthere.__file__).parent
DEEP = 100_000


def _finding(**changed: object) -> str:
    row = {"source": "a.html", "where": "a href", "reference": "x", "kind": "not-found", "since": "2026-01-01"}
    return json.dumps({**row, **changed})


TOML: dict[str, bytes] = {
    "deep arrays": b"key = " + b"[" * DEEP,
    "deep arrays that are closed": b"key = " + b"[" * 900 + b"]" * 900,
    "deep tables": b"key = " + b"{a = " * DEEP,
    "a dotted key": b"key." + b".".join([b"a"] * DEEP) + b" = 1",
    "a dotted head": b"[key." + b".".join([b"a"] * DEEP) + b"]",
    "a deep step": b"[[step]]\nname = 'drop-parameters'\nnames = " + b"[" * 400 + b"]" * 400,
    "a deep rule": b"[[ignore]]\nreason = 'r'\nkind = " + b"[" * 90 + b"]" * 90,
    "a deep gateway": b"[gateways]\nwais = " + b"[" * 90 + b"]" * 90,
    "a large number": b"key = " + b"9" * 10_000,
    "infinite": b"key = 1e400",
    "a date": b"key = 1979-05-27",
    "lists": b"ignore = [1, [2]]\nstep = [1]\ngateways = [1]",
    "texts": b"ignore = 'a'\nstep = 'a'\ngateways = 'a'",
    "octets": b"\xff\xfe\x00",
    "NUL": b"\0",
    "controls": b"key = '\x1b[31m'",
    "no TOML": b"{",
}
JSON: dict[str, bytes] = {
    "lists as values": _finding(source=["a"]).encode(),
    "tables as values": _finding(reference={"a": 1}).encode(),
    "numbers as values": _finding(kind=1).encode(),
    "a list as its date": _finding(since=[1]).encode(),
    "no kind": b'{"source": "a", "where": null, "reference": null}',
    "no reference": b'{"source": "a", "where": null, "kind": "gone"}',
    "a list": b"[]",
    "a text": b'"a"',
    "a number": b"1",
    "null": b"null",
    "deep lists": b"[" * DEEP,
    "deep tables": b'{"a":' * DEEP,
    "deep within": _finding()[:-1].encode() + b', "x": ' + b"[" * 400 + b"]" * 400 + b"}",
    "a large number": b"9" * 10_000,
    "octets": b"\xff\xfe\x00",
    "NUL": b"\0",
    "no JSON": b"{",
}


def _run(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=stdin)


def _reported(result: Result, option: str) -> None:
    assert result.exit_code == 2, result.output
    assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit)
    last_line = result.stderr.splitlines()[-1]
    assert last_line.startswith("Error: ")
    assert option in last_line
    assert len(last_line) < 400
    assert last_line.isprintable()


VERBS: dict[str, Callable[[str], list[str]]] = {
    "--ignore": lambda file: ["broken", ".", "--ignore", file],
    ".toml": lambda file: ["canonical", "--form", file, "http://h/"],
    "--policy": lambda file: ["get", "--policy", file, "data:,a"],
    "gateways": lambda file: ["plan", "--gateways", file, "wais://h/d"],
}


@pytest.mark.parametrize("option", VERBS)
@pytest.mark.parametrize("case", TOML)
def test_invalid_toml_files(case: str, option: str, tmp_path: Path) -> None:
    file = tmp_path / "f.toml"
    file.write_bytes(TOML[case])
    _reported(_run(*VERBS[option](str(file))), option if option != "gateways" else "")


@pytest.mark.parametrize("case", JSON)
def test_invalid_baselines(case: str, tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    file.write_bytes(_finding().encode() + b"\n" + JSON[case] + b"\n")
    result = _run("broken", str(tmp_path), "--baseline", str(file))
    _reported(result, "--baseline")
    assert "line 2" in result.stderr


@pytest.mark.parametrize("case", JSON)
def test_invalid_values_of_a_template(case: str) -> None:
    result = _run("template", "expand", "http://h/{a}", stdin=JSON[case] + b"\n")
    assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit)
    assert result.exit_code in (0, 1, 2)
    assert "Traceback" not in result.output


def test_valid_files_are_read(tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + _finding().encode() + b"\r\n\r\n" + _finding(where=None).encode())
    baseline = Baseline.read(str(file))
    assert sum(baseline.known.values()) == 2
    assert set(baseline.since.values()) == {"2026-01-01"}
    (tmp_path / "empty").write_bytes(b"")
    assert not Baseline.read(str(tmp_path / "empty")).known
    assert Rules.read("").rules == []
    assert read_toml("a.b.c.d = [[1]]") == {"a": {"b": {"c": {"d": [[1]]}}}}
    assert read_json("[" * 32 + "]" * 32)


@pytest.mark.parametrize("depth", [33, 34, 500, DEEP])
def test_the_depth_is_limited(depth: int) -> None:
    with pytest.raises(ValueError, match="nested more than 32 deep"):
        read_json("[" * depth + "]" * depth)
    with pytest.raises(ValueError, match=r"nested more than 32 deep|1,000 dots"):
        read_toml("a" + ".a" * depth + " = 1")


@pytest.mark.parametrize("case", TOML)
def test_the_functions_raise_documented_errors(case: str, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(TOML[case])
    text = TOML[case].decode("utf-8", "surrogateescape")
    for read in (Rules.read, Canonical.from_toml):
        with pytest.raises(ValueError, match=r"."):
            read(text)
    with pytest.raises(RegistryError):
        Gateways.read(file)


ELSEWHERE = {
    "grammar/tables.py": "data of the package",
    "schemes/syntax.py": "data of the package",
    "web/pages.py": "inputs that were written by this library",
    "web/answers.py": "between the processes of one server",
    "access/resource.py": "content, of any depth that JSON's reader takes; deeper is a ValueError",
    "files/tables/checkpoint.py": "marks of a run; deeper is a ResumeError",
    "links/job/part_files.py": "parts of a job; deeper is a ValueError",
    "links/documents/metadata.py": "content; deeper is a note",
    "links/documents/json.py": "one text of JSON",
}


def test_many_dots_on_many_lines_are_an_error() -> None:
    """Each line takes memory quadratic in its dots."""
    text = "\n".join(f"k{number}{'.a' * 999} = 1" for number in range(2000))
    with pytest.raises(ValueError, match="too many"):
        read_toml(text)
    usual = "\n".join(f"k{number} = 'https://www.example.org/a.b.c.html'" for number in range(20_000))
    assert len(read_toml(usual)) == 20_000


def test_only_the_checked_functions_read_json_or_toml() -> None:
    uses = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Attribute(value=ast.Name(id="json" | "tomllib"), attr="load" | "loads" | "JSONDecoder"):
                    uses.add(path.relative_to(SOURCE).as_posix())
                case ast.ImportFrom(module="json" | "tomllib"):
                    uses.add(path.relative_to(SOURCE).as_posix())
                case _:
                    pass
    assert uses == {"ground/option_files.py", *ELSEWHERE}
