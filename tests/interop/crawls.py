"""Simulated crawls beside Scrapy, which crawls the same web from the same lists of seeds.

    python3 tests/interop/crawls.py SEEDBANK [FOLDER]

The web is `ku-2017-webir` of $SEEDBANK_DATA or ../shared, with its own URLs and hosts, on one server on loopback, which
Scrapy takes for its proxy. A page that the data has no record of has no links. Each crawl fetches 1,000 pages from 20
seeds. `evaluate methods` simulates it under the limits of a plan, with everything known; the spider is that of the guide,
src/guide/spider.py. From each list, Scrapy must fetch as many pages, and as many crawled ones, as the simulated crawl,
within 5 %, and the lists must have the same order by crawled pages.

Scrapy has one request of a domain at a time, with a delay, a limit of depth and a page count. It takes its next request
from the host with the fewest in progress, of equal ones the next by name. So all hosts that wait take turns, and
CONCURRENT_REQUESTS does not limit their number: a round of the simulated crawl has a page of each, which is
`per-site-round=1` and not `sites-at-once`. A site of the bank is a host here, as it is for Scrapy. What still differs:
Scrapy takes the pages of a host in the order in which it found them, and not by URL; it fetches from a new host before
others had their turn; and while fewer hosts wait than CONCURRENT_REQUESTS allows, it takes several requests of one. The
crawls differ the most if they come to hundreds of hosts and find few crawled pages.

What is missing is skipped, which is said: `pip install scrapy`.
"""

import asyncio
import contextlib
import gzip
import html
import importlib.util
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
SEEDBANK = os.path.abspath(sys.argv[1])
SPIDER = os.path.join(HERE, "../../src/guide/spider.py")
DATA = os.path.abspath(os.environ.get("SEEDBANK_DATA") or os.path.join(HERE, "../../../shared"))
KU = os.path.join(DATA, "data/ku-2017-webir/crawl.jsonl.gz")
SEEDS, FETCHES, MOST_OFF = 20, 1000, 0.05
# The lists: their names in `evaluate methods`, and how a refresh selects them. The first is a plan for the crawl.
LISTS = {
    "plan crawl": [],
    "pagerank": ["--method", "pagerank", "--scope", "web"],
    "max-weight over the web": ["--method", "max-weight", "--scope", "web"],
}
# Limits of the simulated crawl, and the settings of Scrapy that have the same meaning.
CRAWLS = {
    "per-site-round=1": {},
    "per-site-round=1,depth=2": {"DEPTH_LIMIT": 2},
    "per-site-round=1,depth=1": {"DEPTH_LIMIT": 1},
}
SETTINGS = {
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    # With more of them, the order of the answers counts, and so one crawl is not like the next.
    "CONCURRENT_REQUESTS": 4,
    "DOWNLOAD_DELAY": 0.02,
    # The delay is the same each time; the second name is that of older versions.
    "DOWNLOAD_DELAY_JITTER": 0,
    "RANDOMIZE_DOWNLOAD_DELAY": False,
    # Breadth-first on each host.
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    # The default from Scrapy 2.14 on.
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "CLOSESPIDER_PAGECOUNT": FETCHES,
    "ROBOTSTXT_OBEY": False,
    "RETRY_ENABLED": False,
    "COOKIES_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "WARNING",
}


class Web:
    """Pages by the URL by which Scrapy tells requests apart, and what was asked for, in order."""

    def __init__(self, records):
        from w3lib.url import canonicalize_url

        self.canonical = canonicalize_url
        self.links, self.known, self.asked, self.strange = {}, set(), [], []
        for record in records:
            self.links.setdefault(self.canonical(record["url"]), record["outlinks"])
        for links in self.links.values():
            self.known.update(map(self.canonical, links))

    def body(self, url):
        """The page at a URL; `None` if there is none."""
        page = self.canonical(url)
        self.asked.append(page)
        if page not in self.links and page not in self.known:
            self.strange.append(url)
            return None
        links = (f'<p><a href="{html.escape(link)}">link</a>' for link in self.links.get(page, []))
        return "\n".join(["<!doctype html><title>page</title>", *links]).encode()


