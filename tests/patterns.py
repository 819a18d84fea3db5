"""Every regular expression of the package, by the line that makes it, and what is called on it.

`sites` reads from the sources where `re` makes an expression.  `collected` imports every module in a fresh interpreter
with `re` watched, and reports the expressions that those lines have made.  `used` brings them together.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from support import ROOT

PACKAGE = ROOT / "src" / "overthere"

CALLS = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
SCANS = {"search", "sub", "subn", "split", "findall", "finditer", "scanner"}
"""Uses that start again at every character."""
ANY = {"match", "fullmatch", "search"}
"""If the uses cannot be determined, all of these are assumed."""
PASSED_ON: dict[tuple[str, str], set[str | None]] = {
    ("text/names.py", "_compiled"): {"match"},
    ("text/rules.py", "authority_pattern"): {"match"},
    ("text/rules.py", "abbreviated_pattern"): {"match"},
    ("text/rules.py", "attached_pattern"): {"search"},
    ("text/rules.py", "attached_letter_pattern"): {"match"},
    ("text/rules.py", "word_pattern"): {"match"},
    ("text/rules.py", "cut_pattern"): {"match"},
    ("text/rules.py", "mail_domain_pattern"): {"match", "fullmatch"},
    ("text/rules.py", "_pieces"): {"match"},
}
"""Expressions that are assigned to a variable before they are used."""

# Code that makes the expressions that are not made at import.
WORK = r"""
from overthere import IRI, InvalidURI, IRIReference, URIReference, edition, plan
from overthere import iri
from overthere.access import steps
from overthere.values.known_secrets import Secrets
from overthere import repairs
from overthere.kernel import percent, reference
from overthere.links.documents import css
from overthere.protocols.news.dialogue import wildmat
from overthere.ground.redact import _authority_start
from overthere.text import find
from overthere.text import rules
from overthere.text.names import names as known_names
from overthere.text.delimiters import _MAX_MARKS, _line_marks, _multiline
from overthere.canonical import STEPS, Step
from overthere.links.job import gitignore
from overthere.broken.generators import astro, configuration, docusaurus, front_matter, mdbook, mkdocs, project
for read in (configuration.yaml_value, configuration.yaml_block, configuration.js_values, docusaurus._texts):
    read("", "key")
for line in ("*.html", "a/**/[!a-c]?", "*a*b*c"):
    gitignore._parse_pattern(line)
front_matter.unknown_generator(project.NO_PROJECT)
astro.read("", "astro.config.mjs", "")
mdbook.read("", "book.toml", "[book]")
mkdocs.read("", "mkdocs.yml", "plugins:\n  - blog\n  - tags\n")
given = {"rung": "CASE", "names": ["a*"]}
for name, kind in STEPS.items():
    Step(name, **{key: given[key] for key in kind.required})("http://www.H..x/a//b;jsessionid=1/e%CC%81?sid=1&a")
list(css.inline("a { b: image-set('c' 1x) }"))
for rule in ("URI", "URI-reference", "IRI", "IRI-reference"):
    reference.expression(rule)
_authority_start()
for kind in (URIReference, IRIReference):
    for text in ("http://é \x00\u202e\ue000%[/|?|#|", "//[::1%25a]/"):
        try:
            kind(text)
        except InvalidURI as error:
            str(error)
for zone in (False, True):
    reference.ip_literal(zone)
    rules._pieces(zone)
    rules.authority_pattern(zone)
for name in dir(rules):
    if re.match(r"(?!_|authority)\w+_pattern$", name):
        getattr(rules, name)()
reference.ipv4_address()
for safe in ("", "abc/"):
    percent._complement(safe)
for private in (False, True):
    iri.decodable(private)
steps._delimiter_pattern(b" @")
for component in repairs._TO_ESCAPE:
    repairs._escape_pattern(component)
for group in ("comp.*", "*.os.*", "c?mp.*sys*.l??t*"):
    wildmat(group)
for name in ("url-1994", "rfc1738"):
    plan(edition(name).locator("gopher://h/1x"))
