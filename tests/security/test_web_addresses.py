"""web_address: http and https addresses that servers accept, and the problems of the rest."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from overthere import IRI, URI, URIReference, WebAddress, check, web_address
from support import linear
from test_cli import run


@pytest.mark.parametrize(
    "text",
    [
        "http://example.com", "HTTPS://Example.com:443/a%20b?c=%2F#d", "http://localhost:8080/", "http://[2001:db8::1]:1/",
        "http://192.0.2.1:65535/", "http://xn--bcher-kva.example./", "http://h:/", "http://h:0080/", "http://h/?a=%0D%0A",
    ],
)  # fmt: skip
def test_usable_addresses(text: str) -> None:
    answer = web_address(text)
    assert answer
    assert answer == WebAddress(text, URI(text), ())
    assert answer == web_address(URI(text))


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", [("scheme-missing", 0)]),
        ("example.com/a", [("scheme-missing", 0)]),
        ("ftp://joe:secret@h/", [("scheme-syntax", 0)]),
        ("http:/example.com", [("scheme-syntax", 6)]),
        ("http:///a", [("scheme-syntax", 7)]),
        ("http://joe@h/", [("userinfo", 7)]),
        ("http://joe:secret@a_b:0/", [("password", 11), ("label-char", 19), ("scheme-syntax", 22)]),
        ("http://h:65536/", [("scheme-syntax", 9)]),
        ("http://h:" + "9" * 5000, [("scheme-syntax", 9)]),
        ("http://a..b/", [("label-empty", 9)]),
        (f"http://{'a' * 64}.com/", [("label-long", 7)]),
        ("http://1.2.3.4.5/", [("name-number", 15)]),
        ("http://0x7f.1/", [("address-rare", 7)]),
        ("http://[v1.a]/", [("host-future", 7)]),
        ("http://a%2Db/", [("encoded-host", 7)]),
        ("http://h/a%00b", [("encoded-nul", 10)]),
        ("http://h/" + "%2F" * 1500 + "%00", [("encoded-nul", 4509)]),
        ("http://h/" + "a" * 8000, [("long", 8000)]),
        ("http://h/\0", [("control", 9)]),
        ("http://h/a b", [("space", 10)]),
        ("http://b\u00fccher.example:99999/", [("non-ascii", 8), ("scheme-syntax", 22)]),
        ("http:///\u00fc", [("scheme-syntax", 7), ("non-ascii", 8)]),
        ("http://\u00fc\ufdd0/", [("non-ascii", 7)]),
    ],
)
def test_problems_of_addresses(text: str, problems: list[tuple[str, int]]) -> None:
    answer = web_address(text)
    assert not answer
    assert [(problem.kind, problem.start) for problem in answer.problems] == problems
    assert all(problem.source and "secret" not in str(problem) for problem in answer.problems)
    assert answer.to_dict()["usable"] is False


def test_the_uri_of_an_iri() -> None:
    assert web_address("http://B\u00fccher.example/\u00fc").uri == URI("http://xn--bcher-kva.example/%C3%BC")
    assert web_address(IRI("http://\u00e9/")).uri == URI("http://xn--9ca/")
    broken = web_address("http://\u00e9\u3002\u3002a/")  # a name that IDNA does not allow
    assert broken.uri is None
    assert "label-empty" in {problem.kind for problem in broken.problems} or len(broken.problems) > 1
    assert web_address(URIReference("//h/")).uri is None


def test_an_invalid_port_breaks_the_scheme() -> None:
    (finding,) = check("https://h:099999/a", scheme=True)
    assert (finding.component, finding.start, finding.end, finding.source) == ("port", 10, 16, "RFC 6335 6")
    assert (
        check("https://h:99999/a")
        == check("https://h:065535/a", scheme=True)
        == check("x://h:99999/", scheme=True)
        == []
    )
    both = check("ftp://h:70000/a;type=q", scheme=True)
    assert [problem.component for problem in both] == ["port", "path"]
    assert check("https://h:" + "9" * 5000, scheme=True)[0].end == 5010


@given(st.text(st.sampled_from("htps:/@[].%0a9 _-é\0#?"), max_size=12).map(lambda text: "http://" + text))
@example("http://\u00e9@").via("a missing host behind a character of another length in the URI")
def test_any_text_is_judged(text: str) -> None:
    answer = web_address(text)
    assert all(0 <= problem.start <= problem.end <= len(text) for problem in answer.problems)
    if answer:
        assert URI(text).locator.to_dict()["host"]
        assert check(text, scheme=True) == []


def test_judging_is_linear() -> None:
    for unit in ("a.", "%00", "\u00fc", "9", "@"):
        linear(lambda n, unit=unit: web_address("http://h:9" + unit * n), 50_000)  # type: ignore[misc]


def test_the_command() -> None:
    result = run("check", "--web", "https://example.com/", "http://my_host:0/")
    assert result.returncode == 1
    assert result.stdout == "valid    https://example.com/\ninvalid  http://my_host:0/  (2 findings)\n"
    assert "no server has port 0" in result.stderr
    rows = [json.loads(line) for line in run("check", "--web", "--format", "jsonl", "ftp://h/").stdout.splitlines()]
    assert [(row["valid"], len(row["findings"])) for row in rows] == [(False, 1)]
    assert run("check", "--web", "--iri", "http://h/").returncode == 2


@pytest.mark.parametrize("name", ["", "e", "\u00e9", "\u20ac\u00e9", "\U0001f600"])
def test_a_missing_host_has_its_offset_in_the_text(name: str) -> None:
    """In the IRI, not in the URI that it maps to."""
    text = f"http://{name}@/x"
    (problem,) = [item for item in web_address(text).problems if item.kind == "scheme-syntax"]
    assert (problem.start, problem.end) == (text.index("@") + 1, text.index("@") + 2)


def test_problems_after_the_first_thousand_are_counted() -> None:
    problems = web_address("http://h/" + "%" * 5000).problems
    assert len(problems) <= 1001
    assert problems[-1].kind == "more"
