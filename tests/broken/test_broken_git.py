"""`broken --since`: Git reports changes, and runs no program that a repository, a change or a variable names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from overthere.broken import Checker, Summary, check
from overthere.broken.changes import changed_files
from overthere.broken.fixing import fix_files
from servers import NET

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

PROGRAMS = [
    "alias.diff", "alias.ls-files", "alias.config", "alias.rev-parse", "browser.x.cmd", "browser.x.path",
    "core.alternateRefsCommand", "core.askPass", "core.editor", "core.fsmonitor", "core.gitProxy", "core.pager",
    "core.sshCommand", "credential.helper", "credential.https://h.helper", "diff.external", "diff.x.command",
    "diff.x.textconv", "diff.guitool", "diff.tool", "difftool.x.cmd", "difftool.x.path", "filter.x.clean",
    "filter.x.process", "filter.x.smudge", "gc.recentObjectsHook", "gc.repackFilterTo", "gpg.program",
    "gpg.openpgp.program", "gpg.x509.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand", "guitool.x.cmd",
    "help.browser", "instaweb.browser", "instaweb.httpd", "interactive.diffFilter", "man.x.cmd", "man.x.path",
    "man.viewer", "merge.x.driver", "merge.guitool", "merge.tool", "mergetool.x.cmd", "mergetool.x.path", "pager.diff",
    "pager.ls-files", "pager.config", "receive.procReceiveRefs", "remote.origin.receivepack",
    "remote.origin.uploadpack", "remote.origin.vcs", "remote.origin.proxy", "sendemail.ccCmd", "sendemail.headerCmd",
    "sendemail.toCmd", "sendemail.smtpServer", "sendemail.sendmailCmd", "sequence.editor", "submodule.s.update",
    "trailer.x.cmd", "trailer.x.command", "uploadpack.packObjectsHook", "web.browser",
]  # fmt: skip
"""The settings of Git that name a program (git-config(1) and the pages that it includes), each with a name for `*`."""
OTHERWISE = {
    "core.hooksPath": "{hooks}",
    "include.path": "{config}",
    "includeIf.gitdir:/.path": "{config}",
    "includeIf.onbranch:**.path": "{config}",
    "remote.origin.url": "ext::{program}",
    "url.ext::{program} .insteadOf": "https://h/",
    "core.worktree": "/",
    "init.templateDir": "{hooks}",
    "core.attributesFile": "{attributes}",
    "extensions.worktreeConfig": "true",
    "trace2.normalTarget": "{marks}",
    "trace2.eventTarget": "{marks}",
}
"""Settings that lead to a program by another file, a URI or a folder."""
VARIABLES = (
    "GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EDITOR",
    "EDITOR", "VISUAL", "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_TRACE", "GIT_TRACE2", "GIT_TRACE2_EVENT",
    "GIT_TRACE_SETUP",
)  # fmt: skip
NAMES_PROGRAM = re.compile(
    r"(?i)(cmd|command|program|pager|editor|driver|textconv|hook|helper|askpass|fsmonitor|\.clean|smudge|\.process"
    r"|uploadpack|receivepack|viewer|browser|difffilter|\.vcs)$"
)
HARMLESS = frozenset(
    (
        "advice.ignoredHook",
        "advice.waitingForEditor",
        "alias.*",
        "color.pager",
        "column.clean",
        "diff.<driver>.cachetextconv",
        "gitcvs.dbDriver",
    )
)


def git(folder: Path, *arguments: str) -> str:
    names = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        names |= {f"GIT_{role}_NAME": "a", f"GIT_{role}_EMAIL": "a@h"}
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(
        command, env=os.environ | names, check=True, capture_output=True, text=True, timeout=NET
    ).stdout


class Trap:
    """A program that writes a file when it is run, under all names that settings may use."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.marks = folder / "marks"
        self.program = folder / "trap"
        self.program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{self.marks}'\ncat 2>/dev/null </dev/null\nexit 0\n")
        self.program.chmod(0o755)
        self.hooks = folder / "hooks"
        self.hooks.mkdir()
        for hook in (
            "post-checkout",
            "post-index-change",
            "fsmonitor-watchman",
            "pre-auto-gc",
            "reference-transaction",
        ):
            shutil.copy(self.program, self.hooks / hook)
        self.config = folder / "config"
        self.config.write_text(f'[core]\n\tfsmonitor = "{self.program}"\n[filter "x"]\n\tclean = "{self.program}"\n')
        self.attributes = folder / "attributes"
        self.attributes.write_text("* filter=x diff=x merge=x\n")

    def settings(self) -> dict[str, str]:
        values = vars(self)
        fields = {key.format(**values): value.format(**values) for key, value in OTHERWISE.items()}
        named = {key: f"!{self.program}" if key.startswith("alias") else str(self.program) for key in PROGRAMS}
        return named | fields

    @property
    def is_sprung(self) -> bool:
        return self.marks.exists()


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path / "trap")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a commit of two documents, whose attributes name drivers."""
    top = tmp_path / "repository"
    docs = top / "docs"
    docs.mkdir(parents=True)
    git(top, "init", "-q", "-b", "main")
    (top / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    (docs / "same.md").write_text("[a](same.md)\n")
    (docs / "edited.md").write_text("[a](gone.md)\n")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "first")
    (docs / "edited.md").write_text("[a](lost.md)\n")
    os.utime(docs / "same.md", (1, 1))  # Git compares the contents again, with filters
    (docs / "new.md").write_text("[a](new.md)\n")
    return top


def add_bare_repository(folder: Path, trap: Trap) -> None:
    """Add a bare repository as ordinary files of a change."""
    git(folder, "init", "-q", "--bare", "nested")
    for file in ("HEAD", "config", "objects", "refs"):
        (folder / "nested" / file).rename(folder / file)
    shutil.rmtree(folder / "nested")
    (folder / "config").write_text(
        f'[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = "{folder}"\n'
        f'\tfsmonitor = "{trap.program}"\n'
    )


def set_all(file: Path, settings: dict[str, str]) -> None:
    for key, value in settings.items():
        git(file.parent, "config", "--file", str(file), "--add", key, value)


def changes(top: Path) -> set[str]:
    return {os.path.relpath(item, os.path.realpath(top)) for item in changed_files(str(top / "docs"), "HEAD")}


EXPECTED = {"docs/edited.md", "docs/new.md"}


def test_a_huge_file_of_git_is_not_copied(tmp_path: Path) -> None:
    for name in ("objects", "refs"):
        (tmp_path / ".git" / name).mkdir(parents=True)
    with (tmp_path / ".git" / "HEAD").open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "a.md").write_text("x")
    with pytest.raises((OSError, ValueError), match=r"more than 1,073,741,824 octets"):
        list(check([str(tmp_path)], Checker(since="x"), Summary()))


def test_the_table_has_every_setting_with_a_program() -> None:
    """As listed by the installed Git; a new one is added to the table or to the harmless ones."""
    listed = {key for key in git(Path("/"), "help", "--config").split() if NAMES_PROGRAM.search(key)} - HARMLESS
    patterns = [re.compile(re.sub(r"\\?<[^>]*>|\\\*", ".+", re.escape(key)), re.IGNORECASE) for key in listed]
    table = [*PROGRAMS, *OTHERWISE]
    assert {pattern.pattern for pattern in patterns if not any(map(pattern.fullmatch, table))} == set()


@pytest.mark.parametrize("key", [*PROGRAMS, *OTHERWISE])
def test_no_setting_of_a_repository_runs_a_program(repository: Path, trap: Trap, key: str) -> None:
    settings = trap.settings()
    key = key.format(**vars(trap))
    set_all(repository / ".git" / "config", {key: settings[key]})
    assert changes(repository) == EXPECTED
    assert not trap.is_sprung


def test_all_settings_and_variables_at_once(repository: Path, trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the configuration of the repository, a worktree, a bare repository in the sources, and the user."""
    settings = trap.settings()
    for file in (repository / ".git" / "config", repository / ".git" / "config.worktree", trap.hooks / "user"):
        set_all(file, settings)
    shutil.copytree(trap.hooks, repository / ".git" / "hooks", dirs_exist_ok=True)
    add_bare_repository(repository / "docs", trap)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(trap.hooks / "user"))
    monkeypatch.setenv("GIT_DIR", str(repository / "docs"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap.program))
    for name in VARIABLES:
        monkeypatch.setenv(name, str(trap.marks if "TRACE" in name else trap.program))
    assert changes(repository) > EXPECTED
    assert not trap.is_sprung


