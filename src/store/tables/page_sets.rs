//! Sets of pages, stored in parts by ranges of sites, so that no value grows with the number of sites.

use std::cell::RefCell;

use roaring::RoaringBitmap;

use super::changes::Changes;
use super::codec::{self, Malformed};
use super::records::page_set_keys::{PageSetKey, PageSetPart};
use super::schema::PAGE_SETS;
use super::store::{Entries, Store};
use super::table::Key;
use crate::error::StoreError;
use seedbank_algorithms::page::{PageId, PageSet, SiteId};

/// Size of a part in bytes. A part ends after the site with which it reaches the size.
const PART: usize = 64 << 10;

/// Writes a set of pages that come in the order of their sites.
///
/// Memory: one part, and the bitmap of one site.
#[derive(Debug)]
pub struct PageSetWriter {
    part: PageSetPart,
    /// The bytes of the closed sites of the part, after the number of sites.
    bytes: Vec<u8>,
    sites: u64,
    open: Option<(SiteId, RoaringBitmap)>,
}

impl PageSetWriter {
    /// Creates the writer of a set.
    #[must_use]
    pub const fn new(set: PageSetKey) -> Self {
        Self {
            part: PageSetPart::first_of(set),
            bytes: Vec::new(),
            sites: 0,
            open: None,
        }
    }

    /// Returns whether no page was added.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.open.is_none()
    }

    /// Adds a page; fails if its site is before that of the last page.
    pub fn push(&mut self, page: PageId, changes: &mut Changes) -> Result<(), StoreError> {
        match &mut self.open {
            Some((open, pages)) if *open == page.site() => {
                pages.insert(page.index());
                Ok(())
            }
            _ => self.open(
                page.site(),
                RoaringBitmap::from_iter([page.index()]),
                changes,
            ),
        }
    }

    fn open(
        &mut self,
        site: SiteId,
        pages: RoaringBitmap,
        changes: &mut Changes,
    ) -> Result<(), StoreError> {
        if let Some((open, _)) = self.open.as_ref().filter(|(open, _)| *open >= site) {
            let what = Malformed(format!("pages of {site} come after pages of {open}"));
            return Err(StoreError::spilled(&what));
        }
        self.close()?;
        if self.bytes.len() >= PART {
            self.put(changes)?;
            self.part.first = site;
        }
        self.open = Some((site, pages));
        Ok(())
    }

    fn close(&mut self) -> Result<(), StoreError> {
        if let Some((site, pages)) = self.open.take() {
            self.bytes.extend(site.0.to_le_bytes());
            let written = codec::put_bitmap(&pages, &mut self.bytes);
            written.map_err(|e| StoreError::spilled(&e))?;
            self.sites += 1;
        }
        Ok(())
    }

    /// Adds the part to `changes`, in the portable format of roaring.
    fn put(&mut self, changes: &mut Changes) -> Result<(), StoreError> {
        self.bytes.splice(0..0, self.sites.to_le_bytes());
        changes.put_encoded(&PAGE_SETS, &self.part, &self.bytes)?;
        self.bytes.clear();
        self.sites = 0;
        Ok(())
    }

    /// Adds the last part to `changes`. An empty set has one part.
    pub fn finish(mut self, changes: &mut Changes) -> Result<(), StoreError> {
        self.close()?;
        self.put(changes)
    }
}

impl Changes {
    /// Adds a set of pages that does not exist yet.
    pub fn put_page_set(&mut self, set: PageSetKey, pages: &PageSet) -> Result<(), StoreError> {
        let mut writer = PageSetWriter::new(set);
        for (site, of_site) in pages.bitmaps() {
            writer.open(SiteId(site), of_site.clone(), self)?;
        }
        writer.finish(self)
    }

    /// Deletes a set of pages.
    pub fn delete_page_set(&mut self, store: &Store, set: PageSetKey) -> Result<(), StoreError> {
        self.delete_under(store, &PAGE_SETS, &set.bytes())
    }

    /// Adds a copy of a set of pages, which must exist, under a key that does not exist yet. Memory: one part.
    pub fn copy_page_set(
        &mut self,
        store: &Store,
        from: PageSetKey,
        to: PageSetKey,
    ) -> Result<(), StoreError> {
        for entry in store.need_page_set_parts(from)? {
            let (PageSetPart { first, .. }, pages) = entry?;
            self.put(&PAGE_SETS, &PageSetPart { set: to, first }, &pages)?;
        }
        Ok(())
    }
}

