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
pub(super) struct RemainingCaps<'a> {
    caps: Vec<(&'a [u32], Vec<u32>)>,
    /// The site of each page, and the number of each site; `None` without a limit. A site has one process.
    of_sites: Option<(&'a [u32], Vec<u32>)>,
}

impl<'a> RemainingCaps<'a> {
    /// Returns those before any pick. `max_per_site` has the site of each page and the most seeds of a site.
    pub(super) fn new(caps: &'a [Cap], max_per_site: Option<(&'a [u32], u32)>) -> Self {
        let remaining = |group: &'a [u32], most: u32| {
            let groups = group.iter().max().map_or(0, |last| *last as usize + 1);
            (group, vec![most; groups])
        };
        Self {
            caps: caps
                .iter()
                .map(|cap| remaining(&cap.group, cap.most))
                .collect(),
            of_sites: max_per_site.map(|(sites, most)| remaining(sites, most)),
        }
    }

    /// Whether every cap admits a page as a seed.
    pub(super) fn admits(&self, page: u32) -> bool {
        let mut caps = self.caps.iter().chain(&self.of_sites);
        caps.all(|(group, left)| left[group[page as usize] as usize] > 0)
    }

    /// Counts a seed.
    pub(super) fn add_seed(&mut self, page: u32) {
        self.add_seed_of(&self.groups(page));
        self.add_seed_of_site(page);
    }

    /// Counts a seed of the site of a page.
    pub(super) fn add_seed_of_site(&mut self, page: u32) {
        if let Some((site, left)) = &mut self.of_sites {
            let left = &mut left[site[page as usize] as usize];
            *left = left.saturating_sub(1);
        }
    }

    /// Takes back [`add_seed_of_site`](Self::add_seed_of_site).
    pub(super) fn remove_seed_of_site(&mut self, page: u32) {
        if let Some((site, left)) = &mut self.of_sites {
            left[site[page as usize] as usize] += 1;
        }
    }

    /// Takes back [`add_seed_of`](Self::add_seed_of).
    pub(super) fn remove_seed_of(&mut self, groups: &[u32]) {
        for ((_, left), group) in self.caps.iter_mut().zip(groups) {
            if let Some(left) = left.get_mut(*group as usize) {
                *left += 1;
            }
        }
    }

    /// Returns the group of a page for each cap.
    pub(super) fn groups(&self, page: u32) -> Vec<u32> {
        let groups = self.caps.iter().map(|(group, _)| group[page as usize]);
        groups.collect()
    }

    /// Counts a seed of these groups, which may have no page of this process. Its site is not counted.
    pub(super) fn add_seed_of(&mut self, groups: &[u32]) {
        for ((_, left), group) in self.caps.iter_mut().zip(groups) {
            if let Some(left) = left.get_mut(*group as usize) {
                *left = left.saturating_sub(1);
            }
        }
    }
}
