"""The main job: extracts the links of documents into a table (RFC 3986 4.4, 5, 6).

from overthere import links
for link in links.extract(["site/"], base="http://h/docs/"):
    print(link.reference, link.target)

`batches` yields the same in batches for Arrow, on all cores; `links.spark` runs the job on a cluster.
"""

from overthere import lazy_names

_HOMES = {
    "NOTES": "model", "Document": "model", "Found": "model", "Index": "job.ranged_sources", "Link": "model",
    "Note": "model", "Options": "model", "batches": "job.extraction", "extract": "job.extraction",
    "extract_html": "job.extraction", "open_writer": "report.table", "schema": "report.batch",
}  # fmt: skip

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
