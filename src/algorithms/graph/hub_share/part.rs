//! The part of a share that some weakly connected components of the graph make up.

use std::sync::Arc;

use super::{HubShare, ShareSide};
use crate::graph::csr::Csr;
use crate::graph::dense_index::{NONE, number};
use crate::graph::hub_graph::{ClassOfPage, HubGraph};
use crate::graph::remaining::Remaining;
use crate::graph::role::Role;

/// The place of each local class in a part, by role: hubs, authorities; [`NONE`] for classes outside of it.
pub(crate) type PlacesInPart = [Vec<u32>; 2];

impl HubShare {
    /// Returns the pages of own classes, and the smallest page of each local class, ascending.
    #[must_use]
    pub fn named_pages(&self) -> Vec<u32> {
        let ids = self.hubs.ids.iter().chain(&self.authorities.ids);
        let members = [&self.graph.hub_members, &self.graph.authority_members];
        let members = members.into_iter().flat_map(Csr::entries);
        let mut pages: Vec<u32> = ids.chain(members).copied().collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Returns the places of classes in a part without any.
    pub(crate) fn no_places(&self) -> PlacesInPart {
        [&self.hubs, &self.authorities].map(|side| vec![NONE; side.len()])
    }

    /// Returns the share of a part of the graph, given its local classes, ascending, by role. They must be all local classes
    /// of some components. Pages keep their numbers. `places` has no places, before and afterwards.
    ///
    /// Cost and memory: the links of the part.
    pub(crate) fn part(&self, classes: [&[u32]; 2], places: &mut PlacesInPart) -> Self {
        for (classes, places) in classes.into_iter().zip(&mut *places) {
            for (place, &class) in (0..).zip(classes) {
                places[class as usize] = place;
            }
        }
        let [hubs, authorities] = classes;
        let links = |lists: &Csr, classes: &[u32], places: &[u32]| {
            let mut of_part = Csr::with_capacity(classes.len(), 0);
            for &class in classes {
                let linked = lists.list(class).iter();
                of_part.push(linked.map(|other| places[*other as usize]));
            }
            of_part
        };
        let members = |members: &Csr, classes: &[u32]| {
            let mut of_part = Csr::with_capacity(classes.len(), classes.len());
            for &class in classes {
                of_part.push(members.list(class).iter().copied());
            }
            of_part
        };
        let hub_members = members(&self.graph.hub_members, hubs);
        let authority_members = members(&self.graph.authority_members, authorities);
        let graph = HubGraph {
            rows: links(&self.graph.rows, hubs, &places[1]),
            citers: links(&self.graph.citers, authorities, &places[0]),
            hub_class: class_of_pages(&hub_members),
            authority_class: class_of_pages(&authority_members),
            hub_members,
            authority_members,
        };
        for (classes, places) in classes.into_iter().zip(places) {
            for &class in classes {
                places[class as usize] = NONE;
            }
        }
        Self {
            communicator: Arc::clone(&self.communicator),
            graph,
            hubs: self.hubs.part(hubs),
            authorities: self.authorities.part(authorities),
            twins: Default::default(),
        }
    }

    /// Returns the remaining pages of some local classes. The pages of other classes are not counted, although they are not
    /// removed.
    pub(crate) fn only(
        &self,
        left: &Remaining,
        is_in_part: impl Fn(Role, u32) -> bool,
    ) -> Remaining {
        let mut only = left.clone();
        for role in [Role::Hub, Role::Authority] {
            for class in 0..number(self.side(role).len()) {
                if !is_in_part(role, class) {
                    only.set_pages(role, class, 0);
                }
            }
        }
        only
    }
}

impl ShareSide {
    /// Returns the side of a part of the share, given its local classes, ascending.
    fn part(&self, classes: &[u32]) -> Self {
        let before = |class: &u32| number(classes.partition_point(|of| of < class));
        let own = before(&self.own);
        // The mirrors of own classes by process, in the order of the ghosts there.
        let mut mirrors: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.mirrors.len()];
        for (place, &class) in (0..own).zip(classes) {
            for &mirror in self.mirrors_of(class) {
                let after = self.first_mirrors.partition_point(|first| *first <= mirror);
                if let Some(of_process) = mirrors.get_mut(after.saturating_sub(1)) {
                    of_process.push((mirror, place));
                }
            }
        }
        let mut first_mirrors = vec![0];
        let mut mirrored = Csr::with_capacity(0, 0);
        for of_process in &mut mirrors {
            of_process.sort_unstable();
            for (_, place) in &*of_process {
                mirrored.push([*place]);
            }
            first_mirrors.push(number(mirrored.len()));
        }
        let mirrors = mirrors.into_iter().map(|of_process| {
            let places = of_process.into_iter().map(|(_, place)| place);
            places.collect()
        });
        let ghosts = classes.iter().skip(own as usize);
        let ghost_pages = ghosts.map(|class| (class - self.own) as usize);
        Self {
            ids: classes
                .iter()
                .map(|class| self.ids[*class as usize])
                .collect(),
            own,
            slices: self.slices.iter().map(before).collect(),
            first_ghosts: self.first_ghosts.iter().map(before).collect(),
            mirrors: mirrors.collect(),
            first_mirrors,
            places: if self.places.is_empty() {
                Csr::default()
            } else {
                mirrored.transpose(own as usize)
            },
            ghost_pages: ghost_pages.map(|at| self.ghost_pages[at]).collect(),
        }
    }
}

/// Returns the class of each page, given the pages of each class.
fn class_of_pages(members: &Csr) -> ClassOfPage {
    let classes = 0..number(members.len());
    let pages =
        classes.flat_map(|class| members.list(class).iter().map(move |page| (*page, class)));
    let mut pages: Vec<(u32, u32)> = pages.collect();
    pages.sort_unstable();
    ClassOfPage::Sorted(pages)
}
