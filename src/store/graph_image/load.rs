//! Loads an image: from the tables, or from the file, brought up to date by what batches changed since it was written.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::file;
use super::image::{
    Flags, GraphImage, HostPrefix, ImageLinks, ImageSite, NO_ROW, PageAttributes, Run, length,
    push_page,
};
use super::scan::scan;
use crate::error::StoreError;
use crate::tables::records::links::LinkKey;
use crate::tables::records::{BatchId, BatchKind, SiteRecord};
use crate::tables::store::{ImageAccess, Store};
use crate::tables::{
    BATCHES, INTRA, LinkCursor, PAGE_IDS, PAGES, PageSetKey, ROWS, SITE_IDS, SITES,
};
use seedbank_algorithms::page::{PageId, PageSet, RowId, SiteId};
use seedbank_algorithms::watch::Watch;

/// A patched image is written if more than one in this many pages was read from the tables.
const REWRITE_SHARE: u64 = 200;

/// The tables are scanned if more than one in this many pages changed: reading a page by key takes as long as
/// scanning some twenty.
const PATCH_SHARE: u64 = 20;

/// The tables are scanned after more batches than this.
const MAX_BATCHES: u32 = 10_000;

/// The number of changed pages from which on the tables are scanned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    /// The number from which on scanning is cheaper than reading by key.
    Cost,
    None,
}

/// Counts of where an image came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageSource {
    /// The tables, all of them.
    Tables,
    /// The file, with this number of pages read from the tables.
    File(u64),
}

impl GraphImage {
    /// Loads the graph of a state, from the image if there is a usable one, else from the tables. Then it
    /// writes the image, unless another process does, or the state is not the published one any more.
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
        let Some(access) = store.image() else {
            let image = scan(store, None, links, prefix, watch)?;
            return Ok((image, ImageSource::Tables));
        };
        let existing = file::existing(store, &access.folder);
        match read_current(store, &access.folder, Limit::Cost, links, prefix, watch) {
            Ok(Some((image, changed))) => {
                let is_whole = existing.is_some_and(|existing| existing.links <= links);
                if is_whole && changed > image.page_count() / REWRITE_SHARE {
                    image.normalised().save(store, access, links);
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
            let image = scan(store, None, links, prefix, watch)?;
            return Ok((image, ImageSource::Tables));
        }
        // The new file replaces all that the old one is used for.
        let links = existing.map_or(links, |existing| existing.links.max(links));
        let image = scan(store, None, links, prefix, watch)?;
        image.save(store, access, links);
        Ok((image, ImageSource::Tables))
    }

    /// Loads the graph from the tables, and nothing else.
    pub fn from_tables(
        store: &Store,
        links: ImageLinks,
        prefix: HostPrefix<'_>,
        watch: &dyn Watch,
    ) -> Result<Self, StoreError> {
        scan(store, None, links, prefix, watch)
    }

    /// Loads the graph from the image, however many pages changed since it was written. Also returns the number of
    /// pages that were read from the tables. `None` if there is no usable image.
    pub fn from_file(
        store: &Store,
        links: ImageLinks,
        prefix: HostPrefix<'_>,
        watch: &dyn Watch,
    ) -> Result<Option<(Self, u64)>, StoreError> {
        let Some(ImageAccess { folder, .. }) = store.image() else {
            return Ok(None);
        };
        read_current(store, folder, Limit::None, links, prefix, watch)
    }

    fn save(&self, store: &Store, access: &ImageAccess, links: ImageLinks) {
        if let Err(e) = file::write(self, store, access, links) {
            tracing::debug!("the graph image is not written: {e:?}");
        }
    }
}

/// Reads the image of a folder and brings it up to date. Also returns the number of pages that were read from
/// the tables. `None` if there is no usable image, or if more pages changed than the limit.
fn read_current(
    store: &Store,
    folder: &Path,
    limit: Limit,
    links: ImageLinks,
    prefix: HostPrefix<'_>,
    watch: &dyn Watch,
) -> Result<Option<(GraphImage, u64)>, StoreError> {
    let Some(image) = file::open(store, folder, links)? else {
        return Ok(None);
    };
    let current = store.counters()?.batch;
    let max_pages = match limit {
        Limit::Cost => image.pages() / PATCH_SHARE,
        Limit::None => u64::MAX,
    };
    let Some(changed) = changed_since(store, image.batch(), current, max_pages)? else {
        return Ok(None);
    };
    watch.proceed()?;
    let mut image = image.read(links)?;
    let count = changed.len();
    if image.batch != current {
        let mut patch = Patch {
            store,
            prefix,
            watch,
            image: &mut image,
            names: HashMap::new(),
            new: Vec::new(),
        };
        patch.apply(changed)?;
        image.batch = current;
    }
    Ok(Some((image, count)))
}

/// Returns the pages that batches changed; `None` if one of them forgot pages, or if they are too many.
fn changed_since(
    store: &Store,
    batch: BatchId,
    current: BatchId,
    max_pages: u64,
) -> Result<Option<PageSet>, StoreError> {
    if batch > current || current - batch > MAX_BATCHES {
        return Ok(None);
    }
    let mut changed = PageSet::new();
    for batch in batch + 1..=current {
        if store.need(&BATCHES, &batch)?.kind == BatchKind::Forget {
            return Ok(None);
        }
        for part in store.need_page_set_parts(PageSetKey::Changed(batch))? {
            let (_, pages) = part?;
            changed |= pages;
            if changed.len() > max_pages {
                return Ok(None);
            }
        }
    }
    Ok(Some(changed))
}

struct Patch<'a> {
    store: &'a Store,
    prefix: HostPrefix<'a>,
    watch: &'a dyn Watch,
    image: &'a mut GraphImage,
    /// The names of the sites with changed pages.
    names: HashMap<SiteId, String>,
    /// The new pages with URLs: the rest of the URL and the slot.
    new: Vec<(SiteId, String, u32)>,
}

