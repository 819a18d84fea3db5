"""The names of the rungs, in a module that imports almost nothing."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from overthere.ground.exact import exact


class Rung(IntEnum):
    """The rungs, in the order of 6.2; each avoids more false negatives and includes those below."""

    STRING = 0
    """6.2.1: character by character."""
    CASE = 1
    """6.2.2.1: case of scheme, host and hexadecimal digits."""
    PERCENT = 2
    """6.2.2.2: escapes of unreserved characters."""
    PATH = 3
    """6.2.2.3: dot-segments."""
    SYNTAX = 3
    """6.2.2: everything that the generic syntax allows, which is PATH."""
    SCHEME = 4
    """6.2.3: default and empty ports, empty paths, the scheme's own rules."""
    PROTOCOL = 5
    """6.2.4: the results of an access; needs evidence."""

    def __str__(self) -> str:
        return self.name

    @classmethod
    def _missing_(cls, value: object) -> Rung:
        """Return a rung by its name, in any case.

        >>> Rung("scheme"), str(Rung.SCHEME)
        (<Rung.SCHEME: 4>, 'SCHEME')
        """
        name = str.upper(value) if isinstance(value, str) else ""
        if name in cls.__members__:
            return cls[name]
        from overthere.ground.redact import mask_texts  # a URI may stand here by mistake

        names = ", ".join(cls.__members__)
        raise ValueError(f"{mask_texts(value)!r:.100} is not a rung; the rungs are {names} (RFC 3986 6.2)")


def rung_of(value: Rung | str | int) -> Rung:
    """Return a rung (RFC 3986 6.2), also by its name in any case or by its number.  Raises: ValueError.

    >>> rung_of("scheme")
    <Rung.SCHEME: 4>
    """
    name_or_number: Any = exact(value, "a rung") if isinstance(value, str) else value
    return Rung(name_or_number)
