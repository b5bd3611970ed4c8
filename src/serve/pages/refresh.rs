//! A refresh: its cost and its seeds, which can be sorted and filtered.

use askama::Template;
use serde::Deserialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::layout::{Layout, Pager, pager};
use super::reasons::seed_reasons;
use super::score::{ScoreMeaning, meaning};
use crate::engine::plan::Method;
use crate::engine::query::{ByPolicy, Evidence, Seed};
use crate::engine::refresh::RefreshView;
use crate::html::text::{Count, Measure};
use crate::render::{Line, SeedFormat, proof, reuse};
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::{integer, optional_integer};
use crate::serve::table::{self, Cell, Table};
use seedbank_formats::clock::time;
use seedbank_formats::display::readable;

/// Maximum number of seeds on the page.
const ROWS: usize = 100;

/// Maximum number of sites to filter by.
const SITES: usize = 12;

/// The column that seeds are sorted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Column {
    #[default]
    Rank,
    Url,
    Site,
    /// Sigma of the core, or the score with which a cover method selected the seed.
    Score,
    /// Number of covered pages, or the rank of the core.
    Pages,
}

impl Column {
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
pub(super) struct Params {
    #[serde(default, deserialize_with = "optional_integer")]
    refresh: Option<u32>,
    plan: Option<String>,
    /// Shows only seeds with this text in their URLs.
    #[serde(default)]
    q: String,
    #[serde(default)]
    sort: Column,
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
struct Page<'a> {
    layout: Layout<'a>,
    refresh: RefreshView,
    /// The previous stored refresh of the plan.
    previous: Option<u32>,
    /// The next stored refresh of the plan.
    next: Option<u32>,
    params: Params,
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

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
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
    Answer::page(&Page {
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

fn compare(by: Column, a: &Seed, b: &Seed) -> Ordering {
    match by {
        Column::Rank => a.rank.cmp(&b.rank),
        Column::Url => a.url.cmp(&b.url),
        Column::Site => a.site.cmp(&b.site),
        Column::Score => score(a).total_cmp(&score(b)),
        Column::Pages => pages(a).cmp(&pages(b)),
    }
}

/// Returns the value in the column [`Column::Score`]; negative infinity if there is none.
fn score(seed: &Seed) -> f64 {
    match seed.evidence {
        Evidence::Core { sigma, .. } => sigma,
        Evidence::Cover { gain, .. } => gain.unwrap_or(f64::NEG_INFINITY),
        Evidence::ByPolicy {} => f64::NEG_INFINITY,
    }
}

/// Returns the value in the column [`Column::Pages`].
fn pages(seed: &Seed) -> u64 {
    match seed.evidence {
        Evidence::Core { core, .. } => core.into(),
        Evidence::Cover { covered_pages, .. } => covered_pages,
        Evidence::ByPolicy {} => 0,
    }
}

impl Page<'_> {
    /// Returns the address of this page with another order or other seeds.
    fn address(&self, sort: Column, desc: bool, from: u64) -> Address {
        self.of_site(self.params.site.as_deref())
            .with_some("sort", Some(sort.name()).filter(|_| sort != Column::Rank))
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

    /// Returns a column whose header sorts by it.
    fn column(&self, by: Column) -> table::Column {
        let params = &self.params;
        let is_sorted = params.sort == by;
        let address = self.address(by, is_sorted && !params.desc, 0);
        let aria_sort = match (is_sorted, params.desc) {
            (false, _) => "none",
            (true, false) => "ascending",
            (true, true) => "descending",
        };
        let (name, title) = (by.name(), self.title(by));
        let column = match by {
            Column::Url | Column::Site => table::Column::text(name, title),
            Column::Rank | Column::Score | Column::Pages => table::Column::number(name, title),
        };
        column.sorted_at(address, aria_sort)
    }

    fn title(&self, column: Column) -> &'static str {
        let by_cores = self.refresh.method() == Method::Cores;
        match column {
            Column::Rank => "Rank",
            Column::Url => "Page",
            Column::Site => "Site",
            Column::Score => self.scores.title,
            Column::Pages if by_cores => "Core",
            Column::Pages => "Pages found",
        }
    }

    /// Returns the columns to sort by with their titles.
    fn columns(&self) -> [(Column, &'static str); 5] {
        [
            Column::Rank,
            Column::Url,
            Column::Site,
            Column::Score,
            Column::Pages,
        ]
        .map(|column| (column, self.title(column)))
    }

    fn table(&self) -> Table {
        let columns = vec![
            self.column(Column::Rank),
            self.column(Column::Url),
            table::Column::text("why", "Why"),
            self.column(Column::Site),
            self.column(Column::Score),
            self.column(Column::Pages),
        ];
        let rows = self.seeds.iter().zip(&self.reasons).map(|(seed, reason)| {
            let (score, pages) = match seed.evidence {
                Evidence::Core { core, sigma, .. } => {
                    let address = address::core(self.refresh.refresh, core);
                    let core = Cell::Count(core.into()).linked(address);
                    (Cell::Number(sigma), core)
                }
                Evidence::Cover {
                    gain,
                    covered_pages,
                    ..
                } => (Cell::number(gain), Cell::Count(covered_pages)),
                Evidence::ByPolicy {} => (Cell::None, Cell::None),
            };
            let by_policy = seed.by_policy.map(|by| match by {
                ByPolicy::Pin => "pinned",
                ByPolicy::MaxChanges => "retained by policy",
            });
            let mut why = Line::from(reason.clone().unwrap_or_default());
            if let Some(old) = &seed.succeeds {
                why = why.and(" Replaces ").and_page(&old.url).and(".");
            }
            vec![
                Cell::Count(seed.rank.into()),
                Cell::Page(seed.url.clone())
                    .tagged("lost", (!seed.alive).then_some("no longer a page"))
                    .tagged("new", by_policy),
                Cell::Line(why),
                Cell::Site(seed.site.clone()),
                score,
                pages,
            ]
        });
        Table::new("seeds", "Seeds", columns, rows.collect())
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
