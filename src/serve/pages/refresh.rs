//! A refresh: its cost and its seeds, which can be sorted, filtered and downloaded, and its comparison with others.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{Response, StatusCode, Uri};
use serde::Deserialize;

use super::layout::{Layout, Pager, pager, params};
use crate::answers::{
    Cell, Column, Declaration, Line, SeedFormat, Table, cause_text, change_reason, proof, reuse,
    seed_reason, write_seeds,
};
use crate::engine::EngineError;
use crate::engine::plan::{CoverMethod, Method, PlanOptions, Scope, ValueBy};
use crate::engine::query::{ByPolicy, Change, DiffSide, Evidence, Seed, SeedChange, SeedDiff};
use crate::engine::refresh::RefreshView;
use crate::html::changes::change_lists;
use crate::html::text::{Count, Measure};
use crate::html::truncate::Truncate;
use crate::named_enum::NamedValue;
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, CSV, JSON, JSON_LINES, MediaType, PARQUET, RequestError, TEXT};
use crate::serve::api::changes;
use crate::serve::executor::{Context, Executor};
use crate::serve::params::{integer, optional_integer, query, which};
use crate::serve::table::csv_answer;
use seedbank_algorithms::watch::Watch as _;
use seedbank_formats::clock::time;
use seedbank_formats::display::readable;

/// Maximum number of seeds on the page.
const ROWS: usize = 100;

/// Maximum number of sites to filter by.
const SITES: usize = 12;

/// The column that seeds are sorted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SortBy {
    #[default]
    Rank,
    Url,
    Site,
    /// Sigma of the core, or the score with which a cover method selected the seed.
    Score,
    /// Number of covered pages, or the rank of the core.
    Pages,
}

impl SortBy {
    /// Returns the name in addresses.
    const fn name(self) -> &'static str {
        match self {
            Self::Rank => "rank",
            Self::Url => "url",
            Self::Site => "site",
            Self::Score => "score",
            Self::Pages => "pages",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RefreshQuery {
    #[serde(default, deserialize_with = "optional_integer")]
    refresh: Option<u32>,
    plan: Option<String>,
    /// Shows only seeds with this text in their URLs.
    #[serde(default)]
    q: String,
    #[serde(default)]
    sort: SortBy,
    /// Sorts in descending order.
    #[serde(default)]
    desc: bool,
    /// Shows only the seeds of this site.
    site: Option<String>,
    /// Shows only dead seeds.
    #[serde(default)]
    dead: bool,
    /// Number of seeds to skip.
    #[serde(default, deserialize_with = "integer")]
    from: usize,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "refresh.html", config = "src/serve/askama.toml")]
struct RefreshPage<'a> {
    layout: Layout<'a>,
    refresh: RefreshView,
    /// The previous stored refresh of the plan.
    previous: Option<u32>,
    /// The next stored refresh of the plan.
    next: Option<u32>,
    params: RefreshQuery,
    /// Number of all seeds.
    all: usize,
    /// Number of dead seeds.
    dead: usize,
    /// Number of seeds that pass the filters.
    found: usize,
    /// Sites with the most seeds, with their numbers of seeds.
    sites: Vec<(String, usize)>,
    /// Number of further sites.
    more_sites: usize,
    scores: ScoreMeaning,
    /// The shown seeds.
    seeds: Vec<Seed>,
    /// Why each of them is a seed.
    reasons: Vec<Option<String>>,
}

