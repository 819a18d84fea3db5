"""nginx with http and https, tinyproxy in front, and websocketd, for the tests of http, https, ws and wss."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from servers import DROP, NET, free_port, give_to_nobody, need, running, wait_until

_MARKS = count()
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
_CONFIGURATION = """\
daemon off; worker_processes 1; pid {folder}/pid; error_log stderr;
events {{}}
http {{
    {temporary}
    log_format asked '$request|$http_host|$status|$http_authorization|$http_proxy_authorization';
    access_log {folder}/asked asked;
    limit_req_zone $server_port zone=few:1m rate=50r/s; limit_req_zone $server_port zone=slow:1m rate=200r/s;
    types {{ text/html html; text/plain txt; }}
    default_type application/octet-stream;
    absolute_redirect off; sendfile on;
    server {{
        listen 127.0.0.1:{port}; listen 127.0.0.1:{tls_port} ssl;
        ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/key.pem;
        root {folder}/root;
        location /moved/ {{ return 301 /page.html; }}
        location /found/ {{ return 302 /page.html#there; }}
        location = /other/way {{ return 303 ../page.html; }}
        location /temporary/ {{ return 307 /page.html; }}
        location /permanent/ {{ return 308 /page.html; }}
        location /chain/1 {{ return 302 /chain/2; }}
        location /chain/2 {{ return 307 /page.html; }}
        location /circle/1 {{ return 302 /circle/2; }}
        location /circle/2 {{ return 302 /circle/1#more; }}
        location ~ ^/endless/(x*)$ {{ return 302 /endless/x$1; }}
        location /plain {{ return 302 http://127.0.0.1:{port}/page.html; }}
        location /secure {{ return 302 https://127.0.0.1:{tls_port}/page.html; }}
        location /elsewhere {{ return 302 http://localhost:{port}/page.html; }}
        location /file {{ return 302 file:///etc/hostname; }}
        location /inside {{ return 302 http://127.0.0.1:22/; }}
        location /wrong {{ return 302 "http://[/"; }}
        location /bare {{ return 302 ""; }}
        location /nothing {{ return 204; }}
        location /busy {{ add_header Retry-After 1 always; return 503; }}
        location /soon {{ add_header Retry-After 0 always; return 429; }}
        location /limited/ {{
            limit_req zone=few burst=4 nodelay; limit_req_status 429; add_header Retry-After 1 always;
            alias {folder}/root/;
        }}
        location /slow/ {{ limit_req zone=slow burst=1000; alias {folder}/root/; }}
        location /gone {{ return 410; }}
        location /headless/ {{ if ($request_method = HEAD) {{ return 405; }} alias {folder}/root/; }}
        location /private {{ return 403; }}
        location /broken {{ return 500; }}
        location /chunked/ {{ ssi on; ssi_types *; alias {folder}/root/; }}
        location /closing/ {{ ssi on; ssi_types *; chunked_transfer_encoding off; alias {folder}/root/; }}
        location /located/ {{ add_header Content-Location /elsewhere/x.html; alias {folder}/root/; }}
        location /linked/ {{ add_header Link '</style.css>; rel="preload"'; alias {folder}/root/; }}
        location /latin/ {{ charset iso-8859-1; alias {folder}/root/; }}
        location /packed/ {{ add_header Content-Encoding gzip; alias {folder}/root/; }}
    }}
}}
"""


@dataclass(frozen=True)
class Nginx:
    """A running nginx."""

    port: int
    tls_port: int
    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "root"

    @property
    def certificate(self) -> Path:
        return self.folder / "certificate.pem"

    def uri(self, path: str, scheme: str = "http") -> str:
        return f"{scheme}://127.0.0.1:{self.port if scheme == 'http' else self.tls_port}{path}"

    def requests(self) -> list[list[str]]:
        """The requests so far: request line, Host, status, Authorization, Proxy-Authorization.

        nginx logs in order after each answer, so that this waits for a request of its own.
        """
        mark = f"GET /mark/{next(_MARKS)} HTTP/1.1"
        with socket.create_connection(("127.0.0.1", self.port), NET) as connection:
            connection.sendall(f"{mark}\r\nHost: mark\r\nConnection: close\r\n\r\n".encode())
            while connection.recv(1 << 16):
                pass

        def logged() -> list[list[str]] | None:
            lines = (self.folder / "asked").read_text().splitlines()
            return [line.split("|") for line in lines] if any(line.startswith(mark) for line in lines) else None

        return [line for line in wait_until(logged, "nothing is logged") if line[1] != "mark"]


def certificate(folder: Path, names: str = "DNS:localhost,IP:127.0.0.1") -> None:
    """certificate.pem and key.pem for these names, self-signed.

    rustls, used by obstore, rejects a server certificate that is also an authority's.
    """
    need("openssl")
    command: list[str | Path] = [
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        folder / "key.pem",
        "-out",
        folder / "certificate.pem",
    ]
    named = ["-days", "2", "-subj", "/CN=localhost", "-addext", f"subjectAltName={names}"]
    named += ["-addext", "basicConstraints=critical,CA:FALSE"]
    subprocess.run(["openssl", "req", "-x509", *command, *named], check=True, stderr=subprocess.DEVNULL)


def trusting(folder: Path) -> ssl.SSLContext:
    """For `Policy.tls`: trust only that certificate."""
    return ssl.create_default_context(cafile=str(folder / "certificate.pem"))


@contextmanager
def nginx(folder: Path) -> Iterator[Nginx]:
    """nginx for `folder`/root, which is given to nobody."""
    need("nginx")
    server = Nginx(free_port(), free_port(), folder)
    server.root.mkdir(exist_ok=True)
    (folder / "temporary").mkdir()
    certificate(folder)
    temporary = " ".join(f"{name}_temp_path {folder}/temporary;" for name in _TEMPORARY)
    text = _CONFIGURATION.format(folder=folder, temporary=temporary, port=server.port, tls_port=server.tls_port)
    (folder / "conf").write_text(text)
    (folder / "asked").touch()
    give_to_nobody(folder)
    with running([*DROP, "/usr/sbin/nginx", "-e", "stderr", "-c", folder / "conf"], server.port, folder / "log"):
        yield server


@contextmanager
def tinyproxy(folder: Path, login: str = "") -> Iterator[int]:
    """The port of a proxy that forwards and tunnels to any port. login: "user password", required if given."""
    need("tinyproxy")
    folder.mkdir()
    port = free_port()
    lines = [f"Port {port}", "Listen 127.0.0.1", "Timeout 10", f'LogFile "{folder}/asked"', "LogLevel Connect"]
    lines += [f"BasicAuth {login}"] if login else []
    (folder / "conf").write_text("\n".join([*lines, ""]))
    give_to_nobody(folder)
    with running([*DROP, "tinyproxy", "-d", "-c", folder / "conf"], port, folder / "log"):
        yield port


@contextmanager
def websocketd(folder: Path, script: str, *options: str) -> Iterator[int]:
    """The port of a server that runs `script` for each connection, one line per message."""
    need("websocketd")
    port = free_port()
    (folder / "script.sh").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "script.sh").chmod(0o755)
    give_to_nobody(folder)
    command: list[str | Path] = [
        *DROP,
        "websocketd",
        f"--port={port}",
        "--address=127.0.0.1",
        *options,
        folder / "script.sh",
    ]
    with running(command, port, folder / "log"):
        yield port
