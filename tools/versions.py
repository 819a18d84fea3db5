"""The tests on every available version of Python: `make test-versions`.

python tools/versions.py [--wheels FOLDER] [--run NAME ...] [-- PYTEST-ARGUMENT ...]
python tools/versions.py --here FOLDER: with this Python alone, and the wheel in the folder.

A run is a version and a kernel, such as 3.14-pure or 3.14-native; each has an environment of its own, the wheel of
build/wheels for it, and what requirements/dev.txt asks for as far as it has wheels.  Versions that this machine lacks
come from Debian's sid, which debootstrap unpacks into build/sid once (as root).  The others are listed with their
reason, here and in build/versions.json.  3.14-aarch64 is run by qemu (Debian's qemu-user-static): only a kernel's
tests, as emulation is slow.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RUNS, REPORT = BUILD / "versions", BUILD / "versions.json"
NAMES = ("3.11", "3.12", "3.13", "3.14", "3.15", "pypy", "3.14-aarch64")
OF_A_KERNEL = ["tests/kernel/test_cases.py", "tests/values/test_values.py", "tests/values/test_threads.py"]
EMULATED = ("python3.14-venv", "ca-certificates", "git", "procps")
PACKAGES = ("python3.13-venv", "python3.14-venv", "python3.15-venv", "pypy3-venv", "ca-certificates", "git", "procps")
LEFT_OUT = ("tests/browser", "tests/packages", "tests/repository", "tests/spark")
"""Tests of the repository, or that need more than the package, on any version: `make test-all` runs them."""
# Mounts and processes of a namespace end with the program that it was made for.
ENTER = """set -e
mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; mount -t tmpfs tmpfs "$0/tmp"
mkdir -p "$0$1"; mount --bind "$1" "$0$1"
for file in /etc/resolv.conf /etc/hosts; do cp "$file" "$0$file"; done
mount --bind /etc/ssl/certs "$0/etc/ssl/certs"
here=$2; root=$0; shift 2; exec chroot "$root" env -C "$here" "$@"
"""


class Python(NamedTuple):
    name: str
    program: str
    root: Path | None = None
    """The folder of another Debian that contains it."""

    def run(self, *words: object, cwd: Path = ROOT, log: Path | None = None, **environment: str) -> int:
        """Run a program of its system.  Return its exit status; the output goes to the log, if any."""
        command = [str(word) for word in words]
        if self.root is not None:
            inner = ["sh", "-c", ENTER, str(self.root), str(ROOT), str(cwd), *command]
            command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *inner]
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        with (log or Path(os.devnull)).open("ab") as output:
            return subprocess.call(command, cwd=cwd, env=kept | environment, stdout=output, stderr=subprocess.STDOUT)


def sid(emulated: bool) -> Path | str:
    """The folder of Debian's sid with its versions of Python, unpacked once; or the reason without one."""
    folder, packages = (BUILD / "sid-arm64", EMULATED) if emulated else (BUILD / "sid", PACKAGES)
    if emulated and not Path("/proc/sys/fs/binfmt_misc/qemu-aarch64").exists():
        return "aarch64 needs qemu-user-static"
    if folder.exists():
        return folder
    if sys.platform != "linux" or os.geteuid() != 0 or not all(map(shutil.which, ("debootstrap", "unshare", "chroot"))):
        return "Debian's sid needs root, debootstrap and unshare"
    print("Debian's sid, once", flush=True)
    partial, log = folder.with_suffix(".partial"), BUILD / "sid.log"
    chosen = ["--variant=minbase", f"--include={','.join(packages)}", *(["--arch=arm64"] if emulated else [])]
    with log.open("wb") as output:
        status = subprocess.call(["debootstrap", *chosen, "sid", str(partial)], stdout=output)
    if status:
        return f"debootstrap ended with {status}: {log.relative_to(ROOT)}"
    return partial.rename(folder)


def found(name: str) -> Python | str:
    """A version of Python here, also of pyenv, or in sid; or the reason without one."""
    number, _, machine = name.partition("-")
    program = "pypy3" if name == "pypy" else f"python{number}"
    # A shim of pyenv runs the version in use alone.
    installed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for path in (shutil.which(program), *sorted(map(str, installed.glob(f"{name}*[0-9]/bin/{program}")), reverse=True)):
        if path and not machine and subprocess.call([path, "-c", RECENT], stderr=subprocess.DEVNULL) == 0:
            return Python(name, path)
    folder = sid(emulated=bool(machine))
    if isinstance(folder, str):
        return folder
    if not (folder / "usr/bin" / program).exists():
        return f"neither this machine nor Debian's sid has {program}"
    return Python(name, f"/usr/bin/{program}", folder)


RECENT = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11, 5))"


