"""The explainer in a real browser: typing, links, hostile input, accessibility, without JavaScript, small and dark."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from threading import Thread
from urllib.parse import urlencode

import pytest
from click.testing import CliRunner

from explainer import CHROMIUM, Explainer, explainer
from overthere.cli.app import app
from overthere.web import pages
from overthere.web.model import TEXT
from overthere.web.views import VIEWS
from servers import NET, wait_until
from test_web import HOSTILE

if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)

from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Route, expect, sync_playwright

SCREENS = [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")]
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


@pytest.fixture(scope="module")
def served() -> Iterator[Explainer]:
    with explainer() as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=NET * 1000)
    with sync_playwright() as playwright:
        # Root cannot use Chromium's sandbox; only our own pages are shown.
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


class WatchedPage:
    """A page whose console messages, errors and requests are recorded."""

    def __init__(self, context: BrowserContext, served: Explainer) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(NET * 1000)
        self.served = served
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", self.dialog)

    def dialog(self, dialog: Dialog) -> None:
        self.messages.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def go(self, name: str, **fields: str) -> Page:
        self.page.goto(f"{self.served.root}/{name}" + (f"?{urlencode(fields)}" if fields else ""))
        return self.page

    def assert_quiet(self) -> None:
        """Nothing was logged, and nothing was requested from other hosts."""
        # A field clicked before the browser handles `autofocus` keeps the focus, and the console notes it.
        assert [text for text in self.messages if not text.startswith("Autofocus processing was blocked")] == []
        assert [url for url in self.requests if not url.startswith(self.served.root)] == []


@pytest.fixture
def watched(browser: Browser, served: Explainer) -> Iterator[WatchedPage]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    watched_page = WatchedPage(context, served)
    yield watched_page
    watched_page.assert_quiet()
    context.close()


def test_the_answer_appears_while_typing(watched: WatchedPage) -> None:
    watched.page.clock.install(time=0)
    page = watched.go("anatomy")
    # The clock stands still between two keys, however slow this machine is.
    page.clock.pause_at(3600)
    page.locator("#in-text").press_sequentially("http://example.com/over there")
    page.clock.resume()
    expect(page.locator("#status")).to_have_text("not valid, 1 finding")
    expect(page.locator("ol.findings li")).to_have_count(1)
    page.locator("#in-text").fill("http://example.com/over/there")
    expect(page.locator("#status")).to_have_text("URI, 4 components")
    expect(page).to_have_url(f"{watched.served.root}/anatomy?text=http%3A%2F%2Fexample.com%2Fover%2Fthere")
    parts = [url for url in watched.requests if url.endswith(".part")]
    assert len(parts) == 2, "not one for each key"
    page.reload()
    expect(page.locator("#in-text")).to_have_value("http://example.com/over/there")
    expect(page.get_by_label("text of the path")).to_have_value("/over/there")


def test_the_first_page_answers_while_typing(watched: WatchedPage) -> None:
    page = watched.go("")
    page.locator("#in-text").fill("http://h.example/a")
    expect(page.locator("#status")).to_have_text("URI, 4 components")
    expect(page.get_by_label("text of the path")).to_have_value("/a")
    expect(page).to_have_url(f"{watched.served.root}/anatomy?text=http%3A%2F%2Fh.example%2Fa")
    expect(page).to_have_title("Anatomy · overthere")


def test_editing_a_parameter_in_the_table_changes_the_text(watched: WatchedPage) -> None:
    """Only that piece changes; typing goes on while answers arrive."""
    page = watched.go("anatomy", text="http://h/?a=%7e&q=x+y&bare&token=t#f")
    expect(page.get_by_label("value of token")).to_have_count(0)
    field = page.get_by_label("value of q")
    expect(field).to_have_value("x y")
    field.focus()
    page.keyboard.press("End")
    for typed, text in (("&", "x%20y%26"), ("é", "x%20y%26%C3%A9"), ("z", "x%20y%26%C3%A9z")):
        with page.expect_response("**/*.part"):
            page.keyboard.type(typed)
        expect(page.locator("#answer[aria-busy=true]")).to_have_count(0)
        expect(page.locator("#in-text")).to_have_value(f"http://h/?a=%7e&q={text}&bare&token=t#f")
        expect(field).to_be_focused()
    expect(field).to_have_value("x y&éz")
    page.get_by_label("value of bare").fill("1")
    expect(page.locator("#in-text")).to_have_value("http://h/?a=%7e&q=x%20y%26%C3%A9z&bare=1&token=t#f")
    expect(page.locator("tr.c-query code").first).to_have_text("a=%7e&q=x%20y%26%C3%A9z&bare=1&token=***")


@pytest.mark.parametrize(
    ("name", "typed", "text"),
    [
        ("host", "b.example", "http://b.example:8/p/q?a#f"),
        ("host", "[::1]", "http://[::1]:8/p/q?a#f"),
        ("host", "a/b:c@d?e#f", "http://a%2Fb%3Ac%40d%3Fe%23f:8/p/q?a#f"),
        ("host", "", "http://:8/p/q?a#f"),
        ("path", "/x y?#", "http://h:8/x y%3F%23?a#f"),
        ("path", "", "http://h:8?a#f"),
        ("path", "/a/b/c", "http://h:8/a/b/c?a#f"),
    ],
)
def test_editing_host_and_path_in_the_table_changes_the_text(
    watched: WatchedPage, name: str, typed: str, text: str
) -> None:
    """Key by key, faster than answers arrive; delimiters of the component are escaped."""
    page = watched.go("anatomy", text="http://h:8/p/q?a#f")
    field = page.get_by_label(f"text of the {name}")
    field.focus()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.type(typed)
    expect(page.locator("#in-text")).to_have_value(text)
    expect(page.locator("#answer[aria-busy=true]")).to_have_count(0)
    if " " not in text and not text.startswith("http://:"):
        expect(field).to_be_focused()
        expect(field).to_have_value(typed)


def test_a_late_answer_does_not_move_the_edited_field(watched: WatchedPage) -> None:
    """Its offsets belong to an older text."""
    watched.page.clock.install(time=0)
    page = watched.go("anatomy", text="http://h:8/p")
    page.clock.pause_at(3600)
    routes: list[Route] = []
    page.route("**/*.part", lambda route: routes.append(route))
    page.get_by_label("text of the host").focus()
    with page.expect_request("**/*.part"):
        page.keyboard.type("a")
        page.clock.run_for(1000)
    page.keyboard.type("b")
    with page.expect_response("**/*.part") as answered:
        routes[0].continue_()
    answered.value.finished()
    page.unroute_all()
    page.keyboard.type("c")
    expect(page.locator("#in-text")).to_have_value("http://habc:8/p")
    page.clock.resume()
    expect(page.locator("#answer[aria-busy=true]")).to_have_count(0)
    expect(page.get_by_label("text of the host")).to_have_value("habc")


def test_an_unfinished_host_is_edited_in_the_text_field(watched: WatchedPage) -> None:
    page = watched.go("anatomy", text="http://h:8/p/q?a#f")
    page.get_by_label("text of the host").fill("[")
    expect(page.locator("#in-text")).to_be_focused()
    page.keyboard.type("::1]")
    expect(page.locator("#in-text")).to_have_value("http://[::1]:8/p/q?a#f")
    expect(page.get_by_label("text of the host")).to_have_value("[::1]")


def test_names_are_edited_and_parameters_added_and_removed(watched: WatchedPage) -> None:
    """With the keyboard alone; the focus moves to the next step."""
    page = watched.go("anatomy", text="http://h/?a=%7e&bare&token=t#f")
    text = page.locator("#in-text")
    page.get_by_label("name of parameter 1").fill("a=&é")
    expect(text).to_have_value("http://h/?a%3D%26%C3%A9=%7e&bare&token=t#f")
    page.get_by_label("name of parameter 2").fill("")
    expect(text).to_have_value("http://h/?a%3D%26%C3%A9=%7e&=&token=t#f")
    expect(page.locator("#answer[aria-busy=true]")).to_have_count(0)
    page.get_by_role("button", name="Add a parameter").press("Enter")
    expect(page.get_by_label("name of parameter 4")).to_be_focused()
    page.keyboard.type("new name")
    page.keyboard.press("Tab")
    page.keyboard.type("1+1")
    expect(text).to_have_value("http://h/?a%3D%26%C3%A9=%7e&=&token=t&new%20name=1%2B1#f")
    expect(page.locator("#answer[aria-busy=true]")).to_have_count(0)
    expect(page.get_by_label("value of new name")).to_be_focused()
    page.get_by_role("button", name="Remove token").press("Space")
    expect(text).to_have_value("http://h/?a%3D%26%C3%A9=%7e&=&new%20name=1%2B1#f")
    expect(page.get_by_role("button", name="Remove new name")).to_be_focused()
    for count in (2, 1, 0):
        page.keyboard.press("Enter")
        expect(page.locator("tr[data-piece]")).to_have_count(count)
    expect(text).to_have_value("http://h/#f")
    expect(page.get_by_role("button", name="Add a parameter")).to_be_focused()
    page.keyboard.press("Enter")
    expect(text).to_have_value("http://h/?=#f")
    expect(page.get_by_label("name of parameter 1")).to_be_focused()


@pytest.mark.parametrize("label", ["Add a parameter", "Remove b", "Copy"])
def test_a_button_keeps_the_focus_while_answers_arrive(watched: WatchedPage, label: str) -> None:
    """Otherwise the next key press would be lost."""
    page = watched.go("anatomy", text="http://h/?a=%7e&b=2&b=3#f")
    button = page.get_by_role("button", name=label, exact=True).last
    with page.expect_response("**/*.part"):
        page.locator("#in-text").fill("http://h/?a=%7e&b=2&b=4#f")
        button.focus()
    expect(page.locator("#answer[aria-busy=true]")).to_have_count(0)
    expect(page.get_by_label("value of b").last).to_have_value("4")
    expect(button).to_be_focused()


@pytest.mark.parametrize("query", ["a&&b=2", "&", "a=1&", "=&=", "a;b=1", "a=b=c", "%FF=%zz", "<i>=<b>"])
def test_each_piece_of_a_query_can_be_removed(watched: WatchedPage, query: str) -> None:
    """Empty pieces too: each piece has its own row."""
    page = watched.go("anatomy", text=f"x:?{query}")
    rows = page.locator("tr[data-piece]")
    for row in range(rows.count()):
        piece = rows.nth(row)
        pieces = query.split("&")
        name = pieces[int(piece.get_attribute("data-piece") or 0)].split("=")[0]
        assert name in (piece.get_attribute("data-name"), "%FF")


def test_a_uri_in_a_value_links_to_its_anatomy(watched: WatchedPage) -> None:
    page = watched.go("anatomy", text="http://h/?q=a:b&next=https%3A%2F%2Fe.example%2F%3Fx%3D1")
    page.get_by_role("link", name="Anatomy of this URI").click()
    expect(page.locator("#in-text")).to_have_value("https://e.example/?x=1")


def copied_text(page: Page, title: str) -> str:
    page.get_by_role("button", name=title).click()
    expect(page.locator("#status")).to_have_text(title.replace("Copy", "Copied"))
    return str(page.evaluate("navigator.clipboard.readText()"))


@pytest.mark.parametrize("name", [name for name, view in VIEWS.items() if view.python])
def test_the_copied_command_runs(watched: WatchedPage, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    watched.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = watched.go(name, **VIEWS[name].examples[0].inputs)
    exec(copied_text(page, "Copy as Python"), {})
    assert capsys.readouterr().out
    program, *arguments = shlex.split(copied_text(page, "Copy as command"))
    assert program == "overthere"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code in (0, 1), result.output
    assert result.stdout


@pytest.mark.parametrize("text", ["-a", 'it\'s "$(b)" `c` \\d {text} [e]', "é\U0001f600", "", "http://h/?a=b&c#d"])
def test_the_copied_command_is_quoted(watched: WatchedPage, text: str) -> None:
    watched.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = watched.go("editions", text=text)
    tree = ast.parse(copied_text(page, "Copy as Python"))
    (call,) = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert call.value == text
    arguments = ["overthere", "explain", *(["--"] if text.startswith("-") else []), text]
    assert shlex.split(copied_text(page, "Copy as command")) == arguments


def test_without_a_clipboard_the_text_is_shown(watched: WatchedPage) -> None:
    page = watched.go("plan", text="http://h/")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Copy as command").click()
    expect(page.locator("#status")).to_contain_text("Copy this: overthere plan http://h/")


def test_an_outdated_request_is_cancelled(watched: WatchedPage) -> None:
    """The answer to the older text does not replace that of the newer one."""
    page = watched.go("anatomy", text="a")
    routes: list[object] = []

    def hold(route: object, request: object) -> None:
        if "first" in (request.post_data or ""):  # type: ignore[attr-defined]
            routes.append(route)
        else:
            route.continue_()  # type: ignore[attr-defined]

    page.route("**/anatomy.part", hold)
    page.locator("#in-text").fill("first")

    def held_routes() -> list[object]:
        page.wait_for_timeout(20)  # handles events of the page
        return routes

    wait_until(held_routes, "the first is not asked")
    page.locator("#in-text").fill("second")
    expect(page.get_by_label("text of the path")).to_have_value("second")
    page.unroute_all()


def test_the_links_lead_to_their_views(watched: WatchedPage) -> None:
    page = watched.go("anatomy", text="http://h.example/a?b")
    page.get_by_role("link", name="Five documents").click()
    expect(page).to_have_url(f"{watched.served.root}/editions?text=http%3A%2F%2Fh.example%2Fa%3Fb")
    page.get_by_role("link", name="Permanent link").click()
    expect(page.locator("h1")).to_have_text("Five documents")
    page.get_by_role("link", name="The same as JSON").click()
    assert json.loads(page.locator("pre").inner_text())["text"] == "http://h.example/a?b"


def test_every_view_is_linked_from_the_first_page(watched: WatchedPage) -> None:
    for view in VIEWS.values():
        page = watched.go("")
        page.locator("ul.views").get_by_role("link", name=view.title, exact=True).click()
        expect(page.locator("h1")).to_have_text(view.title)


def test_hovering_a_component_marks_it_in_the_text(watched: WatchedPage) -> None:
    page = watched.go("anatomy", text="http://h.example:80/a?b#c")
    colour = "el => getComputedStyle(el).backgroundColor"
    text = page.locator('.text [data-c="query"]')
    before = text.evaluate(colour)
    page.locator('tr[data-c="query"]').hover()
    marked = text.evaluate(colour)
    assert marked != before
    page.mouse.move(0, 0)
    assert text.evaluate(colour) == before
    page.locator('tr[data-c="query"]').focus()
    assert text.evaluate(colour) == marked
    page.locator('tr[data-c="authority"]').focus()
    assert page.locator('.text [data-c="port"]').evaluate(colour) == marked


NUL_FREE = [text.replace("\x00", "") for text in HOSTILE if text.isascii() or "\u202e" in text]
# Each text needs an answer.  One text represents all that are invalid in every view; test_web has each of them.
TYPED = [" ".join(text for text in NUL_FREE if not text.startswith("http")), *(t for t in NUL_FREE if t[:4] == "http")]
FOREIGN = "#answer :is(script, img, iframe, b, s, q)"


@pytest.mark.parametrize("name", VIEWS)
def test_hostile_input_is_shown_as_text(watched: WatchedPage, name: str) -> None:
    """In every field, by link and by typing: no dialog, no console message, no element made from the text."""
    page = watched.page
    for one in VIEWS[name].inputs:
        if one.kind == "choice":
            continue
        for text in NUL_FREE[1:4]:
            fields = {**VIEWS[name].examples[0].inputs, one.name: text}
            answer = watched.served.ask(pages.link(name, fields) or "")
            if answer.status == 200:  # Chromium logs others
                page.goto(watched.served.root + (pages.link(name, fields) or ""))
                expect(page.locator(FOREIGN)).to_have_count(0)
    page = watched.go(name)
    for number in range(page.locator("form[data-view] :is(input, textarea)").count()):
        field = page.locator("form[data-view] :is(input, textarea)").nth(number)
        for text in TYPED:
            with page.expect_response("**/*.part"):
                field.fill(text)
            expect(page.locator("#answer[aria-busy=true]")).to_have_count(0)
            expect(page.locator("#answer > *")).to_have_count(1)
            expect(page.locator(FOREIGN)).to_have_count(0)


def test_direction_marks_cannot_reorder_the_text(watched: WatchedPage) -> None:
    page = watched.go("anatomy", text="http://h/\u202egnp.exe")
    expect(page.locator(".text .unseen")).to_have_text("U+202E")
    assert "\u202e" not in page.locator("#answer").inner_text()


def test_a_megabyte_of_input_is_rejected_with_the_limit(watched: WatchedPage) -> None:
    page = watched.go("anatomy")
    page.locator("#in-text").fill("a" * 1_000_000)
    expect(page.locator("#answer .failed")).to_contain_text(f"the limit here is {TEXT:,}")
    page.locator("#in-text").fill("a:b")
    expect(page.locator("#status")).to_have_text("URI, 2 components")


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_pages_are_accessible_and_fit_the_screen(browser: Browser, served: Explainer, width: int, scheme: str) -> None:
    """axe-core finds nothing (WCAG 2.2 AA and its best practices); nothing is wider than the screen."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    watched = WatchedPage(context, served)
    some = 2 if (width, scheme) == SCREENS[0] else 1
    links = ["/", *(pages.link(view.name, one.inputs) or "" for view in VIEWS.values() for one in view.examples[:some])]
    links += [
        f"/anatomy?text={text}" for text in ("http%3A%2F%2Fh%3A8o%2Fa+b%E2%80%AE", "x%3A%3Fa%3D1%26token%3D2%26%3D")
    ]
    faults: list[str] = []
    for link in links:
        watched.page.goto(served.root + link)
        wide = watched.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        faults += [f"{link}: {wide} wider than the screen"] if wide > 0 else []
        watched.page.evaluate(AXE)
        for rule in watched.page.evaluate("axe.run().then(done => done.violations)"):
            faults += [f"{link}: {rule['id']}: {node['html'][:120]}" for node in rule["nodes"]]
    assert faults == []
    watched.assert_quiet()
    context.close()


