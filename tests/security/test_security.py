"""audit: each kind with near misses, invalid URIs, passwords, hostile lengths, SARIF, the command."""

from __future__ import annotations

import io
import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import assume, example, given
from hypothesis import strategies as st

from overthere import IRI, URI, URIReference
from overthere.cli.audit import command
from overthere.files import sarif
from overthere.ground.errors import Finding
from overthere.security import KINDS, LEVELS, audit, harmless, kinds, level_of, scripts
from overthere.security import _places as places
from overthere.security.parts import split_text
from overthere.values.known_secrets import Secrets
from support import LONG, cases, ids, linear, outside

CASES = cases("audit")


def needed(row: dict[str, Any]) -> None:
    if "needs" in row and find_spec(row["needs"]) is None:
        pytest.skip(f"{row['needs']} is absent")


@pytest.mark.parametrize("row", CASES, ids=ids(CASES))
def test_findings_of_the_cases(row: dict[str, Any]) -> None:
    needed(row)
    text = row["text"]
    assert list(kinds(text)) == row["kinds"]
    findings = audit(text)
    assert {finding.kind for finding in findings} == set(row["kinds"])
    for finding in findings:
        assert text[finding.start : finding.end]
        assert finding.source == KINDS[finding.kind].source
    assert findings == sorted(findings, key=lambda finding: finding.start)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "more"])
def test_the_documentation_lists_the_kinds(kind: str) -> None:
    row = KINDS[kind]
    if kind == "host-confusable" and find_spec("confusable_homoglyphs") is None:
        pytest.skip("confusable_homoglyphs is absent")
    assert kind in kinds(row.bad)
    assert kind not in kinds(row.good)
    assert row.level in LEVELS
    assert any(kind in case["kinds"] for case in CASES) or kind == "long"
    assert row.source.startswith("RFC ")


@pytest.mark.parametrize("choice", [["--only", "encoded-control"], ["--ignore", "encoded-delimiter"]])
def test_kinds_that_are_not_asked_for_hide_no_finding(choice: list[str]) -> None:
    text = "http://h/" + "%2F" * 2000 + "%01"
    result = CliRunner().invoke(command, [*choice, "--format", "jsonl", text])
    assert [finding["kind"] for finding in json.loads(result.stdout)["findings"]] == ["encoded-control"]
    assert [finding.kind for finding in audit(text, limit=3, only=("encoded-control",))] == ["encoded-control"]
    assert audit(text, limit=3, only=("encoded-delimiter",))[-1].message == "1,997 further findings are not listed"


def only_finding(text: str, kind: str) -> Finding:
    return next(finding for finding in audit(text) if finding.kind == kind)


def test_messages() -> None:
    finding = only_finding("http://0x7f.1/", "address-rare")
    assert (finding.start, finding.end, finding.expected) == (7, 13, '"127.0.0.1"')
    assert "10.0.0.1, private" in only_finding("http://[64:ff9b::a00:1]/", "address-private").message
    assert '"cnn.example.com"' in only_finding(KINDS["userinfo-host"].bad, "userinfo-host").message
    assert "Cyrillic, Latin" in only_finding("http://p\u0430ypal.com/", "host-mixed-script").message
    assert '"bücher.example"' in only_finding("http://xn--bcher-kva.example/", "host-script").message
    finding = only_finding("ftp://joe?x@h.example/", "host-readings")
    assert finding.message.count('"') == 4
    assert finding.component == "authority"
    finding = only_finding("http://h.example/?q#a%00", "encoded-nul")
    assert (finding.component, finding.start) == ("fragment", 21)


def test_levels_of_findings() -> None:
    text = "http://joe:x@h.example:22/ü"
    assert [level_of(finding) for finding in audit(text)] == ["error", "warning", "note"]
    assert kinds(text, level="warning") == ("password", "port-reserved")
    assert kinds(text, level="error") == ("password",)
    assert LEVELS == ("note", "warning", "error")


def test_accepted_types() -> None:
    text = "http://h.example:22/"
    for value in (text, URI(text), URIReference(text), IRI(text)):
        assert kinds(value) == ("port-reserved",)
        assert [finding.start for finding in audit(value)] == [17]
    for wrong in (None, b"http://h/", 1):
        with pytest.raises(TypeError, match="a URI must be a URI or text"):
            audit(wrong)  # type: ignore[arg-type]


