"""How this process holds memory."""

from __future__ import annotations

import contextlib
import os


def configure_memory() -> None:
    """Set up this process, which must be our own, to return freed memory to the system (GNU's C library, pyarrow).

    By default the allocator of GNU's C library adapts its thresholds to keep large blocks, so that a job of hours holds
    twice the memory that it needs.  Batches and messages stay below the first threshold: mapping and unmapping them
    each time took a tenth of the job.  Objects that exist already are excluded from garbage collection.
    """
    import ctypes
    import gc

    gc.freeze()
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # before pyarrow is imported
    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_ARENA_MAX
        for parameter, value in ((-3, 1 << 25), (-1, 1 << 26), (-8, 4)):
            mallopt(parameter, value)
