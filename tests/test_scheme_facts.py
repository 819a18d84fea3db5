"""A scheme's facts stand with the scheme: its name stands as a literal in `schemes/`, in its own protocol's folder, and
in the few places below, each with its reason."""

from __future__ import annotations

import ast

import pytest

from overthere import Registry
from support import ROOT

PACKAGE = ROOT / "src" / "overthere"
NAMES = frozenset(Registry.default())

# The folder of a protocol -> the schemes whose protocol it is, beside the one of its own name.
SPOKEN = {
    "http": {"https"},
    "ldap": {"ldaps"},
    "mail": {"mailto", "mid", "cid"},
    "news": {"nntp"},
    "session": {"telnet", "rlogin", "tn3270"},
    "websocket": {"ws", "wss"},
}

# File -> the literals, and why they stand there.
WORDS = "no scheme, but the same word: "
REASONS: dict[str, tuple[set[str], str]] = {
    "canonical/rewriting.py": (
        {"http", "https"},
        "the step https puts the one for the other: by a custom of crawlers, no document of either scheme",
    ),
    "canonical/raw.py": ({"http"}, "the scheme that Safe Browsing puts before a text without one"),
    "repairs.py": (
        {"file"},
        "a bar behind a drive letter is no URI yet, so that no scheme has read it (RFC 8089 E.2.2)",
    ),
    "canonical/table.py": ({"https"}, "the name of that step"),
    "access/loading.py": ({"http"}, "the folder of the protocol that has proxies (RFC 9110 3.7)"),
    "access/steps.py": ({"data"}, WORDS + "a field of a step"),
    "access/transport.py": ({"data"}, WORDS + "the connection for data"),
    "access/wire.py": ({"Data"}, WORDS + "a class"),
    "base.py": (
        {"http", "file", "data", "cid:"},
        "the protocol by whose rules a base is found; the file URI of a path (5.1.4's default); HTML 4.2.3 on data: "
        "as a base; RFC 2557 8.3 on cid: as one",
    ),
    "broken/requests.py": (
        {"http", "https", "https://"},
        "the origins that a header field may be for: fields are of HTTP (RFC 9110 5; RFC 6454 4)",
    ),
    "broken/crawl.py": ({"http", "https"}, "what is crawled: pages and robots.txt are of HTTP (RFC 9309 2.3)"),
    "broken/job.py": ({"http", "https"}, "what is crawled: pages and robots.txt are of HTTP (RFC 9309 2.3)"),
    "broken/collecting.py": ({"http"}, WORDS + "a kind of document"),
    "broken/reference_check.py": (
        {"data", "about", "blob", "mailto", "cid"},
        "what leads nowhere by itself (HTML 7.4.2.2); mailto by its own syntax; RFC 2392 on cid: within a message",
    ),
    "broken/model.py": ({"data", "about"}, "the reasons for which these are passed over"),
    "cli/asking.py": ({"FILE"}, WORDS + "a file to write"),
    "cli/check.py": ({"http"}, "the scheme that people leave away (RFC 3986 4.5)"),
    "cli/audit.py": ({"FILE", "file"}, WORDS + "a file to read"),
    "cli/serve.py": ({"http://"}, "the address that is printed, of the server of this process"),
    "cli/broken.py": ({"FILE"}, WORDS + "a file to write"),
    "cli/encode.py": ({"data"}, WORDS + "data to encode"),
    "cli/find.py": ({"file"}, WORDS + "a file to read"),
    "cli/get.py": ({"FILE"}, WORDS + "a file to write"),
    "cli/links.py": ({"FILE"}, WORDS + "a file to write"),
    "cli/table_options.py": ({"FILE"}, WORDS + "a file to read"),
    "editions/compare.py": (
        {"http", "ftp", "gopher", "mailto", "news", "nntp", "telnet", "wais", "prospero"},
        "the schemes of RFC 1738's grammar",
    ),
    "editions/compare_resolution.py": ({"http:"}, "the universe of strings on which resolutions are compared"),
    "editions/readings.py": ({"afs"}, "the grammar of 1994, which has no rule for it"),
    "editions/rfc1738.py": (
        {"ftp", "http", "gopher", "mailto", "news", "nntp", "telnet", "wais", "file", "prospero"},
        "the document's own account of each scheme",
    ),
    "editions/rfc2396.py": (
        {"file", "ftp", "http", "https", "nntp"},
        "RFC 2396 5.2, step 3: the schemes that always have a <hier_part>, by RFC 1808 2.3",
    ),
    "editions/uri2003.py": ({"http"}, "the one default port that the draft states (6.2.3)"),
    "editions/url1994.py": (
        {"http", "ftp", "afs", "news", "nntp", "mid", "cid", "mailto", "wais", "prospero"}
        | {"telnet", "rlogin", "tn3270", "gopher"},
        "the document's own account of each scheme",
    ),
    "editions/whatwg.py": ({"http", "https", "ws", "wss", "ftp", "file"}, "special schemes (URL Standard 4.2)"),
    "links/job/contents.py": ({"http", "https", "file"}, "names in archives that are URIs of what was fetched"),
    "links/containers/message/__init__.py": ({"file", "mid:", "cid:"}, "RFC 2557 8.2: parts by mid: and cid:"),
    "links/containers/message/labels.py": ({"mid:", "cid:"}, "RFC 2557 8.2: parts by mid: and cid:"),
    "links/documents/header.py": ({"HTTP"}, WORDS + "a protocol's version"),
    "links/containers/warc.py": ({"http"}, "the protocol by whose rules a base is found"),
    "links/documents/html.py": ({"about", "data"}, WORDS + "an attribute of HTML"),
    "links/documents/kinds.py": ({"http"}, WORDS + "a kind of document"),
    "links/documents/prescan.py": ({"tag"}, WORDS + "a part of markup"),
    "links/documents/tokens.py": ({"data", "tag"}, WORDS + "parts of markup"),
    "links/documents/xml/events.py": ({"data"}, WORDS + "a kind of event"),
    "links/job/task_rows.py": ({"http"}, WORDS + "a kind of document"),
    "links/job/reading.py": ({"http"}, WORDS + "a kind of document"),
    "links/job/retrieval.py": ({"http"}, "the protocol by whose rules a base is found"),
    "links/report/browser_column.py": (
        {"http", "data:", "ws", "wss"},
        "a kind of document; HTML 4.2.3; URL Standard 4.4",
    ),
    "links/spark.py": ({"file:/", "file://", "file:"}, "how Hadoop writes the paths of this machine"),
    "protocols/gopher/steps.py": ({"telnet", "tn3270"}, "the sessions that types of items stand for (RFC 1436 3.8)"),
    "protocols/gopher/entries.py": ({"file"}, WORDS + "a kind of entry"),
    "protocols/prospero/answer.py": ({"FTP", "GOPHER", "WAIS", "AFS"}, WORDS + "access methods of Prospero"),
    "protocols/ftp/steps.py": ({"file"}, WORDS + "a role"),
    "protocols/prospero/dialogue.py": ({"DATA"}, WORDS + "a word of Prospero"),
    "ground/redact.py": (
        {"ftp"},
        "what browsers take for a URI of a special scheme (URL Standard 4.2), below all schemes",
    ),
    "security/contents.py": ({"data"}, WORDS + "a kind of finding"),
    "security/differences.py": ({"https://"}, "a base at which browsers read what has no scheme"),
    "security/table.py": ({"data", "http://"}, "a kind of finding; the start of its examples"),
    "text/match.py": ({"http", "ftp", "mailto:"}, "RFC 3986 4.5: what an abbreviated reference is likely to mean"),
    "text/gfm.py": ({"http://", "mailto:"}, "GitHub Flavored Markdown 6.9: what its autolinks mean"),
    "web/guard.py": ({"http", "https"}, WORDS + "the kind of an ASGI scope; the origins of its own pages (RFC 6454 4)"),
    "web/server.py": ({"data"}, WORDS + "an answer as data"),
    "web/views/plan.py": ({"HTTP", "FTP", "Gopher", "LDAP", "data"}, WORDS + "titles of examples; a field of a step"),
}


def literals() -> dict[str, set[str]]:
    """File -> the literals in it that are the name of a scheme, with or without what follows its colon."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE)
        room, *rest = where.parts
        if room == "schemes":
            continue
        own = {rest[0], *SPOKEN.get(rest[0], ())} if room == "protocols" and len(rest) > 1 else set[str]()
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str | bytes):
                continue
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            name = text.rstrip("/").removesuffix(":").lower()
            if name in NAMES and name not in own:
                found.setdefault(where.as_posix(), set()).add(text)
    return found


FOUND = literals()


@pytest.mark.parametrize("file", sorted(FOUND.keys() | REASONS.keys()))
def test_a_name_stands_with_its_scheme_or_has_a_reason(file: str) -> None:
    allowed, reason = REASONS.get(file, (set(), ""))
    assert FOUND.get(file, set()) == allowed, f"facts of a scheme belong into its file, as a field of Scheme; {reason}"
