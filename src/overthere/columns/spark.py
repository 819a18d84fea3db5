"""The Spark face: the column functions as Arrow UDFs of Spark 4.1 and later, for frames and for SQL.

from overthere.columns import spark
frame.select(spark.host("url"), spark.normalize(F.col("url")), spark.parse("url").alias("parts"))
spark.register(session)  # uri_check(t), uri_host(t), uri_resolve(t, base) and so on, as in DuckDB

A column is a Column or its name.  The executors need overthere too; a task works on one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from overthere import columns
from overthere.columns.plain import SQL, changed, compute, taken, told
from overthere.ground.extras import brought_by
from overthere.values.form_pairs import flat
from overthere.values.normalize import Rung

with brought_by("spark"):
    import pyarrow as pa
    from pyspark.sql import Column, SparkSession

try:
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]
except ImportError as _cause:
    raise ImportError("overthere.columns.spark needs Spark 4.1 or later: pip install 'overthere[spark]'") from _cause

if TYPE_CHECKING:
    from overthere.canonical import Canonical
    from overthere.values.forms import Pairs
    from overthere.values.uri import URI

__all__ = [
    "add_parameters",
    "authority",
    "canonicalize",
    "check",
    "decode",
    "encode",
    "fragment",
    "host",
    "normalize",
    "parameter",
    "parse",
    "path",
    "port",
    "public_suffix",
    "query",
    "register",
    "registrable_domain",
    "relate",
    "repair",
    "resolve",
    "scheme",
    "sort_parameters",
    "split",
    "subdomain",
    "to_iri",
    "to_uri",
    "userinfo",
    "with_parameters",
    "without_parameters",
]

_COMPONENTS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
_PARTS = ("subdomain", "registrable_domain", "public_suffix")


def _udf(name: str, kind: str = "string", arguments: int = 1, **how: object) -> Callable[..., Column]:
    """The column function, or the component, of that name; Spark casts what it gives to `kind`."""

    def work(*batch: pa.Array) -> pa.Array:
        if name in _COMPONENTS:
            return compute().struct_field(taken(columns.split(batch[0], [name], threads=1)), name)
        if name == "encode" and len(batch) > 1:  # in SQL: uri_encode(t, component, keep)
            said: dict[str, Any] = told(*batch[1:])
            return taken(columns.encode(batch[0], threads=1, **said))
        return taken(getattr(columns, name)(*batch, threads=1, **how))

    work(*[pa.array([], pa.string())] * arguments)  # a wrong argument is refused here, not by an executor
    return _made(name, work, kind)


def _made(name: str, work: Callable[..., Any], kind: str = "string") -> Callable[..., Column]:
    def made(*batch: pa.Array) -> pa.Array:
        return taken(work(*batch))

    made.__name__ = name
    make: Any = arrow_udf  # its stubs want the kind of UDF too, which the annotations of `work` say
    return make(made, kind)  # type: ignore[no-any-return]


def _component(name: str) -> Callable[[Column | str], Column]:
    def component(column: Column | str) -> Column:
        return _udf(name)(column)

    component.__name__ = name
    component.__doc__ = f"The {name} of each row as `split` cuts it."
    return component


scheme: Callable[[Column | str], Column] = _component("scheme")
authority: Callable[[Column | str], Column] = _component("authority")
userinfo: Callable[[Column | str], Column] = _component("userinfo")
host: Callable[[Column | str], Column] = _component("host")
port: Callable[[Column | str], Column] = _component("port")
path: Callable[[Column | str], Column] = _component("path")
query: Callable[[Column | str], Column] = _component("query")
fragment: Callable[[Column | str], Column] = _component("fragment")


def check(column: Column | str, rule: str = "URI", *, scheme: bool = False) -> Column:
    """Whether each row is a URI or URI-reference; with `scheme`, one of its own scheme too."""
    return _udf("check", "boolean", rule=rule, scheme=scheme)(column)


def split(column: Column | str, components: Sequence[str] = columns.SIX) -> Column:
    """The components of each row, unchecked, as a struct."""
    return _udf("split", _struct(components), components=components)(column)


def parse(column: Column | str, components: Sequence[str] = columns.SIX, rule: str = "URI") -> Column:
    """The components of each row, checked, with `error` and `error_at`, as a struct."""
    kind = f"{_struct(components)}, error string, error_at int"
    return _udf("parse", kind, components=components, rule=rule)(column)


def public_suffix(column: Column | str, *, private: bool = True) -> Column:
    """The public suffix of each row's host."""
    return _udf("public_suffix", private=private)(column)


