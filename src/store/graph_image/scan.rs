//! Loads an image from the tables.

use std::iter::Peekable;
use std::ops::Range;

use rayon::prelude::*;

use super::image::{
    Flags, GraphImage, HostFinder, HostPrefix, ImageLinks, ImageSite, Lists, NO_ROW,
    PageAttributes, Run, length, push_page,
};
use crate::error::StoreError;
use crate::tables::records::links::{LinkBlock, LinkKey};
use crate::tables::records::{PageRecord, PageState, SiteRecord};
use crate::tables::shards::SiteParts;
use crate::tables::store::{Entries, Store};
use crate::tables::table::{Key, Table, Value};
use crate::tables::{INTRA, PAGES, ROWS, SITES};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;

/// The number of parts that are read in parallel. It is fixed, so that parts are joined at the same places on
/// every machine.
const PARTS: u32 = 64;

/// A range of sites.
#[derive(Default)]
struct Part {
    flags: Vec<Flags>,
    /// Rows are numbered from 0.
    row_of: Vec<u32>,
    /// Empty if no page has an attribute.
    attributes: Vec<PageAttributes>,
    row_indexes: Vec<u32>,
    row_lengths: Vec<u32>,
    /// Ghosts of a share are numbered from the slot after all pages on, within the part.
    row_targets: Vec<u32>,
    /// Pages of other processes to which rows link, by id; while the part is read, one for each link.
    ghosts: Vec<PageId>,
    intra_lengths: Vec<u32>,
    intra_targets: Vec<u32>,
    order: Vec<u32>,
    runs: Vec<Run>,
    /// The number of rows of each site.
    rows_of_sites: Vec<u32>,
}

/// Loads an image; of a share, if the sites of this process are given. The sites are read in parallel, each table in
/// sequence.
pub(super) fn scan(
    store: &Store,
    own: Option<&OwnSites>,
    links: ImageLinks,
    prefix: HostPrefix<'_>,
    watch: &dyn Watch,
) -> Result<GraphImage, StoreError> {
    let counters = store.counters()?;
    let (mut sites, names) = read_sites(store, own, counters.next_site, watch)?;
    let reader = Reader {
        store,
        own,
        links,
        prefix,
        watch,
        sites: &sites,
        names: &names,
    };
    let parts: Vec<Result<Part, StoreError>> = ranges(&sites)
        .into_par_iter()
        .map(|range| reader.read(range))
        .collect();
    // The first error in the order of sites, whichever happened first.
    let mut parts = parts.into_iter().collect::<Result<Vec<Part>, _>>()?;
    watch.proceed()?;
    let mut next_row = 0;
    let mut of_sites = sites.iter_mut();
    for part in &mut parts {
        let first = next_row;
        // The sites come second: `zip` takes one too many of the first.
        for (&rows, site) in part.rows_of_sites.iter().zip(of_sites.by_ref()) {
            site.first_row = next_row;
            site.rows = rows;
            next_row += rows;
        }
        for row in part.row_of.iter_mut().filter(|row| **row != NO_ROW) {
            *row += first;
        }
    }
    let (order, runs) = by_name(&mut parts, &names);
    let has_attributes = parts.iter().any(|part| !part.attributes.is_empty());
    let mut image = GraphImage {
        sites,
        order,
        runs,
        ..GraphImage::empty(counters.batch)
    };
    for part in &mut parts {
        if has_attributes {
            let pages = image.flags.len() + part.flags.len();
            image.attributes.append(&mut part.attributes);
            image.attributes.resize(pages, PageAttributes::default());
        }
        image.flags.append(&mut part.flags);
        image.row_of.append(&mut part.row_of);
        image.row_indexes.append(&mut part.row_indexes);
    }
    let lists = parts.iter_mut().map(|part| {
        let ghosts = std::mem::take(&mut part.ghosts);
        (ghosts, part.row_targets.as_mut_slice())
    });
    let ghosts = link_ghosts(length(image.flags.len()), lists.collect())?;
    let mut intra = Vec::new();
    let rows = parts.into_iter().map(|part| {
        intra.push((part.intra_lengths, part.intra_targets));
        (part.row_lengths, part.row_targets)
    });
    image.rows = Lists::join(rows);
    if links == ImageLinks::All {
        image.intra = Some(Lists::join(intra.into_iter()));
    }
    if own.is_some() {
        image.add_ghosts(ghosts);
    }
    Ok(image)
}

