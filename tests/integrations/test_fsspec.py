"""The filesystem, used by fsspec itself, with the servers of the tests of access."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

pytest.importorskip("fsspec")

import fsspec
from fsspec.registry import _registry, known_implementations

from overthere import AccessError, AccessRefused, Credentials, InvalidURI, NotSpecified, OverthereError, Policy
from overthere.access.errors import LimitExceeded
from overthere.integrations.fsspec import OverthereFileSystem, register
from servers.ftpd import Server, anonymous, with_login
from servers.gopherd import FILES, Gopherd, gophernicus
from servers.replay import Served, replay, serve
from test_access_wais import BODY_B, INIT, LOCAL, SHEEP, TEXT_B, length, same

FS = OverthereFileSystem(LOCAL)


@pytest.fixture(scope="module")
def gopher() -> Iterator[Gopherd]:
    with TemporaryDirectory() as folder, gophernicus(Path(folder) / "nicus") as server:
        yield server


@pytest.fixture
def ftp(tmp_path: Path) -> Iterator[Server]:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a b.csv").write_bytes(b"name,port\r\nftp,21\r\n")
    with anonymous(tmp_path, root) as server:
        yield server


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """fsspec's tables of filesystems, which a test may change."""
    for name in ("gopher", "wais", "ftp", "data"):
        monkeypatch.setitem(known_implementations, name, known_implementations.get(name, {"class": "none.None"}))
        monkeypatch.delitem(_registry, name, raising=False)


def test_a_block_is_read(gopher: Gopherd) -> None:
    assert FS.read_block(gopher.uri("9/x.bin"), 1, 3) == FILES["x.bin"][1:4]
    assert FS.read_block(gopher.uri("9/x.bin"), 1, None) == FILES["x.bin"][1:]


def test_a_gopher_server_as_filesystem(gopher: Gopherd) -> None:
    assert FS.cat_file(gopher.uri("9/x.bin")) == FILES["x.bin"]
    with FS.open(gopher.uri("9/x.bin")) as file:
        assert (file.seek(-3, 2), file.read()) == (len(FILES["x.bin"]) - 3, b".\r\n")
    listed = FS.ls(gopher.uri("1/"))
    kinds = {entry["title"].split()[0]: entry["type"] for entry in listed}
    assert (kinds["menu"], kinds["doc.txt"]) == ("directory", "file")
    assert [FS.isdir(entry["name"]) for entry in listed if entry["title"].startswith("menu")] == [True]
    assert FS.ls(gopher.uri("1/"), detail=False) == [entry["name"] for entry in listed]
    (names,) = [names for _, _, names in FS.walk(gopher.uri("1/"), maxdepth=1)]
    assert names
    with pytest.raises(IsADirectoryError, match="use ls"):
        FS.open(gopher.uri("1/"))
    with pytest.raises(ValueError, match="maxdepth"):
        FS.find(gopher.uri("1/"))


def test_fsspec_finds_the_filesystem_for_gopher(gopher: Gopherd, registry: None) -> None:
    register("gopher")
    with fsspec.open(gopher.uri("0/doc.txt"), "rt", policy=LOCAL) as file:
        assert file.read() == "a doc\n"
    with pytest.raises(PermissionError), fsspec.open(gopher.uri("0/doc.txt")):  # the default policy
        pass


def test_an_ftp_server_as_filesystem(ftp: Server) -> None:
    uri = ftp.url("a%20b.csv")
    assert FS.cat(uri) == b"name,port\r\nftp,21\r\n"
    assert FS.info(uri)["type"] == "file"
    with FS.open(uri, "r", newline="") as file:
        assert file.readlines() == ["name,port\r\n", "ftp,21\r\n"]
    listed = {entry["name"].rpartition("/")[2]: entry["type"] for entry in FS.ls(ftp.url(""))}
    assert set(listed) >= {"a%20b.csv"}
    assert not FS.exists(ftp.url("none.csv"))
    with pytest.raises(FileNotFoundError) as caught:
        FS.open(ftp.url("none.csv"))
    assert isinstance(caught.value, AccessError)
    assert caught.value.errno is not None


def test_ftp_with_credentials(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "x").write_bytes(b"mine")
    with with_login(tmp_path, root, "joe", "Geheim7") as server:
        private = OverthereFileSystem(LOCAL, Credentials(user="joe", password="Geheim7"))
        assert private.cat_file(server.url("x")) == b"mine"
        assert "Geheim7" not in repr(private)
        other = OverthereFileSystem(LOCAL, Credentials(user="joe", password="wrong"))
        assert other is not private
        with pytest.raises(OSError, match="530") as caught:
            other.cat_file(server.url("x", "joe:Falsch8@"))
        assert not {"wrong", "Falsch8"} & set(str(caught.value).replace(":", " ").split())