impl Store {
    /// Iterates over the parts of a set of pages, in the order of sites. A set that does not exist has none.
    pub fn page_set_parts(
        &self,
        set: PageSetKey,
    ) -> Result<Entries<'_, PageSetPart, PageSet>, StoreError> {
        self.scan_under(&PAGE_SETS, &set.bytes())
    }

    /// Returns a set of pages; `None` if it does not exist.
    pub fn page_set(&self, set: PageSetKey) -> Result<Option<PageSet>, StoreError> {
        let mut whole = None;
        for entry in self.page_set_parts(set)? {
            let (_, pages) = entry?;
            *whole.get_or_insert_with(PageSet::new) |= pages;
        }
        Ok(whole)
    }

    /// Iterates over the parts of a set of pages that must exist, since another record refers to it.
    pub fn need_page_set_parts(
        &self,
        set: PageSetKey,
    ) -> Result<Entries<'_, PageSetPart, PageSet>, StoreError> {
        if self.has(&PAGE_SETS, &PageSetPart::first_of(set))? {
            self.page_set_parts(set)
        } else {
            Err(missing(set))
        }
    }

    /// Opens a set of pages that must exist, since another record refers to it.
    pub fn need_page_set_reader(&self, set: PageSetKey) -> Result<PageSetReader<'_>, StoreError> {
        self.page_set_reader(set)?.ok_or_else(|| missing(set))
    }

    /// Opens a set of pages; `None` if it does not exist.
    pub fn page_set_reader(
        &self,
        set: PageSetKey,
    ) -> Result<Option<PageSetReader<'_>>, StoreError> {
        let keys = self.keys_under(&PAGE_SETS, &set.bytes())?;
        Ok((!keys.is_empty()).then(|| PageSetReader {
            store: self,
            set,
            firsts: keys.into_iter().map(|part| part.first).collect(),
            part: RefCell::new(None),
        }))
    }
}

fn missing(set: PageSetKey) -> StoreError {
    StoreError::damaged(PAGE_SETS.name, format!("{set:?}"), "the record is missing")
}

/// Reader of a set of pages. Holds one part of the set in memory.
pub struct PageSetReader<'a> {
    store: &'a Store,
    set: PageSetKey,
    /// The first site of each part.
    firsts: Vec<SiteId>,
    /// The part that was read last, and its number.
    part: RefCell<Option<(usize, PageSet)>>,
}

