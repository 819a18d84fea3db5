"""Answers of a worker process: a view as a page, a fragment or JSON, with a status."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from overthere.web import pages
from overthere.web.model import BadInput
from overthere.web.views import VIEWS


class Answer(NamedTuple):
    """The text of an answer, with its HTTP status."""

    status: int
    text: str


class Fault(Exception):
    """A bug of this library, reported only by its place: its message may contain user input."""


Form = Callable[[str, str, Mapping[str, str]], Answer]
"""Maps a form (`page`, `part`, `data`), the name of a view and its inputs to an answer."""


def answer(form: str, name: str, inputs: Mapping[str, str]) -> Answer:
    """Return the answer of a view; errors in the inputs are answers too."""
    if form == "page":
        text, bad = pages.page(name, inputs)
        return Answer(200 if bad is None else status_of(bad), text)
    try:
        if form == "part":
            return Answer(200, pages.answer(name, inputs))
        return Answer(200, as_json(VIEWS[name].data(inputs)))
    except (BadInput, ModuleNotFoundError) as error:
        if form == "part":
            return Answer(200, pages.failure_fragment(str(error)))
        return Answer(status_of(error) if isinstance(error, BadInput) else 501, as_json({"error": str(error)}))


def as_json(data: Any) -> str:
    """Return data as JSON text."""
    return json.dumps(data, indent=1)


def status_of(error: BadInput) -> int:
    """Return the HTTP status for bad inputs."""
    return 413 if error.too_long else 400


def encode_answer(answer_form: Form, request: bytes) -> bytes:
    """Answer a request from a pipe; an exception becomes a reply that `decode_answer` raises as Fault."""
    try:
        form, name, inputs = json.loads(request)
        status, text = answer_form(form, name, inputs)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return json.dumps(["fault", f"{type(error).__name__} in {place.name}, line {place.lineno}"]).encode()
    return json.dumps([status, text]).encode()


def decode_answer(reply: bytes) -> Answer:
    """Decode a reply of `encode_answer`.  Raises: Fault."""
    status, text = json.loads(reply)
    if status == "fault":
        raise Fault(text)
    return Answer(status, text)
