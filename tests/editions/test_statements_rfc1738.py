"""Statements of RFC 1738 without a case row, each with its paragraph (tests/statements/rfc1738)."""

from __future__ import annotations

import string

import pytest

from overthere import CodingError, Credentials, PlanRefused, Rung, plan
from overthere.access import Compose, Connect, Interact, Place, Plan, Send
from overthere.editions import edition

EDITION = edition("rfc1738")
PLAIN = string.ascii_letters + string.digits + "$-_.+!*'(),"
SCHEMES = {
    "ftp": "ftp://h/a", "http": "http://h/a", "gopher": "gopher://h/0a", "mailto": "mailto:a@b", "news": "news:a.b",
    "nntp": "nntp://h/g/1", "telnet": "telnet://h/", "wais": "wais://h/d", "file": "file:///a",
    "prospero": "prospero://h/a",
}  # fmt: skip


def planned(text: str) -> Plan:
    return plan(EDITION.locator(text))


def sent(text: str) -> list[bytes]:
    return [step.data for step in planned(text).steps if isinstance(step, Send)]


@pytest.mark.parametrize("component", ["fsegment", "hsegment", "search", "selector", "user", "wpath", "database"])
def test_unsafe_and_non_graphic_bytes_are_escaped(component: str) -> None:
    """2.2; safe ones are unchanged."""
    for octet in range(256):
        char = chr(octet)
        if char in ";/?:@=&":
            continue
        assert EDITION.encode(bytes([octet]), component) == (char if char in PLAIN else f"%{octet:02X}")
        if char not in PLAIN and octet < 0x80:
            assert not EDITION.is_valid(f"http://h/a{char}b")


def test_reserved_octets_are_escaped() -> None:
    """2.2: if a character is reserved in a scheme, its octet is escaped; the sections of the schemes name them."""
    reserved = {
        "user": ":@/?", "password": ":@/?", "fsegment": "/;", "hsegment": "/;?", "search": "/;?", "selector": "",
        "encoded822addr": "", "psegment": "/;", "wpath": ";/?:@=&",
    }  # fmt: skip
    for component, named in reserved.items():
        for char in ";/?:@=&":
            data = EDITION.encode(char, component)
            assert EDITION.decode(data) == char
            if char in named:
                assert data == f"%{ord(char):02X}", (component, char)
    assert EDITION.encode(";/?:@=&", "selector") == ";/?:@=&"


def test_any_character_may_be_escaped() -> None:
    """2.2: letters and digits, too, without changing the meaning."""
    for char in PLAIN:
        text = f"x-y:a%{ord(char):02x}b"
        assert EDITION.is_valid(text)
        assert EDITION.normalize(text, Rung.PERCENT) == f"x-y:a{char}b"


@pytest.mark.parametrize("name", SCHEMES)
def test_the_ten_schemes(name: str) -> None:
    """3: each has a rule, a parser and a description of its access."""
    assert EDITION.is_valid(SCHEMES[name])
    assert EDITION.is_valid(SCHEMES[name], f"{name}url")
    assert not EDITION.is_valid(SCHEMES[name], "otherurl")
    assert EDITION.locator(SCHEMES[name]).scheme == name
    assert planned(SCHEMES[name]).steps


def test_a_password_needs_a_user() -> None:
    """3.1: the text before its colon is the user name, even if empty."""
    assert EDITION.parts("ftp://:pw@h/")["user"] == ""
    assert EDITION.parts("ftp://u@h/")["password"] is None
    assert EDITION.parts("ftp://h/")["user"] is None


def test_the_order_of_an_ftp_dialogue() -> None:
    """3.2.1: USER and PASS follow the connection; without a user, anonymous and a mail address."""
    assert isinstance(planned("ftp://joe:pw@h/a").steps[0], Connect)
    assert [command.split()[0] for command in sent("ftp://joe:pw@h/a")[:2]] == [b"USER", b"PASS"]
    assert sent("ftp://joe:pw@h/a")[0] == b"USER joe\r\n"
    locator = EDITION.locator("ftp://h/a")
    with_address = plan(locator, Credentials(address="joe@example.org"))
    commands = [step.data for step in with_address.steps if isinstance(step, Send)]
    assert commands[:2] == [b"USER anonymous\r\n", b"PASS joe@example.org\r\n"]


