from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, final, overload

from typing_extensions import Self, Unpack

from . import answers

__all__ = ["Bank", "Evaluate", "Rows", "Table"]

_Path = str | PathLike[str]
_Progress = bool | Callable[[str, int, int | None], object] | None
_Format = Literal[
    "auto",
    "jsonl",
    "links",
    "bvgraph",
    "wat",
    "warc",
    "parquet",
    "arrow",
    "csv",
    "tsv",
    "urls",
    "sitemap",
    "cdxj",
    "cdx",
    "json",
    "nutch",
    "heritrix",
    "heritrix-links",
    "browsertrix",
]

class _Columns(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Bank:
    """A bank: one folder with crawled pages, their links, and seeds selected from them.

    A handle keeps nothing open, unless it is a `snapshot`. Several threads may use it. One process at a time
    writes to a bank; any number of others read it meanwhile.

    Calls work without the interpreter's lock. Ctrl-C ends them, and leaves the bank as it was. `progress` is
    called with the name of a stage, the units that are done, and those of the whole stage or `None`, and its
    method `close`, if there is one, at the end of each call; `True` shows bars of tqdm.
    """

    @staticmethod
    def open(path: _Path, *, progress: _Progress = None) -> Bank:
        """Opens the bank in this folder.

        Fails with `UnavailableError` if there is none.
        """

    @staticmethod
    def create(
        path: _Path,
        *,
        sites: Literal["host", "bare-host", "domain"] | None = None,
        urls: Literal["rfc3986", "whatwg"] | None = None,
        exist_ok: bool = False,
        progress: _Progress = None,
    ) -> Bank:
        """Creates an empty bank in a folder that does not exist or is empty.

        `sites` and `urls` say how pages are grouped into sites, and how URLs are normalised. They never
        change. With `exist_ok`, a bank that is there already is opened instead.
        """

    def ingest(
        self,
        source: _Path | Iterable[_Path] | Iterable[Mapping[str, Any]] | _Columns,
        *,
        snapshot: bool = False,
        format: _Format = "auto",
        name: str | None = None,
        as_of: str | float | date | datetime | None = None,
        sites: _Path | None = None,
        columns: str | None = None,
        truncated: Literal["refuse", "keep"] = "refuse",
        max_rejects: float = 1.0,
        max_loss: float = 20.0,
        rejects: _Path | None = None,
        dry_run: bool = False,
        again: bool = False,
        learn_from_bulk: bool = False,
        allow_private: bool = False,
        memory: int = ...,
        wait: bool = False,
    ) -> answers.IngestReport:
        """Applies a batch to the bank, completely or not at all.

        `source` is a path, several paths, an iterable of records (dicts with the fields of
        `schema/record.schema.json`), or an object with `__arrow_c_stream__` and columns of these names, such
        as a frame of polars or a table of pyarrow. Records and columns are read once and in bounded memory.

        With `snapshot` the batch is the whole state: crawled pages without a record become gone. Bad
        records are omitted, counted and listed in a file. `memory`, in bytes, limits what is sorted outside
        of files.

        `columns` says which columns of a table are which fields, such as `"url=Source,outlinks=Destination"`. With
        `truncated="keep"`, the records of a truncated file before its end are taken.

        Fails with `RefusedError` if too many records are bad (`max_rejects`, in per cent), or if the batch
        would remove too much of the bank (`max_loss`, in per cent).
        """

    def undo(self, *, memory: int = ..., wait: bool = False) -> answers.UndoReport:
        """Takes the last batch back."""

    def dismiss_refused(self, *, wait: bool = False) -> answers.RefusedBatch | None:
        """Removes the record of the last refused batch and returns it, or None if no batch was refused."""

    @overload
    def refresh(
        self,
        plan: str | None = None,
        *,
        cold: bool = False,
        keep: int | None = None,
        tune: bool = False,
        judge: bool = False,
        replace: bool = False,
        explain_cost: bool = False,
        dry_run: Literal[False] = False,
        wait: bool = False,
        **parameters: Unpack[answers.PlanParameters],
    ) -> answers.RefreshReport:
        """Selects seeds by a plan and stores them with their reasons.

        A plan that does not exist is created with the given parameters; `goal` sets the others. An existing
        plan keeps those that are not given. `answers.PlanParameters` describes all of them; a list
        is a path, or lines.

        With `dry_run` nothing is stored. `keep` deletes all but so many refreshes of the plan. `judge`
        compares the list with common baselines, `tune` tunes the plan for its budget again, `replace`
        replaces the stored parameters, and `cold` reuses nothing from earlier refreshes.
        """

    @overload
    def refresh(
        self,
        plan: str | None = None,
        *,
        cold: bool = False,
        keep: int | None = None,
        tune: bool = False,
        judge: bool = False,
        replace: bool = False,
        explain_cost: bool = False,
        dry_run: Literal[True],
        wait: bool = False,
        **parameters: Unpack[answers.PlanParameters],
    ) -> answers.DryRun: ...
    def seeds(self, plan: str | None = None, *, refresh: int | None = None) -> Table:
        """Returns the seeds of a refresh, best first, with the columns of `seedbank seeds --format csv`.

        A refresh is the last one of a plan (`default` if none is given), or has a number.
        """

    def cores(self, plan: str | None = None, *, refresh: int | None = None) -> Table:
        """Returns the pages of the cores of a refresh: a row for each hub and for each authority."""

    def scores(self, plan: str | None = None, *, rng_seed: int = 0) -> Table:
        """Returns degrees and centralities of every page, with what the last refresh of a plan computed.

        The columns are those of `seedbank scores --format csv`. The whole graph and the table are in memory.
        """

    def quotas(
        self,
        pages: int,
        *,
        by: Literal["value", "pagerank", "quality", "seeds"] = "value",
        plan: str | None = None,
    ) -> Table:
        """Returns how many pages of each site a crawl of a given number of pages should fetch."""

    def explain(
        self, url: str, plan: str | None = None, *, refresh: int | None = None
    ) -> answers.Explanation:
        """Returns why a page is a seed of a refresh, or why not."""

    def page(self, url: str) -> answers.PageFacts:
        """Returns facts about a page: its state, its links, and what it is for each plan."""

    def site(self, name: str) -> answers.SiteFacts:
        """Returns facts about a site."""

    def search(self, text: str) -> answers.SearchResult:
        """Finds pages and sites whose names contain a text."""

    def diff(
        self,
        plan: str | None = None,
        *,
        refreshes: Sequence[int] = ...,
        against: str | None = None,
    ) -> answers.SeedDiff:
        """Returns what changed between two lists of seeds, and why.

        These are the last two refreshes of a plan, the given ones, or the last ones of two plans.
        """

    def compare(
        self,
        urls: Iterable[str],
        plan: str | None = None,
        *,
        refresh: int | None = None,
        fetches: Sequence[int] = ...,
        crawl: str | None = None,
    ) -> answers.ListComparison:
        """Compares a list of start pages with the seeds of a refresh, by crawls of given numbers of fetches, as `crawl`
        or else the plan limits them."""

    def history(self) -> answers.History:
        """Returns the batches and refreshes of the bank."""

    def page_history(self, url: str, plan: str | None = None) -> answers.PageHistory:
        """Returns the history of a page: what it was after each batch, and when it was a seed."""

    def plans(self) -> answers.Plans:
        """Returns the plans of the bank, each with its parameters and its verdict."""

    def status(self) -> answers.Status:
        """Returns contents, age and disk usage of the bank."""

    @property
    def evaluate(self) -> Evaluate:
        """Experiments on the bank."""

    def export(self, path: _Path, *, sites: _Path | None = None) -> dict[str, Any]:
        """Writes the whole state as records, which make a bank with the same state; `sites` lists sites.

        Files are replaced only when they are complete. They are compressed if their names end in `.gz` or
        `.zst`.
        """

    def backup(
        self, folder: _Path, *, keep: int | None = None, verify: bool = False, wait: bool = False
    ) -> answers.BackupReport:
        """Makes a backup in a folder of backups, which keeps the last `keep` of them."""

    def check(self) -> answers.BankCheck:
        """Compares every table of the bank with its indexes, without changing anything."""

    def snapshot(self) -> Bank:
        """Returns a handle that keeps the state that is published now, and answers from it.

        Use it as a context manager: the state takes disk space until it is closed. What is written through it
        goes to the bank as usual.
        """

    @property
    def is_current(self) -> bool:
        """Whether calls are about the state that is published now: always, but for a snapshot."""

    @property
    def path(self) -> Path:
        """The folder of the bank."""

    def close(self) -> None:
        """Releases the state of a snapshot. Every later call fails."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exception: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...

@final
class Evaluate:
    """Experiments on a bank: how good are these seeds? They change nothing."""

    def methods(
        self,
        *,
        seeds: Sequence[int] = ...,
        budgets: Sequence[int] = ...,
        draws: int = 5,
        rng_seed: int = 0,
        plan: str | None = None,
        crawl: str | None = None,
        since: int | None = None,
    ) -> answers.MethodsEvaluation:
        """Compares crawls from the seeds of every method and of common baselines.

        `crawl` is `panel` or limits, as for plans; by default that of the plan, or `panel`. `draws` times, with a tenth of the crawled pages held out.
        """

    def next(
        self,
        *,
        plan: str | None = None,
        seeds: int | None = None,
        budget: int | None = None,
        rng_seed: int = 0,
    ) -> answers.NextEvaluation:
        """Compares the lists of a plan with others by the new pages that later crawls found."""

    def budget(
        self, lists: Mapping[str, Iterable[str]], *, pages: int, crawl: str | None = None
    ) -> answers.BudgetEvaluation:
        """Compares crawls of `pages` fetches, limited by `crawl`, from several lists of URLs; the keys of `lists` are their
        names."""

    def actual(
        self, *, plan: str | None = None, since: int | None = None
    ) -> answers.ActualEvaluation:
        """Returns what crawlers fetched from each seed, beside what its list promised."""

@final
class Table:
    """Rows of an answer, as columns that other libraries take without a copy.

    `polars.DataFrame(table)`, `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)` and
    `duckdb.sql("from table")` do. It is also an iterable of dicts.
    """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...
    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Rows: ...

@final
class Rows(Iterator[dict[str, Any]]):
    """The rows of a table, one after another."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> dict[str, Any]: ...
