"""Types of answers, which are dicts. `types_of_answers.py` writes this file from the JSON Schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from typing_extensions import NotRequired

AbsentReason = Literal["gone", "spam", "unlinked", "alias", "resource", "not-in-bank", "no-url"]
"""Reason why an entry of a list is not a live page."""


AttributeSource = Literal["page", "site"]
"""Source of an attribute of a page."""


BatchKind = Literal["snapshot", "delta", "undo", "forget"]
"""The kind of a batch."""


ByPolicy = Literal["pin", "max-changes"]
"""Policy that puts a page on a list independently of the method."""


CanonicalEvidence = Literal["same-content", "leads-back", "not-fetched", "other-site", "named-by-many"]
"""What a canonical link says of the contents of two pages. If several reasons speak against it, the first
counts."""


Cause = Literal["gone", "unlinked", "alias", "resource", "spam", "not-crawled", "not-in-bank", "new-page", "revived", "spam-cleared", "became-crawled", "not-listed", "parameters", "policy", "no-links", "became-hub", "replaced-by-hub", "replaces-hub", "became-authority", "was-authority", "outranked", "outranks", "links-lost", "links-gained", "pages-taken", "pages-released", "region-weakened", "region-strengthened", "no-core", "covered", "uncovered", "fewer-seats", "more-seats", "no-value", "gained-value", "outweighed", "outweighs", "shifted", "reordered"]
"""Why a seed was gained, lost or moved. *First* and *second* are the two refreshes. A page is *eligible* for
a refresh if it is crawled or, for cores with `--pages all`, known; for cores without `--keep-spam` and over
the web it must not be spam. If several causes apply, the first is reported."""


Change = Literal["gained", "lost", "moved", "kept"]
"""Change of a seed between two lists."""


CoverMethod = Literal["random", "pagerank", "out-degree", "oldest", "max-out", "max-weight", "max-scc", "root-scc", "greedy"]
"""The method that picks the pages of a site."""


CoverStop = Literal["no-value-left", "no-page-left", "complete", "not-positive"]
"""The reason why a site has no further seed: the first one that applies, in this order."""


Covered = Literal["zero", "remove"]
"""The treatment of covered pages."""


Division = Literal["parts", "processes"]
"""What the sites of a cluster bank are divided among."""


Due = Literal["not", "half", "whole"]
"""The part of its value that a page counts for."""


Duplicates = Literal["once", "each"]
"""How crawled pages with one content count."""


Goal = Literal["coverage", "discovery", "importance", "communities", "sites"]
"""What a crawl from the seeds is for: a named set of plan parameters."""


Growth = Literal["maximal", "literal"]
"""The action if the best candidate would bring the density below the required one."""


Hits = Literal["converged", "classic"]
"""The variant of HITS that ranks the graph; `src/guide/cores.md` has the rules."""


IneligibleReason = Literal["spam", "gone", "not-crawled", "unlinked", "alias", "resource", "excluded", "no-links"]
"""Why a page was not eligible for a refresh."""


LineState = Literal["alive", "spam", "gone", "alias", "resource", "unlinked", "not-in-bank", "duplicate", "invalid-url"]
"""State of a line of the list."""


ListKind = Literal["plan", "given", "baseline"]
"""Kind of a compared list."""


Measure = Literal["crawled", "contents", "discovered", "pagerank"]
"""The figure by which seed lists are compared."""


NotAdded = Literal["too-few-links", "max-hubs", "core-size", "growth-ended"]
"""Why a candidate was not added to a core."""


PageKind = Literal["resource", "document", "page"]
"""What the answer to a fetch is. Of several at the same time the greatest counts."""


PageState = Literal["known", "crawled", "gone", "unlinked", "alias", "resource"]
"""The state of a page."""


Pages = Literal["all", "crawled"]
"""Which pages are ranked."""


Pick = Literal["best", "stable"]
"""The hub of a core that becomes the seed."""


PinRejection = Literal["unknown", "gone", "alias", "resource", "document", "excluded"]
"""Why a pinned page is not a seed."""


Proof = Literal["exact", "within", "not-applicable", "not-proved"]
"""What is proved about the cores of a refresh. It says nothing about how much a crawl from the seeds
finds."""


RecomputeReason = Literal["cold", "changed", "further", "bound"]
"""Why a core was recomputed."""


RefusalReason = Literal["loss", "bad-records", "empty-snapshot", "unreadable-input"]
"""Why a batch was refused."""


RejectionReason = Literal["max-per-site", "max-per-domain", "exclude", "only", "exclude-from-graph", "min-quality", "max-failures", "min-hubs", "min-authorities", "min-hub-sites", "max-changes", "document"]
"""Why a page that a method selected is not a seed."""


Role = Literal["hub", "authority"]
"""Role of a page in a core."""


Scope = Literal["site", "web"]
"""The graphs on which a cover method works."""


Share = Literal["pages", "value", "pagerank", "quality"]
"""The weight by which a total of seeds is distributed over sites."""


ShortageReason = Literal["no-links", "no-link-left", "no-page-left", "no-value-left", "not-positive", "max-changes"]
"""Why a list has fewer seeds than requested."""


SiteMode = Literal["bare-host", "host", "domain"]
"""What counts as a site; fixed when a bank is created."""


TableGroup = Literal["pages", "links", "history", "refreshes", "bank"]
"""A group of tables, by which `status --sizes` sums sizes up."""


TunedParameter = Literal["hops", "fetch-cost", "value-known", "max-per-site"]
"""A parameter of a plan that a refresh tuned."""


UrlRules = Literal["rfc3986", "whatwg"]
"""How URLs are normalised beyond the URL standard; fixed when a bank is created."""


ValueBy = Literal["weights", "pagerank"]
"""The source of page values."""


Verdict = Literal["good", "damaged", "unfinished", "unseen"]
"""The verdict on a state of a bank."""


class AbsentSeed(TypedDict):
    """Entry that is not a live page."""

    url: str
    """The URL, as in the list."""
    why: AbsentReason
    """Reason of its absence."""
    successor: NotRequired[str]
    """Page that is used in its place."""


class ActualEvaluation(TypedDict):
    """Output of `seedbank evaluate BANK actual --format json`: what crawlers fetched from each seed according to
    their own records, beside what the lists promised. Values are in units."""

    state: StateView
    """The state whose attributes determine the values of pages."""
    batches: list[int]
    """The batches with fetches, undone ones left out."""
    plans: list[PlanActual]
    """The plans, by name."""
    others: list[SeedActual]
    """Seeds of fetches that were on no plan's list at that time, by URL."""
    unattributed: FetchCounts
    """Fetches that no crawler attributed to a seed."""
    forgotten: SeedCounts
    """Fetches from seeds that were forgotten since."""


class AliasCounts(TypedDict):
    """Changes of aliases by a batch."""

    became: int
    """Pages that became aliases."""
    ended: int
    """Aliases that became pages or gone."""
    cut: int
    """Aliases that now lead nowhere: in a circle, or over more than twenty others."""


class AliasView(TypedDict):
    """Target of an alias."""

    to: str
    """Page that it redirects to."""
    resolves_to: NotRequired[str]
    """Page at the end of the chain of aliases, for which links to this alias count. Absent if the chain is
    circular or too long."""


class Aliases(TypedDict):
    """Aliases of a page."""

    pages: int
    """Number of aliases."""
    examples: list[str]
    """First of them in URL order."""


class Appearance(TypedDict):
    """Refresh in which the page is a seed, or was lost."""

    refresh: int
    """Number of the refresh."""
    state_batch: int
    """The last batch of the state that the refresh ran on."""
    batch: NotRequired[int]
    """Batch that caused the change, as in a diff."""
    by: NotRequired[str]
    """Seed that the cause refers to."""
    cause: NotRequired[Cause]
    """Why it was gained or lost since the previous stored refresh, as in a diff; absent if it was kept, and in
    the first refresh."""
    rank: NotRequired[int]
    """Rank of the page; absent if the refresh lost it."""


class BackupReport(TypedDict):
    """Output of `seedbank backup --format json`."""

    backup: int
    """The number of the backup; later ones have higher numbers."""
    at: int
    """The time of the backup, in seconds since 1970 (UTC)."""
    format: str
    """The format of the bank."""
    epoch: int
    """The epoch of the state of the bank."""
    batch: int
    """The last batch in the state; 0 if there is none."""
    refresh: int
    """The last refresh in the state; 0 if there is none."""
    files: int
    """The number of files."""
    bytes: int
    """The size of the files in bytes; other backups may share them."""
    written_files: int
    """The number of files written; the folder already had the others."""
    written_bytes: int
    """The size of the files written, in bytes."""
    deleted: list[int]
    """The deleted older backups, in order."""
    freed_bytes: int
    """The size of the removed files, in bytes."""
    damaged: list[DamagedBackup]
    """Other backups in the folder that cannot be restored."""
    seconds: float
    """The elapsed time in seconds."""
    parts: NotRequired[int]
    """The number of parts of a cluster bank; absent for a bank in one database."""


class Balance(TypedDict):
    """How evenly the sites of a cluster bank are divided among its parts or processes. A site belongs to one of
    them. Its weight is the number of its known and crawled pages and of the links from them."""

    among: Division
    """What the sites are divided among."""
    count: int
    """Number of these."""
    largest_to_mean: float
    """Weight of the heaviest of these, divided by their mean."""
    heavy_sites: list[HeavySite]
    """Sites that weigh more than this mean, at most 5, heaviest first."""


class BankCheck(TypedDict):
    """Output of `seedbank check --format json`."""

    clean: bool
    """Whether no damage was found."""
    count: int
    """The number of findings: in tables, in states that are damaged as a whole, and in files."""
    live: StateCheck
    """The live state, which the next batch changes."""
    published: StateCheck
    """The published state, which readers see."""
    same_files: bool
    """Whether both states consist of the same files, which were then checked once, as the published state."""
    files: list[FileFinding]
    """Damaged files outside the states."""
    image: ImageCheck
    """The comparison of the graph image with the tables of the published state."""


class BatchCounts(TypedDict):
    """Counts of the effects of a batch; they do not depend on the order of its records."""

    records: int
    """Records read, accepted or rejected."""
    rejected: int
    """Records rejected."""
    superseded: int
    """Records superseded by another record of the batch for the same URL."""
    truncated: int
    """Truncated inputs whose complete records were read."""
    dropped_outlinks: int
    """Outlinks dropped because they are not http or https URLs."""
    new_pages: int
    """Pages that are new to the bank."""
    became_crawled: int
    """Pages that became crawled."""
    became_gone: int
    """Pages that became gone."""
    became_resources: int
    """URLs that became resources."""
    changed: int
    """Pages whose links, state or attributes changed, including new pages."""
    links_added: int
    """Links added."""
    links_removed: int
    """Links removed."""


class BatchView(TypedDict):
    """Batch with its number."""

    batch: int
    """Number of the batch."""
    name: str
    """Name given by the user."""
    kind: BatchKind
    """Whether the batch is a whole state or a set of changes."""
    inputs: list[str]
    """Inputs, as named by the user."""
    at: int
    """Time of ingest, in seconds since 1970 (UTC)."""
    seconds: float
    """Elapsed time, in seconds."""
    counts: BatchCounts
    """Counts of changes."""
    stale: int
    """Number of stale records: skipped, because their pages were fetched later."""
    failed: int
    """Number of pages whose fetch failed."""
    failing: int
    """Number of pages whose last fetch failed, after the batch."""


class BlockedCounts(TypedDict):
    """Input that a batch skipped because it names blocked pages or sites."""

    records: int
    """Number of skipped records of blocked pages and sites; in lists of links, links from them."""
    links: int
    """Number of skipped links from other pages to blocked pages."""


class BudgetEvaluation(TypedDict):
    """Result of `evaluate budget`."""

    state: StateView
    """The evaluated state."""
    budget: int
    """Maximum number of fetches."""
    crawl: Crawls
    """The crawls from each list."""
    lists: list[BudgetRow]
    """Results of the lists, in the order of the request."""
    claims: list[Claim]
    """Which list is best."""


class BudgetRow(TypedDict):
    """Result of one list. Figures of several crawls are their geometric means, computed after adding 1 to each
    number except PageRank; the depth is the greatest."""

    list: ListView
    """The list."""
    pages: int
    """Fetches, also those that fail."""
    crawled: int
    """Fetched pages that are crawled in the bank."""
    contents: int
    """Distinct contents of these."""
    depth: Union[int, None]
    """Depth of the deepest page; `null` without pages."""
    value: float
    """Value of the pages that are crawled in the bank."""
    clicks: int
    """Clicks on the pages."""
    clicked_pages: int
    """Pages with clicks."""
    spam: int
    """Spam pages."""
    pagerank: float
    """Total PageRank of the pages."""


class ByFetches(TypedDict):
    """Results with fetches counted in two ways."""

    all: GatheredView
    """All pages are fetched and count."""
    of_crawled: GatheredView
    """Uncrawled pages are neither fetched nor counted."""


class Candidates(TypedDict):
    """The pages that could be picked by a plan over the web."""

    searched: int
    """Number of candidates from which pages were searched. The gains of the others before any pick are those of
    the previous refresh."""
    all: int
    """Number of all candidates."""


class CanonicalCounts(TypedDict):
    """Number of pages with a canonical link, by what it says of the contents of both pages."""

    same_content: int
    """Both have the same content."""
    leads_back: int
    """The canonical page leads back to the page."""
    not_fetched: int
    """The canonical page was not fetched."""
    other_site: int
    """The canonical page is on another site."""
    named_by_many: int
    """More than 10 pages name the same canonical page."""


class CanonicalView(TypedDict):
    """Canonical page of a page."""

    to: str
    """Page that it names as canonical."""
    evidence: CanonicalEvidence
    """What this says of the contents of both pages."""


class Claim(TypedDict):
    """Claim about seeds, checked on this bank."""

    claim: str
    """Stable name of the claim."""
    holds: bool
    """Whether it holds on this bank."""
    text: str
    """One sentence with the figures."""


class ClockDifference(TypedDict):
    """The time of a batch, and the last fetch in the bank before, if they are far apart."""

    batch: int
    """The time of the batch by the clock of the machine, in seconds since 1970 (UTC)."""
    last_fetch: int
    """The time of the last fetch in the bank before the batch, in seconds since 1970 (UTC)."""


class Compared(TypedDict):
    """A figure of a plan and that of the best baseline by this figure."""

    found: Estimate
    """The figure of the plan."""
    baseline: str
    """The name of the best baseline."""
    baseline_found: Estimate
    """The figure of the best baseline."""
    times_best_baseline: Union[Estimate, None]
    """The ratio of the two; `null` if the figure of the best baseline is 0."""


class ComparedList(TypedDict):
    """Result of crawls from a list within a number of fetches."""

    list: str
    """Name of the list."""
    kind: ListKind
    """Kind of the list."""
    parameters: Union[PlanOptions, None]
    """Parameters of the plan; `null` for other lists."""
    seeds: int
    """Requested number of seeds."""
    listed: int
    """Number of seeds of the list with everything known."""
    budget: int
    """Maximum number of fetches of a crawl."""
    known: ByFetches
    """Selected and evaluated with everything known."""
    held_out: Union[ByFetches, None]
    """Selected without the pages held out, evaluated with everything known: means over the draws. `null` for
    fixed lists, and without draws."""
    since: Union[ByFetches, None]
    """Selected without the pages crawled since a batch, evaluated with everything known."""
    times_best_baseline: Union[Estimate, None]
    """For a plan, the ratio of its figure by `measure`, with pages held out, to that of the best baseline. `null`
    without draws, and if the baseline's figure is 0."""
    times_best_value: Union[Estimate, None]
    """For a plan, the same ratio for the value of pages. `null` without draws, and if no baseline gathers a
    positive value."""
    above_baselines: Union[bool, None]
    """For a plan, whether its figure by `measure` exceeds that of every baseline by more than two standard errors
    of the difference, over the draws; `null` with fewer than two draws."""


