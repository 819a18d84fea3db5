"""Statements of the draft of May 1997 without a case row, each with its paragraph."""

from __future__ import annotations

from itertools import product

import pytest

from overthere import Rung
from overthere.editions import edition
from overthere.editions.url1997 import resolve
from printed import components, recombined, replaced

EDITION = edition("url-1997")
UNRESERVED = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789$-_.!~*'(),"
COMPONENTS = ["user", "password", "path", "segment", "param", "query", "fragment"]


def test_a_character_is_itself_or_its_escape() -> None:
    """2.1: a US-ASCII character is mapped to its code, which is written as that character or as an escape."""
    for code in range(128):
        assert EDITION.encode(chr(code), "segment") in (chr(code), f"%{code:02X}")
        assert EDITION.decode(f"%{code:02X}") == EDITION.decode(f"%{code:02x}") == chr(code)


@pytest.mark.parametrize("component", COMPONENTS)
def test_unreserved_characters_are_not_escaped(component: str) -> None:
    """2.3: they can be, and should not."""
    assert EDITION.encode(UNRESERVED, component) == UNRESERVED


@pytest.mark.parametrize("component", COMPONENTS)
def test_excluded_characters_are_escaped(component: str) -> None:
    """2.4, 2.4.3: US-ASCII that is neither unreserved nor reserved; the grammar derives none of it."""
    for code in range(128):
        char = chr(code)
        if char in UNRESERVED or char in ";/?:@&=+":
            continue
        assert EDITION.encode(char, component) == f"%{code:02X}"
        if char not in "#%":
            assert not EDITION.is_valid(f"http://h/a{char}b", "absoluteURL")


def test_encode_escapes_the_reserved_characters_of_a_component() -> None:
    """2.2, 4.3.1, 4.3.2, 4.3.3: those named in the component's section."""
    reserved = {"user": ":@?/", "password": ":@?/", "segment": "/;=?", "query": "/&=+"}
    for component, named in reserved.items():
        for char in ";/?:@&=+":
            data = EDITION.encode(char, component)
            assert EDITION.decode(data) == char
            if char in named:
                assert data == f"%{ord(char):02X}", (component, char)


def test_normalization_keeps_escaped_delimiters() -> None:
    """2.4.2: a complete URL is not escaped or unescaped: no rung changes its components."""
    for text in ("http://h/a%2Fb;c%3Bd?e%26f#g%23h", "http://u%40v@h/%252F", "x:%3A%2F%2Fh"):
        normal = EDITION.normalize(text, Rung.SCHEME)
        assert EDITION.split(normal) == EDITION.split(text)


def test_components_are_split_before_decoding() -> None:
    """2.4.2: escaped characters delimit nothing."""
    parts = EDITION.parts("http://u%3Ap%40@h/a%2Fb%3Fc?d%23e")
    assert EDITION.decode(parts["user"] or "") == "u:p@"
    assert parts["password"] is None
    assert EDITION.decode(parts["path"] or "") == "/a/b?c"
    assert EDITION.decode(parts["query"] or "") == "d#e"


def test_the_query_of_the_base_is_not_used() -> None:
    """5.2, F.4: it may be discarded."""
    for reference in ("g", "?y", "g?y", "../g", "/g", "#s", ""):
        assert EDITION.resolve("http://a/b/c/d;p?q", reference) == EDITION.resolve("http://a/b/c/d;p", reference)


def test_any_scheme_may_be_a_base() -> None:
    """F.4: the base only needs to fit the generic syntax."""
    for scheme in ("http", "x-unknown", "gopher", "mailto"):
        assert EDITION.resolve(f"{scheme}://a/b/c", "../d").uri == f"{scheme}://a/d"


def steps(base: str, reference: str) -> str | None:
    """5.2, steps 1 to 7, as a series of replacements; None: the current document."""
    scheme, site, path, query, fragment = components(reference)
    base_scheme, base_site, base_path, _, _ = components(base)
    path, base_path = path or "", base_path or ""
    if path == "" and (scheme, site, query) == (None, None, None):
        return None
    if scheme is not None:
        return reference
    if site is None:
        site = base_site
        if not path.startswith("/"):
            before = base_path[: base_path.rfind("/") + 1]
            text = replaced(before + path + ("" if query is None else "?" + query))
            path, found, after = text.partition("?")
            query = after if found else None
    return recombined(base_scheme, site, path, query, fragment)


def test_the_steps_as_written() -> None:
    """5.2: the series of replacements compared with the resolver, for references of up to four segments."""
    pieces = ["", ".", "..", "a", "b?c", "...", "?"]
    bases = ["http://a/b/c/d;p?q", "http://a/", "x:/a/b", "x:a/b", "http://a/../b/c", "x:a"]
    for count in range(1, 5):
        for path in map("/".join, product(pieces, repeat=count)):
            for base in bases:
                assert resolve(base, path).uri == steps(base, path), (base, path)
    for path in ("#f", "g#s/../x", "?y#f", "//h", "//h/../a?b#c", "g:h", "/./a?b/../c"):
        target = resolve(bases[0], path)
        rules = steps(bases[0], path)
        fragment = "" if target.fragment is None else "#" + target.fragment
        assert rules == (None if target.uri is None else target.uri + ("" if "#" in target.uri else fragment)), path


def test_the_expression_of_appendix_b() -> None:
    """B: $2, $4, $5, $7 and $9, where $2 is a scheme by its rule (decision 97-6)."""
    pieces = ["a", "1", ":", "/", "?", "#", "//", "[", " ", "é"]
    for count in range(5):
        for text in map("".join, product(pieces, repeat=count)):
            parts = components(text)
            if parts[0] is None or EDITION.is_valid(parts[0], "scheme"):
                assert [*EDITION.split(text)] == parts, text


@pytest.mark.parametrize("reference", ["a/b", "../c", "/d", "//h/./e", "http://h/../f", "g;p?q"])
def test_without_a_base_references_are_absolute(reference: str) -> None:
    """5.1.4, 5.2 step 1: the base is empty, and the reference is interpreted as an absolute URL."""
    assert EDITION.resolve("", reference) == (reference, None, False)
    assert EDITION.resolve("", f"{reference}#f") == (f"{reference}#f", "f", False)
