"""Mutation testing of chosen modules and of rust/core: which changed copies of the code does no test notice?

python tools/mutants.py [--seconds N] [--seed N] [--write] [MODULE ...]: cosmic-ray makes the mutants of Python
(requirements/mutants.txt), cargo-mutants those of Rust, where it is installed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutants"
PAGE = ROOT / "docs" / "mutants.md"
BEGIN, END = "<!-- The score: written by `make mutants WRITE=1`. -->\n", "<!-- The end of the score. -->\n"
TESTS = {
    "kernel/reference.py": "cases values laws borders edition_resolution",
    "values/normalize.py": "cases values scheme_rung iri",
    "values/relate.py": "cases values laws",
    "values/resolve.py": "cases values laws",
    "base.py": "base cases messages_links html",
    "ground/redact.py": "redact values",
    "text/rules.py": "text",
    "access/policy.py": "access_policy access_hosts",
    "access/framing.py": "access_framing",
    "columns/rowwise.py": "columns integrations",
}
"""Each module, and the tests that are run on it, the quickest first, until the first failure."""
RUST = "rust/core"
LONGEST = 300
"""Seconds for the tests of a mutant: one that has no end is noticed."""


def copy_tree() -> None:
    """A copy of the tree without the native module: mutants exist only there, and stopping leaves nothing behind."""
    shutil.rmtree(COPY, ignore_errors=True)
    away = shutil.ignore_patterns("__pycache__", "*.so", "target")
    for name in ("src", "tests", "tools", "examples", "rust", "conftest.py", "pyproject.toml"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, COPY / name, ignore=away, symlinks=True)
        else:
            shutil.copy(ROOT / name, COPY / name)
    # A mutant of the same length, within the same second, differs from the original only by content.
    compiled = [sys.executable, "-P", "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "src", "tests"]
    subprocess.run(compiled, cwd=COPY, check=True)


def unevaluated_expressions(tree: ast.AST) -> Iterator[ast.expr]:
    """The nodes that are never evaluated, as each module has `from __future__ import annotations`."""
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if isinstance(value := getattr(node, name, None), ast.expr):
                yield value


def mutants(module: str) -> list[Any]:
    """Everything that cosmic-ray would change in a module, outside annotations."""
    init = import_module("cosmic_ray.commands.init")
    path = COPY / "src" / "overthere" / module
    spans = [
        ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
        for node in unevaluated_expressions(ast.parse(path.read_text()))
    ]
    items = init._all_work_items([path], {})
    return [
        item.mutations
        for item in items
        if not any(low <= tuple(item.mutations[0].start_pos) < high for low, high in spans)
    ]


def outcome(mutations: Any, tests: str) -> tuple[str, str]:
    """The result of a mutant, and the change as a diff."""
    mutating = import_module("cosmic_ray.mutating")
    files = " ".join(str(next((ROOT / "tests").glob(f"*/test_{name}.py")).relative_to(ROOT)) for name in tests.split())
    command = f"{sys.executable} -P -m pytest -x -q -n 0 --no-header --tb=no -p no:cacheprovider {files}"
    result = mutating.mutate_and_test(mutations, command, LONGEST)
    return str(getattr(result.test_outcome, "value", result.worker_outcome)), result.diff or ""


def test_mutants(module: str, chance: random.Random, until: float) -> tuple[int, Counter[str]]:
    """A sample of a module's mutants as long as there is time; survivors are printed.

    Raises: RuntimeError if the tests fail without any change.
    """
    tests, made_mutants, outcomes = TESTS[module], mutants(module), Counter[str]()
    if outcome((), tests)[0] != "survived":
        raise RuntimeError(f"{module}: its tests fail without any change")
    for mutations in chance.sample(made_mutants, len(made_mutants)):
        if time.monotonic() >= until:
            break
        end, diff = outcome(mutations, tests)
        outcomes[end] += 1
        if end == "survived":
            print(diff, flush=True)
    return len(made_mutants), outcomes


def of_rust(seconds: float) -> tuple[int, Counter[str]]:
    """The same of rust/core, by cargo-mutants: the number of mutants, and the results of those that were run in time.

    A mutant that does not compile says nothing, and is not counted as run.
    """
    folder, out = COPY / "rust", COPY / "mutants.out"
    common = ["cargo", "mutants", "--package", "overthere-core"]
    listed = subprocess.run([*common, "--list"], cwd=folder, check=True, capture_output=True, text=True)
    command = [*common, "--in-place", "--shuffle", "--timeout", "20", "--output", str(COPY)]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(COPY / "target")}
    running = subprocess.Popen(command, cwd=folder, env=environment)
    try:
        running.wait(seconds)
    except subprocess.TimeoutExpired:
        running.send_signal(signal.SIGINT)
        running.wait()
    outcomes = Counter[str]()
    for outcome_row in json.loads((out / "outcomes.json").read_text())["outcomes"]:
        if outcome_row["scenario"] != "Baseline":
            names = {"CaughtMutant": "killed", "Timeout": "killed", "MissedMutant": "survived"}
            outcomes[names.get(outcome_row["summary"], "not judged")] += 1
    return len(listed.stdout.splitlines()), outcomes


def row(module: str, total: int, outcomes: Counter[str]) -> str:
    run, survived = outcomes["killed"] + outcomes["survived"], outcomes["survived"]
    return f"| `{module}` | {total} | {run} | {survived} | {(run - survived) / run if run else 0:.0%} |"


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutation testing of chosen modules.")
    parser.add_argument("--seconds", type=float, default=900, help="in all, each module its share")
    parser.add_argument("--seed", type=int, default=1, help="which mutants are drawn")
    parser.add_argument("--write", action="store_true", help=f"write the score to {PAGE.relative_to(ROOT)}")
    parser.add_argument("modules", nargs="*", default=[], metavar="MODULE", help="as in TESTS, or rust/core")
    options = parser.parse_args()
    modules = options.modules or [*TESTS, *[RUST] * bool(shutil.which("cargo-mutants"))]
    copy_tree()
    os.chdir(COPY)
    os.environ |= {"PYTHONPATH": str(COPY / "src"), "OVERTHERE_KERNEL": "reference"}
    lines = ["| module | mutants | run | survived | noticed |", "|---|---|---|---|---|"]
    end = time.monotonic() + options.seconds
    for number, module in enumerate(modules):
        share = (end - time.monotonic()) / (len(modules) - number)
        if module == RUST:
            lines.append(row(module, *of_rust(share)))
        else:
            lines.append(row(module, *test_mutants(module, random.Random(options.seed), time.monotonic() + share)))
        print(lines[-1], flush=True)
    print("\n".join(lines))
    if options.write:
        before, tail = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n\n{END}{tail.split(END)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
