"""Prints a first seed list, made from `crawl` in the current folder, by the Python package."""

import seedbank_engine

bank = seedbank_engine.Bank.create("bank")
bank.ingest("crawl/day-000.jsonl.zst", snapshot=True)
bank.refresh(seeds=10, budget=1000)
for seed in bank.seeds():
    print(seed["url"])
