"""Django: a validator, fields of forms, and fields of models whose values are URIs, stored as their text.

class Page(models.Model):
    uri = URIField(max_length=2048, validators=[URIValidator(schemes=["https"])])
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from overthere.ground.errors import InvalidURI, OverthereError
from overthere.ground.extras import brought_by
from overthere.ground.late_imports import default_registry
from overthere.iri import IRI, IRIReference
from overthere.values.uri import URI, URIReference

with brought_by("django"):
    from django import forms
    from django.core import checks
    from django.core.exceptions import ValidationError
    from django.core.validators import EMPTY_VALUES, MaxLengthValidator
    from django.db import models
    from django.utils.deconstruct import deconstructible
    from django.utils.encoding import force_str

__all__ = [
    "IRIField", "IRIFormField", "IRIReferenceField", "IRIReferenceFormField", "InvalidValue", "URIField",
    "URIFormField", "URIReferenceField", "URIReferenceFormField", "URIValidator",
]  # fmt: skip

if TYPE_CHECKING:
    _TextField = models.TextField[Any, Any]
else:
    _TextField = models.TextField

Kind = type[URIReference] | type[IRIReference]


class InvalidValue(OverthereError, ValidationError):
    """A text is invalid for a field: the `ValidationError` of Django, whose `code` is the kind of the finding.

    Its `params` are those of the finding, for custom messages; its cause is the InvalidURI.  Neither shows a
    password.
    """


def _with_texts(option: Any) -> Any:
    """Return an option of a field with the texts of its values, also those in choices."""
    if isinstance(option, (list, tuple)):
        return type(option)(map(_with_texts, option))
    return str(option) if isinstance(option, (URIReference, IRIReference)) else option


def _value(kind: Kind, value: object) -> Any:
    """Return the value of a text.  Raises: InvalidValue; also for a value with a zone, whose text is not read again."""
    if isinstance(value, kind) and value.zone is None:
        return value
    try:
        return kind(str(value))
    except InvalidURI as error:
        params = {**error.finding._asdict(), "finding": str(error)}
        raise InvalidValue("%(finding)s", error.kind, params) from error


@deconstructible
class URIValidator:
    """Validates a text, or a value: `models.CharField(validators=[URIValidator(schemes=["https"])])`.

    kind: URI, URIReference, IRI or IRIReference.
    schemes: the allowed schemes, without case (RFC 3986 3.1); "links": those that a page links to (`Scheme.linkable`),
    or a reference without a scheme; None: any.
    Raises: InvalidValue.
    """

    def __init__(self, kind: Kind = URI, schemes: Collection[str] | Literal["links"] | None = None) -> None:
        if isinstance(schemes, str) and schemes != "links":
            raise TypeError("schemes takes a collection, not one text")
        self.kind: Kind = kind
        self.of_links: bool = schemes == "links"
        names = None if schemes is None or isinstance(schemes, str) else schemes
        self.schemes: list[str] | None = None if names is None else sorted(scheme.lower() for scheme in names)

    def __call__(self, value: object) -> None:
        scheme = _value(self.kind, value).scheme
        if self.of_links and scheme is not None:
            scheme_info = default_registry().get(scheme)
            if scheme_info is None or not scheme_info.linkable:
                message = "the scheme %(scheme)s is not one of links; name it in schemes=... (RFC 3986 3.1)"
                raise InvalidValue(message, "scheme", {"scheme": scheme})
        if self.schemes is not None and (scheme or "").lower() not in self.schemes:
            params = {"scheme": scheme, "schemes": ", ".join(self.schemes)}
            message = "there is no scheme" if scheme is None else "the scheme %(scheme)s is not allowed"
            raise InvalidValue(f"{message}; expected %(schemes)s (RFC 3986 3.1)", "scheme", params)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, URIValidator) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Kind, bool, tuple[str, ...] | None]:
        return self.kind, self.of_links, None if self.schemes is None else tuple(self.schemes)


class _ValueField:
    """Validates fields of forms and of models: validators, Django's and others, receive the text of a value."""

    kind: ClassVar[Kind] = URI
    empty_values: Any = (*EMPTY_VALUES, URIReference(""), IRIReference(""))

    def run_validators(self, value: Any) -> None:
        text = str(value) if isinstance(value, (URIReference, IRIReference)) else value
        super().run_validators(text)  # type: ignore[misc]  # that of Django's field


class URIFormField(_ValueField, forms.CharField):
    """A field of a form whose value is a URI; None, or `empty_value`, if it is left empty.

    schemes: as for `URIValidator`; by default those of links, so that `javascript:` is rejected.
    """

    widget: Any = forms.URLInput

    def __init__(
        self, *, schemes: Collection[str] | Literal["links"] | None = "links", empty_value: Any = None, **options: Any
    ) -> None:
        super().__init__(empty_value=empty_value, **options)
        self.validators.append(URIValidator(self.kind, schemes))

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return text if text is self.empty_value else _value(self.kind, text)

    def _coerce(self, value: Any) -> Any:
        """Return the value to compare in `has_changed`: initial data may be a text."""
        return self.to_python(value)


