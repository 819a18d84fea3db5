"""The corpus: a million distinct texts, collected on this machine and generated from a fixed seed, with its statistics.

It is kept in build/bench, so that the machine is searched once; delete the file there to search again.
"""

from __future__ import annotations

import hashlib
import random
import statistics
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gather import SAME_PLACE, gather
from generated import generate, reference

CACHE = Path(__file__).resolve().parent.parent / "build" / "bench"
_MADE_BY = b"".join(Path(__file__).with_name(f"{name}.py").read_bytes() for name in ("corpus", "gather", "generated"))
FILE = CACHE / f"corpus-{hashlib.sha256(_MADE_BY).hexdigest()[:8]}.parquet"
_SIZE = 1_000_000
_BASE_SEED = 3986


@dataclass
class Corpus:
    """Distinct URLs, each with its source, and as many distinct references to resolve."""

    table: pa.Table

    @cached_property
    def texts(self) -> list[str]:
        return self.table["text"].to_pylist()  # type: ignore[no-any-return]

    @cached_property
    def references(self) -> list[str]:
        return self.table["reference"].to_pylist()  # type: ignore[no-any-return]

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256("\n".join(self.texts).encode()).hexdigest()[:16]

    def take_first(self, count: int) -> Corpus:
        """The order is by chance, so that the first rows have the same make-up."""
        return Corpus(self.table.slice(0, count))

    def composition(self) -> dict[str, Any]:
        """Counts by source, lengths, and the shares that make rows cheap or dear."""
        from overthere import columns

        lengths = sorted(len(text.encode()) for text in self.texts)
        count = len(lengths)
        valid = pc.sum(pa.array(columns.check(self.table["text"].combine_chunks()))).as_py()

        def share(test: Callable[[str], bool]) -> float:
            return round(sum(map(test, self.texts)) / count, 5)

        return {
            "texts": count,
            "bytes": sum(lengths),
            "sources": dict(Counter(self.table["source"].to_pylist()).most_common()),
            "references": dict(Counter(self.table["reference source"].to_pylist()).most_common()),
            "most of one place": SAME_PLACE,
            "mean": round(statistics.fmean(lengths), 1),
            "median": lengths[count // 2],
            "p90": lengths[count * 9 // 10],
            "p99": lengths[count * 99 // 100],
            "longest": lengths[-1],
            "valid": round(valid / count, 5),
            "https": share(lambda t: t.startswith("https:")),
            "query": share(lambda t: "?" in t),
            "fragment": share(lambda t: "#" in t),
            "escape": share(lambda t: "%" in t),
            "userinfo": share(lambda t: "@" in t.partition("://")[2].partition("/")[0]),
            "IPv6": share(lambda t: "://[" in t),
            "digest": self.digest,
        }


def _build(size: int) -> pa.Table:
    names, lists = gather()
    texts = generate(max(0, size - len(names)), names)
    rows = [*names.items(), *((text, "made") for text in texts)]
    random.Random(_BASE_SEED).shuffle(rows)
    rows = rows[:size]
    references = dict.fromkeys(lists, "HTML on this machine")
    for number, (text, _) in enumerate(rows):
        for kind in (number, number + 1, number + 2, number + 3, 4):
            if len(references) < size and (new := reference(text, kind)) not in references:
                references[new] = "out of the URLs"
                break
    pairs = list(references.items())
    random.Random(_BASE_SEED).shuffle(pairs)
    return pa.table(
        {
            "text": pa.array([text for text, _ in rows]),
            "source": pa.array([source for _, source in rows]).dictionary_encode(),
            "reference": pa.array([text for text, _ in pairs[:size]]),
            "reference source": pa.array([source for _, source in pairs[:size]]).dictionary_encode(),
        }
    )


def corpus(size: int = _SIZE) -> Corpus:
    """The first `size` rows of the corpus, which is searched for and made where it is not kept yet."""
    if not FILE.exists() or pq.read_metadata(FILE).num_rows < size:
        CACHE.mkdir(parents=True, exist_ok=True)
        for old in CACHE.glob("corpus*.parquet"):
            old.unlink()
        new = FILE.with_suffix(".new")
        pq.write_table(_build(max(size, _SIZE)), new, row_group_size=100_000)
        new.replace(FILE)
    return Corpus(pq.read_table(FILE)).take_first(size)
