"""Optional dependencies, and the pip command in the error when one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

__all__ = ["brought_by", "missing_line", "missing_message", "need"]


def missing_message(module: str, extra: str) -> str:
    """What is said of a package that is not installed.

    >>> missing_message("polars", "polars")
    "polars is not installed: pip install 'overthere[polars]'"
    """
    return f"{module} is not installed: pip install 'overthere[{extra}]'"


def missing_line(error: ImportError, extra: str) -> str:
    """The message of an error that names its extra; of another error, the message for `extra`."""
    text = str(error)
    return text if ": pip install 'overthere[" in text else missing_message(str(error.name), extra)


def need(extra: str, *modules: str) -> None:
    """Nothing, if all the packages are installed.

    Raises: ModuleNotFoundError, whose `name` is the first that is not.

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
    """Around the imports of packages that an extra brings.

    Raises: ModuleNotFoundError as it came, with the line that installs what is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            missing_message((error.name or "a package").split(".")[0], extra), name=error.name
        ) from error
