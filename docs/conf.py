"""The documentation site: Sphinx over the pages of this folder, `make docs` (offline; no warning is let through)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

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
html_css_files = ["figures.css"]
html_theme = "furo"
html_title = "overthere"
html_show_sourcelink = False
html_copy_source = False
# The theme's own fonts are the system's; nothing is fetched from elsewhere.
html_theme_options = {"navigation_with_keys": True}
