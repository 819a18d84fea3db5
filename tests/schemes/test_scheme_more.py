"""Schemes that people meet beside those of the documents followed: what the case rows cannot say."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from uuid import UUID

import pytest

from overthere import URI, InvalidURI, NotSpecified, Rung, Unwritable, plan, scheme
from overthere.access import Gateways, Send
from overthere.schemes import Locator
from overthere.schemes.known.blob import BlobLocator
from overthere.schemes.known.coap import CoAPLocator
from overthere.schemes.known.geo import GeoLocator
from overthere.schemes.known.inner import JDBCLocator
from overthere.schemes.known.irc import IRCLocator
from overthere.schemes.known.mqtt import MQTTLocator
from overthere.schemes.known.otpauth import OTPAuthLocator
from overthere.schemes.known.sip import SIPLocator
from overthere.schemes.known.smb import SMBLocator
from overthere.schemes.known.ssh import SFTPLocator, SSHLocator
from overthere.schemes.known.urn import URNLocator
from overthere.schemes.registry import BUILT_IN
from support import LONG, linear

UNSPOKEN = [name for name in BUILT_IN if scheme(name).unspoken]


def test_which_are_not_spoken() -> None:
    """A scheme that gets lost is missed."""
    coap = {"coap", "coaps", "coap+tcp", "coaps+tcp", "coap+ws", "coaps+ws"}
    others = {"ssh", "sftp", "sip", "sips", "ftps", "jdbc", "irc", "ircs", "git", "smb", "mqtt", "mqtts"}
    objects = {"s3", "s3a", "gs", "az", "abfs", "abfss"}
    assert set(UNSPOKEN) == coap | others | objects | {"rtsp", "rtsps", "rtspu"}


@pytest.mark.parametrize("name", UNSPOKEN)
def test_what_is_not_spoken_says_which_protocol(name: str) -> None:
    text = scheme(name).examples[0].text
    with pytest.raises(NotSpecified, match=r"; a gateway may help \(RFC 7595 3\.4"):
        plan(text)
    found = plan(text, gateways=Gateways({name: "http://gw.example/?{uri}"}))
    assert any(isinstance(step, Send) for step in found)


@pytest.mark.parametrize("name", ["geo", "did", "blob", "view-source", "otpauth"])
def test_what_locates_nothing_says_why(name: str) -> None:
    found = plan(scheme(name).examples[0].text)
    assert not found.steps
    assert found.locates_nothing


@pytest.mark.parametrize(
    "locator",
    [
        SSHLocator(host="h", parameters=(("a b", "c"),)),
        SSHLocator(host="h", path="no-slash"),
        SSHLocator(host=""),
        SFTPLocator(host="h", type="x"),
        SFTPLocator(host="h", path="/a;type=i"),
        SIPLocator("alice", host="h@x"),
        SIPLocator(host="h", headers=()),
        SIPLocator(host="h", parameters=(("", "x"),)),
        SIPLocator("//alice", host="h", query="x"),
        GeoLocator(("1", "x")),
        GeoLocator(("1",)),
        GeoLocator(("1", "2"), parameters=(("crs", "x"),)),
        URNLocator("uuid", "a", query="b"),
        BlobLocator("null", "a/b"),
        JDBCLocator("sqlite"),
        IRCLocator(host="h", flags=("isuser",)),
        SMBLocator(host="h", path="x"),
        OTPAuthLocator("totp", "joe"),
        OTPAuthLocator("totp", "joe", "A", place=3),
        CoAPLocator(host="h", path="//x", query="#"),
    ],
)
def test_what_no_uri_says(locator: Locator) -> None:
    with pytest.raises(Unwritable):
        locator.uri()


def test_data_that_would_delimit_is_escaped() -> None:
    assert str(SSHLocator("a;b:c@d", "e:f", host="h").uri()) == "ssh://a%3Bb%3Ac%40d:e%3Af@h"
    assert str(SIPLocator("a@b", host="h", headers=(("subject", "a&b=c"),)).uri()) == "sip:a%40b@h?subject=a%26b%3Dc"
    assert str(IRCLocator(host="h", entity="#a,b\r\nQUIT").uri()) == "irc://h/%23a%2Cb%0D%0AQUIT"
    assert str(SMBLocator("D;", "u;", host="h").uri()) == "smb://D%3B;u%3B@h"
    written = OTPAuthLocator("totp", "a?b", "A&B", (("issuer", "c&d=#"),), 1).uri()
    assert str(written) == "otpauth://totp/a%3Fb?issuer=c%26d%3D%23&secret=A%26B"


def test_a_secret_is_not_shown() -> None:
    there = URI("otpauth://totp/joe?secret=JBSWY3DP").locator
    assert isinstance(there, OTPAuthLocator)
    assert there.secret == "JBSWY3DP"
    assert "JBSWY3DP" not in f"{replace(there, written=None)!r}{there.to_dict()}"


def test_numbers_of_a_place_keep_their_digits() -> None:
    """RFC 5870 3.4.2: latitude, longitude and altitude are those of WGS-84."""
    there = URI("geo:1.50,-2.0,3").locator
    other = URI("geo:1,2,3;crs=nad83").locator
    assert isinstance(there, GeoLocator)
    assert isinstance(other, GeoLocator)
    assert (str(there.latitude), there.longitude, there.altitude) == ("1.50", Decimal(-2), Decimal(3))
    assert (other.latitude, other.longitude, other.altitude) == (None, None, None)


def test_names_as_values() -> None:
    """RFC 9562 4 and RFC 3061 2."""
    assert URNLocator("UUID", "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6").uuid == UUID(
        int=0xF81D4FAE7DEC11D0A76500A0C91E6BF6
    )
    assert URNLocator("example", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6").uuid is None
    assert URNLocator("uuid", "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}").uuid is None
    assert (URNLocator("oid", "2.999.0").oid, URNLocator("oid", "1.").oid) == ((2, 999, 0), None)
    assert URNLocator("oid", "1" * 5000).oid is None


def test_a_topic_and_options() -> None:
    topic, none = URI("mqtt://h/a%2Fb/c").locator, URI("mqtt://h/").locator
    assert isinstance(topic, MQTTLocator)
    assert isinstance(none, MQTTLocator)
    assert (topic.topic, none.topic) == ("a/b/c", None)
    root = URI("coap://h/?%20").locator
    assert isinstance(root, CoAPLocator)
    assert (root.uri_path, root.uri_query) == ((), (" ",))


FORMS = (
    *("ssh://{}@h", "sftp://h/{}", "sip:{}@h", "sip:h;{}?{}=", "geo:{}", "geo:1,2;{}", "did:a:{}", "urn:uuid:{}"),
    *("urn:oid:{}", "blob:{}", "jdbc:{}:x", "view-source:http:{}", "irc://h/{}", "smb://{}@h/{}", "coap://h/{}?{}"),
    *("otpauth://totp/{}?secret=A&{}", "mqtt://h/{}", "git://h/{}", "rtsp://h/{}"),
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("piece", ["a=b;", "%21,", "0.", "/:", "&@"])
def test_long_texts_take_linear_time(form: str, piece: str) -> None:
    def use(size: int) -> None:
        data = piece * (size // len(piece) // form.count("{}"))
        with suppress(InvalidURI):
            value = URI(form.replace("{}", data))
            value.normalize(Rung.SCHEME)
            value.locator.uri()

    linear(use, LONG)
