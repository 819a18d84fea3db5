"""FastAPI with its TestClient: URIs in parameters, bodies and answers; invalid ones are answered with 422."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx2")

import fastapi.encoders
from fastapi import FastAPI, Query
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field

from overthere import IRI, URI, IRIReference, Template, URIReference, check
from overthere.integrations.pydantic import Require


class Page(BaseModel):
    uri: URI
    link: URIReference | None = None
    shown: IRI | None = None


app = FastAPI()


@app.get("/typed")
def typed(uri: URI) -> dict[str, Any]:
    return {"uri": uri, "more": [uri.join("x"), {"shown": IRI("http://ü/")}]}


@app.get("/untyped", response_model=None)
def untyped(uri: URI) -> dict[str, Any]:
    return {"uri": uri, "links": {URIReference("a"): [IRI("http://ü/"), IRIReference("é")]}}


@app.post("/page")
def body(page: Page) -> Page:
    return page


@app.get("/many")
def many(uri: Annotated[list[URI], Query()]) -> list[URI]:
    return uri


@app.get("/path/{uri:path}")
def path(uri: URI) -> URI:
    return uri


@app.get("/hook")
def hook(target: Annotated[URI, Query(max_length=30), Require(schemes=["https"], public=True)]) -> URI:
    return target


class Route(BaseModel):
    at: Annotated[Template, Field(max_length=12)]


@app.post("/route")
def route(value: Route) -> dict[str, Template]:
    return {"at": value.at}


CLIENT = TestClient(app)


def test_a_uri_in_a_dict() -> None:
    answer = CLIENT.get("/typed", params={"uri": "HTTP://h/a?b#"})
    assert answer.status_code == 200
    assert answer.json() == {"uri": "HTTP://h/a?b#", "more": ["HTTP://h/x", {"shown": "http://ü/"}]}


def test_a_uri_in_a_dict_without_a_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """FastAPI then bypasses pydantic and needs an encoder: docs/howto/libraries.md."""
    for kind in (URI, URIReference, IRI, IRIReference):  # which the page may have registered in this process
        monkeypatch.delitem(fastapi.encoders.ENCODERS_BY_TYPE, kind, raising=False)
    with pytest.raises(ValueError, match="'URI' object is not iterable"):
        CLIENT.get("/untyped", params={"uri": "http://h/"})
    for kind in (URI, URIReference, IRI, IRIReference):
        monkeypatch.setitem(fastapi.encoders.ENCODERS_BY_TYPE, kind, str)
    answer = CLIENT.get("/untyped", params={"uri": "http://h/"})
    assert answer.json() == {"uri": "http://h/", "links": {"a": ["http://ü/", "é"]}}


@pytest.mark.parametrize("bad", ["no uri", "//h/", "", "http://h/a b", "http://h\x00/", "http://ü/", "x:" + " " * 9000])
def test_an_invalid_uri_is_422(bad: str) -> None:
    finding = check(bad)[0]
    expected = {
        "type": "overthere_" + finding.kind.replace("-", "_"), "input": bad,
        "ctx": {**finding._asdict(), "finding": str(finding)},
    }  # fmt: skip
    for answer, place in (
        (CLIENT.get("/typed", params={"uri": bad}), ["query", "uri"]),
        (CLIENT.post("/page", json={"uri": bad}), ["body", "uri"]),
        (CLIENT.get("/many", params={"uri": ["a:b", bad]}), ["query", "uri", 1]),
    ):
        assert answer.status_code == 422
        (error,) = answer.json()["detail"]
        assert {key: error[key] for key in expected} == expected
        assert error["loc"] == place


@pytest.mark.parametrize("bad", [3, None, True, ["a:b"], {"uri": "a:b"}])
def test_another_type_is_422(bad: object) -> None:
    answer = CLIENT.post("/page", json={"uri": bad})
    assert (answer.status_code, answer.json()["detail"][0]["type"]) == (422, "overthere_type")


def test_a_model_a_list_and_a_path() -> None:
    page = {"uri": "http://h/", "link": "../x", "shown": "http://ü/"}
    assert CLIENT.post("/page", json=page).json() == page
    assert CLIENT.get("/many?uri=a:b&uri=c:d").json() == ["a:b", "c:d"]
    assert CLIENT.get("/path/http://h/a").json() == "http://h/a"


def test_the_schema_has_the_format() -> None:
    schema = CLIENT.get("/openapi.json").json()
    (parameter,) = schema["paths"]["/typed"]["get"]["parameters"]
    assert {key: parameter["schema"][key] for key in ("type", "format")} == {"type": "string", "format": "uri"}
    fields = schema["components"]["schemas"]["Page"]["properties"]
    assert [schema["format"] for schema in fields["shown"]["anyOf"] if "format" in schema] == ["iri"]


@pytest.mark.parametrize(
    ("target", "kind", "place"),
    [
        ("http://h.example/", "overthere_require_scheme", (0, 4)),
        ("https://127.1/", "overthere_require_public", (8, 13)),
        ("https://h.example/" + "a" * 20, "string_too_long", None),
    ],
)
def test_a_constraint_is_422_with_kind_and_place(target: str, kind: str, place: tuple[int, int] | None) -> None:
    answer = CLIENT.get("/hook", params={"target": target})
    assert answer.status_code == 422
    (error,) = answer.json()["detail"]
    assert (error["type"], error["loc"]) == (kind, ["query", "target"])
    assert place is None or (error["ctx"]["start"], error["ctx"]["end"]) == place
    assert CLIENT.get("/hook", params={"target": "https://h.example/"}).json() == "https://h.example/"
    (parameter,) = CLIENT.get("/openapi.json").json()["paths"]["/hook"]["get"]["parameters"]
    assert parameter["schema"]["maxLength"] == 30
    assert parameter["schema"]["pattern"].startswith("^(?:[hH][tT][tT][pP][sS])://")


def test_a_template_in_a_body() -> None:
    assert CLIENT.post("/route", json={"at": "/{x}"}).json() == {"at": "/{x}"}
    answer = CLIENT.post("/route", json={"at": "/{x"})
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "at"])
    assert answer.json()["detail"][0]["ctx"]["start"] == 1
