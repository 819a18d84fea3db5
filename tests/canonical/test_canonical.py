"""Canonical forms: compared with the packages that define them, laws of every step, columns, command, growth."""

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
PARAMETERS: dict[str, dict[str, Any]] = {
    "ladder": {"rung": "SCHEME"},
    "drop-index": {"names": ("index.html",)},
    "drop-parameters": {"names": ("utm_*",)},
    "keep-parameters": {"names": ("a*",)},
}
EACH = [Step(name, **PARAMETERS.get(name, {})) for name in STEPS]

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
def test_keys_of_the_cases(row: dict[str, Any]) -> None:
    uri = raw_uri(row["uri"]) if row.get("raw") else row["uri"]
    assert FORMS[row["form"]].key(uri) == row["key"]


def test_raw_bytes_are_escaped_unchanged() -> None:
    assert SAFE_BROWSING.key(raw_uri(b"http://\x01\x80.com/")) == "http://%01%80.com/"


@pytest.mark.parametrize(
    "raw", ["http:\\\\h", "", " ", "http://[", "\ud800", "mailto", "joe@h.example", b"http://h:x/"]
)
def test_ambiguous_raw_text_is_rejected(raw: str | bytes) -> None:
    with pytest.raises(InvalidURI):
        raw_uri(raw)


KEYED = ["surt", "safe-browsing", "w3lib", "url-normalize", "crawler-commons"]


@pytest.mark.parametrize("name", KEYED)
def test_all_spellings_of_a_host_have_one_key(name: str) -> None:
    """In letters, escaped, as A-labels, in any case; for names in several scripts."""
    for host in ("bücher.example", "straße.example", "παράδειγμα.example", "例え.example", "a.bücher.example"):
        letters = IRI(f"http://{host}/x").to_uri()
        ascii_form = IRI(f"http://{host}/x").to_uri(idna=True)
        spellings = {letters, ascii_form, URI(str(ascii_form).replace("xn--", "XN--")), URI(str(letters).lower())}
        assert len({FORMS[name].key(uri) for uri in spellings}) == 1, host


@pytest.mark.parametrize("name", [name for name in FORMS if name != "tracking"])
def test_an_iri_has_the_key_of_its_uri(name: str) -> None:
    letters, escaped = IRI("http://bücher.example/é"), URI("http://b%C3%BCcher.example/%C3%A9")
    form = FORMS[name]
    assert (form.key(letters), form(letters), form.changes(letters)) == (
        form.key(escaped), form(escaped), form.changes(escaped),
    )  # fmt: skip
    with pytest.raises(InvalidURI):
        form(str(letters))
    result = CliRunner().invoke(app, ["canonical", "--form", name, "--key", str(letters), str(escaped)])
    assert result.stdout.splitlines() == [form.key(escaped)] * 2


def test_a_form_without_idna_rejects_non_ascii_hosts() -> None:
    result = CliRunner().invoke(app, ["canonical", "--form", "tracking", "http://bücher.example/"])
    assert (result.exit_code, "non-ascii" in result.stderr or "US-ASCII" in result.stderr) == (1, True)
    result = CliRunner().invoke(app, ["canonical", "--idna", "http://u:geheim@b\u00fc cher.example/"])
    assert (result.exit_code, "geheim" in result.stderr) == (1, False)


def test_every_form_but_tracking_has_the_step_host_idna() -> None:
    assert {name for name, form in FORMS.items() if Step("host-idna") in form.steps} == {*FORMS} - {"tracking"}


AUTHORITIES = ["http:", "http://", "http://h", "x:", "x://u@:80"]


@pytest.mark.parametrize("name", FORMS)
def test_forms_are_idempotent_for_all_short_uris(name: str) -> None:
    """Every text of three pieces of path, query and fragment, after each kind of beginning."""
    form = FORMS[name]
    units = ["/", "//", "..", ".", "a", ":", "?", "#", "&", "=", "%2e", "%2f", "@", "B", ""]
    for start, *pieces in product(AUTHORITIES, units, units, units):
        text = start + "".join(pieces)
        if URI.can_parse(text):
            once = form(text)
            assert form(once) == once, text


@pytest.mark.parametrize("step", EACH, ids=[step.name for step in EACH])
@given(text=texts)
def test_a_step_gives_a_uri_and_is_idempotent(step: Step, text: str) -> None:
    form = Canonical(step)
    once = form(text)
    assert form(once) == once


@pytest.mark.parametrize("name", FORMS)
@given(text=texts)
def test_a_built_in_form_is_idempotent_and_lists_its_changes(name: str, text: str) -> None:
    form = FORMS[name]
    once = form(text)
    assert form(once) == once
    changes = form.changes(text)
    assert (changes[-1].after if changes else text) == str(once)


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_a_value(name: str) -> None:
    form = FORMS[name]
    assert Canonical.from_toml(form.to_toml()) == form == pickle.loads(pickle.dumps(form)) == copy.deepcopy(form)
    assert hash(Canonical() + form) == hash(form)


