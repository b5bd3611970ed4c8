"""wget and warcio in the loop: crawl, ingest the WARC files, and refresh, on a web that changes and fails meanwhile.

    python3 tests/interop/warc_loop.py SEEDBANK [FOLDER]

The web, its changes and its faults are those of scrapy_loop.py: one server on loopback that is taken for a proxy. After
the first round, four seeds of the bank fail: for ever with 503, for ever by answering too late, for one round with 503, and
by a robots.txt that forbids them. A WARC file has what the server answered, so the bank must know every page as it was sent
last, and every 503, no more and no fewer. A fetch without an answer has no response in the file:

    wget     the request alone of a fetch that timed out; the reason is only in the text of its log
    warcio   neither record (`capture_http` raises EOFError for an empty answer)
    both     nothing of a page that robots.txt forbids

So a seed that answers 503 leaves the list until it answers otherwise. The one that times out stays: that it fails has to come
from the log of a crawler. What is missing is skipped, which is said: `apt install wget`, `pip install warcio`.
"""

import collections
import html
import http.client
import importlib.util
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.robotparser
from urllib.parse import urldefrag, urljoin

# To be loaded before http.client is used: it replaces the connections of that.
WARCIO = importlib.util.find_spec("warcio") is not None
if WARCIO:
    from warcio.archiveiterator import ArchiveIterator
    from warcio.capture_http import capture_http

import scrapy_loop
from scrapy_loop import TIMEOUT, Page, banked, failures, seedbank, truth

ROUNDS = 4


class Web(scrapy_loop.Web):
    """The same with lists of contents, and rules in robots.txt that are prefixes, as wget and Python read them."""

    def put_contents(self, urls):
        """A page for each of some sites that links to all others, so that it is a seed, and is linked from the first."""
        for url in urls:
            host = url.split("/")[2]
            home = self.pages[f"http://{host}/"]
            self.pages[f"http://{host}/"] = home._replace(links=[*home.links, url])
            self.pages[url] = Page(200, list(self.sites[host]), None, 0)

    def answer(self, url):
        status, kind, body = super().answer(url)
        if url.endswith("/robots.txt"):
            body = body.replace(b"$\n", b"\n")
        return status, kind, body


def by_wget(proxy, start, name):
    """A recursive crawl of all that the start leads to. wget fails if any page does."""
    command = ["wget", "--no-config", "--recursive", "--level=inf", "--span-hosts", "--follow-tags=a", "--delete-after",
               "--tries=1", f"--timeout={TIMEOUT}", "--no-verbose", f"--warc-file={name}",
               "--directory-prefix=wget", start]
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    environment["http_proxy"] = proxy
    subprocess.run(command, env=environment, capture_output=True, check=False)
    return f"{name}.warc.gz"


def by_warcio(proxy, start, name):
    """The same by a small crawler whose connections warcio records."""
    file = f"{name}.warc.gz"
    address = proxy.removeprefix("http://")

    def fetch(url):
        connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
        try:
            connection.request("GET", url, headers={"Host": url.split("/")[2], "Connection": "close"})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    rules, queue, seen = {}, collections.deque([start]), {start}
    with capture_http(file, gzip=True):
        while queue:
            url = queue.popleft()
            host = url.split("/")[2]
            if host not in rules:
                rules[host] = urllib.robotparser.RobotFileParser()
                rules[host].parse(fetch(f"http://{host}/robots.txt")[2].splitlines())
            if not rules[host].can_fetch("*", url):
                continue
            try:
                status, headers, body = fetch(url)
            # warcio cannot read the status line of an empty answer.
            except (TimeoutError, EOFError):
                continue
            links = [headers["Location"]] if 300 <= status < 400 else []
            if status == 200 and headers["Content-Type"] == "text/html":
                links = [html.unescape(link) for link in re.findall('href="([^"]*)"', body)]
            for link in links:
                to = urldefrag(urljoin(url, link)).url
                if to.startswith("http://") and to not in seen:
                    seen.add(to)
                    queue.append(to)
    return file


