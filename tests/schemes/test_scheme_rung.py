"""The rung SCHEME: each step with its paragraph, on values and columns (RFC 3986 6.2.3)."""

from __future__ import annotations

import pyarrow as pa
import pytest

from overthere import URI, Rung, columns, lowest_rung, scheme
from overthere.schemes.registry import BUILT_IN

CHANGES = [
    ("http://h:80", [("RFC 9110 4.2.3", "80", None), ("RFC 9110 4.2.3", "", "/")]),
    ("foo://h:/", [("RFC 3986 6.2.3", "", None)]),
    ("foo://u@h:0080/:01", [("RFC 3986 3.2.3", "0080", "80")]),
    ("http://[::01]:000", [("RFC 9110 4.2.3", "", "/"), ("RFC 3986 3.2.3", "000", "0")]),
    ("ftp://h:021/a;type=I", [("RFC 1738 3.2", "021", None), ("RFC 1738 5", "/a;type=I", "/a;type=i")]),
]


@pytest.mark.parametrize(("text", "expected"), CHANGES)
def test_changes_name_the_paragraph(text: str, expected: list[tuple[str, str, str]]) -> None:
    changes = [(c.source, c.before, c.after) for c in URI(text).changes(Rung.SCHEME) if c.rung is Rung.SCHEME]
    assert changes == expected


# Two URIs, and the lowest rung at which they are equal.
PAIRS = [
    ("urn:example:a123,z456?+abc", "URN:EXAMPLE:a123,z456", Rung.SCHEME),
    ("urn:example:a123,z456#789", "urn:example:a123,z456", Rung.SCHEME),
    ("urn:example:a123,z456/foo", "urn:example:a123,z456", None),
    ("http://h?q", "http://h", None),
    ("http://h", "HTTP://h:80/", Rung.SCHEME),
    ("tel:+1-201-555-0123", "tel:+12015550123", Rung.SCHEME),
    ("mailto:A@EXAMPLE.com", "mailto:A@example.com", Rung.SCHEME),
    ("mailto:A@EXAMPLE.com", "mailto:a@example.com", None),
    ("gopher://h", "gopher://h:70/1", Rung.SCHEME),
    ("http://h:08080/", "http://h:8080/", Rung.SCHEME),
    ("foo://h:08080/", "foo://h:8080/", Rung.SCHEME),
    ("foo://h:01", "foo://h:10", None),
    ("file://localhost/a", "file:///a", Rung.SCHEME),
    ("mailto:a@%5BB%5D", "mailto:a@%5Bb%5D", None),
    ("mailto:a@%5BA@B%5D", "mailto:a@%5BA@b%5D", None),
    ("mailto:%22A@B%22@H", "mailto:%22A@B%22@h", Rung.SCHEME),
    ("mailto:%22A@B%22@h", "mailto:%22A@b%22@h", None),
    ("blob:HTTPS://H:8/a", "blob:https://h:8/a", Rung.SCHEME),
    ("blob:https://h/A/b", "blob:https://h/a/b", None),
    ("blob:https://A@h/b", "blob:https://a@h/b", None),
    ("blob:A/b", "blob:a/b", None),
    ("view-source:HTTP://H/", "view-source:http://H/", Rung.SCHEME),
    ("view-source:A/b:c", "view-source:a/b:c", None),
    ("view-source:A_b:c", "view-source:a_b:c", None),
]


@pytest.mark.parametrize(("a", "b", "rung"), PAIRS)
def test_the_lowest_rung_of_pairs(a: str, b: str, rung: Rung | None) -> None:
    assert lowest_rung(a, b) == rung
    assert URI(a).equivalent(URI(b), Rung.SCHEME) == (rung is not None)


def test_columns_have_the_rungs_of_values() -> None:
    first, two = pa.array([a for a, _, _ in PAIRS] + [None]), pa.array([b for _, b, _ in PAIRS] + ["x:y"])
    rungs = pa.array(columns.lowest_rung(first, two)).to_pylist()
    assert rungs == [None if rung is None else int(rung) for _, _, rung in PAIRS] + [None]
    equal = pa.array(columns.equivalent(first, two, Rung.SCHEME)).to_pylist()
    assert equal == [rung is not None for _, _, rung in PAIRS] + [None]


def test_a_normal_form_keeps_ignored_components() -> None:
    assert str(URI("URN:Example:a?=q#f").normalize(Rung.SCHEME)).endswith("?=q#f")


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_rule_has_a_paragraph(name: str) -> None:
    for rule in scheme(name).normal:
        assert "RFC " in rule.source or "IANA" in rule.source, rule
