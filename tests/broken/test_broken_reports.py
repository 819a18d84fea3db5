"""Reports for other programs: SARIF checked by its schema's models, JUnit XML by a grammar."""

from __future__ import annotations

import io
import json
import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from overthere.broken import KINDS, Broken, find
from overthere.broken.html_report import html_page
from overthere.broken.report import batches, github, jsonl, junit, markdown, sarif
from overthere.files.sarif import artifact
from overthere.values.uri import URIReference

# This format has no standard.  This is what Ant first wrote and what readers rely on: suites of cases, a case
# with at most one outcome, numeric counts.
JUNIT = """
<grammar xmlns="http://relaxng.org/ns/structure/1.0" datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
<define name="number"><data type="nonNegativeInteger"/></define>
<start><element name="testsuites"><attribute name="name"/><zeroOrMore><element name="testsuite">
<attribute name="name"/><attribute name="tests"><ref name="number"/></attribute>
<attribute name="failures"><ref name="number"/></attribute><attribute name="skipped"><ref name="number"/></attribute>
<optional><attribute name="errors"><ref name="number"/></attribute></optional>
<oneOrMore><element name="testcase"><attribute name="classname"/><attribute name="name"/><optional><choice>
<element name="failure"><attribute name="type"/><attribute name="message"/><text/></element>
<element name="skipped"><optional><attribute name="message"/></optional><text/></element>
</choice></optional></element></oneOrMore>
</element></zeroOrMore></element></start></grammar>
"""


@pytest.fixture
def findings(tmp_path: Path) -> list[Broken]:
    page = "<a href='a&amp;b.html'>\n<a href=/x><a href='c d.html'><a href='http://joe:sEcReT@[h'>"
    page += "<a href='&#1;<\U0001f600>'>"
    (tmp_path / "in dex&.html").write_text(page, "utf-8")
    (tmp_path / "b\n.html").write_text("<a href=#x>", "utf-8")
    return [*find(tmp_path), *find([tmp_path / "in dex&.html"], "https://h/docs/")]


def test_sarif_matches_its_schema(findings: list[Broken]) -> None:
    model: Any = import_module("pydantic_sarif.model").StaticAnalysisResultsFormatSarifVersion210JsonSchema
    for rows in (findings, []):
        file = io.StringIO()
        sarif(rows, file)
        data = json.loads(file.getvalue())
        model.model_validate(data)
        (run,) = data["runs"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert rules == list(KINDS)
        assert len(run["results"]) == len(rows)
        for result in run["results"]:
            assert rules[result["ruleIndex"]] == result["ruleId"]
            place = result["locations"][0]["physicalLocation"]
            assert URIReference(place["artifactLocation"]["uri"])  # SARIF 3.4.3
            region = place.get("region", {"startLine": 1, "startColumn": 1})
            assert region["startLine"] >= 1  # 3.30.5
            assert region["startColumn"] >= 1  # 3.30.6
        assert "sEcReT" not in file.getvalue()


def test_junit_matches_a_grammar(findings: list[Broken]) -> None:
    grammar = etree.RelaxNG(etree.fromstring(JUNIT))
    for rows in (findings, []):
        file = io.StringIO()
        junit(rows, file)
        document = etree.fromstring(file.getvalue().encode())
        grammar.assertValid(document)
        for suite in document:
            for name, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
                assert int(suite.get(name)) == len(list(suite.iter(tag)))
        assert sum(1 for _ in document.iter("testcase")) == len(rows)
        assert "sEcReT" not in file.getvalue()


@pytest.mark.parametrize("name", ["@octocat", "@org/team", "www.evil.example", "<b>x", "![i](x)"])
def test_markdown_quotes_foreign_text_as_code(tmp_path: Path, name: str) -> None:
    """Otherwise a code host would mention users and link addresses."""
    (tmp_path / "a.html").write_text(f'<a href="{name}"><a href="{name}#x">')
    file = io.StringIO()
    markdown(find([str(tmp_path)]), file)
    assert name in file.getvalue()
    outside = re.sub("`[^`]*`", "", file.getvalue())
    assert not re.search(r"@|www\.|http:|<b|!\[", outside), outside


@pytest.mark.parametrize("source", ["a.zip!/\ud800.html", "/a.zip!/\ud800\udcff.html", "\udcff", "a.tar!/\udfff\0"])
def test_no_name_ends_a_report(source: str) -> None:
    """A member of an archive may have a name that no file of this machine can have."""
    texts = (source, 404, source, source, source, "error", "certain")
    finding = Broken(source, 1, 1, 0, 1, "a href", source, source, source, "no-document", *texts)
    for report in (github, html_page, jsonl, junit, markdown, sarif):
        file = io.StringIO()
        report([finding, finding], file)
        assert file.getvalue().encode()
    assert next(batches([finding])).num_rows == 1


@pytest.mark.skipif(os.name == "nt", reason="names of octets exist on POSIX only")
def test_files_with_names_of_octets_are_different_documents(tmp_path: Path) -> None:
    """They once had one name in reports: findings of one came twice, and those of the other not at all."""
    names = (b"caf\xe8.html", b"caf\xe9.html", "caf\ufffdE8.html".encode(), b"a\xe8.md", b"a\xe9.md")
    for number, name in enumerate(names):
        text = f"[x](no{number}.html)" if name.endswith(b".md") else f"<a href=no{number}.html>"
        (tmp_path / os.fsdecode(name)).write_text("\n" * number + text)
    findings = list(find([tmp_path], "http://h/"))
    assert sorted((item.reference, item.line) for item in findings) == [(f"no{n}.html", n + 1) for n in range(5)]
    file = io.StringIO()
    sarif(findings, file)
    places = [
        result["locations"][0]["physicalLocation"] for result in json.loads(file.getvalue())["runs"][0]["results"]
    ]
    uris = [place["artifactLocation"]["uri"].rpartition("/")[2] for place in places]
    assert sorted(uris) == ["a%E8.md", "a%E9.md", "caf%E8.html", "caf%E9.html", "caf%EF%BF%BDE8.html"]


def test_names_in_a_charset_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the names of files are not of UTF-8, those of members are all the same."""
    monkeypatch.setattr(os, "fsencode", lambda path: os.fspath(path).encode("ascii", "surrogateescape"))
    monkeypatch.setattr(os, "fsdecode", lambda name: name.decode("ascii", "surrogateescape"))
    assert artifact("a.zip!/中.html") == "a.zip!/%E4%B8%AD.html"
    assert artifact("/a.zip!/中.html") == "file:///a.zip!/%E4%B8%AD.html"


def test_the_models_and_the_grammar_reject_invalid_reports(findings: list[Broken]) -> None:
    file = io.StringIO()
    sarif(findings, file)
    data = json.loads(file.getvalue())
    data["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(ValueError, match="level"):
        import_module("pydantic_sarif.model").StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate(data)
    wrong = etree.fromstring("<testsuites name='x'><testcase/></testsuites>")
    assert not etree.RelaxNG(etree.fromstring(JUNIT)).validate(wrong)
