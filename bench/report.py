"""The rows of a run for people: tables for the terminal, and docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["page", "table"]

Row = dict[str, Any]
Cells = tuple[list[str], list[list[str]]]
"""The head of a table and its lines."""
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


def _cells(rows: Sequence[Row]) -> Cells:
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
        if section in _SINGLE:
            line.append(f"{row['refused']:,}" if row.get("refused") else "–")
        lines.append([*line, _share(row)])
    head = ["", "ns", "min–max", f"× {OWN}"]
    if "threads" in rows[0]:
        head = ["", "threads", "ns a row", "min–max", f"× {OWN}", "MB/s", "speed-up"]
        head += ["peak MiB"] if rows[0]["operation"] == "split" else []
    return [*head, *(["refused"] if section in _SINGLE else []), "agrees"], lines


_SINGLE = ("values", "iris")


def _pivot(rows: Sequence[Row]) -> Cells:
    """A line for each peer, a column for each list: nanoseconds a text, and in how many of a hundred it is right."""
    names = list(dict.fromkeys(row["list"] for row in rows))
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row["peer"], {})[row["list"]] = row
    single = rows[0]["section"] == "dirt"
    lines = []
    for peer, by in sorted(found.items(), key=lambda item: next(iter(item[1].values()))["ns"]):
        cells = [_number(by[name]["ns"]) + (f" · {_percentage(by[name])}" if single else "") for name in names]
        lines.append([peer, *cells, *([] if single else [_share(next(iter(by.values())))])])
    return ["", *names, *([] if single else ["agrees"])], lines


def _percentage(row: Row) -> str:
    """Of a hundred; "all" is all of them, and 100 is not said of less."""
    return "all" if row["right"] == row["of"] else f"{min(row['right'] / row['of'], 0.9999):.2%}"


def _lists(rows: Sequence[Row]) -> Cells:
    """What the lists are made of."""
    found = {row["list"]: row for row in rows}
    lines = [
        [name, f"{row['texts']:,}", str(row["median"]), f"{row['longest']:,}", f"{row['invalid']:.2%}"]
        for name, row in found.items()
    ]
    return ["", "texts", "median length", "the longest", "no URIs"], lines


def _access_table(rows: Sequence[Row]) -> Cells:
    """The same where whole things are opened: milliseconds, throughput, memory."""
    own = next((row["ns"] for row in rows if row["peer"] == OWN), None)
    lines = []
    for row in sorted(rows, key=lambda r: r["ns"]):
        spread = "–".join(_number(row[name] / 1e6) for name in ("ns_min", "ns_max"))
        line = [row["peer"], _number(row["ns"] / 1e6), spread, f"{row['ns'] / own:.2f}" if own else "–"]
        line += [f"{row['mb_s']:,}", _number(row["process_ms"])]
        lines.append([*line, *("–" if row.get(name) is None else f"{row[name]:,.0f}" for name in _PEAKS)])
    return ["", "ms", "min–max", f"× {OWN}", "MB/s", "process ms", "peak MiB", "at 16 MiB"], lines


def _started(rows: Sequence[Row]) -> Cells:
    """The same where a library is imported: milliseconds."""
    own = next(row["ns"] for row in rows if row["peer"] == OWN)
    lines = []
    for row in sorted(rows, key=lambda r: r["ns"]):
        spread = "–".join(_number(row[name] / 1e6) for name in ("ns_min", "ns_max"))
        lines.append([row["peer"], _number(row["ns"] / 1e6), spread, f"{row['ns'] / own:.2f}"])
    return ["", "ms", "min–max", f"× {OWN}"], lines


_PEAKS = ("peak_mib", "peak_16_mib")


def _crawl_table(rows: Sequence[Row]) -> Cells:
    """The same where a crawl is read: pages a second, memory."""
    own = next((row["ns"] for row in rows if row["peer"] == OWN and row["processes"] == 1), None)
    lines = []
    for row in sorted(rows, key=lambda r: r["ns"]):
        line = [row["peer"], str(row["processes"]), f"{row['pages_s']:,.0f}", f"{row['ns'] / own:.2f}" if own else "–"]
        line += [f"{row['mb_s']:,.0f}", f"{row['seconds']:,.1f}", f"{row['cpu_s']:,.1f}"]
        line += [str(row["rounds"]), f"{row['links']:,}"]
        lines.append([*line, *("–" if row.get(name) is None else f"{row[name]:,.0f}" for name in _CRAWL_PEAKS)])
    head = ["", "processes", "pages/s", f"× {OWN}", "MB/s", "s", "CPU s", "rounds", "links"]
    head += ["peak MiB", "PSS MiB", "4 times: peak", "PSS"]
    return head, lines


_CRAWL_PEAKS = ("peak_mib", "pss_mib", "peak_mib_4", "pss_mib_4")


def _accuracy_table(rows: Sequence[Row]) -> Cells:
    """What each reader of a crawl gives, and how often it is right."""
    lines = []
    for row in {row["peer"]: row for row in sorted(rows, key=lambda r: -r["right"])}.values():
        shares = [_share({"right": right, "of": of}) for right, of in row["groups"].values()]
        both = f"{row['shared'] * 100 / row['shared_of']:.1f} %" if row.get("shared_of") else "–"
        lines.append([row["peer"], row["version"], *shares, both, row["does"]])
    return ["", "version", *rows[0]["groups"], "shared", "gives"], lines


_WHOLE = {"imports": _started, "access": _access_table, "links": _crawl_table, "dirt": _pivot, "dirty columns": _pivot}


def table(rows: Sequence[Row]) -> str:
    """An operation's rows for the terminal."""
    section = rows[0]["section"]
    is_judged = section == "links" and any(row["processes"] > 1 for row in rows)
    more = _align("links: who is right", *_accuracy_table(rows)) if is_judged else ""
    more = _align("the lists", *_lists(rows)) if section == "dirt" else more
    first = _align(f"{rows[0]['section']}: {rows[0]['operation']}", *_WHOLE.get(rows[0]["section"], _cells)(rows))
    return f"{first}\n{more}" if more else first


