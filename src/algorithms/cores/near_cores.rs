//! The pages near each core.
//!
//! A page is near a core if it was left when the core was found, is not part of it, and links to one of its
//! authorities or is linked from one of its hubs: the candidates that extraction did not take. Nearness is
//! stored by class, since the pages of a class have the same links and scores, and only for the first core
//! that a class was near in each role, as a hub and as an authority.

use std::collections::BTreeMap;

use crate::graph::{Csr, HubGraph, HubShare, Remaining, Role};
use crate::rank::Principal;

use super::core::Core;

/// The relation of a class to a core that it is near.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Nearness {
    /// The core's rank, from 1.
    pub core: u32,
    /// The number of the core's pages on the other side that each page is linked with.
    pub links: u32,
    /// The score of one page in the region of the core.
    pub score: f64,
}

/// The first core that each class was near; `None` if it was near none.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NearClasses {
    /// By hub class.
    pub hubs: Vec<Option<Nearness>>,
    /// By authority class.
    pub authorities: Vec<Option<Nearness>>,
}

impl NearClasses {
    /// No class is near any core.
    pub(super) fn new(graph: &HubGraph) -> Self {
        Self {
            hubs: vec![None; graph.hub_members().len()],
            authorities: vec![None; graph.authority_members().len()],
        }
    }

    /// Adds a new core; `left` has the pages that remain without it. Returns the classes that were near no
    /// earlier core.
    ///
    /// Cost: the merged entries of the core's hubs and authorities, each class once.
    pub(super) fn add(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        principal: &Principal,
        rank: u32,
        core: &Core,
    ) -> Vec<NearPage> {
        let region = &principal.region;
        let authorities = classes(&core.authorities, |page| graph.authority_class(page));
        let mut found = fill(
            &mut self.hubs,
            Role::Hub,
            rank,
            linked_with(&authorities, graph.citers(), graph.hub_members().len()),
            |class| left.hubs(class) > 0,
            |class| score_at(&principal.hub_scores, region.hub_position(class)),
            graph.hub_members(),
        );
        let hubs = classes(&core.hubs, |page| graph.hub_class(page));
        found.extend(fill(
            &mut self.authorities,
            Role::Authority,
            rank,
            linked_with(&hubs, graph.rows(), graph.authority_members().len()),
            |class| left.authorities(class) > 0,
            |class| {
                let position = region.authority_position(class);
                score_at(&principal.authority_scores, position)
            },
            graph.authority_members(),
        ));
        found
    }

    /// Adds a new core of a graph that several processes share, given the number of its pages in each local hub class and
    /// in each local authority class. Classes of other processes are left out.
    pub(super) fn add_shared(
        &mut self,
        share: &HubShare,
        left: &Remaining,
        principal: &Principal,
        rank: u32,
        [hubs, authorities]: &[BTreeMap<u32, u32>; 2],
    ) {
        let graph = share.graph();
        let own = |role: Role, linked: Vec<(u32, u32)>| -> Vec<(u32, u32)> {
            let own = share.side(role).own();
            let linked = linked.into_iter();
            linked.filter(|(class, _)| own.contains(class)).collect()
        };
        let linked = linked_with(authorities, graph.citers(), graph.hub_members().len());
        fill(
            &mut self.hubs,
            Role::Hub,
            rank,
            own(Role::Hub, linked),
            |class| left.hubs(class) > 0,
            |class| score_at(&principal.hub_scores, Some(class)),
            graph.hub_members(),
        );
        let linked = linked_with(hubs, graph.rows(), graph.authority_members().len());
        fill(
            &mut self.authorities,
            Role::Authority,
            rank,
            own(Role::Authority, linked),
            |class| left.authorities(class) > 0,
            |class| score_at(&principal.authority_scores, Some(class)),
            graph.authority_members(),
        );
    }

    /// Adds a class that another process has found near a core, unless it was near an earlier one.
    pub(super) fn add_page(&mut self, graph: &HubGraph, near: NearPage, core: u32) {
        let NearPage {
            role, links, score, ..
        } = near;
        let (slots, class) = match role {
            Role::Hub => (&mut self.hubs, graph.hub_class(near.page)),
            Role::Authority => (&mut self.authorities, graph.authority_class(near.page)),
        };
        if let Some(slot) = class.and_then(|class| slots.get_mut(class as usize)) {
            slot.get_or_insert(Nearness { core, links, score });
        }
    }

    /// Adds a reused core, which now has the rank `core`, with the classes near it.
    pub(super) fn add_cached(&mut self, graph: &HubGraph, near: &[NearPage], core: u32) {
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

/// A class near a core and near no earlier one, identified by one of its pages.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NearPage {
    /// Which of the page's two classes it is.
    pub role: Role,
    /// The page's number.
    pub page: u32,
    /// The number of the core's pages on the other side that each page of the class is linked with.
    pub links: u32,
    /// The score of one page in the region of the core.
    pub score: f64,
}

/// Returns the number of the pages in each class.
fn classes(pages: &[u32], class: impl Fn(u32) -> Option<u32>) -> BTreeMap<u32, u32> {
    let mut counts = BTreeMap::new();
    for class in pages.iter().filter_map(|&page| class(page)) {
        *counts.entry(class).or_default() += 1;
    }
    counts
}

/// The classes that are linked with `from`, each with the number of pages that it is linked with.
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
fn score_at(scores: &[f64], position: Option<u32>) -> f64 {
    let score = position.and_then(|at| scores.get(at as usize));
    score.copied().unwrap_or(0.0)
}

/// Fills the slots of the linked classes that are left and were near no earlier core, and returns these.
fn fill(
    slots: &mut [Option<Nearness>],
    role: Role,
    core: u32,
    linked: Vec<(u32, u32)>,
    is_left: impl Fn(u32) -> bool,
    score: impl Fn(u32) -> f64,
    members: &Csr,
) -> Vec<NearPage> {
    let mut new = Vec::new();
    for (class, links) in linked {
        let slot = &mut slots[class as usize];
        if slot.is_none() && is_left(class) {
            let score = score(class);
            *slot = Some(Nearness { core, links, score });
            new.push(NearPage {
                role,
                page: members.list(class)[0],
                links,
                score,
            });
        }
    }
    new
}
