"""Prebuilt automata: `make docs` writes them next to a grammar, a test checks that they are current.

One JSON object: the digest of the grammar's text, and per rule the automaton with its table as
base64 of deflated 16-bit numbers.  A table file made from another text is not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overthere.grammar.automaton import Automaton


def _digest(text: str) -> str:
    import zlib

    # This detects a forgotten `make docs`, not malice; hashlib would take longer to load than all tables.
    return f"{zlib.crc32(text.encode()):08x}"


def dump(automata: Mapping[str, Automaton], text: str) -> str:
    """Return the text of a table file with a grammar's automata."""
    import json

    return json.dumps(pack(automata, text), indent=1) + "\n"


def pack(automata: Mapping[str, Automaton], text: str) -> dict[str, object]:
    """Return the JSON object of a table file with a grammar's automata."""
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
    """Return the automata of a table file by rule name; an empty dict if it was made from another text."""
    import json

    return unpack(json.loads(prebuilt), text)


def unpack(stored: Mapping[str, Any], text: str) -> dict[str, Automaton]:
    """Return the automata of a parsed table file; an empty dict if it was made from another text."""
    return automata(stored) if stored["grammar"] == _digest(text) else {}


def automata(stored: Mapping[str, Any]) -> dict[str, Automaton]:
    """Return the automata of a parsed table file, from whatever text it was made."""
    import struct
    import zlib
    from binascii import a2b_base64

    result: dict[str, Automaton] = {}
    for name, packed in stored["rules"].items():
        raw = zlib.decompress(a2b_base64(packed["table"]))
        result[name] = Automaton(
            classes=zlib.decompress(a2b_base64(packed["classes"])),
            width=len(raw) // 2 // packed["states"],
            table=struct.unpack(f"<{len(raw) // 2}H", raw),
            start=packed["start"],
            accepting=frozenset(packed["accepting"]),
        )
    return result