def compare(web, bank):
    """Fails where the bank differs from what was sent; says what it knows."""
    sent, found = truth(web.account), banked(seedbank("export", bank).splitlines())
    faults = [f"{url}\n  sent {fact}\n  bank {found.get(url)}" for url, fact in sent.items() if found.get(url) != fact]
    # robots.txt is in the archive like any page.
    pages = {url for url in found if not url.endswith("/robots.txt")}
    faults += [f"{url} was never sent" for url in pages - sent.keys() - web.faults.keys()]
    failed = failures(bank)
    answered = {url: status for url, (_, _, status) in web.failures.items() if status == 503}
    for url in answered.keys() | failed.keys():
        if answered.get(url) != failed.get(url):
            faults.append(f"{url}\n  failed {answered.get(url)}\n  bank {failed.get(url)}")
    assert not faults, f"{len(faults)} pages differ from what was sent:\n" + "\n".join(faults[:5])
    seedbank("check", bank)
    kinds = collections.Counter(fact if isinstance(fact, str) else "redirect" if isinstance(fact, tuple) else "page"
                                for fact in sent.values())
    return f"{dict(kinds)}, failed {sorted(failed.values())}"


def unanswered(file):
    """The URLs of requests that have no response."""
    requests, responses = set(), set()
    with open(file, "rb") as stream:
        for record in ArchiveIterator(stream):
            url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
            {"request": requests, "response": responses}.get(record.rec_type, set()).add(url)
    return requests - responses


def listed(plan, *parameters):
    seedbank("refresh", "bank", "--plan", plan, "--goal", "sites", "--per-site", "2", *parameters)
    return seedbank("seeds", "bank", "--plan", plan).splitlines()


def loop(name, crawl):
    folder = os.path.join(os.getcwd(), name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.chdir(folder)
    web = Web(random.Random(21))
    proxy = scrapy_loop.server(web)
    seedbank("init", "bank")
    start = f"http://{web.hosts[0]}/"
    faulty = [f"http://{host}/contents.html" for host in web.hosts[1:5]]
    for_ever, late, forbidden, once = faulty
    for number in range(1, ROUNDS + 1):
        web.round = number
        if number > 1:
            web.turn()
        web.put_contents(faulty)
        if number > 1:
            web.faults = {for_ever: 503, late: "timeout", forbidden: "robots"} | ({once: 503} if number == 2 else {})
        before = len(web.account)
        file = crawl(proxy, start, f"round-{number}")
        assert len(web.account) > before + 500, "the crawl ended early"
        seedbank("ingest", "bank", file, "--max-loss", "100")
        print(f"{name}, round {number}, {len(web.account) - before} fetched: the bank has what was sent: {compare(web, 'bank')}")
        # All rounds are within a half-day.
        seeds, barred = listed("policy", "--max-failures", "1"), set(failures("bank"))
        assert not barred & set(seeds), f"seeds that failed: {barred & set(seeds)}"
        if number == 1:
            assert set(faulty) <= set(seeds), seeds
        else:
            requested = {late} if name == "wget" else set()
            if WARCIO:
                assert unanswered(file) == requested, unanswered(file)
            without = listed("none", "--max-failures", "0")
            # Failing costs a page its place until it answers, and nothing else.
            assert set(faulty) <= set(without), without
            assert set(faulty) & set(seeds) == set(faulty) - barred, seeds
            print(f"  seeds: {len(set(faulty) & set(seeds))} of the {len(faulty)} pages that fail or failed")
    assert barred == {for_ever}, barred
    os.chdir("..")


def main():
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    if shutil.which("wget"):
        loop("wget", by_wget)
    else:
        print("SKIPPED wget: apt install wget")
    if WARCIO:
        loop("warcio", by_warcio)
    else:
        print("SKIPPED warcio: pip install warcio")


main()
