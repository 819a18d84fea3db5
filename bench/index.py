"""All links of one domain in a crawl, by its indexes: octets and requests, rows, seconds of the processor.

The crawl is that of `crawl.py`; its CDXJ and its columnar index are made here.  It is in moto's S3 server in a separate
process, behind a proxy that counts.

python bench/index.py [--size MB] [--times N]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crawl import crawl
from overthere import URI
from overthere.links.containers.page_reader import Record
from overthere.links.containers.records import records

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
from servers.s3 import moto_server
from servers.store_faults import FaultProxy

NAME = "crawl-data/crawl.warc.gz"


def entries(path: Path) -> Iterator[dict[str, Any]]:
    """The fields of an index for each response."""
    with path.open("rb") as file:
        found_records = [record for record in records(file, 1 << 12) if isinstance(record, Record)]
        places = [int(record.at) for record in found_records] + [path.stat().st_size]
    for number, record in enumerate(found_records):
        fields = dict(line.split(": ", 1) for line in record.header.decode().split("\r\n") if ": " in line)
        if fields.get("WARC-Type") == "response":
            uri = fields["WARC-Target-URI"]
            digest = fields.get("WARC-Payload-Digest", "").rpartition(":")[2]
            yield {
                "url": uri, "mime": "text/html", "mime-detected": "text/html", "status": "200", "digest": digest,
                "length": str(places[number + 1] - places[number]), "offset": record.at, "filename": NAME,
            }  # fmt: skip


def surt(uri: str) -> str:
    parsed = URI(uri)
    return f"{','.join(reversed((parsed.host or '').split('.')))}){parsed.path}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=40, help="MB of the crawl (40)")
    parser.add_argument("--times", type=int, default=4, help="how often it is in the file (4)")
    options = parser.parse_args()
    about = crawl(options.size * 1_000_000, options.times)
    rows = sorted(entries(Path(about.path)), key=lambda entry: surt(entry["url"]))
    hosts = Counter(URI(row["url"]).host for row in rows).most_common()
    host = hosts[len(hosts) // 2][0] or ""
    print(json.dumps({"crawl": os.path.getsize(about.path), "records": len(rows), "hosts": len(hosts), "domain": host}))
    with TemporaryDirectory() as folder, moto_server() as store, FaultProxy(store.endpoint) as proxy:
        cdxj, columnar = Path(folder, "index.cdxj"), Path(folder, "index.parquet")
        cdxj.write_text("".join(f"{surt(row['url'])} 20260101000000 {json.dumps(row)}\n" for row in rows))
        columns = {
            "url_surtkey": [surt(row["url"]) for row in rows], "url": [row["url"] for row in rows],
            "url_host_name": [URI(row["url"]).host for row in rows],
            "content_mime_type": [row["mime"] for row in rows],
            "content_mime_detected": [row["mime-detected"] for row in rows],
            "fetch_status": pa.array([200] * len(rows), pa.int16()), "content_digest": [row["digest"] for row in rows],
            "warc_filename": [NAME] * len(rows),
            "warc_record_offset": pa.array([int(row["offset"]) for row in rows], pa.int64()),
            "warc_record_length": pa.array([int(row["length"]) for row in rows], pa.int64()),
        }  # fmt: skip
        pq.write_table(pa.table(columns), columnar, row_group_size=1000)
        store.make_bucket("crawl")
        for key, path in ((NAME, Path(about.path)), (cdxj.name, cdxj), (columnar.name, columnar)):
            store.put("crawl", key, path.read_bytes())
        environment = os.environ | store.through(proxy.endpoint).environment
        for name, size in ((cdxj.name, cdxj.stat().st_size), (columnar.name, columnar.stat().st_size)):
            for where in ((f"domain={host}",), ()):
                output = Path(folder, "links.parquet")
                conditions = [word for condition in where for word in ("--where", condition)]
                order = [sys.executable, "-m", "overthere", "links", "--index", f"s3://crawl/{name}", *conditions]
                before, number = resource.getrusage(resource.RUSAGE_CHILDREN), len(proxy.seen)
                subprocess.run([*order, "-o", output], env=environment, check=False, capture_output=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                seen = proxy.seen[number:]
                print(json.dumps({
                    "index": name, "octets": size, "where": " ".join(where), "rows": pq.read_metadata(output).num_rows,
                    "requests": len(seen), "received": sum(entry.octets for entry in seen),
                    "seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
                }), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
