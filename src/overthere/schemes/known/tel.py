"""tel: a telephone number (RFC 3966)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from overthere.ground.errors import CodingError
from overthere.schemes.in_text import PHONE
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme, lower_except_escapes, on_path


def _other_names(*names: str) -> str:
    """As ABNF, what is a pname but none of `names`: along each of their prefixes, any char that leaves them."""
    prefixes = {name[:end] for name in names for end in range(len(name))}
    lines = []
    for prefix in sorted(prefixes):
        onward = sorted({name[len(prefix)] for name in names if name.startswith(prefix)})
        away = " / ".join(f'"{char}"' for char in _NAME_CHARACTERS if char not in onward)
        continuations = (
            f'"{char}" ' + (_from_prefix(prefix + char) if prefix + char in prefixes else "1*pname-char")
            for char in onward
        )
        choices = " / ".join([f"( {away} ) *pname-char", *continuations])
        lines.append(f"{_from_prefix(prefix)} = " + (f"[ {choices} ]" if prefix else choices))
    return "\n".join(lines)


def _from_prefix(prefix: str) -> str:
    return f"pname-from-{prefix}"


_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"

# RFC 3966 3, over the characters and the cut of RFC 3986: "#", "[" and "]" are escaped, "?" begins a query, and ";"
# ends a subaddress as it ends every value.  According to the text, the *par of the ABNF come first, and none | occurs
# twice; "other parameters" (5.4), those of the rule `parameter`, therefore have other names.
SYNTAX = f"""
telephone-uri        = "tel:" telephone-subscriber
telephone-subscriber = global-number / local-number
global-number        = global-number-digits [ isdn-subaddress / extension ] *parameter
local-number         = local-number-digits [ isdn-subaddress / extension ] context *parameter
isdn-subaddress      = ";isub=" 1*( tel-unreserved / pct-encoded / "/" / ":" / "@" / "&" / "=" / "+" / "$" / "," )
extension            = ";ext=" 1*phonedigit
context              = ";phone-context=" descriptor
descriptor           = domainname / global-number-digits
global-number-digits = "+" *phonedigit DIGIT *phonedigit
local-number-digits  = *phonedigit-hex ( HEXDIG / "*" / "%23" ) *phonedigit-hex
domainname           = *( domainlabel "." ) toplabel [ "." ]
domainlabel          = alphanum / alphanum *( alphanum / "-" ) alphanum
toplabel             = ALPHA / ALPHA *( alphanum / "-" ) alphanum
parameter            = ";" pname [ "=" pvalue ]
pname                = {_from_prefix("")}
{_other_names("isub", "ext", "phone-context")}
pname-char           = alphanum / "-"
pvalue               = 1*paramchar
paramchar            = tel-unreserved / pct-encoded / "/" / ":" / "&" / "+" / "$"
tel-unreserved       = alphanum / "-" / "_" / "." / "!" / "~" / "*" / "'" / "(" / ")"
phonedigit           = DIGIT / [ visual-separator ]
phonedigit-hex       = HEXDIG / "*" / "%23" / [ visual-separator ]
visual-separator     = "-" / "." / "(" / ")"
alphanum             = ALPHA / DIGIT
"""

_GLOBAL = re.compile(r"\+[-.()]*[0-9][-.()0-9]*")
_LOCAL = re.compile(r"[-.()]*[0-9A-Fa-f*#][-.()0-9A-Fa-f*#]*")
_SEPARATORS = re.compile(r"[-.()]")
_FIRST = ("isub", "ext", "phone-context")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TelLocator(Locator):
    """A telephone number, "a globally unique identifier" (RFC 3966 1); not the digits to dial (7.4).

    >>> from overthere import URI
    >>> there = URI("tel:863-1234;phone-context=+1-914-555").locator
    >>> there, there.is_global, there.digits
    (TelLocator(number='863-1234', phone_context='+1-914-555'), False, '8631234')
    """

    number: str = ""
    """As written, with its visual separators "-", ".", "(" and ")"; a global one begins with "+"."""
    isub: str | None = None
    """The ISDN subaddress after the number (5.2); octets that are not valid UTF-8 as lone surrogates."""
    extension: str | None = None
    """An extension behind a PBX that does not use ISDN (5.3); never together with a subaddress."""
    phone_context: str | None = None
    """The context in which a local number is unique: a domain name, or the first digits of a global number (5.1.5)."""
    parameters: tuple[tuple[str, str | None], ...] = ()
    """The others (5.4): name and value, None without "="; sorted, because their order means nothing (3, 4)."""
    scheme: str = field(default="tel", kw_only=True)

    def __post_init__(self) -> None:
        Locator.__post_init__(self)
        object.__setattr__(self, "parameters", tuple(sorted(self.parameters, key=lambda pair: pair[0].lower())))

    @property
    def is_global(self) -> bool:
        """Whether the number is unique everywhere (5.1.4); otherwise it is unique within its phone context (5.1.5)."""
        return self.number.startswith("+")

    @property
    def digits(self) -> str:
        """The number without its visual separators, which are not compared and not dialled (5.1.1).

        >>> TelLocator("+1-201-555-0123").digits
        '+12015550123'
        """
        return _SEPARATORS.sub("", self.number)

    @property
    def mandatory(self) -> tuple[str, ...]:
        """The names of the parameters that must not be ignored, even if they are unknown (5.4).

        >>> TelLocator("+1", parameters=(("m-x", "1"), ("y", None))).mandatory
        ('m-x',)
        """
        return tuple(name for name, _ in self.parameters if name.lower().startswith("m-"))

    @classmethod
    def split(cls, parts: Given) -> TelLocator:
        if parts.host is not None or not parts.path:
            raise parts.refuse(parts.path, "a telephone number", "telephone-subscriber", "RFC 3966 3")
        raw, *pars = parts.path.split(";")
        number = parts.decode(raw)
        # "+" delimits, and then "MUST NOT be percent encoded" (3).
        if not (_GLOBAL if raw.startswith("+") else _LOCAL).fullmatch(number):
            raise parts.refuse(raw, "a telephone number", "telephone-subscriber", "RFC 3966 3")
        first: dict[str, str] = {}
        extras: list[tuple[str, str | None]] = []
        for par in pars:
            pname, mark, pvalue = par.partition("=")
            name, value = parts.decode(pname), parts.decode(pvalue) if mark else None
            key = name.lower()
            if not name:
                raise parts.refuse(f";{par}", "the name of a parameter", "pname", "RFC 3966 3")
            if key not in _FIRST:
                extras.append((name, value))
            elif value is None:
                raise parts.refuse(f";{par}", f"a value of {key!r}", "par", "RFC 3966 3")
            elif key in first:
                raise parts.refuse(f";{par}", f"{key!r} not more than once", "par", "RFC 3966 3")
            else:
                first[key] = value
        if "isub" in first and "ext" in first:
            raise parts.refuse(parts.path, "a subaddress or an extension, not both", "par", "RFC 3966 5.3")
        if not first.get("phone-context") and ("phone-context" in first or not raw.startswith("+")):
            raise parts.refuse(None, "a phone-context for a local number", "context", "RFC 3966 5.1.5")
        return cls(
            number, first.get("isub"), first.get("ext"), first.get("phone-context"), tuple(extras), **parts.rest()
        )

    def join(self, to: Writer) -> str:
        text = to.text(self.number, "+*()")
        # "+", ";", "=" and "?" "MUST be percent encoded if they appear in tel URI parameter values" (3).
        if self.isub is not None:
            text += ";isub=" + to.text(self.isub, "!*'():@&$,")
        if self.extension is not None:
            text += ";ext=" + to.text(self.extension, "()")
        if self.phone_context is not None:
            text += ";phone-context=" + to.text(self.phone_context, "+()" if self.phone_context[:1] == "+" else "")
        for parameter in self.parameters:
            if len(parameter) != 2:
                raise CodingError(f"{parameter!r} is not a name with a value")
            name, value = parameter
            text += ";" + to.text(name) + ("" if value is None else "=" + to.text(value, "!*'():&$"))
        return text


_MARK = re.compile("%(?:21|2[789A])")


def _plain_marks(path: str) -> str:
    return _MARK.sub(lambda match: chr(int(match[0][1:], 16)), path)


def _no_separators(path: str) -> str:
    number, *pars = path.split(";")
    if _GLOBAL.fullmatch(number) or _LOCAL.fullmatch(number.replace("%23", "#")):
        number = _SEPARATORS.sub("", number)
    for at, par in enumerate(pars):
        name, _, value = par.partition("=")
        if (name == "phone-context" and _GLOBAL.fullmatch(value)) or name == "ext":
            pars[at] = f"{name}={_SEPARATORS.sub('', value)}" if "=" in par else par
    return ";".join([number, *pars])


def _in_order(path: str) -> str:
    number, *pars = path.split(";")
    return ";".join([number, *sorted(pars, key=_place)])


def _place(par: str) -> tuple[int, str]:
    name = par.partition("=")[0].lower()
    return {"isub": 0, "ext": 0, "phone-context": 1}.get(name, 2), name


SCHEME = Scheme(
    name="tel",
    title="Telephone numbers",
    documents={"rfc3986": "RFC 3966"},
    locator=TelLocator,
    syntax=SYNTAX,
    rules={"rfc3986": ("telephone-uri",)},
    shape=PHONE,
    linkable=True,
    locates_nothing=(
        'a tel URI "is a globally unique identifier ("name") only; it does not describe the steps necessary to reach '
        'a particular number" (RFC 3966 1), and nothing calls it without the consent of the user (11)'
    ),
    normal=(
        NormalRule('an escape of one of "!*\'()" is that character', "RFC 3966 3", on_path(_plain_marks)),
        NormalRule("letters have no case, and lower case is preferred", "RFC 3966 4", on_path(lower_except_escapes)),
        NormalRule("visual separators are not compared", "RFC 3966 4, 5.1.1", on_path(_no_separators)),
        NormalRule("parameters have their order", "RFC 3966 3, 4", on_path(_in_order)),
    ),
    examples=(
        Example("tel:+1-816-555-1212", "RFC 3986 1.1.2"),
        Example("tel:+1-201-555-0123", "RFC 3966 6", "a phone number in the United States"),
        Example("tel:7042;phone-context=example.com", "RFC 3966 6", "a local number"),
        Example("tel:863-1234;phone-context=+1-914-555", "RFC 3966 6", "one within a phone prefix"),
        Example("tel:1234;phone-context=munich.example.com", "RFC 3966 9"),
        Example("tel:+1-212-555-0101", "RFC 3966 8"),
    ),
    notes=(
        "The number is an identifier: the dialler knows how to dial it from here (RFC 3966 1, 7.4).",
        "A local number should not be used if there is a global one (RFC 3966 5.1.5).",
        "A URI with a mandatory parameter that is not understood must not be used (RFC 3966 5.4).",
    ),
)
