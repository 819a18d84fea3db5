"""Canonical forms: ready ones beside the packages that define them, laws of every step, columns, the verb, growth."""

from __future__ import annotations

import copy
import json
import pickle
from itertools import product
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from growth import outgrows
from overthere import IRI, URI, InvalidURI, columns, links
from overthere.canonical import (
    FORMS,
    SAFE_BROWSING,
    STEPS,
    SURT,
    URL_NORMALIZE,
    W3LIB,
    Canonical,
    Step,
    hash_prefixes,
    lookup_expressions,
    raw_uri,
)
from overthere.cli.app import app
from overthere.links.model import OptionFields, Options
from support import ROOT, cases, ids

ROWS = cases("canonical")
GIVEN: dict[str, dict[str, Any]] = {
    "ladder": {"rung": "SCHEME"},
    "drop-index": {"names": ("index.html",)},
    "drop-parameters": {"names": ("utm_*",)},
    "keep-parameters": {"names": ("a*",)},
}
EACH = [Step(name, **GIVEN.get(name, {})) for name in STEPS]

hosts = st.sampled_from(
    ["h", "www.Ex.com", "www.www2.a.b", "..a..b.", "0x7f.1", "[2001:DB8:0:0::1]", "u:p@h:80", "h:", ""]
)
pieces = st.sampled_from(
    [
        "/",
        "//",
        ".",
        "..",
        "a",
        "B",
        "%25",
        "%32%35",
        "%2f",
        "%3F",
        "e%CC%81",
        "%e9",
        ";",
        "=",
        "&",
        "+",
        "index.html",
        ":",
    ]
)
texts = st.builds(
    lambda scheme, host, path, query, fragment: f"{scheme}://{host}/{path}{query}{fragment}",
    st.sampled_from(["http", "HTTPS", "ftp", "x"]),
    hosts,
    st.lists(pieces, max_size=8).map("".join),
    st.one_of(st.just(""), st.lists(pieces, max_size=8).map(lambda p: "?" + "".join(p))),
    st.sampled_from(["", "#", "#f"]),
)


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_rows(row: dict[str, Any]) -> None:
    uri = raw_uri(row["uri"]) if row.get("raw") else row["uri"]
    assert FORMS[row["form"]].key(uri) == row["key"]


def test_raw_octets_are_escaped_as_they_are() -> None:
    assert SAFE_BROWSING.key(raw_uri(b"http://\x01\x80.com/")) == "http://%01%80.com/"


@pytest.mark.parametrize(
    "raw", ["http:\\\\h", "", " ", "http://[", "\ud800", "mailto", "joe@h.example", b"http://h:x/"]
)
def test_raw_text_that_means_no_one_uri_is_refused(raw: str | bytes) -> None:
    with pytest.raises(InvalidURI):
        raw_uri(raw)


KEYED = ["surt", "safe-browsing", "w3lib", "url-normalize", "crawler-commons"]


@pytest.mark.parametrize("name", KEYED)
def test_one_host_has_one_key(name: str) -> None:
    """In letters, in escapes, as A-labels, in a case of one's own: for the names of a few scripts."""
    for host in ("bücher.example", "straße.example", "παράδειγμα.example", "例え.example", "a.bücher.example"):
        letters = IRI(f"http://{host}/x").to_uri()
        ascii_form = IRI(f"http://{host}/x").to_uri(idna=True)
        written = {letters, ascii_form, URI(str(ascii_form).replace("xn--", "XN--")), URI(str(letters).lower())}
        assert len({FORMS[name].key(uri) for uri in written}) == 1, host


@pytest.mark.parametrize("name", [name for name in FORMS if name != "tracking"])
def test_an_iri_has_the_key_of_its_uri(name: str) -> None:
    letters, escaped = IRI("http://bücher.example/é"), URI("http://b%C3%BCcher.example/%C3%A9")
    form = FORMS[name]
    assert (form.key(letters), form(letters), form.changes(letters)) == (
        form.key(escaped), form(escaped), form.changes(escaped),
    )  # fmt: skip
    with pytest.raises(InvalidURI):
        form(str(letters))
    done = CliRunner().invoke(app, ["canonical", "--form", name, "--key", str(letters), str(escaped)])
    assert done.stdout.splitlines() == [form.key(escaped)] * 2


def test_a_form_without_the_step_takes_no_letters() -> None:
    done = CliRunner().invoke(app, ["canonical", "--form", "tracking", "http://bücher.example/"])
    assert (done.exit_code, "non-ascii" in done.stderr or "US-ASCII" in done.stderr) == (1, True)
    done = CliRunner().invoke(app, ["canonical", "--idna", "http://u:geheim@b\u00fc cher.example/"])
    assert (done.exit_code, "geheim" in done.stderr) == (1, False)


