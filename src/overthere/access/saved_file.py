"""Saves content to a file atomically: a temporary file, renamed when it is complete."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING

from overthere.ground.atomic import create, is_stream, link, refuse_link, remove, rename, stream, temporary_path

if TYPE_CHECKING:
    from types import TracebackType


class SavedFile:
    """A context manager that returns the file to write to.  The file appears at `path` only if the block succeeds.

    force: replace an existing file, at the end; keep: keep the partial file of a broken transfer, as `partial`.

    A path that is not a regular file (a device, a pipe) is written to directly.  A link to anything else is rejected,
    with `force` too: another user may have made it.

    Raises: FileExistsError; OSError.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False, keep: bool = False) -> None:
        self.path: Path = Path(path)
        self.name: str = os.fspath(path)
        self.partial: Path | None = None
        """The path of the temporary file until it is complete."""
        self.force = force
        self.keep = keep
        self._file: IO[bytes] | None = None

    def __enter__(self) -> IO[bytes]:
        if is_stream(self.path):
            self._file = stream(self.path)
            return self._file
        refuse_link(self.path)
        if self.path.exists() and not self.force:
            raise self._file_exists_error()
        partial = temporary_path(self.path)
        try:
            self._file = create(partial, self.path)
            self.partial = partial
        except OSError as error:
            error.filename = self.name
            raise
        except BaseException:  # Ctrl-C may interrupt between any two steps
            with contextlib.suppress(OSError):
                remove(partial)
            raise
        return self._file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._file is not None
        try:
            self._file.close()
            if kind is None and self.partial is not None:
                self._commit(self.partial)
                self.partial = None
        finally:
            # After success it has been renamed: a remaining file is from a failure.
            if self.partial is not None and not (self.keep and self.partial.exists() and self.partial.stat().st_size):
                with contextlib.suppress(OSError):
                    remove(self.partial)
                self.partial = None

    def _commit(self, partial: Path) -> None:
        if not self.force:
            try:
                link(partial, self.path)  # unlike `rename`, it fails if a file was created meanwhile
            except FileExistsError:
                raise self._file_exists_error() from None
            except OSError:  # a file system without links
                if os.path.lexists(self.path):
                    raise self._file_exists_error() from None
            else:
                remove(partial)
                return
        rename(partial, self.path)

    def _file_exists_error(self) -> FileExistsError:
        return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.name)
