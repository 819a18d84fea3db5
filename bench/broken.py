"""Link checkers compared in one run: the faults of a generated site that each finds, false alarms, and time.

The site is that of `planted_faults.py`; the time is also taken on Rust's own documentation, where rustup or Debian's
rust-doc has installed it.  The peers are built from Rust's crate registry into .venv/peers, once; html-proofer is the
package ruby-html-proofer of Debian, if it is installed.

python bench/broken.py [--quick] [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from glob import glob
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from planted_faults import BASE, PlantedFault, plant

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / ".venv" / "peers"
VERSIONS = {"hyperlink": "0.3.2", "lychee": "0.24.2"}
MANUALS = ("~/.rustup/toolchains/*/share/doc/rust/html", "/usr/share/doc/rust-doc/html")
_HOST = r"(?i)^https://museum\.example(:443)?/(.*)"

Report = set[tuple[str, str]]
"""The report of a checker: the file, and the reference or its resolved form."""


class Checker(NamedTuple):
    """command: on a site that lies at FOLDER/docs and is published under `BASE`, writing what `read` reads."""

    command: Callable[[Path, Path], list[str]]
    manual: Callable[[Path, Path], list[str]]
    read: Callable[[str, Path], Iterator[tuple[str, str]]]


def _run_overthere(folder: Path, output: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "overthere", "broken", str(folder), *options, "-o", str(output)]


def _read_own(text: str, _: Path) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        row = json.loads(line)
        if row["level"] != "note":
            yield row["source"], row["reference"] or ""


def _hyperlink(folder: Path, output: Path) -> list[str]:
    return ["sh", "-c", '"$0" --check-anchors "$1" > "$2"', str(PEERS / "bin/hyperlink"), str(folder), str(output)]


def _read_hyperlink(text: str, _: Path) -> Iterator[tuple[str, str]]:
    file = ""
    for line in text.splitlines():
        if line.startswith("/"):
            file = line
        elif match := re.match(r"\s+error: bad (?:link|anchor) (.*)", line):
            yield file, match[1]


def _lychee(folder: Path, output: Path, *options: str) -> list[str]:
    return [
        str(PEERS / "bin/lychee"), "--offline", "--no-progress", "--include-fragments=anchor-only", "--index-files",
        "index.html", "--format", "json", "-o", str(output), *options, str(folder),
    ]  # fmt: skip


def _read_lychee(text: str, _: Path) -> Iterator[tuple[str, str]]:
    for file, errors in json.loads(text)["error_map"].items():
        for error in errors:
            yield file, error["url"]


def _html_proofer(docs: Path, output: Path, root: Path) -> list[str]:
    """Links alone, without its rules of style."""
    options = ["--disable-external", "--allow-hash-href", "--empty-alt-ignore", "--root-dir", str(root)]
    options += ["--internal-domains", "museum.example"]
    return [
        "sh",
        "-c",
        'program=$0 to=$1; shift; "$program" "$@" >"$to" 2>&1',
        "htmlproofer",
        str(output),
        str(docs),
        *options,
    ]


def _read_html_proofer(text: str, _: Path) -> Iterator[tuple[str, str]]:
    file = ""
    for line in text.splitlines():
        if line.startswith("- "):
            file = line[2:]
        elif line.startswith("  *  "):
            yield file, line[5:]


CHECKERS: dict[str, Checker] = {
    "overthere": Checker(
        lambda site, output: _run_overthere(site / "docs", output, "--base", BASE),
        lambda manual, output: _run_overthere(manual, output, "--base", "https://manual.example/"),
        _read_own,
    ),
    "hyperlink": Checker(_hyperlink, _hyperlink, _read_hyperlink),
    "lychee": Checker(
        lambda site, output: _lychee(
            site / "docs", output, "--root-dir", str(site), "--remap", f"{_HOST} file://{site}/$2", "--include-mail"
        ),
        lambda manual, output: _lychee(manual, output, "--root-dir", str(manual)),
        _read_lychee,
    ),
    "htmlproofer": Checker(
        lambda site, output: _html_proofer(site / "docs", output, site),
        lambda manual, output: _html_proofer(manual, output, manual),
        _read_html_proofer,
    ),
}


def install() -> list[str]:
    """The checkers that are here; the peers are built where cargo is, html-proofer is Debian's ruby-html-proofer."""
    for name, version in VERSIONS.items():
        if not (PEERS / "bin" / name).exists() and shutil.which("cargo"):
            built = ["cargo", "install", "--quiet", "--root", str(PEERS), name, "--version", version]
            subprocess.run(built, check=False)
    return [name for name in CHECKERS if name == "overthere" or (PEERS / "bin" / name).exists() or shutil.which(name)]


