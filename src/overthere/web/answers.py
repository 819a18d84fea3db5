"""Answers of a worker process: a view as a page, a fragment or JSON, with a status."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from overthere.web import pages
from overthere.web.model import BadInput
from overthere.web.views import VIEWS

__all__ = ["Answer", "Fault", "Form", "answer", "as_json", "decode_answer", "encode_answer", "status_of"]


class Answer(NamedTuple):
    """The text of an answer with its status of HTTP."""

    status: int
    text: str


class Fault(Exception):
    """A fault of this library, reported by its place only: its message may hold what was typed."""


Form = Callable[[str, str, Mapping[str, str]], Answer]
"""From a form (`page`, `part`, `data`), the name of a view and its inputs to the answer."""


def answer(form: str, name: str, given: Mapping[str, str]) -> Answer:
    """The answer of a view; errors in the inputs are answers too."""
    if form == "page":
        text, bad = pages.page(name, given)
        return Answer(200 if bad is None else status_of(bad), text)
    try:
        if form == "part":
            return Answer(200, pages.answer(name, given))
        return Answer(200, as_json(VIEWS[name].data(given)))
    except (BadInput, ModuleNotFoundError) as error:
        if form == "part":
            return Answer(200, pages.failure_fragment(str(error)))
        return Answer(status_of(error) if isinstance(error, BadInput) else 501, as_json({"error": str(error)}))


def as_json(data: Any) -> str:
    """Data as JSON text."""
    return json.dumps(data, indent=1)


def status_of(error: BadInput) -> int:
    """The status of an answer to bad inputs."""
    return 413 if error.too_long else 400


def encode_answer(work: Form, request: bytes) -> bytes:
    """Answer a request from a pipe."""
    try:
        form, name, given = json.loads(request)
        status, text = work(form, name, given)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return json.dumps(["fault", f"{type(error).__name__} in {place.name}, line {place.lineno}"]).encode()
    return json.dumps([status, text]).encode()


def decode_answer(reply: bytes) -> Answer:
    """The inverse of `encode_answer`.  Raises: Fault."""
    status, text = json.loads(reply)
    if status == "fault":
        raise Fault(text)
    return Answer(status, text)
