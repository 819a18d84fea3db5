"""No report contains a secret, wherever it is in a URI: each place, each output (RFC 3986 7.5)."""

from __future__ import annotations

import io
import json
import logging
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from overthere import (
    URI,
    InvalidURI,
    IRIReference,
    NoBase,
    PlanRefused,
    Policy,
    RegistryError,
    Template,
    audit,
    check,
    edition,
    explain,
    find,
    links,
    plan,
    scheme,
    web_address,
)
from overthere.access.judgment import Judged
from overthere.access.wire import Entry, Head
from overthere.base import establish
from overthere.broken import report
from overthere.broken.html_report import html_page
from overthere.broken.model import Broken, Checker, Outcome
from overthere.broken.reporting import finding
from overthere.broken.suggestions import Suggestion
from overthere.cli.app import app as main
from overthere.cli.broken_lines import lines
from overthere.editions import context1994, context1997, rfc1738, url1997, whatwg
from overthere.editions.readings import read
from overthere.editions.resolution_trace import trace
from overthere.files.tables.arrays import to_arrow
from overthere.ground.errors import OverthereError
from overthere.ground.redact import mask
from overthere.ground.secret_parameters import NAMES, secret_parameters
from overthere.kernel import split
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import Document, Found
from overthere.schemes.known.ftp import FTPLocator
from overthere.schemes.known.gopher import GopherLocator
from overthere.schemes.known.ldap import Search
from servers.ftpd import anonymous

WORD = "Geheim42xyzzy"
_NESTED = "http%3A%2F%2Fjoe%3A{0}%40h%2F"
PASSWORDS = {
    "userinfo": "http://joe:{0}@h.example/a",
    "query": f"http://h.example/?u={_NESTED}",
    "query, twice escaped": f"http://h.example/?u={_NESTED.replace('%', '%25')}",
    "fragment": "http://h.example/#http://joe:{0}@h/",
    "fragment, escaped": f"http://h.example/#{_NESTED}",
    "path": "http://h.example/http://joe:{0}@h/x",
    "path, escaped": f"http://h.example/{_NESTED}/x",
    "path, behind an escape": "http://h.example/%3Fhttp:joe:{0}@h/",
}
SIGNED = {
    "s3": "https://b.s3.amazonaws.com/k?X-Amz-Credential=AKIA%2F2026&X-Amz-Signature={0}&X-Amz-Expires=60",
    "s3 session": "https://b.s3.amazonaws.com/k?X-Amz-Security-Token={0}%2F%2Fx&X-Amz-Expires=60",
    "s3, version 2": "https://b.s3.amazonaws.com/k?AWSAccessKeyId=AKIA&Expires=1&Signature={0}%3D",
    "google": "https://storage.googleapis.com/b/o?X-Goog-Credential=a%40b&X-Goog-Signature={0}",
    "azure": "https://a.blob.core.windows.net/c/b?sv=2025-01-05&sr=b&sig={0}%3D&se=2026",
    "cloudfront": "https://d1.cloudfront.net/a.jpg?Policy=eyJ&Signature={0}__&Key-Pair-Id=APKA",
    "bearer": "http://h.example/?access_token={0}",
    "implicit grant": "http://h.example/cb#access_token={0}&token_type=bearer",
    "within a parameter": "http://h.example/?u=http%3A%2F%2Fh%2F%3Fsig%3D{0}%26v%3D1&w=2",
    "within a parameter, twice": "http://h.example/?u=http%253A%252F%252Fh%252F%253Fsig%253D{0}%2526v%253D1&w=2",
    "a path parameter": "ftp://h.example/a;token={0}/b",
    "a parameter of LDAP": "ldap://h.example/db?token={0}",
    "with an escaped delimiter": "ftp://h.example/a;token=ab%3B{0}",
    "an extension of LDAP": "ldap://h.example/db?a,b?sub??x=;token=y,z={0}",
    "a component of a URN": "urn:example:b?+token={0}",
    "in HTML": "http://h.example/?a=b&amp;password={0}&amp;c=d",
}
PLACES = PASSWORDS | SIGNED
each_place = pytest.mark.parametrize("uri", [place.format(WORD) for place in PLACES.values()], ids=list(PLACES))


