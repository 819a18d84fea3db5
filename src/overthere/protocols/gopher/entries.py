"""The entries of Gopher listings: menu items, the attributes of Gopher+ items, and their forms
(RFC 1436 3.8 and Appendix; Gopher+ 2.2, 2.5, 2.8, Appendix I)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from overthere.access.errors import LimitExceeded
from overthere.access.steps import Credentials
from overthere.access.wire import Entry
from overthere.ground.display import printable
from overthere.ground.errors import CodingError, InvalidURI, PlanRefused, Unwritable
from overthere.protocols.gopher.steps import steps
from overthere.schemes.known.gopher import GopherLocator
from overthere.schemes.known.gopher.menu import MenuItem
from overthere.schemes.known.gopher.plus import View
from overthere.values.uri import URI

KINDS = {
    "0": "file", "1": "directory", "2": "CSO phone-book server", "3": "error", "4": "BinHexed Macintosh file",
    "5": "DOS binary archive", "6": "UNIX uuencoded file", "7": "search", "8": "telnet session", "9": "binary file",
    "+": "redundant server", "T": "tn3270 session", "g": "GIF image", "I": "image", ":": "bitmap image", ";": "movie",
    "<": "sound", "h": "HTML", "i": "info", "s": "sound", "d": "document", "p": "image",
}  # fmt: skip
"""The types of RFC 1436 3.8 and Gopher+ 2.9 in their words; then other types that servers send."""

_URI_ERRORS = (CodingError, Unwritable, PlanRefused, InvalidURI)
_MAX_BYTES = 1 << 20
"""The limit for the attributes of one item: "a relatively compact list" (Gopher+ 2.5)."""


def item_of(line: bytes) -> MenuItem:
    """Parse the item in a menu's line; its display string is UTF-8 if it is valid, otherwise ISO Latin 1.

    RFC 1436 specifies ISO Latin 1, in which all bytes are valid; current servers send UTF-8.

    Raises: CodingError for a line that is not an item.
    """
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return MenuItem.read(line)
    return MenuItem.read(line, "utf-8")


def entry(line: bytes, before: MenuItem | None = None) -> tuple[Entry, MenuItem | None]:
    """Return the entry and the item of a menu's line; an invalid line is an entry that states the problem.

    before: the last item that is not a duplicate; a redundant server has the same item (RFC 1436 3.8), so its
    URI has that type.

    >>> entry(b"7Find it\\ts\\th.example\\t70\\t+")[0]
    Entry(name='Find it', uri='gopher://h.example/7s%09%09+', kind='search', details={'type': '7', 'gopherplus': '+'})
    """
    try:
        item = item_of(line)
    except CodingError:
        problem = "it must be type and display string, selector, host and port (RFC 1436 Appendix)"
        return malformed(line, problem), None
    details: dict[str, Any] = {"type": item.type}
    if item.tag is not None:
        details["gopherplus"] = item.tag
    if extra := item.extra[item.tag is not None :]:
        details["extra"] = [field.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for field in extra]
    kind, uri = KINDS.get(item.type, "unknown"), None
    if not item.inert:
        target = item._replace(type=before.type) if item.type == "+" and before is not None else item
        try:
            uri = _uri(target)
        except _URI_ERRORS as error:
            details["problem"] = f"it has no URI: {error}"
    return Entry(item.display, uri, kind, details), item


def malformed(line: bytes, problem: str) -> Entry:
    """Return the entry for an invalid line."""
    return Entry(line.decode("utf-8", "replace"), None, "malformed", {"problem": problem})


def _uri(item: MenuItem) -> str:
    """Return the URI of an item, if a plan is possible; for a link out of Gopher the linked URI."""
    if item.link is not None:
        try:
            return str(URI(item.link))
        except InvalidURI:
            pass  # the server shows a page with the link
    locator = item.locator()
    for _ in steps(locator, Credentials()):
        pass
    return str(locator.uri())


# -- attributes


class ItemAttributes:
    """Collects the attributes of an item line by line (Gopher+ 2.5)."""

    def __init__(self, info: bytes | None, locator: GopherLocator) -> None:
        """info: the text of "+INFO:", the item's line in a menu, or None.  locator: the requested one."""
        self.info = info
        self.locator = locator
        self.blocks: dict[str, list[str]] = {}
        self.references: dict[str, str] = {}
        self.size: int = 0
        self._block: list[str] | None = None

    def take(self, line: bytes, where: str) -> None:
        """Read a line of its attributes, other than "+INFO".

        Raises: LimitExceeded if there are too many.
        """
        self.size += len(line) + 32
        if self.size > _MAX_BYTES:
            raise LimitExceeded(f"the attributes of one item take more than {_MAX_BYTES:,} octets", where=where)
        if match := _BLOCK.fullmatch(line):
            name = match[1].decode("utf-8", "replace")
            self._block = self.blocks.setdefault(name, [])
            if match[2]:
                referenced, _ = entry(match[2])
                if referenced.uri is not None:
                    self.references[name] = referenced.uri
                else:
                    self._block.append(_show_line(match[2]))
            return
        if self._block is None:
            self._block = self.blocks.setdefault("", [])
        # A line begins with a space; some servers, and the document's own examples, omit it (Gopher+ 2.5, 2.7).
        self._block.append(_show_line(line[1:] if line[:1] == b" " else line))

    def entry(self) -> Entry:
        """Return the item with its attributes in the details: "attributes" has the lines of each block, "references"
        the URIs of external blocks, "admin", "views", "abstract" and "ask" the parsed known blocks."""
        if self.info is None:
            base = replace(self.locator, plus=View(), written=None)
            result = Entry("", str(base.uri()), KINDS.get(base.gophertype, "unknown"), {"type": base.gophertype})
            locator: GopherLocator | None = base
        else:
            result, item = entry(self.info)
            locator = item.locator() if item is not None and result.uri is not None and item.link is None else None
        details = result.details
        details["attributes"] = self.blocks
        if self.references:
            details["references"] = self.references
        if "+ADMIN" in self.blocks:
            pairs = (line.partition(":") for line in self.blocks["+ADMIN"])
            details["admin"] = [(name.strip(), value.strip()) for name, _, value in pairs]
        if "+VIEWS" in self.blocks:
            details["views"] = [_view(line, locator) for line in self.blocks["+VIEWS"]]
        if "+ABSTRACT" in self.blocks:
            details["abstract"] = "\n".join(self.blocks["+ABSTRACT"])
        if "+ASK" in self.blocks:
            details["ask"] = [Question.read(line)._asdict() for line in self.blocks["+ASK"]]
        return result


