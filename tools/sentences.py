"""Every sentence that users of the package read, with its place, and those that are written in bad style.

python tools/sentences.py [--suspect] [--messages] [PATH ...]

These are the texts in the code (messages, help, tables), the docstrings of the names that docs/reference shows and of
the verbs, the text of templates, and the messages of the native kernel.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "overthere"
_SHOWN = re.compile(r"^\.\. auto(?:function|class|exception|data)?:: ([\w.]+)", re.MULTILINE)
_PROSE = re.compile(r"[A-Za-z{}\"'][\w{}\"'.,:;()-]* [\w{(\"'-][\w{}\"'.,:;()-]*(?: |$|[.:;,])")
_LITERAL = re.compile(r'\bc?"((?:[^"\\\n]|\\.)*)"')
_CODE = re.compile(r">>>.*?(?:\n\s*\n|\Z)|`[^`]*`", re.DOTALL)

SUSPECT = {
    "negation": r"(?<![Tt]here )\b(?:is|are) (?:no\b(?! (?:longer|more|less)\b)|none\b)",
    "cleft": r"^What (?!is in\b)\w+|\bthat which\b|\bwhom\b|: what (?:is|has|stands)\b",
    "word": r"\b(?:mends?|mended|tells?|told|strangers?|beside|nowhere|hear|heard|wants (?:to|of|something)|is wanted|"
    r"parted|whoever|thereof|somebody)\b",
    "stand": r"\b(?:cannot|may|should|could|must) stand\b(?! for)|\bstands?\b(?! (?:for|in for|out)\b)",
    "else": r"(?<!thing )\belse(?:[.;)]|$)|, else\b",
    "idiom": r"\bthe matter with\b|\bhas a say\b|\bby right\b|\bat hand\b|\bis but a\b|\bgo(?:es)? by\b|\btaken for\b|"
    r", but for\b|\basked for\b(?! by)|\bdoubles\b",
}  # fmt: skip
"""Patterns of sentences that are read twice, by name."""


class Sentence(NamedTuple):
    file: str
    line: int
    text: str
    is_docstring: bool = False


def _shown(node: ast.AST) -> str | None:
    """The text of a literal; values of an f-string are {}."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


@cache
def public() -> frozenset[str]:
    """Qualified names of all functions and classes that the reference shows, with those that they inherit from."""
    names: set[str] = set()
    for page in sorted((ROOT / "docs" / "reference").glob("*.md")):
        for name in _SHOWN.findall(page.read_text("utf-8")):
            module, _, last = name.rpartition(".")
            thing = getattr(import_module(module), last, None) if module else None
            parts = inspect.getmro(thing) if inspect.isclass(thing) else (thing,)
            names |= {getattr(part, "__qualname__", last) for part in parts if part is not object}
    return frozenset(names)


def _strings(node: ast.AST, file: Path, names: tuple[str, ...] = (), is_public: bool = False) -> Iterator[Sentence]:
    """The literals below a node; docstrings and texts after attributes only of what is public."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = (*names, child.name)
            is_verb = any("command" in ast.unparse(d) or "group" in ast.unparse(d) for d in child.decorator_list)
            is_member = is_public and not child.name.startswith("_")
            is_one = ".".join(inner) in public() or is_member or (is_verb and file.parent.name == "cli")
            yield from _strings(child, file, inner, is_one)
        elif isinstance(child, ast.Expr) and (text := _shown(child.value)) is not None:
            if is_public:
                yield Sentence("", child.lineno, _CODE.sub("…", text), is_docstring=True)
        elif isinstance(child, ast.expr) and (text := _shown(child)) is not None:
            yield Sentence("", child.lineno, text)
        else:
            yield from _strings(child, file, names, is_public)


def of_file(file: Path) -> Iterator[Sentence]:
    name, text = file.relative_to(ROOT).as_posix(), file.read_text("utf-8")
    if file.suffix == ".py":
        results = _strings(ast.parse(text), file)
    elif file.suffix == ".rs":
        lines = enumerate(re.split(r"#\[cfg\(test\)\]", text)[0].splitlines(), 1)
        skipped = ("//", "reason", "#[expect")
        results = (Sentence("", n, m[1]) for n, line in lines for m in _LITERAL.finditer(line)
                 if not line.strip().startswith(skipped) and "b\"" not in line and "reason =" not in line)  # fmt: skip
    else:
        results = (
            Sentence("", n, re.sub(r"<[^>]*>|{[%#{].*?[%#}]}", " ", line))
            for n, line in enumerate(text.splitlines(), 1)
        )
    for hit in results:
        sentence = " ".join(hit.text.split())
        if _PROSE.search(sentence):
            yield hit._replace(file=name, text=sentence)


def sentences() -> Iterator[Sentence]:
    for pattern in ("src/overthere/**/*.py", "src/overthere/web/templates/*.html", "rust/python/src/**/*.rs"):
        for file in sorted(ROOT.glob(pattern)):
            yield from of_file(file)


def suspect(sentence: Sentence) -> list[str]:
    """Names of the patterns that a sentence has."""
    return [name for name, pattern in SUSPECT.items() if re.search(pattern, sentence.text)]


def main(*arguments: str) -> None:
    only, paths = "--suspect" in arguments, [a for a in arguments if not a.startswith("-")]
    for sentence in sentences():
        if paths and not any(sentence.file.startswith(path) for path in paths):
            continue
        if "--messages" in arguments and sentence.is_docstring:
            continue
        names = suspect(sentence)
        if names or not only:
            print(f"{sentence.file}:{sentence.line}: {sentence.text}" + (f"  [{', '.join(names)}]" if only else ""))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    main(*sys.argv[1:])
