"""The plan of a URI: exactly what opening it would do, without touching the network (RFC 3986 1.2.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from overthere.access.framing import FOREIGN, foreign_port_steps
from overthere.access.gateways import Gateways
from overthere.access.loading import configure, steps_of
from overthere.access.steps import Credentials, Step, known_mechanism
from overthere.ground.display import printable
from overthere.ground.errors import Cited, NotSpecified, PlanRefused
from overthere.ground.exact import exact
from overthere.ground.redact import mask
from overthere.kernel.reference import split, split_authority
from overthere.schemes.locator import Locator
from overthere.schemes.registry import Registry
from overthere.values.known_secrets import Secrets
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy
    from overthere.schemes.model import Scheme

__all__ = ["Cited", "Plan", "plan", "plan_under", "planned_uri"]


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """The steps that open a URI; `str()` is for people, `to_dict()` for JSON, and opening executes them."""

    uri: str
    scheme: str
    steps: tuple[Step, ...]
    locator: Locator = field(compare=False)
    through: Plan | None = None
    """The plan at the gateway, where one stands in for the scheme; the steps are its steps."""
    locates_nothing: str = ""
    """Why there are no steps, for a scheme that locates nothing."""
    cautions: tuple[str, ...] = field(default=(), compare=False)
    """Why the safe policy refuses it, if it goes to a port of another protocol (RFC 1738 6)."""
    instead: bool = False
    """Whether a configured gateway replaces the scheme's own dialogue."""

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    @property
    def done(self) -> Plan:
        """The plan that is executed: that of the last gateway if there is one, otherwise this one."""
        return self if self.through is None else self.through.done

    def to_dict(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"uri": mask(self.uri), "scheme": self.scheme}
        if self.through is not None:
            shown["through"] = mask(self.done.uri)
            shown["instead"] = self.instead
        if self.locates_nothing:
            shown["locates_nothing"] = self.locates_nothing
        if self.cautions:
            shown["cautions"] = list(self.cautions)
        steps = self._secrets().mask_in([step.to_dict() for step in self.steps])
        return {**shown, "locator": self.locator.to_dict(), "steps": steps}

    def _secrets(self) -> Secrets:
        """The passwords in the URI, which may stand in the steps as well, as in a query that is sent."""
        return Secrets.from_texts(self.uri)

    def render(self, width: int = 80) -> str:
        """The plan for people: a step a line, its paragraph to the right where there is room in `width` columns."""
        lines = [printable(mask(self.uri))]
        there = self
        while there.through is not None:
            instead = f", which takes precedence over the dialogue of {there.scheme}" if there.instead else ""
            there = there.through
            lines.append(f"  through the gateway {printable(mask(there.uri))}{instead}")
        if self.locates_nothing:
            why = f"nothing to retrieve: {self.locates_nothing}"
            lines += wrap(why, max(30, width), initial_indent="  ", subsequent_indent="  ")
        hide = self._secrets().mask
        steps = [(printable(hide(f"{_describe_condition(step)}{step.line()}")), step.source) for step in self.steps]
        room = max(20, width - 8 - max((len(source) for _, source in steps), default=0))
        column = min(max((len(line) for line, _ in steps), default=0), room)
        for number, (line, source) in enumerate(steps, 1):
            fits = len(line) <= column or width >= 80
            # A step is never cut: what is too long for the terminal has its paragraph below it.
            lines.append(f"  {number:>2}  {line:<{column}}  {source}" if fits else f"  {number:>2}  {line}")
            lines += [] if fits else [" " * 6 + source]
        notes = [hide(step.note) for step in self.steps if step.note]
        notes += [f"the safe policy refuses it: {printable(hide(why))} ({FOREIGN})" for why in self.cautions]
        for note in dict.fromkeys(notes):
            lines += wrap(note, max(30, width), initial_indent=" " * 6, subsequent_indent=" " * 6)
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return f"<Plan of {printable(mask(self.uri))}: {len(self.steps)} steps>"


def _describe_condition(step: Step) -> str:
    return f"after {' or '.join(step.after)}: " if step.after else ""


def plan(
    uri: URI | Locator | str,
    credentials: Credentials | None = None,
    *,
    registry: Registry | None = None,
    gateways: Mapping[str, str] | None = None,
) -> Plan:
    """The steps of opening a URI, without touching the network.

    uri: a URI, its text, or a locator (whichever edition has read it).
    credentials: data about the caller that the dialogue may send; the URI's own data takes precedence.
    registry: the schemes, the default ones unless given.
    gateways: from a scheme to the template of a gateway, which replaces the scheme's own dialogue, as the plan shows.

    Raises: InvalidURI for text that is not a URI of its scheme; Unwritable for a locator without a URI; PlanRefused
    where data would be read as delimiters of the protocol (RFC 1738 6, RFC 3986 7.2); NotSpecified if the scheme
    has no defined retrieval.

    >>> print(plan("gopher://h/0about"))
    gopher://h/0about
       1  connect h 70                        RFC 4266 2.1
       2  send about                          RFC 1436 2
       3  receive the text (until the server closes)  RFC 1436 2
    """
    known = Registry.default() if registry is None else registry
    through = gateways if isinstance(gateways, Gateways) else Gateways(gateways)
    if not isinstance(credentials, Credentials | None):
        raise TypeError(f"credentials must be Credentials, not {type(credentials).__name__}")
    return _plan(uri, credentials or Credentials(), known, through)


