"""overthere broken: which links of documents lead nowhere."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import click

from overthere.broken.model import ANCHORS, KINDS, PASSED, Broken, Checker, Summary
from overthere.cli.common import base_uri
from overthere.errors import OverthereError
from overthere.extras import missing
from overthere.redact import mask
from overthere.showing import printable

FORMS = ("text", "jsonl")


@click.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path())
@click.option(
    "--base",
    "bases",
    multiple=True,
    metavar="URI",
    help="Where the sources are published: the URI of a folder's root, or of the folder of a named file (repeatable: "
    "others that lead there too).",
)
@click.option("--online", is_flag=True, help="Ask for what lies outside of the sources.")
@click.option("--fragments/--no-fragments", default=True, help="Look up anchors, or documents only.")
@click.option(
    "--anchors", type=click.Choice(ANCHORS), default="github", help="Whose anchors headings of Markdown have."
)
@click.option("--index", multiple=True, metavar="NAME", help="What a server gives for a folder (repeatable).")
@click.option(
    "--extension", "extensions", multiple=True, metavar="EXT", help="A server adds .EXT to what is not there."
)
@click.option("--only", multiple=True, metavar="KIND", help="Only findings of this kind (repeatable).")
@click.option("--workers", type=click.IntRange(1), help="How many read at once; by default all cores.")
@click.option("--format", "form", type=click.Choice(FORMS), default="text", help="On standard output.")
@click.option("--notes", is_flag=True, help="Print notes too, not their number alone.")
def command(sources: tuple[str, ...], **asked: Any) -> None:
    """Say which links of documents lead nowhere.

    SOURCES are HTML, XML, SVG, CSS, Markdown, messages, WARC files, archives, and folders of all these.  Links among
    them are looked up as a server would: by --base, with index files, by case; anchors too.

    Exit 0 if nothing is broken, 1 if something is, 2 if the work could not be done, 130 if it was stopped.
    """
    try:
        _Job(sources, asked).run()
    except ModuleNotFoundError as error:
        raise click.ClickException(missing(str(error.name), "links")) from None
    except (OverthereError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    except BrokenPipeError:
        raise  # who reads has enough
    except OSError as error:
        raise _Impossible(str(error)) from None


class _Impossible(click.ClickException):
    exit_code = 2


class _Job:
    def __init__(self, sources: tuple[str, ...], asked: dict[str, Any]) -> None:
        for kind in asked["only"]:
            if kind not in KINDS:
                raise click.UsageError(f"--only: there is no {kind!r}; there is {', '.join(KINDS)}")
        self.sources, self.asked = sources, asked
        self.summary = Summary()
        self.checker = Checker(
            base=tuple(str(base_uri(one)) for one in asked["bases"]),
            fragments=asked["fragments"],
            anchors=asked["anchors"],
            index=asked["index"] or Checker().index,
            extensions=tuple(one.lstrip(".") for one in asked["extensions"]),
            workers=asked["workers"],
            online=asked["online"],
        )

    def run(self) -> None:
        began = time.monotonic()
        stopped = False
        errors = 0
        try:
            errors = self._show(self._found())
        except KeyboardInterrupt:
            stopped = True
        click.echo("\n".join(lines(self.summary, time.monotonic() - began)), err=True)
        if stopped:
            click.echo("stopped; what was not read by then is not in these figures", err=True)
            raise SystemExit(130)
        if errors:
            raise SystemExit(1)

    def _found(self) -> Iterator[Broken]:
        from overthere.broken import check

        for found in check(self.sources, self.checker, self.summary):
            if not self.asked["only"] or found.kind in self.asked["only"]:
                yield found

    def _show(self, findings: Iterator[Broken]) -> int:
        """Print the findings.  Returns: how many are errors."""
        errors = 0
        source = None
        for found in findings:
            errors += found.level == "error"
            if self.asked["form"] == "jsonl":
                click.echo(json.dumps(found._asdict()))
                continue
            if found.level == "note" and not (self.asked["notes"] or self.asked["only"]):
                continue
            if found.source != source:
                source = found.source
                click.echo(printable(source))
            click.echo(line(found))
        return errors


def line(found: Broken) -> str:
    """A finding, for people."""
    place = "     -" if found.line is None else f"{found.line:>6}:{found.column}"
    reference = "" if found.reference is None else f"{printable(mask(found.reference))}  "
    return f"{place:<12} {found.level:<8}{found.kind:<14} {reference}{found.why}"


def lines(summary: Summary, seconds: float) -> Iterator[str]:
    """The summary: what was looked at, what was found, and what was not judged."""
    rate = f", {summary.documents / seconds:,.0f}/s" if seconds > 0.5 else ""
    yield f"{summary.documents:,} documents ({summary.octets:,} octets) in {seconds:.1f} s{rate}"
    yield f"{summary.references:,} references: {summary.within:,} looked up within the sources"
    if summary.outside:
        asked = f"{summary.asked:,} asked" if summary.asked else "not asked (--online asks)"
        yield f"{summary.outside:,} lead outside, to {summary.distinct:,} URIs: {asked}"
    if summary.passed:
        yield "not judged:"
        for reason, count in summary.passed.most_common():
            yield f"  {count:>9,}  {PASSED.get(reason, reason)}"
    if summary.files:
        yield f"no documents: {', '.join(f'{count:,} {kind}' for kind, count in summary.files.most_common())}"
    for level in ("error", "warning", "note"):
        kinds = {kind: count for kind, count in summary.kinds.items() if KINDS[kind].level == level}
        if kinds:
            counted = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
            yield f"{sum(kinds.values()):,} {level}{'s' * (sum(kinds.values()) > 1)}: {counted}"
    if not summary.errors:
        yield "nothing is broken"
