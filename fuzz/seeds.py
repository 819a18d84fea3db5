"""The seeds of the targets of `make fuzz`: the case files, and the kept corpus as lines of JSON.

A kept input is a string of octets, U+0000 to U+00FF, on its line in `kept/TARGET.jsonl`.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CASES = HERE.parent / "tests" / "cases"
KEPT = HERE / "kept"

# Which keys of a case row hold a text of the target's kind.
_TEXTS = ("text", "a", "b", "reference", "base", "iri")
_BASE = b"http://a/b/c/d;p?q"
_SAFE = ("", "%", "abc", "-._~", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", "/?:@")


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row of the case files, with its file's name."""
    for file in sorted(CASES.glob("*.toml")):
        for row in tomllib.loads(file.read_text())["case"]:
            yield file.stem, row


def _of_case(target: str, row: dict[str, Any]) -> Iterator[str]:
    texts = [row[key] for key in _TEXTS if key in row]
    match target:
        case "dots":
            yield from [row["path"]] if "path" in row else []
        case "host":
            yield from (part.partition("]")[0] for text in texts for part in text.split("[")[1:])
            host = row["is"].get("host") if isinstance(row.get("is"), dict) else None
            yield from [host] if host else []
        case "resolve":
            if "reference" in row:
                yield f"{row['base']}\n{row['reference']}"
        case "coding":
            yield from (f"{_SAFE[len(text) % len(_SAFE)]}\n{text}" for text in texts)
        case _:
            yield from texts


def seeds(target: str) -> set[bytes]:
    """The inputs that the case files hold for a Rust target."""
    return {text.encode() for _, row in cases() for text in _of_case(target, row)}


def with_base() -> set[bytes]:
    """A base and texts after it, each on its line: from the case files, and findings of the Rust targets."""
    rows = [row for _, row in cases()]
    inputs = {f"{row.get('base', _BASE.decode())}\n{row[key]}".encode() for row in rows for key in _TEXTS if key in row}
    texts = sorted(t for name in ("parse", "normalize") for t in kept_corpus(name) if b"\n" not in t)
    return inputs | kept_corpus("resolve") | {b"\n".join([_BASE, *texts[i : i + 3]]) for i in range(0, len(texts), 3)}


def kept_corpus(target: str) -> set[bytes]:
    """The kept corpus of a target."""
    file = KEPT / f"{target}.jsonl"
    if not file.exists():
        return set()
    return {json.loads(line).encode("latin-1") for line in file.read_text().splitlines()}


def pack(target: str, inputs: set[bytes]) -> None:
    """Write the kept corpus of a target: the shortest first, so that a change is small in a diff."""
    KEPT.mkdir(exist_ok=True)
    lines = [json.dumps(data.decode("latin-1")) for data in sorted(inputs, key=lambda d: (len(d), d))]
    (KEPT / f"{target}.jsonl").write_text("".join(f"{line}\n" for line in lines))


def write_files(inputs: set[bytes], folder: Path) -> None:
    """Write each input to its file, as libFuzzer reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    for data in inputs:
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
