"""Masks secrets in the results and errors of a dialogue (RFC 3986 7.5).

A server may repeat a secret, so the errors of the transport, of all protocols and of all plug-ins are masked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from overthere.access.errors import AccessError
from overthere.access.media import is_known_type
from overthere.access.steps import Credentials, Interact, Send
from overthere.access.wire import Dialogue, Head
from overthere.ground.errors import InvalidURI, OverthereError
from overthere.ground.redact import mask
from overthere.values.known_secrets import Secrets, logins, values

if TYPE_CHECKING:
    from overthere.access.planning import Plan


def secrets_of(
    plan: Plan, credentials: Credentials | None = None, uris: Iterable[str] = (), before: Iterable[str] = ()
) -> Secrets:
    """Return the secrets of a plan: in its URI, its steps, and those at its gateway.

    credentials: the caller's; uris: other URIs with passwords, such as those of proxies;
    before: secrets that are already known.

    >>> from overthere import plan
    >>> secrets_of(plan("ftp://joe:swordfish@h/a")).mask("530 joe/SWORDFISH is wrong")
    '530 joe/*** is wrong'
    """
    passwords = list(before)
    current_plan: Plan | None = plan
    while current_plan is not None:
        uris = (*uris, current_plan.uri)
        passwords += filter(None, [getattr(current_plan.locator, "password", None)])
        current_plan = current_plan.through
    for uri in dict.fromkeys(uris):
        passwords += values(uri)
        passwords += (password for _, password in logins(uri))
    for step in plan.done.steps:
        match step:
            case Send(data=data, secret=secret) if secret is not None:
                # A header field has the name of the scheme and the credentials (RFC 9110 11.4).
                credentials_bytes = data[slice(*secret)].removeprefix(b"Basic ")
                passwords.append(credentials_bytes.decode("utf-8", "surrogateescape"))
            case Interact(password=str(password)):
                passwords.append(password)
    if credentials is not None:
        passwords += filter(None, [credentials.password])
    return Secrets(passwords)


def mask_secrets(dialogue: Dialogue, secrets: Secrets) -> Dialogue:
    """Wrap a dialogue so that its errors, and media type and details of its head, do not contain the secrets.

    The content, the entries and the target of a redirect stay as the server sent them: masking would falsify them.
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
                media_type = effect.media_type and _mask_media_type(effect.media_type, secrets)
                effect = replace(effect, media_type=media_type, details=secrets.mask_in(effect.details))
            answer = yield effect
    except StopIteration:
        return
    except Exception as error:
        mask_errors(error, secrets)
        raise
    finally:
        dialogue.close()


def _mask_media_type(text: str, secrets: Secrets) -> str:
    """Mask a media type with its parameters; a known type stays: "html" may be a password too."""
    name = text.partition(";")[0]
    known_name = name if is_known_type(name) else ""
    return known_name + secrets.mask(text[len(known_name) :])


@contextmanager
def masked_errors(secrets: Secrets) -> Iterator[None]:
    """Mask the secrets in every error of the block."""
    try:
        yield
    except Exception as error:
        mask_errors(error, secrets)
        raise


def mask_errors(error: BaseException, secrets: Secrets) -> None:
    """Mask the secrets in an error and in its causes and contexts, which a traceback prints."""
    if not secrets:
        return
    for link in _chain(error):
        link.__cause__ = _replace_error(link.__cause__, secrets)
        suppressed = link.__suppress_context__
        link.__context__ = _replace_error(link.__context__, secrets)
        link.__suppress_context__ = suppressed
        _mask_error(link, secrets)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all its causes and contexts, each once."""
    pending, seen = [error], set[int]()
    while pending:
        link = pending.pop()
        if id(link) not in seen:
            seen.add(id(link))
            yield link
            pending += filter(None, (link.__cause__, link.__context__))


def _mask_error(error: BaseException, secrets: Secrets) -> None:
    if isinstance(error, AccessError):
        error.message, error.where = secrets.mask_message(error.message), secrets.mask_message(error.where)
        uri = "" if error.uri is None else mask(str(error.uri))
        if (masked := secrets.mask(uri)) != uri:  # a redirect may contain a secret
            error.uri = masked
    if not isinstance(error, InvalidURI):  # InvalidURI masks its text by itself
        error.args = secrets.mask_in(error.args, is_message=True)
    notes = getattr(error, "__notes__", None)
    if notes:
        error.__notes__ = secrets.mask_in(notes, is_message=True)


def _replace_error(cause: BaseException | None, secrets: Secrets) -> BaseException | None:
    """Return the exception, masked; a replacement with its text if it shows a secret that is not in its arguments."""
    if cause is None:
        return None
    _mask_error(cause, secrets)
    text = f"{cause}\n{cause!r}"
    if secrets.mask_message(text) == text:
        return cause
    replacement = OverthereError(f"{type(cause).__name__}: {secrets.mask_message(str(cause))}").with_traceback(
        cause.__traceback__
    )
    replacement.__cause__, replacement.__context__ = cause.__cause__, cause.__context__
    replacement.__suppress_context__ = cause.__suppress_context__
    return replacement
