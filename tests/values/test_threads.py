"""Many threads with shared objects: simultaneous first uses, values, registries, caches, columns."""

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
def switching_often() -> Iterator[None]:
    """Let threads switch as often as the interpreter allows."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def run_together(actions: list[Callable[[], object]]) -> list[list[object]]:
    """The results of the actions in many threads, which start together, each with another action."""
    start = Barrier(THREADS)

    def work(number: int) -> list[object]:
        start.wait()
        count, first = len(actions), number % len(actions)
        answers: list[object] = [None] * count
        for place in islice(cycle(range(count)), first, first + count):
            answers[place] = actions[place]()
        return answers

    with switching_often(), ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


def test_threads_share_values() -> None:
    """All see the same value of an attribute that is computed at first use."""

    def read(uri: URI) -> object:
        joined = uri.join("../d?x")
        return (
            uri.host, uri.port, uri.segments, uri.span("host"), uri.parameters["k"], uri.ip, hash(uri), repr(uri),
            uri.normalize(Rung.SCHEME), joined, uri.relate(joined), uri.redacted(), uri.locator, uri.origin,
        )  # fmt: skip

    expected = [read(URI(text)) for text in TEXTS]
    for _ in range(3):
        shared = [URI(text) for text in TEXTS]
        for answers in run_together([lambda uri=uri: read(uri) for uri in shared]):  # type: ignore[misc]
            assert answers == expected


def test_threads_share_iris_references_and_templates() -> None:
    template = Template("http://h/{a}{?b,c}")
    iri, reference = IRI("http://bücher.example/ü?q=é#ß"), URIReference("../%7eg;x?y")

    def expand() -> object:
        uri = template.expand(a="x y", b="1", c="ü")
        return uri, template.match(uri)

    actions: list[Callable[[], object]] = [
        expand,
        lambda: (iri.to_uri(), iri.normalize(), iri.host, hash(iri)),
        lambda: (reference.resolve(URI("http://h/a/b")), reference.segments, reference.form),
        lambda: overthere.check("http://h:8o/a b"),
        lambda: overthere.repair(" http:/h/a b "),
        lambda: [match.text for match in overthere.find("see http://h/a, www.example.org and <ftp://x/y>.")],
        lambda: overthere.explain("http://h/a?b#c").to_dict(),
    ]
    expected = [action() for action in actions]
    for _ in range(ROUNDS // 4):
        for answers in run_together(actions):
            assert answers == expected


def test_threads_share_errors() -> None:
    """An error computes kind, place and message when they are read, possibly in several threads at once."""
    errors = []
    for text in ("http://h:8o/", "http://h/a b", "http://[::g]/", "%", "a^:b"):
        with pytest.raises(overthere.InvalidURI) as caught:
            URI(text)
        errors.append(caught.value)
    findings = [overthere.check(error.text)[0] for error in errors]
    expected = [(result.kind, result.start, result.expected, result.message) for result in findings]
    for answers in run_together([lambda e=error: (e.kind, e.start, e.expected, e.message) for error in errors]):  # type: ignore[misc]
        assert answers == expected


def test_an_error_has_one_finding() -> None:
    """Even if several threads compute it before one stores it."""
    for text in ("http://h:8o/", "http://h/a b", "a^:b"):
        with pytest.raises(overthere.InvalidURI) as caught:
            URI(text)
        assert caught.value.kind  # only the place
        refused = caught.value._refused
        assert not isinstance(refused, overthere.Finding)
        assert refused.finding() == refused.finding() == overthere.check(text)[0]


def test_threads_share_a_registry_and_caches() -> None:
    """With more texts than a cache keeps."""
    registry = Registry.default().with_()
    names = sorted(registry)
    expected: list[object] = [(name, registry.scheme(name).port) for name in names]

    def look_up(name: str) -> object:
        return name, registry.scheme(name).port

    for answers in run_together([lambda name=name: look_up(name) for name in names]):  # type: ignore[misc]
        assert answers == expected
    hosts = [f"http://xn--bcher-kva{n}.example/{'%C3%BC' * (n % 9)}" for n in range(3_000)]
    single = [str(IRI(overthere.decode(host) if n % 2 else host).host) for n, host in enumerate(hosts)]
    chunks = [range(start, len(hosts), 100) for start in range(100)]

    def work(chunk: range) -> object:
        return [str(IRI(overthere.decode(hosts[n]) if n % 2 else hosts[n]).host) for n in chunk]

    for answers in run_together([lambda chunk=chunk: work(chunk) for chunk in chunks]):  # type: ignore[misc]
        assert answers == [[single[n] for n in chunk] for chunk in chunks]


def test_threads_share_a_column() -> None:
    """Each thread starts more threads."""
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
    for answers in run_together(actions):
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
def test_simultaneous_first_uses(attempt: int) -> None:
    """In a new process: several threads create modules, tables and caches at once."""
    result = subprocess.run(
        [sys.executable, "-c", f"THREADS = {THREADS}\n{FIRST_USES}"], capture_output=True, text=True, check=False
    )
    assert (result.stdout, result.stderr, result.returncode) == ("True\n", "", 0)
