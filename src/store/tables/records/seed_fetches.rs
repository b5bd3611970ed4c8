//! Fetches of a batch that crawlers attribute to seeds.

use super::page_blocks::{BLOCK, Fact, place};
use crate::tables::codec::{self, Malformed, take_byte, take_u32};
use crate::tables::table::Key;
use seedbank_algorithms::page::{PageId, SiteId};

/// A fetch with its origin, as reported by the crawler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeedFetch {
    /// The seed that the crawl came from.
    pub seed: PageId,
    /// The page by which the crawler found this one.
    pub via: Option<PageId>,
    /// The number of links from the seed.
    pub depth: Option<u32>,
}

/// The fetches of a page in a batch that crawlers attribute to seeds; at least one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SeedFetches {
    /// The fetch that did not fail.
    pub answered: Option<SeedFetch>,
    /// Whether it was the first fetch of the page that did not fail, and found it crawled.
    pub is_new: bool,
    /// Whether its content was already that of another page of the site.
    pub is_duplicate: bool,
    /// The last fetch that failed.
    pub failed: Option<SeedFetch>,
}

impl SeedFetches {
    /// Returns the number of fetches.
    #[must_use]
    pub fn count(&self) -> u64 {
        u64::from(self.answered.is_some()) + u64::from(self.failed.is_some())
    }
}

const ANSWERED: u8 = 1;
const FAILED: u8 = 2;
const NEW: u8 = 4;
const DUPLICATE: u8 = 8;

const VIA: u8 = 1;
const DEPTH: u8 = 2;

impl Fact for SeedFetches {
    fn put(&self, out: &mut Vec<u8>) {
        let flag = |set, flag| if set { flag } else { 0 };
        out.push(
            flag(self.answered.is_some(), ANSWERED)
                | flag(self.failed.is_some(), FAILED)
                | flag(self.is_new, NEW)
                | flag(self.is_duplicate, DUPLICATE),
        );
        for fetch in [self.answered, self.failed].into_iter().flatten() {
            fetch.put(out);
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Malformed> {
        let tag = take_byte(bytes)?;
        let has = |flag| tag & flag != 0;
        let is_known = tag <= ANSWERED | FAILED | NEW | DUPLICATE && has(ANSWERED | FAILED);
        if !is_known || has(NEW | DUPLICATE) && !has(ANSWERED) {
            return Err(Malformed("unknown kind of fetch".to_owned()));
        }
        let mut fetch = |flag| has(flag).then(|| SeedFetch::take(bytes)).transpose();
        Ok(Self {
            answered: fetch(ANSWERED)?,
            failed: fetch(FAILED)?,
            is_new: has(NEW),
            is_duplicate: has(DUPLICATE),
        })
    }
}

impl SeedFetch {
    fn put(self, out: &mut Vec<u8>) {
        let flag = |set, flag| if set { flag } else { 0 };
        out.push(flag(self.via.is_some(), VIA) | flag(self.depth.is_some(), DEPTH));
        for page in [Some(self.seed), self.via].into_iter().flatten() {
            codec::put_varint(u64::from(page.site().0), out);
            codec::put_varint(u64::from(page.index()), out);
        }
        if let Some(depth) = self.depth {
            codec::put_varint(u64::from(depth), out);
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Malformed> {
        let tag = take_byte(bytes)?;
        if tag > VIA | DEPTH {
            return Err(Malformed("unknown kind of origin".to_owned()));
        }
        let mut page = || -> Result<PageId, Malformed> {
            let site = SiteId(take_u32(bytes)?);
            Ok(PageId::new(site, take_u32(bytes)?))
        };
        let seed = page()?;
        let via = if tag & VIA == 0 { None } else { Some(page()?) };
        let depth = (tag & DEPTH != 0).then(|| take_u32(bytes)).transpose()?;
        Ok(Self { seed, via, depth })
    }
}

/// Keys of `seed_fetches`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SeedFetchesKey {
    /// The batch.
    pub batch: u32,
    /// The site of the fetched pages.
    pub site: SiteId,
    /// The block of page indexes.
    pub block: u32,
}

impl SeedFetchesKey {
    /// Returns the key of the block with a page, and the position of the page in the block.
    #[must_use]
    pub const fn of_page(batch: u32, page: PageId) -> (Self, u32) {
        let (block, place) = place(page.index());
        let key = Self {
            batch,
            site: page.site(),
            block,
        };
        (key, place)
    }

    /// Returns the page at a position of the block; `None` if there is no such page.
    #[must_use]
    pub fn page(&self, place: u32) -> Option<PageId> {
        let index = self.block.checked_mul(BLOCK)?.checked_add(place)?;
        Some(PageId::new(self.site, index))
    }
}

impl Key for SeedFetchesKey {
    fn put(&self, out: &mut Vec<u8>) {
        ((self.batch, self.site), self.block).put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let ((batch, site), block) = Key::take(bytes)?;
        Some(Self { batch, site, block })
    }
}