def test_a_wais_server_as_filesystem() -> None:
    with replay([INIT, SHEEP], length=length, same=same) as served:
        (entry,) = FS.ls(f"wais://127.0.0.1:{served.port}/docs?sheep")
    assert (entry["size"], entry["type"]) == (79, "file")
    with replay([INIT, TEXT_B], length=length, same=same) as other:
        assert FS.cat_file(entry["name"].replace(f":{served.port}/", f":{other.port}/")) == BODY_B


def test_a_data_uri_as_file() -> None:
    fs = OverthereFileSystem()
    assert fs.cat_file("data:,hello%20x") == b"hello x"
    for uri in ("data:,a", "ftp://h/a", "gopher://h/"):
        assert fs.unstrip_protocol(uri) == uri
    assert [fs.cat_file("data:,hello", *part) for part in ((1, 3), (-2, None), (None, -9), (9, None), (3, 1))] == [
        b"el", b"lo", b"", b"", b"",
    ]  # fmt: skip
    assert fs.info("data:text/csv,a") == {"name": "data:text/csv,a", "type": "file", "size": 1, "mimetype": "text/csv"}
    assert pickle.loads(pickle.dumps(fs)).cat_file("data:,x") == b"x"
    assert fs.cat_file("data:," + "a" * 8_000_000) == b"a" * 8_000_000


def test_a_table_is_read_by_pandas(gopher: Gopherd) -> None:
    """From an open file: pandas would open gopher and ftp by urllib."""
    pandas = pytest.importorskip("pandas")
    with FS.open(gopher.uri("0/troff.txt")) as file:
        table = pandas.read_csv(file, header=None)
    assert table[0].to_list() == [".de x", "..", ".", "..b", "end"]


def test_the_filesystems_of_fsspec_are_not_replaced(registry: None) -> None:
    """The entry points name only protocols that fsspec lacks; it would let them replace others."""
    names = {point.name for point in entry_points(group="fsspec.specs") if "overthere" in point.value}
    assert names <= {"gopher", "wais"}
    project = Path(__file__).parents[2] / "pyproject.toml"
    declared = project.read_text("utf-8").split('[project.entry-points."fsspec.specs"]\n')[1].split("\n\n")[0]
    assert declared.splitlines() == [
        f'{name} = "overthere.integrations.fsspec:OverthereFileSystem"' for name in ("gopher", "wais")
    ]
    for name in ("ftp", "data"):
        assert not issubclass(fsspec.get_filesystem_class(name), OverthereFileSystem)
    register("ftp")
    assert fsspec.get_filesystem_class("ftp") is OverthereFileSystem
    with pytest.raises(ValueError, match="not one of"):
        register("http")


def test_filesystems_are_equal_by_their_options() -> None:
    """Masked passwords in options made fsspec treat different logins and proxies as one."""
    options: list[dict[str, Any]] = [
        {}, {"credentials": Credentials("joe", "a")}, {"credentials": Credentials("joe", "b")},
        {"policy": Policy(proxy={"http": "http://joe:a@h"})}, {"policy": Policy(proxy={"http": "http://joe:b@h"})},
    ]  # fmt: skip
    filesystems = [OverthereFileSystem(**arguments) for arguments in options]
    assert len({one.__dask_tokenize__() for one in filesystems}) == len(set(filesystems)) == len(filesystems)
    for filesystem, arguments in zip(filesystems, options, strict=True):
        same = OverthereFileSystem(**arguments)
        assert filesystem == same == pickle.loads(pickle.dumps(filesystem))
        assert hash(filesystem) == hash(same)
    names = ("http", "https"), ("https", "http")
    policies = [Policy(proxy=dict.fromkeys(order, "http://h")) for order in names]
    assert OverthereFileSystem(policies[0]) == OverthereFileSystem(policies[1])


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        ("file:///etc/passwd", (AccessRefused, PermissionError)),
        ("ftp://joe:Geheim7@127.0.0.1/x", (AccessRefused, PermissionError)),
        ("gopher://joe:Geheim7@0x7f.1:70/0x", (OverthereError,)),
        ("a b", (InvalidURI, ValueError)), ("", (InvalidURI,)), ("data:x", (InvalidURI,)), ("\ud800", (InvalidURI,)),
        ("urn:a:b", (NotSpecified,)), ("gopher://h\x00/", (InvalidURI,)), ("x:" + "a" * 100_000, (OverthereError,)),
    ],
)  # fmt: skip
def test_unsupported_operations_are_rejected(path: str, kinds: tuple[type[Exception], ...]) -> None:
    fs = OverthereFileSystem()
    for call in (fs.open, fs.cat_file, fs.info, fs.ls):
        with pytest.raises(kinds[0]) as caught:
            call(path)
        assert all(isinstance(caught.value, kind) for kind in kinds)
        assert "Geheim7" not in f"{caught.value}{caught.value!r}"
        copy = pickle.loads(pickle.dumps(caught.value))
        assert (type(copy), str(copy)) == (type(caught.value), str(caught.value))
    assert not fs.exists(path)


