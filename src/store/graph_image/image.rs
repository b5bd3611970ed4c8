//! The graph of a state in memory, and the order of its pages.

use std::collections::HashMap;
use std::ops::Range;

use crate::tables::records::{BatchId, PageRecord, PageState};
use seedbank_algorithms::page::{PageId, RowId, SiteId};

/// No row.
pub(super) const NO_ROW: u32 = u32::MAX;

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
    pub(super) first: u32,
    /// The number of its pages with slots from `first` on.
    pub(super) pages: u32,
    /// The number of its first row.
    pub(super) first_row: u32,
    /// The number of its rows from `first_row` on.
    pub(super) rows: u32,
    /// As in the record of the site.
    pub(super) with_digest: u32,
    pub(super) distinct_digests: u32,
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

/// The state and, of a known or crawled page, the spam mark and whether it is a document, in one byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Flags(pub(super) u8);

impl Flags {
    const KNOWN: u8 = 0;
    const CRAWLED: u8 = 1;
    /// No page: it is gone, an alias, a resource or not linked to, or there is no record.
    pub(super) const NONE: Self = Self(2);
    const SPAM: u8 = 1 << 3;
    const DOCUMENT: u8 = 1 << 5;
    const STATE: u8 = Self::SPAM - 1;

    pub(super) fn new(state: PageState, is_spam: bool) -> Self {
        let state = match state {
            PageState::Known => Self::KNOWN,
            PageState::Crawled => Self::CRAWLED,
            // Batches do not count these as changed.
            PageState::Gone | PageState::Unlinked | PageState::Alias | PageState::Resource => {
                return Self::NONE;
            }
        };
        Self(state | if is_spam { Self::SPAM } else { 0 })
    }

    pub(super) fn from_record(record: &PageRecord) -> Self {
        let Self(flags) = Self::new(record.state, record.spam);
        Self(
            flags
                | if record.is_document() {
                    Self::DOCUMENT
                } else {
                    0
                },
        )
    }
}

/// The graph of a state in memory.
///
/// Memory: some 40 bytes for each page, 28 for each row, and 4 for each intra-site link and each target of a
/// row; without intra-site links 17 bytes for each page.
pub struct GraphImage {
    /// The last batch of the state.
    pub(super) batch: BatchId,
    pub(super) sites: Vec<ImageSite>,
    pub(super) flags: Vec<Flags>,
    /// The number of the row of each page; [`NO_ROW`] if it has none.
    pub(super) row_of: Vec<u32>,
    /// By slot; empty if no page has an attribute or if they are not loaded.
    pub(super) attributes: Vec<PageAttributes>,
    /// The index of each row on its site.
    pub(super) row_indexes: Vec<u32>,
    /// The slots of the targets of each row, ascending.
    pub(super) rows: Lists,
    /// The slots of the targets of each page on its site, ascending; `None` if they are not loaded.
    pub(super) intra: Option<Lists>,
    /// Slots by the name of the site, then by URL.
    pub(super) order: Vec<u32>,
    /// The parts of `order` with the same host.
    pub(super) runs: Vec<Run>,
    pub(super) added: Added,
    /// In a share, the pages of other processes to which rows link, by id; their slots are the last ones. `None` if it is
    /// no share.
    pub(super) ghosts: Option<Vec<PageId>>,
}

/// What is new since the image was written.
#[derive(Default)]
pub(super) struct Added {
    pub(super) pages: Vec<PageId>,
    pub(super) slots: HashMap<PageId, u32>,
    pub(super) rows: HashMap<RowId, u32>,
}

/// Returns the length of a list, which is below the largest number.
pub(super) fn length(list: usize) -> u32 {
    u32::try_from(list).unwrap_or(u32::MAX)
}

