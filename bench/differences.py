"""Differences from other packages on the same URIs: the number of equal answers, and each kind of difference.

python bench/differences.py [--texts N] [--surt PYTHON] [--write]: over the lists of `lists.py` and as many texts made
from a fixed seed.  `surt` is under the AGPL and no dependency here: --surt names a Python that has it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from lists import lists
from overthere import URI, InvalidURI, Rung
from overthere.canonical import SURT, URL_NORMALIZE, W3LIB
from overthere.values.hosts.domains import suffix_list

PAGE = Path(__file__).resolve().parent.parent / "docs" / "differences.md"
BEGIN, END = "<!-- Printed by bench/differences.py --write. -->\n", "<!-- The end of what it printed. -->\n"


class Answers(NamedTuple):
    """One URI: our answer, and that of the other package; None where it rejects it."""

    uri: URI
    ours: str | None
    theirs: str | None


class Peer(NamedTuple):
    """A package: the compared functions, and the kinds of difference; the first match is counted."""

    name: str
    compared: str
    ours: Callable[[URI], str | None]
    theirs: Callable[[list[URI]], list[str | None]]
    fits: Callable[[URI], bool]
    kinds: dict[str, Callable[[Answers], bool]]


# -- the texts


_HOSTS = (
    "h", "www.a.org", "www2.b.co.uk", "WWW.Ex.com", "a.b.c.d", "1.2.3.4", "010.1", "3279880203", "b%C3%BCcher.de",
    "xn--bcher-kva.de", "..a..b.", "[2001:DB8::1]", "a%2eb.com", "m.example.net", "wwwx.org", "joe.github.io", "h:81",
)  # fmt: skip
_PATHS = (
    "", "/", "/a", "/A/b", "//a//b/", "/a/./b", "/a/../b", "/../a", "/a/..", "/%7Ea", "/%2541", "/a%2Fb", "/%E9",
    "/x;jsessionid=0123456789abcdef0123456789ABCDEF", "/(S(0123456789abcdefghijklmn))/x.aspx", "/a%20b", "/%23x%3F",
    "/index.html", "/a;b=1", "/%C3%A9",
)  # fmt: skip
_NAMES = ("a", "b", "page", "page2", "A", "x%26y", "sid", "jsessionid", "PHPSESSID", "cfid", "cftoken", "a%3Db", "%E9")
_VALUES = ("", "1", "2", "a=b", "%2541", "0123456789abcdef0123456789ABCDEF", "+", "%20", "%C3%A9")


def make_uris(count: int) -> Iterator[URI]:
    """Odd URIs from a fixed seed."""
    chance = random.Random(26)
    for _ in range(count):
        pairs = [chance.choice(_NAMES) + chance.choice(("", "=", "=" + chance.choice(_VALUES))) for _ in range(3)]
        query = "" if chance.random() < 0.4 else "?" + "&".join(pairs[: chance.randrange(4)])
        port = "" if chance.random() < 0.7 else chance.choice((":80", ":443", ":", ":21"))
        scheme = chance.choice(("http", "https", "HTTP", "ftp"))
        host = chance.choice(_HOSTS)
        path = "".join(chance.choices(_PATHS, k=chance.choice((1, 1, 2))))
        text = f"{scheme}://{host}{'' if ':' in host[-3:] else port}{path}{query}{chance.choice(('', '', '#f'))}"
        if URI.can_parse(text):
            yield URI(text)


def real(count: int) -> Iterator[URI]:
    """The URIs among the texts of the lists, in their order."""
    seen = 0
    for text in dict.fromkeys(chain.from_iterable(lists(count).values())):
        if seen < count and URI.can_parse(text):
            seen += 1
            yield URI(text)


# -- the packages


def _map_each(function: Callable[[str], str | None]) -> Callable[[list[URI]], list[str | None]]:
    def answers(uris: list[URI]) -> list[str | None]:
        results: list[str | None] = []
        for uri in uris:
            try:
                results.append(function(str(uri)))
            except (ValueError, UnicodeError):
                results.append(None)
        return results

    return answers


_ASK_SURT = """
import json, socket, sys
def known(host):  # it asks a resolver: here only what is an address already
    try: return host, [], [socket.inet_ntoa(socket.inet_aton(host.decode() if isinstance(host, bytes) else host))]
    except OSError: raise socket.gaierror() from None
socket.gethostbyname_ex = known
from surt import surt
def asked(text):
    try: return surt(text)
    except Exception: return None
