"""The PySpark job of the guide beside the reader of WAT: both must give the same bank.

    python3 tests/interop/spark.py SEEDBANK [FOLDER]

Two WAT files, compressed record by record, have captures with every kind of status, redirect, base, canonical URL and
relative link, several captures of a page, and a damaged record. The bank of the Parquet files that the job writes must be
that of the WAT files, to the byte of an export, from all partitions as one batch and from each partition as a batch of its
own. The partitions must be those of XXH64 with seed 42, by values that the package xxhash computed. What is missing is
skipped, which is said: `pip install pyspark`, and Java 17.
"""

import glob
import gzip
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

SEEDBANK = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
JOBS = [os.path.join(HERE, folder, "wat_to_parquet.py") for folder in ["../../src/guide", "."]]
JOB = next(job for job in JOBS if os.path.exists(job))
CAPTURES = 1500
AS_OF = "2024-06-01T00:00:00Z"
# xxhash.xxh64_intdigest(site.encode(), seed=42) % 1024
SHARDS = {
    "example.org": 71,
    "a.example.net": 849,
    "xn--bcher-kva.example": 838,
    "192.0.2.7": 529,
    "[2001:db8::1]": 202,
}
HOSTS = [
    "http://example.org",
    "https://www.Example.org",
    "http://a.example.net:81",
    "http://www.a.example.net.",
    "http://xn--bcher-kva.example",
    "http://user:password@192.0.2.7",
    "http://[2001:db8::1]:8080",
]
PATHS = ["/", "", "/x/", "/x/y", "/x/y?q=1", "/%7ez", "/x//y/", "/x/y#f", "/x?a/b", "/x\\y/", "/é"]
LINKS = [
    *["/", "x/y", "../y", "../../../y", "./a:b", "a/b:c", "x//y", "c;a=1", "%2e%2e/z", "y z", "é/\U0001f980", "/'\"<>`{}|^"],
    *["?q=1", "?", "c?", "#top", "", " /x/y ", "/\t/example.org/x/", "\x01/x", "\\x", "\\\\example.org\\z", "//a.example.net:81/x/"],
    *["http:z", "https:z", "http:/z", "http:///example.org/z", "HTTP://EXAMPLE.org/x/y#z", "http://user@example.org./x"],
    *["mailto:x@example.org", "javascript:void(0)", "a:b", "ftp://example.org/", "data:,x"],
]
INVALID_LINKS = ["http://", "//", "http://[x", "http://a b/", "http://example.org:99999/", "http://256.256.256.256/", "http://xn--a/"]


def seedbank(*args):
    return subprocess.run([SEEDBANK, *args], check=True, capture_output=True, text=True).stdout


def record(kind, content_type, block):
    """A record of a web archive, compressed by itself."""
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
    return gzip.compress(head.encode() + block + b"\r\n\r\n", 1)


def metadata(header, payload):
    envelope = {"WARC-Header-Metadata": header, "Payload-Metadata": payload, "Format": "WARC/1.0"}
    return record("metadata", "application/json", json.dumps({"Container": {}, "Envelope": envelope}).encode() + b"\n")


def capture(url, date, status, response):
    """The metadata of a request and of its response."""
    header = {"WARC-Target-URI": url, "WARC-Date": date}
    response = {"Response-Message": {"Status": status, "Version": "HTTP/1.1"}, "Headers": {}, **response}
    if len(url) % 2:
        header["WARC-Payload-Digest"] = response.pop("Entity-Digest", "sha1:A")
    request = metadata({"WARC-Type": "request", **header}, {"HTTP-Request-Metadata": {}})
    return request + metadata({"WARC-Type": "response", **header}, {"HTTP-Response-Metadata": response})


