"""Internationalised host names (IDNA 2008, RFC 5890 to 5894; UTS 46): the one place that asks the library `idna`."""

from __future__ import annotations

__all__ = ["is_a_label", "mapped", "to_ascii", "to_unicode"]

_LONGEST = 1000
"""RFC 1034 3.1 has 255 octets; UTS 46 drops characters, so that a few more may make a name."""


def to_ascii(host: str) -> str:
    """A host name in A-labels, mapped by UTS 46 first.

    Raises: UnicodeError if there is no such name.

    >>> to_ascii("B\\u00fccher.example")
    'xn--bcher-kva.example'
    """
    import idna

    return idna.encode(_bounded(host), uts46=True).decode("ascii")


def to_unicode(label: str) -> str:
    """An A-label in its own script (RFC 5891 5.4).

    Raises: UnicodeError if it is none.

    >>> to_unicode("xn--bcher-kva")
    'bücher'
    """
    import idna

    return idna.decode(_bounded(label))


def is_a_label(label: str) -> bool:
    """Whether a label that begins with "xn--" is an A-label (RFC 5890 2.3.2.1): there and back gives the same.

    >>> is_a_label("xn--bcher-kva"), is_a_label("xn--a")
    (True, False)
    """
    import idna

    try:
        return idna.alabel(idna.ulabel(_bounded(label).lower())) == label.lower().encode()
    except UnicodeError:
        return False


def mapped(label: str) -> str:
    """A label as UTS 46 maps it (4, step 1), which may put dots into it.

    Raises: UnicodeError if it holds what no name may hold.

    >>> mapped("B\\u00dccher")
    'bücher'
    """
    import idna

    return idna.uts46_remap(_bounded(label))


def _bounded(text: str) -> str:
    if len(text) > _LONGEST:
        raise UnicodeError(f"too long: a name of more than {_LONGEST:,} characters")
    return text