json.dump([asked(text) for text in json.load(sys.stdin)], sys.stdout)
"""


def _surt(python: str) -> Peer:
    def peer_surt(uris: list[URI]) -> list[str | None]:
        text = json.dumps([str(uri) for uri in uris])
        result = subprocess.run([python, "-c", _ASK_SURT], input=text, capture_output=True, text=True, check=True)
        return json.loads(result.stdout)  # type: ignore[no-any-return]

    return Peer(
        "surt 0.3.1",
        "`SURT.key(uri)` compared with `surt.surt(uri)`",
        SURT.key,
        peer_surt,
        lambda uri: bool(uri.host),
        {
            "`/..` above the root, which goes (RFC 3986 5.2.4)": lambda answers: "/../" in f"{answers.theirs}/",
            "`www.` before a top-level domain, which stays": lambda answers: (
                re.fullmatch("www[0-9]*[.][^.]+", _host(answers)) is not None
            ),
            "`www.` twice, of which both go": lambda answers: ",www)" in str(answers.theirs),
            _ESCAPED_HOST: _escaped_host,
            "an address that only resolvers read": lambda answers: _is_number(_host(answers).rpartition(".")[2]),
        },
    )


def _host(answers: Answers) -> str:
    return (answers.uri.host or "").lower().strip(".")


def _is_www_of_top(answers: Answers) -> bool:
    return re.fullmatch("www[0-9]*[.][^.]+", _host(answers)) is not None


def _is_number(label: str) -> bool:
    return re.fullmatch("[0-9]+|0x[0-9a-f]*", label) is not None


_ESCAPED_HOST = "escapes in a host, which are its letters"
_UNRESERVED = re.compile("(?i)%(?:2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])")


def _escaped_host(answers: Answers) -> bool:
    return "%" in (answers.uri.host or "")


def _web(uri: URI) -> bool:
    return uri.scheme.lower() in ("http", "https", "ftp") and bool(uri.host)


def _w3lib() -> Peer:
    from w3lib.url import canonicalize_url

    return Peer(
        f"w3lib {metadata.version('w3lib')}",
        "`W3LIB(uri)` compared with `canonicalize_url(uri)`, of http, https and ftp",
        lambda uri: str(W3LIB(uri)),
        _map_each(canonicalize_url),
        _web,
        {_ESCAPED_HOST: _escaped_host},
    )


def _url_normalize() -> Peer:
    from url_normalize import url_normalize

    return Peer(
        f"url-normalize {metadata.version('url-normalize')}",
        "`URL_NORMALIZE(uri)` compared with `url_normalize(uri)`, of http, https and ftp",
        lambda uri: str(URL_NORMALIZE(uri)),
        _map_each(url_normalize),
        _web,
        {
            _ESCAPED_HOST: _escaped_host,
            "`#!`, which stays a fragment": lambda answers: "#!" in str(answers.uri),
            "brackets in a query, which no URI holds bare": lambda answers: (
                str(answers.ours).replace("%5B", "[").replace("%5D", "]") == answers.theirs
            ),
        },
    )


def _tldextract() -> Peer:
    import tldextract

    extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
    return Peer(
        f"tldextract {metadata.version('tldextract')}",
        "`uri.registrable_domain` compared with `top_domain_under_public_suffix`, private section included; lists of "
        f"{suffix_list().version} here",
        lambda uri: uri.registrable_domain or "",
        _map_each(lambda text: extract(text).top_domain_under_public_suffix),
        lambda uri: bool(uri.host),
        {
            _ESCAPED_HOST: _escaped_host,
            'a top-level domain that no rule names: the rule "*" holds': lambda answers: answers.theirs == "",
        },
    )


def _ada() -> Peer:
    from overthere.editions.whatwg import read

    def href(text: str) -> str | None:
        href = read(text)
        return None if href is None else href.href

    return Peer(
        f"ada {metadata.version('ada-url')}",
        "`uri.normalize(Rung.SCHEME)` compared with `ada_url.URL(uri).href`, of http, https and ftp",
        lambda uri: str(uri.normalize(Rung.SCHEME)),
        _map_each(href),
        _web,
        {
            _ESCAPED_HOST + ", read at this rung as they stand": _escaped_host,
            "a number for an address, a name by RFC 3986 3.2.2": lambda one: _is_number(_host(one).rpartition(".")[2]),
            "escapes of unreserved characters, which are expanded (6.2.2.2)": lambda answers: (
                _UNRESERVED.search(str(answers.theirs)) is not None
            ),
            "`'` in a query, which is escaped there": lambda one: str(one.theirs).replace("%27", "'") == one.ours,
            "digits of escapes, which are in capitals here (6.2.2.1)": lambda answers: (
                str(answers.ours).lower() == str(answers.theirs).lower()
            ),
        },
    )


# -- the tables


def table(peer: Peer, uris: list[URI]) -> str:
    """One package's section of the page."""
    fitting = [uri for uri in uris if peer.fits(uri)]
    counts: dict[str, int] = {}
    examples: dict[str, Answers] = {}
    same = 0
    for uri, theirs in zip(fitting, peer.theirs(fitting), strict=True):
        try:
            ours = peer.ours(uri)
        except InvalidURI:
            ours = None
        answers = Answers(uri, ours, theirs)
        if ours == theirs:
            same += 1
            continue
        kind = next((name for name, holds in peer.kinds.items() if holds(answers)), "others")
        counts[kind] = counts.get(kind, 0) + 1
        examples.setdefault(kind, answers)
    lines = [f"## {peer.name}", "", f"{peer.compared}. {len(fitting):,} URIs, {same:,} the same.", ""]
    if counts:
        lines += ["| what differs | how many | for example | here | there |", "|---|---|---|---|---|"]
        for kind in sorted(counts, key=lambda name: (name == "others", -counts[name])):
            cells = (str(examples[kind].uri), examples[kind].ours, examples[kind].theirs)
            text = " | ".join("refused" if cell is None else f"`{_cell(cell)}`" for cell in cells)
            lines.append(f"| {kind} | {counts[kind]:,} | {text} |")
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    text = text if len(text) <= 70 else text[:69] + "…"
    return text.replace("|", "\\|") or " "


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=20_000, help="of the lists; a quarter as many are made")
    parser.add_argument("--surt", metavar="PYTHON", help="a Python that has surt")
    parser.add_argument("--write", action="store_true", help=f"write the tables to {PAGE.name}")
    options = parser.parse_args()
    uris = [*real(options.texts), *make_uris(options.texts // 4)]
    peers = [_w3lib(), _url_normalize(), _tldextract(), _ada()]
    if options.surt:
        peers.insert(0, _surt(options.surt))
    text = "\n".join(table(peer, uris) for peer in peers)
    print(text)
    if options.write:
        before, tail = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{tail.split(END)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
