"""Build and installation: names of wheels, a complete source distribution, extras and their dependencies."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from release import KERNEL
from support import ROOT

pytest.importorskip("setuptools_rust")
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The project's files without anything that was built from them."""
    copy = tmp_path_factory.mktemp("tree") / "overthere"
    ignore = shutil.ignore_patterns(
        ".git", ".venv", "target", "build", "dist", "*.egg-info", "*.so", "__pycache__", ".*_cache", ".hypothesis"
    )
    shutil.copytree(ROOT, copy, ignore=ignore, symlinks=True)
    yield copy
    shutil.rmtree(copy)


def build(tree: Path, kind: str, into: Path, **environment: str) -> Path:
    """Build with the project's build backend; return the file."""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILD, kind, str(into)],
        cwd=tree,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return into / result.stdout.splitlines()[-1]


def cargo(folder: Path, status: int) -> str:
    """A PATH without cargo (127), or with one that fails with this status."""
    if status != 127:
        for name in ("cargo", "rustc"):
            (folder / name).write_text(f"#!/bin/sh\ncase $1 in -*) echo {name} 1.90.0;; *) exit {status};; esac\n")
            (folder / name).chmod(0o755)
    return os.pathsep.join([str(folder), "/usr/bin", "/bin"])


@pytest.mark.parametrize("status", [127, 1])
def test_a_wheel_without_the_kernel_is_universal(tree: Path, tmp_path: Path, status: int) -> None:
    wheel = build(tree, "build_wheel", tmp_path, PATH=cargo(tmp_path, status))
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        tags = packed.read(next(n for n in names if n.endswith("/WHEEL"))).decode()
    assert "Root-Is-Purelib: true\n" in tags
    assert "Tag: py3-none-any\n" in tags
    assert {n.split("/")[0].split("-")[0] for n in names} == {"overthere"}
    assert not [n for n in names if n.endswith((".so", ".pyd"))]
    assert sorted(n.partition(".data/data/")[2] for n in names if ".data/" in n) == sorted(
        file.relative_to(ROOT).as_posix() for file in (ROOT / "share").rglob("*") if file.is_file()
    )
    installed = {n for n in names if n.startswith("overthere/")}
    source = ROOT / "src"
    assert installed == {
        file.relative_to(source).as_posix()
        for file in (source / "overthere").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".so"
    }


def test_the_manuals_and_completions_are_installed(tree: Path, tmp_path: Path) -> None:
    """In the directories of the prefix that man and shells search."""
    wheel = build(tree, "build_wheel", tmp_path, OVERTHERE_PURE="1")
    prefix = tmp_path / "prefix"
    install = [
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--prefix",
        str(prefix),
        "--ignore-installed",
        str(wheel),
    ]
    subprocess.run([sys.executable, "-m", "pip", *install], capture_output=True, text=True, check=True)
    for name in ("man/man1/overthere.1", "man/man1/overthere-check.1", *COMPLETED):
        assert (prefix / "share" / name).read_text() == (ROOT / "share" / name).read_text()
    if shutil.which("man"):
        command = ["man", "--manpath", str(prefix / "share" / "man"), "overthere-check"]
        page = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"MANWIDTH": "80"})
        assert "overthere check [OPTIONS]" in page.stdout


COMPLETED = (
    "bash-completion/completions/overthere",
    "zsh/site-functions/_overthere",
    "fish/vendor_completions.d/overthere.fish",
)


def test_a_failed_build_removes_the_older_kernel(tree: Path, tmp_path: Path) -> None:
    """An editable install would load it from the source folder."""
    older = tree / "src" / "overthere" / "_native.cpython-0-any.so"
    older.write_bytes(b"older")
    build(tree, "build_editable", tmp_path, PATH=cargo(tmp_path, 1))
    assert not older.exists()


