"""Reference resolution step by step, numbered as in the document, with the buffers after each step.

The steps are taken one by one, as they are printed; `editions.resolution` does the same in one pass, and
`tests/editions/test_resolution_trace.py` holds the two together over the universe of `compare_resolution`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from overthere.editions.readings import shown_target
from overthere.editions.resolution import RESOLUTIONS
from overthere.editions.resolution_steps import all_but_last
from overthere.ground.errors import NotSpecified, OverthereError
from overthere.kernel.reference import Parts, merge_paths, recompose, split
from overthere.values.resolve import Target

__all__ = ["TRACES", "Line", "Trace", "trace"]

_SHOWN = 200_000
"""Characters of the buffers of one trace: the rest of its lines is counted."""


class Line(NamedTuple):
    """One step of an algorithm, as it is taken on this input."""

    step: str
    """Document's own number."""
    statement: str
    """What is asked or done, in the document's terms."""
    value: str | None
    """What that gives: "yes" or "no", or a component; None is undefined, and what gives buffers only."""
    output: str | None = None
    """The output buffer, or the one buffer of the older documents; None where the step has none."""
    input: str | None = None
    """The input buffer of RFC 3986 5.2.4."""


class Trace(NamedTuple):
    """How one document resolves one reference."""

    name: str
    document: str
    section: str
    lines: list[Line]
    left_out: int
    """How many more steps were taken: a long path is not listed to its end."""
    target: str | None
    """As `readings.shown_target` has it; None where there is none."""
    problem: str | None
    """Why there is none."""


class _Lines:
    """The lines so far, as long as there is room."""

    def __init__(self) -> None:
        self.kept: list[Line] = []
        self.left_out = 0
        self._room = _SHOWN

    def add(self, step: str, statement: str, value: str | None = None) -> None:
        self.kept.append(Line(step, statement, value))

    def add_condition(self, step: str, question: str, answer: bool) -> bool:
        """A condition, with its answer."""
        self.add(step, question, "yes" if answer else "no")
        return answer

    def buffers(self, step: str, statement: str, made: Callable[[], tuple[str, str | None]]) -> None:
        """made: gives the output and the input buffer, if they are listed."""
        if self._room <= 0:
            self.left_out += 1
            return
        output, rest = made()
        self._room -= len(output) + len(rest or "") + 50
        self.kept.append(Line(step, statement, None, output, rest))


def trace(name: str, base: str, reference: str) -> Trace:
    """How a document resolves a reference against a base, step by step.

    name: one of `TRACES`: "url-1997", "uri-2003" or "rfc3986", each by its letter.

    Raises: NotSpecified if there is no trace of that name; nothing for any text.

    >>> found = trace("rfc3986", "http://a/b/c/d;p?q", "../g")
    >>> found.target
    'http://a/b/g'
    >>> [(line.step, line.output, line.input) for line in found.lines if line.input is not None]
    [('5.2.4 1', '', '/b/c/../g'), ('5.2.4 2E', '/b', '/c/../g'), ('5.2.4 2E', '/b/c', '/../g'),
     ('5.2.4 2C', '/b', '/g'), ('5.2.4 2E', '/b/g', '')]
    """
    if name not in TRACES:
        raise NotSpecified(f"there is no trace of {name!r}; there is {', '.join(TRACES)}")
    document, lines = RESOLUTIONS[name], _Lines()
    target, problem = None, None
    try:
        target = shown_target(TRACES[name](base, reference, lines))
    except OverthereError as error:
        problem = str(error)
    return Trace(name, document.document, document.section, lines.kept, lines.left_out, target, problem)


def _needs_a_scheme(name: str, base: str, reference: str) -> None:
    """Raises: NoBase, in the words of the algorithm itself."""
    if split(base).scheme is None:
        RESOLUTIONS[name].resolve(base, reference)


# -- RFC 3986


