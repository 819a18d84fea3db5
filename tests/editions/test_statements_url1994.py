"""Statements of the draft of March 1994 without a case row, each with its section."""

from __future__ import annotations

import pytest

from overthere import Credentials, PlanRefused, plan
from overthere.access import Connect, Interact, Place, Plan, Send
from overthere.editions import edition

EDITION = edition("url-1994")
PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789$-_.&'(),"
SCHEMES = {
    "http": "http://h/a", "ftp": "ftp://h/a", "gopher": "gopher://h/0a", "mailto": "mailto:a@b", "mid": "mid:a@b",
    "cid": "cid:a@b", "news": "news:a.b", "nntp": "nntp:g/1", "prospero": "prospero://h/a", "telnet": "telnet://h",
    "rlogin": "rlogin://h", "tn3270": "tn3270://h", "wais": "wais://h/d",
}  # fmt: skip


def planned(text: str, credentials: Credentials | None = None) -> Plan:
    return plan(EDITION.locator(text), credentials)


def sent(text: str, credentials: Credentials | None = None) -> list[bytes]:
    return [step.data for step in planned(text, credentials).steps if isinstance(step, Send)]


@pytest.mark.parametrize("name", SCHEMES)
def test_each_scheme_is_parsed_and_accessed_in_its_own_way(name: str) -> None:
    """Specific Schemes: thirteen names, with and without the prefix."""
    locator = EDITION.locator(SCHEMES[name])
    assert locator.scheme == name
    assert EDITION.locator("URL:" + SCHEMES[name]) == locator
    assert plan(locator).steps


def test_the_part_from_slashes_to_slash() -> None:
    """Internet protocol parts: from "//" to the next "/"."""
    parts = EDITION.split("URL:ftp://u:p@h:21/a//b@c:d")
    assert (parts.authority, parts.path) == ("u:p@h:21", "/a//b@c:d")
    assert EDITION.parts("ftp://u:p@h:21/a")["password"] == "p"
    assert EDITION.parts("ftp://h/a")["user"] is None


@pytest.mark.parametrize(
    ("text", "port"),
    [
        ("ftp://h/a", 21),
        ("ftp://h:8021/a", 8021),
        ("http://h/a", 80),
        ("http://h:8021/a", 8021),
        ("gopher://h/0a", 70),
        ("gopher://h:8021/0a", 8021),
        ("telnet://h", 23),
        ("telnet://h:8021", 8021),
    ],
)
def test_a_port_follows_a_colon(text: str, port: int) -> None:
    """Internet protocol parts: decimal; without it, the protocol's default."""
    (step, *_) = planned(text).steps
    assert isinstance(step, Connect | Interact)
    assert step.port == port
    assert EDITION.is_valid(f"URL:{text}")
    assert not EDITION.is_valid(f"URL:{text.replace('//h', '//h:8o21').replace('8o21:8021', '8o21')}")


@pytest.mark.parametrize("component", ["segment", "xalphas", "user", "selector"])
def test_the_mapping_is_reversible(component: str) -> None:
    """Encoding: unambiguous and reversible, for each of the 256 characters of ISO Latin 1."""
    seen = set()
    for octet in range(256):
        data = EDITION.encode(chr(octet), component)
        assert EDITION.decode(data) == chr(octet)
        seen.add(data)
    assert len(seen) == 256


def test_only_allowed_characters_are_unescaped() -> None:
    """Encoding: others are escaped by two digits of their code."""
    for octet in range(256):
        char = chr(octet)
        assert EDITION.encode(char, "segment") in (
            {char, f"%{octet:02X}"} if char in PLAIN + "@+" else {f"%{octet:02X}"}
        )
    assert EDITION.encode(PLAIN, "segment") == PLAIN


def test_any_character_may_be_escaped() -> None:
    """Encoding: allowed ones too; existing escapes are unchanged."""
    for char in PLAIN:
        text = f"http://h/a%{ord(char):02x}b"
        assert EDITION.is_valid(text, "url")
        assert EDITION.decode(EDITION.split(text).path) == f"/a{char}b"
    assert EDITION.decode("%2541") == "%41"


