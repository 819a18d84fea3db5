"""HTML pages: a view's data as a page or as the answer alone; it needs no server."""

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

LINK = 60_000
"""Maximum octets of a permanent link: servers and browsers accept this length."""

_MAIN_INPUTS = ("text", "reference", "a")
"""Inputs that hold the main text: links to other views keep it."""


_PARAGRAPHS = {
    "scheme": "3.1", "authority": "3.2", "userinfo": "3.2.1", "host": "3.2.2", "port": "3.2.3", "path": "3.3",
    "query": "3.4", "fragment": "3.5",
}  # fmt: skip
"""Component -> its paragraph in RFC 3986."""


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("overthere.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.globals.update(
        views=VIEWS, version=overthere.__version__, kernel=kernel.name, query=urlencode, carry=link_to_view, link=link,
        figure=drawing.figure, automaton=drawing.automaton, dump=plan.dump, runs=runs, places=anatomy.places,
        places_in=audit.places_in, rule_of=anatomy.rule_of, decoded=_decode, edition=edition, marks=MARKS, parts=PARTS,
        notes=notes, zip=zip, usual_names=editions.usual_names, browser_cells=editions.browser_cells, whatwg=whatwg,
        concerns=KINDS, audit=audit_text, differing_parts=editions.differing_parts, paragraphs=_PARAGRAPHS,
        has_secret=has_secret, link_within=_link_within, domain_of=_domain_of,
    )  # fmt: skip
    return environment


def _decode(text: str) -> str | None:
    """Return the data of a component (RFC 3986 2.1); None if it equals the text, or is not UTF-8."""
    try:
        return decode(text) if "%" in text else None
    except CodingError:
        return None


def has_secret(inputs: Mapping[str, str]) -> bool:
    """Whether the inputs, and so their permanent link, contain a password or a token."""
    return any(mask_secrets(value) != value for value in inputs.values())


def _link_within(text: str) -> str | None:
    """Return the link to the anatomy of a value that is a URI with an authority."""
    try:
        return None if URI(text).authority is None else link("anatomy", {"text": text})
    except OverthereError:
        return None


def _domain_of(text: str) -> str | None:
    """Return the registrable domain of a URI; None without one, or without the extra `domains`."""
    try:
        return URI(text).registrable_domain
    except (OverthereError, ModuleNotFoundError):
        return None


def link(name: str, inputs: Mapping[str, str], suffix: str = "") -> str | None:
    """Return the permanent link of a view with these inputs; None if it is longer than `LINK`,
    or an input longer than `TEXT`.

    >>> link("anatomy", {"text": "http://h/?a b"})
    '/anatomy?text=http%3A%2F%2Fh%2F%3Fa+b'
    """
    if any(max(len(key), len(value)) > TEXT for key, value in inputs.items()):
        return None
    query = urlencode({key: value.encode("utf-8", "replace") for key, value in inputs.items()})
    path = f"/{name}{suffix}" + (f"?{query}" if query else "")
    return path if len(path) <= LINK else None


def link_to_view(view: View, inputs: Mapping[str, str]) -> str:
    """Return the link to another view with the main text, if there is one."""
    text = next((inputs[name] for name in _MAIN_INPUTS if inputs.get(name)), None)
    first = view.inputs[0].name
    carried = {first: text} if text is not None and first in _MAIN_INPUTS else {}
    if "base" in inputs and carried and any(view_input.name == "base" for view_input in view.inputs):
        carried["base"] = inputs["base"]
    if first == "a" and carried:  # the second of two URIs is not known yet
        carried["b"] = text or ""
    return link(view.name, carried) or f"/{view.name}"


def answer(name: str, inputs: Mapping[str, str]) -> str:
    """Return the answer of a view as a fragment of HTML.

    Raises: BadInput; ModuleNotFoundError if an extra is missing.
    """
    view = VIEWS[name]
    value, mask = view(inputs), view.hiding(inputs)

    def hide(text: str | None) -> str | None:
        return None if text is None else printable(mask(text))

    return _render(
        f"{name}.html", view=view, given=inputs, raw=value, hide=hide,
        found=as_data(value, lambda text: printable(mask(text))),
    )  # fmt: skip


def part(name: str, inputs_json: str) -> str:
    """Return the answer to inputs as JSON, or the reason why it is missing: for a page without a server.

    >>> "A relative reference" in part("anatomy", '{"text": "a"}')
    True
    """
    try:
        return answer(name, json.loads(inputs_json))
    except (BadInput, ModuleNotFoundError) as error:
        return failure_fragment(str(error))


def failure_fragment(message: str) -> str:
    """Return a fragment of HTML with the reason for a missing answer."""
    return _render("failed.html", message=message)


def page(
    name: str, given: Mapping[str, str], offline: str = "", error: BadInput | None = None
) -> tuple[str, BadInput | None]:
    """Return the page of a view, and the error in its inputs.

    given: the inputs; without the required ones, the page has the form and examples.
    offline: for a folder without a server, how much the page loads, as "21 MB"; the page computes the answer.
    error: an error that occurred while the inputs were read.
    """
    view = VIEWS[name]
    body = "" if error is None else failure_fragment(str(error))
    displayed: dict[str, str] = dict(given)
    if error is None and not offline and (given or not view.is_input_required):
        try:
            body = answer(name, given)
        except BadInput as bad:
            body, error = failure_fragment(str(bad)), bad
            # An input that is too long is not sent back.
            displayed = {key: value if _fits(view, key, value) else "" for key, value in given.items()}
        except ModuleNotFoundError as missing:
            body = failure_fragment(str(missing))
    return _render("view.html", view=view, given=displayed, answer=body, offline=offline), error


def _fits(view: View, name: str, value: str) -> bool:
    return any(view_input.name == name and len(value) <= view_input.limit for view_input in view.inputs)


def start(offline: str = "") -> str:
    """Return the first page; offline: as for `page`."""
    return _render("start.html", given={}, offline=offline)


def refusal_page(status: int, message: str) -> str:
    """Return the page of an HTTP error."""
    return _render("refused.html", given={}, offline="", status=status, message=message)


def _render(template: str, **values: Any) -> str:
    from markupsafe import Markup

    if "answer" in values:
        values["answer"] = Markup(values["answer"])  # rendered by the templates, which escape
    return _environment().get_template(template).render(**values)