def test_every_form_that_is_a_key_has_the_step_of_it() -> None:
    assert {name for name, form in FORMS.items() if Step("host-idna") in form.steps} == {*FORMS} - {"tracking"}


AUTHORITIES = ["http:", "http://", "http://h", "x:", "x://u@:80"]


@pytest.mark.parametrize("name", FORMS)
def test_forms_are_idempotent_without_an_authority_too(name: str) -> None:
    """Every text of three pieces of a path, a query and a fragment, behind each kind of beginning."""
    form = FORMS[name]
    some = ["/", "//", "..", ".", "a", ":", "?", "#", "&", "=", "%2e", "%2f", "@", "B", ""]
    for start, *pieces in product(AUTHORITIES, some, some, some):
        text = start + "".join(pieces)
        if URI.can_parse(text):
            once = form(text)
            assert form(once) == once, text


@pytest.mark.parametrize("step", EACH, ids=[step.name for step in EACH])
@given(text=texts)
def test_a_step_gives_a_uri_and_changes_it_no_more(step: Step, text: str) -> None:
    form = Canonical(step)
    once = form(text)
    assert form(once) == once


@pytest.mark.parametrize("name", FORMS)
@given(text=texts)
def test_a_ready_form_is_idempotent_and_its_changes_lead_to_it(name: str, text: str) -> None:
    form = FORMS[name]
    once = form(text)
    assert form(once) == once
    found = form.changes(text)
    assert (found[-1].after if found else text) == str(once)


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_a_value(name: str) -> None:
    form = FORMS[name]
    assert Canonical.from_toml(form.to_toml()) == form == pickle.loads(pickle.dumps(form)) == copy.deepcopy(form)
    assert hash(Canonical() + form) == hash(form)


@given(text=texts)
def test_w3lib_gives_the_same(text: str) -> None:
    url = pytest.importorskip("w3lib.url")
    uri = URI(text)
    if (
        uri.scheme.lower() in ("http", "https")
        and uri.host
        and set(uri.host) <= set("hwWExcomab.")
        and ";" not in uri.path
    ):
        assert str(W3LIB(uri)) == url.canonicalize_url(text)


MADE = """
http://h http://h? http://h# http://h/? http://h/# http://h/?# HTTP://WWW.Ex.COM/A http://h./ http://.h./ http://h..x/
http://h:/ http://h:80/ http://h:0080/ http://h:0081/ https://h:443/ https://h:80/ ftp://h:21/x ftp://h/a/../b;type=i
http://@h/ http://:@h/ http://u@h/ http://u:@h/ http://u:P%40%7e%3a@h/ http://u%21@h:8080/ http://[2001:DB8::A]/
http://[::1]:80/x http://0x7F.1/ http://127.0.0.1:80/ http://xn--bcher-kva.de/ http://XN--Bcher-KVA.de/ http://a_b.c/
http://h/%7e%41 http://h/%2f%3f%23 http://h/%3a%40%21 http://h/%5b%5D http://h/%20%22%3c%25%5e%7C http://h/%e9%ff
http://h/%c3%a9 http://h/e%cc%81 http://h/%65%cc%81 http://h/%e1%84%80%e1%85%a1 http://h/a//b http://h//a http://h/a//
http://h/. http://h/.. http://h/a/. http://h/a/.. http://h/../a http://h/a/../../b http://h/a//../b http://h/%2e%2e/a
http://h/a/%2e http://h/a..b/... http://h/a;p=1;/b, http://h/a:b@c http://h/!$&'()*+,;= http://h?a=1 http://h?/../a
http://h/?b&a http://h/?&&a&&b& http://h/?& http://h/?= http://h/?a= http://h/?=a http://h/?a=b=c http://h/?a==
http://h/?a%3db=c%3Dd http://h/?a%26b=c%26d http://h/?a+b=c%2bd http://h/?a%20b http://h/?a%2fb%3fc%3a%40=/?:@
http://h/?%21%24%27%28%29%2a%2c%3b http://h/?!$'()*,; http://h/?%23%25%22 http://h/?e%cc%81=%c3%a9 http://h/?%e9=%ff
http://h/?u=http://x/%3fa=1 http://h/#a http://h/#%41 http://h/#a/b?c http://h/#!  http://h/#a!b http://h/#a=b&c
http://h/#%3d%2f%7e http://h/#e%cc%81 http://h/#:~:text=a,b http://h/a?b#c%20d http://h/#%e9 http://h/?a%5b%5d=1
"""
"""Texts of http, https and ftp, to be read beside url-normalize."""


