"""Releases: native builds, reproducible builds, metadata, and budgets."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import overthere
from support import ROOT
from test_packages import BUILD, build, cargo, tree

__all__ = ["tree"]

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
REPOSITORY: str = PROJECT["urls"]["Repository"]


# -- builds


@pytest.mark.parametrize(
    ("status", "pure", "message"),
    [(127, "", "can't find Rust compiler"), (1, "", "cargo"), (127, "1", "OVERTHERE_PURE are both set; unset one")],
    ids=["without cargo", "where cargo dies", "both"],
)
def test_a_required_native_build_never_gives_a_pure_wheel(
    tree: Path, tmp_path: Path, status: int, pure: str, message: str
) -> None:
    """With OVERTHERE_NATIVE a build without the kernel fails, and leaves no wheel."""
    environment = {"OVERTHERE_NATIVE": "1", "OVERTHERE_PURE": pure, "PATH": cargo(tmp_path, status)}
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILD, "build_wheel", str(tmp_path)],
        cwd=tree, env=os.environ | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode != 0
    assert message in result.stdout + result.stderr
    assert not list(tmp_path.glob("*.whl"))


def test_wheels_are_reproducible(tree: Path, tmp_path: Path) -> None:
    """In other folders, with other file times."""
    wheels = []
    for name in ("first", "another"):
        copy = Path(shutil.copytree(tree, tmp_path / name / "overthere", symlinks=True))
        wheels.append(build(copy, "build_wheel", tmp_path / name, OVERTHERE_PURE="1", SOURCE_DATE_EPOCH="1700000000"))
        for file in (path for path in tree.rglob("*") if path.is_file()):
            os.utime(file, (1_600_000_000, 1_600_000_000))
    assert wheels[0].name == wheels[1].name
    assert wheels[0].read_bytes() == wheels[1].read_bytes()


def test_source_distributions_are_reproducible(tree: Path, tmp_path: Path) -> None:
    """In other folders, with other file times and modes."""
    archives: list[Path] = []
    for name, umask in (("first", 0o022), ("another", 0o077)):
        before = os.umask(umask)
        try:
            copy = Path(shutil.copytree(tree, tmp_path / name / "overthere", symlinks=True))
            if archives:
                for file in (path for path in copy.rglob("*") if path.is_file() and not path.is_symlink()):
                    os.utime(file, (1_600_000_000, 1_600_000_000))
                    file.chmod(file.stat().st_mode & 0o700)
            archives.append(build(copy, "build_sdist", tmp_path / name, SOURCE_DATE_EPOCH="1700000000"))
        finally:
            os.umask(before)
    assert archives[0].name == archives[1].name
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with tarfile.open(archives[0]) as archive:
        members = archive.getmembers()
    assert {member.mtime for member in members} == {1_700_000_000}
    assert {member.mode for member in members} <= {0o644, 0o755}
    assert any(member.name.endswith("/src/overthere/__init__.py") for member in members)


# -- counts


def loaded_modules(*arguments: str) -> set[str]:
    """The modules that a program loads in addition to those of Python's own start."""
    code = f"import sys; before = set(sys.modules); sys.argv[1:] = {list(arguments)!r}\n"
    code += (
        "import overthere\n"
        if not arguments
        else "from overthere.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    )
    code += "print(*sorted(set(sys.modules) - before), file=sys.stderr)"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    run = [sys.executable, "-c", code]
    result = subprocess.run(run, env=environment, capture_output=True, text=True, check=True, timeout=600)
    return set(result.stderr.split())


def test_few_modules_are_loaded() -> None:
    """Budgets: they delay the start of every program."""
    assert loaded_modules() == {"__future__", "overthere"}
    of_check = loaded_modules("check", "http://example.com/a?b#c")
    assert len([name for name in of_check if name.startswith("overthere")]) <= 61
    assert not {name.partition(".")[0] for name in of_check} & {"rich", "pyarrow", "idna", "pydantic", "asyncio", "ssl"}
    assert len(of_check) <= 160


def test_the_number_of_files_in_a_wheel_is_limited(tree: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(build(tree, "build_wheel", tmp_path, OVERTHERE_PURE="1")) as wheel:
        names = wheel.namelist()
        octets = sum(info.compress_size for info in wheel.infolist())
    assert len(names) <= 626  # stores and indexes; one file per generator; archives in parts; a room of files
    assert octets <= 1_500_000
    assert [name for name in names if ".dist-info/licenses/" in name and name.endswith(("LICENSE", "LICENSES.md"))]


def test_extras_have_few_dependencies() -> None:
    """Whoever adds one also raises this number."""
    assert len(PROJECT["dependencies"]) == 1
    assert {extra: len(needed) for extra, needed in EXTRAS.items()} == {
        "access": 5, "aiohttp": 1, "all": 2, "audit": 1, "broken": 2, "cli": 2, "columns": 1, "django": 1,
        "domains": 1, "duckdb": 3, "fsspec": 2, "httpx": 1, "httpx2": 1, "jsonschema": 1, "links": 6, "lz4": 1,
        "notebooks": 1, "pandas": 2, "polars": 2, "pydantic": 1, "requests": 1, "rst": 1, "spark": 3, "sqlalchemy": 1,
        "stores": 2, "tldextract": 2, "urllib3": 1, "web": 4, "whatwg": 1,
    }  # fmt: skip


def test_every_extra_has_an_example() -> None:
    """tools/extras.py runs it in an environment with this extra only."""
    import extras

    assert sorted(extras.EXAMPLES) == sorted(EXTRAS)
    for example in extras.EXAMPLES.values():
        assert "\n" in example.program or extras.text(example)[1]
        assert set(example.beside) <= EXTRAS.keys()


# -- crates


def test_the_bill_of_materials_has_every_crate() -> None:
    """tools/crates.py writes it; it and the licences have all crates that cargo links on this system."""
    if not shutil.which("cargo"):
        pytest.skip("the native kernel is absent or not asked for")
    tree = ["cargo", "tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none"]
    result = subprocess.run(tree, cwd=ROOT / "rust" / "python", capture_output=True, text=True, check=True)
    linked = {tuple(line.replace(" v", " ").split()[:2]) for line in result.stdout.splitlines()}
    bill = json.loads((ROOT / "rust" / "sbom.cdx.json").read_text("utf-8"))
    listed = {(crate["name"], crate["version"]) for crate in [*bill["components"], bill["metadata"]["component"]]}
    assert linked <= listed
    licences = (ROOT / "rust" / "LICENSES.md").read_text("utf-8")
    assert not [crate for crate, _ in linked if not crate.startswith("overthere-") and f"{crate} " not in licences]
    permissive = {"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "Unlicense", "Zlib", "Unicode-3.0"}
    for component in bill["components"]:
        (row,) = component["licenses"]
        choice = re.split(r"\s+AND\s+", row.get("expression") or row["license"]["id"])
        assert all(set(re.split(r"\s+OR\s+", part)) & permissive for part in choice), component["name"]


# -- papers


def test_metadata_files_agree() -> None:
    """On the version, the address and the names of the authors."""
    texts = {name: (ROOT / name).read_text("utf-8") for name in ("CITATION.cff", "packaging/conda/recipe.yaml")}
    assert f"\nversion: {overthere.__version__}\n" in texts["CITATION.cff"]
    assert f"\n  version: {overthere.__version__}\n" in texts["packaging/conda/recipe.yaml"]
    assert all(REPOSITORY in text for text in texts.values())
    (author,) = PROJECT["authors"]
    assert f"name: {author['name']}\n" in texts["CITATION.cff"]
    assert f"## {overthere.__version__} " in (ROOT / "CHANGELOG.md").read_text("utf-8")
    crates = tomllib.loads((ROOT / "rust" / "Cargo.toml").read_text("utf-8"))
    assert crates["workspace"]["package"]["version"] == overthere.__version__
    assert all(url.startswith((REPOSITORY, "https://overthere.github.io/")) for url in PROJECT["urls"].values())


def test_one_command_finds_the_placeholders() -> None:
    """Placeholders for names, addresses and places until the first release."""
    pattern = re.search(r"^git grep -nE '(.+)'$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    assert pattern is not None
    matches = {
        place: re.findall(pattern[1], (ROOT / place).read_text("utf-8"))
        for place in ("pyproject.toml", "CITATION.cff", "LICENSE", "README.md", "packaging/conda/recipe.yaml")
    }
    assert all(matches.values())
    assert len({text for texts in matches.values() for text in texts}) == 5


def test_workflows_say_that_they_have_not_run() -> None:
    """The page on stability lists what has run, and where; the source distribution leaves workflows out."""
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert all(file.read_text("utf-8").startswith("# Not run yet") for file in workflows)
    page = (ROOT / "docs" / "stability.md").read_text("utf-8")
    versions = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert versions == set(re.findall(r"\b3\.1\d\b(?!\.)", page)) == {f"3.{minor}" for minor in range(11, 16)}


def test_the_recipe_of_a_release_has_ten_lines() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    recipe = text.partition("\n## A release\n")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\d+\. ", recipe, re.MULTILINE)) == 10
    named = set(re.findall(r"`make ([\w-]+)", recipe))
    assert named >= {"check", "test-all", "release-check"}
    assert named <= set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def test_signing_workflows_pin_hashes() -> None:
    """Actions by commits, packages by file hashes; a tag or branch could be moved."""
    yaml: Any = import_module("yaml")
    trusted = 0
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        workflow = yaml.safe_load(file.read_text("utf-8"))
        for name, job in workflow["jobs"].items():
            rights = {**(workflow.get("permissions") or {}), **(job.get("permissions") or {})}
            if "write" not in rights.values():
                continue
            trusted += 1
            for step in job["steps"]:
                assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step.get("uses", f"a@{40 * '0'}")), (
                    file.name,
                    name,
                    step,
                )
                if "pip install" in step.get("run", ""):
                    assert "--require-hashes --only-binary :all:" in step["run"]
    assert trusted == 2
    lines = (ROOT / "requirements" / "publish.txt").read_text("utf-8").splitlines()[1:]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    assert {"twine", "pypi-attestations"} <= {line.partition("==")[0] for line in lines}
