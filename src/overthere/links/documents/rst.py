"""References in reStructuredText, as docutils parses it; no file is included, nothing is run or fetched.

A reference is at "hyperlink", "definition", "image" or "autolink".  What Sphinx adds is known by its form: the contents
of its directives are read, and its references by name (`:doc:`, `:ref:`, `toctree`) are counted, which only Sphinx can
resolve.
"""

from __future__ import annotations

import gc
import re
import sys
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from threading import Event, Lock, Thread, get_ident
from typing import Any, NamedTuple

from overthere.ground.extras import brought_by
from overthere.links.documents.charset import decode_text
from overthere.links.model import Document, Found, Note, Options, PassedContent

__all__ = ["LONGEST", "ParsedRST", "parse", "read"]

LONGEST = 1 << 20
"""Characters of a document that are read."""
_PARAGRAPH = 10_000
"""Characters of a paragraph in which references are looked for: the time grows with their square."""
_CELLS = 200_000
"""Of a table, with the empty ones that docutils adds to short rows."""
_LOOK = 0.2
"""Seconds between two looks at the time."""
_SECONDS, _SECONDS_EACH = 1.0, 1e-5
"""Of the processor, for a document and for each of its characters: it is given up after five times what is usual."""
_WIDE = re.compile(r"^[ \t]*+(?:=++[ \t]++|\+[-=]++){200}", re.MULTILINE)
"""A table of so many columns is cut into its cells without a look at the time."""
_DIRECTIVE = re.compile(r"^([ \t]*+)\.\.[ \t]+([A-Za-z0-9]++(?:[-_+:.][A-Za-z0-9]++)*+)::([^\n]*+)$", re.MULTILINE)
_FIELD = re.compile(r"[ \t]++:[\w-]++:(?:[ \t]|\Z)")
_CODE = re.compile(
    r"code-block|sourcecode|literalinclude|highlight|doctest|test(?:code|setup|output|cleanup)|prompt|production|"
    r"graphviz|digraph|graph\Z|mermaid|plantuml|uml|ipython|plot|jupyter|command-output|program-output|toctree|index\Z|"
    r"tabularcolumns|math|default-domain|\w+:(?:current)?module\Z|currentmodule"
)
"""Directives of Sphinx and its extensions whose content is no reStructuredText."""
_ANCHORED = re.compile(
    r"auto|\w+:|include\Z|(?:function|class|method|attribute|data|module|exception|option|envvar|describe|object|"
    r"cmdoption|confval|glossary|production-?list|jupyter-execute)\Z"
)
"""Directives that make anchors which only Sphinx knows."""
_ENTRY = re.compile(r"[ \t]++\S[^\n]*+")


_LOCK = Lock()
"""docutils has its roles in one table for all documents; a text is parsed by one thread at a time."""


class ParsedRST(NamedTuple):
    """What a document in reStructuredText holds."""

    references: list[Found]
    anchors: set[str]
    titles: list[str]
    """The texts of its headings."""
    roles: int
    """References by name that only Sphinx resolves."""
    has_anchors: bool
    """Whether `anchors` are all that it has."""
    notes: list[str]


def read(document: Document, options: Options) -> Iterator[Found | Note | PassedContent]:
    """The references of a document, in its order; a definition is given once, where it stands.

    Raises: ModuleNotFoundError without the extra `rst`.
    """
    text, wrong = decode_text(document.content, document.charset)
    if wrong:
        yield Note("wrong-charset")
    parsed = parse(text)
    yield from parsed.references
    yield from map(Note, parsed.notes)
    for _ in range(parsed.roles):
        yield PassedContent("sphinx-role")


class _TimeOver(Exception):
    """The document takes too long."""


