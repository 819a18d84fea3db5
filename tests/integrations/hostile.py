"""Texts and addresses that try to reach an inner server: for the tests of the guards and their table."""

from __future__ import annotations

from collections.abc import Iterator

SPECIAL = (
    "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
    "192.0.0.1", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
    "255.255.255.255", "::1", "::", "fe80::1", "fd00::1", "fec0::1", "ff02::1", "100::1", "2001:db8::1", "3fff::1",
    "5f00::1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::",
)  # fmt: skip
"""32 addresses that are not public, or embed one that is not (the registries of special-purpose addresses)."""

SPELLINGS = (
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1", "0", "0.0.0.0",
    "127.0.0.1.", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]", "[::]", "localhost", "LOCALHOST", "localhost.", "inner.test", "INNER.test.", "six.test",
    "\uff11\uff12\uff17.0.0.1", "\u2460\u2461\u2466.0.0.1", "127\u30020\u30020\u30021", "%31%32%37.0.0.1",
    "inner\uff0etest",
    "\uff49nner.test", "inner.te\u00adst", "169.254.169.254", "10.0.0.1", "192.168.0.1", "100.64.0.1", "[fe80::1]",
    "[fd00::1]",
    "255.255.255.255", "224.0.0.1", "192.0.2.1", "198.18.0.1", "[fec0::1]", "[2001:db8::1]", "[100::1]",
)  # fmt: skip
TRICKS = (
    "http://outer.test@{inner}/", "http://outer.test:x@{inner}/", "http://outer.test\\@{inner}/",
    "http://{inner}\\@outer.test/", "http://{inner}#@outer.test:{port}/", "http://{inner}?@outer.test:{port}/",
    "http://outer.test:{port}@x@{inner}/", "http://{inner};@outer.test/", "http:\\\\{inner}/", "http:/{inner}/",
    "http:///{inner}/", "http:{inner}/", "//{inner}/", "\thttp://{inner}/", "http://{inner}\x00.outer.test/",
    "http://outer.test\x00@{inner}/", "http://outer.test%00@{inner}/", "http://{inner}%2f@outer.test/",
    "http://outer.test\r\n@{inner}/", "http://[outer.test]@{inner}/", "http://outer.test&@{inner}#@outer.test/",
    "file:///etc/passwd", "gopher://{inner}/0a", "ftp://{inner}/", "dict://{inner}/d:x", "unix://{inner}/",
    "http+unix://%2Ftmp%2Fs/", "", "http://", "http://:{port}/", "javascript:alert(1)", "data:,x",
)  # fmt: skip
REDIRECTS = (
    "http://127.0.0.1:{port}/", "http://inner.test:{port}/", "//inner.test:{port}/", "http://localhost:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/", "http://0x7f.1:{port}/", "\\\\inner.test:{port}/", "http://x@inner.test:{port}/",
    "file:///etc/passwd", "gopher://inner.test:{port}/", "http:///inner.test:{port}/",
    "http://outer.test:{port}/to?http%3A//inner.test%3A{port}/",
)  # fmt: skip


def hostile(port: int) -> Iterator[str]:
    for host in SPELLINGS:
        yield f"http://{host}:{port}/"
        yield f"https://{host}:{port}/"
    for trick in TRICKS:
        yield trick.format(inner=f"127.0.0.1:{port}", port=port)
        yield trick.format(inner=f"inner.test:{port}", port=port)
