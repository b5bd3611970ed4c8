//! A refresh: what it cost, and all its seeds, sorted and filtered by the address.

use askama::Template;
use serde::Deserialize;
use std::cmp::Ordering;

use super::frame::Frame;
use crate::engine::{ByPolicy, Evidence, RefreshView, Seed};
use crate::html::text::{Count, Measure};
use crate::render::SeedFormat;
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, Fault};
use crate::serve::asked::which;
use crate::serve::desk::State;
use crate::serve::form::Form;
use crate::serve::query_params::{some_whole, whole};
use seedbank_formats::clock::time;
use seedbank_formats::shown::readable;

/// Seeds on one page.
const ROWS: usize = 200;

/// What seeds are sorted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    #[default]
    Rank,
    Url,
    Site,
    /// What the method says of it: sigma, or the score that it was picked by.
    Score,
    /// How many pages it covers, or the rank of its core.
    Pages,
}

impl By {
    /// Its name in addresses.
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
pub(super) struct About {
    #[serde(default, deserialize_with = "some_whole")]
    refresh: Option<u32>,
    plan: Option<String>,
    /// Only seeds whose URL has this text.
    #[serde(default)]
    q: String,
    #[serde(default)]
    sort: By,
    /// Whether the last come first.
    #[serde(default)]
    desc: bool,
    /// Only seeds that are no pages any more.
    #[serde(default)]
    dead: bool,
    /// How many seeds stand on the pages before.
    #[serde(default, deserialize_with = "whole")]
    from: usize,
    #[serde(rename = "format")]
    _format: Option<Form>,
}

#[derive(Template)]
#[template(path = "refresh.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    refresh: RefreshView,
    /// The plan's kept refresh before and after it.
    before: Option<u32>,
    after: Option<u32>,
    /// Whether seeds come from cores.
    by_cores: bool,
    about: About,
    /// All seeds, those that are dead, and those that are asked for.
    all: usize,
    dead: usize,
    found: usize,
    /// The seeds of this page.
    seeds: Vec<Seed>,
}

pub(super) fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let refresh = state
        .bank
        .refresh_view(&which(about.plan.clone(), about.refresh))?;
    if form == Form::Json {
        return Answer::json(&refresh);
    }
    let number = refresh.refresh;
    let mut of_plan: Vec<u32> = Vec::new();
    for other in state.bank.history()?.refreshes {
        if other.plan == refresh.plan {
            of_plan.push(other.refresh);
        }
    }
    let mut seeds = state.bank.seeds(&which(None, Some(number)))?;
    let all = seeds.len();
    let dead = seeds.iter().filter(|seed| !seed.alive).count();
    let text = about.q.trim().to_lowercase();
    seeds.retain(|seed| {
        let has_text = || {
            let url = seed.url.to_lowercase();
            url.contains(&text) || readable(&seed.url).to_lowercase().contains(&text)
        };
        (!about.dead || !seed.alive) && (text.is_empty() || has_text())
    });
    seeds.sort_by(|a, b| {
        let order = ordered(about.sort, a, b);
        let order = if about.desc { order.reverse() } else { order };
        order.then(a.rank.cmp(&b.rank))
    });
    let found = seeds.len();
    let seeds = seeds.into_iter().skip(about.from).take(ROWS).collect();
    Answer::page(&Page {
        frame: Frame::with_json(
            state,
            [
                ("This refresh as JSON", address::refresh(number)),
                (
                    "all its seeds, one a line",
                    Address::of("/seeds").with("refresh", number),
                ),
            ],
        ),
        by_cores: refresh.method() == crate::engine::Method::Cores,
        before: of_plan
            .iter()
            .copied()
            .filter(|other| *other < number)
            .max(),
        after: of_plan
            .iter()
            .copied()
            .filter(|other| *other > number)
            .min(),
        refresh,
        about,
        all,
        dead,
        found,
        seeds,
    })
}

fn ordered(by: By, a: &Seed, b: &Seed) -> Ordering {
    match by {
        By::Rank => a.rank.cmp(&b.rank),
        By::Url => a.url.cmp(&b.url),
        By::Site => a.site.cmp(&b.site),
        By::Score => score(a).total_cmp(&score(b)),
        By::Pages => pages(a).cmp(&pages(b)),
    }
}

/// Sigma, or the score that it was picked by; less than all others where it has none.
fn score(seed: &Seed) -> f64 {
    match seed.evidence {
        Evidence::Core { sigma, .. } => sigma,
        Evidence::Cover { gain, .. } => gain.unwrap_or(f64::NEG_INFINITY),
        Evidence::ByPolicy {} => f64::NEG_INFINITY,
    }
}

/// The rank of its core, or how many pages it covers.
fn pages(seed: &Seed) -> u64 {
    match seed.evidence {
        Evidence::Core { core, .. } => core.into(),
        Evidence::Cover { covered_pages, .. } => covered_pages,
        Evidence::ByPolicy {} => 0,
    }
}

impl Page<'_> {
    /// This page with other seeds on it.
    fn address(&self, sort: By, desc: bool, from: usize) -> Address {
        let about = &self.about;
        let mut address = address::refresh(self.refresh.refresh);
        if !about.q.is_empty() {
            address = address.with("q", &about.q);
        }
        if about.dead {
            address = address.with("dead", true);
        }
        if sort != By::Rank {
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

    /// The head of a column: where a click on it leads, and how it is sorted now.
    fn head(&self, by: By) -> (Address, &'static str) {
        let about = &self.about;
        let is_this = about.sort == by;
        let address = self.address(by, is_this && !about.desc, 0);
        let sorted = match (is_this, about.desc) {
            (false, _) => "none",
            (true, false) => "ascending",
            (true, true) => "descending",
        };
        (address, sorted)
    }

    /// The columns in their order.
    fn columns(&self) -> [(By, &'static str); 5] {
        let (score, pages) = if self.by_cores {
            ("Sigma", "Core")
        } else {
            ("Score, units", "Covers, pages")
        };
        [
            (By::Rank, "Rank"),
            (By::Url, "Page"),
            (By::Site, "Site"),
            (By::Score, score),
            (By::Pages, pages),
        ]
    }

    /// The page of seeds before this one, and the one after it.
    fn turns(&self) -> (Option<Address>, Option<Address>) {
        let about = &self.about;
        let to = |from| self.address(about.sort, about.desc, from);
        let before = (about.from > 0).then(|| to(self.passed().saturating_sub(ROWS)));
        let next = about.from.saturating_add(ROWS);
        (before, (next < self.found).then(|| to(next)))
    }

    /// How many of the seeds that are asked for stand before this page.
    fn passed(&self) -> usize {
        self.about.from.min(self.found)
    }

    /// The same seeds from the first on.
    fn first(&self) -> Address {
        self.address(self.about.sort, self.about.desc, 0)
    }

    /// Where the list is as a file, in every format.
    fn files(&self) -> Vec<(SeedFormat, Address)> {
        let of = |format: SeedFormat| {
            let address = Address::of("/seeds").with("refresh", self.refresh.refresh);
            (format, address.with("format", format.name()))
        };
        SeedFormat::all().map(of).collect()
    }

    /// What the plan says of its parameters, by name.
    fn how(&self) -> String {
        crate::render::provenance(&self.refresh)
    }
}
