"""Gateways: templates, the configuration file, what is rejected, and plans with a gateway."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from overthere import (
    URI,
    Credentials,
    Gateways,
    NotSpecified,
    PlanRefused,
    Registry,
    RegistryError,
    Scheme,
    edition,
    plan,
    scheme,
)
from overthere.access import Connect, Send

GATEWAY = "http://gw.example/?{uri}"


# -- templates

# (template, URI, URI at the gateway); RFC 6570 3.2.2 for {name}, 3.2.3 for {+name}.
EXPANDED = [
    ("http://gw.example/?{uri}", "wais://h/db?words", "http://gw.example/?wais%3A%2F%2Fh%2Fdb%3Fwords"),
    ("http://gw.example/?{+uri}", "wais://h/db?words", "http://gw.example/?wais://h/db?words"),
    ("http://gw.example/N2L?{+uri}", "urn:example:a%2Fb", "http://gw.example/N2L?urn:example:a%2Fb"),
    ("http://gw.example/N2L?{uri}", "urn:example:a%2Fb", "http://gw.example/N2L?urn%3Aexample%3Aa%252Fb"),
    ("http://gw.example/{scheme}/{host}/{port}", "xmpp://H.example:5683/x", "http://gw.example/xmpp/H.example/5683"),
    ("http://gw.example/{authority}", "xmpp://u@[::1]:1/", "http://gw.example/u%40%5B%3A%3A1%5D%3A1"),
    ("http://gw.example/x{+path}?{+query}", "xmpp://h/a/b?c=d&e", "http://gw.example/x/a/b?c=d&e"),
    ("http://gw.example/{path}?{query}", "xmpp://h/a/b?c=d&e", "http://gw.example/%2Fa%2Fb?c%3Dd%26e"),
    ("http://gw.example/?{host}.{port}.{query}", "xmpp:", "http://gw.example/?.."),
    ("http://gw.example/", "xmpp://h/a", "http://gw.example/"),
    ("http://gw.example/?{uri}&{uri}", "a:b", "http://gw.example/?a%3Ab&a%3Ab"),
    ("mailto:gw@gw.example?subject={uri}", "xmpp://h/", "mailto:gw@gw.example?subject=xmpp%3A%2F%2Fh%2F"),
    ("http://gw.example/?{uri}", "xmpp://h/a#part", "http://gw.example/?xmpp%3A%2F%2Fh%2Fa"),
    ("http://gw.example/?{uri}", "xmpp://u@h/", "http://gw.example/?xmpp%3A%2F%2Fu%40h%2F"),
]


@pytest.mark.parametrize(("template", "text", "expanded"), EXPANDED)
def test_templates(template: str, text: str, expanded: str) -> None:
    name = text.partition(":")[0]
    gateways = Gateways({name: template})
    assert gateways.uri(URI(text)) == URI(expanded)
    assert gateways.uri(URI(text.replace(name, name.upper(), 1))).host == URI(expanded).host


REFUSED = [
    ({"xmpp": ""}, "does not make a valid URI"),
    ({"xmpp": "/gw/{uri}"}, "does not make a valid URI"),
    ({"xmpp": "http://gw.example/{uri"}, "does not make a valid URI"),
    ({"xmpp": "http://gw.example/uri}"}, "does not make a valid URI"),
    ({"xmpp": "http://gw.example/a b"}, "does not make a valid URI"),
    ({"xmpp": "http://gw.example/%{uri}"}, "does not make a valid URI"),
    ({"xmpp": "http://gw.example/{}"}, "no variable ''"),
    ({"xmpp": "http://gw.example/{url}"}, "no variable 'url'"),
    ({"xmpp": "http://gw.example/{URI}"}, "no variable 'URI'"),
    ({"xmpp": "http://gw.example/{userinfo}"}, "no variable 'userinfo'"),
    ({"xmpp": "http://gw.example/{fragment}"}, "no variable 'fragment'"),
    ({"xmpp": "http://gw.example/{uri*}"}, "no variable"),
    ({"xmpp": "http://gw.example/{++uri}"}, "no variable"),
    ({"xmpp": "{+uri}"}, "leaves its own scheme open"),
    ({"xmpp": "{scheme}://gw.example/"}, "leaves its own scheme open"),
    ({"xmpp": "http://{host}.gw.example/"}, "leaves its own host open"),
    ({"xmpp": "http://{+authority}/"}, "leaves its own host open"),
    ({"xmpp": "http://gw.example:{port}/"}, "leaves its own host open"),
    ({"xmpp": "http://gw.example{+path}"}, "leaves its own host open"),
    ({"a_b": GATEWAY}, "'a_b'"),
    ({"1a": GATEWAY}, "'1a'"),
    ({"": GATEWAY}, "''"),
    ({"ä": GATEWAY}, "'ä'"),
]


@pytest.mark.parametrize(("templates", "reason"), REFUSED, ids=[str(templates) for templates, _ in REFUSED])
def test_invalid_templates_are_rejected(templates: dict[str, str], reason: str) -> None:
    with pytest.raises(RegistryError) as caught:
        Gateways(templates)
    assert reason in str(caught.value)


@pytest.mark.parametrize("name", ["a:b", "a:", "http:x"])
def test_a_name_with_a_colon_is_rejected(name: str) -> None:
    with pytest.raises(RegistryError):
        Gateways({name: GATEWAY})


@pytest.mark.parametrize("template", ["http:/{+path}", "http:{+path}", "ftp:/{+uri}"])
def test_data_cannot_become_the_host(template: str) -> None:
    """A path that begins with "//" after an empty authority would name one."""
    try:
        gateways = Gateways({"x-a": template})
    except RegistryError:
        return
    for text in ("x-a:/evil.example/b", "x-a:evil.example", "x-a:/.//evil.example/b"):
        assert gateways.uri(URI(text)).host is None, text


@pytest.mark.parametrize(
    ("templates", "circle"),
    [
        ({"xmpp": "xmpp://gw.example/?{uri}"}, "xmpp -> xmpp"),
        ({"xmpp": "XMPP://gw.example/?{uri}"}, "xmpp -> xmpp"),
        ({"a": "b://gw/?{uri}", "b": "a://gw/?{uri}"}, "a -> b -> a"),
        ({"c": "a://gw/?{uri}", "a": "b://gw/?{uri}", "b": "a://gw/?{uri}"}, "a -> b -> a"),
    ],
)
def test_cycles_are_rejected(templates: dict[str, str], circle: str) -> None:
    with pytest.raises(RegistryError) as caught:
        Gateways(templates)
    assert "cycle" in str(caught.value)
    assert circle in str(caught.value)


def test_long_chains_are_not_cycles() -> None:
    gateways = Gateways({f"a{n}": f"a{n + 1}://gw/?{{uri}}" for n in range(50)})
    assert len(gateways) == 50


# -- a value


def test_gateways_are_a_mapping() -> None:
    gateways = Gateways({"WAIS": GATEWAY, "xmpp": GATEWAY})
    assert gateways["wais"] == gateways["Wais"] == GATEWAY
    assert "WAIS" in gateways
    assert "ftp" not in gateways
    assert list(gateways) == ["wais", "xmpp"]
    assert len(gateways) == 2
    assert gateways == Gateways({"xmpp": GATEWAY, "wais": GATEWAY}) == {"wais": GATEWAY, "xmpp": GATEWAY}
    assert hash(gateways) == hash(Gateways({"xmpp": GATEWAY, "wais": GATEWAY}))
    assert gateways != Gateways({"wais": GATEWAY})
    assert pickle.loads(pickle.dumps(gateways)) == gateways
    assert Gateways() == {}
    assert not hasattr(gateways, "__setitem__")
    with pytest.raises(KeyError):
        gateways["ftp"]
    with pytest.raises(KeyError):
        gateways.uri(URI("ftp://h/"))


# -- the file


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "gateways.toml"
    file.write_text(f'[gateways]\nwais = "{GATEWAY}"\n"z39.50r" = "{GATEWAY}"\n\n[other]\nname = 1\n')
    gateways = Gateways.read(file)
    assert gateways == Gateways({"wais": GATEWAY, "z39.50r": GATEWAY})
    assert Gateways.read(str(file)) == gateways
    file.write_text("[gateways]\n")
    assert Gateways.read(file) == Gateways()


BAD_FILES = {
    "not TOML": (b"[gateways\n", "is not valid TOML"),
    "a line that is none": (b"[gateways]\nwais\n", "is not valid TOML"),
    "a name twice": (b'[gateways]\nwais = "a:b"\nwais = "a:b"\n', "is not valid TOML"),
    "not UTF-8": (b'[gateways]\nwais = "\xe9"\n', "is not valid TOML"),
    "empty": (b"", "has no table [gateways]"),
    "another table": (b'[gateway]\nwais = "http://gw/"\n', "has no table [gateways]"),
    "no table": (b'gateways = "http://gw/"\n', "has no table [gateways]"),
    "a list": (b'gateways = ["http://gw/"]\n', "has no table [gateways]"),
    "a number": (b"[gateways]\nwais = 210\n", "has no table [gateways]"),
    "a table in it": (b'[gateways.wais]\nuri = "http://gw/"\n', "has no table [gateways]"),
    # Without quotes a dot would begin a table.
    "a dotted name": (b'[gateways]\nz39.50r = "http://gw/"\n', "has no table [gateways]"),
    "a bad template": (b'[gateways]\nwais = "http://gw/{url}"\n', "no variable 'url'"),
    "a circle": (b'[gateways]\nwais = "wais://gw/{uri}"\n', "cycle"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_invalid_files_are_rejected(name: str, tmp_path: Path) -> None:
    octets, expected = BAD_FILES[name]
    file = tmp_path / "gateways.toml"
    file.write_bytes(octets)
    with pytest.raises(RegistryError) as caught:
        Gateways.read(file)
    assert expected in str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Gateways.read(tmp_path / "none.toml")


# -- passwords


@pytest.mark.parametrize("text", ["xmpp://u:s3cret@h/", "xmpp://u:@h/", "xmpp://:s3cret@h/"])
def test_passwords_are_not_shown(text: str) -> None:
    gateways = Gateways({"xmpp": GATEWAY})
    for use in (lambda: gateways.uri(URI(text)), lambda: plan(text, gateways=gateways)):
        with pytest.raises(PlanRefused, match=r"would be sent to a gateway \(RFC 3986 7.5\)") as caught:
            use()
        assert "s3cret" not in str(caught.value)
        assert "s3cret" not in repr(caught.value)


def test_the_password_of_a_gateway_is_not_shown() -> None:
    gateways = Gateways({"xmpp": "ftp://u:s3cret@gw.example/{uri}"})
    result = plan("xmpp://h/x", gateways=gateways)
    assert "s3cret" not in f"{result}{result!r}{result.to_dict()}{result.steps!r}"
    assert "s3cret" not in repr(gateways)


def test_credentials_are_not_sent_to_the_gateway() -> None:
    """The caller's login at the resource is no business of the gateway (RFC 3986 7.5)."""
    credentials = Credentials(user="me", password="s3cret")
    result = plan("xmpp://h/x", credentials, gateways=Gateways({"xmpp": "ftp://gw.example/{uri}"}))
    sent = b"".join(step.data for step in result if isinstance(step, Send))
    assert b"s3cret" not in sent


