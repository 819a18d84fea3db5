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
from overthere.ground.late_imports import default_registry
from overthere.ground.option_files import read_toml
from overthere.ground.rung import Rung
from overthere.kernel.reference import Parts, recompose, split
from overthere.values.uri import URI, URIReference

if TYPE_CHECKING:
    from overthere._native import CanonicalForm
    from overthere.iri import IRIReference

__all__ = ["Applied", "Canonical", "Step"]

_Plain = str | bool | tuple[str, ...]
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
    parameters: tuple[tuple[str, _Plain], ...]

    def __init__(self, name: str, /, **parameters: str | bool | Iterable[str]) -> None:
        kind = STEPS.get(name)
        if kind is None:
            raise ValueError(f"unknown step {name!r}; known: {', '.join(STEPS)}")
        given: dict[str, _Plain] = {}
        for key, value in parameters.items():
            if key not in kind.parameters:
                raise ValueError(f"the step {name!r} has no parameter {key!r}")
            given[key] = _check_parameter(name, key, kind.parameters[key], value)
        for key in kind.required:
            if key not in given:
                raise ValueError(f"the step {name!r} needs the parameter {key!r}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "parameters", tuple(sorted(given.items())))

    @property
    def does(self) -> str:
        """Its effect, in words."""
        return STEPS[self.name].does

    @property
    def breaks(self) -> str:
        """The resources that may become another one, or none."""
        return STEPS[self.name].breaks

    @property
    def source(self) -> str:
        """The document or convention that it comes from."""
        return STEPS[self.name].source

    def __call__(self, text: str) -> str:
        return compose(self.after(split(text)))

    def after(self, parts: Parts) -> Parts:
        """The components after the step, as its text is split again; the same object if nothing changes."""
        changed = STEPS[self.name].apply(parts, **dict(self.parameters))
        return parts if changed == parts else split(compose(changed))

    def __repr__(self) -> str:
        return f"Step({', '.join([repr(self.name), *(f'{k}={v!r}' for k, v in self.parameters)])})"


def _check_parameter(name: str, key: str, kind: type, value: object) -> _Plain:
    if kind is tuple and not isinstance(value, str) and isinstance(value, Iterable):
        listed = tuple(value)
        if all(isinstance(one, str) for one in listed):
            return listed
    elif isinstance(value, str | bool) and type(value) is kind:
        if isinstance(value, str) and value not in _CHOICES.get(key, (value,)):
            raise ValueError(f"{key} of the step {name!r} must be one of {', '.join(_CHOICES[key])}, not {value!r}")
        return value
    wanted = "a list of strings" if kind is tuple else f"of type {kind.__name__}"
    raise ValueError(f"{key} of the step {name!r} must be {wanted}, not {value!r}")


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
    if TYPE_CHECKING:  # no field: not compared, and not there before its first use
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
        """The canonical URI; of an IRI, that of the URI that it maps to (RFC 3987 3.1).

        Raises: InvalidURI if the text is no URI (`raw_uri` makes one of raw text).
        """
        return URI(self._canonical_text(uri, False))

    @property
    def compiled(self) -> CanonicalForm | None:
        """The steps in the native kernel; None without it, and where it does not know a step or a value of one."""
        if not hasattr(self, "_compiled"):
            object.__setattr__(self, "_compiled", _compile(self.steps, self.written_as))
        return self._compiled

    def _canonical_text(self, uri: URIReference | IRIReference | str, key: bool) -> str:
        """The canonical URI or its key, by the native kernel; by steps here what it leaves to Python."""
        uri = _to_uri(uri)
        done = None if self.compiled is None else self.compiled.apply(str(uri), key)
        if done is not None:
            return done
        parts = split(str(uri if isinstance(uri, URI) else URI(str(uri))))
        for step in self.steps:
            parts = step.after(parts)
        written = str(URI(recompose(parts)))
        return KEYS[self.written_as](written) if key and self.written_as else written

    def changes(self, uri: URIReference | IRIReference | str) -> list[Applied]:
        """Each step that changes something, with the text before and after.  Raises: InvalidURI."""
        uri = _to_uri(uri)
        text = str(uri if isinstance(uri, URI) else URI(str(uri)))
        found: list[Applied] = []
        for step in self.steps:
            after = step(text)
            if after != text:
                found.append(Applied(step, text, after))
            text = after
        return found

    def key(self, uri: URIReference | IRIReference | str) -> str:
        """The text to compare by: the URI's own, or the key of the form, which is not a URI.  Raises: InvalidURI."""
        return self._canonical_text(uri, True)

    def __add__(self, other: Canonical) -> Canonical:
        """These steps, and then those; the key is the other's, if it has one."""
        if not isinstance(other, Canonical):
            return NotImplemented
        return Canonical(*self.steps, *other.steps, key=other.written_as or self.written_as)

    @classmethod
    def from_toml(cls, text: str) -> Canonical:
        """A form as `to_toml` writes it.

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
        return cls(*(_step(one) for one in steps), key=key)

    def to_toml(self) -> str:
        """The form as TOML 1.0.

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
    """The URI of an IRI (RFC 3987 3.1); anything else as it is."""
    return uri if isinstance(uri, str | URIReference) else uri.to_uri()


def _compile(steps: tuple[Step, ...], key: str) -> CanonicalForm | None:
    if kernel.name != "native":
        return None
    from overthere._native import CanonicalForm

    asked = [(step.name, dict(step.parameters)) for step in steps]
    by_scheme = any(name in ("https", "drop-port") or given.get("rung") == "SCHEME" for name, given in asked)
    # URIs of other schemes are left to Python where a step goes by the scheme.
    known = filter(None, map(default_registry().get, ("http", "https", "ftp"))) if by_scheme else ()
    schemes = [(scheme.name, scheme.port, scheme.common_rules) for scheme in known]
    return CanonicalForm.compile(asked, key, schemes, (SINGLE, DOUBLE))


def _toml(value: _Plain) -> str:
    # What JSON writes of texts, booleans and lists of texts is TOML, but for DEL, which TOML escapes.
    return json.dumps(value).replace("\x7f", "\\u007f")


def _step(data: object) -> Step:
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise ValueError("a step must be a table with a name")
    return Step(data["name"], **{k: v for k, v in data.items() if k != "name"})