def test_a_limit_and_a_mode(gopher: Gopherd) -> None:
    small = OverthereFileSystem(LOCAL.with_(max_bytes=10))
    with pytest.raises(LimitExceeded) as caught:
        small.open(gopher.uri("9/x.bin"))
    assert isinstance(caught.value, OSError)
    for mode in ("wb", "ab", "r+b"):
        with pytest.raises(OSError, match="only reads"):
            FS.open("data:,a", mode)
    wrong: Any = 3
    with pytest.raises(TypeError):
        FS.open(wrong)


ENTRIES = (
    "0good\t/good.txt\tlocalhost\t{port}", "0more\t/sub/more.txt\tlocalhost\t{port}",
    "0name\t..%2Fevil3\tlocalhost\t{port}", "0name\t\\..\\..\\evil4\tlocalhost\t{port}",
)  # fmt: skip
OUTSIDE = (
    "0up\t/../../../evil\tlocalhost\t{port}", "0deep\t/a/../../evil2\tlocalhost\t{port}",
    "0dots\t/..\tlocalhost\t{port}", "1menu\t/../..\tlocalhost\t{port}", "0other\t/x\t127.0.0.1\t{port}",
    "hfile\tURL:file:///etc/hostname\tlocalhost\t{port}", "hdata\tURL:data:,abc\tlocalhost\t{port}",
    "hweb\tURL:http://localhost:{port}/x\tlocalhost\t{port}",
    "hmark\tURL:gopher://localhost:{port}/0/d/a#/../../../evil\tlocalhost\t{port}",
    "hask\tURL:gopher://localhost:{port}/0/d/a?/../../../evil\tlocalhost\t{port}",
)  # fmt: skip
"""Entries of other folders, servers and schemes."""


@pytest.fixture
def hostile_menu() -> Iterator[Served]:
    """A gopher server whose menu has entries outside its folder."""
    menu = "".join(f"{entry}\r\n" for entry in (*ENTRIES, *OUTSIDE))

    def handler(client: socket.socket, served: Served) -> None:
        selector = client.makefile("rb").readline().strip()
        client.sendall(menu.format(port=served.port).encode() + b".\r\n" if selector in (b"", b"/") else b"content")

    with serve(handler) as served:
        yield served


@pytest.mark.parametrize("form", ["{}/", "{}", "{}/new", "{}/new/"])
def test_a_download_writes_no_file_outside_the_folder(
    hostile_menu: Served, tmp_path: Path, form: str, caplog: pytest.LogCaptureFixture
) -> None:
    target = tmp_path / "a" / "b" / "target"
    target.mkdir(parents=True)
    uri = f"gopher://localhost:{hostile_menu.port}/"
    files = OverthereFileSystem(LOCAL)
    files.get(uri, form.format(target), recursive=True, maxdepth=1)
    files_written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files_written) == len(ENTRIES)
    assert all(path.is_relative_to(target) and path.read_bytes() == b"content" for path in files_written), files_written
    assert f"{uri}: {len(OUTSIDE)} entries are not below it and are left out" in caplog.text
    assert len(files.ls(uri)) == len(ENTRIES) + len(OUTSIDE)
    for listing in (files.find(uri, maxdepth=2), files.glob(f"{uri}**", maxdepth=2)):
        assert {name for name in listing if name != uri} <= {f"{uri}{name}" for name in (
            "0/good.txt", "0/sub/more.txt", "0..%252Fevil3", "0%5C..%5C..%5Cevil4",
        )}  # fmt: skip