def _parts_from_url_normalize(uri: URI) -> bool:
    """What the page says that differs, and other schemes."""
    return (
        uri.scheme.lower() not in ("http", "https", "ftp")
        or not (uri.host or "").strip(".")
        or (uri.fragment or "").startswith("!")
        or "%5b" in (uri.query or "").lower()
    )


def test_url_normalize_gives_the_same() -> None:
    there = pytest.importorskip("url_normalize").url_normalize
    read = [text for text in MADE.split() if not _parts_from_url_normalize(URI(text))]
    assert len(read) > 80
    assert {text: str(URL_NORMALIZE(text)) for text in read} == {text: there(text) for text in read}


@given(text=texts)
def test_url_normalize_gives_the_same_for_any(text: str) -> None:
    there = pytest.importorskip("url_normalize").url_normalize
    if not _parts_from_url_normalize(URI(text)):
        assert str(URL_NORMALIZE(text)) == there(text)


@pytest.mark.parametrize(
    ("text", "here", "there"),
    [
        ("http://h/#!a", "http://h/#%21a", "http://h/?_escaped_fragment_=a"),
        ("http://h/?a%5b%5d=1", "http://h/?a%5B%5D=1", "http://h/?a[]=1"),
        ("http://%c3%a9/", "http://xn--9ca/", "http://%c3%a9/"),
        ("http:h/a", "http:h/a", "http://h/a"),
        ("x://h/a/../b//c", "x://h/b/c", "x://h/a/../b//c"),
        ("http://ue%CC%81@h/", "http://ue%CC%81@h/", "http://u%C3%A9@h/"),
        ("http://h/%3D%CC%B8", "http://h/%E2%89%A0", "http://h/%3D%CC%B8"),
        ("http://h/=%CC%B8", "http://h/=%CC%B8", "http://h/%E2%89%A0"),
    ],
)
def test_url_normalize_differs_as_the_page_says(text: str, here: str, there: str) -> None:
    assert (str(URL_NORMALIZE(text)), pytest.importorskip("url_normalize").url_normalize(text)) == (here, there)


def test_url_normalize_refuses_long_labels_as_the_page_says() -> None:
    there = pytest.importorskip("url_normalize").url_normalize
    text = f"http://{'a' * 64}/"
    assert str(URL_NORMALIZE(text)) == text
    with pytest.raises(UnicodeError):
        there(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[step]]\nname = "no"', "unknown step"),
        ('[[step]]\nname = "host-idna"\nself = 1', "self"),
        ('[[step]]\nname = "ladder"', "needs the parameter"),
        ('[[step]]\nname = "ladder"\nrung = "TOP"', "must be one of"),
        ('[[step]]\nname = "drop-parameters"\nnames = "a"', "a list of strings"),
        ("other = 1", "has only the keys key and step"),
        ('key = "no"', "unknown key"),
        ("[", "TOML|Expected|Invalid"),
    ],
)
def test_what_is_no_form_is_told(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Canonical.from_toml(text)


def test_safe_browsing_looks_up_suffixes_and_prefixes() -> None:
    assert lookup_expressions("http://a.b.com/1/2.html?param=1") == [
        "a.b.com/1/2.html?param=1", "a.b.com/1/2.html", "a.b.com/", "a.b.com/1/",
        "b.com/1/2.html?param=1", "b.com/1/2.html", "b.com/", "b.com/1/",
    ]  # fmt: skip
    assert lookup_expressions("http://1.2.3.4/1/") == ["1.2.3.4/1/", "1.2.3.4/"]
    assert lookup_expressions("http://a.b.c.d.e.f.g/1.html") == [
        host + path for host in ("a.b.c.d.e.f.g", "c.d.e.f.g", "d.e.f.g", "e.f.g", "f.g") for path in ("/1.html", "/")
    ]
    assert {len(one) for one in hash_prefixes("http://a.b.com/")} == {4}


def test_a_question_mark_that_is_data_ends_no_path() -> None:
    assert lookup_expressions("http://w/e%3F.html?q")[:2] == ["w/e?.html?q", "w/e?.html"]
    assert lookup_expressions("http://w/e%3F.html") == ["w/e?.html", "w/"]
    assert str(SURT("http://www.1.1/x")) == str(SURT(SURT("http://www.1.1/x")))


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("example.co.uk", ["example.co.uk"]),
        ("a.example.co.uk", ["a.example.co.uk", "example.co.uk"]),
        (
            "a.b.c.d.e.example.co.uk",
            ["a.b.c.d.e.example.co.uk"] + [f"{front}example.co.uk" for front in ("c.d.e.", "d.e.", "e.", "")],
        ),
        ("a.b.c.d.e", ["a.b.c.d.e", "b.c.d.e", "c.d.e", "d.e"]),
        ("a.joe.github.io", ["a.joe.github.io", "joe.github.io"]),
        ("github.io", ["github.io"]),
        ("com", ["com"]),
        ("localhost", ["localhost"]),
        ("[2001:db8::1]", ["[2001:db8::1]"]),
        ("[::ffff:1.2.3.4]", ["1.2.3.4"]),
        ("a.b.b%C3%BCcher.de", ["a.b.xn--bcher-kva.de", "b.xn--bcher-kva.de", "xn--bcher-kva.de"]),
        ("a%2Eb%23.com", ["a.b%23.com", "b%23.com"]),
    ],
)
def test_suffixes_begin_at_the_registrable_domain(host: str, names: list[str]) -> None:
    assert lookup_expressions(f"http://{host}/") == [f"{name}/" for name in names]