def test_each_ftp_url_has_its_own_connection() -> None:
    """3.2.5: the only reliable way to another directory."""
    for text in ("ftp://h/a/b", "ftp://h/c/d"):
        steps = planned(text).steps
        assert isinstance(steps[0], Connect)
        assert sum(isinstance(step, Connect) for step in steps) == 1
        assert sent(text)[-1] == b"QUIT\r\n"


def test_http_has_no_user() -> None:
    """3.3: no user name or password is allowed."""
    for text in ("http://u@h/", "http://u:p@h/", "http://@h/"):
        assert not EDITION.is_valid(text)
        assert EDITION.check(text)
        with pytest.raises(PlanRefused, match="userinfo"):
            planned(text)


def test_bytes_of_a_selector() -> None:
    """3.4.1: any byte except tab, line feed and carriage return; NUL, which ends a text, is rejected too."""
    for octet in range(256):
        text = f"gopher://h/0a%{octet:02X}b"
        assert EDITION.is_valid(text)
        if octet == 9:
            assert sent(text) == [b"a\tb\r\n"]
        elif octet in (0, 10, 13):
            with pytest.raises(PlanRefused):
                planned(text)
        else:
            assert sent(text) == [b"a" + bytes([octet]) + b"b\r\n"]


def test_a_mail_address_is_not_fetched() -> None:
    """3.5: nothing is accessed; a message is composed."""
    (step,) = planned("mailto:joe@host.com").steps
    assert isinstance(step, Compose)


def test_a_message_id_is_sent_in_brackets() -> None:
    """3.6: the URL omits the "<" and ">" of RFC 1036."""
    (step,) = planned("news:unique@full.domain.name").steps
    assert isinstance(step, Place)
    assert step.where == "<unique@full.domain.name>"


def test_an_at_sign_distinguishes_articles_from_groups() -> None:
    """3.6."""
    assert [(place.what, place.where) for text in ("news:a.b", "news:a@b", "news:*")
            for place in planned(text).steps if isinstance(place, Place)] == [
        ("newsgroup", "a.b"), ("article", "<a@b>"), ("newsgroups", "*"),
    ]  # fmt: skip


def test_the_login_of_a_session_is_advisory() -> None:
    """3.8: user and password are shown to the user, and not sent."""
    (step,) = planned("telnet://guest:pass@h/").steps
    assert isinstance(step, Interact)
    assert (step.user, step.port) == ("guest", 23)
    assert sent("telnet://guest:pass@h/") == []


def test_a_file_url_needs_no_server() -> None:
    """3.10: no Internet protocol, no access method."""
    for text in ("file:///etc/motd", "file://localhost/etc/motd"):
        assert [type(step) for step in planned(text).steps] == [Place]


def test_prospero_requests_the_access_methods() -> None:
    """3.11: the directory server at host and port tells how to access the object."""
    steps = planned("prospero://host.dom//pros/name").steps
    assert isinstance(steps[0], Connect)
    assert (steps[0].host, steps[0].port) == ("host.dom", 1525)
    assert any(b"/pros/name" in data for data in sent("prospero://host.dom//pros/name"))


def test_encode_rejects_non_ascii_text() -> None:
    """2.2."""
    with pytest.raises(CodingError):
        EDITION.encode("é", "hsegment")
    assert EDITION.encode("é".encode("latin-1"), "hsegment") == "%E9"


def test_the_user_is_asked_for_a_missing_password() -> None:
    """3.2.1: only if the server requires it."""
    prompts = {text: "ask the user for it" in str(planned(text)) for text in ("ftp://joe@h/a", "ftp://joe:p@h/a")}
    assert prompts == {"ftp://joe@h/a": True, "ftp://joe:p@h/a": False}
    assert b"PASS " not in b"".join(sent("ftp://joe@h/a"))
    assert b"PASS p\r\n" in sent("ftp://joe:p@h/a")