impl GraphImage {
    /// Returns an image without pages.
    pub(super) fn empty(batch: BatchId) -> Self {
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

    pub(super) fn page_count(&self) -> u64 {
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
        self.flags[slot as usize].0 & Flags::STATE == Flags::CRAWLED
    }

    /// Returns whether a page is known and not crawled.
    #[must_use]
    pub fn is_known(&self, slot: u32) -> bool {
        self.flags[slot as usize].0 & Flags::STATE == Flags::KNOWN
    }

    /// Returns whether a known or crawled page has the spam mark.
    #[must_use]
    pub fn is_spam(&self, slot: u32) -> bool {
        self.flags[slot as usize].0 & Flags::SPAM != 0
    }

    /// Returns whether a crawled page is a document.
    #[must_use]
    pub fn is_document(&self, slot: u32) -> bool {
        self.flags[slot as usize].0 & Flags::DOCUMENT != 0
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

// The order of the pages by the name of the site and by URL, and the parts of it with the same host.

/// Pages of one site whose URLs have the same host: a range of the order of all pages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The common prefix of the URLs, up to the character after the host.
    pub(super) begins: String,
    pub(super) site: SiteId,
    pub(super) start: u32,
    pub(super) length: u32,
}

impl Run {
    /// Returns the site of the pages.
    #[must_use]
    pub const fn site(&self) -> SiteId {
        self.site
    }

    /// Returns the common prefix of the URLs, which no URL of another run has.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.begins
    }

    /// Returns the range of the pages.
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.start as usize..(self.start + self.length) as usize
    }
}

/// Appends a page to the last run if it has the same host, else to a new run.
pub(super) fn push_page(runs: &mut Vec<Run>, site: SiteId, at: u32, begins: &str) {
    match runs.last_mut() {
        Some(run) if run.site == site && run.begins == begins => run.length += 1,
        _ => runs.push(Run {
            begins: begins.to_owned(),
            site,
            start: at,
            length: 1,
        }),
    }
}

/// Finds the hosts of the pages of a site, in the order of their URLs.
pub(super) struct HostFinder<'a> {
    prefix: HostPrefix<'a>,
    /// The last page, and its prefix.
    local: String,
    begins: String,
    /// The length of the part of `local` that determines the prefix; 0 at first.
    determining: usize,
}

impl<'a> HostFinder<'a> {
    pub(super) const fn new(prefix: HostPrefix<'a>) -> Self {
        Self {
            prefix,
            local: String::new(),
            begins: String::new(),
            determining: 0,
        }
    }

    /// Starts with the pages of another site.
    pub(super) fn start_site(&mut self) {
        self.determining = 0;
    }

    /// Returns the prefix of the URL of a page.
    pub(super) fn begins(&mut self, site: &str, local: &str) -> &str {
        // The path begins at the first slash. Up to there, most pages equal the page before.
        let known = self.local.as_bytes().get(..self.determining);
        let is_same =
            self.determining > 0 && known.is_some_and(|known| local.as_bytes().starts_with(known));
        if !is_same {
            self.begins.clear();
            (self.prefix)(site, local, &mut self.begins);
            self.local.clear();
            self.local.push_str(local);
            self.determining = local.find('/').map_or(0, |at| at + 1);
        }
        &self.begins
    }
}

// Lists of numbers that can be replaced one by one.

/// Lists of `u32`, numbered from 0, in one array.
///
/// Memory: 4 bytes per entry and 12 per list. A replaced list keeps its space.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Lists {
    starts: Vec<usize>,
    lengths: Vec<u32>,
    entries: Vec<u32>,
}

impl Lists {
    /// Joins the lists of parts, each with the lengths and the entries of its lists.
    pub(super) fn join(parts: impl Iterator<Item = (Vec<u32>, Vec<u32>)>) -> Self {
        let parts: Vec<_> = parts.collect();
        let lists = parts.iter().map(|part| part.0.len()).sum();
        let entries = parts.iter().map(|part| part.1.len()).sum();
        let mut joined = Self {
            starts: Vec::with_capacity(lists),
            lengths: Vec::with_capacity(lists),
            entries: Vec::with_capacity(entries),
        };
        let mut next = 0;
        for (lengths, entries) in parts {
            for &length in &lengths {
                joined.starts.push(next);
                next += length as usize;
            }
            joined.lengths.extend(lengths);
            joined.entries.extend(entries);
        }
        joined
    }

    /// Appends a list.
    pub(super) fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        let from = self.entries.len();
        self.entries.extend(list);
        self.starts.push(from);
        let length = self.entries.len() - from;
        self.lengths.push(u32::try_from(length).unwrap_or(u32::MAX));
    }

    /// Replaces a list.
    pub(super) fn set(&mut self, index: u32, list: impl IntoIterator<Item = u32>) {
        self.push(list);
        if let Some((start, length)) = self.starts.pop().zip(self.lengths.pop()) {
            self.starts[index as usize] = start;
            self.lengths[index as usize] = length;
        }
    }

    /// Returns a list.
    pub(super) fn list(&self, index: u32) -> &[u32] {
        let index = index as usize;
        let start = self.starts[index];
        &self.entries[start..start + self.lengths[index] as usize]
    }

    /// Returns the number of lists.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }
}

