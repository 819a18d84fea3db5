"""Document type definitions: the external identifiers that they declare."""

from __future__ import annotations

import pytest

from overthere import URI
from overthere.base import Base
from overthere.links.documents.kinds import kind
from overthere.links.documents.xml.dtd import read
from overthere.links.model import Document, Found, Options
from support import processor


def declared_identifiers(content: bytes, charset: str | None = None) -> list[tuple[str, ...]]:
    document = Document("x.dtd", content, Base(URI("http://h/d/x.dtd"), "retrieval"), charset=charset)
    return [item[:2] if isinstance(item, Found) else (item.kind,) for item in read(document, Options())]


@pytest.mark.parametrize(
    ("content", "declared"),
    [
        (b'<!ENTITY a SYSTEM "a.xml">', [("ENTITY", "a.xml")]),
        (b"<!ENTITY % a PUBLIC '-//A//B' 'a.mod'>", [("ENTITY", "a.mod")]),
        (b'<!ENTITY a SYSTEM "a.gif" NDATA gif><!NOTATION gif SYSTEM " g ">', [("ENTITY", "a.gif"), ("NOTATION", "g")]),
        (b'<!NOTATION gif PUBLIC "only public">', []),
        (b'<!-- <!ENTITY a SYSTEM "a"> --><?x <!ENTITY a SYSTEM "a">?>', []),
        (b'<!ENTITY % a "http://h/"><!ENTITY b "c">', []),
        # In an entity, in an included or ignored section, after an entity that is external or declared elsewhere.
        (b"""<!ENTITY % d '<!ENTITY a SYSTEM "a">'> %d;""", [("ENTITY", "a")]),
        (b'<!ENTITY % y "INCLUDE"><![%y;[<!ENTITY a SYSTEM "a">]]>', [("ENTITY", "a")]),
        (b'<![IGNORE[<!ENTITY a SYSTEM "a">]]>', []),
        (b'<!ENTITY % e SYSTEM "e"> %e; <!ENTITY a SYSTEM "a">', [("ENTITY", "e"), ("ENTITY", "a")]),
        (b'%e; <!ENTITY a SYSTEM "a">', [("ENTITY", "a")]),
        (b'<?xml version="1.0" encoding="iso-8859-1"?><!ENTITY a SYSTEM "\xe9">', [("ENTITY", "é")]),
        # Not a declaration without external declarations, or not at all.
        (b'<!ELEMENT p %e;><!ENTITY a SYSTEM "a"><!-- <!ENTITY b SYSTEM "b"> -->', [("corrupt",), ("ENTITY", "a")]),
        (b'<!ENTITY a SYSTEM "a"><!ENTITY b', [("corrupt",), ("ENTITY", "a")]),
        (b"x", [("corrupt",)]),
    ],
)
def test_declarations(content: bytes, declared: list[tuple[str, ...]]) -> None:
    assert sorted(declared_identifiers(content)) == sorted(declared)


def test_dtds_are_recognized() -> None:
    for name, media_type in (("a.dtd", ""), ("A.MOD", ""), ("a.ent", ""), ("a", "application/xml-dtd")):
        assert kind(name, media_type, b"<!ELEMENT a ANY>") == ("dtd", ())
    assert kind("go.mod", "", b"module example.com/x") == ("text", ())
    assert kind("a.mod", "", b"M.K.\0\0") == ("", ())


def test_entities_in_entities_have_a_limit() -> None:
    laughs = b'<!ENTITY % a0 "<!-- a -->">' + b"".join(
        b'<!ENTITY %% a%d "%s">' % (n, b"&#37;a%d;" % (n - 1) * 20) for n in range(1, 20)
    )
    with processor():
        assert declared_identifiers(laughs + b" %a19; ") == [("too-large",)]


def test_an_entity_of_itself() -> None:
    assert ("corrupt",) in declared_identifiers(b"<!ENTITY % a '&#37;a;'> %a; <!ENTITY b SYSTEM 'b'>")
