"""Numbers in options and settings: huge, negative or invalid values are reported at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from overthere.cli.app import app
from overthere.cli.broken import command
from overthere.cli.broken_config import _key
from verbs import Verb, verbs

HOSTILE = [
    "-1",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "1" + "0" * 23,
    "9" * 400,
    "9" * 5000,
    "0x10",
    "",
    " ",
    "1e5x",
    "\u0663x",
]
TEXTS = ("--max-time", "--max-bytes", "--crawl-time", "--max-age", "--accept")
"""Options whose numbers are parsed from text."""
BROKEN = [
    "workers", "jobs", "per-host", "rate", "pages", "max-time", "max-bytes", "crawl-time", "max-age", "accept"
]  # fmt: skip
TOML = [
    "-1", "nan", "inf", "-inf", "1e308", "1" + "0" * 23, "9" * 400, "9" * 5000, "0x" + "f" * 5000, "true", "1.5e300",
    "[1]", "{a = 1}", '"x"', '"9999999999999999999999"', "1979-05-27",
]  # fmt: skip


def options(verb: Verb) -> list[str]:
    numeric = (click.types.IntParamType, click.types.FloatParamType)
    return [
        max(param.opts, key=len) for param in verb.command.params
        if isinstance(param, click.Option) and (isinstance(param.type, numeric) or set(param.opts) & set(TEXTS))
    ]  # fmt: skip


ROWS = [(verb, option) for verb in verbs() for option in options(verb)]


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def accepted(result: Result) -> bool:
    """Whether a value was accepted; otherwise one line gives the reason."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code == 2:
        assert "Error:" in result.stderr
        assert len(result.stderr) < 1000
    return result.exit_code != 2


def test_options_with_numbers_are_listed() -> None:
    assert len(ROWS) >= 15
    for verb, name in ROWS:
        option = next(param for param in verb.command.params if name in param.opts)
        if isinstance(option.type, click.IntRange | click.FloatRange):
            assert option.type.max is not None, f"{verb.name} {name} has no limit"


