//! A refresh: its cost and its seeds, which can be sorted and filtered.

use askama::Template;
use serde::Deserialize;
use std::cmp::Ordering;

use super::layout::{Layout, Pager, pager};
use crate::engine::plan::Method;
use crate::engine::query::{ByPolicy, Evidence, Seed};
use crate::engine::refresh::RefreshView;
use crate::html::text::{Count, Measure};
use crate::render::{SeedFormat, provenance};
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::{integer, optional_integer};
use seedbank_formats::clock::time;
use seedbank_formats::display::readable;

/// Maximum number of seeds on the page.
const ROWS: usize = 200;

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
    /// The shown seeds.
    seeds: Vec<Seed>,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let refresh = context
        .bank
        .refresh_view(&which(params.plan.clone(), params.refresh))?;
    if media_type == MediaType::Json {
        return Answer::json(&refresh);
    }
    let number = refresh.refresh;
    let history = context.bank.history()?;
    let same_plan = history
        .refreshes
        .iter()
        .filter(|other| other.plan == refresh.plan)
        .map(|other| other.refresh);
    let mut seeds = context.bank.seeds(&which(None, Some(number)))?;
    let all = seeds.len();
    let dead = seeds.iter().filter(|seed| !seed.alive).count();
    let text = params.q.trim().to_lowercase();
    seeds.retain(|seed| {
        let has_text = || {
            let url = seed.url.to_lowercase();
            url.contains(&text) || readable(&seed.url).to_lowercase().contains(&text)
        };
        (!params.dead || !seed.alive) && (text.is_empty() || has_text())
    });
    seeds.sort_by(|a, b| {
        let order = compare(params.sort, a, b);
        let order = if params.desc { order.reverse() } else { order };
        order.then(a.rank.cmp(&b.rank))
    });
    let found = seeds.len();
    let seeds = seeds.into_iter().skip(params.from).take(ROWS).collect();
    Answer::page(&Page {
        layout: Layout::with_json(
            context,
            [
                ("This refresh as JSON", address::refresh(number)),
                (
                    "all its seeds, one per line",
                    Address::new("/seeds").with("refresh", number),
                ),
            ],
        ),
        previous: same_plan.clone().filter(|other| *other < number).max(),
        next: same_plan.filter(|other| *other > number).min(),
        refresh,
        params,
        all,
        dead,
        found,
        seeds,
    })
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
        let params = &self.params;
        let mut address = address::refresh(self.refresh.refresh);
        if !params.q.is_empty() {
            address = address.with("q", &params.q);
        }
        if params.dead {
            address = address.with("dead", true);
        }
        if sort != Column::Rank {
            address = address.with("sort", sort.name());
        }
        if desc {
            address = address.with("desc", true);
        }
        if from > 0 {
            address = address.with("from", from);
        }
        address
    }

    /// Returns the header of a column: the address that sorts by it, and its `aria-sort` attribute.
    fn header(&self, by: Column) -> (Address, &'static str) {
        let params = &self.params;
        let is_sorted = params.sort == by;
        let address = self.address(by, is_sorted && !params.desc, 0);
        let aria_sort = match (is_sorted, params.desc) {
            (false, _) => "none",
            (true, false) => "ascending",
            (true, true) => "descending",
        };
        (address, aria_sort)
    }

    /// Returns the columns with their titles.
    fn columns(&self) -> [(Column, &'static str); 5] {
        let (score, pages) = if self.refresh.method() == Method::Cores {
            ("Sigma", "Core")
        } else {
            ("Score, units", "Covers, pages")
        };
        [
            (Column::Rank, "Rank"),
            (Column::Url, "Page"),
            (Column::Site, "Site"),
            (Column::Score, score),
            (Column::Pages, pages),
        ]
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
