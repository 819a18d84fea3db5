"""file: POSIX, Windows and VMS paths to URIs and back."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overthere import URI, InvalidURI, PlanRefused, Rung, Unwritable, scheme
from overthere.editions import edition
from overthere.schemes.known.file import FileLocator
from overthere.schemes.known.file.paths import Platform, from_path, resolve_on_drive, update_delimiters
from support import LONG, linear


def locator_of(text: str) -> FileLocator:
    locator = URI(text).locator
    assert isinstance(locator, FileLocator)
    return locator


# -- From a URI to a path


@pytest.mark.parametrize(
    ("text", "platform", "path"),
    [
        # RFC 8089 B
        ("file:///path/to/file", "posix", "/path/to/file"),
        ("file:/path/to/file", "posix", "/path/to/file"),
        ("file://localhost/path/to/file", "posix", "/path/to/file"),
        ("file://LOCALHOST/", "posix", "/"),
        ("file:///a//b/", "posix", "/a//b/"),
        ("file:///c:/x", "posix", "/c:/x"),
        ("file:c:/x", "posix", "/c:/x"),
        ("file:////host/x", "posix", "//host/x"),
        ("file:///a%5Cb%3Fc%23", "posix", "/a\\b?c#"),
        ("file:///caf%E9%C3%BC", "posix", "/caf\udce9ü"),
        # E.2
        ("file:///c:/path/to/file", "windows", r"c:\path\to\file"),
        ("file:c:/path/to/file", "windows", r"c:\path\to\file"),
        ("file:/C:/", "windows", "C:\\"),
        ("file://localhost/c:/x%20y", "windows", r"c:\x y"),
        ("file:///c%3A/x", "windows", r"c:\x"),
        ("file:///c:/a.txt:stream:$DATA", "windows", r"c:\a.txt:stream:$DATA"),
        # E.3.1, E.3.2
        ("file://host.example.com/Share/path/to/file.txt", "windows", r"\\host.example.com\Share\path\to\file.txt"),
        ("file://h%6Fst/s/a:b", "windows", r"\\host\s\a:b"),
        ("file:////host.example.com/path/to/file", "windows", r"\\host.example.com\path\to\file"),
        ("file://///host.example.com/path/to/file", "windows", r"\\host.example.com\path\to\file"),
        ("file:////%5B::1%5D/s/f", "windows", r"\\[::1]\s\f"),
        ("file://[::1]/s/f", "windows", r"\\[::1]\s\f"),
        # RFC 1738 3.10, RFC 8089 D.4
        ("file:///DISK$USER/MY/NOTES/NOTE123456.TXT", "vms", "DISK$USER:[MY.NOTES]NOTE123456.TXT"),
        (
            "file://vms.host.edu/disk$user/my/notes/note12345.txt",
            "vms",
            "vms.host.edu::disk$user:[my.notes]note12345.txt",
        ),
        ("file:///dev/A.TXT;1", "vms", "dev:[000000]A.TXT;1"),
        ("file:///dev/A/", "vms", "dev:[A]"),
        ("file://joe:pw@NODE/dev/a/b", "vms", 'NODE"joe pw"::dev:[a]b'),
        ("file://joe@NODE/dev/a/b", "vms", 'NODE"joe"::dev:[a]b'),
    ],
)
def test_to_path(text: str, platform: Platform, path: str) -> None:
    assert locator_of(text).to_path(platform) == path


@pytest.mark.parametrize(
    ("text", "platform", "reason"),
    [
        ("file://host.example.com/path", "posix", "for which posix has no path"),
        ("file://localhost.example/path", "posix", "for which posix has no path"),
        ("file://127.0.0.1/path", "posix", "for which posix has no path"),
        ("file:///a%2Fb", "posix", "'/'"),
        ("file:///a%00b", "posix", "NUL"),
        ("file:///a%00b", "windows", "NUL"),
        ("file:///..", "posix", "normalise"),
        ("file:///a/%2e/b", "posix", "normalise"),
        ("file:///a?b", "posix", "cannot have a query"),
        ("file://", "posix", "no path"),
        ("file://u@localhost/a", "posix", "user name"),
        ("file://u@/c:/a", "windows", "user name"),
        ("file:///path/to/file", "windows", "drive letter or a host"),
        ("file:///", "windows", "drive letter or a host"),
        ("file:///c:", "windows", "without a path"),
        ("file:///c:a/b", "windows", "drive letter or a host"),
        ("file:///c%7C/b", "windows", r"'\|'"),
        ("file:///c:/a%5Cb", "windows", r"'\\\\'"),
        ("file:///c:/a%2F..%2Fb", "windows", "'/'"),
        ("file:///c:/a:b/c", "windows", "colon"),
        ("file:///c:/d:/c", "windows", "colon"),
        ("file:///c:/a*", "windows", r"'\*'"),
        ("file:///c:/aux", "windows", "device"),
        ("file:///c:/NUL.txt", "windows", "device"),
        ("file:///c:/com1", "windows", "device"),
        ("file:///c:/lpt9%20.x", "windows", "device"),
        ("file:///c:/nul:x", "windows", "device"),
        ("file:///c:/a.", "windows", "another name"),
        ("file:///c:/a%20/b", "windows", "another name"),
        ("file:///c:/...", "windows", "another name"),
        ("file:///c:/%E9", "windows", "not allowed in a name"),
        ("file://host/", "windows", "share"),
        ("file://host//x", "windows", "share"),
        ("file://host/c:/x", "windows", "share"),
        ("file://./pipe/x", "windows", "not a valid host of a UNC"),
        ("file://%3F/c$/x", "windows", "not a valid host of a UNC"),
        ("file://a%5Cb/c/x", "windows", "not a valid host of a UNC"),
        ("file:////./pipe/x", "windows", "not a file name"),
        ("file:////%3F/c:/x", "windows", r"'\?'"),
        ("file://////h/x", "windows", "not a valid host of a UNC"),
        ("file:////", "windows", "not a valid host of a UNC"),
        ("file:///dev", "vms", "a device and a directory"),
        ("file:///dev/a%5Db/c", "vms", "']'"),
        ("file:///dev/a.b/c", "vms", "not a directory"),
        ("file:///dev//c", "vms", "not a directory"),
        ("file:///dev/-/c", "vms", "not a directory"),
        ("file:///dev/000000/a/c", "vms", "top of a device"),
        ("file:///de.v/a/c", "vms", "not a device"),
        ("file:///c:/a", "vms", "':'"),
        ("file://jo%20e@n/d/a", "vms", "delimiter"),
        ("file://:pw@n/d/a", "vms", "empty part"),
        ("file://u:p%22@n/d/a", "vms", "delimiter"),
        ("file://u@/d/a", "vms", "empty part"),
    ],
)
def test_to_path_rejects(text: str, platform: Platform, reason: str) -> None:
    """RFC 8089 3 and 5: the path is never another file than the URI's."""
    with pytest.raises(PlanRefused, match=reason) as caught:
        locator_of(text).to_path(platform)
    assert "pw" not in str(caught.value)


