"""Scrapy in the loop: crawl, ingest, refresh, and crawl from the seeds, on a web that changes meanwhile.

    python3 tests/interop/scrapy_loop.py SEEDBANK [FOLDER]

The web is one server on loopback, which Scrapy takes for its proxy: 20 hosts with made-up names, and
nothing leaves the machine. The spider is that of the guide, src/guide/spider.py. The server keeps its own
account of what it sent; the bank must know each page as it was sent last: its links, that it is gone,
where it leads. After the first round some pages fail: for ever with 503, for ever by answering too late, for one
round, and by a robots.txt that forbids them. Every failure must be in the bank, no more and no fewer, and a page
that failed is no seed until it answers. The spider counts for itself what it fetches from each seed; the bank must attribute the
same fetches, new pages and failures to it. What is missing is skipped, which is said: `pip install scrapy`.
"""

import collections
import contextlib
import html
import http.server
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from urllib.parse import urldefrag, urljoin

SEEDBANK = os.path.abspath(sys.argv[1])
SPIDER = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../src/guide/spider.py"))
HOSTS, PAGES, ROUNDS, BUDGET, SEEDS = 20, 2000, 5, 250, 25
# Seconds until the spider gives up waiting.
TIMEOUT = 2
# The spider of the guide, which also writes what it fetched, from which seed, and how deep.
COUNTING = '''
import importlib.util, json
spec = importlib.util.spec_from_file_location("guide_spider", {spider!r})
guide = importlib.util.module_from_spec(spec)
spec.loader.exec_module(guide)
class Counting(guide.Pages):
    fetched = []
    def parse(self, response):
        self.fetched.append((response.meta["seed"], response.url, response.status, response.meta["depth"]))
        yield from super().parse(response)
    def failed(self, failure):
        request = failure.request
        self.fetched.append((request.meta["seed"], request.url, None, request.meta.get("depth", 0)))
        yield from super().failed(failure)
    def closed(self, reason):
        with open(self.counts, "w") as file:
            json.dump(self.fetched, file)
'''

# What a page answers with.
Page = collections.namedtuple("Page", "status links location version")


