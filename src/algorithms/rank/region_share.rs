//! Products and sums over the region of a graph, which several processes may share.
//!
//! A product pulls: every sum is made by one process, over a list in the order of classes, from values of ghosts that their
//! owners send. Sums over all classes are those of slices, in order. So results do not depend on the number of processes.

use std::ops::{Deref, Range};
use std::sync::Arc;

use rayon::prelude::*;

use super::region::Region;
use super::vector_block::{BufferPool, Image};
use super::vectors::{dot, largest_of};
use super::work::Work;
use crate::graph::{Csr, HubShare, Role, number};
use crate::watch::Interrupted;

/// Sums of fewer entries run on one thread.
const PARALLEL: usize = 1 << 15;

/// The share of a process, with what is the same in all processes.
#[derive(Clone, Debug)]
pub(super) struct RegionShare {
    share: Arc<HubShare>,
    /// The number of hub classes, and of authority classes, of all processes.
    counts: [u64; 2],
    /// The number of links between classes.
    entries: u64,
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

    /// Returns values of local classes, those of own ones multiplied by their numbers of pages. There is room for ghosts.
    fn weighted(&self, role: Role, pages: &[f64], values: &[f64]) -> Vec<f64> {
        let mut weighted = Vec::with_capacity(self.side(role).len());
        let own = pages.iter().zip(values).take(self.side(role).own().len());
        weighted.extend(own.map(|(pages, value)| pages * value));
        weighted.resize(self.side(role).len(), 0.0);
        weighted
    }

    /// Returns the sums of the lists of own classes.
    fn sum_lists(&self, role: Role, values: &[f64], work: &mut Work) -> Vec<f64> {
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
            own.map(sum).collect()
        } else {
            own.into_par_iter().with_min_len(512).map(sum).collect()
        }
    }

    /// Returns the image of a vector on the classes of one side under the product over both, and its product with the
    /// vector.
    fn multiply(
        &self,
        role: Role,
        [pages, other_pages]: [&[f64]; 2],
        x: &[f64],
        work: &mut Work,
    ) -> Result<Image, Interrupted> {
        let other = role.other();
        let mut weighted = self.weighted(role, pages, x);
        self.pull(role, &mut weighted)?;
        let sums = self.sum_lists(other, &weighted, work);
        let slices = self.side(other).slices().map(|range| {
            let (pages, sums) = (&other_pages[range.clone()], &sums[range]);
            dot(pages, sums, sums)
        });
        let slices: Vec<f64> = slices.collect();
        let mut weighted = self.weighted(other, other_pages, &sums);
        let square = self.pull_and_sum(other, &mut weighted, &slices)?;
        Ok((self.sum_lists(role, &weighted, work), square))
    }
}

/// Returns the links of the classes of one side.
const fn lists(share: &HubShare, role: Role) -> &Csr {
    match role {
        Role::Hub => share.graph().rows(),
        Role::Authority => share.graph().citers(),
    }
}

impl Region {
    /// Returns the numbers of pages of the classes of one side, by position.
    pub(super) fn pages(&self, role: Role) -> &[f64] {
        match role {
            Role::Hub => self.hub_pages(),
            Role::Authority => self.authority_pages(),
        }
    }

    /// Returns the number of own positions of one side. Those of ghosts follow.
    pub(super) fn own(&self, role: Role) -> usize {
        match &self.share {
            Some(share) => share.side(role).own().len(),
            None => self.pages(role).len(),
        }
    }

    /// Returns the number of positions of one side in all processes.
    pub(super) fn count(&self, role: Role) -> usize {
        match &self.share {
            Some(share) => {
                let [hubs, authorities] = share.counts;
                let count = match role {
                    Role::Hub => hubs,
                    Role::Authority => authorities,
                };
                usize::try_from(count).unwrap_or(usize::MAX)
            }
            None => self.pages(role).len(),
        }
    }

    /// Returns the number of links between classes in all processes.
    pub(super) fn entries(&self) -> usize {
        match &self.share {
            Some(share) => usize::try_from(share.entries).unwrap_or(usize::MAX),
            None => self.rows().entries().len(),
        }
    }

    /// Returns sums over the positions of one side in all processes, given sums over ranges of own ones.
    pub(super) fn sums<const N: usize>(
        &self,
        role: Role,
        mut of_range: impl FnMut(Range<usize>) -> [f64; N],
    ) -> Result<[f64; N], Interrupted> {
        match &self.share {
            Some(share) => share.sum_slices(role, of_range),
            None => Ok(of_range(0..self.pages(role).len())),
        }
    }

