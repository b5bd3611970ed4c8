//! Products and sums over a region, which several processes may share.

use std::ops::Range;

use super::region::Region;
use super::vector_block::{BufferPool, Image};
use super::vectors::{dot, largest_of};
use super::work::Work;
use crate::graph::{Role, number};
use crate::watch::Interrupted;

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

    /// Returns whether an own authority class has remaining pages and links.
    pub(super) fn is_linked(&self, at: usize) -> bool {
        self.authority_pages()[at] > 0.0 && self.citing_pages()[at] > 0.0
    }

    /// Returns whether any process has a link left.
    pub(super) fn has_links(&self) -> Result<bool, Interrupted> {
        let is_any_linked = (0..self.own(Role::Authority)).any(|at| self.is_linked(at));
        Ok(self.sum_counts([is_any_linked.into()])? != [0])
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
            Some(share) => share.image(Role::Hub, self.authority_pages(), x, work),
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
            Some(share) => share.image(Role::Authority, self.hub_pages(), h, work),
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
            let mut image = pool.take();
            let square = share.multiply(role, pages, x, &mut image, &mut pool.pulled, work)?;
            return Ok((image, square));
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