def test_a_limit_keeps_the_worst_findings() -> None:
    text = "http://joe:x@0x7f.1/" + "../" * 2000
    findings = audit(text)
    assert len(findings) == 1001
    assert {"password", "address-rare", "address-loopback"} <= {finding.kind for finding in findings}
    assert findings[-1].kind == "more"
    assert findings[-1].message.startswith("1,003 ")
    assert len(audit(text, limit=2)) == 3


# -- any text


PIECES = st.sampled_from(
    ["http://", "ftp:", "//", "/", "\\", "@", ":", "?", "#", "..", "%2e", "%", "%00", "%0D%0A", "%252F", "[", "]",
     "::1", "127.1", "localhost", "xn--", "xn--80ak6aa92e", "www.bank.example", "пример", "\u202e", "\u200b", "\t", " ",
     "javascript:", "data:text/html,", "mailto:a@b", "password=x", "&", ";", "a", "%C0%AF", "%E2%80%AE", "\ud800",
     "25", "。", "65616", "gopher://", "h.example", "joe:sEcReT@"]
)  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(PIECES).map("".join))


@given(TEXTS)
@example("data:text/html,\ud800")
def test_any_text_is_audited(text: str) -> None:
    findings = audit(text)
    assert all(0 <= finding.start <= finding.end <= len(text) for finding in findings)
    assert all(finding.kind in KINDS for finding in findings)
    assert {finding.kind for finding in findings} == set(kinds(text))
    for level in LEVELS:
        assert audit(text, level=level) == [f for f in findings if LEVELS.index(level_of(f)) >= LEVELS.index(level)]


@given(
    st.one_of(
        st.from_regex(r"(https?|ftp)://([a-zA-Z0-9-]{1,4}\.){1,3}[a-z]{2,5}(/[ -~]{0,12}|[?#][ -~]{0,12})?\Z"),
        st.lists(st.sampled_from(["?", "#", "/", "a", "@", "=", "&", "token", "%3F", "%3D", ":"])).map(
            lambda pieces: "".join(("https://h.example", *pieces))
        ),
    )
)
@example("https://h.example?@evil.example#a")
@example("https://h.example/?%3Ftoken%3Dx")
def test_harmless_is_without_findings(text: str) -> None:
    """The fast check and all judges agree."""
    if harmless(text):
        assert list(places(split_text(text), "note")) == []


@pytest.mark.parametrize(
    "text",
    [
        "http://www.example.com/a/b.html?x=1&y=2#z",
        "https://en.example.org/wiki/%D0%9F%D1%80%D0%B8?u=http%3A%2F%2Fa%2Fb",
        "https://example.com/@user/%E3%81%AB",
        "mailto:joe.doe+x@h.example",
    ],
)
def test_most_ordinary_uris_are_harmless(text: str) -> None:
    assert harmless(text)


@given(
    st.sampled_from(["http", "ftp", "foo", "HTTPS"]),
    st.lists(PIECES, max_size=4).map("".join),
    st.sampled_from(
        ["sEcReT", "sEc/ReT", "sEc?ReT", "sEc\\ReT", "sEc@ReT", "sEc%52eT", "sEcReT.example", "%2F%2FsEcReT"]
    ),
    st.lists(PIECES, max_size=4).map("".join),
)
def test_no_password_is_shown(scheme: str, user: str, password: str, rest: str) -> None:
    """No message contains any part of a password that `redact` finds."""
    user, rest = (part.replace("joe:sEcReT@", "") for part in (user, rest))
    text = f"{scheme}://{user.replace('//', '')}u:{password}@h.example/{rest}"
    spans = split_text(text).secrets
    assume(any("sEc" in text[low:high] for low, high in spans))
    for finding in audit(text):
        assert "sec" not in finding.message.lower(), finding
        assert "sec" not in finding.expected.lower(), finding


