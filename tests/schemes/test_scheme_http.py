"""http, https, ws, wss: targets, origins, plans."""

from __future__ import annotations

import base64
import os
import pickle
import re
from dataclasses import replace

import pytest

from overthere import URI, InvalidURI, NotSpecified, PlanRefused, Rung, Unwritable, plan
from overthere.access import Connect, Send
from overthere.editions import edition
from overthere.protocols.websocket.steps import SendKey, accept
from overthere.schemes.known.http import HTTPLocator, Origin
from support import LONG, for_each_octet, linear

# Characters that are not in any host for a resolver or a terminal.
NO_HOST = bytes([*range(32), *range(127, 256)]) + b" /@:[]?#"


def locator_of(text: str) -> HTTPLocator:
    locator = URI(text).locator
    assert isinstance(locator, HTTPLocator)
    return locator


def sent(locator: HTTPLocator) -> bytes:
    return b"".join(step.data for step in plan(locator) if isinstance(step, Send))


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("http://h", "/"),
        ("http://h?", "/?"),
        ("http://h/?", "/?"),
        ("http://h#f", "/"),
        ("http://h//a;b/%2F?c?d/e#f", "//a;b/%2F?c?d/e"),
        ("ws://h", "/"),
        ("ws://h?", "/"),
        ("wss://h/a?", "/a"),
        ("wss://h/a?b", "/a?b"),
    ],
)
def test_request_targets(text: str, target: str) -> None:
    """RFC 7230 5.3.1; RFC 6455 3 omits an empty query."""
    assert locator_of(text).target == target


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("http://h", ()),
        ("http://h/", ("",)),
        ("http://h//a%2Fb/", ("", "a/b", "")),
        ("http://h/%C3%BC;x=%26", ("ü;x=&",)),
        ("http://h/%FF", ("\udcff",)),
    ],
)
def test_segments(text: str, segments: tuple[str, ...]) -> None:
    assert locator_of(text).segments == segments


def test_search_words() -> None:
    """1994 BNF: search = xalphas [ + search ]."""
    assert locator_of("http://h/").words == ()
    assert locator_of("http://h/?").words == ("",)
    assert locator_of("http://h/?a+b%2Bc++%20").words == ("a", "b+c", "", " ")


@pytest.mark.parametrize(
    ("text", "origin", "expected"),
    [
        ("https://Example.Com/happy.js", ("https", "example.com", 443), "https://example.com"),
        ("http://h:00080/", ("http", "h", 80), "http://h"),
        ("http://h:/", ("http", "h", 80), "http://h"),
        ("https://h:80/", ("https", "h", 80), "https://h:80"),
        ("ws://[2001:DB8::7]", ("ws", "[2001:db8::7]", 80), "ws://[2001:db8::7]"),
        ("wss://u@H", ("wss", "h", 443), "wss://h"),
    ],
)
def test_origins(text: str, origin: tuple[str, str, int], expected: str) -> None:
    """RFC 9110 4.3.1; RFC 6454 4 and 6.2."""
    assert locator_of(text).origin == Origin(*origin)
    assert str(locator_of(text).origin) == expected


def test_origins_of_rfc_6454_3_2_1() -> None:
    same = ["http://example.com/", "http://example.com:80/", "http://example.com/path/file"]
    assert len({locator_of(text).origin for text in same}) == 1
    different = [
        "http://example.com/",
        "http://example.com:8080/",
        "http://www.example.com/",
        "https://example.com:80/",
        "https://example.com/",
        "http://example.org/",
        "http://ietf.org/",
    ]
    assert len({locator_of(text).origin for text in different}) == len(different)


def test_only_ascii_letters_of_a_host_are_lowercased() -> None:
    """RFC 6454 4: i;ascii-casemap."""
    assert HTTPLocator(host="\u212aELVIN.\u0130").origin.host == "\u212aelvin.\u0130"


