"""news and nntp (RFC 5538): what rows cannot say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overthere import URI, Credentials, InvalidURI, PlanRefused, Rung, Unwritable, plan, scheme
from overthere.access import Place, Send
from overthere.editions import edition
from overthere.protocols.news.steps import at_server
from overthere.schemes.known.news import NewsLocator
from overthere.schemes.known.nntp import NNTPLocator
from support import LONG, linear


def sent(locator: NewsLocator | NNTPLocator, credentials: Credentials | None = None) -> list[bytes]:
    """What is sent behind the commands that are the same for all."""
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
    """The locator, with what RFC 5538 calls equivalent made equal."""
    found = edition().locator(text)
    assert isinstance(found, (NewsLocator, NNTPLocator))
    host, port = found.host and found.host.lower(), found.port or 119
    if isinstance(found, NNTPLocator):
        return replace(found, host=host, port=port)
    return replace(found, host=host or None, port=port, group="*" if found.group == "" else found.group)


@pytest.mark.parametrize("name", ["news", "nntp"])
def test_the_normal_form_means_the_same(name: str) -> None:
    """6.2.3.  Dot-segments are left out: they go at a generic rung, and no newsgroup has such a name (RFC 5538 2.3)."""
    for text in samples(name):
        generic = str(URI(text).normalize(Rung.SYNTAX))
        assert meaning(str(URI(text).normalize(Rung.SCHEME))) == meaning(generic)


def test_the_normal_form_is_valid_where_the_generic_one_is() -> None:
    for text in samples("news"):
        if scheme("news").is_valid(str(URI(text).normalize(Rung.SYNTAX))):
            assert scheme("news").is_valid(str(URI(text).normalize(Rung.SCHEME))), text


@pytest.mark.parametrize("octet", range(256))
def test_every_octet_in_every_part(octet: int) -> None:
    """What is written comes back; what leaves for the server is one line, in its place, or is refused."""
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
        # The second LIST is for servers that know no ACTIVE (RFC 977 3.6).
        assert verbs.count(b"ARTICLE") + verbs.count(b"OVER") + (b"LIST" in verbs) == 1


@pytest.mark.parametrize("octet", range(256))
def test_every_octet_in_a_message_id(octet: int) -> None:
    """RFC 5536 3.1.3 by the letter, through escapes, against its character classes."""
    atext = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-/=?^_`{|}~"
    mdtext = bytes([*range(33, 62), *range(63, 91), *range(94, 127)])
    assert scheme("news").is_valid(f"news:a%{octet:02x}b@c") == (octet in atext + b".")
    assert scheme("news").is_valid(f"news:a@%5B%{octet:02X}%5D") == (octet in mdtext)
    raw = f"news:a{chr(octet)}b@c"
    if octet not in b"@#?" and edition().is_valid(raw):  # "@" makes it two, "?" and "#" end it
        assert scheme("news").is_valid(raw) == (octet in atext + b"." and octet not in b"/%")


@pytest.mark.parametrize("length", [248, 249])
def test_a_message_id_has_250_octets_at_most(length: int) -> None:
    """RFC 3977 3.6, with the brackets."""
    locator = NewsLocator(host="h", message_id="a" * (length - 2) + "@b")
    if length == 248:
        assert sent(locator)[0] == b"ARTICLE <" + b"a" * 246 + b"@b>\r\n"
    else:
        with pytest.raises(PlanRefused, match=r"RFC 3977 3\.6"):
            plan(locator)


def test_a_command_has_512_octets_at_most() -> None:
    """RFC 3977 3.1: and its arguments 497."""
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


def test_the_configured_server_is_put_into_the_locator() -> None:
    """RFC 5538 4: "a configured default server for Netnews access is used"."""
    there = URI("news:a@b").locator
    assert isinstance(there, NewsLocator)
    (step,) = plan(there)
    assert isinstance(step, Place)
    assert (step.what, step.where) == ("article", "<a@b>")
    assert "configured" in step.note
    assert sent(replace(there, host="news.example"))[0] == b"ARTICLE <a@b>\r\n"
    for server in ("news.example", "news.example:8119", "[::1]:119"):
        assert str(at_server(there, server).uri()) == f"news://{server}/a@b"
    for server in ("", "a b", "h/x", "u@h", "h:x", ":119", "h?x", "h#x", "h\r\nQUIT", "::1", f"h:{'1' * 5000}"):
        with pytest.raises(PlanRefused, match="is not a news server"):
            at_server(there, server)


def test_what_names_a_server_keeps_it() -> None:
    for text in ("news://h/a@b", "nntp://h/g/1", "ftp://h/"):
        there = URI(text).locator
        assert at_server(there, "news.example") is there
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


def test_what_no_news_uri_says() -> None:
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
    found = plan("news://joe:s3cr3t@h/a@b")
    assert "s3cr3t" not in f"{found} {found!r} {found.to_dict()} {found.steps!r}"
    found = plan("nntp://h/g/1", Credentials("joe", "s3cr3t"))
    assert "s3cr3t" not in f"{found} {found!r} {found.to_dict()} {found.steps!r}"
    assert b"AUTHINFO PASS s3cr3t\r\n" in [step.data for step in found if isinstance(step, Send)]
    with pytest.raises(PlanRefused) as refused:
        plan("news://joe:s3cr3t%0A@h/a@b")
    assert "s3cr3t" not in str(refused.value)


@pytest.mark.parametrize("piece", ["a", "%41", "%2F", "*", "%2A", ".", "@", "%40", "%", "%FF"])
@pytest.mark.parametrize("name", ["rfc3986", "rfc1738", "url-1994"])
def test_many_characters_take_no_time(piece: str, name: str) -> None:
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
def test_numbers_of_any_length_are_read_or_refused(digits: str) -> None:
    with pytest.raises(InvalidURI):
        edition().locator(f"nntp://h/g/{digits}")
    with pytest.raises(InvalidURI):
        edition("rfc1738").locator(f"nntp://h/g/{digits}")


def test_broken_escapes_of_older_editions_stay() -> None:
    """No octets, so no data: a "%" that does not begin an escape is itself."""
    found = edition("rfc1738").locator("news:a%zz@b")
    assert isinstance(found, NewsLocator)
    assert found.message_id == "a%zz@b"
    assert str(found.uri()) == "news:a%25zz@b"
