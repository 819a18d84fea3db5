"""web_address(): checks whether a text is an http or https address that today's servers accept."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from contextlib import suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere import kernel
from overthere.editions import check
from overthere.ground.errors import Finding, OverthereError
from overthere.ground.exact import exact
from overthere.ground.figure import shorten
from overthere.ground.late_imports import default_registry
from overthere.ground.redact import hides_secrets
from overthere.iri import IRI
from overthere.schemes.known.http import HTTPS
from overthere.schemes.known.http import SCHEME as HTTP
from overthere.security import audit
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.values.value import Value

_AUDITED = frozenset((
    "password", "userinfo", "userinfo-host", "address-rare", "encoded-host", "encoded-host-delimiter", "host-future",
    "encoded-nul", "long",
))  # fmt: skip
"""Findings of `audit` that make an address unreliable or misleading."""


@hides_secrets
class WebAddress(NamedTuple):
    """The answer of `web_address`, which is true if there are no problems."""

    text: str
    uri: URI | None
    """The URI; for an IRI, the URI that it maps to, with A-labels (RFC 3987 3.1); None if the text is neither."""
    problems: tuple[Finding, ...]
    """The problems in the order of the text: each with its kind, place, paragraph and message.  If one check has
    more than a thousand, a last one of the kind "more" counts the rest."""

    def __bool__(self) -> bool:
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """The answer as text, lists and numbers."""
        problems = [item._asdict() for item in self.problems]
        return {"text": self.text, "usable": not problems, "uri": self.uri and str(self.uri), "problems": problems}


def web_address(text: Value | str) -> WebAddress:
    """Whether a text is an http or https address that today's servers accept: `if web_address(text): ...`.

    It is a URI of the scheme http or https (RFC 9110 4.2); its host is an address, or a name that the DNS allows (RFC
    1123 2.1, RFC 5890); its port is from 1 to 65535 (RFC 6335 6); it has no userinfo (RFC 9110 4.2.4), no escaped host,
    no NUL, and at most 8000 characters (RFC 9110 4.1).  A text with non-ASCII characters is an IRI: this is reported,
    and `uri` is the URI that a client would request.  Nothing is looked up, and no missing scheme is added: `typed` and
    `repair` do that.

    Raises: TypeError if it is not text.

    >>> bool(web_address("https://example.com/a?b=1"))
    True
    >>> for problem in web_address("http://joe:secret@my_host:99999/").problems:
    ...     print(problem.kind, problem.start, problem.source)
    password 11 RFC 3986 7.5, 3.2.1
    label-char 20 RFC 1123 2.1
    scheme-syntax 26 RFC 6335 6
    >>> str(web_address("http://b\u00fccher.example/").uri)
    'http://xn--bcher-kva.example/'
    """
    raw_text = exact(str(text) if isinstance(text, kernel.Components) else text, "web_address()")
    problems = check(raw_text)
    if problems and not IRI.can_parse(raw_text):
        return WebAddress(raw_text, None, tuple(problems))
    value, uri = IRI(raw_text), None
    with suppress(OverthereError):  # a name that is invalid in IDNA
        uri = URI(raw_text) if raw_text.isascii() else value.to_uri(idna=True)
    scheme = value.scheme or ""
    if scheme.lower() not in (HTTP.name, HTTPS.name):
        message = f'the scheme "{scheme}" is not http or https'
        problems.append(Finding("scheme-syntax", 0, len(scheme), "scheme", "scheme", "", "RFC 9110 4.2", message))
        return WebAddress(raw_text, uri, tuple(problems))
    problems += value.check_host_name()
    if uri is not None and (raw_text.isascii() or not value.host):
        invalid = [item for item in default_registry().check(str(uri)) if item.component != "port"]
        problems += invalid if raw_text.isascii() else [_place_in_iri(item, raw_text) for item in invalid]
    digits = (value.port_text or "").lstrip("0")
    if value.port_text and (not digits or len(digits) > 5 or int(digits) > 65535) and (span := value.span("port")):
        message = f"no server has port {shorten(value.port_text, 20)}"
        problems.append(Finding("scheme-syntax", *span, "port", "port", "1 to 65535", "RFC 6335 6", message))
    problems += [item for item in audit(raw_text, limit=len(raw_text) + 1) if item.kind in _AUDITED]
    return WebAddress(raw_text, uri, tuple(sorted(problems, key=lambda item: item.start)))


def _place_in_iri(item: Finding, iri: str) -> Finding:
    """Return a finding on the URI of an IRI without a host, with its place in the IRI (RFC 3987 3.1)."""
    ends = list(accumulate(1 if char.isascii() else 3 * len(char.encode()) for char in iri))
    return item._replace(start=bisect_right(ends, item.start), end=bisect_left(ends, item.end) + (item.end > 0))
