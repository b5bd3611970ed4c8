"""Calls: the interpreter's lock, Ctrl-C, progress, threads, forks and other processes."""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

import seedbank_engine
from seedbank_engine import Bank


@pytest.fixture(autouse=True)
def _ctrl_c() -> None:
    """Ctrl-C interrupts, also where a shell has started the tests in the background, which makes it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def long_call(bank: Bank) -> None:
    """Works for minutes unless it is interrupted."""
    bank.evaluate.methods(seeds=[20, 100, 500], draws=1000)


def test_ctrl_c_interrupts_a_call(large: Bank) -> None:
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt, match="the bank is unchanged"):
        long_call(large)
    assert time.monotonic() - begun < 30


def test_ctrl_c_interrupts_a_batch(bank: Bank) -> None:
    def records() -> Iterator[dict[str, object]]:
        for page in range(100_000_000):
            if page == 20_000:
                os.kill(os.getpid(), signal.SIGINT)
            yield {"url": f"http://c.example/{page}"}

    with pytest.raises(KeyboardInterrupt):
        bank.ingest(records())
    assert bank.status()["batches"] == 1
    # The bank is not left busy.
    assert bank.ingest([{"url": "http://d.example/"}])["batch"] == 2


def test_other_threads_run_meanwhile(large: Bank) -> None:
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    large.refresh(goal="coverage", seeds=5, budget=100)
    done.set()
    thread.join()
    assert counted > 10


def test_several_threads_use_one_bank(bank: Bank) -> None:
    bank.refresh(goal="communities", seeds=1)
    found: list[object] = []

    def ask() -> None:
        for _ in range(10):
            found.append([seed["url"] for seed in bank.seeds()])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["http://a.example/"]] * 40


def test_progress_is_reported(folder: pathlib.Path, records: list[dict[str, object]]) -> None:
    stages: list[tuple[str, int, int | None]] = []
    bank = Bank.create(folder / "bank", progress=lambda *stage: stages.append(stage))
    bank.ingest(records)
    assert ("commit", 0, None) in stages
    assert all(isinstance(done, int) for _, done, _ in stages)
    # Snapshots report too, and bars are those of tqdm.
    with bank.snapshot() as then:
        stages.clear()
        then.scores()
        assert stages
    Bank.open(folder / "bank", progress=True).scores()


def test_an_exception_in_progress_ends_the_call(large: Bank) -> None:
    def stop(*_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        long_call(Bank.open(large.path, progress=stop))


def test_a_second_writer_is_refused(bank: Bank) -> None:
    def records() -> Iterator[dict[str, object]]:
        yield {"url": "http://c.example/"}
        # By now the first batch has begun.
        with pytest.raises(seedbank_engine.BusyError) as error:
            bank.ingest([{"url": "http://d.example/"}])
        assert error.value.hint and "wait=True" in error.value.hint
        program = "import sys; from seedbank_engine import Bank; Bank.open(sys.argv[1]).undo()"
        other = subprocess.run(
            [sys.executable, "-c", program, str(bank.path)], capture_output=True, text=True
        )
        assert "BusyError" in other.stderr, other.stderr
        yield {"url": "http://e.example/"}

    assert bank.ingest(records())["batch"] == 2


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_is_told_what_to_do(bank: Bank) -> None:
    then = bank.snapshot()

    def ask(to: multiprocessing.connection.Connection) -> None:
        try:
            then.status()
        except seedbank_engine.UsageError as error:
            to.send((str(error), error.hint))
        else:
            to.send("no error")

    context = multiprocessing.get_context("fork")
    answers, to = context.Pipe(duplex=False)
    child = context.Process(target=ask, args=(to,))
    child.start()
    text, hint = answers.recv()
    assert "forked" in text and "spawn" in hint
    child.join(30)
    assert child.exitcode == 0
    assert then.is_current


def test_a_spawned_process_may_use_a_bank(bank: Bank) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.apply(crawled, (str(bank.path),)) == 3


def crawled(path: str) -> int:
    return Bank.open(path).status()["crawled"]
