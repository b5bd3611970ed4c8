"""Tables: what other libraries take from them, and the same rows as the command line's."""

from __future__ import annotations

import csv
import io
import pathlib
import runpy
from collections.abc import Callable

import duckdb
import pandas
import polars
import pyarrow
import pytest
from conftest import DATA, ROOT, skip

from seedbank_engine import Bank


@pytest.fixture
def refreshed(bank: Bank) -> Bank:
    bank.refresh(goal="communities", seeds=2)
    bank.refresh("cover", goal="coverage", seeds=2, budget=3)
    return bank


def test_every_library_takes_a_table(refreshed: Bank) -> None:
    for table in (refreshed.seeds(), refreshed.cores(), refreshed.scores("cover"), refreshed.quotas(3)):
        rows = list(table)
        assert rows and len(rows) == len(table)
        assert pyarrow.table(table).to_pylist() == rows
        assert polars.DataFrame(table).rows(named=True) == rows
        frame = pandas.DataFrame.from_arrow(table)
        assert list(frame.columns) == table.columns and len(frame) == len(rows)
        answer = table
        relation = duckdb.connect().sql("select * from answer")
        assert relation.columns == table.columns
        assert relation.fetchall() == [tuple(row.values()) for row in rows]
        assert pyarrow.schema(table).names == table.columns
        # A table can be given several times.
        assert pyarrow.table(table).equals(pyarrow.table(table))


def test_columns_are_not_copied(refreshed: Bank) -> None:
    table = refreshed.scores("cover")
    addresses = [pyarrow.table(table)["url"].chunks[0].buffers()[2].address for _ in range(2)]
    assert addresses[0] == addresses[1]


def test_an_empty_table_has_its_columns(bank: Bank) -> None:
    bank.refresh(goal="coverage", budget=3, seeds=1)
    table = bank.cores()
    assert len(table) == 0 and list(table) == []
    assert polars.DataFrame(table).columns == table.columns
    assert repr(table).startswith("<Table of 0 rows: core, side, url")


def test_rows_are_those_of_the_command_line(refreshed: Bank, command: Callable[..., bytes]) -> None:
    for plan in ("default", "cover"):
        printed = command("seeds", refreshed.path, "--plan", plan, "--format", "csv")
        seeds = list(csv.DictReader(io.StringIO(printed.decode())))
        assert [texts(row) for row in refreshed.seeds(plan)] == seeds
        printed = command("scores", refreshed.path, "--plan", plan, "--format", "csv")
        scores = list(csv.DictReader(io.StringIO(printed.decode())))
        assert [texts(row) for row in refreshed.scores(plan)] == scores
    printed = command("quotas", refreshed.path, "--pages", 3, "--format", "csv")
    quotas = list(csv.DictReader(io.StringIO(printed.decode())))
    assert [texts(row) for row in refreshed.quotas(3)] == quotas


def texts(row: dict[str, object]) -> dict[str, str]:
    """A row as in CSV, where a whole number has no decimal point."""

    def text(value: object) -> str:
        return "" if value is None else f"{value:g}" if value in (0.0, 1.0, 2.0) else str(value)

    return {name: text(value) for name, value in row.items()}


def test_the_example_selects_the_seeds_of_the_command_line(
    folder: pathlib.Path, command: Callable[..., bytes]
) -> None:
    crawl = DATA / "ku-2017-webir/crawl.jsonl.gz"
    if not crawl.exists():
        skip("real graphs")
    example = ROOT / "src/python/examples/polars_to_duckdb.py"
    assert len(example.read_text().splitlines()) <= 25
    results = runpy.run_path(str(example), init_globals={"CRAWL": str(crawl), "BANK": str(folder / "python")})
    command("init", folder / "command")
    command("ingest", folder / "command", crawl, "--snapshot")
    command("refresh", folder / "command", "--goal", "coverage")
    urls = "".join(f"{url}\n" for (url,) in results["seeds"])
    assert urls.encode() == command("seeds", folder / "command")
    assert len(results["seeds"]) > 10
