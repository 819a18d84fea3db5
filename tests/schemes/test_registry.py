"""The registry of schemes as a value, and IANA's table."""

from __future__ import annotations

import csv
import importlib
import pickle
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from overthere import (
    IRI,
    URI,
    Locator,
    NotSpecified,
    PlanRefused,
    Registry,
    RegistryError,
    Scheme,
    edition,
    plan,
    scheme,
)
from overthere.access import Content
from overthere.schemes import Access, GenericLocator
from overthere.schemes.iana import registration, registrations
from overthere.schemes.in_text import built_in, facts_of
from overthere.schemes.known.ftp import FTPLocator
from overthere.schemes.registry import BUILT_IN, _built_in
from support import ROOT, SHARED

IANA = SHARED.parent / "iana" / "uri-schemes-2022-11-18.csv"

NAMES_ONLY = "names only (ours)"
RAVEN = Scheme(name="x-raven", title="Letters by raven", documents={"rfc3986": "ours"}, locates_nothing=NAMES_ONLY)


def new_scheme(name: str, title: str = "ours", **fields: object) -> Scheme:
    return replace(RAVEN, name=name, title=title, **fields)  # type: ignore[arg-type]


# -- a value


def test_with_gives_another_registry() -> None:
    before = Registry.default()
    names = list(before)
    after = before.with_(RAVEN)
    assert "x-raven" in after
    assert "x-raven" not in before
    assert list(before) == names
    assert list(after) == sorted([*names, "x-raven"])
    assert len(after) == len(before) + 1
    assert after.scheme("X-Raven") is RAVEN
    assert not before.scheme("x-raven").known
    assert Registry.default() is before


def test_with_nothing_is_equal() -> None:
    assert Registry.empty().with_() == Registry.empty()
    assert Registry.default().with_() == Registry.default()


def test_equality_and_hash() -> None:
    first, other = Registry.empty().with_(RAVEN), Registry.empty().with_(new_scheme("x-raven", RAVEN.title))
    assert first == other
    assert hash(first) == hash(other)
    assert first != Registry.empty().with_(new_scheme("x-raven", "another title"))
    assert first != Registry.empty()
    assert Registry.empty() == Registry.empty()
    assert Registry.empty() != Registry.default()
    assert first != "x-raven"
    order = Registry.empty().with_(RAVEN, new_scheme("x-crow")), Registry.empty().with_(new_scheme("x-crow"), RAVEN)
    assert order[0] == order[1]
    assert len({*order}) == 1


def test_membership() -> None:
    registry = Registry.default()
    for name in BUILT_IN:
        assert name in registry
        assert name.upper() in registry
    for other in ("xmpp", "acap", "", "no such", "ftp:", 21, None, b"ftp", ("ftp",)):
        assert other not in registry
    assert list(registry) == sorted(registry)
    assert set(BUILT_IN) <= set(registry)
    assert len(registry) == len(set(registry))


def test_an_empty_registry_knows_no_scheme() -> None:
    registry = Registry.empty()
    assert len(registry) == 0
    assert list(registry) == []
    assert not registry.scheme("ftp").known
    assert registry.locator("ftp://h/p") == GenericLocator("h", "/p", scheme="ftp")
    with pytest.raises(NotSpecified, match="'ftp'"):
        plan("ftp://h/p", registry=registry)


def test_repr_is_short() -> None:
    assert repr(Registry.empty().with_(RAVEN)) == "<Registry of 1 schemes>"
    assert repr(RAVEN) == "<Scheme x-raven: Letters by raven>"


# -- two schemes with one name


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_name_cannot_be_claimed(name: str) -> None:
    with pytest.raises(RegistryError) as caught:
        Registry.default().with_(new_scheme(name, "Somebody else's"))
    message = str(caught.value)
    assert repr(name) in message
    assert "of overthere" in message
    assert "Somebody else's" in message


def test_the_error_names_both_claims() -> None:
    registry = Registry.empty().with_(RAVEN)
    with pytest.raises(RegistryError, match="'x-raven': 'Letters by raven' and 'Letters by crow'"):
        registry.with_(new_scheme("x-raven", "Letters by crow"))
    with pytest.raises(RegistryError, match="'x-a': 'first' and 'second'"):
        Registry.empty().with_(new_scheme("x-a", "first"), new_scheme("x-a", "second"))
    assert registry.scheme("x-raven") is RAVEN


