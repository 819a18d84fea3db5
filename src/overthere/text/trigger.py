"""The places in a text where a URI may begin: one expression for each kind of search."""

from __future__ import annotations

import re
from collections.abc import Callable

from overthere import kernel
from overthere.ground.caches import bounded_cache
from overthere.text.rules import COUNTRY_CODES, GENERIC_NAMES, NAME, WORD

__all__ = ["compile_trigger"]

# What is quick to see first: most places have a letter before them.
_LABEL = rf"(?=[^\x00-,./:-@\[-`{{-\x7f-])(?:[A-Za-z0-9-]++|(?=[^\x00-\x7f]){NAME})++"
_HOST = rf"(?<![\w@/.:%=\\-])(?=[A-Za-z0-9\x80-\U0010ffff])(?<!{WORD}){_LABEL}(?:\.{_LABEL})++(?!{WORD})"


@bounded_cache(16)
def compile_trigger(
    schemes: frozenset[str], abbreviated: bool, hosts: bool, mail: bool, listed: bool = False
) -> Callable[[str, int], re.Match[str] | None]:
    """The search for where something may begin, has a colon or a dot.

    Each alternative looks at its own part of the text.  Each but `_HOST` begins with the character that it waits for,
    so that other text is skipped quickly; the native kernel tries the expression only where it may match, for hosts of
    US-ASCII where their last label is known, or `listed` names may be.
    """
    # No scheme in a text holds another character.
    names = sorted(name for name in {*schemes, "url"} if name.isascii() and name)
    widths = {len(name): [re.escape(one) for one in names if len(one) == len(name)] for name in names}
    ends = "|".join(re.escape(name[-min(2, *widths) :]) for name in names)
    named = "|".join(rf"(?<=(?i:{'|'.join(alike)}):)" for alike in widths.values())
    # Between brackets white space and, after it, line marks may stand anywhere (`text.read_delimited`).
    blank = r"(?u:[\s>|])*+"
    mark = r"(?u:(?<=[\s>|])[>|])"
    wrapped = [rf"(?:(?u:[A-Za-z0-9+.\s_%'-])|{mark})*+[:@]" if mail else rf"(?:(?u:[A-Za-z0-9+.\s-])|{mark})*+:"]
    if abbreviated:
        wrapped += [blank.join((*letters, r"\.")) for letters in (("[Ww]",) * 3, ("[Ff]", "[Tt]", "[Pp]"))]
    wanted = [
        rf"<(?=\s*+(?=[A-Za-z])(?:{'|'.join(wrapped)}))",
        rf'"(?=[A-Za-z][A-Za-z0-9+.-]{{1,64}}+:(?:{blank}/|{named}))',
        # Slashes that no host follows count behind what ends as the schemes do.
        rf":(?:(?=//[^\s/?#]|///[^\s/])|(?=//)(?<=(?i:{ends}):)|{named})",
    ]
    if abbreviated:
        wanted.append(r"\.(?<=(?i:www|ftp)\.)(?<![@/.\\-]...\.)" + rf"(?<!{WORD}...\.)" + r"(?=[^\s.])")
    wanted += [r"@(?<=[A-Za-z0-9_+%-]@)(?=[A-Za-z0-9])"] * mail
    wanted += [(r"(?!(?i:www|ftp)\.)" if abbreviated else "") + _HOST] * hosts
    pattern = re.compile("|".join(wanted), re.ASCII)
    if kernel.Trigger is None:
        return pattern.search
    tops = [] if listed else list(filter(str.isascii, GENERIC_NAMES | COUNTRY_CODES))
    return kernel.Trigger(pattern, names, abbreviated, mail, tops if hosts else None).search  # type: ignore[no-any-return]
