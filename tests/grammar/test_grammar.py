"""The ABNF reader: all of RFC 5234, the strings of RFC 7405, and every error with its place."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import product

import pytest

from overthere import GrammarError, NotRegular
from overthere.grammar import Automaton, Grammar
from support import linear, processor


def rule(text: str, name: str = "r") -> Automaton:
    return Grammar(text).automaton(name)


def strings(alphabet: str, longest: int) -> list[str]:
    return ["".join(p) for n in range(longest + 1) for p in product(alphabet, repeat=n)]


def language(text: str, alphabet: str = "ab", longest: int = 6) -> set[str]:
    dfa = rule(text)
    return {s for s in strings(alphabet, longest) if dfa.accepts(s)}


# -- reading


@pytest.mark.parametrize(
    ("spelling", "counts"),
    [
        ("*", range(7)),
        ("1*", range(1, 7)),
        ("*2", range(3)),
        ("2*3", range(2, 4)),
        ("4", [4]),
        ("0", [0]),
        ("0*0", [0]),
        ("0*1", [0, 1]),
        ("02*003", [2, 3]),
        ("3*3", [3]),
    ],
)
@pytest.mark.parametrize("element", ['"a"', "%x61", '("a")', "x", '[ "b" ] "a"'])
def test_repetition(spelling: str, counts: list[int], element: str) -> None:
    """RFC 5234 3.6, 3.7; a repeat applies to the next element only (3.10)."""
    expected = {"a" * n for n in counts}
    if element.startswith("["):
        expected = {"b" * n + "a" for n in counts}
        element = '"b" "a"'
    assert language(f"r = {spelling}{element}\nx = %x61", longest=6) == {w for w in expected if len(w) <= 6}


@pytest.mark.parametrize(
    ("element", "matches"),
    [
        ('"aB"', {"ab", "aB", "Ab", "AB"}),
        ('%i"aB"', {"ab", "aB", "Ab", "AB"}),
        ('%I"aB"', {"ab", "aB", "Ab", "AB"}),
        ('%s"aB"', {"aB"}),
        ('%S"aB"', {"aB"}),
        ("%d97.66", {"aB"}),
        ("%D97.66", {"aB"}),
        ("%x61.42", {"aB"}),
        ("%X61.42", {"aB"}),
        ("%b1100001.1000010", {"aB"}),
        ("%x61-62", {"a", "b"}),
        ("%d65-66", {"A", "B"}),
        ("%B1000001-1000010", {"A", "B"}),
        ("%x61-61", {"a"}),
        ('""', {""}),
        ('[ "a" ]', {"", "a", "A"}),
        ('"a" / "b" "b"', {"a", "A", "bb", "bB", "Bb", "BB"}),
        ('("a" / %s"b") %s"b"', {"ab", "Ab", "bb"}),
        ('%s"a" [ %s"b" / %s"B" ]', {"a", "ab", "aB"}),
    ],
)
def test_element(element: str, matches: set[str]) -> None:
    """RFC 5234 2.3, 3.1, 3.2, 3.4, 3.5, 3.8; RFC 7405 2."""
    assert language(f"r = {element}", "abAB", 4) == matches


def test_names_are_case_insensitive() -> None:
    """RFC 5234 2.1."""
    assert language('R = one-TWO\nOne-Two = %s"a"') == {"a"}
    assert Grammar('One-Two = "a"').rule("oNE-tWO").name == "One-Two"


def test_incremental_alternatives() -> None:
    """RFC 5234 3.3: they are appended to the rule, wherever they are."""
    text = 'R = "b" / "bb"\nother = "x"\nr =/ "a"\nR =/ %s"ab" / "ba"'
    assert language(text, "ab") == {"b", "bb", "a", "ab", "ba"}
    assert list(Grammar(text).rules) == ["r", "other"]
    with pytest.raises(GrammarError, match="not defined above") as caught:
        Grammar('x = "y"\nr =/ "a"').rule("x")
    assert caught.value.line == 2


def test_layout() -> None:
    """RFC 5234 3.9, 4: comments, continuation lines, blank lines, CRLF, an indented rule list."""
    plain = '; head\nr = "a" ; one ")" quote "\n\n    ; between\n  / "b" x\n\nx = ";" "<" ; end'
    expected = {"a", "b;<"}
    for text in (plain, plain.replace("\n", "\r\n"), "".join(f"   {line}\n" for line in plain.split("\n"))):
        assert language(text, "ab;<", 4) == expected
        assert Grammar(text).rule("r").text == '"a" / "b" x'
    assert language('r="a"/"b"x\nx=";<"', "ab;<", 4) == expected
    assert language('r\t=\t"a"\n\t/ "b" x\nx = ";" "<"', "ab;<", 4) == expected


def test_the_text_of_a_rule_is_equivalent_to_the_rule() -> None:
    """Joined on one line, spaces and marks in strings unchanged."""
    for text in ('"a  b" ";" / "<" ; end', '"; no comment" "x"', '( "a" / \n "b" )'):
        once = Grammar(f"r = {text}").rule("r").text
        assert Grammar(f"r = {once}").automaton("r") == Grammar(f"r = {text}").automaton("r")


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ('ok = "a"\nr = "b" / <a letter>', 2, 11, "prose"),
        ("r = <never closed", 1, 5, "prose"),
        ('r = ("a"', 1, 5, "never closed"),
        ('r = "x"\n  ["a"', 2, 3, "never closed"),
        ('r = ("a"]', 1, 5, "never closed"),
        ('r = "a")', 1, 8, "closes nothing"),
        ('r = "a" /', 1, 10, "element"),
        ('r = / "a"', 1, 5, "element"),
        ("r = ()", 1, 6, "element"),
        ("r =", 1, 4, "element"),
        ('r = 2 "a"', 1, 5, "directly precede"),
        ("r = 1*", 1, 5, "directly precede"),
        ('r = 1**"a"', 1, 7, "element"),
        ('r = 3*2"a"', 1, 5, "upper limit"),
        ('r = "abc', 1, 5, "not allowed here"),
        ("r = %x62-61", 1, 5, "empty range"),
        ("r = %x110000", 1, 5, "code point"),
        ("r = %xD800", 1, 5, "surrogate"),
        ("r = %x41.42-43", 1, 12, "not allowed here"),
        ("r = %y41", 1, 5, "not allowed here"),
        ("r = %b2", 1, 5, "not allowed here"),
        ('r = "a" | "b"', 1, 9, "not allowed here"),
        ('r = "a"\nR = "b"', 2, 1, "twice"),
        ("nothing to see", 1, 1, "must begin with"),
        ('r = "a"\n1r = "b"', 2, 1, "must begin with"),
        ('  r = "a"\n x = "b"', 2, 2, "indented less"),
        ('   a = "x"\n   r = "b" / <prose>', 2, 14, "prose"),
        ('   a = "x"\n   2r = "b"', 2, 4, "must begin with"),
    ],
)
def test_an_error_has_line_and_column(text: str, line: int, column: int, reason: str) -> None:
    """The tree of the text that was passed."""
    with pytest.raises(GrammarError, match=reason) as caught:
        Grammar(text).rule("r")
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(f"line {line}, column {column}: ")


@pytest.mark.parametrize("number", ["%d" + "9" * 5000, "%x" + "F" * 5000, '9"a" ' + "9" * 5000 + '"a"', "10001A"])
def test_numbers_are_limited(number: str) -> None:
    with pytest.raises(GrammarError):
        Grammar(f"r = {number}").rule("r")


def test_nesting_is_limited() -> None:
    assert language("r = " + "(" * 100 + '"a"' + ")" * 100) == {"a"}
    for depth in (101, 100_000):
        with pytest.raises(GrammarError, match="nested"):
            Grammar("r = " + "[" * depth + '"a"' + "]" * depth).rule("r")


def test_repetition_is_limited() -> None:
    assert rule('r = 300"a"').accepts("a" * 300)
    with pytest.raises(GrammarError, match="states"):
        rule('r = 10000(10000"a")')


def test_a_long_chain_of_rules_raises_no_recursion_error() -> None:
    """DESIGN law 7: an automaton or a documented error."""
    text = "".join(f"r{i} = r{i + 1}\n" for i in range(3000)) + 'r3000 = "a"\n'
    with suppress(GrammarError):
        assert rule(text, "r0").accepts("a")


@pytest.mark.parametrize(
    "text",
    ['r = 10000"a"', "r = r40\nr0 = %x61-62\n" + "".join(f"r{i} = r{i - 1} / r{i - 1}\n" for i in range(1, 41))],
    ids=["repetition", "doubling"],
)
def test_short_grammars_with_huge_automata_are_rejected_quickly(text: str) -> None:
    """DESIGN law 7: an automaton or a documented error; doubling forty times would never end."""
    with processor(30), suppress(GrammarError):
        Grammar(text).automaton("r")


@pytest.mark.parametrize(
    ("before", "repeated"),
    [("r = a", " / a"), ("r = a\n", "  / a\n"), ("r = a\n", "r =/ a\n"), ("r = a", " ( a )"), ("", "r{} = a\n")],
)
def test_reading_a_grammar_is_linear(before: str, repeated: str) -> None:
    linear(lambda size: Grammar(before + "".join(repeated.format(i) for i in range(size))).rules, 80_000)


def test_undefined_rule() -> None:
    with pytest.raises(GrammarError, match=r"no rule 'nowhere' \(in r\)") as caught:
        rule('x = "a"\nr = x\n  nowhere')
    assert caught.value.line == 3
    with pytest.raises(GrammarError, match="no rule 'absent'"):
        Grammar('r = "a"').automaton("absent")


def test_not_regular() -> None:
    text = 'top = "(" Middle ")"\nMiddle = inner / "x"\ninner = *2Top\nfree = 1*"a"'
    for name in ("top", "middle", "inner"):
        with pytest.raises(NotRegular, match=" -> "):
            rule(text, name)
    with pytest.raises(NotRegular, match=r"^line 3, column 1: top -> Middle -> inner -> top: "):
        rule(text, "top")
    with pytest.raises(NotRegular, match="r -> r:"):
        rule('r = "a" / "b" r')
    assert rule(text, "free").accepts("aa")


def test_core_rules() -> None:
    """RFC 5234 B.1, by their meaning; a document's own rule of that name takes precedence."""
    low = [chr(i) for i in range(256)]
    single = {
        "ALPHA": {c for c in low if c.isascii() and c.isalpha()},
        "BIT": set("01"),
        "CHAR": {chr(i) for i in range(1, 128)},
        "CR": {"\r"},
        "CTL": {*map(chr, range(32)), "\x7f"},
        "DIGIT": set("0123456789"),
        "DQUOTE": {'"'},
        "HEXDIG": set("0123456789ABCDEFabcdef"),
        "HTAB": {"\t"},
        "LF": {"\n"},
        "LWSP": {" ", "\t"},
        "OCTET": set(low),
        "SP": {" "},
        "VCHAR": {c for c in low if "!" <= c <= "~"},
        "WSP": {" ", "\t"},
    }
    g = Grammar('r = "x"')
    for name, members in single.items():
        assert {c for c in low if g.automaton(name).accepts(c)} == members, name
    assert [s for s in strings("\r\n \t", 4) if g.automaton("CRLF").accepts(s)] == ["\r\n"]
    expected = {s for s in strings("\r\n \t", 6) if re.fullmatch(r"(?:[ \t]|\r\n[ \t])*", s)}
    assert {s for s in strings("\r\n \t", 6) if g.automaton("LWSP").accepts(s)} == expected
    assert language('r = *ALPHA\nALPHA = "a"', "ab", 2) == {"", "a", "aa"}