class _Watch:
    """Raises `_TimeOver` in the thread that made it after so much of the processor, wherever docutils is: some of its
    loops over lines and cells call nothing of ours.  Where threads have no clock (Windows, PyPy), it does nothing.
    """

    def __init__(self, seconds: float) -> None:
        self.is_on: bool = hasattr(time, "pthread_getcpuclockid") and sys.implementation.name == "cpython"
        self._is_over = Event()
        self._owner: int = get_ident()
        if self.is_on:
            self._clock: int = time.pthread_getcpuclockid(self._owner)
            self._end: float = time.clock_gettime(self._clock) + seconds
            Thread(target=self._watch_clock, name="time of a document", daemon=True).start()

    def _watch_clock(self) -> None:
        while self.is_on and not self._is_over.wait(_LOOK):  # again and again: docutils may catch it
            if self.is_on and time.clock_gettime(self._clock) > self._end:
                _throw(self._owner, _TimeOver)

    def stop(self) -> None:
        """No exception comes any more.  `is_on` is false before: one that was thrown until then may come here."""
        try:
            self._is_over.set()
        finally:
            _throw(self._owner, None)


def _throw(thread: int, error: type[BaseException] | None) -> None:
    import ctypes

    value = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), value)


def _parse_in_time(parser: Any, text: str, document: Any) -> None:
    """Raises: _TimeOver."""
    watch = _Watch(_SECONDS + len(text) * _SECONDS_EACH)
    try:
        try:
            parser.parse(text, document)
        finally:
            watch.is_on = False
    finally:  # again, for the exception may come just before that line, and no second one comes so soon
        watch.is_on = False
        watch.stop()


def parse(text: str) -> ParsedRST:
    """Parse a text.

    >>> parse("Title\\n=====\\n\\n`a <b.rst#c>`_ :doc:`d`\\n").references
    [Found(where='hyperlink', reference='b.rst#c', base=None, target=None, codebase=None)]
    """
    notes = ["too-large"] if len(text) > LONGEST else []
    text, entries, has_anchors = _rewrite_directives(text[:LONGEST])
    try:
        if _WIDE.search(text):
            raise _TimeOver
        with _LOCK:
            tree, inline = _tree(text)
    except RecursionError:
        return ParsedRST([], set(), [], 0, False, [*notes, "too-deep"])
    except (_TimeOver, MemoryError) as over:
        over.__traceback__ = over.__context__ = None
        gc.collect()  # a tree that was begun is a circle, and large
        return ParsedRST([], set(), [], 0, False, [*notes, "too-large"])
    except Exception:  # docutils raises IndexError, AssertionError and others for markup that it does not expect
        return ParsedRST([], set(), [], 0, False, [*notes, "corrupt"])
    if inline.is_cut and not notes:
        notes = ["too-large"]
    references, anchors, titles = _gather(tree)
    return ParsedRST(references, anchors, titles, entries + inline.names, has_anchors, notes)


def _rewrite_directives(text: str) -> tuple[str, int, bool]:
    """The text with the directives of Sphinx as definitions; entries of its tables of contents; and whether docutils
    knows all anchors."""
    with brought_by("rst"):
        from docutils.parsers.rst import directives
        from docutils.parsers.rst.languages.en import directives as known
    added = vars(directives)["_directives"]  # by Sphinx in the same process
    entries, has_anchors = 0, True
    lines = text.split("\n")
    options, filled = False, list[int]()
    for at, line in enumerate(lines):
        if options and _FIELD.match(line):
            lines[at] = ""
            continue
        options = False
        if "::" not in line or (found := _DIRECTIVE.match(line)) is None:
            continue
        name = found[2].lower()
        if _ANCHORED.match(name):
            has_anchors = False
        if name == "toctree":
            filled = filled or [number for number, one in enumerate(lines) if one.strip()]
            below = range(bisect_right(filled, at), len(filled))
            entries += _count_entries((lines[filled[number]] for number in below), len(found[1]))
        elif name not in known and name not in added and not _CODE.match(name):
            # A term, of which the indented lines below are the definition.
            said = found[3].strip()
            lines[at] = f"{found[1]}directive {said if '`' in said or '://' in said else ''}"
            options = True
    return "\n".join(lines), entries, has_anchors


def _count_entries(lines: Iterable[str], indent: int) -> int:
    """The documents that a table of contents names; lines: those below it, without the empty ones."""
    entries = 0
    for line in lines:
        if len(line) - len(line.lstrip()) <= indent:
            break
        entries += bool(_ENTRY.match(line)) and not _FIELD.match(line)
    return entries