@pytest.mark.parametrize("name", ["url-1997", "uri-2003"])
@pytest.mark.parametrize("text", ["http://h:80x/", "http://h:-1/", "http://h: 80/", "http://h:\u0661/"])
def test_an_invalid_port_is_not_the_default(name: str, text: str) -> None:
    """RFC 3986 3.2.3; the generic drafts treat such an authority as a name."""
    with pytest.raises(InvalidURI, match="a port of digits"):
        edition(name).locator(text)


def test_a_too_large_port() -> None:
    with pytest.raises(InvalidURI, match="a port of digits"):
        _ = URI("http://h:" + "9" * 100_000).locator
    with pytest.raises(PlanRefused, match="not a valid port number"):
        plan("https://h:65536/")
    assert [s.port for s in plan("https://h:65535/") if isinstance(s, Connect)] == [65535]


@pytest.mark.parametrize("scheme", ["http", "https", "ws", "wss"])
@for_each_octet
def test_every_byte_in_every_part(scheme: str, octet: int) -> None:
    """An escaped byte is sent escaped or not at all; userinfo is never sent."""
    escape = f"%{octet:02X}"
    locator = locator_of(f"{scheme}://h/a{escape}b?c{escape}d")
    assert f"GET /a{escape}b?c{escape}d HTTP/1.1\r\n".encode() in sent(locator)
    assert locator_of(str(replace(locator, written=None).uri())) == locator
    for part in (f"u{escape}@", f":p{escape}@"):
        inside = locator_of(f"{scheme}://{part}h/")
        assert locator_of(str(replace(inside, written=None).uri())) == inside
        with pytest.raises(PlanRefused, match="userinfo"):
            plan(inside)
    try:
        octets = sent(locator_of(f"{scheme}://h{escape}x/"))
    except PlanRefused:
        assert octet in NO_HOST
    else:
        assert f"Host: h{escape}x\r\n".encode() in octets
        assert octet not in NO_HOST


@pytest.mark.parametrize("name", ["url-1994", "rfc1738", "url-1997", "uri-2003"])
@pytest.mark.parametrize(
    "raw", ["\r\nX: y", "\n", "\r", "\0", "\t", " HTTP/1.0\r\n\r\n", "\x7f", "\x85", "\u2028", "\udcff"]
)
@pytest.mark.parametrize("form", ["http://h/a{}b", "http://h/?q{}r", "http://h{}x/", "http://h:80{}/", "http://u{}@h/"])
def test_invalid_text_cannot_add_a_line_to_a_request(name: str, raw: str, form: str) -> None:
    try:
        octets = sent(edition(name).locator(form.format(raw)))  # type: ignore[arg-type]
    except (InvalidURI, PlanRefused):
        return
    assert octets.count(b"\r\n") == 5
    assert octets.count(b"\r") == octets.count(b"\n") == 5
    assert re.match(rb"GET [!-~]+ HTTP/1\.1\r\nHost: h\r\n", octets)


@pytest.mark.parametrize(
    "locator",
    [
        HTTPLocator(host="h", path="x"),
        HTTPLocator(host="h", path="/a?b"),
        HTTPLocator(host="h", path="/a#b"),
        HTTPLocator(host="h", path="/a b"),
        HTTPLocator(host="h", query="a#b"),
        HTTPLocator(host="h", query="a\r\nb"),
        HTTPLocator(host="h/a"),
        HTTPLocator(host="u@h"),
        HTTPLocator(host="h:80"),
        HTTPLocator(host="h\r\nX: y"),
        HTTPLocator(host="[::1"),
    ],
)
def test_an_unwritable_locator_has_no_plan(locator: HTTPLocator) -> None:
    with pytest.raises(Unwritable):
        locator.uri()
    with pytest.raises(Unwritable):
        plan(locator)


def test_a_scheme_missing_in_an_edition_has_no_plan_there() -> None:
    with pytest.raises(NotSpecified):
        plan(edition("rfc1738").locator("https://h/"))


