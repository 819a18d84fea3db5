"""The column functions row by row, with values: the engine without the native kernel, and the oracle of its tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import repeat
from typing import TYPE_CHECKING, Any, cast

from overthere.columns.operations import COMPONENTS
from overthere.forms import Parameters
from overthere.ground.caches import bounded_cache
from overthere.ground.errors import CodingError, InvalidURI, Unreachable
from overthere.ground.extras import brought_by
from overthere.iri import IRI, IRIReference
from overthere.kernel import reference
from overthere.repairs import repair
from overthere.values import encoding
from overthere.values.normalize import Rung, normal_form
from overthere.values.relate import relate
from overthere.values.uri import URI, URIReference

if TYPE_CHECKING:
    from overthere.columns.parameters import Edit
    from overthere.grammar.automaton import Automaton

_Error = tuple[str, int]
"""A kind of finding, and its place in code points."""


def compute() -> Any:
    """Return pyarrow.compute; its functions are made at import, so no type checker knows them."""
    with brought_by("columns"):
        return import_module("pyarrow.compute")


def to_pyarrow(column: Any) -> Any:
    """Convert any Arrow column to pyarrow."""
    with brought_by("columns"):
        import pyarrow as pa

    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    if hasattr(column, "__arrow_c_array__"):
        return pa.array(column)
    if hasattr(column, "__arrow_c_stream__"):
        return pa.chunked_array(column)
    raise TypeError(f"expected an Arrow column, not {type(column).__name__}")


def arrow(column: Any) -> Any:
    """Convert a column to pyarrow: an Array, or a ChunkedArray for a stream.

    Raises: TypeError for a column that is not text; ValueError if its text is not UTF-8 or outside of its data: Arrow
    is raw memory, which may never have been checked.
    """
    column = to_pyarrow(column)
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        raise TypeError(f"expected a text column, not {column.type}")
    checked = None
    for chunk in getattr(column, "chunks", [column]):
        checked = validate(chunk, checked)
    return column


def validate(array: Any, checked: Any = None) -> Any:
    """Check the memory of an array; return its dictionary, if it has one, which many arrays may share.

    checked: a dictionary that need not be checked again.

    Raises: ValueError.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        return array.validate(full=True)
    array.validate()
    values = array.dictionary
    if checked is None or _memory(values) != _memory(checked):
        values.validate(full=True)
    try:
        pa.DictionaryArray.from_arrays(array.indices, values)  # checks the keys
    except IndexError as error:
        raise ValueError(f"a key of a dictionary without a value: {error}") from None
    return values


def _memory(array: Any) -> tuple[object, ...]:
    return len(array), array.offset, *(buffer and buffer.address for buffer in array.buffers())


def _apply(column: Any, work: Callable[[list[str | None]], Any], by_value: bool = True) -> Any:
    """Apply a function to the rows of each chunk.  by_value: whether equal rows have equal results."""
    rows = arrow(column)
    import pyarrow as pa

    def apply(rows: Any) -> Any:
        if not by_value or not pa.types.is_dictionary(rows.type):
            return work(rows.to_pylist())
        values, numbers = distinct_values(rows)
        return _take(work(values), numbers)

    if isinstance(rows, pa.ChunkedArray):
        chunks = [apply(chunk) for chunk in rows.chunks]
        return pa.chunked_array(chunks, type=None if chunks else work([]).type)
    return apply(rows)


def distinct_values(rows: Any) -> tuple[list[str | None], Any]:
    """Return the values of a dictionary that its rows have, and for each row the number of its value."""
    keys, values = rows.indices.unique(), rows.dictionary
    texts = [None if key is None else values[key].as_py() for key in keys.to_pylist()]
    return texts, compute().index_in(rows.indices, keys)


def _take(column: Any, numbers: Any) -> Any:
    """Take rows by number, without copies of views: pyarrow cannot take them, but their 16 bytes."""
    import pyarrow as pa

    if pa.types.is_struct(column.type):
        names = [field.name for field in column.type]
        fields = [_take(column.field(name), numbers) for name in names]
        return pa.StructArray.from_arrays(fields, names, mask=column.is_null().take(numbers))
    if pa.types.is_string_view(column.type):
        valid, views, *texts = column.buffers()
        views = pa.Array.from_buffers(pa.binary(16), len(column), [valid, views]).take(numbers)
        return pa.Array.from_buffers(column.type, len(views), [*views.buffers(), *texts])
    return column.take(numbers)


