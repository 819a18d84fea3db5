"""References in reStructuredText, as docutils parses it; no file is included, nothing is run or fetched.

The place of a reference is "hyperlink", "definition", "image" or "autolink"; in raw HTML it is "html a href" and so on.
Markup of Sphinx is recognized by its form: the contents of its directives are read; its references by name (`:doc:`,
`:ref:`, `toctree`), which only Sphinx can resolve, are counted.
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
from overthere.links.documents import html
from overthere.links.documents.charset import decode_text
from overthere.links.model import Document, Found, Note, Options, PassedContent

LONGEST = 1 << 20
"""The number of characters of a document that are read."""
_MAX_PARAGRAPH = 10_000
"""The longest paragraph, in characters, in which references are searched; the time is quadratic in its length."""
_MAX_CELLS = 200_000
"""The maximum number of cells of a table, with the empty cells that docutils adds to short rows."""
_CHECK_INTERVAL = 0.2
"""Seconds between two checks of the time."""
_BASE_SECONDS, _SECONDS_PER_CHARACTER = 1.0, 1e-5
"""Limits of processor time, per document and per character: five times the usual time."""
_WIDE_TABLE = re.compile(r"^[ \t]*+(?:=++[ \t]++|\+[-=]++){200}", re.MULTILINE)
"""A table with 200 columns or more; docutils splits it into cells without a check of the time."""
_DIRECTIVE = re.compile(r"^([ \t]*+)\.\.[ \t]+([A-Za-z0-9]++(?:[-_+:.][A-Za-z0-9]++)*+)::([^\n]*+)$", re.MULTILINE)
_DIRECTIVE_OPTION = re.compile(r"[ \t]++:[\w-]++:(?:[ \t]|\Z)")
_CODE_DIRECTIVE = re.compile(
    r"code-block|sourcecode|literalinclude|highlight|doctest|test(?:code|setup|output|cleanup)|prompt|production|"
    r"graphviz|digraph|graph\Z|mermaid|plantuml|uml|ipython|plot|jupyter|command-output|program-output|toctree|index\Z|"
    r"tabularcolumns|math|default-domain|\w+:(?:current)?module\Z|currentmodule"
)
"""Directives of Sphinx and its extensions whose content is not reStructuredText."""
_ANCHOR_DIRECTIVE = re.compile(
    r"auto|\w+:|include\Z|(?:function|class|method|attribute|data|module|exception|option|envvar|describe|object|"
    r"cmdoption|confval|glossary|production-?list|jupyter-execute)\Z"
)
"""Directives that create anchors which only Sphinx knows."""
_TOCTREE_ENTRY = re.compile(r"[ \t]++\S[^\n]*+")


_PARSER_LOCK = Lock()
"""One thread parses at a time, because docutils has one table of roles for all documents."""


class ParsedRST(NamedTuple):
    """The contents of a document in reStructuredText."""

    references: list[Found]
    anchors: set[str]
    titles: list[str]
    """The texts of the headings."""
    roles: int
    """The number of references by name, which only Sphinx can resolve."""
    has_anchors: bool
    """Whether `anchors` contains all anchors of the document."""
    notes: list[str]


def read(document: Document, options: Options) -> Iterator[Found | Note | PassedContent]:
    """Yield the references of a document, in its order; a definition is yielded once, at its place.

    Raises: ModuleNotFoundError without the extra `rst`.
    """
    text, is_wrong = decode_text(document.content, document.charset)
    if is_wrong:
        yield Note("wrong-charset")
    parsed = parse(text)
    yield from parsed.references
    yield from map(Note, parsed.notes)
    for _ in range(parsed.roles):
        yield PassedContent("sphinx-role")


class _TimeLimitReached(Exception):
    """Parsing the document takes too long."""


class _Watchdog:
    """Raises `_TimeLimitReached` in the thread that created it after some processor time, even in docutils loops that
    call no function of this module.  Where threads have no clock (Windows, PyPy), it does nothing.
    """

    def __init__(self, seconds: float) -> None:
        self.is_running: bool = hasattr(time, "pthread_getcpuclockid") and sys.implementation.name == "cpython"
        self._stop_event = Event()
        self._raising = Lock()
        self._owner: int = get_ident()
        if self.is_running:
            self._clock: int = time.pthread_getcpuclockid(self._owner)
            self._end: float = time.clock_gettime(self._clock) + seconds
            Thread(target=self._watch_clock, name="time of a document", daemon=True).start()

    def _watch_clock(self) -> None:
        import ctypes

        while self.is_running and not self._stop_event.wait(_CHECK_INTERVAL):  # repeated, because docutils may catch it
            with self._raising:
                if self.is_running and time.clock_gettime(self._clock) > self._end:
                    error = ctypes.py_object(_TimeLimitReached)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._owner), error)

    def stop(self) -> None:
        """Stop raising; set `is_running` to false before.  A pending exception is raised in this method.

        It is not cleared: CPython 3.11 then loops forever under a profiler, a debugger or coverage.
        """
        self._stop_event.set()
        with self._raising:
            pass
        for _ in range(2):  # exceptions of other threads are raised where a loop begins again
            pass


def _parse_in_time(parser: Any, text: str, document: Any) -> None:
    """Parse with a limit of processor time.  Raises: _TimeLimitReached."""
    watch = _Watchdog(_BASE_SECONDS + len(text) * _SECONDS_PER_CHARACTER)
    try:
        try:
            parser.parse(text, document)
        finally:
            watch.is_running = False
    finally:  # the exception may occur before the line above; a second one cannot follow so soon
        watch.is_running = False
        watch.stop()


def parse(text: str) -> ParsedRST:
    """Parse a text.

    >>> parse("Title\\n=====\\n\\n`a <b.rst#c>`_ :doc:`d`\\n").references
    [Found(where='hyperlink', reference='b.rst#c', base=None, target=None, codebase=None)]
    """
    notes = ["too-large"] if len(text) > LONGEST else []
    text, entries, has_anchors = _rewrite_directives(text[:LONGEST])
    try:
        if _WIDE_TABLE.search(text):
            raise _TimeLimitReached
        with _PARSER_LOCK:
            tree, inline = _parse_tree(text)
    except RecursionError:
        return ParsedRST([], set(), [], 0, False, [*notes, "too-deep"])
    except (_TimeLimitReached, MemoryError) as error:
        error.__traceback__ = error.__context__ = None
        gc.collect()  # an unfinished tree has reference cycles, and is large
        return ParsedRST([], set(), [], 0, False, [*notes, "too-large"])
    except Exception:  # docutils raises IndexError, AssertionError and others for unexpected markup
        return ParsedRST([], set(), [], 0, False, [*notes, "corrupt"])
    if inline.is_cut and not notes:
        notes = ["too-large"]
    references, anchors, titles = _collect(tree)
    return ParsedRST(references, anchors, titles, entries + inline.role_count, has_anchors, notes)


def _rewrite_directives(text: str) -> tuple[str, int, bool]:
    """Return the text with the directives of Sphinx rewritten as definitions, the number of entries in its `toctree`
    directives, and whether docutils can know all anchors."""
    with brought_by("rst"):
        from docutils.parsers.rst import directives
        from docutils.parsers.rst.languages.en import directives as docutils_directives
    added_directives = vars(directives)["_directives"]  # by Sphinx in the same process
    entry_count, has_anchors = 0, True
    lines = text.split("\n")
    in_options, filled_lines = False, list[int]()
    for at, line in enumerate(lines):
        if in_options and (option := _DIRECTIVE_OPTION.match(line)):
            lines[at] = line[: line.index(":")] + line[option.end() :] if "://" in line else ""
            continue
        in_options = False
        if "::" not in line or (match := _DIRECTIVE.match(line)) is None:
            continue
        name = match[2].lower()
        if _ANCHOR_DIRECTIVE.match(name):
            has_anchors = False
        if name == "toctree":
            filled_lines = filled_lines or [number for number, content in enumerate(lines) if content.strip()]
            lines_below = range(bisect_right(filled_lines, at), len(filled_lines))
            entry_count += _count_entries((lines[filled_lines[number]] for number in lines_below), len(match[1]))
        elif name not in docutils_directives and name not in added_directives and not _CODE_DIRECTIVE.match(name):
            # The line becomes a term, and the indented lines below it become its definition.
            argument = match[3].strip()
            lines[at] = f"{match[1]}directive {argument if '`' in argument or '://' in argument else ''}"
            in_options = True
    return "\n".join(lines), entry_count, has_anchors


def _count_entries(lines: Iterable[str], indent: int) -> int:
    """Return the number of documents in a `toctree`; lines: the lines below it, without empty ones."""
    entry_count = 0
    for line in lines:
        if len(line) - len(line.lstrip()) <= indent:
            break
        entry_count += bool(_TOCTREE_ENTRY.match(line)) and not _DIRECTIVE_OPTION.match(line)
    return entry_count


def _parse_tree(text: str) -> tuple[Any, _InlineReader]:
    """Return docutils' document before its transforms, and the reader of its inline markup."""
    with brought_by("rst"):
        from docutils.frontend import get_default_settings
        from docutils.parsers.rst import Parser, directives, roles
        from docutils.parsers.rst.directives.tables import CSVTable
        from docutils.utils import new_document

    class BoundedTable(CSVTable):
        def extend_short_rows_with_empty_cells(self, columns: int, parts: Any) -> None:
            if columns * sum(map(len, parts)) > _MAX_CELLS:
                raise _TimeLimitReached
            super().extend_short_rows_with_empty_cells(columns, parts)

    inline = _InlineReader(len(text))
    parser = Parser(inliner=inline.inliner)
    settings = get_default_settings(Parser)
    vars(settings).update(_SETTINGS)
    document: Any = new_document("document", settings)
    document.note_source = inline.check_time  # called at every line
    local_roles = vars(roles)["_roles"]
    saved_roles = dict(local_roles)
    directive_table = vars(directives)["_directives"]
    saved_directive = directive_table.get("csv-table")
    directive_table["csv-table"] = BoundedTable if saved_directive is None else saved_directive
    try:
        _parse_in_time(parser, text, document)
    finally:
        local_roles.clear()  # a document may define its own roles
        local_roles.update(saved_roles)
        if saved_directive is None:
            del directive_table["csv-table"]
    return document, inline


