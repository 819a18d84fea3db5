"""Statements of RFC 3986, sections 4 to 7 and appendices, without a case row, each with its paragraph."""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Address
from itertools import product
from pathlib import Path

import pytest

from overthere import (
    URI,
    InvalidURI,
    NoBase,
    PlanRefused,
    Rung,
    URIReference,
    check,
    editions,
    find,
    plan,
)
from overthere.access import Send
from overthere.editions import edition
from overthere.grammar import Grammar
from overthere.grammar.library import grammar
from overthere.kernel import remove_dot_segments, split
from overthere.kernel.reference import remove_dot_segments as plain_remove_dot_segments
from printed import EXPRESSION

UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
RESERVED = ":/?#[]@!$&'()*+,;="


def accepts(rule: str, text: str) -> bool:
    return grammar("rfc3986").automaton(rule).accepts(text)


# -- 4 and 5, references


def test_each_form_has_its_rule() -> None:
    """4: the rule's name selects the allowed form."""
    texts = ["x:a", "x:a#b", "a#b"]
    valid = {rule: [t for t in texts if not check(t, rule=rule)] for rule in ("URI", "URI-reference", "absolute-URI")}
    assert valid == {"URI": ["x:a", "x:a#b"], "URI-reference": texts, "absolute-URI": ["x:a"]}
    assert [t for t in texts if not check(t, rule="relative-ref")] == ["a#b"]


def test_same_document_references_are_recognized() -> None:
    """4.4: they cause no new retrieval, also for a base with a fragment."""
    base = "http://a/b?q#f"
    for reference in ("", "#s", "b?q", "/b?q#x", "//a/b?q", "http://a/b?q"):
        assert URIReference(reference).same_document(base)
    for reference in ("b", "?", "b?q&", ".", "B?q"):
        assert not URIReference(reference).same_document(base)


def test_a_suffix_is_a_relative_path() -> None:
    """4.5: against a base `www.w3.org/Addressing/` is a path, and a host only if no base is given."""
    assert str(URI("http://h/a/").join("www.w3.org/Addressing/")) == "http://h/a/www.w3.org/Addressing/"
    assert URIReference("www.w3.org/Addressing/").host is None
    (match,) = find("see www.w3.org/Addressing/ there")
    assert str(match.uri) == "http://www.w3.org/Addressing/"
    assert list(find("see www.w3.org/Addressing/ there", abbreviated=False)) == []


def test_targets_are_uris() -> None:
    """5: with a valid base, the target of any reference matches the rule URI."""
    bases = ("x:", "x://h", "http://a/b/c/d;p?q", "urn:a:b", "x:a/b", "x:/a/..//b")
    references = grammar("rfc3986").automaton("URI-reference").sample(500, seed=5, length=20)
    for base, reference in product(bases, references):
        assert check(str(URI(base).join(reference))) == []
    with pytest.raises(InvalidURI, match="there is no scheme"):
        URIReference("g").resolve("b")
    with pytest.raises(NoBase):
        URIReference("g").resolve(URIReference("b"))  # type: ignore[arg-type]


PRINTED = {
    "/a/b/c/./../../g": "2E /a|/b/c/./../../g 2E /a/b|/c/./../../g 2E /a/b/c|/./../../g 2B /a/b/c|/../../g "
    "2C /a/b|/../g 2C /a|/g 2E /a/g|",
    "mid/content=5/../6": "2E mid|/content=5/../6 2E mid/content=5|/../6 2C mid|/6 2E mid/6|",
}


def steps(path: str) -> list[str]:
    """5.2.4, literally: the step, then output and input as the figure prints them.

    The figure keeps the "/" that follows in the input for 2E.
    """
    steps: list[str] = []
    remaining, out = path, ""
    while remaining:
        if remaining.startswith(("../", "./")):
            step, remaining = "2A", remaining[remaining.index("/") + 1 :]
        elif remaining.startswith("/./") or remaining == "/.":
            step, remaining = "2B", "/" + remaining[3:]
        elif remaining.startswith("/../") or remaining == "/..":
            step, remaining, out = "2C", "/" + remaining[4:], out[: max(out.rfind("/"), 0)]
        elif remaining in (".", ".."):
            step, remaining = "2D", ""
        else:
            end = remaining.find("/", 1)
            end = len(remaining) if end < 0 else end
            step, out, remaining = "2E", out + remaining[:end], remaining[end:]
        steps.append(f"{step} {out}|{remaining}")
    return steps


@pytest.mark.parametrize("path", PRINTED)
def test_the_steps_as_printed(path: str) -> None:
    """5.2.4: both figures, and both kernels compared with the literal algorithm, for all short paths."""
    target_steps = steps(path)
    # If the output is empty, the figure shows what the first step moved.
    assert " ".join(target_steps) == PRINTED[path].replace("2E /a|/b/c/./../../g", "2E /a|/b/c/./../../g")
    pieces = ["", ".", "..", "a", "...", ".a"]
    for count in range(1, 5):
        for joined in map("/".join, product(pieces, repeat=count)):
            target_steps = steps(joined)
            result = target_steps[-1].split(" ", 1)[1].rstrip("|") if target_steps else ""
            assert remove_dot_segments(joined) == plain_remove_dot_segments(joined) == result, joined


