"""`extract`, compared with tldextract itself on the same list, for hosts of all kinds of rules."""

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
    # What it reads file: URIs with leaves the list open, until garbage is collected in some other test.
    warnings.simplefilter("ignore", ResourceWarning)
    PEER("h.example")
    gc.collect()
HOSTILE = ["http://" + "a." * 100_000, "[" * 100_000, "@" * 100_000, "\x00", "\ud800", "%" * 9, "." * 9999]


def rules() -> list[str]:
    lines = (line.split()[0] for line in LIST.read_text("utf-8").splitlines() if line.strip())
    return [line for line in lines if not line.startswith("//")]


@pytest.mark.parametrize("private", [False, True, None])
def test_a_name_under_each_rule_of_the_list(private: bool | None) -> None:
    """Some 10,000 rules, a name with none, one and two more labels for each."""
    different = []
    for rule in rules():
        name = rule.removeprefix("!").replace("*", "wild")
        for host in (name, f"Site.{name}", f"a.b.{name}"):
            here, there = extract(f"https://u:p@{host}:8/a@b", private), PEER(f"https://u:p@{host}:8/a@b", private)
            if here != there or here.registry_suffix != there.registry_suffix:
                different.append((host, here, there))
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
def test_texts_as_tldextract_reads_them(url: str, private: bool) -> None:
    here, there = extract(url, private), PEER(url, private)
    assert type(here) is ExtractResult
    assert here == there
    assert [here.fqdn, here.ipv4, here.ipv6, here.top_domain_under_registry_suffix, here.reverse_domain_name] == [
        there.fqdn, there.ipv4, there.ipv6, there.top_domain_under_registry_suffix, there.reverse_domain_name,
    ]  # fmt: skip


@pytest.mark.parametrize(("url", "domain", "suffix"), [
    ("http://b%62c.co.uk/", "bbc", "co.uk"), ("http://bbc.co%2Euk/", "bbc", "co.uk"),
    ("http://0x7f.1/", "0x7f.1", ""), ("http://127.1/", "127.1", ""), ("1.2.3", "1.2.3", ""),
    ("http://a..com", "a..com", ""), ("http://.com", ".com", ""),
])  # fmt: skip
def test_what_differs(url: str, domain: str, suffix: str) -> None:
    found = extract(url)
    assert (found.domain, found.suffix) == (domain, suffix)
    assert found != PEER(url)


def test_values() -> None:
    assert extract(URI("http://forums.bbc.co.uk/")) == extract("forums.bbc.co.uk")
    assert extract(IRI("http://bücher.co.uk/")).domain == "bücher"
    assert extract(URI("urn:a:b")) == extract("")
    wrong: Any = b"bbc.co.uk"
    with pytest.raises((TypeError, AttributeError)):
        extract(wrong)


@pytest.mark.parametrize("url", HOSTILE)
def test_hostile_texts(url: str) -> None:
    assert isinstance(extract(url), ExtractResult)


def test_a_domain_names_its_rule() -> None:
    own = SuffixList("uk\n*.ck\n!www.ck\nboth.uk\n// ===BEGIN PRIVATE DOMAINS===\nio.uk\n*.io.uk\nboth.uk")
    names = ("a.uk", "a.b.ck", "www.ck", "a.io.uk", "a.b.io.uk", "a.both.uk", "a.zz")
    assert {name: (cut.rule, cut.private) for name in names if (cut := own.split(name))} == {
        "a.uk": ("uk", False), "a.b.ck": ("*.ck", False), "www.ck": ("!www.ck", False), "a.io.uk": ("*.io.uk", True),
        "a.b.io.uk": ("*.io.uk", True), "a.both.uk": ("both.uk", False), "a.zz": ("*", False),
    }  # fmt: skip
    public = own.split("a.b.io.uk", private=False)
    assert public == Domain("a.b", "io.uk", "uk", "uk", False)
    assert suffix_list().split("b\u00fccher.example") == Domain(None, "bücher.example", "example", "*", False)
