"""Constraints on pydantic fields: `Field`, `UrlConstraints` and `Require`, in errors and in JSON Schema."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from enum import Enum
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import (
    AnyUrl,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    PlainSerializer,
    PydanticUserError,
    StringConstraints,
    TypeAdapter,
    UrlConstraints,
    ValidationError,
    WrapSerializer,
)
from pydantic_core import SchemaValidator
from typing_extensions import TypeAliasType

from growth import outgrows
from overthere import IRI, URI, InvalidURI, IRIReference, Rung, Template, URIReference
from overthere.integrations.pydantic import ChangedURL, Require, any_url


def errors(field: Any, value: object) -> list[Any]:
    """The errors of a value, [] if it is valid; the JSON Schema must accept every text that is valid."""
    adapter = TypeAdapter(field)
    try:
        adapter.validate_python(value)
    except ValidationError as error:
        return list(error.errors())
    if isinstance(value, str):
        jsonschema.validate(value, adapter.json_schema())
    return []


def types(field: Any, value: object) -> list[str]:
    return [error["type"] for error in errors(field, value)]


class Page(BaseModel):
    uri: Annotated[URI, Field(min_length=4, max_length=12, pattern="^http")]
    links: list[Annotated[URIReference, Field(max_length=3)]] = []
    shown: Annotated[IRI | None, Field(max_length=12)] = None


# -- Field


@pytest.mark.parametrize(
    ("value", "kind", "context"),
    [
        ("a:", "string_too_short", {"min_length": 4}),
        ("ftp://h/", "string_pattern_mismatch", {"pattern": "^http"}),
        ("http://h/" + "a" * 9, "string_too_long", {"max_length": 12}),
        (URI("ftp://h/"), "string_pattern_mismatch", {"pattern": "^http"}),
        (URI("http://h/" + "a" * 9), "string_too_long", {"max_length": 12}),
    ],
)
def test_constraints_of_a_field_apply_to_the_text(value: object, kind: str, context: dict[str, object]) -> None:
    with pytest.raises(ValidationError) as caught:
        Page.model_validate({"uri": value})
    (error,) = caught.value.errors()
    assert (error["type"], error["loc"], error["ctx"]) == (kind, ("uri",), context)


def test_valid_values_meet_the_constraints() -> None:
    uri = URI("http://h/")
    page = Page(uri=uri, links=[URIReference("a"), URIReference("b")])
    assert page.uri is uri
    assert Page.model_validate_json(page.model_dump_json()) == page
    assert types(Annotated[URIReference, Field(max_length=3)], "abcd") == ["string_too_long"]
    assert errors(Annotated[IRI, Field(max_length=10)], "http://ü/") == []
    assert types(Annotated[IRI, Field(max_length=8)], "http://ü/") == ["string_too_long"]
    with pytest.raises(ValidationError) as caught:
        Page.model_validate({"uri": "http://h/", "links": ["a", "abcd"]})
    assert caught.value.errors()[0]["loc"] == ("links", 1)


def test_the_maximum_length_is_checked_first() -> None:
    """So a huge text is not parsed."""
    assert types(Annotated[URI, Field(max_length=100)], " " * 5_000_000) == ["string_too_long"]
    assert types(Annotated[URI, Field(max_length=100)], " ") == ["overthere_scheme_missing"]


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_constraints_are_in_the_json_schema(mode: Literal["validation", "serialization"]) -> None:
    properties = Page.model_json_schema(mode=mode)["properties"]
    assert {key: value for key, value in properties["uri"].items() if key != "title"} == {
        "type": "string", "format": "uri", "minLength": 4, "maxLength": 12, "pattern": "^http",
    }  # fmt: skip
    assert properties["links"]["items"] == {"type": "string", "format": "uri-reference", "maxLength": 3}
    assert properties["shown"]["anyOf"][0] == {"type": "string", "format": "iri", "maxLength": 12}
    both = TypeAdapter(Annotated[URI, Field(pattern=re.compile("b")), Require(schemes=["a"])]).json_schema(mode=mode)
    assert both == {
        "type": "string", "format": "uri",
        "allOf": [{"pattern": "b"}, {"pattern": r"^(?:[aA]):(?://(?:[^/?#@]*@)?(?:\[[^\]]*\]|[^/?#@:\[\]]+)?(?::[0-9]*)?"
                                                "(?:[/?#]|$)|/(?:[^/]|$)|[^/]|$)"}],
    }  # fmt: skip


def test_a_field_without_constraints_has_none() -> None:
    """Narrowing a type does not change it; a model's text settings do not apply."""
    short = Annotated[URI, Field(max_length=12)]
    shorter = Annotated[short, Field(max_length=5)]
    assert types(shorter, "http://h/") == ["string_too_long"]
    assert errors(short, "http://h/") == errors(URI, "http://h/" + "a" * 99) == []
    assert TypeAdapter(URI).json_schema() == {"type": "string", "format": "uri"}

    class Lower(BaseModel):
        model_config = ConfigDict(str_to_lower=True, str_strip_whitespace=True, str_max_length=5)
        uri: Annotated[URI, Field(min_length=2)]

    assert Lower.model_validate({"uri": "HTTP://h/A"}).uri == URI("HTTP://h/A")
    with pytest.raises(ValidationError):
        Lower.model_validate({"uri": " a:b"})


