"""Statements of the draft of March 2003 that no case row shows, each read from its paragraph."""

from __future__ import annotations

from itertools import product

import pytest

from overthere import OverthereError, Rung, decode, decode_bytes, encode, plan, scheme
from overthere.editions import edition
from overthere.editions.uri2003 import resolve
from printed import components, recombined, replaced

EDITION = edition("uri-2003")
UNRESERVED = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.!~*'()"
RESERVED = "[];/?:@&=+$,"
COMPONENTS = ["userinfo", "path", "segment", "query", "fragment", "opaque-part"]


def test_characters_not_octets() -> None:
    """1.5, 1.6, 6.2.1: characters are read and compared, whatever octets have carried them."""
    text = "http://h/a;p?q#f"
    carried = [text.encode(name).decode(name) for name in ("ascii", "utf-16", "cp037")]
    assert len({EDITION.split(one) for one in carried}) == 1
    assert len({EDITION.normalize(one, Rung.STRING) for one in carried}) == 1


def test_two_mappings() -> None:
    """2.1: characters to octets by US-ASCII, octets to characters by a charset, which the URI does not tell."""
    assert decode_bytes("a") == bytes([97])
    assert decode_bytes("%0a") == bytes([10])
    for charset, text in (("utf-8", "é"), ("latin-1", "Ã©")):
        assert decode("%C3%A9", charset=charset) == text
        assert encode(text, charset=charset) == "%C3%A9"


def test_a_character_is_itself_or_its_escape() -> None:
    """2.1: for characters of US-ASCII both mappings are simple, and can be undone."""
    for code in range(128):
        written = EDITION.encode(chr(code), "segment")
        assert written in (chr(code), f"%{code:02X}")
        assert EDITION.decode(written) == EDITION.decode(f"%{code:02x}") == chr(code)


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_unreserved_are_not_escaped(component: str) -> None:
    """2.3, 6.3: escaping is done where it is essential only."""
    assert EDITION.encode(UNRESERVED, component) == UNRESERVED


@pytest.mark.parametrize("component", COMPONENTS)
def test_what_is_escaped(component: str) -> None:
    """2.4, 2.4.3, 6.3: what is neither unreserved nor reserved, in upper case digits; it is derived nowhere."""
    for code in range(128):
        char = chr(code)
        if char in UNRESERVED or char in RESERVED:
            continue
        assert EDITION.encode(char, component) == f"%{code:02X}"
        if char not in "#%":
            assert not EDITION.is_valid(f"http://h/a{char}b")


def test_reserved_is_kept() -> None:
    """2.2, 2.4.2: a completed URI is neither escaped nor unescaped where that would change its meaning."""
    for char in RESERVED:
        escape = f"%{ord(char):02X}"
        for text in (f"x:/a{escape}b", f"x:/?a{escape}b", f"http://u{escape}v@h/"):
            assert EDITION.normalize(text, Rung.SCHEME) == text
        if EDITION.is_valid(f"x:/a{char}b"):
            assert EDITION.normalize(f"x:/a{char}b", Rung.SCHEME) == f"x:/a{char}b"


def test_parted_before_decoded() -> None:
    """2.4.2: what was escaped delimits nothing after decoding."""
    parts = EDITION.parts("http://u%3Ap%40@h/a%2Fb%3Fc?d%23e")
    assert EDITION.decode(parts["userinfo"] or "") == "u:p@"
    assert parts["host"] == "h"
    assert EDITION.decode(parts["path"] or "") == "/a/b?c"
    assert EDITION.decode(parts["query"] or "") == "d#e"


def test_once() -> None:
    """2.4.2: nothing is escaped or unescaped twice."""
    assert EDITION.decode("%2541") == "%41"
    assert EDITION.encode("%41") == "%2541"
    assert EDITION.normalize("x:/%2541", Rung.SCHEME) == "x:/%2541"


def test_http_needs_a_host() -> None:
    """3.2.2: the scheme says what a missing host and a missing port mean."""
    for text in ("http:///a", "http:/a"):
        with pytest.raises(OverthereError, match="host"):
            plan(EDITION.locator(text))
    assert EDITION.locator("file:///a").scheme == "file"
    assert scheme("http").port == 80
    assert EDITION.normalize("http://h:80/", Rung.SCHEME) == "http://h/"


def test_the_query_of_the_base_is_not_used() -> None:
    """5.2: it may be discarded, and no slash in it counts."""
    for reference in ("g", "?y", "g?y/../x", "../g", "/g", "#s", ""):
        assert EDITION.resolve("http://a/b/c/d;p?q/../r/", reference) == EDITION.resolve("http://a/b/c/d;p", reference)


def test_a_base_without_a_path() -> None:
    """5.2 step 1, G.2: a slash is put in, with and without an authority."""
    assert EDITION.resolve("http://a", "g").uri == "http://a/g"
    assert EDITION.resolve("http://a?q", "../g").uri == "http://a/../g"
    assert EDITION.resolve("x:", "g").uri == "x:/g"


def test_excess_may_be_stripped() -> None:
    """C.2, 5.2 step 7: `http://a/g` by some implementations."""
    for reference in ("../../../g", "../../../../g"):
        assert resolve("http://a/b/c/d;p?q", reference, excess="strip").uri == "http://a/g"


def steps(base: str, reference: str) -> str | None:
    """5.2 as the pseudocode and the eight steps of merge print it; None is the current document."""
    scheme, authority, path, query, fragment = components(reference)
    base_scheme, base_authority, base_path, _, _ = components(base)
    path, base_path = path or "", base_path or ""
    if scheme is None:
        scheme = base_scheme
        if authority is None:
            authority = base_authority
            if path == "" and query is None:
                return None
            if path == "":
                path = base_path
            elif not path.startswith("/"):
                path = replaced((base_path[: base_path.rfind("/") + 1] if base_path else "/") + path)
    return recombined(scheme, authority, path, query, fragment)


def test_the_steps_as_written() -> None:
    """5.2: the series of replacements beside the resolver, for references of up to four segments."""
    pieces = ["", ".", "..", "a", "b?c", "...", "?"]
    bases = ["http://a/b/c/d;p?q", "http://a/", "http://a", "x:/a/b", "x:a/b", "x:", "http://a/../b/c"]
    for count in range(1, 5):
        for made in map("/".join, product(pieces, repeat=count)):
            for base in bases:
                assert resolve(base, made).uri == steps(base, made), (base, made)
    for made in ("#f", "g#s/../x", "?y#f", "//h", "//h/../a?b#c", "g:h", "/./a?b/../c", "http:g"):
        target, said = resolve(bases[0], made), steps(bases[0], made)
        fragment = "" if target.fragment is None else "#" + target.fragment
        assert said == (None if target.uri is None else target.uri + ("" if "#" in target.uri else fragment)), made


def test_references_are_compared_as_targets() -> None:
    """6.1: relative references are made absolute first; fragments are set apart for network actions."""
    one, two = EDITION.resolve("http://a/b/c", "../b/d#x"), EDITION.resolve("http://a/b/c", "d#y")
    assert one.uri is not None
    assert two.uri is not None
    assert one.uri.partition("#")[0] == two.uri.partition("#")[0]
    assert EDITION.normalize("../b/d") != EDITION.normalize("d")


def test_the_expression_of_appendix_b() -> None:
    """B: $2, $4, $5, $7 and $9."""
    pieces = ["a", "1", ":", "/", "?", "#", "//", "[", " ", "é"]
    for count in range(5):
        for text in map("".join, product(pieces, repeat=count)):
            assert [*EDITION.split(text)] == components(text), text
