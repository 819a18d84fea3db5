"""urn (RFC 8141)."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from overthere import URI, InvalidURI, Rung, Unwritable, plan
from overthere.access.gateways import Gateways
from overthere.schemes.known.urn import SCHEME, URNLocator

# RFC 8141 3.2: names in a group are URN-equivalent, names of different groups are not.
GROUPS = (
    (
        "urn:example:a123,z456",
        "URN:example:a123,z456",
        "urn:EXAMPLE:a123,z456",
        "urn:example:a123,z456?+abc",
        "urn:example:a123,z456?=xyz",
        "urn:example:a123,z456#789",
    ),
    ("urn:example:a123,z456/foo",),
    ("urn:example:a123,z456/bar",),
    ("urn:example:a123,z456/baz",),
    ("urn:example:a123%2Cz456", "URN:EXAMPLE:a123%2cz456"),
    ("urn:example:A123,z456",),
    ("urn:example:a123,Z456",),
    ("urn:example:%D0%B0123,z456",),
)


def name(text: str) -> str:
    locator = URI(text).locator
    assert isinstance(locator, URNLocator)
    return locator.assigned_name


def test_urn_equivalence_agrees_with_the_examples() -> None:
    assert [len({name(text) for text in group}) for group in GROUPS] == [1] * len(GROUPS)
    assert len({name(group[0]) for group in GROUPS}) == len(GROUPS)


def test_the_scheme_rung_agrees_with_urn_equivalence() -> None:
    texts = [(number, text) for number, group in enumerate(GROUPS) for text in group]
    for (first, a), (two, b) in combinations(texts, 2):
        assert URI(a).equivalent(URI(b), Rung.SCHEME) == (first == two), (a, b)


def test_an_unreserved_escape_is_the_same_uri_but_not_the_same_name() -> None:
    """RFC 3986 6.2.2.2 equates `%7E` and `~`; RFC 8141 3.1 compares without decoding."""
    a, b = "urn:example:%7Ea", "urn:example:~a"
    assert URI(a).equivalent(URI(b), Rung.SCHEME)
    assert name(a) != name(b)


def test_the_normal_form_keeps_components_that_comparison_ignores() -> None:
    text = "URN:Example:A?+r?=q#f"
    assert str(URI(text).normalize(Rung.SCHEME)) == "urn:example:A?+r?=q#f"
    assert URI(text).equivalent(URI("urn:example:A"), Rung.SCHEME)
    assert not URI(text).equivalent(URI("urn:example:A"), Rung.PATH)


def test_the_f_component_is_the_fragment() -> None:
    locator = URI("urn:example:a#%41").locator
    assert isinstance(locator, URNLocator)
    assert locator.f_component == locator.fragment == "%41"


@pytest.mark.parametrize(
    "wrong",
    [
        {"nss": "a?b"},
        {"nss": "a#b"},
        {"nss": "ä"},
        {"nid": "a:b"},
        {"nid": "//a"},
        {"r_component": "a?=b"},
        {"query": "x"},
    ],
)
def test_ambiguous_locators_are_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises(Unwritable):
        replace(URNLocator("example", "a"), **wrong).uri()


def test_a_urn_needs_a_gateway() -> None:
    assert not plan("urn:example:a").steps
    assert "RFC 8141 1.2.1" in str(plan("urn:example:a"))
    served = plan("urn:example:a,b", gateways=Gateways({"urn": "ftp://resolver.example/{uri}"}))
    assert served.through is not None
    assert served.through.uri == "ftp://resolver.example/urn%3Aexample%3Aa%2Cb"


def test_every_escaped_byte_is_unchanged() -> None:
    for octet in range(256):
        for escape in (f"%{octet:02X}", f"%{octet:02x}"):
            locator = URI(f"urn:example:x{escape}").locator
            assert isinstance(locator, URNLocator)
            assert locator.nss == f"x{escape}"
            assert str(replace(locator, written=None).uri()) == f"urn:example:x{escape}"
            assert locator.assigned_name == f"urn:example:x%{octet:02X}"
            assert locator.decoded.encode("utf-8", "surrogateescape") == b"x" + bytes([octet])


def test_huge_names_are_linear() -> None:
    long = "a/" * 500_000
    text = f"urn:example:{long}?+{'?+' * 100_000}b?={'?=' * 100_000}"
    locator = URI(text).locator
    assert isinstance(locator, URNLocator)
    assert locator.nss == long
    assert str(replace(locator, written=None).uri()) == text
    with pytest.raises(InvalidURI):
        _ = URI("urn:" + "a" * 1_000_000).locator
    assert SCHEME.check("urn:" + "a" * 1_000_000 + ":b", limit=1)
