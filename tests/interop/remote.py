"""Remote files: S3 as moto's server has it, and a server of HTTP on loopback that cuts.

    python3 tests/interop/remote.py SEEDBANK

SEEDBANK is built with the feature `remote`. RUNS (20) is the number of ingests with random cuts, KILLS (2, at most) that
of killed backups, of which each keeps the next one waiting for a minute. What is missing is skipped, which is said:
`pip install 'moto[server]' pyarrow`.
"""

import gzip
import hashlib
import http.server
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

SEEDBANK = os.path.abspath(sys.argv[1])
RUNS = int(os.environ.get("RUNS", "20"))
KILLS = int(os.environ.get("KILLS", "2"))
KEY, SECRET = "AKIDREMOTETEST", "SECRETREMOTETEST"

# What no output, log or bank may contain.
SECRETS = [KEY, SECRET, "SIGNATUREREMOTETEST"]


def say(text):
    print(f"  {text}", flush=True)


def run(*args, status=0, **more):
    """Runs a command; what it prints must not contain secrets."""
    done = subprocess.run([SEEDBANK, *args], capture_output=True, text=True, **more)
    assert done.returncode == status, f"{args}: {done.returncode} {done.stderr}"
    for secret in SECRETS:
        assert secret not in done.stdout + done.stderr, f"{args}: prints {secret}: {done.stderr}"
    return done


def seedbank(*args, **more):
    return run(*args, **more).stdout


def fresh(name="bank"):
    shutil.rmtree(name, ignore_errors=True)
    seedbank("init", name)
    return name


def state(bank):
    """The whole state of a bank."""
    return hashlib.sha256(seedbank("export", bank).encode()).hexdigest()


def ingested(*inputs, **more):
    """The state of a bank of these inputs, and what was read."""
    bank = fresh()
    report = json.loads(seedbank("ingest", bank, "--format", "json", *inputs, **more))
    return state(bank), report["read"]["records"]


class Cutting(http.server.BaseHTTPRequestHandler):
    """Serves one file with ranges, and cuts, is unavailable or slow at random."""

    protocol_version = "HTTP/1.1"
    content, tag, chance, longest = b"", '"1"', 0.0, None
    dice = random.Random(1)

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, with_body):
        dice, content = self.dice, self.content
        if dice.random() < self.chance / 2:
            self.send_response(dice.choice([429, 500, 503]))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        wanted = self.headers.get("If-Match")
        if wanted and wanted != self.tag:
            self.send_response(412)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start, end = 0, len(content)
        asked = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked:
            start = int(asked[1])
            end = min(int(asked[2]) + 1, end) if asked[2] else end
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(end - start))
        self.send_header("ETag", self.tag)
        self.end_headers()
        if not with_body:
            return
        if dice.random() < self.chance:
            end = start + dice.randrange(end - start)
            self.close_connection = True
        if self.longest and end - start > self.longest:
            end = start + self.longest
            self.close_connection = True
        self.wfile.write(content[start:end])


def cuts(folder):
    """However a file is cut, the bank is the same; a file that changes leaves the bank as it was."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Cutting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/a.jsonl?X-Amz-Signature=SIGNATUREREMOTETEST"
    plain = open(f"{folder}/day-000.jsonl", "rb").read()
    files = {".jsonl": plain, ".gz": gzip.compress(plain)}
    if os.path.exists(f"{folder}/day-000.parquet"):
        files[".parquet"] = open(f"{folder}/day-000.parquet", "rb").read()
    wanted = ingested(f"{folder}/day-000.jsonl")
    for number in range(RUNS):
        Cutting.dice = random.Random(number)
        Cutting.chance = 0.5
        kind = list(files)[number % len(files)]
        Cutting.content = files[kind]
        found = ingested(address)
        assert found == wanted, f"run {number} ({kind}): another bank"
    assert json.loads(seedbank("history", "bank", "--format", "json")) is not None
    for secret in SECRETS:
        found = subprocess.run(["grep", "-rc", secret, "bank"], capture_output=True, text=True).stdout
        assert all(line.endswith(":0") for line in found.splitlines()), f"the bank contains {secret}"
    # The file changes after the first cut.
    before = state("bank")

    class Changing(Cutting):
        content, gets = plain, 0

        def answer(self, with_body):
            Changing.gets += with_body
            self.tag = '"1"' if Changing.gets < 2 else '"2"'
            self.longest = 50_000 if Changing.gets == 1 else None
            super().answer(with_body)

    changing = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Changing)
    threading.Thread(target=changing.serve_forever, daemon=True).start()
    failed = run("ingest", "bank", f"http://127.0.0.1:{changing.server_port}/b.jsonl", status=3)
    assert "it was changed while it was read" in failed.stderr, failed.stderr
    assert state("bank") == before, "a changed file changed the bank"
    # A list of paths, with an address before each.
    Cutting.content, Cutting.chance = plain, 0.0
    with open("paths.txt", "w") as paths:
        paths.write("a.jsonl\n")
    with gzip.open("paths.gz", "wb") as paths:
        paths.write(b"a.jsonl\n")
    for paths in ["paths.txt", "paths.gz"]:
        found = ingested("--paths", paths, "--base", f"http://127.0.0.1:{server.server_port}/")
        assert found == wanted, paths
    assert ingested("--paths", f"{folder}/list", "--base", folder) == wanted
    server.shutdown()
    say(f"{RUNS} ingests with random cuts gave the same bank")


class Storage:
    """moto's server, and its buckets through its own interface."""

    def __init__(self):
        self.port = random.randrange(20000, 40000)
        log = open("moto.log", "w")
        self.server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)],
            stdout=log, stderr=log,
        )
        self.url = f"http://127.0.0.1:{self.port}"
        for _ in range(200):
            try:
                urllib.request.urlopen(self.url, timeout=1)
                break
            except OSError:
                time.sleep(0.1)
        import boto3

        self.client = boto3.client(
            "s3", endpoint_url=self.url, aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name="us-east-1"
        )
        self.client.create_bucket(Bucket="crawls")
        os.environ.update(
            AWS_ENDPOINT_URL=self.url, AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET, AWS_REGION="us-east-1"
        )

    def put(self, key, file):
        self.client.upload_file(file, "crawls", key)

    def get(self, key):
        return self.client.get_object(Bucket="crawls", Key=key)["Body"].read()

    def keys(self, prefix):
        found = self.client.list_objects_v2(Bucket="crawls", Prefix=prefix)
        return [entry["Key"] for entry in found.get("Contents", [])]

    def requests(self):
        """The lines of the log of the server so far."""
        return open("moto.log").read().splitlines()