@given(text=texts)
def test_w3lib_gives_the_same_results(text: str) -> None:
    url = pytest.importorskip("w3lib.url")
    uri = URI(text)
    if (
        uri.scheme.lower() in ("http", "https")
        and uri.host
        and set(uri.host) <= set("hwWExcomab.")
        and ";" not in uri.path
    ):
        assert str(W3LIB(uri)) == url.canonicalize_url(text)


TEXTS = """
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
"""Texts of http, https and ftp to compare with url-normalize."""


def _differs_from_url_normalize(uri: URI) -> bool:
    """Whether a documented difference applies, or another scheme."""
    return (
        uri.scheme.lower() not in ("http", "https", "ftp")
        or not (uri.host or "").strip(".")
        or (uri.fragment or "").startswith("!")
        or "%5b" in (uri.query or "").lower()
    )


def test_url_normalize_gives_the_same_results() -> None:
    normalize = pytest.importorskip("url_normalize").url_normalize
    read = [text for text in TEXTS.split() if not _differs_from_url_normalize(URI(text))]
    assert len(read) > 80
    assert {text: str(URL_NORMALIZE(text)) for text in read} == {text: normalize(text) for text in read}


@given(text=texts)
def test_url_normalize_gives_the_same_results_for_random_texts(text: str) -> None:
    normalize = pytest.importorskip("url_normalize").url_normalize
    if not _differs_from_url_normalize(URI(text)):
        assert str(URL_NORMALIZE(text)) == normalize(text)


@pytest.mark.parametrize(
    ("text", "ours", "theirs"),
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
def test_url_normalize_differs_as_documented(text: str, ours: str, theirs: str) -> None:
    assert (str(URL_NORMALIZE(text)), pytest.importorskip("url_normalize").url_normalize(text)) == (ours, theirs)


def test_url_normalize_rejects_long_labels_as_documented() -> None:
    normalize = pytest.importorskip("url_normalize").url_normalize
    text = f"http://{'a' * 64}/"
    assert str(URL_NORMALIZE(text)) == text
    with pytest.raises(UnicodeError):
        normalize(text)


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_an_invalid_form_is_reported(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
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
    assert {len(prefix) for prefix in hash_prefixes("http://a.b.com/")} == {4}


def test_an_escaped_question_mark_does_not_end_the_path() -> None:
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


def test_columns_give_what_values_give() -> None:
    pa = pytest.importorskip("pyarrow")
    rows = ["http://www.h.com/?b&a", None, "no uri", "http://www.h.com/?b&a"]
    keys = pa.array(columns.canonicalize(pa.array(rows), SURT, key=True)).to_pylist()
    assert keys == ["com,h)/?a&b", None, None, "com,h)/?a&b"]
    detail = pa.array(columns.canonicalize(pa.array(rows), SURT, errors="detail")).to_pylist()
    assert detail[2]["error"] is not None
    with pytest.raises(columns.ColumnError):
        columns.canonicalize(pa.array(rows), SURT, errors="raise")


def test_engines_give_what_columns_give() -> None:
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
def test_links_have_the_canonical_form_in_the_column_normal(tmp_path: Path, edition: str) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.html").write_text(PAGE)
    rows = list(links.extract(tmp_path / "a.html", "http://h/d/", edition=edition, canonical=SURT))
    assert rows[0].normal == "http://ex.com/b?a&b"
    assert [row.normal for row in rows] == [None if row.target is None else str(SURT(row.target)) for row in rows]
    assert len([row for row in rows if row.normal is not None]) >= 3


def test_resuming_with_another_form_is_rejected(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.html").write_text(PAGE)
    (form_file := tmp_path / "own.toml").write_text(SURT.to_toml())
    command = ["links", str(tmp_path / "a.html"), "-o", str(tmp_path / "t.parquet"), "--canonical", str(form_file)]
    assert CliRunner().invoke(app, command).exit_code == 0
    result = CliRunner().invoke(app, [*command, "--resume"])
    assert (result.exit_code, "nothing to do" in result.stderr) == (0, True)
    form_file.write_text(W3LIB.to_toml())
    result = CliRunner().invoke(app, [*command, "--resume"])  # the same file with other steps
    assert (result.exit_code, "with another canonical" in result.stderr) == (2, True)
    assert CliRunner().invoke(app, [*command[:-1], "no"]).exit_code != 0


def test_a_job_id_depends_on_the_form() -> None:
    parts = pytest.importorskip("overthere.links.job.part_files")
    jobs = {parts.JobSettings("f", Options(canonical=form)).job for form in (None, SURT, W3LIB)}
    assert len(jobs) == 3
    assert pickle.loads(pickle.dumps(Options(canonical=SURT))) == Options(canonical=SURT)


def test_the_command(tmp_path: Any) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[[step]]\nname = "drop-fragment"\n')
    result = CliRunner().invoke(app, ["canonical", "--form", str(path), "--changes", "http://h/#f"])
    assert (result.exit_code, result.stdout) == (0, "http://h/\n")
    assert "may break" in result.stderr
    assert CliRunner().invoke(app, ["canonical", "--form", "no", "http://h/"]).exit_code != 0
    assert CliRunner().invoke(app, ["canonical", "--form", "surt", "--key", "no uri"]).exit_code == 1


@pytest.mark.parametrize("step", EACH, ids=[step.name for step in EACH])
@pytest.mark.parametrize("unit", ["%25", "25", "//", "&", "/..", "a=1&", "%32%35"])
def test_steps_are_linear(step: Step, unit: str) -> None:
    for start in ("http://h/%", "http://h/?%") if unit == "25" else ("http://h/", "http://h/?"):
        text = start.replace("%", "%25") if unit == "25" else start

        def long(size: int, text: str = text) -> str:
            return text + unit * (size // len(unit))

        assert not outgrows(Canonical(step), long, (16_000, 64_000, 256_000), 0.2)


def test_host_steps_are_linear() -> None:
    for step in EACH:
        for unit in ("www.", ".", "%25", "a."):

            def make(n: int, unit: str = unit) -> str:
                return f"http://{unit * (n // len(unit))}x/"

            assert not outgrows(Canonical(step), make, (16_000, 64_000, 256_000), 0.2), (step, unit)


def test_the_documentation_lists_all_steps() -> None:
    page = (ROOT / "docs" / "canonical.md").read_text(encoding="utf-8")
    for name, kind in STEPS.items():
        assert f"| `{name}` | {kind.does} | {kind.breaks} | {kind.source} |" in page


def test_links_normalize_all_spellings_of_a_host_alike(tmp_path: Path) -> None:
    """A host in letters, escaped or as A-labels is one text in the column normal, by a form and by --idna."""
    pytest.importorskip("pyarrow")
    (page := tmp_path / "a.html").write_text(
        '<a href="http://Bücher.de/x"><a href="http://b%C3%BCcher.de/x"><a href="http://XN--bcher-kva.de/x">'
        '<a href="file:///C|/m"><a href="http://h&#12;x/"><a href="http://h/a&#12;b">',
        encoding="utf-8",
    )
    for arguments, options in (
        (["--canonical", "surt"], {"canonical": FORMS["surt"]}),
        (["--idna"], {"idna": True}),
        (["--idna", "--canonical", "tracking"], {"idna": True, "canonical": FORMS["tracking"]}),
    ):
        result = CliRunner().invoke(app, ["links", str(page), *arguments, "--format", "jsonl"])
        table = [json.loads(line) for line in result.stdout.splitlines()]
        host = "http://xn--bcher-kva.de/x"
        same = host if "tracking" not in arguments else "http://XN--bcher-kva.de/x"
        assert [row["normal"] for row in table[:3]] == [host, host, same]
        rows = list(links.extract([page], **cast(OptionFields, options)))
        assert [row.normal for row in rows] == [row["normal"] for row in table]
        # A bar after a drive letter is repaired; a form feed is not a line break and is invalid in a URI.
        assert [(row["target"], row["error"]) for row in table[3:]] == [
            ("file:///C:/m", "path-char"), (None, "control"), (None, "control"),
        ]  # fmt: skip

    older = links.extract([page], edition="uri-2003", idna=True)
    assert {row.normal for row in older} >= {"http://xn--bcher-kva.de/x"}


def test_the_command_accepts_raw_text_and_makes_a_labels() -> None:
    def line(*arguments: str) -> str:
        result = CliRunner().invoke(app, ["canonical", *arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    assert line("--raw", "--form", "safe-browsing", "--key", " www.example.com/a b\t") == (
        "http://www.example.com/a%20b\n"
    )
    assert line("--idna", "http://b%C3%BCcher.de/") == "http://xn--bcher-kva.de/\n"
    assert line("--idna", "--form", "tracking", "http://b%C3%BCcher.de/?gclid=1&a") == "http://xn--bcher-kva.de/?a\n"
    result = CliRunner().invoke(app, ["canonical", "--raw", "--form", "surt", "http:\\\\h"])
    assert (result.exit_code, "two" not in result.stdout) == (1, True)
    result = CliRunner().invoke(app, ["repair", "--idna", "http://B\u00fccher.de/"])
    assert result.stdout == "http://xn--bcher-kva.de/\n"
    result = CliRunner().invoke(app, ["repair", "--idna", "http://%FF/"])
    assert (result.exit_code, "IDNA" in result.stderr) == (1, True)