# -- plans


def test_through_a_gateway() -> None:
    results = plan("xmpp://h/x?y#z", gateways=Gateways({"xmpp": GATEWAY}))
    assert (results.uri, results.scheme) == ("xmpp://h/x?y#z", "xmpp")
    assert results.through is not None
    assert (results.through.uri, results.through.scheme) == ("http://gw.example/?xmpp%3A%2F%2Fh%2Fx%3Fy", "http")
    assert results.steps == results.through.steps == plan(results.through.uri).steps
    first = results.steps[0]
    assert isinstance(first, Connect)
    assert (first.host, first.port) == ("gw.example", 80)
    assert "through the gateway http://gw.example/?xmpp%3A%2F%2Fh%2Fx%3Fy" in str(results)
    assert results.to_dict()["through"] == results.through.uri
    assert not results.locates_nothing


def test_a_urn_through_a_resolver() -> None:
    """As in RFC 2169; without a gateway a URN locates nothing."""
    text = "urn:example:animal:ferret:nose"
    assert plan(text).steps == ()
    assert plan(text).locates_nothing
    results = plan(text, gateways=Gateways({"urn": "http://gw.example/uri-res/N2R?{+uri}"}))
    assert results.through is not None
    assert results.through.uri == "http://gw.example/uri-res/N2R?urn:example:animal:ferret:nose"
    assert not results.locates_nothing


