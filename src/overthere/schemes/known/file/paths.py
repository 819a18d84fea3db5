"""Paths of file systems to and from file URIs (RFC 8089 3, D and E; RFC 1738 3.10 for VMS).

A segment is data: what a platform reads as a delimiter or a device in it is refused, never passed on (RFC 8089 5).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from overthere.ground.errors import PlanRefused, Unwritable
from overthere.ground.exact import exact
from overthere.kernel import percent_encode
from overthere.values.hosts.name import host_name

if TYPE_CHECKING:
    from overthere.schemes.known.file import FileLocator
    from overthere.values.uri import URI

Platform: TypeAlias = Literal["posix", "windows", "vms"]


def _this_platform() -> Platform:
    return "windows" if os.name == "nt" else "posix"


def _check_platform(platform: str) -> None:
    if platform not in get_args(Platform):
        raise ValueError(f"{platform!r} is not one of {', '.join(get_args(Platform))}")


# -- To a path


def to_path(locator: FileLocator, platform: Platform | None = None, names: Collection[str] = ()) -> str:
    """The path by which a platform's programs open the file; names that are not UTF-8 hold lone surrogates, as
    Python's own file names do.

    platform: "posix", "windows" or "vms"; None for the one that runs this.
    names: fully qualified domain names of this machine: files there are local too (RFC 8089 3).

    Raises: PlanRefused for a host that the platform has no path to, for a segment that it reads as more or less
    than one name, and for anything that a path cannot express; ValueError for an unknown platform.

    >>> from overthere import URI
    >>> there = URI("file://host.example.com/Share/path/to/file.txt").locator
    >>> print(to_path(there, "windows"))
    \\\\host.example.com\\Share\\path\\to\\file.txt
    >>> to_path(there, "posix")
    Traceback (most recent call last):
    ...
    overthere.PlanRefused: the file is on the host 'host.example.com', for which posix has no path (RFC 8089 3)
    """
    platform = platform or _this_platform()
    _check_platform(platform)
    if locator.query is not None:
        raise PlanRefused('a file URI cannot have a query: write "?" in a name as "%3F"', "RFC 8089 2, RFC 3986 3.3")
    if not locator.segments:
        raise PlanRefused("there is no path", "RFC 8089 2")
    for segment in locator.segments:
        check_segment(segment, platform)
    local = locator.is_local(names)
    if platform == "vms":
        return _to_vms(locator, local)
    if locator.user is not None or locator.password is not None:
        raise PlanRefused(f"{platform} has no path that holds a user name", "RFC 8089 E.1")
    if platform == "windows":
        return _to_windows(locator, local)
    if not local:
        host = host_name(locator.host)
        raise PlanRefused(f"the file is on the host {host!r}, for which posix has no path", "RFC 8089 3")
    return "/" + "/".join(locator.segments)


# Characters that a segment cannot have: the delimiters of the platform, and characters outside its names. | Surrogates,
# except those that represent octets, are not characters; Windows names have no octets.
_FORBIDDEN = {
    "posix": re.compile("[/\0\ud800-\udc7f\udd00-\udfff]"),
    "windows": re.compile('[/\\\\<>"|?*\0-\x1f\ud800-\udfff]'),
    "vms": re.compile('[/\\\\<>\\[\\]:,"*%?^\0-\x20\x7f\ud800-\udc7f\udd00-\udfff]'),
}
_RESERVED = re.compile(r"(?i)(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³]) *(?:[.:].*)?", re.DOTALL)


def check_segment(segment: str, platform: str) -> None:
    """Check that a segment is a file name.  Raises: PlanRefused."""
    if forbidden := _FORBIDDEN[platform].search(segment):
        character = "NUL" if forbidden[0] == "\0" else repr(forbidden[0])
        raise PlanRefused(f"a segment contains {character}, which is not allowed in a name on {platform}", "RFC 8089 5")
    if segment in (".", ".."):
        raise PlanRefused(f"{segment!r} is not a file name; normalise the URI first", "RFC 8089 5, RFC 3986 6.2.2.3")
    if platform == "windows" and (segment.partition(":")[0].endswith((".", " ")) or _RESERVED.fullmatch(segment)):
        raise PlanRefused(f"{segment!r} is a device on windows, or windows reads it as another name", "RFC 8089 5")


def _to_windows(locator: FileLocator, local: bool) -> str:
    segments = locator.segments
    if not local:
        host, segments = host_name(locator.host), ("", *segments)
    elif locator.drive is not None:
        if len(segments) < 2:
            raise PlanRefused(f"{locator.drive!r} is a drive without a path", "RFC 8089 E.2")
        _colons(segments[1:])
        return "\\".join(segments)
    elif len(segments) > 1 and segments[0] == "":
        # E.3.2: the whole UNC string in the path, after two slashes or three.
        segments = segments[1:] if segments[1] else segments[2:]
        host = segments[0] if segments else ""
    else:
        raise PlanRefused("on windows an absolute path must begin with a drive letter or a host", "RFC 8089 D.2, E.2")
    # "." and "?" are the namespaces of devices and long names, which no file URI names (Appendix C).
    if host in ("", ".", "..") or _FORBIDDEN["windows"].search(host):
        raise PlanRefused(f"{host!r} is not a valid host of a UNC string", "RFC 8089 E.3, C")
    share = segments[1:]
    if not share or not share[0] or ":" in share[0]:
        raise PlanRefused("a UNC string must name a share", "RFC 8089 E.3.1")
    _colons(share)
    return "\\\\" + "\\".join([host, *share])


def _colons(segments: tuple[str, ...]) -> None:
    """E.3.1: a colon parts a stream from the file-name, so the last segment alone can hold one."""
    for segment in segments[:-1]:
        if ":" in segment:
            raise PlanRefused(
                f"{segment!r} is not a directory on windows: it contains a colon", "RFC 8089 E.2.1, E.3.1"
            )


def _to_vms(locator: FileLocator, local: bool) -> str:
    """D.4: the device is the first segment, a node reference the authority; RFC 1738 3.10."""
    device, *path = locator.segments
    if not path or not device:
        raise PlanRefused("on vms a path must have a device and a directory on it", "RFC 8089 D.4")
    *directories, name = path
    for directory in directories:
        # "-" is the directory above.
        if not directory.strip("-") or "." in directory or ";" in directory:
            raise PlanRefused(f"{directory!r} is not a directory on vms", "RFC 8089 D.4")
    if "." in device or ";" in device:
        raise PlanRefused(f"{device!r} is not a device on vms", "RFC 8089 D.4")
    if directories[:1] == ["000000"]:
        raise PlanRefused("'000000' is the top of a device on vms", "RFC 8089 D.4")
    return f"{_node(locator, local)}{device}:[{'.'.join(directories) or '000000'}]{name}"


def _node(locator: FileLocator, local: bool) -> str:
    """Return the node (E.1): user name and password of an access control string are in the authority."""
    login = [part for part in (locator.user, locator.password) if part is not None]
    if locator.user is None and login:
        raise PlanRefused("a password without a user name", "RFC 1738 3.1")
    if local and not login:
        return ""
    node = host_name(locator.host)
    for part in (node, *login):
        if not part or _FORBIDDEN["vms"].search(part):
            raise PlanRefused("an empty part, or a delimiter in it, in a node reference", "RFC 8089 D.4, E.1")
    control = f'"{" ".join(login)}"' if login else ""
    return f"{node}{control}::"


# -- From a path

_NO_CHARACTER = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_UNC = re.compile(r"(?s)[\\/]{2}([^\\/]*)[\\/](.*)")
_VMS = re.compile(r'(?s)(?:([^":\[\]]+)(?:"([^" ]*)(?: ([^" ]*))?")?::)?([^:\[\]]+):\[([^\[\]]*)\]([^:\[\]]*)')


def from_path(
    path: str | bytes | os.PathLike[str] | os.PathLike[bytes], platform: Platform | None = None
) -> FileLocator:
    """The locator of an absolute path, with the empty host if it has none: `uri()` writes it (RFC 8089 2, 4).

    path: text, or octets as the file system has them; on VMS and Windows octets are UTF-8.
    platform: whose path it is, "posix", "windows" or "vms"; None for the one of a `pathlib` path, otherwise for the one
    that runs this.

    Raises: Unwritable for a relative path, and for one that no file URI names, such as `\\\\?\\c:\\x` (Appendix C) or
    one with the segments "." or "..", which a URI cannot hold as names; ValueError for an unknown platform.

    `to_path` converts the result back to the same path, with "\\" for "/" on Windows.

    >>> [str(from_path(p, "windows").uri()) for p in ("c:\\\\a b", "\\\\\\\\host.example.com\\\\Share\\\\file.txt")]
    ['file:///c:/a%20b', 'file://host.example.com/Share/file.txt']
    >>> str(from_path("DISK$USER:[MY.NOTES]NOTE123456.TXT", "vms").uri())
    'file:///DISK%24USER/MY/NOTES/NOTE123456.TXT'
    >>> str(from_path(b"/caf\\xe9/\\xc3\\xbc", "posix").uri())
    'file:///caf%E9/%C3%BC'
    """
    if platform is None:
        platform = "windows" if isinstance(path, PureWindowsPath) else _this_platform()
        platform = "posix" if isinstance(path, PurePosixPath) else platform
    _check_platform(platform)
    raw = os.fspath(path)
    text = raw.decode("utf-8", "surrogateescape") if isinstance(raw, bytes) else exact(raw, "from_path()")
    if stray := _NO_CHARACTER.search(text):
        raise Unwritable(f"{text!r} holds {stray[0]!r}, which is not a character (RFC 8089 4)")
    locator = {"posix": _from_posix, "windows": _from_windows, "vms": _from_vms}[platform](text)
    if locator is None:
        raise Unwritable(f"{text!r} is not an absolute path on {platform}, and a file URI needs one (RFC 8089 2)")
    try:
        back = locator.to_path(platform)
    except PlanRefused as error:
        raise Unwritable(f"no file URI can express {text!r}: {error}") from None
    if back != (text.replace("/", "\\") if platform == "windows" else text):
        raise Unwritable(f"no file URI can express {text!r}: it would be read as {back!r} (RFC 8089 2)")
    return locator


def _from_posix(text: str) -> FileLocator | None:
    from overthere.schemes.known.file import FileLocator

    return FileLocator(host="", segments=tuple(text[1:].split("/"))) if text.startswith("/") else None


def _from_windows(text: str) -> FileLocator | None:
    from overthere.schemes.known.file import FileLocator

    if re.match(r"[A-Za-z]:[\\/]", text):
        return FileLocator(host="", segments=tuple(re.split(r"[\\/]", text)))
    if (match := _UNC.fullmatch(text)) is None:
        return None
    host, segments = match[1], tuple(re.split(r"[\\/]", match[2]))
    if host.lower() in ("", "localhost"):
        # A share is not a path of this machine, which is what "localhost" means to a URI: so E.3.2.
        return FileLocator(host="", segments=("", host, *segments))
    literal = host.startswith("[") and host.endswith("]")
    return FileLocator(host=host if literal else _reg_name(host), segments=segments)


def _from_vms(text: str) -> FileLocator | None:
    from overthere.schemes.known.file import FileLocator

    if (match := _VMS.fullmatch(text)) is None:
        return None
    node, user, password, device, directory, name = match.groups()
    directories = () if directory == "000000" else tuple(directory.split("."))
    host = "" if node is None else _reg_name(node)
    return FileLocator(host=host, segments=(device, *directories, name), user=user, password=password)


def _reg_name(host: str) -> str:
    """RFC 3986 3.2.2: a registered name; what is no letter of it as UTF-8."""
    octets = host.encode("utf-8", "surrogateescape")
    return percent_encode(octets, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=")


# -- E.2.1, E.2.2 and E.4: how DOS and Windows are mimicked, and old texts are led to today's


def resolve_on_drive(base: URI | str, reference: str) -> URI:
    """The target of a reference; it always keeps the drive letter of the base (E.2.1).

    This is not the resolution of RFC 3986 5.2, which treats a drive letter like any other segment.

    Raises: InvalidURI for an invalid base or reference.

    >>> str(resolve_on_drive("file:///c:/path/to/file.txt", "/some/other/thing.bmp"))
    'file:///c:/some/other/thing.bmp'
    >>> str(resolve_on_drive("file:///c:/foo.txt", "../bar.txt"))
    'file:///c:/bar.txt'
    """
    from overthere.values.uri import URI, URIReference

    base_uri, to = URI(str(base)), URIReference(reference)
    drive = re.match("/?[A-Za-z]:(?=/|$)", base_uri.path)
    absolute = to.scheme is not None or to.authority is not None
    if base_uri.scheme.lower() != "file" or drive is None or absolute or re.match("/[A-Za-z]:(?:/|$)", to.path):
        return base_uri.join(to)
    target = base_uri.replace(path=base_uri.path[drive.end() :] or "/").join(to)
    return target.replace(path=drive[0] + target.path)


def update_delimiters(text: str) -> str:
    """An old text with today's delimiters: ":" for "|" behind a drive letter (E.2.2), and with it "/" for "\\" (E.4).

    A backslash is read as a separator only if a drive letter or a UNC string shows that the path is from DOS.

    >>> update_delimiters("file:///c|/path/to/file"), update_delimiters("file:c:\\\\a\\\\b")
    ('file:///c:/path/to/file', 'file:c:/a/b')
    >>> update_delimiters("file:\\\\\\\\host\\\\share")
    'file://host/share'
    """
    match = re.match(r"(?is)(file:)((?:[\\/]{2}(?:localhost)?[\\/]|[\\/])?[a-z])[:|]([\\/].*)", text)
    if match:
        return match[1] + (match[2] + ":" + match[3]).replace("\\", "/")
    return text.replace("\\", "/") if re.match(r"(?i)file:[\\/]*\\\\", text) else text
