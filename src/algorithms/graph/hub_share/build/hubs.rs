//! Hub classes: equal rows of all processes are merged.

use super::places::{Places, read_list, slice_of_targets, sum_of_keys, write_list};
use crate::graph::build::{Rows, equal_lists};
use crate::graph::csr::Csr;
use crate::graph::dense_index::number;
use crate::graph::exchange::{exchange, malformed};
use crate::watch::Interrupted;

/// The hub classes of a process, in the order of their smallest pages.
pub(super) struct Hubs {
    pub(super) members: Csr,
    /// The pages that each class links to.
    pub(super) targets: Csr,
    pub(super) slices: Vec<u8>,
}

impl Hubs {
    /// Sends rows to the processes of their hub classes, and merges equal ones.
    pub(super) fn merge(places: Places<'_>, rows: &Rows) -> Result<Self, Interrupted> {
        let mut all = Rows::new();
        let (mut carriers, mut targets) = (Vec::new(), Vec::new());
        let mut next = 0..number(rows.targets.len());
        exchange(
            places.communicator,
            |messages| {
                let Some(row) = next.next() else {
                    return false;
                };
                let targets = rows.targets.list(row);
                let process = places.of_slice(slice_of_targets(sum_of_keys(targets)));
                write_list(&mut messages[process], rows.carriers.list(row));
                write_list(&mut messages[process], targets);
                true
            },
            |_, message| {
                read_list(message, &mut carriers)?;
                read_list(message, &mut targets)?;
                all.push(&carriers, &targets).ok()
            },
        )?;
        let numbers: Vec<u32> = (0..number(all.targets.len())).collect();
        let (members, targets) = all.hubs(equal_lists(&numbers, &all.targets).slices());
        let slices =
            (0..number(targets.len())).map(|hub| slice_of_targets(sum_of_keys(targets.list(hub))));
        let slices: Vec<u8> = slices.collect();
        let is_own = |slice: &u8| places.of_slice(*slice) == places.communicator.process();
        if !slices.iter().all(is_own) {
            return Err(malformed(places.communicator));
        }
        Ok(Self {
            members,
            targets,
            slices,
        })
    }
}
