"""Each field of a scheme, by what it makes happen: a scheme of a package is treated as the built-in ones are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest
from overthere_finger import PORT, SCHEME, FingerLocator
from overthere_finger.protocol.steps import steps

from overthere import (
    URI,
    AccessRefused,
    NotSpecified,
    Policy,
    Registry,
    RegistryError,
    Rung,
    Scheme,
    audit,
    explain,
    find,
    lowest_rung,
    plan,
)
from overthere.access import Connect
from overthere.access.opening import Opening
from overthere.ground.errors import Finding
from overthere.kernel.reference import split
from overthere.protocols.http.proxy import through_proxy
from overthere.schemes.model import Access, NormalRule
from overthere.text.output import as_html, linkable
from overthere.values.file_names import file_name

THERE = URI("finger://h.example/u")
SECURE = replace(SCHEME, name="x-fingers", tls=True, protocol="finger", linkable=False)
"""The same by TLS, as https is to http."""


def known(*schemes: Scheme, **facts: object) -> Registry:
    """The default schemes, and finger with other facts; with others beside it."""
    own = replace(SCHEME, **facts)  # type: ignore[arg-type]
    return Registry.default().with_(own, *schemes, replace=True)


def kinds(text: str, registry: Registry) -> set[str]:
    return {finding.kind for finding in audit(text, registry=registry)}


def redirected(source: str, target: str, registry: Registry, **policy: object) -> str:
    """Why a redirect is refused; "" where it is not."""
    try:
        Policy().with_(**policy).judge_redirect(URI(source), URI(target), registry)
    except AccessRefused as error:
        return error.message
    return ""


def test_name() -> None:
    assert known().scheme("FINGER") is not Registry.default().get("finger")
    assert isinstance(THERE.locator if "finger" in Registry.default() else known().locator(THERE), FingerLocator)


def test_title() -> None:
    assert known(title="Who is there").scheme("finger").title == "Who is there"


def test_documents() -> None:
    assert SCHEME.account("rfc1738") is None
    assert known(documents={}).locator("finger://h/u") != known().locator("finger://h/u")


def test_locator() -> None:
    assert isinstance(known().locator("finger://h/u"), FingerLocator)


def test_syntax() -> None:
    with pytest.raises(RegistryError, match="no syntax"):
        _ = replace(SCHEME, syntax="").grammar
    assert "request" in SCHEME.grammar.rules


def test_rules() -> None:
    with pytest.raises(RegistryError, match="no rules"):
        replace(SCHEME, rules={}).check("finger://h/u")
    assert SCHEME.check("finger://h/u") == []


def test_narrowed() -> None:
    faults = [replace(SCHEME, narrowed={begin: "by decree"}).check("finger://h/u?q") for begin in ("/u", "/v")]
    assert [[one.source for one in found] for found in faults] == [["by decree"], [SCHEME.documents["rfc3986"]]]


def test_port() -> None:
    """Asking the scheme's own port needs no leave, and nothing to another goes that may be lines there."""
    asked = Connect(source="", host="h.example", port=PORT)
    Policy().judge_connection(asked, SCHEME.port, THERE)
    with pytest.raises(AccessRefused, match="port 79"):
        Policy().judge_connection(asked, replace(SCHEME, port=7979).port, THERE)
    assert "port-reserved" in kinds("finger://h.example:22/u", known())
    assert "port-reserved" not in kinds("finger://h.example:22/u", known(port=22))


def test_tls() -> None:
    """No redirect leads out of TLS: to http or to finger, neither of which has it."""
    registry = known(SECURE)
    for target in ("http://h/", "finger://h/u"):
        assert "a redirect leaves x-fingers" in redirected("x-fingers://h/u", target, registry)
        assert redirected("x-fingers://h/u", target, registry, downgrade=True) == ""
    assert redirected("x-fingers://h/u", "https://h/", registry) == ""
    assert redirected("x-fingers://h/u", "http://h/", known(replace(SECURE, tls=False))) == ""


def test_protocol() -> None:
    """A server may redirect to its own protocol, with TLS or without."""
    assert redirected("finger://h/u", "x-fingers://h/u", known(SECURE)) == ""
    assert "Policy.redirects" in redirected("finger://h/u", "x-fingers://h/u", known(replace(SECURE, protocol="")))


def test_local() -> None:
    registry = known(local=True, redirected_from=("*",))
    with pytest.raises(AccessRefused, match="files of this machine"):
        Policy().judge_scheme(registry.scheme("finger"), THERE)
    Policy.local().judge_scheme(registry.scheme("finger"), THERE)
    Policy().judge_scheme(SCHEME, THERE)
    assert "a file of this machine" in redirected("http://h/", str(THERE), registry)


def test_redirected_from() -> None:
    assert "Policy.redirects" in redirected("http://h/", str(THERE), known())
    for allowed in (("*",), ("http",)):
        for source in ("http://h/", "https://h/"):
            assert redirected(source, str(THERE), known(redirected_from=allowed), downgrade=True) == ""
    assert redirected("ldap://h/", str(THERE), known(redirected_from=("http",))) != ""


def test_by_proxy() -> None:
    policy = Policy(proxy={"finger": "http://p.example:3128"})
    with pytest.raises(NotSpecified, match="how a proxy requests"):
        through_proxy(plan(THERE, registry=known()), policy, THERE, known())
    registry = known(by_proxy="tunnel")
    lines = [step.line() for step in through_proxy(plan(THERE, registry=registry), policy, THERE, registry)]
    assert lines[1].startswith("send CONNECT h.example:79 ")


def test_needs_host() -> None:
    text = "see finger:///u, please"
    assert [one.reference for one in find(text, registry=known(needs_host=False))] == ["finger:///u"]
    assert list(find(text, registry=known())) == []


