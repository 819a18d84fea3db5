"""Optional dependencies, and the pip command in the error when one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec


def missing_message(module: str, extra: str) -> str:
    """Return the message for a package that is not installed.

    >>> missing_message("polars", "polars")
    "polars is not installed: pip install 'overthere[polars]'"
    """
    return f"{module} is not installed: pip install 'overthere[{extra}]'"


def missing_line(error: ImportError, extra: str) -> str:
    """Return the message of an error if it names its extra, otherwise the message for `extra`."""
    text = str(error)
    return text if ": pip install 'overthere[" in text else missing_message(str(error.name), extra)


def need(extra: str, *modules: str) -> None:
    """Check that all packages are installed.

    Raises: ModuleNotFoundError, whose `name` is the first missing one.

    >>> need("cli", "json", "no_such_package")
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: no_such_package is not installed: pip install 'overthere[cli]'
    """
    for module in modules:
        if find_spec(module) is None:
            raise ModuleNotFoundError(missing_message(module, extra), name=module)


@contextmanager
def brought_by(extra: str) -> Iterator[None]:
    """Enclose the imports of an extra's packages.

    Raises: ModuleNotFoundError of a missing package, with the command that installs the extra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            missing_message((error.name or "a package").split(".")[0], extra), name=error.name
        ) from error
