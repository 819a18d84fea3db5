"""The table of kinds of findings, and a finding: one problem in one text."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A row of the table: one kind of problem."""

    message: str
    """The message; `{it}` is replaced by the offending text."""
    component: str
    """The component with the problem; "any" if it can be in all of them."""
    rule: str
    source: str
    bad: str
    """A text with the problem; or, if it begins with `URI`, `IRI` or another name, an expression that raises it."""
    good: str


KINDS: dict[str, Kind] = {
    "scheme-missing": Kind("there is no scheme", "scheme", "URI", "RFC 3986 3", "//h/p", "http://h/p"),
    "scheme-empty": Kind("the scheme is empty", "scheme", "scheme", "RFC 3986 3.1", "://h/p", "http://h/p"),
    "scheme-first": Kind("a scheme cannot begin with {it}", "scheme", "scheme", "RFC 3986 3.1", "1a:b", "a1:b"),
    "scheme-char": Kind("a scheme cannot contain {it}", "scheme", "scheme", "RFC 3986 3.1", "a_b:c", "a-b:c"),
    "userinfo-char": Kind("userinfo cannot contain {it}",
        "userinfo", "userinfo", "RFC 3986 3.2.1", "ftp://a|b@h/", "ftp://a%7Cb@h/"),
    "userinfo-at": Kind('userinfo cannot contain "@": readers differ on which host is meant',
        "userinfo", "authority", "RFC 3986 3.2.1", "http://a@b@h/", "http://a%40b@h/"),
    "host-char": Kind("a host cannot contain {it}", "host", "reg-name", "RFC 3986 3.2.2", "http://a|b/", "http://a-b/"),
    "ip-literal-open": Kind('"[" is never closed by "]"',
        "host", "IP-literal", "RFC 3986 3.2.2", "http://[::1/", "http://[::1]/"),
    "ip-literal-address": Kind("the text between the brackets is not an IPv6address or IPvFuture",
        "host", "IP-literal", "RFC 3986 3.2.2", "http://[1.2.3.4]/", "http://[::1.2.3.4]/"),
    "ip-literal-close": Kind('only a port can follow "]"',
        "host", "authority", "RFC 3986 3.2.2", "http://[::1]x/", "http://[::1]:8/"),
    "ip-zone": Kind("a zone identifier is not part of a URI (RFC 6874 adds it; zone=True reads it)",
        "host", "IP-literal", "RFC 3986 3.2.2", "http://[fe80::1%25en0]/", "http://[fe80::1]/"),
    "port-char": Kind("a port cannot contain {it}", "port", "port", "RFC 3986 3.2.3", "http://h:8o/", "http://h:80/"),
    "path-char": Kind("a path cannot contain {it}", "path", "path", "RFC 3986 3.3", "http://h/a|b", "http://h/a%7Cb"),
    "query-char": Kind("a query cannot contain {it}",
        "query", "query", "RFC 3986 3.4", "http://h/?[]", "http://h/?%5B"),
    "fragment-char": Kind("a fragment cannot contain {it}",
        "fragment", "fragment", "RFC 3986 3.5", "http://h/#a#b", "http://h/#a%23b"),
    "pct-encoded": Kind('two hexadecimal digits must follow "%"',
        "any", "pct-encoded", "RFC 3986 2.1", "http://h/%zz", "http://h/%25zz"),
    "non-ascii": Kind("{it} is not a US-ASCII character (an IRI can hold letters of every script)",
        "any", "URI-reference", "RFC 3986 2", "http://h/ü", "http://h/%C3%BC"),
    "control": Kind("a URI cannot contain the control character {it}",
        "any", "URI-reference", "RFC 3986 2", "http://h/\t", "http://h/%09"),
    "space": Kind("a URI cannot contain a space",
        "any", "URI-reference", "RFC 3986 2", "http://h/a b", "http://h/a%20b"),
    "host-missing": Kind("userinfo or a port needs a host",
        "host", "authority", "RFC 3986 3.2", 'URI("a:b").replace(port=8)', 'URI("a:/b").replace(host="h", port=8)'),
    "path-slashes": Kind('without an authority, a path that begins with "//" would be read as one',
        "path", "path-absolute", "RFC 3986 3.3",
        'URI("a://h//p").replace(authority=None)', 'URI("a://h/p").replace(authority=None)'),
    "path-rootless": Kind('after an authority, a path begins with "/" or is empty',
        "path", "path-abempty", "RFC 3986 3.3", 'URI("a:b").replace(host="h")', 'URI("a:/b").replace(host="h")'),
    "path-colon": Kind("a colon in the first segment of a relative-path reference would be read as the end of a scheme",
        "path", "path-noscheme", "RFC 3986 4.2",
        'URIReference("a:b:c").replace(scheme=None)', 'URIReference("a:./b:c").replace(scheme=None)'),
    "delimiter": Kind("{it} would be read as the start of another component",
        "any", "URI-reference", "RFC 3986 2.2",
        'URI("a:b").replace(path="p?q")', 'URI("a:b").replace(path="p", query="q")'),
    "segment-dots": Kind('a segment "." or ".." given as data would be removed as a dot-segment',
        "path", "segment", "RFC 3986 6.2.2.3",
        'URI.build(scheme="a", segments=["..", "b"])', 'URI.build(scheme="a", path="../b")'),
    "segment-empty": Kind('a path that does not begin with "/" cannot begin with an empty segment',
        "path", "segment-nz", "RFC 3986 3.3",
        'URI.build(scheme="a", segments=["", "b"])', 'URI.build(scheme="a", segments=["b"], rooted=True)'),
    "iri-char": Kind("an IRI cannot contain {it}",
        "any", "ucschar", "RFC 3987 2.2", 'IRI("http://h/\\ufdd0")', 'IRI("http://h/ü")'),
    "iri-private": Kind("a private-use character is allowed in the query only",
        "any", "iprivate", "RFC 3987 2.2", 'IRI("http://h/\\ue000")', 'IRI("http://h/?\\ue000")'),
    "iri-bidi": Kind("the bidirectional formatting character {it} is not part of an IRI",
        "any", "ucschar", "RFC 3987 4.1", 'IRI("http://h/\\u202e")', 'IRI("http://h/\\u05d0")'),
    "not-derivable": Kind("unexpected {it}",
        "any", "any", "RFC 3986 Appendix A", 'check("1.2.3", rule="IPv4address")', "http://h/"),
    "scheme-syntax": Kind("the text breaks the syntax of its scheme",
        "any", "any", "RFC 3986 3.1", 'URI("tel:abc").locator', "tel:112"),
    "template-literal": Kind("a template cannot contain {it} outside an expression",
        "literals", "literals", "RFC 6570 2.1", 'Template("a b{x}")', 'Template("a%20b{x}")'),
    "template-open": Kind('"{" is never closed by "}"',
        "expression", "expression", "RFC 6570 2.2", 'Template("/{x")', 'Template("/{x}")'),
    "template-expression": Kind("an expression cannot contain {it} here",
        "expression", "expression", "RFC 6570 2.2", 'Template("/{x y}")', 'Template("/{x,y}")'),
    "template-operator": Kind("the operator {it} is reserved for extensions",
        "expression", "op-reserve", "RFC 6570 2.2", 'Template("/{|x}")', 'Template("/{+x}")'),
    "template-prefix": Kind("the prefix modifier needs text, but {it} is a list or octets",
        "expression", "prefix", "RFC 6570 2.4.1",
        'Template("/{x:3}").expand(x=["a", "b"])', 'Template("/{x:3}").expand(x="abcd")'),
    "template-undefined": Kind("{it} has no value",
        "expression", "expression", "RFC 6570 2.3",
        'Template("/{x}").expand(strict=True)', 'Template("/{x}").expand(x=1, strict=True)'),
    "template-unused": Kind("the template has no variable {it}",
        "any", "expression", "RFC 6570 2.3",
        'Template("/{x}").expand(x=1, y=2, strict=True)', 'Template("/{x}").expand(x=1, strict=True)'),
    "template-ambiguous": Kind("{it} matches this text in two ways",
        "expression", "expression", "RFC 6570 1.4",
        'Template("/{x}{y}").match("/ab")', 'Template("/{x}-{y}").match("/a,b")'),
    "more": Kind("{it} further findings are not listed", "any", "URI-reference", "RFC 3986 4.1", "", "http://h/"),
}  # fmt: skip


class Finding(NamedTuple):
    """A problem with a text, or a note on it."""

    kind: str
    """A key of `KINDS`, or of `security.KINDS`."""
    start: int
    """`start` and `end` are code-point offsets in the passed text."""
    end: int
    component: str
    rule: str
    """The grammar rule that does not match."""
    expected: str
    """A description of what is allowed at `start`."""
    source: str
    """The paragraph, such as `RFC 3986 3.2.2`."""
    message: str

    def __str__(self) -> str:
        return describe(self)


_RULES = ("pchar", "unreserved", "sub-delims", "pct-encoded")


def describe(finding: Finding, rules: bool = False) -> str:
    """Write a finding as one sentence.  rules: show the expectation even if it names rules of the grammar."""
    # These kinds have no other explanation than the rules.
    rules = rules or finding.kind in ("not-derivable", "scheme-syntax")
    is_shown = finding.expected and (rules or not any(rule in finding.expected for rule in _RULES))
    expectation = f"; expected {finding.expected}" if is_shown else ""
    place = "" if finding.component == "any" else f", in the {finding.component}"
    return f"{finding.message} (at {finding.start}{place}{expectation}; {finding.source})"
