"""The explainer as an ASGI application: permanent links, and JSON of each view.

It stores, logs and fetches nothing.  The length of inputs, the size of a request and the time of an answer are limited:
views run in worker processes (`workers`), so that a slow one does not stop the others.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl

from overthere.ground.extras import brought_by
from overthere.ground.figure import shorten
from overthere.ground.redact import mask
from overthere.web import pages
from overthere.web.answers import Answer, Fault, as_json, status_of
from overthere.web.guard import Guard
from overthere.web.limits import Limits
from overthere.web.model import TEXT, BadInput
from overthere.web.openapi import document
from overthere.web.views import VIEWS
from overthere.web.workers import PoolClosed, TooSlow, Workers

with brought_by("web"):
    import anyio
    from anyio.to_thread import run_sync
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import RedirectResponse, Response
    from starlette.routing import Route
    from starlette.types import ASGIApp

_BODY = 1 << 22
"""Maximum octets of a request: `DOCUMENT` characters as a form."""
_STATIC = {"style.css": "text/css", "typing.js": "text/javascript", "icon.svg": "image/svg+xml"}


def application(*, loopback: bool = True, limits: Limits | None = None, workers: Workers | None = None) -> ASGIApp:
    """Return the explainer for an ASGI server.

    loopback: only requests that name this machine (`localhost`, 127.0.0.1, [::1]) are answered, so that no foreign
    name can lead here (DNS rebinding).
    limits: the time for an answer, and the number of answers that are computed at once.
    workers: processes that compute answers; the server ends them when it ends (ASGI, lifespan).

    Raises: ModuleNotFoundError without the extra `web`.
    """
    limits = limits or Limits()
    workers = workers or Workers(limits.view)
    server = _Server(limits, workers)
    routes = [
        Route("/", server.start), Route("/openapi.json", server.openapi), Route("/static/{name}", server.static),
        Route("/favicon.ico", server.icon),
    ]  # fmt: skip
    for name in VIEWS:
        routes += [
            Route(f"/{name}", partial(server.page, name), methods=["GET", "POST"]),
            Route(f"/{name}.json", partial(server.data, name), methods=["GET", "POST"]),
            Route(f"/{name}.part", partial(server.part, name), methods=["POST"]),
        ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            workers.close()

    inner = Starlette(routes=routes, exception_handlers={HTTPException: _refusal_response}, lifespan=lifespan)
    return Guard(inner, loopback=loopback)


class _Server:
    def __init__(self, limits: Limits, workers: Workers) -> None:
        self.limits = limits
        self.workers = workers
        self._free: anyio.Semaphore | None = None
        self._threads: anyio.CapacityLimiter | None = None

    async def start(self, request: Request) -> Response:
        return _html(Answer(200, pages.start()))

    async def openapi(self, request: Request) -> Response:
        return _json(document())

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404)
        return _file(name)

    async def icon(self, request: Request) -> Response:
        """Return the icon, which browsers request for JSON."""
        return _file("icon.svg")

    async def page(self, name: str, request: Request) -> Response:
        """Return the page; a form redirects to its permanent link, unless the inputs are too long or hold a secret."""
        if _wants_json(request.headers.get("accept", "")):
            return await self.data(name, request)
        try:
            inputs = await _inputs_of(request)
        except BadInput as bad:
            return _html(Answer(status_of(bad), pages.page(name, {}, error=bad)[0]))
        location = pages.link(name, inputs) if request.method == "POST" else None
        if location is not None and not pages.has_secret(inputs):  # in short texts only
            return RedirectResponse(location, 303)
        return _html(await self._answer("page", name, inputs))

    async def part(self, name: str, request: Request) -> Response:
        """Return the answer alone, for the script of the page; an error is an answer too."""
        try:
            inputs = await _inputs_of(request)
        except BadInput as error:
            return _html(Answer(200, pages.failure_fragment(str(error))))
        try:
            return _html(await self._answer("part", name, inputs))
        except HTTPException as error:
            if error.status_code != 503:
                raise
            return _html(Answer(200, pages.failure_fragment(error.detail)))

    async def data(self, name: str, request: Request) -> Response:
        try:
            inputs = await _inputs_of(request)
        except BadInput as error:
            return _json({"error": str(error)}, status_of(error))
        return _json_text(await self._answer("data", name, inputs))

    async def _answer(self, form: str, name: str, inputs: dict[str, str]) -> Answer:
        """Return the answer of a worker process, awaited in a thread.

        Raises: HTTPException: 503 if it takes too long or all workers are busy, 500 for a bug of this library.
        """
        if self._free is None or self._threads is None:
            self._free = anyio.Semaphore(self.limits.workers)
            self._threads = anyio.CapacityLimiter(self.limits.workers)
        try:
            with anyio.fail_after(self.limits.view):
                await self._free.acquire()
        except TimeoutError:
            raise HTTPException(503, "too many requests; try again later") from None
        try:
            return await run_sync(self.workers.answer, form, name, inputs, limiter=self._threads)
        except TooSlow:
            raise HTTPException(503, f"this takes more than {self.workers.seconds:g} seconds") from None
        except PoolClosed:
            raise HTTPException(503, "the server is shutting down") from None
        except Fault as fault:
            print(f"overthere serve: {fault}", file=sys.stderr)
            raise HTTPException(500, "a bug of this library") from None
        finally:
            self._free.release()


def _file(name: str) -> Response:
    content = files("overthere.web").joinpath("static", name).read_bytes()
    return Response(content, media_type=_STATIC[name], headers={"Cache-Control": "no-cache"})


async def _inputs_of(request: Request) -> dict[str, str]:
    """Return the inputs of the query or of a form.  Raises: BadInput."""
    if request.method != "POST":
        inputs = _parse_query(request.scope["query_string"])
        for name, value in inputs.items():
            if len(value) > TEXT:
                allowed = f"at most {TEXT:,} in a link; a POST may have more"
                raise BadInput(f"{shorten(mask(name), 40)} has {len(value):,} characters, and {allowed}", too_long=True)
        return inputs
    if request.scope["query_string"]:
        raise BadInput("a POST must have its inputs in its content, not in its query")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "inputs must be sent as application/x-www-form-urlencoded")
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > _BODY:
            raise BadInput(f"the request has more than {_BODY:,} octets", too_long=True)
    return _parse_query(bytes(content))


def _parse_query(query: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=20)
    except UnicodeDecodeError:
        raise BadInput("the inputs are not UTF-8, percent-encoded") from None
    except ValueError:
        raise BadInput("there are more than 20 inputs") from None
    inputs: dict[str, str] = {}
    for name, value in pairs:
        if name in inputs:
            raise BadInput(f"{shorten(mask(name), 40)} is given twice")
        inputs[name] = value
    return inputs


def _wants_json(accept: str) -> bool:
    """Whether the client prefers JSON to HTML (RFC 9110 12.5.1)."""
    quality: dict[str, float] = {}
    for media_range in accept[:1000].split(","):
        media_type, *parameters = (part.strip().lower() for part in media_range.split(";"))
        weight = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        try:
            quality[media_type] = float(weight)
        except ValueError:
            quality[media_type] = 0
    json_quality = quality.get("application/json", quality.get("application/*", 0))
    return json_quality > 0 and json_quality > quality.get("text/html", quality.get("text/*", 0))


def _html(answer: Answer) -> Response:
    return Response(answer.text.encode("utf-8", "replace"), answer.status, media_type="text/html; charset=utf-8")


def _json_text(answer: Answer) -> Response:
    return Response(answer.text, answer.status, media_type="application/json")


def _json(data: Any, status: int = 200) -> Response:
    return _json_text(Answer(status, as_json(data)))


async def _refusal_response(request: Request, error: Exception) -> Response:
    """Return the response to an HTTP error, as JSON or HTML."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if request.url.path.endswith(".json") or _wants_json(request.headers.get("accept", "")):
        response = _json({"error": error.detail}, error.status_code)
    else:
        response = _html(Answer(error.status_code, pages.refusal_page(error.status_code, error.detail)))
    response.headers.update(headers)
    return response
