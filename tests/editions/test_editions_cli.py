"""`overthere editions`, and the editions in `overthere explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overthere import explain
from overthere.editions import NAMES
from test_cli import run

WIDTHS = (60, 100, 120)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("diff", "url-1997", "rfc3986"),
        ("diff", "url-1994", "rfc1738"),
        ("diff", "uri-2003", "rfc3986"),
        ("matrix", "ftp://u?x@h/", "http://[::1]/", "http://h/" + "long/" * 60),
    ],
    ids=str,
)
def test_the_output_fits_the_width(arguments: tuple[str, ...], columns: int) -> None:
    result = run("editions", *arguments, columns=columns)
    assert (result.returncode, result.stderr) == (0, "")
    assert max(map(len, result.stdout.splitlines())) <= columns
    assert not [line for line in result.stdout.splitlines() if line != line.rstrip()]


def test_the_table_of_editions() -> None:
    output = run("editions", columns=120).stdout
    for words in (*NAMES, "draft-ietf-uri-url-03", "RFC 1738", "iso-8859-1", "the current document", "RFC 1808"):
        assert words in output
    rows = [json.loads(line) for line in run("editions", "--format", "jsonl").stdout.splitlines()]
    assert [row["name"] for row in rows] == list(NAMES)
    assert rows[1]["ports"]["gopher"] == 70
    assert rows[1]["elsewhere"]["resolve"] == "RFC 1808"


def test_the_difference_of_two_editions() -> None:
    output = run("editions", "diff", "uri-2003", "rfc3986").stdout
    assert "[va.a]" in output  # no markup
    assert "(current document)" in output
    assert "IPv6reference / IP-literal" in output
    rule_output = run("editions", "diff", "uri-2003", "rfc3986", "--rule", "IP-literal").stdout
    assert "[va.a]" in rule_output
    assert "(current document)" not in rule_output
    assert "a{62}-a" in run("editions", "diff", "url-1997", "uri-2003", "--rule", "domainlabel").stdout
    (row,) = map(json.loads, run("editions", "diff", "rfc1738", "rfc3986", "--format", "jsonl").stdout.splitlines())
    assert row["not_specified"] == ["RFC 1738 leaves it to RFC 1808"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("diff", "url-1997"), "Missing argument"),
        (("diff", "rfc2396", "rfc3986"), "unknown edition 'rfc2396'; known: url-1994"),
        (("diff", "rfc1738", "rfc3986", "--rule", "hier-part"), "no rule 'hier-part' in common"),
        (("compare",), "unknown verb 'compare'; known: diff, matrix"),
        (("dif",), "did you mean diff?"),
        (("--format", "jsonl", "diff", "url-1997", "rfc3986"), "--format jsonl belongs behind diff"),
    ],
    ids=str,
)
def test_wrong_usage(arguments: tuple[str, ...], message: str) -> None:
    result = run("editions", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_the_matrix_of_a_text(tmp_path: Path) -> None:
    file = tmp_path / "texts.txt"
    file.write_bytes(b"http://h?q\r\nx:[a]\n\nftp://u?x@h/\n\xff\n")
    lines = run("editions", "matrix", str(file), "1a:b").stdout.splitlines()
    assert lines[0].split() == ["text", *NAMES]
    assert lines[1].split() == ["http://h?q", "ok", "-", "-", "ok", "ok"]
    assert lines[2].split() == ["x:[a]", "n/a", "-", "-", "ok", "-"]
    assert lines[3].split() == ['""', "n/a", "n/a", "ok", "ok", "ok"]
    assert "  ! host: h (rfc1738); u (the others)" in lines
    assert lines[-2].split() == ["1a:b", "n/a", "ok", "ok", "-", "-"] or lines[-1].startswith("1a:b")
    result = run("editions", "matrix", "--format", "jsonl", stdin=b"ftp://u?x@h/\nhttp://h/p\n")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert rows[0]["editions"]["rfc1738"]["host"] == "h"
    assert rows[0]["differ"] == ["host", "path", "query"]
    assert rows[1]["differ"] == []


def test_an_unreadable_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "texts.txt").write_text("http://h/\n")
    monkeypatch.setattr(Path, "open", refuse)
    result = run("editions", "matrix", str(tmp_path / "texts.txt"))
    assert (result.returncode, result.stderr.splitlines()[-1]) == (2, f"Error: {tmp_path}/texts.txt: Permission denied")


@pytest.mark.parametrize("secret", ["heim7", "he?im7", "x#heim7", "a/heim7", "he@im7"])
def test_no_password_is_shown(secret: str) -> None:
    for text in (f"ftp://u:{secret}@h/", f"http://u:{secret}@h/p?q"):
        result = run("editions", "matrix", text)
        explained = run("explain", "--base", f"http://u:{secret}@b/", text)
        for output in (result.stdout, explained.stdout, str(explain("x", base=text))):
            assert "im7" not in output


def test_explain_shows_the_editions() -> None:
    output = run("explain", "ftp://u?x@h/").stdout
    assert "  ! host: h (rfc1738); u (the others)\n" in output
    rows = {
        line.split()[0]: line.split() for line in output.splitlines() if line.split()[:1] and line.split()[0] in NAMES
    }
    assert rows["rfc1738"] == ["rfc1738", "ok", "h", '""']
    assert rows["rfc3986"] == ["rfc3986", "ok", "u", '""', "x@h/"]
    data = json.loads(run("explain", "--format", "jsonl", "--base", "http://a/b/c/d;p?q", "?y").stdout)
    assert data["editions"]["url-1997"]["target"] == "http://a/b/c/?y"
    assert data["differ"] == ["target"]
    assert "  ! " not in run("explain", "http://h/p").stdout


def test_explain_fits() -> None:
    text = "http://example.com/" + "long/" * 50 + "?" + "q" * 100 + "#f"
    for columns in WIDTHS:
        lines = run("explain", "--base", text, text, columns=columns).stdout.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("  edition"))
        assert max(map(len, lines[start:])) <= columns
