"""explain(): the components of a text (RFC 3986 3), its findings, normal forms and readings by edition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.forms import Parameters
from overthere.ground.caches import cached_property
from overthere.ground.display import printable
from overthere.ground.errors import CodingError, Finding, InvalidURI, OverthereError, figures
from overthere.ground.exact import exact
from overthere.ground.figure import Layout, draw, grid, layout, note_lines, shorten, shorten_distinctly
from overthere.ground.late_imports import default_registry
from overthere.ground.redact import hides_secrets, mask, mask_equal_length, secret_spans, shorten_masks
from overthere.iri import IRI, IRIReference
from overthere.kernel import Components
from overthere.kernel.reference import APPENDIX_B, split
from overthere.values.encoding import decode
from overthere.values.findings import check_uri
from overthere.values.known_secrets import Secrets
from overthere.values.normalize import Change, Rung
from overthere.values.scheme_query import plus_of
from overthere.values.uri import URI, URIReference
from overthere.values.value import Value

if TYPE_CHECKING:
    from overthere.editions.readings import Reading
    from overthere.editions.whatwg import Href
    from overthere.ground.redact import Span
    from overthere.repairs import Repaired
    from overthere.schemes.locator import Locator
    from overthere.schemes.registry import Registry

_MAX_PAIRS = 20
"""Maximum parameters of a query that are printed."""
_COMPONENTS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")


@hides_secrets
class Row(NamedTuple):
    """A component at its place."""

    component: str
    start: int
    end: int
    text: str
    note: str


@hides_secrets
class Form(NamedTuple):
    """The normal form at a rung, and what that rung changed."""

    rung: Rung
    text: str
    changes: list[Change]


@dataclass(frozen=True, repr=False)
class Explanation:
    """An explanation of a text; `str()` is the figure and the tables, `to_dict()` the same as data.

    The printed form hides passwords; the data does not.
    """

    text: str
    kind: str
    """"URI", "IRI", "relative reference" or "neither"."""
    rows: list[Row]
    forms: list[Form]
    findings: list[Finding]
    base: str | None = None
    target: str | None = None
    problem: str | None = None
    """The reason why a base gives no target."""
    registry: Registry | None = None
    """The registry of schemes; None: the default one."""

    @cached_property
    def readings(self) -> list[Reading]:
        """The readings of the text by each edition, oldest first; computed on first access."""
        from overthere.editions.readings import read

        return read(self.text, self.base, registry=self.registry)

    @cached_property
    def whatwg(self) -> Href | None:
        """A browser's reading of the text; None if it rejects it, or if the extra `whatwg` is not installed."""
        from overthere.editions import whatwg

        return whatwg.read(self.text, self.base) if whatwg.available() else None

    @cached_property
    def locator(self) -> Locator | str | None:
        """The URI as typed data of its scheme; a sentence if it cannot be read; None for an unknown scheme."""
        schemes = default_registry() if self.registry is None else self.registry
        parts = split(self.text)
        if self.kind != "URI" or parts.scheme is None:
            return None
        try:
            if not schemes.scheme(parts.scheme).known:
                return None
            # It is a URI, so a zone in it was allowed on parsing.
            return schemes.locator(URI(self.text, zone=True))
        except OverthereError as error:
            return error.finding.message if isinstance(error, InvalidURI) else str(error)

    @cached_property
    def parameters(self) -> list[tuple[str, str | None]]:
        """The pairs of a query, decoded one by one (RFC 3986 2.4) as its scheme defines; empty if it has no "="."""
        return self._pairs(next((row.text for row in self.rows if row.component == "query"), ""))

    def _pairs(self, query: str) -> list[tuple[str, str | None]]:
        try:
            return list(Parameters(query, plus=plus_of(split(self.text).scheme, self.registry))) if "=" in query else []
        except CodingError:  # of an invalid text
            return []

    @cached_property
    def repaired(self) -> Repaired | str | None:
        """The only possible URI of an invalid text; a sentence if there is not exactly one; None for a valid text."""
        from overthere.repairs import repair

        if not self.findings:
            return None
        try:
            return repair(self.text, relative=True, limit=50)
        except InvalidURI as error:
            return str(error)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as lists, dicts, text and numbers; "whatwg" is present if ada is installed."""
        from overthere.editions.readings import as_dict
        from overthere.editions.whatwg import available

        return {
            "text": self.text,
            "kind": self.kind,
            "components": {
                r.component: {"start": r.start, "end": r.end, "text": r.text, "note": r.note} for r in self.rows
            },
            "parameters": self.parameters,
            "normal": {f.rung.name: f.text for f in self.forms},
            "changes": [{**c._asdict(), "rung": c.rung.name} for f in self.forms for c in f.changes],
            "findings": [f._asdict() for f in self.findings],
            "base": self.base,
            "target": self.target,
            "problem": self.problem,
            "repair": self.repaired if isinstance(self.repaired, str | None) else self.repaired.to_dict(),
            "locator": self.locator if isinstance(self.locator, str | None) else self.locator.to_dict(),
            **as_dict(self.readings),
            **({"whatwg": self.whatwg and self.whatwg._asdict()} if available() else {}),
        }

    def figure(self, width: int = 80) -> str:
        """Return the RFC's figure for this text, shortened to `width` columns."""
        return draw(self._pieces(), width)

    def layout(self, width: int = 80) -> Layout:
        """Return the figure as data: the places of its pieces and labels, for other drawings."""
        return layout(self._pieces(), width)

    def _pieces(self) -> list[tuple[str | None, str]]:
        """Return the components and the text between them, with a mask for a password."""
        pieces: list[tuple[str | None, str]] = []
        end = 0
        for row in self.rows:
            if row.component in ("userinfo", "host", "port"):
                continue
            if row.start > end:
                pieces.append((None, self.text[end : row.start]))
            pieces.append((row.component, self._mask_row(row)))
            end = row.end
        if end < len(self.text):
            pieces.append((None, self.text[end:]))
        return pieces

    @cached_property
    def _spans(self) -> tuple[Span, ...]:
        return secret_spans(self.text)

    @cached_property
    def _secrets(self) -> Secrets:
        """The passwords of the text and its base, to mask them in decoded, normalized and resolved text."""
        return Secrets.from_texts(self.text, self.base or "")

    def _mask_row(self, row: Row) -> str:
        """Return a row's text, with a mask for the part of a password in it."""
        clipped = ((max(low, row.start), min(high, row.end)) for low, high in self._spans)
        return mask(row.text, [(low - row.start, high - row.start) for low, high in clipped if low < high])

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return f"<Explanation of {mask(self.text)!r}: {self.kind}, {len(self.findings)} findings>"

    def render(self, width: int = 80) -> str:
        """Return the whole explanation as lines of at most about `width` columns."""
        from textwrap import wrap

        lines = ["".join(f"  {line}\n" for line in self.figure(width - 2).split("\n"))] if self.text else []
        lines += [
            f"  {self.kind}"
            + (": not a valid URI or relative reference" if self.kind == "neither" else "" if self.text else ", empty")
        ]
        lines += [*self._table(width), "", *self._parameters(width), *self._terms(width)]
        for figure in figures(self.text, self.findings, width - 2, rules=True):
            *figure_lines, message = figure.split("\n")
            message_lines = wrap(message, max(24, width - 2), subsequent_indent="  ", break_on_hyphens=False)
            lines += [*("  " + line for line in (*figure_lines, *message_lines)), ""]
        if self.forms:
            lines += [*self._ladder(width), ""]
        if self.base is not None:
            answer = self._secrets.mask(mask(self.target)) if self.target is not None else f"no target: {self.problem}"
            base_text = shorten(printable(mask(self.base)), max(24, width - 10))
            lines += [f"  against {base_text}", f"  target  {shorten(printable(answer), max(24, width - 10))}", ""]
        return "\n".join([*lines, *self._editions(width), ""])

    def _editions(self, width: int) -> list[str]:
        """Return the text under every edition, with the names that they use differently below."""
        from overthere.editions import whatwg
        from overthere.editions.readings import MARKS, notes, read

        texts = (self.text,) if self.base is None else (self.text, self.base)
        text, *base = masked = mask_equal_length(*texts)
        # Take the letter from the text itself: a mask could change it.
        parts = self.readings if masked == texts else read(text, *base)
        hide = str if masked == texts else shorten_masks
        rows: list[tuple[str | None, ...]] = [
            (r.edition, MARKS[r.valid], p.host, p.path, p.query, p.fragment)
            for r, p in zip(self.readings, parts, strict=True)
        ]
        note_texts = notes(parts, hide)
        if whatwg.available():
            href = whatwg.read(text, *base)
            values = (None,) * 4 if href is None else (
                href.hostname or None, href.pathname, href.search[1:] or None, href.hash[1:] or None
            )  # fmt: skip
            rows.append(("whatwg", "-" if href is None else "ok", *values))
            host = parts[-1].host
            if href is not None and host is not None and href.hostname != host.lower():
                note_texts.append(f"a browser asks {shorten(hide(href.hostname), 48) or 'no host'}")
        cells = [[cell and hide(cell) for cell in row] for row in rows]
        lines = grid(("edition", "valid", "host", "path", "query", "fragment"), cells, width - 2)
        return [f"  {line}" for line in [*lines, *note_lines(note_texts, width - 2)]]

    def _terms(self, width: int) -> list[str]:
        """Return the fields that the scheme reads from the text."""
        locator = self.locator
        if locator is None:
            return []
        scheme = (split(self.text).scheme or "").lower()
        if isinstance(locator, str):
            return [
                f"  in the terms of {scheme}: {shorten(printable(self._secrets.mask(locator)), max(24, width - 24))}",
                "",
            ]
        lines = [f"  in the terms of {scheme}"]
        for name, value in locator.to_dict().items():
            if name not in ("query", "fragment"):
                value_text = self._secrets.mask(value if isinstance(value, str) else _format_value(value))
                short_text = shorten(printable(value_text), max(16, width - 18))
                lines.append(f"    {name:<12}  {short_text or 'empty'}")
        return [*lines, ""] if len(lines) > 1 else []

    def _table(self, width: int) -> list[str]:
        lines: list[str] = []
        for row in self.rows:
            text = self._mask_row(row)
            indent = "    " if row.component in ("userinfo", "host", "port") else "  "
            place = f"{row.start}..{row.end}"
            short = shorten(printable(text), max(16, width - 32 - len(row.note))) or '""'
            lines.append(f"{indent + row.component:<14}{place:>10}  {short}" + (f"   ({row.note})" if row.note else ""))
        return lines

    def _parameters(self, width: int) -> list[str]:
        """Return the pairs of the query, decoded."""
        pairs = self._pairs(next((self._mask_row(row) for row in self.rows if row.component == "query"), ""))
        if not pairs:
            return []
        lines = ["  parameters"]
        for name, value in pairs[:_MAX_PAIRS]:
            short_name = shorten(printable(name), 24)
            short_value = "no value" if value is None else shorten(printable(value), max(16, width - 32)) or "empty"
            lines.append(f"    {short_name or 'empty':<12}  {short_value}")
        return [*lines, *([f"    and {len(pairs) - _MAX_PAIRS:,} more"] if len(pairs) > _MAX_PAIRS else []), ""]

    def _ladder(self, width: int) -> list[str]:
        lines: list[str] = []
        for form in self.forms:
            label = "SYNTAX" if form.rung is Rung.SYNTAX else form.rung.name
            same = not form.changes and form.rung is not Rung.STRING
            text = printable(self._secrets.mask(mask(form.text)))
            description = "the same" if same else shorten(text, max(24, width - 12)) or '""'
            lines.append(f"  {label:<9} {description}")
            for c in form.changes:
                if c.component == "userinfo" and secret_spans(form.text):
                    lines.append(f"  {'':<9}   userinfo ({c.source})")
                    continue
                before, after = (c and printable(self._secrets.mask(c)) for c in (c.before, c.after))
                before, *new_texts = shorten_distinctly([before or "", *([] if after is None else [after])], 24)
                after = new_texts[0] or "empty" if new_texts else "undefined"
                lines.append(f"  {'':<9}   {c.component}: {before or 'empty'} -> {after} ({c.source})")
        return lines


