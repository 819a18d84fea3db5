"""URIs in running text: where they stand, in pieces as in the whole, and marked for a page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html import unescape

from overthere import IRI, URI
from overthere.text import Found, find
from overthere.text.output import as_html, as_markdown
from overthere.text.pieces import pieces
from readings import judge
from seeds import cases

WORDS = (
    b"<http://", b"http://", b"ftp://", b"www.", b"mailto:", b"urn:", b"tel:+", b"URL:", b">", b"\"", b"<", b"(", b")",
    b"[", b"]", b"\n", b"\r\n", b"\n\n", b"\n    ", b"> ", b"-\n", b".", b",", b"://", b"@", b"a@b.example", b"%",
    b"\\", b"`", b"``", b"```\n", b"\xe2\x80\x9c", b"\xe2\x80\x8b", b"\xe2\x80\xae", b"\xc2\xa0", b"\xff", b"\x1b[",
    b"h.example/x", b":8080", b"&amp;", b"*", b"_", b"~",
)  # fmt: skip
LONGEST = 2048
AFTER = "a row to tests/cases/text.toml, or to gfm.toml"


def check(data: bytes) -> None:
    """data: the text; its first octet chooses among the options of `find`."""
    judge("text", b"\n" + data)
    if not data:
        return
    text = data[1:].decode("utf-8", "surrogateescape" if data[0] & 16 else "replace")
    # An autolink of CommonMark is not always a URI.
    _places(text, list(find(text, rules="gfm")), valid=False)
    _places(text, list(find(text, rules="commonmark")), valid=False)
    search = partial(find, abbreviated=data[0] & 1 == 0, hosts=data[0] & 2 > 0, mail=data[0] & 4 > 0)
    matches = list(search(text))
    _places(text, matches, valid=True)
    _page(text, matches)
    blocks = [text[at : at + 7] for at in range(0, len(text), 7)]
    parts = list(pieces(blocks, enough=16))
    assert "".join(parts) == text, "pieces are not the text"
    uris = [match.uri for piece in parts for match in search(piece)]
    assert uris == [match.uri for match in matches], f"in pieces {uris}, in the whole {[one.uri for one in matches]}"


def _places(text: str, matches: list[Found], *, valid: bool) -> None:
    at = 0
    for match in matches:
        assert 0 <= match.outer[0] <= match.start < match.end <= match.outer[1] <= len(text), match
        assert text[match.start : match.end] == match.text, match
        assert match.outer[0] >= at, f"{match} begins before {at}"
        at = match.outer[1]
        if valid:
            URI(match.uri)
            if match.kind in ("URI", "IRI"):
                assert IRI(match.reference)
                assert match.alternative is None or IRI(match.alternative)


def _page(text: str, matches: list[Found]) -> None:
    """Marked text shows the same text, and every "<" in it belongs to a link."""
    page = as_html(text, matches)
    assert page.count("<") == 2 * page.count('<a href="'), page
    as_markdown(text, matches)
    if text.isprintable():
        visible = page.replace("</a>", "")
        while (start := visible.find('<a href="')) >= 0:
            visible = visible[:start] + visible[visible.index('">', start) + 2 :]
        assert unescape(visible) == text, page


def seeds() -> Iterator[bytes]:
    for file, row in cases():
        if file in ("text", "gfm"):
            yield b"\0" + row["text"].encode("utf-8", "surrogatepass")
            yield b"\6" + row["text"].encode("utf-8", "surrogatepass")
