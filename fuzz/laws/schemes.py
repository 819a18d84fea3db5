"""Any text in the terms of its scheme: read, written back, at the scheme rung, and as a plan."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from overthere import Registry, Rung, edition, plan
from overthere.access.steps import Credentials, Interact, Send
from overthere.editions import NAMES
from overthere.ground.errors import OverthereError, Unwritable
from overthere.schemes.locator import Locator
from overthere.values.normalize import normal_form
from seeds import CASES

WORDS = (
    b"zq%0D%0AQZ", b"zq%0AQZ", b"zq%0DQZ", b"zq%09QZ", b"zq%00QZ", b"joe:s3cr3t-pw@", b"%", b"%25", b"%2F", b"%2f",
    b"/", b"//", b"?", b"#", b";", b";type=a", b"&", b"=", b"+", b":", b"@", b",", b"%09", b"%3B", b"..", b"/./",
    b"[::1]", b":70", b":00", b"0x7f.1", b"%FF", b"%C3%BC", b"*", b"(", b")", b"??sub?(a=b)", b"?(&(a=*)(!(b=c*d)))",
    b"~", b".", b"data:text/plain;charset=x;base64,", b"urn:isbn:", b"tel:+1-2;ext=3", b"mailto:a@b?subject=",
    b"ftp://h.example/", b"gopher://h.example/1", b"file:///C:/", b"file://h.example/", b"afs:",
    b"wais://h.example/d/t/1=a;", b"nntp://h/g/1", b"news:", b"mid:a@b/c@d", b"tag:a.example,2000:",
    b"prospero://h.example//x;a=b", b"ldap:///", b"\xff", b"\0", b" ",
)  # fmt: skip
LONGEST = 512
AFTER = "a row to tests/cases/schemes/SCHEME.toml"

_PASSWORD = "s3cr3t-pw"
COUNTED = frozenset({"data", "file", "afs", "ldap", "ldaps", "wais", "mid", "cid", "mailto"})
"""Schemes whose data is no line of a command: it is counted, or nothing is sent."""
_HOSTILE = ("zq\r\nQZ", "zq\nQZ", "zq\rQZ", "zq\0QZ", "zq\tQZ")


def check(data: bytes) -> None:
    """data: the text."""
    text = data.decode("utf-8", "surrogateescape")
    registry = Registry.default()
    for name in NAMES:
        with suppress(OverthereError):
            _check_written(registry, registry.locator(text, name), name, text)
    if not edition().is_valid(text):
        return
    try:
        locator = registry.locator(text)
    except OverthereError:
        return
    _normal(registry, text)
    _check_plan(locator)


def _check_written(registry: Registry, locator: Locator, name: str, text: str) -> None:
    """It is written as it was read, and written anew it is read as the same."""
    json.dumps(locator.to_dict())
    assert str(locator.uri(name, registry=registry)) == text, f"{name}: {locator.uri(name, registry=registry)}"
    try:
        rewritten = str(replace(locator, written=None).uri(name, registry=registry))
    except Unwritable:
        # A letter of the document that its prose forbids; today's document has none.
        assert name != "rfc3986", f"{locator} cannot be written"
        return
    assert registry.locator(rewritten, name) == locator.for_writing(), (
        f"{name}: {locator}, written as {rewritten!r}, {registry.locator(rewritten, name)}"
    )


def _normal(registry: Registry, text: str) -> None:
    """The normal form is a URI of its scheme, and its own normal form."""
    form = normal_form(text, Rung.SCHEME)
    assert edition().is_valid(form), f"the normal form {form!r} is no URI"
    assert normal_form(form, Rung.SCHEME) == form, f"{form!r}, and then {normal_form(form, Rung.SCHEME)!r}"
    # A type of gopher that is a dot-segment is removed all the same (RFC 3986 6.2.2.3).
    if not form.startswith("gopher:") or normal_form(text, Rung.PERCENT) == normal_form(text, Rung.PATH):
        registry.locator(form)


def _check_plan(locator: Locator) -> None:
    result, refused = None, ""
    try:
        result = plan(locator, Credentials("joe", _PASSWORD, "joe@h.example"))
    except OverthereError as error:
        refused = str(error)
    assert _PASSWORD not in refused or _PASSWORD in str(locator.uri()), refused
    if result is None:
        return
    assert result.render().replace("\n", "").isprintable(), result.render()
    json.dumps(result.to_dict())
    text, password = str(locator.uri()), getattr(locator, "password", None)
    # Where a URI holds the word as anything else, it is shown as that.
    if password in (None, _PASSWORD) and text.count(_PASSWORD) == (password is not None):
        output = f"{result}{result!r}{result.to_dict()}{result.steps!r}"
        assert _PASSWORD not in output.replace(text, ""), output
    if locator.scheme in COUNTED:
        return
    for step in result.steps:
        sent = step.data.decode("latin-1") if isinstance(step, Send) else ""
        sent += f"{step.user}{step.password}{step.host}" if isinstance(step, Interact) else ""
        hostile = _HOSTILE if locator.scheme != "gopher" else _HOSTILE[:-1]  # a tab ends a selector of gopher
        assert not any(text in sent for text in hostile), step


def seeds() -> Iterator[bytes]:
    registry = Registry.default()
    for name in registry:
        for example in registry.scheme(name).examples:
            yield example.text.encode()
    for file in sorted((CASES / "schemes").glob("*.toml")):
        for row in tomllib.loads(file.read_text()).get("case", ()):
            yield from (row[key].encode() for key in ("text", "uri") if isinstance(row.get(key), str))
