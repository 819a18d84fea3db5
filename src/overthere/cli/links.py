"""overthere links: the table of links of documents."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import click

from overthere.cli.common import CSV_SAFE, base_uri, ignored_option, job_errors, rung_option
from overthere.cli.link_rows import show
from overthere.cli.numbers import JOBS, WORKERS, Count
from overthere.cli.policies import policy_of, policy_options
from overthere.cli.printing import Impossible, print_message, warn_without_look_alikes
from overthere.cli.progress import progress
from overthere.editions import NAMES
from overthere.ground.atomic import is_stream, refuse_link, save
from overthere.ground.cores import cores
from overthere.ground.display import printable, printable_name
from overthere.ground.redact import mask
from overthere.ground.rung import Rung
from overthere.links.documents.kinds import TYPES
from overthere.links.model import Options
from overthere.links.report.selection import CHOICES

if TYPE_CHECKING:
    from overthere.canonical import Canonical
    from overthere.links.report.graph import Graph
    from overthere.links.report.table import Writer
    from overthere.values.uri import URI

_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_FINGERPRINT = (
    "base", "rung", "edition", "only", "strings", "audit", "whatwg", "metadata", "kind", "with_ignored", "csv_safe",
    "limit",
)  # fmt: skip
"""The options that change the rows."""
_COMMIT = 2.0
"""Seconds between commits of the progress."""


def _form(name: str | None) -> Canonical | None:
    if name is None:
        return None
    from overthere.cli.canonical import form_named

    return form_named(name)


@click.command()
@click.argument("sources", nargs=-1, type=click.Path())
@click.option(
    "--index",
    metavar="FILE|URI",
    help="Read the records that an index of web archives names: CDXJ, CDX, the columnar index, a list of paths. SOURCE "
    "is the folder, or its URI, in which the archive files lie; by default that of the index, or the root of its URI.",
)
@click.option(
    "--where", multiple=True, metavar="NAME=VALUE",
    help="Only these records of --index (repeatable): domain, host, url (a prefix), mime, status, language.",
)  # fmt: skip
@click.option(
    "--base",
    metavar="URI",
    help="Where the sources are published: the URI of a folder's root, or of the folder of a named file; it ends in /. "
    "For standard input, its own URI (default: the current folder).",
)
@click.option(
    "-o", "output", metavar="FILE", help="FILE.parquet, .arrow, .csv or .jsonl (or .gz of these two), or DIR/ of parts."
)
@rung_option
@click.option(
    "--canonical",
    callback=lambda context, parameter, name: _form(name),
    metavar="NAME|FILE.toml",
    help="Fill the column normal with this canonical form instead of a rung: surt, safe-browsing, w3lib, "
    "url-normalize, crawler-commons, tracking, or a file; null if a target is not a URI by RFC 3986.",
)
@click.option("--idna", is_flag=True, help="Write host names in the column normal as A-labels (RFC 5891 4).")
@click.option("--edition", type=click.Choice(list(NAMES)), default="rfc3986", help="Which specification to follow.")
@click.option("--only", multiple=True, metavar="WHAT", help=f"Only these rows (repeatable): {', '.join(CHOICES)}.")
@click.option("--distinct", is_flag=True, help="Write the link graph: source host, target host, number of links.")
@click.option("--json", "strings", is_flag=True, help="Treat URIs in JSON strings as references.")
@click.option("--audit", is_flag=True, help="Fill the column audit: the security findings on each target.")
@click.option("--whatwg", is_flag=True, help="Fill the column browser: what browsers open, if not the target.")
@click.option(
    "--metadata",
    is_flag=True,
    help="Read also og: and twitter: metas, JSON-LD, import maps, srcdoc, data-src, RDFa and attributionsrc. Without "
    "it the summary counts them.",
)
@click.option("--type", "kind", type=click.Choice(list(TYPES)), help="Read each file, URI or - as this.")
@ignored_option
@click.option("--csv-safe", "csv_safe", is_flag=True, help=CSV_SAFE)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False),
    metavar="FILE.svg",
    help="Draw a chart of links by host and errors by kind.",
)
@click.option("--resume", is_flag=True, help="Continue an earlier run to the same FILE.")
@click.option(
    "--max-text", "limit", type=Count(1 << 40), default=Options().limit, show_default=True, metavar="OCTETS",
    help="Read at most this many octets per document; a longer one gets a too-large row.",
)  # fmt: skip
@policy_options
@click.option(
    "--strict", is_flag=True, help="Exit 1 on any note about a document, such as wrong-charset, even if all were read."
)
@click.option("--jobs", type=JOBS, help="Parallel downloads, at most two per host (default 8).")
@click.option("--workers", type=WORKERS, help="Worker threads or processes (default: one per core).")
@click.option("--engine", type=click.Choice(["local", "spark"]), default="local", help="Execution engine.")
@click.option("--master", metavar="URL", help="Master of the Spark cluster (default local[*]).")
@click.option(
    "--format", "form", type=click.Choice(["text", "jsonl", "csv"]), default="text", help="Format of standard output."
)
def command(sources: tuple[str, ...], index: str | None, where: tuple[str, ...], **options: Any) -> None:
    """Write the table of links of documents.

    SOURCES are HTML, XML (Atom, RSS, sitemap, SVG), CSS, Markdown, text, messages (.eml, MHTML), mailboxes, WARC, ZIP
    and tar files, compressed ones, folders of all these, URIs of them, or - for standard input.  A text that begins
    with a scheme is a URI unless a file has that name; --max-time and --max-bytes apply to each URI.  Objects and
    folders of stores (s3://, gs://, az://) are read where they lie, and -o s3://bucket/folder/ puts parts there.
    Without -o the table is printed.  Problems with documents and references become rows; the summary on standard error
    counts them.

    Exit 1 if a document could not be read completely, 2 if the table could not be written, 130 if stopped.
    """
    with job_errors():
        sources = _sources(sources, index, where)
        _check_choices(options["only"], options["plot"])
        if options["engine"] == "spark":
            from overthere.cli.spark_links import run

            run(sources, _options(options), **options)
            return
        _Job(sources, **options).run()


def _sources(sources: tuple[str, ...], index: str | None, where: tuple[str, ...]) -> tuple[Any, ...]:
    """The sources, or the one of --index.  Raises: click.UsageError; ValueError for conditions that cannot be."""
    if index is None:
        if where:
            raise click.UsageError("--where chooses among the records of --index")
        if not sources:
            raise click.UsageError("nothing to do: give SOURCES, or --index")
        return sources
    from overthere.links.indexes import Where
    from overthere.links.job.ranged_sources import Index

    if len(sources) > 1:
        raise click.UsageError("--index takes one SOURCE: the folder, or its URI, in which the archive files lie")
    if not _SCHEME.match(index) and not os.path.exists(index):
        raise Impossible(f"{printable(index)}: there is no such file or folder")
    Where.parse(where)
    return (Index(index, where, sources[0] if sources else None),)


def _check_choices(only: tuple[str, ...], plot: str | None) -> None:
    """Raises: click.UsageError for an unknown kind of rows, or a chart that could not be written after the job."""
    for name in only:
        if name not in CHOICES:
            raise click.UsageError(f"--only: unknown value {name!r}; known: {', '.join(CHOICES)}")
    if plot is None:
        return
    if not os.path.isdir(os.path.dirname(os.path.abspath(plot))):
        raise click.UsageError(f"--plot {plot}: there is no such folder")
    if not is_stream(plot):
        refuse_link(plot)
        if not plot.lower().endswith(".svg"):
            raise click.UsageError(f"--plot {plot}: the chart is SVG; its name must end in .svg")


def _options(options: dict[str, Any]) -> Options:
    """The library options of the command line."""
    library_options = {name: options[name] for name in options.keys() & set(Options._fields) - {"rung", "json"}}
    return Options(rung=Rung[options["rung"].upper()], json=options["strings"], **library_options)


class _Job:
    def __init__(self, sources: tuple[str, ...], **opts: Any) -> None:
        from overthere.links.report.summary import Summary

        if opts["master"] is not None:
            raise click.UsageError("--master needs --engine spark")
        if opts["output"] not in (None, "-") and opts["form"] != "text":
            raise click.UsageError("--format applies to standard output; the suffix of the -o file sets its format")
        self.output: str | None = opts["output"]
        self.printed = self.output is None and opts["form"] == "text"
        if opts["csv_safe"] and self.printed:
            raise click.UsageError("--csv-safe needs CSV: --format csv or -o FILE.csv")
        self.sources, self.asked = sources, opts
        self.base = None if opts["base"] is None else publication_base(base_uri(opts["base"]), sources)
        self.options = _options(opts)
        self.policy = policy_of(opts)
        if opts["resume"] and (self.output in (None, "-") or opts["distinct"]):
            raise click.UsageError("--resume continues the link table of -o")
        self.graph: Graph | None = None
        self.summary = Summary()
        self.tasks, self.mark = 0, ""
        self.committed = 0.0

    def run(self) -> None:
        from overthere.ground.memory import configure_memory

        configure_memory()
        began = time.monotonic()
        stopped: bool | None
        self._announce()
        try:
            stopped = self._run()
        except KeyboardInterrupt:  # while the table was opened or closed: what was marked before is there
            stopped = True
        if stopped is None:
            return
        self.summary.seconds += time.monotonic() - began
        print_message("\n".join(self.summary.lines(min(_width(), 100))))
        self._plot()
        if stopped:
            print_message(self._describe_rest())
            raise SystemExit(130)
        if self.summary.unread or (self.asked["strict"] and self.summary.notes):
            raise SystemExit(1)

    def _announce(self) -> None:
        """Warn of likely mistakes: a missing file, a table that is replaced, checks that are off.

        Where all are missing there is nothing to do, and no table is begun.
        """
        from overthere.links.job.retrieval import is_uri
        from overthere.links.job.sources import parse_source

        def is_missing(source: str) -> bool:
            return not (os.path.lexists(source) or is_uri(source) or parse_source(source))

        texts = [source for source in self.sources if isinstance(source, str) and source != "-"]
        missing = [source for source in texts if is_missing(source)]
        if missing and len(missing) == len(self.sources):
            raise Impossible(f"{printable(missing[0])}: there is no such file or folder")
        for source in missing:
            print_message(f"{printable_name(source)}: {os.strerror(errno.ENOENT)}")
        if self.output not in (None, "-") and not self.asked["resume"] and os.path.isfile(self.output or ""):
            print_message(f"{printable(str(self.output))}: the existing table will be replaced")
        if self.asked["audit"]:
            warn_without_look_alikes()

    def _writer(self, stack: ExitStack) -> Writer | None:
        """The writer of the rows; None if they are printed or only counted."""
        if self.asked["distinct"]:
            from overthere.links.report.graph import Graph

            self.graph = stack.enter_context(Graph())
        if self.printed or self.graph is not None:
            return None
        job = "" if self.output in (None, "-") else self._fingerprint()
        return stack.enter_context(self._open(None, job))

    def _run(self) -> bool | None:
        """Run the job; returns whether it was stopped, or None if nothing was left to do."""
        stopped = False
        with ExitStack() as stack:
            writer = self._writer(stack)
            if writer is not None and writer.notice:
                print_message(writer.notice)
            if writer is not None and writer.done:
                return None
            if writer is not None and writer.state:
                from overthere.links.report.summary import read_state

                self.tasks, self.mark, self.summary = read_state(writer.state, writer.name)
            try:
                self._work(writer, stack)
            except KeyboardInterrupt:
                stopped = True
            if self.graph is not None and not stopped:
                self._write_graph()
        return stopped

    def _open(self, columns: Any, job: str = "") -> Writer:
        from overthere.links.report.table import open_writer

        form = f".{self.asked['form']}" if self.asked["form"] != "text" else ".jsonl"
        try:
            return open_writer(
                self.output or "-", columns, job=job, resume=self.asked["resume"], form=form,
                csv_safe=self.asked["csv_safe"], threads=self.asked["workers"] or cores(),
            )  # fmt: skip
        except (ValueError, OSError) as error:
            if self.output is None:
                raise  # no other option could have avoided this error
            raise click.UsageError(f"-o: {error}") from None

    def _fingerprint(self) -> str:
        """Identifies the job: --resume requires the same fingerprint."""
        job_options = {name: self.asked[name] for name in _FINGERPRINT}
        if (form := self.options.form) is not None:  # its steps: a file of the same name may have changed
            job_options["canonical"] = form.to_toml()
        return json.dumps({"sources": [str(source) for source in self.sources], **job_options})

    def _work(self, writer: Writer | None, stack: ExitStack) -> None:
        step = stack.enter_context(
            progress(self.sources, self.base, self.options, printed=self.output is None, skip=self.tasks)
        )
        with closing(self._batches(step, writer)) as batches:  # garbage collection would print a second Ctrl-C
            if writer is not None:
                for batch in batches:
                    writer.write(batch)
                writer.commit({**self._state(), "done": True})
            elif self.graph is None:
                show(batches)
            else:
                for _ in batches:
                    pass

    def _batches(self, step: Callable[[int, int], None], writer: Writer | None) -> Generator[Any, None, None]:
        """The selected rows; updates the summary and commits progress between them."""
        from overthere.links.job.extraction import batches
        from overthere.links.job.prefetch import JOBS
        from overthere.links.job.task_rows import TaskEnd
        from overthere.links.report.selection import select

        run = batches(
            self.sources, self.base, self.options, workers=self.asked["workers"], skip=self.tasks, mark=self.mark,
            policy=self.policy, jobs=self.asked["jobs"] or JOBS,
        )  # fmt: skip
        with closing(run):
            for batch in run:
                if isinstance(batch, TaskEnd):
                    self.tasks += 1
                    self.mark = batch.mark
                    for kind, (count, octets) in batch.kinds.items():
                        self.summary.document(kind, octets, count)
                    self.summary.passed.update(batch.passed)
                    step(batch.documents, batch.size)
                    if writer is not None and time.monotonic() - self.committed > _COMMIT:
                        writer.commit(self._state())
                        self.committed = time.monotonic()
                    continue
                selected = select(batch, self.asked["only"])
                pairs = batch.pairs()
                self.summary.add(batch, pairs)
                if self.graph is not None:
                    self.graph.add(pairs if selected is batch else selected.pairs())
                yield selected

    def _state(self) -> dict[str, Any]:
        return {"tasks": self.tasks, "mark": self.mark, "summary": self.summary.to_dict()}

    def _write_graph(self) -> None:
        """Write the graph when all links are counted; until then an older graph stays."""
        from overthere.links.report import graph
        from overthere.links.report.summary import EMPTY_HOST

        assert self.graph is not None
        if not self.printed:
            with self._open(graph.schema()) as writer:
                for batch in self.graph.batches():
                    writer.write(batch)
            return
        for source, target, scheme, links in self.graph.pairs():
            names = ("-" if source is None else source, f"{scheme}:" if target is None else target)
            click.echo(f"{links:>11,}  " + "  ".join(printable(name) or EMPTY_HOST for name in names))

    def _plot(self) -> None:
        if self.asked["plot"] is not None:
            from overthere.links.report.picture import draw

            save(self.asked["plot"], draw(self.summary).encode())

    def _describe_rest(self) -> str:
        from overthere.links.job.sources import is_pipe

        if self.output in (None, "-") or is_pipe(self.output):
            return "stopped"
        if self.asked["distinct"]:
            return "stopped; the link graph is not written"
        return f"stopped; {self.output} has complete rows so far; continue with --resume"


def publication_base(base: URI, sources: tuple[str, ...]) -> URI:
    """The URI under which the sources are published, up to its last "/" (5.2.3)."""
    if base.authority is None and not base.path.startswith("/"):
        raise click.UsageError(f"--base {printable(mask(str(base)))}: nothing can be published below it")
    if sources != ("-",) and not base.path.endswith("/"):
        folder = printable(mask(str(base.join("."))))
        print_message(f"--base does not end in /: the sources are published below {folder}")
    return base


def _width() -> int:
    import shutil

    return shutil.get_terminal_size().columns if sys.stderr.isatty() else 80
