"""Statements that the documents make in notes, comments of the grammar, tables and subordinate clauses."""

from __future__ import annotations

from itertools import product

import pytest

from overthere import URI, GrammarError, edition, plan
from overthere.access import Connect, Place, Send

LATER = pytest.mark.parametrize("name", ["url-1997", "uri-2003"])
COMMON = {"http": "/p", "nntp": "/a.b/1", "wais": "/d", "prospero": "/n", "telnet": "/"}
"""Schemes for which RFC 1738 says "where host and port are as described in Section 3.1", each with a path."""


# -- 1994


def test_two_names_have_no_production() -> None:
    """1994, Specific Schemes and BNF: rlogin and tn3270 are in the list and the heading only."""
    by = edition("url-1994")
    for scheme in ("rlogin", "tn3270"):
        assert by.locator(f"{scheme}://h").scheme == scheme
        assert not by.is_valid(f"URL:{scheme}://h")
    assert by.is_valid("URL:telnet://h")


@pytest.mark.parametrize("name", ["url-1994", "rfc1738"])
@pytest.mark.parametrize("text", ["news:comp.infosystems", "news:a@h.example"])
def test_news_is_independent_of_location(name: str, text: str) -> None:
    """1994 NEWS; RFC 1738 3.6: the text names no server; the reader's own is used."""
    steps = plan(edition(name).locator(text)).steps
    assert [type(step) for step in steps] == [Place]
    assert not any(isinstance(step, Connect) for step in steps)


# -- RFC 1738


def test_a_scheme_has_no_escapes() -> None:
    """2.2: characters may be escaped within the scheme-specific part."""
    by = edition("rfc1738")
    assert by.is_valid("http://h/%68")
    assert not by.is_valid("%68ttp://h/")
    assert not by.is_valid("http%3A//h/")


@pytest.mark.parametrize("scheme", COMMON)
def test_host_and_port_are_the_same_in_all_schemes(scheme: str) -> None:
    """3.3, 3.7, 3.8, 3.9, 3.11: "as described in Section 3.1": a name or an address, and a port in digits."""
    by, path = edition("rfc1738"), COMMON[scheme]
    for host, port in product(("h", "a-b.c3", "192.0.2.1"), ("", ":81")):
        text = f"{scheme}://{host}{port}{path}"
        assert by.is_valid(text)
        assert by.parts(text)["host"] == host
        assert by.parts(text)["port"] == (port[1:] or None)
    for wrong in ("", "h.", ".h", "-h", "h_", "h:", "h:x", "[::1]", "a.1"):
        assert not by.is_valid(f"{scheme}://{wrong}{path}"), wrong


# -- 1997 and 2003


@pytest.mark.parametrize(
    ("name", "rule"), [("url-1997", "URL-reference"), ("uri-2003", "URI-reference"), ("rfc3986", "URI-reference")]
)
def test_unknown_schemes_are_parsed_by_the_same_rules(name: str, rule: str) -> None:
    """1997 1.1; 2003 1.1; RFC 3986 1.1.1: down to their components."""
    by = edition(name)
    for text in ("made-up.2+x://h:1/a;b?c#d", "made-up.2+x:/a/b?c#d"):
        assert by.is_valid(text, rule)
        parts = by.split(text)
        assert (parts.scheme, parts.path[:2], parts.query, parts.fragment) == ("made-up.2+x", "/a", "c", "d")


@LATER
def test_the_charset_is_unknown(name: str) -> None:
    """1997 2.1; 2003 2.1: bytes have one encoding, whichever charset produced them."""
    by = edition(name)
    encodings = {by.encode(text.encode(charset)) for charset, text in (("utf-8", "é"), ("latin-1", "Ã©"))}
    assert encodings == {"%C3%A9"}


@LATER
def test_the_query_is_left_to_the_resource(name: str) -> None:
    """1997 4.3.3; 2003 3.4: it is not interpreted, and sent unchanged."""
    for query in ("a=1;b%20c/?d", "%2f&=+", "../x"):
        steps = plan(edition(name).locator(f"http://h/p?{query}")).steps
        (sent,) = [step.data for step in steps if isinstance(step, Send)]
        assert sent.split(b"\r\n")[0] == f"GET /p?{query} HTTP/1.1".encode()


