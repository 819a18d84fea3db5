"""Reports of a run: tables for the terminal, and docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Row = dict[str, Any]
Cells = tuple[list[str], list[list[str]]]
"""The head of a table and its lines."""
OWN = "overthere"


def _groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["operation"], []).append(row)
    return groups


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _share(row: Row) -> str:
    if "of" not in row:
        return "–"
    share = f"{row['right']}/{row['of']}"
    return share if row["right"] == row["of"] else f"{share} ({row['right'] * 100 // row['of']} %)"


def _cells(rows: Sequence[Row]) -> Cells:
    """The head and the lines of an operation's table, fastest first."""
    section = rows[0]["section"]
    ours = next((r["ns"] for r in rows if r["peer"] == OWN and r.get("threads", 1) == 1), None)
    lines = []
    for row in sorted(rows, key=lambda r: r["ns"]):
        name = f"floor: {row['operation']}" if row["section"] == "floors" else row["peer"]
        line = [name, _number(row["ns"]), f"{_number(row['ns_min'])}–{_number(row['ns_max'])}"]
        line.append(f"{row['ns'] / ours:.2f}" if ours else "–")
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
        head = ["", "threads", "ns/row", "min–max", f"× {OWN}", "MB/s", "speed-up"]
        head += ["peak MiB"] if rows[0]["operation"] == "split" else []
    return [*head, *(["rejected"] if section in _SINGLE else []), "agrees"], lines


_SINGLE = ("values", "iris")


def _pivot(rows: Sequence[Row]) -> Cells:
    """A line for each peer, a column for each list: nanoseconds per text, and the percentage of correct answers."""
    names = list(dict.fromkeys(row["list"] for row in rows))
    by_operation: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_operation.setdefault(row["peer"], {})[row["list"]] = row
    single = rows[0]["section"] == "dirt"
    lines = []
    for peer, by in sorted(by_operation.items(), key=lambda item: next(iter(item[1].values()))["ns"]):
        cells = [_number(by[name]["ns"]) + (f" · {_percentage(by[name])}" if single else "") for name in names]
        lines.append([peer, *cells, *([] if single else [_share(next(iter(by.values())))])])
    return ["", *names, *([] if single else ["agrees"])], lines


def _percentage(row: Row) -> str:
    """A percentage; "all" only for all of them: less is at most 99.99 %."""
    return "all" if row["right"] == row["of"] else f"{min(row['right'] / row['of'], 0.9999):.2%}"


def _lists(rows: Sequence[Row]) -> Cells:
    """The sizes and the contents of the lists."""
    by_list = {row["list"]: row for row in rows}
    lines = [
        [name, f"{row['texts']:,}", str(row["median"]), f"{row['longest']:,}", f"{row['invalid']:.2%}"]
        for name, row in by_list.items()
    ]
    return ["", "texts", "median length", "longest", "invalid"], lines


def _access_table(rows: Sequence[Row]) -> Cells:
    """The same for opening whole resources: milliseconds, throughput, memory."""
    ours = next((row["ns"] for row in rows if row["peer"] == OWN), None)
    lines = []
    for row in sorted(rows, key=lambda r: r["ns"]):
        spread = "–".join(_number(row[name] / 1e6) for name in ("ns_min", "ns_max"))
        line = [row["peer"], _number(row["ns"] / 1e6), spread, f"{row['ns'] / ours:.2f}" if ours else "–"]
        line += [f"{row['mb_s']:,}", _number(row["process_ms"])]
        lines.append([*line, *("–" if row.get(name) is None else f"{row[name]:,.0f}" for name in _PEAKS)])
    return ["", "ms", "min–max", f"× {OWN}", "MB/s", "process ms", "peak MiB", "at 16 MiB"], lines


def _started(rows: Sequence[Row]) -> Cells:
    """The same for imports of libraries: milliseconds."""
    ours = next(row["ns"] for row in rows if row["peer"] == OWN)
    lines = []
    for row in sorted(rows, key=lambda r: r["ns"]):
        spread = "–".join(_number(row[name] / 1e6) for name in ("ns_min", "ns_max"))
        lines.append([row["peer"], _number(row["ns"] / 1e6), spread, f"{row['ns'] / ours:.2f}"])
    return ["", "ms", "min–max", f"× {OWN}"], lines


_PEAKS = ("peak_mib", "peak_16_mib")


