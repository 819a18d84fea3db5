"""Elements and attributes of XML vocabularies that hold references, and their display names."""

from __future__ import annotations

from overthere.links.documents.css import PAINTED

NAMESPACES = {
    "http://www.w3.org/XML/1998/namespace": "xml",
    "http://www.w3.org/1999/xlink": "xlink",
    "http://www.w3.org/1999/xhtml": "xhtml",
    "http://www.w3.org/2000/svg": "svg",
    "http://www.w3.org/2005/Atom": "atom",
    "http://purl.org/atom/ns#": "atom",
    "http://purl.org/echo/": "atom",
    "http://purl.org/pie/": "atom",
    "http://purl.org/rss/1.0/": "rss",
    "http://purl.org/net/rss1.1#": "rss",
    "http://purl.org/rss/1.0/modules/rss091#": "rss",
    "http://backend.userland.com/rss": "rss",
    "http://backend.userland.com/rss091": "rss",
    "http://backend.userland.com/rss092": "rss",
    "http://my.netscape.com/rdf/simple/0.9/": "rss",
    "http://channel.netscape.com/rdf/simple/0.9/": "rss",
    "http://backend.userland.com/rss2": "rss",
    "http://blogs.law.harvard.edu/tech/rss": "rss",
    "http://www.sitemaps.org/schemas/sitemap/0.9": "sitemap",
    # Variants of the name at sitemaps.org that occur in documents.
    "http://sitemaps.org/schemas/sitemap/0.9": "sitemap",
    "http://www.sitemap.org/schemas/sitemap/0.9": "sitemap",
    "http://www.sitemaps.org/schemas/sitemap/0.84": "sitemap",
    "http://www.google.com/schemas/sitemap/0.84": "sitemap",
    "http://www.google.com/schemas/sitemap/0.9": "sitemap",
    "http://www.google.com/schemas/sitemap-image/1.1": "image",
    "http://www.google.com/schemas/sitemap-video/1.1": "video",
    "http://opml.org/spec2": "opml",
    "http://www.opml.org/spec2": "opml",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf",
    "http://purl.org/rss/1.0/modules/content/": "content",
    "http://search.yahoo.com/mrss/": "media",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "http://wellformedweb.org/CommentAPI/": "wfw",
    "http://rssnamespace.org/feedburner/ext/1.0": "feedburner",
    "http://purl.org/syndication/thread/1.0": "thr",
    # Modules of RSS with elements that contain a URI; others have it in `rdf:resource` or in another attribute.
    "http://purl.org/rss/1.0/modules/aggregation/": "ag",
    "http://backend.userland.com/blogChannelModule": "blogChannel",
    "http://conversationsnetwork.org/rssNamespace-1.0/": "conversationsNetwork",
    "http://backend.userland.com/creativeCommonsRssModule": "creativeCommons",
    "http://cyber.law.harvard.edu/rss/creativeCommonsRssModule.html": "creativeCommons",
    "http://freshmeat.net/rss/fm/": "fm",
    "http://base.google.com/ns/1.0": "g",
    "http://base.google.com/cns/1.0": "g",
    "http://openid.net/xmlns/1.0": "openid",
    "http://madskills.com/public/xml/rss/module/pingback/": "pingback",
    "https://podcastindex.org/namespace/1.0": "podcast",
    "https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md": "podcast",
    "http://podlove.org/simple-chapters": "psc",
    "http://hacks.benhammersley.com/rss/streaming/": "str",
    "http://feedsync.org/2007/feedsync": "sx",
    "http://madskills.com/public/xml/rss/module/trackback/": "trackback",
    "http://purl.org/rss/1.0/modules/wiki/": "wiki",
    "http://www.usemod.com/cgi-bin/mb.pl?ModWiki": "wiki",
    "xri://$xrd*($v*2.0)": "xrd",
    "http://www.w3.org/2007/app": "app",
    "http://www.w3.org/2001/XMLSchema-instance": "xsi",
    "http://www.w3.org/2001/XMLSchema": "xs",
    "http://www.w3.org/2001/XInclude": "xi",
    "http://www.w3.org/2003/XInclude": "xi",
    "http://www.w3.org/1999/XSL/Transform": "xsl",
    "http://www.w3.org/1998/Math/MathML": "mathml",
    "http://www.opengis.net/kml/2.2": "kml",
    "http://earth.google.com/kml/2.0": "kml",
    "http://earth.google.com/kml/2.1": "kml",
    "http://earth.google.com/kml/2.2": "kml",
    "http://a9.com/-/spec/opensearch/1.1/": "opensearch",
    "http://schemas.openxmlformats.org/package/2006/relationships": "relationships",
    "http://www.tei-c.org/ns/1.0": "tei",
}
"""Namespace names, and the prefixes with which places show these vocabularies, whatever prefix a document uses."""


