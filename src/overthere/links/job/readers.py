"""The module that reads each kind of document."""

from __future__ import annotations

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
"""kind -> the module whose `read` yields its references; `reading` reads HTML itself."""
