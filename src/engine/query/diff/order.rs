//! Distinguishes seeds that were reordered from seeds that only shifted because others were gained or
//! lost before them.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::Cause;
use seedbank_algorithms::page::PageId;

/// Returns for each page on both lists the cause of a change of its rank.
///
/// A page is shifted if the common pages before it are the same set on both lists. Algorithm: both lists,
/// restricted to common pages, are walked side by side; a page is open between its two positions. If no
/// page is open, the two prefixes are the same set. Cost: linear apart from lookups.
pub(super) fn moves(from: &[PageId], to: &[PageId]) -> BTreeMap<PageId, Cause> {
    let mut seen: BTreeMap<PageId, u8> = BTreeMap::new();
    for page in from.iter().chain(to) {
        *seen.entry(*page).or_default() += 1;
    }
    let both = |list: &[PageId]| -> Vec<PageId> {
        let pages = list.iter().copied();
        pages.filter(|page| seen.get(page) == Some(&2)).collect()
    };
    let mut open: BTreeSet<PageId> = BTreeSet::new();
    let mut moves = BTreeMap::new();
    for (before, after) in both(from).into_iter().zip(both(to)) {
        if before == after && open.is_empty() {
            moves.insert(before, Cause::Shifted);
            continue;
        }
        for page in [before, after] {
            moves.insert(page, Cause::Reordered);
            if !open.remove(&page) {
                open.insert(page);
            }
        }
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(ids: &[u64]) -> Vec<PageId> {
        ids.iter().map(|id| PageId(*id)).collect()
    }

    /// Follows the definition: compares the sets of pages before each.
    fn judge(from: &[PageId], to: &[PageId]) -> BTreeMap<PageId, Cause> {
        let before = |list: &[PageId], other: &[PageId], page: &PageId| {
            let mut all: Vec<PageId> = list.iter().take_while(|p| *p != page).copied().collect();
            all.retain(|page| other.contains(page));
            all.sort_unstable();
            all
        };
        let both = from.iter().filter(|page| to.contains(page));
        both.map(|page| {
            let same = before(from, to, page) == before(to, from, page);
            let cause = if same {
                Cause::Shifted
            } else {
                Cause::Reordered
            };
            (*page, cause)
        })
        .collect()
    }

    #[test]
    fn a_seed_is_shifted_by_others_or_reordered() {
        let lists: [&[u64]; 6] = [
            &[1, 2, 3, 4, 5],
            &[2, 3, 4, 5],
            &[9, 1, 8, 2, 3, 5, 4],
            &[3, 1, 2, 4, 5],
            &[5, 4, 3, 2, 1],
            &[],
        ];
        for from in lists {
            for to in lists {
                let (from, to) = (pages(from), pages(to));
                assert_eq!(moves(&from, &to), judge(&from, &to), "{from:?} {to:?}");
            }
        }
    }
}
