"""Shared by the guards of HTTP clients: a request is judged by its text, and by the request line of the client.

A guard checks the policy twice: before a request, and for the addresses that the client connects to.  So no other
reader of the URI and no second look-up of the name can lead elsewhere (RFC 3986 7.4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from overthere.access.errors import AccessRefused
from overthere.access.judgment import Judged
from overthere.access.policy import Policy
from overthere.ground.errors import InvalidURI, NotSpecified, PlanRefused
from overthere.schemes import scheme
from overthere.values.hosts.address import resolvable
from overthere.values.uri import URI

if TYPE_CHECKING:
    from ssl import SSLContext

__all__ = [
    "TLS_RULE", "RequestChain", "judge_count", "judge_line", "judge_redirect", "judge_request", "proxy_tls", "refusals",
    "request_target",
]  # fmt: skip

TLS_RULE = "Policy.tls alone says who is trusted and which certificate is shown"

_SCHEMES = ("http", "https")
_TEXT = "RFC 3986 3"


def judge_request(policy: Policy, text: str) -> Judged:
    """Return the judged URI if a client may request it.

    Raises: AccessRefused, also for text that is not an http or https URI, and for a host that no client can resolve.
    """
    try:
        judged = policy.judge(text)
    except InvalidURI as error:
        raise AccessRefused("text", str(error), _TEXT) from error
    except (NotSpecified, PlanRefused) as error:
        raise AccessRefused("text", str(error), _TEXT, text) from error
    if judged.uri.scheme.lower() not in _SCHEMES:
        raise AccessRefused("scheme", f"{judged.uri.scheme!r} is not http or https", "RFC 9110 4.2", judged.uri)
    try:
        resolvable(judged.host or "")
    except UnicodeError as error:
        reason = f"no client can ask for the host: {error}"
        raise AccessRefused("host", reason, "RFC 3986 3.2.2, RFC 1034 3.1", judged.uri) from error
    return judged


def request_target(judged: Judged) -> str:
    """Return the target that the request line must have (RFC 9112 3.2.1).

    >>> request_target(Policy().judge("http://h.example?q=%7e#f"))
    '/?q=%7e'
    """
    uri = judged.uri
    return (uri.path or "/") + ("" if uri.query is None else f"?{uri.query}")


def judge_line(judged: Judged, client_target: str, also: Collection[str] = ()) -> None:
    """Raise AccessRefused if the client would not request the URI octet for octet as it was judged.

    also: other allowed forms of the target, such as the absolute form for a proxy.
    """
    target = request_target(judged)
    if client_target != target and client_target not in also:
        reason = f"the client would request {client_target!r} in place of {target!r}"
        raise AccessRefused("octets", reason, "RFC 9112 3.2", judged.uri)


def judge_redirect(policy: Policy, source: str, location: str) -> None:
    """Raise AccessRefused if the policy forbids a redirect, or its target is not a URI."""
    try:
        policy.judge_redirect(URI(source), URI(source).join(location, errors="repair"))
    except InvalidURI as error:
        raise AccessRefused("redirect", f"the target of a redirect is not a URI: {error}", _TEXT, source) from error


def judge_count(policy: Policy, redirects: int, source: object) -> None:
    """Raise AccessRefused if there are more redirects than the policy allows."""
    if redirects > policy.max_redirects:
        reason = f"more than {policy.max_redirects} redirects; set Policy.max_redirects"
        raise AccessRefused("redirect", reason, "RFC 9110 15.4", source)


def proxy_tls(policy: Policy, proxy: str) -> SSLContext | None:
    """Return the TLS context for the connection to a proxy itself: the policy's, if the proxy's scheme uses TLS."""
    return policy.tls if scheme(proxy.partition(":")[0]).tls else None


class RequestChain(NamedTuple):
    """A request in a chain of redirects; each request has its own chain, so that it can be sent again."""

    request: Any
    before: tuple[URI, ...]
    """The URIs of the requests that led to it."""
    uri: URI
    was_redirect: bool | None = None
    """Whether its answer is a redirect, for a client that sends copies of it; None: that is not known."""

    @classmethod
    def follow(cls, policy: Policy, previous: RequestChain | None, request: Any, uri: URI) -> RequestChain:
        """Return the chain of a request.

        previous: the chain of the request itself if it was sent before, of a request with the same URI whose answer is
        not a redirect (a login sends a copy), or of the request that was redirected to it.
        Raises: AccessRefused if the policy forbids the redirect.
        """
        before: tuple[URI, ...] = ()
        if previous is not None:
            is_same = previous.request is request or (previous.was_redirect is False and previous.uri == uri)
            before = previous.before if is_same else (*previous.before, previous.uri)
        if before:
            policy.judge_redirect(before[-1], uri)
            judge_count(policy, len(before), before[0])
        return cls(request, before, uri)


class Refusal(Protocol):
    """A class of exceptions that derives from AccessRefused and from one of the client."""

    def __call__(self, rule: str, message: str, source: str = "", uri: object = None) -> AccessRefused: ...


@contextmanager
def refusals(kind: Refusal, **attributes: Any) -> Iterator[None]:
    """Raise each refusal as that kind, with attributes that the client expects."""
    try:
        yield
    except AccessRefused as error:
        refusal = kind(error.rule, error.message, error.source, error.uri)
        for name, value in attributes.items():
            setattr(refusal, name, value)
        raise refusal.with_traceback(error.__traceback__) from error.__cause__
