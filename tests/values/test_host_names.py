"""Problems of a host name in the DNS: values, columns and the command line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere import IRI, URI, URIReference
from overthere.values.hosts.dns import KINDS, check_host_name
from support import cases, ids, linear

ROWS = cases("host_names")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_its_example(kind: str) -> None:
    """The bad text of the table has this kind, the good one has no problem."""
    row = KINDS[kind]
    problems = check_host_name(row.bad)
    assert [(problem.kind, problem.source, problem.component) for problem in problems] == [(kind, row.source, "host")]
    assert check_host_name(row.good) == []
    URI(f"http://{row.bad}/")  # still a valid URI


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_problems_of_the_cases(row: dict[str, Any]) -> None:
    texts = [f"{problem.kind} {problem.start}-{problem.end}" for problem in check_host_name(row["host"])]
    assert texts == row.get("findings", [])


def test_values_check_their_host_name() -> None:
    assert [(one.kind, one.start) for one in URI("http://u@a_b:80/").check_host_name()] == [("label-char", 10)]
    for text in ("http://h/", "urn:a:b", "file:///", "http://127.0.0.1/", "http://[::1]/", "//0x7f.1"):
        assert URIReference(text).check_host_name() == []
    assert IRI("http://bücher.example/").check_host_name() == []


@given(st.text(st.sampled_from("aA1-_.%é。ß☃0x[]~"), max_size=12).map(lambda text: text.replace("%", "%C3%A9")))
def test_offsets_are_in_the_text(host: str) -> None:
    for problem in check_host_name(host):
        assert 0 <= problem.start <= problem.end <= len(host)
        assert problem.kind in KINDS


def test_columns_check_host_names() -> None:
    pa = pytest.importorskip("pyarrow")
    from overthere import columns

    texts = ["http://u@a_b/", "http://h/", "urn:x:y", None, "http://é_/", "http://a b/"]
    for column in (pa.array(texts), pa.array(texts).dictionary_encode(), pa.chunked_array([texts])):
        problems: Any = columns.check_host_name(column)
        assert problems.to_pylist() == [
            {"valid": False, "error": "label-char", "error_at": 10},
            {"valid": True, "error": None, "error_at": None},
            None,
            None,
            {"valid": False, "error": "label-idna", "error_at": 7},
            {"valid": False, "error": "label-char", "error_at": 8},
        ]  # fmt: skip


def test_the_command_checks_host_names(tmp_path: Any) -> None:
    from click.testing import CliRunner

    from overthere.cli.app import app

    done = CliRunner().invoke(app, ["check", "--host-name", "http://a_b/", "http://h/", "http://a b_/"])
    assert (done.exit_code, [line.split()[0] for line in done.stdout.splitlines()]) == (1, ["name", "valid", "invalid"])
    assert "RFC 1123 2.1" in done.stderr
    assert CliRunner().invoke(app, ["check", "http://a_b/"]).exit_code == 0
    table = tmp_path / "t.csv"
    table.write_text("u\nhttp://a_b/\nhttp://h/\nhttp://a b/\n")
    done = CliRunner().invoke(app, ["check", "--host-name", "--column", "u", str(table)])
    assert done.exit_code == 1
    assert done.stdout.splitlines()[1:] == [
        '"http://a_b/",true,"label-char",8',
        '"http://h/",true,,',
        '"http://a b/",false,"space",8',
    ], done.stderr


def test_checking_host_names_is_linear() -> None:
    linear(lambda n: check_host_name("a." * n), 20_000)
    linear(lambda n: check_host_name("é" * n), 20_000)
