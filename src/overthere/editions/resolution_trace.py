"""Reference resolution step by step, numbered as in the document, with the buffers after each step.

The resolutions of url-1997 and uri-2003 record their own steps.  RFC 3986's is in the kernel, which is fast and
records nothing: its steps are implemented here again, and `tests/editions/test_resolution_trace.py` compares the
two over the universe of `compare_resolution`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from overthere.editions.readings import shown_target
from overthere.editions.resolution import RESOLUTIONS, uri2003, url1997
from overthere.editions.resolution_steps import Line, Lines, base_parts, recompose_target
from overthere.ground.errors import NotSpecified, OverthereError
from overthere.ground.redact import hides_secrets
from overthere.kernel.reference import Parts, merge_paths, split
from overthere.values.resolve import Target

__all__ = ["TRACES", "Line", "Trace", "trace"]

_MAX_BUFFER_CHARACTERS = 200_000
"""The limit of buffer characters in one trace; further lines are only counted."""


@hides_secrets
class Trace(NamedTuple):
    """The resolution of one reference by one document."""

    name: str
    document: str
    section: str
    lines: list[Line]
    left_out: int
    """The number of further steps: a long path is not listed to its end."""
    target: str | None
    """The target in the form of `readings.shown_target`, or None."""
    problem: str | None
    """The reason why there is no target."""


def trace(name: str, base: str, reference: str) -> Trace:
    """Resolve a reference against a base step by step, as a document does.

    name: one of `TRACES`: "url-1997", "uri-2003" or "rfc3986", each exactly as printed.

    Raises: NotSpecified if there is no trace of that name; nothing for any text.

    >>> found = trace("rfc3986", "http://a/b/c/d;p?q", "../g")
    >>> found.target
    'http://a/b/g'
    >>> [(line.step, line.output, line.input) for line in found.lines if line.input is not None]
    [('5.2.4 1', '', '/b/c/../g'), ('5.2.4 2E', '/b', '/c/../g'), ('5.2.4 2E', '/b/c', '/../g'),
     ('5.2.4 2C', '/b', '/g'), ('5.2.4 2E', '/b/g', '')]
    """
    if name not in TRACES:
        raise NotSpecified(f"unknown trace {name!r}; known: {', '.join(TRACES)}")
    document, lines = RESOLUTIONS[name], Lines(_MAX_BUFFER_CHARACTERS)
    target, problem = None, None
    try:
        target = shown_target(TRACES[name](base, reference, lines))
    except OverthereError as error:
        problem = str(error)
    return Trace(name, document.document, document.section, lines.lines, lines.left_out, target, problem)


def _rfc3986(base_text: str, reference: str, lines: Lines) -> Target:
    """Resolve by 5.2.2, line by line, then 5.3."""
    base, ref, at = base_parts(base_text, "RFC 3986"), split(reference), "5.2.2"
    if lines.add_condition(at, "defined(R.scheme)", ref.scheme is not None):
        target = Parts(ref.scheme, ref.authority, _dots("T.path = remove_dot_segments(R.path)", ref.path, lines),
                       ref.query, ref.fragment)  # fmt: skip
        sources = "RRR"
    elif lines.add_condition(at, "defined(R.authority)", ref.authority is not None):
        target = Parts(base.scheme, ref.authority, _dots("T.path = remove_dot_segments(R.path)", ref.path, lines),
                       ref.query, ref.fragment)  # fmt: skip
        sources = "BRR"
    elif lines.add_condition(at, 'R.path == ""', ref.path == ""):
        lines.add(at, "T.path = Base.path", base.path)
        has_query = lines.add_condition(at, "defined(R.query)", ref.query is not None)
        target = Parts(base.scheme, base.authority, base.path, ref.query if has_query else base.query, ref.fragment)
        sources = "BBR" if has_query else "BBB"
    else:
        path = ref.path
        if not lines.add_condition(at, 'R.path starts-with "/"', path.startswith("/")):
            lines.add_condition(
                "5.2.3", "Base has an authority and an empty path", base.authority is not None and not base.path
            )
            path = merge_paths(base, ref.path)
            lines.add("5.2.3", "T.path = merge(Base.path, R.path)", path)
        argument = "R.path" if ref.path.startswith("/") else "T.path"
        path = _dots(f"T.path = remove_dot_segments({argument})", path, lines)
        target = Parts(base.scheme, base.authority, path, ref.query, ref.fragment)
        sources = "BBR"
    for component, side in zip(("scheme", "authority", "query"), sources, strict=True):
        source = "R" if side == "R" else "Base"
        lines.add(at, f"T.{component} = {source}.{component}", getattr(target, component))
    lines.add(at, "T.fragment = R.fragment", target.fragment)
    return recompose_target("5.3", target, lines)


def _dots(statement: str, path: str, lines: Lines) -> str:
    """Remove dot-segments by the steps of 5.2.4; the input buffer is `head` and the path from `at` on."""
    output: list[str] = []
    head, at, end = "", 0, len(path)

    def add_buffers(step: str, statement: str) -> None:
        lines.add_buffers(f"5.2.4 {step}", statement, lambda: ("".join(output), head + path[at:]))

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
            is_at_end = end - at == 3
            head, at = ("/", end) if is_at_end else ("", at + 3)
            if output:
                output.pop()
            prefix = "/.." if is_at_end else "/../"
            add_buffers("2C", f'"{prefix}" is replaced with "/", and the last segment of the output is removed')
        elif not head and end - at < 3 and path[at:] in (".", ".."):
            segment, at = path[at:], end
            add_buffers("2D", f'"{segment}" is removed')
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


TRACES: Mapping[str, Callable[[str, str, Lines], Target]] = MappingProxyType(
    {
        "url-1997": lambda base, reference, lines: url1997(base, reference, lines=lines),
        "uri-2003": lambda base, reference, lines: uri2003(base, reference, lines=lines),
        "rfc3986": _rfc3986,
    }
)
"""Edition name -> its algorithm, with recorded steps."""