pub(super) fn refresh(
    context: &Context<'_>,
    params: RefreshQuery,
    _: MediaType,
) -> Result<Answer, RequestError> {
    let refresh = context
        .bank
        .refresh_view(&which(params.plan.clone(), params.refresh))?;
    let number = refresh.refresh;
    let history = context.bank.history()?;
    let same_plan = history
        .refreshes
        .iter()
        .filter(|other| other.plan == refresh.plan)
        .map(|other| other.refresh);
    let mut seeds = context
        .bank
        .seeds(which(None, Some(number)))?
        .collect::<Result<Vec<_>, _>>()?;
    let all = seeds.len();
    let dead = seeds.iter().filter(|seed| !seed.alive).count();
    let (sites, more_sites) = by_site(&seeds);
    let text = params.q.trim().to_lowercase();
    seeds.retain(|seed| {
        let has_text = || {
            let url = seed.url.to_lowercase();
            url.contains(&text) || readable(&seed.url).to_lowercase().contains(&text)
        };
        (!params.dead || !seed.alive)
            && params.site.as_ref().is_none_or(|site| *site == seed.site)
            && (text.is_empty() || has_text())
    });
    seeds.sort_by(|a, b| {
        let order = compare(params.sort, a, b);
        let order = if params.desc { order.reverse() } else { order };
        order.then(a.rank.cmp(&b.rank))
    });
    let found = seeds.len();
    let seeds: Vec<Seed> = seeds.into_iter().skip(params.from).take(ROWS).collect();
    let reasons = seed_reasons(context, number, seeds.iter().map(|seed| seed.url.as_str()))?;
    Answer::page(&RefreshPage {
        layout: Layout::with_json(
            context,
            [
                ("This refresh as JSON", address::refresh(number).in_api()),
                (
                    "its first seeds",
                    Address::new("/seeds").with("refresh", number).in_api(),
                ),
            ],
        ),
        previous: same_plan.clone().filter(|other| *other < number).max(),
        next: same_plan.filter(|other| *other > number).min(),
        scores: meaning(&refresh.parameters),
        refresh,
        params,
        all,
        dead,
        found,
        sites,
        more_sites,
        seeds,
        reasons,
    })
}

/// Returns the sites with the most seeds, ties by name, and the number of further sites.
fn by_site(seeds: &[Seed]) -> (Vec<(String, usize)>, usize) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in seeds {
        *counts.entry(&seed.site).or_default() += 1;
    }
    let mut sites: Vec<(String, usize)> = counts
        .into_iter()
        .map(|(site, count)| (site.to_owned(), count))
        .collect();
    // Stable sort: the sites are sorted by name already.
    sites.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let more = sites.len().saturating_sub(SITES);
    sites.truncate(SITES);
    (sites, more)
}

fn compare(by: SortBy, a: &Seed, b: &Seed) -> Ordering {
    match by {
        SortBy::Rank => a.rank.cmp(&b.rank),
        SortBy::Url => a.url.cmp(&b.url),
        SortBy::Site => a.site.cmp(&b.site),
        SortBy::Score => score(a).total_cmp(&score(b)),
        SortBy::Pages => pages(a).cmp(&pages(b)),
    }
}

/// Returns the value in the column [`SortBy::Score`]; negative infinity if there is none.
fn score(seed: &Seed) -> f64 {
    match seed.evidence {
        Evidence::Core { sigma, .. } => sigma,
        Evidence::Cover { gain, .. } => gain.unwrap_or(f64::NEG_INFINITY),
        Evidence::ByPolicy {} => f64::NEG_INFINITY,
    }
}

/// Returns the value in the column [`SortBy::Pages`].
fn pages(seed: &Seed) -> u64 {
    match seed.evidence {
        Evidence::Core { core, .. } => core.into(),
        Evidence::Cover { covered_pages, .. } => covered_pages,
        Evidence::ByPolicy {} => 0,
    }
}