def random_capture(dice, number):
    def url():
        return dice.choice(HOSTS) + dice.choice(PATHS)

    def link(others=LINKS + INVALID_LINKS):
        return url() if dice.random() < 0.3 else dice.choice(others)

    page = url() + (f"/{number}" if dice.random() < 0.7 else "")
    date = f"2024-05-18T01:{dice.randrange(60):02}:{dice.randrange(60):02}Z"
    status = dice.choice([*["200"] * 9, "206", "301", "302", "304", "307", "404", "410", "100", "403", "500", "999", ""])
    response = {}
    if dice.random() < 0.8:
        response["Entity-Digest"] = f"sha1:{dice.choice('ABC')}"
    if dice.random() < 0.8:
        # A redirect to an invalid URL is a case of its own, below.
        to = link(LINKS)
        response["Headers"] = {dice.choice(["Location", "location"]): dice.choice([to, to, [to, "/second"]])}
    if dice.random() < 0.8:
        head = {"Title": "a page", "Link": [{"path": "LINK@/href", "rel": "stylesheet", "url": "/x.css"}]}
        if dice.random() < 0.3:
            head["Base"] = dice.choice(["/x/", "http://a.example.net:81/y", "data:,x", "http://", "", "x//", "..", "\\"])
        if dice.random() < 0.2:
            rel = dice.choice(["Canonical", "x canonical"])
            head["Link"] += [{"rel": rel, "url": link()}, {"rel": "canonical", "url": "/second"}]
        paths = ["A@/href", "A@/href", "AREA@/href", "IMG@/src", "FORM@/action"]
        links = [{"path": dice.choice(paths), "url": link()} for _ in range(dice.randrange(12))]
        response["HTML-Metadata"] = {"Head": head, **({"Links": links} if links else {})}
    return capture(page, date, status, response)


def write_wat(name, captures):
    with open(name, "wb") as wat:
        wat.write(record("warcinfo", "application/warc-fields", b"format: WARC File Format 1.0\r\n"))
        wat.write(b"".join(captures))


def run_job(folder, *files):
    options = "--master local[2] --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=2 pyspark-shell"
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": options}
    done = subprocess.run([sys.executable, JOB, folder, *files], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return sorted(glob.glob(f"{folder}/shard=*/*.parquet"))


def bank_of(name, *batches):
    """The export of a bank of these batches, and the numbers of rejected records."""
    seedbank("init", name)
    options = ["--as-of", AS_OF, "--max-rejects", "100", "--format", "json"]
    reports = [json.loads(seedbank("ingest", name, *options, *files)) for files in batches]
    return seedbank("export", name), [report["read"]["rejects"] for report in reports]


def partitions(files):
    batches = {}
    for file in files:
        batches.setdefault(os.path.dirname(file), []).append(file)
    return batches


def same_bank():
    dice = random.Random(1)
    captures = [random_capture(dice, number) for number in range(CAPTURES)]
    write_wat("0.warc.wat.gz", captures[::2])
    write_wat("1.warc.wat.gz", captures[1::2])
    files = run_job("pages", "0.warc.wat.gz", "1.warc.wat.gz")
    from_wat, _ = bank_of("bank-wat", ["0.warc.wat.gz", "1.warc.wat.gz"])
    from_parquet, _ = bank_of("bank-parquet", files)
    assert from_parquet == from_wat, "the banks differ: compare the exports of bank-wat and bank-parquet"
    by_partition, _ = bank_of("bank-by-partition", *partitions(files).values())
    assert by_partition == from_wat, "the banks differ: compare the exports of bank-wat and bank-by-partition"
    expected = {f"pages/shard={shard}" for shard in SHARDS.values()}
    assert set(partitions(files)) == expected, (set(partitions(files)), expected)
    print(f"{CAPTURES} captures give the same {len(from_wat.splitlines())} records, also partition by partition")


def what_differs():
    """A damaged record is rejected by both; a redirect to an invalid URL is a failed fetch only as Parquet."""
    good = capture("http://example.org/", "2024-05-18T01:00:00Z", "200", {"HTML-Metadata": {}})
    moved = capture("http://example.org/moved", "2024-05-18T01:00:00Z", "301", {"Headers": {"Location": "http://[x"}})
    write_wat("bad.warc.wat.gz", [good, record("metadata", "application/json", b"{\"Envelope\": {\n"), moved])
    from_wat, rejects = bank_of("bank-bad-wat", ["bad.warc.wat.gz"])
    assert len(from_wat.splitlines()) == 1 and sum(rejects[0].values()) == 1, (from_wat, rejects)
    from_parquet, rejects = bank_of("bank-bad-parquet", run_job("bad", "bad.warc.wat.gz"))
    assert rejects == [{"missing_url": 1}], rejects
    failed = [json.loads(line) for line in from_parquet.splitlines() if line not in from_wat]
    assert [(page["url"], page["status"]) for page in failed] == [("http://example.org/moved", 301)], failed
    print("a damaged record is rejected")


def main():
    if not importlib.util.find_spec("pyspark"):
        print("SKIPPED spark: pip install pyspark")
        return
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        print("SKIPPED spark: pyspark needs Java 17")
        return
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    same_bank()
    what_differs()


main()
