"""HTML pages: a view's data as a page or as the answer alone; no server is needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

import overthere
from overthere import kernel
from overthere.editions import edition, whatwg
from overthere.editions.readings import MARKS, PARTS, notes
from overthere.ground.display import printable
from overthere.ground.errors import CodingError, OverthereError
from overthere.ground.extras import brought_by
from overthere.ground.redact import mask as mask_secrets
from overthere.security import KINDS
from overthere.security import audit as audit_text
from overthere.values.encoding import decode
from overthere.values.uri import URI
from overthere.web import drawing
from overthere.web.model import TEXT, BadInput, View, as_data
from overthere.web.runs import runs
from overthere.web.views import VIEWS, anatomy, audit, editions, plan

with brought_by("web"):
    from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["LINK", "answer", "failure_fragment", "has_secret", "link", "page", "part", "refusal_page", "start"]

LINK = 60_000
"""Octets of a permanent link: what servers and browsers take without question."""

_CARRIED = ("text", "reference", "a")
"""Inputs that are the text in question: the other views are asked for the same."""


_PARAGRAPHS = {
    "scheme": "3.1", "authority": "3.2", "userinfo": "3.2.1", "host": "3.2.2", "port": "3.2.3", "path": "3.3",
    "query": "3.4", "fragment": "3.5",
}  # fmt: skip
"""Component -> its paragraph in RFC 3986."""


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("overthere.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.globals.update(
        views=VIEWS, version=overthere.__version__, kernel=kernel.name, query=urlencode, carry=link_to_view, link=link,
        figure=drawing.figure, automaton=drawing.automaton, dump=plan.dump, runs=runs, places=anatomy.places,
        places_in=audit.places_in, rule_of=anatomy.rule_of, decoded=_decode, edition=edition, marks=MARKS, parts=PARTS,
        notes=notes, zip=zip, usual_names=editions.usual_names, browser_cells=editions.browser_cells, whatwg=whatwg,
        concerns=KINDS, audit=audit_text, differing_parts=editions.differing_parts, paragraphs=_PARAGRAPHS,
        has_secret=has_secret, link_within=_link_within, domain_of=_domain_of,
    )  # fmt: skip
    return made


def _decode(text: str) -> str | None:
    """The data of a component (RFC 3986 2.1); None if that is the same, or not UTF-8."""
    try:
        return decode(text) if "%" in text else None
    except CodingError:
        return None


def has_secret(given: Mapping[str, str]) -> bool:
    """Whether a password or a token is in the inputs, and so in their permanent link."""
    return any(mask_secrets(value) != value for value in given.values())


def _link_within(text: str) -> str | None:
    """The link to the anatomy of a value that is a URI with an authority itself."""
    try:
        return None if URI(text).authority is None else link("anatomy", {"text": text})
    except OverthereError:
        return None


def _domain_of(text: str) -> str | None:
    """The registrable domain of a URI; None without one, or without the extra `domains`."""
    try:
        return URI(text).registrable_domain
    except (OverthereError, ModuleNotFoundError):
        return None


def link(name: str, given: Mapping[str, str], suffix: str = "") -> str | None:
    """The permanent link of a view with these inputs; None where it would be longer than `LINK`,
    or one of them longer than `TEXT`.

    >>> link("anatomy", {"text": "http://h/?a b"})
    '/anatomy?text=http%3A%2F%2Fh%2F%3Fa+b'
    """
    asked = urlencode({key: value.encode("utf-8", "replace") for key, value in given.items()})
    found = f"/{name}{suffix}" + (f"?{asked}" if asked else "")
    return found if len(found) <= LINK and all(len(value) <= TEXT for value in given.values()) else None


def link_to_view(view: View, given: Mapping[str, str]) -> str:
    """The link to another view with the text in question, where there is one."""
    text = next((given[name] for name in _CARRIED if given.get(name)), None)
    first = view.inputs[0].name
    own = {first: text} if text is not None and first in _CARRIED else {}
    if "base" in given and own and any(one.name == "base" for one in view.inputs):
        own["base"] = given["base"]
    if first == "a" and own:  # of two, the second is still to be said
        own["b"] = text or ""
    return link(view.name, own) or f"/{view.name}"


def answer(name: str, given: Mapping[str, str]) -> str:
    """The answer of a view as a fragment of HTML.

    Raises: BadInput; ModuleNotFoundError where an extra is missing.
    """
    view = VIEWS[name]
    value, mask = view(given), view.hiding(given)

    def hide(text: str | None) -> str | None:
        return None if text is None else printable(mask(text))

    return _render(
        f"{name}.html", view=view, given=given, raw=value, hide=hide,
        found=as_data(value, lambda text: printable(mask(text))),
    )  # fmt: skip


def part(name: str, given: str) -> str:
    """The answer to inputs as JSON, or the reason for none: for a page without a server.

    >>> "A relative reference" in part("anatomy", '{"text": "a"}')
    True
    """
    try:
        return answer(name, json.loads(given))
    except (BadInput, ModuleNotFoundError) as error:
        return failure_fragment(str(error))


def failure_fragment(message: str) -> str:
    """A fragment of HTML with the reason why there is no answer."""
    return _render("failed.html", message=message)


def page(
    name: str, given: Mapping[str, str], offline: str = "", error: BadInput | None = None
) -> tuple[str, BadInput | None]:
    """The page of a view, and the error in its inputs.

    given: the inputs; without those that have to be given, the page has the form and examples.
    offline: for a folder without a server, how much the page loads, as "21 MB"; it computes the answer itself.
    error: what was the matter before there were any inputs.
    """
    view = VIEWS[name]
    body = "" if error is None else failure_fragment(str(error))
    shown: dict[str, str] = dict(given)
    if error is None and not offline and (given or not view.is_input_required):
        try:
            body = answer(name, given)
        except BadInput as bad:
            body, error = failure_fragment(str(bad)), bad
            # What is too long is not sent back.
            shown = {key: value if _fits(view, key, value) else "" for key, value in given.items()}
        except ModuleNotFoundError as lacking:
            body = failure_fragment(str(lacking))
    return _render("view.html", view=view, given=shown, answer=body, offline=offline), error


def _fits(view: View, name: str, value: str) -> bool:
    return any(one.name == name and len(value) <= one.limit for one in view.inputs)


def start(offline: str = "") -> str:
    """The first page; offline: as for `page`."""
    return _render("start.html", given={}, offline=offline)


def refusal_page(status: int, message: str) -> str:
    """The page of an HTTP error."""
    return _render("refused.html", given={}, offline="", status=status, message=message)


def _render(template: str, **values: Any) -> str:
    from markupsafe import Markup

    if "answer" in values:
        values["answer"] = Markup(values["answer"])  # made by the templates, which escape
    return _environment().get_template(template).render(**values)
