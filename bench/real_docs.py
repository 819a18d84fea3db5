"""The checker on external documentation: a line for each checkout that the caller has.

    python bench/real_docs.py FOLDER...
    python bench/real_docs.py FOLDER --site SITE [--base URI]

With --site, the errors of the site built of the sources are compared with those of its sources: a target that the site
lacks must be an error or unsure in the sources, and one that it has must be no error there.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from overthere.broken import KINDS, Broken, Checker, Summary, check

HEAD = (
    f"{'sources':<40} {'generator':<12} {'documents':>9} {'references':>10} {'errors':>7} {'unsure':>7} "
    f"{'templates':>9} {'seconds':>8}"
)


def levels(findings: Iterable[Broken]) -> Counter[str]:
    """The number of findings of each level, `unsure` separately."""
    return Counter("unsure" if finding.kind == "unsure" else KINDS[finding.kind].level for finding in findings)


def row(folder: str, checker: Checker) -> str:
    """A line of the table: the findings in a folder."""
    summary = Summary()
    begin = time.monotonic()
    counts = levels(check([folder], checker, summary))
    seconds = time.monotonic() - begin
    name = "/".join(Path(os.path.abspath(folder)).parts[-2:])
    generator = summary.projects[0].generator if summary.projects else "-"
    return (
        f"{name[-40:]:<40} {generator:<12} {summary.documents:>9,} {summary.references:>10,} {counts['error']:>7,} "
        f"{counts['unsure']:>7,} {summary.passed['template']:>9,} {seconds:>8.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--site", help="the folder of the built site")
    parser.add_argument("--base", help="the URI of the built site")
    options = parser.parse_args()
    print(HEAD)
    for folder in options.folders:
        print(row(folder, Checker()))
    if options.site is not None:
        print(row(options.site, Checker(base=() if options.base is None else (options.base,))))


if __name__ == "__main__":
    main()
