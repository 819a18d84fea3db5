"""Pictures of the explainer for docs/pictures, taken with Chromium: light, dark, on a phone.

python tools/pictures.py

Fonts differ from machine to machine, so that no check compares them.  Without Chromium only a message is printed.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import Literal, NamedTuple, cast

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

PICTURES = ROOT / "docs" / "pictures"
COLOURS = 96
"""The colours of the palette: the most frequent ones, unchanged."""


class Picture(NamedTuple):
    name: str
    link: str
    width: int = 1000
    scheme: Literal["light", "dark"] = "light"
    height: int = 1500
    """The rest below is cropped."""


_TEXT = "/anatomy?text=HTTP%3A%2F%2Fjoe%40Example.com%3A80%2F%257Ejoe%2Fa%2520b%2F..%2Fc%3Fq%3Dcaf%25C3%25A9%23top"
_TRAP = "?text=http%3A%2F%2Ftrusted.example%5C%40evil.example%2F"
TAKEN = (
    Picture("anatomy", _TEXT, height=1010),
    Picture("anatomy-dark", _TEXT, scheme="dark", height=1010),
    Picture("anatomy-phone", _TEXT, width=360, height=1100),
    Picture("findings", "/anatomy?text=http%3A%2F%2Fh%3A8o%2Fa+b%25zz", height=1010),
    Picture("editions", f"/editions{_TRAP}"),
    Picture("editions-phone", f"/editions{_TRAP}", width=360, scheme="dark", height=1100),
    Picture("resolution", "/resolution?reference=..%2F..%2F..%2Fg"),
    Picture("ladder", "/ladder?a=http%3A%2F%2Fexample.com&b=HTTP%3A%2F%2FEXAMPLE.com%3A80%2F%2561%2F.."),
    Picture("plan", "/plan?text=ftp%3A%2F%2Fjoe%3Asecret%40ftp.example%2Fpub%2Ffile%3Btype%3Da", scheme="dark"),
    Picture("audit", "/audit?text=http%3A%2F%2Fwww.bank.example%400x7f.1%2F"),
    Picture("grammar", "/grammar?rule=dec-octet&text=256"),
    Picture("differences", "/witnesses?a=url-1997&b=rfc3986", height=1010),
)


def take(browser: str, into: Path) -> None:
    """All pictures, each with few colours."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    from explainer import explainer

    into.mkdir(parents=True, exist_ok=True)
    with explainer() as running, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name in TAKEN:
            context = chromium.new_context(viewport={"width": name.width, "height": 700}, color_scheme=name.scheme)
            page = context.new_page()
            page.goto(running.root + name.link)
            image = Image.open(BytesIO(page.screenshot(full_page=True))).convert("RGB")
            cropped = image.crop((0, 0, image.width, min(image.height, name.height)))
            counted = sorted(cropped.getcolors(1 << 24) or (), key=lambda pair: -pair[0])[:COLOURS]
            palette = Image.new("P", (1, 1))
            palette.putpalette([value for _, colour in counted for value in cast("tuple[int, int, int]", colour)])
            reduced = cropped.quantize(palette=palette, dither=Image.Dither.NONE)
            reduced.save(into / f"{name.name}.png", optimize=True)
            context.close()
        chromium.close()


if __name__ == "__main__":
    from explainer import CHROMIUM

    if CHROMIUM is None:
        print("docs/pictures stay as they are: chromium is not installed")
    else:
        take(CHROMIUM, PICTURES)
