//! Start vectors of a search, on the hubs or on the authorities of a region.

use super::region::Region;
use super::work::Work;

/// Vectors on the positions of a region, one entry for a page of each class.
#[derive(Clone, Debug)]
pub(crate) enum StartVectors {
    Hubs(Vec<Vec<f64>>),
    Authorities(Vec<Vec<f64>>),
}

impl Default for StartVectors {
    fn default() -> Self {
        Self::Authorities(Vec::new())
    }
}

impl StartVectors {
    /// Converts to vectors on the hubs. Cost: one visit of each entry per converted vector.
    pub(super) fn on_hubs(self, region: &Region, work: &mut Work) -> Vec<Vec<f64>> {
        match self {
            Self::Hubs(vectors) => vectors,
            Self::Authorities(vectors) => {
                let vectors = vectors.iter();
                vectors.map(|vector| region.apply_a(vector, work)).collect()
            }
        }
    }

    /// Converts to vectors on the authorities, at the same cost.
    pub(super) fn on_authorities(self, region: &Region, work: &mut Work) -> Vec<Vec<f64>> {
        match self {
            Self::Authorities(vectors) => vectors,
            Self::Hubs(vectors) => {
                let vectors = vectors.iter();
                vectors
                    .map(|vector| region.apply_at(vector, work))
                    .collect()
            }
        }
    }

    /// Returns the vectors of either side.
    pub(super) fn vectors(&self) -> &[Vec<f64>] {
        let (Self::Hubs(vectors) | Self::Authorities(vectors)) = self;
        vectors
    }

    /// Clones the first `count` vectors.
    pub(super) fn first(&self, count: usize) -> Self {
        let first = |vectors: &[Vec<f64>]| vectors.iter().take(count).cloned().collect();
        match self {
            Self::Hubs(vectors) => Self::Hubs(first(vectors)),
            Self::Authorities(vectors) => Self::Authorities(first(vectors)),
        }
    }

    /// Keeps the first `count` vectors.
    pub(super) fn truncated(mut self, count: usize) -> Self {
        let (Self::Hubs(vectors) | Self::Authorities(vectors)) = &mut self;
        vectors.truncate(count);
        self
    }

    /// Maps the vectors to another region: zero for classes that are new there.
    pub(super) fn carried(&self, from: &Region, to: &Region) -> Self {
        match self {
            Self::Hubs(vectors) => {
                let (from, new) = (from.hubs_by_class(), to.hubs_by_class());
                Self::Hubs(carried(vectors, from, new, to.hubs().len()))
            }
            Self::Authorities(vectors) => {
                let (from, new) = (from.authorities_by_class(), to.authorities_by_class());
                Self::Authorities(carried(vectors, from, new, to.authorities().len()))
            }
        }
    }

    /// Returns the entries of the first `count` vectors for these authority classes. Cost: for
    /// vectors on the hubs the citers of these classes.
    pub(super) fn at(&self, region: &Region, classes: &[u32], count: usize) -> Vec<Vec<f64>> {
        let entry = |vector: &Vec<f64>, at: u32| match self {
            Self::Authorities(_) => vector[at as usize],
            Self::Hubs(_) => {
                let citers = region.citers().list(at).iter();
                let pages = region.hub_pages();
                citers
                    .map(|&hub| pages[hub as usize] * vector[hub as usize])
                    .sum()
            }
        };
        let positions: Vec<Option<u32>> = classes
            .iter()
            .map(|class| region.authority_position(*class))
            .collect();
        let on = |vector: &Vec<f64>| -> Vec<f64> {
            let positions = positions.iter();
            positions
                .map(|at| at.map_or(0.0, |at| entry(vector, at)))
                .collect()
        };
        self.vectors().iter().take(count).map(on).collect()
    }
}

/// Maps vectors to other positions; both lists are ascending by class.
fn carried(
    vectors: &[Vec<f64>],
    from: impl Iterator<Item = (u32, u32)>,
    to: impl Iterator<Item = (u32, u32)>,
    size: usize,
) -> Vec<Vec<f64>> {
    let mut new = vec![vec![0.0; size]; vectors.len()];
    let mut from = from.peekable();
    for (class, at) in to {
        while from.next_if(|(other, _)| *other < class).is_some() {}
        if let Some((_, old)) = from.next_if(|(other, _)| *other == class) {
            for (new, vector) in new.iter_mut().zip(vectors) {
                new[at as usize] = vector[old as usize];
            }
        }
    }
    new
}
