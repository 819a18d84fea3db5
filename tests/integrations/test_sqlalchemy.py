"""SQLAlchemy column types, with SQLite; for other databases the SQL is compared."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

from sqlalchemy import Column, Engine, MetaData, Table, Text, create_engine, exc, func, insert, literal, select, text
from sqlalchemy.dialects import mssql, mysql, oracle, postgresql, sqlite
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import overthere.integrations.sqlalchemy
from overthere import IRI, URI, InvalidURI, IRIReference, URIReference
from overthere.integrations.sqlalchemy import TYPES, IRIReferenceType, IRIType, URIReferenceType, URIType


class Base(DeclarativeBase):
    type_annotation_map = TYPES


class Page(Base):
    __tablename__ = "page"
    uri: Mapped[URI] = mapped_column(primary_key=True)
    canonical: Mapped[URI | None]
    link: Mapped[URIReference | None]
    shown: Mapped[IRI | None]
    short: Mapped[IRIReference | None] = mapped_column(IRIReferenceType(length=20))


URIS = [
    "HTTP://Example.com:80/%7e?#",
    "urn:x:';drop%20table%20page;--",
    "a:",
    "http://h/?q=%00%25:b",
    "x:" + "a" * 1_000_000,
]


@pytest.fixture
def engine() -> Iterator[Engine]:
    sqlite = create_engine("sqlite://")
    Base.metadata.create_all(sqlite)
    yield sqlite
    sqlite.dispose()


@pytest.mark.parametrize("given", URIS)
def test_a_stored_value_is_unchanged(engine: Engine, given: str) -> None:
    with Session(engine) as session:
        session.add(Page(uri=URI(given), link=URIReference("../g"), shown=IRI("http://ü/"), short=IRIReference("é")))
        session.commit()
    with Session(engine) as session:
        page = session.execute(select(Page).where(Page.uri == URI(given))).scalar_one()
        assert (page.uri, page.link, page.shown, page.short, page.canonical) == (
            URI(given), URIReference("../g"), IRI("http://ü/"), IRIReference("é"), None,
        )  # fmt: skip
        kinds = [type(value) for value in (page.uri, page.link, page.shown, page.short)]
        assert kinds == [URI, URIReference, IRI, IRIReference]
        assert session.execute(text("select uri from page")).scalar_one() == given
        assert session.get(Page, URI(given)) is page


@pytest.mark.parametrize(
    "text",
    [
        "no uri", "//h/", "", "http://u:geheim@h/a b", "x:" + " " * 100_000, URI("http://[fe80::1%25a]/", zone=True),
    ],
)  # fmt: skip
def test_an_invalid_text_is_not_stored(engine: Engine, text: Any) -> None:
    with Session(engine) as session:
        session.add(Page(uri=text))
        with pytest.raises(exc.StatementError) as caught:
            session.commit()
    assert isinstance(caught.value.orig, InvalidURI)
    assert "geheim" not in str(caught.value.orig)


def test_another_type_is_not_stored(engine: Engine) -> None:
    with Session(engine) as session:
        session.add(Page(uri=b"a:b"))
        with pytest.raises(exc.StatementError) as caught:
            session.commit()
    assert isinstance(caught.value.orig, TypeError)


def test_an_invalid_text_in_the_table_is_an_error_of_its_row(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("insert into page (uri) values ('no uri')"))
        with pytest.raises(InvalidURI):
            connection.execute(select(Page.uri)).all()


def test_texts_are_compared_as_texts(engine: Engine) -> None:
    with Session(engine) as session:
        session.add_all([Page(uri=URI("https://a.example/x")), Page(uri=URI("https://b.example/y"))])
        session.commit()
        uris: list[tuple[Any, int]] = [
            (Page.uri.like("https://%.example/x"), 1),
            (Page.uri.startswith("https://"), 2),
            (Page.uri.contains("%25"), 0),
            (Page.uri == "no uri", 0),
            (Page.uri == "https://a.example/x", 1),
            (Page.uri.in_([URI("https://a.example/x"), URI("a:b")]), 1),
            (Page.uri != URI("https://a.example/x"), 1),
            (Page.uri > URI("https://a.example/x"), 1),
            (Page.uri.is_(None), 0),
            (func.lower(Page.uri) == "https://a.example/x", 1),
        ]
        for query, count in uris:
            assert len(session.execute(select(Page).where(query)).all()) == count, str(query)
        assert session.execute(select(Page.uri).order_by(Page.uri.desc())).scalars().first() == URI(
            "https://b.example/y"
        )
        statement = select(literal(URI("a:'b"), URIType())).compile(compile_kwargs={"literal_binds": True})
        assert "'a:''b'" in str(statement)


def test_the_sql_for_other_databases() -> None:
    """Text with and without a limit; a Unicode type if the database has one."""
    table = Table("t", MetaData())
    column: Column[Any]
    for column in (Column("a", URIType()), Column("b", URIReferenceType(length=80)), Column("c", IRIType(length=80))):
        table.append_column(column)
    columns = {
        dialect.__name__.rpartition(".")[2]: [
            dialect.dialect().ddl_compiler(dialect.dialect(), None).get_column_specification(column).split()[1]
            for column in table.columns
        ]
        for dialect in (sqlite, postgresql, mysql, oracle, mssql)
    }
    assert columns["postgresql"].pop(0) in ("TEXT", "VARCHAR"), "one type with two names"
    assert columns == {
        "sqlite": ["TEXT", "VARCHAR(80)", "VARCHAR(80)"],
        "postgresql": ["VARCHAR(80)", "VARCHAR(80)"],
        "mysql": ["TEXT", "VARCHAR(80)", "VARCHAR(80)"],
        "oracle": ["CLOB", "VARCHAR2(80", "VARCHAR2(80"],
        "mssql": ["VARCHAR(max)", "VARCHAR(80)", "NVARCHAR(80)"],
    }


def test_a_type_is_a_value() -> None:
    """Migrations contain its repr; its key caches statements."""
    for kind, short in ((URIType, "URIType()"), (IRIType, "IRIType()")):
        assert repr(kind()) == short
    column_type = URIReferenceType(length=80)
    same = eval(f"overthere.integrations.sqlalchemy.{column_type!r}", {"overthere": overthere})
    assert (type(same), same.length, same.python_type) == (URIReferenceType, 80, URIReference)
    assert pickle.loads(pickle.dumps(column_type)).length == 80
    keys = {kind._static_cache_key for kind in (URIType(), URIType(80), IRIType(), URIReferenceType(80))}
    assert len(keys) == 4
    assert column_type._static_cache_key == same._static_cache_key


def test_a_text_column_accepts_a_uri_with_sqlite3() -> None:
    table = Table("t", MetaData(), Column("a", Text()))
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        table.create(connection)
        connection.execute(insert(table), [{"a": URI("http://h/")}, {"a": IRI("http://ü/")}])
        assert connection.execute(select(table)).scalars().all() == ["http://h/", "http://ü/"]
    engine.dispose()