def _crawl_table(rows: Sequence[Row]) -> Cells:
    """The same for reading a crawl: pages per second, memory."""
    ref = next((row["ns"] for row in rows if row["peer"] == OWN and row["processes"] == 1), None)
    lines = []
    for row in sorted(rows, key=lambda r: r["ns"]):
        line = [row["peer"], str(row["processes"]), f"{row['pages_s']:,.0f}", f"{row['ns'] / ref:.2f}" if ref else "–"]
        line += [f"{row['mb_s']:,.0f}", f"{row['seconds']:,.1f}", f"{row['cpu_s']:,.1f}"]
        line += [str(row["rounds"]), f"{row['links']:,}"]
        lines.append([*line, *("–" if row.get(name) is None else f"{row[name]:,.0f}" for name in _CRAWL_PEAKS)])
    head = ["", "processes", "pages/s", f"× {OWN}", "MB/s", "s", "CPU s", "rounds", "links"]
    head += ["peak MiB", "PSS MiB", "4 times: peak", "PSS"]
    return head, lines


_CRAWL_PEAKS = ("peak_mib", "pss_mib", "peak_mib_4", "pss_mib_4")


def _accuracy_table(rows: Sequence[Row]) -> Cells:
    """The share of correct answers of each reader of a crawl, and what it gives."""
    lines = []
    for row in {row["peer"]: row for row in sorted(rows, key=lambda r: -r["right"])}.values():
        shares = [_share({"right": right, "of": of}) for right, of in row["groups"].values()]
        both = f"{row['shared'] * 100 / row['shared_of']:.1f} %" if row.get("shared_of") else "–"
        lines.append([row["peer"], row["version"], *shares, both, row["does"]])
    return ["", "version", *rows[0]["groups"], "shared", "gives"], lines


def _drop_in(rows: Sequence[Row]) -> Cells:
    """A line for each function of the drop-in for urllib: nanoseconds per call, and how many answers are urllib's."""
    lines = [
        [
            row["peer"],
            *(_number(row[name]) for name in ("urllib.parse_ns", "ns", "strict_ns")),
            f"{row['urllib.parse_ns'] / row['ns']:.1f}",
            f"{row['rows']:,}",
            f"{row['right']:,}/{row['of']:,}",
        ]
        for row in rows
    ]
    return ["", "urllib.parse", OWN, "strict", "times as quick", "calls", "same answer"], lines


def _daily(rows: Sequence[Row]) -> Cells:
    """A line for each operation, a column for each library."""
    peers = list(dict.fromkeys(row["peer"] for row in rows))
    lines = []
    for operation, group in _groups(rows).items():
        by_peer = {row["peer"]: row["ns"] for row in group}
        times = [_number(by_peer[peer]) if peer in by_peer else "–" for peer in peers]
        theirs = [ns for peer, ns in by_peer.items() if peer != OWN]
        lines.append([operation, *times, f"{min(theirs) / by_peer[OWN]:.1f}"])
    return ["", *peers, "times as quick"], lines


_TABLES = {
    "daily": _daily,
    "imports": _started,
    "integrations": _drop_in,
    "access": _access_table,
    "links": _crawl_table,
    "dirt": _pivot,
    "dirty columns": _pivot,
}


def table(rows: Sequence[Row]) -> str:
    """An operation's rows for the terminal."""
    section = rows[0]["section"]
    is_judged = section == "links" and any(row["processes"] > 1 for row in rows)
    accuracy = _align("links: correctness", *_accuracy_table(rows)) if is_judged else ""
    accuracy = _align("the lists", *_lists(rows)) if section == "dirt" else accuracy
    first = _align(f"{rows[0]['section']}: {rows[0]['operation']}", *_TABLES.get(rows[0]["section"], _cells)(rows))
    return f"{first}\n{accuracy}" if accuracy else first


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
    cells = cells or {"floors": _floors, **_TABLES}.get(rows[0]["section"], _cells)
    head, lines = cells(rows)
    bold = [[f"**{cell}**" for cell in line] if line[0] == OWN else line for line in lines]
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *bold])


_INTRODUCTION = """\
# Benchmarks

`make bench` writes this page from `bench/results/latest.jsonl`; nothing here is typed by hand.

![Every operation: overthere and its peers](benchmarks.svg)

{machine}; load {load} before the run. Python {python}, commit {commit}, {kernel} kernel, {date}. {versions}.

Compare the ratios, which come from one run; the absolute times hold for this machine only.
**agrees** is the share of test cases for which the peer gives the answer of RFC 3986. The cases are those of
`tests/cases/*.toml`, each with its section of the RFC, and the two lists in `bench/standard.py`.
Where the RFC contradicts itself, the cases follow [the decisions](decisions.md).
can_ada, ada_url, url-py and pydantic_core follow the WHATWG URL Standard instead; urllib.parse and yarl name no
standard.
A peer that does not agree in all cases does a different task, so its time is not directly comparable.

```sh
$ make bench                                         # everything, about a quarter of an hour
$ .venv/bin/python bench/run.py --quick              # small sizes, three rounds, into build/bench
$ .venv/bin/python bench/run.py --only values        # or daily, dirt, iris, columns, kernel, imports, access, links
$ make bench-check                                   # compare with another commit: what is slower now
```
"""