# The document has "+ADMIN" in an example of 2.8, "+ADMIN:" in others, "+ADMIN: " in Appendix II.
_BLOCK = re.compile(rb"(?s)(\+[!-*,-9;-~][!-*,-9;-~]*):?(?:[ \t]+(.*))?")
_VIEW = re.compile(r"([^\s:]++)(?:[ \t]++([^\s:]++))?+[ \t]*+:?+[ \t]*+(?:<([^<>]*+)>)?+.*+")
_SIZE = re.compile(r"[ \t]*+([0-9]{0,12}+(?:\.[0-9]{1,9}+)?+)[ \t]*+([kKmMbB]?+)[ \t]*+")


def _view(line: str, locator: GopherLocator | None) -> dict[str, Any]:
    """Parse a line of "+VIEWS": "Content-Type[ viewLanguage]: [<56K>]" (Gopher+ A3.0); the size is a hint (2.5)."""
    match = _VIEW.fullmatch(line.strip())
    if match is None:
        return {"view": line, "problem": "it is not a content type with a language and a size (Gopher+ A3.0)"}
    details: dict[str, Any] = {"view": match[1]}
    if match[2]:
        details["language"] = match[2]
    if match[3]:
        details["size"] = match[3]
        size = _SIZE.fullmatch(match[3])
        if size and size[1]:
            details["octets"] = int(float(size[1]) * {"k": 1 << 10, "m": 1 << 20}.get(size[2].lower(), 1))
    if locator is not None:
        try:
            details["uri"] = str(replace(locator, plus=View(match[1], match[2]), written=None).uri())
        except _URI_ERRORS as error:
            details["problem"] = str(error)
    return details


def _show_line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


# -- forms

_KINDS_WITHOUT_ANSWER = ("note", "label", "")
_Answer = str | bytes | bool | Sequence[str | bytes]


