"""Parts of a job as text, which other machines read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere import URI, InvalidURI
from overthere.files.tables.checkpoint import Checkpoint
from overthere.links.job.part_files import Part, parts
from overthere.links.job.part_places import FilePlace
from overthere.links.job.task_builder import Task

TASK = Task(("/a", "/\udcff"), "/", "http://h/", 1, None, 3, None)
PART = Part(7, (TASK, TASK._replace(end=9, base=None, root=None, name="-")), "key", "/folder")


def test_parts_convert_to_text_and_back(tmp_path: Path) -> None:
    assert Part.from_json(PART.to_json()) == PART
    assert PART.to_json().isascii()
    (tmp_path / "a.html").write_bytes(b"x")
    for part in parts([tmp_path], URI("http://h/")):
        assert Part.from_json(part.to_json()) == part


def changed(**kwargs: Any) -> str:
    return json.dumps({**json.loads(PART.to_json()), **kwargs})


def with_task(**kwargs: Any) -> str:
    return changed(tasks=[{**TASK._asdict(), **kwargs}])


@pytest.mark.parametrize(
    "text",
    [
        None, 7, b"\x80\x04.", "", "x", "null", "[]", "{}", '"x"', changed(kwargs=1), changed(number=-1),
        changed(number="1"),
        changed(number=True), changed(number=1 << 63), changed(number=1.0), changed(tasks={}), changed(tasks=["x"]),
        changed(key=None), changed(folder=["x"]), with_task(paths="x"), with_task(paths=[1]), with_task(root=1),
        with_task(start=None), with_task(end=-1), with_task(size="9"), with_task(name=[]), with_task(other=1),
        with_task(base="no base"), with_task(base=1), with_task(paths=["\ud800"]), with_task(name="\ud800"),
        with_task(paths=["no uri"], objects=[[1, ""]]), changed(folder="\ud800"),
        "[" * 100_000, '{"number": ' + "9" * 5000 + "}",
    ],
)  # fmt: skip
def test_invalid_parts_are_rejected(text: object) -> None:
    with pytest.raises((ValueError, InvalidURI)):
        Part.from_json(text)


@given(
    st.recursive(
        st.none() | st.integers() | st.text() | st.booleans(),
        lambda item: st.lists(item) | st.dictionaries(st.sampled_from([*Part._fields, *Task._fields]), item),
    )
)
def test_invalid_parts_raise_only_documented_errors(found: Any) -> None:
    with pytest.raises(ValueError, match="not a part"):
        Part.from_json(json.dumps(found))


def test_a_late_part_does_not_stop_the_next_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executors of a stopped job may create their folder while the next job starts."""
    place = FilePlace(str(tmp_path / "out"))
    place.begin("job", 1)
    save = Checkpoint.save

    def late(mark: Checkpoint, path: Path) -> None:
        save(mark, path)
        (tmp_path / "out/_temporary").mkdir()

    monkeypatch.setattr(Checkpoint, "save", late)
    place.begin("job", 1)
    assert (tmp_path / "out/_temporary").is_dir()
