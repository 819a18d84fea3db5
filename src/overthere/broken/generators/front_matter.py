"""The front matter of pages: its end, and the addresses that it sets, even if the generator is unknown."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping

from overthere.broken.generators.project import IMPORTS, Project
from overthere.broken.heading_slugs import slug
from overthere.links.model import Document


def without_front_matter(document: Document) -> Document:
    """A Markdown document with a blank for each byte of its front matter, except line ends."""
    end = front_matter_end(document.content)
    start = 3 * document.content.startswith(BOM_UTF8) if end else 0
    blank = bytes(byte if byte in b"\r\n" else 32 for byte in document.content[start:end])
    return document._replace(content=document.content[:start] + blank + document.content[end:])


def front_matter_end(content: bytes) -> int:
    """The length in bytes of a Markdown document's front matter: YAML between "---" or TOML between "+++"; 0 for none.

    YAML may end with "..." instead (pandoc, Jekyll, MkDocs).

    >>> front_matter_end(b"---\\ntitle: x\\n---\\n# A"), front_matter_end(b"---\\n\\n# A"), front_matter_end(b"# A")
    (17, 0, 0)
    """
    start = 3 * content.startswith(BOM_UTF8)
    mark = content[start : start + 3]
    first = content.find(b"\n")
    if mark not in (b"---", b"+++") or content[start + 3 : max(first, start + 3)].strip():
        return 0
    at = first + 1
    marks = (mark, b"...") if mark == b"---" and content[at : at + 1] not in b"\r\n" else (mark,)
    while at > 0:
        end = content.find(b"\n", at)
        if content[at : len(content) if end < 0 else end].rstrip() in marks:
            return len(content) if end < 0 else end + 1
        at = end + 1
    return 0


def unknown_generator(project: Project) -> Project:
    """The project of pages with front matter, or in MDX, without a known configuration: any generator may read them."""
    return project._replace(
        generator="unknown", suffixes=(".md", ".mdx"), indexes=("index", "README", "_index", "page"), ending="",
        keys=("slug", "permalink", "url", "id"), addresses=front_addresses, aliases=re.compile(r"[@~].*+").fullmatch,
        inserts=re.compile(IMPORTS + r"|(?<!=)\{\{|\{%|^[ \t]*+<[A-Z]", re.MULTILINE),
    )  # fmt: skip


def front_addresses(project: Project, stem: str, front: Mapping[str, list[str]]) -> list[str]:
    """Possible addresses of a page: by its front matter, and by its name in lower case without special characters."""
    folder = stem.rpartition("/")[0]
    named = [value.strip("/") for values in front.values() for value in values]
    addresses = [*named, *(f"{folder}/{name}" for name in named if folder)]
    lower = "/".join(slug(part, "docusaurus") for part in stem.split("/"))
    return [*addresses, lower]