def test_items_with_equal_last_segments_are_all_listed(tmp_path: Path) -> None:
    """fsspec identifies entries by their last segment; gopher selectors may have any depth."""
    selectors = ("/docs/readme", "/other/readme", "/third/notes", "/more/docs")

    def handler(client: socket.socket, served: Served) -> None:
        selector = client.makefile("rb").readline().strip().decode()
        rows = [(one, str(int(one.endswith("docs")))) for one in selectors] if selector in ("", "/") else []
        rows += [("/more/docs/readme", "0")] if selector == "/more/docs" else []
        menu = "".join(f"{kind}name\t{selector}\tlocalhost\t{served.port}\r\n" for selector, kind in rows)
        client.sendall(f"{menu}.\r\n".encode() if rows else selector.encode())

    with serve(handler) as served:
        uri = f"gopher://localhost:{served.port}/"
        files = OverthereFileSystem(LOCAL)
        named = {f"{uri}0{path}" for path in (*selectors[:3], "/more/docs/readme")}
        assert set(files.find(uri, maxdepth=3)) == named
        assert {*files.find(uri, maxdepth=3, withdirs=True)} == {uri, f"{uri}1/more/docs", *named}
        for topdown in (True, False):
            steps = [(path, len(folders), len(names)) for path, folders, names in files.walk(uri, 3, topdown)]
            assert steps == [(uri, 1, 3), (f"{uri}1/more/docs", 0, 1)][:: 1 if topdown else -1]
        files.get(uri, f"{tmp_path}/to/", recursive=True, maxdepth=3)
        assert sorted(path.read_text() for path in tmp_path.rglob("*") if path.is_file()) == sorted(
            [*selectors[:3], "/more/docs/readme"]
        )
        with pytest.raises(OSError, match="4 of 4 files have no announced size"):
            files.du(uri, maxdepth=3)


def test_entries_without_a_uri_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    menu = b"ihello\tx\tx\t0\r\n3no\tx\terror.host\t1\r\n0a\tx\tlocalhost\t99999\r\nbroken\r\n0b\tb\tlocalhost\t70\r\n"
    with serve(lambda client, served: client.sendall(menu + b".\r\n")) as served:
        assert OverthereFileSystem(LOCAL).ls(f"gopher://localhost:{served.port}/", detail=False) == [
            "gopher://localhost/0b"
        ]
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "2 entries have no URI and are left out"
    ]


@pytest.mark.parametrize(
    "names", [("/**",), ("/*",), ("/a/", "/b"), ("/a/",), ("/a*/", "/?"), ("/a/b", "/a//b"), ("/a", "/a/")]
)
def test_each_file_of_a_listing_is_written_or_an_error(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Whatever fsspec or the system reads in its name: a pattern, a folder, or the name of another file."""

    def handler(client: socket.socket, served: Served) -> None:
        selector = client.makefile("rb").readline().strip().decode()
        menu = "".join(f"0name\t{name}\tlocalhost\t{served.port}\r\n" for name in names)
        client.sendall((selector if selector.strip("/") else f"{menu}.\r\n").encode())

    with serve(handler) as served:
        files, arguments = OverthereFileSystem(LOCAL), (f"gopher://localhost:{served.port}/", f"{tmp_path}/to")
        if len({name.replace("//", "/").rstrip("/") for name in names}) < len(names):
            with pytest.raises(OSError, match="two files of the listing have one name"):
                files.get(*arguments, recursive=True, maxdepth=1)
        else:
            files.get(*arguments, recursive=True, maxdepth=1)
            assert {path.read_text() for path in tmp_path.glob("to/**/*") if path.is_file()} == {*names}


@pytest.mark.parametrize("menus", [0, 2])
@pytest.mark.parametrize("form", ["{}/", "{}", "{}/new", "{}/new/"])
def test_a_listing_with_one_file_is_a_folder(tmp_path: Path, form: str, menus: int) -> None:
    """Even next to menus that are not read, and entries outside the folder."""

    def handler(client: socket.socket, served: Served) -> None:
        selector = client.makefile("rb").readline().strip()
        entries = [ENTRIES[0], *[f"1menu\t/m{number}\tlocalhost\t{{port}}" for number in range(menus)], *OUTSIDE]
        menu = "".join(f"{entry}\r\n" for entry in entries).format(port=served.port).encode()
        client.sendall(menu + b".\r\n" if selector in (b"", b"/") else b"content")

    target = tmp_path / "target"
    target.mkdir()
    with serve(handler) as served:
        uri = f"gopher://localhost:{served.port}/"
        OverthereFileSystem(LOCAL).get(uri, form.format(target), recursive=True, maxdepth=1)
        (file,) = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert file == Path(form.format(target)) / "good.txt"
        assert file.read_bytes() == b"content"
        OverthereFileSystem(LOCAL).get(f"{uri}0/good.txt", str(tmp_path / "one"), recursive=True, maxdepth=1)
        assert (tmp_path / "one").read_bytes() == b"content"


def test_an_endless_listing_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is in memory completely: the server may send entries as long as the policy allows."""
    monkeypatch.setattr("overthere.integrations.fsspec.MAX_ENTRIES", 1000)

    def handler(client: socket.socket, served: Served) -> None:
        client.makefile("rb").readline()
        with suppress(OSError):
            while True:
                client.sendall(ENTRIES[0].format(port=served.port).encode() + b"\r\n")

    with serve(handler) as served:
        uri = f"gopher://localhost:{served.port}/"
        with pytest.raises(LimitExceeded, match="a listing of more than 1,000 entries") as caught:
            FS.ls(uri)
        assert isinstance(caught.value, OSError)
