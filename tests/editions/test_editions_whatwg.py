"""What browsers read: ada's answer handed through as it is, and ada beside the rows of the URL Standard's own tests."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from overthere import explain
from overthere.editions import whatwg
from support import NO_SUITE, SHARED, outside

ROWS = outside("wpt_urltestdata")
# Rows on which ada answers otherwise than the URL Standard's tests; id -> what it answers.
DISAGREE: dict[str, str | None] = {}
# An opaque origin is the text "null"; rows that say nothing of an origin have none.
COMPARED = tuple(name for name in whatwg.Href._fields if name != "origin")

needs_ada = pytest.mark.skipif(not whatwg.available(), reason="ada is absent")


def test_without_ada(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whatwg, "_ada", lambda: None)
    assert not whatwg.available()
    with pytest.raises(ImportError, match=r"overthere\[whatwg\]"):
        whatwg.read("http://h/")
    explanation = explain("http://h/")
    assert explanation.whatwg is None
    assert "whatwg" not in explanation.to_dict()
    assert "whatwg" not in str(explanation)


@needs_ada
def test_handed_through() -> None:
    """Whatever ada answers for a row is what is shown, attribute by attribute."""
    import ada_url

    if not ROWS:
        pytest.skip(NO_SUITE)
    for row in ROWS:
        base = () if row["base"] is None else (row["base"],)
        # ada takes UTF-8; what it cannot be given, a lone surrogate, is U+FFFD in a USVString.
        texts = [re.sub("[\ud800-\udfff]", "\ufffd", text) for text in (row["input"], *base)]
        try:
            url: Any = ada_url.URL(*texts)
        except ValueError:
            url = None
        found = whatwg.read(row["input"], *base)
        wanted = url and {name: getattr(url, name) for name in whatwg.Href._fields}
        assert (found and found._asdict()) == wanted, row["id"]


@needs_ada
def test_the_standards_own_rows() -> None:
    if not ROWS:
        pytest.skip(NO_SUITE)
    failures: dict[str, str | None] = {}
    for row in ROWS:
        found, wanted = whatwg.read(row["input"], row["base"]), row["expected"]
        if not isinstance(wanted, dict):
            right = found is None
        else:
            told = {name: wanted[name] for name in COMPARED if name in wanted}
            if wanted.get("origin") is not None:
                told["origin"] = wanted["origin"]
            right = found is not None and {name: getattr(found, name) for name in told} == told
        if not right:
            failures[row["id"]] = found and found.href
    assert failures == DISAGREE
    assert len(ROWS) > (900 if SHARED.exists() else 800)


@needs_ada
def test_explained() -> None:
    explanation = explain("HTTP://h:80\\a?b#c")
    assert explanation.whatwg is not None
    assert explanation.whatwg.href == "http://h/a?b#c"
    assert json.loads(json.dumps(explanation.to_dict()))["whatwg"]["pathname"] == "/a"
    lines = str(explanation).split("\n")
    assert [line.split() for line in lines if line.startswith("  whatwg")] == [["whatwg", "ok", "h", "/a", "b", "c"]]
    refused = explain("http://[/")
    assert refused.whatwg is None
    assert refused.to_dict()["whatwg"] is None
    assert [line.split() for line in str(refused).split("\n") if line.startswith("  whatwg")] == [["whatwg", "-"]]
    assert explain("?y", "http://a/b").to_dict()["whatwg"]["href"] == "http://a/b?y"


@needs_ada
def test_lone_surrogates_are_scalar_values() -> None:
    """A USVString holds U+FFFD for a lone surrogate; a pair is one character."""
    found = whatwg.read("http://h/\ud800")
    assert found is not None
    assert found.pathname == "/%EF%BF%BD"
