"""The rows of the link table, compared with Chromium's trees of the same pages.

Chromium (Debian's package `chromium`) loads each page in a frame without scripts, refreshes and subresources; it
sees no other host than this process.  `browser.html` tells what its tree holds: the base, the encoding, every
attribute that Chromium resolves (it finds out itself which these are) or that `links/documents/html.py` knows, as the
tree has it and resolved.  Here it is compared with the rows, page by page, and each difference is counted by its kind.

python bench/browser.py [FOLDER ...] [--whatwg] [--pages N] [--kernel native|reference] [--examples N] [-o FILE]

FOLDER: of HTML pages, or of html5lib-tests' tree-construction inputs (*.dat); by default the documentation on this
machine as `pages.py` serves it, the pages of `known_links.py`, and ../shared/cases/html5lib where it is.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import known_links
from pages import pages, roots

FOLDER = Path(__file__).resolve().parent
HTML5LIB = FOLDER.parent.parent / "shared" / "cases" / "html5lib" / "tree-construction"
HOST = "http://pages.example"
_MOST = 5 << 20


class ServedPage(NamedTuple):
    """A page: its name here, its path and query, its Content-Type and its content."""

    name: str
    path: str
    media_type: str
    content: bytes


class Row(NamedTuple):
    """The compared columns of a row of the link table."""

    where: str
    reference: str
    target: str | None
    error: str | None
    base: str


class Difference(NamedTuple):
    """A difference between Chromium and the rows."""

    page: str
    kind: str
    where: str
    reference: str
    ours: str | None = None
    theirs: str | None = None


# -- pages


def pages_to_serve(folders: Sequence[Path], count: int) -> Iterator[ServedPage]:
    """The pages, in an order that is the same for the same files."""
    if folders:
        found: Iterable[ServedPage] = (page for folder in folders for page in _folder(folder))
        yield from islice(found, count)
        return
    for number, page in enumerate(islice(pages(roots()), count)):
        content = gzip.decompress(page.payload) if page.kind.startswith("content coding") else page.payload
        media_type = next(value for name, value in page.headers if name == "Content-Type")
        path = page.uri.split("/", 3)[3].partition("#")[0]
        yield ServedPage(f"{page.uri} ({page.kind})", f"/{number}/{path}", media_type, content)
    for number, row in enumerate(known_links.known_pages()):
        if row.uri.startswith("http:") and not row.coding:
            media_type = next(value for name, value in known_links.page(row).headers if name == "Content-Type")
            path = row.uri.partition("://")[2].partition("/")[2].partition("#")[0]
            yield ServedPage(f"known, {row.group}, {number}", f"/known/{number}/{path}", media_type, row.content)
    if HTML5LIB.exists():
        yield from _folder(HTML5LIB)


def _folder(folder: Path) -> Iterator[ServedPage]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        place = f"/{folder.name}/{urllib.parse.quote(os.fsencode(name))}"
        if path.suffix == ".dat":
            for number, text in enumerate(_inputs(path)):
                yield ServedPage(f"{name}:{number}", f"{place}/{number}", "text/html; charset=utf-8", text)
        elif path.suffix in (".html", ".htm") and path.is_file():
            yield ServedPage(name, place, "text/html", path.read_bytes()[:_MOST])


def _inputs(path: Path) -> Iterator[bytes]:
    """The documents of a file of html5lib-tests, with a reference in each start tag and one after the last."""
    for part in re.split(rb"(?:^|\n\n)#data\n", path.read_bytes())[1:]:
        yield _add_marker(part.partition(b"\n#errors")[0])


def _add_marker(text: bytes) -> bytes:
    count = itertools.count()
    text = re.sub(rb"<[a-zA-Z][^\s/>]*(?=[\s/>])", lambda tag: b"%b href=u%d " % (tag[0], next(count)), text)
    return text + b"<a href=after>"


# -- rows


def _rows(page: ServedPage, whatwg: bool = False) -> list[Row]:
    """whatwg: targets are what the column `browser` says, where it says something else."""
    from overthere.links.job.contents import read
    from overthere.links.model import Options
    from overthere.links.report.batch import links

    row = {"url": HOST + page.path, "media_type": page.media_type, "content": page.content}
    rows = [link for batch in read([row], None, Options(whatwg=whatwg)) for link in links(batch)]
    return [
        Row(
            link.where or "",
            link.reference or "",
            link.target if link.browser is None else link.browser or None,
            link.error,
            link.base or "",
        )
        for link in rows
        if link.where is not None
    ]


def _text(page: ServedPage, charset: str | None) -> str:
    """The page's characters, by its declared encoding or the given one."""
    from overthere.links.documents.charset import decode_text
    from overthere.links.documents.html import decode
    from overthere.links.documents.kinds import media_type_of

    if charset is not None:
        return decode_text(page.content, charset)[0]
    return decode(page.content, media_type_of(page.media_type)[1])[0]


