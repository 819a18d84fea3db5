"""References in Jupyter notebooks, read by nbformat (formats 2 to 4): in Markdown and HTML of cells and outputs."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

from overthere.ground.extras import brought_by
from overthere.links.documents import markdown
from overthere.links.documents.charset import decode_text, replace_surrogates
from overthere.links.documents.json import has_more_objects, is_deeper
from overthere.links.model import Document, Found, Note, Options, PassedContent


def read(document: Document, options: Options) -> Iterator[Found | Note | PassedContent]:
    """Yield the references of a notebook in its order, with the places that Markdown has.

    Raises: ModuleNotFoundError without the extra `notebooks`.
    """
    text, is_wrong = decode_text(document.content, document.charset)
    if is_wrong:
        yield Note("wrong-charset")
    texts = cells(text)
    if texts is None:
        yield Note("too-large" if has_more_objects(text, _MAX_CONTAINERS) else "corrupt")
        return
    yield from markdown.read_texts(map(replace_surrogates, texts), document, options)


_MAX_CONTAINERS = 1_000_000
"""The maximum number of objects and lists in a notebook; nbformat needs half a kilobyte or more for each."""
_MAX_DEPTH = 200
"""The maximum depth of nested objects and lists: nbformat calls itself twice or more for each."""


def cells(text: str) -> list[str] | None:
    """Return the texts of a notebook that are Markdown or HTML; None if the notebook is invalid, or has more than
    `_MAX_CONTAINERS` objects and lists or more than `_MAX_DEPTH` within each other.

    >>> cells('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}'), cells("[]")
    ([], None)
    """
    if has_more_objects(text, _MAX_CONTAINERS) or is_deeper(text, _MAX_DEPTH):
        return None
    with brought_by("notebooks"):
        import nbformat
        from nbformat.reader import NotJSONError

    errors = (
        *(nbformat.ValidationError, NotJSONError, ValueError, TypeError, AttributeError, LookupError),
        *(NameError, RecursionError, AssertionError, ArithmeticError),
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            library: Any = nbformat
            notebook = library.reader.reads(text)
            for cell in (cell for sheet in notebook.get("worksheets", ()) for cell in sheet["cells"]):
                if cell.get("level", 1) not in _HEADING_LEVELS:
                    cell["level"] = 6  # nbformat writes as many "#" as the level of a heading of format 3
            notebook = library.convert(notebook, 4)
        return [source for cell in notebook["cells"] for source in _cell_texts(cell)]
    except errors:
        return None  # nbformat converts without validation


_HEADING_LEVELS = range(1, 7)


_READ_TYPES = ("text/markdown", "text/html")
_BREAKS = re.compile(r"[\r\n]\s*+")


def _cell_texts(cell: Any) -> Iterator[str]:
    kind = "text/markdown" if cell["cell_type"] == "markdown" else ""
    if cell["cell_type"] == "raw":
        kind = cell.get("metadata", {}).get("raw_mimetype")
    bundles = [{kind: cell.get("source", "")}, *(output.get("data", {}) for output in cell.get("outputs", ()))]
    for name, data in ((name, data) for data in bundles for name in _READ_TYPES if name in data):
        text = data[name] if isinstance(data[name], str) else "".join(data[name])  # a list of lines
        # In Markdown, an empty line would end a block of HTML.
        yield text if name == "text/markdown" else _BREAKS.sub("\n", f"<div>\n{text}").rstrip()
