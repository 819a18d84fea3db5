"""Masks secrets in what a dialogue reports and raises (RFC 3986 7.5).

A server may repeat what it was sent: the transport's errors, those of every protocol and of every plug-in pass here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from overthere.access.errors import AccessError
from overthere.access.steps import Credentials, Interact, Send
from overthere.access.wire import Dialogue, Head
from overthere.ground.errors import InvalidURI, OverthereError
from overthere.ground.redact import mask
from overthere.values.known_secrets import Secrets, logins, values

if TYPE_CHECKING:
    from overthere.access.planning import Plan

__all__ = ["mask_errors", "mask_secrets", "masked_errors", "secrets_of"]


def secrets_of(
    plan: Plan, credentials: Credentials | None = None, uris: Iterable[str] = (), before: Iterable[str] = ()
) -> Secrets:
    """The secrets of a plan: in its URI, its steps and those at its gateway.

    credentials: what the caller lets be told; uris: others whose passwords are known, as those of proxies;
    before: secrets that are known.

    >>> from overthere import plan
    >>> secrets_of(plan("ftp://joe:swordfish@h/a")).mask("530 joe/SWORDFISH is wrong")
    '530 joe/*** is wrong'
    """
    passwords = list(before)
    there: Plan | None = plan
    while there is not None:
        uris = (*uris, there.uri)
        passwords += filter(None, [getattr(there.locator, "password", None)])
        there = there.through
    for uri in dict.fromkeys(uris):
        passwords += values(uri)
        passwords += (password for _, password in logins(uri))
    for step in plan.done.steps:
        match step:
            case Send(data=data, secret=secret) if secret is not None:
                # What stands in a header field is a name of the scheme and the credentials (RFC 9110 11.4).
                told = data[slice(*secret)].removeprefix(b"Basic ")
                passwords.append(told.decode("utf-8", "surrogateescape"))
            case Interact(password=str(password)):
                passwords.append(password)
    if credentials is not None:
        passwords += filter(None, [credentials.password])
    return Secrets(passwords)


def mask_secrets(dialogue: Dialogue, secrets: Secrets) -> Dialogue:
    """The same dialogue; the secrets are in none of its errors, nor in the details of its head.

    The content, the entries and where a redirect leads are what the server has sent: a mask in them would be no answer.
    """
    if not secrets:
        return dialogue
    return _mask_steps(dialogue, secrets)


def _mask_steps(dialogue: Dialogue, secrets: Secrets) -> Dialogue:
    answer: Any = None
    try:
        while True:
            effect = dialogue.send(answer)
            if isinstance(effect, Head):
                effect = replace(effect, details=secrets.mask_in(effect.details))
            answer = yield effect
    except StopIteration:
        return
    except Exception as error:
        mask_errors(error, secrets)
        raise
    finally:
        dialogue.close()


@contextmanager
def masked_errors(secrets: Secrets) -> Iterator[None]:
    """The secrets are in no error of the block."""
    try:
        yield
    except Exception as error:
        mask_errors(error, secrets)
        raise


def mask_errors(error: BaseException, secrets: Secrets) -> None:
    """Take the secrets out of an error and of those that it came from, as a traceback prints them."""
    if not secrets:
        return
    for one in _chain(error):
        one.__cause__ = _replace_error(one.__cause__, secrets)
        suppressed = one.__suppress_context__
        one.__context__ = _replace_error(one.__context__, secrets)
        one.__suppress_context__ = suppressed
        _mask_error(one, secrets)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and all that it came from, each once."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += filter(None, (one.__cause__, one.__context__))


def _mask_error(error: BaseException, secrets: Secrets) -> None:
    if isinstance(error, AccessError):
        error.message, error.where = secrets.mask_message(error.message), secrets.mask_message(error.where)
        uri = "" if error.uri is None else mask(str(error.uri))
        if (hidden := secrets.mask(uri)) != uri:  # a redirect has led there
            error.uri = hidden
    if not isinstance(error, InvalidURI):  # which masks its text by itself
        error.args = secrets.mask_in(error.args, is_message=True)
    notes = getattr(error, "__notes__", None)
    if notes:
        error.__notes__ = secrets.mask_in(notes, is_message=True)


def _replace_error(cause: BaseException | None, secrets: Secrets) -> BaseException | None:
    """The same, or what can be told of an exception that shows a secret from elsewhere than its arguments."""
    if cause is None:
        return None
    _mask_error(cause, secrets)
    told = f"{cause}\n{cause!r}"
    if secrets.mask_message(told) == told:
        return cause
    shown = OverthereError(f"{type(cause).__name__}: {secrets.mask_message(str(cause))}").with_traceback(
        cause.__traceback__
    )
    shown.__cause__, shown.__context__ = cause.__cause__, cause.__context__
    shown.__suppress_context__ = cause.__suppress_context__
    return shown