class _Titled(URI):
    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> dict[str, Any]:
        return {**handler(core), "title": "Titled"}


@pytest.mark.parametrize("constraints", [(), (Field(max_length=50),), (Require(userinfo=False),)])
def test_a_description_is_in_the_json_schema(constraints: tuple[Any, ...]) -> None:
    """Also of an item, and before later constraints; so is what a subclass adds."""
    described = Field(description="d", examples=["a:b"], json_schema_extra={"x": 1})
    computed = Field(json_schema_extra=lambda schema: schema.update(x=1))
    for first, expected in ((described, {"description": "d", "examples": ["a:b"], "x": 1}), (computed, {"x": 1})):
        for metadata in ((first, *constraints), (*constraints, first)):
            field: Any = Annotated.__class_getitem__((_Titled, *metadata))  # type: ignore[attr-defined]
            item = TypeAdapter(list[field]).json_schema()["items"]
            assert item.items() >= {**expected, "title": "Titled", "format": "uri"}.items()


def test_a_field_may_strip_white_space() -> None:
    stripped = TypeAdapter(Annotated[URI, StringConstraints(strip_whitespace=True)])
    assert stripped.validate_python(" a:b\n") == URI("a:b")
    assert TypeAdapter(Annotated[URI, Field(strict=True)]).validate_python("a:b") == URI("a:b")


def test_a_schema_is_copied_and_pickled() -> None:
    schema = copy.deepcopy(TypeAdapter(Annotated[URI, Field(max_length=12)]).core_schema)
    assert schema["type"] == "function-wrap"
    page = Page.model_validate({"uri": "http://h/"})
    assert pickle.loads(pickle.dumps(page)) == copy.deepcopy(page) == page


def test_the_schema_of_a_model_can_be_pickled() -> None:
    """By cloudpickle, with which Spark and others send notebook classes to processes."""
    field = Annotated[URI, Require(schemes={"http"}), Field(max_length=12)]
    validator = SchemaValidator(pickle.loads(pickle.dumps(TypeAdapter(field).core_schema)))
    assert validator.validate_python("http://h/") == URI("http://h/")
    for invalid in ("https://h/", "http://h/a/b/c", "a b"):
        with pytest.raises(ValidationError):
            validator.validate_python(invalid)


