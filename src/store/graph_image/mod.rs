//! The graph image: the graph of a bank in the form in which algorithms load it.
//!
//! The tables are made for changes of single pages. Algorithms need the whole graph: numbered pages, lists of
//! links, the order of the URLs. A [`GraphImage`] has these in memory. It is loaded from the tables by one scan
//! each, or from a file in the bank's folder, which the first command that loads the graph writes:
//!
//! ```text
//! BANK/image/graph      the image of one state
//! BANK/image/lock       held by the process that writes the image
//! ```
//!
//! The file is a cache. It belongs to no state, is in no backup, and may be removed at any time. It is used only
//! if all of its checksums are right and its state is an earlier or the current state of this bank. What later
//! batches changed is then read from the tables by key: the pages that they changed, which
//! [`PAGE_SETS`](crate::tables::PAGE_SETS) has. If too many pages changed, the file is written anew. If the file
//! cannot be written, as in a bank that is read-only, nothing happens.
//!
//! A *slot* is the number of a page in the image. Slots follow the ids of the pages; pages that are new since the
//! file was written follow all others. Pages that are
//! neither known nor crawled have slots too, since they may return.
//!
//! In a cluster bank, a process can also load the image of its own sites alone ([`GraphImage::load_share`]).

mod file;
mod ghosts;
mod normalise;
mod order;
mod patch;
mod replaceable_lists;
mod scan;
mod section_codec;
mod share;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;

use crate::error::StoreError;
use crate::tables::records::{BatchId, PageRecord, PageState};
use crate::tables::store::Store;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;

pub(crate) use self::file::remove_image;
pub use self::order::Run;
use self::patch::Limit;
use self::replaceable_lists::Lists;

/// No row.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// The links that an image has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ImageLinks {
    /// Links between sites only.
    InterSite,
    /// All links, and the attributes of pages.
    All,
}

/// Appends the prefix of a URL that exactly the URLs of its host share, given the name of the site and the
/// rest of the URL.
pub type HostPrefix<'a> = &'a (dyn Fn(&str, &str, &mut String) + Sync);

/// A site of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ImageSite {
    /// The slot of its first page.
    first: u32,
    /// The number of its pages with slots from `first` on.
    pages: u32,
    /// The number of its first row.
    first_row: u32,
    /// The number of its rows from `first_row` on.
    rows: u32,
    /// As in the record of the site.
    with_digest: u32,
    distinct_digests: u32,
}

/// Attributes of a known or crawled page that only plans over the web use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageAttributes {
    /// Clicks.
    pub clicks: u64,
    /// `uncrawled_outlinks` as reported by a record; `None` if links are counted.
    pub uncrawled_given: Option<u32>,
    /// The quality, in ten-thousandths.
    pub quality: u16,
}

/// The state and, of a known or crawled page, the spam mark, in one byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Flags(u8);

impl Flags {
    const KNOWN: u8 = 0;
    const CRAWLED: u8 = 1;
    /// No page: it is gone, an alias or not linked to, or there is no record.
    const NONE: Self = Self(2);
    const SPAM: u8 = 1 << 3;

    fn new(state: PageState, is_spam: bool) -> Self {
        let state = match state {
            PageState::Known => Self::KNOWN,
            PageState::Crawled => Self::CRAWLED,
            // Batches do not count these as changed.
            PageState::Gone | PageState::Unlinked | PageState::Alias => return Self::NONE,
        };
        Self(state | if is_spam { Self::SPAM } else { 0 })
    }

    fn from_record(record: &PageRecord) -> Self {
        Self::new(record.state, record.spam)
    }
}

/// The graph of a state in memory.
///
/// Memory: some 40 bytes for each page, 28 for each row, and 4 for each intra-site link and each target of a
/// row; without intra-site links 17 bytes for each page.
pub struct GraphImage {
    /// The last batch of the state.
    batch: BatchId,
    sites: Vec<ImageSite>,
    flags: Vec<Flags>,
    /// The number of the row of each page; [`NO_ROW`] if it has none.
    row_of: Vec<u32>,
    /// By slot; empty if no page has an attribute or if they are not loaded.
    attributes: Vec<PageAttributes>,
    /// The index of each row on its site.
    row_indexes: Vec<u32>,
    /// The slots of the targets of each row, ascending.
    rows: Lists,
    /// The slots of the targets of each page on its site, ascending; `None` if they are not loaded.
    intra: Option<Lists>,
    /// Slots by the name of the site, then by URL.
    order: Vec<u32>,
    /// The parts of `order` with the same host.
    runs: Vec<Run>,
    added: Added,
    /// In a share, the pages of other processes to which rows link, by id; their slots are the last ones. `None` if it is
    /// no share.
    ghosts: Option<Vec<PageId>>,
}