@pytest.mark.parametrize(
    ("name", "rule", "text", "valid"),
    [
        ("rfc1738", "hpath", "", True),
        ("rfc1738", "hpath", "a//b/", True),
        ("rfc1738", "hpath", "a?b", False),
        ("rfc1738", "hsegment", ";:@&=", True),
        ("rfc1738", "hsegment", "/", False),
        ("rfc1738", "search", "", True),
        ("rfc1738", "search", ";:@&=%2F", True),
        ("rfc1738", "search", "/", False),
        ("rfc1738", "search", "?", False),
        ("url-1994", "path", "", True),
        ("url-1994", "path", "a/b/", True),
        ("url-1994", "path", "a//b", False),
        ("url-1994", "search", "a+b", True),
        ("url-1994", "search", "", False),
        ("url-1994", "search", "a=b", False),
    ],
)
def test_rules_of_the_older_documents(name: str, rule: str, text: str, valid: bool) -> None:
    assert edition(name).is_valid(text, rule) == valid


def test_undefined_and_empty_components_are_unequal() -> None:
    texts = ["http://h", "http://h/", "http://h?", "http://h/?", "http://@h", "http://:@h", "http://h#", "http://h:80"]
    assert len({replace(locator_of(text), written=None) for text in texts}) == len(texts)
    assert locator_of("http://h:") == locator_of("http://h")
    assert pickle.loads(pickle.dumps(locator_of("http://u:p@h/a?b"))) == locator_of("http://u:p@h/a?b")


def test_the_four_uris_of_rfc_3986_6_2_3() -> None:
    texts = ["http://example.com", "http://example.com/", "http://example.com:/", "http://example.com:80/"]
    assert {str(URI(text).normalize(Rung.SCHEME)) for text in texts} == {"http://example.com/"}


def test_an_error_contains_no_password() -> None:
    for text in ("http://joe:s3cr3t@h/", "ws://joe:s3cr3t@h/"):
        with pytest.raises(PlanRefused) as refused:
            plan(text)
        assert "s3cr3t" not in str(refused.value)


def test_the_websocket_key_is_not_part_of_the_plan() -> None:
    """RFC 6455 4.1: "The nonce MUST be selected randomly for each connection"."""
    first, second = plan("ws://h/"), plan("ws://h/")
    assert first == second
    (key,) = [step for step in first if isinstance(step, SendKey)]
    assert key.to_dict() == {"step": "send key", "source": "RFC 6455 4.1"}
    nonce = os.urandom(16)
    assert base64.b64decode(key.data(nonce)) == nonce
    sent_bytes = b"".join(
        step.data if isinstance(step, Send) else step.data(nonce) for step in first if isinstance(step, (Send, SendKey))
    )
    head, empty = sent_bytes.split(b"\r\n\r\n")
    assert empty == b""
    fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert fields == {
        b"Host": b"h",
        b"Upgrade": b"websocket",
        b"Connection": b"Upgrade",
        b"Sec-WebSocket-Version": b"13",
        b"Sec-WebSocket-Key": base64.b64encode(nonce),
    }
    assert accept(b"dGhlIHNhbXBsZSBub25jZQ==") == b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    with pytest.raises(ValueError, match="16 octets"):
        key.data(b"")


@pytest.mark.parametrize("name", ["url-1994", "rfc1738", "rfc3986"])
@pytest.mark.parametrize("piece", ["a", "/", "%2F", "?", "+", ";", "%", " "])
def test_long_texts_are_linear(name: str, piece: str) -> None:
    def use(size: int) -> None:
        try:
            locator = edition(name).locator("http://h/" + piece * (size // len(piece)))
            assert isinstance(locator, HTTPLocator)
            assert len(locator.segments) + len(locator.words) >= 1
            plan(locator)
        except (InvalidURI, PlanRefused):
            pass

    linear(use, LONG)
