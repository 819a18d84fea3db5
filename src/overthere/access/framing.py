"""Line ends of text protocols, and bytes that must not reach a port of another protocol.

RFC 1738 6: an unsafe URL is made "by specifying a port number other than that reserved for the network protocol", so
that another server reads the request as commands; RFC 3986 7.2 requires a check of the request for the line
delimiters of that other protocol.  Each request of a plan states its number of lines; data cannot add lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from overthere.access.steps import Connect, Interact, Send, Step

if TYPE_CHECKING:
    from overthere.schemes.model import Scheme

FOREIGN = "RFC 3986 7.2, RFC 1738 6"

# For text decoded as UTF-8: the byte 85 may be part of a character; alone it is NEL, a line end (ISO 6429).
_LINE_ENDS = re.compile("[\0\n-\r\x1c-\x1e\x85\u2028\u2029\udc85]")
_NAMES = {"\0": "NUL", "\n": "a line feed", "\r": "a carriage return", "\udc85": "the octet %85"}


def line_end(octets: bytes) -> str | None:
    """Return the first character that a line-based protocol, or a program that reads lines, may take for a line end.

    CR, LF and NUL; VT, FF, FS, GS and RS; NEL, as a byte and in UTF-8; the line and paragraph separators of Unicode.
    The final CR LF or LF is allowed: it ends the line.

    >>> line_end(b"one line\\r\\n"), line_end("\\u0445\\u00e5".encode()), line_end(b"a\\x85"), line_end(b"a\\x0bb")
    (None, None, 'the octet %85', 'U+000B')
    """
    return _name_line_end(_LINE_ENDS.search(_without_final_line_end(octets)))


def _without_final_line_end(octets: bytes) -> str:
    text = octets.decode("utf-8", "surrogateescape")
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def _name_line_end(match: re.Match[str] | None) -> str | None:
    return match and _NAMES.get(match[0], f"U+{ord(match[0]):04X}")


def foreign_port_steps(steps: Iterable[Step], scheme: Scheme) -> Iterator[tuple[int, str]]:
    """Yield port and reason for each step that sends unsafe bytes to a port of another protocol than the scheme's.

    >>> from overthere import plan
    >>> plan("gopher://h:6379/0a%0Bb").cautions
    ('port 6379 is not that of gopher, and would be sent U+000B, which may end a line there',)
    >>> plan("gopher://h:6379/0a").cautions, plan("gopher://h/0a%0Bb").cautions
    ((), ())
    """
    port = scheme.port
    for step in steps:
        reason = None
        match step:
            case Connect():
                port = step.port
            case Send() if port != scheme.port:
                reason = _line_problem(step)
            case Interact():
                port = step.port
                if port != scheme.port and (ending := line_end((step.user or "").encode("utf-8", "surrogateescape"))):
                    reason = f"the user name has {ending}, which may end a line there"
            case _:
                pass
        if reason is not None and port is not None:
            yield port, f"port {port} is not that of {scheme.name}, and would be sent {reason}"


def _line_problem(step: Send) -> str | None:
    """Return why the step is unsafe at a port of another protocol, or None."""
    if step.lines == 0:
        return "octets that a line-based protocol reads as lines chosen by the URI"
    lines = _without_final_line_end(step.data).replace("\r\n", "\n").split("\n")
    if ending := _name_line_end(_LINE_ENDS.search("".join(lines))):
        return f"{ending}, which may end a line there"
    if len(lines) > step.lines:
        return f"{len(lines)} lines instead of {step.lines}"
    return None
