"""Access policy: allowed schemes, hosts, ports and addresses; limits of time and size (RFC 3986 7.1 to 7.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Network
from pathlib import Path
from typing import TYPE_CHECKING, Self

from overthere.access.errors import AccessRefused
from overthere.ground.exact import exact
from overthere.ground.redact import mask
from overthere.schemes.model import Scheme
from overthere.schemes.registry import Registry
from overthere.values.hosts.address import Address, forbidden, literal, nat64_prefix, resolvable
from overthere.values.uri import URI

if TYPE_CHECKING:
    from ssl import SSLContext

    from overthere.access.judgment import AsyncResolve, Judged, Resolve
    from overthere.access.steps import Connect, Step

_RESERVED_PORTS = range(1024)


def _is_port(text: str | None) -> bool:
    return not text or (len(text) < 6 and int(text) < 65536)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """An immutable value; safe by default for untrusted URIs.  Times are in seconds, sizes in bytes."""

    schemes: frozenset[str] | None = None
    """The allowed schemes; None: all except those that read files of this machine."""
    hosts: frozenset[str] | None = None
    """The allowed hosts (".example" means all its subdomains), without case, as schemes; None: any."""
    ports: frozenset[int] = frozenset()
    """Allowed ports in the reserved range (below 1024) besides the scheme's own (7.2)."""
    spoken: frozenset[tuple[str, int]] = frozenset()
    """More ports that use a protocol, such as ("ldap", 3268).  Data that another protocol could read as lines is not
    sent to any other port, unless `private` (7.2; RFC 1738 6)."""
    private: bool = False
    """Whether files of this machine and addresses that are not public are allowed (7.4)."""
    nat64: tuple[IPv6Network | str, ...] = ()
    """Prefixes by which this network translates IPv4 addresses, besides 64:ff9b::/96: an address in them is checked
    as the IPv4 address that it contains (RFC 6052 2.2, RFC 8215).  Others cannot be detected."""
    connect_timeout: float = 10.0
    read_timeout: float = 30.0
    """The longest silence of the server."""
    total_timeout: float | None = 3600.0
    """The overall time limit, from the first lookup to the last byte, including redirects and pauses of the
    reader; None: unlimited."""
    max_bytes: int | None = 1 << 34
    """The most bytes to receive; None: unlimited."""
    max_line: int = 65_536
    """The longest line of a protocol."""
    max_redirects: int = 10
    redirects: frozenset[str] | None = None
    """The allowed schemes of redirects.  None: those that allow it (`Scheme.redirected_from`: http and https from
    anywhere, ftp from those), and the protocol that redirects, with TLS or without (LDAP refers to LDAP, Prospero and
    Gopher+ to the new place of an object)."""
    tls: SSLContext | None = None
    """The verification of servers; None: by the system's certificates."""
    downgrade: bool = False
    """Whether a redirect may lead from a scheme with TLS (https, ldaps, ...) to one without."""
    news_server: str | None = None
    """The news server for URIs without one, as in a URI: a host, or host and port (RFC 5538 4)."""
    messages: tuple[str | Path, ...] = ()
    """The places to search for messages (RFC 2392 2): mbox files, .eml files and folders of them, Maildir folders."""
    proxy: Mapping[str, str] = field(default_factory=dict[str, str], hash=False, repr=False)
    """The `http:` URI of a proxy by scheme (one with `Scheme.by_proxy`: http, https, ws, wss); the environment is not
    read.  The proxy may have any address, because the policy names it; it does its own name resolution."""

    def __post_init__(self) -> None:
        """Keep collections of its own: an iterator gives its items once, and a set may change.

        Raises: TypeError for a text in place of a collection, in which "http" would be part of "https"; ValueError
        for an invalid NAT64 prefix (RFC 6052 2.2), and for a proxy that is not a URI with a host; the message does not
        show it, because it may hold a password."""
        for name in ("schemes", "hosts", "ports", "spoken", "redirects", "messages"):
            if isinstance(value := getattr(self, name), (str, bytes)):
                raise TypeError(f"{name} takes a collection, not one text")
            if value is not None:
                items = map(str.lower, value) if name in ("schemes", "hosts", "redirects") else value
                object.__setattr__(self, name, tuple(items) if name == "messages" else frozenset(items))
        object.__setattr__(self, "nat64", tuple(map(nat64_prefix, self.nat64)))
        if not isinstance(self.proxy, Mapping):  # the message does not show it, for it may hold a password
            raise TypeError('proxy takes a mapping of schemes to URIs, such as {"https": "http://h.example:3128"}')
        proxies = {
            name.lower(): exact(proxy, "Policy.proxy") if isinstance(proxy, str) else str(proxy)
            for name, proxy in self.proxy.items()
        }
        object.__setattr__(self, "proxy", proxies)  # the checked texts are stored
        for scheme, proxy in proxies.items():
            uri = URI.parse(proxy)
            if uri is None or not uri.host or not _is_port(uri.port_text):
                problem = "is not a URI with a host and a valid port: write http://host:port"
                raise ValueError(f"the proxy for {mask(scheme)!r} {problem} (RFC 9110 3.7)")

    @classmethod
    def local(cls) -> Self:
        """Return a policy for trusted URIs: it allows files, addresses that are not public, and any port."""
        return cls(private=True, ports=frozenset(_RESERVED_PORTS))

    def with_(self, **changes: object) -> Self:
        """Return a copy with changed fields."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def judge(self, uri: URI | str, *, registry: Registry | None = None) -> Judged:
        """Judge a URI before another client requests it: its scheme, host, port and bytes.

        Names are not resolved here: the client calls `addresses` when it connects.

        registry: the known schemes (default: the default registry).
        Raises: AccessRefused; InvalidURI for text that is not a URI of its scheme; PlanRefused for data that the
        protocol would read as delimiters; NotSpecified if the scheme has no retrieval.

        >>> Policy().judge("https://h.example/a")
        Judged(uri=URI('https://h.example/a'), host='h.example', port=443, tls=True)
        >>> Policy().judge("http://0x7f.1/")
        Traceback (most recent call last):
            ...
        overthere.access.errors.AccessRefused: 127.0.0.1 is loopback (RFC 3986 7.4; http://0x7f.1/)
        """
        from overthere.access.judgment import judge

        return judge(self, uri, registry)

    def addresses(
        self, host: str, port: int, *, resolve: Resolve | None = None, uri: URI | None = None
    ) -> list[Address]:
        """Return the allowed addresses of a host, in the order of the answer.

        host: a name, or an address without brackets.
        resolve: a function from name and port to addresses; default: the system's resolver, within `connect_timeout`.
        uri: for messages.
        Raises: AccessRefused if no address is allowed; AccessTimeout or AccessFailed without an answer (RFC 3986 7.4).

        >>> Policy().addresses("h.example", 443, resolve=lambda host, port: ["10.0.0.1", "192.0.43.8"])
        [IPv4Address('192.0.43.8')]
        """
        from overthere.access.judgment import addresses

        return addresses(self, host, port, resolve, uri)

    async def aaddresses(
        self, host: str, port: int, *, resolve: AsyncResolve | None = None, uri: URI | None = None
    ) -> list[Address]:
        """Do the same as `addresses` in an event loop of asyncio."""
        from overthere.access.judgment import aaddresses

        return await aaddresses(self, host, port, resolve, uri)

    def judge_scheme(self, scheme: Scheme, uri: URI) -> None:
        """Raises: AccessRefused if the scheme may not be opened."""
        name = scheme.name
        if self.schemes is not None and name not in self.schemes:
            raise AccessRefused("scheme", f"{name!r} is not an allowed scheme", "RFC 3986 7", uri)
        if scheme.local:
            self.judge_file(uri)

    def judge_file(self, uri: URI) -> None:
        """Raises: AccessRefused if files of this machine may not be read."""
        if not self.private:
            message = f"{uri.scheme.lower()!r} reads files of this machine, which is not allowed"
            raise AccessRefused("scheme", message, "RFC 3986 7.4", uri)

    def judge_redirect(self, source: URI, target: URI, registry: Registry | None = None) -> None:
        """Raises: AccessRefused if a server redirects to a local resource, to a forbidden scheme, or out of TLS;
        RegistryError if a package's claim to one of the schemes is empty.

        registry: the known schemes (default: the default registry).
        """
        schemes = Registry.default() if registry is None else registry
        old, new = schemes.scheme(source.scheme), schemes.scheme(target.scheme)
        before, after = old.name, new.name
        if new.local and not old.local:
            raise AccessRefused("redirect", "a server redirects to a file of this machine", "RFC 3986 7.4", source)
        if not self._may_lead(old, new):
            text = f"a redirect leads from {before} to {after}, which is not allowed: add {after!r} to Policy.redirects"
            raise AccessRefused("redirect", text, "RFC 3986 7, RFC 9110 15.4", source)
        if old.tls and not new.tls and not self.downgrade:
            text = f"a redirect leaves {before}: set Policy.downgrade to allow it"
            raise AccessRefused("redirect", text, "RFC 9110 4.2.2", source)

    def _may_lead(self, old: Scheme, new: Scheme) -> bool:
        if self.redirects is not None:
            return new.name in self.redirects
        return new.spoken == old.spoken or not {"*", old.spoken}.isdisjoint(new.redirected_from)

    def judge_octets(self, steps: Iterable[Step], scheme: Scheme, uri: URI) -> None:
        """Raises: AccessRefused if a port of another protocol would receive lines chosen by the URI."""
        if self.private:
            return
        from overthere.access.framing import FOREIGN, foreign_port_steps  # slow to load; most verbs open nothing

        for port, reason in foreign_port_steps(steps, scheme):
            if (scheme.name, port) not in self.spoken:
                message = f"{reason}: it takes {(scheme.name, port)} in Policy.spoken"
                raise AccessRefused("octets", message, FOREIGN, uri)

    def judge_connection(self, step: Connect, default: int | None, uri: URI) -> None:
        """Raises: AccessRefused if that host or port is not allowed."""
        self.judge_host(step.host, uri)
        if step.port != default and step.port in _RESERVED_PORTS and step.port not in self.ports:
            message = f"port {step.port} is reserved for another protocol than {uri.scheme!r}"
            raise AccessRefused("port", message, "RFC 3986 7.2", uri)
        address = literal(step.host, decoded=True)
        if address is not None:
            self.judge_address(address, uri)

    def judge_host(self, host: str, uri: URI) -> None:
        """Raises: AccessRefused if that host is not one of `hosts`."""
        if self.hosts is not None and not self._is_named(host):
            raise AccessRefused("host", f"{host!r} is not an allowed host", "RFC 3986 7", uri)

    def _is_named(self, host: str) -> bool:
        """Whether `hosts` allows a host; never a name that no client can resolve, whatever its suffix."""
        try:
            name = resolvable(host).lower().removesuffix(".")
        except UnicodeError:
            return False
        return any(name == host or (host.startswith(".") and name.endswith(host)) for host in self.hosts or ())

    def judge_data_port(self, port: int, uri: URI) -> None:
        """Raises: AccessRefused for the port of a data connection that is reserved or invalid.

        The server chooses it, not the URI, so `ports` does not apply.
        """
        if not 0 < port < 65536 or port in _RESERVED_PORTS:
            raise AccessRefused("port", f"the server gave port {port} for the data", "RFC 3986 7.2", uri)

    def judge_address(self, address: Address, uri: URI | None) -> None:
        """Raises: AccessRefused if the address is not public."""
        reason = None if self.private else forbidden(address, self.nat64)
        if reason is not None:
            raise AccessRefused("address", f"{address} is {reason}", "RFC 3986 7.4", uri)
