"""aiosmtpd with its handler `Mailbox`, which delivers to a Maildir."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from servers import free_port, running


class MailServer(NamedTuple):
    """A running server."""

    port: int
    maildir: Path


@contextmanager
def mail_server(folder: Path) -> Iterator[MailServer]:
    """An SMTP server; a message is in the Maildir before it is acknowledged."""
    if find_spec("aiosmtpd") is None:
        pytest.skip("aiosmtpd is not installed")
    port, maildir = free_port(), folder / "maildir"
    command = [sys.executable, "-W", "ignore", "-m", "aiosmtpd", "-n", "-l", f"127.0.0.1:{port}"]
    with running([*command, "-c", "aiosmtpd.handlers.Mailbox", maildir], port, folder / "out"):
        yield MailServer(port, maildir)
