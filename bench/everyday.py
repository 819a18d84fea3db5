"""Parameters, canonical forms and registrable domains of a column, compared with peers in one run on one thread: time
per row, and how often the registrable domain agrees with the installed list (a peer's own may have another date).

python bench/everyday.py [ROWS]
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa

from overthere import columns
from overthere.canonical import FORMS
from overthere.values.hosts.domains import suffix_list

_LOOP = 20_000
"""The number of rows in a loop of Python."""


def texts(rows: int) -> list[str]:
    """URLs whose hosts are all different, under suffixes of the list and under none."""
    draw = random.Random(1)
    suffixes = ["com", "co.uk", "de", "com.br", "github.io", "kobe.jp", "co.jp", "example", "gov.au", "blogspot.com"]
    return [
        f"https://www.h{draw.randrange(10**9)}.{draw.choice(suffixes)}/shop/{i}"
        f"?utm_source=news&q=a+b&id={i}&page={i % 9}#top"
        for i in range(rows)
    ]


def _least_time(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    result, least = None, float("inf")
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        least = min(least, time.perf_counter() - start)
    return least, result


def _as_text(found: Any) -> list[str | None]:
    """Answers as text; chdb's are octets."""
    column = found if isinstance(found, list) else found.to_pylist() if hasattr(found, "to_pylist") else pa.array(found)
    rows = column if isinstance(column, list) else column.to_pylist()
    return [row.decode() if isinstance(row, bytes) else row for row in rows]


def _chdb(column: pa.Array) -> Callable[[str], Callable[[], Any]]:
    session: Any = import_module("chdb.session").Session(tempfile.mkdtemp())
    table = pa.table({"u": column})  # noqa: F841 - named in the query
    session.query("CREATE DATABASE b")
    session.query("CREATE TABLE b.t (u String) ENGINE = Memory")
    session.query("INSERT INTO b.t SELECT u FROM Python(table)")
    return lambda expression: (
        lambda: session.query(f"SELECT {expression} AS v FROM b.t SETTINGS max_threads = 1", "ArrowTable")["v"]
    )


def main(rows: int) -> None:
    """Print a row for each."""
    import tldextract
    from w3lib.url import add_or_replace_parameter, canonicalize_url, url_query_cleaner
    from yarl import URL

    listed = texts(rows)
    column, sample = pa.array(listed), listed[:_LOOP]
    ask = _chdb(column)
    extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)

    def own_call(name: str, *arguments: Any) -> Callable[[], Any]:
        return lambda: getattr(columns, name)(column, *arguments, threads=1)

    def loop(work: Callable[[str], Any]) -> Callable[[], Any]:
        return lambda: [work(text) for text in sample]

    calls: list[tuple[str, Callable[[], Any], int]] = [
        ("split, overthere", own_call("split"), rows),
        ("get, overthere", own_call("parameter", "id"), rows),
        ("get, chdb extractURLParameter", ask("extractURLParameter(u, 'id')"), rows),
        ("get, loop urllib.parse", loop(lambda text: parse_qs(urlsplit(text).query)["id"][0]), _LOOP),
        ("get, loop yarl", loop(lambda text: URL(text).query["id"]), _LOOP),
        ("set, overthere", own_call("with_parameters", {"id": 7}), rows),
        ("set, loop yarl", loop(lambda text: str(URL(text).update_query(id="7"))), _LOOP),
        ("set, loop w3lib", loop(lambda text: add_or_replace_parameter(text, "id", "7")), _LOOP),
        ("add, overthere", own_call("add_parameters", {"n": 7}), rows),
        ("remove, overthere", own_call("without_parameters", "utm_*"), rows),
        ("remove, chdb cutURLParameter", ask("cutURLParameter(u, 'utm_source')"), rows),
        ("remove, loop w3lib", loop(lambda text: url_query_cleaner(text, ("utm_source",), remove=True)), _LOOP),
        ("sort, overthere", own_call("sort_parameters"), rows),
        *((f"canonical {name}, overthere", own_call("canonicalize", form), rows) for name, form in FORMS.items()),
        *((f"canonical {name}, loop overthere", loop(form), _LOOP) for name, form in FORMS.items()),
        ("canonical w3lib, loop w3lib", loop(canonicalize_url), _LOOP),
    ]
    for name, work, count in calls:
        seconds, _ = _least_time(work, 5 if count == rows else 2)
        print(f"{name:45} {seconds / count * 1e9:10.0f} ns a row")
    hosts = (urlsplit(text).hostname or "" for text in listed)
    expected = [parts and parts.registrable_domain for parts in map(suffix_list().split, hosts)]
    domains: list[tuple[str, Callable[[], Any], int]] = [
        ("registrable_domain, overthere", own_call("registrable_domain"), rows),
        ("cutToFirstSignificantSubdomain, chdb", ask("cutToFirstSignificantSubdomain(u)"), rows),
        ("tldextract, loop", loop(lambda text: extract(text).top_domain_under_public_suffix), _LOOP),
    ]
    for name, work, count in domains:
        seconds, result = _least_time(work, 5 if count == rows else 1)
        answers = _as_text(result)
        right = sum((a or None) == b for a, b in zip(answers, expected, strict=False))
        print(f"{name:45} {seconds / count * 1e9:10.0f} ns a row, right in {right / len(answers):.1%}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300_000)
