"""The table of integrations: each has its extra, its page, and the tested versions."""

from __future__ import annotations

import re
import tomllib

from support import ROOT

TABLE = re.compile(r"^\| (\S.*?) \| (\S*) ?\| (.*?) ?\| (.*?) ?\| (.*) \|$", re.MULTILINE)
PAGE = (ROOT / "docs" / "howto" / "libraries.md").read_text("utf-8").split("\n## ")[0]
ROWS = TABLE.findall(PAGE)[2:]
LINES = {
    "attrs",
    "beautifulsoup4",
    "cattrs",
    "click",
    "marshmallow",
    "msgspec",
    "scrapy",
    "structlog",
    "typer",
    "wtforms",
}
"""Libraries that need no integration: the page shows some lines for them, which are tested."""
FILES = (ROOT / "src" / "overthere" / "integrations").glob("*.py")
FACES = {file.stem for file in FILES if "brought_by(" in file.read_text("utf-8")}


def test_each_integration_has_a_row_an_extra_and_a_page() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {extra.strip("`"): oldest for _, extra, oldest, *_ in ROWS if extra}
    assert FACES <= extras.keys() <= project["optional-dependencies"].keys()
    for extra, oldest in extras.items():
        assert f"{extra}>={oldest}" in project["optional-dependencies"][extra]
    page = (ROOT / "docs" / "reference" / "integrations.md").read_text("utf-8")
    assert {name for name in FACES if f"overthere.integrations.{name}." in page} == FACES


def test_the_table_lists_the_tested_versions() -> None:
    pinned = dict(re.findall(r"^(\S+?)==(\S+)$", (ROOT / "requirements" / "dev.txt").read_text(), re.MULTILINE))
    tested = {library.lower(): version for library, _, _, version, _ in ROWS if library.lower() in pinned}
    assert tested == {library: pinned[library] for library in tested}
    assert tested.keys() == {"fastapi"} | LINES | FACES