@pytest.mark.parametrize("serializer", [PlainSerializer(URI.redacted), WrapSerializer(lambda uri, _: uri.redacted())])
@pytest.mark.parametrize("constraint", [Field(max_length=50), StringConstraints(min_length=1), Require(userinfo=True)])
def test_a_serializer_is_kept_by_later_constraints(serializer: Any, constraint: Any) -> None:
    adapter: TypeAdapter[URI] = TypeAdapter(Annotated[URI, serializer, constraint])
    assert adapter.dump_json(URI("http://joe:secret@h/")) == b'"http://joe:***@h/"'


def test_a_serializer_of_a_named_type_is_kept() -> None:
    named: Any = TypeAliasType("named", Annotated[URI, Field(max_length=50)])
    field = Annotated[named, PlainSerializer(URI.redacted), Require(userinfo=True)]
    assert TypeAdapter[URI](field).dump_json(URI("http://joe:secret@h/")) == b'"http://joe:***@h/"'


@pytest.mark.parametrize("value", [3, None, b"a:b", ["a:b"], {"a": "b"}, 1.5])
def test_other_types_are_rejected(value: object) -> None:
    for field in (URI, Annotated[URI, Field(max_length=3)], Annotated[URI, Require(public=True)], Template):
        assert types(field, value) == ["overthere_type"]


# -- UrlConstraints


def test_url_constraints() -> None:
    """The errors are those of pydantic for its own URLs."""
    constraints = UrlConstraints(allowed_schemes=["http", "https"], host_required=True, max_length=20)
    for field in (Annotated[URI, constraints], Annotated[AnyUrl, constraints]):
        assert types(field, "ftp://h/") == ["url_scheme"]
        assert errors(field, "ftp://h/")[0]["ctx"] == {"expected_schemes": "'http' or 'https'"}
        assert errors(field, "HTTP://h/") == []
    assert (
        types(Annotated[URI, constraints], "http:x")
        == types(Annotated[URI, constraints], "http://u@:80/")
        == ["url_parsing"]
    )
    assert types(Annotated[URI, constraints], "http://h/" + "a" * 20) == ["string_too_long"]
    schema = TypeAdapter(Annotated[URI, constraints]).json_schema()
    assert (schema["maxLength"], schema["allOf"][0]["pattern"]) == (20, "^(?:[hH][tT][tT][pP]|[hH][tT][tT][pP][sS]):")
    assert all(re.search(rule["pattern"], "http://h/") for rule in schema["allOf"])
    assert not all(re.search(rule["pattern"], "http:x") for rule in schema["allOf"])


@pytest.mark.parametrize("field", [
    Annotated[URI, Field(max_length=12), UrlConstraints(allowed_schemes=["http"])],
    Annotated[URI, UrlConstraints(allowed_schemes=["http"]), Field(max_length=12)],
    Annotated[URI, Require(host=True), UrlConstraints(allowed_schemes=["http"]), Field(max_length=12)],
    Annotated[URI, Field(max_length=12), UrlConstraints(allowed_schemes=["http"]), Require(host=True)],
])  # fmt: skip
def test_constraints_in_any_order(field: Any) -> None:
    assert types(field, "ftp://h/") == ["url_scheme"]
    assert types(field, "http://h/" + "a" * 20) == ["string_too_long"]
    assert errors(field, "http://h/") == []


@pytest.mark.parametrize("name", ["default_host", "default_port", "default_path"])
def test_defaults_are_not_filled_in(name: str) -> None:
    with pytest.raises(PydanticUserError, match=name):
        TypeAdapter(Annotated[URI, UrlConstraints(**{name: 80 if "port" in name else "h"})])


# -- Require


