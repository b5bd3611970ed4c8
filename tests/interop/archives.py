"""Archives as other programs pack them: WACZ, `.warc.zst` with a dictionary, and brotli, with the pages of warc.py in them.

    python3 tests/interop/archives.py SEEDBANK [FOLDER]

What is missing is skipped, which is said: `pip install wacz fastwarc brotli`, `apt install zstd`.
"""

import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

from warc import DATE, PAGES, check, coded, count, expected, has, page

ORIGIN = "http://z.example"
# What a skippable frame begins with whose content is a dictionary.
DICTIONARY = 0x184D2A5D


def records(**coding):
    """The pages of warc.py as records of a WARC file."""
    for number in range(PAGES):
        kind, body = page(number)
        more, body = coded(number, body, **coding)
        lines = "".join(f"{key}: {value}\r\n" for key, value in [("Content-Type", kind), *more])
        block = f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode() + body
        head = (
            f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012}>\r\n"
            f"WARC-Date: {DATE}\r\nWARC-Target-URI: {ORIGIN}/{number}.html\r\n"
            f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
        )
        yield head.encode() + block + b"\r\n\r\n"


def same(name):
    """Checks that a file is read as the pages, and returns the counts."""
    pages = expected(ORIGIN)
    told = check(name, pages)
    assert count(told) >= PAGES and not told.get("unread"), told
    return told


def by_wacz():
    """Two WARC files packed by wacz, with its index and its list of pages."""
    # warcio, which wacz uses, needs another version of brotli than the current one.
    packed = list(records(brotli=False))
    with open("one.warc", "wb") as out:
        out.write(b"".join(packed[: PAGES // 2]))
    with open("two.warc.gz", "wb") as out:
        # The index is of members, so each record is one.
        out.write(b"".join(map(gzip.compress, packed[PAGES // 2 :])))
    with open("list.jsonl", "w") as out:
        out.write('{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n')
        for number in range(PAGES):
            out.write(json.dumps({"id": str(number), "url": f"{ORIGIN}/{number}.html", "ts": DATE}) + "\n")
    for name, more in (("plain.wacz", []), ("pages.wacz", ["--copy-pages", "--pages", "list.jsonl"])):
        run = [sys.executable, "-m", "wacz.main", "create", "-o", name, *more, "one.warc", "two.warc.gz"]
        subprocess.run(run, check=True, capture_output=True)
        told = same(name)
        print(f"{name}: {told['records']} records of two WARC files, {told['passed_over']} passed over")


def by_zstd():
    """A frame for each record, with a dictionary that `zstd --train` made."""
    os.makedirs("records", exist_ok=True)
    names = []
    for number, record in enumerate(records()):
        names.append(f"records/{number}")
        with open(names[-1], "wb") as out:
            out.write(record)
    quiet = {"check": True, "capture_output": True}
    subprocess.run(["zstd", "-q", "-f", "--train", *names, "--maxdict=8192", "-o", "dictionary"], **quiet)
    subprocess.run(["zstd", "-q", "-f", "dictionary", "-o", "dictionary.zst"], **quiet)
    subprocess.run(["zstd", "-q", "-f", "-D", "dictionary", *names], **quiet)
    frames = b"".join(open(name + ".zst", "rb").read() for name in names)
    for name, dictionary in (("trained.warc.zst", "dictionary"), ("packed.warc.zst", "dictionary.zst")):
        content = open(dictionary, "rb").read()
        with open(name, "wb") as out:
            out.write(struct.pack("<II", DICTIONARY, len(content)) + content + frames)
        same(name)
        print(f"{name}: {PAGES} frames with the {dictionary} of zstd, {len(content)} bytes")


def by_fastwarc():
    """Files that fastwarc compresses, which it also reads back."""
    from fastwarc import ArchiveIterator
    from fastwarc.stream_io import BrotliReader, BrotliWriter, ZstdWriter, zstd_train_dictionary_from_samples

    dictionary = zstd_train_dictionary_from_samples(list(records()), 8192)
    of_zstd = {"dictionary": dictionary}
    for name, writer, options in (
        ("plain.warc.zst", ZstdWriter, {}),
        ("fastwarc.warc.zst", ZstdWriter, of_zstd),
        ("twice.warc.zst", ZstdWriter, {**of_zstd, "compress_dictionary_frame": True}),
        ("fastwarc.warc.br", BrotliWriter, {}),
    ):
        with open(name, "wb") as out:
            compressed = writer(out, **options)
            for record in records():
                compressed.write(record)
                # A frame for each record; a file of brotli is one stream.
                if writer is ZstdWriter:
                    compressed.finish()
            compressed.close()
        same(name)
        with open(name, "rb") as stream:
            # It does not detect brotli either.
            stream = BrotliReader(stream) if writer is BrotliWriter else stream
            assert sum(1 for _ in ArchiveIterator(stream)) == PAGES
        print(f"{name}: {PAGES} pages in {os.path.getsize(name)} bytes")


def main():
    wacz = has("wacz", "wacz")
    fastwarc = has("fastwarc", "fastwarc")
    has("brotli", "brotli")
    zstd = shutil.which("zstd")
    if not zstd:
        print("SKIPPED zstd: apt install zstd")
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    if wacz:
        by_wacz()
    if zstd:
        by_zstd()
    if fastwarc:
        by_fastwarc()


main()