def explain(
    text: Value | str,
    base: Value | str | None = None,
    *,
    zone: bool = False,
    iri: bool = False,
    registry: Registry | None = None,
    limit: int | None = 20,
) -> Explanation:
    """Take a text apart: components with offsets, findings, the normal form at each rung, and the target.

    text: read as a URI or reference; a value keeps its type, and the rungs of an IRI are those of RFC 3987 5.3.
    base: the reference is resolved against it (RFC 3986 5.2); a value keeps its zone.
    zone: whether the texts may hold zone identifiers (RFC 6874).
    iri: whether texts are read as IRIs and IRI-references (RFC 3987).
    registry: the known schemes (default: the default registry).

    limit: the most findings to list (None: all); a last one of the kind "more" counts the rest.

    Raises: TypeError if `text` or `base` is neither text nor a value; nothing for any text.

    >>> print(explain("http://Example.com/%7Eu").figure())
     http://Example.com/%7Eu
     \\__/   \\_________/\\___/
      |         |       |
    scheme  authority  path
    >>> from overthere import IRI
    >>> explain("http://h/é").kind, explain(IRI("http://h/é")).kind
    ('neither', 'IRI')
    """
    value = text if isinstance(text, Value) else None
    text = exact(text, "explain()") if isinstance(text, str) or value is None else str(value)
    if not isinstance(base, str | Value | None):
        raise TypeError(f"a base must be text or a URI, not {type(base).__name__}")
    kind_of = IRIReference if iri else URIReference
    findings = check_uri(text, kind_of.rule, zone, limit=limit) if value is None else []
    origin = None if base is None else exact(base, "a base") if isinstance(base, str) else str(base)
    base_zone = zone or (isinstance(base, Value) and base.zone is not None)
    if findings:
        problem = None if origin is None else "the reference is not valid"
        return Explanation(text, "neither", _split_invalid(text), [], findings, origin, None, problem, registry)
    reference = value if isinstance(value, URIReference | IRIReference) else kind_of(text, zone=zone)
    name = "IRI" if isinstance(reference, IRIReference) else "URI"
    kind = "relative reference" if reference.scheme is None else name
    target, problem = None, None
    if origin is not None:
        try:
            if isinstance(reference, IRIReference) or isinstance(base, IRIReference):
                target = str(IRI(origin, zone=base_zone).join(reference))
            else:
                target = str(reference.resolve(URI(origin, zone=base_zone)))
        except OverthereError as error:
            problem = f"the base is not valid: {error}"
    return Explanation(text, kind, _rows(reference), _forms(reference, registry), [], origin, target, problem, registry)


