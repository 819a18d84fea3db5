"""Daemon threads in native functions at the end of the interpreter: the process ends normally."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from overthere import kernel

pytestmark = pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")

# Exit functions registered last run first: if a native function is still running, the process exits with 3.
START = """
import atexit, os, sys, threading, time
inside = []
atexit.register(lambda: os._exit(3) if inside else None)
import overthere
from overthere import Rung, URI, URIReference, columns

def repeat(*work):
    def run():
        while True:
            for one in work:
                one()
    threading.Thread(target=run, daemon=True).start()

value = URI("http://a/b/../c?d=%7e")
"""
WORK = {
    "values": """
repeat(lambda: URI("HTTP://EXAMPLE.com:80/%7e").normalize(Rung.SCHEME), lambda: value.join("../x"))
repeat(lambda: URI("http://h/a").join("b"), value.to_iri)
repeat(lambda: overthere.encode("a b\\u00e9"), lambda: overthere.decode("a%20b"), lambda: value.relate("http://a/"))
repeat(lambda: overthere.check("http://h/["), lambda: URI.parse("http://["), lambda: URIReference("//h").host)
""",
    "columns": """
import pyarrow as pa

some = pa.array([f"http://H{n}.example:80/a/../{n}" for n in range(3000)])
other = pa.chunked_array([["http://\\u00e9/", "git://h:9418/", "x"]] * 50)
repeat(lambda: columns.normalize(some, Rung.SCHEME), lambda: columns.normalize(other, Rung.SCHEME))
repeat(lambda: columns.split(some), lambda: columns.check(some), lambda: columns.host(other))
repeat(lambda: columns.resolve(some, "http://h/"), lambda: columns.registrable_domain(other))
repeat(lambda: columns.encode(some), lambda: pa.chunked_array(columns.check(other)))
""",
    "links": """
import pathlib, tempfile
from overthere.links import extract

page = b"<a href=b><meta http-equiv=refresh content='1; url=c'><a href='http://[\\u00e9'>" * 300
folder = tempfile.mkdtemp()
for name in ("a.html", "b.html"):
    pathlib.Path(folder, name).write_bytes(page)
repeat(lambda: list(extract([folder])))
repeat(lambda: list(extract([folder], rung=Rung.SCHEME)))
repeat(lambda: list(overthere.find("see http://h/a, http://i/b " * 20)))
""",
}


def run(program: str, seconds: float) -> tuple[int, str]:
    command = [sys.executable, "-c", f"{START}{program}\ntime.sleep({seconds})"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return result.returncode, result.stderr


@pytest.mark.parametrize("work", WORK)
def test_daemon_threads_do_not_abort_the_process(work: str) -> None:
    """Each child ends at another moment of its threads' work."""
    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda number: run(WORK[work], 0.02 + number * 0.007), range(17)))
    assert ends == [(0, "")] * 17


def test_the_process_ends_while_a_native_function_waits_in_python() -> None:
    """The interpreter waits for it; its thread then stops."""
    program = """
class Column:
    def __arrow_c_array__(self, schema=None):
        time.sleep(0.2)
        raise TypeError("no array")

def read():
    try:
        columns.split(Column())
    except TypeError:
        pass

repeat(read)
"""
    assert run(program, 0.1) == (0, "")


def test_python_code_in_a_native_function_is_not_delayed_by_threads() -> None:
    """It takes the GIL 6,000 times; each busy thread would delay it by 5 ms each time."""
    program = """
from overthere.values import scheme_query

def native_facts(name):
    inside.append(name)
    for _ in range(3000):
        open(os.devnull, "rb").close()
    inside.pop()
    return None, (None, False), True, False

scheme_query.native_facts = native_facts
numbers = iter(range(10**9))
repeat(lambda: URI(f"s{next(numbers)}://h").effective_port)
repeat(lambda: sum(range(100)))
repeat(lambda: sum(range(100)))
"""
    assert run(program, 0.1) == (0, "")
