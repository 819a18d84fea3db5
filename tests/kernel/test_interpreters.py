"""Subinterpreters, as mod_wsgi has one for each application: they use the reference kernel, and the process goes on.

The native module keeps objects for the whole process: two interpreters with it once crashed.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.implementation.name != "cpython", reason="only CPython has subinterpreters")

NUMBER = 8
PROGRAM = f"""
import sys

if sys.version_info >= (3, 13):
    import _interpreters as interpreters
    create, run = lambda: interpreters.create("legacy"), interpreters.exec
else:
    import _xxsubinterpreters as interpreters
    create, run = lambda: interpreters.create(isolated=False), interpreters.run_string

WORK = '''
from overthere import InvalidURI, URI, find, kernel, links
value = URI("HTTP://EXAMPLE.com/a/../%7eb?c").normalize()
value.join("../d"), value.host, [found.text for found in find("see http://a.b/c")]
try:
    URI("http://[::")
except InvalidURI as error:
    str(error)
import overthere.links.documents.html
print(kernel.name, value, flush=True)
'''

def work():
    for _ in range({NUMBER}):
        interpreter = create()
        error = run(interpreter, WORK)
        assert error is None, error
        interpreters.destroy(interpreter)

work()
import overthere
overthere.URI("http://h/a").normalize()
work()
print(overthere.kernel.name, overthere.URI("http://h/%7e").normalize())
"""


def test_subinterpreters_use_the_reference_kernel() -> None:
    kernel = subprocess.run(
        [sys.executable, "-c", "import overthere; print(overthere.kernel.name)"],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout.strip()  # fmt: skip
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=120)
    line = "reference http://example.com/~b?c\n"
    assert (result.returncode, result.stdout) == (0, line * 2 * NUMBER + f"{kernel} http://h/~\n"), result.stderr
