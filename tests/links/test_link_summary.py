"""The summary of a job: counted, added up over workers, as text and as a picture."""

from __future__ import annotations

import json
import pickle
import random
import xml.etree.ElementTree as ElementTree
from collections import Counter
from functools import reduce
from operator import add

import pytest

from overthere import URI
from overthere.ground.display import columns
from overthere.links.model import UNREAD, Link
from overthere.links.report.batch import to_batch
from overthere.links.report.picture import draw
from overthere.links.report.summary import EMPTY_HOST, Summary, Top, shorten_middle

BLANK = Link("s", *[None] * 12)
NOTES = ("truncated", "empty", "wrong-type")


def links(number: int, seed: int) -> list[Link]:
    choose = random.Random(seed).choice
    rows = []
    for at in range(number):
        base = choose(("http://a/x", "http://b/", "file:///d"))
        layer = choose(("content", "retrieval", "default"))
        kind = choose(("link",) * 6 + ("invalid", "note"))
        if kind == "note":
            rows.append(BLANK._replace(source=f"{seed}-{at}", base=base, error=choose(NOTES)))
            continue
        target = choose(("http://a/x", "http://A/y", "http://c/", "mailto:a@b", "urn:x:y", "http://\u20ac"))
        error = choose((None, None, "non-ascii"))
        if kind == "invalid" or "\u20ac" in target:
            wrong = choose(("space", "port"))
            rows.append(BLANK._replace(base=base, base_from=layer, reference="r", error=wrong, error_at=0))
            continue
        audit = choose((None, None, "password", "password port"))
        same = target == base
        rows.append(Link("s", base, layer, "r", "a href", target, None, same, target, error, None, None, audit))
    return rows


def counted(rows: list[Link]) -> dict[str, object]:
    """The same counts, row by row."""
    refer = [row for row in rows if row.reference is not None]
    valid = [row for row in refer if row.target is not None]
    hosts = [(URI(row.base or "").host, URI(row.target or "").host) for row in valid]
    lowered = [(a, None if b is None else b.lower()) for a, b in hosts]
    return {
        "references": len(refer),
        "same_document": sum(row.same_document is True for row in refer),
        "internal": sum(b is not None and a == b for a, b in lowered),
        "external": sum(b is not None and a != b for a, b in lowered),
        "hostless": sum(b is None for _, b in lowered),
        "mapped": sum(row.error is not None for row in valid),
        "layers": Counter(row.base_from for row in refer),
        "invalid": Counter(row.error for row in refer if row.target is None),
        "notes": Counter(row.error for row in rows if row.reference is None),
        "unread": len({row.source for row in rows if row.reference is None and row.error in UNREAD}),
        "audit": Counter(kind for row in rows for kind in (row.audit or "").split()),
    }


def summary(rows: list[Link], documents: int = 1) -> Summary:
    total = Summary()
    total.document("html", 1000, documents)
    total.add(to_batch(rows))
    return total


@pytest.mark.parametrize("seed", range(5))
def test_counts_agree_with_the_rows(seed: int) -> None:
    rows = links(300, seed)
    total, expected = summary(rows), counted(rows)
    assert {name: getattr(total, name) for name in expected} == expected
    assert total.internal + total.external + total.hostless + sum(total.invalid.values()) == total.references
    assert sum(total.hosts.counts.values()) == total.internal + total.external
    assert sum(total.schemes.counts.values()) == total.hostless


def test_workers_add_up_in_any_order() -> None:
    parts = [links(40, seed) for seed in range(7)]
    each = [summary(part) for part in parts]
    total = summary([row for part in parts for row in part], 7)
    total.octets = 7000
    assert reduce(add, each) == total
    assert reduce(add, reversed(each)) == total
    assert (each[0] + each[1]) + each[2] == each[0] + (each[1] + each[2])
    assert Summary() + each[0] == each[0] == each[0] + Summary()
    assert pickle.loads(pickle.dumps(total)) == total
    assert Summary.from_dict(json.loads(json.dumps(total.to_dict()))) == total


