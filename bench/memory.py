"""The peak and the current memory of this process, as Linux counts them."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _kib(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    raise LookupError(name)


def peak_since_start() -> float | None:
    """MiB that this process has held at its peak since it began; None where none can tell."""
    try:
        return round(_kib("VmHWM") / 1024, 1)
    except (OSError, LookupError):
        return None


def peak_of_call(call: Callable[[], Any]) -> float | None:
    """MiB that a call needs at its peak above what is held before it, its result included; None where none can tell."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        _CLEAR.write_text("5")  # VmHWM starts again at VmRSS
        before = _kib("VmRSS")
    except (AttributeError, OSError, LookupError):
        return None
    result = call()
    after = _kib("VmHWM")
    del result
    return round((after - before) / 1024, 1)
