"""geo: a place on the Earth, or another body, by its coordinates (RFC 5870)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import ClassVar

from overthere.ground.errors import CodingError
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme, on_path

# RFC 5870 3.3; "[" and "]", which its paramchar has, cannot be in a path of RFC 3986.  In WGS-84, the default without |
# crs, degrees have two or three digits; with crs=wgs84 other numbers match too, and the locator checks them.
SYNTAX = """
geo-uri       = "geo:" ( wgs84 / coordinates crsp ) [ uncp ] *parameter
wgs84         = latitude "," longitude [ "," altitude ] [ ";crs=wgs84" ]
latitude      = [ "-" ] 1*2DIGIT [ "." 1*DIGIT ]
longitude     = [ "-" ] 1*3DIGIT [ "." 1*DIGIT ]
altitude      = num
coordinates   = num "," num [ "," num ]
crsp          = ";crs=" crslabel
crslabel      = "wgs84" / labeltext
uncp          = ";u=" pnum
parameter     = ";" labeltext [ "=" 1*paramchar ]
paramchar     = ":" / "&" / "+" / "$" / alphanum / mark / pct-encoded
labeltext     = 1*( alphanum / "-" )
num           = [ "-" ] pnum
pnum          = 1*DIGIT [ "." 1*DIGIT ]
mark          = "-" / "_" / "." / "!" / "~" / "*" / "'" / "(" / ")"
alphanum      = ALPHA / DIGIT
"""

_NUMBER = re.compile("-?[0-9]+(?:[.][0-9]+)?")
_LABEL = re.compile("[A-Za-z0-9-]+")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GeoLocator(Locator):
    """Coordinates, as written, so that no digit of their precision is lost.

    >>> from overthere import URI
    >>> there = URI("geo:48.2010,16.3695,183;u=40").locator
    >>> there, there.latitude, there.longitude, there.altitude
    (GeoLocator(coordinates=('48.2010', '16.3695', '183'), u='40'), Decimal('48.2010'), Decimal('16.3695'), Decimal('183'))
    """  # noqa: E501

    coordinates: tuple[str, ...] = ()
    """Two or three decimal numbers; in WGS-84 latitude and longitude in degrees, and altitude in metres (3.4.2)."""
    crs: str | None = None
    """The coordinate reference system; None is WGS-84, "wgs84" (3.4.1)."""
    u: str | None = None
    """The uncertainty in metres, as written; None if it is not known (3.4.3)."""
    parameters: tuple[tuple[str, str | None], ...] = ()
    """The others: name and value, None without "="."""
    scheme: str = field(default="geo", kw_only=True)
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"coordinates", "crs", "u"}

    @classmethod
    def split(cls, parts: Given) -> GeoLocator:
        front, *pars = (parts.path or "").split(";")
        coordinates = front.split(",")
        if parts.host is not None or len(coordinates) not in (2, 3) or not all(map(_NUMBER.fullmatch, coordinates)):
            expected = 'two or three decimal numbers, with "," between them'
            raise parts.refuse(front or None, expected, "coordinates", "RFC 5870 3.3")
        first: dict[str, str] = {}
        other_parameters: list[tuple[str, str | None]] = []
        for place, par in enumerate(pars):
            name, mark, value = par.partition("=")
            key = name.lower()
            if not _LABEL.fullmatch(name) or (mark and not value):
                raise parts.refuse(f";{par}", "the name of a parameter, and a value behind its =", "p", "RFC 5870 3.3")
            # crs comes first and u follows it (3.3); elsewhere the grammar reads them as other parameters.
            if key == "crs" and place == 0 and _LABEL.fullmatch(value):
                first["crs"] = value
            elif key == "u" and place == ("crs" in first) and _NUMBER.fullmatch(value) and value[0] != "-":
                first["u"] = value
            else:
                other_parameters.append((name, parts.decode(value) if mark else None))
        if first.get("crs", "wgs84").lower() == "wgs84":
            for place, digits in enumerate((2, 3)):
                if len(coordinates[place].lstrip("-").partition(".")[0]) > digits:
                    expected = f"degrees of at most {digits} digits before the point"
                    raise parts.refuse("," * place + coordinates[place], expected, "coordinates", "RFC 5870 3.3")
        return cls(tuple(coordinates), first.get("crs"), first.get("u"), tuple(other_parameters), **parts.rest())

    def join(self, to: Writer) -> str:
        numbers = (*self.coordinates, *(() if self.u is None else (self.u,)))
        if not all(map(_NUMBER.fullmatch, numbers)):
            raise CodingError("a coordinate is a decimal number")
        text = ",".join(self.coordinates)
        text += "" if self.crs is None else f";crs={self.crs}"
        text += "" if self.u is None else f";u={self.u}"
        for name, value in self.parameters:
            text += f";{name}" + ("" if value is None else "=" + to.text(value, "!*'():&+$"))
        return text

    @property
    def is_wgs84(self) -> bool:
        """Whether the coordinates are those of WGS-84, as by default (3.4.1)."""
        return self.crs is None or self.crs.lower() == "wgs84"

    @property
    def latitude(self) -> Decimal | None:
        """In decimal degrees, north of the equator; None in another reference system (3.4.2)."""
        return self._degrees(0)

    @property
    def longitude(self) -> Decimal | None:
        """In decimal degrees, east of the reference meridian; None in another reference system (3.4.2)."""
        return self._degrees(1)

    @property
    def altitude(self) -> Decimal | None:
        """In metres; None if it is not given, which does not mean 0, or in another reference system (3.4.2)."""
        return self._degrees(2)

    def _degrees(self, place: int) -> Decimal | None:
        return Decimal(self.coordinates[place]) if self.is_wgs84 and len(self.coordinates) > place else None


# -- The normal form: what 3.4.4 and 6.4 take for equal.

_MARK = re.compile("%(?:21|2[46789AB]|3A)")


def _number(text: str) -> str:
    """Without zeros that say nothing; what is no number stays."""
    if not _NUMBER.fullmatch(text):
        return text
    integer, _, digits = text.lstrip("-").partition(".")
    digits = digits.rstrip("0")
    shortened = (integer.lstrip("0") or "0") + (f".{digits}" if digits else "")
    return f"-{shortened}" if text[0] == "-" and shortened != "0" else shortened


def _plain_marks(path: str) -> str:
    front, mark, parameters = path.partition(";")
    return front + mark + _MARK.sub(lambda match: chr(int(match[0][1:], 16)), parameters)


def _names(path: str) -> str:
    front, *pars = path.split(";")
    pairs = [par.partition("=") for par in pars]
    lowered = [(name.lower() if _LABEL.fullmatch(name) else name, mark, value) for name, mark, value in pairs]
    if lowered and lowered[0][0] == "crs":
        lowered[0] = ("crs", lowered[0][1], lowered[0][2].lower() if "%" not in lowered[0][2] else lowered[0][2])
        lowered = lowered[1:] if lowered[0][2] == "wgs84" and "crs" not in (p[0] for p in lowered[1:2]) else lowered
    return ";".join([front, *map("".join, lowered)])


def _numbers(path: str) -> str:
    front, *pars = path.split(";")
    coordinates = [_number(coordinate) for coordinate in front.split(",")]
    crs = pars[0] if pars and pars[0].startswith("crs=") else ""
    if crs in ("", "crs=wgs84") and len(coordinates) in (2, 3) and _NUMBER.fullmatch(coordinates[1]):
        if coordinates[0].lstrip("-") == "90":  # a pole
            coordinates[1] = "0"
        elif coordinates[1] == "-180":
            coordinates[1] = "180"
    at = 1 if crs else 0
    if len(pars) > at and pars[at].startswith("u="):
        pars[at] = "u=" + _number(pars[at][2:])
    return ";".join([",".join(coordinates), *pars])


def _in_order(path: str) -> str:
    front, *pars = path.split(";")
    at = 1 if pars and pars[0].startswith("crs=") else 0
    at += 1 if len(pars) > at and pars[at].startswith("u=") else 0
    sorted_parameters = sorted(pars[at:], key=_name)
    # After the first two, a second crs or u must not move to the front.
    if any(_name(parameter) in ("crs", "u") for parameter in sorted_parameters):
        return path
    return ";".join([front, *pars[:at], *sorted_parameters])


def _name(par: str) -> str:
    return par.partition("=")[0]


SCHEME = Scheme(
    name="geo",
    title="Geographic locations",
    documents={"rfc3986": "RFC 5870"},
    locator=GeoLocator,
    syntax=SYNTAX,
    rules={"rfc3986": ("geo-uri",)},
    shape=r"-?[0-9]{1,3}(?:\.[0-9]{1,32})?,-?[0-9]",
    linkable=True,
    locates_nothing='a geo URI identifies a physical location, and there is no "dereference" of it: an application '
    "may show it on a map (RFC 5870 1, 4)",
    normal=(
        NormalRule("needless escapes in a parameter are decoded", "RFC 5870 3.4.4, 6.4", on_path(_plain_marks)),
        NormalRule(
            "names and the reference system are in lower case, and wgs84 is left out",
            "RFC 5870 3.3, 3.4.1, 3.4.4",
            on_path(_names),
        ),
        NormalRule(
            "numbers have no needless zeros, and a pole no longitude", "RFC 5870 3.4.2, 3.4.4", on_path(_numbers)
        ),
        NormalRule("parameters are in the order of their names", "RFC 5870 3.4.4, 6.4", on_path(_in_order)),
    ),
    examples=(
        Example("geo:13.4125,103.8667", "RFC 5870 6.1"),
        Example("geo:48.2010,16.3695,183", "RFC 5870 6.1", "with an altitude"),
        Example("geo:48.198634,16.371648;crs=wgs84;u=40", "RFC 5870 6.2", "within 40 metres"),
        Example("geo:90,-22.43;crs=WGS84", "RFC 5870 6.4", "the North Pole, as geo:90,46"),
        Example("geo:66,30;u=6.500;FOo=this%2dthat", "RFC 5870 6.4", "as geo:66.0,30;u=6.5;foo=this-that"),
    ),
    notes=(
        "Values of other parameters are compared by their octets: what their numbers or their case mean, only those "
        "know who define them (RFC 5870 6.4).",
        "An altitude that is not given is not known, and not 0 (RFC 5870 3.4.2).",
        "The query that maps read, geo:0,0?q=..., is in no document (RFC 5870 has none).",
    ),
)
