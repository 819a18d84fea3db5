# Written by `make docs` out of `_HOMES` in the module beside it.
from overthere.links.job.extraction import batches as batches
from overthere.links.job.extraction import extract as extract
from overthere.links.job.extraction import extract_html as extract_html
from overthere.links.job.ranged_sources import Index as Index
from overthere.links.model import Document as Document
from overthere.links.model import Found as Found
from overthere.links.model import Link as Link
from overthere.links.model import NOTES as NOTES
from overthere.links.model import Note as Note
from overthere.links.model import Options as Options
from overthere.links.report.batch import schema as schema
from overthere.links.report.table import open_writer as open_writer

__all__ = [
    "Document",
    "Found",
    "Index",
    "Link",
    "NOTES",
    "Note",
    "Options",
    "batches",
    "extract",
    "extract_html",
    "open_writer",
    "schema",
]