def _tree(text: str) -> tuple[Any, _Inline]:
    """The document as docutils has it before its transforms, and what read its lines."""
    with brought_by("rst"):
        from docutils.frontend import get_default_settings
        from docutils.parsers.rst import Parser, directives, roles
        from docutils.parsers.rst.directives.tables import CSVTable
        from docutils.utils import new_document

    class BoundedTable(CSVTable):
        def extend_short_rows_with_empty_cells(self, columns: int, parts: Any) -> None:
            if columns * sum(map(len, parts)) > _CELLS:
                raise _TimeOver
            super().extend_short_rows_with_empty_cells(columns, parts)

    inline = _Inline(len(text))
    parser = Parser(inliner=inline.inliner)
    settings = get_default_settings(Parser)
    vars(settings).update(_SETTINGS)
    document: Any = new_document("document", settings)
    document.note_source = inline.check_time  # called at every line
    local = vars(roles)["_roles"]
    known = dict(local)
    added = vars(directives)["_directives"]
    theirs = added.get("csv-table")
    added["csv-table"] = BoundedTable if theirs is None else theirs
    try:
        _parse_in_time(parser, text, document)
    finally:
        local.clear()  # a document may define some for itself
        local.update(known)
        if theirs is None:
            del added["csv-table"]
    return document, inline


_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    "line_length_limit": LONGEST,
    "syntax_highlight": "none",
    "auto_id_prefix": "id",  # as in Sphinx
    "pep_references": False,
    "rfc_references": False,
}


class _Inline:
    """Reads inline markup in place of docutils; roles that docutils does not know are references by name."""

    def __init__(self, length: int) -> None:
        from docutils.parsers.rst.states import Inliner

        self.names = 0
        self.is_cut = False
        self.end: float = time.thread_time() + _SECONDS + length * _SECONDS_EACH
        # Not a subclass: docutils makes its expressions of the attributes of the class itself.
        self.inliner: Any = Inliner()
        self.theirs: tuple[Any, Any] = self.inliner.parse, self.inliner.interpreted
        vars(self.inliner).update(parse=self.parse, interpreted=self.interpreted)

    def check_time(self, source: object, offset: object) -> None:
        if time.thread_time() > self.end:
            raise _TimeOver

    def parse(self, text: str, lineno: int, memo: Any, parent: Any) -> Any:
        from docutils.nodes import Text

        self.check_time(None, None)
        if len(text) > _PARAGRAPH:
            self.is_cut = True
            return [Text(text)], []
        return self.theirs[0](text, lineno, memo, parent)

    def interpreted(self, rawsource: str, text: str, role: str, lineno: int) -> Any:
        from docutils.nodes import inline
        from docutils.parsers.rst import roles

        if roles.role(role, self.inliner.language, lineno, self.inliner.reporter)[0] is None:
            self.names += 1
            return [inline(rawsource, text)], []
        return self.theirs[1](rawsource, text, role, lineno)


def _gather(tree: Any) -> tuple[list[Found], set[str], list[str]]:
    """The references of a tree in its order, its anchors, and the texts of its headings."""
    from docutils import nodes

    references: list[Found] = []
    anchors: set[str] = set()
    titles: list[str] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        if not isinstance(node, nodes.Element):
            continue
        anchors.update(node["ids"])
        if isinstance(node, nodes.title) and isinstance(node.parent, nodes.section):
            titles.append(node.astext())
        elif isinstance(node, nodes.image):
            references.append(Found("image", node["uri"]))
        elif isinstance(node, nodes.reference) and "refuri" in node:
            references.append(_hyperlink(node["refuri"], node.astext(), node.rawsource))
        elif isinstance(node, nodes.target) and "refuri" in node and not isinstance(node.parent, nodes.TextElement):
            references.append(Found("definition", node["refuri"]))
        stack.extend(reversed(node.children))
    return references, anchors, titles


def _hyperlink(uri: str, text: str, source: str) -> Found:
    if uri == f"mailto:{text}":
        return Found("autolink", text, target=uri)
    return Found("autolink" if uri == text and not source.startswith("`") else "hyperlink", uri)