impl RefreshPage<'_> {
    /// Returns the address of this page with another order or other seeds.
    fn address(&self, sort: SortBy, desc: bool, from: u64) -> Address {
        self.of_site(self.params.site.as_deref())
            .with_some("sort", Some(sort.name()).filter(|_| sort != SortBy::Rank))
            .with_some("desc", Some(true).filter(|_| desc))
            .with_some("from", Some(from).filter(|from| *from > 0))
    }

    /// Returns the address of the seeds of a site, or of all sites, with the other filters.
    fn of_site(&self, site: Option<&str>) -> Address {
        let params = &self.params;
        address::refresh(self.refresh.refresh)
            .with_some("q", Some(&params.q).filter(|q| !q.is_empty()))
            .with_some("site", site)
            .with_some("dead", Some(true).filter(|_| params.dead))
    }

    /// Makes the header of a column a link that sorts by it.
    fn sorted(&self, column: &mut Column, by: SortBy) {
        let params = &self.params;
        let is_sorted = params.sort == by;
        let address = self.address(by, is_sorted && !params.desc, 0);
        let aria_sort = match (is_sorted, params.desc) {
            (false, _) => "none",
            (true, false) => "ascending",
            (true, true) => "descending",
        };
        column.sort = Some((address.to_string(), aria_sort));
    }

    fn title(&self, column: SortBy) -> &'static str {
        let by_cores = self.refresh.method() == Method::Cores;
        match column {
            SortBy::Rank => "Rank",
            SortBy::Url => "Page",
            SortBy::Site => "Site",
            SortBy::Score => self.scores.title,
            SortBy::Pages if by_cores => "Core",
            SortBy::Pages => "Pages found",
        }
    }

    /// Returns the columns to sort by with their titles.
    fn columns(&self) -> [(SortBy, &'static str); 5] {
        [
            SortBy::Rank,
            SortBy::Url,
            SortBy::Site,
            SortBy::Score,
            SortBy::Pages,
        ]
        .map(|column| (column, self.title(column)))
    }

    fn table(&self) -> Table {
        let sorted = |by| move |column: &mut Column| self.sorted(column, by);
        let title = |by| self.title(by);
        let rows = self.seeds.iter().zip(&self.reasons);
        Table::of("seeds", "Seeds", rows)
            .number("rank", title(SortBy::Rank), |(seed, _)| seed.rank)
            .with(sorted(SortBy::Rank))
            .text("url", title(SortBy::Url), |(seed, _)| page_cell(seed))
            .with(sorted(SortBy::Url))
            .text("why", "Why", |(seed, reason)| {
                why(seed, reason.as_deref().unwrap_or_default())
            })
            .text("site", title(SortBy::Site), |(seed, _)| {
                Cell::site(&seed.site)
            })
            .with(sorted(SortBy::Site))
            .number("score", title(SortBy::Score), |(seed, _)| {
                match seed.evidence {
                    Evidence::Core { sigma, .. } => Cell::Number(sigma),
                    Evidence::Cover { gain, .. } => Cell::or_none(gain),
                    Evidence::ByPolicy {} => Cell::None,
                }
            })
            .with(sorted(SortBy::Score))
            .number("pages", title(SortBy::Pages), |(seed, _)| {
                match seed.evidence {
                    Evidence::Core { core, .. } => {
                        Cell::from(core).linked(&address::core(self.refresh.refresh, core))
                    }
                    Evidence::Cover { covered_pages, .. } => Cell::Count(covered_pages),
                    Evidence::ByPolicy {} => Cell::None,
                }
            })
            .with(sorted(SortBy::Pages))
            .done()
    }

    fn pager(&self) -> Pager {
        let from = self.params.from as u64;
        pager(from, ROWS as u64, self.found as u64, |from| {
            self.address(self.params.sort, self.params.desc, from)
        })
    }

    /// Returns the address of the first seeds in the same order.
    fn first(&self) -> Address {
        self.address(self.params.sort, self.params.desc, 0)
    }

    /// Returns the formats of the list with the addresses of the files.
    fn files(&self) -> Vec<(SeedFormat, Address)> {
        let file = |format: SeedFormat| {
            let address = Address::new("/seeds").with("refresh", self.refresh.refresh);
            (format, address.with("format", format.name()))
        };
        SeedFormat::all().map(file).collect()
    }
}

