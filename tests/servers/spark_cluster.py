"""A Spark cluster: a master and two workers."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers import NET, wait_until


@contextmanager
def spark_cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A master and two workers with one core each, on loopback: the master's URL, and the workers."""
    import pyspark

    started: list[subprocess.Popen[bytes]] = []
    home = Path(pyspark.__file__).parent
    # The memory of daemons is SPARK_DAEMON_MEMORY; no other configuration applies.
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m", "SPARK_HOME": str(home)}
    environment["SPARK_MASTER_OPTS"] = "-Dspark.master.rest.enabled=false"

    def start(name: str, log: Path, *options: str) -> None:
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1"]
        with log.open("wb") as file:
            started.append(
                subprocess.Popen(
                    [*command, "--port", "0", "--webui-port", "0", *options],
                    stdout=file, stderr=file, stdin=subprocess.DEVNULL, env=environment,
                )
            )  # fmt: skip

    def find_in_log(log: Path, text: str) -> re.Match[str] | None:
        return re.search(text, log.read_text(errors="replace"))

    try:
        log = tmp_path / "master.log"
        start("master.Master", log)
        url = wait_until(
            lambda: find_in_log(log, r"Starting Spark master at (spark://127\.0\.0\.1:\d+)"),
            "the cluster is not so far",
            5 * NET,
        )[1]
        logs = [tmp_path / f"worker{n}.log" for n in range(2)]
        for n, log in enumerate(logs):
            start("worker.Worker", log, "--cores", "1", "--memory", "512m", "--work-dir", str(tmp_path / f"w{n}"), url)
        wait_until(
            lambda: all(find_in_log(log, "Successfully registered with master") for log in logs),
            "the cluster is not so far",
            5 * NET,
        )
        yield url, started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()
