"""URI Templates (RFC 6570): the grammar, the printed examples, partial expansion, and matching."""

from __future__ import annotations

import copy
import json
import pickle
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from click.testing import CliRunner

from overthere import URI, CodingError, InvalidTemplate, Template
from overthere.cli.app import app
from overthere.grammar.library import grammar
from overthere.values.template.expand import expand, form_value
from overthere.values.template.match import unescape_tokens
from support import NO_SUITE, cases, ids, linear, suite
from test_automata import printed_rules

ROWS = cases("template")
VARIABLES: dict[str, Any] = {
    "count": ["one", "two", "three"], "dom": ["example", "com"], "dub": "me/too", "hello": "Hello World!",
    "half": "50%", "var": "value", "who": "fred", "base": "http://example.com/home/", "path": "/foo/bar",
    "list": ["red", "green", "blue"], "keys": {"semi": ";", "dot": ".", "comma": ","}, "v": "6", "x": "1024",
    "y": "768", "empty": "", "empty_keys": {}, "undef": None,
}  # fmt: skip
"""The definitions of RFC 6570 3.2."""
AUTOMATON = grammar("rfc6570").automaton("URI-Template")


def read(text: str) -> bool:
    """Whether the parser accepts it; it rejects reserved operators after the grammar does."""
    try:
        Template(text)
    except InvalidTemplate as error:
        return error.kind == "template-operator"
    return True


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_printed_examples(row: dict[str, Any]) -> None:
    template = Template(row["template"])
    assert template.expand(VARIABLES) in row["is"]
    assert (
        template.expand(**{n: list(v.items()) if isinstance(v, dict) else v for n, v in VARIABLES.items()})
        in (row["is"])
    )
    assert str(template.partial(VARIABLES, bar=None)) in row["is"]


def test_the_parser_agrees_with_the_grammar() -> None:
    """On the W-method cover, and on samples with a character removed, inserted or replaced."""
    chance, wrong = random.Random(6570), list[str]()
    count = 0
    for data in AUTOMATON.cover():
        try:
            text = data.decode() if isinstance(data, bytes) else data
        except UnicodeDecodeError:
            continue  # no text
        count += 1
        if read(text) != AUTOMATON.accepts(text):
            wrong.append(text)
    marks = "{}{}+#./;?&=,!@|:*%09azAF_'\" \\^`<>\x7f\u00a0\ud7ff\ue000\ufdd0\U0001fffe\U000e0fff\U000e1000\U0010fffd"
    for text in AUTOMATON.sample(2000, 1, length=20):
        at = chance.randrange(len(text) + 1)
        for other in (text, text[:at] + chance.choice(marks) + text[at + chance.randrange(2) :]):
            count += 1
            if read(other) != AUTOMATON.accepts(other):
                wrong.append(other)
    assert not wrong
    assert count > 4000


def test_the_grammar_is_as_printed() -> None:
    """Section 2, with erratum 6937 for `literals`."""
    rules = dict[str, str]()
    for start, end in (("1.5.  Notational Conventions", "1.6."), ("2.  Syntax", "3.  Expansion")):
        rules |= {
            n: t
            for n, t in printed_rules("rfc6570", start, end, indent=5).items()
            if n not in ("ALPHA", "DIGIT", "HEXDIG")
        }
    actual = {rule.name: rule.text for rule in grammar("rfc6570").rules.values()}
    assert set(actual) == set(rules)
    # In the print, examples follow rules.
    assert {n for n in rules if not f"{rules[n]} ".startswith(f"{actual[n]} ")} == {"literals"}
    assert actual["literals"].replace("%x26-3B", "%x26 / %x28-3B") == rules["literals"]


