"""Answers of a worker process of the explainer in tests: heavy views, faults, and the end of the process."""

from __future__ import annotations

import os
from collections.abc import Mapping

from overthere.web.answers import Answer, answer

HEAVY, FAULT, DIES = "x-heavy:", "x-fault:", "x-dies:"


def work(form: str, name: str, fields: Mapping[str, str]) -> Answer:
    """The usual answer, but for these schemes."""
    text = fields.get("text", "")
    if text.startswith(HEAVY):
        while True:
            pass
    if text.startswith(FAULT):
        return broken(text)
    if text.startswith(DIES):
        os._exit(3)
    return answer(form, name, fields)


def broken(text: str) -> Answer:
    raise ValueError(f"a fault with {text}")
