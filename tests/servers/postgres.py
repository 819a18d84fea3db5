"""PostgreSQL: a cluster in a folder, made for the test, on a free loopback port."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import skips
from servers import DROP, free_port, give, running, wait_until

__all__ = ["postgres"]

# Debian's wrappers in the path do not have them.
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))


@contextmanager
def postgres(folder: Path) -> Iterator[int]:
    """The port of a server whose user "joe" needs no password; the database "postgres" is empty."""
    if not PROGRAMS or skips.MODE == "absent":
        pytest.skip("postgres is not installed")
    folder.mkdir()
    give(folder)
    data = folder / "data"
    made: list[str | Path] = [*DROP, PROGRAMS[-1] / "initdb", "-D", data, "-U", "joe", "-A", "trust"]
    made += ["-E", "UTF8", "--locale=C", "-N"]
    subprocess.run(made, check=True, capture_output=True, cwd=folder)
    port = free_port()
    server: list[str | Path] = [*DROP, PROGRAMS[-1] / "postgres", "-D", data, "-h", "127.0.0.1"]
    ready: list[str | Path] = [PROGRAMS[-1] / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
    with running([*server, "-p", str(port), "-k", folder, "-F"], port, folder / "log"):
        # It listens before it answers.
        wait_until(lambda: subprocess.run(ready, check=False).returncode == 0, "PostgreSQL is not ready")
        yield port