def test_no_userinfo() -> None:
    """A name with a dot before the host is no usual user where there are no users."""
    assert "userinfo-host" in kinds("finger://joe.doe@h.example/", known())
    assert "userinfo-host" not in kinds("finger://joe.doe@h.example/", known(no_userinfo=""))


def test_anonymous() -> None:
    assert "password" in kinds("finger://guest:me@h.example/", known())
    assert "password" not in kinds("finger://guest:me@h.example/", known(anonymous=frozenset({"guest"})))


def test_host_of_files() -> None:
    assert "file-host" not in kinds("finger://h.example/", known())
    assert "file-host" in kinds("finger://h.example/", known(host_of_files=True))


def test_lines() -> None:
    assert "command-lines" in kinds("finger://h.example/a%0D%0Ab", known())
    assert "command-lines" not in kinds("finger://h.example/a%0D%0Ab", known(lines=False))


def test_own_octets() -> None:
    assert "encoded-delimiter" in kinds("finger://h.example/%2FW", known())
    assert "encoded-delimiter" not in kinds("finger://h.example/%2FW", known(own_octets=frozenset(b"/")))


def test_plus() -> None:
    text = "finger://h.example/?a=1+1"
    assert explain(text, registry=known()).parameters == [("a", "1 1")]
    assert explain(text, registry=known(plus=False)).parameters == [("a", "1+1")]


def test_text_parameters() -> None:
    text = "finger://h.example/a?plan=b%0D%0Ac"
    assert "command-lines" in kinds(text, known())
    assert "command-lines" not in kinds(text, known(text_parameters=("plan",)))


def test_content() -> None:
    assert kinds("finger://h.example/%00", known()) == {"encoded-nul"}
    assert kinds("finger://h.example/%00", known(content=True)) == set()


def test_shape() -> None:
    text = "by finger:user@h and no other"
    assert list(find(text, registry=known())) == []
    assert [one.reference for one in find(text, registry=known(shape="[a-z]{1,64}@"))] == ["finger:user@h"]


def test_linkable() -> None:
    text = "see finger://h.example/u"
    assert "finger" in linkable(known())
    assert "finger" not in linkable(known(linkable=False))
    assert "<a " in as_html(text, find(text), schemes=linkable(known()))


def test_file_name() -> None:
    assert file_name(THERE, known()) == "u"
    assert file_name(THERE, known(file_name=lambda segments: "-".join(("plan", *segments)))) == "plan-u"


def test_hierarchical() -> None:
    assert not SCHEME.hierarchical
    assert known(hierarchical=True).scheme("finger").hierarchical


def test_interactive() -> None:
    assert not SCHEME.interactive
    assert known(interactive=True).scheme("finger").interactive


def test_access() -> None:
    """Without it nothing is retrieved; functions serve as a package does; what is configured comes in where it says."""
    registry = Registry.default().with_(replace(SCHEME, access=None, locates_nothing="by decree"), replace=True)
    assert plan(THERE, registry=registry).steps == ()
    assert len(plan(THERE, registry=known()).steps) == 3
    used: list[str] = []

    def dialogue(plan: object, policy: object) -> Any:
        used.append("own")
        return iter(())

    def configured(locator: Any, policy: Policy) -> Any:
        return replace(locator, host=policy.news_server, written=None)

    own = known(access=Access(steps, dialogue, configured))
    policy = Policy(news_server="finger.example")
    assert Opening(THERE, policy, None, known(), None).uri == THERE
    way = Opening(THERE, policy, None, own, None)
    assert way.plan.uri == "finger://finger.example/u"
    way.dialogue(way.scheme())
    assert used == ["own"]


def test_locates_nothing() -> None:
    way = Opening(THERE, None, None, known(access=None, locates_nothing="by decree"), None)
    with pytest.raises(NotSpecified, match="by decree"):
        way.dialogue(way.scheme())


def test_unspoken() -> None:
    """Its protocol exists, and is which overthere does not speak: the refusal names it."""
    with pytest.raises(NotSpecified, match="Finger"):
        plan(THERE, registry=known(access=None, unspoken="Finger (RFC 1288)"))


def test_normal() -> None:
    assert SCHEME.normalize(split("finger://h:79")) == split("finger://h/")
    lowered = NormalRule("users have no case", "-", lambda parts: parts._replace(path=parts.path.lower()))
    registry = known(normal=(lowered,))
    assert str(URI("finger://h/U").normalize(Rung.SCHEME, registry=registry)) == "finger://h/u"
    assert lowest_rung("finger://h/U", "finger://h/u", registry=registry) is Rung.SCHEME


def test_compared() -> None:
    registry = known(compared=lambda parts: parts._replace(query=None))
    assert lowest_rung("finger://h/u?a", "finger://h/u?b", registry=registry) is Rung.SCHEME
    assert lowest_rung("finger://h/u?a", "finger://h/u?b", registry=known()) is None


def test_examples() -> None:
    assert all(SCHEME.is_valid(one.text) for one in SCHEME.examples)


def test_no_fragment() -> None:
    found = replace(SCHEME, no_fragment="by decree").check("finger://h/u#f")
    assert [(one.component, one.source) for one in found] == [("fragment", "by decree")]
    assert all(isinstance(one, Finding) for one in found)


def test_notes() -> None:
    from overthere.schemes.page import page

    assert "A note" in page(replace(SCHEME, notes=("A note",)))["notes"]


def test_known() -> None:
    with pytest.raises(RegistryError, match="only a name"):
        known(known=False)


def test_every_field_is_shown() -> None:
    tests: dict[str, Callable[[], None]] = {k: v for k, v in globals().items() if k.startswith("test_")}
    assert [one.name for one in fields(Scheme) if f"test_{one.name}" not in tests] == []