@pytest.mark.parametrize("key", ["core.fsmonitor", "filter.x.clean", "diff.external", "include.path"])
def test_the_trap_works(repository: Path, trap: Trap, key: str) -> None:
    """The same command with Git itself, so that a trap that never works is noticed."""
    set_all(repository / ".git" / "config", {key: trap.settings()[key]})
    git(repository, "diff", "HEAD")
    assert trap.is_sprung


def test_a_bare_repository_in_the_sources_is_not_used(
    repository: Path, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_bare_repository(repository / "docs", trap)
    command = [sys.executable, "-m", "overthere", "broken", "docs", "--since", "HEAD", "--format", "jsonl"]
    result = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=NET, check=False)
    assert (result.returncode, "lost.md" in result.stdout) == (1, True), result.stderr
    monkeypatch.chdir(repository / "docs")
    assert {os.path.basename(changed_file) for changed_file in changed_files(".", "HEAD")} > {"edited.md", "new.md"}
    assert not trap.is_sprung


def test_a_repository_unpacked_into_the_sources_is_not_used(
    repository: Path, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could hide changes; if it is the only one, its configuration is not read."""
    git(repository / "docs", "init", "-q")
    git(repository / "docs", "commit", "-q", "--allow-empty", "-m", "planted")
    set_all(repository / "docs" / ".git" / "config", trap.settings())
    monkeypatch.chdir(repository)
    with pytest.raises(ValueError, match="another repository"):
        changed_files("docs", "HEAD")
    monkeypatch.chdir(repository.parent)
    assert len(changed_files("repository/docs", "HEAD")) == 3
    assert not trap.is_sprung


@pytest.mark.parametrize("form", ["files", "reftable"])
def test_all_ways_of_naming_a_revision(tmp_path: Path, form: str) -> None:
    """Branches, tags, upstream branches, older states; packed or not, in worktrees and submodules."""
    top, clone = tmp_path / "top", tmp_path / "clone"
    try:
        git(tmp_path, "init", "-q", "-b", "main", f"--ref-format={form}", str(top))
    except subprocess.CalledProcessError:
        pytest.skip("this Git has no such form of references")
    (top / "a.md").write_text("1")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "1")
    git(top, "tag", "v1")
    git(tmp_path, "clone", "-q", f"--ref-format={form}", str(top), str(clone))
    (clone / "b.md").write_text("2")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "2")
    git(clone, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    for folder in (clone, tmp_path / "tree"):
        for pack in (False, True):
            if pack:
                git(folder, "pack-refs", "--all")
                git(folder, "gc", "-q")
            for name in ("v1", "HEAD~1", "origin/main", "main^", "refs/tags/v1", "@~"):
                assert changed_files(str(folder), name) == {os.path.realpath(folder / "b.md")}, name
    for name in ("@{upstream}", "main@{1}"):
        assert changed_files(str(clone), name) == {os.path.realpath(clone / "b.md")}, name
    for name in ("-x", "nope", "HEAD:a.md", "", "a\nb", "v1 --output=x"):
        with pytest.raises(ValueError, match=r"revision|git"):
            changed_files(str(clone), name)


def with_submodule(folder: Path) -> Path:
    """A repository with a commit and the submodule `sub`; each has a document a.md with a broken link."""
    for name in ("inner", "outer"):
        git(folder, "init", "-q", name)
        (folder / name / "a.md").write_text("[x](gone.md)\n")
        git(folder / name, "add", ".")
        git(folder / name, "commit", "-q", "-m", "1")
    outer = folder / "outer"
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(folder / "inner"), "sub")
    git(outer, "commit", "-q", "-m", "2")
    return outer


def test_a_submodule_has_its_own_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trap: Trap) -> None:
    outer = with_submodule(tmp_path)
    (outer / "sub" / "a.md").write_text("2")
    set_all(outer / ".git" / "modules" / "sub" / "config", trap.settings())
    monkeypatch.chdir(outer)
    assert changed_files(".", "HEAD") == frozenset()
    assert changed_files("sub", "HEAD") == {os.path.realpath("sub/a.md")}
    assert not trap.is_sprung


def test_changed_submodules_and_untracked_repositories_are_changes(tmp_path: Path) -> None:
    outer = with_submodule(tmp_path)

    def sources_with_findings() -> list[str]:
        findings = check([str(outer)], Checker(since="HEAD"), Summary())
        return sorted(os.path.relpath(finding.source, outer) for finding in findings)

    assert sources_with_findings() == []
    git(outer / "sub", "commit", "-q", "--allow-empty", "-m", "3")
    git(outer, "add", "sub")
    assert sources_with_findings() == ["sub/a.md"]
    git(tmp_path, "init", "-q", "outer/new")
    (outer / "new" / "b.md").write_text("[x](gone.md)\n")
    assert sources_with_findings() == ["new/b.md", "sub/a.md"]


@pytest.mark.parametrize(
    "name", ["shallow", "packed-refs", "index", "HEAD", "info/exclude", "info/grafts", "logs/HEAD", "refs/tags/x"]
)
def test_files_behind_symlinks_of_git_are_not_shown(repository: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("TOPSECRET value\nsecond line\n")
    (repository / ".git" / name).unlink(missing_ok=True)
    (repository / ".git" / name).symlink_to(tmp_path / "secret.txt")
    with pytest.raises(ValueError, match="a symlink") as caught:
        changes(repository)
    assert "TOPSECRET" not in str(caught.value)
    assert "second" not in str(caught.value)


def test_no_line_is_shown_of_a_file_to_which_other_objects_lead(repository: Path, tmp_path: Path) -> None:
    """Git quotes each line of such a file in an error of its own, before the one that ends it."""
    (tmp_path / "secret.txt").write_text("TOPSECRET value\nsecond line\n")
    (repository / ".git" / "objects" / "info" / "alternates").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(ValueError, match="fatal: bad revision") as caught:
        changed_files(str(repository), "HEAD~9")
    assert "TOPSECRET" not in str(caught.value)


def test_a_symlink_within_the_directory_of_git_is_followed(repository: Path) -> None:
    """As `core.preferSymlinkRefs` makes HEAD."""
    (repository / ".git" / "HEAD").unlink()
    (repository / ".git" / "HEAD").symlink_to("refs/heads/main")
    assert changes(repository) == EXPECTED


@pytest.mark.skipif(os.name == "nt", reason="named pipes lie in folders on POSIX only")
def test_git_does_not_wait_for_a_pipe(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overthere.broken.git._TIMEOUT", 1)
    os.mkfifo(repository / ".gitignore")
    with pytest.raises(ValueError, match="not finished within 1 s"):
        changes(repository)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory of another process is limited on Linux")
def test_a_tree_of_millions_of_names_takes_limited_memory(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some thousand bytes of objects: each folder has ten times as many names as the one below."""
    monkeypatch.setattr("overthere.broken.git._MAX_DATA_BYTES", 1 << 27)
    entry = f"100644 blob {git(repository, 'rev-parse', 'HEAD:docs/same.md').strip()}"
    for _ in range(7):
        listed = "".join(f"{entry}\t{number}\n" for number in range(10))
        result = subprocess.run(
            ["git", "mktree"], cwd=repository, input=listed, capture_output=True, text=True, check=True, timeout=NET
        )
        entry = f"040000 tree {result.stdout.strip()}"
    commit = git(repository, "commit-tree", "-m", "x", entry.rpartition(" ")[2]).strip()
    with pytest.raises(ValueError, match="memory"):
        changed_files(str(repository), commit)


def test_messages_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no repository"):
        changed_files(str(tmp_path), "HEAD")
    for content in (b"", b"gitdir: nowhere\n", b"gitdir: " + b"x" * 100_000, b"\xff\0"):
        (tmp_path / ".git").write_bytes(content)
        with pytest.raises(ValueError, match="no repository"):
            changed_files(str(tmp_path), "HEAD")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ValueError, match="not installed"):
        changed_files(str(tmp_path), "HEAD")