/// Returns the cell of a seed, with its state.
fn page_cell(seed: &Seed) -> Cell {
    let by_policy = seed.by_policy.map(|by| match by {
        ByPolicy::Pin => "pinned",
        ByPolicy::MaxChanges => "retained by policy",
    });
    Cell::page(&seed.url)
        .tagged("lost", (!seed.alive).then_some("no longer a page"))
        .tagged("new", by_policy)
}

/// Describes why a page is a seed, and which one it replaces.
fn why(seed: &Seed, reason: &str) -> Line {
    let why = Line::from(reason);
    match &seed.succeeds {
        Some(old) => why.and(" Replaces ").and_page(&old.url).and("."),
        None => why,
    }
}

/// The title of the scores of a list, and a sentence that explains what they measure.
struct ScoreMeaning {
    title: &'static str,
    sentence: &'static str,
}

/// Returns what the scores are by which a plan selects its seeds.
fn meaning(plan: &PlanOptions) -> ScoreMeaning {
    let (title, sentence) = match plan.method.unwrap_or_default() {
        Method::Cores => (
            "Sigma of its core",
            "Sigma is the singular value of the links around a core: it is large if many pages link to many \
             common pages.",
        ),
        Method::Cover(CoverMethod::Random) => {
            ("Score", "The seeds are drawn at random, without scores.")
        }
        Method::Cover(CoverMethod::Pagerank) => (
            "PageRank on its site",
            "The score is the PageRank of the page on the graph of its site.",
        ),
        Method::Cover(CoverMethod::OutDegree) => (
            "Links on its site",
            "The score is the number of links to crawled pages of the site.",
        ),
        Method::Cover(CoverMethod::Oldest) => (
            "Days since the last fetch",
            "The score is the number of days since the last fetch of the page; without a known one, since 1970.",
        ),
        Method::Cover(CoverMethod::MaxOut) => (
            "Links to uncovered pages",
            "The score is the number of links to pages of the site that no earlier seed covers.",
        ),
        Method::Cover(_) if plan.learned == Some(true) => (
            "New links gained",
            "The score is the number of new links that fetches of the seed and the pages that it links to are \
             expected to bring, without pages of earlier seeds, minus the cost of fetching them.",
        ),
        Method::Cover(_) if plan.value_by == Some(ValueBy::Pagerank) => (
            "PageRank gained",
            "The score is the PageRank of the pages that a crawl from the seed finds and no earlier seed finds, \
             minus the cost of fetching them.",
        ),
        Method::Cover(_) if plan.scope == Some(Scope::Web) => (
            "Value gained, units",
            "The score is the value of the pages that a crawl from the seed finds and no earlier seed finds, \
             minus the cost of fetching them. By default a crawled page is worth 1 unit.",
        ),
        Method::Cover(_) => (
            "Value gained, units",
            "The score is the value of the pages of its site that a crawl from the seed finds and no earlier \
             seed finds. By default a page is worth 1 unit, and clicks and links to uncrawled pages add to it.",
        ),
    };
    ScoreMeaning { title, sentence }
}

