"""overthere broken: finds broken links in documents."""

from __future__ import annotations

import io
import os
import re
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import click

from overthere.broken.filters import Baseline, Rules
from overthere.broken.model import ANCHORS, KINDS, Broken, Checker, Summary
from overthere.broken.report import describe_count
from overthere.cli.broken_config import apply_config, find_config
from overthere.cli.broken_lines import GROUPS, lines
from overthere.cli.broken_summary import summary_lines
from overthere.cli.common import CSV_SAFE, base_uri, ignored_option, job_errors
from overthere.cli.help_format import SectionedCommand
from overthere.cli.numbers import WORKERS
from overthere.cli.printing import print_message, without_commands
from overthere.cli.progress import steps as progress
from overthere.cli.request_settings import policy_for, request_options, settings, statuses
from overthere.cli.styles import LinePrinter
from overthere.ground.atomic import save
from overthere.ground.display import printable
from overthere.ground.option_files import read_text
from overthere.ground.redact import mask

FORMS = ("text", "jsonl", "csv", "sarif", "junit", "github", "markdown", "html")
_SUFFIXES = {".sarif": "sarif", ".xml": "junit", ".md": "markdown", ".html": "html"}


class _Command(SectionedCommand):
    sections: ClassVar[Mapping[str, str]] = {
        "Sources and their places": "--base --root-dir --index --extension --exclude --include "
        "--exclude-path --no-ignore --skip-nofollow --since --remap",
        "Anchors": "--fragments --anchors",
        "Which findings count": "--only --notes --ignore --baseline --write-baseline --accept --allow-redirect",
        "Output and fixes": "--format --group -o --csv-safe --fix --yes",
        "Servers": "--online --external-only --private --policy --header --agent --cookies --max-time --max-bytes "
        "--jobs --per-host --rate --github-token --github-api --wayback",
        "Crawling, keeping answers": "--pages --crawl-time --cache --max-age --resume",
    }

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """An option's value is optional only after "=": the text after --fix is a source."""
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, ["--fix=certain" if arg == "--fix" else arg for arg in args[:end]] + args[end:])


@click.command(cls=_Command)
@click.argument("sources", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--base",
    "bases",
    multiple=True,
    metavar="URI",
    help="Where the sources are published: the URI of a folder's root, or of the folder of a named file (repeatable: "
    "others that lead there too).",
)
@click.option("--fragments/--no-fragments", default=True, help="Check anchors, or documents only.")
@click.option(
    "--anchors",
    type=click.Choice(ANCHORS),
    default=ANCHORS[0],
    help="The program that makes the anchors of Markdown headings; auto: the one whose configuration is there "
    "(mkdocs.yml, conf.py, docusaurus.config.*, _config.yml, book.toml), otherwise GitHub.",
)
@click.option("--index", multiple=True, metavar="NAME", help="File that a server sends for a folder (repeatable).")
@click.option(
    "--extension", "extensions", multiple=True, metavar="EXT", help="Extension that a server adds to a missing name."
)
@click.option(
    "--exclude", multiple=True, metavar="GLOB", help="Do not check targets like this; * is any text (repeatable)."
)
@click.option("--include", multiple=True, metavar="GLOB", help="Check these targets even if excluded (repeatable).")
@click.option("--exclude-path", multiple=True, metavar="GLOB", help="Do not read sources like this (repeatable).")
@ignored_option
@click.option(
    "--accept",
    multiple=True,
    metavar="STATUS",
    help="HTTP statuses that are fine: 403 or 200..299 (repeatable, or with commas).",
)
@click.option(
    "--root-dir",
    type=click.Path(file_okay=False, exists=True),
    metavar="FOLDER",
    help="Without --base: the folder to which / leads in a reference.",
)
@click.option("--skip-nofollow", is_flag=True, help="Skip links with rel=nofollow.")
@click.option("--since", metavar="REVISION", help="Report only files changed since a Git revision, and links to them.")
@click.option(
    "--config",
    type=click.Path(dir_okay=False, exists=True),
    metavar="FILE",
    help="File of settings; default: the nearest overthere.toml with [broken], or pyproject.toml with "
    "[tool.overthere.broken].",
)
@click.option("--no-config", is_flag=True, help="Look for no file of settings.")
@click.option("--only", multiple=True, metavar="KIND", help="Only findings of this kind (repeatable).")
@click.option("--ignore", type=click.Path(dir_okay=False), metavar="FILE.toml", help="Ignore rules.")
@click.option(
    "--baseline",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Report and fail only on findings that are not in it.",
)
@click.option(
    "--write-baseline",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the findings to FILE as the new baseline.",
)
@click.option(
    "-o", "output", metavar="FILE", help="FILE.parquet, .arrow, .csv[.gz], .jsonl[.gz], .sarif, .xml or .html."
)
@click.option("--csv-safe", "csv_safe", is_flag=True, help=CSV_SAFE)
@click.option(
    "--fix",
    type=click.Choice(("certain", "likely")),
    metavar="[=likely]",
    help="Write the suggested references that are certain in their places, after showing the diff; with =likely, the "
    "likely ones too.",
)
@click.option("--yes", is_flag=True, help="With --fix: do not ask.")
@click.option("--workers", type=WORKERS, help="Worker processes (default: one per core).")
@click.option("--format", "form", type=click.Choice(FORMS), default="text", help="Format of standard output.")
@click.option(
    "--group",
    type=click.Choice(GROUPS),
    help="Print findings by file, by target (one entry for a fault of many pages), or by kind.  Default: by file; "
    "on a terminal the first 50, by target where more than 10 share one.",
)
@click.option("--notes", is_flag=True, help="Print notes too, not only their number.")
@request_options
def command(sources: tuple[str, ...], config: str | None, no_config: bool, **options: Any) -> None:
    """Find the broken links of documents.

    SOURCES are HTML, XML, SVG, CSS, Markdown, messages, WARC files, archives, and folders of all these.  Links among
    them are looked up as a server would: by --base, with index files, by case; anchors too.  An http or https URI is a
    site, which is crawled within its origin, as its robots.txt allows.  "-" is a list of URIs on standard input, one on
    each line.

    Exit 0 if no link is broken, 1 if one is, 2 if the command failed or no document was found, 130 if stopped.
    """
    if config is not None and no_config:
        raise click.UsageError("--config and --no-config exclude each other")
    if config is not None and any(os.path.isfile(source) and os.path.samefile(source, config) for source in sources):
        raise click.UsageError("--config: the file is one of the sources; name another, or put -- before the sources")
    found_path = None if no_config or config is not None else find_config(sources)
    if config is not None or found_path is not None:
        path = Path(config) if config is not None else found_path
        assert path is not None
        options |= apply_config(click.get_current_context(), path, is_named=config is not None)
        print_message(f"settings of {printable(str(path))}")
    with job_errors():
        _Job(sources, options).run()