@LATER
def test_components_can_be_recombined(name: str) -> None:
    """1997 B and 5.2; 2003 B and 5.2: empty and missing parts are distinguished."""
    by = edition(name)
    for text in map("".join, product(("a:", ""), ("//h", "//", ""), ("/p", ""), ("?q", "?", ""), ("#f", "#", ""))):
        scheme, authority, path, query, fragment = by.split(text)
        uri = "" if scheme is None else f"{scheme}:"
        uri += "" if authority is None else f"//{authority}"
        uri += path
        uri += "" if query is None else f"?{query}"
        uri += "" if fragment is None else f"#{fragment}"
        assert uri == text


def test_a_wider_range_of_characters_is_not_defined() -> None:
    """2003 1.5: only US-ASCII letters, digits and a few marks."""
    by = edition("uri-2003")
    assert by.is_valid("http://h/a")
    assert not any(by.is_valid(f"http://h/{chr(code)}") for code in range(0x80, 0x300))


def test_a_fragment_has_the_characters_of_a_uri() -> None:
    """2003 4.1: the restrictions of section 2 apply to it."""
    by = edition("uri-2003")
    for code in range(0x80):
        in_query, in_fragment = (by.is_valid(f"a:/b{mark}{chr(code)}", "URI-reference") for mark in "?#")
        assert in_fragment == (in_query and chr(code) != "#"), chr(code)


def test_the_steps_of_syntax_based_normalization() -> None:
    """2003 6.2.2: case, escapes and segments; each alone makes two texts equal, and nothing of a scheme does."""
    by = edition("uri-2003")
    for other in ("X://a/b~", "x://A/b~", "x://a/b%7E", "x://a/b%7e", "x://a/./b~", "x://a/c/../b~"):
        assert by.normalize("x://a/b~") == by.normalize(other), other
    assert by.normalize("http://a/") != by.normalize("http://a:80/")


# -- RFC 3986


def test_a_relative_reference_is_not_a_uri() -> None:
    """1.2.3: it refers to a URI, but is not in the set of URIs."""
    by = edition("rfc3986")
    for text in ("", "a", "./a", "/a", "//h/a", "?a", "#a"):
        assert by.is_valid(text, "URI-reference")
        assert not by.is_valid(text, "URI")


@pytest.mark.parametrize(
    "rule", ["server", "hostport", "hostname", "domainlabel", "toplabel", "alphanum", "uric", "mark"]
)
def test_removed_rules(rule: str) -> None:
    """D.2: rules of the draft of 2003 that RFC 3986 does not have."""
    draft = edition("uri-2003")
    draft.is_valid("a", rule)
    with pytest.raises(GrammarError, match="there is no rule"):
        edition("rfc3986").is_valid("a", rule)


def test_removing_dots_everywhere_changes_abnormal_references_only() -> None:
    """D.2: with a hierarchical base, only references with superfluous dots resolve differently than in 2003."""
    draft, base = edition("uri-2003"), "http://a/b/c/d;p"
    for reference in ("g:h", "g", "./g", "g/", "/g", "//g", "g?y", "g#s", ";x", ".", "..", "../g", "../..", "../../g"):
        assert str(URI(base).join(reference)) == draft.resolve(base, reference).uri, reference
    for reference in ("/./g", "/../g", "../../../g", "g:/a/../b"):
        assert str(URI(base).join(reference)) != draft.resolve(base, reference).uri, reference


def test_a_fragment_without_retrieval_has_no_meaning() -> None:
    """3.5: it is valid, and no rung changes it."""
    for scheme, fragment in product(("urn:x:y", "made-up:z", "mailto:a@b"), ("", "%2F", "a=1&a=2", "?/:@!$")):
        uri = URI(f"{scheme}#{fragment}")
        assert (uri.fragment, str(uri.normalize())) == (fragment, str(uri))