def requirements() -> list[str]:
    lines = (ROOT / "requirements" / "dev.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def install(python: Python, env: Path, wheel: Path, log: Path) -> list[str]:
    """Install the wheel and the requirements of the tests.  Return the requirements without a wheel there."""
    pip = (env / "bin" / "python" if os.name != "nt" else env / "Scripts" / "python.exe", "-m", "pip", "install", "-q")
    if python.run(*pip, wheel, log=log):
        raise SystemExit(f"{wheel.name} cannot be installed: {log.relative_to(ROOT)}")
    wanted_names = [req for req in requirements() if req.startswith(("hypothesis", "pytest")) or "-" not in python.name]
    absent: list[str] = []
    while python.run(*pip, "--only-binary", ":all:", *wanted_names, log=log):
        last = re.findall(r"No matching distribution found for (\S+)", log.read_text("utf-8", "replace"))[-1:]
        if not last or last[0] not in wanted_names:  # a dependency of one
            return absent + [name for name in wanted_names if python.run(*pip, "--only-binary", ":all:", name, log=log)]
        wanted_names.remove(last[0])
        # All tests need hypothesis: an older version, which may have a wheel, is enough.
        wanted_names += ["hypothesis"] if last[0].startswith("hypothesis==") else []
        absent += last
    return absent


def tree(python: Python, run: Path, env: Path, log: Path) -> Path:
    """The files here but for the package, in whose place lies the one that was installed."""
    copy = run / "tree"
    shutil.rmtree(copy, ignore_errors=True)
    ignore = shutil.ignore_patterns(".git", ".venv", "build", "target", "*.egg-info", "__pycache__", "*.so", ".*_cache")
    shutil.copytree(ROOT, copy, ignore=ignore, symlinks=True)
    shutil.rmtree(copy / "src" / "overthere")
    (place,) = (file.parent for file in env.rglob("overthere/__init__.py"))
    (copy / "src" / "overthere").symlink_to(place, target_is_directory=True)
    if (suites := BUILD / "suites").exists():
        shutil.copytree(suites, copy / "build" / "suites")
    return copy


def test(python: Python, kernel: str, wheel: Path, arguments: list[str]) -> dict[str, object]:
    """Run the tests of one version with one wheel.  Return their results."""
    run = RUNS / f"{python.name}-{kernel}"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True)
    log = run / "log.txt"
    if python.run(python.program, "-m", "venv", run / "env", log=log):
        return {"result": f"no environment can be made: {log.relative_to(ROOT)}"}
    absent = install(python, run / "env", wheel, log)
    place = tree(python, run, run / "env", log)
    program = run / "env" / ("bin/python" if os.name != "nt" else "Scripts/python.exe")
    emulated = python.name.endswith("-aarch64")
    ignored = [word for folder in LEFT_OUT for word in ("--ignore", folder)]
    command = [program, "-m", "pytest", "-n", "auto", "--dist", "worksteal", "--showlocals", "-m", "not exhaustive"]
    chosen = arguments or (OF_A_KERNEL if emulated else ["tests", "docs", "README.md"])
    start = time.monotonic()
    status = python.run(
        *command, *ignored, *chosen, cwd=place, log=log,
        OVERTHERE_KERNEL={"native": "native"}.get(kernel, ""), OVERTHERE_ABSENT="1" if absent or emulated else "",
    )  # fmt: skip
    lines = log.read_text("utf-8", "replace").splitlines()
    counts = next((line for line in reversed(lines) if re.search(r"\d+ (passed|failed|error)", line)), "nothing ran")
    return {
        "result": "passed" if status == 0 else f"failed ({status}): {log.relative_to(ROOT)}",
        "counts": counts.strip("= "),
        "seconds": round(time.monotonic() - start),
        "without": absent,
        "wheel": wheel.name,
    }


def wheels(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """The wheels for a version: pure and native."""
    number, _, machine = name.partition("-")
    native = f"*-cp{number.replace('.', '')}-cp*_{machine or 'x86_64'}.whl"
    for kernel, pattern in (("pure", "*-none-any.whl"), ("native", native)):
        if kernel == "native" or not machine:
            yield from ((kernel, wheel) for wheel in sorted(folder.glob(pattern)))


def main() -> int:
    arguments = sys.argv[1:]
    passed_on = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, default=BUILD / "wheels")
    parser.add_argument("--here", type=Path, metavar="FOLDER")
    parser.add_argument("--run", nargs="+", default=[], metavar="NAME")
    options = parser.parse_args(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    report: dict[str, dict[str, object]] = {}
    if options.here:
        (wheel,) = options.here.resolve().glob("*.whl")
        kernel = "pure" if wheel.name.endswith("-none-any.whl") else "native"
        report[f"here-{kernel}"] = test(Python("here", sys.executable), kernel, wheel, passed_on)
    else:
        for name in NAMES:
            if options.run and not any(run.rpartition("-")[0] == name for run in options.run):
                continue
            python = found(name)
            if isinstance(python, str):
                report[name] = {"result": f"not run: {python}"}
                continue
            for kernel, wheel in wheels(options.wheels.resolve(), name):
                if not options.run or f"{name}-{kernel}" in options.run:
                    print(f"{name}, {kernel}", flush=True)
                    report[f"{name}-{kernel}"] = test(python, kernel, wheel, passed_on)
    earlier = json.loads(REPORT.read_text("utf-8")) if REPORT.exists() and options.run else {}
    REPORT.write_text(json.dumps(earlier | report, indent=1) + "\n", "utf-8")
    for run, row in report.items():
        print(f"{run}: {row['result']}" + "".join(f"; {name} {row[name]}" for name in list(row)[1:] if row[name]))
    bad = [run for run, row in report.items() if not str(row["result"]).startswith(("passed", "not run"))]
    return bool(bad or not report)


if __name__ == "__main__":
    raise SystemExit(main())
