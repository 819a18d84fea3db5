"""The corpus: distinct texts that look like real URLs, made from fixed seeds, and what it is made of.

Hosts, path words and query names are drawn with a long tail; 8 % have a query, 2 % an escape, as in real collections.
"""

from __future__ import annotations

import random

__all__ = ["corpus"]

_WORDS = """
about archive article assets blog category chapter content data detail docs download en events faq files forum
gallery guide help history home images index info item library list local main manual media members news notes
page people photos post products profile project public reference release research reviews search section
service shop site software static stories support tag team terms topics tutorial users video view wiki work
"""
_TOP = ("com", "org", "net", "de", "co.uk", "example", "info", "fr", "io", "edu")


def corpus(size: int = 50_000, seed: int = 3986) -> list[str]:
    """`size` distinct texts, the same for the same seed; all are valid by RFC 3986."""
    chance = random.Random(seed)

    def word() -> str:
        return chance.choice(words)

    texts: dict[str, None] = {}
    words = _WORDS.split()
    while len(texts) < size:
        scheme = chance.choice(("http", "https", "https", "https"))
        host = f"{chance.choice(('www.', '', ''))}{word()}{chance.choice(('', '-' + word()))}.{chance.choice(_TOP)}"
        port = chance.choice(("",) * 60 + (":8080", ":443"))
        path = "".join(f"/{word()}" for _ in range(chance.randint(0, 4)))
        path += chance.choice(("/", "", ".html", f"/{chance.randint(1, 99999)}", f"-{word()}-{chance.randint(1, 999)}"))
        if not path.startswith("/"):
            path = "/" + path
        if chance.random() < 0.02:
            path += f"/{word()}%20{word()}%C3%A9"
        query = "" if chance.random() > 0.08 else f"?{word()}={word()}&id={chance.randint(1, 10**6)}"
        texts[f"{scheme}://{host}{port}{path}{query}"] = None
    return list(texts)