for secret in ("a b", "open sesame", "\xe9 \"" * 40, "\xe9" * 9, "\\" * 30, "\t" * 30, "\ufffd" * 30):
    Secrets([secret])
IRI("http://h\u05d0/\u05d0?\u05d0#\u05d0").mixed_direction()
for how in range(16):
    names = dict(zip(("abbreviated", "hosts", "mail"), (bool(how & 1), bool(how & 2), bool(how & 4))))
    find("", schemes={"http", "mailto"} if how & 8 else None, **names)
for scheme in known_names().shapes:
    known_names().shape_of(scheme)
for marks in (0, 1, _MAX_MARKS):
    for opening in '<"':
        _multiline(opening, marks)
    _line_marks(marks + 1)
"""

# -- where expressions are made, and how they are used


class Site(NamedTuple):
    """A call of `re` in the sources, and what it is given where that is written out.

    `uses` are the methods called on what it makes; empty where they are not plain to see.
    """

    file: str
    first: int
    last: int
    uses: frozenset[str]
    given: tuple[str | bytes, int] | None

    def __str__(self) -> str:
        return f"{self.file}:{self.first}"


class _Module(NamedTuple):
    file: str
    tree: ast.Module
    parents: dict[ast.AST, ast.AST]


@cache
def _modules() -> list[_Module]:
    modules = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        modules.append(_Module(path.relative_to(PACKAGE).as_posix(), tree, parents))
    return modules


def _up(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    while node in parents:
        node = parents[node]
        yield node


def _is_call(node: ast.AST) -> str | None:
    """The function of `re` that is called."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return None
    module = node.func.value
    return node.func.attr if isinstance(module, ast.Name) and module.id == "re" and node.func.attr in CALLS else None


def _owner(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str | None:
    """The name of the variable that holds the expression, or of the function that returns it."""
    for above in _up(node, parents):
        if isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name):
            function = next((up for up in _up(above, parents) if isinstance(up, ast.FunctionDef)), None)
            return None if function else above.targets[0].id
        if isinstance(above, ast.AnnAssign) and isinstance(above.target, ast.Name):
            return above.target.id
        if isinstance(above, ast.Return):
            return next(up.name for up in _up(above, parents) if isinstance(up, ast.FunctionDef))
        if isinstance(above, ast.FunctionDef):
            return None
    return None


@cache
def _used() -> list[tuple[str, str, str, str | None]]:
    """Every use of a name: the file, the module it was taken from or "", the name, the method that is called on it."""
    rows = []
    for module in _modules():
        names: dict[str, str] = {}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom):
                names |= {name.asname or name.name: (node.module or "").rpartition(".")[2] for name in node.names}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                rows.append((module.file, names.get(node.id, ""), node.id, _use(node, module.parents)))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                rows.append((module.file, node.value.id, node.attr, _use(node, module.parents)))
    return rows


def _uses(file: str, owner: str) -> set[str | None]:
    """The methods that are called on a name of a module, its items or its results; None for any other use."""
    stem = file.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]
    in_module = {
        use
        for path, source, name, use in _used()
        if name == owner and (source == stem or (path == file and source == ""))
    }
    return PASSED_ON.get((file, owner), in_module or {None}) - {"pattern", "flags", "groups"}


