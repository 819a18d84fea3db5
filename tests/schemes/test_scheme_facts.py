"""Facts of a scheme are in its own file: other code names no schemes, with few exceptions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from overthere import Registry
from support import ROOT

PACKAGE = ROOT / "src" / "overthere"
NAMES = frozenset(Registry.default())

# The folder of a protocol -> further schemes of that protocol, besides the one with its name.
SPOKEN = {
    "http": {"https"},
    "ldap": {"ldaps"},
    "mail": {"mailto", "mid", "cid"},
    "news": {"nntp"},
    "session": {"telnet", "rlogin", "tn3270"},
    "websocket": {"ws", "wss"},
}

# File -> the scheme names that it compares with, and why.
WORDS = "no scheme, but the same word: "
REASONS: dict[str, tuple[set[str], str]] = {
    "access/steps.py": ({"data"}, WORDS + "a field of a step"),
    "base.py": (
        {"cid:", "data", "http"},
        "the protocol by whose rules a base is found; HTML 4.2.3 on data: as a base; RFC 2557 8.3 on cid: as one",
    ),
    "broken/requests.py": (
        {"http", "https"},
        "the origins that a header field may be for: fields are of HTTP (RFC 9110 5; RFC 6454 4)",
    ),
    "broken/collecting.py": ({"http"}, WORDS + "a kind of document"),
    "broken/job.py": ({"http", "https"}, "what is crawled: pages and robots.txt are of HTTP (RFC 9309 2.3)"),
    "broken/reference_check.py": (
        {"about", "blob", "cid", "data", "mailto", "tel"},
        "what leads nowhere by itself (HTML 7.4.2.2); mailto by its own syntax; of tel only that it has a number, for "
        "people write numbers in many ways; RFC 2392 on cid: within a message",
    ),
    "canonical/model.py": ({"https"}, WORDS + "a step"),
    "canonical/rewriting.py": (
        {"http"},
        "the step https puts the one for the other: by a crawler convention, no document of either scheme",
    ),
    "editions/compare_resolution.py": ({"http:"}, "the universe of strings on which resolutions are compared"),
    "editions/readings.py": ({"afs"}, "the grammar of 1994, which has no rule for it"),
    "editions/rfc1738.py": (
        {"file", "ftp", "gopher", "http", "mailto", "news", "nntp", "prospero", "telnet", "wais"},
        "the document's own account of each scheme",
    ),
    "editions/other_resolutions.py": (
        {"file", "ftp", "http", "https", "nntp"},
        "RFC 2396 5.2, step 3: the schemes that always have a <hier_part>, by RFC 1808 2.3",
    ),
    "editions/url1994.py": ({"gopher", "http", "wais"}, "the document's own account of each scheme"),
    "links/containers/message/__init__.py": ({"cid:", "file"}, "RFC 2557 8.2: parts by mid: and cid:"),
    "links/containers/message_labels.py": ({"cid:", "mid:"}, "RFC 2557 8.2: parts by mid: and cid:"),
    "integrations/fsspec.py": (
        {"data", "ftp", "gopher", "wais"},
        "names under which fsspec looks for a filesystem",
    ),
    "integrations/guarding.py": (
        {"http", "https"},
        "what the guarded clients request: HTTP alone (RFC 9110 4.2)",
    ),
    "links/documents/notebook.py": ({"data"}, WORDS + "a field of an output"),
    "links/documents/xml/events.py": ({"data"}, WORDS + "a kind of event"),
    "links/job/task_rows.py": ({"http"}, WORDS + "a kind of document"),
    "links/job/contents.py": ({"file", "http", "https"}, "names in archives that are URIs of what was fetched"),
    "links/report/browser_column.py": ({"data:", "http"}, "a kind of document; HTML 4.2.3; URL Standard 4.4"),
    "links/spark.py": ({"file:", "file:/"}, "how Hadoop writes the paths of this machine"),
    "protocols/prospero/answer.py": ({"AFS", "FTP", "WAIS"}, WORDS + "access methods of Prospero"),
    "protocols/prospero/dialogue.py": ({"DATA"}, WORDS + "a word of Prospero"),
    "files/stores/model.py": (
        {"git", "s3", "s3a", "gs", "az", "abfs", "abfss"},
        "the schemes that obstore opens; git there is no scheme, but a filesystem of fsspec",
    ),
    "values/origins.py": ({"http"}, "RFC 8252 7.3: the port of an http URI of a loopback address, in no other scheme"),
    "repairs.py": (
        {"file"},
        "a bar after a drive letter is no URI yet, so that no scheme has read it (RFC 8089 E.2.2)",
    ),
    "web/guard.py": ({"http"}, WORDS + "the kind of an ASGI scope; the origins of its own pages (RFC 6454 4)"),
}


def _texts(node: ast.AST) -> Iterator[str]:
    """The literals of a text, or of a collection of texts."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Constant(value=bytes(octets)):
            yield octets.decode("latin-1")
        case ast.Tuple(elts=several) | ast.List(elts=several) | ast.Set(elts=several):
            for item in several:
                yield from _texts(item)
        case ast.Dict(keys=keys):
            for key in keys:
                yield from _texts(key) if key is not None else ()
        case ast.Call(args=[item], func=ast.Name(id="frozenset" | "set" | "tuple")):
            yield from _texts(item)
        case _:
            pass


def compared_literals(tree: ast.Module) -> Iterator[str]:
    """The literals that something is compared with, including those of module-level collections."""
    collections = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        sides: list[ast.expr] = []
        match node:
            case ast.Compare(left=left, comparators=right):
                sides = [left, *right]
            case ast.MatchValue(value=value):
                sides = [value]
            case ast.Call(func=ast.Attribute(attr="startswith" | "removeprefix" | "get"), args=[first, *_]):
                sides = [first]
            case ast.Subscript(value=ast.Name(id=name)) if name in collections:
                sides = [collections[name]]
            case _:
                pass
        for side in sides:
            yield from _texts(collections.get(side.id, side) if isinstance(side, ast.Name) else side)


def scheme_comparisons() -> dict[str, set[str]]:
    """File -> the names of schemes that it compares with, with or without a colon and more."""
    files: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        room, *parts = place.parts
        if room == "schemes":
            continue
        spoken = {parts[0], *SPOKEN.get(parts[0], ())} if room == "protocols" and len(parts) > 1 else set[str]()
        for text in compared_literals(ast.parse(path.read_text())):
            name = text.rstrip("/").removesuffix(":").lower()
            if name in NAMES and name not in spoken:
                files.setdefault(place.as_posix(), set()).add(text)
    return files


def test_comparisons_with_scheme_names_are_listed() -> None:
    """Facts of a scheme belong into its file, as a field of Scheme; REASONS has the exceptions."""
    assert scheme_comparisons() == {file: allowed for file, (allowed, _) in REASONS.items()}


def test_exceptions_are_few() -> None:
    assert len([reason for _, reason in REASONS.values() if not reason.startswith(WORDS)]) <= 20
