"""A web with every kind of answer, crawled by wget twice and by Chromium: the bank must know what the server knows.

    python3 tests/interop/kinds.py SEEDBANK [FOLDER]

The web is one server on loopback that is taken for a proxy: 200 addresses on four hosts, with pages, documents, styles,
scripts, images, redirects, canonical links, pages that fail with 503, pages that are gone, and a robots.txt for each host. The
second crawl by wget begins with the index of the first, so equal answers are revisits; some pages have changed meanwhile. What
Chromium requests is written by the server as a WARC file, one response record for each answer. What is missing is skipped, which
is said: `apt install wget chromium`.
"""

import collections
import datetime
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

from scrapy_loop import seedbank, server

HOSTS = [f"{name}.example" for name in "abcd"]
PAGES = 30
# What each host has beside its pages.
OTHERS = [
    ("style.css", "text/css", "resource"), ("code.js", "text/javascript", "resource"), ("dot.png", "image/png", "resource"),
    ("data.json", "application/json", "resource"), ("paper.pdf", "application/pdf", "document"),
    ("feed.xml", "application/rss+xml", "document"),
]


class Web:
    """The answers, and an account of those that were sent, by URL."""

    def __init__(self):
        self.version, self.sent, self.lock, self.warc = 1, collections.OrderedDict(), threading.Lock(), None

    def links(self, host, number):
        """The links of a page: a tree with links to other hosts, and to documents, of which wget takes all."""
        other = HOSTS[(HOSTS.index(host) + 1) % len(HOSTS)]
        links = [f"http://{host}/{child}.html" for child in (2 * number + 1, 2 * number + 2) if child < PAGES]
        links += [f"http://{other}/{number}.html"] if number % 5 == 0 else []
        links += [f"http://{host}/paper.pdf", f"http://{host}/feed.xml"] if number == 0 else []
        links += [f"http://{host}/moved/{number}", f"http://{host}/busy/{number}", f"http://{host}/none/{number}"] if number % 8 == 3 else []
        links += [f"http://{host}/new/{number}.html"] if self.version == 2 and number % 10 == 1 else []
        return links

    def content(self, url):
        """The status, type, location and body of an answer, and what the bank has to know of it."""
        _, _, host, path = url.split("/", 3)
        if path == "robots.txt":
            return 200, "text/plain", None, b"User-agent: *\nDisallow:\n", ("resource", None)
        for name, kind, meaning in OTHERS:
            if path == name:
                return 200, kind, None, f"{name} of {host}".encode(), (meaning, None)
        if path.startswith("moved/"):
            to = f"http://{host}/{path.removeprefix('moved/')}.html"
            return 301, "text/html", to, b"", ("redirect", to)
        if path.startswith("busy/"):
            return 503, "text/html", None, b"busy", ("failed", 503)
        number = path.removesuffix(".html").removeprefix("new/")
        if not path.endswith(".html") or int(number) >= PAGES:
            return 404, "text/html", None, b"none", ("gone", None)
        links = [] if path.startswith("new/") else self.links(host, int(number))
        # All pages of one host name its first page as canonical.
        canonical = f'<link rel="canonical" href="http://{host}/0.html">' if host == HOSTS[1] else ""
        parts = '<link rel="stylesheet" href="/style.css"><script src="/code.js"></script><img src="/dot.png">'
        body = f"<!doctype html><title>{url}</title>{canonical}{parts}" + "".join(f'<a href="{to}">{to}</a> ' for to in links)
        return 200, "text/html; charset=utf-8", None, body.encode(), ("page", frozenset(links))

    def answer(self, url):
        """Sends and accounts for an answer: the status, type and body, or the location of a redirect."""
        if url.split("/")[2] not in HOSTS:
            # What the browser asks its maker for.
            return 404, "text/html", b""
        status, kind, location, body, fact = self.content(url)
        with self.lock:
            self.sent[url] = fact
            if self.warc:
                head = f"HTTP/1.1 {status} x\r\nContent-Type: {kind}\r\n" + (f"Location: {location}\r\n" if location else "")
                block = head.encode() + b"\r\n" + body
                now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
                header = (f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {now}\r\n"
                          f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n")
                self.warc.write(header.encode() + block + b"\r\n\r\n")
        return status, kind, location.encode() if location else body


def by_wget(proxy, name, *options):
    command = ["wget", "--no-config", "--recursive", "--level=inf", "--span-hosts", "--page-requisites", "--delete-after", "--tries=1",
               "--no-verbose", "--warc-cdx", f"--warc-file={name}", "--directory-prefix=wget", *options, f"http://{HOSTS[0]}/0.html"]
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    subprocess.run(command, env=environment | {"http_proxy": proxy}, capture_output=True, check=False)
    return f"{name}.warc.gz"


def by_chromium(proxy, web, chromium):
    """Opens each page of two hosts, which requests their parts."""
    with gzip.open("chromium.warc.gz", "wb") as web.warc:
        pages = [f"http://{host}/{number}.html" for host in HOSTS[:2] for number in range(3)]
        for url in [*pages, f"http://{HOSTS[0]}/busy/3", f"http://{HOSTS[0]}/moved/3", f"http://{HOSTS[0]}/none/3"]:
            subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                            f"--proxy-server={proxy}", f"--user-data-dir={os.path.abspath('profile')}", "--dump-dom", url],
                           capture_output=True, check=False, timeout=120)
    web.warc = None
    return "chromium.warc.gz"