def test_ports_are_defaults_of_the_protocols() -> None:
    """Internet protocol parts: a port is written only if it is not the default."""
    defaults = {"http": 80, "ftp": 21, "gopher": 70, "wais": 210, "prospero": 1525}
    for name, port in defaults.items():
        (connect,) = [step for step in planned(SCHEMES[name]).steps if isinstance(step, Connect)]
        assert connect.port == port
        (connect,) = [
            step for step in planned(SCHEMES[name].replace("//h", "//h:2000")).steps if isinstance(step, Connect)
        ]
        assert connect.port == 2000


def test_anonymous_ftp() -> None:
    """FTP: anonymous and a mail address, then CWD, TYPE and RETR, on a separate connection."""
    commands = sent("ftp://h/a/b/c.txt", Credentials(address="joe@example.org"))
    assert commands == [
        b"USER anonymous\r\n", b"PASS joe@example.org\r\n", b"CWD a\r\n", b"CWD b\r\n", b"TYPE A\r\n",
        b"RETR c.txt\r\n", b"QUIT\r\n",
    ]  # fmt: skip
    assert isinstance(planned("ftp://h/a").steps[0], Connect)


def test_segments_are_arguments() -> None:
    """FTP, Path: a URL is not a Unix filename: dots and escaped slashes are ordinary arguments."""
    assert [line for line in sent("ftp://h/../%2Fetc/a") if line.startswith((b"CWD", b"RETR"))] == [
        b"CWD ..\r\n", b"CWD /etc\r\n", b"RETR a\r\n",
    ]  # fmt: skip


def test_no_mode_is_set() -> None:
    """FTP, Transfer Mode: stream mode is FTP's default, and no other is requested."""
    for text in ("ftp://h/a", "ftp://h/a;type=i", "ftp://h/a;type=d", "ftp://u:p@h/a/b!A"):
        assert not any(line.startswith((b"MODE", b"STRU")) for line in sent(text))


def test_http_sends_the_path_unchanged() -> None:
    """HTTP: path and search, without the fragment."""
    for text, target in (
        ("http://h/a%2fb;c", b"/a%2fb;c"),
        ("http://h/a?b+c", b"/a?b+c"),
        ("http://h/a?b#c", b"/a?b"),
        ("http://h/a#c", b"/a"),
    ):
        assert sent(text)[0].startswith(b"GET " + target + b" HTTP/")


def test_spaces_and_controls_are_escaped() -> None:
    """HTTP: the BNF allows a space; it is escaped for transmission, like control characters."""
    assert sent("http://h/a b")[0].startswith(b"GET /a%20b HTTP/")
    assert sent("http://h/a\tb")[0].startswith(b"GET /a%09b HTTP/")


def test_an_at_sign_distinguishes_articles_from_groups() -> None:
    """NEWS: it marks a message identifier."""
    assert [
        (place.what, place.where)
        for text in ("news:a.b", "news:a.1@h.c")
        for place in planned(text).steps
        if isinstance(place, Place)
    ] == [("newsgroup", "a.b"), ("article", "<a.1@h.c>")]


def test_news_of_the_local_server() -> None:
    """NEWS, Note1: the reader's own server is used; the URL names none."""
    (step,) = planned("news:a@b.c").steps
    assert isinstance(step, Place)
    assert "configured" in (step.note or "")


def test_prospero_requests_the_access_methods() -> None:
    """PROSPERO: the server at the host looks up the object by its name."""
    (connect,) = [step for step in planned("prospero://h:1600/a/b").steps if isinstance(step, Connect)]
    assert (connect.host, connect.port) == ("h", 1600)
    assert any(b"a/b" in data for data in sent("prospero://h:1600/a/b"))


@pytest.mark.parametrize(
    "text",
    [
        "ftp://h/a%0D%0Ab",
        "gopher://h/0a%0Ab",
        "telnet://a%0D%0Ab@h",
        "nntp:a%0Ab/1",
        "news:a%0D%0Ab@h",
        "rlogin://a%0Ab@h",
    ],
)
def test_a_line_end_is_never_sent(text: str) -> None:
    """Security considerations: escaped delimiters of the protocol are not decoded into it."""
    with pytest.raises(PlanRefused, match=r"carriage return|line feed"):
        planned(text)
