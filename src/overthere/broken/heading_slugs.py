"""Anchors that programs generate from the text of a heading, before equal ones are numbered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from unicodedata import category

from overthere.ground.unicode_forms import normalize_unicode

CODE_HYPHEN = "\ufdd1"
"""Replaces a hyphen in code, which is no part of a dash: a noncharacter (Unicode 23.7)."""


def slug(text: str, rule: str) -> str:
    """The anchor of a heading by a rule.

    >>> [slug("What's new in 2.0?", rule) for rule in ("github", "gitlab", "sphinx", "mkdocs")]
    ['whats-new-in-20', 'whats-new-in-20', 'what-s-new-in-2-0', 'whats-new-in-20']
    """
    return SLUGS[rule](text)


_NO_WORD = re.compile(r"[^\w\- ]")
_NO_NAME = re.compile(r"[^a-z0-9]+")
_NO_MKDOCS = re.compile(r"[^\w\s-]")
_JOINTS = re.compile(r"[-\s]+")
_HYPHENS = re.compile(r"-{2,}")
_GITLAB_BADGE = re.compile(
    r"\*{0,9}\((?:premium|ultimate|free|beta|experiment)(?:\s(?:all|self|saas))?(?:\s(?:beta|experiment))?\)\*{0,9}"
)
"""The badges of GitLab's documentation, such as `**(PREMIUM SELF)**`."""
_CIRCLED = range(0x24B6, 0x24EA)
"""Symbols that are alphabetic (Other_Alphabetic)."""
_DOCUTILS = str.maketrans(
    "\u00f8\u0111\u0127\u0131\u0142\u0167\u0180\u0183\u0188\u018c\u0192\u0199\u019a\u019e\u01a5\u01ab\u01ad\u01b4\u01b6\u01e5"
    "\u0225\u0234\u0235\u0236\u0237\u023c\u023f\u0240\u0247\u0249\u024b\u024d\u024f",
    "odhiltbbcdfklnpttyzgzlntjcszejqry",
) | {0xDF: "sz", 0xE6: "ae", 0x153: "oe", 0x238: "db", 0x239: "qp"}
"""Letters that no decomposition maps to US-ASCII, and docutils' replacements."""
_NO_KRAMDOWN = re.compile(r"[^a-zA-Z0-9 -]")
_BEFORE_LETTER = re.compile(r"\A[^a-zA-Z]+")
_COMBINING = re.compile("[\u0300-\u036f]")
_CONTROLS = re.compile("[\x00-\x1f]")
_NO_VITEPRESS = re.compile(r"[\s~`!@#$%^&*()\-_+=\[\]{}|\\;:\"'\u201c\u201d\u2018\u2019<>,.?/]+")
_DASHES = re.compile(r"-{2,3}")
_DOTS = re.compile(r"\.{3}")
_TYPOGRAPHIC = re.compile(r"-{2,3}|\.{3}")


def _is_word(char: str) -> bool:
    """Whether a character is a letter, a mark, a decimal digit or a connector, as in Ruby's `\\p{Word}` (UTS 18)."""
    kind = category(char)
    return kind[0] in "LM" or kind in ("Nd", "Nl", "Pc") or ord(char) in _CIRCLED


def _lower(text: str) -> str:
    """Lower case as in Ruby, Haskell and Rust: a final sigma is not special."""
    return text.replace("\u03a3", "\u03c3").lower()


def _github(text: str) -> str:
    # Drop punctuation, symbols, and numbers such as \u00b2 and \u00bd; keep marks; every blank becomes a hyphen.
    return _docusaurus(text.strip())


def _docusaurus(text: str) -> str:
    # The package github-slugger.
    text = text.lower()
    if text.isascii():
        return _NO_WORD.sub("", text).replace(" ", "-")
    return "".join(char for char in text if char in "- " or _is_word(char)).replace(" ", "-")


def _gitlab(text: str) -> str:
    plain = _HYPHENS.sub("-", _github(_GITLAB_BADGE.sub("", text.strip().lower())))
    return f"anchor-{plain}" if plain.isascii() and plain.isdecimal() else plain