@pytest.mark.parametrize(
    ("required", "value", "kind", "place"),
    [
        ({"schemes": ["https"]}, "http://h/", "scheme", "http"),
        ({"schemes": ["https"]}, "//h/", "scheme", ""),
        ({"schemes": ["HTTPS"]}, "https:", None, ""),
        ({"host": True}, "a:b", "host", ""),
        ({"host": True}, "file:///b", "host", ""),
        ({"host": True}, "file://h/b", None, ""),
        ({"host": False}, "file://h/b", "host", "h"),
        ({"host": False}, "file:///b", None, ""),
        ({"host": False}, "mailto:a@b", None, ""),
        ({"host": {"h.example"}}, "http://u@H.%65xample.:80/", None, ""),
        ({"host": {"h.example"}}, "http://h.example@evil/", "host", "evil"),
        ({"host": {"h.example"}}, "http://xh.example/", "host", "xh.example"),
        ({"host": {".example"}}, "http://a.b.EXAMPLE/", None, ""),
        ({"host": {".example"}}, "http://example/", "host", "example"),
        ({"host": {"[::1]"}}, "http://[::1]:8/", None, ""),
        ({"host": {"bücher.example"}}, "http://b%C3%BCcher.example/", None, ""),
        ({"host": {"bücher.example"}}, "http://xn--bcher-kva.example/", None, ""),
        ({"host": {".BÜCHER.example"}}, "http://a.xn--bcher-kva.example/", None, ""),
        ({"host": {"xn--bcher-kva.example"}}, "http://B%C3%9Ccher.example./", None, ""),
        ({"host": {"h.example"}}, "http://xn--bcher-kva.example/", "host", "xn--bcher-kva.example"),
        ({"port": {443}}, "https://h/", None, ""),
        ({"port": {443}}, "https://h:0443/", None, ""),
        ({"port": {443}}, "https://h:8443/", "port", "8443"),
        ({"port": {443}}, "http://h:443/", None, ""),
        ({"port": {443}}, "urn:a:b", "port", ""),
        ({"port": False}, "http://h:/", "port", ""),
        ({"port": False}, "http://h/", None, ""),
        ({"port": True}, "http://h/", "port", ""),
        ({"userinfo": False}, "http://@h/", "userinfo", ""),
        ({"userinfo": False}, "http://h/@", None, ""),
        ({"userinfo": False}, "mailto:a@b", None, ""),
        ({"userinfo": False}, "//h", None, ""),
        ({"userinfo": False}, "", None, ""),
        ({"userinfo": True}, "ftp://h/", "userinfo", ""),
        ({"userinfo": True}, "ftp://u:p@[::1]", None, ""),
        ({"rung": "syntax"}, "HTTP://h/a/../b", "rung", "HTTP://h/a/../b"),
        ({"rung": Rung.SCHEME}, "http://h:80/", "rung", ":80/"),
        ({"rung": Rung.SCHEME}, "http://h/", None, ""),
        ({"public": True}, "http://h.example/", None, ""),
        ({"public": True}, "http://[2606:4700::1111]/", None, ""),
        ({"public": True}, "http://127.1/", "public", "127.1"),
        ({"public": True}, "http://0x7f000001/", "public", "0x7f000001"),
        ({"public": True}, "http://[::ffff:10.0.0.1]/", "public", "[::ffff:10.0.0.1]"),
        ({"public": True}, "http://a.%4Cocalhost./", "public", "a.%4Cocalhost."),
        ({"public": True}, "http://printer/", "public", "printer"),
        ({"public": True}, "urn:a:b", "public", ""),
    ],
)
def test_requirements(required: dict[str, Any], value: str, kind: str | None, place: str) -> None:
    for cls in (URIReference, IRIReference):
        messages = errors(Annotated[cls, Require(**required)], value)
        if kind is None:
            assert messages == []
            continue
        (error,) = messages
        assert error["type"] == f"overthere_require_{kind}"
        assert error["ctx"]["kind"] == f"require-{kind}"
        assert value[error["ctx"]["start"] : error["ctx"]["end"]] == place
        assert error["ctx"]["source"].startswith("RFC 3986 ")
        assert error["msg"] == error["ctx"]["finding"]


