"""The value types as Python values, the texts that they reject, and passwords, which are never shown."""

from __future__ import annotations

import copy
import ipaddress
import pickle
import traceback
from typing import Any

import pytest

import overthere
from overthere import (
    IRI,
    URI,
    CodingError,
    GrammarError,
    InvalidIRI,
    InvalidURI,
    IRIReference,
    NoBase,
    NotRegular,
    NotSpecified,
    OverthereError,
    Rung,
    Template,
    Unreachable,
    URIReference,
    check,
    edition,
    explain,
    lowest_rung,
)
from overthere.ground.errors import KINDS
from overthere.kernel.components import Component
from overthere.values import findings

NAMES = {
    "URI": URI,
    "URIReference": URIReference,
    "IRI": IRI,
    "IRIReference": IRIReference,
    "check": check,
    "Template": Template,
}


# -- a value like any other


def test_values_in_a_match_statement() -> None:
    match URI("http://u@h:8/p?q"):
        case URI(scheme="http", host="h", port=port, fragment=None):
            assert port == 8
        case _:
            pytest.fail("no match by name")
    match URIReference("//h?#"):
        case URIReference(None, "h", "", "", ""):
            pass
        case _:
            pytest.fail("no match by position")


def test_values_are_immutable() -> None:
    value = URI("http://h/")
    for name in ("host", "text", "_match", "anything"):
        with pytest.raises(AttributeError):
            setattr(value, name, "x")
    for name in ("host", "_match"):
        with pytest.raises(AttributeError):
            delattr(value, name)
    assert not hasattr(value, "__dict__")
    assert copy.copy(value) is value is copy.deepcopy(value)


class Site(URI):
    """A class of a user."""

    __slots__ = ()

    @property
    def site(self) -> str:
        return f"{self.scheme}:{self.host}"


def test_subclasses_keep_their_type() -> None:
    value = Site("http://H/a/../b?q")
    for other in (value.normalize(), value.replace(query=None), pickle.loads(pickle.dumps(value)), Site(URI("x://h"))):
        assert type(other) is Site
        assert other.site
    assert repr(value) == "Site('http://H/a/../b?q')"
    assert type(value.join("c")) is Site
    assert value == URI(str(value))
    assert hash(value) == hash(URI(str(value)))
    with pytest.raises(InvalidURI):
        Site("//h")


def test_converting_between_classes() -> None:
    assert URI(URIReference("a:b")) == URI("a:b")
    assert URIReference(IRI("a:b")) == URI("a:b")
    assert str(IRI(URI("a:b"))) == "a:b"
    with pytest.raises(InvalidURI):
        URI(URIReference("b"))
    with pytest.raises(InvalidURI):
        URI(IRI("a:ü"))
    zoned = URI("http://[fe80::1%25a]/", zone=True)
    assert URIReference(zoned).zone == "a"


@pytest.mark.parametrize(("text", "kind"), [("a b", InvalidURI), ("\u00e9 b", InvalidIRI)])
def test_a_compared_text_is_rejected_by_its_own_rule(text: str, kind: type[InvalidURI]) -> None:
    """A URI-reference in US-ASCII, an IRI-reference otherwise."""
    for a, b in ((text, "x"), ("x", text)):
        with pytest.raises(InvalidURI) as caught:
            lowest_rung(a, b)
        assert type(caught.value) is kind


def test_a_zone_keeps_its_case() -> None:
    """RFC 6874 2: the system defines the names of zones; the address next to it is lowercased."""
    mixed = URI("http://[FE80::A%25Eth0]:80/", zone=True)
    assert str(mixed.normalize(Rung.SCHEME)) == "http://[fe80::a%25Eth0]/"
    assert lowest_rung(mixed, URI("http://[fe80::A%25Eth0]:80/", zone=True)) is Rung.CASE
    assert lowest_rung(mixed, URI("http://[FE80::A%25eth0]:80/", zone=True)) is None


