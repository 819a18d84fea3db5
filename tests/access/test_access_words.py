"""The words of a plan are for people: with others in their place every dialogue does the same."""

from __future__ import annotations

import copy
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
from overthere.testing.words import PROSE, as_before, replace_words
from support import ROOT

sys.path.append(str(ROOT / "fuzz"))

from conversations import Conversation, conversations, pack

Words = dict[str, str]


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> Words:
    """Every plan that is opened says other words from now on, which are kept here with what they stand for."""
    kept: Words = {}

    def other(*arguments: Any, **named: Any) -> Plan:
        found, new = replace_words(plan_under(*arguments, **named))
        kept.update(new)
        return found

    monkeypatch.setattr(opening, "plan_under", other)
    return kept


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections lead to scripts, for one test."""
    monkeypatch.setattr(opening, "Transport", blocking.Transport)
    monkeypatch.setattr(aio, "AsyncTransport", aio.AsyncTransport)
    from loopback import put_in

    put_in()


def said(told: Conversation, number: int) -> Any:
    from laws import dialogues

    return dialogues._blocking(told, dialogues._script(told, pack(number, told)))


TALKS = list(enumerate(conversations()))


@pytest.mark.parametrize(("number", "told"), TALKS, ids=[f"{n}-{one.uri[:40]}" for n, one in TALKS])
@pytest.mark.usefixtures("nobody")
def test_a_conversation(number: int, told: Conversation, request: pytest.FixtureRequest) -> None:
    before = said(told, number)
    words: Words = request.getfixturevalue("words")
    assert as_before(said(told, number), words) == as_before(before, {})
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
        with overthere.open(uri, policy) as there:
            head = [there.media_type, there.how, there.length, there.details]
            return [head, list(there.entries()), there.read()]
    except (*DOCUMENTED, overthere.OverthereError) as error:
        return error


@pytest.mark.parametrize("uri", LOCAL)
def test_without_a_server(uri: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (tmp_path / "m.eml").write_bytes(MAIL)
    there, policy = uri.replace("FOLDER", str(tmp_path)), Policy.local().with_(messages=(tmp_path,))
    before = opened(there, policy)
    words: Words = request.getfixturevalue("words")
    assert as_before(opened(there, policy), words) == as_before(before, {})


def test_the_words_are_other_words() -> None:
    """Every text of the plan is replaced, and nothing else."""
    there = plan("news://joe@h/*")
    other, words = replace_words(there)
    told = [getattr(step, name, "") for step in other for name in PROSE]
    assert {text for text in told if text} == words.keys()
    assert "the newsgroups" in words.values()
    assert [as_before(step, words) for step in other] == [as_before(step, {}) for step in there]


TOLD = "addresses contains 'RFC 6068 2', which is not an addr-spec ({}; RFC 5322 3.4.1)"


@pytest.mark.parametrize(("by", "source"), [("rfc3986", "RFC 6068 2"), ("rfc1738", "RFC 1738 3.5")])
def test_an_edition_cites_its_own_paragraph_and_leaves_the_data_as_they_are(by: str, source: str) -> None:
    """RFC 3986 7.3: what the URI says is shown as it says it, also where it looks like a paragraph."""
    with pytest.raises(PlanRefused) as refused:
        plan(edition(by).locator("mailto:RFC%206068%202"))
    assert str(refused.value) == TOLD.format(source)


def test_a_sentence_and_its_paragraph_are_kept_apart() -> None:
    for made in (Cited("it is so", "RFC 1 2"), PlanRefused("it is so", "RFC 1 2").args[0]):
        for one in (made, pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
            assert (one, one.sentence, one.source) == ("it is so (RFC 1 2)", "it is so", "RFC 1 2")
    assert PlanRefused("it is so").args == ("it is so",)
    notes = [step.note for step in plan("prospero://h/x") if isinstance(step.note, Cited)]
    assert [note.source for note in notes] == ["RFC 4157 2"]
