"""Known secrets masked in text from servers, in any escaping (RFC 3986 7.5).

`redact` finds a password in its place in a URI; a server that receives one may repeat it anywhere.
"""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable
from typing import Any

from overthere.ground.redact import MASK, password_spans
from overthere.ground.secret_parameters import secret_parameters
from overthere.kernel.percent import percent_decode

__all__ = ["Secrets", "logins", "values"]

_DELIMITERS = re.compile(r"[/\\?#@:\[\]&;\t\n\r]+")
_CUTS = re.compile(r"[/?,@:\s]+")
_GAPS = re.compile(r"[\t\n\r]+")
_SHORT = 4
_MOST = 60
"""Secrets that are looked for; among more of them every word is masked."""
_PATTERN = 64
"""So many characters of a long secret are looked for; what follows them without a space is masked with them."""


def logins(text: str) -> list[tuple[str, str]]:
    """The passwords that stand in a URI or in any text, each behind its name, decoded (RFC 3986 2.1).

    >>> logins("ftp://joe:p%40ss@h/")
    [('joe', 'p@ss')]
    """
    spans = zip(password_spans(text), password_spans(text, userinfo=True), strict=False)
    named = [(text[whole[0] : span[0]], text[slice(*span)]) for span, whole in spans]
    return [(_decode_escapes(user).rstrip(":"), _decode_escapes(password)) for user, password in named]


def values(text: str) -> list[str]:
    """The values of secret parameters that stand in a URI or in any text: as written, decoded, and in pieces.

    Schemes cut values at delimiters of their own; a piece has four characters or more.

    >>> values("http://h/?page=2&access_token=a%2Bb"), values("ftp://h/a;token=secret/b")
    (['a%2Bb', 'a+b', 'a b'], ['secret/b', 'secret'])
    """
    found = [text[one.value : one.close] for one in secret_parameters(text)]
    found += map(_decode_escapes, tuple(found))
    found += [one.replace("+", " ") for one in found]
    found += [piece for one in found for piece in _CUTS.split(one) if len(piece) >= _SHORT]
    return list(dict.fromkeys(found))


