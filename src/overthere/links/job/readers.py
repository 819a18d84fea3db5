"""Which module reads which kind of document."""

from __future__ import annotations

__all__ = ["READERS"]

READERS = {
    "xml": "overthere.links.documents.xml",
    "dtd": "overthere.links.documents.xml.dtd",
    "css": "overthere.links.documents.css",
    "json": "overthere.links.documents.json",
    "markdown": "overthere.links.documents.markdown",
    "rst": "overthere.links.documents.rst",
    "notebook": "overthere.links.documents.notebook",
    "text": "overthere.links.documents.plaintext",
    "uri-list": "overthere.links.documents.uri_list",
    "http": "overthere.links.documents.header",
    "listing": "overthere.links.job.retrieval",
    "metadata": "overthere.links.documents.metadata",
    "header": "overthere.links.containers.message",
}
"""The module whose `read` gives the references of a kind; HTML has a way of its own."""
