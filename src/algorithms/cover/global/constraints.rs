//! Limits on the number of seeds in groups of pages.

/// A limit on the number of seeds in each group of pages, such as a site or a domain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cap {
    /// The group of each page.
    pub group: Vec<u32>,
    /// The most seeds of a group.
    pub most: u32,
}

/// The numbers of further seeds that caps admit.
#[derive(Clone, Debug)]
pub(super) struct RemainingCaps<'a>(Vec<(&'a [u32], Vec<u32>)>);

impl<'a> RemainingCaps<'a> {
    pub(super) fn new(caps: &'a [Cap]) -> Self {
        let remaining = |cap: &'a Cap| {
            let groups = cap.group.iter().max().map_or(0, |last| *last as usize + 1);
            (&cap.group[..], vec![cap.most; groups])
        };
        Self(caps.iter().map(remaining).collect())
    }

    /// Whether every cap admits a page as a seed.
    pub(super) fn admits(&self, page: u32) -> bool {
        let mut caps = self.0.iter();
        caps.all(|(group, left)| left[group[page as usize] as usize] > 0)
    }

    /// Counts a seed.
    pub(super) fn add_seed(&mut self, page: u32) {
        self.add_seed_of(&self.groups(page));
    }

    /// Returns the group of a page for each cap.
    pub(super) fn groups(&self, page: u32) -> Vec<u32> {
        let groups = self.0.iter().map(|(group, _)| group[page as usize]);
        groups.collect()
    }

    /// Counts a seed of these groups, which may have no page of this process.
    pub(super) fn add_seed_of(&mut self, groups: &[u32]) {
        for ((_, left), group) in self.0.iter_mut().zip(groups) {
            if let Some(left) = left.get_mut(*group as usize) {
                *left = left.saturating_sub(1);
            }
        }
    }
}
