"""`open` and `aopen`: execute the plan of a URI under a policy; each redirect is checked."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from overthere.access.blocking import Transport
from overthere.access.errors import AccessError, AccessRefused, ProtocolError, needs
from overthere.access.gateways import Gateways
from overthere.access.loading import by_proxy, dialogue_of
from overthere.access.masking import mask_secrets, masked_errors, secrets_of
from overthere.access.planning import Plan, plan_under, planned_uri
from overthere.access.policy import Policy
from overthere.access.resource import AsyncResource, Resource, ResourceInfo
from overthere.access.steps import Credentials
from overthere.access.wire import Dialogue, Effect, Head
from overthere.ground.errors import InvalidURI, NotSpecified
from overthere.schemes.registry import Registry
from overthere.values.hosts.address import forbidden, literal
from overthere.values.known_secrets import Secrets
from overthere.values.uri import URI, URIReference

if TYPE_CHECKING:
    from collections.abc import Callable

    from overthere.schemes.locator import Locator
    from overthere.schemes.model import Scheme

T = TypeVar("T")


class Opening:
    """The state of opening a URI: the current URI, the URIs before, and the remaining policy."""

    def __init__(
        self,
        uri: URI | Locator | str,
        policy: Policy | None,
        credentials: Credentials | None,
        registry: Registry | None,
        gateways: Gateways | None,
    ) -> None:
        self.policy: Policy = policy or Policy()
        self.registry: Registry = Registry.default() if registry is None else registry
        self.gateways: Gateways = gateways or Gateways()
        self.credentials = credentials
        self.history: tuple[URI, ...] = ()
        self.redirects: tuple[tuple[URI, Head], ...] = ()
        """The redirects so far: requested URI and answer; the last one may have a forbidden target."""
        self.plan: Plan = self._plan(uri, credentials)
        locator = self.plan.locator
        # Another edition may write the URI with a prefix or with other escapes.
        is_rfc3986 = locator.edition == "rfc3986"
        self.uri: URI = planned_uri(self.plan.uri) if is_rfc3986 else locator.uri(registry=self.registry)
        self.origin: tuple[str, str, int | None] = self._origin(self.uri)
        total = self.policy.total_timeout
        self.deadline: float | None = None if total is None else monotonic() + total
        """The time limit for everything, redirects and content included, by `time.monotonic`."""
        self.gateway: URI | None = None
        self._secrets: tuple[Plan | None, Secrets] = None, Secrets()
        """The plan whose secrets were collected last, and all secrets so far."""

    def _plan(self, uri: URI | Locator | str, credentials: Credentials | None) -> Plan:
        return plan_under(self.policy, uri, credentials, registry=self.registry, gateways=self.gateways)

    def scheme(self) -> Scheme:
        """Return the scheme whose dialogue is executed, the gateway's if there is one; all schemes are judged."""
        plan = self.plan
        self.policy.judge_scheme(scheme := self.registry.scheme(plan.scheme), self.uri)
        while plan.through is not None:
            plan = plan.through
            self.policy.judge_scheme(scheme := self.registry.scheme(plan.scheme), self.uri)
        if self.plan.through is not None:
            self.gateway = self.gateway or planned_uri(self.plan.through.uri)
        return scheme

    def transport(self, kind: Callable[[Dialogue, Policy, URI, int | None, float | None, Secrets], T]) -> T:
        """Return a transport of this kind for the current URI."""
        with masked_errors(self.secrets()):
            scheme = self.scheme()
            return kind(self.dialogue(scheme), self.policy, self.uri, scheme.port, self.deadline, self.secrets())

    def accept_answer(self, effect: Effect | None) -> ResourceInfo | Head:
        """Return the resource or the redirect that the first answer is.  Raises: ProtocolError if it is neither."""
        if not isinstance(effect, Head):
            with masked_errors(self.secrets()):
                raise ProtocolError("there was no answer", uri=self.uri)
        if effect.location is not None:
            return effect
        return ResourceInfo(effect, self.plan, self.uri, self.history, self.gateway)

    def check_policy(self, scheme: Scheme) -> Plan:
        """Return the plan to execute, through a proxy if the policy has one.

        Raises: NotSpecified if there is nothing to open; AccessRefused for bytes that another protocol may obey.
        """
        if self.plan.locates_nothing:
            parts = ", ".join(f"{name} {value}" for name, value in self.plan.locator.to_dict().items())
            raise NotSpecified(f"it is only a name, so there is nothing to open ({parts}): {self.plan.locates_nothing}")
        plan = self.plan.done
        self.policy.judge_octets(plan.steps, scheme, self.uri)
        if self.policy.proxy:
            plan = by_proxy()(plan, self.policy, self.uri, self.registry)
            self.plan = plan if self.plan.through is None else replace(self.plan, steps=plan.steps, through=plan)
        return plan

    def dialogue(self, scheme: Scheme) -> Dialogue:
        """Return the generator that executes the plan."""
        plan = self.check_policy(scheme)
        return self.mask_dialogue(dialogue_of(scheme)(plan, self.policy))

    def mask_dialogue(self, dialogue: Dialogue) -> Dialogue:
        """Wrap a dialogue so that its errors do not contain secrets that the server may repeat."""
        return mask_secrets(dialogue, self.secrets())

    def secrets(self) -> Secrets:
        """Return the secrets that servers may repeat, also those of earlier URIs and the logins of proxies."""
        plan, secrets = self._secrets
        if plan is not self.plan:
            uris = (str(self.uri), *self.policy.proxy.values())
            secrets = secrets_of(self.plan, self.credentials, uris, secrets.known)
            self._secrets = self.plan, secrets
        return secrets

    def _requested_uri(self) -> URI:
        """The URI whose server receives the request: the gateway's if there is one."""
        return self.uri if self.plan.through is None else planned_uri(self.plan.done.uri)

    def _origin(self, uri: URI) -> tuple[str, str, int | None]:
        """Return the origin that may receive the credentials: scheme, host, port (RFC 6454 4)."""
        scheme = self.registry.scheme(uri.scheme)
        return scheme.name, (uri.host or "").lower(), scheme.port if uri.port is None else uri.port

    def _is_private(self, peer: tuple[Any, ...] | None) -> bool:
        """Whether the answer came from a non-public address; behind a proxy only a literal address is known."""
        uri = self._requested_uri()
        if self.policy.proxy.get(uri.scheme.lower()) is None:
            return peer is None or forbidden(ip_address(peer[1][0]), self.policy.nat64) is not None
        address = literal(uri.host or "")
        return address is not None and forbidden(address, self.policy.nat64) is not None

    def target(self, head: Head) -> URI:
        """Return the target of a redirect.  Raises: ProtocolError."""
        try:
            return self._requested_uri().join(URIReference(head.location or ""))
        except InvalidURI as error:
            raise ProtocolError(f"the redirect has no valid target: {error}", "RFC 9110 10.2.2", self.uri) from None

    def follow(self, head: Head, peer: tuple[Any, ...] | None, *, is_changed: bool = False) -> None:
        """Follow a redirect: make its target the current URI.

        is_changed: whether the next request differs from those before, such as by a cookie, so that a URI may repeat.

        Raises: AccessRefused, ProtocolError.
        """
        with masked_errors(self.secrets()):
            self._follow(head, peer, is_changed)

    def _follow(self, head: Head, peer: tuple[Any, ...] | None, is_changed: bool) -> None:
        self.redirects = (*self.redirects, (self._requested_uri(), head))
        target = self.target(head)
        if len(self.history) >= self.policy.max_redirects:
            raise AccessRefused(
                "redirect", f"more than {self.policy.max_redirects} redirects", "RFC 9110 15.4", self.uri
            )
        visited = (uri.replace(fragment=None) for uri in (*self.history, self.uri))
        if not is_changed and target.replace(fragment=None) in visited:
            raise AccessRefused("redirect", "the redirects form a cycle", "RFC 9110 15.4", self.uri)
        self.policy.judge_redirect(self._requested_uri(), target, self.registry)
        # A fragment is kept unless the redirect has its own (RFC 9110 10.2.2).
        if target.fragment is None and self.uri.fragment is not None:
            target = target.replace(fragment=self.uri.fragment)
        # A redirect of a public server must not reach private addresses, even if the first URI may (RFC 3986 7.4).
        if self.policy.private and not self._is_private(peer):
            self.policy = self.policy.with_(private=False, ports=frozenset())
        credentials = self.credentials if self._origin(target) == self.origin else None
        try:
            plan = self._plan(target, credentials)
        except InvalidURI as error:
            raise ProtocolError(f"the redirect has no valid target: {error}", "RFC 9110 10.2.2", self.uri) from None
        self.history = (*self.history, self.uri)
        self.plan = plan
        self.uri = target


