"""Import times: each library in its own processes, compared with a process that only starts."""

from __future__ import annotations

import resource
import subprocess
import sys
from typing import Any

from peers import OWN
from rounds import rotate, summary

IMPORTS = {
    OWN: "import overthere; overthere.URI",
    "overthere, everything of its first page": "from overthere import *",
    "urllib.parse": "import urllib.parse",
    "rfc3986": "import rfc3986",
    "uritools": "import uritools",
    "yarl": "import yarl",
    "can_ada": "import can_ada",
    "ada_url": "import ada_url",
    "url-py": "import url",
    "pydantic_core": "import pydantic_core",
}


def _processor_seconds(code: str) -> float:
    """Seconds that a processor worked for an interpreter that does this and ends."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(rounds: int = 15) -> list[list[dict[str, Any]]]:
    """The rows, each without what the interpreter itself needs in the same round."""
    for code in IMPORTS.values():
        _processor_seconds(code)  # compiled files are kept
    times: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for round_number in range(rounds):
        start = _processor_seconds("pass")
        for name in rotate(list(IMPORTS), round_number):
            times[name].append(max(_processor_seconds(IMPORTS[name]) - start, 0.0))
    return [
        [{"section": "imports", "operation": "import", "peer": name, **summary(times[name], 1)} for name in IMPORTS]
    ]
