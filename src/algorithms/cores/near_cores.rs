//! The pages near each core.
//!
//! A page is near a core if it was left when the core was found, is not part of it, and links to one of its
//! authorities or is linked from one of its hubs: the candidates that extraction did not take. Nearness is
//! stored by class, since the pages of a class have the same links and scores, and only for the first core
//! that a class was near in each role, as a hub and as an authority.

use std::collections::BTreeMap;

use crate::graph::{Csr, HubGraph, HubShare, Remaining, Role};
use crate::rank::{GraphPart, Principal};

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

    /// Adds a new core, given the number of its pages in each local hub class and in each local authority class of `part`, or
    /// of the whole graph. Its pages are removed from the graph before. Returns the own classes that were near no earlier core.
    ///
    /// Cost: the merged entries of the core's hubs and authorities, each class once.
    pub(super) fn add(
        &mut self,
        whole: (&HubShare, &Remaining),
        part: Option<&GraphPart>,
        principal: &Principal,
        rank: u32,
        [hubs, authorities]: &[BTreeMap<u32, u32>; 2],
    ) -> Vec<NearPage> {
        let (share, left) = part.map_or(whole, |part| (&part.share, &part.left));
        let classes = part.map(|part| &part.classes);
        let (graph, region) = (share.graph(), &principal.region);
        let own = |role: Role, linked: Vec<(u32, u32)>| -> Vec<(u32, u32)> {
            let own = share.side(role).own();
            let linked = linked.into_iter();
            linked.filter(|(class, _)| own.contains(class)).collect()
        };
        let linked = linked_with(authorities, graph.citers(), graph.hub_members().len());
        let mut found = fill(
            Slots {
                near: &mut self.hubs,
                classes: classes.map(|of| &*of[0]),
            },
            Role::Hub,
            rank,
            own(Role::Hub, linked),
            |class| left.hubs(class) > 0,
            |class| score_at(&principal.hub_scores, region.hub_position(class)),
            graph.hub_members(),
        );
        let linked = linked_with(hubs, graph.rows(), graph.authority_members().len());
        found.extend(fill(
            Slots {
                near: &mut self.authorities,
                classes: classes.map(|of| &*of[1]),
            },
            Role::Authority,
            rank,
            own(Role::Authority, linked),
            |class| left.authorities(class) > 0,
            |class| {
                let position = region.authority_position(class);
                score_at(&principal.authority_scores, position)
            },
            graph.authority_members(),
        ));
        found
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

/// The first cores that classes of the whole graph were near.
struct Slots<'a> {
    near: &'a mut [Option<Nearness>],
    /// Its classes by their numbers in a part; `None` if these are the same.
    classes: Option<&'a [u32]>,
}

/// Fills the slots of the linked classes that are left and were near no earlier core, and returns these.
fn fill(
    Slots { near, classes }: Slots<'_>,
    role: Role,
    core: u32,
    linked: Vec<(u32, u32)>,
    is_left: impl Fn(u32) -> bool,
    score: impl Fn(u32) -> f64,
    members: &Csr,
) -> Vec<NearPage> {
    let mut new = Vec::new();
    for (class, links) in linked {
        let of_whole = classes.map_or(class, |of| of[class as usize]);
        let slot = &mut near[of_whole as usize];
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
