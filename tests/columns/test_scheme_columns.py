"""The scheme rung of columns is that of values: the rules that are handed to the kernel, and the rows finished here."""

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
    """A scheme's own examples, and its name before whatever an authority, a port and what follows can be."""
    own = scheme(name)
    ports = (
        *PORTS,
        *(f":{zeros}{own.port}" for zeros in ("", "0", "000") if own.port is not None),
        f":{own.port or 1}0",
    )
    made = [
        f"{written}://{authority}{port}{rest}"
        for written in (name, mixed(name))
        for authority in AUTHORITIES
        for port in ports
        for rest in RESTS
    ]
    bare = [f"{name}:{rest}" for rest in (*RESTS, "A", "a:80", "A@B.example", "//", "///", "///a", "/..//h:80")]
    return [*(one.text for one in own.examples), *made, *bare, None]


def both(rows: Any, registry: Registry | None = None, threads: int = 1, **how: Any) -> tuple[Any, Any]:
    """What columns and their oracle say, with details."""
    how = {"rung": int(Rung.SCHEME), "details": True, "threads": threads, "views": True, "registry": registry, **how}
    found, wanted = (works.text(rows, "normalize", **how) for works in (columns.engine(), rowwise))
    return found, wanted


def values(column: Any) -> Any:
    taken = rowwise.to_pyarrow(column)
    taken.validate(full=True)
    return taken.to_pylist()


def differ(rows: list[str | None], **how: Any) -> list[Any]:
    found, wanted = map(values, both(pa.array(rows, pa.string()), **how))
    return [row for row in zip(rows, found, wanted, strict=True) if row[1] != row[2]]


@pytest.mark.parametrize("name", [*BUILT_IN, "foo", "x-no.such"])
def test_every_scheme(name: str) -> None:
    assert differ(hostile(name)) == []


def test_relative_and_invalid_rows() -> None:
    assert differ([*RELATIVE, *INVALID, None]) == []
    assert differ([row["text"] for file in ("parse", "invalid", "normalize") for row in cases(file)]) == []


@pytest.mark.parametrize("threads", [1, 3])
def test_many_rows_of_all_schemes(threads: int) -> None:
    """Rows that stay, rows that the kernel writes, rows that are finished, over the borders of what a thread takes."""
    chance = random.Random(threads)
    pool: list[str | None] = [row for name in ("http", "foo", "urn", "mailto") for row in hostile(name)]
    rows = [chance.choice([*pool[::29], *RELATIVE, *INVALID, None]) for _ in range(40_000)]
    assert differ(rows, threads=threads) == []


ROWS = ["http://h:80", None, "URN:Example:a", "http://h/", "urn:example:a-long-name-that-stays", "b d", "urn:EXAMPLE:x"]


@pytest.mark.parametrize("views", [True, False])
def test_every_layout(views: bool) -> None:
    for column in (
        pa.array(ROWS, pa.large_string()),
        pa.array(ROWS, pa.string_view()),
        pa.array(["pad", *ROWS]).slice(1),
        pa.array(ROWS * 2).dictionary_encode(),
        pa.chunked_array([ROWS[:3], [], ROWS[3:]]),
        pa.array([], pa.string()),
    ):
        found, wanted = both(column, views=views)
        assert values(found) == values(wanted)


def test_a_rule_that_is_known() -> None:
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
def test_schemes_of_a_registry_that_is_passed(rules: str) -> None:
    registry = Registry.empty().with_(replace(OURS, normal=NORMALS[rules]))
    name = OURS.name
    rows = [f"{n}://h{port}{rest}" for n in (name, mixed(name), "http") for port in PORTS for rest in RESTS]
    assert differ([*rows, *RELATIVE, None], registry=registry) == []


def failing(parts: Parts) -> Parts:
    raise LookupError(f"no rule for {parts.path}")


