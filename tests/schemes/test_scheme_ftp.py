"""ftp: bytes, secrets, size."""

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


def test_invalid_utf_8_is_sent_unchanged() -> None:
    locator = URI("ftp://h/caf%E9/%C3%BC%80").locator
    assert isinstance(locator, FTPLocator)
    assert (locator.directories, locator.name) == (("caf\udce9",), "ü\udc80")
    assert sent(locator)[2:5] == [b"CWD caf\xe9\r\n", b"TYPE I\r\n", b"RETR \xc3\xbc\x80\r\n"]
    assert str(replace(locator, written=None).uri()) == "ftp://h/caf%E9/%C3%BC%80"
    assert locator.uri("url-1994") == "URL:ftp://h/caf%E9/%C3%BC%80"
    with pytest.raises(Unwritable, match="not in the charset latin-1"):
        FTPLocator(host="h", name="\u65e5", charset="latin-1").uri("url-1994")


@pytest.mark.parametrize("part", ["user", "password", "directories", "name"])
def test_every_byte_in_every_part(part: str) -> None:
    """RFC 959 5.3.2: any byte except those that end a command, and the separators of RFC 854 and of plans."""
    for octet in range(256):
        data = b"a%cb" % octet
        text = data.decode("utf-8", "surrogateescape")
        changed: dict[str, Any] = {part: (text,) if part == "directories" else text}
        locator = replace(FTPLocator(user="u", password="p", host="h", name="n"), **changed)
        for name in ("rfc3986", "rfc1738"):
            assert edition(name).locator(str(locator.uri(name))) == locator
        if octet in b"\r\n\t\0\xff":
            with pytest.raises(PlanRefused, match=part):
                plan(locator)
        else:
            assert [line for line in sent(locator) if line.endswith(b" " + data + b"\r\n")]
        assert edition("url-1994").locator(f"ftp://h/a%{octet:02X}b").uri("url-1994") == f"ftp://h/a%{octet:02X}b"


def test_a_password_is_requested_only_after_331() -> None:
    (password,) = (s for s in plan("ftp://u:p@h/a") if isinstance(s, Send) and s.data.startswith(b"PASS"))
    assert password.after == ("331",)  # RFC 959 5.4: no password after 230
    assert password.data == b"PASS p\r\n"
    assert "'***'" in repr(password) or "***" in repr(password)


def test_only_real_passwords_are_secret() -> None:
    """Not what anonymous FTP sends (RFC 1738 3.2.1)."""
    text = str(plan("ftp://u@h/a", Credentials(password="s3cr3t")))
    assert "s3cr3t" not in text
    assert "PASS ***" in text
    assert "PASS joe@example.org" in str(plan("ftp://h/a", Credentials(address="joe@example.org")))
    assert "PASS joe@example.org" in str(plan("ftp://anonymous@h/a", Credentials(address="joe@example.org")))
    assert "courtesy" in str(plan("ftp://h/a"))
    assert "ask the user for it" in str(plan("ftp://joe@h/a"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.txt", "A"), ("A.HTML", "A"), ("x.hqx", "A"), ("x.shar", "A"), ("a.tar", "I"), ("a.txt.Z", "I"), ("txt", "I"),
     (".txt", "I"), ("a.", "I"), ("a.txt;1", "I"), ("data:text/plain,a", "I"), ("x.js", "I")],
)  # fmt: skip
def test_the_type_is_guessed_by_the_suffix(name: str, kind: str) -> None:
    """RFC 1738 3.2.3, RFC 1635: the same on every machine."""
    assert guessed_type(name) == kind


def test_unwritable_locators_are_rejected() -> None:
    for wrong in (
        FTPLocator(host="h", directories=("a",)),  # a directory without a name: "/a/" has the name ""
        FTPLocator(host="h", password="p"),  # RFC 1738 3.1: no password without a user name
        FTPLocator(host="h/x", name="a"),
        FTPLocator(host="u@h", name="a"),
        FTPLocator(host="h", name="a", query="b#c"),
    ):
        with pytest.raises(Unwritable):
            wrong.uri()
    assert str(FTPLocator(host="h", name="a;type=d", type="i").uri()) == "ftp://h/a%3Btype=d;type=i"
    assert str(FTPLocator(host="h", name="a/b", directories=("", "..")).uri()) == "ftp://h//../a%2Fb"


def test_port_zero_is_not_the_default() -> None:
    with pytest.raises(PlanRefused, match="port"):
        plan("ftp://h:0/")


def test_normalization_preserves_the_meaning() -> None:
    for text in ("ftp://h/a;type=I", "ftp://h:21/%2F/a;TYPE=d", "ftp://u:p@h", "ftp://h/;%74YPE=A"):
        locator, normal = URI(text).locator, URI(text).normalize(Rung.SCHEME).locator
        assert [str(step) for step in plan(locator)] == [str(step) for step in plan(normal)]


@pytest.mark.parametrize("piece", ["/", "a/", "%2F", ";type=", ";", "%FF", "!A", "@", "?", "a;type=d/"])
def test_huge_input_is_linear(piece: str) -> None:
    def use(size: int) -> None:
        text = "ftp://h/" + piece * (size // len(piece))
        locator = URI(text).locator
        assert str(replace(locator, written=None).uri()).startswith("ftp://h/")
        scheme("ftp").is_valid(text)
        URI(text).normalize(Rung.SCHEME)
        for name in ("url-1994", "rfc1738"):
            edition(name).locator(text)

    linear(use, LONG // 4)
