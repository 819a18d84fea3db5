"""`open` and `aopen`: run the plan of a URI under a policy; each redirect is checked."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from time import monotonic
from typing import TYPE_CHECKING, Any

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
    from overthere.schemes.locator import Locator
    from overthere.schemes.model import Scheme

__all__ = ["Opening", "aopen", "open", "open_resource"]


class Opening:
    """Where opening has come to: the URI at hand, those before, and what is still allowed."""

    def __init__(
        self,
        uri: URI | Locator | str,
        policy: Policy | None,
        credentials: Credentials | None,
        registry: Registry | None,
        gateways: Gateways | None,
    ) -> None:
        self.policy: Policy = policy or Policy()
        self.registry: Registry = registry or Registry.default()
        self.gateways: Gateways = gateways or Gateways()
        self.credentials = credentials
        self.history: tuple[URI, ...] = ()
        self.redirects: tuple[tuple[URI, Head], ...] = ()
        """What was answered before, and the URIs that were asked; the last one may lead where opening may not go."""
        self.plan: Plan = self._plan(uri, credentials)
        locator = self.plan.locator
        # Another edition may write it with a prefix or in its own escapes.
        own = locator.edition == "rfc3986"
        self.uri: URI = planned_uri(self.plan.uri) if own else locator.uri(registry=self.registry)
        self.origin: tuple[str, str, int | None] = self._origin(self.uri)
        total = self.policy.total_timeout
        self.deadline: float | None = None if total is None else monotonic() + total
        """One time for the whole way, redirects and content."""
        self.gateway: URI | None = None
        self._secrets: tuple[Plan | None, Secrets] = None, Secrets()
        """The plan whose secrets were collected last, and these and the earlier ones."""

    def _plan(self, uri: URI | Locator | str, credentials: Credentials | None) -> Plan:
        return plan_under(self.policy, uri, credentials, registry=self.registry, gateways=self.gateways)

    def scheme(self) -> Scheme:
        """The scheme whose dialogue is carried out: the gateway's, where one stands in; both are judged."""
        there = self.plan
        self.policy.judge_scheme(scheme := self.registry.scheme(there.scheme), self.uri)
        while there.through is not None:
            there = there.through
            self.policy.judge_scheme(scheme := self.registry.scheme(there.scheme), self.uri)
        if self.plan.through is not None:
            self.gateway = self.gateway or planned_uri(self.plan.through.uri)
        return scheme

    def transport_arguments(self) -> tuple[Dialogue, Policy, URI, int | None, float | None, Secrets]:
        """What is carried out now: what a transport is made of."""
        with masked_errors(self.secrets()):
            scheme = self.scheme()
            return self.dialogue(scheme), self.policy, self.uri, scheme.port, self.deadline, self.secrets()

    def accept_answer(self, given: Effect | None) -> ResourceInfo | Head:
        """What the first answer leads to: a resource, or a redirect.  Raises: ProtocolError if it is neither."""
        if not isinstance(given, Head):
            with masked_errors(self.secrets()):
                raise ProtocolError("there was no answer", uri=self.uri)
        if given.location is not None:
            return given
        return ResourceInfo(given, self.plan, self.uri, self.history, self.gateway)

    def check_policy(self, scheme: Scheme) -> Plan:
        """The plan that is carried out, by way of a proxy where the policy names one.

        Raises: NotSpecified if there is nothing to open; AccessRefused for octets that another protocol may obey.
        """
        if self.plan.locates_nothing:
            parts = ", ".join(f"{name} {value}" for name, value in self.plan.locator.to_dict().items())
            raise NotSpecified(f"it is only a name, so there is nothing to open ({parts}): {self.plan.locates_nothing}")
        done = self.plan.done
        self.policy.judge_octets(done.steps, scheme, self.uri)
        if self.policy.proxy:
            done = by_proxy()(done, self.policy, self.uri, self.registry)
            self.plan = done if self.plan.through is None else replace(self.plan, steps=done.steps, through=done)
        return done

    def dialogue(self, scheme: Scheme) -> Dialogue:
        """The generator that carries out the plan."""
        done = self.check_policy(scheme)
        return self.mask_dialogue(dialogue_of(scheme)(done, self.policy))

    def mask_dialogue(self, dialogue: Dialogue) -> Dialogue:
        """The same dialogue; no error of it contains a secret that the server may send back."""
        return mask_secrets(dialogue, self.secrets())

    def secrets(self) -> Secrets:
        """What servers may send back: of the URIs before, of which redirects tell, and the logins of proxies too."""
        plan, secrets = self._secrets
        if plan is not self.plan:
            others = (str(self.uri), *self.policy.proxy.values())
            secrets = secrets_of(self.plan, self.credentials, others, secrets.known)
            self._secrets = self.plan, secrets
        return secrets

    def _requested_uri(self) -> URI:
        """The URI whose server was asked: the gateway's, where one stands in."""
        return self.uri if self.plan.through is None else planned_uri(self.plan.done.uri)

    def _origin(self, uri: URI) -> tuple[str, str, int | None]:
        """To whom credentials are given (RFC 6454 4)."""
        scheme = self.registry.scheme(uri.scheme)
        return scheme.name, (uri.host or "").lower(), scheme.port if uri.port is None else uri.port

    def _is_private(self, peer: tuple[Any, ...] | None) -> bool:
        """Whether the answer came from an address that is not public; behind a proxy only a literal address shows."""
        asked = self._requested_uri()
        if self.policy.proxy.get(asked.scheme.lower()) is None:
            return peer is None or forbidden(ip_address(peer[1][0]), self.policy.nat64) is not None
        address = literal(asked.host or "")
        return address is not None and forbidden(address, self.policy.nat64) is not None

    def target(self, head: Head) -> URI:
        """Where a redirect leads.  Raises: ProtocolError."""
        try:
            return self._requested_uri().join(URIReference(head.location or ""))
        except InvalidURI as error:
            raise ProtocolError(f"the redirect has no valid target: {error}", "RFC 9110 10.2.2", self.uri) from None

    def follow(self, head: Head, peer: tuple[Any, ...] | None, *, is_changed: bool = False) -> None:
        """Go where a redirect leads.

        is_changed: whether the next request differs from those before, so that their URI may come again: by a cookie.

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
        before = (one.replace(fragment=None) for one in (*self.history, self.uri))
        if not is_changed and target.replace(fragment=None) in before:
            raise AccessRefused("redirect", "the redirects form a cycle", "RFC 9110 15.4", self.uri)
        self.policy.judge_redirect(self._requested_uri(), target, self.registry)
        # A fragment is kept unless the redirect has its own (RFC 9110 10.2.2).
        if target.fragment is None and self.uri.fragment is not None:
            target = target.replace(fragment=self.uri.fragment)
        # A redirect of a public server reaches nothing private, even if the first URI may (RFC 3986 7.4).
        if self.policy.private and not self._is_private(peer):
            self.policy = self.policy.with_(private=False, ports=frozenset())
        told = self.credentials if self._origin(target) == self.origin else None
        try:
            there = self._plan(target, told)
        except InvalidURI as error:
            raise ProtocolError(f"the redirect has no valid target: {error}", "RFC 9110 10.2.2", self.uri) from None
        self.history = (*self.history, self.uri)
        self.plan = there
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

    policy: the limits; safe for untrusted URIs unless given (`Policy.local()` for one's own).
    credentials, registry, gateways: as for `plan`.  Credentials are sent to the origin of `uri` alone.

    Raises: AccessError with the problem and its place; InvalidURI, PlanRefused and NotSpecified as `plan`.
    """
    return open_resource(Opening(uri, policy, credentials, registry, gateways))


def open_resource(way: Opening) -> Resource:
    """Open what lies at the end of a way, which also knows, whatever is raised, how far it led.  Raises: as `open`."""
    while True:
        transport = Transport(*way.transport_arguments())
        try:
            arrived = way.accept_answer(transport.advance())
        except AccessError:
            transport.close()
            raise
        if isinstance(arrived, ResourceInfo):
            return Resource(transport, arrived)
        transport.close()
        way.follow(arrived, transport.peer)


async def aopen(
    uri: URI | Locator | str,
    policy: Policy | None = None,
    *,
    credentials: Credentials | None = None,
    registry: Registry | None = None,
    gateways: Gateways | None = None,
) -> AsyncResource:
    """`open` in an event loop (asyncio, trio).  Raises: as `open`."""
    needs("anyio")
    from overthere.access.aio import AsyncTransport

    way = Opening(uri, policy, credentials, registry, gateways)
    while True:
        transport = AsyncTransport(*way.transport_arguments())
        try:
            arrived = way.accept_answer(await transport.advance())
        except AccessError:
            await transport.close()
            raise
        if isinstance(arrived, ResourceInfo):
            return AsyncResource(transport, arrived)
        await transport.close()
        way.follow(arrived, transport.peer)
