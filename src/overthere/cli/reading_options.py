"""Options for how a verb reads its texts: --edition, --iri, --zone (RFC 3987, RFC 6874)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, Protocol, TypeVar

import click

from overthere.editions import NAMES
from overthere.ground.errors import InvalidURI
from overthere.values.uri import URI, URIReference

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(exists=True, dir_okay=False)
"""A file that is there."""


class Decorator(Protocol):
    """Adds an option or an argument to a verb."""

    def __call__(self, function: F, /) -> F: ...


class Reading(NamedTuple):
    """The values of these options: the document `by` which texts are read, and its extensions."""

    by: str = "rfc3986"
    iri: bool = False
    zone: bool = False

    @property
    def is_older(self) -> bool:
        """The document if it is not RFC 3986; such a document has no values of its own."""
        return self.by != "rfc3986"

    def kind(self, *, relative: bool) -> Any:
        """The type of values, of those with a scheme or of any reference."""
        if self.iri:
            from overthere.iri import IRI, IRIReference

            return IRIReference if relative else IRI
        return URIReference if relative else URI

    def uri(self, text: str) -> Any:
        """The value of a text with a scheme.  Raises: InvalidURI."""
        return self.kind(relative=False)(text, zone=self.zone)

    def reference(self, text: str) -> Any:
        """The value of any reference.  Raises: InvalidURI."""
        return self.kind(relative=True)(text, zone=self.zone)

    def base(self, text: str) -> Any:
        """The value of --base; if it is invalid, a usage error with its figure."""
        try:
            return self.uri(text)
        except InvalidURI as error:
            raise click.UsageError(f"--base is not a valid {'IRI' if self.iri else 'URI'}\n{error.figure()}") from None


zone_option: Decorator = click.option("--zone", is_flag=True, help="Read zone identifiers (RFC 6874).")

iri_option: Decorator = click.option("--iri", is_flag=True, help="Read and write IRIs (RFC 3987).")


def edition_option(*other_names: str, sense: str = "Which specification to follow.") -> Callable[[F], F]:
    """`--edition`; `other_names` are other names that the verb knows."""
    names = click.Choice([*NAMES, *other_names])
    return click.option("--edition", "by", type=names, default="rfc3986", show_default=True, help=sense)


def access_options(function: F) -> F:
    """How the verbs that open URIs read them: `--address`, `--gateways`, `--edition`, `--zone`."""
    options = [
        click.option("--address", metavar="MAIL", help="Your mail address: the password of anonymous FTP."),
        click.option("--gateways", type=FILE, help="TOML file with a table [gateways]: scheme = template."),
        edition_option(sense="Which specification of the scheme to follow."),
        zone_option,
    ]
    for option in reversed(options):
        function = option(function)
    return function


def reading_options(*other_names: str, editions: bool = True) -> Callable[[F], F]:
    """`--iri`, `--zone` and, unless the verb has none, `--edition`: the verb is given its `reading`."""

    def options(function: F) -> F:
        @wraps(function)
        def verb(iri: bool, zone: bool, by: str = "rfc3986", **arguments: Any) -> Any:
            if by != "rfc3986" and (iri or zone):
                raise click.UsageError(f"--{'iri' if iri else 'zone'} applies to RFC 3986, not to {by}")
            refuse_table(by, arguments.get("column"))
            return function(reading=Reading(by, iri, zone), **arguments)

        offered = iri_option(zone_option(verb))
        return edition_option(*other_names)(offered) if editions else offered  # type: ignore[return-value]

    return options


def refuse_table(by: str, table: object) -> None:
    """Whole columns are read by RFC 3986 alone."""
    if table is not None and by != "rfc3986":
        raise click.UsageError("--column needs RFC 3986; --edition applies to texts")