@pytest.mark.parametrize(
    "piece",
    ["@", " ", "\\", "%00", "%2e%2e%2f", "../", "a.", "й", ":", "[", "xn--a.", "?password=a&", "%e2%80%ae", "%c0%ae",
     "9", "\x01", "a\u200d", "a\\ \u202e", "%25", "body=%0a&", "//"],
)  # fmt: skip
@pytest.mark.parametrize("start", ["", "http://", "http://h.example/", "ftp://u?", "mailto:a?", "http://h:"])
def test_hostile_long_texts_are_linear(piece: str, start: str) -> None:
    """No exception, no hang, at most a thousand findings and the count of the rest."""

    def use(size: int) -> None:
        assert len(audit(start + piece * (size // len(piece)))) <= 1001

    linear(use, LONG)


@pytest.mark.parametrize("pieces", [1, 1000, 4000])
def test_the_secrets_of_a_text_are_searched_once(monkeypatch: pytest.MonkeyPatch, pieces: int) -> None:
    calls: list[str] = []

    def of(*texts: str) -> Secrets:
        calls.extend(texts)
        return original(*texts)

    original = Secrets.from_texts
    monkeypatch.setattr(Secrets, "from_texts", of)
    assert audit("http://a:b@h.example/-" + "?password=a&%2e%2e%2f" * pieces)
    assert len(calls) == 1


def test_audit_reports_what_browsers_read_differently() -> None:
    """Every input of the URL Standard's tests is audited."""
    for row in outside("wpt_urltestdata"):
        text = row["input"]
        assert all(0 <= finding.start <= finding.end <= len(text) for finding in audit(text))
        if "\\" in text or "\t" in text:
            assert kinds(text, level="error") or "backslash-kept" in kinds(text)


# -- scripts


def test_scripts_are_those_of_unicode() -> None:
    """The first word of a letter's name agrees with the property Script, for every letter in IDNA 2008."""
    unicode = pytest.importorskip("fontTools.unicodedata", reason="fontTools is absent")
    from idna import idnadata
    from idna.intranges import intranges_contain

    historic = {"OLD", "LINEAR", "TAI", "MEROITIC", "INSCRIPTIONAL", "OL"}  # first words of several names of scripts
    allowed = idnadata.codepoint_classes["PVALID"]
    homes: dict[str, set[str]] = {}
    for point in range(0x80, 0x30000):
        char = chr(point)
        script = scripts._script(char) if intranges_contain(point, allowed) else None
        if script is not None and script not in historic:
            homes.setdefault(script, set()).add(unicode.script(char))
    homes["HAN"].discard("Zyyy")  # U+3006 is a closing mark
    assert {script: letters for script, letters in homes.items() if len(letters) > 1} == {}
    words: dict[str, set[str]] = {}
    for script, letters in homes.items():
        words.setdefault(letters.pop(), set()).add(script)
    assert {code: script for code, script in words.items() if len(script) > 1} == {}
    assert len(words) > 100


# -- SARIF


def log(results: list[sarif.Result]) -> dict[str, Any]:
    file = io.StringIO()
    sarif.write(results, file)
    data: dict[str, Any] = json.loads(file.getvalue())
    validated(data)
    return data


def validated(data: dict[str, Any]) -> None:
    """Validate against the SARIF 2.1.0 schema by generated models; without them, check the required members."""
    run = data["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert data["version"] == "2.1.0"
    assert [rule["id"] for rule in rules] == list(KINDS)
    for result in run["results"]:
        assert result["message"]["text"]
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("note", "warning", "error")
    if find_spec("pydantic_sarif") is not None:
        model = import_module("pydantic_sarif.model")
        model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate(data)


def test_sarif_output() -> None:
    text = "http://joe:sEcReT@h.example/?access_token=sEcReT"
    found = [sarif.Result(finding, text, "docs/a%20b.md", 3, 5, 3, 9) for finding in audit(text)]
    data = log([*found, sarif.Result(found[0].finding, text)])
    results = data["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["password", "secret-parameter", "password"]
    assert results[0]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "docs/a%20b.md"},
        "region": {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 9},
    }
    assert "physicalLocation" not in results[2]["locations"][0]
    assert "sEcReT" not in json.dumps(data)
    assert log([])["runs"][0]["results"] == []
    assert all(URIReference(sarif.artifact(path)) for path in ("a:b", "../ü b", "/tmp/x", "#?"))


def test_a_sarif_message_has_no_link_of_its_own() -> None:
    """3.11.6: `[text](target)` in a message is a link."""
    text = "http://a%5Bclick%5D(http:x)b/"
    messages = [
        result["message"]["text"]
        for result in log([sarif.Result(found, text) for found in audit(text)])["runs"][0]["results"]
    ]
    assert any("\\[click\\](" in message for message in messages)
    assert not any("a[click" in message for message in messages)


# -- the verb


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str]:
    result = CliRunner().invoke(command, arguments, input=stdin, env={"COLUMNS": "100"})
    return result.exit_code, result.output


def test_the_command() -> None:
    assert run("http://h.example/") == (0, "nothing  http://h.example/\n")
    status, output = run("http://joe:secret@h.example:22/")
    assert status == 1
    assert output == (
        "error    http://joe:***@h.example:22/  (2 findings)\n"
        "    http://joe:***@h.example:22/\n"
        "               ^^^\n"
        "    error password: the userinfo contains a password "
        "(at 11, in the userinfo; RFC 3986 7.5, 3.2.1)\n"
        "    http://joe:***@h.example:22/\n"
        "                             ^^\n"
        "    warning port-reserved: port 22 is reserved for another protocol "
        "(at 28, in the port; RFC 3986 7.2)\n"
    )
    assert "sEcReT" not in run("http://h.example/?password=sEcReT")[1]
    assert run("a:\x1b[31m", "\\\\h\x00")[0] == 1
    assert "\x1b" not in run("a:\x1b[31m")[1]


def test_the_command_selects_kinds_and_levels() -> None:
    text = "http://joe:x@h.example:22/ü"
    assert run("--level", "error", "http://h.example:22/")[0] == 0
    assert run("--ignore", "password", "--ignore", "non-ascii", "--ignore", "port-reserved", text)[0] == 0
    assert "(1 finding)" in run("--only", "port-reserved", text)[1]
    assert run("--only", "no-kind", text)[0] == 2
    assert run("--file", "no-such-file")[0] == 2


def test_the_command_reads_lines() -> None:
    status, output = run("--format", "jsonl", stdin=b"http://h.example/\r\nhttp://h.example:22/\n\xff\n")
    rows = [json.loads(line) for line in output.splitlines()]
    assert status == 1
    assert [row["level"] for row in rows] == [None, "warning", "warning"]
    assert [row["line"] for row in rows] == [1, 2, 3]
    assert rows[1]["findings"][0]["kind"] == "port-reserved"
    assert rows[1]["findings"][0]["level"] == "warning"
    status, output = run("--format", "sarif", stdin=b"http://h.example/\nhttp://h.example:22/\n")
    data = json.loads(output)
    validated(data)
    assert status == 1
    (result,) = data["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "-"}
    assert place["region"] == {"startLine": 2, "startColumn": 18, "endLine": 2, "endColumn": 20}


def test_the_command_reads_files(tmp_path: Path) -> None:
    file = tmp_path / "a b.txt"
    file.write_bytes(
        "é see <http://h.example/> and\nü http://h.example:22/x,\n  <http://joe:\n  x@h.example/>\n".encode()
    )
    status, output = run("--file", str(file))
    assert status == 1
    assert f"warning  {file}:2:3: http://h.example:22/x  (1 finding)\n" in output
    assert run("--file", "-", stdin=file.read_bytes()) == (1, output.replace(str(file), "-"))
    status, output = run("--file", str(file), "--format", "sarif")
    data = json.loads(output)
    validated(data)
    results = data["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["port-reserved", "password"]
    regions = [result["locations"][0]["physicalLocation"]["region"] for result in results]
    assert regions[0] == {"startLine": 2, "startColumn": 20, "endLine": 2, "endColumn": 22}
    assert regions[1]["startLine"] == 3  # white space was removed: the place is the whole reference
    uri = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == str(URI(uri))
    assert uri.endswith("/a%20b.txt")
    clean = tmp_path / "clean"
    clean.write_text("http://h.example/")
    assert run("--file", str(clean)) == (0, "")
