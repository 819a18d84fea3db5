"""Object stores with the S3 protocol: moto in this process, and Ceph's radosgw, which checks signatures."""

from __future__ import annotations

import base64
import logging
import os
import struct
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from servers import DROP, free_port, give_to_nobody, need, running, wait_until

KEY, SECRET, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI-EXAMPLEKEY", "us-east-1"


@dataclass(frozen=True)
class Store:
    """A running S3 server. The bucket is part of the path, as obstore sends it by default."""

    endpoint: str

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables for obstore and AWS clients."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ALLOW_HTTP": "true",
        }

    def through(self, endpoint: str) -> Store:
        """The same server behind a proxy."""
        return replace(self, endpoint=endpoint)

    @property
    def client(self) -> Any:
        """boto3's client of S3, independent of the environment."""
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name=REGION,
            config=Config(s3={"addressing_style": "path"}, proxies={}, retries={"total_max_attempts": 1}),
        )

    def make_bucket(self, name: str) -> None:
        self.client.create_bucket(Bucket=name)

    def put(self, bucket: str, key: str, data: bytes) -> str:
        """Write an object; return its ETag, with quotation marks."""
        answer: dict[str, str] = self.client.put_object(Bucket=bucket, Key=key, Body=data)
        return answer["ETag"]

    def get(self, bucket: str, key: str) -> bytes:
        data: bytes = self.client.get_object(Bucket=bucket, Key=key)["Body"].read()
        return data

    def keys(self, bucket: str) -> list[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket)
        return [entry["Key"] for page in pages for entry in page.get("Contents", ())]


@contextmanager
def moto_server() -> Iterator[Store]:
    """moto's server in this process, empty.

    It checks no signature, but answers 403 to unsigned requests. Only one at a time: its objects belong to the process.
    """
    pytest.importorskip("moto.server", reason="moto is not installed")
    from moto.s3.models import s3_backends
    from moto.server import ThreadedMotoServer

    logger = logging.getLogger("werkzeug")
    level = logger.level
    logger.setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        yield Store("http://{}:{}".format(*server.get_host_and_port()))
    finally:
        server.stop()
        if server._server is not None:
            server._server.server_close()
        s3_backends.reset()
        logger.setLevel(level)


def fill(bucket: str, keys: Sequence[str], data: bytes = b"") -> None:
    """Create objects in moto's server without requests."""
    from moto.core.models import DEFAULT_ACCOUNT_ID
    from moto.s3.models import s3_backends

    backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    for key in keys:
        backend.put_object(bucket, key, data)


_CEPH = """\
[global]
fsid = {fsid}
mon host = v2:127.0.0.1:{monitor}
public network = 127.0.0.0/8
ms bind ipv6 = false
ms bind msgr1 = false
ms mon client mode = crc
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
paxos propose interval = 0.05
paxos min wait = 0.02
run dir = {folder}
keyring = {folder}/keyring
log file = {folder}/$name.log
admin socket =
pid file =
[mon.a]
mon data = {folder}/mon
mon data avail warn = 1
mon data avail crit = 0
[osd.0]
osd data = {folder}/osd
osd objectstore = memstore
memstore device bytes = 268435456
osd class load list = *
osd class default list = *
[client.rgw.a]
rgw data = {folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:{port} tcp_nodelay=1
rgw enable usage log = false
rgw enable gc threads = false
rgw enable lc threads = false
rgw run sync thread = false
rgw thread pool size = 16
"""


@contextmanager
def radosgw_server(folder: Path) -> Iterator[Store]:
    """Ceph's radosgw with a monitor and an in-memory store in a folder; without a manager.

    It checks signatures. Raises: ChildProcessError with the end of the log of the program that failed.
    """
    need("radosgw", "ceph-mon", "ceph-osd", "ceph", "monmaptool", "radosgw-admin")
    monitor, port, fsid = free_port(), free_port(), str(uuid.uuid4())
    for name in ("mon", "osd", "rgw"):
        (folder / name).mkdir(parents=True)
    configuration = folder / "ceph.conf"
    configuration.write_text(_CEPH.format(folder=folder, fsid=fsid, monitor=monitor, port=port))
    # The monitor needs a key, though no client uses it: 16 bytes after type, time and length.
    key = base64.b64encode(struct.pack("<hIIh", 1, int(time.time()), 0, 16) + os.urandom(16)).decode()
    (folder / "keyring").write_text(f"[mon.]\n    key = {key}\n")
    give_to_nobody(folder)

    def run(*command: str) -> str:
        parts = [*DROP, command[0], "-c", str(configuration), *command[1:]]
        work = subprocess.run(parts, capture_output=True, text=True, check=False, cwd=folder, timeout=300)
        if work.returncode:
            raise ChildProcessError(f"{command[0]} {command[1:3]}: {work.stdout[-1000:]}{work.stderr[-1000:]}")
        return work.stdout

    def daemon(program: str, *options: str) -> list[str | Path]:
        return [*DROP, program, "-c", configuration, "-f", *options]

    place = f"[v2:127.0.0.1:{monitor}]"
    run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", place, str(folder / "monmap"))
    keyring = str(folder / "keyring")
    run("ceph-mon", "-i", "a", "--mkfs", "--monmap", str(folder / "monmap"), "--keyring", keyring)
    osd = str(uuid.uuid4())
    with ExitStack() as stack:
        stack.enter_context(running(daemon("ceph-mon", "-i", "a"), monitor, folder / "mon.out"))
        run("ceph", "--connect-timeout", "120", "osd", "new", osd, "0")
        run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        stack.enter_context(running(daemon("ceph-osd", "-i", "0"), monitor, folder / "osd.out"))
        wait_until(lambda: "1 up" in run("ceph", "--connect-timeout", "120", "osd", "stat"), "the OSD is not up")
        user = ("user", "create", "--uid=joe", "--display-name=Joe", f"--access-key={KEY}", f"--secret-key={SECRET}")
        run("radosgw-admin", "-n", "client.rgw.a", *user)
        stack.enter_context(running(daemon("radosgw", "-n", "client.rgw.a"), port, folder / "rgw.out"))
        yield Store(f"http://127.0.0.1:{port}")
