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
    """The plan at the gateway if one replaces the scheme; its steps are the steps of this plan."""
    locates_nothing: str = ""
    """The reason why there are no steps, for a scheme that locates nothing."""
    cautions: tuple[str, ...] = field(default=(), compare=False)
    """The reasons why the safe policy rejects the plan, if it uses a port of another protocol (RFC 1738 6)."""
    instead: bool = False
    """Whether a configured gateway replaces the scheme's own dialogue."""

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    @property
    def done(self) -> Plan:
        """The plan that is executed: that of the last gateway if there is one, otherwise this one."""
        return self if self.through is None else self.through.done

    def to_dict(self) -> dict[str, Any]:
        result: dict[str, Any] = {"uri": mask(self.uri), "scheme": self.scheme}
        if self.through is not None:
            result["through"] = mask(self.done.uri)
            result["instead"] = self.instead
        if self.locates_nothing:
            result["locates_nothing"] = self.locates_nothing
        if self.cautions:
            result["cautions"] = list(self.cautions)
        steps = Secrets.from_texts(self.uri).mask_in([step.to_dict() for step in self.steps])
        return {**result, "locator": self.locator.to_dict(), "steps": steps}

    def render(self, width: int = 80) -> str:
        """The plan for people: one line per step, with its paragraph to the right if `width` columns are enough."""
        lines = [printable(mask(self.uri))]
        current = self
        while current.through is not None:
            precedence = f", which takes precedence over the dialogue of {current.scheme}" if current.instead else ""
            current = current.through
            lines.append(f"  through the gateway {printable(mask(current.uri))}{precedence}")
        if self.locates_nothing:
            reason = f"nothing to retrieve: {self.locates_nothing}"
            lines += wrap(reason, max(30, width), initial_indent="  ", subsequent_indent="  ")
        hide = Secrets.from_texts(self.uri).mask
        steps = [(printable(hide(f"{_describe_condition(step)}{step.line()}")), step.source) for step in self.steps]
        room = max(20, width - 8 - max((len(source) for _, source in steps), default=0))
        column = min(max((len(line) for line, _ in steps), default=0), room)
        for number, (line, source) in enumerate(steps, 1):
            fits = len(line) <= column or width >= 80
            # A step is never shortened: if it is too long for the terminal, its paragraph is on the next line.
            lines.append(f"  {number:>2}  {line:<{column}}  {source}" if fits else f"  {number:>2}  {line}")
            lines += [] if fits else [" " * 6 + source]
        notes = [hide(step.note) for step in self.steps if step.note]
        notes += [f"the safe policy refuses it: {printable(hide(reason))} ({FOREIGN})" for reason in self.cautions]
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
    """Return the steps of opening a URI, without using the network.

    uri: a URI, its text, or a locator (of any edition).
    credentials: data about the caller that the dialogue may send; the URI's own data takes precedence.
    registry: the known schemes (default: the default registry).
    gateways: scheme -> template of a gateway, which replaces the scheme's own dialogue; the plan shows it.

    Raises: InvalidURI for text that is not a URI of its scheme; Unwritable for a locator without a URI; PlanRefused
    where data would be read as delimiters of the protocol (RFC 1738 6, RFC 3986 7.2); NotSpecified if the scheme
    has no defined retrieval.

    >>> print(plan("gopher://h/0about"))
    gopher://h/0about
       1  connect h 70                        RFC 4266 2.1
       2  send about                          RFC 1436 2
       3  receive the text (until the server closes)  RFC 1436 2
    """
    schemes = Registry.default() if registry is None else registry
    through = gateways if isinstance(gateways, Gateways) else Gateways(gateways)
    if not isinstance(credentials, Credentials | None):
        raise TypeError(f"credentials must be Credentials, not {type(credentials).__name__}")
    return _plan(uri, credentials or Credentials(), schemes, through)


def plan_under(
    policy: Policy,
    uri: URI | Locator | str,
    credentials: Credentials | None = None,
    *,
    registry: Registry | None = None,
    gateways: Mapping[str, str] | None = None,
) -> Plan:
    """Return the plan that is executed under a policy, with its configuration for the scheme, such as a news server.

    Raises: the same as `plan`.

    >>> from overthere import Policy
    >>> plan_under(Policy(news_server="news.example"), "news:a@b").steps[0].line()
    'connect news.example 119'
    """
    planned = plan(uri, credentials, registry=registry, gateways=gateways)
    if planned.through is not None:
        return planned
    scheme = (Registry.default() if registry is None else registry).scheme(planned.scheme)
    locator = configure(scheme, planned.locator, policy)
    return planned if locator is planned.locator else plan(locator, credentials, registry=registry, gateways=gateways)


