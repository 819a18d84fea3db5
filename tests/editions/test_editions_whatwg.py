"""How browsers read texts: ada's results unchanged, and ada compared with the tests of the URL Standard."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from overthere import explain
from overthere.editions import whatwg
from support import NO_SUITE, SHARED, outside

ROWS = outside("wpt_urltestdata")
# Rows for which ada's result differs from the URL Standard's tests; id -> ada's result.
DISAGREE: dict[str, str | None] = {}
# An opaque origin is the text "null"; rows without an origin have none.
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
def test_results_of_ada_are_unchanged() -> None:
    """Attribute by attribute, for each row."""
    import ada_url

    if not ROWS:
        pytest.skip(NO_SUITE)
    for row in ROWS:
        base = () if row["base"] is None else (row["base"],)
        # ada accepts UTF-8; a lone surrogate, which it cannot get, is U+FFFD in a USVString.
        texts = [re.sub("[\ud800-\udfff]", "\ufffd", text) for text in (row["input"], *base)]
        try:
            url: Any = ada_url.URL(*texts)
        except ValueError:
            url = None
        href = whatwg.read(row["input"], *base)
        expected = url and {name: getattr(url, name) for name in whatwg.Href._fields}
        assert (href and href._asdict()) == expected, row["id"]


@needs_ada
def test_the_tests_of_the_standard() -> None:
    if not ROWS:
        pytest.skip(NO_SUITE)
    failures: dict[str, str | None] = {}
    for row in ROWS:
        href, expected = whatwg.read(row["input"], row["base"]), row["expected"]
        if not isinstance(expected, dict):
            right = href is None
        else:
            fields = {name: expected[name] for name in COMPARED if name in expected}
            if expected.get("origin") is not None:
                fields["origin"] = expected["origin"]
            right = href is not None and {name: getattr(href, name) for name in fields} == fields
        if not right:
            failures[row["id"]] = href and href.href
    assert failures == DISAGREE
    assert len(ROWS) > (900 if SHARED.exists() else 800)


@needs_ada
def test_explain_shows_how_browsers_read() -> None:
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
def test_lone_surrogates_are_replaced() -> None:
    """A USVString has U+FFFD for a lone surrogate; a pair is one character."""
    href = whatwg.read("http://h/\ud800")
    assert href is not None
    assert href.pathname == "/%EF%BF%BD"
