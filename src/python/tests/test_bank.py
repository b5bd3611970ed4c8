"""Banks: what calls return, and how errors are reported."""

from __future__ import annotations

import datetime
import doctest
import pathlib
import re

import pytest

import seedbank_engine
from seedbank_engine import Bank

Records = list[dict[str, object]]


def test_a_bank_from_pages_to_seeds(bank: Bank) -> None:
    report = bank.refresh(goal="communities", seeds=2)
    assert report["plan"] == "default" and report["method"] == "cores"
    seeds = list(bank.seeds())
    assert [seed["url"] for seed in seeds] == ["http://a.example/"]
    assert seeds[0]["rank"] == 1 and seeds[0]["gain"] is None
    assert [(page["side"], page["url"]) for page in bank.cores()] == [
        ("hub", "http://a.example/"),
        ("hub", "http://b.example/"),
        ("authority", "http://x.example/"),
        ("authority", "http://y.example/"),
    ]
    explanation = bank.explain("http://b.example/")
    assert explanation["kind"] == "core-member"
    assert bank.page("http://x.example/")["inlinks"]["pages"] == 2
    assert bank.site("x.example")["site"] == "x.example"
    assert bank.search("x.ex")["sites"]
    assert bank.status()["crawled"] == 3
    assert [plan["plan"] for plan in bank.plans()["plans"]] == ["default"]
    assert len(bank.history()["batches"]) == 1
    assert bank.page_history("http://a.example/")["url"] == "http://a.example/"
    assert bank.check()["clean"]
    assert len(bank.scores()) == 4
    assert sum(row["quota"] for row in bank.quotas(3)) == 3


def test_the_documentation_is_true() -> None:
    results = doctest.testmod(seedbank_engine)
    assert results.attempted > 4 and results.failed == 0


def test_what_changed_and_undo(bank: Bank) -> None:
    bank.refresh(goal="communities", seeds=2)
    bank.ingest([{"url": "http://a.example/", "gone": True}])
    bank.refresh()
    diff = bank.diff()
    assert diff["summary"]["lost"] == 1
    assert [seed["url"] for seed in diff["seeds"] if seed["change"] == "lost"] == ["http://a.example/"]
    assert bank.undo()["undone"] == 2
    assert bank.page("http://a.example/")["state"] == "crawled"


def test_a_refused_batch_is_dismissed(bank: Bank) -> None:
    assert bank.dismiss_refused() is None
    with pytest.raises(seedbank_engine.RefusedError):
        bank.ingest([], snapshot=True)
    refused = bank.dismiss_refused()
    assert refused is not None and refused["reason"] == "empty-snapshot"
    assert bank.status().get("refused") is None


def test_a_snapshot_answers_from_one_state(bank: Bank) -> None:
    with bank.snapshot() as then:
        assert then.is_current
        bank.ingest([{"url": "http://new.example/"}])
        assert not then.is_current
        assert then.status()["batches"] == 1
        assert bank.status()["batches"] == 2
    with pytest.raises(seedbank_engine.UsageError, match="closed") as error:
        then.status()
    assert error.value.hint == "open it again"


def test_lists_are_paths_or_lines(bank: Bank, folder: pathlib.Path) -> None:
    refused = folder / "refused.txt"
    refused.write_text("a.example\n")
    for exclude in (refused, str(refused), ["a.example"]):
        bank.refresh("plan", goal="communities", seeds=2, exclude=exclude)
        assert [seed["url"] for seed in bank.seeds("plan")] == ["http://b.example/"]
    bank.refresh("plan", exclude="none")
    assert [seed["url"] for seed in bank.seeds("plan")] == ["http://a.example/"]


