"""Passwords are masked everywhere (RFC 3986 3.2.1, 7.5): every spelling, every output, every protocol."""

from __future__ import annotations

import asyncio
import io
import json
import re
import socket
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from traceback import format_exception
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import overthere
from overthere import IRI, URI, Policy, URIReference, explain, plan
from overthere.access import masking
from overthere.access.blocking import Transport
from overthere.access.errors import AccessRefused, LimitExceeded, ProtocolError, ResourceMissing
from overthere.access.masking import mask_errors, mask_secrets, secrets_of
from overthere.access.opening import Opening
from overthere.access.steps import Credentials
from overthere.access.wire import Dial, Dialogue, Head, Read
from overthere.cli.app import app as main
from overthere.editions import NAMES, check
from overthere.files.sarif import Result, write
from overthere.ground.errors import OverthereError
from overthere.ground.redact import mask, overlaps, password_spans
from overthere.kernel.reference import Parts
from overthere.security import audit
from overthere.testing import AccessSuite, Replay
from overthere.values.known_secrets import Secrets, values
from servers.faults import faulty, simple
from servers.ftpd import Answer, scripted
from support import linear
from verbs import Verb, verbs

LOCAL = Policy.local()
WORD = "Sw0rdFish"

MASKED = [
    ("https:/joe:pw@h", "https:/joe:***@h"),
    ("https:///joe:pw@h", "https:///joe:***@h"),
    ("https:\\\\joe:pw@h\\x", "https:\\\\joe:***@h\\x"),
    ("https:/%5Cjoe:pw@h", "https:/%5Cjoe:***@h"),
    ("http:joe:pw@h", "http:joe:***@h"),
    ("postgres:joe:pw@h", "postgres:joe:***@h"),
    ("jdbc:postgresql://joe:pw@h/db", "jdbc:postgresql://joe:***@h/db"),
    ("//joe:pw@h", "//joe:***@h"),
    ("\\\\joe:pw@h\\share", "\\\\joe:***@h\\share"),
    ("http://joe%3Apw@h", "http://joe%3A***@h"),
    ("http://joe:pw%40h/", "http://joe:***%40h/"),
    ("http://joe:p@w@h/", "http://joe:***@h/"),
    ("http://joe%40corp:pw@h/", "http://joe%40corp:***@h/"),
    ("http://joe:1%2F2@h/", "http://joe:***@h/"),
    ("http://joe:1\\2@h/", "http://joe:***@h/"),
    ("ftp://joe:p/w@h/", "ftp://joe:***@h/"),
    ("ftp://joe:p//w?#x@h/", "ftp://joe:***@h/"),
    ("http://h/?next=http://joe:pw@h2/", "http://h/?next=http://joe:***@h2/"),
    ("?next=http:joe:pw@h2", "?next=http:joe:***@h2"),
    ("?next=//joe:pw@h2", "?next=//joe:***@h2"),
    ("?next=http%3A%2F%2Fjoe%3Apw%40h%2F&a=b@c", "?next=http%3A%2F%2Fjoe%3A***%40h%2F&a=b@c"),
    ("?a=http%3A%2F%2Fh%3A80&mail=joe%40h", "?a=http%3A%2F%2Fh%3A80&mail=joe%40h"),
    ("?n=http%253A%252F%252Fjoe%253Apw%2540h%252F", "?n=http%253A%252F%252Fjoe%253A***%2540h%252F"),
    ("?n=http%3A%2F%2Fjoe%3A1%252F2%40h%2F", "?n=http%3A%2F%2Fjoe%3A***%40h%2F"),
    ("http%3Ajoe%3Apw%40h", "http%3Ajoe%3A***%40h"),
    ("a#http://joe:pw@h", "a#http://joe:***@h"),
    ("https://web.archive.org/web/2020/http://u:pw@h/", "https://web.archive.org/web/2020/http://u:***@h/"),
    ("https://web.archive.org/web/2020/http:/u:pw@h/", "https://web.archive.org/web/2020/http:/u:***@h/"),
    ("h\nt\ttp:joe:pw@h", "h\nt\ttp:joe:***@h"),
    ("see h\tttp:joe:pw@h", "see h\tttp:joe:***@h"),
    ("http:/\t/joe:pw@h", "http:/\t/joe:***@h"),
    (" \x01http:joe:pw@h", " \x01http:joe:***@h"),
    ("URL:http:joe:pw@h", "URL:http:joe:***@h"),
    ("<URL:ftp://joe:pw@h>", "<URL:ftp://joe:***@h>"),
    ("http://a:x@h and http://b:y@k", "http://a:***@h and http://b:***@k"),
    ("http://a:x@h http:/b:y@k", "http://a:***@h http:/b:***@k"),
    # The user name begins with an escaped slash.
    ("ftp://%2Fjoe:%23pw@h/", "ftp://%2Fjoe:***@h/"),
    ("http://%5Cjoe&x:pw@h/", "http://%5Cjoe&x:***@h/"),
    ("http://%2fj:%2Fpw@h", "http://%2fj:***@h"),
    ("https:/%2Fjoe:%23pw@h", "https:/%2Fjoe:***@h"),
    ("?n=http%3A%2F%2F%252Fjoe%3A%2523pw%40h", "?n=http%3A%2F%2F%252Fjoe%3A***%40h"),
    # Not passwords.
    ("mailto:joe@h", "mailto:joe@h"),
    ("URL:mailto:joe@h", "URL:mailto:joe@h"),
    ("mailto:a:b@h?body=http://u:p@h", "mailto:a:b@h?body=http://u:***@h"),
    ("urn:a:b:c@d", "urn:a:b:c@d"),
    ("tag:joe@h,2004:x", "tag:joe@h,2004:x"),
    ("joe:pw@h", "joe:pw@h"),
    ("http://h/a:b@c", "http://h/a:b@c"),
    ("http://h:80/a@b", "http://h:80/a@b"),
    ("http://[::1]:80/a@b", "http://[::1]:80/a@b"),
    ("http://joe@h/", "http://joe@h/"),
    ("http://joe:@h/", "http://joe:@h/"),
]