def test_host_names_of_this_machine_are_local() -> None:
    """RFC 8089 3: "a fully qualified domain name that resolves to the machine from which the URI is interpreted"."""
    locator = locator_of("file://Me.example.com/etc/motd")
    assert locator.to_path("posix", names=["me.EXAMPLE.com"]) == "/etc/motd"
    assert not locator.is_local()
    assert locator_of("file:///a").is_local()
    assert locator_of("file:/a").is_local()
    with pytest.raises(TypeError, match="collection"):  # once every letter of the text counted as a name
        locator_of("file://e/etc/motd").to_path("posix", names="me.example.com")


def test_an_unknown_platform_is_rejected() -> None:
    platform: Any = "mvs"
    with pytest.raises(ValueError, match="not one of posix, windows, vms"):
        locator_of("file:///a").to_path(platform)
    with pytest.raises(ValueError, match="not one of posix, windows, vms"):
        from_path("/a", platform)


def test_a_lone_surrogate_is_rejected() -> None:
    for platform in ("posix", "windows", "vms"):
        with pytest.raises(PlanRefused):
            FileLocator(host="", segments=("c:", "a\ud800")).to_path(platform)
        with pytest.raises(Unwritable):
            from_path("/a\ud800", platform)


# -- From a path to a URI


@pytest.mark.parametrize(
    ("path", "platform", "text"),
    [
        ("/path/to/file", "posix", "file:///path/to/file"),
        ("/", "posix", "file:///"),
        ("/a b/c?d#e%20", "posix", "file:///a%20b/c%3Fd%23e%2520"),
        ("/a\\b", "posix", "file:///a%5Cb"),
        ("//a/b", "posix", "file:////a/b"),
        (b"/caf\xe9/\xc3\xbc", "posix", "file:///caf%E9/%C3%BC"),
        ("/caf\udce9", "posix", "file:///caf%E9"),
        (PurePosixPath("/a/b"), "posix", "file:///a/b"),
        (PurePosixPath("/a/b"), None, "file:///a/b"),
        (PureWindowsPath("c:/a/b"), None, "file:///c:/a/b"),
        (r"c:\path\to\file", "windows", "file:///c:/path/to/file"),
        ("C:/x/", "windows", "file:///C:/x/"),
        ("c:\\", "windows", "file:///c:/"),
        (r"c:\a;b@c=d", "windows", "file:///c:/a;b@c=d"),
        (r"\\host.example.com\Share\path\to\file.txt", "windows", "file://host.example.com/Share/path/to/file.txt"),
        (r"\\my host\s\f", "windows", "file://my%20host/s/f"),
        (r"\\[::1]\s\f", "windows", "file://[::1]/s/f"),
        (r"\\localhost\c$\f", "windows", "file:////localhost/c%24/f"),
        ("DISK$USER:[MY.NOTES]NOTE123456.TXT", "vms", "file:///DISK%24USER/MY/NOTES/NOTE123456.TXT"),
        ("VMS::DISK$USER:[MY.NOTES]NOTE123456.TXT", "vms", "file://VMS/DISK%24USER/MY/NOTES/NOTE123456.TXT"),
        ('VMS"joe pw"::D:[A]B.C;3', "vms", "file://joe:pw@VMS/D/A/B.C;3"),
        ("D:[000000]A.DIR", "vms", "file:///D/A.DIR"),
    ],
)
def test_from_path(path: Any, platform: Platform | None, text: str) -> None:
    locator = FileLocator.from_path(path, platform)
    assert str(locator.uri()) == text
    assert locator_of(text) == locator


