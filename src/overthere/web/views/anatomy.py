"""The anatomy of a text: the figure of RFC 3986 3, the rule of each component, findings at their places."""

from __future__ import annotations

from overthere.anatomy import Explanation, explain
from overthere.kernel.reference import Parts, host_kind, split, split_authority
from overthere.web.model import Example, Input, View
from overthere.web.runs import Place


def anatomy(text: str) -> Explanation:
    """Return the value of the view, as `overthere explain --format jsonl` prints it."""
    return explain(text)


def places(explanation: Explanation) -> list[Place]:
    """Return the places of the components; the authority of an invalid text is also split into its parts."""
    result = [Place(row.component, row.start, row.end) for row in explanation.rows]
    authority = next((place for place in result if place.name == "authority"), None)
    if authority is not None and explanation.findings:
        userinfo, host, port = split_authority(explanation.text[authority.start : authority.end])
        offset = authority.start
        if userinfo is not None:
            result.append(Place("userinfo", offset, offset + len(userinfo)))
            offset += len(userinfo) + 1
        result.append(Place("host", offset, offset + len(host)))
        if port is not None:
            result.append(Place("port", authority.end - len(port), authority.end))
    return result


def rule_of(explanation: Explanation, name: str, text: str) -> str:
    """Return the grammar rule for a component at its place.

    >>> rule_of(explain("a:b"), "path", "b"), rule_of(explain("http://127.0.0.1"), "host", "127.0.0.1")
    ('path-rootless', 'IPv4address')
    """
    if name == "host":
        return host_kind(text) if text and not explanation.findings else "host"
    return _path_rule(split(explanation.text)) if name == "path" else name


def _path_rule(parts: Parts) -> str:
    if parts.authority is not None:
        return "path-abempty"
    if parts.path == "":
        return "path-empty"
    if parts.path.startswith("/"):
        return "path-absolute"
    return "path-noscheme" if parts.scheme is None else "path-rootless"


TEXT = Input("text", "A URI or a reference", "It is only read; nothing is fetched.")

VIEW = View(
    "anatomy",
    "Anatomy",
    "The figure of RFC 3986 for your text: each component with its rule, place and data, and every finding at its "
    "place.",
    (TEXT,),
    anatomy,
    python="from overthere import explain\nprint(explain({text}))",
    command="overthere explain -- {text}",
    examples=(
        Example("The RFC's own", {"text": "foo://example.com:8042/over/there?name=ferret#nose"}),
        Example("Escapes and a port", {"text": "HTTP://joe@Example.com:80/%7Ejoe/a%20b/../c?q=caf%C3%A9"}),
        Example("Three faults", {"text": "http://h:8o/a b%zz"}),
        Example("FTP with a type", {"text": "ftp://ftp.example/%2Fetc/motd;type=a"}),
    ),
)
