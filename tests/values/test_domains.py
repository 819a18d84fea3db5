"""Registrable domains: the algorithm of publicsuffix.org, on values, columns and their integrations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere import IRI, URI, IRIReference, URIReference, columns
from overthere.columns import rowwise
from overthere.values.hosts.domains import SuffixList, suffix_list
from support import cases, ids, linear

ROWS = cases("domains")
PARTS = ("public_suffix", "registrable_domain", "subdomain")


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_cut(row: dict[str, Any]) -> None:
    found = suffix_list().split(row["host"], private=row.get("private", True))
    assert (found and found.registrable_domain) == row.get("is")
    if "suffix" in row:
        assert found is not None
        assert found.public_suffix == row["suffix"]


@pytest.mark.parametrize("row", [row for row in ROWS if row.get("private", True)], ids=lambda row: row["id"])
def test_the_parts_of_a_value_are_those_of_the_list(row: dict[str, Any]) -> None:
    value = IRIReference(f"//{row['host']}")
    found = suffix_list().split(value.host or "")
    assert [getattr(value, part) for part in PARTS] == [found and getattr(found, part) for part in PARTS]


def test_the_lists_own_rows() -> None:
    """What is published beside the list, as the installed package brings it."""
    import re

    package = pytest.importorskip("publicsuffixlist")
    text = Path(package.__file__).with_name("test_psl.txt").read_text("utf-8")
    rows = re.findall(r"(?m)^checkPublicSuffix\('([^']*)', (?:null|'([^']*)')\)", text)
    assert len(rows) > 70
    for host, wanted in rows:
        found = suffix_list().split(host)
        registrable = found and found.registrable_domain
        assert (registrable and registrable.lower()) == (wanted or None), host


RULES = SuffixList(
    "// VERSION: 2020-01-02_03-04-05_UTC\n// ===BEGIN ICANN DOMAINS===\ncom\nuk\nco.uk\n*.ck\n!www.ck\njp\n*.kobe.jp\n"
    "!city.kobe.jp\n公司.cn\ncn\n// ===BEGIN PRIVATE DOMAINS===\nblogspot.com\n*.compute.com\n"
)


def naive(name: str, private: bool) -> int:
    """The algorithm as it is printed: every rule is tried, and the prevailing one is taken."""
    rules = ["com", "uk", "co.uk", "*.ck", "!www.ck", "jp", "*.kobe.jp", "!city.kobe.jp", "公司.cn", "cn"]
    rules += ["xn--55qx5d.cn", *(["blogspot.com", "*.compute.com"] if private else [])]
    labels = name.split(".")[::-1]
    held = list[list[str]]()
    for rule in rules:
        parts = rule.removeprefix("!").split(".")[::-1]
        if len(parts) <= len(labels) and all(p in ("*", label) for p, label in zip(parts, labels, strict=False)):
            if rule.startswith("!"):
                return len(parts) - 1
            held.append(parts)
    return max(map(len, held), default=1)


LABELS = st.sampled_from(["com", "uk", "co", "ck", "www", "jp", "kobe", "city", "cn", "公司", "xn--55qx5d", "a",
                          "blogspot", "compute"])  # fmt: skip


@given(st.lists(st.text(st.sampled_from("aA.1x%6[é。"), max_size=4) | LABELS, max_size=4).map(".".join), st.booleans())
def test_the_native_kernel_cuts_alike(host: str, private: bool) -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.array([f"http://{host}/"])
    for name in PARTS:
        wanted = listed(rowwise.domain(column, name, private=private, threads=1, views=True))
        assert listed(getattr(columns, name)(column, private=private)) == wanted


@given(st.lists(LABELS, min_size=1, max_size=6).map(".".join), st.booleans())
def test_the_algorithm_as_printed(name: str, private: bool) -> None:
    found = RULES.split(name, private=private)
    assert found is not None
    assert found.public_suffix == ".".join(name.split(".")[-naive(name, private) :])
    if found.registrable_domain is None:
        assert (found.public_suffix, found.subdomain) == (name, None)
    else:
        assert ".".join(filter(None, (found.subdomain, found.registrable_domain))) == name


def test_values() -> None:
    u = URI("http://joe@WWW.Example.Co.Uk.:80/p")
    assert (u.subdomain, u.registrable_domain, u.public_suffix) == ("WWW", "Example.Co.Uk", "Co.Uk")
    assert IRI("http://a.bücher.公司.cn/").registrable_domain == "bücher.公司.cn"
    for text in (
        "a/b",
        "http:///",
        "http://[::1]/",
        "http://127.0.0.1/",
        "http://0x7f.1/",
        "http://a..b/",
        "http://%FF.com/",
    ):
        u2 = URIReference(text)
        assert (u2.public_suffix, u2.registrable_domain, u2.subdomain) == (None, None, None)
    assert URI("http://ex%61mple.com/").registrable_domain == "example.com"
    assert (RULES.version, suffix_list().version is not None) == ("2020-01-02", True)


TEXTS = [f"http://{row['host']}/p" for row in ROWS] + [None, "a", "http://[::1]:8/", "x://h@www.A.co.uk:80", "é", ""]


def listed(found: Any) -> list[Any]:
    rows: list[Any] = rowwise.to_pyarrow(found).to_pylist()
    return rows


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("private", [True, False])
def test_columns_say_what_the_list_says(name: str, private: bool) -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.array(TEXTS)
    hosts = pa.array(columns.host(column)).to_pylist()
    cuts = [suffix_list().split(host, private=private) if host else None for host in hosts]
    wanted = [None if cut is None else getattr(cut, name) for cut in cuts]
    work = getattr(columns, name)
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        assert listed(work(column.cast(kind), private=private)) == wanted
    assert listed(work(column.dictionary_encode(), private=private)) == wanted
    assert listed(work(pa.chunked_array([column, column]), private=private)) == wanted * 2
    assert listed(work(pa.chunked_array([], pa.string()), private=private)) == []
    assert listed(work(column[:0], private=private)) == []


@pytest.mark.parametrize("name", PARTS)
def test_engines(name: str) -> None:
    pl, pd, duckdb = (pytest.importorskip(module) for module in ("polars", "pandas", "duckdb"))
    import overthere.columns.duckdb
    import overthere.columns.pandas
    import overthere.columns.polars

    texts = ["http://www.bbc.co.uk/", None, "http://[::1]/"]
    wanted = [URI("http://www.bbc.co.uk/").__getattribute__(name), None, None]
    assert getattr(pl.Series(texts).uri, name)().to_list() == wanted
    frame = pl.DataFrame({"u": texts}).select(getattr(pl.col("u").uri, name)())
    assert frame["u"].to_list() == wanted
    assert [None if pd.isna(v) else v for v in getattr(pd.Series(texts).uri, name)()] == wanted
    con = duckdb.connect()
    overthere.columns.duckdb.register(con)
    con.execute("create table t as select unnest(?) as u", [texts])
    assert [row[0] for row in con.execute(f"select uri_{name}(u) from t").fetchall()] == wanted


def test_split_says_them(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from overthere.cli.app import app

    names = [f"--component={name}" for name in PARTS]
    done = CliRunner().invoke(app, ["split", *names, "http://www.bbc.co.uk/", "http://[::1]/", "--format", "jsonl"])
    assert done.exit_code == 0
    assert '"registrable_domain": "bbc.co.uk", "subdomain": "www"' in done.stdout
    assert done.stdout.count("null") == 3
    table = tmp_path / "t.csv"
    table.write_text("u\nhttp://www.bbc.co.uk/\nhttp://a b.co.uk/\n\n")
    done = CliRunner().invoke(app, ["split", *names, "--component=path", "--column", "u", str(table)])
    assert (done.exit_code, done.stdout.splitlines()) == (
        0,
        [
            '"u","u_public_suffix","u_registrable_domain","u_subdomain","u_path"',
            '"http://www.bbc.co.uk/","co.uk","bbc.co.uk","www","/"',
            '"http://a b.co.uk/","co.uk","a b.co.uk",,"/"',
            ",,,,",
        ],
    ), done.stderr
    done = CliRunner().invoke(app, ["split", *names, "--strict", "--column", "u", str(table)])
    assert (done.exit_code, done.stdout.splitlines()[2]) == (1, '"http://a b.co.uk/",,,,"space",8')


def test_what_is_missing_is_told() -> None:
    code = "import sys; sys.modules['publicsuffixlist'] = None; from overthere import URI; URI('http://a/').subdomain"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'overthere[domains]'" in done.stderr


def test_cut_is_linear() -> None:
    linear(lambda n: RULES.split("a." * n + "com"), 100_000)
    linear(lambda n: RULES.split("公." * n + "com"), 100_000)