def test_the_json_schema_has_a_pattern_if_possible() -> None:
    """It rejects whatever violates a requirement of one form."""
    for required, bad in (
        ({"schemes": ["https"]}, ["http://h/", "xhttps:", "https"]),
        ({"host": True}, ["http:a", "file:///", "a:/b//c@d"]),
        ({"host": False}, ["http://h", "http://u@h"]),
        ({"host": {"h.example"}}, ["http://h.example.evil/", "http://xh.example/", "http://h.example@evil/", "a:b"]),
        ({"userinfo": False}, ["http://@h/", "a://u:p@h"]),
        ({"userinfo": True}, ["http://h/", "mailto:a@b"]),
        ({"port": False}, ["http://h:/", "http://h:80", "http://[::1]:80/"]),
        ({"port": {443}}, ["http://h:80/", "http://h:4430/"]),
    ):
        pattern = Require(**required).pattern
        assert pattern is not None
        assert not [value for value in bad if re.search(pattern, value)]
    assert Require(rung="case").pattern is None


@pytest.mark.parametrize("mistake", [
    lambda: Require(), lambda: Require(schemes="http"), lambda: Require(host="h"), lambda: Require(schemes=()),
    lambda: Require(port=[]), lambda: Require(rung="high"), lambda: Require(rung=Rung.PROTOCOL),
    lambda: Require(port={"80"}),  # type: ignore[arg-type]
    lambda: Require(host={IPv4Address("127.0.0.1")}),  # type: ignore[arg-type]
    lambda: Require(schemes={1}),  # type: ignore[arg-type]
])  # fmt: skip
def test_a_meaningless_requirement_is_rejected(mistake: Callable[[], Require]) -> None:
    with pytest.raises((TypeError, ValueError)):
        mistake()


def test_a_text_in_place_of_a_collection_is_not_shown() -> None:
    with pytest.raises(TypeError, match="host takes a collection, not one text"):
        Require(host="https://joe:s3cr3t@h.example/")


@pytest.mark.parametrize("field", [str, AnyUrl, list[URI], Template])
def test_a_requirement_on_another_type_is_rejected(field: Any) -> None:
    with pytest.raises(PydanticUserError, match="Require applies to URI"):
        TypeAdapter(Annotated[field, Require(public=True)])


def test_requirements_on_optional_fields_and_aliases() -> None:
    class Hook(BaseModel):
        target: Annotated[URI | None, Require(schemes=["https"])] = None
        more: Annotated[list[Annotated[URI, Require(schemes=["https"])]], Field(max_length=2)] = []

    assert Hook().target is None
    with pytest.raises(ValidationError) as caught:
        Hook.model_validate({"target": "a:b", "more": ["https:", "a:b"]})
    assert [error["loc"] for error in caught.value.errors()] == [("target",), ("more", 1)]


def test_messages_contain_no_password() -> None:
    for field in (
        Annotated[URI, Require(schemes=["a"])], Annotated[URI, Require(host={"a"})], Annotated[URI, Require(port={8})],
        Annotated[URI, Require(userinfo=False)], Annotated[URI, Require(rung="scheme")],
        Annotated[URI, Require(public=True)], Annotated[URI, UrlConstraints(allowed_schemes=["a"])],
        Annotated[URI, Field(max_length=5)], Annotated[URI, Field(pattern="^a")],
    ):  # fmt: skip
        (error,) = errors(field, "HTTP://joe:Geheim7@h:80/")
        assert "Geheim7" not in f"{error['msg']}{error['ctx']}"


@pytest.mark.parametrize(
    "value", ["", "\x00", "\ud800", "a:" + "%41" * 50_000, "http://" + "a." * 50_000 + "/", "//" + "@" * 9999]
)
def test_hostile_texts(value: str) -> None:
    field = Annotated[URIReference, Require(schemes=["a"], host={".b"}, port={1}, userinfo=False, rung=4, public=True)]
    assert len(types(field, value)) == 1


