"""Documents read in several processes: the same findings, and no losses if one of them dies."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from threading import Thread

import pytest

from overthere.broken import Broken, Checker, Summary, check, workers
from overthere.broken.site import Site
from overthere.links.job.sources import tasks
from overthere.links.model import Options
from servers import NET


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sixty documents that refer to one another; every third reference is broken."""
    for number in range(60):
        target = f"{(number + 1) % 60}.{'rst' if (number + 1) % 4 == 0 else 'md'}"
        if number % 4 == 0:
            text = f"Title\n=====\n\n`a <{target}>`_ `b <gone{number}.html>`_\n\n"
        else:
            text = f"# Title\n\n[a]({target}#title) [b]({target}#gone) ![c](gone.png)\n\n"
        (tmp_path / f"{number}{'.rst' if number % 4 == 0 else '.md'}").write_text(text + "word " * 300)
    (tmp_path / "index.html").write_text('<a href="1.md#title">x</a><a href="1.md#gone">x</a>')
    return tmp_path


def checked(folder: Path, count: int) -> tuple[list[Broken], dict[str, object]]:
    summary = Summary()
    findings = list(check([folder], Checker(workers=count), summary))
    return findings, asdict(summary)


def test_several_processes_find_what_one_finds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_MIN_TOTAL_BYTES", 1)
    monkeypatch.setattr(workers, "_BATCH_BYTES", 1 << 12)
    assert checked(folder, 3) == checked(folder, 1)
    assert len(checked(folder, 3)[0]) == 106


def test_there_are_no_more_threads_than_pages(folder: Path) -> None:
    """The native reader started all of them, until the system gave no more: it was reported as a bug of the kernel."""
    assert checked(folder, 1 << 20) == checked(folder, 1)
    with pytest.raises(ValueError, match="workers must be at least 1, not -1"):
        checked(folder, -1)


def test_small_work_starts_no_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "Workers", None)
    assert checked(folder, 3)[0]


def test_a_process_that_sends_much_is_sent_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both pipes were full, so that the check and its process waited for one another for ever."""
    monkeypatch.setattr(workers, "_MIN_TOTAL_BYTES", 1)
    deep = tmp_path.joinpath(*["d" * 200] * 9)
    deep.mkdir(parents=True)
    (deep / "0.md").write_text("# x\n" * 50_000)
    for number in range(199):
        (deep / f"1{number}.md").touch()
    checker, options = Checker(workers=2), Options()
    parts = list(tasks([str(tmp_path)], None, options))
    jobs = workers.cut_work(parts, checker)
    assert [len(task.paths) for _, task in jobs] == [1, 199]
    processes = workers.Workers(Site(parts, checker), checker, options, 1)
    found: list[int] = []
    thread = Thread(target=lambda: found.extend(len(result.pages) for result in processes.read(jobs)), daemon=True)
    try:
        thread.start()
        thread.join(NET)
        assert found == [1, 199]
    finally:
        processes.close()


@pytest.mark.parametrize("killed", [1, 3])
def test_work_left_by_a_dead_process_is_read(folder: Path, killed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_MIN_TOTAL_BYTES", 1)
    monkeypatch.setattr(workers, "_BATCH_BYTES", 1 << 12)
    checker, options = Checker(workers=3), Options()
    parts = list(tasks([str(folder)], None, options))
    work = workers.cut_work(parts, checker)
    processes = workers.Workers(Site(parts, checker), checker, options, 3)
    try:
        for child in list(processes._children.values())[:killed]:
            child.kill()
            child.join()
        sources = [page.source for gathered in processes.read(work) for page in gathered.pages]
    finally:
        processes.close()
    assert sorted(sources) == sorted(str(path) for path in folder.iterdir() if path.suffix != ".html")
