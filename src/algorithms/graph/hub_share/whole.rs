//! The share of a process that has the whole graph: no ghosts, no messages.

use super::build::{ids_of, slice_of_citers, slice_of_targets, sum_of_keys};
use super::{HubShare, SLICES, ShareSide};
use crate::communicator::alone;
use crate::graph::csr::Csr;
use crate::graph::dense_index::{NONE, number};
use crate::graph::hub_graph::{ClassOfPage, HubGraph};

impl HubShare {
    /// Returns the share of a process that has the whole graph, with the classes of the graph: in the order of their smallest
    /// pages. Sums by slice are those over all classes.
    #[must_use]
    pub fn of_graph(graph: HubGraph) -> Self {
        let side = |members: &Csr| {
            let own = number(members.len());
            ShareSide::of_whole(ids_of(members), vec![0, own])
        };
        Self {
            hubs: side(&graph.hub_members),
            authorities: side(&graph.authority_members),
            communicator: alone(),
            graph,
            twins: Default::default(),
        }
    }

    /// Returns the share of a process that has the whole graph, with classes by slice: what is summed over it is what several
    /// processes sum over their shares.
    ///
    /// Memory: while it is built, once more the rows of the graph.
    #[must_use]
    pub fn in_slices(graph: HubGraph) -> Self {
        let HubGraph {
            hub_members,
            authority_members,
            rows,
            citers,
            hub_class,
            authority_class,
        } = graph;
        let (hub_ids, authority_ids) = (ids_of(&hub_members), ids_of(&authority_members));
        let classes = 0..number(authority_members.len());
        let keys = classes.map(|class| sum_of_keys(authority_members.list(class)));
        let keys: Vec<u64> = keys.collect();
        let slices = (0..number(rows.len())).map(|hub| {
            let keys = rows.list(hub).iter().map(|class| keys[*class as usize]);
            slice_of_targets(keys.fold(0, u64::wrapping_add))
        });
        let slices: Vec<u8> = slices.collect();
        let hubs = BySlice::new(&slices, &rows);
        let slices = (0..number(citers.len())).map(|class| {
            let citers = citers.list(class).iter();
            slice_of_citers(citers.map(|hub| (hub_ids[*hub as usize], slices[*hub as usize])))
        });
        let authorities = BySlice::new(&slices.collect::<Vec<u8>>(), &citers);
        // Each list is dropped once it is renumbered.
        let graph = HubGraph {
            rows: hubs.lists(rows, |class| authorities.local[class as usize]),
            citers: authorities.lists(citers, |hub| hubs.local[hub as usize]),
            hub_members: hubs.lists(hub_members, |page| page),
            authority_members: authorities.lists(authority_members, |page| page),
            hub_class: hubs.class_of(hub_class),
            authority_class: authorities.class_of(authority_class),
        };
        Self {
            hubs: hubs.side(&hub_ids),
            authorities: authorities.side(&authority_ids),
            communicator: alone(),
            graph,
            twins: Default::default(),
        }
    }
}

impl ShareSide {
    /// Returns the classes of one side of the whole graph, given the first class of each slice and the number of classes.
    fn of_whole(ids: Vec<u32>, slices: Vec<u32>) -> Self {
        let own = number(ids.len());
        Self {
            ids,
            own,
            slices,
            first_ghosts: vec![own, own],
            mirrors: vec![Vec::new()],
            first_mirrors: vec![0, 0],
            ..Self::default()
        }
    }
}

/// The classes of one side by slice.
struct BySlice {
    /// The number of each class in the order of smallest pages, by new number, and the reverse.
    order: Vec<u32>,
    local: Vec<u32>,
    /// The first class of each slice, and the number of classes.
    firsts: Vec<u32>,
}

impl BySlice {
    /// Numbers classes as [`Numbering`](super::build) does, given their slices and their lists.
    fn new(slices: &[u8], lists: &Csr) -> Self {
        let mut order: Vec<u32> = (0..number(slices.len())).collect();
        let length = |class: u32| lists.range(class).len();
        order.sort_unstable_by_key(|&class| (slices[class as usize], length(class), class));
        let mut local = vec![0; order.len()];
        for (new, &old) in (0..).zip(&order) {
            local[old as usize] = new;
        }
        let first = |slice: usize| {
            let is_before = |class: &u32| usize::from(slices[*class as usize]) < slice;
            number(order.partition_point(is_before))
        };
        Self {
            firsts: (0..=SLICES).map(first).collect(),
            order,
            local,
        }
    }

    /// Returns the lists of classes by new number, with other numbers as entries.
    #[expect(clippy::needless_pass_by_value, reason = "its memory is released")]
    fn lists(&self, lists: Csr, entry: impl Fn(u32) -> u32) -> Csr {
        let mut renumbered = Csr::with_capacity(lists.len(), lists.entries().len());
        for &class in &self.order {
            renumbered.push(lists.list(class).iter().map(|of| entry(*of)));
        }
        renumbered
    }

    fn class_of(&self, mut pages: ClassOfPage) -> ClassOfPage {
        let renumber = |class: &mut u32| {
            if *class != NONE {
                *class = self.local[*class as usize];
            }
        };
        match &mut pages {
            ClassOfPage::Dense(classes) => classes.iter_mut().for_each(renumber),
            ClassOfPage::Sorted(classes) => {
                classes.iter_mut().map(|of| &mut of.1).for_each(renumber);
            }
        }
        pages
    }

    fn side(&self, ids: &[u32]) -> ShareSide {
        let ids = self.order.iter().map(|class| ids[*class as usize]);
        ShareSide::of_whole(ids.collect(), self.firsts.clone())
    }
}