def inputs(storage, folder, days):
    """The bank of files in a bucket is that of local files."""
    local = [f"{folder}/day-{day:03}.jsonl" for day in range(days)]
    for file in local:
        storage.put(f"daily/{os.path.basename(file)}", file)
    storage.put("daily/older/day-009.jsonl", local[0])
    wanted = ingested(*local)
    assert ingested("s3://crawls/daily/day-*.jsonl") == wanted
    assert ingested(*[f"s3://crawls/daily/day-{day:03}.jsonl" for day in range(days)]) == wanted
    names = json.loads(seedbank("history", "bank", "--format", "json"))
    assert "s3://crawls/daily/day-000.jsonl" in json.dumps(names), names
    assert ingested("--paths", f"{folder}/list", "--base", "s3://crawls/daily") == ingested(local[0])
    # -vv prints what happens, and no secrets.
    run("-vv", "ingest", fresh(), "s3://crawls/daily/day-*.jsonl")
    for address, text in [
        ("s3://crawls/none", "it does not exist"),
        ("s3://crawls/none-*", "no file matches"),
        ("s3://crawls/", "it names no file"),
        ("ftp://crawls/a", "ftp:// is not supported"),
        ("https://u:SECRETREMOTETEST@127.0.0.1/a", "it contains a user name or a password"),
        ("http://127.0.0.1:9/a", "cannot open"),
    ]:
        failed = run("ingest", fresh(), address, status=3)
        assert re.search(text, failed.stderr) and "hint" in failed.stderr, failed.stderr
    say("files, patterns and lists of paths in a bucket gave the bank of local files")


def outputs(storage, folder):
    seedbank("ingest", fresh(), f"{folder}/day-000.jsonl")
    seedbank("refresh", "bank", "--goal", "coverage", "--seeds", "20", "--budget", "500")
    for args in [("seeds", "bank"), ("scores", "bank"), ("export", "bank")]:
        seedbank(*args, "--out", f"s3://crawls/out/{args[0]}")
        assert storage.get(f"out/{args[0]}").decode().replace("\r\n", "\n") == seedbank(*args), args
    run("seeds", "bank", "--out", "s3://crawls/out/seeds", "--if-changed", status=5)
    seedbank("export", "bank", "--out", "s3://crawls/out/export.jsonl.zst")
    assert ingested("s3://crawls/out/export.jsonl.zst", "--snapshot")[0] == state("bank")
    seedbank("refresh", "bank", "--goal", "coverage", "--seeds", "20", "--budget", "500")
    seedbank("report", "bank", "--out", "s3://crawls/out/report.html")
    assert b"report.json" in storage.get("out/report.html") and json.loads(storage.get("out/report.json"))
    seedbank("graph", "bank", "--out", "s3://crawls/out/graph", "--format", "tsv")
    assert sorted(storage.keys("out/graph/")) == ["out/graph/links.tsv", "out/graph/pages.tsv"]
    failed = run("seeds", "bank", "--out", "https://127.0.0.1:9/a", status=1)
    assert "files cannot be written by HTTP" in failed.stderr, failed.stderr
    say("seeds, scores, exports, reports and graphs were written to a bucket")