TERMINATED = """
import os, signal, time
from overthere.broken.git import Git
from overthere.cli import main

def stop(git, *arguments):
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)

Git.run = stop
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
def test_a_terminated_run_leaves_no_copy(repository: Path, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    command = [sys.executable, "-c", TERMINATED, "broken", "--since", "HEAD", str(repository)]
    result = subprocess.run(command, env={**os.environ, "TMPDIR": str(folder)}, capture_output=True, timeout=NET)
    assert (result.returncode, b"stopped: " in result.stderr) == (130, True)
    assert not list(folder.iterdir())


def test_pattern_files_named_by_a_repository_are_not_read(repository: Path, tmp_path: Path) -> None:
    """The selection of new files would reveal their contents, and a pipe would block."""
    (tmp_path / "secret").write_text("*\n")
    os.mkfifo(tmp_path / "pipe")
    for name in ("secret", "pipe"):
        git(repository, "config", "core.excludesFile", str(tmp_path / name))
        assert changes(repository) == EXPECTED


def test_a_new_symlink_is_a_change(repository: Path) -> None:
    """The document to which it leads is unchanged, but its references resolve against another base."""
    (repository / "doc.md").write_text("[x](other.md)\n")
    (repository / "other.md").write_text("x\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "x")
    (repository / "folder").mkdir()
    (repository / "folder" / "link.md").symlink_to("../doc.md")
    findings = [*check([str(repository)], Checker(since="HEAD"), Summary())]
    assert [(os.path.basename(item.source), item.reference) for item in findings] == [("link.md", "other.md")]


def test_changes_in_an_archive_with_an_exclamation_mark_in_its_name(repository: Path) -> None:
    with zipfile.ZipFile(repository / "a!b.zip", "w") as archive:
        archive.writestr("i!j.html", '<a href="mailto:x">')
    findings = [*check([str(repository)], Checker(since="HEAD"), Summary())]
    assert [os.path.basename(item.source) for item in findings if item.kind == "bad-mailto"] == ["a!b.zip!i!j.html"]


def test_files_are_looked_up_once_for_the_members_of_an_archive(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3,000 findings in an archive, in folders whose names are exclamation marks, took 40 s."""
    folder = repository / ("!" * 200) / ("!" * 200)
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        for number in range(50):
            archive.writestr(f"{number}.html", "<a href=#x>" * 20)
    looked_up: list[str] = []

    def count(function: Callable[[str], bool]) -> Callable[[str], bool]:
        def counted(path: str) -> bool:
            looked_up.append(path)
            return function(path)

        return counted

    for name in ("isfile", "lexists"):
        monkeypatch.setattr(os.path, name, count(getattr(os.path, name)))
    for checker in (Checker(since="HEAD"), Checker()):
        findings = [item for item in check([str(repository)], checker, Summary()) if item.kind == "no-fragment"]
        assert len(findings) == 1000
    assert len(looked_up) < 1000
    assert [
        file.refused for file in fix_files([item._replace(suggestion="#y", certainty="certain") for item in findings])
    ] == [f"it is part of {folder / 'a.zip'}; change it there and repack"] * 50
    assert len(looked_up) < 2000