def _rfc3986(base_text: str, reference: str, lines: _Lines) -> Target:
    """5.2.2, line by line, then 5.3."""
    _needs_a_scheme("rfc3986", base_text, reference)
    base, ref, at = split(base_text), split(reference), "5.2.2"
    if lines.add_condition(at, "defined(R.scheme)", ref.scheme is not None):
        target = Parts(ref.scheme, ref.authority, _dots("T.path = remove_dot_segments(R.path)", ref.path, lines),
                       ref.query, ref.fragment)  # fmt: skip
        whose = "RRR"
    elif lines.add_condition(at, "defined(R.authority)", ref.authority is not None):
        target = Parts(base.scheme, ref.authority, _dots("T.path = remove_dot_segments(R.path)", ref.path, lines),
                       ref.query, ref.fragment)  # fmt: skip
        whose = "BRR"
    elif lines.add_condition(at, 'R.path == ""', ref.path == ""):
        lines.add(at, "T.path = Base.path", base.path)
        own = lines.add_condition(at, "defined(R.query)", ref.query is not None)
        target = Parts(base.scheme, base.authority, base.path, ref.query if own else base.query, ref.fragment)
        whose = "BBR" if own else "BBB"
    else:
        path = ref.path
        if not lines.add_condition(at, 'R.path starts-with "/"', path.startswith("/")):
            lines.add_condition(
                "5.2.3", "Base has an authority and an empty path", base.authority is not None and not base.path
            )
            path = merge_paths(base, ref.path)
            lines.add("5.2.3", "T.path = merge(Base.path, R.path)", path)
        what = "R.path" if ref.path.startswith("/") else "T.path"
        path = _dots(f"T.path = remove_dot_segments({what})", path, lines)
        target = Parts(base.scheme, base.authority, path, ref.query, ref.fragment)
        whose = "BBR"
    for component, side in zip(("scheme", "authority", "query"), whose, strict=True):
        whole = "R" if side == "R" else "Base"
        lines.add(at, f"T.{component} = {whole}.{component}", getattr(target, component))
    lines.add(at, "T.fragment = R.fragment", target.fragment)
    return _recompose("5.3", target, lines)


def _recompose(step: str, target: Parts, lines: _Lines) -> Target:
    uri = recompose(target)
    lines.add(step, "the components are put together", uri)
    return Target(uri, target.fragment, False)


def _dots(statement: str, path: str, lines: _Lines) -> str:
    """5.2.4, by its own steps; the input buffer is `head` and what is left of the path from `at` on."""
    output: list[str] = []
    head, at, end = "", 0, len(path)

    def add_buffers(step: str, said: str) -> None:
        lines.buffers(f"5.2.4 {step}", said, lambda: ("".join(output), head + path[at:]))

    add_buffers("1", "the input buffer is the path, the output buffer is empty")
    while head or at < end:
        if not head and path.startswith(("../", "./"), at):
            prefix = "../" if path.startswith("../", at) else "./"
            at += len(prefix)
            add_buffers("2A", f'the prefix "{prefix}" is removed')
        elif not head and path.startswith("/./", at):
            at += 2
            add_buffers("2B", '"/./" is replaced with "/"')
        elif not head and end - at == 2 and path.startswith("/.", at):
            head, at = "/", end
            add_buffers("2B", '"/." is replaced with "/"')
        elif not head and (path.startswith("/../", at) or (end - at == 3 and path.startswith("/..", at))):
            whole = end - at == 3
            head, at = ("/", end) if whole else ("", at + 3)
            if output:
                output.pop()
            prefix = "/.." if whole else "/../"
            add_buffers("2C", f'"{prefix}" is replaced with "/", and the last segment of the output is removed')
        elif not head and end - at < 3 and path[at:] in (".", ".."):
            only, at = path[at:], end
            add_buffers("2D", f'"{only}" is removed')
        else:
            if head:
                output.append(head)
                head = ""
            else:
                slash = path.find("/", at + 1)
                stop = end if slash < 0 else slash
                output.append(path[at:stop])
                at = stop
            add_buffers("2E", "the first segment is moved to the output")
    path = "".join(output)
    lines.add("5.2.2", statement, path)
    return path


# -- the drafts of 1997 and 2003


def _segments(buffer: str, steps: tuple[str, str, str, str], lines: _Lines) -> str:
    """url-1997 5.2, 6d to 6g; uri-2003 5.2, merge 3 to 6: removed one by one, the leftmost first."""

    def add_buffers(step: str, said: str) -> None:
        lines.buffers(step, said, lambda: (buffer, None))

    *within, last = buffer.split("/")
    plain = "/".join([*(segment for segment in within if segment != "."), last])
    if plain != buffer:
        buffer = plain
        add_buffers(steps[0], 'all "./" are removed, where "." is a complete segment')
    if last == ".":
        buffer = buffer[:-1]
        add_buffers(steps[1], 'the "." at the end is removed')
    at = int(buffer.startswith("/"))  # the empty text before an initial slash is no segment
    while (slash := buffer.find("/", at)) >= 0:
        if not buffer.startswith("/../", slash) or buffer.startswith("../", at):
            at = slash + 1
            continue
        gone = buffer[at : slash + 4]
        buffer = buffer[:at] + buffer[slash + 4 :]
        add_buffers(steps[2], f'the leftmost "<segment>/../" is removed: "{gone}"')
        # The one before it may be removed next.
        at = max(buffer.rfind("/", 0, max(0, at - 1)) + 1, int(buffer.startswith("/")))
    if buffer.endswith("/.."):
        at = max(buffer.rfind("/", 0, len(buffer) - 3) + 1, int(buffer.startswith("/")))
        if at <= len(buffer) - 3 and buffer[at:] != "../..":
            gone, buffer = buffer[at:], buffer[:at]
            add_buffers(steps[3], f'the "<segment>/.." at the end is removed: "{gone}"')
    return buffer


