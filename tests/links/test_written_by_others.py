"""Files written by a library of their format: `links` finds what the same library reads back."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import docx
import icalendar
import mkepub
import nbformat
import odfdo
import openpyxl
import pptx
import pytest
import rdflib
import vobject
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.part import Part
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from PIL import Image
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from overthere.links import extract

LONG = f"https://long.example/{'a/' * 60}?q=1,2;3&x=%C3%A9"
"""Longer than a line in calendars, with characters that they escape."""


def _picture() -> io.BytesIO:
    octets = io.BytesIO()
    Image.new("RGB", (1, 1)).save(octets, "PNG")
    octets.seek(0)
    return octets


def _calendar(path: Path) -> set[str]:
    event = icalendar.Event()
    event.add("dtstamp", datetime(2026, 1, 1, tzinfo=UTC))
    event.add("uid", "1@calendar.example")
    event.add("url", LONG)
    event.add("attach", "https://attached.example/f;1,2.pdf")
    event.add("source", "https://source.example/a.ics")
    event.add("description", f"At\nhttps://said.example/x,y;z {'é' * 90} https://last.example/")
    organizer = icalendar.vCalAddress("mailto:someone@mail.example")
    organizer.params["ALTREP"] = "cid:part@mail.example"
    event.add("organizer", organizer)
    calendar = icalendar.Calendar()
    calendar.add("version", "2.0")
    calendar.add("prodid", "-//somebody//")
    calendar.add_component(event)
    path.write_bytes(calendar.to_ical())

    (read,) = icalendar.Calendar.from_ical(path.read_bytes()).walk("VEVENT")
    texts = [str(read[name]) for name in ("url", "attach", "source", "organizer")]
    words = [word for word in str(read["description"]).split() if "://" in word]
    return {*texts, *words, read["organizer"].params["ALTREP"]}


def _card(path: Path) -> set[str]:
    card = vobject.vCard()
    card.add("fn").value = "Somebody"
    card.add("n").value = vobject.vcard.Name("Some", "Body")
    card.add("url").value = LONG
    card.add("source").value = "https://source.example/a.vcf"
    photo = card.add("photo")
    photo.value, photo.value_param = "https://photo.example/a.jpg", "uri"
    card.add("note").value = "See; https://note.example/a,b\nhttps://second.example/"
    path.write_text(card.serialize(), "utf-8", newline="")

    read = vobject.readOne(path.read_text("utf-8"))
    words = [word for word in read.note.value.split() if "://" in word]
    return {read.url.value, read.source.value, read.photo.value, *words}


def _word(path: Path) -> set[str]:
    document = docx.Document()

    def link(part: Part, paragraph: Paragraph, uri: str) -> None:
        element = OxmlElement("w:hyperlink")
        element.set(qn("r:id"), part.relate_to(uri, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
        paragraph._p.append(element)

    for uri in ("https://outside.example/a?b&c#d", "other.docx", LONG):
        link(document.part, document.add_paragraph(), uri)
    header = document.sections[0].header
    link(header.part, header.paragraphs[0], "https://header.example/")
    document.add_picture(_picture())
    document.save(str(path))

    read = docx.Document(str(path))
    parts = [read.part, read.sections[0].header.part, read.part.package]
    related = [relation for part in parts for relation in part.rels.values()]
    assert any(relation.reltype == RELATIONSHIP_TYPE.IMAGE for relation in related)
    return {relation.target_ref for relation in related}


def _sheet(path: Path) -> set[str]:
    book = openpyxl.Workbook()
    sheet = book.active
    for row, uri in enumerate(("https://cell.example/?a=1&b=2", "sub/other.xlsx", LONG), 1):
        sheet.cell(row, 1, "x").hyperlink = uri
    book.save(path)

    return {cell.hyperlink.target for row in openpyxl.load_workbook(path).active.iter_rows() for cell in row}


def _slides(path: Path) -> set[str]:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    run = slide.shapes.title.text_frame.paragraphs[0].add_run()
    run.text, run.hyperlink.address = "x", "https://run.example/"
    slide.shapes.title.click_action.hyperlink.address = LONG
    show.save(str(path))

    read = pptx.Presentation(str(path)).slides[0]
    return {relation.target_ref for relation in read.part.rels.values()}


def _open_document(path: Path) -> set[str]:
    document = odfdo.Document("text")
    paragraph = odfdo.Paragraph("x ")
    for uri in ("https://text.example/a?b&c", "../other.odt", LONG, "#mark"):
        paragraph.append(odfdo.Link(uri, text="y"))
    document.body.append(paragraph)
    document.save(str(path))

    results = odfdo.Document(str(path)).body.get_elements("//text:a")
    return {str(link.get_attribute("xlink:href")) for link in results}


def _book(path: Path) -> set[str]:
    book = mkepub.Book(title="A book")
    pages = ("page0002.xhtml#x", LONG), ("page0001.xhtml", "gone.xhtml")
    for number, uris in enumerate(pages):
        links = "".join(f'<a href="{uri.replace("&", "&amp;")}">y</a>' for uri in uris)
        book.add_page(f"Page {number}", f'<p id="x">{links}<img src="images/i.png"/></p>')
    book.add_image("i.png", _picture().read())
    book.save(str(path))

    with zipfile.ZipFile(path) as read:  # mkepub reads no books: these are the names that it wrote
        assert {"EPUB/page0001.xhtml", "EPUB/page0002.xhtml", "EPUB/images/i.png"} <= set(read.namelist())
    return {uri for uris in pages for uri in uris} | {"images/i.png", "toc.xhtml", "css/stylesheet.css"}


def _archive(path: Path) -> set[str]:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        page = "https://archive.example/a/"
        for number, coding in enumerate(("", "gzip")):
            body = f"<a href=b{number}>x</a>".encode()
            fields = [("Content-Type", "text/html"), ("Link", f"<c{number}>; rel=next"), ("Content-Encoding", coding)]
            head = StatusAndHeaders("200 OK", [field for field in fields if field[1]], protocol="HTTP/1.1")
            payload = io.BytesIO(gzip.compress(body) if coding else body)
            writer.write_record(writer.create_warc_record(page, "response", payload=payload, http_headers=head))
        writer.write_record(
            writer.create_warc_record(
                page, "resource", payload=io.BytesIO(b"<a href=d>"), warc_content_type="text/html"
            )
        )
        outlinks = io.BytesIO(b"outlink: https://outlink.example/ L a/@href\r\n")
        writer.write_record(
            writer.create_warc_record(page, "metadata", payload=outlinks, warc_content_type="application/warc-fields")
        )

    return set(_archive_links(path))


def _archive_links(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            content = record.content_stream().read().decode()
            if record.rec_type == "metadata":
                yield content.split()[1]
            else:
                yield content.partition("href=")[2].partition(">")[0]
            if record.http_headers is not None:
                yield record.http_headers.get_header("Link").partition(">")[0].lstrip("<")


def _rdf(form: str) -> Callable[[Path], set[str]]:
    def write(path: Path) -> set[str]:
        graph = rdflib.Graph()
        me = rdflib.URIRef("https://rdf.example/me")
        graph.add((me, rdflib.RDF.type, rdflib.FOAF.Person))
        graph.add((me, rdflib.FOAF.homepage, rdflib.URIRef(LONG)))
        graph.add((me, rdflib.FOAF.img, rdflib.URIRef("https://picture.example/i.png")))
        graph.serialize(path, format=form, encoding="utf-8")

        read = rdflib.Graph().parse(path, format="xml" if "xml" in form else form)
        return {str(value) for three in read for value in (three[0], three[2])} - {str(rdflib.FOAF.Person)}

    return write


def _notebook(path: Path) -> set[str]:
    library: Any = nbformat
    book = library.v4.new_notebook()
    texts = f"# A\n\n[a]({LONG}) ![b](i.png)", "<https://cell.example/>"
    book.cells = [library.v4.new_markdown_cell(text) for text in texts]
    library.write(book, path)

    text = "\n".join(cell.source for cell in library.read(path, 4).cells)
    return {uri for uri in (LONG, "i.png", "https://cell.example/") if uri in text}


FORMATS: dict[str, Callable[[Path], set[str]]] = {
    "a.ics": _calendar, "a.vcf": _card, "a.docx": _word, "a.xlsx": _sheet, "a.pptx": _slides, "a.odt": _open_document,
    "a.epub": _book, "a.warc.gz": _archive, "a.rdf": _rdf("pretty-xml"), "b.rdf": _rdf("xml"), "a.nt": _rdf("nt"),
    "a.ttl": _rdf("turtle"), "a.ipynb": _notebook,
}  # fmt: skip


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # mkepub leaves a folder to the garbage collector
@pytest.mark.parametrize("name", FORMATS)
def test_all_links_that_the_library_reads_are_found(name: str, tmp_path: Path) -> None:
    expected = FORMATS[name](tmp_path / name)
    links = list(extract([tmp_path / name]))
    counts = Counter(link.reference for link in links)
    assert len(expected) > 2
    assert sorted(expected - counts.keys()) == []
    notes = {link.error for link in links if link.reference is None}
    assert notes <= ({"read-as-text"} if name == "a.ttl" else {"empty"})
    assert json.dumps(sorted(map(str, counts)))  # without lone surrogates


def test_relationships_of_all_parts_are_found(tmp_path: Path) -> None:
    """Each is listed once, also those of the last part."""
    for name in ("a.docx", "a.pptx"):
        FORMATS[name](tmp_path / name)
        with zipfile.ZipFile(tmp_path / name) as read:
            count = sum(read.read(item).count(b"<Relationship ") for item in read.namelist() if item.endswith(".rels"))
        rows = [link for link in extract([tmp_path / name]) if link.where == "Relationship Target"]
        assert len(rows) == count
