"""IANA's registry of URI schemes, as of 18 November 2022 (`iana.csv`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

REGISTRY_DATE = "2022-11-18"
"""The day of the registry: a later registration is not in it."""


class Registration(NamedTuple):
    """A row of the registry (RFC 7595 7)."""

    name: str
    status: str
    """"Permanent", "Provisional" or "Historical"."""
    description: str
    reference: str
    """The documents or the people that the registry refers to; "" if it names none."""


@cache
def registrations() -> Mapping[str, Registration]:
    """All rows by name."""
    import csv
    from pkgutil import get_data

    text = (get_data("overthere.schemes", "iana.csv") or b"").decode()
    rows = [Registration(*row) for row in csv.reader(text.splitlines()[1:])]
    return MappingProxyType({row.name: row for row in rows})


def registration(name: str) -> Registration | None:
    """The row of a name, in any case; None if it is not registered.

    >>> registration("gopher")
    Registration(name='gopher', status='Permanent', description='The Gopher Protocol', reference='RFC4266')
    """
    return registrations().get(name.lower())
