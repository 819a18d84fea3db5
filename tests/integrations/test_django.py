"""Fields of Django models and forms, and the validator, with Django and SQLite in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("django")

import django
from django import forms
from django.conf import settings
from django.core import serializers
from django.core.exceptions import ValidationError
from django.db.migrations.writer import MigrationWriter

if not settings.configured:
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        INSTALLED_APPS=[], USE_TZ=True,
    )  # fmt: skip
    django.setup()

from django.db import connection, models
from django.db.models.functions import Length

import overthere.integrations.django
from overthere import IRI, URI, InvalidURI, IRIReference, OverthereError, URIReference, check
from overthere.integrations.django import (
    InvalidValue,
    IRIField,
    IRIFormField,
    IRIReferenceField,
    IRIReferenceFormField,
    URIField,
    URIFormField,
    URIReferenceField,
    URIReferenceFormField,
    URIValidator,
)


class Page(models.Model):
    uri = URIField(max_length=80, unique=True, validators=[URIValidator(schemes=["http", "https", "urn"])])
    canonical = URIField(null=True, blank=True)
    link = URIReferenceField(blank=True, default="")
    shown = IRIField(null=True, blank=True)
    short = IRIReferenceField(max_length=20, null=True, blank=True)

    class Meta:
        app_label = "pages"


class PageForm(forms.ModelForm):  # type: ignore[type-arg]  # Django takes no argument
    class Meta:
        model = Page
        fields = ("uri", "canonical", "link", "shown", "short")


def _field(model: type[models.Model], name: str) -> Any:
    return model._meta.get_field(name)


@pytest.fixture
def table() -> Iterator[None]:
    with connection.schema_editor() as editor:
        editor.create_model(Page)
    yield
    with connection.schema_editor() as editor:
        editor.delete_model(Page)
    connection.close()


URIS = ["HTTP://Example.com:80/%7e?#", "urn:x:';drop%20table%20page;--", "http://h/?q=%00%25:b", "http://h/%25s%25%25"]


@pytest.mark.parametrize("text", URIS)
def test_a_stored_value_is_unchanged(table: None, text: str) -> None:
    Page(uri=URI(text), link="../g", shown=IRI("http://ü/"), short=IRIReference("é")).save()
    page = Page.objects.get(uri=text)
    assert (page.uri, page.link, page.shown) == (URI(text), URIReference("../g"), IRI("http://ü/"))
    assert [type(value) for value in (page.uri, page.link, page.shown, page.short)] == [
        URI, URIReference, IRI, IRIReference,
    ]  # fmt: skip
    assert page.canonical is None
    assert Page.objects.get(uri=URI(text)).pk == page.pk
    with connection.cursor() as cursor:
        cursor.execute("select uri, typeof(uri) from pages_page")
        assert cursor.fetchall() == [(text, "text")]


def test_lookups_accept_any_text(table: None) -> None:
    for text in ("https://a.example/x", "http://b.example/", "urn:a:b"):
        Page.objects.create(uri=text)
    assert [str(page.uri) for page in Page.objects.filter(uri__contains="example").order_by("uri")] == [
        "http://b.example/", "https://a.example/x",
    ]  # fmt: skip
    assert Page.objects.filter(uri__startswith="https:").count() == 1
    assert Page.objects.filter(uri__in=[URI("urn:a:b"), "no uri"]).count() == 1
    assert Page.objects.filter(uri="no uri").count() == 0
    sizes = Page.objects.annotate(size=Length("uri")).values_list("uri", "size").order_by("size")
    assert sizes[0] == (URI("urn:a:b"), 7)
    Page.objects.filter(uri="urn:a:b").update(uri=URI("urn:a:c"), canonical=models.F("uri"))
    assert Page.objects.get(canonical="urn:a:b").uri == URI("urn:a:c")


@pytest.mark.parametrize(
    "bad",
    [
        "no uri", "", "//h/", "http://h/a b", "http://h\x00/", "http://ü/", "\ud800", 5, b"a:",
        URI("http://[fe80::1%25a]/", zone=True),
    ],
)  # fmt: skip
def test_an_invalid_text_is_not_saved(table: None, bad: Any) -> None:
    saves: list[Callable[[], object]] = [
        lambda: Page(uri=bad).save(),
        lambda: Page.objects.bulk_create([Page(uri=bad)]),
        lambda: Page.objects.create(uri="a:", canonical=bad or " "),
    ]
    for save in saves:
        with pytest.raises(InvalidValue) as caught:
            save()
        assert isinstance(caught.value, ValidationError)
        assert isinstance(caught.value, OverthereError)
        assert isinstance(caught.value.__cause__, InvalidURI)
        assert caught.value.code == caught.value.__cause__.kind
    with pytest.raises(InvalidValue):
        Page.objects.update(uri=bad)
    assert Page.objects.count() == 0


def test_an_invalid_stored_text_is_reported(table: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("insert into pages_page (uri, link) values ('http://joe:Geheim7@h/a b', '')")
    with pytest.raises(InvalidValue, match="cannot contain a space") as caught:
        Page.objects.get()
    assert "Geheim7" not in f"{caught.value}{caught.value.params}{caught.value.__cause__}"


def test_a_model_is_validated(table: None) -> None:
    page = Page(uri="HTTP://h/", canonical="", link="")
    page.full_clean()
    assert page.uri == URI("HTTP://h/")
    page.save()
    assert (Page.objects.get().canonical, Page.objects.get().link) == (None, URIReference(""))
    with pytest.raises(ValidationError) as caught:
        Page(uri="ftp://joe:Geheim7@h/", canonical="http://joe:Geheim7@h:8o/", short="é" * 21, shown=" ").full_clean()
    messages = caught.value.error_dict
    assert {name: [error.code for error in errors] for name, errors in messages.items()} == {
        "uri": ["scheme"], "canonical": ["port-char"], "short": ["max_length"], "shown": ["scheme-missing"],
    }  # fmt: skip
    assert (messages["canonical"][0].params or {})["start"] == 22
    assert caught.value.message_dict["uri"] == [
        "the scheme ftp is not allowed; expected http, https, urn (RFC 3986 3.1)"
    ]
    assert "Geheim7" not in str(caught.value)
    with pytest.raises(ValidationError) as caught:
        Page(uri="HTTP://h/").full_clean()
    assert caught.value.error_dict["uri"][0].code == "unique"
    with pytest.raises(ValidationError) as caught:
        Page(uri="").full_clean()
    assert caught.value.error_dict["uri"][0].code == "blank"


def test_a_model_form(table: None) -> None:
    form = PageForm({"uri": " http://h/ ", "link": "", "shown": "http://ü/"})
    assert form.is_valid(), form.errors
    assert form.cleaned_data == {
        "uri": URI("http://h/"), "canonical": None, "link": URIReference(""), "shown": IRI("http://ü/"), "short": None,
    }  # fmt: skip
    page = form.save()
    assert type(Page.objects.get().uri) is URI
    html = str(PageForm(instance=page)["uri"])
    assert 'type="url"' in html
    assert 'value="http://h/"' in html
    assert 'maxlength="80"' in html
    assert 'type="text"' in str(PageForm(instance=page)["link"])
    same = {"uri": "http://h/", "shown": "http://ü/"}
    assert not PageForm(same, instance=Page.objects.get()).has_changed()
    form = PageForm({"uri": "http://h/a b", "canonical": "x"})
    assert not form.is_valid()
    assert json.loads(form.errors.as_json())["uri"] == [
        {"message": str(check("http://h/a b")[0]), "code": "space"},
    ]  # fmt: skip


def test_forms() -> None:
    class Form(forms.Form):
        uri = URIFormField(max_length=20, schemes=None)
        link = URIReferenceFormField(required=False)
        shown = IRIFormField(required=False)
        more = IRIReferenceFormField(required=False, empty_value="")

    form = Form({"uri": "a:b", "link": "../x", "shown": "http://ü/", "more": "é"})
    assert form.is_valid()
    assert [type(value) for value in form.cleaned_data.values()] == [URI, URIReference, IRI, IRIReference]
    form = Form({})
    assert form.errors.as_data()["uri"][0].code == "required"
    assert URIReferenceFormField(empty_value=URIReference(""), required=False).clean(" ") == URIReference("")
    with pytest.raises(ValidationError, match="required"):
        URIReferenceFormField(empty_value=URIReference("")).clean("")
    with pytest.raises(ValidationError, match="blank"):
        URIReferenceField().clean("", None)
    assert form.cleaned_data == {"link": None, "shown": None, "more": ""}
    for bad, code in (("http://h/" + "a" * 20, "max_length"), ("//h", "scheme-missing"), ("a:\x00b", "control")):
        assert [error.code for error in Form({"uri": bad}).errors.as_data()["uri"]] == [code]


def test_the_validator() -> None:
    URIValidator()("a:b")
    URIValidator()(URI("a:b"))
    URIValidator(URIReference)("../x")
    URIValidator(schemes=["HTTP"])("http://h/")
    for validator, bad, code in (
        (URIValidator(), "../x", "scheme-missing"), (URIValidator(), "", "scheme-missing"),
        (URIValidator(schemes=["http"]), "a:b", "scheme"), (URIValidator(URIReference, ["http"]), "x", "scheme"),
    ):  # fmt: skip
        with pytest.raises(InvalidValue) as caught:
            validator(bad)
        assert caught.value.code == code
    with pytest.raises(TypeError):
        URIValidator(schemes="http")
    assert URIValidator(schemes=["b", "a"]) == URIValidator(schemes=["a", "b"]) != URIValidator()
    assert len({URIValidator(schemes=["b", "a"]), URIValidator(schemes=["a", "b"])}) == 1


def test_migrations_and_fixtures(table: None) -> None:
    field = _field(Page, "uri")
    name, path, arguments, options = field.deconstruct()
    assert (name, path, arguments) == ("uri", "overthere.integrations.django.URIField", [])
    text, imports = MigrationWriter.serialize(field)
    assert "import overthere.integrations.django" in imports
    migrated = eval(text, {"overthere": overthere})  # like a migration
    assert migrated.deconstruct()[1:] == field.deconstruct()[1:]
    assert options["validators"] == [URIValidator(schemes=["http", "https", "urn"])]
    rebuilt = URIField(*arguments, **options)
    assert [type(one).__name__ for one in rebuilt.validators] == [type(one).__name__ for one in field.validators]
    Page(uri="http://h/", shown=IRI("http://ü/")).save()
    output = serializers.serialize("json", Page.objects.all())
    assert json.loads(output)[0]["fields"] == {
        "uri": "http://h/", "canonical": None, "link": "", "shown": "http://ü/", "short": None,
    }  # fmt: skip
    assert field.to_python(json.loads(output)[0]["fields"]["uri"]) == URI("http://h/")


@pytest.mark.parametrize("kind", [str, URI])
def test_choices_are_texts_or_values(kind: Callable[[str], Any]) -> None:
    class Choice(models.Model):
        uri = URIField(choices=[(kind("http://a/"), "A"), ("group", [(kind("urn:b"), "B")])], default=kind("urn:b"))
        field = URIReferenceField(null=True, blank=True, choices=[(None, "-"), ("None", "N")])

        class Meta:
            app_label = f"choices_of_{kind.__name__}"

    choice = Choice()
    assert choice.get_uri_display() == "B"  # type: ignore[attr-defined]
    for text, label in (("http://a/", "A"), ("urn:b", "B")):
        choice.uri = text
        choice.full_clean()
        assert (choice.uri, choice.get_uri_display()) == (URI(text), label)  # type: ignore[attr-defined]
        assert dict(_field(Choice, "uri").flatchoices)[choice.uri] == label  # as the admin looks it up
    choice.uri = "http://other/"
    with pytest.raises(ValidationError) as caught:
        choice.full_clean()
    assert [error.code for error in caught.value.error_dict["uri"]] == ["invalid_choice"]
    assert choice.get_uri_display() == "http://other/"  # type: ignore[attr-defined]
    assert choice.get_field_display() == "-"  # type: ignore[attr-defined]
    choice.field = "None"
    assert choice.get_field_display() == "N"  # type: ignore[attr-defined]
    form = forms.modelform_factory(Choice, fields=["uri"])({"uri": "http://a/"})
    assert form.is_valid()
    assert form.instance.uri == URI("http://a/")
    for name in ("uri", "field"):
        field = _field(Choice, name)
        migrated = eval(MigrationWriter.serialize(field)[0], {"overthere": overthere})
        assert migrated.deconstruct()[1:] == field.deconstruct()[1:]


def test_a_default_is_written_into_a_migration() -> None:
    for field in (
        URIField(default=URI("http://a/")),
        IRIField(default=IRI("http://ü/")),
        URIReferenceField(default=URIReference("")),
    ):
        migrated = eval(MigrationWriter.serialize(field)[0], {"overthere": overthere})
        assert migrated.to_python(migrated.get_default()) == field.default


@pytest.mark.parametrize("kind", [str, URI])
def test_an_unchanged_form_is_unchanged(kind: Callable[[str], Any]) -> None:
    class LinkForm(forms.Form):
        uri = URIFormField(required=False)

    initial = {"uri": kind("http://a/")}
    assert LinkForm({"uri": " http://a/ "}, initial=initial).changed_data == []
    assert LinkForm({"uri": ""}).changed_data == []
    for text in ("http://b/", "", "a b"):
        assert LinkForm({"uri": text}, initial=initial).changed_data == ["uri"]


def test_columns_are_created() -> None:
    assert [_field(Page, name).db_type(connection) for name in ("uri", "canonical")] == ["varchar(80)", "text"]


def test_system_checks_report_errors() -> None:
    class Bad(models.Model):
        uri = URIField(blank=True)
        link = URIReferenceField(blank=True)

        class Meta:
            app_label = "pages"

    assert [error.id for error in _field(Bad, "uri").check()] == ["overthere.E001"]
    assert _field(Bad, "link").check() == []
    assert not [error for field in Page._meta.fields for error in field.check()]


SCRIPTS = [
    "javascript:alert(1)",
    "JAVASCRIPT:a",
    "vbscript:a",
    "data:text/html,a",
    "blob:https://h/a",
    "view-source:http://h/",
]


@pytest.mark.parametrize("field", [URIFormField, URIReferenceFormField, IRIFormField, IRIReferenceFormField])
def test_a_form_accepts_links(field: type[URIFormField]) -> None:
    for text in ("https://h/", "mailto:a@b", "tel:112", "ftp://h/a"):
        assert str(field().clean(text)) == text
    for text in [*SCRIPTS, "unknown:a"]:
        with pytest.raises(ValidationError) as caught:
            field().clean(text)
        assert [error.code for error in caught.value.error_list] == ["scheme"], text
        assert str(field(schemes=None).clean(text)) == text
    assert str(field(schemes=["unknown"]).clean("unknown:a")) == "unknown:a"
    with pytest.raises(ValidationError):
        field(schemes=["https"]).clean("http://h/")


def test_a_model_form_uses_the_schemes_of_its_validators() -> None:
    field = URIField(validators=[URIValidator(schemes=["urn"])]).formfield()
    assert str(field.clean("urn:a:b")) == "urn:a:b"
    with pytest.raises(ValidationError):
        URIField().formfield().clean("javascript:a()")