/// Returns the sites by id, with their names.
fn read_sites(
    store: &Store,
    own: Option<&OwnSites>,
    count: u32,
    watch: &dyn Watch,
) -> Result<(Vec<ImageSite>, Vec<String>), StoreError> {
    let mut sites = vec![ImageSite::default(); count as usize];
    let mut names = vec![String::new(); count as usize];
    let mut next: u32 = 0;
    let entries = match own {
        Some(_) => store.scan_local(&SITES)?,
        None => store.scan(&SITES)?,
    };
    for entry in entries {
        watch.proceed()?;
        let (id, record): (SiteId, SiteRecord) = entry?;
        let Some(site) = sites.get_mut(id.0 as usize) else {
            let what = format!("expected a site below {count}");
            return Err(StoreError::damaged(SITES.name, id.to_string(), what));
        };
        *site = ImageSite {
            pages: record.next_page,
            with_digest: record.with_digest,
            distinct_digests: record.distinct_digests,
            ..ImageSite::default()
        };
        names[id.0 as usize] = record.name;
    }
    for site in &mut sites {
        site.first = next;
        // The largest number means "none".
        next = next
            .checked_add(site.pages)
            .filter(|next| *next < NO_ROW)
            .ok_or(StoreError::Full("page to rank"))?;
    }
    Ok((sites, names))
}

/// Cuts the sites into ranges with about the same number of pages.
fn ranges(sites: &[ImageSite]) -> Vec<Range<u32>> {
    let pages: u64 = sites.iter().map(|site| u64::from(site.pages) + 1).sum();
    let share = pages.div_ceil(u64::from(PARTS)).max(1);
    let mut ranges = Vec::new();
    let (mut from, mut weight) = (0, 0);
    for (end, site) in (1..).zip(sites) {
        weight += u64::from(site.pages) + 1;
        if weight >= share || end as usize == sites.len() {
            ranges.push(from..end);
            (from, weight) = (end, 0);
        }
    }
    ranges
}

/// Joins the orders of all parts by the names of the sites.
fn by_name(parts: &mut [Part], names: &[String]) -> (Vec<u32>, Vec<Run>) {
    let mut all: Vec<(usize, Vec<Run>)> = Vec::new();
    for (at, part) in parts.iter_mut().enumerate() {
        for run in std::mem::take(&mut part.runs) {
            match all.last_mut() {
                Some((_, runs)) if runs.last().is_some_and(|last| last.site == run.site) => {
                    runs.push(run);
                }
                _ => all.push((at, vec![run])),
            }
        }
    }
    let name = |runs: &[Run]| runs.first().map(|run| &names[run.site.0 as usize]);
    all.par_sort_unstable_by(|a, b| name(&a.1).cmp(&name(&b.1)));
    let count = parts.iter().map(|part| part.order.len()).sum();
    let mut order = Vec::with_capacity(count);
    let mut runs = Vec::with_capacity(all.len());
    let mut start = 0;
    for (part, of_site) in all {
        for mut run in of_site {
            order.extend_from_slice(&parts[part].order[run.range()]);
            run.start = start;
            start += run.length;
            runs.push(run);
        }
    }
    (order, runs)
}

struct Reader<'a> {
    store: &'a Store,
    /// The sites of a share; `None` if all sites are read.
    own: Option<&'a OwnSites>,
    links: ImageLinks,
    prefix: HostPrefix<'a>,
    watch: &'a dyn Watch,
    sites: &'a [ImageSite],
    names: &'a [String],
}

