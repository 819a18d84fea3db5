"""Texts around the answers of the explainer's pages: counts, titles, examples, links, warnings."""

from __future__ import annotations

import re
from html import unescape

import pytest

from overthere.editions import whatwg
from overthere.security import audit
from overthere.web import pages
from overthere.web.views import VIEWS


def summary(name: str, **fields: str) -> str:
    return unescape(re.findall(r'data-summary="([^"]*)"', pages.answer(name, fields))[0])


@pytest.mark.parametrize(
    ("name", "fields", "expected"),
    [
        ("anatomy", {"text": "http://h/a b"}, "not valid, 1 finding"),
        ("anatomy", {"text": "http://h:8o/a b"}, "not valid, 2 findings"),
        ("anatomy", {"text": "a"}, "relative reference, 1 component"),
        ("anatomy", {"text": "a:b"}, "URI, 2 components"),
        ("audit", {"text": "http://h.example/"}, "no security findings"),
        ("audit", {"text": "http://joe:pw@h.example/"}, "1 security finding"),
        ("links", {"document": "<a href=x>"}, "1 row"),
        ("links", {"document": "<a href=x><a href=y>"}, "2 rows"),
        ("grammar", {"rule": "ALPHA"}, "2 states"),
        ("resolution", {"reference": "g"}, "1 different target"),
        ("witnesses", {"a": "rfc1738", "b": "rfc3986", "rule": "path"}, "1 rule differs, 0 are the same"),
    ],
)
def test_summaries_count_in_singular_and_plural(name: str, fields: dict[str, str], expected: str) -> None:
    assert summary(name, **fields) == expected


def test_each_view_has_a_title_of_its_own() -> None:
    titles = [re.findall("<title>(.*)</title>", pages.page(name, {})[0])[0] for name in VIEWS]
    assert titles == [f"{view.title} · overthere" for view in VIEWS.values()]


@pytest.mark.parametrize("name", VIEWS)
def test_an_empty_field_shows_an_example(name: str) -> None:
    page, examples = pages.page(name, {})[0], VIEWS[name].examples
    for field in VIEWS[name].inputs:
        if field.kind != "choice":
            (placeholder,) = re.findall(rf'id="in-{field.name}"[^>]*? placeholder="([^"]*)"', page)
            assert unescape(placeholder) in {example.inputs.get(field.name) for example in examples}


def test_the_first_page_has_the_field_of_the_anatomy() -> None:
    page = pages.start()
    assert 'data-view="anatomy"' in page
    assert f'placeholder="{VIEWS["anatomy"].example_of("text")}"' in page
    assert '<div id="answer"></div>' in page


@pytest.mark.parametrize("text", ["http://www.bank.example@0x7f.1/", "http://joe:pw@h.example/", "http://h.example/"])
def test_anatomy_counts_the_security_findings(text: str) -> None:
    count = len(audit(text))
    label = "No security findings" if not count else f"{count} security finding{'s' if count != 1 else ''}"
    (link,) = re.findall(rf'<a href="([^"]*)">{label}</a>', pages.answer("anatomy", {"text": text}))
    assert link == pages.link("audit", {"text": text})


def test_anatomy_shows_how_browsers_read_the_text() -> None:
    if not whatwg.available():
        pytest.skip("ada is absent")
    assert ">browsers</a> read <code>http://127.0.0.1/</code>" in pages.answer("anatomy", {"text": "http://0x7f.1"})
    assert ">browsers</a> reject it<" in pages.answer("anatomy", {"text": "http://h:99999/"})
    assert ">browsers</a>" not in pages.answer("anatomy", {"text": "../a"})


@pytest.mark.parametrize(
    ("text", "warned"),
    [("ftp://joe:pw@h/", True), ("http://h/?access_token=abc", True), ("http://joe@h/?a=b", False)],
)
def test_a_permanent_link_with_a_secret_has_a_warning(text: str, warned: bool) -> None:
    for name, fields in (("anatomy", {"text": text}), ("links", {"document": f'<a href="{text}">'})):
        assert ("contains a password or token" in pages.answer(name, fields)) == warned


def test_values_that_are_uris_have_a_link_unless_masked() -> None:
    query = "a=http%3A%2F%2Fe.example%2F&b=x:y&c=http%3A%2F%2Fjoe:pw@h%2F&token=abc&d&e=%0A&f=http:%2F%2F%5B"
    answer = pages.answer("anatomy", {"text": f"http://h/?{query}"})
    table = answer.partition("Parameters of the query")[2].partition("</table>")[0]
    assert re.findall(r'href="([^"]*)"', table) == [pages.link("anatomy", {"text": "http://e.example/"})]
    rows = re.findall(r'<tr data-piece="(\d)" data-name="(\w+)">(.*?)</tr>', table, re.DOTALL)
    assert [name for _, name, _ in rows] == ["a", "b", "c", "token", "d", "e", "f"]
    edited = [(piece, name) for piece, name, cells in rows if 'data-part="value"' in cells]
    assert edited == [("0", "a"), ("1", "b"), ("4", "d"), ("6", "f")]


def test_more_findings_than_are_listed_are_not_counted_as_one() -> None:
    for size, words in ((100, "100 security findings"), (101, "more than 100 security findings")):
        inputs = {"text": "http://h/" + "%2e%2e/" * size}
        audited = pages.answer("audit", inputs)
        assert f'data-summary="{words}"' in audited
        assert f"<h2>{words.capitalize()}</h2>" in audited
        assert f">{words}</a>" in pages.answer("anatomy", inputs)
    assert 'data-summary="not valid, more than 20 findings"' in pages.answer("anatomy", {"text": " a" * 2000})