def check(column: Any, rule: str | Automaton, *, zone: bool, threads: int) -> Any:
    """Whether each row follows the rule: URI, URI-reference, IRI, IRI-reference, or an automaton's."""
    import pyarrow as pa

    def valid(row: str) -> bool:
        return reference.parse(row, rule, zone) is not None if isinstance(rule, str) else rule.accepts(row)

    def work(rows: list[str | None]) -> Any:
        return pa.array([None if row is None else valid(row) for row in rows], pa.bool_())

    return _apply(column, work)


def _text_type(views: bool) -> Any:
    import pyarrow as pa

    return pa.string_view() if views else pa.string()


def _null_mask(rows: list[str | None]) -> Any:
    import pyarrow as pa

    return pa.array([row is None for row in rows], pa.bool_())


def _error_columns(rows: list[_Error | None]) -> list[Any]:
    import pyarrow as pa

    kinds = pa.array([None if r is None else r[0] for r in rows], pa.string())
    kinds = kinds.cast(pa.dictionary(pa.int8(), pa.string()))
    return [kinds, pa.array([None if r is None else r[1] for r in rows], pa.uint32())]


def parts(column: Any, names: list[str], rule: str | None, *, zone: bool, threads: int, views: bool) -> Any:
    """The components of these names in each row; unchecked if `rule` is None."""
    import pyarrow as pa

    def work(rows: list[str | None]) -> Any:
        answers: list[dict[str, str | None]] = []
        errors: list[_Error | None] = []
        for row in rows:
            answer, error = ({}, None) if row is None else _parts(row, rule, zone)
            answers.append(answer)
            errors.append(error)
        columns = [pa.array([f.get(name) for f in answers], _text_type(views)) for name in names]
        labels = list(names)
        if rule is not None:
            columns += _error_columns(errors)
            labels += ["error", "error_at"]
        return pa.StructArray.from_arrays(columns, labels, mask=_null_mask(rows))

    return _apply(column, work)


def _parts(text: str, rule: str | None, zone: bool) -> tuple[dict[str, str | None], _Error | None]:
    if rule is not None:
        try:
            value = (URI if rule == "URI" else URIReference)(text, zone=zone)
        except InvalidURI as error:
            return {}, (error.kind, error.start)
        return {name: getattr(value, "port_text" if name == "port" else name) for name in COMPONENTS}, None
    parts = reference.split(text)
    userinfo, host, port = (None, None, None) if parts.authority is None else reference.split_authority(parts.authority)
    return {**parts._asdict(), "userinfo": userinfo, "host": host, "port": port}, None


def text(
    column: Any, operation: str, *, details: bool, threads: int, views: bool, base: Any = None, **args: Any
) -> Any:
    """Apply an operation to a text column; return a text column."""
    import pyarrow as pa

    bases: Iterator[Any] = repeat(base) if base is None or isinstance(base, str) else iter(arrow(base).to_pylist())

    def work(rows: list[str | None]) -> Any:
        # The rows are first, so that zip does not consume a base after the chunk's last row.
        answers = [_answer(row, operation, base, **args) for row, base in zip(rows, bases, strict=False)]
        if len(answers) < len(rows):
            raise ValueError("there are fewer bases than rows")
        value = pa.array([a for a, _ in answers], _text_type(views))
        if not details:
            return value
        fields = [value, *_error_columns([e for _, e in answers])]
        return pa.StructArray.from_arrays(fields, ["value", "error", "error_at"], mask=_null_mask(rows))

    return _apply(column, work, by_value=isinstance(bases, repeat))


def _answer(row: str | None, operation: str, base: str | None, **args: Any) -> tuple[str | None, _Error | None]:
    if row is None:
        return None, None
    try:
        match operation:
            case "host":
                return _parts(row, None, False)[0]["host"], None
            case "normalize" if args.get("iri"):
                return str(IRIReference(row).normalize(Rung(args["rung"]), registry=args.get("registry"))), None
            case "normalize":
                return normal_form(str(URIReference(row)), Rung(args["rung"]), None, args.get("registry")), None
            case "resolve" | "relate":
                return _resolve_row(row, base, args.get("strict"), bool(args.get("iri")))
            case "repair":
                return str(repair(row, relative=args["relative"], limit=0)), None
            case "canonicalize":
                return args["write"](row), None
            case _ if "parameters" in args:
                return _parameters(row, operation, args["parameters"]), None
            case "to_uri":
                return str(IRIReference(row).to_uri()), None
            case "to_iri":
                return str(URIReference(row).to_iri()), None
            case "encode":
                from overthere.kernel import percent_encode

                return percent_encode(row.encode(), args["safe"]), None
            case "decode":
                return encoding.decode(row), None
            case _:
                raise ValueError(f"unknown operation {operation!r}")
    except InvalidURI as error:
        return None, (error.kind, error.start)
    except CodingError:
        broken = reference.BROKEN_ESCAPE.search(row)
        return None, ("pct-encoded", broken.start()) if broken else ("non-ascii", _invalid_utf8_offset(row))