impl Reader<'_> {
    /// Reads a range of sites.
    fn read(&self, range: Range<u32>) -> Result<Part, StoreError> {
        let mut pages = self.entries(&PAGES, range.clone())?.peekable();
        let mut rows = self.entries(&ROWS, range.clone())?.peekable();
        let mut intra = match self.links {
            ImageLinks::All => Some(self.entries(&INTRA, range.clone())?.peekable()),
            ImageLinks::InterSite => None,
        };
        let mut part = Part::default();
        let mut finder = HostFinder::new(self.prefix);
        let mut locals: Vec<(String, u32)> = Vec::new();
        for site in range.map(SiteId) {
            self.watch.proceed()?;
            let first_row = part.row_indexes.len();
            while let Some(entry) = next_if(&mut rows, |key| key.site == site) {
                let (key, block) = entry?;
                self.push_rows(key, &block, &mut part)?;
            }
            let rows = part.row_indexes.len() - first_row;
            let rows = u32::try_from(rows).map_err(|_| StoreError::Full("row"))?;
            part.rows_of_sites.push(rows);
            self.push_pages(&mut pages, site, first_row, &mut part, &mut locals)?;
            locals.sort_unstable();
            finder.start_site();
            let name = &self.names[site.0 as usize];
            for (local, slot) in locals.drain(..) {
                let at = u32::try_from(part.order.len()).unwrap_or(u32::MAX);
                push_page(&mut part.runs, site, at, finder.begins(name, &local));
                part.order.push(slot);
            }
            if let Some(intra) = &mut intra {
                self.push_intra(intra, site, &mut part)?;
            }
        }
        let Part {
            row_lengths,
            row_targets,
            ghosts,
            ..
        } = &mut part;
        number_ghosts(self.slots(), row_lengths, row_targets, ghosts)?;
        Ok(part)
    }

    /// Iterates over the entries of a range of sites.
    fn entries<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        range: Range<u32>,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        match self.own {
            Some(_) => self.store.scan_local_sites(table, range),
            None => self.store.scan_sites(table, range),
        }
    }

    /// Returns the number of slots of the pages of all sites that are read.
    fn slots(&self) -> u32 {
        let last = self.sites.last();
        last.map_or(0, |site| site.first + site.pages)
    }

    /// Whether a page belongs to another process.
    fn is_ghost(&self, page: PageId) -> bool {
        self.own.is_some_and(|own| !own.has(page.site()))
    }

    fn slot(&self, page: PageId) -> Option<u32> {
        let site = self.sites.get(page.site().0 as usize)?;
        (page.index() < site.pages).then(|| site.first + page.index())
    }

    /// Appends the pages of a site, and the rest of each URL with the slot.
    fn push_pages(
        &self,
        pages: &mut Peekable<Entries<'_, PageId, PageRecord>>,
        site: SiteId,
        first_row: usize,
        part: &mut Part,
        locals: &mut Vec<(String, u32)>,
    ) -> Result<(), StoreError> {
        let of_site = self.sites[site.0 as usize];
        let first = part.flags.len();
        let unused = Flags::NONE;
        while let Some(entry) = next_if(pages, |page| page.site() == site) {
            let (page, record) = entry?;
            let missing = |what: &str| StoreError::damaged(PAGES.name, page.to_string(), what);
            if page.index() >= of_site.pages {
                return Err(missing("the site has no such page"));
            }
            let at = first + page.index() as usize;
            // Ids without a record are no pages.
            part.flags.resize(at, unused);
            part.row_of.resize(at, NO_ROW);
            part.flags.push(Flags::from_record(&record));
            let row = match record.row {
                None => NO_ROW,
                Some(row) => {
                    let place = part.row_indexes[first_row..].binary_search(&row);
                    let place = place.map_err(|_| missing("its row is missing"))?;
                    u32::try_from(first_row + place).map_err(|_| StoreError::Full("row"))?
                }
            };
            part.row_of.push(row);
            let attributes = PageAttributes::from_record(&record);
            if self.links == ImageLinks::All && attributes != PageAttributes::default() {
                part.attributes.resize(at, PageAttributes::default());
                part.attributes.push(attributes);
            }
            if !record.is_nameless() {
                locals.push((record.local, of_site.first + page.index()));
            }
        }
        let end = first + of_site.pages as usize;
        part.flags.resize(end, unused);
        part.row_of.resize(end, NO_ROW);
        Ok(())
    }

    /// Appends a block of rows.
    fn push_rows(
        &self,
        key: LinkKey,
        block: &LinkBlock<PageId>,
        part: &mut Part,
    ) -> Result<(), StoreError> {
        for (place, targets) in block.lists() {
            part.row_indexes.push(key.index(place));
            part.row_lengths.push(length(targets.len()));
            for &target in targets {
                let slot = match self.slot(target) {
                    Some(slot) => slot,
                    None if self.is_ghost(target) => {
                        part.ghosts.push(target);
                        GHOST
                    }
                    None => return Err(missing_target(key, target)),
                };
                part.row_targets.push(slot);
            }
        }
        Ok(())
    }

    /// Appends the intra-site links of a site.
    fn push_intra(
        &self,
        blocks: &mut Peekable<Entries<'_, LinkKey, LinkBlock<u32>>>,
        site: SiteId,
        part: &mut Part,
    ) -> Result<(), StoreError> {
        let of_site = self.sites[site.0 as usize];
        let first = part.intra_lengths.len();
        while let Some(entry) = next_if(blocks, |key| key.site == site) {
            let (key, block) = entry?;
            let damaged = |what: &str| StoreError::damaged(INTRA.name, format!("{key:?}"), what);
            for (place, targets) in block.lists() {
                let index = key.index(place);
                if index.max(targets.last().copied().unwrap_or(0)) >= of_site.pages {
                    return Err(damaged("the site has no such page"));
                }
                part.intra_lengths.resize(first + index as usize, 0);
                part.intra_lengths.push(length(targets.len()));
                let slots = targets.iter().map(|target| of_site.first + target);
                part.intra_targets.extend(slots);
            }
        }
        part.intra_lengths.resize(first + of_site.pages as usize, 0);
        Ok(())
    }
}