def test_parameters_are_checked(bank: Bank) -> None:
    with pytest.raises(seedbank_engine.UsageError, match='seeds: expected .* found "0"'):
        bank.refresh(seeds=0)
    with pytest.raises(TypeError, match="sedes"):
        bank.refresh(sedes=3)  # type: ignore[call-overload]
    with pytest.raises(seedbank_engine.UsageError, match='by: expected one of value, .* found "size"'):
        bank.quotas(3, by="size")  # type: ignore[arg-type]
    with pytest.raises(seedbank_engine.UsageError, match='format: expected one of .* found "yaml"') as wrong:
        bank.ingest("x", format="yaml")  # type: ignore[arg-type]
    formats = re.findall(r"[a-z-]+", str(wrong.value).split("one of")[1].split("found")[0])
    stub = pathlib.Path(seedbank_engine.__file__).with_name("_native.pyi").read_text()
    # The type of `format` has every format but the one that needs more files.
    assert [name for name in formats if f'    "{name}",' not in stub] == ["ccgraph"]
    with pytest.raises(seedbank_engine.UsageError, match="max_loss: expected a percentage"):
        bank.ingest([], max_loss=101)
    # Nothing is stored by a dry run.
    run = bank.refresh(seeds=1, goal="communities", dry_run=True)
    assert [seed["url"] for seed in run["seed_list"]] == ["http://a.example/"]
    assert bank.plans()["plans"] == []


def test_errors_have_a_kind_and_a_hint(bank: Bank, folder: pathlib.Path) -> None:
    with pytest.raises(seedbank_engine.UnavailableError, match="nowhere") as missing:
        Bank.open(folder / "nowhere")
    assert missing.value.hint and "Bank.create" in missing.value.hint
    with pytest.raises(seedbank_engine.UsageError):
        Bank.create(folder / "bank")
    assert Bank.create(folder / "bank", exist_ok=True).status()["batches"] == 1
    with pytest.raises(seedbank_engine.NotFoundError) as unknown:
        bank.page("http://a.example/x")
    assert unknown.value.hint and "http://a.example/" in unknown.value.hint
    assert "hint: " in str(unknown.value)
    with pytest.raises(seedbank_engine.UsageError, match="no plan"):
        bank.seeds("weekly")
    with pytest.raises(seedbank_engine.NotFoundError, match="empty"):
        Bank.create(folder / "empty").refresh(goal="coverage")
    damaged = folder / "damaged"
    Bank.create(damaged).ingest([{"url": "http://a.example/"}])
    for file in damaged.rglob("CURRENT"):
        file.write_text("x")
    with pytest.raises(seedbank_engine.DamagedError):
        Bank.open(damaged)


def test_times_of_a_batch(folder: pathlib.Path) -> None:
    bank = Bank.create(folder / "bank")
    noon = datetime.datetime(2026, 11, 19, 12, tzinfo=datetime.timezone.utc)
    for as_of in (noon, noon.isoformat(), noon.timestamp()):
        bank.ingest([{"url": "http://b.example/", "digest": str(as_of)}], as_of=as_of, again=True)
    assert bank.page("http://b.example/")["fetched"] == noon.timestamp()
    with pytest.raises(seedbank_engine.UsageError, match="as_of"):
        bank.ingest([], as_of="noon")


def test_an_export_makes_the_same_bank(bank: Bank, folder: pathlib.Path) -> None:
    for name in ("records.jsonl", "records.jsonl.gz", "records.jsonl.zst"):
        report = bank.export(folder / name)
        assert report["records"] == 3
        new = Bank.create(folder / f"from {name}")
        new.ingest(folder / name, snapshot=True)
        new.export(folder / "again.jsonl")
        assert (folder / "again.jsonl").read_bytes() == (folder / "records.jsonl").read_bytes()
    with pytest.raises(seedbank_engine.SeedbankError, match="cannot write"):
        bank.export(folder / "no" / "folder.jsonl")


def test_a_backup(bank: Bank, folder: pathlib.Path) -> None:
    assert bank.backup(folder / "backups", keep=1)["backup"] == 1


def test_experiments(bank: Bank) -> None:
    found = bank.evaluate.budget({"mine": ["http://a.example/"]}, pages=10)
    assert [row["list"]["name"] for row in found["lists"]] == ["mine"]
    assert bank.evaluate.actual()["plans"] == []
    with pytest.raises(seedbank_engine.UsageError, match="at least 5"):
        bank.evaluate.next()
    bank.refresh(goal="communities", seeds=1)
    compared = bank.compare(["http://b.example/", "nonsense"], fetches=[3])
    assert compared["counts"]["invalid_urls"] == 1