impl Patch<'_> {
    fn apply(&mut self, mut changed: PageSet) -> Result<(), StoreError> {
        self.add_pages(&mut changed)?;
        self.read_pages(&changed)?;
        if !self.new.is_empty() {
            self.insert_new()?;
        }
        Ok(())
    }

    /// Reads the records of the sites of changed pages, and gives slots to new pages, which become changed.
    fn add_pages(&mut self, changed: &mut PageSet) -> Result<(), StoreError> {
        let image = &mut *self.image;
        let end = length(image.flags.len());
        let end_of_rows = length(image.row_indexes.len());
        let sites = self.store.counters()?.next_site as usize;
        image.sites.resize(
            sites.max(image.sites.len()),
            ImageSite {
                first: end,
                first_row: end_of_rows,
                ..ImageSite::default()
            },
        );
        let mut of_changed: Vec<SiteId> = Vec::new();
        for (high, _) in changed.bitmaps() {
            of_changed.push(SiteId(high));
        }
        for id in of_changed {
            self.watch.proceed()?;
            let record: SiteRecord = self.store.need(&SITES, &id)?;
            let missing = || StoreError::damaged(SITES.name, id.to_string(), "unknown site");
            let site = image.sites.get_mut(id.0 as usize).ok_or_else(missing)?;
            site.with_digest = record.with_digest;
            site.distinct_digests = record.distinct_digests;
            for index in site.pages..record.next_page {
                let page = PageId::new(id, index);
                let slot = length(image.flags.len());
                if slot == NO_ROW {
                    return Err(StoreError::Full("page to rank"));
                }
                changed.insert(page.0);
                image.added.slots.insert(page, slot);
                image.added.pages.push(page);
                image.flags.push(Flags::NONE);
                image.row_of.push(NO_ROW);
                if let Some(intra) = &mut image.intra {
                    intra.push([]);
                }
            }
            self.names.insert(id, record.name);
        }
        Ok(())
    }

    /// Reads changed pages and their links.
    fn read_pages(&mut self, changed: &PageSet) -> Result<(), StoreError> {
        let store = self.store;
        let mut intra = LinkCursor::new(store, &INTRA);
        let mut rows = LinkCursor::new(store, &ROWS);
        let pages: Vec<PageId> = changed.iter().map(PageId).collect();
        store.records_of(&pages, |page, record| {
            self.watch.proceed()?;
            let damaged = |what: &str| StoreError::damaged(PAGES.name, page.to_string(), what);
            let slot = self.image.slot(page);
            let slot = slot.ok_or_else(|| damaged("the site has no such page"))?;
            self.image.flags[slot as usize] = Flags::from_record(&record);
            self.image.row_of[slot as usize] = match record.row {
                None => NO_ROW,
                Some(index) => self.row(RowId::new(page.site(), index), &mut rows)?,
            };
            if self.image.intra.is_some() {
                let (key, place) = LinkKey::of_page(page);
                self.read_links(page, slot, intra.list(key, place)?)?;
                self.set_attributes(slot, PageAttributes::from_record(&record));
            }
            if slot as usize >= self.image.flags.len() - self.image.added.pages.len()
                && !record.is_nameless()
            {
                self.new.push((page.site(), record.local, slot));
            }
            Ok(())
        })
    }

    fn set_attributes(&mut self, slot: u32, attributes: PageAttributes) {
        let of_pages = &mut self.image.attributes;
        if !of_pages.is_empty() || attributes != PageAttributes::default() {
            of_pages.resize(self.image.flags.len(), PageAttributes::default());
            of_pages[slot as usize] = attributes;
        }
    }

    fn read_links(&mut self, page: PageId, slot: u32, targets: &[u32]) -> Result<(), StoreError> {
        let mut slots = Vec::with_capacity(targets.len());
        for &index in targets {
            let target = PageId::new(page.site(), index);
            slots.push(self.target(INTRA.name, target)?);
        }
        // New pages follow all others, also those of their site.
        slots.sort_unstable();
        if let Some(intra) = &mut self.image.intra {
            intra.set(slot, slots);
        }
        Ok(())
    }

    fn target(&self, table: &'static str, target: PageId) -> Result<u32, StoreError> {
        let missing = || StoreError::damaged(table, target.to_string(), "a target does not exist");
        self.image.slot(target).ok_or_else(missing)
    }

    /// Returns the number of a row, which is read if it is new.
    fn row(&mut self, row: RowId, rows: &mut LinkCursor<'_, PageId>) -> Result<u32, StoreError> {
        if let Some(found) = self.image.row_number(row) {
            return Ok(found);
        }
        let (key, place) = LinkKey::of_row(row);
        let targets = rows.list(key, place)?;
        if targets.is_empty() {
            return Err(StoreError::damaged(
                ROWS.name,
                row.to_string(),
                "the row is missing",
            ));
        }
        let mut slots = Vec::with_capacity(targets.len());
        for &target in targets {
            slots.push(self.target(ROWS.name, target)?);
        }
        slots.sort_unstable();
        let image = &mut *self.image;
        let number = length(image.row_indexes.len());
        if number == NO_ROW {
            return Err(StoreError::Full("row"));
        }
        image.row_indexes.push(row.index());
        image.rows.push(slots);
        image.added.rows.insert(row, number);
        Ok(number)
    }

    /// Inserts the new pages into the order.
    fn insert_new(&mut self) -> Result<(), StoreError> {
        self.new.sort_unstable();
        let mut begins: HashMap<u32, String> = HashMap::new();
        for (site, local, slot) in &self.new {
            let mut text = String::new();
            let name = self.names.get(site).map_or("", String::as_str);
            (self.prefix)(name, local, &mut text);
            begins.insert(*slot, text);
        }
        let known: HashSet<SiteId> = self.image.runs.iter().map(|run| run.site).collect();
        let mut insertions = Insertions {
            begins,
            before: HashMap::new(),
            last: HashMap::new(),
            sites: HashSet::new(),
            new_sites: BTreeMap::new(),
        };
        let mut of_new_sites: BTreeMap<String, (SiteId, Vec<u32>)> = BTreeMap::new();
        for (site, local, slot) in std::mem::take(&mut self.new) {
            self.watch.proceed()?;
            if !known.contains(&site) {
                let name = self.names.get(&site).cloned().unwrap_or_default();
                let of_site = of_new_sites.entry(name).or_insert((site, Vec::new()));
                of_site.1.push(slot);
                continue;
            }
            insertions.sites.insert(site);
            let prefix = site.0.to_be_bytes();
            let mut following = self.store.scan_from(&PAGE_IDS, &(site, local), &prefix)?;
            // The first entry is the page itself.
            following.next().transpose()?;
            match following.next().transpose()? {
                Some((_, index)) => {
                    let next = self.target(PAGE_IDS.name, PageId::new(site, index))?;
                    insertions.before.insert(next, slot);
                }
                None => {
                    insertions.last.insert(site, slot);
                }
            }
        }
        // The next known site follows all new sites before it, so that each site is read once.
        let mut next: Option<(String, SiteId)> = None;
        let mut is_past_last = false;
        for (name, of_site) in of_new_sites {
            if !is_past_last && next.as_ref().is_none_or(|(known, _)| *known < name) {
                next = self.next_known_site(&name, &known)?;
                is_past_last = next.is_none();
            }
            let next = next.as_ref().map(|(_, site)| *site);
            insertions.new_sites.entry(next).or_default().push(of_site);
        }
        insertions.apply(self.image);
        Ok(())
    }

    /// Returns the first known site after a name.
    fn next_known_site(
        &self,
        name: &String,
        known: &HashSet<SiteId>,
    ) -> Result<Option<(String, SiteId)>, StoreError> {
        for entry in self.store.scan_from(&SITE_IDS, name, &[])? {
            self.watch.proceed()?;
            let (name, site) = entry?;
            if known.contains(&site) {
                return Ok(Some((name, site)));
            }
        }
        Ok(None)
    }
}