def _simplify(namespace: str) -> str:
    """Return a namespace name without frequently misspelled parts: scheme, upper case, "/" and "#" at the end."""
    name = namespace.strip(" \t\r\n").lower().rstrip("/#")
    return name.rpartition("://")[2]


_PREFIXES_BY_SIMPLE_NAME = {_simplify(name): prefix for name, prefix in NAMESPACES.items()}


def vocabulary_of(namespace: str) -> str | None:
    """Return the customary prefix of a namespace; None if the namespace is unknown.

    >>> vocabulary_of("http://www.itunes.com/DTDs/PodCast-1.0.dtd"), vocabulary_of("http://example.com/")
    ('itunes', None)
    """
    return NAMESPACES.get(namespace) or _PREFIXES_BY_SIMPLE_NAME.get(_simplify(namespace))


MAIN = frozenset(("atom", "kml", "mathml", "opml", "relationships", "rss", "sitemap", "svg", "tei", "xhtml", ""))
"""Vocabularies of whole documents; places show their elements without a prefix."""

ROOTS = {
    "RDF": "rdf",
    "feed": "atom",
    "html": "xhtml",
    "kml": "kml",
    "opml": "opml",
    "rss": "rss",
    "sitemapindex": "sitemap",
    "svg": "svg",
    "urlset": "sitemap",
}
"""The vocabulary of elements without a namespace, by the name of the root element."""

_GENERIC_NAMESPACES = (
    "http://www.w3.org/", "http://docbook.org/ns/docbook", "urn:oasis:names:tc:", "http://dita.oasis-open.org/",
    "http://schemas.openxmlformats.org/", "http://purl.oclc.org/ooxml/", "http://schemas.microsoft.com/office/",
    "http://www.idpf.org/2007/", "http://www.daisy.org/", "http://schemas.xmlsoap.org/wsdl/",
)  # fmt: skip
# DITA 1.3, DocBook 4, EPUB 2.
_GENERIC_ROOTS = frozenset(
    """topic concept task reference troubleshooting glossentry glossgroup map bookmap subjectScheme dita learningContent
    book article chapter appendix part preface section refentry set package ncx channel""".split()  # noqa: SIM905
)


def has_rules(namespace: str, root: str) -> bool:
    """Whether references in the vocabulary of a root element are known: by rules, or by names such as `href` and `src`.

    >>> has_rules("http://docbook.org/ns/docbook", "book"), has_rules("", "concept"), has_rules("", "project")
    (True, True, False)
    """
    if not namespace:
        return root in ROOTS or root in _GENERIC_ROOTS
    return vocabulary_of(namespace) is not None or namespace.startswith(_GENERIC_NAMESPACES)


