"""A document read by the reader of its kind, its rows made by both engines; and what holds for every row."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from itertools import zip_longest

from overthere import URI, Rung, kernel
from overthere.base import Base
from overthere.links.job.reading import fill
from overthere.links.model import NOTES, Document, Link, Options
from overthere.links.report.batch import links
from overthere.links.report.rows import Rows, _NativeRows, _PythonRows
from overthere.values.normalize import normal_form
from seeds import CASES

sys.path.append(str(CASES.parent))
from support import flat_members

__all__ = ["LABELS", "OUTER", "documents", "flat_members", "judge", "rows_of", "split_charset"]

OUTER = Base(URI("http://h.example/a/b"), "retrieval", "retrieval")
_OPTIONS = Options(json=True, metadata=True, limit=1 << 20)
_WHERE = 4096
"""Characters in which a row says where its reference stands."""
LABELS = (b"utf-8\n", b"utf-16le\n", b"utf-16\n", b"iso-8859-1\n", b"shift_jis\n", b"koi8-r\n", b"x-user-defined\n")


def split_charset(data: bytes) -> tuple[str | None, bytes]:
    """The charset that somebody told, on the first line of an input (none if that is empty), and the content."""
    label, _, content = data.partition(b"\n")
    return label.decode("latin-1") or None, content


def documents(kind: str, *keys: str) -> Iterator[bytes]:
    """The documents of a case file as inputs."""
    for row in tomllib.loads((CASES / f"{kind}.toml").read_text())["case"]:
        text = next((row[key] for key in ("input", *keys) if key in row), "")
        content = bytes.fromhex(row["hex"]) if "hex" in row else text.encode("utf-8", "surrogatepass")
        yield row.get("charset", "").encode() + b"\n" + content


def rows_of(made: Rows, document: Document, kind: str, options: Options = _OPTIONS) -> list[Link]:
    """The rows of a document."""
    found: list[Link] = []
    for _ in fill(made, document, kind, (), options):
        found += links(made.take())
    return [*found, *links(made.take())]


def judge(kind: str, data: bytes) -> list[Link]:
    """Both engines make the same rows, and each row is one that a table can have.  Raises: AssertionError."""
    charset, content = split_charset(data)
    document = Document("d", content, OUTER, charset=charset)
    options = _OPTIONS._replace(rung=Rung(len(data) % 5))
    found = rows_of(_PythonRows(options), document, kind, options)
    if kernel.name == "native":
        again = rows_of(_NativeRows(options), document, kind, options)
        for number, (plain, native) in enumerate(zip_longest(found, again)):
            assert plain == native, f"row {number}: plain {plain}, native {native}"
    assert len(found) <= 2 * len(content) + 8, f"{len(found)} rows of {len(content)} octets"
    for one in found:
        _judge_row(one, options.rung)
    return found


def _judge_row(one: Link, rung: Rung) -> None:
    for part in one:
        assert not isinstance(part, str) or part.encode() is not None
    if one.reference is None:
        assert one.error in NOTES, one
        return
    assert one.where is not None, one
    assert len(one.where) <= _WHERE, one
    assert one.error_at is None or 0 <= one.error_at <= len(one.reference), one
    assert one.target is not None or one.error is not None, one
    if one.target is not None:
        target = URI(one.target)
        assert (target.fragment, str(target.join(""))) == (one.fragment, one.target.partition("#")[0]), one
        assert one.normal is not None, one
        assert normal_form(one.normal, rung) == one.normal == normal_form(one.target, rung), one