def _url1997(base_text: str, reference: str, lines: _Lines) -> Target:
    """5.2, steps 1 to 7."""
    if base_text != "":
        _needs_a_scheme("url-1997", base_text, reference)
    base, ref = split(base_text), split(reference)
    empty = ref[:4] == (None, None, "", None)
    if lines.add_condition("5.2 2", "scheme, site, path and query are all undefined or empty", empty):
        return Target(None, ref.fragment, True)
    if base_text == "" or lines.add_condition("5.2 3", "the reference has a scheme", ref.scheme is not None):
        return Target(reference, ref.fragment, False)
    lines.add("5.2 3", "the scheme is the base's", base.scheme)
    ref = ref._replace(scheme=base.scheme)
    if not lines.add_condition("5.2 4", "the reference has a site", ref.authority is not None):
        lines.add("5.2 4", "the site is the base's", base.authority)
        ref = ref._replace(authority=base.authority)
        if not lines.add_condition("5.2 5", 'the path begins with "/"', ref.path.startswith("/")):
            ref = _merged1997(base, ref, lines)
    return _recompose("5.2 7", ref, lines)


def _merged1997(base: Parts, ref: Parts, lines: _Lines) -> Parts:
    buffer = all_but_last(base, repair=False)
    start = buffer
    lines.buffers("5.2 6a", "the base's path without its last segment", lambda: (start, None))
    buffer += ref.path
    joined = buffer
    lines.buffers("5.2 6b", "the reference's path is appended", lambda: (joined, None))
    if ref.query is not None:
        buffer += "?" + ref.query
        queried = buffer
        lines.buffers("5.2 6c", 'the query is appended with its "?", and is part of the path', lambda: (queried, None))
    buffer = _segments(buffer, ("5.2 6d", "5.2 6e", "5.2 6f", "5.2 6g"), lines)
    if buffer.removeprefix("/").startswith("../"):
        lines.add("5.2 6h", 'the buffer still begins with "..", which is kept', buffer)
    path, mark, query = buffer.partition("?")
    lines.add("5.2 6i", "the path", path)
    return ref._replace(path=path, query=query if mark else None)


def _uri2003(base_text: str, reference: str, lines: _Lines) -> Target:
    """5.2, line by line."""
    _needs_a_scheme("uri-2003", base_text, reference)
    base, ref, at = split(base_text), split(reference), "5.2"
    if lines.add_condition(at, "defined(R.scheme)", ref.scheme is not None):
        return _recompose(at, ref, lines)
    lines.add(at, "T.scheme = Base.scheme", base.scheme)
    if lines.add_condition(at, "defined(R.authority)", ref.authority is not None):
        return _recompose(at, ref._replace(scheme=base.scheme), lines)
    path = ref.path
    if lines.add_condition(at, 'R.path == ""', path == ""):
        if not lines.add_condition(at, "defined(R.query)", ref.query is not None):
            return Target(None, ref.fragment, True)
        path = base.path
        lines.add(at, "T.path = Base.path", path)
    elif not lines.add_condition(at, 'R.path starts-with "/"', path.startswith("/")):
        path = _merged2003(base.path, path, lines)
        lines.add(at, "T.path = merge(Base.path, R.path)", path)
    lines.add(at, "T.authority = Base.authority", base.authority)
    return _recompose(at, Parts(base.scheme, base.authority, path, ref.query, ref.fragment), lines)


def _merged2003(base_path: str, path: str, lines: _Lines) -> str:
    own = base_path[: base_path.rfind("/") + 1] if base_path else "/"
    said = "the base's path without its last segment" if base_path else 'the base\'s path is empty: "/"'
    lines.buffers("5.2 merge 1", said, lambda: (own, None))
    joined = own + path
    lines.buffers("5.2 merge 2", "the reference's path is appended", lambda: (joined, None))
    buffer = _segments(joined, ("5.2 merge 3", "5.2 merge 4", "5.2 merge 5", "5.2 merge 6"), lines)
    if buffer.removeprefix("/").startswith("../"):
        lines.add("5.2 merge 7", 'the buffer still begins with "..", which is kept', buffer)
    return buffer


TRACES: Mapping[str, Callable[[str, str, _Lines], Target]] = MappingProxyType(
    {"url-1997": _url1997, "uri-2003": _uri2003, "rfc3986": _rfc3986}
)
"""Edition name -> its algorithm, step by step."""
