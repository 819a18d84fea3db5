"""Tasks of clients and web applications: origins, redirects, request targets, file names, short forms."""

from __future__ import annotations

import random
import unicodedata
from pathlib import PurePosixPath, PureWindowsPath

import pytest

from overthere import IRI, URI, InvalidURI, URIReference
from overthere.ground.display import columns

BASE = URI("https://site.example/login?next=x")

SAME_SITE = {
    "": "https://site.example/login?next=x",
    "?": "https://site.example/login?",
    "#top": "https://site.example/login?next=x#top",
    "/": "https://site.example/",
    "/a?to=http://evil.example": "https://site.example/a?to=http://evil.example",
    "a/http:2222": "https://site.example/a/http:2222",
    "../../a": "https://site.example/a",
    "//site.example/a": "https://site.example/a",
    "//SITE.example:443/a": "https://SITE.example:443/a",
    "https://site.example/confirm?email=me@example.com": "https://site.example/confirm?email=me@example.com",
    "HTTPS://site.example": "HTTPS://site.example",
    "https://site.%65xample/": "https://site.%65xample/",
    "/%09/evil.example": "https://site.example/%09/evil.example",
    "/.//evil.example": "https://site.example//evil.example",
    "/é?プ": "https://site.example/%C3%A9?%E3%83%97",
    "/:80": "https://site.example/:80",
    "@evil.example": "https://site.example/@evil.example",
    "javascript%3Aa()": "https://site.example/javascript%3Aa()",
}
LEAVES = [
    "//evil.example", "///evil.example", "////evil.example", "//evil.example/..//site.example", "https://evil.example/",
    "http://site.example/", "https://site.example:8443/", "https://site.example.evil/", "https://site.example@evil.example/",
    "https:evil.example", "https:/evil.example", "https:///evil.example", "http:evil", "https:", "https://", "//",
    "javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,a", "mailto:a@b", "view-source:https://site.example/",
    "//site.example:443:80/", "//[::1]/", "//site.example\u3002evil/", "//sıte.example/",
    "//site.example%2eevil.example/",
    "//site.example%00.evil/", "//site.example%2fevil/", "https://site.example:99999999999999999999/",
]  # fmt: skip
"""Valid references that RFC 3986 or browsers resolve to another origin."""
NO_REFERENCES = [
    "\\\\evil.example", "/\\evil.example", "\\/evil.example", "/\\/evil.example", "http:\\\\evil.example",
    "https:\\\\site.example", "https://site.example\\@evil.example/", "https://site.example\\.evil.example/",
    "/\t/evil.example", "/\n/evil.example", "\t//evil.example", "\r\n//evil.example", " //evil.example",
    "//evil.example ", "\x08//evil.example", "\x00/a", "java\tscript:a()", "\njavascript:a()", "http://2001:db8::1]/", "https://[evil/",
    "/a b", "/%", "/%zz", "a:b:c", "1a:b", "\ud800", "/\u202egnp.exe",
]  # fmt: skip
"""Invalid references (RFC 3986, RFC 3987) that browsers often resolve to another origin."""


@pytest.mark.parametrize(("text", "target"), SAME_SITE.items())
def test_a_redirect_in_the_origin_is_resolved(text: str, target: str) -> None:
    assert str(BASE.redirect_target(text)) == target


@pytest.mark.parametrize("text", [text for text in LEAVES + NO_REFERENCES if text != "a:b:c"])
def test_a_redirect_to_another_origin_is_rejected(text: str) -> None:
    assert BASE.redirect_target(text) is None


