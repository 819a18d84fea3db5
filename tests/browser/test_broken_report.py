"""The HTML report of broken links in a browser: filters, without JavaScript, on a narrow screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from explainer import CHROMIUM
from overthere.broken import find
from overthere.broken.html_report import html_page

if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)

from playwright.sync_api import Browser, sync_playwright

HOSTILE = "&lt;/bdi>&lt;/code>&lt;script>document.title='run'&lt;/script>&lt;img src=x onerror=document.title='run'>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def report(tmp_path: Path) -> str:
    site = tmp_path / "site"
    site.mkdir()
    (site / "a.html").write_text(f'<a href="Lost.html"><a href="#no"><a href="/z"><a href="{HOSTILE}">')
    (site / "b.html").write_text(f'<a href="{"long" * 50}.html">')
    with (tmp_path / "report.html").open("w") as file:
        html_page(find(site), file)
    return (tmp_path / "report.html").as_uri()


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_filters_work_and_the_page_fits_the_screen(
    browser: Browser, report: str, width: int, colours: Literal["light", "dark"]
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=colours)
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("request", lambda request: messages.append(request.url))
    page.goto(report)
    assert messages == [report], "nothing else is requested, and the policy of the page rejects nothing"
    assert page.title() == "Broken links"
    assert page.evaluate("document.documentElement.scrollWidth") == width
    count = page.locator("li:visible").count()
    assert page.locator("output").inner_text() == f"{count} of {count} findings shown"
    page.get_by_label("Text").fill("lost.HTML")
    assert (page.locator("li:visible").count(), page.locator("section:visible").count()) == (1, 1)
    page.get_by_label("Text").fill("")
    page.get_by_label("Level").select_option("note")
    assert page.locator("li:visible").count() == 1
    page.get_by_label("Level").select_option("")
    page.get_by_label("Kind").select_option("no-fragment")
    assert page.locator("li:visible code").all_inner_texts() == ["#no"]
    page.close()


def test_everything_is_readable_without_javascript(browser: Browser, report: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report)
    assert page.locator("li:visible").count() == page.locator("li").count() > 4
    assert not page.locator("form").is_visible()
    context.close()
