"""Known secrets masked in text from servers, in any escaping (RFC 3986 7.5).

`redact` finds a password in its place in a URI; a server that receives one may repeat it anywhere.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from overthere.ground.redact import MASK, mask, password_spans
from overthere.ground.secret_parameters import secret_parameters
from overthere.kernel.percent import percent_decode

__all__ = ["Secrets", "logins", "values"]

_DELIMITERS = re.compile(r"[/\\?#@:\[\]&;\t\n\r]+")
_CUTS = re.compile(r"[/?,@:\s]+")
_GAPS = re.compile(r"[\t\n\r]+")
_SHORT = 4
_PATTERN = 64
"""So many characters of a long secret are looked for; what follows them without a space is masked with them."""
_MOST = 60
"""Secrets that are searched; if there are more, every word is masked."""
_MOST_UNITS = 2_000
"""Characters of all secrets that are searched, a common beginning once; if there are more, every word is masked."""
_MESSAGE = 4_096
"""Characters of a message that is masked whole."""
_SHOWN = 950
"""Characters that are left of a longer message."""
_LONGEST = 16 * _PATTERN
"""Characters of the longest spelling: four octets of UTF-8, each as `\\xff`, for each character."""
_CODED = r"[\w+/-]"
"""A character of base64, in either of its alphabets."""


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
    by ISO Latin 1, and in base64, alone or behind any name and a colon (RFC 7617 2).  One of fewer than four characters
    is found where it is a word.

    >>> secrets = Secrets(["open sesame"])
    >>> secrets.mask("530 open%20sesame? Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ== is wrong")
    '530 ***? Basic *** is wrong'
    """

    __slots__ = ("_pattern", "known")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.known: tuple[str, ...] = tuple(islice(filter(None, dict.fromkeys(secrets)), _MOST + 1))
        """At most one more than are searched: that one makes every word be masked."""
        plain, coded, size = _Trie(), _Trie(), 0
        for number, secret in enumerate(self.known, 1):
            size += sum(map(plain.add, _spellings(secret)))
            if number > _MOST or size > _MOST_UNITS:
                expression = r"\S+"
                break
            for units in _base64_forms(secret):
                coded.add(units)
        else:
            # The beginning of the word is the name in base64.
            expression = rf"{plain.expression()}|(?>(?:(?<!{_CODED}){_CODED}*?)?{coded.expression()})"
        self._pattern = re.compile(expression, re.IGNORECASE) if self.known else None

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

    def mask_message(self, text: str) -> str:
        """The same for a message; only the beginning of a long one, and how much was left out."""
        if self._pattern is None or len(text) <= _MESSAGE:
            return self.mask(text)
        # The end may be the beginning of a secret that is cut.
        return f"{self.mask(mask(text)[:_MESSAGE])[:-_LONGEST][:_SHOWN]}… ({len(text) - _SHOWN:,} more characters)"

    def mask_in(self, value: Any, *, is_message: bool = False) -> Any:
        """The same in what is made of texts: lists, tuples, dicts; octets too.  Anything else stays what it is.

        is_message: whether the texts are messages, of which long ones are cut.
        """
        mask_text = self.mask_message if is_message else self.mask
        mask_item = partial(self.mask_in, is_message=is_message)
        match value:
            case str():
                return mask_text(value)
            case bytes():
                text = value.decode("latin-1")
                hidden = mask_text(text)
                return value if hidden == text else hidden.encode("latin-1", "replace")
            case dict():
                hidden_in: Any = {key: mask_item(item) for key, item in value.items()}
            case list():
                hidden_in = list(map(mask_item, value))
            case tuple() if type(value) is tuple:
                hidden_in = tuple(map(mask_item, value))
            case _:
                return value
        # One in which there is nothing stays the same object: what is added to it later is seen.
        return value if hidden_in == value else hidden_in


def _octets(text: str) -> bool:
    """Whether its surrogates stand for octets that are not valid UTF-8."""
    return all("\udc80" <= c <= "\udcff" for c in text if "\ud800" <= c <= "\udfff")


class _Trie(dict[str, "_Trie"]):
    """Sequences of small expressions: a common beginning is stored and matched once."""

    def add(self, units: Iterable[str]) -> int:
        """Add a sequence; return how many units are new."""
        node, added = self, 0
        for unit in (*units, ""):
            added += unit not in node
            node = node.setdefault(unit, _Trie())
        return added

    def expression(self) -> str:
        """The expression for the sequences; the longest that matches wins."""
        pieces, node = list[str](), self
        while len(node) == 1:
            ((unit, node),) = node.items()
            pieces.append(unit)
        if node:
            ways = [unit + rest.expression() for unit, rest in sorted(node.items(), reverse=True)]
            pieces.append(f"(?:{'|'.join(ways)})")
        return "".join(pieces)


def _spellings(secret: str) -> Iterator[list[str]]:
    """The expressions for a secret, each character in any of its spellings.

    What takes one character or several by the same beginning is settled for the whole secret.  Chosen character by
    character, a server's line of such beginnings would be tried in more ways than there is time for.
    """
    before, behind = ([r"(?<!\w)"], [r"(?!\w)"]) if len(secret) < _SHORT else ([], [])
    behind = [r"\S*"] if len(secret) > _PATTERN else behind
    for each in (True, False):
        for doubled in (False, True):
            yield [*before, *(_spelling(char, each, doubled) for char in secret[:_PATTERN]), *behind]


def _base64_forms(secret: str) -> Iterator[list[str]]:
    """The expressions for a secret in base64: alone, and behind a name of each length that shifts it differently."""
    octets = secret[:_PATTERN].encode("utf-8", "surrogateescape" if _octets(secret) else "surrogatepass")
    is_long = len(secret) > _PATTERN
    for whole, known in ((octets, 0), (b":" + octets, 0), (b"\0:" + octets, 2), (b"\0\0:" + octets, 3)):
        # The last group also holds what follows, where the secret is longer.
        text = b64encode(whole).decode().rstrip("=")[: len(whole) // 3 * 4 if is_long else None][known:]
        if whole is octets and len(text) <= _SHORT:
            continue
        # Few characters are also the end of words: these have the case of base64.
        case = "{}" if len(text) > _SHORT else "(?-i:{})"
        units = [case.format({"+": "[+-]", "/": "[/_]"}.get(char, char)) for char in text]
        # The second character also holds two bits of the name.
        yield [*(["[DTjz]"] if known == 2 else []), *units, r"[\w+/=-]*" if is_long else "={0,2}"]


def _spelling(char: str, each: bool, doubled: bool) -> str:
    """each: whether U+FFFD stands for each octet or for the character; doubled: whether backslashes are."""
    if char.isascii() and char.isalpha():  # in both cases, so that secrets that begin alike share their beginning
        escapes = rf"(?:%|\\x)(?:{ord(char.lower()):x}|{ord(char.upper()):x})"
        return f"(?:{char.lower()}|{escapes})"
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
