"""Loads a TSV of links into DuckDB with ids for URLs: what the ingest bench compares with.

usage: duckdb_links.py LINKS.tsv DATABASE MEMORY THREADS

Distinct URLs get numbers of 32 bits, and the links become distinct pairs of numbers, in a database
file. No index, no transposed links, no attributes.
"""

import os
import sys

import duckdb


def main():
    links, database, memory, threads = sys.argv[1:]
    bank = duckdb.connect(database)
    bank.execute(f"SET memory_limit = '{memory}'")
    bank.execute(f"SET threads = {int(threads)}")
    bank.execute(f"SET temp_directory = '{database}.tmp'")
    bank.execute("SET preserve_insertion_order = false")
    bank.execute(
        "CREATE TABLE given AS SELECT * FROM read_csv(?, delim = '\t', header = false, quote = '',"
        " escape = '', columns = {'source': 'VARCHAR', 'target': 'VARCHAR'})",
        [links],
    )
    bank.execute(
        "CREATE TABLE urls AS SELECT url, (row_number() OVER () - 1)::UINTEGER AS id"
        " FROM (SELECT source AS url FROM given UNION SELECT target FROM given)"
    )
    bank.execute(
        "CREATE TABLE links AS SELECT DISTINCT s.id AS source, t.id AS target FROM given"
        " JOIN urls s ON given.source = s.url JOIN urls t ON given.target = t.url"
    )
    bank.execute("DROP TABLE given")
    bank.execute("CHECKPOINT")
    bank.close()
    assert os.path.getsize(database) > 0


main()
