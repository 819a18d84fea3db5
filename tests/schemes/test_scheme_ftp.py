"""ftp beside its rows: octets, secrets, size."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from overthere import URI, Credentials, PlanRefused, Rung, Unwritable, plan, scheme
from overthere.access import Send
from overthere.editions import edition
from overthere.protocols.ftp.steps import guessed_type
from overthere.schemes.known.ftp import FTPLocator
from support import LONG, linear


def sent(locator: FTPLocator, credentials: Credentials | None = None) -> list[bytes]:
    return [step.data for step in plan(locator, credentials) if isinstance(step, Send)]


def test_octets_that_are_not_utf_8_are_sent_as_they_are() -> None:
    there = URI("ftp://h/caf%E9/%C3%BC%80").locator
    assert isinstance(there, FTPLocator)
    assert (there.directories, there.name) == (("caf\udce9",), "ü\udc80")
    assert sent(there)[2:5] == [b"CWD caf\xe9\r\n", b"TYPE I\r\n", b"RETR \xc3\xbc\x80\r\n"]
    assert str(replace(there, written=None).uri()) == "ftp://h/caf%E9/%C3%BC%80"
    assert there.uri("url-1994") == "URL:ftp://h/caf%E9/%C3%BC%80"
    with pytest.raises(Unwritable, match="not in the charset latin-1"):
        FTPLocator(host="h", name="\u65e5", charset="latin-1").uri("url-1994")


@pytest.mark.parametrize("part", ["user", "password", "directories", "name"])
def test_every_octet_in_every_part(part: str) -> None:
    """RFC 959 5.3.2: any octet but those that end a command; what RFC 854 and this project's plans part with, too."""
    for octet in range(256):
        data = b"a%cb" % octet
        text = data.decode("utf-8", "surrogateescape")
        changed: dict[str, Any] = {part: (text,) if part == "directories" else text}
        there = replace(FTPLocator(user="u", password="p", host="h", name="n"), **changed)
        for name in ("rfc3986", "rfc1738"):
            assert edition(name).locator(str(there.uri(name))) == there
        if octet in b"\r\n\t\0\xff":
            with pytest.raises(PlanRefused, match=part):
                plan(there)
        else:
            assert [line for line in sent(there) if line.endswith(b" " + data + b"\r\n")]
        assert edition("url-1994").locator(f"ftp://h/a%{octet:02X}b").uri("url-1994") == f"ftp://h/a%{octet:02X}b"


def test_the_password_is_asked_for_after_331_alone() -> None:
    (password,) = (s for s in plan("ftp://u:p@h/a") if isinstance(s, Send) and s.data.startswith(b"PASS"))
    assert password.after == ("331",)  # RFC 959 5.4: 230 needs none
    assert password.data == b"PASS p\r\n"
    assert "'***'" in repr(password) or "***" in repr(password)


def test_what_is_secret() -> None:
    """A password is; what anonymous FTP gives is not (RFC 1738 3.2.1)."""
    shown = str(plan("ftp://u@h/a", Credentials(password="s3cr3t")))
    assert "s3cr3t" not in shown
    assert "PASS ***" in shown
    assert "PASS joe@example.org" in str(plan("ftp://h/a", Credentials(address="joe@example.org")))
    assert "PASS joe@example.org" in str(plan("ftp://anonymous@h/a", Credentials(address="joe@example.org")))
    assert "courtesy" in str(plan("ftp://h/a"))
    assert "ask the user for it" in str(plan("ftp://joe@h/a"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.txt", "A"), ("A.HTML", "A"), ("x.hqx", "A"), ("x.shar", "A"), ("a.tar", "I"), ("a.txt.Z", "I"), ("txt", "I"),
     (".txt", "I"), ("a.", "I"), ("a.txt;1", "I"), ("data:text/plain,a", "I"), ("x.js", "I")],
)  # fmt: skip
def test_guess(name: str, kind: str) -> None:
    """RFC 1738 3.2.3, RFC 1635: by the suffix; the same on every machine."""
    assert guessed_type(name) == kind


def test_what_no_text_says_is_not_written() -> None:
    for wrong in (
        FTPLocator(host="h", directories=("a",)),  # no name, though a directory: "/a/" has the name ""
        FTPLocator(host="h", password="p"),  # RFC 1738 3.1: no password without a user name
        FTPLocator(host="h/x", name="a"),
        FTPLocator(host="u@h", name="a"),
        FTPLocator(host="h", name="a", query="b#c"),
    ):
        with pytest.raises(Unwritable):
            wrong.uri()
    assert str(FTPLocator(host="h", name="a;type=d", type="i").uri()) == "ftp://h/a%3Btype=d;type=i"
    assert str(FTPLocator(host="h", name="a/b", directories=("", "..")).uri()) == "ftp://h//../a%2Fb"


def test_a_port_of_nought_is_not_the_default() -> None:
    with pytest.raises(PlanRefused, match="port"):
        plan("ftp://h:0/")


def test_normal_form_means_the_same() -> None:
    for text in ("ftp://h/a;type=I", "ftp://h:21/%2F/a;TYPE=d", "ftp://u:p@h", "ftp://h/;%74YPE=A"):
        there, normal = URI(text).locator, URI(text).normalize(Rung.SCHEME).locator
        assert [str(step) for step in plan(there)] == [str(step) for step in plan(normal)]


@pytest.mark.parametrize("piece", ["/", "a/", "%2F", ";type=", ";", "%FF", "!A", "@", "?", "a;type=d/"])
def test_huge_input_is_linear(piece: str) -> None:
    def use(size: int) -> None:
        text = "ftp://h/" + piece * (size // len(piece))
        there = URI(text).locator
        assert str(replace(there, written=None).uri()).startswith("ftp://h/")
        scheme("ftp").is_valid(text)
        URI(text).normalize(Rung.SCHEME)
        for name in ("url-1994", "rfc1738"):
            edition(name).locator(text)

    linear(use, LONG // 4)
