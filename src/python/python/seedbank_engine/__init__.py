"""Selects the pages from which a crawler should start, and explains the selection.

A `Bank` is one folder with crawled pages and their links. `Bank.ingest` stores crawls, `Bank.refresh` selects
seeds by a plan, and the other methods answer questions about them.

>>> import tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> bank = Bank.create(folder.name + "/bank")
>>> report = bank.ingest([{"url": "https://example.org/", "outlinks": ["https://example.net/"]}])
>>> report["counts"]["became_crawled"]
1
>>> report = bank.refresh(goal="coverage", seeds=20, budget=2000)
>>> [seed["url"] for seed in bank.seeds()]
['https://example.org/']

Answers are dicts; `seedbank_engine.answers` has their types. Tables (`Bank.seeds`, `Bank.cores`, `Bank.scores`,
`Bank.quotas`) are columns, which polars, DuckDB, pyarrow and pandas take without a copy.
"""

from __future__ import annotations

from ._native import Bank, Evaluate, Rows, Table
from .errors import (
    BusyError,
    DamagedError,
    NotFoundError,
    RefusedError,
    SeedbankError,
    UnavailableError,
    UsageError,
)

__all__ = [
    "Bank",
    "BusyError",
    "DamagedError",
    "Evaluate",
    "NotFoundError",
    "RefusedError",
    "Rows",
    "SeedbankError",
    "Table",
    "UnavailableError",
    "UsageError",
]
