"""Gateways: a URI template for each scheme that a gateway serves for the client (RFC 1738 4; 1994 Registration).

    [gateways]
    wais = "http://gateway.example/wais?{uri}"

A template's variables are `uri` (without its fragment), `scheme`, `authority`, `host`, `port`, `path` and
`query`; `{name}` is escaped, `{+name}` keeps reserved characters and escapes (RFC 6570 3.2.2, 3.2.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from overthere.ground.errors import InvalidURI, PlanRefused, RegistryError
from overthere.ground.redact import mask
from overthere.values.uri import URI

if TYPE_CHECKING:
    import os

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*")
_FIXED_HOST = re.compile("[^:]+:(?://[^/?#]+[/?#]|/?[^/])")
_VARIABLE_HOST = re.compile(r"(?s)[^:]+:(?://|/?\{\+).*")
_VARIABLES = ("uri", "scheme", "authority", "host", "port", "path", "query")


class Gateways(Mapping[str, str]):
    """Scheme -> template, an immutable mapping.

    Raises: RegistryError for an invalid scheme name, a template that does not make a URI, an unknown variable, and
    gateways that form a cycle.

    >>> gateways = Gateways({"wais": "http://gw.example/wais?{uri}"})
    >>> gateways.uri(URI("wais://h/db?words"))
    URI('http://gw.example/wais?wais%3A%2F%2Fh%2Fdb%3Fwords')
    """

    __slots__ = ("_templates",)

    def __init__(self, templates: Mapping[str, str] | None = None) -> None:
        self._templates: dict[str, str] = {}
        for name, template in (templates or {}).items():
            if not _SCHEME.fullmatch(name):
                raise RegistryError(f"{name!r} is not a scheme (RFC 3986 3.1)")
            if name.lower() in self._templates:
                raise RegistryError(f"two gateways for {name.lower()!r}")
            _check_template(name, template)
            self._templates[name.lower()] = template
        for name in self._templates:
            self._check_cycle(name)

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Gateways:
        """Read the table `gateways` of a TOML file.

        Raises: OSError; RegistryError if the file is not TOML, has no such table, or has invalid templates.
        """
        from overthere.ground.option_files import read_text, read_toml

        try:
            table = read_toml(read_text(path)).get("gateways")
        except ValueError as error:
            raise RegistryError(f"{path} is not valid TOML: {error}") from None
        if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
            raise RegistryError(f'{path} has no table [gateways] of scheme = "template"')
        return Gateways(table)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._templates

    def __getitem__(self, name: str) -> str:
        return self._templates[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._templates)

    def __len__(self) -> int:
        return len(self._templates)

    def __repr__(self) -> str:
        return f"Gateways({ {name: mask(template) for name, template in self._templates.items()}!r})"

    def __hash__(self) -> int:
        return hash(frozenset(self._templates.items()))

    def _check_cycle(self, name: str) -> None:
        path = [name]
        while (name := _scheme_of(self._templates.get(name, ""))) in self._templates:
            if name in path:
                raise RegistryError(f"gateways form a cycle: {' -> '.join([*path, name])}")
            path.append(name)

    def uri(self, uri: URI) -> URI:
        """Return the URI at the gateway that replaces `uri`.

        Raises: KeyError if there is no gateway for its scheme; PlanRefused if a password would be sent to the
        gateway (RFC 3986 7.5).
        """
        template = self._templates[uri.scheme.lower()]
        if ":" in (uri.userinfo or ""):
            raise PlanRefused(f"the password in {uri!r} would be sent to a gateway", "RFC 3986 7.5")
        return URI(_expand(template, uri))


def _scheme_of(template: str) -> str:
    return template.partition(":")[0].lower()


def _check_template(name: str, template: str) -> None:
    for expression in _EXPRESSION.findall(template):
        if expression.removeprefix("+") not in _VARIABLES:
            raise RegistryError(f"the gateway of {name!r} has no variable {expression!r}: {', '.join(_VARIABLES)}")
    try:
        sample = URI(f"{name}://user@host:1/path?query")
        target = URI(_expand(template, sample))
        URI(_expand(template, URI(f"{name}:")))
    except InvalidURI as error:
        raise RegistryError(f"the gateway of {name!r} does not make a valid URI: {error}") from None
    fixed = template.partition("{")[0]
    if target.scheme.lower() != _scheme_of(fixed):
        raise RegistryError(f"the gateway of {name!r} leaves its own scheme open: {mask(template)!r}")
    # The value of a variable must not be in the authority or begin one.
    if fixed != template and _VARIABLE_HOST.fullmatch(template) and not _FIXED_HOST.match(fixed):
        raise RegistryError(f"the gateway of {name!r} leaves its own host open: {mask(template)!r}")


def _expand(template: str, uri: URI) -> str:
    from overthere.values.encoding import encode

    without_fragment = str(uri).partition("#")[0]
    values = {
        "uri": without_fragment,
        "scheme": uri.scheme,
        "authority": uri.authority or "",
        "host": uri.host or "",
        "port": uri.port_text or "",
        "path": uri.path,
        "query": uri.query or "",
    }

    def substitute(match: re.Match[str]) -> str:
        name = match[1]
        value = values[name.removeprefix("+")]
        return value if name.startswith("+") else encode(value, "unreserved")

    return _EXPRESSION.sub(substitute, template)
