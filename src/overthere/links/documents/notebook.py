"""References in Jupyter notebooks, as nbformat reads them (formats 2 to 4): of Markdown, and of HTML in outputs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from overthere.ground.extras import brought_by
from overthere.links.documents import markdown
from overthere.links.documents.charset import decode_text
from overthere.links.documents.json import has_more_objects
from overthere.links.model import Document, Found, Note, Options, PassedContent

__all__ = ["cells", "read"]


def read(document: Document, options: Options) -> Iterator[Found | Note | PassedContent]:
    """The references of a notebook, in its order; as of Markdown.

    Raises: ModuleNotFoundError without the extra `notebooks`.
    """
    text, wrong = decode_text(document.content, document.charset)
    if wrong:
        yield Note("wrong-charset")
    found = cells(text)
    if found is None:
        yield Note("too-large" if has_more_objects(text, _MOST) else "corrupt")
        return
    content = "\n\n".join(found).encode("utf-8", "replace")
    yield from markdown.read(document._replace(content=content, charset="utf-8"), options)


_MOST = 1_000_000
"""Objects and lists of a notebook that is read: nbformat takes half a kilobyte and more for each."""


def cells(text: str) -> list[str] | None:
    """The texts of a notebook that are Markdown, in which HTML may stand; None if it is not a valid notebook, or one
    that is too large.

    >>> cells('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}'), cells("[]")
    ([], None)
    """
    if has_more_objects(text, _MOST):
        return None
    with brought_by("notebooks"):
        import nbformat
        from nbformat.reader import NotJSONError

    wrong = (
        *(nbformat.ValidationError, NotJSONError, ValueError, TypeError, AttributeError, LookupError),
        *(NameError, RecursionError, AssertionError, ArithmeticError),
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            library: Any = nbformat
            notebook = library.reader.reads(text)
            for cell in (cell for sheet in notebook.get("worksheets", ()) for cell in sheet["cells"]):
                if cell.get("level", 1) not in _LEVELS:
                    cell["level"] = 6  # nbformat writes as many signs as a heading of its format 3 says
            notebook = library.convert(notebook, 4)
        return [one for cell in notebook["cells"] for one in _texts(cell)]
    except wrong:
        return None  # nbformat converts what it does not check


_LEVELS = range(1, 7)
_SHOWN = ("text/markdown", "text/html")


def _texts(cell: Any) -> Iterator[str]:
    source = cell.get("source", "")
    is_shown = cell["cell_type"] == "raw" and cell.get("metadata", {}).get("raw_mimetype") in _SHOWN
    if cell["cell_type"] == "markdown" or is_shown:
        yield _join_lines(source)
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        for name in _SHOWN:
            if name in data:
                yield _join_lines(data[name])


def _join_lines(source: Any) -> str:
    """A text, which may be a list of its lines."""
    return source if isinstance(source, str) else "".join(source)
