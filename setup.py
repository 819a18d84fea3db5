"""What pyproject.toml cannot say: wheels without the native kernel are for every machine; the README of an index; files
that are installed beside the package; the list of the crates in the kernel.

The kernel is optional (`[tool.setuptools-rust]`): where cargo is missing, or its build fails, the package is made
without it.  `OVERTHERE_PURE=1` leaves it out on purpose, `OVERTHERE_NATIVE=1` makes its absence an error.  The README
has relative links, which a package index does not resolve: the metadata holds it with absolute ones.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import tarfile
import tomllib
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist
from setuptools.errors import SetupError

ROOT = Path(__file__).resolve().parent
SOURCE = ROOT / "src" / "overthere"


def built(package: Path) -> list[Path]:
    """The native modules that lie in a folder of the package."""
    return [file for file in package.glob("_native*") if file.suffix in (".so", ".pyd", ".dylib")]


class BuildExt(build_ext):
    """Nothing is left of an earlier build: a module of older sources would be loaded as if it were of these."""

    def run(self) -> None:
        for file in built(SOURCE if self.inplace else Path(self.build_lib, "overthere")):
            file.unlink()
        super().run()


class Wheel(bdist_wheel):
    """A wheel named `py3-none-any` when no native module came out, so that it never stands in for one that has it."""

    is_native = False

    def run(self) -> None:
        self.run_command("build")
        self.is_native = bool(built(Path(self.get_finalized_command("build").build_lib, "overthere")))
        if not self.is_native:
            if os.environ.get("OVERTHERE_NATIVE"):
                raise SetupError("OVERTHERE_NATIVE is set, and the build has made no native kernel")
            self.root_is_pure = True
            self.distribution.has_ext_modules = lambda: False
        super().run()

    def write_wheelfile(self, wheelfile_base: str, *generator: str) -> None:
        """With the bill of materials of a native kernel, where PEP 770 puts it."""
        super().write_wheelfile(wheelfile_base, *generator)
        if self.is_native:
            bills = Path(wheelfile_base, "sboms")
            bills.mkdir(exist_ok=True)
            shutil.copyfile(ROOT / "rust" / "sbom.cdx.json", bills / "overthere.cdx.json")


class SourceDistribution(sdist):
    """With SOURCE_DATE_EPOCH an archive that two builds of the same files make alike: in order, with that time, and
    without the owners and the umask of the machine."""

    def make_archive(self, base_name: str, format: str, *arguments: object, **named: object) -> str:
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        if epoch is None or format != "gztar":
            made: str = super().make_archive(base_name, format, *arguments, **named)
            return made

        def common(member: tarfile.TarInfo) -> tarfile.TarInfo:
            member.mtime = int(epoch)
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            return member

        folder = Path(str(named.get("base_dir") or self.distribution.get_fullname()))
        path = f"{base_name}.tar.gz"
        with (
            open(path, "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=int(epoch)) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for one in sorted((folder, *folder.rglob("*")), key=lambda one: one.as_posix()):
                archive.add(one, one.as_posix(), recursive=False, filter=common)
        return path


class Plain(Distribution):
    """The distribution, without the native kernel or never without it, where that is asked for."""

    def finalize_options(self) -> None:
        super().finalize_options()
        if os.environ.get("OVERTHERE_NATIVE"):
            if os.environ.get("OVERTHERE_PURE"):
                raise SetupError("OVERTHERE_NATIVE and OVERTHERE_PURE are both set; unset one")
            for extension in self.rust_extensions:
                extension.optional = False
        elif os.environ.get("OVERTHERE_PURE"):
            self.rust_extensions = []
            self.has_ext_modules = lambda: False


def absolute_links(text: str, repository: str) -> str:
    """Markdown whose relative links and pictures lead to the files of a repository."""

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"
        return f"{link[1]}[{link[2]}]({repository}/{kind}/main/{link[3]})"

    return re.sub(r"(!?)\[([^\]\n]*)\]\((?![a-z]+:|#)([^)\s]+)\)", absolute, text)


def index_readme() -> str:
    """The README for the metadata of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return absolute_links((ROOT / "README.md").read_text("utf-8"), project["urls"]["Repository"])


def share_files() -> list[tuple[str, list[str]]]:
    """Man pages and completions, by the folders where they are installed; tools/generate.py writes them."""
    folders = sorted({file.parent for file in (ROOT / "share").rglob("*") if file.is_file()})
    names = [folder.relative_to(ROOT).as_posix() for folder in folders]
    return [(name, sorted(f"{name}/{file.name}" for file in (ROOT / name).iterdir())) for name in names]


setup(
    data_files=share_files(),
    distclass=Plain,
    cmdclass={"build_ext": BuildExt, "bdist_wheel": Wheel, "sdist": SourceDistribution},
    long_description=index_readme(),
    long_description_content_type="text/markdown",
)
