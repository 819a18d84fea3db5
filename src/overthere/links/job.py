"""The main job: documents in, rows of the link table out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from overthere.base import Base, from_content, retrieval_uri, to_reference
from overthere.links import html
from overthere.normalize import Rung, normal_form
from overthere.uri import URI

__all__ = ["Document", "Link", "documents", "extract", "extract_html"]

SUFFIXES = (".html", ".htm", ".xhtml", ".xht")


class Link(NamedTuple):
    """A row of the link table; None is undefined."""

    source: str
    """The document, as it was named or found."""
    base: str | None
    """The base URI against which the reference was resolved."""
    base_from: str | None
    """The layer that gave it: content, entity, retrieval or default (RFC 3986 5.1)."""
    reference: str | None
    """The reference as written, without surrounding white space; None in a row that stands for a broken document."""
    where: str | None
    """Element and attribute."""
    target: str | None
    """The target URI (5.2); None if the reference is not valid."""
    fragment: str | None
    same_document: bool | None
    """Whether the target is the base, fragments aside (4.4)."""
    normal: str | None
    """The target's normal form (6.2)."""
    error: str | None
    """The kind of the first finding; with "non-ascii" and a target, the target is the IRI's (RFC 3987 3.1)."""
    error_at: int | None
    """Code-point offset in the reference."""


_UNREADABLE = Link("", None, None, None, None, None, None, None, None, "unreadable", None)


class Document(NamedTuple):
    """A file to read: its path, the name to show, and the URI it was retrieved by."""

    path: Path
    name: str
    uri: URI
    named: bool = True
    """Whether the caller named it; what a folder holds is read only if it is a regular file."""


def documents(sources: Iterable[str | os.PathLike[str]], base: URI | None = None) -> Iterator[Document]:
    """The HTML files of the sources: each named file, and those below each folder in the order of their names."""
    for source in sources:
        root = Path(source)
        if not root.is_dir():
            yield Document(root, _shown(root), retrieval_uri(root, root.parent, base))
            continue
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                if path.suffix.lower() in SUFFIXES:
                    yield Document(path, _shown(path), retrieval_uri(path, root, base), named=False)


def _shown(path: Path) -> str:
    """A name that is text: octets of a file name that are not UTF-8 become U+FFFD (the base URI keeps them)."""
    return os.fsencode(path).decode("utf-8", "replace")


def extract(
    sources: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    base: URI | str | None = None,
    *,
    rung: Rung = Rung.SYNTAX,
    on_document: Callable[[Document], None] | None = None,
) -> Iterator[Link]:
    """The links of HTML documents, one row for each reference, in the order of the documents.

    sources: files and folders, or one of them.
    base: the URI under which the sources are published: of a folder's root, or of the folder of a named file;
    by default each file's own `file:` URI is its retrieval URI (RFC 3986 5.1.3).
    rung: the rung of the ladder for the column `normal`.
    on_document: called before each document is read.

    A document that cannot be read is one row with the error "unreadable".

    Raises: InvalidURI if `base` is no URI.
    """
    own = None if base is None else URI(base)
    if isinstance(sources, str | os.PathLike):
        sources = [sources]
    for document in documents(sources, own):
        if on_document is not None:
            on_document(document)
        try:
            if not document.named and not document.path.is_file():
                raise OSError("not a regular file")  # a pipe would be waited for
            text = html.decode(document.path.read_bytes())
        except (OSError, MemoryError):
            yield _UNREADABLE._replace(source=document.name, base=str(document.uri))
            continue
        yield from extract_html(text, document.uri, source=document.name, rung=rung)


def extract_html(text: str, retrieval: URI, *, source: str = "", rung: Rung = Rung.SYNTAX) -> Iterator[Link]:
    """The links of one HTML document that was retrieved by the URI `retrieval`.

    >>> [(l.reference, l.target) for l in extract_html('<base href="d/"><a href="../x?#">', URI("http://h/a/b"))]
    [('d/', 'http://h/a/d/'), ('../x?#', 'http://h/a/x?#')]
    """
    fallback = Base(retrieval.replace(fragment=None), "retrieval")
    href, found = html.read(text)
    base = from_content(href, fallback)
    first_base = href is not None
    for where, reference in found:
        against = base
        if where == "base href":
            # A base element is resolved against what stands outside of it (HTML), later ones have no effect.
            against = fallback if first_base else base
            first_base = False
        yield _link(source, against, where, reference, rung)


def _link(source: str, base: Base, where: str, text: str, rung: Rung) -> Link:
    reference, problem = to_reference(text)
    error, error_at = (None, None) if problem is None else (problem.kind, problem.start)
    if reference is None:
        return Link(source, str(base.uri), base.layer, text, where, None, None, None, None, error, error_at)
    target = base.uri.join(reference)
    same = str(target).partition("#")[0] == str(base.uri)
    normal = normal_form(str(target), rung)
    return Link(
        source, str(base.uri), base.layer, text, where,
        str(target), target.fragment, same, normal, error, error_at,
    )  # fmt: skip
