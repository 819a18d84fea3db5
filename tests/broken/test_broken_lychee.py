"""lychee's settings, read for `overthere broken`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from overthere.cli.app import app
from overthere.cli.lychee_config import read_lychee, to_globs

CONFIG = r"""
verbose = "info"
cache = true
user_agent = "Mozilla/5.0"
max_concurrency = 14
accept = ["200..=204", "300..400", 429]
exclude = ['^https?://old\.example', '(a|b)\.example', 'gone\.html']
header = { x-token = "secret" }
exclude_all_private = false
"""


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["broken", str(folder), *arguments])


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.html").write_text('<!doctype html><a href="gone.html"><a href="old.html">')
    return tmp_path


def test_a_file_of_lychee_is_found(site: Path) -> None:
    (site / "lychee.toml").write_text(CONFIG)
    (site / ".lycheeignore").write_text("# comment\nold\\.html$\n")
    result = run(site)
    assert result.exit_code == 0, result.output
    assert "used from lychee: max_concurrency, accept, exclude, .lycheeignore" in result.stderr
    for text in (
        "verbose (no counterpart)",
        "cache (use --cache FILE)",
        "exclude (a|b)",
        "user_agent (name the file with --config)",
        "header",
    ):
        assert text in result.stderr
    assert "secret" not in result.output
    assert "user_agent (" not in run(site, "--config", str(site / "lychee.toml")).stderr
    (site / "overthere.toml").write_text("[broken]\n")
    assert run(site).exit_code == 1


def test_values_are_converted(site: Path) -> None:
    (site / "lychee.toml").write_text(CONFIG)
    values = read_lychee(site / "lychee.toml")[0]
    assert values["accept"] == ["200..204", "300..399", "429..429"]
    assert values["exclude"] == ["http://old.example*", "https://old.example*", "*gone.html*"]


def test_values_of_requests_and_hosts(site: Path) -> None:
    (site / "lychee.toml").write_text(
        """
        timeout = 20
        host_concurrency = 3
        remap = ['^https://a\\.example/v2 http://127.0.0.1:8000', "https://b.example https://c.example"]
        root_dir = "."
        fallback_extensions = ["md", "html"]
        index_files = ["index.md"]
        suggest = true
        github_token = "s3cret"
        [hosts."x.example"]
        concurrency = 2
        request_interval = "250ms"
        """
    )
    assert read_lychee(site / "lychee.toml")[0] == {
        "max-time": 20, "per-host": 3, "root-dir": ".", "extension": ["md", "html"], "index": ["index.md"],
        "wayback": True, "github-token": "s3cret", "host": [{"name": "x.example", "per-host": 2, "rate": 4.0}],
        "remap": ["https://a.example/v2 http://127.0.0.1:8000", "https://b.example https://c.example"],
    }  # fmt: skip
    result = run(site)
    assert (result.exit_code, "s3cret" in result.output) == (1, False), result.output
    for key in ("suggest", "github_token"):
        assert f"{key} (name the file with --config)" in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        "timeout = 0", "timeout = true", 'timeout = "20"', "host_concurrency = -1",
        'remap = "x"', 'remap = ["a (.*) b"]',
        'remap = ["https://(a|b)/ http://c/"]', 'remap = ["https://a/(.*) http://c/$1"]', 'hosts = "x"',
        '[hosts.x]\nheaders = {a = "b"}', '[hosts.x]\nrequest_interval = "0s"', '[hosts.x]\nrequest_interval = "1h"',
        "fallback_extensions = 1", "suggest = 1", 'fallback_extensions = ["html", ""]',
        'index_files = ["index.html", "."]', 'index_files = [1]', 'index_files = ["a/b"]', 'accept = [0]',
        'accept = "..99"', 'accept = ["204..=200"]',
    ],
)  # fmt: skip
def test_values_without_a_counterpart(site: Path, text: str) -> None:
    (site / "lychee.toml").write_text(text)
    values, used, unused = read_lychee(site / "lychee.toml")
    assert (values, used, len(unused)) == ({}, [], 1)
    assert run(site).exit_code == 1


@pytest.mark.parametrize("text", ["= 1", "a = " + "[" * 100 + "]" * 100, "accept = [["])
def test_hostile_files(site: Path, text: str) -> None:
    (site / "lychee.toml").write_text(text)
    result = run(site)
    assert (result.exit_code, "lychee.toml" in result.stderr) == (2, True)


@pytest.mark.parametrize("pattern", ["[a-z]", "a|b", "a{2}", r"\d", "a+", "a?b?c?", "(", r"\*", "\\"])
def test_patterns_that_are_not_simple(pattern: str) -> None:
    assert to_globs(pattern) is None


def test_unused_values_are_reported(site: Path) -> None:
    (site / "lychee.toml").write_text('include_fragments = "text-only"\nmax_concurrency = 0\nuser_agent = 1\n')
    values, used, unused = read_lychee(site / "lychee.toml")
    assert (values, used, list(unused)) == ({}, [], ["include_fragments", "max_concurrency", "user_agent"])
    (site / "lychee.toml").write_text('include_fragments = "full"\nexclude_path = ["./node_modules"]\n')
    assert read_lychee(site / "lychee.toml")[0] == {"fragments": True, "exclude-path": ["*node_modules*"]}


def test_included_targets_only_are_checked(site: Path) -> None:
    (site / "lychee.toml").write_text('include = ["gone"]\n')
    assert [line for line in run(site, "--format", "jsonl").stdout.splitlines() if "old.html" in line] == []
    assert run(site).exit_code == 1
    (site / "lychee.toml").write_text('include = ["elsewhere"]\n')
    assert run(site).exit_code == 0


@pytest.mark.parametrize("name", [".lycheeignore", ".lychee.toml"])
def test_each_settings_file_alone(site: Path, name: str) -> None:
    (site / name).write_text("gone\nold\n" if name == ".lycheeignore" else 'exclude = ["gone", "old"]\n')
    for arguments in ([], ["--config", str(site / name)]):
        result = run(site, *arguments)
        assert (result.exit_code, "used from lychee" in result.stderr) == (0, True), result.output
    assert run(site, "--no-config").exit_code == 1


def test_messages_about_a_hostile_file_are_short(site: Path) -> None:
    (site / "lychee.toml").write_text("".join(f"k{number}{'x' * 500} = 1\n" for number in range(3000)))
    output = run(site).stderr
    assert len(output) < 5000
    assert "2,980 more" in output
