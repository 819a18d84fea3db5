# Written by `make docs` out of `_HOMES` in the module beside it.
from overthere.schemes.host_locator import HostLocator as HostLocator
from overthere.schemes.known.about import AboutLocator as AboutLocator
from overthere.schemes.known.afs import AFSLocator as AFSLocator
from overthere.schemes.known.blob import BlobLocator as BlobLocator
from overthere.schemes.known.coap import CoAPLocator as CoAPLocator
from overthere.schemes.known.data import DataLocator as DataLocator
from overthere.schemes.known.did import DIDLocator as DIDLocator
from overthere.schemes.known.file import FileLocator as FileLocator
from overthere.schemes.known.ftp import FTPLocator as FTPLocator
from overthere.schemes.known.ftp import FTPSLocator as FTPSLocator
from overthere.schemes.known.geo import GeoLocator as GeoLocator
from overthere.schemes.known.git import GitLocator as GitLocator
from overthere.schemes.known.gopher import GopherLocator as GopherLocator
from overthere.schemes.known.http import HTTPLocator as HTTPLocator
from overthere.schemes.known.inner import InnerLocator as InnerLocator
from overthere.schemes.known.inner import JDBCLocator as JDBCLocator
from overthere.schemes.known.inner import ViewSourceLocator as ViewSourceLocator
from overthere.schemes.known.irc import IRCLocator as IRCLocator
from overthere.schemes.known.ldap import LDAPLocator as LDAPLocator
from overthere.schemes.known.mailto import MailtoLocator as MailtoLocator
from overthere.schemes.known.mid import CidLocator as CidLocator
from overthere.schemes.known.mid import MidLocator as MidLocator
from overthere.schemes.known.mqtt import MQTTLocator as MQTTLocator
from overthere.schemes.known.news import NewsLocator as NewsLocator
from overthere.schemes.known.nntp import NNTPLocator as NNTPLocator
from overthere.schemes.known.objects import AzureLocator as AzureLocator
from overthere.schemes.known.objects import GSLocator as GSLocator
from overthere.schemes.known.objects import ObjectLocator as ObjectLocator
from overthere.schemes.known.objects import S3Locator as S3Locator
from overthere.schemes.known.otpauth import OTPAuthLocator as OTPAuthLocator
from overthere.schemes.known.prospero import ProsperoLocator as ProsperoLocator
from overthere.schemes.known.rtsp import RTSPLocator as RTSPLocator
from overthere.schemes.known.sip import SIPLocator as SIPLocator
from overthere.schemes.known.smb import SMBLocator as SMBLocator
from overthere.schemes.known.ssh import SFTPLocator as SFTPLocator
from overthere.schemes.known.ssh import SSHLocator as SSHLocator
from overthere.schemes.known.tag import TagLocator as TagLocator
from overthere.schemes.known.tel import TelLocator as TelLocator
from overthere.schemes.known.telnet import TelnetLocator as TelnetLocator
from overthere.schemes.known.urn import URNLocator as URNLocator
from overthere.schemes.known.wais import WAISLocator as WAISLocator
from overthere.schemes.locator import GenericLocator as GenericLocator
from overthere.schemes.locator import Locator as Locator

__all__ = [
    "AFSLocator",
    "AboutLocator",
    "AzureLocator",
    "BlobLocator",
    "CidLocator",
    "CoAPLocator",
    "DIDLocator",
    "DataLocator",
    "FTPLocator",
    "FTPSLocator",
    "FileLocator",
    "GSLocator",
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
    "ObjectLocator",
    "ProsperoLocator",
    "RTSPLocator",
    "S3Locator",
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
