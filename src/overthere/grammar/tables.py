"""Prebuilt automata: written beside a grammar by `make docs`, read at first use, checked fresh by a test.

One JSON object: the digest of the grammar's text, and per rule the automaton with its table as
base64 of deflated 16-bit numbers.  A table file that belongs to another text is not used.
"""

from __future__ import annotations

from collections.abc import Mapping

from overthere.grammar.automaton import Automaton

__all__ = ["dump", "load"]


def _digest(text: str) -> str:
    import zlib

    # Against a forgotten `make docs`, not against malice; hashlib would take longer to load than all tables.
    return f"{zlib.crc32(text.encode()):08x}"


def dump(automata: Mapping[str, Automaton], text: str) -> str:
    """The table file of a grammar's automata."""
    import base64
    import json
    import struct
    import zlib

    def pack(dfa: Automaton) -> dict[str, object]:
        raw = struct.pack(f"<{len(dfa.table)}H", *dfa.table)
        return {
            "states": dfa.states,
            "start": dfa.start,
            "accepting": sorted(dfa.accepting),
            "classes": base64.b64encode(zlib.compress(dfa.classes, 9)).decode(),
            "table": base64.b64encode(zlib.compress(raw, 9)).decode(),
        }

    rules = {name: pack(dfa) for name, dfa in automata.items()}
    return json.dumps({"grammar": _digest(text), "rules": rules}, indent=1) + "\n"


def load(prebuilt: str, text: str) -> dict[str, Automaton]:
    """The automata of a table file by rule name; none if it was made from another text."""
    import base64
    import json
    import struct
    import zlib

    stored = json.loads(prebuilt)
    if stored["grammar"] != _digest(text):
        return {}
    automata: dict[str, Automaton] = {}
    for name, packed in stored["rules"].items():
        raw = zlib.decompress(base64.b64decode(packed["table"]))
        automata[name] = Automaton(
            classes=zlib.decompress(base64.b64decode(packed["classes"])),
            width=len(raw) // 2 // packed["states"],
            table=struct.unpack(f"<{len(raw) // 2}H", raw),
            start=packed["start"],
            accepting=frozenset(packed["accepting"]),
        )
    return automata
