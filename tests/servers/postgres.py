"""PostgreSQL: a temporary cluster on a free loopback port."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import skips
from servers import DROP, free_port, give_to_nobody, running, wait_until

# Debian's wrappers on the path lack them.
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))


@contextmanager
def postgres(folder: Path) -> Iterator[int]:
    """The port of a server with an empty database "postgres"; the user "joe" needs no password."""
    if not PROGRAMS or skips.MODE == "absent":
        pytest.skip("postgres is not installed")
    folder.mkdir()
    give_to_nobody(folder)
    data = folder / "data"
    command: list[str | Path] = [*DROP, PROGRAMS[-1] / "initdb", "-D", data, "-U", "joe", "-A", "trust"]
    command += ["-E", "UTF8", "--locale=C", "-N"]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    port = free_port()
    server: list[str | Path] = [*DROP, PROGRAMS[-1] / "postgres", "-D", data, "-h", "127.0.0.1"]
    ready: list[str | Path] = [PROGRAMS[-1] / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
    with running([*server, "-p", str(port), "-k", folder, "-F"], port, folder / "log"):
        # It listens before it accepts queries.
        wait_until(lambda: subprocess.run(ready, check=False).returncode == 0, "PostgreSQL is not ready")
        yield port
