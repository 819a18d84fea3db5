"""Settings of a check: exclusions, accepted statuses, settings files, changed files only; groups and formats."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from overthere import kernel
from overthere.broken import Checker, Summary, check, find
from overthere.broken.job import _accept
from overthere.broken.model import Outcome
from overthere.broken.report import fingerprint
from overthere.cli.app import app

PAGE = '<!doctype html><a href="gone.html"><a href="old/x.html"><a href="a.html#no">'


@pytest.fixture(params=["native", "reference"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "reference":
        monkeypatch.setattr(kernel, "name", "reference")
    return str(request.param)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / "site"
    (folder / "sub").mkdir(parents=True)
    for name in ("a.html", "b.html", "sub/c.html"):
        (folder / name).write_text(PAGE.replace('href="', 'href="../') if "/" in name else PAGE)
    return folder


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["broken", *map(str, arguments)])


def kept(site: Path, **settings: object) -> tuple[set[str], Summary]:
    summary = Summary()
    checker = Checker(base=("https://h/",), **settings)  # type: ignore[arg-type]
    return {finding.target or "" for finding in check([str(site)], checker, summary)}, summary


def test_targets_and_sources_can_be_excluded(site: Path, kernels: str) -> None:
    every = {"https://h/gone.html", "https://h/old/x.html", "https://h/a.html#no"}
    assert kept(site)[0] == every
    results, summary = kept(site, exclude=("https://h/old/*",))
    assert (results, summary.passed["excluded"]) == (every - {"https://h/old/x.html"}, 3)
    assert kept(site, exclude=("*",), include=("*#no",))[0] == {"https://h/a.html#no"}
    results, summary = kept(site, exclude_path=("*/b.html", "*/sub/*"))
    assert (results, summary.documents, summary.passed["excluded"]) == (every, 1, 2)


@pytest.mark.parametrize("exclude", [(), ("http://*",)])
def test_a_zero_count_is_not_shown(tmp_path: Path, exclude: tuple[str, ...]) -> None:
    """Excluded external URIs are counted and not requested; without exclusions the summary has no such line."""
    (tmp_path / "a.html").write_text('<a href="http://127.0.0.1:9/x">')
    summary = Summary()
    findings = list(check([str(tmp_path)], Checker(online=True, exclude=exclude), summary))
    assert dict(summary.passed) == ({"excluded": 1} if exclude else {})
    assert [finding.kind for finding in findings] == ([] if exclude else ["refused-by-policy"])
    assert summary.asked == (0 if exclude else 1)


def test_accepted_statuses_are_valid() -> None:
    outcome = Outcome("http://h/", "not-found", 404, "", None, False, (), 0.0, False)
    checker = Checker(accept=((200, 299), (404, 404)))
    assert _accept(outcome, checker).kind is None
    assert _accept(outcome._replace(status=410, kind="gone"), checker).kind == "gone"
    assert _accept(outcome._replace(status=200, kind="moved-permanently"), checker).kind == "moved-permanently"


@pytest.mark.parametrize("text", ["x", "200..", "..3", "4-5"])
def test_invalid_statuses(site: Path, text: str) -> None:
    result = run(site, "--accept", text)
    if text == "200..":
        assert result.exit_code == 1
    else:
        assert result.exit_code == 2
        assert "--accept" in result.stderr


@pytest.mark.parametrize("name", ["overthere.toml", "pyproject.toml"])
def test_a_file_of_settings_is_found(site: Path, name: str) -> None:
    table = "broken" if name == "overthere.toml" else "tool.overthere.broken"
    config = site.parent / name
    config.write_text(f'[{table}]\nbase = "https://h/"\nexclude = ["https://h/old/*"]\n')
    result = run(site, "--format", "jsonl")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert {row["target"] for row in rows} == {"https://h/gone.html", "https://h/a.html#no"}
    assert f"settings of {config}" in result.stderr
    assert "settings of" not in run(site, "--no-config").stderr
    result = run(site, "--exclude", "*", "--format", "jsonl")
    assert (result.stdout, result.exit_code) == ("", 0), "the command line comes first"
    config.write_text(f'[[{table}.ignore]]\nkind = "no-*"\nreason = "all are known"\n')
    result = run(site)
    assert (result.exit_code, "9 ignored" in result.stderr) == (0, True)


def test_the_search_ends_at_the_repository(site: Path) -> None:
    (site.parent.parent / "overthere.toml").write_text('[broken]\nexclude = "*"\n')
    assert run(site).exit_code == 0
    (site.parent / ".git").mkdir()
    assert run(site).exit_code == 1


def test_settings_in_a_world_writable_folder_are_ignored(site: Path) -> None:
    """Another user's /tmp/overthere.toml; within a repository modes do not matter."""
    config = site.parent.parent / "overthere.toml"
    config.write_text('[broken]\nexclude = "*"\n')
    config.parent.chmod(0o1777)
    assert run(site).exit_code == 1
    assert run(config.parent).exit_code == 0
    (config.parent / ".git").mkdir()
    assert run(site).exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour = 1", "unknown setting"),
        ("fragments = 1", "must be true or false"),
        ("jobs = 0", "jobs"),
        ('anchors = "x"', "anchors"),
        ("base = { a = 1 }", "must be one value"),
        ('cache = "c"', "--config"),
        ("private = true", "--config"),
        ('since = "HEAD"', "--config"),
        ('fix = "certain"', "--config"),
        ('config = "x"', "unknown setting"),
        ("[[broken.ignore]]", "reason"),
        ("= 1", "overthere.toml"),
    ],
)
def test_invalid_settings(site: Path, text: str, message: str) -> None:
    (site.parent / "overthere.toml").write_text(f"[broken]\n{text}\n")
    result = run(site)
    assert result.exit_code == 2
    assert "overthere.toml" in result.stderr or "ignore" in result.stderr
    assert message in result.stderr
    assert not list(site.parent.rglob("c"))


