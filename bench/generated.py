"""URLs and references from a fixed seed, with the lengths and the long tails of real collections."""

from __future__ import annotations

import random

_WORDS = """
about archive article assets blog category chapter content data detail docs download en events faq files forum
gallery guide help history home images index info item library list local main manual media members news notes
page people photos post products profile project public reference release research reviews search section
service shop site software static stories support tag team terms topics tutorial users video view wiki work
"""
_SYLLABLES = "ba be chi co da den el fa gar ho in ka la li mar mo na ni or pa ra ri sa sel ta ter tu ur va ver wi zo"
_TOP = (
    ("com",) * 12 + ("org",) * 4 + ("net",) * 3 + ("de", "co.uk", "fr", "io", "edu", "info", "jp", "com.br", "example")
)
_NAMES = ("id", "q", "page", "p", "lang", "ref", "utm_source", "utm_campaign", "v", "sort", "type", "name", "date", "s")
_ENDINGS = ("",) * 8 + ("/",) * 6 + (".html",) * 5 + (".htm", ".php", ".pdf", ".aspx", ".jpg")
_ESCAPES = ("%20", "%C3%A9", "%2F", "%3A", "%E3%82%A2", "%7E", "%c3%bc", "%26", "%E2%80%99")
_DIRT = (" ", "|", "{x}", "%", "é", "[1]", "\\", "%u2019", "^", '"')


class _Generator:
    """One source of chance, and what is drawn from it with a long tail."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        syllables = _SYLLABLES.split()
        self.words = _WORDS.split() + ["".join(self.chance.choices(syllables, k=1 + i % 4)) for i in range(4_000)]
        self.hosts = [self._host() for _ in range(60_000)]

    def _tail(self, items: list[str]) -> str:
        """An item; the earlier it stands, the more often."""
        return items[int(len(items) * self.chance.random() ** 3)]

    def word(self) -> str:
        return self._tail(self.words)

    def _host(self) -> str:
        chance = self.chance
        start = chance.choice(("www.",) * 5 + ("",) * 4 + (f"{self.word()}.",))
        suffix = f"-{self.word()}" if chance.random() < 0.2 else ""
        return f"{start}{self.word()}{suffix}.{chance.choice(_TOP)}"

    def authority(self) -> str:
        chance, kind = self.chance, self.chance.random()
        if kind < 0.0006:
            host = f"[2001:db8:{chance.randrange(65536):x}::{chance.randrange(65536):x}]"
        elif kind < 0.0018:
            host = ".".join(str(chance.randrange(256)) for _ in range(4))
        else:
            host = self._tail(self.hosts)
        if kind > 0.9995:
            host = f"{self.word()}:{self.word()}@{host}"
        return host + (f":{chance.choice((80, 443, 8080, 8000, 3000))}" if 0.5 < kind < 0.506 else "")

    def path(self) -> str:
        chance = self.chance
        depth = min(12, int(chance.lognormvariate(1.06, 0.66)))
        if not depth:
            return chance.choice(("", "/", "/"))
        parts = [self._tail(self.words) for _ in range(depth)]
        kind = chance.random()
        if kind < 0.30:
            parts[-1] = "-".join(
                [parts[-1], *(self.word() for _ in range(min(20, int(chance.lognormvariate(1.0, 0.6)))))]
            )
        elif kind < 0.55:
            parts[-1] = f"{chance.randint(1, 10 ** chance.randint(1, 9))}"
        elif kind < 0.60:
            parts[-1] = f"{chance.getrandbits(128):032x}"
        elif kind < 0.68:
            parts.insert(0, f"{chance.randint(1996, 2025)}/{chance.randint(1, 12):02}/{chance.randint(1, 31):02}")
        path = "/" + "/".join(parts) + chance.choice(_ENDINGS)
        if chance.random() < 0.006:
            for _ in range(chance.randint(1, 8)):
                path += chance.choice(_ESCAPES) + self.word()
        return path

    def query(self) -> str:
        pairs = (
            f"{self.chance.choice(_NAMES)}={self._value()}"
            for _ in range(min(15, 1 + int(self.chance.expovariate(0.7))))
        )
        return "?" + "&".join(pairs)

    def _value(self) -> str:
        kind = self.chance.random()
        if kind < 0.5:
            return str(self.chance.randint(1, 10 ** self.chance.randint(1, 10)))
        return self.word() + (f"+{self.word()}" if kind < 0.6 else "%20" + self.word() if kind < 0.63 else "")

    def url(self) -> str:
        chance, kind = self.chance, self.chance.random()
        if kind < 0.002:
            scheme, number = chance.choice(("mailto", "urn", "tel", "file", "ftp", "ldap")), chance.randint(1, 10**7)
            return {
                "mailto": f"mailto:{self.word()}.{number}@{self._tail(self.hosts)}",
                "urn": f"urn:{self.word()}:{number}",
                "tel": f"tel:+49-30-{number}",
                "file": f"file:///{self.word()}/{self.word()}{self.path()}",
            }.get(scheme, f"{scheme}://{self.authority()}{self.path()}/{number}")
        text = ("https://" if kind > 0.22 else "http://") + self.authority() + self.path()
        if chance.random() < 0.073:
            text += self.query()
        if chance.random() < 0.012:
            text += f"#{self.word()}"
        if 0.5 < kind < 0.5015:
            at = chance.randint(len(text) // 2, len(text))
            text = text[:at] + chance.choice(_DIRT) + text[at:]
        return text


def generate(count: int, names: dict[str, str], seed: int = 3986) -> list[str]:
    """`count` distinct texts that are not among the known."""
    maker = _Generator(seed)
    texts: dict[str, None] = {}
    while len(texts) < count:
        text = maker.url()
        if text not in names:
            texts[text] = None
    return list(texts)


def reference(text: str, kind: int) -> str:
    """A reference made from a URL: of five, two paths, a relative path, one without a scheme, the URL itself."""
    _, slashes, tail = text.partition("://")
    _, slash, path = tail.partition("/")
    if not slashes or kind % 5 == 4:
        return text
    if kind % 5 == 3:
        return f"//{tail}"
    if kind % 5 == 2 and path and ":" not in path:
        return f"../{path}"
    return slash + path or "/"