class Web:
    """Pages by URL, and the account of what was sent."""

    def __init__(self, rng):
        self.rng = rng
        self.lock = threading.Lock()
        self.account = []
        # The round, `None` while nothing counts; pages that fail, with the status; what failed since a page last answered.
        self.round, self.faults, self.failures = None, {}, {}
        self.hosts = [f"site{number:02}.test" for number in range(HOSTS)]
        self.pages = {}
        # Sites of very different sizes; the page of a host that everything else hangs on comes first.
        weights = [1 / (number + 1) for number in range(HOSTS)]
        self.sites = {host: [f"http://{host}/"] for host in self.hosts}
        for number in range(PAGES - HOSTS):
            host = rng.choices(self.hosts, weights)[0]
            self.sites[host].append(f"http://{host}/{rng.choice('abcdefgh')}/page-{number}.html")
        for host, urls in self.sites.items():
            for place, url in enumerate(urls):
                self.pages[url] = Page(200, self.draw_links(host, place), None, 0)

    def draw_links(self, host, place):
        """Links of a page: up, to neighbours and, from every tenth page, to many other sites."""
        rng, urls = self.rng, self.sites[host]
        links = [urls[0]] if rng.random() < 0.8 else []
        links += [urls[min(place * 3 + step, len(urls) - 1)] for step in (1, 2, 3)]
        links += [rng.choice(urls) for _ in range(rng.randrange(4))]
        if place % 10 == 7:
            for other in rng.sample(self.hosts, 6):
                links += rng.choices(self.sites[other], k=rng.randrange(1, 4))
        if place % 13 == 5:
            links.append(f"http://{host}/files/report-{place}.pdf")
        return links

    def turn(self):
        """What happens between two rounds: pages change, go, lead elsewhere, come back and are born."""
        rng = self.rng
        counts = collections.Counter()
        for host, urls in self.sites.items():
            for place, url in enumerate(list(urls)):
                page, draw = self.pages[url], rng.random()
                if page.status == 200 and draw < 0.10:
                    links = self.draw_links(host, place)
                    self.pages[url] = Page(200, links, None, page.version + 1)
                    counts["changed"] += 1
                elif place and page.status == 200 and draw < 0.15:
                    self.pages[url] = Page(rng.choice([404, 410]), [], None, 0)
                    counts["gone"] += 1
                elif place and page.status == 200 and draw < 0.20:
                    to = rng.choice(self.sites[rng.choice(self.hosts)])
                    if to != url:
                        status = rng.choice([301, 302, 303, 307, 308])
                        self.pages[url] = Page(status, [], to, 0)
                        counts["leading elsewhere"] += 1
                elif page.status != 200 and draw < 0.10:
                    self.pages[url] = Page(200, self.draw_links(host, place), None, 100)
                    counts["back"] += 1
        for number in range(PAGES // 20):
            host = rng.choice(self.hosts)
            url = f"http://{host}/born/{len(self.pages)}-{number}.html"
            self.sites[host].append(url)
            self.pages[url] = Page(200, self.draw_links(host, len(self.sites[host]) - 1), None, 0)
            home = self.pages[f"http://{host}/"]
            self.pages[f"http://{host}/"] = home._replace(links=[*home.links, url])
            counts["born"] += 1
        return dict(counts)

    def answer(self, url):
        """The status, headers and body for a URL, which go into the account."""
        if url.endswith("/robots.txt"):
            paths = [page.split("/", 3)[3] for page, status in self.faults.items()
                     if status == "robots" and page.startswith(url.removesuffix("robots.txt"))]
            return 200, "text/plain", "".join(["User-agent: *\n", *(f"Disallow: /{path}$\n" for path in paths)]).encode()
        if url in self.faults:
            with self.lock:
                count, last, _ = self.failures.get(url, (0, None, None))
                if self.round not in (None, last):
                    self.failures[url] = (count + 1, self.round, self.faults[url])
            if self.faults[url] == "timeout":
                time.sleep(2 * TIMEOUT)
            return 503, "text/html", b"busy"
        page = self.pages.get(url)
        if url.endswith(".pdf"):
            told, kind, body = (200, None, None), "application/pdf", b"%PDF-1.4 " + url.encode()
        elif page is None:
            told, kind, body = (404, None, None), "text/html", b"none"
        elif page.location:
            # Every second redirect is written relative to the page where it can be.
            host = f"http://{url.split('/')[2]}"
            location = page.location.removeprefix(host) or "/"
            told, kind, body = (page.status, None, page.location), "text/html", location.encode()
        else:
            told, kind = (page.status, page.links, None), "text/html"
            body = self.markup(url, page).encode()
        with self.lock:
            self.account.append((url, *told))
            if self.round is not None:
                self.failures.pop(url, None)
        return told[0], kind, body

    def markup(self, url, page):
        """A page as people write them: some links relative, some twice, and what is no link among them."""
        host = f"http://{url.split('/')[2]}"
        lines = [f"<!doctype html><title>{url}</title><p>version {page.version}"]
        for place, link in enumerate(page.links):
            href = link.removeprefix(host) or "/" if place % 3 == 0 else link
            href += "#part" if place % 5 == 4 else ""
            lines.append(f'<p><a class="l" href="{html.escape(href)}">link {place}</a>')
        lines.append('<a href="mailto:who@site00.test">mail</a> <a href="javascript:void(0)">do</a>')
        lines.append(f'<a href="#top">top</a> <a name="top">here</a> <img src="{host}/logo.png">')
        return "\n".join(lines)


def server(web):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Else the body waits for the acknowledgement of the header.
        disable_nagle_algorithm = True

        def do_GET(self):
            status, kind, body = web.answer(self.path)
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", body.decode())
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            # A client that waited too long is gone.
            with contextlib.suppress(ConnectionError):
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *args):
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{listening.server_address[1]}"


def seedbank(*args):
    done = subprocess.run([SEEDBANK, *args], capture_output=True, text=True)
    assert done.returncode == 0, f"seedbank {' '.join(args)}: {done.stderr}{done.stdout}"
    return done.stdout


def crawl(proxy, seeds, out):
    """Runs the spider; what is under way when the budget is spent is still written."""
    settings = {
        "CLOSESPIDER_PAGECOUNT": BUDGET,
        # One after another, so that every run is the same.
        "CONCURRENT_REQUESTS": 1,
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "DOWNLOAD_DELAY": 0,
        "DOWNLOAD_TIMEOUT": TIMEOUT,
        # A retry that is still queued when the budget is spent would say nothing.
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": True,
        "LOG_LEVEL": "WARNING",
    }
    flags = [flag for name, value in settings.items() for flag in ("-s", f"{name}={value}")]
    with open("counting.py", "w") as file:
        file.write(COUNTING.format(spider=SPIDER))
    command = [sys.executable, "-m", "scrapy", "runspider", "counting.py", "-a", f"seeds={seeds}", "-a", f"counts={out}.counts",
               "-O", out, *flags]
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment["http_proxy"] = proxy
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert os.path.getsize(out) > 0, done.stderr
    with open(f"{out}.counts") as file:
        return json.load(file)


