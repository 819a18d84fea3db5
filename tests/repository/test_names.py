"""Public names, and conventions that can be checked automatically."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import overthere
from support import ROOT

PACKAGE = ROOT / "src" / "overthere"
MODULES = sorted(p.relative_to(ROOT).as_posix() for p in PACKAGE.rglob("*.py"))


def test_public_names() -> None:
    assert sorted([*overthere.__all__, "open"]) == sorted(overthere._HOMES)
    for name in overthere.__all__:
        assert getattr(overthere, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        overthere.no_such_name  # type: ignore[attr-defined]  # noqa: B018
    assert set(overthere.__all__) <= set(dir(overthere))


def test_names_of_other_libraries() -> None:
    for name, replacement in overthere._ELSEWHERE.items():
        with pytest.raises(AttributeError) as caught:
            getattr(overthere, name)
        assert str(caught.value).endswith(f"; use overthere.{replacement}")
        first, *parts = re.split(r"\(.*?\)\.?|\.", replacement)
        value = getattr(overthere, first)
        for part in filter(None, parts):
            value = getattr(value, part)
    assert not overthere._ELSEWHERE.keys() & {*dir(overthere), *overthere._HOMES}


_SCRIPT = re.compile(r"from (overthere[\w.]*) import (\w+)[^\n]*?\b\2\.(\w+) = ")


def test_names_that_scripts_set_exist() -> None:
    """A script in a string sets a module attribute in another process: with a wrong name it would have no effect."""
    assignments = [
        match for path in (ROOT / "tests").rglob("*.py") for match in _SCRIPT.findall(path.read_text("utf-8"))
    ]
    assert len(assignments) >= 3
    missing = [row for row in assignments if not hasattr(importlib.import_module(f"{row[0]}.{row[1]}"), row[2])]
    assert missing == []


def test_no_function_shares_its_name_with_a_module() -> None:
    modules = {p.stem for p in PACKAGE.glob("*.py")} | {p.name for p in PACKAGE.iterdir() if p.is_dir()}
    functions = {n for n, home in overthere._HOMES.items() if home and home != n}
    assert not modules & functions


LINES = 77_724
"""The maximum number of Python lines in the package.  A feature removes as many as it adds, or its commit raises the
number with a reason.  The last was for some forty findings of careful readers in the readers of archives, messages and
documents, the checker and the protocols (250)."""


def test_the_package_does_not_grow() -> None:
    assert sum(file.read_text().count("\n") for file in PACKAGE.rglob("*.py")) <= LINES


@pytest.mark.parametrize("module", MODULES)
def test_habits(module: str) -> None:
    text = (ROOT / module).read_text()
    tree = ast.parse(text)
    assert ast.get_docstring(tree), f"{module} says nothing of itself"
    if not module.endswith("kernel/classes.py"):
        assert text.count("\n") <= 420, f"{module} is two files"


PUBLIC = re.compile(r"/(__init__|base|forms|iri|spark|locators)\.py$|/(integrations|testing)/")
"""Modules that users import from; the others have `__all__` only to pass on a name of another module."""


@pytest.mark.parametrize("module", [module for module in MODULES if not PUBLIC.search(module)])
def test_an_inner_module_lists_no_names(module: str) -> None:
    """A name without an underscore is one that other modules use: a list would say it a second time."""
    text = (ROOT / module).read_text()
    if listed := re.search(r"^__all__ = \[(.*?)\]", text, re.MULTILINE | re.DOTALL):
        names = re.findall(r'"(\w+)"', listed[1])
        assert any(not re.search(rf"^(?:(?:async )?def |class )?{name}\b", text, re.MULTILINE) for name in names)


def test_public_functions_are_documented() -> None:
    for name in overthere.__all__:
        assert (getattr(overthere, name).__doc__ or "").strip(), name


def test_importing_is_cheap() -> None:
    """Before a name is used, the package imports only a few modules of the standard library."""
    code = "import sys; before = set(sys.modules); import overthere; print(*sorted(set(sys.modules) - before))"
    run = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); {code}"]
    loaded = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    ours = [m for m in loaded if m.split(".")[0] == "overthere"]
    assert ours == ["overthere"]
    assert "re" not in loaded
    code = code.replace("import overthere;", "import overthere; overthere.URI('http://h/%41').join('x').normalize();")
    run[-1] = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); {code}"
    loaded = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    assert not {"idna", "click", "rich", "pydantic", "urllib", "json", "zlib"} & {m.split(".")[0] for m in loaded}
    if overthere.kernel.name == "native":  # whose values need no regular expressions and no enum
        assert not {"re", "enum", "functools", "collections"} & {*loaded}


@pytest.mark.parametrize(
    "names", [("overthere.links", "overthere.access"), ("overthere.schemes", "overthere.files.tables")]
)
def test_two_threads_import_at_once(names: tuple[str, str]) -> None:
    """No package imports its modules at once: another thread would hold a module's lock and wait for the package."""
    code = (
        "import sys, threading\n"
        f"sys.path.insert(0, {str(ROOT / 'src')!r})\nfailed = []\nready = threading.Barrier(2)\n"
        "def load(name):\n"
        "    ready.wait()\n"
        "    try: __import__(name)\n"
        "    except BaseException as error: failed.append(repr(error))\n"
        f"threads = [threading.Thread(target=load, args=(name,)) for name in {names!r}]\n"
        "for one in threads: one.start()\n"
        "for one in threads: one.join()\n"
        "print(failed)"
    )
    for _ in range(12):
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert run.stdout == "[]\n", run.stdout + run.stderr


def test_every_case_has_a_source() -> None:
    import tomllib

    for file in sorted((ROOT / "tests" / "cases").rglob("*.toml")):
        rows = tomllib.loads(file.read_text())["case"]
        assert len({row["id"] for row in rows}) == len(rows), file.name
        assert all(row.get("from") for row in rows), file.name


def test_project_text_names_no_machine() -> None:
    words = ("/wor" + "k/", "/far" + "m/", "py" + "pi.org", "files.python" + "hosted")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    for name in filter(None, tracked):
        file = Path(ROOT, name)
        if file.suffix in (".py", ".md", ".toml", ".txt", ".rs", "") and file.is_file():
            text = file.read_text(errors="replace")
            assert not [w for w in words if w in text], name


def test_the_readme_is_short() -> None:
    assert (ROOT / "README.md").read_text("utf-8").count("\n") <= 90


PLACES = ("", "src/", "src/overthere/", "tests/", "rust/", "rust/python/src/", "examples/")


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "docs/decisions.md"])
def test_files_named_in_pages_exist(page: str) -> None:
    """A page names a file by its path in the repository or below `PLACES`; NAME and KIND are placeholders."""
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|rs|toml|abnf|csv|md))`", (ROOT / page).read_text("utf-8"))
    files = [name for name in named if not re.search("NAME|KIND|DIR", name)]
    assert [name for name in files if not any((ROOT / place / name).is_file() for place in PLACES)] == []
