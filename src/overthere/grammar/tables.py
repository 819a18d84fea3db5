"""Prebuilt automata: `make docs` writes them next to a grammar, a test checks that they are current.

One JSON object: the digest of the grammar's text, and per rule the automaton with its table as
base64 of deflated 16-bit numbers.  A table file that belongs to another text is not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overthere.grammar.automaton import Automaton

__all__ = ["automata", "dump", "load", "pack", "unpack"]


def _digest(text: str) -> str:
    import zlib

    # Against a forgotten `make docs`, not against malice; hashlib would take longer to load than all tables.
    return f"{zlib.crc32(text.encode()):08x}"


def dump(automata: Mapping[str, Automaton], text: str) -> str:
    """The table file of a grammar's automata."""
    import json

    return json.dumps(pack(automata, text), indent=1) + "\n"


def pack(automata: Mapping[str, Automaton], text: str) -> dict[str, object]:
    """What a table file of a grammar's automata holds, as JSON has it."""
    import base64
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

    return {"grammar": _digest(text), "rules": {name: pack(dfa) for name, dfa in automata.items()}}


def load(prebuilt: str, text: str) -> dict[str, Automaton]:
    """The automata of a table file by rule name; none if it was made from another text."""
    import json

    return unpack(json.loads(prebuilt), text)


def unpack(stored: Mapping[str, Any], text: str) -> dict[str, Automaton]:
    """The same of what a table file holds."""
    return automata(stored) if stored["grammar"] == _digest(text) else {}


def automata(stored: Mapping[str, Any]) -> dict[str, Automaton]:
    """The same, whatever text it was made from."""
    import struct
    import zlib
    from binascii import a2b_base64

    read: dict[str, Automaton] = {}
    for name, one in stored["rules"].items():
        raw = zlib.decompress(a2b_base64(one["table"]))
        read[name] = Automaton(
            classes=zlib.decompress(a2b_base64(one["classes"])),
            width=len(raw) // 2 // one["states"],
            table=struct.unpack(f"<{len(raw) // 2}H", raw),
            start=one["start"],
            accepting=frozenset(one["accepting"]),
        )
    return read
