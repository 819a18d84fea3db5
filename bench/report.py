"""The rows of a run for people: tables for the terminal, and docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["page", "table"]

Row = dict[str, Any]
OWN = "overthere"


def _groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["operation"], []).append(row)
    return found


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _share(row: Row) -> str:
    if "of" not in row:
        return "–"
    share = f"{row['right']}/{row['of']}"
    return share if row["right"] == row["of"] else f"{share} ({row['right'] * 100 // row['of']} %)"


def _cells(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """The head and the lines of an operation's table, the quickest first."""
    section = rows[0]["section"]
    own = next((r["ns"] for r in rows if r["peer"] == OWN and r.get("threads", 1) == 1), None)
    lines = []
    for row in sorted(rows, key=lambda r: r["ns"]):
        name = f"floor: {row['operation']}" if row["section"] == "floors" else row["peer"]
        line = [name, _number(row["ns"]), f"{_number(row['ns_min'])}–{_number(row['ns_max'])}"]
        line.append(f"{row['ns'] / own:.2f}" if own else "–")
        if section in ("columns", "floors") and "threads" in row:
            speedup = f"{row['speedup']:.2f}" if row["threads"] > 1 and "speedup" in row else "–"
            line[1:1] = [str(row["threads"])]
            line += [f"{row['mb_s']:,}", speedup]
            if rows[0]["operation"] == "split":
                line.append("–" if row.get("peak_mib") is None else f"{row['peak_mib']:,.0f}")
        if section == "values":
            line.append(f"{row['refused']:,}" if row.get("refused") else "–")
        lines.append([*line, _share(row)])
    head = ["", "ns", "min–max", f"× {OWN}"]
    if "threads" in rows[0]:
        head = ["", "threads", "ns a row", "min–max", f"× {OWN}", "MB/s", "speed-up"]
        head += ["peak MiB"] if rows[0]["operation"] == "split" else []
    return [*head, *(["refused"] if section == "values" else []), "agrees"], lines


def _opened(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """The same where whole things are opened: milliseconds, throughput, memory."""
    own = next((row["ns"] for row in rows if row["peer"] == OWN), None)
    lines = []
    for row in sorted(rows, key=lambda r: r["ns"]):
        spread = "–".join(_number(row[name] / 1e6) for name in ("ns_min", "ns_max"))
        line = [row["peer"], _number(row["ns"] / 1e6), spread, f"{row['ns'] / own:.2f}" if own else "–"]
        line += [f"{row['mb_s']:,}", _number(row["process_ms"])]
        lines.append([*line, *("–" if row.get(name) is None else f"{row[name]:,.0f}" for name in _PEAKS)])
    return ["", "ms", "min–max", f"× {OWN}", "MB/s", "process ms", "peak MiB", "at 16 MiB"], lines


_PEAKS = ("peak_mib", "peak_16_mib")


def table(rows: Sequence[Row]) -> str:
    """An operation's rows for the terminal."""
    head, lines = _opened(rows) if rows[0]["section"] == "access" else _cells(rows)
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]

    def text(line: list[str]) -> str:
        return "  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True)))

    title = f"{rows[0]['section']}: {rows[0]['operation']}"
    return "\n".join(["", title, text(head), *(text(line) for line in lines)])


def _floors(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    lines = []
    for row in rows:
        spread = f"{_number(row['ns_min'])}–{_number(row['ns_max'])}"
        speed = f"{row['mb_s']:,}" if "mb_s" in row else "–"
        lines.append([row["operation"], str(row.get("threads", 1)), _number(row["ns"]), spread, speed])
    return ["", "threads", "ns", "min–max", "MB/s"], lines


def _markdown(rows: Sequence[Row]) -> str:
    cells = {"floors": _floors, "access": _opened}.get(rows[0]["section"], _cells)
    head, lines = cells(rows)
    bold = [[f"**{cell}**" for cell in line] if line[0] == OWN else line for line in lines]
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *bold])


_INTRODUCTION = """\
# Benchmarks

Written by `make bench` from `bench/results/latest.jsonl`; nothing here is typed by hand.

![Every operation, overthere beside its peers](benchmarks.svg)

{machine}; load {load} before the run. Python {python}, commit {commit}, {kernel} kernel, {date}. {versions}.

Absolute times belong to that machine; the ratios, in one run, are what to read.
**agrees** is the share of fixed rows on which the peer gives the standard's answer: `tests/cases/*.toml`, each row
with its paragraph of RFC 3986, and the two lists in `bench/standard.py`.
Where the standard contradicts itself, the rows follow [the decisions](decisions.md).
can_ada, ada_url, url-py and pydantic_core follow another standard, WHATWG's, by intention; urllib.parse and yarl
state none.
A time beside a share below one is the time of another task.

```console
$ make bench                                         # everything, about a quarter of an hour
$ .venv/bin/python bench/run.py --quick              # 50,000 rows, three rounds, into build/bench
$ .venv/bin/python bench/run.py --only values        # or columns, or kernel, or access
```
"""

