"""Canonical forms as values: ordered steps applied to URIs, read from TOML and written to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere import kernel
from overthere.canonical.rewriting import compose
from overthere.canonical.sessions import DOUBLE, SINGLE
from overthere.canonical.table import STEPS
from overthere.canonical.texts import KEYS
from overthere.ground.exact import exact
from overthere.ground.late_imports import default_registry
from overthere.ground.option_files import read_toml
from overthere.ground.rung import Rung
from overthere.iri import IRIReference
from overthere.kernel.reference import Parts, recompose, split
from overthere.values.uri import URI, URIReference

if TYPE_CHECKING:
    from overthere._native import CanonicalForm

_Value = str | bool | tuple[str, ...]
_CHOICES = {
    "rung": tuple(rung.name for rung in Rung if rung != Rung.PROTOCOL),
    "only": ("default", "empty", "any", "web"),
    "by": ("name", "pair"),
}


class Applied(NamedTuple):
    """The change of one step."""

    step: Step
    before: str
    after: str

    def __repr__(self) -> str:
        from overthere.ground.redact import mask

        return f"<{self.step.name}: {mask(self.before)!r} to {mask(self.after)!r}>"


@dataclass(frozen=True, slots=True, init=False)
class Step:
    """One step: a name of `STEPS`, and its parameters.

    Raises: ValueError for an unknown name, parameter or value.

    >>> Step("drop-parameters", names=["utm_*"]).breaks
    'pages that depend on one of them'
    """

    name: str
    parameters: tuple[tuple[str, _Value], ...]

    def __init__(self, name: str, /, **parameters: str | bool | Iterable[str]) -> None:
        kind = STEPS.get(name)
        if kind is None:
            raise ValueError(f"unknown step {name!r}; known: {', '.join(STEPS)}")
        checked: dict[str, _Value] = {}
        for key, value in parameters.items():
            if key not in kind.parameters:
                raise ValueError(f"the step {name!r} has no parameter {key!r}")
            checked[key] = _check_parameter(name, key, kind.parameters[key], value)
        for key in kind.required:
            if key not in checked:
                raise ValueError(f"the step {name!r} needs the parameter {key!r}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "parameters", tuple(sorted(checked.items())))

    @property
    def does(self) -> str:
        """Its effect, in words."""
        return STEPS[self.name].does

    @property
    def breaks(self) -> str:
        """The resources whose canonical URI may lead to another resource, or to none."""
        return STEPS[self.name].breaks

    @property
    def source(self) -> str:
        """The document or convention that defines it."""
        return STEPS[self.name].source

    def __call__(self, text: str) -> str:
        return compose(self.after(split(text)))

    def after(self, parts: Parts) -> Parts:
        """Return the components after the step, split from its text again; the same object if nothing changes."""
        changed = STEPS[self.name].apply(parts, **dict(self.parameters))
        return parts if changed == parts else split(compose(changed))

    def __repr__(self) -> str:
        return f"Step({', '.join([repr(self.name), *(f'{k}={v!r}' for k, v in self.parameters)])})"


def _check_parameter(name: str, key: str, kind: type, value: object) -> _Value:
    if kind is tuple and not isinstance(value, str) and isinstance(value, Iterable):
        items = tuple(value)
        if all(isinstance(item, str) for item in items):
            return items
    elif isinstance(value, str | bool) and type(value) is kind:
        if isinstance(value, str) and value not in _CHOICES.get(key, (value,)):
            raise ValueError(f"{key} of the step {name!r} must be one of {', '.join(_CHOICES[key])}, not {value!r}")
        return value
    expected = "a list of strings" if kind is tuple else f"of type {kind.__name__}"
    raise ValueError(f"{key} of the step {name!r} must be {expected}, not {value!r}")


@dataclass(frozen=True, init=False)
class Canonical:
    """A sequence of steps; calling it on a URI or its text gives the canonical URI.

    steps: applied in their order.
    key: the form of the text that `key()` returns, if it is not a URI ("surt", "safe-browsing"); "" if the key is the
    URI's text.

    Raises: ValueError for an unknown key; TypeError for anything but steps.

    >>> form = Canonical(Step("drop-fragment")) + Canonical(Step("sort-parameters"))
    >>> str(form("http://h/?b&a#f")), [one.step.name for one in form.changes("http://h/?b&a")]
    ('http://h/?a&b', ['sort-parameters'])
    """

    __slots__ = ("_compiled", "steps", "written_as")
    steps: tuple[Step, ...]
    written_as: str
    if TYPE_CHECKING:  # not a dataclass field: it is not compared, and does not exist before its first use
        _compiled: CanonicalForm | None

    def __init__(self, *steps: Step, key: str = "") -> None:
        for step in steps:
            if not isinstance(step, Step):
                raise TypeError(f"a canonical form must consist of steps, not of {type(step).__name__}")
        if key and key not in KEYS:
            raise ValueError(f"unknown key {key!r}; known: {', '.join(KEYS)}")
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "written_as", key)

    def __call__(self, uri: URIReference | IRIReference | str) -> URI:
        """Return the canonical URI; for an IRI, that of the URI it maps to (RFC 3987 3.1).

        Raises: InvalidURI if the text is not a valid URI (`raw_uri` makes one of raw text).
        """
        return URI(self._canonical_text(uri, False))

    @property
    def compiled(self) -> CanonicalForm | None:
        """The steps compiled for the native kernel; None without it, or if it does not support a step or a value."""
        if not hasattr(self, "_compiled"):
            object.__setattr__(self, "_compiled", _compile(self.steps, self.written_as))
        return self._compiled

    def _canonical_text(self, uri: URIReference | IRIReference | str, key: bool) -> str:
        """Return the canonical URI or its key, from the native kernel, or by steps in Python if it has no answer."""
        uri = _to_uri(uri)
        text = None if self.compiled is None else self.compiled.apply(str(uri), key)
        if text is not None:
            return text
        parts = split(str(uri if isinstance(uri, URI) else URI(str(uri))))
        for step in self.steps:
            parts = step.after(parts)
        canonical = str(URI(recompose(parts)))
        return KEYS[self.written_as](canonical) if key and self.written_as else canonical

    def changes(self, uri: URIReference | IRIReference | str) -> list[Applied]:
        """Return each step that changes something, with the text before and after.  Raises: InvalidURI."""
        uri = _to_uri(uri)
        text = str(uri if isinstance(uri, URI) else URI(str(uri)))
        changes: list[Applied] = []
        for step in self.steps:
            after = step(text)
            if after != text:
                changes.append(Applied(step, text, after))
            text = after
        return changes

    def key(self, uri: URIReference | IRIReference | str) -> str:
        """Return the text to compare: the canonical URI, or the form's key, which is not a URI.  Raises: InvalidURI."""
        return self._canonical_text(uri, True)

    def __add__(self, other: Canonical) -> Canonical:
        """Return a form with the steps of both; its key is the other's, if the other has one."""
        if not isinstance(other, Canonical):
            return NotImplemented
        return Canonical(*self.steps, *other.steps, key=other.written_as or self.written_as)

    @classmethod
    def from_toml(cls, text: str) -> Canonical:
        """Read a form as `to_toml` writes it.

        Raises: ValueError for invalid TOML or an invalid form.

        >>> Canonical.from_toml('[[step]]\\nname = "drop-fragment"\\n')
        Canonical(Step('drop-fragment'))
        """
        data = read_toml(text)
        if extra := set(data) - {"key", "step"}:
            raise ValueError(
                f"a canonical form has only the keys key and step, not {', '.join(map(repr, sorted(extra)))}"
            )
        steps = data.get("step", [])
        if not isinstance(steps, list):
            raise ValueError("step must be an array of tables: [[step]]")
        key = data.get("key", "")
        if not isinstance(key, str):
            raise ValueError(f"key must be text, not {type(key).__name__}")
        return cls(*(_step_from_toml(item) for item in steps), key=key)

    def to_toml(self) -> str:
        """Write the form as TOML 1.0.

        >>> print(Canonical(Step("drop-parameters", names=["a"])).to_toml(), end="")
        [[step]]
        name = "drop-parameters"
        names = ["a"]
        """
        blocks = [f"key = {_toml(self.written_as)}\n"] if self.written_as else []
        for step in self.steps:
            lines = ["[[step]]", f"name = {_toml(step.name)}", *(f"{k} = {_toml(v)}" for k, v in step.parameters)]
            blocks.append("\n".join(lines) + "\n")
        return "\n".join(blocks)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Canonical, key=self.written_as), self.steps

    def __repr__(self) -> str:
        key = [f"key={self.written_as!r}"] if self.written_as else []
        return f"Canonical({', '.join([*map(repr, self.steps), *key])})"


