"""Lists, sitemaps, indexes and JSON that other programs write, taken in, as far as these are installed.

    python3 tests/interop/lists_in.py SEEDBANK [FOLDER]

What is missing is skipped, which is said: `pip install warcio cdxj-indexer pywb scrapy`.
"""

import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import XMLGenerator

SEEDBANK = os.path.abspath(sys.argv[1])
SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"


def seedbank(*args):
    done = subprocess.run([SEEDBANK, *args], check=True, capture_output=True, text=True)
    return done.stdout


def has(module, package):
    if importlib.util.find_spec(module):
        return True
    print(f"SKIPPED {package}: pip install {package}")
    return False


def bank_of(name, *files):
    """The records of a bank of these files, taken without a flag."""
    bank = f"bank-{name}"
    seedbank("init", bank)
    report = json.loads(seedbank("ingest", bank, *files, "--format", "json"))
    assert not report["read"]["rejects"], report["read"]
    return seedbank("export", bank), report["read"]


def same(name, records, *files):
    """Checks that the files give the bank that these records give."""
    with open(f"{name}.jsonl", "w") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)
    theirs, _ = bank_of(f"{name}-records", f"{name}.jsonl")
    ours, read = bank_of(name, *files)
    assert ours == theirs, f"{name}: {ours} is not {theirs}"
    return read


PAGES = [
    {"url": f"http://p{n % 7}.example/{n}?q={n}&r=%7e", "outlinks": [f"http://q.example/{n} \"[{{"]}
    for n in range(3000)
]


def python_json():
    for name, indent in [("compact", None), ("indented", 2)]:
        with open(f"{name}.json", "w") as array:
            json.dump(PAGES, array, indent=indent)
        same(name, PAGES, f"{name}.json")
    print("JSON arrays of Python, with and without indents")


def scrapy_json():
    from scrapy.exporters import JsonItemExporter

    for name, indent in [("scrapy", None), ("scrapy-indented", 4)]:
        with open(f"{name}.json", "wb") as array:
            exporter = JsonItemExporter(array, indent=indent)
            exporter.start_exporting()
            for page in PAGES:
                exporter.export_item(page)
            exporter.finish_exporting()
        same(name, PAGES, f"{name}.json")
    print("JSON arrays of Scrapy's exporter")


def sitemaps():
    known = [{"url": page["url"]} for page in PAGES]
    for name, prefix in [("default", ""), ("prefix", "sm")]:
        ElementTree.register_namespace(prefix, SITEMAP)
        root = ElementTree.Element(f"{{{SITEMAP}}}urlset")
        for page in known:
            url = ElementTree.SubElement(root, f"{{{SITEMAP}}}url")
            ElementTree.SubElement(url, f"{{{SITEMAP}}}loc").text = page["url"]
            ElementTree.SubElement(url, f"{{{SITEMAP}}}lastmod").text = "2026-11-19"
        ElementTree.ElementTree(root).write(f"{name}.xml", encoding="utf-8", xml_declaration=True)
        same(f"sitemap-{name}", known, f"{name}.xml")
    text = io.StringIO()
    xml = XMLGenerator(text, encoding="utf-8")
    xml.startDocument()
    xml.startElement("urlset", {"xmlns": SITEMAP})
    for page in known:
        xml.startElement("url", {})
        xml.startElement("loc", {})
        xml.characters(page["url"])
        xml.endElement("loc")
        xml.endElement("url")
    xml.endElement("urlset")
    with open("sax.xml", "w") as file:
        file.write(text.getvalue())
    same("sitemap-sax", known, "sax.xml")
    print("sitemaps of ElementTree, with and without a prefix, and of xml.sax")


def archive():
    """An archive of pages that were fetched, redirected, gone, and the same as before."""
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    records = []
    with open("a.warc.gz", "wb") as out:
        writer = WARCWriter(out, gzip=True)
        statuses = ["200 OK", "404 Not Found", "301 Moved", "503 Busy", "200 OK"]
        for n in range(50):
            url = f"http://p{n % 7}.example/{n}"
            status = statuses[n % 5]
            time = f"2026-11-19T04:00:{n:02}Z"
            headers = [("Content-Type", "text/html")]
            if n % 5 == 2:
                headers.append(("Location", "http://to.example/"))
            http = StatusAndHeaders(status, headers, protocol="HTTP/1.1")
            record = writer.create_warc_record(
                url, "response", payload=io.BytesIO(b"page %d" % n), http_headers=http,
                warc_headers_dict={"WARC-Date": time},
            )
            writer.write_record(record)
            digest = record.rec_headers.get_header("WARC-Payload-Digest")
            fact = {"url": url, "fetched": time}
            if n % 5 in (0, 4):
                records.append(fact | {"digest": digest})
            elif n % 5 == 1:
                records.append(fact | {"gone": True})
            elif n % 5 == 2:
                records.append(fact | {"redirect": "http://to.example/"})
            if n % 5 == 4:
                again = f"2026-11-20T04:00:{n:02}Z"
                revisit = writer.create_revisit_record(
                    url, digest, url, time, http_headers=http,
                    warc_headers_dict={"WARC-Date": again},
                )
                writer.write_record(revisit)
                records.append({"url": url, "fetched": again, "digest": digest})
    return records


def indexes(records):
    """Those of programs that tell no targets of redirects have no redirects."""
    fetched = [record for record in records if "redirect" not in record]
    ways = [
        ("cdxj-indexer", "cdxj_indexer", ["cdxj-indexer", "a.warc.gz"]),
        ("cdxj-indexer-sorted", "cdxj_indexer", ["cdxj-indexer", "-s", "a.warc.gz"]),
        ("cdxj-indexer-11", "cdxj_indexer", ["cdxj-indexer", "-11", "a.warc.gz"]),
        ("cdxj-indexer-9", "cdxj_indexer", ["cdxj-indexer", "-9", "a.warc.gz"]),
        ("pywb-11", "pywb", ["cdx-indexer", "a.warc.gz"]),
        ("pywb-9", "pywb", ["cdx-indexer", "-9", "a.warc.gz"]),
        ("pywb-cdxj", "pywb", ["cdx-indexer", "-j", "a.warc.gz"]),
    ]
    for name, module, command in ways:
        if not has(module, command[0] if module == "cdxj_indexer" else "pywb"):
            continue
        program = os.path.join(os.path.dirname(sys.executable), command[0])
        done = subprocess.run([program, *command[1:]], capture_output=True, text=True)
        if done.returncode != 0 or not done.stdout:
            print(f"SKIPPED {name}: {command[0]} fails: {done.stderr.strip()[-200:]}")
            continue
        with open(f"{name}.cdx", "w") as index:
            index.write(done.stdout)
        targets = records if "http://to.example/" in done.stdout else fetched
        read = same(name, targets, f"{name}.cdx")
        kind = "with" if targets is records else "without"
        print(f"{name}: {read['records']} records, {kind} targets of redirects")


def main():
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    python_json()
    if has("scrapy", "scrapy"):
        scrapy_json()
    sitemaps()
    if has("warcio", "warcio"):
        indexes(archive())


main()
