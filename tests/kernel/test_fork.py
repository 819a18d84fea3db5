"""A process with working threads forks: the child, which has one thread, uses values and columns, and ends.

It starts no thread and imports no module: a thread that the child lacks may hold locks of CPython (docs/security.md).
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from servers import NET

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on POSIX only")

FORKS = 40
PROGRAM = f"""
import os, threading, time
import pyarrow as pa
from overthere import URI, check, columns
from overthere.access.resolver import Question

column = pa.array([f"HTTP://h/%7ea/../{{number}}" for number in range(500)])
is_over = threading.Event()

def values():
    URI("HTTP://EXAMPLE.com:80/a/./b").normalize().join("../x"), check("a b%zz")

def batches():
    columns.normalize(column)

def questions():
    question = Question(lambda: 1)
    question.ready.recv(1)
    question.answer(), question.close()

def repeat(work):
    while not is_over.is_set():
        work()

works = (values, batches, questions)
for work in works:
    work()
threads = [threading.Thread(target=repeat, args=(work,), daemon=True) for work in works]
for thread in threads:
    thread.start()
for number in range({FORKS}):
    child = os.fork()
    if not child:
        is_right = str(URI("HTTP://A/b/../c").normalize()) == "http://a/c"
        os._exit(0 if is_right and len(columns.normalize(column)) == 500 else 1)
    assert os.waitpid(child, 0)[1] == 0, number
is_over.set()
for thread in threads:
    thread.join()
print("ended")
"""


def test_a_child_forked_among_threads_works_and_ends() -> None:
    pytest.importorskip("pyarrow")
    command = [sys.executable, "-P", "-W", "ignore", "-c", PROGRAM]
    result = subprocess.run(command, capture_output=True, text=True, timeout=10 * NET, check=False)
    assert (result.returncode, result.stdout) == (0, "ended\n"), result.stderr
