//! Parts of lists.

/// A part of a list, and how many items of the list it leaves out.
pub(super) struct Excerpt<'a, T> {
    pub(super) shown: &'a [T],
    pub(super) more: usize,
}

/// Long lists are cut on the page; the JSON file beside it has them whole.
pub(super) trait Truncate<T> {
    /// At most so many items from the beginning.
    fn head(&self, most: usize) -> Excerpt<'_, T>;
    /// At most so many items from the end.
    fn tail(&self, most: usize) -> Excerpt<'_, T>;
}

impl<T> Truncate<T> for [T] {
    fn head(&self, most: usize) -> Excerpt<'_, T> {
        let (shown, rest) = self.split_at(most.min(self.len()));
        let more = rest.len();
        Excerpt { shown, more }
    }

    fn tail(&self, most: usize) -> Excerpt<'_, T> {
        let (rest, shown) = self.split_at(self.len().saturating_sub(most));
        let more = rest.len();
        Excerpt { shown, more }
    }
}
