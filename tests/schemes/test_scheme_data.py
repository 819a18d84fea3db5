"""data: decoding and encoding of bytes, charsets, limits of locators, large data."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from overthere import URI, CodingError, InvalidURI, PlanRefused, Rung, Unwritable, plan, scheme
from overthere.access import Content
from overthere.editions import edition
from overthere.schemes.known.data import DataLocator
from support import for_each_octet, linear

ALL = bytes(range(256))


@pytest.mark.parametrize("base64", [False, True])
@pytest.mark.parametrize(
    "data", [b"", b"A", ALL, ALL[::-1] * 3, b"a/../b", b"/./", b"//", b"?", b"#", b",", b"%41", b"\n"]
)
def test_encoded_bytes_decode_to_the_original(data: bytes, base64: bool) -> None:
    uri = DataLocator("application/octet-stream", base64=base64, data=data).uri()
    assert URI(str(uri)).locator == DataLocator("application/octet-stream", base64=base64, data=data)
    assert scheme("data").is_valid(str(uri))
    locator = URI(str(uri.normalize())).locator
    assert isinstance(locator, DataLocator)
    assert locator.data == data
    (step,) = plan(uri)
    assert isinstance(step, Content)
    assert (step.data, step.media_type) == (data, "application/octet-stream")


@for_each_octet
def test_every_byte_in_a_parameter(octet: int) -> None:
    """Values of any bytes are preserved; those invalid in a header field have no plan."""
    value = bytes([octet]).decode("utf-8", "surrogateescape")
    for text in (value, f'"{value}"', f"{value}{value}"):
        locator = DataLocator(parameters=((text, text),))
        assert URI(str(locator.uri())).locator == locator
    named = DataLocator(parameters=(("x", value),))
    if octet in b"\0\t\r\n" or octet > 127:
        with pytest.raises(PlanRefused):
            plan(named)
    else:
        (step,) = plan(named)
        assert isinstance(step, Content)
        assert step.media_type.isascii()


TEXT = [
    ("data:,A%20brief%20note", "A brief note"),
    ("data:text/plain;charset=iso-8859-7,%be%d3%be", "ΎΣΎ"),
    ("data:;CHARSET=%22utf-8%22,caf%c3%a9", "café"),
    ("data:text/html,x", "x"),
    ("data:application/xml;charset=utf-16be,%00x", "x"),
    ("data:,caf%c3%a9", "the data is not US-ASCII"),
    ("data:image/png,x", "image/png has no charset"),
    ("data:;charset=klingon,x", "'klingon' is not known"),
    ("data:;charset=rot13,x", "'rot13' is not known"),
    ("data:;charset=%00,x", "is not"),
    ("data:;charset=,x", "is not known"),
]


@pytest.mark.parametrize(("text", "data"), TEXT, ids=[text for text, _ in TEXT])
def test_charsets(text: str, data: str) -> None:
    """RFC 2397 2, RFC 2046 4.1.2."""
    locator = URI(text).locator
    assert isinstance(locator, DataLocator)
    try:
        assert locator.text() == data
    except CodingError as error:
        assert data in str(error)  # noqa: PT017


def test_the_charset_can_be_overridden() -> None:
    assert DataLocator("image/svg+xml", data="é".encode()).text("utf-8") == "é"


@pytest.mark.parametrize("end", ["%0D%0A", "%0D", "%0A", "%00", "%0B"])
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("image/png;a", "X:b=c;d=e,", "image/png;d=e"),
        ("image/png;a=b", "X:c;d=e,", "image/png;d=e"),
        (";a=b", "X:c,", "text/plain;charset=US-ASCII"),
        ("image/p", "X:ng;d=e,", "text/plain;charset=US-ASCII"),
        ("im", "X:age/png,", "text/plain;charset=US-ASCII"),
    ],
)
def test_a_content_type_ends_no_header_field(before: str, after: str, expected: str, end: str) -> None:
    assert URI(f"data:{before}{end}{after}").locator_as(DataLocator).content_type == expected


@pytest.mark.parametrize("media_type", ["a/b/c", "a b/c", "/", "a/", "a", "", "\u00e9/b"])
def test_a_media_type_that_is_not_of_two_tokens(media_type: str) -> None:
    assert DataLocator(media_type, (("x", "y"),)).content_type == "text/plain;charset=US-ASCII"
    assert DataLocator("a/b", (("x y", "z"), ("", "z"))).content_type == "a/b"


def test_content_type() -> None:
    """RFC 2045 5.1: a value that is not a token is quoted."""
    locator = DataLocator("text/x", (("a", 'b"\\c'), ("d", ""), ("e", "f")))
    assert locator.content_type == 'text/x;a="b\\"\\\\c";d="";e=f'
    assert locator.parameter("D") == ""
    assert locator.parameter("g") is None


UNWRITABLE: list[dict[str, Any]] = [
    {"media_type": "text"},
    {"media_type": ""},
    {"parameters": ("charset=utf-8",)},
    {"parameters": (("a", "b", "c"),)},
]


@pytest.mark.parametrize("change", UNWRITABLE, ids=str)
def test_invalid_locators_are_rejected(change: dict[str, Any]) -> None:
    with pytest.raises((Unwritable, TypeError)):
        replace(DataLocator(), **change).uri()


@pytest.mark.parametrize("name", ["url-1997", "uri-2003"])
def test_broken_escapes_in_other_editions(name: str) -> None:
    locator = edition(name).locator("data:,100%25%%4")
    assert isinstance(locator, DataLocator)
    assert locator.data == b"100%%%4"


@pytest.mark.parametrize(
    ("text", "at"),
    [("data:data,x", 5), ("data:a/b;a,x", 8), ("data:;base64,a-b=", 12), ("data:;base64,b", 12), ("data://a", 5)],
)
def test_errors_have_offsets(text: str, at: int) -> None:
    with pytest.raises(InvalidURI) as caught:
        _ = URI(text).locator
    assert caught.value.finding.start == at


@pytest.mark.parametrize("base64", [False, True])
@pytest.mark.parametrize("data", [b"a", b"\xff", b"/.", b"\0\xff "])
def test_large_data_is_linear(data: bytes, base64: bool) -> None:
    def use(size: int) -> None:
        locator = DataLocator(base64=base64, data=data * (size // len(data)))
        text = str(locator.uri())
        assert URI(text).locator == locator
        assert URI(text).normalize(Rung.SCHEME)

    linear(use, 1_000_000)


@pytest.mark.parametrize(
    ("start", "piece", "end"), [("data:", ";a=b", ","), ("data:", "%22", ""), ("data:;a=%22", "%5C", ",")]
)
def test_long_media_types_are_linear(start: str, piece: str, end: str) -> None:
    def use(count: int) -> None:
        with suppress(InvalidURI):
            str(replace(URI(start + piece * count + end).locator, written=None).uri())

    linear(use, 100_000)
