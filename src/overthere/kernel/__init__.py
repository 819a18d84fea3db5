"""The hot operations on text: one interface, two implementations, chosen once at import.

`name` is the loaded one.  The environment variable `OVERTHERE_KERNEL=reference` selects the one in Python;
`OVERTHERE_KERNEL=native` requires the one in Rust: importing fails if it is missing.

- `split(text)`: the components by Appendix B, unchecked.
- `parse(text, rule, zone=False)`: split and check in one step; `Components` or None.
- `Components`: a text and the places of its components; the base of every value.
- `resolve(base, reference, strict)`: 5.2 and 5.3 on values; the target as text.
- `normalize(text, rung)`: 6.2.2 up to the path rung, of valid text; higher rungs need a scheme's facts (`reference`).
- `remove_dot_segments(path)`: 5.2.4.
- `percent_encode(data, safe)`, `percent_decode(data)`: 2.1 on bytes.
- `unquote(string, plus)`, `unquote_pairs(query, blank)`: decoded as `urllib.parse` does, or None.
- `Runner(classes, width, table, start, accepting)`: the automaton of a rule; `run(data, state)` runs it.
- `Trigger(pattern, names, abbreviated, mail, tops)`: a faster search for an expression of `text.trigger`, or None.
- `front(function)`, `front_property`, `front_classmethod`: add a fast path if the kernel has one.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False

_requested_name = os.environ.get("OVERTHERE_KERNEL", "")
_is_native_loaded = False
if not TYPE_CHECKING and _requested_name != "reference":
    try:
        from overthere.kernel.native import *  # noqa: F403  # the names of its `__all__`, which are those below

        _is_native_loaded = True
    except ImportError:
        if _requested_name == "native":
            raise

if TYPE_CHECKING or not _is_native_loaded:
    from overthere.kernel.components import Components, front, front_classmethod, front_property, parse, resolve
    from overthere.kernel.percent import percent_decode, percent_encode, unquote, unquote_pairs
    from overthere.kernel.reference import name, normalize, remove_dot_segments, split
    from overthere.kernel.runner import Runner, Trigger

__all__ = [
    "Components", "Runner", "Trigger", "front", "front_classmethod", "front_property", "name", "normalize", "parse",
    "percent_decode", "percent_encode", "remove_dot_segments", "resolve", "split", "unquote", "unquote_pairs",
]  # fmt: skip
