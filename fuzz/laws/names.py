"""Registrable domains by publicsuffix.org's algorithm, step by step over every rule of the list.

The oracle knows nothing of tables: a rule is a row of labels, and each is held against the name (Algorithm 1 to 7).
Names and rules are compared in lower case and as Punycode, which the page asks for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pkgutil import get_data
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

import pyarrow as pa

from overthere import URI, edition
from overthere.columns import public_suffix, registrable_domain, subdomain
from overthere.values.hosts.domains import SuffixList, suffix_list
from seeds import cases

AFTER = "a row to tests/cases/domains.toml"
LONGEST = 200
WORDS = tuple(
    word.encode()
    for word in (
        ".", "..", "com", "co.uk", "www.ck", "*.ck", "!www.ck", "kawasaki.jp", "city.kawasaki.jp", "github.io", "a.b.c",
        "\n", "\n\n", "*.", "!", "// ===BEGIN PRIVATE DOMAINS===\n", "公司.cn", "xn--55qx5d.cn", "a.公司.香港",
        "a.公司.xn--j6w193g", "a.xn--55qx5d.香港", "中国", "xn--fiqs8s", "рф", "ＣＯＭ", "。", "Ü", "ß", "%2E",
        "%C3%BC", "%FF", "1.2.3.4", "0x7f", "[::1]", "-", "a", "b", "c", "x.y", "COM", "k12.ma.us",
        "compute.amazonaws.com",
    )
)  # fmt: skip
_RULE = re.compile(r"(?:\*\.)?[a-z0-9]+(?:\.[a-z0-9]+)*|![a-z0-9]+(?:\.[a-z0-9]+)+")
_PRIVATE = "// ===BEGIN PRIVATE DOMAINS==="
_ADDRESS = re.compile("[0-9]+|0[xX][0-9A-Fa-f]*")


class Rule(NamedTuple):
    """labels: from the right; an exception is kept without its "!"."""

    labels: tuple[str, ...]
    exception: bool
    private: bool


class HostParts(NamedTuple):
    subdomain: str | None
    registrable_domain: str | None
    public_suffix: str


# -- the list, and the algorithm


def rules(text: str) -> tuple[Rule, ...]:
    """Format: a rule a line, up to the first white space; lines of comments begin with "//"."""
    results, private = [], False
    for line in text.splitlines():
        if line.startswith("//"):
            private = private or "===BEGIN PRIVATE DOMAINS===" in line
        elif line.split():
            name = line.split()[0]
            labels = tuple(_a_label(label) for label in reversed(name.lstrip("!").split(".")))
            results.append(Rule(labels, name.startswith("!"), private))
    return tuple(results)


@cache
def _list() -> tuple[Rule, ...]:
    data = get_data("publicsuffixlist", "public_suffix_list.dat")
    assert data is not None
    return rules(data.decode())


@cache
def _by_top(private: bool) -> dict[str, list[Rule]]:
    """The rules of each last label: no other rule of the list can match."""
    results: dict[str, list[Rule]] = {}
    for rule in _list():
        if private or not rule.private:
            results.setdefault(rule.labels[0], []).append(rule)
    return results


def known_rules(label: str) -> list[Rule]:
    """The rules of both sections whose last label is this one."""
    return _by_top(private=True).get(_a_label(label), [])


def _a_label(label: str) -> str:
    label = unicodedata.normalize("NFKC", label).lower()
    return label if label.isascii() else "xn--" + label.encode("punycode").decode()


def _matches(rule: Rule, labels: list[str]) -> bool:
    """Every label of the rule is that of the name at its place, or "*"."""
    pairs = zip(rule.labels, labels, strict=False)
    return len(labels) >= len(rule.labels) and all(rule_label in ("*", label) for rule_label, label in pairs)


def split_host(host: str, rules_known: list[Rule]) -> HostParts | None:
    """The Algorithm; None for an address, and for a name with an empty label.

    It does not define which of two exceptions prevails: `check` skips lists where two can match.
    """
    name = host
    if "%" in name:
        try:
            name = unquote_to_bytes(name).decode()
        except UnicodeDecodeError:
            return None
    for dot in "\u3002\uff0e\uff61":
        name = name.replace(dot, ".")
    labels = name.removesuffix(".").split(".")
    if "" in labels or labels[0].startswith("[") or _ADDRESS.fullmatch(labels[-1]):
        return None
    labels_asked = [_a_label(label) for label in reversed(labels)]
    matching = [rule for rule in rules_known if _matches(rule, labels_asked)]  # 1
    count = 1  # 2: "*"
    if exceptions := [rule for rule in matching if rule.exception]:  # 3
        count = len(exceptions[0].labels) - 1  # 5
    elif matching:
        count = max(len(rule.labels) for rule in matching)  # 4
    at = len(labels) - count  # 6, 7
    return HostParts(
        ".".join(labels[: at - 1]) or None if at > 1 else None,
        ".".join(labels[at - 1 :]) if at > 0 else None,
        ".".join(labels[at:]),
    )


# -- the law


def check(data: bytes) -> None:
    """data: a host, for the list that is installed; or rules, an empty line, and a host."""
    text = data.decode("utf-8", "replace")
    made, parted, host = text.rpartition("\n\n")
    if "\ufffd" in text or not _is_plain(host) or len(host.split()) != 1:
        return
    listed = "\n".join(line for line in made.split("\n") if line == _PRIVATE or _RULE.fullmatch(line))
    for private in (True, False):
        if parted and listed.count("!") > 1:
            return
        if parted:
            rule_list = [rule for rule in rules(listed) if private or not rule.private]
            parts = SuffixList(listed).split(host, private=private)
        else:
            last = [label for label in re.split("[.\u3002\uff0e\uff61]", _unescape(host)) if label][-1:]
            rule_list = _by_top(private).get(_a_label("".join(last)), [])
            parts = suffix_list().split(host, private=private)
        expected = split_host(host, rule_list)
        assert (parts and parts[:3]) == (expected and tuple(expected)), (
            f"{host!r}, private={private}: {parts}, by the algorithm {expected}; rules {listed!r}"
        )
        if not parted:
            _columns(host, private, expected)


def _columns(host: str, private: bool, wanted: HostParts | None) -> None:
    """The engine of columns says the same, and so do the values."""
    text = f"x://{host}/"
    if not host or not edition().is_valid(host, "host"):
        return
    column = pa.array([text])
    works = (subdomain, registrable_domain, public_suffix)
    rows = [pa.array(work(column, private=private)).to_pylist()[0] for work in works]
    assert rows == [*(wanted or (None, None, None))], f"{host!r}, private={private}: columns say {rows}, not {wanted}"
    if private:
        value = URI(text)
        values = [value.subdomain, value.registrable_domain, value.public_suffix]
        assert values == rows, f"{host!r}: the value says {values}, and columns {rows}"


def _unescape(host: str) -> str:
    return unquote_to_bytes(host).decode("utf-8", "replace")


def _is_plain(host: str) -> bool:
    """No character becomes a dot or a letter of another label; broken escapes are another law's."""
    name = _unescape(host)
    composed = unicodedata.normalize("NFKC", name)
    return (
        re.search("%(?![0-9A-Fa-f]{2})", host) is None
        and name.isprintable()
        and composed.count(".") == sum(name.count(dot) for dot in ".\uff0e")
        and "%" not in name
    )


def seeds() -> Iterator[bytes]:
    for file, row in cases():
        if file in ("domains", "host_names") and isinstance(row.get("host"), str):
            yield row["host"].encode()
    listed = _list()
    for rule in listed[:: len(listed) // 500]:
        name = ".".join("w" if label == "*" else label for label in reversed(rule.labels))
        yield from (name.encode(), f"a.b.{name}".encode())
    yield b"com\nuk\n*.ck\n!www.ck\nco.uk\n// ===BEGIN PRIVATE DOMAINS===\na.com\n*.b.com\n\na.b.www.ck"
    yield b"a\nb.a\n*.b.a\n!c.b.a\n\nd.c.b.a"