class _Job:
    def __init__(self, sources: tuple[str, ...], options: dict[str, Any]) -> None:
        for kind in options["only"]:
            if kind not in KINDS:
                raise click.UsageError(f"--only: unknown value {kind!r}; known: {', '.join(KINDS)}")
        if options["output"] is not None and options["form"] != "text":
            raise click.UsageError("--format applies to standard output; the suffix of the -o file sets its format")
        if options["fix"] and options["output"] is None and options["form"] != "text":
            raise click.UsageError("--fix prints a diff; with --format, write the findings to a file (-o)")
        suffix = os.path.splitext((options["output"] or "").removesuffix(".gz"))[1] or f".{options['form']}"
        if options["csv_safe"] and suffix.lower() != ".csv":
            raise click.UsageError("--csv-safe needs CSV: --format csv or -o FILE.csv")
        if options["yes"] and not options["fix"]:
            raise click.UsageError("--yes needs --fix")
        if options["root_dir"] is not None and options["bases"]:
            raise click.UsageError("--root-dir and --base exclude each other: / leads to the root of the base")
        of_files = (item for entry in options.get("files", ()) for item in entry.extensions)
        for name in (*options["index"], *options["extensions"], *of_files):
            if not name.strip(".") or re.search(r"[/\\:\0]", name):
                raise click.UsageError(f"--index, --extension: {printable(name)!r} is not a name within a folder")
        self.sources, self.values = sources, options
        self.summary = Summary()
        self.rules, self.baseline = self._rules(), self._baseline()
        self.reached = ("read", 0, 0)
        """The progress: the step, and the finished and total number of its items."""
        self.errors = 0
        self.fixable: list[Broken] = []
        self.checker = Checker(
            exclude=tuple(options["exclude"]), include=tuple(options["include"]),
            exclude_path=tuple(options["exclude_path"]), with_ignored=options["with_ignored"],
            accept=statuses(options["accept"]), since=options["since"],
            base=tuple(str(base_uri(item)) for item in options["bases"]), fragments=options["fragments"],
            root=options["root_dir"], skip_nofollow=options["skip_nofollow"], files=options.get("files", ()),
            anchors=options["anchors"], indexes=options["index"] or Checker().indexes,
            extensions=tuple(item.lstrip(".") for item in options["extensions"]), workers=options["workers"],
            **settings(options),
        )  # fmt: skip
        if options["output"] in ("", "-"):
            raise click.UsageError("-o takes the name of a file; what goes to standard output takes --format")
        self.policy = policy_for(options)

    def _rules(self) -> Rules:
        if self.values["ignore"] is None:
            return Rules()
        try:
            if isinstance(self.values["ignore"], list):
                return Rules.from_tables(self.values["ignore"])
            return Rules.read(read_text(self.values["ignore"]))
        except ValueError as error:
            raise click.UsageError(f"--ignore {printable(str(self.values['ignore']))}: {error}") from None

    def _baseline(self) -> Baseline | None:
        if self.values["baseline"] is None and self.values["write_baseline"] is None:
            return None
        path = self.values["baseline"]
        try:
            baseline = Baseline() if path is None else Baseline.read(str(path))
        except ValueError as error:
            raise click.UsageError(f"--baseline {printable(str(path))}: {error}") from None
        baseline.keeps = self.values["write_baseline"] is not None
        return baseline

    def run(self) -> None:
        began = time.monotonic()
        stopped = False
        try:
            with closing(self._findings()) as findings:
                self._report(findings)
        except KeyboardInterrupt:
            stopped = True
        self.summary.ignored = self.rules.ignored
        self.summary.known = 0 if self.baseline is None else self.baseline.count
        print_message("\n".join(summary_lines(self.summary, time.monotonic() - began, is_whole=not stopped)))
        if stopped:
            print_message(self._describe_stop())
            raise SystemExit(130)
        for rule in self.rules.idle:
            print_message(f"unused ignore rule: {printable(str(rule))} ({printable(rule.reason)})")
        if self.baseline is not None and self.values["write_baseline"] is not None:
            self.baseline.write(self.values["write_baseline"])
        if self.values["fix"]:
            self._fix()
        if self.errors:
            raise SystemExit(1)
        if not self.summary.documents:
            raise SystemExit(2)

    def _describe_stop(self) -> str:
        """Return how far the check came before it was stopped, and how to resume it."""
        step, finished, total = self.reached
        resume_hint = ""
        if self.checker.cache is not None:
            resume_hint = f"; {printable(self.checker.cache)} has the answers so far; continue with --resume"
        return f"stopped: {_STOPPED[step].format(finished, total)}, and the rest is not in these figures{resume_hint}"

    def _findings(self) -> Generator[Broken, None, None]:
        """Yield the findings that count."""
        from overthere.broken import check

        with progress() as (show, hide):

            def step(name: str, finished: int, total: int) -> None:
                self.reached = name, finished, total
                show(name, finished, total)

            findings = self.rules.choose(check(self.sources, self.checker, self.summary, step, self.policy))
            for finding in findings if self.baseline is None else self.baseline.choose(findings):
                hide()  # the next lines may be printed there
                if not self.values["only"] or finding.kind in self.values["only"]:
                    self.errors += finding.level == "error"
                    if self.values["fix"] and finding.certainty in ("certain", "likely"):
                        self.fixable.append(finding)
                    yield finding

    def _report(self, findings: Iterator[Broken]) -> None:
        output = self.values["output"]
        form = self.values["form"]
        if output is None and form == "text":
            self._show(findings)
            return
        from overthere.broken import html_report, report

        suffix = os.path.splitext(output or "")[1].lower()
        form = form if output is None else _SUFFIXES.get(suffix, "table")
        writer = {
            "jsonl": report.jsonl, "sarif": report.sarif, "junit": report.junit, "github": report.github,
            "markdown": report.markdown, "html": html_report.html_page,
        }.get(form)  # fmt: skip
        if writer is None:
            from overthere.files.tables import open_writer

            with open_writer(output or "-", self._layout()) as table:
                for batch in report.batches(findings):
                    table.write(batch)
        elif output is None:
            writer(findings, sys.stdout)
        else:
            text = io.StringIO()
            writer(findings, text)
            save(output, text.getvalue().encode())

    def _layout(self) -> Any:
        from overthere.broken import report

        form = ".csv" if self.values["output"] is None else ".parquet"
        return report.layout(form)._replace(csv_safe=self.values["csv_safe"])

    def _show(self, findings: Iterator[Broken]) -> None:
        """Print the findings for people."""
        printer = LinePrinter()
        with_notes = self.values["notes"] or self.values["only"]
        visible = (finding for finding in findings if with_notes or finding.level != "note")
        for line in lines(visible, self.values["group"], printer.width):
            printer.print(*line)

    def _fix(self) -> None:
        from overthere.broken.fixing import fix_files, write

        likely_count = sum(finding.certainty == "likely" for finding in self.fixable)
        if likely_count and self.values["fix"] == "certain":
            print_message(f"{describe_count(likely_count, 'suggestion')} only likely: --fix=likely writes them too")
        certainties = ("certain",) if self.values["fix"] == "certain" else ("certain", "likely")
        for file in fix_files(self.fixable, certainties):
            refused = file.refused
            if not refused:
                click.echo(without_commands("\n".join(printable(mask(line)) for line in file.diff())))
                if self.values["yes"] or click.confirm(f"Change {file.changed} in {printable(file.source)}?", err=True):
                    try:
                        write(file)
                        print_message(f"{printable(file.source)}: {file.changed} changed")
                    except OSError as error:
                        refused = error.strerror or str(error)
            if refused:
                print_message(f"{printable(file.source)}: not changed: {printable(refused)}")


_STOPPED = {
    "read": "{:,} of {:,} octets were read",
    "asked": "{:,} of {:,} URIs were requested",
    "crawled": "{:,} of the {:,} URIs of the site known so far were requested",
}
