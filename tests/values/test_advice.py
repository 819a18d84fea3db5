"""Helpful errors: the escape to write, the accepted argument, and the name in another library."""

from __future__ import annotations

import abc
import inspect
import pickle
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import pytest

from overthere import IRI, URI, InvalidURI, IRIReference, URIReference, check, explain, repair
from overthere.values.conveniences import ELSEWHERE


def message(text: str, kind: type[URIReference] | type[IRIReference] = URI) -> str:
    with pytest.raises(InvalidURI) as caught:
        kind(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "escape"),
    [
        ("https://h/?ids[]=1", "%5B%5D"), ("https://h/a|b", "%7C"), ("https://h/{id}", "%7B"),
        ("https://h/ü", "%C3%BC"), ("https://h/#ü", "%C3%BC"), ("https://h/a b", "%20"), ("https://h/100%", "%25"),
        ("https://h/?%zz", "%25"), ("https://h/%4", "%25"), ("https://h/#a#b", "%23"), ("https://u[@h/", "%5B"),
        ("urn:a:b<c>", "%3C"),
    ],
)  # fmt: skip
def test_message_names_the_escape_and_repair(text: str, escape: str) -> None:
    """The suggestion is what `repair` writes there."""
    advice = message(text)
    assert f': write "{escape}" or use repair (at ' in advice
    start = check(text)[0].start
    assert str(repair(text).uri)[start:].startswith(escape)
    assert check(text)[0].message in advice


def test_messages_do_not_repeat_the_grammar() -> None:
    text = "https://h/?ids[]=1"
    advice = message(text)
    assert advice == 'a query cannot contain "[]": write "%5B%5D" or use repair (at 14, in the query; RFC 3986 3.4)'
    finding = check(text)[0]
    assert (finding.rule, finding.expected) == ("query", 'pchar, "#", "/", "?" or the end')
    assert "expected pchar" in " ".join(str(explain(text)).split())
    for other in ("http://a|b/", "https://u|@h/", "https://h/|", "https://h/#|", "https://h/?é"):
        assert not any(rule in message(other) for rule in ("pchar", "unreserved", "sub-delims", "pct-encoded"))
    assert "expected a digit" in message("http://h:8o/")


def test_advice_is_given_only_if_it_works() -> None:
    assert 'U+0000: write "%00" (at' in message("http://h/\0")
    assert ': write "%5C" (at' in message("http://h/a\\b")  # browsers read another path, so that `repair` rejects it
    for text in ("http://a|b/", "http://a b/", "ht|tp://h/", "http://a%/"):
        assert "write" not in message(text)
        assert "use repair" not in message(text)
    assert "U+D800 is not a US-ASCII character (an IRI can hold letters of every script) (at" in message("x:\ud800")
    assert "use repair, which writes A-labels (at" in message("http://ü.example/")
    assert ': write "%7C" (at' in message("http://h/ü|", IRI)
    assert message("http://h/" + "é" * 100).count("%C3%A9") == 8


@pytest.mark.parametrize("text", ["http://h/ ", "http://h/a\n", "http://h/?a\tb", "http://h/#a\r\n"])
def test_advice_to_remove_surrounding_white_space(text: str) -> None:
    assert ": remove it or use repair (at " in message(text)
    assert "".join(text.split()) == str(repair(text))


def test_advice_shows_no_password() -> None:
    text = message("http://joe:sec|ret@h/")
    assert "cannot contain a character of the password: percent-encode it or use repair" in text
    assert "%7C" not in text


def test_message_about_a_path_after_an_authority() -> None:
    acts: list[Callable[[], URI]] = [
        lambda: URI.build(scheme="http", host="h", path="foo"),
        lambda: URI("http://h/").replace(path="foo"),
        lambda: URI("http:foo").replace(host="h"),
    ]
    for act in acts:
        with pytest.raises(InvalidURI, match=r'begins with "/" or is empty: write "/foo" \(at'):
            act()
    with pytest.raises(InvalidURI) as caught:
        URI.build(scheme="http", host="h", path="a" * 10_000)
    assert len(str(caught.value)) < 300


def test_message_about_an_ipv6_address_without_brackets() -> None:
    advice = r'write "\[::1\]" or pass an IPv6Address \(at'
    with pytest.raises(InvalidURI, match=advice):
        URI.build(scheme="http", host="::1")
    with pytest.raises(InvalidURI, match=advice):
        URI("http://h/").replace(host="::1")
    with pytest.raises(InvalidURI) as caught:
        URI("http://h/").replace(host="h:80")
    assert "IPv6Address" not in str(caught.value)


def test_replace_accepts_addresses_like_build() -> None:
    uri = URI("http://joe@h:8/a")
    assert str(uri.replace(host=IPv6Address("::1"))) == "http://joe@[::1]:8/a"
    assert str(uri.replace(host=IPv4Address("127.0.0.1"))) == "http://joe@127.0.0.1:8/a"
    assert str(uri.replace(host="é".encode())) == "http://joe@%C3%A9:8/a"
    assert str(URI.build(scheme="http", host=IPv6Address("::1"))) == "http://[::1]"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("netloc", "use authority=..."), ("hostname", "use host=..."), ("username", "use user=..."),
        ("params", "use query={...}"), ("query_params", "use query={...}"), ("parameters", "use query={...}"),
        ("query_string", "use query=..."), ("raw_path", "use path=..."), ("protocol", "use scheme=..."),
        ("hash", "use fragment=..."), ("with_host", "use host=..."), ("with_query", "use query=..."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", [URI, URIReference, IRI, IRIReference])
def test_arguments_of_other_libraries_are_explained(kind: Any, name: str, hint: str) -> None:
    value = kind("http://h/")
    for act, subject in ((kind.build, "build"), (value.replace, "replace")):
        with pytest.raises(TypeError) as caught:
            act(**{name: "x"})
        expected = f"{kind.__name__}.{subject}() got an unexpected keyword argument {name!r}; {hint}"
        assert str(caught.value) == expected


def test_unknown_arguments_are_rejected() -> None:
    build: Any = URI.build
    with pytest.raises(TypeError, match=r"'nothing'; it takes scheme=, authority=, .*segments=.*fragment=, zone=$"):
        build(scheme="http", nothing=1)
    change: Any = URI("http://h/").replace
    with pytest.raises(TypeError, match=r"'segments'; use with_segments\(\.\.\.\)$"):
        change(segments=["a"])
    with pytest.raises(TypeError, match="positional"):
        change("h")
    assert list(inspect.signature(URI.build).parameters)[:3] == ["scheme", "authority", "userinfo"]


class Foreign(URI, abc.ABC):
    """A class of another package, with a metaclass."""

    __slots__ = ()


@pytest.mark.parametrize("kind", [URI, URIReference, IRI, IRIReference, Foreign])
def test_names_of_other_libraries_are_explained_but_not_listed(kind: Any) -> None:
    value = kind("http://h/")
    assert not ELSEWHERE.keys() & {*dir(value), *dir(kind)}
    assert type(URI) is type  # so that a subclass may have any metaclass, and values are created by the fast path
    for name, replacement in ELSEWHERE.items():
        assert not hasattr(value, name)
        with pytest.raises(AttributeError, match="; use ") as caught:
            getattr(kind, name)
        assert (caught.value.name, str(caught.value).endswith(replacement)) == (name, True)
    assert pickle.loads(pickle.dumps(value)) == value
