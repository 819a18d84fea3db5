"""Feeds: escaped and base64 content, and elements with references."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter

import pytest

from overthere import URI
from overthere.base import Base
from overthere.links.documents import xml
from overthere.links.documents.xml.encodings import FEEDS
from overthere.links.documents.xml.names import NAMESPACES, vocabulary_of
from overthere.links.model import Document, Found, Note, Options, PassedContent

OUTER = Base(URI("http://h/a/b"), "retrieval", "retrieval")
LINK = '<a href="x">y</a>'
PACKED = b64encode(LINK.encode()).decode()
ATOM_03, ATOM = "http://purl.org/atom/ns#", "http://www.w3.org/2005/Atom"
CONSTRUCTS = ("title", "tagline", "info", "copyright", "summary", "content")


def read(text: str) -> tuple[list[tuple[str, str]], Counter[str]]:
    """References, and the kinds of notes and skipped content."""
    items = list(xml.read(Document("d", text.encode(), OUTER), Options()))
    references = [(item.where, item.reference) for item in items if isinstance(item, Found)]
    return references, Counter(item.kind for item in items if isinstance(item, Note | PassedContent))


def element(tag: str, content: str, root: str = f'feed xmlns="{ATOM_03}"') -> str:
    return f"<{root}><entry><{tag}>{content}</{tag.partition(' ')[0]}></entry></{root.partition(' ')[0]}>"


@pytest.mark.parametrize("name", CONSTRUCTS)
@pytest.mark.parametrize("form", ["base64", "escaped", "xml"])
@pytest.mark.parametrize("media_type", ["", "text/html", "TEXT/HTML; charset=utf-8", "application/xhtml+xml"])
def test_each_construct_of_atom_03_is_read_in_each_mode(name: str, form: str, media_type: str) -> None:
    content = {
        "base64": f"\n {PACKED[:9]}\n{PACKED[9:]} ",
        "escaped": LINK.replace("<", "&lt;"),
        "xml": LINK.replace("<a", '<a xmlns="http://www.w3.org/1999/xhtml"'),
    }[form]
    text = f' type="{media_type}"' if media_type else ""
    place = "a href" if form == "xml" else f"{name} > a href"
    assert read(element(f'{name} mode="{form}"{text}', content)) == ([(place, "x")], Counter())


def packed(content: bytes | str) -> str:
    return b64encode(content.encode() if isinstance(content, str) else content).decode()


@pytest.mark.parametrize(
    ("tag", "content", "found", "notes"),
    [
        ('content mode="base64"', "%%%", [], ["corrupt"]),
        ('content mode="base64"', "abcde", [], ["corrupt"]),
        ('content mode="base64" type="text/html"', packed(b"<a href=x>\xff\xfe\x81"), ["content > a href"], []),
        ('content mode="base64" type="image/png"', packed(b"\x89PNG"), [], ["image"]),
        ('content mode="base64" type="application/pdf"', packed(b"%PDF-1"), [], ["pdf"]),
        ('content mode="base64" type="application/json"', packed("{}"), [], ["other"]),
        (
            'content mode="base64" type="image/svg+xml"',
            packed('<a href="x"/>'),
            ["content > a href"],
            ["no-vocabulary"],
        ),
        ('content mode="base64" type="image/svg+xml"', packed('<a href="x"'), [], ["truncated"]),
        ('content mode="rot13"', "&lt;a href=x>", [], ["unsupported"]),
        ('content mode="base64"', "", [], []),
        # RFC 4287 4.1.3.3: XML types have child elements, text is literal, everything else is base64.
        ('content type="image/png"', packed(b"\x89PNG"), [], ["image"]),
        ('content type="application/octet-stream"', "not base64", [], ["corrupt"]),
        ('content type="text/html"', packed(LINK), ["content > a href"], ["wrong-encoding"]),
        ('content type="application/xhtml+xml"', packed(LINK), ["content > a href"], ["wrong-encoding"]),
        (
            'content type="image/svg+xml"',
            packed('<a href="x"/>'),
            ["content > a href"],
            ["wrong-encoding", "no-vocabulary"],
        ),
        ('content type="xhtml"', "&lt;a href='x'/>", ["content > a href"], ["corrupt"]),
        ('content type="xhtml"', "text", [], ["corrupt"]),
        ('content type="xhtml"', "text <div/>", [], []),
        ('content type="text/plain"', "&lt;a href='x'/>", [], []),
        ('content type="text/html"', "abcd", [], []),
        ('content type="html"', "&lt;a href=x>", ["content > a href"], []),
        ('content encoding="utf-8"', "text", [], []),
    ],
)
def test_encoded_content_is_read_counted_or_noted(tag: str, content: str, found: list[str], notes: list[str]) -> None:
    assert read(element(tag, content, f'feed xmlns="{ATOM}"')) == ([(place, "x") for place in found], Counter(notes))


ROOTS = [
    f'feed xmlns="{ATOM}"', f'feed xmlns="{ATOM_03}"', "feed", "rss", 'RDF xmlns="http://purl.org/rss/1.0/"', "channel",
]  # fmt: skip
ELEMENTS = (
    *CONSTRUCTS, "rights", "subtitle", "description", "link", "guid", "fullitem", "body", "unknown", "content:encoded",
    "media:description", "media:text", "xhtml:body", "itunes:summary", "dc:description",
)  # fmt: skip
ENCODINGS = ('mode="%s"', 'encoding="%s"', 'dt:dt="bin.%s"', 'rdf:datatype="http://www.w3.org/2001/XMLSchema#%sBinary"')


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("name", ELEMENTS)
def test_no_encoding_is_ignored_silently(root: str, name: str) -> None:
    """For any element of a feed with encoded content."""
    assert root.partition(" ")[0] in FEEDS
    for attribute in ENCODINGS:
        tag = f"{name} {attribute % 'base64'}"
        references, notes = read(element(tag, PACKED, root))
        assert [reference for _, reference in references] == ["x"], tag
        assert not notes, tag
        assert read(element(tag, "%", root))[1] == Counter(["corrupt"]), tag
        assert read(element(f"{name} {attribute % 'hex'}", "3C", root))[1] == Counter(["unsupported"]), tag


def test_the_depth_of_nested_content_is_limited() -> None:
    text = "<a href='x'/>"
    for _ in range(20):
        text = f'<feed xmlns="{ATOM}"><content mode="base64" type="text/xml">{packed(text)}</content></feed>'
    assert read(text) == ([], Counter(["too-deep"]))


def test_the_base_of_an_element_applies_to_decoded_content() -> None:
    packed_link = packed('<r xml:base="z/"><s href="x"/></r>')
    content = f'<content type="image/svg+xml" mode="base64">{packed_link}</content>'
    text = f'<feed xmlns="{ATOM}" xml:base="http://i/">{content}</feed>'
    references = [item for item in xml.read(Document("d", text.encode(), OUTER), Options()) if isinstance(item, Found)]
    assert [(reference.where, reference.base and str(reference.base.uri)) for reference in references] == [
        ("feed xml:base", None),
        ("content > r xml:base", "http://i/"),
        ("content > s href", "http://i/z/"),
    ]


BODY = 'body xmlns="http://www.w3.org/1999/xhtml"'


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (f"<rss><item><{BODY}>{LINK}</body></item></rss>", ["a href"]),
        (f"<rss><item><{BODY}>{LINK.replace('<', '&lt;')}</body></item></rss>", ["body > a href"]),
        (f"<rss><item><{BODY}><p/>{LINK.replace('<', '&lt;')}</body></item></rss>", []),
        (f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{LINK.replace('<', '&lt;')}</body></html>", []),
        (f"<rss><item><xhtml:body>{LINK.replace('<', '&lt;')}</xhtml:body></item></rss>", ["body > a href"]),
        (f"<rss><item><fullitem>{LINK.replace('<', '&lt;')}</fullitem></item></rss>", ["fullitem > a href"]),
    ],
)
def test_html_in_rss(text: str, places: list[str]) -> None:
    assert read(text) == ([(place, "x") for place in places], Counter())


@pytest.mark.parametrize(
    ("encoding", "value", "found", "notes"),
    [
        ("", f"<rdf:value>{LINK.replace('<', '&lt;')}</rdf:value>", [("rdf:value > a href", "x")], []),
        ("h/#dt-wellformed", f'<rdf:value rdf:parseType="Literal">{LINK}</rdf:value>', [("rdf:a href", "x")], []),
        ("http://h/other", "<rdf:value>%</rdf:value>", [], ["unsupported"]),
    ],
)  # fmt: skip
def test_content_items_of_rss_10(encoding: str, value: str, found: list[tuple[str, str]], notes: list[str]) -> None:
    attribute = f'<content:encoding rdf:resource="{encoding}"/>' if encoding else ""
    references, pages = read(
        f"<rdf:RDF><content:items><content:item>{attribute}{value}</content:item></content:items></rdf:RDF>"
    )
    assert [reference for reference in references if reference[1] != encoding] == found
    assert pages == Counter(notes)


# Elements that contain a URI, by the documentation of each namespace, and by what feed readers accept.
URI_ELEMENTS = {
    "http://purl.org/rss/1.0/modules/aggregation/": ["sourceURL"],
    "http://backend.userland.com/blogChannelModule": ["blogRoll", "mySubscriptions", "blink", "changes"],
    "http://conversationsnetwork.org/rssNamespace-1.0/": ["image"],
    "http://backend.userland.com/creativeCommonsRssModule": ["license"],
    "http://cyber.law.harvard.edu/rss/creativeCommonsRssModule.html": ["license"],
    "http://rssnamespace.org/feedburner/ext/1.0": ["origLink", "origEnclosureLink", "awareness", "feedburnerHostname"],
    "http://freshmeat.net/rss/fm/": ["screenshot_url"],
    "http://base.google.com/ns/1.0": ["link", "image_link", "additional_image_link", "url_of_item_being_reviewed"],
    "http://www.itunes.com/dtds/podcast-1.0.dtd": ["new-feed-url"],
    "http://search.yahoo.com/mrss/": ["backLink", "response"],
    "http://openid.net/xmlns/1.0": ["Delegate"],
    "http://www.opml.org/spec2": ["ownerId", "docs"],
    "http://madskills.com/public/xml/rss/module/pingback/": ["server", "target"],
    "http://hacks.benhammersley.com/rss/streaming/": ["associatedApplication.downloadUri"],
    "http://madskills.com/public/xml/rss/module/trackback/": ["ping", "about"],
    "http://wellformedweb.org/CommentAPI/": ["comment", "commentRss", "commentRSS"],
    "http://purl.org/rss/1.0/modules/wiki/": ["diff", "history"],
    "xri://$xrd*($v*2.0)": ["URI"],
    "http://purl.org/rss/1.0/modules/rss091#": ["docs", "link", "url", "comments"],
    "http://purl.org/net/rss1.1#": ["link", "url"],
    "http://my.netscape.com/rdf/simple/0.9/": ["link", "url"],
    "http://backend.userland.com/rss2": ["link", "url", "comments", "docs", "guid"],
    ATOM: ["uri", "icon", "logo"],
    ATOM_03: ["url"],
    "http://www.opengis.net/kml/2.2": ["href", "styleUrl", "targetHref", "sourceHref"],
}
# In attributes: the usual ones (href, src, url, rdf:resource) are read in every vocabulary.
URI_ATTRIBUTES = {
    "https://podcastindex.org/namespace/1.0": [
        "person img", "person href", "source uri", "socialInteract uri", "remoteItem feedUrl", "chapters url",
        "transcript url", "license url", "funding url", "contentLink href",
    ],
    "http://podlove.org/simple-chapters": ["chapter image", "chapter href"],
    "http://feedsync.org/2007/feedsync": ["related link"],
    "http://search.yahoo.com/mrss/": [
        "content url", "player url", "thumbnail url", "copyright url", "license href", "embed url", "subTitle href",
    ],
    "http://webns.net/mvcb/": ["generatorAgent rdf:resource", "errorReportsTo rdf:resource"],
    "http://purl.org/rss/1.0/modules/annotate/": ["reference rdf:resource"],
    "http://purl.org/rss/1.0/modules/link/": ["link rdf:resource", "permalink rdf:resource"],
    "http://web.resource.org/cc/": ["license rdf:resource"],
    "http://my.theinfo.org/changed/1.0/rss/": ["server rdf:resource"],
    "http://www.opengis.net/kml/2.2": ["SchemaData schemaUrl"],
}  # fmt: skip


@pytest.mark.parametrize("root", ["rss", "RDF", "feed", "opml"])
def test_elements_with_a_uri_by_their_namespace(root: str) -> None:
    for namespace, names in URI_ELEMENTS.items():
        for name in names:
            references, _ = read(f'<{root}><n:{name} xmlns:n="{namespace}">x</n:{name}></{root}>')
            assert [reference for _, reference in references] == ["x"], (namespace, name)
    for namespace, places in URI_ATTRIBUTES.items():
        for name, attribute in map(str.split, places):
            references, _ = read(f'<{root}><n:{name} xmlns:n="{namespace}" {attribute}="x"/></{root}>')
            assert [reference for _, reference in references] == ["x"], (namespace, name, attribute)


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_misspelled_namespaces_are_known(namespace: str) -> None:
    """As in real feeds: other case, https, a missing or additional slash."""
    names = NAMESPACES[namespace]
    for name in (
        namespace.upper(),
        namespace.replace("http://", "https://"),
        namespace.rstrip("/"),
        f"{namespace}/",
        f" {namespace}\n",
    ):
        assert vocabulary_of(name) == names, name