def test_replacing_a_scheme() -> None:
    ours = new_scheme("ftp", "File transfer, ours")
    registry = Registry.default().with_(ours, replace=True)
    assert registry.scheme("FTP") is ours
    assert len(registry) == len(Registry.default())
    assert Registry.default().scheme("ftp").title != ours.title
    assert plan("ftp://h/p", registry=registry).locates_nothing == NAMES_ONLY
    assert registry.with_(new_scheme("ftp", "again"), replace=True).scheme("ftp").title == "again"
    with pytest.raises(RegistryError, match=r"two claims to the scheme 'ftp'.*File transfer, ours"):
        registry.with_(new_scheme("ftp"))


# -- names


@pytest.mark.parametrize("name", ["x-raven", "x-", "X-ANY.thing+1"])
def test_names_with_x_are_experimental(name: str) -> None:
    assert scheme(name).status == "experimental"
    assert not scheme(name).known
    assert new_scheme(name.lower()).status == "experimental"


def test_unknown_names_are_generic() -> None:
    generic = scheme("xmpp")
    assert (generic.name, generic.known, generic.locator, generic.documents) == ("xmpp", False, GenericLocator, {})
    assert (generic.title, generic.status) == ("Extensible Messaging and Presence Protocol", "Permanent")
    assert generic.registration is not None
    assert generic.registration.reference == "RFC5122"
    assert generic == scheme("XMPP")
    assert URI("XMPP:a@b?c#d").locator == GenericLocator(None, "a@b", scheme="xmpp", query="c", fragment="d")
    for name, status, reference in (
        ("acap", "Permanent", "RFC2244"),
        ("shttp", "Permanent", "RFC2660 status-change-http-experiments-to-historic"),
        ("fax", "Historical", "RFC2806 RFC3966"),
        ("finger", "Provisional", "Dave_Thaler"),
    ):
        row = scheme(name).registration
        assert row is not None
        assert (scheme(name).status, row.reference) == (status, reference)


def test_unregistered_names() -> None:
    found = scheme("no-such-thing")
    assert (found.known, found.title, found.status, found.registration) == (False, "not known", "not registered", None)
    assert scheme("rlogin").status == "not registered"
    for use in (lambda: found.grammar, lambda: found.check("no-such-thing:x")):
        with pytest.raises(RegistryError, match="'no-such-thing'"):
            use()
    assert not found.is_valid("no-such-thing:x")
    text = "no-such-thing://u@h:1/a%2Fb?c#d"
    assert str(URI(text).locator.uri()) == text
    with pytest.raises(NotSpecified, match="'no-such-thing'"):
        plan(text)


BAD = ["", "1a", "-a", "+", ".a", "a_b", "a b", "a:", "a/", "a%41", "ä", "http\n", "a\0"]


@pytest.mark.parametrize("name", BAD)
def test_invalid_names_are_rejected(name: str) -> None:
    with pytest.raises(RegistryError, match=re.escape(repr(name))):
        scheme(name)
    with pytest.raises(RegistryError, match=re.escape(repr(name))):
        new_scheme(name)


def test_letters_that_fold_to_ascii_are_invalid_in_a_scheme() -> None:
    """The Kelvin sign is a "k" in lower case."""
    with pytest.raises(RegistryError):
        scheme("s\u212aype")


@pytest.mark.parametrize("name", ["HTTP", "X-a", "fTp"])
def test_names_of_schemes_are_lowercased(name: str) -> None:
    with pytest.raises(RegistryError, match="lower case"):
        new_scheme(name)


@pytest.mark.parametrize(("name", "text"), [("rfc1738", "1a:b"), ("url-1997", "1a:b"), ("url-1997", "+a:b?c")])
def test_schemes_that_only_an_older_document_allows_are_read(name: str, text: str) -> None:
    """RFC 1738 5 and draft-fielding-url-syntax-05 4.1: a scheme may begin with a digit or a sign."""
    assert edition(name).is_valid(text)
    assert edition(name).locator(text).scheme == text.partition(":")[0]


