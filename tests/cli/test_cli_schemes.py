"""`overthere schemes` and `overthere plan`, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overthere.schemes.registry import BUILT_IN
from test_cli import run


def test_the_table_has_a_line_for_each_scheme() -> None:
    result = run("schemes")
    assert (result.returncode, result.stderr) == (0, "")
    first = [line.split()[0] for line in result.stdout.splitlines() if line.strip()]
    assert set(BUILT_IN) <= set(first)


def test_every_registered_name_can_be_listed() -> None:
    rows = [json.loads(line) for line in run("schemes", "--all", "--format", "jsonl").stdout.splitlines()]
    names = [row["scheme"] for row in rows]
    assert names == sorted(names)
    assert len(names) > 364
    assert {row["status"] for row in rows} == {"Permanent", "Provisional", "Historical", "not registered"}


def test_every_scheme_has_a_page() -> None:
    result = run("schemes", *BUILT_IN, columns=200)
    assert (result.returncode, result.stderr) == (0, "")
    rows = [json.loads(line) for line in run("schemes", *BUILT_IN, "--format", "jsonl").stdout.splitlines()]
    assert [row["scheme"] for row in rows] == list(BUILT_IN)
    assert all(row["known"] for row in rows)
    text = result.stdout.replace("\n", "")
    assert all(example["uri"] in text for row in rows for example in row["examples"] if len(example["uri"]) < 100)


def test_the_page_of_ftp_quotes_its_rules() -> None:
    lines = run("schemes", "FTP").stdout.splitlines()
    assert "  IANA          Permanent, RFC1738 (registry of 2022-11-18)" in lines
    assert '    ftpurl = "ftp://" login [ "/" fpath [ ";type=" ftptype ]]' in lines
    assert '    ftpaddress = %s"ftp:" "//" login "/" path [ "!" ftptype ]' in lines
    assert "    the type code is written in lower case (RFC 1738 5)" in lines


def test_a_registered_name_without_support() -> None:
    result = run("schemes", "acap", "x-own")
    assert result.returncode == 0
    assert "name only" in result.stdout
    assert "experimental" in result.stdout


def test_an_invalid_scheme_name() -> None:
    result = run("schemes", "1a")
    assert result.returncode == 2
    assert "'1a' is not a scheme" in result.stderr


FTP = """\
ftp://joe:***@h/pub/a.txt
   1  connect h 21                                         RFC 1738 3.2
   2  receive the greeting (to the end of the reply)       RFC 959 5.4
   3  send USER joe                                        RFC 1738 3.2.1
   4  after 331: send PASS ***                             RFC 1738 3.2.1
   5  send CWD pub                                         RFC 1738 3.2.2
   6  send TYPE A                                          RFC 1738 3.2.2
"""


def test_a_plan_as_text() -> None:
    result = run("plan", "ftp://joe:secret@h/pub/a.txt")
    assert result.returncode == 0
    assert result.stdout.startswith(FTP)
    assert "secret" not in result.stdout + result.stderr


def test_a_plan_as_json() -> None:
    data = json.loads(run("plan", "--format", "jsonl", "--address", "me@x.org", "ftp://h/a").stdout)
    assert data["locator"] == {"host": "h", "name": "a"}
    sent = [step["data"] for step in data["steps"] if step["step"] == "send"]
    assert sent == ["USER anonymous\r\n", "PASS me@x.org\r\n", "TYPE I\r\n", "RETR a\r\n", "QUIT\r\n"]


def test_plans_from_standard_input_and_by_an_edition() -> None:
    result = run("plan", "--edition", "url-1994", stdin=b"ftp://h/a!I\nftp://h/b!A\n")
    assert result.returncode == 0
    assert [line.split("send ")[1].split("  ")[0] for line in result.stdout.splitlines() if "TYPE" in line] == [
        "TYPE I",
        "TYPE A",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ftp://h/a%0D%0ADELE%20b", "carriage return"),
        ("gopher://h/0a%0Db", "carriage return"),
        ("no-such-scheme://h/", "it is undefined how"),
        ("ftp:a", '"//" and a host'),
        ("ftp://h/a b", "space"),
        ("", "no scheme"),
    ],
)
def test_texts_without_a_plan(text: str, reason: str) -> None:
    result = run("plan", text, "ftp://h/")
    assert result.returncode == 1
    assert reason in result.stderr
    assert result.stdout.startswith("ftp://h/\n")


def test_a_gateway_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "gateways.toml"
    file.write_text('[gateways]\nacap = "http://gateway.example/?{uri}"\n')
    result = run("plan", "--gateways", str(file), "acap://h/a")
    assert result.returncode == 0
    assert "through the gateway http://gateway.example/?acap%3A%2F%2Fh%2Fa" in result.stdout
    assert "connect gateway.example 80" in result.stdout
    file.write_text('[gateways]\na = "b:{uri}"\nb = "a:{uri}"\n')
    result = run("plan", "--gateways", str(file), "acap://h/a")
    assert result.returncode == 2
    assert "cycle" in result.stderr


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_pages_fit_the_terminal(columns: int) -> None:
    for arguments in (["schemes"], ["schemes", "http", "mailto"]):
        lines = run(*arguments, columns=columns).stdout.splitlines()
        assert max(map(len, lines)) <= columns, arguments