def open(
    uri: URI | Locator | str,
    policy: Policy | None = None,
    *,
    credentials: Credentials | None = None,
    registry: Registry | None = None,
    gateways: Gateways | None = None,
) -> Resource:
    """Open a URI: execute its plan up to the content, which is read from the resource.

    policy: the limits; the default is safe for untrusted URIs (`Policy.local()` for trusted ones).
    credentials, registry, gateways: as for `plan`.  Credentials are sent only to the origin of `uri`.

    Raises: AccessError with the problem and its place; InvalidURI, PlanRefused and NotSpecified like `plan`.
    """
    return open_resource(Opening(uri, policy, credentials, registry, gateways))


def open_resource(opening: Opening) -> Resource:
    """Open a resource; after an error, `way` still has the state up to there.  Raises: the same as `open`."""
    while True:
        transport = opening.transport(Transport)
        try:
            answer = opening.accept_answer(transport.advance())
        except AccessError:
            transport.close()
            raise
        if isinstance(answer, ResourceInfo):
            return Resource(transport, answer)
        transport.close()
        opening.follow(answer, transport.peer_address)


async def aopen(
    uri: URI | Locator | str,
    policy: Policy | None = None,
    *,
    credentials: Credentials | None = None,
    registry: Registry | None = None,
    gateways: Gateways | None = None,
) -> AsyncResource:
    """Do the same as `open` in an event loop (asyncio, trio).  Raises: the same as `open`."""
    needs("anyio")
    from overthere.access.aio import AsyncTransport

    opening = Opening(uri, policy, credentials, registry, gateways)
    while True:
        transport = opening.transport(AsyncTransport)
        try:
            answer = opening.accept_answer(await transport.advance())
        except AccessError:
            await transport.close()
            raise
        if isinstance(answer, ResourceInfo):
            return AsyncResource(transport, answer)
        await transport.close()
        opening.follow(answer, transport.peer_address)
