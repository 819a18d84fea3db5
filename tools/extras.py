"""Each extra alone: in an empty environment it runs the example of its page.  Part of `make release-check`.

python tools/extras.py WHEEL [EXTRA ...]

What an extra brings is installed with the wheel, and nothing else; two extras stand together where the page says so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RUNS = ROOT / "build" / "extras"


class Example(NamedTuple):
    """The first example below a heading of a page: a session of Python, or lines of a console."""

    page: str
    heading: str = ""
    beside: tuple[str, ...] = ()
    """Other extras that the page asks for."""
    program: str = ""
    """A program instead, where the page has none that runs alone."""


# Two kinds of document that `overthere broken` reads with an extra.
RST = """
from pathlib import Path
from overthere.broken import find
Path("a.rst").write_text("See there_.\\n\\n.. _there: b.html\\n")
print([found.why for found in find("a.rst")])
"""
NOTEBOOK = """
import json
from pathlib import Path
from overthere.broken import find
cell = {"cell_type": "markdown", "metadata": {}, "source": "[there](b.html)", "id": "a"}
Path("a.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
print([found.why for found in find("a.ipynb")])
"""
SPARK = """
import pyspark.sql.functions as F
from pyspark.sql import SparkSession
import overthere.columns.spark as uri
session = SparkSession.builder.master("local[1]").getOrCreate()
(row,) = session.createDataFrame([("http://a.example/x",)], ["url"]).select(uri.host(F.col("url"))).collect()
session.stop()
assert row[0] == "a.example", row
"""
# No extra installs a server, so the requested resource is missing.
STORES = """
import os
from overthere import Policy
from overthere.links import extract
from overthere.files.stores import by_obstore
os.environ |= {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ALLOW_HTTP": "true", "AWS_REGION": "x"}
os.environ |= {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
by_obstore.RETRY["max_retries"] = 0
(row,) = extract("s3://bucket/a.html", policy=Policy.local())
assert row.error == "not-opened", row
"""
LZ4 = """
import lz4.frame
from pathlib import Path
from overthere.links import extract
head = "WARC/1.0\\r\\nWARC-Type: response\\r\\nWARC-Target-URI: http://h/\\r\\nContent-Type: application/http\\r\\n"
body = "HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\n\\r\\n<a href=b>"
record = f"{head}Content-Length: {len(body)}\\r\\n\\r\\n{body}\\r\\n\\r\\n"
Path("a.warc.lz4").write_bytes(lz4.frame.compress(record.encode()))
assert [link.target for link in extract(["a.warc.lz4"])] == ["http://h/b"]
"""
EXAMPLES = {
    "access": Example("howto/safety.md", "Open a URL that a user gave, without reaching internal services (SSRF)"),
    "aiohttp": Example("howto/guards.md", "aiohttp"),
    "all": Example("howto/many.md", "Work on a column of an Arrow table"),
    "audit": Example("howto/safety.md", "See what is suspicious in a URL"),
    "broken": Example("broken.md"),
    "cli": Example("start.md", "See what is in a URI"),
    "columns": Example("howto/many.md", "Work on a column of an Arrow table"),
    "django": Example("howto/libraries.md", "Store URIs with Django, and validate them in forms"),
    "domains": Example("howto/hosts.md", "Get the domain of a URL without its subdomains"),
    "duckdb": Example("howto/many.md", "Use the functions in DuckDB"),
    "fsspec": Example("howto/libraries.md", "Open gopher, wais, ftp and data by fsspec"),
    "httpx": Example("howto/guards.md", "httpx"),
    "httpx2": Example("howto/guards.md", "httpx", program="httpx2"),
    "jsonschema": Example("howto/libraries.md", "Check formats of JSON Schema (jsonschema)"),
    "links": Example("howto/text.md", "Extract all links of a web page"),
    "lz4": Example("start.md", beside=("links",), program=LZ4),
    "notebooks": Example("broken.md", beside=("links",), program=NOTEBOOK),
    "pandas": Example("howto/many.md", "Work on a column of a pandas table"),
    "polars": Example("howto/many.md", "Work on a column of a polars table"),
    "pydantic": Example("howto/libraries.md", "Use URIs in pydantic models and FastAPI"),
    "requests": Example("howto/guards.md", "Requests"),
    "rst": Example("broken.md", beside=("links",), program=RST),
    "spark": Example("scale.md", program=SPARK),
    "sqlalchemy": Example("howto/libraries.md", "Store URIs with SQLAlchemy"),
    "stores": Example("howto/stores.md", beside=("links",), program=STORES),
    "tldextract": Example("howto/libraries.md", "Find registrable domains (tldextract)"),
    "urllib3": Example("howto/guards.md", "urllib3"),
    "web": Example("web.md", "As JSON", beside=("cli",)),
    "whatwg": Example("howto/safety.md", "Find out whether browsers would open another host"),
}


def text(example: Example) -> tuple[str, str]:
    """The language of the example, and its text."""
    page = (ROOT / "docs" / example.page).read_text("utf-8")
    section = page.partition(f"\n## {example.heading}\n")[2] if example.heading else page
    block = re.search(r"^```(python|console)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    if block is None:
        raise SystemExit(f"{example.page} has no example below {example.heading!r}")
    return block[1], block[2]


SESSION = (
    "import doctest, sys; sys.exit(doctest.testfile(sys.argv[1], False, optionflags=doctest.NORMALIZE_WHITESPACE)[0])"
)


def run(env: Path, example: Example) -> str:
    """Run an example in an environment.  Return the error, or ""."""
    language, code = ("program", example.program) if "\n" in example.program else text(example)
    if example.program == "httpx2":  # the page says that the same runs with it
        code = code.replace("httpx", "httpx2")
    folder = env.parent / "here"
    shutil.copytree(ROOT / "examples", folder / "examples")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"COLUMNS": "100"}
    environment["PATH"] = f"{env / 'bin'}{os.pathsep}{environment['PATH']}"
    if language == "console":
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
            if done.returncode or done.stdout.split() != expected.split():
                return done.stdout + done.stderr
        return ""
    file = folder / "example.txt"
    file.write_text(code if language == "program" else code + "\n", "utf-8")
    command = [str(env / "bin/python"), *(["-c", SESSION] if language != "program" else []), str(file)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""


def alone(wheel: Path, extra: str) -> str:
    """Install only an extra and run its example.  Return the error, or ""."""
    example, folder = EXAMPLES[extra], RUNS / extra
    if extra == "spark" and not shutil.which("java"):
        return "not run: java is absent"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-P", "-m", "venv", folder / "env"], check=True)
    requirement = f"{wheel}[{','.join((extra, *example.beside))}]"
    pip = [str(folder / "env/bin/python"), "-m", "pip", "install", "-q", requirement]
    result = subprocess.run(pip, capture_output=True, text=True)
    error = result.stderr if result.returncode else run(folder / "env", example)
    shutil.rmtree(folder / "env")
    return error


def main() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = sys.argv[2:] or sorted(project["optional-dependencies"])
    failed = 0
    for extra in extras:
        error = alone(Path(sys.argv[1]).resolve(), extra)
        print(f"{extra}: {error.strip() or 'its example runs'}", flush=True)
        failed += bool(error) and not error.startswith("not run")
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
