"""news and nntp (RFC 5538)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overthere import URI, Credentials, InvalidURI, PlanRefused, Rung, Unwritable, plan, scheme
from overthere.access import Place, Send
from overthere.editions import edition
from overthere.protocols.news.steps import at_server
from overthere.schemes.known.news import NewsLocator
from overthere.schemes.known.nntp import NNTPLocator
from support import LONG, for_each_octet, linear


def sent(locator: NewsLocator | NNTPLocator, credentials: Credentials | None = None) -> list[bytes]:
    """The commands that are sent, without the common ones at the start."""
    data = [step.data for step in plan(locator, credentials) if isinstance(step, Send)]
    assert data[:2] == [b"CAPABILITIES\r\n", b"MODE READER\r\n"]
    return data[2:]


def at_a_server(locator: object) -> NewsLocator:
    assert isinstance(locator, NewsLocator)
    return replace(locator, host="h")


def samples(name: str) -> list[str]:
    kind = scheme(name)
    (rule,) = kind.rules["rfc3986"]
    return [text for text in kind.grammar.automaton(rule).sample(1000, seed=5) if edition().is_valid(text)]


def meaning(text: str) -> object:
    """The locator, with equivalent parts (RFC 5538) made equal."""
    locator = edition().locator(text)
    assert isinstance(locator, (NewsLocator, NNTPLocator))
    host, port = locator.host and locator.host.lower(), locator.port or 119
    if isinstance(locator, NNTPLocator):
        return replace(locator, host=host, port=port)
    return replace(locator, host=host or None, port=port, group="*" if locator.group == "" else locator.group)


@pytest.mark.parametrize("name", ["news", "nntp"])
def test_normalization_preserves_the_meaning(name: str) -> None:
    """6.2.3. Without dot-segments, which a generic rung removes and no newsgroup has (RFC 5538 2.3)."""
    for text in samples(name):
        generic = str(URI(text).normalize(Rung.SYNTAX))
        assert meaning(str(URI(text).normalize(Rung.SCHEME))) == meaning(generic)


def test_the_normal_form_is_valid_if_the_generic_one_is() -> None:
    for text in samples("news"):
        if scheme("news").is_valid(str(URI(text).normalize(Rung.SYNTAX))):
            assert scheme("news").is_valid(str(URI(text).normalize(Rung.SCHEME))), text


@for_each_octet
def test_every_byte_in_every_part(octet: int) -> None:
    """Written text is parsed back; the server gets one line, with the byte in its place, or nothing."""
    data = bytes([octet]).decode("utf-8", "surrogateescape")
    parts: list[NewsLocator | NNTPLocator] = [
        NewsLocator(host="h", group=f"a{data}b"),
        NewsLocator(host="h", message_id=f"a{data}b@c"),
        NewsLocator(host="h", message_id=f"a@[{data}]"),
        NewsLocator(host="h", group="g", user=f"a{data}b", password="p"),
        NewsLocator(host="h", group="g", user="u", password=f"a{data}b"),
        NNTPLocator(host="h", group=f"a{data}b", article_number=1),
        NNTPLocator(host="h", group="g", user="u", password=f"a{data}b"),
    ]
    for locator in parts:
        assert replace(locator.uri().locator, written=None) == locator
        try:
            lines = sent(locator)
        except PlanRefused:
            continue
        assert octet not in b"\r\n\t\0 ", locator
        for line in lines:
            assert line.endswith(b"\r\n")
            assert not set(line[:-2]) & set(b"\r\n\t\0"), line
            assert len(line[:-2].split(b" ")) <= 3
        verbs = [line.split()[0] for line in lines]
        assert verbs[-1] == b"QUIT"
        # The second LIST is for servers without ACTIVE (RFC 977 3.6).
        assert verbs.count(b"ARTICLE") + verbs.count(b"OVER") + (b"LIST" in verbs) == 1


@for_each_octet
def test_every_byte_in_a_message_id(octet: int) -> None:
    """RFC 5536 3.1.3 literally, through escapes, compared with its character classes."""
    atext = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-/=?^_`{|}~"
    mdtext = bytes([*range(33, 62), *range(63, 91), *range(94, 127)])
    assert scheme("news").is_valid(f"news:a%{octet:02x}b@c") == (octet in atext + b".")
    assert scheme("news").is_valid(f"news:a@%5B%{octet:02X}%5D") == (octet in mdtext)
    raw = f"news:a{chr(octet)}b@c"
    if octet not in b"@#?" and edition().is_valid(raw):  # "@" makes it two, "?" and "#" end it
        assert scheme("news").is_valid(raw) == (octet in atext + b"." and octet not in b"/%")


@pytest.mark.parametrize("length", [248, 249])
def test_a_message_id_has_at_most_250_bytes(length: int) -> None:
    """RFC 3977 3.6, with the brackets."""
    locator = NewsLocator(host="h", message_id="a" * (length - 2) + "@b")
    if length == 248:
        assert sent(locator)[0] == b"ARTICLE <" + b"a" * 246 + b"@b>\r\n"
    else:
        with pytest.raises(PlanRefused, match=r"RFC 3977 3\.6"):
            plan(locator)


def test_a_command_has_at_most_512_bytes() -> None:
    """RFC 3977 3.1: with at most 497 for arguments."""
    assert len(sent(NNTPLocator(host="h", group="g" * 497))[0]) == 6 + 497 + 2
    for locator in (
        NNTPLocator(host="h", group="g" * 498),
        NNTPLocator(host="h", group="é" * 249),
        NewsLocator(host="h", group="*" + "g" * 490),
        NewsLocator(host="h", user="u" * 493, group="g"),
        NewsLocator(host="h", user="u", password="p" * 493, group="g"),
    ):
        with pytest.raises(PlanRefused, match=r"RFC 3977 3\.1") as refused:
            plan(locator)
        assert "ppp" not in str(refused.value)


def test_a_configured_server_becomes_part_of_the_locator() -> None:
    """RFC 5538 4: "a configured default server for Netnews access is used"."""
    locator = URI("news:a@b").locator
    assert isinstance(locator, NewsLocator)
    (step,) = plan(locator)
    assert isinstance(step, Place)
    assert (step.what, step.where) == ("article", "<a@b>")
    assert "configured" in step.note
    assert sent(replace(locator, host="news.example"))[0] == b"ARTICLE <a@b>\r\n"
    for server in ("news.example", "news.example:8119", "[::1]:119"):
        assert str(at_server(locator, server).uri()) == f"news://{server}/a@b"
    for server in ("", "a b", "h/x", "u@h", "h:x", ":119", "h?x", "h#x", "h\r\nQUIT", "::1", f"h:{'1' * 5000}"):
        with pytest.raises(PlanRefused, match="is not a news server"):
            at_server(locator, server)


def test_a_uri_with_a_server_keeps_it() -> None:
    for text in ("news://h/a@b", "nntp://h/g/1", "ftp://h/"):
        locator = URI(text).locator
        assert at_server(locator, "news.example") is locator
    older = edition("url-1994").locator("nntp:g/1")
    assert str(at_server(older, "news.example").uri()) == "nntp://news.example/g/1"
    assert str(at_server(URI("news://joe@:8119/g").locator, "h:1").uri()) == "news://joe@h:8119/g"


def test_a_port_of_the_configured_server() -> None:
    (step,) = plan("news://:8119/a@b")
    assert "port 8119" in step.note


def test_wildcards() -> None:
    """RFC 5538 4: "*" and "?", escaped or not, are wildcards; nothing else makes a set."""
    assert NewsLocator(group="").is_set
    assert NewsLocator(group="a?").is_set
    assert not NewsLocator(group="a").is_set
    assert not NewsLocator(message_id="*@b").is_set


def test_unwritable_locators_are_rejected() -> None:
    for locator in (
        NewsLocator(message_id="no-at"),
        NewsLocator(group="g", message_id="a@b"),
        NewsLocator(),
        NewsLocator(port=1, group="g"),
        NewsLocator(host="a/b", group="g"),
        NNTPLocator(group="g"),
        NNTPLocator(host="h", article_number=1),
        NNTPLocator(host="h", group="g", article_number=-1),
        NNTPLocator(host="h", group="g", article_number=10**16),
    ):
        with pytest.raises(Unwritable):
            locator.uri()


def test_passwords_are_not_shown() -> None:
    result = plan("news://joe:s3cr3t@h/a@b")
    assert "s3cr3t" not in f"{result} {result!r} {result.to_dict()} {result.steps!r}"
    result = plan("nntp://h/g/1", Credentials("joe", "s3cr3t"))
    assert "s3cr3t" not in f"{result} {result!r} {result.to_dict()} {result.steps!r}"
    assert b"AUTHINFO PASS s3cr3t\r\n" in [step.data for step in result if isinstance(step, Send)]
    with pytest.raises(PlanRefused) as refused:
        plan("news://joe:s3cr3t%0A@h/a@b")
    assert "s3cr3t" not in str(refused.value)


@pytest.mark.parametrize("piece", ["a", "%41", "%2F", "*", "%2A", ".", "@", "%40", "%", "%FF"])
@pytest.mark.parametrize("name", ["rfc3986", "rfc1738", "url-1994"])
def test_long_texts_are_linear(piece: str, name: str) -> None:
    def use(size: int) -> None:
        for text in (f"news:{piece * (size // len(piece))}", f"nntp://h/{piece * (size // len(piece))}/1"):
            try:
                locator = replace(edition(name).locator(text), written=None)
                locator.uri(name)
            except (InvalidURI, Unwritable):
                continue
            with pytest.raises(PlanRefused):
                plan(locator if isinstance(locator, NNTPLocator) else at_a_server(locator))

    linear(use, LONG // 4)


@pytest.mark.parametrize("digits", ["1" * 5000, "0" * 1_000_000, "9" * 1_000_000])
def test_numbers_of_any_length_are_parsed_or_rejected(digits: str) -> None:
    with pytest.raises(InvalidURI):
        edition().locator(f"nntp://h/g/{digits}")
    with pytest.raises(InvalidURI):
        edition("rfc1738").locator(f"nntp://h/g/{digits}")


def test_older_editions_keep_invalid_escapes() -> None:
    """A "%" that does not begin an escape is literal."""
    locator = edition("rfc1738").locator("news:a%zz@b")
    assert isinstance(locator, NewsLocator)
    assert locator.message_id == "a%zz@b"
    assert str(locator.uri()) == "news:a%25zz@b"
