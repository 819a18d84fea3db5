"""Reference resolution: the steps that several documents share, and the record of steps that a trace shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from overthere.ground.errors import NoBase, Unreachable
from overthere.ground.redact import mask, mask_part, masked_repr
from overthere.kernel.reference import Parts, recompose, split
from overthere.values.resolve import Target

Excess = Literal["keep", "strip", "refuse"]
"""The handling of ".." above the root: kept in the target, removed, or the reference is rejected."""


class Line(NamedTuple):
    """One step of an algorithm, executed on this input."""

    step: str
    """The document's number of the step."""
    statement: str
    """The condition or action, in the document's terms."""
    value: str | None
    """The result: "yes" or "no", or a component; None is undefined, and for steps that change buffers only."""
    output: str | None = None
    """The output buffer, or the single buffer of the older documents; None if the step has none."""
    input: str | None = None
    """The input buffer of RFC 3986 5.2.4."""

    def __repr__(self) -> str:
        value = self.value and mask_part("query", mask_part("authority", self.value))  # one of both
        output, buffer = (text and mask(f"/{text}")[1:] for text in (self.output, self.input))  # they begin in a URI
        return masked_repr(self._replace(value=value, output=output, input=buffer))


class Lines:
    """The steps so far.  Steps with buffers are stored up to a limit of characters, and then only counted."""

    def __init__(self, room: int = 0) -> None:
        self.lines: list[Line] = []
        self.left_out: int = 0
        self._room = room

    def add(self, step: str, statement: str, value: str | None = None) -> None:
        self.lines.append(Line(step, statement, value))

    def add_condition(self, step: str, question: str, answer: bool) -> bool:
        """Record a condition with its answer, and return the answer."""
        self.add(step, question, "yes" if answer else "no")
        return answer

    def add_buffers(self, step: str, statement: str, buffers: Callable[[], tuple[str, str | None]]) -> None:
        """Record a step with its buffers.  buffers: returns output and input buffer; called only if they are stored."""
        if self._room <= 0:
            self.left_out += 1
            return
        output, input_buffer = buffers()
        self._room -= len(output) + len(input_buffer or "") + 50
        self.lines.append(Line(step, statement, None, output, input_buffer))

    def add_buffer(self, step: str, statement: str, buffer: str) -> None:
        """Record a step with the single buffer of the older documents."""
        self.add_buffers(step, statement, lambda: (buffer, None))


def base_parts(text: str, document: str) -> Parts:
    """Split a base; "only the scheme component is required to be present in the base URI" (5.2).  Raises: NoBase."""
    base = split(text)
    if base.scheme is None:
        raise NoBase(f"the base URI has no scheme ({document} 5.2)")
    return base


def equal_schemes(reference: Parts, base: Parts) -> bool:
    """Whether both have the same scheme, compared without case (3.1)."""
    return reference.scheme is not None and base.scheme is not None and reference.scheme.lower() == base.scheme.lower()


def all_but_last(base: Parts, repair: bool) -> str:
    """Return all but the last segment of the base's path (url-1997 and RFC 2396 5.2, 6a)."""
    if repair and base.path == "" and base.authority is not None:
        return "/"
    return base.path[: base.path.rfind("/") + 1]


def remove_segments(buffer: str, lines: Lines | None = None, numbers: Sequence[str] = ("", "", "", "")) -> str:
    """Remove "." and "<segment>/.." (RFC 1808 6a to 6d, url-1997 6d to 6g, RFC 2396 6c to 6f, uri-2003 merge 3 to 6).

    The empty text before an initial slash is not a segment; an empty text between two slashes is (decision 97-10).

    lines: records the buffer after each step; numbers: the document's numbers of the four steps.

    >>> remove_segments("/b/c/../../../g"), remove_segments("/s//a/b/../../../g"), remove_segments("a/./b/..")
    ('/../g', '/s/g', 'a/')
    """
    steps = Lines() if lines is None else lines
    root = "/" if buffer.startswith("/") else ""
    *segments, last = buffer[len(root) :].split("/")
    middle = [segment for segment in segments if segment != "."]
    output: list[str] = []

    def record(index: int, text: str, at: int) -> None:
        steps.add_buffers(numbers[index], text, lambda: (root + "/".join([*output, *middle[at:], last]), None))

    if len(middle) < len(segments):
        record(0, 'all "./" are removed, where "." is a complete segment', 0)
    if last == ".":
        last = ""
        record(1, 'the "." at the end is removed', 0)
    for at, segment in enumerate(middle, 1):
        if segment == ".." and output and output[-1] != "..":
            removed = output.pop()
            record(2, f'the leftmost "<segment>/../" is removed: "{removed}/../"', at)
        elif segment or output or root:
            output.append(segment)
        else:  # everything before it is removed, so its slash is now the initial one
            root = "/"
    if last == ".." and output and output[-1] != "..":
        removed, last = output.pop(), ""
        record(3, f'the "<segment>/.." at the end is removed: "{removed}/.."', len(middle))
    return root + "/".join([*output, last])


def handle_excess(buffer: str, excess: Excess) -> str:
    """Handle what "still begins with one or more complete path segments of .." (RFC 2396 6g, uri-2003 merge 7).

    Raises: Unreachable with "refuse".
    """
    if excess == "keep":
        return buffer
    root = "/" if buffer.startswith("/") else ""
    segments = buffer[len(root) :].split("/")
    above = next((i for i, segment in enumerate(segments) if segment != ".."), len(segments))
    if above and excess == "refuse":
        raise Unreachable('the reference leads above the root: its path still begins with ".." (5.2)')
    return root + "/".join(segments[above:])


def recompose_target(step: str, target: Parts, lines: Lines) -> Target:
    """Join the components to text: the last step of each document."""
    uri = recompose(target)
    lines.add(step, "the components are put together", uri)
    return Target(uri, target.fragment, False)


def is_same(target: str, base: str) -> bool:
    """Whether two texts are equal without fragments: `Target.same_document` where a document does not define it."""
    return target.partition("#")[0] == base.partition("#")[0]


def for_request(target: Target, url: str) -> Target:
    """Return the target in a context that always makes a new request, such as HTML's FORM (decisions 97-15, 03-12).

    There `url` replaces "(current document)": it is the URL of the current document by url-1997 3, its base URI by
    RFC 2396 and uri-2003 4.2.

    >>> for_request(Target(None, "s", True), "http://h/a#f")
    Target(uri='http://h/a#s', fragment='s', same_document=True)
    """
    if target.uri is not None:
        return target
    absolute = url.partition("#")[0]
    return target._replace(uri=absolute if target.fragment is None else f"{absolute}#{target.fragment}")
