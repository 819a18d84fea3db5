"""Options of `overthere broken` for requests: how many at once, how often, with which cache."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from overthere.access.policy import Policy
from overthere.broken.default_policy import PATIENT
from overthere.broken.model import Checker
from overthere.cli.policies import policy_of, policy_options

__all__ = ["duration", "policy_for", "request_options", "settings"]

F = TypeVar("F", bound=Callable[..., Any])
_OWN = Checker()
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}

_OPTIONS = (
    click.option("--online", is_flag=True, help="Also check external URIs, each with one request."),
    click.option(
        "--private", is_flag=True,
        help="Also allow addresses that are not public, such as localhost.",
    ),
    click.option("--jobs", type=click.IntRange(1), default=_OWN.jobs, show_default=True, help="Requests in parallel."),
    click.option(
        "--per-host", type=click.IntRange(1), default=_OWN.per_host, show_default=True,
        help="Parallel requests to one host.",
    ),
    click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="N", help="Requests per second to a host."),
    click.option(
        "--header", "headers", multiple=True, metavar="ORIGIN:NAME:VALUE",
        help="Header field for requests to one origin (repeatable), such as a token; never sent to another origin, "
        "even after a redirect. Write the origin as https://api.example:8443; a host alone means https://HOST.",
    ),
    click.option("--agent", metavar="TEXT", help="The field User-Agent."),
    click.option(
        "--cookies", type=click.Path(dir_okay=False, exists=True), metavar="FILE",
        help="Cookies of a login (Netscape format), each for the hosts of its domain.",
    ),
    click.option(
        "--cache", type=click.Path(dir_okay=False), metavar="FILE",
        help="Cache of answers (SQLite), so that they are not requested again: for a week if found, a day if not "
        "found, an hour if unreachable.",
    ),
    click.option(
        "--max-age", "ages", multiple=True, metavar="KIND=AGE",
        help="Lifetime in the cache for a kind of finding, or for ok: 30m, 12h, 7d (repeatable).",
    ),
    click.option("--resume", is_flag=True, help="With --cache: continue a stopped run."),
    click.option(
        "--pages", type=click.IntRange(1), default=_OWN.pages, show_default=True,
        help="When crawling a site, request at most this many URIs.",
    ),
    click.option(
        "--crawl-time", metavar="AGE", default="6h", show_default=True,
        help="Time limit of a crawl, such as 30m; URIs left over are counted.",
    ),
)  # fmt: skip


def request_options(function: F) -> F:
    """The options of requests and of the policy."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return policy_options(function, PATIENT)


def duration(text: str) -> float:
    """Seconds of a text such as "90", "30m", "12h", "7d" or "2w".  Raises: ValueError.

    >>> duration("12h"), duration("90")
    (43200.0, 90.0)
    """
    unit = _UNITS.get(text[-1:], 1.0)
    seconds = float(text[:-1] if text[-1:] in _UNITS else text) * unit
    if not 0 <= seconds < math.inf:
        raise ValueError(f"{text!r} is not a duration")
    return seconds


def settings(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The options as fields of `Checker`.  Raises: click.UsageError."""
    if asked["resume"] and asked["cache"] is None:
        raise click.UsageError("--resume needs --cache, whose answers it continues from")
    headers = [_header(text) for text in asked["headers"]]
    ages = []
    for text in asked["ages"]:
        kind, _, age = text.partition("=")
        try:
            ages.append((kind, duration(age)))
        except ValueError:
            raise click.UsageError(f"--max-age {text}: must be like not-found=12h") from None
    try:
        crawl_time = duration(asked["crawl_time"])
    except ValueError:
        raise click.UsageError(f"--crawl-time {asked['crawl_time']}: must be like 90s, 30m or 6h") from None
    names = ("online", "jobs", "per_host", "rate", "agent", "cookies", "cache", "resume", "pages")
    return {
        **{name: asked[name] for name in names}, "headers": tuple(headers), "max_age": tuple(ages),
        "crawl_time": crawl_time,
    }  # fmt: skip


# A port has a name behind it; a name is a token (RFC 9110 5.6.2).
_HEADER = re.compile(
    r"((?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:\[[^\]]*\]|[^:/]*)(?::[0-9]+(?=:[^:/]+:))?/?)"
    r":([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)",
    re.DOTALL,
)


def _header(text: str) -> tuple[str, str, str]:
    """An origin, a name and a value.  Raises: click.UsageError, which does not show the value."""
    from overthere.broken.requests import origin_of

    match = _HEADER.fullmatch(text)
    if match is None:
        raise click.UsageError("--header: separate origin, name and value with colons, as in h.example:X-Name:value")
    try:
        origin_of(match[1])
    except ValueError as error:
        raise click.UsageError(f"--header: {error}") from None
    return match[1], match[2], match[3]


def policy_for(asked: Mapping[str, Any]) -> Policy:
    """The policy of requests: the safe one, unless more is allowed."""
    chosen = policy_of(asked, PATIENT)
    return chosen.with_(private=True) if asked["private"] else chosen
