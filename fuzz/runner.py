"""`make fuzz`: every target its share of the time, coverage-guided; exit 1 at a finding.

    python fuzz/runner.py [--seconds N] [--keep] [TARGET ...]

Rust targets are libFuzzer in programs of stable Rust: rustc's own LLVM puts the counters in, libfuzzer-sys brings
libFuzzer, and no nightly is needed.  Python targets are atheris.  Where cargo or a C++ compiler is missing, the Python
targets run alone; where atheris is missing, and for `UNGUIDED` ones, their seeds are mutated without guidance.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from laws import NAMES as PYTHON
from laws import UNGUIDED, law
from overthere import kernel
from seeds import HERE, kept_corpus, pack, seeds, write_files

RUST = ("parse", "host", "resolve", "dots", "normalize", "coding")

# The flags of `cargo fuzz`, without the sanitizer, which only nightly has: the kernel forbids unsafe code.
FLAGS = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "--cfg=fuzzing",
]
LOG = HERE / "log.jsonl"
WORK = HERE / "target"
FOUND = HERE / "artifacts"

LONGEST = 256
"""Longer inputs show the Rust targets nothing that shorter ones do not, and are slower."""
# An input that takes 20 s is a finding.
LIMITS = ["-timeout=20", "-rss_limit_mb=2048"]
OPTIONS = [*LIMITS, "-len_control=20", "-print_final_stats=1"]


class Finding(NamedTuple):
    """An input on which something does not agree, and what was said of it."""

    data: bytes
    said: str


class Outcome(NamedTuple):
    """One target's run."""

    how: str
    seconds: float
    executions: int
    coverage: int
    corpus: int
    findings: list[Finding]


# -- the programs