def _plan(uri: URI | Locator | str, credentials: Credentials, registry: Registry, gateways: Gateways) -> Plan:
    if isinstance(uri, Locator):
        locator, text = uri, str(uri.uri(uri.edition, registry=registry))
    else:
        locator, text = registry.locator(uri), exact(uri, "plan()") if isinstance(uri, str) else str(uri)
    authority = split(text).authority
    if authority is not None:
        known_mechanism(split_authority(authority)[1])
    scheme = registry.scheme(locator.scheme)
    # A gateway is configured on purpose, so it takes precedence over the scheme's dialogue.
    if scheme.name in gateways:
        gateway_source = locator.uri(registry=registry) if locator.edition != "rfc3986" else planned_uri(text)
        # The caller's credentials are for the resource, and are not sent to a gateway (RFC 3986 7.5).
        inner = _plan(gateways.uri(gateway_source), Credentials(), registry, gateways)
        replaces = scheme.access is not None
        return Plan(text, scheme.name, inner.steps, locator, inner, inner.locates_nothing, inner.cautions, replaces)
    if scheme.access is not None and isinstance(locator, scheme.locator):
        own_paragraph = _own_paragraphs(scheme, locator.edition)
        try:
            steps = tuple(
                replace(step, source=own_paragraph(step.source), note=_cite_own(step.note, own_paragraph), uri=text)
                for step in steps_of(scheme)(locator, credentials)
            )
        except PlanRefused as error:
            raise PlanRefused(Secrets.from_texts(text).mask(_cite_own(error.args[0], own_paragraph))) from None
        cautions = tuple(dict.fromkeys(reason for _, reason in foreign_port_steps(steps, scheme)))
        return Plan(text, scheme.name, steps, locator, cautions=cautions)
    if scheme.locates_nothing:
        return Plan(text, scheme.name, (), locator, None, scheme.locates_nothing)
    if scheme.unspoken:
        raise NotSpecified(f"{scheme.unspoken}; a gateway may help (RFC 7595 3.4, RFC 1738 4)")
    raise NotSpecified(
        f"it is undefined how {scheme.name!r} is retrieved; a gateway may help (RFC 7595 3.4, RFC 1738 4)"
    )


def _cite_own(text: str, own_paragraph: Callable[[str], str]) -> str:
    """Replace the paragraphs of a cited sentence; the sentence stays, for it may contain the URI's data."""
    return Cited(text.sentence, own_paragraph(text.source)) if isinstance(text, Cited) else text


def _own_paragraphs(scheme: Scheme, edition: str) -> Callable[[str], str]:
    """Return a function that replaces paragraphs of a scheme's current document by those of the URI's edition."""
    edition_account = scheme.account(edition)
    current = re.match("RFC [0-9]+", scheme.documents.get("rfc3986", ""))
    if edition_account is None or current is None or edition_account[1].startswith(current[0]):
        return str
    # Paragraphs such as "RFC 4266 2.1", "RFC 5538 2.3, 4"; those of RFC 1738 too where it repeats the 1994 document.
    older = "|RFC 1738 3[.0-9]*" if edition == "url-1994" else ""
    place = "[0-9]+(?:[.][0-9]+)*|Appendix [A-Z]|[A-Z](?![A-Za-z])"
    cited = re.compile(f"{current[0]}(?:(?: and|,)? (?:{place}))*{older}")
    # RFC 9110 is cited too: the request follows it, whichever document the URL follows.
    addition = r", \g<0>" if current[0] == "RFC 9110" else ""
    return lambda text: cited.sub(edition_account[1] + addition, text)


def planned_uri(text: str) -> URI:
    """Parse the URI of a plan again; a zone in it was allowed when the plan was made.

    >>> planned_uri("http://[fe80::1%25eth0]/")
    URI('http://[fe80::1%25eth0]/', zone=True)
    """
    return URI(text, zone=True)