def serve(web):
    """Serves the web on loopback, and returns its address. One thread answers in the order of the requests."""
    listening = queue.Queue()

    async def answer(reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                body = web.body(head.split(b" ", 2)[1].decode())
                status = b"404 Not Found" if body is None else b"200 OK"
                lines = b"HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n"
                writer.write(lines % (status, len(body or b"")) + (body or b""))
                await writer.drain()
        writer.close()

    async def run():
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        listening.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    threading.Thread(target=asyncio.run, args=[run()], daemon=True).start()
    return f"http://127.0.0.1:{listening.get()}"


def seedbank(*args):
    done = subprocess.run([SEEDBANK, *args], capture_output=True, text=True)
    assert done.returncode == 0, f"seedbank {' '.join(args)}: {done.stderr}{done.stdout}"
    return done.stdout


def simulated(limits):
    """Writes the lists for a crawl with these limits, and returns how many pages, and crawled ones, it fetches from each."""
    size = ["--seeds", str(SEEDS)]
    crawl = ["--goal", "coverage", "--budget", str(FETCHES), "--crawl", limits]
    for place, flags in enumerate(LISTS.values()):
        plan = f"list-{place}" if flags else "crawl"
        seedbank("refresh", "bank", "--plan", plan, *size, *(flags or crawl))
        seedbank("seeds", "bank", "--plan", plan, "--format", "scrapy", "--out", f"seeds-{place}.json")
    size += ["--budget", str(FETCHES), "--draws", "0"]
    judged = json.loads(seedbank("evaluate", "bank", "methods", "--plan", "crawl", *size, "--format", "json"))
    found = {}
    for row in judged["comparison"]["lists"]:
        figures = row["known"]["all"]
        found[row["list"]] = (figures["fetched"]["mean"], figures["crawled"]["mean"])
    return [found[name] for name in LISTS]


def crawled(web, proxy, place, more):
    """Runs the spider on a list, and returns how many pages, and crawled ones, are among the first that it asked for."""
    web.asked.clear()
    flags = [flag for name, value in {**SETTINGS, **more}.items() for flag in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "runspider", SPIDER, "-a", f"seeds=seeds-{place}.json", *flags]
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment["http_proxy"] = proxy
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert not web.strange, f"not a page of the web: {web.strange[:3]}"
    # Requests in progress are completed after the last page.
    fetched = set(web.asked[:FETCHES])
    return len(fetched), sum(page in web.links for page in fetched)


def main():
    if not importlib.util.find_spec("scrapy"):
        print("SKIPPED scrapy: pip install scrapy")
        return
    if not os.path.exists(KU):
        print(f"SKIPPED ku-2017-webir: no {KU}; SEEDBANK_DATA names the folder with data/")
        return
    with gzip.open(KU, "rt") as lines:
        web = Web(map(json.loads, lines))
    proxy = serve(web)
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    seedbank("init", "bank", "--site", "host")
    seedbank("ingest", "bank", KU)
    faults = []
    print(f"{'crawl':26}{'list':26}{'fetched':>8}{'Scrapy':>8}{'crawled':>9}{'Scrapy':>8}{'difference':>12}")
    for limits, more in CRAWLS.items():
        ours = simulated(limits)
        theirs = [crawled(web, proxy, place, more) for place in range(len(LISTS))]
        crawled_pages = [(own[1], other[1]) for own, other in zip(ours, theirs)]
        for name, own, other in zip(LISTS, ours, theirs):
            difference = other[1] / own[1] - 1
            print(f"{limits:26}{name:26}{own[0]:8.0f}{other[0]:8}{own[1]:9.0f}{other[1]:8}{difference:12.1%}", flush=True)
            if any(abs(one - two) > MOST_OFF * one for one, two in zip(own, other)):
                faults.append(f"{limits}, {name}: more than {MOST_OFF:.0%} apart")
        own, other = (sorted(LISTS, key=dict(zip(LISTS, figures)).get, reverse=True) for figures in zip(*crawled_pages))
        if own != other:
            faults.append(f"{limits}: the order is {', '.join(own)}; with Scrapy {', '.join(other)}")
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(CRAWLS)} crawls from {len(LISTS)} lists: within {MOST_OFF:.0%}, and the lists in the same order")


if __name__ == "__main__":
    main()