class Question(NamedTuple):
    """A line of "+ASK" (Gopher+ 2.8).

    >>> Question.read("Choose: Deliver electric shock to administrator now?\\tYes\\tNot!")
    Question(kind='Choose', prompt='Deliver electric shock to administrator now?', default='Yes', choices=('Yes', 'Not!'))
    >>> Question.read("Select: With pictures:1").default, Question.read("Note: Please fill in").asks
    ('1', False)
    """  # noqa: E501

    kind: str
    """"Ask", "AskP" (hidden while it is typed), "AskL" (several lines), "AskF" (a name for a new local file),
    "Select" (yes or no), "Choose" (one of several choices), "ChooseF" (a file to send), "Note" (text only); any other
    kind is treated as "Ask"; "" is text without a question."""
    prompt: str
    default: str = ""
    """The default answer; "0" or "1" for "Select"."""
    choices: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether it needs an answer."""
        return self.kind.lower() not in _KINDS_WITHOUT_ANSWER

    @classmethod
    def read(cls, line: str) -> Question:
        """Parse the question in a line."""
        kind, colon, tail = line.partition(":")
        if not colon:
            return cls("", line)
        prompt, *values = tail.strip(" ").split("\t")
        if kind.lower() == "choose":
            return cls(kind, prompt, values[0] if values else "", tuple(values))
        if kind.lower() == "select" and not values:
            # "Select: prompt:1" is the undocumented form of the servers and clients of Minnesota.
            bare_prompt, colon_found, default = prompt.rpartition(":")
            if colon_found and default.strip() in ("0", "1"):
                return cls(kind, bare_prompt, default.strip())
            return cls(kind, prompt, "0")
        return cls(kind, prompt, values[0] if values else "")

    def lines(self, value: _Answer) -> str | bytes | Sequence[str | bytes]:
        """Convert an answer to the form for `schemes.gopherplus.answers`.

        Raises: CodingError for an answer that the question does not accept.
        """
        match self.kind.lower():
            case "askl":
                if isinstance(value, str):  # `str.splitlines` would also split at form feeds, U+2028 and others
                    return re.sub("\r\n?", "\n", value).removesuffix("\n").split("\n") if value else []
                return value.splitlines() if isinstance(value, bytes) else tuple(self._split_values(value))
            case "select":
                if value not in (True, False, "0", "1", b"0", b"1"):
                    raise self._reject(value, "True or False")
                return "1" if value in (True, "1", b"1") else "0"
            case "choose" if self.choices and value not in self.choices:
                raise self._reject(value, " or ".join(map(repr, self.choices)))
        if not isinstance(value, str | bytes):
            raise self._reject(value, "one line of text")
        return value

    def _split_values(self, value: object) -> Sequence[str | bytes]:
        if not isinstance(value, list | tuple) or not all(isinstance(line, str | bytes) for line in value):
            raise self._reject(value, "lines of text")
        return value

    def _reject(self, value: object, expected: str) -> CodingError:
        return CodingError(f"{self.prompt!r} must be answered by {expected}, not {value!r:.80} (Gopher+ 2.8)")


class AskForm(NamedTuple):
    """The form of an item, for a person to fill out (RFC 4266 2.5, 2.9; Gopher+ 2.8).

    >>> form = AskForm.from_entry(Entry("A form", "gopher://h/0form%09%09%3F", "file", {"ask": [{"kind": "Ask", "prompt": "Name"}]}))
    >>> str(form.fill({"Name": "Tim"}).uri())
    'gopher://h/0form%09%09+%091%0D%0A+-1%0D%0ATim%0D%0A.%0D%0A'
    """  # noqa: E501

    locator: GopherLocator
    """The item that receives the answers."""
    questions: tuple[Question, ...]

    @classmethod
    def from_entry(cls, entry: Entry) -> AskForm:
        """Return the form in an entry, from the attributes of an item ("?", "!", "$").

        Raises: CodingError if it has none.
        """
        questions_data = entry.details.get("ask")
        locator = None if entry.uri is None else URI(entry.uri).locator
        if questions_data is None or not isinstance(locator, GopherLocator):
            raise CodingError(f"{printable(entry.name)!r} has no form that can be answered (Gopher+ 2.8)")
        questions = tuple(Question(**{**item, "choices": tuple(item.get("choices", ()))}) for item in questions_data)
        return cls(locator, questions)

    def fill(
        self,
        values: Mapping[str | int, _Answer] | Sequence[_Answer] = (),
        *,
        file: bytes | None = None,
        charset: str = "ascii",
    ) -> GopherLocator:
        """Return the item's locator with the form filled out: opening it sends the answers.

        values: answers by the prompts of their questions, or by their numbers from 0 among those that ask; or all in
        their order.  "AskL" takes lines, "Select" True or False, "Choose" one of its choices, "ChooseF" the name of
        the file; a missing answer has its default.
        file: the content of the file that "ChooseF" sends.  charset: of text; no document specifies one.

        Raises: CodingError for an answer without a question, or one that the question does not accept, or if several
        questions have the same prompt.
        """
        asking = [question for question in self.questions if question.asks]
        answers: dict[int, _Answer] = {}
        pairs = values.items() if isinstance(values, Mapping) else enumerate(values)
        for key, value in pairs:
            matching = [index for index, question in enumerate(asking) if key in (index, question.prompt)]
            if len(matching) != 1:
                matches = "no question" if not matching else f"{len(matching)} questions"
                raise CodingError(f"{key!r} is {matches} of the form (Gopher+ 2.8)")
            answers[matching[0]] = value
        needs_file = any(question.kind.lower() == "choosef" for question in asking)
        if (file is not None) != needs_file:
            raise CodingError(f"the form {'asks for a' if needs_file else 'takes no'} file (Gopher+ 2.8)")
        lines = [question.lines(answers.get(index, question.default)) for index, question in enumerate(asking)]
        return self.locator.filled(*lines, file=file, charset=charset)
