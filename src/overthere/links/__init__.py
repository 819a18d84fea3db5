"""The main job: documents in, the table of links out (RFC 3986 4.4, 5, 6).

from overthere import links
for link in links.extract(["site/"], base="http://h/docs/"):
    print(link.reference, link.target)
"""

from overthere.links.job import Document, Link, documents, extract, extract_html

__all__ = ["Document", "Link", "documents", "extract", "extract_html"]
