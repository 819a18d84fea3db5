"""The decoded name of a host (RFC 3986 3.2.2)."""

from __future__ import annotations

import re

from overthere.ground.errors import PlanRefused
from overthere.kernel.percent import percent_decode

_OCTET = re.compile("[\ud800-\udfff]")


def decoded_host(host: str | None) -> str:
    """Return the host of a locator decoded; "" for None.  A "%" that does not begin an escape stays, and octets that
    are not UTF-8 become lone surrogates."""
    return percent_decode((host or "").encode("utf-8", "surrogatepass")).decode("utf-8", "surrogateescape")


def host_name(host: str | None) -> str:
    """Return the host as a name that can be looked up.

    Raises: PlanRefused for octets that are not UTF-8, which a registered name cannot have (RFC 3986 3.2.2).

    >>> host_name("b%C3%BCcher.example")
    'bücher.example'
    """
    name = decoded_host(host)
    if match := _OCTET.search(name):
        character = f"%{ord(match[0]) & 0xFF:02X}" if match[0] >= "\udc80" else f"U+{ord(match[0]):04X}"
        raise PlanRefused(
            f"the host contains {character} and is not valid UTF-8, so it cannot be looked up", "RFC 3986 3.2.2"
        )
    return name
