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

__all__ = ["KINDS", "AskForm", "ItemAttributes", "Question", "entry", "item_of", "malformed"]

KINDS = {
    "0": "file", "1": "directory", "2": "CSO phone-book server", "3": "error", "4": "BinHexed Macintosh file",
    "5": "DOS binary archive", "6": "UNIX uuencoded file", "7": "search", "8": "telnet session", "9": "binary file",
    "+": "redundant server", "T": "tn3270 session", "g": "GIF image", "I": "image", ":": "bitmap image", ";": "movie",
    "<": "sound", "h": "HTML", "i": "info", "s": "sound", "d": "document", "p": "image",
}  # fmt: skip
"""The types of RFC 1436 3.8 and Gopher+ 2.9 in their words; then those that servers send beside."""

_NOT_HERE = (CodingError, Unwritable, PlanRefused, InvalidURI)
_MOST = 1 << 20
"""How much one item's attributes may hold: "a relatively compact list" (Gopher+ 2.5)."""


def item_of(line: bytes) -> MenuItem:
    """The item of a menu's line, its display string in UTF-8 where it is that, else in ISO Latin 1.

    RFC 1436 says ISO Latin 1, which any octets are; the servers of today send UTF-8.

    Raises: CodingError for a line that is no item.
    """
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return MenuItem.read(line)
    return MenuItem.read(line, "utf-8")


def entry(line: bytes, before: MenuItem | None = None) -> tuple[Entry, MenuItem | None]:
    """What a line of a menu names, and its item; a line that is none is an entry that says so.

    before: the item above that is no duplicate: a redundant server has the same thing (RFC 1436 3.8), so that its
    URI has the type of that.

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
    if others := item.extra[item.tag is not None :]:
        details["extra"] = [field.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for field in others]
    kind, uri = KINDS.get(item.type, "unknown"), None
    if not item.inert:
        meant = item._replace(type=before.type) if item.type == "+" and before is not None else item
        try:
            uri = _uri(meant)
        except _NOT_HERE as error:
            details["problem"] = f"it has no URI: {error}"
    return Entry(item.display, uri, kind, details), item


def malformed(line: bytes, problem: str) -> Entry:
    """A line that is none of its listing's."""
    return Entry(line.decode("utf-8", "replace"), None, "malformed", {"problem": problem})


def _uri(item: MenuItem) -> str:
    """The URI of an item, one that has a plan; for a link out of Gopher the URI it leads to."""
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
    """The attributes of an item, line by line (Gopher+ 2.5)."""

    def __init__(self, info: bytes | None, asked: GopherLocator) -> None:
        """info: what "+INFO:" says, the item's line in a menu; None if it is missing.  asked: what was asked for."""
        self.info = info
        self.asked = asked
        self.blocks: dict[str, list[str]] = {}
        self.references: dict[str, str] = {}
        self.size: int = 0
        self._block: list[str] | None = None

    def take(self, line: bytes, where: str) -> None:
        """A line of its attributes, other than "+INFO".

        Raises: LimitExceeded if there are too many.
        """
        self.size += len(line) + 32
        if self.size > _MOST:
            raise LimitExceeded(f"the attributes of one item take more than {_MOST:,} octets", where=where)
        if match := _BLOCK.fullmatch(line):
            name = match[1].decode("utf-8", "replace")
            self._block = self.blocks.setdefault(name, [])
            if match[2]:
                listed, _ = entry(match[2])
                if listed.uri is not None:
                    self.references[name] = listed.uri
                else:
                    self._block.append(_show_line(match[2]))
            return
        if self._block is None:
            self._block = self.blocks.setdefault("", [])
        # A line begins with a space; some servers, and the document's own examples, leave it out (Gopher+ 2.5, 2.7).
        self._block.append(_show_line(line[1:] if line[:1] == b" " else line))

    def entry(self) -> Entry:
        """The item with its attributes in the details: "attributes" has the lines of each block, "references" the URIs
        of those that stand elsewhere, "admin", "views", "abstract" and "ask" what the known ones say."""
        if self.info is None:
            asked = replace(self.asked, plus=View(), written=None)
            listed = Entry("", str(asked.uri()), KINDS.get(asked.gophertype, "unknown"), {"type": asked.gophertype})
            locator: GopherLocator | None = asked
        else:
            listed, item = entry(self.info)
            locator = item.locator() if item is not None and listed.uri is not None and item.link is None else None
        details = listed.details
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
        return listed


# "+ADMIN" alone stands in an example of 2.8, "+ADMIN:" in the others, "+ADMIN: " in Appendix II.
_BLOCK = re.compile(rb"(?s)(\+[!-*,-9;-~][!-*,-9;-~]*):?(?:[ \t]+(.*))?")
_VIEW = re.compile(r"([^\s:]++)(?:[ \t]++([^\s:]++))?+[ \t]*+:?+[ \t]*+(?:<([^<>]*+)>)?+.*+")
_SIZE = re.compile(r"[ \t]*+([0-9]{0,12}+(?:\.[0-9]{1,9}+)?+)[ \t]*+([kKmMbB]?+)[ \t]*+")


def _view(line: str, locator: GopherLocator | None) -> dict[str, Any]:
    """A line of "+VIEWS": "Content-Type[ viewLanguage]: [<56K>]" (Gopher+ A3.0); the size is a hint (2.5)."""
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
        except _NOT_HERE as error:
            details["problem"] = str(error)
    return details


