"""The parameters of a column of URIs: each function does for a row what the one of values does (`overthere.forms`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.columns.work import ArrowColumn, Errors, text
from overthere.values.form_pairs import by_name, encode_name, flat, pattern, write_pairs

if TYPE_CHECKING:
    from overthere.forms import Pairs

__all__ = ["Edit", "add_parameters", "parameter", "sort_parameters", "with_parameters", "without_parameters"]


def parameter(
    column: Any, name: str | bytes, *, raw: bool = False, separator: str = "&", plus: bool = True,
    errors: Errors = "null", threads: int | None = None, views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """The first value of that name in each row's query, decoded; null if there is none, or without "=".

    raw: whether the value is returned as written.
    separator, plus: as `forms.Parameters` takes them.

    Raises: ColumnError under `errors="raise"`, for an invalid row.

    >>> import pyarrow as pa
    >>> pa.array(parameter(pa.array(["http://h/?q=a+b%21", "?q", "?p=1&q=", "a b"]), "q")).to_pylist()
    ['a b!', None, '', None]
    """
    operation, octets = "raw_parameter" if raw else "parameter", encode_name(name)
    asked = _edit((octets,), [(octets, [])], separator, plus)
    return text(column, operation, errors, threads, views, parameters=asked)


def with_parameters(
    column: Any, pairs: Pairs, *, separator: str = "&", plus: bool = True, errors: Errors = "null",
    threads: int | None = None, views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """Each row with these parameters set: a name keeps its first place and loses its other pairs; new names follow.

    pairs: a mapping or pairs of data, the same for all rows, as `forms.encode` takes them.

    Raises: ColumnError under `errors="raise"`.

    >>> import pyarrow as pa
    >>> pa.array(with_parameters(pa.array(["http://h/?X=%3b%20&page=1#f", "a"]), {"page": 2})).to_pylist()
    ['http://h/?X=%3b%20&page=2#f', 'a?page=2']
    """
    data = list(flat(pairs))
    given = [(name, [one.encode() for one in texts]) for name, texts in by_name(data, plus=plus).items()]
    return text(column, "with_parameters", errors, threads, views, parameters=_edit((data,), given, separator, plus))


def add_parameters(
    column: Any, pairs: Pairs, *, separator: str = "&", plus: bool = True, errors: Errors = "null",
    threads: int | None = None, views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """Each row with more parameters at the end.

    Raises: ColumnError under `errors="raise"`.

    >>> import pyarrow as pa
    >>> pa.array(add_parameters(pa.array(["http://h/?a=1", "a"]), [("a", 2)])).to_pylist()
    ['http://h/?a=1&a=2', 'a?a=2']
    """
    data = list(flat(pairs))
    given = [(b"", [one.encode()]) for one in write_pairs(data, plus=plus)]
    return text(column, "add_parameters", errors, threads, views, parameters=_edit((data,), given, separator, plus))


def without_parameters(
    column: Any, *names: str | bytes, separator: str = "&", plus: bool = True, errors: Errors = "null",
    threads: int | None = None, views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """Each row without the parameters of these names, in which "*" stands for any characters; octets are exact.

    Raises: ColumnError under `errors="raise"`.

    >>> import pyarrow as pa
    >>> pa.array(without_parameters(pa.array(["http://h/?utm_source=x&q=%7e", "?utm_id=1#f"]), "utm_*")).to_pylist()
    ['http://h/?q=%7e', '#f']
    """
    given = [(b"", pattern(name)) for name in names]
    return text(column, "without_parameters", errors, threads, views, parameters=_edit(names, given, separator, plus))


def sort_parameters(
    column: Any, *, separator: str = "&", plus: bool = True, errors: Errors = "null", threads: int | None = None,
    views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """Each row with its parameters by the octets of their names; those of one name keep their order.

    Raises: ColumnError under `errors="raise"`.

    >>> import pyarrow as pa
    >>> pa.array(sort_parameters(pa.array(["http://h/?b=1&a=2&b=0"]))).to_pylist()
    ['http://h/?a=2&b=1&b=0']
    """
    return text(column, "sort_parameters", errors, threads, views, parameters=_edit((), [], separator, plus))


class Edit(NamedTuple):
    """An edit of each row's parameters: as data, and in the written form."""

    data: tuple[Any, ...]
    """The arguments of the function of values."""
    given: list[tuple[bytes, list[bytes]]]
    """Names as octets, each with its pairs, or with what stands between the "*" of a pattern."""
    separator: str
    plus: bool


def _edit(data: tuple[Any, ...], given: list[tuple[bytes, list[bytes]]], separator: str, plus: bool) -> Edit:
    if separator not in ("&", ";"):
        raise ValueError(f'the separator must be "&" or ";", not {separator!r:.100}')
    return Edit(data, given, separator, bool(plus))
