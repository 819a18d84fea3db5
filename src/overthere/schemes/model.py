"""A scheme: its documents, facts, locator, normal form and access.

A value, made once in the scheme's own file.  Facts and syntax only; `overthere.access` has what a client sends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from overthere.ground.caches import cached_property
from overthere.ground.errors import Finding, RegistryError
from overthere.ground.exact import exact
from overthere.ground.figure import shorten
from overthere.ground.redact import mask
from overthere.kernel import parse
from overthere.kernel.reference import Parts, scheme_steps, split, split_authority
from overthere.schemes.locator import GenericLocator, Locator, reading
from overthere.values.scheme_query import HALF_LINE_BREAK

if TYPE_CHECKING:
    from overthere.access.planning import Plan
    from overthere.access.policy import Policy
    from overthere.access.steps import Credentials, Step
    from overthere.access.wire import Dialogue
    from overthere.grammar import Grammar
    from overthere.grammar.automaton import Automaton
    from overthere.schemes.iana import Registration


class Example(NamedTuple):
    """A URI from a document, or one of our own that shows a form."""

    text: str
    source: str
    note: str = ""


class Access(NamedTuple):
    """The functions that reach what a URI names; a package has each of them in the module that is named here."""

    steps: Callable[[Any, Credentials], Iterable[Step]]
    """Makes the steps of a plan from a locator and credentials; in `steps`."""
    dialogue: Callable[[Plan, Policy], Dialogue] | None = None
    """Reads the answers when the plan is carried out; in `dialogue`.  Without one the steps are executed as they
    are (`access.generic`)."""
    configured: Callable[[Any, Policy], Locator] | None = None
    """Adds to a locator what the policy configures for such URIs, such as a server that they do not name; in
    `steps`."""


class NormalRule(NamedTuple):
    """A variation in spelling that the scheme allows (RFC 3986 6.2.3)."""

    what: str
    """In words: "the default port is left out"."""
    source: str
    """Document and paragraph."""
    apply: Callable[[Parts], Parts]
    """Returns components in normal form; they are already normal by the generic rungs, and must neither gain nor lose
    an escape."""


class CommonRules(NamedTuple):
    """The rules of most schemes (RFC 3986 6.2.3) as data, for code that applies them to many URIs."""

    default_port: str | None
    """The port that is left out, in decimal digits."""
    slash_for_empty_path: bool
    """Whether an empty path behind an authority is written "/"."""


def _component(text: str, cut: Parts, at: int) -> str:
    """Return the component, with its delimiters, at an offset of a URI without a fragment."""
    before = len(text) if cut.query is None else len(text) - len(cut.query) - 1
    if at >= before and cut.query is not None:
        return "query"
    if cut.authority is None or (cut.path and at >= before - len(cut.path)):
        return "path"
    return "authority"


def _high_port(text: str) -> Finding | None:
    """Return the finding on a port above 65535, which TCP and UDP lack; None for others, and for a name of 2003."""
    authority = split(text).authority
    port = None if authority is None else split_authority(authority)[2]
    digits = (port or "").lstrip("0")
    if not digits.isdecimal() or len(digits) < 5 or (len(digits) == 5 and int(digits) <= 65535):
        return None
    end = text.index("//") + 2 + len(authority or "")
    message = f"port {shorten(digits, 20)} is above 65535"
    return Finding("scheme-syntax", end - len(port or ""), end, "port", "port", "at most 65535", "RFC 6335 6", message)


def on_path(change: Callable[[str], str]) -> Callable[[Parts], Parts]:
    """Return the function of a rule that changes only the path, of a scheme without authorities."""
    return partial(_change_path, change)


def _change_path(change: Callable[[str], str], parts: Parts) -> Parts:
    return parts._replace(path=change(parts.path)) if parts.authority is None else parts


_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")


def lower_except_escapes(text: str) -> str:
    """Return a text in lower case, and the digits of its escapes in upper case."""
    return _ESCAPE.sub(lambda match: match[0].upper(), text.lower())


def default_port(port: int, source: str) -> NormalRule:
    """Return the rule that omits `port`."""
    return NormalRule(f"the default port {port} is left out", source, _WithoutPort(port))


@dataclass(frozen=True)
class _WithoutPort:
    """A function that omits this port."""

    port: int

    def __call__(self, parts: Parts) -> Parts:
        if parts.authority is None:
            return parts
        userinfo, host, text = split_authority(parts.authority)
        if text is None or text.lstrip("0") != str(self.port):
            return parts
        return parts._replace(authority=host if userinfo is None else f"{userinfo}@{host}")


def slash_for_empty_path(source: str) -> NormalRule:
    """Return the rule that writes an empty path after an authority as "/"."""
    return NormalRule('an empty path is written "/"', source, _with_slash)


def _with_slash(parts: Parts) -> Parts:
    return parts._replace(path="/") if parts.authority is not None and parts.path == "" else parts


def last_segment(segments: tuple[str, ...]) -> str:
    """Return the last segment that is not empty, which names a file; "" if all are empty."""
    return next((segment for segment in reversed(segments) if segment), "")


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """A URI scheme.

    Raises: RegistryError for an invalid name, and unless there is exactly one of: a retrieval algorithm, the statement
    that it locates nothing (RFC 1738 4; the draft of 1994, Registration), the reason why its protocol is not spoken.
    """

    name: str
    title: str
    documents: Mapping[str, str]
    """The documents that define it, by edition: "url-1994", "rfc1738", "rfc3986" (its current document)."""
    locator: type[Locator] = GenericLocator
    syntax: str = ""
    """The current rules as ABNF; names that it does not define are those of RFC 3986, with a port up to 65535."""
    rules: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Edition -> the rules that derive such a URI there: those of its grammar; for "rfc3986" those of `syntax`."""
    narrowed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Beginnings of paths, in lower case, whose form another document defines, and that document."""
    port: int | None = None
    """The default port."""
    tls: bool = False
    """Whether the connection is secured by TLS from its first octet."""
    protocol: str = ""
    """The scheme whose protocol it speaks, if not its own: "http" for https."""
    local: bool = False
    """Whether it reads files of this machine (RFC 3986 7.4)."""
    redirected_from: tuple[str, ...] = ()
    """The protocols whose servers may redirect to it, besides its own: scheme names, or "*" for any."""
    by_proxy: Literal["", "absolute", "tunnel"] = ""
    """How an HTTP proxy requests it (RFC 9110 7.3.2): in absolute-form, or by CONNECT; "": not at all."""
    needs_host: bool = False
    """Whether a URI without a host names nothing."""
    no_userinfo: str = ""
    """The section that excludes a user name before the host; "" if it is allowed."""
    anonymous: frozenset[str] = frozenset()
    """Public user names, in lower case, whose password is not secret."""
    host_of_files: bool = False
    """Whether the host is the machine that has the file: "localhost" is this one (RFC 8089 2); others are not
    contacted."""
    lines: bool = False
    """Whether its protocol speaks in lines, so that an encoded line end may begin another command."""
    own_octets: frozenset[int] = frozenset()
    """Delimiters and controls that its URIs may contain as escapes: the TAB of a gopher search."""
    plus: bool = True
    """Whether "+" in its query is a space, as in HTML forms; otherwise a space is "%20" (RFC 6068 5)."""
    text_parameters: tuple[str, ...] = ()
    """The fields of its query, in lower case, whose values are texts of several lines (RFC 6068 5)."""
    content: bool = False
    """Whether the part after the colon is content, with any octets and any names (RFC 2397 2)."""
    shape: str = ""
    """An expression for the text after the colon in running text, for a scheme that needs no "//"; it looks at a
    limited number of characters.  "": the URI is found only with "//" or in delimiters."""
    linkable: bool = False
    """Whether untrusted URIs of it are safe as links: it names or locates something and executes nothing."""
    file_name: Callable[[tuple[str, ...]], str] | None = None
    """Finds the file name among the raw segments of a path; None: the last segment that is not empty."""
    hierarchical: bool = False
    """Whether "/" separates a hierarchy, so that relative references make sense."""
    interactive: bool = False
    """Whether it names a session with a person rather than something to fetch."""
    access: Access | str | None = None
    """The retrieval algorithm: its functions, or the package that has them, which is loaded for the first plan.  A name
    with a dot is a package ("overthere_finger.protocol"), one without is in `overthere.protocols`."""
    locates_nothing: str = ""
    """Why there is nothing to retrieve, in a sentence with the RFC section."""
    unspoken: str = ""
    """Why nothing is retrieved here: the protocol that this package does not speak, with its document.  A gateway may
    replace it."""
    normal: tuple[NormalRule, ...] = ()
    """Equivalent spellings (RFC 3986 6.2.3), in the order of application."""
    compared: Callable[[Parts], Parts] | None = None
    """The compared part of a normal form, if the scheme excludes components (RFC 8141 3.1)."""
    examples: tuple[Example, ...] = ()
    no_fragment: str = ""
    """The section that excludes fragments; "" for most, because schemes do not define it (RFC 3986 3.5)."""
    notes: tuple[str, ...] = ()
    """Notes for people, a sentence each."""
    known: bool = True
    """Whether it has a file of its own; False for the generic fallback."""

    def __post_init__(self) -> None:
        read = parse(f"{self.name}:", "URI")
        if read is None or read.scheme != self.name or self.name != self.name.lower():
            name = shorten(mask(self.name), 100)  # it may be a URI by mistake
            raise RegistryError(f"{name!r} is not a scheme in lower case (RFC 3986 3.1)")
        if isinstance(self.access, str) and not all(map(str.isidentifier, self.access.split("."))):
            raise RegistryError(f"the access of {self.name!r} is not a package: {self.access!r}")
        if self.known and [self.access is not None, bool(self.locates_nothing), bool(self.unspoken)].count(True) != 1:
            raise RegistryError(
                f"the scheme {self.name!r} must have exactly one of: a retrieval algorithm, the statement that it "
                "locates nothing, or the protocol that is not spoken (RFC 1738 4)"
            )

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def spoken(self) -> str:
        """The protocol, by the name of its scheme: "http" for http and https."""
        return self.protocol or self.name

    def __repr__(self) -> str:
        return f"<Scheme {self.name}: {self.title}>"

    @property
    def grammar(self) -> Grammar:
        """The current rules, based on those of RFC 3986.  Raises: RegistryError if there are none."""
        from overthere.schemes.syntax import grammar

        if not self.syntax:
            raise RegistryError(f"the scheme {self.name!r} has no syntax of its own")
        return grammar(self.syntax)

    def check(self, text: str, edition: str = "rfc3986", limit: int | None = 1000) -> list[Finding]:
        """Return the findings on a text by the scheme's rules in an edition; those of RFC 3986 come first.

        Raises: RegistryError if that edition has no rules for this scheme.

        >>> from overthere import scheme
        >>> [finding.rule for finding in scheme("tel").check("tel:+1-2o1")]
        ['telephone-uri']
        """
        from overthere.editions import edition as edition_named

        by, rules, text = edition_named(edition), self.rules.get(reading(edition), ()), exact(text, "check()")
        if not rules:
            raise RegistryError(f"{by.document} has no rules of the scheme {self.name!r}")
        if reading(edition) != "rfc3986" and self.is_valid(text, edition):  # a rule of a scheme need not be of `top`
            return []
        return by.check(text, limit=limit) or self.faults(text, edition, limit)

    def faults(self, text: str, edition: str = "rfc3986", limit: int | None = 1000) -> list[Finding]:
        """Return the findings on a URI by this scheme's rules in an edition: of the kind "scheme-syntax", each with the
        scheme's document; none if the edition has no rules for it.

        text: a URI that is valid by the generic syntax of the edition, which is not checked again.

        >>> from overthere import scheme
        >>> print(scheme("http").faults("http:/example.com")[0])
        not a valid http URI: unexpected "e" (at 6, in the path; expected "/"; RFC 9110 4.2.1)
        """
        rules, text = self.rules.get(reading(edition), ()), exact(text, "faults()")
        is_current = reading(edition) == "rfc3986"
        if not rules or (self.whole.accepts(text) if is_current else self.is_valid(text, edition)):
            return []
        from overthere.editions import edition as edition_named
        from overthere.values.derivation import check_rule

        edition_rules = edition_named(edition)
        if not self._is_mine(text):
            return [self._not_mine(text)]
        bare, mark, _ = text.partition("#")
        if not is_current:
            findings = edition_rules.check(text, rules[0], limit)
        elif mark and self.no_fragment:
            return [self._no_fragment(text)]
        elif (port := _high_port(bare)) is not None:
            with_zero_port = bare[: port.start] + "0" * (port.end - port.start) + bare[port.end :]
            other_findings = self.faults(with_zero_port, edition, limit)
            return sorted([port, *other_findings], key=lambda finding: finding.start)
        else:
            findings = check_rule(self.grammar, bare, rules[0], self.documents["rfc3986"], limit, edition_rules.parts)
        parts = split(bare)
        return list(dict.fromkeys(self._fault(finding, bare, parts) for finding in findings))

    def is_valid(self, text: str, edition: str = "rfc3986") -> bool:
        """Whether one of the scheme's rules in an edition allows the text without its fragment."""
        from overthere.editions import edition as edition_named

        rules, text = self.rules.get(reading(edition), ()), exact(text, "is_valid()")
        if reading(edition) == "rfc3986":
            return bool(rules) and edition_named(edition).is_valid(text) and self.whole.accepts(text)
        return self._is_mine(text) and any(edition_named(edition).is_valid(text, rule) for rule in rules)

    @cached_property
    def whole(self) -> Automaton:
        """The automaton of the current rules for a whole URI.  Raises: RegistryError if there are none."""
        from overthere.schemes.syntax import whole_automaton

        return whole_automaton(self.name, self.whole_rule)

    @property
    def whole_rule(self) -> str:
        """The current rule of a whole URI, with any fragment unless the scheme excludes them; the edition limits the
        characters of a fragment.  Raises: RegistryError if there is none."""
        if not self.syntax or "rfc3986" not in self.rules:
            raise RegistryError(f"the scheme {self.name!r} has no syntax of its own")
        fragment = "" if self.no_fragment else ' [ "#" *%x00-10FFFF ]'
        return f"{self.syntax}\nwhole-uri = ( {' / '.join(self.rules['rfc3986'])} ){fragment}\n"

    def account(self, edition: str) -> tuple[str, str] | None:
        """Return the first rule and the paragraph of an older edition's own account of the scheme; None if it has none.

        >>> from overthere import scheme
        >>> scheme("gopher").account("rfc1738"), scheme("http").account("url-1994")
        (('gopherurl', 'RFC 1738 3.4'), ('httpaddress', '1994 HTTP'))
        """
        source, rules = self.documents.get(edition), self.rules.get(edition, ())
        if source is None or reading(edition) == "rfc3986":
            return None
        return rules[0] if rules else self.name, source if source[:4] in ("1994", "RFC ") else f"1994 {source}"

    def _is_mine(self, text: str) -> bool:
        return text.partition(":")[0].lower() == self.name

    def _not_mine(self, text: str) -> Finding:
        """Return the finding on another scheme: a rule may allow several, as `telnetaddress-prose` does."""
        end = text.find(":")
        message = f"the scheme is not {self.name}"
        return Finding("scheme-syntax", 0, end, "scheme", "scheme", f'"{self.name}"', "RFC 3986 3.1", message)

    def _fault(self, finding: Finding, text: str, parts: Parts) -> Finding:
        """Return a finding by a rule of the scheme, for a text that is a URI."""
        if finding.kind == "more":
            return finding
        component = _component(text, parts, finding.start) if finding.component == finding.rule else finding.component
        message = f"not a valid {self.name} URI: {finding.message}"
        path = parts.path.lower()
        source = next((rfc for prefix, rfc in self.narrowed.items() if path.startswith(prefix)), finding.source)
        for at in range(finding.start - 5, finding.start + 1) if self.text_parameters and component == "query" else ():
            half = HALF_LINE_BREAK.match(text, at)
            if half is not None and text[half.end() : finding.start] in ("", "%", "%0"):  # read as "%0D%0A" up to here
                message = f"not a valid {self.name} URI: {half[0]} is half of a line break"
                finding = finding._replace(start=at, end=half.end(), expected='"%0D%0A"')
                source = "RFC 6068 5"
                break
        return finding._replace(kind="scheme-syntax", component=component, message=message, source=source)

    def _no_fragment(self, text: str) -> Finding:
        message = f"a {self.name} URI cannot have a fragment"
        at = text.index("#")
        return Finding("scheme-syntax", at, len(text), "fragment", "fragment", "", self.no_fragment, message)

    @property
    def registration(self) -> Registration | None:
        """The entry in IANA's registry; None if it is not registered."""
        from overthere.schemes.iana import registration

        return registration(self.name)

    @property
    def status(self) -> str:
        """ "Permanent", "Provisional", "Historical" by IANA's registry; "experimental" for "x-"; "not registered"."""
        if self.name.startswith("x-"):
            return "experimental"
        registered = self.registration
        return registered.status if registered else "not registered"

    @cached_property
    def steps(self) -> tuple[tuple[str, Callable[[Parts], Parts]], ...]:
        """The scheme rung for the kernel: each step with the paragraph that allows it (RFC 3986 6.2.3)."""
        return scheme_steps((rule.source, rule.apply) for rule in self.normal)

    @cached_property
    def common_rules(self) -> CommonRules | None:
        """The normal form as data if its only rules are `default_port` and `slash_for_empty_path`, each at most once;
        None if it has others.  Their order does not matter: one changes the authority, the other the path.
        """
        ports = [rule.apply.port for rule in self.normal if isinstance(rule.apply, _WithoutPort)]
        slashes = sum(rule.apply is _with_slash for rule in self.normal)
        if len(ports) > 1 or slashes > 1 or len(ports) + slashes < len(self.normal):
            return None
        return CommonRules(str(ports[0]) if ports else None, slashes == 1)

    def normalize(self, parts: Parts) -> Parts:
        """Apply the scheme rung to components that are normal by the generic rungs."""
        for rule in self.normal:
            parts = rule.apply(parts)
        return parts
