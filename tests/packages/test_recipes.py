"""The recipes of CONTRIBUTING.md for a scheme, a verb, a column operation and an HTML attribute, followed in a copy.

Each adds only what its recipe says, and then runs the commands of the recipe.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT

_NOT_COPIED = shutil.ignore_patterns("__pycache__", "target", ".venv", ".git", "build", "*_cache", "kept")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The repository, with the native kernel if there is one."""
    return Path(shutil.copytree(ROOT, tmp_path / "copy", ignore=_NOT_COPIED, symlinks=True))


def run(copy: Path, *command: str, kernel: str = "") -> str:
    """Run Python and return its output; fail the test if its exit status is not 0."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "OVERTHERE_KERNEL": kernel}
    result = subprocess.run(
        [sys.executable, *command], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def run_tests(copy: Path, *names: str, kernel: str = "") -> None:
    """Run tests."""
    run(copy, "-m", "pytest", "-q", "-n", "0", *names, kernel=kernel)


def insert(file: Path, before: str, text: str) -> None:
    content = file.read_text()
    assert content.count(before) == 1, f"{before!r} in {file.name}"
    file.write_text(content.replace(before, text + before))


SCHEME = '''"""gemini: a page of a Gemini server."""

from __future__ import annotations

from overthere.schemes.model import Example, Scheme

__all__ = ["SCHEME"]

SCHEME = Scheme(
    name="gemini",
    title="Gemini",
    documents={"rfc3986": "Project Gemini, network protocol 0.24"},
    locates_nothing="the protocol is which overthere does not speak",
    syntax='gemini-uri = "gemini:" "//" host [ ":" port ] path-abempty [ "?" query ]',
    rules={"rfc3986": ("gemini-uri",)},
    linkable=True,
    needs_host=True,
    examples=(Example("gemini://h.example/a", "of our own"),),
    notes=("It is read by the generic syntax only.",),
)
'''
SCHEME_CASE = """# gemini: a page.  tests/schemes/test_schemes.py says what a row is.

[[case]]
id = "page"
from = "of our own"
text = "gemini://h.example/a"
valid = true
"""


def test_the_recipe_for_a_scheme(copy: Path) -> None:
    (copy / "src/overthere/schemes/known/gemini.py").write_text(SCHEME)
    insert(copy / "src/overthere/schemes/registry.py", '"http", "https", "ftp",', '"gemini", ')
    (copy / "tests/cases/schemes/gemini.toml").write_text(SCHEME_CASE)
    # Before `make docs` has written the table of the text search.
    assert "gemini://h.example/a" in run(copy, "-m", "overthere", "find", "CONTRIBUTING.md", "README.md", __file__)
    run_tests(copy, "tests/schemes/test_schemes.py", "tests/schemes/test_registry.py", "-k", "gemini or built_in")
    run(copy, "tools/generate.py")
    assert "gemini" in (copy / "docs/schemes.md").read_text()
    assert "\ngemini," in (copy / "src/overthere/schemes/in_text.csv").read_text()


VERB = '''"""overthere shout: texts in capitals."""

from __future__ import annotations

import click

from overthere.cli.common import Answer, Output, format_option, texts_argument

__all__ = ["command"]


@click.command()
@texts_argument
@format_option
def command(texts: tuple[str, ...], form: str) -> None:
    """Write texts in capitals."""
    Output(form).answer_each(texts, "texts", lambda text: Answer(text.upper(), {"text": text}))
'''


def test_the_recipe_for_a_verb(copy: Path) -> None:
    (copy / "src/overthere/cli/shout.py").write_text(VERB)
    insert(copy / "src/overthere/cli/app.py", '    "serve": ', '    "shout": "Write texts in capitals.",\n')
    examples = '(Example("overthere shout a:b"), Example("overthere shout --format jsonl a"))'
    insert(copy / "src/overthere/cli/examples.py", '    "serve": (', f'    "shout": {examples},\n')
    insert(copy / "tests/cli/test_cli_output.py", '    "completion": ', '    "shout": "shout a:b",\n')
    assert run(copy, "-m", "overthere", "shout", "a:b") == "A:B\n"
    run(copy, "tools/generate.py")
    assert "$ overthere shout a:b\nA:B" in (copy / "docs/cli/shout.md").read_text()
    run_tests(
        copy,
        "tests/cli/test_cli_help.py",
        "tests/cli/test_cli_output.py",
        "tests/cli/test_terminal.py",
        "-k",
        "shout or every",
    )


OPERATION = '''def upper(
    column: Any, *, errors: Errors = "null", threads: int | None = None, views: bool = True
) -> ArrowColumn:
    """Each row in capitals."""
    return text(column, "upper", errors, threads, views)


'''


def test_the_recipe_for_a_column_operation(copy: Path) -> None:
    """One row makes it a method of every engine, an SQL function and a line of the reference; without Rust."""
    columns = copy / "src/overthere/columns"
    insert(columns / "__init__.py", "def decode(column: Any", OPERATION)
    insert(columns / "__init__.py", '"with_parameters", "without_parameters",\n]', '"upper", ')
    insert(columns / "operations.py", '    Operation("decode"', '    Operation("upper", (SQL("uri_upper"),)),\n')
    case = '            case "upper":\n                return row.upper(), None\n'
    insert(columns / "rowwise.py", '            case "to_uri":', case)
    run(copy, "tools/generate.py")
    assert "`uri_upper(t)`" in (copy / "docs/reference/columns.md").read_text()
    assert "def upper(self)" in (columns / "polars.pyi").read_text()
    run_tests(
        copy,
        "tests/columns/test_engines.py",
        "tests/repository/test_reference.py",
        "-k",
        "upper or stubs or shown",
        kernel="reference",
    )


HTML_CASE = """
[[case]]
id = "swatch"
from = "of our own"
html = "<img swatch=a>"
is = [["img swatch", "a"]]
"""


@pytest.mark.parametrize("kernel", ["", "reference"])
def test_the_recipe_for_an_html_attribute(copy: Path, kernel: str) -> None:
    insert(copy / "src/overthere/links/documents/html.py", '    ("usemap", (', '    ("swatch", ("img",), "one"),\n')
    with (copy / "tests/cases/html.toml").open("a") as cases:
        cases.write(HTML_CASE)
    run_tests(copy, "tests/links/test_html.py", "-k", "swatch", kernel=kernel)