# -- URLs of pydantic, templates


def test_an_error_of_any_url_shows_no_password() -> None:
    with pytest.raises(ValidationError, match="port") as raised:
        any_url("http://joe:secret7@h.example:99999/")
    assert "joe:***@" in str(raised.value)
    assert not any("secret7" in text for text in (str(raised.value), repr(raised.value.errors()), raised.value.json()))


def test_from_and_to_any_url() -> None:
    assert TypeAdapter(URI).validate_python(AnyUrl("http://h")) == URI("http://h/")
    assert TypeAdapter(Annotated[URI, Field(max_length=9)]).validate_python(HttpUrl("http://h")) == URI("http://h/")
    assert types(Annotated[URI, Field(max_length=8)], HttpUrl("http://h")) == ["string_too_long"]
    assert any_url(URI("HTTP://H")) == AnyUrl("http://h/")
    assert type(any_url("https://h:443/", HttpUrl)) is HttpUrl
    with pytest.raises(ValidationError):
        any_url(URI("ftp://h/"), HttpUrl)
    with pytest.raises(InvalidURI):
        any_url("http://h/a b")
    with pytest.raises(ChangedURL, match="joe:\\*\\*\\*@") as caught:
        any_url(URI("http://joe:Geheim7@0x7f.1/"))
    assert "Geheim7" not in str(caught.value)


def test_a_template_as_a_field() -> None:
    class Route(BaseModel):
        at: Template
        short: Annotated[Template, Field(max_length=4)] = Template("/")

    route = Route.model_validate({"at": "/{user}{?q*}"})
    assert route.at.expand(user="joe") == "/joe"
    assert Route.model_validate_json(route.model_dump_json()) == route
    partial = Template("{?x,y}").partial(y=2)
    assert Route(at=partial).at is partial
    assert Route.model_json_schema()["properties"]["at"] == {
        "type": "string", "format": "uri-template", "title": "At",
    }  # fmt: skip
    with pytest.raises(ValidationError) as caught:
        Route.model_validate({"at": "/{user", "short": "12345"})
    assert [error["type"] for error in caught.value.errors()] == ["overthere_template_open", "string_too_long"]


LOCAL_NAMES = ("localhost", "a.localhost", "printer.local", "metadata.google.internal", "router.home.arpa", "x.test")
DISGUISES = (
    lambda name: name.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
    lambda name: name.replace(".", "\u3002") + "\u3002",
    lambda name: name.replace(".", "\uff0e"),
    lambda name: name.replace(".", "\uff61").upper(),
    lambda name: "".join(f"{char}\u00ad" for char in name),
    lambda name: name[:-1] + "\u200b" + name[-1],
    lambda name: name[:-1] + "\u200d" + name[-1],
    lambda name: name[:-1] + "\u2060\ufe0f\U000e0100" + name[-1],
    lambda name: "\u034f" + name,
    lambda name: "a_\u00fc." + name + "..",
    lambda name: name.replace("a", "\u24d0").replace("o", "\U0001d428").replace("t", "\u1d57"),
)  # fmt: skip


@pytest.mark.parametrize("name", LOCAL_NAMES)
def test_disguised_names_of_local_networks_are_rejected(name: str) -> None:
    """Unescaped in an IRI and escaped in a URI; names in the public DNS are accepted."""
    public = Annotated[URI, Require(public=True)], Annotated[IRI, Require(public=True)]
    for disguise in DISGUISES:
        host = disguise(name)
        escaped = "".join(f"%{octet:02X}" for octet in host.encode())
        for field in public:
            assert types(field, f"http://{escaped}/") == ["overthere_require_public"], ascii(host)
            assert types(field, f"http://{escaped}.example/") == [], ascii(host)
        if IRI.can_parse(f"http://{host}/"):
            assert types(public[1], f"http://{host}/") == ["overthere_require_public"], ascii(host)


