"""The GitHub Action and the pre-commit hook: their commands, run on a valid and a broken site."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from support import ROOT

yaml: Any = import_module("yaml")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A path with the `overthere` under test."""
    command = tmp_path / "bin" / "overthere"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m overthere "$@"\n')
    command.chmod(0o755)
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "whole.html").write_text("<a href=/docs/whole.html>")
    (tmp_path / "whole.html").write_text("<a href=/docs/whole.html><a href=#top>")
    (tmp_path / "broken.html").write_text("<a href=nope.html>")
    return {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}


def _check(environment: dict[str, str], folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step "Check", with inputs as environment variables as on GitHub."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    values = {name: field["default"] for name, field in action["inputs"].items()} | inputs
    (step,) = (step for step in action["runs"]["steps"] if step["name"] == "Check")
    named = {name: values[text[3:-2].strip().removeprefix("inputs.")] for name, text in step["env"].items()}
    # as on GitHub: docs.github.com, "shell: bash".
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(
        command, cwd=folder, env={**environment, **named}, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    ("inputs", "code", "message"),
    [
        ({"sources": "whole.html", "base": "https://h/docs/"}, 0, "no broken links"),
        ({"sources": "whole.html broken.html"}, 1, "1 no-document"),
        ({"sources": "broken.html", "arguments": "--only no-fragment"}, 0, "1 error"),
        ({"sources": "absent.html"}, 2, "no such file"),
        ({"sources": "$(touch made) `touch made`"}, 2, "no such file"),
        ({"sources": "--fix"}, 2, "no such file"),
    ],
)
def test_the_step_of_the_action(
    environment: dict[str, str], tmp_path: Path, inputs: dict[str, str], code: int, message: str
) -> None:
    result = _check(environment, tmp_path, **inputs)
    assert result.returncode == code, result.stderr
    assert message in result.stderr
    assert not (tmp_path / "made").exists()


def test_the_action_writes_for_code_scanning(environment: dict[str, str], tmp_path: Path) -> None:
    ran = _check(environment, tmp_path, sources="broken.html", sarif="found.sarif")
    assert (ran.returncode, ran.stdout) == (1, "")
    (result,) = json.loads((tmp_path / "found.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert result["ruleId"] == "no-document"


def test_the_command_of_the_hook(environment: dict[str, str], tmp_path: Path) -> None:
    """Its entry followed by file names, as pre-commit calls it."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    for files, code in ((["whole.html", "a b/whole.html"], 0), (["whole.html", "broken.html"], 1)):
        command = [*shlex.split(hook["entry"]), *files]
        result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60)
        assert result.returncode == code, result.stderr


HOSTILE = (
    "-x.md", "--config=x.md", "--fix.md", "-o.md", "::error::x.md", " ::stop-commands::y.md", " blanks .md",
    "line\n::warning::break.md", "quo\"te'.md", "$(touch made).md", "`touch made`.md", "${HOME}.md", "[a]*.md", "@a.md",
    "##[add-mask]a.md", "\u3000::error::z.md", "carriage\r::error::w.md", "-",
)  # fmt: skip
"""File names that a shell, an option parser or a CI service could misinterpret."""
COMMAND = re.compile(r"(?m)(?:^|\r)\s*::|##\[")
"""Commands that GitHub executes in a line of a log."""


@pytest.fixture
def hostile(environment: dict[str, str], tmp_path: Path) -> Path:
    """A repository with documents of hostile names, each with a broken link, and settings that would make requests."""
    root = tmp_path / "hostile"
    root.mkdir()
    for name in HOSTILE:
        (root / name).write_text("[a](gone.md)\n\n##[add-mask]b ::error::c\n\n[::error::d](##[group]gone.md)\n")
    settings = 'online = true\nprivate = true\nheader = ["X: ${SECRET}"]\n'
    (root / "x.md").write_text(f"[broken]\n{settings}")
    (root / "pip.py").write_text("open('made', 'w')")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True, env=environment, timeout=60)
    return root


@pytest.mark.parametrize("options", [[], ["--group", "target"], ["--group", "kind"]])
def test_the_text_has_no_command_of_azure(environment: dict[str, str], tmp_path: Path, options: list[str]) -> None:
    """Its agent finds them anywhere in a line."""
    (tmp_path / "##vso[task.setvariable variable=a]b.md").write_text("[x](##vso[task.setvariable%20variable=PATH]y)\n")
    result = subprocess.run(
        ["overthere", "broken", *options, "."], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    assert result.returncode == 1, result.stderr
    assert "##vso[" not in result.stdout + result.stderr


def test_the_hook_takes_no_name_for_an_option(environment: dict[str, str], hostile: Path) -> None:
    """Each name alone, and all together; each names a file with one or two broken links."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    names = [name for name in HOSTILE if name != "-"]  # "-" is standard input for people too; the hook never passes it
    for files in ([[name] for name in names], [names]):
        for batch in files if isinstance(files[0], list) else [files]:
            command = [*shlex.split(hook["entry"]), *batch]
            result = subprocess.run(
                command, cwd=hostile, env={**environment, "SECRET": "Sesame"}, capture_output=True, text=True,
                check=False, timeout=60,
            )  # fmt: skip
            assert result.returncode == 1, (batch, result.stderr)
            count = "1 document " if len(batch) == 1 else f"{len(batch)} documents"
            assert count in result.stderr, (batch, result.stderr)
            assert "Sesame" not in result.stdout + result.stderr
            assert not COMMAND.search(result.stdout + result.stderr)
    assert not (hostile / "made").exists()


@pytest.mark.parametrize("options", [[], ["--group", "target"], ["--group", "kind"]])
def test_colours_in_a_log_print_no_command(environment: dict[str, str], hostile: Path, options: list[str]) -> None:
    """Many workflows set FORCE_COLOR; a long reference then starts a line."""
    (hostile / "long.html").write_text(f'<a href="\n::error::{"a" * 100}"></a><a href="##[add-path]/x"></a>')
    command = [sys.executable, "-P", "-m", "overthere", "broken", "--no-config", *options, "."]
    result = subprocess.run(
        command, cwd=hostile, env={**environment, "FORCE_COLOR": "1"}, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert result.returncode == 1, result.stderr
    assert "\x1b[" in result.stdout
    assert not COMMAND.search(re.sub("\x1b\\[[0-9;]*m", "", result.stdout))


def test_the_hook_with_hostile_names_by_pre_commit(environment: dict[str, str], tmp_path: Path, hostile: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    del hook["additional_dependencies"]
    settings = {"repos": [{"repo": "local", "hooks": [hook | {"language": "system"}]}]}
    (hostile / ".pre-commit-config.yaml").write_text(yaml.safe_dump(settings))
    env = {**environment, "PRE_COMMIT_HOME": str(tmp_path / "home")}
    subprocess.run(["git", "add", "."], cwd=hostile, check=True, env=env, timeout=60)
    command = [sys.executable, "-P", "-m", "pre_commit", "run", "--color", "never", "--all-files"]
    result = subprocess.run(command, cwd=hostile, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 1, result.stdout
    assert f"{len(HOSTILE)} documents" in result.stdout, result.stdout  # x.md with them, and "-" has no type
    assert not (hostile / "made").exists()


def test_the_action_takes_no_name_for_an_option_or_a_command(environment: dict[str, str], hostile: Path) -> None:
    """One name per line, like a list of changed files; the output contains no GitHub command."""
    names = [name for name in HOSTILE if "\n" not in name and name != "-"]
    for arguments in (*([name] for name in names), names):
        # A name with spaces needs a list of lines.
        result = _check({**environment, "SECRET": "Sesame"}, hostile, sources="\n".join([*arguments, "x.md"]))
        assert result.returncode == 1, (arguments, result.stderr)
        assert f"{len(arguments) + 1} documents" in result.stderr, (arguments, result.stderr)
        assert not COMMAND.search(result.stdout + result.stderr)
        assert "Sesame" not in result.stdout + result.stderr
    result = _check(environment, hostile, sources=".", arguments="--format github")
    assert result.returncode == 1
    lines = [line for line in result.stdout.splitlines() if COMMAND.search(line)]
    assert lines
    assert all(line.startswith(("::error file=", "::warning file=")) for line in lines), lines
    assert not COMMAND.search(result.stderr)
    assert not (hostile / "made").exists()


def test_found_settings_cannot_choose_the_format(environment: dict[str, str], hostile: Path) -> None:
    """CSV cells contain the line breaks of names."""
    (hostile / "overthere.toml").write_text('[broken]\nformat = "csv"\n')
    result = _check(environment, hostile, sources=".")
    assert result.returncode == 2
    assert "format: give it on the command line" in result.stderr
    result = _check(environment, hostile, sources=".", arguments="--no-config --format csv")
    assert result.returncode == 1
    assert not COMMAND.search(result.stdout + result.stderr)


def test_no_error_in_found_settings_begins_a_command(environment: dict[str, str], hostile: Path) -> None:
    (hostile / "overthere.toml").write_text('[broken]\nbase = ["::stop-commands::x"]\n')
    result = _check(environment, hostile, sources=".")
    assert result.returncode == 2
    assert ": :stop-commands::x" in result.stderr
    assert not COMMAND.search(result.stdout + result.stderr)


@pytest.mark.parametrize("sources", ["whole.html\n", "whole.html\na b/whole.html", "\nwhole.html\n\n", " whole.html  "])
def test_sources_of_the_action_separated_by_spaces_or_lines(
    environment: dict[str, str], tmp_path: Path, sources: str
) -> None:
    result = _check(environment, tmp_path, sources=sources, arguments="--only\nno-document")
    assert result.returncode == 0, result.stderr
    assert f"{sources.count('.html')} document" in result.stderr


def test_the_installation_runs_no_file_of_the_repository(environment: dict[str, str], hostile: Path) -> None:
    """The step "Install" with the real interpreter, and a pip that does nothing."""
    for name in sys.stdlib_module_names:
        (hostile / f"{name}.py").write_text(f"open({str(hostile / 'made')!r}, 'w')\n")
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    (step,) = (step for step in action["runs"]["steps"] if step["name"] == "Install")
    env = {**environment, "GITHUB_ACTION_PATH": str(hostile / "nowhere"), "PYTHONPATH": str(hostile)}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    result = subprocess.run(command, cwd=hostile, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 1
    assert "nowhere" in result.stderr
    assert not (hostile / "made").exists()


def test_settings_that_are_a_source_are_rejected(environment: dict[str, str], hostile: Path) -> None:
    result = subprocess.run(
        ["overthere", "broken", "--config=x.md", "x.md", "./-x.md"], cwd=hostile, env=environment, capture_output=True,
        text=True, check=False, timeout=60,
    )  # fmt: skip
    assert result.returncode == 2
    assert "one of the sources" in result.stderr


@pytest.fixture
def repository(environment: dict[str, str], tmp_path: Path) -> Path:
    """A repository with the workflow and the hooks of docs/broken.md, and valid documents."""
    root = tmp_path / "repository"
    (root / "docs").mkdir(parents=True)
    (root / "README.md").write_text("# Start\n\n[Guide](docs/guide.md#use)\n")
    (root / "docs" / "guide.md").write_text("# Use\n\n[Start](../README.md#start) [Picture](a%20picture.svg)\n")
    (root / "docs" / "a picture.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" id="all"/>')
    (root / "notes.txt").write_text("docs/lost.md\n")
    (root / "broken.toml").write_text('[[ignore]]\ntarget = "*later.md"\nreason = "is written next"\n')
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=root, check=True, env=environment, timeout=60)
    return root


def _configured(begin: str) -> Any:
    """The YAML block of docs/broken.md that begins with this text."""
    page = (ROOT / "docs" / "broken.md").read_text("utf-8")
    (block,) = (part.split("```")[0] for part in page.split("```yaml\n")[1:] if part.startswith(begin))
    return yaml.safe_load(block)


def test_the_action_in_a_repository(environment: dict[str, str], tmp_path: Path, repository: Path) -> None:
    """All its steps, with the inputs in the documentation; the installer records its arguments."""
    installer = tmp_path / "bin" / "python3"
    installer.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {shlex.quote(str(tmp_path / "installed"))}\n')
    installer.chmod(0o755)
    (uses,) = _configured("- uses:")
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert uses["with"].keys() <= action["inputs"].keys()

    def run(**changed: str) -> list[int]:
        values = {name: field["default"] for name, field in action["inputs"].items()} | uses["with"] | changed
        codes = []
        for step in action["runs"]["steps"]:
            named = {
                name: values[text[3:-2].strip().removeprefix("inputs.")] for name, text in step.get("env", {}).items()
            }
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            env = {**environment, **named, "GITHUB_ACTION_PATH": str(ROOT)}
            codes.append(subprocess.run(command, cwd=repository, env=env, check=False, timeout=60).returncode)
        return codes

    assert run() == [0, 0]
    *_, installed = (tmp_path / "installed").read_text().splitlines()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert installed.startswith(f"{ROOT}[")
    assert set(installed.removeprefix(f"{ROOT}[").removesuffix("]").split(",")) <= extras.keys()
    (repository / "docs" / "more.md").write_text("[a](later.md)\n")
    assert run() == [0, 0], "the rule in broken.toml ignores it"
    (repository / "docs" / "more.md").write_text("[a](lost.md)\n")
    assert run() == [0, 1]
    assert run(sarif="found.sarif") == [0, 1]
    (result,) = json.loads((repository / "found.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "docs/more.md"


def test_the_hook_in_a_repository(environment: dict[str, str], tmp_path: Path, repository: Path) -> None:
    """Run by pre-commit, which selects the files; with the hook's own settings except its installation."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    ((entry,),) = (repo["hooks"] for repo in _configured("repos:")["repos"])
    assert entry["id"] == hook["id"]
    del hook["additional_dependencies"]
    settings = {"repos": [{"repo": "local", "hooks": [hook | entry | {"language": "system"}]}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(settings))
    env = {**environment, "PRE_COMMIT_HOME": str(tmp_path / "home")}

    def run(*options: str) -> tuple[int, str]:
        subprocess.run(["git", "add", "."], cwd=repository, check=True, env=env, timeout=60)
        command = [sys.executable, "-m", "pre_commit", "run", "--color", "never", *options]
        result = subprocess.run(
            command, cwd=repository, env=env, capture_output=True, text=True, check=False, timeout=60
        )
        return result.returncode, result.stdout

    code, output = run("--all-files")
    assert (code, "Passed" in output) == (0, True), output
    (repository / "docs" / "more.md").write_text("[a](../README.md#lost) [b](a%20picture.svg)\n")
    code, output = run("--files", "docs/more.md", "notes.txt")
    assert code == 1
    assert "no-fragment" in output
    assert "1 document " in output, "a text file is not passed; the README is read for its anchors only"
