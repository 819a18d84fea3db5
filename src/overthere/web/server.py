"""The explainer as an ASGI application: permanent links, JSON of each view, and what keeps it to itself.

Nothing is kept, logged or fetched.  Inputs are bounded in length, a request in octets, an answer in time.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from overthere.extras import brought_by
from overthere.web import pages
from overthere.web.guard import Guard
from overthere.web.model import TEXT, BadInput, View, as_data
from overthere.web.openapi import document
from overthere.web.views import VIEWS

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

T = TypeVar("T")

_BODY = 1 << 22
"""Octets of a request: what `DOCUMENT` characters can take as a form."""
_AT_ONCE = 4
"""Answers that are worked out at once; the others wait."""
_STATIC = {"style.css": "text/css", "typing.js": "text/javascript", "icon.svg": "image/svg+xml"}


class _Late(Exception):
    """An answer that took too long."""


def application(*, loopback: bool = True, seconds: float = 20) -> ASGIApp:
    """The explainer for an ASGI server.

    loopback: only requests that name this machine (`localhost`, 127.0.0.1, [::1]) are answered, so that no name of
    somebody else's leads here (DNS rebinding).
    seconds: how long an answer may take.

    Raises: ModuleNotFoundError without the extra `web`.
    """
    server = _Server(seconds)
    routes = [
        Route("/", server.start),
        Route("/openapi.json", server.openapi),
        Route("/static/{name}", server.static),
        Route("/favicon.ico", server.icon),
    ]
    for name in VIEWS:
        routes += [
            Route(f"/{name}", partial(server.page, name), methods=["GET", "POST"]),
            Route(f"/{name}.json", partial(server.data, name), methods=["GET", "POST"]),
            Route(f"/{name}.part", partial(server.part, name), methods=["POST"]),
        ]
    return Guard(Starlette(routes=routes, exception_handlers={HTTPException: _refused}), loopback=loopback)


class _Server:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._limiter: anyio.CapacityLimiter | None = None

    async def start(self, request: Request) -> Response:
        return _html(pages.start())

    async def openapi(self, request: Request) -> Response:
        return _json(document())

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404)
        return _file(name)

    async def icon(self, request: Request) -> Response:
        """What browsers ask for beside JSON."""
        return _file("icon.svg")

    async def page(self, name: str, request: Request) -> Response:
        """The page; a form leads to its permanent link, or to the page where the inputs are too long for one."""
        if _wants_json(request.headers.get("accept", "")):
            return await self.data(name, request)
        try:
            given = await _given(request)
        except BadInput as bad:
            return _html(pages.page(name, {}, error=bad)[0], _status(bad))
        if request.method == "POST" and (there := pages.link(name, given)) is not None:
            return RedirectResponse(there, 303)
        try:
            text, error = await self._worked(lambda: pages.page(name, given))
        except _Late:
            raise HTTPException(503, self._late) from None
        return _html(text, 200 if error is None else _status(error))

    @property
    def _late(self) -> str:
        return f"this takes more than {self.seconds:g} seconds"

    async def part(self, name: str, request: Request) -> Response:
        """The answer alone, for a page that is there; why there is none is an answer to it."""
        try:
            given = await _given(request)
            return _html(await self._worked(lambda: pages.answer(name, given)))
        except (BadInput, ModuleNotFoundError) as error:
            return _html(pages.failed(str(error)))
        except _Late:
            return _html(pages.failed(self._late))

    async def data(self, name: str, request: Request) -> Response:
        try:
            given = await _given(request)
            return _json(await self._worked(lambda: as_data(_view(name)(given))))
        except BadInput as error:
            return _json({"error": str(error)}, _status(error))
        except ModuleNotFoundError as error:
            return _json({"error": str(error)}, 501)
        except _Late:
            return _json({"error": self._late}, 503)

    async def _worked(self, work: Callable[[], T]) -> T:
        """In a thread: all is linear in inputs of bounded length, but the loop answers others meanwhile.

        Raises: _Late; HTTPException for a fault of ours, of which only the place is told.
        """
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(_AT_ONCE)
        try:
            with anyio.fail_after(self.seconds):
                return await run_sync(work, abandon_on_cancel=True, limiter=self._limiter)
        except TimeoutError:
            raise _Late from None
        except (BadInput, ModuleNotFoundError):
            raise
        except Exception as error:  # its words may hold what was typed
            place = traceback.extract_tb(error.__traceback__)[-1]
            print(f"overthere serve: {type(error).__name__} in {place.name}, line {place.lineno}", file=sys.stderr)
            raise HTTPException(500, "a fault of this library") from None


def _file(name: str) -> Response:
    content = files("overthere.web").joinpath("static", name).read_bytes()
    return Response(content, media_type=_STATIC[name], headers={"Cache-Control": "no-cache"})


def _view(name: str) -> View:
    return VIEWS[name]


def _status(error: BadInput) -> int:
    return 413 if error.too_long else 400


async def _given(request: Request) -> dict[str, str]:
    """The inputs, of the query or of a form.  Raises: BadInput."""
    if request.method != "POST":
        given = _parsed(request.scope["query_string"])
        for name, value in given.items():
            if len(value) > TEXT:
                said = (
                    f"{name[:40]} has {len(value):,} characters, and at most {TEXT:,} in a link; a POST may have more"
                )
                raise BadInput(said, too_long=True)
        return given
    if request.scope["query_string"]:
        raise BadInput("a POST has its inputs in its content, not in its query")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "inputs are sent as application/x-www-form-urlencoded")
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > _BODY:
            raise BadInput(f"the request has more than {_BODY:,} octets", too_long=True)
    return _parsed(bytes(content))


def _parsed(query: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=20)
    except UnicodeDecodeError:
        raise BadInput("the inputs are not UTF-8, percent-encoded") from None
    except ValueError:
        raise BadInput("there are more than 20 inputs") from None
    given: dict[str, str] = {}
    for name, value in pairs:
        if name in given:
            raise BadInput(f"{name[:40]} is there twice")
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


def _html(text: str, status: int = 200) -> Response:
    return Response(text.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8")


def _json(data: Any, status: int = 200) -> Response:
    return Response(json.dumps(data, indent=1), status, media_type="application/json")


async def _refused(request: Request, error: Exception) -> Response:
    """What is no answer, in the form that was asked for."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if request.url.path.endswith(".json") or _wants_json(request.headers.get("accept", "")):
        made = _json({"error": error.detail}, error.status_code)
    else:
        made = _html(pages.refused(error.status_code, error.detail), error.status_code)
    made.headers.update(headers)
    return made
