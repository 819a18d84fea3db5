"""telnet, rlogin, tn3270."""

from __future__ import annotations

import pickle
from contextlib import suppress
from dataclasses import replace

import pytest

from overthere import URI, Credentials, InvalidURI, NotSpecified, PlanRefused, Unwritable, plan, scheme
from overthere.access import Interact
from overthere.editions import edition
from overthere.schemes.known.telnet import TelnetLocator
from support import LONG, for_each_octet, linear

NAMES = ("telnet", "rlogin", "tn3270")

# Characters that are not in any host for a resolver or a terminal.
NO_HOST = bytes([*range(32), *range(127, 256)]) + b" /@:[]?#"


def session(text: str, credentials: Credentials | None = None) -> Interact:
    (step,) = plan(text, credentials)
    assert isinstance(step, Interact)
    return step


@pytest.mark.parametrize(("name", "port"), [("telnet", 23), ("rlogin", 513), ("tn3270", 23)])
def test_default_ports(name: str, port: int) -> None:
    """RFC 4248 2; RFC 1282; RFC 6270 2."""
    assert scheme(name).port == port
    assert session(f"{name}://h").port == port
    assert session(f"{name}://h:2323").port == 2323
    assert scheme(name).interactive


@pytest.mark.parametrize("name", NAMES)
def test_a_password_is_suggested_and_never_shown(name: str) -> None:
    result = plan(f"{name}://joe:s3cr3t@h")
    (step,) = result
    assert isinstance(step, Interact)
    assert step.password == "s3cr3t"
    for text in (str(result), repr(result), str(result.to_dict()), repr(step), repr(result.locator), step.line()):
        assert "s3cr3t" not in text


@pytest.mark.parametrize(
    ("text", "credentials", "user", "password"),
    [
        ("telnet://h", None, None, None),
        ("telnet://h", Credentials("joe", "x"), "joe", "x"),
        ("telnet://h", Credentials(None, "x"), None, "x"),
        ("telnet://joe@h", Credentials("joe", "x"), "joe", "x"),
        ("telnet://joe@h", Credentials(None, "x"), "joe", "x"),
        ("telnet://ann@h", Credentials("joe", "x"), "ann", None),
        ("telnet://ann:y@h", Credentials("joe", "x"), "ann", "y"),
        ("telnet://@h", Credentials("joe", "x"), "", None),
        ("telnet://:@h", None, "", ""),
    ],
)
def test_the_uri_takes_precedence(
    text: str, credentials: Credentials | None, user: str | None, password: str | None
) -> None:
    """RFC 4248 2: advisory; a password is used for its own user only."""
    step = session(text, credentials)
    assert (step.user, step.password) == (user, password)


@pytest.mark.parametrize("name", NAMES)
@for_each_octet
def test_every_byte_in_every_part(name: str, octet: int) -> None:
    escape = f"%{octet:02X}"
    text = f"{name}://u{escape}:p{escape}@h"
    locator = URI(text).locator
    assert isinstance(locator, TelnetLocator)
    fresh = replace(locator, written=None)
    assert URI(str(fresh.uri())).locator == locator
    data = bytes([octet]).decode("utf-8", "surrogateescape")
    assert (locator.user, locator.password) == (f"u{data}", f"p{data}")
    if octet in b"\r\n\t\0":
        with pytest.raises(PlanRefused):
            plan(text)
    else:
        assert session(text).user == f"u{data}"
    try:
        host = session(f"{name}://h{escape}x").host
    except PlanRefused:
        assert octet in NO_HOST
    else:
        assert host == f"h{data}x"
        assert octet not in NO_HOST


@pytest.mark.parametrize("name", ["url-1994", "rfc1738"])
@pytest.mark.parametrize("raw", ["\r\nX", "\n", "\0", "\t"])
@pytest.mark.parametrize("form", ["telnet://u{}@h", "telnet://u:p{}@h", "telnet://h{}x"])
def test_invalid_text_cannot_add_a_line(name: str, raw: str, form: str) -> None:
    with pytest.raises(PlanRefused):
        plan(edition(name).locator(form.format(raw)))


def test_unused_parts_are_reported() -> None:
    assert "is ignored" in session("telnet://h/a?b").note
    assert "is ignored" in session("telnet://h?").note
    assert session("telnet://h/").note == ""


@pytest.mark.parametrize("name", ["rlogin", "tn3270"])
def test_rfc_1738_does_not_define_rlogin_and_tn3270(name: str) -> None:
    """RFC 1738 4 reserves tn3270 and does not name rlogin."""
    assert "rfc1738" not in scheme(name).documents
    locator = edition("rfc1738").locator(f"{name}://h/")
    assert not isinstance(locator, TelnetLocator)
    with pytest.raises(NotSpecified):
        plan(locator)
    with pytest.raises(Unwritable, match=r"RFC 1738 has no scheme"):
        TelnetLocator(host="h", scheme=name).uri("rfc1738")


def test_each_scheme_has_its_locator() -> None:
    locators = [replace(URI(f"{name}://h").locator, written=None) for name in NAMES]
    assert len(set(locators)) == 3
    assert [str(locator.uri()) for locator in locators] == [f"{name}://h" for name in NAMES]
    assert [pickle.loads(pickle.dumps(locator)) for locator in locators] == locators


@pytest.mark.parametrize(
    "locator",
    [
        TelnetLocator(host="h/x"),
        TelnetLocator(host="u@h"),
        TelnetLocator(host="h", path="a b"),
        TelnetLocator(host="h", path="a?b"),
        TelnetLocator(host="h\r\n"),
        TelnetLocator(host="h:23"),
    ],
)
def test_unwritable_locators_are_rejected(locator: TelnetLocator) -> None:
    with pytest.raises(Unwritable):
        locator.uri()


@pytest.mark.parametrize("name", ["url-1994", "rfc1738", "rfc3986"])
@pytest.mark.parametrize("form", ["telnet://{}@h", "telnet://u:{}@h", "telnet://{}", "telnet://h/{}", "telnet://h:{}"])
@pytest.mark.parametrize("piece", ["a", "%41", ":", "@", "-"])
def test_long_texts_are_linear(name: str, form: str, piece: str) -> None:
    def use(size: int) -> None:
        with suppress(InvalidURI, PlanRefused):
            plan(edition(name).locator(form.format(piece * (size // len(piece)))))

    linear(use, LONG)
