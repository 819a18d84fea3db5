"""Texts in a plan are for people only: dialogues behave the same with other texts."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

import overthere
from overthere import PlanRefused, Policy, edition, plan
from overthere.access import Cited, aio, blocking, opening
from overthere.access.errors import DOCUMENTED
from overthere.access.planning import Plan, plan_under
from overthere.protocols.websocket import dialogue
from overthere.testing.words import PROSE, as_before, replace_words
from support import ROOT

sys.path.append(str(ROOT / "fuzz"))

from conversations import Conversation, conversations, pack

Words = dict[str, str]


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> Words:
    """Replace the texts of every opened plan; the result maps new texts to the originals."""
    replaced: Words = {}

    def replace_all(*arguments: Any, **named: Any) -> Plan:
        texts, new = replace_words(plan_under(*arguments, **named))
        replaced.update(new)
        return texts

    monkeypatch.setattr(opening, "plan_under", replace_all)
    return replaced


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connect to scripts during a test."""
    monkeypatch.setattr(opening, "Transport", blocking.Transport)
    monkeypatch.setattr(aio, "AsyncTransport", aio.AsyncTransport)
    monkeypatch.setattr(dialogue, "os", os)
    from loopback import put_in

    put_in()


def conversation_of(conversation: Conversation, number: int) -> Any:
    from laws import dialogues

    return dialogues._blocking(conversation, dialogues._script(conversation, pack(number, conversation)))


TALKS = list(enumerate(conversations()))


@pytest.mark.parametrize(("number", "conversation"), TALKS, ids=[f"{n}-{name.uri[:40]}" for n, name in TALKS])
@pytest.mark.usefixtures("nobody")
def test_conversations_ignore_the_texts(
    number: int, conversation: Conversation, request: pytest.FixtureRequest
) -> None:
    before = conversation_of(conversation, number)
    words: Words = request.getfixturevalue("words")
    assert as_before(conversation_of(conversation, number), words) == as_before(before, {})
    assert words


LOCAL = (
    "mid:1@XIson.com", "mid:1@XIson.com/A.1@XIson.com", "cid:A.1@XIson.com",
    "mid:none@h", "cid:none@h", "news:comp.infosystems", "news:a@b", "news:*", "nntp:///a.b/1", "telnet://joe@127.0.0.1/x",
    "rlogin://joe@127.0.0.1", "tn3270://127.0.0.1", "gopher://127.0.0.1/8joe", "gopher://127.0.0.1/2", "data:,x",
    "about:blank", "about:config", "mailto:a@b?subject=x", "afs://cern.ch/user", "file:FOLDER", "file:FOLDER/m.eml",
    "file:FOLDER/none", "urn:isbn:0", "ldap://h/o=a??sub?(cn=", "ftp://h/a;type=x",
)  # fmt: skip
MAIL = b"""Message-ID: <1@XIson.com>\r\nContent-Type: multipart/related; boundary=x\r
\r\n--x\r\nContent-ID: <A.1@XIson.com>\r\n\r\nA\r\n--x--\r\n"""


def opened(uri: str, policy: Policy) -> Any:
    try:
        with overthere.open(uri, policy) as resource:
            head = [resource.media_type, resource.how, resource.length, resource.details]
            return [head, list(resource.entries()), resource.read()]
    except (*DOCUMENTED, overthere.OverthereError) as error:
        return error


@pytest.mark.parametrize("uri", LOCAL)
def test_dialogues_without_a_server_ignore_the_texts(uri: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (tmp_path / "m.eml").write_bytes(MAIL)
    target, policy = uri.replace("FOLDER", str(tmp_path)), Policy.local().with_(messages=(tmp_path,))
    before = opened(target, policy)
    words: Words = request.getfixturevalue("words")
    assert as_before(opened(target, policy), words) == as_before(before, {})


def test_every_text_of_a_plan_is_replaced() -> None:
    """And nothing else."""
    news_plan = plan("news://joe@h/*")
    other, words = replace_words(news_plan)
    texts = [getattr(step, name, "") for step in other for name in PROSE]
    assert {text for text in texts if text} == words.keys()
    assert "the newsgroups" in words.values()
    assert [as_before(step, words) for step in other] == [as_before(step, {}) for step in news_plan]


MESSAGE = "addresses contains 'RFC 6068 2', which is not an addr-spec ({}; RFC 5322 3.4.1)"


@pytest.mark.parametrize(("by", "source"), [("rfc3986", "RFC 6068 2"), ("rfc1738", "RFC 1738 3.5")])
def test_citing_an_edition_does_not_change_the_data(by: str, source: str) -> None:
    """RFC 3986 7.3: data of the URI is shown unchanged, even if it looks like a paragraph."""
    with pytest.raises(PlanRefused) as refused:
        plan(edition(by).locator("mailto:RFC%206068%202"))
    assert str(refused.value) == MESSAGE.format(source)


def test_a_text_and_its_paragraph_are_separate() -> None:
    for text in (Cited("it is so", "RFC 1 2"), PlanRefused("it is so", "RFC 1 2").args[0]):
        for copied in (text, pickle.loads(pickle.dumps(text)), copy.deepcopy(text)):
            assert (copied, copied.sentence, copied.source) == ("it is so (RFC 1 2)", "it is so", "RFC 1 2")
    assert PlanRefused("it is so").args == ("it is so",)
    notes = [step.note for step in plan("prospero://h/x") if isinstance(step.note, Cited)]
    assert [note.source for note in notes] == ["RFC 4157 2"]