@pytest.mark.parametrize(("verb", "option"), ROWS, ids=lambda value: value if isinstance(value, str) else value.name)
def test_a_hostile_number_is_an_error(verb: Verb, option: str, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<a href=a.html>")
    words = {"get": ["data:,a"], "decode": ["a"], "serve": []}.get(verb.name, [str(tmp_path)])
    for value in HOSTILE:
        text = f"ok={value}" if option == "--max-age" else value
        result = run(*verb.words, *words, f"{option}={text}")
        is_empty_list = option == "--accept" and not value.strip()
        assert not accepted(result) or is_empty_list, (value, result.output)


@pytest.mark.parametrize("count", [10**8, 10**23])
@pytest.mark.parametrize("verb", ["links", "broken"])
def test_too_many_workers_are_an_error(tmp_path: Path, verb: str, count: int) -> None:
    (tmp_path / "a.html").write_text("<a href=a.html>")
    result = run(verb, str(tmp_path), "--workers", str(count))
    assert result.exit_code == 2
    assert "1,024" in result.stderr


@pytest.mark.parametrize("key", BROKEN)
@pytest.mark.parametrize("is_named", [True, False])
def test_a_hostile_number_in_settings_is_an_error(tmp_path: Path, key: str, is_named: bool) -> None:
    (tmp_path / "a.html").write_text("<a href=a.html>")
    config = tmp_path / "overthere.toml"
    for value in TOML:
        text = f'"ok={value}"' if key == "max-age" and '"' not in value else value
        config.write_text(f"[broken]\n{key} = {text}\n")
        named = ["--config", str(config)] if is_named else []
        result = run("broken", str(tmp_path), *named)
        assert not accepted(result), (value, result.output)


@pytest.mark.parametrize("key", ["rate", "per-host"])
def test_a_hostile_number_for_a_host_is_an_error(tmp_path: Path, key: str) -> None:
    (tmp_path / "a.html").write_text("<a href=a.html>")
    for value in TOML:
        (tmp_path / "overthere.toml").write_text(f'[[broken.host]]\nname = "h"\n{key} = {value}\n')
        result = run("broken", str(tmp_path))
        assert not accepted(result), (value, result.output)


@pytest.mark.parametrize(
    "key", ["connect_timeout", "read_timeout", "total_timeout", "max_bytes", "max_line", "max_redirects", "ports"]
)
def test_a_hostile_number_in_a_policy_is_an_error(tmp_path: Path, key: str) -> None:
    policy = tmp_path / "policy.toml"
    for value in TOML:
        policy.write_text(f"{key} = [{value}]\n" if key == "ports" else f"{key} = {value}\n")
        assert not accepted(run("get", "data:,a", "--policy", str(policy))), value


@pytest.mark.parametrize("key", ["exclude", "include", "exclude-path", "remap", "ignore"])
def test_too_many_patterns_are_an_error(tmp_path: Path, key: str) -> None:
    """Each finding is compared with all of them."""
    (tmp_path / "a.html").write_text("<a href=a.html>")
    forms = {"ignore": '{reason = "x", target = "%d*"}', "remap": '"http://h%d/ http://i/"'}
    pattern = forms.get(key, '"%d*"')
    for count, is_taken in ((1000, True), (1001, False)):
        values = ", ".join(pattern % number for number in range(count))
        (tmp_path / "overthere.toml").write_text(f"[broken]\n{key} = [{values}]\n")
        result = run("broken", str(tmp_path))
        assert accepted(result) == is_taken
        assert is_taken or "more than 1,000" in result.stderr
    rules = "".join(f'[[ignore]]\nreason = "x"\ntarget = "{number}*"\n' for number in range(1001))
    (tmp_path / "rules.toml").write_text(rules)
    result = run("broken", str(tmp_path / "a.html"), "--no-config", "--ignore", str(tmp_path / "rules.toml"))
    assert "more than 1,000 ignore rules" in result.stderr


def secret_kept(result: Result) -> bool:
    return not accepted(result) and "not a file or folder of the repository" in result.stderr


@pytest.mark.parametrize("key", ["root-dir", "ignore", "baseline"])
def test_found_settings_cannot_probe_other_files(tmp_path: Path, key: str) -> None:
    """The message is the same whether a file exists; symlinks do not lead out either."""
    (tmp_path / "there").mkdir()
    top = tmp_path / "repository"
    docs = top / "docs"
    (top / ".git").mkdir(parents=True)
    docs.mkdir()
    (top / "public").mkdir()
    (docs / "a.html").write_text('<a href="/etc/passwd">')
    (docs / "out").symlink_to(tmp_path / "there", target_is_directory=True)
    config = docs / "overthere.toml"
    messages = set()
    for value in (
        "/",
        "/etc",
        "/nope",
        "../..",
        "../../there",
        "../../nope",
        "out",
        "out/nope",
        f"{docs}/../..",
        "a" * 4000,
    ):
        config.write_text(f"[broken]\n{key} = {json.dumps(value)}\n")
        result = run("broken", str(docs))
        assert secret_kept(result), (value, result.output)
        messages.add(result.stderr)
    assert len(messages) == 1
    config.write_text('[broken]\nroot-dir = "../public"\n')
    assert accepted(run("broken", str(docs)))
    (docs / "overthere.toml").unlink()
    lychee = docs / "lychee.toml"
    lychee.write_text('root_dir = "/"\n')
    assert not accepted(run("broken", str(docs)))
    assert accepted(run("broken", str(docs), "--config", str(lychee)))


@pytest.mark.parametrize("key", ["index", "extension", "files"])
@pytest.mark.parametrize("name", ["../../passwd", "/etc/passwd", "..", ".", "", "a\\b", "C:x", "a/../b"])
def test_a_name_in_settings_cannot_leave_the_folder(tmp_path: Path, key: str, name: str) -> None:
    (tmp_path / "a.html").write_text("<a href=sub/>")
    values: dict[str, Any] = {"index": name, "extension": name}
    text = f"[broken]\n{key} = {json.dumps(values.get(key))}\n"
    if key == "files":
        text = f'[[broken.files]]\npath = "*"\nextension = {json.dumps(name)}\n'
    (tmp_path / "overthere.toml").write_text(text)
    assert not accepted(run("broken", str(tmp_path)))


VALUES = (
    "nan", "inf", "-inf", "1e400", "true", "0", "1", "-1", '"\\u0000"', "[]", "{}", "1979-05-27", "[true]", "[[]]",
    f"0x{'F' * 6000}", f'"{"x" * 100_000}"', '["\\u0000"]',
)  # fmt: skip


def test_invalid_settings_give_a_short_message(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<a href=a.html>")
    (tmp_path / ".git").mkdir()
    option_names = {_key(param) for param in command.params if isinstance(param, click.Option)}
    for key in sorted(option_names - {"help", "no-config", "config"}):
        for value in VALUES:
            (tmp_path / "overthere.toml").write_text(f"[broken]\n{key} = {value}\n")
            result = run("broken", str(tmp_path))
            assert result.exception is None or isinstance(result.exception, SystemExit), (key, value[:80])
            assert len(result.output) + len(result.stderr) < 20_000, (key, value[:80])
    for table in (f'files]]\npath = "*"\nextension = [0x{"F" * 6000}]', f'host]]\nhost = "h"\naccept = 0x{"F" * 6000}'):
        (tmp_path / "overthere.toml").write_text(f"[[broken.{table}\n")
        result = run("broken", str(tmp_path))
        assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("name", ["-", ""])
def test_standard_output_needs_a_format(tmp_path: Path, name: str) -> None:
    result = run("broken", str(tmp_path), "-o", name)
    assert (result.exit_code, "takes --format" in result.output) == (2, True)
