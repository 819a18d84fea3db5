"""The table of column operations, from which the engines' methods, SQL, `--column` and the reference page are made.

A row names a function of `overthere.columns`, which provides the arguments and the documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import Parameter, Signature, signature
from typing import Any, Literal, NamedTuple

COMPONENTS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
"""The components that `split` and `parse` can return; each is also a function of SQL and of the integrations."""

Result = Literal["text", "boolean", "number", "components", "checked components", "host name"]
"""The types of result rows; the last three are structs, with the fields of `fields`."""


class SQL(NamedTuple):
    """A function of SQL."""

    name: str
    arguments: tuple[str, ...] = ()
    """The text columns after the first one."""
    least: int = -1
    """The number of required arguments; -1: all of them."""
    repeats: bool = False
    """Whether the last argument may be repeated."""
    values: Callable[..., Mapping[str, Any]] | None = None
    """Function from one value of each argument to the arguments of the column function; None: the same names."""
    constants: Mapping[str, Any] = {}


class Operation(NamedTuple):
    """One column operation."""

    name: str
    """The function of `overthere.columns`, and the method of an engine."""
    sql: tuple[SQL, ...] = ()
    result: Result = "text"
    bad: str = "null"
    """The result for an invalid row, unless `errors` changes it."""
    label: str = ""
    """The suffix of the new column that `--column NAME` adds: NAME_label."""
    columns: tuple[str, ...] = ()
    """Arguments that may be a column, with a value for each row."""
    is_repairable: bool = False
    """Whether it accepts URI-references, so that `errors="repair"` is allowed."""

    def fields(self, components: tuple[str, ...]) -> dict[str, str]:
        """Return the fields of the result struct and their types, "string", "boolean" or "int"."""
        errors = {"error": "string", "error_at": "int"}
        if self.result == "host name":
            return {"valid": "boolean", **errors}
        return dict.fromkeys(components, "string") | (errors if self.result == "checked components" else {})


def _pair(name: str, value: str) -> dict[str, Any]:
    return {"pairs": [(name, value)]}


def _form(form: str) -> dict[str, Any]:
    """The arguments for a form by its name: its key is returned if it has one."""
    from overthere.canonical import FORMS

    if form not in FORMS:
        raise ValueError(f"uri_canonical needs a form, one of {', '.join(FORMS)}; not {form!r}")
    return {"form": FORMS[form], "key": bool(FORMS[form].written_as)}


_ROWS = (
    Operation("check", (SQL("uri_check"), SQL("uri_check_scheme", constants={"scheme": True})), "boolean", "false"),
    Operation("check_host_name", (), "host name", "false, with the reason"),
    Operation("split", (), "components", "split without a check"),
    Operation("parse", (), "checked components", "null, with the reason"),
    Operation("public_suffix", (SQL("uri_public_suffix"),)),
    Operation("registrable_domain", (SQL("uri_registrable_domain"),)),
    Operation("subdomain", (SQL("uri_subdomain"),)),
    Operation("normalize", (SQL("uri_normalize"),), label="normal", is_repairable=True),
    Operation("resolve", (SQL("uri_resolve", ("base",)),), label="target", columns=("base",), is_repairable=True),
    Operation("relate", (SQL("uri_relate", ("base",)),), label="reference", columns=("base",)),
    Operation("equivalent", (), "boolean", columns=("b",)),
    Operation("lowest_rung", (), "number", columns=("b",)),
    Operation("repair", (SQL("uri_repair"),), label="repaired"),
    Operation("canonicalize", (SQL("uri_canonical", ("form",), values=_form),), label="canonical"),
    Operation("parameter", (SQL("uri_parameter", ("name",)),), label="parameter", is_repairable=True),
    Operation("with_parameters", (SQL("uri_with_parameter", ("name", "value"), values=_pair),), is_repairable=True),
    Operation("add_parameters", (SQL("uri_add_parameter", ("name", "value"), values=_pair),), is_repairable=True),
    Operation(
        "without_parameters", (SQL("uri_without_parameters", ("names",), least=0, repeats=True),), is_repairable=True
    ),
    Operation("sort_parameters", (SQL("uri_sort_parameters"),), is_repairable=True),
    Operation("to_uri", (SQL("iri_to_uri"),)),
    Operation("to_iri", (SQL("uri_to_iri"),), is_repairable=True),
    Operation("encode", (SQL("uri_encode", ("component", "keep"), least=0),), bad="never", label="encoded"),
    Operation("decode", (SQL("uri_decode"),), label="decoded"),
)
OPERATIONS: dict[str, Operation] = {row.name: row for row in _ROWS}

_NOT_IN_FACES = frozenset(("threads", "views", "errors"))
"""Arguments that an engine does not offer: it always uses all threads, and a bad row is null."""


def function_of(name: str) -> Callable[..., Any]:
    """Return the function of `overthere.columns` with this name."""
    from overthere import columns

    return getattr(columns, name)  # type: ignore[no-any-return]


@cache
def face_signature(name: str) -> Signature:
    """Return the signature of an engine's method, without `self` and the column."""
    _, *parameters = signature(function_of(name)).parameters.values()
    return Signature([parameter for parameter in parameters if parameter.name not in _NOT_IN_FACES])


class Call:
    """An operation with its arguments, to be applied to columns; it can be sent to worker processes.

    Raises: TypeError for arguments that the operation does not take.
    """

    def __init__(
        self, name: str, arguments: tuple[Any, ...], named: Mapping[str, Any], one_thread: bool = False
    ) -> None:
        self.operation: Operation = OPERATIONS[name]
        bound = face_signature(name).bind(*arguments, **named)
        bound.apply_defaults()
        if "pairs" in bound.arguments:  # an iterator could be used for one batch only
            from overthere.values.form_pairs import reread

            bound.arguments["pairs"] = reread(bound.arguments["pairs"])
        values = bound.arguments
        self._columns = [each for each in self.operation.columns if not _is_value(values[each])]
        self.others: list[Any] = [values.pop(each) for each in self._columns]
        """The arguments that are columns; a worker process receives them with its rows."""
        self.fields: dict[str, str] = self.operation.fields(tuple(values.get("components", ())))
        """The fields of the result and their types, if it is a struct."""
        self._arguments, self._named = bound.args, bound.kwargs
        if one_thread and "threads" in signature(function_of(name)).parameters:
            self._named["threads"] = 1

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "others": []}

    def __call__(self, column: Any, *others: Any) -> Any:
        """Apply the operation to a column; `others` replace `self.others`."""
        named = dict(zip(self._columns, others, strict=True))
        return function_of(self.operation.name)(column, *self._arguments, **self._named, **named)


def _is_value(argument: Any) -> bool:
    """Whether an argument is a single value for all rows, not a column."""
    from overthere.iri import IRI
    from overthere.values.uri import URI

    return isinstance(argument, str | URI | IRI)


def face_method(name: str, apply: Callable[[Any, Call], Any], one_thread: bool = False) -> Callable[..., Any]:
    """Make an engine's method for an operation: it calls `apply` with the engine's object and the call."""

    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        return apply(self, Call(name, arguments, named, one_thread))

    method.__name__ = name
    method.__doc__ = function_of(name).__doc__
    self_parameter = Parameter("self", Parameter.POSITIONAL_ONLY)
    method.__signature__ = Signature([self_parameter, *face_signature(name).parameters.values()])  # type: ignore[attr-defined]
    return method