_NOTES = {
    "values": """
## One value at a time

Nanoseconds of processor time per call: the median of the rounds, the fastest and the slowest round.
Each peer's expression (`bench/peers.py`) is compiled into a plain loop over distinct texts, without a wrapper
function. The garbage collector is off, and the order of the peers rotates.
Texts that a peer rejects are found beforehand and left out for that peer; **rejected** counts them.

| operation | task |
| --- | --- |
| parse | check the whole text, if the peer checks |
| read | parse, then read scheme, host, port, path, query and fragment |
| resolve | resolve a reference; the base is parsed beforehand if the peer has an object for it |
| normalize | from text to text |
| str | from the peer's own object to text |
| encode, decode | whole URLs, as data of one segment |
| normalize by scheme | the scheme rung (6.2.3) |
| changes | list the changes of normalize, each with its section |
| relate | the inverse of resolve; it agrees if the reference leads to the target |
""",
    "daily": """
## Every day

Nanoseconds of processor time per call on URLs of the corpus that all of these libraries take (`bench/daily.py`): edits,
parameters, names and ports. Each value is new in each round, and yarl's cache is emptied before it, so that no answer
is remembered. **times as quick** compares with the quickest of the others.
""",
    "dirt": """
## Valid and invalid text

Nanoseconds of processor time per text, in one loop over valid and invalid texts that skips the rejected ones. Next to
it: the share of texts that the peer judges correctly, accepting a text if and only if Appendix A of RFC 3986 allows it.
A peer with a low share does a different task: a parser that accepts everything never pays for an error.
The first lists are URLs of the corpus, of which the given percentage is damaged in one of the usual ways
(`bench/mixed_input.py`); the others are lists found on an ordinary machine (`bench/lists.py`).
""",
    "iris": """
## IRIs

The same for non-ASCII text (RFC 3987): URLs of the corpus with letters of other scripts in their paths, and in every
tenth host (`bench/iris.py`).
**agrees** is the share of the cases in `tests/cases/iri.toml`; for reading it includes ASCII texts that must be
rejected.
WHATWG parsers write hosts by the rules of IDNA, which RFC 3987 leaves to the scheme.
Columns have up to 200,000 IRIs and use one thread; × also compares with the column of the URIs that they map to.
""",
    "columns": """
## Whole columns

{rows:,} rows; nanoseconds per row, from an Arrow column (for chdb and duckdb, from their own table in memory) to an
Arrow column.
Each engine runs in its own process, and the order rotates. In each round an engine runs twice and the second run
counts (loops run once), so that the first allocation of memory is not measured. × compares with overthere on one
thread.
**peak MiB** is the additional memory of the first split of all rows, including its result.
duckdb, polars and pyarrow.compute have no functions for URIs: for split and host they use the regular expression of
RFC 3986 Appendix B, for check and parse Appendix A as one regular expression (`bench/expressions.py`).
chdb uses its own functions, and Appendix A for check.
No other engine normalizes or resolves columns; a Python loop replaces them there.
""",
    "dirty columns": """
## Whole columns with invalid rows

{rows:,} rows, one thread; nanoseconds per row, by the share of damaged rows. A rejected row becomes null or false.
""",
    "floors": """
## Floors

Lower limits that no implementation can beat, measured in the same run. memcpy: numpy copies the column's bytes.
compare: one vector comparison of every byte (numpy). look up: every byte looked up in a table of 256 (numpy's take).
read: pyarrow reads the column from Parquet. validate: what overthere checks of an Arrow array from another library,
its offsets and UTF-8, which is part of each of its times above. The loop, an empty call (`callable(t)`) and an empty
object (`itertools.repeat(t)`, a C type that keeps its argument) are the limits for single values.
""",
    "kernel": """
## In Rust

`cargo bench -p overthere-core`: the kernel and the crates for RFC 3986, on the same texts, with one thread. normalize
and resolve return an owned text; resolve parses the reference, not the base.
""",
    "imports": """
## Imports

Milliseconds of processor time that an import adds to the start of the interpreter, each in its own process. The
module is already compiled and in the file cache.
""",
    "integrations": """
## The names of urllib.parse

`overthere.integrations.urllib`, its strict variant and urllib.parse, each function on the same real URLs of the corpus:
nanoseconds of processor time per call, and how many answers of the lenient one are those of urllib
(`bench/integrations.py`).
Caches are cleared before each round. Calls that one of the three refuses are not timed.
""",
    "access": """
## Opening: overthere and curl

Both use the same loopback servers, in turn; each measurement is a process of its own, and the content is discarded.
Times go from the first connection to the last byte, as curl reports them; for many texts the time of curl is that of
its process, which reads one configuration file. **process ms** includes the start of the interpreter.
**peak MiB** is the peak memory of the overthere process, including the interpreter; the next column is the same for a
file of 16 MiB. Client and server share two cores, so the server's own work limits both clients.
""",
    "links": """
## The main job: links of a crawl

`overthere links CRAWL.warc.gz -o LINKS.parquet` and other libraries that extract links from a WARC, on the same file
in the same run.
The file has {crawl[file_octets]:,} bytes ({crawl[octets]:,} uncompressed, of which {crawl[payload_octets]:,} are HTML
as transferred; digest `{crawl[digest]}`): {crawl[responses]:,} responses with their requests, from {crawl[hosts]:,}
hosts.
`bench/crawl.py` builds it from HTML documents on the machine ({crawl[documents]:,} different contents). Most are
documentation, which is rich in links; some have other charsets, a base element, compression, chunks or redirects, or
are truncated or damaged (`bench/pages.py`).

Every measurement is a process of its own, or two processes with half of the file each. The time is that of the whole
process, including the start of the interpreter: the median of the rounds (of one round, if it takes more than 20 s).
**CPU s** is processor time.
overthere writes its table; the peers only count what they find.
All peers read the file with FastWARC, which belongs to resiliparse (`bench/extractors.py`).
**links** is the number of links found, for overthere the rows of the table; the tools find different links, as the
second table shows.
**peak MiB** is the sum of the peaks of all processes, so memory that they share counts more than once. **PSS MiB** is
the peak of all together, sampled ten times a second, with shared memory counted once. The last two columns are the
same for a crawl that is 4 times as large.
The plain pages are unchanged documents, 60 MB, each once, also in a WARC file.
""",
}  # fmt: skip

