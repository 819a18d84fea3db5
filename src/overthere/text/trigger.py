"""The search for places in a text where a URI may begin: one expression for each kind of search."""

from __future__ import annotations

import re
from collections.abc import Callable

from overthere import kernel
from overthere.ground.caches import bounded_cache
from overthere.text.rules import COUNTRY_CODES, GENERIC_NAMES, NAME, WORD

# Quick to reject: most places have a letter before them.
_LABEL = rf"(?=[^\x00-,./:-@\[-`{{-\x7f-])(?:[A-Za-z0-9-]++|(?=[^\x00-\x7f]){NAME})++"
_HOST = rf"(?<![\w@/.:%=\\-])(?=[A-Za-z0-9\x80-\U0010ffff])(?<!{WORD}){_LABEL}(?:\.{_LABEL})++(?!{WORD})"


@bounded_cache(16)
def compile_trigger(
    schemes: frozenset[str], abbreviated: bool, hosts: bool, mail: bool, listed: bool = False
) -> Callable[[str, int], re.Match[str] | None]:
    """Return the search for the next place where a URI may begin, or has its colon or dot.

    Each alternative reads its own part of the text.  Each but `_HOST` begins with a certain character, so that other
    text is skipped quickly.  The native kernel tries the expression only where it may match; for US-ASCII hosts, where
    their last label is known, or anywhere if `listed`.
    """
    # Schemes in a text have no other characters.
    names = sorted(name for name in {*schemes, "url"} if name.isascii() and name)
    widths = {len(name): [re.escape(word) for word in names if len(word) == len(name)] for name in names}
    ends = "|".join(re.escape(name[-min(2, *widths) :]) for name in names)
    named = "|".join(rf"(?<=(?i:{'|'.join(alike)}):)" for alike in widths.values())
    # Between brackets, white space and then line marks may be anywhere (`text.read_delimited`).
    blank = r"(?u:[\s>|])*+"
    mark = r"(?u:(?<=[\s>|])[>|])"
    wrapped = [rf"(?:(?u:[A-Za-z0-9+.\s_%'-])|{mark})*+[:@]" if mail else rf"(?:(?u:[A-Za-z0-9+.\s-])|{mark})*+:"]
    if abbreviated:
        wrapped += [blank.join((*letters, r"\.")) for letters in (("[Ww]",) * 3, ("[Ff]", "[Tt]", "[Pp]"))]
    alternatives = [
        rf"<(?=\s*+(?=[A-Za-z])(?:{'|'.join(wrapped)}))",
        rf'"(?=[A-Za-z][A-Za-z0-9+.-]{{1,64}}+:(?:{blank}/|{named}))',
        # Slashes without a host count after a word that ends like a scheme.
        rf":(?:(?=//[^\s/?#]|///[^\s/])|(?=//)(?<=(?i:{ends}):)|{named})",
    ]
    if abbreviated:
        alternatives.append(r"\.(?<=(?i:www|ftp)\.)(?<![@/.\\-]...\.)" + rf"(?<!{WORD}...\.)" + r"(?=[^\s.])")
    alternatives += [r"@(?<=[A-Za-z0-9_+%-]@)(?=[A-Za-z0-9])"] * mail
    alternatives += [(r"(?!(?i:www|ftp)\.)" if abbreviated else "") + _HOST] * hosts
    pattern = re.compile("|".join(alternatives), re.ASCII)
    if kernel.Trigger is None:
        return pattern.search
    tops = [] if listed else list(filter(str.isascii, GENERIC_NAMES | COUNTRY_CODES))
    return kernel.Trigger(pattern, names, abbreviated, mail, tops if hosts else None).search  # type: ignore[no-any-return]