_NOTES = {
    "values": """
## One value at a time

Nanoseconds a call: the median of the rounds, and the quickest and the slowest.
Each peer's expression (`bench/peers.py`) is compiled into a plain loop over distinct texts, so none has a wrapper
around it; the garbage collector is off, the order rotates.
What a peer refuses is found before and left out for it; **refused** counts it.
parse checks the whole text where the peer checks; read is parse and then scheme, host, port, path, query and
fragment; resolve has a base that is parsed before, where the peer has such an object; normalize goes from text to
text; str is given the peer's own object.
encode and decode work on whole URLs as data of one segment.
""",
    "columns": """
## Whole columns

{rows:,} rows; nanoseconds a row, from an Arrow column (for chdb and duckdb a table of their own in memory) to an
Arrow column.
Each engine works in a process of its own; the order rotates. In each round an engine works twice and the second time
counts (loops work once): memory that a virtual machine has to find anew is not counted. × compares with overthere on
one thread.
**peak MiB** is what the first split of all rows needs above what was held before, its result included.
duckdb, polars and pyarrow.compute have no functions for URIs: split and host give them the expression of RFC 3986's
Appendix B, check and parse its Appendix A as one expression (`bench/expressions.py`).
chdb has its own functions, and Appendix A for check.
No other engine normalises or resolves columns; there a loop in Python stands for them.
""",
    "floors": """
## Floors

What nothing can be below, measured in the same run. memcpy: numpy copies the column's bytes. compare: one vector
comparison of every byte (numpy). look up: every byte looked up in a table of 256 (numpy's take). read: pyarrow reads
the column from Parquet. the loop, an empty call (`callable(t)`) and an empty object (`itertools.repeat(t)`, a C type
that keeps its argument) are those of the loops for values.
""",
    "kernel": """
## In Rust

`cargo bench -p overthere-core`: the kernel beside the crates for RFC 3986, on the same texts, one thread. normalize
and resolve give an owned text; resolve parses the reference, not the base.
""",
    "access": """
## Opening, beside curl

The same loopback servers, turn by turn, each measurement a process of its own; no octet is kept.
Times go from the first connection to the last octet, as curl tells it; for many texts curl's is that of its process,
which reads one configuration file. **process ms** has the start of the interpreter in it.
**peak MiB** is the most memory that a process of overthere held, interpreter and all; beside it the same for a file of
16 MiB. Two cores carry client and server: what a server needs for each text bounds both clients.
""",
}  # fmt: skip


def _makeup(row: Row) -> str:
    shares = ("valid", "https", "query", "fragment", "escape", "userinfo", "IPv6")
    lines = [
        "## The corpus",
        "",
        f"{row['texts']:,} distinct texts, {row['bytes']:,} bytes, digest `{row['digest']}` (SHA-256 of the lines).",
        f"Lengths in bytes: mean {row['mean']}, median {row['median']}, 90 % up to {row['p90']}, "
        f"99 % up to {row['p99']}, the longest {row['longest']:,}.",
        "Shares: " + ", ".join(f"{name} {row[name]:.2%}" for name in shares) + ".",
        "",
        "They are gathered by a regular expression from what lies on the machine, at most "
        f"{row['most of one place']:,} of one place (scheme, host, two segments), and filled up from a fixed seed "
        "(`bench/gather.py`, `bench/made.py`); the digest tells whether two runs had the same.",
        "Single values and Rust have the first of these rows, columns have all of them.",
        "",
        "| source | texts |",
        "| --- | ---: |",
        *(f"| {name} | {count:,} |" for name, count in row["sources"].items()),
        *(f"| references to resolve: {name} | {count:,} |" for name, count in row["references"].items()),
    ]
    return "\n".join(lines) + "\n"


def page(rows: Sequence[Row]) -> str:
    """docs/benchmarks.md."""
    first = rows[0]
    versions = ", ".join(f"{name} {version}" for name, version in first["versions"].items() if name != OWN)
    parts = [_INTRODUCTION.format(**{**first, "versions": versions})]
    for section, note in _NOTES.items():
        found = [row for row in rows if row["section"] == section]
        if not found:
            continue
        parts.append(note.format(rows=found[0]["rows"]))
        if section == "floors":
            parts.append(_markdown(found) + "\n")
        else:
            parts += [f"### {operation}\n\n{_markdown(group)}\n" for operation, group in _groups(found).items()]
    parts += [_makeup(row) for row in rows if row["section"] == "corpus"]
    return "\n".join(parts)
