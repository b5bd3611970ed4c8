"""Tables that DuckDB and pyarrow write, read back: the same bank as from the same records as JSON Lines.

    python3 tests/interop/columns.py SEEDBANK [FOLDER]

What is missing is skipped, which is said: `pip install duckdb pyarrow`. CRAWL may name another file of
JSON Lines than the generated one.
"""

import datetime
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile

SEEDBANK = os.path.abspath(sys.argv[1])

# The fields of a record as DuckDB has them.
COLUMNS = """{url: 'VARCHAR', outlinks: 'VARCHAR[]', spam: 'BOOLEAN', clicks: 'BIGINT', uncrawled_outlinks: 'INTEGER',
    quality: 'DOUBLE', digest: 'VARCHAR', fetched: 'TIMESTAMPTZ', redirect: 'VARCHAR', canonical: 'VARCHAR',
    gone: 'BOOLEAN'}"""


def seedbank(*args, **more):
    done = subprocess.run([SEEDBANK, *args], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{args}: {done.stderr}"
    return done.stdout


def has(module, package):
    if importlib.util.find_spec(module):
        return True
    print(f"SKIPPED {package}: pip install {package}")
    return False


def bank_of(file, *args, has_links=True, **more):
    """What a bank of the file exports, its seeds where it has links, and what was counted."""
    shutil.rmtree("bank", ignore_errors=True)
    seedbank("init", "bank")
    report = json.loads(seedbank("ingest", "bank", file, "--snapshot", "--format", "json", *args, **more))
    read = report["read"]
    counted = {name: read[name] for name in ("records", "rejects", "dropped_outlinks", "zones_assumed")}
    export, seeds = seedbank("export", "bank"), ""
    if has_links:
        seedbank("refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "50")
        seeds = seedbank("seeds", "bank")
    return export, seeds, counted


class Judge:
    def __init__(self, file):
        self.wanted = bank_of(file)
        assert self.wanted[2]["records"] > 100, "the crawl is too small to say much"
        self.tried = 0

    def same(self, file, *args, zones=0, **more):
        """The bank of this file is that of the records."""
        export, seeds, counted = bank_of(file, *args, **more)
        assert export == self.wanted[0], f"{file}: another export"
        assert seeds == self.wanted[1], f"{file}: other seeds"
        wanted = dict(self.wanted[2], zones_assumed=counted["zones_assumed"])
        assert counted == wanted, f"{file}: {counted}"
        assert (counted["zones_assumed"] > 0) == bool(zones), f"{file}: {counted}"
        self.tried += 1
        if os.path.exists(file):
            os.remove(file)


def duckdb_tables(judge, crawl):
    import duckdb

    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    con.execute(f"CREATE TABLE crawl AS SELECT * FROM read_json('{crawl}', format = 'newline_delimited', columns = {COLUMNS})")
    for compression in ["snappy", "gzip", "zstd", "lz4_raw", "uncompressed"]:
        for version in ["V1", "V2"]:
            for rows in [2048, 100000]:
                con.execute(
                    f"COPY crawl TO 'duck.parquet' (FORMAT parquet, COMPRESSION {compression},"
                    f" PARQUET_VERSION {version}, ROW_GROUP_SIZE {rows})"
                )
                judge.same("duck.parquet")
    # DuckDB writes lists as CSV in a way of its own; as JSON or with spaces they are read.
    links = {"to_json(outlinks)": "json", "CASE WHEN outlinks = [] THEN '[]' ELSE array_to_string(outlinks, ' ') END": "spaces"}
    for written, name in links.items():
        for delimiter, ending in [(",", "csv"), (";", "csv"), ("\\t", "tsv")]:
            con.execute(
                f"COPY (SELECT * REPLACE ({written} AS outlinks) FROM crawl) TO '{name}.{ending}'"
                f" (HEADER, DELIMITER '{delimiter}')"
            )
            judge.same(f"{name}.{ending}")
    print(f"DuckDB {duckdb.__version__}: {judge.tried} tables of Parquet, CSV and TSV are the same bank")


def arrow_table(crawl):
    import pyarrow
    import pyarrow.compute as compute
    import pyarrow.json as reader

    kinds = [("url", pyarrow.string()), ("outlinks", pyarrow.list_(pyarrow.string())), ("spam", pyarrow.bool_()),
             ("clicks", pyarrow.int64()), ("uncrawled_outlinks", pyarrow.int32()), ("quality", pyarrow.float64()),
             ("digest", pyarrow.string()), ("fetched", pyarrow.string()), ("redirect", pyarrow.string()),
             ("canonical", pyarrow.string()), ("gone", pyarrow.bool_())]
    options = reader.ParseOptions(explicit_schema=pyarrow.schema(kinds), unexpected_field_behavior="error")
    table = reader.read_json(crawl, read_options=reader.ReadOptions(block_size=64 << 20), parse_options=options)
    times = compute.cast(compute.replace_substring(table["fetched"], "Z", ""), pyarrow.timestamp("us"))
    times = compute.assume_timezone(times, "UTC")
    return table.set_column(table.schema.get_field_index("fetched"), "fetched", times)


def pyarrow_tables(judge, crawl):
    import pyarrow
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.ipc
    import pyarrow.parquet

    before = judge.tried
    table = arrow_table(crawl)
    write = pyarrow.parquet.write_table
    for compression in ["snappy", "gzip", "zstd", "lz4", "none"]:
        for dictionary in [True, False]:
            for version in ["1.0", "2.0"]:
                for rows in [1000, 1 << 20]:
                    write(table, "arrow.parquet", compression=compression, use_dictionary=dictionary,
                          data_page_version=version, row_group_size=rows)
                    judge.same("arrow.parquet")
    for unit in ["s", "ms", "ns"]:
        times = table["fetched"].cast(pyarrow.timestamp(unit, "+01:00"), safe=False)
        other = table.set_column(table.schema.get_field_index("fetched"), "fetched", times)
        if unit != "s":
            write(other, "times.parquet", version="2.6")
            judge.same("times.parquet")
    bare = table["fetched"].cast(pyarrow.timestamp("us"))
    other = table.set_column(table.schema.get_field_index("fetched"), "fetched", bare)
    write(other, "bare.parquet")
    judge.same("bare.parquet", zones=1)
    write(other, "int96.parquet", use_deprecated_int96_timestamps=True)
    judge.same("int96.parquet", zones=1)
    # Other types of the same values.
    large = pyarrow.large_string()
    links = pyarrow.large_list(pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))
    other = table.set_column(0, "url", table["url"].cast(large))
    other = other.set_column(1, "outlinks", table["outlinks"].cast(links))
    for kind in ["file", "stream"]:
        make = pyarrow.ipc.new_file if kind == "file" else pyarrow.ipc.new_stream
        for compression in [None, "lz4", "zstd"]:
            for rows in [300, 1 << 20]:
                for each in [table, other]:
                    options = pyarrow.ipc.IpcWriteOptions(compression=compression, unify_dictionaries=True)
                    if kind == "stream":
                        options = pyarrow.ipc.IpcWriteOptions(compression=compression)
                    with make("arrow.arrow", each.schema, options=options) as out:
                        out.write_table(each, max_chunksize=rows)
                    if kind == "stream" and compression is None:
                        with open("arrow.arrow", "rb") as file:
                            judge.same("-", stdin=file)
                    judge.same("arrow.arrow")
    for compression in ["uncompressed", "lz4", "zstd"]:
        pyarrow.feather.write_feather(table, "arrow.feather", compression=compression)
        judge.same("arrow.feather")
    written = pyarrow.array([None if l is None else json.dumps(l) for l in table["outlinks"].to_pylist()], pyarrow.string())
    flat = table.set_column(1, "outlinks", written)
    for delimiter, ending in [(",", "csv"), (";", "csv"), ("\t", "tsv")]:
        options = pyarrow.csv.WriteOptions(delimiter=delimiter)
        pyarrow.csv.write_csv(flat, f"arrow.{ending}", options)
        judge.same(f"arrow.{ending}")
    print(f"pyarrow {pyarrow.__version__}: {judge.tried - before} tables of Parquet, Arrow, CSV and TSV are the same bank")


# https://github.com/commoncrawl/cc-index-table, the flat schema: names and types in their order.
INDEX = [
    ("url_surtkey", "string"), ("url", "string"), ("url_host_name", "string"), ("url_host_tld", "string"),
    ("url_host_2nd_last_part", "string"), ("url_host_3rd_last_part", "string"), ("url_host_4th_last_part", "string"),
    ("url_host_5th_last_part", "string"), ("url_host_registry_suffix", "string"),
    ("url_host_registered_domain", "string"), ("url_host_private_suffix", "string"),
    ("url_host_private_domain", "string"), ("url_host_name_reversed", "string"), ("url_protocol", "string"),
    ("url_port", "int32"), ("url_path", "string"), ("url_query", "string"), ("fetch_time", "timestamp[ms]"),
    ("fetch_status", "int16"), ("fetch_redirect", "string"), ("content_digest", "string"),
    ("content_mime_type", "string"), ("content_mime_detected", "string"), ("content_charset", "string"),
    ("content_languages", "string"), ("content_truncated", "string"), ("warc_record_id", "binary"),
    ("warc_filename", "string"), ("warc_record_offset", "int32"), ("warc_record_length", "int32"),
    ("warc_segment", "string"), ("crawl", "string"), ("subset", "string"),
]


def index_of_common_crawl():
    import pyarrow
    import pyarrow.parquet

    statuses = [200, 301, 404, 410, 503, 304, 206, 302]
    rows, records = [], []
    for number in range(800):
        url = f"http://s{number % 90}.example/{number}"
        status = statuses[number % len(statuses)]
        time = datetime.datetime(2024, 5, 18, 1, number // 60, number % 60)
        row = dict.fromkeys(name for name, _ in INDEX)
        row |= {"url": url, "fetch_status": status, "fetch_time": time, "content_digest": f"{number:032}".translate(str.maketrans("0189", "ABCD")),
                "url_surtkey": "example", "warc_filename": "x.warc.gz", "crawl": "CC-MAIN-2024-22", "subset": "warc"}
        record = {"url": url, "fetched": time.isoformat() + "Z"}
        if status in (200, 206):
            record["digest"] = "sha1:" + row["content_digest"]
        elif status in (301, 302):
            row["fetch_redirect"] = f"/{number + 1}"
            record["redirect"] = f"http://s{number % 90}.example/{number + 1}"
        elif status in (404, 410):
            record["gone"] = True
        else:
            record = None
        rows.append(row)
        records.extend([record] if record else [])
    kinds = {"timestamp[ms]": pyarrow.timestamp("ms", "UTC"), "binary": pyarrow.binary(), "string": pyarrow.string(),
             "int32": pyarrow.int32(), "int16": pyarrow.int16()}
    table = pyarrow.Table.from_pylist(rows, pyarrow.schema([(name, kinds[kind]) for name, kind in INDEX]))
    pyarrow.parquet.write_table(table, "index.parquet", compression="gzip", row_group_size=200)
    with open("index.jsonl", "w") as out:
        out.writelines(json.dumps(record) + "\n" for record in records)
    wanted = bank_of("index.jsonl", has_links=False)
    assert bank_of("index.parquet", has_links=False)[0] == wanted[0], "the index is another bank"
    # As query engines write it out: every cell in quotes, times without a zone, null as nothing.
    with open("index.csv", "w") as out:
        out.write(",".join(f'"{name}"' for name, _ in INDEX) + "\n")
        for row in rows:
            time = row["fetch_time"].isoformat(" ", "milliseconds")
            cells = dict(row, fetch_time=time).values()
            out.write(",".join("" if cell is None else f'"{cell}"' for cell in cells) + "\n")
    assert bank_of("index.csv", has_links=False)[0] == wanted[0], "the index as CSV is another bank"
    print(f"an index of {len(rows)} captures as Parquet and CSV is the bank of {len(records)} records")


def main():
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    crawl = os.environ.get("CRAWL")
    if not crawl:
        if not os.path.exists("crawl"):
            seedbank("synth", "crawl", "--pages", "5000", "--days", "1", "--rng-seed", "1")
        with open("crawl.jsonl", "w") as out:
            subprocess.run(["zstd", "-dc", "crawl/day-000.jsonl.zst"], check=True, stdout=out)
        crawl = "crawl.jsonl"
    judge = Judge(crawl)
    if has("duckdb", "duckdb"):
        duckdb_tables(judge, crawl)
    if has("pyarrow", "pyarrow"):
        pyarrow_tables(judge, crawl)
        index_of_common_crawl()


main()
