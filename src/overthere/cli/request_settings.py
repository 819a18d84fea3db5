"""Options of `overthere broken` for requests: how many at once, how often, with which cache."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import click

from overthere.access.policy import Policy
from overthere.broken.default_policy import GITHUB_API, PATIENT, WAYBACK
from overthere.broken.model import Checker
from overthere.cli.common import base_uri
from overthere.cli.numbers import JOBS, LONGEST_TIME, RATE, Count
from overthere.cli.policies import policy_of, policy_options
from overthere.ground.display import printable, shorten
from overthere.ground.redact import mask

F = TypeVar("F", bound=Callable[..., Any])
_DEFAULTS = Checker()
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}

_OPTIONS = (
    click.option("--online", is_flag=True, help="Also check external URIs, each with one request."),
    click.option("--external-only", is_flag=True, help="With --online: report only findings on external URIs."),
    click.option(
        "--remap", multiple=True, metavar='"FROM TO"',
        help="Look up URIs that begin with FROM as if they began with TO (repeatable).",
    ),
    click.option(
        "--allow-redirect", "allowed_redirects", multiple=True, metavar='"FROM TO"',
        help="Permanent redirects that are fine, as globs; * is any text (repeatable).",
    ),
    click.option(
        "--github-token", metavar="TOKEN", envvar="GITHUB_TOKEN", show_envvar=True,
        help="Ask GitHub's API about repositories whose request failed, such as private ones.",
    ),
    click.option(
        "--github-api", metavar="URI", envvar="GITHUB_API_URL", show_envvar=True, help="Another URI of that API."
    ),
    click.option(
        "--wayback", is_flag=True,
        help="Ask the Wayback Machine of archive.org for copies of missing pages; it learns their URIs.",
    ),
    click.option(
        "--private", is_flag=True,
        help="Also allow addresses that are not public, such as localhost.",
    ),
    click.option("--jobs", type=JOBS, default=_DEFAULTS.jobs, show_default=True, help="Requests in parallel."),
    click.option(
        "--per-host", type=JOBS, default=_DEFAULTS.per_host, show_default=True,
        help="Parallel requests to one host.",
    ),
    click.option("--rate", type=RATE, metavar="N", help="Requests per second to a host."),
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
        "--pages", type=Count(1_000_000_000), default=_DEFAULTS.pages, show_default=True,
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
    if not 0 <= seconds <= LONGEST_TIME:
        raise ValueError(f"{text!r} is not a duration")
    return seconds


def settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as fields of `Checker`.  Raises: click.UsageError."""
    if options["resume"] and options["cache"] is None:
        raise click.UsageError("--resume needs --cache, whose answers it continues from")
    for name in ("external_only", "wayback"):
        if options[name] and not options["online"]:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --online")
    headers = [_header(text) for text in options["headers"]]
    ages = []
    for text in options["ages"]:
        kind, _, age = text.partition("=")
        try:
            ages.append((kind, duration(age)))
        except ValueError:
            raise click.UsageError(f"--max-age {printable(shorten(text, 80))}: must be like not-found=12h") from None
    try:
        crawl_time = duration(options["crawl_time"])
    except ValueError:
        raise click.UsageError(
            f"--crawl-time {printable(shorten(options['crawl_time'], 80))}: must be like 90s, 30m or 6h"
        ) from None
    github = None
    if options["github_token"]:
        github = options["github_token"], str(base_uri(options["github_api"] or GITHUB_API))
    names = ("online", "external_only", "jobs", "per_host", "rate", "agent", "cookies", "cache", "resume", "pages")
    return {
        **{name: options[name] for name in names}, "headers": tuple(headers), "max_age": tuple(ages),
        "crawl_time": crawl_time, "hosts": options.get("hosts", ()), "github": github,
        "wayback": WAYBACK if options["wayback"] else None,
        "remap": tuple((str(base_uri(a)), str(base_uri(b))) for a, b in _pairs("remap", options["remap"])),
        "allowed_redirects": tuple(_pairs("allow-redirect", options["allowed_redirects"])),
    }  # fmt: skip


def statuses(texts: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """Ranges of statuses.  Raises: click.UsageError.

    >>> statuses(("403,429", "200..299"))
    ((403, 403), (429, 429), (200, 299))
    """
    ranges = []
    for text in filter(None, ",".join(texts).split(",")):
        match = re.fullmatch(r"\s*([1-9][0-9]{2})(?:\.\.([1-9][0-9]{2})?)?\s*", text, re.ASCII)
        if match is None:
            raise click.UsageError(f"--accept {printable(shorten(mask(text), 80))}: must be like 403 or 200..299")
        ranges.append((int(match[1]), int(match[2] or match[1])))
    return tuple(ranges)


def _pairs(name: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of an option's texts.  Raises: click.UsageError."""
    for text in texts:
        start, *targets = text.split() or [""]
        if len(targets) != 1:
            raise click.UsageError(
                f"--{name} {printable(shorten(mask(text), 80))}: must be two URIs with a blank between them"
            )
        yield start, targets[0]


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


def policy_for(options: Mapping[str, Any]) -> Policy:
    """The policy of requests: the safe one, unless more is allowed."""
    chosen = policy_of(options, PATIENT)
    return chosen.with_(private=True) if options["private"] else chosen
