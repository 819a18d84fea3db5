"""The locator of each scheme that has one of its own, by its class: `URI.locator_as` takes them.

>>> from overthere import URI
>>> from overthere.schemes.locators import FTPLocator
>>> URI("ftp://h/pub/a.txt;type=a").locator_as(FTPLocator).directories
('pub',)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overthere.schemes.host_locator import HostLocator
    from overthere.schemes.known.about import AboutLocator
    from overthere.schemes.known.afs import AFSLocator
    from overthere.schemes.known.blob import BlobLocator
    from overthere.schemes.known.coap import CoAPLocator
    from overthere.schemes.known.data import DataLocator
    from overthere.schemes.known.did import DIDLocator
    from overthere.schemes.known.file import FileLocator
    from overthere.schemes.known.ftp import FTPLocator, FTPSLocator
    from overthere.schemes.known.geo import GeoLocator
    from overthere.schemes.known.git import GitLocator
    from overthere.schemes.known.gopher import GopherLocator
    from overthere.schemes.known.http import HTTPLocator
    from overthere.schemes.known.inner import InnerLocator, JDBCLocator, ViewSourceLocator
    from overthere.schemes.known.irc import IRCLocator
    from overthere.schemes.known.ldap import LDAPLocator
    from overthere.schemes.known.mailto import MailtoLocator
    from overthere.schemes.known.mid import CidLocator, MidLocator
    from overthere.schemes.known.mqtt import MQTTLocator
    from overthere.schemes.known.news import NewsLocator
    from overthere.schemes.known.nntp import NNTPLocator
    from overthere.schemes.known.otpauth import OTPAuthLocator
    from overthere.schemes.known.prospero import ProsperoLocator
    from overthere.schemes.known.rtsp import RTSPLocator
    from overthere.schemes.known.sip import SIPLocator
    from overthere.schemes.known.smb import SMBLocator
    from overthere.schemes.known.ssh import SFTPLocator, SSHLocator
    from overthere.schemes.known.tag import TagLocator
    from overthere.schemes.known.tel import TelLocator
    from overthere.schemes.known.telnet import TelnetLocator
    from overthere.schemes.known.urn import URNLocator
    from overthere.schemes.known.wais import WAISLocator
    from overthere.schemes.locator import GenericLocator, Locator

__all__ = [
    "AFSLocator",
    "AboutLocator",
    "BlobLocator",
    "CidLocator",
    "CoAPLocator",
    "DIDLocator",
    "DataLocator",
    "FTPLocator",
    "FTPSLocator",
    "FileLocator",
    "GenericLocator",
    "GeoLocator",
    "GitLocator",
    "GopherLocator",
    "HTTPLocator",
    "HostLocator",
    "IRCLocator",
    "InnerLocator",
    "JDBCLocator",
    "LDAPLocator",
    "Locator",
    "MQTTLocator",
    "MailtoLocator",
    "MidLocator",
    "NNTPLocator",
    "NewsLocator",
    "OTPAuthLocator",
    "ProsperoLocator",
    "RTSPLocator",
    "SFTPLocator",
    "SIPLocator",
    "SMBLocator",
    "SSHLocator",
    "TagLocator",
    "TelLocator",
    "TelnetLocator",
    "URNLocator",
    "ViewSourceLocator",
    "WAISLocator",
]

_HOMES: dict[str, tuple[str, ...]] = {
    "host_locator": ("HostLocator",),
    "known.about": ("AboutLocator",),
    "known.afs": ("AFSLocator",),
    "known.blob": ("BlobLocator",),
    "known.coap": ("CoAPLocator",),
    "known.data": ("DataLocator",),
    "known.did": ("DIDLocator",),
    "known.file": ("FileLocator",),
    "known.ftp": (
        "FTPLocator",
        "FTPSLocator",
    ),
    "known.geo": ("GeoLocator",),
    "known.git": ("GitLocator",),
    "known.gopher": ("GopherLocator",),
    "known.http": ("HTTPLocator",),
    "known.inner": (
        "InnerLocator",
        "JDBCLocator",
        "ViewSourceLocator",
    ),
    "known.irc": ("IRCLocator",),
    "known.ldap": ("LDAPLocator",),
    "known.mailto": ("MailtoLocator",),
    "known.mid": (
        "CidLocator",
        "MidLocator",
    ),
    "known.mqtt": ("MQTTLocator",),
    "known.news": ("NewsLocator",),
    "known.nntp": ("NNTPLocator",),
    "known.otpauth": ("OTPAuthLocator",),
    "known.prospero": ("ProsperoLocator",),
    "known.rtsp": ("RTSPLocator",),
    "known.sip": ("SIPLocator",),
    "known.smb": ("SMBLocator",),
    "known.ssh": (
        "SFTPLocator",
        "SSHLocator",
    ),
    "known.tag": ("TagLocator",),
    "known.tel": ("TelLocator",),
    "known.telnet": ("TelnetLocator",),
    "known.urn": ("URNLocator",),
    "known.wais": ("WAISLocator",),
    "locator": (
        "GenericLocator",
        "Locator",
    ),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"overthere.schemes.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