def test_everything_works_with_the_keyboard(watched: WatchedPage) -> None:
    page = watched.go("anatomy", text="http://h/a")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("#in-text")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("a:b")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("URI, 2 components")
    expect(page.get_by_role("navigation", name="Views")).to_have_count(1)
    expect(page.get_by_role("main")).to_have_count(1)
    expect(page.get_by_role("banner")).to_have_count(1)
    expect(page.get_by_role("contentinfo")).to_have_count(1)
    expect(page.locator("th:not([scope])")).to_have_count(0)


def test_pages_work_without_javascript(browser: Browser, served: Explainer) -> None:
    context = browser.new_context(java_script_enabled=False)
    watched = WatchedPage(context, served)
    page = watched.go("")
    page.locator("#in-text").fill("http://h/a b")
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(f"{served.root}/anatomy?text=http%3A%2F%2Fh%2Fa+b")
    expect(page.locator("ol.findings li")).to_have_count(1)
    for name, field, text in [("links", "document", "<a href=x>" * 9000), ("anatomy", "text", "a" * 100_000)]:
        page = watched.go(name)
        page.locator(f"#in-{field}").fill(text)
        page.get_by_role("button", name="Show").click()
        expect(page).to_have_url(f"{served.root}/{name}")
        expect(page.locator("#answer > *")).to_have_count(1)
    assert f"the limit here is {TEXT:,}" in page.locator(".failed").inner_text()
    context.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The explainer as static files, served by a plain file server."""
    import folder as tool

    root = tmp_path_factory.mktemp("folder") / "explainer"
    tool.build(root)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


def test_the_static_explainer_gives_the_same_answers(browser: Browser, folder: str) -> None:
    """Pyodide runs the pure wheel in the page and loads nothing from elsewhere."""
    context = browser.new_context()
    watched = WatchedPage(context, Explainer(int(folder.rpartition(":")[2])))
    page = watched.page
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.goto(f"{folder}/anatomy.html#/{urlencode({'text': 'http://h/a b'})}")
    expect(page.locator("#status")).to_contain_text(re.compile("are being loaded into this page: [12][0-9] MB, once"))
    expect(page.locator("#status")).to_have_text("not valid, 1 finding", timeout=120_000)
    page.get_by_role("link", name="FTP with a type").click()  # another fragment of the same page
    expect(page.locator("#in-text")).to_have_value("ftp://ftp.example/%2Fetc/motd;type=a")
    page.locator("#in-text").fill("http://h/%7Eu")
    expect(page.locator("#status")).to_have_text("URI, 4 components", timeout=60_000)
    expect(page.locator("tr.c-path code").first).to_have_text("/~u")
    page.get_by_role("link", name="Resolution").click()
    expect(page.locator("#status")).to_have_text("1 different target", timeout=120_000)
    page.goto(f"{folder}/links.html#/{urlencode({'document': '<a href=x>'})}")
    expect(page.locator("#answer .failed")).to_contain_text("pip install 'overthere[links]'", timeout=120_000)
    page.goto(f"{folder}/anatomy.html")
    page.locator("#in-text").fill("http://u:openSesame@h/")
    expect(page.locator("#status")).to_have_text("URI, 5 components", timeout=120_000)
    assert page.url == f"{folder}/anatomy.html"
    # The typed text is sent nowhere, in no part of a URI.
    assert not [url for url in sent if "?" in url or "openSesame" in url]
    watched.assert_quiet()
    context.close()


def test_a_printed_page_shows_input_and_answer_in_full(browser: Browser, served: Explainer) -> None:
    """Nothing is cut at an edge."""
    context = browser.new_context(viewport={"width": 720, "height": 1000})
    watched = WatchedPage(context, served)
    page = watched.go("anatomy", text="http://h.example/" + "a/" * 60)
    page.emulate_media(media="print")
    for selector in ("nav", "footer", ".examples", ".links", "form button"):
        assert not page.locator(selector).first.is_visible()
    assert page.locator(".text").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.pdf().startswith(b"%PDF")
    watched.assert_quiet()
    context.close()