def test_browsers_resolve_each_target_to_the_origin() -> None:
    """Checked with ada, which implements the URL Standard in Node.js."""
    ada = pytest.importorskip("ada_url", reason="ada_url is absent")
    chance = random.Random(44)
    pieces = [
        *SAME_SITE,
        *LEAVES,
        "/",
        "//",
        ":",
        "@",
        "\\",
        "%2f",
        "%5c",
        "%09",
        "..",
        "https:",
        "site.example",
        "evil.example",
    ]
    reached = 0
    for _ in range(20_000):
        text = "".join(chance.choices(pieces, k=chance.randint(1, 3)))
        target = BASE.redirect_target(text)
        if target is not None:
            reached += 1
            for read in (ada.URL(text, base=str(BASE)), ada.URL(str(target))):
                assert (read.protocol, read.host) == ("https:", "site.example"), text
    assert reached > 2_000


def test_a_too_large_port_has_no_origin() -> None:
    uri = URI("https://site.example:" + "9" * 19)
    assert (uri.origin, uri.effective_port, uri.same_origin(BASE), uri.is_relative_to(BASE)) == (
        "null",
        None,
        False,
        False,
    )
    assert not uri.is_relative_to("https://site.example:" + "8" * 19)


@pytest.mark.parametrize("base", ["data:,a", "urn:a:b", "file:///a", "mailto:a@b"])
def test_without_an_origin_every_redirect_is_rejected(base: str) -> None:
    assert all(URI(base).redirect_target(text) is None for text in ("", "#a", "b", "/b", base))


ORIGINS = [
    ("http://h/a", "HTTP://H:80/b?c", True),
    ("http://h", "http://u:p@h/", True),
    ("http://h", "https://h", False),
    ("http://h", "http://h:8080", False),
    ("http://h", "http://h.", False),
    ("http://%68/", "http://h/", True),
    ("ws://h", "http://h", False),
    ("file:///a", "file:///a", False),
    ("data:,a", "data:,a", False),
]


@pytest.mark.parametrize(("text", "other", "same"), ORIGINS)
def test_same_origin(text: str, other: str, same: bool) -> None:
    assert URI(text).same_origin(other) is same
    assert URI(other).same_origin(URI(text)) is same


BELOW = [
    ("https://h/a/b", "https://h/a", True),
    ("https://h/a/b", "https://h/a/", True),
    ("https://h/a", "https://h/a/", True),
    ("https://h/ab", "https://h/a", False),
    ("https://h/a/../b", "https://h/a", False),
    ("https://h/a/%2e%2e/b", "https://h/a", False),
    ("https://h/A/b", "https://h/a", False),
    ("https://h/%61/b", "https://h/a", True),
    ("https://h/a%2Fb", "https://h/a", False),
    ("https://h/x", "https://h", True),
    ("HTTPS://u@H:443/a?q#f", "https://h/a", True),
    ("https://h:1/a", "https://h/a", False),
    ("https://h.evil/a", "https://h/", False),
    ("http://h/a", "https://h/a", False),
    ("file:///a/b", "file:///a", True),
    ("urn:a:b", "urn:a:b", True),
    ("urn:a:bc", "urn:a:b", False),
]


@pytest.mark.parametrize(("uri", "base", "below"), BELOW)
def test_is_relative_to_compares_segments(uri: str, base: str, below: bool) -> None:
    assert URI(uri).is_relative_to(base) is below


REDIRECTS = [
    ("https://app.example/cb", "https://app.example/cb", True),
    ("https://app.example/cb", "https://app.example/cb/", False),
    ("https://app.example/cb", "https://app.example:443/cb", False),
    ("https://app.example/cb", "https://APP.example/cb", False),
    ("https://app.example/cb", "https://app.example/cb#f", False),
    ("https://app.example/cb#f", "https://app.example/cb#f", False),
    ("https://app.example/cb", "https://app.example/%63b", False),
    ("http://127.0.0.1/cb", "http://127.0.0.1:49152/cb", True),
    ("http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb", True),
    ("http://127.0.0.1:1/cb", "http://127.0.0.1/cb", True),
    ("http://[::1]/cb", "http://[::1]:8080/cb", True),
    ("http://127.0.0.1/cb", "http://127.0.0.1:/cb", False),
    ("http://127.0.0.1/cb", "http://127.0.0.1:1/cb2", False),
    ("http://127.0.0.1/cb", "http://u@127.0.0.1:1/cb", False),
    ("http://127.0.0.1/cb", "http://127.0.0.1.evil:1/cb", False),
    ("http://127.0.0.1/cb", "https://127.0.0.1:1/cb", False),
    ("http://127.0.0.1/cb", "http://[::1]:1/cb", False),
    ("https://127.0.0.1/cb", "https://127.0.0.1:1/cb", False),
    ("http://localhost/cb", "http://localhost:1/cb", False),
    ("http://[0:0::1]/cb", "http://[0:0::1]:1/cb", False),
    ("com.example.app:/cb", "com.example.app:/cb", True),
    ("https://app.example/cb", "not a URI", False),
]


