"""A plan with its texts for people replaced; everything else is the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overthere.access.planning import Plan
    from overthere.access.steps import Step

__all__ = ["PROSE", "as_before", "replace_words"]

PROSE = ("what", "note")
"""The fields of steps that hold words for people."""


def replace_words(plan: Plan) -> tuple[Plan, dict[str, str]]:
    """Return the plan with each of its texts replaced by a meaningless word, and the text for each word.

    >>> from overthere import plan
    >>> there, words = replace_words(plan("gopher://h/0about"))
    >>> there.steps[2].line(), words
    ('receive zq0q (until the server closes)', {'zq0q': 'the text'})
    """
    words = dict[str, str]()
    if plan.through is not None:
        there, words = replace_words(plan.through)
        return replace(plan, through=there, steps=there.steps), words
    return replace(plan, steps=tuple(_replace_step_words(step, words) for step in plan.steps)), words


def _replace_step_words(step: Step, words: dict[str, str]) -> Step:
    replacements = dict[str, Any]()
    for name in {step_field.name for step_field in fields(step)}.intersection(PROSE):
        if text := getattr(step, name):
            replacements[name] = f"zq{len(words)}q"
            words[replacements[name]] = text
    return replace(step, **replacements)


def as_before(value: Any, words: dict[str, str]) -> Any:
    """Return the outcome of a dialogue with each word replaced by its text again; values become plain ones.

    >>> as_before(("receive zq0q", {"a": b"zq0q"}), {"zq0q": "the text"})
    ['receive the text', {'a': b'zq0q'}]
    """
    if isinstance(value, str):
        for word, text in words.items():
            value = value.replace(word, text)
        return value
    if isinstance(value, dict):
        return {name: as_before(item, words) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_before(item, words) for item in value]
    if isinstance(value, Exception):
        return [type(value).__name__, as_before(str(value), words)]
    if is_dataclass(value) and not isinstance(value, type):
        return dict(_parts(value, words))
    return value


def _parts(value: Any, words: dict[str, str]) -> Iterator[tuple[str, Any]]:
    for value_field in fields(value):
        yield value_field.name, as_before(getattr(value, value_field.name), words)
