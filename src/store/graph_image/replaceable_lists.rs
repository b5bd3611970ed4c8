//! Lists of numbers that can be replaced one by one.

/// Lists of `u32`, numbered from 0, in one array.
///
/// Memory: 4 bytes per entry and 12 per list. A replaced list keeps its space.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Lists {
    starts: Vec<usize>,
    lengths: Vec<u32>,
    entries: Vec<u32>,
}

impl Lists {
    /// Joins the lists of parts, each with the lengths and the entries of its lists.
    pub(super) fn join(parts: impl Iterator<Item = (Vec<u32>, Vec<u32>)>) -> Self {
        let parts: Vec<_> = parts.collect();
        let lists = parts.iter().map(|part| part.0.len()).sum();
        let entries = parts.iter().map(|part| part.1.len()).sum();
        let mut joined = Self {
            starts: Vec::with_capacity(lists),
            lengths: Vec::with_capacity(lists),
            entries: Vec::with_capacity(entries),
        };
        let mut next = 0;
        for (lengths, entries) in parts {
            for &length in &lengths {
                joined.starts.push(next);
                next += length as usize;
            }
            joined.lengths.extend(lengths);
            joined.entries.extend(entries);
        }
        joined
    }

    /// Appends a list.
    pub(super) fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        let from = self.entries.len();
        self.entries.extend(list);
        self.starts.push(from);
        let length = self.entries.len() - from;
        self.lengths.push(u32::try_from(length).unwrap_or(u32::MAX));
    }

    /// Replaces a list.
    pub(super) fn set(&mut self, index: u32, list: impl IntoIterator<Item = u32>) {
        self.push(list);
        if let Some((start, length)) = self.starts.pop().zip(self.lengths.pop()) {
            self.starts[index as usize] = start;
            self.lengths[index as usize] = length;
        }
    }

    /// Returns a list.
    pub(super) fn list(&self, index: u32) -> &[u32] {
        let index = index as usize;
        let start = self.starts[index];
        &self.entries[start..start + self.lengths[index] as usize]
    }

    /// Returns the number of lists.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }
}