# "one": a reference; "html": HTML; "typed": HTML if an attribute such as `type` declares it; "style": a style sheet;
# "link": a permanent link unless `isPermaLink` is "false" (RSS 2.0).
_TEXT_SYNTAXES = {
    # RFC 4287: atom:id is a name, not a reference: it is neither resolved nor dereferenced (4.2.6).
    "atom": {"icon": "one", "logo": "one", "uri": "one", "url": "one"}
    # The last three are from Atom 0.3.
    | dict.fromkeys(("content", "rights", "subtitle", "summary", "title", "copyright", "info", "tagline"), "typed"),
    "rss": {"link": "one", "comments": "one", "docs": "one", "url": "one", "guid": "link"}
    | dict.fromkeys(("description", "fullitem", "body"), "html"),
    "sitemap": {"loc": "one"},
    "image": {"loc": "one", "license": "one"},
    "video": {"content_loc": "one", "player_loc": "one", "thumbnail_loc": "one"},
    "content": {"encoded": "html"},
    "media": {"description": "typed", "text": "typed", "title": "typed", "backLink": "one", "response": "one"},
    "itunes": {"new-feed-url": "one"},
    "wfw": {"comment": "one", "commentRss": "one", "commentRSS": "one"},
    "feedburner": dict.fromkeys(("origLink", "origEnclosureLink", "awareness", "feedburnerHostname"), "one"),
    "ag": {"sourceURL": "one"},
    "blogChannel": dict.fromkeys(("blogRoll", "mySubscriptions", "blink", "changes"), "one"),
    "conversationsNetwork": {"image": "one"},
    "creativeCommons": {"license": "one"},
    "fm": {"screenshot_url": "one"},
    "g": dict.fromkeys(("link", "image_link", "additional_image_link", "url_of_item_being_reviewed"), "one"),
    "openid": {"Delegate": "one"},
    "opml": {"ownerId": "one", "docs": "one"},
    "pingback": {"server": "one", "target": "one"},
    "str": {"associatedApplication.downloadUri": "one"},
    "trackback": {"ping": "one", "about": "one"},
    "wiki": {"diff": "one", "history": "one"},
    "xrd": {"URI": "one"},
    "kml": dict.fromkeys(("href", "styleUrl", "targetHref", "sourceHref"), "one") | {"description": "html"},
    "opensearch": {"Image": "one"},
    "svg": {"style": "style"},
    "xhtml": {"style": "style"},
}

# Attributes of every vocabulary, by the names that vocabularies of the W3C use.
_COMMON_ATTRIBUTES = {
    "href": "one",
    "src": "one",
    "url": "one",
    "conref": "one",  # DITA 1.3, 2.1.3.4
    "xlink:href": "one",
    "rdf:about": "one",
    "rdf:resource": "one",
    "xsi:noNamespaceSchemaLocation": "one",
    "xsi:schemaLocation": "pairs",
}
_ATTRIBUTE_SYNTAXES = {
    "atom": {"generator uri": "one", "category scheme": "one"},
    "kml": {"SchemaData schemaUrl": "one"},
    "opml": {"outline xmlUrl": "one", "outline htmlUrl": "one"},
    "podcast": {"person img": "one", "source uri": "one", "socialInteract uri": "one", "remoteItem feedUrl": "one"},
    "psc": {"chapter image": "one"},
    "sx": {"related link": "one"},
    "relationships": {"Relationship Target": "one"},
    # TEI P5 16.1 and 11.1: pointers, separated by blanks.
    "tei": {f"{name} target": "several" for name in ("gloss", "link", "note", "ptr", "ref", "term")}
    | {f"{name} facs": "several" for name in ("cb", "div", "facsimile", "fw", "lb", "p", "pb", "surface", "zone")},
    # RFC 4685 3: `ref` is a name, like atom:id.
    "thr": {"in-reply-to source": "one"},
    "xs": {f"{element} schemaLocation": "one" for element in ("import", "include", "override", "redefine")},
    "mathml": {"math altimg": "one"},
}


def text_syntax(vocabulary: str, element: str) -> str | None:
    """Return how references are written in the text of an element; None if it contains none."""
    return _TEXT_SYNTAXES.get(vocabulary, {}).get(element)


def attribute_syntax(vocabulary: str, element: str, attribute: str) -> str | None:
    """Return how references are written in an attribute's value; None if it contains none.

    >>> attribute_syntax("svg", "rect", "fill"), attribute_syntax("rss", "enclosure", "url")
    ('css', 'one')
    """
    if vocabulary == "svg" and (attribute in PAINTED or attribute == "style"):
        return "css"
    return _COMMON_ATTRIBUTES.get(attribute) or _ATTRIBUTE_SYNTAXES.get(vocabulary, {}).get(f"{element} {attribute}")
