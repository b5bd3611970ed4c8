//! The list of seeds; and how many seeds each refresh kept, gained and lost.

use super::answers::{Report, ReportSeed, SiteShare};

use crate::engine::evaluate::AbsentReason;
use crate::engine::plan::{Method, Scope};
use crate::engine::query::{Evidence, Turnover};
use crate::engine::refresh::RefreshView;
use crate::html::chart::{Frame, Point, Series, lines};
use crate::html::figure::Figure;
use crate::html::text::{Count, day};

/// The most seeds on the page; more rows would make browsers slow.
pub(super) const SHOWN: usize = 5_000;
/// From this many seeds on, the page has the script.
const SEARCHED_FROM: usize = 11;
/// The most sites in the table of seeds per site.
pub(super) const SITES: usize = 30;

/// The script that searches and sorts the list.
pub(super) const SCRIPT: &str = include_str!("seeds.js");
/// The SHA-256 of the script in base64, for the content security policy of the page.
pub(super) const SCRIPT_HASH: &str = "5Cpyl5sSa+ojqgU/uvKApQtnHOwVE/M8cSRNSmZ1F9I=";

impl Report {
    /// Whether the page has the script.
    pub(super) fn is_searched(&self) -> bool {
        self.seeds.len() >= SEARCHED_FROM
    }

    /// Whether the plan covers the whole web at once.
    pub(super) fn is_web(&self) -> bool {
        let scope = self.refresh.parameters.scope.unwrap_or_default();
        self.method != Method::Cores && scope == Scope::Web
    }

    /// The title of the column with the number of pages that a seed covers.
    pub(super) fn reached_head(&self) -> &'static str {
        if self.is_web() {
            "Reaches (pages)"
        } else {
            "Covers (pages)"
        }
    }

    /// Whether the state of any seed is known, so that the table needs the column.
    pub(super) fn has_states(&self) -> bool {
        let mut seeds = self.seeds.iter();
        seeds.any(|seed| seed.in_previous.is_some() || seed.dead.is_some())
    }

    /// The number of seeds of each site, descending, ties by name.
    pub(super) fn seed_sites(&self) -> Vec<SiteShare> {
        let seeds = self.seeds.iter();
        SiteShare::count(seeds.map(|seed| seed.seed.site.clone()))
    }

    /// A number of seeds in per cent of all.
    pub(super) fn seed_share(&self, seeds: u64) -> f64 {
        100.0 * seeds as f64 / self.seeds.len().max(1) as f64
    }
}

impl ReportSeed {
    /// The reason why the seed can no longer start a crawl, in words; `None` if it can.
    pub(super) fn death_reason(&self) -> Option<&'static str> {
        self.dead.map(|why| match why {
            AbsentReason::Gone => "gone now",
            AbsentReason::Spam => "spam now",
            AbsentReason::Alias => "alias now",
            AbsentReason::Resource => "resource now",
            AbsentReason::Unlinked | AbsentReason::NotInBank | AbsentReason::NoUrl => "no page now",
        })
    }

    /// The number of pages that the seed covers and their value; `None` if it was not selected by coverage.
    pub(super) fn covers(&self) -> Option<(u64, f64)> {
        match self.seed.evidence {
            Evidence::Cover {
                covered_pages,
                covered_value,
                ..
            } => Some((covered_pages, covered_value)),
            _ => None,
        }
    }
}

/// The figure; `None` if no refresh can be compared with a previous one.
pub(super) fn turnover(report: &Report) -> Option<Figure> {
    let last = &report.turnover;
    last.first()?;
    let line = |(look, name, number): (usize, &str, fn(&Turnover) -> u64)| Series {
        name: name.to_owned(),
        look,
        points: last
            .iter()
            .map(|found| Point {
                x: f64::from(found.refresh),
                y: number(found) as f64,
                error: 0.0,
            })
            .collect(),
    };
    let series = [
        (0, "kept", (|found| found.kept) as fn(&Turnover) -> u64),
        (2, "gained", |found| found.gained),
        (1, "lost", |found| found.lost),
    ]
    .map(line);
    let title = "Seeds kept, gained and lost";
    let about = match last.len() {
        1 => "How the list changed at the plan's last refresh, since the one before it.".to_owned(),
        many => format!(
            "How the list changed at each of the plan's last {many} refreshes, since the one before it."
        ),
    };
    let frame = Frame {
        id: "turnover",
        title,
        description: "Three lines over the refreshes of the plan: seeds kept, gained and lost; the table below has the numbers.",
        x: "refresh",
        y: "seeds",
    };
    let chart = lines(&frame, &series, 70.0, None);
    let rows = last
        .iter()
        .map(|found| {
            let view = view(report, found);
            vec![
                found.refresh.to_string(),
                view.map_or_else(String::new, |view| day(view.at)),
                found.previous.to_string(),
                found.kept.whole(),
                found.gained.whole(),
                found.lost.whole(),
            ]
        })
        .collect();
    let heads = [
        "Refresh",
        "Day",
        "Since refresh",
        "Kept (seeds)",
        "Gained (seeds)",
        "Lost (seeds)",
    ];
    Some(Figure::open(title, about, chart, &heads, rows))
}

/// The refresh of a turnover; `None` if the report does not have it.
fn view<'a>(report: &'a Report, found: &Turnover) -> Option<&'a RefreshView> {
    let mut all = report.previous_refreshes.iter().chain([&report.refresh]);
    all.find(|view| view.refresh == found.refresh)
}