_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": True,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    "line_length_limit": LONGEST,
    "syntax_highlight": "none",
    "auto_id_prefix": "id",  # as in Sphinx
    "pep_references": False,
    "rfc_references": False,
}


class _InlineReader:
    """Wraps the inline parser of docutils; checks the time, and counts unknown roles as references by name."""

    def __init__(self, length: int) -> None:
        from docutils.parsers.rst.states import Inliner

        self.role_count = 0
        self.is_cut = False
        self.end: float = time.thread_time() + _BASE_SECONDS + length * _SECONDS_PER_CHARACTER
        # Not a subclass, because docutils compiles its patterns from the attributes of its own class.
        self.inliner: Any = Inliner()
        self.docutils_methods: tuple[Any, Any] = self.inliner.parse, self.inliner.interpreted
        vars(self.inliner).update(parse=self.parse, interpreted=self.interpreted)

    def check_time(self, source: object, offset: object) -> None:
        if time.thread_time() > self.end:
            raise _TimeLimitReached

    def parse(self, text: str, lineno: int, memo: Any, parent: Any) -> Any:
        from docutils.nodes import Text

        self.check_time(None, None)
        if len(text) > _MAX_PARAGRAPH:
            self.is_cut = True
            return [Text(text)], []
        return self.docutils_methods[0](text, lineno, memo, parent)

    def interpreted(self, rawsource: str, text: str, role: str, lineno: int) -> Any:
        from docutils.nodes import inline
        from docutils.parsers.rst import roles

        if roles.role(role, self.inliner.language, lineno, self.inliner.reporter)[0] is None:
            self.role_count += 1
            return [inline(rawsource, text)], []
        return self.docutils_methods[1](rawsource, text, role, lineno)


def _collect(tree: Any) -> tuple[list[Found], set[str], list[str]]:
    """Return the references of a tree in its order, its anchors, and the texts of its headings."""
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
        elif isinstance(node, nodes.raw) and "html" in node.get("format", "").split():
            page = html.read(node.astext())
            anchors |= page.anchors
            references += [i._replace(where=f"html {i.where}") for i in page.items if isinstance(i, Found)]
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
