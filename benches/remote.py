"""Ingests a gigabyte of WAT and of Parquet from S3 on loopback and from local files: processor time and peak memory.

    python3 benches/remote.py SEEDBANK [MEGABYTES]

SEEDBANK is built with the feature `remote`. The server is moto's: `pip install 'moto[server]' pyarrow`. Each file is read
three times from each place, in turn, by `ingest --dry-run --snapshot --memory 512M --threads 2`; the medians are printed.
"""

import gzip
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

SEEDBANK = os.path.abspath(sys.argv[1])
MEGABYTES = int(sys.argv[2]) if len(sys.argv) > 2 else 1000


def record(kind, content_type, block):
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Date: 2024-05-31T01:17:49Z\r\n"
        "WARC-Record-ID: <urn:uuid:3d3f4785-c69a-4f8c-968c-d23302c55ef4>\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def pages(dice):
    """Pages of 4,000 sites with 20 to 110 links."""
    number = 0
    while True:
        site = dice.randrange(4000)
        links = [
            f"https://site{dice.randrange(4000)}.example/a/page-{dice.randrange(40)}.html" for _ in range(dice.randrange(20, 110))
        ]
        yield f"https://site{site}.example/a/page-{number}.html", links
        number += 1


def capture(url, links):
    """The metadata of a capture in the layout of Common Crawl, as a gzip member."""
    envelope = {
        "Container": {"Filename": "a.warc.gz", "Compressed": True, "Offset": "80610731"},
        "Envelope": {
            "Format": "WARC/1.0",
            "WARC-Header-Length": "598",
            "WARC-Header-Metadata": {
                "WARC-Type": "response",
                "WARC-Date": "2024-05-18T01:58:10Z",
                "Content-Length": "24707",
                "Content-Type": "application/http; msgtype=response",
                "WARC-Target-URI": url,
            },
            "Payload-Metadata": {
                "Actual-Content-Type": "application/http; msgtype=response",
                "HTTP-Response-Metadata": {
                    "Response-Message": {"Status": "200", "Version": "HTTP/1.1", "Reason": "OK"},
                    "Headers": {"Content-Type": "text/html", "Server": "nginx", "Cache-Control": "no-store, max-age=0"},
                    "HTML-Metadata": {
                        "Head": {"Title": "a page", "Metas": [{"name": "viewport", "content": "width=device-width"}]},
                        "Links": [{"path": "A@/href", "url": link, "text": "the text of a link"} for link in links],
                    },
                },
            },
        },
    }
    return record("metadata", "application/json", json.dumps(envelope).encode())


def wat():
    """A file of so many megabytes of text."""
    made = 0
    with open("crawl.warc.wat.gz", "wb") as out:
        about = b"Software-Info: ia-web-commons.1.1.10\r\nformat: WARC File Format 1.0\r\n\r\n"
        out.write(gzip.compress(record("warcinfo", "application/warc-fields", about), 1))
        for url, links in pages(random.Random(1)):
            text = capture(url, links)
            out.write(gzip.compress(text, 6))
            made += len(text)
            if made >= MEGABYTES * 1_000_000:
                return "crawl.warc.wat.gz"


def parquet():
    """A file of so many megabytes, with hardly compressible links."""
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema([("url", pyarrow.string()), ("outlinks", pyarrow.list_(pyarrow.string())), ("digest", pyarrow.string())])
    dice = random.Random(2)
    source = pages(dice)
    with pyarrow.parquet.ParquetWriter("crawl.parquet", schema, compression="zstd", use_dictionary=False) as writer:
        while os.path.getsize("crawl.parquet") < MEGABYTES * 1_000_000:
            rows = [next(source) for _ in range(5_000)]
            links = [[f"{link}?{dice.getrandbits(64):x}" for link in links] for _, links in rows]
            digests = [f"{dice.getrandbits(128):x}" for _ in rows]
            writer.write_table(pyarrow.table([[url for url, _ in rows], links, digests], schema=schema))
    return "crawl.parquet"


def measure(file):
    """Processor time in seconds, peak memory in MiB, and what was read."""
    args = [SEEDBANK, "ingest", "bank", "--dry-run", "--snapshot", "--memory", "512M", "--threads", "2", "--format", "json", file]
    child = subprocess.Popen(args, stdout=subprocess.PIPE)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, file
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, json.loads(out)["read"]["records"]


def main():
    os.chdir(tempfile.mkdtemp(prefix="seedbank-remote-bench-", dir=os.environ.get("SCRATCH")))
    subprocess.run([SEEDBANK, "init", "bank"], check=True, stdout=subprocess.DEVNULL)
    port = random.randrange(20000, 40000)
    log = open("moto.log", "w")
    server = subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(200):
            try:
                urllib.request.urlopen(url, timeout=1)
                break
            except OSError:
                time.sleep(0.1)
        import boto3

        client = boto3.client("s3", endpoint_url=url, aws_access_key_id="key", aws_secret_access_key="secret", region_name="us-east-1")
        client.create_bucket(Bucket="crawls")
        os.environ.update(AWS_ENDPOINT_URL=url, AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_REGION="us-east-1")
        for make in [wat, parquet]:
            file = make()
            client.upload_file(file, "crawls", file)
            runs = {file: [], f"s3://crawls/{file}": []}
            for _ in range(3):
                for place, measured in runs.items():
                    measured.append(measure(place))
            seconds, memory = {}, {}
            for place, measured in runs.items():
                assert measured[0][2] == runs[file][0][2], "other records"
                seconds[place] = statistics.median(run[0] for run in measured)
                memory[place] = max(run[1] for run in measured)
                print(f"{place}: {os.path.getsize(file) / 1e6:.0f} MB, {measured[0][2]} records, {seconds[place]:.1f} s, {memory[place]:.0f} MiB")
            print(f"ratio of processor time: {seconds[f's3://crawls/{file}'] / seconds[file]:.2f}")
            client.delete_object(Bucket="crawls", Key=file)
            os.remove(file)
    finally:
        server.kill()
        shutil.rmtree(os.getcwd())


main()
