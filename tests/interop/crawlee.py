"""Crawlee, in JavaScript and in Python, crawls a web on loopback from a list of seeds: in the order of the list, each once.

    python3 tests/interop/crawlee.py SEEDBANK [FOLDER]

What is missing is skipped, which is said: `pip install crawlee`, and `npm install @crawlee/http` in a folder that
CRAWLEE_FOLDER names.
"""

import asyncio
import http.server
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading

# This script has the name of the package, which must be found all the same.
sys.path = [folder for folder in sys.path if os.path.abspath(folder or ".") != os.path.dirname(os.path.abspath(__file__))]

SEEDBANK = os.path.abspath(sys.argv[1])
PAGES = 40

# Reads the list as the guide does, and prints what the crawler passes to its handler.
JAVASCRIPT = """
import { readFile } from 'node:fs/promises';
import { RequestList, HttpCrawler, Configuration } from '@crawlee/http';

const seeds = JSON.parse(await readFile(process.argv[2], 'utf8'));
const list = process.argv[3] === 'list';
const options = list ? { requestList: await RequestList.open(null, seeds) } : {};
const seen = [];
const crawler = new HttpCrawler({
    ...options,
    maxConcurrency: 1,
    requestHandler: ({ request }) => { seen.push([request.url, request.userData.seed]); },
}, new Configuration({ persistStorage: false }));
if (!list) await crawler.addRequests(seeds);
await crawler.run();
console.log('SEEN ' + JSON.stringify(seen));
"""


def seedbank(*args):
    done = subprocess.run([SEEDBANK, *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Server(http.server.BaseHTTPRequestHandler):
    fetched = []

    def do_GET(self):
        body = b"<p>a page"
        if self.path != "/robots.txt":
            self.fetched.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def javascript(name, way):
    """What Crawlee for JavaScript gives to its handler."""
    folder = os.environ["CRAWLEE_FOLDER"]
    script = os.path.join(folder, "seedbank-interop.mjs")
    with open(script, "w") as out:
        out.write(JAVASCRIPT)
    done = subprocess.run(["node", script, os.path.abspath(name), way], capture_output=True, text=True)
    os.remove(script)
    assert done.returncode == 0, done.stderr
    seen = [line for line in done.stdout.splitlines() if line.startswith("SEEN ")]
    return json.loads(seen[0].removeprefix("SEEN "))


async def python(name, way):
    """What Crawlee for Python gives to its handler."""
    from crawlee import ConcurrencySettings, Request
    from crawlee.crawlers import HttpCrawler
    from crawlee.request_loaders import RequestList
    from crawlee.storage_clients import MemoryStorageClient

    with open(name) as text:
        seeds = json.load(text)
    requests = [Request.from_url(seed["url"], user_data=seed["userData"]) for seed in seeds]
    manager = {"request_manager": await RequestList(requests).to_tandem()} if way == "list" else {}
    crawler = HttpCrawler(
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(max_concurrency=1, desired_concurrency=1),
        configure_logging=False,
        **manager,
    )
    seen = []

    @crawler.router.default_handler
    async def handle(context):
        seen.append([context.request.url, dict(context.request.user_data)["seed"]])

    await (crawler.run() if way == "list" else crawler.run(requests))
    return seen


def main():
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    urls = [f"{origin}/{number}.html?a={number},%22é" for number in range(PAGES)]
    with open("pages.jsonl", "w") as out:
        for number, url in enumerate(urls):
            links = [urls[(number * step + 1) % PAGES] for step in (2, 3, 7)]
            out.write(json.dumps({"url": url, "outlinks": links}) + "\n")
    seedbank("init", "bank")
    seedbank("ingest", "bank", "pages.jsonl", "--snapshot")
    seedbank("refresh", "bank", "--method", "out-degree", "--seeds", "20")
    seedbank("seeds", "bank", "--format", "crawlee", "--out", "seeds.json")
    expected = [json.loads(line) for line in seedbank("seeds", "bank", "--format", "jsonl").splitlines()]
    expected = [[seed["url"], seed] for seed in expected]
    assert len(expected) >= 10, expected
    crawlers = {}
    if importlib.util.find_spec("crawlee"):
        crawlers["Python"] = lambda way: asyncio.run(python("seeds.json", way))
    else:
        print("SKIPPED Crawlee for Python: pip install crawlee")
    if os.path.isdir(os.path.join(os.environ.get("CRAWLEE_FOLDER", ""), "node_modules/@crawlee/http")):
        crawlers["JavaScript"] = lambda way: javascript("seeds.json", way)
    else:
        print("SKIPPED Crawlee for JavaScript: npm install @crawlee/http, and CRAWLEE_FOLDER names the folder")
    for name, crawl in crawlers.items():
        for way in ("list", "queue"):
            Server.fetched.clear()
            seen = crawl(way)
            assert seen == expected, (name, way, seen)
            assert len(Server.fetched) == len(expected), Server.fetched
            print(f"Crawlee for {name} crawls {len(seen)} seeds of a {way}, in its order, each once")


main()
