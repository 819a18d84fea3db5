"""The options by which `overthere broken` asks for what lies outside: how many at once, how often, what is kept."""

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
    click.option("--online", is_flag=True, help="Ask for what lies outside of the sources, each URI once."),
    click.option(
        "--private", is_flag=True, help="Ask addresses that are not public too, as localhost; else they are refused."
    ),
    click.option("--jobs", type=click.IntRange(1), default=_OWN.jobs, show_default=True, help="Asked at once."),
    click.option(
        "--per-host", type=click.IntRange(1), default=_OWN.per_host, show_default=True, help="Of them, of one host."
    ),
    click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="N", help="Requests a second of one host."),
    click.option(
        "--header", "headers", multiple=True, metavar="ORIGIN:NAME:VALUE",
        help="A field for requests to that origin (repeatable), as a token; nobody else is told, on a redirect either. "
        "An origin is written as https://api.example:8443; a host alone is https://HOST.",
    ),
    click.option("--agent", metavar="TEXT", help="The field User-Agent."),
    click.option(
        "--cache", type=click.Path(dir_okay=False), metavar="FILE",
        help="Keep there what asking has shown (SQLite), so that it is not asked again: a week what is there, a day "
        "what is not, an hour what could not be reached.",
    ),
    click.option(
        "--max-age", "ages", multiple=True, metavar="KIND=AGE",
        help="How long that holds for a kind of finding, or for ok: 30m, 12h, 7d (repeatable).",
    ),
    click.option("--resume", is_flag=True, help="With --cache: go on where a run was stopped."),
    click.option(
        "--pages", type=click.IntRange(1), default=_OWN.pages, show_default=True,
        help="Of a site that is crawled, at most so many URIs.",
    ),
    click.option(
        "--crawl-time", metavar="AGE", default="6h", show_default=True,
        help="How long a site is crawled at most, as 30m; what is left then is counted.",
    ),
)  # fmt: skip


def request_options(function: F) -> F:
    """The options of asking, and those of the policy for each URI."""
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
        raise ValueError(f"{text!r} is no time")
    return seconds


def settings(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What the options say, as fields of `Checker`.  Raises: click.UsageError."""
    if asked["resume"] and asked["cache"] is None:
        raise click.UsageError("--resume is for --cache: it goes on with what was kept there")
    headers = [_header(text) for text in asked["headers"]]
    ages = []
    for text in asked["ages"]:
        kind, _, age = text.partition("=")
        try:
            ages.append((kind, duration(age)))
        except ValueError:
            raise click.UsageError(f"--max-age {text}: as in not-found=12h") from None
    try:
        crawl_time = duration(asked["crawl_time"])
    except ValueError:
        raise click.UsageError(f"--crawl-time {asked['crawl_time']}: as in 90s, 30m or 6h") from None
    names = ("online", "jobs", "per_host", "rate", "agent", "cache", "resume", "pages")
    return {
        **{name: asked[name] for name in names},
        "headers": tuple(headers),
        "max_age": tuple(ages),
        "crawl_time": crawl_time,
    }


# A port has a name behind it; a name is a token (RFC 9110 5.6.2).
_HEADER = re.compile(
    r"((?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:\[[^\]]*\]|[^:/]*)(?::[0-9]+(?=:[^:/]+:))?/?)"
    r":([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)",
    re.DOTALL,
)


def _header(text: str) -> tuple[str, str, str]:
    """An origin, a name and a value.  Raises: click.UsageError, which says nothing of the value."""
    from overthere.broken.requests import origin_of

    match = _HEADER.fullmatch(text)
    if match is None:
        raise click.UsageError(
            "--header: an origin, a name and a value are divided by colons, as h.example:X-Name:value"
        )
    try:
        origin_of(match[1])
    except ValueError as error:
        raise click.UsageError(f"--header: {error}") from None
    return match[1], match[2], match[3]


def policy_for(asked: Mapping[str, Any]) -> Policy:
    """The policy of requests: the safe one, unless more is allowed."""
    chosen = policy_of(asked, PATIENT)
    return chosen.with_(private=True) if asked["private"] else chosen
