"""Graphs, scores and seeds as tables, read by those whom they are for, as far as these are installed.

    python3 tests/interop/graph.py SEEDBANK [FOLDER]

What is missing is skipped, which is said: `pip install duckdb pyarrow`, and for graphs in the BV format
`cargo install webgraph-cli`, whose `webgraph` is found by PATH or WEBGRAPH.
"""

import csv
import gzip
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

SEEDBANK = os.path.abspath(sys.argv[1])


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def seedbank(*args):
    return run(SEEDBANK, *args)


def has(module):
    if importlib.util.find_spec(module):
        return True
    print(f"SKIPPED {module}: pip install {module}")
    return False


def lines(name):
    with open(name, encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split("\t")) for line in file]


def duckdb_reads():
    """Tables joined by ids have the links that the lines have, and make a bank of the same state."""
    import duckdb

    links = duckdb.sql("""
        SELECT a.url, b.url FROM 'g/links.parquet'
        JOIN 'g/pages.parquet' a ON a.id = from_id JOIN 'g/pages.parquet' b ON b.id = to_id
        """).fetchall()
    assert sorted(links) == sorted(lines("g/links.tsv")) and len(links) > 1000
    degrees = duckdb.sql("""
        SELECT count(*) FROM 'g/pages.parquet' p WHERE
        in_links != (SELECT count(*) FROM 'g/links.parquet' WHERE to_id = p.id) OR
        out_links != (SELECT count(*) FROM 'g/links.parquet' WHERE from_id = p.id)
        """).fetchall()
    assert degrees == [(0,)], degrees
    sites = duckdb.sql("""
        SELECT a.site, b.site, links FROM 'g/site-links.parquet'
        JOIN 'g/sites.parquet' a ON a.id = from_id JOIN 'g/sites.parquet' b ON b.id = to_id
        """).fetchall()
    told = [(a, b, int(count)) for a, b, count in lines("g/site-links.tsv")]
    assert sorted(sites) == sorted(told) and sites
    print(f"DuckDB joins {len(links)} links of pages and {len(sites)} of sites")

    # The line of the guide, and the way back: the same pages, links and states.
    duckdb.sql("""
        COPY (SELECT url, CASE WHEN state = 'crawled' THEN coalesce(list, []) END AS outlinks, spam, clicks, quality,
        uncrawled_outlinks FROM 'g/pages.parquet' LEFT JOIN (SELECT from_id, list(p.url) AS list FROM 'g/links.parquet'
        JOIN 'g/pages.parquet' p ON p.id = to_id GROUP BY from_id) ON from_id = id) TO 'records.jsonl' (FORMAT json)
        """)
    again("records", "records.jsonl")
    seedbank("graph", "records", "--out", "again", "--format", "parquet")
    for name in ["links.parquet", "pages.parquet"]:
        with open(f"again/{name}", "rb") as one, open(f"g/{name}", "rb") as other:
            assert one.read() == other.read(), name
    print("records that DuckDB made of the tables make a bank with the same tables, byte for byte")

    for name in ["scores", "seeds"]:
        parquet = duckdb.sql(f"SELECT * FROM '{name}.parquet'")
        same = ", ".join(f'CAST("{column}" AS VARCHAR)' for column in parquet.columns)
        rows = duckdb.sql(f"SELECT {same} FROM '{name}.parquet'").fetchall()
        with open(f"{name}.csv", encoding="utf-8", newline="") as file:
            header, *told = csv.reader(file)
        assert parquet.columns == header
        agree(name, rows, told)
    print("DuckDB reads scores and seeds as their CSV has them")


def agree(name, rows, told):
    assert len(rows) == len(told) and rows, name
    for row, line in zip(rows, told):
        for one, other in zip(row, line):
            same = (one or "") == other
            assert same or float(one) == float(other), (name, one, other)


def pyarrow_reads():
    """Types are those that the columns have, and rows those of CSV."""
    import pyarrow
    import pyarrow.parquet

    types = {"rank": pyarrow.int64(), "url": pyarrow.string(), "pagerank": pyarrow.float64()}
    types |= {"id": pyarrow.int64(), "from_id": pyarrow.int64(), "spam": pyarrow.bool_()}
    for name in ["scores", "seeds", "g/pages", "g/links", "g/sites", "g/site-links"]:
        table = pyarrow.parquet.read_table(f"{name}.parquet")
        for field in table.schema:
            assert types.get(field.name, field.type) == field.type, (name, field)
        if not name.startswith("g/"):
            with open(f"{name}.csv", encoding="utf-8", newline="") as file:
                told = list(csv.reader(file))[1:]
            rows = [["" if v is None else str(v) for v in row.values()] for row in table.to_pylist()]
            agree(name, rows, told)
    print("pyarrow reads all tables, with the types of their columns")


def webgraph_reads(program):
    """The arcs that WebGraph has are those of the lines."""
    with gzip.open("g/pages.urls.gz", "rt", encoding="utf-8") as file:
        urls = file.read().split("\n")[:-1]
    arcs = run(program, "to", "arcs", "g/pages").splitlines()
    arcs = [tuple(urls[int(node)] for node in arc.split("\t")) for arc in arcs]
    assert arcs == lines("g/links.tsv") and len(arcs) > 1000
    print(f"webgraph reads {len(arcs)} arcs")


def again(bank, *source):
    shutil.rmtree(bank, ignore_errors=True)
    seedbank("init", bank)
    seedbank("ingest", bank, *source)


def main():
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    if not os.path.exists("bank"):
        seedbank("synth", "crawl", "--pages", "2000", "--days", "1", "--rng-seed", "1")
        seedbank("init", "bank")
        seedbank("ingest", "bank", "crawl/day-000.jsonl.zst", "--snapshot")
        seedbank("refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "20")
    for of in ["pages", "sites"]:
        for format in ["tsv", "bvgraph", "parquet"]:
            seedbank("graph", "bank", "--out", "g", "--of", of, "--format", format)
    for format in ["csv", "parquet"]:
        seedbank("scores", "bank", "--format", format, "--out", f"scores.{format}")
        seedbank("seeds", "bank", "--format", format, "--out", f"seeds.{format}")
    again("new", "g/links.tsv", "--input", "links", "--pages", "g/pages.tsv")
    seedbank("graph", "new", "--out", "back", "--format", "tsv")
    assert lines("back/links.tsv") == lines("g/links.tsv")
    if has("duckdb"):
        duckdb_reads()
    if has("pyarrow"):
        pyarrow_reads()
    program = os.environ.get("WEBGRAPH") or shutil.which("webgraph")
    if program:
        webgraph_reads(program)
    else:
        print("SKIPPED WebGraph: cargo install webgraph-cli, or name it by WEBGRAPH")


if __name__ == "__main__":
    main()
