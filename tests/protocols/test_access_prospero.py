"""prospero with recorded answers of dirsrv 5.3; access methods as URIs; servers that lie."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from overthere import URI, plan
from overthere import open as open_uri
from overthere.access.errors import AccessError, AccessRefused, LimitExceeded, ProtocolError, ResourceMissing
from overthere.access.policy import Policy
from overthere.access.wire import Data, Dial, Entry, Hangup, Head, Item, Read, Write
from overthere.protocols.prospero.answer import ObjectName, attribute, method
from overthere.protocols.prospero.dialogue import dialogue
from overthere.protocols.prospero.message import read_lines
from servers.dirsrv import (
    CONTENTS,
    HELLO,
    INFO,
    LIST,
    LIST_ONE,
    LOCAL,
    NONSENSE,
    PROBE,
    QUICK,
    SERVER,
    adapt,
    fail_both,
    open_both,
    same_request,
)
from servers.ftpd import anonymous
from servers.replay import Exchange, replay_datagrams
from support import linear

# -- recorded answers of dirsrv


def test_an_object_with_contents() -> None:
    with replay_datagrams(SERVER, same=same_request, adapt=adapt) as served:
        _, content, head = open_both(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt")
    assert content == HELLO
    assert (head.length, head.media_type, head.how) == (20, None, "")
    # Without losses, only the two requests are sent, once each; the recorded client sent no acknowledgement.
    adapted = [adapt(request, row.request) for request, row in zip(served.requests, [INFO, CONTENTS] * 3, strict=True)]
    assert served.requests == adapted


def test_a_directory() -> None:
    with replay_datagrams(SERVER, same=same_request, adapt=adapt) as served:
        entries, content, head = open_both(f"prospero://127.0.0.1:{served.port}//info-tree")
    assert (content, head.is_listing) == (b"", True)
    assert entries == [
        Entry("pros", "prospero://LOCALHOST/AFTP/pros", "directory", {"hsoname": "AFTP/pros", "host": "LOCALHOST"}),
        Entry(
            "hello.txt",
            "prospero://LOCALHOST/AFTP/hello.txt",
            "file",
            {"hsoname": "AFTP/hello.txt", "host": "LOCALHOST"},
        ),
    ]
    assert len(served.requests) == 9


def test_a_directory_with_attributes() -> None:
    server = [*SERVER[:-1], Exchange(LIST.request, LIST_ONE.answers)]
    with replay_datagrams(server, same=same_request, adapt=adapt) as served:
        (entry,), _, _ = open_both(f"prospero://127.0.0.1:{served.port}//info-tree")
    assert entry.details == {
        "hsoname": "AFTP/hello.txt",
        "host": "LOCALHOST",
        "methods": ("PROSPERO-CONTENTS", "LOCAL", "AFTP"),
        "locations": ("ftp://LOCALHOST/hello.txt;type=i",),
        "size": 20,
        "native-owner": "root",
        "native-group": "nogroup",
        "last-modified": "20261120213939Z",
        "unix-modes": "-rw-r--r--",
    }
    assert URI(entry.uri or "").locator.hsoname == "AFTP/hello.txt"  # type: ignore[attr-defined]


def test_a_missing_object_is_reported_in_the_servers_words() -> None:
    with replay_datagrams(SERVER, same=same_request, adapt=adapt) as served:
        error = fail_both(f"prospero://127.0.0.1:{served.port}//info-tree/nope")
    assert isinstance(error, ResourceMissing)
    assert (error.code, error.message) == ("NOT-A-DIRECTORY", "FAILURE NOT-A-DIRECTORY")
    assert len(served.requests) == 6


def test_an_error_ends_the_dialogue() -> None:
    """`after` of the next step does not name it: no further request is sent."""
    with replay_datagrams([Exchange(INFO.request, NONSENSE.answers)], same=same_request, adapt=adapt) as served:
        error = fail_both(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt")
    assert isinstance(error, ResourceMissing)
    assert (error.code, error.message) == ("ERROR", "ERROR Unknown message: NONSENSE")
    assert len(served.requests) == 2


def test_the_replay_reports_an_unrecorded_request() -> None:
    with pytest.raises(AssertionError, match="was not recorded"):  # noqa: SIM117
        with replay_datagrams([CONTENTS], same=same_request, adapt=adapt) as served:
            fail_both(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt", QUICK)


# -- access methods


def methods(*lines: bytes) -> Exchange:
    """A recorded answer, with other lines: b"AFTP ..." are the values of an access method."""
    head = b"ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE "
    return Exchange(INFO.request, (INFO.answers[0][:3] + b"".join(head + line + b"\n" for line in lines),))


RECORDED = [b"PROSPERO-CONTENTS '' '' '' ''", b"LOCAL '' '' '' ''"]


def test_a_single_method_with_a_uri_is_followed(tmp_path: Path) -> None:
    """To a real FTP server, as an anonymous user (RFC 4157 2)."""
    root = tmp_path / "root"
    (root / "pub").mkdir(parents=True)
    (root / "pub" / "README.TXT").write_bytes(HELLO)
    with anonymous(tmp_path, root) as ftp:
        aftp = b"AFTP INTERNET-D 'LOCALHOST(%d)' ASCII '/pub/README.TXT' BINARY" % ftp.port
        with replay_datagrams([methods(*RECORDED, aftp)], same=same_request, adapt=adapt) as served:
            uri = f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt"
            error = fail_both(uri, LOCAL)
            assert isinstance(error, AccessRefused)
            assert error.message.startswith("a redirect leads from prospero to ftp")
            policy = LOCAL.with_(redirects=frozenset({"ftp"}))
            with open_uri(uri, policy, credentials=PROBE) as resource:
                assert resource.read() == HELLO
            assert str(resource.uri) == f"ftp://LOCALHOST:{ftp.port}/pub/README.TXT;type=i"
            assert [str(uri) for uri in resource.history] == [uri]
            assert ftp.commands()[0] == "USER anonymous"
            assert ftp.commands()[2:4] == ["CWD pub", "TYPE I"]
            # The policy applies to its target.
            for changes, rule in (
                ({"hosts": frozenset({"127.0.0.1"})}, "host"),
                ({"schemes": frozenset({"prospero"})}, "scheme"),
                ({"max_redirects": 0}, "redirect"),
            ):
                error = fail_both(uri, policy.with_(**changes))
                assert isinstance(error, AccessRefused)
                assert error.rule == rule


def test_several_methods_are_alternatives() -> None:
    lines = [b"AFTP INTERNET-D H.EXAMPLE ASCII /a.ps TEXT", b"GOPHER INTERNET-D 'G.EXAMPLE(150)' ASCII '1/Fun Stuff'"]
    with replay_datagrams([methods(*RECORDED, *lines)], same=same_request, adapt=adapt) as served:
        entries, _, head = open_both(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt")
    assert head.is_listing
    assert [(entry.kind, entry.uri) for entry in entries] == [
        ("PROSPERO-CONTENTS", None),
        ("LOCAL", None),
        ("AFTP", "ftp://H.EXAMPLE/a.ps;type=a"),
        ("GOPHER", "gopher://G.EXAMPLE:150/11/Fun%20Stuff"),
    ]
    assert entries[1].name == "LOCAL 127.0.0.1 /info-tree/hello.txt"


def test_the_servers_own_method_is_used_if_no_other_has_a_uri() -> None:
    with replay_datagrams([methods(*RECORDED), CONTENTS], same=same_request, adapt=adapt) as served:
        assert open_both(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt")[1] == HELLO


def test_methods_without_a_uri_are_listed() -> None:
    with replay_datagrams([methods(b"NFS INTERNET-D H ASCII a /fs")], same=same_request, adapt=adapt) as served:
        ((entry,), _, _) = open_both(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt")
    assert (entry.kind, entry.uri, entry.details["arguments"]) == ("NFS", None, ("/fs",))


@pytest.mark.parametrize(
    ("line", "uri"),
    [
        # The document's examples (Attributes), the first four as printed without a type.
        (
            "FIELD ACCESS-METHOD GOPHER INTERNET-D MERMAID.MICRO.UMN.EDU(150) ASCII "
            "'1/Fun Stuff/Pyrotechnics/PyroGuide 1'",
            "gopher://MERMAID.MICRO.UMN.EDU:150/11/Fun%20Stuff/Pyrotechnics/PyroGuide%201",
        ),
        (
            "FIELD ACCESS-METHOD GOPHER INTERNET-D MERMAID.MICRO.UMN.EDU(150) ASCII '1/Fun Stuff' 0",
            "gopher://MERMAID.MICRO.UMN.EDU:150/01/Fun%20Stuff",
        ),
        (
            "FIELD ACCESS-METHOD AFS DUMMY DUMMY ASCII /grand.central.org/doc/afs/dce/usenix90/README",
            "afs://grand.central.org/doc/afs/dce/usenix90/README",
        ),
        ("FIELD ACCESS-METHOD NFS INTERNET-D PROSPERO.ISI.EDU ASCII ftp/pub/README /auto/gum/gum", None),
        (
            "FIELD ACCESS-METHOD FTP INTERNET-D PROSPERO.ISI.EDU ASCII /ftp/pub/prospero/README TEXT",
            "ftp://PROSPERO.ISI.EDU/%2Fftp/pub/prospero/README;type=a",
        ),
        (
            "FIELD ACCESS-METHOD AFTP INTERNET-D PROSPERO.ISI.EDU ASCII /pub/prospero/README TEXT",
            "ftp://PROSPERO.ISI.EDU/pub/prospero/README;type=a",
        ),
        ("FIELD ACCESS-METHOD LOCAL '' '' ASCII /etc/passwd", None),
        # Missing values are those of the link; its port is that of Prospero.
        ("OBJECT FIELD ACCESS-METHOD SEQUENCE AFTP '' '' '' '' BINARY", "ftp://own.example/own/name;type=i"),
        ("CACHED FIELD ACCESS-METHOD FTP INTERNET-D H ASCII /x BINARY", "ftp://H/%2Fx;type=i"),
        ("CACHED FIELD ACCESS-METHOD AFTP INTERNET-D H ASCII /pub DIRECTORY", "ftp://H/pub;type=d"),
        ("CACHED FIELD ACCESS-METHOD AFTP INTERNET-D H ASCII '/a b;c/d?e#f' BINARY", "ftp://H/a%20b%3Bc/d%3Fe%23f;type=i"),
        ("CACHED FIELD ACCESS-METHOD GOPHER INTERNET-D H(70) ASCII sel BINARY", "gopher://H:70/9sel"),
        ("CACHED FIELD ACCESS-METHOD WAIS INTERNET-D H ASCII 'WAIS-GW/h.example(210)/TEXT/docs/%01%2fid' ",
         "wais://h.example/docs/TEXT/%01%2Fid"),
        ("CACHED FIELD ACCESS-METHOD WAIS INTERNET-D H ASCII 'WAIS-GW/h(8000)/QUERY/docs/two words'",
         "wais://h:8000/docs?two+words"),
        ("CACHED FIELD ACCESS-METHOD WAIS INTERNET-D H ASCII nonsense", None),
        # Hosts that would mean something else in a URI, invalid ports, names of other networks.
        ("CACHED FIELD ACCESS-METHOD AFTP INTERNET-D user@evil/ ASCII /x BINARY", None),
        ("CACHED FIELD ACCESS-METHOD AFTP INTERNET-D H(99999) ASCII /x BINARY", None),
        ("CACHED FIELD ACCESS-METHOD AFTP X.500 H ASCII /x BINARY", None),
        ("CACHED FIELD ACCESS-METHOD AFTP INTERNET-D H", None),
        ("CACHED FIELD ACCESS-METHOD", None),
        ("FIELD SIZE SEQUENCE 1", None),
    ],
)  # fmt: skip
def test_access_methods_as_uris(line: str, uri: str | None) -> None:
    (tokens,) = read_lines(b"ATTRIBUTE " + line.encode())
    own_name = ObjectName("INTERNET-D", "own.example(1525)", "ASCII", "/own/name")
    found = method(attribute(tuple(token.decode() for token in tokens)), own_name)
    assert (None if found is None else found.uri()) == uri
    if uri is not None and not uri.startswith("afs"):
        assert plan(uri).steps


def test_links_with_targets_of_every_kind() -> None:
    lines = [
        b"LINK L DIRECTORY sub INTERNET-D 'h.example(99)' ASCII 'a b;c' 7",
        b"LINK U DIRECTORY+FILE both INTERNET-D h ASCII x 0 DEST-EXP 19930101000000Z",
        b"LINK L EXTERNAL out INTERNET-D g ASCII 0sel 0",
        b"ATTRIBUTE CACHED FIELD ACCESS-METHOD SEQUENCE GOPHER '' '' '' '' 0",
        b"ATTRIBUTE> LINK FIELD FILTER x",
        b"LINK L SYMBOLIC there VIRTUAL-SYSTEM /vs ASCII /usr 0",
        b"LINK NULL NULL hidden NULL NULL NULL NULL NULL",
        b"WARNING MESSAGE 'down at noon'",
    ]
    head, *items = listing(b"\n".join(lines) + b"\n")
    assert isinstance(head, Head)
    assert head.details == {"warnings": ("MESSAGE down at noon",)}
    assert [(item.entry.name, item.entry.kind, item.entry.uri) for item in items if isinstance(item, Item)] == [
        ("sub", "directory", "prospero://h.example:99/a%20b%3Bc;OBJECT-VERSION=7"),
        ("both", "directory+file", "prospero://h/x"),
        ("out", "external", "gopher://g/00sel"),
        ("there", "symbolic", None),
        ("hidden", "null", None),
    ]
    assert isinstance(items[1], Item)
    assert items[1].entry.details["union"] is True


def test_attributes_with_several_values() -> None:
    lines = [
        b"LINK L FILE x INTERNET-D h ASCII x 0",
        b"ATTRIBUTE OBJECT APPLICATION KEYWORD SEQUENCE one",
        b"ATTRIBUTE OBJECT APPLICATION KEYWORD SEQUENCE two three",
        b"ATTRIBUTE OBJECT APPLICATION FORMS SEQUENCE a b",
        b"ATTRIBUTE OBJECT APPLICATION HOST SEQUENCE other",
    ]
    _, item = listing(b"\n".join(lines) + b"\n")
    assert isinstance(item, Item)
    keywords = {"keyword": ("one", ("two", "three")), "forms": ("a", "b")}
    assert item.entry.details == {"hsoname": "x", "host": "h", **keywords}


def test_a_directory_without_links() -> None:
    for lines in (b"NONE-FOUND\n", b"SUCCESS\n", b""):
        assert listing(lines) == [Head(listing=True)]


def test_an_object_that_has_moved_is_a_redirect() -> None:
    text = INFO.answers[0][:3] + b"FORWARDED INTERNET-D 'LOCALHOST(%d)' ASCII /info-tree/hello.txt 0\n"
    with replay_datagrams(SERVER, same=same_request, adapt=adapt) as new:
        old = [Exchange(INFO.request, (text % new.port,))]
        with replay_datagrams(old, same=same_request, adapt=adapt) as served:
            _, content, head = open_both(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt")
        assert content == HELLO
        assert str(head.uri) == f"prospero://LOCALHOST:{new.port}//info-tree/hello.txt"
        assert len(head.history) == 1
    with pytest.raises(ResourceMissing, match="without a URI"):
        effects_of([b"FORWARDED VIRTUAL-SYSTEM x ASCII y 0\n"])
    with pytest.raises(ProtocolError, match="a forwarding of 4 tokens"):
        effects_of([b"FORWARDED INTERNET-D H ASCII\n"])


def test_contents_in_several_values() -> None:
    head = b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE "
    lines = head + b"DATA 'one\n'\n" + head + b"TAGGED name value\n" + head + b"DATA '\xff\0 ''two'\n"
    (_, data) = effects_of([b"NONE-FOUND\n", lines])
    assert data == Data(b"one\nname: value\n\xff\0 'two")
    with pytest.raises(ProtocolError, match="contents in an unknown form, 'EXECUTE'"):
        effects_of([b"NONE-FOUND\n", head + b"EXECUTE 'rm -r /'\n"])


# -- recorded bytes without a socket


def effects_of(
    answers: list[bytes], policy: Policy = LOCAL, uri: str = "prospero://h//info-tree/hello.txt"
) -> list[Head | Data | Item]:
    """The effects of a dialogue with these answers, one packet per request, then silence."""
    work: Any = dialogue(plan(uri, PROBE), policy)
    effects: list[Head | Data | Item] = []
    reply: Any = None
    pending, waiting = list(answers), b""
    with suppress(StopIteration):
        while True:
            match work.send(reply):
                case Write(data):
                    waiting = data
                    reply = None
                case Read(_, _, patience):
                    assert patience is not None
                    assert 0 < patience <= policy.read_timeout
                    reply = b"\x03" + waiting[1:3] + pending.pop(0) if pending else None
                case Dial() | Hangup():
                    reply = None
                case other:
                    effects.append(other)
                    reply = None
    return effects


def listing(lines: bytes) -> list[Head | Data | Item]:
    return effects_of([b"NONE-FOUND\n", b"FAILURE NOT-FOUND\n", lines])


RECORDED_ANSWERS = {
    "contents": [INFO.answers[0][3:], CONTENTS.answers[0][3:]],
    "links": [b"NONE-FOUND\n", b"NONE-FOUND\n", LIST.answers[0][3:]],
    "attributes": [b"NONE-FOUND\n", b"NONE-FOUND\n", LIST_ONE.answers[0][3:]],
    "methods": [methods(*RECORDED, b"AFTP INTERNET-D H ASCII /x BINARY").answers[0][3:]],
}


@pytest.mark.parametrize("case", RECORDED_ANSWERS)
def test_an_end_at_every_offset(case: str) -> None:
    """A datagram has no end marker: truncated between tokens it contains less, elsewhere it is an error."""
    *before, last = RECORDED_ANSWERS[case]
    complete = effects_of([*before, last])
    for end in range(len(last)):
        try:
            less = effects_of([*before, last[:end]])
        except AccessError:
            continue
        assert len(less) <= len(complete)
    quote = last.find(b"'")
    with pytest.raises(ProtocolError, match="not closed"):
        effects_of([*before, last[: quote + 1]])


@pytest.mark.parametrize("case", RECORDED_ANSWERS)
def test_a_changed_byte_is_at_worst_an_access_error(case: str) -> None:
    *before, last = RECORDED_ANSWERS[case]
    for at in range(len(last)):
        for octet in (b"\0", b"'", b"\n", b" ", b"\xff"):
            with suppress(AccessError):
                effects_of([*before, last[:at] + octet + last[at + 1 :]])


def test_garbage_is_rejected() -> None:
    for garbage in (b"hello", b"HTTP/1.1 200 OK\r\n\r\n", b"\xff" * 50, b"a " * 500):
        for before in ([], [b"NONE-FOUND\n"], [b"NONE-FOUND\n"] * 2):
            with pytest.raises(ProtocolError, match="not a Prospero answer"):
                effects_of([*before, garbage])
    for broken in (b"LINK L FILE x\n", b"LINK\n", b"LINK 'a"):
        with pytest.raises(ProtocolError):
            listing(broken)
    with pytest.raises(ResourceMissing, match=r"ERROR a{994}… \(99,[0-9]+ more characters\)"):
        effects_of([b"ERROR " + b"a" * 100_000])


def test_huge_counts() -> None:
    line = b"ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE LOCAL a b c d\n"
    with pytest.raises(LimitExceeded, match="access methods"):
        effects_of([line * 5000])
    with pytest.raises(LimitExceeded, match="attributes"):
        listing(b"LINK L FILE x INTERNET-D h ASCII x 0\n" + line * 5000)
    links = listing(b"LINK L FILE x INTERNET-D h ASCII x 0\n" * 5_000)
    assert len(links) == 5_001
    linear(lambda count: listing(b"LINK L FILE x INTERNET-D h ASCII x 0\n" * count), 5_000)
    linear(lambda count: listing(b"\n" * count), 300_000)
    with pytest.raises(LimitExceeded, match="100,000 lines"):
        listing(b"WARNING x\n" * 100_001)
    with pytest.raises(ProtocolError, match="1,000 tokens"):
        listing(b"LINK" + b" a" * 1_000_000)
    (head, *_) = listing(b"WARNING x\n" * 1000)
    assert isinstance(head, Head)
    assert len(head.details["warnings"]) == 100
