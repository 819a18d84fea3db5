"""The rung SCHEME of columns agrees with values: rules in the kernel, and rows that Python completes."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from overthere import Registry, RegistryError, Rung, Scheme, columns, kernel, scheme
from overthere.columns import rowwise
from overthere.kernel import parse
from overthere.kernel.reference import Parts
from overthere.schemes.model import NormalRule, default_port, slash_for_empty_path
from overthere.schemes.registry import BUILT_IN, Claim
from support import cases

native = pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")

AUTHORITIES = ("h", "H", "u:p@h", "u@", "@h", "", "[::1]", "[::A]", "[v1.A:b]", "127.0.0.1", "u:80@h", "%41", "1:2@3")
PORTS = ("", ":", ":0", ":00", ":080", ":80", ":8080", ":08080", ":800", ":008", ":99999999999999999999")
RESTS = ("", "/", "?q", "?:80", "#f", "#", "/a/../b", "/.", "/%7e:080", "//", "/a@b:80")
RELATIVE = ("//h:080", "//h:", "//h", "a", "", "/a/../b", "?q", "#%7e", "//H:80/%2f")
INVALID = (
    "http://h:8a/",
    "http://h:80:80",
    "http://[::1]80",
    "http://h:-1",
    "http:// h",
    "1a://h",
    "http://h:80%",
    "é:",
)


def mixed(name: str) -> str:
    return "".join(c.upper() if i % 2 else c for i, c in enumerate(name))


def hostile(name: str) -> list[str | None]:
    """A scheme's examples, and its name with many kinds of authority, port and suffix."""
    rules = scheme(name)
    ports = (
        *PORTS,
        *(f":{zeros}{rules.port}" for zeros in ("", "0", "000") if rules.port is not None),
        f":{rules.port or 1}0",
    )
    texts = [
        f"{spelling}://{authority}{port}{suffix}"
        for spelling in (name, mixed(name))
        for authority in AUTHORITIES
        for port in ports
        for suffix in RESTS
    ]
    bare = [f"{name}:{suffix}" for suffix in (*RESTS, "A", "a:80", "A@B.example", "//", "///", "///a", "/..//h:80")]
    return [*(example.text for example in rules.examples), *texts, *bare, None]


def both(rows: Any, registry: Registry | None = None, threads: int = 1, **kw: Any) -> tuple[Any, Any]:
    """The results of columns and of their oracle, with details."""
    kw = {"rung": int(Rung.SCHEME), "details": True, "threads": threads, "views": True, "registry": registry, **kw}
    results, expected = (works.text(rows, "normalize", **kw) for works in (columns.engine(), rowwise))
    return results, expected


def values(column: Any) -> Any:
    rows = rowwise.to_pyarrow(column)
    rows.validate(full=True)
    return rows.to_pylist()


def differ(rows: list[str | None], **options: Any) -> list[Any]:
    results, expected = map(values, both(pa.array(rows, pa.string()), **options))
    return [row for row in zip(rows, results, expected, strict=True) if row[1] != row[2]]


@pytest.mark.parametrize("name", [*BUILT_IN, "foo", "x-no.such"])
def test_every_scheme_agrees_with_the_oracle(name: str) -> None:
    assert differ(hostile(name)) == []


def test_relative_and_invalid_rows() -> None:
    assert differ([*RELATIVE, *INVALID, None]) == []
    assert differ([row["text"] for file in ("parse", "invalid", "normalize") for row in cases(file)]) == []


@pytest.mark.parametrize("threads", [1, 3])
def test_many_rows_of_all_schemes(threads: int) -> None:
    """Unchanged rows, rows that the kernel writes and rows that Python completes, across the blocks of threads."""
    chance = random.Random(threads)
    pool: list[str | None] = [row for name in ("http", "foo", "urn", "mailto") for row in hostile(name)]
    rows = [chance.choice([*pool[::29], *RELATIVE, *INVALID, None]) for _ in range(40_000)]
    assert differ(rows, threads=threads) == []


ROWS = ["http://h:80", None, "URN:Example:a", "http://h/", "urn:example:a-long-name-that-stays", "b d", "urn:EXAMPLE:x"]


@pytest.mark.parametrize("views", [True, False])
def test_every_layout_agrees_with_the_oracle(views: bool) -> None:
    for column in (
        pa.array(ROWS, pa.large_string()),
        pa.array(ROWS, pa.string_view()),
        pa.array(["pad", *ROWS]).slice(1),
        pa.array(ROWS * 2).dictionary_encode(),
        pa.chunked_array([ROWS[:3], [], ROWS[3:]]),
        pa.array([], pa.string()),
    ):
        results, expected = both(column, views=views)
        assert values(results) == values(expected)


def test_a_known_rule_runs_in_the_kernel() -> None:
    assert scheme("http").common_rules == ("80", True)
    assert scheme("rlogin").common_rules == ("513", False)
    assert scheme("cid").common_rules == (None, False)
    assert scheme("no-such").common_rules == (None, False)
    for name in ("ftp", "urn", "mailto", "file", "tel", "data", "ldap"):
        assert scheme(name).common_rules is None, name


def without_query(parts: Parts) -> Parts:
    return parts._replace(query=None)