@pytest.mark.parametrize(
    ("text", "kind", "start"),
    [
        ("{", "template-open", 0), ("/{x", "template-open", 1), ("}", "template-literal", 0),
        ("a b", "template-literal", 1), ("%zz", "template-literal", 1), ("{}", "template-expression", 1),
        ("{x y}", "template-expression", 2), ("{x**}", "template-expression", 3), ("{x:0}", "template-expression", 3),
        ("{x:10000}", "template-expression", 7), ("{x.}", "template-expression", 3), ("{.}", "template-expression", 2),
        ("{{x}}", "template-expression", 1), ("{$x}", "template-expression", 1), ("{|x}", "template-operator", 1),
        ("{=x}", "template-operator", 1), ("{x,}", "template-expression", 3), ("é\ud800", "template-literal", 1),
        ("{/id*", "template-open", 0), ("/id*}", "template-literal", 4), ("{!hello}", "template-operator", 1),
        ("{~thing}", "template-expression", 1), ("{default-graph-uri}", "template-expression", 8),
        ("{?empty=default,var}", "template-expression", 7), ("{-join|&|var,list}", "template-expression", 1),
    ],
)  # fmt: skip
def test_errors_have_offsets(text: str, kind: str, start: int) -> None:
    """RFC 6570 3: "the location and type of error SHOULD be indicated"."""
    with pytest.raises(InvalidTemplate) as caught:
        Template(text)
    assert (caught.value.kind, caught.value.start) == (kind, start)
    assert caught.value.source.startswith("RFC 6570 2")


def test_types_of_values() -> None:
    """Text, bytes, numbers, bools, values of the package; lists, pairs, mappings."""
    t = Template("{x}")
    plain: list[Any] = ["é", b"\xff/", 3, -1.5, 1e22, True, False, None, [], {}, URI("a:b")]
    assert [t.expand(x=value) for value in plain] == [
        "%C3%A9", "%FF%2F", "3", "-1.5", "1e%2B22", "true", "false", "", "", "", "a%3Ab",
    ]  # fmt: skip
    assert Template("{+x}{#x}").expand(x="%41%zz/é") == "%41%25zz/%C3%A9#%41%25zz/%C3%A9"
    assert Template("{+x}").expand(x=b"%41%\xff") == "%41%25%FF"
    assert Template("{?x*}").expand(x=[("a", 1), ("b", None), ("c", "")]) == "?a=1&c="
    assert Template("{?x*}").expand(x=("a", "b")) == Template("{?x*}").expand(x=(c for c in "ab")) == "?x=a&x=b"
    assert Template("{x,x}").expand(x=(c for c in "ab")) == "a,b,a,b"
    assert Template("ü{x}").expand({"x": 1}, x=2) == "%C3%BC2"
    assert Template("{+x:2}{x:1}").expand(x="%C3%A9%41b") == "%C3%A9%41%25"
    for bad in (object(), bytearray(b"ab"), memoryview(b"ab"), {1, 2}, [["a"]], {"a": ["b"]}, [("a", "b"), "c"]):
        with pytest.raises(TypeError):
            t.expand(x=bad)
    for broken in (float("nan"), float("inf"), "\ud800"):
        with pytest.raises(CodingError):
            t.expand(x=broken)
    for variables in (["a"], {"a": "b"}, b"a"):
        with pytest.raises(InvalidTemplate) as caught:
            Template("/{y}{x:3}").expand(x=variables)
        assert (caught.value.kind, caught.value.start, caught.value.end) == ("template-prefix", 5, 8)


def test_strict_reports_missing_and_unused_names() -> None:
    template = Template("/{account_number}{?q,page}")
    for variables, kind, place, named in (
        ({"q": 1, "page": 2}, "template-undefined", (2, 16), ['"account_number"']),
        ({"account_number": 1}, "template-undefined", (19, 20), ['"q"', '"page"']),
        ({"account_number": 1, "q": 2, "page": 3, "pge": 4}, "template-unused", (26, 26), ['"pge"']),
        ({**dict.fromkeys(template.names), **dict.fromkeys("abcdefg")}, "template-unused", (26, 26), ['"a"', "2 more"]),
    ):
        with pytest.raises(InvalidTemplate) as caught:
            template.expand(variables, strict=True)
        assert (caught.value.kind, (caught.value.start, caught.value.end)) == (kind, place)
        assert all(item in str(caught.value) for item in named)
        assert template.expand(variables).startswith("/")
    assert template.expand(account_number=7, q=None, page=2, strict=True) == "/7?page=2"
    assert template.partial(q=1, page=None).expand({"account_number": 7}, strict=True) == "/7?q=1"
    with pytest.raises(InvalidTemplate, match='no variable "q"'):  # no longer a variable
        template.partial(account_number=7, q=1, page=2).expand(q=1, strict=True)
    assert Template("{strict}").expand({"strict": "x"}, strict=True) == "x"
    with pytest.raises(TypeError, match="mapping"):
        Template("{strict}").expand(strict="x")


