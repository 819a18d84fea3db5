"""Everything that is derived from the sources: `make docs` writes it, `--check` compares.

python tools/generate.py [--check]

An output is not made again while it and its inputs are what they were at the last run: build/stamps.json holds digests.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))
EDITIONS = ROOT / "src" / "overthere" / "editions"


def tables(name: str, rules: tuple[str, ...] = ()) -> str:
    """The prebuilt automata of a grammar, for all rules or the named ones."""
    from overthere.grammar import Grammar
    from overthere.grammar.tables import dump

    text = (EDITIONS / f"{name}.abnf").read_text()
    grammar = Grammar(text)
    return dump({rule: grammar.automaton(rule) for rule in rules or grammar.rules}, text)


def kernel_classes() -> str:
    import generate_classes

    return generate_classes.python()


def rust_classes() -> str:
    import generate_rust

    return generate_rust.rust()


def rust_tables() -> str:
    import generate_rust

    return generate_rust.tables()


def errors_page() -> str:
    import generate_pages

    return generate_pages.errors()


def first_figure() -> str:
    import generate_pages

    return generate_pages.figure()


def editions_page() -> str:
    import generate_editions

    return generate_editions.page()


def schemes_page() -> str:
    import generate_schemes

    return generate_schemes.schemes()


def schemes_in_text() -> str:
    from overthere.schemes.in_text import table

    return table()


def schemes_whole() -> str:
    """The prebuilt automaton of each built-in scheme that has rules."""
    from overthere.schemes.registry import BUILT_IN, Registry
    from overthere.schemes.syntax import tables as of_schemes

    schemes = map(Registry.default().scheme, sorted(BUILT_IN))
    return of_schemes({scheme.name: scheme.whole_rule for scheme in schemes if "rfc3986" in scheme.rules})


def audit_page() -> str:
    import generate_audit

    return generate_audit.page()


def broken_page() -> str:
    import generate_broken

    return generate_broken.page()


def stub(module: str, root: str) -> str:
    import generate_stubs

    return generate_stubs.stub(module, root)


def map_page() -> str:
    import generate_map

    return generate_map.page()


def map_drawing() -> str:
    import generate_map

    return generate_map.drawing()


def columns_page() -> str:
    import generate_columns

    return generate_columns.page()


def everything_page() -> str:
    import alike

    return alike.page()


def engine_stub(name: str) -> str:
    import generate_columns

    return generate_columns.formatted(generate_columns.STUBS[name]())


def public_names() -> str:
    import generate_names

    return generate_names.page()


def conformance_page() -> str:
    import generate_conformance

    return generate_conformance.page()


def command_line() -> dict[str, Callable[[], str]]:
    """A page and a man page for each verb, and the completion of shells."""
    import generate_cli

    return generate_cli.outputs()


OUTPUTS: dict[str, Callable[[], str]] = {
    "src/overthere/editions/url1994.tables.json": lambda: tables("url1994"),
    "src/overthere/editions/rfc1738.tables.json": lambda: tables("rfc1738"),
    "src/overthere/editions/url1997.tables.json": lambda: tables("url1997"),
    "src/overthere/editions/uri2003.tables.json": lambda: tables("uri2003"),
    "src/overthere/editions/rfc3986.tables.json": lambda: tables("rfc3986"),
    "src/overthere/editions/rfc3987.tables.json": lambda: tables("rfc3987"),
    "src/overthere/editions/rfc6570.tables.json": lambda: tables("rfc6570", ("URI-Template",)),
    "src/overthere/kernel/classes.py": kernel_classes,
    "rust/core/src/classes.rs": rust_classes,
    "rust/core/src/tables.rs": rust_tables,
    "docs/errors.md": errors_page,
    "docs/pictures/parts.svg": first_figure,
    "docs/editions.md": editions_page,
    "src/overthere/schemes/in_text.csv": schemes_in_text,
    "src/overthere/schemes/whole.tables.json": schemes_whole,
    "docs/schemes.md": schemes_page,
    "docs/audit.md": audit_page,
    "docs/broken-kinds.md": broken_page,
    "docs/reference/columns.md": columns_page,
    "docs/reference/everything.md": everything_page,
    "src/overthere/__init__.pyi": lambda: stub("overthere", "overthere"),
    "src/overthere/access/__init__.pyi": lambda: stub("overthere.access", "overthere.access"),
    "src/overthere/links/__init__.pyi": lambda: stub("overthere.links", "overthere.links"),
    "src/overthere/schemes/__init__.pyi": lambda: stub("overthere.schemes", "overthere.schemes"),
    "src/overthere/schemes/locators.pyi": lambda: stub("overthere.schemes.locators", "overthere.schemes"),
    "src/overthere/columns/polars.pyi": lambda: engine_stub("polars"),
    "src/overthere/columns/pandas.pyi": lambda: engine_stub("pandas"),
    "src/overthere/columns/spark.pyi": lambda: engine_stub("spark"),
    "docs/public_names.txt": public_names,
    "docs/map.md": map_page,
    "docs/pictures/map.svg": map_drawing,
    "docs/conformance.md": conformance_page,
}


def is_fresh(path: str, text: str) -> bool:
    """Whether the file says what was generated; automata are compared as such, whatever zlib packed them."""
    file = ROOT / path
    if not file.exists():
        return False
    stored = file.read_text()
    if path.endswith(".tables.json"):
        from overthere.grammar.tables import automata, load

        if path.endswith("/whole.tables.json"):
            old, new = (
                {name: (value["grammar"], automata(value)) for name, value in json.loads(content).items()}
                for content in (stored, text)
            )
            return old == new
        grammar = file.with_name(file.name.replace(".tables.json", ".abnf")).read_text()
        return load(stored, grammar) == load(text, grammar) != {}
    return stored == text


STAMPS = ROOT / "build" / "stamps.json"
_GRAMMARS = ("src/overthere/editions/*.abnf", "src/overthere/grammar/*.py", "tools/generate*.py")
_EVERYTHING = (
    "src/overthere/**/*.py", "src/overthere/**/*.abnf", "src/overthere/**/*.csv", "src/overthere/**/*.css",
    "rust/*/src/**/*.rs", "bench/*.py", "fuzz/**/*.py", "tools/*.py", "tests/**/*.py", "tests/**/*.toml",
    "examples/**/*", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md",
)  # fmt: skip


def inputs(path: str) -> tuple[str, ...]:
    """The input files of an output, as patterns: grammars for automata, else all files that may be read."""
    is_grammar = path.startswith("src/overthere/editions/") or path.endswith((".rs", "kernel/classes.py"))
    return _GRAMMARS if is_grammar else _EVERYTHING


@cache
def digest(patterns: tuple[str, ...]) -> str:
    """A digest of files, their names and what they hold, and of Python's version."""
    total = sha256(sys.version.encode())
    for file in sorted({file for pattern in patterns for file in ROOT.glob(pattern) if file.is_file()}):
        total.update(f"{file.relative_to(ROOT)}\0".encode() + sha256(file.read_bytes()).digest())
    return total.hexdigest()


def stamp(path: str) -> str:
    """A digest of an output and of its inputs."""
    file = ROOT / path
    return digest(inputs(path)) + sha256(file.read_bytes() if file.exists() else b"").hexdigest()


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale = 0
    stamps = json.loads(STAMPS.read_text()) if STAMPS.exists() else {}
    for path, make in (OUTPUTS | command_line()).items():
        if stamps.get(path) == stamp(path):
            continue
        text = make()
        if is_fresh(path, text):
            stamps[path] = stamp(path)
            continue
        if check:
            print(f"{path} is not what `make docs` writes", file=sys.stderr)
            stale = 1
        else:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text)
            print(f"wrote {path}")
            digest.cache_clear()  # the output may be another's input
            stamps[path] = stamp(path)
    STAMPS.parent.mkdir(exist_ok=True)
    STAMPS.write_text(json.dumps(stamps))
    return stale


if __name__ == "__main__":
    raise SystemExit(main())