/// What is new since the image was written.
#[derive(Default)]
struct Added {
    pages: Vec<PageId>,
    slots: HashMap<PageId, u32>,
    rows: HashMap<RowId, u32>,
}

/// Counts of where an image came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageSource {
    /// The tables, all of them.
    Tables,
    /// The file, with this number of pages read from the tables.
    File(u64),
}

/// Returns the length of a list, which is below the largest number.
fn length(list: usize) -> u32 {
    u32::try_from(list).unwrap_or(u32::MAX)
}

impl GraphImage {
    /// Returns an image without pages.
    fn empty(batch: BatchId) -> Self {
        Self {
            batch,
            sites: Vec::new(),
            flags: Vec::new(),
            row_of: Vec::new(),
            attributes: Vec::new(),
            row_indexes: Vec::new(),
            rows: Lists::default(),
            intra: None,
            order: Vec::new(),
            runs: Vec::new(),
            added: Added::default(),
            ghosts: None,
        }
    }

    /// Loads the graph of a state, from the image if there is a usable one, else from the tables. Then it
    /// writes the image, unless another process does, or the file has a later state.
    ///
    /// Cost: from the tables, one scan of sites, pages, rows and intra-site links, and the sorting of the URLs
    /// of each site; from the file, reads it in sequence, and a few keys for each page that later batches
    /// changed.
    pub fn load(
        store: &Store,
        links: ImageLinks,
        prefix: HostPrefix<'_>,
        watch: &dyn Watch,
    ) -> Result<(Self, ImageSource), StoreError> {
        watch.stage("load graph", None);
        let Some(folder) = store.image_folder() else {
            let image = scan::scan(store, None, links, prefix, watch)?;
            return Ok((image, ImageSource::Tables));
        };
        let existing = file::existing(store, folder);
        match patch::read_current(store, folder, Limit::Cost, links, prefix, watch) {
            Ok(Some((image, changed))) => {
                let is_whole = existing.is_some_and(|existing| existing.links <= links);
                if is_whole && changed > image.page_count() / REWRITE_SHARE {
                    image.normalised().save(store, folder, links);
                }
                return Ok((image, ImageSource::File(changed)));
            }
            Ok(None) => {}
            Err(StoreError::Interrupted(stop)) => return Err(stop.into()),
            // Whatever is wrong with the tables, the scan finds and reports it.
            Err(e) => tracing::debug!("the graph image is not used: {e:?}"),
        }
        // Readers of an older state leave the image to those of the current one.
        let batch = store.counters()?.batch;
        if existing.is_some_and(|existing| existing.batch > batch) {
            let image = scan::scan(store, None, links, prefix, watch)?;
            return Ok((image, ImageSource::Tables));
        }
        // The new file replaces all that the old one is used for.
        let links = existing.map_or(links, |existing| existing.links.max(links));
        let image = scan::scan(store, None, links, prefix, watch)?;
        image.save(store, folder, links);
        Ok((image, ImageSource::Tables))
    }

    /// Loads the graph from the tables, and nothing else.
    pub fn from_tables(
        store: &Store,
        links: ImageLinks,
        prefix: HostPrefix<'_>,
        watch: &dyn Watch,
    ) -> Result<Self, StoreError> {
        scan::scan(store, None, links, prefix, watch)
    }

    /// Loads the graph from the image, however many pages changed since it was written. Also returns the number of
    /// pages that were read from the tables. `None` if there is no usable image.
    pub fn from_file(
        store: &Store,
        links: ImageLinks,
        prefix: HostPrefix<'_>,
        watch: &dyn Watch,
    ) -> Result<Option<(Self, u64)>, StoreError> {
        match store.image_folder() {
            Some(folder) => patch::read_current(store, folder, Limit::None, links, prefix, watch),
            None => Ok(None),
        }
    }

    fn save(&self, store: &Store, folder: &Path, links: ImageLinks) {
        if let Err(e) = file::write(self, store, folder, links) {
            tracing::debug!("the graph image is not written: {e:?}");
        }
    }

    fn page_count(&self) -> u64 {
        self.flags.len() as u64
    }

