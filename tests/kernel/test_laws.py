"""Laws that hold for every text: parsing, recomposition, normalization, resolution, relation, encoding."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from overthere import (
    IRI,
    URI,
    CodingError,
    InvalidURI,
    IRIReference,
    Rung,
    Unreachable,
    URIReference,
    decode_bytes,
    lowest_rung,
)
from overthere.grammar.library import grammar
from overthere.kernel import parse
from overthere.kernel.components import Component

law = settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))

COMPONENTS: tuple[Component, ...] = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
RUNGS = [Rung.STRING, Rung.CASE, Rung.PERCENT, Rung.PATH, Rung.SCHEME, Rung.PROTOCOL]
WORDS = ["http:", "ftp:", "mailto:", "x:", "A:", "//", "/", "/", "?", "#", ":", "@", "[::1]", "1.2.3.4", "h", "H"]
WORDS += [".", "..", "a", "B", "%41", "%2e", "%2F", "%7e", "%c3%bc", "%FF", ":80", ":080", "&=+", "[", "%", "|", " "]


def drawn(rule: str) -> list[str]:
    name = "rfc3987" if "IRI" in rule else "rfc3986"
    return list(grammar(name).automaton(rule).sample(400, seed=21, length=30))


@st.composite
def mutated(draw: st.DrawFn, rule: str) -> str:
    text = draw(st.sampled_from(drawn(rule)))
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.text(max_size=3)) + text[at + draw(st.integers(0, 2)) :]


texts = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=12).map("".join),
    st.sampled_from(drawn("URI-reference")),
    mutated("URI-reference"),
    st.text(max_size=12),
)
iri_texts = st.one_of(texts, st.sampled_from(drawn("IRI-reference")), mutated("IRI-reference"))
references = texts.filter(lambda t: parse(t, "URI-reference") is not None).map(URIReference)
uris = st.one_of(
    texts.filter(lambda t: parse(t, "URI") is not None),
    texts.map("http://h/a/b/".__add__).filter(lambda t: parse(t, "URI") is not None),
).map(URI)
iris = iri_texts.filter(lambda t: parse(t, "IRI-reference") is not None).map(IRIReference)
SPELLED_DOT = re.compile(r"%2e", re.IGNORECASE)


def has_dot_segments(path: str) -> bool:
    return any(s in (".", "..") for s in path.split("/"))


# -- the text and its components


@law
@given(iri_texts)
def test_the_text_of_a_value_is_unchanged(text: str) -> None:
    for kind in (URI, URIReference, IRI, IRIReference):
        if parse(text, kind.rule) is not None:
            assert str(kind(text)) == text
            continue
        with pytest.raises(InvalidURI) as caught:
            kind(text)
        assert caught.value.text == text
        assert 0 <= caught.value.start <= caught.value.end <= len(text)


@law
@given(iris)
def test_components_recompose(value: IRIReference) -> None:
    """RFC 3986 5.3 and 3.2; the spans are the places of the components."""
    text = "" if value.scheme is None else value.scheme + ":"
    if value.authority is not None:
        text += "//" + value.authority
        assert value.host is not None
        before = "" if value.userinfo is None else value.userinfo + "@"
        assert value.authority == before + value.host + ("" if value.port_text is None else ":" + value.port_text)
    else:
        assert (value.userinfo, value.host, value.port_text, value.port, value.host_kind) == (None,) * 5
    text += value.path
    text += "" if value.query is None else "?" + value.query
    text += "" if value.fragment is None else "#" + value.fragment
    assert text == str(value)
    for name in COMPONENTS:
        part = value.port_text if name == "port" else getattr(value, name)
        span = value.span(name)
        assert (None if span is None else str(value)[slice(*span)]) == part
    assert ("/" if value.path.startswith("/") else "") + "/".join(value.segments) == value.path


@law
@given(iri_texts, iri_texts)
def test_values_compare_as_their_texts(first: str, second: str) -> None:
    """RFC 3986 6.2.1: equality, hash and order; copies and pickles are equal."""
    values = [IRIReference(t) for t in (first, second) if parse(t, "IRI-reference") is not None]
    for a, b in product(values, repeat=2):
        assert (a == b) is (str(a) == str(b))
        assert (a < b, a <= b, a > b, a >= b) == (
            str(a) < str(b), str(a) <= str(b), str(a) > str(b), str(a) >= str(b),
        )  # fmt: skip
        assert a != b or hash(a) == hash(b)
    for a in values:
        assert a != str(a)
        for other in (copy.copy(a), copy.deepcopy(a), *(pickle.loads(pickle.dumps(a, p)) for p in range(6))):
            assert other == a
            assert type(other) is type(a)
            assert [getattr(other, c) for c in COMPONENTS] == [getattr(a, c) for c in COMPONENTS]


# -- the ladder


@law
@given(references)
@example(URIReference("/..//a"))
@example(URIReference("x:a/..//b"))
@example(URIReference("//%41@%48%2e/..//a"))
@example(URIReference("mailto:a%40B@%43.D,b@E?to=F@G"))
def test_normalization_is_idempotent_and_includes_lower_rungs(value: URIReference) -> None:
    """RFC 3986 6.2; components are added or removed at SCHEME only."""
    for rung in RUNGS:
        normal = value.normalize(rung)
        assert normal.normalize(rung) == normal
        for below in RUNGS[: rung + 1]:
            assert normal.normalize(below) == normal, (rung, below)
            assert value.normalize(below).normalize(rung) == normal, (rung, below)
            assert value.equivalent(normal, rung)
        if rung < Rung.SCHEME:
            assert [getattr(normal, c) is None for c in COMPONENTS] == [getattr(value, c) is None for c in COMPONENTS]
        low = lowest_rung(value, normal)
        assert low is not None
        assert low <= rung
        assert [c.rung for c in value.changes(rung)] == sorted(c.rung for c in value.changes(rung))
        assert (value.changes(rung) == []) is (normal == value)
    assert value.normalize(Rung.STRING) == value


@law
@given(references)
def test_normalization_preserves_the_meaning(value: URIReference) -> None:
    """Below PATH the bytes stay, except letter case of scheme and host (6.2.2.1, 6.2.2.2); fragments at every rung."""
    normal = value.normalize(Rung.PERCENT)
    for name in COMPONENTS:
        before, after = value.decoded_bytes(name), normal.decoded_bytes(name)
        if name in ("scheme", "host", "authority"):
            before, after = before and before.lower(), after and after.lower()
        assert before == after
    assert value.normalize(Rung.SCHEME).decoded_bytes("fragment") == value.decoded_bytes("fragment")


@law
@given(references, references)
def test_equivalence(a: URIReference, b: URIReference) -> None:
    """6.1: equivalence at a rung is equality of normal forms there; lowest_rung is the first such rung."""
    low = lowest_rung(a, b)
    equal = [rung for rung in RUNGS if a.normalize(rung) == b.normalize(rung)]
    assert low == (equal[0] if equal else None)
    for rung in RUNGS:
        assert a.equivalent(b, rung) is b.equivalent(a, rung) is (rung in equal)


# -- resolution


@law
@given(uris, references)
def test_join_takes_components_as_specified(base: URI, reference: URIReference) -> None:
    """5.2: the source of each component of a target."""
    target = base.join(reference)
    assert reference.resolve(base) == target == base.join(str(reference))
    assert target.fragment == reference.fragment
    assert target.scheme == (reference.scheme or base.scheme)
    if reference.scheme is not None or reference.authority is not None:
        assert (target.authority, target.query) == (reference.authority, reference.query)
    else:
        assert target.authority == base.authority
    if reference.scheme or reference.authority is not None or reference.path:
        # 5.2.4 leaves no dot-segments, except one that keeps "//" from being parsed as an authority (decision 3986-1).
        guarded = target.authority is None and target.path.startswith("/.//")
        assert not has_dot_segments(target.path[2:] if guarded else target.path)
    else:
        assert target.path == base.path
    assert base.replace(fragment=None).join(reference) == target
    assert base.replace(fragment="x").join(reference) == target


@law
@given(uris, references)
@example(URI("http://a/b/c/../d"), URIReference("../e"))
@example(URI("x:a/..//b"), URIReference("../c"))
@example(URI("x:./a:b"), URIReference("c"))
def test_join_of_normal_forms(base: URI, reference: URIReference) -> None:
    """6.2.2.3 with 5.2: normalising before resolution or after it comes to the same, at every rung,

    provided that no dot is spelled %2E (5.2.4 sees a segment only by its characters), and, where the base is
    normalised first, that the base's path does not end in ".." (5.2.3 leaves out the last segment unread, so
    the base a/b/.. is the directory a/b/ to resolution and a/ to normalisation).
    """
    assume(not SPELLED_DOT.search(f"{base}{reference}"))
    target = base.join(reference)
    for rung in RUNGS:
        assert base.join(reference.normalize(rung)).normalize(rung) == target.normalize(rung), rung
        if base.path.rpartition("/")[2] != "..":
            assert base.normalize(rung).join(reference).normalize(rung) == target.normalize(rung), rung


def test_join_of_normal_forms_needs_its_conditions() -> None:
    for base, reference in (("x://h/a/b/..", "c"), ("x://h/a/%2e%2e/b", "../c")):
        plain, normal = URI(base).join(reference), URI(base).normalize().join(reference)
        assert plain.normalize() != normal.normalize()


@law
@given(uris)
def test_join_with_the_empty_reference(base: URI) -> None:
    """4.4, 5.2.2: it is the base without its fragment."""
    assert base.join("") == base.replace(fragment=None)
    assert URIReference("").same_document(base)
    assert URIReference("#x").same_document(base)


@law
@given(uris, st.one_of(uris, references))
def test_relate_is_reversed_by_join(base: URI, reference: URIReference) -> None:
    """It is never longer than the target, and fails for dot-segments only (5.2.4)."""
    joined = base.join(reference)
    assert base.join(base.relate(joined)) == joined
    if reference.scheme is not None:
        target = URI(reference)
        try:
            relation = base.relate(target)
        except Unreachable:
            assert has_dot_segments(target.path)
        else:
            assert base.join(relation) == target
            assert len(str(relation)) <= len(str(target))


def short_references(longest: int) -> Iterator[str]:
    for n in range(longest + 1):
        for letters in product("a/.?#:", repeat=n):
            if parse(text := "".join(letters), "URI-reference") is not None:
                yield text


SHORT = list(short_references(5))


@pytest.mark.parametrize(
    "base",
    ["a://a/a/a/a?a", "a://a", "a://a?a#a", "a://a/?a", "a:a/a", "a:/a/a", "a:", "a:a", "a:?a", "a:a:a", "a:/.//a/a",
     "a://a/a/../a", "a:a/../a/a", "a:///a//a", "a://a//", "a://a/a:a/", "a:a/..", "a://a/a/..", "a:../a", "b://a/a/a"],
)  # fmt: skip
def test_relate_is_shortest(base: str) -> None:
    """No reference of at most five characters of a small alphabet is shorter."""
    uri = URI(base)
    shortest: dict[URI, str] = {}
    for text in SHORT:
        shortest.setdefault(uri.join(text), text)
    longer = {}
    for target, text in shortest.items():
        relation = str(uri.relate(target))
        assert uri.join(relation) == target
        if len(relation) > len(text):
            longer[str(target)] = (relation, text)
    assert longer == {}


# -- making values


PARTS = [*"h8p?#%/:@ü|", "", "a:b", "/p", "//p", "..", "a@b", "[::1]", "[::1]:8", "%41", "a/b", "u:p"]
parts = st.one_of(st.none(), st.sampled_from(PARTS), st.text(max_size=3))


@law
@given(references, st.dictionaries(st.sampled_from([c for c in COMPONENTS if c != "authority"]), parts, max_size=4))
@example(URIReference("http://h/"), {"port": "8@evil"})
@example(URIReference("http://h/"), {"host": "[::1]:8"})
def test_replace_sets_the_given_components(value: URIReference, new: dict[Component, str | None]) -> None:
    """DESIGN 3: a result that would parse to other components is rejected."""
    if new.get("path", "") is None:
        return
    components = {c: value.port_text if c == "port" else getattr(value, c) for c in COMPONENTS if c != "authority"}
    try:
        changed = value.replace(**new)  # type: ignore[arg-type]
    except InvalidURI:
        return
    results = {c: changed.port_text if c == "port" else getattr(changed, c) for c in COMPONENTS if c != "authority"}
    assert results == components | new


@law
@given(st.dictionaries(st.sampled_from(COMPONENTS), parts.filter(lambda p: p is not None), max_size=5))
def test_build_sets_the_given_components(new: dict[Component, str]) -> None:
    if "authority" in new and new.keys() & {"userinfo", "host", "port"}:
        with pytest.raises(TypeError):
            URIReference.build(**new)  # type: ignore[arg-type]
        return
    try:
        built = URIReference.build(**new)  # type: ignore[arg-type]
    except InvalidURI:
        return
    names = [c for c in COMPONENTS if c != "path" and (c != "authority" or "authority" in new)]
    if "authority" in new:
        names = [c for c in names if c not in ("userinfo", "host", "port")]
    results: dict[str, str | None] = {c: built.port_text if c == "port" else getattr(built, c) for c in names}
    results["path"] = built.path
    expected: dict[str, str | None] = dict.fromkeys(names)
    expected["path"] = ""
    assert results == expected | {str(c): part for c, part in new.items()}


@law
@given(st.lists(st.one_of(st.text(max_size=4), st.binary(max_size=4)), max_size=4), st.sampled_from(["h", None]))
def test_build_sets_the_given_segments(segments: list[str | bytes], host: str | None) -> None:
    try:
        built = URI.build(scheme="x", host=host, segments=segments)
    except (InvalidURI, CodingError) as error:
        kind = getattr(error, "kind", "surrogate")
        dots = bool({".", "..", b".", b".."} & {*segments})
        empty = segments[:1] in ([""], [b""])
        surrogate = any(isinstance(s, str) and not s.isprintable() for s in segments)
        assert (kind, True) in {("segment-dots", dots), ("segment-empty", empty), ("surrogate", surrogate)}
        return
    assert [decode_bytes(s) for s in built.segments] == [s if isinstance(s, bytes) else s.encode() for s in segments]


# -- IRIs


@law
@given(iris)
def test_iri_to_uri_and_back(iri: IRIReference) -> None:
    """RFC 3987 3.1, 3.2: the mapping preserves the bytes; mapping back gives an equivalent URI."""
    uri = iri.to_uri()
    assert [uri.decoded_bytes(c) for c in COMPONENTS] == [iri.decoded_bytes(c) for c in COMPONENTS]
    back = uri.to_iri()
    assert back.to_uri().equivalent(uri, Rung.PERCENT)
    assert back.to_uri().to_iri() == back