def _to_uri(uri: URIReference | IRIReference | str) -> URIReference | str:
    """Convert an IRI to a URI (RFC 3987 3.1); return text as it is.  Raises: TypeError for anything else."""
    if isinstance(uri, IRIReference):
        return uri.to_uri()
    return uri if isinstance(uri, URIReference) else exact(uri, "a canonical form")


def _compile(steps: tuple[Step, ...], key: str) -> CanonicalForm | None:
    if kernel.name != "native":
        return None
    from overthere._native import CanonicalForm

    named_steps = [(step.name, dict(step.parameters)) for step in steps]
    by_scheme = any(name in ("https", "drop-port") or params.get("rung") == "SCHEME" for name, params in named_steps)
    # Where a step depends on the scheme, Python handles the URIs of schemes not listed here.
    registered = filter(None, map(default_registry().get, ("http", "https", "ftp"))) if by_scheme else ()
    schemes = [(scheme.name, scheme.port, scheme.common_rules) for scheme in registered]
    return CanonicalForm.compile(named_steps, key, schemes, (SINGLE, DOUBLE))


def _toml(value: _Value) -> str:
    # Strings, booleans and lists of strings are the same in JSON and TOML, except DEL, which TOML escapes.
    return json.dumps(value).replace("\x7f", "\\u007f")


def _step_from_toml(data: object) -> Step:
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise ValueError("a step must be a table with a name")
    return Step(data["name"], **{k: v for k, v in data.items() if k != "name"})