def registrable_domain(column: Column | str, *, private: bool = True) -> Column:
    """The registrable domain of each row's host."""
    return _udf("registrable_domain", private=private)(column)


def subdomain(column: Column | str, *, private: bool = True) -> Column:
    """What stands before the registrable domain of each row's host."""
    return _udf("subdomain", private=private)(column)


def normalize(column: Column | str, rung: Rung = Rung.SYNTAX) -> Column:
    """The normal form of each row."""
    return _udf("normalize", rung=rung)(column)


def resolve(column: Column | str, base: Column | URI | str, *, strict: bool = True) -> Column:
    """The target of each row against a base: a text is the base of all rows, a Column holds the base of each."""
    if isinstance(base, Column):
        return _udf("resolve", arguments=2, strict=strict)(column, base)
    return _udf("resolve", base=str(base), strict=strict)(column)


def relate(column: Column | str, base: Column | URI | str) -> Column:
    """The shortest reference to each row from a base, which is given as for `resolve`."""
    if isinstance(base, Column):
        return _udf("relate", arguments=2)(column, base)
    return _udf("relate", base=str(base))(column)


def encode(column: Column | str, component: str = "segment", *, keep: str | None = None) -> Column:
    """Each row percent-encoded for a component."""
    return _udf("encode", component=component, keep=keep)(column)


def decode(column: Column | str) -> Column:
    """The text that each row stands for."""
    return _udf("decode")(column)


def repair(column: Column | str, *, relative: bool = False) -> Column:
    """The URI that each row can only mean."""
    return _udf("repair", relative=relative)(column)


def parameter(column: Column | str, name: str | bytes, *, raw: bool = False) -> Column:
    """The first value of that name in each row's query."""
    return _made("parameter", lambda batch: columns.parameter(batch, name, raw=raw, threads=1))(column)


def with_parameters(column: Column | str, pairs: Pairs) -> Column:
    """Each row with these parameters set."""
    return _udf("with_parameters", pairs=list(flat(pairs)))(column)


def add_parameters(column: Column | str, pairs: Pairs) -> Column:
    """Each row with more parameters."""
    return _udf("add_parameters", pairs=list(flat(pairs)))(column)


def without_parameters(column: Column | str, *names: str | bytes) -> Column:
    """Each row without the parameters of these names; "*" stands for any characters."""
    return _made("without_parameters", lambda batch: columns.without_parameters(batch, *names, threads=1))(column)


def sort_parameters(column: Column | str) -> Column:
    """Each row with its parameters by their names."""
    return _udf("sort_parameters")(column)


def canonicalize(column: Column | str, form: Canonical, *, key: bool = False) -> Column:
    """The canonical URI of each row, or the key of the form."""
    return _udf("canonicalize", form=form, key=key)(column)


def to_uri(column: Column | str) -> Column:
    """The URI of each IRI."""
    return _udf("to_uri")(column)


def to_iri(column: Column | str) -> Column:
    """The IRI of each URI."""
    return _udf("to_iri")(column)


def register(session: SparkSession) -> None:
    """Register the functions of SQL on a session; `uri_encode(t, component, keep)` takes one argument at least."""
    for name in (*_COMPONENTS, *_PARTS, "normalize", "encode", "decode", "repair"):
        session.udf.register(f"uri_{name}", _udf(name))
    for name, (operation, _) in SQL.items():
        session.udf.register(f"uri_{name}", _made(name, partial(changed, operation)))
    session.udf.register("uri_to_iri", _udf("to_iri"))
    session.udf.register("iri_to_uri", _udf("to_uri"))
    session.udf.register("uri_check", _udf("check", "boolean"))
    session.udf.register("uri_check_scheme", _udf("check", "boolean", scheme=True))
    session.udf.register("uri_resolve", _udf("resolve", arguments=2))
    session.udf.register("uri_relate", _udf("relate", arguments=2))


def _struct(components: Sequence[str]) -> str:
    return ", ".join(f"{name} string" for name in components)
