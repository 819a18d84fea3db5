"""Broken links: inside the sources as a server would serve them, and outside by requests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from overthere.broken.model import (
    ANCHORS,
    KINDS,
    PASSED,
    Broken,
    Checker,
    FileSettings,
    HostSettings,
    Kind,
    Outcome,
    Summary,
)
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy

__all__ = [
    "KINDS", "PASSED", "Broken", "Checker", "FileSettings", "HostSettings", "Kind", "Outcome", "Summary", "check",
    "find",
]  # fmt: skip

Sources = Iterable[str | os.PathLike[str]] | str | os.PathLike[str]
"""Files, folders, archives, mailboxes, WARC files, as for `overthere.links.extract`."""


def find(
    sources: Sources,
    base: URI | str | Iterable[URI | str] | None = None,
    online: bool = False,
    *,
    fragments: bool = True,
    anchors: str = "auto",
    index: Iterable[str] = ("index.html", "index.htm"),
    extensions: Iterable[str] = (),
    workers: int | None = None,
    policy: Policy | None = None,
    summary: Summary | None = None,
) -> Iterator[Broken]:
    """Yield the broken links of documents, in the order of the documents and of the places in them.

    sources: HTML, XML, SVG, CSS, Markdown, messages, mailboxes, WARC files, archives, and folders of all these.
    base: the URI under which they are published (of a folder's root, or of the folder of a named file); the first of
    several is the documents' base, the others name the same files.  Without one, links are resolved to local files.
    online: whether external URIs are requested.
    fragments: whether anchors are looked up (RFC 3986 3.5).
    anchors: the program that generates the anchors of Markdown headings, as in `Checker.anchors`; by default the one
    whose configuration exists (mkdocs.yml, conf.py and so on), otherwise GitHub.
    index: the index files of a folder; the first existing one counts.
    extensions: the extensions that a server adds to missing names, such as "html".
    workers: the number of workers that read documents; by default the number of cores.
    policy: the limits of requests; by default safe for untrusted URIs, with a minute for each request.
    summary: filled with the counts of checked and unchecked references.

    If a document could only be read in part, its missing anchors are notes ("not-sure").

    Raises: InvalidURI for a bad base; ValueError for an unknown rule; ModuleNotFoundError without the extra `links`.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as site:
    ...     _ = Path(site, "index.html").write_text('<a href="other.html">', "utf-8")
    ...     [(found.line, found.column, found.kind) for found in find(site, "https://example.org/docs/")]
    [(1, 10, 'no-document')]
    """
    bases = (base,) if isinstance(base, str | URI) else tuple(base or ())
    checker = Checker(
        base=tuple(str(URI(text)) for text in bases), fragments=fragments, anchors=anchors,
        indexes=(index,) if isinstance(index, str) else tuple(index), workers=workers, online=online,
        extensions=tuple(name.lstrip(".") for name in ((extensions,) if isinstance(extensions, str) else extensions)),
    )  # fmt: skip
    return check(sources, checker, Summary() if summary is None else summary, policy=policy)


def check(
    sources: Sources,
    checker: Checker,
    summary: Summary,
    step: Callable[[str, int, int], None] = lambda what, done, total: None,
    policy: Policy | None = None,
) -> Iterator[Broken]:
    """`find` with its settings in one object.

    policy: the limits of requests.
    step: called with the progress: the phase, the amount done, and the total (bytes, documents, URIs).

    Raises: the same as `find`, before the first finding; TypeError for a text in place of a tuple, in which each
    character would be a pattern: "*" would exclude everything.
    """
    from overthere.broken.job import run

    for name, default in Checker._field_defaults.items():
        if isinstance(default, tuple) and isinstance(getattr(checker, name), str | bytes):
            raise TypeError(f"{name} takes a tuple, not one text")  # which may hold a password
    if checker.anchors not in ANCHORS:
        raise ValueError(f"unknown value {checker.anchors!r} of anchors; known: {', '.join(ANCHORS)}")
    paths = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    return run([os.fspath(source) for source in paths], checker, summary, step, policy)
