//! Products and sums over a region, which several processes may share.

use std::ops::Range;

use super::region::Region;
use super::vector_block::{BufferPool, Image};
use super::vectors::{self, add, dot, largest_of, scale};
use super::work::Work;
use crate::graph::{Role, number};
use crate::watch::Interrupted;

/// A vector lies in the span of others if this share of its length is left without them.
const IN_SPAN: f64 = 1e-11;

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

    /// Returns the numbers of pages of the own classes of one side, by position.
    pub(super) fn own_pages(&self, role: Role) -> &[f64] {
        &self.pages(role)[..self.own(role)]
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

    /// Returns `M x` for a vector on the authorities: 0 for classes of a share without remaining links. `work` counts the
    /// reads of all processes, so that it is the same in all of them.
    pub(super) fn image(&self, x: &[f64], work: &mut Work) -> Result<Vec<f64>, Interrupted> {
        let Some(share) = &self.share else {
            return Ok(self.apply_m(x, work));
        };
        work.read(2 * self.entries(), 1);
        let (mut image, mut pulled) = (Vec::new(), Default::default());
        let pages = [Role::Authority, Role::Hub].map(|role| self.pages(role));
        let local = &mut Work::default();
        share.multiply(Role::Authority, pages, x, &mut image, &mut pulled, local)?;
        self.mask(&mut image);
        Ok(image)
    }

    /// Returns `A x` for a vector on the authorities: 0 for hub classes of a share without remaining pages. `work` counts the
    /// reads of all processes.
    pub(super) fn hub_image(&self, x: &[f64], work: &mut Work) -> Result<Vec<f64>, Interrupted> {
        if self.share.is_none() {
            return Ok(self.apply_a(x, work));
        }
        work.read(self.entries(), 1);
        let mut image = self.hubs_of(x, &mut Work::default())?;
        for (entry, pages) in image.iter_mut().zip(self.own_pages(Role::Hub)) {
            if *pages == 0.0 {
                *entry = 0.0;
            }
        }
        Ok(image)
    }

    /// Returns `A x` and `M x` for a vector on the authorities, by position of all of this process: with those of ghosts for
    /// `A x`, which is multiplied by the numbers of pages of the hubs.
    ///
    /// Cost: two visits of each entry.
    pub(super) fn weighted_sums_and_image(
        &self,
        x: &[f64],
        work: &mut Work,
    ) -> Result<(Vec<f64>, Vec<f64>), Interrupted> {
        let local = &mut Work::default();
        let mut sums = self.hubs_of(x, local)?;
        let mut image = self.authorities_of(&sums, local)?;
        work.read(2 * self.entries(), 1);
        self.mask(&mut image);
        for (sum, pages) in sums.iter_mut().zip(self.own_pages(Role::Hub)) {
            *sum *= pages;
        }
        self.pull(Role::Hub, &mut sums)?;
        Ok((sums, image))
    }

    /// Sets the entries of authority classes of a share without remaining links to 0.
    pub(super) fn mask(&self, vector: &mut [f64]) {
        if self.share.is_some() {
            for (at, entry) in vector.iter_mut().enumerate() {
                if !self.is_linked(at) {
                    *entry = 0.0;
                }
            }
        }
    }

    /// Appends the values of ghosts to those of own positions.
    pub(super) fn pull(&self, role: Role, values: &mut Vec<f64>) -> Result<(), Interrupted> {
        let Some(share) = &self.share else {
            return Ok(());
        };
        values.resize(share.side(role).len(), 0.0);
        share.pull(role, values)
    }

    /// Returns the inner products over pages of many vectors on the authorities with one, and of `last` with it.
    pub(super) fn dots(
        &self,
        many: &[Vec<f64>],
        last: &[f64],
        one: &[f64],
    ) -> Result<(Vec<f64>, f64), Interrupted> {
        let pages = self.own_pages(Role::Authority);
        let Some(share) = &self.share else {
            return Ok((vectors::dots(pages, many, one), dot(pages, last, one)));
        };
        let many = || many.iter().map(Vec::as_slice).chain([last]);
        let mut products = share.sum_slice_lists(Role::Authority, many().count(), |range| {
            let (pages, one) = (&pages[range.clone()], &one[range.clone()]);
            let each = many().map(|a| dot(pages, &a[range.clone()], one));
            each.collect()
        })?;
        let last = products.pop().unwrap_or(0.0);
        Ok((products, last))
    }

    /// Returns the lengths over pages of vectors on the authorities.
    pub(super) fn norms(&self, many: &[&[f64]]) -> Result<Vec<f64>, Interrupted> {
        let pages = self.own_pages(Role::Authority);
        let square = |range: Range<usize>, a: &[f64]| {
            let a = &a[range.clone()];
            dot(&pages[range], a, a)
        };
        let squares = match &self.share {
            None => many.iter().map(|a| square(0..pages.len(), a)).collect(),
            Some(share) => share.sum_slice_lists(Role::Authority, many.len(), |range| {
                many.iter().map(|a| square(range.clone(), a)).collect()
            })?,
        };
        Ok(squares.into_iter().map(f64::sqrt).collect())
    }

    /// Makes a vector on the authorities orthogonal over pages to others, which have unit length and are so to each other, and
    /// gives it unit length. Returns `None` if it lies in their span, or has no length.
    ///
    /// Source: Gram-Schmidt, twice; on a share the classical one instead of the modified one, which would take a round of
    /// messages for each of the others.
    pub(super) fn orthonormal(
        &self,
        others: &[Vec<f64>],
        mut vector: Vec<f64>,
    ) -> Result<Option<Vec<f64>>, Interrupted> {
        let has_length = |length: f64| length > 0.0 && length.is_finite();
        if self.share.is_none() {
            let pages = self.authority_pages();
            let length = vectors::norm(pages, &vector);
            if !has_length(length) {
                return Ok(None);
            }
            scale(&mut vector, 1.0 / length);
            for _ in 0..2 {
                let rest = vectors::subtract(pages, others, &mut vector);
                if rest < IN_SPAN {
                    return Ok(None);
                }
                scale(&mut vector, 1.0 / rest);
            }
            return Ok(Some(vector));
        }
        let (coefficients, first_square) = self.dots(others, &vector, &vector)?;
        if !has_length(first_square) {
            return Ok(None);
        }
        for (coefficient, other) in coefficients.into_iter().zip(others) {
            add(&mut vector, -coefficient, other);
        }
        let (coefficients, square) = self.dots(others, &vector, &vector)?;
        // The length after the second pass, by Pythagoras.
        let rest = square - coefficients.iter().map(|c| c * c).sum::<f64>();
        if square < IN_SPAN * IN_SPAN * first_square || !has_length(rest) {
            return Ok(None);
        }
        for (coefficient, other) in coefficients.into_iter().zip(others) {
            add(&mut vector, -coefficient, other);
        }
        scale(&mut vector, 1.0 / rest.sqrt());
        Ok(Some(vector))
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
