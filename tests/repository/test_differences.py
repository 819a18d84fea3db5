"""Differences from other packages: each that `bench/differences.py` finds has a kind, and so has each on its page."""

from __future__ import annotations

import sys

from support import ROOT

sys.path.append(str(ROOT / "bench"))

import differences
from overthere import URI


def test_each_difference_has_a_kind() -> None:
    """Of the packages that the tests run with, over odd URIs."""
    uris = [URI(one) for one in dict.fromkeys(map(str, differences.make_uris(2_000)))]
    for peer in (differences._w3lib(), differences._url_normalize(), differences._ada()):
        told = differences.table(peer, uris)
        assert "| others |" not in told, told
        assert "| what differs |" in told, told


def test_the_page_has_no_difference_without_a_kind() -> None:
    page = differences.PAGE.read_text(encoding="utf-8")
    assert page.count("| what differs |") == 5
    assert "| others |" not in page