class URIReferenceFormField(URIFormField):
    """A field of a form whose value is a URI-reference."""

    kind: ClassVar[Kind] = URIReference
    widget: Any = forms.TextInput


class IRIFormField(URIFormField):
    """A field of a form whose value is an IRI."""

    kind: ClassVar[Kind] = IRI


class IRIReferenceFormField(URIFormField):
    """A field of a form whose value is an IRI-reference."""

    kind: ClassVar[Kind] = IRIReference
    widget: Any = forms.TextInput


class URIField(_ValueField, _TextField):
    """A field of a model whose value is a URI.

    max_length: the most characters of a VARCHAR; None: a TEXT.
    An assigned text becomes a value when the model is validated or read; it is checked when it is saved.
    Look-ups accept any text: `filter(uri__startswith="https://")`.  `blank=True` requires `null=True`: an empty text is
    not a URI.
    Raises: InvalidValue for a text that is invalid, also for a stored one.
    """

    form_field: ClassVar[type[URIFormField]] = URIFormField
    description: Any = "A URI"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self.max_length is not None:
            limit = MaxLengthValidator(self.max_length)
            self.validators.append(limit)  # pyright: ignore[reportAttributeAccessIssue]  # a cached_property

    def get_internal_type(self) -> Any:
        return "TextField" if self.max_length is None else "CharField"

    def check(self, **options: Any) -> list[Any]:
        errors = super().check(**options)
        if self.blank and not self.null and self._empty == "":
            hint = "Set null=True, or blank=False."
            errors.append(checks.Error("An empty text is not a URI.", hint=hint, obj=self, id="overthere.E001"))
        return errors

    def deconstruct(self) -> Any:
        """Return texts instead of values, which Django cannot write into a migration."""
        name, path, arguments, options = super().deconstruct()
        return name, path, arguments, {option: _with_texts(value) for option, value in options.items()}

    def contribute_to_class(self, cls: type[models.Model], name: str, *arguments: Any, **options: Any) -> None:
        """Add the field to a model, and a `get_NAME_display` that finds choices which are texts."""

        def label(instance: models.Model) -> Any:
            value = getattr(instance, name)
            labels = {self.get_prep_value(choice): choice_label for choice, choice_label in self.flatchoices}
            return force_str(labels.get(self.get_prep_value(value), value), strings_only=True)

        if self.choices is not None and f"get_{name}_display" not in cls.__dict__:
            setattr(cls, f"get_{name}_display", label)
        super().contribute_to_class(cls, name, *arguments, **options)

    @property
    def flatchoices(self) -> Any:
        """The choices without groups, as values: they may be written as texts."""
        return [(self.to_python(choice), label) for choice, label in super().flatchoices]

    def validate(self, value: Any, model_instance: models.Model | None) -> None:
        """Accept a choice, also one that is written as a text.  Raises: ValidationError for what Django rejects."""
        if value in self.empty_values or value not in dict(self.flatchoices):
            super().validate(value, model_instance)

    @property
    def _empty(self) -> Any:
        """The value of an empty text."""
        return "" if issubclass(self.kind, (URI, IRI)) else self.kind("")

    def to_python(self, value: Any) -> Any:
        # Whether the field may be blank is checked later.
        return value if value is None else self._empty if value == "" else _value(self.kind, value)

    def from_db_value(self, value: str | None, expression: object, connection: object) -> Any:
        return None if value is None else _value(self.kind, value)

    def get_prep_value(self, value: Any) -> str | None:
        value = models.Field.get_prep_value(self, value)
        return None if value is None else str(value)

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        if value == self._empty == "" and self.null:
            value = None
        elif value is not None and not hasattr(value, "as_sql"):
            value = _value(self.kind, value)
        return super().get_db_prep_save(value, connection)

    def formfield(self, **options: Any) -> Any:
        empty_value = None if self.null else self._empty
        defaults = {"form_class": self.form_field, "empty_value": empty_value, "widget": self.form_field.widget}
        if any(isinstance(rule, URIValidator) and (rule.schemes or rule.of_links) for rule in self.validators):
            defaults["schemes"] = None  # the model's own validators check schemes
        return super().formfield(**({} if self.choices is not None else defaults) | options)


class URIReferenceField(URIField):
    """A field of a model whose value is a URI-reference."""

    kind: ClassVar[Kind] = URIReference
    form_field: ClassVar[type[URIFormField]] = URIReferenceFormField
    description: Any = "A URI-reference"


class IRIField(URIField):
    """A field of a model whose value is an IRI."""

    kind: ClassVar[Kind] = IRI
    form_field: ClassVar[type[URIFormField]] = IRIFormField
    description: Any = "An IRI"


class IRIReferenceField(URIField):
    """A field of a model whose value is an IRI-reference."""

    kind: ClassVar[Kind] = IRIReference
    form_field: ClassVar[type[URIFormField]] = IRIReferenceFormField
    description: Any = "An IRI-reference"
