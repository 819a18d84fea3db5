"""`make fuzz`: both kernels and the grammar on mutated texts, until the time is up or they differ.

    python fuzz/differential.py [SECONDS] [SEED]

Seeds are the case files.  A difference is printed as a Python literal, to become a row of `tests/cases`.
"""

from __future__ import annotations

import random
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa

from overthere import columns, edition, kernel
from overthere.columns import plain
from overthere.findings import check_uri
from overthere.kernel import reference

CASES = Path(__file__).resolve().parent.parent / "tests" / "cases"
PIECES = ["%", "%4", "%41", "%2e", "/", "//", "..", "/.", "/../", ":", "@", "[", "]", "::", "?", "#", "v1.", "é", " ",
          "\0", "a", "1", "255.", "//[", "ffff:", "~", "|", "\U0001f600", "http:", "%25", "%C3", "."]  # fmt: skip


def seeds() -> list[str]:
    found: list[str] = []
    for file in CASES.glob("*.toml"):
        for row in tomllib.loads(file.read_text())["case"]:
            found += [row[key] for key in ("text", "reference", "base", "a", "b", "path", "iri") if key in row]
    return found


def mutate(chance: random.Random, pool: list[str]) -> str:
    text = chance.choice(pool)
    for _ in range(chance.randint(0, 4)):
        at, end = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        match chance.randint(0, 4):
            case 0:
                text = text[:at] + chance.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[end:]
            case 2:
                text = text[:at] + chance.choice(pool)[:20] + text[end:]
            case 3:
                text = text[:at] + chance.choice(PIECES) * chance.randint(1, 9) + text[at:]
            case _:
                text = text[:at] + chr(chance.randint(0, 127)) + text[end:]
    return text[:400]


def value(column: Any) -> list[Any]:
    listed: list[Any] = plain.taken(column).to_pylist()
    return listed


def differences(texts: list[str], base: str) -> list[str]:
    """What does not agree on these texts."""
    found: list[str] = []
    rules = {rule: edition("rfc3986").grammar.automaton(rule) for rule in ("URI", "URI-reference")}
    for text in texts:
        for rule, dfa in rules.items():
            answers = {dfa.accepts(text), reference.parse(text, rule) is not None, kernel.parse(text, rule) is not None,
                       check_uri(text, rule) == []}  # fmt: skip
            if len(answers) > 1:
                found.append(f"parse {rule} {text!r}")
        if reference.parse(text) is not None:
            rungs = (r for r in range(5) if kernel.normalize(text, r) != reference.normalize(text, r))
            found += [f"normalize {rung} {text!r}" for rung in rungs]
        if kernel.remove_dot_segments(text) != reference.remove_dot_segments(text):
            found.append(f"dots {text!r}")
    column = pa.array(texts)
    for operation, more in (("normalize", {"rung": 3}), ("resolve", {"base": base, "strict": False}), ("decode", {})):
        engines = (plain, columns.engine())
        one, two = (value(e.text(column, operation, details=True, threads=1, **more)) for e in engines)
        found += [f"{operation} {base!r} {t!r} {a} {b}" for t, a, b in zip(texts, one, two, strict=True) if a != b]
    names = list(plain._ALL)
    for asked in (None, "URI", "URI-reference"):
        engines = (plain, columns.engine())
        one, two = (value(e.parts(column, names, asked, zone=False, threads=1)) for e in engines)
        found += [f"parts {asked} {t!r} {a} {b}" for t, a, b in zip(texts, one, two, strict=True) if a != b]
    return found


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**32)
    chance, pool = random.Random(seed), seeds()
    bases = [text for text in pool if reference.parse(text, "URI") is not None]
    start, done = time.monotonic(), 0
    while time.monotonic() - start < seconds:
        texts = [mutate(chance, pool) for _ in range(500)]
        wrong = differences(texts, chance.choice(bases))
        if wrong:
            print(f"seed {seed}, after {done:,} texts:", *wrong[:10], sep="\n  ")
            return 1
        done += len(texts)
    print(f"{done:,} texts, seed {seed}, kernel {kernel.name}: no difference")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