# -- 6, comparison


def test_references_are_compared_as_targets() -> None:
    """6.1: different references are equal if their targets are."""
    base = URI("http://a/b/c")
    first, two = URIReference("../b/d"), URIReference("d")
    assert not first.equivalent(two)
    assert first.resolve(base).equivalent(two.resolve(base))


def test_comparison_includes_fragments() -> None:
    """6.1: for network actions the caller removes them first."""
    a, b = URI("http://h/a#b"), URI("http://h/a#c")
    assert not a.equivalent(b, Rung.SCHEME)
    assert a.replace(fragment=None).equivalent(b.replace(fragment=None), Rung.STRING)


def test_normalization_removes_dots_like_resolution() -> None:
    """6.2.2.3: the algorithm is that of 5.2.4."""
    for text in (
        "x://h/a/./b/../c",
        "x:/../../a",
        "x://h/a/b/../../../..",
        "x:a/../b",
        "x://h/./",
        "x:..",
        "x:/a/..//b",
    ):
        assert URI(text).normalize(Rung.PATH) == URI("y://z/").join(text)


def test_the_default_host_is_written_empty() -> None:
    """6.2.3: the default authority is normalized to an empty one."""
    for text in ("file://localhost/a", "file:///a", "file:/a"):
        assert str(URI(text).normalize(Rung.SCHEME)) == "file:///a"


def test_the_default_host_is_written_after_userinfo() -> None:
    """6.2.3: and before a port, although it is the default."""
    for text in ("file://u@localhost/a", "file://localhost:80/a"):
        assert str(URI(text).normalize(Rung.SCHEME)) == text


def test_evidence_of_an_access() -> None:
    """6.2.4: without evidence a final slash matters; with it both are equal."""
    a, b = URI("http://example.com/data"), URI("http://example.com/data/")
    seen = {"http://example.com/data": "http://example.com/data/"}
    assert not a.equivalent(b, Rung.SCHEME)
    assert a.equivalent(b, Rung.PROTOCOL, evidence=seen)
    assert str(a.normalize(Rung.PROTOCOL, evidence=seen)) == str(b)


# -- 7, security


@pytest.mark.parametrize(
    "text", ["ftp://h/a%0D%0Ab", "gopher://h/0a%0D%0Ab", "news://h/a%0D%0Ab@c", "telnet://u%0D%0Av@h/"]
)
def test_a_line_end_is_never_sent(text: str) -> None:
    """7.2: escaped CR and LF are not decoded where they delimit; HTTP sends the escapes."""
    with pytest.raises(PlanRefused, match="carriage return"):
        plan(text)
    (sent,) = [step.data for step in plan("http://h/a%0D%0Ab").steps if isinstance(step, Send)]
    assert sent.startswith(b"GET /a%0D%0Ab HTTP/1.1\r\n")


def test_nul_reaches_no_file() -> None:
    """7.3: neither NUL nor an escaped "/" becomes part of a name."""
    for text in ("file:///a%00b", "file:///a%2Fb", "ftp://h/a%00b"):
        with pytest.raises(PlanRefused):
            plan(text)


def test_rare_forms_of_addresses_are_reported() -> None:
    """7.4: one, two or three numbers, octal, hexadecimal: names in the grammar, addresses for audit and policy."""
    from overthere.security import kinds
    from overthere.values.hosts.address import literal

    for host in ("127.0.1", "127.1", "2130706433", "0177.0.0.1", "0x7f.0.0.1", "0X7F000001", "017700000001", "127.0x1"):
        assert URI(f"http://{host}/").host_kind == "reg-name"
        assert URI(f"http://{host}/").ip is None
        assert "address-rare" in kinds(f"http://{host}/")
        assert literal(host) == IPv4Address("127.0.0.1")


# -- appendices


def test_the_collected_rules() -> None:
    """A: 36 rules, under the names of the text, with dashes."""
    rules = set(edition("rfc3986").grammar.rules)
    assert len(rules) == 36
    assert not any("_" in name for name in rules)


def test_the_expression_of_appendix_b() -> None:
    """B: on any text the five components are $2, $4, $5, $7 and $9 of the printed expression."""
    pieces = ["a", ":", "/", "?", "#", "//", "[", " ", "%", "é", "\n"]
    for count in range(5):
        for text in map("".join, product(pieces, repeat=count)):
            match = EXPRESSION.match(text)
            assert match is not None
            assert match.end() == len(text)
            assert split(text) == match.group(2, 4, 5, 7, 9), text
    for text in grammar("rfc3986").automaton("URI-reference").sample(1000, seed=3, length=25):
        match, value = EXPRESSION.match(text), URIReference(text)
        assert match is not None
        assert match.group(2, 4, 5, 7, 9) == (value.scheme, value.authority, value.path, value.query, value.fragment)


