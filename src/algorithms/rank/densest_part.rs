//! Restriction of scores to the densest of their connected parts.

use std::cmp::Ordering;

use crate::graph::{HubGraph, NONE, Remaining, UnionFind, number};

use super::principal::TIED;
use super::region::Region;
use super::work::Work;

/// Quantised authority scores with their hub scores.
pub(super) struct Place {
    /// By authority position.
    pub(super) x: Vec<f64>,
    /// `A x`, by hub position.
    pub(super) hubs: Vec<f64>,
    /// `|A x|^2 / |x|^2`, rounded down.
    pub(super) lambda: f64,
}

/// Sets all scores to 0 outside the connected part with the largest quotient `|A x|^2 / |x|^2`. Of
/// tied parts it keeps the one whose best authority has the smallest URL.
pub(super) fn densest_part(
    graph: &HubGraph,
    left: &Remaining,
    region: &Region,
    x: &mut [f64],
    hubs: &mut [f64],
    work: &mut Work,
) {
    // Join the scored authorities of each hub.
    let mut sets = UnionFind::new(x.len());
    let mut parts = x.iter().filter(|score| **score > 0.0).count();
    for (hub, pages) in (0..).zip(region.hub_pages()) {
        if parts <= 1 {
            break;
        }
        if *pages == 0.0 {
            continue;
        }
        let row = region.rows().list(hub);
        *work += row.len() as u64;
        let mut scored = row.iter().filter(|at| x[**at as usize] > 0.0);
        if let Some(first) = scored.next() {
            parts -= scored.filter(|other| sets.union(*first, **other)).count();
        }
    }
    // Hubs without remaining pages do not count.
    for (score, pages) in hubs.iter_mut().zip(region.hub_pages()) {
        if *pages == 0.0 {
            *score = 0.0;
        }
    }
    if parts <= 1 {
        return;
    }
    // Sum both sides of the quotient for each part.
    let (labels, count) = sets.labels(0);
    let mut found = vec![Part::default(); count];
    for (at, score) in x.iter().enumerate().filter(|(_, score)| **score > 0.0) {
        let part = &mut found[labels[at] as usize];
        let page = left.next_authority_page(graph, region.authorities()[at], None);
        part.add_authority(*score, region.authority_pages()[at], page.unwrap_or(NONE));
    }
    let of_hubs: Vec<u32> = (0..number(hubs.len()))
        .map(|hub| {
            let row = region.rows().list(hub);
            *work += row.len() as u64;
            let scored = row.iter().find(|at| x[**at as usize] > 0.0);
            scored.map_or(NONE, |at| labels[*at as usize])
        })
        .collect();
    for ((score, pages), part) in hubs.iter().zip(region.hub_pages()).zip(&of_hubs) {
        if let Some(part) = found.get_mut(*part as usize) {
            part.numerator += pages * score * score;
        }
    }
    let top = found.iter().map(Part::quotient).fold(0.0, f64::max);
    let tied = found.iter().zip(0..);
    let tied = tied.filter(|(part, _)| part.quotient() >= top * (1.0 - TIED));
    let Some((_, chosen)) = tied.min_by_key(|(part, _)| part.page) else {
        return;
    };
    for (score, part) in x.iter_mut().zip(labels) {
        if part != chosen {
            *score = 0.0;
        }
    }
    for (score, part) in hubs.iter_mut().zip(of_hubs) {
        if part != chosen {
            *score = 0.0;
        }
    }
}

/// A connected part of the scores and their hubs.
#[derive(Clone, Copy, Default)]
pub(super) struct Part {
    /// `|A x|^2` of the part.
    pub(super) numerator: f64,
    /// `|x|^2` of the part.
    pub(super) denominator: f64,
    /// The best score.
    pub(super) best: f64,
    /// The smallest page with the best score.
    pub(super) page: u32,
}

impl Part {
    /// Adds an authority class; `page` is the smallest of its `pages` pages.
    pub(super) fn add_authority(&mut self, score: f64, pages: f64, page: u32) {
        self.merge(&Self {
            numerator: 0.0,
            denominator: pages * score * score,
            best: score,
            page,
        });
    }

    /// Adds what another process or slice has of the part.
    pub(super) fn merge(&mut self, other: &Self) {
        self.numerator += other.numerator;
        self.denominator += other.denominator;
        match other.best.total_cmp(&self.best) {
            Ordering::Less => {}
            Ordering::Equal => self.page = self.page.min(other.page),
            Ordering::Greater => (self.best, self.page) = (other.best, other.page),
        }
    }

    /// Returns the quotient; 0 if the part has no score.
    pub(super) fn quotient(&self) -> f64 {
        self.numerator / self.denominator.max(f64::MIN_POSITIVE)
    }
}