@pytest.mark.parametrize(("text", "masked"), MASKED, ids=[repr(text) for text, _ in MASKED])
def test_masked_and_unmasked_texts(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://ghp_xxx@github.com/", "https://***@github.com/"),
        ("https://TOKEN:x-oauth-basic@h", "https://***@h"),
        ("?to=http%3A%2F%2FTOKEN%40h", "?to=http%3A%2F%2F***%40h"),
        ("https://h/@joe", "https://h/@joe"),
        ("mailto:joe@h", "mailto:joe@h"),
    ],
)
def test_a_token_as_user_name_can_be_masked(text: str, masked: str) -> None:
    assert mask(text, userinfo=True) == masked
    assert "TOKEN" not in mask(text, userinfo=True)


_LOGIN = st.lists(st.sampled_from(["%2F", "%5C", "%23", "%3F", "%40", "%252F", "&", "a", ";"]), max_size=4).map("".join)


@given(_LOGIN, _LOGIN, st.sampled_from(["http:", "x:", ""]), st.sampled_from(["h", "h:80", "%40", "[::1]"]))
def test_every_valid_userinfo_is_masked(user: str, password: str, scheme: str, host: str) -> None:
    value = URIReference(f"{scheme}//{user}:{password}{WORD}{password}@{host}/")
    assert str(value.redacted()) == f"{scheme}//{user}:***@{host}/"
    assert value.display() == f"{scheme}//***@{host}/"


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), max_size=5), st.integers(0, 40), st.integers(0, 9))
def test_overlapping_secrets_are_masked(pairs: list[tuple[int, int]], start: int, size: int) -> None:
    spans: list[tuple[int, int]] = []
    for low, length in sorted(pairs):
        if not spans or low >= spans[-1][1]:
            spans.append((low, low + length))
    places = range(start, start + max(1, size))
    assert overlaps(spans, start, start + size) == any(low <= place < high for low, high in spans for place in places)


PIECES = [
    "//a:b@", "/\t", "%25", "%2525", "http:", ":", "@", "//:@", ":@", "%2F%2F", "h\t", "//a", "%2F%2Fa%252F", "a",
    "//\t:", "http:\t", "%3A", "%40", "\\", "//a:b", "%", "//:%40", "&//a:",
]  # fmt: skip


