"""The HTML report: hostile text stays text, nothing is loaded, and the only script contains no finding."""

from __future__ import annotations

import hashlib
import io
from base64 import b64encode
from pathlib import Path

import pytest
from click.testing import CliRunner
from lxml import html

from overthere.broken import Broken, find
from overthere.broken.html_report import html_page
from overthere.cli.app import app

HOSTILE = (
    "</bdi></code><script>alert(1)</script>",
    "<img src=http://h.example/x onerror=alert(1)>",
    "</script><!--",
    "\" onmouseover='alert(1)' &lt;b&gt; &#60;",
    "]]></style><base href=//h.example>",
    "{{x}} ${x} <%= x %>",
    "caf\xe9 \u05d0\u05d1 \U0001f600",
)


def finding_with(text: str, **fields: object) -> Broken:
    finding = Broken(
        text, 1, 2, 3, 4, "a href", text, text, None, "no-document", text, None, text, None, text, "error", "likely"
    )
    return finding._replace(**fields)  # type: ignore[arg-type]


def page(findings: list[Broken]) -> tuple[str, html.HtmlElement]:
    file = io.StringIO()
    html_page(findings, file)
    return file.getvalue(), html.document_fromstring(file.getvalue())


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    output, tree = page([finding_with(text)])
    plain, expected = page([finding_with("plain")])
    assert [node.tag for node in tree.iter()] == [node.tag for node in expected.iter()]
    assert [sorted(node.attrib) for node in tree.iter()] == [sorted(node.attrib) for node in expected.iter()]
    assert tree.findtext(".//h2/bdi") == text
    assert tree.findtext(".//li//code/bdi") == text
    assert output.isascii()
    assert tree.findtext(".//script") == expected.findtext(".//script")
    assert plain.count("plain") == 5


def test_controls_and_passwords_are_not_shown() -> None:
    _, tree = page([finding_with("a\x00b\u202ec\ud800", reference="http://joe:sEcReT@h.example/")])
    text = tree.text_content()
    assert "a\ufffdb\ufffdc\ufffd" in text
    assert "sEcReT" not in text


def test_no_other_resource_is_loaded_and_only_the_script_of_the_page_runs() -> None:
    _, tree = page([finding_with("x"), finding_with("y", level="note", kind="base-missing", line=None, reference=None)])
    assert not tree.xpath("//@src | //@href | //@srcset | //@action | //@style | //link | //iframe | //object")
    (policy,) = tree.xpath('//meta[@http-equiv="Content-Security-Policy"]/@content')
    assert "default-src 'none'" in policy
    for tag in ("style", "script"):
        (text,) = tree.xpath(f"//{tag}/text()")
        assert "url(" not in text
        assert "@import" not in text
        assert "innerHTML" not in text
        assert f"{tag}-src 'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
        assert f"</{tag}" not in text


def test_each_finding_is_listed_with_level_and_kind(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="x.html">\n<a href="#y"><a href="/z">')
    (tmp_path / "b.html").write_text('<a href="a.html#q">')
    findings = list(find(tmp_path))
    _, tree = page(findings)
    items = [(item.get("data-level"), item.get("data-kind"), item.findtext(".//code/bdi")) for item in tree.iter("li")]
    assert items == [(finding.level, finding.kind, finding.reference) for finding in findings]
    assert [head.text_content() for head in tree.iter("h2")] == sorted({finding.source for finding in findings})
    assert "3 errors, 1 note in 3 documents" in tree.text_content()
    assert tree.xpath("//select[@name='kind']/option/@value") == ["", *sorted({finding.kind for finding in findings})]
    for field in tree.xpath("//input | //select"):
        assert field.getparent().tag == "label", "each field has a label"


def test_the_option_and_the_suffix(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "a.html").write_text('<a href="x.html">')
    result = CliRunner().invoke(app, ["broken", str(site), "--format", "html"])
    assert result.exit_code == 1
    assert result.stdout.startswith("<!DOCTYPE html>")
    assert CliRunner().invoke(app, ["broken", str(site), "-o", str(tmp_path / "r.html")]).exit_code == 1
    assert (tmp_path / "r.html").read_text() == result.stdout
    (site / "a.html").write_text("<p>")
    result = CliRunner().invoke(app, ["broken", str(site), "--format", "html"])
    assert (result.exit_code, "No broken links." in result.stdout, "<script" in result.stdout) == (0, True, False)
