"""The hot operations on text: one interface, two implementations, chosen once at import.

`name` says which one serves.  `OVERTHERE_KERNEL=reference` in the environment asks for the plain one;
`OVERTHERE_KERNEL=native` makes its absence an error.

- `split(text)`: Appendix B; nothing is checked.
- `parse(text, rule, zone=False)`: split and check in one, to `Components` or None.
- `Components`: a text and where its components are; what every value is made of.
- `resolve(base, reference, strict)`: 5.2 and 5.3 on values, to text.
- `normalize(text, rung)`: 6.2.2 up to the path rung, of valid text; what follows takes a scheme's facts (`reference`).
- `remove_dot_segments(path)`: 5.2.4.
- `percent_encode(data, safe)`, `percent_decode(data)`: 2.1 on octets.
- `unquote(string, plus)`, `unquote_pairs(query, blank)`: what `urllib.parse` makes of quoted text, or None.
- `Runner(classes, width, table, start, accepting)`: the automaton of a rule; `run(data, state)` reads.
- `Trigger(pattern, names, abbreviated, mail, tops)`: a quicker search for an expression of `text.trigger`, or None.
- `front(function)`, `front_property`, `front_classmethod`: with a fast path before it if the kernel has one.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False

_asked = os.environ.get("OVERTHERE_KERNEL", "")
_native_found = False
if not TYPE_CHECKING and _asked != "reference":
    try:
        from overthere.kernel.native import *  # noqa: F403  # the names of its `__all__`, which are those below

        _native_found = True
    except ImportError:
        if _asked == "native":
            raise

if TYPE_CHECKING or not _native_found:
    from overthere.kernel.components import Components, front, front_classmethod, front_property, parse, resolve
    from overthere.kernel.percent import percent_decode, percent_encode, unquote, unquote_pairs
    from overthere.kernel.reference import name, normalize, remove_dot_segments, split
    from overthere.kernel.runner import Runner, Trigger

__all__ = [
    "Components", "Runner", "Trigger", "front", "front_classmethod", "front_property", "name", "normalize", "parse",
    "percent_decode", "percent_encode", "remove_dot_segments", "resolve", "split", "unquote", "unquote_pairs",
]  # fmt: skip
