"""s3, gs, az: conversion from and to https URLs of objects; and repository locations as Git accepts them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from overthere import URI, InvalidURI, Unwritable
from overthere.files.stores.model import SCHEMES, Name
from overthere.schemes import git_url
from overthere.schemes.known.git import GitLocator
from overthere.schemes.known.http import HTTPLocator
from overthere.schemes.known.objects import AzureLocator, GSLocator, ObjectLocator, S3Locator
from overthere.schemes.known.ssh import SSHLocator

AWS, BLOB = "amazonaws.com", "core.windows.net"


@pytest.mark.parametrize(
    ("text", "uri", "region"),
    [
        (f"https://b.s3.eu-west-1.{AWS}/a/c%20d", "s3://b/a/c%20d", "eu-west-1"),
        (f"https://s3.us-gov-west-1.{AWS}/b/a", "s3://b/a", "us-gov-west-1"),
        (f"https://b.s3.{AWS}/a", "s3://b/a", None), (f"http://s3.{AWS}:80/b/a", "s3://b/a", None),
        (f"https://S3-us-west-2.{AWS}/b", "s3://b/", "us-west-2"),
        (f"https://x.y.s3.dualstack.eu-west-1.{AWS}/a", "s3://x.y/a", "eu-west-1"),
        (f"https://b.s3.cn-north-1.{AWS}.cn/a", "s3://b/a", "cn-north-1"),
        (f"https://s3.s3.eu-west-1.{AWS}/a", "s3://s3/a", "eu-west-1"),
        (f"https://b.s3.{AWS}/a?X-Amz-Signature=c#f", "s3://b/a", None), (f"https://b.s3.{AWS}//a", "s3://b//a", None),
        ("https://storage.googleapis.com/b/a%2Fc", "gs://b/a/c", None),
        ("https://b.storage.googleapis.com/a?x", "gs://b/a", None),
        (f"https://acc.blob.{BLOB}/c/a", f"abfss://c@acc.dfs.{BLOB}/a", None),
        (f"https://acc.dfs.{BLOB}/c", f"abfss://c@acc.dfs.{BLOB}/", None),
    ],
)  # fmt: skip
def test_object_uris_from_https(text: str, uri: str, region: str | None) -> None:
    locator = ObjectLocator.from_https(text)
    assert str(locator.uri()) == uri
    assert getattr(locator, "region", None) == region
    assert type(locator).from_https(URI(text)) == locator == URI(uri).locator
    assert Name.parse(uri).key == locator.key  # as stores decode it


@pytest.mark.parametrize(
    "text",
    [
        "https://h.example/b/a", f"https://s3.{AWS}/", f"https://s3.{AWS}.evil.example/b/a", f"https://evils3.{AWS}/b/a",
        f"https://b.s3.{AWS}@h.example/a", f"https://joe@b.s3.{AWS}/a", f"https://b.s3.{AWS}:8443/a",
        f"ftp://b.s3.{AWS}/a", f"https://s3-accelerate.{AWS}/b/a", f"https://acc.blob.{BLOB}/", "s3://b/a", "urn:a:b",
        f"https://a.b.blob.{BLOB}/c/a", "https://storage.googleapis.com",
    ],
)  # fmt: skip
def test_other_urls_are_rejected(text: str) -> None:
    with pytest.raises(InvalidURI, match="not the https URL of an object"):
        ObjectLocator.from_https(text)


def test_url_of_another_store_is_rejected() -> None:
    with pytest.raises(InvalidURI):
        GSLocator.from_https(f"https://b.s3.{AWS}/a")


@pytest.mark.parametrize(
    ("uri", "text"),
    [
        (S3Locator("b", "a b+c%").https(), f"https://b.s3.{AWS}/a%20b%2Bc%25"),
        (S3Locator("b", "é", "eu-west-1").https(), f"https://b.s3.eu-west-1.{AWS}/%C3%A9"),
        (S3Locator("b", "a", "eu-west-1").https(path_style=True), f"https://s3.eu-west-1.{AWS}/b/a"),
        (S3Locator("x.y", "a").https(), f"https://s3.{AWS}/x.y/a"), (S3Locator("B", "a").https(), f"https://s3.{AWS}/B/a"),
        (S3Locator("x.y", "a").https(path_style=False), f"https://x.y.s3.{AWS}/a"),
        (S3Locator("b", "a", "cn-north-1").https(), f"https://b.s3.cn-north-1.{AWS}.cn/a"),
        (GSLocator("b", "a?b").https(), "https://storage.googleapis.com/b/a%3Fb"),
        (GSLocator("b").https(path_style=False), "https://b.storage.googleapis.com/"),
        (AzureLocator("c", "a", "acc").https(), f"https://acc.blob.{BLOB}/c/a"),
        (AzureLocator("c", "a", "acc").https(service="dfs"), f"https://acc.dfs.{BLOB}/c/a"),
    ],
)  # fmt: skip
def test_object_uris_to_https_and_back(uri: URI, text: str) -> None:
    assert str(uri) == text
    locator: Any = ObjectLocator.from_https(uri)
    assert ObjectLocator.from_https(locator.https()) == locator


def test_objects_without_an_https_url_are_rejected() -> None:
    for act in (S3Locator("b", "a/../c").https, S3Locator("b c", "a").https, AzureLocator("c", "a").https):
        with pytest.raises(Unwritable):
            act()
    with pytest.raises(ValueError, match="service"):
        AzureLocator("c", "a", "acc").https(service="file")


@pytest.mark.parametrize("part", ["evil.example/", "evil.example?", "evil.example#", "u@", "h:1/", "a/b", "a.s3", ""])
def test_no_part_of_an_object_leads_to_another_host_or_object(part: str) -> None:
    calls: list[Any] = [AzureLocator("c", "k", part).https]
    if part not in ("", "a.s3"):
        calls += [S3Locator("b", "k", part).https, lambda: S3Locator("b", "k", part).https(path_style=True)]
    for path_style in (False, True) if part != "a.s3" else ():
        calls += [partial(kind(part, "k").https, path_style=path_style) for kind in (S3Locator, GSLocator)]
    for call in calls:
        try:
            uri = call()
        except Unwritable:
            continue
        locator = ObjectLocator.from_https(uri)  # "?" and "#" are escaped in a path
        assert (locator.bucket, locator.key) == (part, "k")


def test_stores_have_object_locators() -> None:
    assert {name for name in SCHEMES if isinstance(URI(f"{name}://b/k").locator, ObjectLocator)} == SCHEMES
    assert AzureLocator("c").container == "c"
    locator = URI("s3://b/k").locator_as(S3Locator)
    assert replace(locator, region="eu-west-1") == locator  # which s3: URIs do not have


@pytest.mark.parametrize(
    ("text", "user", "host", "port", "path"),
    [
        ("git@h.example:joe/a.git", "git", "h.example", None, "/joe/a.git"),
        ("h.example:/srv/a.git", None, "h.example", None, "/srv/a.git"), ("h:~joe/a", None, "h", None, "/~joe/a"),
        ("git@[::1]:a", "git", "[::1]", None, "/a"), ("git@h:22/a", "git", "h", None, "/22/a"),
        ("git@h:a b%41?#", "git", "h", None, "/a%20b%2541%3F%23"), ("h:a:b", None, "h", None, "/a:b"),
        ("ssh://git@h:22/a", "git", "h", 22, "/a"), ("git+ssh://git@h/a", "git", "h", None, "/a"),
        ("a@h::b", "a", "h", None, "/:b"), ("a_b::c", None, "a_b", None, "/:c"), ("a-@-h:b", "a-", "-h", None, "/b"),
        ("git://h/a", None, "h", None, "/a"), ("HTTPS://joe@h:8443/a.git", "joe", "h", 8443, "/a.git"),
    ],
)  # fmt: skip
def test_git_urls(text: str, user: str | None, host: str, port: int | None, path: str) -> None:
    url = git_url(text)
    assert (url.user, url.host, url.port, url.path) == (user, host, port, path)
    assert git_url(str(url.uri())) == url
    assert isinstance(url, SSHLocator | GitLocator | HTTPLocator)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("C:\\a", "drive of Windows"), ("c:/a", "drive of Windows"), ("C:", "drive of Windows"), ("a/b", "no colon"),
        ("", "no colon"), ("./a:b", "slash is before"), ("/srv/a:b", "slash is before"), ("ftp://h/a", "'ftp' is not"),
        ("file:///a", "'file' is not"), ("git@h:", "expected user@host:path"), ("a b:c", "expected user@host:path"),
        ("git@[::g]:a", "expected user@host:path"), ("git@[1.2]:a", "expected user@host:path"),
        ("git@h:\ud800", "expected user@host:path"),
        *((text, "is a program") for text in ("ext::sh -c id", "h::a", "foo::ssh://h/a", "::a", "2a+b.c-d::x")),
        *((text, "begins with a hyphen") for text in (
            "-oX:a", "-u@h:a", "ssh://-oX=y/a", "ssh://%2doX/a", "ssh://-u@h/a", "git+ssh://-h/a",
            "ssh://-u:p@h/a",
        )),
    ],
)  # fmt: skip
def test_invalid_git_urls_are_rejected(text: str, reason: str) -> None:
    with pytest.raises(InvalidURI, match=reason):
        git_url(text)
    with pytest.raises(InvalidURI):
        git_url("https:///a")