class Comparison(TypedDict):
    """Comparison of seed lists by what crawls from them gather per page fetched."""

    measure: Measure
    """The figure that decides."""
    crawled: int
    """Number of crawled pages."""
    value: PlanOptions
    """Values of pages: the parameters of a plan that determine them."""
    seeds: list[int]
    """Numbers of seeds."""
    budgets: list[int]
    """Pages that crawls fetch."""
    draws: int
    """Number of times that pages were held out."""
    held_out: int
    """Number of crawled pages held out each time."""
    rng_seed: int
    """Seed of all random streams."""
    since: Union[int, None]
    """Batch after which crawled pages were also held out; `null` without a history."""
    crawled_since: Union[int, None]
    """Number of current crawled pages that were not crawled yet at that batch."""
    harmonic_is_exact: bool
    """Whether harmonic centralities are exact, not estimated from a sample."""
    lists: list[ComparedList]
    """Results by number of seeds, then by fetches; plans before baselines."""
    claims: list[Claim]
    """Whether the best plan exceeds the baselines, and where it does not."""


class Convergence(TypedDict):
    """Cores after a fixed number of iterations of HITS, which the plan selects again in the current state,
    compared with those of converged HITS."""

    iterations: int
    """Number of iterations for each core."""
    first_difference: Union[int, None]
    """Rank of the first core that is not the core of converged HITS with the same rank; `null` if all are."""
    cores: list[CoreConvergence]
    """The cores, in order."""


class CoreConvergence(TypedDict):
    """A core after a fixed number of iterations."""

    rank: int
    """Rank, from 1."""
    hubs: int
    """Number of hubs."""
    authorities: int
    """Number of authorities."""
    sigma: float
    """Sigma after the last iteration."""
    residual: float
    """`||A^T A a - sigma^2 a|| / sigma^2` of the authority scores a after the last iteration."""
    sigma_change: float
    """Share of sigma that the last iteration added."""
    converged_rank: Union[int, None]
    """Rank of the core of converged HITS with the same hubs and authorities; `null` if its rank would be above
    the number of cores compared, or if there is no such core."""


class CoreNumbers(TypedDict):
    """Figures of a core."""

    rank: int
    """Rank of the core, from 1."""
    sigma: float
    """Singular value of the region from which the core was grown."""
    hubs: int
    """Number of hubs."""
    hub_sites: int
    """Number of sites of the hubs."""
    authorities: int
    """Number of authorities."""
    authority_sites: int
    """Number of sites of the authorities."""
    edges: int
    """Number of links from hubs to authorities."""
    gives_seed: NotRequired[Literal[False]]
    """Whether the page named as its seed is on the list. `false` if policies reject it: it is then the hub that
    would be the seed. JSON has the field only if it is `false`."""
    sigma_bound: NotRequired[float]
    """In a plan with `within`: upper bound of the singular value of every remaining region."""


class CorePlace(TypedDict):
    """Measured core."""

    rank: int
    """Rank, from 1."""
    seed: str
    """Seed."""
    sigma: float
    """Sigma."""
    pages: int
    """Pages: hubs and authorities, each page once."""
    live_pages: int
    """Pages that are live in the current state."""


class CoverageCurve(TypedDict):
    """Coverage of one method."""

    method: CoverMethod
    """The method."""
    depth: Union[int, None]
    """Depth of its weight; `null` for methods without one."""
    covered: Union[Covered, None]
    """Treatment of covered pages; `null` for methods that look at pages alone."""
    points: list[CoveragePoint]
    """Points of the curve."""


class CoverageEvaluation(TypedDict):
    """Result of `evaluate coverage`."""

    state: StateView
    """The evaluated state."""
    sites: int
    """Measured sites."""
    eligible_sites: int
    """Sites with enough crawled pages and a link from another site, from which the measured ones were drawn."""
    min_pages: int
    """Minimum number of crawled pages of a site."""
    pages: int
    """Crawled pages of the measured sites."""
    draws: int
    """Number of random lists that are averaged."""
    rng_seed: int
    """Seed of the random streams, and of the draw of sites."""
    by_seeds: list[CoverageCurve]
    """Coverage by seeds per site, from 1, at the most hops; `random` first, then the methods."""
    by_hops: list[CoverageCurve]
    """Coverage by hops, from 1, at the fixed number of seeds per site."""
    claims: list[Claim]
    """Claims about the methods."""


class CoveragePoint(TypedDict):
    """Coverage for one number of seeds and hops."""

    seeds: int
    """Seeds per site."""
    hops: int
    """Hops."""
    pages: CoverageShare
    """Coverage of the crawled pages of a site."""
    value: CoverageShare
    """Coverage of the positive value of a site."""


class CoverageShare(TypedDict):
    """Means over sites, with their standard errors."""

    percent: Estimate
    """Coverage, in percent of the site."""
    above_random: Union[Estimate, None]
    """Difference from random seeds, in percentage points; `null` for random itself."""
    mean_improvement: Union[Estimate, None]
    """Improvement over random seeds, in percent, as published: the mean of the improvements on each site on which
    random seeds cover something; `null` for random itself, or if there is no such site."""
    improvement_of_means: Union[Estimate, None]
    """Improvement of the mean coverage over that of random seeds, in percent; `null` for random itself, or if
    random seeds cover nothing."""


class CrawlComparison(TypedDict):
    """Results of simulated crawls with the same number of fetches from each list."""

    fetches: int
    """Maximum number of pages fetched."""
    list: CrawlResult
    """Crawl from the known or crawled pages of the list, in order."""
    first_seeds: CrawlResult
    """Crawl from the same number of seeds of the refresh, the first that are still alive."""
    all_seeds: NotRequired[CrawlResult]
    """Crawl from all seeds of the refresh that are still alive; absent if `first_seeds` has them all."""


class CrawlDepth(TypedDict):
    """Result of a crawl at one depth."""

    depth: int
    """Links from the seeds, which have depth 0."""
    new_pages: int
    """Pages at this depth."""
    pages: int
    """Pages up to this depth."""
    share: float
    """Share of all crawled and known pages."""
    pagerank: float
    """Total PageRank of the new pages."""
    mean_pagerank: Union[float, None]
    """Mean PageRank of the new pages; `null` without new pages."""
    spam_share: Union[float, None]
    """Share of spam among the new pages; `null` without new pages."""
    value: float
    """Value of the new pages that are crawled."""
    random: RandomDepth
    """Result of the random seeds."""
    hubs: NotRequired[RandomDepth]
    """Result of as many hubs of the same cores, drawn at random as the papers do; `null` without cores."""


class CrawlEvaluation(TypedDict):
    """Result of `evaluate crawl`."""

    state: StateView
    """The evaluated state."""
    list: ListView
    """The seeds."""
    draws: int
    """Number of random seed sets, each of as many crawled pages as there are live seeds."""
    rng_seed: int
    """Seed of the random sets."""
    fetches: Union[Comparison, None]
    """Comparison by pages fetched; `null` if it was not requested."""
    depths: list[CrawlDepth]
    """Results by depth, until neither the seeds nor a random set of pages or hubs reach more pages."""
    top_pages: list[TopPage]
    """The pages of the highest PageRank."""
    claims: list[Claim]
    """Claims about the seeds of cores, checked for this list."""
    convergence: NotRequired[Convergence]
    """How far the cores have converged; `null` if the seeds are not those of a plan with `hits` = classic."""


class CrawlResult(TypedDict):
    """Result of a simulated crawl. Every fetched page counts, whether the bank has crawled it or not. Figures of
    several crawls are their geometric means, computed after adding 1 to each number and rounded; the depth is the
    greatest."""

    starts: int
    """Number of start pages."""
    pages: int
    """Number of fetches, also of those that fail."""
    crawled: int
    """Number of fetched pages that the bank has crawled."""
    contents: int
    """Number of distinct contents of these."""
    sites: int
    """Number of the sites of the fetched pages."""
    clicks: int
    """Sum of their clicks."""
    clicked_pages: int
    """Number of them with clicks."""
    spam: int
    """Number of them with the spam mark."""
    depth: Union[int, None]
    """The greatest distance of a page from the start pages, in links; `null` if no page was fetched."""


class CurrentPage(TypedDict):
    """Page in the published state, which may be later than the refresh."""

    state: PageState
    """Known, crawled, gone, unlinked (no page links to it any more), or an alias."""
    spam: bool
    """Spam mark of the page, or else of its site."""
    first_seen: int
    """Batch that first mentioned the page."""
    recorded_since_refresh: bool
    """Whether that batch is later than the state that the refresh ran on."""
    alias: NotRequired[AliasView]
    """Target of the alias; absent for any other page."""
    last_seen: NotRequired[int]
    """Last batch with a record for the page; absent for a page known only from links."""


class DamagedBackup(TypedDict):
    """A backup that cannot be restored."""

    backup: int
    """The number of the backup."""
    what: str
    """What is wrong."""


class DefaultBudget(TypedDict):
    """Budget of a new plan for which none was given."""

    budget: int
    """Number of pages that the crawl will fetch."""
    delta: Union[int, None]
    """The batch whose records are the budget; `null` if the budget is half of the crawled pages, because the bank
    has no delta."""


class DiffCounts(TypedDict):
    summary: DiffSummary
    """The counts."""


class DiffSide(TypedDict):
    """One side of a comparison."""

    seeds: int
    """Number of seeds; for a list from outside, of distinct pages."""
    batch: NotRequired[int]
    """Last batch of the state that the refresh ran on."""
    list: NotRequired[str]
    """Name of a list from outside."""
    plan: NotRequired[str]
    """Plan of the refresh."""
    refresh: NotRequired[int]
    """Number of the refresh; absent for a list from outside."""


DiffSummary = TypedDict("DiffSummary", {
    "from": "DiffSide",
    "to": "DiffSide",
    "gained": "int",
    "lost": "int",
    "kept": "int",
    "moved": "int",
    "parameters_differ": "bool",
    "differing_parameters": "list[str]",
    "causes": "dict[str, int]",
    "successors": "int",
    "kept_without_new": "int",
})
"""Counts of a diff."""


class DistanceSpread(TypedDict):
    """Distances of a set of ordered pairs."""

    pairs: int
    """Ordered pairs."""
    reachable: int
    """Pairs with a path."""
    unreachable: int
    """Pairs without a path."""
    min: Union[int, None]
    """The shortest distance."""
    mean: Union[float, None]
    """The mean over reachable pairs."""
    max: Union[int, None]
    """The longest distance."""


class DistancesEvaluation(TypedDict):
    """Result of `evaluate distances`."""

    state: StateView
    """The evaluated state."""
    plan: str
    """The plan."""
    refresh: int
    """The refresh."""
    cores: list[CorePlace]
    """The cores, in order."""
    distances: list[list[Union[int, None]]]
    """Links on the shortest path from any page of a core (row) to any page of another (column); `null` without a
    path."""
    all: DistanceSpread
    """All ordered pairs of different cores."""
    neighbours: DistanceSpread
    """Pairs of neighbouring ranks, in both directions."""
    graph: GraphDistance
    """The whole graph."""
    claims: list[Claim]
    """Claims about cores."""


class DryRun(TypedDict):
    refresh: int
    """The refresh."""
    plan: str
    """The plan."""
    parameters: PlanOptions
    """Parameters that were set; the others had their defaults."""
    batch: int
    """The last batch of the state that the refresh ran on; 0 before the first batch."""
    at: int
    """Time of the refresh, in seconds since 1970 (UTC)."""
    seconds: float
    """Elapsed time, in seconds."""
    seeds: int
    """Number of seeds."""
    cores: int
    """Number of cores."""
    cold: bool
    """Whether the refresh reused nothing from an earlier one."""
    steps_reused: int
    """Number of steps reused from the previous refresh: cores, or sites, or seeds over the web. Exact cores are
    reused only from unchanged components; within a tolerance, a step counts as reused if nothing had to be
    computed for it."""
    steps_recomputed: int
    """Number of steps computed: cores, or sites, or seeds over the web."""
    proof: Proof
    """What is proved about the cores."""
    link_visits: int
    """Number of entries of rows and in-link lists that ranking read, counted per vector."""
    page_visits: int
    """Number of pages settled plus adjacency entries scanned."""
    method: Method
    """Method that selects the seeds."""
    plan_changed: bool
    """Whether the plan had other parameters in its previous refresh."""
    components: int
    """By cores: number of weakly connected components of the graph. By cover: 0."""
    components_verified: int
    """By cores: number of components whose pages and links are the same as in the previous refresh."""
    pages_loaded: int
    """By cores: number of pages of the graph; 0 if nothing changed. By cover: 0."""
    products: int
    """By cores: number of entries of rows and in-link lists that ranking read. An entry that serves several
    vectors at once counts once here, and once per vector in `link_visits`. By cover: 0."""
    bytes_read: int
    """Bytes of keys and values read from the store, in all processes, without those read to explain `costs`."""
    bytes_read_storing: int
    """Part of `bytes_read` that was read while the result was stored."""
    peak_memory: Union[int, None]
    """Peak memory of the process so far, in bytes; `null` if the system does not report it."""
    pruned: list[int]
    """Older refreshes of the plan that this refresh deleted."""
    dry_run: Literal[True]
    """Always true: nothing was stored."""
    seed_list: list[Seed]
    """Seeds that the refresh would store, best first."""
    candidates: NotRequired[Candidates]
    """Over the web by gain: how many candidates were searched; absent if the previous list was taken over."""
    changes: NotRequired[list[ParameterChange]]
    """The parameters that had other values in the previous refresh, those of lists by name."""
    costs: NotRequired[list[RecomputedCores]]
    """By cores, on request: why cores were recomputed."""
    crawled_since_tuned: NotRequired[float]
    """The number of crawled pages, divided by that for which the plan was tuned before, if they have grown or
    shrunk by half. The plan was tuned again for that reason, unless `no-tune` forbids it."""
    default_budget: NotRequired[DefaultBudget]
    """The budget that the plan got because none was given."""
    kept: NotRequired[KeptSeeds]
    """Over the web with `keep-seeds`: how the list follows from the previous one; absent if the seeds were
    selected without it."""
    leading: NotRequired[LeadingList]
    """The list that clearly finds more new pages than the plan over the last batches, if the refresh compared its
    list and the bank has five batches with times of fetches."""
    mirrored: NotRequired[list[MirroredHosts]]
    """Of a plan in which contents count once: hosts that have the same pages, at most 20 pairs, those with most
    equal contents first."""
    not_compared: NotRequired[int]
    """The number of pages of a cluster bank whose new list was not compared with baselines, because one process
    is not to load all of them; `null` otherwise."""
    policy: NotRequired[PolicyView]
    """Effect of the policies; `null` if the plan has none."""
    shortage: NotRequired[Shortage]
    """Why there are fewer seeds than requested, if so."""
    stars: NotRequired[Stars]
    """By cores: cores with a single hub or a single authority."""
    steps: NotRequired[StepsView]
    """By cores within a tolerance: how the steps were obtained."""
    traps: NotRequired[list[RepeatedContent]]
    """The likely traps of the bank, if seeds were selected: sites of many pages with hardly any different
    contents."""
    tuning: NotRequired[TuningView]
    """Over the web: results of the search for hops, a fetch cost and a value of known pages, if this refresh ran
    one."""
    uncertified_reason: NotRequired[str]
    """What could not be decided about the first core in doubt: why it is not proved, or, of classic cores, which
    tie is open; absent if no core is in doubt."""
    verdict: NotRequired[HeldOutVerdict]
    """Comparison of the plan's list with baselines, if this refresh made one."""


class Estimate(TypedDict):
    """A mean with its standard error."""

    mean: float
    """The mean."""
    standard_error: Union[float, None]
    """Its standard error; `null` if there is only one observation."""