def test_templates_behave_like_values() -> None:
    t = Template("/{+x:3}{?q*,y.z%20}")
    assert copy.deepcopy(t) == pickle.loads(pickle.dumps(t)) == t == Template(str(t)) != Template("/")
    assert hash(t) == hash(Template(str(t)))
    assert t.names == ("x", "q", "y.z%20")
    assert [tuple(v) for v in t.variables] == [
        ("x", "+", 3, False, 3, 6), ("q", "?", None, True, 9, 11), ("y.z%20", "?", None, False, 12, 18)
    ]  # fmt: skip
    with pytest.raises(AttributeError):
        t.x = 1
    with pytest.raises(TypeError):
        Template(b"x")  # type: ignore[arg-type]
    partial = Template("{?x,y}").partial(y=2)
    assert (partial.held, partial.names) == (("y",), ("x",))
    assert partial != Template("{?x,y}")
    assert pickle.loads(pickle.dumps(partial)).expand(x=1) == "?x=1&y=2"


def _assignments(names: str, chance: random.Random) -> dict[str, Any]:
    values: list[Any] = [None, "", "a", "b/c", ["a", ""], [("a", ""), ("k", "v")], 7, "é%"]
    return {name: chance.choice(values) for name in names if chance.random() < 0.6}


def test_partial_expansion_in_two_steps_equals_one() -> None:
    chance = random.Random(1)
    for _ in range(4000):
        operator = chance.choice(["", *"+#./;?&"])
        variables = ",".join(name + chance.choice(["", "*"]) for name in chance.sample("xyz", chance.randint(1, 3)))
        t = Template(f"/p{{{operator}{variables}}}q{{&z}}")
        first, second = _assignments("xyz", chance), _assignments("xyz", chance)
        partial = t.partial(first)
        assert partial.expand(second) == t.expand({**second, **first}), (str(t), first, second)
        assert partial.partial(second).expand() == t.expand({**second, **first})


@pytest.mark.parametrize(
    ("template", "uri", "expected"),
    [
        ("/{x}/{y}", "/a/b%2F", {"x": "a", "y": "b/"}), ("{x}.json", "a.json", {"x": "a"}),
        ("{+path}/here", "/foo/bar/here", {"path": "/foo/bar"}), ("{;x,y}", ";x=1;y", {"x": "1", "y": ""}),
        ("{;k*}", ";a=1;b", {"k": [("a", "1"), ("b", "")]}), ("/{x,y}", "/,b", {"x": "", "y": "b"}),
        ("{?x,y}", "?y=2", {"y": "2"}), ("{?x,y}", "?y=2&x=1", None), ("{/x,y}/z", "/a/b/z", {"x": "a", "y": "b"}),
        ("{/x}/here", "/here", {}), ("{/x}/here", "/here/here", {"x": "here"}), ("{/x*}", "/a/b", {"x": ["a", "b"]}),
        ("{?q*}", "?q=1&q=2", {"q": ["1", "2"]}), ("/{x:3}/{x}", "/abc/abcd", {"x": "abcd"}),
        ("/{x:3}/{x}", "/abd/abcd", None), ("{x:3}", "abcd", None), ("{x}", "%FF", {"x": b"\xff"}), ("{x}", "", {}),
        ("ü{x}", "%c3%bc%41", {"x": "A"}), ("{x*}", ",a", {"x": ["", "a"]}), ("{#x}", "#", {"x": ""}), ("{#x}", "", {}),
        ("http://h/{+path}{?q*}", "http://h/a?b=/", None),
        ("{+p}{?q*}{#f}", "/?a=b#?", {"p": "/", "q": [("a", "b")], "f": "?"}),
        ("{x}", "a b", None), ("{x}", "%zz", None), ("{list}", "a,b", None),
        ("here?ref={+x}", "here?ref=?", {"x": "?"}),
    ],
)  # fmt: skip
def test_match(template: str, uri: str, expected: dict[str, Any] | None) -> None:
    assert Template(template).match(uri) == expected


