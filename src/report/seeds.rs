//! The list of seeds on the page: its length, its script, and the number of seeds per site.

use super::answers::{Report, ReportSeed, SiteShare};
use crate::engine::evaluate::AbsentReason;
use crate::engine::plan::{Method, Scope};
use crate::engine::query::Evidence;

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
