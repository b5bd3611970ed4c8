"""Selects seeds from a crawl in a frame of polars, and looks at them in DuckDB."""

import duckdb
import polars

from seedbank_engine import Bank

CRAWL = globals().get("CRAWL", "crawl.jsonl.gz")
BANK = globals().get("BANK", "crawl.bank")
ADDRESS = globals().get("ADDRESS")  # such as s3://bucket/crawl.jsonl.gz

frame = polars.read_ndjson(CRAWL, infer_schema_length=None)
bank = Bank.create(BANK)
bank.ingest(frame, snapshot=True)
if ADDRESS is not None:
    bank.ingest(ADDRESS, snapshot=True)
bank.refresh(goal="coverage")

found = bank.seeds()
connection = duckdb.connect()
connection.execute("create table seeds as from found")
seeds = connection.execute("select url from seeds order by rank").fetchall()
print(connection.execute("select site, count(*) from seeds group by site order by 2 desc, 1 limit 5").fetchall())