def _align(title: str, head: list[str], lines: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]

    def text(line: list[str]) -> str:
        return "  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True)))

    return "\n".join(["", title, text(head), *(text(line) for line in lines)])


def _floors(rows: Sequence[Row]) -> Cells:
    lines = []
    for row in rows:
        spread = f"{_number(row['ns_min'])}–{_number(row['ns_max'])}"
        speed = f"{row['mb_s']:,}" if "mb_s" in row else "–"
        lines.append([row["operation"], str(row.get("threads", 1)), _number(row["ns"]), spread, speed])
    return ["", "threads", "ns", "min–max", "MB/s"], lines


def _markdown(rows: Sequence[Row], cells: Callable[[Sequence[Row]], Cells] | None = None) -> str:
    cells = cells or {"floors": _floors, **_WHOLE}.get(rows[0]["section"], _cells)
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

```sh
$ make bench                                         # everything, about a quarter of an hour
$ .venv/bin/python bench/run.py --quick              # small sizes, three rounds, into build/bench
$ .venv/bin/python bench/run.py --only values        # or dirt, iris, columns, kernel, imports, access, links
$ make bench-check                                   # these sources beside another commit: what is slower now
```
"""

_NOTES = {
    "values": """
## One value at a time

Nanoseconds of processor time a call: the median of the rounds, and the quickest and the slowest.
Each peer's expression (`bench/peers.py`) is compiled into a plain loop over distinct texts, so none has a wrapper
around it; the garbage collector is off, the order rotates.
What a peer refuses is found before and left out for it; **refused** counts it.
parse checks the whole text where the peer checks; read is parse and then scheme, host, port, path, query and
fragment; resolve has a base that is parsed before, where the peer has such an object; normalize goes from text to
text; str is given the peer's own object.
encode and decode work on whole URLs as data of one segment.
normalize by scheme is the scheme rung (6.2.3), changes what normalize changes and by which paragraph; relate is the
inverse of resolve, and agrees where the reference leads to the target.
""",
    "dirt": """
## Text that may be no URI

Nanoseconds of processor time a text, of one loop over good and bad ones that tries and passes over what is refused;
beside it how often the peer takes a text if and only if it is a URI (RFC 3986 3), as Appendix A tells.
A time beside a low share is the time of another task: what takes everything has no refusal to pay for.
The first lists are URLs of the corpus, of which so many in a hundred are spoiled in one of the usual ways
(`bench/mixed_input.py`); the others are what anybody's machine has (`bench/lists.py`).
""",
    "iris": """
## IRIs

