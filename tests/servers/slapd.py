"""slapd: a small tree of entries with a referral and a binary value; over TLS too."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from servers import DROP, NET, free_port, give_to_nobody, need, running, wait_for

PHOTO = b"\xff\xd8\xff\xe0" + bytes(range(256))
KEY = b"\x00plain\x01"
"""Valid UTF-8 that is not readable text."""

CONFIG = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
pidfile {folder}/pid
argsfile {folder}/args
TLSCertificateFile {folder}/certificate.pem
TLSCertificateKeyFile {folder}/key.pem
modulepath /usr/lib/ldap
moduleload back_mdb
referral ldap://root.example.test/
database mdb
suffix "c=GB"
rootdn "cn=admin,c=GB"
rootpw secret
directory {folder}/db
maxsize 10485760
limits dn.exact="cn=few,c=GB" size=1
access to dn.subtree="ou=Closed,c=GB" by users read by * none
access to attrs=userPassword by anonymous auth by * none
access to * by * read
"""

TREE = f"""\
dn: c=GB
objectClass: country
c: GB

dn: o=Example,c=GB
objectClass: organization
o: Example

dn: cn=few,c=GB
objectClass: person
cn: few
sn: Few
userPassword: pass

dn: cn=Zo\u00eb O'Neill + sn=a\\,b?c#d/e,o=Example,c=GB
objectClass: inetOrgPerson
cn: Zo\u00eb O'Neill
cn: \u4e2d\u6587
sn: a,b?c#d/e
jpegPhoto:: {base64.b64encode(PHOTO).decode()}
description: two
 \u0020lines
userPassword:: {base64.b64encode(KEY).decode()}

dn: ou=Elsewhere,c=GB
objectClass: referral
objectClass: extensibleObject
ou: Elsewhere
ref: ldap://127.0.0.1:{{other}}/o=Example,c=GB

dn: ou=Closed,c=GB
objectClass: organizationalUnit
ou: Closed
"""


class Slapd(NamedTuple):
    """The port of the server, and its log."""

    port: int
    tls: int
    certificate: Path
    log: Path

    @property
    def uri(self) -> str:
        return f"ldap://127.0.0.1:{self.port}"


def _certificate(folder: Path) -> None:
    """A self-signed certificate for localhost and its address."""
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    options = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem"), "-days", "2"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *options, *names]
    subprocess.run(command, check=True, capture_output=True, timeout=NET)


@contextmanager
def slapd(folder: Path, other: int | None = None) -> Iterator[Slapd]:
    """other: the port of the referral; by default its own."""
    need("slapd", "slapadd", "openssl")
    port, tls = free_port(), free_port()
    (folder / "db").mkdir(parents=True)
    (folder / "slapd.conf").write_text(CONFIG.format(folder=folder))
    (folder / "tree.ldif").write_text(TREE.format(other=other or port), "utf-8")
    log = folder / "log"
    _certificate(folder)
    log.touch()
    give_to_nobody(folder)
    config = ["-f", str(folder / "slapd.conf")]
    command = [*DROP, "/usr/sbin/slapadd", *config, "-l", str(folder / "tree.ldif")]
    subprocess.run(command, check=True, capture_output=True, timeout=NET)
    urls = f"ldap://127.0.0.1:{port}/ ldaps://127.0.0.1:{tls}/"
    # 256: log requests and answers.
    with running([*DROP, "/usr/sbin/slapd", *config, "-h", urls, "-d", "256"], port, log):
        wait_for(tls)
        yield Slapd(port, tls, folder / "certificate.pem", log)
