"""Access policy: allowed schemes, hosts, ports and addresses; limits of time and size (RFC 3986 7.1 to 7.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Network
from pathlib import Path
from typing import TYPE_CHECKING, Self

from overthere.access.errors import AccessRefused
from overthere.access.framing import FOREIGN, foreign_port_steps
from overthere.access.steps import Connect, Step
from overthere.schemes.model import Scheme
from overthere.schemes.registry import Registry
from overthere.values.hosts.address import Address, forbidden, literal, nat64_prefix, resolvable
from overthere.values.uri import URI

if TYPE_CHECKING:
    from ssl import SSLContext

__all__ = ["Policy"]

_RESERVED = range(1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A value; safe by default for URIs that come from others.  Times are in seconds, sizes in octets."""

    schemes: frozenset[str] | None = None
    """The schemes that may be opened; None: all that reach no file of this machine."""
    hosts: frozenset[str] | None = None
    """The hosts that may be asked, in lower case (".example" stands for all below it); None: any."""
    ports: frozenset[int] = frozenset()
    """Ports in the reserved range (below 1024) that may be asked beside the scheme's own (7.2)."""
    spoken: frozenset[tuple[str, int]] = frozenset()
    """Where a protocol is known to be spoken beside its own port: ("ldap", 3268).  No data that another protocol may
    take for lines of its own go to any other port, unless `private` (7.2; RFC 1738 6)."""
    private: bool = False
    """Whether files of this machine and addresses that are not public may be reached (7.4)."""
    nat64: tuple[IPv6Network | str, ...] = ()
    """Prefixes by which this network translates IPv4 addresses, beside 64:ff9b::/96: an address in them is judged by
    the one that it leads to (RFC 6052 2.2, RFC 8215).  One that is not named here cannot be known."""
    connect_timeout: float = 10.0
    read_timeout: float = 30.0
    """How long the other side may say nothing."""
    total_timeout: float | None = 3600.0
    """How long all may take, from the first look-up to the last octet, redirects and pauses of the reader too; None:
    no bound."""
    max_bytes: int | None = 1 << 34
    """How much may be received; None: no bound."""
    max_line: int = 65_536
    """The longest line of a protocol."""
    max_redirects: int = 10
    redirects: frozenset[str] | None = None
    """The schemes that a redirect may lead to.  None: those that say so (`Scheme.redirected_from`: http and https from
    anywhere, ftp from those), and the protocol that redirects, with TLS or without (LDAP refers to LDAP, Prospero and
    Gopher+ to where an object has moved)."""
    tls: SSLContext | None = None
    """How servers are verified; None: by the system's certificates."""
    downgrade: bool = False
    """Whether a redirect may lead from a scheme with TLS (https, ldaps, ...) to one without."""
    news_server: str | None = None
    """The news server of URIs that name none, as a URI writes it: a host, or host and port (RFC 5538 4)."""
    messages: tuple[str | Path, ...] = ()
    """Where messages are looked for (RFC 2392 2): mbox files, .eml files and folders of them, Maildir folders."""
    proxy: Mapping[str, str] = field(default_factory=dict[str, str], hash=False, repr=False)
    """From a scheme (one with `Scheme.by_proxy`: http, https, ws, wss) to the `http:` URI of the proxy for it; none
    comes from the environment.  It is asked wherever it is, for the policy names it; what it connects to it
    has resolved itself."""

    def __post_init__(self) -> None:
        """Raises: ValueError for what is no NAT64 prefix (RFC 6052 2.2)."""
        for prefix in self.nat64:
            nat64_prefix(prefix)

    @classmethod
    def local(cls) -> Self:
        """For one's own URIs: files and addresses that are not public may be reached, any port asked."""
        return cls(private=True, ports=frozenset(_RESERVED))

    def with_(self, **changes: object) -> Self:
        """The same with other fields."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def judge_scheme(self, scheme: Scheme, uri: URI) -> None:
        """Raises: AccessRefused if the scheme may not be opened."""
        name = scheme.name
        if self.schemes is not None and name not in self.schemes:
            raise AccessRefused("scheme", f"{name!r} is not among the schemes that may be opened", "RFC 3986 7", uri)
        if scheme.local:
            self.judge_file(uri)

    def judge_file(self, uri: URI) -> None:
        """Raises: AccessRefused if files of this machine may not be read."""
        if not self.private:
            why = f"{uri.scheme.lower()!r} leads to files of this machine, which may not be read"
            raise AccessRefused("scheme", why, "RFC 3986 7.4", uri)

    def judge_redirect(self, source: URI, target: URI, registry: Registry | None = None) -> None:
        """Raises: AccessRefused where a server leads to what only this machine has, to a scheme that no redirect may
        lead to, or out of TLS; RegistryError where a package's claim to one of the schemes is empty.

        registry: what is known of the schemes, the default one unless given.
        """
        known = Registry.default() if registry is None else registry
        own, other = known.scheme(source.scheme), known.scheme(target.scheme)
        before, after = own.name, other.name
        if other.local and not own.local:
            raise AccessRefused("redirect", "a server leads to a file of this machine", "RFC 3986 7.4", source)
        if not self._may_lead(own, other):
            why = f"a redirect leads from {before} to {after}, where none may: it takes {after!r} in Policy.redirects"
            raise AccessRefused("redirect", why, "RFC 3986 7, RFC 9110 15.4", source)
        if own.tls and not other.tls and not self.downgrade:
            why = f"a redirect leads out of {before}: it takes Policy.downgrade"
            raise AccessRefused("redirect", why, "RFC 9110 4.2.2", source)

    def _may_lead(self, own: Scheme, other: Scheme) -> bool:
        if self.redirects is not None:
            return other.name in self.redirects
        return other.spoken == own.spoken or not {"*", own.spoken}.isdisjoint(other.redirected_from)

    def judge_octets(self, steps: Iterable[Step], scheme: Scheme, uri: URI) -> None:
        """Raises: AccessRefused if a port of another protocol would be sent what may be lines of the URI's choosing."""
        if self.private:
            return
        for port, why in foreign_port_steps(steps, scheme):
            if (scheme.name, port) not in self.spoken:
                told = f"{why}: it takes {(scheme.name, port)} in Policy.spoken"
                raise AccessRefused("octets", told, FOREIGN, uri)

    def judge_connection(self, step: Connect, default: int | None, uri: URI) -> None:
        """Raises: AccessRefused if that host or port may not be asked."""
        try:
            host = resolvable(step.host).lower().removesuffix(".")
        except UnicodeError:
            host = step.host
        if self.hosts is not None and not any(
            host == one or (one.startswith(".") and host.endswith(one)) for one in self.hosts
        ):
            raise AccessRefused("host", f"{step.host!r} is not among the hosts that may be asked", "RFC 3986 7", uri)
        if step.port != default and step.port in _RESERVED and step.port not in self.ports:
            why = f"port {step.port} is reserved for another protocol than that of {uri.scheme!r}"
            raise AccessRefused("port", why, "RFC 3986 7.2", uri)
        address = literal(step.host, decoded=True)
        if address is not None:
            self.judge_address(address, uri)

    def judge_data_port(self, port: int, uri: URI) -> None:
        """Raises: AccessRefused for the port of a data connection, if it is a reserved one or none.

        The server names it, not the URI: `ports` does not count.
        """
        if not 0 < port < 65536 or port in _RESERVED:
            raise AccessRefused("port", f"the server names the port {port} for the data", "RFC 3986 7.2", uri)

    def judge_address(self, address: Address, uri: URI) -> None:
        """Raises: AccessRefused if the address is none of the public ones."""
        why = None if self.private else forbidden(address, self.nat64)
        if why is not None:
            raise AccessRefused("address", f"{address} is {why}", "RFC 3986 7.4", uri)
