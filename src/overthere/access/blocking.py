"""Dialogues over sockets, with waits that block the thread; `aio` waits in an event loop."""

from __future__ import annotations

import contextlib
import selectors
from typing import Any

from overthere.access.errors import AccessFailed
from overthere.access.resolver import DAY
from overthere.access.transport import Call, Carrier, Pause, Waiting
from overthere.access.wire import Data, Head, Item


class Transport(Carrier):
    """A carrier whose waits block the thread."""

    def advance(self) -> Head | Data | Item | None:
        """Return the dialogue's next result; None at its end.  Raises: AccessError."""
        with contextlib.closing(self.run_to_result()) as work:
            try:
                waiting = next(work)
                while True:
                    waiting = work.send(_wait_for(waiting))
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            except BaseException as error:
                self.fail(error)
                raise

    def close(self) -> None:
        """Close every channel; unread data is lost."""
        self.release()


# poll() accepts all descriptors, select() only those with small numbers.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


def _wait_for(waiting: Waiting) -> Any:
    if isinstance(waiting, Call):
        return waiting.function()
    if isinstance(waiting, Pause):
        return None
    with _Selector() as selector:
        try:
            selector.register(waiting.sock, selectors.EVENT_WRITE if waiting.for_write else selectors.EVENT_READ)
        except ValueError:  # by another thread
            raise AccessFailed("it was closed while being read") from None
        return bool(selector.select(min(waiting.seconds, DAY)))