@pytest.mark.parametrize("chunked", [False, True])
def test_what_a_rule_raises(chunked: bool) -> None:
    registry = Registry.empty().with_(replace(OURS, normal=(NormalRule("fails", "ours", failing),)))
    good, bad = ["http://h:80", "x-ours:|"], ["a", "x-ours:b"]
    column = pa.chunked_array([good, bad]) if chunked else pa.array(good + bad)
    with pytest.raises(LookupError, match="no rule for b"):
        columns.normalize(column, Rung.SCHEME, registry=registry)
    kept = columns.normalize(pa.array(good), Rung.SCHEME, registry=registry)
    assert values(kept) == ["http://h:80", None], "no row of that scheme is valid"


class Stream:
    """Chunks of no known length."""

    def __init__(self, *chunks: list[str | None]) -> None:
        self.chunks = pa.chunked_array(list(chunks), pa.string())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.chunks.__arrow_c_stream__(requested_schema)


def test_streams() -> None:
    """They are read by other code, with the interpreter's lock held or not."""
    found, wanted = both(Stream(ROWS * 5000, [], ROWS), threads=2)
    assert values(found) == values(wanted)
    bases = columns.normalize(Stream(ROWS * 5000, ROWS), Rung.SCHEME, threads=2)
    joined = values(columns.resolve(pa.array(["#f"] * 5001 * len(ROWS)), bases, threads=2))
    forms = values(columns.normalize(pa.array(ROWS), Rung.SCHEME)) * 5001
    assert joined == [form and form + "#f" for form in forms]


@pytest.mark.parametrize("errors", ["null", "detail", "raise"])
def test_what_a_rule_raises_in_a_stream(errors: Any) -> None:
    """A stream of Arrow carries a message, and no exception; the reference kernel reads it at once."""
    registry = Registry.empty().with_(replace(OURS, normal=(NormalRule("fails", "ours", failing),)))
    with pytest.raises((LookupError, pa.ArrowInvalid), match="no rule for b"):
        values(columns.normalize(Stream(["x-ours:b"]), Rung.SCHEME, registry=registry, errors=errors))


def test_two_claims_are_an_error_where_a_row_is_of_it() -> None:
    claims = {"x-two": (Claim("one", "one:SCHEME"), Claim("two", "two:SCHEME"))}
    registry = Registry({"http": scheme("http")}, claims)
    assert values(columns.normalize(pa.array(["http://h:80"]), Rung.SCHEME, registry=registry)) == ["http://h/"]
    with pytest.raises(RegistryError, match="two claims"):
        columns.normalize(pa.array(["http://h:80", "X-two:a"]), Rung.SCHEME, registry=registry)


@native
def test_rows_that_do_not_change_are_not_copied() -> None:
    column = pa.array(["http://a-long-host.example/a/long/path", "urn:example:a-long-name-that-stays"] * 100)
    own = {b.address for b in column.buffers() if b}
    buffers = [b for b in pa.array(columns.normalize(column, Rung.SCHEME)).buffers()[2:] if b is not None]
    assert sum(b.size for b in buffers if b.address not in own) == 0


@native
def test_only_rows_with_other_rules_are_done_in_python() -> None:
    """The rows are counted: a rule of the scheme is asked once for each of its rows, and of no other."""
    asked: list[str] = []

    def count(parts: Parts) -> Parts:
        asked.append(parts.path)
        return parts

    known = replace(OURS, normal=(NormalRule("counts", "ours", count),))
    registry = Registry.default().with_(known)
    columns.normalize(pa.array(["http://h:80/a", "x-ours:b", "X-OURS:c", "foo:d", "e"]), Rung.SCHEME, registry=registry)
    assert asked == ["b", "c"]


def test_the_rows_are_as_hostile_as_they_say() -> None:
    """Most are valid: what is refused tells nothing of the scheme rung."""
    rows = [row for row in hostile("http") if row is not None]
    assert sum(parse(row, "URI") is not None for row in rows) > 0.9 * len(rows)