def _run(command: list[str]) -> tuple[float, float, int]:
    """Seconds, those that processors worked, MiB at the peak of its largest process."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, _current_memory(process.pid))
        time.sleep(0.02)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak >> 10


def _current_memory(pid: int) -> int:
    """KiB that a process and those that it started hold now (Linux)."""
    kib = 0
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        kib = int(match[1]) if (match := re.search(r"VmRSS:\s+(\d+)", status)) else 0
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            kib += _current_memory(int(child))
    except OSError:
        pass
    return kib


def build_report(pairs: Iterable[tuple[str, str]], site: Path) -> Report:
    """The files as paths within the site."""
    docs = f"{site / 'docs'}/"
    return {(file.removeprefix(docs), reference) for file, reference in pairs}


def score(report: Report, planted: list[PlantedFault]) -> dict[str, Any]:
    """The number found of each kind: reported for that file, by the reference's last name or its fragment.

    Invented is what is reported of a file without a fault.
    """
    by_file: dict[str, list[str]] = {}
    for file, reference in report:
        by_file.setdefault(file, []).append(reference)
    counts: Counter[str] = Counter()
    for fault in planted:
        name = re.split(r"[/#:@]", fault.reference.rstrip("/@"))[-1]
        counts[fault.kind] += any(name in reference for reference in by_file.get(fault.file, ()))
    files = {fault.file for fault in planted}
    return {
        "planted": len(planted),
        "found": counts.total(),
        "kinds": len({fault.kind for fault in planted}),
        "kinds_found": sum(1 for kind, n in Counter(fault.kind for fault in planted).items() if counts[kind] == n),
        "missed": sorted(kind for kind, n in Counter(fault.kind for fault in planted).items() if counts[kind] < n),
        "invented": len({file for file in by_file if file not in files}),
    }


def _manual() -> Path | None:
    places = [Path(place) for pattern in MANUALS for place in sorted(glob(str(Path(pattern).expanduser())))]
    return places[0] if places else None


def measure(quick: bool = False, rounds: int = 3) -> list[dict[str, Any]]:
    """A row for each checker and tree: seconds (the least of the rounds), memory; of the made site what it found."""
    rows: list[dict[str, Any]] = []
    names = install()
    with TemporaryDirectory() as temporary:
        site = Path(temporary) / "site"
        (site / "docs").mkdir(parents=True)
        planted = plant(site / "docs", 1000 if quick else 5000, 2 if quick else 10)
        trees: list[tuple[str, Path]] = [("made", site)]
        if not quick and (manual := _manual()):
            trees.append(("manual", manual))
        for tree, folder in trees:
            pages = sum(1 for _ in folder.rglob("*.html"))
            for name in names:
                output = Path(temporary) / f"{tree}-{name}.{'jsonl' if name == 'overthere' else 'out'}"
                checker = CHECKERS[name]
                command = (checker.command if tree == "made" else checker.manual)(folder, output)
                runs = []
                for _ in range(rounds if tree == "made" else min(rounds, 2)):
                    output.unlink(missing_ok=True)
                    runs.append(_run(command))
                row = {"tree": tree, "pages": pages, "checker": name, "seconds": min(run[0] for run in runs)}
                row |= {"worked": min(run[1] for run in runs), "memory": max(run[2] for run in runs)}
                if tree == "made":
                    row |= score(build_report(checker.read(output.read_text(), site), site), planted)
                rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for row in measure(options.quick, options.rounds):
        print(json.dumps(row))


if __name__ == "__main__":
    main()