@pytest.mark.parametrize("wrong", [None, 5, b"http://h/", ["http://h/"], object(), bytearray(b"a:")])
def test_only_text_is_accepted(wrong: Any) -> None:
    for kind in (URI, URIReference, IRI, IRIReference, explain, check):
        with pytest.raises(TypeError):
            kind(wrong)
    for method in (URI("a:b").join, URI("a:b").relate, URIReference("c").resolve):
        with pytest.raises(TypeError):
            method(wrong)


def test_values_are_ordered_among_themselves() -> None:
    assert sorted([URI("b:"), URI("B:"), URI("a:")]) == [URI("B:"), URI("a:"), URI("b:")]
    with pytest.raises(TypeError):
        assert URI("a:") < "b:"
    assert URI("a:") != "a:"
    assert len({URI("a:"), URIReference("a:"), URI("A:")}) == 2


# -- the components


@pytest.mark.parametrize(
    ("authority", "text", "number"),
    [("h", None, None), ("h:", "", None), ("h:0", "0", 0), ("h:080", "080", 80), ("h:65536", "65536", 65536),
     ("h:" + "9" * 18, "9" * 18, 10**18 - 1), ("h:" + "9" * 19, "9" * 19, None),
     ("h:" + "0" * 50 + "7", "0" * 50 + "7", 7), ("u:1@h", None, None), ("[::1]:5", "5", 5), (":5", "5", 5)],
)  # fmt: skip
def test_port(authority: str, text: str | None, number: int | None) -> None:
    """3.2.3."""
    assert (URI(f"x://{authority}").port_text, URI(f"x://{authority}").port) == (text, number)


@pytest.mark.parametrize(
    ("host", "kind", "ip", "zone"),
    [
        ("", "reg-name", None, None),
        ("h", "reg-name", None, None),
        ("1.2.3.4", "IPv4address", "1.2.3.4", None),
        ("01.2.3.4", "reg-name", None, None),
        ("256.2.3.4", "reg-name", None, None),
        ("1.2.3.4.", "reg-name", None, None),
        ("%31.2.3.4", "reg-name", None, None),
        ("[::1]", "IPv6address", "::1", None),
        ("[::FFFF:1.2.3.4]", "IPv6address", "::ffff:1.2.3.4", None),
        ("[1:2:3:4:5:6:7::]", "IPv6address", "1:2:3:4:5:6:7:0", None),
        ("[v1.x:y]", "IPvFuture", None, None),
        ("[VA.x]", "IPvFuture", None, None),
        ("[fe80::1%25en0]", "IPv6address", "fe80::1%en0", "en0"),
        ("[fe80::1%25a%2Db]", "IPv6address", "fe80::1%a-b", "a%2Db"),
    ],
)
def test_host(host: str, kind: str, ip: str | None, zone: str | None) -> None:
    """3.2.2: the first alternative that matches; RFC 6874."""
    value = URI(f"x://{host}", zone=zone is not None)
    assert value.host == host
    assert value.host_kind == kind
    assert value.ip == (None if ip is None else ipaddress.ip_address(ip))
    assert value.zone == zone
    assert pickle.loads(pickle.dumps(value)) == value
    assert value.replace(path="/p").host == host


@pytest.mark.parametrize("zone", ["a%2Fb", "%25", "%FF", "%00", "a%20b"])
def test_ip_of_any_zone(zone: str) -> None:
    """DESIGN law 7: for all that RFC 6874 derives, .ip is an address, None, or a documented error."""
    value = URI(f"x://[fe80::1%25{zone}]/", zone=True)
    assert value.zone == zone
    try:
        address = value.ip
    except OverthereError:
        return
    assert address is None or address.version == 6


@pytest.mark.parametrize(
    ("text", "form", "segments"),
    [("a:", "uri", ()), ("a:b/c", "uri", ("b", "c")), ("//h", "network-path", ()), ("//h/", "network-path", ("",)),
     ("/", "absolute-path", ("",)), ("/a/", "absolute-path", ("a", "")), ("/a%2Fb", "absolute-path", ("a%2Fb",)),
     ("b", "relative-path", ("b",)), ("b/", "relative-path", ("b", "")), ("?", "relative-path", ()),
     ("?#", "relative-path", ()), ("", "same-document", ()), ("#", "same-document", ()), (".", "relative-path", (".",)),
     ("a:/.//b", "uri", (".", "", "b"))],
)  # fmt: skip
def test_form_and_segments(text: str, form: str, segments: tuple[str, ...]) -> None:
    """3.3, 4.1, 4.2, 4.4."""
    assert (URIReference(text).form, URIReference(text).segments) == (form, segments)


