"""Registrable domains by the Public Suffix List (publicsuffix.org, The Algorithm).

The list comes with the package `publicsuffixlist` (extra `domains`): nothing is fetched, `SuffixList.version` is its
date.  It has two sections: ICANN, of registries, and private, of owners who let others have names (github.io).
"""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import NamedTuple

from overthere.ground.caches import bounded_cache
from overthere.ground.errors import CodingError
from overthere.ground.unicode_forms import normalize_unicode
from overthere.values.hosts.idn import to_ascii


class Domain(NamedTuple):
    """A host's name split into three parts, which are joined by dots in it."""

    subdomain: str | None
    """The part before the registrable domain; None if it is empty."""
    registrable_domain: str | None
    """The public suffix with one more label; None for a name that is itself a public suffix."""
    public_suffix: str
    rule: str = "*"
    """The prevailing rule, such as "co.uk", "*.ck" or "!www.ck"; "*" if the list has none for the name."""
    private: bool = False
    """Whether that rule is in the private section."""


# The kinds of rules for a name, as flags.
_EXACT, _WILDCARD, _EXCEPTION = 1, 2, 4
_PRIVATE = 3
"""The flags are shifted by this many bits for the private section."""
_VERSION = re.compile(r"^// VERSION: *([0-9-]+)", re.MULTILINE)
# UTS 46 reads these as dots too.
_DOTS = re.compile("[\u3002\uff0e\uff61]")
# A top-level domain is never a number (RFC 3696 2): a name that ends in one is an address, in whatever spelling.
_NUMBER = re.compile("[0-9]+|0[xX][0-9A-Fa-f]*")


class SuffixList:
    """The list, read once from its text; names are looked up in both forms, A-labels and U-labels (RFC 5890 2.3.2.1).

    >>> rules = SuffixList("uk\\n*.ck\\n!www.ck\\n// ===BEGIN PRIVATE DOMAINS===\\nio.uk")
    >>> [rules.split(name).registrable_domain for name in ("a.b.c.uk", "a.b.c.ck", "a.www.ck", "a.b.io.uk")]
    ['c.uk', 'b.c.ck', 'www.ck', 'b.io.uk']
    >>> rules.split("a.b.io.uk", private=False).registrable_domain
    'io.uk'
    """

    __slots__ = ("rules", "version")

    def __init__(self, text: str) -> None:
        match = _VERSION.search(text)
        self.version: str | None = match[1].strip("-") if match else None
        """The day on which the list was made, such as "2026-10-22"; None if its text does not have it."""
        self.rules: dict[str, int] = {}
        """Names, each with the flags of its rules in both sections."""
        private = False
        for line in text.splitlines():
            if line.startswith("//"):
                private = private or "BEGIN PRIVATE DOMAINS" in line
            elif line.strip():
                self._add(line.split()[0], private)

    def _add(self, rule: str, private: bool) -> None:
        flag, name = _EXACT, rule
        if rule.startswith("!"):
            flag, name = _EXCEPTION, rule[1:]
        elif rule.startswith("*."):
            flag, name = _WILDCARD, rule[2:]
        name = _match_key(name)
        # Each label in both forms, because a name may mix them.
        forms = {name}
        if not name.isascii():
            forms = {".".join(labels) for labels in product(*({label, _a_label(label)} for label in name.split(".")))}
        for form in forms:
            self.rules[form] = self.rules.get(form, 0) | flag << (_PRIVATE if private else 0)
            # Names above it get an entry too: a name without entry ends the search.
            while (dot := form.find(".")) >= 0:
                form = form[dot + 1 :]
                self.rules.setdefault(form, 0)

    def __repr__(self) -> str:
        return f"<SuffixList of {self.version}, {len(self.rules):,} names>"

    def split(self, host: str, *, private: bool = True) -> Domain | None:
        """Split a host's name by the prevailing rule: an exception, the one with most labels, or "*" (one label).

        None for an address, and for a name with an empty label.  A final dot is left out; escapes are decoded.
        private: whether the rules of the private section count, as in browsers.

        >>> suffix_list().split("www.bbc.co.uk.")
        Domain(subdomain='www', registrable_domain='bbc.co.uk', public_suffix='co.uk', rule='co.uk', private=False)
        >>> suffix_list().split("joe.github.io")
        Domain(subdomain=None, registrable_domain='joe.github.io', public_suffix='github.io', rule='github.io',
            private=True)
        >>> suffix_list().split("joe.github.io", private=False).registrable_domain
        'github.io'
        >>> [one and one.registrable_domain for one in map(suffix_list().split, ("127.0.0.1", "[::1]", "com"))]
        [None, None, None]
        """
        name = host
        if "%" in name:
            from overthere.values.encoding import decode

            try:
                name = decode(name)
            except CodingError:
                return None
        if not name.isascii():
            name = _DOTS.sub(".", name)
        name = name.removesuffix(".")
        labels = name.split(".")
        if "" in labels or name[0] == "[" or _NUMBER.fullmatch(labels[-1]):
            return None
        keys = _match_key(name).split(".")
        count, rule, own = self._suffix(keys, private) if len(keys) == len(labels) else (1, "*", False)
        suffix_start = len(labels) - count
        return Domain(
            ".".join(labels[: suffix_start - 1]) or None if suffix_start > 1 else None,
            ".".join(labels[suffix_start - 1 :]) if suffix_start > 0 else None,
            ".".join(labels[suffix_start:]),
            rule,
            own,
        )

    def _suffix(self, labels: list[str], private: bool) -> tuple[int, str, bool]:
        """Return the number of labels of the public suffix, its rule, and whether the rule is private."""
        best, name = (1, "*", False), ""
        for count, label in enumerate(reversed(labels), 1):
            name = f"{label}.{name}" if name else label
            flags = self.rules.get(name)
            if flags is None:
                break
            both = flags | (flags >> _PRIVATE if private else 0)
            if both & _EXCEPTION:
                return count - 1, f"!{name}", not flags & _EXCEPTION
            if both & _EXACT and count >= best[0]:
                best = count, name, not flags & _EXACT
            if both & _WILDCARD and count < len(labels):
                best = count + 1, f"*.{name}", not flags & _WILDCARD
        return best


def _match_key(name: str) -> str:
    """Return a name in the form that is compared: without case, and in one normal form."""
    return name.lower() if name.isascii() else normalize_unicode("NFKC", name).lower()


def _a_label(label: str) -> str:
    return label if label.isascii() else to_ascii(label)


@cache
def suffix_list() -> SuffixList:
    """Return the installed list, read at its first use.

    Raises: ModuleNotFoundError with the command that installs it.

    >>> len(suffix_list().version)
    10
    """
    from pkgutil import get_data

    from overthere.ground.extras import need

    need("domains", "publicsuffixlist")
    data = get_data("publicsuffixlist", "public_suffix_list.dat")
    if data is None:  # pragma: no cover - a loader without data
        raise FileNotFoundError("public_suffix_list.dat")
    return SuffixList(data.decode())


@bounded_cache(1000)
def of_host(host: str | None) -> Domain | None:
    """Return the parts of a host's name, for the values; None without a host."""
    return suffix_list().split(host) if host else None