/// Returns why each page is a seed of a refresh; `None` for pages that are not seeds or were forgotten.
///
/// Cost: at most 20 point reads per page.
pub(super) fn seed_reasons<'a>(
    context: &Context<'_>,
    refresh: u32,
    urls: impl Iterator<Item = &'a str>,
) -> Result<Vec<Option<String>>, RequestError> {
    let explainer = context.bank.explainer(which(None, Some(refresh)))?;
    let reason = |url: &str| {
        if context.watch.stopped() {
            return Err(RequestError::too_long());
        }
        match explainer.page(url) {
            Ok(answer) => Ok(seed_reason(
                &answer.run,
                answer.policy.as_ref(),
                &answer.why,
            )),
            Err(EngineError::UnknownPage { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    };
    urls.map(reason).collect()
}

/// Maximum number of gained, of lost and of moved seeds on the page.
const CHANGES: usize = 200;

/// Maximum number of gained seeds whose reasons are shown, since each is read separately.
const REASONS: usize = 100;

/// Maximum number of refreshes to select from, besides the two that are compared.
const OPTIONS: usize = 100;

params! {
    DiffQuery {
        #[serde(default, deserialize_with = "optional_integer")]
        from: Option<u32>,
        #[serde(default, deserialize_with = "optional_integer")]
        to: Option<u32>,
        plan: Option<String>,
        against: Option<String>,
    }
}

/// Comparison of two refreshes, with causes.
#[derive(Template)]
#[template(path = "diff.html", config = "src/serve/askama.toml")]
struct DiffPage<'a> {
    layout: Layout<'a>,
    diff: SeedDiff,
    /// Refreshes to select from, newest first.
    refreshes: Vec<RefreshView>,
    lists: Vec<List>,
    /// The addresses of all changes.
    csv: Address,
    json: Address,
}

/// The seeds with one kind of change.
struct List {
    title: &'static str,
    seeds: Table,
    /// Number of seeds that are not shown.
    more: usize,
}

pub(super) fn diff(
    context: &Context<'_>,
    params: DiffQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let DiffQuery {
        from,
        to,
        plan,
        against,
        table,
        ..
    } = params;
    let address = Address::new("/diff")
        .with_some("from", from)
        .with_some("to", to)
        .with_some("plan", plan.as_ref())
        .with_some("against", against.as_ref());
    let diff = changes(context, from, to, plan, against)?;
    if media_type == MediaType::Csv {
        let all = changes_table("", (0..).zip(&diff.seeds)).done();
        return csv_answer(&[all], table.as_ref(), "");
    }
    let lists = lists(context, &diff)?;
    let mut refreshes = context.bank.history()?.refreshes;
    refreshes.reverse();
    let compared = [diff.summary.from.refresh, diff.summary.to.refresh];
    let mut place = 0;
    refreshes.retain(|refresh| {
        place += 1;
        place <= OPTIONS || compared.contains(&Some(refresh.refresh))
    });
    Answer::page(&DiffPage {
        csv: address.clone().with("format", "csv"),
        json: address.in_api(),
        layout: Layout::new(context, &address.in_api()),
        diff,
        refreshes,
        lists,
    })
}

/// Returns the seeds gained, lost and moved, as far as there are any.
fn lists(context: &Context<'_>, diff: &SeedDiff) -> Result<Vec<List>, RequestError> {
    let mut lists = Vec::new();
    for list in change_lists(diff) {
        let part = list.seeds.head(CHANGES);
        let Some(first) = part.shown.first() else {
            continue;
        };
        let mut reasons = Vec::new();
        let is_gained = first.change == Change::Gained;
        if let Some(refresh) = diff.summary.to.refresh.filter(|_| is_gained) {
            let urls = part.shown.iter().map(|seed| seed.url.as_str());
            reasons = seed_reasons(context, refresh, urls.take(REASONS))?;
        }
        let rows = (0..).zip(part.shown).map(|(at, seed)| (at, *seed));
        let mut seeds = changes_table(list.title, rows);
        if !reasons.is_empty() {
            seeds = seeds.text("reason", "Why it is a seed", |(at, _): (usize, _)| {
                Cell::or_none(reasons.get(at).and_then(Option::as_ref))
            });
        }
        lists.push(List {
            title: list.title,
            seeds: seeds.done(),
            more: part.more,
        });
    }
    Ok(lists)
}

/// Declares the columns of changed seeds.
fn changes_table<'a>(
    caption: &str,
    seeds: impl Iterator<Item = (usize, &'a SeedChange)>,
) -> Declaration<(usize, &'a SeedChange)> {
    Table::of("changes", caption, seeds)
        .word("change", "", |(_, seed)| change_name(seed.change))
        .optional("rank_before", "Rank before", |(_, seed)| seed.rank_before)
        .optional("rank_after", "Rank after", |(_, seed)| seed.rank_after)
        .page("page", "Page", |(_, seed)| &seed.url)
        .text("why", "Why it changed", |(_, seed)| change_reason(seed))
}

const fn change_name(change: Change) -> &'static str {
    match change {
        Change::Gained => "gained",
        Change::Lost => "lost",
        Change::Moved => "moved",
        Change::Kept => "kept",
    }
}

impl DiffPage<'_> {
    /// Returns the selection fields: name, label and selected refresh.
    fn fields(&self) -> [(&'static str, &'static str, Option<u32>); 2] {
        let summary = &self.diff.summary;
        [
            ("from", "From", summary.from.refresh),
            ("to", "To", summary.to.refresh),
        ]
    }

    /// Returns the causes as text with their counts, most frequent first.
    fn causes(&self) -> Vec<(&'static str, u32)> {
        // Several causes have the same text.
        let mut by_text: BTreeMap<&'static str, u32> = BTreeMap::new();
        for (cause, count) in &self.diff.summary.causes {
            *by_text.entry(cause_text(*cause)).or_default() += count;
        }
        let mut causes: Vec<_> = by_text.into_iter().collect();
        causes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        causes
    }
}

