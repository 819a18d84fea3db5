"""Whether a URI is valid by its own scheme: findings of values, columns, engines and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, Self

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from overthere import GrammarError, InvalidURI, Registry, URIReference, check, columns, edition, scheme
from overthere.cli.app import app
from overthere.columns import rowwise
from overthere.editions import NAMES
from overthere.schemes import Example, GenericLocator, Given, Scheme
from support import cases, ids, linear

pa = pytest.importorskip("pyarrow")

ROWS = cases("scheme_check")
KNOWN = sorted(Registry.default())


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_findings_of_the_cases(row: dict[str, Any]) -> None:
    """A generically valid URI with the findings of its scheme; the offset is in the given text."""
    by = row.get("edition", "rfc3986")
    assert check(row["text"], by, rule=row.get("rule")) == []
    findings = check(row["text"], by, rule=row.get("rule"), scheme=True)
    assert [f"{one.start}-{one.end} {one.component} {one.rule} {one.source}" for one in findings] == row.get(
        "findings", []
    )
    assert {finding.kind for finding in findings} <= {"scheme-syntax"}
    assert all(finding.expected or "cannot have a fragment" in finding.message for finding in findings)


def texts(name: str) -> Iterator[str]:
    """Texts that the rules of a scheme derive, and similar ones."""
    by_name = scheme(name)
    yield from (example.text for example in by_name.examples)
    yield from (f"{name.upper()}:", f"{name}://", f"{name}:/h", f"{name}:x", f"{name}://:1/", f"{name}:x?y#z")
    for sample in by_name.whole.sample(30) if by_name.syntax else ():
        yield sample
        yield sample[:-1]
        yield sample.replace(":", ":/", 1)
        yield sample.replace("/", "", 1)
        yield f"{sample}#%20#"


@pytest.mark.parametrize("by", NAMES)
@pytest.mark.parametrize("name", KNOWN)
def test_columns_agree_with_values(name: str, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [*texts(name), "../g", None, "x:y", "", "URL:" + name + ":x"]
    expected = [None if text is None else not check(text, by, scheme=True) for text in rows]
    findings = columns.check(pa.array(rows), edition=by, scheme=True)
    assert rowwise.to_pyarrow(findings).to_pylist() == expected
    monkeypatch.setattr(columns, "engine", lambda: rowwise)
    monkeypatch.setattr(_columns_of_schemes(), "engine", lambda: rowwise)
    assert columns.check(pa.array(rows), edition=by, scheme=True).to_pylist() == expected  # type: ignore[attr-defined]


def _columns_of_schemes() -> ModuleType:
    from overthere.columns import schemes

    return schemes


@pytest.mark.parametrize("name", KNOWN)
def test_the_automaton_of_a_uri_is_the_rule_and_a_fragment(name: str) -> None:
    by_name = scheme(name)
    if not by_name.syntax:
        return
    for text in filter(edition().is_valid, texts(name)):
        bare, mark, _ = text.partition("#")
        derived = any(by_name.grammar.automaton(rule).accepts(bare) for rule in by_name.rules["rfc3986"])
        assert by_name.whole.accepts(text) == (derived and not (mark and by_name.no_fragment)) == by_name.is_valid(text)
        assert by_name.is_valid(text) == (not by_name.faults(text))


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_every_layout_gives_the_same(kind: Any) -> None:
    rows = ["http://h/", "http:/h", None, "tel:x", "tel:+1", "a b", "http:/h", "nfs:x", "new:x", "../g"]
    expected = [True, False, None, False, True, False, False, True, True, False]
    column = pa.array(rows).cast(kind)
    assert columns.check(column, scheme=True).to_pylist() == expected  # type: ignore[attr-defined]
    findings = columns.check(pa.chunked_array([column, column[:2], column[:0]]), scheme=True)
    assert rowwise.to_pyarrow(findings).to_pylist() == [*expected, True, False]
    assert columns.check(column[:0], scheme=True).to_pylist() == []  # type: ignore[attr-defined]
    references = columns.check(column, "URI-reference", scheme=True)
    assert references.to_pylist() == [*expected[:-1], True]  # type: ignore[attr-defined]


class Strict(GenericLocator):
    """A locator that rejects texts, of a scheme without a grammar."""

    @classmethod
    def split(cls, parts: Given) -> Self:
        if parts.path != "good":
            raise parts.refuse(parts.path, '"good"', "strict-uri", "our own paper 1")
        return cls(**parts.rest())


STRICT = Scheme(
    name="strict",
    title="a scheme without a grammar",
    documents={"rfc3986": "our own paper 1"},
    locator=Strict,
    locates_nothing="it is a test",
    examples=(Example("strict:good", "our own"),),
)


def test_a_passed_registry_is_used() -> None:
    registry = Registry.default().with_(STRICT)
    (finding,) = check("strict:bad", scheme=True, registry=registry)
    assert (finding.kind, finding.start, finding.end, finding.source) == ("scheme-syntax", 7, 10, "our own paper 1")
    assert check("strict:good", scheme=True, registry=registry) == check("strict:bad", scheme=True) == []
    assert check("http:/x", scheme=True, registry=Registry.empty()) == []
    rows = pa.array(["strict:bad", "STRICT:good", "http:/x"])
    assert columns.check(rows, scheme=True, registry=registry).to_pylist() == [False, True, False]  # type: ignore[attr-defined]
    assert columns.check(rows, scheme=True, registry=Registry.empty()).to_pylist() == [True] * 3  # type: ignore[attr-defined]


@given(st.text(max_size=20) | st.sampled_from(KNOWN).flatmap(lambda n: st.text(max_size=12).map(lambda t: f"{n}:{t}")))
def test_scheme_checks_only_add_findings(text: str) -> None:
    for by in NAMES:
        without, findings = check(text, by), check(text, by, scheme=True)
        assert findings == without if without else {finding.kind for finding in findings} <= {"scheme-syntax"}
        assert all(0 <= finding.start <= finding.end <= len(text) for finding in findings)


def test_a_missing_host_has_no_locator() -> None:
    for text in ("http://", "http:/ex.com", "tel:abc", "data:x", "mailto:foo@"):
        assert check(text, scheme=True)
        if text != "mailto:foo@":
            with pytest.raises(InvalidURI):
                Registry.default().locator(text)


def test_the_number_of_findings_is_limited() -> None:
    text = "tel:" + "x1" * 20
    assert len(check(text, scheme=True, limit=None)) > 3
    assert [finding.kind for finding in check(text, scheme=True, limit=2)] == ["scheme-syntax"] * 2 + ["more"]


@pytest.mark.parametrize("before", ["tel:", "urn:", "data:", "http:", "ldap://h/??", "mailto:"])
@pytest.mark.parametrize("unit", ["x1", "?", ";", "@", "/"])
def test_scheme_checks_are_linear(before: str, unit: str) -> None:
    linear(lambda size: check(before + unit * (size // len(unit)), scheme=True), 20_000)


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(GrammarError, match="not to the rule 'IPv4address'"):
        check("1.2.3.4", rule="IPv4address", scheme=True)
    with pytest.raises(GrammarError):
        columns.check(pa.array(["1.2.3.4"]), "IPv4address", scheme=True)
    with pytest.raises(ValueError, match="RFC 6874"):
        columns.check(pa.array(["a:b"]), scheme=True, zone=True)


def test_engines_check_schemes() -> None:
    duckdb, pl, pd = map(pytest.importorskip, ("duckdb", "polars", "pandas"))
    import overthere.columns.pandas
    import overthere.columns.polars  # noqa: F401 - registers the namespace
    from overthere.columns.duckdb import register

    rows, expected = ["http:/h", "http://h", None], [False, True, None]
    assert pl.Series(rows).uri.check(scheme=True).to_list() == expected
    assert pa.array(pd.Series(rows).uri.check(scheme=True), from_pandas=True).to_pylist() == expected
    with duckdb.connect() as con:
        register(con)
        frame = pa.table({"u": rows})  # noqa: F841 - DuckDB finds it by its name
        assert [row[0] for row in con.execute("select uri_check_scheme(u) from frame").fetchall()] == expected


def run(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["check", *arguments], input=stdin)
    return result.exit_code, result.stdout, result.stderr


def test_notes_do_not_change_the_exit_status() -> None:
    code, out, message = run("http:/h")
    assert (code, out) == (0, "valid    http:/h  (1 note)\n")
    assert message.endswith(
        'note: not a valid http URI: unexpected "h" (at 6, in the path; expected "/"; RFC 9110 4.2.1)\n'
    )
    assert run("http://h/", "new:x") == (0, "valid    http://h/\nvalid    new:x\n", "")
    code, out, message = run("--scheme", "http:/h")
    assert (code, out, "note" in message) == (1, "invalid  http:/h  (1 finding)\n", False)
    code, out, _ = run("--format", "jsonl", "tel:")
    assert code == 0
    assert '"valid": true, "findings": [], "notes": [{"kind": "scheme-syntax"' in out


def test_schemes_ignore_zone_identifiers() -> None:
    assert run("--zone", "--scheme", "http://%61%62/") == (0, "valid    http://%61%62/\n", "")
    text = "ftp://[fe80::1%25en0]/;type=x"
    assert run("--zone", "http://[fe80::1%25en0]/") == (0, "valid    http://[fe80::1%25en0]/\n", "")
    code, _, message = run("--zone", "--scheme", text)
    assert code == 1
    assert f"(at {text.index('x')}," in message
    assert URIReference(text, zone=True).zone == "en0"


def test_wrong_usage() -> None:
    assert run("--scheme", "--rule", "host", "h")[0] == 2
    assert run("--scheme", "--iri", "http://é")[0] == 2
    assert run("--scheme", "--zone", "--column", "u")[0] == 2


def test_a_column_of_a_table() -> None:
    table = "u\nhttp:/h\nhttp://h\na b\n\ntel:x\n"
    code, out, _ = run("--scheme", "--column", "u", "-", stdin=table)
    rows = ['"u","u_valid","u_error","u_error_at"', '"http:/h",false,"scheme-syntax",6', '"http://h",true,,']
    rows += ['"a b",false,"scheme-missing",0', '"tel:x",false,"scheme-syntax",4']
    assert code == 1
    assert [line for line in out.splitlines() if line != ",,,"] == rows