def test_the_example_of_appendix_b() -> None:
    text = "http://www.ics.uci.edu/pub/ietf/uri/#Related"
    match = EXPRESSION.match(text)
    assert match is not None
    assert match.groups() == (
        "http:", "http", "//www.ics.uci.edu", "www.ics.uci.edu", "/pub/ietf/uri/", None, None, "#Related", "Related",
    )  # fmt: skip
    assert split(text) == ("http", "www.ics.uci.edu", "/pub/ietf/uri/", None, "Related")


def test_typed_text_is_cleaned() -> None:
    """C: delimiters and embedded white space are recognized and removed."""
    for text in (
        "<http://example.com/a>",
        '"http://example.com/a"',
        "<URL: http://example.com/a>",
        "<http://example.\n com/a>",
    ):
        (match,) = find(text)
        assert str(match.uri) == "http://example.com/a"


# D.2: rules of RFC 2396 and their replacements today; texts that the translation derives, and texts that it does not.
OBSOLETE = {
    "absoluteURI": ("absolute-URI", ["http://h/p?q", "mailto:a@b", "x:"], ["p", "//h", "x:#f"]),
    "relativeURI": ('relative-part [ "?" query ]', ["//h/p?q", "/p", "p/q?", "", "?q"], ["x:p", "p#f", "a:b/c"]),
    "hier_part": ('( "//" authority path-abempty / path-absolute ) [ "?" query ]', ["//h?q", "/p", "/?"], ["", "p"]),
    "opaque_part": ('path-rootless [ "?" query ]', ["a@b", "a/b?c", "a:b"], ["", "/a", "?q", "a#b"]),
    "net_path": ('"//" authority path-abempty', ["//h", "//h/p", "//"], ["/p", "h", "//h?q", "//hp[/"]),
    "abs_path": ("path-absolute", ["/", "/a;p/b"], ["", "//a", "a", "/a?b"]),
    "rel_path": ("path-rootless", ["a", "a/b:c", "a:b"], ["", "/a", "a?b"]),
    "rel_segment": ("segment-nz-nc", ["a@b", "a;b=c", "."], ["", "a:b", "a/b"]),
    "reg_name": ("reg-name", ["a,b", "%41", ""], ["a:b", "a@b", "a/b"]),
    "server": ("authority", ["u:p@h:80", "h", "", "[::1]"], ["a@b@c", "h:x", "h/"]),
    "hostport": ('host [ ":" port ]', ["h", "h:80", "[::1]:", "1.2.3.4:1"], ["u@h", "h:x", "h/"]),
    "hostname": ("reg-name", ["h.example", "3com.com", "a_b"], ["h:80", "[::1]", "h/"]),
    "path_segments": ("path-abempty", ["", "/a/b", "//"], ["a", "a/b", "/a?"]),
    "param": ('*( unreserved / pct-encoded / "!" / "$" / "&" / "\'" / "(" / ")" / "*" / "+" / "," / "=" / ":" / "@" )',
              ["", "a=1", "x:y@z,%3B"], [";", "a;b", "/", "?"]),
    "uric": ('unreserved / pct-encoded / ";" / "?" / ":" / "@" / "&" / "=" / "+" / "$" / "," / "/"',
             ["a", "~", "%2F", ";", "/", "?"], ["", "#", "[", "!", "aa"]),
    "uric_no_slash": ('unreserved / pct-encoded / ";" / "?" / ":" / "@" / "&" / "=" / "+" / "$" / ","',
                      ["a", "%2F", ";", "?"], ["", "/", "#", "["]),
    "mark": ('"-" / "_" / "." / "!" / "~" / "*" / "\'" / "(" / ")"', list("-_.!~*'()"), ["", "a", "$", "+"]),
    "escaped": ("pct-encoded", ["%41", "%fF"], ["", "%", "%4", "41"]),
    "hex": ("HEXDIG", ["0", "f", "F"], ["", "g", "00"]),
    "alphanum": ("ALPHA / DIGIT", ["a", "Z", "9"], ["", "-", "aa"]),
}  # fmt: skip


@cache
def translated() -> Grammar:
    rules = "".join(f"old-{name.replace('_', '-')} = {text}\n" for name, (text, _, _) in OBSOLETE.items())
    return Grammar((Path(editions.__file__).with_name("rfc3986.abnf")).read_text() + "\n" + rules)


@pytest.mark.parametrize("name", OBSOLETE)
def test_the_table_of_obsolete_rules(name: str) -> None:
    """D.2: the texts that each translated rule derives, together with today's rules."""
    _, yes, no = OBSOLETE[name]
    automaton = translated().automaton(f"old-{name.replace('_', '-')}")
    assert [text for text in yes if not automaton.accepts(text)] == []
    assert [text for text in no if automaton.accepts(text)] == []