def parquet(storage, folder):
    """Parquet is read by ranges: the columns that are no fields are not read."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(f"{folder}/day-000.parquet")
    ballast = pyarrow.array([os.urandom(2000) for _ in range(table.num_rows)])
    table = table.append_column("ballast", ballast)
    pyarrow.parquet.write_table(table, "wide.parquet", row_group_size=500)
    storage.put("wide.parquet", "wide.parquet")
    before = len(storage.requests())
    assert ingested("s3://crawls/wide.parquet") == ingested("wide.parquet")
    requests = [line for line in storage.requests()[before:] if "GET /crawls/wide.parquet" in line]
    assert requests and sum(" 206 " in line for line in requests) >= len(requests) - 1, requests
    say(f"Parquet was read with {len(requests)} requests")


def backups(storage, folder):
    """A backup in a bucket, killed at random: the earlier ones stay restorable."""
    bank = fresh()
    seedbank("ingest", bank, f"{folder}/day-000.jsonl")
    place = "s3://crawls/backups/bank"
    first = json.loads(seedbank("backup", bank, place, "--format", "json"))
    states = {first["backup"]: state(bank)}
    dice = random.Random(1)
    for day in range(1, 1 + KILLS):
        seedbank("ingest", bank, f"{folder}/day-{day:03}.jsonl")
        killed = subprocess.Popen([SEEDBANK, "backup", bank, place], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.random() * 0.3)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        for number in states:
            shutil.rmtree("restored", ignore_errors=True)
            seedbank("restore", place, "restored", "--at", str(number))
            assert state("restored") == states[number], f"backup {number} after a kill"
        # The lock of the killed process is taken over.
        made = json.loads(seedbank("backup", bank, place, "--wait", "--format", "json"))
        states[made["backup"]] = state(bank)
    listed = json.loads(seedbank("restore", place, "--list", "--verify", "--format", "json"))
    assert [backup["fault"] for backup in listed["backups"]] == [None] * len(listed["backups"]), listed
    kept = json.loads(seedbank("backup", bank, place, "--keep", "1", "--verify", "--format", "json"))
    assert kept["written_files"] == 0 and kept["deleted"], kept
    shutil.rmtree("restored", ignore_errors=True)
    seedbank("restore", place, "restored")
    assert state("restored") == state(bank)
    # Damage is found.
    largest = max(storage.keys("backups/bank/files/"), key=lambda key: len(storage.get(key)))
    content = bytearray(storage.get(largest))
    content[len(content) // 2] ^= 1
    storage.client.put_object(Bucket="crawls", Key=largest, Body=bytes(content))
    shutil.rmtree("restored", ignore_errors=True)
    failed = run("restore", place, "restored", status=4)
    assert "differs from what was backed up" in failed.stderr, failed.stderr
    assert not os.path.exists("restored")
    other = fresh("other")
    seedbank("ingest", other, f"{folder}/day-000.jsonl")
    run("backup", other, place, status=2)
    run("restore", "s3://crawls/out", "restored", status=4)
    say(f"{len(states)} backups to a bucket, with kills in between, were restored")


def main():
    os.chdir(tempfile.mkdtemp(prefix="seedbank-remote-"))
    seedbank("init", "bank")
    refused = subprocess.run([SEEDBANK, "ingest", "bank", "s3://a/b"], capture_output=True, text=True,
                             env=dict(os.environ, AWS_ENDPOINT_URL="http://127.0.0.1:9", AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET))
    if "does not support remote files" in refused.stderr:
        print("SKIPPED remote files: build with --features remote")
        return
    assert "hint" in refused.stderr and SECRET not in refused.stderr, refused.stderr
    seedbank("synth", "crawl", "--pages", "2000", "--days", "3", "--rng-seed", "1")
    for file in sorted(os.listdir("crawl")):
        if file.endswith(".zst"):
            subprocess.run(["zstd", "-qd", "--rm", f"crawl/{file}"], check=True)
    with open("crawl/list", "w") as paths:
        paths.write("# days\nday-000.jsonl\n")
    has_parquet = importlib.util.find_spec("pyarrow") is not None
    if has_parquet:
        import pyarrow.json
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.json.read_json("crawl/day-000.jsonl"), "crawl/day-000.parquet", row_group_size=300)
    else:
        print("SKIPPED Parquet: pip install pyarrow")
    cuts("crawl")
    if not importlib.util.find_spec("moto") or not importlib.util.find_spec("flask"):
        print("SKIPPED S3: pip install 'moto[server]'")
        return
    storage = Storage()
    try:
        inputs(storage, "crawl", 3)
        outputs(storage, "crawl")
        if has_parquet:
            parquet(storage, "crawl")
        backups(storage, "crawl")
    finally:
        storage.server.kill()
    shutil.rmtree(os.getcwd())


main()
