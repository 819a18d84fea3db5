"""The trace of a resolution has the result of the algorithm, in consecutive steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere.editions.compare_resolution import universe
from overthere.editions.readings import shown_target
from overthere.editions.resolution import RESOLUTIONS
from overthere.editions.resolution_trace import TRACES, trace
from overthere.ground.errors import NotSpecified, OverthereError

TEXTS = st.text(alphabet="/.ab:?#", max_size=24)


def assert_consistent(name: str, base: str, reference: str) -> tuple[str | None, str | None]:
    try:
        return shown_target(RESOLUTIONS[name].resolve(base, reference)), None
    except OverthereError as error:
        return None, str(error)


@pytest.mark.parametrize("name", TRACES)
def test_every_pair_of_the_universe_is_traced(name: str) -> None:
    bases, references = universe()
    wrong = [
        (base, reference)
        for base in bases
        for reference in references
        if trace(name, base, reference)[-2:] != assert_consistent(name, base, reference)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", TRACES)
@given(base=TEXTS, reference=TEXTS)
def test_any_text_is_traced(name: str, base: str, reference: str) -> None:
    for base_uri in (base, "x:" + base, "http://h" + base):
        assert trace(name, base_uri, reference)[-2:] == assert_consistent(name, base_uri, reference)


def test_the_example_of_5_2_4() -> None:
    """RFC 3986 5.2.4: the table of "/a/b/c/./../../g", without its last line."""
    lines = [
        (line.step[-2:], line.output, line.input)
        for line in trace("rfc3986", "x:", "/a/b/c/./../../g").lines
        if line.input is not None
    ]
    assert lines == [
        (" 1", "", "/a/b/c/./../../g"),
        ("2E", "/a", "/b/c/./../../g"),
        ("2E", "/a/b", "/c/./../../g"),
        ("2E", "/a/b/c", "/./../../g"),
        ("2B", "/a/b/c", "/../../g"),
        ("2C", "/a/b", "/../g"),
        ("2C", "/a", "/g"),
        ("2E", "/a/g", ""),
    ]


def test_steps_of_the_older_documents() -> None:
    lines = [(line.step, line.output) for line in trace("url-1997", "http://a/b/c/d", "./../g/..").lines if line.output]
    assert lines == [
        ("5.2 6a", "/b/c/"),
        ("5.2 6b", "/b/c/./../g/.."),
        ("5.2 6d", "/b/c/../g/.."),
        ("5.2 6f", "/b/g/.."),
        ("5.2 6g", "/b/"),
    ]


@pytest.mark.parametrize("name", TRACES)
def test_the_trace_of_a_long_path_is_limited(name: str) -> None:
    """The rest is counted, and the result is the same."""
    reference = "a/../" * 4000
    steps = trace(name, "http://h/", reference)
    assert steps.target == assert_consistent(name, "http://h/", reference)[0] == "http://h/"
    assert steps.left_out > 1000
    assert sum(len(line.output or "") + len(line.input or "") for line in steps.lines) < 300_000


@pytest.mark.parametrize(
    ("base", "reference"),
    [
        ('n"s:x', "g"),
        ("http://h/", "<URL:news:*>"),
        ("http://h/", "[4000::1]"),
        ("view-s\0urce:a", "/g"),
        ("x:a", "@:0"),
    ],
)
def test_a_scheme_of_1997_has_letters_digits_and_three_marks(base: str, reference: str) -> None:
    """url-1997 4.1: only then is the text before a colon a scheme, in the trace too."""
    assert trace("url-1997", base, reference)[-2:] == assert_consistent("url-1997", base, reference)


def test_an_unknown_trace_is_rejected() -> None:
    with pytest.raises(NotSpecified):
        trace("rfc1738", "http://h/", "x")