def test_columns_are_as_the_value() -> None:
    pa = pytest.importorskip("pyarrow")
    rows = ["http://www.h.com/?b&a", None, "no uri", "http://www.h.com/?b&a"]
    found = pa.array(columns.canonicalize(pa.array(rows), SURT, key=True)).to_pylist()
    assert found == ["com,h)/?a&b", None, None, "com,h)/?a&b"]
    detail = pa.array(columns.canonicalize(pa.array(rows), SURT, errors="detail")).to_pylist()
    assert detail[2]["error"] is not None
    with pytest.raises(columns.ColumnError):
        columns.canonicalize(pa.array(rows), SURT, errors="raise")


def test_faces_give_what_columns_give() -> None:
    pl, pd, duckdb = (pytest.importorskip(name) for name in ("polars", "pandas", "duckdb"))
    import overthere.columns.pandas
    import overthere.columns.polars  # noqa: F401 - both give a Series its accessor
    from overthere.columns.duckdb import register

    rows = ["http://www.h.com/?b&a", None]
    assert pl.Series(rows).uri.canonicalize(SURT).to_list() == ["http://h.com/?a&b", None]
    assert pd.Series(rows, dtype="string").uri.canonicalize(SURT).iloc[0] == "http://h.com/?a&b"
    con = duckdb.connect()
    register(con)
    assert con.sql("select uri_canonical('http://www.h.com/?b&a', 'surt')").fetchall() == [("com,h)/?a&b",)]


PAGE = '<a href="HTTP://www.Ex.com:80/B?b&a#f"></a><a href="mailto:a@B.c"></a><a href="%zz"></a><a href="../x"></a>'


@pytest.mark.parametrize("edition", ["rfc3986", "uri-2003"])
def test_links_have_the_form_in_normal(tmp_path: Path, edition: str) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.html").write_text(PAGE)
    made = list(links.extract(tmp_path / "a.html", "http://h/d/", edition=edition, canonical=SURT))
    assert made[0].normal == "http://ex.com/b?a&b"
    assert [row.normal for row in made] == [None if row.target is None else str(SURT(row.target)) for row in made]
    assert len([row for row in made if row.normal is not None]) >= 3


