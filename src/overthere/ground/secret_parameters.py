"""Parameters whose values are credentials: their names, and the places of the values in a text.

RFC 3986 7.5 advises against secrets in URIs, but signed URLs and tokens are common (RFC 6750 2.3; RFC
9110 17.9).  Parameters that only name a key or an account, such as `X-Amz-Credential` and `Key-Pair-Id`, are shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

NAMES: Mapping[str, str] = {
    "access_token": "RFC 6750 2.3",
    "api_key": "ours",
    "apikey": "ours",
    "assertion": "RFC 7521 4.1",
    "auth_token": "ours",
    "client_assertion": "RFC 7521 4.2",
    "client_secret": "RFC 6749 2.3.1",
    "delegation": "https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html",
    "feed_token": "https://docs.gitlab.com/security/tokens/",
    "id_token": "OpenID Connect Core 1.0 3.2.2.5",
    "id_token_hint": "OpenID Connect Core 1.0 3.1.2.1",
    "job_token": "https://docs.gitlab.com/security/tokens/",
    "pass": "ours",
    "passphrase": "ours",
    "passwd": "ours",
    "password": "RFC 6749 4.3.2",
    "private_token": "https://docs.gitlab.com/api/rest/authentication/",
    "pwd": "ours",
    "refresh_token": "RFC 6749 6",
    "secret": "https://github.com/google/google-authenticator/wiki/Key-Uri-Format",
    "sig": "https://learn.microsoft.com/en-us/rest/api/storageservices/create-service-sas",
    "signature": "https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html and "
    "https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-creating-signed-url-custom-policy.html",
    "token": "ours",
    "x_amz_security_token": "https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html",
    "x_amz_signature": "https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html",
    "x_goog_signature": "https://cloud.google.com/storage/docs/authentication/signatures",
}
"""Name -> the document that defines it; names are compared without case, "-" as "_"."""

# A delimiter, also escaped once or more often, as in a URI within a parameter.
_NAME_START = r"(?:(?:\A|[?&#;])[+=]?|%(?:25)*+(?:3[fF]|26|23|3[bB]))"
_EQUALS = r"(?:=|%((?:25)*+)3[dD])"
_HYPHEN = r"(?:[_-]|%(?:25)*+(?:2[dD]|5[fF]))"
_VALUE_END = re.compile(r"[&;#]|%((?:25)*+)(?:26|23|3[bB])")


_POSSIBLE_NAME = re.compile(r"(?i)assertion|deleg|key|pass|pwd|secret|sig|token|[\t\n\r]|%(?:25|[4-7])|[^\x00-\x7f]")
"""A part of each of `NAMES`, or a character that may hide one."""


def _letter(char: str) -> str:
    """Return the pattern of a character in a name: in either case, also escaped, and gaps that browsers ignore."""
    pattern = _HYPHEN if char == "_" else f"(?:{char}|%(?:25)*+[{'46' if char < 'p' else '57'}]{ord(char) & 15:x})"
    return pattern + r"[\t\n\r]*+"


@cache
def _name() -> re.Pattern[str]:
    """Return the pattern of a name and its "="; compiled for the first text that may contain one: it takes 20 ms."""
    names = "|".join("".join(map(_letter, name)) for name in sorted(NAMES, key=len, reverse=True))
    return re.compile(rf"{_NAME_START}(?P<name>(?i:{names})){_EQUALS}")


class SecretParameter(NamedTuple):
    """The place of a parameter, in code points."""

    start: int
    """`start` and `end` are those of the name."""
    end: int
    value: int
    """The start of the value, which is not empty."""
    close: int


def secret_parameters(text: str) -> Iterator[SecretParameter]:
    """Yield the parameters of `text` with a name of `NAMES` and a value, in their order.

    They may be escaped, once or more often, as in a URI within a parameter of another.  The time is linear in the
    length of the text.

    >>> [text[one.value : one.close] for text in ("?a=b&sig=x%2B&c", "?u=%3Ftoken%3Dx%26v%3D1") for one in
    ...  secret_parameters(text)]
    ['x%2B', 'x']
    """
    if ("=" not in text and "%3" not in text and "%25" not in text) or _POSSIBLE_NAME.search(text) is None:
        return
    at = 0
    while (match := _name().search(text, at)) is not None:
        escapes = match[2]
        start, at = match.end(), _value_end(text, match.end(), 0 if escapes is None else 1 + len(escapes) // 2)
        if at > start:
            yield SecretParameter(*match.span("name"), start, at)


def _value_end(text: str, start: int, level: int) -> int:
    """Return the end of a value.  level: the number of times that its delimiters are escaped."""
    for match in _VALUE_END.finditer(text, start):
        if match[1] is None or len(match[1]) // 2 < level:
            return match.start()
    return len(text)
