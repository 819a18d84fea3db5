"""otpauth: the key of one-time passwords, as authenticators use it (Key Uri Format; RFC 4226, RFC 6238)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from overthere.ground.errors import CodingError
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme

DOCUMENT = "Key Uri Format"
# otpauth://TYPE/LABEL?PARAMETERS.  A secret there must be, once; for hotp a counter too, which the locator tells.
SYNTAX = """
otpauth-uri = "otpauth:" "//" otp-type "/" label "?" *( other "&" ) otp-secret *( "&" other )
otp-type    = "totp" / "hotp"
label       = [ label-part ( ":" / "%3A" ) *"%20" ] label-part
label-part  = 1*label-char
label-char  = unreserved / sub-delims / "@" / "/"
            / "%" ( ( DIGIT-not-3 / "A" / "B" / "C" / "D" / "E" / "F" ) HEXDIG / "3" HEXDIG-not-A )
DIGIT-not-3 = %x30-32 / %x34-39
HEXDIG-not-A = DIGIT / "B" / "C" / "D" / "E" / "F"
otp-secret  = %s"secret=" 1*( ALPHA / %x32-37 ) *( "=" / "%3D" )
other       = other-name [ "=" *value-char ]
other-name  = %s"issuer" / %s"algorithm" / %s"digits" / %s"counter" / %s"period" / %s"image"
value-char  = unreserved / pct-encoded / "!" / "$" / "'" / "(" / ")" / "*" / "+" / "," / ";" / ":" / "@" / "/" / "?"
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class OTPAuthLocator(Locator):
    """The key of an account, and how one-time passwords are made with it.

    >>> from overthere import URI
    >>> there = URI("otpauth://totp/ACME%20Co:joe@h?secret=JBSWY3DP&issuer=ACME%20Co&digits=8").locator
    >>> there.issuer, there.account, there.parameter("digits"), "JBSWY3DP" in repr(there)
    ('ACME Co', 'joe@h', '8', False)
    """

    type: str = ""
    """"totp" by the time (RFC 6238), "hotp" by a counter (RFC 4226); as written."""
    label: str = ""
    """The account, and its issuer before a ":"; decoded."""
    secret: str | None = None
    """The secret, in Base32, decoded from its escapes; not shown.  None without one."""
    parameters: tuple[tuple[str, str | None], ...] = ()
    """The others in their order: name and value, None without "="."""
    place: int = 0
    """The number of parameters before the secret."""
    scheme: str = field(default="otpauth", kw_only=True)
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"type"}

    @classmethod
    def split(cls, parts: Given) -> OTPAuthLocator:
        if not parts.host or parts.path is None or parts.user is not None or parts.port is not None:
            raise parts.refuse(parts.path or None, '"//", a type, "/" and a label', "otpauth-uri", DOCUMENT)
        pairs = [pair.partition("=") for pair in parts.query.split("&")] if parts.query is not None else []
        secrets = [number for number, (name, mark, _) in enumerate(pairs) if mark and name == "secret"]
        if len(secrets) != 1:
            raise parts.refuse(None, 'one parameter "secret"', "otp-secret", DOCUMENT)
        (at,) = secrets
        secret = pairs.pop(at)[2]
        return cls(
            parts.host,
            parts.decode(parts.path),
            parts.decode(secret),
            tuple((parts.decode(name), parts.decode(value) if mark else None) for name, mark, value in pairs),
            at,
            **parts.rest(query=False),
        )

    def join(self, to: Writer) -> str:
        if self.secret is None or not 0 <= self.place <= len(self.parameters):
            raise CodingError("there is a secret, among the parameters")
        keep = "!$'()*,;:@/?"
        pairs = [
            to.text(name, keep) + ("" if value is None else "=" + to.text(value, keep))
            for name, value in self.parameters
        ]
        pairs.insert(self.place, "secret=" + to.text(self.secret, keep + "="))
        return f"//{self.type}/{to.text(self.label, '!$&()*,;:@/+=' + chr(39))}?" + "&".join(pairs)

    def parameter(self, name: str) -> str | None:
        """Return the value of the first parameter of that name; None without one."""
        return next((value for parameter_name, value in self.parameters if parameter_name == name), None)

    @property
    def issuer(self) -> str | None:
        """The issuer of the key: the parameter, otherwise the text before the ":" of the label (Issuer)."""
        before, mark, _ = self.label.partition(":")
        return self.parameter("issuer") or (before if mark else None)

    @property
    def account(self) -> str:
        """The account in the label, without its issuer and the spaces after the ":" (Label)."""
        before, mark, account = self.label.partition(":")
        return account.lstrip(" ") if mark else before


SCHEME = Scheme(
    name="otpauth",
    title="Keys of one-time passwords",
    documents={"rfc3986": "Key Uri Format (google-authenticator)"},
    locator=OTPAuthLocator,
    plus=False,
    syntax=SYNTAX,
    rules={"rfc3986": ("otpauth-uri",)},
    locates_nothing="it holds a key for an authenticator, and names no resource (Key Uri Format)",
    examples=(
        Example("otpauth://totp/Example:alice@google.com?secret=JBSWY3DPEHPK3PXP&issuer=Example", DOCUMENT),
        Example(
            "otpauth://totp/ACME%20Co:john.doe@email.com?secret=HXDMVJECJJWSRB3HWIZR4IFUGFTMXBOZ&issuer=ACME%20Co"
            "&algorithm=SHA1&digits=6&period=30",
            DOCUMENT,
            "with all that is optional",
        ),
    ),
    notes=(
        "Everybody who sees the URI has the key: a locator hides it, but the URI shows it.",
        "For hotp the parameter counter is required; some authenticators ignore algorithm, digits and period.",
    ),
)