    /// Returns the Euclidean length over pages of a vector on one side.
    pub(super) fn norm(&self, role: Role, vector: &[f64]) -> Result<f64, Interrupted> {
        let pages = self.pages(role);
        let [square] = self.sums(role, |range| {
            let (pages, vector) = (&pages[range.clone()], &vector[range]);
            [dot(pages, vector, vector)]
        })?;
        Ok(square.sqrt())
    }

    /// Returns the largest of the nonnegative numbers of the positions of one side in all processes; 0 if there are none.
    pub(super) fn largest(
        &self,
        role: Role,
        number: impl Fn(usize) -> f64 + Sync,
    ) -> Result<f64, Interrupted> {
        let own = largest_of(self.own(role), number);
        match &self.share {
            // The bits of nonnegative floats are in their order.
            Some(share) => Ok(f64::from_bits(share.largest([own.to_bits()])?[0])),
            None => Ok(own),
        }
    }

    /// Returns the sums of counts over all processes.
    pub(super) fn sum_counts<const N: usize>(
        &self,
        own: [u64; N],
    ) -> Result<[u64; N], Interrupted> {
        match &self.share {
            Some(share) => share.sum(own),
            None => Ok(own),
        }
    }

    /// Returns `A x` from the scores of authorities of all processes.
    pub(super) fn hubs_of(&self, x: &[f64], work: &mut Work) -> Result<Vec<f64>, Interrupted> {
        match &self.share {
            Some(share) => {
                let mut weighted = share.weighted(Role::Authority, self.authority_pages(), x);
                share.pull(Role::Authority, &mut weighted)?;
                Ok(share.sum_lists(Role::Hub, &weighted, work))
            }
            None => Ok(self.apply_a(x, work)),
        }
    }

    /// Returns `A^T h` from the scores of hubs of all processes.
    pub(super) fn authorities_of(
        &self,
        h: &[f64],
        work: &mut Work,
    ) -> Result<Vec<f64>, Interrupted> {
        match &self.share {
            Some(share) => {
                let mut weighted = share.weighted(Role::Hub, self.hub_pages(), h);
                share.pull(Role::Hub, &mut weighted)?;
                Ok(share.sum_lists(Role::Authority, &weighted, work))
            }
            None => Ok(self.apply_at(h, work)),
        }
    }

    /// Returns `M x` for a vector on the authorities, or `N x` for one on the hubs, and its product with the vector.
    pub(super) fn multiply(
        &self,
        role: Role,
        x: &[f64],
        pool: &mut BufferPool,
        work: &mut Work,
    ) -> Result<Image, Interrupted> {
        if let Some(share) = &self.share {
            let pages = [role, role.other()].map(|role| self.pages(role));
            return share.multiply(role, pages, x, work);
        }
        let side = match role {
            Role::Hub => self.hub_side(),
            Role::Authority => self.authority_side(),
        };
        Ok(pool.multiply(side, x, work))
    }

    /// Returns the largest of the counts of all processes.
    pub(super) fn largest_counts<const N: usize>(
        &self,
        own: [u64; N],
    ) -> Result<[u64; N], Interrupted> {
        match &self.share {
            Some(share) => share.largest(own),
            None => Ok(own),
        }
    }

    /// Returns which statements hold in any process.
    pub(super) fn any(&self, own: Vec<bool>) -> Result<Vec<bool>, Interrupted> {
        match &self.share {
            Some(share) => share.any(own),
            None => Ok(own),
        }
    }

    /// Adds the values of ghosts to those of their owners, which must be exact in any order of summation, and removes
    /// them.
    pub(super) fn fold_ghosts(&self, role: Role, values: &mut Vec<f64>) -> Result<(), Interrupted> {
        let ghosts = number(self.own(role))..number(values.len());
        let mut changed = ghosts.filter(|at| values[*at as usize] != 0.0).collect();
        self.fold_sparse_ghosts(role, &mut changed, values, [])?;
        values.truncate(self.own(role));
        Ok(())
    }

    /// Adds the values of the ghosts among `changed` to those of their owners, as [`Region::fold_ghosts`] does. `changed`
    /// becomes a list of own positions that changed, perhaps with repetitions. Returns the sums of counts over all
    /// processes.
    pub(super) fn fold_sparse_ghosts<const N: usize>(
        &self,
        role: Role,
        changed: &mut Vec<u32>,
        values: &mut [f64],
        counts: [u64; N],
    ) -> Result<[u64; N], Interrupted> {
        match &self.share {
            Some(share) => share.fold_ghosts(role, changed, values, counts),
            None => Ok(counts),
        }
    }

    /// Tells other processes values of own positions. Returns the values that they tell of ghosts.
    pub(super) fn announce(
        &self,
        role: Role,
        values: &[(u32, f64)],
    ) -> Result<Vec<(u32, f64)>, Interrupted> {
        match &self.share {
            Some(share) => share.announce(role, values),
            None => Ok(Vec::new()),
        }
    }
}
