"""overthere find: URIs in running text (RFC 3986 Appendix C and 4.5)."""

from __future__ import annotations

import codecs
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, NamedTuple, cast

import click

from overthere.cli.printing import print_message, terminal_text
from overthere.editions import context1994, context1997, rfc1738
from overthere.files.stores.model import is_object
from overthere.ground import charsets
from overthere.ground.display import printable
from overthere.ground.redact import mask
from overthere.text import Found, Rules, find
from overthere.text.pieces import pieces

_BLOCK = 1 << 16


class _Place(NamedTuple):
    """The start of a piece of text: characters and lines before it, and characters before it in its line."""

    offset: int
    lines: int
    column: int

    def advance(self, text: str) -> _Place:
        last = text.rfind("\n") + 1
        column = len(text) - last if last else self.column + len(text)
        return _Place(self.offset + len(text), self.lines + text.count("\n"), column)


@click.command()
@click.argument("files", nargs=-1)
@click.option(
    "--format", "form", type=click.Choice(["text", "jsonl", "html", "markdown", "terminal"]), default="text",
    help="Print what was found, one a line, or the whole text with it marked.",
)  # fmt: skip
@click.option("--schemes", metavar="A,B", help="Only these schemes, anywhere in the text.")
@click.option("--abbreviated/--no-abbreviated", default=True, help="Also names such as www.w3.org/x (RFC 3986 4.5).")
@click.option("--hosts", is_flag=True, help="Also other host names, such as example.com/x.")
@click.option("--suffixes", is_flag=True, help="Also names under public suffixes, foo.museum (extra domains).")
@click.option("--mail", is_flag=True, help="Also mail addresses without a scheme.")
@click.option(
    "--rules", type=click.Choice(["rfc3986", "commonmark", "gfm"]), default="rfc3986",
    help="Find URIs by RFC 3986, or autolinks of CommonMark or GitHub Flavored Markdown.",
)  # fmt: skip
@click.option(
    "--edition", "by", type=click.Choice(["url-1994", "rfc1738", "url-1997", "uri-2003", "rfc3986"]), default="rfc3986",
    show_default=True,
    help="Find URLs wrapped as in this edition: <...> in 1994, <URL:...> in RFC 1738, Appendix E in 1997 and 2003.",
)  # fmt: skip
@click.option(
    "--charset", default="utf-8", show_default=True, help="Charset of the files; a byte order mark takes precedence."
)
def command(
    files: tuple[str, ...], form: str, schemes: str | None, abbreviated: bool, hosts: bool, suffixes: bool, mail: bool,
    rules: str, by: str, charset: str,
) -> None:  # fmt: skip
    """Find the URIs in texts: files, objects of stores (s3://bucket/key), or standard input (no FILE, or -).

    Exit 1 if a file could not be read or is not in the charset, 2 if none could be read; finding nothing is not an
    error.
    """
    if charsets.codec(charset) is None:
        raise click.UsageError(f"--charset: {charset!r} is not a known charset")
    if not files and (sys.stdin is None or sys.stdin.isatty()):
        raise click.UsageError("nothing to do: give FILE arguments, or a text on standard input")
    if schemes is not None and rules != "rfc3986":
        raise click.UsageError("--schemes needs --rules rfc3986")
    if rules != "rfc3986" and (mail or hosts or suffixes or not abbreviated):
        raise click.UsageError("--mail, --hosts, --suffixes and --no-abbreviated need --rules rfc3986")
    is_special = schemes is not None or rules != "rfc3986" or mail or hosts or suffixes or form not in ("text", "jsonl")
    if by != "rfc3986" and is_special:
        raise click.UsageError("--edition needs --format text or jsonl, and does not go with --rules")
    scheme_names = None if schemes is None else [name.strip() for name in schemes.split(",") if name.strip()]
    if scheme_names is not None and not (scheme_names and all(map(_SCHEME.fullmatch, scheme_names))):
        raise click.UsageError(f"--schemes {schemes!r}: must be scheme names separated by commas (RFC 3986 3.1)")
    search = partial(
        find, schemes=scheme_names, abbreviated=abbreviated, hosts="suffixes" if suffixes else hosts, mail=mail,
        rules=cast(Rules, rules),
    )  # fmt: skip
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    bad, unread = False, 0
    for name in files or ("-",):
        try:
            with _open_binary(name) as file:
                text = _Characters(file, charset)
                # Blocks of code and definitions of Markdown hold over empty lines.
                if by == "rfc3986":
                    _write_text(name, pieces(text) if rules == "rfc3986" else ["".join(text)], form, search)
                else:
                    _write_wrapped("".join(text), by, form)
        except BrokenPipeError:
            raise  # the reader closed the pipe
        except OSError as error:
            print_message(f"{printable(name)}: {error.strerror or error}")
            bad = True
            unread += 1
            continue
        if text.is_damaged:
            print_message(f"{printable(name)}: some of it is not valid {charset} and is read as U+FFFD")
            bad = True
    if bad:
        raise SystemExit(2 if unread == max(len(files), 1) else 1)


