//! Products over a graph that several processes share.
//!
//! A product pulls: every sum is made by one process, over a list in the order of classes, from values of ghosts that their
//! owners send. Sums over all classes are those of slices, in order. So results do not depend on the number of processes.

use std::ops::Deref;
use std::sync::Arc;

use rayon::prelude::*;

use super::vectors::dot;
use super::work::Work;
use crate::graph::{Csr, HubShare, Role};
use crate::watch::Interrupted;

/// Sums of fewer entries run on one thread.
const PARALLEL: usize = 1 << 15;

/// The share of a process, with what is the same in all processes.
#[derive(Clone, Debug)]
pub(super) struct RegionShare {
    share: Arc<HubShare>,
    /// The number of hub classes, and of authority classes, of all processes.
    pub(super) counts: [u64; 2],
    /// The number of links between classes.
    pub(super) entries: u64,
    longest: usize,
}

impl Deref for RegionShare {
    type Target = HubShare;

    fn deref(&self) -> &HubShare {
        &self.share
    }
}

impl RegionShare {
    pub(super) fn new(share: Arc<HubShare>) -> Result<Self, Interrupted> {
        let of = |role: Role| {
            let lists = lists(&share, role);
            let own = share.side(role).own();
            let lengths = own.map(|class| lists.list(class).len() as u64);
            let longest = lengths.clone().max().unwrap_or(0);
            (share.side(role).own().len() as u64, lengths.sum(), longest)
        };
        let (hubs, entries, longest_row) = of(Role::Hub);
        let (authorities, _, longest_citers): (_, u64, _) = of(Role::Authority);
        let [hubs, authorities, entries] = share.sum([hubs, authorities, entries])?;
        let longest = share.largest([longest_row, longest_citers])?;
        let longest = longest.into_iter().fold(0, u64::saturating_add);
        Ok(Self {
            counts: [hubs, authorities],
            entries,
            longest: usize::try_from(longest).unwrap_or(usize::MAX),
            share,
        })
    }

    /// Returns the sum of the lengths of the longest row and the longest list of citers.
    pub(super) const fn longest(&self) -> usize {
        self.longest
    }

    /// Sets `weighted` to values of local classes, those of own ones multiplied by their numbers of pages. There is room for
    /// ghosts.
    fn weigh(&self, role: Role, pages: &[f64], values: &[f64], weighted: &mut Vec<f64>) {
        weighted.clear();
        let own = pages.iter().zip(values).take(self.side(role).own().len());
        weighted.extend(own.map(|(pages, value)| pages * value));
        weighted.resize(self.side(role).len(), 0.0);
    }

    /// Sets `sums` to those of the lists of own classes.
    fn sum_lists(&self, role: Role, values: &[f64], sums: &mut Vec<f64>, work: &mut Work) {
        let lists = lists(&self.share, role);
        let own = self.side(role).own();
        let sum = |class: u32| -> f64 {
            let entries = lists.list(class).iter();
            entries.map(|&entry| values[entry as usize]).sum()
        };
        *work += own
            .end
            .checked_sub(1)
            .map_or(0, |last| lists.range(last).end as u64);
        if lists.entries().len() < PARALLEL {
            sums.clear();
            sums.extend(own.map(sum));
        } else {
            let all = own.into_par_iter().with_min_len(512).map(sum);
            all.collect_into_vec(sums);
        }
    }

    /// Returns the sums of the lists of own classes on one side over a vector on the other one, whose classes have these
    /// numbers of pages.
    pub(super) fn image(
        &self,
        role: Role,
        other_pages: &[f64],
        x: &[f64],
        work: &mut Work,
    ) -> Result<Vec<f64>, Interrupted> {
        let (mut weighted, mut sums) = (Vec::new(), Vec::new());
        self.weigh(role.other(), other_pages, x, &mut weighted);
        self.pull(role.other(), &mut weighted)?;
        self.sum_lists(role, &weighted, &mut sums, work);
        Ok(sums)
    }

    /// Sets `image` to that of a vector on the classes of one side under the product over both. Returns its product with the
    /// vector. `buffers` are reused, because new memory for each product would cost as much as reading the links.
    pub(super) fn multiply(
        &self,
        role: Role,
        [pages, other_pages]: [&[f64]; 2],
        x: &[f64],
        image: &mut Vec<f64>,
        [weighted, sums]: &mut [Vec<f64>; 2],
        work: &mut Work,
    ) -> Result<f64, Interrupted> {
        let other = role.other();
        self.weigh(role, pages, x, weighted);
        self.pull(role, weighted)?;
        self.sum_lists(other, weighted, sums, work);
        let slices = self.side(other).slices().map(|range| {
            let (pages, sums) = (&other_pages[range.clone()], &sums[range]);
            dot(pages, sums, sums)
        });
        let slices: Vec<f64> = slices.collect();
        self.weigh(other, other_pages, sums, weighted);
        let square = self.pull_and_sum(other, weighted, &slices)?;
        self.sum_lists(role, weighted, image, work);
        Ok(square)
    }
}

/// Returns the links of the classes of one side.
const fn lists(share: &HubShare, role: Role) -> &Csr {
    match role {
        Role::Hub => share.graph().rows(),
        Role::Authority => share.graph().citers(),
    }
}