def hidden(output: str) -> bool:
    return WORD.lower() not in output.lower()


# -- the rule


@each_place
def test_only_the_secret_is_masked(uri: str) -> None:
    masked = mask(uri)
    assert hidden(masked)
    assert "***" in masked
    for kept in ("X-Amz-Credential=AKIA%2F2026", "Key-Pair-Id=APKA", "token_type=bearer", "X-Amz-Expires=60", "w=2"):
        assert (kept in uri) == (kept in masked)


@each_place
def test_a_masked_uri_is_a_uri(uri: str) -> None:
    masked = URI(mask(uri.replace("&amp;", "&")))
    assert masked.replace(userinfo=None).authority == URI(uri.replace("&amp;", "&")).replace(userinfo=None).authority


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "spelling",
    [
        str, str.upper, lambda name: name.replace("_", "-"), lambda name: name.replace("_", "%2D"),
        lambda name: f"{name[0]}\t{name[1:]}\n", lambda name: f"%{ord(name[0]):02X}{name[1:]}",
        lambda name: f"{name[:-1]}%25{ord(name[-1].upper()):02x}", lambda name: "".join(f"%{ord(c):x}" for c in name),
        lambda name: "\r".join(name), lambda name: name.replace("s", "\u017f").replace("k", "\u212a"),
    ],
)  # fmt: skip
def test_each_name_has_its_value_masked(name: str, spelling: Any) -> None:
    text = f"http://h/?a=1&{spelling(name)}={WORD}&b=2"
    assert mask(text) == f"http://h/?a=1&{spelling(name)}=***&b=2"
    assert mask(f"{spelling(name)}={WORD}") == f"{spelling(name)}=***"


@pytest.mark.parametrize(
    "text", ["?sign=1", "?xsig=1", "?sig", "?sig=", "?sig=&a", "/sig=1", "?a=sig", "?keyword=a", "?tokens=a"]
)
def test_ordinary_parameters_are_not_masked(text: str) -> None:
    assert not any(secret_parameters(text))
    assert mask(text) == text


def test_the_documentation_lists_the_names() -> None:
    page = Path("docs/security.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| (.+) \|$", page, re.MULTILINE))
    assert rows == dict(NAMES)


# -- values, messages, figures


@each_place
def test_no_output_of_a_value_shows_a_secret(uri: str) -> None:
    uri = uri.replace("&amp;", "&")
    value = URI(uri)
    for form in (value, IRIReference(uri), value.parameters, value.locator, value.changes(), Template(uri)):
        assert hidden(repr(form))
    assert hidden(str(explain(uri)))
    row = Broken("a", 1, 1, 0, 1, "a href", uri, uri, None, "not-found", "", None, "", None, None, "error", None)
    rows = links.extract_html(f'<a href="{uri}">', "http://h/")
    for found in ([web_address(uri)], list(find(f"see <{uri}>")), list(rows), [row]):
        assert found
        assert hidden(repr(found))
    assert all(hidden(str(finding)) for finding in audit(uri))
    assert hidden(str(plan(uri.replace("http://joe", "ftp://joe", 1))))


@each_place
def test_no_error_shows_a_secret(uri: str) -> None:
    for bad in (f"{uri}|", f"{uri} ", f"|{uri}"):
        with pytest.raises(OverthereError) as caught:
            URI(bad)
        assert hidden(f"{caught.value} {caught.value!r} {caught.value.figure()}")  # type: ignore[attr-defined]
        assert all(hidden(str(finding)) for finding in check(bad))


def test_no_change_of_a_path_shows_a_password() -> None:
    """Browsers read the userinfo of http:joe:pw@h and http:/joe:pw@h (URL Standard 4.4)."""
    for uri in ("http:joe:Geheim7@h/../..", "http:/joe:Geheim7@h/../.."):
        assert "Geheim7" not in repr(URI(uri).changes())