class ExplanationCoresCoreMember(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Literal["cores"]
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["core-member"]
    """Cores: another hub of a core, or an authority."""
    core: CoreNumbers
    """The core."""
    hub: Union[SidePosition, None]
    """Position among the hubs; `null` if it is not a hub."""
    authority: Union[SidePosition, None]
    """Position among the authorities; `null` if it is not an authority."""
    seed: ScoredUrl
    """Seed of the core with its hub score; if it gives none, the hub that would be its seed."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationCoresCoreSeed(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Literal["cores"]
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["core-seed"]
    """Cores: the hub chosen from a core."""
    rank: int
    """Rank on the list."""
    since: int
    """First refresh of the uninterrupted series in which it is a seed."""
    core: CoreNumbers
    """The core."""
    hub: SidePosition
    """Position among the hubs."""
    linked_authorities: int
    """Number of authorities of the core that it links to."""
    linked_sites: int
    """Number of sites of those authorities."""
    first_authorities: list[str]
    """Those of them that were added first, at most three."""
    runner_up: Union[ScoredUrl, None]
    """Best other hub with its score; `null` if there is none."""
    deferred: NotRequired[Literal[True]]
    """Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection. JSON
    has the field only if it is `true`."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationCoresNearCore(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Literal["cores"]
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["near-core"]
    """Cores: links to an authority of a core, or is linked from a hub of one, but was not added."""
    core: CoreNumbers
    """First core that it is linked with."""
    seed: ScoredUrl
    """Seed of the core with its hub score; if it gives none, the hub that would be its seed."""
    role: Role
    """Role in which it was a candidate."""
    score: float
    """Score in that role."""
    weakest: ScoredUrl
    """Added page with the lowest score in this role."""
    links: int
    """Number of its links with the core's other side."""
    links_needed: int
    """Number of links that another page in this role would have needed."""
    reason: NotAdded
    """Why it was not added."""
    row_sums: RowSums
    """Row sums of the page."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationCoresNoCore(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Literal["cores"]
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["no-core"]
    """Cores: linked with no core. The row sums compare its neighbourhood with the last core."""
    as_authority: int
    """Sum of the outdegrees of the hubs that link to it."""
    as_hub: int
    """Sum of the indegrees of the authorities that it links to."""
    last_lambda: Union[float, None]
    """Squared sigma of the last core; `null` if there are no cores. The best page of a region with this sigma has
    at least this row sum."""
    reaches_last_core: bool
    """Whether one of the row sums reaches `last_lambda`. If so, the row sums alone do not rule the page out."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationCoresNoInterSiteLinks(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Literal["cores"]
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["no-inter-site-links"]
    """Cores: has no inter-site links that count."""
    neighbours_ineligible: bool
    """Whether it has inter-site links, but the pages at all their other ends were ineligible."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationCoverSeed(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["cover-seed"]
    """Cover: picked on its site."""
    rank: int
    """Rank on the list."""
    since: int
    """Refresh that picked it. Later refreshes reuse the pick while the site is unchanged."""
    pick: int
    """Position among the picks of the site, from 1."""
    seats: int
    """Number of seeds allocated to the site."""
    gain: Union[float, None]
    """Score by which it was picked; `null` for a random pick."""
    covers: ValueBreakdown
    """Pages that it covers and no earlier pick of the site does."""
    hops: list[ValueBreakdown]
    """Those pages by distance from it, from 0 hops on."""
    runner_up: Union[ScoredUrl, None]
    """Second-best page at that moment; `null` if unknown."""
    covered_by: Union[list[Union[SiteSeed, int]], None]
    """Earlier pick that covers the page itself, and the distance in links; `null` if none does."""
    deferred: NotRequired[Literal[True]]
    """Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection. JSON
    has the field only if it is `true`."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationCovered(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["covered"]
    """Cover: covered by a seed."""
    by: SiteSeed
    """First seed that covers it."""
    hop: int
    """Distance from that seed, in links."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationIneligible(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["ineligible"]
    """Not eligible."""
    reason: IneligibleReason
    """Why it was not eligible."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationNoSeats(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["no-seats"]
    """Cover: its site was allocated no seeds."""
    crawled: int
    """Number of crawled pages of the site when the refresh ran."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationNotYetKnown(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["not-yet-known"]
    """Not known to the bank when the refresh ran."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationReached(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["reached"]
    """Over the web: reached by a seed."""
    by: SiteSeed
    """The first pick that reaches it."""
    hop: int
    """Distance from that seed, in links."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationRepresented(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["represented"]
    """Over the web, with `duplicates` = once: has the content of another page, which counts instead."""
    by: str
    """URL of the page that counts."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationUncovered(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["uncovered"]
    """Cover: covered by no seed."""
    score: Union[float, None]
    """Score after the site's last pick; `null` if picks are random."""
    exact: bool
    """Whether the score is exact. If not, it is an upper bound."""
    last_pick: Union[SiteSeed, None]
    """Last pick of the site."""
    picks: int
    """Number of picks of the site."""
    seats: int
    """Number of seeds allocated to the site."""
    stop: CoverStop
    """Why the site has no more seeds."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationUnreached(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["unreached"]
    """Over the web: eligible as a seed, and reached by none."""
    score: Union[float, None]
    """Score after the last pick; `null` if picks are random."""
    last_pick: Union[SiteSeed, None]
    """Last pick, which scored higher; `null` if no remaining score was positive."""
    picks: int
    """Number of picks."""
    seeds_requested: int
    """Number of seeds requested."""
    terms: WebTerms
    """Hops, fetch cost and budget of the plan."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class ExplanationWebSeed(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    page: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    kind: Literal["web-seed"]
    """Over the web: picked."""
    rank: int
    """Rank on the list."""
    since: int
    """Refresh that picked it. Later refreshes reuse the pick while nothing changes."""
    gain: Union[float, None]
    """Score by which it was picked; `null` for a random pick."""
    reaches: WebValueBreakdown
    """Pages that it reaches and no earlier pick does."""
    hops: list[WebValueBreakdown]
    """Those pages by distance from it, from 0 hops on."""
    runner_up: Union[ScoredUrl, None]
    """Best other page at that moment, with a greater gain if the seed stays from the previous list; `null` if
    unknown."""
    reached_by: Union[list[Union[SiteSeed, int]], None]
    """Earlier pick that reaches the page itself, and the distance in links; `null` if none does."""
    terms: WebTerms
    """Hops, fetch cost and budget of the plan."""
    deferred: NotRequired[Literal[True]]
    """Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection. JSON
    has the field only if it is `true`."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""
    revisit: NotRequired[RevisitView]
    """What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page
    is not crawled, and if a batch followed the refresh."""


class FailingPages(TypedDict):
    """Pages of a site whose last fetch failed with the same result."""

    status: FetchStatus
    """The result of the last fetch."""
    pages: int
    """Number of pages."""


class Failures(TypedDict):
    """The failed fetches of a page after its last fetch that did not fail."""

    status: FetchStatus
    """The result of the last one."""
    count: int
    """The number of half-days (UTC) with one, at most 64."""
    since: int
    """The start of the first of these half-days, in seconds since 1970 (UTC); `last` if there is only one."""
    last: int
    """The time of the last one, in seconds since 1970 (UTC)."""


class FetchCounts(TypedDict):
    """Numbers of fetches."""

    fetched: int
    """Fetches that did not fail: they found the page crawled, redirected or gone."""
    new: int
    """Those that crawled a page whose fetches had all failed before, or that was never fetched."""
    failed: int
    """Fetches that failed."""


class FetchOrigin(TypedDict):
    """Origin of the last fetch of a page that a crawler attributed to a seed, as reported by the crawler."""

    batch: int
    """Batch with the fetch."""
    failed: bool
    """Whether the fetch failed."""
    seed: str
    """Seed that the crawl came from."""
    depth: NotRequired[int]
    """Number of links from the seed; absent if the crawler does not say so."""
    via: NotRequired[str]
    """Page by which the crawler found this one; absent if it does not say so."""


class FileFinding(TypedDict):
    """A damaged file of the folder of a bank."""

    file: str
    """The path within the bank."""
    what: str
    """What is wrong."""


class Finding(TypedDict):
    """An inconsistency in a bank."""

    table: str
    """The table."""
    key: str
    """The key in readable form."""
    what: str
    """What is wrong."""


class FoundPage(TypedDict):
    """Page found by a search."""

    url: str
    """URL of the page."""
    site: str
    """Site of the page."""
    state: PageState
    """Known, crawled, gone, unlinked (no page links to it any more), or an alias."""
    spam: bool
    """Spam mark of the page, or else of its site."""


class FoundSite(TypedDict):
    """Site found by a search."""

    site: str
    """Name of the site."""
    known: int
    """Number of its known pages."""
    crawled: int
    """Number of its crawled pages."""


class GatheredView(TypedDict):
    """Pages gathered by crawls."""

    fetched: Estimate
    """Pages fetched: the budget, or fewer if fewer can be reached."""
    value: Estimate
    """Their value, in units."""
    crawled: Estimate
    """Crawled pages among them."""
    contents: Estimate
    """Distinct contents of the crawled pages. A page without a digest has its own content."""
    new_pages: Estimate
    """Crawled pages among them that were held out from the selection."""
    new_contents: Estimate
    """Distinct contents that only pages held out from the selection have."""
    discovered: Estimate
    """Pages fetched, or linked from pages fetched, that were not known at all to the selection."""
    pagerank: Estimate
    """Their PageRank, which adds up to 1 over all pages."""


class GraphDistance(TypedDict):
    """The average distance between pages of the whole graph."""

    sources: int
    """Pages with links."""
    samples: int
    """Sources from which distances were measured."""
    mean: Union[Estimate, None]
    """Mean over the reachable ordered pairs; its error is 0 if every source was measured."""
    reached: Union[Estimate, None]
    """Share of the other pages that a page with links reaches."""


class GroupSize(TypedDict):
    """Size of a group of tables."""

    group: TableGroup
    """Group of the tables."""
    bytes: int
    """Bytes of the tables' files in the published state."""


class HeavySite(TypedDict):
    """Site that weighs more than the mean part or process."""

    site: str
    """Name of the site."""
    pages: int
    """Number of its known and crawled pages."""
    links: int
    """Number of links from its pages."""
    share: float
    """Part of the weight of all sites."""
    to_mean: float
    """Weight divided by the mean: its part or process weighs at least this many times the mean."""


class HeldOutVerdict(TypedDict):
    """A comparison of a plan's list with the baselines: the plan selects without a tenth of the crawled pages,
    and a crawl over everything known is measured. Figures are means over the draws."""

    batch: int
    """The last batch of the state on which the plan was judged."""
    age_batches: int
    """Number of batches between that state and the one on which the list was selected. 0 is the verdict on this
    list; otherwise, another list of the plan was judged."""
    seeds: int
    """Number of seeds requested."""
    budget: int
    """Number of pages that the crawl fetches."""
    crawl: Crawls
    """The crawl. Figures of several are their geometric means."""
    whole_after: Union[float, None]
    """The days after which a fetched page counts whole again; `null` if pages count whole at any time."""
    draws: int
    """Number of times that pages were held out."""
    measure: Measure
    """The figure that is compared."""
    list: Union[ListFigures, None]
    """The figures of the list itself and of the best baseline's list, with everything known; `null` by goal
    discovery, and in verdicts of earlier versions."""
    found: Estimate
    """The figure of the plan."""
    baseline: str
    """The name of the best baseline."""
    baseline_found: Estimate
    """The figure of the best baseline."""
    times_best_baseline: Union[Estimate, None]
    """The ratio of the two; `null` if the figure of the best baseline is 0."""
    new: Union[Compared, None]
    """The part of the figures that was held out; `null` if the figure has none."""
    breadth_first: Union[Compared, None]
    """The figures in a breadth-first crawl without limits; `null` if the crawl is one."""


class History(TypedDict):
    batches: list[BatchView]
    """Batches, by number."""
    refreshes: list[RefreshView]
    """Stored refreshes, by number."""
    refused: NotRequired[RefusedBatch]
    """Last refused batch; `null` if no batch was refused, or if a batch with its name was accepted later."""


class HtmlPages(TypedDict):
    """HTML pages that were searched for links."""

    searched: int
    """Their number."""
    with_links: int
    """The number of those that have a link to another page."""


class ImageCheck(TypedDict):
    """The comparison of the graph image with the tables."""

    pages: int
    """The number of pages that were compared; 0 if there is no usable image."""
    what: Union[str, None]
    """What differs; `null` if nothing does."""


class IngestReport(TypedDict):
    """Output of `seedbank ingest --format json`."""

    batch: Union[int, None]
    """The batch's number; `null` if the bank did not change."""
    name: str
    """Its name."""
    kind: BatchKind
    """Whether the batch is a snapshot or a delta."""
    same_as: Union[int, None]
    """The earlier batch with the same records, because of which nothing changed."""
    repeats: Union[int, None]
    """An earlier batch with the same records and no fetch times. Other batches were ingested since, so this one
    was applied."""
    is_empty: bool
    """Whether the batch is a delta without valid records. The bank is then unchanged."""
    dry_run: bool
    """Whether this was a dry run."""
    read: ReadSummary
    """Counts from reading the input."""
    counts: BatchCounts
    """Changes by the batch, or by a dry run if it were applied."""
    aliases: AliasCounts
    """Changes of aliases; links to changed aliases count as changed."""
    sites: SiteCounts
    """Changes of sites; pages that inherit from a changed site count as changed."""
    stale: int
    """Number of stale records: skipped, because their pages were fetched later."""
    failed: int
    """Number of pages whose fetch failed."""
    learned: LearnedCounts
    """What is learned from the fetches of pages that the bank had before."""
    attributed: int
    """Number of fetches that crawlers attribute to seeds."""
    rejects_file: Union[str, None]
    """The file that lists bad and stale records; `null` if there are none."""
    rejects_listed: int
    """Number of bad records and fields listed there: at most the first 100,000. All are counted."""
    seconds: float
    """Elapsed time, in seconds."""
    blocked: NotRequired[BlockedCounts]
    """Input that was skipped because of the blocklist."""
    clock: NotRequired[ClockDifference]
    """The time of the batch, if it is years after the last fetch that the bank had, or more than a day before it;
    `null` also if the request gave the time."""


class KeptSeeds(TypedDict):
    """How a list follows from the previous one."""

    seeds: int
    """Number of seeds that were on the previous list."""
    worth: float
    """Worth of the pages that the list reaches, after the fetch costs, divided by that of a list without kept
    seeds."""


class LastBatch(TypedDict):
    """Last batch."""

    batch: int
    """Number of the batch."""
    name: str
    """Name given by the user."""
    kind: BatchKind
    """Whether the batch is a whole state or a set of changes."""
    at: int
    """Time of ingest, in seconds since 1970 (UTC)."""
    age: int
    """Time since then, in seconds; 0 if the clock was set back."""
    seconds: float
    """Elapsed time, in seconds."""
    records: int
    """Number of records read, including rejected ones."""
    rejected: int
    """Number of rejected records."""
    truncated: int
    """Truncated inputs whose complete records were read."""
    stale: int
    """Number of stale records: skipped, because their pages were fetched later."""
    failed: int
    """Number of pages whose fetch failed."""
    failing: int
    """Number of pages whose last fetch failed, after the batch."""
    rejects_file: Union[str, None]
    """List of bad and stale records in the bank's folder; `null` if there are none, the user named another file,
    or the list was removed."""


class LeadingList(TypedDict):
    """A list from which crawls over the last batches would have found more new pages than from that of the
    plan."""

    list: str
    """Name of the list, as `evaluate methods` has it."""
    parameters: PlanOptions
    """The parameters to give to a refresh, so that the plan makes this list."""
    replaces: bool
    """Whether they replace all other parameters of the plan."""
    times_plan: Estimate
    """The new pages, divided by those from the list of the plan; more than 1 by over two standard errors."""
    batches: int
    """Number of batches after which both crawled."""


class LearnedCounts(TypedDict):
    """What is learned from the fetches of a batch."""

    fetched_again: int
    """Number of pages that were fetched before and are fetched again."""
    days: float
    """Total number of days between these fetches and the previous ones."""
    new_links: int
    """Links that the bank saw for the first time in these fetches."""
    tried: int
    """Number of known pages that were tried for the first time."""
    answered: int
    """Those among them whose fetch did not fail."""
    new_links_of_first: int
    """Links that the bank saw for the first time in these first fetches."""
    is_bulk: bool
    """Whether nothing was learned from the pages fetched again, because the batch looks like a bulk import."""


class LinkedSite(TypedDict):
    """Site linked with another one."""

    site: str
    """Name of the site."""
    links: int
    """Number of links."""
    pages: int
    """Number of its pages at the other ends."""


class LinksBySite(TypedDict):
    """Linked pages, grouped by site."""

    pages: int
    """Number of pages."""
    sites: int
    """Number of sites."""
    by_site: list[SiteLinks]
    """Sites with the most pages, ties by name."""


class List(TypedDict):
    """The stored and JSON form of a list."""

    name: str
    """Its name as given: a path, or `@media`."""
    lines: int
    """Number of lines."""
    hash: str
    """A 128-bit hash of the lines in hexadecimal; 32 zeros for a removed list."""


class ListChanges(TypedDict):
    """Difference of a list from the plan's previous list, under a limit on changes."""

    lost_ineligible: int
    """Number of seeds of the previous list that can no longer be seeds: gone, rejected, or above a cap."""
    lost: int
    """Number of seeds of the previous list that are not on this one, including those of `lost_ineligible`."""
    gained: int
    """Number of seeds that were not on the previous list."""
    retained: int
    """Number of seeds that stay only because the limit on changes was reached."""
    deferred: int
    """Number of seeds that the method selected and that are not on the list."""


class ListComparison(TypedDict):
    """Output of `seedbank compare --format json`: a list of start pages compared with the seeds of a plan."""

    list: str
    """Name of the list."""
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    current_batch: int
    """Last batch of the current state, in which pages are looked up and crawls simulated."""
    counts: ListCounts
    """Counts of the lines and pages of the list."""
    crawl: Crawls
    """The crawls that are simulated."""
    crawls: list[CrawlComparison]
    """Their results, by number of fetches, ascending."""
    lines: list[ListedLine]
    """Every URL of the list, in order."""


class ListCounts(TypedDict):
    """Counts of the lines and pages of a list. Each line is a page, a duplicate, or an invalid URL: `lines` =
    `pages` + `duplicates` + `invalid_urls`. Each page is one of `alive`, `spam`, `gone`, `alias`, `resource`,
    `unlinked` and `not_in_bank`; and each that is in the bank is one of `seeds`, `covered`, `near_core` and
    `not_covered`."""

    lines: int
    """Lines with a URL, including duplicates and invalid ones, without empty lines and comments."""
    pages: int
    """Distinct pages."""
    duplicates: int
    """Lines with the page of an earlier line."""
    invalid_urls: int
    """Lines without a valid page URL."""
    alive: int
    """Known or crawled pages without the spam mark."""
    spam: int
    """Known or crawled pages with the spam mark."""
    gone: int
    """Gone pages."""
    alias: int
    """Aliases of other pages."""
    resource: int
    """Resources."""
    unlinked: int
    """Pages without links to them and without a record."""
    not_in_bank: int
    """Pages that the bank does not contain."""
    seeds: int
    """Pages on the list of the refresh."""
    covered: int
    """Pages in a core, or covered by a seed of the refresh."""
    near_core: int
    """Cores: pages that are linked with a core and were not added."""
    not_covered: int
    """All other pages in the bank."""


class ListFigures(TypedDict):
    """What crawls from two lists find."""

    found: float
    """The figure of the list."""
    baseline_found: float
    """The figure of the list of the best baseline."""


class ListRelationCovered(TypedDict):
    kind: Literal["covered"]
    """Cover: covered by a seed on the list, or over the web reached by one."""
    by: str
    """URL of the seed."""
    rank: int
    """Rank of the seed."""
    hop: int
    """Distance from the seed, in links."""


class ListRelationInCore(TypedDict):
    kind: Literal["in-core"]
    """Cores: in a core, but not on the list."""
    core: int
    """Rank of the core."""
    seed: str
    """Seed of the core; if it gives none, the hub that would be its seed."""


class ListRelationNearCore(TypedDict):
    kind: Literal["near-core"]
    """Cores: linked with a core, but not added."""
    core: int
    """Rank of the core."""
    seed: str
    """Seed of the core; if it gives none, the hub that would be its seed."""


class ListRelationNotCovered(TypedDict):
    kind: Literal["not-covered"]
    """None of these. This includes pages covered only by a pick that policies keep off the list."""


class ListRelationSeed(TypedDict):
    kind: Literal["seed"]
    """On the list."""
    rank: int
    """Rank on the list."""


class ListView(TypedDict):
    """List of seeds, resolved in the current state."""

    name: str
    """Name: the refresh with its plan, or the file."""
    given: int
    """Entries of the list."""
    repeated: int
    """Entries that repeat a page."""
    seeds: int
    """Live pages, and successors of dead ones."""
    dead: int
    """Seeds that are gone, unlinked, aliases, or spam."""
    unknown: int
    """Entries that are not pages of the bank."""
    absent: list[AbsentSeed]
    """Dead and unknown entries, in the order of the list."""
    batch: NotRequired[int]
    """The last batch of the state that the refresh ran on."""
    plan: NotRequired[str]
    """The plan."""
    refresh: NotRequired[int]
    """The refresh."""
    succeeded: NotRequired[int]
    """Successors that are used in place of dead seeds; `null` if none were requested."""


class ListedLine(TypedDict):
    """Line of the list."""

    line: int
    """Line number in the list."""
    text: str
    """URL as written."""
    state: LineState
    """State of the line."""
    error: NotRequired[str]
    """For an invalid URL, the reason."""
    first_line: NotRequired[int]
    """For a duplicate, the first line with the page."""
    page: NotRequired[ListedPage]
    """State of the page and its relation to the refresh; absent for a duplicate, or a page that is not in the
    bank."""
    url: NotRequired[str]
    """Normalised URL; absent if it is invalid."""


class ListedPage(TypedDict):
    """State of a page of the list and its relation to the refresh."""

    site: str
    """Site of the page."""
    current: CurrentPage
    """Current state of the page, which may be later than the refresh."""
    relation: ListRelation
    """Relation to the list of the refresh."""
    why: Union[ListedPageWhyCoreSeed, ListedPageWhyCoreMember, ListedPageWhyNearCore, ListedPageWhyNoCore, ListedPageWhyNoInterSiteLinks, ListedPageWhyCoverSeed, ListedPageWhyCovered, ListedPageWhyUncovered, ListedPageWhyNoSeats, ListedPageWhyWebSeed, ListedPageWhyReached, ListedPageWhyRepresented, ListedPageWhyUnreached, ListedPageWhyIneligible, ListedPageWhyNotYetKnown]
    """Why it is a seed or not."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class ListedPageWhyCoreMember(TypedDict):
    kind: Literal["core-member"]
    """Cores: another hub of a core, or an authority."""
    core: CoreNumbers
    """The core."""
    hub: Union[SidePosition, None]
    """Position among the hubs; `null` if it is not a hub."""
    authority: Union[SidePosition, None]
    """Position among the authorities; `null` if it is not an authority."""
    seed: ScoredUrl
    """Seed of the core with its hub score; if it gives none, the hub that would be its seed."""


class ListedPageWhyCoreSeed(TypedDict):
    kind: Literal["core-seed"]
    """Cores: the hub chosen from a core."""
    rank: int
    """Rank on the list."""
    since: int
    """First refresh of the uninterrupted series in which it is a seed."""
    core: CoreNumbers
    """The core."""
    hub: SidePosition
    """Position among the hubs."""
    linked_authorities: int
    """Number of authorities of the core that it links to."""
    linked_sites: int
    """Number of sites of those authorities."""
    first_authorities: list[str]
    """Those of them that were added first, at most three."""
    runner_up: Union[ScoredUrl, None]
    """Best other hub with its score; `null` if there is none."""
    deferred: NotRequired[Literal[True]]
    """Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection. JSON
    has the field only if it is `true`."""


class ListedPageWhyCoverSeed(TypedDict):
    kind: Literal["cover-seed"]
    """Cover: picked on its site."""
    rank: int
    """Rank on the list."""
    since: int
    """Refresh that picked it. Later refreshes reuse the pick while the site is unchanged."""
    pick: int
    """Position among the picks of the site, from 1."""
    seats: int
    """Number of seeds allocated to the site."""
    gain: Union[float, None]
    """Score by which it was picked; `null` for a random pick."""
    covers: ValueBreakdown
    """Pages that it covers and no earlier pick of the site does."""
    hops: list[ValueBreakdown]
    """Those pages by distance from it, from 0 hops on."""
    runner_up: Union[ScoredUrl, None]
    """Second-best page at that moment; `null` if unknown."""
    covered_by: Union[list[Union[SiteSeed, int]], None]
    """Earlier pick that covers the page itself, and the distance in links; `null` if none does."""
    deferred: NotRequired[Literal[True]]
    """Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection. JSON
    has the field only if it is `true`."""


class ListedPageWhyCovered(TypedDict):
    kind: Literal["covered"]
    """Cover: covered by a seed."""
    by: SiteSeed
    """First seed that covers it."""
    hop: int
    """Distance from that seed, in links."""


class ListedPageWhyIneligible(TypedDict):
    kind: Literal["ineligible"]
    """Not eligible."""
    reason: IneligibleReason
    """Why it was not eligible."""


class ListedPageWhyNearCore(TypedDict):
    kind: Literal["near-core"]
    """Cores: links to an authority of a core, or is linked from a hub of one, but was not added."""
    core: CoreNumbers
    """First core that it is linked with."""
    seed: ScoredUrl
    """Seed of the core with its hub score; if it gives none, the hub that would be its seed."""
    role: Role
    """Role in which it was a candidate."""
    score: float
    """Score in that role."""
    weakest: ScoredUrl
    """Added page with the lowest score in this role."""
    links: int
    """Number of its links with the core's other side."""
    links_needed: int
    """Number of links that another page in this role would have needed."""
    reason: NotAdded
    """Why it was not added."""
    row_sums: RowSums
    """Row sums of the page."""


class ListedPageWhyNoCore(TypedDict):
    kind: Literal["no-core"]
    """Cores: linked with no core. The row sums compare its neighbourhood with the last core."""
    as_authority: int
    """Sum of the outdegrees of the hubs that link to it."""
    as_hub: int
    """Sum of the indegrees of the authorities that it links to."""
    last_lambda: Union[float, None]
    """Squared sigma of the last core; `null` if there are no cores. The best page of a region with this sigma has
    at least this row sum."""
    reaches_last_core: bool
    """Whether one of the row sums reaches `last_lambda`. If so, the row sums alone do not rule the page out."""


class ListedPageWhyNoInterSiteLinks(TypedDict):
    kind: Literal["no-inter-site-links"]
    """Cores: has no inter-site links that count."""
    neighbours_ineligible: bool
    """Whether it has inter-site links, but the pages at all their other ends were ineligible."""


class ListedPageWhyNoSeats(TypedDict):
    kind: Literal["no-seats"]
    """Cover: its site was allocated no seeds."""
    crawled: int
    """Number of crawled pages of the site when the refresh ran."""


class ListedPageWhyNotYetKnown(TypedDict):
    kind: Literal["not-yet-known"]
    """Not known to the bank when the refresh ran."""


class ListedPageWhyReached(TypedDict):
    kind: Literal["reached"]
    """Over the web: reached by a seed."""
    by: SiteSeed
    """The first pick that reaches it."""
    hop: int
    """Distance from that seed, in links."""


class ListedPageWhyRepresented(TypedDict):
    kind: Literal["represented"]
    """Over the web, with `duplicates` = once: has the content of another page, which counts instead."""
    by: str
    """URL of the page that counts."""


class ListedPageWhyUncovered(TypedDict):
    kind: Literal["uncovered"]
    """Cover: covered by no seed."""
    score: Union[float, None]
    """Score after the site's last pick; `null` if picks are random."""
    exact: bool
    """Whether the score is exact. If not, it is an upper bound."""
    last_pick: Union[SiteSeed, None]
    """Last pick of the site."""
    picks: int
    """Number of picks of the site."""
    seats: int
    """Number of seeds allocated to the site."""
    stop: CoverStop
    """Why the site has no more seeds."""


class ListedPageWhyUnreached(TypedDict):
    kind: Literal["unreached"]
    """Over the web: eligible as a seed, and reached by none."""
    score: Union[float, None]
    """Score after the last pick; `null` if picks are random."""
    last_pick: Union[SiteSeed, None]
    """Last pick, which scored higher; `null` if no remaining score was positive."""
    picks: int
    """Number of picks."""
    seeds_requested: int
    """Number of seeds requested."""
    terms: WebTerms
    """Hops, fetch cost and budget of the plan."""


class ListedPageWhyWebSeed(TypedDict):
    kind: Literal["web-seed"]
    """Over the web: picked."""
    rank: int
    """Rank on the list."""
    since: int
    """Refresh that picked it. Later refreshes reuse the pick while nothing changes."""
    gain: Union[float, None]
    """Score by which it was picked; `null` for a random pick."""
    reaches: WebValueBreakdown
    """Pages that it reaches and no earlier pick does."""
    hops: list[WebValueBreakdown]
    """Those pages by distance from it, from 0 hops on."""
    runner_up: Union[ScoredUrl, None]
    """Best other page at that moment, with a greater gain if the seed stays from the previous list; `null` if
    unknown."""
    reached_by: Union[list[Union[SiteSeed, int]], None]
    """Earlier pick that reaches the page itself, and the distance in links; `null` if none does."""
    terms: WebTerms
    """Hops, fetch cost and budget of the plan."""
    deferred: NotRequired[Literal[True]]
    """Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection. JSON
    has the field only if it is `true`."""


class MethodsEvaluation(TypedDict):
    state: StateView
    """The evaluated state."""
    comparison: Comparison
    """Comparison of all methods and baselines."""
    recommended: list[Recommended]
    """The best plan for each number of seeds and fetches at which it gathers any value."""


class MirroredHosts(TypedDict):
    """Two mirrored hosts."""

    host: str
    """The first host by URL: scheme, host and port."""
    mirror: str
    """The other host."""
    equal: int
    """Number of different contents that both have on the same path."""
    different: int
    """Number of paths with different contents."""
    taken: int
    """Number of pages of the two that are not crawled yet and are taken for a page of the other."""


class NewPages(TypedDict):
    """New pages of a crawl: URLs that the bank did not know when the list was chosen."""

    found: float
    """Those that fetched pages link to, or that were fetched."""
    fetched: float
    """Those that were fetched."""


class NextEvaluation(TypedDict):
    state: StateView
    """The state."""
    plan: Union[str, None]
    """The plan; `null` if lists are compared with those of a new plan."""
    seeds: int
    """Number of seeds of each list."""
    budget: int
    """Number of fetches of each crawl."""
    rng_seed: int
    """The seed of random draws."""
    batches: list[int]
    """The batches after which lists were chosen, each to be replayed over the three batches after it."""
    batches_in_loop: list[int]
    """The batches of the closed loop."""
    rows: list[NextRow]
    """The lists."""
    followed: float
    """New pages found by a crawl in the closed loop from the sixth batch on, if it begins with the plan, and from
    then on takes the list that is recommended by the batches before; 0 with five batches."""
    recommended: str
    """The list to take by the closed loop, in which what was found five batches ago counts half: the plan's,
    unless another list finds twice as much, or more by a twentieth and by two standard errors."""


class NextRow(TypedDict):
    """The results of a list, as means over the days."""

    list: str
    """The name of the list."""
    is_plan: bool
    """Whether the plan makes this list as it is now."""
    parameters: PlanOptions
    """The parameters to give to a refresh, so that the plan makes this list."""
    replaces: bool
    """Whether they replace all other parameters of the plan."""
    replayed: NewPages
    """New pages if every page is fetched."""
    replayed_crawled: NewPages
    """New pages if only pages are fetched that the bank ever fetched."""
    closed_loop: NewPages
    """New pages of a crawl in the closed loop, in which each list knows only what its own crawls found."""
    found: list[int]
    """New pages found in the closed loop, by batch."""
    later: float
    """New pages found by a crawl in the closed loop from the sixth batch on; 0 with five batches."""
    times_plan: Union[Estimate, None]
    """New pages found in the closed loop, divided by those that the plan finds, with the standard error over
    days; `null` for the plan itself, without a plan, and if the plan finds nothing."""


class PageFacts(TypedDict):
    url: str
    """Normalised URL of the page."""
    site: str
    """Site of the page."""
    state: PageState
    """Known, crawled, gone, unlinked (no page links to it any more), an alias or a resource."""
    kind: PageKind
    """What the answer to its last fetch is; a page in all states but crawled and resource."""
    spam: bool
    """Spam mark of the page, or else of its site."""
    spam_source: Union[AttributeSource, None]
    """Source of the spam mark; `null` if none was given, and the page counts as not spam."""
    quality: Union[float, None]
    """Quality of the page, or else of its site, from 0 to 1; `null` if neither has one."""
    quality_source: Union[AttributeSource, None]
    """Source of the quality; `null` if none was given."""
    clicks: int
    """Number of clicks."""
    uncrawled_outlinks: int
    """Number of uncrawled outlinks, given or counted."""
    uncrawled_given: bool
    """Whether a record gave that number."""
    digest: bool
    """Whether a content digest is known."""
    fetched: Union[int, None]
    """Time of the last fetch that did not fail, in seconds since 1970 (UTC): that of the record, or else of its
    batch; `null` if it is not known."""
    first_seen: SeenInBatch
    """Batch that first mentioned the page."""
    outlinks: LinksBySite
    """Pages that it links to, by site. A link to an alias counts as one to the page it resolves to."""
    inlinks: LinksBySite
    """Pages that link to it or to an alias of it, by site."""
    aliases: Aliases
    """Aliases whose direct target it is."""
    links_to_alias: int
    """Number of pages that link to it as an alias; their links count for the page it resolves to."""
    plans: list[PageInPlan]
    """Result for it in the last refresh of each plan, by plan name."""
    alias: NotRequired[AliasView]
    """Target of the alias; absent for any other page."""
    canonical: NotRequired[CanonicalView]
    """Page that it names as canonical; absent if it names none."""
    changed: NotRequired[int]
    """Last time at which the content is known to have changed, from a sitemap, a feed or a record, in seconds
    since 1970 (UTC); absent if none is known. After the last fetch, the page is due."""
    failures: NotRequired[Failures]
    """Fetches that failed since then; absent if none did."""
    last_seen: NotRequired[SeenInBatch]
    """Last batch with a record for the page; absent for a page known only from links."""
    origin: NotRequired[FetchOrigin]
    """Seed, linking page and depth of the last fetch attributed to a seed; absent if there was no such fetch."""
    stated_earlier: NotRequired[dict[str, int]]
    """Fields that the last fetch did not state, with the times of the fetches that did, in seconds since 1970
    (UTC); absent if there are none."""
    yields: NotRequired[PageYield]
    """What its fetches after the first brought; absent if it was not fetched twice."""


class PageHistory(TypedDict):
    url: str
    """URL of the page."""
    state: PageState
    """Current state of the page."""
    spam: bool
    """Current spam mark of the page."""
    first_seen: int
    """Batch that first mentioned the page."""
    plans: list[PlanHistory]
    """History by plan, ordered by plan name."""
    last_seen: NotRequired[int]
    """Last batch with a record for the page; absent for a page known only from links."""


class PageInPlanCoresCoreMember(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Literal["cores"]
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["core-member"]
    """Cores: another hub of a core, or an authority."""
    core: CoreNumbers
    """The core."""
    hub: Union[SidePosition, None]
    """Position among the hubs; `null` if it is not a hub."""
    authority: Union[SidePosition, None]
    """Position among the authorities; `null` if it is not an authority."""
    seed: ScoredUrl
    """Seed of the core with its hub score; if it gives none, the hub that would be its seed."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanCoresCoreSeed(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Literal["cores"]
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["core-seed"]
    """Cores: the hub chosen from a core."""
    rank: int
    """Rank on the list."""
    since: int
    """First refresh of the uninterrupted series in which it is a seed."""
    core: CoreNumbers
    """The core."""
    hub: SidePosition
    """Position among the hubs."""
    linked_authorities: int
    """Number of authorities of the core that it links to."""
    linked_sites: int
    """Number of sites of those authorities."""
    first_authorities: list[str]
    """Those of them that were added first, at most three."""
    runner_up: Union[ScoredUrl, None]
    """Best other hub with its score; `null` if there is none."""
    deferred: NotRequired[Literal[True]]
    """Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection. JSON
    has the field only if it is `true`."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanCoresNearCore(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Literal["cores"]
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["near-core"]
    """Cores: links to an authority of a core, or is linked from a hub of one, but was not added."""
    core: CoreNumbers
    """First core that it is linked with."""
    seed: ScoredUrl
    """Seed of the core with its hub score; if it gives none, the hub that would be its seed."""
    role: Role
    """Role in which it was a candidate."""
    score: float
    """Score in that role."""
    weakest: ScoredUrl
    """Added page with the lowest score in this role."""
    links: int
    """Number of its links with the core's other side."""
    links_needed: int
    """Number of links that another page in this role would have needed."""
    reason: NotAdded
    """Why it was not added."""
    row_sums: RowSums
    """Row sums of the page."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanCoresNoCore(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Literal["cores"]
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["no-core"]
    """Cores: linked with no core. The row sums compare its neighbourhood with the last core."""
    as_authority: int
    """Sum of the outdegrees of the hubs that link to it."""
    as_hub: int
    """Sum of the indegrees of the authorities that it links to."""
    last_lambda: Union[float, None]
    """Squared sigma of the last core; `null` if there are no cores. The best page of a region with this sigma has
    at least this row sum."""
    reaches_last_core: bool
    """Whether one of the row sums reaches `last_lambda`. If so, the row sums alone do not rule the page out."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanCoresNoInterSiteLinks(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Literal["cores"]
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["no-inter-site-links"]
    """Cores: has no inter-site links that count."""
    neighbours_ineligible: bool
    """Whether it has inter-site links, but the pages at all their other ends were ineligible."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanCoverSeed(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["cover-seed"]
    """Cover: picked on its site."""
    rank: int
    """Rank on the list."""
    since: int
    """Refresh that picked it. Later refreshes reuse the pick while the site is unchanged."""
    pick: int
    """Position among the picks of the site, from 1."""
    seats: int
    """Number of seeds allocated to the site."""
    gain: Union[float, None]
    """Score by which it was picked; `null` for a random pick."""
    covers: ValueBreakdown
    """Pages that it covers and no earlier pick of the site does."""
    hops: list[ValueBreakdown]
    """Those pages by distance from it, from 0 hops on."""
    runner_up: Union[ScoredUrl, None]
    """Second-best page at that moment; `null` if unknown."""
    covered_by: Union[list[Union[SiteSeed, int]], None]
    """Earlier pick that covers the page itself, and the distance in links; `null` if none does."""
    deferred: NotRequired[Literal[True]]
    """Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection. JSON
    has the field only if it is `true`."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanCovered(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["covered"]
    """Cover: covered by a seed."""
    by: SiteSeed
    """First seed that covers it."""
    hop: int
    """Distance from that seed, in links."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanIneligible(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["ineligible"]
    """Not eligible."""
    reason: IneligibleReason
    """Why it was not eligible."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanNoSeats(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["no-seats"]
    """Cover: its site was allocated no seeds."""
    crawled: int
    """Number of crawled pages of the site when the refresh ran."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanNotYetKnown(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["not-yet-known"]
    """Not known to the bank when the refresh ran."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanReached(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["reached"]
    """Over the web: reached by a seed."""
    by: SiteSeed
    """The first pick that reaches it."""
    hop: int
    """Distance from that seed, in links."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanRepresented(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["represented"]
    """Over the web, with `duplicates` = once: has the content of another page, which counts instead."""
    by: str
    """URL of the page that counts."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanUncovered(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["uncovered"]
    """Cover: covered by no seed."""
    score: Union[float, None]
    """Score after the site's last pick; `null` if picks are random."""
    exact: bool
    """Whether the score is exact. If not, it is an upper bound."""
    last_pick: Union[SiteSeed, None]
    """Last pick of the site."""
    picks: int
    """Number of picks of the site."""
    seats: int
    """Number of seeds allocated to the site."""
    stop: CoverStop
    """Why the site has no more seeds."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanUnreached(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["unreached"]
    """Over the web: eligible as a seed, and reached by none."""
    score: Union[float, None]
    """Score after the last pick; `null` if picks are random."""
    last_pick: Union[SiteSeed, None]
    """Last pick, which scored higher; `null` if no remaining score was positive."""
    picks: int
    """Number of picks."""
    seeds_requested: int
    """Number of seeds requested."""
    terms: WebTerms
    """Hops, fetch cost and budget of the plan."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageInPlanWebSeed(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["web-seed"]
    """Over the web: picked."""
    rank: int
    """Rank on the list."""
    since: int
    """Refresh that picked it. Later refreshes reuse the pick while nothing changes."""
    gain: Union[float, None]
    """Score by which it was picked; `null` for a random pick."""
    reaches: WebValueBreakdown
    """Pages that it reaches and no earlier pick does."""
    hops: list[WebValueBreakdown]
    """Those pages by distance from it, from 0 hops on."""
    runner_up: Union[ScoredUrl, None]
    """Best other page at that moment, with a greater gain if the seed stays from the previous list; `null` if
    unknown."""
    reached_by: Union[list[Union[SiteSeed, int]], None]
    """Earlier pick that reaches the page itself, and the distance in links; `null` if none does."""
    terms: WebTerms
    """Hops, fetch cost and budget of the plan."""
    deferred: NotRequired[Literal[True]]
    """Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection. JSON
    has the field only if it is `true`."""
    policy: NotRequired[PolicyVerdict]
    """Verdict of the plan's policies; absent if none affects the page."""


class PageYield(TypedDict):
    """What fetches of a page after the first brought, decayed with a half-life of 64 days to the time of the last
    one."""

    observed_days: float
    """Days between the fetches."""
    new_links: float
    """Links that the bank saw for the first time in these fetches."""


class PagesOfCore(TypedDict):
    """Pages of a site in one core."""

    core: int
    """Rank of the core."""
    hubs: int
    """Number of hubs."""
    authorities: int
    """Number of authorities."""


class ParameterChange(TypedDict):
    """A parameter that has another value than before."""

    parameter: str
    """The name, as in plan files."""
    before: Union[str, None]
    """The value before, as in flags; `null` if it was not set."""
    now: Union[str, None]
    """The value now; `null` if it is not set any more."""


class PlanActual(TypedDict):
    """The seeds of a plan."""

    plan: str
    """Name of the plan."""
    refreshes: list[int]
    """The refreshes whose list was the last one when a batch was ingested."""
    promises: bool
    """Whether the evidence of any of these refreshes promises pages. Cores promise nothing."""
    valued: bool
    """Whether fetches have values; `false` if the plan values pages by PageRank."""
    seeds: list[SeedActual]
    """The seeds of these lists: those of the last list in its order, then the others by URL."""


class PlanHistory(TypedDict):
    """History of a page in the stored refreshes of a plan."""

    plan: str
    """Name of the plan."""
    refreshes: int
    """Number of stored refreshes of the plan."""
    seed_in: int
    """Number of them in which the page is a seed."""
    appearances: list[Appearance]
    """Refreshes in which it is a seed, and those that lost it, by number."""


PlanOptions = TypedDict("PlanOptions", {
    "budget": "NotRequired[int]",
    "core-size": "NotRequired[int]",
    "covered": "NotRequired[Covered]",
    "crawl": "NotRequired[Crawls]",
    "density": "NotRequired[float]",
    "depth": "NotRequired[int]",
    "duplicates": "NotRequired[Duplicates]",
    "exclude": "NotRequired[List]",
    "exclude-from-graph": "NotRequired[List]",
    "fetch-cost": "NotRequired[float]",
    "goal": "NotRequired[Goal]",
    "growth": "NotRequired[Growth]",
    "hits": "NotRequired[Hits]",
    "holdouts": "NotRequired[int]",
    "hops": "NotRequired[int]",
    "iterations": "NotRequired[int]",
    "judged": "NotRequired[HeldOutVerdict]",
    "keep-seeds": "NotRequired[float]",
    "keep-spam": "NotRequired[bool]",
    "learned": "NotRequired[bool]",
    "max-changes": "NotRequired[Limit]",
    "max-failures": "NotRequired[int]",
    "max-hubs": "NotRequired[int]",
    "max-per-domain": "NotRequired[Limit]",
    "max-per-site": "NotRequired[Limit]",
    "method": "NotRequired[Method]",
    "min-authorities": "NotRequired[int]",
    "min-hub-sites": "NotRequired[int]",
    "min-hubs": "NotRequired[int]",
    "min-quality": "NotRequired[float]",
    "new-members": "NotRequired[int]",
    "no-tune": "NotRequired[bool]",
    "only": "NotRequired[List]",
    "p-uniq": "NotRequired[float]",
    "pages": "NotRequired[Pages]",
    "per-site": "NotRequired[int]",
    "pick": "NotRequired[Pick]",
    "pin": "NotRequired[List]",
    "positive-only": "NotRequired[bool]",
    "revisit": "NotRequired[Revisit]",
    "rng-seed": "NotRequired[int]",
    "scope": "NotRequired[Scope]",
    "seeds": "NotRequired[int]",
    "share": "NotRequired[Share]",
    "succeed": "NotRequired[bool]",
    "tune-visits": "NotRequired[int]",
    "tuned": "NotRequired[TuningRecord]",
    "value-base": "NotRequired[float]",
    "value-by": "NotRequired[ValueBy]",
    "value-clicked": "NotRequired[float]",
    "value-known": "NotRequired[float]",
    "value-quality": "NotRequired[float]",
    "value-spam": "NotRequired[float]",
    "within": "NotRequired[float]",
})
"""A plan's parameters as far as they were given; names as on the command line."""


class PlanSummary(TypedDict):
    """Plan with its last refresh."""

    plan: str
    """Name of the plan."""
    method: Method
    """Method that selects seeds."""
    parameters: PlanOptions
    """Given parameters; all others have their defaults."""
    refreshes: int
    """Number of stored refreshes."""
    last: RefreshView
    """Last refresh."""


class PlanView(TypedDict):
    """Plan with its last refresh."""

    plan: str
    """Name of the plan."""
    parameters: PlanOptions
    """Given parameters; all others have their defaults."""
    last_refresh: int
    """Last refresh."""
    batch: int
    """Last batch of the state that it ran on; 0 before the first."""
    at: int
    """Time of the refresh, in seconds since 1970 (UTC)."""
    age: int
    """Time since then, in seconds; 0 if the clock was set back."""
    seconds: float
    """Elapsed time, in seconds."""
    proof: Proof
    """What is proved about its cores."""
    seeds: SeedStates
    """Current states of its seeds."""


class Plans(TypedDict):
    plans: list[PlanSummary]
    """Plans, by name."""


class PolicyVerdictPinRejected(TypedDict):
    policy: Literal["pin-rejected"]
    """The plan pins the page, but it cannot be a seed."""
    why: PinRejection
    """Why it cannot be a seed."""


class PolicyVerdictPinned(TypedDict):
    policy: Literal["pinned"]
    """The plan pins the page: it is a seed independently of the method."""
    rank: int
    """Rank on the list."""


class PolicyVerdictRejected(TypedDict):
    policy: Literal["rejected"]
    """A policy rejects the page as a seed."""
    by: RejectionReason
    """The policy that rejects it."""
    line: NotRequired[str]
    """Line of the policy's list that matches the page; absent if the policy has no list."""


class PolicyVerdictRetained(TypedDict):
    policy: Literal["retained"]
    """The page stays on the list because `max-changes` allows no further change."""
    rank: int
    """Rank on the list."""
    last_chosen: int
    """Last refresh of the plan in which the method selected the page."""


class PolicyView(TypedDict):
    """Effect of the policies of a plan."""

    pinned: int
    """Number of pinned seeds."""
    rejected: dict[str, int]
    """Number of rejections by each policy. By cores: cores whose best hub was rejected, or that gave no seed. By
    cover: pages rejected by caps, and all documents and pages with too many failed fetches."""
    changes: NotRequired[ListChanges]
    """Difference from the previous list, if changes are limited and there is a previous list."""
    rejected_pins: NotRequired[list[RejectedPin]]
    """Pinned pages that are not seeds."""
    unreachable: NotRequired[dict[str, int]]
    """The unreachable sites: no fetch of any of their pages had an answer on the last three or more days with
    fetches, so `max-failures` rejects all of their pages. With the number of their crawled pages; at most the 20
    sites with the most pages."""


class RandomDepth(TypedDict):
    """Result of crawls from random seeds at one depth: means over the draws."""

    new_pages: Estimate
    """Pages at this depth."""
    pages: Estimate
    """Pages up to this depth."""
    share: Estimate
    """Share of all crawled and known pages."""
    pagerank: Estimate
    """Total PageRank of the new pages."""
    mean_pagerank: Union[Estimate, None]
    """Mean PageRank of the new pages, over the draws with new pages."""
    spam_share: Union[Estimate, None]
    """Share of spam among the new pages, over the draws with new pages."""
    value: Estimate
    """Value of the new pages that are crawled."""


class ReadSummary(TypedDict):
    """Counts of reading a batch. `lines = records + blank_lines`, and `records` = rejects + events of other
    kinds."""

    lines: int
    """Lines of all inputs except skipped ones; in formats that are not line-based, records and blank lines."""
    blank_lines: int
    """Blank lines."""
    records: int
    """Records, including rejected ones; in text formats, lines that are not blank."""
    bytes: int
    """Bytes of decompressed text; for a graph, the bytes of its lists in memory."""
    passed_over: dict[str, int]
    """Records of web archives, and lines of lists and logs, that yield no record, by reason; not included in
    `records`."""
    unread: dict[str, int]
    """Pages of web archives whose content was not, or only partly, read, by reason."""
    rejects: dict[str, int]
    """Rejected records by reason."""
    bad_fields: dict[str, int]
    """Fields of accepted records that cannot be read and count as absent, by reason."""
    truncated: int
    """Truncated inputs whose complete records were read."""
    html: HtmlPages
    """Pages of web archives whose HTML was searched for links, and how many of them have links."""
    dropped_outlinks: dict[str, int]
    """Outlinks of accepted records that were dropped, by reason."""
    duplicate_outlinks: int
    """Repeated outlinks in a record. In links TSV, duplicates are not known until a page's links are
    consolidated, and are not counted here."""
    self_links: int
    """Outlinks of a page to itself."""
    zones_assumed: int
    """Fetch times of accepted records without a time zone, which count as UTC."""
    unknown_fields: UnknownFields
    """Unknown fields, which are ignored and may be misspelt."""


class Recommended(TypedDict):
    """Recommended plan."""

    seeds: int
    """Number of seeds."""
    budget: int
    """Number of fetches."""
    list: str
    """Name of its list."""
    listed: int
    """Number of seeds that it selects with everything known."""
    parameters: PlanOptions
    """Its parameters."""


class RecomputedCores(TypedDict):
    """Cores that were recomputed for the same reason."""

    cores: list[int]
    """Ranks of the cores, ascending."""
    reason: RecomputeReason
    """Why the cores were not reused."""
    changes: list[SiteChange]
    """For reason `changed`: what batches changed in the component, by descending number of pages, at most 20."""
    more: int
    """Number of further pairs of batch and site that changed the component."""


class RefreshReport(TypedDict):
    refresh: int
    """The refresh."""
    plan: str
    """The plan."""
    parameters: PlanOptions
    """Parameters that were set; the others had their defaults."""
    batch: int
    """The last batch of the state that the refresh ran on; 0 before the first batch."""
    at: int
    """Time of the refresh, in seconds since 1970 (UTC)."""
    seconds: float
    """Elapsed time, in seconds."""
    seeds: int
    """Number of seeds."""
    cores: int
    """Number of cores."""
    cold: bool
    """Whether the refresh reused nothing from an earlier one."""
    steps_reused: int
    """Number of steps reused from the previous refresh: cores, or sites, or seeds over the web. Exact cores are
    reused only from unchanged components; within a tolerance, a step counts as reused if nothing had to be
    computed for it."""
    steps_recomputed: int
    """Number of steps computed: cores, or sites, or seeds over the web."""
    proof: Proof
    """What is proved about the cores."""
    link_visits: int
    """Number of entries of rows and in-link lists that ranking read, counted per vector."""
    page_visits: int
    """Number of pages settled plus adjacency entries scanned."""
    method: Method
    """Method that selects the seeds."""
    plan_changed: bool
    """Whether the plan had other parameters in its previous refresh."""
    components: int
    """By cores: number of weakly connected components of the graph. By cover: 0."""
    components_verified: int
    """By cores: number of components whose pages and links are the same as in the previous refresh."""
    pages_loaded: int
    """By cores: number of pages of the graph; 0 if nothing changed. By cover: 0."""
    products: int
    """By cores: number of entries of rows and in-link lists that ranking read. An entry that serves several
    vectors at once counts once here, and once per vector in `link_visits`. By cover: 0."""
    bytes_read: int
    """Bytes of keys and values read from the store, in all processes, without those read to explain `costs`."""
    bytes_read_storing: int
    """Part of `bytes_read` that was read while the result was stored."""
    peak_memory: Union[int, None]
    """Peak memory of the process so far, in bytes; `null` if the system does not report it."""
    pruned: list[int]
    """Older refreshes of the plan that this refresh deleted."""
    candidates: NotRequired[Candidates]
    """Over the web by gain: how many candidates were searched; absent if the previous list was taken over."""
    changes: NotRequired[list[ParameterChange]]
    """The parameters that had other values in the previous refresh, those of lists by name."""
    costs: NotRequired[list[RecomputedCores]]
    """By cores, on request: why cores were recomputed."""
    crawled_since_tuned: NotRequired[float]
    """The number of crawled pages, divided by that for which the plan was tuned before, if they have grown or
    shrunk by half. The plan was tuned again for that reason, unless `no-tune` forbids it."""
    default_budget: NotRequired[DefaultBudget]
    """The budget that the plan got because none was given."""
    kept: NotRequired[KeptSeeds]
    """Over the web with `keep-seeds`: how the list follows from the previous one; absent if the seeds were
    selected without it."""
    leading: NotRequired[LeadingList]
    """The list that clearly finds more new pages than the plan over the last batches, if the refresh compared its
    list and the bank has five batches with times of fetches."""
    mirrored: NotRequired[list[MirroredHosts]]
    """Of a plan in which contents count once: hosts that have the same pages, at most 20 pairs, those with most
    equal contents first."""
    not_compared: NotRequired[int]
    """The number of pages of a cluster bank whose new list was not compared with baselines, because one process
    is not to load all of them; `null` otherwise."""
    policy: NotRequired[PolicyView]
    """Effect of the policies; `null` if the plan has none."""
    shortage: NotRequired[Shortage]
    """Why there are fewer seeds than requested, if so."""
    stars: NotRequired[Stars]
    """By cores: cores with a single hub or a single authority."""
    steps: NotRequired[StepsView]
    """By cores within a tolerance: how the steps were obtained."""
    traps: NotRequired[list[RepeatedContent]]
    """The likely traps of the bank, if seeds were selected: sites of many pages with hardly any different
    contents."""
    tuning: NotRequired[TuningView]
    """Over the web: results of the search for hops, a fetch cost and a value of known pages, if this refresh ran
    one."""
    uncertified_reason: NotRequired[str]
    """What could not be decided about the first core in doubt: why it is not proved, or, of classic cores, which
    tie is open; absent if no core is in doubt."""
    verdict: NotRequired[HeldOutVerdict]
    """Comparison of the plan's list with baselines, if this refresh made one."""


class RefreshView(TypedDict):
    """The stored part of a refresh: its input, results and cost."""

    refresh: int
    """The refresh."""
    plan: str
    """The plan."""
    parameters: PlanOptions
    """Parameters that were set; the others had their defaults."""
    batch: int
    """The last batch of the state that the refresh ran on; 0 before the first batch."""
    at: int
    """Time of the refresh, in seconds since 1970 (UTC)."""
    seconds: float
    """Elapsed time, in seconds."""
    seeds: int
    """Number of seeds."""
    cores: int
    """Number of cores."""
    cold: bool
    """Whether the refresh reused nothing from an earlier one."""
    steps_reused: int
    """Number of steps reused from the previous refresh: cores, or sites, or seeds over the web. Exact cores are
    reused only from unchanged components; within a tolerance, a step counts as reused if nothing had to be
    computed for it."""
    steps_recomputed: int
    """Number of steps computed: cores, or sites, or seeds over the web."""
    proof: Proof
    """What is proved about the cores."""
    link_visits: int
    """Number of entries of rows and in-link lists that ranking read, counted per vector."""
    page_visits: int
    """Number of pages settled plus adjacency entries scanned."""
    policy: NotRequired[PolicyView]
    """Effect of the policies; `null` if the plan has none."""
    uncertified_reason: NotRequired[str]
    """What could not be decided about the first core in doubt: why it is not proved, or, of classic cores, which
    tie is open; absent if no core is in doubt."""


class RefusedBatch(TypedDict):
    """A batch that was refused."""

    name: str
    """Name of the batch; its first 200 characters."""
    kind: BatchKind
    """Whether the batch is a whole state or a set of changes."""
    at: int
    """Time of the refusal, in seconds since 1970 (UTC)."""
    after: int
    """Last batch of the bank at that time; 0 before the first."""
    reason: RefusalReason
    """Kind of reason."""
    message: str
    """Reason as a clause, without names of pages and sites."""
    least_max_loss: NotRequired[float]
    """Smallest limit of the loss, in percent, that would have accepted the batch; `null` if it was not refused
    for its loss."""


class RejectedPin(TypedDict):
    """A pinned page that is not a seed."""

    url: str
    """The URL as in the list."""
    why: PinRejection
    """Why it is not a seed."""


class RepeatedContent(TypedDict):
    """A site on which one content is on more than 20 pages."""

    site: str
    """Name of the site."""
    pages: int
    """Number of crawled pages with its most frequent digest."""
    with_digest: int
    """Number of crawled pages with a digest."""
    distinct: int
    """Number of their distinct digests."""
    trap: bool
    """Whether the site is a likely trap: at least 100 crawled pages have a digest, and at most a twentieth as
    many digests are distinct."""


class RepeatedDigest(TypedDict):
    """Content digest of several pages of a site."""

    pages: int
    """Number of crawled pages with the digest."""
    examples: list[str]
    """First of them in URL order."""


class RevisitView(TypedDict):
    """What a crawled page counts for by the time since its last fetch."""

    fetched: Union[int, None]
    """Last fetch, in seconds since 1970 (UTC); `null` if it is not known."""
    days: Union[float, None]
    """Days from it to the last fetch in the bank; `null` if it is not known."""
    whole_after: float
    """Days after which a page has its whole value again."""
    counts: Due
    """The part of its value that the page counts for."""


class RowSums(TypedDict):
    """Density of the neighbourhood of a page in the graph at the start of the refresh."""

    as_authority: int
    """Sum of the outdegrees of the hubs that link to it."""
    as_hub: int
    """Sum of the indegrees of the authorities that it links to."""
    last_lambda: Union[float, None]
    """Squared sigma of the last core; `null` if there are no cores. The best page of a region with this sigma has
    at least this row sum."""
    reaches_last_core: bool
    """Whether one of the row sums reaches `last_lambda`. If so, the row sums alone do not rule the page out."""


class ScoredUrl(TypedDict):
    """Page with a score."""

    url: str
    """URL of the page."""
    score: float
    """Score of the page."""


class SearchResult(TypedDict):
    """Output of `seedbank search --format json`: the pages and sites whose names contain a text."""

    query: str
    """Search text, trimmed."""
    page: Union[FoundPage, None]
    """Page whose URL is the text, with or without its scheme; `null` if there is none."""
    sites: list[FoundSite]
    """Matching sites: first the site of the text, read as a site name or URL; then sites whose names begin with
    the text, then those whose names contain it, each in the order of names."""
    pages: list[FoundPage]
    """Pages whose URLs contain the text, ignoring case: those of the site that the text begins with, then those
    of other sites in the order of names; per site in the order of URLs."""
    examined: int
    """Number of names of sites and pages examined."""
    complete: bool
    """Whether all matching sites and pages are included. If not, a list is full, or the limit of names was
    reached."""


class Seed2(TypedDict):
    """The page covers value on its site, or over the web."""

    rank: int
    """Rank on the list, from 1."""
    url: str
    """URL of the page."""
    site: str
    """Site of the page: a host, or a registrable domain."""
    method: Method
    """Method that selected it."""
    plan: str
    """Plan of the refresh."""
    refresh: int
    """Number of the refresh."""
    gain: Union[float, None]
    """Score by which the page was picked: a weight in units, a PageRank or an out-degree; `null` for a random
    pick."""
    covered_pages: int
    """Number of pages that it covers and no earlier pick covers."""
    covered_value: float
    """Value of those pages, in units."""
    pick: int
    """Position among the picks of the site, from 1."""
    since: int
    """Refresh that picked it; later refreshes reuse the pick while the site is unchanged."""
    alive: NotRequired[Literal[False]]
    """Whether the page still exists in the published state. `false` if it is gone, an alias, or no page links to
    it any more. JSON has the field only if it is `false`."""
    by_policy: NotRequired[ByPolicy]
    """Policy that puts the page on the list independently of the method; `null` for a seed that the method
    selected and that is not pinned."""
    failures: NotRequired[Failures]
    """Failed fetches of the page after its last fetch that did not fail; absent if there are none."""
    seats: NotRequired[int]
    """Number of seeds allocated to the site, if the plan allocates a total."""
    succeeds: NotRequired[SuccessorView]
    """Seed that it replaces, which is gone, spam or no longer a hub; only with the plan parameter `succeed`."""


class Seed3(TypedDict):
    """A policy puts the page on the list, and the method did not select it: it is pinned, or kept by `max-
    changes`."""

    rank: int
    """Rank on the list, from 1."""
    url: str
    """URL of the page."""
    site: str
    """Site of the page: a host, or a registrable domain."""
    method: Method
    """Method that selected it."""
    plan: str
    """Plan of the refresh."""
    refresh: int
    """Number of the refresh."""
    alive: NotRequired[Literal[False]]
    """Whether the page still exists in the published state. `false` if it is gone, an alias, or no page links to
    it any more. JSON has the field only if it is `false`."""
    by_policy: NotRequired[ByPolicy]
    """Policy that puts the page on the list independently of the method; `null` for a seed that the method
    selected and that is not pinned."""
    failures: NotRequired[Failures]
    """Failed fetches of the page after its last fetch that did not fail; absent if there are none."""
    succeeds: NotRequired[SuccessorView]
    """Seed that it replaces, which is gone, spam or no longer a hub; only with the plan parameter `succeed`."""


class SeedActual(TypedDict):
    """A seed, and what was fetched from it."""

    url: str
    """Normalised URL of the seed."""
    counts: SeedCounts
    """Fetches that crawlers attributed to it while it was on the last list."""
    value: Union[float, None]
    """Sum over these fetches of the value of the page, if it is crawled today and not a duplicate; `null` if
    pages are not valued."""
    value_per_fetch: Union[float, None]
    """This sum divided by the number of all fetches, including failed ones; `null` without fetches."""
    promised: NotRequired[SeedPromise]
    """What the lists promised, added up over the refreshes; absent if they promised nothing."""
    rank: NotRequired[int]
    """Rank on the last list; absent if it is not on it."""


class SeedByPolicyPinRejected(TypedDict):
    url: str
    """URL of the page."""
    policy: Literal["pin-rejected"]
    """The plan pins the page, but it cannot be a seed."""
    why: PinRejection
    """Why it cannot be a seed."""


class SeedByPolicyPinned(TypedDict):
    url: str
    """URL of the page."""
    policy: Literal["pinned"]
    """The plan pins the page: it is a seed independently of the method."""
    rank: int
    """Rank on the list."""


class SeedByPolicyRejected(TypedDict):
    url: str
    """URL of the page."""
    policy: Literal["rejected"]
    """A policy rejects the page as a seed."""
    by: RejectionReason
    """The policy that rejects it."""
    line: NotRequired[str]
    """Line of the policy's list that matches the page; absent if the policy has no list."""


class SeedByPolicyRetained(TypedDict):
    url: str
    """URL of the page."""
    policy: Literal["retained"]
    """The page stays on the list because `max-changes` allows no further change."""
    rank: int
    """Rank on the list."""
    last_chosen: int
    """Last refresh of the plan in which the method selected the page."""


class SeedChange(TypedDict):
    """Change of one seed with its cause."""

    change: Change
    """Kind of change."""
    url: str
    """URL of the page, which a list may contain without the bank knowing it."""
    batch: NotRequired[int]
    """Batch that caused the change; if no single batch did, the last one that changed a page of the core or
    site."""
    by: NotRequired[str]
    """Seed that the cause refers to; over the web for `outweighed` and `outweighs`, the seed that reaches most of
    the pages that the page links to. With `max-changes` it may be a selected page that is not on the list."""
    cause: NotRequired[Cause]
    """Cause of the change; absent if nothing changed."""
    changed_links: NotRequired[int]
    """Number of links that its core lost or gained."""
    core: NotRequired[int]
    """Core that the cause refers to: of the second refresh for a lost seed, of the first for a gained one."""
    core_links: NotRequired[int]
    """Total number of links of its core."""
    fetches: NotRequired[SeedCounts]
    """What crawlers fetched from a kept seed between the two refreshes; absent without such fetches, and if the
    refreshes are not of one plan."""
    hop: NotRequired[int]
    """Distance from that seed in links, for `covered` and `uncovered`."""
    rank_after: NotRequired[int]
    """Rank on the second list."""
    rank_before: NotRequired[int]
    """Rank on the first list."""
    succeeds: NotRequired[SuccessorView]
    """Dead seed that it succeeds, with the plan parameter `succeed`."""
    successor: NotRequired[SuccessorView]
    """Current successor of a lost seed that is gone, spam or no longer a hub."""


class SeedCores1(TypedDict):
    """The page is the chosen hub of a core."""

    rank: int
    """Rank on the list, from 1."""
    url: str
    """URL of the page."""
    site: str
    """Site of the page: a host, or a registrable domain."""
    method: Literal["cores"]
    """Method that selected it."""
    plan: str
    """Plan of the refresh."""
    refresh: int
    """Number of the refresh."""
    core: int
    """Rank of the core."""
    sigma: float
    """Singular value of the region from which the core was grown."""
    hub_score: float
    """Hub score of the page, L2-normalised over pages."""
    alive: NotRequired[Literal[False]]
    """Whether the page still exists in the published state. `false` if it is gone, an alias, or no page links to
    it any more. JSON has the field only if it is `false`."""
    by_policy: NotRequired[ByPolicy]
    """Policy that puts the page on the list independently of the method; `null` for a seed that the method
    selected and that is not pinned."""
    failures: NotRequired[Failures]
    """Failed fetches of the page after its last fetch that did not fail; absent if there are none."""
    succeeds: NotRequired[SuccessorView]
    """Seed that it replaces, which is gone, spam or no longer a hub; only with the plan parameter `succeed`."""


class SeedCounts(TypedDict):
    """Fetches that crawlers attributed to a seed."""

    fetched: int
    """Fetches that did not fail: they found the page crawled, redirected or gone."""
    new: int
    """Those that crawled a page for the first time."""
    failed: int
    """Fetches that failed."""
    duplicates: int
    """Fetches with the content of another page of the same site."""


class SeedOfCore(TypedDict):
    """Seed of a site."""

    url: str
    """URL of the page."""
    rank: int
    """Rank on the list."""
    since: int
    """First refresh of the uninterrupted series in which it is a seed."""
    core: CoreNumbers
    """The core."""
    hub: SidePosition
    """Position among the hubs."""
    linked_authorities: int
    """Number of authorities of the core that it links to."""
    linked_sites: int
    """Number of sites of those authorities."""
    first_authorities: list[str]
    """Those of them that were added first, at most three."""
    runner_up: Union[ScoredUrl, None]
    """Best other hub with its score; `null` if there is none."""
    deferred: NotRequired[Literal[True]]
    """Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection. JSON
    has the field only if it is `true`."""


class SeedOfSite(TypedDict):
    """Seed of a site."""

    rank: int
    """Rank on the list."""
    url: str
    """URL of the page."""
    pick: int
    """Position among the picks of the site, from 1."""
    gain: Union[float, None]
    """Score by which it was picked; `null` for a random pick."""
    covers: ValueBreakdown
    """Pages that it covers and no earlier pick does."""
    deferred: NotRequired[Literal[True]]
    """Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection. JSON
    has the field only if it is `true`."""


class SeedPromise(TypedDict):
    """What the evidence of a refresh promised for a seed."""

    pages: int
    """Pages that the seed was the first to reach or cover: a crawl of them has as many fetches."""
    known: int
    """Those that were not crawled."""
    value: float
    """Value of the pages."""


class SeedStates(TypedDict):
    """Current states of the pages of a list."""

    listed: int
    """Number of seeds on the list."""
    alive: int
    """Known or crawled."""
    gone: int
    """Gone."""
    alias: int
    """Aliases of other pages."""
    resource: int
    """Resources."""
    unlinked: int
    """Without links to them and without a record."""
    forgotten: int
    """Forgotten on demand; lists no longer contain them."""


class SeenInBatch(TypedDict):
    """Batch that mentioned a page."""

    batch: int
    """Number of the batch."""
    at: int
    """Time of ingest, in seconds since 1970 (UTC)."""


class Shortage(TypedDict):
    """A list with fewer seeds than requested."""

    requested: int
    """Number of seeds requested."""
    reason: ShortageReason
    """Why there are no more seeds."""


class SidePosition(TypedDict):
    """Position of a page among the hubs or the authorities of a core."""

    score: float
    """Score of the page, L2-normalised over pages."""
    rank: int
    """Rank by score, from 1; ties by URL."""
    position: int
    """Position in the order of additions, from 1."""


class SiteAttributes(TypedDict):
    """Attributes from records of a site; `null` if none gave the attribute."""

    quality: Union[float, None]
    """Quality, from 0 to 1, of pages without one of their own."""
    spam: Union[bool, None]
    """Spam mark of pages without one of their own."""
    quota: Union[int, None]
    """Maximum number of pages that a crawl should fetch."""


class SiteChange(TypedDict):
    """Changes of one batch on one site."""

    batch: int
    """The batch."""
    site: str
    """The site."""
    pages: int
    """Number of pages of the site whose state, spam mark or row the batch changed."""


class SiteCounts(TypedDict):
    """Changes of sites by a batch."""

    named: int
    """Number of sites with a record."""
    changed: int
    """Number of sites whose attributes changed."""


class SiteDigests(TypedDict):
    """Content digests of a site's crawled pages."""

    pages: int
    """Number of crawled pages with a digest."""
    distinct: int
    """Number of distinct digests."""
    repeated: list[RepeatedDigest]
    """Digests of at least two pages, the most frequent first, ties by the first URL."""


class SiteFacts(TypedDict):
    """Output of `seedbank site --format json`: facts about a site."""

    site: str
    """Name of the site."""
    attributes: SiteAttributes
    """Attributes from records of sites."""
    pages: SitePageCounts
    """Number of its pages by state."""
    failing: list[FailingPages]
    """Number of its pages whose last fetch failed, by the result of that fetch: the most frequent first."""
    intra_links: int
    """Number of links between its pages."""
    inter_links: int
    """Number of links from its pages to other sites."""
    links_to: SiteLinkCounts
    """Sites that the examined pages link to."""
    linked_from: SiteLinkCounts
    """Sites that link to the examined pages."""
    digests: SiteDigests
    """Content digests shared by several of its pages."""
    repeating: int
    """Number of examined pages whose paths repeat themselves, as those of traps do."""
    shapes: list[UrlShape]
    """The shapes of URLs of the most examined pages, at most as many as digests."""
    mirrored: list[MirroredHosts]
    """Hosts that have the same pages, by the examined ones: at most as many pairs as digests."""
    examined: int
    """Number of pages examined, the first in URL order."""
    complete: bool
    """Whether all pages were examined. If not, aliases, unlinked pages, links with other sites and repeated
    digests cover only the examined pages; all other numbers cover the whole site."""
    plans: list[SiteInPlan]
    """Result for it in the last refresh of each plan, by plan name."""


class SiteInPlanCoresCoresOfSite(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Literal["cores"]
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["cores-of-site"]
    """Plan by cores."""
    site_seeds: list[SeedOfCore]
    """Seeds of the site that come from cores, by core."""
    in_cores: list[PagesOfCore]
    """Pages of the site in cores, by core."""
    near_core: int
    """Number of pages linked with a core but in none."""
    no_core: int
    """Number of pages with inter-site links that are neither in a core nor near one."""
    ineligible: int
    """Number of pages whose inter-site links do not count, because they or the pages at the other ends were
    ineligible."""
    by_policy: NotRequired[list[SeedByPolicy]]
    """Seeds of the site that only policies put on the list: pinned, or kept by `max-changes`. JSON has the field
    only if there are any."""


class SiteInPlanCoverOfSite(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["cover-of-site"]
    """Plan by a cover method."""
    since: int
    """Refresh that picked the seeds. Later refreshes reuse them while the site is unchanged."""
    seats: int
    """Number of seeds allocated to the site."""
    stop: CoverStop
    """Why the site has no more seeds."""
    crawled_at_refresh: int
    """Number of crawled pages of the site when the seeds were picked."""
    value: Union[float, None]
    """Value of those pages, in units; `null` if it was not computed."""
    site_seeds: list[SeedOfSite]
    """Picks on the site, in order, including deferred ones."""
    covers: ValueBreakdown
    """Pages covered by all picks together."""
    uncovered: int
    """Number of crawled pages that no seed covers."""
    best_uncovered: list[ScoredUrl]
    """Uncovered pages with the best scores, at most ten, ties by URL."""
    exact: bool
    """Whether those scores are exact. If not, they are upper bounds."""
    by_policy: NotRequired[list[SeedByPolicy]]
    """Seeds of the site that only policies put on the list: pinned, or kept by `max-changes`. JSON has the field
    only if there are any."""


class SiteInPlanNoCrawledPages(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["no-crawled-pages"]
    """Plan by a cover method; the site had no crawled page."""
    by_policy: NotRequired[list[SeedByPolicy]]
    """Seeds of the site that only policies put on the list: pinned, or kept by `max-changes`. JSON has the field
    only if there are any."""


class SiteInPlanWebOfSite(TypedDict):
    plan: str
    """Plan of the refresh."""
    method: Method
    """Method that selected the seeds."""
    refresh: int
    """Number of the refresh."""
    state_batch: int
    """Last batch of the state that the refresh ran on."""
    seeds: int
    """Number of seeds on its list."""
    proof: Proof
    """What is proved about its cores."""
    kind: Literal["web-of-site"]
    """Plan over the web."""
    since: Union[int, None]
    """Refresh that picked the seeds; `null` if there are none."""
    site_seeds: list[SiteSeed]
    """Picks on the site: the seeds by rank, then deferred picks."""
    reached: int
    """Number of crawled and known pages of the site that seeds of any site reach."""
    unreached: int
    """Number of crawled pages of the site that are eligible as seeds and reached by none."""
    best_unreached: list[ScoredUrl]
    """Those with the best scores, at most ten, ties by URL."""
    by_policy: NotRequired[list[SeedByPolicy]]
    """Seeds of the site that only policies put on the list: pinned, or kept by `max-changes`. JSON has the field
    only if there are any."""


class SiteLinkCounts(TypedDict):
    """Links between a site and others, in one direction."""

    links: int
    """Number of links."""
    pages: int
    """Number of pages of other sites at the other ends."""
    sites: int
    """Number of those sites."""
    by_site: list[LinkedSite]
    """Sites with the most links, ties by name."""


class SiteLinks(TypedDict):
    """Linked pages of one site."""

    site: str
    """Name of the site."""
    pages: int
    """Number of its linked pages."""
    examples: list[str]
    """First of them in URL order."""


class SitePageCounts(TypedDict):
    """Number of pages of a site by state."""

    known: int
    """Known pages."""
    crawled: int
    """Crawled pages."""
    gone: int
    """Gone pages."""
    documents: int
    """Documents among the crawled pages."""
    resources: int
    """Resources, which are no pages."""
    aliases: int
    """Aliases."""
    unlinked: int
    """Pages without links to them and without a record."""
    spam: int
    """Known and crawled pages with the spam mark."""


class SiteSeed(TypedDict):
    """Pick of a site, or over the web."""

    rank: int
    """Rank on the list."""
    url: str
    """URL of the page."""
    pick: int
    """Position among the picks of the site, or over the web, from 1."""
    gain: Union[float, None]
    """Score by which it was picked; `null` for a random pick."""
    deferred: NotRequired[Literal[True]]
    """Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection. JSON
    has the field only if it is `true`."""


Stars = TypedDict("Stars", {
    "cores": "int",
    "from": "Union[int, None]",
})
"""Cores that are stars: they have a single hub or a single authority."""


class StateCheck(TypedDict):
    """The check of a state of a bank."""

    verdict: Verdict
    """The verdict."""
    batch: Union[int, None]
    """The last batch in the state; `null` if unknown."""
    refresh: Union[int, None]
    """The last refresh in the state; `null` if unknown."""
    why: Union[str, None]
    """What is wrong with the state as a whole, or why it was not checked; else `null`."""
    findings: list[Finding]
    """The first 1,000 findings, in the order of the check."""
    count: int
    """The number of all findings."""
    entries: dict[str, int]
    """The number of entries read, by table."""


class StateView(TypedDict):
    """State that an experiment ran on."""

    batch: int
    """The last batch."""
    pages: int
    """Pages of the whole graph: crawled and known."""
    crawled: int
    """Crawled pages."""
    links: int
    """Links between pages of the whole graph."""


class Status(TypedDict):
    format: str
    """The format of the bank."""
    site_mode: SiteMode
    """Definition of a site."""
    url_rules: UrlRules
    """Rules of URL normalisation."""
    suffix_list: str
    """Version of the public suffix list."""
    at: int
    """Time of the answer, in seconds since 1970 (UTC)."""
    sites: int
    """Number of sites with at least one known, crawled or gone page."""
    batches: int
    """Batches ingested."""
    refreshes: int
    """Refreshes run, deleted ones included."""
    known: int
    """Known pages."""
    crawled: int
    """Crawled pages."""
    gone: int
    """Gone pages."""
    documents: int
    """Documents among the crawled pages, which are never seeds."""
    resources: int
    """Resources, which are no pages."""
    spam: int
    """Known and crawled pages with the spam mark."""
    intra_links: int
    """Intra-site links."""
    inter_links: int
    """Inter-site links."""
    rows: int
    """Distinct rows (lists of inter-site targets)."""
    row_links: int
    """Targets of all distinct rows."""
    last_batch: Union[LastBatch, None]
    """Last batch; `null` before the first."""
    plans: list[PlanView]
    """Plans, by name."""
    bits_per_link: Union[float, None]
    """Bits on disk per link, both directions together: the size of the link tables with their keys, indexes and
    filters, divided by the number of links. `null` if the tables have no files yet."""
    compacted: bool
    """Whether no overwritten data takes up space. Tables of single records do not count."""
    groups: list[GroupSize]
    """Bytes on disk of the tables, by group."""
    folder_bytes: int
    """Bytes on disk of the bank's folder: the live and the published state, which share most of their files,
    lists of rejected records, and temporary files of commands."""
    log_bytes: int
    """Bytes of the published state's log: data of small batches that no table file contains yet."""
    tables: list[TableSize]
    """Bytes on disk, by table."""
    balance: NotRequired[Balance]
    """How evenly the sites of a cluster bank are divided; `null` for a bank in one database, or without pages."""
    canonical: NotRequired[CanonicalCounts]
    """Pages with a canonical link; `null` if they were not counted."""
    parts: NotRequired[int]
    """Number of databases of a cluster bank; `null` for a bank in one database."""
    refused: NotRequired[RefusedBatch]
    """Last refused batch; `null` if no batch was refused, or if a batch with its name was accepted later."""
    repeated: NotRequired[list[RepeatedContent]]
    """Sites on which one content is on more than 20 pages, such as a page to log in; at most 20, those with the
    most copies first. Empty if they were not counted."""
    undo: NotRequired[Undoable]
    """Last batch if `undo` can revert it; `null` if not."""


class StepsView(TypedDict):
    """How the steps of a refresh within a tolerance were obtained. Each step is a core."""

    bound_inherited: int
    """Reused: the bound of an earlier step sufficed."""
    proven: int
    """Reused: the certificate that the previous refresh cached still holds."""
    repaired: int
    """Reused: the cached certificate holds after an update where the graph changed."""
    bound_recomputed: int
    """Reused, but a new bound had to be computed."""
    computed: int
    """Computed."""


class SuccessorView(TypedDict):
    """The other page of a succession: the replaced seed of a successor, or the successor of a dead seed."""

    url: str
    """The page."""
    same_core: bool
    """Whether the successor was another hub of the dead seed's core. Otherwise it is the page with the most
    similar inter-site links."""
    similarity: float
    """Jaccard similarity of the successor's inter-site targets and the last ones of the dead seed."""


class TableSize(TypedDict):
    """Size of a table."""

    table: str
    """Name of the table."""
    group: TableGroup
    """Group of the table."""
    bytes: int
    """Bytes of its files. Data of small batches may be only in the log."""
    entries: int
    """Estimated number of entries."""
    compacted: bool
    """Whether no overwritten data takes up space in it."""


class TopPage(TypedDict):
    """A page of high PageRank."""

    url: str
    """The page."""
    pagerank: float
    """PageRank."""
    depth: Union[int, None]
    """Depth at which the crawl reaches it; `null` if it does not."""


class TrialView(TypedDict):
    """A setting that was tried, with the crawl that its list leads to."""

    hops: int
    """Number of hops within which a seed reaches pages."""
    fetch_cost: float
    """Cost of each reached page."""
    value_known: float
    """Value of a page that is known only from links."""
    max_per_site: Union[int, None]
    """Maximum number of seeds of a site; `null` for no limit."""
    seeds: int
    """Number of seeds in the list, on the first draw."""
    fetched: int
    """Number of pages that the crawl fetches, on the first draw."""
    draws: int
    """Number of draws on which the setting was tried; the last ones only the best settings."""
    gathered: float
    """Value of the fetched pages, in units; by goal discovery, the number of pages found for the first time. With
    pages held out, an estimate for all crawled pages: the mean over the draws."""
    pass_visits: int
    """Page visits of the search from every candidate page, which serves all fetch costs with this number of
    hops."""
    page_visits: int
    """Page visits of the picks, without those of the search."""


class TuningRecord(TypedDict):
    """How a refresh tuned parameters of a plan for its budget."""

    batch: int
    """The last batch of the state on which settings were tried."""
    settings: int
    """Number of settings that were tried."""
    gathered: float
    """Value of the crawled pages that the crawl from the list fetches, in units; by goal discovery, the number of
    pages found for the first time. With pages held out, an estimate: the mean over the draws."""
    draws: int
    """Number of times that pages were held out; 0 if settings were compared by known pages."""
    crawled: int
    """Number of crawled pages of that state; 0 if it was not recorded."""
    parameters: list[TunedParameter]
    """The parameters that were tuned; the others were given."""


class TuningView(TypedDict):
    """Results of the search for hops, a fetch cost, a value of known pages and a limit of the seeds of a site for
    a budget."""

    budget: int
    """Number of pages that the crawl will fetch."""
    hops: int
    """The chosen number of hops, which becomes the plan's."""
    fetch_cost: float
    """The chosen fetch cost, which becomes the plan's."""
    value_known: float
    """The chosen value of known pages, which becomes the plan's."""
    max_per_site: Union[int, None]
    """The chosen limit of the seeds of a site, which becomes the plan's; `null` for no limit."""
    draws: int
    """Number of times that pages were held out; 0 if settings were compared by known pages."""
    trials: list[TrialView]
    """The settings that were tried, ordered by hops, fetch cost, value of known pages and limit."""
    left_out: list[int]
    """Numbers of hops that were not tried: one pass would take more than a 32nd of the page visits that `tune-
    visits` allows."""


class UndoReport(TypedDict):
    undone: int
    """The batch that was undone."""
    name: str
    """Its name."""
    batch: int
    """The number of the undo in the history, as a batch of its own."""
    counts: BatchCounts
    """Changes by the undo."""
    seconds: float
    """Elapsed time, in seconds."""


class Undoable(TypedDict):
    """Batch that `undo` can revert."""

    batch: int
    """Number of the batch."""
    bytes: int
    """Bytes stored for that, before compression. The next batch deletes them."""


class UnknownFields(TypedDict):
    """Unknown fields by name, so that misspelt fields do not lose data silently."""

    names: dict[str, int]
    """The number of occurrences of each of at most 16 names."""
    others: int
    """Occurrences of other names. If 0, the counts in `names` are exact."""


class UrlShape(TypedDict):
    """Pages of a site whose URLs differ only in numbers and in values of the query."""

    shape: str
    """The URLs with numbers as 0, and without the values of the query."""
    pages: int
    """Number of pages."""


class ValueBreakdown(TypedDict):
    """Value of pages with its components."""

    pages: int
    """Number of pages."""
    clicked: int
    """Number of clicked pages without the spam mark."""
    spam: int
    """Number of spam pages."""
    uncrawled_outlinks: int
    """Total number of uncrawled outlinks."""
    value: float
    """Value of the pages, in units."""
    uncrawled_value: float
    """Part of the value that comes from uncrawled outlinks, in units."""


class WebTerms(TypedDict):
    """Reach and cost parameters of a plan over the web."""

    hops: int
    """Maximum distance from a seed at which it reaches a page, in links."""
    fetch_cost: float
    """Cost of every page reached, in units."""
    budget: Union[int, None]
    """Number of pages that the crawl will fetch; `null` if the plan has no budget."""
    tuned: Union[TuningRecord, None]
    """How hops and fetch cost were tuned; `null` if they were given."""
    keep_seeds: NotRequired[float]
    """How much less, in percent, the list may be worth than a new one while seeds of the previous list stay.
    Absent if none do."""
    learned: NotRequired[Literal[True]]
    """Whether values are the new links that fetches are expected to bring. Seeds that gain nothing then fill the
    list by their own values. JSON has the field only if it is `true`."""


class WebValueBreakdown(TypedDict):
    """Value of pages over the web with its components and cost."""

    pages: int
    """Number of pages."""
    clicked: int
    """Number of clicked pages without the spam mark."""
    spam: int
    """Number of spam pages."""
    uncrawled_outlinks: int
    """Total number of uncrawled outlinks."""
    value: float
    """Value of the pages, in units."""
    uncrawled_value: float
    """Part of the value that comes from uncrawled outlinks, in units."""
    known: int
    """Number of known, uncrawled pages."""
    cost: float
    """Total fetch cost, in units."""
    net: float
    """Value minus cost, in units."""


Crawls = str
"""Limits of a crawl separated by commas, such as `per-site=10%,depth=5`; `none`; or `panel`, for several
crawls."""


Explanation = Union[ExplanationCoresCoreSeed, ExplanationCoresCoreMember, ExplanationCoresNearCore, ExplanationCoresNoCore, ExplanationCoresNoInterSiteLinks, ExplanationCoverSeed, ExplanationCovered, ExplanationUncovered, ExplanationNoSeats, ExplanationWebSeed, ExplanationReached, ExplanationRepresented, ExplanationUnreached, ExplanationIneligible, ExplanationNotYetKnown]
"""Output of `seedbank explain --format json`: why a page is a seed of a refresh, or why not; with --site, how
a site was treated; for several pages, one line for each."""


FetchStatus = Union[int, Literal["timeout", "dns", "connect", "tls", "robots", "too-large", "other"]]
"""The result of a fetch: an HTTP status code, or the reason why there was no answer."""


Limit = Union[int, Literal["none"]]
"""A number, or `none`."""


ListRelation = Union[ListRelationSeed, ListRelationInCore, ListRelationCovered, ListRelationNearCore, ListRelationNotCovered]
"""Relation of a page to the list of a refresh, from its stored evidence."""


Method = Union[Literal["cores"], CoverMethod]
"""Method of selecting seeds."""


PageInPlan = Union[PageInPlanCoresCoreSeed, PageInPlanCoresCoreMember, PageInPlanCoresNearCore, PageInPlanCoresNoCore, PageInPlanCoresNoInterSiteLinks, PageInPlanCoverSeed, PageInPlanCovered, PageInPlanUncovered, PageInPlanNoSeats, PageInPlanWebSeed, PageInPlanReached, PageInPlanRepresented, PageInPlanUnreached, PageInPlanIneligible, PageInPlanNotYetKnown]
"""Result for a page in the last refresh of a plan."""


PolicyVerdict = Union[PolicyVerdictPinned, PolicyVerdictPinRejected, PolicyVerdictRetained, PolicyVerdictRejected]
"""Verdict of a plan's policies on a page; the first variant that applies."""


Revisit = Union[int, Literal["auto"], Literal["off"]]
"""A number of days, `auto`, or `off`."""


Seed = Union[SeedCores1, Seed2, Seed3]
"""Seed of a refresh."""


SeedByPolicy = Union[SeedByPolicyPinned, SeedByPolicyPinRejected, SeedByPolicyRetained, SeedByPolicyRejected]
"""Seed that a policy puts on the list."""


SiteInPlan = Union[SiteInPlanCoresCoresOfSite, SiteInPlanCoverOfSite, SiteInPlanWebOfSite, SiteInPlanNoCrawledPages]
"""Result for a site in the last refresh of a plan."""


class SeedDiff(TypedDict):
    """Comparison of two lists."""

    summary: DiffSummary
    """The counts."""
    seeds: list[SeedChange]
    """Gained seeds by rank, then lost, moved and kept ones."""


class PlanParameters(TypedDict, total=False):
    """Parameters of a plan, as keyword arguments."""

    budget: int | None
    """Number of pages that the crawl will fetch. The first refresh tunes `hops`, `fetch-cost` and `value-known`
    for it, as far as they are not given. Range: at least 1."""
    core_size: int | None
    """Complete a core at this number of pages instead of by density. Range: at least 2."""
    covered: Covered | None
    """For max-weight and max-scc: what happens to pages that a seed covers. Default: zero."""
    crawl: Crawls | None
    """With `budget`: the crawl that tuning and the verdict simulate, as limits separated by commas: `per-site=N`,
    the most pages of a site; `depth=N`, the most links from a seed; `sites-at-once=N`, the most sites in a round,
    which fetches one page of each; `rounds=N`; `round=N,per-site-round=N`; `duration=6h,delay=10s`; `fail=P%`;
    `enter=seeds|crawled`. N may be P% of `budget`. Or a crawler: heritrix, nutch, scrapy or browsertrix. `none`
    is breadth-first without limits. `panel`, the default of goals: five crawls, for a list that is good for most
    crawlers."""
    density: float | None
    """The percentage of possible links from a core's hubs to its authorities that must exist. Default: 100."""
    depth: int | None
    """For max-weight, max-scc and root-scc: a page is picked by the value within this number of hops. Default: 2,
    or `hops` if that is less."""
    duplicates: Duplicates | None
    """For greedy: how crawled pages with the same content digest count, in values and among seeds. Pages without
    a digest count each. Default: each; once for a new plan with a budget and goal coverage or discovery."""
    exclude: str | PathLike[str] | Iterable[str] | None
    """Pages that are never seeds: a file with one site (`.example.org` includes subdomains), URL prefix, shape
    (`*.pdf`) or expression (`re:...`) per line, or a single such line; `@media` for documents, images and
    archives; `@traps` for paths that repeat themselves; `none` removes the list."""
    exclude_from_graph: str | PathLike[str] | Iterable[str] | None
    """Pages excluded from the graph, and so from being seeds, as for `exclude`."""
    fetch_cost: float | None
    """Cost of each reached page; subtracted from its value. Range: 0 to 1000. Default: 0, or tuned for the
    budget; with `learned` half of the mean value."""
    goal: Goal | None
    """What a crawl from the seeds is for: sets the method and its parameters; parameters given beside it override
    them. Default: coverage for a new plan."""
    growth: Growth | None
    """What happens if the best page would lower the density too far. Default: maximal."""
    hits: Hits | None
    """How pages are ranked. Default: converged."""
    holdouts: int | None
    """With `budget`: number of times that tuning holds out a random tenth of the crawled pages; 0 compares
    settings by the pages that they are selected for. Range: 0 to 100. Default: 10."""
    hops: int | None
    """A seed covers the pages within this number of hops. Range: 0 to 1000. Default: 5, or over the web 2 for
    greedy and max-weight."""
    iterations: int | None
    """Iterations of classic HITS. Range: 1 to 100000. Default: 60."""
    keep_seeds: float | None
    """For greedy: how much less, in percent, the list may be worth than a new one while seeds of the previous
    list stay; 0 for a new list each time. Default: 1 for the goal coverage with `revisit` off, else 0."""
    keep_spam: bool | None
    """Include spam pages. Default: false."""
    learned: bool | None
    """For the goal discovery: the value of a page is the number of new links that its next fetch is expected to
    bring, learned from past fetches. Whether that finds more is shown by `seedbank evaluate BANK methods --next`.
    Default: false."""
    max_changes: Limit | None
    """Maximum number of seeds that differ from the plan's previous list; pages that can no longer be seeds leave
    regardless."""
    max_failures: int | None
    """Number of consecutive failed fetches after which a page cannot be a seed; 0 allows any number. Default: 3
    for a new plan with a goal, else 0."""
    max_hubs: int | None
    """Maximum number of hubs of a core. Range: at least 1. Default: no limit."""
    max_per_domain: Limit | None
    """Maximum number of seeds of a registrable domain with all its subdomains; `none` removes the limit."""
    max_per_site: Limit | None
    """Maximum number of seeds of a site; `none` removes the limit. Default: none, or tuned for the budget."""
    method: Method | None
    """How seeds are selected. Default: that of the goal."""
    min_authorities: int | None
    """Minimum number of authorities of a core that gives a seed. Default: 0."""
    min_hub_sites: int | None
    """Minimum number of sites of the hubs of a core that gives a seed: the hubs of a page template are on one
    site. Default: 0."""
    min_hubs: int | None
    """Minimum number of hubs of a core that gives a seed. Default: 0."""
    min_quality: float | None
    """Minimum quality of a seed; a page of unknown quality has 0. Range: 0 to 1. Default: 0."""
    new_members: int | None
    """With `core-size`: the number of new hubs, and of new authorities, in each round. Range: at least 1.
    Default: 1."""
    no_tune: bool | None
    """With `budget`: keep what was tuned. Otherwise a refresh tunes the plan again once the crawled pages have
    grown or shrunk by half. Default: false."""
    only: str | PathLike[str] | Iterable[str] | None
    """The only pages that can be seeds, as for `exclude`."""
    p_uniq: float | None
    """Value of an uncrawled outlink, added to the page that has the link. Over the web, uncrawled pages count
    themselves, so each would count again for every link to it. Range: 0 to 1. Default: by each site's content
    digests; 0 for a new plan over the web."""
    pages: Pages | None
    """Which pages are ranked. Default: all."""
    per_site: int | None
    """Seeds per site. Range: at least 1. Default: 10."""
    pick: Pick | None
    """Which hub of a core becomes the seed. Default: best."""
    pin: str | PathLike[str] | Iterable[str] | None
    """Pages that are always seeds and come first: a file with one URL per line, or a URL."""
    positive_only: bool | None
    """Stop before a seed that adds nothing. Default: true."""
    revisit: Revisit | None
    """What a crawled page is worth by the time since its last fetch: nothing for half of this number of days,
    half of its value until all of them have passed, then all of it; counted up to the last fetch in the bank. A
    page that is known to have changed since is worth all of it. `auto`: the time in which crawls of `budget`
    fetch as many pages as were ever crawled. Default: off; auto for a new plan with a goal and a budget."""
    rng_seed: int | None
    """For random: the seed of the random numbers. Default: 0."""
    scope: Scope | None
    """Select on each site separately, or one list of `seeds` crawled pages over the whole web, with all crawled
    and known pages and all links. Default: site."""
    seeds: int | None
    """Number of seeds: by cores one from each core; by a cover method a total that is distributed over the sites;
    over the web the length of the list. Range: at least 1. Default: 100 by cores and over the web."""
    share: Share | None
    """With `seeds`: how the total is distributed over the sites. Default: pages."""
    succeed: bool | None
    """Keep the seed list stable: as with `pick` stable, and replace a seed of the previous refresh that is gone,
    spam or no longer a hub by its successor. Default: false."""
    tune_visits: int | None
    """With `budget`: maximum number of page visits of tuning. Hops at which a search from every page takes more
    than that, or more than a 32nd of it and of the default, are not tried. Default: 10000000000, or 1000 for each
    link if that is more."""
    value_base: float | None
    """Value of a page that is neither spam nor clicked. Range: -1000000 to 1000000. Default: 1."""
    value_by: ValueBy | None
    """What determines the value of a page. Default: weights."""
    value_clicked: float | None
    """Value of a clicked page. Range: -1000000 to 1000000. Default: 10."""
    value_known: float | None
    """Value of a page that is known only from links. Range: -1000000 to 1000000. Default: 0, or tuned for the
    budget."""
    value_quality: float | None
    """What a quality of 1 adds to a page's value; a lower quality adds in proportion. Range: -1000000 to 1000000.
    Default: 0."""
    value_spam: float | None
    """Value of a spam page. Range: -1000000 to 1000000. Default: -10."""
    within: float | None
    """Maximum distance, in percent, of a core's singular value below the largest remaining one: 0 for exact
    cores; 0.5 to 50 for cores that are proven to be that close and change less from day to day. Default: 1 for a
    new plan, unless `hits` = classic."""
