"""Many threads on what they share: first uses at the same time, values, registries, caches, columns."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle, islice
from threading import Barrier

import pytest

import overthere
from overthere import IRI, URI, Registry, Rung, Template, URIReference

THREADS, ROUNDS = 12, 40
TEXTS = [f"HTTP://user:pw@Host{n % 7}.example:80/%7Ea/./b{n}/../c?k={n}&k=%41#f" for n in range(60)]


@contextmanager
def turns() -> Iterator[None]:
    """Threads that take turns as often as the interpreter lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def together(actions: list[Callable[[], object]]) -> list[list[object]]:
    """The answers to the actions from each of many threads, which begin together and each with another one."""
    start = Barrier(THREADS)

    def work(number: int) -> list[object]:
        start.wait()
        count, first = len(actions), number % len(actions)
        answers: list[object] = [None] * count
        for place in islice(cycle(range(count)), first, first + count):
            answers[place] = actions[place]()
        return answers

    with turns(), ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


def test_values() -> None:
    """What a value computes at first use, and keeps, is the same for all."""

    def read(uri: URI) -> object:
        joined = uri.join("../d?x")
        return (
            uri.host, uri.port, uri.segments, uri.span("host"), uri.parameters["k"], uri.ip, hash(uri), repr(uri),
            uri.normalize(Rung.SCHEME), joined, uri.relate(joined), uri.redacted(), uri.locator, uri.origin,
        )  # fmt: skip

    expected = [read(URI(text)) for text in TEXTS]
    for _ in range(3):
        shared = [URI(text) for text in TEXTS]
        for answers in together([lambda uri=uri: read(uri) for uri in shared]):  # type: ignore[misc]
            assert answers == expected


def test_iris_references_and_templates() -> None:
    template = Template("http://h/{a}{?b,c}")
    iri, reference = IRI("http://bücher.example/ü?q=é#ß"), URIReference("../%7eg;x?y")

    def expand() -> object:
        made = template.expand(a="x y", b="1", c="ü")
        return made, template.match(made)

    actions: list[Callable[[], object]] = [
        expand,
        lambda: (iri.to_uri(), iri.normalize(), iri.host, hash(iri)),
        lambda: (reference.resolve(URI("http://h/a/b")), reference.segments, reference.form),
        lambda: overthere.check("http://h:8o/a b"),
        lambda: overthere.repair(" http:/h/a b "),
        lambda: [found.text for found in overthere.find("see http://h/a, www.example.org and <ftp://x/y>.")],
        lambda: overthere.explain("http://h/a?b#c").to_dict(),
    ]
    expected = [action() for action in actions]
    for _ in range(ROUNDS // 4):
        for answers in together(actions):
            assert answers == expected


def test_refused_texts() -> None:
    """An error computes its kind, place and message when they are read: by several threads at once, too."""
    errors = []
    for text in ("http://h:8o/", "http://h/a b", "http://[::g]/", "%", "a^:b"):
        with pytest.raises(overthere.InvalidURI) as caught:
            URI(text)
        errors.append(caught.value)
    again = [overthere.check(error.text)[0] for error in errors]
    expected = [(found.kind, found.start, found.expected, found.message) for found in again]
    for answers in together([lambda e=error: (e.kind, e.start, e.expected, e.message) for error in errors]):  # type: ignore[misc]
        assert answers == expected


def test_a_refused_text_has_one_finding() -> None:
    """However many threads work it out before one of them keeps it."""
    for text in ("http://h:8o/", "http://h/a b", "a^:b"):
        with pytest.raises(overthere.InvalidURI) as caught:
            URI(text)
        assert caught.value.kind  # the place alone
        refused = caught.value._refused
        assert not isinstance(refused, overthere.Finding)
        assert refused.finding() == refused.finding() == overthere.check(text)[0]


def test_a_registry_and_caches() -> None:
    """One registry, and more texts than a cache keeps."""
    registry = Registry.default().with_()
    names = sorted(registry)
    expected: list[object] = [(name, registry.scheme(name).port) for name in names]

    def look(name: str) -> object:
        return name, registry.scheme(name).port

    for answers in together([lambda name=name: look(name) for name in names]):  # type: ignore[misc]
        assert answers == expected
    hosts = [f"http://xn--bcher-kva{n}.example/{'%C3%BC' * (n % 9)}" for n in range(3_000)]
    single = [str(IRI(overthere.decode(host) if n % 2 else host).host) for n, host in enumerate(hosts)]
    chunks = [range(start, len(hosts), 100) for start in range(100)]

    def work(chunk: range) -> object:
        return [str(IRI(overthere.decode(hosts[n]) if n % 2 else hosts[n]).host) for n in chunk]

    for answers in together([lambda chunk=chunk: work(chunk) for chunk in chunks]):  # type: ignore[misc]
        assert answers == [[single[n] for n in chunk] for chunk in chunks]


def test_columns() -> None:
    """One column read by many threads, each of which asks for more threads."""
    pa = pytest.importorskip("pyarrow")
    from overthere import columns

    column = pa.chunked_array([TEXTS * 20, [None, "http://h/ "], TEXTS])
    actions: list[Callable[[], object]] = [
        lambda: pa.chunked_array(columns.normalize(column, threads=2)).to_pylist(),
        lambda: pa.chunked_array(columns.host(column, threads=3)).to_pylist(),
        lambda: pa.chunked_array(columns.check(column)).to_pylist(),
        lambda: pa.chunked_array(columns.resolve(column, "http://base.example/")).to_pylist(),
    ]
    expected = [action() for action in actions]
    for answers in together(actions):
        assert answers == expected


FIRST_USES = """
import sys, threading
sys.setswitchinterval(1e-6)
import overthere
def ftp(): return overthere.URI("ftp://h/%2Fetc/motd").locator
def mail(): return overthere.URI("mailto:a@h").locator
uses = [
    lambda: overthere.URI("http://h/%41").normalize(overthere.Rung.SCHEME), ftp, mail,
    lambda: overthere.IRI("http://b\\u00fccher.example/").to_uri(),
    lambda: overthere.check("http://h:8o/"), lambda: overthere.edition("rfc1738").check("http://h/~"),
    lambda: overthere.edition("url-1994").split("URL:http://h/"), lambda: overthere.scheme("gopher").port,
    lambda: overthere.audit(overthere.URI("http://a@h/")), lambda: overthere.plan("gopher://h/1").steps,
    lambda: overthere.edition("rfc3986").grammar.automaton("IPv6address").witness(),
    lambda: list(overthere.find("http://h/")), lambda: overthere.Template("{a}").expand(a="1"),
    lambda: str(overthere.repair(" http:/h/a b ")),
    lambda: [(scheme.name, scheme.port) for scheme in overthere.Registry.default().schemes()],
]
start, answers = threading.Barrier(THREADS), {}
def work(number):
    start.wait()
    answers[number] = [None] * len(uses)
    for step in range(len(uses)):
        place = (number + step) % len(uses)
        answers[number][place] = repr(uses[place]())
threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
assert len(answers) == len(threads) and all(row == answers[0] for row in answers.values()), answers
print(answers[0] == [repr(use()) for use in uses])
"""


@pytest.mark.parametrize("attempt", range(3))
def test_first_uses(attempt: int) -> None:
    """In a process that has loaded nothing yet: modules, tables and caches are made by several threads at once."""
    done = subprocess.run(
        [sys.executable, "-c", f"THREADS = {THREADS}\n{FIRST_USES}"], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)
