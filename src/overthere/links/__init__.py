"""The main job: reads documents, writes the table of links (RFC 3986 4.4, 5, 6).

from overthere import links
for link in links.extract(["site/"], base="http://h/docs/"):
    print(link.reference, link.target)

`batches` gives the same as Arrow tables, by all cores; `links.spark` does it on a cluster.
"""

from overthere import lazy_names

_HOMES = {
    "NOTES": "model", "Document": "model", "Found": "model", "Index": "job.ranged_sources", "Link": "model",
    "Note": "model", "Options": "model", "batches": "job.extraction", "extract": "job.extraction",
    "extract_html": "job.extraction", "open_writer": "report.table", "schema": "report.table",
}  # fmt: skip

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
