"""Methods of values for the path, with the names of `pathlib`: segments are data, and unchanged parts stay as written.

Every method that changes the path drops query and fragment, which belong to the old path.
"""

from __future__ import annotations

from overthere.ground.exact import exact
from overthere.kernel import front, front_property
from overthere.values.query_methods import QueryMethods

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self


class PathMethods(QueryMethods):
    """The part of every value type that works on segments."""

    __slots__ = ()

    @front_property
    def name(self) -> str:
        """The last segment (3.3), decoded: "" where the path ends in "/".

        It is data, and may hold "/" or be "..": `filename` is a name for a file.

        Raises: CodingError if its octets are not UTF-8.

        >>> from overthere import URI
        >>> URI("http://h/a/caf%C3%A9.tar.gz?q").name, URI("http://h/a/").name
        ('café.tar.gz', '')
        """
        from overthere.values.encoding import decode

        return decode(_split_path(self.path)[1])

    @front_property
    def suffix(self) -> str:
        """The end of `name` from its last ".", escaped or not; "" if there is none, or only at the beginning.

        >>> from overthere import URI
        >>> URI("http://h/a.tar.gz").suffix, URI("http://h/.profile").suffix
        ('.gz', '')
        """
        from overthere.values.encoding import decode

        name = _split_path(self.path)[1]
        return decode(name[_suffix(name) :])

    @property
    def stem(self) -> str:
        """`name` without its `suffix`.

        >>> from overthere import URI
        >>> URI("http://h/a.tar.gz").stem, URI("http://h/.profile").stem
        ('a.tar', '.profile')
        """
        from overthere.values.encoding import decode

        name = _split_path(self.path)[1]
        return decode(name[: _suffix(name)])

    @property
    def suffixes(self) -> tuple[str, ...]:
        """All suffixes of `name`, each with its "."; () for a name that ends in ".".

        >>> from overthere import URI
        >>> URI("http://h/a.tar.gz").suffixes, URI("http://h/.profile").suffixes
        (('.tar', '.gz'), ())
        """
        name = self.name
        return () if name.endswith(".") else tuple(f".{part}" for part in name.lstrip(".").split(".")[1:])

    @property
    def filename(self) -> str | None:
        """The last segment that is not empty, as one file name that is safe to create on any system; or None.

        It is decoded, and holds no separator, control or direction mark; it is not ".", "..", or a reserved name of
        Windows.  What a scheme writes behind a name (`;type=i` of ftp) is not part of it.

        >>> from overthere import URI
        >>> URI("http://h/a/b%20c.txt?q").filename, URI("http://h/..%2F..%2Fetc%2Fpasswd").filename
        ('b c.txt', '_.._etc_passwd')
        >>> URI("ftp://h/x.gz;type=i").filename, URI("http://h/%2E%2E").filename
        ('x.gz', None)
        """
        from overthere.ground.late_imports import default_registry
        from overthere.values.file_names import file_name

        return file_name(self, default_registry())

    @front_property
    def parent(self) -> Self:
        """The value one segment up, without query and fragment; at the top it is itself.

        `join(".")` is the folder that relative references are resolved against, with its "/".

        >>> from overthere import URI
        >>> str(URI("http://h/a/b?q").parent), str(URI("http://h/a").parent), str(URI("http://h/").parent)
        ('http://h/a', 'http://h/', 'http://h/')
        """
        folder, _ = _split_path(self.path)
        return self._with_path(folder[:-1] if len(folder) > 1 else folder)

    @property
    def parents(self) -> tuple[Self, ...]:
        """`parent`, its parent, and so on to the top.

        >>> from overthere import URI
        >>> [str(one) for one in URI("http://h/a/b/c").parents]
        ['http://h/a/b', 'http://h/a', 'http://h/']
        """
        ancestors: list[Self] = []
        current = self.replace(query=None, fragment=None)
        while (parent := current.parent) != current:
            ancestors.append(parent)
            current = parent
        return tuple(ancestors)

    @front
    def append(self, *segments: str | bytes, keep: str = "") -> Self:
        """A value with more segments, each of them data: reserved characters in it are encoded (2.2).

        A "/" at the end of the path is not a segment of its own: the first new segment follows it.  The query and the
        fragment belong to the old path and are dropped.

        keep: the reserved characters that the segments may contain as data.

        Raises: InvalidURI for "." and "..", which cannot be data (6.2.2.3).

        >>> from overthere import URI
        >>> str(URI("http://h/a?q").append("b/c", "d")), str(URI("http://h") / "a b" / "")
        ('http://h/a/b%2Fc/d', 'http://h/a%20b/')
        """
        from overthere.values.build import written_path

        if not segments:
            return self
        folder, name = _split_path(self.path)
        before = folder + name + "/" if name else folder
        if not before and self.authority is not None:
            before = "/"
        relative = not before and self.scheme is None
        return self._with_path(before + written_path(segments, keep=keep, begins=not before, relative=relative))

    @front
    def __truediv__(self, segment: str | bytes) -> Self:
        return self.append(segment) if isinstance(segment, str | bytes) else NotImplemented

    @front
    def with_name(self, name: str | bytes, *, keep: str = "") -> Self:
        """A value with another last segment, which is data; query and fragment are dropped.

        Raises: InvalidURI for "." and "..".

        >>> from overthere import URI
        >>> str(URI("http://h/a/b.txt?q").with_name("c d"))
        'http://h/a/c%20d'
        """
        from overthere.values.build import written_path

        folder, _ = _split_path(self.path)
        if not folder and self.authority is not None:
            folder = "/"
        return self._with_path(folder + written_path([name], keep=keep, relative=not folder and self.scheme is None))

    def with_stem(self, stem: str) -> Self:
        """A value whose last segment has another stem, which is data, and the same suffix.

        Raises: InvalidURI if "." or ".." would be left.

        >>> from overthere import URI
        >>> str(URI("http://h/a/b.txt?q").with_stem("c d"))
        'http://h/a/c%20d.txt'
        """
        return self.with_name(exact(stem, "with_stem()") + self.suffix)

    @front
    def with_suffix(self, suffix: str) -> Self:
        """A value whose last segment has another suffix, or none for ""; query and fragment are dropped.

        Raises: ValueError if there is no name, or if the suffix is neither "" nor "." and more; InvalidURI if "." or
        ".." would be left.

        >>> from overthere import URI
        >>> str(URI("http://h/r%E9sum.txt").with_suffix(".pdf")), str(URI("http://h/a%2Etxt").with_suffix(""))
        ('http://h/r%E9sum.pdf', 'http://h/a')
        """
        from overthere.values.build import written_path
        from overthere.values.encoding import decode_bytes, encode

        suffix = exact(suffix, "with_suffix()")
        folder, name = _split_path(self.path)
        if not name:
            raise ValueError("the path ends in no name that could have a suffix")
        if suffix and (suffix[0] != "." or suffix == "."):
            from overthere.ground.redact import mask

            raise ValueError(f'a suffix is "" or begins with "." and goes on, not {mask(suffix)!r:.100}')
        new_name = name[: _suffix(name)] + encode(suffix)
        written_path([decode_bytes(new_name)])  # rejects a result that would be a dot-segment
        return self._with_path(folder + new_name)

    @front
    def with_segments(self, segments: Iterable[str | bytes], *, keep: str = "") -> Self:
        """A value with another path, of segments that are data; query and fragment are dropped.

        It begins with "/" if there is an authority, or if the path did.

        Raises: InvalidURI for "." and "..".

        >>> from overthere import URI
        >>> str(URI("http://h/a?q").with_segments(["b/c", "d"]))
        'http://h/b%2Fc/d'
        """
        from overthere.values.build import written_path

        rooted = self.authority is not None or self.path.startswith("/")
        segment_list = segments if isinstance(segments, str | bytes) else list(segments)
        relative = not rooted and self.scheme is None
        path = written_path(segment_list, keep=keep, begins=not rooted, relative=relative)
        return self._with_path("/" + path if rooted and segment_list else path)

    def _with_path(self, path: str) -> Self:
        return self.replace(path=path, query=None, fragment=None)


def _split_path(path: str) -> tuple[str, str]:
    """Return the path up to its last "/", and the segment after it."""
    name_start = path.rfind("/") + 1
    return path[:name_start], path[name_start:]


def _suffix(name: str) -> int:
    """Return where the suffix of a segment as written begins: at its last "."; its length if it has none."""
    dot_offset, dot = max((name.rfind(dot), dot) for dot in (".", "%2E", "%2e"))
    return dot_offset if 0 < dot_offset < len(name) - len(dot) else len(name)
