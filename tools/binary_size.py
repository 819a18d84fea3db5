"""The size of the native kernel: octets of code by crate, and the other sections, of a build with symbols.

    CARGO_PROFILE_RELEASE_STRIP=none cargo build --release --manifest-path rust/Cargo.toml -p overthere-python
    python tools/binary_size.py rust/target/release/lib_native.so

`nm` and `size` of binutils read it; data has no symbols that tell its crate.
"""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

LISTED = 12
SECTIONS = {
    "tables of pointers": (".data.rel.ro",),
    "their relocations": (".rela.dyn",),
    "unwinding": (".eh_frame", ".eh_frame_hdr", ".gcc_except_table"),
    "constants": (".rodata",),
}
# The crate is the first name of a path; in `<a::B as c::D>::e`, the crate of the type.
_CRATE = re.compile(r"[<&*\[(]*(?:(?:mut|const|dyn) )*([a-z_][a-z0-9_]*)(?:::|\[)")
_OWN = {"_native": "overthere-python", "overthere_core": "overthere-core", "overthere_html": "overthere-html"}


def by_section(library: Path) -> dict[str, int]:
    """The octets of the sections that are installed, named by what they hold."""
    listed = subprocess.run(["size", "-A", "-d", str(library)], capture_output=True, text=True, check=True).stdout
    sizes = {f[0]: int(f[1]) for f in map(str.split, listed.splitlines()) if len(f) == 3 and f[1].isdigit()}
    return {name: sum(sizes.get(section, 0) for section in sections) for name, sections in SECTIONS.items()}


def by_crate(library: Path) -> Counter[str]:
    """The octets of the code of each crate."""
    listed = subprocess.run(["nm", "-S", "-C", str(library)], capture_output=True, text=True, check=True).stdout
    room: Counter[str] = Counter()
    for line in listed.splitlines():
        fields = line.split(maxsplit=3)
        if len(fields) == 4 and fields[2] in "tTwW":
            match = _CRATE.match(fields[3])
            crate = match[1] if match else "others"
            room[_OWN.get(crate, crate)] += int(fields[1], 16)
    return room


def packed_sizes(library: Path) -> tuple[int, int]:
    """The octets of the file without its symbols, as it is installed, and of that with gzip."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(shutil.copy(library, folder))
        subprocess.run(["strip", str(plain)], check=True)
        data = plain.read_bytes()
    return len(data), len(gzip.compress(data))


def main() -> None:
    library = Path(sys.argv[1])
    size, wheel = packed_sizes(library)
    room = by_crate(library)
    rows = [(f"code of {name}", octets) for name, octets in room.most_common(LISTED)]
    rows.append(("code of other crates", sum(octets for _, octets in room.most_common()[LISTED:])))
    rows += by_section(library).items()
    rows.append(("the rest", size - sum(octets for _, octets in rows)))
    print("| what | KiB | % |\n|---|--:|--:|")
    for name, octets in rows:
        print(f"| {name} | {octets / 1024:,.0f} | {100 * octets / size:.1f} |")
    print(f"| the file | {size / 1024:,.0f} | 100.0 |\n| the file, gzipped | {wheel / 1024:,.0f} | |")


if __name__ == "__main__":
    main()
