//! The pages of a site that the picks so far cover.

use super::graph::SiteGraph;
use super::pick::HopGain;

/// The coverage of the picks so far, on the whole site graph.
#[derive(Clone, Debug)]
pub(super) struct Coverage {
    /// The distance of each page from the nearest pick; `u32::MAX` beyond h hops.
    pub(super) distance: Vec<u32>,
    /// Pages in the order in which the last pick became their nearest one.
    queue: Vec<u32>,
}

impl Coverage {
    pub(super) fn new(pages: u32) -> Self {
        Self {
            distance: vec![u32::MAX; pages as usize],
            queue: Vec::new(),
        }
    }

    /// Covers the pages within `hops` of a new pick. Returns its gain by hop, the pages that it is the
    /// first to cover, and the page visits.
    ///
    /// The search does not pass through a page that is as near to an earlier pick, since everything
    /// behind that page is as near to the earlier pick too. So all picks together cost one search for
    /// the first pick, and for each other pick the pages that are nearer to it than to all before.
    pub(super) fn add(
        &mut self,
        graph: &SiteGraph,
        pick: u32,
        hops: u32,
    ) -> (Vec<HopGain>, Vec<u32>, u64) {
        let (distance, queue) = (&mut self.distance, &mut self.queue);
        let mut gains = Vec::new();
        let mut added = Vec::new();
        // The pages at the present hop that no earlier pick covers.
        let mut new = Vec::new();
        queue.clear();
        queue.push(pick);
        if std::mem::replace(&mut distance[pick as usize], 0) == u32::MAX {
            new.push(pick);
        }
        let mut scanned = 0;
        let mut level = 0..queue.len();
        for hop in 1.. {
            added.extend(&new);
            gains.push(HopGain::new(graph.values(), std::mem::take(&mut new)));
            if hop > hops {
                break;
            }
            for at in level.clone() {
                let targets = graph.successors(queue[at]);
                scanned += targets.len();
                for &target in targets {
                    let known = &mut distance[target as usize];
                    if *known > hop {
                        if *known == u32::MAX {
                            new.push(target);
                        }
                        *known = hop;
                        queue.push(target);
                    }
                }
            }
            level = level.end..queue.len();
            if level.is_empty() {
                break;
            }
        }
        // The list ends with the last hop that adds a page; hop 0 always stays.
        let last = gains.iter().rposition(|hop| !hop.pages.is_empty());
        gains.truncate(last.unwrap_or(0) + 1);
        (gains, added, (queue.len() + scanned) as u64)
    }
}
