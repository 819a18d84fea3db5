"""overthere template: URI Templates expanded and matched (RFC 6570)."""

from __future__ import annotations

import json
from typing import Any

import click

from overthere.cli.common import Answer, Output, format_option, inputs
from overthere.cli.group import Verbs
from overthere.ground.display import printable
from overthere.ground.errors import InvalidTemplate, OverthereError
from overthere.ground.option_files import read_json
from overthere.ground.redact import mask
from overthere.values.template import Template


class _Text(click.ParamType[Template]):
    name = "template"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Template:
        try:
            return Template(value)
        except InvalidTemplate as error:
            self.fail(f"is not a valid URI Template\n{error.figure()}", param, ctx)


@click.group(cls=Verbs)
def command() -> None:
    """Expand a URI Template, or find the variables in URIs."""


_template = click.argument("template", type=_Text())


@command.command("expand")
@_template
@click.argument("variables", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--json", "objects", is_flag=True, help="Read variables from JSON objects, one a line of standard input.")
@click.option("--partial", is_flag=True, help="Write a template that keeps the variables not given.")
@click.option("--strict", is_flag=True, help="Reject missing variables, and names that the template does not have.")
@format_option
def expand(
    template: Template, variables: tuple[str, ...], objects: bool, partial: bool, strict: bool, form: str
) -> None:
    """Write what the template expands to.

    A name given more than once becomes a list.  With --json a value is text, a number, true, false, null, an array
    or an object, and NAME=VALUE applies to each line.
    """
    if partial and strict:
        raise click.UsageError("--partial leaves out what --strict asks for: give one of them")
    output = Output(form)
    values = _read_variables(variables, template)
    for line in inputs((), "JSON objects") if objects else ["{}"]:
        try:
            all_values = {**_object(line), **values}
            result = template.partial(all_values) if partial else template.expand(all_values, strict=strict)
            if isinstance(result, Template) and result.held:
                raise click.UsageError(f"{result!r}: other variables must be given first")
        except (OverthereError, TypeError, ValueError) as error:
            reported = error if isinstance(error, OverthereError) else OverthereError(f"no variables: {error}")
            output.refuse(line if objects else str(template), reported)
            continue
        output.answer(str(result), {"template": str(template), "result": str(result)})
    output.finish()


@command.command("match")
@_template
@click.argument("texts", nargs=-1)
@format_option
def match(template: Template, texts: tuple[str, ...], form: str) -> None:
    """Find the variables with which the template expands to each URI; an ambiguous URI is rejected."""

    def answer(text: str) -> Answer:
        values = template.match(text)
        if values is None:
            raise OverthereError(f"{template} does not expand to this URI (RFC 6570 1.4)")
        data = {name: _as_json(value) for name, value in values.items()}
        lines = [f"  {name}  {value if isinstance(value, str) else json.dumps(value)}" for name, value in data.items()]
        return Answer("\n".join([printable(mask(text)), *lines]), {"text": text, "variables": data})

    Output(form).answer_each(texts, "URIs", answer, (OverthereError,))


def _read_variables(variables: tuple[str, ...], template: Template) -> dict[str, str | list[str]]:
    by_name = dict[str, Any]()
    names = {v.name for v in template.variables}
    for variable in variables:
        name, equals, value = variable.partition("=")
        if not equals or name not in names:
            masked_name = mask(name) + (equals and "=…")  # the value may be a secret
            raise click.UsageError(f"{masked_name!r} is not NAME=VALUE of a variable here: {', '.join(sorted(names))}")
        by_name.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in by_name.items()}


def _object(line: str) -> dict[str, object]:
    read = read_json(line)
    if not isinstance(read, dict):
        raise ValueError("a line is not a JSON object")
    return read


def _as_json(value: object) -> object:
    """Octets that are not UTF-8 as the escapes that they were."""
    if isinstance(value, bytes):
        return {"octets": "".join(f"%{octet:02X}" for octet in value)}
    if isinstance(value, list | tuple):
        return [_as_json(member) for member in value]
    return value
