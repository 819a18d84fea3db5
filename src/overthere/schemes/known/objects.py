"""s3, gs, az: objects of stores, and the https URLs of the same objects.

The URIs are those of the stores' own tools, of Hadoop and of fsspec; no document defines them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from overthere.ground.errors import CodingError, Finding, InvalidURI, Unwritable
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme, slash_for_empty_path
from overthere.values.encoding import IN_SEGMENT, decode, encode
from overthere.values.uri import URI

_S3 = "Amazon S3 User Guide, Virtual hosting of general purpose buckets"
_GS = "Cloud Storage, Request endpoints"
_AZ = "Azure Storage, Use the Azure Data Lake Storage URI"
_HOSTS = {
    "S3Locator": re.compile(
        r"(?:(?P<bucket>.+)\.)?s3(?:[.-](?:dualstack\.)?(?P<region>[a-z]{2}(?:-[a-z]+)+-[0-9]))?\.amazonaws\.com(?:\.cn)?"
    ),
    "GSLocator": re.compile(r"(?:(?P<bucket>.+)\.)?storage\.googleapis\.com"),
    "AzureLocator": re.compile(r"(?P<account>[a-z0-9]+)\.(?:blob|dfs)\.core\.windows\.net"),
}
"""The hosts of https URLs, in lower case, by the class of the locator; each group is one of its fields."""
_UNESCAPED = f"{IN_SEGMENT}/".replace("+", "")
_AZURE = ".dfs.core.windows.net"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ObjectLocator(Locator):
    """The object of a store: an `S3Locator`, `GSLocator` or `AzureLocator`, which `from_https` finds by the host.

    >>> from overthere.schemes.locators import ObjectLocator
    >>> ObjectLocator.from_https("https://storage.googleapis.com/bucket/a%20b.txt?X-Goog-Signature=c")
    GSLocator(bucket='bucket', key='a b.txt')
    """

    bucket: str = ""
    """The bucket, in Azure the container; as written."""
    key: str = ""
    """The name of the object, decoded, without the slash before it; "" for the bucket itself."""
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"bucket", "account", "region"}

    @classmethod
    def split(cls, parts: Given) -> Self:
        if not parts.host or parts.user is not None or parts.port is not None:
            raise parts.refuse(parts.path if parts.host is None else None, '"//" and a bucket', "bucket", _S3)
        return cls(parts.host, parts.decode(parts.path or ""), **parts.rest())

    def join(self, to: Writer) -> str:
        return f"//{self.bucket}/{to.text(self.key, f'{IN_SEGMENT}/')}"

    @classmethod
    def from_https(cls, uri: URI | str) -> Self:
        """The object that an https or http URL of a store names; without query and fragment, such as a signature.

        Raises: InvalidURI if it is not the URL of an object or a bucket, or not of this class; CodingError for a key
        that is not UTF-8.

        >>> from overthere.schemes.locators import AzureLocator, S3Locator
        >>> S3Locator.from_https("https://bucket.s3.eu-west-1.amazonaws.com/a/b.txt")
        S3Locator(bucket='bucket', key='a/b.txt', region='eu-west-1')
        >>> AzureLocator.from_https("https://account.blob.core.windows.net/container/a.txt").uri()
        URI('abfss://container@account.dfs.core.windows.net/a.txt')
        """
        parsed = URI(uri)
        is_web = parsed.scheme.lower() in ("http", "https") and parsed.userinfo is None
        if is_web and parsed.effective_port in (80, 443):
            for kind in (S3Locator, GSLocator, AzureLocator):
                locator = kind._from_host((parsed.host or "").lower(), decode(parsed.path.removeprefix("/")))
                if isinstance(locator, cls) and locator.bucket:
                    return locator
        end = len(parsed.scheme) + (0 if parsed.authority is None else len(f"://{parsed.authority}"))
        message = "not the https URL of an object: the host is not that of a store, or there is no bucket"
        raise InvalidURI(str(parsed), Finding("scheme-syntax", 0, end, "authority", "authority", "", _S3, message))

    @classmethod
    def _from_host(cls, host: str, path: str) -> ObjectLocator | None:
        """Return the object of a lower-case host and a decoded path; the bucket is "" if it is missing."""
        if (match := _HOSTS[cls.__name__].fullmatch(host)) is None:
            return None
        named: dict[str, Any] = match.groupdict()
        before = named.pop("bucket", None)
        bucket, _, key = (path if before is None else f"{before}/{path}").partition("/")
        return cls(bucket, key, **named)

    def _https(self, host: str, path_style: bool) -> URI:
        """Return the https URL, which is read back as the same object.

        Raises: Unwritable for a key, a bucket, a region or an account that it cannot have.
        """
        path = f"{self.bucket}/{self.key}" if path_style else self.key
        if not {".", ".."}.isdisjoint(path.split("/")):  # escaped or not (RFC 3986 6.2.2.3)
            raise Unwritable('an https URL loses a segment "." or ".." of a key')
        before = "" if path_style else f"{self.bucket}."
        try:  # servers may decode a "+" to a space
            uri = URI(f"https://{before}{host}/{encode(path, 'path', keep=_UNESCAPED)}")
            back = self.from_https(uri)
        except (CodingError, InvalidURI) as error:
            raise Unwritable(f"an https URL cannot express this: {error}") from None
        if (back.bucket, back.key) != (self.bucket, self.key):
            raise Unwritable(f"an https URL cannot express this: {uri} is of the bucket {back.bucket!r}")
        return uri


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class S3Locator(ObjectLocator):
    """Bucket and key of an object of Amazon S3.

    >>> from overthere import URI
    >>> URI("s3://bucket/a%20b/c.txt").locator
    S3Locator(bucket='bucket', key='a b/c.txt')
    """

    region: str | None = field(default=None, compare=False)
    """The region in the https URL; an s3: URI does not have it."""
    scheme: str = field(default="s3", kw_only=True)

    def https(self, *, path_style: bool | None = None) -> URI:
        """The https URL of the object, in its `region`, or without one in that of the bucket.

        path_style: whether the bucket begins the path; None: only if the certificate or the case of a host does not
        allow it there: a bucket with a "." or a capital.

        Raises: Unwritable for parts that the URL cannot have, such as a segment "." in the key.

        >>> from overthere.schemes.locators import S3Locator
        >>> S3Locator("bucket", "a b.txt", "eu-west-1").https()
        URI('https://bucket.s3.eu-west-1.amazonaws.com/a%20b.txt')
        >>> S3Locator("bucket", "a.txt", "eu-west-1").https(path_style=True)
        URI('https://s3.eu-west-1.amazonaws.com/bucket/a.txt')
        """
        region = "" if self.region is None else f".{self.region}"
        china = ".cn" if region.startswith(".cn-") else ""
        in_path = "." in self.bucket or self.bucket != self.bucket.lower() if path_style is None else path_style
        return self._https(f"s3{region}.amazonaws.com{china}", in_path)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GSLocator(ObjectLocator):
    """Bucket and key of an object of Google Cloud Storage.

    >>> from overthere import URI
    >>> URI("gs://bucket/a%20b/c.txt").locator
    GSLocator(bucket='bucket', key='a b/c.txt')
    """

    scheme: str = field(default="gs", kw_only=True)

    def https(self, *, path_style: bool = True) -> URI:
        """The https URL of the object.

        path_style: whether the bucket begins the path; otherwise it begins the host.

        Raises: Unwritable for parts that the URL cannot have, such as a segment "." in the key.

        >>> from overthere.schemes.locators import GSLocator
        >>> GSLocator("bucket", "a.txt").https(), GSLocator("bucket", "a.txt").https(path_style=False)
        (URI('https://storage.googleapis.com/bucket/a.txt'), URI('https://bucket.storage.googleapis.com/a.txt'))
        """
        return self._https("storage.googleapis.com", path_style)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class AzureLocator(ObjectLocator):
    """Container (`bucket`), key and account of an object of Azure Storage.

    >>> from overthere import URI
    >>> URI("abfss://container@account.dfs.core.windows.net/a.txt").locator
    AzureLocator(bucket='container', key='a.txt', account='account')
    >>> URI("az://container/a.txt").locator
    AzureLocator(bucket='container', key='a.txt')
    """

    account: str | None = None
    """The account; None if it is that of the environment.  An az: URI does not have it."""
    scheme: str = field(default="abfss", kw_only=True)

    @property
    def container(self) -> str:
        """The container: `bucket` by the name that Azure has for it."""
        return self.bucket

    @classmethod
    def split(cls, parts: Given) -> Self:
        host = parts.host or ""
        if parts.user is None or parts.scheme == "az":
            return super(AzureLocator, cls).split(parts)
        is_account = (
            host.lower().endswith(_AZURE) and host.lower() != _AZURE and parts.password is None and parts.port is None
        )
        if not (parts.user and is_account):
            raise parts.refuse(host, f'"//", a container, "@", an account and "{_AZURE}"', "authority", _AZ)
        return cls(parts.user, parts.decode(parts.path or ""), host[: -len(_AZURE)], **parts.rest())

    def join(self, to: Writer) -> str:
        if self.account is None:
            return super(AzureLocator, self).join(to)
        return f"//{self.bucket}@{self.account}{_AZURE}/{to.text(self.key, f'{IN_SEGMENT}/')}"

    def https(self, *, service: str = "blob") -> URI:
        """The https URL of the object.

        service: "blob", or "dfs" for that of Data Lake Storage.

        Raises: Unwritable without an account, and for parts that the URL cannot have, such as a segment "." in the key;
        ValueError for another service.

        >>> from overthere.schemes.locators import AzureLocator
        >>> AzureLocator("container", "a.txt", "account").https(service="dfs")
        URI('https://account.dfs.core.windows.net/container/a.txt')
        """
        if service not in ("blob", "dfs"):
            raise ValueError(f'service is "blob" or "dfs", not {service!r}')
        if not self.account:
            raise Unwritable("the https URL needs an account: dataclasses.replace(locator, account=...)")
        return self._https(f"{self.account}.{service}.core.windows.net", True)


def _scheme(name: str, title: str, kind: type[ObjectLocator], document: str, *examples: str) -> Scheme:
    authority = 'bucket [ "@" 1*( ALPHA / DIGIT ) ".dfs.core.windows.net" ]' if name.startswith("abfs") else "bucket"
    facts: dict[str, Any] = {} if name.startswith("abfs") else {"no_userinfo": document}
    return Scheme(
        name=name,
        title=title,
        documents={"rfc3986": document},
        locator=kind,
        syntax=f'{name}-uri = "{name}:" "//" {authority} path-abempty\n'
        'bucket = ( ALPHA / DIGIT ) *( ALPHA / DIGIT / "-" / "." / "_" )',
        rules={"rfc3986": (f"{name}-uri",)},
        needs_host=True,
        hierarchical=True,
        unspoken="an object takes the API of its store; links and tables read it with the extra stores",
        normal=(slash_for_empty_path("RFC 3986 6.2.3"),),
        examples=tuple(Example(text, "of our own") for text in examples),
        notes=("IANA does not list the name; the URIs are those of the vendor's tools and of fsspec.",),
        **facts,
    )


S3 = _scheme("s3", "Objects of Amazon S3", S3Locator, _S3, "s3://bucket/folder/a%20b.txt", "s3://bucket")
S3A = _scheme("s3a", "Objects of Amazon S3, as Hadoop names them", S3Locator, _S3, "s3a://bucket/folder/a.txt")
GS = _scheme("gs", "Objects of Google Cloud Storage", GSLocator, _GS, "gs://bucket/folder/a.txt")
AZ = _scheme("az", "Objects of Azure Storage", AzureLocator, _AZ, "az://container/folder/a.txt")
_ABFS = "abfs://container@account.dfs.core.windows.net/folder/a.txt"
ABFS = _scheme("abfs", "Objects of Azure Data Lake Storage", AzureLocator, _AZ, _ABFS)
ABFSS = _scheme("abfss", "Objects of Azure Data Lake Storage by TLS", AzureLocator, _AZ, _ABFS.replace(":", "s:"))