def build() -> Path | None:
    """The folder of the Rust targets; None where they cannot be built."""
    missing = [tool for tool in ("cargo", "c++") if shutil.which(tool) is None]
    if missing:
        print(f"no {' and no '.join(missing)}: the Python targets run alone")
        return None
    version = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    host = next(line.split()[1] for line in version.splitlines() if line.startswith("host:"))
    # With --target the flags reach the targets, and not what runs while they are built.
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--target", host]
    environment = {**os.environ, "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(FLAGS), "CARGO_TARGET_DIR": str(WORK)}
    print("the Rust targets are built", flush=True)
    subprocess.run(command, cwd=HERE, env=environment, check=True)
    return WORK / host / "release"


def program(target: str, built: Path | None) -> list[str] | None:
    """How a target is started with coverage; None where it cannot be."""
    if target in RUST:
        return [str(built / target)] if built else None
    if target in UNGUIDED or not find_spec("atheris"):
        return None
    return [sys.executable, str(HERE / "guided.py"), target]


def longest(target: str) -> int:
    """Octets of an input."""
    return LONGEST if target in RUST else law(target).LONGEST


def words(target: str) -> Path:
    """The dictionary of a target: that of URIs, or one that is made of the law's words."""
    if target in RUST:
        return HERE / "uri.dict"
    file = WORK / "words" / target
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = ("".join(f"\\x{octet:02x}" for octet in word) for word in law(target).WORDS)
    # libFuzzer reports a file without a line as missing.
    file.write_text(f"# {target}\n" + "".join(f'"{line}"\n' for line in lines))
    return file


def begins(target: str) -> set[bytes]:
    """The inputs that a target begins with."""
    return (seeds(target) if target in RUST else set(law(target).seeds())) | kept_corpus(target)


# -- one run


def last(pattern: str, text: str) -> int:
    matches = re.findall(pattern, text)
    return int(matches[-1]) if matches else 0


def start(command: list[str], *options: str) -> tuple[int, str]:
    """Run a target to its end: its status, and what it said."""
    environment = {**os.environ, "RUST_BACKTRACE": "0"}
    run = subprocess.run([*command, *options], capture_output=True, env=environment, check=False)
    return run.returncode, (run.stderr + run.stdout).decode(errors="replace")


def run_guided(target: str, command: list[str], seconds: int) -> Outcome:
    """Run libFuzzer for this many seconds, from the case files, the kept corpus and inputs of earlier runs."""
    corpus = WORK / "corpus" / target
    write_files(begins(target), corpus)
    with tempfile.TemporaryDirectory() as scratch:
        options = [*OPTIONS, f"-max_len={longest(target)}", f"-dict={words(target)}"]
        options += [f"-max_total_time={seconds}", f"-artifact_prefix={scratch}/"]
        begin = time.monotonic()
        status, message = start(command, *options, str(corpus))
        took = time.monotonic() - begin
        # A "slow-unit" is a hint and no finding.
        crashes = [file for file in sorted(Path(scratch).iterdir()) if not file.name.startswith("slow-unit")]
        findings = [smallest(command, file) for file in crashes]
    if status and not findings:
        findings = [Finding(b"", f"ended with {status}, without an input:\n{message[-3000:]}")]
    executions = last(r"stat::number_of_executed_units: (\d+)", message) or last(r"(?m)^#(\d+)\s", message)
    text = "atheris" if target in PYTHON else "libfuzzer"
    return Outcome(text, took, executions, last(r" cov: (\d+)", message), last(r" corp: (\d+)", message), findings)


def smallest(command: list[str], crash: Path) -> Finding:
    """A finding made small for some seconds."""
    small = crash.with_name("smallest")
    start(command, *LIMITS, "-minimize_crash=1", "-max_total_time=10", f"-exact_artifact_path={small}", str(crash))
    file = small if small.exists() else crash
    return Finding(file.read_bytes(), start(command, *LIMITS, f"-artifact_prefix={crash.parent}/again-", str(file))[1])


def mutated(target: str, seconds: int) -> Outcome:
    """Mutation without coverage."""
    with tempfile.TemporaryDirectory() as scratch:
        begin = time.monotonic()
        command = [sys.executable, str(HERE / "mutation.py"), target]
        status, message = start(command, f"--seconds={seconds}", f"--folder={scratch}")
        took = time.monotonic() - begin
        findings = [Finding(file.read_bytes(), message) for file in Path(scratch).iterdir()]
    if status and not findings:
        findings = [Finding(b"", f"ended with {status}, without an input:\n{message[-3000:]}")]
    return Outcome("mutation", took, last(r"(\d+) inputs", message), 0, 0, findings)


def keep(target: str, command: list[str]) -> int:
    """Write the smallest corpus with the same coverage to `kept/`; returns how many inputs it has."""
    with tempfile.TemporaryDirectory() as scratch:
        options = ["-merge=1", f"-max_len={longest(target)}", scratch, str(WORK / "corpus" / target)]
        subprocess.run([*command, *options], capture_output=True, check=True)
        inputs = {file.read_bytes() for file in Path(scratch).iterdir()}
    pack(target, inputs)
    return len(inputs)


# -- reports


def toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def row(target: str, data: bytes) -> str:
    """The row of tests/cases that a finding becomes, with its answer left open; or where else its test goes."""
    if target in PYTHON and target != "kernels":
        return f"Decide by the document who is right, then add {law(target).AFTER}."
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return f"No case row: {data!r} is no text. Write a test where octets are read."
    first, _, tail = text.partition("\n")
    answer = "is = { ... }  # parse.toml, if Appendix A derives it; else rule, component, start, kind in invalid.toml"
    match target:
        case "dots":
            file, keys = "tests/cases/dots.toml", [f"path = {toml(text)}", 'is = "..."']
        case "resolve":
            file = "tests/cases/resolve.toml"
            keys = [f"base = {toml(first)}", f"reference = {toml(tail)}", 'is = { rfc3986 = "..." }']
        case "normalize":
            rungs = ", ".join(f'{rung} = "..."' for rung in ("CASE", "PERCENT", "PATH", "SCHEME"))
            file, keys = "tests/cases/normalize.toml", [f"text = {toml(text)}", f"is = {{ {rungs} }}"]
        case "coding":
            return f"No case file holds octets: a row in tests/kernel/test_coding.py, safe {first!r}, data {tail!r}."
        case "host":
            file, keys = "tests/cases/parse.toml or invalid.toml", [f"text = {toml(f'x://[{text}]')}", answer]
        case _:
            file, keys = (
                "the operation's file in tests/cases",
                [f"text = {toml(line)}" for line in text.split("\n")] + [answer],
            )
    number = hashlib.sha1(data).hexdigest()[:8]
    head = ["[[case]]", f'id = "fuzz-{number}"', 'from = "RFC 3986 ... (the paragraph that decides it)"']
    return "\n".join([f"Decide by the document who is right, then add to {file}:", "", *head, *keys])


def report(target: str, finding: Finding) -> None:
    """A finding: where it lies, what was said, and the row it becomes."""
    FOUND.mkdir(exist_ok=True)
    file = FOUND / f"{target}-{hashlib.sha1(finding.data).hexdigest()[:8]}"
    file.write_bytes(finding.data)
    dull = re.compile(r"\s*#\d+ 0x|==\d|note:|NOTE:|INFO:|SUMMARY:|\s*Combine|\s*$")
    results = [line for line in finding.said.splitlines() if not dull.match(line)]
    first = next((n for n, line in enumerate(results) if re.search("panicked at|Uncaught", line)), 0)
    print(f"\nA finding of {target}, {finding.data!r}, in {file.relative_to(HERE.parent)}:")
    # The end of a traceback has the exception.
    output = results[first : first + 40] if target in PYTHON else results[first : first + 6]
    print("\n".join(f"    {line[:400]}" for line in output))
    print(row(target, finding.data), end="\n\n")


def log(target: str, outcome: Outcome) -> None:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    entry = {"date": today, "target": target, "how": outcome.how, "seconds": round(outcome.seconds),
             "executions": outcome.executions, "coverage": outcome.coverage, "corpus": outcome.corpus,
             "findings": len(outcome.findings)}  # fmt: skip
    entry |= {"kernel": kernel.name} if target in PYTHON else {}
    with LOG.open("a") as file:
        file.write(json.dumps(entry) + "\n")


def main() -> int:
    argument_parser = argparse.ArgumentParser(description="Fuzz every target for its share of the time.")
    argument_parser.add_argument("--seconds", type=int, default=60, help="in all (60)")
    argument_parser.add_argument("--keep", action="store_true", help="write the minimised corpus to fuzz/kept")
    argument_parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(RUST + PYTHON))
    options = argument_parser.parse_args()
    if foreign := set(options.targets) - {*RUST, *PYTHON}:
        argument_parser.error(f"no such target: {', '.join(sorted(foreign))}")
    targets = options.targets or [*RUST, *PYTHON]
    built = build() if set(targets) & set(RUST) else None
    commands = {target: program(target, built) for target in targets}
    running = [target for target in targets if target in PYTHON or commands[target] is not None]
    if not find_spec("atheris") and set(running) & set(PYTHON):
        print("no atheris: the seeds of the Python targets are mutated without coverage")
    seconds = max(1, options.seconds // max(1, len(running)))
    wrong = 0
    for target in running:
        command = commands[target]
        outcome = mutated(target, seconds) if command is None else run_guided(target, command, seconds)
        log(target, outcome)
        wrong += len(outcome.findings)
        print(
            f"{target:10}{outcome.how:11}{outcome.seconds:6.0f} s {outcome.executions:13,} executions"
            f"  coverage {outcome.coverage:5}  corpus {outcome.corpus:5}  findings {len(outcome.findings)}", flush=True,
        )  # fmt: skip
        for finding in outcome.findings:
            report(target, finding)
        if options.keep and command is not None:
            print(f"          kept {keep(target, command)} inputs", flush=True)
    entries = [json.loads(line) for line in LOG.read_text().splitlines()]
    total = sum(entry["seconds"] for entry in entries)
    print(f"fuzz/log.jsonl: {total / 3600:.2f} hours, {sum(e['executions'] for e in entries):,} executions in all")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
