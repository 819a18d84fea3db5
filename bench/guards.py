"""Guards of HTTP clients and their peers against two servers: the requests that reach the inner one.

Each client runs in one process in which names are forged and connections are led to loopback: the public address to
the outer server, all others to the inner one.  A row for each client: requests of the inner server for each kind of
attack, and whether ordinary requests are answered.

python bench/guards.py: makes the environment .venv/peers/guards of requirements/guards.txt, once.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote, unquote

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".venv" / "peers" / "guards"
PUBLIC = "93.184.215.14"
SECONDS = 3.0

Fetch = Callable[[str], int]


def measure() -> list[dict[str, Any]]:
    """The rows, from a process of the environment that has the peers."""
    python = PLACE / "bin" / "python"
    pins = (ROOT / "requirements" / "guards.txt").read_text()
    stamp = PLACE / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != pins:
        subprocess.run([sys.executable, "-m", "venv", str(PLACE)], check=True)
        install = [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--requirement",
            str(ROOT / "requirements/guards.txt"),
        ]
        subprocess.run(install, check=True)
        stamp.write_text(pins)
    paths = os.pathsep.join(str(ROOT / name) for name in ("src", "tests/integrations"))
    environment = {**os.environ, "PYTHONPATH": paths, "http_proxy": "", "HTTP_PROXY": ""}
    result = subprocess.run(
        [str(python), __file__, "--inside"], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return [json.loads(line) for line in result.stdout.splitlines()]


# Clients


def _run(make: Callable[[str], Any]) -> Fetch:
    return lambda uri: int(asyncio.run(asyncio.wait_for(make(uri), SECONDS)))


def _guards() -> dict[str, tuple[str, Fetch]]:
    """By client: the package whose version counts, and what fetches."""
    import advocate
    import drawbridge.sync
    import httpx
    import httpx2
    import safehttpx
    from httpx_secure import httpx_ssrf_protection
    from requests_hardened import Config, Manager

    from overthere.integrations import aiohttp as own_aiohttp
    from overthere.integrations import httpx as own_httpx
    from overthere.integrations import httpx2 as own_httpx2
    from overthere.integrations import requests as own_requests
    from overthere.integrations import urllib3 as own_urllib3

    def client(library: Any, guard: Any) -> Fetch:
        def fetch(uri: str) -> int:
            with library.Client(transport=guard.Guard(), follow_redirects=True, timeout=SECONDS) as client:
                return int(client.get(uri).status_code)

        return fetch

    def async_client(library: Any, guard: Any) -> Fetch:
        async def fetch(uri: str) -> int:
            async with library.AsyncClient(transport=guard.AsyncGuard(), follow_redirects=True, timeout=SECONDS) as one:
                return int((await one.get(uri)).status_code)

        return _run(fetch)

    def requests(uri: str) -> int:
        with own_requests.guarded_session() as session:
            return int(session.get(uri, timeout=SECONDS).status_code)

    def urllib3(uri: str) -> int:
        with own_urllib3.Guard(retries=3, timeout=SECONDS) as pool:
            return int(pool.request("GET", uri).status)

    async def aiohttp(uri: str) -> int:
        async with own_aiohttp.guarded_session(trust_env=True) as session, session.get(uri) as answer:
            return int(answer.status)

    async def secure(uri: str) -> int:
        async with httpx_ssrf_protection(httpx.AsyncClient(follow_redirects=True, timeout=SECONDS)) as client:
            return int((await client.get(uri)).status_code)

    async def safe(uri: str) -> int:
        return int((await safehttpx.get(uri, timeout=SECONDS)).status_code)

    hardened = Manager(Config(
        ip_filter_enable=True, ip_filter_allow_loopback_ips=False, never_redirect=False,
        default_timeout=(SECONDS, SECONDS),
    ))  # fmt: skip
    return {
        "overthere, httpx": ("httpx", client(httpx, own_httpx)),
        "overthere, httpx async": ("httpx", async_client(httpx, own_httpx)),
        "overthere, httpx2": ("httpx2", client(httpx2, own_httpx2)),
        "overthere, Requests": ("requests", requests),
        "overthere, urllib3": ("urllib3", urllib3),
        "overthere, aiohttp": ("aiohttp", _run(aiohttp)),
        "advocate": ("advocate", lambda uri: int(advocate.get(uri, timeout=SECONDS).status_code)),
        "requests-hardened": ("requests-hardened", lambda uri: int(hardened.send_request("GET", uri).status_code)),
        "safehttpx": ("safehttpx", _run(safe)),
        "drawbridge": ("drawbridge", lambda uri: int(drawbridge.sync.get(uri, timeout=SECONDS).status_code)),
        "httpx-secure": ("httpx-secure", _run(secure)),
    }


# The network of this process


def _answering(requests: list[str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            redirects = self.path.startswith("/to?")
            self.send_response(302 if redirects else 200)
            if redirects:
                self.send_header("Location", unquote(self.path[4:]))
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *args: Any) -> None:
            """Nothing."""

    return Handler


class _Six(ThreadingHTTPServer):
    address_family = socket.AF_INET6


@contextmanager
def _network(names: dict[str, list[str]]) -> Iterator[list[str]]:
    """The requests to the inner server; names: forged, each look-up takes the next of several in turn if it begins with
    "changes"."""
    requests: list[str] = []
    servers = [
        ThreadingHTTPServer(("127.0.0.1", 0), _answering(requests)), _Six(("::1", 0), _answering(requests)),
        ThreadingHTTPServer(("127.0.0.2", 0), _answering([])),
    ]  # fmt: skip
    inner, six, outer = (server.server_address[:2] for server in servers)
    look_up, connect, peer = socket.getaddrinfo, socket.socket.connect, socket.socket.getpeername
    lookups: dict[str, int] = {}
    led: dict[int, Any] = {}

    def forged(host: Any, port: Any, *args: Any, **named: Any) -> Any:
        name = (host.decode() if isinstance(host, bytes) else str(host)).lower().rstrip(".")
        if name not in names:
            try:
                socket.inet_aton(name)  # as the system reads numbers
            except OSError:
                if ":" not in name and name != "localhost":
                    raise socket.gaierror(socket.EAI_NONAME, "no such name") from None
            return look_up(host, port, *args, **named)
        addresses = names[name]
        if name.startswith("changes"):
            lookups[name] = lookups.get(name, -1) + 1
            addresses = [addresses[min(lookups[name], len(addresses) - 1)]]
        return [entry for address in addresses for entry in look_up(address, port, *args, **named)]

    def redirected(sock: socket.socket, address: Any) -> Any:
        if sock.family not in (socket.AF_INET, socket.AF_INET6):
            return connect(sock, address)
        led[sock.fileno()] = address
        server = six if sock.family == socket.AF_INET6 else outer if address[0] == PUBLIC else inner
        return connect(sock, server)

    def told(sock: socket.socket) -> Any:
        return led.get(sock.fileno()) or peer(sock)

    threads = [Thread(target=server.serve_forever, args=(0.05,), daemon=True) for server in servers]
    for thread in threads:
        thread.start()
    original: Any = socket.socket
    socket.getaddrinfo, original.connect, original.getpeername = forged, redirected, told
    try:
        yield requests
    finally:
        socket.getaddrinfo, original.connect, original.getpeername = look_up, connect, peer
        for server in servers:
            server.shutdown()
            server.server_close()


def _reached(fetch: Fetch, requests: list[str], uris: list[str]) -> int:
    """The number of them that the inner server received."""
    reached = 0
    for uri in uris:
        requests.clear()
        try:
            fetch(uri)
        except BaseException as error:  # any exception of a client: only its requests count
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
        reached += bool(requests)
    return reached


def _rows() -> Iterator[dict[str, Any]]:
    from hostile import REDIRECTS, SPECIAL, hostile

    names = {f"special{number}.test": [address] for number, address in enumerate(SPECIAL)}
    special = list(names)
    changing = [f"changes{number}.test" for number in range(4)]
    # The address that is checked, and then the other: at the second, third and fourth look-up.
    names |= {name: [PUBLIC] * (number + 1) + ["127.0.0.1"] for number, name in enumerate(changing)}
    names |= {"outer.test": [PUBLIC], "inner.test": ["127.0.0.1"], "six.test": ["::1"]}
    names |= {"mixed.test": [PUBLIC, "127.0.0.1"], "mixed2.test": ["127.0.0.1", PUBLIC]}
    with _network(names) as requests:
        for name, (package, fetch) in _guards().items():
            row: dict[str, Any] = {"guard": name, "version": version(package)}
            try:
                row["answered"] = fetch("http://outer.test/")
            except Exception as error:
                row["answered"] = f"{type(error).__name__}: {error}"[:200]
            texts = list(hostile(80))
            redirects = [f"http://outer.test/to?{quote(redirect.format(port=80), safe='')}" for redirect in REDIRECTS]
            groups = {
                "special": [f"http://{address}/" for address in special], "texts": texts, "redirects": redirects,
                "changes": [f"http://{ip}/" for ip in changing], "mixed": ["http://mixed.test/", "http://mixed2.test/"],
            }  # fmt: skip
            for group, uris in groups.items():
                row[group], row[f"{group}_of"] = _reached(fetch, requests, uris), len(uris)
            os.environ["http_proxy"] = os.environ["HTTP_PROXY"] = "http://inner.test:3128"
            row["proxy"] = _reached(fetch, requests, ["http://outer.test/"])
            os.environ["http_proxy"] = os.environ["HTTP_PROXY"] = ""
            yield row


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a table of Markdown."""
    groups = ("special", "texts", "redirects", "changes", "mixed")
    first = rows[0]
    heads = {
        "special": "special addresses", "texts": "texts", "redirects": "redirects", "changes": "names that change",
        "mixed": "mixed answers",
    }  # fmt: skip
    columns = [f"{heads[group]} ({first[f'{group}_of']})" for group in groups]
    lines = [
        f"| guard | {' | '.join(columns)} | proxy of the environment | ordinary request |",
        f"|---|{'---:|' * (len(groups) + 2)}",
    ]
    lines += [
        f"| {row['guard']} {row['version']} | {' | '.join(str(row[one]) for one in (*groups, 'proxy', 'answered'))} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    if sys.argv[1:] == ["--inside"]:
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        for row in _rows():
            print(json.dumps(row), flush=True)
        return
    print(table(measure()))


if __name__ == "__main__":
    main()
