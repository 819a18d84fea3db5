"""Findings on a text, part by part, in the five editions and for any rule (RFC 3986 Appendix A and its like)."""

from __future__ import annotations

import random

import pytest

from overthere import InvalidURI, PlanRefused, check, plan
from overthere.editions import NAMES, edition
from support import linear

TEXT = "http://h h/a|b%zz?c|d"


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("url-1994", "URL:" + TEXT, [("path", 16), ("path", 19), ("search", 23)]),  # a space is extra (94-1)
        ("rfc1738", TEXT, [("host", 8), ("hpath", 12), ("hpath", 15), ("search", 19)]),
        ("url-1997", TEXT, [("host", 8), ("path", 12), ("path", 15), ("query", 19)]),
        ("uri-2003", TEXT, [("reg-name", 8), ("path", 12), ("path", 15), ("query", 19)]),
        ("rfc3986", TEXT, [("host", 8), ("path", 12), ("path", 14), ("query", 19)]),
        ("rfc1738", "ftp://u{v@h/a^b;type=z", [("user", 7), ("fpath", 13), ("ftptype", 21)]),
        ("rfc1738", "mailto:a b@c d", [("encoded822addr", 8), ("encoded822addr", 12)]),
        ("rfc1738", "HTTP://x<y:8o/%4", [("host", 8), ("port", 12), ("hpath", 16)]),
        ("url-1997", "x:a;b|c/d", [("param[1][1]", 5)]),
        ("uri-2003", "mailto:a b?c|d", [("opaque-part", 8), ("opaque-part", 12)]),
        ("url-1994", "http://h/a|b", [("prefix", 0), ("path", 10)]),
        # A character belongs to one part only.
        ("url-1997", "x:a;b|c/d?a;b|c", [("param[1][1]", 5), ("query", 13)]),
        ("url-1997", "http://u{@h/u{", [("user", 8), ("path", 13)]),
        ("uri-2003", "http://u{@h/u{@h", [("reg-name", 8), ("path", 13)]),
    ],
)
def test_every_finding_names_its_part(name: str, text: str, places: list[tuple[str, int]]) -> None:
    assert [(finding.component, finding.start) for finding in check(text, name)] == places
    assert all(finding.source.startswith(edition(name).document) for finding in check(text, name)) or name == "rfc3986"


@pytest.mark.parametrize(
    ("name", "rule", "text", "places"),
    [
        ("rfc3986", "path-rootless", "a b/c|d%zz", [("path-rootless", 1), ("path-rootless", 5), ("path-rootless", 8)]),
        ("rfc3986", "relative-ref", "a b?c|d#e^", [("path", 1), ("query", 5), ("fragment", 9)]),
        ("rfc3986", "absolute-URI", "x:a b#c", [("path", 3), ("absolute-URI", 5)]),
        ("rfc3986", "IPv4address", "1.2.3", [("IPv4address", 5)]),
        ("rfc3986", "relative-ref", "//u{@h/u{@h", [("userinfo", 3), ("path", 8)]),
        ("uri-2003", "URI-reference", "a b?c|d", [("path", 1), ("query", 5)]),
        ("rfc1738", "fpath", "a b|c", [("fpath", 1), ("fpath", 3)]),
    ],
)
def test_findings_for_any_rule(name: str, rule: str, text: str, places: list[tuple[str, int]]) -> None:
    assert [(finding.component, finding.start) for finding in check(text, name, rule=rule)] == places


@pytest.mark.parametrize("name", NAMES)
def test_a_text_has_findings_if_and_only_if_it_is_invalid(name: str) -> None:
    rng = random.Random(1994)
    by = edition(name)
    for rule in (by.top, "host" if name == "rfc3986" else "hostnumber" if name != "uri-2003" else "IPv4address"):
        for text in by.grammar.automaton(rule).sample(60):
            for _ in range(4):
                at = rng.randrange(len(text) + 1)
                spoiled = text[:at] + rng.choice(["|", "%", "^", "\x00", "é", ""]) + text[at + rng.randrange(2) :]
                findings = by.check(spoiled, rule)
                assert bool(findings) != by.is_valid(spoiled, rule), spoiled
                assert [finding.start for finding in findings] == sorted(finding.start for finding in findings)
                assert all(finding.end <= len(spoiled) and finding.expected for finding in findings)


def test_further_findings_are_counted_in_linear_time() -> None:
    findings = check("http://h/" + "a|" * 5000, "rfc1738", limit=3)
    assert [finding.kind for finding in findings] == ["not-derivable"] * 3 + ["more"]
    assert findings[-1].message.startswith("4,997 ")
    for name in NAMES:  # the count cites the same document
        findings = check("http://h/" + "a|" * 5000, name, limit=3)
        assert findings[-1].kind == "more"
        assert {finding.source for finding in findings[:-1]} == {findings[-1].source} or name == "rfc3986"

    def use(size: int) -> None:
        for piece in ("a|", "%", "%z", "|", "é"):
            assert check("http://h/" + piece * (size // len(piece)), "url-1997", limit=5)
        # As many parts as findings.
        assert len(check("http://h/" + "/a;b|" * (size // 5), "url-1997", limit=None)) == size // 5

    linear(use, 20_000)


@pytest.mark.parametrize(
    ("name", "text", "rule", "source"),
    [
        ("rfc1738", "gopher://u@h/1", "gopherurl", "RFC 1738 3.4"),
        ("url-1994", "wais://u:p@h/d", "waisaddress", "1994 WAIS"),
        ("rfc1738", "nntp:a", "nntpurl", "RFC 1738 3.7"),
        ("rfc1738", "file:a", "fileurl", "RFC 1738 3.10"),
    ],
)
def test_an_error_cites_the_edition(name: str, text: str, rule: str, source: str) -> None:
    with pytest.raises(InvalidURI) as caught:
        edition(name).locator(text)
    assert (caught.value.rule, caught.value.source) == (rule, source)


@pytest.mark.parametrize(
    ("text", "of_1994", "of_1738", "foreign"),
    [
        ("ftp://h/a", "1994 FTP", "RFC 1738 3.2", ""),
        ("gopher://h/7a%09b", "1994 GOPHER", "RFC 1738 3.4", "RFC 4266"),
        ("wais://h/d?x", "1994 WAIS", "RFC 1738 3.9", "RFC 4156"),
        ("nntp://h/g/1", "1994 NNTP", "RFC 1738 3.7", "RFC 5538"),
        ("news:a", "1994 NEWS", "RFC 1738 3.6", "RFC 5538"),
        ("telnet://h", "1994 TELNET", "RFC 1738 3.8", "RFC 4248"),
        ("prospero://h/a", "1994 PROSPERO", "RFC 1738 3.11", "RFC 4157"),
        ("mailto:a@b", "1994 MAILTO", "RFC 1738 3.5", "RFC 6068"),
    ],
)
def test_a_plan_cites_the_edition(text: str, of_1994: str, of_1738: str, foreign: str) -> None:
    for name, source in (("url-1994", of_1994), ("rfc1738", of_1738)):
        steps = plan(edition(name).locator(text)).steps
        assert any(step.source.startswith(source) for step in steps)
        assert not foreign or not any(foreign in step.source + step.note for step in steps)
        assert name == "rfc1738" or not any("RFC 1738" in step.source for step in steps)


def test_a_rejected_plan_cites_the_edition() -> None:
    with pytest.raises(PlanRefused, match=r"RFC 1738 3[.]8"):
        plan(edition("rfc1738").locator("telnet://-f@h"))
    with pytest.raises(PlanRefused, match="1994 WAIS"):
        plan(edition("url-1994").locator("wais://h"))
