"""The search of the documentation, in a browser: what people type leads to the section that answers it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from explainer import CHROMIUM
from servers import NET
from support import ROOT

if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)
pytest.importorskip("myst_parser")

from playwright.sync_api import Page, sync_playwright

from test_web_browser import Quiet

SEARCHED = {
    "windows path": "howto/schemes.html#convert-a-windows-path",
    "unc path": "howto/schemes.html#convert-a-windows-path",
    "punycode": "howto/hosts.html#convert-an-internationalised-host-name",
    "utm": "howto/queries.html#remove-tracking-parameters",
    "mailto": "howto/schemes.html#write-a-mailto-url",
    "to_path": "howto/schemes.html#turn-a-file-path-into-a-url",
    "SSRF": "howto/safety.html#open-a-url-that-a-user-gave",
}
FIRST = 3


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page of the search, of the whole site."""
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
        made = browser.new_page(base_url=f"http://127.0.0.1:{server.server_port}")
        made.set_default_timeout(NET * 1000)
        yield made
        browser.close()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("words", SEARCHED)
def test_a_search_leads_to_the_section(page: Page, words: str) -> None:
    page.goto(f"/search.html?q={words.replace(' ', '+')}")
    links = page.locator("#search-results li > a")
    links.nth(FIRST - 1).wait_for()
    found = [links.nth(place).get_attribute("href") or "" for place in range(FIRST)]
    path, _, anchor = SEARCHED[words].partition("#")
    assert [href for href in found if Path(href.split("?")[0].split("#")[0]) == Path(path) and f"#{anchor}" in href], (
        found
    )