    /// Returns the name of a part in which the graphs of two images differ; `None` if they are the same graph of
    /// known and crawled pages.
    ///
    /// Cost: passes over pages and links.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let pages = |image: &Self| -> Vec<u32> {
            let live = image.order.iter().copied();
            live.filter(|slot| image.is_live(*slot)).collect()
        };
        let hosts = |image: &Self| -> Vec<(String, usize)> {
            let live = |run: &Run| {
                let of_run = image.order[run.range()].iter();
                of_run.filter(|slot| image.is_live(**slot)).count()
            };
            let runs = image.runs.iter().map(|run| (run.begins.clone(), live(run)));
            runs.filter(|run| run.1 > 0).collect()
        };
        let ids = |image: &Self, slots: &[u32]| -> Vec<PageId> {
            let mut ids: Vec<PageId> = slots.iter().map(|slot| image.page(*slot)).collect();
            ids.sort_unstable();
            ids
        };
        let row = |image: &Self, slot| image.row_of(slot).map(|row| ids(image, image.row(row)));
        if self.batch != other.batch {
            return Some("batch");
        }
        if hosts(self) != hosts(other) {
            return Some("hosts");
        }
        let (ours, theirs) = (pages(self), pages(other));
        if ours.len() != theirs.len() {
            return Some("pages");
        }
        for (one, two) in ours.into_iter().zip(theirs) {
            let page = self.page(one);
            if page != other.page(two) || self.flags[one as usize] != other.flags[two as usize] {
                return Some("pages");
            }
            if self.attributes(one) != other.attributes(two)
                || self.digests(page.site()) != other.digests(page.site())
            {
                return Some("attributes");
            }
            if row(self, one) != row(other, two) {
                return Some("rows");
            }
            if ids(self, self.intra(one)) != ids(other, other.intra(two)) {
                return Some("intra-site links");
            }
        }
        None
    }

    /// Returns the number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.flags.len()
    }

    /// Returns the number of rows, with those that no page has.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.row_indexes.len()
    }

    /// Returns the slot of a page; `None` if it has none, or belongs to another process.
    #[must_use]
    pub fn slot(&self, page: PageId) -> Option<u32> {
        let site = self.sites.get(page.site().0 as usize)?;
        if page.index() < site.pages {
            return Some(site.first + page.index());
        }
        self.added.slots.get(&page).copied()
    }

    /// Returns the page of a slot.
    #[must_use]
    pub fn page(&self, slot: u32) -> PageId {
        let last = self.ghosts.as_ref().unwrap_or(&self.added.pages);
        let base = self.flags.len() - last.len();
        if let Some(at) = (slot as usize).checked_sub(base) {
            return last[at];
        }
        let at = self.sites.partition_point(|site| site.first <= slot);
        let at = at.saturating_sub(1);
        let site = u32::try_from(at).unwrap_or(u32::MAX);
        PageId::new(SiteId(site), slot - self.sites[at].first)
    }

    /// Returns whether a page is known or crawled.
    #[must_use]
    pub fn is_live(&self, slot: u32) -> bool {
        self.flags[slot as usize] != Flags::NONE
    }

    /// Returns whether a page is crawled.
    #[must_use]
    pub fn is_crawled(&self, slot: u32) -> bool {
        self.flags[slot as usize].0 & !Flags::SPAM == Flags::CRAWLED
    }

    /// Returns whether a page is known and not crawled.
    #[must_use]
    pub fn is_known(&self, slot: u32) -> bool {
        self.flags[slot as usize].0 & !Flags::SPAM == Flags::KNOWN
    }

    /// Returns whether a known or crawled page has the spam mark.
    #[must_use]
    pub fn is_spam(&self, slot: u32) -> bool {
        self.flags[slot as usize].0 & Flags::SPAM != 0
    }

    /// Returns the attributes of a known or crawled page, which must be loaded.
    #[must_use]
    pub fn attributes(&self, slot: u32) -> PageAttributes {
        let of = self.attributes.get(slot as usize);
        of.copied().unwrap_or_default()
    }

    /// Returns the number of the row of a page.
    #[must_use]
    pub fn row_of(&self, slot: u32) -> Option<u32> {
        Some(self.row_of[slot as usize]).filter(|row| *row != NO_ROW)
    }

    /// Returns the slots of the targets of a row, without duplicates.
    #[must_use]
    pub fn row(&self, row: u32) -> &[u32] {
        self.rows.list(row)
    }

    /// Returns the slots of the targets of a page on its site, without duplicates; empty if they are not
    /// loaded.
    #[must_use]
    pub fn intra(&self, slot: u32) -> &[u32] {
        self.intra.as_ref().map_or(&[], |lists| lists.list(slot))
    }

    /// Returns the numbers of distinct digests and of pages with a digest of a site.
    #[must_use]
    pub fn digests(&self, site: SiteId) -> (u32, u32) {
        let site = self.sites.get(site.0 as usize).copied().unwrap_or_default();
        (site.distinct_digests, site.with_digest)
    }

    /// Returns the slots by the name of the site, then by URL.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns the parts of [`order`](Self::order) whose URLs have the same host, by the name of the site, then
    /// by URL.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the [`runs`](Self::runs) in the order of the URLs of all sites, which is that of their prefixes.
    #[must_use]
    pub fn runs_by_url(&self) -> Vec<&Run> {
        let mut runs: Vec<&Run> = self.runs.iter().collect();
        runs.sort_unstable_by(|a, b| a.begins.cmp(&b.begins));
        runs
    }
}

/// A patched image is written if more than one in this many pages was read from the tables.
const REWRITE_SHARE: u64 = 200;