def test_a_named_settings_file_may_have_more_settings(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = site.parent / "more.toml"
    config.write_text('[broken]\nprivate = true\nheader = "h.example:X-Token:${OVERTHERE_TOKEN}"\n')
    assert "no variable OVERTHERE_TOKEN" in run(site, "--config", config).stderr
    monkeypatch.setenv("OVERTHERE_TOKEN", "secret")
    result = run(site, "--config", config)
    assert result.exit_code == 1
    assert "secret" not in result.output


def git(folder: Path, *arguments: str) -> None:
    names = ["-c", "user.name=t", "-c", "user.email=t@h.example", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("base", ["https://h/", None])
def test_only_changed_files_are_checked(site: Path, base: str | None) -> None:
    (site / "gone.html").write_text("x")
    (site / "a.html").write_text(f"{PAGE}<p id=no>")
    git(site.parent, "init")
    git(site.parent, "add", ".")
    git(site.parent, "commit", "-m", "first")

    def since() -> set[tuple[str, str | None]]:
        checker = Checker(base=(base,) if base else (), since="HEAD")
        findings = check([str(site)], checker, Summary())
        return {(str(Path(finding.source).relative_to(site)), finding.reference) for finding in findings}

    assert since() == set()
    (site / "gone.html").unlink()
    every = {("a.html", "gone.html"), ("b.html", "gone.html"), ("sub/c.html", "../gone.html")}
    assert since() == every
    (site / "new.html").write_text('<a href="old/x.html">')
    assert since() == every | {("new.html", "old/x.html")}
    (site / "a.html").write_text(PAGE)
    anchors = {("a.html", "a.html#no"), ("b.html", "a.html#no"), ("sub/c.html", "../a.html#no")}
    assert since() == every | anchors | {("new.html", "old/x.html"), ("a.html", "old/x.html")}


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", ""])
def test_an_invalid_revision(site: Path, revision: str) -> None:
    git(site.parent, "init")
    result = run(site, "--since", revision)
    assert result.exit_code == 2
    assert not (site.parent / "x").exists()


def test_a_folder_without_a_repository(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(site.parent.parent))
    assert "git" in run(site, "--since", "HEAD").stderr


def test_findings_by_target_and_by_kind(site: Path) -> None:
    result = run(site, "--base", "https://h/", "--group", "target")
    heads = [line.split() for line in result.stdout.splitlines() if line[:9].strip().isdigit()]
    assert [(line[0], line[2]) for line in heads] == [("3", "no-document"), ("3", "no-document"), ("3", "no-fragment")]
    kinds = [line.split() for line in run(site, "--group", "kind").stdout.splitlines() if not line.startswith(" " * 8)]
    assert [line[:2] for line in kinds] == [["6", "no-document"], ["3", "no-fragment"]]


def test_annotations_of_github(site: Path) -> None:
    (site / "a%,b:c.html").write_text('<a href="x%0Ay.html">')
    lines = run(site, "--format", "github").stdout.splitlines()
    assert all(line.startswith("::error file=") for line in lines)
    odd = next(line for line in lines if "a%25%2Cb%3Ac.html" in line)
    assert ",line=1,col=10,title=no-document::" in odd
    assert "x%250Ay.html" in odd


def test_a_summary_in_markdown(site: Path) -> None:
    (site / "odd.html").write_text('<a href="`|<b>**.html">')
    lines = run(site, "--base", "https://h/", "--format", "markdown").stdout.splitlines()
    assert lines[0] == "11 broken links, 5 different."
    assert lines[2] == "| count | kind | target | what to do | where |"
    assert all(line.replace("\\|", "").count("|") == 6 for line in lines[2:]), "a bar in a text ends no cell"
    for name in ("a.html", "b.html", "sub/c.html", "odd.html"):
        (site / name).write_text("x")
    assert run(site, "--format", "markdown").stdout == "No broken links.\n"


def test_fingerprints_do_not_depend_on_lines(site: Path) -> None:
    before = {fingerprint(finding) for finding in find(site)}
    assert len(before) == 9
    for name in ("a.html", "b.html"):
        (site / name).write_text(f"\n\n{PAGE}")
    assert {fingerprint(finding) for finding in find(site)} == before
