"""Edits, build and parameters: both kernels give the same value and places, or the same error and place."""

from __future__ import annotations

import random
import sys

import pytest

from overthere import URI, kernel
from support import ROOT

sys.path.append(str(ROOT / "fuzz"))

from laws import edits

pytestmark = pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")


def test_both_kernels_agree_on_the_seeds() -> None:
    for seed in edits.seeds():
        edits.check(seed)


@pytest.mark.parametrize("seed", range(4))
def test_both_kernels_agree_on_combined_components(seed: int) -> None:
    """Undefined, empty and other components, with their replacements."""
    chance = random.Random(seed)
    words = [word.decode() for word in edits.WORDS]
    before, after = edits.combinations(chance, 400), edits.combinations(chance, 400)
    for old, new in zip(before, after, strict=True):
        text = "".join(
            part
            for part in (
                f"{old['scheme']}:" if old["scheme"] else "",
                "" if old["host"] is None else "//",
                f"{old['userinfo']}@" if old["host"] is not None and old["userinfo"] is not None else "",
                old["host"] or "",
                f":{old['port']}" if old["host"] is not None and old["port"] is not None else "",
                old["path"],
                f"?{old['query']}" if isinstance(old["query"], str) else "",
                "" if old["fragment"] is None else f"#{old['fragment']}",
            )
        )
        lines = ["".join(chance.choices(words, k=chance.randint(0, 3))) for _ in range(chance.randint(1, 3))]
        chosen = {name: new[name] for name in chance.sample(sorted(new), chance.randint(1, 4))}
        assert edits.differences(text, lines, chosen) == []


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(URI, "parent", property(lambda self: self))
    assert any("parent" in difference for difference in edits.differences("http://h/a/b", ["a"], {}))
