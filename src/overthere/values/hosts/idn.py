"""Internationalised host names (IDNA 2008, RFC 5890 to 5894; UTS 46): the only module that uses `idna`."""

from __future__ import annotations

from unicodedata import bidirectional

from overthere.kernel.percent import percent_decode  # the native one refuses a broken escape, here it stays

_MAX_LENGTH = 1000
"""RFC 1034 3.1 allows 255 octets; UTS 46 drops characters, so that a few more may make a name."""


def to_ascii(host: str) -> str:
    """Return a host name in A-labels, mapped by UTS 46 first.

    Raises: UnicodeError for an invalid name.

    >>> to_ascii("B\\u00fccher.example")
    'xn--bcher-kva.example'
    """
    import idna

    return idna.encode(_check_length(host), uts46=True).decode("ascii")


def a_labels(host: str) -> str:
    """Return a host of a URI or an IRI with A-labels for non-ASCII letters and for their escapes.

    An address, and a name of US-ASCII, stay unchanged.

    Raises: UnicodeError for escapes that are not UTF-8, and for letters that a name cannot have.

    >>> a_labels("B%C3%BCcher.example"), a_labels("[::1]"), a_labels("a%2Db")
    ('xn--bcher-kva.example', '[::1]', 'a%2Db')
    """
    if host.startswith("[") or (host.isascii() and "%" not in host):
        return host
    name = percent_decode(host.encode()).decode()
    return host if name.isascii() else to_ascii(name)


def to_unicode(label: str) -> str:
    """Return an A-label in its own script (RFC 5891 5.4).

    Raises: UnicodeError if it is not a valid A-label.

    >>> to_unicode("xn--bcher-kva")
    'bücher'
    """
    import idna

    return idna.decode(_check_length(label))


def is_a_label(label: str) -> bool:
    """Whether a label that begins with "xn--" is an A-label (RFC 5890 2.3.2.1): there and back gives the same.

    >>> is_a_label("xn--bcher-kva"), is_a_label("xn--a")
    (True, False)
    """
    import idna

    try:
        return idna.alabel(idna.ulabel(_check_length(label).lower())) == label.lower().encode()
    except UnicodeError:
        return False


def is_right_to_left(label: str) -> bool:
    """Whether a U-label makes its name a Bidi domain name (RFC 5893 1.4).

    >>> is_right_to_left("\u05d0"), is_right_to_left("a1")
    (True, False)
    """
    return not label.isascii() and any(bidirectional(character) in ("R", "AL", "AN") for character in label)


def check_bidi(label: str) -> None:
    """Check the Bidi rule (RFC 5893 2), which holds for each label of a Bidi domain name.

    Raises: UnicodeError for a label that breaks it.
    """
    import idna

    idna.check_bidi(label, check_ltr=True)


def map_label(label: str) -> str:
    """Return a label as UTS 46 maps it (4, step 1), which may insert dots.

    Raises: UnicodeError if it has a character that no name may have.

    >>> map_label("B\\u00dccher")
    'bücher'
    """
    import idna

    return idna.uts46_remap(_check_length(label))


def _check_length(text: str) -> str:
    if len(text) > _MAX_LENGTH:
        raise UnicodeError(f"too long: a name of more than {_MAX_LENGTH:,} characters")
    return text
