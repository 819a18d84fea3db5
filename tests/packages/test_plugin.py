"""Schemes of other packages: examples/finger, found by its entry point, and invalid packages.

To Python a package is installed if a `.dist-info` folder with METADATA and entry_points.txt is next to its modules.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support import ROOT

FINGER = ROOT / "examples" / "finger"
SOURCE = FINGER / "src"
PROJECT = tomllib.loads((FINGER / "pyproject.toml").read_text())["project"]
GROUP = "overthere.schemes"


def distribution(folder: Path, name: str, points: dict[str, str]) -> Path:
    """Create a package with these entry points in a folder that will be on the path."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"[{GROUP}]", *(f"{point} = {place}" for point, place in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def finger(folder: Path) -> Path:
    """The example, with the entry points of its pyproject.toml."""
    return distribution(folder, PROJECT["name"], PROJECT["entry-points"][GROUP])


def python(*arguments: str, path: list[Path], cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    folders = os.pathsep.join(str(folder) for folder in [*path, ROOT / "src"])
    environment = {**os.environ, "PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}
    run = [sys.executable, *arguments]
    return subprocess.run(run, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=600)


def run_code(code: str, *path: Path) -> str:
    """Run a program with these folders on its path; return its output."""
    result = python("-c", f"import overthere\nfrom overthere import *\n{code}", path=[*path])
    assert result.returncode == 0, result.stderr
    return result.stdout


def registry_error(name: str, *path: Path) -> str:
    """The RegistryError for a scheme; meanwhile ftp is found and the registry is listed."""
    return run_code(
        f"""
try:
    found = overthere.scheme({name!r})
except RegistryError as error:
    print(error)
else:
    print("no error:", found)
assert Registry.default().scheme("ftp").port == 21
assert overthere.plan("ftp://h/p").steps
assert "ftp" in list(Registry.default())
assert {name!r} in Registry.default()
""",
        *path,
    )


# -- the example


def test_a_scheme_is_found_by_its_entry_point(tmp_path: Path) -> None:
    code = """
found = overthere.scheme("Finger")
print(found.name, found.port, found.known, found.title, found.status, sep="; ")
print("finger" in Registry.default(), "finger" in list(Registry.default()), URI("finger://h/u").locator)
"""
    assert run_code(code, SOURCE, finger(tmp_path)).splitlines() == [
        "finger; 79; True; Finger user information; Provisional",
        "True True FingerLocator(host='h', user='u')",
    ]


def test_a_plugin_plans(tmp_path: Path) -> None:
    code = """
for step in overthere.plan("finger://host1.bigstate.edu/%2FW%20someuser"):
    print(step.line())
print([step.data for step in overthere.plan("finger://host/user") if isinstance(step, access.Send)])
try:
    overthere.plan("finger://host/user%0D%0Aroot")
except PlanRefused as error:
    print(error)
"""
    assert run_code(code, SOURCE, finger(tmp_path)).splitlines() == [
        "connect host1.bigstate.edu 79",
        "send /W someuser",
        "receive the answer (until the server closes)",
        r"[b'user\r\n']",
        "user holds a carriage return, which ends a command there (draft-ietf-uri-url-finger-03 4; RFC 3986 7.2)",
    ]


def test_a_plugin_writes_and_normalizes(tmp_path: Path) -> None:
    code = """
from dataclasses import replace
there = URI("finger://host/user").locator
print(replace(there, verbose=True).uri(), URI("FINGER://Host:79").normalize(Rung.SCHEME))
print(edition("rfc1738").locator("finger://host/user"))
"""
    assert run_code(code, SOURCE, finger(tmp_path)).splitlines() == [
        "finger://host/%2FW%20user finger://host/",
        "GenericLocator(authority='host', path='/user')",
    ]


def test_a_plugin_is_loaded_on_first_use(tmp_path: Path) -> None:
    code = """
import sys
loaded = lambda: sorted(name for name in sys.modules if name.startswith("overthere_finger"))
overthere.plan("ftp://h/p"), "finger" in Registry.default(), list(Registry.default()), len(Registry.default())
print(loaded())
overthere.scheme("finger")
print(loaded())
overthere.plan("finger://h/")
print(loaded())
"""
    assert run_code(code, SOURCE, finger(tmp_path)).splitlines() == [
        "[]",
        "['overthere_finger']",
        "['overthere_finger', 'overthere_finger.protocol', 'overthere_finger.protocol.steps']",
    ]


def test_without_its_package_a_scheme_is_unknown() -> None:
    code = """
print(overthere.scheme("finger").known, "finger" in Registry.default(), overthere.scheme("finger").status)
try:
    overthere.plan("finger://h/u")
except NotSpecified as error:
    print(error)
"""
    first, second = run_code(code, SOURCE).splitlines()
    assert first == "False False Provisional"
    assert "'finger'" in second


@pytest.mark.parametrize("installed", [True, False], ids=["installed", "from its folder"])
def test_the_tests_of_the_example_pass(installed: bool, tmp_path: Path) -> None:
    path = [SOURCE, finger(tmp_path)] if installed else [SOURCE]
    result = python("-m", "pytest", str(FINGER), path=path, cwd=FINGER)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " passed" in result.stdout
    assert "failed" not in result.stdout


# -- packages that are wrong


def test_two_packages_that_claim_one_scheme_are_an_error(tmp_path: Path) -> None:
    other = distribution(tmp_path / "other", "another-finger", {"FINGER": "somewhere.finger:SCHEME"})
    message = registry_error("finger", SOURCE, finger(tmp_path / "first"), other)
    assert "two claims to the scheme 'finger'" in message
    assert "overthere_finger:SCHEME of overthere-finger" in message
    assert "somewhere.finger:SCHEME of another-finger" in message


def test_a_package_cannot_claim_a_built_in_scheme(tmp_path: Path) -> None:
    message = registry_error("http", distribution(tmp_path, "better-http", {"http": "better_http:SCHEME"}))
    assert "two claims to the scheme 'http'" in message
    assert "overthere.schemes.known.http:SCHEME of overthere" in message
    assert "better_http:SCHEME of better-http" in message


def test_a_caller_decides_between_two_packages(tmp_path: Path) -> None:
    """With `with_(..., replace=True)`; otherwise the error names all claims."""
    other = distribution(tmp_path / "other", "another-finger", {"finger": "somewhere.finger:SCHEME"})
    code = """
from overthere_finger import SCHEME
print(Registry.default().with_(SCHEME, replace=True).scheme("finger").title)
try:
    Registry.default().with_(SCHEME)
except RegistryError as error:
    print(error)
"""
    first, second = run_code(code, SOURCE, finger(tmp_path / "first"), other).splitlines()
    assert first == "Finger user information"
    assert all(name in second for name in ("overthere-finger", "another-finger", "'Finger user information'"))


def test_a_missing_module_is_reported(tmp_path: Path) -> None:
    message = registry_error("x-raven", distribution(tmp_path, "ravens", {"x-raven": "no_such_ravens.post:SCHEME"}))
    assert "ravens claims the scheme 'x-raven', but no_such_ravens.post:SCHEME" in message
    assert "No module named 'no_such_ravens'" in message


# The text of a package's module -> a part of the error message.
MODULES = {
    "nothing": ("", "has no attribute 'SCHEME'"),
    "something else": ("SCHEME = 'x-raven'", "is 'x-raven'"),
    "another scheme": ("from overthere.schemes.known.ftp import SCHEME", "is <Scheme ftp: "),
    "a missing import": ("import no_such_post", "No module named 'no_such_post'"),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_without_the_scheme_is_reported(name: str, tmp_path: Path) -> None:
    text, expected = MODULES[name]
    (tmp_path / "ravens.py").write_text(text)
    message = registry_error("x-raven", distribution(tmp_path, "ravens", {"x-raven": "ravens:SCHEME"}))
    assert "ravens claims the scheme 'x-raven', but ravens:SCHEME" in message
    assert expected in message


def test_a_module_that_fails_is_reported(tmp_path: Path) -> None:
    """The error names the package; other schemes still work."""
    (tmp_path / "ravens.py").write_text("SCHEME = = 1\n")
    message = registry_error("x-raven", distribution(tmp_path, "ravens", {"x-raven": "ravens:SCHEME"}))
    assert "ravens claims the scheme 'x-raven'" in message


def test_one_package_may_have_two_schemes(tmp_path: Path) -> None:
    (tmp_path / "ravens.py").write_text(
        "from overthere import Scheme\n"
        "def made(name):\n"
        "    return Scheme(name=name, title='ours', documents={'rfc3986': 'ours'}, locates_nothing='names only')\n"
        "RAVEN, CROW = made('x-raven'), made('x-crow')\n"
    )
    folder = distribution(tmp_path, "ravens", {"x-raven": "ravens:RAVEN", "x-crow": "ravens:CROW"})
    code = "print([overthere.scheme(name).status for name in ('x-raven', 'x-crow')], overthere.plan('x-crow:a'))"
    assert run_code(code, folder).split("\n")[0].startswith("['experimental', 'experimental'] x-crow:a")


def test_the_same_package_twice_on_the_path_is_one_claim(tmp_path: Path) -> None:
    twice = [finger(tmp_path / "first"), finger(tmp_path / "second")]
    assert run_code("print(overthere.scheme('finger').port)", SOURCE, *twice) == "79\n"
