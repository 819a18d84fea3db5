"""A crawl gives the same rows by five ways: local files, a store, ranges by an index, Spark on files and on a store."""

from __future__ import annotations

import functools
import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="pyspark is absent")
pytest.importorskip("obstore", reason="obstore is not installed")
pytest.importorskip("moto", reason="moto is not installed")

from crawls import make_crawl, strip
from overthere.access.policy import Policy
from overthere.files.stores.opening import store_of
from overthere.links import extract
from overthere.links.job.ranged_sources import Index
from overthere.links.model import Link
from range_server import RangeHandler
from servers import NET, wait_until
from servers.s3 import moto_server
from servers.spark_cluster import spark_cluster

LOCAL_POLICY = Policy.local()
# The executors run on this machine, with little memory.
CONFIG = {
    "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m",
    "spark.log.level": "ERROR", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
}  # fmt: skip
SMALLER = (
    "from overthere.links.job import part_files; part_files.MIN_PART_BYTES = 30_000; "
    "from overthere.cli import main; main()"
)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    with spark_cluster(tmp_path) as running:
        yield running


def test_five_ways_give_the_same_rows(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, workers = cluster
    crawl = make_crawl(tmp_path / "crawl", files=12, pages=120)
    expected = strip(list(extract([crawl.folder / name for name in crawl.files])))
    with moto_server() as store:
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        store_of.cache_clear()
        store.make_bucket("crawl")
        for name in crawl.files:
            store.put("crawl", name, crawl.octets(name))
        assert strip(list(extract("s3://crawl/crawl-data/", policy=LOCAL_POLICY, workers=2))) == expected

        with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(RangeHandler, crawl.folder)) as server:
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            index = Index(crawl.folder / "index.cdxj", (), f"http://127.0.0.1:{server.server_address[1]}/")
            assert strip(list(extract(index, policy=LOCAL_POLICY))) == expected
            server.shutdown()

        configured = tmp_path / "conf"
        configured.mkdir()
        config = CONFIG | {f"spark.executorEnv.{name}": value for name, value in store.environment.items()}
        (configured / "spark-defaults.conf").write_text("".join(f"{name} {text}\n" for name, text in config.items()))
        environment = {
            **os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_CONF_DIR": str(configured),
            "SPARK_LOCAL_IP": "127.0.0.1", "COLUMNS": "100",
        }  # fmt: skip

        def run(source: str, output: str, *, kill: bool = False) -> None:
            order = [sys.executable, "-c", SMALLER, "links", source, "-o", output, "--engine", "spark", "--master", url]
            with subprocess.Popen(order, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as running:
                try:
                    if kill:
                        wait_until(
                            lambda: any("task=" in key for key in store.keys("crawl")) or running.poll() is not None,
                            "no part was put",
                            5 * NET,
                        )
                        workers[0].kill()
                    _, error = running.communicate(timeout=10 * NET)
                finally:
                    running.kill()
            assert running.returncode == 0, error.decode(errors="replace")

        run(f"{crawl.folder}/crawl-data", f"{tmp_path}/files/")
        files = sorted((tmp_path / "files").glob("task=*/*.parquet"))
        assert strip([row for file in files for row in links(file.read_bytes())]) == expected

        run("s3://crawl/crawl-data/", "s3://crawl/links/", kill=True)
        keys = store.keys("crawl")
        parts = [key for key in keys if key.startswith("links/task=")]
        assert len(parts) > 6
        assert "links/_SUCCESS" in keys
        assert strip([row for key in parts for row in links(store.get("crawl", key))]) == expected

        run("s3://crawl/crawl-data/", "s3://crawl/links/")
        assert store.keys("crawl") == keys, "each part is there, and stays"
    store_of.cache_clear()


def links(octets: bytes) -> list[Link]:
    table = pq.read_table(io.BytesIO(octets))
    return [Link._make(row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]