def _parameters(row: str, operation: str, edit: Edit) -> str | None:
    value = URIReference(row)
    data, _, separator, plus = edit
    parameters = Parameters(value.query, separator=separator, plus=plus)
    match operation:
        case "parameter":
            return parameters.get(*data)
        case "raw_parameter":
            return next(iter(parameters.written(*data)), None)
    return str(value.replace(query=getattr(parameters, _EDITS[operation])(*data).query))


_EDITS = {
    "with_parameters": "set", "add_parameters": "add", "without_parameters": "without", "sort_parameters": "sorted",
}  # fmt: skip
"""Operations, and the methods of `Parameters` that do the same."""


def _resolve_row(row: str, base: str | None, strict: bool | None, iri: bool) -> tuple[str | None, _Error | None]:
    """Resolve a row as a reference; if `strict` is None, return the reference to the row as a target."""
    if base is None:
        return None, None
    base_value = _base(base, iri)
    if isinstance(base_value, tuple):
        return None, base_value
    if strict is not None:
        return str(base_value.join(row, strict)), None
    target = IRI(row) if iri else URI(row)
    try:
        return relate(str(base_value), row), None
    except Unreachable:
        return None, ("unreachable", cast("tuple[int, int]", target.span("path"))[0])


@bounded_cache(1)
def _base(text: str, iri: bool) -> URI | IRI | _Error:
    """Parse a base, or return its error; cached, because many rows often have the same base."""
    try:
        return IRI(text) if iri else URI(text)
    except InvalidURI as error:
        return "base", error.start


def _invalid_utf8_offset(row: str) -> int:
    """Return the place of the escape of the first byte that is not UTF-8."""
    data = encoding.decode_bytes(row)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        remaining, i = error.start, 0
        while remaining > 0:
            remaining -= 1 if row[i] == "%" else len(row[i].encode())
            i += 3 if row[i] == "%" else 1
        return i
    return 0  # pragma: no cover


def domain(column: Any, part: str, *, private: bool, threads: int, views: bool) -> Any:
    """A part of each row's host by the list of publicsuffix.org."""
    import pyarrow as pa

    from overthere.values.hosts.domains import suffix_list

    rules = suffix_list()

    def part_of(row: str | None) -> str | None:
        host = None if row is None else _parts(row, None, False)[0]["host"]
        domain_parts = rules.split(host, private=private) if host else None
        result: str | None = None if domain_parts is None else getattr(domain_parts, part)
        return result

    return _apply(column, lambda rows: pa.array(map(part_of, rows), _text_type(views)))


def host_names(column: Any, threads: int) -> Any:
    """Whether each row's host is valid in the DNS; each distinct host is checked once."""
    column = to_pyarrow(column)
    import pyarrow as pa

    from overthere import columns
    from overthere.values.hosts.dns import check_host_name

    @bounded_cache(100_000)
    def first_finding(host: str) -> _Error | None:
        return next(((finding.kind, finding.start) for finding in check_host_name(host, limit=1)), None)

    def work(rows: list[str | None]) -> Any:
        cut = to_pyarrow(columns.split(pa.array(rows, pa.string()), ("userinfo", "host"), threads=threads)).to_pylist()
        findings: list[_Error | None] = []
        has_host: list[bool] = []
        for row, parts in zip(rows, cut, strict=True):
            host = parts and parts["host"]
            has_host.append(bool(host))
            error = first_finding(host) if host else None
            if row is not None and error is not None:
                scheme = reference.split(row).scheme
                host_offset = (0 if scheme is None else len(scheme) + 1) + 2
                userinfo = parts["userinfo"]
                host_offset += 0 if userinfo is None else len(userinfo) + 1
                error = (error[0], error[1] + host_offset)
            findings.append(error)
        valid = pa.array([finding is None for finding in findings], pa.bool_())
        mask = pa.array([not flag for flag in has_host], pa.bool_())
        return pa.StructArray.from_arrays([valid, *_error_columns(findings)], ["valid", "error", "error_at"], mask=mask)

    return _apply(column, work)


def first_bad(answer: Any) -> tuple[int, str, int] | None:
    """Return number, kind and place of the first invalid row of a struct with `error` and `error_at`; None if valid."""
    import pyarrow as pa

    kinds = field(answer, "error")
    if kinds.null_count == len(kinds):
        return None
    row = compute().index(kinds.is_valid(), pa.scalar(True)).as_py()
    return row, kinds[row].as_py(), field(answer, "error_at")[row].as_py()


def field(answer: Any, name: str) -> Any:
    """Return a field of a struct column."""
    return compute().struct_field(to_pyarrow(answer), name)