@pytest.mark.parametrize(
    ("path", "platform"),
    [
        ("", "posix"),
        ("a/b", "posix"),
        ("./a", "posix"),
        (b"a", "posix"),
        (PurePosixPath("a"), None),
        ("/a/../b", "posix"),
        ("/a\0b", "posix"),
        ("x", "windows"),
        ("\\x", "windows"),
        ("c:", "windows"),
        ("c:x", "windows"),
        ("\\\\host", "windows"),
        ("\\\\host\\", "windows"),
        ("\\\\?\\c:\\x", "windows"),
        ("\\\\.\\pipe\\x", "windows"),
        ("\\\\?\\UNC\\host\\share", "windows"),
        ("\\??\\c:\\x", "windows"),
        ("c:\\a\\..\\b", "windows"),
        ("c:\\con", "windows"),
        ("c:\\a|b", "windows"),
        (b"c:\\\xe9", "windows"),
        ("NOTE.TXT", "vms"),
        ("[MY.NOTES]A", "vms"),
        ("DISK:A", "vms"),
        ("D:[.SUB]A", "vms"),
        ("D:[]A", "vms"),
        ("D:[A...]B", "vms"),
        ("D:[A]*.TXT", "vms"),
        ("LOCALHOST::D:[A]B", "vms"),
        ('"u p"::D:[A]B', "vms"),
        ('N"u pw x"::D:[A]B', "vms"),
    ],
)
def test_from_path_rejects(path: Any, platform: Platform | None) -> None:
    with pytest.raises(Unwritable):
        from_path(path, platform)


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1).filter(
    lambda name: name not in (".", "..")
)


@given(st.lists(NAMES, min_size=1))
@settings(deadline=None)
def test_posix_paths_are_preserved(names: list[str]) -> None:
    path = "/" + "/".join(names)
    locator = from_path(path, "posix")
    assert locator.to_path("posix") == path
    text = str(locator.uri())
    assert scheme("file").is_valid(text)
    assert locator_of(text).to_path("posix") == path


@given(st.binary())
@settings(deadline=None)
def test_every_byte_of_posix_paths_is_preserved(octets: bytes) -> None:
    try:
        locator = from_path(b"/" + octets, "posix")
    except Unwritable:
        assert b"\0" in octets or {b".", b".."} & set(octets.split(b"/"))
        return
    back = locator_of(str(locator.uri())).to_path("posix")
    assert back.encode("utf-8", "surrogateescape") == b"/" + octets


@given(st.text(), st.sampled_from(["posix", "windows", "vms"]))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_path_or_rejected(text: str, platform: Platform) -> None:
    for path in (text, "/" + text, "c:\\" + text, "\\\\" + text, "d:[" + text, "n::d:[a]" + text):
        try:
            locator = from_path(path, platform)
        except Unwritable:
            continue
        same = path.replace("/", "\\") if platform == "windows" else path
        assert locator_of(str(locator.uri())).to_path(platform) == locator.to_path(platform) == same


SEGMENTS = st.lists(st.text(max_size=5), max_size=4).map(tuple)


@given(st.sampled_from(["", None, "h", "localhost", "[::1]"]), SEGMENTS, st.sampled_from(["posix", "windows", "vms"]))
@settings(max_examples=300, deadline=None)
def test_any_locator_has_a_path_or_is_rejected(host: str | None, segments: Any, platform: Platform) -> None:
    locator = FileLocator(host=host, segments=segments)
    try:
        path = locator.to_path(platform)
    except PlanRefused:
        return
    second = from_path(path, platform)
    assert second.to_path(platform) == path
    if locator.is_local() and segments[0] != "":
        assert second == replace(locator, host="")