def test_the_error_of_a_scheme_is_short_and_shows_no_password() -> None:
    for name in ("http://joe:Geheim7@h/", "a/" * 500):
        with pytest.raises(RegistryError) as caught:
            scheme(name)
        assert "Geheim7" not in str(caught.value)
        assert len(str(caught.value)) < 200


@each_place
def test_no_rejected_edit_shows_a_secret(uri: str) -> None:
    value = URI(uri.replace("&amp;", "&"))
    for edit in ({"host": "a/b"}, {"port": "1/2"}, {"userinfo": "a/b:c"}, {"authority": f"j:{WORD}@a/b"}):
        with pytest.raises(InvalidURI) as caught:
            value.replace(**edit)
        assert hidden(f"{caught.value} {caught.value!r} {caught.value.figure()}")
    with pytest.raises(InvalidURI) as caught:
        URI.build(scheme="http", userinfo="joe:x", host="a/b", query=value.query, fragment=value.fragment)
    assert hidden(f"{caught.value!r} {caught.value.figure()}")


@each_place
def test_no_error_of_a_base_or_target_shows_a_secret(uri: str) -> None:
    uri = uri.replace("&amp;", "&")
    for bad in (f"data:,{uri}", f"http://joe:{WORD}@h:8o/{uri}", f"x:{'x' * 180}//joe:{WORD * 9}@h:8o/[{uri}"):
        assert hidden(repr(establish(content=bad, default="x:")))
        with pytest.raises(NoBase) as caught:
            establish(content=f"data:{bad}", retrieval=f"//{bad}")
        assert hidden(str(caught.value))
    for name in ("rfc3986", "uri-2003", "url-1997"):
        assert hidden(repr(edition(name).resolve(uri, uri)))
    assert hidden(repr(split(uri)))


# -- what the verbs print for people


VERBS = [
    ["explain"], ["check"], ["plan"], ["audit"], ["audit", "--format", "sarif"], ["editions", "matrix"],
]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_no_command_shows_a_secret(verb: list[str]) -> None:
    lines = "\n".join(place.format(WORD) for place in PLACES.values()) + "\n"
    result = CliRunner().invoke(main, verb, input=lines)
    assert result.exit_code in (0, 1), result.output
    assert result.output
    assert [line for line in result.output.splitlines() if not hidden(line)] == []


# -- broken links


def _text_lines(findings: list[Broken], file: io.StringIO) -> None:
    file.writelines(piece.text for line in lines(findings, "file", None) for piece in line)


@each_place
@pytest.mark.parametrize("field", ["source", "reference", "suggestion", "why"])
@pytest.mark.parametrize("form", [report.sarif, report.junit, report.github, report.markdown, html_page, _text_lines])
def test_no_report_shows_a_secret(uri: str, field: str, form: Any) -> None:
    row: dict[str, Any] = dict.fromkeys(Broken._fields) | {
        "source": "a.html",
        "level": "error",
        "kind": "not-found",
        "why": "none",
    }
    file = io.StringIO()
    form([Broken(**{**row, field: uri})], file)
    assert hidden(file.getvalue())


@each_place
def test_no_finding_or_suggestion_shows_a_secret(uri: str) -> None:

    message = finding("a.html", "moved-permanently", uri, suggestion=Suggestion(uri, "certain"))
    assert hidden(message.why)
    assert message.suggestion is None


@each_place
@pytest.mark.parametrize("form", ["text", "jsonl", "csv", "sarif", "junit"])
def test_broken_shows_secrets_only_in_raw_columns(uri: str, form: str, tmp_path: Path) -> None:
    """Columns of a table contain the document's own text; nothing else does."""
    (tmp_path / "a.html").write_text(f'<a href="{uri}|">x</a><a href="gone/{uri}">y</a>', "utf-8")
    result = CliRunner().invoke(main, ["broken", str(tmp_path), "--format", form])
    assert result.exit_code == 1, result.output
    if form == "jsonl":
        whys = [json.loads(line)["why"] for line in result.output.splitlines() if line.startswith("{")]
        assert whys
        assert all(map(hidden, whys))
    elif form != "csv":
        assert hidden(result.output)


