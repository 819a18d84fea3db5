"""The guard of Requests: an adapter that requests only what a policy allows, and connects only where it allows.

session = guarded_session(policy)
session.mount("https://", adapter(policy)); session.mount("http://", adapter(policy))     # of one that is there
"""

from __future__ import annotations

from typing import Any

from overthere.access.errors import AccessRefused
from overthere.access.judgment import HasPolicy, Resolve
from overthere.access.policy import Policy
from overthere.ground.extras import brought_by
from overthere.integrations.guarding import RequestChain, judge_request, proxy_tls, refusals
from overthere.values.uri import URI

with brought_by("requests"):
    import requests
    from requests.adapters import HTTPAdapter

from overthere.integrations.urllib3 import expecting, pool_classes

__all__ = ["Adapter", "Refused", "adapter", "guarded_session"]

_CHAIN = "overthere.redirects"


class Refused(AccessRefused, requests.RequestException):
    """The policy forbids a request of Requests."""


class Adapter(HasPolicy, HTTPAdapter):
    """An adapter for `http://` and `https://`; its only proxy is `Policy.proxy`, whatever the session says.

    Each request, and each redirect that the session follows, is judged by its text; a connection goes to an address
    that was judged, under the name's Host, SNI and certificate (RFC 3986 7.4, RFC 9110 4.2).
    """

    __attrs__: list[str] = [*HTTPAdapter.__attrs__, "_policy", "resolve"]  # noqa: RUF012 - what is pickled

    def __init__(self, policy: Policy | None = None, *, resolve: Resolve | None = None, **settings: Any) -> None:
        """policy: default: the safe one.  resolve: resolves names; default: the system's resolver.
        settings: of `requests.adapters.HTTPAdapter`."""
        self._policy = policy or Policy()
        self.resolve: Resolve | None = resolve
        super().__init__(**settings)

    def init_poolmanager(self, *given: Any, **settings: Any) -> None:
        if self.policy.tls is not None:
            settings["ssl_context"] = self.policy.tls
        super().init_poolmanager(*given, **settings)
        self.poolmanager.pool_classes_by_scheme = pool_classes(self.policy, self.resolve, direct=True)

    def proxy_manager_for(self, proxy: str, **settings: Any) -> Any:
        if self.policy.tls is not None:
            settings["ssl_context"] = self.policy.tls
            settings["proxy_ssl_context"] = proxy_tls(self.policy, proxy)
        manager = super().proxy_manager_for(proxy, **settings)
        manager.pool_classes_by_scheme = pool_classes(self.policy, self.resolve, direct=False)
        return manager

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """Ignore the settings of Requests if `Policy.tls` is set: they would add authorities, or stop its checks."""
        super().cert_verify(conn, url, verify if self.policy.tls is None else False, cert)
        if self.policy.tls is not None:
            conn.cert_reqs = None  # leave the settings of the context

    def send(self, request: requests.PreparedRequest, *given: Any, **settings: Any) -> requests.Response:
        """Raises: Refused; what Requests raises."""
        with refusals(Refused, request=request):
            judged = judge_request(self.policy, request.url or "")
            # A redirect has the hooks of the previous request.
            hooks: dict[str, Any] = request.hooks
            chain = RequestChain.follow(self.policy, hooks.get(_CHAIN), request, judged.uri)
            hooks = {**hooks, _CHAIN: chain}
            request.hooks = hooks
            request.headers.pop("Proxy-Authorization", None)  # the login of `Policy.proxy` is added for its proxy
            names = ("stream", "timeout", "verify", "cert", "proxies")
            send_settings = {**dict(zip(names, given, strict=False)), **settings, "proxies": dict(self.policy.proxy)}
            if self.policy.tls is not None:
                send_settings["verify"] = True
            with expecting(judged):
                response = super().send(request, **send_settings)
            hooks[_CHAIN] = chain._replace(was_redirect=response.is_redirect)
            return response


def adapter(policy: Policy | None = None, *, resolve: Resolve | None = None, **settings: Any) -> Adapter:
    """Return an `Adapter`."""
    return Adapter(policy, resolve=resolve, **settings)


class _ExactSession(requests.Session):
    """A session that requests a URI as it is written; Requests alone would decode and re-encode it."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        try:
            return super().get_redirect_target(resp)
        except UnicodeDecodeError as error:  # by itself it is no exception of Requests
            raise requests.exceptions.InvalidURL(f"the Location is not UTF-8: {error}", response=resp) from error

    def prepare_request(self, request: requests.Request) -> requests.PreparedRequest:
        prepared = super().prepare_request(request)
        text = request.url
        if not request.params and not self.params and isinstance(text, str) and URI.can_parse(text):
            unsigned = requests.PreparedRequest()
            unsigned.prepare_url(text, {})
            if prepared.url == unsigned.url:  # an `auth` may have signed it
                prepared.url = text
        return prepared


def guarded_session(policy: Policy | None = None, *, resolve: Resolve | None = None) -> requests.Session:
    """Return a session with only this guard: other schemes have no adapter, the environment's proxies are ignored,
    and a URI without `params` is requested octet for octet."""
    session = _ExactSession()
    session.trust_env = False
    session.adapters.clear()
    for prefix in ("https://", "http://"):
        session.mount(prefix, Adapter(policy, resolve=resolve))
    return session
