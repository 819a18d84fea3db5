"""The crates in the native kernel: their bill of materials (rust/sbom.cdx.json) and licences (rust/LICENSES.md).

python tools/crates.py [--check]: with requirements/release.txt, and cargo, which fetches the sources of the crates.

Both are of all systems that have wheels.  Macros and build scripts run at build time and are in no wheel.
"""

# The packages of requirements/release.txt are in no test environment:
# pyright: reportMissingImports=false
from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

ROOT = Path(__file__).resolve().parent.parent
BILL, LICENSES = ROOT / "rust" / "sbom.cdx.json", ROOT / "rust" / "LICENSES.md"
TARGETS = (
    "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl",
    "x86_64-pc-windows-msvc", "aarch64-pc-windows-msvc", "x86_64-apple-darwin", "aarch64-apple-darwin",
    "wasm32-unknown-emscripten",
)  # fmt: skip
HEAD = """\
# Licences of the crates in the native kernel

The pure wheel contains none of them. `tools/crates.py` writes this file. Where a crate may be used under one of several
licences, this is MIT if it is among them.

The Rust standard library is linked too: Copyright (c) The Rust Project contributors, MIT OR Apache-2.0.
`COPYRIGHT-library.html` of the toolchain lists the crates within it; all have licences of this kind.

"""
Crate = dict[str, Any]


def cargo(*arguments: str) -> str:
    command = ["cargo", *arguments, "--locked", "--manifest-path", str(ROOT / "rust" / "python" / "Cargo.toml")]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def graph() -> tuple[list[Crate], dict[str, list[str]]]:
    """The crates that are linked on one of the systems, each as cargo describes it, and what each needs of them."""
    linked = set()
    for target in TARGETS:
        tree = ("tree", "--edges", "normal,no-proc-macro", "--prefix", "none", "--target", target)
        linked |= {tuple(line.replace(" v", " ").split()[:2]) for line in cargo(*tree).splitlines()}
    metadata = json.loads(cargo("metadata", "--format-version", "1"))
    crates = {
        package["id"]: package for package in metadata["packages"] if (package["name"], package["version"]) in linked
    }
    needs = {
        node["id"]: sorted(
            dep["pkg"]
            for dep in node["deps"]
            if dep["pkg"] in crates and any(kind["kind"] is None for kind in dep["dep_kinds"])
        )
        for node in metadata["resolve"]["nodes"]
        if node["id"] in crates
    }
    return sorted(crates.values(), key=name), needs


def name(crate: Crate) -> str:
    return f"{crate['name']} {crate['version']}"


def texts(crate: Crate) -> list[str]:
    """The texts that its licence requires to be distributed: MIT where that may be chosen, all there is otherwise."""
    files = sorted(Path(crate["manifest_path"]).parent.iterdir())
    named = [file for file in files if re.match("licen[cs]e|copying|notice", file.name, re.IGNORECASE)]
    mit = [file for file in named if "mit" in file.name.lower()]
    if " AND " not in crate["license"] and "MIT" in crate["license"] and mit:
        named = mit
    if not named and crate["license"] == "Apache-2.0":  # flatbuffers has no copy of it
        named = sorted(Path(crate["manifest_path"]).parent.parent.glob("serde_json-[0-9]*/LICENSE-APACHE"))[-1:]
    if not named:
        raise SystemExit(f"{name(crate)} ({crate['license']}) has no text of its licence")
    return ["\n".join(map(str.rstrip, file.read_text("utf-8").strip().splitlines())) for file in named]


def licenses(crates: list[Crate]) -> str:
    """A section for each text, with the crates that have it."""
    holders: dict[str, list[str]] = {}
    for crate in crates:
        if crate["source"]:  # the others are this project
            for text in texts(crate):
                holders.setdefault(text, []).append(f"{name(crate)} ({crate['license']})")
    return HEAD + "\n".join(f"## {', '.join(crates)}\n\n```text\n{text}\n```\n" for text, crates in holders.items())


def bill(crates: list[Crate], needs: dict[str, list[str]]) -> str:
    """CycloneDX 1.6, valid by its schema, and the same for the same crates."""
    from cyclonedx.contrib.hash.factories import HashTypeFactory
    from cyclonedx.contrib.license.factories import LicenseFactory
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.output.json import JsonV1Dot6
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator
    from packageurl import PackageURL

    lock = tomllib.loads((ROOT / "rust" / "Cargo.lock").read_text("utf-8"))["package"]
    sums = {f"{crate['name']} {crate['version']}": crate.get("checksum") for crate in lock}
    components = {
        crate["id"]: Component(
            type=ComponentType.LIBRARY,
            name=crate["name"],
            version=crate["version"],
            bom_ref=f"{crate['name']}@{crate['version']}",
            purl=PackageURL("cargo", name=crate["name"], version=crate["version"]) if crate["source"] else None,
            licenses=[LicenseFactory().make_from_string(crate["license"])],
            hashes=[HashTypeFactory().from_hashlib_alg("sha256", total)] if (total := sums[name(crate)]) else (),
        )
        for crate in crates
    }
    (root,) = (crate["id"] for crate in crates if crate["name"] == "overthere-python")
    described = "".join(f"{name(crate)} {sums[name(crate)]}\n" for crate in crates)
    bom = Bom(
        components=[c for id, c in components.items() if id != root], serial_number=uuid5(NAMESPACE_URL, described)
    )
    bom.metadata.component = components[root]
    for crate, needed in needs.items():
        bom.register_dependency(components[crate], [components[crate] for crate in needed])
    document = json.loads(JsonV1Dot6(bom).output_as_string())
    del document["metadata"]["timestamp"]
    text = json.dumps(document, indent=1, sort_keys=True) + "\n"
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise SystemExit(f"no valid bill of materials: {error}")
    return text


def main() -> int:
    crates, needs = graph()
    stale = 0
    for file, text in ((BILL, bill(crates, needs)), (LICENSES, licenses(crates))):
        if file.exists() and file.read_text("utf-8") == text:
            continue
        if "--check" in sys.argv[1:]:
            print(f"{file.relative_to(ROOT)} is not what tools/crates.py writes", file=sys.stderr)
            stale = 1
        else:
            file.write_text(text, "utf-8")
            print(f"wrote {file.relative_to(ROOT)}")
    return stale


if __name__ == "__main__":
    raise SystemExit(main())
