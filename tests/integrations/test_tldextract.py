"""`extract` compared with tldextract on the same list, for hosts of all kinds of rules."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tldextract")

import publicsuffixlist
from tldextract import ExtractResult, TLDExtract

from overthere import IRI, URI
from overthere.integrations.tldextract import extract
from overthere.values.hosts.domains import Domain, SuffixList, suffix_list

LIST = Path(publicsuffixlist.__file__).with_name("public_suffix_list.dat")
PEER = TLDExtract(suffix_list_urls=[LIST.as_uri()], cache_dir=None, fallback_to_snapshot=False)
with warnings.catch_warnings():
    # A file: URI of the list stays open in tldextract until a garbage collection in some other test.
    warnings.simplefilter("ignore", ResourceWarning)
    PEER("h.example")
    gc.collect()
HOSTILE = ["http://" + "a." * 100_000, "[" * 100_000, "@" * 100_000, "\x00", "\ud800", "%" * 9, "." * 9999]


def rules() -> list[str]:
    lines = (line.split()[0] for line in LIST.read_text("utf-8").splitlines() if line.strip())
    return [line for line in lines if not line.startswith("//")]


@pytest.mark.parametrize("private", [False, True, None])
def test_names_under_each_rule_of_the_list(private: bool | None) -> None:
    """About 10,000 rules; for each a name with no, one and two more labels."""
    different = []
    for rule in rules():
        name = rule.removeprefix("!").replace("*", "wild")
        for host in (name, f"Site.{name}", f"a.b.{name}"):
            ours, theirs = extract(f"https://u:p@{host}:8/a@b", private), PEER(f"https://u:p@{host}:8/a@b", private)
            if ours != theirs or ours.registry_suffix != theirs.registry_suffix:
                different.append((host, ours, theirs))
    assert len(rules()) > 9_000
    assert different == []


@pytest.mark.parametrize("url", [
    "google.com", "google.notavalidsuffix", "localhost", "http://localhost:8080", "http://127.0.0.1:8080/deployed/",
    "http://[aBcD:ef01:2345:6789:aBcD:ef01:127.0.0.1]/p", "//bbc.co.uk.", "", "/", "http://", "user@bbc.co.uk:8/x?y#z",
    "http://u:p@bbc.co.uk", "http://a.b.c.d.e.com/?x=http://www.org", "bbc.co.uk\uff0e", "www\u3002bbc.co\uff61uk",
    "http://www.xn--85x722f.com.cn", "http://bücher.example.澳門", "HTTP://WWW.BBC.CO.UK", "mailto:joe@bbc.co.uk",
    "http://x y.com/", "256.1.1.1.com", "com", "co.uk", "[", "http://@/",
])  # fmt: skip
@pytest.mark.parametrize("private", [False, True])
def test_texts_are_read_like_tldextract(url: str, private: bool) -> None:
    ours, theirs = extract(url, private), PEER(url, private)
    assert type(ours) is ExtractResult
    assert ours == theirs
    assert [ours.fqdn, ours.ipv4, ours.ipv6, ours.top_domain_under_registry_suffix, ours.reverse_domain_name] == [
        theirs.fqdn, theirs.ipv4, theirs.ipv6, theirs.top_domain_under_registry_suffix, theirs.reverse_domain_name,
    ]  # fmt: skip


@pytest.mark.parametrize(("url", "domain", "suffix"), [
    ("http://b%62c.co.uk/", "bbc", "co.uk"), ("http://bbc.co%2Euk/", "bbc", "co.uk"),
    ("http://0x7f.1/", "0x7f.1", ""), ("http://127.1/", "127.1", ""), ("1.2.3", "1.2.3", ""),
    ("http://a..com", "a..com", ""), ("http://.com", ".com", ""),
])  # fmt: skip
def test_documented_differences(url: str, domain: str, suffix: str) -> None:
    parts = extract(url)
    assert (parts.domain, parts.suffix) == (domain, suffix)
    assert parts != PEER(url)


def test_values_as_arguments() -> None:
    assert extract(URI("http://forums.bbc.co.uk/")) == extract("forums.bbc.co.uk")
    assert extract(IRI("http://bücher.co.uk/")).domain == "bücher"
    assert extract(URI("urn:a:b")) == extract("")
    wrong: Any = b"bbc.co.uk"
    with pytest.raises((TypeError, AttributeError)):
        extract(wrong)


@pytest.mark.parametrize("url", HOSTILE)
def test_hostile_texts_are_linear(url: str) -> None:
    assert isinstance(extract(url), ExtractResult)


def test_a_domain_has_its_rule() -> None:
    rules = SuffixList("uk\n*.ck\n!www.ck\nboth.uk\n// ===BEGIN PRIVATE DOMAINS===\nio.uk\n*.io.uk\nboth.uk")
    names = ("a.uk", "a.b.ck", "www.ck", "a.io.uk", "a.b.io.uk", "a.both.uk", "a.zz")
    assert {name: (parts.rule, parts.private) for name in names if (parts := rules.split(name))} == {
        "a.uk": ("uk", False), "a.b.ck": ("*.ck", False), "www.ck": ("!www.ck", False), "a.io.uk": ("*.io.uk", True),
        "a.b.io.uk": ("*.io.uk", True), "a.both.uk": ("both.uk", False), "a.zz": ("*", False),
    }  # fmt: skip
    public = rules.split("a.b.io.uk", private=False)
    assert public == Domain("a.b", "io.uk", "uk", "uk", False)
    assert suffix_list().split("b\u00fccher.example") == Domain(None, "bücher.example", "example", "*", False)
