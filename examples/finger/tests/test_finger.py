"""The scheme finger: the laws of overthere's suite, and what the draft prints and says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from overthere_finger import SCHEME, FingerLocator

from overthere import URI, InvalidURI, PlanRefused, Rung, Unwritable, plan
from overthere.access import Connect, Receive, Send
from overthere.testing import SchemeSuite


class TestFinger(SchemeSuite):
    scheme = SCHEME


REGISTRY = TestFinger().registry

# The draft, section 3, and the forms of RFC 1288 2.3: {Q1} [{W}|{W}{S}{U}]{C} and {Q2} [{W}{S}][{U}]{H}{C}.
READ = [
    ("finger://space.mit.edu/nasanews", FingerLocator("space.mit.edu", user="nasanews"), b"nasanews\r\n"),
    ("finger://status.nlak.net", FingerLocator("status.nlak.net"), b"\r\n"),
    ("finger://h/", FingerLocator("h", user=""), b"\r\n"),
    (
        "finger://host2.bigstate.edu/someuser@host1.bigstate.edu",
        FingerLocator("host2.bigstate.edu", user="someuser", through=("host1.bigstate.edu",)),
        b"someuser@host1.bigstate.edu\r\n",
    ),
    (
        "finger://host1.bigstate.edu/%2FW%20someuser",
        FingerLocator("host1.bigstate.edu", user="someuser", verbose=True),
        b"/W someuser\r\n",
    ),
    ("finger://h:1079/%2FW", FingerLocator("h", 1079, user="", verbose=True), b"/W\r\n"),
    ("finger://h/%2FW%20@a@b", FingerLocator("h", user="", verbose=True, through=("a", "b")), b"/W @a@b\r\n"),
    ("finger://h/a%40b", FingerLocator("h", user="a", through=("b",)), b"a@b\r\n"),
    # Octets that RFC 1288 does not foresee go as they are.
    ("finger://h/%2FWx", FingerLocator("h", user="/Wx"), b"/Wx\r\n"),
    ("finger://h/%2FW%20", FingerLocator("h", user="/W "), b"/W \r\n"),
    ("finger://h/%2FW%20%20a", FingerLocator("h", user=" a", verbose=True), b"/W  a\r\n"),
    ("finger://h/%2Fw%20a", FingerLocator("h", user="/w a"), b"/w a\r\n"),
    ("finger://h/a@", FingerLocator("h", user="a", through=("",)), b"a@\r\n"),
    ("finger://h/%FF", FingerLocator("h", user="\udcff"), b"\xff\r\n"),
    ("finger://h/a/b", FingerLocator("h", user="a/b"), b"a/b\r\n"),
]


@pytest.mark.parametrize(("text", "locator", "sent"), READ, ids=[text for text, _, _ in READ])
def test_reading_and_sending(text: str, locator: FingerLocator, sent: bytes) -> None:
    assert REGISTRY.locator(text) == locator
    first, send, last = plan(text, registry=REGISTRY)
    assert isinstance(first, Connect)
    assert (first.host, first.port) == (locator.host, locator.port or 79)
    assert isinstance(send, Send)
    assert send.data == sent
    assert isinstance(last, Receive)
    assert last.until == "close"


@pytest.mark.parametrize("text", [text for text, _, _ in READ])
def test_written_anew(text: str) -> None:
    again = str(replace(REGISTRY.locator(text), written=None).uri(registry=REGISTRY))
    assert again == {"finger://h/a%40b": "finger://h/a@b", "finger://h/a/b": "finger://h/a%2Fb"}.get(text, text)


@pytest.mark.parametrize("octets", ["%0D", "%0A", "%0D%0Aroot", "%00", "%09"])
def test_no_second_line_is_sent(octets: str) -> None:
    with pytest.raises(PlanRefused, match=r"user holds .* \(draft-ietf-uri-url-finger-03 4"):
        plan(f"finger://h/a{octets}", registry=REGISTRY)


@pytest.mark.parametrize(
    ("text", "why"),
    [("finger:h", '"//" and a host'), ("finger:/h/u", '"//" and a host'), ("finger://u@h/x", "no user")],
)
def test_what_cannot_be_read(text: str, why: str) -> None:
    with pytest.raises(InvalidURI, match=why):
        REGISTRY.locator(text)


def test_what_is_read_and_not_sent() -> None:
    with pytest.raises(PlanRefused, match="no query"):
        plan("finger://h/a?b", registry=REGISTRY)
    with pytest.raises(PlanRefused, match="no host"):
        plan("finger:///a", registry=REGISTRY)
    for port in ("0", "65536", "9" * 30):
        with pytest.raises(PlanRefused, match="not a valid port number"):
            plan(f"finger://h:{port}/a", registry=REGISTRY)


@pytest.mark.parametrize(
    "text", ["finger://h/%2FW/a", "finger:h", "finger://h:x/", "finger://u@h/", "finger://h/a?b", "http://h/"]
)
def test_by_the_letter_it_is_none(text: str) -> None:
    assert not SCHEME.is_valid(text)
    assert SCHEME.check(text)


def test_data_that_a_request_cannot_say() -> None:
    for said in (
        FingerLocator("h", user="a@b"),
        FingerLocator("h", user="/W a"),
        FingerLocator("h", verbose=True),
        FingerLocator("h", through=("b",)),
        FingerLocator("h", user="a", through=("b@c",)),
    ):
        with pytest.raises(Unwritable):
            said.uri(registry=REGISTRY)


def test_another_port_is_pointed_out() -> None:
    assert "port 25 may be another service" in str(plan("finger://h:25/a", registry=REGISTRY))
    assert "another service" not in str(plan("finger://h:79/a", registry=REGISTRY))


def test_normal_form() -> None:
    """As a value of the scheme, whether or not the package is installed."""
    from overthere.kernel.reference import split

    assert SCHEME.normalize(split("finger://h:79")) == split("finger://h/")
    assert SCHEME.normalize(split("finger://h:80/a")) == split("finger://h:80/a")
    assert URI("finger://H").normalize(Rung.SYNTAX) == URI("finger://h")


def test_a_long_request_is_read_in_linear_time() -> None:
    text = "finger://h/" + "%2FW%20@a" * 100_000
    locator = REGISTRY.locator(text)
    assert isinstance(locator, FingerLocator)
    assert len(locator.through) == 100_000
