"""WARCs as other programs write them, in a bank: the links are those that Python's own parser of HTML finds.

    python3 tests/interop/warc.py SEEDBANK [FOLDER]

What is missing is skipped, which is said: `pip install warcio fastwarc brotli`.
"""

import gzip
import html.parser
import http.client
import http.server
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from urllib.parse import urljoin

SEEDBANK = os.path.abspath(sys.argv[1])
PAGES = 60
BROTLI = importlib.util.find_spec("brotli")
DATE = "2024-05-18T01:58:10Z"


def seedbank(*args):
    done = subprocess.run([SEEDBANK, *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def has(module, package):
    if importlib.util.find_spec(module):
        return True
    print(f"SKIPPED {package}: pip install {package}")
    return False


def page(number):
    """A made-up page in a charset of its own."""
    if number % 10 == 9:
        return "application/pdf", b"%PDF-1.7\nWARC/1.0\r\n<a href=/no>"
    links = [f"/{(number * step + 1) % PAGES}.html" for step in (2, 3, 7)]
    links += [f"http://b.example/x?n={number}&amp;m=\u00e9", "../up", "#top", "mailto:x@a.example"]
    text = "<!doctype html><title>&lt;a href=/no></title><script>'<a href=/no>'</script>"
    text += "<base href=/in/>" if number % 7 == 3 else ""
    text += "<!-- <a href=/no> --><p>" + "".join(f"<a class=x href='{link}'>\u00e9</a>" for link in links)
    text += "<map><AREA HREF=area.html></map>" + "words and more words \u00e9 " * 50
    charset = ["utf-8", "iso-8859-1", "utf-16"][number % 3]
    return f"text/html; charset={charset}", text.encode(charset)


class Links(html.parser.HTMLParser):
    def __init__(self, url, text):
        super().__init__()
        self.url, self.base, self.found = url, None, []
        self.feed(text)
        base = urljoin(url, self.base or "")
        links = [urljoin(base, link).split("#")[0] for link in self.found]
        self.links = {link for link in links if link.startswith("http") and link != url}

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "base" and self.base is None:
            self.base = attrs.get("href")
        if tag in ("a", "area") and "href" in attrs:
            self.found.append(attrs["href"])


def expected(origin):
    """The links of each page; None where nothing is said of them."""
    pages = {}
    for number in range(PAGES):
        url = f"{origin}/{number}.html"
        kind, body = page(number)
        pages[url] = None
        if kind.startswith("text/html"):
            found = Links(url, body.decode(kind.split("=")[1])).links
            pages[url] = sorted(link.replace("\u00e9", "%C3%A9") for link in found)
    return pages


def coded(number, body, brotli=BROTLI):
    """The body and headers as a server may send them, and as it was stored."""
    headers = []
    if brotli and number % 8 == 5:
        body = importlib.import_module("brotli").compress(body)
        headers.append(("Content-Encoding", "br"))
    elif number % 4 in (1, 3):
        body = gzip.compress(body)
        headers.append(("Content-Encoding", "gzip"))
    if number % 4 in (2, 3):
        size = len(body) // 2 + 1
        parts = [body[at : at + size] for at in range(0, len(body), size)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
        headers.append(("Transfer-Encoding", "chunked"))
    return headers, body


def check(file, pages, redirects=(), gone=(), failed=()):
    """Ingests a file and compares the bank with what it should hold."""
    bank = file + ".bank"
    seedbank("init", bank)
    told = json.loads(seedbank("ingest", bank, file, "--format", "json"))
    assert told["read"]["rejects"] == {}, told
    lines = seedbank("export", bank).splitlines()
    records = {record["url"]: record for record in map(json.loads, lines)}
    for url, links in pages.items():
        found = sorted(records[url].get("outlinks", []))
        assert found == (links or []), (url, found, links)
        assert "digest" in records[url] or "outlinks" in records[url], records[url]
    assert set(records) == {*pages, *redirects, *gone, *failed}
    for url, to in dict(redirects).items():
        assert records[url]["redirect"] == to, records[url]
    for url in gone:
        assert records[url]["gone"], records[url]
    for url in failed:
        assert records[url]["failures"] == 1, records[url]
    return told["read"]


def count(told):
    return told["records"] + sum(told["passed_over"].values())


def by_warcio(compressed):
    """Responses, revisits and notes of Heritrix, written by warcio; its index has as many records."""
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    origin = "http://a.example"
    pages = expected(origin)
    name = "warcio.warc" + (".gz" if compressed else "")
    with open(name, "wb") as out:
        writer = WARCWriter(out, gzip=compressed)
        writer.write_record(writer.create_warcinfo_record(name, {"software": "warcio"}))
        for number in range(PAGES):
            url = f"{origin}/{number}.html"
            kind, body = page(number)
            # warcio needs another version of brotli than the current one.
            more, body = coded(number, body, brotli=None)
            http_headers = StatusAndHeaders("200 OK", [("Content-Type", kind), *more], protocol="HTTP/1.1")
            dated = {"WARC-Date": DATE}
            answer = writer.create_warc_record(
                url, "response", payload=io.BytesIO(body), http_headers=http_headers, warc_headers_dict=dated
            )
            request = StatusAndHeaders(f"GET /{number}.html HTTP/1.1", [("Host", "a.example")], is_http_request=True)
            request = writer.create_warc_record(url, "request", http_headers=request, warc_headers_dict=dated)
            lines = f"via: {origin}/\r\noutlink: {origin}/noted L a/@href\r\noutlink: {origin}/x.png E img/@src\r\n"
            notes = writer.create_warc_record(
                url, "metadata", payload=io.BytesIO(lines.encode()), length=len(lines),
                warc_content_type="application/warc-fields", warc_headers_dict=dated,
            )
            records = [answer, request, notes] if number % 2 else [notes, request, answer]
            for record in records:
                writer.write_record(record)
            if pages[url] is None:
                pages[url] = [f"{origin}/noted"]
        for number, status in ((0, "301 Moved"), (1, "410 Gone"), (2, "500 Down")):
            headers = StatusAndHeaders(status, [("Location", "/0.html")], protocol="HTTP/1.1")
            url = f"{origin}/other/{number}"
            writer.write_record(writer.create_warc_record(url, "response", payload=io.BytesIO(b""), http_headers=headers))
        visited = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        writer.write_record(
            writer.create_revisit_record(f"{origin}/again", "sha1:A", f"{origin}/0.html", DATE, http_headers=visited)
        )
    pages[f"{origin}/again"] = None
    redirects = {f"{origin}/other/0": f"{origin}/0.html"}
    told = check(name, pages, redirects, [f"{origin}/other/1"], [f"{origin}/other/2"])
    run = [sys.executable, "-m", "warcio.cli", "index", name]
    index = subprocess.run(run, check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(index) == count(told), (len(index), told)
    subprocess.run([sys.executable, "-m", "warcio.cli", "check", name], check=True)
    print(f"{name}: {len(pages)} pages of {len(index)} records, as warcio counts them")


def by_fastwarc(compressed):
    """Responses written by fastwarc."""
    from fastwarc import ArchiveIterator, GzipWriter, WarcRecord, WarcRecordType

    origin = "http://f.example"
    name = "fastwarc.warc" + (".gz" if compressed else "")
    out = open(name, "wb")
    for number in range(PAGES):
        kind, body = page(number)
        more, body = coded(number, body)
        lines = "".join(f"{key}: {value}\r\n" for key, value in [("Content-Type", kind), *more])
        record = WarcRecord()
        record.init_headers(record_type=WarcRecordType.response)
        # A member for each record.
        stream = GzipWriter(out) if compressed else out
        record.headers["WARC-Target-URI"] = f"{origin}/{number}.html"
        record.headers["WARC-Date"] = DATE
        record.headers["Content-Type"] = "application/http; msgtype=response"
        record.set_bytes_content(f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode() + body)
        record.write(stream, checksum_data=True)
        if compressed:
            stream.finish()
    out.close()
    told = check(name, expected(origin))
    with open(name, "rb") as stream:
        assert count(told) == PAGES == sum(1 for _ in ArchiveIterator(stream))
    print(f"{name}: {PAGES} pages")


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        number = int(self.path[1:].split(".")[0])
        kind, body = page(number)
        more, body = coded(number, body)
        self.send_response(200)
        for key, value in [("Content-Type", kind), *more]:
            self.send_header(key, value)
        if not any(key == "Transfer-Encoding" for key, _ in more):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def by_capture():
    """A crawl of a server on loopback, recorded by warcio as it went over the wire."""
    from warcio.capture_http import capture_http

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    with capture_http("captured.warc.gz"):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for number in range(PAGES):
            connection.request("GET", f"/{number}.html")
            connection.getresponse().read()
    server.shutdown()
    told = check("captured.warc.gz", expected(f"http://127.0.0.1:{port}"))
    assert count(told) == 2 * PAGES, told
    print(f"captured.warc.gz: {PAGES} pages, with their requests")


def main():
    # To be loaded before http.client, which it replaces.
    warcio = has("warcio", "warcio")
    fastwarc = has("fastwarc", "fastwarc")
    has("brotli", "brotli")
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    for compressed in (False, True):
        if warcio:
            by_warcio(compressed)
        if fastwarc:
            by_fastwarc(compressed)
    if warcio:
        by_capture()


if __name__ == "__main__":
    main()
