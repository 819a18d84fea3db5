"""Starting processes: Python children that import nothing from the current folder, and programs of the path."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_CHILD = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from overthere.ground.processes import _run_child; _run_child(int(sys.argv[1]))"
)
_JOIN_TIMEOUT = 5
"""Seconds that a child has to end after `terminate`; then it is killed."""


def python_command() -> list[str]:
    """Return the interpreter and options of this process for a child, without the current folder on its path.

    `python -c` and `python -m` would otherwise import the standard library from that folder first.

    Raises: RuntimeError in a frozen program, which `-c` would start again instead of Python.
    """
    if getattr(sys, "frozen", False) or not sys.executable:
        raise RuntimeError("no Python interpreter can be started from this program: use one worker")
    flags = sys.flags
    command = [sys.executable, "-P" if hasattr(flags, "safe_path") else "-I"]
    options = {"-I": flags.isolated, "-E": flags.ignore_environment, "-s": flags.no_user_site, "-S": flags.no_site}
    command += [option for option, is_set in options.items() if is_set and option not in command]
    command += ["-B"] * bool(flags.dont_write_bytecode) + ["-O"] * flags.optimize
    command += [f"-W{option}" for option in sys.warnoptions]
    xoptions: dict[str, str | bool] = getattr(sys, "_xoptions", {})
    return command + [f"-X{name}" if value is True else f"-X{name}={value}" for name, value in xoptions.items()]


def python_environment() -> dict[str, str]:
    """Return the environment of a child: PYTHONPATH without the current folder, and PYTHONSAFEPATH for its children."""
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    folders = environment.pop("PYTHONPATH", "").split(os.pathsep)
    if allowed := [place for place in folders if _is_importable_place(place)]:
        environment["PYTHONPATH"] = os.pathsep.join(allowed)
    return environment


def import_path() -> list[str]:
    """Return `sys.path` for a child: absolute folders, the current one only if it contains this package."""
    return [place for place in sys.path if isinstance(place, str) and _is_importable_place(place)]


def _is_importable_place(place: str) -> bool:
    if not os.path.isabs(place):
        return False
    real = os.path.realpath(place)
    with suppress(OSError):  # a current folder that was removed
        return real == _PACKAGE_PARENT or real != os.path.realpath(os.getcwd())
    return True


def find_program(name: str) -> str | None:
    """Return the path of a program, searched only in the absolute folders of PATH; a name with a folder is that file.

    Windows, and an empty entry of PATH, would search the current folder too.
    """
    if os.path.dirname(name):
        return shutil.which(name)
    for folder in os.get_exec_path():
        if os.path.isabs(folder) and (path := shutil.which(os.path.join(folder, name))):
            return path
    return None


def run_on_terminal(command: list[str]) -> int:
    """Run a program on this terminal; return its exit code, as a shell does.  Ctrl-C is for the program alone.

    Another interruption ends it; the terminal gets its settings back.  Raises: OSError if the program cannot start.
    """
    is_main = threading.current_thread() is threading.main_thread()  # only this thread receives signals
    handler = signal.getsignal(signal.SIGINT)
    restore_terminal = _terminal_restorer()
    process = subprocess.Popen(command)
    try:
        if is_main:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = process.wait()
        return code if code >= 0 else 128 - code  # by a signal
    finally:
        _end(process, os.getpid())
        restore_terminal()
        if is_main:
            signal.signal(signal.SIGINT, handler or signal.SIG_DFL)


def _terminal_restorer() -> Callable[[], None]:
    """Return a function that gives the terminal of standard input its present settings, if there is one."""
    try:
        import termios
    except ImportError:  # Windows
        return lambda: None

    def restore() -> None:
        with suppress(termios.error):  # there is no terminal any more
            termios.tcsetattr(0, termios.TCSANOW, settings)

    try:
        settings = termios.tcgetattr(0)
    except termios.error:
        return lambda: None
    return restore


class Child:
    """A process of Python that runs `function(pipe, *arguments)`; `pipe` is this end, `join` and `kill` end it.

    The function is imported by its name in the child, which imports neither the main module nor the current folder.
    """

    def __init__(self, function: Callable[..., None], *arguments: Any) -> None:
        self.pipe: Connection
        self.pipe, child_pipe = _connected_pipes()
        with child_pipe, without_interrupts():
            self._process = _start(child_pipe)
        self._finalizer = weakref.finalize(self, _end, self._process, os.getpid())
        with suppress(OSError):  # if the child has ended, reading from it will report that
            self.pipe.send((function, arguments))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exitcode(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.poll()

    def join(self, timeout: float | None = None) -> None:
        """Wait at most `timeout` seconds for its end."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout)

    def kill(self) -> None:
        """Kill it at once."""
        self._process.kill()

    def end(self) -> None:
        """Terminate it, and kill it if it does not end in time."""
        self._finalizer()


def _connected_pipes() -> tuple[Any, Any]:
    """Return both ends of a pipe, which have another type on Windows."""
    from multiprocessing.connection import Pipe

    return Pipe()


def _start(child_pipe: Any) -> subprocess.Popen[bytes]:
    handle = child_pipe.fileno()
    command = [*python_command(), "-c", _CHILD, str(handle), *import_path()]
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, True)
        inherited = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
        return subprocess.Popen(
            command, env=python_environment(), stdin=subprocess.DEVNULL, startupinfo=inherited, close_fds=True
        )
    return subprocess.Popen(command, env=python_environment(), stdin=subprocess.DEVNULL, pass_fds=(handle,))


def _run_child(handle: int) -> None:
    del sys.argv[1:]
    if sys.platform == "win32":
        from multiprocessing.connection import PipeConnection

        pipe: Any = PipeConnection(handle)
    else:
        from multiprocessing.connection import Connection

        pipe = Connection(handle)
    function, arguments = pipe.recv()
    function(pipe, *arguments)


def _end(process: subprocess.Popen[bytes], parent: int) -> None:
    if os.getpid() != parent:  # a forked copy of the parent
        return
    process.terminate()
    try:
        process.wait(_JOIN_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Block SIGINT, so that a process started inside has it blocked from its start; here it arrives a moment later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)
