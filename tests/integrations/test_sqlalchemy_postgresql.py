"""SQLAlchemy column types with PostgreSQL, through pg8000."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("pg8000")

from sqlalchemy import ARRAY, Engine, create_engine, exc, func, insert, inspect, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from overthere import IRI, URI, InvalidURI, IRIReference, URIReference
from overthere.integrations.sqlalchemy import TYPES, IRIReferenceType, URIType
from servers.postgres import postgres


class Base(DeclarativeBase):
    type_annotation_map = TYPES


class Page(Base):
    __tablename__ = "page"
    number: Mapped[int] = mapped_column(primary_key=True)
    uri: Mapped[URI]
    key: Mapped[URI | None] = mapped_column(URIType(length=80), unique=True)
    link: Mapped[URIReference | None]
    shown: Mapped[IRI | None]
    short: Mapped[IRIReference | None] = mapped_column(IRIReferenceType(length=20))
    more: Mapped[list[URI] | None] = mapped_column(ARRAY(URIType()))


@pytest.fixture(scope="module")
def server() -> Iterator[Engine]:
    # As nobody, so not below pytest's own folder.
    with TemporaryDirectory() as folder, postgres(Path(folder) / "postgres") as port:
        postgresql = create_engine(f"postgresql+pg8000://joe@127.0.0.1:{port}/postgres")
        yield postgresql
        postgresql.dispose()


@pytest.fixture
def engine(server: Engine) -> Iterator[Engine]:
    Base.metadata.create_all(server)
    yield server
    Base.metadata.drop_all(server)


URIS = [
    "HTTP://Example.com:80/%7e?#",
    "urn:x:';drop%20table%20page;--",
    "a:",
    "http://h/?q=%00%25s:b%5C",
    "x:" + "a" * 1_000_000,
]


@pytest.mark.parametrize("value", URIS)
def test_a_stored_value_is_unchanged(engine: Engine, value: str) -> None:
    with Session(engine) as session:
        session.add(Page(
            uri=URI(value), link=URIReference("../g"), shown=IRI("http://ü/\U0001f600"), short=IRIReference("é"),
            more=[URI("a:b"), URI(value)],
        ))  # fmt: skip
        session.commit()
    with Session(engine) as session:
        page = session.execute(select(Page).where(Page.uri == URI(value))).scalar_one()
        assert (page.uri, page.key, page.link, page.shown, page.short, page.more) == (
            URI(value), None, URIReference("../g"), IRI("http://ü/\U0001f600"), IRIReference("é"),
            [URI("a:b"), URI(value)],
        )  # fmt: skip
        assert session.execute(text("select uri from page")).scalar_one() == value
        assert session.scalar(select(func.length(Page.uri))) == len(value)


def test_columns_are_created(engine: Engine) -> None:
    columns = {column["name"]: str(column["type"]) for column in inspect(engine).get_columns("page")}
    assert {columns.pop(name) for name in ("uri", "link", "shown")} <= {"TEXT", "VARCHAR"}, "one type with two names"
    assert columns == {"number": "INTEGER", "key": "VARCHAR(80)", "short": "VARCHAR(20)", "more": "ARRAY"}


def test_comparisons_in_the_database(engine: Engine) -> None:
    with Session(engine) as session:
        session.add_all([Page(uri=URI(uri)) for uri in ("http://b/", "http://a/", "https://a/", "urn:a:b")])
        session.commit()
        assert session.scalars(select(Page.uri).order_by(Page.uri)).all() == [
            URI("http://a/"), URI("http://b/"), URI("https://a/"), URI("urn:a:b"),
        ]  # fmt: skip
        assert session.scalars(select(Page.uri).where(Page.uri.like("http://%")).order_by(Page.uri)).all() == [
            URI("http://a/"), URI("http://b/"),
        ]  # fmt: skip
        assert session.scalar(select(func.count()).where(Page.uri.in_([URI("urn:a:b"), URI("a:")]))) == 1
        assert session.scalar(select(func.count()).where(Page.uri.regexp_match("^https?://a/$"))) == 2
        assert session.scalar(select(func.max(Page.uri))) == URI("urn:a:b")
        assert session.scalar(select(func.split_part(Page.uri, "/", 3)).where(Page.uri == "https://a/")) == "a"


@pytest.mark.parametrize("text", ["no uri", "//h/", "", "http://u:geheim@h/a b", "http://h\x00/", "\ud800"])
def test_an_invalid_text_is_not_stored(engine: Engine, text: str) -> None:
    with Session(engine) as session:
        session.add(Page(uri=text))
        with pytest.raises(exc.StatementError) as caught:
            session.commit()
    assert isinstance(caught.value.orig, InvalidURI)
    assert "geheim" not in str(caught.value.orig)
    with Session(engine) as session:
        assert session.scalar(select(func.count()).select_from(Page)) == 0


def test_the_database_enforces_length_and_uniqueness(engine: Engine) -> None:
    for values, reason in (([URI("x:" + "a" * 79)], "too long"), ([URI("a:b"), URI("a:b")], "unique")):
        with pytest.raises(exc.DatabaseError, match=reason), engine.begin() as connection:
            connection.execute(insert(Page), [{"uri": uri, "key": uri} for uri in values])


def test_an_invalid_stored_text_is_an_error(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("insert into page (uri) values ('http://joe:geheim@h/a b')"))
    with Session(engine) as session, pytest.raises(InvalidURI) as caught:
        session.scalars(select(Page.uri)).all()
    assert "geheim" not in f"{caught.value}{caught.value!r}"
