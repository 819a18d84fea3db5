"""A Python target of `make fuzz` where atheris is missing: its seeds mutated, without guidance.

    python fuzz/mutation.py TARGET [--seconds N | --inputs N] [--seed N] [--folder F] [FILE ...]

With files, those alone are judged.  What breaks the law is written to the folder; exit 1 then.
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


def run_input(one: Callable[[bytes], None], data: bytes) -> str:
    """What is wrong with an input; "" if nothing is."""
    signal.setitimer(signal.ITIMER_VIRTUAL, SLOW)
    try:
        one(data)
    except Exception:
        return f"Uncaught by the law, of {data!r}:\n{traceback.format_exc()}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return ""


def _late(*_: object) -> None:
    raise TimeoutError(f"{SLOW} s of processor time")


def main() -> int:
    asked = argparse.ArgumentParser(description="Mutate the seeds of a target.")
    asked.add_argument("target")
    asked.add_argument("files", nargs="*", type=Path)
    asked.add_argument("--seconds", type=float, default=60)
    asked.add_argument("--inputs", type=int, default=None, help="beside the seeds, in place of seconds")
    asked.add_argument("--seed", type=int, default=None)
    asked.add_argument("--folder", type=Path, default=None)
    options = asked.parse_args()
    found = law(options.target)
    signal.signal(signal.SIGVTALRM, _late)
    if options.files:
        wrong = [said for file in options.files if (said := run_input(found.check, file.read_bytes()))]
        print("\n".join(wrong))
        return 1 if wrong else 0
    seed = random.randrange(2**32) if options.seed is None else options.seed
    chance = random.Random(seed)
    pool = sorted({*found.seeds(), *kept_corpus(options.target)})
    start, done, said = time.monotonic(), 0, ""
    # What the pool holds comes first, as it is.
    waiting = list(pool)
    most = None if options.inputs is None else len(pool) + options.inputs
    while not said and (time.monotonic() - start < options.seconds if most is None else done < most):
        data = waiting.pop() if waiting else mutate(chance, pool, found.WORDS, found.LONGEST)
        said = run_input(found.check, data)
        done += 1
        if said and options.folder is not None:
            (options.folder / "found").write_bytes(data)
    print(f"{said}{done} inputs, seed {seed}")
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
