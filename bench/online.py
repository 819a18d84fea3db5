"""`overthere broken --online` on nginx with 100,000 pages: compared with lychee, with errors and limits, with a crash.

Four rows of JSON: `speed` (seconds, and those that processors worked, at the same number of requests at once; the
rounds take turns), `crawl` (a site of 1,000 pages, and LinkChecker's time if it is in .venv/peers/linkchecker), `mixed`
(what was told, and what the access log has more or less than is needed), `killed` (that each URI has an outcome).

python bench/online.py [--quick] [--rounds N] [--jobs N]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PEERS = Path(__file__).resolve().parent.parent / ".venv" / "peers"
LYCHEE, LINKCHECKER = PEERS / "bin" / "lychee", PEERS / "linkchecker" / "bin" / "linkchecker"
_NGINX = """\
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 1024; }}
http {{
    {temporary}
    log_format asked '$request|$status';
    access_log {folder}/asked asked; keepalive_requests 1000000; types {{ text/html html; }}
    limit_req_zone $server_port zone=slow:1m rate=2000r/s; limit_req_zone $server_port zone=few:1m rate=200r/s;
    server {{
        listen 127.0.0.1:{port}; root {folder}/root;
        add_header LinkChecker yes always;  # without which LinkChecker waits between requests
        location /slow/ {{ limit_req zone=slow burst=1000; alias {folder}/root/; }}
        location /few/ {{
            limit_req zone=few burst=50 nodelay; limit_req_status 429; add_header Retry-After 1 always;
            alias {folder}/root/;
        }}
        location /soon/ {{ add_header Retry-After 0 always; return 429; }}
        location /moved/ {{ return 301 /target.html; }}
        location /gone/ {{ return 410; }}
        location /private/ {{ return 403; }}
        location /broken/ {{ return 500; }}
    }}
}}
"""
# How many in a thousand URIs, the report for each, and its requirement.
MIXED: dict[str, tuple[int, str | None, dict[str, int]]] = {
    "": (707, None, {"HEAD": 1}),
    "slow/": (50, None, {"HEAD": 1}),
    "lost/": (50, "not-found", {"HEAD": 1, "GET": 1}),
    "gone/": (50, "gone", {"HEAD": 1}),
    "private/": (50, "programs-refused", {"HEAD": 1, "GET": 1}),
    "broken/": (50, "server-error", {"HEAD": 1, "GET": 1}),
    "moved/": (40, "moved-permanently", {"HEAD": 1}),
    "few/": (2, None, {}),
    "soon/": (1, "rate-limited", {"HEAD": 4}),
}


_LONGEST = 120.0
"""Seconds after which a crawl is ended."""


def _names(count: int) -> list[str]:
    return [f"p/{number // 1000}/{number}.html" for number in range(count)]


@contextmanager
def _nginx(folder: Path, count: int) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The URI of its root, and it."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    folder.chmod(0o755)
    for name in ("target.html", *_names(count)):
        page = folder / "root" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"<!doctype html><title>{name}</title><h1 id=a>{name}</h1>\n")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = " ".join(f"{kind}_temp_path {folder}/temporary-{kind};" for kind in kinds)
    (folder / "conf").write_text(_NGINX.format(folder=folder, temporary=temporary, port=port))
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") or "nginx"
    with subprocess.Popen([program, "-c", folder / "conf"], start_new_session=True) as server:
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    if server.poll() is not None:
                        raise
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/", server
        finally:
            if server.poll() is None:
                os.killpg(server.pid, signal.SIGTERM)


def _page(file: Path, uris: list[str]) -> Path:
    file.write_text("<!doctype html><title>t</title>\n" + "".join(f'<a href="{uri}">x</a>\n' for uri in uris))
    return file


def _run_overthere(page: Path, output: Path, jobs: int) -> list[str]:
    options = ["--online", "--private", "--jobs", str(jobs), "--per-host", str(jobs)]
    return [sys.executable, "-m", "overthere", "broken", str(page), *options, "-o", str(output)]


def _lychee(page: Path, output: Path, jobs: int) -> list[str]:
    at_once = ["--max-concurrency", str(jobs), "--host-concurrency", str(jobs), "--host-request-interval", "0ms"]
    options = [*at_once, "--no-progress", "-X", "head", "--format", "json", "-o", str(output)]
    return [str(LYCHEE), *options, str(page)]


def _run(command: list[str], limit: float | None = None) -> tuple[float, float]:
    """Seconds, and seconds of processor time; a command is stopped after `limit` seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=limit)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _kinds(output: Path) -> Counter[str]:
    """The number of URIs of each kind in the reports."""
    rows = (json.loads(line) for line in output.read_text().splitlines())
    return Counter(row["kind"] for row in rows if row["kind"] != "redirected")


def _speed(root: str, folder: Path, count: int, jobs: int, rounds: int) -> dict[str, Any]:
    page = _page(folder / "all.html", [root + name for name in _names(count)])
    commands = {"overthere": _run_overthere(page, folder / "all.jsonl", jobs)}
    if LYCHEE.exists():
        commands["lychee"] = _lychee(page, folder / "all.json", jobs)
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(_run(command))
    row: dict[str, Any] = {"case": "speed", "uris": count, "jobs": jobs, "rounds": rounds}
    for name, costs in runs.items():
        row[f"{name}_seconds"] = [round(took, 2) for took, _ in costs]
        row[f"{name}_worked"] = round(min(worked for _, worked in costs), 2)
    if "lychee" in runs:
        pairs = zip(runs["overthere"], runs["lychee"], strict=True)
        row["of_lychees_throughput"] = [round(theirs[0] / ours[0], 2) for ours, theirs in pairs]
    return row


