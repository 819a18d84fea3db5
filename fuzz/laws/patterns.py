"""Every expression of the package takes linear time for repeated units that end with a text that may not follow.

An input is a place where an expression is made on a line, and behind it three parts with NUL between them: the start of
the text, the repeated unit, the end.  The expressions, the attacks and the judgement are those of
`tests/security/test_patterns.py`, which makes each attack by itself; here they are changed and put together.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple
from zlib import crc32

from seeds import CASES

sys.path.append(str(CASES.parent))

from attacks import Attack, Shape, judged, withstood
from patterns import used

WORDS = (
    *(bytes((octet,)) for octet in range(128)), b"\r\n", b"  ", b"aa", b"a ", b"\xc3\xbc", b"\\\\", b"\\a", b"''",
    b'""', b"()", b"<>", b"<!--", b"%41", b"&a;", b"1;",
)  # fmt: skip
LONGEST = 256
AFTER = "the expression's own test to tests/security/test_patterns.py, and what finds it to tests/attacks.py"

_UNITS = 12
"""The number of units of an expression that are seeds."""


class _Expression(NamedTuple):
    """An expression, and the uses of it that are judged."""

    compiled: re.Pattern[Any]
    uses: list[str]


@cache
def _expressions() -> dict[str, _Expression]:
    """All of them, by the first place that makes them: several may share it."""
    found, _ = used()
    named: dict[str, _Expression] = {}
    for (pattern, flags), (lines, uses) in found.items():
        place = lines[0] + "'" * sum(name.rstrip("'") == lines[0] for name in named)
        named[place] = _Expression(re.compile(pattern, flags), judged(uses))
    return named


def check(data: bytes) -> None:
    """data: as above; an unknown place is mapped to another one."""
    name, _, tail = data.partition(b"\n")
    expressions = _expressions()
    place = name.decode("latin-1")
    place = place if place in expressions else sorted(expressions)[crc32(name) % len(expressions)]
    compiled, uses = expressions[place]
    parts = [part.decode("utf-8", "replace") for part in (*tail.split(b"\0", 2), b"", b"")[:3]]
    octets = isinstance(compiled.pattern, bytes)
    attack = Attack(*(part.encode() if octets else part for part in parts))
    if not attack.unit:
        return
    for use in uses:
        reason = withstood(compiled, use, attack)
        assert reason is None, f"{place}, {compiled.pattern!r}.{use} of {attack}: {reason}"


def seeds() -> Iterator[bytes]:
    """Some of the attacks on each expression: an input for each unit, with the first end that it is given."""
    for place, (compiled, uses) in _expressions().items():
        shape = Shape(compiled.pattern, compiled.flags & ~re.UNICODE)
        units = {(attack.before, attack.unit): attack for attack in reversed(shape.attacks("search" in uses))}
        for attack in list(units.values())[:: max(1, len(units) // _UNITS)]:
            parts = (part if isinstance(part, bytes) else part.encode("utf-8", "replace") for part in attack)
            yield place.encode() + b"\n" + b"\0".join(parts)
