"""Lists of URLs as people write them, which every developer's machine can produce, with their statistics.

A text is what stands between white space, quotes or angle brackets and has "://" in it, without the punctuation of the
sentence behind it.  No text is checked to be a URI before.
"""

from __future__ import annotations

import re
import site
import statistics
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from gather import texts, trim
from standard import is_uri

MOST = 50_000
"""Texts of a list."""
_OCTETS = 256 << 20
"""That are read for one."""
_SHARE = Path("/usr/share")
_URL = re.compile(rb"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*://[^\s<>\"]{1,2000}")
_LINK = re.compile(rb"\s(?:href|src)=\"([A-Za-z][A-Za-z0-9+.-]*:[^\"]{1,2000})\"")


def _lines_below(folders: Iterable[Path], name: str) -> Iterator[bytes]:
    for folder in folders:
        for file in sorted(folder.glob(name)):
            try:
                yield file.read_bytes()
            except OSError:
                continue


def _packages() -> list[Path]:
    return [Path(place) for place in (*site.getsitepackages(), "/usr/lib/python3/dist-packages")]


def _metadata() -> Iterator[bytes]:
    yield from _lines_below(_packages(), "*.dist-info/METADATA")
    yield from _lines_below(_packages(), "*.egg-info/PKG-INFO")


def _index() -> Iterator[bytes]:
    yield from _lines_below([Path("/var/lib/apt/lists")], "*_Packages")
    yield from _lines_below([Path("/var/lib/dpkg")], "status")


def _html() -> Iterator[bytes]:
    docs = sorted((Path.home() / ".rustup" / "toolchains").glob("*/share/doc"))
    for root in (_SHARE / "doc", *docs[:1]):
        yield from (data for ending, data in texts(root) if ending in (".html", ".htm"))


_LISTS: dict[str, tuple[Callable[[], Iterator[bytes]], re.Pattern[bytes]]] = {
    "Debian's copyright files": (lambda: _lines_below([_SHARE / "doc"], "*/copyright"), _URL),
    "index of Debian's packages": (_index, _URL),
    "metadata of Python packages": (_metadata, _URL),
    "manifests of Rust crates": (
        lambda: _lines_below((Path.home() / ".cargo" / "registry" / "src").glob("*"), "*/Cargo.toml"),
        _URL,
    ),
    "manual pages": (lambda: (data for _, data in texts(_SHARE / "man")), _URL),
    "links of HTML documentation": (_html, _LINK),
}


def _distinct(files: Iterable[bytes], pattern: re.Pattern[bytes]) -> Iterator[str]:
    seen: set[bytes] = set()
    octets = 0
    for data in files:
        octets += len(data)
        if octets > _OCTETS:
            return
        for match in pattern.finditer(data):
            found = trim(match[0]) if pattern is _URL else match[1].replace(b"&amp;", b"&")
            if found not in seen:
                seen.add(found)
                try:
                    yield found.decode()
                except UnicodeDecodeError:
                    continue


def lists(most: int = MOST) -> dict[str, list[str]]:
    """Each list with files on this machine: at most this many distinct texts, in the order of the files."""
    found = {name: list(islice(_distinct(files(), pattern), most)) for name, (files, pattern) in _LISTS.items()}
    return {name: texts for name, texts in found.items() if texts}


def composition(texts: list[str]) -> dict[str, Any]:
    """Their number, their length (characters), and the share that is no URI (RFC 3986 3)."""
    return {
        "texts": len(texts),
        "median": statistics.median_low(map(len, texts)),
        "longest": max(map(len, texts)),
        "invalid": round(1 - sum(map(is_uri, texts)) / len(texts), 5),
    }