@pytest.mark.parametrize(("registered", "requested", "matches"), REDIRECTS)
def test_oauth_redirect_uris_are_compared_as_text_except_loopback_ports(
    registered: str, requested: str, matches: bool
) -> None:
    assert URI(registered).matches_redirect(requested) is matches


def test_the_request_target_is_the_origin_form() -> None:
    rows = {
        "http://h": "/",
        "http://h?": "/?",
        "http://u@h:1/a/?q=%20#f": "/a/?q=%20",
        "urn:a": None,
        "file:///a": None,
    }
    assert {text: URI(text).request_target for text in rows} == rows


HOSTILE_NAMES = [
    "..", ".", "%2E%2e", "...", "%2e%2E%2F", "/", "%2F", "%5C", "..%2F..%2Fetc%2Fpasswd", "..%5c..%5cwin.ini",
    "C%3A%5Ca", "%00", "a%00.png", "a%0A", "%E2%80%AEgnp.exe", "%E2%81%A6a", "%EF%BB%BF", "-rf", "~", "con", "CON.txt",
    "aux.", "Com1.a", "lpt%C2%B9", "conin$", "nul%20.txt", "a%3Astream", "a.", "a%20", "%FF%FE", "a%3F", "%C2%A0",
    "*", "%7C", "",
]  # fmt: skip


@pytest.mark.parametrize("segment", HOSTILE_NAMES)
def test_a_filename_is_valid_on_every_system(segment: str) -> None:
    name = URI(f"http://h/{segment}").filename
    if name is None:
        return
    assert PurePosixPath(name).name == PureWindowsPath(name).name == name
    assert name not in ("", ".", "..")
    assert not PureWindowsPath(name).drive
    assert name[0] not in ".- "
    assert name[-1] not in ". "
    assert not any(unicodedata.category(character)[0] == "C" for character in name)
    assert not set(name) & set('/\\:*?"<>|\0')
    stem = name.partition(".")[0].rstrip().upper()
    assert stem not in {
        "CON",
        "PRN",
        "AUX",
        "NUL",
        "CONIN$",
        "CONOUT$",
        *(f"{d}{n}" for d in ("COM", "LPT") for n in "0123456789¹²³"),
    }


def test_a_filename_is_none_if_it_would_be_empty() -> None:
    assert [URI(f"http://h/{name}").filename for name in ("", "..", "%2E%2e", "%20", "-")] == [None] * 5
    assert URIReference("a/b.txt?q").filename == "b.txt"
    assert IRI("http://h/é/ü.txt").filename == "ü.txt"
    assert URI("http://h/a//").filename == "a"


@pytest.mark.parametrize("name", ["a.tar.gz", ".profile", "a", "a.b", "..a.b", "a.b.", "a b.c"])
def test_stem_and_suffixes_agree_with_pathlib(name: str) -> None:
    value, path = URI("http://h/x").with_name(name), PurePosixPath(name)
    assert (value.name, value.stem, value.suffix) == (path.name, path.stem, path.suffix)
    assert value.suffixes == tuple(path.suffixes)
    assert value.with_stem("s t") == URI("http://h/x").with_name(f"s t{path.suffix}")


