"""Differences from other packages: every difference found by `bench/differences.py` and on its page has a kind."""

from __future__ import annotations

import sys

from support import ROOT

sys.path.append(str(ROOT / "bench"))

import differences
from overthere import URI


def test_each_difference_has_a_kind() -> None:
    """For the packages installed for tests, on unusual URIs."""
    uris = [URI(uri) for uri in dict.fromkeys(map(str, differences.make_uris(2_000)))]
    for peer in (differences._w3lib(), differences._url_normalize(), differences._ada()):
        table = differences.table(peer, uris)
        assert "| others |" not in table, table
        assert "| what differs |" in table, table


def test_the_page_has_no_difference_without_a_kind() -> None:
    page = differences.PAGE.read_text(encoding="utf-8")
    assert page.count("| what differs |") == 5
    assert "| others |" not in page
