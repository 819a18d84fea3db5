"""overthere get: fetches what URIs name."""

from __future__ import annotations

import getpass
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

import overthere
from overthere.access import Credentials, Gateways
from overthere.access.errors import AccessError, AccessRefused, ResourceMissing
from overthere.access.planning import plan_under
from overthere.access.policy import Policy
from overthere.access.resource import Resource
from overthere.access.saved_file import SavedFile
from overthere.access.steps import Compose
from overthere.access.wire import Entry
from overthere.cli.common import format_option, inputs, parse_locator, texts_argument, width
from overthere.cli.numbers import LONGEST_WAIT, Amount
from overthere.cli.policies import policy_of, policy_options
from overthere.cli.printing import Impossible, print_message
from overthere.cli.reading_options import FILE, access_options
from overthere.cli.styles import terminal_console
from overthere.cli.terminal import Binary, Display, format_listing, one_line, without_password
from overthere.ground.display import printable
from overthere.ground.errors import InvalidURI, OverthereError
from overthere.ground.extras import missing_message
from overthere.ground.redact import mask
from overthere.protocols.session.client import Session
from overthere.schemes import Locator, Registry
from overthere.values.uri import URI


@click.command()
@texts_argument
@click.option("-o", "output", type=click.Path(path_type=Path), metavar="FILE", help="Write to a file, or a folder.")
@click.option("--force", is_flag=True, help="With -o: replace existing files.")
@click.option("--keep-partial", is_flag=True, help="With -o: keep a partial file as FILE.*.part.")
@click.option("--head", is_flag=True, help="Print the metadata without the content.")
@click.option("--plan", "planned", is_flag=True, help="Print what would be done without doing it.")
@click.option("--raw", is_flag=True, help="Write raw octets even to a terminal.")
@click.option(
    "--connect", is_flag=True,
    help="Start the session that a telnet, rlogin or tn3270 URI names; exit with the status of its program.",
)  # fmt: skip
@policy_options
@click.option(
    "--timeout",
    type=Amount(0.001, LONGEST_WAIT),
    metavar="SECONDS",
    help="Timeout in seconds for connecting and for each read.",
)
@click.option("--user", metavar="NAME", help="User name for URIs without one; prompts for the password.")
@click.option("--password-file", type=FILE, help="File whose first line is the password.")
@click.option("--proxy", metavar="URI", help="Proxy for http, https, ws and wss; environment variables are ignored.")
@access_options
@format_option
def command(texts: tuple[str, ...], user: str | None, password_file: str | None, **options: Any) -> None:
    """Fetch URIs: to standard output, or with -o to a file, written atomically.

    Menus, directories and other listings are printed in columns.  With --format jsonl each entry is a line; other
    content gets one object with its metadata and goes only to -o.  URIs without a news server use that of the
    policy, otherwise NNTPSERVER in the environment.

    Exit: 1 if a URI is invalid, refused or names nothing, 2 if one could not be fetched now, 130 after Ctrl-C.
    """
    output = options["output"]
    if len(texts) > 1 and output is not None and not output.is_dir():
        raise click.UsageError(f"-o: {output} is not a folder, and there are several URIs")
    try:
        uris = list(inputs(texts, "URIs")) if user or password_file else inputs(texts, "URIs")
        Get(Login(user, password_file, options["address"], uris), options).fetch_all(uris)
    except KeyboardInterrupt:
        print_message("Stopped")
        raise SystemExit(130) from None
    except ModuleNotFoundError as error:
        raise Impossible(missing_message(str(error.name), "access")) from None


