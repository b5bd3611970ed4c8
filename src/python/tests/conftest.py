"""What the tests share: where banks are, a small crawl, and the command line."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest

from seedbank_engine import Bank

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = pathlib.Path(os.environ.get("SEEDBANK_DATA", ROOT.parent / "shared")) / "data"

Records = list[dict[str, object]]


def skip(need: str) -> NoReturn:
    """Skips a test because something is missing, which `make test` reports at its end."""
    if noted := os.environ.get("SEEDBANK_SKIPPED"):
        with open(noted, "a") as file:
            file.write(f"tests that need {need}\n")
    pytest.skip(f"needs {need}")


@pytest.fixture
def folder() -> Iterator[pathlib.Path]:
    """A folder in memory, because every commit waits for the disk."""
    memory = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield pathlib.Path(name)


@pytest.fixture
def records() -> Records:
    """Two hubs that link to the same two pages, and a page that links back."""
    return [
        {"url": "http://a.example/", "outlinks": ["http://x.example/", "http://y.example/"]},
        {"url": "http://b.example/", "outlinks": ["http://x.example/", "http://y.example/"]},
        {"url": "http://x.example/", "outlinks": ["http://a.example/"], "digest": "d"},
    ]


@pytest.fixture
def bank(folder: pathlib.Path, records: Records) -> Bank:
    """A bank with that crawl."""
    bank = Bank.create(folder / "bank")
    bank.ingest(records)
    return bank


@pytest.fixture
def large(folder: pathlib.Path) -> Bank:
    """A bank on which an evaluation takes far longer than it takes to interrupt it."""
    bank = Bank.create(folder / "large")
    pages = 3_000
    url = "http://s{}.example/{}".format
    bank.ingest(
        {
            "url": url(page % 40, page),
            "outlinks": [url(to % 40, to) for to in ((page * 7 + step * step) % pages for step in range(20))],
        }
        for page in range(pages)
    )
    return bank


@pytest.fixture(scope="session")
def command() -> Callable[..., bytes]:
    """Runs the command `seedbank` and returns what it printed."""
    program = os.environ.get("SEEDBANK_COMMAND") or shutil.which("seedbank")
    if program is None:
        skip("the command seedbank (SEEDBANK_COMMAND)")

    def run(*arguments: object) -> bytes:
        words = [program, *map(str, arguments)]
        return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    return run
