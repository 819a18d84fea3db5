"""The explainer as an ASGI application: permanent links, and JSON of each view.

Nothing is kept, logged or fetched.  Inputs are bounded in length, a request in octets, an answer in time: views run in
worker processes (`workers`), so that a heavy one stops no other.
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

__all__ = ["application"]

_BODY = 1 << 22
"""Octets of a request: what `DOCUMENT` characters can take as a form."""
_STATIC = {"style.css": "text/css", "typing.js": "text/javascript", "icon.svg": "image/svg+xml"}


def application(*, loopback: bool = True, limits: Limits | None = None, workers: Workers | None = None) -> ASGIApp:
    """The explainer for an ASGI server.

    loopback: only requests that name this machine (`localhost`, 127.0.0.1, [::1]) are answered, so that no name of
    somebody else's leads here (DNS rebinding).
    limits: how long an answer may take, and how many are worked out at once.
    workers: what works them out; the server ends them as it ends (ASGI, lifespan).

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
        """The icon that browsers request next to JSON."""
        return _file("icon.svg")

    async def page(self, name: str, request: Request) -> Response:
        """The page; a form redirects to its permanent link, unless the inputs are too long for one or hold a secret."""
        if _wants_json(request.headers.get("accept", "")):
            return await self.data(name, request)
        try:
            given = await _inputs_of(request)
        except BadInput as bad:
            return _html(Answer(status_of(bad), pages.page(name, {}, error=bad)[0]))
        there = None if request.method != "POST" or pages.has_secret(given) else pages.link(name, given)
        if there is not None:
            return RedirectResponse(there, 303)
        return _html(await self._answer("page", name, given))

    async def part(self, name: str, request: Request) -> Response:
        """The answer alone, for the script of the page; an error is an answer too."""
        try:
            given = await _inputs_of(request)
        except BadInput as error:
            return _html(Answer(200, pages.failure_fragment(str(error))))
        try:
            return _html(await self._answer("part", name, given))
        except HTTPException as error:
            if error.status_code != 503:
                raise
            return _html(Answer(200, pages.failure_fragment(error.detail)))

    async def data(self, name: str, request: Request) -> Response:
        try:
            given = await _inputs_of(request)
        except BadInput as error:
            return _json({"error": str(error)}, status_of(error))
        return _json_text(await self._answer("data", name, given))

    async def _answer(self, form: str, name: str, given: dict[str, str]) -> Answer:
        """The answer of a worker process, awaited in a thread.

        Raises: HTTPException: 503 if it takes too long or all workers are busy, 500 for a fault of ours.
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
            return await run_sync(self.workers.answer, form, name, given, limiter=self._threads)
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
    """The inputs, of the query or of a form.  Raises: BadInput."""
    if request.method != "POST":
        given = _parse_query(request.scope["query_string"])
        for name, value in given.items():
            if len(value) > TEXT:
                said = (
                    f"{name[:40]} has {len(value):,} characters, and at most {TEXT:,} in a link; a POST may have more"
                )
                raise BadInput(said, too_long=True)
        return given
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
    given: dict[str, str] = {}
    for name, value in pairs:
        if name in given:
            raise BadInput(f"{name[:40]} is given twice")
        given[name] = value
    return given


def _wants_json(accept: str) -> bool:
    """Whether JSON is preferred to HTML (RFC 9110 12.5.1)."""
    quality: dict[str, float] = {}
    for one in accept[:1000].split(","):
        media, *parameters = (part.strip().lower() for part in one.split(";"))
        weight = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        try:
            quality[media] = float(weight)
        except ValueError:
            quality[media] = 0
    wanted = quality.get("application/json", quality.get("application/*", 0))
    return wanted > 0 and wanted > quality.get("text/html", quality.get("text/*", 0))


def _html(answer: Answer) -> Response:
    return Response(answer.text.encode("utf-8", "replace"), answer.status, media_type="text/html; charset=utf-8")


def _json_text(answer: Answer) -> Response:
    return Response(answer.text, answer.status, media_type="application/json")


def _json(data: Any, status: int = 200) -> Response:
    return _json_text(Answer(status, as_json(data)))


async def _refusal_response(request: Request, error: Exception) -> Response:
    """The response to an HTTP error, as JSON or HTML."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if request.url.path.endswith(".json") or _wants_json(request.headers.get("accept", "")):
        made = _json({"error": error.detail}, error.status_code)
    else:
        made = _html(Answer(error.status_code, pages.refusal_page(error.status_code, error.detail)))
    made.headers.update(headers)
    return made
