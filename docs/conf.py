"""The documentation site: Sphinx over the pages of this folder, `make docs` (offline; no warning is let through)."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from sphinx.addnodes import index
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import folder
import overthere

project = "overthere"
author = "The overthere developers"
copyright = "the overthere developers"
version = release = overthere.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "docstrings"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["pictures/**"]
# A name that two modules have, such as `Found`, is linked to one of them.
suppress_warnings = ["ref.python"]

# A heading has the anchor that it has on the pages of a code host, so that one link serves both.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]

autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
add_module_names = False

# The blank line that ends an example is for doctest, not for the reader.
highlight_options = {"python": {"stripnl": True}}

# What is typed is copied, neither prompt nor answer.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_static_path = ["style"]
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_css_files = ["figures.css"]
html_theme = "furo"
html_title = "overthere"
html_show_sourcelink = False
html_copy_source = False
# The theme's own fonts are the system's; nothing is fetched from elsewhere.
html_theme_options = {"navigation_with_keys": True}

# Words that people search and that a long title holds, by the title's beginning; those in parentheses are found anyway.
SEARCHED = {
    "Convert a Windows path": ["windows path", "unc path"],
    "Write a mailto": ["mailto"],
    "Set a user and a password": ["credentials", "userinfo"],
    "Add or remove the trailing slash": ["trailing slash"],
    "Compare two URLs": ["equality", "ignore order"],
    "Open a URL that a user gave": ["allowed hosts", "allowlist"],
    "Read a connection string": ["database urls", "database url", "dsn"],
    "Find out whether a URL is absolute": ["is absolute", "is_absolute"],
    "Rename a parameter": ["rename parameter"],
    "Read the parameters of a fragment": ["fragment parameters"],
}


def index_titles(_: Sphinx, document: nodes.document) -> None:
    """Index entries lead a search to the section; its whole title is no match for a word of it."""
    for section in document.findall(nodes.section):
        title = section.next_node(nodes.title)
        words = re.findall(r"\(([^()]+)\)$", title.astext()) if title else []
        words += [
            word for start, those in SEARCHED.items() if title and title.astext().startswith(start) for word in those
        ]
        if words:
            section.insert(1, index(entries=[("single", word, section["ids"][0], "main", None) for word in words]))


def link_examples(_: Sphinx, page: str, text: list[str]) -> None:
    """On the site, each example of an error leads to its anatomy; the pages of a code host have no explainer."""
    if page == "errors":
        text[0] = re.sub(r"^(- (?:Example|Correct): `([^`]+)`)$", _link_example, text[0], flags=re.MULTILINE)


def _link_example(line: re.Match[str]) -> str:
    written = line[2].replace("\\t", "\t")
    return f'{line[1]} <a href="try/anatomy.html#/text={quote(written, safe="")}">see it</a>'


def add_explainer(app: Sphinx, error: Exception | None) -> None:
    """The explainer without a server, in the folder `try` of the site."""
    if error is None and app.builder.format == "html":
        folder.build(Path(app.outdir, "try"))


def setup(app: Sphinx) -> None:
    app.connect("source-read", link_examples)
    app.connect("build-finished", add_explainer)
    app.connect("doctree-read", index_titles)
