"""A second copy of the package in this process, on the reference kernel, to compare the answers of both kernels."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


class SecondCopy:
    """A second copy of the package and its modules, which sees no module of the first."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}
        with self.imports_from_copy():
            import overthere.kernel

            self.package = overthere
            assert overthere.kernel.name == "reference"

    @contextmanager
    def imports_from_copy(self) -> Iterator[None]:
        """Imports within, also lazy ones, use the copy."""
        removed = _taken_out()
        kernel = os.environ.get("OVERTHERE_KERNEL")
        os.environ["OVERTHERE_KERNEL"] = "reference"
        sys.modules.update(self._modules)
        try:
            yield
        finally:
            self._modules = _taken_out()
            sys.modules.update(removed)
            if kernel is None:
                del os.environ["OVERTHERE_KERNEL"]
            else:
                os.environ["OVERTHERE_KERNEL"] = kernel


def _taken_out() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name.partition(".")[0] == "overthere"]
    return {name: sys.modules.pop(name) for name in names}