def _decode_escapes(text: str) -> str:
    return percent_decode(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogateescape")


class Secrets:
    """What is never to be shown; true if there is anything.

    A secret is found as it is, in either case, with any of its characters escaped by "%", a backslash or as UTF-8 read
    by ISO Latin 1, and in base64, alone or behind a name and a colon (RFC 7617 2).  One of fewer than four characters
    is found where it is a word.

    >>> secrets = Secrets(["open sesame"], ["Aladdin"])
    >>> secrets.mask("530 open%20sesame? Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ== is wrong")
    '530 ***? Basic *** is wrong'
    """

    __slots__ = ("_pattern",)

    def __init__(self, secrets: Iterable[str] = (), users: Iterable[str] = ()) -> None:
        """users: the names that may stand before a secret in base64."""
        names = list(dict.fromkeys(users))
        patterns: dict[str, None] = {}
        known = list(filter(None, dict.fromkeys(secrets)))
        if len(known) > _MOST:
            patterns, known = {r"\S+": None}, []
        for secret in known:
            patterns[_spellings(secret)] = None
            octets = secret[:_PATTERN].encode("utf-8", "surrogateescape" if _octets(secret) else "surrogatepass")
            for before in ("", *(f"{name}:" for name in names)):
                whole = before.encode("utf-8", "surrogatepass") + octets
                for coded in (b64encode(whole), urlsafe_b64encode(whole)):
                    # The last group also holds what follows, where the secret is longer.
                    text = coded.decode().rstrip("=")
                    text = text if len(secret) <= _PATTERN else text[: len(whole) // 3 * 4]
                    if len(text) > _SHORT:
                        patterns[re.escape(text) + (r"[\w+/=-]*" if len(secret) > _PATTERN else "={0,2}")] = None
        self._pattern = re.compile("|".join(patterns), re.IGNORECASE) if patterns else None

    @classmethod
    def from_texts(cls, *texts: str, others: Iterable[str] = ()) -> Secrets:
        """The secrets in texts, for what is made of them: passwords also in the pieces into which delimiters cut them.

        >>> Secrets.from_texts("ftp://joe:pass?word@h/").mask("path: h/pass, query: word@h")
        'path: h/***, query: ***@h'
        """
        passwords = [password for text in texts for _, password in logins(text)]
        pieces = [piece for one in passwords for piece in _DELIMITERS.split(one)]
        parameters = (value for text in texts for value in values(text))
        return cls([*others, *passwords, *pieces, *(_GAPS.sub("", one) for one in passwords), *parameters])

    def __bool__(self) -> bool:
        return self._pattern is not None

    def __repr__(self) -> str:
        return f"Secrets({MASK if self else ''})"

    def mask(self, text: str) -> str:
        """The text with `***` for each of them."""
        return text if self._pattern is None else self._pattern.sub(MASK, text)

    def mask_in(self, value: Any) -> Any:
        """The same in what is made of texts: lists, tuples, dicts; octets too.  Anything else stays what it is."""
        match value:
            case str():
                return self.mask(value)
            case bytes():
                text = value.decode("latin-1")
                hidden = self.mask(text)
                return value if hidden == text else hidden.encode("latin-1")
            case dict():
                hidden_in: Any = {key: self.mask_in(item) for key, item in value.items()}
            case list():
                hidden_in = [self.mask_in(item) for item in value]
            case tuple() if type(value) is tuple:
                hidden_in = tuple(map(self.mask_in, value))
            case _:
                return value
        # One in which there is nothing stays the same object: what is added to it later is seen.
        return value if hidden_in == value else hidden_in


def _octets(text: str) -> bool:
    """Whether its surrogates stand for octets that are not valid UTF-8."""
    return all("\udc80" <= c <= "\udcff" for c in text if "\ud800" <= c <= "\udfff")


def _spellings(secret: str) -> str:
    """An expression for a secret, each character in any of its spellings.

    What takes one character or several by the same beginning is settled for the whole secret.  Chosen character by
    character, a server's line of such beginnings would be tried in more ways than there is time for.
    """
    settled = [(each, doubled) for each in (True, False) for doubled in (False, True)]
    ways = ("".join(_spelling(char, *how) for char in secret[:_PATTERN]) for how in settled)
    body = f"(?:{'|'.join(dict.fromkeys(ways))})"
    if len(secret) > _PATTERN:
        return rf"{body}\S*"
    return rf"(?<!\w){body}(?!\w)" if len(secret) < _SHORT else body


def _spelling(char: str, each: bool, doubled: bool) -> str:
    """each: whether U+FFFD stands for each octet or for the character; doubled: whether backslashes are."""
    octets = char.encode("utf-8", "surrogateescape" if _octets(char) else "surrogatepass")
    ways = [r"\s" if char in "\t\r\n" else r"\\\\" if char == "\\" and doubled else re.escape(char)]
    for coded in {octets, char.encode("latin-1", "ignore")}:
        if coded:
            ways += ["".join(f"%{octet:02x}" for octet in coded), "".join(rf"\\x{octet:02x}" for octet in coded)]
            ways += ["".join(re.escape(chr(octet)) for octet in coded)] if not char.isascii() else []
    if char == " ":
        ways.append(r"\+")
    if char in "\"'":
        ways.append(rf"\\{char}")
    if char in "\t\r\n":
        ways.append(rf"\\{'t' if char == chr(9) else 'r' if char == chr(13) else 'n'}")
    if not char.isascii() or not char.isprintable():
        ways += [rf"\\u{ord(char):04x}"]
        ways += ["\ufffd" * len(octets if each else char)] if char != "\ufffd" else []
    return f"(?:{'|'.join(dict.fromkeys(ways))})"
