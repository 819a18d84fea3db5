"""The Gopher+ string: the request for a Gopher+ item (1994 GOPHER; RFC 1738 3.4.3 to 3.4.9; RFC 4266 2.3 to 2.9;
"Gopher+, upward compatible enhancements", 30 July 1993, cited as Gopher+).

Read into values and written back, octet by octet: `read(octets).string == octets`, whatever the octets are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from overthere.ground.errors import CodingError


class Answers(NamedTuple):
    """A data block of lines, ended by a line with a period alone: "+-1" (Gopher+ 2.3), the one that URIs print."""

    lines: tuple[bytes, ...]
    """The answers to the lines of the form, without line ends; no line is only a period."""

    @property
    def octets(self) -> bytes:
        return b"+-1\r\n" + b"".join(line + b"\r\n" for line in self.lines) + b".\r\n"


class Block(NamedTuple):
    """A data block of octets, with its length, or ("+-2") up to the end of the connection (Gopher+ 2.3)."""

    data: bytes
    counted: bool = True

    @property
    def octets(self) -> bytes:
        return (b"+%d\r\n" % len(self.data) if self.counted else b"+-2\r\n") + self.data


class View(NamedTuple):
    """ "+": the content of an item, in the default view or another, with the answers of a form
    (1994 GOPHER, Summary; RFC 4266 2.4, 2.8, 2.9; Gopher+ 2.4).

    >>> View("application/postscript", "Es_ES").string
    b'+application/postscript Es_ES'
    >>> View().filled("Tim", "blue").string
    b'+\\t1\\r\\n+-1\\r\\nTim\\r\\nblue\\r\\n.\\r\\n'
    """

    name: str | None = None
    """A content type, "application/postscript"; None is the default view."""
    language: str | None = None
    """A language and a country, "Es_ES" (Gopher+ A3.0)."""
    data: Answers | Block | None = None
    """The data block that follows the request."""
    flag: bool = False
    """Whether the data flag "0" is written without a data block (Gopher+ 2.4)."""

    @property
    def command(self) -> bytes:
        """The string without data flag and data block."""
        language = b"" if self.language is None else b" " + _ascii(self.language)
        return b"+" + _ascii(self.name or "") + language

    @property
    def string(self) -> bytes:
        if self.data is None:
            return self.command + (b"\t0" if self.flag else b"")
        return self.command + b"\t1\r\n" + self.data.octets

    def filled(
        self, *values: str | bytes | Sequence[str | bytes], file: bytes | None = None, charset: str = "ascii"
    ) -> View:
        """The same view of an item whose form is filled out; the arguments are those of `answers`."""
        return self._replace(data=answers(*values, file=file, charset=charset), flag=False)


class Attributes(NamedTuple):
    """ "!" and "$": the attributes of an item, or of all items in a directory (RFC 4266 2.6, 2.7; Gopher+ 2.5, 2.7).

    >>> Attributes(("+ABSTRACT", "+SMELL")).string, Attributes(directory=True).string
    (b'!+ABSTRACT +SMELL', b'$')
    """

    names: tuple[str, ...] = ()
    """The requested ones, each as written, "+ABSTRACT"; () means all."""
    directory: bool = False
    joined: bool = False
    """Whether the names follow each other without a space, as Gopher+ 2.7 prints them: "$+VIEWS+ABSTRACT"."""

    @property
    def string(self) -> bytes:
        return (b"$" if self.directory else b"!") + _ascii(("" if self.joined else " ").join(self.names))


class Form(NamedTuple):
    """ "?": an item with an electronic form, which a person is to fill out (RFC 4266 2.4, 2.5)."""

    def __bool__(self) -> bool:
        return True

    @property
    def string(self) -> bytes:
        return b"?"


class Unknown(NamedTuple):
    """Any other string, kept as it is."""

    string: bytes


GopherPlus = View | Attributes | Form | Unknown
"""A request in a Gopher+ string; `string` is the decoded string."""

_VIEW = re.compile(rb"(?s)\+(?:([!-~]+)(?: ([!-~]+))?)?(?:\t(0)|\t1\r\n(.*))?")
# A block's name begins with "+", and has none in it (Gopher+ 2.5); the URI documents say "attribute_name" alone.
_NAME = re.compile(rb"\+[!-*,-~]+")
_SPACED = re.compile(rb"\+?[!-*,-~]+(?: \+?[!-*,-~]+)*")
_JOINED = re.compile(rb"(?:\+[!-*,-~]+){2,}")
_COUNTED = re.compile(rb"(?s)\+(0|[1-9][0-9]{0,17})\r\n(.*)")


def read(string: bytes) -> GopherPlus:
    """The request in a Gopher+ string.

    >>> read(b"+text/html Es_ES")
    View(name='text/html', language='Es_ES', data=None, flag=False)
    >>> read(b"!+ABSTRACT").names, read(b"some_gplus_stuff")
    (('+ABSTRACT',), Unknown(string=b'some_gplus_stuff'))
    >>> read(b"+\\t1\\r\\n+-1\\r\\nNew York\\r\\nUSA\\r\\n.\\r\\n").data.lines
    (b'New York', b'USA')
    """
    if string == b"?":
        return Form()
    if string[:1] in (b"!", b"$"):
        return _attributes(string)
    match = _VIEW.fullmatch(string)
    if match is None:
        return Unknown(string)
    data = None
    if match[4] is not None and (data := _block(match[4])) is None:
        return Unknown(string)
    name, language = (None if part is None else part.decode("ascii") for part in match.groups()[:2])
    return View(name, language, data, match[3] is not None)


def _attributes(string: bytes) -> GopherPlus:
    directory, names = string[:1] == b"$", string[1:]
    if not names:
        return Attributes((), directory)
    if _SPACED.fullmatch(names):
        return Attributes(tuple(names.decode("ascii").split(" ")), directory)
    if _JOINED.fullmatch(names):
        return Attributes(tuple(name.decode("ascii") for name in _NAME.findall(names)), directory, joined=True)
    return Unknown(string)


def _block(octets: bytes) -> Answers | Block | None:
    """Parse a data block; None for octets that are not one, or that continue after it."""
    if octets.startswith(b"+-2\r\n"):
        return Block(octets[5:], counted=False)
    if match := _COUNTED.fullmatch(octets):
        return Block(match[2]) if int(match[1]) == len(match[2]) else None
    if octets == b"+-1\r\n.\r\n":
        return Answers(())
    if not (octets.startswith(b"+-1\r\n") and octets.endswith(b"\r\n.\r\n") and len(octets) >= 10):
        return None
    lines = octets[5:-5].split(b"\r\n")
    return None if any(line == b"." or b"\r" in line or b"\n" in line for line in lines) else Answers(tuple(lines))


def answers(
    *values: str | bytes | Sequence[str | bytes], file: bytes | None = None, charset: str = "ascii"
) -> Answers | Block:
    """The data block that answers a form, with an argument for each question, in order (Gopher+ 2.8).

    A sequence answers "AskL": the count of its lines goes first.  file: the answer to "ChooseF", the remainder of the
    block.  charset: the charset of text; no document defines one, so non-ASCII text requires it.

    The block ends with a period if possible; otherwise it states its length.

    Raises: CodingError for text that the charset cannot encode, and for a line end in a line.

    >>> answers("Tim", ["two", "lines"]).lines
    (b'Tim', b'2', b'two', b'lines')
    >>> answers("notes.txt", file=b"a\\n.\\n").octets
    b'+15\\r\\nnotes.txt\\r\\na\\n.\\n'
    """
    lines: list[bytes] = []
    for value in values:
        if isinstance(value, str | bytes):
            lines.append(_line(value, charset))
        else:
            lines += [b"%d" % len(value), *(_line(line, charset) for line in value)]
    if file is None and b"." not in lines:
        return Answers(tuple(lines))
    return Block(b"".join(line + b"\r\n" for line in lines) + (file or b""))


def _line(value: str | bytes, charset: str) -> bytes:
    try:
        octets = value.encode(charset) if isinstance(value, str) else value
    except UnicodeEncodeError as error:
        raise CodingError(f"{value[error.start]!r} is not in {charset}: name the charset, or give octets") from None
    if b"\r" in octets or b"\n" in octets:
        raise CodingError(f"an answer must be one line: {value!r} (Gopher+ 2.8)")
    return octets


def _ascii(text: str) -> bytes:
    try:
        return text.encode("ascii")
    except UnicodeEncodeError as error:
        raise CodingError(f"{text[error.start]!r} is not US-ASCII: no Gopher+ document names a charset") from None