def test_the_source_distribution_is_complete(tree: Path, tmp_path: Path) -> None:
    """It has all files in Git except Git's and CI's own, so that the tests pass from it."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    tracked = {n for n in listed if not n.startswith((".ci/", ".git"))}
    with tarfile.open(build(tree, "build_sdist", tmp_path)) as packed:
        packed_names = {m.name.split("/", 1)[1] for m in packed if m.isfile()}
    assert not tracked - packed_names
    assert not [n for n in packed_names if n.endswith((".so", ".pyc")) or n.startswith(("rust/target/", ".venv/"))]


def test_the_readme_of_the_wheel_has_absolute_links(tree: Path, tmp_path: Path) -> None:
    """Each names a file of the repository, whose address is also in docs/broken.md."""
    repository = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
    with zipfile.ZipFile(build(tree, "build_wheel", tmp_path, OVERTHERE_PURE="1")) as wheel:
        (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = wheel.read(name).decode()
    assert "Description-Content-Type: text/markdown" in metadata
    assert f"Project-URL: Repository, {repository}" in metadata
    links = re.findall(r"(!?)\[[^\]\n]*\]\(([^)\s]+)\)", metadata)
    assert len(links) > 20
    for picture, address in links:
        kind, _, path = address.removeprefix(f"{repository}/").partition("/main/")
        assert kind == ("raw" if picture else "blob"), address
        assert (ROOT / path.partition("#")[0]).is_file(), address
    assert f"- repo: {repository}\n" in (ROOT / "docs" / "broken.md").read_text("utf-8")


CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DOCTEST = (
    "import doctest, sys; sys.exit(doctest.testfile(sys.argv[1], False, optionflags=doctest.NORMALIZE_WHITESPACE)[0])"
)


def test_the_readme_runs_after_its_install_command(tree: Path, tmp_path: Path) -> None:
    """Its examples run in an environment made by its first `pip install`; without the kernel, to save minutes."""
    readme = (tree / "README.md").read_text("utf-8")
    install = re.search(r"^pip install .*?(?= *#)", readme, re.MULTILINE)
    assert install
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    path = f"{tmp_path / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "OVERTHERE"))}
    env |= {"PATH": path, "COLUMNS": "100"}

    def run(command: str, folder: Path, **options: str) -> subprocess.CompletedProcess[str]:
        shell = ["bash", "-c", command]
        return subprocess.run(shell, cwd=folder, env=env | options, capture_output=True, text=True, check=False)

    installed = run(f"pip install --quiet {install[0].partition(' install ')[2]}", tree, OVERTHERE_PURE="1")
    if "No matching distribution found" in installed.stderr:
        pytest.skip("the package index cannot be reached")
    assert installed.returncode == 0, installed.stderr
    shutil.copytree(tree / "examples", tmp_path / "examples")
    blocks = CONSOLE.findall(readme)
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.MULTILINE)
    assert len(commands) >= 3
    for command, output in commands:
        result = run(command, tmp_path)
        assert result.stdout.split() == output.split(), result.stdout + result.stderr
    (tmp_path / "session.py").write_text(DOCTEST)
    session = run(f"python session.py '{tree / 'README.md'}'", tmp_path)
    assert session.returncode == 0, session.stdout + session.stderr
    (tmp_path / "page.html").write_text('<a href="http://127.0.0.1:9/">')  # the policy rejects it: nothing is requested
    online = run("overthere broken page.html --online", tmp_path)
    assert "1 refused-by-policy" in online.stderr, online.stdout + online.stderr


FACES = ("aiohttp", "django", "fsspec", "httpx", "httpx2", "jsonschema", "requests", "tldextract", "urllib3")
MISSING = (
    ("import overthere.columns.polars", "polars", "polars"),
    ("import overthere.columns.pandas", "pandas", "pandas"),
    ("from overthere.columns import duckdb; duckdb.register(None)", "duckdb", "duckdb"),
    ("from overthere.columns import equivalent; equivalent(['a:b'], ['a:b'])", "columns", "pyarrow"),
    (
        "from overthere import kernel, columns; kernel.name = 'reference'; columns.check(['a:b'])",
        "columns",
        "pyarrow",
    ),
    ("import overthere.columns.spark", "spark", "pyspark"),
    ("import overthere.links.spark", "spark", "pyspark"),
    ("import overthere.integrations.sqlalchemy", "sqlalchemy", "sqlalchemy"),
    *((f"import overthere.integrations.{name}", name, name) for name in FACES),
    ("from overthere.cli import main; sys.argv[1:] = ['check', 'a:b']; main()", "cli", "click"),
    ("import overthere; list(overthere.links.extract(['README.md']))", "links", "brotli"),
    ("from overthere.files.stores.opening import head_object; head_object('s3://b/x')", "stores", "obstore"),
    ("from overthere.ground.codings import Decoder; list(Decoder('lz4').feed(b'a'))", "lz4", "lz4.frame"),
    ("from overthere.links.documents.rst import parse; parse('a')", "rst", "docutils"),
    ("from overthere.links.documents.notebook import cells; cells('{}')", "notebooks", "nbformat"),
    ("import overthere; overthere.URI('http://a.example/').registrable_domain", "domains", "publicsuffixlist"),
    ("import asyncio, overthere; asyncio.run(overthere.aopen('data:,a'))", "access", "anyio"),
    ("from overthere.editions.whatwg import read; read('http://h')", "whatwg", "ada_url"),
    ("import overthere.web.server", "web", "starlette"),
    ("from overthere.broken.robots import Robots; Robots()", "broken", "protego"),
)
"""A program, the extra that it needs, and a package of that extra."""


@pytest.mark.parametrize(("code", "extra", "package"), MISSING)
def test_a_missing_package_is_reported_with_its_extra(code: str, extra: str, package: str) -> None:
    """A new process cannot import the package; the message is the pip command that installs it."""
    hidden = f"import sys; sys.modules[{package!r}] = None; {code}"
    result = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    line = result.stderr.splitlines()[-1]
    assert line.endswith(f": pip install 'overthere[{extra}]'")
    assert package in line


@pytest.mark.parametrize("name", ["native", "reference"])
def test_each_column_function_works_or_names_the_extra_without_pyarrow(name: str) -> None:
    code = (
        "import inspect, sys; sys.modules['pyarrow'] = None\n"
        "import polars; from overthere import canonical, columns\n"
        "s = polars.Series(['http://h/'])\n"
        "arguments = {'add_parameters': [{'a': '1'}], 'canonicalize': [canonical.SURT], 'parameter': ['a'],\n"
        "    'relate': [s], 'resolve': [s], 'with_parameters': [{'a': '1'}], 'without_parameters': ['a'],\n"
        "    'equivalent': [s], 'lowest_rung': [s]}\n"
        "for name in columns.__all__:\n"
        "    if name != 'engine' and inspect.isfunction(function := getattr(columns, name)):\n"
        "        try:\n"
        "            function(s, *arguments.get(name, ()))\n"
        "        except ModuleNotFoundError as error:\n"
        "            assert str(error).endswith(\"pip install 'overthere[columns]'\"), (name, error)\n"
    )
    environment = os.environ | ({} if name == "native" else {"OVERTHERE_KERNEL": name})
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_every_extra_has_a_test_of_its_message() -> None:
    """Except extras without packages of their own, and those whose absence only shortens an answer that notes it."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert extras.keys() - {extra for _, extra, _ in MISSING} == {"all", "audit", "pydantic"}


def test_the_native_module_is_small() -> None:
    native = pytest.importorskip("overthere._native")
    assert Path(native.__file__).stat().st_size <= KERNEL


def test_the_native_kernel_has_few_dependencies() -> None:
    """All crates, for every system and for benchmarks: whoever adds one also raises this number."""
    locked = tomllib.loads((ROOT / "rust" / "Cargo.lock").read_text("utf-8"))["package"]
    # flate2, zlib-rs: records of WARC files; serde_json: envelopes of WAT; parquet, zstd, arrow-ipc: tables
    assert len(locked) <= 114
    assert not {crate["name"] for crate in locked} & {"arrow-cast", "arrow-ord", "chrono-tz", "numpy"}