# RFC 5234 4, as it is printed.
ABNF_OF_ABNF = """\
         rulelist       =  1*( rule / (*c-wsp c-nl) )

         rule           =  rulename defined-as elements c-nl
                                ; continues if next line starts
                                ;  with white space

         rulename       =  ALPHA *(ALPHA / DIGIT / "-")

         defined-as     =  *c-wsp ("=" / "=/") *c-wsp
                                ; basic rules definition and
                                ;  incremental alternatives

         elements       =  alternation *c-wsp

         c-wsp          =  WSP / (c-nl WSP)

         c-nl           =  comment / CRLF
                                ; comment or newline

         comment        =  ";" *(WSP / VCHAR) CRLF

         alternation    =  concatenation
                           *(*c-wsp "/" *c-wsp concatenation)

         concatenation  =  repetition *(1*c-wsp repetition)

         repetition     =  [repeat] element

         repeat         =  1*DIGIT / (*DIGIT "*" *DIGIT)

         element        =  rulename / group / option /
                           char-val / num-val / prose-val

         group          =  "(" *c-wsp alternation *c-wsp ")"

         option         =  "[" *c-wsp alternation *c-wsp "]"

         char-val       =  DQUOTE *(%x20-21 / %x23-7E) DQUOTE
                                ; quoted string of SP and VCHAR
                                ;  without DQUOTE

         num-val        =  "%" (bin-val / dec-val / hex-val)

         bin-val        =  "b" 1*BIT
                           [ 1*("." 1*BIT) / ("-" 1*BIT) ]
                                ; series of concatenated bit values
                                ;  or single ONEOF range

         dec-val        =  "d" 1*DIGIT
                           [ 1*("." 1*DIGIT) / ("-" 1*DIGIT) ]

         hex-val        =  "x" 1*HEXDIG
                           [ 1*("." 1*HEXDIG) / ("-" 1*HEXDIG) ]

         prose-val      =  "<" *(%x20-3D / %x3F-7E) ">"
                                ; bracketed string of SP and VCHAR
                                ;  without angles
                                ; prose description, to be used as
                                ;  last resort
"""


