"""Requests to ports of other protocols: a URI may only choose the first line (RFC 1738 6, RFC 3986 7.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product

import pytest
from click.testing import CliRunner

from overthere import Gateways, Registry, edition, plan
from overthere.access.errors import AccessRefused
from overthere.access.framing import line_end
from overthere.access.opening import Opening
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Interact, Send, Step
from overthere.cli.app import app
from overthere.ground.errors import OverthereError
from overthere.schemes.known.gopher import GopherLocator
from overthere.schemes.known.wais import WAISLocator
from overthere.schemes.model import Access, Scheme
from overthere.schemes.registry import BUILT_IN

REGISTRY = Registry.default()
SAFE = Policy()


def judged(uri: object, policy: Policy = SAFE) -> tuple[Step, ...]:
    """The steps of a plan that the policy allows; nothing is connected."""
    opening = Opening(uri, policy, None, REGISTRY, Gateways())  # type: ignore[arg-type]
    opening.dialogue(opening.scheme())
    return opening.plan.done.steps


def refused(uri: object, policy: Policy = SAFE) -> AccessRefused:
    with pytest.raises(AccessRefused) as caught:
        judged(uri, policy)
    assert caught.value.rule == "octets"
    assert caught.value.source == "RFC 3986 7.2, RFC 1738 6"
    return caught.value


# -- what ends a line


def test_characters_that_end_a_line() -> None:
    """Control characters that end a line in some program or language, and all line ends of Unicode."""
    ends = {octet for octet in range(256) if line_end(b"a" + bytes([octet]) + b"b")}
    assert ends == {0, 10, 11, 12, 13, 0x1C, 0x1D, 0x1E, 0x85}
    assert {chr(point) for point in range(0x10000) if len(f"a{chr(point)}b".splitlines()) > 1} | {"\0"} == {
        chr(point) for point in range(0x10000) if not 0xD800 <= point < 0xE000 and line_end(f"a{chr(point)}b".encode())
    }
    # The byte 85 in characters that do not end a line: o with a tilde, kha, the ellipsis of CJK.
    for text in ("\u00c5", "\u0445", "\u5945", "\U00010145"):
        assert b"\x85" in text.encode()
        assert line_end(text.encode()) is None
    assert line_end(b"one\r\n") is line_end(b"one\n") is line_end(b"") is None
    for twice in (b"one\r\n\r\n", b"one\n\n", b"one\r\r\n", b"one\r", b"\r\none"):
        assert line_end(twice)


# -- rows by protocol: sent to its own port, rejected at another

OPENED = [
    # One line, in the format of the protocol.
    "gopher://h.example:7070/0a",
    "gopher://h.example:7070/7a%09words",
    "gopher://h.example:7070/0a%09%09!%2BVIEWS",
    "gopher://h.example:7070/0%D1%85",
    "http://h.example:8080/a%0D%0Ab?c%00",
    "https://h.example:8443/a",
    "ws://h.example:8080/a",
    "wss://h.example:8443/a",
    "ftp://joe:pw@h.example:2121/a/b;type=i",
    "news://h.example:8119/a@b",
    "nntp://h.example:8119/g/1",
    "telnet://joe@h.example:2323/",
    "rlogin://joe@h.example:5130/",
    "tn3270://joe@h.example:2323/",
    # Datagrams with lines of Prospero only.
    "prospero://h.example:1526/a%20b",
]
REFUSED = [
    ("gopher://h.example:{}/0a%0B", 70, 7070, "U+000B"),
    ("gopher://h.example:{}/0a%0C", 70, 7070, "U+000C"),
    ("gopher://h.example:{}/0a%1C", 70, 7070, "U+001C"),
    ("gopher://h.example:{}/0a%1D", 70, 7070, "U+001D"),
    ("gopher://h.example:{}/0a%1E", 70, 7070, "U+001E"),
    ("gopher://h.example:{}/0a%85", 70, 7070, "the octet %85"),
    ("gopher://h.example:{}/0a%C2%85", 70, 7070, "U+0085"),
    ("gopher://h.example:{}/0a%E2%80%A8", 70, 7070, "U+2028"),
    ("gopher://h.example:{}/0a%E2%80%A9", 70, 7070, "U+2029"),
    ("gopher://h.example:{}/7a%09w%0Bb", 70, 7070, "U+000B"),
    ("gopher://h.example:{}/0a%09%09%2B%091%0D%0A%2B-1%0D%0AFLUSHALL%0D%0A.%0D%0A", 70, 6379, "4 lines"),
    ("ftp://h.example:{}/a%0Bb", 21, 2121, "U+000B"),
    ("ftp://h.example:{}/a%85/b", 21, 2121, "the octet %85"),
    ("ftp://jo%0Ce@h.example:{}/a", 21, 2121, "U+000C"),
    ("nntp://h.example:{}/a%C2%85b", 119, 8119, "U+0085"),
    ("news://jo%0Be@h.example:{}/g", 119, 8119, "U+000B"),
    # Length-prefixed bytes: the length 10 itself is a line feed, and so is the next byte in LDAP.
    ("ldap://h.example:{}/flush_all%20", 389, 11211, "octets that a line-based protocol"),
    ("ldap://h.example:{}/o=x", 389, 3389, "octets that a line-based protocol"),
    ("ldaps://h.example:{}/o=x", 636, 6360, "octets that a line-based protocol"),
    ("wais://h.example:{}/db?flush_all%20", 210, 11211, "octets that a line-based protocol"),
    ("wais://h.example:{}/db", 210, 2100, "octets that a line-based protocol"),
    ("telnet://jo%0Be@h.example:{}/", 23, 2323, "the user name has U+000B"),
    ("rlogin://jo%0Ce@h.example:{}/", 513, 5130, "the user name has U+000C"),
    ("prospero://h.example:{}/a%0Bb", 1525, 1526, "U+000B"),
]


@pytest.mark.parametrize("uri", OPENED)
def test_harmless_requests_may_go_to_any_port(uri: str) -> None:
    assert judged(uri)
    assert plan(uri).cautions == ()


@pytest.mark.parametrize(("uri", "port", "foreign", "reason"), REFUSED)
def test_requests_with_lines_go_to_their_own_port_only(uri: str, port: int, foreign: int, reason: str) -> None:
    target = uri.format(foreign)
    error = refused(target)
    scheme = target.partition(":")[0]
    assert error.message.startswith(f"port {foreign} is not that of {scheme}, and would be sent {reason}")
    assert error.message.endswith(f"it takes ('{scheme}', {foreign}) in Policy.spoken")
    # Sent to its own port, where the protocol is expected, and for the caller's own URIs.
    assert judged(uri.format(port))
    assert judged(target, Policy(spoken=frozenset({(scheme, foreign)})))
    assert judged(target, Policy.local())
    for other in (("http", foreign), (scheme, foreign + 1)):
        refused(target, Policy(spoken=frozenset({other})))
    # An allowed port does not mean that the protocol is spoken there.
    refused(target, Policy(ports=frozenset({foreign})))


def test_a_document_id_of_wais_may_contain_line_ends() -> None:
    """Length-prefixed bytes, which RFC 1738 3.9 puts into a URL unchanged."""
    docid = b"\x03\x0c\r\nFLUSHALL\r\n"
    locator = WAISLocator("h.example", 6379, "db", wtype="TEXT", wpath=docid)
    assert any(b"\r\nFLUSHALL\r\n" in step.data for step in plan(locator).steps if isinstance(step, Send))
    assert "octets that a line-based protocol" in refused(locator).message
    assert judged(WAISLocator("h.example", 210, "db", wtype="TEXT", wpath=docid))


def test_a_filled_form() -> None:
    assert judged(GopherLocator("h.example", 70, "0", b"x").filled("Tim"))
    refused(GopherLocator("h.example", 6379, "0", b"x").filled("FLUSHALL"))


def test_ldap_cannot_send_lines_chosen_by_a_uri() -> None:
    """Lengths are not enough: the length 10 is a line feed, and so is the tag after it."""
    [sought] = [step.data for step in plan("ldap://h:11211/flush_all%20").steps if isinstance(step, Send)][1:2]
    assert b"flush_all " in sought.split(b"\n")


def test_a_redirect_of_a_public_server_is_untrusted() -> None:
    from overthere.access.wire import Head

    opening = Opening("gopher://h.example/0x", Policy.local(), None, REGISTRY, Gateways())
    opening.follow(Head(location="gopher://h.example:6379/0x%0B"), (2, ("11.0.0.1", 70)))
    with pytest.raises(AccessRefused, match="port 6379 is not that of gopher"):
        opening.dialogue(opening.scheme())


def test_a_gateway_gets_lines_of_its_own_protocol() -> None:
    gateways = Gateways({"xmpp": "gopher://g.example:7070/0{+path}"})
    opening = Opening("xmpp://h/x%0By", SAFE, None, REGISTRY, gateways)
    with pytest.raises(AccessRefused, match="port 7070 is not that of gopher"):
        opening.dialogue(opening.scheme())
    assert opening.plan.cautions


def test_a_custom_scheme_declares_its_number_of_lines() -> None:
    def scheme(lines: int) -> Scheme:
        def steps(locator: object, credentials: object) -> Iterator[Step]:
            yield Connect(source="x", host="h.example", port=7979)
            yield Send(source="x", data=b"HELLO\r\nGET a\r\n", lines=lines)

        return Scheme(name="x-two", title="x", documents={"rfc3986": "x"}, access=Access(steps), port=79)

    registry = REGISTRY.with_(scheme(1))
    opening = Opening("x-two:a", SAFE, None, registry, Gateways())
    with pytest.raises(AccessRefused, match="2 lines instead of 1"):
        opening.dialogue(opening.scheme())
    opening = Opening("x-two:a", SAFE, None, REGISTRY.with_(scheme(2)), Gateways())
    assert opening.dialogue(opening.scheme())


def test_the_plan_shows_the_rejection() -> None:
    uri = "gopher://h.example:6379/0a%09%09%2B%091%0D%0A%2B-1%0D%0AFLUSHALL%0D%0A.%0D%0A"
    result = CliRunner().invoke(app, ["plan", uri])
    assert result.exit_code == 0
    assert "the safe policy refuses it: port 6379 is not that of gopher" in re.sub(r"\s+", " ", result.stdout)
    data = json.loads(CliRunner().invoke(app, ["plan", "--format", "jsonl", uri]).stdout)
    assert data["cautions"] == list(plan(uri).cautions)
    assert "cautions" not in json.loads(CliRunner().invoke(app, ["plan", "--format", "jsonl", "gopher://h/0a"]).stdout)


# -- the law: all schemes, every place of a URI, every escape that may end a line

ESCAPES = [
    "%0D%0A",
    "%0A",
    "%0D",
    "%00",
    "%09",
    "%0B",
    "%0C",
    "%1C",
    "%1D",
    "%1E",
    "%85",
    "%C2%85",
    "%E2%80%A8",
    "%E2%80%A9",
    "%250A",
    "%C0%8A",
    "%E5%98%8A",
    "%FF",
]
PLACES = [
    "{s}://h.example:6379/{x}",
    "{s}://h.example:6379/0a{x}",
    "{s}://h.example:6379/7a%09b{x}",
    "{s}://h.example:6379/0a%09%09%2B{x}",
    "{s}://h.example:6379/0a%09%09%2B%091%0D%0A%2B-1{x}%0D%0A.%0D%0A",
    "{s}://h.example:6379/db?a{x}",
    "{s}://h.example:6379/db/TEXT/1=a{x}%3B",
    "{s}://h.example:6379/db/TEXT/%03%0A{x}",
    "{s}://h.example:6379/a/b{x}/c;type=i",
    "{s}://h.example:6379/o=x{x}?cn{x}?sub?(cn=a{x})",
    "{s}://h.example:6379/o=x??sub?(cn=a{x})?bindname=cn=a{x}",
    "{s}://h.example:6379/g{x}/1",
    "{s}://h.example:6379/a{x}@b",
    "{s}://jo{x}e:p{x}w@h.example:6379/a",
    "{s}://h.example:6379/a#b{x}",
    "{s}://h{x}:6379/a",
    "{s}:a{x}@h.example?subject=b{x}&body=c{x}",
    "{s}:a{x}",
]
MARK = "FLUSHALL"
# More line ends than the rule has: anything that may be read as one.
PARTED = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]+|\xc2\x85|\xe2\x80[\xa8\xa9]|(?<![\xc2-\xf4\x80-\xbf])\x85")


def beginnings(steps: tuple[Step, ...]) -> Iterator[bytes]:
    """The texts after anything that may end a line, in all that is sent or passed to a program."""
    for step in steps:
        if isinstance(step, Send):
            yield from PARTED.split(step.data)[1:]
        elif isinstance(step, Interact):
            yield from PARTED.split((step.user or "").encode("utf-8", "surrogateescape"))[1:]


@pytest.mark.parametrize("scheme", BUILT_IN)
def test_a_uri_chooses_at_most_the_first_line(scheme: str) -> None:
    tried = 0
    for place, escape, name in product(PLACES, ESCAPES, ("rfc3986", "rfc1738")):
        text = place.format(s=scheme, x=escape + MARK)
        try:
            locator = edition(name).locator(text)
            steps = judged(locator)
        except OverthereError:
            continue
        tried += 1
        for beginning in beginnings(steps):
            assert not beginning.startswith(MARK.encode()), (text, name, steps)
    # Something was sent, unless all goes to the protocol's own port or nothing is sent.
    known_scheme = REGISTRY.scheme(scheme)
    assert tried or scheme in {"wais", "ldap", "ldaps"} or known_scheme.unspoken or known_scheme.port is None


def test_the_law_finds_violations() -> None:
    """A policy without this check sends such lines."""
    gaps = set()
    for scheme, place, escape in product(("gopher", "wais", "ldap", "ftp"), PLACES, ESCAPES):
        try:
            steps = judged(place.format(s=scheme, x=escape + MARK), Policy.local())
        except OverthereError:
            continue
        if any(beginning.startswith(MARK.encode()) for beginning in beginnings(steps)):
            gaps.add(scheme)
    assert gaps == {"gopher", "wais", "ldap", "ftp"}
