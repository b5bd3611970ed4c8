//! Which seeds there are before any pick, and how many may come from one place.

/// No more than so many seeds from each of some groups of pages: sites, say, or domains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cap {
    /// The group of each page.
    pub group: Vec<u32>,
    /// The most seeds of a group.
    pub most: u32,
}

/// What is left of caps while picks are made.
#[derive(Clone, Debug)]
pub(super) struct RemainingCaps<'a>(Vec<(&'a [u32], Vec<u32>)>);

impl<'a> RemainingCaps<'a> {
    pub(super) fn new(caps: &'a [Cap]) -> Self {
        let room = |cap: &'a Cap| {
            let groups = cap.group.iter().max().map_or(0, |last| *last as usize + 1);
            (&cap.group[..], vec![cap.most; groups])
        };
        Self(caps.iter().map(room).collect())
    }

    /// Whether one more seed may be where a page is.
    pub(super) fn has(&self, page: u32) -> bool {
        let mut levels = self.0.iter();
        levels.all(|(group, left)| left[group[page as usize] as usize] > 0)
    }

    /// Counts a seed.
    pub(super) fn take(&mut self, page: u32) {
        for (group, left) in &mut self.0 {
            let left = &mut left[group[page as usize] as usize];
            *left = left.saturating_sub(1);
        }
    }
}