The same for text beyond US-ASCII (RFC 3987): URLs of the corpus with letters of other scripts in their paths, and in
every tenth host (`bench/iris.py`).
**agrees** is the share of `tests/cases/iri.toml`, and in reading that of texts in US-ASCII that are refused too.
WHATWG's parsers write hosts by IDNA's rules, which RFC 3987 leaves to the scheme.
Columns have up to 200,000 of them, on one thread; × compares with the column of the URIs that are meant, too.
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
    "dirty columns": """
## Whole columns with rows that are no URIs

{rows:,} rows, one thread; nanoseconds a row by the share of rows that are spoiled. What is refused is null or false.
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
    "imports": """
## Imports

Milliseconds of processor time that an import needs beyond an interpreter that only starts, each in a process of its
own; the module is compiled and lies in the system's memory.
""",
    "access": """
## Opening, beside curl

The same loopback servers, turn by turn, each measurement a process of its own; no octet is kept.
Times go from the first connection to the last octet, as curl tells it; for many texts curl's is that of its process,
which reads one configuration file. **process ms** has the start of the interpreter in it.
**peak MiB** is the most memory that a process of overthere held, interpreter and all; beside it the same for a file of
16 MiB. Two cores carry client and server: what a server needs for each text bounds both clients.
""",
    "links": """
## The main job, beside readers of crawls

`overthere links CRAWL.warc.gz -o LINKS.parquet` beside libraries that read links out of a WARC, on the same file in
the same run.
The file has {crawl[file_octets]:,} octets ({crawl[octets]:,} without compression, {crawl[payload_octets]:,} of them
HTML as it was transferred; digest `{crawl[digest]}`): {crawl[responses]:,} responses with their requests,
under {crawl[hosts]:,} hosts.
`bench/crawl.py` makes it of documents in HTML that lie on the machine ({crawl[documents]:,} different contents), most
of them documentation, which is rich in links; some in other charsets, with a base element, compressed, in chunks,
behind redirects, broken off or spoiled (`bench/pages.py`).

Every measurement is a process of its own, or two with half of the file each; the time is that of the whole process,
start of the interpreter and all, and the median of the rounds (one, where it is more than 20 s); **CPU s** is what
its processors worked.
overthere writes its table; the peers count what they find and forget it.
All peers read the file with FastWARC, which resiliparse belongs to (`bench/extractors.py`).
**links** is what each finds, or in overthere's case the rows of the table; they find different things, as the second
table says.
**peak MiB** adds up the most that each process held, so memory that processes share counts more than once; **PSS MiB**
is the most that all held at once, asked ten times a second, with shared memory counted once; beside them the same for a
crawl that is 4 times as large.
The plain pages are documents as they are, 60 MB, each once, in a WARC file too.
""",
}  # fmt: skip

_JUDGED = """\
### who is right

Pages of one row each, read by everyone from a WARC (`bench/known_links.py`).
**targets** is the share of `tests/cases/resolve.toml` (RFC 3986 5.4 and more) for which the target is found,
**bases** that of pages with base elements (5.1.1), **charsets** of references beyond US-ASCII in several charsets
(RFC 3987 3.1), **places** of `tests/cases/html.toml`, all references of a row, **refused** of texts that are no
reference and for which nothing is given.
Answers are compared in the scheme's normal form, fragments aside, so that canonical forms count as right.
**shared** is the share of overthere's pairs of page and target (`a` and `area`) on the first pages of the crawl that
the peer gives too.
Scrapy leaves out by intention what is not http, https, file or ftp, or has the name of a picture or an archive, and
sorts queries; all of the peers follow browsers more than RFC 3986.
"""


def _composition(row: Row) -> str:
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
        "(`bench/gather.py`, `bench/generated.py`); the digest tells whether two runs had the same.",
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
        parts.append(note.format(**found[0]))
        if section == "floors":
            parts.append(_markdown(found) + "\n")
        else:
            parts += [f"### {operation}\n\n{_markdown(group)}\n" for operation, group in _groups(found).items()]
        if section == "links":
            parts += [_JUDGED, _markdown(found, _accuracy_table) + "\n"]
        if section == "dirt":
            parts += ["### the lists\n", _markdown(found, _lists) + "\n"]
    parts += [_composition(row) for row in rows if row["section"] == "corpus"]
    return "\n".join(parts)