def test_an_overfull_top_list_keeps_its_guarantee() -> None:
    draw_ = random.Random(3)
    tops, real = [], Counter[str]()
    for _ in range(5):
        top = Top(20)
        for _ in range(40):
            counts = Counter(str(int(draw_.paretovariate(0.7))) for _ in range(50))
            real.update(counts)
            top.add(counts.items())
        tops.append(top)
    for both in (reduce(add, tops), reduce(add, reversed(tops)), (tops[0] + tops[1]) + (tops[2] + (tops[3] + tops[4]))):
        assert len(both.counts) <= 20
        assert 0 < both.missed <= sum(real.values()) / 20
        assert all(real[name] - both.missed <= number <= real[name] for name, number in both.counts.items())
        assert all(name in both.counts for name, number in real.items() if number > both.missed)
    tall = Top(3)
    tall.add([("x" * 1_000_000, 1)])
    assert [len(name) for name in tall.counts] == [255]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_summary_as_text(width: int) -> None:
    total = reduce(add, (summary(links(400, seed), 1234) for seed in range(4)))
    total.hosts.add([("a-host-with-a-long-name." * 9 + "org", 10**9), ("\x1b[31m日本\u202e", 10**8)])
    total.seconds = 75.4
    lines = total.lines(width)
    assert max(map(columns, lines)) <= width
    text = "\n".join(lines)
    assert text.isprintable() or {c for c in text if not c.isprintable()} == {"\n"}
    assert lines[0].split() == ["documents", "4,936", "html", "4,936"]
    assert "1,000,000,000   a-host" in text
    assert "1 min 15 s" in text


@pytest.mark.parametrize("width", [1, 10, 20, 30])
def test_the_summary_on_a_narrow_terminal(width: int) -> None:
    total = Summary()
    total.hosts.add([("a-host-with-a-long-name.example.org", 1)])
    assert total.lines(width)[-1].split() == ["1", "a-host…ample.org"]


def test_the_empty_summary_as_text() -> None:
    assert [line.split() for line in Summary().lines()] == [["documents", "0"], ["references", "0"], ["invalid", "0"]]


@pytest.mark.parametrize("width", range(-2, 40))
def test_long_names_are_shortened_in_the_middle(width: int) -> None:
    for text in ("www.example.org", "日本語日本語.example", "é" * 30, "a" * 10_000, ""):
        short = shorten_middle(text, width)
        assert columns(short) <= max(width, 1)
        assert short == text if columns(text) <= max(width, 1) else "…" in short


def test_a_picture_is_valid_xml_for_any_host() -> None:
    total = summary(links(400, 1))
    names = ["<script>&\"'", "\x00\x1b]\ud800\uffff", "\u202e日本", "", "x" * 300, "]]>", "<!--", *map(str, range(30))]
    total.hosts.add((name, 100 - at) for at, name in enumerate(names))
    total.external += sum(100 - at for at in range(len(names)))
    text = draw(total, "<title> & \x00")
    text.encode()
    root = ElementTree.fromstring(text)
    ns = "{http://www.w3.org/2000/svg}"
    texts = ["".join(node.itertext()) for node in root.iter(f"{ns}text")]
    assert "<script>&\"'" in texts
    assert EMPTY_HOST in texts
    panel = next(g for g in root.iter(f"{ns}g") if "Links by host" in "".join(g.itertext()))
    assert len(list(panel.iter(f"{ns}rect"))) == 20 + 2  # the first hosts, the others, and no host
    assert not list(root.iter("script"))
    top, bottom = (float(n) for n in (root.get("viewBox") or "").split()[1::2])
    assert top == 0 < bottom
    assert all(float(node.get("x") or 0) >= 0 for node in root.iter())


def test_a_picture_scales_and_has_a_description() -> None:
    total = summary(links(40, 1))
    long = "harbour." * 12 + "example"
    total.hosts.add([(long, 1000), ("a\u202eb", 900)])
    root = ElementTree.fromstring(draw(total, "The site"))
    assert (root.get("width"), root.get("height")) == ("100%", None)
    assert root.get("viewBox")
    named = {node.get("id"): node.text for node in root if node.get("id")}
    assert [*named] == (root.get("aria-labelledby") or "").split()
    assert named["title"] == "The site"
    assert f"Links by host: {long} 1,000, a\ufffdb 900" in (named["desc"] or "")
    text = "".join(node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text"))
    assert long in text  # complete, on separate lines


def test_the_empty_summary_as_a_picture() -> None:
    text = draw(Summary())
    ElementTree.fromstring(text)
    assert "there are no references" in text
    assert "nan" not in text.lower()


def test_the_current_document_is_not_invalid() -> None:
    """Before RFC 3986 an empty reference has no target, but is valid (url-1997 3; uri-2003 4.2)."""
    row = Link("s", "http://h/", "retrieval", "", "a href", None, None, True, *[None] * 5)
    total = Summary()
    total.add(to_batch([row]))
    assert (total.references, total.same_document, dict(total.invalid)) == (1, 1, {})
