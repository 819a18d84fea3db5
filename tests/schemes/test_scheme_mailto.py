"""mailto, mid, cid: drafts and their contents, limits of locators, hostile input."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from overthere import URI, Credentials, InvalidURI, PlanRefused, Rung, Unwritable, audit, check, plan, scheme
from overthere.access import Compose, Place
from overthere.editions import edition
from overthere.schemes.addr_spec import split_at
from overthere.schemes.known.mailto import MailtoLocator, mailboxes
from overthere.schemes.known.mid import CidLocator, MidLocator
from support import for_each_octet, linear


def draft(text: str, credentials: Credentials | None = None) -> Compose:
    (step,) = plan(text, credentials)
    assert isinstance(step, Compose)
    return step


DRAFTS: list[tuple[str, list[tuple[str, str]], str, list[str]]] = [
    ("mailto:joe@example.com?CC=bob@example.com&body=hello",
     [("To", "joe@example.com"), ("Cc", "bob@example.com")], "hello", []),
    ("mailto:infobot@example.com?body=send%20current-issue%0D%0Asend%20index",
     [("To", "infobot@example.com")], "send current-issue\r\nsend index", []),
    ("mailto:list@example.org?In-Reply-To=%3C3469A91.D10AF4C@example.com%3E",
     [("To", "list@example.org"), ("In-Reply-To", "<3469A91.D10AF4C@example.com>")], "", []),
    ("mailto:user@%E7%B4%8D%E8%B1%86.example.org?subject=Test&body=NATTO",
     [("To", "user@xn--99zt52a.example.org"), ("Subject", "Test")], "NATTO", []),
    ("mailto:a@b?to=%22N%22%20%3Cu@%E7%B4%8D%E8%B1%86%3E&cc=u@%E7%B4%8D%E8%B1%86,v@w",
     [("To", 'a@b, "N" <u@xn--99zt52a>'), ("Cc", "u@xn--99zt52a, v@w")], "", []),
    # 3: originator, routing, trace and MIME fields MUST be ignored; 4: others may be.
    ("mailto:a@b?From=x&Date=x&Sender=x&Reply-To=x&Apparently-To=x&Resent-From=x&resent-x=x&Received=x&Return-Path=x"
     "&MIME-Version=x&Content-Type=x&Content-Transfer-Encoding=x&Message-ID=x&blat=foop&=x",
     [("To", "a@b")], "",
     ["From", "Date", "Sender", "Reply-To", "Apparently-To", "Resent-From", "resent-x", "Received", "Return-Path",
      "MIME-Version", "Content-Type", "Content-Transfer-Encoding", "Message-ID", "blat", ""]),
    # 9: Bcc is allowed again.
    ("mailto:a@b?bcc=c@d", [("To", "a@b"), ("Bcc", "c@d")], "", []),
    # 5: line breaks should only be used in the body.
    ("mailto:a@b?subject=x%0D%0ABcc:c@d&cc=c@d%0A&keywords=x%0Dy&bcc=x%00y", [("To", "a@b")], "",
     ["subject", "cc", "keywords", "bcc"]),
    ("mailto:a@b?subject%0D%0ABcc:x=y&to%0A=c@d", [("To", "a@b")], "", ["subject\r\nBcc:x", "to\n"]),
    ("mailto:a@b?subject=x%E2%80%A8y&keywords=%C2%85", [("To", "a@b")], "", ["subject", "keywords"]),
    # 2: UTF-8 only.
    ("mailto:a@b?subject=caf%E9&body=caf%E9", [("To", "a@b")], "", ["subject", "body"]),
    # RFC 5322 3.6: once, except Keywords.
    ("mailto:?subject=x&Subject=y&body=1&body=2&keywords=k&keywords=l&cc=a@b&cc=c@d",
     [("Cc", "a@b, c@d"), ("Subject", "x"), ("Keywords", "k"), ("Keywords", "l")], "1", ["Subject", "body"]),
    # RFC 5322 2.3: CR and LF occur together.
    ("mailto:?body=a%0Ab%0Dc%0D%0Ad%0A%0D", [], "a\r\nb\r\nc\r\nd\r\n\r\n", []),
    ("mailto:?body=a%00b", [], "", ["body"]),
    ("mailto:?subject=", [("Subject", "")], "", []),
    ("mailto:?to=&cc=,%20,", [], "", []),
    ("mailto:?subject=a%09b%20+", [], "", ["subject"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "headers", "body", "ignored"), DRAFTS, ids=[row[0][:60] for row in DRAFTS])
def test_drafts(text: str, headers: list[tuple[str, str]], body: str, ignored: list[str]) -> None:
    """RFC 6068 2 to 5."""
    step = draft(text)
    assert list(step.headers) == headers
    assert step.body == body
    assert [name for name, _ in step.ignored] == ignored
    locator = URI(text).locator
    assert isinstance(locator, MailtoLocator)
    assert set(locator.unsafe) <= set(step.ignored)


def test_the_sender_never_comes_from_the_uri() -> None:
    step = draft("mailto:a@b?from=x@y", Credentials(address="me@here.example"))
    assert step.headers == (("From", "me@here.example"), ("To", "a@b"))
    assert step.ignored == (("from", "x@y"),)
    assert "person" in step.note


def test_a_long_domain_is_not_truncated() -> None:
    """RFC 1034 3.1; IDNA removes soft hyphens."""
    with pytest.raises(PlanRefused, match="longer than a domain name"):
        plan("mailto:a@b.example" + "%C2%AD" * 300 + ".c")


def test_fields_of_a_locator() -> None:
    locator = URI("mailto:a@b?TO=c@d,e@f&to=g@h&Cc=i@j&bcc=k@l,m@n&Subject=s&subject=t&BODY=u&x=v").locator
    assert isinstance(locator, MailtoLocator)
    assert locator.to == ("a@b", "c@d", "e@f", "g@h")
    assert (locator.cc, locator.bcc) == (("i@j",), ("k@l", "m@n"))
    assert (locator.subject, locator.body, locator.header("X"), locator.header("y")) == ("s", "u", "v", None)
    assert locator.unsafe == (("x", "v"),)


LISTS = [
    ("a@b", ["a@b"]),
    ("a@b,c@d", ["a@b", "c@d"]),
    (" a@b ,, c@d ,", ["a@b", "c@d"]),
    ('"a,b"@c,d@e', ['"a,b"@c', "d@e"]),
    (r'"a\",b"@c,d@e', [r'"a\",b"@c', "d@e"]),
    (r'"a\\",b@c', [r'"a\\"', "b@c"]),
    ("a@b (x, (y, z), w), c@d", ["a@b (x, (y, z), w)", "c@d"]),
    ('N <"a>,b"@c>, d@e', ['N <"a>,b"@c>', "d@e"]),
    ("G: a@b, c@d;, e@f", ["G: a@b, c@d;", "e@f"]),
    ('G: "x;y"@b, c@d;, e@f', ['G: "x;y"@b, c@d;', "e@f"]),
    ("<@a,@b:c@d>, e@f", ["<@a,@b:c@d>", "e@f"]),
    ("a@[1,2:3], b@c", ["a@[1,2:3]", "b@c"]),
    (r"a\,b", ["a\\", "b"]),
    ("", []),
    ('"a, b', ['"a, b']),
]


@pytest.mark.parametrize(("value", "addresses"), LISTS, ids=[value for value, _ in LISTS])
def test_address_lists(value: str, addresses: list[str]) -> None:
    """RFC 5322 3.4."""
    assert list(mailboxes(value)) == addresses


@for_each_octet
def test_every_byte_is_preserved_in_its_field(octet: int) -> None:
    data = bytes([octet]).decode("utf-8", "surrogateescape")
    for locator in (
        MailtoLocator(addresses=(f"a{data}@b", f"{data}@c"), headers=((f"x{data}", data), (data, data))),
        MidLocator(message_id=f"a{data}@b", content_id=f"{data}c"),
        CidLocator(content_id=f"{data}c"),
    ):
        assert URI(str(locator.uri())).locator == locator.for_writing()
    for text in (f"mailto:a%{octet:02X}b@c", f"mailto:a@b?subject=a%{octet:02X}b", f"mailto:a@b?cc=a%{octet:02X}b@c"):
        try:
            step = draft(text)
        except PlanRefused:
            continue
        value = "".join(name + value for name, value in step.headers)
        assert not any(c in value for c in "\r\n\0")
        assert len(value.splitlines()) == 1
    if octet in b"\r\n\0\t":
        for bad in (
            MidLocator(message_id=data),
            MidLocator(message_id="a", content_id=data),
            CidLocator(content_id=data),
        ):
            with pytest.raises(PlanRefused):
                plan(bad)


@pytest.mark.parametrize("data", ["ü", "\udcff", "‮", "a\u2028b", "😀"])
def test_non_ascii_addresses_and_headers(data: str) -> None:
    locator = MailtoLocator(addresses=(f"{data}@b",), headers=((data, data),))
    assert URI(str(locator.uri())).locator == locator


UNWRITABLE: list[Any] = [
    MailtoLocator(headers=("subject",)),  # type: ignore[arg-type]
    MailtoLocator(headers=(("a", "b", "c"),)),  # type: ignore[arg-type]
    MailtoLocator(addresses=("",)),
]


@pytest.mark.parametrize("locator", UNWRITABLE, ids=str)
def test_unwritable_locators_are_rejected(locator: Any) -> None:
    with pytest.raises((Unwritable, TypeError)):
        locator.uri()


def test_older_editions_have_one_address() -> None:
    """RFC 1738 3.5: "No additional information other than an Internet mailing address is present"."""
    for locator in (MailtoLocator(addresses=("a@b", "c@d")), MailtoLocator(addresses=("a@b",), headers=(("x", "y"),))):
        for name in ("url-1994", "rfc1738"):
            with pytest.raises(Unwritable):
                locator.uri(name)


def test_a_plan_of_mid_locates_the_message_and_the_part() -> None:
    assert [(step.what, step.where) for step in plan("mid:a@b/c@d") if isinstance(step, Place)] == [
        ("message", "a@b"),
        ("body part", "c@d"),
    ]


def test_addresses_are_split_at_the_at_sign() -> None:
    assert split_at("a@b@c") == ("a@b", "c")
    assert split_at('"@["@[x@y]') == ('"@["', "[x@y]")
    assert split_at("a]") == ("a]", None)


@pytest.mark.parametrize("text", ["mailto:a@b?s", "mailto:a@b?x=y&s", "mailto:?", "mailto:?&x=y"])
def test_errors_have_offsets(text: str) -> None:
    with pytest.raises(InvalidURI) as caught:
        _ = URI(text).locator
    assert caught.value.finding.start == text.rindex("&" if text.endswith("&s") else "?")


@pytest.mark.parametrize("normal", ["mailto:Joe@%C3%84.Example?to=b@C", "mailto:?Subject=%C3%84&TO=a@B"])
def test_normalization_preserves_the_meaning(normal: str) -> None:
    form = URI(normal).normalize(Rung.SCHEME)
    assert scheme("mailto").is_valid(str(form))
    before, after = draft(normal), draft(str(form))
    assert [(name, value.lower()) for name, value in before.headers] == [
        (name, value.lower()) for name, value in after.headers
    ]


# Prefix, repeated unit, suffix, and the maximum count.
HOSTILE = [
    ("mailto:", "a@b,", "a@b", 100_000),
    ("mailto:", ",", "", 300_000),
    ("mailto:", "@", "", 300_000),
    ("mailto:", "%22", "", 100_000),
    ("mailto:", "%5C%22", "", 50_000),
    ("mailto:%22", "%5C", "%22@b", 100_000),
    ("mailto:", "a.", "@b", 200_000),
    ("mailto:a@", "%C3%84", "", 50_000),
    ("mailto:?to=a@b", "&to=a@b", "", 50_000),
    ("mailto:?subject=x", "&subject=x", "", 50_000),
    ("mailto:?to=", "(", "", 300_000),
    ("mailto:?to=", "%3C", "", 100_000),
    ("mailto:?cc=", "%22a%22,", "", 50_000),
    ("mailto:?body=", "%0D%0A", "", 100_000),
    ("mid:", "a/", "", 200_000),
    ("mid:", "%22", "", 100_000),
    ("cid:", "a@", "", 200_000),
]


@pytest.mark.parametrize(("before", "piece", "behind", "most"), HOSTILE, ids=[row[0] + row[1] for row in HOSTILE])
def test_long_input_is_linear(before: str, piece: str, behind: str, most: int) -> None:
    def use(count: int) -> None:
        text = before + piece * count + behind
        locator = URI(text).locator
        str(replace(locator, written=None).uri())
        URI(text).normalize(Rung.SCHEME)
        scheme(locator.scheme).is_valid(text)
        with suppress(PlanRefused):
            plan(text)

    linear(use, most)


@pytest.mark.parametrize("name", ["url-1994", "rfc1738", "url-1997", "uri-2003"])
@pytest.mark.parametrize("text", ["mailto:a%@b", "mailto:%zz%4@b", "cid:%4@b", "mid:%@b"])
def test_other_editions_keep_invalid_escapes(name: str, text: str) -> None:
    locator = edition(name).locator(text)
    assert text.partition(":")[2] in str(locator)


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("body=a%0D%0Ab&subject=%0d%0a%0D%0A", []), ("body=a%0Ab", [17]), ("body=a%0D", [17]), ("body=%0dA", [16]),
        ("body=%0D%0D%0A%0A%0dx&x=y", [16, 25, 28]), ("subject=%0A", [19]), ("body=%0D%0a%0B%250A", []),
    ],
)  # fmt: skip
def test_a_lone_cr_or_lf_is_found(query: str, places: list[int]) -> None:
    uri = URI(f"mailto:a@b?{query}")
    findings = check(str(uri), scheme=True)
    assert [finding.start for finding in findings] == places
    assert all(finding.source == "RFC 6068 5" and "half of a line break" in finding.message for finding in findings)
    if "subject" not in query:  # no octet ends a line
        audited = [finding.start for finding in audit(uri) if finding.kind == "encoded-line-alone"]
        assert audited == places
    assert URI(str(uri)).locator_as(MailtoLocator).uri() == uri  # parsed text is written unchanged


def test_line_breaks_are_written_as_crlf() -> None:
    locator = MailtoLocator(("a@b",), headers=(("body", "a\nb\rc\r\nd"),))
    assert str(locator.uri()) == "mailto:a@b?body=a%0D%0Ab%0D%0Ac%0D%0Ad"
    assert check(str(locator.uri()), scheme=True) == []
    read = URI("mailto:a@b?body=a%0Ab").locator_as(MailtoLocator)
    assert read.body == "a\nb"
    assert str(replace(read, addresses=("c@d",)).uri()) == "mailto:c@d?body=a%0D%0Ab"