/// Returns the error of a row with a target that does not exist.
pub(super) fn missing_target(key: LinkKey, target: PageId) -> StoreError {
    let what = format!("a row links to {target}, which does not exist");
    StoreError::damaged(ROWS.name, format!("{key:?}"), what)
}

impl PageAttributes {
    pub(crate) fn from_record(record: &PageRecord) -> Self {
        if !record.state.is_live() {
            return Self::default();
        }
        Self {
            clicks: record.clicks,
            uncrawled_given: record.uncrawled_given,
            quality: record.quality(),
        }
    }
}

/// Returns the next entry if its key is wanted. An error is always returned.
fn next_if<K, V>(
    entries: &mut Peekable<impl Iterator<Item = Result<(K, V), StoreError>>>,
    is_wanted: impl Fn(&K) -> bool,
) -> Option<Result<(K, V), StoreError>> {
    entries.next_if(|entry| match entry {
        Ok((key, _)) => is_wanted(key),
        Err(_) => true,
    })
}

// Numbers the ghosts of a share: the pages of other processes to which rows link.

/// Stands for a ghost that has no number yet.
pub(super) const GHOST: u32 = u32::MAX;

/// The sites of a cluster bank that are in databases of this process.
pub(super) struct OwnSites {
    parts: SiteParts,
    /// By part.
    is_own: Vec<bool>,
}

impl OwnSites {
    /// Returns `None` if the store is no cluster bank, so that all sites are in this process.
    pub(super) fn of_store(store: &Store) -> Option<Self> {
        let mut is_own = vec![false; store.part_count()? as usize];
        for (part, _) in store.local_databases() {
            if let Some(is_own) = is_own.get_mut(part as usize) {
                *is_own = true;
            }
        }
        Some(Self {
            parts: store.site_parts()?,
            is_own,
        })
    }

    /// Whether a site is in a database of this process.
    pub(super) fn has(&self, site: SiteId) -> bool {
        let is_own = self.is_own.get(self.parts.of_site(site));
        is_own.copied().unwrap_or(false)
    }
}

/// Numbers the ghosts of rows in the order of their ids, from `first` on, and removes duplicates from `ghosts`. On entry,
/// `ghosts` has one id for each entry of `targets` that is [`GHOST`], in the same order.
pub(super) fn number_ghosts(
    first: u32,
    lengths: &[u32],
    targets: &mut [u32],
    ghosts: &mut Vec<PageId>,
) -> Result<(), StoreError> {
    if ghosts.is_empty() {
        return Ok(());
    }
    let of_links = std::mem::take(ghosts);
    ghosts.clone_from(&of_links);
    ghosts.sort_unstable();
    ghosts.dedup();
    ghosts.shrink_to_fit();
    ensure_room(first, ghosts.len())?;
    let mut next = of_links.iter();
    let mut rest = targets;
    for &count in lengths {
        let (row, others) = rest.split_at_mut(count as usize);
        let mut has_ghosts = false;
        for target in row.iter_mut().filter(|target| **target == GHOST) {
            let page = next.next();
            let place = page.map_or(0, |page| ghosts.partition_point(|ghost| ghost < page));
            *target = first + length(place);
            has_ghosts = true;
        }
        // Ghosts follow all other pages, whatever their ids.
        if has_ghosts {
            row.sort_unstable();
        }
        rest = others;
    }
    Ok(())
}

/// Fails unless ghosts can be numbered from `first` on.
fn ensure_room(first: u32, ghosts: usize) -> Result<(), StoreError> {
    let end = u32::try_from(ghosts).ok();
    let end = end.and_then(|ghosts| first.checked_add(ghosts));
    // The largest number means "none".
    let has_room = end.is_some_and(|end| end < NO_ROW);
    has_room
        .then_some(())
        .ok_or(StoreError::Full("page to rank"))
}

