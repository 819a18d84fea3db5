"""Questions to web services about URIs whose request failed: GitHub's API, and a web archive."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from overthere.broken.loop import Loop, Work
from overthere.broken.model import Outcome
from overthere.broken.replies import Reply
from overthere.broken.requests import Requester
from overthere.ground.errors import OverthereError
from overthere.ground.option_files import read_json
from overthere.ground.redact import secret_spans
from overthere.schemes.known.http import HTTPS
from overthere.schemes.known.http import SCHEME as HTTP
from overthere.values.uri import URI

__all__ = ["ask_archive", "ask_github"]

_JSON = re.compile(r"(?i)application/json|text/json|application/[^;]{0,80}\+json")
_REPOSITORY = re.compile(r"https?://(?:www\.)?github\.com/([A-Za-z0-9-]++)/([A-Za-z0-9._-]++)/?", re.IGNORECASE)
_THERE = (None, "moved-permanently", "bad-location", "no-fragment")
_LOST = ("not-found", "gone", "dns")
"""Kinds of outcome of which a copy in an archive is looked for."""
_TOGETHER = 2
"""Requests at once: such services limit them."""


def ask_github(outcomes: Iterable[Outcome], api: str, asking: Requester) -> Iterator[Outcome]:
    """What the API says of repositories of github.com whose own request failed; of others nothing.

    A repository that is there has the kind None; if the API does not find it, it is "not-found".  The token of private
    repositories is a header field of `asking` for the API's origin.
    """
    wanted: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        match = _REPOSITORY.fullmatch(outcome.uri.partition("?")[0])
        if match is not None and outcome.kind not in _THERE:
            asked = f"{api.rstrip('/')}/repos/{match[1]}/{match[2].removesuffix('.git')}"
            wanted.setdefault(asked, []).append(outcome)
    for uri, (said, _) in _ask(wanted, asking):
        for outcome in wanted[uri]:
            if said.status == 404:
                yield outcome._replace(kind="not-found", status=404, why="404 Not Found")
            elif said.status is not None and said.status < 400:  # 301: it has another name, to which GitHub redirects
                yield outcome._replace(kind=None, status=said.status, why="")


def ask_archive(outcomes: Iterable[Outcome], api: str, asking: Requester) -> Iterator[Outcome]:
    """Outcomes of pages that are lost, with the URI of the newest copy that the archive has; of others nothing.

    A URI with a secret (a password, a signature) is not told to the archive.
    """
    wanted = {
        f"{api}?url={quote(outcome.uri, safe='')}": outcome
        for outcome in outcomes
        if outcome.kind in _LOST and _is_web(outcome.uri) and not secret_spans(outcome.uri)
    }
    for uri, (_, content) in _ask(wanted, asking):
        if (copy := _copy(content)) is not None:
            yield wanted[uri]._replace(archived=copy)


_LONGEST = 8192
"""Characters of the URI of a copy."""


def _copy(content: bytes) -> str | None:
    """The URI in an answer of the archive; None if there is no copy, or the answer is another."""
    try:
        found = read_json(content)
        for name in ("archived_snapshots", "closest"):
            found = found.get(name)
        uri = URI(found["url"]) if found["available"] is True else None
    except (ValueError, AttributeError, TypeError, KeyError, OverthereError):
        return None
    if uri is None or not _is_web(str(uri)) or not uri.host or uri.userinfo is not None or len(str(uri)) > _LONGEST:
        return None
    return str(uri.replace(scheme="https") if uri.port is None else uri)


def _is_web(uri: str) -> bool:
    return uri.partition(":")[0].lower() in (HTTP.name, HTTPS.name)


def _ask(uris: Iterable[str], asking: Requester) -> Iterator[tuple[str, tuple[Reply, bytes]]]:
    """Replies and contents, as they come."""
    loop = Loop()
    answers: dict[str, tuple[Reply, bytes]] = {}

    def ask(uri: str) -> Work[None]:
        said, content, cut = yield from asking.ask(uri, wanted=True, kinds=_JSON)
        answers[uri] = said, b"" if content is None or cut else content

    waiting = iter(uris)
    try:
        while True:
            while len(loop) < _TOGETHER and (uri := next(waiting, None)) is not None:
                loop.add(ask(uri))
            if not len(loop):
                break
            loop.run_once(None)
            while answers:
                yield answers.popitem()
    finally:
        loop.close()
    yield from answers.items()
