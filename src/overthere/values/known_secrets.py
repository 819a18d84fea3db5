"""Known secrets masked in text from servers, in any escaping (RFC 3986 7.5).

`redact` finds a password at its place in a URI; a server that receives one may repeat it anywhere.
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

_DELIMITERS = re.compile(r"[/\\?#@:\[\]&;\t\n\r]+")
_VALUE_DELIMITERS = re.compile(r"[/?#,@:;&=\s]+")
_BREAKS = re.compile(r"[\t\n\r]+")
_MIN_LENGTH = 4
_MAX_PATTERN = 64
"""Characters of a long secret that are searched; the text after them up to a space is masked with them."""
_MAX_SECRETS = 60
"""Maximum secrets that are searched; beyond that every word is masked."""
_MAX_UNITS = 2_000
"""Maximum characters of all searched secrets, a common beginning counted once; beyond that every word is masked."""
_LONG = 4_096
"""Maximum characters of a message that is masked as a whole."""
_SHORT = 950
"""Characters that remain of a longer message."""
_OVERLAP = 16 * _MAX_PATTERN
"""Characters of the longest spelling: for each character four octets of UTF-8, each as `\\xff`."""
_BASE64 = r"[\w+/-]"
"""A character of base64, in either of its alphabets."""


def logins(text: str) -> list[tuple[str, str]]:
    """Return the passwords in a URI or in any text with their user names, decoded (RFC 3986 2.1).

    >>> logins("ftp://joe:p%40ss@h/")
    [('joe', 'p@ss')]
    """
    spans = zip(password_spans(text), password_spans(text, userinfo=True), strict=False)
    encoded_logins = [(text[userinfo_span[0] : span[0]], text[slice(*span)]) for span, userinfo_span in spans]
    return [(_decode_escapes(user).rstrip(":"), _decode_escapes(password)) for user, password in encoded_logins]


def values(text: str) -> list[str]:
    """Return the values of secret parameters in a URI or in any text: as written, decoded, and in pieces.

    Schemes split values at their own delimiters; a piece has at least four characters.

    >>> values("http://h/?page=2&access_token=a%2Bb"), values("ftp://h/a;token=secret/b")
    (['a%2Bb', 'a+b', 'a b'], ['secret/b', 'secret'])
    """
    results = [text[item.value : item.close] for item in secret_parameters(text)]
    results += map(_decode_escapes, tuple(results))
    results += [item.replace("+", " ") for item in results]
    results += [piece for item in results for piece in _VALUE_DELIMITERS.split(item) if len(piece) >= _MIN_LENGTH]
    return list(dict.fromkeys(results))


def _decode_escapes(text: str) -> str:
    return percent_decode(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogateescape")


class Secrets:
    """Secrets that must never be shown; true if there are any.

    A secret is found as written, in either case, with any of its characters escaped by "%", a backslash or as UTF-8
    read by ISO Latin 1, and in base64, alone or after any name and a colon (RFC 7617 2).  One of fewer than four
    characters is found only as a word.

    >>> secrets = Secrets(["open sesame"])
    >>> secrets.mask("530 open%20sesame? Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ== is wrong")
    '530 ***? Basic *** is wrong'
    """

    __slots__ = ("_pattern", "known")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.known: tuple[str, ...] = tuple(islice(filter(None, dict.fromkeys(secrets)), _MAX_SECRETS + 1))
        """At most one more than is searched: that one causes every word to be masked."""
        plain, coded, size = _Trie(), _Trie(), 0
        for number, secret in enumerate(self.known, 1):
            size += sum(map(plain.add, _spellings(secret)))
            if number > _MAX_SECRETS or size > _MAX_UNITS:
                expression = r"\S+"
                break
            for units in _base64_forms(secret):
                coded.add(units)
        else:
            # The beginning of the word is the name in base64.
            expression = rf"{plain.expression()}|(?>(?:(?<!{_BASE64}){_BASE64}*?)?{coded.expression()})"
        self._pattern = re.compile(expression, re.IGNORECASE) if self.known else None

    @classmethod
    def from_texts(cls, *texts: str, others: Iterable[str] = ()) -> Secrets:
        """Return the secrets in texts, to mask them in derived text: passwords also in pieces, split at delimiters.

        >>> Secrets.from_texts("ftp://joe:pass?word@h/").mask("path: h/pass, query: word@h")
        'path: h/***, query: ***@h'
        """
        passwords = [password for text in texts for _, password in logins(text)]
        pieces = [piece for password in passwords for piece in _DELIMITERS.split(password)]
        parameters = (value for text in texts for value in values(text))
        return cls([*others, *passwords, *pieces, *(_BREAKS.sub("", password) for password in passwords), *parameters])

    def __bool__(self) -> bool:
        return self._pattern is not None

    def __repr__(self) -> str:
        return f"Secrets({MASK if self else ''})"

    def mask(self, text: str) -> str:
        """Return the text with `***` for each secret."""
        return text if self._pattern is None else self._pattern.sub(MASK, text)

    def mask_message(self, text: str) -> str:
        """Mask a message; of a long one return only the beginning, and the number of omitted characters."""
        if self._pattern is None or len(text) <= _LONG:
            return self.mask(text)
        # The end may be the beginning of a secret that was cut off.
        return f"{self.mask(mask(text)[:_LONG])[:-_OVERLAP][:_SHORT]}… ({len(text) - _SHORT:,} more characters)"

    def mask_in(self, value: Any, *, is_message: bool = False) -> Any:
        """Mask the texts in lists, tuples and dicts, and octets; return any other value unchanged.

        is_message: whether the texts are messages, of which long ones are shortened.
        """
        mask_text = self.mask_message if is_message else self.mask
        mask_item = partial(self.mask_in, is_message=is_message)
        match value:
            case str():
                return mask_text(value)
            case bytes():
                text = value.decode("latin-1")
                masked = mask_text(text)
                return value if masked == text else masked.encode("latin-1", "replace")
            case dict():
                masked_value: Any = {key: mask_item(item) for key, item in value.items()}
            case list():
                masked_value = list(map(mask_item, value))
            case tuple() if type(value) is tuple:
                masked_value = tuple(map(mask_item, value))
            case _:
                return value
        # A value without secrets stays the same object, so that later changes to it are seen.
        return value if masked_value == value else masked_value


def _is_escaped(text: str) -> bool:
    """Whether all surrogates in a text represent octets that are not valid UTF-8."""
    return all("\udc80" <= c <= "\udcff" for c in text if "\ud800" <= c <= "\udfff")


class _Trie(dict[str, "_Trie"]):
    """Sequences of small expressions: a common beginning is stored and matched once."""

    def add(self, units: Iterable[str]) -> int:
        """Add a sequence; return how many units are new."""
        node, new_units = self, 0
        for unit in (*units, ""):
            new_units += unit not in node
            node = node.setdefault(unit, _Trie())
        return new_units

    def expression(self) -> str:
        """Return the expression for the sequences; the longest match wins."""
        pieces, node = list[str](), self
        while len(node) == 1:
            ((unit, node),) = node.items()
            pieces.append(unit)
        if node:
            alternatives = [unit + subtrie.expression() for unit, subtrie in sorted(node.items(), reverse=True)]
            pieces.append(f"(?:{'|'.join(alternatives)})")
        return "".join(pieces)


def _spellings(secret: str) -> Iterator[list[str]]:
    """Yield the expressions for a secret, with each character in any of its spellings.

    Ambiguous spellings, which may be one character or several, are chosen for the whole secret.  Chosen for each
    character, a hostile line would be matched in exponentially many ways.
    """
    before, after = ([r"(?<!\w)"], [r"(?!\w)"]) if len(secret) < _MIN_LENGTH else ([], [])
    after = [r"\S*"] if len(secret) > _MAX_PATTERN else after
    for per_octet in (True, False):
        for doubled in (False, True):
            yield [*before, *(_spelling(char, per_octet, doubled) for char in secret[:_MAX_PATTERN]), *after]


def _base64_forms(secret: str) -> Iterator[list[str]]:
    """Yield the expressions for a secret in base64: alone, and after names of each length modulo 3."""
    data = secret[:_MAX_PATTERN].encode("utf-8", "surrogateescape" if _is_escaped(secret) else "surrogatepass")
    is_long = len(secret) > _MAX_PATTERN
    for shifted, skip in ((data, 0), (b":" + data, 0), (b"\0:" + data, 2), (b"\0\0:" + data, 3)):
        # The last group also encodes the following text, if the secret is longer.
        text = b64encode(shifted).decode().rstrip("=")[: len(shifted) // 3 * 4 if is_long else None][skip:]
        if shifted is data and len(text) <= _MIN_LENGTH:
            continue
        # A short text is also the end of words: it must have the case of base64.
        case = "{}" if len(text) > _MIN_LENGTH else "(?-i:{})"
        units = [case.format({"+": "[+-]", "/": "[/_]"}.get(char, char)) for char in text]
        # The second character also encodes two bits of the name.
        yield [*(["[DTjz]"] if skip == 2 else []), *units, r"[\w+/=-]*" if is_long else "={0,2}"]


def _spelling(char: str, per_octet: bool, doubled: bool) -> str:
    """per_octet: whether U+FFFD represents each octet or the character; doubled: whether backslashes are doubled."""
    if char.isascii() and char.isalpha():  # in both cases, so that secrets with a common beginning share it
        escapes = rf"(?:%|\\x)(?:{ord(char.lower()):x}|{ord(char.upper()):x})"
        return f"(?:{char.lower()}|{escapes})"
    octets = char.encode("utf-8", "surrogateescape" if _is_escaped(char) else "surrogatepass")
    forms = [r"\s" if char in "\t\r\n" else r"\\\\" if char == "\\" and doubled else re.escape(char)]
    for coded in {octets, char.encode("latin-1", "ignore")}:
        if coded:
            forms += ["".join(f"%{octet:02x}" for octet in coded), "".join(rf"\\x{octet:02x}" for octet in coded)]
            forms += ["".join(re.escape(chr(octet)) for octet in coded)] if not char.isascii() else []
    if char == " ":
        forms.append(r"\+")
    if char in "\"'":
        forms.append(rf"\\{char}")
    if char in "\t\r\n":
        forms.append(rf"\\{'t' if char == chr(9) else 'r' if char == chr(13) else 'n'}")
    if not char.isascii() or not char.isprintable():
        forms += [rf"\\u{ord(char):04x}"]
        forms += ["\ufffd" * len(octets if per_octet else char)] if char != "\ufffd" else []
    return f"(?:{'|'.join(dict.fromkeys(forms))})"
