"""overthere links --engine spark: the same job on a cluster."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from overthere.cli.common import base_uri
from overthere.cli.links import publication_base
from overthere.cli.printing import print_message
from overthere.cli.styles import terminal_console
from overthere.files.stores.model import is_object
from overthere.ground.atomic import save
from overthere.ground.processes import python_environment
from overthere.ground.redact import mask
from overthere.links.job.retrieval import is_uri
from overthere.links.model import Options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CONFIG = {
    "spark.app.name": "overthere links", "spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false",
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}  # fmt: skip
"""Settings of the session; its executors import nothing from the folder in which they run."""
# Options that only the local engine has, and their replacement here.
_LOCAL_ONLY = {
    "resume": "--resume: with --engine spark a repeated job always continues",
    "csv_safe": "--csv-safe: with --engine spark the table is a folder of Parquet files",
    "safe": "--safe: with --engine spark sources must be files",
    "policy_file": "--policy: with --engine spark sources must be files",
    "total_timeout": "--max-time: with --engine spark sources must be files",
    "max_bytes": "--max-bytes: with --engine spark sources must be files",
    "jobs": "--jobs: with --engine spark sources must be files",
    "workers": "--workers: with --engine spark the cluster decides, or --master 'local[N]'",
}


def run(sources: tuple[str, ...], options: Options, **flags: Any) -> None:
    """The verb `links` on Spark; its options as click has read them.

    Exit 1 if a document could not be read whole, 130 if stopped.
    """
    output = _folder(sources, flags)
    base = None if flags["base"] is None else publication_base(base_uri(flags["base"]), sources)
    # It warns of a new pandas, which is not used, and prints the stacks of both languages when it is stopped.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    logging.disable()
    try:
        from overthere.links import spark
    except ModuleNotFoundError as error:
        raise click.ClickException(str(error)) from None
    with _session(flags["master"], output) as session, _progress(session):
        result = spark.run(
            session, sources, output, base=base, only=flags["only"], distinct=flags["distinct"], **options._asdict()
        )
    if result.found:
        print_message(f"{result.found:,} of {result.parts:,} parts exist from an earlier run")
    print_message("\n".join(result.summary.lines()))
    if flags["plot"] is not None:
        from overthere.links.report.picture import draw

        save(flags["plot"], draw(result.summary).encode())
    if result.summary.unread or (flags["strict"] and result.summary.notes):
        raise SystemExit(1)


def _folder(sources: tuple[str, ...], options: dict[str, Any]) -> str:
    """Return the folder of the table.  Raises: click.UsageError for options that Spark does not have."""
    for name, reason in _LOCAL_ONLY.items():
        if options[name] not in (None, False):
            raise click.UsageError(reason)
    if options["form"] != "text":
        raise click.UsageError("--format: with --engine spark the table is a folder of Parquet files")
    output: str = options["output"] or ""
    if not (output.endswith(("/", os.sep)) or os.path.isdir(output)):
        raise click.UsageError("-o: with --engine spark the table is a folder of Parquet files: -o DIR/")
    if "-" in sources:
        raise click.UsageError("-: with --engine spark there is no standard input")
    for source in sources:
        if is_uri(source) and not is_object(source):
            raise click.UsageError(
                f"{mask(str(source))}: with --engine spark sources must be files or objects of stores; leave it out to "
                "open a URI"
            )
    return output


@contextmanager
def _session(master: str | None, output: str) -> Iterator[SparkSession]:
    """Yield a session whose errors become those of a command; Spark's own files and variables set the cluster."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    # Without a number of tries a task that dies is the end of the job.
    master = master or "local[*,4]"
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    environment = python_environment()
    os.environ.pop("PYTHONPATH", None)
    os.environ.update(environment)
    session = None
    try:
        session = SparkSession.builder.master(master).config(map=dict(_CONFIG)).getOrCreate()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler)
        yield session
    except KeyboardInterrupt:
        if session is not None:
            session.sparkContext.setLogLevel("OFF")
            session.sparkContext.cancelAllJobs()
        print_message(f"stopped; {output} has complete files so far; run the same command to continue")
        raise SystemExit(130) from None
    except FileExistsError as error:
        raise click.UsageError(f"-o: {error}") from None
    except Exception as error:
        if not isinstance(error, PySparkException) and type(error).__module__.partition(".")[0] != "py4j":
            raise
        raise click.ClickException(_error_message(error)) from None
    finally:
        if session is not None:
            session.stop()


def _error_message(error: Exception) -> str:
    """Return the message of a Spark error without stack traces: its first line, and the last one of Python's."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    cause = [line for line in lines if line.startswith(("OSError", "RuntimeError", "ModuleNotFoundError", "Caused by"))]
    return "\n".join(dict.fromkeys((lines[0], *cause[:1])))


@contextmanager
def _progress(session: SparkSession) -> Iterator[None]:
    """Show a bar of the finished parts if standard error is a terminal."""
    console = terminal_console(err=True)
    if console is None:
        yield
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    over = threading.Event()
    tracker = session.sparkContext.statusTracker()
    layout = (TextColumn("links"), BarColumn(), MofNCompleteColumn(), TextColumn("parts"), TimeRemainingColumn())
    with Progress(*layout, console=console, transient=True) as bar:
        number = bar.add_task("links", total=None)

        def watch() -> None:
            while not over.wait(0.5):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                largest = max((stage for stage in stages if stage), key=lambda stage: stage.numTasks, default=None)
                if largest is not None:
                    bar.update(number, total=largest.numTasks, completed=largest.numCompletedTasks)

        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        try:
            yield
        finally:
            over.set()
            watching.join(5)