def compare_seeds(fetched, answered, batch):
    """Fails where the bank attributes other fetches to a seed than the spider made from it. Adds to the pages that answered."""
    ours, depths = collections.defaultdict(collections.Counter), {}
    for seed, url, status, depth in fetched:
        has_answered = status is not None and (200 <= status < 400 or status in (404, 410))
        ours[seed]["fetched" if has_answered else "failed"] += 1
        if has_answered:
            ours[seed]["new"] += status < 300 and url not in answered
            answered.add(url)
            depths[url] = (seed, depth)
    actual = json.loads(seedbank("evaluate", "bank", "actual", "--since", str(batch), "--format", "json"))
    assert actual["batches"] == [batch], actual["batches"]
    listed = [seed for plan in actual["plans"] for seed in plan["seeds"]]
    theirs = {seed["url"]: seed["counts"] for seed in [*listed, *actual["others"]] if any(seed["counts"].values())}
    faults = [f"{seed}: spider {dict(ours[seed])}, bank {theirs.get(seed)}" for seed in ours.keys() | theirs.keys()
              if any(ours[seed][name] != theirs.get(seed, {}).get(name, 0) for name in ("fetched", "new", "failed"))]
    assert not faults, "attributed otherwise than the spider counts:\n" + "\n".join(faults)
    assert not any(actual["unattributed"].values()), actual["unattributed"]
    # How the crawler came to some of the pages.
    for url, (seed, depth) in sorted(depths.items())[::40]:
        origin = json.loads(seedbank("page", "bank", url, "--format", "json"))["origin"]
        assert (origin["seed"], origin["depth"], origin["batch"]) == (seed, depth, batch), (url, seed, depth, origin)
    promised = [seed["promised"] for seed in listed if "promised" in seed]
    total = {name: sum(counts[name] for counts in ours.values()) for name in ("fetched", "new", "failed")}
    told = f"{len(ours)} seeds with the spider's own counts, {total['fetched']} fetched, {total['new']} new, {total['failed']} failed"
    if promised:
        pages, known = (sum(seed[name] for seed in promised) for name in ("pages", "known"))
        told += f"; promised were {pages} pages, {known} of them not crawled"
    return told


def truth(account):
    """What must be known of each page that was sent: as it was sent last."""
    known = {}
    for url, status, links, location in account:
        if status in (404, 410):
            # A page that the bank never heard of before has no record of being gone.
            known[url] = "gone"
        elif location:
            known[url] = ("redirect", location)
        elif links is None:
            known[url] = "file"
        else:
            targets = {urldefrag(urljoin(url, link)).url for link in links}
            known[url] = frozenset(targets - {url})
    return known


def banked(lines):
    """The same, of the records that the bank exports."""
    known = {}
    for line in lines:
        record = json.loads(line)
        if record.get("gone"):
            known[record["url"]] = "gone"
        elif record.get("redirect"):
            known[record["url"]] = ("redirect", record["redirect"])
        elif not record.get("outlinks") and record["url"].endswith(".pdf"):
            known[record["url"]] = "file"
        else:
            known[record["url"]] = frozenset(record.get("outlinks", []))
    return known


def failures(bank):
    """How the pages that failed since they last answered did, as the bank exports it."""
    records = map(json.loads, seedbank("export", bank).splitlines())
    return {record["url"]: record["status"] for record in records if "failures" in record}