def _crawl(root: str, folder: Path, pages: int, jobs: int, rounds: int) -> dict[str, Any]:
    """A site in which each page links to fifty others, one of them missing."""
    site = folder / "root" / "site"
    site.mkdir()
    for number in range(pages):
        links = [f"{(number * 7 + step) % pages}.html" for step in range(49)] + [f"missing-{number % 10}.html"]
        (site / f"{number}.html").write_text("<!doctype html>" + "".join(f'<a href="{link}">x</a>' for link in links))
    start = f"{root}site/0.html"
    commands = {
        "overthere": [
            sys.executable, "-m", "overthere", "broken", start, "--private", "--jobs", str(jobs),
            "--per-host", str(jobs), "-o", str(folder / "crawl.jsonl"),
        ]
    }  # fmt: skip
    if LINKCHECKER.exists():
        options = ["--no-status", "--threads", str(jobs), "-F", f"csv/utf_8/{folder}/crawl.csv"]
        (folder / "linkcheckerrc").write_text("[checking]\nmaxrequestspersecond=10000\n")
        commands["linkchecker"] = [str(LINKCHECKER), "-f", str(folder / "linkcheckerrc"), *options, start]
    folder.chmod(0o777)  # as root, LinkChecker becomes another user
    row: dict[str, Any] = {"case": "crawl", "pages": pages, "jobs": jobs}
    for name, command in commands.items():
        runs = [_run(command, _LONGEST) for _ in range(rounds if name == "overthere" else 1)]
        row[f"{name}_seconds"] = [round(took, 2) for took, _ in runs]
        row[f"{name}_worked"] = round(min(worked for _, worked in runs), 2)
        row[f"{name}_ended"] = runs[0][0] < _LONGEST
    row["found"] = _kinds(folder / "crawl.jsonl")["not-found"]
    if (report := folder / "crawl.csv").exists():
        row["linkchecker_found"] = sum("404" in line for line in report.read_text().splitlines())
    return row


def _log_since(log: Path, before: int) -> list[list[str]]:
    """Lines of the access log: the request, and the status."""
    with log.open("rb") as file:
        file.seek(before)
        return [line.split("|") for line in file.read().decode().splitlines()]


def _run_mixed(root: str, folder: Path, count: int, jobs: int) -> dict[str, Any]:
    thousands, needed, counts = count // 1000, Counter[tuple[str, str]](), Counter[str | None]()
    paths = []
    for place, (each, kind, methods) in MIXED.items():
        places = [f"/{place}{name}" for name in _names(each * thousands)]
        paths += places
        counts[kind] += len(places)
        needed.update({(method, path): times for path in places for method, times in methods.items()})
    needed["HEAD", "/target.html"] += 1
    page = _page(folder / "mixed.html", [root + path[1:] for path in paths])
    before = (folder / "asked").stat().st_size
    took, _ = _run(_run_overthere(page, folder / "mixed.jsonl", jobs))
    lines = _log_since(folder / "asked", before)
    requests = Counter((line[0].split()[0], line[0].split()[1]) for line in lines)
    put_off = Counter(line[0].split()[1] for line in lines if line[1] == "429")
    needed.update({("HEAD", path): 1 + put_off[path] for path in paths if path.startswith("/few/")})
    kinds = _kinds(folder / "mixed.jsonl")
    wrong = {kind: kinds[kind] - number for kind, number in counts.items() if kind and kinds[kind] != number}
    return {
        "case": "mixed", "uris": len(paths), "requests": len(lines), "seconds": round(took, 2),
        "told": dict(kinds), "told_wrongly": wrong,
        "requests_too_many": (requests - needed).total(), "requests_missing": (needed - requests).total(),
    }  # fmt: skip


def _run_killed(root: str, folder: Path, count: int, jobs: int, server: subprocess.Popen[bytes]) -> dict[str, Any]:
    page = _page(folder / "killed.html", [root + name for name in _names(count)])
    log, output = folder / "asked", folder / "killed.jsonl"
    before = log.stat().st_size
    each = len(f"HEAD /{_names(count)[-1]} HTTP/1.1|200\n")
    with subprocess.Popen(
        _run_overthere(page, output, jobs), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as job:
        while log.stat().st_size - before < each * count // 3 and job.poll() is None:
            time.sleep(0.02)
        os.killpg(server.pid, signal.SIGKILL)
        message = job.communicate()[1]
    answered = sum(status == "200" for _, status in _log_since(log, before))
    kinds = _kinds(output)
    return {
        "case": "killed", "uris": count, "answered": answered, "told": dict(kinds),
        "said": next(line for line in message.splitlines() if "point outside" in line),
        "without_outcome": max(0, count - answered - kinds["connect"]),
    }  # fmt: skip


def measure(count: int = 100_000, jobs: int = 16, rounds: int = 3) -> Iterator[dict[str, Any]]:
    """A row for each case."""
    with TemporaryDirectory() as temporary, _nginx(Path(temporary), count) as (root, server):
        yield _speed(root, Path(temporary), count, jobs, rounds)
        yield _crawl(root, Path(temporary), 1000, jobs, rounds)
        yield _run_mixed(root, Path(temporary), count, jobs)
        yield _run_killed(root, Path(temporary), count, jobs, server)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="10,000 pages")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=16)
    options = parser.parse_args()
    for row in measure(10_000 if options.quick else 100_000, options.jobs, options.rounds):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
