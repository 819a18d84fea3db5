"""The documentation in a browser: the search finds the right section, and the explainer is embedded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from explainer import CHROMIUM
from servers import NET
from support import ROOT

if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)
pytest.importorskip("myst_parser")

from playwright.sync_api import Page, expect, sync_playwright

from test_web_browser import AXE, Quiet

SEARCHED = {
    "windows path": "howto/schemes.html#convert-a-windows-path",
    "unc path": "howto/schemes.html#convert-a-windows-path",
    "punycode": "howto/hosts.html#convert-an-internationalised-host-name",
    "utm": "howto/queries.html#remove-tracking-parameters",
    "mailto": "howto/schemes.html#write-a-mailto-url",
    "to_path": "howto/schemes.html#turn-a-file-path-into-a-url",
    "rename parameter": "howto/queries.html#rename-a-parameter",
    "is absolute": "howto/parts.html#find-out-whether-a-url-is-absolute",
    "trailing slash": "howto/parts.html#add-or-remove-the-trailing-slash",
    "fragment parameters": "howto/queries.html#read-the-parameters-of-a-fragment",
    "credentials": "howto/parts.html#set-a-user-and-a-password",
    "nested queries": "howto/queries.html#read-a-url-within-a-query-nested-queries",
    "allowed hosts": "howto/safety.html#open-a-url-that-a-user-gave",
    "database url": "howto/parts.html#read-a-connection-string",
    "SSRF": "howto/safety.html#open-a-url-that-a-user-gave",
}
FIRST = 3


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The search page, of the whole site."""
    site = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--quiet",
        "--doctree-dir",
        str(site / "trees"),
        "docs",
        str(site / "html"),
    ]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site / "html")))
    thread = Thread(target=server.serve_forever)
    thread.start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        search_page = browser.new_page(base_url=f"http://127.0.0.1:{server.server_port}")
        search_page.set_default_timeout(NET * 1000)
        yield search_page
        browser.close()
    server.shutdown()
    thread.join()
    server.server_close()


def test_pages_for_maintainers_come_last(page: Page) -> None:
    page.goto("/search.html?q=host")
    links = page.locator("#search-results li > a")
    expect(page.locator("#search-results .search-summary")).to_contain_text("finished", timeout=NET * 1000)
    pages = [str(item.get_attribute("href")).split(".html")[0] for item in links.all()]
    last = [name in ("decisions", "conformance", "map", "benchmarks", "mutants", "design") for name in pages]
    assert any(last)
    assert last == sorted(last)


@pytest.mark.parametrize("words", SEARCHED)
def test_a_search_finds_the_section(page: Page, words: str) -> None:
    page.goto(f"/search.html?q={words.replace(' ', '+')}")
    links = page.locator("#search-results li > a")
    links.nth(FIRST - 1).wait_for()
    hrefs = [links.nth(place).get_attribute("href") or "" for place in range(FIRST)]
    path, _, anchor = SEARCHED[words].partition("#")
    assert [href for href in hrefs if Path(href.split("?")[0].split("#")[0]) == Path(path) and f"#{anchor}" in href], (
        hrefs
    )


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_explainer_is_embedded_in_the_site(page: Page, width: int, scheme: Any) -> None:
    """It loads only files of the site, fits the screen, and axe reports nothing."""
    requests: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.goto("/try.html")
    page.locator("iframe.try").scroll_into_view_if_needed()
    frame = page.frame_locator("iframe.try")
    assert not [url for url in requests if "pyodide" in url], "nothing is loaded before the first text"
    frame.locator("#in-text").fill("http://h:8o/a b")
    expect(frame.locator("#status")).to_contain_text("MB, once")
    expect(frame.locator("#status")).to_have_text("not valid, 2 findings", timeout=120_000)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert {urlsplit(url).netloc for url in requests if not url.startswith(("data:", "blob:"))} == {
        urlsplit(page.url).netloc
    }
    page.goto("/try/anatomy.html#/text=http%3A%2F%2Fh%3A8o%2Fa%20b")
    expect(page.locator("#status")).to_have_text("not valid, 2 findings", timeout=120_000)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.evaluate(AXE)
    assert page.evaluate("axe.run().then(done => done.violations.map(one => one.id))") == []
    assert faults == []


def test_examples_of_errors_link_to_their_anatomy(page: Page) -> None:
    page.goto("/errors.html")
    page.locator("section#port-char").get_by_role("link", name="see it").first.click()
    expect(page.locator("#status")).to_contain_text("not valid, 1 finding", timeout=120_000)
