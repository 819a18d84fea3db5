"""What pyproject.toml cannot say: a build of which the native kernel is no part makes a wheel for every machine.

The kernel is optional (`[tool.setuptools-rust]`): where cargo is missing, or its build fails, the package is made
without it.  `OVERTHERE_PURE=1` leaves it out on purpose.
"""

from __future__ import annotations

import os
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

SOURCE = Path(__file__).resolve().parent / "src" / "overthere"


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

    def run(self) -> None:
        self.run_command("build")
        if not built(Path(self.get_finalized_command("build").build_lib, "overthere")):
            self.root_is_pure = True
            self.distribution.has_ext_modules = lambda: False
        super().run()


class Plain(Distribution):
    """The distribution, without the native kernel where that is asked for."""

    def finalize_options(self) -> None:
        super().finalize_options()
        if os.environ.get("OVERTHERE_PURE"):
            self.rust_extensions = []
            self.has_ext_modules = lambda: False


setup(distclass=Plain, cmdclass={"build_ext": BuildExt, "bdist_wheel": Wheel})
