"""Git queries that ignore the configuration, hooks and drivers of the repository."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from overthere.ground import atomic
from overthere.ground.processes import find_program

_SETTINGS = re.compile(
    r"core\.(?:autocrlf|checkstat|eol|excludesfile|filemode|ignorecase|longpaths|precomposeunicode"
    r"|repositoryformatversion|sparsecheckout|sparsecheckoutcone|symlinks|trustctime)"
    r"|extensions\.(?:objectformat|refstorage)|branch\..+\.(?:merge|remote)|remote\..+\.fetch",
    re.DOTALL,
)
"""Settings that are copied: how files are compared, and which branch is followed.  None names a program; the file of
patterns, which may be anywhere, is that of the user only."""
_SHARED_FILES = ("refs", "packed-refs", "reftable", "shallow", "info", "logs")
_WORKTREE_FILES = ("HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "refs", "reftable", "logs", "index")
"""The files that are copied from the Git directories, in this order: loose references before packed ones."""
_KEPT_VARIABLES = ("GIT_EXEC_PATH",)
_MAX_PATH_LENGTH = 1 << 15


class _Place(NamedTuple):
    top: Path
    git_folder: Path
    """The Git directory: `.git`, or that of a worktree or a submodule."""
    shared: Path
    """The directory that all worktrees of the repository share."""


class Git(NamedTuple):
    """Git for one repository."""

    top: str
    """The real path of the working tree."""
    program: str
    environment: dict[str, str]

    def run(self, *arguments: str) -> str:
        """Run a command.

        Returns: its standard output.  Raises: ValueError if it fails, or takes more than a minute or a gibibyte.
        """
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [self.program, "--no-pager", *arguments],
            cwd=self.top, env=self.environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe,
        ) as child:  # fmt: skip
            _limit_memory(child.pid)
            try:
                output, messages = child.communicate(timeout=_TIMEOUT)
            except subprocess.TimeoutExpired:
                child.kill()
                raise ValueError(f"git {arguments[0]}: not finished within {_TIMEOUT} s") from None
            except BaseException:
                child.kill()
                raise
        if child.returncode:
            # Only what ended it: errors before that quote lines of files, to which symlinks of a stranger may lead.
            lines = (line for line in os.fsdecode(messages).splitlines() if line.startswith("fatal: "))
            raise ValueError(f"git {arguments[0]}: {next(lines, f'exit {child.returncode}')}")
        return os.fsdecode(output)


_TIMEOUT = 60
"""Time limit of a command: Git would wait forever for a named pipe, or walk a tree of billions of names."""
_MAX_DATA_BYTES = 1 << 30
"""Maximum memory that Git may allocate for data; packs that it maps do not count."""


def _limit_memory(process: int) -> None:
    with suppress(ImportError, AttributeError, OSError):  # only Linux has it
        import resource

        resource.prlimit(process, resource.RLIMIT_DATA, (_MAX_DATA_BYTES, _MAX_DATA_BYTES))


@contextmanager
def open_repository(folder: str) -> Iterator[Git]:
    """The repository that contains a folder: that of the current folder if it does, otherwise the nearest one.

    Git reads a copy of the references and the index with a configuration that is written here, and the original
    objects: nothing that the repository's own configuration names is run or contacted.

    Raises: ValueError if there is no repository, or it cannot be read, or Git is not installed.
    """
    program = find_program("git")
    if program is None:
        raise ValueError("git is not installed")
    place = _find(folder)
    with atomic.temporary_folder() as copy:
        try:
            yield _prepare(program, place, Path(copy))
        except OSError as error:
            raise ValueError(f"git: {place.git_folder} cannot be read: {error}") from None


def _find(folder: str) -> _Place:
    real = Path(os.path.realpath(folder))
    nearest = _find_nearest(real)
    if nearest is None:
        raise ValueError(f"git: no repository contains {folder}")
    current = _find_nearest(Path(os.path.realpath(os.curdir)))
    if current is None or current.top == nearest.top or not real.is_relative_to(current.top):
        return nearest
    if nearest.git_folder.is_relative_to(current.shared):  # a submodule, or another worktree
        return nearest
    raise ValueError(f"git: {nearest.top} is another repository within {current.top}: run this in it")


def _find_nearest(folder: Path) -> _Place | None:
    for top in (folder, *folder.parents):
        with suppress(OSError, ValueError):  # a file without a path
            git_folder = top / ".git"
            if git_folder.is_file():
                git_folder = _pointer(git_folder, "gitdir: ")
            shared = _pointer(git_folder / "commondir", "") if (git_folder / "commondir").is_file() else git_folder
            if (git_folder / "HEAD").is_file() and (shared / "objects").is_dir():
                return _Place(top, git_folder, shared)
    return None


def _pointer(file: Path, prefix: str) -> Path:
    """The real path in a file of Git."""
    with file.open("rb") as opened:
        target = os.fsdecode(opened.read(_MAX_PATH_LENGTH)).removeprefix(prefix).rstrip("\r\n")
    return Path(os.path.realpath(file.parent / target))


def _prepare(program: str, place: _Place, copy: Path) -> Git:
    shared = copy / "shared"
    git_copy = shared if place.git_folder == place.shared else shared / "worktrees" / "own"
    git_copy.mkdir(parents=True)
    (shared / "refs").mkdir()
    for name in _SHARED_FILES:
        atomic.copy(place.shared / name, shared)
    for name in (*_WORKTREE_FILES, *(file.name for file in place.git_folder.glob("sharedindex.*"))):
        if git_copy != shared or name not in _SHARED_FILES:
            atomic.copy(place.git_folder / name, git_copy)
    if git_copy != shared:
        atomic.copy(place.git_folder / "HEAD", shared)
        atomic.write(git_copy / "commondir", b"../..\n")
    atomic.create_empty(copy / "empty")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    variables |= {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    variables |= {
        "GIT_ALLOW_PROTOCOL": "", "GIT_CEILING_DIRECTORIES": str(place.top.parent), "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C",
    }  # fmt: skip
    outside = Git(str(copy), program, variables | {"GIT_DIR": str(copy / "none")})
    settings = _list_settings(outside.run("config", "-z", "--list"))
    for file in (place.shared / "config", place.git_folder / "config.worktree"):
        if file.is_file():
            listed = outside.run("config", "-z", "--list", "--no-includes", "--file", str(file))
            settings += [pair for pair in _list_settings(listed) if pair[0] != "core.excludesfile"]
    atomic.write(shared / "config", os.fsencode("".join(_write_setting(*setting) for setting in settings)))
    inside = {
        "GIT_CONFIG_GLOBAL": str(copy / "empty"), "GIT_CONFIG_NOSYSTEM": "1", "GIT_DIR": str(git_copy),
        "GIT_OBJECT_DIRECTORY": str(place.shared / "objects"), "GIT_WORK_TREE": str(place.top),
    }  # fmt: skip
    return Git(str(place.top), program, variables | inside)


def _list_settings(listed: str) -> list[tuple[str, str]]:
    """The settings in the output of `git config -z --list` that are copied."""
    pairs = (entry.partition("\n") for entry in listed.split("\0"))
    return [(key, value if separator else "true") for key, separator, value in pairs if _SETTINGS.fullmatch(key)]


def _write_setting(key: str, value: str) -> str:
    section, _, qualified_name = key.partition(".")
    subsection, _, name = qualified_name.rpartition(".")
    quoted = f" {_quote(subsection)}" if subsection else ""
    return f"[{section}{quoted}]\n\t{name} = {_quote(value)}\n"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
