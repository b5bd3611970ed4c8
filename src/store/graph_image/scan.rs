//! Loads an image from the tables.

use std::iter::Peekable;
use std::ops::Range;

use rayon::prelude::*;

use super::ghosts::{GHOST, OwnSites, link_ghosts, number_ghosts};
use super::order::{HostFinder, Run, push_page};
use super::{
    Flags, GraphImage, HostPrefix, ImageLinks, ImageSite, Lists, NO_ROW, PageAttributes, length,
};
use crate::error::StoreError;
use crate::tables::entries::Entries;
use crate::tables::records::links::{LinkBlock, LinkKey};
use crate::tables::records::{PageRecord, SiteRecord};
use crate::tables::store::Store;
use crate::tables::table::{Key, Table, Value};
use crate::tables::{INTRA, PAGES, ROWS, SITES};
use seedbank_algorithms::page::{PageId, SiteId};
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