def test_abnf_of_abnf() -> None:
    g = Grammar(ABNF_OF_ABNF)
    assert len(g.rules) == 21
    regular = {n for n in g.rules if n not in {"rulelist", "rule", "elements", "alternation", "concatenation",
                                               "repetition", "element", "group", "option"}}  # fmt: skip
    for name in g.rules:
        if name in regular:
            assert not g.automaton(name).empty
        else:
            with pytest.raises(NotRegular, match=r"group|option|alternation"):
                g.automaton(name)
    chain = "alternation -> concatenation -> repetition -> element -> group -> alternation"
    with pytest.raises(NotRegular, match=chain):
        g.automaton("rulelist")


@pytest.mark.parametrize("name", ["num-val", "char-val", "rulename", "repeat"])
def test_the_reader_accepts_what_rfc_5234_derives(name: str) -> None:
    """Any terminal that RFC 5234 4 derives is read, or rejected because of its value."""
    tail = '"a"' if name == "repeat" else ""
    for text in Grammar(ABNF_OF_ABNF).automaton(name).sample(300, seed=4, length=12):
        reason = ""
        try:
            Grammar(f"r = {text}{tail}").rule("r")
        except GrammarError as error:
            reason = error.message
        assert re.search("^$|empty range|code point|surrogate|upper limit|repetitions", reason)
