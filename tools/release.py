"""Everything that a release is checked for on one machine: `make release-check`; the report is build/release.md.

python tools/release.py [STEP ...]: wheels papers packages versions extras, or those named, on what the last run made.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable

import wheels
from wheels import BIN, ROOT, WHEELS

REPORT = ROOT / "build" / "release.md"
ENVIRONMENT = ROOT / ".venv" / "bin" / "python"
KERNEL = 4_500_000
"""Octets of the native module at most: each command loads it."""
ELSEWHERE = (
    "Free-threaded builds (3.14t, 3.15t): Debian has none; .github/workflows/tests.yml and wheels.yml.",
    "Linux on aarch64: all but the kernel's tests of the wheel for 3.14, in emulation; .github/workflows/wheels.yml.",
    "Windows, macOS, musl, Emscripten: .github/workflows/wheels.yml.",
    "The workflows themselves: checked against their schema and by zizmor, never on a runner.",
    "The recipe for conda: rendered by nobody yet.",
)
"""Steps that cannot run on Linux on x86-64; docs/stability.md says the same."""


def say(*command: object) -> str:
    """Run a program.  Return its output if it failed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return "" if done.returncode == 0 else f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-3000:]}"


def make_wheels() -> tuple[list[str], list[str]]:
    unlike = wheels.build(wheels.buildable(), is_repeated=True)
    rows = ["| wheel | octets | files | kernel |", "|---|--:|--:|--:|"]
    wrong = [f"not the same in two builds: {line}" for line in unlike]
    for wheel in sorted(WHEELS.glob("*.whl")):
        kernel = wheels.kernel_size(wheel)
        rows.append(f"| `{wheel.name}` | {wheel.stat().st_size:,} | {len(wheels.members(wheel))} | {kernel:,} |")
        if kernel > KERNEL or (kernel == 0) != wheel.name.endswith("-none-any.whl"):
            wrong.append(f"{wheel.name}: a kernel of {kernel:,} octets")
    if not unlike:
        rows += [
            "",
            "The pure wheel and one native wheel, built twice in different folders, are the same octet by octet.",
        ]
    return rows, wrong


def papers() -> tuple[list[str], list[str]]:
    """Metadata and configuration, by the tools that know them."""
    wheels = sorted(WHEELS.glob("*.whl"))
    (source,) = WHEELS.glob("*.tar.gz")
    schema = [BIN / "check-jsonschema", "--builtin-schema"]
    github = ROOT / ".github"
    commands: dict[str, list[object]] = {
        "twine check --strict": [BIN / "twine", "check", "--strict", *wheels, source],
        "check-wheel-contents": [BIN / "check-wheel-contents", *wheels],
        "pyroma 10 of 10": [BIN / "pyroma", "--min", "10", source],
        "pyproject.toml": [BIN / "validate-pyproject", ROOT / "pyproject.toml"],
        "CITATION.cff": [*schema, "vendor.citation-file-format", ROOT / "CITATION.cff"],
        "workflows": [*schema, "vendor.github-workflows", *sorted((github / "workflows").glob("*.yml"))],
        "action.yml": [*schema, "vendor.github-actions", ROOT / "action.yml"],
        "issue forms": [*schema, "vendor.github-issue-forms", *sorted(github.glob("ISSUE_TEMPLATE/[bf]*.yml"))],
        "zizmor": [
            BIN / "zizmor",
            "--offline",
            "--quiet",
            "--min-severity",
            "medium",
            "--config",
            github / "zizmor.yml",
            github,
            ROOT / "action.yml",
        ],
        "licences and bill of materials": [BIN / "python", ROOT / "tools" / "crates.py", "--check"],
    }
    wrong = {name: error for name, command in commands.items() if (error := say(*command))}
    return [f"- {name}: {'wrong' if name in wrong else 'passes'}" for name in commands], list(wrong.values())


def packages() -> tuple[list[str], list[str]]:
    error = say(ENVIRONMENT, "-m", "pytest", "-n", "0", "tests/packages")
    return ["The tests of `tests/packages`: sizes, counts, names, builds that fail, papers."], [error] if error else []


def versions() -> tuple[list[str], list[str]]:
    error = say(ENVIRONMENT, ROOT / "tools" / "versions.py")
    ran = json.loads((ROOT / "build" / "versions.json").read_text("utf-8"))
    rows = ["| version and kernel | result | tests | without |", "|---|---|---|---|"]
    for name, row in ran.items():
        rows.append(f"| {name} | {row['result']} | {row.get('counts', '')} | {', '.join(row.get('without', []))} |")
    return rows, [error] if error else []


def extras() -> tuple[list[str], list[str]]:
    (wheel,) = WHEELS.glob("*-cp311-*.whl")
    command = [str(ENVIRONMENT), str(ROOT / "tools" / "extras.py"), str(wheel)]
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return [f"- {line}" for line in result.stdout.splitlines()], [result.stdout] if result.returncode else []


STEPS: dict[str, tuple[str, Callable[[], tuple[list[str], list[str]]]]] = {
    "wheels": ("Wheels", make_wheels),
    "papers": ("Metadata and configuration", papers),
    "packages": ("What is built and installed", packages),
    "versions": ("Tests by version", versions),
    "extras": ("Extras, each alone", extras),
}


def main() -> int:
    text = ["# Release check", "", f"Of the commit {wheels.run('git', 'rev-parse', '--short', 'HEAD').strip()}.", ""]
    failed = 0
    for name in sys.argv[1:] or STEPS:
        title, step = STEPS[name]
        print(f"== {title}", flush=True)
        start = time.monotonic()
        try:
            rows, wrong = step()
        except SystemExit as error:
            rows, wrong = [], [str(error)]
        failed += bool(wrong)
        text += [f"## {title} ({time.monotonic() - start:,.0f} s)", "", *rows, ""]
        text += [f"```text\n{error.strip()}\n```\n" for error in wrong]
    text += ["## Not run here", "", *(f"- {item}" for item in ELSEWHERE), ""]
    REPORT.write_text("\n".join(text), "utf-8")
    print(REPORT.read_text("utf-8"))
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