impl PageSetReader<'_> {
    /// Returns whether the set has a page. Pages that are asked for in the order of sites read each part once.
    pub fn contains(&self, page: PageId) -> Result<bool, StoreError> {
        self.ask(page.site(), |part| part.contains(page.0))
    }

    /// Returns whether the set has a page of a site.
    pub fn has_site(&self, site: SiteId) -> Result<bool, StoreError> {
        let (first, last) = (PageId::new(site, 0), PageId::new(site, u32::MAX));
        self.ask(site, |part| part.range_cardinality(first.0..=last.0) > 0)
    }

    fn ask(
        &self,
        site: SiteId,
        question: impl FnOnce(&PageSet) -> bool,
    ) -> Result<bool, StoreError> {
        let at = self.firsts.partition_point(|first| *first <= site);
        let Some(number) = at.checked_sub(1) else {
            return Ok(false);
        };
        let mut last = self.part.borrow_mut();
        if let Some((_, part)) = last.as_ref().filter(|(of, _)| *of == number) {
            return Ok(question(part));
        }
        let (set, first) = (self.set, self.firsts[number]);
        let part = self.store.need(&PAGE_SETS, &PageSetPart { set, first })?;
        let answer = question(&part);
        *last = Some((number, part));
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::publish::commit::tests::TestBank;

    const SET: PageSetKey = PageSetKey::Changed(7);

    /// Commits what `put` adds to a new bank, and reads the set.
    fn stored(put: impl Fn(&mut Changes)) -> (TestBank, Vec<(PageSetPart, PageSet)>) {
        let place = TestBank::new();
        let writer = place.writer();
        let mut changes = Changes::new(&writer.spill_folder(), 1 << 20);
        put(&mut changes);
        writer.commit(changes, writer.counters().unwrap()).unwrap();
        let parts = writer.page_set_parts(SET).unwrap();
        let parts = parts.collect::<Result<_, _>>().unwrap();
        drop(writer);
        (place, parts)
    }

    fn write(changes: &mut Changes, pages: &BTreeSet<u64>) {
        let mut writer = PageSetWriter::new(SET);
        for page in pages {
            writer.push(PageId(*page), changes).unwrap();
        }
        assert_eq!(writer.is_empty(), pages.is_empty());
        writer.finish(changes).unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn a_set_is_the_union_of_its_parts(
            some in prop::collection::btree_set((0_u64..6, 0_u64..40), 0..90),
            // More than fit into a part: each takes 22 bytes.
            (first, sites) in (0_u64..9, 0_u64..8_000),
            run in (0_u64..6, 0_u64..9_000),
        ) {
            let run = (0..run.1).map(|index| run.0 << 32 | index);
            let sites = (first..first + sites).map(|site| site << 32 | 3);
            let pages: BTreeSet<u64> =
                some.into_iter().map(|(s, i)| s << 32 | i).chain(run).chain(sites).collect();
            let whole: PageSet = pages.iter().collect();
            let (place, parts) = stored(|changes| write(changes, &pages));
            let (_, same) = stored(|changes| changes.put_page_set(SET, &whole).unwrap());
            prop_assert_eq!(&parts, &same);
            prop_assert_eq!(parts[0].0, PageSetPart::first_of(SET));
            for (two, (part, pages)) in (0..).zip(&parts) {
                let next = parts.get(two + 1).map(|next| next.0.first);
                prop_assert!(pages.iter().all(|page| PageId(page).site() >= part.first));
                prop_assert!(pages.iter().all(|page| next.is_none_or(|next| PageId(page).site() < next)));
                prop_assert!(next.is_none() || pages.serialized_size() >= PART);
                prop_assert!(pages.serialized_size() < 2 * PART);
            }
            let writer = place.writer();
            prop_assert_eq!(writer.page_set(SET).unwrap().unwrap(), whole.clone());
            let reader = writer.need_page_set_reader(SET).unwrap();
            for page in (0..20).chain([4_000, 8_007, 8_020]).map(|site| PageId(site << 32 | 3)) {
                prop_assert_eq!(reader.contains(page).unwrap(), whole.contains(page.0));
                let on_site = pages.range(page.0 - 3..=page.0 | u64::from(u32::MAX)).next().is_some();
                prop_assert_eq!(reader.has_site(page.site()).unwrap(), on_site);
            }
        }
    }

    #[test]
    fn a_set_is_copied_and_deleted_whole() {
        let pages: BTreeSet<u64> = (0..7_000).map(|site| site << 32).collect();
        let (place, parts) = stored(|changes| write(changes, &pages));
        assert!(parts.len() > 2);
        let writer = place.writer();
        let copy = PageSetKey::Changed(8);
        let mut changes = Changes::new(&writer.spill_folder(), 1 << 20);
        changes.copy_page_set(&writer, SET, copy).unwrap();
        changes.delete_page_set(&writer, SET).unwrap();
        writer.commit(changes, writer.counters().unwrap()).unwrap();
        assert_eq!(writer.page_set(SET).unwrap(), None);
        assert!(writer.need_page_set_parts(SET).is_err());
        assert!(writer.page_set_reader(SET).unwrap().is_none());
        let same = writer.page_set_parts(copy).unwrap();
        let same: Vec<PageSet> = same.map(|part| part.unwrap().1).collect();
        assert_eq!(
            same,
            parts.into_iter().map(|part| part.1).collect::<Vec<_>>()
        );
    }

    #[test]
    fn no_site_comes_twice() {
        let (_, parts) = stored(|changes| {
            let mut writer = PageSetWriter::new(SET);
            writer.push(PageId::new(SiteId(2), 0), changes).unwrap();
            let before = writer.push(PageId::new(SiteId(1), 9), changes);
            assert!(before.is_err());
            PageSetWriter::new(SET).finish(changes).unwrap();
        });
        assert_eq!(parts.len(), 1);
        assert!(parts[0].1.is_empty());
    }
}
