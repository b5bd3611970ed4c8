//! The list of seeds on the page: how much of it, what searches and sorts it, and where the seeds are.

use std::collections::BTreeMap;

use super::answers::{Report, ReportSeed, SiteShare};
use crate::engine::{AbsentWhy, Evidence, Method, Scope};

/// The longest list that a page has whole; more rows would make browsers slow.
pub(super) const SHOWN: usize = 5_000;
/// A list of fewer seeds is seen at a glance, and its page has no script.
const SEARCHED_FROM: usize = 11;
/// Of how many sites the page tells how many seeds they have.
pub(super) const SITES: usize = 30;

/// Searches and sorts the list.
pub(super) const SCRIPT: &str = include_str!("seeds.js");
/// The SHA-256 of the script in base64, by which the page's policy lets this script run and no other.
pub(super) const SCRIPT_HASH: &str = "0wRyqwDIK6C1CYbGhyEgDQgiA6MsVUMyOTRceRdnX6E=";

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

    /// What the column of the pages that a seed leads to is called.
    pub(super) fn reached_head(&self) -> &'static str {
        if self.is_web() {
            "Reaches (pages)"
        } else {
            "Covers (pages)"
        }
    }

    /// Whether of any seed more is known than that it is one.
    pub(super) fn has_states(&self) -> bool {
        let mut seeds = self.seeds.iter();
        seeds.any(|seed| seed.in_previous.is_some() || seed.dead.is_some())
    }

    /// How many seeds each site has, the one with the most first, ties by name.
    pub(super) fn seed_sites(&self) -> Vec<SiteShare> {
        let mut seeds: BTreeMap<&str, u64> = BTreeMap::new();
        for seed in &self.seeds {
            *seeds.entry(&*seed.seed.site).or_default() += 1;
        }
        let shares = seeds.into_iter().map(|(site, pages)| SiteShare {
            site: site.to_owned(),
            pages,
        });
        let mut shares: Vec<SiteShare> = shares.collect();
        // By name already, and the sort is stable.
        shares.sort_by_key(|share| std::cmp::Reverse(share.pages));
        shares
    }

    /// A part of the seeds in per cent.
    pub(super) fn seed_share(&self, seeds: u64) -> f64 {
        100.0 * seeds as f64 / self.seeds.len().max(1) as f64
    }
}

impl ReportSeed {
    /// What it is, in words, where it can start no crawl any more; `None` while it can.
    pub(super) fn dead_as(&self) -> Option<&'static str> {
        self.dead.map(|why| match why {
            AbsentWhy::Gone => "gone now",
            AbsentWhy::Spam => "spam now",
            AbsentWhy::Alias => "alias now",
            AbsentWhy::Unlinked | AbsentWhy::NotInBank | AbsentWhy::NoUrl => "no page now",
        })
    }

    /// The pages that it covers and what they are worth; `None` where it was not selected by that.
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
