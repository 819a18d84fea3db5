"""`make bench`: overthere beside its peers, in one run, over one corpus; how often each is right stands with its time.

Prints a table and writes bench/results/latest.jsonl: one row for each operation and peer.
"""

from __future__ import annotations

import hashlib
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from corpus import corpus
from peers import OPERATIONS, agrees

ROUNDS = 5
HERE = Path(__file__).parent


def measure(function: Callable[[str], Any], texts: Sequence[str]) -> float:
    """Nanoseconds a call, one pass over distinct texts; a refusal counts as an answer."""
    start = time.perf_counter_ns()
    for text in texts:
        try:  # noqa: SIM105 - a `with suppress` would cost more than the quickest calls take
            function(text)
        except Exception:  # a peer's own refusal, whatever its type
            pass
    return (time.perf_counter_ns() - start) / len(texts)


def main() -> None:
    texts = corpus()
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    rows: list[dict[str, Any]] = []
    for operation, peers in OPERATIONS.items():
        found: dict[str, list[float]] = {name: [] for name in peers}
        names = list(peers)
        for turn in range(ROUNDS):
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                found[name].append(measure(peers[name], texts))
        own = statistics.median(found["overthere"])
        print(f"\n{operation:<12}{'ns':>10}{'ratio':>9}   right")
        for name, times in sorted(found.items(), key=lambda item: statistics.median(item[1])):
            middle = statistics.median(times)
            right = agrees(operation, name)
            print(f"  {name:<22}{middle:>8,.0f}{middle / own:>8.2f}x   {right}")
            rows.append(
                {
                    "commit": commit.stdout.strip(),
                    "machine": machine,
                    "corpus": digest,
                    "texts": len(texts),
                    "operation": operation,
                    "peer": name,
                    "ns": round(middle, 1),
                    "agrees": right,
                }
            )
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / "latest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    print(f"\n{len(texts):,} distinct texts, corpus {digest}, {machine}, median of {ROUNDS} rotated rounds")


if __name__ == "__main__":
    main()