def plan_under(
    policy: Policy,
    uri: URI | Locator | str,
    credentials: Credentials | None = None,
    *,
    registry: Registry | None = None,
    gateways: Mapping[str, str] | None = None,
) -> Plan:
    """The plan that is carried out under a policy: with what that has configured for such URIs, as a news server.

    Raises: as `plan`.

    >>> from overthere import Policy
    >>> plan_under(Policy(news_server="news.example"), "news:a@b").steps[0].line()
    'connect news.example 119'
    """
    planned = plan(uri, credentials, registry=registry, gateways=gateways)
    if planned.through is not None:
        return planned
    scheme = (registry or Registry.default()).scheme(planned.scheme)
    there = configure(scheme, planned.locator, policy)
    return planned if there is planned.locator else plan(there, credentials, registry=registry, gateways=gateways)


def _plan(uri: URI | Locator | str, credentials: Credentials, registry: Registry, gateways: Gateways) -> Plan:
    if isinstance(uri, Locator):
        locator, text = uri, str(uri.uri(uri.edition, registry=registry))
    else:
        locator, text = registry.locator(uri), exact(uri, "plan()") if isinstance(uri, str) else str(uri)
    authority = split(text).authority
    if authority is not None:
        known_mechanism(split_authority(authority)[1])
    scheme = registry.scheme(locator.scheme)
    # A gateway is configured on purpose: it goes before the dialogue that the scheme has here.
    if scheme.name in gateways:
        whole = locator.uri(registry=registry) if locator.edition != "rfc3986" else planned_uri(text)
        # The caller's credentials are for the resource, and are not told to a gateway (RFC 3986 7.5).
        there = _plan(gateways.uri(whole), Credentials(), registry, gateways)
        instead = scheme.access is not None
        return Plan(text, scheme.name, there.steps, locator, there, there.locates_nothing, there.cautions, instead)
    if scheme.access is not None and isinstance(locator, scheme.locator):
        own = _own_paragraphs(scheme, locator.edition)
        try:
            steps = tuple(
                replace(step, source=own(step.source), note=_citing(step.note, own))
                for step in steps_of(scheme)(locator, credentials)
            )
        except PlanRefused as error:
            raise PlanRefused(_citing(error.args[0], own)) from None
        cautions = tuple(dict.fromkeys(why for _, why in foreign_port_steps(steps, scheme)))
        return Plan(text, scheme.name, steps, locator, cautions=cautions)
    if scheme.locates_nothing:
        return Plan(text, scheme.name, (), locator, None, scheme.locates_nothing)
    if scheme.unspoken:
        raise NotSpecified(f"{scheme.unspoken}; a gateway may help (RFC 7595 3.4, RFC 1738 4)")
    raise NotSpecified(
        f"it is undefined how {scheme.name!r} is retrieved; a gateway may help (RFC 7595 3.4, RFC 1738 4)"
    )


def _citing(text: str, own: Callable[[str], str]) -> str:
    """The same sentence by other paragraphs; what the sentence itself says, it says of the URI's data too."""
    return Cited(text.sentence, own(text.source)) if isinstance(text, Cited) else text


def _own_paragraphs(scheme: Scheme, edition: str) -> Callable[[str], str]:
    """Paragraphs of a scheme's document of today as those of the edition that has read the URI."""
    account = scheme.account(edition)
    today = re.match("RFC [0-9]+", scheme.documents.get("rfc3986", ""))
    if account is None or today is None or account[1].startswith(today[0]):
        return str
    # With its paragraphs: "RFC 4266 2.1", "RFC 5538 2.3, 4"; for what RFC 1738 took over from 1994, those of RFC 1738.
    older = "|RFC 1738 3[.0-9]*" if edition == "url-1994" else ""
    place = "[0-9]+(?:[.][0-9]+)*|Appendix [A-Z]|[A-Z](?![A-Za-z])"
    cited = re.compile(f"{today[0]}(?:(?: and|,)? (?:{place}))*{older}")
    # RFC 9110 too: the request is made by it, whichever document the URL follows.
    also = r", \g<0>" if today[0] == "RFC 9110" else ""
    return lambda text: cited.sub(account[1] + also, text)


def planned_uri(text: str) -> URI:
    """The URI of a plan as a value again: it holds no zone but one that was allowed when it was planned.

    >>> planned_uri("http://[fe80::1%25eth0]/")
    URI('http://[fe80::1%25eth0]/', zone=True)
    """
    return URI(text, zone=True)