@pytest.mark.parametrize("char", [*map(chr, range(0x21)), *"/?#@:\\[]%<>^|\x7f\x80\xa0\u2028\u2100\uff0f\uff1f\uff20"])
def test_a_required_host_contains_no_escaped_delimiter(char: str) -> None:
    octets = "".join(f"%{octet:02x}" for octet in char.encode())
    for host in (
        f"evil.example{octets}.good.example",
        f"evil.example{octets}80.good.example",
        f"{octets}.good.example",
    ):
        for field in (URI, IRI, URIReference):
            assert types(Annotated[field, Require(host={".good.example"})], f"http://{host}/"), host
    assert types(Annotated[URI, Require(host={".good.example"})], "http://a.b%2Dc.good.example/") == []


@pytest.mark.parametrize(
    "host",
    [
        "\uff48.example", "h\u3002example", "h\uff0eexample\uff61", "H\u00ad.exam\u200bple",
        "h.e\u200bx\ufe0fample", "\u210e.example",
    ],
)  # fmt: skip
def test_a_required_host_is_the_name_that_clients_resolve(host: str) -> None:
    """Full-width letters, other full stops, ignored characters: unescaped and escaped; the pattern accepts them."""
    escaped = "".join(name if name.isascii() else "".join(f"%{octet:02X}" for octet in name.encode()) for name in host)
    for names in ({"h.example"}, {".example"}, {"\uff28.EXAMPLE."}):
        required = Require(host=names)
        for field, text in ((IRI, f"http://{host}/"), (URI, f"http://{escaped}/")):
            assert types(Annotated[field, required], text) == [], text
            assert re.search(required.pattern or "$.", text)
    for names in ({"example"}, {"x.example"}, {".h.example"}):
        assert types(Annotated[URI, Require(host=names)], f"http://{escaped}/")


@pytest.mark.parametrize("char", "\u115f\u1160\u17b4\u180f\u2064\u2066\u2069\u3164\uffa0\u00df\u03c2\u1d3c")
def test_a_host_that_clients_read_differently_is_rejected(char: str) -> None:
    """Newer clients ignore or map characters that IDNA 2003 keeps, and vice versa."""
    for host in (f"g{char}ood.example", f"{char}good.example", "good".replace("oo", f"{char}o") + ".example"):
        escaped = "".join(f"%{octet:02X}" for octet in host.encode())
        assert types(Annotated[URI, Require(host={"good.example", "xn--fa-hia.example"})], f"http://{escaped}/"), host
    both = Require(host={"fa\u00df.example", "fass.example"})
    assert types(Annotated[IRI, both], "http://fa\u00df.example/") == []


@pytest.mark.parametrize("text", ["http://{}/", "http://{}[", "http://{}:", "http://x@{}\\"])
@pytest.mark.parametrize("unit", ["\u00e9", "%C3", "a", "%41", "a\u00e9", "\U0001d400"])
def test_the_pattern_of_a_host_is_linear(text: str, unit: str) -> None:
    pattern = re.compile(Require(host={"h.example", ".b"}).pattern or "")
    assert outgrows(pattern.search, lambda length: text.format(unit * length), (2_000, 8_000, 32_000), 0.05) is None


class _Kind(str, Enum):  # noqa: UP042 (str() of one is its name)
    SITE = "http://h.example/"


class _Lying(str):
    def __str__(self) -> str:
        return "http://other.example/"


@pytest.mark.parametrize("text", [_Kind.SITE, _Lying("http://h.example/")])
def test_a_subclass_of_str_counts_as_its_characters(text: str) -> None:
    assert str(TypeAdapter(URI).validate_python(text)) == "http://h.example/"


@pytest.mark.parametrize("hosts", [{""}, {"", "h.example"}, {"\u00ad"}])
def test_a_required_host_is_not_empty(hosts: set[str]) -> None:
    with pytest.raises(ValueError, match="host has a name that is empty"):
        Require(host=hosts)