/// New pages, and where they belong.
struct Insertions {
    /// The prefixes of their URLs.
    begins: HashMap<u32, String>,
    /// The new page that precedes a page of the same site.
    before: HashMap<u32, u32>,
    /// The new page that is the last one of a site.
    last: HashMap<SiteId, u32>,
    /// Sites with old and new pages.
    sites: HashSet<SiteId>,
    /// Sites with new pages only, in their order, by the next site with an old one.
    new_sites: BTreeMap<Option<SiteId>, Vec<(SiteId, Vec<u32>)>>,
}

impl Insertions {
    fn apply(mut self, image: &mut GraphImage) {
        let old = std::mem::take(&mut image.order);
        let mut order = Vec::with_capacity(old.len() + self.begins.len());
        let mut runs: Vec<Run> = Vec::with_capacity(image.runs.len());
        for of_site in std::mem::take(&mut image.runs).chunk_by(|a, b| a.site == b.site) {
            let site = of_site[0].site;
            self.push_new_sites(Some(site), &mut order, &mut runs);
            for run in of_site {
                if self.sites.contains(&site) {
                    for &slot in &old[run.range()] {
                        self.push_chain(site, self.before.get(&slot), &mut order, &mut runs);
                        push_page(&mut runs, site, length(order.len()), &run.begins);
                        order.push(slot);
                    }
                } else {
                    let start = length(order.len());
                    order.extend_from_slice(&old[run.range()]);
                    runs.push(Run {
                        start,
                        ..run.clone()
                    });
                }
            }
            self.push_chain(site, self.last.get(&site), &mut order, &mut runs);
        }
        self.push_new_sites(None, &mut order, &mut runs);
        (image.order, image.runs) = (order, runs);
    }

    /// Appends a new page after the new pages that precede it.
    fn push_chain(
        &self,
        site: SiteId,
        last: Option<&u32>,
        order: &mut Vec<u32>,
        runs: &mut Vec<Run>,
    ) {
        let mut chain = Vec::new();
        let mut next = last;
        while let Some(slot) = next {
            chain.push(*slot);
            next = self.before.get(slot);
        }
        for slot in chain.into_iter().rev() {
            self.push(site, slot, order, runs);
        }
    }

    fn push(&self, site: SiteId, slot: u32, order: &mut Vec<u32>, runs: &mut Vec<Run>) {
        let begins = self.begins.get(&slot).map_or("", String::as_str);
        push_page(runs, site, length(order.len()), begins);
        order.push(slot);
    }

    fn push_new_sites(&mut self, next: Option<SiteId>, order: &mut Vec<u32>, runs: &mut Vec<Run>) {
        for (site, slots) in self.new_sites.remove(&next).unwrap_or_default() {
            for slot in slots {
                self.push(site, slot, order, runs);
            }
        }
    }
}
