"""The parameters of a column of URIs: each function works on a row as that of `overthere.forms` on a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.columns.work import ArrowColumn, Errors, text
from overthere.values.form_pairs import by_name, encode_name, pattern, reread, write_pairs

if TYPE_CHECKING:
    from overthere.forms import Pairs


def parameter(
    column: Any, name: str | bytes, *, raw: bool = False, separator: str = "&", plus: bool = True,
    errors: Errors = "null", threads: int | None = None, views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """The first value of that name in each row's query, decoded; null if the name is missing or has no "=".

    raw: whether the value is returned as written.
    separator, plus: the same as those of `forms.Parameters`.

    Raises: ColumnError under `errors="raise"`, for an invalid row.

    >>> import pyarrow as pa
    >>> pa.array(parameter(pa.array(["http://h/?q=a+b%21", "?q", "?p=1&q=", "a b"]), "q")).to_pylist()
    ['a b!', None, '', None]
    """
    operation, encoded_name = "raw_parameter" if raw else "parameter", encode_name(name)
    edit = _edit((encoded_name,), [(encoded_name, [])], separator, plus)
    return text(column, operation, errors, threads, views, parameters=edit)


def with_parameters(
    column: Any, pairs: Pairs, *, separator: str = "&", plus: bool = True, errors: Errors = "null",
    threads: int | None = None, views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """Set parameters in each row: a name keeps its first place and loses its other pairs; new names follow.

    Every scheme has the rules of forms here; `URI.with_parameters` writes line breaks of mailto as CR LF.

    pairs: a mapping or pairs of data, the same for all rows, as `forms.Parameters.set` takes them.

    Raises: ColumnError under `errors="raise"`.

    >>> import pyarrow as pa
    >>> pa.array(with_parameters(pa.array(["http://h/?X=%3b%20&page=1#f", "a"]), {"page": 2})).to_pylist()
    ['http://h/?X=%3b%20&page=2#f', 'a?page=2']
    """
    data = reread(pairs)
    encoded = [(name, [text.encode() for text in texts]) for name, texts in by_name(data, plus=plus).items()]
    return text(column, "with_parameters", errors, threads, views, parameters=_edit((data,), encoded, separator, plus))


def add_parameters(
    column: Any, pairs: Pairs, *, separator: str = "&", plus: bool = True, errors: Errors = "null",
    threads: int | None = None, views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """Add parameters at the end of each row's query.

    Raises: ColumnError under `errors="raise"`.

    >>> import pyarrow as pa
    >>> pa.array(add_parameters(pa.array(["http://h/?a=1", "a"]), [("a", 2)])).to_pylist()
    ['http://h/?a=1&a=2', 'a?a=2']
    """
    data = reread(pairs)
    encoded = [(b"", [pair.encode()]) for pair in write_pairs(data, plus=plus)]
    return text(column, "add_parameters", errors, threads, views, parameters=_edit((data,), encoded, separator, plus))


def without_parameters(
    column: Any, *names: str | bytes, separator: str = "&", plus: bool = True, errors: Errors = "null",
    threads: int | None = None, views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """Remove the parameters of these names from each row; "*" matches any characters, names as bytes are exact.

    Raises: ColumnError under `errors="raise"`.

    >>> import pyarrow as pa
    >>> pa.array(without_parameters(pa.array(["http://h/?utm_source=x&q=%7e", "?utm_id=1#f"]), "utm_*")).to_pylist()
    ['http://h/?q=%7e', '#f']
    """
    encoded = [(b"", pattern(name)) for name in names]
    return text(column, "without_parameters", errors, threads, views, parameters=_edit(names, encoded, separator, plus))


def sort_parameters(
    column: Any, *, separator: str = "&", plus: bool = True, errors: Errors = "null", threads: int | None = None,
    views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """Sort each row's parameters by the bytes of their names; those of one name keep their order.

    Raises: ColumnError under `errors="raise"`.

    >>> import pyarrow as pa
    >>> pa.array(sort_parameters(pa.array(["http://h/?b=1&a=2&b=0"]))).to_pylist()
    ['http://h/?a=2&b=1&b=0']
    """
    return text(column, "sort_parameters", errors, threads, views, parameters=_edit((), [], separator, plus))


class Edit(NamedTuple):
    """An edit of each row's parameters, both as data and encoded."""

    data: tuple[Any, ...]
    """The arguments of the function for values."""
    encoded: list[tuple[bytes, list[bytes]]]
    """Names as bytes, each with its pairs, or with the pieces between the "*" of a pattern."""
    separator: str
    plus: bool


def _edit(data: tuple[Any, ...], encoded: list[tuple[bytes, list[bytes]]], separator: str, plus: bool) -> Edit:
    if separator not in ("&", ";"):
        raise ValueError(f'the separator must be "&" or ";", not {separator!r:.100}')
    return Edit(data, encoded, separator, bool(plus))