def _names() -> list[str]:
    from overthere.links.documents.html import ATTRIBUTES

    return sorted({name for name, _, reading in ATTRIBUTES if reading not in _NOT_COMPARED})


def _has_attribute(tag: str, name: str) -> bool:
    """Whether the rows have this attribute of this element."""
    from overthere.links.documents.html import ATTRIBUTES

    rules = [elements for names, elements, reading in ATTRIBUTES if names == name and reading not in _NOT_COMPARED]
    return any(not elements or tag in elements for elements in rules)


_NOT_COMPARED = ("style", "paint", "http-equiv", "content", "valuetype", "property", "type", "srcdoc", "attribute")
"""How `html.ATTRIBUTES` marks what is no reference by itself, or is read by choice."""
_TABLE = frozenset(("caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"))
_SINGLE = frozenset(("body", "form", "head", "html"))
_NAME = 64
"""Characters of an element's name that a row tells."""


def resolution_differences(attributes: Mapping[str, Sequence[str]]) -> list[Difference]:
    """The attributes of each element that Chromium resolves and no row has."""
    return [
        Difference("", "resolved by Chromium, in no row", tag, name)
        for tag, names in attributes.items()
        for name in names
        if not _has_attribute(tag, name)
    ]


# -- comparison


def compare_page(page: str, rows: Sequence[Row], report: Mapping[str, Any]) -> tuple[Counter[str], list[Difference]]:
    """The number of links that a page's rows and Chromium's tree share, and the differences.

    report: as `browser.html` makes it; its `spelled` has the target of each row as Chromium writes it.
    """
    counts: Counter[str] = Counter()
    differences: list[Difference] = []

    def differ(kind: str, place: str, reference: str, ours: str | None = None, theirs: str | None = None) -> None:
        counts[kind] += 1
        differences.append(Difference(page, kind, place, reference, ours, theirs))

    names = set(_names())
    ours: dict[tuple[str, str], list[tuple[Row, str | None]]] = {}
    styled: set[str] = set()
    for row, spelled in zip(rows, report["spelled"], strict=True):
        attribute = row.where.partition(" ")[2]
        if attribute in names:
            ours.setdefault((row.where, row.reference), []).append((row, spelled))
        else:
            counts["rows of style sheets and refreshes"] += 1
            styled.add(row.reference)
    for tag, name, text, target, is_plain, is_known, place, _ in report["links"]:
        where = f"{tag[:_NAME]} {name}"
        counts["attributes in the tree"] += 1
        if place:
            counts[f"attributes in the tree, in a {place}"] += 1
        waiting = ours.get((where, text))
        if waiting is None and tag == "img":
            waiting = ours.get((f"image {name}", text))  # HTML 13.2.6.4.7: "Change the token's tag name to 'img'"
        if waiting is None:
            if is_known or _has_attribute(tag, name):
                differ(f"in the tree only: {where}", where, text, None, target)
            else:
                counts["of an element that has no such attribute"] += 1
            continue
        if not waiting:
            differ("in the tree twice", where, text, None, target)
            continue
        row, spelled = waiting.pop()
        kind = _resolution(row, spelled, target, is_plain, report["base"])
        if kind in ("the same", "the same, but for the browser's spelling", "both refuse"):
            counts[kind] += 1
        else:
            differ(kind, where, text, row.target, target)
    for (where, reference), missing in ours.items():
        for row, _ in missing:
            differ(_ignore_reason(where.partition(" ")[0], report["frameset"]), where, reference, row.target)
    for url in report["styles"]:
        counts["url() in style sheets"] += 1
        if url and url not in styled:
            differ("url() in the tree only", "style", url)
    return counts, differences


def _ignore_reason(tag: str, is_frameset: bool) -> str:
    if is_frameset:
        return "in the rows only: the page is a frameset"
    if tag in _TABLE:
        return "in the rows only: part of a table outside of one"
    if tag == "frameset" or tag == "frame":
        return "in the rows only: frames in a page that is no frameset"
    return "in the rows only: a second one" if tag in _SINGLE else "in the rows only"


def _resolution(row: Row, spelled: str | None, resolved: str | None, is_plain: bool, base: str) -> str:
    if row.target is None:
        return "both refuse" if resolved is None else f"only the grammar refuses: {row.error}"
    if resolved is None:
        return "only the browser refuses"
    if row.target == resolved:
        return "the same"
    if spelled == resolved:
        return "the same, but for the browser's spelling"
    if not is_plain:
        return "another target: query in the encoding of the page"
    if re.match(r"https?:(?!//)", row.reference, re.IGNORECASE):
        return "another target: scheme without //"
    return "another target" if row.base == base.partition("#")[0] else "another target, another base"


# -- Chromium