@pytest.mark.parametrize("end", ["@", "%40", "%2540h", ":@/"])
@pytest.mark.parametrize("piece", PIECES)
def test_masking_is_linear(piece: str, end: str) -> None:
    linear(lambda length: mask("//" + piece * (length // len(piece)) + end), 120_000)


@pytest.mark.parametrize("piece", ["=", "a=", "-=", "_", "a=b&", "sig", "sig&", "=sig", ";", "%3D", "token%3d", "/"])
def test_masking_of_values_is_linear(piece: str) -> None:
    """The native kernel finds names so quickly that quadratic time shows in long texts only."""

    def show(length: int) -> None:
        value = URI("http://h/?" + piece * (length // len(piece)))
        repr(value)
        value.redacted()

    linear(show, 240_000)


@pytest.mark.parametrize(
    "action", [explain, plan, lambda text: repr(URI(text).locator), lambda text: list(audit(text))]
)
def test_masking_many_secrets_is_linear(action: Any) -> None:
    """Although every text might contain every secret."""

    def show(count: int) -> None:
        masked = str(action("http://h/?" + "&".join(f"token=open{number:x}Sesame" for number in range(count))))
        assert "Sesame" not in masked

    linear(show, 4_000)


# -- all that shows each spelling

LETTERS = st.text("abcXYZ", max_size=3)
BEHIND = st.text("abc/?#@: \\%2[]", max_size=4)
SPELLINGS = [
    "http://joe:{0}@h.example/", "ftp://joe:{0}@h.example/a", "https:/joe:{0}@h.example", "https:///joe:{0}@h.example",
    "https:\\\\joe:{0}@h.example", "http:joe:{0}@h.example", "http://joe%3A{0}@h.example/", "//joe:{0}@h.example",
    "http://h.example/?next=http://joe:{0}@h2.example/", "http://h.example/?next=http%3A%2F%2Fjoe%3A{0}%40h2.example",
    "http://h.example/a#http://joe:{0}@h.example", "https://web.archive.org/web/2020/http://joe:{0}@h.example/x",
    "h\tttp://joe:{0}@h.example", "ht\ntp:joe:{0}@h.example", "  http://joe:{0}@h.example", "URL:http:joe:{0}@h.x",
    "<http://joe:{0}@h.example>", "http://a:x@h.example http://b:{0}@h.example", "gopher://joe:{0}@h.example/1",
    "nntp://joe:{0}@h.example/g/1", "telnet://joe:{0}@h.example/", "ldap://joe:{0}@h.example/", "file:///joe:{0}@h/x",
    "prospero://joe:{0}@h.example/x", "wais://joe:{0}@h.example/db?x", "mailto:a@h?body=http://joe:{0}@h.example",
    "data:,http://joe:{0}@h.example", "foo://joe:{0}@[::1/", "foo://joe:{0}@h:8o/|", "sip:joe:{0}@h.example",
    "http:///joe:{0}@h.example/%7Ea/../b", "urn:example:http://joe:{0}@h.example",
]  # fmt: skip


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A URI, or an invalid one, that contains the word as its password or in it."""
    spelling = draw(st.sampled_from(SPELLINGS))
    behind = draw(BEHIND) if not spelling.endswith("}") and "%3A%2F" not in spelling else ""
    return spelling.format(f"{draw(LETTERS)}{WORD}{behind}")


def error_texts(error: BaseException) -> Iterator[str]:
    yield from (str(error), repr(error), *format_exception(error))
    if isinstance(error, overthere.InvalidURI):
        yield error.figure()


def outputs(text: str) -> Iterator[str]:
    """All outputs in which a text is shown."""
    for kind in (URI, URIReference, IRI):
        try:
            value = kind(text)
        except OverthereError as error:
            yield from error_texts(error)
            continue
        yield repr(value)
        try:
            if isinstance(value, URI):
                yield repr(value.locator)
                yield json.dumps(value.locator.to_dict())
        except (OverthereError, AttributeError) as error:
            yield from error_texts(error)
    for output in (explain(text), explain("a", text), explain(text, "http://b.example/")):
        yield from (str(output), repr(output), output.figure(), output.render(60))
    try:
        by = plan(text)
        yield from (str(by), repr(by), by.render(40), json.dumps(by.to_dict()))
    except OverthereError as error:
        yield from error_texts(error)
    findings = audit(text)
    log = io.StringIO()
    write((Result(finding, text) for finding in findings), log)
    yield log.getvalue()
    for finding in (*findings, *(finding for name in NAMES for finding in check(text, name))):
        yield str(finding)


@settings(max_examples=150, deadline=None)
@given(texts())
def test_no_output_shows_a_password(text: str) -> None:
    # Not a colon, digits or a delimiter before it: they would be a port.
    assert any(WORD in text[low:high] for low, high in password_spans(text))
    for integration in outputs(text):
        assert WORD.lower() not in integration.lower(), text


VERBS = [
    ["explain"], ["check"], ["check", "--edition", "rfc1738"], ["plan"], ["audit"], ["audit", "--format", "sarif"],
    ["editions", "matrix"], ["split", "--strict", "--component", "scheme"],
]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_no_command_shows_a_password(verb: list[str]) -> None:
    lines = "\n".join(spelling.format(WORD) for spelling in SPELLINGS if "\n" not in spelling) + "\n"
    result = CliRunner().invoke(main, verb, input=lines)
    assert result.exit_code in (0, 1), result.output
    assert result.output
    assert WORD.lower() not in result.output.lower(), [
        line for line in result.output.splitlines() if WORD.lower() in line.lower()
    ]


def test_a_matched_uri_is_masked_above_its_variables() -> None:
    result = CliRunner().invoke(main, ["template", "match", "http://{user}:{x}@h/", f"http://joe:{WORD}@h/"])
    assert result.stdout.splitlines()[0] == "http://joe:***@h/"


@pytest.mark.parametrize("verb", verbs(), ids=lambda verb: verb.name)
def test_no_usage_error_shows_a_password(verb: Verb, tmp_path: Path) -> None:
    """For every option and argument to which a URI with a password is passed."""
    places = [str(tmp_path)] if verb.name in ("links", "broken") else ["http://h/a"] * bool(verb.arguments)
    for form in ("http://joe:{}@h.example/x", "ftp://joe:{}@h.example/ x", "a=http://joe:{}@h.example"):
        text = form.format(WORD)
        calls = [[option, text, *places] for option in verb.valued if (verb.name, option) != ("serve", "--host")]
        for words in [*calls, [text], ["--", text, text]]:
            if verb.name == "get":
                words = ["--plan", *words]
            result = CliRunner().invoke(main, [*verb.words, *words], input="")
            if result.exit_code not in (0, 130):
                assert WORD not in result.output, (words, result.output)


@pytest.mark.parametrize("text", ["https:/joe:{0}@h.example", "foo://joe:{0}@h.example", "http://joe:{0}@h.example/"])
def test_get_shows_no_password_of_a_rejected_uri(text: str) -> None:
    for form in ("text", "jsonl"):
        result = CliRunner().invoke(main, ["get", "--format", form, text.format(WORD)])
        assert result.exit_code == 1
        assert WORD not in result.output


# -- what a server repeats


@pytest.mark.parametrize(
    "message",
    [
        "pass {0} denied", "PASS {1}", "{2}", "{3}", "{0}{0}", "Basic {2}", "'{4}'", "{5}", "{6}",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "password", ["Sw0rdFish", "p@ss w/ord", "\u00fcber-geheim", "a\\b\"c'd", "x" * 500, "\udce9\udcfftwo"]
)
def test_a_secret_is_found_in_every_spelling(password: str, message: str) -> None:
    octets = password.encode("utf-8", "surrogateescape")
    escaped = "".join(f"%{octet:02x}" for octet in octets)
    text = message.format(
        password,
        password.upper() if password.upper().lower() == password.lower() else password,
        b64encode(b"joe:" + octets).decode(),
        b64encode(octets).decode(),
        repr(password)[1:-1],
        escaped,
        octets.decode("latin-1"),
    )
    hidden = Secrets([password]).mask(text)
    assert "***" in hidden
    for word in (password, escaped, b64encode(octets).decode().rstrip("=")):
        assert word not in hidden


def test_a_short_secret_is_masked_as_a_whole_word_only() -> None:
    secrets = Secrets(["pw"])
    assert secrets.mask("530 pw: spwn 'PW'") == "530 ***: spwn '***'"
    assert not Secrets([""])
    assert Secrets().mask("all") == "all"
    assert "pw" not in repr(secrets)


@pytest.mark.parametrize(
    "password", ["\u043f\u0430\u0440\u043e\u043b\u044c1", "tr\u00e9s s\u00fc\u00df", "a\x07\u00e9"]
)
def test_a_secret_is_found_next_to_replacement_characters(password: str) -> None:
    each_octet = password.encode().decode("ascii", "replace")
    each_character = password.encode("ascii", "replace").decode().replace("?", "\ufffd")
    for secret in (each_octet, each_character):
        assert Secrets([password]).mask(f"530 {secret}?") == "530 ***?"


@pytest.mark.parametrize(
    ("password", "line"),
    [
        ("\u043f\u0430\u0440\u043e\u043b\u044c1", "\ufffd"),
        ("\\" * 12 + "1", "\\"),
        ("\t" * 12 + "1", "\t"),
        ("'\\" * 9, "\\'"),
    ],
)
def test_finding_a_secret_is_fast_in_hostile_lines(password: str, line: str) -> None:
    """A line of 64 characters took 8 s."""
    secrets = Secrets([password])
    linear(lambda size: secrets.mask(line * size + "!"), 4000)


@pytest.mark.parametrize("password", ["p", "pw", "pwd", "pass", "pass\u00e9", WORD, "x" * 65, "\u00e9" * 70, ">>>???"])
@pytest.mark.parametrize("name", ["", "j", "jo", "joe", "jos\u00e9"])
def test_a_base64_secret_is_found_after_any_user_name(name: str, password: str) -> None:
    for encode in (b64encode, urlsafe_b64encode):
        login = encode(f"{name}:{password}".encode()).decode()
        assert Secrets([password]).mask(f"Basic {login}, it is wrong") == "Basic ***, it is wrong"
        assert login[-5:] not in Secrets([password, "other"]).mask(f"other{login}")


def test_many_user_names_are_linear() -> None:
    """2,000 names and 40 passwords took 9 s and 170 MB for each expression, which was made four times a redirect."""

    def open_nested(count: int) -> None:
        nested = ",".join(f"http://u{number}:pwpw{number % 40}@h" for number in range(count))
        with pytest.raises(AccessRefused):
            overthere.open(f"http://127.0.0.1/?u={nested}")
        assert "pwpw7" not in secrets_of(plan(f"http://h/?u={nested}")).mask("pwpw7, wrong")

    linear(open_nested, 2_000)
    few, long = ([f"http://u{number}:pwpw{number % 40}@h" for number in range(count)] for count in (40, 2_000))
    small, large = (len(secrets_of(plan("http://h/"), uris=uris)._pattern.pattern) for uris in (few, long))  # type: ignore[union-attr]
    assert large == small


BEGINNING = "a" * 62


def test_secrets_with_a_common_prefix_are_linear() -> None:
    """59 tokens with a common prefix, in a text with that prefix."""
    short, long = (Secrets(BEGINNING + f"{number:02}" for number in range(count)) for count in (4, 59))

    def search(count: int) -> None:
        secrets = short if count < 59 else long
        assert secrets.mask(BEGINNING * 1_000) == BEGINNING * 1_000

    linear(search, 59)
    units = [len(re.findall("a[|]", secrets._pattern.pattern)) for secrets in (short, long)]  # type: ignore[union-attr]
    assert units == [62, 62]


@pytest.mark.parametrize(
    "secret",
    [BEGINNING, "x" * 200, "\u00fc" * 64, "\U0001f600" * 64],
    ids=["ascii", "long", "two octets", "four octets"],
)
@pytest.mark.parametrize("spell", [str, quote, lambda text: b64encode(f"joe:{text}".encode()).decode()])
def test_a_long_message_is_shortened_without_splitting_a_secret(secret: str, spell: Callable[[str], str]) -> None:
    secrets = Secrets([secret])
    for before in (*range(0, 1_200, 97), *range(2_900, 4_200, 29)):
        for number in (0, before // (len(secret) + 1)):
            message = f"{secret} " * number
            message = f"{message}{'-' * (before - len(message))} {spell(secret)} end{'-' * 5_000}"
            masked = secrets.mask_message(message)
            assert len(masked) < 1_000
            assert spell(secret)[8:16] not in masked
            assert masked.endswith(f"… ({len(message) - 950:,} more characters)")
    assert secrets.mask_message(f"{secret} end") == "*** end"


def test_errors_and_their_causes_are_shortened_before_masking(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    original = Secrets.mask

    def mask_and_count(self: Secrets, text: str) -> str:
        lengths.append(len(text))
        return original(self, text)

    monkeypatch.setattr(Secrets, "mask", mask_and_count)
    message = f"{WORD} " + "a" * 160_000
    failed = ProtocolError(message, where=message)
    failed.__cause__ = OSError(5, message, message.encode())
    failed.add_note(message)
    mask_errors(failed, Secrets([WORD]))
    assert lengths
    assert max(lengths) <= 5_000
    assert WORD not in "".join(error_texts(failed))
    assert "*** aaa" in str(failed)
    assert "(159,060 more characters)" in str(failed)


def test_secrets_are_collected_once_for_each_redirect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Earlier, the previous URIs were searched again four times for each."""
    searched: list[str] = []

    def find_and_count(uri: str) -> list[str]:
        searched.append(uri)
        return values(uri)

    monkeypatch.setattr(masking, "values", find_and_count)
    opening = Opening("http://h.example/?token=first1", LOCAL, None, None, None)
    for number in range(5):
        opening.transport(Transport)
        opening.follow(Head(location=f"/{number}?token=other{number}"), None)
    assert opening.secrets().mask("first1 other0 other4 x") == "*** *** *** x"
    assert searched == ["http://h.example/?token=first1"] + [
        f"http://h.example/{number}?token=other{number}" for number in range(5)
    ]


def ldap_refusal(message: bytes) -> bytes:
    """A BindResponse: invalidCredentials (RFC 4511 4.2.2)."""
    body = b"\x0a\x01\x31\x04\x00\x04" + bytes([len(message)]) + message
    content = b"\x02\x01\x01\x61" + bytes([len(body)]) + body
    return b"\x30" + bytes([len(content)]) + content


LOGIN = f"joe pass {WORD} denied".encode()
BASIC = b64encode(f"joe:{WORD}".encode())
REFUSALS: dict[str, tuple[str, bytes]] = {
    "ftp-530": ("ftp://h.example/a", b"220 hi\r\n331 more\r\n530 user " + LOGIN + b"\r\n"),
    "ftp-user": ("ftp://h.example/a", b"220 hi\r\n530-no\r\n 530 x\r\n530 " + LOGIN + b"\r\n"),
    "ftp-later": ("ftp://h.example/a", b"220 hi\r\n331 more\r\n230 in\r\n200 I\r\n500 x\r\n500 " + LOGIN + b"\r\n"),
    "ftp-uri": (f"ftp://joe:{WORD}@h.example/a", b"220 " + LOGIN + b"\r\n331 more\r\n530 " + LOGIN + b"\r\n"),
    "http-reason": ("http://h.example/", b"HTTP/1.1 401 " + LOGIN + b"\r\nContent-Length: 0\r\n\r\n"),
    "http-basic": ("http://h.example/", b"HTTP/1.1 401 Basic " + BASIC + b"\r\nContent-Length: 0\r\n\r\n"),
    "http-garbage": ("http://h.example/", b"HTTP/1.1 " + LOGIN + b"\r\n\r\n"),
    "http-query": (f"http://h.example/?u=http://joe:{WORD}@h", b"HTTP/1.1 404 " + LOGIN + b"\r\n\r\n"),
    "ws-reason": ("ws://h.example/", b"HTTP/1.1 401 " + LOGIN + b"\r\nContent-Length: 0\r\n\r\n"),
    "news": ("nntp://h.example/misc.test/1", b"200 hi\r\n500 x\r\n481 " + LOGIN + b"\r\n"),
    "news-garbage": ("nntp://h.example/misc.test/1", b"x" * 76 + LOGIN + b"\r\n"),
    "gopher-item": ("gopher://h.example/0a%09%09+", b"--1\r\n1 a@b\r\n" + LOGIN + b"\r\n.\r\n"),
    "ldap": ("ldap://h.example/", ldap_refusal(LOGIN)),
    "wais": ("wais://h.example/db?x", LOGIN * 9),
    "prospero": ("prospero://h.example/x", LOGIN * 9),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_no_protocol_shows_a_password_repeated_by_a_server(name: str) -> None:
    uri, answer = REFUSALS[name]
    credentials = None if WORD in uri else Credentials("joe", WORD)
    opening = Opening(uri, LOCAL, credentials, None, None)
    result = Replay(answer).run(opening.dialogue(opening.scheme()))
    assert result.error is not None
    text = "".join(error_texts(result.error))
    assert WORD.lower() not in text.lower(), text
    assert BASIC.decode() not in text
    if name not in ("wais", "prospero", "ftp-user", "http-garbage"):
        assert "***" in text, text


def test_details_contain_no_password() -> None:
    answer = b"HTTP/1.1 200 " + LOGIN + b"\r\nX-Login: Basic " + BASIC + b"\r\nContent-Length: 0\r\n\r\n"
    opening = Opening("http://h.example/", LOCAL, Credentials("joe", WORD), None, None)
    result = Replay(answer).run(opening.dialogue(opening.scheme()))
    assert result.head is not None
    assert result.head.details["reason"] == "joe pass *** denied"
    assert ("X-Login", "Basic ***") in [(name.title(), value) for name, value in result.head.details["headers"]]


@pytest.mark.parametrize(
    ("password", "media_type", "masked_type"),
    [
        (WORD, f"text/plain; charset={WORD}", "text/plain; charset=***"),
        (WORD, f"x-{WORD}/plain;x={WORD}", "x-***/plain;x=***"),
        (f"a;{WORD}", f"x/a;{WORD}", "x/***"),
        ("html", "text/html; charset=html", "text/html; charset=***"),
    ],
)
def test_a_media_type_contains_no_password(password: str, media_type: str, masked_type: str) -> None:
    """Except as a part of a known type: without it the content would be read as another one."""
    answer = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: 0\r\n\r\n".encode()
    opening = Opening("http://h.example/", LOCAL, Credentials("joe", password), None, None)
    result = Replay(answer).run(opening.dialogue(opening.scheme()))
    assert result.head is not None
    assert result.head.media_type == masked_type
    assert WORD not in repr(result.head)


@pytest.mark.parametrize("code", [0, 4])
def test_details_after_the_entries_contain_no_password(code: int) -> None:
    """A search result comes after its entries, when the reader already has the head."""

    def message(number: int, operation: bytes) -> bytes:
        return bytes([0x30, len(operation) + 3, 2, 1, number]) + operation

    def result(tag: int, code: int, text: bytes) -> bytes:
        return bytes([tag, len(text) + 7, 10, 1, code, 4, 0, 4, len(text)]) + text

    entry = bytes.fromhex("640804 04") + b"cn=a" + bytes.fromhex("3000")
    answer = message(1, result(0x61, 0, b"")) + message(2, entry) + message(2, result(0x65, code, LOGIN))
    opening = Opening("ldap://h.example/", LOCAL, Credentials("cn=joe", WORD), None, None)
    found = Replay(answer).run(opening.dialogue(opening.scheme()))
    assert found.head is not None
    assert found.head.details["result"]["diagnosticMessage"] == "joe pass *** denied"
    assert WORD not in repr(found.entries)


def test_a_login_repeated_by_a_proxy_is_masked() -> None:
    policy = LOCAL.with_(proxy={"https": f"http://joe:{WORD}@p.example:3128"})
    opening = Opening("https://h.example/", policy, None, None, None)
    result = Replay(b"HTTP/1.1 407 Basic " + BASIC + b" " + LOGIN + b"\r\n\r\n").run(opening.dialogue(opening.scheme()))
    assert "407 Basic *** joe pass *** denied" in str(result.error)


def test_causes_of_an_error_show_no_password() -> None:
    """Tracebacks print causes, contexts and notes."""

    def dialogue() -> Dialogue:
        yield Dial("h.example", 21)
        data: bytes = yield Read()
        try:
            try:
                raise OSError(5, data.decode(), data.decode())
            except OSError:
                raise ValueError(data.decode()) from None
        except ValueError as error:
            failed = ProtocolError("x " + data.decode(), where="send PASS " + data.decode())
            failed.add_note(data.decode())
            raise failed from error

    secrets = secrets_of(plan(f"ftp://joe:{WORD}@h.example/a"))
    result = Replay(LOGIN).run(mask_secrets(dialogue(), secrets))
    assert result.error is not None
    assert result.error.__cause__ is not None
    result.error.__cause__.__suppress_context__ = False
    text = "".join(error_texts(result.error))
    assert text.count("joe pass *** denied") >= 4
    assert WORD not in text
    assert WORD not in result.error.message  # type: ignore[attr-defined]


def test_a_dialogue_without_secrets_is_not_wrapped() -> None:
    def dialogue() -> Dialogue:
        yield Head()

    wrapped = dialogue()
    assert mask_secrets(wrapped, secrets_of(plan("ftp://h.example/a"))) is wrapped
    wrapped.close()


def test_a_password_repeated_by_a_real_server_is_masked() -> None:
    """With blocking sockets and in an event loop."""
    answers: dict[str, Answer] = {"PASS": b"530 user " + LOGIN + b"\r\n"}

    async def open_both(uri: str) -> None:
        await overthere.aopen(uri, LOCAL, credentials=Credentials("joe", WORD))

    with scripted(answers) as server:
        uri = f"ftp://127.0.0.1:{server.port}/a"
        with pytest.raises(ResourceMissing, match=r"530 user joe pass \*\*\* denied") as caught:
            overthere.open(uri, LOCAL, credentials=Credentials("joe", WORD))
        with pytest.raises(ResourceMissing, match=r"530 user joe pass \*\*\* denied") as raised:
            asyncio.run(open_both(uri))
    for error in (caught.value, raised.value):
        assert WORD not in "".join(error_texts(error))


@pytest.mark.parametrize("size", [10_000, 60_000])
def test_the_length_of_errors_is_limited(size: int) -> None:
    opening = Opening(f"ftp://h.example/{'a' * 5000}", LOCAL, None, None, None)
    result = Replay(b"220 hi\r\n530 " + b"x" * size + b"\r\n").run(opening.dialogue(opening.scheme()))
    assert isinstance(result.error, ResourceMissing)
    assert f"({size + 4 - 1000:,} more characters)" in str(result.error)
    result.error.uri = opening.uri
    assert "more characters)" in str(result.error)
    assert len(str(result.error)) < 2000
    assert len(repr(result.error)) < 2100
    told_uri = LimitExceeded("x", uri="http://joe:" + WORD * 100 + "@h/" + "a" * 1000)
    assert "http://joe:***@h/aaa" in str(told_uri)
    assert len(str(told_uri)) < 400


class TestFTPWithAPassword(AccessSuite):
    uri = "ftp://joe:hunter2@h.example/pub/a.txt"
    answer = (
        b"220 hello\r\n331 password\r\n230 hunter2 is in\r\n250 there\r\n200 A\r\n229 (|||50000|)\r\n"
        b"150 Opening (16 bytes).\r\n226 done\r\n221 bye\r\n"
    )
    data = b"0123456789abcdef"

    def test_replies_are_live_and_masked(self) -> None:
        resource: Any = self.whole()
        replies = resource.head.details["replies"]
        assert "230 *** is in" in replies
        assert replies[-1] == "226 done"


class TestANewsRefusal(AccessSuite):
    uri = "nntp://h.example/misc.test/1"
    answer = b"200 hi\r\n101 list\r\nAUTHINFO USER\r\n.\r\n200 hi\r\n481 no\r\n"
    missing = True


class TestAnLDAPRefusal(AccessSuite):
    uri = "ldap://h.example/"
    answer = ldap_refusal(b"the password is wrong, we are sorry")
    missing = True
    credentials = Credentials("cn=joe", "other")


ALLOWED = LOCAL.with_(hosts=frozenset({"127.0.0.1"}), max_bytes=1000)
"""Redirects elsewhere are rejected, and long answers shortened."""


@pytest.mark.parametrize(
    "location",
    [
        "{root}/s3cr3tpw/x",
        "/s3cr3tpw",
        "s3cr3tpw:x",
        "/joe%3As3cr3tpw",
        "http://s3cr3tpw.invalid/",
        "//s3cr3tpw.invalid:1/",
        "/s3cr3tpw/cut",
        "/s3cr3tpw/reset",
        "/s3cr3tpw/long",
        "http://127.0.0.1:1/s3cr3tpw",
    ],
)
@pytest.mark.parametrize("policy", [LOCAL, ALLOWED], ids=["any-host", "one-host"])
@pytest.mark.parametrize("sent", ["login", "token"])
def test_no_error_after_a_redirect_shows_a_repeated_secret(location: str, policy: Policy, sent: str) -> None:
    def answer(connection: socket.socket) -> None:
        while data := connection.recv(65_536):
            path = data.split(b" ")[1]
            target = location.format(root=root).encode()
            if path.endswith(b"/reset"):
                return
            if path.endswith((b"/cut", b"/long")):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 2000)
                return
            lost = b"s3cr3tpw" in path.partition(b"?")[0]
            head = b"404 No" if lost else b"302 Found\r\nLocation: " + target
            connection.sendall(b"HTTP/1.1 " + head + b"\r\nContent-Length: 0\r\n\r\n")

    async def read_later(uri: str) -> None:
        async with await overthere.aopen(uri, policy, credentials=login) as resource:
            await resource.read()

    with faulty(simple(answer)) as server:
        root = f"http://127.0.0.1:{server.port}"
        uri = f"{root}/{'?token=s3cr3tpw' if sent == 'token' else ''}"
        login = Credentials("joe", "s3cr3tpw") if sent == "login" else None
        with pytest.raises(OverthereError) as caught, overthere.open(uri, policy, credentials=login) as resource:
            resource.read()
        with pytest.raises(OverthereError) as later:
            asyncio.run(read_later(uri))
    for error in (caught.value, later.value):
        for text in (str(error), repr(error), str(getattr(error, "uri", "")).partition("?")[0], *error_texts(error)):
            assert "s3cr3tpw" not in text.replace("?token=s3cr3tpw", "")


@pytest.mark.parametrize("path", ["", "p", "/p", "//p", "p:q", "?", "#"])
@pytest.mark.parametrize("authority", [None, "", "h"])
def test_parts_without_a_secret_are_unchanged(authority: str | None, path: str) -> None:
    parts = Parts("a", authority, path, "q", None)
    assert repr(parts) == f"Parts(scheme='a', authority={authority!r}, path={path!r}, query='q', fragment=None)"
    assert "s3cret" not in repr(parts._replace(authority="u:s3cret@h"))