def docutils(text: str) -> str:
    """The id of docutils.nodes.make_id: US-ASCII letters and digits with hyphens between them, beginning with a letter.

    >>> docutils("2. \u00dcber uns!")
    'uber-uns'
    """
    plain = normalize_unicode("NFKD", text.lower().translate(_DOCUTILS)).encode("ascii", "ignore").decode()
    return _NO_NAME.sub("-", plain).strip("-").lstrip("0123456789-")


def _mkdocs(text: str) -> str:
    # Python-Markdown, extension toc, `slugify`.
    plain = normalize_unicode("NFKD", text).encode("ascii", "ignore").decode()
    return _JOINTS.sub("-", _NO_MKDOCS.sub("", plain).strip().lower())


def _pymdownx(text: str) -> str:
    # pymdownx.slugs.slugify(case="lower")
    return _NO_MKDOCS.sub("", " ".join(normalize_unicode("NFC", text).split()).lower()).replace(" ", "-")


def _pandoc(text: str) -> str:
    # Text.Pandoc.Shared, inlineListToIdentifier, with the extension smart.
    plain = _TYPOGRAPHIC.sub("", _lower(text))
    anchor = "-".join("".join(c for c in plain if c in "_-." or c.isspace() or category(c)[0] in "LN").split())
    first = next((at for at, c in enumerate(anchor) if category(c)[0] == "L"), len(anchor))
    return anchor[first:] or "section"


def _pandoc_gfm(text: str) -> str:
    plain = _DASHES.sub("", _lower(" ".join(text.split())))
    anchor = (char for char in plain if char in "- " or category(char)[0] in "LNM" or category(char) == "Pc")
    return "".join(anchor).replace(" ", "-") or "section"


def _kramdown(text: str) -> str:
    # Kramdown::Converter::Base#basic_generate_id, from the source of the heading.
    return _NO_KRAMDOWN.sub("", _BEFORE_LETTER.sub("", text)).replace(" ", "-").lower() or "section"


def _jekyll(text: str) -> str:
    # Kramdown::Parser::GFM#generate_gfm_header_id: dashes and ellipses have already become single characters.
    plain = _lower(_DOTS.sub("", _DASHES.sub("", text)))
    plain = plain.replace(CODE_HYPHEN, "-")
    return "".join(char for char in plain if char in "- \t" or _is_word(char)).replace(" ", "-").replace("\t", "-")


def _vitepress(text: str) -> str:
    # @mdit-vue/shared, `slugify`.
    plain = _COMBINING.sub("", normalize_unicode("NFKD", text))
    anchor = _HYPHENS.sub("-", _NO_VITEPRESS.sub("-", _CONTROLS.sub("", plain))).strip("-")
    return f"_{anchor}".lower() if anchor[:1].isdecimal() and anchor[:1].isascii() else anchor.lower()


def _hugo(text: str) -> str:
    # Hugo, `sanitizeAnchorName`, from the source of the heading: without marks, and with decimal digits only.
    anchor = (char for char in _lower(text) if char in "-_ " or category(char)[0] == "L" or category(char) == "Nd")
    return "".join(anchor).replace(" ", "-") or "heading"


def _mdbook(text: str) -> str:
    anchor = ("-" if c.isspace() else c for c in _lower(text.strip()) if c.isalnum() or c in "_-" or c.isspace())
    return "".join(anchor)


SLUGS: Mapping[str, Callable[[str], str]] = {
    "github": _github,
    "gitlab": _gitlab,
    "sphinx": docutils,
    "mkdocs": _mkdocs,
    "pymdownx": _pymdownx,
    "myst": lambda text: _NO_WORD.sub("", text.lower().replace(" ", "-")),  # myst_parser.slugs.github_slugify
    "docusaurus": _docusaurus,
    "mdbook": _mdbook,
    "notebook": lambda text: text.replace(" ", "-"),  # nbconvert and Jupyter: blanks alone change
    "pandoc": _pandoc,
    "pandoc-gfm": _pandoc_gfm,
    "kramdown": _kramdown,
    "jekyll": _jekyll,
    "vitepress": _vitepress,
    "hugo": _hugo,
}