class _Site(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, pages: Sequence[ServedPage], whatwg: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages, self.whatwg = pages, whatwg
        self.at = {page.path: page for page in pages}
        self.rows: dict[int, list[Row]] = {}
        self.counts: Counter[str] = Counter()
        self.differences: list[Difference] = []
        self.done = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # Chromium hangs up on what it does not need any more
            super().handle_error(request, client_address)

    def report(self, number: int, report: dict[str, Any]) -> None:
        page, rows = self.pages[number], self.rows.pop(number, [])
        self.counts["pages"] += 1
        if number % 100 == 0:
            print(f"{number:,} of {len(self.pages):,} pages", file=sys.stderr)
        if "failed" in report:
            self.counts["page not loaded"] += 1
            self.differences.append(Difference(page.name, "page not loaded", "", report["failed"]))
            return
        counts, differences = compare_page(page.name, rows, report)
        self.counts += counts
        self.differences += differences
        bases = {row.base for row in rows if row.where not in ("base href", "object data", "object classid")}
        if bases and report["base"].partition("#")[0] not in bases:
            self.counts["another base"] += 1
            self.differences.append(Difference(page.name, "another base", "", "", min(bases), report["base"]))
        if _text(page, None) != _text(page, report["charset"]):
            self.counts["another encoding"] += 1
            self.differences.append(Difference(page.name, "another encoding", "", "", None, report["charset"]))


class _Handler(BaseHTTPRequestHandler):
    server: _Site
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        site = self.server
        if self.path == "/harness":
            self._send("text/html; charset=utf-8", (FOLDER / "browser.html").read_bytes())
        elif self.path == "/what":
            self._json({"pages": [page.path for page in site.pages], "names": _names()})
        elif self.path.startswith("/targets/"):
            number = int(self.path[9:])
            site.rows[number] = _rows(site.pages[number], site.whatwg)
            self._json([row.target or "" for row in site.rows[number]])
        elif self.path in site.at:
            page = site.at[self.path]
            self._send(page.media_type, page.content, "default-src 'none'; style-src 'unsafe-inline'")
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.path == "/end":
            self.server.done.set()
        elif self.path == "/resolves":
            report = json.loads(body)
            print(*sorted(f"{tag}/{name}" for tag, names in report.items() for name in names), file=sys.stderr)
            self.server.differences += resolution_differences(report)
            self.server.counts["attributes that Chromium resolves"] = sum(map(len, report.values()))
            self.server.counts["resolved by Chromium, in no row"] = len(self.server.differences)
        else:
            self.server.report(int(self.path[8:]), json.loads(body))
        self._send("text/plain", b"")

    def _json(self, value: object) -> None:
        self._send("application/json", json.dumps(value).encode("utf-8", "surrogatepass"))

    def _send(self, media_type: str, content: bytes, policy: str = "") -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        if policy:
            self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        self.wfile.write(content)


def run(pages: Sequence[ServedPage], whatwg: bool = False) -> tuple[Counter[str], list[Difference]]:
    """Chromium over all pages.

    Raises: FileNotFoundError where it is not installed; ChildProcessError if it ends before the pages do.
    """
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise FileNotFoundError("chromium is not installed")
    with _Site(pages, whatwg) as site, TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        port = site.server_address[1]
        command = (
            program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-extensions", "--disable-background-networking", "--disable-component-update",
            f"--user-data-dir={profile}", f"--host-resolver-rules=MAP pages.example 127.0.0.1:{port}, MAP * ~NOTFOUND",
            "--remote-debugging-port=0", f"{HOST}/harness",
        )  # fmt: skip
        chromium = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            while not site.done.wait(1):
                if chromium.poll() is not None:
                    raise ChildProcessError(f"chromium ended with status {chromium.returncode}")
        finally:
            chromium.terminate()
            chromium.wait()
            site.shutdown()
        return site.counts, site.differences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="*", type=Path)
    parser.add_argument("--whatwg", action="store_true", help="targets as the column browser has them")
    parser.add_argument("--pages", type=int, default=3000, help="at most so many (3000)")
    parser.add_argument("--kernel", choices=("native", "reference"))
    parser.add_argument("--examples", type=int, default=5, help="of each kind, at most so many are shown (5)")
    parser.add_argument("-o", dest="output", type=Path, help="every difference, as lines of JSON")
    options = parser.parse_args()
    if options.kernel not in (None, os.environ.get("OVERTHERE_KERNEL")):
        # The kernel is picked when overthere is imported.
        os.environ["OVERTHERE_KERNEL"] = options.kernel
        os.execv(sys.executable, [sys.executable, *sys.argv])
    counts, differences = run(list(pages_to_serve(options.folder, options.pages)), options.whatwg)
    from overthere import kernel

    print(f"kernel: {kernel.name}")
    for kind, count in sorted(counts.items()):
        print(f"{count:>9,} {kind}")
    for kind in sorted({difference.kind for difference in differences}):
        print(f"\n{kind}")
        for one in islice((difference for difference in differences if difference.kind == kind), options.examples):
            print(f"  {one.page}\n    {one.where} {one.reference[:200]!r}\n    {one.ours}\n    {one.theirs}")
    if options.output:
        with options.output.open("w") as file:
            file.writelines(json.dumps(difference._asdict()) + "\n" for difference in differences)


if __name__ == "__main__":
    main()
