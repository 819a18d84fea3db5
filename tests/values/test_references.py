"""References of a given form (RFC 3986 4.2, 4.4), and references joined without a base."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from overthere import IRI, URI, IRIReference, Unreachable, URIReference
from overthere.cli.app import app
from overthere.kernel import parse
from overthere.kernel.components import Form
from overthere.values.relate import FORMS
from support import linear

law = settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def short(longest: int) -> Iterator[URIReference]:
    for n in range(longest + 1):
        for letters in product("a/.?#:", repeat=n):
            if (reference := URIReference.parse("".join(letters))) is not None:
                yield reference


BASES = ["a://a/a/a/a?a", "a://a", "a://a?a#a", "a:a/a", "a:a/a/a", "a:/a/a", "a:", "a:a", "a:?a", "a:/.//a/a",
         "a://a/a/../a", "a:a/../a/a", "a:///a//a", "a://a//", "a://a/a:a/", "a:a/..", "a:../a",
         "b://a/a/a"]  # fmt: skip
PIECES = [".", "..", "a", "b", "/", "/", "//", "?", "?q", "#", "#f", ":", "%41", "x:", "//h", "..", "../"]
references = st.lists(st.sampled_from(PIECES), max_size=9).map("".join).map(URIReference.parse).filter(bool)
HIERARCHIES = ["s://h", "s://h?q", "s://h/", "s://h/a/b/c?q", "s:/a/b", "s:/", "s:a/b", "s:a/b/c?q", "s:a/../b",
               "s:/.//a",
               "s:./a/b", "s://h/a/../b/./c", "s:///a//b//"]  # fmt: skip


# -- relate


@pytest.mark.parametrize("base", BASES)
def test_relate_gives_the_shortest_reference_of_a_form(base: str) -> None:
    """Compared with all references of at most five characters."""
    uri = URI(base)
    shortest: dict[tuple[URI, Form], str] = {}
    for reference in short(5):
        shortest.setdefault((uri.join(reference), reference.form), str(reference))
    longer = {}
    for (target, form), text in shortest.items():
        relation = uri.relate(target, form=form)
        assert uri.join(relation) == target
        assert relation.form == form
        if len(str(relation)) > len(text):
            longer[str(target), form] = str(relation), text
    assert longer == {}


@law
@given(st.sampled_from([*BASES, *HIERARCHIES]), references, references)
@example("a:b/c", URIReference("a:/d"), URIReference(""))
def test_a_form_resolves_to_the_target_or_is_rejected(base: str, first: URIReference, second: URIReference) -> None:
    expected = URI(base).join(first)
    target = expected.join(second)
    relations = {form: relation for form in FORMS if (relation := related(expected, target, form)) is not None}
    assert second.form in relations
    for form, relation in relations.items():
        assert expected.join(relation) == target
        assert relation.form == form
    assert len(str(expected.relate(target))) == min(len(str(relation)) for relation in relations.values())


def related(base: URI, target: URI, form: str) -> URIReference | None:
    try:
        return base.relate(target, form=form)  # type: ignore[arg-type]
    except Unreachable:
        return None


@pytest.mark.parametrize(
    ("base", "target", "form", "reason"),
    [
        ("http://h/a", "https://h/a", "network-path", "keeps the scheme of the base"),
        ("x:a", "x:b", "network-path", "names an authority, and the target has none"),
        ("http://h/a", "http://g/a", "absolute-path", "keeps the authority of the base"),
        ("http://h/a", "http://g/a", "relative-path", "keeps the authority of the base"),
        ("http://h/a", "http://h", "absolute-path", 'gives a path that begins with "/"'),
        ("http://h/a", "http://h", "relative-path", "no relative path leads"),
        ("x:b/c", "x:d", "relative-path", "no relative path leads"),
        ("http://h/a?q", "http://h/a", "same-document", "keeps the path and the query"),
        ("http://h/a", "http://h/../a", "uri", "dot-segments"),
        ("http://h/a", "http://h/b/./a", "relative-path", "dot-segments"),
    ],
)
def test_errors_have_a_reason(base: str, target: str, form: Form, reason: str) -> None:
    with pytest.raises(Unreachable, match=reason):
        URI(base).relate(target, form=form)


def test_forms_of_iris_and_invalid_forms() -> None:
    base = IRI("http://h/é/a")
    assert str(base.relate("http://h/é/ü", form="absolute-path")) == "/é/ü"
    assert isinstance(base.relate("http://h/é/ü", form="network-path"), IRIReference)
    for wrong in ("shortest", ""):
        with pytest.raises(ValueError, match="the form must be one of uri, network-path"):
            URI("a:b").relate("a:c", form=wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        URI("a:b").relate("a:c", form=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "code", "out", "message"),
    [
        ("absolute-path", 0, "/x?y\n", ""),
        ("relative-path", 0, "../x?y\n", ""),
        ("uri", 0, "http://a/x?y\n", ""),
        ("same-document", 1, "\n", "a same-document reference keeps the path and the query"),
        ("shortest", 2, "", "is not one of"),
    ],
)
def test_the_command_relate(form: str, code: int, out: str, message: str) -> None:
    result = CliRunner().invoke(app, ["relate", "--base", "http://a/b/c", "--form", form, "http://a/x?y"])
    assert (result.exit_code, result.stdout) == (code, out)
    assert message in result.stderr


# -- join


@law
@given(st.sampled_from(HIERARCHIES), references, references)
@example("s:a/b", URIReference("a/.."), URIReference("b"))
@example("s://h/", URIReference("a"), URIReference("..//b"))
@example("s:/a/b", URIReference("a/b"), URIReference("../.././/b"))
@example("s:/a/b", URIReference("."), URIReference("./a:b"))
def test_join_is_associative_with_resolution(base: str, first: URIReference, second: URIReference) -> None:
    assume(first.scheme is None)
    joined = first.join(second)
    assert joined.resolve(base) == second.resolve(first.resolve(base))
    assert type(joined) is URIReference
    with_iris = IRIReference(str(first)).join(str(second))
    assert (str(with_iris), type(with_iris)) == (str(joined), IRIReference)


@pytest.mark.parametrize("base", HIERARCHIES)
def test_join_over_all_short_references(base: str) -> None:
    relative = [text for text in short(3) if text.scheme is None]
    bad = [
        (str(text), str(two))
        for text in relative
        for two in relative
        if text.join(two).resolve(base) != two.resolve(text.resolve(base))
    ]
    assert bad == []


@law
@given(references, references, references)
def test_join_is_associative(first: URIReference, second: URIReference, third: URIReference) -> None:
    assume(first.scheme is None and second.scheme is None)
    assert first.join(second).join(third).resolve("s://h/a/b") == first.join(second.join(third)).resolve("s://h/a/b")


@law
@given(references, references)
def test_dots_of_a_joined_path_are_needed(first: URIReference, second: URIReference) -> None:
    """A joined relative path has ".." only at its start, and "." only if it keeps the meaning."""
    assume(first.scheme is None and second.form == "relative-path" and second.path)
    segments = first.join(second).path.removeprefix("/").split("/")
    while segments[:1] == [".."]:
        segments = segments[1:]
    assert ".." not in segments
    assert "." not in segments[1:]


@pytest.mark.parametrize(
    ("text", "two", "is_"),
    [
        ("../img/logo.png", "../style.css", "../style.css"),
        ("a/b/c", "../d", "a/d"),
        ("a", "../../b", "../../b"),
        ("..", "..", "../../"),
        ("..", "g", "../g"),
        ("a/..", "", "a/.."),
        ("a/b", "..", "."),
        ("a/b?x#y", "", "a/b?x"),
        ("a/b?x#y", "?z", "a/b?z"),
        ("", "", ""),
        ("?x", "#f", "?x#f"),
        ("//h", "g", "//h/g"),
        ("//h/a/..", "g", "//h/g"),
        ("/a/b", "../../../c", "/c"),
        ("a/b", "//h/./c", "//h/c"),
        ("a/b", "s:/x/../c", "s:/c"),
        ("a/b", "..//c", ".//c"),
        ("/a/b", "..//c", "/.//c"),
        ("a", "./b:c", "./b:c"),
        ("x:/a/b", "../c", "x:/c"),
    ],
)
def test_joined_references(text: str, two: str, is_: str) -> None:
    assert str(URIReference(text).join(two)) == is_


def test_a_scheme_that_may_be_ignored_cannot_be_joined() -> None:
    with pytest.raises(Unreachable, match="depends on the base's scheme"):
        URIReference("a/b").join("http:g", strict=False)
    assert str(URIReference("http://h/a").join("http:g", strict=False)) == "http://h/g"
    assert str(URIReference("a/b").join("http:g")) == "http:g"


def test_an_opaque_base_breaks_associativity() -> None:
    """The only exception, as the docstring says: 5.2.4 makes the path absolute."""
    first, two = URIReference("a/b"), URIReference("../c")
    assert (str(two.resolve(first.resolve("urn:x"))), str(first.join(two).resolve("urn:x"))) == ("urn:/c", "urn:c")


def test_joined_references_keep_zone_identifiers() -> None:
    zoned = URIReference("//[fe80::1%25en0]/a", zone=True)
    assert zoned.join("b").zone == "en0"
    assert parse(str(zoned.join("b")), zone=True) is not None


@pytest.mark.parametrize("unit", ["../", "./", "a/", "a/../", "/", "a/b/../"])
def test_joining_is_linear(unit: str) -> None:
    def join(size: int) -> None:
        text = f"a{unit * (size // len(unit))}"
        URIReference(text).join(text).join("../x")

    linear(join, 400_000)


def test_a_first_reference_with_a_scheme_breaks_associativity() -> None:
    """It is a base of 5.2, which drops a last ".." without normalizing (5.2.3)."""
    first, two = URIReference("x:/c;d/.."), URIReference("a")
    assert str(first.join(two)) == "x:/c;d/a" == str(URI("x:/c;d/..").join("a"))
    assert str(two.resolve(first.resolve("http://h/"))) == "x:/a"