/// Joins the ghosts of parts. Each part has its ghosts by id, and lists in which they are numbered from `first` on; these
/// get the numbers in the joined list, which is returned.
pub(super) fn link_ghosts(
    first: u32,
    mut parts: Vec<(Vec<PageId>, &mut [u32])>,
) -> Result<Vec<PageId>, StoreError> {
    let mut all: Vec<PageId> = Vec::new();
    if parts.iter().all(|(ghosts, _)| ghosts.is_empty()) {
        return Ok(all);
    }
    for (ghosts, _) in &parts {
        all.extend_from_slice(ghosts);
    }
    all.par_sort_unstable();
    all.dedup();
    all.shrink_to_fit();
    ensure_room(first, all.len())?;
    parts.par_iter_mut().for_each(|(ghosts, targets)| {
        let slot = |ghost: &PageId| first + length(all.partition_point(|of| of < ghost));
        let slots: Vec<u32> = ghosts.iter().map(slot).collect();
        for target in targets.iter_mut() {
            let ghost = target.checked_sub(first);
            if let Some(slot) = ghost.and_then(|ghost| slots.get(ghost as usize)) {
                *target = *slot;
            }
        }
    });
    Ok(all)
}

impl GraphImage {
    /// Adds slots for the ghosts.
    pub(super) fn add_ghosts(&mut self, ghosts: Vec<PageId>) {
        let slots = self.flags.len() + ghosts.len();
        self.flags.resize(slots, Flags::NONE);
        self.row_of.resize(slots, NO_ROW);
        if let Some(intra) = &mut self.intra {
            for _ in &ghosts {
                intra.push([]);
            }
        }
        self.ghosts = Some(ghosts);
    }
}

// The share of one of several processes that have a cluster bank: the image of the sites that are in databases of this
// process.
//
// A page of another process to which rows link is a *ghost*. Ghosts have slots after all other pages, in the order of
// their ids. They have no row, no links and no attributes, and are no pages until [`GraphImage::set_ghost`] sets what
// the process that has them answers.

impl GraphImage {
    /// Loads the graph of the sites that are in databases of this process, from the tables and nothing else. Entries of
    /// sites of other processes are not read.
    ///
    /// Pages of other processes to which rows link are [ghosts](Self::ghosts). Whether they exist, the processes that
    /// have them know.
    ///
    /// Cost: one scan of the own sites, pages, rows and intra-site links, and the sorting of the URLs of each site. Memory:
    /// that of an image of these sites, 28 bytes for each ghost, and 48 for each site of the bank; while it loads, up to 8
    /// more for each link to another process.
    pub fn load_share(
        store: &Store,
        links: ImageLinks,
        prefix: HostPrefix<'_>,
        watch: &dyn Watch,
    ) -> Result<Self, StoreError> {
        watch.stage("load graph", None);
        let own = OwnSites::of_store(store);
        let mut image = scan(store, own.as_ref(), links, prefix, watch)?;
        image.ghosts.get_or_insert_default();
        Ok(image)
    }

    /// Whether the image has only the sites that are in databases of this process.
    #[must_use]
    pub const fn is_share(&self) -> bool {
        self.ghosts.is_some()
    }

    /// Returns the slots of the pages of other processes to which rows link, in the order of their ids.
    #[must_use]
    pub fn ghosts(&self) -> Range<u32> {
        let count = self.ghosts.as_ref().map_or(0, Vec::len);
        length(self.flags.len() - count)..length(self.flags.len())
    }

    /// Sets the state of a ghost, which the process that has the page knows.
    pub fn set_ghost(&mut self, slot: u32, state: PageState) {
        if self.ghosts().contains(&slot) {
            self.flags[slot as usize] = Flags::new(state, false);
        }
    }

    /// Returns the error of a ghost that does not exist in the process to which it belongs.
    ///
    /// Cost: a pass over the links.
    #[must_use]
    pub fn missing_ghost(&self, slot: u32) -> StoreError {
        let mut rows = 0..length(self.row_indexes.len());
        let first = rows.find(|row| self.row(*row).contains(&slot)).unwrap_or(0);
        let site = self.sites.partition_point(|site| site.first_row <= first);
        let index = self.row_indexes.get(first as usize);
        let site = SiteId(length(site.saturating_sub(1)));
        let row = RowId::new(site, index.copied().unwrap_or(0));
        missing_target(LinkKey::of_row(row).0, self.page(slot))
    }
}
