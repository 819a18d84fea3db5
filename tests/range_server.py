"""A server of HTTP/1.1 that sends ranges of the files of a folder."""

from __future__ import annotations

import http.server
from pathlib import Path


class RangeHandler(http.server.BaseHTTPRequestHandler):
    """Ranges of the files of a folder (RFC 9110 14)."""

    protocol_version = "HTTP/1.1"

    def __init__(self, folder: Path, *args: object) -> None:
        self.folder = folder
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        data = (self.folder / self.path[1:]).read_bytes()
        start, _, end = self.headers["Range"].removeprefix("bytes=").partition("-")
        piece = data[int(start) : int(end) + 1]
        self.send_response(206)
        self.send_header("Content-Length", str(len(piece)))
        self.send_header("Content-Range", f"bytes {start}-{int(start) + len(piece) - 1}/{len(data)}")
        self.send_header("ETag", '"1"')
        self.end_headers()
        self.wfile.write(piece)

    def log_message(self, *args: object) -> None:
        pass
