"""Every rule of the five grammars: texts that it derives, and texts that it does not."""

from __future__ import annotations

from typing import Any

import pytest

from overthere.editions import edition
from support import cases, ids

ROWS = [row for name in ("bnf", "bnf_url1997", "bnf_uri2003", "bnf_rfc3986") for row in cases(name)]
EDITIONS = ("url-1994", "rfc1738", "url-1997", "uri-2003", "rfc3986")
KEYS = {"id", "from", "edition", "rule", "yes", "no"}


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_a_rule_accepts_and_rejects_the_texts_of_its_row(row: dict[str, Any]) -> None:
    assert KEYS <= set(row) <= {*KEYS, "only"}
    by, rule = edition(row["edition"]), row["rule"]
    for text in row["yes"]:
        assert by.is_valid(text, rule), text
        assert by.check(text, rule) == [], text
    for text in row["no"]:
        assert not by.is_valid(text, rule), text
        assert by.check(text, rule), text
    assert not set(row["yes"]) & set(row["no"])
    # Two of each if the rule has two; every rule rejects something.
    assert len(set(row["no"])) == len(row["no"]) >= 2
    assert len(set(row["yes"])) == len(row["yes"]) >= (1 if row.get("only") else 2)


@pytest.mark.parametrize("row", [row for row in ROWS if row.get("only")], ids=lambda row: row["id"])
def test_a_finite_rule_derives_exactly_the_listed_texts(row: dict[str, Any]) -> None:
    texts = edition(row["edition"]).grammar.automaton(row["rule"]).sample(1000)
    assert set(texts) == set(row["yes"])


@pytest.mark.parametrize("name", EDITIONS)
def test_every_rule_has_one_row(name: str) -> None:
    rules = [row["rule"].lower() for row in ROWS if row["edition"] == name]
    assert sorted(rules) == sorted(edition(name).grammar.rules)


# The alternatives as printed: the rule on the left derives all that those on the right derive, and more.
ALTERNATIVES = {
    "rfc1738": """
        genericurl: url
        url: httpurl ftpurl newsurl nntpurl telneturl gopherurl waisurl mailtourl fileurl prosperourl otherurl
        waisurl: waisdatabase waisindex waisdoc
        schemepart: ip-schemepart
        any-scheme: scheme new-scheme
        login: hostport
        hostport: host
        host: hostname hostnumber
        hostname: toplabel
        domainlabel: alphadigit toplabel
        toplabel: alpha
        alphadigit: alpha digit
        grouppart: group article
        alpha: lowalpha hialpha
        hex: digit
        unreserved: alpha digit safe extra
        uchar: unreserved escape
        xchar: unreserved reserved escape
        gtype: xchar
        digits: digit
    """,
    "url-1994": """
        url: httpaddress ftpaddress newsaddress nntpaddress prosperoaddress telnetaddress gopheraddress waisaddress
        url: mailtoaddress midaddress cidaddress
        scheme: ialpha
        waisaddress: waisindex waisdoc
        groupart: group article
        database: xalphas
        wtype: xalphas
        prosperoaddress: prosperolink
        hsoname: path
        version: digits
        attributes: attribute
        attribute: alphanums
        login: hostport
        hostport: host
        host: hostname hostnumber
        cellname: hostname
        hostname: ialpha
        port: digits
        selector: path
        path: void segment
        segment: xpalphas
        search: xalphas
        user: xalphas
        password: xalphas
        fragmentid: xalphas
        gtype: xalpha
        xalpha: alpha digit safe extra escape
        xalphas: xalpha ialpha
        xpalpha: xalpha
        xpalphas: xpalpha xpalphas-printed
        hex: digit
        alphanum: alpha digit
        alphanums: alphanum
        gopherplus-string: gopherplus-summary
        gopherplus-summary: gopherplus-ask gopherplus-attributes gopherplus-content
    """,
}


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_a_rule_derives_what_its_alternatives_derive(name: str) -> None:
    by = edition(name)
    derived = {row["rule"]: row["yes"] for row in ROWS if row["edition"] == name}
    for line in ALTERNATIVES[name].strip().splitlines():
        above, _, below = line.strip().partition(": ")
        for rule in below.split():
            for text in derived[rule]:
                assert by.is_valid(text, above), (above, rule, text)
