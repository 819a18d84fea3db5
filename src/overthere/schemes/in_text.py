"""Facts of schemes for searching and displaying text, in a table, so that no scheme is loaded.

`in_text.csv` is written by `make docs` from the schemes themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from overthere.schemes.model import Scheme

# Shapes after the colon that several schemes share; each looks at a bounded number of characters.
NESTED = r"[A-Za-z][A-Za-z0-9+.-]{1,30}:"
"""The scheme of a URI within."""
MAILBOX = r"[A-Za-z0-9.!$&'*+/=?^_`{|}~%:;-]{1,256}@[A-Za-z0-9\[%]"
"""A local part and what a domain begins with (RFC 5322 3.4.1)."""
PHONE = r"\+[0-9(]|[0-9A-Fa-f*#().-]{1,32};phone-context="
"""A global number, or a local one with its context (RFC 3966 3)."""


class InText(NamedTuple):
    """The fields of `Scheme` of the same names."""

    needs_host: bool
    linkable: bool
    shape: str


def facts_of(scheme: Scheme) -> InText:
    """Those of a scheme that is loaded."""
    return InText(scheme.needs_host, scheme.linkable, scheme.shape)


@cache
def built_in() -> Mapping[str, InText]:
    """The table: name -> facts.

    >>> built_in()["tel"].linkable, built_in()["ws"].needs_host
    (True, True)
    """
    import csv
    from pkgutil import get_data

    text = (get_data("overthere.schemes", "in_text.csv") or b"").decode()
    rows = list(csv.reader(text.splitlines()))[1:]
    return MappingProxyType({name: InText(host == "yes", link == "yes", shape) for name, host, link, shape in rows})


def table() -> str:
    """The text of the table, from the schemes."""
    import csv
    from io import StringIO

    from overthere.schemes.registry import BUILT_IN, Registry

    out = StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(("name", *InText._fields))
    for name in sorted(BUILT_IN):
        facts = facts_of(Registry.default().scheme(name))
        write((name, *("yes" if one else "no" for one in facts[:2]), facts.shape))
    return out.getvalue()
