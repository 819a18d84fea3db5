"""Dialogues run in an event loop of asyncio or trio: `transport`, with anyio for waiting."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread

from overthere.access.errors import AccessFailed
from overthere.access.transport import Call, Carrier, Pause, Waiting
from overthere.access.wire import Data, Head, Item


class AsyncTransport(Carrier):
    """A carrier whose waits let other tasks run."""

    async def advance(self) -> Head | Data | Item | None:
        """Return the dialogue's next result; None at its end.  Raises: AccessError."""
        with contextlib.closing(self.run_to_result()) as work:
            try:
                await anyio.lowlevel.checkpoint()  # a dialogue that never has to wait must let other tasks run too
                waiting = next(work)
                while True:
                    waiting = work.send(await _wait_for(waiting))
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            except BaseException as error:
                self.fail(error)
                raise

    async def close(self) -> None:
        """Close every channel; unread data is lost, and a call that waits for it raises."""
        for channel in self.channels.values():
            if isinstance(channel, socket.socket):
                anyio.notify_closing(channel)
        self.release()


async def _wait_for(waiting: Waiting) -> Any:
    if isinstance(waiting, Call):
        return await anyio.to_thread.run_sync(waiting.function)
    if isinstance(waiting, Pause):
        return await anyio.lowlevel.checkpoint()
    with anyio.move_on_after(waiting.seconds):
        try:
            await (anyio.wait_writable if waiting.for_write else anyio.wait_readable)(waiting.sock)
        except anyio.ClosedResourceError:
            raise AccessFailed("it was closed while being read") from None
        return True
    return False
