"""The kernel, compared with Rust's URI crates: runs `rust/core/benches/kernel.rs` on the corpus and reads its rows."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import standard
from corpus import CACHE, Corpus

_RUST = Path(__file__).resolve().parent.parent / "rust"


def _hex(text: str) -> str:
    return text.encode().hex()


def _cases() -> list[str]:
    rows: list[tuple[str, str, str, str | None]] = [("parse", text, "", "") for text, _ in standard.valid()]
    rows += [("parse", text, "", None) for text in standard.invalid()]
    rows += [("normalize", text, "", normal) for text, normal in standard.normal_forms()]
    rows += [("resolve", reference, base, target) for base, reference, target in standard.targets()]
    return ["\t".join((o, _hex(t), _hex(b), "-" if a is None else _hex(a))) for o, t, b, a in rows]


def measure(corpus: Corpus) -> list[dict[str, Any]]:
    """The rows of `cargo bench`; none, and a line that says why, where it cannot run."""
    if not shutil.which("cargo"):
        print("\nkernel: no cargo, so the crates of Rust are not measured")
        return []
    files = {
        "OVERTHERE_TEXTS": corpus.texts,
        "OVERTHERE_REFERENCES": corpus.references,
        "OVERTHERE_CASES": _cases(),
    }
    environment = dict(os.environ)
    for name, lines in files.items():
        file = CACHE / f"{name.lower()}.txt"
        file.write_text("".join(f"{line}\n" for line in lines))
        environment[name] = str(file)
    command = ["cargo", "bench", "--quiet", "--package", "overthere-core", "--bench", "kernel"]
    result = subprocess.run(command, cwd=_RUST, env=environment, capture_output=True, text=True, check=False)
    for name in files:
        Path(environment[name]).unlink()
    if result.returncode:
        print(f"\nkernel: cargo bench failed, so the crates of Rust are not measured\n{result.stderr[-2000:]}")
        return []
    rows = []
    for line in result.stdout.splitlines():
        if line.count("\t") == 6:
            operation, peer, middle, low, high, right, of = line.split("\t")
            row: dict[str, Any] = {"section": "kernel", "operation": operation, "peer": peer, "rows": len(corpus.texts)}
            row |= {"ns": float(middle), "ns_min": float(low), "ns_max": float(high)}
            rows.append(row | (standard.Share(int(right), int(of)).row() if int(of) else {}))
    return rows
