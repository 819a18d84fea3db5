"""Site generators: a small project of each, and how its references are judged."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import BinaryIO

import pytest

from growth import outgrows
from overthere.broken import KINDS, Checker, Summary, check
from overthere.broken.generators import configuration, inserts, mdbook, templates
from overthere.cli.broken_summary import summary_lines
from overthere.links.job.files import open_file
from overthere.links.job.gitignore import IgnoredFiles

# Each generator: its files, and references as (document, text, verdict).  "fine": no finding; "error",
# "unsure" (a warning); "template", "root": not judged.
SITES: dict[str, tuple[dict[str, str], list[tuple[str, str, str]]]] = {
    "mdbook": (
        {
            "book.toml": '[book]\nsrc = "text"\n[output.html.redirect]\n"old.html" = "a.html"\n',
            "text/README.md": "# Start\n",
            "text/a.md": "# One\n\n{{#include part.md}}\n",
            "text/part.md": "## Inserted\n",
            "text/b/c.md": "# Two\n\n{{#include gone.md}}\n",
            "text/x.png": "",
        },
        [
            ("text/a.md", "[x](b/c.md)", "fine"),
            ("text/a.md", "[x](b/c.html#two)", "fine"),
            ("text/b/c.md", "[x](../a.html)", "fine"),
            ("text/b/c.md", "[x](../index.html#start)", "fine"),
            ("text/a.md", "[x](old.html)", "fine"),
            ("text/a.md", "[x](print.html)", "fine"),
            ("text/a.md", "[x](#inserted)", "fine"),
            ("text/a.md", "[x](#gone)", "error"),
            ("text/a.md", "[x](b/c.html#gone)", "unsure"),
            ("text/a.md", "[x](gone.html)", "error"),
            ("text/a.md", "![x](gone.png)", "error"),
            ("text/a.md", "[x](../std/index.html)", "unsure"),
        ],
    ),
    "mdbook with a preprocessor": (
        {"book.toml": "[book]\n[preprocessor.spec]\n", "src/a.md": "# One\n"},
        [
            ("src/a.md", "[x](expr.path.rule)", "unsure"),
            ("src/a.md", "[x]: proc_macro::Group", "unsure"),
            ("src/a.md", "[x](#r-expr)", "unsure"),
            ("src/a.md", "[x](gone/b.md)", "error"),
        ],
    ),
    "mkdocs": (
        {
            "mkdocs.yml": "site_url: https://h.example/site/\nplugins:\n  - search\n  - tags\n",
            "docs/index.md": "# Home\n",
            "docs/guide/setup.md": "# Set up\n\n--8<-- \"part.md\"\n",
            "docs/guide/index.md": "# Guide\n\n::: module.name\n",
            "docs/img/a.png": "",
            "docs/two/README.md": "# Ignored\n",
            "docs/two/index.md": "# Both\n",
            "part.md": "## Inserted\n",
            "theme/templates/home.html": "{% extends 'base.html' %}\n",
            "theme/templates/feed.xml": "{{ head }}\n<feed>{{ more }}\n",
            "theme/plain.html": "<p>{% is written so %}\n",
            "docs/a.css": "",
            "overrides/a.css": "",
            "package.json": "{}",
        },
        [
            ("theme/templates/home.html", '<img src="assets/a.png">', "unsure"),
            ("theme/templates/home.html", '<a href="#icon">x</a>', "unsure"),
            ("theme/templates/home.html", '<a href="{% url "x" %}">x</a>', "template"),
            ("theme/plain.html", '<a href="#gone">x</a>', "error"),
            ("docs/a.css", '@import "package";', "unsure"),
            ("docs/a.css", "@import './part';", "error"),
            ("docs/a.css", "@import 'package/part.css';", "unsure"),
            ("docs/a.css", "@import 'part.css';", "error"),
            ("overrides/a.css", "a { background: url(../img/a.png) }", "unsure"),
            ("docs/a.css", "a { background: url(@/a.png) }", "unsure"),
            ("docs/a.css", "a { background: url(gone.png) }", "error"),
            ("docs/index.md", "[x](guide/setup.md#set-up)", "fine"),
            ("docs/index.md", "[x](guide/setup.md#inserted)", "fine"),
            ("docs/index.md", "[x](guide/setup/)", "fine"),
            ("docs/index.md", '<a href="guide/setup/">x</a>', "fine"),
            ("docs/index.md", "[x](two/#both)", "fine"),
            ("docs/index.md", "[x](two/#ignored)", "error"),
            ("docs/guide/setup.md", "[x](img/a.png)", "error"),
            ("docs/guide/setup.md", "[x](../../)", "fine"),
            ("docs/guide/setup.md", '<img src="../../img/a.png">', "fine"),
            ("docs/guide/setup.md", "![x](../img/a.png)", "fine"),
            ("docs/guide/setup.md", '<img src="../img/a.png">', "unsure"),
            ("docs/guide/setup.md", "[x](/site/guide/)", "fine"),
            ("docs/guide/setup.md", "[x](/guide/)", "unsure"),
            ("docs/guide/setup.md", "[x](../../tags/)", "unsure"),
            ("docs/guide/setup.md", "[x](#gone)", "error"),
            ("docs/guide/setup.md", "[x](#set-up_1)", "error"),
            ("docs/guide/setup.md", "[x](./#set-up)", "fine"),
            ("docs/guide/setup.md", "[x](../#guide)", "fine"),
            ("docs/guide/setup.md", "[x](../setup/#set-up)", "fine"),
            ("docs/guide/setup.md", "[x](../#gone)", "unsure"),
            ("docs/guide/setup.md", "[x](index.md#module.name)", "unsure"),
            ("docs/guide/setup.md", "[x](gone.md)", "error"),
            ("docs/index.md", "[x](guide/gone/)", "error"),
            ("docs/index.md", "[x]({{ page.url }}/b)", "template"),
        ],
    ),
    "mkdocs with a theme": (
        {
            "mkdocs.yml": "theme:\n  name: material\n  custom_dir: overrides\n",
            "docs/index.md": "# Home\n",
            "docs/a/b.md": "# B\n",
            "overrides/assets/own.css": "",
        },
        [
            ("docs/index.md", "[x](assets/own.css)", "fine"),
            ("docs/a/b.md", '<img src="../../assets/own.css">', "fine"),
            ("docs/a/b.md", "[x](/assets/own.css)", "fine"),
            ("docs/index.md", "[x](search/search_index.json)", "fine"),
            ("docs/index.md", '<script src="search/main.js"></script>', "unsure"),
            ("docs/index.md", "![x](assets/images/favicon.png)", "unsure"),
            ("docs/index.md", "[x](assets/stylesheets/main.57a0d79d.min.css)", "unsure"),
            ("docs/index.md", "![x](assets/images/gone.png)", "error"),
            ("docs/index.md", "[x](search/gone.js)", "error"),
        ],
    ),
    "mkdocs with hooks": (
        {"mkdocs.yml": "hooks:\n  - hook.py\n", "docs/a.md": "# One\n"},
        [("docs/a.md", "[x](#gone)", "unsure"), ("docs/a.md", "[x](gone.md)", "unsure")],
    ),
    "mkdocs with settings in one line": (
        {
            "mkdocs.yml": "\ufeff'docs_dir': ./pages\n\"plugins\": [search, 'gen-files']\n",
            "pages/a.md": "# One\n",
            "pages/b/c.md": "# Two\n",
            "of_hooks/mkdocs.yml": "hooks: [hook.py]\nplugins: []\n",
            "of_hooks/docs/a.md": "# One\n",
            "of_none/mkdocs.yml": "hooks: []\nplugins: []\n",
            "of_none/docs/a.md": "# One\n",
        },
        [
            ("pages/a.md", "[x](gone.md)", "unsure"),
            ("pages/a.md", '<a href="../b/c/#two">x</a>', "fine"),
            ("pages/a.md", '<a href="../b/c/#gone">x</a>', "error"),
            ("of_hooks/docs/a.md", "[x](gone.md)", "unsure"),
            ("of_none/docs/a.md", "[x](gone.md)", "error"),
        ],
    ),
    "mkdocs with anchors of its own": (
        {
            "mkdocs.yml": "markdown_extensions:\n- toc:\n    permalink: true\n    separator: _\n",
            "docs/a.md": "# One Two\n",
            "cased/mkdocs.yml": "markdown_extensions:\n"
            "  - toc:\n      slugify: !!python/object/apply:pymdownx.slugs.slugify {}\n",
            "cased/docs/a.md": "# One Two\n",
            "lower/mkdocs.yml": "markdown_extensions:\n"
            "  toc:\n    slugify: !!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}\n",
            "lower/docs/a.md": "# \u00dcber\n",
            "tabs/mkdocs.yml": "plugins:\n- search:\n    separator: _\nmarkdown_extensions:\n- toc:\n"
            "    permalink: true\n- pymdownx.tabbed:\n    slugify: !!python/name:pymdownx.slugs.uslugify\n",
            "tabs/docs/a.md": "# \u00dcber\n",
        },
        [
            ("docs/a.md", "[x](#one_two)", "unsure"),
            ("cased/docs/a.md", "[x](#One-Two)", "unsure"),
            ("lower/docs/a.md", "[x](#\u00fcber)", "fine"),
            ("lower/docs/a.md", "[x](#uber)", "error"),
            ("tabs/docs/a.md", "[x](#uber)", "fine"),
            ("tabs/docs/a.md", "[x](#\u00fcber)", "error"),
        ],
    ),
    "mkdocs that inherits": (
        {
            "en/mkdocs.yml": "INHERIT: ../base.yml\nuse_directory_urls: true\nplugins:\n  search:\n",
            "base.yml": "INHERIT: en/mkdocs.yml\nuse_directory_urls: false\nsite_url: https://h.example/site/\n",
            "de/mkdocs.yml": "INHERIT: ../hooks.yml\n",
            "hooks.yml": "INHERIT: gone.yml\nhooks:\n  - hook.py\ndocs_dir: pages\n",
            "fr/mkdocs.yml": "INHERIT: ../../outside.yml\n",
            "../outside.yml": "hooks:\n  - hook.py\n",
            ".git/HEAD": "ref: refs/heads/main\n",
            "en/docs/a.md": "# One\n",
            "en/docs/b/c.md": "# Two\n",
            "de/pages/a.md": "# Eins\n",
            "fr/docs/a.md": "# Un\n",
        },
        [
            ("en/docs/a.md", "[x](/site/b/c/)", "fine"),
            ("en/docs/a.md", '<a href="../b/c/">x</a>', "fine"),
            ("en/docs/a.md", "[x](gone.md)", "error"),
            ("de/pages/a.md", "[x](gone.md)", "unsure"),
            ("de/pages/a.md", "[x](#gone)", "unsure"),
            ("fr/docs/a.md", "[x](gone.md)", "error"),
        ],
    ),
    "mkdocs with generated pages": (
        {"mkdocs.yml": "plugins:\n- gen-files:\n    scripts: [a.py]\n", "docs/a.md": "# One\n"},
        [("docs/a.md", "[x](gone.md)", "unsure"), ("docs/a.md", "[x](#gone)", "error")],
    ),
    "sphinx": (
        {
            "conf.py": "extensions = ['myst_parser']\nmyst_heading_anchors = 2\n",
            "index.md": "(the-start)=\n# Home\n",
            "in/other.rst": ".. _named place:\n\nOther\n=====\n",
        },
        [
            ("index.md", "[x](in/other)", "fine"),
            ("index.md", "[x](in/other.rst)", "fine"),
            ("index.md", "[x](in/other.html)", "error"),
            ("in/other.rst", "`x <../index.html>`_", "fine"),
            ("in/other.rst", "`x <../genindex.html>`__", "fine"),
            ("index.md", "[x](the-start)", "fine"),
            ("index.md", "[x](#the-start)", "fine"),
            ("index.md", "[x](<inv:python#index>)", "fine"),
            ("index.md", "[x](gone-label)", "error"),
            ("index.md", "[x](gone.md)", "error"),
            ("index.md", "[x](genindex.html)", "error"),
            ("index.md", "[x](#gone)", "error"),
            ("index.md", "![x](any.*)", "fine"),
            ("in/other.rst", ".. image:: any.*", "fine"),
        ],
    ),
    "sphinx with a document beside it": (
        {
            "docs/conf.py": "extensions = ['myst_parser']\n",
            "docs/index.md": "(syntax/notes)=\n# Home\n\n```{include} ../CHANGES.md\n```\n",
            "CHANGES.md": "# Changes\n",
        },
        [
            ("CHANGES.md", "[x](#syntax/notes)", "fine"),
            ("CHANGES.md", "[x](#changes)", "fine"),
            ("CHANGES.md", "[x](#gone)", "error"),
        ],
    ),
    "sphinx with names of objects": (
        {"conf.py": "extensions = ['myst_parser', 'sphinx.ext.intersphinx']\n", "a.md": "# One\n"},
        [("a.md", "[x](package.Name)", "unsure"), ("a.md", "[x](#package.Name)", "unsure")],
    ),
    "vitepress": (
        {
            ".vitepress/config.ts": "export default { base: '/', cleanUrls: true }\n",
            "index.md": "# Home\n",
            "guide/build.md": "# Build\n\n## build.target\n\n<!--@include: ./part.md-->\n",
            "guide/part.md": "## Inserted\n\n## Party :tada:\n",
            "guide/live.md": "<script setup>\nimport List from './List.vue'\n</script>\n\n<List />\n",
            "public/logo.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
        },
        [
            ("guide/build.md", "[x](#build-target)", "fine"),
            ("guide/build.md", "[x](./live)", "fine"),
            ("guide/build.md", "[x](/guide/build#inserted)", "fine"),
            ("guide/build.md", "[x](./part.md#party)", "fine"),
            ("guide/build.md", "[x](/guide/build.html)", "fine"),
            ("guide/build.md", "![x](/logo.svg)", "fine"),
            ("guide/build.md", "[x](/)", "fine"),
            ("guide/build.md", "[x](./live#gone)", "unsure"),
            ("guide/build.md", "[x](/gone)", "error"),
            ("guide/build.md", "[x](./gone)", "error"),
            ("guide/build.md", "[x](#build.target)", "error"),
            ("guide/build.md", '<a :href="x">x</a>', "fine"),
        ],
    ),
    "vitepress with its own marks": (
        {
            "docs/.vitepress/config/index.ts": "import { shared } from './shared'\nexport default { ...shared }\n",
            "docs/.vitepress/config/shared.ts": "export const shared = { base: '/site/', x: {leftDelimiter: '%{' } }\n",
            "docs/a.md": "# One %{#own}%\n",
            "docs/b/c.md": "# Two\n",
        },
        [
            ("docs/a.md", "[x](#own)", "unsure"),
            ("docs/a.md", '<a href="/site/b/c.html">x</a>', "fine"),
            ("docs/a.md", "[x](gone.md)", "error"),
        ],
    ),
    "vitepress with anchors of its own": (
        {".vitepress/config.js": "export default { markdown: { anchor: { slugify: f } } }\n", "a.md": "# One Two\n"},
        [("a.md", "[x](#One-Two)", "unsure"), ("a.md", "[x](gone.md)", "error")],
    ),
    "docusaurus": (
        {
            "docusaurus.config.js": "module.exports = { baseUrl: '/', presets: [{ docs: { path: 'docs' } }] }\n",
            "docs/01-intro.md": "---\nslug: /start\n---\n# Intro {#own}\n",
            "docs/02-guide/03-first.mdx": "import Part from './_part.mdx'\n\n# First\n\n<Part />\n",
            "docs/02-guide/_part.mdx": "## Inserted\n",
            "blog/2024-01-02-news.md": "# News\n",
            "static/img/a.png": "",
        },
        [
            ("docs/01-intro.md", "[x](02-guide/03-first.mdx#inserted)", "fine"),
            ("docs/01-intro.md", "[x](/docs/guide/first)", "fine"),
            ("docs/01-intro.md", "[x](guide/first/)", "fine"),
            ("docs/02-guide/03-first.mdx", "[x](/docs/start#own)", "fine"),
            ("docs/02-guide/03-first.mdx", "[x](/blog/2024/01/02/news)", "fine"),
            ("docs/02-guide/03-first.mdx", "![x](/img/a.png)", "fine"),
            ("docs/02-guide/03-first.mdx", "<a href={post.url}>x</a>", "template"),
            ("docs/02-guide/03-first.mdx", "![x](@site/static/gone.png)", "unsure"),
            ("docs/02-guide/03-first.mdx", "[x](/docs/gone)", "error"),
            ("docs/02-guide/03-first.mdx", "[x](./gone.md)", "error"),
            ("docs/01-intro.md", "[x](#gone)", "error"),
            ("docs/02-guide/_part.mdx", "[x](gone.md)", "unsure"),
            ("docs/01-intro.md", '<Player src="/lost.mp4" />', "fine"),
            ("docs/01-intro.md", '<video src="/gone.mp4"></video>', "error"),
        ],
    ),
    "docusaurus with its own rules": (
        {
            "docusaurus.config.js": "const b = '/d'\nexport default { baseUrl: `${b}/`,\n"
            "  markdown: { anchors: { maintainCase: true } } }\n",
            "docs/a.md": "# My Thing\n",
        },
        [
            ("docs/a.md", "[x](#My-Thing)", "unsure"),
            ("docs/a.md", "![x](/d/img/a.png)", "unsure"),
            ("docs/a.md", "[x](gone.md)", "error"),
        ],
    ),
    "hugo": (
        {
            "hugo.toml": "baseURL = 'https://h.example/'\n",
            "content/_index.md": "# Home\n",
            "content/docs/one.md": "---\naliases: [/old/]\n---\n# One\n",
            "content/docs/two.md": "# Two\n\n{{< include \"x.md\" >}}\n",
            "content/post/Three.md": "---\nURL: /third/\n---\n# Three\n",
            "content/post/four.md": "+++\naliases = [\n  '/was/',\n  '/been/',\n]\nslug = 'vier'\n+++\n# Four\n",
            "static/a.png": "",
        },
        [
            ("content/docs/one.md", "[x](../two/)", "fine"),
            ("content/docs/one.md", "[x](/docs/two)", "fine"),
            ("content/docs/one.md", "[x](two.md)", "unsure"),
            ("content/docs/one.md", "[x](/third/)", "fine"),
            ("content/docs/two.md", "[x](/old/#one)", "fine"),
            ("content/docs/two.md", "[x](/been/#four)", "fine"),
            ("content/docs/two.md", "[x](/post/vier/)", "fine"),
            ("content/docs/one.md", "[x](/docs/)", "fine"),
            ("content/docs/one.md", "![x](/a.png)", "fine"),
            ("content/docs/one.md", '[x]({{< ref "two.md" >}})', "template"),
            ("content/docs/one.md", "[x](/docs/two#gone)", "unsure"),
            ("content/docs/one.md", "[x](/tags/a/)", "unsure"),
            ("content/docs/one.md", "[x](/tags/)", "fine"),
            ("content/docs/one.md", "[x](../gone/)", "error"),
            ("content/docs/one.md", "[x](/gone/)", "error"),
            ("content/docs/one.md", "[x](#gone)", "error"),
        ],
    ),
    "hugo with names that it changes": (
        {
            "hugo.toml": "baseURL = 'https://h.example/'\n[frontmatter]\ndate = [':filename']\n"
            "[languages.en]\nweight = 1\n[languages.fr]\nweight = 2\n",
            "content/Two Words/in/x - (y) & z.md": "---\naliases: [../was, sub/been]\n---\n",
            "content/Two Words/in/slug.md": "---\nslug: My Slug\n---\n",
            "content/\u0939\u093f\u0928\u094d\u0926\u0940.md": "# One\n",
            "content/c++ A.md": "# One\n",
            "content/news/2020-02-03-day.md": "# One\n",
            "content/news/day.fr.md": "# One\n",
        },
        [
            ("content/c++ A.md", "[x](/two-words/in/x-y-z/)", "fine"),
            ("content/c++ A.md", "[x](/two-words/in/my-slug/)", "fine"),
            ("content/c++ A.md", "[x](/two-words/was/)", "fine"),
            ("content/c++ A.md", "[x](/two-words/in/sub/been/)", "fine"),
            ("content/c++ A.md", "[x](/two-words/)", "fine"),
            ("content/c++ A.md", "[x](/c++-a/)", "fine"),
            ("content/c++ A.md", "[x](/\u0939\u093f\u0928\u094d\u0926\u0940/)", "fine"),
            ("content/c++ A.md", "[x](/news/day/)", "fine"),
            ("content/c++ A.md", "[x](/fr/news/)", "fine"),
            ("content/c++ A.md", "[x](/c-a/)", "error"),
            ("content/c++ A.md", "[x](/words/)", "error"),
        ],
    ),
    "hugo with the language in addresses": (
        {
            "hugo.toml": "baseURL = 'https://h.example/'\ndefaultContentLanguage = 'de'\n"
            "defaultContentLanguageInSubdir = true\n[languages.de]\nweight = 1\n[languages.en]\nweight = 2\n",
            "content/docs/a.md": "# One\n",
        },
        [
            ("content/docs/a.md", "[x](/de/docs/a/#one)", "fine"),
            ("content/docs/a.md", "[x](/de/docs/)", "fine"),
            ("content/docs/a.md", "[x](/de/)", "fine"),
            ("content/docs/a.md", "[x](/en/docs/a/)", "error"),
        ],
    ),
    "hugo with anchors of US-ASCII": (
        {
            "hugo.toml": "baseURL = 'https://h.example/'\n"
            "[markup.goldmark.parser]\nautoHeadingIDType = 'github-ascii'\n",
            "content/a.md": "# \u00dcber\n",
        },
        [("content/a.md", "[x](#uber)", "unsure"), ("content/a.md", "[x](/gone/)", "error")],
    ),
    "hugo with the default anchors": (
        {
            "config/_default/hugo.toml": "baseURL = 'https://h.example/'\n"
            "[markup.goldmark.parser]\nautoHeadingIDType = 'github'\n",
            "content/a.md": "# \u00dcber\n",
        },
        [("content/a.md", "[x](#uber)", "error"), ("content/a.md", "[x](/gone/)", "error")],
    ),
    "hugo with a render hook": (
        {
            "assets/a.css": "",
            "README.md": "",
            "CHANGES.md": "",
            "hugo.toml": "baseURL = 'https://h.example/'\n",
            "content/docs/one.md": "# One\n",
            "content/docs/two.md": "# Two\n",
            "themes/book/layouts/_default/_markup/render-link.html": "",
        },
        [("content/docs/one.md", "[x](two.md)", "fine"), ("content/docs/one.md", "[x](gone.md)", "error"),
            ("assets/a.css", "a { background: url(../fonts/a.woff) }", "unsure"),
            ("README.md", "[x](docs/one.md)", "error"),
            ("CHANGES.md", "[x](docs/one.md)", "unsure"),
            ("CHANGES.md", "[x](docs/gone.md)", "error"),
        ],
    ),
    "jekyll": (
        {
            "_config.yml": "baseurl: /site\ncollections:\n  docs:\n    output: true\n"
            "    permalink: /:collection/:path/\n",
            "index.md": "---\n---\n# Home\n",
            "_docs/one.md": "---\n---\n# One\n\n## Two {#\u062b\u0627\u0646\u064d\u0651}\n"
            "\n## run `--fast` now\n\n## a -- b\n",
            "_docs/in/two.md": "---\nredirect_from: /was/\n---\n# Two\n\n{% include part.html %}\n",
            "_includes/part.html": '<p id="inserted">x <a href="unknown/">y</a></p>',
            "_posts/2020-01-02-news.md": "---\n---\n# News\n",
            "pages/team.md": "---\npermalink: /team/\n---\n# Team\n",
        },
        [
            ("_docs/one.md", "[x](../in/two/)", "fine"),
            ("_docs/one.md", "[x](/site/docs/in/two/#inserted)", "fine"),
            ("_docs/one.md", "[x](/site/team/)", "fine"),
            ("_docs/one.md", "[x](#run---fast-now)", "fine"),
            ("_docs/one.md", "[x](#run-fast-now)", "error"),
            ("_docs/one.md", "[x](#a--b)", "fine"),
            ("_docs/one.md", "[x](#\u062b\u0627\u0646\u064d\u0651)", "fine"),
            ("_docs/one.md", "[x](/site/was/)", "fine"),
            ("index.md", "[x](2020/01/02/news.html)", "fine"),
            ("index.md", "[x]({{ '/docs/one/' | relative_url }})", "template"),
            ("index.md", "<a href=\"{{ '/docs/one/' | relative_url }}\">x</a>", "template"),
            ("_includes/part.html", '<a href="gone/">x</a>', "unsure"),
            ("_docs/one.md", "[x](../gone/)", "error"),
            ("_docs/one.md", "[x](/site/gone/)", "error"),
            ("_docs/one.md", "[x](/elsewhere/)", "unsure"),
            ("_docs/one.md", '<script src="/site/pagefind/pagefind.js"></script>', "fine"),
        ],
    ),
    "jekyll with titles that it changes": (
        {
            "_config.yml": "collections_dir: all\ncollections:\n  food:\n    output: true\n    permalink: /f/:title\n",
            "all/_posts/2020-01-02-\u00dcber C++.md": "---\n---\n",
            "all/some/_posts/2020-01-03-a.md": "---\npermalink: /x/:name/:y_day-:title.html\n---\n",
            "all/_food/A & b.md": "---\n---\n",
            "page.md": "---\npermalink: /:basename/z/\n---\n",
        },
        [
            ("page.md", "[x](/2020/01/02/\u00dcber-C++.html)", "fine"),
            ("page.md", "[x](/some/2020/01/03/a.html)", "fine"),
            ("page.md", "[x](/x/2020-01-03-a/003-a.html)", "fine"),
            ("page.md", "[x](/f/A-&-b)", "fine"),
            ("page.md", "[x](/page/z/)", "fine"),
            ("page.md", "[x](/all/2020/01/03/a.html)", "error"),
            ("page.md", "[x](/f/b)", "error"),
        ],
    ),
    "hugo with accents removed": (
        {"hugo.toml": "removePathAccents = true\n", "content/\u00e9.md": "# E\n", "content/a.md": "# A\n"},
        [("content/a.md", "[x](/e/)", "unsure"), ("content/a.md", "[x](/a/)", "fine")],
    ),
    "hugo with names in capitals": (
        {"hugo.yaml": "baseURL: /\ndisablePathToLower: true\n", "content/A.md": "# A\n", "content/b.md": "# B\n"},
        [("content/b.md", "[x](/A/)", "fine"), ("content/b.md", "[x](/gone/)", "unsure")],
    ),
    "hugo with names in small letters": (
        {"hugo.yaml": "baseURL: /\ndisablePathToLower: false\n", "content/b.md": "# B\n"},
        [("content/b.md", "[x](/gone/)", "error")],
    ),
    "jekyll with names of months": (
        {
            "_config.yml": "permalink: /:long_month/:short_month/:long_day/:short_day/:title/\n",
            "_posts/2020-03-01-news.md": "# News\n",
            "index.md": "# Home\n",
        },
        [
            ("index.md", "[x](/March/Mar/Sunday/Sun/news/)", "fine"),
            ("index.md", "[x](/February/Feb/Sunday/Sun/news/)", "error"),
        ],
    ),
    "jekyll with categories": (
        {
            "_config.yml": "collections: {docs: {output: true, permalink: '/d/:name/'}}\n",
            "_posts/2020-01-02-news.md": "---\ncategories: Some words\ndate: 2021-03-04 10:00:00 +0100\n---\n# News\n",
            "_docs/one.md": "---\n---\n# One\n",
            "index.md": "---\n---\n# Home\n",
        },
        [
            ("index.md", "[x](/some/words/2021/03/04/news.html)", "fine"),
            ("index.md", "[x](/some/words/2021/01/02/news.html)", "error"),
            ("index.md", "[x](/d/one/)", "fine"),
            ("index.md", "[x](/d/two/)", "error"),
        ],
    ),
    "eleventy": (
        {
            "eleventy.config.js": "export default (c) => ({ dir: { input: 'src' } })\n",
            "src/index.md": "# Home\n",
            "src/docs/one.md": "# One\n",
            "src/docs/two.njk": "---\npermalink: /second/\n---\n<a href=\"{% url 'x' %}\">y</a>",
        },
        [
            ("src/docs/one.md", "[x](/second/)", "fine"),
            ("src/index.md", "[x](docs/one/)", "fine"),
            ("src/index.md", "[x](/docs/one/)", "fine"),
            ("src/index.md", "[x](/gone/)", "unsure"),
        ],
    ),
    "docsify": (
        {
            "docs/index.html": "<!doctype html><script>window.$docsify = {}</script>",
            "docs/_sidebar.md": "- [x](guide)\n",
            "docs/guide.md": "# Guide\n",
            "docs/de/guide.md": "# Guide\n",
            "README.md": "# Outside\n",
        },
        [
            ("docs/_sidebar.md", "[x](guide)", "fine"),
            ("docs/_sidebar.md", "[x](changelog)", "unsure"),
            ("docs/guide.md", "[x](/de/guide?id=guide)", "fine"),
            ("docs/guide.md", "[x](/de/gone)", "unsure"),
            ("docs/de/guide.md", "[x](_sidebar)", "unsure"),
            ("docs/guide.md", "[x](#named)", "unsure"),
            ("README.md", "[x](docs/gone)", "error"),
        ],
    ),
    "astro": (
        {
            "astro.config.mjs": "export default { base: '' }\n",
            "src/content/docs/index.mdx": "# Home\n",
            "src/content/docs/_part.mdx": "# Part\n",
            "src/content/docs/guides/First.md": "---\ntitle: x\n---\n# First\n",
            "src/content/docs/guides/\u0939\u093f\u0928\u094d\u0926\u0940 A.md": "# A\n",
            "src/pages/about.astro": "<a href={url}>x</a>",
            "public/a.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
        },
        [
            ("src/content/docs/index.mdx", "[x](/guides/first/#first)", "fine"),
            ("src/content/docs/index.mdx", "[x](guides/first)", "fine"),
            ("src/content/docs/index.mdx", "[x](/guides/\u0939\u093f\u0928\u094d\u0926\u0940-a/)", "fine"),
            ("src/content/docs/guides/First.md", "[x](/about/)", "fine"),
            ("src/content/docs/guides/First.md", "[x](/a.svg)", "fine"),
            ("src/content/docs/guides/First.md", "[x](/gone/)", "error"),
            ("src/content/docs/guides/First.md", "[x](#gone)", "error"),
            ("src/content/docs/_part.mdx", "[x](./gone.md)", "unsure"),
        ],
    ),
    "quarto": (
        {
            "_quarto.yml": "project:\n  type: website\n",
            "index.qmd": "# Home\n",
            "in/b.qmd": "# Second {#sec-own}\n\n{{< include _part.qmd >}}\n",
            "in/_part.qmd": "## Inserted\n",
            "docs/index.qmd": "# Documents\n",
            "docs/c.qmd": "---\naliases:\n  - /old/c.html\n  - moved/c.html\n---\n\n# Third\n",
            "docs/_parts/a.md": "text\n",
        },
        [
            ("in/b.qmd", "[x](../index.html#home)", "fine"),
            ("in/b.qmd", "[x](/index.qmd)", "fine"),
            ("in/b.qmd", "[x](#inserted)", "fine"),
            ("in/b.qmd", "[x](#sec-own)", "fine"),
            ("in/b.qmd", "[x](gone.qmd)", "error"),
            ("in/b.qmd", "[x](../docs/)", "fine"),
            ("in/b.qmd", "[x](/docs/)", "fine"),
            ("in/b.qmd", "[x](/old/c.html#third)", "fine"),
            ("in/b.qmd", "[x](../docs/moved/c.html)", "fine"),
            ("in/b.qmd", '<a href="../docs/c.html">x</a>', "fine"),
            ("docs/c.qmd", "[x](gone.qmd)", "error"),
            ("docs/c.qmd", "[x](#gone)", "error"),
            ("in/_part.qmd", "[x](gone.qmd)", "unsure"),
            ("in/_part.qmd", "[x](#second)", "unsure"),
            ("docs/_parts/a.md", "[x](c.qmd)", "unsure"),
        ],
    ),
    "no generator": (
        {
            ".git/HEAD": "ref: refs/heads/main\n",
            ".gitignore": "/made/\n*.out\n!kept.out\n",
            "README.md": "# Title\n\n## <a id=\"old\"></a>Second\n",
            "docs/guide.md": "# Guide\n",
        },
        [
            ("docs/guide.md", "[x](/README.md#title)", "fine"),
            ("docs/guide.md", "[x](/docs)", "fine"),
            ("docs/guide.md", "[x](../README.md#user-content-old)", "fine"),
            ("docs/guide.md", "[x](../made/page.html)", "unsure"),
            ("docs/guide.md", "[x](a.out)", "unsure"),
            ("docs/guide.md", "[x](kept.out)", "error"),
            ("docs/guide.md", "[x](guide)", "error"),
            ("docs/guide.md", "[x](/gone.md)", "root"),
            ("docs/guide.md", "[x](https://{{ cookiecutter.host }}/)", "template"),
        ],
    ),
    "a generator that is not known": (
        {
            ".git/HEAD": "ref: refs/heads/main\n",
            "site/content/learn/one.md": "---\ntitle: One\n---\n## Using {/*using*/}\n\n## A long one [#short]\n",
            "site/content/learn/two.md": "---\ntitle: Two\n---\n<Challenges />\n",
            "site/public/a.png": "",
        },
        [
            ("site/content/learn/one.md", "[x](/learn/two)", "fine"),
            ("site/content/learn/one.md", "[x](./two)", "fine"),
            ("site/content/learn/one.md", "![x](/a.png)", "fine"),
            ("site/content/learn/one.md", "[x](#using)", "fine"),
            ("site/content/learn/one.md", "[x](#short)", "fine"),
            ("site/content/learn/one.md", "[x](@/learn/three.md#a)", "unsure"),
            ("site/content/learn/one.md", '<link href="$css$">', "template"),
            ("site/content/learn/one.md", "[x](/learn/two#gone)", "unsure"),
            ("site/content/learn/one.md", "[x](#gone)", "error"),
            ("site/content/learn/one.md", "[x](./gone)", "error"),
            ("site/content/learn/one.md", "[x](/gone)", "root"),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SITES)
def test_references_are_judged_as_on_the_built_site(name: str, tmp_path: Path) -> None:
    files, rows = SITES[name]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    begin: dict[str, int] = {}
    for path, written, _ in rows:
        with (tmp_path / path).open("a") as file:
            if path not in begin:
                begin[path] = 0
            file.write(f"\n{written}\n")
    reported: dict[tuple[str, int], str] = {}
    summary = Summary()
    for results in check([tmp_path], Checker(), summary):
        source = str(Path(results.source).relative_to(tmp_path))
        reported[source, results.line or 0] = "unsure" if results.kind == "unsure" else KINDS[results.kind].level
    places = {(path, text): _line(tmp_path / path, text) for path, text, _ in rows}
    seen = [(path, text, reported.get((path, places[path, text]), "fine")) for path, text, _ in rows]
    # References that are not judged have no finding, and are counted.
    unjudged = ("template", "root")
    assert seen == [(path, text, "fine" if verdict in unjudged else verdict) for path, text, verdict in rows]
    assert all(summary.passed[reason] >= sum(verdict == reason for _, _, verdict in rows) for reason in unjudged)
    assert pickle.dumps(summary.projects)  # several processes read the documents
    assert (summary.projects[0].generator if summary.projects else "") == {
        "no generator": "", "a generator that is not known": "",
    }.get(name, name.partition(" ")[0])  # fmt: skip


@pytest.mark.parametrize("name", ["config.toml", "config.yaml", "conf.py"])
def test_settings_of_another_program_hide_no_generator(name: str, tmp_path: Path) -> None:
    for path, text in {".git/HEAD": "", "mkdocs.yml": "", f"docs/{name}": "a: 1\n", "docs/b.md": "# B\n"}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "docs/c.md").write_text('<a href="../b/#b">x</a>\n')
    summary = Summary()
    assert list(check([tmp_path / "docs"], Checker(), summary)) == []
    assert "mkdocs" in [project.generator for project in summary.projects]


@pytest.mark.parametrize("page", [None, "<!doctype html><p>x</p>"])
def test_a_sidebar_alone_is_not_of_docsify(page: str | None, tmp_path: Path) -> None:
    (tmp_path / "_sidebar.md").write_text("[x](gone)\n")
    if page is not None:
        (tmp_path / "index.html").write_text(page)
    assert [finding.kind for finding in check([tmp_path], Checker(), Summary())] == ["no-document"]


def _line(file: Path, text: str) -> int:
    return next(number for number, line in enumerate(file.read_text().split("\n"), 1) if line == text)


@pytest.mark.parametrize(
    "text",
    ['"{{ a }}"', '"{% url "x" %}"', "\"<?php echo '>' ?>\"", '"<%= a("b") %>"', "'{{ \"a\" }}/b'"],
)
def test_a_template_is_part_of_an_attribute(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.njk.html").write_text(f'<a href={text}>x</a> <a href="gone.html">y</a>')
    (tmp_path / "eleventy.config.js").write_text("")
    summary = Summary()
    results = [one.reference for one in check([tmp_path], Checker(), summary) if one.source.endswith(".html")]
    assert (results, summary.passed["template"]) == (["gone.html"], 1)


@pytest.mark.parametrize("front_matter", ["---\ntitle: x\n---\n", "--- \n---\n", '+++\ntitle = "x"\n+++\n'])
def test_a_page_with_front_matter_is_no_template(front_matter: str, tmp_path: Path) -> None:
    """So its anchors are all there, whatever the form of its front matter."""
    (tmp_path / "hugo.toml").write_text('baseURL = "/"\n')
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "a.html").write_text(front_matter + '{{< ref "b" >}}<a href="#gone">')
    assert [finding.kind for finding in check([tmp_path], Checker(), Summary())] == ["no-fragment"]


def test_xml_with_front_matter_is_completed_by_its_layout(tmp_path: Path) -> None:
    (tmp_path / "_config.yml").write_text("title: x\n")
    (tmp_path / "feed.rss").write_text("---\nlayout: feed\n---\n")
    (tmp_path / "map.xml").write_text(
        "---\nlayout: none\n---\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{% for p in q %}"
        "<url><loc>/gone.html</loc></url></urlset>\n"
    )
    results = [(finding.line, finding.reference, finding.kind) for finding in check([tmp_path], Checker(), Summary())]
    assert results == [(4, "/gone.html", "no-document")]


@pytest.mark.parametrize("piece", ["{{", "{%", "<%", "={", "{{ x", "={{", "<?", "{{}}", "}}{{"])
def test_templates_are_linear(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert len(templates.hide(text)) == len(text)


@pytest.mark.parametrize(
    ("pattern", "path", "is_ignored"),
    [
        ("build/", "a/build/x.html", True),
        ("build/", "a/build", False),
        ("/build", "a/build", False),
        ("a/**/c", "a/b/d/c", True),
        ("*.html", "x/y.html", True),
        ("*.html\n!y.html", "x/y.html", False),
        ("[ab].txt", "b.txt", True),
        ("\\#x", "#x", True),
        ("# x", "x", False),
        ("doc/*.txt", "doc/a/b.txt", False),
        ("doc/*.txt", "doc/b.txt", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a", False),
        ("**/b/**/d", "a/b/c/c/d", True),
        ("**/b/**/d", "a/b/d", True),
        ("**/b/**/d", "a/c/d", False),
        ("[^ab].txt", "c.txt", True),
        ("a\\*", "ab", False),
        ("a\\*", "a*", True),
        ("a ", "a", True),
        ("/", "a", False),
        ("[", "[", False),
        ("d/[a/b]", "d/b", True),
        ("[a/b]", "d/b", False),
        ("[!/]b", "cb", True),
        ("[a/b", "[a/b", False),
        ("d\\/b", "d/b", True),
    ],
)
def test_files_ignored_by_git(pattern: str, path: str, is_ignored: bool, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text(pattern)
    assert (str(tmp_path / path) in IgnoredFiles(str(tmp_path))) is is_ignored


@pytest.mark.parametrize("pattern", ["*a" * 60 + "b", "**/a/" * 60 + "b", "[a-z]*" * 40 + "!"])
def test_patterns_are_linear(pattern: str, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text(pattern)
    ignored = IgnoredFiles(str(tmp_path))
    assert (
        outgrows(lambda name: name in ignored, lambda n: f"{tmp_path}/" + "a" * n, (60, 240, 960, 3840), 0.05) is None
    )
    assert outgrows(lambda name: name in ignored, lambda n: f"{tmp_path}/" + "a/" * n, (15, 60, 240), 0.5, 80) is None


def test_untrusted_configurations_are_read_as_text() -> None:
    hostile = "docs_dir: !!python/object/apply:os.system ['x']\nplugins: &a [*a, *a]\n"
    assert configuration.yaml_value(hostile, "docs_dir") == "!!python/object/apply:os.system ["
    assert configuration.yaml_block(f"hooks:\n{'  - a' * 100_000}\n", "hooks")
    assert configuration.js_values("base: process.exit()", "base") == []


def test_inserted_files_are_read_once_per_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(path: str) -> BinaryIO:
        read.append(os.path.basename(path))
        return open_file(path)

    monkeypatch.setattr(inserts, "open_file", counted)
    every = "".join(f"{{{{#include {name}.md}}}}\n" * 30 for name in "abc")
    for name in "abc":
        (tmp_path / f"{name}.md").write_text(every)
    (tmp_path / "long.md").write_text("x" * (1 << 21))
    os.mkfifo(tmp_path / "pipe.md")
    project = mdbook.read(str(tmp_path), str(tmp_path / "book.toml"), "[book]\nsrc = '.'\n")
    assert project is not None
    page = "{{#include long.md}}\n{{#include pipe.md}}\n" + every
    inserted_texts = list(inserts.inserted_texts(page, str(tmp_path / "page.md"), project))
    assert read == ["long.md", "a.md", "b.md", "c.md"]
    assert [text for text, _ in inserted_texts] == ["", "", every, every, every, ""]
    assert [reason for _, reason in inserted_texts if reason] == [
        "what is inserted there is not known: {{#include long.md",
        "what is inserted there is not known: {{#include pipe.md",
        "more than 100 texts are inserted there",
    ]


# Untrusted configurations: folders outside the repository, invalid paths, deep nesting.
HOSTILE: dict[str, str] = {
    "mkdocs.yml": 'docs_dir: "/\0/"\nplugins: &a [*a]\n',
    "book.toml": '[book]\nsrc = "/"\n',
    "_config.yml": "source: /\nincludes_dir: /\n",
    "docusaurus.config.js": f'path: "{"../" * 99}"\npresets: {"[" * 9999}',
    "conf.py": 'extensions = []\nhtml_extra_path = ["../outside"]\n',
    "hugo.toml": 'baseURL = "/"\n[[module.mounts]]\nsource = "../outside"\ntarget = "content"\n',
    ".vitepress/config.ts": 'srcDir: "/"\n',
    "_quarto.yml": 'project:\n  type: website\n  output-dir: "../.."\n',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_configuration_cannot_leave_its_repository(name: str, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for path, text in {
        name: HOSTILE[name],
        ".git/HEAD": "",
        "docs/a.md": "--8<-- '../../outside/b.md'\n\n{{#include ../../outside/b.md}}\n\n[x](#secret)\n\n[y](/b.md)\n",
        "../outside/b.md": "# Secret\n",
    }.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    summary = Summary()
    results = {finding.reference: finding.kind for finding in check([site], Checker(), summary)}
    assert results.keys() in ({"#secret", "/b.md"}, {"#secret", None})
    folders = [mount.folder for project in summary.projects for mount in project.mounts]
    assert all(Path(os.path.normpath(folder)).is_relative_to(site) for folder in folders)


def references(tmp_path: Path, text: str, name: str = "a.md") -> dict[str | None, str]:
    """The findings of a document by their references."""
    (tmp_path / name).write_text(text)
    return {finding.reference: finding.kind for finding in check([tmp_path], Checker(), Summary())}


def test_a_formula_is_not_a_link(tmp_path: Path) -> None:
    text = "$[f](x)$ $$[g](y)$$ \\([h](z)\\) It costs $5 [here](b.md) and $6.\n\n```math\n[i](j)\n```\n"
    assert references(tmp_path, text) == {"b.md": "no-document"}


def test_external_targets_are_judged_by_their_scheme(tmp_path: Path) -> None:
    bad = (
        "tel:",
        "tel:abc",
        "mailto:a@",
        "htp://h.example/",
        "htttps://h.example/",
        "htpp://h.example/",
        "https://h:99999/",
    )
    good = ("tel:+1-201-555", "mailto:a@h.example", "https://h:65535/", "slack:x", "ftps://h.example/")
    results = references(tmp_path, "\n\n".join(f"[x](<{target}>)" for target in (*bad, *good)))
    assert results == dict.fromkeys(bad, "not-of-scheme") | {"mailto:a@": "bad-mailto"}


def test_a_heading_of_github_has_two_names(tmp_path: Path) -> None:
    assert references(tmp_path, "# A b\n\n[x](#a-b) [y](#user-content-a-b) [z](#user-content-c)\n") == {
        "#user-content-c": "no-fragment"
    }


def test_a_missing_document_with_a_slash_has_no_case_suggestion(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text("")
    assert references(tmp_path, '<a href="b.html/">x</a> <a href="B.html">y</a>', "a.html") == {
        "b.html/": "no-document",
        "B.html": "wrong-case",
    }


def test_the_summary_names_five_configurations_and_counts_the_others(tmp_path: Path) -> None:
    summary = Summary()
    for number in range(9):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}/book.toml").write_text("[book]\n")
    list(check([tmp_path], Checker(), summary))
    lines = [line for line in summary_lines(summary, 1) if " read as " in line]
    assert len(lines) == 6
    assert lines[-1] == "further folders are read as mdbook does (4)"
