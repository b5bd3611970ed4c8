//! Truncated lists.

/// A part of a list, and the number of items that it omits.
pub(crate) struct Excerpt<'a, T> {
    pub(crate) shown: &'a [T],
    pub(crate) more: usize,
}

/// Truncates lists for the page; the JSON file has them in full.
pub(crate) trait Truncate<T> {
    /// The first items, at most `most`.
    fn head(&self, most: usize) -> Excerpt<'_, T>;
    /// The last items, at most `most`.
    fn tail(&self, most: usize) -> Excerpt<'_, T>;
}

impl<T> Truncate<T> for [T] {
    fn head(&self, most: usize) -> Excerpt<'_, T> {
        let (shown, omitted) = self.split_at(most.min(self.len()));
        let more = omitted.len();
        Excerpt { shown, more }
    }

    fn tail(&self, most: usize) -> Excerpt<'_, T> {
        let (omitted, shown) = self.split_at(self.len().saturating_sub(most));
        let more = omitted.len();
        Excerpt { shown, more }
    }
}
