"""The command line: one file per verb, loaded on first use."""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Any

__all__ = ["command", "main"]


class _OutputError(SystemExit):
    """Standard output cannot be written; not an OSError, which a verb catches for its own files."""

    def __init__(self, error: OSError) -> None:
        super().__init__(2)
        self.error = error


class _StandardOutput(io.FileIO):
    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:  # the reader closed the pipe: discard what Python still buffers, silently
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            raise
        except BlockingIOError:
            raise  # the reader of the pipe is slow
        except OSError as error:
            raise _OutputError(error) from None


class _StandardError(io.FileIO):
    """Discards messages that cannot be written: the answers and the exit status are still right."""

    def write(self, data: Any, /) -> int:
        with suppress(OSError):
            return super().write(data) or len(data)
        return len(data)


def command() -> None:
    """Run `overthere` as the whole process, and end it without freeing each object (10 ms of 75, for `check`).

    Functions registered for its end are called.  A process with other threads or a debugger ends as Python ends it.
    """
    try:
        main()
    except (SystemExit, KeyboardInterrupt) as end:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python would raise it in the functions of its end
        code = getattr(end, "code", 130)  # another Ctrl-C while the first was reported
        is_observed = sys.gettrace() or sys.getprofile() or sys.flags.inspect
        if threading.active_count() > 1 or is_observed or not isinstance(code, int | None):
            raise SystemExit(code) from None
        atexit._run_exitfuncs()
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with suppress(OSError, ValueError):  # it is closed, or its loss is reported
                stream.flush()
        os._exit(code or 0)


def main() -> None:
    """Run `overthere`.  In one line, with exit 2: what to install where click or rich is missing, and why standard
    output cannot be written.
    """
    # Arrow's own allocators keep what was freed: 30 MiB for the links of a crawl, at the same speed.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # Modules and what is kept of documents stay to the end, and are no cycles: looked through now and then.
    if hasattr(gc, "set_threshold"):  # PyPy has none
        gc.set_threshold(100_000, 50, 100)
    streams: list[Any] = [sys.stdout, sys.stderr]
    if None in streams:
        if sys.stderr is not None:
            print("Error: standard output: it is closed", file=sys.stderr)
        raise SystemExit(2)
    streams = sys.stdout, sys.stderr = [*map(_with_raw, streams, (_StandardOutput, _StandardError))]
    for stream in streams:
        # A character that the terminal's charset lacks is no reason to stop.
        if stream.encoding.lower() not in ("utf-8", "utf8") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        from overthere.ground.interrupts import interruptible

        with interruptible(signal.SIGINT):
            from overthere.cli.app import app

            code = _run(app)
    except KeyboardInterrupt:
        print("Stopped", file=sys.stderr)
        code = 130
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        print("overthere: the command line needs click and rich: pip install 'overthere[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
    raise SystemExit(code)


def _with_raw(stream: Any, raw_type: type[io.FileIO]) -> Any:
    """The stream with another raw file; a stream that is not a file is unchanged."""
    buffer = getattr(stream, "buffer", None)
    if type(getattr(buffer, "raw", buffer)) is not io.FileIO:
        return stream
    raw = raw_type(stream.fileno(), "wb", closefd=False)
    return io.TextIOWrapper(
        raw if type(buffer) is io.FileIO else io.BufferedWriter(raw),
        stream.encoding, stream.errors, line_buffering=stream.line_buffering, write_through=stream.write_through,
    )  # fmt: skip


def _expand_patterns(arguments: list[str]) -> list[str]:
    """Arguments with the files that patterns among them name, as a shell of POSIX passes them."""
    import glob

    expanded = []
    for argument in arguments:
        is_pattern = argument[:1] != "-" and any(char in argument for char in "*?[") and not os.path.lexists(argument)
        expanded += (sorted(glob.glob(argument)) if is_pattern else []) or [argument]
    return expanded


def _run(app: Any) -> Any:
    """Return the exit code of the verb, after its output is flushed or its loss is reported."""
    code: Any = None
    try:
        # On Windows click would also replace $NAME and %NAME% in the names of files, by values of the environment.
        app(_expand_patterns(sys.argv[1:]) if os.name == "nt" else None, "overthere", windows_expand_args=False)
    except SystemExit as end:
        code = _report_output_error(end.error) if isinstance(end, _OutputError) else end.code
    except KeyboardInterrupt:  # before a verb was there to hear it
        print("Stopped", file=sys.stderr)
        code = 130
    except OSError as error:  # standard output only: the verb reports errors of other files
        code = _report_output_error(error)
    try:
        sys.stdout.flush()
    except (_OutputError, OSError) as error:
        code = code if code == 2 else _report_output_error(error.error if isinstance(error, _OutputError) else error)
        # Python would try it once more, and tell it with a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _report_output_error(error: OSError) -> int:
    print(f"Error: standard output: {error.strerror or error}", file=sys.stderr)
    return 2
