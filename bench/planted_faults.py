"""A generated site with planted faults of different kinds, for measuring the hits and false alarms of link checkers.

A page holds one fault at most, and some twenty references that are right though they do not look so: a checker has
found a fault if it reports anything of its page, and has invented one if it reports anything of another.

python bench/planted_faults.py FOLDER [--pages N] [--each N]
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

BASE = "https://museum.example/docs/"
"""Where the site is published."""


class PlantedFault(NamedTuple):
    """A fault: the file that holds it, as a path within the site, and the reference as written."""

    kind: str
    file: str
    reference: str


class Fault(NamedTuple):
    """body: the content of a page with it; head: the content of its head; reference: the broken one."""

    reference: str
    body: str = ""
    head: str = ""


def _a(reference: str) -> Fault:
    return Fault(reference, f'<a href="{reference}">a</a>')


_MISSING = "nowhere.html"
# A fault of each kind on a page at rooms/NNN/page-N.html.
KINDS: dict[str, Fault] = {
    "no document": _a(_MISSING),
    "no document above": _a(f"../{_MISSING}"),
    "no document at an absolute path": _a(f"/docs/{_MISSING}"),
    "no document by a whole URI": _a(f"{BASE}{_MISSING}"),
    "no document, host in capitals": _a(f"HTTPS://MUSEUM.example/docs/{_MISSING}"),
    "no document, default port": _a(f"https://museum.example:443/docs/{_MISSING}"),
    "beside the page, but base leads elsewhere": Fault(
        "only-here.html", '<a href="only-here.html">a</a>', '<base href="/docs/shelf/">'
    ),
    "fragment here, but base leads elsewhere": Fault(
        "#only-here", '<h2 id="only-here">h</h2><a href="#only-here">a</a>', '<base href="/docs/shelf/index.html">'
    ),
    "case of the file": _a("/docs/shelf/Index.html"),
    "case of the folder": _a("/docs/Shelf/index.html"),
    "escaped twice": _a("/docs/shelf/a%2520b.html"),
    "an escaped question mark": _a("/docs/shelf/index.html%3Fq"),
    "an escaped slash": _a("/docs%2Fshelf/index.html"),
    "a slash behind a file": _a("/docs/shelf/index.html/"),
    "a folder without an index": _a("/docs/bare/"),
    "no fragment on the page": _a("#nowhere"),
    "no fragment in another file": _a("/docs/shelf/index.html#nowhere"),
    "case of the fragment": _a("/docs/shelf/index.html#Crane"),
    "a fragment escaped twice": _a("/docs/shelf/index.html#caf%25C3%25A9"),
    "srcset, the second": Fault("gone.png", '<img src="/docs/shelf/a.png" srcset="/docs/shelf/a.png 1x, gone.png 2x">'),
    "an image": Fault("gone.png", '<img src="gone.png">'),
    "a script": Fault("gone.js", '<script src="gone.js"></script>'),
    "a style sheet": Fault("gone.css", head='<link rel="stylesheet" href="gone.css">'),
    "a frame": Fault("gone.html", '<iframe src="gone.html"></iframe>'),
    "a poster": Fault("gone.png", '<video poster="gone.png"></video>'),
    "a form": Fault("gone.html", '<form action="gone.html"></form>'),
    "an area": Fault("gone.html", '<map name="m"><area href="gone.html"></map>'),
    "style, url()": Fault("gone.png", '<p style="background: url(gone.png)">p</p>'),
    "style element, url()": Fault("gone.woff", head="<style>@font-face { src: url('gone.woff') }</style>"),
    "a refresh": Fault("gone.html", head='<meta http-equiv="refresh" content="9; url=gone.html">'),
    "an object": Fault("gone.svg", '<object data="gone.svg"></object>'),
    "use, no such symbol": Fault(
        "/docs/shelf/icons.svg#gone", '<svg><use href="/docs/shelf/icons.svg#gone"></use></svg>'
    ),
    "without quotes, capitals": Fault("gone.html", "<A HREF=gone.html>a</A>"),
    "a character reference": Fault("a&b.html", '<a href="a&amp;b.html">a</a>'),
    "no URI": _a("https://museum.example:8o/"),
    "mailto without a domain": _a("mailto:joe@"),
    "above the root of the site": _a("../../../../other/"),
}
_SHEET, _MARKDOWN, _MAP, _LOOP = "in a style sheet", "in Markdown", "in a sitemap", "a loop of refreshes"

# Valid references, from rooms/NNN/page-N.html, that are difficult to check.
RIGHT = (
    '<a href="page-0.html">a</a>', '<a href="./page-0.html?v=2#crane">a</a>', '<a href="../000/page-0.html">a</a>',
    '<a href="/docs/shelf/">a</a>', '<a href="/docs/shelf/#caf%C3%A9">a</a>', '<a href="/docs/shelf/a%20b.html">a</a>',
    '<a href="/docs/shelf/%61%20b.html">a</a>', '<a href="/docs/shelf/gr%c3%b6%c3%9fe.html">a</a>',
    '<a href="HTTPS://Museum.Example:443/docs/shelf/index.html">a</a>', '<a href="//museum.example/docs/shelf/">a</a>',
    '<a href="/docs/./x/../shelf/a&amp;b.html">a</a>', "<A HREF=/docs/shelf/index.html#crane>a</A>",
    '<a href="  /docs/shelf/index.html\n">a</a>', '<a href="">a</a>', '<a href="#top">a</a>', '<a href="#">a</a>',
    '<a href="#crane">a</a>', '<a href="#old">a</a>', '<a href="/docs/shelf/index.html#:~:text=crane">a</a>',
    '<img src="/docs/shelf/a.png" srcset="/docs/shelf/a.png, /docs/shelf/b,c.png 2x">',
    '<svg><use href="/docs/shelf/icons.svg#hook"></use></svg>', '<a href="mailto:joe@museum.example">a</a>',
    '<a href="data:,x">a</a>', '<a href="javascript:void(0)">a</a>', '<a href="tel:+44-20-7946-0123">a</a>',
    '<!-- <a href="gone.html">a</a> -->', '<script>x = \'<a href="gone.html">\'</script>',
    '<textarea><a href="gone.html"></textarea>', '<a data-href="gone.html">a</a>',
    '<p style="background: url( \'/docs/shelf/a.png\' )">p</p>', '<a href="/docs/shelf/100%25.html">a</a>',
)  # fmt: skip


def _page(right: str, fault: Fault | None) -> str:
    head, body = (fault.head, fault.body) if fault else ("", "")
    # With another base the references that are right would not be.
    right = right if "<base" not in head else ""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">{head}<title>t</title>\n'
        f'<h1 id="crane">A crane</h1><a name="old"></a>\n{body}\n<p>{right}\n</html>\n'
    )


def _write_targets(folder: Path) -> None:
    """The targets of the valid references."""
    shelf = folder / "shelf"
    shelf.mkdir()
    page = '<!doctype html><title>t</title><h1 id="crane">c</h1><a name="café">x</a>\n'
    for name in ("index.html", "a b.html", "größe.html", "a&b.html", "100%.html"):
        (shelf / name).write_text(page, encoding="utf-8")
    (shelf / "icons.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"><symbol id="hook"/></svg>\n')
    for name in ("a.png", "b,c.png"):
        (shelf / name).write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "bare").mkdir()
    (folder / "bare" / "note.txt").write_text("no index here\n")
    (folder / "index.html").write_text('<!doctype html><title>t</title><a href="shelf/">a</a>\n')


def _other_faults(number: int) -> Iterator[tuple[PlantedFault, str]]:
    """Faults in files of their own kind; the file and its content."""
    reference = "gone-too.png"
    yield PlantedFault(_SHEET, f"others/{number}.css", reference), f"p {{ background: url({reference}) }}\n"
    reference = "gone.md#a-heading"
    yield (
        PlantedFault(_MARKDOWN, f"others/{number}.md", reference),
        f"# A heading\n\n[a]({reference}) [b](#a-heading)\n",
    )
    reference = f"{BASE}others/gone-{number}.html"
    text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{reference}</loc></url></urlset>\n'
    yield PlantedFault(_MAP, f"others/sitemap-{number}.xml", reference), text
    reference = f"loop-{number}.html"
    yield PlantedFault(_LOOP, f"others/{reference}", reference), _page("", Fault("", head=_refresh(reference)))


def _refresh(reference: str) -> str:
    return f'<meta http-equiv="refresh" content="0; url={reference}">'


def plant(folder: Path, pages: int = 5000, each: int = 10, seed: int = 3986) -> list[PlantedFault]:
    """Write the site into an empty folder.

    pages: of HTML, in rooms of a hundred; each: the number of faults of each kind.

    Returns: the faults that it holds.
    """
    draw = random.Random(seed)
    _write_targets(folder)
    faults = [kind for kind in KINDS for _ in range(each)]
    if len(faults) > pages - pages // 100 - 1:
        raise ValueError(f"{len(faults)} faults need more than {pages} pages")
    # Others refer to the first page of a room, which has no faults.
    free = [number for number in range(pages) if number % 100]
    places = dict(zip(draw.sample(free, len(faults)), faults, strict=True))
    planted: list[PlantedFault] = []
    for number in range(pages):
        room = folder / "rooms" / f"{number // 100:03}"
        room.mkdir(parents=True, exist_ok=True)
        file = room / f"page-{number % 100}.html"
        kind = places.get(number)
        fault = KINDS[kind] if kind else None
        if kind and fault:
            planted.append(PlantedFault(kind, str(file.relative_to(folder)), fault.reference))
            if kind.startswith("beside the page"):
                (room / fault.reference).write_text("<!doctype html><title>t</title>\n")
        right = "\n".join(draw.sample(RIGHT, 20))
        file.write_text(_page(right, fault), encoding="utf-8")
    (folder / "others").mkdir()
    for number in range(each):
        for planted_there, text in _other_faults(number):
            planted.append(planted_there)
            (folder / planted_there.file).write_text(text)
    return planted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--each", type=int, default=10)
    options = parser.parse_args()
    options.folder.mkdir(parents=True)
    for planted in plant(options.folder, options.pages, options.each):
        print(json.dumps(planted._asdict(), ensure_ascii=False))


if __name__ == "__main__":
    main()