def test_decoded_components() -> None:
    value = URI("x://%C3%BC@%41:8/%2F+%E9?%C3%A9#%00")
    expected: dict[Component, bytes] = {"scheme": b"x", "userinfo": "ü".encode(), "host": b"A", "port": b"8",
                                      "path": b"//+\xe9", "query": "é".encode(), "fragment": b"\0"}  # fmt: skip
    assert {c: value.decoded_bytes(c) for c in expected} == expected
    assert value.decoded("userinfo") == "ü"
    assert value.decoded(charset="latin-1") == "//+é"
    assert value.decoded(errors="replace") == "//+\ufffd"
    assert URIReference("a").decoded("query") is None
    assert URIReference("a").decoded_bytes("host") is None
    with pytest.raises(CodingError):
        value.decoded()
    missing: Any = "nothing"
    for method in (value.decoded, value.decoded_bytes, value.span):
        with pytest.raises(
            KeyError, match="'nothing' is not a component; the components are scheme, authority, userinfo, host"
        ):
            method(missing)


# -- resolution


def test_same_document() -> None:
    """4.4 and decision 3986-11: by the target without its fragment, not by the syntax."""
    base = "http://a/b/c?q#f"
    same = ["", "#", "#s", "c?q", "?q", "./c?q", "/b/c?q", "//a/b/c?q#x", "http://a/b/c?q", "../b/c?q"]
    assert all(URIReference(r).same_document(base) for r in same)
    assert not any(
        URIReference(r).same_document(URI(base)) for r in ["c", "?", "?Q", "http://A/b/c?q", "c?q/", "//a", "."]
    )


def test_base_needs_a_scheme() -> None:
    """5.1."""
    for action in (URIReference("g").resolve, URIReference("g").same_document):
        with pytest.raises(NoBase, match=r"RFC 3986 5\.1"):
            action(URIReference("//u:secret@h"))  # type: ignore[arg-type]
        with pytest.raises(InvalidURI) as caught:
            action("//h")
        assert caught.value.kind == "scheme-missing"
    with pytest.raises(Unreachable, match=r"5\.2\.4"):
        URI("a:b").relate("a:c/../d")


def test_resolution_that_is_not_strict() -> None:
    """5.2.2, 5.4.2: an equal scheme is ignored, in any case of letters."""
    base = URI("http://a/b/c/d;p?q")
    assert base.join("HTTP:g") == URI("HTTP:g")
    assert base.join("HTTP:g", strict=False) == URI("http://a/b/c/g")
    assert base.join("http:", strict=False) == base
    assert base.join("x:g", strict=False) == URI("x:g")
    assert str(IRI(str(base)).join("http:ü", strict=False)) == "http://a/b/c/ü"


# -- the exceptions


ERRORS: list[tuple[Any, type[OverthereError]]] = [
    (lambda: URI("http://h:8o/"), InvalidURI),
    (lambda: IRI("http://h/\u202e"), InvalidIRI),
    (lambda: URI("a:").relate("a:../b"), Unreachable),
    (lambda: URIReference("a").resolve(URIReference("b")), NoBase),  # type: ignore[arg-type]
    (lambda: overthere.decode("%"), CodingError),
    (lambda: edition("rfc1"), NotSpecified),
    (lambda: overthere.grammar.Grammar("r = <p>").rules, GrammarError),
    (lambda: overthere.grammar.Grammar("r = r").automaton("r"), NotRegular),
]


@pytest.mark.parametrize(("action", "kind"), ERRORS)
def test_exceptions(action: Any, kind: type[OverthereError]) -> None:
    with pytest.raises(OverthereError) as caught:
        action()
    error = caught.value
    assert type(error) is kind
    assert isinstance(error, LookupError if kind is NotSpecified else ValueError)
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is kind
        assert (str(other), repr(other), other.args) == (str(error), repr(error), error.args)
        assert vars(other) == vars(error)


