"""URLs and references collected on this machine: documentation, manual pages, package metadata, source text."""

from __future__ import annotations

import gzip
import os
import re
import site
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SAME_PLACE = 2_000
"""The maximum of URLs with the same scheme, host and first two segments: one change log must not fill it."""

_LONGEST_FILE = 8 << 20
_SKIP = ".so .pyc .pyo .a .o .rlib .rmeta .whl .zip .jar .png .jpg .gif .ico .woff .woff2 .ttf .otf .mo .map .pdf"
_SCHEMES = (
    rb"(?<![a-z0-9+.-])(https?|ftps?|sftp|file|git|git\+https|git\+ssh|ssh|svn|ldaps?|wss?|irc|rsync|nntp|gopher)$"
)
_SCHEME = re.compile(_SCHEMES, re.IGNORECASE)
_BODY = re.compile(rb"://(?:[^\s\"'<>\\^`{|}\[\]/@\x00-\x20\x7f-\xff]*@)?(?:\[[0-9A-Fa-f:.]+\])?"
                   rb"[^\s\"'<>\\^`{|}\[\]\x00-\x20\x7f-\xff]{2,2000}")  # fmt: skip
_REFERENCE = re.compile(rb"\shref=\"([^\"\s\x7f-\xff]{1,500})\"")
_ENTITY = re.compile(rb"&(?:quot|lt|gt|apos|nbsp|#x?[0-9a-f]+);")


def _sources() -> dict[str, list[Path]]:
    home, share = Path.home(), Path("/usr/share")
    docs = sorted((home / ".rustup" / "toolchains").glob("*/share/doc"), key=lambda p: ("stable" not in str(p), p))
    return {
        "documentation of packages": [share / "doc"],
        "manual pages": [share / "man"],
        "other shared files": sorted(p for p in share.glob("*") if p.name not in ("doc", "man")),
        "C headers": [Path("/usr/include")],
        "Python and its packages": [Path(p) for p in (*site.getsitepackages(), sysconfig.get_path("stdlib"))],
        "documentation of Rust": docs[:1],
        "Rust crates": [home / ".cargo" / "registry" / "src"],
    }


def texts(root: Path) -> Iterator[tuple[str, bytes]]:
    """The text files under a folder, in a fixed order."""
    skipped = set(_SKIP.split())
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            ending = os.path.splitext(name)[1].lower()
            try:
                if ending in skipped or os.path.islink(path) or os.path.getsize(path) > _LONGEST_FILE:
                    continue
                data = Path(path).read_bytes()
                if ending == ".gz":
                    data = gzip.decompress(data)
            except (OSError, EOFError, gzip.BadGzipFile):
                continue
            if b"\0" not in data[:2048]:
                yield ending, data


def trim(data: bytes) -> bytes:
    """Without what the sentence around it added: entities, the closing parenthesis of a link, a full stop."""
    text = data.replace(b"&amp;", b"&")
    if entity := _ENTITY.search(text):
        text = text[: entity.start()]
    depth = 0
    for at, octet in enumerate(text):
        depth += (octet == 0x28) - (octet == 0x29)
        if depth < 0:
            text = text[:at]
            break
    return text.rstrip(b".,;:!?*_~(")


def _urls(data: bytes) -> Iterator[bytes]:
    for match in _BODY.finditer(data):
        start = match.start()
        scheme = _SCHEME.search(data[max(0, start - 12) : start])
        if scheme and len(body := trim(match.group())) > 6:
            yield scheme.group(1) + body


def gather(most_references: int = 200_000) -> tuple[dict[str, str], list[str]]:
    """Distinct URLs with the source that had each first; distinct references that are no URLs, out of HTML."""
    urls: dict[str, str] = {}
    references: dict[str, None] = {}
    places: Counter[bytes] = Counter()
    for source, roots in _sources().items():
        for root in roots:
            for ending, data in texts(root):
                for url in _urls(data):
                    text = url.decode("ascii")
                    place = b"/".join(url.split(b"/", 5)[:5])
                    if text not in urls and places[place] < SAME_PLACE:
                        places[place] += 1
                        urls[text] = source
                if ending in (".html", ".htm") and len(references) < most_references:
                    for reference in _REFERENCE.findall(data):
                        if b":" not in reference:
                            references[_trim_reference(reference)] = None
    return urls, list(references)[:most_references]


def _trim_reference(data: bytes) -> str:
    return data.replace(b"&amp;", b"&").decode("ascii")