def _show_line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


# -- forms

_SILENT = ("note", "label", "")
_Answer = str | bytes | bool | Sequence[str | bytes]


class Question(NamedTuple):
    """A line of "+ASK" (Gopher+ 2.8).

    >>> Question.read("Choose: Deliver electric shock to administrator now?\\tYes\\tNot!")
    Question(kind='Choose', prompt='Deliver electric shock to administrator now?', default='Yes', choices=('Yes', 'Not!'))
    >>> Question.read("Select: With pictures:1").default, Question.read("Note: Please fill in").asks
    ('1', False)
    """  # noqa: E501

    kind: str
    """"Ask", "AskP" (not to be shown while it is typed), "AskL" (several lines), "AskF" (a name for a new file of the
    person's), "Select" (yes or no), "Choose" (one of some), "ChooseF" (a file to send), "Note" (text only); another
    is asked as "Ask" is; "" is text without a question."""
    prompt: str
    default: str = ""
    """What is answered unless something else is; of "Select" "0" or "1"."""
    choices: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether there is something to answer."""
        return self.kind.lower() not in _SILENT

    @classmethod
    def read(cls, line: str) -> Question:
        """The question of a line."""
        kind, colon, rest = line.partition(":")
        if not colon:
            return cls("", line)
        prompt, *others = rest.strip(" ").split("\t")
        if kind.lower() == "choose":
            return cls(kind, prompt, others[0] if others else "", tuple(others))
        if kind.lower() == "select" and not others:
            # "Select: prompt:1", as the servers and clients of Minnesota have it; no document says it.
            before, parted, last = prompt.rpartition(":")
            if parted and last.strip() in ("0", "1"):
                return cls(kind, before, last.strip())
            return cls(kind, prompt, "0")
        return cls(kind, prompt, others[0] if others else "")

    def lines(self, value: _Answer) -> str | bytes | Sequence[str | bytes]:
        """An answer as `schemes.gopherplus.answers` takes it.

        Raises: CodingError for an answer that the question does not take.
        """
        match self.kind.lower():
            case "askl":
                if isinstance(value, str):
                    return value.splitlines()
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

    def _reject(self, value: object, wanted: str) -> CodingError:
        return CodingError(f"{self.prompt!r} must be answered by {wanted}, not {value!r:.80} (Gopher+ 2.8)")


class AskForm(NamedTuple):
    """The form of an item, which a person fills out (RFC 4266 2.5, 2.9; Gopher+ 2.8).

    >>> form = AskForm.from_entry(Entry("A form", "gopher://h/0form%09%09%3F", "file", {"ask": [{"kind": "Ask", "prompt": "Name"}]}))
    >>> str(form.fill({"Name": "Tim"}).uri())
    'gopher://h/0form%09%09+%091%0D%0A+-1%0D%0ATim%0D%0A.%0D%0A'
    """  # noqa: E501

    locator: GopherLocator
    """The item that the answers go to."""
    questions: tuple[Question, ...]

    @classmethod
    def from_entry(cls, entry: Entry) -> AskForm:
        """The form of an entry, as the attributes of an item give it ("?", "!", "$").

        Raises: CodingError if it has none.
        """
        asked = entry.details.get("ask")
        locator = None if entry.uri is None else URI(entry.uri).locator
        if asked is None or not isinstance(locator, GopherLocator):
            raise CodingError(f"{printable(entry.name)!r} has no form that can be answered (Gopher+ 2.8)")
        questions = tuple(Question(**{**one, "choices": tuple(one.get("choices", ()))}) for one in asked)
        return cls(locator, questions)

    def fill(
        self,
        values: Mapping[str | int, _Answer] | Sequence[_Answer] = (),
        *,
        file: bytes | None = None,
        charset: str = "ascii",
    ) -> GopherLocator:
        """Where the item is, with the form filled out: opening it sends the answers.

        values: answers by the prompts of their questions, or by their numbers from 0 among those that ask; or all in
        their order.  "AskL" takes lines, "Select" True or False, "Choose" one of its choices, "ChooseF" the name of
        the file; what is not answered has its default.
        file: the octets of the file that "ChooseF" sends.  charset: of text; no document names one.

        Raises: CodingError for an answer to no question, or one that the question does not take, or if a prompt
        stands for several questions.
        """
        asking = [question for question in self.questions if question.asks]
        given: dict[int, _Answer] = {}
        pairs = values.items() if isinstance(values, Mapping) else enumerate(values)
        for key, value in pairs:
            matching = [at for at, question in enumerate(asking) if key in (at, question.prompt)]
            if len(matching) != 1:
                what = "no question" if not matching else f"{len(matching)} questions"
                raise CodingError(f"{key!r} is {what} of the form (Gopher+ 2.8)")
            given[matching[0]] = value
        sends = any(question.kind.lower() == "choosef" for question in asking)
        if (file is not None) != sends:
            raise CodingError(f"the form {'asks for a' if sends else 'takes no'} file (Gopher+ 2.8)")
        answered = [question.lines(given.get(at, question.default)) for at, question in enumerate(asking)]
        return self.locator.filled(*answered, file=file, charset=charset)