OURS = Scheme(name="x-ours", title="Ours", documents={"rfc3986": "ours"}, locates_nothing="names only (ours)")
SLASH = slash_for_empty_path("ours")
NORMALS: dict[str, tuple[NormalRule, ...]] = {
    "none": (),
    "a port": (default_port(80, "ours"),),
    "port 0, which no text is": (default_port(0, "ours"),),
    "a port that is none": (default_port(-1, "ours"),),
    "the other order": (SLASH, default_port(8080, "ours")),
    "two ports": (default_port(80, "ours"), default_port(8080, "ours")),
    "twice the slash": (SLASH, SLASH),
    "one of its own": (default_port(80, "ours"), NormalRule("no query", "ours", without_query)),
    "one of its own in between": (SLASH, NormalRule("no query", "ours", without_query), default_port(80, "ours")),
}


@pytest.mark.parametrize("rules", NORMALS)
def test_schemes_of_a_custom_registry(rules: str) -> None:
    registry = Registry.empty().with_(replace(OURS, normal=NORMALS[rules]))
    name = OURS.name
    rows = [f"{n}://h{port}{suffix}" for n in (name, mixed(name), "http") for port in PORTS for suffix in RESTS]
    assert differ([*rows, *RELATIVE, None], registry=registry) == []


def failing(parts: Parts) -> Parts:
    raise LookupError(f"no rule for {parts.path}")


@pytest.mark.parametrize("chunked", [False, True])
def test_an_error_of_a_rule_is_raised(chunked: bool) -> None:
    registry = Registry.empty().with_(replace(OURS, normal=(NormalRule("fails", "ours", failing),)))
    good, bad = ["http://h:80", "x-ours:|"], ["a", "x-ours:b"]
    column = pa.chunked_array([good, bad]) if chunked else pa.array(good + bad)
    with pytest.raises(LookupError, match="no rule for b"):
        columns.normalize(column, Rung.SCHEME, registry=registry)
    normalized = columns.normalize(pa.array(good), Rung.SCHEME, registry=registry)
    assert values(normalized) == ["http://h:80", None], "no row of that scheme is valid"


class Stream:
    """Chunks of unknown length."""

    def __init__(self, *chunks: list[str | None]) -> None:
        self.chunks = pa.chunked_array(list(chunks), pa.string())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.chunks.__arrow_c_stream__(requested_schema)


def test_streams_of_rows() -> None:
    """Other code reads them, with or without the interpreter lock."""
    results, expected = both(Stream(ROWS * 5000, [], ROWS), threads=2)
    assert values(results) == values(expected)
    bases = columns.normalize(Stream(ROWS * 5000, ROWS), Rung.SCHEME, threads=2)
    joined = values(columns.resolve(pa.array(["#f"] * 5001 * len(ROWS)), bases, threads=2))
    forms = values(columns.normalize(pa.array(ROWS), Rung.SCHEME)) * 5001
    assert joined == [form and form + "#f" for form in forms]


@pytest.mark.parametrize("errors", ["null", "detail", "raise"])
def test_an_error_of_a_rule_in_a_stream(errors: Any) -> None:
    """An Arrow stream carries the message, not the exception; the reference kernel raises it at once."""
    registry = Registry.empty().with_(replace(OURS, normal=(NormalRule("fails", "ours", failing),)))
    with pytest.raises((LookupError, pa.ArrowInvalid), match="no rule for b"):
        values(columns.normalize(Stream(["x-ours:b"]), Rung.SCHEME, registry=registry, errors=errors))


def test_two_claims_are_an_error_only_for_rows_of_that_scheme() -> None:
    claims = {"x-two": (Claim("one", "one:SCHEME"), Claim("two", "two:SCHEME"))}
    registry = Registry({"http": scheme("http")}, claims)
    assert values(columns.normalize(pa.array(["http://h:80"]), Rung.SCHEME, registry=registry)) == ["http://h/"]
    with pytest.raises(RegistryError, match="two claims"):
        columns.normalize(pa.array(["http://h:80", "X-two:a"]), Rung.SCHEME, registry=registry)


@native
def test_rows_that_do_not_change_are_not_copied() -> None:
    column = pa.array(["http://a-long-host.example/a/long/path", "urn:example:a-long-name-that-stays"] * 100)
    addresses = {b.address for b in column.buffers() if b}
    buffers = [b for b in pa.array(columns.normalize(column, Rung.SCHEME)).buffers()[2:] if b is not None]
    assert sum(b.size for b in buffers if b.address not in addresses) == 0


@native
def test_only_rows_with_custom_rules_use_python() -> None:
    """A custom rule is called once per row of its scheme, and for no other row."""
    calls: list[str] = []

    def count(parts: Parts) -> Parts:
        calls.append(parts.path)
        return parts

    counting = replace(OURS, normal=(NormalRule("counts", "ours", count),))
    registry = Registry.default().with_(counting)
    columns.normalize(pa.array(["http://h:80/a", "x-ours:b", "X-OURS:c", "foo:d", "e"]), Rung.SCHEME, registry=registry)
    assert calls == ["b", "c"]


def test_most_hostile_rows_are_valid() -> None:
    """Invalid rows would not test the rung SCHEME."""
    rows = [row for row in hostile("http") if row is not None]
    assert sum(parse(row, "URI") is not None for row in rows) > 0.9 * len(rows)
