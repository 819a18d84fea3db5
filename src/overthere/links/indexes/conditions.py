"""Conditions on the entries of an index: `domain=example.org`, `status=2xx` and others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from overthere.base import to_reference
from overthere.ground.errors import InvalidURI
from overthere.links.indexes.entry import Entry
from overthere.values.uri import URI


class Where(NamedTuple):
    """Conditions: an entry must have one of the values of each name; a name without values does not count.

    >>> Where.parse(["domain=Example.org", "status=2xx", "status=301"])
    Where(domain=('example.org',), host=(), mime=(), status=('2xx', '301'), url=(), language=())
    """

    domain: tuple[str, ...] = ()
    """The host of the URI, or a domain above it."""
    host: tuple[str, ...] = ()
    mime: tuple[str, ...] = ()
    """The media type, or all of a type: `text/*`."""
    status: tuple[str, ...] = ()
    """The HTTP status code, or all of a class: `2xx`."""
    url: tuple[str, ...] = ()
    """The beginning of the URI."""
    language: tuple[str, ...] = ()
    """One of the languages of the document (ISO 639-3)."""

    @classmethod
    def parse(cls, conditions: Iterable[str]) -> Where:
        """Return the conditions of texts, each NAME=VALUE.

        Raises: ValueError for an unknown name, and for a value that the name cannot have.
        """
        values: dict[str, list[str]] = {}
        for condition in conditions:
            name, _, value = condition.partition("=")
            if name not in cls._fields:
                raise ValueError(f"{name!r} is not a condition: write NAME=VALUE, NAME one of {', '.join(cls._fields)}")
            values.setdefault(name, []).append(_check_value(name, value))
        return cls(**{name: tuple(dict.fromkeys(texts)) for name, texts in values.items()})

    def check_answers(self, names: Iterable[str], index: str) -> None:
        """Raise ValueError for a condition whose name is not one of these, which are all that the index can answer."""
        if unanswered := [name for name in self._fields if getattr(self, name) and name not in names]:
            raise ValueError(f"{index} cannot answer the condition {', '.join(unanswered)}: leave it out")

    def surts(self) -> tuple[str, ...]:
        """Return the beginnings of the keys of the hosts (SURT); () if keys do not show the host.

        Keys omit a first label "www", or "www1" and so on; addresses are written in several ways.

        >>> Where.parse(["domain=www.example.org"]).surts()
        ('org,example',)
        """
        hosts = self.domain or self.host
        if any(host.endswith("]") or host.rpartition(".")[2].isdecimal() for host in hosts):
            return ()
        return tuple(",".join(reversed(_without_www(host).split("."))) for host in hosts)

    def matches(self, entry: Entry, key: str, languages: str) -> bool:
        """Whether an entry meets all conditions; its key gives the host if its URI is not valid."""
        return (
            self.matches_status(entry.status)
            and self.matches_mime(entry.media_type)
            and self.matches_url(entry.url)
            and self.matches_language(languages)
            and (not (self.domain or self.host) or self.matches_host(_host(entry.url) or _key_host(key)))
        )

    def matches_host(self, host: str) -> bool:
        """Whether a host meets `domain` and `host`."""
        host = host.lower().removesuffix(".")
        is_below = not self.domain or any(host == name or host.endswith(f".{name}") for name in self.domain)
        return is_below and (not self.host or host in self.host)

    def matches_mime(self, media_type: str) -> bool:
        """Whether a media type meets `mime`, without parameters and case."""
        essence = media_type.partition(";")[0].strip().lower()
        return not self.mime or essence in self.mime or f"{essence.partition('/')[0]}/*" in self.mime

    def matches_status(self, status: str) -> bool:
        """Whether a status code meets `status`."""
        return not self.status or status in self.status or (len(status) == 3 and f"{status[0]}xx" in self.status)

    def matches_url(self, url: str) -> bool:
        """Whether a URI meets `url`."""
        return not self.url or url.startswith(self.url)

    def matches_language(self, languages: str) -> bool:
        """Whether one of the languages, separated by commas, meets `language`."""
        return not self.language or not set(self.language).isdisjoint(languages.split(","))


def _check_value(name: str, value: str) -> str:
    """Return a value in lower case, but a URI as it is.  Raises: ValueError."""
    text = value.strip() if name == "url" else value.strip().lower()
    match name:
        case "domain" | "host":
            text = text.removeprefix("." if name == "domain" else "").removesuffix(".")
            fits, form = text != "" and _host(f"http://{text}/") == text, "a host name in ASCII (example.org, xn--...)"
        case "mime":
            major, slash, minor = text.partition("/")
            fits = all((major, slash, minor)) and text.isascii() and not set(" ;,").intersection(text)
            fits, form = fits and "*" not in major and ("*" not in minor or minor == "*"), "a media type, or text/*"
        case "status":
            fits = (
                len(text) == 3 and text.isascii() and (text.isdecimal() or (text[0].isdecimal() and text[1:] == "xx"))
            )
            form = "a status code (200), or a class of them (2xx)"
        case "language":
            fits, form = len(text) == 3 and text.isascii() and text.isalpha(), "a language of ISO 639-3 (eng)"
        case _:
            fits, form = text != "" and text.isprintable(), "what a URI begins with"
    if not fits:
        raise ValueError(f"{name}={value}: the value is not valid: it must be {form}")
    return text


def _without_www(host: str) -> str:
    while (label := host.partition("."))[2] and label[0].rstrip("0123456789") == "www":
        host = label[2]
    return host


def _host(url: str) -> str:
    """Return the host of a URI, or of the reference that an invalid text can only mean; "" without a host."""
    try:
        return URI(url).host or ""
    except InvalidURI:
        reference, _ = to_reference(url)
        return (reference is not None and reference.host) or ""


def _key_host(key: str) -> str:
    """Return the host in a key: `org,example)/` in SURT, `example.org/` otherwise.

    >>> _key_host("org,example:8080)/x"), _key_host("http://(org,example,)/"), _key_host("example.org/x")
    ('example.org', 'example.org', 'example.org')
    """
    authority, parenthesis, _ = key.partition(")")
    if not parenthesis:
        return key.partition("/")[0].partition(":")[0]
    labels = authority.rpartition("(")[2].partition(":")[0].strip(",").split(",")
    return ".".join(reversed(labels))