def test_links_of_another_form_are_another_table(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.html").write_text(PAGE)
    (own := tmp_path / "own.toml").write_text(SURT.to_toml())
    asked = ["links", str(tmp_path / "a.html"), "-o", str(tmp_path / "t.parquet"), "--canonical", str(own)]
    assert CliRunner().invoke(app, asked).exit_code == 0
    done = CliRunner().invoke(app, [*asked, "--resume"])
    assert (done.exit_code, "nothing to do" in done.stderr) == (0, True)
    own.write_text(W3LIB.to_toml())
    done = CliRunner().invoke(app, [*asked, "--resume"])  # the same name, and other steps
    assert (done.exit_code, "with another canonical" in done.stderr) == (2, True)
    assert CliRunner().invoke(app, [*asked[:-1], "no"]).exit_code != 0


def test_a_job_on_a_cluster_knows_the_form() -> None:
    parts = pytest.importorskip("overthere.links.job.part_files")
    jobs = {parts.JobSettings("f", Options(canonical=form)).job for form in (None, SURT, W3LIB)}
    assert len(jobs) == 3
    assert pickle.loads(pickle.dumps(Options(canonical=SURT))) == Options(canonical=SURT)


def test_the_verb(tmp_path: Any) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[[step]]\nname = "drop-fragment"\n')
    done = CliRunner().invoke(app, ["canonical", "--form", str(path), "--changes", "http://h/#f"])
    assert (done.exit_code, done.stdout) == (0, "http://h/\n")
    assert "may break" in done.stderr
    assert CliRunner().invoke(app, ["canonical", "--form", "no", "http://h/"]).exit_code != 0
    assert CliRunner().invoke(app, ["canonical", "--form", "surt", "--key", "no uri"]).exit_code == 1


@pytest.mark.parametrize("step", EACH, ids=[step.name for step in EACH])
@pytest.mark.parametrize("unit", ["%25", "25", "//", "&", "/..", "a=1&", "%32%35"])
def test_steps_take_time_in_proportion(step: Step, unit: str) -> None:
    for lead in ("http://h/%", "http://h/?%") if unit == "25" else ("http://h/", "http://h/?"):
        text = lead.replace("%", "%25") if unit == "25" else lead

        def long(size: int, text: str = text) -> str:
            return text + unit * (size // len(unit))

        assert not outgrows(Canonical(step), long, (16_000, 64_000, 256_000), 0.2)


def test_steps_of_hosts_take_time_in_proportion() -> None:
    for step in EACH:
        for unit in ("www.", ".", "%25", "a."):

            def make(n: int, unit: str = unit) -> str:
                return f"http://{unit * (n // len(unit))}x/"

            assert not outgrows(Canonical(step), make, (16_000, 64_000, 256_000), 0.2), (step, unit)


def test_the_page_has_the_table_of_steps() -> None:
    page = (ROOT / "docs" / "canonical.md").read_text(encoding="utf-8")
    for name, kind in STEPS.items():
        assert f"| `{name}` | {kind.does} | {kind.breaks} | {kind.source} |" in page


def test_one_host_in_the_table_of_links(tmp_path: Path) -> None:
    """A host in letters, in escapes and as A-labels: one text in the column normal, by a form and by --idna."""
    pytest.importorskip("pyarrow")
    (page := tmp_path / "a.html").write_text(
        '<a href="http://Bücher.de/x"><a href="http://b%C3%BCcher.de/x"><a href="http://XN--bcher-kva.de/x">'
        '<a href="file:///C|/m"><a href="http://h&#12;x/"><a href="http://h/a&#12;b">',
        encoding="utf-8",
    )
    for asked, options in (
        (["--canonical", "surt"], {"canonical": FORMS["surt"]}),
        (["--idna"], {"idna": True}),
        (["--idna", "--canonical", "tracking"], {"idna": True, "canonical": FORMS["tracking"]}),
    ):
        done = CliRunner().invoke(app, ["links", str(page), *asked, "--format", "jsonl"])
        found = [json.loads(line) for line in done.stdout.splitlines()]
        host = "http://xn--bcher-kva.de/x"
        same = host if "tracking" not in asked else "http://XN--bcher-kva.de/x"
        assert [row["normal"] for row in found[:3]] == [host, host, same]
        rows = list(links.extract([page], **cast(OptionFields, options)))
        assert [row.normal for row in rows] == [row["normal"] for row in found]
        # A bar behind a drive letter is mended; a form feed is no line break, and no URI holds it.
        assert [(row["target"], row["error"]) for row in found[3:]] == [
            ("file:///C:/m", "path-char"), (None, "control"), (None, "control"),
        ]  # fmt: skip

    older = links.extract([page], edition="uri-2003", idna=True)
    assert {row.normal for row in older} >= {"http://xn--bcher-kva.de/x"}


def test_the_verb_makes_uris_of_raw_text_and_a_labels() -> None:
    def line(*asked: str) -> str:
        done = CliRunner().invoke(app, ["canonical", *asked])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert line("--raw", "--form", "safe-browsing", "--key", " www.example.com/a b\t") == (
        "http://www.example.com/a%20b\n"
    )
    assert line("--idna", "http://b%C3%BCcher.de/") == "http://xn--bcher-kva.de/\n"
    assert line("--idna", "--form", "tracking", "http://b%C3%BCcher.de/?gclid=1&a") == "http://xn--bcher-kva.de/?a\n"
    done = CliRunner().invoke(app, ["canonical", "--raw", "--form", "surt", "http:\\\\h"])
    assert (done.exit_code, "two" not in done.stdout) == (1, True)
    done = CliRunner().invoke(app, ["repair", "--idna", "http://B\u00fccher.de/"])
    assert done.stdout == "http://xn--bcher-kva.de/\n"
    done = CliRunner().invoke(app, ["repair", "--idna", "http://%FF/"])
    assert (done.exit_code, "IDNA" in done.stderr) == (1, True)
