"""A Python target of `make fuzz` where atheris is missing: its seeds mutated, without guidance.

    python fuzz/mutation.py TARGET [--seconds N | --inputs N] [--seed N] [--folder F] [FILE ...]

With files, those alone are judged.  Inputs that break the law are written to the folder, with exit status 1.
"""

from __future__ import annotations

import argparse
import random
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from laws import law
from seeds import kept_corpus

SLOW = 20
"""Seconds of processor time after which an input is a finding."""


def mutate(chance: random.Random, pool: list[bytes], words: tuple[bytes, ...], longest: int) -> bytes:
    """An input of the pool with some octets put in, taken out, repeated, changed, or from another input."""
    data = chance.choice(pool)
    for _ in range(chance.randint(0, 4)):
        at, end = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
        match chance.randint(0, 5):
            case 0:
                data = data[:at] + chance.choice(words or (b"\0",)) + data[at:]
            case 1:
                data = data[:at] + data[end:]
            case 2:
                other = chance.choice(pool)
                begin = chance.randint(0, len(other))
                data = data[:at] + other[begin : begin + chance.randint(1, 64)] + data[end:]
            case 3:
                data = data[:at] + chance.choice(words or (b"\0",)) * chance.randint(1, 9) + data[at:]
            case 4:
                data = data[:at] + data[at : at + chance.randint(1, 32)] * chance.randint(1, 9) + data[at:]
            case _:
                data = data[:at] + bytes((chance.randint(0, 255),)) + data[at + 1 :]
    return data[:longest]


def run_input(check: Callable[[bytes], None], data: bytes) -> str:
    """The error for an input, or ""."""
    signal.setitimer(signal.ITIMER_VIRTUAL, SLOW)
    try:
        check(data)
    except Exception:
        return f"Uncaught by the law, of {data!r}:\n{traceback.format_exc()}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return ""


def _late(*_: object) -> None:
    raise TimeoutError(f"{SLOW} s of processor time")


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutate the seeds of a target.")
    parser.add_argument("target")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--inputs", type=int, default=None, help="beside the seeds, in place of seconds")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--folder", type=Path, default=None)
    options = parser.parse_args()
    target = law(options.target)
    signal.signal(signal.SIGVTALRM, _late)
    if options.files:
        wrong = [message for file in options.files if (message := run_input(target.check, file.read_bytes()))]
        print("\n".join(wrong))
        return 1 if wrong else 0
    seed = random.randrange(2**32) if options.seed is None else options.seed
    chance = random.Random(seed)
    pool = sorted({*target.seeds(), *kept_corpus(options.target)})
    start, result, message = time.monotonic(), 0, ""
    # The inputs of the pool come first, unchanged.
    waiting = list(pool)
    most = None if options.inputs is None else len(pool) + options.inputs
    while not message and (time.monotonic() - start < options.seconds if most is None else result < most):
        data = waiting.pop() if waiting else mutate(chance, pool, target.WORDS, target.LONGEST)
        message = run_input(target.check, data)
        result += 1
        if message and options.folder is not None:
            (options.folder / "found").write_bytes(data)
    print(f"{message}{result} inputs, seed {seed}")
    return 1 if message else 0


if __name__ == "__main__":
    raise SystemExit(main())