class Login:
    """Credentials; the terminal asks for the password once per server, and it is never an argument."""

    def __init__(self, user: str | None, file: str | None, address: str | None, uris: object) -> None:
        self.user = user
        self.address = address
        self.passwords: dict[tuple[object, ...], str] = {}
        self.password: str | None = None
        if isinstance(uris, list) and len({_server(uri) for uri in uris}) > 1:
            raise click.UsageError("--user and --password-file apply to one server, and the URIs name several")
        if file is not None:
            try:
                self.password = Path(file).read_bytes().decode().split("\n", 1)[0].removesuffix("\r")
            except (OSError, UnicodeDecodeError) as error:
                raise click.UsageError(f"--password-file: {error}") from None

    def credentials(self, locator: Locator, interactive: bool) -> Credentials:
        """The credentials for a locator."""
        user_in_uri: str | None = getattr(locator, "user", None)
        user = user_in_uri or self.user
        password = self.password
        password_in_uri = getattr(locator, "password", None)
        if password is None and password_in_uri is None and user not in (None, "anonymous") and not interactive:
            password = self._ask(user, (locator.scheme, getattr(locator, "host", None), getattr(locator, "port", None)))
        return Credentials(self.user or (user_in_uri if password is not None else None), password, self.address)

    def _ask(self, user: str | None, server: tuple[object, ...]) -> str | None:
        """On a terminal ask for the password (RFC 1738 3.2.1: it "should request one from the user")."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return None
        if (user, *server) not in self.passwords:
            prompt = f"Password of {one_line(str(user))} at {one_line(str(server[1]))}: "
            self.passwords[user, *server] = getpass.getpass(prompt, sys.stderr)
        return self.passwords[user, *server]


def _server(text: str) -> tuple[str, str, str] | None:
    try:
        uri = URI(text, zone=True)
    except InvalidURI:
        return None
    return uri.scheme.lower(), (uri.host or "").lower(), uri.port_text or ""


class Get:
    """Fetches one URI after another; an error with one does not stop the next."""

    def __init__(self, login: Login, options: Mapping[str, Any]) -> None:
        self.login = login
        self.options = options
        self.policy: Policy = policy_of(options)
        if self.policy.news_server is None and (server := os.environ.get("NNTPSERVER")):
            self.policy = self.policy.with_(news_server=server)
        self.jsonl: bool = options["form"] == "jsonl"
        self.output: Path | None = options["output"]
        self.names: set[Path] = set()
        self.status: int = 0
        try:
            self.gateways: Gateways | None = (
                Gateways.read(options["gateways"]) if options["gateways"] is not None else None
            )
        except (OverthereError, OSError) as error:
            raise click.UsageError(f"--gateways: {error}") from None

    def fetch_all(self, texts: Sequence[str] | Iterator[str]) -> None:
        """Fetch all URIs; exit with the worst status."""
        for number, text in enumerate(texts):
            if number and self.output is not None and not self.output.is_dir():
                raise click.UsageError(f"-o: {self.output} is not a folder, and there are several URIs")
            try:
                self.fetch(text)
            except AccessError as error:
                error.uri = error.uri or text
                final = isinstance(error, AccessRefused | ResourceMissing)
                requested_as = "" if str(error.uri) == text else f" [requested as: {printable(mask(text))}]"
                self.refuse(text, error, 1 if final else 2, one_line(str(error)) + requested_as)
            except InvalidURI as error:
                self.refuse(text, error, 1, error.figure(width()))
            except OverthereError as error:
                self.refuse(text, error, 1, f"{one_line(str(error))} ({printable(mask(text))})")
            except BrokenPipeError:
                raise
            except OSError as error:  # of our own files
                hint = "; --force replaces it" if isinstance(error, FileExistsError) else ""
                message = f"{error.filename}: {error.strerror}{hint}" if error.filename else str(error)
                self.refuse(text, error, 2, one_line(message))
            except Binary:
                message = f"{printable(mask(text))} is not text: use -o to write a file, or --raw to print it"
                self.refuse(text, None, 2, message)
        if self.status:
            raise SystemExit(self.status)

    def refuse(self, text: str, error: Exception | None, status: int, message: str) -> None:
        """Report a URI that was not fetched."""
        self.status = max(self.status, status)
        if self.jsonl:
            details: dict[str, Any] = {"kind": type(error).__name__, "message": message}
            if isinstance(error, AccessError):
                details |= {"message": error.message, "where": error.where, "source": error.source}
            elif isinstance(error, InvalidURI):
                details = error.finding._asdict()
            click.echo(json.dumps({"uri": mask(text), "error": details}))
        click.echo(message, err=True)  # a figure, or one line

    def fetch(self, text: str) -> None:
        """Fetch what one URI names.  Raises: OverthereError, OSError, Binary."""
        locator = parse_locator(text, self.options["by"], self.options["zone"])
        if self.options["planned"]:
            credentials = Credentials(self.login.user, None, self.login.address)
            planned = plan_under(self.policy, locator, credentials, gateways=self.gateways)
            self.answer("\n".join(map(printable, planned.render(width()).split("\n"))), planned.to_dict())
            return
        interactive = Registry.default().scheme(locator.scheme).interactive
        credentials = self.login.credentials(locator, interactive)
        with overthere.open(locator, self.policy, credentials=credentials, gateways=self.gateways) as resource:
            has_session = self.options["connect"] and resource.session is not None
            content = resource.is_listing or (self.output is not None and resource.session is None)
            if self.options["head"] or (self.jsonl and not content and not has_session):
                self.answer(_describe(resource), _facts(resource, text))
            else:
                self.content(resource, text)

    def answer(self, text: str, data: Mapping[str, Any]) -> None:
        click.echo(json.dumps(data) if self.jsonl else text)

    def content(self, resource: Resource, text: str) -> None:
        """Write the content to its destination."""
        if resource.session is not None:
            self.begin(resource.session)
            return
        for draft in resource.plan.steps:
            for name, value in draft.ignored if isinstance(draft, Compose) else ():  # the user must know (RFC 6068 7)
                print_message(one_line(f"left out of the draft as unsafe: {name}: {value}"))
        listing = _listing(resource, self.jsonl, text) if resource.is_listing else None
        if self.output is not None:
            self.save(resource, listing, text)
        elif listing is not None:
            for line in listing:
                click.echo(line)
        elif sys.stdout.isatty() and not self.options["raw"]:
            if resource.unknown_charset is not None:
                print_message(one_line(f"{resource.unknown_charset!r} is not a known charset: read as ISO Latin 1"))
            display = Display(resource)
            for piece in resource:
                click.echo(display.show(piece), nl=False)
            click.echo(display.show(b"", final=True), nl=False)
        else:
            sys.stdout.flush()
            with _progress(resource, sys.stdout) as step:
                _copy(resource, sys.stdout.buffer, step)
                sys.stdout.buffer.flush()

    def begin(self, session: Session) -> None:
        """Print the target and user of a session (RFC 1738 3.8); with --connect, start it."""
        description = f"{session.program} {session.host} {session.port}"
        description += f": {session.suggestion}" if session.suggestion else ""
        click.echo(printable(description), err=self.options["connect"])
        if self.options["connect"]:
            self.status = max(self.status, session.hand_over())

    def save(self, resource: Resource, listing: Iterator[str] | None, text: str) -> None:
        """Save to the file of -o."""
        assert self.output is not None
        target = self.output / ((resource.history[0] if resource.history else resource.uri).filename or "index")
        if not self.output.is_dir():
            target = self.output
        elif target in self.names:
            raise OSError(f"{target}: another of these URIs has the same file name")
        self.names.add(target)
        saving = SavedFile(target, force=self.options["force"], keep=self.options["keep_partial"])
        try:
            with saving as file, _progress(resource, None) as step:
                size = _copy((f"{line}\n".encode() for line in listing) if listing else resource, file, step)
        finally:
            if saving.partial is not None:
                print_message(f"{printable(str(saving.partial))} has the partial content")
        if self.jsonl:
            click.echo(json.dumps({**_facts(resource, text), "saved": str(target), "octets": size}))
        else:
            kind = f", {one_line(resource.media_type)}" if resource.media_type and not resource.is_listing else ""
            print_message(f"{printable(str(target))}: {size:,} octets{kind}")


def _copy(pieces: Resource | Iterator[bytes], file: IO[bytes], step: Callable[[int], None]) -> int:
    size = 0
    for piece in pieces:
        file.write(piece)
        size += len(piece)
        step(size)
    return size


def _listing(resource: Resource, jsonl: bool, text: str) -> Iterator[str]:
    if not jsonl:
        yield from format_listing(resource.entries(), width())
        return
    for entry in resource.entries():
        yield json.dumps({"listing": mask(text), **_entry(entry)})


def _entry(entry: Entry) -> dict[str, Any]:
    uri = None if entry.uri is None else without_password(entry.uri)
    return {"kind": entry.kind, "name": entry.name, "uri": uri, "details": _as_json(entry.details)}


def _facts(resource: Resource, text: str) -> dict[str, Any]:
    """Metadata of a resource as JSON."""
    return {
        "uri": mask(text), "final": mask(str(resource.uri)), "history": [mask(str(uri)) for uri in resource.history],
        **({} if resource.gateway is None else {"gateway": mask(str(resource.gateway))}),
        "media_type": resource.media_type, "how": resource.how, "length": resource.length,
        "base": mask(str(resource.base)), "listing": resource.is_listing, "details": _as_json(resource.details),
    }  # fmt: skip


def _as_json(value: Any) -> Any:
    """Protocol details as JSON; octets become ISO Latin 1 text."""
    if isinstance(value, Mapping):
        return {str(name): _as_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_as_json(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _describe(resource: Resource) -> str:
    """Metadata of a resource for people."""
    facts = _facts(resource, str(resource.uri))
    rows = [("from", uri) for uri in facts["history"]]
    rows += [("gateway", facts["gateway"])] if "gateway" in facts else []
    kind = "a listing" if resource.is_listing else resource.media_type or "not known"
    rows.append(("media type", f"{kind} ({resource.how})" if resource.how else kind))
    rows += [("length", f"{resource.length:,} octets")] if resource.length is not None else []
    rows += [("base", facts["base"])] if resource.base != resource.uri else []
    for name, value in facts["details"].items():
        for item in value if isinstance(value, list) else [value]:
            line_text = ": ".join(map(str, item)) if isinstance(item, list) and len(item) == 2 else str(item)
            rows += [(name, line) for line in line_text.splitlines() or [""]]
    lines = [printable(facts["final"])]
    before = None
    for name, value in rows:
        lines.append(f"  {printable('' if name == before else name):<10}  {printable(value)}".rstrip())
        before = name
    return "\n".join(lines)


@contextmanager
def _progress(resource: Resource, out: IO[str] | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, if that is a terminal and the content goes elsewhere."""
    console = terminal_console(err=True)
    if console is None or (out is not None and out.isatty()):
        yield lambda size: None
        return
    from rich import progress

    layout = [progress.TextColumn("{task.description}", markup=False), progress.BarColumn(bar_width=20)]
    layout += [progress.DownloadColumn(), progress.TransferSpeedColumn()]
    if resource.length is not None:
        layout.append(progress.TimeRemainingColumn())
    with progress.Progress(*layout, console=console, transient=True) as bar:
        task = bar.add_task((resource.uri.filename or "index")[:20], total=resource.length)
        yield lambda size: bar.update(task, completed=size)
