"""No command and no process that it starts imports a module from the current folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from overthere.cli.app import VERBS
from overthere.ground.processes import Child, find_program, import_path, python_command
from servers import NET
from support import ROOT

BY_PYTHON = frozenset(
    ("__future__", "collections", "contextlib", "functools", "importlib", "keyword", "operator", "reprlib", "types")
) | {"warnings"}  # fmt: skip
"""Modules that `python -m` imports before any module of this package runs."""
COMMANDS = {
    "explain": ["explain", "http://h/"],
    "check": ["check", "http://h/", "nope nope"],
    "split": ["split", "--column", "uri", "table.csv"],
    "resolve": ["resolve", "--base", "http://h/", "x"],
    "repair": ["repair", "http:/h/a"],
    "template": ["template", "expand", "http://h/{x}", "x=1"],
    "relate": ["relate", "--base", "http://h/", "http://h/x"],
    "normalize": ["normalize", "--column", "uri", "table.csv", "-o", "out.parquet"],
    "canonical": ["canonical", "--form", "surt", "http://h/"],
    "compare": ["compare", "http://h/", "http://H/"],
    "encode": ["encode", "a b"],
    "decode": ["decode", "a%20b"],
    "parameters": ["parameters", "http://h/?a=1"],
    "build": ["build", "--scheme", "http", "--host", "h", "--path", "/"],
    "schemes": ["schemes", "http"],
    "plan": ["plan", "gopher://h/", "telnet://127.0.0.1/"],
    "get": ["get", "data:,hello", "http://127.0.0.1:9/"],
    "editions": ["editions", "diff", "rfc1738", "rfc3986"],
    "find": ["find", "."],
    "links": ["links", ".", "-o", "links.parquet", "--plot", "links.svg"],
    "broken": ["broken", ".", "-o", "broken.html"],
    "audit": ["audit", "http://h/", "guide.md"],
    "completion": ["completion", "bash"],
    "links of processes": ["links", ".", "--workers", "3", "--audit"],
    "links of threads": ["links", ".", "--workers", "3", "--metadata"],
    "links of a table of parts": ["links", ".", "--workers", "2", "-o", "parts/"],
    "broken of processes": ["broken", ".", "--workers", "3", "--base", "https://h/"],
    "broken since": ["broken", ".", "--since", "HEAD"],
    "broken outside": ["broken", ".", "--online", "--group", "target"],
}


def hostile_folder(folder: Path, left_out: frozenset[str] = frozenset()) -> Path:
    """Create a folder with a module for each name that Python or a dependency might import; each records its import."""
    folder.mkdir()
    marks = folder.parent / "marks"
    names = {*sys.stdlib_module_names, *packages_distributions(), "sitecustomize", "usercustomize", "overthere"}
    for name in filter(str.isidentifier, names - left_out):
        (folder / f"{name}.py").write_text(f"with open({str(marks)!r}, 'a') as marks: print(__name__, file=marks)\n")
    (folder / "guide.md").write_text("# Guide\n\n[a](index.html#nope) http://127.0.0.1:9/x [b](guide.md#guide)\n")
    (folder / "index.html").write_text('<a href="gone.html">a</a><a href="style.css">b</a>')
    (folder / "style.css").write_text("a { background: url(gone.png) }")
    (folder / "table.csv").write_text("uri\nhttp://h/A/../b\n")
    for number in range(3):
        (folder / f"{number}.eml").write_text("Content-Type: text/html\n\n<a href=http://h/>a</a>")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True, timeout=NET)
    return folder


def imported_names(folder: Path) -> set[str]:
    marks = folder.parent / "marks"
    return set(marks.read_text().split()) if marks.exists() else set()


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    return hostile_folder(tmp_path / "hostile")


@pytest.fixture
def script(tmp_path: Path) -> list[str]:
    """The command as pip installs it: a script in its own folder."""
    file = tmp_path / "bin" / "overthere"
    file.parent.mkdir()
    file.write_text("from overthere.cli import main\nif __name__ == '__main__':\n    main()\n")
    return [sys.executable, str(file)]


def test_every_command_is_tested() -> None:
    assert {words[0] for words in COMMANDS.values()} | {"serve"} == VERBS.keys()


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("kernel", ["", "reference"])
def test_no_command_imports_from_the_current_folder(hostile: Path, script: list[str], name: str, kernel: str) -> None:
    """An import of such a module in a worker would end the job, too."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | ({"OVERTHERE_KERNEL": kernel} if kernel else {})
    result = subprocess.run(
        [*script, *COMMANDS[name]], cwd=hostile, env=environment, capture_output=True, text=True, timeout=NET * 3,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert imported_names(hostile) == set()
    assert "Traceback" not in result.stderr
    assert result.returncode in (0, 1, 2), result.stderr


def test_the_server_imports_nothing_from_the_current_folder(hostile: Path, script: list[str]) -> None:
    pytest.importorskip("uvicorn")
    from explainer import Explainer

    running = subprocess.Popen(
        [*script, "serve", "--port", "0"], cwd=hostile, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert running.stdout is not None
        port = int(running.stdout.readline().strip().removesuffix("/").rpartition(":")[2])
        assert Explainer(port).ask("/anatomy.json?text=http://h/").status == 200
    finally:
        running.terminate()
        _, errors = running.communicate(timeout=NET)
    assert imported_names(hostile) == set(), errors


def test_python_m_imports_only_what_python_itself_imports(tmp_path: Path) -> None:
    """`python -m` searches the current folder before a module of the package runs; the package then removes it."""
    folder = hostile_folder(tmp_path / "hostile", BY_PYTHON | {"overthere"})
    for words in (["check", "http://h/"], ["links", ".", "--workers", "2", "--audit"]):
        result = subprocess.run(
            [sys.executable, "-m", "overthere", *words], cwd=folder, capture_output=True, timeout=NET * 3, check=False
        )
        assert result.returncode in (0, 1), result.stderr
    assert imported_names(folder) == set()


@pytest.mark.parametrize("path", [os.pathsep, ".", f".{os.pathsep}{{folder}}", "{folder}"])
def test_a_child_always_gets_a_safe_path(hostile: Path, path: str) -> None:
    """Even if the parent's path has the current folder, and PYTHONPATH the folder or an empty entry."""
    code = (
        "import sys, os, multiprocessing.connection\n"
        "from overthere.ground.processes import Child\n"
        "from overthere.links.job.pool import _run_worker\n"
        "from overthere.links.model import Options\n"
        f"sys.path[:0] = ['', {str(hostile)!r}, '.']; os.chdir({str(hostile)!r})\n"
        f"os.environ['PYTHONPATH'] = {path.format(folder=hostile)!r}\n"
        "child = Child(_run_worker, Options()); child.pipe.send(None); child.join(); print(child.exitcode)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=NET, check=False
    )
    assert result.stdout == "0\n", result.stderr
    assert imported_names(hostile) == set()


def _report(pipe: Any) -> None:
    pipe.send((sys.path, dict(os.environ), bool(sys.flags.safe_path or sys.flags.isolated)))


def test_the_environment_of_a_child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", ".", str(tmp_path), "relative", *sys.path])
    monkeypatch.setenv("PYTHONPATH", f"{os.pathsep}{tmp_path}{os.pathsep}{ROOT}{os.pathsep}.")
    child = Child(_report)
    try:
        path, environment, is_safe = child.pipe.recv()
    finally:
        child.end()
    assert path == import_path() == [place for place in sys.path[4:] if os.path.isabs(place)]
    assert (environment["PYTHONPATH"], environment["PYTHONSAFEPATH"]) == (str(ROOT), "1")
    assert is_safe
    assert child.exitcode is not None


def test_a_child_ends_with_its_parent(tmp_path: Path) -> None:
    """It ends when the parent exits silently, but not when a forked copy of the parent exits."""
    code = (
        "import os\n"
        "from overthere.ground.processes import Child\n"
        "from threading import Event\n"
        "import test_import_path\n"
        "child = Child(test_import_path._sleep); print(child.pipe.recv(), flush=True)\n"
        "if hasattr(os, 'fork') and not (copy := os.fork()): raise SystemExit\n"
        "if hasattr(os, 'fork'): os.waitpid(copy, 0)\n"
        "print(child.exitcode, flush=True)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT / "tests"), str(Path(__file__).parent)))}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=NET,
        check=False,
    )  # fmt: skip
    pid, exitcode = result.stdout.split()
    assert exitcode == "None", result.stderr
    assert not Path("/proc", pid).exists()


def _sleep(pipe: Any) -> None:
    pipe.send(os.getpid())
    threading.Event().wait(NET)


def test_the_interpreter_options_are_passed_to_children(monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-I", "-X", "utf8", "-W", "error::SyntaxWarning", "-O", "-c"]
    code = "from overthere.ground.processes import python_command; print(*python_command()[1:], sep='\\n')"
    result = subprocess.run([*command, code], capture_output=True, text=True, timeout=NET, check=True)
    assert {"-P", "-I", "-Xutf8", "-Werror::SyntaxWarning", "-O"} <= set(result.stdout.split("\n"))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(RuntimeError, match="one worker"):
        python_command()


def test_no_program_is_found_in_the_current_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "overthere-planted"
    shutil.copy(shutil.which("true") or sys.executable, program)
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", os.pathsep, f"{os.pathsep}{os.pathsep}relative"):
        monkeypatch.setenv("PATH", path)
        assert find_program(program.name) is None
    monkeypatch.setenv("PATH", f".{os.pathsep}{tmp_path}")
    assert find_program(program.name) == str(program)
    assert find_program(str(program)) == str(program)


def test_every_python_that_the_project_starts_is_safe() -> None:
    """Tools, the Action and workflows use an option that keeps the current folder off the path."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tools").rglob("*.py"), *(ROOT / ".github").rglob("*.yml")]
    files += [ROOT / "action.yml", ROOT / "Makefile", ROOT / ".ci" / "run"]
    command = re.compile(r"""(?<!`)\b(?:sys\.executable\}?|python3?\b|PYTHON\))"?,?\s+"?-[cm]\b""")
    commands = [f"{file.name}: {match}" for file in files for match in command.findall(file.read_text("utf-8"))]
    assert commands == []
    assert command.search('[sys.executable, "-m", "pip"]')
    assert command.search("python3 -m pip")
