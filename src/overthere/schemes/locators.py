"""The locator of each scheme that has one of its own, by its class: `URI.locator_as` takes them.

>>> from overthere import URI
>>> from overthere.schemes.locators import FTPLocator
>>> URI("ftp://h/pub/a.txt;type=a").locator_as(FTPLocator).directories
('pub',)
"""

from __future__ import annotations

from overthere import lazy_names

_HOMES = {
    "AFSLocator": "known.afs", "AboutLocator": "known.about", "AzureLocator": "known.objects",
    "BlobLocator": "known.blob", "CidLocator": "known.mid", "CoAPLocator": "known.coap", "DIDLocator": "known.did",
    "DataLocator": "known.data", "FTPLocator": "known.ftp", "FTPSLocator": "known.ftp", "FileLocator": "known.file",
    "GSLocator": "known.objects", "GenericLocator": "locator", "GeoLocator": "known.geo", "GitLocator": "known.git",
    "GopherLocator": "known.gopher", "HTTPLocator": "known.http", "HostLocator": "host_locator",
    "IRCLocator": "known.irc", "InnerLocator": "known.inner", "JDBCLocator": "known.inner",
    "LDAPLocator": "known.ldap", "Locator": "locator", "MQTTLocator": "known.mqtt", "MailtoLocator": "known.mailto",
    "MidLocator": "known.mid", "NNTPLocator": "known.nntp", "NewsLocator": "known.news",
    "OTPAuthLocator": "known.otpauth", "ObjectLocator": "known.objects", "ProsperoLocator": "known.prospero",
    "RTSPLocator": "known.rtsp", "S3Locator": "known.objects", "SFTPLocator": "known.ssh", "SIPLocator": "known.sip",
    "SMBLocator": "known.smb", "SSHLocator": "known.ssh", "TagLocator": "known.tag", "TelLocator": "known.tel",
    "TelnetLocator": "known.telnet", "URNLocator": "known.urn", "ViewSourceLocator": "known.inner",
    "WAISLocator": "known.wais",
}  # fmt: skip
"""Each class, and the module of `overthere.schemes` that has it.  Type checkers read `locators.pyi`, which
tools/generate.py writes."""

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy_names(__name__, _HOMES, "overthere.schemes")