def compare(web, bank, name):
    """Fails where the bank differs from what was sent."""
    records = {}
    for record in map(json.loads, seedbank("export", bank).splitlines()):
        # A page has a record for each time of its fields; the first is that of the last fetch.
        records[record["url"]] = records.get(record["url"], {}) | {key: value for key, value in record.items()
                                                                  if key not in records.get(record["url"], {})}
    faults = []
    for url, (meaning, value) in web.sent.items():
        record = records.get(url, {})
        if meaning == "page":
            found = ("page" if "kind" not in record else record["kind"], frozenset(record.get("outlinks", ["unknown"])))
        elif meaning in ("resource", "document"):
            found = (record.get("kind"), None)
        else:
            found = (meaning, {"redirect": record.get("redirect"), "failed": record.get("status"), "gone": None}[meaning])
            found = found if meaning != "gone" or record.get("gone") else "not gone"
        if found != (meaning, value):
            faults.append(f"{url}\n  sent {meaning} {value}\n  bank {record}")
    known = {to for meaning, links in web.sent.values() if meaning == "page" for to in links}
    faults += [f"{url} was never sent" for url in records.keys() - web.sent.keys() - known]
    assert not faults, f"{name}: {len(faults)} addresses differ:\n" + "\n".join(faults[:5])
    status = json.loads(seedbank("status", bank, "--format", "json"))
    pages = sum(meaning in ("page", "document") for meaning, _ in web.sent.values())
    assert status["crawled"] == pages, (status["crawled"], pages)
    seedbank("check", bank)
    print(f"{name}: {dict(collections.Counter(meaning for meaning, _ in web.sent.values()))}")


def main():
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    web = Web()
    proxy = server(web)
    if shutil.which("wget"):
        seedbank("init", "bank")
        seedbank("ingest", "bank", by_wget(proxy, "first"))
        compare(web, "bank", "wget")
        web.version = 2
        file = by_wget(proxy, "second", "--warc-dedup=first.cdx")
        with gzip.open(file) as records:
            revisits = records.read().count(b"WARC-Type: revisit")
        assert revisits > 50, revisits
        seedbank("ingest", "bank", file)
        compare(web, "bank", f"wget again, {revisits} revisits")
    else:
        print("SKIPPED wget: apt install wget")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium:
        web.sent.clear()
        seedbank("init", "browser")
        seedbank("ingest", "browser", by_chromium(proxy, web, chromium))
        compare(web, "browser", "Chromium")
    else:
        print("SKIPPED Chromium: apt install chromium")


main()
