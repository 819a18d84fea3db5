"""Opening, compared with curl on the same loopback servers in one run: throughput, memory, and many small resources.

Each measurement is a process of its own.  Its time is what it takes from the first connection to the last octet (curl
tells it itself; for many things the time of its process), without the start of the interpreter (a separate figure).

python bench/access.py drain|each|at-once < URIs      one measurement of overthere, as `measure` starts it
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from memory import peak_since_start
from rounds import rotate, summary

_COUNT, _AT_ONCE = 1000, 4
_LARGE, _SMALL = 1 << 30, 1 << 24
Row = dict[str, Any]


# -- one measurement, in a process of its own


def _drain(uris: list[str]) -> int:
    """The first one, piece by piece, as a program that writes it to a file would."""
    import overthere

    with overthere.open(uris[0], overthere.Policy.local()) as resource:
        return sum(map(len, resource))


def _open_each(uris: list[str]) -> int:
    """One after the other."""
    import overthere

    policy, size = overthere.Policy.local(), 0
    for uri in uris:
        with overthere.open(uri, policy) as resource:
            size += len(resource.read())
    return size


def _at_once(uris: list[str]) -> int:
    """This many at a time in one event loop."""
    import anyio

    import overthere

    policy, size, pending = overthere.Policy.local(), 0, iter(uris)

    async def work() -> None:
        nonlocal size
        for uri in pending:
            async with await overthere.aopen(uri, policy) as resource:
                content = await resource.read()
            size += len(content)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(_AT_ONCE):
                group.start_soon(work)

    anyio.run(main)
    return size


_MODES: dict[str, Callable[[list[str]], int]] = {"drain": _drain, "each": _open_each, "at-once": _at_once}


def _worker(mode: str) -> None:
    """The URIs come in lines; the last one is opened before, so that every module is there."""
    uris = sys.stdin.read().split()
    _drain(uris[-1:])
    start = time.perf_counter()
    size = _MODES[mode](uris)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "octets": size, "peak": peak_since_start()}))


# -- the run


class _Run(NamedTuple):
    """seconds: of the work; whole: of the process; peak: its maximum memory in MiB, if it reports that."""

    seconds: float
    whole: float
    octets: int
    peak: float | None


def _process(command: list[str], text: str = "") -> tuple[str, float]:
    """The output of a process, and its time.  Raises: CalledProcessError."""
    start = time.perf_counter()
    result = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return result.stdout, time.perf_counter() - start


def _overthere(mode: str, uris: list[str]) -> _Run:
    out, seconds = _process([sys.executable, __file__, mode], "\n".join(uris))
    data = json.loads(out)
    return _Run(data["seconds"], seconds, data["octets"], data["peak"])


def _curl(mode: str, uris: list[str]) -> _Run:
    """curl with its one-process configuration file."""
    command = ["curl", "--disable", "--silent", "--no-progress-meter", "--config", "-"]
    command += ["--parallel", "--parallel-max", str(_AT_ONCE)] if mode == "at-once" else []
    lines = "".join(f'url = "{uri}"\noutput = "/dev/null"\n' for uri in uris)
    out, total = _process(command, lines + 'write-out = "%{time_total} %{size_download}\\n"\n')
    rows = [line.split() for line in out.splitlines()]
    seconds = float(rows[0][0]) if mode == "drain" else total
    return _Run(seconds, total, sum(int(octets) for _, octets in rows), None)


_PEERS: dict[str, tuple[Callable[[str, list[str]], _Run], str]] = {
    "overthere": (_overthere, "each"),
    "curl": (_curl, "each"),
    f"overthere, {_AT_ONCE} at once": (_overthere, "at-once"),
    f"curl, {_AT_ONCE} at once": (_curl, "at-once"),
}


@cache
def _version() -> str:
    return _process(["curl", "--version"])[0].split()[1]


def _times(peers: Mapping[str, Callable[[], _Run]], rounds: int, octets: int) -> dict[str, list[_Run]]:
    times: dict[str, list[_Run]] = {name: [] for name in peers}
    for round_number in range(rounds):
        for name in rotate(list(peers), round_number):
            times[name].append(run := peers[name]())
            if run.octets != octets:
                raise RuntimeError(f"{name}: {run.octets:,} octets of {octets:,}")
    return times


def _rows(operation: str, times: dict[str, list[_Run]], octets: int, server: str) -> list[Row]:
    rows = []
    for peer, runs in times.items():
        row: Row = {"section": "access", "operation": operation, "peer": peer, "server": server}
        row |= summary([run.seconds for run in runs], 1) | {"octets": octets}
        row["curl"] = _version()
        row["mb_s"] = round(octets / row["seconds"] / 1e6)
        row["process_ms"] = round(sorted(run.whole for run in runs)[len(runs) // 2] * 1000, 1)
        row["peak_mib"] = _greatest(runs)
        rows.append(row)
    return rows


def _greatest(runs: list[_Run]) -> float | None:
    return max((run.peak for run in runs if run.peak is not None), default=None)


def _one_large(name: str, server: str, large: str, small: str, rounds: int) -> list[Row]:
    def peers(uri: str) -> dict[str, Callable[[], _Run]]:
        return {"overthere": lambda: _overthere("drain", [uri, small]), "curl": lambda: _curl("drain", [uri])}

    _times(peers(large), 1, _LARGE)  # the file is in memory from then on
    rows = _rows(f"{name}, 1 GiB", _times(peers(large), rounds, _LARGE), _LARGE, server)
    for row, small_run in zip(rows, _times(peers(small), 3, _SMALL).values(), strict=True):
        row["peak_16_mib"] = _greatest(small_run)
    return rows


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder that the servers, who are nobody, may enter."""
    with tempfile.TemporaryDirectory(prefix="overthere-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def _files(root: Path) -> None:
    root.mkdir(parents=True)
    for name, size in (("large", _LARGE), ("small", _SMALL)):
        with (root / name).open("wb") as file:
            file.truncate(size)


def _http(rounds: int) -> list[Row]:
    from servers.nginx import nginx

    with _folder() as folder:
        _files(folder / "root")
        with nginx(folder) as server:
            return _one_large("http", "nginx", server.uri("/large"), server.uri("/small"), rounds)


def _ftp(rounds: int) -> list[Row]:
    from servers.ftpd import unprivileged

    with _folder() as folder:
        _files(folder / "root")
        with unprivileged(folder, folder / "root") as server:
            return _one_large("ftp", "vsftpd", server.url("large"), server.url("small"), rounds)


def _gopher(server: Callable[[Path], AbstractContextManager[Any]], rounds: int) -> list[Row]:
    with _folder() as folder:
        text = b"a line of text\r\n" * 64
        with server(folder / "server") as gopher:
            for number in range(100):
                (folder / f"server/root/{number}.txt").write_bytes(text)
            uris = [f"gopher://127.0.0.1:{gopher.port}/0/{number % 100}.txt" for number in range(_COUNT)]
            octets = _curl("each", uris).octets
            peers = {name: partial(do, mode, uris) for name, (do, mode) in _PEERS.items()}
            name = str(getattr(server, "__name__", server))
            return _rows(f"gopher, {_COUNT:,} texts ({name})", _times(peers, min(rounds, 3), octets), octets, name)


def measure(rounds: int) -> Iterator[list[Row]]:
    """The rows of each operation; or a line with the reason if a server or curl is not installed."""
    sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
    if not shutil.which("curl"):
        print("\naccess: no curl, so opening is not measured")
        return
    import pytest

    from servers.gopherd import gophernicus, pygopherd

    works: list[Callable[[int], list[Row]]] = [_http, _ftp, partial(_gopher, gophernicus), partial(_gopher, pygopherd)]
    for work in works:
        try:
            yield work(rounds)
        except pytest.skip.Exception as missing:
            print(f"\naccess: {missing}, so what it serves is not measured")


if __name__ == "__main__":
    _worker(sys.argv[1])