def _use(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str | None:
    """The method in `NAME.method`, `NAME[...].method` and `NAME(...).method`."""
    above = parents[node]
    if isinstance(above, ast.IfExp) and above.test is not node:
        node, above = above, parents[above]
    if (isinstance(above, ast.Subscript) and above.value is node) or (
        isinstance(above, ast.Call) and above.func is node
    ):
        node, above = above, parents[above]
    return above.attr if isinstance(above, ast.Attribute) and above.value is node else None


def _literal(call: ast.Call) -> tuple[str | bytes, int] | None:
    """Expression and flags of a call that writes them out."""
    try:
        pattern = ast.literal_eval(call.args[0])
    except ValueError:
        return None
    arguments = call.args[1:] if isinstance(call.func, ast.Attribute) and call.func.attr == "compile" else []
    flags = [*arguments, *(word.value for word in call.keywords if word.arg == "flags")]
    return pattern, int(eval(ast.unparse(flags[0]), {"re": re})) if flags else 0


def sites() -> list[Site]:
    """Every call of `re` that makes an expression."""
    results = []
    for module in _modules():
        for node in ast.walk(module.tree):
            function = _is_call(node)
            if function is None:
                continue
            assert isinstance(node, ast.Call)
            uses: set[str | None] = {function}
            if function == "compile":
                parent = module.parents[node]
                owner = _owner(node, module.parents)
                if isinstance(parent, ast.Attribute):
                    uses = {parent.attr}
                else:
                    uses = {None} if owner is None else _uses(module.file, owner)
            direct_uses = frozenset(use for use in uses if use in CALLS | SCANS)
            direct_uses = direct_uses if len(direct_uses) == len(uses) else frozenset()
            results.append(Site(module.file, node.lineno, node.end_lineno or node.lineno, direct_uses, _literal(node)))
    return results


class Made(NamedTuple):
    """An expression that was made while `re` was watched."""

    file: str
    line: int
    pattern: str | bytes
    flags: int


_COLLECT = """
import importlib, json, os, pkgutil, re, sys
package, work, made, inner = sys.argv[1], sys.argv[2], [], re._compile
def compile(pattern, flags):
    frame = sys._getframe(2)
    file = frame.f_code.co_filename
    if file.startswith(package + os.sep) and isinstance(pattern, (str, bytes)):
        octets = isinstance(pattern, bytes)
        file = os.path.relpath(file, package).replace(os.sep, "/")
        made.append((file, frame.f_lineno, pattern.decode("latin-1") if octets else pattern, octets, int(flags)))
    return inner(pattern, flags)
re._compile = compile
import overthere
for module in pkgutil.walk_packages(overthere.__path__, "overthere."):
    if not module.name.endswith(("__main__", "_native")):
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            if (error.name or "").startswith("overthere"):
                raise
exec(work)
print(json.dumps(made))
"""


def collected(work: str = WORK) -> list[Made]:
    """Every expression that is made when all modules are imported, and by the lines of `work` afterwards."""
    command = [sys.executable, "-W", "ignore", "-c", _COLLECT, str(PACKAGE), work]
    result = subprocess.run(command, capture_output=True, check=False, text=True)
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)
    return [
        Made(file, line, text.encode("latin-1") if octets else text, flags) for file, line, text, octets, flags in rows
    ]


class Used(NamedTuple):
    """An expression, the lines that make it, and the methods that are called on it."""

    where: list[str]
    uses: set[str]


def used(work: str = WORK) -> tuple[dict[tuple[str | bytes, int], Used], list[str]]:
    """Every expression of the package, by its text and flags; and the lines whose expression is not known.

    Several calls on one line are known when as many expressions were made there.
    """
    made: dict[tuple[str, int], set[tuple[str | bytes, int]]] = {}
    for file, line, pattern, flags in collected(work):
        made.setdefault((file, line), set()).add((pattern, flags))
    by_text: dict[tuple[str | bytes, int], Used] = {}
    unknown = []
    every = sites()
    for site in every:
        expressions = {item for line in range(site.first, site.last + 1) for item in made.pop((site.file, line), ())}
        same_line = [other for other in every if (other.file, other.first) == (site.file, site.first)]
        made[site.file, site.first] = expressions  # for others on the same line
        texts = {other.given for other in same_line if other.given is not None}
        expressions |= texts
        if site.given is None and len(expressions) < len(texts) + sum(other.given is None for other in same_line):
            unknown.append(str(site))
        for expression in expressions:
            lines, uses = by_text.setdefault(expression, Used([], set()))
            lines.append(str(site))
            uses.update(site.uses or ANY)
    unknown += [f"{file}:{line}" for file, line in made if not any(s.file == file and s.first == line for s in every)]
    return by_text, unknown
