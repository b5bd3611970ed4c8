"""Batches from paths, records and columns: the same rows make the same bank."""

from __future__ import annotations

import datetime
import json
import pathlib
import sqlite3
from collections.abc import Iterator

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pytest

import seedbank_engine
from seedbank_engine import Bank

Records = list[dict[str, object]]


def state(bank: Bank, folder: pathlib.Path) -> bytes:
    """The whole state of a bank."""
    bank.export(folder / "state.jsonl")
    return (folder / "state.jsonl").read_bytes()


def test_every_kind_of_input_makes_the_same_bank(folder: pathlib.Path, records: Records) -> None:
    lines = folder / "records.jsonl"
    lines.write_text("".join(json.dumps(record) + "\n" for record in records))
    parts = [folder / "1.jsonl", folder / "2.jsonl"]
    for part, record in zip(parts, (records[:1], records[1:])):
        part.write_text("".join(json.dumps(record) + "\n" for record in record))
    frame = polars.DataFrame(records)
    table = frame.to_arrow()
    stream = pyarrow.RecordBatchReader.from_batches(table.schema, iter(table.to_batches(max_chunksize=1)))
    relation = duckdb.connect().sql("select * from frame")
    inputs = {
        "a path": lines,
        "text": str(lines),
        "paths": parts,
        "dicts": records,
        "an iterator": iter(records),
        "tuples": [{**record, "outlinks": tuple(record["outlinks"])} for record in records],  # type: ignore[arg-type]
        "polars": frame,
        "pyarrow": table,
        "a stream": stream,
        "pandas": pandas.DataFrame(records),
        "DuckDB": relation,
    }
    expected = None
    for name, source in inputs.items():
        bank = Bank.create(folder / name)
        report = bank.ingest(source, as_of="2026-11-19")
        assert report["counts"]["became_crawled"] == 3, name
        found = state(bank, folder)
        expected = expected or found
        assert found == expected, name


def test_values_of_records(folder: pathlib.Path) -> None:
    bank = Bank.create(folder / "bank")
    bank.ingest(
        [
            {
                "url": "http://a.example/\u00e4",
                "clicks": numpy.int64(3),
                "quality": numpy.float64(0.5),
                "spam": False,
                "outlinks": numpy.array(["http://b.example/"]),
                "fetched": datetime.datetime(2026, 11, 19, 4, tzinfo=datetime.timezone.utc),
                "uncrawled_outlinks": None,
            }
        ]
    )
    page = bank.page("http://a.example/%C3%A4")
    assert (page["clicks"], page["quality"]) == (3, 0.5)
    assert page["fetched"] == datetime.datetime(2026, 11, 19, 4, tzinfo=datetime.timezone.utc).timestamp()
    assert page["outlinks"]["pages"] == 1


def test_bad_records_are_counted_and_refused(folder: pathlib.Path, records: Records) -> None:
    bank = Bank.create(folder / "bank")
    bad: Records = [{"url": "nonsense"}, {"URL": 3}, {"url": "\ud800"}, {"url": "http://b.example/", "clicks": -1}]
    with pytest.raises(seedbank_engine.RefusedError, match="3 of 7 records are bad") as error:
        bank.ingest(records + bad, max_rejects=0)
    assert (error.value.bad_records, error.value.records) == (3, 7)
    assert error.value.hint and "max_rejects" in error.value.hint
    assert error.value.rejects_file and pathlib.Path(error.value.rejects_file).exists()
    assert bank.status()["batches"] == 0
    report = bank.ingest(records + bad)
    assert report["counts"]["rejected"] == 3
    assert sum(report["read"]["bad_fields"].values()) == 1
    frame = polars.DataFrame({"url": ["nonsense", "http://c.example/"]})
    with pytest.raises(seedbank_engine.RefusedError) as error:
        bank.ingest(frame, max_rejects=0)
    assert error.value.bad_records == 1


def test_what_cannot_be_a_record(bank: Bank) -> None:
    for source, text in [
        ([{"url": "http://a.example/"}, 3], "record 2: expected a mapping"),
        ([{"url": object()}], "record 1: a field of a record cannot be"),
        ([{3: "x"}], "record 1: expected the name of a field"),
        (7, "expected a path, several paths, records, or columns"),
        (["a.jsonl", {"url": "x"}], "expected a path after the first one"),
    ]:
        with pytest.raises(TypeError, match=text):
            bank.ingest(source)  # type: ignore[arg-type]
    with pytest.raises(seedbank_engine.RefusedError, match="no column url"):
        bank.ingest(polars.DataFrame({"address": ["x"]}))
    with pytest.raises(seedbank_engine.RefusedError, match="column outlinks: expected a list of strings"):
        bank.ingest(polars.DataFrame({"url": ["http://a.example/"], "outlinks": [3]}))
    assert bank.status()["batches"] == 1


def test_a_list_of_sites_is_a_batch_of_its_own(bank: Bank, folder: pathlib.Path) -> None:
    sites = folder / "sites.jsonl"
    sites.write_text('{"site": "a.example", "quality": 0.5}\n')
    with pytest.raises(seedbank_engine.UsageError, match="sites applies to files") as error:
        bank.ingest([{"url": "http://a.example/"}], sites=sites)
    assert error.value.hint and "sites=" in error.value.hint
    with pytest.raises(seedbank_engine.UsageError, match="format applies to files"):
        bank.ingest(polars.DataFrame({"url": ["http://a.example/"]}), format="csv")
    bank.ingest([], sites=sites)
    assert bank.page("http://a.example/")["quality"] == 0.5


def test_an_iterator_that_raises_changes_nothing(bank: Bank) -> None:
    def failing() -> Iterator[dict[str, object]]:
        for page in range(5_000):
            yield {"url": f"http://a.example/{page}", "outlinks": ["http://x.example/"]}
        raise ZeroDivisionError("the crawler failed")

    with pytest.raises(ZeroDivisionError, match="the crawler failed"):
        bank.ingest(failing())
    batches = pyarrow.RecordBatch.from_pylist([{"url": "http://new.example/"}])

    def failing_batches() -> Iterator[pyarrow.RecordBatch]:
        yield batches
        raise ZeroDivisionError("the crawler failed")

    reader = pyarrow.RecordBatchReader.from_batches(batches.schema, failing_batches())
    with pytest.raises(seedbank_engine.RefusedError, match="after row 1: .*the crawler failed"):
        bank.ingest(reader)
    assert bank.status()["batches"] == 1


def test_iterators_run_on_the_thread_of_the_caller(folder: pathlib.Path) -> None:
    # A cursor refuses to work on another thread.
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    rows = connection.execute("select 'http://a.example/' as url union select 'http://b.example/'")
    assert Bank.create(folder / "bank").ingest(rows)["counts"]["records"] == 2


def test_input_is_requested_as_it_is_read(folder: pathlib.Path) -> None:
    """A billion records are not collected before the first is read."""
    bank = Bank.create(folder / "bank")
    seen = 0

    def endless() -> Iterator[dict[str, object]]:
        nonlocal seen
        while True:
            seen += 1
            yield {"url": "nonsense"}

    # Reading stops when most records are bad, at 100,000 of them.
    with pytest.raises(seedbank_engine.RefusedError) as error:
        bank.ingest(endless())
    assert 100_000 < error.value.bad_records < seen < 2_000_000
    assert bank.ingest([])["is_empty"]