def compare(web, bank):
    """Fails where a page or a link is lost, where one is told that was never sent, or a dead page lives."""
    sent, found = truth(web.account), banked(seedbank("export", bank).splitlines())
    faults = []
    for url, fact in sent.items():
        if found.get(url) != fact:
            faults.append(f"{url}\n  sent {fact}\n  bank {found.get(url)}")
    # Of some pages only failures are known.
    faults += [f"{url} was never sent" for url in found.keys() - sent.keys() - web.faults.keys()]
    expected = {url: status for url, (_, _, status) in web.failures.items()}
    failed = failures(bank)
    forbidden = {url for url, status in web.faults.items() if status == "robots"}
    for url in (expected.keys() | failed.keys()) - forbidden:
        if expected.get(url) != failed.get(url):
            faults.append(f"{url}\n  failed {expected.get(url)}\n  bank {failed.get(url)}")
    faults += [f"{url}: {failed[url]}" for url in forbidden & failed.keys() if failed[url] != "robots"]
    assert not faults, f"{len(faults)} pages differ from what was sent:\n" + "\n".join(faults[:5])
    kinds = collections.Counter(
        fact if isinstance(fact, str) else "redirect" if isinstance(fact, tuple) else "page"
        for fact in sent.values()
    )
    links = sum(len(fact) for fact in sent.values() if isinstance(fact, frozenset))
    seedbank("check", bank)
    return (f"{kinds['page']} pages with {links} links, {kinds['redirect']} redirects, {kinds['gone']} gone, "
            f"failed {dict(collections.Counter(failed.values()))}")


def seen_in(account):
    """All addresses that a crawl came across."""
    return {
        address
        for url, _, links, location in account
        for address in [url, *(links or []), *([location] if location else [])]
    }


def told(name, account, known, crawled):
    """Says what a crawl came to per fetch: addresses, those new to the bank, pages not crawled before."""
    pages = {url for url, status, *_ in account if status == 200}
    seen = seen_in(account)
    counts = [len(seen), len(seen - known), len(pages - crawled)]
    rates = [count / len(account) for count in counts]
    print(f"  {name}: {len(account)} fetched; {counts[0]} addresses seen ({rates[0]:.2f} per fetch), "
          f"{counts[1]} new to the bank ({rates[1]:.2f}), {counts[2]} pages not crawled before ({rates[2]:.2f})")
    return rates


def main():
    if not importlib.util.find_spec("scrapy"):
        print("SKIPPED scrapy: pip install scrapy")
        return
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    web = Web(random.Random(21))
    proxy = server(web)
    start = [{"url": f"http://{host}/"} for host in web.hosts[:5]]
    with open("start.json", "w") as file:
        json.dump(start, file)
    seedbank("init", "bank")
    seeds, known, crawled, answered = "start.json", set(), set(), set()
    for number in range(1, ROUNDS + 1):
        web.round = None
        if number > 1:
            first, second, third, fourth = (web.sites[host] for host in web.hosts[1:5])
            web.faults = {first[0]: 503, second[0]: "timeout", third[0]: "robots"}
            web.faults |= {fourth[0]: 503} if number == 2 else {}
            happened = web.turn()
            print("between rounds:", ", ".join(f"{count} {what}" for what, count in happened.items()))
            # The same web from the spider's own list, at the same price, which the bank does not see.
            kept, web.account = web.account, []
            crawl(proxy, "start.json", f"own-{number}.jsonl")
            own, web.account = web.account, kept
        before, web.round = len(web.account), number
        counted = crawl(proxy, seeds, f"round-{number}.jsonl")
        fetched = web.account[before:]
        seedbank("ingest", "bank", f"round-{number}.jsonl", "--max-loss", "100")
        print(f"round {number}: the bank has what was sent: {compare(web, 'bank')}")
        print(f"  {compare_seeds(counted, answered, number)}")
        ours = told("from seeds" if number > 1 else "from its own list", fetched, known, crawled)
        if number > 1:
            theirs = told("from its own list", own, known, crawled)
            times = [f"{one / max(other, 1e-9):.2f}" for one, other in zip(ours, theirs)]
            print(f"  seeds beside the spider's own list, per fetch: {times[0]} times the addresses, "
                  f"{times[1]} times the new ones, {times[2]} times the pages not crawled before")
        known |= seen_in(fetched)
        crawled |= {url for url, status, *_ in fetched if status == 200}
        # All rounds are within a half-day.
        plan = ["--goal", "discovery", "--seeds", str(SEEDS), "--budget", str(BUDGET), "--max-failures", "1"]
        seedbank("refresh", "bank", *plan)
        seeds = f"seeds-{number}.json"
        listed = seedbank("seeds", "bank", "--format", "scrapy")
        with open(seeds, "w") as file:
            file.write(listed)
        listed = {request["url"] for request in json.loads(listed)}
        assert listed, "no seeds"
        failed = failures("bank")
        assert not failed.keys() & listed, f"seeds that failed: {failed.keys() & listed}"
        print(f"  {len(failed)} pages failed, none of them a seed")
    assert failed, "no page failed"


if __name__ == "__main__":
    main()
