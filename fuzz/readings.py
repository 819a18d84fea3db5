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


def rows_of(rows: Rows, document: Document, kind: str, options: Options = _OPTIONS) -> list[Link]:
    """The rows of a document."""
    results: list[Link] = []
    for _ in fill(rows, document, kind, (), options):
        results += links(rows.take())
    return [*results, *links(rows.take())]


def judge(kind: str, data: bytes) -> list[Link]:
    """Both engines make the same rows, and each row is one that a table can have.  Raises: AssertionError."""
    charset, content = split_charset(data)
    document = Document("d", content, OUTER, charset=charset)
    options = _OPTIONS._replace(rung=Rung(len(data) % 5))
    results = rows_of(_PythonRows(options), document, kind, options)
    if kernel.name == "native":
        second = rows_of(_NativeRows(options), document, kind, options)
        for number, (plain, native) in enumerate(zip_longest(results, second)):
            assert plain == native, f"row {number}: plain {plain}, native {native}"
    assert len(results) <= 2 * len(content) + 8, f"{len(results)} rows of {len(content)} octets"
    for result in results:
        _judge_row(result, options.rung)
    return results


def _judge_row(link: Link, rung: Rung) -> None:
    for part in link:
        assert not isinstance(part, str) or part.encode() is not None
    if link.reference is None:
        assert link.error in NOTES, link
        return
    assert link.where is not None, link
    assert len(link.where) <= _WHERE, link
    assert link.error_at is None or 0 <= link.error_at <= len(link.reference), link
    assert link.target is not None or link.error is not None, link
    if link.target is not None:
        target = URI(link.target)
        assert (target.fragment, str(target.join(""))) == (link.fragment, link.target.partition("#")[0]), link
        assert link.normal is not None, link
        assert normal_form(link.normal, rung) == link.normal == normal_form(link.target, rung), link