def _write_wrapped(text: str, by: str, form: str) -> None:
    """Write the URLs in the wrappers of an edition."""
    extracts: dict[str, Any] = {
        "url-1994": context1994.extract, "rfc1738": rfc1738.extract, "url-1997": context1997.delimited,
        "uri-2003": partial(context1997.delimited, edition="uri-2003"),
    }  # fmt: skip
    for reference in extracts[by](text):
        click.echo(
            json.dumps({**reference._asdict(), "edition": by}) if form == "jsonl" else printable(mask(reference.url))
        )


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")


@contextmanager
def _open_binary(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        if sys.stdin is None:
            raise OSError("standard input is closed")
        yield sys.stdin.buffer
    else:
        from overthere.files.stores.opening import open_object

        with open_object(name) if is_object(name) else open(name, "rb") as file:
            yield file


# That of UTF-32 begins with that of UTF-16: a text does not begin with NUL.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip


class _Characters(Iterable[str]):
    """The text of a file, in blocks; octets that are not in the charset become U+FFFD."""

    def __init__(self, file: BinaryIO, charset: str) -> None:
        self.file, self.charset = file, charset
        self.is_damaged: bool = False
        """Whether such octets have been read; U+FFFD may be in the file too."""

    def __iter__(self) -> Iterator[str]:
        octets = self.file.read(_BLOCK)
        make_decoder: Callable[[str], codecs.IncrementalDecoder] = partial(charsets.decoder, self.charset)
        for mark, name in _MARKS:
            if octets.startswith(mark):
                octets, make_decoder = octets[len(mark) :], codecs.getincrementaldecoder(name)
                break
        decoder, strict = make_decoder("replace"), make_decoder("strict")
        is_last = False
        while not is_last:
            is_last = not octets
            if not self.is_damaged:
                try:
                    strict.decode(octets, is_last)
                except UnicodeDecodeError:
                    self.is_damaged = True
            yield decoder.decode(octets, is_last)
            octets = b"" if is_last else self.file.read(_BLOCK)


def _write_text(name: str, texts: Iterable[str], form: str, search: Any) -> None:
    """Write the URIs of one text."""
    write = _Writer(name, form)
    place = _Place(0, 0, 0)
    for text in texts:
        write.piece(text, list(search(text)), place)
        place = place.advance(text)


class _Writer:
    """Writes the URIs of one text in one of the formats."""

    def __init__(self, name: str, form: str) -> None:
        self.name, self.form = name, form

    def piece(self, text: str, references: list[Found], place: _Place) -> None:
        if self.form in ("text", "jsonl"):
            self._rows(text, references, place)
        elif self.form == "terminal":
            from rich.console import Console

            from overthere.text.output import as_terminal

            console = Console(markup=False, highlight=False, emoji=False)
            console.print(as_terminal(text, references), end="", soft_wrap=True)
        else:
            from overthere.text.output import as_html, as_markdown

            marked_text = as_html(text, references) if self.form == "html" else as_markdown(text, references)
            click.echo(terminal_text(marked_text), nl=False)

    def _rows(self, text: str, references: list[Found], place: _Place) -> None:
        file_name = "standard input" if self.name == "-" else printable(self.name)
        at = 0
        position = place
        for match in references:
            position, at = position.advance(text[at : match.start]), match.start
            line, column = position.lines + 1, position.column + 1
            if self.form == "jsonl":
                data = {"file": self.name, "line": line, "column": column, **match._asdict()}
                data["start"], data["end"] = match.start + place.offset, match.end + place.offset
                data["outer"] = [offset + place.offset for offset in match.outer]
                click.echo(json.dumps(data))
            else:
                click.echo(f"{file_name}:{line}:{column}  {printable(match.uri)}{_note(match)}")


def _note(reference: Found) -> str:
    marks = []
    if reference.kind != "URI":
        marks.append(f"{reference.kind}: {printable(' '.join(reference.text.split()))}")
    if reference.alternative is not None:
        marks.append(f"or {printable(reference.alternative)}")
    if reference.cut:
        marks.append(f"cut before {printable(reference.cut)}, which a URI cannot contain there")
    return f"  ({'; '.join(marks)})" if marks else ""