def test_parents_end_at_the_root() -> None:
    assert [str(parent) for parent in URI("http://h/a/b/?q#f").parents] == ["http://h/a/b", "http://h/a", "http://h/"]
    assert [str(parent) for parent in URIReference("a/b/c").parents] == ["a/b", "a", ""]
    assert URI("http://h").parents == URI("http://h/").parents == URI("urn:a:b").parents[1:] == ()


@pytest.mark.parametrize("width", [0, 10, 24, 30, 40, 60, 200])
def test_a_display_has_the_whole_host_and_fits_the_width(width: int) -> None:
    for text in (
        "https://joe:secret@www.example.com/r%C3%A9sum%C3%A9s/%E6%97%A5%E6%9C%AC/%FF%FE/index.html?sig=abc&q=1#top",
        "http://www.h.example/?access_token=hidden&x=" + "y" * 100,
        "urn:isbn:0451450523",
        "http://[::1]:8080/" + "a/" * 50,
        "http://xn--bcher-kva.example/" + "%E2%80%AE" * 20,
    ):
        value = URI(text)
        output = value.display(width)
        assert (value.host or "") in output
        assert "secret" not in output
        assert "hidden" not in output
        assert "sig=abc" not in output
        assert output.isprintable()
        head = columns(output[: output.index(value.host) + len(value.host)]) if value.host else 0
        assert columns(output) <= max(width, head + columns(":8080…"), columns("urn:…"))
    assert URI("http://h/é".replace("é", "%C3%A9")).display() == "http://h/é"
    assert IRI("http://é/é").display() == "http://é/é"


def test_user_and_password_are_encoded_as_data() -> None:
    uri = URI("ftp://h/a")
    assert str(URI.build(scheme="ftp", host="h", user="a@b", password="p:/w")) == "ftp://a%40b:p%3A%2Fw@h"
    assert str(uri.replace(user="a@b", password="p:/w")) == "ftp://a%40b:p%3A%2Fw@h/a"
    assert str(uri.replace(userinfo=("a@b", "p:/w"))) == "ftp://a%40b:p%3A%2Fw@h/a"
    with_login = uri.replace(userinfo="j%6Fe:x%3A")
    assert str(with_login.replace(password="y")) == "ftp://j%6Fe:y@h/a"
    assert str(with_login.replace(user="k")) == "ftp://k:x%3A@h/a"
    assert str(with_login.replace(password=None)) == "ftp://j%6Fe@h/a"
    assert with_login.replace(user=None) == uri
    assert (with_login.replace(user="ü").user, with_login.replace(password=b"\xff").userinfo) == ("ü", "j%6Fe:%FF")
    with pytest.raises(TypeError, match="userinfo already contains user"):
        uri.replace(userinfo="a", user="b")
    with pytest.raises(TypeError, match="userinfo already contains password"):
        URI.build(scheme="s", host="h", userinfo="a", password="b")
    with pytest.raises(InvalidURI, match="host"):
        URI("urn:a").replace(user="joe")


def test_parameters_are_removed_by_value() -> None:
    uri = URI("http://h/?t=a&x=%7e&t=b&t&%74=%62#f")
    assert str(uri.without_parameters(("t", "b"))) == "http://h/?t=a&x=%7e&t#f"
    assert str(uri.without_parameters(("t", None), "x")) == "http://h/?t=a&t=b&%74=%62#f"
    assert str(uri.without_parameters((b"t", b"a"))) == "http://h/?x=%7e&t=b&t&%74=%62#f"
    assert str(uri.only_parameters("x", ("t", "a"))) == "http://h/?t=a&x=%7e#f"
    assert str(uri.only_parameters("nothing")) == "http://h/#f"
    assert uri.only_parameters("*") is uri
    assert uri.without_parameters(("x", "other")) is uri
