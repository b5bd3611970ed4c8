//! Which pages were near a core that was found without them.
//!
//! A page is near a core if it was left when the core was found, is not part of it, and links to
//! one of its authorities or is linked from one of its hubs: these are the candidates that
//! extraction did not take. All of this is kept by class, since the pages of a class have the same
//! links and scores, and only for the first core that a class was near in each role, as a hub and
//! as an authority.

use std::collections::BTreeMap;

use crate::graph::{Csr, HubGraph, Remaining, Role};
use crate::rank::Principal;

use super::core::Core;

/// How near the pages of a class were to a core.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Nearness {
    /// The core's rank, from 1.
    pub core: u32,
    /// The number of the core's pages on the other side that each page is linked with.
    pub links: u32,
    /// The score of one page in the region that the core came from.
    pub score: f64,
}

/// The first core that each class was near; `None` where it was near none.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NearClasses {
    /// By hub class.
    pub hubs: Vec<Option<Nearness>>,
    /// By authority class.
    pub authorities: Vec<Option<Nearness>>,
}

impl NearClasses {
    /// No class is near anything yet.
    pub(super) fn new(graph: &HubGraph) -> Self {
        Self {
            hubs: vec![None; graph.hub_members().len()],
            authorities: vec![None; graph.authority_members().len()],
        }
    }

    /// Adds the core that was found next; `left` is what remains without it. Returns the classes
    /// that were near no earlier core.
    ///
    /// Cost: the merged entries of the core's hubs and authorities, each class once.
    pub(super) fn note(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        principal: &Principal,
        (rank, core): (u32, &Core),
    ) -> Vec<NearPage> {
        let mut found = Vec::new();
        let region = &principal.region;
        let linked = classes(&core.authorities, |page| graph.authority_class(page));
        let near = linked_with(&linked, graph.citers(), self.hubs.len());
        let position = |class| region.hub_position(class);
        let score = |class| self::score(&principal.hub_scores, position(class));
        let kept = keep(&mut self.hubs, near, rank, score, |c| left.hubs(c) > 0);
        let member = |class| graph.hub_members().list(class)[0];
        found.extend(kept.into_iter().map(|(class, near)| NearPage {
            role: Role::Hub,
            page: member(class),
            links: near.links,
            score: near.score,
        }));
        let linking = classes(&core.hubs, |page| graph.hub_class(page));
        let near = linked_with(&linking, graph.rows(), self.authorities.len());
        let position = |class| region.authority_position(class);
        let score = |class| self::score(&principal.authority_scores, position(class));
        let is_left = |class| left.authorities(class) > 0;
        let kept = keep(&mut self.authorities, near, rank, score, is_left);
        let member = |class| graph.authority_members().list(class)[0];
        found.extend(kept.into_iter().map(|(class, near)| NearPage {
            role: Role::Authority,
            page: member(class),
            links: near.links,
            score: near.score,
        }));
        found
    }

    /// Adds what an earlier run found near a core that now has this rank.
    pub(super) fn take(&mut self, graph: &HubGraph, near: &[NearPage], core: u32) {
        for page in near {
            let (slots, class) = match page.role {
                Role::Hub => (&mut self.hubs, graph.hub_class(page.page)),
                Role::Authority => (&mut self.authorities, graph.authority_class(page.page)),
            };
            if let Some(slot) = class.and_then(|class| slots.get_mut(class as usize)) {
                *slot = Some(Nearness {
                    core,
                    links: page.links,
                    score: page.score,
                });
            }
        }
    }
}

/// A class that was near a core and no earlier one, named by one of its pages.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NearPage {
    /// Which of the page's two classes it is.
    pub role: Role,
    /// The page's number.
    pub page: u32,
    /// The number of the core's pages on the other side that each page of the class is linked with.
    pub links: u32,
    /// The score of one page in the region that the core came from.
    pub score: f64,
}

/// How many of the pages are in each class.
fn classes(pages: &[u32], class: impl Fn(u32) -> Option<u32>) -> BTreeMap<u32, u32> {
    let mut counts = BTreeMap::new();
    for class in pages.iter().filter_map(|&page| class(page)) {
        *counts.entry(class).or_default() += 1;
    }
    counts
}

/// The classes that these classes are linked with, each with the number of pages that link.
fn linked_with(from: &BTreeMap<u32, u32>, links: &Csr, classes: usize) -> Vec<(u32, u32)> {
    let mut sums = vec![0_u32; classes];
    let mut found = Vec::new();
    for (&class, &pages) in from {
        for &other in links.list(class) {
            let sum = &mut sums[other as usize];
            if *sum == 0 {
                found.push(other);
            }
            *sum += pages;
        }
    }
    let with_sums = found.into_iter();
    with_sums.map(|c| (c, sums[c as usize])).collect()
}

/// The score at a position; 0 outside the region.
fn score(scores: &[f64], position: Option<u32>) -> f64 {
    let score = position.and_then(|at| scores.get(at as usize));
    score.copied().unwrap_or(0.0)
}

/// Keeps those that are left and were not near an earlier core, and returns them.
fn keep(
    kept: &mut [Option<Nearness>],
    near: Vec<(u32, u32)>,
    core: u32,
    score: impl Fn(u32) -> f64,
    is_left: impl Fn(u32) -> bool,
) -> Vec<(u32, Nearness)> {
    let mut new = Vec::new();
    for (class, links) in near {
        let slot = &mut kept[class as usize];
        if slot.is_none() && is_left(class) {
            let score = score(class);
            new.push((class, *slot.insert(Nearness { core, links, score })));
        }
    }
    new
}