def _format_value(value: Any) -> str:
    """Write a value of a scheme for people: lists with commas, pairs with "="."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_format_value(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(
            "=".join(map(_format_value, item)) if isinstance(item, list | tuple) else _format_value(item)
            for item in value
        )
    return "none" if value is None else ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _rows(reference: Components) -> list[Row]:
    secrets = Secrets.from_texts(str(reference))
    rows: list[Row] = []
    for component in _COMPONENTS:
        span = reference.span(component)  # type: ignore[arg-type]
        if span is not None:
            text = str(reference)[slice(*span)]
            rows.append(Row(component, *span, text, _note(component, text, reference, secrets)))
    return rows


def _note(component: str, text: str, reference: Components, secrets: Secrets) -> str:
    if component == "host" and text:
        return reference.host_kind or ""
    if component == "port" and reference.port is None:
        return "empty" if text == "" else ""
    if component in ("path", "query", "fragment"):
        if text == "":
            return "empty"
        if "%" in text and not (component == "query" and "=" in text):
            try:
                return f"decoded: {shorten(printable(secrets.mask(decode(text))), 24)}"
            except CodingError:
                return "octets that are not valid UTF-8"
    return "empty" if text == "" else ""


def _split_invalid(text: str) -> list[Row]:
    """Return the components of an invalid text according to Appendix B."""
    match = APPENDIX_B.fullmatch(text)
    assert match is not None
    names = ("scheme", "authority", "path", "query", "fragment")
    return [Row(n, *match.span(i), match[i], "") for i, n in enumerate(names, 1) if match[i] is not None]


def _forms(reference: URIReference | IRIReference, registry: Registry | None) -> list[Form]:
    changes = reference.changes(Rung.SCHEME, registry=registry)
    return [
        Form(rung, str(reference.normalize(rung, registry=registry)), [c for c in changes if c.rung == rung])
        for rung in (Rung.STRING, Rung.CASE, Rung.PERCENT, Rung.SYNTAX, Rung.SCHEME)
    ]