def test_through_two_gateways() -> None:
    results = plan("xmpp://h/x", gateways=Gateways({"xmpp": "x-a://gw/?{uri}", "x-a": GATEWAY}))
    assert results.through is not None
    assert results.through.through is not None
    assert results.through.through.uri == "http://gw.example/?x-a%3A%2F%2Fgw%2F%3Fxmpp%253A%252F%252Fh%252Fx"
    assert results.steps == results.through.through.steps


def test_a_gateway_takes_precedence_over_the_scheme() -> None:
    """It was configured explicitly, and the plan shows it."""
    for text in ("ftp://h/a", "http://h/a", "gopher://h/0a"):
        name = text.partition(":")[0]
        results = plan(text, Credentials("joe", "secret"), gateways=Gateways({name: "https://gw.example/?{uri}"}))
        assert results.through is not None
        assert results.instead
        assert results.steps == plan(results.through.uri).steps
        assert f", which takes precedence over the dialogue of {name}\n" in str(results)
        assert results.to_dict()["instead"] is True
    other = plan("xmpp://h/a", gateways=Gateways({"xmpp": "https://gw.example/?{uri}"}))
    assert not other.instead
    assert "goes before" not in str(other)


@pytest.mark.parametrize("gateways", [None, Gateways(), Gateways({"xmpps": GATEWAY})])
def test_unknown_and_no_gateway(gateways: Gateways | None) -> None:
    with pytest.raises(NotSpecified, match="it is undefined how 'xmpp' is retrieved; a gateway may help"):
        plan("xmpp://h/x", gateways=gateways)