# -- requirements on a scheme


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_registry_name_of_2003_has_no_port(name: str) -> None:
    """In the draft of 2003 an authority may be a name of any characters, such as "h:abcde"."""
    for port in ("abcde", "abcdefg", "0a%20b", "99999x", "-12345"):
        text = f"{name}://h:{port}/x"
        assert edition("uri-2003").is_valid(text)
        findings = Registry.default().check(text, "uri-2003")
        assert not [finding for finding in findings if finding.source == "RFC 6335 6"], text


def test_a_scheme_needs_a_retrieval_or_a_statement() -> None:
    with pytest.raises(RegistryError, match=r"'x-raven' must have exactly one of: a retrieval algorithm.*RFC 1738 4"):
        replace(RAVEN, locates_nothing="")


def test_a_scheme_cannot_have_both_retrieval_and_statement() -> None:
    with pytest.raises(RegistryError, match="exactly one of"):
        replace(RAVEN, access="ftp")


def test_only_the_fallback_scheme_is_unknown() -> None:
    """RFC 1738 4: a registered scheme has a retrieval algorithm; `known=False` is for the fallback only."""
    fallback = Scheme(name="x-raven", title="ours", documents={}, known=False)
    with pytest.raises(RegistryError, match="x-raven"):
        Registry.empty().with_(fallback)


def test_a_retrieval_may_be_a_function() -> None:
    def steps(locator: Locator, credentials: object) -> list[Content]:
        return [Content(source="ours", media_type="text/plain", data=str(locator.uri(registry=registry)).encode())]

    registry = Registry.empty().with_(replace(RAVEN, locates_nothing="", access=Access(steps)))
    (step,) = plan("x-raven:a", registry=registry)
    assert isinstance(step, Content)
    assert step.data == b"x-raven:a"


def test_every_file_of_schemes_serves_a_built_in_name() -> None:
    served = {importlib.import_module(claim.place.partition(":")[0]) for claim in map(_built_in, BUILT_IN)}
    files = {file.stem for file in (ROOT / "src/overthere/schemes/known").iterdir() if file.suffix != ".pyc"}
    assert {module.__name__.rpartition(".")[2] for module in served} == files - {"__init__", "__pycache__"}
    for name in BUILT_IN:
        assert scheme(name).name == name
        assert scheme(name).known


def test_schemes_are_values() -> None:
    assert scheme("ftp") is scheme("FTP")
    assert hash(new_scheme("x-a")) == hash(new_scheme("x-a", "another"))
    assert new_scheme("x-a") != new_scheme("x-a", "another")
    assert pickle.loads(pickle.dumps(RAVEN)) == RAVEN


# -- IANA's registry


