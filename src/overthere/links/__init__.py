"""The main job: reads documents, writes the table of links (RFC 3986 4.4, 5, 6).

from overthere import links
for link in links.extract(["site/"], base="http://h/docs/"):
    print(link.reference, link.target)

`batches` gives the same as Arrow tables, by all cores; `links.spark` does it on a cluster.
"""

from overthere.links.job import Index, batches, extract, extract_html
from overthere.links.model import NOTES, Document, Found, Link, Note, Options
from overthere.links.report.table import open_writer, schema

__all__ = [
    "NOTES", "Document", "Found", "Index", "Link", "Note", "Options", "batches", "extract", "extract_html",
    "open_writer", "schema",
]  # fmt: skip
