"""Common schemes besides those of the five documents."""

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


def test_schemes_without_a_protocol() -> None:
    """A lost scheme is noticed."""
    coap = {"coap", "coaps", "coap+tcp", "coaps+tcp", "coap+ws", "coaps+ws"}
    names = {"ssh", "sftp", "sip", "sips", "ftps", "jdbc", "irc", "ircs", "git", "smb", "mqtt", "mqtts"}
    objects = {"s3", "s3a", "gs", "az", "abfs", "abfss"}
    assert set(UNSPOKEN) == coap | names | objects | {"rtsp", "rtsps", "rtspu"}


@pytest.mark.parametrize("name", UNSPOKEN)
def test_unsupported_schemes_name_their_protocol(name: str) -> None:
    text = scheme(name).examples[0].text
    with pytest.raises(NotSpecified, match=r"; a gateway may help \(RFC 7595 3\.4"):
        plan(text)
    result = plan(text, gateways=Gateways({name: "http://gw.example/?{uri}"}))
    assert any(isinstance(step, Send) for step in result)


@pytest.mark.parametrize("name", ["geo", "did", "blob", "view-source", "otpauth"])
def test_schemes_that_locate_nothing_say_why(name: str) -> None:
    result = plan(scheme(name).examples[0].text)
    assert not result.steps
    assert result.locates_nothing


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
def test_unwritable_locators_are_rejected(locator: Locator) -> None:
    with pytest.raises(Unwritable):
        locator.uri()


def test_delimiters_in_data_are_escaped() -> None:
    assert str(SSHLocator("a;b:c@d", "e:f", host="h").uri()) == "ssh://a%3Bb%3Ac%40d:e%3Af@h"
    assert str(SIPLocator("a@b", host="h", headers=(("subject", "a&b=c"),)).uri()) == "sip:a%40b@h?subject=a%26b%3Dc"
    assert str(IRCLocator(host="h", entity="#a,b\r\nQUIT").uri()) == "irc://h/%23a%2Cb%0D%0AQUIT"
    assert str(SMBLocator("D;", "u;", host="h").uri()) == "smb://D%3B;u%3B@h"
    uri = OTPAuthLocator("totp", "a?b", "A&B", (("issuer", "c&d=#"),), 1).uri()
    assert str(uri) == "otpauth://totp/a%3Fb?issuer=c%26d%3D%23&secret=A%26B"


def test_a_secret_is_not_shown() -> None:
    locator = URI("otpauth://totp/joe?secret=JBSWY3DP").locator
    assert isinstance(locator, OTPAuthLocator)
    assert locator.secret == "JBSWY3DP"
    assert "JBSWY3DP" not in f"{replace(locator, written=None)!r}{locator.to_dict()}"


def test_coordinates_keep_their_digits() -> None:
    """RFC 5870 3.4.2: latitude, longitude and altitude in WGS-84."""
    locator = URI("geo:1.50,-2.0,3").locator
    other = URI("geo:1,2,3;crs=nad83").locator
    assert isinstance(locator, GeoLocator)
    assert isinstance(other, GeoLocator)
    assert (str(locator.latitude), locator.longitude, locator.altitude) == ("1.50", Decimal(-2), Decimal(3))
    assert (other.latitude, other.longitude, other.altitude) == (None, None, None)
    assert (GeoLocator().latitude, GeoLocator().longitude, GeoLocator(("1",)).longitude) == (None, None, None)


@pytest.mark.parametrize("crs", ["", ";crs=nad83"])
def test_a_second_uncertainty_is_kept(crs: str) -> None:
    """RFC 5870 3.3 allows one, but the grammar reads a second as another parameter."""
    locator = URI(f"geo:1,2{crs};u=2;u=3").locator
    assert isinstance(locator, GeoLocator)
    assert (locator.u, locator.parameters) == ("2", (("u", "3"),))
    assert str(replace(locator, written=None).uri()) == f"geo:1,2{crs};u=2;u=3"


@pytest.mark.parametrize("text", ["geo:1.12345,1234", "geo:1234,1.1234"])
def test_the_place_of_too_many_degrees(text: str) -> None:
    with pytest.raises(InvalidURI) as caught:
        _ = URI(text).locator
    assert text[caught.value.finding.start : caught.value.finding.end].strip(",") == "1234"
    assert caught.value.finding.start == (11 if text.startswith("geo:1.") else 4)


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
def test_long_texts_are_linear(form: str, piece: str) -> None:
    def use(size: int) -> None:
        data = piece * (size // len(piece) // form.count("{}"))
        with suppress(InvalidURI):
            value = URI(form.replace("{}", data))
            value.normalize(Rung.SCHEME)
            value.locator.uri()

    linear(use, LONG)
