"""Queries to web services about URIs whose request failed: GitHub's API, and a web archive."""

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

_JSON = re.compile(r"(?i)application/json|text/json|application/[^;]{0,80}\+json")
_REPOSITORY = re.compile(
    r"https?://(?:www\.)?github\.com/(?!(?:about|apps|collections|customer-stories|enterprise|features|login|marketplace"
    r"|orgs|organizations|pulls|readme|resources|search|security|settings|site|solutions|sponsors|stars|team|topics"
    r"|trending|user-attachments|users)/)([A-Za-z0-9-]++)/([A-Za-z0-9._-]++)/?",
    re.IGNORECASE,
)
"""The URI of a repository: pages of GitHub itself have names that no user can have."""
_EXISTING = (None, "moved-permanently", "bad-location", "no-fragment")
_ARCHIVABLE = ("not-found", "gone", "dns")
"""Kinds of outcomes for which a copy in an archive is searched."""
_MAX_PARALLEL = 2
"""Maximum number of parallel requests: such services limit them."""


def ask_github(outcomes: Iterable[Outcome], api: str, asking: Requester) -> Iterator[Outcome]:
    """Yield new outcomes from the API for repositories of github.com whose request failed; nothing for other URIs.

    An existing repository has the kind None; if the API does not find it, it is "not-found".  The token for private
    repositories is a header field of `asking` for the API's origin.
    """
    by_query: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        match = _REPOSITORY.fullmatch(outcome.uri.partition("?")[0])
        if match is not None and outcome.kind not in _EXISTING:
            query = f"{api.rstrip('/')}/repos/{match[1]}/{match[2].removesuffix('.git')}"
            by_query.setdefault(query, []).append(outcome)
    for uri, (reply, _) in _ask(by_query, asking):
        for outcome in by_query[uri]:
            if reply.status == 404:
                yield outcome._replace(kind="not-found", status=404, why="404 Not Found")
            elif reply.status is not None and reply.status < 400:  # 301: it was renamed, and GitHub redirects
                yield outcome._replace(kind=None, status=reply.status, why="")


def ask_archive(outcomes: Iterable[Outcome], api: str, asking: Requester) -> Iterator[Outcome]:
    """Yield outcomes of lost pages with the URI of the newest copy in the archive; nothing for other URIs.

    A URI with a secret (a password, a signature) is not sent to the archive.
    """
    by_query = {
        f"{api}?url={quote(outcome.uri, safe='')}": outcome
        for outcome in outcomes
        if outcome.kind in _ARCHIVABLE and _is_web(outcome.uri) and not secret_spans(outcome.uri)
    }
    for uri, (_, content) in _ask(by_query, asking):
        if (copy := _copy(content)) is not None:
            yield by_query[uri]._replace(archived=copy)


_MAX_URI = 8192
"""Maximum length of the URI of a copy, in characters."""


def _copy(content: bytes) -> str | None:
    """The URI of the copy in an answer of the archive; None if there is no copy, or the answer is malformed."""
    try:
        answer = read_json(content)
        for name in ("archived_snapshots", "closest"):
            answer = answer.get(name)
        uri = URI(answer["url"]) if answer["available"] is True else None
    except (ValueError, AttributeError, TypeError, KeyError, OverthereError):
        return None
    if uri is None or not _is_web(str(uri)) or not uri.host or uri.userinfo is not None or len(str(uri)) > _MAX_URI:
        return None
    return str(uri.replace(scheme="https") if uri.port is None else uri)


def _is_web(uri: str) -> bool:
    return uri.partition(":")[0].lower() in (HTTP.name, HTTPS.name)


def _ask(uris: Iterable[str], asking: Requester) -> Iterator[tuple[str, tuple[Reply, bytes]]]:
    """Yield replies and contents as they arrive."""
    loop = Loop()
    answers: dict[str, tuple[Reply, bytes]] = {}

    def ask(uri: str) -> Work[None]:
        reply, content, is_truncated = yield from asking.ask(uri, wants_content=True, kinds=_JSON)
        answers[uri] = reply, b"" if content is None or is_truncated else content

    waiting = iter(uris)
    try:
        while True:
            while len(loop) < _MAX_PARALLEL and (uri := next(waiting, None)) is not None:
                loop.add(ask(uri))
            if not len(loop):
                break
            loop.run_once(None)
            while answers:
                yield answers.popitem()
    finally:
        loop.close()
    yield from answers.items()