_JUDGED = """\
### correctness

Each page has the content of one test case, and every tool reads it from a WARC (`bench/known_links.py`).

| column | share of correct answers for |
| --- | --- |
| targets | `tests/cases/resolve.toml` (RFC 3986 5.4 and more): the target is found |
| bases | pages with base elements (5.1.1) |
| charsets | non-ASCII references in several charsets (RFC 3987 3.1) |
| places | `tests/cases/html.toml`: all references of a case are found |
| refused | texts that are not references: nothing is found |
| shared | overthere's pairs of page and target (`a`, `area`) on the first pages: the peer finds them too |

Answers are compared in the scheme's normal form and without fragments, so canonical forms count as correct.
Scrapy intentionally sorts queries, and skips schemes other than http, https, file and ftp and the names of pictures
and archives. All peers follow browsers more than RFC 3986.
"""


def _composition(row: Row) -> str:
    shares = ("valid", "https", "query", "fragment", "escape", "userinfo", "IPv6")
    lines = [
        "## The corpus",
        "",
        f"{row['texts']:,} distinct texts, {row['bytes']:,} bytes, digest `{row['digest']}` (SHA-256 of the lines).",
        f"Lengths in bytes: mean {row['mean']}, median {row['median']}, 90 % up to {row['p90']}, "
        f"99 % up to {row['p99']}, longest {row['longest']:,}.",
        "Shares: " + ", ".join(f"{name} {row[name]:.2%}" for name in shares) + ".",
        "",
        "A regular expression collects them from files on the machine, at most "
        f"{row['most of one place']:,} from one place (scheme, host, two segments); the rest is generated from a fixed "
        "seed (`bench/gather.py`, `bench/generated.py`). Two runs with the same digest had the same texts.",
        "Single values and Rust use the first of these rows, columns use all of them.",
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
        section_rows = [row for row in rows if row["section"] == section]
        if not section_rows:
            continue
        parts.append(note.format(**section_rows[0]))
        if section in ("floors", "daily"):
            parts.append(_markdown(section_rows) + "\n")
        else:
            parts += [f"### {operation}\n\n{_markdown(group)}\n" for operation, group in _groups(section_rows).items()]
        if section == "links":
            parts += [_JUDGED, _markdown(section_rows, _accuracy_table) + "\n"]
        if section == "dirt":
            parts += ["### the lists\n", _markdown(section_rows, _lists) + "\n"]
    parts += [_composition(row) for row in rows if row["section"] == "corpus"]
    return "\n".join(parts)
