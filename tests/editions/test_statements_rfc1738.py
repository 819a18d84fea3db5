"""Statements of RFC 1738 that no case row shows, each read from its paragraph (tests/statements/rfc1738)."""

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
def test_what_is_escaped(component: str) -> None:
    """2.2: what has no graphic character in US-ASCII and what is unsafe, each octet of it; what is safe stays."""
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
            written = EDITION.encode(char, component)
            assert EDITION.decode(written) == char
            if char in named:
                assert written == f"%{ord(char):02X}", (component, char)
    assert EDITION.encode(";/?:@=&", "selector") == ";/?:@=&"


def test_anything_may_be_escaped() -> None:
    """2.2: also letters and digits, and they mean what they mean without."""
    for char in PLAIN:
        text = f"x-y:a%{ord(char):02x}b"
        assert EDITION.is_valid(text)
        assert EDITION.normalize(text, Rung.PERCENT) == f"x-y:a{char}b"


@pytest.mark.parametrize("name", SCHEMES)
def test_the_ten_schemes(name: str) -> None:
    """3: ten schemes are specified, each with a rule, a reading and a statement of how it is accessed."""
    assert EDITION.is_valid(SCHEMES[name])
    assert EDITION.is_valid(SCHEMES[name], f"{name}url")
    assert not EDITION.is_valid(SCHEMES[name], "otherurl")
    assert EDITION.locator(SCHEMES[name]).scheme == name
    assert planned(SCHEMES[name]).steps


def test_no_password_without_a_user() -> None:
    """3.1: what stands before the colon of a password is a user name, if an empty one."""
    assert EDITION.parts("ftp://:pw@h/")["user"] == ""
    assert EDITION.parts("ftp://u@h/")["password"] is None
    assert EDITION.parts("ftp://h/")["user"] is None


def test_the_order_of_an_ftp_dialogue() -> None:
    """3.2.1: USER and PASS follow the connection, without a user anonymous and a mail address."""
    assert isinstance(planned("ftp://joe:pw@h/a").steps[0], Connect)
    assert [command.split()[0] for command in sent("ftp://joe:pw@h/a")[:2]] == [b"USER", b"PASS"]
    assert sent("ftp://joe:pw@h/a")[0] == b"USER joe\r\n"
    locator = EDITION.locator("ftp://h/a")
    with_address = plan(locator, Credentials(address="joe@example.org"))
    said = [step.data for step in with_address.steps if isinstance(step, Send)]
    assert said[:2] == [b"USER anonymous\r\n", b"PASS joe@example.org\r\n"]


def test_each_ftp_url_has_a_connection_of_its_own() -> None:
    """3.2.5: the only reliable way to a second directory is to connect again."""
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


def test_octets_of_a_selector() -> None:
    """3.4.1: any octet but tab, line feed and carriage return; NUL, which ends a text, is refused as well."""
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
    """3.5: there is nothing that is accessed; a message is composed."""
    (step,) = planned("mailto:joe@host.com").steps
    assert isinstance(step, Compose)


def test_a_message_id_is_sent_in_brackets() -> None:
    """3.6: the URL leaves out the "<" and ">" of RFC 1036."""
    (step,) = planned("news:unique@full.domain.name").steps
    assert isinstance(step, Place)
    assert step.where == "<unique@full.domain.name>"


def test_at_tells_articles_from_groups() -> None:
    """3.6: "@" is the mark of a message identifier."""
    assert [(place.what, place.where) for text in ("news:a.b", "news:a@b", "news:*")
            for place in planned(text).steps if isinstance(place, Place)] == [
        ("newsgroup", "a.b"), ("article", "<a@b>"), ("newsgroups", "*"),
    ]  # fmt: skip


def test_a_session_is_advice() -> None:
    """3.8: user and password are told to the user, and sent to nobody."""
    (step,) = planned("telnet://guest:pass@h/").steps
    assert isinstance(step, Interact)
    assert (step.user, step.port) == ("guest", 23)
    assert sent("telnet://guest:pass@h/") == []


def test_a_file_asks_no_server() -> None:
    """3.10: no Internet protocol, no access method."""
    for text in ("file:///etc/motd", "file://localhost/etc/motd"):
        assert [type(step) for step in planned(text).steps] == [Place]


def test_prospero_is_asked_for_access_methods() -> None:
    """3.11: the directory server at host and port is asked how the object is reached."""
    steps = planned("prospero://host.dom//pros/name").steps
    assert isinstance(steps[0], Connect)
    assert (steps[0].host, steps[0].port) == ("host.dom", 1525)
    assert any(b"/pros/name" in data for data in sent("prospero://host.dom//pros/name"))


def test_codes_of_other_characters() -> None:
    """2.2: an edition of octets of US-ASCII writes no other text."""
    with pytest.raises(CodingError):
        EDITION.encode("é", "hsegment")
    assert EDITION.encode("é".encode("latin-1"), "hsegment") == "%E9"


def test_a_password_is_asked_of_the_user() -> None:
    """3.2.1: a user without a password is asked for it where the server wants one; else nobody is."""
    asked = {text: "ask the user for it" in str(planned(text)) for text in ("ftp://joe@h/a", "ftp://joe:p@h/a")}
    assert asked == {"ftp://joe@h/a": True, "ftp://joe:p@h/a": False}
    assert b"PASS " not in b"".join(sent("ftp://joe@h/a"))
    assert b"PASS p\r\n" in sent("ftp://joe:p@h/a")
