//! Breadth-first search of balls, with working memory that is reused without clearing.

use crate::graph::Csr;

/// A reusable search: a page is marked with the number of the run that met it.
#[derive(Clone, Debug)]
pub(super) struct BallSearch {
    seen_in: Vec<u32>,
    run: u32,
    /// Pages in the order in which they were settled.
    queue: Vec<u32>,
}

/// The pages at one distance from the start of a search.
pub(super) struct Level<'a> {
    pub(super) hop: u32,
    pub(super) pages: &'a [u32],
    /// The page visits of the search so far: pages settled plus adjacency entries scanned.
    pub(super) visits: u64,
}

impl BallSearch {
    pub(super) fn new(pages: u32) -> Self {
        Self {
            seen_in: vec![0; pages as usize],
            run: 0,
            queue: Vec::new(),
        }
    }

    /// Calls `meet` for each non-empty level within `hops` of `from`, nearest first. Returns the page
    /// visits.
    pub(super) fn levels(
        &mut self,
        links: &Csr,
        from: u32,
        hops: u32,
        meet: impl FnMut(Level<'_>),
    ) -> u64 {
        self.levels_among(links, &[from], hops, |_| true, meet)
    }

    /// [`BallSearch::levels`] from several pages, over the pages for which `is_alive` holds.
    pub(super) fn levels_among(
        &mut self,
        links: &Csr,
        from: &[u32],
        hops: u32,
        is_alive: impl Fn(u32) -> bool,
        mut meet: impl FnMut(Level<'_>),
    ) -> u64 {
        self.run = self.run.wrapping_add(1);
        if self.run == 0 {
            // The run numbers wrapped around, so old marks would be taken for new ones.
            self.seen_in.fill(0);
            self.run = 1;
        }
        self.queue.clear();
        for &page in from {
            let seen = &mut self.seen_in[page as usize];
            if std::mem::replace(seen, self.run) != self.run {
                self.queue.push(page);
            }
        }
        let mut level = 0..self.queue.len();
        let mut visits = level.len() as u64;
        for hop in 0..=hops {
            meet(Level {
                hop,
                pages: &self.queue[level.clone()],
                visits,
            });
            if hop == hops {
                break;
            }
            for at in level.clone() {
                let targets = links.list(self.queue[at]);
                visits += targets.len() as u64;
                for &target in targets {
                    let seen = &mut self.seen_in[target as usize];
                    if *seen != self.run && is_alive(target) {
                        *seen = self.run;
                        self.queue.push(target);
                    }
                }
            }
            level = level.end..self.queue.len();
            visits += level.len() as u64;
            if level.is_empty() {
                break;
            }
        }
        visits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_met_nearest_first_and_their_work_is_counted() {
        // 0 to 1 and 2, both to 3, and 3 back to 0.
        let mut links = Csr::default();
        for list in [&[1, 2][..], &[3], &[3], &[0]] {
            links.push(list.iter().copied());
        }
        let mut search = BallSearch::new(4);
        for (hops, wanted, visits) in [
            (0, vec![vec![0]], 1),
            (1, vec![vec![0], vec![1, 2]], 5),
            (2, vec![vec![0], vec![1, 2], vec![3]], 8),
            (9, vec![vec![0], vec![1, 2], vec![3]], 9),
        ] {
            let mut found = Vec::new();
            let counted = search.levels(&links, 0, hops, |level| {
                assert_eq!(level.hop as usize, found.len());
                found.push(level.pages.to_vec());
            });
            assert_eq!((found, counted), (wanted, visits));
        }
    }
}
