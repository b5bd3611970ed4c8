//! Small graphs for tests.

use crate::graph::Csr;

/// Builds a graph from lists.
pub(super) fn csr(lists: &[&[u32]]) -> Csr {
    let mut csr = Csr::default();
    for list in lists {
        csr.push(list.iter().copied());
    }
    csr
}

/// The distance of every page from one; `None` if there is no path.
pub(super) fn distances(links: &Csr, from: u32) -> Vec<Option<u32>> {
    let mut distances = vec![None; links.len()];
    distances[from as usize] = Some(0);
    let mut level = vec![from];
    for distance in 1.. {
        let mut next = Vec::new();
        for page in level {
            for &target in links.list(page) {
                if distances[target as usize].is_none() {
                    distances[target as usize] = Some(distance);
                    next.push(target);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    distances
}