def test_the_table_of_iana_is_complete() -> None:
    table = registrations()
    assert len(table) == 364
    with (ROOT / "src/overthere/schemes/iana.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    assert len(rows) == 364
    assert not [name for name, times in Counter(row[0] for row in rows).items() if times > 1]
    assert Counter(row.status for row in table.values()) == {"Provisional": 251, "Permanent": 97, "Historical": 16}
    for name, row in table.items():
        assert name == row.name == name.lower()
        assert edition().is_valid(name, "scheme")
        assert row.description
        assert row.reference
        assert scheme(name).registration == row
        assert scheme(name).status == row.status
        assert registration(name.upper()) == row


def test_the_readme_counts_the_schemes() -> None:
    (count,) = re.findall(r"(\d+) schemes in their own terms", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert int(count) == len(BUILT_IN)


def test_the_table_is_immutable() -> None:
    with pytest.raises(TypeError):
        registrations()["x"] = registrations()["ftp"]  # type: ignore[index]


@pytest.mark.skipif(not IANA.exists(), reason="../shared/iana is absent, and no package has the registry")
def test_the_table_agrees_with_the_printed_registry() -> None:
    """Every name with its status; the registry writes "shttp (OBSOLETE)"."""
    with IANA.open(encoding="utf-8", newline="") as lines:
        printed = {row["scheme"].removesuffix(" (OBSOLETE)"): row["status"] for row in csv.DictReader(lines)}
    assert {name: row.status for name, row in registrations().items()} == printed


WRONG: list[Any] = [None, b"a", 5, ("a", None)]


def test_wrong_types_are_reported() -> None:
    locator: Any = FTPLocator
    acts: list[Callable[[], object]] = [
        lambda: locator(host="h", directories=("a", None)).uri(),
        lambda: plan(locator(host=None)),
        lambda: replace(locator(host="h"), written=False).uri(),
        lambda: locator(host="h").uri(5),
        lambda: locator(host="h", name=b"x").uri(),
    ]
    for wrong in WRONG:
        acts += [
            partial(plan, wrong),
            partial(scheme, wrong),
            partial(Registry.default().with_, wrong),
            partial(edition().locator, wrong),
        ]
    credentials: Any = ("u", "p")
    reference: Any = IRI("ftp://h\u00e4/")
    acts += [lambda: plan("ftp://h/", credentials), lambda: plan(reference)]
    for act in acts:
        with pytest.raises(TypeError):
            act()


def test_passwords_of_unknown_schemes_are_masked() -> None:
    locator = URI("foo://u:s3cret@h/").locator
    assert "s3cret" not in f"{locator!r}{locator.to_dict()}{locator.written!r}"


def test_a_missing_retrieval_is_reported() -> None:
    with pytest.raises(RegistryError, match="not a package"):
        Scheme(name="x-a", title="A", documents={"rfc3986": "none"}, access="os:x")
    lost = Scheme(name="x-a", title="A", documents={"rfc3986": "none"}, access="no_such.module")
    with pytest.raises(RegistryError, match="no_such"):
        plan("x-a:b", registry=Registry.default().with_(lost))


def test_no_control_character_reaches_a_terminal() -> None:
    for text in ("http://a%1B%5B31mb/", "gopher://a%C2%85b/", "telnet://a%7Fb/"):
        with pytest.raises(PlanRefused, match="control"):
            plan(text)
    assert "\x1b" not in str(plan("data:text/plain;charset=%1B%5B31m,x"))


def test_a_plan_shows_every_gateway() -> None:
    gateways = {"x-a": "x-b:{uri}", "x-b": "http://gateway.example/{uri}"}
    result = plan("x-a:1", gateways=gateways)
    assert "x-b:x-a%3A1" in str(result)
    assert result.to_dict()["through"].startswith("http://gateway.example/")


# -- facts for the text search


def test_the_search_table_agrees_with_the_schemes() -> None:
    assert dict(built_in()) == {name: facts_of(scheme(name)) for name in BUILT_IN}


def test_added_and_replaced_schemes_have_their_own_facts() -> None:
    raven = replace(RAVEN, shape="nevermore", needs_host=True, linkable=True)
    registry = Registry.default().with_(raven, replace(scheme("tel"), shape="x"), replace=True)
    assert registry.in_text()["x-raven"] == facts_of(raven)
    assert registry.in_text()["tel"].shape == "x"


LOADED = """
import sys
import overthere
known = lambda: sorted(name for name in sys.modules if name.startswith("overthere.schemes.known."))
print(known())
from overthere.text import find
found = list(find("see http://h/a, tel:+1-201-555-0123 and geo:1,2", schemes=None))
print([one.uri for one in found])
print(known())
"""


def test_a_search_loads_no_scheme() -> None:
    """Neither the import nor the first search of a process imports the module of a scheme."""
    result = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == ["[]", "['http://h/a', 'tel:+1-201-555-0123', 'geo:1,2']", "[]"]


@pytest.mark.parametrize("name", ["git+ssh", "git+https", "svn+ssh", "git+git"])
def test_a_plus_in_a_name_has_no_meaning(name: str) -> None:
    """RFC 3986 3.1: a name with "+" is independent of its parts."""
    by = scheme(name)
    assert (by.known, by.port, by.locator, by.normal) == (False, None, GenericLocator, ())
    assert str(URI(f"{name}://h:22/a").normalize()) == f"{name}://h:22/a"
    assert scheme("coap+tcp").known
