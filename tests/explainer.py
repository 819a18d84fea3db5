"""The explainer on a port of loopback, in a thread of the tests; and a browser that looks at it."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode

from overthere.web.answers import Form
from overthere.web.answers import answer as usual
from overthere.web.limits import Limits
from overthere.web.serving import Server, server

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8")

    @property
    def data(self) -> Any:
        return json.loads(self.content)


class Explainer(NamedTuple):
    port: int
    server: Server | None = None

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
        """One request; `accept_language` is the field Accept-Language."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def form(self, path: str, fields: Mapping[str, str], **headers: str) -> Answer:
        return self.ask(path, "POST", urlencode(fields).encode(), content_type=FORM["Content-Type"], **headers)

    def data(self, name: str, **fields: str) -> Any:
        answer = self.ask(f"/{name}.json?{urlencode(fields)}")
        assert answer.status == 200, answer.text
        return answer.data


@contextmanager
def explainer(*, loopback: bool = True, limits: Limits | None = None, work: Form = usual) -> Iterator[Explainer]:
    listening = socket.create_server(("127.0.0.1", 0))
    running = server(loopback=loopback, limits=limits, work=work)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Explainer(listening.getsockname()[1], running)
    finally:
        running.should_exit = True
        thread.join(60)
        listening.close()
        assert not thread.is_alive()