def test_every_byte_as_a_segment() -> None:
    for octet in range(256):
        locator = FileLocator(host="", segments=("a", bytes([octet]).decode("utf-8", "surrogateescape")))
        for name in ("rfc3986", "rfc1738"):
            assert edition(name).locator(str(locator.uri(name))) == locator
        assert locator_of(f"file:///a/%{octet:02X}") == locator


# -- E.2.1, E.2.2, E.4


@pytest.mark.parametrize(
    ("base", "reference", "target"),
    [
        ("file:///c:/path/to/file.txt", "/some/other/thing.bmp", "file:///c:/some/other/thing.bmp"),  # E.2.1
        ("file:///c:/foo.txt", "../bar.txt", "file:///c:/bar.txt"),  # E.2.1
        ("file:///c:/foo.txt", "/d:/foo.txt", "file:///d:/foo.txt"),
        ("file:///c:/a/b", "../../../x", "file:///c:/x"),
        ("file:///c:/a/b", "../../d:/x", "file:///c:/d:/x"),
        ("file:///c:/a", "", "file:///c:/a"),
        ("file:///c:/a", "#f", "file:///c:/a#f"),
        ("file:///c:", "x", "file:///c:/x"),
        ("file:c:/a/b", "/x", "file:c:/x"),
        ("file:///c:/a", "//host/x", "file://host/x"),
        ("file:///c:/a", "http://h/", "http://h/"),
        ("file:///a/b", "/x", "file:///x"),
        ("http://h/c:/a/b", "/x", "http://h/x"),
    ],
)
def test_resolution_on_a_drive(base: str, reference: str, target: str) -> None:
    assert str(resolve_on_drive(base, reference)) == target


def test_resolution_on_a_drive_needs_a_reference() -> None:
    with pytest.raises(InvalidURI):
        resolve_on_drive("file:///c:/a", "c:\\x")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("file:///c|/path/to/file", "file:///c:/path/to/file"),
        ("file:/c|/path/to/file", "file:/c:/path/to/file"),
        ("file:c|/path/to/file", "file:c:/path/to/file"),
        ("FILE://localhost/C|/x|y", "FILE://localhost/C:/x|y"),
        ("file:///c:\\a\\b", "file:///c:/a/b"),
        ("file:\\\\\\c:\\a", "file:///c:/a"),
        ("file:\\\\host\\share\\a", "file://host/share/a"),
        ("file:///a\\b", "file:///a\\b"),  # perhaps a POSIX name
        ("file:///a/c|/x", "file:///a/c|/x"),
        ("http://h/c|/x", "http://h/c|/x"),
        ("file:///path", "file:///path"),
    ],
)
def test_old_delimiters_are_updated(old: str, new: str) -> None:
    assert update_delimiters(old) == new


# -- writing


def test_no_host_and_an_empty_host_differ() -> None:
    assert [str(FileLocator(host=host, segments=("x",)).uri()) for host in (None, "")] == ["file:/x", "file:///x"]
    assert FileLocator(host=None, segments=("x",)) != FileLocator(host="", segments=("x",))


def test_unwritable_locators_are_rejected() -> None:
    for wrong in (
        FileLocator(),
        FileLocator(segments=("", "h", "x")),  # "file://h/x" has the host h
        FileLocator(host="h/x", segments=("a",)),
        FileLocator(host="h:80", segments=("a",)),
        FileLocator(user="u", segments=("a",)),  # no authority to hold it
    ):
        with pytest.raises(Unwritable):
            wrong.uri()


@pytest.mark.parametrize("piece", ["/", "a/", "%2F", "../", "./", "|", ":", "%FF", "c:/", "\\", "@"])
def test_huge_input_is_linear(piece: str) -> None:
    def use(size: int) -> None:
        text = "file:///" + piece * (size // len(piece))
        try:
            URI(text).normalize(Rung.SCHEME)
            locator = locator_of(text)
        except InvalidURI:
            old = edition("rfc1738").locator(text)
            assert isinstance(old, FileLocator)
            locator = old
        assert str(replace(locator, written=None).uri()).startswith("file:///")
        for platform in ("posix", "windows", "vms"):
            with suppress(PlanRefused, Unwritable):
                from_path(locator.to_path(platform), platform)
            with suppress(Unwritable):
                from_path("\\\\" + piece * (size // len(piece)), platform)
        update_delimiters(text)

    linear(use, LONG // 4)