@pytest.mark.parametrize(
    ("template", "uri", "start"),
    [
        ("{x}{y}", "ab", 1), ("/{x,y}", "/a", 2), ("{/x,y}", "/", 2), ("{?x,rest*}", "?x=1", 2), ("{.x*}", ".a.b", 2),
        ("/{u}/{f}.{e}", "/j/a.b.c", 10), ("{+x,y}", "a,b", 2), ("{x}{x}", "aa", 1), ("{x}-{y}", "a-b-c", 5),
    ],
)  # fmt: skip
def test_ambiguous_matches_are_rejected(template: str, uri: str, start: int) -> None:
    with pytest.raises(InvalidTemplate) as caught:
        Template(template).match(uri)
    assert (caught.value.kind, caught.value.start) == ("template-ambiguous", start)


def _texts(alphabet: str, longest: int) -> Iterator[str]:
    layer = [""]
    for _ in range(longest + 1):
        yield from layer
        layer = [text + c for text in layer for c in alphabet]


@pytest.mark.parametrize(
    "template",
    ["{x,y}", "{x*}", "{/x,y}a", "{;a*}", "{;a,b}", "{?a}{&b}", "{.x}{.y}", "{x}{.y*}", "{/x*}/a", "{x}a{y}"],
)
def test_match_agrees_with_every_assignment(template: str) -> None:
    """For each short text, none, one or several assignments of the stated types expand to it; `match` agrees."""
    t = Template(template)
    [a, b, *_] = [*t.variables, *t.variables]
    atoms = list(_texts("a.", 3))

    def values(explode: bool, operator: str) -> list[Any]:
        if not explode:
            return [None, *atoms]
        if operator == ";":
            pairs = [(n, v) for n in ("", "a", ".") for v in ("", "a")]
            return [None, *([p] for p in pairs), *([p, q] for p in pairs for q in pairs)]
        short = list(_texts("a.", 1))
        return [None, *([p] for p in atoms), *([p, q] for p in short for q in short)]

    several: dict[str, set[str]] = {}
    is_single = len({v.name for v in t.variables}) == 1
    for x in values(a.explode, a.operator):
        for y in [None] if is_single else values(b.explode, b.operator):
            variables = {a.name: x} if is_single else {a.name: x, b.name: y}
            text = t.expand(variables)
            if len(text) <= (6 if a.operator in ("?", ";") and not a.explode else 3):
                values_set = {n: v for n, v in variables.items() if v is not None}
                several.setdefault(text, set()).add(json.dumps(values_set))
    assert len(several) > 1
    for text, found in several.items():
        # Equal texts cannot be distinguished: an empty value without a trace is undefined; so is a list of it.
        found = {f for f in found if len(found) == 1 or not _traceless(t, json.loads(f))}
        try:
            answer = t.match(text)
        except InvalidTemplate:
            assert len(found) > 1, (text, found)
        else:
            assert answer is not None, (text, found)
            assert t.expand(answer) == text
            assert len(found) <= 1, (text, found, answer)


def _traceless(t: Template, values: dict[str, Any]) -> bool:
    """Whether an empty value is alone in an expression that writes nothing before it."""
    for part in t._parts:
        if not isinstance(part, str) and part.operator == "":
            expanded = {v.name: form_value(v.name, values.get(v.name)) for v in part.variables}
            if any(value is not None for value in expanded.values()) and expand(part, expanded) == "":
                return True
    return False


def test_match_reverses_expansion() -> None:
    chance, kinds = random.Random(2), set[str]()
    for _ in range(3000):
        operator, other = chance.choice(["", *"+#./;?&"]), chance.choice(["", *"+#./;?&"])
        t = Template(f"/{{{operator}x}}/{{{other}y,z*}}")
        uri = t.expand({n: chance.choice([None, "", "a", "b/c", "é", "a=b", "%"]) for n in "xyz"})
        try:
            match = t.match(uri)
        except InvalidTemplate as error:
            kinds.add(error.kind)
        else:
            assert match is not None, (str(t), uri)
            assert unescape_tokens(t.expand(match)) == unescape_tokens(uri)
    assert kinds == {"template-ambiguous"}


