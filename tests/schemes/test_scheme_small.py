"""tag, about, and the reserved names."""

from __future__ import annotations

import datetime
import pickle
from contextlib import suppress
from dataclasses import replace

import pytest

from overthere import URI, InvalidURI, Unwritable, plan, scheme
from overthere.access import Content, Gateways, Place, Send
from overthere.schemes import GenericLocator
from overthere.schemes.known.about import AboutLocator
from overthere.schemes.known.tag import TagDate, TagLocator
from support import LONG, for_each_octet, linear

RESERVED = ("nfs", "mailserver", "z39.50")


# -- tag (RFC 4151)


@pytest.mark.parametrize(
    ("date", "text", "first"),
    [
        (TagDate(2001), "2001", datetime.date(2001, 1, 1)),
        (TagDate(2004, 5), "2004-05", datetime.date(2004, 5, 1)),
        (TagDate(2001, 9, 15), "2001-09-15", datetime.date(2001, 9, 15)),
    ],
)
def test_a_date_may_be_shortened(date: TagDate, text: str, first: datetime.date) -> None:
    """RFC 4151 2.1."""
    assert str(date) == text
    assert date.first_day == first


@pytest.mark.parametrize("date", [TagDate(2001, 13), TagDate(2001, 2, 30), TagDate(0), TagDate(2001, 0, 1)])
def test_an_impossible_date_has_no_first_day(date: TagDate) -> None:
    with pytest.raises(ValueError, match=r"out of range|must be in"):
        _ = date.first_day


def test_the_tagging_entity() -> None:
    mail, name = URI("tag:sandro@w3.org,2004-05:Sandro").locator, URI("tag:yaml.org,2002:int").locator
    assert isinstance(mail, TagLocator)
    assert isinstance(name, TagLocator)
    assert (mail.email_address, mail.dns_name) == ("sandro@w3.org", None)
    assert (name.email_address, name.dns_name) == (None, "yaml.org")


def test_tags_are_compared_character_by_character() -> None:
    """RFC 4151 2.4."""
    texts = [
        "tag:a.example,2001:x",
        "tag:a.example,2001-01:x",
        "tag:a.example,2001-01-01:x",
        "tag:A.example,2001:x",
        "tag:a.example,2001:X",
        "tag:a.example,2001:%78",
        "tag:a.example,2001:x?",
        "tag:a.example,2001:x#",
    ]
    assert len({replace(URI(text).locator, written=None) for text in texts}) == len(texts)
    assert len({URI(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    "locator",
    [
        TagLocator("a,2001:b", TagDate(2001)),
        TagLocator("a", TagDate(2001), "x y"),
        TagLocator("a", TagDate(2001), "x#y"),
        TagLocator("a", TagDate(10000)),
        TagLocator("a", TagDate(2001, 100)),
        TagLocator("a", TagDate(2001, None, 1), ""),
        TagLocator("a", TagDate(2001), query="q"),
        TagLocator("a\r\nb", TagDate(2001)),
    ],
)
def test_unwritable_tags_are_rejected(locator: TagLocator) -> None:
    with pytest.raises(Unwritable):
        locator.uri()


def test_a_tag_locates_nothing() -> None:
    result = plan("tag:yaml.org,2002:int")
    assert not result.steps
    assert "RFC 4151" in result.locates_nothing


# -- about (RFC 6694)


@for_each_octet
def test_every_byte_in_a_token(octet: int) -> None:
    locator = URI(f"about:a%{octet:02X}b?c%{octet:02X}").locator
    assert isinstance(locator, AboutLocator)
    assert locator.token == "a" + bytes([octet]).decode("utf-8", "surrogateescape") + "b"
    assert URI(str(replace(locator, written=None).uri())).locator == locator
    (step,) = plan(locator)
    assert isinstance(step, Place)
    assert not set("\r\n\0") & set(step.line())


def test_a_blank_page_has_no_content() -> None:
    """RFC 6694 3; the document does not name a media type."""
    (step,) = plan("about:blank")
    assert step == Content(
        source="RFC 6694 3", media_type="text/html", note="a blank page; its media type is not specified"
    )


@pytest.mark.parametrize("text", ["about://", "about:///blank", "about://h/blank"])
def test_about_has_no_authority(text: str) -> None:
    with pytest.raises(InvalidURI):
        _ = URI(text).locator


# -- the reserved names (RFC 1738 4)


@pytest.mark.parametrize("name", RESERVED)
def test_a_reserved_name_is_known_and_has_no_syntax(name: str) -> None:
    kind = scheme(name)
    assert kind.known
    assert kind.registration is not None
    assert not kind.syntax
    assert not kind.rules
    assert not kind.normal
    assert kind.port is None
    assert kind.documents["rfc1738"] == "RFC 1738 4 (reserved)"
    assert "RFC 1738 4 reserves the name" in kind.locates_nothing
    assert isinstance(URI(f"{name}:x").locator, GenericLocator)


@pytest.mark.parametrize(
    ("name", "status"), [("nfs", "Permanent"), ("mailserver", "Historical"), ("z39.50", "Historical")]
)
def test_a_reserved_name_shows_its_iana_status(name: str, status: str) -> None:
    assert scheme(name).status == status


@pytest.mark.parametrize("name", RESERVED)
def test_a_gateway_may_serve_a_reserved_name(name: str) -> None:
    """RFC 1738 4: "specific gateway locators for indirect access through new naming schemes"."""
    result = plan(f"{name}://h/x", gateways=Gateways({name: "http://gw.example/?{uri}"}))
    assert any(isinstance(step, Send) for step in result)
    assert result.through is not None


# -- all of them


@pytest.mark.parametrize("text", ["tag:a.example,2001:x", "about:a?b", "nfs://h/x", "mailserver:x", "z39.50://h"])
def test_locators_are_values(text: str) -> None:
    locator = URI(text).locator
    assert pickle.loads(pickle.dumps(locator)) == locator
    assert {locator: 1}[replace(locator, written=None)] == 1


@pytest.mark.parametrize("form", ["tag:a,2001:{}", "tag:{},2001:x", "tag:{}", "about:{}", "nfs:{}", "z39.50://{}"])
@pytest.mark.parametrize("piece", ["a", ",", "%41", "/", ":", ",2001"])
def test_long_texts_are_linear(form: str, piece: str) -> None:
    def use(size: int) -> None:
        with suppress(InvalidURI):
            plan(form.format(piece * (size // len(piece))))

    linear(use, LONG)
