//! Keys of sets of pages.

use crate::tables::table::Key;
use seedbank_algorithms::page::SiteId;

/// A set of pages in `page_sets`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageSetKey {
    /// Pages whose links, state or attributes a batch changed.
    Changed(u32),
    /// Pages that the cores of a refresh removed from the graph.
    Removed(u32),
    /// Pages that a seed is the first of its site to cover.
    Covered(CoveredKey),
    /// Pages whose state, spam mark or row a batch changed; never empty.
    History(u32),
    /// Blocks of page evidence that a refresh wrote. Each is a page with the number of the block as its
    /// index; never empty.
    EvidenceBlocks(u32),
}

/// The key of the pages at one distance from a seed that the seed is the first to cover; the set is
/// never empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CoveredKey {
    /// The refresh that selected the seed.
    pub refresh: u32,
    /// The site.
    pub site: SiteId,
    /// The position of the seed among the seeds of the site, from 1.
    pub pick: u32,
    /// The distance from the seed, in links.
    pub hop: u32,
}

impl PageSetKey {
    /// Returns the prefix of the sets that the seeds of a site cover, by the refresh that selected them.
    #[must_use]
    pub fn covered_prefix(refresh: u32, site: SiteId) -> Vec<u8> {
        [&[COVERED][..], &(refresh, site).bytes()].concat()
    }
}

/// The first byte of the keys of `page_sets`.
const CHANGED: u8 = 0;
const REMOVED: u8 = 1;
const COVERED: u8 = 2;
const HISTORY: u8 = 3;
const EVIDENCE_BLOCKS: u8 = 4;

impl Key for PageSetKey {
    fn put(&self, out: &mut Vec<u8>) {
        let (kind, rest) = match self {
            Self::Changed(batch) => (CHANGED, batch.bytes()),
            Self::Removed(refresh) => (REMOVED, refresh.bytes()),
            Self::Covered(key) => (
                COVERED,
                ((key.refresh, key.site), (key.pick, key.hop)).bytes(),
            ),
            Self::History(batch) => (HISTORY, batch.bytes()),
            Self::EvidenceBlocks(refresh) => (EVIDENCE_BLOCKS, refresh.bytes()),
        };
        out.push(kind);
        out.extend_from_slice(&rest);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        match *kind {
            CHANGED => u32::take(rest).map(Self::Changed),
            REMOVED => u32::take(rest).map(Self::Removed),
            HISTORY => u32::take(rest).map(Self::History),
            EVIDENCE_BLOCKS => u32::take(rest).map(Self::EvidenceBlocks),
            COVERED => {
                let ((refresh, site), (pick, hop)) = Key::take(rest)?;
                Some(Self::Covered(CoveredKey {
                    refresh,
                    site,
                    pick,
                    hop,
                }))
            }
            _ => None,
        }
    }
}

/// Keys of `page_sets`: a part of a set, which has the pages of the set from a site on, up to the first site of
/// the next part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageSetPart {
    /// The set.
    pub set: PageSetKey,
    /// The site. That of the first part is 0, and is not stored.
    pub first: SiteId,
}

impl PageSetPart {
    pub(crate) const fn first_of(set: PageSetKey) -> Self {
        let first = SiteId(0);
        Self { set, first }
    }
}

impl Key for PageSetPart {
    fn put(&self, out: &mut Vec<u8>) {
        self.set.put(out);
        if self.first.0 > 0 {
            self.first.put(out);
        }
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        if let Some(set) = PageSetKey::take(bytes) {
            return Some(Self::first_of(set));
        }
        // The keys of all sets of a kind have the same length.
        let (set, first) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
        let (set, first) = (PageSetKey::take(set)?, SiteId::take(first)?);
        (first.0 > 0).then_some(Self { set, first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: PageSetKey = PageSetKey::Changed(7);

    #[test]
    fn keys_come_back() {
        let part = PageSetPart {
            set: SET,
            first: SiteId(9),
        };
        for part in [part, PageSetPart::first_of(SET)] {
            assert_eq!(PageSetPart::take(&part.bytes()), Some(part));
        }
        // The first part has no site.
        let bytes = [SET.bytes(), SiteId(0).bytes()].concat();
        assert_eq!(PageSetPart::take(&bytes), None);
    }
}