# -- what is retrieved


class _Server(BaseHTTPRequestHandler):
    """Pages of a site that needs a login; one redirects to a signed URI."""

    def do_GET(self) -> None:
        if self.path.startswith("/moved"):
            self.send_response(301)
            self.send_header("Location", f"/page.html?X-Amz-Signature={WORD}")
            self.end_headers()
            return
        content = b'<title>x</title><a href="#top">a</a><a href="other.html">b</a><a href="?v=2">c</a>'
        self.send_response(200 if self.path.startswith("/page.html") else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Link", "<next.html>; rel=next")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *args: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Server) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_targets_contain_no_login(tmp_path: Path) -> None:
    """With FTP, whose URIs may contain one: relative references inherit the authority of their base."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "page.html").write_text('<a href="other.html">b</a><a href="#top">a</a>', "utf-8")
    with anonymous(tmp_path, root) as server:
        uri = server.url("page.html").replace("ftp://", f"ftp://anonymous:{WORD}@")
        rows = [
            row
            for batch in links.batches([uri], policy=Policy.local())
            if not isinstance(batch, TaskEnd)
            for row in to_arrow(batch).to_pylist()
        ]
    assert [row["target"].partition("@")[0] for row in rows] == ["ftp://anonymous:***"] * 2
    assert hidden(str(rows))


RETRIEVED = [
    f"http://joe:{WORD}@{{}}/page.html", f"http://{{}}/page.html?X-Amz-Signature={WORD}&v=1", "http://{}/moved",
]  # fmt: skip


@pytest.mark.parametrize("uri", RETRIEVED)
@pytest.mark.parametrize("form", ["text", "jsonl", "csv"])
def test_links_do_not_show_the_login_of_the_retrieval(site: str, uri: str, form: str) -> None:
    result = CliRunner().invoke(main, ["links", uri.format(site), "--format", form])
    assert ("other.html" in result.output) == ("@" not in uri), result.output
    assert hidden(result.output)


@pytest.mark.parametrize("uri", RETRIEVED)
def test_no_column_of_the_table_shows_the_login(site: str, uri: str) -> None:
    rows = [
        row
        for batch in links.batches([uri.format(site)], policy=Policy.local())
        if not isinstance(batch, TaskEnd)
        for row in to_arrow(batch).to_pylist()
    ]
    assert len(rows) >= (1 if "@" in uri else 3)
    for row in rows:
        assert hidden(str(row))


@pytest.mark.parametrize("uri", RETRIEVED)
@pytest.mark.parametrize("form", ["text", "jsonl", "csv", "sarif", "junit"])
def test_a_crawl_does_not_show_a_secret(site: str, uri: str, form: str) -> None:
    result = CliRunner().invoke(main, ["broken", uri.format(site), "--private", "--format", form])
    assert result.exit_code in (0, 1), result.output
    assert result.output
    assert hidden(result.output)


@pytest.mark.parametrize("uri", RETRIEVED)
@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_get_does_not_show_a_secret(site: str, uri: str, form: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        result = CliRunner().invoke(main, ["get", "--format", form, uri.format(site)])
    assert "Geheim" not in result.output
    assert hidden(caplog.text)


@pytest.mark.parametrize("options", [[], ["--strict"], ["--json"]])
def test_a_value_without_a_variable_is_not_shown(options: list[str]) -> None:
    for argument in (f"token={WORD}", f"name={WORD}", f"http://joe:{WORD}@h/"):
        result = CliRunner().invoke(main, ["template", "expand", *options, "http://h/{?tok}", argument])
        assert result.exit_code == 2
        assert hidden(result.output)


@pytest.mark.parametrize("place", PLACES)
def test_no_repr_of_settings_or_results_shows_a_secret(place: str) -> None:
    """Logs and reports of failed tests contain such a `repr`."""
    uri = PLACES[place].format(WORD)
    checker = Checker(
        base=(uri,), remap=((uri, uri),), github=(WORD, uri), wayback=uri, headers=(("h", "Authorization", WORD),)
    )
    objects = [
        checker, Outcome(uri, None, 301, f"see {uri}", uri, True, (uri,), 0.0, False, uri), Found("a", uri, None, uri),
        Document(uri, b"", establish(content=uri, default="x:")), *read(uri), whatwg.Href(uri, *[""] * 10),
        whatwg.Href("", "", "", "joe", WORD, *[""] * 6), whatwg.read(uri), Head(location=uri, base=uri),
        Head(details={"fields": [("Location", uri)]}), Entry(uri, uri, details={"a": {"see": [uri, uri.encode()]}}),
        rfc1738.extract(f"<URL:{uri}>"), context1994.extract(f"<{uri}>"), *context1997.delimited(f"<{uri}>"),
        context1997.BaseURL(uri, "retrieval"), url1997.Site("joe", WORD, "h", None), Search(uri, "sub", uri, (uri,)),
        Judged(URI("x:"), uri, 1, tls=True),
        *(FTPLocator(host="h", directories=("a", uri)), GopherLocator(host="h", selector=uri.encode())),
        [trace(name, uri, uri) for name in ("rfc3986", "url-1997")], explain(uri, uri).rows, explain(uri, uri).forms,
    ]  # fmt: skip
    for value in objects:
        assert hidden(repr(value)), value
    assert repr(Checker()).startswith("Checker(base=(), fragments=True, anchors='auto', ")


@pytest.mark.parametrize(
    "uri",
    [
        f"http://h.example/?token={WORD}",
        f"ftp://h/a;token={WORD}",
        f"mailto:a@b?subject=http://j:{WORD}@h/",
        f"gopher://h/0http://j:{WORD}@h/",
        f"ldap://h/o=x?a??(a=http://j:{WORD}@h/)",
        f"ldap://h/o=x?token={WORD}",
        f"https://h.example;token%3Da,{WORD}/",
        f"rlogin://h.example;token={WORD}/",
        f"wais://h/db?http://j:{WORD}@h/",
        f"ws://h/?token={WORD}",
        f"news:http://j:{WORD}@h",
        f"data:,http://j:{WORD}@h/",
        f"prospero://h/http://j:{WORD}@h/",
    ],
)
def test_no_step_of_a_plan_shows_a_secret(uri: str) -> None:
    """The plan masked its steps, but a single step in a log showed its path and query."""
    for step in plan(uri).steps:
        assert hidden(f"{step!r} {step.line()} {step.to_dict()}"), step
    assert hidden(repr(replace(plan(uri).locator, written=None)))


MAILTO = "mailto:{0}http:%2F%2Fj:" + WORD + "%40h@h"


@pytest.mark.parametrize(
    "uri",
    [
        MAILTO.format(""),
        MAILTO.format("x" * 60),
        f"data:a/b;x%2F%2Fj%3A{WORD}%40h=1,c",
        f"file://&secret%3Dx%2F{WORD}/x",
    ],
)
def test_no_rejected_plan_shows_a_secret(uri: str) -> None:
    """It was shown unmasked, or shortened before it was masked."""
    with pytest.raises(PlanRefused) as caught:
        plan(uri)
    assert hidden(str(caught.value))


@pytest.mark.parametrize(
    "call",
    [
        lambda uri: edition(uri),
        lambda uri: check("http://h/", uri),
        lambda uri: establish("http://h/", edition=uri),
        lambda uri: list(links.extract([], edition=uri)),
        lambda uri: URI("http://h/").normalize(uri),
        lambda uri: URI("http://h/").equivalent(URI("http://h/"), uri),
        lambda uri: URI("http://h/").changes(uri),
        lambda uri: URI("http://h/a").with_suffix(uri),
        lambda uri: scheme(uri),
    ],
)
def test_a_uri_in_place_of_a_name_is_masked(call: Callable[[str], object]) -> None:
    with pytest.raises((OverthereError, ValueError)) as caught:
        call(f"http://joe:{WORD}@h/")
    assert hidden(str(caught.value))