// Brings a patched image into the form of one that was loaded from the tables.

impl GraphImage {
    /// Returns the number of a row; `None` if the image lacks it.
    pub(super) fn row_number(&self, row: RowId) -> Option<u32> {
        let site = self.sites.get(row.site().0 as usize)?;
        let first = site.first_row as usize;
        let of_site = &self.row_indexes[first..first + site.rows as usize];
        let found = of_site.binary_search(&row.index());
        let old = found.ok().and_then(|at| u32::try_from(first + at).ok());
        old.or_else(|| self.added.rows.get(&row).copied())
    }

    /// Returns the same image with slots and rows in the order of ids, without rows that no page has.
    ///
    /// Cost: a pass over pages and links. Memory: a second image.
    pub(super) fn normalised(&self) -> Self {
        let mut has_pages = vec![false; self.row_indexes.len()];
        for &row in self.row_of.iter().filter(|row| **row != NO_ROW) {
            has_pages[row as usize] = true;
        }
        let mut added: Vec<_> = self.added.rows.iter().map(|(id, at)| (*id, *at)).collect();
        added.sort_unstable();
        let mut added = added.into_iter().peekable();
        let mut pages = self.added.pages.iter().peekable();
        let mut new_slot = vec![0; self.flags.len()];
        let mut new_row = vec![NO_ROW; self.row_indexes.len()];
        // The old slots and the old numbers of rows in the new order.
        let mut slots: Vec<u32> = Vec::with_capacity(self.flags.len());
        let mut rows: Vec<u32> = Vec::with_capacity(self.row_indexes.len());
        let mut sites = Vec::with_capacity(self.sites.len());
        for (id, site) in (0_u32..).zip(&self.sites) {
            let (first, first_row) = (slots.len(), rows.len());
            slots.extend(site.first..site.first + site.pages);
            while let Some(page) = pages.next_if(|page| page.site().0 == id) {
                slots.extend(self.added.slots.get(page));
            }
            // Rows get ascending numbers, so new ones follow.
            rows.extend(site.first_row..site.first_row + site.rows);
            while let Some((_, at)) = added.next_if(|(row, _)| row.site().0 == id) {
                rows.push(at);
            }
            let mut of_site = rows.split_off(first_row);
            of_site.retain(|row| has_pages[*row as usize]);
            of_site.sort_unstable_by_key(|row| self.row_indexes[*row as usize]);
            rows.append(&mut of_site);
            sites.push(ImageSite {
                first: length(first),
                pages: length(slots.len() - first),
                first_row: length(first_row),
                rows: length(rows.len() - first_row),
                ..*site
            });
        }
        for (new, &old) in (0..).zip(&slots) {
            new_slot[old as usize] = new;
        }
        for (new, &old) in (0..).zip(&rows) {
            new_row[old as usize] = new;
        }
        let renumbered = |list: &[u32]| {
            let mut list: Vec<u32> = list.iter().map(|slot| new_slot[*slot as usize]).collect();
            list.sort_unstable();
            list
        };
        let lists = |lists: &Lists, numbers: &[u32]| {
            let mut all = Lists::default();
            for &number in numbers {
                all.push(renumbered(lists.list(number)));
            }
            all
        };
        let row = |slot: &u32| match self.row_of[*slot as usize] {
            NO_ROW => NO_ROW,
            row => new_row[row as usize],
        };
        let mut attributes = Vec::new();
        let none = PageAttributes::default();
        if self.attributes.iter().any(|of_page| *of_page != none) {
            attributes.extend(slots.iter().map(|slot| self.attributes(*slot)));
        }
        Self {
            batch: self.batch,
            sites,
            flags: slots
                .iter()
                .map(|slot| self.flags[*slot as usize])
                .collect(),
            row_of: slots.iter().map(row).collect(),
            attributes,
            row_indexes: rows
                .iter()
                .map(|row| self.row_indexes[*row as usize])
                .collect(),
            rows: lists(&self.rows, &rows),
            intra: self.intra.as_ref().map(|intra| lists(intra, &slots)),
            order: self
                .order
                .iter()
                .map(|slot| new_slot[*slot as usize])
                .collect(),
            runs: self.runs.clone(),
            added: Added::default(),
            ghosts: None,
        }
    }
}
