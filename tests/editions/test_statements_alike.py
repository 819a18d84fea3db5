"""Statements common to several of the older documents, for each edition."""

from __future__ import annotations

import pytest

from overthere import PlanRefused, plan
from overthere.access import Send
from overthere.editions import edition

LATER = pytest.mark.parametrize("name", ["url-1997", "uri-2003"])


@pytest.mark.parametrize("name", ["rfc1738", "url-1997", "uri-2003"])
def test_characters_are_compared_not_bytes(name: str) -> None:
    """RFC 1738 2.2; 1997 1.1, 1.4; 2003 1.5, 1.6: whatever bytes transported them."""
    by, text = edition(name), "ftp://u@h/a;type=i#f"
    carried = [text.encode(charset).decode(charset) for charset in ("ascii", "utf-16", "cp037")]
    assert {by.split(octets) for octets in carried} == {by.split(text)}
    assert by.split(text).authority == "u@h"


@LATER
def test_no_authority_from_a_base_without_one(name: str) -> None:
    """1997 4.3.1, 5.2 step 4; 2003 3.2: a reference against such a base has none."""
    by = edition(name)
    for reference, target in (("c", "x:/a/c"), ("../c", "x:/c"), ("/c", "x:/c"), ("c?d", "x:/a/c?d")):
        assert by.resolve("x:/a/b", reference).uri == target
        assert by.split(target).authority is None


@LATER
def test_a_fragment_is_not_sent(name: str) -> None:
    """1997 3; 2003 4.1: the user agent applies it after the retrieval."""
    by = edition(name)
    for text in ("http://h/a", "ftp://h/a", "gopher://h/0a"):
        sent = [step.data for step in plan(by.locator(text + "#secret")).steps if isinstance(step, Send)]
        assert sent == [step.data for step in plan(by.locator(text)).steps if isinstance(step, Send)]
        assert not any(b"secret" in data for data in sent)


@LATER
def test_a_tree_is_reachable_under_three_schemes(name: str) -> None:
    """1997 5; 2003 5: a set of documents under file, http and ftp, moved as a whole."""
    for root in ("file:///srv/", "http://h/tree/", "ftp://h/pub/tree/", "http://other/a/b/"):
        assert edition(name).resolve(root + "one/index.html", "../two/a.png").uri == root + "two/a.png"


@LATER
@pytest.mark.parametrize("text", ["ftp://h/a%0D%0Ab", "gopher://h/0a%0Ab", "telnet://a%0D%0Ab@h/", "nntp://h/a%0Ab/1"])
def test_a_line_end_is_never_sent(name: str, text: str) -> None:
    """1997 7; 2003 7.2: escaped delimiters of a protocol are not decoded into it."""
    with pytest.raises(PlanRefused, match=r"carriage return|line feed"):
        plan(edition(name).locator(text))
