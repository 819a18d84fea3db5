"""Texts for users are plain English: `tools/sentences.py` has patterns of sentences that are not."""

from __future__ import annotations

import sys

import pytest

from support import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import sentences

GOOD = (
    "not a valid http URI: unexpected end of text",
    "there is no such file",
    "the default port is no longer 80",
    "read as something else",
    "Hosts that browsers open; None: any.",
)
BAD = (
    "no URI: 'x' is no component",
    "which is none by its document",
    "{} cannot stand here",
    "What is the matter with a document",
    "a scheme that nobody tells whom to ask",
    "EPSV where the server knows it, else PASV",
    "ports beside the scheme's own",
)


@pytest.mark.parametrize("text", GOOD)
def test_a_plain_sentence_is_accepted(text: str) -> None:
    assert sentences.suspect(sentences.Sentence("", 0, text)) == []


@pytest.mark.parametrize("text", BAD)
def test_a_sentence_that_needs_reading_twice_is_found(text: str) -> None:
    assert sentences.suspect(sentences.Sentence("", 0, text))


def test_messages_help_and_docstrings_are_plain() -> None:
    assert [sentence for sentence in sentences.sentences() if sentences.suspect(sentence)] == []


def test_texts_of_each_kind_are_found() -> None:
    texts = {sentence.text for sentence in sentences.sentences()}
    assert {"the scheme is empty", "Print notes too, not only their number.", "Skip to the content"} <= texts
    assert any(text.startswith("A URI (RFC 3986 3): with a scheme") for text in texts)
