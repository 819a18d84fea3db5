"""The source distribution and the wheels of a release: `make wheels`, into build/wheels.

python tools/wheels.py [--again] [VERSION ...]: the pure wheel, and a native one for each version of CPython (3.11 to
3.15, or those named) for Linux on x86-64 with glibc 2.28 or later.  All come from the source distribution.  cargo
builds without an interpreter of the version, zig links for the old glibc, and auditwheel must agree.  For aarch64 only
3.14-aarch64, after `rustup target add aarch64-unknown-linux-gnu`.
--again: once more in another folder; differences are printed, and are an error.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD, WHEELS = ROOT / "build" / "release", ROOT / "build" / "wheels"
VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
CROSSED, GLIBC = "3.14-aarch64", "2.28"
BIN = Path(sys.executable).parent
# setuptools-rust runs one program; cargo-zigbuild calls cargo itself by that name.
CARGO = f"""#!/bin/sh
unset CARGO
[ "$1" = rustc ] || exec cargo "$@"
for argument; do
    shift
    case $argument in *-unknown-linux-gnu) argument=$argument.{GLIBC};; esac
    set -- "$@" "$argument"
done
exec {BIN}/cargo-zigbuild "$@"
"""


def run(*command: object, **environment: str) -> str:
    """The output of a program.  Raises: SystemExit with all of it where it fails."""
    words = [str(word) for word in command]
    result = subprocess.run(
        words, cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if result.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {result.returncode}:\n{result.stdout[-4000:]}")
    return result.stdout


@cache
def epoch() -> str:
    """When the commit was made: the time of every file in a wheel.  1980 without git, the first that ZIP knows."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        return "315532800"
    return run("git", "log", "-1", "--format=%ct").strip()


def source() -> Path:
    """Makes the source distribution of the files here."""
    run(BIN / "python", "-P", "-m", "build", "--sdist", "--outdir", WHEELS, SOURCE_DATE_EPOCH=epoch())
    (archive,) = WHEELS.glob("*.tar.gz")
    return archive


def unpacked(distribution: Path, into: Path) -> Path:
    shutil.rmtree(into, ignore_errors=True)
    with tarfile.open(distribution) as archive:
        archive.extractall(into, filter="data")
    (tree,) = into.iterdir()
    return tree


def pure(tree: Path, into: Path) -> Path:
    run(
        BIN / "python",
        "-P",
        "-m",
        "build",
        "--wheel",
        "--outdir",
        into,
        tree,
        OVERTHERE_PURE="1",
        SOURCE_DATE_EPOCH=epoch(),
    )
    (wheel_path,) = into.glob("*-py3-none-any.whl")
    return wheel_path


def native(tree: Path, version: str, into: Path, target: Path) -> Path:
    """A wheel of a version of CPython, whose kernel is there and needs no newer glibc than it says."""
    number, _, machine = version.partition("-")
    tag, machine = f"cp{number.replace('.', '')}", machine or "x86_64"
    platform = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
    wrapper = target / "cargo-with-zig"
    target.mkdir(parents=True, exist_ok=True)
    wrapper.write_text(CARGO)
    wrapper.chmod(0o755)
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    remapped = {tree / "rust": "/overthere", home: "/cargo", target: "/target"}
    folder = target / f"{version}-made"
    shutil.rmtree(folder, ignore_errors=True)
    environment = {
        "OVERTHERE_NATIVE": "1",
        "SOURCE_DATE_EPOCH": epoch(),
        "CARGO": str(wrapper),
        "CARGO_BUILD_TARGET": f"{machine}-unknown-linux-gnu",
        "CARGO_TARGET_DIR": str(target),
        "CARGO_ZIGBUILD_PYTHON_PATH": str(BIN / "python"),
        "PYO3_CROSS": "1",
        "PYO3_CROSS_PYTHON_VERSION": number,
        "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
        "SETUPTOOLS_EXT_SUFFIX": f".cpython-{tag[2:]}-{machine}-linux-gnu.so",
        "RUSTFLAGS": " ".join(f"--remap-path-prefix={place}={name}" for place, name in remapped.items()),
    }
    shutil.rmtree(tree / "build", ignore_errors=True)
    run(BIN / "python", "-P", "-m", "build", "--wheel", "--outdir", folder, tree, **environment)
    (wheel,) = folder.glob("*.whl")
    seen = run(BIN / "auditwheel", "show", wheel)
    needed = re.search(rf'"manylinux_2_(\d+)_{machine}"', seen)
    if needed is None or int(needed[1]) > int(GLIBC.removeprefix("2.")):
        raise SystemExit(f"{wheel.name} is not {platform}:\n{seen}")
    tags = ("--python-tag", tag, "--abi-tag", tag, "--platform-tag", platform)
    run(BIN / "wheel", "tags", "--remove", *tags, wheel, SOURCE_DATE_EPOCH=epoch())
    (wheel,) = folder.glob("*.whl")
    into.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(wheel, into))


def buildable() -> list[str]:
    """The versions of the machine, and that of aarch64 if rustc has its standard library."""
    folder = run("rustc", "--print", "target-libdir", "--target", "aarch64-unknown-linux-gnu").strip()
    return [*([CROSSED] if Path(folder).is_dir() else []), *VERSIONS]


def members(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def kernel_size(wheel: Path) -> int:
    """The octets of the native module in a wheel; 0 without one."""
    return sum(len(data) for name, data in members(wheel).items() if name.endswith((".so", ".pyd")))


def differences(first: Path, second: Path) -> list[str]:
    """The differences of two wheels: in their files, or only in their archives."""
    if sha256(first.read_bytes()).digest() == sha256(second.read_bytes()).digest():
        return []
    ours, other = members(first), members(second)
    return sorted(name for name in ours | other if ours.get(name) != other.get(name)) or ["the archive alone"]


def build(versions: list[str], is_repeated: bool = False) -> list[str]:
    """Rebuild all.  Return the differences between two builds of the same files."""
    shutil.rmtree(WHEELS, ignore_errors=True)
    print("The source distribution", flush=True)
    distribution = source()
    print("The pure wheel", flush=True)
    tree = unpacked(distribution, BUILD / "tree")
    wheels = [pure(tree, WHEELS)]
    for version in versions:
        print(f"The native wheel of {version}", flush=True)
        wheels.append(native(tree, version, WHEELS, BUILD / "target"))
    unlike: list[str] = []
    if is_repeated:
        print("Two of them once more, in another folder", flush=True)
        other = unpacked(distribution, BUILD / "other" / "tree")
        second = [pure(other, BUILD / "again")]
        second += [native(other, versions[-1], BUILD / "again", BUILD / "other" / "target")] if versions else []
        pairs = zip((wheels[0], wheels[-1]), second, strict=False)
        unlike = [f"{pair.name}: {name}" for pair, same in pairs for name in differences(pair, same)]
    for wheel in wheels:
        size, kernel = wheel.stat().st_size, kernel_size(wheel)
        print(f"{wheel.name}: {size:,} octets, {len(members(wheel))} files, kernel {kernel:,}", flush=True)
    return unlike


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("versions", nargs="*", default=[])
    options = parser.parse_args()
    unlike = build(options.versions or buildable(), options.again)
    print(*(f"not the same in two builds: {line}" for line in unlike), sep="\n", end="")
    return bool(unlike)


if __name__ == "__main__":
    raise SystemExit(main())