def test_the_finding_of_an_exception_is_computed_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, when it is read; a text that is only rejected costs no search."""
    looks: list[str] = []

    class Counting(findings._Scanner):
        def __init__(self, text: str, rule: str, zone: bool) -> None:
            looks.append(text)
            super().__init__(text, rule, zone)

    monkeypatch.setattr(findings, "_Scanner", Counting)
    for kind, text in ((URI, "http://h:8o/"), (URIReference, "a b"), (IRI, "http://h/\u202e"), (IRIReference, "//[é]")):
        with pytest.raises(InvalidURI) as caught:
            kind(text)
        assert (caught.value.text, caught.value.args, looks) == (text, (text,), [])
        place = caught.value.kind, caught.value.start
        assert looks == [text]
        assert (caught.value.finding.kind, caught.value.finding.start) == place
        assert str(caught.value) == str(caught.value)
        assert looks == [text]
        looks.clear()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        caught.value.nothing  # noqa: B018


def in_handler(before: Exception, kind: Any, context: dict[str, Any]) -> None:
    try:
        raise before
    except KeyError:
        kind("http://u:secret@h:8o/", **context)


def test_exceptions_chain() -> None:
    """The handled exception is the context, and the traceback has the calling line."""
    before = KeyError("before")
    for kind in (URI, URIReference, IRI, IRIReference):
        for options in ({}, {"zone": True}):
            with pytest.raises(InvalidURI) as caught:
                in_handler(before, kind, options)
            error = caught.value
            assert error.__context__ is before
            assert error.__cause__ is None
            text = "".join(traceback.format_exception(error))
            assert "During handling" in text
            assert "kind(" in text
            assert "secret" not in text.rpartition("overthere.Invalid")[2]
    with pytest.raises(InvalidURI) as caught:
        URI("http://h:8o/")
    assert caught.value.__context__ is None


# -- parse and can_parse


@pytest.mark.parametrize("kind", [URI, URIReference, IRI, IRIReference])
def test_parse(kind: type[URIReference] | type[IRIReference]) -> None:
    """It gives a value if the class does, None if the class rejects the text; with and without a zone."""
    texts = [row.bad for row in KINDS.values()] + [row.good for row in KINDS.values()]
    texts += [
        "http://[fe80::1%25en0]/",
        "",
        "é:x",
        "http://é/?\ue000",
        "\ud800",
        "//h",
        "http://[v1.é]/",
        "http://é[::1]/",
    ]
    calls = 0
    for text in texts:
        for zone in (False, True):
            try:
                value = kind(text, zone=zone)
            except InvalidURI:
                assert kind.parse(text, zone=zone) is None
                assert kind.can_parse(text, zone=zone) is False
                continue
            found = kind.parse(text, zone=zone)
            assert (found, type(found)) == (value, kind)
            assert found is not None
            assert (str(found), found.host, found.path, found.zone) == (text, value.host, value.path, value.zone)
            assert kind.can_parse(text, zone=zone) is True
            calls += 1
    assert calls > len(KINDS)


def test_parse_accepts_what_the_class_accepts() -> None:
    class Text(str):
        __slots__ = ()

    value = URI.parse(Text("http://h/"))
    assert type(str(value)) is str
    zoned = URIReference("http://[fe80::1%25en0]/", zone=True)
    assert URI.parse(zoned) == URI(zoned)
    assert URI.parse(URIReference("//h")) is None
    assert not URI.can_parse(URIReference("//h"))
    for call in (URI.parse, URI.can_parse, IRI.parse):
        with pytest.raises(TypeError, match=r"RI\(\) takes text .*not bytes"):
            call(b"http://h/")  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            call("http://h/", True)  # type: ignore[call-arg]


def test_parse_calls_the_constructor_of_a_subclass() -> None:
    assert type(Site.parse("http://h/")) is Site
    assert Site.parse("h") is None

    calls: list[str] = []

    class Counted(URI):
        def __init__(self, text: str, *, zone: bool = False) -> None:
            calls.append(text)

    assert type(Counted.parse("http://h/")) is Counted
    assert (calls, Counted.can_parse("http://h/"), Counted.parse("h")) == (["http://h/"], True, None)
    assert calls == ["http://h/"]


def test_invalid_uri_has_the_offset() -> None:
    with pytest.raises(InvalidURI) as caught:
        URI("x:/ü/😀 a")
    error = caught.value
    assert (error.text, error.kind, error.start, error.end, error.component) == ("x:/ü/😀 a", "non-ascii", 3, 4, "path")
    assert "\n" not in str(error)
    first, second, third = error.figure().split("\n")
    assert (first[second.index("^")], third) == ("ü", str(error))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_its_examples(kind: str) -> None:
    """The bad example of the table has the kind, the good one has no findings."""

    def findings(example: str) -> list[str]:
        if not example.startswith(tuple(f"{name}{mark}" for name in NAMES for mark in "(.")):
            return [f.kind for f in check(example)]
        try:
            result = eval(example, dict(NAMES))
        except InvalidURI as error:
            return [error.kind]
        return [f.kind for f in result] if isinstance(result, list) else []

    row = KINDS[kind]
    if row.bad:
        assert kind in findings(row.bad)
    assert findings(row.good) == []
    assert row.source.startswith(("RFC 3", "RFC 6570"))


def test_the_number_of_findings_is_limited() -> None:
    text = "http://h/" + "|a" * 30
    assert len(check(text)) == 30
    assert check(text, limit=30) == check(text, limit=None) == check(text)
    *most, last = check(text, limit=10)
    assert [f.start for f in most] == [9 + 2 * i for i in range(10)]
    assert (last.kind, last.message) == ("more", "20 further findings are not listed")


# -- passwords: RFC 3986 3.2.1, 7.5

SECRETS = [
    "http://u:{}@h/", "//u:{}@h", "http://u:{}@h:8o/", "http://u:{}@h|/", "http://u:{}@h/ü ", "http://:{}@h/[",
    "1http://u:{}@h/", "ht tp://u:{}@h/", "http://u|:{}@h/", "http://u:{}@[::1/", "http://u:{}@@h/", "://u:{}@h/",
    "http://a@u:{}@h", "http://u:x:{}@h|", " http://u:{}@h", "http://ü:{}@h/", "x://u:{}@/../%",
    "http://u:{}@h:80:90/#", "http://u:{}@h/" + "a" * 300 + "|", "http://u:" + "b" * 300 + "{}@h|",
]  # fmt: skip
PASSWORDS = ["Geheim7", "Ge|heim7", "Ge heim7", "Ge\theim7", "Ge/heim7", "Ge?heim7", "Ge#heim7", "Gëheim7", "%Geheim7",
             "Ge[heim7", "Ge@heim7", "Ge:heim7", "a/G:e@heim7", "Ge\u202eheim7", "Ge\\heim7", "Geheim7/?#"]  # fmt: skip


def printed_forms(value: object) -> list[str]:
    """All printed forms of a value, or of its exception."""
    if isinstance(value, InvalidURI):
        return [
            str(value),
            repr(value),
            value.figure(),
            value.figure(20),
            "".join(traceback.format_exception_only(value)),
        ]
    return [repr(value)]


@pytest.mark.parametrize("shape", SECRETS)
def test_no_password_is_shown(shape: str) -> None:
    for password in PASSWORDS:
        text = shape.format(password)
        texts = [str(f) for f in check(text)]
        for kind in (URI, URIReference, IRI, IRIReference):
            try:
                value = kind(text)
            except InvalidURI as error:
                texts += printed_forms(error)
            else:
                texts += [*printed_forms(value), repr([value]), repr({"u": value})]
        assert not [s for s in texts if "heim7" in s], text


@pytest.mark.parametrize("shape", SECRETS)
def test_no_password_is_explained(shape: str) -> None:
    for password in PASSWORDS:
        text = shape.format(password)
        explanation = explain(text)
        output = [str(explanation), explanation.figure(30), explain("a", base=text).render(40)]
        assert not [s for s in output if "heim7" in s], text


@pytest.mark.parametrize("password", [*PASSWORDS, "12/heim7", "/heim7", "1?heim7", "#heim7"])
def test_no_password_in_an_argument_is_shown(password: str) -> None:
    """It is known to be the password, whatever characters it has."""
    base = URI("http://u:old@h/")
    makers: list[Any] = [
        lambda: URI.build(scheme="http", userinfo=f"u:{password}", host="h"),
        lambda: URI.build(scheme="http", userinfo=("u", password), host="h|"),
        lambda: URI.build(scheme="http", authority=f"u:{password}@h"),
        lambda: URI.build(userinfo=f"u:{password}"),
        lambda: base.replace(userinfo=f"u:{password}"),
        lambda: base.replace(userinfo=f"u:{password}", host="a:b"),
        lambda: base.replace(userinfo=f"u:{password}", host=None),
        lambda: base.replace(authority=f"u:{password}@h:x"),
    ]
    for make in makers:
        try:
            value = make()
        except (InvalidURI, CodingError) as error:
            value = error
        assert not [s for s in printed_forms(value) if "heim7" in s]


def test_a_zone_is_explained_by_its_scheme() -> None:
    locator = explain("http://[fe80::1%25eth0]/", zone=True).locator
    assert not isinstance(locator, str)
    assert locator is not None
    assert locator.to_dict()["host"] == "[fe80::1%25eth0]"


def test_a_value_passed_to_urlopen_explains_what_to_pass() -> None:
    """`urllib.request.urlopen` sets attributes of any argument that is not text."""
    with pytest.raises(AttributeError, match=r"immutable; pass str\(\) of it where text is needed"):
        URI("http://h/").timeout = 1
    with pytest.raises(AttributeError, match=r"immutable; replace\(host=\.\.\.\) makes a new one"):
        URI("http://h/").host = "i"  # type: ignore[misc]


def test_the_parameters_of_an_explanation() -> None:
    """RFC 3986 2.4: the query is split before it is decoded, and secret values are masked."""
    found = explain("http://h/?q=a%26b+c&x=%3D&flag&token=abcdefgh123456&e=")
    assert found.parameters == [("q", "a&b c"), ("x", "="), ("flag", None), ("token", "abcdefgh123456"), ("e", "")]
    printed = found.render()
    assert "decoded" not in printed
    assert "abcdefgh" not in printed
    lines = printed.splitlines()
    at = lines.index("  parameters")
    assert [line.split(None, 1) for line in lines[at + 1 : at + 6]] == [
        ["q", "a&b c"], ["x", "="], ["flag", "no value"], ["token", "***"], ["e", "empty"],
    ]  # fmt: skip
    assert explain("mailto:a@b?subject=1+1").parameters == [("subject", "1+1")]
    assert explain("http://h/?a%20b").parameters == []
    assert explain("http://h/?a=%zz").parameters == []
    assert "and 5 more" in explain("http://h/?" + "&".join(f"a{n}={n}" for n in range(25))).render()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git@github.com:joe/a.git", "ssh://git@github.com/joe/a.git"),
        ("joe@h:/abs/p", "ssh://joe@h/abs/p"),
        ("joe@h:~/p", "ssh://joe@h/~/p"),
        ("joe@[::1]:p", "ssh://joe@[::1]/p"),
        ("ssh://git@h:joe/a.git", "ssh://git@h/joe/a.git"),
        ("git@h:a b", None), ("git@h:22/a", None), ("git@h:", None), ("ssh://h:22x", "ssh://h/22x"), ("a@b c:d", None),
        ("http://h:path", None), ("joe:secret@h:path", None), ("git@h:" + "a" * 300, None),
    ],
)  # fmt: skip
def test_an_scp_address_is_explained_as_a_uri(text: str, expected: str | None) -> None:
    for kind in (URI, URIReference):
        if not kind.can_parse(text):
            with pytest.raises(InvalidURI) as caught:
                kind(text)
            assert ("did you mean" in str(caught.value)) == (expected is not None)
            assert expected is None or f"did you mean {expected}?" in str(caught.value)
    assert expected is None or URI(expected).scheme == "ssh"
