//! Compressed sparse rows: lists of numbers in one array.

use super::dense_index::number;

/// Lists of `u32`, numbered from 0, stored as offsets and entries (compressed sparse rows).
///
/// Memory: 4 bytes per entry and 8 bytes per list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Csr {
    offsets: Vec<usize>,
    entries: Vec<u32>,
}

impl Default for Csr {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            entries: Vec::new(),
        }
    }
}

impl Csr {
    /// Returns no lists, with reserved capacity.
    #[must_use]
    pub fn with_capacity(lists: usize, entries: usize) -> Self {
        let mut offsets = Vec::with_capacity(lists + 1);
        offsets.push(0);
        Self {
            offsets,
            entries: Vec::with_capacity(entries),
        }
    }

    /// Appends one list.
    pub fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        self.entries.extend(list);
        self.offsets.push(self.entries.len());
    }

    /// Appends all lists of `other`.
    pub fn append(&mut self, other: &Self) {
        let before = self.entries.len();
        self.entries.extend_from_slice(&other.entries);
        let ends = other.offsets.iter().skip(1);
        self.offsets.extend(ends.map(|end| before + end));
    }

    /// Returns the entries of the open list: those since the last [`Csr::close`] or [`Csr::push`].
    pub(crate) fn open(&mut self) -> &mut [u32] {
        let from = self.offsets.last().copied().unwrap_or(0);
        &mut self.entries[from..]
    }

    /// Appends entries to the open list.
    pub(crate) fn extend(&mut self, entries: &[u32]) {
        self.entries.extend_from_slice(entries);
    }

    /// Appends the items of an iterator to the open list.
    pub(crate) fn extend_with(&mut self, entries: impl Iterator<Item = u32>) {
        self.entries.extend(entries);
    }

    pub(crate) fn close(&mut self) {
        self.offsets.push(self.entries.len());
    }

    /// Returns one list.
    #[must_use]
    pub fn list(&self, index: u32) -> &[u32] {
        &self.entries[self.range(index)]
    }

    /// Returns the places of a list among all entries.
    pub(crate) fn range(&self, index: u32) -> std::ops::Range<usize> {
        self.offsets[index as usize]..self.offsets[index as usize + 1]
    }

    /// Returns the number of lists.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns whether there is no list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all entries, list after list.
    #[must_use]
    pub fn entries(&self) -> &[u32] {
        &self.entries
    }

    pub(crate) fn longest(&self) -> usize {
        self.offsets
            .windows(2)
            .map(|w| w[1] - w[0])
            .max()
            .unwrap_or(0)
    }

    /// Returns for every number below `columns` the lists that contain it, ascending. Cost: two
    /// passes.
    #[must_use]
    pub fn transpose(&self, columns: usize) -> Self {
        let mut offsets = vec![0_usize; columns + 1];
        for &entry in &self.entries {
            offsets[entry as usize + 1] += 1;
        }
        for column in 0..columns {
            offsets[column + 1] += offsets[column];
        }
        let mut next = offsets.clone();
        let mut entries = vec![0_u32; self.entries.len()];
        for list in 0..number(self.len()) {
            for &entry in self.list(list) {
                let place = &mut next[entry as usize];
                entries[*place] = list;
                *place += 1;
            }
        }
        Self { offsets, entries }
    }
}
