//! Local numbers of classes.

use super::super::{SLICES, ShareSide};
use super::places::{ClassKey, Places};
use crate::graph::csr::Csr;
use crate::graph::dense_index::number;
use crate::graph::hub_graph::ClassOfPage;

/// The local numbers of the own classes of one side, and its ghosts.
pub(super) struct Numbering {
    pub(super) side: ShareSide,
    /// The number of each own class in the order of smallest pages, by local number, and the reverse.
    pub(super) order: Vec<u32>,
    pub(super) local: Vec<u32>,
}

impl Numbering {
    /// Numbers own classes, given their smallest pages (ascending), their slices and the lengths of their lists, and the
    /// ghosts that others have and are. `linked` has an own class with each class of the other side that it is linked
    /// with, and `ghosts` the classes of this side that are linked with own ones of the other.
    pub(super) fn new(
        places: Places<'_>,
        (ids, slices, lengths): (&[u32], &[u8], &[usize]),
        linked: impl Iterator<Item = (u32, u8)>,
        ghosts: impl Iterator<Item = ClassKey>,
    ) -> Self {
        let process = places.communicator.process();
        let mut order: Vec<u32> = (0..number(ids.len())).collect();
        // Lists of equal lengths follow each other, because then the processor predicts the end of each.
        order.sort_unstable_by_key(|&at| (slices[at as usize], lengths[at as usize], at));
        let mut local = vec![0; ids.len()];
        for (new, &old) in (0..).zip(&order) {
            local[old as usize] = new;
        }
        let mut side = ShareSide {
            ids: order.iter().map(|&at| ids[at as usize]).collect(),
            own: number(ids.len()),
            ..ShareSide::default()
        };
        for slice in (0..SLICES).filter_map(|slice| u8::try_from(slice).ok()) {
            if places.of_slice(slice) == process {
                let before = |at: &u32| slices[*at as usize] < slice;
                side.slices.push(number(order.partition_point(before)));
            }
        }
        side.slices.push(side.own);
        let mut mirrors: Vec<Vec<u32>> = vec![Vec::new(); places.processes];
        for (class, slice) in linked {
            let owner = places.of_slice(slice);
            if owner != process {
                mirrors[owner].push(class);
            }
        }
        for of_process in &mut mirrors {
            // In the order of smallest pages.
            of_process.sort_unstable();
            of_process.dedup();
            for class in of_process {
                *class = local[*class as usize];
            }
        }
        let mut of_places = Csr::default();
        for of_process in &mirrors {
            side.first_mirrors.push(number(of_places.len()));
            for &class in of_process {
                of_places.push([class]);
            }
        }
        side.first_mirrors.push(number(of_places.len()));
        side.places = of_places.transpose(ids.len());
        side.mirrors = mirrors;
        let others = ghosts.filter(|ghost| places.of_slice(ghost.1) != process);
        let mut ghosts: Vec<(usize, u32)> = others
            .map(|(id, slice)| (places.of_slice(slice), id))
            .collect();
        ghosts.sort_unstable();
        ghosts.dedup();
        for at in 0..=places.processes {
            let before = ghosts.partition_point(|ghost| ghost.0 < at);
            side.first_ghosts.push(side.own + number(before));
        }
        side.ids.extend(ghosts.into_iter().map(|(_, id)| id));
        Self { side, order, local }
    }

    /// Returns the local number of a class.
    pub(super) fn of_key(
        &self,
        places: Places<'_>,
        (id, slice): ClassKey,
        ids: &[u32],
    ) -> Option<u32> {
        let owner = places.of_slice(slice);
        if owner == places.communicator.process() {
            Some(self.local[ids.binary_search(&id).ok()?])
        } else {
            self.side.ghost(owner, id)
        }
    }

    /// Returns the members of local classes; ghosts have none.
    pub(super) fn members(&self, members: &Csr) -> (Csr, ClassOfPage) {
        let mut of_local = Csr::with_capacity(self.side.len(), members.entries().len());
        let mut class_of = Vec::with_capacity(members.entries().len());
        for (class, &at) in (0..).zip(&self.order) {
            let pages = members.list(at);
            class_of.extend(pages.iter().map(|page| (*page, class)));
            of_local.push(pages.iter().copied());
        }
        for _ in self.order.len()..self.side.len() {
            of_local.push([]);
        }
        class_of.sort_unstable();
        (of_local, ClassOfPage::Sorted(class_of))
    }
}