@pytest.mark.parametrize("template", ["{x}" * 20, "{x*}{y*}{z*}", "{+a}{+b}{+c}", "{?a*}{?b*}", "{/x*}{/y*}/z"])
def test_match_is_linear(template: str) -> None:
    t = Template(template)

    def action(n: int) -> None:
        with suppress(InvalidTemplate):
            t.match("/?a=,%41" * (n // 8) + "/z")

    linear(action, 40_000)
    linear(lambda n: Template("{x}" * n), 40_000)


def test_parsing_and_rejecting_are_linear() -> None:
    linear(lambda n: read("{x," + "a." * n), 40_000)
    linear(lambda n: read("{" * n), 40_000)
    linear(lambda n: read("a" * n + " "), 40_000)


def run(*arguments: str, stdin: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["template", *arguments], input=stdin)
    return result.exit_code, result.stdout, result.stderr


def test_the_command() -> None:
    assert run("expand", "/{x}{?q*}", "x=a b", "q=1", "q=2") == (0, "/a%20b?q=1&q=2\n", "")
    assert run("expand", "--json", "/{x}", stdin='{"x": [1, true]}\n{}\n')[:2] == (0, "/1,true\n/\n")
    assert run("expand", "--partial", "/{x}{?y,z}", "x=1", "y=2")[:2] == (0, "/1?y=2{&z}\n")
    code, out, err = run("match", "/{x}-{y}", "/a-b", "/a-b-c", "/", "--format", "jsonl")
    assert code == 1
    first, second, third = map(json.loads, out.splitlines())
    assert first == {"text": "/a-b", "variables": {"x": "a", "y": "b"}}
    assert second["error"]["kind"] == "template-ambiguous"
    assert "does not expand to this URI" in third["error"]["message"]
    assert "in two ways" in err
    code, _, err = run("expand", "/{x")
    assert code == 2
    assert re.search(r"(?m)^ +\^", err)
    assert run("expand", "/{x}", "y=1")[0] == run("expand", "--partial", "{?x,y}", "y=1")[0] == 2
    code, out, err = run("expand", "--strict", "--json", "{?x,y}", "x=1", stdin='{"y": 2}\n{}\n{"y": 1, "z": 2}\n')
    assert (code, out) == (1, "?x=1&y=2\n")
    assert '"y" has no value' in err
    assert 'no variable "z"' in err
    assert run("expand", "--strict", "--partial", "{x}", "x=1")[0] == 2
    assert run("expand", "--json", "/{x:1}", stdin='{"x": [1]}\n[]\n{\n')[0] == 1


def test_uritemplate_gives_the_same_results() -> None:
    """On the printed variables and operators in every combination of two."""
    peer = pytest.importorskip("uritemplate")
    # It sorts mappings.  An empty one is undefined by 2.3; there it leaves its ",", and is not compared.
    variables = {**VARIABLES, "keys": dict(sorted(VARIABLES["keys"].items()))}
    pairs = {n: v for n, v in variables.items() if v is not None}
    for operator in ["", *"+#./;?&"]:
        for x in ("var", "hello", "half", "empty", "undef", "list", "keys", "x:2", "list*", "keys*"):
            for y in ("path", "undef", "empty", "keys*", "count"):
                text = f"/{{{operator}{x},{y}}}"
                assert Template(text).expand(variables) == peer.expand(text, pairs), text


@pytest.mark.parametrize("name", ["spec-examples", "spec-examples-by-section"])
def test_the_suite_of_uri_templates(name: str) -> None:
    """uritemplate-test, the printed examples: a list has several results, as mappings are unordered."""
    file = suite(f"uritemplate/{name}.json")
    if not file.exists():
        pytest.skip(NO_SUITE)
    groups: dict[str, dict[str, Any]] = json.loads(file.read_text())
    for group in groups.values():
        for text, wanted in group["testcases"]:
            assert Template(text).expand(group["variables"]) in ([wanted] if isinstance(wanted, str) else wanted), text
    assert sum(len(group["testcases"]) for group in groups.values()) > 30


@pytest.mark.parametrize(
    ("template", "text"), [("{x:3}", "%ff%fe"), ("{x:3}/{x*}", "a/a"), ("{x:3}{?x*}", "a?x=a&x=b")]
)
def test_a_prefix_of_bytes_or_of_a_list_matches_nothing(template: str, text: str) -> None:
    assert Template(template).match(text) is None


@pytest.mark.parametrize("template", ["{x}", "{?x*}", "{+x}"])
def test_a_too_large_int_is_rejected(template: str) -> None:
    for value in (10**5000, [-(10**5000)]):
        with pytest.raises(CodingError, match="4,300 digits cannot be written in the variable 'x'"):
            Template(template).expand(x=value)