/// Returns the title of one of the two lists.
fn side(side: &DiffSide) -> String {
    match (side.refresh, &side.plan) {
        (Some(refresh), Some(plan)) => format!("refresh {refresh} of plan {plan}"),
        _ => side.list.clone().unwrap_or_default(),
    }
}

fn is_selected(refresh: &RefreshView, selected: Option<u32>) -> bool {
    selected == Some(refresh.refresh)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeedsQuery {
    plan: Option<String>,
    #[serde(default, deserialize_with = "optional_integer")]
    refresh: Option<u32>,
    /// Omits dead seeds.
    #[serde(default)]
    alive: bool,
    format: Option<String>,
}

/// The parameter `format`; other parameters are ignored.
#[derive(Deserialize)]
struct FormatParam {
    format: Option<String>,
}

pub(super) async fn seeds(Shared(executor): Shared<Arc<Executor>>, uri: Uri) -> Response<Body> {
    // Errors are JSON if the list is.
    let media_type = match query(&uri) {
        Ok(FormatParam { format: Some(name) }) if name.starts_with("json") => MediaType::Json,
        _ => MediaType::Html,
    };
    let params = match query(&uri) {
        Ok(params) => params,
        Err(error) => return Answer::error(&error, media_type).into(),
    };
    executor
        .answer(Some(uri.to_string()), media_type, move |context| {
            seed_list(context, params)
        })
        .await
}

fn seed_list(context: &Context<'_>, params: SeedsQuery) -> Result<Answer, RequestError> {
    let format = match params.format.as_deref() {
        None => SeedFormat::Text,
        Some(name) => NamedValue::find(SeedFormat::VALUES, name)
            .filter(|format| format.is_there())
            .ok_or_else(|| {
                let all: Vec<&str> = SeedFormat::all().map(SeedFormat::name).collect();
                let text = format!(
                    "unknown format {name:?}, expected one of {}",
                    all.join(", ")
                );
                RequestError::new(StatusCode::BAD_REQUEST, text)
            })?,
    };
    let refresh = context
        .bank
        .refresh_view(&which(params.plan, params.refresh))?;
    let mut seeds = context
        .bank
        .seeds(which(None, Some(refresh.refresh)))?
        .collect::<Result<Vec<_>, _>>()?;
    let all = seeds.len();
    if params.alive {
        seeds.retain(|seed| seed.alive);
    }
    let mut list = Vec::new();
    write_seeds(&mut list, &seeds, all, format)
        .map_err(|e| RequestError::new(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
    let content_type = match format.ending() {
        "jsonl" => JSON_LINES,
        "json" => JSON,
        "csv" => CSV,
        "parquet" => PARQUET,
        _ => TEXT,
    };
    let ending = format.ending();
    let name = format!("seeds-{}-{}.{ending}", refresh.plan, refresh.refresh);
    Ok(Answer::new(content_type, list).saved_as(name))
}