def test_a_gateway_of_an_unknown_scheme() -> None:
    with pytest.raises(NotSpecified, match="'xmpps'"):
        plan("xmpp://h/x", gateways=Gateways({"xmpp": "xmpps://gw.example/?{uri}"}))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("url-1994", "URL:xmpp://h/x"),
        ("rfc1738", "<URL:xmpp://h/x>"),
        ("rfc1738", "URL:xmpp://h/x"),
        ("url-1997", "xmpp://h/x"),
        ("rfc3986", "xmpp://h/x"),
    ],
)
def test_through_a_gateway_in_every_edition(name: str, text: str) -> None:
    """Prefix and wrapper are not part of the URL (RFC 1738, Appendix)."""
    results = plan(edition(name).locator(text), gateways=Gateways({"xmpp": GATEWAY}))
    assert results.through is not None
    assert results.through.uri == "http://gw.example/?xmpp%3A%2F%2Fh%2Fx"


def test_a_gateway_for_a_custom_scheme() -> None:
    """Even for a scheme that locates nothing."""
    ours = Scheme(name="x-raven", title="ours", documents={"rfc3986": "ours"}, locates_nothing="names only (ours)")
    registry = Registry.default().with_(ours)
    assert plan("x-raven:a", registry=registry).locates_nothing == "names only (ours)"
    results = plan("x-raven:a", registry=registry, gateways=Gateways({"x-raven": GATEWAY}))
    assert results.through is not None
    assert results.through.uri == "http://gw.example/?x-raven%3Aa"
    assert not scheme("x-raven").known
